// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/script/script.h"

// The flows of an engine that copies.
#define TARE_FLOWS_OF_COPIES                                                                       \
	((1u << TARE_FLOW_TO_DEVICE) | (1u << TARE_FLOW_TO_HOST) | (1u << TARE_FLOW_LOCAL))

// Whether a Level Zero device can be what the script says (docs/ze-cpu.md): it has one timer rate
// for two counters, told in whole hertz, and under `route queue` its engines copy in every
// direction or not at all; its sub-devices share out the engines of each queue group.
//   name  what errors call the script
// Returns 0, or -EINVAL with one sentence that begins "NAME:LINE: ".
int tare_script_check_levelzero(const struct tare_script *script, const char *name,
                                struct tare_error *error);

// Whether an engine is in the queue group of the one before it in the script: of its class and with
// its flows, or both copy in some directions only.
bool tare_script_levelzero_grouped(const struct tare_script_engine *before,
                                   const struct tare_script_engine *engine);

// The rate as timerResolution tells it, in whole hertz.
uint64_t tare_script_levelzero_hz(const struct tare_clock_rate *rate);
