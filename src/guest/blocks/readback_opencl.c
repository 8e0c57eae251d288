// SPDX-License-Identifier: Apache-2.0
// The memory of OpenCL devices in which kernels count, and the moments at which it is read: after
// waits of the program's own.
#include "guest/blocks/layer.h"

#include <errno.h>
#include <string.h>

// ---- memory

// The device's memory begins as the copy of it does: no command has to be waited for.
static cl_mem make_memory(struct blocks_far *far, cl_context context, cl_int *code)
{
	return blocks_next.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
	                                  (size_t)far->bytes, far->copy, code);
}

static cl_command_queue make_queue(cl_context context, cl_device_id device)
{
	cl_int code = CL_SUCCESS;

	return blocks_next.clCreateCommandQueue != NULL
	           ? blocks_next.clCreateCommandQueue(context, device, 0, &code)
	           : NULL;
}

static bool begin(struct blocks_far *far)
{
	cl_event event = NULL;

	if (far->by == NULL ||
	    blocks_next.clEnqueueReadBuffer(far->by, far->memory, CL_FALSE, 0, (size_t)far->bytes,
	                                    far->copy, 0, NULL, &event) != CL_SUCCESS)
		return false;
	far->event = event;
	blocks_next.clFlush(far->by);
	return true;
}

// 1: it is complete. 0: not yet. Negative: it failed.
static int state_of(cl_event event)
{
	cl_int status = CL_COMPLETE;

	if (blocks_next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
	                               &status, NULL) != CL_SUCCESS)
		return -1;
	return status == CL_COMPLETE ? 1 : status < 0 ? -1 : 0;
}

static int done(struct blocks_far *far)
{
	int state = state_of(far->event);

	if (state == 0)
		return 0;
	blocks_next.clReleaseEvent(far->event);
	far->event = NULL;
	return state;
}

// ---- queues of the program's

// A queue that kernels were launched in which count so. Each release may be the last one (drivers
// hold references of their own), so that the queue is not known any more afterwards, and an event
// tells when what is in it is done. With its next launch it is known again. All but `queue` and
// `in_order` is read and changed with the lock; the driver is called without it.
struct used {
	struct used *following;
	_Atomic(cl_command_queue) queue; // NULL: released
	cl_context context;
	bool in_order;
	bool untold;   // the driver gave no event
	bool busy;     // a thread asks the driver of it, and `last` is that thread's
	cl_event last; // of one that was released, or is asked whether it is idle
};

static struct used *_Atomic queues;
static guest_lock lock;

static struct used *used_of(cl_command_queue queue)
{
	struct used *at = atomic_load(&queues);

	while (at != NULL && atomic_load(&at->queue) != queue)
		at = at->following;
	return at;
}

static void release_event(cl_event event)
{
	if (event != NULL)
		blocks_next.clReleaseEvent(event);
}

// Whether the entry is one that was released, and whose work is done: it is busy then.
static bool take(struct used *at)
{
	guest_acquire(&lock);
	bool can = !at->busy && !at->untold && atomic_load(&at->queue) == NULL;
	at->busy |= can;
	guest_release(&lock);
	if (!can)
		return false;
	if (at->last == NULL || state_of(at->last) != 0)
		return true;
	guest_acquire(&lock);
	at->busy = false;
	guest_release(&lock);
	return false;
}

// An entry that is free, and busy.
static struct used *new_used(void)
{
	struct used *at = atomic_load(&queues);

	while (at != NULL && !take(at))
		at = at->following;
	if (at != NULL) {
		release_event(at->last);
		at->last = NULL;
		return at;
	}
	at = guest_memory(sizeof *at);
	if (at == NULL)
		return NULL;
	at->busy = true;
	at->following = atomic_load(&queues);
	while (!atomic_compare_exchange_weak(&queues, &at->following, at))
		;
	return at;
}

static void note_queue(cl_command_queue queue, cl_context context)
{
	cl_command_queue_properties properties = 0;

	if (used_of(queue) != NULL)
		return;
	struct used *made = new_used();
	if (made == NULL)
		return;
	blocks_next.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties,
	                                  &properties, NULL);
	guest_acquire(&lock);
	// Another thread may have noted it.
	if (used_of(queue) == NULL) {
		made->context = context;
		made->in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
		atomic_store(&made->queue, queue);
	}
	made->busy = false;
	guest_release(&lock);
}

// An event of all that is in the queue now; NULL: the driver gives none.
static cl_event mark(cl_command_queue queue)
{
	cl_event event = NULL;

	if (blocks_next.clEnqueueMarkerWithWaitList == NULL ||
	    blocks_next.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event) != CL_SUCCESS)
		return NULL;
	blocks_next.clFlush(queue);
	return event;
}

// What is to be put back of a busy entry, whose queue may have been released meanwhile.
static void put_back(struct used *at, cl_command_queue queue, cl_event last)
{
	guest_acquire(&lock);
	bool same = atomic_load(&at->queue) == queue;
	if (same) {
		at->last = last;
		at->untold = last == NULL;
	}
	at->busy = false;
	guest_release(&lock);
	if (!same)
		release_event(last);
}

// As blocks_reader.idle() says.
static int is_idle(struct used *at, const void *context)
{
	guest_acquire(&lock);
	cl_command_queue queue = atomic_load(&at->queue);
	bool none = at->context != context ||
	            (queue == NULL && at->last == NULL && !at->untold && !at->busy);
	bool ask = !none && !at->busy && !at->untold;
	at->busy |= ask;
	// The program may release it meanwhile.
	if (ask && queue != NULL)
		blocks_next.clRetainCommandQueue(queue);
	int unasked = none ? 1 : at->busy ? 0 : -1;
	guest_release(&lock);
	if (!ask)
		return unasked;
	cl_event last = at->last != NULL ? at->last : mark(queue);
	int idle = last != NULL ? state_of(last) != 0 : -1;
	put_back(at, queue, last);
	if (queue != NULL)
		blocks_next.clReleaseCommandQueue(queue);
	return idle;
}

// Queues are retained while they are asked, whatever other threads do.
static int idle(const void *context, bool first, bool exits)
{
	int all = 1;

	(void)first;
	(void)exits;
	for (struct used *at = atomic_load(&queues); at != NULL; at = at->following)
		all = blocks_both_idle(all, is_idle(at, context));
	return all;
}

static const struct blocks_reader reader = { .begin = begin, .done = done, .idle = idle };

// ---- kernels

bool blocks_is_far(cl_context context)
{
	cl_device_id devices[BLOCKS_MOST_DEVICES];
	size_t bytes = 0;

	if (blocks_test_far())
		return true;
	if (blocks_next.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices,
	                                 &bytes) != CL_SUCCESS)
		return true;
	for (size_t i = 0; i < bytes / sizeof *devices; i++)
		if (!blocks_is_cpu(devices[i]))
			return true;
	return false;
}

struct blocks_far *blocks_far_memory(cl_context context, cl_device_id device,
                                     struct blocks_kernel *row, const struct blocks_module *module,
                                     enum blocks_why *why, cl_int *code)
{
	struct blocks_far *far = blocks_far_find(row, context, device);

	if (far == NULL) {
		far = blocks_far_new(row, module, context, device, why);
		if (far == NULL)
			return NULL;
		far->memory = make_memory(far, context, &far->code);
		far->by = far->memory != NULL ? make_queue(context, device) : NULL;
		blocks_far_add(far, &reader);
	}
	*why = BLOCKS_NO_MEMORY;
	*code = far->code;
	return far->memory != NULL ? far : NULL;
}

// The first launch says which work-groups are sampled: a later one's are not written into memory
// that a kernel may be using.
void blocks_far_sample(struct blocks_far *far, uint64_t work_items)
{
	const uint64_t end = blocks_now_ns() + BLOCKS_FIRST_NS;
	uint64_t at = (uint64_t)far->module->rows * far->module->row_counters;
	cl_event event = NULL;

	if (far->module->sample_items == 0 || far->by == NULL || atomic_load(&far->launched) != 0)
		return;
	blocks_choose_sample(far->copy, far->module, work_items);
	if (blocks_next.clEnqueueWriteBuffer(far->by, far->memory, CL_FALSE,
	                                     (size_t)at * sizeof *far->copy,
	                                     BLOCKS_SAMPLE_HEAD * sizeof *far->copy, far->copy + at,
	                                     0, NULL, &event) != CL_SUCCESS)
		return;
	blocks_next.clFlush(far->by);
	// Should it be too late, the launch's first work-groups are sampled.
	while (state_of(event) == 0 && blocks_wait_until(end))
		;
	blocks_next.clReleaseEvent(event);
}

void blocks_far_enqueued(struct blocks_far *far, cl_command_queue queue)
{
	note_queue(queue, (cl_context)(uintptr_t)atomic_load(&far->context));
	blocks_far_launched(far, queue);
}

// ---- what is wrapped

static CL_API_ENTRY cl_int CL_API_CALL finish(cl_command_queue queue)
{
	uint64_t since = blocks_far_now();
	cl_int result = blocks_next.clFinish(queue);

	if (result == CL_SUCCESS)
		blocks_far_waited(queue, since);
	return result;
}

static CL_API_ENTRY cl_int CL_API_CALL wait_for(cl_uint count, const cl_event *events)
{
	cl_int result = blocks_next.clWaitForEvents(count, events);

	if (result == CL_SUCCESS)
		blocks_far_waited(NULL, 0);
	return result;
}

// A command that blocks is the last one of a queue in order.
static void waited_in(cl_command_queue queue, cl_bool blocking, cl_int result, uint64_t since)
{
	const struct used *used = blocking && result == CL_SUCCESS ? used_of(queue) : NULL;

	if (used != NULL)
		blocks_far_waited(used->in_order ? queue : NULL, since);
}

static CL_API_ENTRY cl_int CL_API_CALL read(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                            size_t offset, size_t bytes, void *to, cl_uint count,
                                            const cl_event *waits, cl_event *event)
{
	uint64_t since = blocks_far_now();
	cl_int result = blocks_next.clEnqueueReadBuffer(queue, memory, blocking, offset, bytes, to,
	                                                count, waits, event);

	waited_in(queue, blocking, result, since);
	return result;
}

static CL_API_ENTRY void *CL_API_CALL map(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                          cl_map_flags flags, size_t offset, size_t bytes,
                                          cl_uint count, const cl_event *waits, cl_event *event,
                                          cl_int *error)
{
	uint64_t since = blocks_far_now();
	void *at = blocks_next.clEnqueueMapBuffer(queue, memory, blocking, flags, offset, bytes,
	                                          count, waits, event, error);

	waited_in(queue, blocking, at != NULL ? CL_SUCCESS : CL_INVALID_VALUE, since);
	return at;
}

// `last` is of all that is in it.
static void released(cl_command_queue queue, cl_event last)
{
	guest_acquire(&lock);
	struct used *used = used_of(queue);
	cl_event before = last;
	if (used != NULL) {
		before = used->busy ? NULL : used->last;
		used->last = last;
		used->untold = last == NULL;
		atomic_store(&used->queue, NULL);
	}
	guest_release(&lock);
	release_event(before);
}

static CL_API_ENTRY cl_int CL_API_CALL release(cl_command_queue queue)
{
	int saved = errno;

	if (used_of(queue) != NULL)
		released(queue, mark(queue));
	errno = saved;
	return blocks_next.clReleaseCommandQueue(queue);
}

void blocks_wrap_waits(cl_icd_dispatch *table)
{
	guest_lock_register(&lock);
	BLOCKS_WRAP(table, clFinish, finish);
	BLOCKS_WRAP(table, clWaitForEvents, wait_for);
	BLOCKS_WRAP(table, clEnqueueReadBuffer, read);
	BLOCKS_WRAP(table, clEnqueueMapBuffer, map);
	BLOCKS_WRAP(table, clReleaseCommandQueue, release);
}
