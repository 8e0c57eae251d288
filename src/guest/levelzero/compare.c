// SPDX-License-Identifier: Apache-2.0
// Which copies' bytes are hashed when (--contents). What is appended to a list that is executed
// later, and again, carries then what it carries then: its bytes are hashed at each execution.
#include "guest/levelzero/ze.h"

#include "guest/contents.h"

#include <string.h>

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

static bool is_row(const struct ze_what *what)
{
	return what->region == NULL && what->image == NULL && what->source == NULL;
}

void ze_compare(struct guest_thread *thread, const struct tare_trace_command *command,
                const struct ze_what *what, unsigned flags)
{
	struct guest_contents_of of = { .track = thread->track, .number = command->number };
	const void *host = (const void *)(uintptr_t)command->object2;
	struct guest_contents contents;
	if (!is_between(command))
		return;
	if (!is_row(what)) {
		contents = guest_contents_none(TARE_CONTENTS_NO_ROW, command->amount);
	} else if (command->kind == TARE_KIND_WRITE &&
	           guest_contents_changes(host, command->amount)) {
		contents = guest_contents_none(TARE_CONTENTS_UNSEEN, command->amount);
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
	return !guest_compares() || (mine != NULL && (mine->stands_by || mine->ends)) ||
	       !guest_contents_waits(&(struct guest_contents_of){ track, number });
}

static bool stands_by(const struct guest_thread *thread)
{
	const struct ze_thread *mine = ze_of(thread);
	return mine != NULL && mine->stands_by;
}

void ze_compare_come(struct guest_thread *thread, uint32_t track, uint32_t number)
{
	if (guest_compares())
		guest_contents_come(thread, &(struct guest_contents_of){ track, number },
		                    stands_by(thread));
}

// ---- regular lists

enum { FIRST_COPIES = 16 };

struct ze_copy {
	const void *host;
	uint64_t bytes;
	uint32_t track, number;
	bool to_device, row;
	bool later;                     // what the last execution carries is not there yet
	struct guest_contents contents; // else it is this
};

void ze_copy_add(struct guest_thread *thread, struct ze_content *content,
                 const struct tare_trace_command *command, const struct ze_what *what)
{
	if (!is_between(command))
		return;
	if (content->copy_count == content->copy_room) {
		uint32_t room = content->copy_room != 0 ? 2 * content->copy_room : FIRST_COPIES;
		struct ze_copy *copies = guest_memory(room * sizeof *copies);
		// Its copies count as not followed.
		if (copies == NULL)
			return;
		if (content->copy_count != 0)
			memcpy(copies, content->copies, content->copy_count * sizeof *copies);
		content->copies = copies;
		content->copy_room = room;
	}
	content->copies[content->copy_count++] =
	    (struct ze_copy){ .host = (const void *)(uintptr_t)command->object2,
		              .bytes = command->amount,
		              .track = thread->track,
		              .number = command->number,
		              .to_device = command->kind == TARE_KIND_WRITE,
		              .row = is_row(what) };
}

static struct guest_contents_of of_run(const struct ze_copy *copy, uint64_t execution)
{
	return (struct guest_contents_of){ .track = copy->track,
		                           .number = copy->number,
		                           .execution = execution,
		                           .flags = copy->to_device ? 0 : TARE_CONTENTS_LATE };
}

void ze_compare_run(struct guest_thread *thread, const struct ze_content *content,
                    uint64_t execution, bool is_told)
{
	for (uint32_t i = 0; i < content->copy_count; i++) {
		struct ze_copy *copy = &content->copies[i];
		struct guest_contents_of of = of_run(copy, execution);
		copy->later = copy->row && !copy->to_device && is_told &&
		              guest_contents_later(&of, copy->host, copy->bytes);
		if (copy->later)
			continue;
		if (!copy->row)
			copy->contents = guest_contents_none(TARE_CONTENTS_NO_ROW, copy->bytes);
		else if (!copy->to_device || guest_contents_changes(copy->host, copy->bytes))
			copy->contents = guest_contents_none(TARE_CONTENTS_UNSEEN, copy->bytes);
		else
			copy->contents = guest_contents_take(thread, copy->host, copy->bytes);
	}
}

void ze_compare_write(struct guest_thread *thread, const struct ze_content *content,
                      uint64_t execution)
{
	for (uint32_t i = 0; i < content->copy_count; i++) {
		struct guest_contents_of of = of_run(&content->copies[i], execution);
		of.flags = 0;
		if (!content->copies[i].later)
			guest_contents_write(thread, &of, &content->copies[i].contents);
	}
}

bool ze_may_settle_run(const struct guest_thread *thread, const struct ze_content *content,
                       uint64_t execution)
{
	const struct ze_thread *mine = ze_of(thread);
	if (!guest_compares() || (mine != NULL && (mine->stands_by || mine->ends)))
		return true;
	for (uint32_t i = 0; i < content->copy_count; i++) {
		struct guest_contents_of of = of_run(&content->copies[i], execution);
		if (!content->copies[i].to_device && guest_contents_waits(&of))
			return false;
	}
	return true;
}

void ze_compare_ran(struct guest_thread *thread, const struct ze_content *content,
                    uint64_t execution, bool ran)
{
	for (uint32_t i = 0; guest_compares() && i < content->copy_count; i++) {
		struct guest_contents_of of = of_run(&content->copies[i], execution);
		if (ran)
			guest_contents_come(thread, &of, stands_by(thread));
		else
			guest_contents_drop(&of);
	}
}
