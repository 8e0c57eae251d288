// SPDX-License-Identifier: Apache-2.0
// Stands between a command and the simulated device and counts native waits (without a limit) that
// no limited wait on the same queue, for the same kind of operation, has come before. Include after
// cmocka.h.
#pragma once
#include "tests/unit/measure/core/simulated_run.h"

static struct tare_backend native_watched, native_plain;
static struct {
	struct tare_queue *queue;
	unsigned last, tried; // kind of the last operation; bits of kinds tried with a limit
} native_queues[64];
static size_t native_violations;

static inline size_t native_queue(struct tare_queue *queue)
{
	size_t i = 0;
	while (native_queues[i].queue && native_queues[i].queue != queue)
		assert_true(++i < 64);
	native_queues[i].queue = queue;
	return i;
}

static inline int native_append(struct tare_queue *queue, const struct tare_operation *operation,
                                struct tare_event **event, struct tare_error *error)
{
	size_t i = native_queue(queue);
	native_queues[i].last = operation->type;
	native_violations +=
	    operation->blocking && !(native_queues[i].tried >> operation->type & 1);
	return native_plain.append(queue, operation, event, error);
}

static inline int native_finish(struct tare_queue *queue, int64_t limit_ns,
                                struct tare_error *error)
{
	size_t i = native_queue(queue);
	int status = native_plain.finish(queue, limit_ns, error);
	if (limit_ns == TARE_LIMIT_NATIVE)
		native_violations += !(native_queues[i].tried >> native_queues[i].last & 1);
	else if (status == 0)
		native_queues[i].tried |= 1u << native_queues[i].last;
	return status;
}

// A queue that is freed leaves its address to another one.
static inline void native_free(struct tare_queue *queue)
{
	native_queues[native_queue(queue)].tried = 0;
	native_plain.queue_free(queue);
}

static inline void watch_native_waits(struct simulated_run *simulated)
{
	native_plain = native_watched = *simulated->device->backend;
	native_watched.append = native_append;
	native_watched.finish = native_finish;
	native_watched.queue_free = native_free;
	simulated->device->backend = &native_watched;
	memset(native_queues, 0, sizeof native_queues);
	native_violations = 0;
}
