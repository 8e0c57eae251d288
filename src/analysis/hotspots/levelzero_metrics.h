// SPDX-License-Identifier: Apache-2.0
// Which of Intel's metrics tell what a verdict needs. Names differ by generation.
#pragma once

enum tare_levelzero_metric {
	TARE_LEVELZERO_TIME,    // ns
	TARE_LEVELZERO_ACTIVE,  // share of the time in which the engines (EU, XVE) issued
	TARE_LEVELZERO_STALLED, // in which they had threads and issued nothing; the rest is idle
	TARE_LEVELZERO_OCCUPANCY,
	TARE_LEVELZERO_LOCAL_READ, // local (shared) memory
	TARE_LEVELZERO_LOCAL_WRITTEN,
	TARE_LEVELZERO_L3_READ,
	TARE_LEVELZERO_L3_WRITTEN,
	TARE_LEVELZERO_MEMORY_READ,
	TARE_LEVELZERO_MEMORY_WRITTEN,
	TARE_LEVELZERO_METRICS,
};

// What a driver's metric tells; METRICS: nothing that is asked for.
enum tare_levelzero_metric tare_levelzero_metric_of(const char *name);
// "cores issuing".
const char *tare_levelzero_metric_title(enum tare_levelzero_metric metric);
