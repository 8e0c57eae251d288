// SPDX-License-Identifier: Apache-2.0
// The Level Zero recorder, with its own sources, under threads: commands are appended, waited for,
// and their events used again and destroyed while the recorder's thread and others harvest. Over
// the CPU driver, whose file is the argument. Built a second time for ThreadSanitizer.
#include "guest/levelzero/ze.h"

#include "tests/unit/guest/guest_trace.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void tare_levelzero_table(unsigned slot, const char *table, uint32_t version, void *members);

enum { THREADS = 4, ROUNDS = 400, EVENTS = 8, WORDS = 64, FIRST_SLOT = 0 };
#define FOR_EVER UINT64_MAX

static const char *driver_path;

// ---- the driver, with the recorder in front of it, as the loader would have it

static ze_dditable_t ze;

static void must(ze_result_t result)
{
	if (result == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "Level Zero error %x\n", (unsigned)result);
	exit(9);
}

static void get_table(void *library, const char *name, void *members)
{
	const uint32_t version = ZE_MAKE_VERSION(1, 4);
	ze_result_t (*get)(ze_api_version_t, void *) =
	    (ze_result_t(*)(ze_api_version_t, void *))dlsym(library, name);
	if (get == NULL)
		exit(8);
	must(get((ze_api_version_t)version, members));
	tare_levelzero_table(FIRST_SLOT, name, version, members);
}

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_event_pool_handle_t timed_pool, plain_pool;

static ze_event_pool_handle_t make_pool(ze_event_pool_flags_t flags)
{
	const ze_event_pool_desc_t described = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                                 .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
		                                 .count = THREADS * EVENTS };
	ze_event_pool_handle_t pool;
	must(ze.EventPool.pfnCreate(context, &described, 1, &device, &pool));
	return pool;
}

static void open_driver(void)
{
	void *library = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
	const ze_context_desc_t described = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_driver_handle_t driver;
	uint32_t one = 1;
	if (library == NULL)
		exit(7);
	get_table(library, "zeGetGlobalProcAddrTable", &ze.Global);
	get_table(library, "zeGetDriverProcAddrTable", &ze.Driver);
	get_table(library, "zeGetDeviceProcAddrTable", &ze.Device);
	get_table(library, "zeGetContextProcAddrTable", &ze.Context);
	get_table(library, "zeGetCommandQueueProcAddrTable", &ze.CommandQueue);
	get_table(library, "zeGetCommandListProcAddrTable", &ze.CommandList);
	get_table(library, "zeGetEventPoolProcAddrTable", &ze.EventPool);
	get_table(library, "zeGetEventProcAddrTable", &ze.Event);
	get_table(library, "zeGetMemProcAddrTable", &ze.Mem);
	must(ze.Global.pfnInit(0));
	must(ze.Driver.pfnGet(&one, &driver));
	must(ze.Device.pfnGet(driver, &one, &device));
	must(ze.Context.pfnCreate(driver, &described, &context));
	timed_pool = make_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
	plain_pool = make_pool(0);
}

// ---- what its threads do

struct worker {
	pthread_t thread;
	uint32_t number;
	ze_command_list_handle_t immediate, regular;
	ze_command_queue_handle_t queue;
	ze_event_handle_t event[EVENTS];
	uint32_t *memory;
	uint64_t commands;
};

static bool is_timed(uint32_t place)
{
	return place % 2 == 0;
}

static ze_event_handle_t make_event(const struct worker *worker, uint32_t place)
{
	const ze_event_desc_t described = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		                            .index = worker->number * EVENTS + place,
		                            .signal = ZE_EVENT_SCOPE_FLAG_HOST,
		                            .wait = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;
	must(ze.Event.pfnCreate(is_timed(place) ? timed_pool : plain_pool, &described, &event));
	return event;
}

static void fill(struct worker *worker, ze_command_list_handle_t list, ze_event_handle_t event)
{
	static const uint32_t pattern = 7;
	must(ze.CommandList.pfnAppendMemoryFill(list, worker->memory, &pattern, sizeof pattern,
	                                        WORDS * sizeof pattern, event, 0, NULL));
}

static void make_worker(struct worker *worker)
{
	const ze_command_queue_desc_t queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	const ze_command_list_desc_t list = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	const ze_host_mem_alloc_desc_t memory = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	must(ze.CommandList.pfnCreateImmediate(context, device, &queue, &worker->immediate));
	must(ze.CommandList.pfnCreate(context, device, &list, &worker->regular));
	must(ze.CommandQueue.pfnCreate(context, device, &queue, &worker->queue));
	must(ze.Mem.pfnAllocHost(context, &memory, WORDS * sizeof *worker->memory, 64,
	                         (void **)&worker->memory));
	for (uint32_t i = 0; i < EVENTS; i++)
		worker->event[i] = make_event(worker, i);
	fill(worker, worker->regular, NULL);
	fill(worker, worker->regular, NULL);
	must(ze.CommandList.pfnClose(worker->regular));
}

// One event of the worker's, in one of the ways in which programs use one again.
static void use_event(struct worker *worker, uint32_t place, uint32_t way)
{
	ze_event_handle_t *event = &worker->event[place];
	fill(worker, worker->immediate, *event);
	worker->commands++;
	if (way % 4 == 0) {
		// Polled by the program, while the recorder asks for the same event.
		while (ze.Event.pfnQueryStatus(*event) == ZE_RESULT_NOT_READY)
			;
	} else if (way % 2 != 0 && is_timed(place)) {
		// At this no times are taken: it is reset or destroyed while others may ask.
		ze_kernel_timestamp_result_t stamps;
		while (ze.Event.pfnQueryKernelTimestamp(*event, &stamps) == ZE_RESULT_NOT_READY)
			;
	} else {
		must(ze.Event.pfnHostSynchronize(*event, FOR_EVER));
	}
	if (way % 4 == 1) {
		must(ze.Event.pfnDestroy(*event));
		*event = make_event(worker, place);
	} else {
		must(ze.Event.pfnHostReset(*event));
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint32_t random = worker->number * 2654435761u + 1;
	make_worker(worker);
	for (int i = 0; i < ROUNDS; i++) {
		random = random * 1664525 + 1013904223;
		for (int k = 0; k < 3; k++)
			fill(worker, worker->immediate, NULL);
		worker->commands += 3;
		use_event(worker, random >> 24 & (EVENTS - 1), random >> 28);
		if (random >> 20 & 1) {
			must(ze.CommandQueue.pfnExecuteCommandLists(worker->queue, 1,
			                                            &worker->regular, NULL));
			must(ze.CommandQueue.pfnSynchronize(worker->queue, FOR_EVER));
			worker->commands += 2;
		}
	}
	// In order: it is the last.
	use_event(worker, 0, 2);
	for (uint32_t i = 0; i < EVENTS; i++)
		must(ze.Event.pfnDestroy(worker->event[i]));
	must(ze.CommandList.pfnDestroy(worker->immediate));
	must(ze.CommandList.pfnDestroy(worker->regular));
	must(ze.CommandQueue.pfnDestroy(worker->queue));
	return NULL;
}

// The number of commands that its threads have made, into the file of that path.
static int run_workers(void *path)
{
	static struct worker workers[THREADS];
	uint64_t commands = 0;
	open_driver();
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		commands += workers[i].commands;
	}
	must(ze.EventPool.pfnDestroy(timed_pool));
	must(ze.EventPool.pfnDestroy(plain_pool));
	FILE *file = fopen(path, "w");
	if (file == NULL || fprintf(file, "%llu", (unsigned long long)commands) < 0)
		return 2;
	return fclose(file);
}

// ---- what is to be seen of them

static void every_command_has_its_times(void **state)
{
	unsigned long long commands = 0;
	char path[300];
	(void)state;
	snprintf(path, sizeof path, "%s/commands", folder);
	assert_int_equal(run_recorded(folder, "times=all", run_workers, path), 0);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &commands), 1);
	fclose(file);
	struct guest_trace trace = only_trace();
	// One TIMES for each command, or the reason why not: those of a list each time it runs.
	assert_int_equal(count_records(&trace, TARE_TRACE_TIMES) +
	                     count_records(&trace, TARE_TRACE_UNTIMED),
	                 commands);
	assert_int_equal(trace.header->pending, 0);
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_command_has_its_times, set_up, tear_down),
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	if (argc != 2)
		return 2;
	driver_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
