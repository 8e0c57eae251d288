// SPDX-License-Identifier: Apache-2.0
// Launches add_one of a SPIR-V file on Level Zero in the ways on which it hangs whether counters in
// the memory of a device are read back: counted_ends FILE WAY. Prints the number of launches, and
// what the kernel wrote where it is done by then.
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS = 64, TURNS = 2000000, MANY = 65 };

static struct device device;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static int *numbers;
static const ze_group_count_t one_group = { 1, 1, 1 };

static ze_kernel_handle_t make_kernel(int turns)
{
	ze_kernel_handle_t made = kernel_of(module, "add_one");

	set_argument(made, 0, sizeof numbers, &numbers);
	set_argument(made, 1, sizeof turns, &turns);
	check(zeKernelSetGroupSize(made, ITEMS, 1, 1), "zeKernelSetGroupSize");
	return made;
}

static void launch(ze_command_list_handle_t list, uint32_t wait_count, ze_event_handle_t *waits)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, &one_group, NULL, wait_count, waits),
	      "zeCommandListAppendLaunchKernel");
}

static void done(int launches)
{
	long sum = 0;

	for (int i = 0; i < ITEMS; i++)
		sum += numbers[i];
	printf("%d launches, %ld\n", launches, sum);
}

static void execute(uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);

	launch(list, wait_count, waits);
	check(zeCommandListClose(list), "zeCommandListClose");
	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
	      "zeCommandQueueExecuteCommandLists");
}

static void destroy_context(void)
{
	check(zeContextDestroy(device.context), "zeContextDestroy");
	printf("1 launches\n");
}

// The context goes while the kernel, which takes a while, runs.
static void in_flight(void)
{
	kernel = make_kernel(TURNS);
	execute(0, NULL);
	destroy_context();
}

// It goes while a launch waits for what never comes.
static void stuck(void)
{
	ze_event_handle_t never = event_of(pool_of(&device, 1), 0);

	execute(1, &never);
	destroy_context();
}

static void immediate_in_flight(void)
{
	kernel = make_kernel(TURNS);
	launch(immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS), 0, NULL);
	destroy_context();
}

// The process ends once the kernel has begun, and nothing waits for its end.
static void end_within(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (*(volatile int *)numbers == 0)
		nanosleep(&pause, NULL);
	printf("1 launches\n");
}

static void asynchronous(void)
{
	kernel = make_kernel(TURNS);
	launch(immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS), 0, NULL);
	end_within();
}

static void unfinished(void)
{
	kernel = make_kernel(TURNS);
	execute(0, NULL);
	end_within();
}

static void synchronized(void)
{
	ze_command_list_handle_t list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_result_t(ZE_APICALL * wait)(ze_command_list_handle_t, uint64_t);
	void *address = NULL;

	check(zeDriverGetExtensionFunctionAddress(device.driver, "zeCommandListHostSynchronize",
	                                          &address),
	      "zeDriverGetExtensionFunctionAddress");
	memcpy(&wait, &address, sizeof address);
	launch(list, 0, NULL);
	check(wait(list, UINT64_MAX), "zeCommandListHostSynchronize");
	done(1);
}

// Two kernels of one name.
static void twice(void)
{
	ze_command_list_handle_t list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

	launch(list, 0, NULL);
	kernel = make_kernel(1);
	launch(list, 0, NULL);
	done(2);
}

// One call launches more kernels than tare has room for; the device runs all.
static void many(void)
{
	ze_kernel_handle_t kernels[MANY];
	ze_group_count_t *groups = memory_of(&device, HOST, MANY * sizeof *groups);
	uint32_t *number = memory_of(&device, HOST, sizeof *number);

	*number = MANY;
	for (int i = 0; i < MANY; i++) {
		kernels[i] = kernel;
		groups[i] = one_group;
	}
	check(zeCommandListAppendLaunchMultipleKernelsIndirect(
	          immediate_of(&device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS), MANY, kernels, number,
	          groups, NULL, 0, NULL),
	      "zeCommandListAppendLaunchMultipleKernelsIndirect");
	done(MANY);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "in-flight", in_flight },   { "immediate-in-flight", immediate_in_flight },
	{ "stuck", stuck },           { "asynchronous", asynchronous },
	{ "unfinished", unfinished }, { "synchronized", synchronized },
	{ "twice", twice },           { "many", many },
};

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	device = open_device();
	module = module_of(&device, words[1]);
	numbers = memory_of(&device, HOST, ITEMS * sizeof *numbers);
	memset(numbers, 0, ITEMS * sizeof *numbers);
	kernel = make_kernel(1);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(words[2], ways[i].name) == 0) {
			ways[i].run();
			return 0;
		}
	return 2;
}
