// SPDX-License-Identifier: Apache-2.0
// Which copies' bytes are hashed (--contents): what is written, and what is read by a copy that
// blocks. When others are complete is told by CUPTI, some time later.
#include "guest/cuda/cuda.h"

#include "guest/contents.h"

void cuda_write_part(struct guest_thread *thread, uint32_t number, uint64_t offset)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->transfer = (struct tare_trace_transfer){ .number = number, .offset = offset };
	guest_commit(record, tare_trace_head(TARE_TRACE_TRANSFER, 0, 0, thread->track));
}

void cuda_compare(struct guest_thread *thread, uint32_t number, const struct cuda_copied *copied)
{
	const struct guest_contents_of of = { .track = thread->track, .number = number };
	bool seen = copied->to_device || copied->waits;
	struct guest_contents contents;
	if (!copied->row || !seen)
		contents = guest_contents_none(
		    copied->row ? TARE_CONTENTS_UNSEEN : TARE_CONTENTS_NO_ROW, copied->bytes);
	else
		contents = guest_contents_take(thread, copied->host, copied->bytes);
	guest_contents_write(thread, &of, &contents);
}
