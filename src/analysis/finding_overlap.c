// SPDX-License-Identifier: Apache-2.0
// Copies and kernels that could run beside each other and do not, by what keeps them apart.
#include "analysis/findings_transfers.h"

#include "analysis/whatif.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_GAIN 0.05  // of the chunks' time
#define EXPOSED_SHARE 0.25 // of the working part: then it is said why nothing was predicted

// How the commands of the chunks were issued.
struct issue {
	uint64_t queues, copies, blocking, waits;
	bool free_order; // commands of a queue may overlap
};

static bool in_chunks(const struct judging *judging, const struct tare_overlap_gain *gain,
                      const struct tare_recorded_command *command)
{
	return tare_command_device(judging->recording, command) == gain->device &&
	       command->start_ns >= gain->from_ns && command->end_ns <= gain->to_ns;
}

// Waits that end before the last enqueue of the chunks; a row of polls is one.
static uint64_t waits_between(const struct judging *judging, int64_t from_ns, int64_t to_ns)
{
	const struct tare_recording *recording = judging->recording;
	uint64_t count = 0;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		count += call->role == TARE_ROLE_WAIT && !(call->flags & TARE_CALL_NESTED) &&
		         call->enter_ns >= from_ns && call->exit_ns <= to_ns &&
		         tables_has_call(&judging->context, call);
	}
	return count;
}

static int look(const struct judging *judging, const struct tare_overlap_gain *gain,
                struct issue *issue)
{
	const struct tare_recording *recording = judging->recording;
	TARE_FREE bool *queues = calloc(recording->queue_count + 1, sizeof *queues);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	*issue = (struct issue){ 0 };
	if (!queues)
		return -ENOMEM;
	for (size_t i = 0; i < judging->order_count; i++) {
		const struct tare_recorded_command *c = &recording->commands[judging->order[i]];
		if (!in_chunks(judging, gain, c) || tare_command_effect(c) == TARE_EFFECT_NONE)
			continue;
		issue->queues += !queues[c->queue];
		queues[c->queue] = true;
		issue->free_order |= recording->queues[c->queue].out_of_order &&
		                     !recording->queues[c->queue].one_engine;
		issue->copies += tables_is_transfer(c);
		issue->blocking += tables_is_transfer(c) && (c->flags & TARE_COMMAND_BLOCKING);
		first_ns = c->enter_ns < first_ns ? c->enter_ns : first_ns;
		last_ns = c->enter_ns > last_ns ? c->enter_ns : last_ns;
	}
	issue->waits = waits_between(judging, first_ns, last_ns);
	return 0;
}

// What keeps the chunks apart; NULL: nothing in how they are issued.
static const char *id_of(const struct issue *issue, uint64_t chunks)
{
	bool waits = 2 * issue->waits >= chunks, blocks = 2 * issue->blocking >= chunks;
	if (waits || (blocks && issue->queues == 1))
		return "overlap-missed";
	if (blocks)
		return "blocking-call";
	return issue->queues == 1 && !issue->free_order ? "single-queue" : NULL;
}

// The chunks' time without their kernels, which the prediction does not shorten.
static void claim(const struct judging *judging, const struct tare_overlap_gain *gain,
                  struct finding_draft *draft)
{
	const struct tare_recording *recording = judging->recording;
	int64_t reach_ns = gain->from_ns;
	for (size_t i = 0; i < judging->order_count; i++) {
		uint32_t at = judging->order[i];
		const struct tare_recorded_command *c = &recording->commands[at];
		if (!in_chunks(judging, gain, c))
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
		return "; this device copies with the host's own cores or memory, so at worst only the "
		       "waits are saved";
	return gain->copies == TARE_TOGETHER_SEEN  ? "; the recording shows both copy directions at once"
	       : gain->copies == TARE_TOGETHER_APART ? "; the recording shows one copy direction at a time"
	                                             : "; from two copy engines at full rate to one";
}

static void describe(const struct judging *judging, const struct tare_overlap_gain *gain,
                     const struct issue *issue, struct finding_draft *draft)
{
	const char *id = draft->finding.id;
	char measured[TARE_UNIT_TEXT], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];
	unsigned long long chunks = gain->chunks;
	tare_format_ns((double)gain->measured_ns, measured);
	tare_format_ns(gain->predicted_low_ns, low);
	tare_format_ns(gain->predicted_high_ns, high);
	if (id[0] == 's')
		finding_title(draft, "Copies could overlap with kernels and do not: all %llu chunks are in %s",
		              chunks, finding_word(judging, FINDING_WORD_ONE_QUEUE));
	else if (id[0] == 'b')
		finding_title(draft, "%llu of %llu copies block, so that the %llu %s take turns",
		              (unsigned long long)issue->blocking,
		              (unsigned long long)issue->copies,
		              (unsigned long long)issue->queues,
		              finding_word(judging, FINDING_WORD_QUEUE_NOUN));
	else
		finding_title(draft, "Copies could overlap with kernels and do not: the host waits for each "
		                     "of %llu chunks", chunks);
	finding_evidence(draft,
	                 "%llu chunks took %s, %.0f %% of it transfers not hidden; predicted %s to %s%s; "
	                 "%s then set the pace",
	                 chunks, measured,
	                 100 * (double)gain->exposed_ns / (double)gain->measured_ns, low, high,
	                 why_range(gain), gain->limit);
	if (id[0] == 's')
		finding_advice(draft, "Put the chunks in turn into %s, with pinned memory; if "
		                      "chunks need each other's results, this gains nothing",
		               finding_word(judging, FINDING_WORD_QUEUES));
	else if (id[0] == 'b')
		finding_advice(draft, "%s and wait once at the end, with pinned "
		                      "memory; if chunks need each other's results, this gains nothing",
		               finding_word(judging, FINDING_WORD_NOT_BLOCK));
	else
		finding_advice(draft, "Enqueue the next chunk before waiting for this one: %s, pinned memory, "
		                      "copies that do not block; if chunks need each other's results, "
		                      "this gains nothing; `tare overlap` shows what this device can do",
		               issue->queues == 1 ? finding_word(judging, FINDING_WORD_QUEUES) : "no wait between chunks");
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

static int judge_gain(struct judging *judging, const struct tare_overlap_gain *gain)
{
	struct finding_draft draft;
	struct issue issue;
	double measured_ns = (double)gain->measured_ns, saved_ns = measured_ns - gain->predicted_ns;
	if (gain->beside == TARE_TOGETHER_APART || saved_ns < LEAST_GAIN * measured_ns)
		return 0;
	int code = look(judging, gain, &issue);
	const char *id = code ? NULL : id_of(&issue, gain->chunks);
	if (!id || !finding_matters(judging, gain->device, saved_ns, 2, 3 * gain->chunks,
	                            issue.waits, FINDING_SHARE))
		return code;
	finding_begin(judging, &draft, id);
	describe(judging, gain, &issue, &draft);
	add_figures(gain, &draft);
	claim(judging, gain, &draft);
	finding_cost(&draft, measured_ns - gain->predicted_high_ns, saved_ns,
	             measured_ns - gain->predicted_low_ns);
	draft.finding.modelled = true;
	draft.finding.device = gain->device;
	return finding_raise(&draft);
}

static double exposed_share(const struct judging *judging, uint32_t device)
{
	double exposed_ns = 0;
	for (size_t i = 0; i < judging->tables->transfer_count; i++)
		if (judging->tables->transfers[i].device == device)
			exposed_ns += (double)judging->tables->transfers[i].exposed_ns;
	return exposed_ns / (double)judging->working_ns;
}

int finding_overlap(struct judging *judging, struct tare_error *error)
{
	const struct tare_recording *recording = judging->recording;
	int code = 0;
	for (uint32_t i = 0; i < recording->device_count && !code; i++) {
		struct tare_overlap_gain gain;
		if (recording->devices[i].same_as != i ||
		    !tare_view_has_device(recording, judging->view, i))
			continue;
		code = tare_whatif_overlap(recording, judging->view, i, &gain, error);
		if (code == 0)
			code = judge_gain(judging, &gain);
		else if (code == -ENODATA)
			code = exposed_share(judging, i) < EXPOSED_SHARE
			           ? 0
			           : finding_unjudged(judging, "what overlapping copies with kernels "
			                                       "would gain: %s", gain.why_not);
	}
	return code;
}
