// SPDX-License-Identifier: Apache-2.0
// The chunks of opencl/pipeline.c (copy in, compute, copy out) in CUDA streams.
//   sequential     one chunk after the other, waiting for each step
//   concurrent     a stream for every third chunk, page-locked memory, nothing waits until the end
// and what breaks the concurrency of the second:
//   default-queue  all chunks in the default stream
//   blocking       the copies are not asynchronous
//   pageable       the host memory is plain
//   allocation     device memory is made for every chunk, and freed
//   build          the module is loaded again for every chunk
//   legacy-stream  the kernels are in the default stream, the copies are not
// Without sizes the chunks are run again and again, for half a second on whatever device this is:
// shorter ones say little. With sizes they are run once, or RUNS times. Record two of them and
// compare the reports:
//   tare record -o concurrent.tare -- ./cuda-pipeline concurrent
#include "example.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the runs, where nobody says how many: so that half a second of work is recorded, though the
// host sees each end late.
#define WORK_NS 6e8
#define MOST_RUNS 100000

enum { STREAMS = 3, MOST_CHUNKS = 256 };

struct form {
	const char *name;
	bool one_stream, wait_each, blocking, pageable, allocate, build, legacy;
};
static const struct form forms[] = {
	{ "sequential", .one_stream = true, .wait_each = true },
	{ "concurrent", .one_stream = false },
	{ "default-queue", .one_stream = true },
	{ "blocking", .blocking = true },
	{ "pageable", .pageable = true },
	{ "allocation", .allocate = true },
	{ "build", .build = true },
	{ "legacy-stream", .legacy = true },
};

struct pipeline {
	const struct form *form;
	cu_stream streams[STREAMS];
	struct kernel kernels[MOST_CHUNKS]; // the first, unless each chunk loads one
	uint32_t *host[2];                  // what goes in, what comes out
	cu_pointer chunk[MOST_CHUNKS];
	size_t chunks, chunk_bytes, runs; // 0: not said
	uint32_t cycles;
};

static void open_pipeline(struct pipeline *pipeline)
{
	size_t bytes = pipeline->chunks * pipeline->chunk_bytes;

	open_device();
	for (int i = 0; i < STREAMS && !pipeline->form->one_stream; i++)
		pipeline->streams[i] = stream_new(0);
	pipeline->kernels[0] = load_kernel();
	for (int i = 0; i < 2; i++) {
		pipeline->host[i] =
		    pipeline->form->pageable ? aligned_alloc(4096, bytes) : pinned_memory(bytes);
		memset(pipeline->host[i], 0, bytes);
	}
	for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
		pipeline->host[0][i] = (uint32_t)i;
	for (size_t i = 0; i < pipeline->chunks && !pipeline->form->allocate; i++)
		pipeline->chunk[i] = device_memory(pipeline->chunk_bytes);
}

static void close_pipeline(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->chunks; i++) {
		if (pipeline->chunk[i])
			DO(cuMemFree_v2, pipeline->chunk[i]);
		if (pipeline->kernels[i].module)
			DO(cuModuleUnload, pipeline->kernels[i].module);
	}
	for (int i = 0; i < STREAMS && !pipeline->form->one_stream; i++)
		DO(cuStreamDestroy_v2, pipeline->streams[i]);
	for (int i = 0; i < 2; i++) {
		if (pipeline->form->pageable)
			free(pipeline->host[i]);
		else
			DO(cuMemFreeHost, pipeline->host[i]);
	}
	close_device();
}

// What a break does to the program in the middle of its work. Freeing waits for what uses the
// memory.
static struct kernel prepare_chunk(struct pipeline *pipeline, size_t chunk)
{
	size_t before = (chunk > 0 ? chunk : pipeline->chunks) - 1;

	if (pipeline->form->allocate && pipeline->chunk[before]) {
		DO(cuMemFree_v2, pipeline->chunk[before]);
		pipeline->chunk[before] = 0;
	}
	if (pipeline->form->allocate)
		pipeline->chunk[chunk] = device_memory(pipeline->chunk_bytes);
	// Of the run before.
	if (pipeline->form->build && chunk > 0 && pipeline->kernels[chunk].module)
		DO(cuModuleUnload, pipeline->kernels[chunk].module);
	if (pipeline->form->build && chunk > 0)
		pipeline->kernels[chunk] = load_kernel();
	return pipeline->kernels[pipeline->form->build ? chunk : 0];
}

static void copy(const struct pipeline *pipeline, size_t chunk, bool in, cu_stream stream)
{
	uint32_t *host = pipeline->host[!in] + chunk * (pipeline->chunk_bytes / sizeof(uint32_t));

	if (pipeline->form->blocking && in)
		DO(cuMemcpyHtoD_v2, pipeline->chunk[chunk], host, pipeline->chunk_bytes);
	else if (pipeline->form->blocking)
		DO(cuMemcpyDtoH_v2, host, pipeline->chunk[chunk], pipeline->chunk_bytes);
	else if (in)
		DO(cuMemcpyHtoDAsync_v2, pipeline->chunk[chunk], host, pipeline->chunk_bytes,
		   stream);
	else
		DO(cuMemcpyDtoHAsync_v2, host, pipeline->chunk[chunk], pipeline->chunk_bytes,
		   stream);
	if (pipeline->form->wait_each)
		DO(cuStreamSynchronize, stream);
}

static void run_chunk(struct pipeline *pipeline, size_t chunk)
{
	uint32_t items = (uint32_t)(pipeline->chunk_bytes / sizeof(uint32_t));
	cu_stream stream = pipeline->streams[chunk % STREAMS];
	struct kernel kernel = prepare_chunk(pipeline, chunk);
	cu_pointer memory = pipeline->chunk[chunk];

	copy(pipeline, chunk, true, stream);
	launch_steps(kernel, memory, memory, items, BLOCK, pipeline->cycles,
	             pipeline->form->legacy ? NULL : stream);
	if (pipeline->form->wait_each)
		DO(cuStreamSynchronize, stream);
	copy(pipeline, chunk, false, stream);
}

static double run_once(struct pipeline *pipeline)
{
	double begin = now_ns();

	for (size_t chunk = 0; chunk < pipeline->chunks; chunk++)
		run_chunk(pipeline, chunk);
	DO(cuCtxSynchronize);
	return now_ns() - begin;
}

static bool right(const struct pipeline *pipeline)
{
	size_t items = pipeline->chunks * pipeline->chunk_bytes / sizeof(uint32_t);
	// All steps at once: value * factor + sum.
	uint32_t sum = steps_of(0, pipeline->cycles), factor = steps_of(1, pipeline->cycles) - sum;

	for (size_t i = 0; i < items; i++)
		if (pipeline->host[1][i] != (uint32_t)i * factor + sum)
			return false;
	return true;
}

static void read_arguments(struct pipeline *pipeline, int count, char **arguments)
{
	const char *name = count > 1 ? arguments[1] : "concurrent";

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].name, name) == 0)
			pipeline->form = &forms[i];
	if (count > 2)
		pipeline->chunks = strtoul(arguments[2], NULL, 10);
	if (count > 3)
		pipeline->chunk_bytes = strtoul(arguments[3], NULL, 10) << 10;
	if (count > 4)
		pipeline->cycles = (uint32_t)strtoul(arguments[4], NULL, 10);
	if (count > 2)
		pipeline->runs = count > 5 ? strtoul(arguments[5], NULL, 10) : 1;
	if (pipeline->form && pipeline->chunks >= 1 && pipeline->chunks <= MOST_CHUNKS &&
	    pipeline->chunk_bytes >= 4096 && pipeline->chunk_bytes <= 1 << 28 &&
	    pipeline->runs <= MOST_RUNS)
		return;
	fprintf(stderr, "usage: cuda-pipeline FORM [CHUNKS [KILOBYTES [CYCLES [RUNS]]]]\n  FORM:");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		fprintf(stderr, " %s", forms[i].name);
	fprintf(stderr, "\n  CHUNKS: to %d; RUNS: 0 for as many as take half a second\n",
	        MOST_CHUNKS);
	exit(2);
}

int main(int count, char **arguments)
{
	static struct pipeline pipeline = { .chunk_bytes = 1 << 20, .chunks = 16, .cycles = 4 };

	read_arguments(&pipeline, count, arguments);
	open_pipeline(&pipeline);
	double took = 0;
	size_t runs = 0;
	for (; pipeline.runs ? runs < pipeline.runs : took < WORK_NS; runs++)
		took += run_once(&pipeline);
	bool verified = right(&pipeline);
	printf("%s, %zu chunks of %zu KB, %zu run%s: %.3f ms each\nresult: %s\n",
	       pipeline.form->name, pipeline.chunks, pipeline.chunk_bytes >> 10, runs,
	       runs == 1 ? "" : "s", took / (double)runs * 1e-6, verified ? "right" : "WRONG");
	close_pipeline(&pipeline);
	return verified ? 0 : 1;
}
