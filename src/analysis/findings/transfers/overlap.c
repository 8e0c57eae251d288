// SPDX-License-Identifier: Apache-2.0
// Copies and kernels that could run beside each other and do not, by what keeps them apart.
#include "analysis/findings/transfers/internal.h"

#include "analysis/whatif/whatif.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_GAIN 0.05    // of the chunks' time
#define LEAST_COPIES 0.1   // of the chunks' time, for waits to be about copies
#define EXPOSED_SHARE 0.25 // of the working part: then it is said why nothing was predicted

// How the commands of the chunks were issued.
struct issue {
	uint64_t queues, copies, blocking, waits;
	// copies from plain memory that do not block by their name, and held the host up
	uint64_t staged;
	// commands in the legacy default stream, and in streams that wait for it
	uint64_t legacy, beside;
	bool free_order; // commands of a queue may overlap
	bool connection; // all streams go to the device by one connection, as the environment asks
};

// What keeps the chunks apart.
enum apart {
	APART_NOT,
	APART_WAITS,
	APART_BLOCKS,
	APART_STAGES,
	APART_LEGACY,
	APART_ONE_QUEUE,
	APART_CONNECTION
};
static const char *const ids[] = {
	[APART_NOT] = NULL,
	[APART_WAITS] = "overlap-missed",
	[APART_BLOCKS] = "blocking-call",
	[APART_STAGES] = "pageable-memory",
	[APART_LEGACY] = "legacy-default-stream",
	[APART_ONE_QUEUE] = "single-queue",
	[APART_CONNECTION] = "single-queue", // in effect
};

static bool in_chunks(const struct evaluation *evaluation, const struct tare_overlap_gain *gain,
                      const struct tare_recorded_command *command)
{
	return tare_command_device(evaluation->recording, command) == gain->device &&
	       command->start_ns >= gain->from_ns && command->end_ns <= gain->to_ns;
}

// Waits that end before the last enqueue of the chunks; a row of polls is one.
static uint64_t waits_between(const struct evaluation *evaluation, int64_t from_ns, int64_t to_ns)
{
	const struct tare_recording *recording = evaluation->recording;
	uint64_t count = 0;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		count += call->role == TARE_ROLE_WAIT && !(call->flags & TARE_CALL_NESTED) &&
		         call->enter_ns >= from_ns && call->exit_ns <= to_ns &&
		         tables_has_call(&evaluation->context, call);
	}
	return count;
}

// Whether a CUDA copy from plain memory kept the host for most of its time, though it need not.
static bool is_staged(const struct tare_recording *recording, const struct tare_recorded_command *c)
{
	return recording->queues[c->queue].api == TARE_TRACE_CUDA &&
	       !(c->flags & TARE_COMMAND_BLOCKING) && c->memory == TARE_TRACE_MEMORY_PAGEABLE &&
	       2 * (c->exit_ns - c->enter_ns) >= c->end_ns - c->start_ns;
}

static int look(const struct evaluation *evaluation, const struct tare_overlap_gain *gain,
                struct issue *issue)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE bool *queues = calloc(recording->queue_count + 1, sizeof *queues);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	const char *connections;
	*issue = (struct issue){ 0 };
	if (!queues)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->order[i]);
		if (!in_chunks(evaluation, gain, c) || tare_command_effect(c) == TARE_EFFECT_NONE)
			continue;
		issue->queues += !queues[c->queue];
		queues[c->queue] = true;
		issue->free_order |= recording->queues[c->queue].out_of_order &&
		                     !recording->queues[c->queue].one_engine;
		issue->copies += tables_is_transfer(c);
		issue->blocking += tables_is_transfer(c) && (c->flags & TARE_COMMAND_BLOCKING);
		issue->staged += tables_is_transfer(c) && is_staged(recording, c);
		issue->legacy += recording->queues[c->queue].legacy;
		issue->beside += recording->queues[c->queue].blocking;
		first_ns = c->enter_ns < first_ns ? c->enter_ns : first_ns;
		last_ns = c->enter_ns > last_ns ? c->enter_ns : last_ns;
	}
	issue->waits = waits_between(evaluation, first_ns, last_ns);
	connections = finding_variable(evaluation, "CUDA_DEVICE_MAX_CONNECTIONS");
	issue->connection = connections && strtol(connections, NULL, 10) == 1;
	return 0;
}

static enum apart apart_of(const struct issue *issue, uint64_t chunks)
{
	bool waits = 2 * issue->waits >= chunks, blocks = 2 * issue->blocking >= chunks;
	if (waits || (blocks && issue->queues == 1))
		return APART_WAITS;
	if (blocks)
		return APART_BLOCKS;
	if (issue->queues > 1 && 2 * issue->staged >= chunks)
		return APART_STAGES;
	if (2 * issue->legacy >= chunks && 2 * issue->beside >= chunks)
		return APART_LEGACY;
	if (issue->queues > 1 && issue->connection)
		return APART_CONNECTION;
	return issue->queues == 1 && !issue->free_order ? APART_ONE_QUEUE : APART_NOT;
}

// The chunks' time without their kernels, which the prediction does not shorten.
static void claim(const struct evaluation *evaluation, const struct tare_overlap_gain *gain,
                  struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	int64_t reach_ns = gain->from_ns;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		uint32_t at = evaluation->order[i];
		const struct tare_recorded_command *c = TARE_COMMAND(recording, at);
		if (!in_chunks(evaluation, gain, c))
			continue;
		if (tables_is_transfer(c))
			finding_saw_command(draft, at, c->start_ns, c->end_ns,
			                    c->end_ns - c->start_ns);
		if (!tables_is_kernel(c))
			continue;
		finding_claim(draft, reach_ns, c->start_ns);
		reach_ns = c->end_ns > reach_ns ? c->end_ns : reach_ns;
	}
	finding_claim(draft, reach_ns, gain->to_ns);
}

static const char *why_range(const struct tare_overlap_gain *gain)
{
	if (gain->shares_host && gain->beside != TARE_TOGETHER_SEEN)
		return "; this device copies with the host's own cores or memory, so at worst only "
		       "the "
		       "waits are saved";
	return gain->copies == TARE_TOGETHER_SEEN
	           ? "; the recording shows both copy directions at once"
	       : gain->copies == TARE_TOGETHER_APART
	           ? "; the recording shows one copy direction at a time"
	           : "; from two copy engines at full rate to one";
}

static void title(const struct evaluation *evaluation, const struct tare_overlap_gain *gain,
                  const struct issue *issue, enum apart apart, struct finding_draft *draft)
{
	unsigned long long chunks = gain->chunks, copies = issue->copies;
	switch (apart) {
	case APART_ONE_QUEUE:
		finding_title(
		    draft,
		    "Copies could overlap with kernels and do not: all %llu chunks are in %s",
		    chunks, finding_word(evaluation, FINDING_WORD_ONE_QUEUE));
		break;
	case APART_CONNECTION:
		finding_title(draft,
		              "Copies could overlap with kernels and do not: "
		              "CUDA_DEVICE_MAX_CONNECTIONS=1 gives the %llu "
		              "streams of %llu chunks one connection",
		              (unsigned long long)issue->queues, chunks);
		break;
	case APART_BLOCKS:
		finding_title(draft, "%llu of %llu copies block, so that the %llu %s take turns",
		              (unsigned long long)issue->blocking, copies,
		              (unsigned long long)issue->queues,
		              finding_word(evaluation, FINDING_WORD_QUEUE_NOUN));
		break;
	case APART_STAGES:
		finding_title(draft,
		              "%llu of %llu copies are asynchronous and from or to pageable "
		              "memory: they hold the "
		              "host up, so that the %llu %s take turns",
		              (unsigned long long)issue->staged, copies,
		              (unsigned long long)issue->queues,
		              finding_word(evaluation, FINDING_WORD_QUEUE_NOUN));
		break;
	case APART_LEGACY:
		finding_title(draft,
		              "%llu commands are in the legacy default stream, between those of "
		              "%llu other streams, "
		              "which wait for it and it for them",
		              (unsigned long long)issue->legacy,
		              (unsigned long long)issue->queues - 1);
		break;
	default:
		finding_title(
		    draft,
		    "Copies could overlap with kernels and do not: the host waits for each "
		    "of %llu chunks",
		    chunks);
	}
}

static void advise(const struct evaluation *evaluation, const struct issue *issue, enum apart apart,
                   struct finding_draft *draft)
{
	static const char needed[] = "if chunks need each other's results, this gains nothing";
	switch (apart) {
	case APART_ONE_QUEUE:
		finding_advice(draft, "Put the chunks in turn into %s, with pinned memory; %s",
		               finding_word(evaluation, FINDING_WORD_QUEUES), needed);
		break;
	case APART_CONNECTION:
		finding_advice(draft,
		               "Unset CUDA_DEVICE_MAX_CONNECTIONS (the default is 8): in one "
		               "connection each command waits "
		               "for the one before, whatever its stream; %s",
		               needed);
		break;
	case APART_BLOCKS:
		finding_advice(draft, "%s and wait once at the end, with pinned memory; %s",
		               finding_word(evaluation, FINDING_WORD_NOT_BLOCK), needed);
		break;
	case APART_STAGES:
		finding_advice(draft,
		               "Copy from pinned memory %s, which is faster, too, by what is not "
		               "known here; %s",
		               finding_word(evaluation, FINDING_WORD_PINNED), needed);
		break;
	case APART_LEGACY:
		finding_advice(draft,
		               "Give these commands a stream of their own and order them by "
		               "events, make the other "
		               "streams with cudaStreamNonBlocking, or compile with "
		               "--default-stream per-thread; %s",
		               needed);
		break;
	default:
		finding_advice(
		    draft,
		    "Enqueue the next chunk before waiting for this one: %s, pinned memory, "
		    "copies that do not block; %s; `tare overlap` shows what this device can do",
		    issue->queues == 1 ? finding_word(evaluation, FINDING_WORD_QUEUES)
		                       : "no wait between chunks",
		    needed);
	}
}

static void tell(const struct tare_overlap_gain *gain, struct finding_draft *draft)
{
	char measured[TARE_UNIT_TEXT], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];
	tare_format_ns((double)gain->measured_ns, measured);
	tare_format_ns(gain->predicted_low_ns, low);
	tare_format_ns(gain->predicted_high_ns, high);
	finding_evidence(
	    draft,
	    "%llu chunks took %s, %.0f %% of it transfers not hidden; predicted %s to %s%s; "
	    "%s then set the pace",
	    (unsigned long long)gain->chunks, measured,
	    100 * (double)gain->exposed_ns / (double)gain->measured_ns, low, high, why_range(gain),
	    gain->limit);
}

static void add_figures(const struct tare_overlap_gain *gain, struct finding_draft *draft)
{
	finding_figure(draft, "chunks", (double)gain->chunks, "counted");
	finding_figure(draft, "measured_ns", (double)gain->measured_ns, "device timestamp");
	finding_figure(draft, "predicted_low_ns", gain->predicted_low_ns, "model");
	finding_figure(draft, "predicted_high_ns", gain->predicted_high_ns, "model");
	finding_figure(draft, "to_device_ns", (double)gain->to_device_ns, "device timestamp");
	finding_figure(draft, "kernel_ns", (double)gain->kernel_ns, "device timestamp");
	finding_figure(draft, "from_device_ns", (double)gain->from_device_ns, "device timestamp");
	finding_figure(draft, "exposed_ns", (double)gain->exposed_ns, "device timestamp");
}

// Copies from pinned memory are also faster, by as much as is not known: from not at all, as they
// were taken to be, to all of their time. The estimate is the middle.
static void add_faster_copies(const struct tare_overlap_gain *gain, double *best_ns,
                              double *most_ns)
{
	double free_ns = (double)(gain->measured_ns - gain->kernel_ns);
	*most_ns = fmax(*most_ns, free_ns);
	*best_ns += fmax(0, free_ns - *best_ns) / 2;
}

static int evaluate_gain(struct evaluation *evaluation, const struct tare_overlap_gain *gain)
{
	struct finding_draft draft;
	struct issue issue;
	double measured_ns = (double)gain->measured_ns, saved_ns = measured_ns - gain->predicted_ns;
	if (gain->beside == TARE_TOGETHER_APART || saved_ns < LEAST_GAIN * measured_ns)
		return 0;
	int code = look(evaluation, gain, &issue);
	enum apart apart = code ? APART_NOT : apart_of(&issue, gain->chunks);
	if (apart == APART_NOT || !finding_matters(evaluation, gain->device, saved_ns, 2,
	                                           3 * gain->chunks, issue.waits, FINDING_SHARE))
		return code;
	// Both are about the host's waits; where little is copied it is not the copies that could
	// overlap.
	bool waits = apart == APART_WAITS || apart == APART_BLOCKS;
	bool copies = (double)gain->exposed_ns >= (waits ? LEAST_COPIES : LEAST_GAIN) * measured_ns;
	if ((waits && finding_take_back(evaluation, "synchronize-drains", copies ? saved_ns : 0)) ||
	    !copies)
		return 0;
	double unusual_ns;
	code = finding_unusual_idle_ns(evaluation, gain->from_ns, gain->to_ns, &unusual_ns);
	if (code)
		return code;
	finding_begin(evaluation, &draft, ids[apart]);
	title(evaluation, gain, &issue, apart, &draft);
	tell(gain, &draft);
	advise(evaluation, &issue, apart, &draft);
	add_figures(gain, &draft);
	claim(evaluation, gain, &draft);
	double most_ns = measured_ns - gain->predicted_low_ns;
	if (apart == APART_STAGES)
		add_faster_copies(gain, &saved_ns, &most_ns);
	finding_cost(&draft, fmax(0, measured_ns - gain->predicted_high_ns - unusual_ns), saved_ns,
	             most_ns);
	draft.finding.modelled = true;
	draft.finding.device = gain->device;
	if (apart == APART_CONNECTION)
		draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	return finding_raise(&draft);
}

static double exposed_share(const struct evaluation *evaluation, uint32_t device)
{
	double exposed_ns = 0;
	for (size_t i = 0; i < evaluation->tables->transfer_count; i++)
		if (evaluation->tables->transfers[i].device == device)
			exposed_ns += (double)evaluation->tables->transfers[i].exposed_ns;
	return exposed_ns / (double)evaluation->working_ns;
}

// Whether the ledgers of all parts that could be predicted are known, and have so little of
// transfers that are not hidden that nothing would be raised.
static bool hides_enough(const struct ledger_working *working)
{
	for (size_t i = 0; i < working->span_count; i++) {
		struct tare_run_span span = working->spans[i];
		const struct tare_ledger *ledger = ledger_working_span(working, span);
		if (!ledger || span.from_ns >= span.to_ns)
			return false;
		int64_t exposed_ns = ledger->parts_ns[TARE_LEDGER_TO_DEVICE] +
		                     ledger->parts_ns[TARE_LEDGER_FROM_DEVICE] +
		                     ledger->parts_ns[TARE_LEDGER_BOTH_WAYS];
		if ((double)exposed_ns >= LEAST_GAIN * (double)(span.to_ns - span.from_ns))
			return false;
	}
	return working->span_count > 0;
}

int finding_overlap(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	int code = 0;
	if (evaluation->working && hides_enough(evaluation->working))
		return 0;
	for (uint32_t i = 0; i < recording->device_count && !code; i++) {
		struct tare_overlap_gain gain;
		if (recording->devices[i].same_as != i ||
		    !tare_view_has_device(recording, evaluation->view, i))
			continue;
		code = tare_whatif_overlap_by(recording, evaluation->view, i, evaluation->working,
		                              &gain, error);
		if (code == 0)
			code = evaluate_gain(evaluation, &gain);
		else if (code == -ENODATA)
			code = exposed_share(evaluation, i) < EXPOSED_SHARE
			           ? 0
			           : finding_unjudged(evaluation,
			                              "what overlapping copies with kernels "
			                              "would gain: %s",
			                              gain.why_not);
	}
	return code;
}
