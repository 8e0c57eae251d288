// SPDX-License-Identifier: Apache-2.0
// The metric groups of a context's device: chosen at its first launch that is to be counted, until
// the context is destroyed, or the process ends.
#include "guest/levelzero/counters/counters.h"

#include <string.h>

enum { MOST_SESSIONS = 8, MOST_LISTED = 256 };

static struct count_session *sessions[MOST_SESSIONS];

struct count_session *count_session_at(uint32_t place)
{
	return place < MOST_SESSIONS ? sessions[place] : NULL;
}

// ---- which groups

struct listed {
	struct count_group group;
	uint32_t metrics; // bits 1 << enum count_metric
};

static ze_result_t read_metrics(const struct count_calls *call, struct listed *listed)
{
	zet_metric_handle_t handles[COUNT_METRICS];
	uint32_t count = COUNT_METRICS;
	ze_result_t result = call->metric.pfnGet(listed->group.handle, &count, handles);
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++) {
		zet_metric_properties_t properties = { .stype =
			                                   ZET_STRUCTURE_TYPE_METRIC_PROPERTIES };
		result = call->metric.pfnGetProperties(handles[i], &properties);
		properties.name[sizeof properties.name - 1] = '\0';
		properties.resultUnits[sizeof properties.resultUnits - 1] = '\0';
		uint8_t metric = count_metric_of(properties.name, properties.resultUnits);
		listed->group.metrics[i] = metric;
		if (metric < COUNT_METRIC_KINDS)
			listed->metrics |= 1u << metric;
	}
	listed->group.count = count;
	listed->group.tells = count_tells(listed->metrics);
	return result;
}

// Groups by which single launches can be counted. Those that tell nothing that is asked are passed
// over, and so is one that cannot be read.
static uint32_t list_groups(struct count_session *session, const struct count_calls *call,
                            struct listed *listed)
{
	zet_metric_group_handle_t handles[MOST_LISTED];
	uint32_t count = MOST_LISTED, kept = 0;
	session->where = "zetMetricGroupGet";
	session->result = call->group.pfnGet(session->device->handle, &count, handles);
	for (uint32_t i = 0; session->result == ZE_RESULT_SUCCESS && i < count; i++) {
		zet_metric_group_properties_t properties = {
			.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES
		};
		if (call->group.pfnGetProperties(handles[i], &properties) != ZE_RESULT_SUCCESS ||
		    (properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) ==
		        0)
			continue;
		listed[kept] = (struct listed){ .group.handle = handles[i] };
		if (read_metrics(call, &listed[kept]) == ZE_RESULT_SUCCESS &&
		    listed[kept].group.tells != 0)
			kept++;
	}
	return kept;
}

// The one that tells most of what none of the chosen does, until there is none.
static void choose(struct count_session *session, const struct listed *listed, uint32_t count)
{
	uint64_t told = 0;
	while (session->group_count < COUNT_GROUPS) {
		const struct listed *best = NULL;
		int most = 0;
		for (uint32_t i = 0; i < count; i++) {
			int more = __builtin_popcountll(listed[i].group.tells & ~told);
			if (more > most) {
				most = more;
				best = &listed[i];
			}
		}
		if (best == NULL)
			return;
		session->groups[session->group_count++] = best->group;
		told |= best->group.tells;
	}
}

static bool is_whole(const struct count_calls *call)
{
	return call->context.pfnActivateMetricGroups && call->list.pfnAppendMetricQueryBegin &&
	       call->list.pfnAppendMetricQueryEnd && call->group.pfnGet &&
	       call->group.pfnGetProperties && call->group.pfnCalculateMetricValues &&
	       call->metric.pfnGet && call->metric.pfnGetProperties && call->pool.pfnCreate &&
	       call->pool.pfnDestroy && call->query.pfnCreate && call->query.pfnDestroy &&
	       call->query.pfnReset && call->query.pfnGetData;
}

static void prepare(struct count_session *session)
{
	const struct count_calls *call = count_calls_of(session->driver);
	// Once, and kept: there may be several contexts.
	static struct listed *listed;
	session->where = "zetMetricGroupGet";
	session->result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	if (count_taken_by_program) {
		session->result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
		return;
	}
	if (!is_whole(call))
		return;
	if (listed == NULL)
		listed = guest_memory(MOST_LISTED * sizeof *listed);
	session->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (listed == NULL)
		return;
	choose(session, listed, list_groups(session, call, listed));
	if (session->result == ZE_RESULT_SUCCESS && session->group_count == 0)
		session->result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	// Whether it may count is known only when it does.
	if (session->result == ZE_RESULT_SUCCESS)
		session->result = count_session_activate(session, 0);
}

struct count_session *count_session_of(const struct ze_list *list, bool *made)
{
	struct ze_device *device = list->device;
	uint32_t vacant = MOST_SESSIONS;
	*made = false;
	for (uint32_t i = MOST_SESSIONS; i-- > 0;)
		if (sessions[i] == NULL || sessions[i]->context == NULL)
			vacant = i;
		else if (sessions[i]->context == list->context && sessions[i]->device == device)
			return sessions[i];
	if (vacant == MOST_SESSIONS || device == NULL)
		return NULL;
	struct count_session *session =
	    sessions[vacant] != NULL ? sessions[vacant] : guest_memory(sizeof *session);
	if (session == NULL)
		return NULL;
	memset(session, 0, sizeof *session);
	session->context = list->context;
	session->driver = list->driver;
	session->device = device;
	session->active = COUNT_NO_GROUP;
	session->from = guest_ticks();
	sessions[vacant] = session;
	prepare(session);
	session->to = guest_ticks();
	*made = true;
	return session;
}

ze_result_t count_session_activate(struct count_session *session, uint32_t group)
{
	if (session->active == group)
		return ZE_RESULT_SUCCESS;
	session->where = "zetContextActivateMetricGroups";
	ze_result_t result =
	    count_calls_of(session->driver)
	        ->context.pfnActivateMetricGroups(session->context, session->device->handle, 1,
	                                          &session->groups[group].handle);
	session->active = result == ZE_RESULT_SUCCESS ? group : COUNT_NO_GROUP;
	return result;
}

// ---- queries

static bool make_queries(struct count_session *session, uint32_t group)
{
	const struct count_calls *call = count_calls_of(session->driver);
	const zet_metric_query_pool_desc_t desc = { .stype =
		                                        ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
		                                    .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
		                                    .count = COUNT_QUERIES };
	session->idle[group] = guest_memory(COUNT_QUERIES * sizeof *session->idle[group]);
	if (session->idle[group] == NULL ||
	    call->pool.pfnCreate(session->context, session->device->handle,
	                         session->groups[group].handle, &desc,
	                         &session->pools[group]) != ZE_RESULT_SUCCESS) {
		session->pools[group] = NULL;
		return false;
	}
	for (uint32_t i = 0; i < COUNT_QUERIES; i++)
		if (call->query.pfnCreate(session->pools[group], i,
		                          &session->idle[group][session->idle_count[group]]) ==
		    ZE_RESULT_SUCCESS)
			session->idle_count[group]++;
	return true;
}

zet_metric_query_handle_t count_query_take(struct count_session *session, uint32_t group)
{
	if (session->idle[group] == NULL && !make_queries(session, group))
		return NULL;
	return session->idle_count[group] != 0 ? session->idle[group][--session->idle_count[group]]
	                                       : NULL;
}

uint32_t count_query_read(struct count_session *session, uint32_t group,
                          zet_metric_query_handle_t query,
                          struct count_figure figures[COUNT_FIGURES], ze_result_t *result,
                          const char **where)
{
	enum { MOST_BYTES = 1 << 16 };
	const struct count_calls *call = count_calls_of(session->driver);
	static uint8_t *data;
	zet_typed_value_t values[COUNT_METRICS];
	uint32_t count = COUNT_METRICS;
	size_t bytes = 0;
	if (data == NULL)
		data = guest_memory(MOST_BYTES);
	*where = "zetMetricQueryGetData";
	*result = data != NULL ? call->query.pfnGetData(query, &bytes, NULL)
	                       : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (*result == ZE_RESULT_SUCCESS && bytes > MOST_BYTES)
		*result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (*result == ZE_RESULT_SUCCESS)
		*result = call->query.pfnGetData(query, &bytes, data);
	if (*result != ZE_RESULT_SUCCESS)
		return 0;
	*where = "zetMetricGroupCalculateMetricValues";
	*result = call->group.pfnCalculateMetricValues(
	    session->groups[group].handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes,
	    data, &count, values);
	return *result == ZE_RESULT_SUCCESS
	           ? count_figures(&session->groups[group], values, count, figures)
	           : 0;
}

// Queries in flight keep their pool.
void count_session_end(struct count_session *session)
{
	const struct count_calls *call = count_calls_of(session->driver);
	for (uint32_t group = 0; group < session->group_count; group++) {
		for (uint32_t i = 0; i < session->idle_count[group]; i++)
			call->query.pfnDestroy(session->idle[group][i]);
		if (session->pools[group] != NULL && session->idle_count[group] == COUNT_QUERIES)
			call->pool.pfnDestroy(session->pools[group]);
	}
	if (session->active != COUNT_NO_GROUP && !count_taken_by_program)
		call->context.pfnActivateMetricGroups(session->context, session->device->handle, 0,
		                                      NULL);
	session->context = NULL;
}
