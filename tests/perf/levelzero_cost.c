// SPDX-License-Identifier: Apache-2.0
// How long calls of Level Zero take their thread, recorded or not; levelzero_cost.py runs it.
//   levelzero_cost WHAT ROUNDS
// WHAT is a name of `measured`. Printed are the best and the median of the rounds, in nanoseconds
// of the thread's CPU time a call; what is done between the rounds is not in it.
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 2000, EXECUTIONS = 50, IN_LIST = 10 };

static struct device device;
static ze_kernel_handle_t kernel;
static const ze_group_count_t one = { 1, 1, 1 };
static ze_command_list_handle_t list;
static ze_command_queue_handle_t queue;
static ze_event_handle_t events[CALLS];

// The loops: each in a function of its own, so that a profiler can be told to count there alone.
#define LOOP __attribute__((noinline)) static void

LOOP loop_barrier(ze_event_handle_t *each)
{
	for (int i = 0; i < CALLS; i++)
		zeCommandListAppendBarrier(list, each != NULL ? each[i] : NULL, 0, NULL);
}

LOOP loop_launch(ze_event_handle_t *each)
{
	for (int i = 0; i < CALLS; i++)
		zeCommandListAppendLaunchKernel(list, kernel, &one, each != NULL ? each[i] : NULL,
		                                0, NULL);
}

LOOP loop_execute(ze_event_handle_t *each)
{
	(void)each;
	for (int i = 0; i < EXECUTIONS; i++)
		zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL);
}

LOOP loop_noted(ze_event_handle_t *each)
{
	(void)each;
	for (int i = 0; i < CALLS; i++)
		zeKernelSetGroupSize(kernel, 1, 1, 1);
}

LOOP loop_passed(ze_event_handle_t *each)
{
	(void)each;
	ze_kernel_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES };
	for (int i = 0; i < CALLS; i++)
		zeKernelGetProperties(kernel, &properties);
}

// ---- what is measured

enum made { NOTHING, IMMEDIATE, REGULAR, EXECUTED };

static const struct measure {
	const char *name;
	enum made made;
	void (*loop)(ze_event_handle_t *each);
	bool with_events;
	int calls;
} measured[] = {
	{ "immediate", IMMEDIATE, loop_barrier, true, CALLS },
	{ "immediate-plain", IMMEDIATE, loop_barrier, false, CALLS },
	{ "immediate-launch", IMMEDIATE, loop_launch, true, CALLS },
	{ "regular", REGULAR, loop_launch, true, CALLS },
	{ "regular-plain", REGULAR, loop_launch, false, CALLS },
	{ "regular-barrier", REGULAR, loop_barrier, true, CALLS },
	{ "execute", EXECUTED, loop_execute, false, EXECUTIONS },
	{ "noted", NOTHING, loop_noted, false, CALLS },
	{ "passed", NOTHING, loop_passed, false, CALLS },
};

static void make(const struct measure *what)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = device.compute,
		                               .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	queue = queue_of(&device, device.compute, 0);
	if (what->made == IMMEDIATE)
		check(zeCommandListCreateImmediate(device.context, device.id, &desc, &list),
		      "zeCommandListCreateImmediate");
	else
		list = list_of(&device, device.compute);
	ze_event_pool_handle_t pool = pool_of(&device, CALLS);
	for (uint32_t i = 0; i < CALLS; i++)
		events[i] = event_of(pool, i);
	if (what->made != EXECUTED)
		return;
	for (uint32_t i = 0; i < IN_LIST; i++)
		check(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL),
		      "zeCommandListAppendLaunchKernel");
	check(zeCommandListClose(list), "zeCommandListClose");
}

static void between(const struct measure *what)
{
	if (what->made == IMMEDIATE) {
		ze_event_handle_t last = events[0];
		check(zeEventHostReset(last), "zeEventHostReset");
		check(zeCommandListAppendBarrier(list, last, 0, NULL),
		      "zeCommandListAppendBarrier");
		check(zeEventHostSynchronize(last, UINT64_MAX), "zeEventHostSynchronize");
	} else if (what->made == REGULAR) {
		check(zeCommandListReset(list), "zeCommandListReset");
	} else if (what->made == EXECUTED) {
		synchronize(queue);
	}
	for (uint32_t i = 0; i < CALLS; i++)
		check(zeEventHostReset(events[i]), "zeEventHostReset");
}

static double cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **arguments)
{
	const struct measure *what = measured, *end = measured + sizeof measured / sizeof *measured;
	while (what != end && (count != 3 || strcmp(what->name, arguments[1]) != 0))
		what++;
	size_t rounds = what != end ? strtoul(arguments[2], NULL, 10) : 0;
	double *taken = rounds != 0 && rounds < 100000 ? malloc(rounds * sizeof *taken) : NULL;
	if (taken == NULL)
		stop("usage: levelzero_cost WHAT ROUNDS");
	device = open_device();
	kernel = kernel_of(module_of(&device, getenv("LEVELZERO_COST_KERNELS")), "empty");
	check(zeKernelSetGroupSize(kernel, 1, 1, 1), "zeKernelSetGroupSize");
	make(what);
	for (size_t i = 0; i < rounds; i++) {
		double from = cpu_ns();
		what->loop(what->with_events ? events : NULL);
		taken[i] = (cpu_ns() - from) / what->calls;
		between(what);
	}
	double best = taken[0];
	for (size_t i = 1; i < rounds; i++)
		best = taken[i] < best ? taken[i] : best;
	printf("cost %.1f %.1f calls %zu\n", best, median(taken, rounds),
	       rounds * (size_t)what->calls);
	free(taken);
}
