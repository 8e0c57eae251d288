// SPDX-License-Identifier: Apache-2.0
// Launches a kernel in one style after another, as programs do, for the tests of counters:
//   counted STYLE...
// It prints what it launched, and whether metrics that it uses itself work.
#include "example.h"

#include <level_zero/zet_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 24, IN_LIST = 2 };
static struct device device;
static ze_kernel_handle_t kernel;
static const ze_group_count_t one = { 1, 1, 1 };

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
}

static ze_event_handle_t make_event(ze_event_pool_handle_t *pool)
{
	const ze_event_pool_desc_t pools = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                             .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		                             .count = 1 };
	const ze_event_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_event_handle_t event;
	check(zeEventPoolCreate(device.context, &pools, 0, NULL, pool), "zeEventPoolCreate");
	check(zeEventCreate(*pool, &desc, &event), "zeEventCreate");
	return event;
}

// Nothing, for so long that a sampled device is at work now and then.
static void slowly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
}

// Each is waited for by its event.
static void in_turn(void)
{
	ze_command_list_handle_t list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool;
	ze_event_handle_t event = make_event(&pool);
	for (int i = 0; i < ROUNDS; i++) {
		launch(list, event);
		check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
		check(zeEventHostReset(event), "zeEventHostReset");
	}
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void synchronous(void)
{
	ze_command_list_handle_t list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	for (int i = 0; i < ROUNDS; i++)
		launch(list, NULL);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void *thread_main(void *context)
{
	(void)context;
	in_turn();
	return NULL;
}

// Their kernels run beside each other.
static void threads(void)
{
	pthread_t other;
	pthread_create(&other, NULL, thread_main, NULL);
	in_turn();
	pthread_join(other, NULL);
}

static void regular(bool anew)
{
	const ze_command_queue_desc_t queues = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                 .ordinal = device.compute };
	const ze_command_list_desc_t lists = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                               .commandQueueGroupOrdinal = device.compute };
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	check(zeCommandQueueCreate(device.context, device.id, &queues, &queue),
	      "zeCommandQueueCreate");
	check(zeCommandListCreate(device.context, device.id, &lists, &list), "zeCommandListCreate");
	for (int i = 0; i < ROUNDS / IN_LIST; i++) {
		if (i == 0 || anew) {
			check(zeCommandListReset(list), "zeCommandListReset");
			for (int k = 0; k < IN_LIST; k++)
				launch(list, NULL);
			check(zeCommandListClose(list), "zeCommandListClose");
		}
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
		      "zeCommandQueueExecuteCommandLists");
		check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
	}
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

static void again(void)
{
	regular(false);
}

static void anew(void)
{
	regular(true);
}

// Executed again and again, and waited for once.
static void behind(void)
{
	const ze_command_queue_desc_t queues = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                 .ordinal = device.compute };
	const ze_command_list_desc_t lists = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                               .commandQueueGroupOrdinal = device.compute };
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	check(zeCommandQueueCreate(device.context, device.id, &queues, &queue),
	      "zeCommandQueueCreate");
	check(zeCommandListCreate(device.context, device.id, &lists, &list), "zeCommandListCreate");
	for (int k = 0; k < IN_LIST; k++)
		launch(list, NULL);
	check(zeCommandListClose(list), "zeCommandListClose");
	for (int i = 0; i < ROUNDS / IN_LIST; i++)
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
		      "zeCommandQueueExecuteCommandLists");
	check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// The program's own metrics: what they do is the same with and without a recorder.
static void own(void)
{
	zet_metric_group_handle_t group;
	uint32_t count = 1;
	ze_result_t result = zetMetricGroupGet(device.id, &count, &group);
	if (result == ZE_RESULT_SUCCESS && count == 1)
		result = zetContextActivateMetricGroups(device.context, device.id, 1, &group);
	printf("own %x\n", (unsigned)result);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} styles[] = { { "in-turn", in_turn }, { "synchronous", synchronous },
		       { "threads", threads }, { "again", again },
		       { "anew", anew },       { "behind", behind },
		       { "own", own },         { "slowly", slowly } };
	ze_module_handle_t module;

	device = open_device();
	module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	check(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	for (int i = 1; i < count; i++)
		for (size_t k = 0; k < sizeof styles / sizeof *styles; k++)
			if (strcmp(arguments[i], styles[k].name) == 0) {
				styles[k].run();
				printf("done %s\n", styles[k].name);
			}
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	check(zeModuleDestroy(module), "zeModuleDestroy");
	close_device(&device);
	return 0;
}
