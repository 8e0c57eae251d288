// SPDX-License-Identifier: Apache-2.0
// What a ledger is about: its commands, waits, threads and device.
#include "analysis/ledger/internal.h"
#include "analysis/ledger/ledger.h"

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
