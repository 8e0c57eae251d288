// SPDX-License-Identifier: Apache-2.0
// What a call that waits for the device can cost at most: while it waits the device works.
#include "analysis/findings/transfers/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

static bool is_stall(const struct evaluation *evaluation, const struct tare_recorded_call *call,
                     uint8_t role)
{
	const struct tare_recording *recording = evaluation->recording;
	return call->role == role && !(call->flags & (TARE_CALL_NESTED | TARE_CALL_FAILED)) &&
	       call->function < recording->function_count &&
	       recording->functions[call->function].api == TARE_TRACE_CUDA &&
	       evaluation_has_call(evaluation, call);
}

// Kernels (and what else keeps them company), copies in, copies out.
static int kind_of(const struct tare_recorded_command *command)
{
	enum tare_effect effect = tare_command_effect(command);
	return effect == TARE_EFFECT_TO_DEVICE ? 1 : effect == TARE_EFFECT_FROM_DEVICE ? 2 : 0;
}

// Work of one kind (-1: any), what ran at once counted once; *mean_ns: of a command, 0 without any.
static double work_ns(const struct evaluation *evaluation, int kind, struct tables_span *spans,
                      double *mean_ns)
{
	const struct tare_recording *recording = evaluation->recording;
	size_t count = 0;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *c =
		    TARE_COMMAND(recording, evaluation->order[i]);
		if (tare_command_effect(c) != TARE_EFFECT_NONE && (kind < 0 || kind_of(c) == kind))
			spans[count++] = (struct tables_span){ c->start_ns, c->end_ns };
	}
	double sum_ns = (double)tables_union(spans, count);
	*mean_ns = count ? sum_ns / (double)count : 0;
	return sum_ns;
}

// The longest kind, and one command of each other, with which a pipeline begins and ends.
static double least_of_kinds(const struct evaluation *evaluation, struct tables_span *spans)
{
	double longest_ns = 0, means_ns = 0, mean_of_longest_ns = 0;
	for (int kind = 0; kind < 3; kind++) {
		double mean_ns, sum_ns = work_ns(evaluation, kind, spans, &mean_ns);
		means_ns += mean_ns;
		if (sum_ns <= longest_ns)
			continue;
		longest_ns = sum_ns;
		mean_of_longest_ns = mean_ns;
	}
	return longest_ns + means_ns - mean_of_longest_ns;
}

static bool has_several_queues(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	for (size_t i = 1; i < evaluation->order_count; i++)
		if (TARE_COMMAND(recording, evaluation->order[i])->queue !=
		    TARE_COMMAND(recording, evaluation->order[0])->queue)
			return true;
	return false;
}

int finding_stall_most_ns(const struct evaluation *evaluation, uint8_t role, double *most_ns)
{
	const struct tare_recording *recording = evaluation->recording;
	bool any = false;
	double mean_ns;
	*most_ns = INFINITY;
	for (size_t i = 0; i < recording->call_count && !any; i++)
		any = is_stall(evaluation, &recording->calls[i], role);
	if (!any || evaluation->order_count == 0 || evaluation->timed < evaluation->commands)
		return 0;
	TARE_FREE struct tables_span *spans = calloc(evaluation->order_count, sizeof *spans);
	if (!spans)
		return -ENOMEM;
	double least_ns = has_several_queues(evaluation) ? least_of_kinds(evaluation, spans)
	                                                 : work_ns(evaluation, -1, spans, &mean_ns);
	*most_ns = fmax(0, (double)evaluation->working_ns - least_ns);
	return 0;
}
