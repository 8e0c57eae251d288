// SPDX-License-Identifier: Apache-2.0
// Resets an event while the recorder's thread is in the driver's call that tells what the
// sub-devices did, or changes a list while it is in the one that tells whether it is complete
// (other_driver.c holds it there, HELD_DRIVER names its file):
//   held immediate|regular|changed...
// Each argument is a list with one command. It prints "run kernel" for each command, as styles.c
// does.
#include "example.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct device device;
static ze_kernel_handle_t kernel;
static const ze_group_count_t one = { 1, 1, 1 };

static _Atomic int *hold(const char *name)
{
	void *library = dlopen(getenv("HELD_DRIVER"), RTLD_NOW | RTLD_LOCAL);
	_Atomic int *found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fputs("held: HELD_DRIVER is not the driver that holds\n", stderr);
		exit(1);
	}
	return found;
}

// No call of Level Zero is made meanwhile: at one the program's own thread would ask.
static void wait_until_held(_Atomic int *held)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	for (int i = 0; i < 20000 && atomic_load(held) != 2; i++)
		nanosleep(&moment, NULL);
	if (atomic_load(held) != 2) {
		fputs("held: nobody asked what is held\n", stderr);
		exit(1);
	}
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	check(zeCommandListAppendLaunchKernel(list, kernel, &one, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
}

static void run(bool regular, _Atomic int *held)
{
	ze_command_queue_handle_t queue = regular ? queue_of(&device, device.compute, 0) : NULL;
	ze_command_list_handle_t list =
	    regular ? list_of(&device, device.compute)
	            : immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = pool_of(&device, 1);
	ze_event_handle_t event = event_of(pool, 0);
	if (regular) {
		launch(list, event);
		check(zeCommandListClose(list), "zeCommandListClose");
	}
	atomic_store(held, 1);
	if (regular)
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
	else
		launch(list, event);
	puts("run kernel");
	wait_until_held(held);
	check(zeEventHostReset(event), "zeEventHostReset");
	check(zeEventDestroy(event), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	if (regular)
		synchronize(queue);
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	if (regular)
		check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// The list is complete, and from its change on others may signal its event.
static void change(void)
{
	ze_result_t (*change_event)(ze_command_list_handle_t, uint64_t, ze_event_handle_t);
	_Atomic int *held = hold("other_driver_hold_status");
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t list = list_of(&device, device.compute);
	void *address = NULL;

	check(zeDriverGetExtensionFunctionAddress(
	          device.driver, "zeCommandListUpdateMutableCommandSignalEventExp", &address),
	      "zeDriverGetExtensionFunctionAddress");
	memcpy(&change_event, &address, sizeof address);
	launch(list, NULL);
	check(zeCommandListClose(list), "zeCommandListClose");
	atomic_store(held, 1);
	check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "execute");
	puts("run kernel");
	wait_until_held(held);
	synchronize(queue);
	check(change_event(list, 1, NULL), "zeCommandListUpdateMutableCommandSignalEventExp");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

// With one thread the recorder starts none either.
static void *second(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, second, NULL))
		abort();
	_Atomic int *held = hold("other_driver_hold");
	device = open_device();
	ze_module_handle_t module = module_of(&device, getenv("STYLES_KERNELS"));
	kernel = kernel_of(module, "empty");
	check(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	for (int i = 1; i < count; i++)
		if (strcmp(arguments[i], "changed") == 0)
			change();
		else
			run(strcmp(arguments[i], "regular") == 0, held);
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	check(zeModuleDestroy(module), "zeModuleDestroy");
	close_device(&device);
	return 0;
}
