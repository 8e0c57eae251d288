// SPDX-License-Identifier: Apache-2.0
// What the figures rest on: what was seen, what was not, and what recording cost.
#include "analysis/recording/intervals.h"
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

struct gathering {
	const struct tables_context *context;
	struct tare_coverage *coverage;
	uint64_t *commands, *calls; // of the view, by process
	uint64_t *stacks;           // of these, with a call stack
	uint64_t *untimed;          // of the commands, those whose times were not asked for
	// of these, those that execute a list, where what that takes was measured
	uint64_t *executing;
	// when commands were last made to start, found when it is first asked
	int64_t *queue_ns, *process_ns;
	bool starters_found;
};

enum tare_unobserved tare_command_unobserved(const struct tare_recorded_command *command)
{
	if (command->start_ns != TARE_NO_TIME)
		return TARE_UNOBSERVED_UNUSABLE;
	switch (command->untimed) {
	case 0:
		if (command->part == TARE_EXECUTES_MORE)
			return TARE_UNOBSERVED_UNLISTED;
		return command->flags & TARE_COMMAND_NO_TIMES ? TARE_UNOBSERVED_NOT_ASKED
		                                              : TARE_UNOBSERVED_PENDING;
	case TARE_UNTIMED_REFUSED:
		return TARE_UNOBSERVED_REFUSED;
	case TARE_UNTIMED_FAILED:
		return TARE_UNOBSERVED_FAILED;
	case TARE_UNTIMED_ABANDONED:
		return TARE_UNOBSERVED_ABANDONED;
	case TARE_UNTIMED_NOT_SAMPLED:
		return TARE_UNOBSERVED_NOT_SAMPLED;
	case TARE_UNTIMED_NO_ROOM:
		return TARE_UNOBSERVED_NO_ROOM;
	case TARE_UNTIMED_REUSED:
		return TARE_UNOBSERVED_REUSED;
	case TARE_UNTIMED_NOT_ASKED:
		return TARE_UNOBSERVED_NOT_ASKED;
	default:
		return TARE_UNOBSERVED_UNUSABLE;
	}
}

// ---- commands that nothing can have started

static void note(int64_t *latest_ns, int64_t at_ns)
{
	if (at_ns > *latest_ns)
		*latest_ns = at_ns;
}

// Calls that make the commands before them start: OpenCL 3.0, 5.15 (Flush and Finish), and 5.1 for
// the release of a queue. One that does not say of which queue may be for any of its process.
static bool is_starter(const struct tare_recording *recording,
                       const struct tare_recorded_call *call)
{
	if (call->flags & TARE_CALL_FAILED)
		return false;
	return call->role == TARE_ROLE_FLUSH || call->role == TARE_ROLE_WAIT ||
	       (call->function < recording->function_count &&
	        recording->functions[call->function].starts);
}

static void find_starters(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	g->starters_found = true;
	for (size_t i = 0; i < recording->queue_count; i++)
		g->queue_ns[i] = INT64_MIN;
	for (size_t i = 0; i < recording->process_count; i++)
		g->process_ns[i] = INT64_MIN;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		uint32_t process = tables_process(recording, call->thread);
		if (!is_starter(recording, call))
			continue;
		if (call->role != TARE_ROLE_CREATE && call->object < recording->queue_count)
			note(&g->queue_ns[call->object], call->enter_ns);
		else if (process < recording->process_count)
			note(&g->process_ns[process], call->enter_ns);
	}
	for (size_t i = 0; i < recording->thread_count; i++) {
		const struct tare_recorded_thread *thread = &recording->threads[i];
		if (thread->unfinished_function < recording->function_count &&
		    recording->functions[thread->unfinished_function].role != TARE_ROLE_BUILD &&
		    thread->process < recording->process_count)
			note(&g->process_ns[thread->process], thread->unfinished_since_ns);
	}
	// A command that ran shows that those before it were started, however that came.
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (command->queue < recording->queue_count &&
		    (command->flags & TARE_COMMAND_BLOCKING || command->start_ns != TARE_NO_TIME))
			note(&g->queue_ns[command->queue], command->enter_ns);
	}
}

// Other APIs start what is enqueued without being asked.
static bool needs_flush(const struct tare_recorded_queue *queue)
{
	return queue->api == TARE_TRACE_OPENCL || queue->api == TARE_TRACE_NO_API;
}

static bool is_never_flushed(struct gathering *g, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = g->context->recording;
	uint32_t process = tables_process(recording, command->thread);
	const struct tare_recorded_process *of;
	if (command->queue >= recording->queue_count || process >= recording->process_count ||
	    !needs_flush(&recording->queues[command->queue]))
		return false;
	// The call that started it may be among those that were lost.
	of = &recording->processes[process];
	if (of->lost_records > 0 || of->recycled_records > 0 || of->damaged_windows > 0)
		return false;
	if (!g->starters_found)
		find_starters(g);
	return (command->untimed == 0 || command->untimed == TARE_UNTIMED_ABANDONED) &&
	       g->queue_ns[command->queue] < command->enter_ns &&
	       g->process_ns[process] < command->enter_ns;
}

// ---- counts

// What an execution ran and is no run of the recording. One of them is the executing command
// itself.
static void count_unseen_runs(const struct tare_recording *recording,
                              const struct tare_recorded_command *command,
                              struct tare_coverage *coverage)
{
	if (command->execution >= recording->execution_count)
		return;
	const struct tare_recorded_execution *x = &recording->executions[command->execution];
	if (x->nodes <= (uint64_t)x->runs + 1)
		return;
	uint64_t count = x->nodes - x->runs - 1;
	coverage->enqueued += count;
	coverage->unobserved += count;
	coverage->unobserved_by[tare_command_unobserved(command)] += count;
}

static bool executes(const struct tare_recorded_process *process,
                     const struct tare_recorded_command *command)
{
	return process->execute_rounds != 0 && command->part != TARE_ALONE &&
	       command->flags & TARE_COMMAND_NO_TIMES;
}

// Of a view of all of a run in which everything has times.
static void count_likes(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	for (size_t i = 0; i < recording->commands.sum_count; i++) {
		const struct tare_like_sums *sums = &recording->commands.sums[i];
		const struct tare_recorded_command command =
		    tare_command_of_like(&recording->commands, sums->like);
		uint32_t process = tables_process(recording, command.thread);
		g->coverage->enqueued += sums->count;
		g->coverage->calls += sums->count;
		g->coverage->completed += sums->count;
		if (process >= recording->process_count)
			continue;
		g->commands[process] += sums->count;
		g->untimed[process] += command.flags & TARE_COMMAND_NO_TIMES ? sums->count : 0;
		g->stacks[process] += command.stack < recording->stack_count ? sums->count : 0;
	}
}

static void count_commands(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	struct tare_coverage *coverage = g->coverage;
	if (g->context->all && recording->commands.sums && recording->commands.all_timed) {
		count_likes(g);
		return;
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t process = tables_process(recording, command->thread);
		struct tables_span span;
		if (!tables_has_command(g->context, command) || tare_command_is_drivers(command))
			continue;
		if (command->part == TARE_EXECUTES_MORE)
			count_unseen_runs(recording, TARE_COMMAND(recording, i), coverage);
		coverage->enqueued += !tare_command_only_executes(command);
		coverage->calls += !tare_command_is_run(command);
		if (process < recording->process_count && !tare_command_is_run(command)) {
			g->commands[process]++;
			g->untimed[process] += (command->flags & TARE_COMMAND_NO_TIMES) != 0;
			g->executing[process] += executes(&recording->processes[process], command);
			g->stacks[process] += command->stack < recording->stack_count;
		}
		if (tables_timed(command, &span)) {
			coverage->completed++;
			continue;
		}
		if (tare_command_only_executes(command))
			continue;
		coverage->unobserved++;
		// Of a copy of its own: one that is passed on is made whole, for all commands.
		const struct tare_recorded_command *rare = TARE_COMMAND(recording, i);
		coverage->unobserved_by[tare_command_unobserved(rare)]++;
		coverage->never_flushed += is_never_flushed(g, rare);
	}
}

static void count_calls(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		uint32_t process = tables_process(recording, call->thread);
		if (!tables_has_call(g->context, call))
			continue;
		g->coverage->calls += call->count;
		if (process < recording->process_count) {
			// What is appended to a list is no command here, and costs us as one.
			bool appended =
			    call->role == TARE_ROLE_COMMAND && !(call->flags & TARE_CALL_FAILED);
			*(appended ? &g->commands[process] : &g->calls[process]) += call->count;
			g->stacks[process] += call->stack < recording->stack_count;
		}
		if (call->role == TARE_ROLE_COMMAND && call->flags & TARE_CALL_FAILED)
			g->coverage->failed++;
	}
}

static void add_process(struct tare_coverage *coverage, const struct tare_recorded_process *process)
{
	uint64_t lost = process->lost_commands + process->recycled_commands;
	coverage->lost_commands += lost;
	coverage->enqueued += lost;
	coverage->dropped += process->lost_records + process->recycled_records;
	coverage->passed_calls += process->passed_calls;
	coverage->damaged_windows += process->damaged_windows;
	coverage->helper_cpu_ns = tables_add(
	    coverage->helper_cpu_ns,
	    process->helper_cpu_ns > INT64_MAX ? INT64_MAX : (int64_t)process->helper_cpu_ns);
	coverage->stalled_ns =
	    tables_add(coverage->stalled_ns, tables_length(0, process->stalled_ns));
}

// What a process's commands took of our own code, ps, by what a command took with times and
// without, and an execution.
static double commands_ps(const struct gathering *g, size_t i, int64_t timed_ps, int64_t untimed_ps,
                          int64_t execute_ps)
{
	uint64_t untimed = g->untimed[i] - g->executing[i], timed = g->commands[i] - g->untimed[i];
	// Traces of earlier versions do not tell them apart.
	if (g->context->recording->processes[i].self_untimed_cost_ps <= 0)
		untimed_ps = timed_ps;
	return (double)timed * (double)timed_ps + (double)untimed * (double)untimed_ps +
	       (double)g->executing[i] * (double)(execute_ps > 0 ? execute_ps : 0);
}

// Calibrated cost times what was recorded; known only when every process that recorded something
// was calibrated. What has an interval is that of commands.
static void find_self_cost(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	struct tare_coverage *coverage = g->coverage;
	int64_t wall_ns = tare_view_ns(g->context->view);
	double cost_ns = 0, low_ns = 0, high_ns = 0, stack_cost_ns = 0, harvest_ns = 0;
	bool known = recording->process_count > 0, bounded = true;
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if ((g->commands[i] > 0 && process->self_cost_ps <= 0) ||
		    (g->calls[i] > 0 && process->self_call_cost_ps <= 0) ||
		    (g->stacks[i] > 0 && process->self_stack_cost_ps <= 0))
			known = false;
		bounded = bounded && (g->commands[i] == 0 || process->self_high_ps[0] > 0);
		coverage->stacks += g->stacks[i];
		stack_cost_ns += (double)g->stacks[i] * (double)process->self_stack_cost_ps / 1e3;
		harvest_ns += (double)g->commands[i] * (double)process->harvest_cost_ps / 1e3;
		double commands =
		    commands_ps(g, i, process->self_cost_ps, process->self_untimed_cost_ps,
		                process->execute_ps[TARE_EXECUTE_OWN]);
		low_ns += (commands_ps(g, i, process->self_low_ps[0], process->self_low_ps[1],
		                       process->execute_low_ps[TARE_EXECUTE_OWN]) -
		           commands) /
		          1e3;
		high_ns += (commands_ps(g, i, process->self_high_ps[0], process->self_high_ps[1],
		                        process->execute_high_ps[TARE_EXECUTE_OWN]) -
		            commands) /
		           1e3;
		cost_ns +=
		    commands / 1e3 + (double)g->calls[i] * (double)process->self_call_cost_ps / 1e3;
	}
	cost_ns += stack_cost_ns + harvest_ns;
	coverage->harvest_ns = harvest_ns < 9e18 ? llround(harvest_ns) : 0;
	known = known && cost_ns < 9e18;
	bounded = bounded && known && cost_ns + high_ns < 9e18;
	coverage->stack_cost_ns =
	    known && coverage->stacks > 0 ? stack_cost_ns / (double)coverage->stacks : NAN;
	coverage->self_cost_ns = known ? llround(cost_ns) : TARE_NO_TIME;
	coverage->self_low_ns = bounded ? llround(cost_ns + low_ns) : coverage->self_cost_ns;
	coverage->self_high_ns = bounded ? llround(cost_ns + high_ns) : TARE_NO_TIME;
	coverage->self_cost_share = known && wall_ns > 0 ? cost_ns / (double)wall_ns : NAN;
}

// Of the view's transfers in processes where contents were asked for.
static void find_contents(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	struct tare_coverage *coverage = g->coverage;
	for (size_t i = 0; i < recording->place_count; i++) {
		const struct tare_recorded_place *place = &recording->places[i];
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, place->command);
		uint32_t process = tables_process(recording, command->thread);
		bool whole = place->contents == TARE_CONTENTS_WHOLE;
		bool sampled = place->contents == TARE_CONTENTS_SAMPLED;
		if (process >= recording->process_count ||
		    !tables_has_command(g->context, command) ||
		    !(recording->processes[process].flags & TARE_TRACE_COMPARED))
			continue;
		coverage->contents_ns =
		    tables_add(coverage->contents_ns, tables_length(place->from_ns, place->to_ns));
		coverage->contents_bytes += whole ? command->amount : 0;
		coverage->contents_whole += whole;
		coverage->contents_sampled += sampled;
		coverage->contents_not += !whole && !sampled;
	}
}

int tables_coverage(const struct tables_context *context, struct tare_coverage *coverage)
{
	const struct tare_recording *recording = context->recording;
	TARE_FREE uint64_t *counts = calloc(5 * recording->process_count + 1, sizeof *counts);
	TARE_FREE int64_t *times =
	    calloc(recording->process_count + recording->queue_count + 1, sizeof *times);
	struct gathering g = { .context = context, .coverage = coverage };
	if (!counts || !times)
		return -ENOMEM;
	g.commands = counts;
	g.calls = counts + recording->process_count;
	g.stacks = counts + 2 * recording->process_count;
	g.untimed = counts + 3 * recording->process_count;
	g.executing = counts + 4 * recording->process_count;
	g.process_ns = times;
	g.queue_ns = times + recording->process_count;
	count_commands(&g);
	count_calls(&g);
	for (size_t i = 0; i < recording->process_count; i++)
		if (context->process_in[i])
			add_process(coverage, &recording->processes[i]);
	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		if (context->device_in[i] && (device->process >= recording->process_count ||
		                              context->process_in[device->process]))
			coverage->contradictions += device->contradictions;
	}
	coverage->unresolved = recording->unresolved;
	find_self_cost(&g);
	find_contents(&g);
	tables_cost(context, coverage);
	return 0;
}
