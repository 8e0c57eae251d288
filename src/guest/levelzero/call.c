// SPDX-License-Identifier: Apache-2.0
// The records of calls that are no commands.
#include "guest/levelzero/ze.h"

uint64_t ze_begin_ticks_slow(struct guest_thread *thread, uint64_t enter)
{
	guest_cpu_time_slow(thread, enter);
	return guest_ticks();
}

uint64_t ze_call_begin(struct guest_thread *thread, uint32_t function, bool waits)
{
	if (!waits)
		return guest_ticks();
	uint64_t enter = ze_begin_ticks(thread);
	guest_waiting(thread, ze_detail(function), enter);
	return enter;
}

// Whether it matters from where a call is made: there are many that only let go of something.
static bool has_site(uint32_t function)
{
	enum tare_trace_role role = ze_rows[function].role;
	return role == TARE_ROLE_WAIT || role == TARE_ROLE_BUILD || role == TARE_ROLE_ALLOCATE;
}

void ze_call_end(struct guest_thread *thread, uint32_t function, uint64_t enter, bool waits,
                 const struct ze_said *said)
{
	uint64_t exit = guest_ticks();
	ze_of(thread)->shared.defining_ticks = thread->left_ticks = exit;
	if (waits)
		guest_waiting(thread, 0, 0);
	ze_know_function(thread, function);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->call = (struct tare_trace_call){ .enter = enter,
		                                 .exit = exit,
		                                 .result = (int64_t)said->status,
		                                 .object = said->object,
		                                 .bytes = said->bytes };
	uint8_t flags = 0;
	flags |= said->status != ZE_RESULT_SUCCESS ? TARE_CALL_FAILED : 0;
	flags |= said->released && said->status == ZE_RESULT_SUCCESS ? TARE_CALL_RELEASED : 0;
	flags |= thread->depth > 1 ? TARE_CALL_NESTED : 0;
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_CALL, flags, ze_detail(function), thread->track));
	if (ZE_UNLIKELY(guest_stacks) && has_site(function))
		guest_site(thread, TARE_SITE_OF_CALL, enter, guest_stack());
	guest_cpu_time(thread, enter, exit);
}

// The first call of a row that only asks, or one that failed.
static void asked_first(struct guest_thread *thread, uint32_t function, uint64_t enter,
                        uint64_t exit, ze_result_t status, uint64_t object, bool poll)
{
	ze_know_function(thread, function);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	uint8_t nested = thread->depth > 1 ? TARE_CALL_NESTED : 0;
	if (status != ZE_RESULT_SUCCESS && !poll) {
		record->call = (struct tare_trace_call){
			.enter = enter, .exit = exit, .result = (int64_t)status, .object = object
		};
		guest_commit(record, tare_trace_head(TARE_TRACE_CALL, TARE_CALL_FAILED | nested,
		                                     ze_detail(function), thread->track));
		return;
	}
	record->polled = (struct tare_trace_polled){ .first_enter = enter,
		                                     .last_exit = exit,
		                                     .count = 1,
		                                     .ticks = exit - enter,
		                                     .object = object,
		                                     .failed = status != ZE_RESULT_SUCCESS &&
		                                               status != ZE_RESULT_NOT_READY };
	guest_commit(
	    record, tare_trace_head(TARE_TRACE_POLLED, nested, ze_detail(function), thread->track));
	thread->polled = record;
}

// Calls of one function in a row are one record.
void ze_asked(struct guest_thread *thread, uint32_t function, uint64_t enter, ze_result_t status,
              uint64_t object, bool poll)
{
	uint64_t exit = guest_ticks();
	union tare_trace_record *last = thread->polled;
	thread->left_ticks = exit;
	if (last != NULL && tare_trace_detail(last->head) == ze_detail(function) &&
	    (poll || status == ZE_RESULT_SUCCESS)) {
		struct tare_trace_polled *polled = &last->polled;
		polled->failed += status != ZE_RESULT_SUCCESS && status != ZE_RESULT_NOT_READY;
		polled->ticks += exit - enter;
		polled->last_exit = exit;
		__atomic_store_n(&polled->count, polled->count + 1, __ATOMIC_RELEASE);
		return;
	}
	asked_first(thread, function, enter, exit, status, object, poll);
}
