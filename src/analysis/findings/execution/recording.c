// SPDX-License-Identifier: Apache-2.0
// What recording costs, and threads that do nothing but ask.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>

// ---- recording

// Beyond this the program that was recorded is another one; beyond the second nothing of it can be
// told.
#define HIGH 0.10
#define TOO_HIGH 0.50

// What was recorded in the working part, and in the view.
struct recorded {
	uint64_t commands, untimed, calls;
	uint64_t polls;        // in rows, and not among the calls
	uint64_t records, all; // of commands and calls; of those in the whole view
};

// A loop of polls ends when the device is done, however long one of them takes: fewer of them are
// made then, and nothing else is blurred.
static bool is_row_of_polls(const struct tare_recorded_call *call)
{
	return call->role == TARE_ROLE_POLL && call->count >= 2;
}

static struct recorded count_recorded(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	struct recorded recorded = { 0 };
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (tare_command_is_run(command))
			continue;
		recorded.all += tables_has_command(&evaluation->context, command);
		if (!evaluation_has_command(evaluation, command))
			continue;
		recorded.commands++;
		recorded.untimed += (command->flags & TARE_COMMAND_NO_TIMES) != 0;
	}
	recorded.records = recorded.commands;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		bool within = evaluation_has_call(evaluation, call);
		recorded.all += tables_has_call(&evaluation->context, call);
		recorded.records += within;
		uint64_t *counted = is_row_of_polls(call) ? &recorded.polls : &recorded.calls;
		*counted += within ? call->count : 0;
	}
	return recorded;
}

// When threads waited for room is not recorded. They wait for what records have filled: so much of
// it as of the records is of the working part.
static double stalled_ns(const struct evaluation *evaluation, const struct recorded *recorded)
{
	double all_ns = (double)evaluation->tables->coverage.stalled_ns;
	return recorded->records < recorded->all
	           ? all_ns * (double)recorded->records / (double)recorded->all
	           : all_ns;
}

int finding_recording_cost(struct evaluation *evaluation, struct tare_error *error)
{
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT], stalled[TARE_UNIT_TEXT];
	(void)error;
	if (evaluation->command_cost_ps <= 0 || evaluation->call_cost_ps < 0)
		return finding_unjudged(evaluation, "what recording cost: it was not calibrated");
	const struct recorded recorded = count_recorded(evaluation);
	double waited_ns = stalled_ns(evaluation, &recorded);
	double cost_ns = (double)(recorded.commands - recorded.untimed) *
	                     (double)evaluation->command_cost_ps / 1e3 +
	                 (double)recorded.untimed * (double)evaluation->untimed_cost_ps / 1e3 +
	                 (double)recorded.calls * (double)evaluation->call_cost_ps / 1e3 +
	                 waited_ns;
	double everywhere = cost_ns / (double)evaluation->working_ns;
	// Asking for times is done in a few places, mostly after waits: it does not blur the rest.
	cost_ns += (double)evaluation->tables->coverage.harvest_ns;
	// So is hashing, behind the call, and left out of idle gaps.
	cost_ns += (double)evaluation->tables->coverage.contents_ns;
	double share = cost_ns / (double)evaluation->working_ns;
	if (share < HIGH || cost_ns < FINDING_LEAST_NS)
		return 0;
	evaluation->cost_drowns = everywhere >= TOO_HIGH;
	tare_format_ns(cost_ns, cost);
	finding_begin(evaluation, &draft, "recording-cost");
	finding_claim(&draft, evaluation->from_ns, evaluation->to_ns);
	finding_title(&draft, "Recording itself took about %.0f %% of the working part: %s",
	              100 * fmin(1, share),
	              evaluation->cost_drowns ? "too much to conclude anything else about it"
	                                      : "short calls and gaps look longer than they are");
	finding_evidence(
	    &draft,
	    "about %s: %llu commands and %llu other calls, by the cost of one (measured "
	    "when the program started, and while it ran), and %s of waiting for room; an "
	    "upper bound where several threads share it",
	    cost, (unsigned long long)recorded.commands, (unsigned long long)recorded.calls,
	    tare_format_ns(waited_ns, stalled));
	bool hashing = (double)evaluation->tables->coverage.contents_ns > cost_ns / 2;
	finding_advice(
	    &draft,
	    hashing ? "Record once more without --contents for the times: most of it is hashing "
	              "what transfers carry"
	            : "Make fewer calls (arguments need not be set again when they stay), and "
	              "trust counts here more than times");
	finding_figure(&draft, "cost_ns", cost_ns, "model");
	finding_figure(&draft, "stalled_ns", waited_ns, "model");
	finding_figure(&draft, "harvest_ns", (double)evaluation->tables->coverage.harvest_ns,
	               "host clock");
	if (evaluation->tables->coverage.contents_ns > 0)
		finding_figure(&draft, "contents_ns",
		               (double)evaluation->tables->coverage.contents_ns, "host clock");
	finding_figure(&draft, "commands", (double)recorded.commands, "counted");
	finding_figure(&draft, "calls", (double)recorded.calls, "counted");
	if (recorded.polls > 0)
		finding_figure(&draft, "polls", (double)recorded.polls, "counted");
	draft.finding.modelled = true;
	draft.finding.occurrences = recorded.commands + recorded.calls;
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	// A loop may ask for a number of times rather than until work is done: then they cost, too.
	double polls_ns = (double)recorded.polls * (double)evaluation->call_cost_ps / 1e3;
	finding_cost(&draft, 0, cost_ns, cost_ns + polls_ns);
	return finding_raise(&draft);
}

// ---- polling

#define POLLS 1000
#define POLLING 0.10
// Slower polls leave the CPU to others.
#define BETWEEN_NS 20e3

// How long a thread was on a CPU during a row of polls, by the readings of its clock around it:
// evenly between two of them (ns), and at most. All of the row where nothing was read.
struct on_cpu {
	double ns, most_ns;
};

static size_t first_sample_after(const struct tare_cpu_sample *samples, size_t count, int64_t at_ns)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (samples[middle].at_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// CPU time at a moment between two readings, the latter of which is `after`.
static double cpu_at(const struct tare_cpu_sample *after, int64_t at_ns)
{
	const struct tare_cpu_sample *before = after - 1;
	double part = (double)(at_ns - before->at_ns) / (double)(after->at_ns - before->at_ns);
	return (double)before->cpu_ns + part * (double)(after->cpu_ns - before->cpu_ns);
}

static struct on_cpu on_cpu_in(const struct tare_recording *recording,
                               const struct tare_recorded_call *call)
{
	double row_ns = (double)(call->exit_ns - call->enter_ns);
	struct on_cpu all = { row_ns, row_ns };
	if (call->thread >= recording->thread_count)
		return all;
	const struct tare_recorded_thread *thread = &recording->threads[call->thread];
	const struct tare_cpu_sample *samples = recording->cpu_samples + thread->first_sample;
	size_t from = first_sample_after(samples, thread->sample_count, call->enter_ns);
	size_t to = first_sample_after(samples, thread->sample_count, call->exit_ns - 1);
	if (from == 0 || to >= thread->sample_count)
		return all;
	double ns = cpu_at(&samples[to], call->exit_ns) - cpu_at(&samples[from], call->enter_ns);
	double most_ns = (double)(samples[to].cpu_ns - samples[from - 1].cpu_ns);
	return (struct on_cpu){ fmax(0, fmin(row_ns, ns)), fmax(0, fmin(row_ns, most_ns)) };
}

int finding_host_polling(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT];
	uint64_t polls = 0;
	double spent_ns = 0;
	struct on_cpu cpu = { 0, 0 };
	(void)error;
	finding_begin(evaluation, &draft, "host-polling");
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		int64_t row_ns = call->exit_ns - call->enter_ns;
		if (!is_row_of_polls(call) || row_ns <= 0 ||
		    !evaluation_has_call(evaluation, call) ||
		    (double)row_ns / (double)call->count > BETWEEN_NS)
			continue;
		struct on_cpu on_cpu = on_cpu_in(recording, call);
		polls += call->count;
		spent_ns += (double)row_ns;
		cpu.ns += on_cpu.ns;
		cpu.most_ns += on_cpu.most_ns;
		finding_claim(&draft, call->enter_ns, call->exit_ns);
		finding_saw_call(&draft, (uint32_t)i, call->enter_ns, call->exit_ns, row_ns);
	}
	if (polls < POLLS ||
	    !finding_matters(evaluation, TARE_NO_INDEX, spent_ns, 0, 0, polls, POLLING)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(cpu.ns, cost);
	finding_title(&draft,
	              "The host asks %llu times whether work is done, instead of waiting for it",
	              (unsigned long long)polls);
	finding_evidence(&draft,
	                 "%s of a CPU in loops that ask every %.2g µs; what it costs is a CPU that "
	                 "is kept busy, and not wall time unless others need that CPU",
	                 cost, spent_ns / (double)polls / 1e3);
	finding_advice(&draft, "%s, or do other work between two questions",
	               finding_word(evaluation, FINDING_WORD_WAIT));
	finding_figure(&draft, "polls", (double)polls, "counted");
	finding_figure(&draft, "polling_ns", spent_ns, "host clock");
	finding_figure(&draft, "cpu_ns", cpu.ns, "host clock");
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	finding_cost(&draft, 0, cpu.ns, cpu.most_ns);
	return finding_raise(&draft);
}
