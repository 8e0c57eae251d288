// SPDX-License-Identifier: Apache-2.0
// What a ledger is about: its commands, waits, threads and device.
#include "analysis/ledger/internal.h"
#include "analysis/ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ledger_has_wait(const struct ledger_scope *scope, const struct tare_recorded_call *call)
{
	const struct tare_recording *recording = scope->recording;
	uint32_t device = TARE_NO_INDEX;
	if ((call->role != TARE_ROLE_WAIT && call->role != TARE_ROLE_POLL) ||
	    !ledger_has_thread(scope, call->thread))
		return false;
	if (call->device < recording->device_count)
		device = recording->devices[call->device].same_as;
	else if (call->role == TARE_ROLE_WAIT)
		device = ledger_queue_device(recording, call->object);
	return device == TARE_NO_INDEX || ledger_has_device(scope, device);
}

int ledger_mark_view(const struct tare_view *view, struct ledger_mark **marks, size_t *mark_count)
{
	struct tare_run_span all = { view->from_ns, view->to_ns };
	size_t count = view->spans ? view->span_count : 1;
	struct tare_run_span *spans = calloc(count + 1, sizeof *spans);
	struct ledger_mark *made = calloc(2 * count + 1, sizeof *made);
	if (!spans || !made) {
		free(spans);
		free(made);
		return -ENOMEM;
	}
	memcpy(spans, view->spans ? view->spans : &all, count * sizeof *spans);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].from_ns < view->from_ns)
			spans[i].from_ns = view->from_ns;
		if (spans[i].to_ns > view->to_ns)
			spans[i].to_ns = view->to_ns;
	}
	// Those that touch are one: a gap goes on from one to the other.
	count = tare_spans_unite(spans, count);
	for (size_t i = 0; i < count; i++) {
		made[2 * i] = (struct ledger_mark){ spans[i].from_ns, 0, true };
		made[2 * i + 1] = (struct ledger_mark){ spans[i].to_ns, 0, false };
	}
	*marks = made;
	*mark_count = 2 * count;
	free(spans);
	return 0;
}
