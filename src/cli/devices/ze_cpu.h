// SPDX-License-Identifier: Apache-2.0
// --ze-cpu: this process, and programs that it starts, see tare's Level Zero driver for CPUs.
#pragma once
#include "cli/options/option.h"

// Puts the driver, installed beside this program or built with it, before the others of
// ZE_ENABLE_ALT_DRIVERS, and the script into ZE_CPU_SCRIPT, both from the root. Makes levelzero the
// device to measure where none was named. Does nothing where --ze-cpu was not asked for. Call it
// before other threads run. Returns TARE_EXIT_OK, or TARE_EXIT_FAILED with a sentence.
int tare_ze_cpu_use(struct tare_settings *settings, struct tare_error *error);
