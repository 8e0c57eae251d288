// SPDX-License-Identifier: Apache-2.0
// Hardware counters of chosen kernels, for `tare hotspots`: metric queries around single launches,
// in the program's own lists. docs/hotspots-levelzero.md says which ones, and what it costs.
#pragma once
#include "guest/count/plan.h"
#include "guest/levelzero/counters/metric.h"
#include "guest/levelzero/ze.h"

#include <level_zero/zet_ddi.h>

enum { COUNT_GROUPS = 4, COUNT_METRICS = 256, COUNT_FIGURES = 16 };

// The driver's functions for metrics; NULL where it lacks one, or the loader has not asked for
// them.
struct count_calls {
	zet_context_dditable_t context;
	zet_command_list_dditable_t list;
	zet_metric_group_dditable_t group;
	zet_metric_dditable_t metric;
	zet_metric_query_pool_dditable_t pool;
	zet_metric_query_dditable_t query;
	zet_metric_streamer_dditable_t streamer;
};
extern struct count_calls count_calls[ZE_SLOTS];
static inline const struct count_calls *count_calls_of(const struct ze_driver *driver)
{
	return &count_calls[driver - ze_drivers];
}
// The program counts by itself: nothing is counted from then on.
extern _Atomic bool count_taken_by_program;

// ---- figures.c: what a group's values tell

// Metrics that are counted together.
struct count_group {
	zet_metric_group_handle_t handle;
	uint32_t count;
	uint8_t metrics[COUNT_METRICS]; // enum count_metric of each of its values
	uint64_t tells;                 // bits 1 << enum tare_trace_counter
};
struct count_figure {
	uint16_t counter; // enum tare_trace_counter
	double value;     // NaN: the counter was saturated, wrapped, or its report says so
};
// The enum count_metric of a metric by its name and unit.
uint8_t count_metric_of(const char *name, const char *unit);
// The counters that metrics (bits 1 << enum count_metric) tell; bits 1 << enum tare_trace_counter.
uint64_t count_tells(uint32_t metrics);
// What the values of a launch tell. Returns how many figures.
uint32_t count_figures(const struct count_group *group, const zet_typed_value_t *values,
                       uint32_t count, struct count_figure figures[COUNT_FIGURES]);

// ---- session.c: a context's device

struct count_session {
	ze_context_handle_t context; // NULL: it is over
	const struct ze_driver *driver;
	struct ze_device *device;
	ze_result_t result; // with `where`, if it is not SUCCESS
	const char *where;
	uint64_t from, to; // host ticks
	uint32_t group_count, active;
	struct count_group groups[COUNT_GROUPS];
	zet_metric_query_pool_handle_t pools[COUNT_GROUPS];
	zet_metric_query_handle_t *idle[COUNT_GROUPS]; // queries that can be used
	uint32_t idle_count[COUNT_GROUPS];
};
enum { COUNT_QUERIES = 128, COUNT_NO_GROUP = COUNT_GROUPS };
// That of a context and device, prepared when it was not yet; NULL: there are too many. *made: it
// was. Under the right to count, as all of these.
struct count_session *count_session_of(const struct ze_list *list, bool *made);
// Makes the device count that group; nothing may be in flight that counts another one.
ze_result_t count_session_activate(struct count_session *session, uint32_t group);
zet_metric_query_handle_t count_query_take(struct count_session *session, uint32_t group);
// Reads a query that has ended. Returns how many figures, 0 with *result where it failed.
uint32_t count_query_read(struct count_session *session, uint32_t group,
                          zet_metric_query_handle_t query,
                          struct count_figure figures[COUNT_FIGURES], ze_result_t *result,
                          const char **where);
// Destroys what it has, and lets the device go.
void count_session_end(struct count_session *session);
struct count_session *count_session_at(uint32_t place); // NULL: there are no more

// ---- write.c: what is written

void count_write(struct guest_thread *thread, enum tare_trace_counting_what what,
                 const struct tare_trace_counting *said);
void count_write_prepared(struct guest_thread *thread, const struct count_session *session);
void count_write_left(struct guest_thread *thread, struct counters_kernel *kernel,
                      enum tare_trace_counting_left why, const void *object);
void count_write_figures(struct guest_thread *thread, const struct tare_trace_counted *of,
                         uint32_t group, const struct count_figure *figures, uint32_t count);
