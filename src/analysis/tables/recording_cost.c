// SPDX-License-Identifier: Apache-2.0
// What recording cost the program's threads: our own code, the driver's for what was changed, and
// the waiting for room. docs/report.md has the rules.
#include "analysis/tables/internal.h"

#include <math.h>
#include <stdlib.h>

// Sums in picoseconds.
struct sum {
	double best, low, high, profiling;
	uint32_t execution; // of the last run
	bool known, hidden; // hidden: threads of the driver's own took part of it
};

// Which of the measured costs a kernel had; TARE_DRIVER_COST_COUNT: nothing was changed for it. The
// event of a command whose queue has profiling anyway is the recorder's or the program's.
static enum tare_trace_driver_cost change_of(const struct tare_recording *recording,
                                             const struct tare_recorded_command *command)
{
	bool added = command->queue < recording->queue_count &&
	             recording->queues[command->queue].profiling_added;
	bool own = command->flags & TARE_COMMAND_OWN_EVENT;
	if (command->untimed == TARE_UNTIMED_NOT_SAMPLED)
		return !added ? TARE_DRIVER_COST_COUNT
		       : own  ? TARE_DRIVER_PROFILING
		              : TARE_DRIVER_PROFILED_EVENT;
	if (command->flags & TARE_COMMAND_NO_TIMES)
		return added ? TARE_DRIVER_PROFILING : TARE_DRIVER_COST_COUNT;
	if (own)
		return added ? TARE_DRIVER_BOTH : TARE_DRIVER_EVENT;
	return added ? TARE_DRIVER_PROFILED_EVENT : TARE_DRIVER_COST_COUNT;
}

// The same of any command.
static unsigned cost_of(const struct tare_recording *recording,
                        const struct tare_recorded_command *command)
{
	enum tare_trace_driver_cost change = change_of(recording, command);
	bool like_kernel = command->kind == TARE_KIND_KERNEL || command->kind == TARE_KIND_TASK ||
	                   command->kind == TARE_KIND_FILL;
	return change == TARE_DRIVER_COST_COUNT || like_kernel ? change
	                                                       : change + TARE_DRIVER_TRANSFER;
}

static void add_command(struct sum *sum, const struct tare_recorded_process *process, unsigned cost)
{
	if (cost == TARE_DRIVER_COST_COUNT)
		return;
	bool hidden = process->driver_rounds != 0 && process->flags & TARE_TRACE_DRIVER_THREADS;
	sum->hidden |= hidden;
	if (process->driver_rounds == 0 || hidden) {
		sum->known = false;
		return;
	}
	// What the program kept can be less by what letting go of the event takes, which is counted
	// where the times are harvested; what is lower still is noise.
	double least = -(double)process->driver_ps[TARE_DRIVER_RELEASE];
	sum->best += fmax(least, (double)process->driver_ps[cost]);
	sum->low += fmax(least, (double)process->driver_low_ps[cost]);
	sum->high += fmax(least, (double)process->driver_high_ps[cost]);
	unsigned work = cost / TARE_DRIVER_TRANSFER * TARE_DRIVER_TRANSFER;
	if (cost - work == TARE_DRIVER_PROFILING || cost - work == TARE_DRIVER_BOTH)
		sum->profiling += (double)process->driver_ps[work + TARE_DRIVER_PROFILING];
}

static bool was_changed(const struct tare_recording *recording, uint32_t process, uint32_t change)
{
	for (size_t i = 0; i < recording->change_count; i++)
		if (recording->changes[i].process == process &&
		    recording->changes[i].change == change)
			return true;
	return false;
}

// A run that a list of the recorder's reads the times of. What comes first of an execution has what
// that takes once.
static void add_run(struct sum *sum, const struct tare_recorded_process *process,
                    const struct tare_recorded_command *command)
{
	bool first = command->execution != sum->execution;
	if (command->flags & TARE_COMMAND_NO_TIMES || command->untimed == TARE_UNTIMED_NOT_ASKED ||
	    command->untimed == TARE_UNTIMED_NO_ROOM)
		return;
	if (process->execute_rounds == 0)
		sum->known = false;
	for (int i = first ? TARE_EXECUTE_LIST : TARE_EXECUTE_NODE; i <= TARE_EXECUTE_NODE; i++) {
		// What is lower is noise.
		sum->best += fmax(0, (double)process->execute_ps[i]);
		sum->low += fmax(0, (double)process->execute_low_ps[i]);
		sum->high += fmax(0, (double)process->execute_high_ps[i]);
	}
	sum->execution = command->execution;
}

// Level Zero's costs are told where nothing else was recorded in the process. Of what is executed
// the events cost when it was appended.
static void add_levelzero(struct sum *sum, const struct tare_recording *recording,
                          const struct tare_recorded_command *command, uint32_t process)
{
	const struct tare_recorded_process *of = &recording->processes[process];
	bool own = command->flags & TARE_COMMAND_OWN_EVENT;
	bool like_kernel = command->kind == TARE_KIND_KERNEL || command->kind == TARE_KIND_FILL;
	unsigned cost = own ? TARE_DRIVER_EVENT : TARE_DRIVER_PROFILED_EVENT;
	if (tare_command_is_run(command))
		add_run(sum, of, command);
	else if (command->part == TARE_EXECUTES_MORE)
		sum->known = false;
	else if (!(command->flags & TARE_COMMAND_NO_TIMES) &&
	         (own || was_changed(recording, process, TARE_CHANGE_FLAG)))
		add_command(sum, of, cost + (like_kernel ? 0 : TARE_DRIVER_TRANSFER));
}

static bool is_levelzero(const struct tare_recording *recording, uint32_t process)
{
	return process < recording->process_count &&
	       recording->processes[process].apis == UINT64_C(1) << TARE_TRACE_LEVELZERO &&
	       recording->processes[process].self_cost_ps > 0;
}

// What is appended to a list got our events, or ones with our flag, too.
static void add_appends(struct sum *sum, const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		uint32_t process = tables_process(recording, call->thread);
		bool own = call->flags & TARE_CALL_OWN_EVENT;
		unsigned work = call->flags & TARE_CALL_LIKE_KERNEL ? 0 : TARE_DRIVER_TRANSFER;
		if (call->role == TARE_ROLE_COMMAND && call->flags & TARE_CALL_TIMED &&
		    !(call->flags & TARE_CALL_FAILED) && is_levelzero(recording, process) &&
		    tables_has_call(context, call) &&
		    (own || was_changed(recording, process, TARE_CHANGE_FLAG)))
			add_command(sum, &recording->processes[process],
			            work + (own ? TARE_DRIVER_EVENT : TARE_DRIVER_PROFILED_EVENT));
	}
}

// Of other APIs what their drivers take for times was not measured.
static bool is_priced(const struct tare_recording *recording,
                      const struct tare_recorded_command *command)
{
	if (command->queue >= recording->queue_count)
		return true;
	uint32_t api = recording->queues[command->queue].api;
	return api == TARE_TRACE_OPENCL || api == TARE_TRACE_NO_API;
}

// CUPTI takes time for calls, too, whether it times their commands or not.
static bool is_told_by_cupti(const struct tare_recording *recording,
                             const struct tare_recorded_command *command, uint32_t process)
{
	return recording->queues[command->queue].api == TARE_TRACE_CUDA &&
	       !was_changed(recording, process, TARE_CHANGE_FRONT);
}

static int64_t ns_of(double ps)
{
	return fabs(ps) < 9e21 ? llround(ps / 1e3) : TARE_NO_TIME;
}

// Whether all of the run's time is in the view.
static bool is_whole(const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	const struct tare_view *view = context->view;
	return view->from_ns <= recording->start_ns && view->to_ns >= recording->end_ns &&
	       !view->spans;
}

// The whole run against runs without recording, if there were any.
static bool was_compared(const struct tables_context *context)
{
	const struct tare_view *view = context->view;
	return context->recording->comparison.pairs > 0 && is_whole(context) &&
	       view->process == TARE_NO_INDEX && view->device == TARE_NO_INDEX;
}

// Of three, the last of which may be a saving; not below 0.
static int64_t sum_of(int64_t rest_ns, int64_t own_ns, int64_t driver_ns)
{
	int64_t sum_ns = tables_add(tables_add(rest_ns, own_ns), driver_ns);
	return sum_ns > 0 ? sum_ns : 0;
}

static void conclude(const struct tables_context *context, struct tare_coverage *coverage)
{
	const struct tare_recorded_comparison *comparison = &context->recording->comparison;
	int64_t wall_ns = tare_view_ns(context->view);
	coverage->cost_source = coverage->self_cost_ns == TARE_NO_TIME ? TARE_COST_UNKNOWN
	                        : coverage->driver_ns == TARE_NO_TIME  ? TARE_COST_OWN_CODE
	                                                               : TARE_COST_CALIBRATED;
	coverage->cost_ns = coverage->cost_low_ns = coverage->cost_high_ns = TARE_NO_TIME;
	if (coverage->cost_source != TARE_COST_UNKNOWN) {
		bool all = coverage->cost_source == TARE_COST_CALIBRATED;
		// When the measuring was, is not recorded.
		int64_t rest_ns =
		    tables_add(coverage->stalled_ns, is_whole(context) ? coverage->once_ns : 0);
		rest_ns = tables_add(rest_ns, coverage->contents_ns);
		coverage->cost_ns =
		    sum_of(rest_ns, coverage->self_cost_ns, all ? coverage->driver_ns : 0);
		coverage->cost_low_ns =
		    sum_of(rest_ns, coverage->self_low_ns, all ? coverage->driver_low_ns : 0);
		if (all && coverage->self_high_ns != TARE_NO_TIME)
			coverage->cost_high_ns =
			    sum_of(rest_ns, coverage->self_high_ns, coverage->driver_high_ns);
	}
	if (was_compared(context)) {
		coverage->cost_source = TARE_COST_COMPARED;
		coverage->cost_ns = comparison->wall_ns;
		coverage->cost_low_ns = comparison->wall_low_ns;
		coverage->cost_high_ns = comparison->wall_high_ns;
	}
	coverage->cost_share = coverage->cost_ns != TARE_NO_TIME && wall_ns > 0
	                           ? (double)coverage->cost_ns / (double)wall_ns
	                           : NAN;
}

// One of the view that is none of Level Zero's.
static inline void add_priced(struct sum *sum, const struct tare_recording *recording,
                              const struct tare_recorded_command *command, uint32_t process)
{
	if (is_priced(recording, command)) {
		if (process < recording->process_count)
			add_command(sum, &recording->processes[process],
			            cost_of(recording, command));
	} else if (!tare_command_only_executes(command) &&
	           (!(command->flags & TARE_COMMAND_NO_TIMES) ||
	            is_told_by_cupti(recording, command, process))) {
		sum->known = false;
	}
}

// Whether it is known what the drivers took, where that follows from one look at what commands have
// in common: nothing was changed for any, or it was not measured.
static bool is_plain(struct sum *sum, const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	const struct tare_commands *commands = &recording->commands;
	struct sum once = *sum;
	if (!context->all || !commands->sums || !commands->all_timed)
		return false;
	for (size_t i = 0; i < commands->sum_count; i++) {
		const struct tare_recorded_command command =
		    tare_command_of_like(commands, commands->sums[i].like);
		uint32_t process = tables_process(recording, command.thread);
		if (is_levelzero(recording, process))
			return false;
		bool costs = is_priced(recording, &command) && process < recording->process_count &&
		             cost_of(recording, &command) != TARE_DRIVER_COST_COUNT &&
		             recording->processes[process].driver_rounds != 0;
		add_priced(&once, recording, &command, process);
		if (costs && once.known)
			return false;
	}
	*sum = once;
	return true;
}

static void add_commands(struct sum *sum, const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t process = tables_process(recording, command->thread);
		if (!tables_has_command(context, command))
			continue;
		if (is_levelzero(recording, process))
			add_levelzero(sum, recording, command, process);
		else
			add_priced(sum, recording, command, process);
	}
}

void tables_cost(const struct tables_context *context, struct tare_coverage *coverage)
{
	const struct tare_recording *recording = context->recording;
	int64_t wall_ns = tare_view_ns(context->view);
	struct sum sum = { .known = true, .execution = TARE_NO_INDEX };
	add_appends(&sum, context);
	if (!is_plain(&sum, context))
		add_commands(&sum, context);
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if (context->process_in[i])
			coverage->once_ns =
			    tables_add(coverage->once_ns,
			               tables_add(process->setup_ns, process->calibration_ns));
	}
	coverage->driver_ns = sum.known ? ns_of(sum.best) : TARE_NO_TIME;
	coverage->driver_low_ns = sum.known ? ns_of(sum.low) : TARE_NO_TIME;
	coverage->driver_high_ns = sum.known ? ns_of(sum.high) : TARE_NO_TIME;
	coverage->driver_hidden = sum.hidden;
	coverage->profiling_share =
	    sum.known && wall_ns > 0 ? sum.profiling / 1e3 / (double)wall_ns : NAN;
	conclude(context, coverage);
}

const char *tare_cost_source_name(enum tare_cost_source source)
{
	static const char *const names[] = {
		[TARE_COST_UNKNOWN] = NULL,
		[TARE_COST_OWN_CODE] = "own_code",
		[TARE_COST_CALIBRATED] = "calibration",
		[TARE_COST_COMPARED] = "unrecorded_runs",
	};
	return source < sizeof names / sizeof *names ? names[source] : NULL;
}
