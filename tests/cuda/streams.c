// SPDX-License-Identifier: Apache-2.0
// A CUDA program by the driver's functions, which it opens itself, in the styles that its arguments
// name. It computes, checks, prints what it has done, and ends with 0. NUMBER is how often (default
// 4).
//   streams [STYLE[=NUMBER]]...
// With WITH_OPENCL CUDA is initialised within a call of OpenCL's, which has a command, too.
#include "../programs/nvtx_client.h"

#include "streams.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void launch(cu_function function, cu_stream stream)
{
	DO(cuLaunchKernel, function, 2, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
}

static void kernels(int n)
{
	for (int i = 0; i < n; i++)
		launch(i % 2 ? other : empty, streams[i % STREAMS]);
	DO(cuCtxSynchronize);
}

static void cooperates(int n)
{
	cu_result (*launch_all)(cu_function, unsigned int, unsigned int, unsigned int, unsigned int,
	                        unsigned int, unsigned int, unsigned int, cu_stream, void **);
	*(void **)&launch_all =
	    dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchCooperativeKernel");
	for (int i = 0; i < n; i++)
		check(launch_all(other, 2, 1, 1, 64, 1, 1, 0, streams[0], NULL),
		      "cuLaunchCooperativeKernel");
	DO(cuStreamSynchronize, streams[0]);
}

// While another stream captures.
static void beside_capture(int n)
{
	cu_graph captured;
	DO(cuStreamBeginCapture_v2, streams[1], ABI_STREAM_CAPTURE_MODE_RELAXED);
	for (int i = 0; i < n; i++)
		launch(i % 2 ? other : empty, streams[0]);
	launch(empty, streams[1]);
	DO(cuStreamEndCapture, streams[1], &captured);
	DO(cuGraphDestroy, captured);
	DO(cuStreamSynchronize, streams[0]);
}

static void *of_one_kernel(void *kernel)
{
	DO(cuCtxSetCurrent, context);
	for (int i = 0; i < 200; i++)
		launch(kernel, streams[kernel == other]);
	return NULL;
}

// Each of two threads launches another kernel.
static void rivals(int n)
{
	pthread_t made[2];
	(void)n;
	pthread_create(&made[0], NULL, of_one_kernel, empty);
	pthread_create(&made[1], NULL, of_one_kernel, other);
	pthread_join(made[0], NULL);
	pthread_join(made[1], NULL);
	DO(cuCtxSynchronize);
}

static void urgent(int n)
{
	cu_result (*create)(cu_stream *stream, unsigned int flags, int priority);
	cu_stream stream;
	*(void **)&create = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamCreateWithPriority");
	check(create(&stream, 0, -3), "cuStreamCreateWithPriority");
	for (int i = 0; i < n; i++)
		launch(empty, stream);
	DO(cuStreamSynchronize, stream);
	DO(cuStreamDestroy_v2, stream);
}

static void shared(int n)
{
	for (int i = 0; i < n; i++)
		DO(cuLaunchKernel, empty, 2, 1, 1, 64, 1, 1, 40960, streams[0], NULL, NULL);
	DO(cuCtxSynchronize);
}

static void defaults(int n)
{
	for (int i = 0; i < n; i++)
		launch(empty, i % 2 ? ABI_STREAM_LEGACY : NULL);
	DO(cuStreamSynchronize, NULL);
	launch(empty, ABI_STREAM_PER_THREAD);
	DO(cuStreamSynchronize, ABI_STREAM_PER_THREAD);
}

// To the device and back by each way.
static void copies(int n)
{
	for (int i = 0; i < n; i++) {
		cu_stream stream = streams[i % STREAMS];
		DO(cuMemcpyHtoDAsync_v2, memory, pinned, BYTES, stream);
		DO(cuMemcpyDtoDAsync_v2, second, memory, BYTES / 2, stream);
		DO(cuMemcpyDtoHAsync_v2, pinned, second, BYTES / 4, stream);
		DO(cuMemsetD32Async, second, 7, BYTES / 16, stream);
		DO(cuStreamSynchronize, stream);
	}
	DO(cuMemcpyHtoD_v2, memory, pageable, BYTES);
	DO(cuMemcpyDtoH_v2, pageable, memory, BYTES / 2);
	DO(cuMemcpy, memory, (cu_pointer)(uintptr_t)pageable, BYTES / 8);
	DO(cuMemcpyAsync, (cu_pointer)(uintptr_t)pinned, memory, BYTES / 8, streams[0]);
	DO(cuMemcpyHtoDAsync_v2, memory, pinned, 0, streams[0]); // nothing
	DO(cuStreamSynchronize, streams[0]);
}

static void from_pageable(int n)
{
	for (int i = 0; i < n; i++) {
		DO(cuMemcpyHtoDAsync_v2, memory, pageable, BYTES, streams[0]);
		launch(empty, streams[0]);
	}
	DO(cuStreamSynchronize, streams[0]);
}

// Managed memory goes to the device for a kernel, back to the host, and there again.
static void managed(int n)
{
	cu_function takes;
	cu_pointer shared;
	void *parameters[] = { &shared };
	DO(cuModuleGetFunction, &takes, module, "takes");
	DO(cuMemAllocManaged, &shared, BYTES, ABI_MEM_ATTACH_GLOBAL);
	for (int i = 0; i < n; i++) {
		DO(cuLaunchKernel, takes, 2, 1, 1, 64, 1, 1, 0, streams[0], parameters, NULL);
		DO(cuMemPrefetchAsync, shared, BYTES / 2, ABI_DEVICE_CPU, streams[0]);
		DO(cuStreamSynchronize, streams[0]);
	}
	DO(cuMemFree_v2, shared);
}

// The kernels run when the ranges in which they were launched are over, or in others.
static void ranges(int n)
{
	nvtx_client_begin();
	for (int i = 0; i < n; i++) {
		NVTX_GET(0, push_a, "pushed");
		launch(empty, streams[0]);
		NVTX_GET(0, push_a, "inner");
		launch(other, streams[0]);
		DO(cuMemsetD32Async, second, 7, BYTES / 16, streams[0]);
		NVTX_GET(0, pop);
		NVTX_GET(0, pop);
		launch(other, streams[0]);
	}
	uint64_t id = NVTX_GET(0, start_a, "ranged");
	launch(empty, streams[0]);
	NVTX_CALL(end, id);
	DO(cuCtxSynchronize);
}

// What no recorded call has asked for; only the stand-in can.
static void foreign(int n)
{
	cu_result (*launch_other)(cu_stream, const char *, int64_t, void (*)(void *), void *) =
	    NULL;
	*(void **)&launch_other = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_launch");
	for (int i = 0; i < n && launch_other; i++)
		check(launch_other(streams[0], "foreign", 1000, NULL, NULL), "fake_cuda_launch");
	DO(cuStreamSynchronize, streams[0]);
}

static void graph(int n)
{
	cu_graph captured;
	cu_graph_exec exec;
	DO(cuStreamBeginCapture_v2, streams[0], ABI_STREAM_CAPTURE_MODE_RELAXED);
	launch(empty, streams[0]);
	DO(cuMemcpyHtoDAsync_v2, memory, pinned, BYTES, streams[0]);
	launch(other, streams[0]);
	DO(cuStreamEndCapture, streams[0], &captured);
	DO(cuGraphInstantiateWithFlags, &exec, captured, 0);
	for (int i = 0; i < n; i++)
		DO(cuGraphLaunch, exec, streams[0]);
	DO(cuStreamSynchronize, streams[0]);
	launch(empty, streams[0]);
	DO(cuStreamSynchronize, streams[0]);
	DO(cuGraphExecDestroy, exec);
	DO(cuGraphDestroy, captured);
}

// What the runtime does: calls of the driver within its own, of which only who traces is told.
static void (*tell_runtime)(const char *name, int site, int result);
#define RUNTIME(name, ...)                                                                         \
	do {                                                                                       \
		tell_runtime(name, ABI_CUPTI_SITE_ENTER, 0);                                       \
		__VA_ARGS__;                                                                       \
		tell_runtime(name, ABI_CUPTI_SITE_EXIT, 0);                                        \
	} while (0)

static void by_runtime(int n)
{
	cu_pointer made;
	cu_context again;
	cu_device device;
	*(void **)&tell_runtime = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_runtime");
	if (!tell_runtime)
		exit(2);
	DO(cuDeviceGet, &device, 0);
	// As the first call of a program: what it begins with is not what it is for.
	RUNTIME("cudaMalloc_v3020", DO(cuDevicePrimaryCtxRetain, &again, device);
	        DO(cuMemAlloc_v2, &made, BYTES));
	for (int i = 0; i < n; i++) {
		RUNTIME("cudaGetDevice_v3020", DO(cuDeviceGet, &device, 0));
		RUNTIME("cudaMemcpyAsync_ptsz_v7000", usleep(20000);
		        DO(cuMemcpyHtoDAsync_v2, made, pinned, BYTES, streams[0]));
		RUNTIME("__cudaLaunchKernel_v13000", launch(empty, streams[0]));
	}
	// Of two of a kind the first is what it is for.
	RUNTIME("cudaMemcpyAsync_v3020",
	        DO(cuMemcpyHtoDAsync_v2, made, pinned, BYTES / 2, streams[0]);
	        DO(cuMemcpyHtoDAsync_v2, made, pinned, BYTES / 2, streams[0]));
	RUNTIME("cudaStreamSynchronize_v3020", DO(cuStreamSynchronize, streams[0]));
	RUNTIME("cudaMemset_v3020", (void)0); // of nothing
	launch(other, streams[0]);
	DO(cuStreamSynchronize, streams[0]);
	RUNTIME("cudaFree_v3020", DO(cuMemFree_v2, made));
	DO(cuDevicePrimaryCtxRelease_v2, device);
}

static pthread_barrier_t start;

static void *of_thread(void *number)
{
	DO(cuCtxSetCurrent, context);
	pthread_barrier_wait(&start); // who is the first to use something is chance
	for (int i = 0; i < *(int *)number; i++) {
		launch(empty, streams[i % STREAMS]);
		DO(cuStreamSynchronize, streams[i % STREAMS]);
	}
	return NULL;
}

static void threads(int n)
{
	pthread_t made[4];
	pthread_barrier_init(&start, NULL, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&made[i], NULL, of_thread, &n);
	for (int i = 0; i < 4; i++)
		pthread_join(made[i], NULL);
}

static void events(int n)
{
	cu_event event;
	DO(cuEventCreate, &event, 0);
	for (int i = 0; i < n; i++) {
		launch(empty, streams[0]);
		DO(cuEventRecord, event, streams[0]);
		DO(cuStreamWaitEvent, streams[1], event, 0);
		launch(other, streams[1]);
		while (cuda.cuEventQuery(event) == ABI_NOT_READY)
			;
		DO(cuEventSynchronize, event);
	}
	DO(cuCtxSynchronize);
	DO(cuEventDestroy_v2, event);
}

static void wrong(int n)
{
	for (int i = 0; i < n; i++)
		if (!cuda.cuLaunchKernel(empty, 0, 1, 1, 64, 1, 1, 0, streams[0], NULL, NULL))
			exit(4);
}

static void waits(int n)
{
	for (int i = 0; i < 100 * n; i++) {
		usleep(1000);
		cuda.cuStreamQuery(streams[0]);
	}
}

// How often the thread of the parent that looks at us has slept; -1: there is none.
static long long sleeps_of_watch(void)
{
	char path[64 + 256], line[256];
	long long found = -1, sleeps;
	snprintf(path, sizeof path, "/proc/%d/task", (int)getppid());
	DIR *tasks = opendir(path);
	for (struct dirent *task; tasks && (task = readdir(tasks)) && found < 0;) {
		bool watches = false;
		snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)getppid(),
		         task->d_name);
		FILE *status = fopen(path, "r");
		while (status && fgets(line, sizeof line, status)) {
			watches = watches || strcmp(line, "Name:\ttare-watch\n") == 0;
			if (watches && sscanf(line, "voluntary_ctxt_switches: %lld", &sleeps) == 1)
				found = sleeps;
		}
		if (status)
			fclose(status);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

// Until it was looked at what is loaded; 77: nobody is seen to look.
static void watched(int n)
{
	long long before = sleeps_of_watch();
	(void)n;
	if (before < 0 && getenv("TARE_RECORD"))
		exit(77);
	for (long long now = before; now >= 0 && now < before + 3; now = sleeps_of_watch())
		usleep(10000);
}

// The same on the second device, which has a copy of the first one's memory.
static void on_second(int n)
{
	cu_context own;
	cu_device device;
	cu_module loaded;
	cu_function function;
	cu_pointer there;
	cu_stream stream;
	DO(cuDeviceGet, &device, 1);
	DO(cuDevicePrimaryCtxRetain, &own, device);
	DO(cuCtxSetCurrent, own);
	DO(cuModuleLoadDataEx, &loaded, ptx, 0, NULL, NULL);
	DO(cuModuleGetFunction, &function, loaded, "empty");
	DO(cuMemAlloc_v2, &there, BYTES);
	DO(cuStreamCreate, &stream, 0);
	for (int i = 0; i < n; i++)
		launch(function, stream);
	DO(cuMemcpyPeerAsync, there, own, memory, context, BYTES, stream);
	DO(cuStreamSynchronize, stream);
	DO(cuMemFree_v2, there);
	DO(cuCtxSetCurrent, context);
}

// Ends at once, with work that has been waited for.
static void killed(int n)
{
	kernels(n);
	puts("about to be killed");
	fflush(stdout);
	waits(4);
	kill(getpid(), SIGKILL);
}

// Ends at once with more under way than anybody has been told of.
static void quits(int n)
{
	kernels(n);
	waits(4);
	launch(empty, streams[0]);
	puts("about to quit");
	fflush(stdout);
	_exit(9);
}

// Ends with its module loaded.
static void leaves(int n)
{
	(void)n;
	printf("%d %d\n", pinned[0], pageable[BYTES - 1]);
	exit(0);
}

// Lets its module go while a kernel runs that never ends.
static void hangs(int n)
{
	(void)n;
	launch(empty, streams[0]);
	launch(empty, streams[0]);
	cuda.cuModuleUnload(module);
	_exit(0);
}

// The same while a stream captures.
static void captures_on(int n)
{
	cu_graph captured;
	kernels(n);
	DO(cuStreamBeginCapture_v2, streams[1], ABI_STREAM_CAPTURE_MODE_RELAXED);
	DO(cuModuleUnload, module);
	DO(cuStreamEndCapture, streams[1], &captured);
	_exit(0);
}

static void terminated(int n)
{
	kernels(n);
	waits(4);
	raise(SIGTERM);
}

// The child uses nothing of CUDA's, and ends by all handlers of exit.
static void forks(int n)
{
	int status = 0;
	pid_t child;
	kernels(n);
	fflush(stdout);
	child = fork();
	if (child == 0)
		exit(7);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		exit(5);
	kernels(n);
}

// Addresses that are reserved, and memory that is mapped into half of them: copies to both halves.
static void mapped(int n)
{
	cu_result (*reserve)(cu_pointer *, size_t, size_t, cu_pointer, uint64_t) = NULL;
	cu_result (*map)(cu_pointer, size_t, size_t, uint64_t, uint64_t) = NULL;
	cu_result (*unmap)(cu_pointer, size_t) = NULL;
	cu_pointer at;
	*(void **)&reserve = address_of("cuMemAddressReserve");
	*(void **)&map = address_of("cuMemMap");
	*(void **)&unmap = address_of("cuMemUnmap");
	check(reserve(&at, 2 * BYTES, 0, 0, 0), "cuMemAddressReserve");
	check(map(at, BYTES, 0, 0, 0), "cuMemMap");
	for (int i = 0; i < n; i++) {
		DO(cuMemcpyHtoD_v2, at + 4096, pageable, 4096);
		DO(cuMemcpyHtoD_v2, at + BYTES, pageable, 4096);
	}
	check(unmap(at, BYTES), "cuMemUnmap");
}

// What a program sees of the driver by the ways to look: nothing where there is none, and no error
// left behind.
static void looks(int n)
{
	void *whole = dlopen(NULL, RTLD_NOW), *found, *missing;
	bool silent, said;
	(void)n;
	dlerror();
	found = dlsym(driver, "cuMemAlloc_v2");
	silent = !dlerror();
	missing = dlsym(driver, "cuNothing_v2");
	said = dlerror();
	printf("%d %d %d %d", found != NULL, silent, !missing, said);
	printf(" %d %d", dlsym(driver, "cuMemAlloc_v2") == found,
	       !dlsym(driver, "cuStreamBeginCaptureToGraph_ptsz"));
	printf(" %d %d\n", dlsym(RTLD_NEXT, "puts") != NULL, !dlsym(whole, "main_is_not_exported"));
	dlerror();
	found = address_of("cuStreamBeginCapture_v2");
	printf("%d %d\n", found != NULL, !dlerror());
	dlclose(whole);
}

static void begin(void)
{
	cu_device device;
	open_driver();
	DO(cuInit, 0);
	DO(cuDeviceGet, &device, 0);
	DO(cuDevicePrimaryCtxRetain, &context, device);
	DO(cuCtxSetCurrent, context);
	DO(cuModuleLoadDataEx, &module, ptx, 0, NULL, NULL);
	DO(cuModuleGetFunction, &empty, module, "empty");
	DO(cuModuleGetFunction, &other, module, "other");
	DO(cuMemAlloc_v2, &memory, BYTES);
	DO(cuMemAlloc_v2, &second, BYTES);
	DO(cuMemHostAlloc, (void **)&pinned, BYTES, 0);
	pageable = malloc(BYTES);
	for (int i = 0; i < STREAMS; i++)
		DO(cuStreamCreate, &streams[i], i ? ABI_STREAM_NON_BLOCKING : 0);
	memset(pinned, 3, BYTES);
	memset(pageable, 5, BYTES);
}

static void end(void)
{
	for (int i = 0; i < STREAMS; i++)
		DO(cuStreamDestroy_v2, streams[i]);
	DO(cuMemFreeHost, pinned);
	DO(cuMemFree_v2, second);
	DO(cuMemFree_v2, memory);
	DO(cuModuleUnload, module);
	free(pageable);
}

#ifdef WITH_OPENCL
void within_opencl(void (*function)(void));
#endif
#ifdef WITH_CUPTI
void own_cupti(const char *style);
#else
static void (*plugged)(const char *style);
static void own_cupti(const char *style)
{
	if (plugged)
		plugged(style);
}
#endif

static void load_plugin(void)
{
#ifndef WITH_CUPTI
	void *library = dlopen(getenv("TARE_TEST_PLUGIN"), RTLD_NOW);
	if (!library)
		exit(2);
	*(void **)&plugged = dlsym(library, "own_cupti");
#endif
}

// Loads what calls CUPTI, and then a module.
static void plug(int n)
{
	cu_module loaded;
	(void)n;
	load_plugin();
	DO(cuModuleLoadDataEx, &loaded, ptx, 0, NULL, NULL);
	DO(cuModuleUnload, loaded);
}

// Before CUDA is initialised. "addresses": its functions are asked of cuGetProcAddress. "fork": the
// parent and a child go on, each by itself.
static void early(const char *style)
{
	int status = 0;
	pid_t child = strcmp(style, "fork") == 0 ? fork() : 0;
	if (child > 0) {
		waitpid(child, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			exit(5);
	}
	if (strcmp(style, "load") == 0)
		load_plugin();
	driver = dlopen("libcuda.so.1", RTLD_NOW); // as it is by those who link it
	if (strcmp(style, "addresses") == 0 && driver) {
		*(void **)&get_address = dlsym(driver, "cuGetProcAddress_v2");
		address_of("cuGetProcAddress");
	}
	own_cupti(style);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(int n);
	} styles[] = { { "kernels", kernels },       { "shared", shared },
		       { "urgent", urgent },         { "ranges", ranges },
		       { "managed", managed },       { "defaults", defaults },
		       { "copies", copies },         { "graph", graph },
		       { "threads", threads },       { "events", events },
		       { "wrong", wrong },           { "killed", killed },
		       { "forks", forks },           { "plug", plug },
		       { "quits", quits },           { "terminated", terminated },
		       { "waits", waits },           { "pageable", from_pageable },
		       { "foreign", foreign },       { "runtime", by_runtime },
		       { "second", on_second },      { "watched", watched },
		       { "looks", looks },           { "mapped", mapped },
		       { "cooperates", cooperates }, { "beside_capture", beside_capture },
		       { "rivals", rivals },         { "leaves", leaves },
		       { "hangs", hangs },           { "captures_on", captures_on } };
#ifdef WITH_OPENCL
	(void)early;
	within_opencl(begin);
	DO(cuCtxSetCurrent, context);
#else
	for (int i = 1; i < count && strncmp(arguments[i], "first:", 6) == 0; i++)
		early(arguments[i] + 6);
	begin();
#endif
	for (int i = 1; i < count; i++) {
		size_t length = strcspn(arguments[i], "=");
		int n = arguments[i][length] ? atoi(arguments[i] + length + 1) : 4;
		for (size_t s = 0; s < sizeof styles / sizeof *styles; s++)
			if (strlen(styles[s].name) == length &&
			    strncmp(styles[s].name, arguments[i], length) == 0)
				styles[s].run(n);
		own_cupti(arguments[i]);
	}
	printf("%d %d\n", pinned[0], pageable[BYTES - 1]);
	end();
	return 0;
}
