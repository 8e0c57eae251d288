// SPDX-License-Identifier: Apache-2.0
// Launches on a thread of their own, for devices that run a kernel inside the call that enqueues
// it (PoCL's `basic`): a kernel that never ends would keep the host for ever, and no wait with a
// limit would be reached. Only for kernels that are not known to end, because the hand-over takes
// time of its own.
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct opencl_aside {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum { ASIDE_IDLE, ASIDE_ASKED, ASIDE_DONE, ASIDE_STUCK, ASIDE_END } state;
	const struct opencl_functions *cl;
	struct opencl_launch_call call; // the wait list is a copy
	cl_event event;
	cl_int code;
};

cl_int opencl_launch_now(const struct opencl_functions *cl, const struct opencl_launch_call *call)
{
	return cl->clEnqueueNDRangeKernel(call->queue, call->kernel, call->dimensions, NULL,
	                                  call->global, call->local, call->wait_count, call->waits,
	                                  call->event);
}

static void *serve(void *context)
{
	struct opencl_aside *aside = context;

	pthread_mutex_lock(&aside->lock);
	while (aside->state != ASIDE_END) {
		if (aside->state != ASIDE_ASKED) {
			pthread_cond_wait(&aside->changed, &aside->lock);
			continue;
		}
		pthread_mutex_unlock(&aside->lock);
		cl_int code = opencl_launch_now(aside->cl, &aside->call);
		pthread_mutex_lock(&aside->lock);
		aside->code = code;
		// What the caller gave up on stays given up.
		if (aside->state == ASIDE_ASKED)
			aside->state = ASIDE_DONE;
		pthread_cond_broadcast(&aside->changed);
	}
	pthread_mutex_unlock(&aside->lock);
	return NULL;
}

static int open_aside(struct opencl_device *device, struct tare_error *error)
{
	pthread_condattr_t attributes;

	if (device->aside)
		return 0;
	struct opencl_aside *aside = calloc(1, sizeof *aside);
	if (!aside)
		return tare_fail(error, ENOMEM, "out of memory");
	aside->cl = device->cl;
	pthread_mutex_init(&aside->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&aside->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	int code = pthread_create(&aside->thread, NULL, serve, aside);
	if (code) {
		free(aside);
		return tare_fail(error, code, "cannot start a thread to launch kernels from: %s",
		                 strerror(code));
	}
	device->aside = aside;
	return 0;
}

void opencl_aside_close(struct opencl_device *device)
{
	struct opencl_aside *aside = device->aside;

	device->aside = NULL;
	if (!aside)
		return;
	pthread_mutex_lock(&aside->lock);
	bool stuck = aside->state == ASIDE_STUCK;
	aside->state = ASIDE_END;
	pthread_cond_broadcast(&aside->changed);
	pthread_mutex_unlock(&aside->lock);
	// A thread that is stuck in the driver keeps what it uses.
	if (stuck) {
		pthread_detach(aside->thread);
		return;
	}
	pthread_join(aside->thread, NULL);
	free((void *)aside->call.waits);
	free(aside);
}

static int copy_call(struct opencl_aside *aside, const struct opencl_launch_call *call,
                     struct tare_error *error)
{
	cl_event *waits = NULL;

	if (call->wait_count) {
		waits = calloc(call->wait_count, sizeof(cl_event));
		if (!waits)
			return tare_fail(error, ENOMEM, "out of memory");
		memcpy(waits, call->waits, call->wait_count * sizeof(cl_event));
	}
	free((void *)aside->call.waits);
	aside->call = *call;
	aside->call.waits = waits;
	aside->call.event = call->event ? &aside->event : NULL;
	aside->event = NULL;
	return 0;
}

static int stuck(const struct opencl_device *device, struct tare_error *error)
{
	return tare_fail(error, ETIMEDOUT,
	                 "a kernel was not done after %.3g s (this device runs kernels inside the "
	                 "call that launches them)",
	                 (double)device->launch_limit_ns / 1e9);
}

int opencl_launch_aside(struct opencl_device *device, const struct opencl_launch_call *call,
                        cl_int *code, struct tare_error *error)
{
	struct timespec until;
	int rc = open_aside(device, error);

	if (rc < 0)
		return rc;
	struct opencl_aside *aside = device->aside;
	if (aside->state == ASIDE_STUCK)
		return stuck(device, error);
	rc = copy_call(aside, call, error);
	if (rc < 0)
		return rc;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(device->launch_limit_ns / 1000000000);
	until.tv_nsec += (long)(device->launch_limit_ns % 1000000000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&aside->lock);
	aside->state = ASIDE_ASKED;
	pthread_cond_broadcast(&aside->changed);
	while (aside->state == ASIDE_ASKED)
		if (pthread_cond_timedwait(&aside->changed, &aside->lock, &until) == ETIMEDOUT &&
		    aside->state == ASIDE_ASKED)
			aside->state = ASIDE_STUCK;
	bool done = aside->state == ASIDE_DONE;
	if (done)
		aside->state = ASIDE_IDLE;
	pthread_mutex_unlock(&aside->lock);
	if (!done)
		return stuck(device, error);
	*code = aside->code;
	if (call->event)
		*call->event = aside->event;
	return 0;
}
