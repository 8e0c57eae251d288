// SPDX-License-Identifier: Apache-2.0
// Building programs before the first kernel takes much of the run.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <stdio.h>

// A run of which a quarter is building is ruled by it, whatever the rest is. Below half a second
// nobody would keep a cache for it, and most of a short program's life is building.
#define RUN_SHARE 0.25
#define LEAST_NS 500e6
// Loading what was built takes time that is not known beforehand: 3 % of a build on PoCL. So much
// of the builds is left for it in the low end.
#define LOADING 0.5

struct builds {
	uint64_t count, native; // native: of what was built before already
	int64_t ns, native_ns;  // inside the calls
	int64_t outside_ns;     // of all of them, before the working part
	int64_t longest_ns;
};

static int64_t first_kernel_ns(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	for (size_t i = 0; i < recording->command_count; i++)
		if (tables_is_kernel(TARE_COMMAND(recording, i)) &&
		    tables_has_command_of_any_name(&evaluation->context,
		                                   TARE_COMMAND(recording, i)))
			return TARE_COMMAND(recording, i)->enter_ns;
	return evaluation->commands > 0 ? evaluation->to_ns : INT64_MAX;
}

static bool is_native(const struct tare_recording *recording, const struct tare_recorded_call *call)
{
	return call->object < recording->program_count && recording->programs[call->object].native;
}

static struct builds find_builds(const struct evaluation *evaluation, struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	int64_t until_ns = first_kernel_ns(evaluation);
	struct builds builds = { 0 };
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		int64_t to_ns = call->exit_ns < until_ns ? call->exit_ns : until_ns;
		if (call->role != TARE_ROLE_BUILD || call->flags & TARE_CALL_NESTED ||
		    call->enter_ns >= until_ns || !tables_has_call(&evaluation->context, call))
			continue;
		int64_t ns = tables_length(call->enter_ns, to_ns);
		if (is_native(recording, call)) {
			builds.native++;
			builds.native_ns = tables_add(builds.native_ns, ns);
			continue;
		}
		builds.count++;
		builds.ns = tables_add(builds.ns, ns);
		builds.longest_ns = ns > builds.longest_ns ? ns : builds.longest_ns;
		if (call->enter_ns < evaluation->from_ns)
			builds.outside_ns = tables_add(builds.outside_ns, ns);
		finding_claim(draft, call->enter_ns, to_ns);
		finding_saw_call(draft, (uint32_t)i, call->enter_ns, to_ns, ns);
	}
	return builds;
}

// What a killed process was building.
static void add_unfinished(const struct evaluation *evaluation, struct finding_draft *draft,
                           struct builds *builds)
{
	const struct tare_recording *recording = evaluation->recording;
	int64_t until_ns = first_kernel_ns(evaluation);
	for (size_t i = 0; i < recording->thread_count; i++) {
		const struct tare_recorded_thread *thread = &recording->threads[i];
		if (thread->unfinished_function >= recording->function_count ||
		    recording->functions[thread->unfinished_function].role != TARE_ROLE_BUILD ||
		    !evaluation->context.process_in[thread->process])
			continue;
		int64_t gone_ns = recording->processes[thread->process].end_ns;
		int64_t to_ns = gone_ns < until_ns ? gone_ns : until_ns;
		int64_t ns = tables_length(thread->unfinished_since_ns, to_ns);
		if (ns == 0)
			continue;
		builds->count++;
		builds->ns = tables_add(builds->ns, ns);
		builds->longest_ns = ns > builds->longest_ns ? ns : builds->longest_ns;
		finding_claim(draft, thread->unfinished_since_ns, to_ns);
	}
}

// Threads may build at the same time: what the run lost is the union.
static double unite(struct finding_draft *draft)
{
	struct tare_finding *finding = &draft->finding;
	double ns = 0;
	finding->claim_count = tare_spans_unite(finding->claims, finding->claim_count);
	for (size_t i = 0; i < finding->claim_count; i++)
		ns += (double)(finding->claims[i].to_ns - finding->claims[i].from_ns);
	return ns;
}

// What is saved where the programs are built side by side, a thread each.
static double beside_ns(const struct builds *builds, double ns)
{
	double saved_ns = ns - (double)builds->longest_ns;
	return saved_ns > 0 ? saved_ns : 0;
}

// CUDA's modules may be machine code as well as PTX, and which of them is not recorded.
static bool is_known(const struct evaluation *evaluation)
{
	return !(evaluation->recording->apis >> TARE_TRACE_CUDA & 1);
}

static void say(struct finding_draft *draft, const struct builds *builds, double ns)
{
	const struct evaluation *evaluation = draft->evaluation;
	const struct tare_recorded_summary *summary = &evaluation->tables->summary;
	char built[TARE_UNIT_TEXT], wall[TARE_UNIT_TEXT], beside[TARE_UNIT_TEXT],
	    longest[TARE_UNIT_TEXT], apart[128] = "";
	tare_format_ns(ns, built);
	tare_format_ns((double)summary->wall_ns, wall);
	tare_format_ns((double)builds->longest_ns, longest);
	if (builds->count > 1)
		snprintf(apart, sizeof apart,
		         ", the longest %s; side by side they could save %s at most", longest,
		         tare_format_ns(beside_ns(builds, ns), beside));
	bool launches = evaluation->kernels.count > 0;
	bool all_seen =
	    evaluation->commands > 0 || summary->why_no_command == TARE_NO_COMMAND_ENQUEUED;
	finding_title(draft, "%s are %s%s for %.1f %% of the run%s",
	              finding_word(evaluation, FINDING_WORD_PROGRAMS),
	              finding_word(evaluation, FINDING_WORD_BUILT),
	              launches ? " before the first kernel" : "",
	              100 * ns / (double)summary->wall_ns,
	              launches   ? ""
	              : all_seen ? ", which launches no kernel"
	                         : "; no kernel of it was recorded");
	finding_evidence(
	    draft, "%llu build call%s take%s %s of %s%s; %s", (unsigned long long)builds->count,
	    builds->count == 1 ? "" : "s", builds->count == 1 ? "s" : "", built, wall, apart,
	    is_known(evaluation) ? "what loading the binaries takes instead is not known"
	                         : "whether they were compiled, or only loaded, is not told");
	finding_advice(draft,
	               "Keep the binaries %s, or a cache that lasts, and build from source only "
	               "where they do not "
	               "fit; build the rest in parallel, or while the data are made",
	               finding_word(evaluation, FINDING_WORD_KEEP_BINARIES));
	finding_figure(draft, "builds", (double)builds->count, "counted");
	finding_figure(draft, "builds_ns", ns, "host clock");
	finding_figure(draft, "longest_ns", (double)builds->longest_ns, "host clock");
	finding_figure(draft, "side_by_side_ns", beside_ns(builds, ns), "model");
}

int finding_start_up_builds(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recorded_summary *summary = &evaluation->tables->summary;
	struct finding_draft draft;
	(void)error;
	// What comes before a part of the run, or a phase, is no start-up; a run without a command
	// is nothing else.
	if (!summary->has_parts &&
	    (evaluation->commands > 0 || !tables_is_whole_run(&evaluation->context)))
		return 0;
	finding_begin(evaluation, &draft, "start-up-builds");
	draft.of_run = true;
	struct builds builds = find_builds(evaluation, &draft);
	add_unfinished(evaluation, &draft, &builds);
	double ns = unite(&draft);
	// Those between the first enqueue and the first kernel are another finding's, where that
	// was raised.
	bool elsewhere = finding_is_raised(evaluation, "idle-host-builds", TARE_NO_INDEX) &&
	                 builds.outside_ns <= builds.ns / 2;
	if (elsewhere || ns < LEAST_NS || ns < RUN_SHARE * (double)summary->wall_ns) {
		finding_drop(&draft);
		return 0;
	}
	finding_take_back(evaluation, "idle-host-builds", ns);
	say(&draft, &builds, ns);
	finding_cost(&draft, is_known(evaluation) ? LOADING * ns : 0, ns, ns);
	draft.finding.confidence =
	    is_known(evaluation) ? TARE_CONFIDENCE_LIKELY : TARE_CONFIDENCE_POSSIBLE;
	return finding_raise(&draft);
}
