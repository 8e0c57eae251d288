// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/levelzero_metrics.h"

#include <stddef.h>
#include <string.h>

#define NAMES 3

static const struct {
	const char *title;
	const char *names[NAMES];
} metrics[TARE_LEVELZERO_METRICS] = {
#define METRIC(name, tells, ...) [TARE_LEVELZERO_##name] = { tells, { __VA_ARGS__ } },
#include "guest/levelzero/counters/metrics.def"
#undef METRIC
};

enum tare_levelzero_metric tare_levelzero_metric_of(const char *name)
{
	for (enum tare_levelzero_metric metric = 0; metric < TARE_LEVELZERO_METRICS; metric++)
		for (size_t i = 0; i < NAMES && metrics[metric].names[i]; i++)
			if (strcmp(metrics[metric].names[i], name) == 0)
				return metric;
	return TARE_LEVELZERO_METRICS;
}

const char *tare_levelzero_metric_title(enum tare_levelzero_metric metric)
{
	return metrics[metric].title;
}
