// SPDX-License-Identifier: Apache-2.0
// What changes over a run: the first use that is slower than the rest, and drift.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- first use

// One start-up is no finding unless it dominates; that of many kernels is from a tenth on.
#define ONE 0.75
#define MANY 0.10
#define MANY_KERNELS 4
// A first run is slow that takes so many times the median of the rest.
#define SLOWER 3

struct first_uses {
	uint64_t count;
	double gap_ns, run_ns;
	double load_ns; // of the gaps: the driver loads kernels, as it says
};

// What the first instance of a task ran for beyond the median of the others.
static double slow_run_ns(const struct tare_task *task, const struct tare_recorded_command *first)
{
	double run_ns = (double)(first->end_ns - first->start_ns);
	bool compared = task->timed >= 3 && task->shapes == 1 && task->median_ns > 0;
	return compared && run_ns > SLOWER * task->median_ns ? run_ns - task->median_ns : 0;
}

// Whether the wait for a command's start is a first use already.
static bool has_slow_gap(const struct evaluation *evaluation,
                         const struct tare_recorded_command *command)
{
	size_t low = 0, high = evaluation->gap_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (FINDING_GAP(evaluation, middle)->to_ns < command->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < evaluation->gap_count &&
	       evaluation_first_use_ns(evaluation, FINDING_GAP(evaluation, low)) >=
	           FINDING_LEAST_NS &&
	       FINDING_GAP(evaluation, low)->to_ns == command->start_ns;
}

static void add_slow_runs(struct evaluation *evaluation, struct finding_draft *draft,
                          struct first_uses *sums)
{
	const struct tare_recording *recording = evaluation->recording;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, evaluation->order[i]);
		if (!evaluation_is_first_launch(evaluation, evaluation->order[i]) ||
		    !evaluation_has_command(evaluation, command))
			continue;
		for (size_t t = 0; t < evaluation->tables->task_count; t++) {
			const struct tare_task *task = &evaluation->tables->tasks[t];
			double run_ns = slow_run_ns(task, command);
			if (run_ns <= 0 || !finding_is_of_task(evaluation, task, command))
				continue;
			sums->run_ns += run_ns;
			sums->count += !has_slow_gap(evaluation, command);
			finding_claim(draft, command->start_ns, command->end_ns);
			finding_saw_command(draft, evaluation->order[i], command->start_ns,
			                    command->end_ns, llround(run_ns));
			break;
		}
	}
}

static void add_slow_gaps(struct evaluation *evaluation, struct finding_draft *draft,
                          struct first_uses *sums)
{
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		if (!ledger_gap_is_marked(&evaluation->working->gaps, i, LEDGER_GAP_FIRST_LAUNCH))
			continue;
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		int64_t first_ns = evaluation_first_use_ns(evaluation, gap);
		if (first_ns < FINDING_LEAST_NS)
			continue;
		sums->count++;
		sums->gap_ns += (double)first_ns;
		sums->load_ns += evaluation_part_ns(evaluation, gap, TARE_LEDGER_LOAD);
		int64_t enter_ns = ledger_working_enter_ns(evaluation->recording, gap);
		finding_claim(draft, enter_ns, gap->to_ns);
		finding_saw_command(draft, gap->command, enter_ns, gap->to_ns, first_ns);
	}
}

// CUDA's default, and what a program can ask for.
static bool is_lazy(const struct evaluation *evaluation)
{
	const char *loading = finding_variable(evaluation, "CUDA_MODULE_LOADING");
	return evaluation->recording->apis >> TARE_TRACE_CUDA & 1 &&
	       (!loading || strcmp(loading, "EAGER") != 0);
}

// What the driver did then: told, or only when it was.
static void tell_first_use(const struct evaluation *evaluation, const struct first_uses *sums,
                           struct finding_draft *draft)
{
	char cost[TARE_UNIT_TEXT], load[TARE_UNIT_TEXT];
	tare_format_ns(sums->gap_ns + sums->run_ns, cost);
	if (sums->load_ns > 0)
		finding_evidence(draft,
		                 "%s from the call to the start and beyond the usual run; in %s of "
		                 "it the driver loads kernels and their modules, as it tells",
		                 cost, tare_format_ns(sums->load_ns, load));
	else
		finding_evidence(draft,
		                 "%s from the call to the start and beyond the usual run; many "
		                 "drivers %s, which is not seen, only when",
		                 cost, finding_word(evaluation, FINDING_WORD_FIRST_USE));
	if (sums->load_ns > 0)
		finding_figure(draft, "loading_ns", sums->load_ns, "host clock");
}

int finding_slow_first_use(struct evaluation *evaluation, struct tare_error *error)
{
	struct first_uses sums = { 0 };
	struct finding_draft draft;
	(void)error;
	finding_begin(evaluation, &draft, "slow-first-use");
	add_slow_gaps(evaluation, &draft, &sums);
	add_slow_runs(evaluation, &draft, &sums);
	double all_ns = sums.gap_ns + sums.run_ns;
	double share = sums.count >= MANY_KERNELS ? MANY : ONE;
	if (all_ns < share * (double)evaluation->working_ns ||
	    !finding_matters(evaluation, TARE_NO_INDEX, all_ns, 2 * draft.finding.occurrences,
	                     draft.finding.occurrences, 0, FINDING_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	finding_title(
	    &draft, "The first launch%s of %llu kernel%s take%s %.0f %% of the working part",
	    sums.count == 1 ? "" : "es", (unsigned long long)sums.count, sums.count == 1 ? "" : "s",
	    sums.count == 1 ? "s" : "", 100 * all_ns / (double)evaluation->working_ns);
	tell_first_use(evaluation, &sums, &draft);
	finding_advice(
	    &draft,
	    "Launch each kernel once before what is timed, keep the driver's cache, or "
	    "build for the device ahead of time%s%s",
	    is_lazy(evaluation) ? "; CUDA_MODULE_LOADING=EAGER loads all kernels at the start" : "",
	    finding_rebuilds(evaluation));
	finding_figure(&draft, "kernels", (double)sums.count, "counted");
	finding_figure(&draft, "before_start_ns", sums.gap_ns, "device timestamp");
	finding_figure(&draft, "slower_run_ns", sums.run_ns, "device timestamp");
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	finding_cost(&draft, sums.gap_ns, all_ns, all_ns);
	return finding_raise(&draft);
}

// ---- drift

#define DRIFT 0.15
#define INSTANCES 100
#define DRIFT_SHARE 0.03

static int evaluate_drift(struct evaluation *evaluation, const struct tare_task *task)
{
	struct finding_draft draft;
	char from[TARE_UNIT_TEXT], to[TARE_UNIT_TEXT];
	double trend = task->trend_per_run, faster_ns = fmin(task->first_ns, task->last_ns);
	double most_ns = fabs(task->last_ns - task->first_ns) * (double)task->timed;
	double cost_ns =
	    fmin(most_ns, task->mean_ns * (double)task->timed - faster_ns * (double)task->timed);
	if (task->timed < INSTANCES || !(fabs(trend) >= DRIFT) ||
	    !finding_matters(evaluation, task->device, cost_ns, 0, task->timed, 0, DRIFT_SHARE))
		return 0;
	finding_begin(evaluation, &draft, "drift");
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		if (!evaluation_has_command(evaluation, command) ||
		    !finding_is_of_task(evaluation, task, command))
			continue;
		finding_claim(&draft, command->start_ns, command->end_ns);
		finding_saw_command(&draft, evaluation->order[i], command->start_ns,
		                    command->end_ns, llround(cost_ns / (double)task->timed));
	}
	tare_format_ns(task->first_ns, from);
	tare_format_ns(task->last_ns, to);
	finding_title(&draft, "'%.60s' gets %.0f %% %s over the run: from %s to %s", task->name,
	              100 * fabs(trend), trend > 0 ? "slower" : "faster", from, to);
	finding_evidence(
	    &draft,
	    "over %llu launches of one shape, the median of the last sixteenth against that of "
	    "the first; chance gives such an order once in a thousand; the cost is against "
	    "the faster end",
	    (unsigned long long)task->timed);
	finding_advice(&draft, "%s",
	               trend > 0
	                   ? "Look for a clock that sinks with heat or power, for work that grows "
	                     "with its arguments, or for others on the device; --from and --to "
	                     "compare the two ends"
	                   : "Look for a clock or a cache that warms up, or for work that shrinks "
	                     "with its arguments; --from and --to compare the two ends");
	finding_figure(&draft, "trend", trend, "device timestamp");
	finding_figure(&draft, "median_ns", task->median_ns, "device timestamp");
	finding_figure(&draft, "launches", (double)task->timed, "counted");
	draft.finding.device = task->device;
	finding_cost(&draft, 0, cost_ns, most_ns);
	return finding_raise(&draft);
}

int finding_drift(struct evaluation *evaluation, struct tare_error *error)
{
	int code = 0;
	(void)error;
	for (size_t i = 0; i < evaluation->tables->task_count && !code; i++) {
		const struct tare_task *task = &evaluation->tables->tasks[i];
		if (task->shapes <= 1)
			code = evaluate_drift(evaluation, task);
		for (size_t j = 0; j < task->shape_rows && !code; j++)
			code = evaluate_drift(
			    evaluation, &evaluation->tables->task_shapes[task->first_shape + j]);
	}
	return code;
}
