// SPDX-License-Identifier: Apache-2.0
// The modelled layer of the Level Zero CPU driver, through the loader: what each command costs,
// and how commands wait, overlap and slow each other down, by closed forms. The events' counter
// has a rate of 1 GHz and everything costs whole nanoseconds, so that equal means equal.
#include "backend/levelzero/newer.h"
#include "ze_time_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TWO_COPY_ENGINES                                                                           \
	"engine copy runs to-device,to-host,local\n"                                               \
	"engine copy runs to-device,to-host,local\n"

// ---- costs

static const char costs_script[] =
    HEAD "copy pinned   device   fixed 4 us rate 1 GB/s\n"
         "copy device   pinned   fixed 3 us rate 500 MB/s\n"
         "copy pageable device   fixed 5 us rate 1 GB/s staging 250 MB/s\n"
         "copy device   device   fixed 2 us rate 2 GB/s\n"
         "copy shared   device   fixed 1 us rate 2 GB/s\n"
         "unaligned boundary 64 B speed 50 %\n"
         "rectangle row 10 ns\n"
         "fill fixed 6 us rate 4 GB/s\n"
         "marker fixed 700 ns\n"
         "migrate page 64 KiB fault 2 us fixed 10 us rate 1 GB/s\n"
         "touch page 32 KiB fault 300 ns\n";

enum { BYTES = 100000 };

static void costs(const void *row, int attempt)
{
	struct ze ze = ze_open(costs_script);
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	char *device = ze_device_memory(&ze, MIB), *other = ze_device_memory(&ze, MIB);
	char *pinned = ze_host_memory(&ze, MIB), *heap = calloc(1, MIB);
	char *shared = ze_shared_memory(&ze, MIB);
	ze_copy_region_t region = { .width = 100, .height = 20, .depth = 0 };
	ze_event_handle_t e[16];
	uint32_t pattern = 7;

	(void)row;
	(void)attempt;
	for (int i = 0; i < 16; i++)
		e[i] = ze_event(&ze);
	// All of it waits at the gate, so that nothing is late.
	must(zeCommandListAppendWaitOnEvents(list, 1, &e[15]));
	must(zeCommandListAppendMemoryCopy(list, device, pinned, BYTES, e[0], 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, pinned, device, BYTES, e[1], 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, device, heap, BYTES, e[2], 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, device, other, BYTES, e[3], 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, device, pinned + 4, BYTES, e[4], 0, NULL));
	must(zeCommandListAppendMemoryFill(list, device, &pattern, 4, BYTES, e[5], 0, NULL));
	must(zeCommandListAppendMemoryCopyRegion(list, device, &region, 128, 0, pinned, &region,
	                                         128, 0, e[6], 0, NULL));
	must(zeCommandListAppendBarrier(list, e[7], 0, NULL));
	// The host has written two pages of 64 KiB and nobody the third.
	memset(shared, 1, 2 * 65536);
	must(zeCommandListAppendMemoryCopy(list, device, shared, 65536, e[8], 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, device, shared, 65536, e[9], 0, NULL));
	must(
	    zeCommandListAppendMemoryCopy(list, device, shared + 65536, 2 * 65536, e[10], 0, NULL));
	must(zeCommandListAppendMemoryPrefetch(list, shared, 4 * 65536));
	must(zeCommandListAppendSignalEvent(list, e[11]));
	must(zeEventHostSignal(e[15]));
	near(ze_duration_ns(&ze, e[0]), 4000 + BYTES, 0);
	near(ze_duration_ns(&ze, e[1]), 3000 + 2 * BYTES, 0);
	near(ze_duration_ns(&ze, e[2]), 5000 + 4 * BYTES, 0);
	near(ze_duration_ns(&ze, e[3]), 2000 + BYTES / 2, 0);
	near(ze_duration_ns(&ze, e[4]), 4000 + 2 * BYTES, 0);
	near(ze_duration_ns(&ze, e[5]), 6000 + BYTES / 4, 0);
	near(ze_duration_ns(&ze, e[6]), 4000 + 20 * 10 + 2000, 0);
	near(ze_duration_ns(&ze, e[7]), 700, 0);
	near(ze_duration_ns(&ze, e[8]), 1000 + 2000 + 65536 + 32768, 0);
	near(ze_duration_ns(&ze, e[9]), 1000 + 32768, 0);
	near(ze_duration_ns(&ze, e[10]), 1000 + 2000 + 65536 + 2 * 300 + 65536, 0);
	// Of four pages the device has three; the prefetch lies between copy and signal.
	near(ze_between_ns(&ze, e[10], e[11]), 10000 + 65536, 0);
}

// A page moves to the device at its first use, and again once the host has touched it; so do not
// those that it left alone.
static void pages(const void *row, int attempt)
{
	struct ze ze =
	    ze_open(HEAD "copy shared device rate 1 GB/s\nmigrate page 64 KiB fault 2 us\n");
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	char *device = ze_device_memory(&ze, MIB), *shared = ze_shared_memory(&ze, MIB);
	static const int touched[] = { 16, 0, 1, 16, 0 };

	(void)row;
	(void)attempt;
	memset(shared, 1, MIB);
	for (int i = 0; i < 5; i++) {
		ze_event_handle_t once = ze_event(&ze), again = ze_event(&ze);
		if (touched[i] == 1)
			shared[5 * 65536 + 3] = 2;
		else if (touched[i])
			memset(shared, 3 + i, MIB);
		must(zeCommandListAppendMemoryCopy(list, device, shared, MIB, once, 0, NULL));
		must(zeCommandListAppendMemoryCopy(list, device, shared, MIB, again, 0, NULL));
		near(ze_duration_ns(&ze, once), touched[i] * 2000 + (int64_t)MIB, 0);
		near(ze_duration_ns(&ze, again), (int64_t)MIB, 0);
	}
	near(shared[MIB - 1], 3 + 3, 0);
	// What uses a part of a page that the host had touched has moved the whole page.
	memset(shared, 7, MIB);
	for (int i = 0; i < 2; i++) {
		ze_event_handle_t part = ze_event(&ze);
		must(zeCommandListAppendMemoryCopy(list, device, shared + 4096, 4096, part, 0,
		                                   NULL));
		near(ze_duration_ns(&ze, part), (i == 0 ? 2000 : 0) + 4096, 0);
	}
}

// ---- order and gaps

static const char gaps_script[] =
    HEAD TWO_COPY_ENGINES "queue same-gap 3 us event-gap 5 us switch 7 us submission 2 us\n"
                          "copy pinned device rate 1 GB/s\n"
                          "copy device pinned rate 1 GB/s\n";

static void gaps(const void *row, int attempt)
{
	struct ze ze = ze_open(gaps_script);
	ze_command_list_handle_t first = ze_immediate(&ze, ze.copy, 0);
	ze_command_list_handle_t same = ze_immediate(&ze, ze.copy, 0);
	ze_command_list_handle_t other = ze_immediate(&ze, ze.copy, 1);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t gate = ze_event(&ze), a = ze_event(&ze), b = ze_event(&ze);
	ze_event_handle_t c = ze_event(&ze), d = ze_event(&ze), f = ze_event(&ze);

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryCopy(first, device, host, BYTES, a, 1, &gate));
	must(zeCommandListAppendMemoryCopy(first, device, host, BYTES, b, 1, &a));
	must(zeCommandListAppendMemoryCopy(same, device, host, BYTES, c, 1, &b));
	must(zeCommandListAppendMemoryCopy(other, device + MIB / 2, host, BYTES, d, 1, &b));
	must(zeCommandListAppendMemoryCopy(other, device + MIB / 2, host, BYTES, f, 1, &a));
	usleep(3000);
	must(zeEventHostSignal(gate));
	near(ze_between_ns(&ze, a, b), 3000, 0);
	near(ze_between_ns(&ze, b, c), 5000 + 7000, 0);
	near(ze_between_ns(&ze, b, d), 5000, 0);
	near(ze_between_ns(&ze, d, f), 3000, 0);
}

// A list that resets its event, waits for another queue's and signals again, executed twice; that
// queue answers in the same way.
static void events_again(const void *row, int attempt)
{
	struct ze ze = ze_open(gaps_script);
	ze_command_list_handle_t ping = ze_list(&ze, ze.copy), pong = ze_list(&ze, ze.copy);
	ze_command_queue_handle_t queues[] = { ze_queue(&ze, ze.copy, 0),
		                               ze_queue(&ze, ze.copy, 1) };
	ze_event_handle_t to = ze_event(&ze), fro = ze_event(&ze), seen = ze_event(&ze);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	uint64_t *stamps = ze_host_memory(&ze, 64);

	(void)row;
	(void)attempt;
	must(zeCommandListAppendEventReset(ping, fro));
	must(zeCommandListAppendWriteGlobalTimestamp(ping, stamps, NULL, 0, NULL));
	must(zeCommandListAppendMemoryCopy(ping, device, host, BYTES, to, 0, NULL));
	must(zeCommandListAppendWriteGlobalTimestamp(ping, stamps + 1, NULL, 1, &fro));
	must(zeCommandListAppendMemoryCopy(ping, device, host, BYTES, seen, 0, NULL));
	must(zeCommandListClose(ping));
	must(zeCommandListAppendWaitOnEvents(pong, 1, &to));
	must(zeCommandListAppendEventReset(pong, to));
	must(zeCommandListAppendMemoryCopy(pong, host, device, 2 * BYTES, fro, 0, NULL));
	must(zeCommandListClose(pong));
	for (int i = 0; i < 4; i++) {
		must(zeCommandQueueExecuteCommandLists(queues[1], 1, &pong, NULL));
		must(zeCommandQueueExecuteCommandLists(queues[0], 1, &ping, NULL));
		if (i % 2 == 0)
			continue;
		must(zeCommandQueueSynchronize(queues[0], UINT64_MAX));
		must(zeCommandQueueSynchronize(queues[1], UINT64_MAX));
		near((int64_t)(stamps[1] - stamps[0]), BYTES + 5000 + 2 * BYTES + 5000, 0);
		near(ze_duration_ns(&ze, seen), BYTES, 0);
		must(zeEventHostReset(seen));
		holds(zeEventQueryStatus(seen) == ZE_RESULT_NOT_READY);
	}
	must(zeEventHostReset(fro));
	must(zeCommandListAppendMemoryCopy(ze_immediate(&ze, ze.copy, 0), device, host, BYTES, seen,
	                                   1, &fro));
	holds(zeEventHostSynchronize(seen, 20000000) == ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(fro));
	near(ze_duration_ns(&ze, seen), BYTES, 0);
}

// ---- engines

static const char duplex_script[] =
    HEAD TWO_COPY_ENGINES "copy pinned device rate 1 GB/s\n"
                          "copy device pinned rate 1 GB/s\n"
                          "concurrent to-device speed 80 % while to-host\n"
                          "concurrent to-host   speed 50 % while to-device\n";

// Both begin at the host's signal. To the host goes at 50 % until to the device, at 80 %, is done.
static void duplex(const void *row, int attempt)
{
	struct ze ze = ze_open(duplex_script);
	ze_command_list_handle_t up = ze_immediate(&ze, ze.copy, 0);
	ze_command_list_handle_t down = ze_immediate(&ze, ze.copy, 1);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t gate = ze_event(&ze), a = ze_event(&ze), b = ze_event(&ze);
	ze_event_handle_t c = ze_event(&ze), d = ze_event(&ze);

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryCopy(up, device, host, 400000, a, 1, &gate));
	must(zeCommandListAppendMemoryCopy(down, host + MIB / 2, device + MIB / 2, 400000, b, 1,
	                                   &gate));
	must(zeEventHostSignal(gate));
	near((int64_t)(ze_stamps(a).global.kernelStart - ze_stamps(b).global.kernelStart), 0, 0);
	near(ze_duration_ns(&ze, a), 400000 * 10 / 8, 0);
	near(ze_duration_ns(&ze, b), 500000 + (400000 - 250000), 0);
	// Of one direction both engines share the link.
	must(zeEventHostReset(gate));
	must(zeCommandListAppendMemoryCopy(up, device, host, 100000, c, 1, &gate));
	must(zeCommandListAppendMemoryCopy(down, device + MIB / 2, host, 300000, d, 1, &gate));
	must(zeEventHostSignal(gate));
	near(ze_duration_ns(&ze, c), 200000, 0);
	near(ze_duration_ns(&ze, d), 400000, 0);
}

struct pipeline {
	const char *name, *engines;
	// index of the queue's engine in the group of copies, or 9: compute
	uint32_t up, fill, down;
	// Time of n chunks whose stages take 1 each: whole + each * n.
	int64_t whole, each;
};

static const struct pipeline pipelines[] = {
	{ "three engines: n + 2", TWO_COPY_ENGINES, 0, 9, 1, 2, 1 },
	{ "one copy engine: 2n", "engine copy runs to-device,to-host,local\n", 0, 9, 0, 0, 2 },
	{ "one engine: 3n", "", 9, 9, 9, 0, 3 },
};

// Each chunk goes up, is filled on the compute engine, and comes down, through three queues.
static void pipeline(const void *context, int attempt)
{
	const struct pipeline *row = context;
	enum { N = 8, STAGE = 50000 };
	char script[1024];

	(void)attempt;
	snprintf(script, sizeof script,
	         HEAD "%scopy pinned device rate 1 GB/s\ncopy device pinned rate 1 GB/s\n"
	              "fill rate 1 GB/s\n",
	         row->engines);
	struct ze ze = ze_open(script);
	const uint32_t engines[] = { row->up, row->fill, row->down };
	ze_command_list_handle_t stages[3];
	for (int i = 0; i < 3; i++)
		stages[i] = engines[i] == 9 ? ze_immediate(&ze, ze.compute, 0)
		                            : ze_immediate(&ze, ze.copy, engines[i]);
	char *device = ze_device_memory(&ze, N * STAGE), *host = ze_host_memory(&ze, N * STAGE);
	ze_event_handle_t gate = ze_event(&ze), up[N], filled[N], down[N];
	for (int i = 0; i < N; i++) {
		char *at = device + i * STAGE;
		up[i] = ze_event(&ze);
		filled[i] = ze_event(&ze);
		down[i] = ze_event(&ze);
		must(zeCommandListAppendMemoryCopy(stages[0], at, host + i * STAGE, STAGE, up[i],
		                                   i == 0, &gate));
		must(zeCommandListAppendMemoryFill(stages[1], at, &(char){ (char)i }, 1, STAGE,
		                                   filled[i], 1, &up[i]));
		must(zeCommandListAppendMemoryCopy(stages[2], host + i * STAGE, at, STAGE, down[i],
		                                   1, &filled[i]));
	}
	must(zeEventHostSignal(gate));
	uint64_t end = ze_stamps(down[N - 1]).global.kernelEnd;
	near(ze_ns(&ze, ze_stamps(up[0]).global.kernelStart, end),
	     (row->whole + row->each * N) * STAGE, 0);
	for (int i = 0; i < N; i++)
		near(host[i * STAGE + STAGE - 1], i, 0);
}

// ---- kernels

static const char kernels_script[] =
    HEAD "stamps start,end,active\n"
         "copy pinned pinned rate 1 GB/s\n"
         "kernel named fixed 2 us slots 2 wave 1 us repeat 0 repeat-rate 1 Gitem/s span 1\n"
         "tier named up-to 64 KiB rate 4 Gitem/s\n"
         "kernel part fixed 1 us slots 2 wave 10 us share yes\n"
         "kernel any fixed 9 us\n";

// A module in SPIR-V of three kernels of two unsigned 64-bit values each, that do nothing.
static size_t write_module(uint32_t *words)
{
	static const char *const names[] = { "named", "part", "other" };
	static const uint32_t head[] = {
		0x07230203, 0x00010000,   0, 40, 0, 2 << 16 | 17, 4, 2 << 16 | 17, 6, 2 << 16 | 17,
		11,         3 << 16 | 14, 2, 2
	};
	static const uint32_t types[] = { 3 << 16 | 3, 3,  102000, 2 << 16 | 19, 1, 4 << 16 | 21,
		                          2,           64, 0,      5 << 16 | 33, 3, 1,
		                          2,           2 };
	uint32_t *at = words;

	memcpy(at, head, sizeof head);
	at += sizeof head / 4;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t entry[5] = { 5 << 16 | 15, 6, 10 + i * 10 };
		memcpy(entry + 3, names[i], strlen(names[i]) + 1);
		memcpy(at, entry, sizeof entry);
		at += 5;
	}
	memcpy(at, types, sizeof types);
	at += sizeof types / 4;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t f = 10 + i * 10;
		const uint32_t body[] = { 5 << 16 | 54,
			                  1,
			                  f,
			                  0,
			                  3,
			                  3 << 16 | 55,
			                  2,
			                  f + 1,
			                  3 << 16 | 55,
			                  2,
			                  f + 2,
			                  2 << 16 | 248,
			                  f + 3,
			                  1 << 16 | 253,
			                  1 << 16 | 56 };
		memcpy(at, body, sizeof body);
		at += sizeof body / 4;
	}
	return (size_t)(at - words) * 4;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name, uint64_t repeats,
                                      uint64_t span)
{
	ze_kernel_desc_t description = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                         .pKernelName = name };
	ze_kernel_handle_t kernel;

	must(zeKernelCreate(module, &description, &kernel));
	must(zeKernelSetGroupSize(kernel, 16, 1, 1));
	must(zeKernelSetArgumentValue(kernel, 0, 8, &repeats));
	must(zeKernelSetArgumentValue(kernel, 1, 8, &span));
	return kernel;
}

static ze_module_handle_t make_module(struct ze *ze)
{
	uint32_t words[128];
	ze_module_desc_t description = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                         .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = write_module(words),
		                         .pInputModule = (const uint8_t *)words };
	ze_module_build_log_handle_t log = NULL;
	ze_module_handle_t module;
	char said[4096] = "";
	size_t bytes = sizeof said;
	ze_result_t result = zeModuleCreate(ze->context, ze->device, &description, &module, &log);

	if (result != ZE_RESULT_SUCCESS && log &&
	    zeModuleBuildLogGetString(log, &bytes, said) == ZE_RESULT_SUCCESS &&
	    (strstr(said, "no OpenCL CPU device") || strstr(said, "no llvm-spirv"))) {
		printf("# %s\n", said);
		fflush(stdout);
		_exit(ZE_SKIPPED);
	}
	must(result);
	return module;
}

static void kernels(const void *row, int attempt)
{
	struct ze ze = ze_open(kernels_script);
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	ze_module_handle_t module = make_module(&ze);
	ze_group_count_t *grid = ze_host_memory(&ze, 64), *later = ze_host_memory(&ze, 64);
	const ze_group_count_t nine = { 9, 1, 1 }, four = { 4, 1, 1 };
	uint64_t repeats = 1000, span = 65536;
	void *arguments[] = { &repeats, &span }, *append = NULL;
	ze_event_handle_t e[7];

	(void)row;
	(void)attempt;
	for (int i = 0; i < 7; i++)
		e[i] = ze_event(&ze);
	must(zeDriverGetExtensionFunctionAddress(
	    ze.driver, "zeCommandListAppendLaunchKernelWithArguments", &append));
	*grid = (ze_group_count_t){ 5, 5, 1 };
	*later = (ze_group_count_t){ 0 };
	must(zeCommandListAppendLaunchKernel(list, make_kernel(module, "named", 1000, 100000),
	                                     &nine, e[0], 1, &e[5]));
	must(zeCommandListAppendLaunchKernel(list, make_kernel(module, "named", 1000, 65536), &nine,
	                                     e[1], 0, NULL));
	must(zeCommandListAppendLaunchKernel(list, make_kernel(module, "part", 0, 0), &four, e[2],
	                                     0, NULL));
	must(zeCommandListAppendLaunchKernel(list, make_kernel(module, "other", 0, 0), &four, e[3],
	                                     0, NULL));
	// Its grid is written by a copy just before: 25 groups, 4 waves.
	must(zeCommandListAppendMemoryCopy(list, later, grid, sizeof *grid, NULL, 0, NULL));
	must(zeCommandListAppendLaunchKernelIndirect(list, make_kernel(module, "named", 0, 0),
	                                             later, e[4], 0, NULL));
	// What comes with the launch is what costs, not what the kernel was told before.
	must(((levelzero_launch_with_arguments *)append)(
	    list, make_kernel(module, "named", 1, 1), nine,
	    (struct levelzero_group_size){ 16, 1, 1 }, arguments, NULL, e[6], 0, NULL));
	must(zeEventHostSignal(e[5]));
	near(ze_duration_ns(&ze, e[0]), 2000 + 2000 + 9 * 16 * 1000, 0);
	near(ze_duration_ns(&ze, e[1]), 2000 + 2000 + 9 * 16 * 1000 / 4, 0);
	near(ze_duration_ns(&ze, e[2]), 1000 + 10000, 0);
	ze_kernel_timestamp_result_t part = ze_stamps(e[2]);
	near(ze_ns(&ze, part.context.kernelStart, part.context.kernelEnd), 1000 + 5000, 0);
	near(ze_duration_ns(&ze, e[3]), 9000, 0);
	near(ze_duration_ns(&ze, e[4]), 2000 + 4000, 0);
	near(ze_duration_ns(&ze, e[6]), ze_duration_ns(&ze, e[1]), 0);
}

// ---- jitter

static void jitter(const void *row, int attempt)
{
	struct ze ze = ze_open(HEAD "fill rate 1 GB/s\njitter range 10 % seed 5\n");
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	void *device = ze_device_memory(&ze, MIB);
	int64_t least = INT64_MAX, most = 0;

	(void)row;
	(void)attempt;
	for (int i = 0; i < 40; i++) {
		ze_event_handle_t event = ze_event(&ze);
		must(zeCommandListAppendMemoryFill(list, device, "x", 1, BYTES, event, 0, NULL));
		int64_t duration = ze_duration_ns(&ze, event);
		least = duration < least ? duration : least;
		most = duration > most ? duration : most;
	}
	holds(least >= BYTES && least < BYTES * 102 / 100);
	holds(most < BYTES * 110 / 100 && most > BYTES * 108 / 100);
}

// ---- all of them

static void run_one(void (*body)(const void *, int), const void *row)
{
	assert_int_equal(ze_end_case(ze_start_case(body, row, 0)), 0);
}

CASE(each_command_costs_what_the_script_says, costs)
CASE(pages_move_when_the_other_side_touches_them, pages)
CASE(gaps_are_between_commands_of_queues_and_events, gaps)
CASE(events_are_used_again_in_lists_executed_again, events_again)
CASE(two_engines_slow_each_other_by_the_duplex_factor, duplex)
CASE(jitter_stays_in_its_range, jitter)
CASE(kernels_cost_by_name_grid_and_arguments, kernels)

static void pipelines_take_the_time_of_the_closed_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
		print_message("# %s\n", pipelines[i].name);
		run_one(pipeline, &pipelines[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_costs_what_the_script_says),
		cmocka_unit_test(pages_move_when_the_other_side_touches_them),
		cmocka_unit_test(gaps_are_between_commands_of_queues_and_events),
		cmocka_unit_test(events_are_used_again_in_lists_executed_again),
		cmocka_unit_test(two_engines_slow_each_other_by_the_duplex_factor),
		cmocka_unit_test(pipelines_take_the_time_of_the_closed_form),
		cmocka_unit_test(jitter_stays_in_its_range),
		cmocka_unit_test(kernels_cost_by_name_grid_and_arguments),
	};

	if (argc != 2)
		return 2;
	setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
