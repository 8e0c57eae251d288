// SPDX-License-Identifier: Apache-2.0
// Metric groups of a device, by the tools part of the API.
#include "backend/levelzero/internal.h"

#include <errno.h>
#include <stdlib.h>

static int visit_metric(const struct levelzero_functions *call, zet_metric_handle_t metric,
                        const struct tare_counter_visitor *visitor, struct tare_error *error)
{
	zet_metric_properties_t properties = { .stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES };
	ze_result_t result = call->zetMetricGetProperties(metric, &properties);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zetMetricGetProperties", error,
		                      "cannot ask for a metric");
	properties.name[sizeof properties.name - 1] = '\0';
	properties.description[sizeof properties.description - 1] = '\0';
	properties.resultUnits[sizeof properties.resultUnits - 1] = '\0';
	return visitor->counter(visitor->context, &(struct tare_listed_counter){
	                                              properties.name, properties.description,
	                                              properties.resultUnits });
}

static int visit_group(const struct levelzero_functions *call, zet_metric_group_handle_t group,
                       const struct tare_counter_visitor *visitor, struct tare_error *error)
{
	zet_metric_group_properties_t properties = {
		.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES
	};
	zet_metric_handle_t *metrics;
	uint32_t count = 0;
	ze_result_t result = call->zetMetricGroupGetProperties(group, &properties);
	int status;

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zetMetricGroupGetProperties", error,
		                      "cannot ask for a metric group");
	properties.name[sizeof properties.name - 1] = '\0';
	properties.description[sizeof properties.description - 1] = '\0';
	status = visitor->group(
	    visitor->context,
	    &(struct tare_counter_group){
	        properties.name, properties.description,
	        properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
	        properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
	        properties.domain });
	result = call->zetMetricGet(group, &count, NULL);
	metrics = calloc(count + 1, sizeof *metrics);
	if (metrics && result == ZE_RESULT_SUCCESS && count)
		result = call->zetMetricGet(group, &count, metrics);
	if (!metrics)
		status = tare_fail(error, ENOMEM, "out of memory");
	else if (result != ZE_RESULT_SUCCESS)
		status = levelzero_fail(result, "zetMetricGet", error, "cannot list metrics");
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = visit_metric(call, metrics[i], visitor, error);
	free(metrics);
	return status;
}

int levelzero_counters(struct tare_driver *base, uint32_t index,
                       const struct tare_counter_visitor *visitor, struct tare_error *error)
{
	struct levelzero_driver *driver = (struct levelzero_driver *)base;
	const struct levelzero_functions *call = &driver->call;
	zet_metric_group_handle_t *groups;
	uint32_t count = 0;
	ze_result_t result;
	int status = 0;

	if (!call->zetMetricGroupGet || !call->zetMetricGroupGetProperties || !call->zetMetricGet ||
	    !call->zetMetricGetProperties)
		return tare_fail(error, ENOTSUP, "the Level Zero loader has no metrics");
	result = call->zetMetricGroupGet(driver->places[index].device, &count, NULL);
	groups = calloc(count + 1, sizeof *groups);
	if (groups && result == ZE_RESULT_SUCCESS && count)
		result = call->zetMetricGroupGet(driver->places[index].device, &count, groups);
	if (!groups)
		status = tare_fail(error, ENOMEM, "out of memory");
	else if (result != ZE_RESULT_SUCCESS)
		status = levelzero_fail(result, "zetMetricGroupGet", error,
		                        "the driver lists no metric groups");
	for (uint32_t i = 0; status == 0 && i < count; i++)
		status = visit_group(call, groups[i], visitor, error);
	free(groups);
	return status;
}
