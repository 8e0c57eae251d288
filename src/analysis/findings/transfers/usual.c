// SPDX-License-Identifier: Apache-2.0
// What of idle gaps is more than is usual there: others may have kept the host from its work once,
// and nothing that a program changes saves that again.
#include "analysis/findings/transfers/internal.h"

#include "base/cleanup.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Gaps before commands of one effect are alike; so many times their median is usual.
#define USUAL_TIMES 2

static bool is_before(const struct evaluation *evaluation, const struct ledger_working_gap *gap,
                      int64_t from_ns, int64_t to_ns, enum tare_effect effect)
{
	const struct tare_recording *recording = evaluation->recording;
	return gap->from_ns >= from_ns && gap->to_ns <= to_ns &&
	       gap->command < recording->command_count &&
	       tare_command_effect(TARE_COMMAND(recording, gap->command)) == effect;
}

// Beyond what is usual before commands of one effect.
static double beyond_ns(const struct evaluation *evaluation, int64_t from_ns, int64_t to_ns,
                        enum tare_effect effect, int64_t *lengths_ns)
{
	double sum_ns = 0;
	size_t count = 0;
	for (size_t i = 0; i < evaluation->gap_count; i++) {
		const struct ledger_working_gap *gap = FINDING_GAP(evaluation, i);
		if (is_before(evaluation, gap, from_ns, to_ns, effect))
			lengths_ns[count++] = gap->to_ns - gap->from_ns;
	}
	if (count == 0)
		return 0;
	double usual_ns = USUAL_TIMES * tare_select_quantile(lengths_ns, count, 0.5);
	for (size_t i = 0; i < count; i++)
		sum_ns += fmax(0, (double)lengths_ns[i] - usual_ns);
	return sum_ns;
}

int finding_unusual_idle_ns(const struct evaluation *evaluation, int64_t from_ns, int64_t to_ns,
                            double *ns)
{
	TARE_FREE int64_t *lengths_ns = calloc(evaluation->gap_count + 1, sizeof *lengths_ns);
	*ns = 0;
	if (!lengths_ns)
		return -ENOMEM;
	for (enum tare_effect effect = TARE_EFFECT_NONE; effect < TARE_EFFECTS; effect++)
		*ns += beyond_ns(evaluation, from_ns, to_ns, effect, lengths_ns);
	return 0;
}
