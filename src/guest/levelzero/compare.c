// SPDX-License-Identifier: Apache-2.0
// Which copies' bytes are hashed when (--contents): those of immediate lists. What is appended to a
// list that is executed later, and again, carries then what it carries then: it is not followed.
#include "guest/levelzero/ze.h"

#include "guest/contents.h"

static bool is_between(const struct tare_trace_command *command)
{
	return command->kind == TARE_KIND_WRITE || command->kind == TARE_KIND_READ;
}

uint64_t ze_part_of(const struct tare_trace_command *command, const struct ze_what *what)
{
	const void *device = command->kind == TARE_KIND_WRITE ? what->to : what->from;
	return is_between(command) && device != NULL && what->region == NULL
	           ? (uintptr_t)device - command->object
	           : 0;
}

void ze_write_part(struct guest_thread *thread, uint32_t number, uint64_t offset)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->transfer = (struct tare_trace_transfer){ .number = number, .offset = offset };
	guest_commit(record, tare_trace_head(TARE_TRACE_TRANSFER, 0, 0, thread->track));
}

void ze_compare(struct guest_thread *thread, const struct tare_trace_command *command,
                const struct ze_what *what, unsigned flags)
{
	struct guest_contents_of of = { .track = thread->track, .number = command->number };
	const void *host = (const void *)(uintptr_t)command->object2;
	struct guest_contents contents;
	bool row = what->region == NULL && what->image == NULL && what->source == NULL;
	if (!is_between(command))
		return;
	if (!row) {
		contents = guest_contents_none(TARE_CONTENTS_NO_ROW, command->amount);
	} else if (command->kind == TARE_KIND_WRITE || flags & TARE_COMMAND_BLOCKING) {
		contents = guest_contents_take(thread, host, command->amount);
	} else {
		of.flags = TARE_CONTENTS_LATE;
		if (!(flags & TARE_COMMAND_NO_TIMES) &&
		    guest_contents_later(&of, host, command->amount))
			return;
		of.flags = 0;
		contents = guest_contents_none(TARE_CONTENTS_UNSEEN, command->amount);
	}
	guest_contents_write(thread, &of, &contents);
}

bool ze_may_settle(const struct guest_thread *thread, uint32_t track, uint32_t number)
{
	const struct ze_thread *mine = ze_of(thread);
	return !guest_compares() || (mine != NULL && mine->stands_by) ||
	       !guest_contents_waits(track, number);
}

void ze_compare_come(struct guest_thread *thread, uint32_t track, uint32_t number)
{
	const struct ze_thread *mine = ze_of(thread);
	if (guest_compares())
		guest_contents_come(thread, track, number, mine != NULL && mine->stands_by);
}
