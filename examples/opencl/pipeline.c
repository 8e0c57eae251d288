// SPDX-License-Identifier: Apache-2.0
// Copy in, compute, copy out, cut into chunks; after the CUDA Handbook's experiment.
//   sequential     one chunk after the other, waiting for each
//   concurrent     a queue for each chunk in turn, pinned memory, nothing waits until the end
// and what breaks the concurrency of the second:
//   default-queue  all chunks in one queue
//   blocking       the copies block the host
//   pageable       the host memory is plain
//   allocation     a buffer is made for every chunk
//   build          the kernel is built again for every chunk
// Without sizes the chunks are run again and again, for half a second on whatever device this is:
// shorter ones say little. With sizes they are run once, or RUNS times. Record two of them and
// compare the reports:
//   tare record -o concurrent.tare -- ./pipeline concurrent
#include "example.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES 3
#define MOST_CHUNKS 64
// Of the runs, where nobody says how many: so that half a second of work is recorded, though the
// host sees each end late.
#define WORK_NS 6e8
#define MOST_RUNS 100000
#define CHECKED 9973 // every so many items: the host must not become what the run is about

static const char source[] =
    "kernel void cycles(global const int *in, global int *out, int cycles)\n"
    "{\n"
    "	int i = get_global_id(0), value = in[i];\n"
    "	for (int k = 0; k < cycles; k++)\n"
    "		value = value * 1664525 + 1013904223;\n"
    "	out[i] = value;\n"
    "}\n";

struct form {
	const char *name;
	int queues;
	bool wait_each, blocking, pageable, allocate, build;
};
static const struct form forms[] = {
	{ "sequential", 1, .wait_each = true },
	{ "concurrent", QUEUES },
	{ "default-queue", 1 },
	{ "blocking", QUEUES, .blocking = true },
	{ "pageable", QUEUES, .pageable = true },
	{ "allocation", QUEUES, .allocate = true },
	{ "build", QUEUES, .build = true },
};

struct pipeline {
	const struct form *form;
	struct device device;
	cl_command_queue queues[QUEUES];
	cl_program program;
	cl_kernel kernel;
	cl_mem in[MOST_CHUNKS], out[MOST_CHUNKS], pinned[2];
	int *host[2]; // what goes in, what comes out
	size_t chunk_bytes;
	int chunks, cycles, runs; // 0: not said
};

// Plain memory, or memory that the driver has pinned.
static int *host_memory(struct pipeline *pipeline, int which)
{
	size_t bytes = pipeline->chunk_bytes * (size_t)pipeline->chunks;
	cl_int status;

	if (pipeline->form->pageable) {
		int *memory = calloc(bytes, 1);
		if (!memory)
			check(CL_OUT_OF_HOST_MEMORY, "calloc");
		return memory;
	}
	pipeline->pinned[which] =
	    buffer_of(&pipeline->device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL);
	void *memory =
	    clEnqueueMapBuffer(pipeline->queues[0], pipeline->pinned[which], CL_TRUE,
	                       CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &status);
	check(status, "clEnqueueMapBuffer");
	count(MAPS, bytes);
	return memory;
}

static void free_host_memory(struct pipeline *pipeline, int which)
{
	if (pipeline->form->pageable) {
		free(pipeline->host[which]);
		return;
	}
	check(clEnqueueUnmapMemObject(pipeline->queues[0], pipeline->pinned[which],
	                              pipeline->host[which], 0, NULL, NULL),
	      "clEnqueueUnmapMemObject");
	count(UNMAPS, 0);
	check(clFinish(pipeline->queues[0]), "clFinish");
	clReleaseMemObject(pipeline->pinned[which]);
}

static void open_pipeline(struct pipeline *pipeline)
{
	const struct form *form = pipeline->form;
	size_t items = pipeline->chunk_bytes * (size_t)pipeline->chunks / sizeof(int);
	cl_int status;

	pipeline->device = open_device();
	for (int i = 0; i < form->queues; i++) {
		pipeline->queues[i] =
		    clCreateCommandQueue(pipeline->device.context, pipeline->device.id, 0, &status);
		check(status, "clCreateCommandQueue");
	}
	pipeline->program = build(&pipeline->device, source, "");
	pipeline->kernel = kernel_of(pipeline->program, "cycles");
	for (int i = 0; i < 2; i++)
		pipeline->host[i] = host_memory(pipeline, i);
	for (size_t i = 0; i < items; i += CHECKED) {
		pipeline->host[0][i] = (int)i;
		pipeline->host[1][i] = 0;
	}
	for (int i = 0; i < pipeline->chunks && !form->allocate; i++) {
		pipeline->in[i] =
		    buffer_of(&pipeline->device, CL_MEM_READ_WRITE, pipeline->chunk_bytes, NULL);
		pipeline->out[i] =
		    buffer_of(&pipeline->device, CL_MEM_READ_WRITE, pipeline->chunk_bytes, NULL);
	}
}

static void close_pipeline(struct pipeline *pipeline)
{
	for (int i = 0; i < pipeline->chunks; i++) {
		clReleaseMemObject(pipeline->in[i]);
		clReleaseMemObject(pipeline->out[i]);
	}
	for (int i = 0; i < 2; i++)
		free_host_memory(pipeline, i);
	clReleaseKernel(pipeline->kernel);
	clReleaseProgram(pipeline->program);
	for (int i = 0; i < pipeline->form->queues; i++)
		clReleaseCommandQueue(pipeline->queues[i]);
	close_device(&pipeline->device);
}

// What a break does to the program in the middle of its work.
static void prepare_chunk(struct pipeline *pipeline, int chunk)
{
	const struct form *form = pipeline->form;

	if (form->build) {
		clReleaseKernel(pipeline->kernel);
		clReleaseProgram(pipeline->program);
		// Another option each time, so that no driver takes it from its cache.
		char options[64];
		snprintf(options, sizeof options, "-D CHUNK=%d_%ld", chunk, (long)now_ns());
		pipeline->program = build(&pipeline->device, source, options);
		pipeline->kernel = kernel_of(pipeline->program, "cycles");
	}
	if (form->allocate) {
		// Of the run before.
		if (pipeline->in[chunk]) {
			clReleaseMemObject(pipeline->in[chunk]);
			clReleaseMemObject(pipeline->out[chunk]);
		}
		pipeline->in[chunk] =
		    buffer_of(&pipeline->device, CL_MEM_READ_WRITE, pipeline->chunk_bytes, NULL);
		pipeline->out[chunk] =
		    buffer_of(&pipeline->device, CL_MEM_READ_WRITE, pipeline->chunk_bytes, NULL);
	}
}

static void run_chunk(struct pipeline *pipeline, int chunk)
{
	const struct form *form = pipeline->form;
	cl_command_queue queue = pipeline->queues[chunk % form->queues];
	cl_bool blocking = form->blocking || form->wait_each;
	size_t bytes = pipeline->chunk_bytes, items = bytes / sizeof(int);
	size_t at = (size_t)chunk * items;

	prepare_chunk(pipeline, chunk);
	check(clEnqueueWriteBuffer(queue, pipeline->in[chunk], blocking, 0, bytes,
	                           pipeline->host[0] + at, 0, NULL, NULL),
	      "clEnqueueWriteBuffer");
	count(WRITES, bytes);
	set_argument(pipeline->kernel, 0, sizeof(cl_mem), &pipeline->in[chunk]);
	set_argument(pipeline->kernel, 1, sizeof(cl_mem), &pipeline->out[chunk]);
	set_argument(pipeline->kernel, 2, sizeof pipeline->cycles, &pipeline->cycles);
	check(clEnqueueNDRangeKernel(queue, pipeline->kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
	      "clEnqueueNDRangeKernel");
	count(KERNELS, 0);
	if (form->wait_each)
		check(clFinish(queue), "clFinish");
	check(clEnqueueReadBuffer(queue, pipeline->out[chunk], blocking, 0, bytes,
	                          pipeline->host[1] + at, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	count(READS, bytes);
	check(clFlush(queue), "clFlush");
}

static double run_once(struct pipeline *pipeline)
{
	double begin = now_ns();

	for (int chunk = 0; chunk < pipeline->chunks; chunk++)
		run_chunk(pipeline, chunk);
	for (int i = 0; i < pipeline->form->queues; i++)
		check(clFinish(pipeline->queues[i]), "clFinish");
	return now_ns() - begin;
}

static bool right(const struct pipeline *pipeline)
{
	size_t items = pipeline->chunk_bytes * (size_t)pipeline->chunks / sizeof(int);

	for (size_t i = 0; i < items; i += CHECKED) {
		unsigned value = (unsigned)i;
		for (int k = 0; k < pipeline->cycles; k++)
			value = value * 1664525u + 1013904223u;
		if ((unsigned)pipeline->host[1][i] != value)
			return false;
	}
	return true;
}

int main(int argument_count, char **arguments)
{
	static struct pipeline pipeline = { .chunk_bytes = 1 << 20, .chunks = 16, .cycles = 4 };
	const char *name = argument_count > 1 ? arguments[1] : "concurrent";

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].name, name) == 0)
			pipeline.form = &forms[i];
	if (argument_count > 2)
		pipeline.chunks = atoi(arguments[2]);
	if (argument_count > 3)
		pipeline.chunk_bytes = (size_t)atoi(arguments[3]) << 10;
	if (argument_count > 4)
		pipeline.cycles = atoi(arguments[4]);
	if (argument_count > 2)
		pipeline.runs = argument_count > 5 ? atoi(arguments[5]) : 1;
	if (!pipeline.form || pipeline.chunks < 1 || pipeline.chunks > MOST_CHUNKS ||
	    pipeline.chunk_bytes < 1024 || pipeline.chunk_bytes > 1 << 28 || pipeline.cycles < 0 ||
	    pipeline.runs < 0 || pipeline.runs > MOST_RUNS) {
		fprintf(stderr,
		        "usage: pipeline FORM [CHUNKS [KILOBYTES [CYCLES [RUNS]]]]\n  FORM:");
		for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
			fprintf(stderr, " %s", forms[i].name);
		fprintf(stderr, "\n  CHUNKS: to %d; RUNS: 0 for as many as take half a second\n",
		        MOST_CHUNKS);
		return 2;
	}

	open_pipeline(&pipeline);
	double took = 0;
	int runs = 0;
	for (; pipeline.runs ? runs < pipeline.runs : took < WORK_NS; runs++)
		took += run_once(&pipeline);
	bool verified = right(&pipeline);

	printf("%s, %d chunks of %zu KB, %d run%s: %.3f ms each, %s\n", name, pipeline.chunks,
	       pipeline.chunk_bytes >> 10, runs, runs == 1 ? "" : "s", took / runs * 1e-6,
	       verified ? "right" : "WRONG");
	close_pipeline(&pipeline);
	print_counts();
	return verified ? 0 : 1;
}
