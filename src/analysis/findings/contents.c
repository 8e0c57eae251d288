// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings/contents.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

const struct tare_recorded_place *finding_place_of(const struct tare_recording *recording,
                                                   uint32_t command)
{
	size_t low = 0, high = recording->place_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (recording->places[middle].command < command)
			low = middle + 1;
		else
			high = middle;
	}
	return low < recording->place_count && recording->places[low].command == command
	           ? &recording->places[low]
	           : NULL;
}

bool finding_was_compared(const struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->recording->process_count; i++)
		if (evaluation->recording->processes[i].flags & TARE_TRACE_COMPARED)
			return true;
	return false;
}

int finding_say_not_compared(struct evaluation *evaluation)
{
	static const char *const why[] = {
		[0] = "not followed",
		[TARE_CONTENTS_SKIPPED] = "hashing had taken its share of the run",
		[TARE_CONTENTS_UNREADABLE] = "memory that could not be read",
		[TARE_CONTENTS_UNSEEN] = "their memory may have changed before the recorder saw "
		                         "that they were read, or is "
		                         "filled by a copy that is not complete",
		[TARE_CONTENTS_NO_ROW] = "rectangles and images",
	};
	enum { REASONS = sizeof why / sizeof *why };
	const struct tare_recording *recording = evaluation->recording;
	uint64_t counts[REASONS] = { 0 }, copies = 0, none = 0;
	char text[500] = "";
	size_t used = 0;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(recording, evaluation->order[i]);
		if (!finding_is_copy(evaluation, command))
			continue;
		const struct tare_recorded_place *place =
		    finding_place_of(recording, evaluation->order[i]);
		uint8_t contents = place ? place->contents : 0;
		copies++;
		if (contents == TARE_CONTENTS_WHOLE || contents == TARE_CONTENTS_SAMPLED)
			continue;
		counts[contents < REASONS ? contents : 0]++;
		none++;
	}
	for (size_t i = 0; i < REASONS && used < sizeof text; i++)
		if (counts[i] > 0)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %llu",
			                         used ? "; " : "", why[i],
			                         (unsigned long long)counts[i]);
	if (none == 0)
		return 0;
	return finding_unjudged(
	    evaluation,
	    "whether %llu of %llu copies move the same bytes again: their contents were "
	    "not compared (%s)",
	    (unsigned long long)none, (unsigned long long)copies, text);
}

// Takes so much out of a part of a gap, or all of it. Returns how much.
static float take_part(struct evaluation *evaluation, const struct ledger_working_gap *gap,
                       enum tare_ledger_category category, float most_ns)
{
	uint32_t bit = UINT32_C(1) << category;
	if (!(gap->has & bit))
		return 0 < most_ns ? 0 : most_ns;
	float *part = ledger_gap_part(&evaluation->working->gaps, gap, category);
	float taken = *part < most_ns ? *part : most_ns;
	*part -= taken;
	return taken;
}

int finding_leave_out_hashing(struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	TARE_FREE struct tare_run_span *spans = calloc(recording->place_count + 1, sizeof *spans);
	size_t count = 0, first = 0;
	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < recording->place_count; i++)
		if (recording->places[i].from_ns < recording->places[i].to_ns)
			spans[count++] = (struct tare_run_span){ recording->places[i].from_ns,
				                                 recording->places[i].to_ns };
	count = tare_spans_unite(spans, count);
	for (size_t i = 0; count && i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		float hashing = 0;
		while (first < count && spans[first].to_ns <= gap->from_ns)
			first++;
		for (size_t k = first; k < count && spans[k].from_ns < gap->to_ns; k++) {
			int64_t from_ns =
			    spans[k].from_ns > gap->from_ns ? spans[k].from_ns : gap->from_ns;
			int64_t to_ns = spans[k].to_ns < gap->to_ns ? spans[k].to_ns : gap->to_ns;
			hashing += (float)(to_ns - from_ns);
		}
		float computing = take_part(evaluation, gap, TARE_LEDGER_COMPUTING, hashing);
		float off = take_part(evaluation, gap, TARE_LEDGER_OFF_CPU, hashing - computing);
		evaluation->steady_ns -= (int64_t)(computing + off);
	}
	return 0;
}
