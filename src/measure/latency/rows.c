// SPDX-License-Identifier: Apache-2.0
// The rows of `latency` and their figures, in the order in which they are measured.
#include "measure/core/traced.h"
#include "measure/latency/internal.h"

#define ROW(name) .begin = latency_begin_##name, .sample = latency_sample_##name
#define FIGURES(...) .figures = { __VA_ARGS__ }

#define OF_THE_WHOLE "in a row, then finish: host time of the whole, per "
// Of each figure "issue only": they all end behind tare_submit.
#define ISSUED "the same ones: host time until the last has been issued and handed to the device"

#define SPREAD(count, title_, over)                                                                \
	{ "queue",                                                                                 \
	  title_,                                                                                  \
	  .begin = latency_begin_queues,                                                           \
	  .sample = latency_sample_spread,                                                         \
	  .extra = true,                                                                           \
	  .needs_kernel = true,                                                                    \
	  .queues = count,                                                                         \
	  .order = TARE_QUEUE_IN_ORDER,                                                            \
	  .batch_most = LATENCY_MANY,                                                              \
	  FIGURES({ "launch over " over ", then wait",                                             \
		    "launches in turn on queues of their own without profiling, then finish of "   \
		    "each: host time of the whole, per launch",                                    \
		    .divided = LATENCY_BATCH },                                                    \
		  { "launch over " over ", issue only", ISSUED ", per launch",                     \
		    .divided = LATENCY_BATCH }) }
#define DEFAULT(order_, title_, queue)                                                             \
	{ "queue",                                                                                 \
	  title_,                                                                                  \
	  .begin = latency_begin_queues,                                                           \
	  .sample = latency_sample_default,                                                        \
	  .extra = true,                                                                           \
	  .needs_kernel = true,                                                                    \
	  .queues = 1,                                                                             \
	  .order = order_,                                                                         \
	  .batch_most = LATENCY_MANY,                                                              \
	  FIGURES({ queue ", launch and wait",                                                     \
		    "one launch of an empty kernel, then finish; one went before" },               \
		  { queue ", many then wait", "launches " OF_THE_WHOLE "launch",                   \
		    .divided = LATENCY_BATCH },                                                    \
		  { queue ", issue only", ISSUED ", per launch", .divided = LATENCY_BATCH }) }
#define COPY(kind_, to_device_, way)                                                               \
	{ "copy",                                                                                  \
	  "1 byte, " way,                                                                          \
	  ROW(copy),                                                                               \
	  .kind = kind_,                                                                           \
	  .to_device = to_device_,                                                                 \
	  FIGURES({ "copy 1 byte, " way,                                                           \
		    "one blocking copy of 1 byte; a queue without profiling, used just before" },  \
		  { "copy 1 byte, " way,                                                           \
		    "start to end of the same copy on a queue with profiling; shorter than 100 "   \
		    "ticks: ",                                                                     \
		    .device = true, .batch_note = true }) }
#define COPIES(to_device_, way, to)                                                                \
	{ "copy",                                                                                  \
	  "1 byte in a row, " way,                                                                 \
	  ROW(copies),                                                                             \
	  .extra = true,                                                                           \
	  .kind = TARE_MEMORY_PINNED,                                                              \
	  .to_device = to_device_,                                                                 \
	  .batch_most = LATENCY_MANY,                                                              \
	  FIGURES({ "1 B copies to " to ", then wait", "copies of 1 byte " OF_THE_WHOLE "copy",    \
		    .divided = LATENCY_BATCH },                                                    \
		  { "1 B copies to " to ", issue only", ISSUED ", per copy",                       \
		    .divided = LATENCY_BATCH }) }

const struct latency_row latency_rows[] = {
	{ "clock", "host clock", .sample = latency_sample_host_clock,
	  FIGURES({ "read the host clock",
	            "64 readings of CLOCK_MONOTONIC_RAW in a row, divided by 64",
	            .divided = LATENCY_READS }) },
	{ "clock", "device clock", .sample = latency_sample_device_clock, .needs_stamps = true,
	  FIGURES(
	      { "step between device stamps",
	        "smallest non-zero difference between the stamps of 16 markers in a row",
	        .device = true, .is_step = true },
	      { "marker, back to back",
	        "16 markers in a row behind a gate: first start to last end, divided by 16",
	        .method_ungated =
	            "16 markers in a row: first start to last end, divided by 16; there is no "
	            "gate, so where the device is quicker this is the host's time to append one",
	        .device = true, .divided = LATENCY_MARKERS }) },
	{ "clock", "clock pairs", .sample = latency_sample_pair,
	  FIGURES({ "clock pair, its bracket",
	            "host clock before and after reading the device's clock once" }) },
	{ "clock", "global timestamps", ROW(written), .needs_stamps = true, .bound = true,
	  FIGURES(
	      { "global timestamp, back to back",
	        "16 written in a row: first to last, divided by 15; a barrier between two where "
	        "a list keeps no order",
	        .device = true, .divided = LATENCY_WRITES - 1 },
	      { "copy of 64 KB, by its event",
	        "kernel timestamps of the copy's event, from pinned memory", .device = true },
	      { "the same between global timestamps",
	        "one written before it and one behind it, with what order costs: it is the "
	        "event's time and a little more",
	        .device = true }) },
	{ "launch", "launch, isolated", .begin = latency_begin_launch,
	  .sample = latency_sample_isolated, .needs_kernel = true,
	  FIGURES({ "launch and wait",
	            "one launch of an empty kernel, then finish; a queue without profiling, used "
	            "just before" },
	          { "empty kernel, alone", "start to end of one empty kernel that is waited for",
	            .device = true }) },
	{ "launch", "launch, batched", .begin = latency_begin_launch,
	  .sample = latency_sample_batched, .needs_kernel = true, .batch_most = LATENCY_MANY,
	  FIGURES({ "launch, many then wait", "launches " OF_THE_WHOLE "launch",
	            .divided = LATENCY_BATCH },
	          { "launch, issue only", ISSUED ", per launch", .divided = LATENCY_BATCH }) },
	{ "launch", "launch, gated", .begin = latency_begin_launch, .sample = latency_sample_gated,
	  .needs_kernel = true, .needs_stamps = true, .needs_gate = true,
	  .batch_most = LATENCY_MANY,
	  FIGURES({ "launch, gated",
	            "launches issued behind a shut gate: first start to last end, per launch; the "
	            "cost of issuing is not in it",
	            .device = true, .divided = LATENCY_BATCH }) },
	{ "launch", "launch to start", ROW(to_start), .needs_kernel = true, .needs_stamps = true,
	  FIGURES(
	      { "launch to start",
	        "host time before the launch to the kernel's start stamp, mapped onto the "
	        "host's clock by the fit, whose largest error is in the interval; never below 0 "
	        "nor above 'around the kernel'",
	        .device = true },
	      { "end to return",
	        "the kernel's end stamp, mapped in the same way, to the return of finish",
	        .device = true },
	      { "around the kernel",
	        "host time of launch and finish less the kernel's own time: launch to start "
	        "and end to return together, without the clock fit" }) },
	{ "launch", "empty kernel, traced", ROW(traced), .extra = true, .needs_kernel = true,
	  .needs_stamps = true, .traced = true, .batch_least = TARE_TRACED_MOST,
	  .batch_most = TARE_TRACED_MOST,
	  FIGURES({ "empty kernel, alone",
	            "start to end of one empty kernel that is waited for, as the vendor's tracer "
	            "saw the engine at work; mean of so many, after everything else",
	            .device = true, .by_tracer = true, .divided = LATENCY_BATCH }) },
	SPREAD(1, "launch over 1 queue", "1 queue"),
	SPREAD(2, "launch over 2 queues", "2 queues"),
	SPREAD(4, "launch over 4 queues", "4 queues"),
	SPREAD(LATENCY_QUEUES, "launch over 8 queues", "8 queues"),
	DEFAULT(TARE_QUEUE_LEGACY_DEFAULT, "legacy default queue", "legacy default"),
	DEFAULT(TARE_QUEUE_THREAD_DEFAULT, "thread's default queue", "thread's default"),
	{ "queue", "create a queue", ROW(create), .extra = true,
	  FIGURES({ "create a queue", "one call that creates an in-order queue without profiling" },
	          { "free a queue", "one call that frees a queue in which nothing ever ran" }) },
	{ "list", "regular list", ROW(list), .needs_kernel = true, .bound = true,
	  .batch_most = LATENCY_MANY, // in the order of enum list_figure
	  FIGURES(
	      { "regular list, launch and wait",
	        "one launch of an empty kernel appended to a regular list, closed, executed and "
	        "synchronised; one went before" },
	      { "regular list, fence and wait",
	        "the same launch, with a fence that is signalled behind it and waited for" },
	      { "regular list, append",
	        "launches appended to one list, nothing executed: host time per launch",
	        .divided = LATENCY_BATCH },
	      { "regular list, close and execute",
	        "host time of closing that list and handing it to the command queue" },
	      { "regular list, then wait",
	        "the same launches: host time from the first append until all are done, per "
	        "launch",
	        .divided = LATENCY_BATCH }) },
	{ "list", "host signal", ROW(signal), .needs_kernel = true, .needs_stamps = true,
	  .needs_gate = true, .bound = true,
	  FIGURES(
	      { "host signal to start",
	        "host time before it signals the event that a kernel waits for, to the kernel's "
	        "start stamp, mapped onto the host's clock by the fit, whose largest error is "
	        "in the interval; never below 0",
	        .device = true },
	      { "end to event seen",
	        "that kernel's end stamp, mapped in the same way, to the return of the host's "
	        "wait for its event; never below 0",
	        .device = true }) },
	{ "graph", "graph of one", ROW(graph), .needs_kernel = true,
	  FIGURES(
	      { "graph of one kernel", "launch of a graph with one empty kernel, then finish" }) },
	{ "graph", "graph of many", ROW(graph), .needs_kernel = true, .batch_most = LATENCY_MANY,
	  FIGURES({ "graph of many, per kernel",
	            "launch of a graph of empty kernels in a row, then finish; per kernel",
	            .divided = LATENCY_BATCH }) },
	{ "graph", "making a graph", ROW(make), .extra = true, .needs_kernel = true,
	  .batch_most = LATENCY_MANY,
	  FIGURES({ "making a graph, per kernel",
	            "launches of an empty kernel recorded into a graph that is made ready; host "
	            "time of "
	            "the whole, per kernel, without launching it",
	            .divided = LATENCY_BATCH }) },
	{ "graph", "graph, by its nodes", ROW(nodes), .extra = true, .needs_kernel = true,
	  .needs_stamps = true, .traced = true, .stamped_else = true, .batch_least = 2,
	  .batch_most = LATENCY_MANY,
	  FIGURES({ "graph, node to node",
	            "one launch of a graph of empty kernels in a row: start of the first node to "
	            "the start of the last, per step; by the vendor's tracer where there is one, "
	            "else by what the driver tells of each node",
	            .device = true, .divided = LATENCY_STEPS },
	          { "graph, empty kernel", "the same launch: start to end of a node, mean of all",
	            .device = true, .divided = LATENCY_BATCH }) },
	{ "synchronise", "finish", ROW(finish),
	  FIGURES({ "finish, nothing to wait for",
	            "16 calls of the API's own finish on an idle queue, divided by 16",
	            .divided = LATENCY_CALLS }) },
	{ "synchronise", "wait for an event", ROW(wait),
	  FIGURES({ "wait for a finished event",
	            "16 calls of the API's own wait on an event that is done and was waited for, "
	            "divided by 16",
	            .divided = LATENCY_CALLS },
	          { "wait for finished events",
	            "the API's own wait on 16 events, each done, and waited for the first time; "
	            "divided by 16",
	            .divided = LATENCY_CALLS }) },
	COPY(TARE_MEMORY_PINNED, true, "pinned to device"),
	COPY(TARE_MEMORY_PINNED, false, "device to pinned"),
	COPY(TARE_MEMORY_PAGEABLE, true, "pageable to device"),
	COPY(TARE_MEMORY_PAGEABLE, false, "device to pageable"),
	COPIES(true, "pinned to device", "device"),
	COPIES(false, "device to pinned", "pinned"),
	{ "event", "event record", .begin = latency_begin_finish, .sample = latency_sample_record,
	  .batch_most = LATENCY_RECORDS,
	  FIGURES({ "append a marker with an event",
	            "host time to append markers, each yielding an event, per marker",
	            .divided = LATENCY_BATCH },
	          { "append a marker",
	            "the same without events; the difference is what an event costs",
	            .divided = LATENCY_BATCH }) },
	{ "event", "event query", .begin = latency_begin_wait, .sample = latency_sample_query,
	  FIGURES({ "query an event", "16 calls that ask whether an event is done, divided by 16",
	            .divided = LATENCY_CALLS }) },
	{ "event", "wait across queues", .begin = latency_begin_finish,
	  .sample = latency_sample_across, .needs_stamps = true, .needs_second = true,
	  FIGURES({ "wait across queues",
	            "end of a marker on one queue to the start of a marker on another that waits "
	            "for it",
	            .device = true,
	            .absent =
	                "the device started the second before the first had ended, by its own "
	                "stamps" }) },
	{ "event", "callback", ROW(callback),
	  FIGURES(
	      { "gate opened to callback",
	        "a marker behind a gate: host time before opening it to the entry of its event's "
	        "callback",
	        .what_ungated = "append to callback",
	        .method_ungated = "host time before appending a marker to the entry of its "
	                          "event's callback" },
	      { "event done to callback",
	        "the marker's end stamp, mapped onto the host's clock by the fit, to the entry "
	        "of the callback",
	        .device = true }) },
	{ "host call", "host call", ROW(call), .extra = true,
	  FIGURES(
	      { "append to host call",
	        "host time before appending a call of the host to an idle queue to the "
	        "function's entry" },
	      { "host call to host call",
	        "return of the function to the entry of the next one in the queue" },
	      { "host call to finish", "return of the last function to the return of finish" }) },
	{ "host call", "host call and kernel", ROW(call_kernel), .extra = true,
	  .needs_kernel = true,
	  FIGURES({ "host call, kernel, host call",
	            "return of the function to the entry of the next one, with an empty kernel "
	            "between them" }) },
};
const size_t latency_row_count = sizeof latency_rows / sizeof *latency_rows;
