// SPDX-License-Identifier: Apache-2.0
// What programs do wrong, or what goes wrong for them:
//   bad STYLE
// It prints "run KIND" for each command that was appended, and what calls answered. With
// FAIL_AFTER=N in the environment the recorder's mappings fail from the Nth on.
#include "example.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 20u

static struct device device;
static ze_kernel_handle_t kernel;
static const ze_group_count_t one = { 1, 1, 1 };

// ---- no memory for the recorder

__attribute__((visibility("default"))) void *mmap(void *address, size_t length, int protection,
                                                  int flags, int file, off_t offset)
{
	static _Atomic long calls;
	const char *after = getenv("FAIL_AFTER");
	Dl_info where;
	if (after && dladdr(__builtin_return_address(0), &where) && where.dli_fname &&
	    strstr(where.dli_fname, "tare-recorder") && ++calls > atol(after)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

// ---- styles

static ze_command_list_handle_t immediate(void)
{
	return immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
	puts("run kernel");
}

static ze_command_list_handle_t list_with(uint32_t launches, ze_event_handle_t event)
{
	ze_command_list_handle_t list = list_of(&device, device.compute);
	for (uint32_t i = 0; i < launches; i++)
		check(zeCommandListAppendLaunchKernel(list, kernel, &one, i == 0 ? event : NULL, 0,
		                                      NULL),
		      "launch");
	check(zeCommandListClose(list), "zeCommandListClose");
	return list;
}

// Lists go while they run.
static void lists_destroyed(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_event_pool_handle_t pool = pool_of(&device, 5);
	ze_event_handle_t events[5] = { NULL };
	for (uint32_t i = 0; i < 5; i++) {
		ze_command_list_handle_t list = list_with(3, NULL), at_once = immediate();
		for (int k = 0; k < 3; k++) {
			check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
			puts("run kernel\nrun kernel\nrun kernel");
		}
		events[i] = i % 2 == 0 ? event_of(pool, i) : NULL;
		launch(at_once, events[i]);
		check(zeCommandListDestroy(list), "zeCommandListDestroy");
		check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	}
	synchronize(queue);
	for (uint32_t i = 0; i < 5; i += 2) {
		check(zeEventHostSynchronize(events[i], UINT64_MAX), "zeEventHostSynchronize");
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	}
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// Events go before anybody has read them.
static void events_destroyed(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t at_once = immediate();
	for (int i = 0; i < 5; i++) {
		ze_event_pool_handle_t pool = pool_of(&device, 2);
		ze_event_handle_t first = event_of(pool, 0), second = event_of(pool, 1);
		ze_command_list_handle_t list = list_with(2, second);
		launch(at_once, first);
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		puts("run kernel\nrun kernel");
		check(zeEventDestroy(first), "zeEventDestroy");
		check(zeEventDestroy(second), "zeEventDestroy");
		check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
		synchronize(queue);
		check(zeCommandListDestroy(list), "zeCommandListDestroy");
	}
	check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// The same handles again and again.
static void handles_reused(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	for (int i = 0; i < 50; i++) {
		ze_event_pool_handle_t pool = pool_of(&device, 1);
		ze_event_handle_t event = event_of(pool, 0);
		ze_command_list_handle_t list = list_with(1 + (uint32_t)i % 3, event),
		                         at_once = immediate();
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		for (int k = 0; k < 1 + i % 3; k++)
			puts("run kernel");
		synchronize(queue);
		check(zeEventHostReset(event), "zeEventHostReset");
		launch(at_once, event);
		check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
		check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
		check(zeCommandListDestroy(list), "zeCommandListDestroy");
		check(zeEventDestroy(event), "zeEventDestroy");
		check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	}
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// Under a script the device goes with the tenth command.
static void lost(void)
{
	ze_command_list_handle_t at_once = immediate();
	ze_event_pool_handle_t pool = pool_of(&device, COUNT);
	int refused = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		ze_event_handle_t event = event_of(pool, i);
		ze_result_t result = zeCommandListAppendLaunchKernel(at_once, kernel, &one,
		                                                     i % 2 ? event : NULL, 0, NULL);
		refused += result != ZE_RESULT_SUCCESS;
		if (i % 2)
			result = zeEventHostSynchronize(event, UINT64_MAX);
		printf("%u: 0x%x\n", i, (unsigned)result);
		zeEventDestroy(event);
	}
	printf("%d refused\n", refused);
	zeCommandListDestroy(at_once);
}

static void forked(void)
{
	ze_command_list_handle_t at_once = immediate();
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_with(2, NULL);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	launch(at_once, NULL);
	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
	puts("run kernel\nrun kernel");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		printf("child: 0x%x", (unsigned)zeCommandListAppendLaunchKernel(
		                          at_once, kernel, &one, NULL, 0, NULL));
		printf(" 0x%x", (unsigned)zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
		printf(" 0x%x\n", (unsigned)zeCommandListDestroy(list));
		fflush(stdout);
		_exit(7);
	}
	int status = 0;
	waitpid(child, &status, 0);
	printf("its status: %d\n", WEXITSTATUS(status));
	launch(at_once, event);
	synchronize(queue);
	check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

static void hostile(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t at_once = immediate(), list = list_with(1, NULL), none = NULL;
	ze_event_pool_handle_t pool = NULL;
	ze_event_handle_t event = NULL;
	void *memory = NULL;
	const ze_device_mem_alloc_desc_t desc = { .stype =
		                                      ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	const ze_copy_region_t all = { 0, 0, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX };
#define SAY(call) printf("%s: 0x%x\n", #call, (unsigned)(call))
	SAY(zeCommandQueueExecuteCommandLists(queue, UINT32_MAX, NULL, NULL));
	SAY(zeCommandQueueExecuteCommandLists(queue, 0, &list, NULL));
	SAY(zeCommandQueueExecuteCommandLists(queue, 1, &none, NULL));
	SAY(zeCommandQueueExecuteCommandLists(queue, 1, &at_once, NULL));
	SAY(zeCommandListAppendLaunchKernel(at_once, kernel, &one, NULL, UINT32_MAX, NULL));
	SAY(zeCommandListAppendLaunchKernel(at_once, kernel, NULL, NULL, 0, NULL));
	SAY(zeCommandListAppendLaunchKernel(NULL, kernel, &one, NULL, 0, NULL));
	SAY(zeCommandListAppendMemoryCopyRegion(at_once, NULL, &all, 0, 0, NULL, &all, 0, 0, NULL,
	                                        0, NULL));
	SAY(zeCommandListAppendWaitOnEvents(at_once, UINT32_MAX, NULL));
	SAY(zeMemAllocDevice(device.context, &desc, SIZE_MAX, 1, device.id, &memory));
	SAY(zeEventPoolCreate(device.context, NULL, 0, NULL, &pool));
	SAY(zeEventCreate(NULL, NULL, &event));
	SAY(zeEventDestroy(NULL));
	SAY(zeCommandListReset(NULL));
	SAY(zeCommandListDestroy(NULL));
	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
	puts("run kernel");
	synchronize(queue);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// Makes the recorder need memory for everything that it keeps, and much of it.
static void greedy(void)
{
	enum { LISTS = 150, COMMANDS = 100, EVENTS = 6000 };
	static ze_command_list_handle_t lists[LISTS];
	static ze_event_handle_t events[EVENTS];
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_event_pool_handle_t pool = pool_of(&device, EVENTS);
	ze_command_list_handle_t at_once = immediate();
	for (uint32_t i = 0; i < EVENTS; i++) {
		events[i] = event_of(pool, i);
		check(zeCommandListAppendBarrier(at_once, events[i], 0, NULL),
		      "zeCommandListAppendBarrier");
	}
	for (uint32_t i = 0; i < LISTS; i++) {
		lists[i] = list_of(&device, device.compute);
		for (uint32_t k = 0; k < COMMANDS; k++)
			check(zeCommandListAppendBarrier(lists[i], NULL, 0, NULL),
			      "zeCommandListAppendBarrier");
		check(zeCommandListClose(lists[i]), "zeCommandListClose");
	}
	for (int i = 0; i < 3; i++)
		check(zeCommandQueueExecuteCommandLists(queue, LISTS, lists, NULL), "execute");
	synchronize(queue);
	for (uint32_t i = 0; i < EVENTS; i++) {
		check(zeEventHostSynchronize(events[i], UINT64_MAX), "zeEventHostSynchronize");
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	}
	for (uint32_t i = 0; i < LISTS; i++)
		check(zeCommandListDestroy(lists[i]), "zeCommandListDestroy");
	check(zeCommandListDestroy(at_once), "zeCommandListDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
	puts("done");
}

// Until it is killed. What is printed has been appended before.
static void busy(void)
{
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_with(3, NULL), at_once = immediate();
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	setvbuf(stdout, NULL, _IONBF, 0);
	for (uint64_t i = 0;; i++) {
		launch(at_once, event);
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
		if (i % 8 == 7)
			synchronize(queue);
		check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
		check(zeEventHostReset(event), "zeEventHostReset");
	}
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} styles[] = { { "lists-destroyed", lists_destroyed },
		       { "events-destroyed", events_destroyed },
		       { "handles-reused", handles_reused },
		       { "lost", lost },
		       { "forked", forked },
		       { "hostile", hostile },
		       { "greedy", greedy },
		       { "busy", busy } };
	device = open_device();
	ze_module_handle_t module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	check(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	for (size_t i = 0; count > 1 && i < sizeof styles / sizeof *styles; i++)
		if (strcmp(arguments[1], styles[i].name) == 0)
			styles[i].run();
	zeKernelDestroy(kernel);
	zeModuleDestroy(module);
	close_device(&device);
	return 0;
}
