// SPDX-License-Identifier: Apache-2.0
// Launches as fast as it can: a write and a read of 4 KB for every ten tiny kernels, clFinish
// after every hundred commands.
//   stress COMMANDS [profile] [events] [soon] [questions] [readings] [times] [thread] [killed]
// profile: the program itself asks for profiling; events: and for an event of each command, which
// it releases after clFinish; soon: as soon as there are twelve (where the device executes a
// command in the call that enqueues it); questions: which it asks for its four times before;
// readings: it reads the processor's counter before and after each command; times: it asks for the
// times of each event after clFinish; thread: it has a second thread, which does nothing; killed:
// it waits for nothing in the loop and kills itself after it.
// Prints "COMMANDS LOOP_NS CPU_NS THREADS WRITES_NS KERNELS_NS READS_NS": of the loop by the host's
// clock, of the process since it began, as many as the process has then, and what the device took
// for the loop's commands of each kind (0 without "times"; with DURATIONS in the environment, those
// of all are written to that file in their order, 64 bits each).
// With PROGRESS in the environment, the calls that have returned are counted in that file (a 64-bit
// number, mapped), for a program that will be killed; COMMANDS 0 then means: until it is.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t here, *progress = &here;

static void check(cl_int status)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "OpenCL error %d\n", status);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void open_progress(void)
{
	const char *path = getenv("PROGRESS");
	if (!path)
		return;
	int file = open(path, O_RDWR | O_CREAT, 0644);
	if (file < 0 || ftruncate(file, sizeof here) < 0)
		exit(1);
	void *mapped = mmap(NULL, sizeof here, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED)
		exit(1);
	progress = mapped;
}

static bool has_word(char **words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static void *do_nothing(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static unsigned count_threads(void)
{
	struct stat tasks;
	return stat("/proc/self/task", &tasks) == 0 ? (unsigned)tasks.st_nlink - 2 : 0;
}

enum { AT_ONCE = 100, SOON = 12, BYTES = 4096 };
enum kind { WRITE, KERNEL, READ, KINDS };
static cl_event held[AT_ONCE];
static enum kind held_kind[AT_ONCE];
static uint64_t held_count, device_ns[KINDS];
static FILE *durations;

// Where the next command's event goes: nowhere, unless events are wanted.
static cl_event *place_for_event(bool wanted, enum kind kind)
{
	held_kind[held_count] = kind;
	return wanted ? &held[held_count++] : NULL;
}

static void take_times(void)
{
	for (uint64_t i = 0; i < held_count; i++) {
		cl_ulong start, end, ns;
		check(clGetEventProfilingInfo(held[i], CL_PROFILING_COMMAND_START, sizeof start,
		                              &start, NULL));
		check(clGetEventProfilingInfo(held[i], CL_PROFILING_COMMAND_END, sizeof end, &end,
		                              NULL));
		ns = end - start;
		device_ns[held_kind[i]] += ns;
		if (durations && fwrite(&ns, sizeof ns, 1, durations) != 1)
			exit(1);
	}
}

static void let_go(bool questions)
{
	static const cl_profiling_info all[] = { CL_PROFILING_COMMAND_QUEUED,
		                                 CL_PROFILING_COMMAND_SUBMIT,
		                                 CL_PROFILING_COMMAND_START,
		                                 CL_PROFILING_COMMAND_END };
	while (held_count) {
		cl_event event = held[--held_count];
		cl_ulong stamp;
		for (int i = 0; questions && i < 4; i++)
			check(clGetEventProfilingInfo(event, all[i], sizeof stamp, &stamp, NULL));
		check(clReleaseEvent(event));
	}
}

static void finish(cl_command_queue queue, bool times, bool questions)
{
	check(clFinish(queue));
	if (times)
		take_times();
	let_go(questions);
}

// As a recorder reads it; nobody uses the value.
static volatile uint64_t counter;
static inline void read_counter(bool wanted)
{
	if (!wanted)
		return;
#if defined(__x86_64__)
	counter = __builtin_ia32_rdtsc();
#else
	counter = now_ns(CLOCK_MONOTONIC_RAW);
#endif
}

// What a command is put into.
struct target {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem memory;
};

static void enqueue(const struct target *to, uint64_t number, bool events)
{
	static const size_t one = 1;
	static char host[BYTES];
	switch (number % 12) {
	case 0:
		check(clEnqueueWriteBuffer(to->queue, to->memory, CL_FALSE, 0, sizeof host, host, 0,
		                           NULL, place_for_event(events, WRITE)));
		break;
	case 11:
		check(clEnqueueReadBuffer(to->queue, to->memory, CL_FALSE, 0, sizeof host, host, 0,
		                          NULL, place_for_event(events, READ)));
		break;
	default:
		check(clEnqueueNDRangeKernel(to->queue, to->kernel, 1, NULL, &one, &one, 0, NULL,
		                             place_for_event(events, KERNEL)));
	}
}

int main(int argument_count, char **arguments)
{
	static const char *source = "kernel void tiny(global int *a) { a[0] += 1; }";
	uint64_t commands = argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 120000;
	bool killed = has_word(arguments, "killed"), times = has_word(arguments, "times");
	bool events = times || has_word(arguments, "events"), soon = has_word(arguments, "soon");
	bool questions = has_word(arguments, "questions"),
	     readings = has_word(arguments, "readings");
	const char *path = getenv("DURATIONS");
	cl_command_queue_properties properties =
	    events || has_word(arguments, "profile") ? CL_QUEUE_PROFILING_ENABLE : 0;
	pthread_t idle;
	size_t one = 1;
	cl_platform_id platform;
	cl_device_id device;
	cl_int status;

	open_progress();
	durations = path ? fopen(path, "wb") : NULL;
	if (has_word(arguments, "thread") && pthread_create(&idle, NULL, do_nothing, NULL) != 0)
		return 1;
	check(clGetPlatformIDs(1, &platform, NULL));
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status);
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &status);
	check(status);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
	check(status);
	check(clBuildProgram(program, 1, &device, "", NULL, NULL));
	cl_kernel kernel = clCreateKernel(program, "tiny", &status);
	check(status);
	cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	check(status);
	check(clSetKernelArg(kernel, 0, sizeof memory, &memory));
	check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
	check(clFinish(queue));
	atomic_store(progress, 1);

	const struct target target = { queue, kernel, memory };
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; commands == 0 || i < commands; i++) {
		read_counter(readings);
		enqueue(&target, i, events);
		read_counter(readings);
		atomic_fetch_add_explicit(progress, 1, memory_order_relaxed);
		if (soon && held_count >= SOON)
			let_go(questions);
		if (!killed && i % AT_ONCE == AT_ONCE - 1)
			finish(queue, times, questions);
	}
	if (killed)
		raise(SIGKILL);
	finish(queue, times, questions);
	uint64_t end = now_ns(CLOCK_MONOTONIC);

	printf("%llu %llu %llu %u %llu %llu %llu\n", (unsigned long long)commands,
	       (unsigned long long)(end - begin),
	       (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID), count_threads(),
	       (unsigned long long)device_ns[WRITE], (unsigned long long)device_ns[KERNEL],
	       (unsigned long long)device_ns[READ]);
	if (durations)
		fclose(durations);
	clReleaseMemObject(memory);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
