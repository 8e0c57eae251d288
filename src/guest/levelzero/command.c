// SPDX-License-Identifier: Apache-2.0
// A command appended to a list: which event it is given, and its record, written between the
// driver's return and ours.
#include "guest/contents.h"
#include "guest/levelzero/ze.h"
#include "guest/region.h"

#include <string.h>

// The command is to signal an event of the program's that has times.
static void signals(struct guest_thread *thread, struct ze_command *command, struct ze_event *known)
{
	struct ze_list *list = command->list;
	// By a list that is not known it is signalled, and nothing is kept of that.
	command->known = list != NULL ? known : NULL;
	// Of what it says now nothing is left when it is signalled again; and it is kept in one
	// place only.
	if (list == NULL || list->immediate || known->content == NULL || known->counts)
		ze_event_before(thread, known);
	if (list != NULL && list->immediate && !known->counts &&
	    ZE_UNLIKELY(atomic_load_explicit(&known->nodes, memory_order_relaxed) != 0))
		ze_nodes_doubt(thread, known);
	if (known->counts && (list == NULL || known->content != list->content))
		ze_node_gone(thread, known);
	else if (list == NULL)
		known->doubtful = true;
	// What it says of a signal's own times is not defined.
	if (list == NULL || command->function != ZE_zeCommandListAppendSignalEvent)
		return;
	if (!list->immediate && list->content != NULL)
		ze_node_lose(list, known);
	command->known = NULL;
	if (!known->counts)
		known->doubtful = true;
}

void ze_command_begin(struct guest_thread *thread, struct ze_command *command, uint32_t function,
                      ze_command_list_handle_t handle, ze_event_handle_t event, bool takes_event)
{
	struct ze_list *list = ze_list_find(thread, handle);
	*command = (struct ze_command){ .list = list, .event = event, .function = function };
	if (list != NULL && list->next_mutable != 0) {
		command->may_become = list->next_mutable;
		list->next_mutable = 0;
	}
	command->passed =
	    list != NULL && atomic_load_explicit(&list->capturing, memory_order_relaxed);
	if (event != NULL) {
		struct ze_event *known = ze_event_find(event);
		if (known != NULL && known->timed)
			signals(thread, command, known);
	} else if (list != NULL && takes_event && !command->passed && ze_may_change() &&
	           atomic_load_explicit(&guest_active, memory_order_relaxed)) {
		uint32_t aside = guest_aside_begin(thread, TARE_TRACE_LEVELZERO);
		command->event = ze_own_take(list->own);
		guest_aside_end(thread, aside);
		command->own = command->event != NULL;
	}
	command->enter = ze_begin_ticks(thread);
	if (list != NULL && list->immediate && list->waits)
		guest_waiting(thread, ze_detail(function), command->enter);
}

void ze_write_depends(struct guest_thread *thread, uint64_t of, uint32_t count,
                      ze_event_handle_t *events)
{
	for (uint32_t done = 0; done < count;) {
		union tare_trace_record *record = guest_event(thread);
		if (record == NULL)
			return;
		uint32_t part = count - done < 6 ? count - done : 6;
		record->depends = (struct tare_trace_depends){ .of = of };
		for (uint32_t i = 0; i < part; i++)
			record->depends.event[i] = (uintptr_t)events[done + i];
		guest_commit(record, tare_trace_head(TARE_TRACE_DEPENDS,
		                                     TARE_TRACE_LEVELZERO << TARE_DEPENDS_API_SHIFT,
		                                     (uint16_t)part, thread->track));
		done += part;
	}
}

void ze_write_call_end(struct guest_thread *thread, uint32_t number, uint64_t exit)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->call_end = (struct tare_trace_call_end){ .number = number, .exit = exit };
	guest_commit(record, tare_trace_head(TARE_TRACE_CALL_END, 0, 0, thread->track));
}

// ---- what is moved where

struct side {
	const void *address;
	uint64_t object; // where its memory begins, when that is known
	uint8_t memory;
};

static struct side side_of(const void *address)
{
	struct guest_region region;
	if (address == NULL)
		return (struct side){ 0 };
	if (!guest_region_find(address, &region))
		return (struct side){ address, (uintptr_t)address, TARE_TRACE_MEMORY_PAGEABLE };
	return (struct side){ address, (uintptr_t)region.start, region.memory };
}

static bool is_host(const struct side *side)
{
	return side->memory == TARE_TRACE_MEMORY_PAGEABLE ||
	       side->memory == TARE_TRACE_MEMORY_PINNED || side->memory == TARE_TRACE_MEMORY_MAPPED;
}

static uint8_t alignment_of(const void *host)
{
	int bits = host != NULL ? __builtin_ctzll((uintptr_t)host) : 255;
	return (uint8_t)(host == NULL ? 255 : bits > 12 ? 12 : bits);
}

static void from_host(struct tare_trace_command *record, const struct side *host,
                      const struct side *device)
{
	record->object = device->object;
	record->object2 = (uintptr_t)host->address;
	record->memory = host->memory;
	record->alignment = alignment_of(host->address);
}

static struct side image_side(ze_image_handle_t image)
{
	return (struct side){ NULL, (uintptr_t)image, TARE_TRACE_MEMORY_IMAGE };
}

// A copy between addresses or images: where they lie decides what it is.
static void copied(struct tare_trace_command *record, const struct ze_what *what)
{
	struct side from = what->source != NULL ? image_side(what->source) : side_of(what->from);
	struct side to = what->image != NULL ? image_side(what->image) : side_of(what->to);
	bool host_from = what->from != NULL && is_host(&from),
	     host_to = what->to != NULL && is_host(&to);
	if (host_from && !host_to) {
		record->kind = TARE_KIND_WRITE;
		record->direction = TARE_DIRECTION_TO_DEVICE;
		from_host(record, &from, &to);
	} else if (host_to && !host_from) {
		record->kind = TARE_KIND_READ;
		record->direction = TARE_DIRECTION_FROM_DEVICE;
		from_host(record, &to, &from);
	} else {
		record->direction = host_from ? TARE_DIRECTION_HOST : TARE_DIRECTION_LOCAL;
		record->object = from.object;
		record->object2 = to.object;
		record->memory = host_from ? from.memory : 0;
	}
}

static uint64_t bytes_of(const struct ze_what *what)
{
	const ze_copy_region_t *region = what->region;
	if (region != NULL)
		return (uint64_t)region->width * (region->height != 0 ? region->height : 1) *
		       (region->depth != 0 ? region->depth : 1);
	if (what->image != NULL || what->source != NULL)
		return ze_image_bytes(what->image != NULL ? what->image : what->source,
		                      what->extent);
	return what->bytes;
}

static uint32_t shape_defined(const struct ze_launched *launched)
{
	struct tare_trace_shape shape = { .dimensions = 1 };
	for (uint32_t i = 0; i < 3; i++) {
		shape.local[i] = launched->group[i] != 0 ? launched->group[i] : 1;
		shape.global[i] = (uint64_t)launched->groups[i] * shape.local[i];
		if (shape.global[i] > 1)
			shape.dimensions = i + 1;
	}
	return guest_shape(&shape);
}

// Most launches are like the one before. 0: it is not known, as of an indirect launch.
static uint32_t shape_of(struct guest_thread *thread, const struct ze_what *what)
{
	struct ze_launched *last = &ze_of(thread)->launched;
	const struct ze_kernel *kernel = ze_kernel_find(thread, what->kernel);
	if (what->groups == NULL || kernel == NULL || (what->group == NULL && kernel->unsure))
		return 0;
	const ze_group_count_t *groups = what->groups;
	const struct ze_newer_size *given = what->group;
	const struct ze_launched now = { .groups = { groups->groupCountX, groups->groupCountY,
		                                     groups->groupCountZ },
		                         .group = { given != NULL ? given->x : kernel->group[0],
		                                    given != NULL ? given->y : kernel->group[1],
		                                    given != NULL ? given->z : kernel->group[2] } };
	if (ZE_LIKELY(last->process == thread->process &&
	              memcmp(&now, last, offsetof(struct ze_launched, shape)) == 0))
		return last->shape;
	uint32_t shape = shape_defined(&now);
	// A signal handler that comes meanwhile does not take a part of it for the whole.
	last->process = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*last = now;
	last->shape = shape;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last->process = thread->process;
	return shape;
}

// But for a launch's shape.
static void fill(struct tare_trace_command *record, const struct ze_what *what)
{
	if (what->kind == TARE_KIND_KERNEL) {
		record->object = (uintptr_t)what->kernel;
		return;
	}
	record->amount = bytes_of(what);
	if (what->kind == TARE_KIND_GRAPH)
		record->object = (uintptr_t)what->graph;
	else if (what->kind == TARE_KIND_COPY)
		copied(record, what);
	else if (what->to != NULL)
		record->object = side_of(what->to).object;
	if (what->kind == TARE_KIND_MIGRATE)
		record->direction = TARE_DIRECTION_TO_DEVICE;
}

// ---- the record

// Of one that may be changed before it runs the parts that may be are not told.
static void unknown_parts(uint32_t may_become, struct tare_trace_command *record)
{
	if (record->kind != TARE_KIND_KERNEL)
		return;
	if (may_become & (ZE_MUTABLE_GROUPS | ZE_MUTABLE_KERNEL))
		record->amount = 0;
	if (may_become & ZE_MUTABLE_KERNEL)
		record->object = 0;
}

static unsigned flags_of(const struct guest_thread *thread, const struct ze_command *command,
                         ze_result_t status, uint32_t wait_count, const void *waits, uint64_t exit)
{
	unsigned flags = exit - command->enter >= UINT32_MAX ? TARE_COMMAND_LONG : 0;
	flags |= thread->depth > 1 ? TARE_COMMAND_NESTED : 0;
	if (status != ZE_RESULT_SUCCESS)
		return flags | TARE_COMMAND_FAILED;
	flags |= command->own ? TARE_COMMAND_OWN_EVENT : 0;
	flags |= command->list != NULL && command->list->immediate && command->list->waits
	             ? TARE_COMMAND_BLOCKING
	             : 0;
	flags |= !command->own && command->known == NULL ? TARE_COMMAND_NO_TIMES : 0;
	return flags | (wait_count != 0 && waits != NULL ? TARE_COMMAND_DEPENDS : 0);
}

static void unused(struct ze_command *command)
{
	if (command->own)
		ze_own_give(command->list->own, command->event);
}

static void keep(struct guest_thread *thread, const struct ze_command *command, uint32_t number)
{
	struct ze_list *list = command->list;
	if (command->own && !atomic_load_explicit(&list->told, memory_order_relaxed) &&
	    !atomic_exchange(&list->told, true))
		ze_change(TARE_CHANGE_EVENT, list->handle, 0, 1);
	if (list->immediate && command->known != NULL &&
	    (command->known->doubtful || ze_is_copied_elsewhere(thread, command->known, list)))
		ze_write_untimed(thread, thread->track, number, 0, TARE_UNTIMED_REUSED, 0);
	else if (list->immediate)
		ze_push(thread, list, command->event, command->known, number);
	else
		ze_node_add(thread, list, command->event, command->known, number);
}

static uint32_t queue_of(const struct ze_list *list)
{
	return list == NULL ? 0 : list->immediate ? list->number : list->content->number;
}

// What follows the record of a command.
static void recorded(struct guest_thread *thread, struct ze_command *command,
                     const struct tare_trace_command *told, const struct ze_what *what,
                     unsigned flags, uint64_t exit)
{
	struct ze_list *list = command->list;
	uint32_t number = told->number;
	if (flags & TARE_COMMAND_FAILED) {
		unused(command);
		return;
	}
	if (ZE_UNLIKELY(flags & TARE_COMMAND_TRANSFER))
		ze_write_part(thread, number, ze_part_of(told, what));
	if (guest_compares() && list != NULL && list->immediate)
		ze_compare(thread, told, what, flags);
	else if (guest_compares() && list != NULL && list->content != NULL)
		ze_copy_add(thread, list->content, told, what);
	if (!(flags & TARE_COMMAND_NO_TIMES))
		keep(thread, command, number);
	if (flags & TARE_COMMAND_BLOCKING) {
		guest_cpu_time(thread, command->enter, exit);
		ze_of(thread)->stands_by = true;
		ze_harvest_list(thread, list);
		ze_of(thread)->stands_by = false;
	}
}

// A launch to which no other record belongs, and no event of the program's. A call that waits is
// followed by what it has seen complete.
static bool is_plain(const struct ze_command *command, const struct ze_what *what, unsigned flags)
{
	const unsigned may = TARE_COMMAND_OWN_EVENT | TARE_COMMAND_NO_TIMES | TARE_COMMAND_NESTED;
	return what->kind == TARE_KIND_KERNEL && (flags & ~may) == 0 && command->list != NULL &&
	       (command->event == NULL || command->own) && command->may_become == 0 &&
	       command->counted == NULL && !guest_stacks;
}

// Puts it behind the launch before, if it is like that. False: nothing was written.
static bool follows(struct guest_thread *thread, const struct ze_command *command,
                    const struct ze_what *what, unsigned flags, uint32_t shape, uint64_t exit)
{
	struct guest_launches *row = &ze_of(thread)->row;
	const uint32_t number = row->number + 1;
	const uint64_t head = tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                      ze_detail(command->function), thread->track);
	if (!guest_launches_like(row, head, queue_of(command->list), (uintptr_t)what->kernel,
	                         shape) ||
	    !guest_launches_more(thread, row, number, command->enter, exit))
		return false;
	if (command->own)
		keep(thread, command, number);
	return true;
}

// Nothing is written of a command that finds no room.
static void unwritten(struct guest_thread *thread, struct ze_command *command, unsigned flags)
{
	if (command->counted != NULL)
		ze_count_written_slow(thread, command, 0);
	// The driver is to signal its event all the same: it is waited for.
	if (flags & (TARE_COMMAND_NO_TIMES | TARE_COMMAND_FAILED))
		unused(command);
	else
		keep(thread, command, 0);
}

// All of the record but its number and its head.
static void put(struct tare_trace_command *record, const struct ze_command *command,
                ze_result_t status, const struct ze_what *what, unsigned flags, uint32_t shape,
                uint64_t exit)
{
	*record = (struct tare_trace_command){
		.enter = command->enter,
		.call_ticks =
		    flags & TARE_COMMAND_LONG ? UINT32_MAX : (uint32_t)(exit - command->enter),
		.kind = what->kind,
		.alignment = 255,
		.queue = queue_of(command->list),
		.amount = shape,
		.event = status == ZE_RESULT_SUCCESS ? (uintptr_t)command->event : 0
	};
	fill(record, what);
	if (ZE_UNLIKELY(command->may_become != 0))
		unknown_parts(command->may_become, record);
	if (status != ZE_RESULT_SUCCESS)
		record->object2 = (uint64_t)(int64_t)status;
}

void ze_command_end(struct guest_thread *thread, struct ze_command *command, ze_result_t status,
                    const struct ze_what *what, uint32_t wait_count, ze_event_handle_t *waits)
{
	uint64_t exit = guest_ticks();
	struct ze_list *list = command->list;
	thread->left_ticks = exit;
	if (ZE_UNLIKELY(command->counted != NULL))
		ze_count_launched_slow(thread, command, status);
	if (ZE_UNLIKELY(command->passed)) {
		// A graph's run signals its event, which is not known then.
		if (command->known != NULL)
			command->known->doubtful = true;
		guest_count(&guest_header->passed_calls, 1);
		return;
	}
	if (command->may_become & ZE_MUTABLE_WAITS)
		wait_count = 0;
	if (list != NULL && list->immediate && list->waits)
		guest_waiting(thread, 0, 0);
	ze_know_function(thread, command->function);
	unsigned flags = flags_of(thread, command, status, wait_count, waits, exit);
	if (status == ZE_RESULT_SUCCESS && list != NULL && !list->immediate &&
	    list->content != NULL)
		list->content->appended++;
	// Before there is a place for the record: it may define a shape.
	uint32_t shape = what->kind == TARE_KIND_KERNEL ? shape_of(thread, what) : 0;
	const bool plain = is_plain(command, what, flags);
	if (plain && follows(thread, command, what, flags, shape, exit))
		return;
	union tare_trace_record *record = guest_command(thread);
	const uint32_t windows = thread->windows;
	if (ZE_UNLIKELY(record == NULL)) {
		unwritten(thread, command, flags);
		return;
	}
	uint32_t number = guest_next_number(thread);
	put(&record->command, command, status, what, flags, shape, exit);
	record->command.number = number;
	if (guest_compares() && status == ZE_RESULT_SUCCESS &&
	    ze_part_of(&record->command, what) != 0)
		flags |= TARE_COMMAND_TRANSFER;
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, (uint8_t)flags,
	                                     ze_detail(command->function), thread->track));
	if (plain)
		guest_launches_begin(&ze_of(thread)->row, record, windows);
	if (ZE_UNLIKELY(flags & TARE_COMMAND_LONG))
		ze_write_call_end(thread, number, exit);
	if (flags & TARE_COMMAND_DEPENDS)
		ze_write_depends(thread, number, wait_count, waits);
	if (ZE_UNLIKELY(guest_stacks))
		guest_site(thread, 0, number, guest_stack());
	if (ZE_UNLIKELY(command->counted != NULL))
		ze_count_written_slow(thread, command, number);
	recorded(thread, command, &record->command, what, flags, exit);
}
