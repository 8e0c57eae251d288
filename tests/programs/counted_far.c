// SPDX-License-Identifier: Apache-2.0
// Launches add_one over 64 numbers in the ways on which it hangs whether counters in the memory of
// a device are read back: counted_far WAY. Prints the number of launches.
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4, TIMES = 8, OFTEN = 200 };

static struct program on;

static void end(int launches)
{
	printf("%d launches\n", launches);
	fflush(stdout);
}

static void once(cl_command_queue queue)
{
	launch(&on, queue, 0, NULL, NULL);
}

// One kernel by turns on all devices of a context.
static void on_devices(const cl_device_id *devices, cl_uint count)
{
	const size_t items = ITEMS;
	cl_command_queue queues[MOST];
	size_t bytes = 0;
	cl_int status;

	cl_context context = clCreateContext(NULL, count, devices, NULL, NULL, &status);
	check(status, "clCreateContext");
	clGetProgramInfo(on.program, CL_PROGRAM_SOURCE, 0, NULL, &bytes);
	char *text = malloc(bytes);
	clGetProgramInfo(on.program, CL_PROGRAM_SOURCE, bytes, text, NULL);
	cl_program program =
	    clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(program, count, devices, "", NULL, NULL), "clBuildProgram");
	cl_kernel kernel = clCreateKernel(program, "add_one", &status);
	check(status, "clCreateKernel");
	cl_mem memory[MOST];
	for (cl_uint i = 0; i < count; i++) {
		queues[i] = clCreateCommandQueue(context, devices[i], 0, &status);
		check(status, "clCreateCommandQueue");
		memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
		check(status, "clCreateBuffer");
	}
	for (cl_uint i = 0; i < TIMES * count; i++) {
		check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory[i % count]), "argument");
		check(clEnqueueNDRangeKernel(queues[i % count], kernel, 1, NULL, &items, NULL, 0,
		                             NULL, NULL),
		      "clEnqueueNDRangeKernel");
	}
	for (cl_uint i = 0; i < count; i++) {
		check(clFinish(queues[i]), "clFinish");
		clReleaseCommandQueue(queues[i]);
		clReleaseMemObject(memory[i]);
	}
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseContext(context);
	free(text);
	end(TIMES * (int)count);
}

static void devices(void)
{
	cl_device_id ids[MOST];
	cl_platform_id platform;
	cl_uint count;

	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, ids, &count), "clGetDeviceIDs");
	on_devices(ids, count < MOST ? count : MOST);
}

static void sub_devices(void)
{
	const cl_device_partition_property halves[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_device_id ids[MOST];
	cl_uint count = 0;

	check(clCreateSubDevices(on.device, halves, MOST, ids, &count), "clCreateSubDevices");
	on_devices(ids, 2);
}

// A queue on a part of the device that the program was created for.
static void part(void)
{
	const cl_device_partition_property halves[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_device_id ids[MOST];
	cl_uint count = 0;
	cl_int status;

	check(clCreateSubDevices(on.device, halves, MOST, ids, &count), "clCreateSubDevices");
	cl_command_queue queue = clCreateCommandQueue(on.context, ids[0], 0, &status);
	check(status, "clCreateCommandQueue");
	once(queue);
	check(clFinish(queue), "clFinish");
	end(1);
}

// Work that waits for an event of the host's.
static cl_event behind_event(cl_command_queue queue)
{
	cl_int status;
	cl_event event = clCreateUserEvent(on.context, &status);

	check(status, "clCreateUserEvent");
	launch(&on, queue, 1, &event, NULL);
	check(clFlush(queue), "clFlush");
	return event;
}

static void released(void)
{
	cl_command_queue queue = queue_of(&on, 0);
	cl_event event = behind_event(queue);

	clReleaseCommandQueue(queue);
	clSetUserEventStatus(event, CL_COMPLETE);
	end(1);
}

static void stuck(void)
{
	once(on.queue);
	check(clFinish(on.queue), "clFinish");
	behind_event(on.queue);
	end(2);
}

static void unfinished(void)
{
	for (int i = 0; i < TIMES; i++)
		once(on.queue);
	check(clFlush(on.queue), "clFlush");
	end(TIMES);
}

// Waits that are far enough apart for what one begins to be taken by the next.
static void wait_often(cl_command_queue queue)
{
	const struct timespec pause = { .tv_nsec = 120000000 };

	for (int i = 0; i < 5; i++) {
		check(clFinish(queue), "clFinish");
		nanosleep(&pause, NULL);
	}
}

static void killed(void)
{
	once(on.queue);
	wait_often(on.queue);
	end(1);
	raise(SIGKILL);
}

static void killed_with_two_queues(void)
{
	cl_command_queue second = queue_of(&on, 0);

	once(on.queue);
	check(clFinish(on.queue), "clFinish");
	once(second);
	wait_often(second);
	end(2);
	raise(SIGKILL);
}

// The second launch comes too soon to be read after the wait for it: the child could read it, too.
static void forked(void)
{
	int status;

	for (int i = 0; i < 2; i++) {
		once(on.queue);
		check(clFinish(on.queue), "clFinish");
	}
	pid_t child = fork();
	if (child == 0)
		exit(0);
	waitpid(child, &status, 0);
	once(on.queue);
	check(clFinish(on.queue), "clFinish");
	end(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 3 : -1);
}

static void *work(void *unused)
{
	cl_command_queue queue = queue_of(&on, 0);

	for (int i = 0; i < OFTEN; i++) {
		once(queue);
		check(clFinish(queue), "clFinish");
	}
	clReleaseCommandQueue(queue);
	return unused;
}

static void threads(void)
{
	pthread_t other;

	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	end(2 * OFTEN);
}

// Several threads launch in one queue at once, and each round has a new queue. Each has a kernel of
// its own.
enum { SHARING = 4, ROUNDS = 400 };
static pthread_barrier_t together;
static cl_command_queue shared;
static struct program sharing[SHARING];

static void *share(void *own)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&together);
		launch(own, shared, 0, NULL, NULL);
		pthread_barrier_wait(&together);
		pthread_barrier_wait(&together);
	}
	return NULL;
}

static void shared_queues(void)
{
	pthread_t threads[SHARING];
	cl_int status;

	pthread_barrier_init(&together, NULL, SHARING + 1);
	for (int i = 0; i < SHARING; i++) {
		sharing[i] = on;
		sharing[i].kernel = clCreateKernel(on.program, "add_one", &status);
		check(status, "clCreateKernel");
		check(clSetKernelArg(sharing[i].kernel, 0, sizeof(cl_mem), &on.memory), "argument");
		pthread_create(&threads[i], NULL, share, &sharing[i]);
	}
	for (int i = 0; i < ROUNDS; i++) {
		shared = queue_of(&on, 0);
		pthread_barrier_wait(&together);
		pthread_barrier_wait(&together);
		if (i % 2)
			clFinish(shared);
		clReleaseCommandQueue(shared);
		pthread_barrier_wait(&together);
	}
	for (int i = 0; i < SHARING; i++)
		pthread_join(threads[i], NULL);
	end(SHARING * ROUNDS);
}

int main(int count, char **words)
{
	const char *way = count > 1 ? words[1] : "";

	on = open_program(0);
	if (strcmp(way, "devices") == 0)
		devices();
	else if (strcmp(way, "sub-devices") == 0)
		sub_devices();
	else if (strcmp(way, "part") == 0)
		part();
	else if (strcmp(way, "released") == 0)
		released();
	else if (strcmp(way, "stuck") == 0)
		stuck();
	else if (strcmp(way, "unfinished") == 0)
		unfinished();
	else if (strcmp(way, "killed") == 0)
		killed();
	else if (strcmp(way, "killed-two") == 0)
		killed_with_two_queues();
	else if (strcmp(way, "forked") == 0)
		forked();
	else if (strcmp(way, "shared") == 0)
		shared_queues();
	else if (strcmp(way, "threads") == 0)
		threads();
	else
		return 2;
	return 0;
}
