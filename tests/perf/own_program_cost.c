// SPDX-License-Identifier: Apache-2.0
// What a span takes its thread: tare_time_begin, _end and _release, beside the API's own calls
// alone that they make.
//   own_program_cost opencl|levelzero|cuda LIBRARY [ROUNDS]
// LIBRARY: of CUDA's driver or its stand-in; "" else. Printed are the best and the median of the
// rounds, in nanoseconds of the thread's CPU time a span. The timer's first seven spans, which
// measure the floor, come before.
#include "backend/cuda/abi.h"
#include "tare/time.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <level_zero/ze_api.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPANS = 500, MOST_ROUNDS = 1000 };

static struct tare_timer *timer;
static struct tare_time_error error;
static struct tare_time_span spans[SPANS];

static void need(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s: %s\n", what, error.message);
	exit(1);
}

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void time_spans(void)
{
	for (int i = 0; i < SPANS; i++) {
		need(tare_time_begin(timer, "span", &spans[i], &error) == 0, "tare_time_begin");
		need(tare_time_end(timer, spans[i], &error) == 0, "tare_time_end");
	}
}

static void release_spans(void)
{
	for (int i = 0; i < SPANS; i++)
		need(tare_time_release(timer, spans[i], &error) == 0, "tare_time_release");
}

static void read_spans(void)
{
	struct tare_time_result result;

	for (int i = 0; i < SPANS; i++)
		tare_time_read(timer, spans[i], INT64_C(10000000000), &result, &error);
}

// ---- the APIs: what one of tare's spans calls, called by itself; and the end of a round

static const struct tare_time_options options = { SPANS };

static cl_command_queue cl_queue;

static void open_opencl(void)
{
	cl_platform_id platform;
	cl_device_id device;

	need(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "clGetPlatformIDs");
	need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS,
	     "clGetDeviceIDs");
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	cl_queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
	need(tare_time_open_opencl(&timer, cl_queue, &options, &error) == 0,
	     "tare_time_open_opencl");
}

static void bare_opencl(void)
{
	static cl_event events[2 * SPANS];

	for (int i = 0; i < 2 * SPANS; i++)
		clEnqueueMarkerWithWaitList(cl_queue, 0, NULL, &events[i]);
	for (int i = 0; i < 2 * SPANS; i++)
		clReleaseEvent(events[i]);
}

static void finish_opencl(void)
{
	clFinish(cl_queue);
}

static ze_command_list_handle_t ze_list;
static uint64_t *ze_stamps;
static ze_event_handle_t ze_event;

static void open_levelzero(void)
{
	ze_context_desc_t context_type = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_command_list_desc_t list_type = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_host_mem_alloc_desc_t memory_type = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	ze_event_pool_desc_t pool_type = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1 };
	ze_event_desc_t event_type = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_event_pool_handle_t pool;
	ze_driver_handle_t driver = NULL;
	ze_device_handle_t device = NULL;
	ze_context_handle_t context = NULL;
	uint32_t one = 1;

	need(zeInit(0) == ZE_RESULT_SUCCESS && zeDriverGet(&one, &driver) == ZE_RESULT_SUCCESS,
	     "zeDriverGet");
	need(zeDeviceGet(driver, &one, &device) == ZE_RESULT_SUCCESS, "zeDeviceGet");
	need(zeContextCreate(driver, &context_type, &context) == ZE_RESULT_SUCCESS,
	     "zeContextCreate");
	need(zeCommandListCreate(context, device, &list_type, &ze_list) == ZE_RESULT_SUCCESS,
	     "zeCommandListCreate");
	need(zeMemAllocHost(context, &memory_type, 16, 64, (void **)&ze_stamps) ==
	         ZE_RESULT_SUCCESS,
	     "zeMemAllocHost");
	need(zeEventPoolCreate(context, &pool_type, 0, NULL, &pool) == ZE_RESULT_SUCCESS,
	     "zeEventPoolCreate");
	need(zeEventCreate(pool, &event_type, &ze_event) == ZE_RESULT_SUCCESS, "zeEventCreate");
	need(tare_time_open_levelzero(&timer, context, device, ze_list, TARE_TIME_REGULAR, &options,
	                              &error) == 0,
	     "tare_time_open_levelzero");
}

static void bare_levelzero(void)
{
	for (int i = 0; i < SPANS; i++) {
		zeCommandListAppendEventReset(ze_list, ze_event);
		zeCommandListAppendBarrier(ze_list, NULL, 0, NULL);
		zeCommandListAppendWriteGlobalTimestamp(ze_list, ze_stamps, NULL, 0, NULL);
		zeCommandListAppendBarrier(ze_list, NULL, 0, NULL);
		zeCommandListAppendBarrier(ze_list, NULL, 0, NULL);
		zeCommandListAppendWriteGlobalTimestamp(ze_list, ze_stamps + 1, ze_event, 0, NULL);
	}
}

// Nothing is executed: appending alone is what is timed.
static void finish_levelzero(void)
{
	zeCommandListReset(ze_list);
}

static struct cuda_functions cuda;
static cu_stream cuda_stream;
static cu_event cuda_events[2];

static void open_cuda(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	cu_context context = NULL;

	need(library != NULL, "dlopen");
#define X(name, parameters) *(void **)&cuda.name = dlsym(library, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	need(cuda.cuInit(0) == 0 && cuda.cuDevicePrimaryCtxRetain(&context, 0) == 0, "cuInit");
	need(cuda.cuCtxSetCurrent(context) == 0 && cuda.cuStreamCreate(&cuda_stream, 1) == 0,
	     "cuStreamCreate");
	cuda.cuEventCreate(&cuda_events[0], 0);
	cuda.cuEventCreate(&cuda_events[1], 0);
	need(tare_time_open_cuda(&timer, cuda_stream, &options, &error) == 0,
	     "tare_time_open_cuda");
}

static void bare_cuda(void)
{
	for (int i = 0; i < SPANS; i++) {
		cuda.cuEventRecord(cuda_events[0], cuda_stream);
		cuda.cuEventRecord(cuda_events[1], cuda_stream);
	}
}

static void finish_cuda(void)
{
	cuda.cuStreamSynchronize(cuda_stream);
}

// ---- measuring

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, double *ns, int rounds)
{
	qsort(ns, (size_t)rounds, sizeof *ns, by_size);
	printf("%-28s best %7.1f ns  median %7.1f ns a span\n", what, ns[0], ns[rounds / 2]);
}

static void measure(void (*bare)(void), void (*finish)(void), int rounds)
{
	static double pair[MOST_ROUNDS], release[MOST_ROUNDS], alone[MOST_ROUNDS];

	for (int i = 0; i < rounds; i++) {
		double before = cpu_ns();
		time_spans();
		pair[i] = (cpu_ns() - before) / SPANS;
		finish();
		before = cpu_ns();
		release_spans();
		release[i] = (cpu_ns() - before) / SPANS;
		before = cpu_ns();
		bare();
		alone[i] = (cpu_ns() - before) / SPANS;
		finish();
	}
	print("tare_time_begin and _end", pair, rounds);
	print("tare_time_release", release, rounds);
	print("the API's calls alone", alone, rounds);
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	int rounds = count > 3 ? atoi(arguments[3]) : 50;
	void (*bare)(void) = bare_opencl, (*finish)(void) = finish_opencl;

	if (strcmp(what, "levelzero") == 0) {
		open_levelzero();
		bare = bare_levelzero;
		finish = finish_levelzero;
	} else if (strcmp(what, "cuda") == 0) {
		open_cuda(count > 2 ? arguments[2] : "libcuda.so.1");
		bare = bare_cuda;
		finish = finish_cuda;
	} else {
		open_opencl();
	}
	if (rounds < 1 || rounds > MOST_ROUNDS)
		rounds = 50;
	// The floor, once and for all; on a list that is not executed it stays with the first
	// spans.
	time_spans();
	finish();
	if (finish != finish_levelzero)
		read_spans();
	release_spans();
	measure(bare, finish, rounds);
	return 0;
}
