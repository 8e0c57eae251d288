// SPDX-License-Identifier: Apache-2.0
// Command queues: made with profiling where the program did not ask for it, and shown to the
// program as if they were not.
#include "guest/opencl/layer.h"

#include <sched.h>
#include <string.h>

static struct layer_queue *_Atomic all_queues;

struct layer_queue *layer_queues(void)
{
	return atomic_load_explicit(&all_queues, memory_order_acquire);
}

// A queue's memory: one that is free, or a new one. NULL: no memory.
struct layer_queue *layer_queue_take(void)
{
	for (struct layer_queue *queue = layer_queues(); queue != NULL; queue = queue->following) {
		uint32_t expected = LAYER_QUEUE_FREE;
		if (atomic_compare_exchange_strong(&queue->free, &expected, LAYER_QUEUE_TAKEN))
			return queue;
	}
	struct layer_queue *queue = guest_memory(sizeof *queue);
	if (queue == NULL)
		return NULL;
	atomic_store(&queue->free, LAYER_QUEUE_TAKEN);
	guest_lock_register(&queue->push);
	guest_lock_register(&queue->harvesting);
	queue->following = layer_queues();
	while (!atomic_compare_exchange_weak(&all_queues, &queue->following, queue))
		;
	return queue;
}

static void define(struct layer_queue *queue)
{
	const struct layer_device *device = queue->device;
	layer_define(TARE_OBJECT_QUEUE, queue->object.handle, queue->context,
	             device != NULL ? device->handle : NULL, queue->made, 0, 0, queue->number);
	layer_fact(TARE_TRACE_FACT_PROFILING, queue->object.handle,
	           (queue->made & CL_QUEUE_PROFILING_ENABLE) != 0, NULL, 0);
	if (queue->altered)
		layer_change(TARE_CHANGE_PROFILING, queue->object.handle, queue->asked,
		             queue->made);
}

static void decide_timing(struct layer_queue *queue)
{
	bool profiling = (queue->made & CL_QUEUE_PROFILING_ENABLE) != 0 &&
	                 (queue->made & CL_QUEUE_ON_DEVICE) == 0;
	queue->out_of_order = (queue->made & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
	// What it holds is harvested in order, so nobody pushes into its owner's ring any more.
	if (queue->out_of_order)
		atomic_store(&queue->owner, NULL);
	queue->timed = profiling && !guest_options.count_only;
	queue->supply = queue->timed && !guest_options.strict;
}

// Remembers a queue that was just made, `asked` with what properties by the program.
static void made(cl_command_queue handle, cl_context context, cl_device_id device,
                 cl_command_queue_properties asked, cl_command_queue_properties properties,
                 const cl_queue_properties *list, uint32_t list_count)
{
	struct guest_thread *thread = layer_thread();
	struct layer_queue *queue = thread != NULL ? layer_queue_take() : NULL;
	if (queue == NULL)
		return;
	if (layer_of(thread) != NULL)
		layer_of(thread)->shared.defining_ticks = guest_ticks();
	queue->context = context;
	queue->device = layer_device_find(device);
	atomic_store_explicit(&queue->number, guest_queue_number(), memory_order_relaxed);
	atomic_store(&queue->owner, NULL);
	queue->asked = asked;
	queue->made = properties;
	queue->altered = (asked ^ properties) & CL_QUEUE_PROFILING_ENABLE;
	queue->list_count = list_count;
	if (list_count != 0)
		memcpy(queue->list, list, list_count * sizeof *list);
	atomic_store(&queue->told_supply, false);
	atomic_store(&queue->told_retain, false);
	decide_timing(queue);
	layer_object_put(&queue->object, TARE_OBJECT_QUEUE, handle);
	atomic_store(&queue->process, thread->process);
	atomic_store(&queue->free, LAYER_QUEUE_USED);
	define(queue);
}

// In the child of a fork the file is a new one, and what is pending is the parent's.
static void define_again(struct guest_thread *thread, struct layer_queue *queue)
{
	if (!layer_forget_pending(queue, thread->process))
		return;
	layer_driver_cost_tell();
	if (queue->device != NULL)
		layer_device_find(queue->device->handle);
	define(queue);
}

struct layer_queue *layer_queue_find(struct guest_thread *thread, cl_command_queue handle)
{
	struct layer_thread *mine = layer_of(thread);
	struct layer_queue *queue = mine != NULL ? mine->queue : NULL;
	if (queue == NULL || queue->object.handle != handle)
		queue = (struct layer_queue *)layer_object_find(TARE_OBJECT_QUEUE, handle);
	if (queue == NULL)
		return NULL;
	if (atomic_load_explicit(&queue->process, memory_order_relaxed) != thread->process)
		define_again(thread, queue);
	if (mine != NULL)
		mine->queue = queue;
	return queue;
}

struct layer_queue *layer_queue_adopt(struct guest_thread *thread, cl_command_queue handle)
{
	cl_command_queue_properties properties = 0;
	cl_context context = NULL;
	cl_device_id device = NULL;
	if (handle == NULL || layer_next.clGetCommandQueueInfo == NULL)
		return NULL;
	layer_next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties,
	                                 &properties, NULL);
	layer_next.clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
	layer_next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
	made(handle, context, device, properties, properties, NULL, 0);
	return layer_queue_find(thread, handle);
}

// The program lets go of it for the last time: the handle may mean another queue soon.
void layer_queue_releasing(struct layer_queue *queue)
{
	enum { TURNS = 50 };
	struct guest_thread *thread = layer_thread();
	// The helper may be at it just now; a little patience, for this is the last chance at a
	// time that the program has chosen.
	for (int i = 0; thread != NULL && i < TURNS; i++) {
		if (layer_harvest_queue(thread, queue, UINT32_MAX, 0, 0))
			break;
		sched_yield();
	}
	if (thread != NULL)
		layer_driver_cost_again(thread, queue);
	queue->object.handle = NULL;
	// Releasing it starts what was not started yet, and may even wait for it.
	if (layer_pending_count(queue) != 0)
		atomic_store(&layer_released_pending, true);
}

static bool may_alter(cl_command_queue_properties asked)
{
	return !guest_options.strict && !guest_options.count_only &&
	       (asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE)) == 0;
}

cl_command_queue layer_do_clCreateCommandQueue(layer_next_clCreateCommandQueue next,
                                               cl_context context, cl_device_id device,
                                               cl_command_queue_properties asked, cl_int *error)
{
	cl_command_queue_properties properties = asked;
	cl_command_queue queue = NULL;
	if (may_alter(asked)) {
		properties |= CL_QUEUE_PROFILING_ENABLE;
		queue = next(context, device, properties, error);
	}
	if (queue == NULL) {
		properties = asked;
		queue = next(context, device, asked, error);
	}
	if (queue != NULL)
		made(queue, context, device, asked, properties, NULL, 0);
	return queue;
}

// Members of a list of pairs, its 0 included; 0: no list, or a longer one than we remember.
static uint32_t list_length(const cl_queue_properties *list)
{
	if (list == NULL)
		return 0;
	for (uint32_t i = 0; i < LAYER_ASKED_LIST - 2; i += 2) {
		if (list[i] == 0)
			return i + 1;
	}
	return 0;
}

typedef cl_command_queue create_with_list(cl_context, cl_device_id, const cl_queue_properties *,
                                          cl_int *);

static cl_command_queue create(create_with_list *next, cl_context context, cl_device_id device,
                               const cl_queue_properties *list, cl_int *error)
{
	uint32_t length = list_length(list);
	cl_queue_properties changed[LAYER_ASKED_LIST + 2] = { 0 };
	cl_command_queue_properties asked = 0;
	uint32_t at = length != 0 ? length - 1 : 0;
	for (uint32_t i = 0; i + 1 < length; i++) {
		changed[i] = list[i];
		if (i % 2 == 0 && list[i] == CL_QUEUE_PROPERTIES) {
			at = i;
			asked = list[i + 1];
		}
	}
	changed[at] = CL_QUEUE_PROPERTIES;
	changed[at + 1] = asked | CL_QUEUE_PROFILING_ENABLE;
	bool too_long = list != NULL && length == 0;
	cl_command_queue_properties properties = asked;
	cl_command_queue queue = NULL;
	if (!too_long && may_alter(asked)) {
		properties |= CL_QUEUE_PROFILING_ENABLE;
		queue = next(context, device, changed, error);
	}
	if (queue == NULL) {
		properties = asked;
		queue = next(context, device, list, error);
		if (queue != NULL && too_long && layer_next.clGetCommandQueueInfo != NULL) {
			layer_next.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof asked,
			                                 &asked, NULL);
			properties = asked;
		}
	}
	if (queue != NULL)
		made(queue, context, device, asked, properties, list, length);
	return queue;
}

cl_command_queue
layer_do_clCreateCommandQueueWithProperties(layer_next_clCreateCommandQueueWithProperties next,
                                            cl_context context, cl_device_id device,
                                            const cl_queue_properties *list, cl_int *error)
{
	return create(next, context, device, list, error);
}

cl_command_queue
layer_do_clCreateCommandQueueWithPropertiesKHR(clCreateCommandQueueWithPropertiesKHR_fn next,
                                               cl_context context, cl_device_id device,
                                               const cl_queue_properties_khr *list, cl_int *error)
{
	return create(next, context, device, list, error);
}

static struct layer_queue *known(cl_command_queue handle)
{
	return (struct layer_queue *)layer_object_find(TARE_OBJECT_QUEUE, handle);
}

cl_int layer_do_clGetCommandQueueInfo(layer_next_clGetCommandQueueInfo next,
                                      cl_command_queue handle, cl_command_queue_info name,
                                      size_t bytes, void *value, size_t *bytes_ret)
{
	struct layer_queue *queue = known(handle);
	struct guest_thread *thread = layer_thread();
	// Commands hold references of their own while they are not harvested.
	if (name == CL_QUEUE_REFERENCE_COUNT && queue != NULL && thread != NULL)
		layer_harvest_queue(thread, queue, UINT32_MAX, 0, 0);
	if (queue == NULL || !queue->altered)
		return next(handle, name, bytes, value, bytes_ret);
	if (name == CL_QUEUE_PROPERTIES_ARRAY) {
		cl_int result = next(handle, name, 0, NULL, NULL);
		size_t own = queue->list_count * sizeof *queue->list;
		if (result != CL_SUCCESS)
			return result;
		if (value != NULL && bytes < own)
			return CL_INVALID_VALUE;
		if (value != NULL)
			memcpy(value, queue->list, own);
		if (bytes_ret != NULL)
			*bytes_ret = own;
		return CL_SUCCESS;
	}
	cl_int result = next(handle, name, bytes, value, bytes_ret);
	if (name == CL_QUEUE_PROPERTIES && result == CL_SUCCESS && value != NULL)
		memcpy(value, &queue->asked, sizeof queue->asked);
	return result;
}

cl_int layer_do_clSetCommandQueueProperty(layer_next_clSetCommandQueueProperty next,
                                          cl_command_queue handle,
                                          cl_command_queue_properties properties, cl_bool enable,
                                          cl_command_queue_properties *old)
{
	cl_int result = next(handle, properties, enable, old);
	struct layer_queue *queue = known(handle);
	if (queue == NULL || result != CL_SUCCESS)
		return result;
	if (old != NULL)
		*old = queue->asked;
	queue->asked = enable ? queue->asked | properties : queue->asked & ~properties;
	queue->made = enable ? queue->made | properties : queue->made & ~properties;
	queue->altered = (queue->asked ^ queue->made) & CL_QUEUE_PROFILING_ENABLE;
	decide_timing(queue);
	return result;
}
