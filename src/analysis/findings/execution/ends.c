// SPDX-License-Identifier: Apache-2.0
// What lies around the working part and takes much of the run: calls that create things, what the
// host does of its own before the first command, and what follows the last completion.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// As for builds: from a quarter of the run on, and half a second, below which a program is short
// anyway.
#define RUN_SHARE 0.25
#define LEAST_NS 500e6

#define ROLE(name) (1u << TARE_ROLE_##name)
// Of what finds, creates or asks, the calls of a function beyond its longest one may be too many.
#define ONCE (ROLE(START) | ROLE(CREATE) | ROLE(QUERY))

// Of the calls in a part of the run.
struct end_calls {
	uint64_t count;
	double ns; // what overlaps once
	// of what is done once all but the longest of each function; about memory that was freed
	// before the part's end
	double spare_ns;
	double function_ns; // of the function in which most of the time went
	uint32_t function;
	double released_ns; // inside calls that release or free
	double made_ns;     // and that make memory
};

// Of one function.
struct function_sum {
	double ns, longest_ns;
	bool once;
};

static double united_ns(struct tare_finding *finding)
{
	double ns = 0;
	finding->claim_count = tare_spans_unite(finding->claims, finding->claim_count);
	for (size_t i = 0; i < finding->claim_count; i++)
		ns += (double)(finding->claims[i].to_ns - finding->claims[i].from_ns);
	return ns;
}

static void add_functions(const struct function_sum *functions, size_t count,
                          struct end_calls *calls)
{
	for (size_t i = 0; i < count; i++) {
		if (functions[i].once)
			calls->spare_ns += functions[i].ns - functions[i].longest_ns;
		if (functions[i].ns > calls->function_ns) {
			calls->function_ns = functions[i].ns;
			calls->function = (uint32_t)i;
		}
	}
}

// What of a call lies within a part.
static bool cut_to(const struct tare_recording_part *part, int64_t enter_ns, int64_t exit_ns,
                   struct tare_run_span *within)
{
	within->from_ns = enter_ns > part->from_ns ? enter_ns : part->from_ns;
	within->to_ns = exit_ns < part->to_ns ? exit_ns : part->to_ns;
	return within->from_ns < within->to_ns;
}

// Whether a call is about memory that was freed within the part: no command had any use of it.
static bool is_about_freed(const struct tare_recording *recording,
                           const struct tare_recorded_call *call,
                           const struct tare_recording_part *part)
{
	if (call->role != TARE_ROLE_ALLOCATE || call->object >= recording->memory_count)
		return false;
	int64_t released_ns = recording->memories[call->object].released_ns;
	return released_ns != TARE_NO_TIME && released_ns <= part->to_ns;
}

// And not frees it, which is later than it was made.
static bool makes_memory(const struct tare_recording *recording,
                         const struct tare_recorded_call *call)
{
	if (call->role != TARE_ROLE_ALLOCATE || call->object >= recording->memory_count)
		return false;
	return recording->memories[call->object].created_ns >= call->enter_ns;
}

static void add_call(struct finding_draft *draft, const struct tare_recording_part *part,
                     uint32_t index, struct tare_run_span within, struct function_sum *functions,
                     struct end_calls *calls)
{
	const struct tare_recording *recording = draft->evaluation->recording;
	const struct tare_recorded_call *call = &recording->calls[index];
	double ns = (double)(within.to_ns - within.from_ns);
	calls->count += call->count;
	if (makes_memory(recording, call))
		calls->made_ns += ns;
	else if (call->role == TARE_ROLE_RELEASE || call->role == TARE_ROLE_ALLOCATE)
		calls->released_ns += ns;
	if (is_about_freed(recording, call, part))
		calls->spare_ns += ns;
	if (call->function < recording->function_count) {
		struct function_sum *of = &functions[call->function];
		of->ns += ns;
		of->longest_ns = fmax(of->longest_ns, ns);
		of->once = ONCE >> call->role & 1;
	}
	finding_claim(draft, within.from_ns, within.to_ns);
	finding_saw_call(draft, index, within.from_ns, within.to_ns, within.to_ns - within.from_ns);
}

// Claims the view's calls of these roles within a part, on all of its threads; and enqueues of what
// is no work, as markers. Returns 0 or -ENOMEM.
static int claim_calls(struct finding_draft *draft, const struct tare_recording_part *part,
                       uint32_t roles, struct end_calls *calls)
{
	const struct tare_recording *recording = draft->evaluation->recording;
	const struct tables_context *context = &draft->evaluation->context;
	struct tare_run_span within;
	TARE_FREE struct function_sum *functions =
	    calloc(recording->function_count + 1, sizeof *functions);
	*calls = (struct end_calls){ .function = TARE_NO_INDEX };
	if (!functions)
		return -ENOMEM;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		if (roles >> call->role & 1 && !(call->flags & TARE_CALL_NESTED) &&
		    cut_to(part, call->enter_ns, call->exit_ns, &within) &&
		    tables_has_call(context, call))
			add_call(draft, part, (uint32_t)i, within, functions, calls);
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (cut_to(part, command->enter_ns, command->exit_ns, &within) &&
		    tables_has_command_of_any_name(context, command))
			finding_claim(draft, within.from_ns, within.to_ns);
	}
	add_functions(functions, recording->function_count, calls);
	calls->ns = united_ns(&draft->finding);
	return 0;
}

// Claims what the united claims leave of a part instead of them. Returns how long that is.
static double claim_rest(struct finding_draft *draft, const struct tare_recording_part *part)
{
	struct tare_finding *finding = &draft->finding;
	struct tare_run_span *calls = finding->claims;
	size_t count = finding->claim_count;
	int64_t from_ns = part->from_ns;
	finding->claims = NULL;
	finding->claim_count = draft->claim_room = 0;
	// It was seen at none of the calls.
	draft->place_count = 0;
	for (size_t i = 0; i < count; i++) {
		finding_claim(draft, from_ns, calls[i].from_ns);
		from_ns = calls[i].to_ns;
	}
	finding_claim(draft, from_ns, part->to_ns);
	finding->occurrences = finding->claim_count;
	free(calls);
	return united_ns(finding);
}

// For how long the device works while the host does nothing of its own, with a piece of the host's
// work to each kernel: beside one of them nothing of it can be done.
static double hiding_work_ns(const struct evaluation *evaluation)
{
	double kernels = (double)evaluation->kernels.count;
	return kernels > 0 ? finding_free_host_ns(evaluation) * (kernels - 1) / kernels : 0;
}

static const struct tare_recording_part *part_of(const struct evaluation *evaluation,
                                                 enum tare_recording_part_of part)
{
	const struct tare_recorded_summary *summary = &evaluation->tables->summary;
	// What comes before a part of the run, or a phase, is no start-up.
	return summary->has_parts ? &summary->parts[part] : NULL;
}

static double of_run(const struct evaluation *evaluation, double ns)
{
	return ns / (double)evaluation->tables->summary.wall_ns;
}

static bool rules(const struct evaluation *evaluation, double ns)
{
	return ns >= LEAST_NS && of_run(evaluation, ns) >= RUN_SHARE;
}

// Where others have the processors a thread is kept off them between its calls, too, for any time:
// that is no reason to say nothing of its calls.
static bool calls_rule(const struct evaluation *evaluation, const struct tare_recording_part *part,
                       double ns)
{
	double off_ns = (double)part->parts_ns[TARE_LEDGER_OFF_CPU];
	return ns >= LEAST_NS &&
	       ns >= RUN_SHARE * ((double)evaluation->tables->summary.wall_ns - off_ns);
}

// What the ledger has of it as the host's own: no thread was inside the API.
static double own_ns_of(const struct tare_recording_part *part)
{
	return (double)(part->parts_ns[TARE_LEDGER_BEFORE_FIRST] +
	                part->parts_ns[TARE_LEDGER_COMPUTING] +
	                part->parts_ns[TARE_LEDGER_OFF_CPU]);
}

// Where nothing says what would be saved, that it is no more than that.
static void cost_up_to(struct finding_draft *draft, double known_ns, double most_ns)
{
	finding_cost(draft, 0, known_ns >= FINDING_LEAST_NS ? fmin(known_ns, most_ns) : most_ns,
	             most_ns);
}

// ---- calls that create things

static void say_calls(struct finding_draft *draft, const struct tare_recording_part *part,
                      const struct end_calls *calls, double own_ns)
{
	const struct evaluation *evaluation = draft->evaluation;
	const struct tare_recording *recording = evaluation->recording;
	const char *function = calls->function < recording->function_count
	                           ? recording->functions[calls->function].name
	                           : "";
	char all[TARE_UNIT_TEXT], wall[TARE_UNIT_TEXT], spare[TARE_UNIT_TEXT], most[TARE_UNIT_TEXT],
	    own[TARE_UNIT_TEXT], off[TARE_UNIT_TEXT], more[300] = "";
	tare_format_ns((double)part->parts_ns[TARE_LEDGER_OFF_CPU], off);
	tare_format_ns(calls->ns, all);
	tare_format_ns((double)evaluation->tables->summary.wall_ns, wall);
	tare_format_ns(calls->function_ns, most);
	tare_format_ns(own_ns, own);
	finding_title(draft,
	              "API calls before the first command take %.1f %% of the run, most of it in "
	              "%.80s",
	              100 * of_run(evaluation, calls->ns), function);
	if (calls->spare_ns > 0)
		snprintf(more, sizeof more,
		         "; %s of it seems to be more than is needed (all but the longest call of "
		         "each function that finds, creates or asks, and memory freed before the "
		         "first command)",
		         tare_format_ns(calls->spare_ns, spare));
	finding_evidence(
	    draft,
	    "%llu calls that build nothing take %s of %s, %.80s %s%s; the host's own "
	    "work, beside which the rest could be done, takes %s, of which it is off the CPU for "
	    "%s%s",
	    (unsigned long long)calls->count, all, wall, function, most, more, own, off,
	    recording->apis >> TARE_TRACE_CUDA & 1
	        ? "; what CUPTI takes to begin is in the calls, too"
	        : "");
	finding_advice(draft,
	               "Create each context, queue and memory object once and keep it, and keep "
	               "what was asked for; do it "
	               "in another thread while input is read; ask for no device that is not "
	               "used; do several pieces of work in one process instead of one each");
	finding_figure(draft, "calls", (double)calls->count, "counted");
	finding_figure(draft, "calls_ns", calls->ns, "host clock");
	finding_figure(draft, "spare_ns", calls->spare_ns, "host clock");
	finding_figure(draft, "own_ns", own_ns, "host clock");
}

int finding_start_up_calls(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording_part *part = part_of(evaluation, TARE_PART_START_UP);
	struct finding_draft draft;
	struct end_calls calls;
	(void)error;
	if (!part)
		return 0;
	finding_begin(evaluation, &draft, "start-up-calls");
	draft.of_run = true;
	int code = claim_calls(&draft, part, ~ROLE(BUILD), &calls);
	if (code || !calls_rule(evaluation, part, calls.ns)) {
		finding_drop(&draft);
		return code;
	}
	double own_ns = own_ns_of(part);
	say_calls(&draft, part, &calls, own_ns);
	double spare_ns = fmin(calls.spare_ns, calls.ns);
	cost_up_to(&draft, spare_ns + fmin(calls.ns - spare_ns, own_ns), calls.ns);
	return finding_raise(&draft);
}

// ---- the host's own work before the first command

static void say_own(struct finding_draft *draft, const struct tare_recording_part *part,
                    double own_ns, double hiding_ns)
{
	const struct evaluation *evaluation = draft->evaluation;
	char own[TARE_UNIT_TEXT], wall[TARE_UNIT_TEXT], before[TARE_UNIT_TEXT], off[TARE_UNIT_TEXT],
	    hiding[TARE_UNIT_TEXT];
	tare_format_ns(own_ns, own);
	tare_format_ns((double)evaluation->tables->summary.wall_ns, wall);
	tare_format_ns((double)part->parts_ns[TARE_LEDGER_BEFORE_FIRST], before);
	tare_format_ns((double)part->parts_ns[TARE_LEDGER_OFF_CPU], off);
	tare_format_ns(hiding_ns, hiding);
	double off_ns = (double)part->parts_ns[TARE_LEDGER_OFF_CPU];
	finding_title(draft, "%s before the first command takes %.1f %% of the run",
	              off_ns > own_ns / 2 ? "What the host does of its own, mostly off the CPU,"
	                                  : "The host's own work",
	              100 * of_run(evaluation, own_ns));
	finding_evidence(draft,
	                 "no thread is inside the API for %s of %s before the first command, %s of "
	                 "it before the first call of all; between calls the host is off the CPU "
	                 "for %s, as when "
	                 "it reads or sleeps, or when others have the processors; calls before the "
	                 "first command and the device's work "
	                 "while the host waits, beside which it could be done, take %s",
	                 own, wall, before, off, hiding);
	finding_advice(
	    draft, "Enqueue the first piece as soon as its data are there, and read or compute "
	           "the next while the device works; create the context and build in another "
	           "thread meanwhile; if the first piece needs all of the data, only doing less "
	           "on the host helps");
	finding_figure(draft, "own_ns", own_ns, "host clock");
	finding_figure(draft, "before_first_call_ns",
	               (double)part->parts_ns[TARE_LEDGER_BEFORE_FIRST], "host clock");
	finding_figure(draft, "beside_ns", hiding_ns, "device timestamp");
}

int finding_start_up_host(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording_part *part = part_of(evaluation, TARE_PART_START_UP);
	struct finding_draft draft;
	struct end_calls calls;
	(void)error;
	if (!part)
		return 0;
	finding_begin(evaluation, &draft, "start-up-host");
	draft.of_run = true;
	int code = claim_calls(&draft, part, ~0u, &calls);
	double own_ns = code ? 0 : claim_rest(&draft, part);
	if (code || !rules(evaluation, own_ns)) {
		finding_drop(&draft);
		return code;
	}
	double hiding_ns = calls.ns + hiding_work_ns(evaluation);
	say_own(&draft, part, own_ns, hiding_ns);
	cost_up_to(&draft, fmin(own_ns, hiding_ns), own_ns);
	return finding_raise(&draft);
}

// ---- after the last completion

// What it went into most, of what a program can change.
static enum tare_ledger_category most_of(const struct tare_recording_part *part)
{
	enum tare_ledger_category most = TARE_LEDGER_COMPUTING;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		if (part->parts_ns[i] > part->parts_ns[most])
			most = (enum tare_ledger_category)i;
	return most;
}

static const char *advice_on_end(const struct evaluation *evaluation, const struct end_calls *calls,
                                 double own_ns)
{
	if (calls->ns <= own_ns && finding_runs_in_caller(evaluation))
		return "Kernels run in the thread that enqueues them, which can do nothing beside "
		       "them: check and write the results of one piece in another thread; if they "
		       "need all of the results, only doing less on the host helps";
	if (calls->ns <= own_ns)
		return "Check and write the results of one piece while the device works on the "
		       "next, or in another thread; if they need all of the results, only doing "
		       "less on the host helps";
	if (calls->made_ns > calls->released_ns)
		return "Make no memory behind the last command: no command has any use of it";
	if (calls->released_ns > calls->ns / 2)
		return "Release memory and large objects in one go, or not at all where the "
		       "process ends anyway: the driver frees what is left; a process that lives "
		       "on keeps them for its next work";
	return "Leave out what no command has any use of any more, or do it once";
}

static void say_end(struct finding_draft *draft, const struct tare_recording_part *part,
                    const struct end_calls *calls, double length_ns, double own_ns)
{
	const struct evaluation *evaluation = draft->evaluation;
	const struct tare_recording *recording = evaluation->recording;
	char all[TARE_UNIT_TEXT], inside[TARE_UNIT_TEXT], own[TARE_UNIT_TEXT], most[TARE_UNIT_TEXT],
	    where[160] = "";
	tare_format_ns(length_ns, all);
	tare_format_ns(calls->ns, inside);
	tare_format_ns(own_ns, own);
	if (calls->function < recording->function_count)
		snprintf(where, sizeof where, ", %.80s for %s",
		         recording->functions[calls->function].name,
		         tare_format_ns(calls->function_ns, most));
	finding_title(
	    draft, "The run goes on for %.1f %% of its time after the last command, mostly %s",
	    100 * of_run(evaluation, length_ns), tare_recording_part_words(part, most_of(part)));
	finding_evidence(
	    draft,
	    "%s from the last completion to the end: inside the API %s (%llu call%s%s), "
	    "the program's own %s; what the driver and the system do when the process "
	    "ends is not recorded",
	    all, inside, (unsigned long long)calls->count, calls->count == 1 ? "" : "s", where,
	    own);
	finding_advice(draft, "%s", advice_on_end(evaluation, calls, own_ns));
	finding_figure(draft, "tear_down_ns", length_ns, "host clock");
	finding_figure(draft, "calls_ns", calls->ns, "host clock");
	finding_figure(draft, "own_ns", own_ns, "host clock");
}

int finding_tear_down(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording_part *part = part_of(evaluation, TARE_PART_TEAR_DOWN);
	struct finding_draft draft;
	struct end_calls calls;
	(void)error;
	if (!part)
		return 0;
	finding_begin(evaluation, &draft, "tear-down");
	draft.of_run = true;
	int code = claim_calls(&draft, part, ~0u, &calls);
	// Of a process that has ended before the others nobody knows what it would have done.
	double length_ns =
	    (double)(part->to_ns - part->from_ns - part->parts_ns[TARE_LEDGER_ENDED] -
	             part->parts_ns[TARE_LEDGER_NOT_RECORDED] -
	             part->parts_ns[TARE_LEDGER_UNTIMED]);
	if (code || !rules(evaluation, length_ns)) {
		finding_drop(&draft);
		return code;
	}
	double own_ns = fmax(0, length_ns - calls.ns);
	say_end(&draft, part, &calls, length_ns, own_ns);
	finding_claim(&draft, part->from_ns, part->to_ns);
	draft.finding.occurrences += draft.finding.occurrences == 0;
	cost_up_to(&draft,
	           fmin(calls.released_ns + calls.made_ns, calls.ns) +
	               fmin(own_ns, hiding_work_ns(evaluation)),
	           length_ns);
	return finding_raise(&draft);
}
