// SPDX-License-Identifier: Apache-2.0
// Uses OpenCL and the toy in one process: two_apis WORD... does what each word says, in that order,
// and prints "PID FUNCTION COUNT" for what every process called itself.
#define CL_TARGET_OPENCL_VERSION 120
#include "toy.h"

#include "tare/phase.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 10, THREADS = 4, ROUNDS = 50, BYTES = 64 };
enum counted { FILL, FINISH, LAUNCH, TOY_FINISH, COUNTED };
static const char *const names[COUNTED] = { "clEnqueueFillBuffer", "clFinish", "toyLaunch",
	                                    "toyFinish" };
static _Atomic uint64_t counts[COUNTED];

static cl_context context;
static cl_device_id device;
static cl_mem memory;
static pthread_once_t opencl_once = PTHREAD_ONCE_INIT;
static _Thread_local cl_command_queue queue;
static _Thread_local toy_queue *toy;

static void check(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "two_apis: %s: %d\n", what, status);
	_exit(1);
}

static void open_opencl(void)
{
	cl_platform_id platform;
	cl_int status;
	check(clGetPlatformIDs(1, &platform, NULL), "platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status, "context");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	check(status, "buffer");
}

static void need_opencl(void)
{
	cl_int status = CL_SUCCESS;
	pthread_once(&opencl_once, open_opencl);
	if (!queue)
		queue = clCreateCommandQueue(context, device, 0, &status);
	check(status, "queue");
}

static void need_toy(void)
{
	if (!toy)
		check(toy_queue_create(&toy), "toy queue");
}

static void fill(int count)
{
	static const int zero;
	need_opencl();
	for (int i = 0; i < count; i++)
		check(
		    clEnqueueFillBuffer(queue, memory, &zero, sizeof zero, 0, BYTES, 0, NULL, NULL),
		    "fill");
	counts[FILL] += (uint64_t)count;
}

static void finish(void)
{
	need_opencl();
	check(clFinish(queue), "finish");
	counts[FINISH]++;
}

static void launch(void (*inside)(void *))
{
	need_toy();
	check(toy_launch(toy, inside, NULL, NULL), "launch");
	counts[LAUNCH]++;
}

static void finish_toy(void)
{
	need_toy();
	check(toy_finish(toy), "toy finish");
	counts[TOY_FINISH]++;
}

// ---- what words do

static void do_opencl(void)
{
	fill(FEW);
	finish();
}

static void do_toy(void)
{
	for (int i = 0; i < FEW; i++)
		launch(NULL);
	finish_toy();
}

static void do_unwaited(void)
{
	launch(NULL);
	fill(1);
}

// Until the recorder has harvested the toy, at calls of the other API or by its helper.
static void do_drain(void)
{
	for (int i = 0; i < 10000 && toy_events(); i++) {
		usleep(1000);
		fill(1);
		finish();
	}
	check(toy_events(), "nobody harvests the toy");
}

static void do_phase(void)
{
	tare_phase_begin("step");
	tare_phase_end();
}

static void *run_both(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		do_toy();
		do_opencl();
	}
	return argument;
}

static void *run_opencl(void *argument)
{
	pthread_barrier_wait(argument);
	do_opencl();
	return argument;
}

static void *run_toy(void *argument)
{
	pthread_barrier_wait(argument);
	do_toy();
	return argument;
}

static void do_threads(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, run_both, NULL), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void do_together(void) // both are loaded at once
{
	pthread_t threads[2];
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 2);
	check(pthread_create(&threads[0], NULL, run_opencl, &barrier), "thread");
	check(pthread_create(&threads[1], NULL, run_toy, &barrier), "thread");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

// In the toy's driver, under its lock: whoever asks the toy for anything from here ends the
// process.
static void in_driver(void *argument)
{
	(void)argument;
	fill(2);
	usleep(15000); // what the recorder does every 10 ms is due
	finish();
}

static void do_nested(void)
{
	for (int i = 0; i < FEW; i++)
		launch(NULL); // so that there is something to harvest
	launch(in_driver);
	fill(1);
	launch(in_driver);
	finish();
	finish_toy();
}

static void tell(void)
{
	for (int i = 0; i < COUNTED; i++)
		printf("%d %s %llu\n", getpid(), names[i], (unsigned long long)counts[i]);
	printf("%d polls %llu\n", getpid(), (unsigned long long)toy_polls());
	fflush(stdout);
}

// The recorder's helper may have been at it when we finished, with the rest still to do.
static void settle(void)
{
	for (int i = 0; i < 5; i++) {
		if (queue)
			finish();
		if (toy)
			finish_toy();
		usleep(5000);
	}
}

static void fork_and(void (*body)(void))
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		memset((void *)counts, 0, sizeof counts);
		body();
		tell();
		exit(0);
	}
	check(child < 0 || waitpid(child, &status, 0) != child || status, "child");
}

static void both(void)
{
	do_toy();
	do_opencl();
}

static void do_fork_toy(void)
{
	fork_and(do_toy);
}
static void do_fork_opencl(void)
{
	fork_and(do_opencl);
}
static void do_fork_both(void)
{
	fork_and(both);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*does)(void);
	} words[] = {
		{ "opencl", do_opencl },       { "toy", do_toy },
		{ "phase", do_phase },         { "unwaited", do_unwaited },
		{ "drain", do_drain },         { "threads", do_threads },
		{ "together", do_together },   { "nested", do_nested },
		{ "fork-toy", do_fork_toy },   { "fork-opencl", do_fork_opencl },
		{ "fork-both", do_fork_both },
	};
	for (int i = 1; i < argc; i++) {
		size_t at = 0;
		while (at < sizeof words / sizeof *words && strcmp(words[at].word, argv[i]))
			at++;
		check(at == sizeof words / sizeof *words, argv[i]);
		words[at].does();
	}
	if (argc > 1 && strcmp(argv[argc - 1], "unwaited"))
		settle();
	tell();
	return 0;
}
