// SPDX-License-Identifier: Apache-2.0
// The last complete result of `latency` of each device and driver, kept for tare report: what
// launches cost, and what they cost as a graph.
#pragma once
#include "base/error.h"

#include <stdbool.h>

struct tare_result;

// Medians, in nanoseconds on the host's clock.
struct tare_launch_times {
	bool present;     // all are known
	double launch_ns; // of an empty kernel, one of many in a row that are waited for together
	double wait_ns;   // of one that is launched and waited for
	double graph_kernel_ns; // of an empty kernel, one of many in a graph
	double graph_make_ns;   // making a graph of many, for each kernel
	double graph_wait_ns;   // of a graph of one, launched and waited for
	char measured[16];      // date, "2026-02-01"; "" not known
};

// Those that are kept for a device of that name and driver version (without the platform's name).
// Nothing kept, or not readable, is no error: then present is false.
void tare_latency_load(const char *device_name, const char *driver_version,
                       struct tare_launch_times *times);

// Keeps a result of `latency` by CUDA, whose launches can be made into graphs, replacing an older
// one, where it has all of them; not that of an interrupted run. Returns 0, also when it is not
// kept, or a negative errno with the reason for a warning.
int tare_latency_keep(const struct tare_result *result, struct tare_error *error);
