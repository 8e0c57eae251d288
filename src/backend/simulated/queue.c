// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include "base/interrupt.h"

#include <errno.h>
#include <stdlib.h>

static struct simulated_device *device_of(const struct tare_queue *queue)
{
	return (struct simulated_device *)queue->device;
}

static int check_options(const struct simulated_device *device,
                         const struct tare_queue_options *options, struct tare_error *error)
{
	if (options->engine >= device->script->engine_count)
		return tare_fail(error, EINVAL,
		                 "there are %zu engines; number %u is not among them",
		                 device->script->engine_count, options->engine);
	if (options->order == TARE_QUEUE_OUT_OF_ORDER)
		return simulated_lacks(device, TARE_LACK_OUT_OF_ORDER, error);
	if (options->order == TARE_QUEUE_THREAD_DEFAULT)
		return tare_fail(error, ENOTSUP,
		                 "the simulated device has no default queue of a thread");
	if (options->order == TARE_QUEUE_DEFERRED)
		return simulated_lacks(device, TARE_LACK_DEFERRED, error);
	return 0;
}

static struct simulated_queue *queue_new(struct simulated_device *device)
{
	struct simulated_queue *queue = calloc(1, sizeof *queue);

	if (!queue)
		return NULL;
	queue->base.device = &device->base;
	// At the end, so that older queues come first wherever the order could show.
	struct simulated_queue **end = &device->queues;
	while (*end)
		end = &(*end)->next;
	*end = queue;
	return queue;
}

int simulated_queue_create(struct tare_device *base, const struct tare_queue_options *options,
                           struct tare_queue **result, struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)base;
	const struct tare_script_queue *script = &device->script->queue;
	int status = simulated_check(device, error);

	status = status ?: check_options(device, options, error);
	if (status < 0)
		return status;
	struct simulated_queue *queue = queue_new(device);
	if (!queue)
		return tare_fail(error, ENOMEM, "out of memory");
	queue->order = options->order;
	queue->timed = options->timed;
	queue->deferred =
	    options->order == TARE_QUEUE_DEFERRED || script->flush == TARE_FLUSH_SUBMIT;
	queue->model =
	    tare_model_queue_new(device->model,
	                         options->order == TARE_QUEUE_OUT_OF_ORDER ? TARE_MODEL_OUT_OF_ORDER
	                                                                   : TARE_MODEL_IN_ORDER,
	                         script->route == TARE_ROUTE_QUEUE ? (int)options->engine : -1);
	if (!queue->model) {
		simulated_queue_free(&queue->base);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	*result = &queue->base;
	return 0;
}

// Lets the model run until the queue is empty, but not beyond the limit; says whether it is.
static bool run_empty(struct simulated_device *device, struct simulated_queue *queue,
                      int64_t limit_ps)
{
	bool done = true;

	while (done && queue->first) {
		struct simulated_command *command = simulated_command_keep(queue->first);
		done = tare_model_run_until(device->model, &command->model, limit_ps);
		simulated_command_release(command);
	}
	return done;
}

// What is under way ends as on a device that is torn down; what can never end is dropped.
static void drain(struct simulated_device *device, struct simulated_queue *queue)
{
	int64_t limit_ps = tare_model_add_ps(device->host_ps, TARE_LIMIT_DEFAULT_NS * 1000);

	simulated_flush(queue);
	run_empty(device, queue, limit_ps);
	simulated_host_goes_on_at(device, tare_model_now_ps(device->model));
	while (queue->last)
		simulated_command_cancel(queue->last);
}

void simulated_queue_free(struct tare_queue *base)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device;

	if (!queue)
		return;
	device = device_of(base);
	if (queue->model) {
		drain(device, queue);
		tare_model_queue_free(device->model, queue->model);
	}
	struct simulated_queue **link = &device->queues;
	while (*link != queue)
		link = &(*link)->next;
	*link = queue->next;
	free(queue);
}

int simulated_submit(struct tare_queue *base, struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = device_of(base);
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	simulated_spend(device, device->script->host.submit_ps);
	simulated_flush(queue);
	return 0;
}

int simulated_finish(struct tare_queue *base, int64_t limit_ns, struct tare_error *error)
{
	struct simulated_queue *queue = (struct simulated_queue *)base;
	struct simulated_device *device = device_of(base);
	const struct tare_script_host *host = &device->script->host;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	if (queue->recording)
		return tare_fail(error, EINVAL, "the queue records a graph; nothing in it runs");
	simulated_flush(queue);
	int64_t began_ps = device->host_ps;
	int64_t limit_ps = limit_ns < 0 || limit_ns > TARE_PS_MAX / 1000
	                       ? TARE_PS_MAX
	                       : tare_model_add_ps(began_ps, limit_ns * 1000);
	bool waited = queue->first != NULL;
	bool empty = run_empty(device, queue, limit_ps);
	if (!empty && limit_ns < 0)
		return tare_fail(error, ETIMEDOUT,
		                 "this wait would never end: the queue is held by a gate, "
		                 "or an operation in it hangs");
	if (!empty) {
		simulated_host_goes_on_at(device, limit_ps);
		return tare_fail(error, ETIMEDOUT, "the queue is not done after %.3g s",
		                 (double)limit_ns / 1e9);
	}
	int64_t idle_ps = tare_model_add_ps(began_ps, host->finish_ps);
	int64_t awake_ps = tare_model_add_ps(tare_model_now_ps(device->model), host->wake_ps);
	simulated_host_goes_on_at(device, waited && awake_ps > idle_ps ? awake_ps : idle_ps);
	uint64_t failed = queue->failed;
	queue->failed = 0;
	if (tare_interrupt_due())
		return tare_fail(error, EINTR, "interrupted while waiting for a queue");
	status = simulated_check(device, error);
	if (status == 0 && failed)
		return tare_fail(error, EIO,
		                 "operation %llu failed on the device (fault failure of the "
		                 "script)",
		                 (unsigned long long)failed);
	return status;
}
