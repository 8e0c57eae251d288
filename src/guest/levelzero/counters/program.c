// SPDX-License-Identifier: Apache-2.0
// The driver's functions for metrics, on their way to the loader: kept for us, and three of them
// replaced to see a program that counts by itself.
#include "guest/levelzero/counters/counters.h"

#include <string.h>

struct count_calls count_calls[ZE_SLOTS];
_Atomic bool count_taken_by_program;

// Before the program's call, which replaces what we have activated.
static void taken(void)
{
	if (!atomic_exchange(&count_taken_by_program, true))
		ze_count_program_counts();
}

#define SLOT(slot)                                                                                 \
	static ze_result_t ZE_APICALL activate_##slot(zet_context_handle_t context,                \
	                                              zet_device_handle_t device, uint32_t count,  \
	                                              zet_metric_group_handle_t *groups)           \
	{                                                                                          \
		taken();                                                                           \
		return count_calls[slot].context.pfnActivateMetricGroups(context, device, count,   \
		                                                         groups);                  \
	}                                                                                          \
	static ze_result_t ZE_APICALL pool_##slot(                                                 \
	    zet_context_handle_t context, zet_device_handle_t device,                              \
	    zet_metric_group_handle_t group, const zet_metric_query_pool_desc_t *desc,             \
	    zet_metric_query_pool_handle_t *made)                                                  \
	{                                                                                          \
		taken();                                                                           \
		return count_calls[slot].pool.pfnCreate(context, device, group, desc, made);       \
	}                                                                                          \
	static ze_result_t ZE_APICALL open_##slot(                                                 \
	    zet_context_handle_t context, zet_device_handle_t device,                              \
	    zet_metric_group_handle_t group, zet_metric_streamer_desc_t *desc,                     \
	    ze_event_handle_t event, zet_metric_streamer_handle_t *made)                           \
	{                                                                                          \
		taken();                                                                           \
		return count_calls[slot].streamer.pfnOpen(context, device, group, desc, event,     \
		                                          made);                                   \
	}
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)
#undef SLOT
_Static_assert(ZE_SLOTS == 8, "");

#define SLOTS(name)                                                                                \
	{ name##_0, name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7 }
static const zet_pfnContextActivateMetricGroups_t activates[] = SLOTS(activate);
static const zet_pfnMetricQueryPoolCreate_t pools[] = SLOTS(pool);
static const zet_pfnMetricStreamerOpen_t opens[] = SLOTS(open);
#undef SLOTS

// Ours are not kept as the driver's when a loader asks again.
void ze_count_table(unsigned slot, const char *table, void *members)
{
	static const struct {
		const char *name;
		size_t at, bytes;
	} tables[] = {
#define TABLE(getter, member)                                                                      \
	{ "zetGet" getter "ProcAddrTable", offsetof(struct count_calls, member),                   \
	  sizeof((struct count_calls *)0)->member }
		TABLE("Context", context),         TABLE("CommandList", list),
		TABLE("MetricGroup", group),       TABLE("Metric", metric),
		TABLE("MetricQueryPool", pool),    TABLE("MetricQuery", query),
		TABLE("MetricStreamer", streamer),
#undef TABLE
	};
	struct count_calls *call = &count_calls[slot], fresh;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		if (strcmp(tables[i].name, table) != 0)
			continue;
		memcpy((char *)&fresh + tables[i].at, members, tables[i].bytes);
		if (tables[i].at == offsetof(struct count_calls, context)) {
			zet_context_dditable_t *program = members;
			if (fresh.context.pfnActivateMetricGroups != activates[slot])
				call->context = fresh.context;
			if (call->context.pfnActivateMetricGroups != NULL)
				program->pfnActivateMetricGroups = activates[slot];
		} else if (tables[i].at == offsetof(struct count_calls, pool)) {
			zet_metric_query_pool_dditable_t *program = members;
			if (fresh.pool.pfnCreate != pools[slot])
				call->pool = fresh.pool;
			if (call->pool.pfnCreate != NULL)
				program->pfnCreate = pools[slot];
		} else if (tables[i].at == offsetof(struct count_calls, streamer)) {
			zet_metric_streamer_dditable_t *program = members;
			if (fresh.streamer.pfnOpen != opens[slot])
				call->streamer = fresh.streamer;
			if (call->streamer.pfnOpen != NULL)
				program->pfnOpen = opens[slot];
		} else {
			memcpy((char *)call + tables[i].at, members, tables[i].bytes);
		}
	}
}
