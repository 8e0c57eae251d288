// SPDX-License-Identifier: Apache-2.0
// What a ledger is about: its commands, waits, threads and device.
#include "analysis/ledger/internal.h"
#include "analysis/ledger/ledger.h"

uint32_t ledger_queue_device(const struct tare_recording *recording, uint32_t queue)
{
	if (queue >= recording->queue_count)
		return TARE_NO_INDEX;
	uint32_t device = recording->queues[queue].device;
	return device < recording->device_count ? recording->devices[device].same_as
	                                        : TARE_NO_INDEX;
}

bool ledger_has_device(const struct ledger_scope *scope, uint32_t device)
{
	if (scope->view->device != TARE_NO_INDEX && device != scope->view->device)
		return false;
	return scope->device == TARE_NO_INDEX || device == scope->device;
}

static bool view_has_thread(const struct ledger_scope *scope, uint32_t thread)
{
	const struct tare_recording *recording = scope->recording;
	return thread < recording->thread_count &&
	       recording->threads[thread].process < recording->process_count &&
	       (scope->view->process == TARE_NO_INDEX ||
	        recording->threads[thread].process == scope->view->process);
}

bool ledger_has_thread(const struct ledger_scope *scope, uint32_t thread)
{
	return view_has_thread(scope, thread) &&
	       (!scope->processes || scope->processes[scope->recording->threads[thread].process]);
}

bool ledger_has_command(const struct ledger_scope *scope,
                        const struct tare_recorded_command *command)
{
	return view_has_thread(scope, command->thread) &&
	       ledger_has_device(scope, ledger_queue_device(scope->recording, command->queue));
}

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

int64_t ledger_residual_ns(const struct tare_recording *recording,
                           const struct tare_recorded_command *command)
{
	if (command->queue >= recording->queue_count ||
	    recording->queues[command->queue].device >= recording->device_count)
		return 0;
	int64_t residual_ns =
	    recording->devices[recording->queues[command->queue].device].residual_ns;
	return residual_ns > 0 ? residual_ns : 0;
}
