// SPDX-License-Identifier: Apache-2.0
// A recorder folder on src/guest/api.h, for the toy: the least that one has to do. In traces it
// poses as CUDA, for the format knows no toys.
#include "toy.h"

#include "guest/api.h"

#include <errno.h>
#include <string.h>

#define API TARE_TRACE_CUDA
// As many pending as a test launches: who harvests may be kept from the processors all the while.
enum { MOST_QUEUES = 64, MOST_PENDING = 4096 };
enum function { CREATE, LAUNCH, FINISH, POLL, FUNCTIONS };

static const struct {
	const char *name;
	enum tare_trace_role role;
} functions[FUNCTIONS] = {
	[CREATE] = { "toyQueueCreate", TARE_ROLE_CREATE },
	[LAUNCH] = { "toyLaunch", TARE_ROLE_COMMAND },
	[FINISH] = { "toyFinish", TARE_ROLE_WAIT },
	[POLL] = { "toyPoll", TARE_ROLE_POLL },
};

static struct toy_table next;
static const char device; // its address is the handle
static _Atomic uint32_t defined[FUNCTIONS], device_defined, device_number;
static _Atomic uint64_t calls;

static struct queue {
	toy_queue *handle;
	uint32_t number;
	_Atomic uint32_t process; // in whose file it is defined
} queues[MOST_QUEUES];
static _Atomic uint32_t queue_count;

// What is to be timed. The lock is for a few stores; who harvests has the right to it alone.
static struct pending {
	toy_event *event;
	uint32_t track, number;
} pending[MOST_PENDING];
static _Atomic uint32_t pending_count;
static guest_lock pending_lock, harvesting;

// ---- definitions

static void know_function(enum function function, uint32_t process)
{
	if (atomic_exchange(&defined[function], process) != process)
		guest_define_function(API, function, functions[function].name,
		                      functions[function].role);
}

static void define_device(uint32_t process)
{
	union tare_trace_record record = {
		.object = { .head = guest_api_head(API, TARE_TRACE_OBJECT, TARE_OBJECT_DEVICE),
		            .ticks = guest_ticks(),
		            .handle = (uintptr_t)&device,
		            .name = guest_text("Toy", 3),
		            .number = device_number }
	};
	if (atomic_exchange(&device_defined, process) != process)
		guest_define(&record);
}

static struct queue *find_queue(const toy_queue *handle, uint32_t process)
{
	union tare_trace_record record = {
		.object = { .head = guest_api_head(API, TARE_TRACE_OBJECT, TARE_OBJECT_QUEUE),
		            .handle = (uintptr_t)handle,
		            .device = (uintptr_t)&device }
	};
	for (uint32_t i = 0; i < queue_count; i++) {
		if (queues[i].handle != handle)
			continue;
		if (atomic_exchange(&queues[i].process, process) != process) {
			define_device(process);
			record.object.ticks = guest_ticks(); // not before its device's
			record.object.number = queues[i].number;
			guest_define(&record);
		}
		return &queues[i];
	}
	return NULL;
}

// ---- harvest

static void count_pending(int64_t more)
{
	pending_count = (uint32_t)(pending_count + more);
	guest_count(&guest_header->pending, (uint64_t)more);
}

static void write_times(struct guest_thread *thread, const struct pending *of,
                        const uint64_t times[2])
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->times = (struct tare_trace_times){ .command_track = of->track,
		                                   .command_number = of->number,
		                                   .start = times[0],
		                                   .end = times[1],
		                                   .observed = guest_ticks() };
	guest_commit(record, tare_trace_head(TARE_TRACE_TIMES,
	                                     TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END, 0,
	                                     thread->track));
}

static void write_clock_pair(struct guest_thread *thread)
{
	struct timespec now;
	uint64_t before = guest_ticks(), after;
	union tare_trace_record *record;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	after = guest_ticks();
	record = guest_event(thread);
	if (!record)
		return;
	record->clock_pair =
	    (struct tare_trace_clock_pair){ .before = before,
		                            .after = after,
		                            .value = (uint64_t)now.tv_sec * 1000000000 +
		                                     (uint64_t)now.tv_nsec,
		                            .device = (uintptr_t)&device };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_CLOCK_PAIR, API, TARE_CLOCK_DEVICE, thread->track));
}

// Takes the first pending one that is complete from the list. False: there is none.
static bool take_complete(struct pending *taken, uint64_t times[2])
{
	for (uint32_t i = 0; i < pending_count && atomic_load(&guest_alive); i++) {
		if (next.event_times(pending[i].event, times))
			continue;
		guest_acquire(&pending_lock);
		*taken = pending[i];
		pending[i] = pending[pending_count - 1];
		count_pending(-1);
		guest_release(&pending_lock);
		return true;
	}
	return false;
}

static void harvest(void)
{
	struct guest_thread *thread = guest_thread();
	struct pending taken;
	uint64_t times[2];
	if (!thread || !pending_count || !atomic_load(&guest_alive) || !guest_try(&harvesting))
		return;
	write_clock_pair(thread);
	while (take_complete(&taken, times)) {
		write_times(thread, &taken, times);
		next.event_release(taken.event);
	}
	guest_release(&harvesting);
}

static void keep(struct guest_thread *thread, toy_event *event, uint32_t number)
{
	guest_acquire(&pending_lock);
	bool room = pending_count < MOST_PENDING;
	if (room) {
		pending[pending_count] = (struct pending){ event, thread->track, number };
		count_pending(1);
	}
	guest_release(&pending_lock);
	if (!room)
		next.event_release(event);
}

// ---- wrappers

static struct guest_thread *enter(void)
{
	struct guest_thread *thread = guest_thread_of(API);
	if (!thread)
		return NULL;
	thread->depth++;
	calls++;
	return thread;
}

static void leave(struct guest_thread *thread)
{
	thread->depth -= thread->depth != 0;
}

static void write_call(struct guest_thread *thread, enum function function, uint64_t enter,
                       const void *object)
{
	union tare_trace_record *record;
	know_function(function, thread->process);
	record = guest_event(thread);
	if (!record)
		return;
	record->call = (struct tare_trace_call){ .enter = enter,
		                                 .exit = guest_ticks(),
		                                 .object = (uintptr_t)object };
	guest_commit(record, tare_trace_head(
	                         TARE_TRACE_CALL, thread->depth > 1 ? TARE_CALL_NESTED : 0,
	                         (uint16_t)(GUEST_FUNCTION_BASE(API) + function), thread->track));
}

static int wrap_queue_create(toy_queue **queue)
{
	struct guest_thread *thread = enter();
	uint64_t from = guest_ticks();
	int result = next.queue_create(queue);
	if (!thread)
		return result;
	if (!result) {
		uint32_t at = atomic_fetch_add(&queue_count, 1);
		queues[at % MOST_QUEUES] = (struct queue){ *queue, guest_queue_number(), 0 };
		find_queue(*queue, thread->process);
	}
	write_call(thread, CREATE, from, *queue);
	leave(thread);
	return result;
}

// Writes the command's record. Returns its number; 0: there was no room.
static uint32_t write_command(struct guest_thread *thread, uint64_t enter, const toy_queue *handle,
                              const toy_event *event)
{
	const struct queue *queue = find_queue(handle, thread->process);
	union tare_trace_record *record;
	know_function(LAUNCH, thread->process);
	record = guest_command(thread);
	if (!record)
		return 0;
	record->command =
	    (struct tare_trace_command){ .enter = enter,
		                         .call_ticks = (uint32_t)(guest_ticks() - enter),
		                         .number = ++thread->command_number,
		                         .kind = TARE_KIND_OTHER,
		                         .alignment = 255,
		                         .queue = queue ? queue->number : 0,
		                         .event = (uintptr_t)event };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_COMMAND,
	                             (uint8_t)(TARE_COMMAND_OWN_EVENT |
	                                       (thread->depth > 1 ? TARE_COMMAND_NESTED : 0)),
	                             (uint16_t)(GUEST_FUNCTION_BASE(API) + LAUNCH), thread->track));
	return thread->command_number;
}

static int wrap_launch(toy_queue *queue, void (*inside)(void *), void *data, toy_event **event)
{
	// who asks for an event is not recorded: a toy
	struct guest_thread *thread = event ? NULL : enter();
	toy_event *own = NULL;
	uint64_t from = guest_ticks();
	int result = next.launch(queue, inside, data, thread ? &own : event);
	if (!thread)
		return result;
	uint32_t number = write_command(thread, from, queue, own);
	if (number)
		keep(thread, own, number);
	else
		next.event_release(own);
	leave(thread);
	return result;
}

static int wrap_finish(toy_queue *queue)
{
	struct guest_thread *thread = enter();
	uint64_t from = guest_ticks();
	if (thread)
		guest_waiting(thread, GUEST_FUNCTION_BASE(API) + FINISH, from);
	int result = next.finish(queue);
	if (!thread)
		return result;
	guest_waiting(thread, 0, 0);
	write_call(thread, FINISH, from, queue);
	guest_cpu_time(thread, from, guest_ticks());
	harvest();
	leave(thread);
	return result;
}

static int wrap_poll(toy_queue *queue)
{
	struct guest_thread *thread = enter();
	uint64_t from = guest_ticks();
	int result = next.poll(queue);
	if (thread) {
		write_call(thread, POLL, from, queue);
		leave(thread);
	}
	return result;
}

// ---- the contract

static uint64_t count_calls(void)
{
	return calls;
}

static void in_child(void)
{
	calls = 0;
	pending_count = 0; // they are the parent's
}

__attribute__((visibility("default"))) toy_start toy_tool_start;
void toy_tool_start(struct toy_table *table)
{
	static const struct guest_api toy = {
		.api = API, .harvest = harvest, .calls = count_calls, .in_child = in_child
	};
	int error = errno;
	next = *table;
	if (guest_begin(&toy)) {
		guest_lock_register(&pending_lock);
		guest_lock_register(&harvesting);
		device_number = guest_device_number();
		table->queue_create = wrap_queue_create;
		table->launch = wrap_launch;
		table->finish = wrap_finish;
		table->poll = wrap_poll;
	}
	errno = error;
}
