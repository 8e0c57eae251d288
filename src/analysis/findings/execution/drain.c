// SPDX-License-Identifier: Apache-2.0
// Waits after which the device has nothing to do until the host has issued more, again and again.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_DRAINS 16
#define DRAIN_SHARE 0.05

// The wait that a thread came out of last, before it enqueued a command; exit_ns TARE_NO_TIME:
// none.
struct wait {
	int64_t enter_ns, exit_ns;
	uint32_t call; // TARE_NO_INDEX: a command that blocks
	uint32_t thread;
	uint32_t first; // the first command that is behind it
};

// All waits, by thread, then in their order.
struct waits {
	struct wait *at;
	size_t count, room;
	size_t *begin;    // of each thread, and the end
	size_t *near;     // of each thread: where one was found last
	int64_t doubt_ns; // of a time of the device against one of the host
};

struct drains {
	uint32_t thread; // whose waits they are
	uint64_t count;
	int64_t from_ns, to_ns;   // the first one's begin, the last one's end
	double idle_ns;           // behind waits
	double woken_ns;          // of it, until the wait had returned
	double gaps_ns, waits_ns; // within from_ns and to_ns: the device idle, the thread in waits
	uint32_t function;        // in which most of them are; TARE_NO_INDEX: copies that block
};

static bool is_wait(const struct evaluation *evaluation, const struct tare_recorded_call *call)
{
	return call->role == TARE_ROLE_WAIT &&
	       !(call->flags & (TARE_CALL_NESTED | TARE_CALL_FAILED)) &&
	       tables_has_call(&evaluation->context, call);
}

// Copies that block are waits of CUDA programs, which read results by them. Those of OpenCL and
// Level Zero do their work in the call as often as not: other findings are about them.
static bool is_cuda(const struct tare_recording *recording, const struct tare_recorded_command *c)
{
	return c->queue < recording->queue_count &&
	       recording->queues[c->queue].api == TARE_TRACE_CUDA;
}

static int add_wait(struct waits *waits, struct wait wait)
{
	struct wait *added = TARE_ROOM_FOR(waits->at, waits->room, waits->count);
	if (!added)
		return -ENOMEM;
	*added = wait;
	waits->count++;
	return 0;
}

// Puts those of each thread together. Returns 0 or -ENOMEM.
static int group(struct waits *waits, size_t threads)
{
	struct wait *grouped = malloc((waits->count + 1) * sizeof *grouped);
	waits->begin = calloc(threads + 2, sizeof *waits->begin);
	waits->near = calloc(threads + 1, sizeof *waits->near);
	if (!grouped || !waits->begin || !waits->near) {
		free(grouped);
		return -ENOMEM;
	}
	for (size_t i = 0; i < waits->count; i++)
		waits->begin[waits->at[i].thread + 2]++;
	for (size_t i = 2; i < threads + 2; i++)
		waits->begin[i] += waits->begin[i - 1];
	for (size_t i = 0; i < waits->count; i++)
		grouped[waits->begin[waits->at[i].thread + 1]++] = waits->at[i];
	memcpy(waits->near, waits->begin, threads * sizeof *waits->near);
	free(waits->at);
	waits->at = grouped;
	return 0;
}

static int find_waits(const struct evaluation *evaluation, struct waits *waits)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t at = 0;
	int code = 0;
	for (size_t i = 0; i < recording->command_count && !code; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		bool known = c->thread < recording->thread_count;
		for (; at < recording->call_count && recording->calls[at].enter_ns < c->enter_ns;
		     at++) {
			const struct tare_recorded_call *call = &recording->calls[at];
			if (call->role == TARE_ROLE_WAIT &&
			    call->thread < recording->thread_count && is_wait(evaluation, call) &&
			    add_wait(waits,
			             (struct wait){ call->enter_ns, call->exit_ns, (uint32_t)at,
			                            call->thread, (uint32_t)i }))
				code = -ENOMEM;
		}
		if (c->flags & TARE_COMMAND_BLOCKING && c->kind != TARE_KIND_KERNEL &&
		    is_cuda(recording, c) && known &&
		    add_wait(waits, (struct wait){ c->enter_ns, c->exit_ns, TARE_NO_INDEX,
		                                   c->thread, (uint32_t)i + 1 }))
			code = -ENOMEM;
	}
	return code ? code : group(waits, recording->thread_count);
}

// Whether the wait and what it takes to issue more are what the gap is about. What the host
// computes in it is another finding's (idle-host-computes), but for CUDA, whose programs compute
// little between looking at a result and going on.
static bool is_about_waiting(const struct evaluation *evaluation,
                             const struct ledger_working_gap *gap)
{
	switch (gap->cause) {
	case TARE_LEDGER_WAIT:
	case TARE_LEDGER_API:
	case TARE_LEDGER_HELD:
	case TARE_LEDGER_DISPATCH:
		return true;
	default:
		return is_cuda(evaluation->recording,
		               TARE_COMMAND(evaluation->recording, gap->command));
	}
}

// Whether the wait at `at`, of those of a thread up to `end`, is the last before a command.
static bool is_before(const struct waits *waits, size_t at, size_t end, uint32_t command)
{
	return at < end && waits->at[at].first <= command &&
	       (at + 1 == end || waits->at[at + 1].first > command);
}

// Commands are asked about in the order of their starts, nearly that in which they were enqueued.
static const struct wait *wait_before(const struct waits *waits, uint32_t thread, uint32_t command)
{
	size_t low = waits->begin[thread], high = waits->begin[thread + 1];
	size_t *near = &waits->near[thread];
	if (is_before(waits, *near, high, command))
		return &waits->at[*near];
	if (is_before(waits, *near + 1, high, command))
		return &waits->at[++*near];
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (waits->at[middle].first <= command)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == waits->begin[thread])
		return NULL;
	*near = low - 1;
	return &waits->at[*near];
}

// The same of the command that ends a gap; NULL: none ends it, or its thread is not known.
static const struct wait *wait_of_gap(const struct evaluation *evaluation,
                                      const struct ledger_working_gap *gap,
                                      const struct waits *waits)
{
	const struct tare_recording *recording = evaluation->recording;
	if (gap->command >= recording->command_count)
		return NULL;
	uint32_t thread = TARE_COMMAND(recording, gap->command)->thread;
	return thread < recording->thread_count ? wait_before(waits, thread, gap->command) : NULL;
}

// Whether the device ran out of work while the thread that then issued more was in that wait.
static bool is_drain(const struct evaluation *evaluation, const struct ledger_working_gap *gap,
                     const struct waits *waits)
{
	const struct wait *wait = wait_of_gap(evaluation, gap, waits);
	if (!wait || !is_about_waiting(evaluation, gap))
		return false;
	int64_t doubt_ns = waits->doubt_ns;
	return wait->exit_ns != TARE_NO_TIME && wait->enter_ns - doubt_ns <= gap->from_ns &&
	       wait->exit_ns + doubt_ns >= gap->from_ns;
}

// The thread with the most of them, and how many these are.
static int find_thread(const struct evaluation *evaluation, const struct waits *waits,
                       uint32_t *thread, uint64_t *count)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE uint64_t *counts = calloc(recording->thread_count + 1, sizeof *counts);
	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->gap_count; i++)
		if (is_drain(evaluation, FINDING_GAP(evaluation, i), waits))
			counts[TARE_COMMAND(recording, FINDING_GAP(evaluation, i)->command)
			           ->thread]++;
	*thread = 0;
	for (uint32_t i = 1; i < recording->thread_count; i++)
		if (counts[i] > counts[*thread])
			*thread = i;
	*count = counts[*thread];
	return 0;
}

static void add_drains(struct evaluation *evaluation, const struct waits *waits,
                       struct drains *sums, struct finding_draft *draft)
{
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		if (!is_drain(evaluation, gap, waits) ||
		    TARE_COMMAND(evaluation->recording, gap->command)->thread != sums->thread)
			continue;
		const struct wait *wait = wait_of_gap(evaluation, gap, waits);
		double woken_ns = fmin(evaluation_part_ns(evaluation, gap, TARE_LEDGER_WAIT),
		                       (double)(wait->exit_ns - gap->from_ns));
		if (sums->count++ == 0)
			sums->from_ns = gap->from_ns;
		sums->to_ns = gap->to_ns;
		sums->idle_ns += (double)(gap->to_ns - gap->from_ns);
		sums->woken_ns +=
		    fmax(0, woken_ns - (double)evaluation_residual_ns(evaluation, TARE_NO_INDEX));
		ledger_gap_mark(&evaluation->working->gaps, i, LEDGER_GAP_DRAINED, true);
		finding_claim(draft, gap->from_ns, gap->to_ns);
		if (wait->call != TARE_NO_INDEX)
			finding_saw_call(draft, wait->call, gap->from_ns, gap->to_ns,
			                 gap->to_ns - gap->from_ns);
		else
			finding_saw_command(draft, gap->command, gap->from_ns, gap->to_ns,
			                    gap->to_ns - gap->from_ns);
	}
}

// What of [from, to) lies between the first drain and the last.
static double within(const struct drains *sums, int64_t from_ns, int64_t to_ns)
{
	int64_t least_ns = from_ns > sums->from_ns ? from_ns : sums->from_ns;
	int64_t most_ns = to_ns < sums->to_ns ? to_ns : sums->to_ns;
	return most_ns > least_ns ? (double)(most_ns - least_ns) : 0;
}

static void measure(const struct evaluation *evaluation, struct drains *sums)
{
	const struct tare_recording *recording = evaluation->recording;
	for (size_t i = 0; i < evaluation->gap_count; i++)
		sums->gaps_ns += within(sums, FINDING_GAP(evaluation, i)->from_ns,
		                        FINDING_GAP(evaluation, i)->to_ns);
	for (size_t i = 0; i < recording->call_count; i++)
		if (recording->calls[i].thread == sums->thread &&
		    is_wait(evaluation, &recording->calls[i]))
			sums->waits_ns +=
			    within(sums, recording->calls[i].enter_ns, recording->calls[i].exit_ns);
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		if (c->thread == sums->thread && c->flags & TARE_COMMAND_BLOCKING &&
		    c->kind != TARE_KIND_KERNEL)
			sums->waits_ns += within(sums, c->enter_ns, c->exit_ns);
	}
}

// The function in which most of the waits are: the program's own word for them.
static int find_function(const struct evaluation *evaluation, const struct waits *waits,
                         struct drains *sums)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE uint64_t *counts = calloc(recording->function_count + 1, sizeof *counts);
	size_t most = recording->function_count;
	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		if (!FINDING_GAP(evaluation, i)->drained)
			continue;
		uint32_t call = wait_of_gap(evaluation, FINDING_GAP(evaluation, i), waits)->call;
		uint32_t function =
		    call < recording->call_count ? recording->calls[call].function : TARE_NO_INDEX;
		size_t at =
		    function < recording->function_count ? function : recording->function_count;
		if (++counts[at] > counts[most])
			most = at;
	}
	sums->function = most < recording->function_count ? (uint32_t)most : TARE_NO_INDEX;
	return 0;
}

static void describe(const struct evaluation *evaluation, const struct drains *sums, double host_ns,
                     double device_ns, struct finding_draft *draft)
{
	char idle[TARE_UNIT_TEXT], woken[TARE_UNIT_TEXT], host[TARE_UNIT_TEXT],
	    device[TARE_UNIT_TEXT];
	tare_format_ns(sums->idle_ns, idle);
	tare_format_ns(sums->woken_ns, woken);
	tare_format_ns(host_ns, host);
	tare_format_ns(device_ns, device);
	finding_title(
	    draft,
	    "%llu times the host waits (%.60s) until the device is done, and only then issues more",
	    (unsigned long long)sums->count,
	    sums->function == TARE_NO_INDEX
	        ? "in copies that block"
	        : evaluation->recording->functions[sums->function].name);
	finding_evidence(draft,
	                 "behind these waits the device idles %s (%.1f %% of the working part), %s "
	                 "of it until they "
	                 "have returned; from the first to the last the host's own work is %s and "
	                 "the device's is %s, "
	                 "and side by side they take no less than the longer one",
	                 idle, evaluation_percent(evaluation, sums->idle_ns), woken, host, device);
	finding_advice(draft,
	               "Issue the next piece before waiting for this one: %s; if the host needs "
	               "what was waited for "
	               "to issue the next piece, this gains nothing",
	               finding_word(evaluation, FINDING_WORD_DRAIN));
	finding_figure(draft, "waits", (double)sums->count, "counted");
	finding_figure(draft, "idle_ns", sums->idle_ns, "device timestamp");
	finding_figure(draft, "woken_ns", sums->woken_ns, "device timestamp");
	finding_figure(draft, "host_ns", host_ns, "host clock");
	finding_figure(draft, "device_ns", device_ns, "device timestamp");
}

static int evaluate_drains(struct evaluation *evaluation, const struct waits *waits)
{
	struct drains sums = { 0 };
	struct finding_draft draft;
	uint64_t count;
	int code = find_thread(evaluation, waits, &sums.thread, &count);
	if (code || count < FEWEST_DRAINS)
		return code;
	finding_begin(evaluation, &draft, "synchronize-drains");
	add_drains(evaluation, waits, &sums, &draft);
	measure(evaluation, &sums);
	code = find_function(evaluation, waits, &sums);
	double all_ns = (double)(sums.to_ns - sums.from_ns);
	double host_ns = fmax(0, all_ns - sums.waits_ns),
	       device_ns = fmax(0, all_ns - sums.gaps_ns);
	double saved_ns = fmin(sums.idle_ns, all_ns - fmax(host_ns, device_ns));
	if (code || sums.count < FEWEST_DRAINS ||
	    !finding_matters(evaluation, TARE_NO_INDEX, saved_ns,
	                     evaluation_edges(evaluation, sums.count), sums.count, sums.count,
	                     DRAIN_SHARE)) {
		finding_drop(&draft);
		for (size_t i = 0; i < evaluation->gap_count; i++)
			ledger_gap_mark(&evaluation->working->gaps, i, LEDGER_GAP_DRAINED, false);
		return code;
	}
	describe(evaluation, &sums, host_ns, device_ns, &draft);
	draft.finding.modelled = true;
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	finding_cost(&draft, fmin(sums.woken_ns, saved_ns), saved_ns, saved_ns);
	return finding_raise(&draft);
}

// Whether there are waits enough, before memory is taken for all commands.
static bool may_drain(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	uint64_t waits = recording->apis >> TARE_TRACE_CUDA & 1 ? FEWEST_DRAINS : 0;
	for (size_t i = 0; i < recording->call_count && waits < FEWEST_DRAINS; i++)
		waits += is_wait(evaluation, &recording->calls[i]);
	return waits >= FEWEST_DRAINS && evaluation->gap_count >= FEWEST_DRAINS;
}

int finding_synchronize_drains(struct evaluation *evaluation, struct tare_error *error)
{
	(void)error;
	if (!may_drain(evaluation))
		return 0;
	struct waits waits = { .doubt_ns = evaluation_residual_ns(evaluation, TARE_NO_INDEX) };
	int code = find_waits(evaluation, &waits);
	if (!code)
		code = evaluate_drains(evaluation, &waits);
	free(waits.at);
	free(waits.begin);
	free(waits.near);
	return code;
}
