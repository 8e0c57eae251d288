// SPDX-License-Identifier: Apache-2.0
// The host is slower than its device: it is inside the API while the device has nothing to do.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Fewer commands are no loop.
#define FEWEST 100
#define BOUND_SHARE 0.10
// The device has run out of work before so many of the commands.
#define RAN_OUT 0.5
// Not said again when short kernels are so much of it.
#define EXPLAINED 0.5

// What findings of that id cost together.
static double found_ns(const struct evaluation *evaluation, const char *id)
{
	double sum_ns = 0;
	for (size_t i = 0; i < evaluation->findings->count; i++)
		if (strcmp(evaluation->findings->at[i].id, id) == 0)
			sum_ns += (double)evaluation->findings->at[i].cost_ns;
	return sum_ns;
}

// A call that issues something, and what recording it costs.
struct issue {
	int64_t at_ns;
	double cost_ns;
};

static int compare_issues(const void *a, const void *b)
{
	int64_t left = ((const struct issue *)a)->at_ns, right = ((const struct issue *)b)->at_ns;
	return (left > right) - (left < right);
}

// Commands, and the other calls, in the order of time; those of a row at its beginning.
static struct issue *find_issues(const struct evaluation *evaluation, size_t *count)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t commands = recording->command_count, calls = recording->call_count;
	struct issue *issues = calloc(commands + calls + 1, sizeof *issues);
	double command_ns = (double)evaluation->command_cost_ps / 1e3,
	       call_ns = (double)evaluation->call_cost_ps / 1e3;
	*count = 0;
	for (size_t i = 0, k = 0; issues && (i < commands || k < calls);) {
		const struct tare_recorded_command *command =
		    i < commands ? TARE_COMMAND(recording, i) : NULL;
		const struct tare_recorded_call *call = k < calls ? &recording->calls[k] : NULL;
		if (command && (!call || command->enter_ns <= call->enter_ns)) {
			i++;
			if (tables_has_command_of_any_name(&evaluation->context, command))
				issues[(*count)++] =
				    (struct issue){ command->enter_ns, command_ns };
		} else {
			k++;
			if (tables_has_call(&evaluation->context, call))
				issues[(*count)++] =
				    (struct issue){ call->enter_ns, call_ns * (double)call->count };
		}
	}
	// The recording has them in this order; hand-made ones may not.
	for (size_t i = 1; issues && i < *count; i++)
		if (issues[i - 1].at_ns > issues[i].at_ns) {
			qsort(issues, *count, sizeof *issues, compare_issues);
			break;
		}
	return issues;
}

// What of a gap went into recording what was issued in it, of its part inside the API; *first as
// evaluation_within_gap's. Nobody saves that by issuing less.
static double recorders_ns(const struct ledger_working_gap *gap, double api_ns,
                           const struct issue *issues, size_t count, size_t *first)
{
	double sum_ns = 0;
	while (*first < count && issues[*first].at_ns < gap->from_ns)
		++*first;
	for (; *first < count && issues[*first].at_ns < gap->to_ns; ++*first)
		sum_ns += issues[*first].cost_ns;
	return fmin(api_ns, sum_ns);
}

// What the host's being inside the API costs.
struct bound {
	struct gap_sum sum;
	struct finding_graph graph;
	double recorder_ns;
	double between_ns; // the host's computing beside it, as far as it is a loop of calls
	uint64_t runs;     // commands that have an effect
};

static void sum_bound(struct evaluation *evaluation, const struct issue *issues, size_t issued,
                      struct finding_draft *draft, struct bound *bound)
{
	size_t first = 0;
	for (size_t i = 0; i < evaluation->order_count; i++)
		bound->runs +=
		    tare_command_effect(TARE_COMMAND(evaluation->recording,
		                                     evaluation->order[i])) != TARE_EFFECT_NONE;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		if (!evaluation_gap_has(evaluation, i, TARE_LEDGER_API))
			continue;
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		double api_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_API) -
		                (double)evaluation_first_use_ns(evaluation, gap);
		if (gap->command == TARE_NO_INDEX || api_ns <= 0)
			continue;
		evaluation_add_part(evaluation, TARE_NO_INDEX, gap, api_ns, &bound->sum);
		bound->recorder_ns += recorders_ns(gap, api_ns, issues, issued, &first);
		bound->between_ns +=
		    fmin(api_ns, evaluation_part_ns(evaluation, gap, TARE_LEDGER_COMPUTING));
		finding_graph_add_gap(evaluation, gap, api_ns, &bound->graph);
		finding_claim(draft, gap->from_ns, gap->to_ns);
		finding_saw_command(draft, gap->command, gap->from_ns, gap->to_ns, llround(api_ns));
	}
	finding_graph_end(evaluation, &bound->graph);
}

static void tell_bound(struct evaluation *evaluation, const struct bound *bound,
                       struct finding_draft *draft)
{
	const struct gap_sum *sum = &bound->sum;
	char cost[TARE_UNIT_TEXT], words[320] = "";
	// Of CUDA what CUPTI takes inside the calls is in it, and nobody knows how much.
	bool known = evaluation->tables->coverage.driver_ns != TARE_NO_TIME;
	tare_format_ns(sum->ns, cost);
	if (bound->graph.costs)
		finding_graph_words(&bound->graph, words, sizeof words);
	finding_title(
	    draft,
	    "The host issues work more slowly than the device executes it: before %.0f %% "
	    "of the commands the device had run out of work",
	    100 * (double)sum->gaps / (double)bound->runs);
	finding_evidence(
	    draft,
	    "the device idles %s (%.1f %% of the working part) while the host is inside "
	    "the API, before %llu of %llu commands%s%s",
	    cost, evaluation_percent(evaluation, sum->ns), (unsigned long long)sum->gaps,
	    (unsigned long long)bound->runs,
	    known ? ""
	          : "; what recording took of that in the driver is not known (`tare record "
	            "--calibrate` tells)",
	    words);
	finding_advice(draft,
	               "Enqueue ahead of the device, set arguments once, and make fewer and larger "
	               "commands%s%s",
	               finding_is_cuda(evaluation) ? "; where launches repeat " : "",
	               finding_is_cuda(evaluation) ? finding_word(evaluation, FINDING_WORD_REPLAY)
	                                           : "");
	finding_figure(draft, "idle_in_api_ns", sum->ns, "device timestamp");
	finding_figure(draft, "commands", (double)bound->runs, "counted");
	finding_figure(draft, "ran_out", (double)sum->gaps, "counted");
	if (bound->graph.costs)
		finding_figure(draft, "graph_saves_ns", bound->graph.low_ns, "model");
	draft->finding.confidence = TARE_CONFIDENCE_LIKELY;
	// How much fewer commands can be is the program's: half of it at least, where that is done
	// at all.
	double low_ns = known ? fmax(0, sum->low_ns - bound->recorder_ns) / 2 : 0;
	double saved_ns = sum->ns - bound->recorder_ns;
	double high_ns = fmax(sum->high_ns, saved_ns + bound->between_ns);
	// Where neither is known it is no more than that.
	double best_ns = known || bound->graph.low_ns > 0 ? saved_ns : high_ns;
	finding_cost(draft, fmax(low_ns, bound->graph.low_ns), best_ns, high_ns);
}

int finding_launch_bound(struct evaluation *evaluation, struct tare_error *error)
{
	struct finding_draft draft;
	struct bound bound = { .recorder_ns = 0 };
	const struct gap_sum *sum = &bound.sum;
	size_t issued;
	(void)error;
	if (!finding_may_matter(evaluation, (double)evaluation->ledger.parts_ns[TARE_LEDGER_API],
	                        BOUND_SHARE))
		return 0;
	TARE_FREE struct issue *issues = find_issues(evaluation, &issued);
	if (!issues)
		return -ENOMEM;
	finding_begin(evaluation, &draft, "launch-bound");
	double explained_ns = found_ns(evaluation, "many-short-kernels") +
	                      found_ns(evaluation, "synchronous-launches") +
	                      found_ns(evaluation, "synchronize-drains") +
	                      found_ns(evaluation, "creations-in-loop");
	sum_bound(evaluation, issues, issued, &draft, &bound);
	if (bound.runs < FEWEST || (double)sum->gaps < RAN_OUT * (double)bound.runs ||
	    explained_ns > EXPLAINED * sum->ns ||
	    !finding_matters(evaluation, TARE_NO_INDEX, sum->ns,
	                     evaluation_edges(evaluation, sum->gaps), sum->gaps, sum->gaps,
	                     BOUND_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tell_bound(evaluation, &bound, &draft);
	return finding_raise(&draft);
}
