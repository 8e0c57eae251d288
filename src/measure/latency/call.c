// SPDX-License-Identifier: Apache-2.0
// What calls of the host from a queue cost. Their entries and exits are read from the host's clock,
// so that no stamps are needed: from one call to the next the queue did nothing else.
#include "backend/call.h"
#include "measure/latency/internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CALLS 2

// On the heap: a call that comes after we gave up on it must still find it.
struct latency_call {
	struct tare_device *device;
	struct tare_host_time entered, left;
	atomic_bool done;
};

static void on_call(void *context)
{
	struct latency_call *call = context;

	call->entered = tare_device_now(call->device);
	call->left = tare_device_now(call->device);
	atomic_store(&call->done, true);
}

static struct tare_operation operation_of(struct latency_call *call)
{
	return (struct tare_operation){ .type = TARE_OPERATION_HOST_CALL,
		                        .call = { .function = on_call, .context = call } };
}

// Two calls, with an empty kernel between them if `kernel`, and the wait for them.
static int run_calls(struct latency_task *task, bool kernel, int64_t limit_ns,
                     struct tare_host_time *begin, struct tare_host_time *returned,
                     struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	struct tare_operation launch = latency_launch(task->latency);
	int status = 0;

	for (size_t i = 0; i < CALLS; i++)
		atomic_store(&task->calls[i].done, false);
	*begin = tare_device_now(bench->device);
	for (size_t i = 0; status == 0 && i < CALLS; i++) {
		struct tare_operation call = operation_of(&task->calls[i]);
		if (i && kernel)
			status = tare_append(bench->plain, &launch, NULL, error);
		status = status ?: tare_append(bench->plain, &call, NULL, error);
	}
	status = status < 0 ? tare_bench_settle(bench->plain, status, error)
	                    : tare_finish(bench->plain, limit_ns, error);
	*returned = tare_device_now(bench->device);
	if (tare_device_is_gone(status))
		task->calls = NULL; // theirs now
	for (size_t i = 0; status == 0 && i < CALLS; i++)
		if (!atomic_load(&task->calls[i].done))
			status = tare_fail(
			    error, EIO, "the queue was done before its host function was called");
	return status;
}

static int begin(struct latency_task *task, bool kernel, struct tare_error *error)
{
	struct tare_host_time first, last;

	task->calls = calloc(CALLS, sizeof *task->calls);
	if (!task->calls)
		return tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; i < CALLS; i++)
		task->calls[i].device = task->latency->bench.device;
	return run_calls(task, kernel, TARE_LIMIT_DEFAULT_NS, &first, &last, error);
}

int latency_begin_call(struct latency_task *task, struct tare_error *error)
{
	return begin(task, false, error);
}

int latency_sample_call(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_host_time first, last;
	int status = run_calls(task, false, TARE_LIMIT_NATIVE, &first, &last, error);

	if (status < 0)
		return status;
	values[0] = latency_ps(first, task->calls[0].entered, 1);
	values[1] = latency_ps(task->calls[0].left, task->calls[1].entered, 1);
	values[2] = latency_ps(task->calls[1].left, last, 1);
	return 0;
}

int latency_begin_call_kernel(struct latency_task *task, struct tare_error *error)
{
	return begin(task, true, error);
}

int latency_sample_call_kernel(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_host_time first, last;
	int status = run_calls(task, true, TARE_LIMIT_NATIVE, &first, &last, error);

	if (status == 0)
		values[0] = latency_ps(task->calls[0].left, task->calls[1].entered, 1);
	return status;
}
