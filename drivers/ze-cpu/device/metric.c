// SPDX-License-Identifier: Apache-2.0
// Metric groups of the script, listed as a driver of a GPU lists its hardware counters: like
// Intel's, only with ZET_ENABLE_METRICS=1. metric_query.c counts launches, metric_streamer.c the
// device over time.
#include "device/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _zet_metric_group_handle_t {
	uint8_t unused;
};
struct _zet_metric_handle_t {
	uint8_t unused;
};

// A handle is a place in these.
static struct _zet_metric_group_handle_t groups[TARE_SCRIPT_METRIC_GROUPS];
static struct _zet_metric_handle_t metrics[TARE_SCRIPT_METRICS];

size_t metric_group_place(zet_metric_group_handle_t group)
{
	return (size_t)(group - groups);
}

uint32_t metric_count_of(size_t group)
{
	uint32_t count = 0;

	for (size_t i = 0; i < cpu_device.script.metric_count; i++)
		count += cpu_device.script.metrics[i].group == group;
	return count;
}

// Both listings: how many there are, or as many as fit.
static ze_result_t check_list(const void *of, uint32_t *count)
{
	if (!of)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return count ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

static ze_result_t group_get(zet_device_handle_t device, uint32_t *count,
                             zet_metric_group_handle_t *handles)
{
	const char *enabled = getenv("ZET_ENABLE_METRICS");
	uint32_t there = enabled && strcmp(enabled, "1") == 0
	                     ? (uint32_t)cpu_device.script.metric_group_count
	                     : 0;
	ze_result_t result = check_list(device, count);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (*count == 0 || *count > there)
		*count = there;
	for (uint32_t i = 0; handles && i < *count; i++)
		handles[i] = &groups[i];
	return ZE_RESULT_SUCCESS;
}

static ze_result_t group_properties(zet_metric_group_handle_t handle,
                                    zet_metric_group_properties_t *properties)
{
	const struct tare_script_metric_group *group;

	if (!handle)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	group = &cpu_device.script.metric_groups[handle - groups];
	snprintf(properties->name, sizeof properties->name, "%s", group->name);
	snprintf(properties->description, sizeof properties->description, "%s", group->description);
	// The script's bits are the specification's.
	properties->samplingType = (zet_metric_group_sampling_type_flags_t)group->sampling;
	properties->domain = (uint32_t)group->domain;
	properties->metricCount = metric_count_of((size_t)(handle - groups));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t metric_get(zet_metric_group_handle_t group, uint32_t *count,
                              zet_metric_handle_t *handles)
{
	ze_result_t result = check_list(group, count);
	uint32_t there, at = 0;

	if (result != ZE_RESULT_SUCCESS)
		return result;
	there = metric_count_of((size_t)(group - groups));
	if (*count == 0 || *count > there)
		*count = there;
	for (size_t i = 0; handles && i < cpu_device.script.metric_count && at < *count; i++)
		if (cpu_device.script.metrics[i].group == (size_t)(group - groups))
			handles[at++] = &metrics[i];
	return ZE_RESULT_SUCCESS;
}

static ze_result_t metric_properties(zet_metric_handle_t handle,
                                     zet_metric_properties_t *properties)
{
	const struct tare_script_metric *metric;

	if (!handle)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	metric = &cpu_device.script.metrics[handle - metrics];
	snprintf(properties->name, sizeof properties->name, "%s", metric->name);
	snprintf(properties->description, sizeof properties->description, "%s",
	         metric->description);
	snprintf(properties->component, sizeof properties->component, "script");
	properties->tierNumber = 1;
	properties->metricType = (zet_metric_type_t)metric->type;
	properties->resultType =
	    metric->type == ZET_METRIC_TYPE_RATIO ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64;
	snprintf(properties->resultUnits, sizeof properties->resultUnits, "%s", metric->unit);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t check(ze_api_version_t version, const void *members)
{
	if (!members)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return ZE_MAJOR_VERSION(version) == 1 ? ZE_RESULT_SUCCESS
	                                      : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

// What these fill in is in the tables of every version.
ZE_DLLEXPORT ze_result_t ZE_APICALL
zetGetMetricGroupProcAddrTable(ze_api_version_t version, zet_metric_group_dditable_t *members)
{
	ze_result_t result = check(version, members);

	if (result == ZE_RESULT_SUCCESS) {
		members->pfnGet = group_get;
		members->pfnGetProperties = group_properties;
		metric_query_fill_group(members);
	}
	return result;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zetGetMetricProcAddrTable(ze_api_version_t version,
                                                              zet_metric_dditable_t *members)
{
	ze_result_t result = check(version, members);

	if (result == ZE_RESULT_SUCCESS) {
		members->pfnGet = metric_get;
		members->pfnGetProperties = metric_properties;
	}
	return result;
}
