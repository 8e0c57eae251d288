// SPDX-License-Identifier: Apache-2.0
// Calls between kernels that do no work for them: queries, and making and releasing objects.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Between so many kernels at least, or it is no loop.
#define FEWEST 16
// Of the working part: less is the price of any program.
#define SHARE 0.05

struct loop_calls {
	const char *id;
	uint32_t role;
	enum tare_ledger_category category;
	const char *title; // takes how many calls, the function and percent
	const char *advice;
};

struct found {
	uint64_t calls, before; // before: kernels with such a call since the one before them
	double ns;
	uint32_t function; // where most of the time went
	double function_ns;
	int64_t first_ns, last_ns;   // of the kernels
	struct tare_run_span *spans; // of the calls, as they were entered; NULL: not asked for
	size_t span_count;
};

static bool is_kernel_of_view(const struct evaluation *evaluation,
                              const struct tare_recorded_command *command)
{
	return tables_is_kernel(command) &&
	       tables_has_command_of_any_name(&evaluation->context, command);
}

static void take_call(struct finding_draft *draft, uint32_t index, struct found *found)
{
	const struct tare_recorded_call *call = &draft->evaluation->recording->calls[index];
	found->calls += call->count;
	found->ns += (double)call->inside_ns;
	if ((double)call->inside_ns > found->function_ns) {
		found->function_ns = (double)call->inside_ns;
		found->function = call->function;
	}
	if (found->spans)
		found->spans[found->span_count++] =
		    (struct tare_run_span){ call->enter_ns, call->exit_ns };
	finding_claim(draft, call->enter_ns, call->exit_ns);
	finding_saw_call(draft, index, call->enter_ns, call->exit_ns, call->inside_ns);
}

// Calls and commands are both in the order of time. `spans` has room for all calls, or is NULL.
static struct found find_calls(const struct evaluation *evaluation, uint32_t role,
                               struct tare_run_span *spans, struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	const struct evaluation_kernels *kernels = &evaluation->kernels;
	struct found found = { .function = TARE_NO_INDEX,
		               .spans = spans,
		               .first_ns = kernels->count ? kernels->first_ns : INT64_MAX,
		               .last_ns = kernels->count ? kernels->last_ns : INT64_MIN };
	size_t command = 0;
	bool pending = false;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		if (call->role != role || call->flags & TARE_CALL_NESTED ||
		    call->enter_ns < found.first_ns || call->enter_ns > found.last_ns ||
		    !evaluation_has_call(evaluation, call))
			continue;
		for (; command < recording->command_count &&
		       TARE_COMMAND(recording, command)->enter_ns < call->enter_ns;
		     command++)
			if (pending &&
			    is_kernel_of_view(evaluation, TARE_COMMAND(recording, command))) {
				found.before++;
				pending = false;
			}
		pending = true;
		take_call(draft, (uint32_t)i, &found);
	}
	found.before += pending;
	found.span_count = tare_spans_unite(found.spans, found.span_count);
	return found;
}

// Other calls are of that category, too.
static bool is_among_others(const struct loop_calls *calls)
{
	return calls->category == TARE_LEDGER_API;
}

// Of the idle gaps what passed in such calls.
static struct gap_sum idle_in(const struct evaluation *evaluation, const struct loop_calls *calls,
                              const struct found *found)
{
	struct gap_sum sum = { 0 };
	size_t first = 0;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		if (!evaluation_gap_has(evaluation, i, calls->category))
			continue;
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		double part_ns = evaluation_part_ns(evaluation, gap, calls->category);
		if (is_among_others(calls))
			part_ns = fmin(part_ns, evaluation_within_gap(gap, found->spans,
			                                              found->span_count, &first));
		if (part_ns > 0 && gap->from_ns >= found->first_ns &&
		    gap->from_ns <= found->last_ns)
			evaluation_add_part(evaluation, TARE_NO_INDEX, gap, part_ns, &sum);
	}
	return sum;
}

// Of CUDA what CUPTI takes inside the calls is in their time, and nobody knows how much.
static bool is_cost_known(const struct evaluation *evaluation)
{
	return evaluation->tables->coverage.driver_ns != TARE_NO_TIME;
}

// What recording takes of the idle time: nobody saves that.
static double recorder_ns(const struct evaluation *evaluation, const struct found *found,
                          const struct gap_sum *sum)
{
	double idle = found->ns > 0 ? fmin(1, sum->ns / found->ns) : 0;
	return is_cost_known(evaluation)
	           ? idle * (double)found->calls * (double)evaluation->call_cost_ps / 1e3
	           : 0;
}

static int evaluate_calls(struct evaluation *evaluation, const struct loop_calls *calls)
{
	const struct tare_recording *recording = evaluation->recording;
	struct finding_draft draft;
	char inside[TARE_UNIT_TEXT], idle[TARE_UNIT_TEXT];
	if (!finding_may_matter(evaluation, (double)evaluation->ledger.parts_ns[calls->category],
	                        SHARE))
		return 0;
	TARE_FREE struct tare_run_span *spans =
	    is_among_others(calls) ? calloc(recording->call_count + 1, sizeof *spans) : NULL;
	if (is_among_others(calls) && !spans)
		return -ENOMEM;
	finding_begin(evaluation, &draft, calls->id);
	struct found found = find_calls(evaluation, calls->role, spans, &draft);
	struct gap_sum sum = idle_in(evaluation, calls, &found);
	double recorded_ns = recorder_ns(evaluation, &found, &sum);
	double saved_ns = fmax(0, sum.ns - recorded_ns);
	if (found.before < FEWEST || !finding_matters(evaluation, TARE_NO_INDEX, saved_ns,
	                                              evaluation_edges(evaluation, sum.gaps),
	                                              sum.gaps, found.calls, SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(found.ns, inside);
	tare_format_ns(sum.ns, idle);
	finding_title(&draft, calls->title, (unsigned long long)found.calls,
	              found.function < recording->function_count
	                  ? recording->functions[found.function].name
	                  : "",
	              evaluation_percent(evaluation, sum.ns));
	finding_evidence(
	    &draft, "they took %s, for %s of which no device ran anything; before %llu kernels",
	    inside, idle, (unsigned long long)found.before);
	finding_advice(&draft, "%s", calls->advice);
	finding_figure(&draft, "calls", (double)found.calls, "counted");
	finding_figure(&draft, "calls_ns", found.ns, "host clock");
	finding_figure(&draft, "idle_ns", sum.ns, "device timestamp");
	finding_cost(&draft, is_cost_known(evaluation) ? fmax(0, sum.low_ns - recorded_ns) : 0,
	             saved_ns, fmin(sum.high_ns, fmax(sum.ns, found.ns)));
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	return finding_raise(&draft);
}

int finding_queries_in_loop(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct loop_calls calls = {
		.id = "queries-in-loop",
		.role = TARE_ROLE_QUERY,
		.category = TARE_LEDGER_QUERY,
		.title = "%llu queries between kernels, most of their time in %s: the device is "
		         "idle %.1f %% of the working "
		         "part for them",
		.advice = "Ask once before the loop and keep the answer",
	};
	(void)error;
	return evaluate_calls(evaluation, &calls);
}

int finding_releases_in_loop(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct loop_calls calls = {
		.id = "releases-in-loop",
		.role = TARE_ROLE_RELEASE,
		.category = TARE_LEDGER_RELEASE,
		.title = "%llu releases between kernels, most of their time in %s: the device is "
		         "idle %.1f %% of the working "
		         "part for them",
		.advice = "Make such objects once and use them again, or release them when the "
		          "work is done",
	};
	(void)error;
	return evaluate_calls(evaluation, &calls);
}

int finding_creations_in_loop(struct evaluation *evaluation, struct tare_error *error)
{
	static const struct loop_calls calls = {
		.id = "creations-in-loop",
		.role = TARE_ROLE_CREATE,
		.category = TARE_LEDGER_API,
		.title =
		    "%llu calls between kernels make objects that are no memory, most of their "
		    "time in %s: the device is idle %.1f %% of the working part for them",
		.advice =
		    "Make kernels, queues, lists and events once before the loop and use them "
		    "again",
	};
	(void)error;
	return evaluate_calls(evaluation, &calls);
}
