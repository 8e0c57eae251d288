// SPDX-License-Identifier: Apache-2.0
// What launching costs: kernels that are short against it.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Fewer launches are no loop; a kernel that takes longer is not short whatever launching costs.
#define LAUNCHES 100
#define SHORT_NS 100e3
// A launch costs at least so much of what the kernel runs for.
#define AGAINST_RUN 0.5
#define SHARE 0.02
// A kernel of so few work-items could have its loop made into the range of one launch.
#define FEW_ITEMS 4096
// Commands that are looked through for the one that the same thread enqueued before.
#define LOOK_BACK 16
// So many turns of a loop do nothing but launch, for it to be a loop that launches.
#define QUICK_TURNS 0.9
// Of what launching costs: the program's own time beside it is told from this on.
#define HOST_WORTH_SAYING 0.1
// A graph is not advised for less of it.
#define LITTLE_SAVED 0.1

// Calls beside launches that put something into a queue which gives the device nothing to do
// (events, markers, barriers), or that make an object. In order and disjoint.
struct beside {
	struct tare_run_span *spans;
	size_t count, first; // first: evaluation_within_gap's
};

static void add_span(struct beside *beside, int64_t from_ns, int64_t to_ns)
{
	struct tare_run_span *last = beside->count ? &beside->spans[beside->count - 1] : NULL;
	if (last && from_ns < last->to_ns)
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
	else
		beside->spans[beside->count++] = (struct tare_run_span){ from_ns, to_ns };
}

// Returns 0 or -ENOMEM. Both are in the order of time.
static int find_beside(const struct evaluation *evaluation, struct beside *beside)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t commands = recording->command_count, calls = recording->call_count;
	*beside = (struct beside){ calloc(commands + calls + 1, sizeof *beside->spans), 0, 0 };
	for (size_t i = 0, k = 0; beside->spans && (i < commands || k < calls);) {
		const struct tare_recorded_command *command =
		    i < commands ? TARE_COMMAND(recording, i) : NULL;
		const struct tare_recorded_call *call = k < calls ? &recording->calls[k] : NULL;
		if (command && (!call || command->enter_ns <= call->enter_ns)) {
			i++;
			if (tare_command_effect(command) == TARE_EFFECT_NONE &&
			    !tare_command_only_executes(command))
				add_span(beside, command->enter_ns, command->exit_ns);
		} else {
			k++;
			if (call->role == TARE_ROLE_COMMAND || call->role == TARE_ROLE_CREATE)
				add_span(beside, call->enter_ns, call->exit_ns);
		}
	}
	return beside->spans ? 0 : -ENOMEM;
}

// What of a gap is the launch of the command that ends it: inside the API, handing over, dispatch.
// What the host does in the API beside launching is not saved by fewer launches.
static double launch_ns(const struct evaluation *evaluation, const struct ledger_working_gap *gap,
                        struct beside *beside)
{
	double api_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_API);
	double others_ns = evaluation_within_gap(gap, beside->spans, beside->count, &beside->first);
	double sum_ns = fmax(0, api_ns - others_ns) +
	                evaluation_part_ns(evaluation, gap, TARE_LEDGER_HELD) +
	                evaluation_part_ns(evaluation, gap, TARE_LEDGER_DISPATCH);
	return fmax(0, sum_ns - (double)evaluation_first_use_ns(evaluation, gap));
}

// Of gaps ended by kernels of one name.
struct launches {
	uint64_t count; // launches in the working part, timed
	// gaps between two turns of a launch loop, whole: the device's clock alone
	double loop_ns;
	struct gap_sum part; // of other gaps: launching
	double host_ns;      // of these: the program's own time
	// and of that, between two launches with nothing enqueued between them
	double turn_host_ns;
	uint64_t turns, quick_turns;
	double items, lanes; // work-items of a launch, and of the device at once; lanes 0: not few
	double empty_ns;     // with few: device time × lanes that have no work-item
	struct finding_graph graph;
	double fixed_ns; // of the kernels' own time what may be there however little they do
};

// What of it is saved at least. A graph, which CUDA's launches can be made into, still dispatches
// its nodes one by one.
static double saved_low_ns(const struct evaluation *evaluation, const struct launches *sums)
{
	double all_ns = sums->loop_ns + sums->part.low_ns;
	if (sums->graph.costs)
		return fmin(all_ns, sums->graph.low_ns);
	return finding_is_cuda(evaluation) ? all_ns / 2 : all_ns;
}

static double launched_ns(const struct launches *sums)
{
	return sums->loop_ns + sums->part.ns;
}

// Whether launching costs much against what the kernel runs for.
static bool is_short(const struct tare_task *task, const struct launches *sums)
{
	return launched_ns(sums) >= AGAINST_RUN * task->median_ns * (double)sums->count;
}

// The command that the same thread enqueued before; TARE_NO_INDEX: none.
static uint32_t previous_of(const struct evaluation *evaluation, uint32_t index)
{
	const struct tare_recording *recording = evaluation->recording;
	uint32_t thread = TARE_COMMAND(recording, index)->thread;
	for (uint32_t i = 0; i < LOOK_BACK && i < index; i++) {
		const struct tare_recorded_command *before = TARE_COMMAND(recording, index - 1 - i);
		if (before->thread == thread && !tare_command_only_executes(before))
			return index - 1 - i;
	}
	return TARE_NO_INDEX;
}

// Whether the thread enqueued nothing between the command that ends the gap and another of the
// task. `before`: previous_of that command.
static bool is_turn(const struct evaluation *evaluation, const struct tare_task *task,
                    uint32_t before)
{
	return before != TARE_NO_INDEX &&
	       finding_is_of_task(evaluation, task, TARE_COMMAND(evaluation->recording, before));
}

// Whether such a gap is of a loop that does little but launch: by the host's clock, less passes
// between the calls than in the call. All of the gap is the loop's then, wherever in it the clocks'
// error may put the calls.
static bool is_launch_loop(const struct evaluation *evaluation, const struct tare_task *task,
                           const struct ledger_working_gap *gap, uint32_t before)
{
	if (!is_turn(evaluation, task, before))
		return false;
	const struct tare_recorded_command *command =
	    TARE_COMMAND(evaluation->recording, gap->command);
	double known_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_API) +
	                  evaluation_part_ns(evaluation, gap, TARE_LEDGER_HELD) +
	                  evaluation_part_ns(evaluation, gap, TARE_LEDGER_DISPATCH) +
	                  evaluation_part_ns(evaluation, gap, TARE_LEDGER_COMPUTING);
	return command->enter_ns - TARE_COMMAND(evaluation->recording, before)->exit_ns <=
	           command->exit_ns - command->enter_ns &&
	       known_ns >= (double)(gap->to_ns - gap->from_ns - 1) &&
	       evaluation_edges(evaluation, 1) == 1;
}

// What is summed up for each task that may be told, along one walk over the gaps.
struct short_task {
	const struct tare_task *task;
	struct launches sums;
	struct finding_draft draft;
	uint32_t following; // of the same name; TARE_NO_INDEX
};

struct short_tasks {
	struct short_task *at; // one a row of tables->tasks
	size_t count;          // of those that are looked at
	uint32_t *of_name;     // the first of each name (tables_context's name_of); TARE_NO_INDEX
};

// The name of a task's kernel, or the number behind all names.
static uint32_t name_of(const struct evaluation *evaluation, uint32_t kernel)
{
	size_t kernels = evaluation->recording->kernel_count;
	return kernel < kernels ? evaluation->context.name_of[kernel] : (uint32_t)kernels;
}

static void sum_launch(struct evaluation *evaluation, const struct ledger_working_gap *gap,
                       struct beside *beside, struct short_task *of)
{
	struct launches *sums = &of->sums;
	double cost_ns = (double)(gap->to_ns - gap->from_ns);
	uint32_t before = previous_of(evaluation, gap->command);
	bool turn = is_turn(evaluation, of->task, before);
	const struct tare_launch_costs *costs = finding_launch_costs(evaluation, of->task->device);
	sums->turns += turn;
	if (turn && is_launch_loop(evaluation, of->task, gap, before)) {
		sums->quick_turns++;
		sums->loop_ns += cost_ns;
	} else {
		double own_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_COMPUTING);
		cost_ns = launch_ns(evaluation, gap, beside);
		evaluation_add_part(evaluation, of->task->device, gap, cost_ns, &sums->part);
		sums->host_ns += own_ns;
		if (turn)
			sums->turn_host_ns += own_ns;
	}
	if (costs)
		finding_graph_add(costs, cost_ns, of->task->median_ns, &sums->graph);
	finding_claim(&of->draft, gap->from_ns, gap->to_ns);
	finding_saw_command(&of->draft, gap->command, gap->from_ns, gap->to_ns, llround(cost_ns));
}

// Returns 0 or -ENOMEM.
static int sum_launches(struct evaluation *evaluation, struct short_tasks *tasks)
{
	const struct tare_recording *recording = evaluation->recording;
	struct beside beside;
	if (find_beside(evaluation, &beside) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		// Waits come first: without them the host issues ahead of the device.
		if (gap->drained || gap->first_launch || gap->command >= recording->command_count)
			continue;
		const struct tare_recorded_command *command = TARE_COMMAND(recording, gap->command);
		if (!tables_is_kernel(command))
			continue;
		for (uint32_t at = tasks->of_name[name_of(evaluation, command->object)];
		     at != TARE_NO_INDEX; at = tasks->at[at].following)
			if (finding_is_of_task(evaluation, tasks->at[at].task, command))
				sum_launch(evaluation, gap, &beside, &tasks->at[at]);
	}
	free(beside.spans);
	return 0;
}

static double items_of(const struct evaluation *evaluation, uint32_t index)
{
	double items = 1;
	if (index >= evaluation->recording->shape_count)
		return NAN;
	const struct tare_recorded_shape *shape = &evaluation->recording->shapes[index];
	for (uint32_t i = 0; i < shape->dimensions && i < 3; i++)
		items *= (double)shape->global[i];
	return items;
}

// Whether launches have fewer work-items than the device runs at once, at the very least: units ×
// the multiple that the driver prefers. They are small then, however long a driver takes for one.
static void evaluate_fill(const struct evaluation *evaluation, const struct tare_task *task,
                          struct launches *sums)
{
	const struct tare_recording *recording = evaluation->recording;
	uint64_t multiple = finding_multiple(task);
	sums->items = items_of(evaluation, task->frequent_shape);
	if (task->shapes != 1 || task->device >= recording->device_count)
		return;
	double lanes = (double)recording->devices[task->device].compute_units *
	               (double)(multiple > 0 ? multiple : 1);
	if (sums->items < lanes)
		sums->lanes = lanes;
}

// The shortest run of any kernel on the device: a kernel's own fixed time is no longer.
static double shortest_run_ns(const struct evaluation *evaluation, uint32_t device)
{
	double shortest_ns = INFINITY;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		if (tables_is_kernel(command) &&
		    tables_device(&evaluation->context, command) == device)
			shortest_ns =
			    fmin(shortest_ns, (double)(command->end_ns - command->start_ns));
	}
	return isfinite(shortest_ns) ? shortest_ns : 0;
}

// What a device takes for any kernel goes with the launches, too. No recording tells it from the
// work: it is no longer than the shortest kernel, and taken to be no more than the launching.
static void evaluate_fixed(struct evaluation *evaluation, const struct tare_task *task,
                           struct launches *sums, struct finding_draft *draft)
{
	double most_ns = shortest_run_ns(evaluation, task->device) * (double)sums->count;
	sums->fixed_ns = fmax(0, fmin(most_ns, launched_ns(sums)) - sums->empty_ns);
	if (sums->fixed_ns > 0 && sums->lanes == 0)
		finding_claim_alone(evaluation, task, draft, 0);
}

// ---- words

// Whether a graph is known to save little of it.
static bool graph_is_none(const struct launches *sums)
{
	return sums->graph.costs && sums->graph.best_ns < LITTLE_SAVED * launched_ns(sums);
}

static bool advises_graph(const struct launches *sums)
{
	return !(sums->items < FEW_ITEMS) && !graph_is_none(sums);
}

static void advise_short(const struct evaluation *evaluation, const struct launches *sums,
                         struct finding_draft *draft)
{
	double items = sums->items;
	if (items < FEW_ITEMS)
		finding_advice(
		    draft,
		    "Put the loop that launches it into the kernel's range: one launch with a "
		    "work-item for every turn, instead of %.0f item%s a launch",
		    items, items == 1 ? "" : "s");
	else
		finding_advice(
		    draft, "Give each launch more work, fuse kernels that follow each other%s%s",
		    graph_is_none(sums) ? "" : ", or ",
		    graph_is_none(sums) ? "" : finding_word(evaluation, FINDING_WORD_REPLAY));
}

static void title_short(const struct tare_task *task, const struct launches *sums,
                        struct finding_draft *draft)
{
	char run[TARE_UNIT_TEXT], one[TARE_UNIT_TEXT];
	double each_ns = launched_ns(sums) / (double)sums->count;
	double call_ns = (double)task->launch_total_ns / (double)task->instances;
	tare_format_ns(task->median_ns, run);
	if (is_short(task, sums))
		finding_title(
		    draft,
		    "Too many small kernels: %llu launches of '%.60s' run %s each, and each "
		    "costs %s to launch",
		    (unsigned long long)sums->count, task->name, run, tare_format_ns(each_ns, one));
	else
		finding_title(
		    draft,
		    "Too many small kernels: %llu launches of '%.60s' with %.0f work-item%s "
		    "run %s each, and the call for each takes %s",
		    (unsigned long long)sums->count, task->name, sums->items,
		    sums->items == 1 ? "" : "s", run, tare_format_ns(call_ns, one));
}

static void tell_short(struct evaluation *evaluation, const struct launches *sums,
                       struct finding_draft *draft)
{
	char all[TARE_UNIT_TEXT], own[TARE_UNIT_TEXT], empty[TARE_UNIT_TEXT];
	char host[128] = "", fill[256] = "", graph[320] = "", fixed[128] = "";
	char own_fixed[TARE_UNIT_TEXT];
	double cost_ns = launched_ns(sums);
	if (sums->fixed_ns > HOST_WORTH_SAYING * cost_ns)
		snprintf(fixed, sizeof fixed,
		         "; what the device takes for any kernel goes as well, %s at most",
		         tare_format_ns(sums->fixed_ns, own_fixed));
	if (sums->host_ns > HOST_WORTH_SAYING * cost_ns)
		snprintf(host, sizeof host,
		         "; %s of the program's own time between them is beside that",
		         tare_format_ns(sums->host_ns, own));
	if (sums->lanes > 0)
		snprintf(
		    fill, sizeof fill,
		    "; while they run, work-items fill %.2g %% of the device (%.0f where it takes "
		    "%.0f at once): the rest is %s by model, half of it in the estimate",
		    100 * sums->items / sums->lanes, sums->items, sums->lanes,
		    tare_format_ns(sums->empty_ns, empty));
	if (sums->graph.costs)
		finding_graph_words(&sums->graph, graph, sizeof graph);
	else if (finding_is_cuda(evaluation))
		snprintf(graph, sizeof graph,
		         "; a graph's nodes have a gap between them, too, which was not measured "
		         "(`tare latency` keeps it): at least half of it is taken to be saved");
	finding_evidence(
	    draft,
	    "between them the device idles %s (%.1f %% of the working part) while they are "
	    "issued, handed over and dispatched; first launches are left out%s%s%s%s",
	    tare_format_ns(cost_ns, all), evaluation_percent(evaluation, cost_ns), host, fill,
	    fixed, graph);
}

static void describe_short(struct evaluation *evaluation, const struct tare_task *task,
                           const struct launches *sums, struct finding_draft *draft)
{
	double cost_ns = launched_ns(sums);
	title_short(task, sums, draft);
	tell_short(evaluation, sums, draft);
	advise_short(evaluation, sums, draft);
	finding_figure(draft, "median_ns", task->median_ns, "device timestamp");
	finding_figure(draft, "launch_ns", cost_ns / (double)sums->count, "device timestamp");
	finding_figure(draft, "launches", (double)sums->count, "counted");
	finding_figure(draft, "work_items", sums->items, "counted");
	if (sums->lanes > 0)
		finding_figure(draft, "empty_ns", sums->empty_ns, "model");
	finding_figure(draft, "fixed_ns", sums->fixed_ns, "model");
	draft->finding.device = task->device;
	draft->finding.confidence = TARE_CONFIDENCE_LIKELY;
	if (sums->graph.costs)
		finding_figure(draft, "graph_saves_ns", sums->graph.low_ns, "model");
	double saved_ns = sums->graph.costs && advises_graph(sums) ? sums->graph.best_ns : cost_ns;
	// The program's own time between launches goes with them, if the loop moves to the device.
	finding_cost(draft, saved_low_ns(evaluation, sums), saved_ns + sums->empty_ns / 2,
	             cost_ns + sums->host_ns + sums->empty_ns + sums->fixed_ns);
}

// Others do not claim again what was raised here. What the program does now and then in such a loop
// goes with it, unless that is more than all the rest.
static void mark_told(struct evaluation *evaluation, size_t row, const struct launches *sums)
{
	const struct tare_recording *recording = evaluation->recording;
	const struct tare_task *task = &evaluation->tables->tasks[row];
	bool all_turns = (double)sums->quick_turns >= QUICK_TURNS * (double)sums->turns &&
	                 sums->turn_host_ns < launched_ns(sums) + sums->empty_ns / 2;
	evaluation->small_task[row] = sums->lanes > 0;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		if (gap->command >= recording->command_count || gap->first_launch ||
		    !finding_is_of_task(evaluation, task, TARE_COMMAND(recording, gap->command)))
			continue;
		uint32_t before = previous_of(evaluation, gap->command);
		ledger_gap_mark(&evaluation->working->gaps, i, LEDGER_GAP_LOOPED,
		                is_launch_loop(evaluation, task, gap, before) ||
		                    (all_turns && is_turn(evaluation, task, before)));
	}
}

static int evaluate_short(struct evaluation *evaluation, size_t row, struct short_task *of)
{
	const struct tare_task *task = of->task;
	struct launches *sums = &of->sums;
	struct finding_draft *draft = &of->draft;
	sums->count = task->timed;
	finding_graph_end(evaluation, &sums->graph);
	evaluate_fill(evaluation, task, sums);
	uint64_t gaps = draft->finding.occurrences;
	double empty = sums->lanes > 0 ? 1 - sums->items / sums->lanes : 0;
	// Places are gaps, or the kernels where there is none.
	if (empty > 0)
		sums->empty_ns =
		    empty * finding_claim_alone(evaluation, task, draft, gaps ? 0 : empty);
	if ((!is_short(task, sums) && sums->lanes == 0) ||
	    !finding_matters(evaluation, task->device, launched_ns(sums) + sums->empty_ns / 2,
	                     evaluation_edges(evaluation, sums->part.gaps),
	                     sums->lanes > 0 ? task->timed : gaps, gaps, SHARE)) {
		finding_drop(draft);
		return 0;
	}
	evaluate_fixed(evaluation, task, sums, draft);
	describe_short(evaluation, task, sums, draft);
	mark_told(evaluation, row, sums);
	return finding_raise(draft);
}

// How long the gaps are that kernels of each name end: launching them costs no more. To be freed.
static double *sum_gaps(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	double *sums_ns = calloc(recording->kernel_count + 1, sizeof *sums_ns);
	for (size_t i = 0; i < evaluation->gap_count && sums_ns; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		if (gap->command >= recording->command_count ||
		    !tables_is_kernel(TARE_COMMAND(recording, gap->command)))
			continue;
		uint32_t kernel = TARE_COMMAND(recording, gap->command)->object;
		sums_ns[name_of(evaluation, kernel)] += (double)(gap->to_ns - gap->from_ns);
	}
	return sums_ns;
}

// Whether it can be raised for a task, where gaps before kernels of its name are so long.
static bool may_be_short(const struct evaluation *evaluation, const struct tare_task *task,
                         double gaps_ns)
{
	struct launches sums = { 0 };
	evaluate_fill(evaluation, task, &sums);
	return sums.lanes > 0 ||
	       (finding_may_matter(evaluation, gaps_ns, SHARE) &&
	        1.001 * gaps_ns >= AGAINST_RUN * task->median_ns * (double)task->timed);
}

// Those of kernels that are launched often and do not run long.
static int open_short(struct evaluation *evaluation, struct short_tasks *tasks)
{
	size_t names = evaluation->recording->kernel_count + 1;
	TARE_FREE double *gaps_ns = sum_gaps(evaluation);
	tasks->at = calloc(evaluation->tables->task_count + 1, sizeof *tasks->at);
	tasks->of_name = malloc(names * sizeof *tasks->of_name);
	if (!tasks->at || !tasks->of_name || !gaps_ns)
		return -ENOMEM;
	for (size_t i = 0; i < names; i++)
		tasks->of_name[i] = TARE_NO_INDEX;
	for (size_t i = 0; i < evaluation->tables->task_count; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		uint32_t *first = &tasks->of_name[name_of(evaluation, task->kernel)];
		if (task->timed < LAUNCHES || !(task->median_ns < SHORT_NS) ||
		    !may_be_short(evaluation, task, gaps_ns[name_of(evaluation, task->kernel)]))
			continue;
		tasks->count++;
		tasks->at[i] = (struct short_task){ .task = task, .following = *first };
		finding_begin(evaluation, &tasks->at[i].draft, "many-short-kernels");
		*first = (uint32_t)i;
	}
	return 0;
}

int finding_many_short_kernels(struct evaluation *evaluation, struct tare_error *error)
{
	struct short_tasks tasks = { 0 };
	int code = open_short(evaluation, &tasks);
	(void)error;
	if (!code && tasks.count > 0)
		code = sum_launches(evaluation, &tasks);
	for (size_t i = 0; tasks.at && i < evaluation->tables->task_count; i++) {
		if (!tasks.at[i].task)
			continue;
		if (!code)
			code = evaluate_short(evaluation, i, &tasks.at[i]);
		else
			finding_drop(&tasks.at[i].draft);
	}
	free(tasks.at);
	free(tasks.of_name);
	return code;
}
