// SPDX-License-Identifier: Apache-2.0
// Idle time that nothing recorded can explain: what the program did was not recorded, or commands
// without times may have been running.
#include "analysis/ledger/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

// Whether commands to a device of the scope may be missing because of a loss. Of the recorder's own
// thread only times are lost; a process without a sign of life has made no call.
static bool may_hide_commands(const struct ledger_scope *scope,
                              const struct tare_recorded_loss *loss)
{
	const struct tare_recording *recording = scope->recording;
	if (loss->process >= recording->process_count ||
	    !tare_view_has_process(scope->view, loss->process) ||
	    (scope->processes && !scope->processes[loss->process]))
		return false;
	if (loss->thread < recording->thread_count && recording->threads[loss->thread].helper)
		return false;
	return loss->why != TARE_LOSS_NO_SIGN;
}

static int find_lost(const struct ledger_scope *scope, struct tare_run_span **spans, size_t *count)
{
	const struct tare_recording *recording = scope->recording;
	struct tare_run_span *found = calloc(recording->loss_count + 1, sizeof *found);
	size_t n = 0;
	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < recording->loss_count; i++) {
		const struct tare_recorded_loss *loss = &recording->losses[i];
		if (may_hide_commands(scope, loss))
			found[n++] = (struct tare_run_span){ loss->from_ns, loss->to_ns };
	}
	*count = tare_spans_unite(found, n);
	*spans = found;
	return 0;
}

static int compare_overrides(const void *a, const void *b)
{
	const struct ledger_override *x = a, *y = b;
	return (x->span.from_ns > y->span.from_ns) - (x->span.from_ns < y->span.from_ns);
}

int ledger_overrides(const struct ledger_scope *scope, struct ledger_override **overrides,
                     size_t *count)
{
	TARE_FREE struct tare_run_span *untimed = NULL, *lost = NULL;
	size_t untimed_count, lost_count, at = 0, n = 0;
	int rc = ledger_untimed(scope, &untimed, &untimed_count);
	if (!rc)
		rc = find_lost(scope, &lost, &lost_count);
	if (rc)
		return rc;
	// A lost span may cut another one in two.
	struct ledger_override *all = calloc(untimed_count + 2 * lost_count + 1, sizeof *all);
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < untimed_count; i++) {
		struct tare_run_span left = untimed[i];
		while (at < lost_count && lost[at].to_ns <= left.from_ns)
			at++;
		for (size_t k = at; k < lost_count && lost[k].from_ns < left.to_ns; k++) {
			if (left.from_ns < lost[k].from_ns)
				all[n++] = (struct ledger_override){
					{ left.from_ns, lost[k].from_ns },
					TARE_LEDGER_UNTIMED,
				};
			left.from_ns = lost[k].to_ns;
		}
		if (left.from_ns < left.to_ns)
			all[n++] = (struct ledger_override){ left, TARE_LEDGER_UNTIMED };
	}
	for (size_t i = 0; i < lost_count; i++)
		all[n++] = (struct ledger_override){ lost[i], TARE_LEDGER_NOT_RECORDED };
	qsort(all, n, sizeof *all, compare_overrides);
	*overrides = all;
	*count = n;
	return 0;
}
