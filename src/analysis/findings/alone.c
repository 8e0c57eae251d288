// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings/alone.h"

#include <stdlib.h>

int finding_alone_open(const struct evaluation *evaluation, const bool *left_out,
                       struct finding_alone *alone)
{
	*alone = (struct finding_alone){ .spans = calloc(evaluation->order_count + 1,
		                                         sizeof *alone->spans) };
	if (!alone->spans)
		return -ENOMEM;
	for (size_t i = 0; i < evaluation->order_count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
		if (!left_out[evaluation->order[i]] && command->start_ns < command->end_ns)
			alone->spans[alone->count++] =
			    (struct tare_run_span){ command->start_ns, command->end_ns };
	}
	alone->count = tare_spans_unite(alone->spans, alone->count);
	return 0;
}

void finding_alone_close(struct finding_alone *alone)
{
	free(alone->spans);
}

int64_t finding_alone_ns(const struct finding_alone *alone,
                         const struct tare_recorded_command *command)
{
	size_t low = 0, high = alone->count;
	int64_t ns = command->end_ns - command->start_ns;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (alone->spans[middle].to_ns <= command->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < alone->count && alone->spans[low].from_ns < command->end_ns; low++) {
		const struct tare_run_span *span = &alone->spans[low];
		int64_t from_ns =
		    span->from_ns > command->start_ns ? span->from_ns : command->start_ns;
		int64_t to_ns = span->to_ns < command->end_ns ? span->to_ns : command->end_ns;
		ns -= to_ns - from_ns;
	}
	return ns;
}
