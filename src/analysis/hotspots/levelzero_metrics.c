// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/levelzero_metrics.h"

#include <stddef.h>
#include <string.h>

#define NAMES 3

static const struct {
	const char *title;
	const char *names[NAMES]; // of generations from Xe-HPC on, then older ones
} metrics[TARE_LEVELZERO_METRICS] = {
	[TARE_LEVELZERO_TIME] = { "duration", { "GpuTime" } },
	[TARE_LEVELZERO_ACTIVE] = { "cores issuing", { "XVE_ACTIVE", "XveActive", "EuActive" } },
	[TARE_LEVELZERO_STALLED] = { "cores stalled", { "XVE_STALL", "XveStall", "EuStall" } },
	[TARE_LEVELZERO_OCCUPANCY] = { "occupancy",
	                               { "XVE_THREADS_OCCUPANCY_ALL", "XveThreadOccupancy",
	                                 "EuThreadOccupancy" } },
	[TARE_LEVELZERO_LOCAL_READ] = { "read from local memory",
	                                { "SLM_BYTE_READ", "SlmBytesRead" } },
	[TARE_LEVELZERO_LOCAL_WRITTEN] = { "written to local memory",
	                                   { "SLM_BYTE_WRITE", "SlmBytesWritten" } },
	[TARE_LEVELZERO_L3_READ] = { "read from L3", { "L3_BYTE_READ" } },
	[TARE_LEVELZERO_L3_WRITTEN] = { "written to L3", { "L3_BYTE_WRITE" } },
	[TARE_LEVELZERO_MEMORY_READ] = { "read from memory",
	                                 { "GPU_MEMORY_BYTE_READ", "GtiReadThroughput" } },
	[TARE_LEVELZERO_MEMORY_WRITTEN] = { "written to memory",
	                                    { "GPU_MEMORY_BYTE_WRITE", "GtiWriteThroughput" } },
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
