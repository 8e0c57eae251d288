// SPDX-License-Identifier: Apache-2.0
// How command lists are used: recorded again for each execution, and lists that wait for each
// kernel.
#include "analysis/findings/execution/internal.h"

#include "analysis/ledger/internal.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

// ---- recorded again

#define FEWEST_LISTS 8
#define REBUILT_SHARE 0.02

// Lists of one content, each executed once.
struct alike {
	uint32_t lists;
	uint64_t commands;
};

struct rebuilt {
	struct evaluation *evaluation;
	uint64_t *content; // of each execution: a hash of what it runs
	uint32_t *of_list; // the group of each list; TARE_NO_INDEX
	struct tare_id_map group_of;
	struct alike *groups;
	size_t group_count, group_room;
	struct tare_run_span *spans; // of the calls that append to the lists of large groups
	size_t span_count;
	uint64_t lists, commands;
};

// Of kernels, sizes and memory; arguments are not recorded.
static void hash_contents(struct rebuilt *r)
{
	const struct tare_recording *recording = r->evaluation->recording;
	for (size_t i = 0; i < recording->execution_count; i++)
		r->content[i] = TARE_HASH_START;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		if (!tare_command_is_run(c) || c->execution >= recording->execution_count)
			continue;
		uint64_t parts[4] = { r->content[c->execution], c->amount, c->object,
			              (uint64_t)c->kind << 8 | c->direction };
		r->content[c->execution] = tare_hash_bytes(TARE_HASH_START, parts, sizeof parts);
	}
}

static int group_lists(struct rebuilt *r)
{
	const struct tare_recording *recording = r->evaluation->recording;
	for (size_t i = 0; i < recording->execution_count; i++) {
		const struct tare_recorded_execution *x = &recording->executions[i];
		uint32_t number;
		if (x->list >= recording->list_count || x->runs == 0 || x->runs < x->nodes ||
		    recording->lists[x->list].executions != 1)
			continue;
		uint64_t parts[2] = { r->content[i], recording->lists[x->list].process };
		if (tables_number(&r->group_of,
		                  tare_hash_bytes(TARE_HASH_START, parts, sizeof parts),
		                  &number) != 0)
			return -ENOMEM;
		if (number == r->group_count) {
			struct alike *added =
			    TARE_ROOM_FOR(r->groups, r->group_room, r->group_count);
			if (!added)
				return -ENOMEM;
			*added = (struct alike){ 0 };
			r->group_count++;
		}
		r->groups[number].lists++;
		r->groups[number].commands += x->runs;
		r->of_list[x->list] = number;
	}
	return 0;
}

static bool is_append(const struct evaluation *evaluation, const struct tare_recorded_call *call)
{
	return call->role == TARE_ROLE_COMMAND && call->object == TARE_NO_INDEX &&
	       !(call->flags & (TARE_CALL_NESTED | TARE_CALL_FAILED)) &&
	       evaluation_has_call(evaluation, call);
}

// The first call that was entered at a time or later.
static size_t first_call(const struct tare_recording *recording, int64_t from_ns)
{
	size_t low = 0, high = recording->call_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (recording->calls[middle].enter_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The calls by which the thread that executes a list filled it, from call `from` on: those between
// its making and that. Returns the call behind them.
static size_t add_appends(struct rebuilt *r, const struct tare_recorded_command *by, size_t from,
                          struct finding_draft *draft)
{
	const struct tare_recording *recording = r->evaluation->recording;
	size_t at = from;
	for (; at < recording->call_count && recording->calls[at].enter_ns < by->enter_ns; at++) {
		const struct tare_recorded_call *call = &recording->calls[at];
		if (call->thread != by->thread || !is_append(r->evaluation, call))
			continue;
		r->spans[r->span_count++] = (struct tare_run_span){ call->enter_ns, call->exit_ns };
		finding_claim(draft, call->enter_ns, call->exit_ns);
		finding_saw_call(draft, (uint32_t)at, call->enter_ns, call->exit_ns,
		                 call->inside_ns);
	}
	return at;
}

// Of all lists but the first of each group, which is needed in any case. A thread executes in the
// order of time, and none of its calls is taken twice.
static int find_appends(struct rebuilt *r, struct finding_draft *draft)
{
	const struct tare_recording *recording = r->evaluation->recording;
	TARE_FREE bool *seen = calloc(r->group_count + 1, sizeof *seen);
	TARE_FREE size_t *next = calloc(recording->thread_count + 1, sizeof *next);
	if (!seen || !next)
		return -ENOMEM;
	for (size_t i = 0; i < recording->execution_count; i++) {
		const struct tare_recorded_execution *x = &recording->executions[i];
		uint32_t group =
		    x->list < recording->list_count ? r->of_list[x->list] : TARE_NO_INDEX;
		if (group == TARE_NO_INDEX || r->groups[group].lists < FEWEST_LISTS ||
		    x->command >= recording->command_count)
			continue;
		const struct tare_recorded_command *by = TARE_COMMAND(recording, x->command);
		if (seen[group] && by->thread < recording->thread_count) {
			size_t from = first_call(recording, recording->lists[x->list].created_ns);
			size_t *after = &next[by->thread];
			*after = add_appends(r, by, from > *after ? from : *after, draft);
			r->lists++;
			r->commands += x->runs;
		}
		seen[group] = true;
	}
	return 0;
}

// What of the calls lies in idle gaps, and all of them.
static void measure_appends(struct rebuilt *r, struct gap_sum *sum, double *all_ns)
{
	const struct evaluation *evaluation = r->evaluation;
	size_t count = tare_spans_unite(r->spans, r->span_count), first = 0;
	*all_ns = 0;
	for (size_t i = 0; i < count; i++)
		*all_ns += (double)(r->spans[i].to_ns - r->spans[i].from_ns);
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		double part_ns = evaluation_within_gap(gap, r->spans, count, &first);
		if (part_ns > 0)
			evaluation_add_part(evaluation, TARE_NO_INDEX, gap, part_ns, sum);
	}
}

static int evaluate_rebuilt(struct rebuilt *r)
{
	struct evaluation *evaluation = r->evaluation;
	struct finding_draft draft;
	struct gap_sum sum = { 0 };
	char idle[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];
	double all_ns;
	finding_begin(evaluation, &draft, "list-rebuilt");
	int code = find_appends(r, &draft);
	measure_appends(r, &sum, &all_ns);
	if (code || r->lists < FEWEST_LISTS - 1 ||
	    !finding_matters(evaluation, TARE_NO_INDEX, sum.ns,
	                     evaluation_edges(evaluation, sum.gaps), 0, r->span_count,
	                     REBUILT_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	tare_format_ns(sum.ns, idle);
	tare_format_ns(all_ns, all);
	finding_title(
	    &draft,
	    "%llu command lists are filled with the same commands as one before, and executed once",
	    (unsigned long long)r->lists);
	finding_evidence(
	    &draft,
	    "appending their %llu commands took %s, and for %s of it no device ran anything; "
	    "kernels, sizes and memory are the same, but arguments are not recorded",
	    (unsigned long long)r->commands, all, idle);
	finding_advice(&draft, "Close the list once and execute it again; where arguments change, "
	                       "let kernels read them "
	                       "from memory, or use a mutable command list");
	finding_figure(&draft, "lists", (double)r->lists, "counted");
	finding_figure(&draft, "appends_ns", all_ns, "host clock");
	finding_figure(&draft, "idle_ns", sum.ns, "device timestamp");
	finding_cost(&draft, 0, sum.ns, fmin(sum.high_ns, all_ns));
	return finding_raise(&draft);
}

int finding_list_rebuilt(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	struct rebuilt r = { .evaluation = evaluation };
	int code = 0;
	(void)error;
	// Between commands of a sample there are no gaps that are known.
	if (recording->execution_count < FEWEST_LISTS || evaluation->unsampled > 0)
		return 0;
	r.content = calloc(recording->execution_count, sizeof *r.content);
	r.of_list = malloc((recording->list_count + 1) * sizeof *r.of_list);
	r.spans = calloc(recording->call_count + 1, sizeof *r.spans);
	if (!r.content || !r.of_list || !r.spans)
		code = -ENOMEM;
	for (size_t i = 0; !code && i < recording->list_count; i++)
		r.of_list[i] = TARE_NO_INDEX;
	if (!code) {
		hash_contents(&r);
		code = group_lists(&r);
	}
	if (!code)
		code = evaluate_rebuilt(&r);
	tare_id_map_free(&r.group_of);
	free(r.groups);
	free(r.content);
	free(r.of_list);
	free(r.spans);
	return code;
}

// ---- launches that wait

#define FEWEST_LAUNCHES 16
#define WAITING_SHARE 0.05

// The command that the thread of another one enqueued before it, of all: an index a thread.
static int find_previous(const struct evaluation *evaluation, uint32_t *previous)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE uint32_t *last = malloc((recording->thread_count + 1) * sizeof *last);
	if (!last)
		return -ENOMEM;
	for (size_t i = 0; i < recording->thread_count; i++)
		last[i] = TARE_NO_INDEX;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		previous[i] = c->thread < recording->thread_count ? last[c->thread] : TARE_NO_INDEX;
		if (c->thread < recording->thread_count &&
		    tare_command_effect(c) != TARE_EFFECT_NONE)
			last[c->thread] = (uint32_t)i;
	}
	return 0;
}

static bool waits(const struct evaluation *evaluation, uint32_t command)
{
	const struct tare_recorded_command *c = command < evaluation->recording->command_count
	                                            ? TARE_COMMAND(evaluation->recording, command)
	                                            : NULL;
	return c && c->kind == TARE_KIND_KERNEL && c->flags & TARE_COMMAND_BLOCKING &&
	       tare_command_timed(c);
}

// The idle gaps behind launches that wait.
struct waiting {
	struct gap_sum sum;
	double returned_ns; // of them before the launch has returned
	double woken_ns;    // of that for certain
	double run_ns;      // of those kernels
	struct {
		uint64_t gaps;
		double least_ns; // the shortest
	} *of_device;            // that the gap's next command runs on
};

static void add_waiting(struct evaluation *evaluation, const struct ledger_working_gap *gap,
                        const struct tare_recorded_command *before, struct finding_draft *draft,
                        struct waiting *waiting)
{
	const struct tare_recording *recording = evaluation->recording;
	uint32_t queue = TARE_COMMAND(recording, gap->command)->queue;
	uint32_t device =
	    queue < recording->queue_count ? recording->queues[queue].device : TARE_NO_INDEX;
	// From the kernel's end until the next one's call has returned: none of it, were the launch
	// not to wait.
	double part_ns = evaluation_part_ns(evaluation, gap, TARE_LEDGER_API) +
	                 evaluation_part_ns(evaluation, gap, TARE_LEDGER_DISPATCH);
	double return_ns = (double)(before->exit_ns - gap->from_ns);
	if (part_ns <= 0 || return_ns <= 0 || device >= recording->device_count)
		return;
	double gap_ns = (double)(gap->to_ns - gap->from_ns),
	       *least_ns = &waiting->of_device[device].least_ns;
	*least_ns = waiting->of_device[device].gaps++ ? fmin(*least_ns, gap_ns) : gap_ns;
	evaluation_add_part(evaluation, TARE_NO_INDEX, gap, part_ns, &waiting->sum);
	waiting->returned_ns += fmin(part_ns, return_ns);
	waiting->run_ns += (double)(before->end_ns - before->start_ns);
	waiting->woken_ns +=
	    fmin(part_ns,
	         fmax(0, return_ns - (double)evaluation_residual_ns(evaluation, TARE_NO_INDEX)));
	finding_claim(draft, gap->from_ns, gap->to_ns);
	finding_saw_command(draft, gap->command, gap->from_ns, gap->to_ns, llround(part_ns));
}

// A device takes a while from one kernel to the next even where that is queued already: no longer
// than its shortest gap here, and that much of each is not promised.
static double promised_ns(const struct waiting *waiting, size_t device_count)
{
	double left_ns = waiting->sum.low_ns;
	for (size_t i = 0; i < device_count; i++)
		left_ns -= waiting->of_device[i].least_ns * (double)waiting->of_device[i].gaps;
	return fmin(waiting->woken_ns, fmax(0, left_ns));
}

// Behind its return the host issues the next one, which then takes as long as before, but beside
// the device's work: of that no more is saved than the work lasts.
static double saved_ns(const struct waiting *waiting, double idle_ns)
{
	return fmin(idle_ns, waiting->returned_ns + waiting->run_ns);
}

int finding_synchronous_launches(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	if (!evaluation->kernels.blocking)
		return 0;
	TARE_FREE uint32_t *previous = malloc((recording->command_count + 1) * sizeof *previous);
	struct waiting waiting = { 0 };
	TARE_FREE void *of_device = calloc(recording->device_count + 1, sizeof *waiting.of_device);
	const struct gap_sum *sum = &waiting.sum;
	struct finding_draft draft;
	char cost[TARE_UNIT_TEXT], woken[TARE_UNIT_TEXT];
	(void)error;
	waiting.of_device = of_device;
	if (!previous || !of_device || find_previous(evaluation, previous))
		return -ENOMEM;
	if (evaluation->unsampled > 0)
		return 0;
	finding_begin(evaluation, &draft, "synchronous-launches");
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		if (gap->command < recording->command_count &&
		    waits(evaluation, previous[gap->command]))
			add_waiting(evaluation, gap,
			            TARE_COMMAND(recording, previous[gap->command]), &draft,
			            &waiting);
	}
	double cost_ns = saved_ns(&waiting, sum->ns);
	if (sum->gaps < FEWEST_LAUNCHES || !finding_matters(evaluation, TARE_NO_INDEX, cost_ns,
	                                                    evaluation_edges(evaluation, sum->gaps),
	                                                    sum->gaps, sum->gaps, WAITING_SHARE)) {
		finding_drop(&draft);
		return 0;
	}
	tare_format_ns(sum->ns, cost);
	tare_format_ns(waiting.woken_ns, woken);
	finding_title(&draft,
	              "%llu kernel launches wait for their kernels, and the device idles until the "
	              "next is issued",
	              (unsigned long long)sum->gaps);
	finding_evidence(&draft,
	                 "the device idles %s (%.1f %% of the working part) from the end of a "
	                 "kernel to the start "
	                 "of what is issued next, %s of it before the call has returned",
	                 cost, evaluation_percent(evaluation, sum->ns), woken);
	finding_advice(&draft, "%s, and wait once behind the last",
	               finding_word(evaluation, FINDING_WORD_ASYNCHRONOUS));
	finding_figure(&draft, "launches", (double)sum->gaps, "counted");
	finding_figure(&draft, "idle_ns", sum->ns, "device timestamp");
	finding_figure(&draft, "return_ns", waiting.woken_ns, "device timestamp");
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	finding_cost(&draft, promised_ns(&waiting, recording->device_count), cost_ns,
	             saved_ns(&waiting, sum->high_ns));
	return finding_raise(&draft);
}
