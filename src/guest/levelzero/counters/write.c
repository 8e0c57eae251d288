// SPDX-License-Identifier: Apache-2.0
// The records of counting: docs/trace-format.md.
#include "guest/levelzero/counters/counters.h"

#include <string.h>

void count_write(struct guest_thread *thread, enum tare_trace_counting_what what,
                 const struct tare_trace_counting *said)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->counting = *said;
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_COUNTING, 0, (uint16_t)what, thread->track));
}

static uint32_t text_of(const char *text)
{
	return text != NULL ? guest_text(text, strlen(text)) : 0;
}

void count_write_prepared(struct guest_thread *thread, const struct count_session *session)
{
	uint64_t told = 0;
	for (uint32_t i = 0; i < session->group_count; i++)
		told |= session->groups[i].tells;
	count_write(thread, TARE_COUNTING_PREPARED,
	            &(struct tare_trace_counting){ .object = (uintptr_t)session->context,
	                                           .from = session->from,
	                                           .to = session->to,
	                                           .code = (uint32_t)session->result,
	                                           .group = session->group_count,
	                                           .text = text_of(session->where) });
	for (uint32_t counter = 1; session->result == ZE_RESULT_SUCCESS && counter < 64; counter++)
		if ((count_tells(UINT32_MAX) & ~told) >> counter & 1)
			count_write(thread, TARE_COUNTING_ABSENT,
			            &(struct tare_trace_counting){
			                .from = session->to, .to = session->to, .code = counter });
}

void count_write_left(struct guest_thread *thread, struct counters_kernel *kernel,
                      enum tare_trace_counting_left why, const void *object)
{
	uint64_t ticks = guest_ticks();
	if (kernel != NULL && (atomic_fetch_or(&kernel->told_left, 1u << why) >> why & 1) != 0)
		return;
	count_write(thread, TARE_COUNTING_LEFT,
	            &(struct tare_trace_counting){
	                .object = (uintptr_t)object, .from = ticks, .to = ticks, .code = why });
}

void count_write_figures(struct guest_thread *thread, const struct tare_trace_counted *of,
                         uint32_t group, const struct count_figure *figures, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += 4) {
		union tare_trace_record *record = guest_event(thread);
		if (record == NULL)
			return;
		record->counted = *of;
		for (uint32_t k = 0; k < 4 && i + k < count; k++) {
			record->counted.counter[k] = figures[i + k].counter;
			record->counted.value[k] = figures[i + k].value;
		}
		guest_commit(
		    record, tare_trace_head(TARE_TRACE_COUNTED, 0, (uint16_t)group, thread->track));
	}
}
