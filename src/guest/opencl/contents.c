// SPDX-License-Identifier: Apache-2.0
// Which transfers' bytes are hashed when (--contents): what is written when the call returns,
// before the program has control again; what is read when the program's own wait has seen it
// complete.
#include "guest/opencl/wrap.h"

static bool is_row(const struct layer_what *what)
{
	return what->region == NULL && what->image == NULL;
}

// A read that does not block: its bytes come later, where times tell when.
static void read_later(struct guest_thread *thread, const struct guest_contents_of *of, bool timed,
                       uint64_t bytes, const void *host)
{
	struct guest_contents_of late = *of;
	late.flags = TARE_CONTENTS_LATE;
	if (timed && guest_contents_later(&late, host, bytes))
		return;
	struct guest_contents none = guest_contents_none(TARE_CONTENTS_UNSEEN, bytes);
	guest_contents_write(thread, of, &none);
}

void layer_contents(struct guest_thread *thread, const struct layer_command *command,
                    uint32_t number, bool timed, const struct layer_what *what, uint8_t direction,
                    uint64_t bytes, const void *host)
{
	const struct guest_contents_of of = { .track = thread->track, .number = number };
	struct guest_contents contents;
	bool to_device = direction == TARE_DIRECTION_TO_DEVICE;
	// Our own trials have no record.
	if (thread->helper || (!to_device && direction != TARE_DIRECTION_FROM_DEVICE))
		return;
	if (what->kind == TARE_KIND_UNMAP && to_device) {
		contents = layer_of(thread)->unmapping;
		layer_of(thread)->unmapping.bytes = 0;
		if (contents.bytes != 0)
			guest_contents_write(thread, &of, &contents);
		return;
	}
	// What a map shows is read by the program, if it is; a migration has no bytes of the
	// host's.
	if (host == NULL || what->kind == TARE_KIND_MAP || what->kind == TARE_KIND_MIGRATE)
		return;
	if (!is_row(what)) {
		contents = guest_contents_none(TARE_CONTENTS_NO_ROW, bytes);
	} else if (to_device && guest_contents_changes(host, bytes)) {
		contents = guest_contents_none(TARE_CONTENTS_UNSEEN, bytes);
	} else if (to_device || what->blocking) {
		contents = guest_contents_take(thread, host, bytes);
	} else {
		read_later(thread, &of, timed, bytes, host);
		return;
	}
	guest_contents_write(thread, &of, &contents);
}

// Before it: afterwards the driver may have taken the memory back.
void layer_before_clEnqueueUnmapMemObject(struct guest_thread *thread, cl_command_queue queue,
                                          cl_mem memory, void *mapped, cl_uint count,
                                          const cl_event *waits, cl_event *event)
{
	struct guest_region region;
	layer_of(thread)->unmapping.bytes = 0;
	if (guest_compares() && guest_region_find(mapped, &region) &&
	    region.start == (const char *)mapped &&
	    region.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
		layer_of(thread)->unmapping = guest_contents_take(thread, mapped, region.bytes);
}

bool layer_may_harvest(const struct guest_thread *thread, const struct layer_pending *pending)
{
	const struct layer_thread *mine = layer_of(thread);
	return (mine != NULL && mine->stands_by) ||
	       !guest_contents_waits(
	           &(struct guest_contents_of){ pending->track, pending->number });
}

void layer_contents_come(struct guest_thread *thread, const struct layer_pending *pending)
{
	const struct layer_thread *mine = layer_of(thread);
	guest_contents_come(thread, &(struct guest_contents_of){ pending->track, pending->number },
	                    mine != NULL && mine->stands_by);
}
