// SPDX-License-Identifier: Apache-2.0
// What metric queries count: of each kernel that ends meanwhile in the modelled layer, from
// whatever queue, what the script's metric-value lines say. So a query that shares the device
// counts too much, as on a GPU. A group's queries count only while it is activated.
#include "device/metric.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct _zet_metric_query_pool_handle_t {
	size_t group;
	uint32_t count;
};
struct _zet_metric_query_handle_t {
	struct _zet_metric_query_handle_t *next; // of those that have begun
	size_t group;
	bool begun, done, active;
	uint64_t values[TARE_SCRIPT_METRICS];
	uint8_t counts[TARE_SCRIPT_METRICS]; // enum tare_metric_count
};

// What GetData hands out, and CalculateMetricValues takes.
struct raw {
	uint64_t mark, group;
	uint64_t values[TARE_SCRIPT_METRICS];
	uint8_t counts[TARE_SCRIPT_METRICS];
};
#define MARK UINT64_C(0x7461726571756572)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct _zet_metric_query_handle_t *open_queries;
static bool activated[TARE_SCRIPT_METRIC_GROUPS];

// ---- counting

// The line of a kernel, else that of any; NULL: none.
const struct tare_script_metric_value *metric_value_of(size_t metric, const char *kernel)
{
	const struct tare_script *script = &cpu_device.script;
	const struct tare_script_metric_value *any = NULL;

	for (size_t i = 0; i < script->metric_value_count; i++) {
		const struct tare_script_metric_value *value = &script->metric_values[i];
		if (value->metric != metric)
			continue;
		if (strcmp(value->kernel, kernel) == 0)
			return value;
		if (strcmp(value->kernel, "any") == 0)
			any = value;
	}
	return any;
}

void metric_launched(const char *kernel)
{
	const struct tare_script *script = &cpu_device.script;

	if (script->metric_value_count == 0)
		return;
	pthread_mutex_lock(&lock);
	for (struct _zet_metric_query_handle_t *query = open_queries; query; query = query->next)
		for (size_t i = 0; i < script->metric_count; i++) {
			const struct tare_script_metric_value *value = metric_value_of(i, kernel);
			if (!value || script->metrics[i].group != query->group)
				continue;
			query->values[i] += value->value;
			if (value->counts != TARE_METRIC_RIGHT)
				query->counts[i] = (uint8_t)value->counts;
		}
	pthread_mutex_unlock(&lock);
}

void metric_query_turn(zet_metric_query_handle_t query, bool begins)
{
	struct _zet_metric_query_handle_t **at = &open_queries;

	pthread_mutex_lock(&lock);
	while (*at && *at != query)
		at = &(*at)->next;
	if (*at)
		*at = query->next;
	query->done = !begins && query->begun;
	query->begun = begins;
	if (begins) {
		memset(query->values, 0, sizeof query->values);
		memset(query->counts, 0, sizeof query->counts);
		query->active = activated[query->group];
		query->next = open_queries;
		open_queries = query;
	} else {
		query->active = query->active && activated[query->group];
	}
	pthread_mutex_unlock(&lock);
}

bool metric_group_is_active(size_t group)
{
	pthread_mutex_lock(&lock);
	bool active = activated[group];
	pthread_mutex_unlock(&lock);
	return active;
}

// ---- the calls

// Groups of one domain cannot be active together; without any all are given up.
static ze_result_t activate(zet_context_handle_t context, zet_device_handle_t device,
                            uint32_t count, zet_metric_group_handle_t *groups)
{
	const struct tare_script_metric_group *all = cpu_device.script.metric_groups;
	bool wanted[TARE_SCRIPT_METRIC_GROUPS] = { false };

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!groups && count > 0)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	for (uint32_t i = 0; i < count; i++) {
		size_t place = metric_group_place(groups[i]);
		for (size_t other = 0; other < cpu_device.script.metric_group_count; other++)
			if (wanted[other] && all[other].domain == all[place].domain)
				return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		if (all[place].forbidden)
			return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
		wanted[place] = true;
	}
	pthread_mutex_lock(&lock);
	memcpy(activated, wanted, sizeof activated);
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t pool_create(zet_context_handle_t context, zet_device_handle_t device,
                               zet_metric_group_handle_t group,
                               const zet_metric_query_pool_desc_t *description,
                               zet_metric_query_pool_handle_t *made)
{
	zet_metric_query_pool_handle_t pool;
	size_t place;

	if (!context || !device || !group)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	place = metric_group_place(group);
	if (description->type != ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE ||
	    !(cpu_device.script.metric_groups[place].sampling & TARE_METRIC_BY_EVENT))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pool = calloc(1, sizeof *pool);
	if (!pool)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	pool->group = place;
	pool->count = description->count;
	*made = pool;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t pool_destroy(zet_metric_query_pool_handle_t pool)
{
	free(pool);
	return pool ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

static ze_result_t query_create(zet_metric_query_pool_handle_t pool, uint32_t index,
                                zet_metric_query_handle_t *made)
{
	zet_metric_query_handle_t query;

	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (index >= pool->count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	query = calloc(1, sizeof *query);
	if (!query)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	query->group = pool->group;
	*made = query;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t query_destroy(zet_metric_query_handle_t query)
{
	if (!query)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	metric_query_turn(query, false);
	free(query);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t query_reset(zet_metric_query_handle_t query)
{
	if (!query)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&lock);
	query->done = false;
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t get_data(zet_metric_query_handle_t query, size_t *size, uint8_t *data)
{
	struct raw raw = { .mark = MARK };
	bool ready;

	if (!query)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!data || *size == 0) {
		*size = sizeof raw;
		return ZE_RESULT_SUCCESS;
	}
	if (*size < sizeof raw)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	pthread_mutex_lock(&lock);
	ready = query->done && query->active;
	raw.group = query->group;
	memcpy(raw.values, query->values, sizeof raw.values);
	memcpy(raw.counts, query->counts, sizeof raw.counts);
	pthread_mutex_unlock(&lock);
	if (!ready)
		return ZE_RESULT_NOT_READY;
	memcpy(data, &raw, sizeof raw);
	*size = sizeof raw;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t append(zet_command_list_handle_t list, zet_metric_query_handle_t query,
                          bool begins, ze_event_handle_t signal)
{
	struct command *command;
	ze_result_t result = cpu_check_waits(list, 0, NULL);

	if (list && !query)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	command =
	    cpu_command_new(begins ? COMMAND_METRIC_BEGIN : COMMAND_METRIC_END, signal, NULL, 0);
	if (command)
		command->metric_query = query;
	return cpu_list_append(list, command);
}

static ze_result_t append_begin(zet_command_list_handle_t list, zet_metric_query_handle_t query)
{
	return append(list, query, true, NULL);
}

static ze_result_t append_end(zet_command_list_handle_t list, zet_metric_query_handle_t query,
                              ze_event_handle_t signal, uint32_t wait_count,
                              ze_event_handle_t *waits)
{
	if (wait_count > 0 || waits)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return append(list, query, false, signal);
}

static ze_result_t append_barrier(zet_command_list_handle_t list)
{
	return cpu_zeCommandListAppendBarrier(list, NULL, 0, NULL);
}

// ---- values

void metric_value_make(size_t metric, uint64_t whole, uint8_t counts, zet_typed_value_t *value)
{
	bool share = cpu_device.script.metrics[metric].type == ZET_METRIC_TYPE_RATIO;

	value->type = share ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64;
	if (share)
		value->value.fp32 = counts == TARE_METRIC_SATURATED ? INFINITY
		                    : counts == TARE_METRIC_WRAPPED ? -(float)whole
		                                                    : (float)whole;
	else
		value->value.ui64 = counts == TARE_METRIC_SATURATED ? UINT64_MAX
		                    : counts == TARE_METRIC_WRAPPED ? UINT64_C(0) - whole
		                                                    : whole;
}

static ze_result_t calculate(zet_metric_group_handle_t group,
                             zet_metric_group_calculation_type_t type, size_t bytes,
                             const uint8_t *data, uint32_t *count, zet_typed_value_t *values)
{
	uint32_t there, at = 0;
	uint64_t mark = 0;
	struct raw raw;
	size_t place;

	if (!group)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!data || !count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (type != ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	place = metric_group_place(group);
	memcpy(&mark, data, bytes < sizeof mark ? bytes : sizeof mark);
	if (mark == METRIC_REPORT_MARK)
		return metric_reports_calculate(place, bytes, data, count, values);
	there = metric_count_of(place);
	if (*count == 0 || *count > there)
		*count = there;
	if (!values)
		return ZE_RESULT_SUCCESS;
	if (bytes != sizeof raw)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	memcpy(&raw, data, sizeof raw);
	if (raw.mark != MARK || raw.group != place)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < cpu_device.script.metric_count && at < *count; i++)
		if (cpu_device.script.metrics[i].group == place)
			metric_value_make(i, raw.values[i], raw.counts[i], &values[at++]);
	return ZE_RESULT_SUCCESS;
}

// ---- tables

void metric_query_fill_group(zet_metric_group_dditable_t *members)
{
	members->pfnCalculateMetricValues = calculate;
}

#define TABLE(name, type)                                                                          \
	ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *members)          \
	{                                                                                          \
		if (!members)                                                                      \
			return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                               \
		if (ZE_MAJOR_VERSION(version) != 1)                                                \
			return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;                                \
		fill_##type(members);                                                              \
		return ZE_RESULT_SUCCESS;                                                          \
	}

static void fill_zet_context_dditable_t(zet_context_dditable_t *members)
{
	members->pfnActivateMetricGroups = activate;
}

static void fill_zet_command_list_dditable_t(zet_command_list_dditable_t *members)
{
	members->pfnAppendMetricQueryBegin = append_begin;
	members->pfnAppendMetricQueryEnd = append_end;
	members->pfnAppendMetricMemoryBarrier = append_barrier;
}

static void fill_zet_metric_query_pool_dditable_t(zet_metric_query_pool_dditable_t *members)
{
	members->pfnCreate = pool_create;
	members->pfnDestroy = pool_destroy;
}

static void fill_zet_metric_query_dditable_t(zet_metric_query_dditable_t *members)
{
	members->pfnCreate = query_create;
	members->pfnDestroy = query_destroy;
	members->pfnReset = query_reset;
	members->pfnGetData = get_data;
}

TABLE(zetGetContextProcAddrTable, zet_context_dditable_t)
TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
