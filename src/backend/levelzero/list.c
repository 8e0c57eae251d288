// SPDX-License-Identifier: Apache-2.0
// What commands are appended to, and their order.
//
// A queue of the contract's keeps its order; a Level Zero list does not by itself. Where the driver
// knows in-order lists (1.7) it keeps it. Else a barrier comes before each command that has another
// before it: one command and no event more, and the stamps of what follows begin behind it. To wait
// for the event of the command before would need an event a command, which costs a write to memory
// by the device, and recycling.
//
// A deferred queue gathers in a regular list; submit closes and executes it. Lists that are done
// gather again.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

// So many lists in flight, and a look at whether they are done is worth its cost.
#define MANY_IN_FLIGHT 64

int levelzero_order(struct levelzero_queue *queue, ze_command_list_handle_t list,
                    struct tare_error *error)
{
	if (queue->chained || queue->out_of_order || !queue->unordered)
		return 0;
	ze_result_t result =
	    levelzero_calls(queue->base.device)->zeCommandListAppendBarrier(list, NULL, 0, NULL);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot put operations in order");
	return 0;
}

// ---- deferred queues

// A list that is empty and open.
static int fresh_list(struct levelzero_queue *queue, struct levelzero_list **list,
                      struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(queue->base.device);
	struct levelzero_list *made = queue->idle;
	int status;

	if (made) {
		ze_result_t result = device->driver->call.zeCommandListReset(made->handle);
		if (result != ZE_RESULT_SUCCESS)
			return levelzero_fail(result, "zeCommandListReset", error,
			                      "cannot use a command list again");
		queue->idle = made->next;
		made->closed = false;
		*list = made;
		return 0;
	}
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	status = levelzero_regular_list_open(device, &queue->engine, &made->handle, error);
	if (status < 0) {
		free(made);
		return status;
	}
	*list = made;
	return 0;
}

int levelzero_list_of(struct levelzero_queue *queue, ze_command_list_handle_t *list,
                      struct tare_error *error)
{
	int status = 0;

	// Left from a submission that failed.
	if (queue->gathering && queue->gathering->closed)
		status = levelzero_submit(&queue->base, error);
	if (status == 0 && queue->deferred && !queue->gathering)
		status = fresh_list(queue, &queue->gathering, error);
	if (status < 0)
		return status;
	*list = queue->deferred ? queue->gathering->handle : queue->list;
	return 0;
}

static void recycle(struct levelzero_queue *queue)
{
	while (queue->flying) {
		struct levelzero_list *list = queue->flying;
		queue->flying = list->next;
		list->next = queue->idle;
		queue->idle = list;
	}
	queue->flying_count = 0;
}

void levelzero_queue_is_done(struct levelzero_queue *queue)
{
	if (queue->deferred)
		recycle(queue);
	queue->fence_pending = false;
	queue->done = queue->deferred ? queue->submitted : queue->last;
	if (queue->done == queue->last)
		queue->unordered = false;
}

int levelzero_submit(struct tare_queue *base, struct tare_error *error)
{
	return levelzero_submit_list((struct levelzero_queue *)base, NULL, error);
}

int levelzero_submit_list(struct levelzero_queue *queue, ze_fence_handle_t fence,
                          struct tare_error *error)
{
	const struct levelzero_functions *call = levelzero_calls(queue->base.device);
	struct levelzero_list *list = queue->gathering;

	if (!list)
		return 0;
	ze_result_t result =
	    list->closed ? ZE_RESULT_SUCCESS : call->zeCommandListClose(list->handle);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListClose", error, "cannot submit");
	list->closed = true;
	result = call->zeCommandQueueExecuteCommandLists(queue->native, 1, &list->handle, fence);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandQueueExecuteCommandLists", error,
		                      "cannot submit");
	queue->gathering = NULL;
	list->next = queue->flying;
	queue->flying = list;
	queue->submitted = queue->last;
	if (++queue->flying_count % MANY_IN_FLIGHT == 0 &&
	    call->zeCommandQueueSynchronize(queue->native, 0) == ZE_RESULT_SUCCESS)
		levelzero_queue_is_done(queue);
	return 0;
}

static void destroy_all(const struct levelzero_functions *call, struct levelzero_list *list)
{
	while (list) {
		struct levelzero_list *next = list->next;
		call->zeCommandListDestroy(list->handle);
		free(list);
		list = next;
	}
}

void levelzero_lists_close(struct levelzero_queue *queue)
{
	const struct levelzero_functions *call = levelzero_calls(queue->base.device);

	destroy_all(call, queue->gathering);
	destroy_all(call, queue->flying);
	destroy_all(call, queue->idle);
	queue->gathering = queue->flying = queue->idle = NULL;
}
