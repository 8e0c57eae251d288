// SPDX-License-Identifier: Apache-2.0
// What the rules judge with: the working part of a view, its commands by start, its idle gaps.
#include "analysis/findings/contents.h"
#include "analysis/findings/internal.h"
#include "analysis/ledger/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the working part

static int cut_spans(struct judging *judging)
{
	const struct tare_view *view = judging->view;
	const struct tare_time_span whole = { judging->from_ns, judging->to_ns };
	const struct tare_time_span *spans = view->spans ? view->spans : &whole;
	size_t count = view->spans ? view->span_count : 1;
	judging->spans = calloc(count + 1, sizeof *judging->spans);
	if (!judging->spans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct tare_time_span span = spans[i];
		if (span.from_ns < judging->from_ns)
			span.from_ns = judging->from_ns;
		if (span.to_ns > judging->to_ns)
			span.to_ns = judging->to_ns;
		if (span.from_ns >= span.to_ns)
			continue;
		judging->spans[judging->span_count++] = span;
		judging->working_ns += span.to_ns - span.from_ns;
	}
	return 0;
}

static int open_working_part(struct judging *judging)
{
	const struct tare_run_summary *summary = &judging->tables->summary;
	if (summary->working_from_ns == TARE_NO_TIME || summary->working_to_ns == TARE_NO_TIME)
		return 0;
	judging->from_ns = summary->working_from_ns;
	judging->to_ns = summary->working_to_ns;
	return cut_spans(judging);
}

static void count_commands(struct judging *judging)
{
	const struct tare_recording *recording = judging->recording;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = &recording->commands[i];
		if (tare_command_only_executes(command) ||
		    !tables_has_command_of_any_name(&judging->context, command))
			continue;
		judging->commands++;
		judging->timed += tare_command_timed(command);
		judging->unsampled += command->untimed == TARE_UNTIMED_NOT_SAMPLED;
	}
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
static void find_recording_costs(struct judging *judging)
{
	const struct tare_recording *recording = judging->recording;
	int64_t driver_ps = driver_cost_ps(&judging->tables->coverage);
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
		if (cost_ps > judging->command_cost_ps)
			judging->command_cost_ps = cost_ps;
		if (untimed_ps > judging->untimed_cost_ps)
			judging->untimed_cost_ps = untimed_ps;
		if (process->self_call_cost_ps > judging->call_cost_ps)
			judging->call_cost_ps = process->self_call_cost_ps;
	}
}

// ---- gaps

static int make_gap_room(struct judging *judging)
{
	size_t room = judging->gap_room ? 2 * judging->gap_room : 256;
	if (judging->gap_count < judging->gap_room)
		return 0;
	struct judged_gap *gaps = reallocarray(judging->gaps, room, sizeof *gaps);
	if (!gaps)
		return -ENOMEM;
	judging->gaps = gaps;
	judging->gap_room = room;
	return 0;
}

static int take_gap(void *context, const struct tare_gap *gap,
                    const int64_t parts_ns[TARE_LEDGER_CATEGORIES])
{
	struct judging *judging = context;
	const struct tare_recording *recording = judging->recording;
	if (!judging_has_time(judging, gap->from_ns) || !judging_has_time(judging, gap->to_ns - 1))
		return 0;
	if (make_gap_room(judging))
		return -ENOMEM;
	struct judged_gap *judged = &judging->gaps[judging->gap_count++];
	*judged = (struct judged_gap){ .from_ns = gap->from_ns,
		                       .to_ns = gap->to_ns,
		                       .enter_ns = gap->to_ns,
		                       .command = gap->command,
		                       .cause = gap->cause };
	if (gap->command < recording->command_count) {
		int64_t enter_ns = recording->commands[gap->command].enter_ns;
		judged->enter_ns = enter_ns < gap->from_ns ? gap->from_ns
		                   : enter_ns > gap->to_ns ? gap->to_ns
		                                           : enter_ns;
	}
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		judged->parts_ns[i] = (float)parts_ns[i];
	return 0;
}

static int find_gaps(struct judging *judging)
{
	struct tare_view working = *judging->view;
	struct ledger_scope scope = { .recording = judging->recording,
		                      .view = &working,
		                      .device = TARE_NO_INDEX };
	struct ledger_hosts *hosts = NULL;
	struct ledger_gap_list *gaps = calloc(1, sizeof *gaps);
	struct ledger_rows row = { .at = &judging->ledger };
	struct ledger_mark *marks = NULL;
	int code = gaps ? 0 : -ENOMEM;
	working.from_ns = judging->from_ns;
	working.to_ns = judging->to_ns;
	if (!code)
		code = ledger_mark_view(&working, &marks, &row.mark_count);
	row.marks = marks;
	if (!code)
		code = ledger_hosts_new(judging->recording, &working, &hosts);
	if (!code)
		code = ledger_order(judging->recording, &working, &judging->order,
		                    &judging->order_count);
	if (!code) {
		gaps->each = take_gap;
		gaps->context = judging;
		code =
		    ledger_sweep(&scope, hosts, judging->order, judging->order_count, &row, gaps);
	}
	ledger_hosts_free(hosts);
	free(marks);
	free(gaps);
	return code;
}

static void keep_working_commands(struct judging *judging)
{
	size_t kept = 0;
	for (size_t i = 0; i < judging->order_count; i++) {
		const struct tare_recorded_command *command =
		    &judging->recording->commands[judging->order[i]];
		if (tables_has_command_of_any_name(&judging->context, command) &&
		    !tables_is_twice(&judging->context, command) &&
		    command->start_ns <= judging->to_ns)
			judging->order[kept++] = judging->order[i];
	}
	judging->order_count = kept;
}

// ---- first uses

static int find_first_launches(struct judging *judging)
{
	const struct tare_recording *recording = judging->recording;
	judging->first_launch = calloc(recording->kernel_count + 1, sizeof *judging->first_launch);
	if (!judging->first_launch)
		return -ENOMEM;
	for (size_t i = 0; i < recording->kernel_count; i++)
		judging->first_launch[i] = TARE_NO_INDEX;
	for (size_t i = recording->command_count; i-- > 0;)
		if (recording->commands[i].kind == TARE_KIND_KERNEL &&
		    recording->commands[i].object < recording->kernel_count)
			judging->first_launch[recording->commands[i].object] = (uint32_t)i;
	return 0;
}

bool judging_is_first_launch(const struct judging *judging, uint32_t command)
{
	const struct tare_recording *recording = judging->recording;
	return command < recording->command_count &&
	       recording->commands[command].kind == TARE_KIND_KERNEL &&
	       recording->commands[command].object < recording->kernel_count &&
	       judging->first_launch[recording->commands[command].object] == command;
}

int64_t judging_first_use_ns(const struct judging *judging, const struct judged_gap *gap)
{
	int64_t launch_ns = gap->to_ns - gap->enter_ns;
	double spent_ns =
	    (double)gap->parts_ns[TARE_LEDGER_API] + (double)gap->parts_ns[TARE_LEDGER_DISPATCH];
	if (!judging_is_first_launch(judging, gap->command))
		return 0;
	return (double)launch_ns < spent_ns ? launch_ns : llround(spent_ns);
}

static void sum_first_uses(struct judging *judging)
{
	for (size_t i = 0; i < judging->gap_count; i++)
		judging->first_use_ns += judging_first_use_ns(judging, &judging->gaps[i]);
	judging->steady_ns = judging->working_ns - judging->first_use_ns;
}

// ---- open and close

int judging_open(struct judging *judging, const struct tare_recording *recording,
                 const struct tare_view *view, const struct tare_ledgers *ledgers,
                 const struct tare_tables *tables, struct tare_findings *findings)
{
	*judging = (struct judging){ .recording = recording,
		                     .view = view,
		                     .ledgers = ledgers,
		                     .tables = tables,
		                     .findings = findings };
	int code = tables_context_open(recording, view, ledgers, &judging->context);
	if (code)
		return code;
	count_commands(judging);
	find_recording_costs(judging);
	judging->small_task = calloc(tables->task_count + 1, sizeof *judging->small_task);
	code = judging->small_task ? open_working_part(judging) : -ENOMEM;
	if (!code)
		code = find_first_launches(judging);
	if (!code && judging->working_ns > 0)
		code = find_gaps(judging);
	if (code)
		return code;
	keep_working_commands(judging);
	sum_first_uses(judging);
	return finding_leave_out_hashing(judging);
}

void judging_close(struct judging *judging)
{
	tables_context_close(&judging->context);
	free(judging->spans);
	free(judging->order);
	free(judging->gaps);
	free(judging->first_launch);
	free(judging->small_task);
}

// ---- membership and noise

bool judging_has_time(const struct judging *judging, int64_t at_ns)
{
	size_t low = 0, high = judging->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (judging->spans[middle].to_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < judging->span_count && judging->spans[low].from_ns <= at_ns;
}

bool judging_has_command(const struct judging *judging, const struct tare_recorded_command *command)
{
	int64_t at_ns = tare_command_timed(command) ? command->start_ns : command->enter_ns;
	// The last completion may be a command of no length.
	if (at_ns == judging->to_ns)
		at_ns--;
	return tables_has_command(&judging->context, command) && judging_has_time(judging, at_ns);
}

bool judging_has_call(const struct judging *judging, const struct tare_recorded_call *call)
{
	return tables_has_call(&judging->context, call) &&
	       judging_has_time(judging, call->enter_ns);
}

double judging_percent(const struct judging *judging, double ns)
{
	return judging->steady_ns > 0 ? 100 * ns / (double)judging->steady_ns : NAN;
}

int64_t judging_residual_ns(const struct judging *judging, uint32_t device)
{
	const struct tare_recording *recording = judging->recording;
	int64_t worst_ns = 0;
	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *row = &recording->devices[i];
		if ((device == TARE_NO_INDEX || row->same_as == device) &&
		    row->residual_ns != TARE_NO_TIME && row->residual_ns > worst_ns)
			worst_ns = row->residual_ns;
	}
	return worst_ns;
}

uint64_t judging_edges(const struct judging *judging, uint64_t gaps)
{
	return judging->recording->device_count > 1 ? 2 * gaps : gaps;
}

void judging_add_part(const struct judging *judging, uint32_t device, const struct judged_gap *gap,
                      double part_ns, struct gap_sum *sum)
{
	double doubt_ns =
	    (double)judging_residual_ns(judging, device) * (double)judging_edges(judging, 1);
	sum->gaps++;
	sum->ns += part_ns;
	sum->low_ns += fmax(0, part_ns - doubt_ns);
	sum->high_ns += fmin((double)(gap->to_ns - gap->from_ns), part_ns + doubt_ns);
}

double judging_within_gap(const struct judged_gap *gap, const struct tare_time_span *spans,
                          size_t count, size_t *first)
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

bool finding_matters(const struct judging *judging, uint32_t device, double cost_ns, uint64_t edges,
                     uint64_t commands, uint64_t calls, double share)
{
	double residual_ns = (double)judging_residual_ns(judging, device) * (double)edges;
	double recording_ns = (double)judging->command_cost_ps / 1e3 * (double)commands +
	                      (double)judging->call_cost_ps / 1e3 * (double)calls;
	return cost_ns >= FINDING_LEAST_NS && cost_ns >= share * (double)judging->steady_ns &&
	       cost_ns > residual_ns && cost_ns > recording_ns;
}
