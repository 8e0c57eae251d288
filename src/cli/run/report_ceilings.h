// SPDX-License-Identifier: Apache-2.0
// What tare bandwidth and tare latency measured on the devices of a recording.
#pragma once
#include "analysis/findings/findings.h"
#include "analysis/tables/tables.h"

struct tare_report_ceilings {
	struct tare_transfer_ceiling *at; // device names belong to the recording
	size_t count;
	struct tare_launch_costs *launches;
	size_t launch_count;
	char (*dates)[16]; // of the launches
};

// Finds what is kept on this machine. Nothing kept is no error. Returns 0 or -ENOMEM. Free with
// tare_report_ceilings_free in either case.
int tare_report_ceilings_find(const struct tare_recording *recording,
                              struct tare_report_ceilings *ceilings, struct tare_error *error);
void tare_report_ceilings_free(struct tare_report_ceilings *ceilings);
