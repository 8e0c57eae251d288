// SPDX-License-Identifier: Apache-2.0
// What the rules judge with: the working part of a view, its commands by start, its idle gaps.
#include "analysis/findings/internal.h"
#include "analysis/ledger/internal.h"
#include "base/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the working part

static int cut_spans(struct evaluation *evaluation)
{
	const struct tare_view *view = evaluation->view;
	const struct tare_run_span whole = { evaluation->from_ns, evaluation->to_ns };
	const struct tare_run_span *spans = view->spans ? view->spans : &whole;
	size_t count = view->spans ? view->span_count : 1;
	evaluation->spans = calloc(count + 1, sizeof *evaluation->spans);
	if (!evaluation->spans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct tare_run_span span = spans[i];
		if (span.from_ns < evaluation->from_ns)
			span.from_ns = evaluation->from_ns;
		if (span.to_ns > evaluation->to_ns)
			span.to_ns = evaluation->to_ns;
		if (span.from_ns >= span.to_ns)
			continue;
		evaluation->spans[evaluation->span_count++] = span;
		evaluation->working_ns += span.to_ns - span.from_ns;
	}
	return 0;
}

static int open_working_part(struct evaluation *evaluation)
{
	const struct tare_recorded_summary *summary = &evaluation->tables->summary;
	if (summary->working_from_ns == TARE_NO_TIME || summary->working_to_ns == TARE_NO_TIME)
		return 0;
	evaluation->from_ns = summary->working_from_ns;
	evaluation->to_ns = summary->working_to_ns;
	return cut_spans(evaluation);
}

static void note_kernel(struct evaluation *evaluation, uint32_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(evaluation->recording, index);
	struct evaluation_kernels *kernels = &evaluation->kernels;
	if (kernels->count++ == 0)
		kernels->first_ns = command->enter_ns;
	kernels->last_ns = command->enter_ns;
}

// Of all commands of a run in which everything has times.
static void look_at_likes(struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	uint32_t last = 0;
	for (size_t i = 0; i < recording->commands.sum_count; i++) {
		const struct tare_like_sums *sums = &recording->commands.sums[i];
		const struct tare_recorded_command command =
		    tare_command_of_like(&recording->commands, sums->like);
		uint32_t *first =
		    command.kind == TARE_KIND_KERNEL && command.object < recording->kernel_count
		        ? &evaluation->first_launch[command.object]
		        : NULL;
		if (first && *first == TARE_NO_INDEX)
			*first = sums->first;
		if (command.kind == TARE_KIND_KERNEL && command.flags & TARE_COMMAND_BLOCKING)
			evaluation->kernels.blocking = true;
		evaluation->commands += sums->count;
		evaluation->timed += sums->count;
		if (!tables_is_kernel(&command))
			continue;
		if (evaluation->kernels.count == 0)
			evaluation->kernels.first_ns =
			    TARE_COMMAND(recording, sums->first)->enter_ns;
		evaluation->kernels.count += sums->count;
		last = sums->last > last ? sums->last : last;
		evaluation->kernels.last_ns = TARE_COMMAND(recording, last)->enter_ns;
	}
}

static void look_at_commands(struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	evaluation->kernels = (struct evaluation_kernels){ 0, TARE_NO_TIME, TARE_NO_TIME, false };
	if (recording->commands.sums && recording->commands.all_timed &&
	    evaluation->context.all_but_names) {
		look_at_likes(evaluation);
		return;
	}
	for (uint32_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (command->kind == TARE_KIND_KERNEL &&
		    command->object < recording->kernel_count &&
		    evaluation->first_launch[command->object] == TARE_NO_INDEX)
			evaluation->first_launch[command->object] = i;
		if (command->kind == TARE_KIND_KERNEL && command->flags & TARE_COMMAND_BLOCKING &&
		    tare_command_timed(command))
			evaluation->kernels.blocking = true;
		if (!tables_has_command_of_any_name(&evaluation->context, command))
			continue;
		if (tables_is_kernel(command))
			note_kernel(evaluation, i);
		if (tare_command_only_executes(command))
			continue;
		evaluation->commands++;
		evaluation->timed += tare_command_timed(command);
		evaluation->unsampled += command->untimed == TARE_UNTIMED_NOT_SAMPLED;
	}
}

static int count_commands(struct evaluation *evaluation)
{
	size_t kernels = evaluation->recording->kernel_count;
	evaluation->first_launch = malloc((kernels + 1) * sizeof *evaluation->first_launch);
	if (!evaluation->first_launch)
		return -ENOMEM;
	for (size_t i = 0; i <= kernels; i++)
		evaluation->first_launch[i] = TARE_NO_INDEX;
	look_at_commands(evaluation);
	for (size_t i = 0; i < kernels; i++)
		if (evaluation->first_launch[i] != TARE_NO_INDEX &&
		    evaluation->first_launch[i] > evaluation->last_first)
			evaluation->last_first = evaluation->first_launch[i];
	return 0;
}

// What the driver was charged with, of a command in the mean: nothing was added to many.
static int64_t driver_cost_ps(const struct tare_coverage *coverage)
{
	uint64_t commands = coverage->completed + coverage->unobserved;
	if (coverage->driver_ns == TARE_NO_TIME || coverage->driver_ns <= 0 || commands == 0)
		return 0;
	return llround(fmin(1e18, (double)coverage->driver_ns * 1e3 / (double)commands));
}

// The dearest process stands for all.
static void find_recording_costs(struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	int64_t driver_ps = driver_cost_ps(&evaluation->tables->coverage);
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		int64_t cost_ps = process->self_cost_ps;
		int64_t untimed_ps = process->self_untimed_cost_ps > 0
		                         ? process->self_untimed_cost_ps
		                         : process->self_cost_ps;
		if (process->self_cost_ps > 0) {
			cost_ps = tables_add(cost_ps, driver_ps);
			untimed_ps = tables_add(untimed_ps, driver_ps);
		}
		if (cost_ps > evaluation->command_cost_ps)
			evaluation->command_cost_ps = cost_ps;
		if (untimed_ps > evaluation->untimed_cost_ps)
			evaluation->untimed_cost_ps = untimed_ps;
		if (process->self_call_cost_ps > evaluation->call_cost_ps)
			evaluation->call_cost_ps = process->self_call_cost_ps;
	}
}

// ---- gaps

// What the ledgers' own sweep has told of the working part, or one of its own.
static int take_working(struct evaluation *evaluation)
{
	struct tare_run_span part = { evaluation->from_ns, evaluation->to_ns };
	struct ledger_working **kept = evaluation->ledgers ? evaluation->ledgers->working : NULL;
	if (kept && *kept && (*kept)->part.from_ns == part.from_ns &&
	    (*kept)->part.to_ns == part.to_ns) {
		evaluation->working = *kept;
		*kept = NULL;
		return 0;
	}
	evaluation->working = calloc(1, sizeof *evaluation->working);
	return evaluation->working ? ledger_working_find(evaluation->recording, evaluation->view,
	                                                 part, evaluation->working)
	                           : -ENOMEM;
}

static bool is_asked_for(const void *context, const struct ledger_working_gap *gap)
{
	return evaluation_has_time(context, gap->from_ns) &&
	       evaluation_has_time(context, gap->to_ns - 1);
}

static int find_gaps(struct evaluation *evaluation)
{
	int code = take_working(evaluation);
	struct ledger_working *working = evaluation->working;
	if (code)
		return code;
	evaluation->ledger = working->ledger;
	evaluation->order = working->order;
	evaluation->order_count = working->order_count;
	code = ledger_working_keep(&working->gaps, is_asked_for, evaluation);
	evaluation->gap_count = working->gaps.count;
	for (size_t i = 0; i < working->gaps.count; i++) {
		if (evaluation_is_first_launch(evaluation, ledger_gap_command(&working->gaps, i)))
			ledger_gap_mark(&working->gaps, i, LEDGER_GAP_FIRST_LAUNCH, true);
		const struct ledger_working_gap gap = { .bits =
			                                    ledger_gap_bits(&working->gaps, i) };
		evaluation->gaps_have |= gap.has;
	}
	return code;
}

static int keep_working_commands(struct evaluation *evaluation)
{
	size_t kept = 0, room = 0;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		uint32_t at = evaluation->order[i];
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, at);
		if (!tables_has_command_of_any_name(&evaluation->context, command) ||
		    tables_is_twice(&evaluation->context, at) ||
		    command->start_ns > evaluation->to_ns)
			continue;
		evaluation->order[kept++] = at;
		if (!tables_is_transfer(command) || !evaluation_has_command(evaluation, command))
			continue;
		uint32_t *transfer =
		    TARE_ROOM_FOR(evaluation->transfers, room, evaluation->transfer_count);
		if (!transfer)
			return -ENOMEM;
		*transfer = at;
		evaluation->transfer_count++;
	}
	evaluation->order_count = kept;
	if (evaluation->working)
		evaluation->working->order_count = kept;
	return 0;
}

// ---- first uses

int64_t evaluation_first_use_ns(const struct evaluation *evaluation,
                                const struct ledger_working_gap *gap)
{
	if (!gap->first_launch)
		return 0;
	int64_t launch_ns = gap->to_ns - ledger_working_enter_ns(evaluation->recording, gap);
	double spent_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_API) +
	                  evaluation_part_ns(evaluation, gap, TARE_LEDGER_LOAD) +
	                  evaluation_part_ns(evaluation, gap, TARE_LEDGER_DISPATCH);
	return (double)launch_ns < spent_ns ? launch_ns : llround(spent_ns);
}

static void sum_first_uses(struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->gap_count; i++)
		if (ledger_gap_is_marked(&evaluation->working->gaps, i, LEDGER_GAP_FIRST_LAUNCH))
			evaluation->first_use_ns +=
			    evaluation_first_use_ns(evaluation, FINDING_GAP(evaluation, i));
	evaluation->steady_ns = evaluation->working_ns - evaluation->first_use_ns;
}

// ---- the clocks' residuals

static int find_residuals(struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t devices = recording->device_count;
	int64_t *worst_ns = calloc(devices + 1, sizeof *worst_ns);
	if (!worst_ns)
		return -ENOMEM;
	for (size_t i = 0; i < devices; i++) {
		const struct tare_recorded_device *row = &recording->devices[i];
		if (row->residual_ns == TARE_NO_TIME)
			continue;
		if (row->residual_ns > worst_ns[devices])
			worst_ns[devices] = row->residual_ns;
		if (row->same_as < devices && row->residual_ns > worst_ns[row->same_as])
			worst_ns[row->same_as] = row->residual_ns;
	}
	evaluation->residuals_ns = worst_ns;
	return 0;
}

// ---- open and close

int evaluation_open(struct evaluation *evaluation, const struct tare_recording *recording,
                    const struct tare_view *view, const struct tare_ledgers *ledgers,
                    const struct tare_tables *tables, struct tare_findings *findings)
{
	*evaluation = (struct evaluation){ .recording = recording,
		                           .view = view,
		                           .ledgers = ledgers,
		                           .tables = tables,
		                           .findings = findings };
	int code = tables_context_open(recording, view, ledgers, &evaluation->context);
	if (code)
		return code;
	code = find_residuals(evaluation);
	if (!code)
		code = count_commands(evaluation);
	if (code)
		return code;
	find_recording_costs(evaluation);
	evaluation->small_task = calloc(tables->task_count + 1, sizeof *evaluation->small_task);
	code = evaluation->small_task ? open_working_part(evaluation) : -ENOMEM;
	if (!code && evaluation->working_ns > 0)
		code = find_gaps(evaluation);
	if (!code)
		code = keep_working_commands(evaluation);
	if (!code)
		sum_first_uses(evaluation);
	return code;
}

void evaluation_close(struct evaluation *evaluation)
{
	tables_context_close(&evaluation->context);
	free(evaluation->spans);
	ledger_working_free(evaluation->working);
	free(evaluation->working);
	free(evaluation->transfers);
	free(evaluation->first_launch);
	free(evaluation->small_task);
	free(evaluation->residuals_ns);
}

// ---- membership and noise

bool evaluation_among_spans(const struct evaluation *evaluation, int64_t at_ns)
{
	size_t low = 0, high = evaluation->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (evaluation->spans[middle].to_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < evaluation->span_count && evaluation->spans[low].from_ns <= at_ns;
}

bool evaluation_has_call(const struct evaluation *evaluation, const struct tare_recorded_call *call)
{
	return tables_has_call(&evaluation->context, call) &&
	       evaluation_has_time(evaluation, call->enter_ns);
}

double evaluation_percent(const struct evaluation *evaluation, double ns)
{
	return evaluation->steady_ns > 0 ? 100 * ns / (double)evaluation->steady_ns : NAN;
}

uint64_t evaluation_edges(const struct evaluation *evaluation, uint64_t gaps)
{
	return evaluation->recording->device_count > 1 ? 2 * gaps : gaps;
}

void evaluation_add_part(const struct evaluation *evaluation, uint32_t device,
                         const struct ledger_working_gap *gap, double part_ns, struct gap_sum *sum)
{
	double doubt_ns = (double)evaluation_residual_ns(evaluation, device) *
	                  (double)evaluation_edges(evaluation, 1);
	sum->gaps++;
	sum->ns += part_ns;
	sum->low_ns += fmax(0, part_ns - doubt_ns);
	sum->high_ns += fmin((double)(gap->to_ns - gap->from_ns), part_ns + doubt_ns);
}

double evaluation_within_gap(const struct ledger_working_gap *gap,
                             const struct tare_run_span *spans, size_t count, size_t *first)
{
	double sum_ns = 0;
	while (*first < count && spans[*first].to_ns <= gap->from_ns)
		++*first;
	for (size_t i = *first; i < count && spans[i].from_ns < gap->to_ns; i++) {
		int64_t from_ns = spans[i].from_ns > gap->from_ns ? spans[i].from_ns : gap->from_ns;
		int64_t to_ns = spans[i].to_ns < gap->to_ns ? spans[i].to_ns : gap->to_ns;
		sum_ns += (double)(to_ns - from_ns);
	}
	return sum_ns;
}

bool finding_may_matter(const struct evaluation *evaluation, double most_ns, double share)
{
	// Parts of gaps are kept as floats, and sums of them are rounded.
	const double rounded = 1.001;
	return rounded * most_ns >= FINDING_LEAST_NS &&
	       rounded * most_ns >= share * (double)evaluation->steady_ns;
}

bool finding_matters(const struct evaluation *evaluation, uint32_t device, double cost_ns,
                     uint64_t edges, uint64_t commands, uint64_t calls, double share)
{
	double residual_ns = (double)evaluation_residual_ns(evaluation, device) * (double)edges;
	double recording_ns = (double)evaluation->command_cost_ps / 1e3 * (double)commands +
	                      (double)evaluation->call_cost_ps / 1e3 * (double)calls;
	return cost_ns >= FINDING_LEAST_NS && cost_ns >= share * (double)evaluation->steady_ns &&
	       cost_ns > residual_ns && cost_ns > recording_ns;
}
