// SPDX-License-Identifier: Apache-2.0
// What the tables share: which command belongs to the view, spans of time and their unions, rows
// found by a key. Private to the tables of src/analysis.
#pragma once
#include "analysis/core/busy.h"
#include "analysis/core/id_map.h"
#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "base/room.h"

#include <errno.h>

// ---- spans

struct tables_span {
	int64_t from, to;
};

// In place, by `from`. No order of the spans makes it slow; sorted ones take one pass.
void tables_sort(struct tables_span *spans, size_t n);
// Order statistics of the lengths; rearrange the spans. n > 0. The quantile is interpolated
// (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", Am. Stat. 50, 1996).
double tables_median_length(struct tables_span *spans, size_t n);
double tables_quantile_length(struct tables_span *spans, size_t n, double p);
// Merges what touches or overlaps, of sorted spans; returns how many are left.
size_t tables_merge(struct tables_span *spans, size_t n);
// Total length of sorted spans, what they share once.
int64_t tables_union(const struct tables_span *spans, size_t n);
// Sum that stays at INT64_MAX rather than overflow: times of a damaged trace may be anything.
int64_t tables_add(int64_t a, int64_t b);

// ---- rows found by a key

// The number of a key, from 0 on in the order in which they are first asked for.
// Returns 0 or -ENOMEM.
static inline int tables_number(struct tare_id_map *map, uint64_t key, uint32_t *number)
{
	*number = tare_id_map_find(map, key);
	if (*number != TARE_ID_ABSENT)
		return 0;
	*number = (uint32_t)map->count;
	return tare_id_map_put(map, key, *number) ? 0 : -ENOMEM;
}

// ---- the view

struct tables_context {
	const struct tare_recording *recording;
	const struct tare_view *view;
	const struct tare_ledgers *ledgers;
	int64_t from_ns, to_ns; // INT64_MIN, INT64_MAX where the view goes to the end of the run
	// The parts of the view, joined where they touch, the outermost as far as from_ns and to_ns
	// where these are beyond the run; and how much of the time before each lies between them.
	struct tare_run_span *spans;
	int64_t *between_ns;
	size_t span_count;
	bool *process_in;    // by process
	bool *device_in;     // by device; the last is the unknown one
	bool *kernel_in;     // by kernel; the last is the unknown one
	uint32_t *device_of; // same_as of each queue's device, in range or device_count
	uint32_t *name_of;   // of each kernel: equal for equal names
	uint32_t *shape_of;  // of each shape: equal for equal shapes
	bool *twice;         // by command, as tables_find_twice; NULL: none
	bool all_but_names;  // every command is of the view but for its kernel's name
	bool all;            // every command is of the view
	// How long kernels ran on each device, and on the unknown one, where all_but_names;
	// negative: it was not summed up yet
	int64_t *kernel_ns;
	double median_run_ns, median_call_ns; // tables_medians
	// of each queue, how long after its call a command starts, the median; NaN: there is none
	double *latency_ns;
};

// Which commands are another API's, within the call of a command that is the same work (twice.c):
// one by which an OpenCL driver on Level Zero runs a kernel. *twice is NULL where there can be
// none. Returns 0 or -ENOMEM; free *twice in either case.
int tables_find_twice(const struct tare_recording *recording, bool **twice);

static inline bool tables_is_twice(const struct tables_context *context, size_t command)
{
	return context->twice && context->twice[command];
}
int tables_context_open(const struct tare_recording *recording, const struct tare_view *view,
                        const struct tare_ledgers *ledgers, struct tables_context *context);
void tables_context_close(struct tables_context *context);

// Device of a command as same_as; recording->device_count when not known.
static inline uint32_t tables_device(const struct tables_context *context,
                                     const struct tare_recorded_command *command)
{
	return command->queue < context->recording->queue_count
	           ? context->device_of[command->queue]
	           : (uint32_t)context->recording->device_count;
}
// Process of a thread; TARE_NO_INDEX.
static inline uint32_t tables_process(const struct tare_recording *recording, uint32_t thread)
{
	return thread < recording->thread_count ? recording->threads[thread].process
	                                        : TARE_NO_INDEX;
}

// Times as they can be subtracted without overflow.
static inline int64_t tables_bounded(int64_t time_ns)
{
	const int64_t most = INT64_C(1) << 61;
	return time_ns > most ? most : time_ns < -most ? -most : time_ns;
}
static inline int64_t tables_length(int64_t from_ns, int64_t to_ns)
{
	int64_t length = tables_bounded(to_ns) - tables_bounded(from_ns);
	return length > 0 ? length : 0;
}
// Whether a command has device times, which are then its *span.
static inline bool tables_timed(const struct tare_recorded_command *command,
                                struct tables_span *span)
{
	if (!tare_command_timed(command))
		return false;
	*span = (struct tables_span){ tables_bounded(command->start_ns),
		                      tables_bounded(command->end_ns) };
	return true;
}
static inline bool tables_is_kernel(const struct tare_recorded_command *command)
{
	return tare_command_effect(command) == TARE_EFFECT_KERNEL;
}
static inline bool tables_transfers_kind(uint8_t kind)
{
	switch (kind) {
	case TARE_KIND_WRITE:
	case TARE_KIND_READ:
	case TARE_KIND_COPY:
	case TARE_KIND_FILL:
	case TARE_KIND_MAP:
	case TARE_KIND_UNMAP:
	case TARE_KIND_MIGRATE:
		return true;
	default:
		return false;
	}
}
static inline bool tables_is_transfer(const struct tare_recorded_command *command)
{
	return tables_transfers_kind(command->kind);
}

// The first part of the view that ends after a time; span_count: none. Where the view goes to the
// end of the run it has no end.
size_t tables_span_after(const struct tables_context *context, int64_t time_ns);
static inline bool tables_in_time(const struct tables_context *context, int64_t time_ns)
{
	const struct tare_run_span *spans = context->spans;
	if (context->span_count == 1) // the most usual view
		return spans->from_ns <= time_ns &&
		       (spans->to_ns > time_ns || spans->to_ns == INT64_MAX);
	size_t next = tables_span_after(context, time_ns);
	return next < context->span_count && spans[next].from_ns <= time_ns;
}
// The first moment of the view in [from_ns, to_ns); TARE_NO_TIME: none.
int64_t tables_first_moment(const struct tables_context *context, int64_t from_ns, int64_t to_ns);
// How long [from_ns, to_ns) is without what lies between the parts of the view.
int64_t tables_between_ns(const struct tables_context *context, int64_t from_ns, int64_t to_ns);
static inline int64_t tables_inside_ns(const struct tables_context *context, int64_t from_ns,
                                       int64_t to_ns)
{
	int64_t ns = tables_length(from_ns, to_ns);
	return context->span_count < 2 || ns == 0 ? ns
	                                          : ns - tables_between_ns(context, from_ns, to_ns);
}
// Whether a command belongs to the view, and but for the names of its kernels.
static inline bool tables_has_thread(const struct tables_context *context, uint32_t thread)
{
	uint32_t process = tables_process(context->recording, thread);
	return process < context->recording->process_count
	           ? context->process_in[process]
	           : context->view->process == TARE_NO_INDEX;
}
static inline bool tables_has_command_of_any_name(const struct tables_context *context,
                                                  const struct tare_recorded_command *command)
{
	if (context->all_but_names) // the most usual view
		return true;
	int64_t time = tare_command_timed(command) ? command->start_ns : command->enter_ns;
	return tables_in_time(context, time) &&
	       context->device_in[tables_device(context, command)] &&
	       tables_has_thread(context, command->thread);
}
static inline bool tables_has_command(const struct tables_context *context,
                                      const struct tare_recorded_command *command)
{
	size_t kernels = context->recording->kernel_count;
	if (context->all)
		return true;
	if (command->kind == TARE_KIND_KERNEL &&
	    !context->kernel_in[command->object < kernels ? command->object : kernels])
		return false;
	return tables_has_command_of_any_name(context, command);
}
// Whether a queue of the view has a command.
static inline bool tables_is_queued(const struct tables_context *context,
                                    const struct tare_recorded_command *command)
{
	return command->queue < context->recording->queue_count &&
	       !tare_command_only_executes(command) && tables_has_command(context, command);
}
bool tables_has_call(const struct tables_context *context, const struct tare_recorded_call *call);

// ---- when kernels ran

// Of each device the times in which a kernel ran.
struct tables_busy {
	struct tare_busy *of;
	size_t devices;
};
// Of all kernels there are, or with `of_view` of those of the view (under any name).
int tables_busy_open(const struct tables_context *context, bool of_view, struct tables_busy *busy);
// Those of the view, of which only totals are asked.
int tables_busy_totals(const struct tables_context *context, struct tables_busy *busy);
void tables_busy_close(struct tables_busy *busy);
// How long kernels of the device had run before a time, and altogether.
int64_t tables_busy_before(const struct tables_busy *busy, uint32_t device, int64_t time_ns);
int64_t tables_busy_total(const struct tables_busy *busy, uint32_t device);

// ---- the tables; each returns 0 or -ENOMEM, and leaves what it has made to tare_tables_free

int tables_tasks(const struct tables_context *context, struct tare_tables *tables);
// Sets the task's trend and its ends from the lengths of its spans (sorted by `from`); NaN when it
// is not told from none.
int tables_trend(const struct tables_span *spans, size_t n, struct tare_task *task);
void tables_fill_model(const struct tables_context *context, struct tare_task *task);
int tables_transfers(const struct tables_context *context,
                     const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                     struct tare_tables *tables);
int tables_api_calls(const struct tables_context *context, struct tare_tables *tables);
int tables_builds(const struct tables_context *context, struct tare_tables *tables);
int tables_memory(const struct tables_context *context, struct tare_memory_use *use);
int tables_queues(const struct tables_context *context, struct tare_tables *tables);
// Commands that follow each other, of which a random sample has times. Of the drawn ones: sums of
// what each stands for, and of that times its own weight and duration, to their powers.
struct tables_block {
	uint64_t drawn, unsampled;
	double stand, stand_ns, square, square_ns, square_ns2;
};
// How durations are spread: Chan, Golub, LeVeque's and Terriberry's sums about the mean.
struct tables_spread {
	double count, mean, sum2, sum3, least, most;
};
// What commands of one kind take that are not of the sample; zero at first (task_estimate.c).
struct tables_estimate {
	struct tables_block before, open;
	struct tables_block all; // of this kind
	struct tables_block few; // of kinds of which too few were drawn to stand alone
	struct tables_spread spread;
	uint32_t row; // of a table that it is a part of; the caller's
	uint64_t timed, unsampled;
	double total_ns, variance; // of the unsampled of the blocks that are concluded
	double by_degrees;         // sum of their variances' squares over their degrees of freedom
	double above_ns;           // that long ones may add that the sample has missed
};
// In the order of the commands. `chance`: with which it was drawn; 1: it was not drawn, and stands
// for itself.
void tables_estimate_timed(struct tables_estimate *estimate, int64_t ns, double chance);
void tables_estimate_unsampled(struct tables_estimate *estimate);
void tables_estimate_end(struct tables_estimate *estimate);
// Adds one that is concluded to another.
void tables_estimate_add(struct tables_estimate *sum, const struct tables_estimate *more);
// What is told of it, where the timed took `total_ns`.
struct tare_estimate tables_estimate_tell(const struct tables_estimate *estimate, int64_t total_ns);
// The members of `coverage` about cost, from those that tables_coverage has filled.
void tables_cost(const struct tables_context *context, struct tare_coverage *coverage);
int tables_coverage(const struct tables_context *context, struct tare_coverage *coverage);
// Fills the context's medians, NaN where there are none, which tables_summary needs; no ledger is
// asked for them. Returns 0 or -ENOMEM.
int tables_medians(struct tables_context *context);
int tables_summary(const struct tables_context *context, struct tare_recorded_summary *summary);
// As tare_working_part.
struct tare_run_span tables_working_part(const struct tables_context *context);

// What bounds a run: figures beside the ledger (of all devices, of the working part).
struct tables_pace {
	uint64_t commands; // of the view
	uint64_t timed;
	bool kernels; // the rest is of kernels; else, as there are none, of all
	uint64_t issued;
	double median_run_ns;  // NaN: none timed
	double median_call_ns; // of the enqueue calls that do not block, without what of the
	                       // command ran inside them; NaN
	// Of the longest idle gaps, what a kernel's first launch took, where that is most of the
	// gap: inside the call, and from the submission to the start. 0 with several devices.
	uint64_t first_launches;
	int64_t first_call_ns, first_dispatch_ns;
	int64_t outside_before_ns, outside_after_ns; // of the view, beside the working part
	bool phase;                                  // it is about phases, not about the run
};
// Of all devices together; NULL: there is none.
const struct tare_ledger *tables_union_of(const struct tare_ledgers *ledgers);
// Why the view has no command; writes the verdict that says so, without a full stop.
enum tare_no_command tables_why_no_command(const struct tables_context *context, char *text,
                                           size_t size);
// Whether the view is all of the run: what lies before the first command of a part of it, of one
// device or of one process is no start-up.
bool tables_is_whole_run(const struct tables_context *context);
// Finds the parts of the run, where the view is all of it: start-up, working part (as set),
// tear-down. Returns 0 or -ENOMEM.
int tables_run_parts(const struct tables_context *context, struct tare_recorded_summary *summary);
// Fills bound_ns, bound, verdict and evidence, of a view with commands.
void tables_judge(const struct tare_ledger *working, const struct tables_pace *pace,
                  struct tare_recorded_summary *summary);
