// SPDX-License-Identifier: Apache-2.0
// Hardware counters of chosen kernels, for `tare hotspots`: CUPTI's range profiler is started and
// stopped around single launches. docs/hotspots.md says which ones and what it costs.
#pragma once
#include "backend/cuda/cupti_profiler_abi.h"
#include "guest/count/plan.h"
#include "guest/cuda/cuda.h"

// Whether any launch is to be counted.
extern bool counters_wanted;

// Reads what is to be counted (TARE_RECORD_COUNT); `subscriber` is ours. False: nothing.
bool counters_begin(cupti_subscriber subscriber);
// In the child of a fork nothing is counted.
void counters_in_child(void);
// A context is to be destroyed.
void counters_context_ends(cu_context context);

// Around every launch of the program's, of whatever kind, before and after the driver sees it.
void counters_launch_begins(struct guest_thread *thread, const struct cupti_call *told,
                            const struct cuda_function *function);
void counters_launch_ends(const struct cupti_call *told, const struct cuda_function *function);
// After the command's record has been written, which is the thread's `number`th; 0: there is none.
void counters_launch_written(struct guest_thread *thread, const struct cupti_call *told,
                             uint32_t number);

// ---- graph.c: graphs as the plan names them

// Of each graph that was instantiated, in that order.
void counters_graph_made(const void *graph);
// Its number, from 1; 0: it is not known.
uint32_t counters_graph_number(const void *graph);

// ---- given.c: what a launch is given

// Whether the driver can say.
bool counters_given_is_known(void);
// Bytes of the allocations that the arguments of a launch of `kernel` point into, each once. False:
// the driver told of no parameter, or where they are is not known.
bool counters_given_bytes(const struct cupti_call *told, const struct cuda_function *function,
                          cu_function kernel, uint64_t *sum);

// ---- metrics.c: what is counted

struct counters_metric {
	enum tare_trace_counter counter;
	uint8_t group;        // in which it is to be, where one pass suffices
	uint8_t factor;       // of the metric's value; a counter is the sum of its metrics
	const char *names[3]; // the first that the chip has; the rest are NULL
};
// Those that were chosen, once a process.
extern const struct counters_metric *counters_metrics;
extern uint32_t counters_metric_count;
enum counters_set {
	COUNTERS_BY_GROUPS, // of single passes, what `tare hotspots` tells
	COUNTERS_ACCOUNTS,  // all at once, for `tare blocks --executions`
};
extern enum counters_set counters_set;
void counters_metrics_choose(enum counters_set set);
// The last group's are counted by code that CUPTI puts into kernels: in graphs it is not there, and
// they are 0 (CUPTI 13.0).
enum { COUNTERS_MOST_METRICS = 48, COUNTERS_FIXED_GROUPS = 5, COUNTERS_GROUP_OF_CODE = 4 };

// ---- groups.c: how it is arranged on a chip

// Counters that are read together.
struct counters_group {
	void *host;
	uint8_t *image, *data, *empty; // empty: `data` before anything was counted
	size_t image_bytes, data_bytes;
	uint32_t passes, count;
	const char *names[COUNTERS_MOST_METRICS];
	uint8_t metrics[COUNTERS_MOST_METRICS]; // of each name its place in counters_metrics
};
struct counters_arrangement {
	const char *chip;
	const uint8_t *availability;
	uint32_t count;
	// single-pass ones, and behind them one of everything
	struct counters_group groups[COUNTERS_MOST_GROUPS + 1];
	uint64_t absent; // bits 1 << enum tare_trace_counter that the chip lacks
	// The one of everything has a pass for each group, in their order: then one configuration
	// serves for all.
	bool joined;
};
extern struct profiler_functions counters_cupti;
// Calls one of them with its structure's length filled in.
#define COUNTERS_CALL(name, structure, last, ...)                                                  \
	counters_cupti.name(                                                                       \
	    &(struct structure){ .bytes = ABI_PROFILER_BYTES(structure, last), __VA_ARGS__ })
// Fills in everything but `chip` and `availability`, which are given. Accounts are one group, for
// which a launch is run several times. Returns CUPTI's error, and then *where is the function that
// failed.
cupti_result counters_arrange(struct counters_arrangement *arrangement, const char **where);

// ---- session.c: a context's profiler

struct counters_session {
	cu_context context;
	bool ready;
	void *profiler;
	uint32_t use;     // what it was configured for; 0: nothing yet
	uint32_t changes; // to another use
	// whose `empty` is of this profiler; NULL: no group's
	const struct counters_group *empty_of;
	// Joined: the group whose turn it is, which the profiler advances with each launch. Else
	// the one that was counted last, or tried.
	uint32_t group;
	struct counters_arrangement arrangement;
	// how it went, to be written
	cupti_result result;
	const char *where;
	uint64_t from, to; // host ticks
};
// That of a context, prepared when it was not yet; NULL: there are too many. *made: it was.
struct counters_session *counters_session_of(cu_context context, bool *made);
void counters_session_end(cu_context context);
// Both return CUPTI's error, with *where. Between them the program launches one kernel, or one
// graph (only where groups are joined), which then has ended.
cupti_result counters_session_start(struct counters_session *session, uint32_t group, bool graph,
                                    const char **where);
// What it counted: values[i] of names[i] of the group.
cupti_result counters_session_stop(struct counters_session *session, uint32_t group, bool graph,
                                   double *values, const char **where);
// Whether its profiler is for graphs.
bool counters_session_is_of_graphs(const struct counters_session *session);
// Finds the profiler's functions. An older CUPTI has none, which each session then says.
void counters_functions_find(void);
