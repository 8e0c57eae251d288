// SPDX-License-Identifier: Apache-2.0
// Which of Intel's metrics tell what a verdict needs: the recorder's table, by names.
#pragma once

enum tare_levelzero_metric {
#define METRIC(name, ...) TARE_LEVELZERO_##name,
#include "guest/levelzero/counters/metrics.def"
#undef METRIC
	TARE_LEVELZERO_METRICS,
};

// What a driver's metric tells; METRICS: nothing that is asked for.
enum tare_levelzero_metric tare_levelzero_metric_of(const char *name);
// "cores issuing".
const char *tare_levelzero_metric_title(enum tare_levelzero_metric metric);
