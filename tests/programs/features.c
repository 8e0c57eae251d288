// SPDX-License-Identifier: Apache-2.0
// What OpenCL can do, one part a name:  features PART
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// To the host, where the driver can: PoCL 6 locks itself out there on its device without threads.
static cl_mem_migration_flags migration(const struct program *p)
{
	char name[256] = "", version[64] = "";

	check(clGetDeviceInfo(p->device, CL_DEVICE_NAME, sizeof name, name, NULL),
	      "CL_DEVICE_NAME");
	check(clGetDeviceInfo(p->device, CL_DRIVER_VERSION, sizeof version, version, NULL),
	      "CL_DRIVER_VERSION");
	return strncmp(name, "cpu-minimal", 11) || strncmp(version, "6.", 2)
	           ? CL_MIGRATE_MEM_OBJECT_HOST
	           : 0;
}

static void transfers(struct program *p)
{
	size_t at[3] = { 0 }, region[3] = { 8, 4, 1 }, to[3] = { 8, 0, 0 };
	unsigned char host[BYTES];
	int pattern = 5, *mapped;
	cl_buffer_region half = { 128, 128 };
	cl_int status;
	cl_mem part = clCreateSubBuffer(p->memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
	                                &half, &status);

	check(status, "clCreateSubBuffer");
	memset(host, 3, sizeof host);
	check(clEnqueueWriteBuffer(p->queue, part, CL_FALSE, 4, 60, host, 0, NULL, NULL), "write");
	check(clEnqueueReadBuffer(p->queue, part, CL_FALSE, 0, 128, host, 0, NULL, NULL), "read");
	check(clEnqueueWriteBufferRect(p->queue, p->memory, CL_TRUE, at, at, region, 16, 0, 16, 0,
	                               host, 0, NULL, NULL),
	      "write rectangle");
	check(clEnqueueCopyBufferRect(p->queue, p->memory, p->memory, at, to, region, 16, 0, 16, 0,
	                              0, NULL, NULL),
	      "copy rectangle");
	check(clEnqueueReadBufferRect(p->queue, p->memory, CL_TRUE, to, at, region, 16, 0, 16, 0,
	                              host, 0, NULL, NULL),
	      "read rectangle");
	check(clEnqueueFillBuffer(p->queue, part, &pattern, sizeof pattern, 0, 128, 0, NULL, NULL),
	      "fill");
	check(clEnqueueCopyBuffer(p->queue, p->memory, p->memory, 128, 0, 64, 0, NULL, NULL),
	      "copy");
	check(clEnqueueMigrateMemObjects(p->queue, 1, &p->memory, migration(p), 0, NULL, NULL),
	      "migrate");
	mapped = clEnqueueMapBuffer(p->queue, p->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 96,
	                            0, NULL, NULL, &status);
	check(status, "map");
	printf("%d %d\n", mapped[0], host[2]);
	mapped[0] = 41;
	// From a mapped region into the same queue, not blocking.
	check(clEnqueueWriteBuffer(p->queue, part, CL_FALSE, 0, 32, mapped + 8, 0, NULL, NULL),
	      "write from a mapped region");
	check(clEnqueueUnmapMemObject(p->queue, p->memory, mapped, 0, NULL, NULL), "unmap");
	mapped = clEnqueueMapBuffer(p->queue, part, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 16,
	                            0, NULL, NULL, NULL);
	check(clFinish(p->queue), "clFinish");
	mapped[0] = 7;
	check(clEnqueueUnmapMemObject(p->queue, part, mapped, 0, NULL, NULL), "unmap");
	check(clEnqueueBarrierWithWaitList(p->queue, 0, NULL, NULL), "barrier");
	check(clEnqueueMarkerWithWaitList(p->queue, 0, NULL, NULL), "marker");
	check(clEnqueueTask(p->queue, p->kernel, 0, NULL, NULL), "clEnqueueTask");
	printf("%d\n", first_number(p, p->queue));
	clReleaseMemObject(part);
}

static void images(struct program *p)
{
	cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	cl_image_desc shape = { CL_MEM_OBJECT_IMAGE2D, 16, 8 };
	cl_float4 colour = { { 1, 0, 1, 0 } };
	size_t at[3] = { 0 }, all[3] = { 16, 8, 1 }, part[3] = { 4, 2, 1 }, row, pixels = 16 * 8;
	unsigned char host[16 * 8 * 4], *mapped;
	cl_int status;
	cl_mem a = clCreateImage(p->context, CL_MEM_READ_WRITE, &format, &shape, NULL, &status);

	check(status, "clCreateImage");
	cl_mem b = clCreateImage(p->context, CL_MEM_READ_WRITE, &format, &shape, NULL, &status);
	check(status, "clCreateImage");
	for (size_t i = 0; i < pixels * 4; i++)
		host[i] = (unsigned char)i;
	check(clEnqueueWriteImage(p->queue, a, CL_FALSE, at, all, 0, 0, host, 0, NULL, NULL),
	      "write");
	check(clEnqueueCopyImage(p->queue, a, b, at, at, part, 0, NULL, NULL), "copy");
	check(clEnqueueCopyImageToBuffer(p->queue, a, p->memory, at, part, 0, 0, NULL, NULL),
	      "out");
	check(clEnqueueCopyBufferToImage(p->queue, p->memory, b, 0, at, part, 0, NULL, NULL), "in");
	memset(host, 0, sizeof host);
	check(clEnqueueReadImage(p->queue, b, CL_TRUE, at, part, 64, 0, host, 0, NULL, NULL),
	      "read");
	mapped = clEnqueueMapImage(p->queue, a, CL_TRUE, CL_MAP_READ, at, part, &row, NULL, 0, NULL,
	                           NULL, &status);
	check(status, "map");
	printf("%d %d %zu\n", host[5], mapped[9], row);
	check(clEnqueueUnmapMemObject(p->queue, a, mapped, 0, NULL, NULL), "unmap");
	check(clEnqueueFillImage(p->queue, a, &colour, at, all, 0, NULL, NULL), "fill");
	check(clEnqueueReadImage(p->queue, a, CL_TRUE, at, all, 0, 0, host, 0, NULL, NULL), "read");
	printf("%d %d\n", host[0], host[1]);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
}

static void svm(struct program *p)
{
	cl_device_svm_capabilities able = 0;
	char *memory, text[] = "shared";

	clGetDeviceInfo(p->device, CL_DEVICE_SVM_CAPABILITIES, sizeof able, &able, NULL);
	memory = able ? clSVMAlloc(p->context, CL_MEM_READ_WRITE, 4096, 0) : NULL;
	if (!memory) {
		puts("no shared memory");
		return;
	}
	check(clEnqueueSVMMemFill(p->queue, memory, "ab", 2, 4096, 0, NULL, NULL), "fill");
	check(clEnqueueSVMMemcpy(p->queue, CL_TRUE, memory, text, sizeof text, 0, NULL, NULL),
	      "copy");
	check(clEnqueueSVMMap(p->queue, CL_TRUE, CL_MAP_READ, memory, 4096, 0, NULL, NULL), "map");
	printf("%s %c\n", memory, memory[100]);
	check(clEnqueueSVMUnmap(p->queue, memory, 0, NULL, NULL), "unmap");
	check(clFinish(p->queue), "clFinish");
	clSVMFree(p->context, memory);
}

// Two queues in turn, each command after that of the other queue, all held back by a user event.
static void dependencies(struct program *p)
{
	cl_command_queue other = queue_of(p, 0),
	                 free_order = queue_of(p, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_command_queue queues[] = { p->queue, other, free_order };
	cl_int status, code;
	cl_event gate = clCreateUserEvent(p->context, &status), last = gate;

	check(status, "clCreateUserEvent");
	for (int i = 0; i < 30; i++) {
		cl_event next;
		launch(p, queues[i % 3], 1, &last, &next);
		check(clFlush(queues[i % 3]), "clFlush");
		if (i)
			clReleaseEvent(last);
		last = next;
	}
	check(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code, NULL),
	      "info");
	printf("%s\n", code == CL_COMPLETE ? "early" : "held");
	check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
	check(clWaitForEvents(1, &last), "clWaitForEvents");
	printf("%d\n", first_number(p, other));
	clReleaseEvent(last);
	clReleaseEvent(gate);
	clReleaseCommandQueue(other);
	clReleaseCommandQueue(free_order);
}

// Events released at once, kept long, waited for twice; more of them than a driver's pool.
static void events(struct program *p)
{
	cl_event kept[64], one;
	cl_uint references;

	for (int i = 0; i < 500; i++) {
		launch(p, p->queue, 0, NULL, &one);
		check(clReleaseEvent(one), "clReleaseEvent");
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 64; i++)
			launch(p, p->queue, 0, NULL, &kept[i]);
		check(clWaitForEvents(64, kept), "clWaitForEvents");
		check(clWaitForEvents(64, kept), "clWaitForEvents");
		for (int i = 0; i < 64; i++)
			clReleaseEvent(kept[i]);
	}
	launch(p, p->queue, 0, NULL, &one);
	check(clRetainEvent(one), "clRetainEvent");
	check(clFinish(p->queue), "clFinish");
	check(clReleaseEvent(one), "clReleaseEvent");
	check(clGetEventInfo(one, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL),
	      "info");
	check(clReleaseEvent(one), "clReleaseEvent");
	printf("%d %s\n", first_number(p, p->queue), references ? "alive" : "gone");
}

static _Atomic int called, built;

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
	(void)event;
	atomic_fetch_add(&called, status == *(int *)data ? 1 : 1000);
}

static void CL_CALLBACK on_build(cl_program program, void *data)
{
	(void)program;
	atomic_store((_Atomic int *)data, 1);
}

static void CL_CALLBACK on_release(cl_mem memory, void *data)
{
	(void)memory;
	atomic_fetch_add((_Atomic int *)data, 1);
}

static void callbacks(struct program *p)
{
	static int complete = CL_COMPLETE;
	const char *text = "kernel void two(global int *a) { a[0] = 2; }";
	static _Atomic int released;
	cl_event event;
	cl_int status;

	for (int i = 0; i < 20; i++) {
		launch(p, p->queue, 0, NULL, &event);
		check(clSetEventCallback(event, CL_COMPLETE, on_event, &complete),
		      "clSetEventCallback");
		check(clReleaseEvent(event), "clReleaseEvent");
	}
	check(clFinish(p->queue), "clFinish");
	while (atomic_load(&called) % 1000 < 20)
		;
	cl_program program = clCreateProgramWithSource(p->context, 1, &text, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &p->device, "-D X", on_build, &built), "clBuildProgram");
	while (!atomic_load(&built))
		;
	clReleaseProgram(program);
	cl_mem memory = clCreateBuffer(p->context, 0, 64, NULL, &status);
	check(status, "clCreateBuffer");
	check(clSetMemObjectDestructorCallback(memory, on_release, &released), "destructor");
	clReleaseMemObject(memory);
	printf("%d %d %d\n", called, built, released);
}

// Every failure must come through as it is.
static void failures(struct program *p)
{
	const char *bad = "kernel void bad(global int *a) { a[0] = nothing; }";
	size_t items = ITEMS, odd = 63;
	char host[BYTES];
	cl_int status;
	cl_event event;

	printf("%d",
	       clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &items, &odd, 0, NULL, NULL));
	printf(" %d",
	       clEnqueueNDRangeKernel(p->queue, p->kernel, 9, NULL, &items, NULL, 0, NULL, &event));
	printf(" %d",
	       clEnqueueWriteBuffer(p->queue, p->memory, CL_TRUE, 8, BYTES, host, 0, NULL, NULL));
	printf(" %d",
	       clEnqueueReadBuffer(p->queue, p->memory, CL_TRUE, 0, BYTES, NULL, 0, NULL, NULL));
	printf(" %d", clEnqueueCopyBuffer(p->queue, p->memory, p->memory, 0, 8, 64, 0, NULL, NULL));
	printf(" %d", clEnqueueReadBuffer(p->queue, p->memory, CL_TRUE, 0, 8, host, 1, NULL, NULL));
	void *mapped = clEnqueueMapBuffer(p->queue, p->memory, CL_TRUE, CL_MAP_READ, BYTES, 8, 0,
	                                  NULL, NULL, &status);
	printf(" %d %d", status, mapped != NULL);
	mapped = clEnqueueMapBuffer(p->queue, p->memory, CL_TRUE, CL_MAP_READ, BYTES, 8, 0, NULL,
	                            NULL, NULL);
	printf(" %d", mapped != NULL);
	cl_mem memory = clCreateBuffer(p->context, 0, 0, NULL, &status);
	printf(" %d %d", status, memory != NULL);
	cl_program program = clCreateProgramWithSource(p->context, 1, &bad, NULL, &status);
	check(status, "clCreateProgramWithSource");
	fflush(stdout);
	printf(" %d", clBuildProgram(program, 1, &p->device, "", NULL, NULL));
	cl_kernel kernel = clCreateKernel(program, "bad", &status);
	printf(" %d %d", status, kernel != NULL);
	kernel = clCreateKernel(p->program, "missing", NULL);
	printf(" %d", kernel != NULL);
	printf(" %d", clSetKernelArg(p->kernel, 7, 4, host));
	printf(" %d", clGetDeviceInfo(p->device, 0x7fff, 4, host, NULL));
	printf(" %d", clFinish(NULL));
	printf(" %d", clWaitForEvents(0, NULL));
	printf(" %d\n", first_number(p, p->queue));
	clReleaseProgram(program);
}

// All that a program can see of what a recorder may have changed.
static void observed(struct program *p)
{
	cl_command_queue_properties properties = 99;
	cl_ulong stamp = 77;
	cl_uint references = 0;
	size_t size = 0;
	cl_event event;
	cl_queue_properties asked[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
		                        0 };
	cl_queue_properties seen[8] = { 0 };
	cl_int status;
	cl_command_queue other =
	    clCreateCommandQueueWithProperties(p->context, p->device, asked, &status);

	check(status, "clCreateCommandQueueWithProperties");
	cl_command_queue queues[] = { p->queue, other, queue_of(p, CL_QUEUE_PROFILING_ENABLE) };
	for (int i = 0; i < 3; i++) {
		check(clGetCommandQueueInfo(queues[i], CL_QUEUE_PROPERTIES, sizeof properties,
		                            &properties, &size),
		      "info");
		printf("properties %d %zu", (int)properties, size);
		size = 0;
		status = clGetCommandQueueInfo(queues[i], CL_QUEUE_PROPERTIES_ARRAY, sizeof seen,
		                               seen, &size);
		printf(", array %d %zu %d %d %d", status, size, (int)seen[0], (int)seen[1],
		       (int)seen[2]);
		check(clGetCommandQueueInfo(queues[i], CL_QUEUE_REFERENCE_COUNT, sizeof references,
		                            &references, NULL),
		      "info");
		printf(", references %u\n", references);
		launch(p, queues[i], 0, NULL, &event);
		check(clFinish(queues[i]), "clFinish");
		status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof stamp,
		                                 &stamp, NULL);
		printf("profiling %d %s\n", status, stamp == 77 ? "untouched" : "read");
		stamp = 77;
		status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 4, &stamp, NULL);
		printf("profiling, too small %d\n", status);
		size = 5;
		status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, 0, NULL, &size);
		printf("profiling, its size %d %zu\n", status, size);
		check(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references,
		                     &references, NULL),
		      "info");
		printf("event's references %u\n", references);
		clReleaseEvent(event);
	}
	check(clGetContextInfo(p->context, CL_CONTEXT_REFERENCE_COUNT, sizeof references,
	                       &references, NULL),
	      "info");
	printf("context's references %u\n", references);
	check(clGetMemObjectInfo(p->memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
	                         NULL),
	      "info");
	printf("memory's references %u\n", references);
	check(clGetKernelInfo(p->kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references,
	                      NULL),
	      "info");
	printf("kernel's references %u\n", references);
	clReleaseCommandQueue(queues[1]);
	clReleaseCommandQueue(queues[2]);
}

// Each thread has its own kernel (arguments are no matter for two threads) and two queues.
static void *work(void *data)
{
	struct program mine = *(struct program *)data;
	cl_int status;
	cl_command_queue queues[2];

	mine.kernel = clCreateKernel(mine.program, "add_one", &status);
	check(status, "clCreateKernel");
	mine.memory = clCreateBuffer(mine.context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	check(status, "clCreateBuffer");
	check(clSetKernelArg(mine.kernel, 0, sizeof(cl_mem), &mine.memory), "clSetKernelArg");
	for (int i = 0; i < 2; i++)
		queues[i] = queue_of(&mine, 0);
	for (int i = 0; i < 200; i++) {
		launch(&mine, queues[i % 2], 0, NULL, NULL);
		if (i % 20 == 19)
			first_number(&mine, queues[i % 2]);
	}
	for (int i = 0; i < 2; i++) {
		check(clFinish(queues[i]), "clFinish");
		clReleaseCommandQueue(queues[i]);
	}
	clReleaseMemObject(mine.memory);
	clReleaseKernel(mine.kernel);
	return NULL;
}

static void threads(struct program *p)
{
	pthread_t all[6];

	for (int i = 0; i < 6; i++)
		if (pthread_create(&all[i], NULL, work, p) != 0)
			exit(1);
	for (int i = 0; i < 6; i++)
		pthread_join(all[i], NULL);
	puts("6 threads");
}

static void *one_launch(void *data)
{
	check(clFinish(((struct program *)data)->queue), "clFinish");
	launch(data, ((struct program *)data)->queue, 0, NULL, NULL);
	return NULL;
}

static void short_threads(struct program *p)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, one_launch, p) != 0)
			exit(1);
		pthread_join(thread, NULL);
	}
	printf("%d\n", first_number(p, p->queue));
}

// Asks in a tight loop whether a command that a user event holds back has ended.
static void poll(struct program *p)
{
	cl_int status, code = CL_QUEUED;
	cl_event gate = clCreateUserEvent(p->context, &status), event;

	check(status, "clCreateUserEvent");
	launch(p, p->queue, 1, &gate, &event);
	check(clFlush(p->queue), "clFlush");
	for (int i = 0; i < 400000 || code != CL_COMPLETE; i++) {
		check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code,
		                     NULL),
		      "info");
		if (i == 300000)
			check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
	}
	clReleaseEvent(event);
	clReleaseEvent(gate);
	printf("%d\n", first_number(p, p->queue));
}

static const struct {
	const char *name;
	void (*run)(struct program *program);
} parts[] = {
	{ "transfers", transfers },         { "images", images },     { "svm", svm },
	{ "dependencies", dependencies },   { "events", events },     { "callbacks", callbacks },
	{ "failures", failures },           { "observed", observed }, { "threads", threads },
	{ "short-threads", short_threads }, { "poll", poll },
};

int main(int count, char **arguments)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (count < 2 || strcmp(parts[i].name, arguments[1]) != 0)
			continue;
		struct program program = open_program(0);
		parts[i].run(&program);
		close_program(&program);
		return 0;
	}
	fputs("usage: features PART\n", stderr);
	return 2;
}
