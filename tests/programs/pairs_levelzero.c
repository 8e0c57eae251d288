// SPDX-License-Identifier: Apache-2.0
// The twins of pairs_work.c and pairs_transfers.c on Level Zero: for every finding a program that
// must raise it, and a like one that must not: pairs_levelzero NAME raise|silent|fixed. They are
// for a ze-cpu whose script is ze-pairs.tare-device: a turn of a work-item takes 2 ns there.
#include "pairs_levelzero.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct device device;
ze_module_handle_t module;
ze_kernel_handle_t kernel;
ze_command_list_handle_t list, waiting;
ze_event_pool_handle_t pool;
ze_event_handle_t done;
void *memory;
char *host;
bool raise_it, fix_it, keeps;
ze_module_handle_t kept[KEPT];
long build_us, built_us;
int prepared;
long started_us;
static ze_kernel_handle_t again[AGAIN_TURNS * AGAIN_A_TURN];
static size_t again_count;

// The kernels, with another constant in them each time, so that no cache has them.
static void build_anew(void)
{
	static uint32_t words[1 << 16];
	const char *path = getenv("PAIRS_KERNELS");
	FILE *file = path ? fopen(path, "rb") : NULL;
	size_t count = file ? fread(words, sizeof *words, sizeof words / sizeof *words, file) : 0;
	if (file)
		fclose(file);
	for (size_t i = 0; i < count; i++)
		if (words[i] == 1013904223u)
			words[i] = (uint32_t)now_us();
	const ze_module_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                        .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                        .inputSize = count * sizeof *words,
		                        .pInputModule = (const uint8_t *)words };
	ze_module_handle_t made;
	check(zeModuleCreate(device.context, device.id, &desc, &made, NULL), "zeModuleCreate");
	check(zeModuleDestroy(made), "zeModuleDestroy");
}

// ---- kernels and the host

static void recording_cost(void)
{
	uint64_t on_host, on_device;

	warm_up();
	for (int i = 0; i < (raise_it ? 200000 : 100); i++)
		check(zeDeviceGetGlobalTimestamps(device.id, &on_host, &on_device),
		      "zeDeviceGetGlobalTimestamps");
	for (int i = 0; i < 4; i++)
		run(raise_it ? 1 : 100000);
	finish();
}

static void many_short_kernels(void)
{
	warm_up();
	if (fix_it)
		run_on(list, memory, (const uint32_t[]){ SMALL_LAUNCHES * ITEMS, 1 }, GROUP, 1,
		       NULL);
	for (unsigned i = 0; i < (fix_it ? 0 : raise_it ? SMALL_LAUNCHES : 200); i++)
		run(raise_it ? 1 : 1000);
	finish();
}

// By time, not by number, so that it lasts as long while it is recorded: what recording adds to an
// append varies with what the driver's own thread does beside it. In batches, so that looking at
// the clock is little of it.
static void launch_bound(void)
{
	enum { BATCH = 50 };

	warm_up();
	for (int i = 0; i < 120; i++) {
		for (long until = now_us() + 500; raise_it && now_us() < until;)
			for (int k = 0; k < BATCH; k++)
				check(zeCommandListAppendBarrier(list, NULL, 0, NULL),
				      "zeCommandListAppendBarrier");
		run(450);
	}
	finish();
}

static void one_kernel_dominates(void)
{
	for (int i = 0; i < 8; i++)
		run_on(list, memory,
		       raise_it ? (const uint32_t[]){ 64, 64 } : (const uint32_t[]){ 4096, 1 },
		       GROUP, 100, NULL);
	finish();
}

static void under_filled_device(void)
{
	warm_up();
	for (int i = 0; i < 20; i++)
		run_on(list, memory, (const uint32_t[]){ raise_it ? 64 : 4096, 1 }, 64,
		       raise_it ? 2000 : 50, NULL);
	finish();
}

static void odd_work_group_size(void)
{
	uint32_t group = raise_it ? 9 : 16;

	warm_up();
	for (int i = 0; i < 20; i++)
		run_on(list, memory, (const uint32_t[]){ group * 16, 1 }, group, 1000, NULL);
	finish();
}

// Of shared memory the first launch moves the pages that the host has touched.
static void slow_first_use(void)
{
	void *shared = memory_of(&device, SHARED, MEGABYTE);

	// One byte brings all of it to the host; to fill it would be work of the host.
	memset(shared, 1, 1);
	for (int i = 0; i < (raise_it || fix_it ? 5 : 200); i++)
		run_on(list, shared, (const uint32_t[]){ ITEMS, 1 }, GROUP, raise_it ? 100 : 400,
		       NULL);
	finish();
	free_memory(&device, SHARED, shared);
}

static void drift(void)
{
	warm_up();
	for (uint32_t i = 0; i < 256; i++)
		run(500 + (raise_it ? 3 * i : 0));
	finish();
}

static void idle_host_computes(void)
{
	warm_up();
	for (int i = 0; i < 10; i++) {
		run(10000);
		if (fix_it)
			compute(6000);
		finish();
		if (raise_it)
			compute(6000);
	}
	finish();
	if (!raise_it && !fix_it)
		compute(20000);
	else
		warm_up();
}

static void idle_host_waits(void)
{
	warm_up();
	for (int i = 0; i < (raise_it || fix_it ? 12 : 1500); i++) {
		run(200);
		if (raise_it)
			finish();
	}
	finish();
}

static void synchronize_drains(void)
{
	warm_up();
	for (int i = 0; i < 200; i++) {
		run(200);
		if (raise_it)
			finish();
	}
	finish();
}

static void idle_host_builds(void)
{
	// The other one has built before its first command.
	if (raise_it)
		build_anew();
	for (int i = 0; i < 4; i++)
		run(20000);
	finish();
}

// The other one has so much to do that what it builds is little of it, on any machine.
static void start_up_builds(void)
{
	long from = now_us();

	do {
		run(20000);
		finish();
	} while (!raise_it && now_us() - from < 8 * built_us);
}

// All pieces are prepared before the first is enqueued, or each beside the one before it.
static void start_up_host(void)
{
	long from = now_us();

	for (int i = 0; i < HOST_PIECES; i++) {
		if (fix_it)
			compute(PIECE_US);
		run(PIECE_TURNS);
	}
	finish();
	while (!raise_it && !fix_it && now_us() - from < 8 * started_us) {
		run(PIECE_TURNS);
		finish();
	}
}

// The results of all pieces are computed on at the end, or those of each beside the next one.
static void tear_down(void)
{
	for (int i = 0; i < HOST_PIECES; i++) {
		run(PIECE_TURNS);
		if (fix_it && i > 0)
			compute(PIECE_US);
		finish();
	}
	for (int i = 0; raise_it && i < HOST_PIECES; i++)
		compute(PIECE_US);
	if (fix_it)
		compute(PIECE_US);
}

static void queries_in_loop(void)
{
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };

	warm_up();
	for (int i = 0; i < 100; i++) {
		run(200);
		finish();
		for (long from = now_us(); raise_it && now_us() - from < 500;)
			check(zeDeviceGetProperties(device.id, &properties),
			      "zeDeviceGetProperties");
	}
	warm_up();
}

static void releases_in_loop(void)
{
	warm_up();
	for (int i = 0; i < KEPT; i++) {
		run(1);
		finish();
		if (raise_it)
			check(zeModuleDestroy(kept[i]), "zeModuleDestroy");
	}
	warm_up();
	finish();
	for (int i = 0; i < KEPT && !raise_it; i++)
		check(zeModuleDestroy(kept[i]), "zeModuleDestroy");
}

// They are let go of at the end: releasing is another finding's.
static void creations_in_loop(void)
{
	warm_up();
	for (size_t i = 1; i <= AGAIN_TURNS; i++) {
		run(200);
		finish();
		while (raise_it && again_count < i * AGAIN_A_TURN)
			again[again_count++] = kernel_of(module, "steps");
	}
	warm_up();
}

static void idle_host_sleeps(void)
{
	warm_up();
	for (int i = 0; i < 10; i++) {
		run(10000);
		finish();
		if (raise_it)
			usleep(3000);
	}
	warm_up();
}

static void host_polling(void)
{
	warm_up();
	for (int i = 0; i < 3; i++) {
		run_on(list, memory, (const uint32_t[]){ ITEMS, 1 }, GROUP, 60000, done);
		while (raise_it && zeEventQueryStatus(done) == ZE_RESULT_NOT_READY)
			;
		check(zeEventHostSynchronize(done, LIMIT_NS), "zeEventHostSynchronize");
		check(zeEventHostReset(done), "zeEventHostReset");
	}
}

// ---- what only Level Zero has

// A list that holds the same commands every time is recorded anew for each time. A barrier behind
// many events costs the host something for each of them, and the device next to nothing: they are
// signalled already.
static void list_rebuilt(void)
{
	enum { TIMES = 40, KERNELS = 10, BARRIERS = 20, EVENTS = 32 };
	ze_command_queue_handle_t queue = queue_of(&device, device.compute, 0);
	ze_command_list_handle_t held = list_of(&device, device.compute);
	ze_event_pool_handle_t many = pool_of(&device, EVENTS);
	ze_event_handle_t events[EVENTS];

	for (int i = 0; i < EVENTS; i++) {
		events[i] = event_of(many, (uint32_t)i);
		check(zeEventHostSignal(events[i]), "zeEventHostSignal");
	}
	for (int i = 0; i < TIMES; i++) {
		for (int k = 0; (raise_it || i == 0) && k < KERNELS * BARRIERS; k++) {
			check(zeCommandListAppendBarrier(held, NULL, EVENTS, events),
			      "zeCommandListAppendBarrier");
			if (k % BARRIERS == 0)
				run_on(held, memory, (const uint32_t[]){ ITEMS, 1 }, GROUP, 200,
				       NULL);
		}
		if (raise_it || i == 0)
			check(zeCommandListClose(held), "zeCommandListClose");
		check(zeCommandQueueExecuteCommandLists(queue, 1, &held, NULL),
		      "zeCommandQueueExecuteCommandLists");
		synchronize(queue);
		if (raise_it)
			check(zeCommandListReset(held), "zeCommandListReset");
	}
	check(zeCommandListDestroy(held), "zeCommandListDestroy");
	check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
	for (int i = 0; i < EVENTS; i++)
		check(zeEventDestroy(events[i]), "zeEventDestroy");
	check(zeEventPoolDestroy(many), "zeEventPoolDestroy");
}

// Each launch waits for its kernel.
static void synchronous_launches(void)
{
	warm_up();
	for (int i = 0; i < 200; i++)
		run_on(raise_it ? waiting : list, memory, (const uint32_t[]){ ITEMS, 1 }, GROUP,
		       450, NULL);
	finish();
}

static const struct {
	const char *name;
	void (*go)(void);
} pairs[] = {
	{ "recording-cost", recording_cost },
	{ "many-short-kernels", many_short_kernels },
	{ "launch-bound", launch_bound },
	{ "one-kernel-dominates", one_kernel_dominates },
	{ "under-filled-device", under_filled_device },
	{ "odd-work-group-size", odd_work_group_size },
	{ "slow-first-use", slow_first_use },
	{ "drift", drift },
	{ "idle-host-computes", idle_host_computes },
	{ "idle-host-waits", idle_host_waits },
	{ "synchronize-drains", synchronize_drains },
	{ "idle-host-builds", idle_host_builds },
	{ "start-up-builds", start_up_builds },
	{ "start-up-host", start_up_host },
	{ "tear-down", tear_down },
	{ "queries-in-loop", queries_in_loop },
	{ "releases-in-loop", releases_in_loop },
	{ "creations-in-loop", creations_in_loop },
	{ "idle-host-sleeps", idle_host_sleeps },
	{ "host-polling", host_polling },
	{ "transfers-dominate", transfers_dominate },
	{ "small-transfers", small_transfers },
	{ "unaligned-transfers", unaligned_transfers },
	{ "duplicate-transfers", duplicate_transfers },
	{ "ping-pong", ping_pong },
	{ "zero-copy", zero_copy },
	{ "list-rebuilt", list_rebuilt },
	{ "synchronous-launches", synchronous_launches },
};

// Modules of what was built before, to be destroyed later.
static void keep_modules(void)
{
	size_t bytes = 0;
	uint8_t *binary;

	check(zeModuleGetNativeBinary(module, &bytes, NULL), "zeModuleGetNativeBinary");
	binary = malloc(bytes);
	check(zeModuleGetNativeBinary(module, &bytes, binary), "zeModuleGetNativeBinary");
	for (int i = 0; i < KEPT; i++) {
		const ze_module_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
			                        .format = ZE_MODULE_FORMAT_NATIVE,
			                        .inputSize = bytes,
			                        .pInputModule = binary };
		check(zeModuleCreate(device.context, device.id, &desc, &kept[i], NULL),
		      "zeModuleCreate");
	}
	free(binary);
}

static void open_pair(const char *kernels)
{
	long begun = now_us();
	device = open_device();
	long from = now_us();
	while (now_us() - from < build_us)
		build_anew();
	module = module_of(&device, kernels);
	built_us = now_us() - from;
	if (keeps)
		keep_modules();
	kernel = kernel_of(module, "steps");
	list = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	waiting = immediate_of(&device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	pool = pool_of(&device, 1);
	done = event_of(pool, 0);
	memory = memory_of(&device, DEVICE, AGAIN);
	host = memory_of(&device, HEAP, AGAIN);
	memset(host, 1, AGAIN);
	for (int i = 0; i < prepared; i++)
		compute(PIECE_US);
	started_us = now_us() - begun;
	// What is judged begins with this, which is small: ze-cpu fills no faster than this
	// machine.
	check(zeCommandListAppendMemoryFill(list, memory, "", 1, ITEMS, NULL, 0, NULL),
	      "zeCommandListAppendMemoryFill");
	finish();
}

static void close_pair(void)
{
	check(zeEventDestroy(done), "zeEventDestroy");
	check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
	check(zeCommandListDestroy(list), "zeCommandListDestroy");
	check(zeCommandListDestroy(waiting), "zeCommandListDestroy");
	check(zeKernelDestroy(kernel), "zeKernelDestroy");
	while (again_count > 0)
		check(zeKernelDestroy(again[--again_count]), "zeKernelDestroy");
	check(zeModuleDestroy(module), "zeModuleDestroy");
	free_memory(&device, DEVICE, memory);
	free_memory(&device, HEAP, host);
	close_device(&device);
}

int main(int count, char **arguments)
{
	fix_it = count >= 3 && strcmp(arguments[2], "fixed") == 0;
	raise_it = count == 3 && strcmp(arguments[2], "raise") == 0;
	for (size_t i = 0; count == 3 && i < sizeof pairs / sizeof *pairs; i++) {
		if (strcmp(pairs[i].name, arguments[1]) != 0)
			continue;
		keeps = pairs[i].go == releases_in_loop;
		build_us = raise_it && pairs[i].go == start_up_builds ? 1500000 : 0;
		prepared = raise_it && pairs[i].go == start_up_host ? HOST_PIECES : 0;
		open_pair(getenv("PAIRS_KERNELS"));
		stopwatch_start();
		pairs[i].go();
		stopwatch_print();
		close_pair();
		return 0;
	}
	fprintf(stderr, "usage: pairs_levelzero NAME raise|silent|fixed\n");
	return 2;
}
