// SPDX-License-Identifier: Apache-2.0
// Waiting with a limit: by the API's own calls, which all have one.
#include "backend/levelzero/work.h"

#include "base/interrupt.h"

#include <errno.h>

// The API's own call takes a limit at no cost, so that what hangs in the middle of a measurement
// ends in time as well.
static uint64_t timeout(const struct tare_device *device, int64_t limit_ns)
{
	int64_t longest_ns = ((const struct levelzero_device *)device)->driver->longest_wait_ns;

	if (limit_ns == TARE_LIMIT_NATIVE)
		limit_ns = TARE_LIMIT_DEFAULT_NS;
	if (longest_ns > 0 && limit_ns > longest_ns)
		limit_ns = longest_ns;
	return limit_ns > 0 ? (uint64_t)limit_ns : 0;
}

// Cuts a wait, so that who interrupts it need not wait for its end. A wait of a piece and less is
// one call.
#define PIECE_NS 250000000
struct pieces {
	uint64_t left_ns;
	bool interrupted;
};

static uint64_t piece(const struct pieces *pieces)
{
	return pieces->left_ns < PIECE_NS ? pieces->left_ns : PIECE_NS;
}

// Whether to go on after a piece that ended with `result`.
static bool next_piece(struct pieces *pieces, ze_result_t result)
{
	pieces->left_ns -= piece(pieces);
	if (result != ZE_RESULT_NOT_READY || pieces->left_ns == 0)
		return false;
	pieces->interrupted = tare_interrupt_due();
	return !pieces->interrupted;
}

#define WAIT_IN_PIECES(pieces, result, call, handle)                                               \
	do                                                                                         \
		(result) = (call)(handle, piece(pieces));                                          \
	while (next_piece(pieces, result))

static int late(int64_t limit_ns, const char *what, const struct tare_device *device,
                struct tare_error *error)
{
	return tare_fail(error, ETIMEDOUT, "%s of device %u: not done after %.3g s", what,
	                 device->index, (double)timeout(device, limit_ns) / 1e9);
}

// What the calls said that waited in pieces.
static int outcome(const struct pieces *pieces, ze_result_t result, const char *call,
                   int64_t limit_ns, const char *what, const struct tare_device *device,
                   struct tare_error *error)
{
	if (result == ZE_RESULT_SUCCESS)
		return 0;
	if (pieces->interrupted)
		return tare_fail(error, EINTR, "interrupted while waiting for %s", what);
	if (result == ZE_RESULT_NOT_READY)
		return late(limit_ns, what, device, error);
	return levelzero_fail(result, call, error, "waiting failed");
}

int levelzero_slot_wait(const struct levelzero_device *device, ze_event_handle_t handle,
                        int64_t limit_ns, const char *what, struct tare_error *error)
{
	struct pieces pieces = { timeout(&device->base, limit_ns), false };
	ze_result_t result;

	WAIT_IN_PIECES(&pieces, result, device->driver->call.zeEventHostSynchronize, handle);
	return outcome(&pieces, result, "zeEventHostSynchronize", limit_ns, what, &device->base,
	               error);
}

// Where immediate lists cannot be waited for (before 1.6): by an event of a barrier at their end.
static int finish_by_event(struct levelzero_queue *queue, int64_t limit_ns,
                           struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(queue->base.device);
	struct levelzero_slot *slot = NULL;
	int status = levelzero_slot_take(device, false, &slot, error);

	if (status < 0)
		return status;
	ze_result_t result =
	    device->driver->call.zeCommandListAppendBarrier(queue->list, slot->handle, 0, NULL);
	if (result != ZE_RESULT_SUCCESS) {
		levelzero_slot_give_unused(device, slot);
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot finish a queue");
	}
	queue->unordered = false;
	status = levelzero_slot_wait(device, slot->handle, limit_ns, "a queue", error);
	levelzero_slot_give(device, slot, status == 0);
	return status;
}

static int finish_immediate(struct levelzero_queue *queue, int64_t limit_ns,
                            struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(queue->base.device);
	const struct levelzero_functions *call = &device->driver->call;

	if (call->zeCommandListHostSynchronize) {
		struct pieces pieces = { timeout(&device->base, limit_ns), false };
		ze_result_t result;
		WAIT_IN_PIECES(&pieces, result, call->zeCommandListHostSynchronize, queue->list);
		if (result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
			return outcome(&pieces, result, "zeCommandListHostSynchronize", limit_ns,
			               "a queue", &device->base, error);
	}
	return finish_by_event(queue, limit_ns, error);
}

int levelzero_finish(struct tare_queue *base, int64_t limit_ns, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	const struct levelzero_functions *call = levelzero_calls(base->device);
	struct pieces pieces = { timeout(base->device, limit_ns), false };
	int status;

	if (queue->deferred) {
		ze_result_t result;
		status = levelzero_submit(base, error);
		if (status == 0) {
			WAIT_IN_PIECES(&pieces, result, call->zeCommandQueueSynchronize,
			               queue->native);
			status = outcome(&pieces, result, "zeCommandQueueSynchronize", limit_ns,
			                 "a queue", base->device, error);
		}
	} else {
		status = finish_immediate(queue, limit_ns, error);
	}
	if (status == 0)
		levelzero_queue_is_done(queue);
	return status;
}

static int need_fence(struct levelzero_queue *queue, const struct levelzero_functions *call,
                      struct tare_error *error)
{
	const ze_fence_desc_t description = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	const char *name = queue->fence ? "zeFenceReset" : "zeFenceCreate";
	ze_result_t result;

	if (!call->zeFenceCreate || !call->zeFenceReset || !call->zeFenceHostSynchronize ||
	    !call->zeFenceDestroy)
		return tare_fail(error, ENOTSUP, "this loader has no fences (zeFenceCreate)");
	if (queue->fence_pending)
		return tare_fail(error, EINVAL,
		                 "the queue's fence is still pending from an earlier wait");
	result = queue->fence ? call->zeFenceReset(queue->fence)
	                      : call->zeFenceCreate(queue->native, &description, &queue->fence);
	return result == ZE_RESULT_SUCCESS
	           ? 0
	           : levelzero_fail(result, name, error, "cannot make a fence");
}

int levelzero_finish_fenced(struct tare_queue *base, int64_t limit_ns, struct tare_error *error)
{
	struct levelzero_queue *queue = (struct levelzero_queue *)base;
	const struct levelzero_functions *call = levelzero_calls(base->device);
	int status;

	if (!queue->deferred)
		return tare_fail(error, ENOTSUP, "an immediate list takes no fence");
	// Nothing would signal it.
	if (!queue->gathering)
		return levelzero_finish(base, limit_ns, error);
	status = need_fence(queue, call, error);
	status = status ?: levelzero_submit_list(queue, queue->fence, error);
	queue->fence_pending = queue->fence_pending || status == 0;
	if (status == 0) {
		struct pieces pieces = { timeout(base->device, limit_ns), false };
		ze_result_t result;
		WAIT_IN_PIECES(&pieces, result, call->zeFenceHostSynchronize, queue->fence);
		status = outcome(&pieces, result, "zeFenceHostSynchronize", limit_ns, "a queue",
		                 base->device, error);
	}
	if (status == 0)
		levelzero_queue_is_done(queue);
	return status;
}
