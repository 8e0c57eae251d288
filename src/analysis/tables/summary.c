// SPDX-License-Identifier: Apache-2.0
// The run in a few figures, and the part of it that the verdict is about.
#include "analysis/tables/internal.h"

#include "analysis/core/lengths.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

// A working part that leaves out less than this of the view is the view.
#define CLEARLY_SHORTER 0.99

static double share(int64_t part_ns, int64_t wall_ns)
{
	return wall_ns > 0 ? (double)part_ns / (double)wall_ns : NAN;
}

static void find_shares(const struct tare_ledger *all, struct tare_recorded_summary *summary)
{
	const int64_t *parts_ns = all->parts_ns;
	int64_t exposed_ns = parts_ns[TARE_LEDGER_TO_DEVICE] + parts_ns[TARE_LEDGER_FROM_DEVICE] +
	                     parts_ns[TARE_LEDGER_BOTH_WAYS];
	int64_t hidden_ns = 0;
	for (int host = 0; host < TARE_HOST_STATES; host++)
		hidden_ns += all->matrix_ns[host][TARE_DEVICE_KERNEL_AND_TRANSFER];
	summary->kernel_share = share(parts_ns[TARE_LEDGER_KERNEL], all->wall_ns);
	summary->exposed_transfer_share = share(exposed_ns, all->wall_ns);
	summary->transfer_share = share(exposed_ns + hidden_ns, all->wall_ns);
	summary->device_utilisation = share(
	    parts_ns[TARE_LEDGER_KERNEL] + exposed_ns + parts_ns[TARE_LEDGER_LOCAL], all->wall_ns);
}

// CPU time of the program: what the system says of all processes, else what they said of
// themselves; without the recorder's own threads.
static double cpu_utilisation(const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;
	bool all = context->view->process == TARE_NO_INDEX &&
	           recording->user_cpu_ns != TARE_NO_TIME &&
	           recording->system_cpu_ns != TARE_NO_TIME;
	int64_t wall_ns = tables_length(context->view->from_ns, context->view->to_ns);
	double cpu_ns = all ? (double)recording->user_cpu_ns + (double)recording->system_cpu_ns : 0;
	if (context->from_ns != INT64_MIN || context->to_ns != INT64_MAX || wall_ns == 0 ||
	    tare_view_ns(context->view) < wall_ns)
		return NAN;
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		if (!context->process_in[i])
			continue;
		if (!all && process->cpu_ns == 0)
			return NAN;
		cpu_ns += (all ? 0 : (double)process->cpu_ns) - (double)process->helper_cpu_ns;
	}
	return cpu_ns > 0 ? cpu_ns / (double)wall_ns : NAN;
}

// Sums over the commands of the view, whatever the kernels are called: the ledger does not know
// of names either.
struct sums {
	uint64_t runs[2];                 // of all, of kernels
	uint64_t calls;                   // that do not block
	int64_t call_ns;                  // of these
	int64_t work_from_ns, work_to_ns; // without what only makes ready or tidies up
};

// A device may run a command inside the call that enqueues it.
static int64_t issue_time(const struct tare_recording *recording,
                          const struct tare_recorded_command *command, bool timed,
                          const struct tables_span *span)
{
	int64_t share_ns = tables_length(0, tare_command_launch_ns(recording, command));
	if (tare_command_is_run(command))
		return share_ns;
	int64_t from_ns = command->enter_ns;
	int64_t to_ns = command->exit_ns;
	int64_t call_ns = tables_length(from_ns, to_ns);
	if (timed)
		call_ns -= tables_length(span->from > from_ns ? span->from : from_ns,
		                         span->to < to_ns ? span->to : to_ns);
	return share_ns < call_ns ? share_ns : call_ns;
}

static bool is_launch(const struct tare_recorded_command *command)
{
	// A list's runs are launched, each with its share of the call that executes it.
	return !(command->flags & (TARE_COMMAND_BLOCKING | TARE_COMMAND_NESTED)) &&
	       !tare_command_only_executes(command);
}

static bool is_mark(const struct tare_recorded_command *command)
{
	return command->kind == TARE_KIND_MARKER || command->kind == TARE_KIND_BARRIER;
}

// Programs map memory long before they have work for it, and let go of it long after.
static bool begins_work(const struct tare_recorded_command *command)
{
	return !is_mark(command) && command->kind != TARE_KIND_MAP;
}

static bool ends_work(const struct tare_recorded_command *command)
{
	return !is_mark(command) && command->kind != TARE_KIND_UNMAP;
}

// When the first call of such a command began, and when the last of them was over.
static void note_times(const struct tare_recorded_command *command, int64_t enter_ns,
                       int64_t last_ns, struct sums *sums, struct tare_recorded_summary *summary)
{
	if (begins_work(command) &&
	    (sums->work_from_ns == TARE_NO_TIME || enter_ns < sums->work_from_ns))
		sums->work_from_ns = enter_ns;
	if (ends_work(command) && (sums->work_to_ns == TARE_NO_TIME || last_ns > sums->work_to_ns))
		sums->work_to_ns = last_ns;
	if (summary->working_from_ns == TARE_NO_TIME || enter_ns < summary->working_from_ns)
		summary->working_from_ns = enter_ns;
	if (summary->working_to_ns == TARE_NO_TIME || last_ns > summary->working_to_ns)
		summary->working_to_ns = last_ns;
}

static void sum_command(const struct tare_recording *recording,
                        const struct tare_recorded_command *command, struct sums *sums,
                        struct tables_pace *pace, struct tare_recorded_summary *summary)
{
	int64_t call_ns = tables_length(0, tare_command_launch_ns(recording, command));
	int64_t last_ns = command->exit_ns;
	struct tables_span span;
	bool timed = tables_timed(command, &span);
	pace->commands += !tare_command_only_executes(command);
	pace->timed += timed;
	if (timed)
		last_ns = command->end_ns;
	if (timed && tare_command_effect(command) != TARE_EFFECT_NONE) {
		sums->runs[0]++;
		sums->runs[1] += tables_is_kernel(command);
	}
	if (is_launch(command)) {
		sums->calls++;
		sums->call_ns = tables_add(sums->call_ns, call_ns);
	}
	note_times(command, command->enter_ns, last_ns, sums, summary);
}

// The same of all commands that have the same in common.
static void sum_likes(const struct tare_commands *commands, const struct tare_like_sums *likes,
                      struct sums *sums, struct tables_pace *pace,
                      struct tare_recorded_summary *summary)
{
	const struct tare_recorded_command command = tare_command_of_like(commands, likes->like);
	pace->commands += likes->count;
	pace->timed += likes->timed;
	if (tare_command_effect(&command) != TARE_EFFECT_NONE) {
		sums->runs[0] += likes->timed;
		sums->runs[1] += tables_is_kernel(&command) ? likes->timed : 0;
	}
	if (is_launch(&command)) {
		sums->calls += likes->count;
		sums->call_ns = tables_add(sums->call_ns, likes->call_ns);
	}
	note_times(&command, likes->enter_ns, likes->last_ns, sums, summary);
}

static void sum_all(const struct tables_context *context, struct sums *sums,
                    struct tables_pace *pace, struct tare_recorded_summary *summary)
{
	const struct tare_recording *recording = context->recording;
	const struct tare_commands *commands = &recording->commands;
	if (commands->sums && context->all_but_names) {
		for (size_t i = 0; i < commands->sum_count; i++)
			sum_likes(commands, &commands->sums[i], sums, pace, summary);
		return;
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (tables_has_command_of_any_name(context, command))
			sum_command(recording, command, sums, pace, summary);
	}
}

static void sum_commands(const struct tables_context *context, struct tables_pace *pace,
                         struct tare_recorded_summary *summary)
{
	const struct tare_view *view = context->view;
	struct sums sums = { .work_from_ns = TARE_NO_TIME, .work_to_ns = TARE_NO_TIME };
	summary->working_from_ns = summary->working_to_ns = TARE_NO_TIME;
	sum_all(context, &sums, pace, summary);
	summary->launch_ns = sums.call_ns;
	summary->mean_launch_ns = sums.calls > 0 ? (double)sums.call_ns / (double)sums.calls : NAN;
	pace->kernels = sums.runs[1] > 0;
	pace->issued = sums.runs[pace->kernels];
	if (summary->working_from_ns == TARE_NO_TIME)
		return;
	if (sums.work_from_ns != TARE_NO_TIME && sums.work_to_ns > sums.work_from_ns) {
		summary->working_from_ns = sums.work_from_ns;
		summary->working_to_ns = sums.work_to_ns;
	}
	// Where the program says what it is about nothing of that is start-up.
	if (view->spans && view->span_count > 0) {
		summary->working_from_ns = view->spans[0].from_ns;
		summary->working_to_ns = view->spans[view->span_count - 1].to_ns;
		return;
	}
	if (summary->working_from_ns < view->from_ns)
		summary->working_from_ns = view->from_ns;
	if (summary->working_to_ns > view->to_ns)
		summary->working_to_ns = view->to_ns;
	if (summary->working_to_ns < summary->working_from_ns)
		summary->working_to_ns = summary->working_from_ns;
	pace->outside_before_ns = tables_length(view->from_ns, summary->working_from_ns);
	pace->outside_after_ns = tables_length(summary->working_to_ns, view->to_ns);
}

// What medians are of.
struct lengths {
	struct tare_lengths runs, calls;
	struct tare_lengths *latencies; // by queue
};

// How long it took to start is of its queue, whatever kind it is; a call that blocks waits for it.
static int add_latency(const struct tables_context *context, struct lengths *lengths,
                       const struct tare_recorded_command *command, const struct tables_span *span)
{
	return command->flags & TARE_COMMAND_BLOCKING || !tables_is_queued(context, command)
	           ? 0
	           : tare_lengths_add(&lengths->latencies[command->queue],
	                              tables_length(command->exit_ns, span->from));
}

static int add_lengths(const struct tables_context *context, bool kernels, struct lengths *lengths)
{
	const struct tare_recording *recording = context->recording;
	int code = 0;
	for (size_t i = 0; i < recording->command_count && code == 0; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span = { 0, 0 };
		bool timed = tables_timed(command, &span);
		if (timed)
			code = add_latency(context, lengths, command, &span);
		if (!tables_has_command_of_any_name(context, command) ||
		    (kernels && !tables_is_kernel(command)))
			continue;
		if (timed && tare_command_effect(command) != TARE_EFFECT_NONE && code == 0)
			code = tare_lengths_add(&lengths->runs, span.to - span.from);
		if (is_launch(command) && code == 0)
			code = tare_lengths_add(&lengths->calls,
			                        issue_time(recording, command, timed, &span));
	}
	return code;
}

static double median_of(struct tare_lengths *lengths)
{
	return lengths->count > 0 ? tare_lengths_quantile(lengths, 0.5) : NAN;
}

// Medians, because a few calls that compile a kernel would make any mean long: of the times on the
// device, of the calls, and of the queues' latencies.
static int find_medians(struct tables_context *context, bool kernels)
{
	size_t queues = context->recording->queue_count;
	struct lengths lengths = { .latencies = calloc(queues + 1, sizeof *lengths.latencies) };
	int code = lengths.latencies ? add_lengths(context, kernels, &lengths) : -ENOMEM;
	context->median_run_ns = median_of(&lengths.runs);
	context->median_call_ns = median_of(&lengths.calls);
	tare_lengths_free(&lengths.runs);
	tare_lengths_free(&lengths.calls);
	for (size_t i = 0; i < queues && lengths.latencies; i++) {
		context->latency_ns[i] = median_of(&lengths.latencies[i]);
		tare_lengths_free(&lengths.latencies[i]);
	}
	free(lengths.latencies);
	return code;
}

int tables_medians(struct tables_context *context)
{
	struct tare_recorded_summary summary = { 0 };
	struct tables_pace pace = { 0 };
	sum_commands(context, &pace, &summary);
	return find_medians(context, pace.kernels);
}

// The command of each kernel that was enqueued first; TARE_NO_INDEX: none.
static uint32_t *find_first_launches(const struct tare_recording *recording)
{
	uint32_t *first = malloc((recording->kernel_count + 1) * sizeof *first);
	if (!first)
		return NULL;
	for (size_t i = 0; i < recording->kernel_count; i++)
		first[i] = TARE_NO_INDEX;
	for (size_t i = recording->command_count; i-- > 0;)
		if (TARE_COMMAND(recording, i)->kind == TARE_KIND_KERNEL &&
		    TARE_COMMAND(recording, i)->object < recording->kernel_count)
			first[TARE_COMMAND(recording, i)->object] = (uint32_t)i;
	return first;
}

// Whether the gap was one; a gap of which the view has several parts is several.
static bool add_first_launch(const struct tare_recorded_command *command,
                             const struct tare_gap *gap, struct tables_pace *pace)
{
	int64_t issued_ns = command->exit_ns;
	if (command->submitted_ns != TARE_NO_TIME && command->submitted_ns < issued_ns)
		issued_ns = command->submitted_ns;
	if (gap->cause == TARE_LEDGER_API)
		pace->first_call_ns =
		    tables_add(pace->first_call_ns,
		               tables_length(gap->from_ns > command->enter_ns ? gap->from_ns
		                                                              : command->enter_ns,
		                             issued_ns < gap->to_ns ? issued_ns : gap->to_ns));
	else if (gap->cause == TARE_LEDGER_DISPATCH)
		pace->first_dispatch_ns = tables_add(
		    pace->first_dispatch_ns,
		    tables_length(gap->from_ns > command->submitted_ns ? gap->from_ns
		                                                       : command->submitted_ns,
		                  gap->to_ns));
	else
		return false;
	return true;
}

// Idle gaps that are for the most part the first launch of a kernel: many drivers compile or load
// it then. A command held back before its submission may wait for the program's flush: not this.
static int sum_first_launches(const struct tables_context *context,
                              const struct tare_ledgers *ledgers, struct tables_pace *pace)
{
	const struct tare_recording *recording = context->recording;
	TARE_FREE uint32_t *first = find_first_launches(recording);
	TARE_FREE bool *counted = calloc(recording->kernel_count + 1, sizeof *counted);
	if (!first || !counted)
		return -ENOMEM;
	for (size_t i = 0; i < ledgers->gap_count; i++) {
		const struct tare_gap *gap = &ledgers->gaps[i];
		const struct tare_recorded_command *command;
		// What one of several devices idles is no part of the union's ledger.
		if (gap->device != ledgers->gaps[0].device) {
			pace->first_launches = 0;
			pace->first_call_ns = pace->first_dispatch_ns = 0;
			return 0;
		}
		if (gap->command >= recording->command_count)
			continue;
		command = TARE_COMMAND(recording, gap->command);
		if (command->kind != TARE_KIND_KERNEL ||
		    command->object >= recording->kernel_count ||
		    first[command->object] != gap->command || !add_first_launch(command, gap, pace))
			continue;
		pace->first_launches += !counted[command->object];
		counted[command->object] = true;
	}
	return 0;
}

static int judge_by(const struct tables_context *context, const struct tare_ledgers *ledgers,
                    struct tables_pace *pace, struct tare_recorded_summary *summary)
{
	int code = sum_first_launches(context, ledgers, pace);
	if (code == 0)
		tables_judge(tables_union_of(ledgers), pace, summary);
	return code;
}

// A working part that is hardly shorter than the view is the view.
static bool is_view(const struct tare_view *view, int64_t working_ns, int64_t wall_ns)
{
	return (double)working_ns >= CLEARLY_SHORTER * (double)wall_ns && !view->spans;
}

struct tare_run_span tables_working_part(const struct tables_context *context)
{
	const struct tare_view *view = context->view;
	struct tables_pace pace = { 0 };
	struct tare_recorded_summary summary = { 0 };
	sum_commands(context, &pace, &summary);
	int64_t from_ns = summary.working_from_ns, to_ns = summary.working_to_ns;
	if (from_ns == TARE_NO_TIME)
		return (struct tare_run_span){ 0, 0 };
	if (is_view(view, tare_view_overlap_ns(view, from_ns, to_ns), tare_view_ns(view)))
		return (struct tare_run_span){ view->from_ns, view->to_ns };
	return (struct tare_run_span){ from_ns, to_ns };
}

// Judges by the view's ledger, or by one of the working part when that is clearly shorter.
static int judge(const struct tables_context *context, const struct tare_ledger *all,
                 struct tables_pace *pace, struct tare_recorded_summary *summary)
{
	struct tare_view working = *context->view;
	int64_t working_ns =
	    tare_view_overlap_ns(&working, summary->working_from_ns, summary->working_to_ns);
	struct tare_ledgers ledgers = { 0 };
	int code = 0;
	if (working_ns == 0) {
		tables_judge(NULL, pace, summary);
		return 0;
	}
	if (all && (double)working_ns >= CLEARLY_SHORTER * (double)all->wall_ns) {
		if (!working.spans) {
			summary->working_from_ns = working.from_ns;
			summary->working_to_ns = working.to_ns;
		}
		pace->outside_before_ns = pace->outside_after_ns = 0;
		return judge_by(context, context->ledgers, pace, summary);
	}
	working.from_ns = summary->working_from_ns;
	working.to_ns = summary->working_to_ns;
	code = tables_run_parts(context, summary);
	if (code != 0)
		return code;
	code = tare_ledgers_compute(context->recording, &working, &ledgers, NULL);
	if (code == 0)
		code = judge_by(context, &ledgers, pace, summary);
	tare_ledgers_free(&ledgers);
	return code;
}

int tables_summary(const struct tables_context *context, struct tare_recorded_summary *summary)
{
	const struct tare_ledger *all = tables_union_of(context->ledgers);
	struct tables_pace pace = { .phase = context->view->phase != NULL };
	summary->wall_ns = tare_view_ns(context->view);
	summary->device_utilisation = summary->kernel_share = NAN;
	summary->transfer_share = summary->exposed_transfer_share = NAN;
	summary->cpu_utilisation = cpu_utilisation(context);
	sum_commands(context, &pace, summary);
	pace.median_run_ns = context->median_run_ns;
	pace.median_call_ns = context->median_call_ns;
	// Where nothing was timed the device's work is not nought but unknown.
	if (all && pace.timed > 0)
		find_shares(all, summary);
	if (pace.commands > 0)
		return judge(context, all, &pace, summary);
	summary->bound = TARE_BOUND_NOTHING;
	summary->why_no_command =
	    tables_why_no_command(context, summary->verdict, sizeof summary->verdict);
	return 0;
}
