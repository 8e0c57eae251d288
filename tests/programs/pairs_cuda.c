// SPDX-License-Identifier: Apache-2.0
// The twins of pairs_work.c and pairs_transfers.c on CUDA: for every finding a program that must
// raise it, and a like one that must not: pairs_cuda NAME raise|silent|fixed|graph [FACTOR]. They
// are for the stand-in for the driver with the script cuda-pairs.tare-device, where a turn of a
// work-item takes 1 ns; on a GPU the factor makes kernels as long: `pairs_cuda factor` measures it.
#include "pairs_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kernel kernel;
cu_stream stream, other;
cu_pointer memory;
char *host;
bool raise_it, fix_it, graph_it;
uint32_t factor = 1;
uint32_t device_units;
double build_ns, built_ns;
int prepared;
double started_ns;

// ---- kernels and the host

static void short_kernels_as_a_graph(void)
{
	cu_graph captured;
	cu_graph_exec graph;

	DO(cuStreamBeginCapture_v2, stream, ABI_STREAM_CAPTURE_MODE_RELAXED);
	for (int i = 0; i < SMALL_LAUNCHES; i++)
		run(1);
	DO(cuStreamEndCapture, stream, &captured);
	DO(cuGraphInstantiateWithFlags, &graph, captured, 0);
	DO(cuGraphLaunch, graph, stream);
	finish();
	DO(cuGraphExecDestroy, graph);
	DO(cuGraphDestroy, captured);
}

static void many_short_kernels(void)
{
	warm_up();
	if (graph_it) {
		short_kernels_as_a_graph();
		return;
	}
	if (fix_it)
		run_in(stream, SMALL_LAUNCHES * ITEMS, GROUP, 1);
	for (int i = 0; i < (fix_it ? 0 : raise_it ? SMALL_LAUNCHES : 200); i++)
		run(raise_it ? 1 : 1000);
	finish();
}

// By time, not by number, so that it lasts as long while it is recorded: CUPTI's part of a call is
// not known. In batches, so that looking at the clock is little of it.
static void launch_bound(void)
{
	enum { BATCH = 50 };
	cu_event event;

	DO(cuEventCreate, &event, ABI_EVENT_DISABLE_TIMING);
	warm_up();
	for (int i = 0; i < 120; i++) {
		for (double until = now_ns() + 300e3; raise_it && now_ns() < until;)
			for (int k = 0; k < BATCH; k++)
				DO(cuEventRecord, event, other);
		run_in(stream, filling_items(), GROUP, 450);
	}
	finish();
	DO(cuEventDestroy_v2, event);
}

static void one_kernel_dominates(void)
{
	uint32_t first = 0, items = raise_it ? 64 : 4096, add = 1, turns = 2000;
	void *parameters[] = { &memory, &memory, &first, &items, &add, &turns };

	for (int i = 0; i < 8; i++)
		DO(cuLaunchKernel, kernel.function, items / 32, raise_it ? 64 : 1, 1, 32, 1, 1, 0,
		   stream, parameters, NULL);
	finish();
}

static void under_filled_device(void)
{
	warm_up();
	for (int i = 0; i < 20; i++)
		run_in(stream, raise_it ? 64 : 4096, 64, raise_it ? 20000 : 500);
	finish();
}

static void odd_work_group_size(void)
{
	uint32_t block = raise_it ? 33 : 64;

	warm_up();
	for (int i = 0; i < 20; i++)
		run_in(stream, block * 16, block, 3000);
	finish();
}

// Of managed memory the first launch moves the pages to the device.
static void slow_first_use(void)
{
	cu_pointer shared;

	DO(cuMemAllocManaged, &shared, AGAIN, ABI_MEM_ATTACH_GLOBAL);
	memset((void *)(uintptr_t)shared, 1, 1);
	for (int i = 0; i < (raise_it || fix_it ? 5 : 200); i++)
		launch_steps(kernel, shared, shared, ITEMS, GROUP, raise_it ? 100 : 400, stream);
	finish();
	DO(cuMemFree_v2, shared);
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
	if (!raise_it && !fix_it)
		compute(20000);
	else
		warm_up();
	finish();
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

static void idle_host_builds(void)
{
	struct kernel made = { 0 };

	// The other one has built before its first command.
	if (raise_it)
		made = load_kernel();
	for (int i = 0; i < 4; i++)
		run(20000);
	finish();
	if (raise_it)
		DO(cuModuleUnload, made.module);
}

// The other one has so much to do that what it loads is little of it, on any machine.
static void start_up_builds(void)
{
	double from = now_ns();

	do {
		run(20000);
		finish();
	} while (!raise_it && now_ns() - from < 8 * built_ns);
}

// All pieces are prepared before the first is enqueued, or each beside the one before it.
static void start_up_host(void)
{
	double from = now_ns();

	for (int i = 0; i < HOST_PIECES; i++) {
		if (fix_it)
			compute(PIECE_US);
		run(PIECE_TURNS);
	}
	finish();
	while (!raise_it && !fix_it && now_ns() - from < 8 * started_ns) {
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
	int units;

	warm_up();
	for (int i = 0; i < 100; i++) {
		run(200);
		finish();
		for (double until = now_ns() + 500e3; raise_it && now_ns() < until;)
			DO(cuDeviceGetAttribute, &units, ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
	}
	warm_up();
	finish();
}

static void releases_in_loop(void)
{
	cu_stream made;

	warm_up();
	for (int i = 0; i < 100; i++) {
		run(200);
		finish();
		for (double until = now_ns() + 500e3; raise_it && now_ns() < until;) {
			DO(cuStreamCreate, &made, ABI_STREAM_NON_BLOCKING);
			DO(cuStreamDestroy_v2, made);
		}
	}
	warm_up();
	finish();
}

// They are let go of at the end: releasing is another finding's.
static void creations_in_loop(void)
{
	static cu_event made[MADE_TURNS * MADE_A_TURN];
	size_t count = 0;

	warm_up();
	for (size_t i = 1; i <= MADE_TURNS; i++) {
		run(200);
		finish();
		while (raise_it && count < i * MADE_A_TURN)
			DO(cuEventCreate, &made[count++], 0);
	}
	warm_up();
	finish();
	while (count > 0)
		DO(cuEventDestroy_v2, made[--count]);
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
	finish();
}

static void host_polling(void)
{
	warm_up();
	for (int i = 0; i < 3; i++) {
		run(60000);
		while (raise_it && cuda.cuStreamQuery(stream) == ABI_NOT_READY)
			;
		finish();
	}
}

// ---- what only CUDA has

// CUDA_LAUNCH_BLOCKING makes each launch wait for its kernel; see main.
static void synchronous_launches(void)
{
	warm_up();
	for (int i = 0; i < 200; i++)
		run(450);
	finish();
}

// The host looks at each result before it issues the next piece, which takes it half as long as the
// kernel runs.
static void synchronize_drains(void)
{
	uint32_t *result = pinned_memory(sizeof *result);

	warm_up();
	for (int i = 0; i < 200; i++) {
		run(450);
		DO(cuMemcpyDtoHAsync_v2, result, memory, sizeof *result, stream);
		if (raise_it)
			finish();
		compute(60);
	}
	finish();
	DO(cuMemFreeHost, result);
}

// The one asks for so much shared memory that few blocks fit: of all the blocks more than one wave.
static void low_occupancy(void)
{
	uint32_t first = 0, items = filling_items() * 64, add = 1, turns = 100 * factor;
	void *parameters[] = { &memory, &memory, &first, &items, &add, &turns };

	warm_up();
	for (int i = 0; i < 20; i++)
		DO(cuLaunchKernel, kernel.function, items / 64, 1, 1, 64, 1, 1,
		   raise_it ? 40000 : 0, stream, parameters, NULL);
	finish();
}

// The one has the host write all of it before each kernel; so that pages go back to a host that the
// stand-in's device does not see, it also asks for them there.
static void managed_memory_moves(void)
{
	cu_pointer shared;

	DO(cuMemAllocManaged, &shared, MEGABYTE, ABI_MEM_ATTACH_GLOBAL);
	for (int i = 0; i < 10; i++) {
		if (raise_it || i == 0) {
			if (cuda.cuMemPrefetchAsync)
				DO(cuMemPrefetchAsync, shared, MEGABYTE, ABI_DEVICE_CPU, stream);
			finish();
			memset((void *)(uintptr_t)shared, i, MEGABYTE);
		}
		launch_steps(kernel, shared, shared, MEGABYTE / 4, GROUP, 1, stream);
	}
	finish();
	DO(cuMemFree_v2, shared);
}

// Where copies for another stream go.
struct beside {
	cu_pointer to;
	char *from;
	size_t bytes;
};

static void copies_beside(const struct beside *beside, int count)
{
	for (int i = 0; i < count; i++)
		DO(cuMemcpyHtoDAsync_v2, beside->to, beside->from, beside->bytes, other);
}

// Copies for another stream, to which the host comes only when there is room again for its
// launches: the last of them outlast the kernels that the full stream still has, on a GPU about
// 1,100. The silent one issues them first. A kernel takes many times as long as a launch, or the
// stream never fills.
static void launch_queue_full(void)
{
	enum { TIMES = 6, LAST = 200, MOST = 16 };
	// a GPU's link is so much faster
	struct beside beside = { .bytes = MEGABYTE * (factor < MOST ? factor : MOST) };

	beside.to = device_memory(beside.bytes);
	beside.from = pinned_memory(beside.bytes);
	warm_up();
	if (!raise_it)
		copies_beside(&beside, TIMES - 1 + LAST);
	for (int i = 0; i < TIMES; i++) {
		for (int k = 0; k < 1500; k++)
			run(100);
		if (raise_it)
			copies_beside(&beside, i + 1 < TIMES ? 1 : LAST);
	}
	finish();
	DO(cuStreamSynchronize, other);
	DO(cuMemFreeHost, beside.from);
	DO(cuMemFree_v2, beside.to);
}

static const struct {
	const char *name;
	void (*go)(void);
} pairs[] = {
	{ "many-short-kernels", many_short_kernels },
	{ "launch-bound", launch_bound },
	{ "one-kernel-dominates", one_kernel_dominates },
	{ "under-filled-device", under_filled_device },
	{ "odd-work-group-size", odd_work_group_size },
	{ "slow-first-use", slow_first_use },
	{ "drift", drift },
	{ "idle-host-computes", idle_host_computes },
	{ "idle-host-waits", idle_host_waits },
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
	{ "synchronous-launches", synchronous_launches },
	{ "synchronize-drains", synchronize_drains },
	{ "launch-queue-full", launch_queue_full },
	{ "low-occupancy", low_occupancy },
	{ "managed-memory-moves", managed_memory_moves },
};

static void open_pair(void)
{
	int registers, multiprocessors;
	double begun = now_ns();

	open_device();
	DO(cuDeviceGetAttribute, &multiprocessors, ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
	device_units = (uint32_t)multiprocessors;
	double from = now_ns();
	while (now_ns() - from < build_ns)
		DO(cuModuleUnload, load_kernel().module);
	kernel = load_kernel();
	built_ns = now_ns() - from;
	stream = stream_new(ABI_STREAM_NON_BLOCKING);
	other = stream_new(ABI_STREAM_NON_BLOCKING);
	memory = device_memory(AGAIN);
	host = aligned_alloc(4096, AGAIN + 4096);
	memset(host, 1, AGAIN + 4096);
	for (int i = 0; i < prepared; i++)
		compute(PIECE_US);
	started_ns = now_ns() - begun;
	// The kernel is loaded now, not by its first launch. What is judged begins with the fill,
	// which is small: the stand-in moves bytes no faster than this machine does.
	DO(cuFuncGetAttribute, &registers, ABI_FUNCTION_NUM_REGS, kernel.function);
	DO(cuMemsetD32Async, memory, 0, ITEMS, stream);
}

static void close_pair(void)
{
	DO(cuStreamDestroy_v2, stream);
	DO(cuStreamDestroy_v2, other);
	DO(cuModuleUnload, kernel.module);
	DO(cuMemFree_v2, memory);
	free(host);
	close_device();
}

// Prints the factor with which a launch of ITEMS takes 1 ns a turn and work-item.
static void print_factor(void)
{
	enum { TURNS = 1 << 20 };
	double from, ns;

	open_pair();
	run(TURNS / 16);
	finish();
	from = now_ns();
	run(TURNS);
	finish();
	ns = (now_ns() - from) / TURNS;
	printf("%.0f\n", ns < ITEMS ? ITEMS / ns : 1);
	close_pair();
}

int main(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "factor") == 0) {
		print_factor();
		return 0;
	}
	fix_it = count >= 3 && strcmp(arguments[2], "fixed") == 0;
	raise_it = count >= 3 && strcmp(arguments[2], "raise") == 0;
	// The same launches, replayed; of many-short-kernels alone.
	graph_it = count >= 3 && strcmp(arguments[2], "graph") == 0;
	if (count == 4)
		factor = (uint32_t)strtoul(arguments[3], NULL, 10);
	for (size_t i = 0; count >= 3 && i < sizeof pairs / sizeof *pairs; i++) {
		if (strcmp(pairs[i].name, arguments[1]) != 0)
			continue;
		if (raise_it && pairs[i].go == synchronous_launches)
			setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
		build_ns = raise_it && pairs[i].go == start_up_builds ? 1500e6 : 0;
		prepared = raise_it && pairs[i].go == start_up_host ? HOST_PIECES : 0;
		open_pair();
		stopwatch_start();
		pairs[i].go();
		stopwatch_print();
		close_pair();
		return 0;
	}
	fprintf(stderr, "usage: pairs_cuda NAME raise|silent|fixed|graph [FACTOR] | factor\n");
	return 2;
}
