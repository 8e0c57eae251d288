// SPDX-License-Identifier: Apache-2.0
// Writes a large trace, as a program leaves it that launches and launches: for reading_cost.py.
//   large_trace FOLDER COMMANDS [opencl|levelzero|cuda [packed|plain [THREADS]]]
// Each thread has a queue. Of 64 commands one is a write, one a read that waits for its kernel, and
// a wait follows; the others are launches of eight kernels. Packed: launches and times in LAUNCHES
// and MORE_TIMES, as the recorder writes them from 1.8; OpenCL's have call stacks.
#include "trace/writer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 64, KERNELS = 8, MOST_THREADS = 64, DEVICE = 0x100, CONTEXT, PROGRAM, BUFFER };
enum { QUEUE = 0x200, KERNEL = 0x300, WRITE = 1, READ, LAUNCH, WAIT };

struct thread {
	uint32_t track, number;
	uint64_t device_free; // when its queue is done
	uint64_t cpu_ns;
};

struct large {
	struct tare_trace_writer *writer;
	uint32_t api;
	bool packed;
	uint64_t ticks;
	struct thread threads[MOST_THREADS];
	uint32_t thread_count;
};

static const char *const functions[][4] = {
	[TARE_TRACE_OPENCL] = { "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
	                        "clEnqueueNDRangeKernel", "clFinish" },
	[TARE_TRACE_LEVELZERO] = { "zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryCopy",
	                           "zeCommandListAppendLaunchKernel",
	                           "zeCommandListHostSynchronize" },
	[TARE_TRACE_CUDA] = { "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuLaunchKernel",
	                      "cuStreamSynchronize" },
};

#define ADD(large, member, type, flags, detail, track, ...)                                        \
	tare_trace_writer_add(                                                                     \
	    (large)->writer,                                                                       \
	    &(union tare_trace_record){                                                            \
	        .member = { .head = tare_trace_head(TARE_TRACE_##type, (uint8_t)(flags),           \
	                                            (uint16_t)(detail), track),                    \
	                    __VA_ARGS__ } })

static uint32_t text(struct large *large, const char *of)
{
	return tare_trace_writer_text(large->writer, of);
}

static void define_objects(struct large *large)
{
	uint64_t t = large->ticks;
	uint8_t api = (uint8_t)large->api;

	for (uint16_t i = 0; i < 4; i++)
		ADD(large, function, FUNCTION, 0, i + 1, 1, .name = text(large, functions[api][i]),
		    .api = api, .role = i + 1 == WAIT ? TARE_ROLE_WAIT : TARE_ROLE_COMMAND);
	ADD(large, object, OBJECT, api, TARE_OBJECT_DEVICE, 1, .handle = DEVICE, .ticks = t,
	    .bytes = UINT64_C(1) << 33, .name = text(large, "Device"));
	ADD(large, fact, FACT, api, TARE_TRACE_FACT_COMPUTE_UNITS, 1, .object = DEVICE, .ticks = t,
	    .value = 64);
	ADD(large, object, OBJECT, api, TARE_OBJECT_CONTEXT, 1, .handle = CONTEXT, .ticks = t,
	    .device = DEVICE);
	ADD(large, object, OBJECT, api, TARE_OBJECT_PROGRAM, 1, .handle = PROGRAM, .ticks = t,
	    .parent = CONTEXT);
	ADD(large, object, OBJECT, api, TARE_OBJECT_MEMORY, 1, .handle = BUFFER, .ticks = t,
	    .parent = CONTEXT, .bytes = 1 << 20, .number = TARE_TRACE_MEMORY_BUFFER);
	for (uint32_t i = 0; i < KERNELS; i++) {
		char name[32];
		snprintf(name, sizeof name, "kernel_%u", i);
		ADD(large, object, OBJECT, api, TARE_OBJECT_KERNEL, 1, .handle = KERNEL + i,
		    .ticks = t, .parent = PROGRAM, .name = text(large, name));
		ADD(large, shape, SHAPE, 0, 0, 1, .id = i + 1, .dimensions = 1,
		    .global = { UINT64_C(65536) << i, 1, 1 }, .local = { 256, 1, 1 });
		ADD(large, stack, STACK, 0, 2, 1, .id = i + 1, .total = 2,
		    .frame = { 0x1010 + 16 * i, 0x1800 });
	}
	ADD(large, module, MODULE, 0, 0, 1, .ticks = t, .from = 0x1000, .to = 0x9000,
	    .path = text(large, "/usr/bin/app"));
}

static void define_threads(struct large *large)
{
	for (uint32_t i = 0; i < large->thread_count; i++) {
		large->threads[i] = (struct thread){ .track = i + 1, .number = 1 };
		ADD(large, track, TRACK, 0, TARE_TRACE_THREAD, i + 1, .ticks = large->ticks,
		    .tid = 4711 + i);
		ADD(large, object, OBJECT, large->api, TARE_OBJECT_QUEUE, i + 1,
		    .handle = QUEUE + i, .ticks = large->ticks, .parent = CONTEXT, .device = DEVICE,
		    .properties = 2, .number = i + 1);
	}
}

// A deterministic choice; the figures need not be random, only not all the same.
static uint32_t chosen(uint64_t of, uint32_t among)
{
	return (uint32_t)((of * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % among;
}

enum { CALL_TICKS = 1500, BETWEEN = 400 };

static void add_command(struct large *large, const struct thread *thread, uint32_t at,
                        uint64_t enter, uint32_t kernel)
{
	bool write = at == 0, read = at == ROUND - 1;
	uint64_t event =
	    large->packed && !write && !read ? 0 : UINT64_C(0x10000) + thread->track * 4096 + at;

	ADD(large, command, COMMAND, large->packed ? TARE_COMMAND_OWN_EVENT : 0,
	    write  ? WRITE
	    : read ? READ
	           : LAUNCH,
	    thread->track, .enter = enter, .call_ticks = CALL_TICKS, .number = thread->number + at,
	    .kind = write  ? TARE_KIND_WRITE
	            : read ? TARE_KIND_READ
	                   : TARE_KIND_KERNEL,
	    .direction = write  ? TARE_DIRECTION_TO_DEVICE
	                 : read ? TARE_DIRECTION_FROM_DEVICE
	                        : 0,
	    .alignment = 12, .memory = write || read ? TARE_TRACE_MEMORY_PAGEABLE : 0,
	    .queue = thread->track, .object = write || read ? BUFFER : KERNEL + kernel,
	    .amount = write || read ? 65536 : kernel + 1, .event = event,
	    .object2 = write || read ? 0x7000 : 0);
	if (large->api == TARE_TRACE_OPENCL && !large->packed)
		ADD(large, site, SITE, 0, 0, thread->track, .of = thread->number + at,
		    .stack = kernel + 1);
}

static void add_commands(struct large *large, struct thread *thread, uint32_t count)
{
	uint32_t kernel = chosen(thread->number, KERNELS), left = 0;
	struct tare_trace_launches more = { 0 };

	for (uint32_t at = 0; at < count; at++, large->ticks += CALL_TICKS + BETWEEN) {
		bool like = large->packed && at > 1 && at < ROUND - 1 && at % 32;
		if (!like || left == TARE_LAUNCHES_MOST) {
			if (left)
				tare_trace_writer_add(large->writer,
				                      (union tare_trace_record *)&more);
			left = 0;
		}
		if (!like || (!left && !tare_trace_writer_goes_on(large->writer, thread->track))) {
			kernel = chosen(thread->number + at, KERNELS);
			add_command(large, thread, at, large->ticks, kernel);
			continue;
		}
		more.ticks[2 * left] = BETWEEN;
		more.ticks[2 * left + 1] = CALL_TICKS;
		more.head =
		    tare_trace_head(TARE_TRACE_LAUNCHES, 0, (uint16_t)++left, thread->track);
	}
	if (left)
		tare_trace_writer_add(large->writer, (union tare_trace_record *)&more);
}

static void add_times(struct large *large, struct thread *thread, uint32_t count, uint64_t enter,
                      const uint64_t *ends)
{
	struct tare_trace_more_times more = { 0 };
	uint32_t left = 0;
	uint64_t before = 0;

	for (uint32_t at = 0; at < count; at++) {
		uint64_t queued = enter + at * (CALL_TICKS + BETWEEN) + 100;
		uint64_t submitted = queued + 900, end = ends[at];
		uint64_t start = end - 1000 - chosen(thread->number + at, 900);
		bool packed = large->packed && at > 0 &&
		              (left || tare_trace_writer_goes_on(large->writer, thread->track));
		if (packed && left < TARE_MORE_TIMES_MOST) {
			uint32_t *ticks = &more.ticks[4 * left++];
			ticks[0] = (uint32_t)(queued - before);
			ticks[1] = (uint32_t)(submitted - queued);
			ticks[2] = (uint32_t)(start - submitted);
			ticks[3] = (uint32_t)(end - start);
			more.head = tare_trace_head(TARE_TRACE_MORE_TIMES, 0, (uint16_t)left,
			                            thread->track);
		}
		before = queued;
		if (packed && (left == TARE_MORE_TIMES_MOST || at + 1 == count)) {
			tare_trace_writer_add(large->writer, (union tare_trace_record *)&more);
			more = (struct tare_trace_more_times){ 0 };
			left = 0;
		}
		if (!packed)
			ADD(large, times, TIMES, 15, 0, thread->track,
			    .command_track = thread->track, .command_number = thread->number + at,
			    .queued = queued, .submitted = submitted, .start = start, .end = end,
			    .observed = large->ticks);
	}
}

// Commands of one thread, the wait for them, and their times.
static void add_round(struct large *large, struct thread *thread, uint32_t count)
{
	uint64_t enter = large->ticks, ends[ROUND], waited;

	add_commands(large, thread, count);
	for (uint32_t at = 0; at < count; at++) {
		uint64_t begin = enter + at * (CALL_TICKS + BETWEEN) + 3000;
		if (thread->device_free > begin)
			begin = thread->device_free + 50;
		ends[at] = begin + 1000 + chosen(thread->number + at, 900);
		thread->device_free = ends[at];
	}
	waited = large->ticks;
	large->ticks = (thread->device_free > waited ? thread->device_free : waited) + 2000;
	ADD(large, call, CALL, 0, WAIT, thread->track, .enter = waited, .exit = large->ticks,
	    .object = QUEUE + thread->track - 1);
	large->ticks += 500;
	ADD(large, cpu_time, CPU_TIME, 0, 0, thread->track, .ticks = large->ticks,
	    .cpu_ns = thread->cpu_ns += (waited - enter) * 9 / 10);
	add_times(large, thread, count, enter, ends);
	thread->number += count;
}

static int write_large(const char *folder, struct large *large, uint64_t commands)
{
	struct tare_trace_header header = { .start_raw_ns = INT64_C(1000000000000),
		                            .start_ticks = UINT64_C(1000000000000),
		                            .api = large->api,
		                            .pid = 4711,
		                            .host_name = "host",
		                            .executable = "/usr/bin/app",
		                            .command_line = "app",
		                            .process_cpu_ns = commands * 1800 };
	struct tare_error error;

	large->ticks = header.start_ticks + 1000;
	if (tare_trace_writer_open(folder, "host-1-1", &header, &large->writer, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	define_objects(large);
	define_threads(large);
	for (uint64_t done = 0, round = 0; done < commands; round++) {
		uint64_t left = commands - done;
		uint32_t count = left < ROUND ? (uint32_t)left : ROUND;
		if (round % 4096 == 0)
			ADD(large, clock_pair, CLOCK_PAIR, large->api, TARE_CLOCK_DEVICE, 1,
			    .before = large->ticks, .value = large->ticks + 20,
			    .after = large->ticks + 40, .device = DEVICE);
		add_round(large, &large->threads[round % large->thread_count], count);
		done += count;
	}
	if (tare_trace_writer_close(large->writer, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const apis[] = { [TARE_TRACE_OPENCL] = "opencl",
		                            [TARE_TRACE_LEVELZERO] = "levelzero",
		                            [TARE_TRACE_CUDA] = "cuda" };
	struct large large = { .api = TARE_TRACE_OPENCL, .thread_count = 1 };

	if (argc < 3)
		return fprintf(stderr, "usage: large_trace FOLDER COMMANDS "
		                       "[opencl|levelzero|cuda [packed|plain [THREADS]]]\n"),
		       2;
	for (uint32_t i = 1; argc > 3 && i < sizeof apis / sizeof *apis; i++)
		if (apis[i] && strcmp(apis[i], argv[3]) == 0)
			large.api = i;
	large.packed = argc > 4 && strcmp(argv[4], "packed") == 0;
	if (argc > 5)
		large.thread_count = (uint32_t)strtoul(argv[5], NULL, 0);
	if (large.thread_count < 1 || large.thread_count > MOST_THREADS)
		large.thread_count = 1;
	return write_large(argv[1], &large, strtoull(argv[2], NULL, 0));
}
