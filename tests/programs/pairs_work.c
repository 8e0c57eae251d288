// SPDX-License-Identifier: Apache-2.0
// For every finding about kernels and the host a program that must raise it, and a like one that
// must not: pairs_work NAME raise|silent|fixed. They last long enough to stand out from the noise,
// and no longer. `fixed` is `raise` with nothing changed but what the finding advises: the silent
// one, unless said.
#include "program.h"
#include "stopwatch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SMALL_LAUNCHES 2000
#define SMALL_ITEMS 64
#define MOST_ITEMS (SMALL_LAUNCHES * SMALL_ITEMS)
enum { KEPT = 60, MADE_TURNS = 100, MADE_A_TURN = 400 };
// What the host does before the first command, or behind the last, in pieces.
enum { HOST_PIECES = 10, PIECE_US = 80000, PIECE_TURNS = 3000000 };

static const char source[] =
    "kernel void spin(global int *a, int turns)\n"
    "{\n"
    "	size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0);\n"
    "	int value = a[i] + SALT;\n"
    "	for (int k = 0; k < turns; k++)\n"
    "		value = value * 1664525 + 1013904223;\n"
    "	a[i] = value;\n"
    "}\n";

struct pair {
	struct program program;
	cl_kernel kernel;
	cl_mem memory;
	bool raise, fixed;
	// programs are to be, and were, built for so long before the first command
	long build_us, built_us;
	bool keeps; // programs are made to be released
	// before the first command objects are to be made for so long, and so many pieces prepared
	long make_us;
	int prepared;
	long started_us; // that it took until the first command
	cl_program kept[KEPT];
	cl_kernel made[MADE_TURNS * MADE_A_TURN];
};

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static void compute(long us)
{
	for (long until = now_us() + us; now_us() < until;)
		;
}

// Of the thread.
static long cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

// By the CPU time of the thread, so that others slow it down as they do the device's threads.
static void compute_piece(void)
{
	for (long until = cpu_us() + PIECE_US; cpu_us() < until;)
		;
}

// One that no cache of the driver has, when the salt is new.
static cl_program build(const struct pair *pair, long salt)
{
	const char *text = source;
	char options[64];
	cl_int status;
	cl_program program =
	    clCreateProgramWithSource(pair->program.context, 1, &text, NULL, &status);

	check(status, "clCreateProgramWithSource");
	snprintf(options, sizeof options, "-D SALT=%ld", salt);
	check(clBuildProgram(program, 1, &pair->program.device, options, NULL, NULL),
	      "clBuildProgram");
	return program;
}

// The program as it was built; bytes: how many.
static unsigned char *binary_of(const struct pair *pair, size_t *bytes)
{
	unsigned char *binary;

	check(clGetProgramInfo(pair->program.program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes,
	                       NULL),
	      "clGetProgramInfo");
	binary = malloc(*bytes);
	check(clGetProgramInfo(pair->program.program, CL_PROGRAM_BINARIES, sizeof binary, &binary,
	                       NULL),
	      "clGetProgramInfo");
	return binary;
}

// Programs that were built before, to be released later.
static void keep_programs(struct pair *pair)
{
	size_t bytes;
	unsigned char *binary = binary_of(pair, &bytes);
	cl_int status;

	for (int i = 0; i < KEPT; i++) {
		pair->kept[i] = clCreateProgramWithBinary(
		    pair->program.context, 1, &pair->program.device, &bytes,
		    (const unsigned char **)&binary, NULL, &status);
		check(status, "clCreateProgramWithBinary");
		check(clBuildProgram(pair->kept[i], 1, &pair->program.device, "", NULL, NULL),
		      "clBuildProgram");
	}
	free(binary);
}

// Makes memory of the host's data over and over, and uses none of it.
static void make_again(const struct pair *pair)
{
	static char data[4 << 20];
	cl_int status;

	// By the CPU time of the thread: as much of it in calls whoever else has the processors.
	for (long from = cpu_us(); cpu_us() - from < pair->make_us;) {
		cl_mem made = clCreateBuffer(pair->program.context, CL_MEM_COPY_HOST_PTR,
		                             sizeof data, data, &status);
		check(status, "clCreateBuffer");
		check(clReleaseMemObject(made), "clReleaseMemObject");
	}
}

static void open_pair(struct pair *pair, long salt)
{
	static const int zero;
	cl_int status;
	long begun = now_us();

	// Not open_program, which enqueues: what is judged begins with the first enqueue.
	cl_platform_id platform;
	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &pair->program.device, NULL),
	      "clGetDeviceIDs");
	pair->program.context =
	    clCreateContext(NULL, 1, &pair->program.device, NULL, NULL, &status);
	check(status, "clCreateContext");
	pair->program.queue = queue_of(&pair->program, 0);
	long from = now_us();
	while (now_us() - from < pair->build_us)
		clReleaseProgram(build(pair, now_us() % 1000000));
	pair->program.program = build(pair, salt);
	pair->built_us = now_us() - from;
	if (pair->keeps)
		keep_programs(pair);
	make_again(pair);
	for (int i = 0; i < pair->prepared; i++)
		compute_piece();
	pair->started_us = now_us() - begun;
	pair->kernel = clCreateKernel(pair->program.program, "spin", &status);
	check(status, "clCreateKernel");
	pair->memory = clCreateBuffer(pair->program.context, CL_MEM_READ_WRITE,
	                              MOST_ITEMS * sizeof(int), NULL, &status);
	check(status, "clCreateBuffer");
	check(clEnqueueFillBuffer(pair->program.queue, pair->memory, &zero, sizeof zero, 0,
	                          MOST_ITEMS * sizeof(int), 0, NULL, NULL),
	      "clEnqueueFillBuffer");
	check(clFinish(pair->program.queue), "clFinish");
}

static void finish(struct pair *pair)
{
	check(clFinish(pair->program.queue), "clFinish");
}

static void run_shape(struct pair *pair, int turns, cl_uint dimensions, const size_t *global,
                      const size_t *local, cl_event *event)
{
	check(clSetKernelArg(pair->kernel, 0, sizeof pair->memory, &pair->memory),
	      "clSetKernelArg");
	check(clSetKernelArg(pair->kernel, 1, sizeof turns, &turns), "clSetKernelArg");
	check(clEnqueueNDRangeKernel(pair->program.queue, pair->kernel, dimensions, NULL, global,
	                             local, 0, NULL, event),
	      "clEnqueueNDRangeKernel");
}

static void run(struct pair *pair, int turns)
{
	size_t items = SMALL_ITEMS, group = 16;

	run_shape(pair, turns, 1, &items, &group, NULL);
}

// The first launch is no finding here.
static void warm_up(struct pair *pair)
{
	run(pair, 1);
	finish(pair);
}

// ---- the pairs

static void recording_cost(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < (pair->raise ? 200000 : 100); i++)
		check(clFlush(pair->program.queue), "clFlush");
	for (int i = 0; i < 4; i++)
		run(pair, pair->raise ? 1 : 100000);
	finish(pair);
}

static void many_short_kernels(struct pair *pair)
{
	size_t items = MOST_ITEMS, group = 16;

	warm_up(pair);
	if (pair->fixed)
		run_shape(pair, 1, 1, &items, &group, NULL);
	for (int i = 0; i < (pair->fixed ? 0 : pair->raise ? SMALL_LAUNCHES : 200); i++)
		run(pair, pair->raise ? 1 : 4000);
	finish(pair);
}

static void launch_bound(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 150; i++) {
		for (int k = 0; pair->raise && k < 250; k++)
			check(clEnqueueMarkerWithWaitList(pair->program.queue, 0, NULL, NULL),
			      "clEnqueueMarkerWithWaitList");
		run(pair, 3000);
	}
	finish(pair);
}

static void one_kernel_dominates(struct pair *pair)
{
	size_t two[2] = { 64, 64 }, one = 64 * 64;

	for (int i = 0; i < 8; i++)
		run_shape(pair, 2000, pair->raise ? 2 : 1, pair->raise ? two : &one, NULL, NULL);
	finish(pair);
}

static void under_filled_device(struct pair *pair)
{
	size_t items = pair->raise ? 64 : 4096, group = 64;

	warm_up(pair);
	for (int i = 0; i < 20; i++)
		run_shape(pair, pair->raise ? 30000 : 500, 1, &items, &group, NULL);
	finish(pair);
}

static void odd_work_group_size(struct pair *pair)
{
	size_t group = pair->raise ? 9 : 16, items = pair->fixed ? 9 * 16 : group * 16;

	warm_up(pair);
	for (int i = 0; i < 20; i++)
		run_shape(pair, 10000, 1, &items, &group, NULL);
	finish(pair);
}

static void slow_first_use(struct pair *pair)
{
	long begun = now_us(), first;

	run(pair, 1);
	finish(pair);
	first = now_us() - begun;
	for (begun = now_us(); !pair->raise && !pair->fixed && now_us() - begun < 2 * first;) {
		run(pair, 50000);
		finish(pair);
	}
}

static void drift(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 256; i++)
		run(pair, 2000 + (pair->raise ? 10 * i : 0));
	finish(pair);
}

static void idle_host_computes(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 10; i++) {
		run(pair, 50000);
		if (pair->fixed) {
			check(clFlush(pair->program.queue), "clFlush");
			compute(6000);
		}
		finish(pair);
		if (pair->raise)
			compute(6000);
	}
	finish(pair);
	if (!pair->raise && !pair->fixed)
		compute(20000);
	else
		warm_up(pair);
}

// So few that it is no matter of the loop (synchronize-drains).
static void idle_host_waits(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 12; i++) {
		// Beside the silent one's work it is nothing that the host wakes up once, behind
		// the warming up.
		run(pair, pair->raise || pair->fixed ? 50 : 100000);
		if (pair->raise)
			finish(pair);
	}
	finish(pair);
}

static void synchronize_drains(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 1000; i++) {
		run(pair, 300);
		if (pair->raise)
			finish(pair);
	}
	finish(pair);
}

static void idle_host_builds(struct pair *pair)
{
	// The other one has built before its first enqueue.
	if (pair->raise)
		clReleaseProgram(build(pair, now_us() % 1000000));
	for (int i = 0; i < 4; i++)
		run(pair, 50000);
	finish(pair);
}

static void idle_host_sleeps(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < 10; i++) {
		run(pair, 50000);
		finish(pair);
		if (pair->raise)
			usleep(3000);
	}
	warm_up(pair);
}

// The other one has so much to do that what it builds is little of it, on any machine.
static void start_up_builds(struct pair *pair)
{
	long from = now_us();

	do {
		run(pair, 50000);
		finish(pair);
	} while (!pair->raise && !pair->fixed && now_us() - from < 8 * pair->built_us);
}

// Work for one unit, so that the host has another one to compute on.
static void run_piece(struct pair *pair)
{
	size_t items = 16, group = 16;

	run_shape(pair, PIECE_TURNS, 1, &items, &group, NULL);
	check(clFlush(pair->program.queue), "clFlush");
}

// The other one has so much to do that its start-up is little of it.
static void start_up_calls(struct pair *pair)
{
	long from = now_us();

	do {
		run(pair, 50000);
		finish(pair);
	} while (!pair->raise && !pair->fixed && now_us() - from < 8 * pair->started_us);
}

// All pieces are prepared before the first is enqueued, or each beside the one before it.
static void start_up_host(struct pair *pair)
{
	long from = now_us();

	for (int i = 0; i < HOST_PIECES; i++) {
		if (pair->fixed)
			compute_piece();
		run_piece(pair);
	}
	finish(pair);
	while (!pair->raise && !pair->fixed && now_us() - from < 8 * pair->started_us) {
		run_piece(pair);
		finish(pair);
	}
}

// The results of all pieces are computed on at the end, or those of each beside the next one.
static void tear_down(struct pair *pair)
{
	for (int i = 0; i < HOST_PIECES; i++) {
		run_piece(pair);
		if (pair->fixed && i > 0)
			compute_piece();
		finish(pair);
	}
	for (int i = 0; pair->raise && i < HOST_PIECES; i++)
		compute_piece();
	if (pair->fixed)
		compute_piece();
}

static void queries_in_loop(struct pair *pair)
{
	size_t bytes;
	unsigned char *binary = binary_of(pair, &bytes);

	warm_up(pair);
	for (int i = 0; i < 100; i++) {
		run(pair, 1000);
		finish(pair);
		for (long from = now_us(); pair->raise && now_us() - from < 500;)
			check(clGetProgramInfo(pair->program.program, CL_PROGRAM_BINARIES,
			                       sizeof binary, &binary, NULL),
			      "clGetProgramInfo");
	}
	warm_up(pair);
	free(binary);
}

static void releases_in_loop(struct pair *pair)
{
	warm_up(pair);
	for (int i = 0; i < KEPT; i++) {
		run(pair, 1);
		finish(pair);
		if (pair->raise)
			check(clReleaseProgram(pair->kept[i]), "clReleaseProgram");
	}
	warm_up(pair);
	for (int i = 0; i < KEPT && !pair->raise; i++)
		check(clReleaseProgram(pair->kept[i]), "clReleaseProgram");
}

// They are let go of when the program ends: releasing is another finding's.
static void creations_in_loop(struct pair *pair)
{
	size_t count = 0;
	cl_int status;

	warm_up(pair);
	for (size_t i = 1; i <= MADE_TURNS; i++) {
		run(pair, 1000);
		finish(pair);
		while (pair->raise && count < i * MADE_A_TURN) {
			pair->made[count++] =
			    clCreateKernel(pair->program.program, "spin", &status);
			check(status, "clCreateKernel");
		}
	}
	warm_up(pair);
}

static void host_polling(struct pair *pair)
{
	size_t items = 64, group = 16;

	warm_up(pair);
	for (int i = 0; i < 3; i++) {
		cl_int state = CL_QUEUED;
		cl_event event;
		run_shape(pair, 300000, 1, &items, &group, &event);
		check(clFlush(pair->program.queue), "clFlush");
		while (pair->raise && state > CL_COMPLETE)
			check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
			                     &state, NULL),
			      "clGetEventInfo");
		if (!pair->raise)
			check(clWaitForEvents(1, &event), "clWaitForEvents");
		clReleaseEvent(event);
	}
}

static const struct {
	const char *name;
	void (*go)(struct pair *pair);
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
	{ "start-up-calls", start_up_calls },
	{ "start-up-host", start_up_host },
	{ "tear-down", tear_down },
	{ "queries-in-loop", queries_in_loop },
	{ "releases-in-loop", releases_in_loop },
	{ "creations-in-loop", creations_in_loop },
	{ "idle-host-sleeps", idle_host_sleeps },
	{ "host-polling", host_polling },
};

int main(int argument_count, char **arguments)
{
	static struct pair pair;

	if (argument_count != 3)
		return 2;
	pair.raise = strcmp(arguments[2], "raise") == 0;
	pair.fixed = strcmp(arguments[2], "fixed") == 0;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		if (strcmp(pairs[i].name, arguments[1]) != 0)
			continue;
		if (pair.raise && pairs[i].go == start_up_builds)
			pair.build_us = 1500000;
		if (pair.raise && pairs[i].go == start_up_calls)
			pair.make_us = 1500000;
		if (pair.raise && pairs[i].go == start_up_host)
			pair.prepared = HOST_PIECES;
		pair.keeps = pairs[i].go == releases_in_loop;
		open_pair(&pair, pair.raise && strcmp(pairs[i].name, "slow-first-use") == 0
		                     ? now_us() % 1000000
		                     : 0);
		stopwatch_start();
		pairs[i].go(&pair);
		stopwatch_print();
		return 0;
	}
	return 2;
}
