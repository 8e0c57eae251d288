// SPDX-License-Identifier: Apache-2.0
// Transfers of every kind, for what `tare record --contents` says of their bytes. Prints the first
// number of what was read, so that it can be seen to be the same with and without recording.
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 1 << 20 };

static char *map_pages(void)
{
	char *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		exit(1);
	return pages;
}

static void CL_CALLBACK let_go(cl_event event, cl_int status, void *pages)
{
	(void)event, (void)status;
	munmap(pages, SIZE);
}

// The buffer is gone as soon as it was read, before the program waits.
static void read_and_free(const struct program *program, cl_mem memory)
{
	char *pages = map_pages();
	cl_event event;
	check(
	    clEnqueueReadBuffer(program->queue, memory, CL_FALSE, 0, SIZE, pages, 0, NULL, &event),
	    "clEnqueueReadBuffer");
	check(clSetEventCallback(event, CL_COMPLETE, let_go, pages), "clSetEventCallback");
	check(clFinish(program->queue), "clFinish");
	// The callback may come on a thread of the driver's.
	check(clWaitForEvents(1, &event), "clWaitForEvents");
	clReleaseEvent(event);
}

static void through_a_map(const struct program *program, cl_mem memory)
{
	cl_int status;
	char *mapped = clEnqueueMapBuffer(program->queue, memory, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 0,
	                                  NULL, NULL, &status);
	check(status, "clEnqueueMapBuffer");
	memset(mapped, 7, SIZE);
	check(clEnqueueUnmapMemObject(program->queue, memory, mapped, 0, NULL, NULL),
	      "clEnqueueUnmapMemObject");
}

static void rectangle(const struct program *program, cl_mem memory, char *host)
{
	const size_t origin[3] = { 0, 0, 0 }, region[3] = { 64, 8, 1 };
	check(clEnqueueWriteBufferRect(program->queue, memory, CL_TRUE, origin, origin, region, 128,
	                               0, 128, 0, host, 0, NULL, NULL),
	      "clEnqueueWriteBufferRect");
}

int main(void)
{
	struct program program = open_program(0);
	cl_int status;
	cl_mem memory = clCreateBuffer(program.context, CL_MEM_READ_WRITE, SIZE, NULL, &status);
	check(status, "clCreateBuffer");
	char *host = map_pages(), *back = map_pages();
	cl_event event;
	memset(host, 7, SIZE);
	check(clEnqueueWriteBuffer(program.queue, memory, CL_FALSE, 0, SIZE, host, 0, NULL, NULL),
	      "clEnqueueWriteBuffer");
	check(clEnqueueReadBuffer(program.queue, memory, CL_FALSE, 0, SIZE, back, 0, NULL, &event),
	      "clEnqueueReadBuffer");
	check(clWaitForEvents(1, &event), "clWaitForEvents");
	clReleaseEvent(event);
	printf("%d\n", back[SIZE - 1]);
	check(clEnqueueReadBuffer(program.queue, memory, CL_TRUE, 0, SIZE / 2, back, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	through_a_map(&program, memory);
	rectangle(&program, memory, host);
	read_and_free(&program, memory);
	check(clFinish(program.queue), "clFinish");
	printf("%d\n", first_number(&program, program.queue));
	clReleaseMemObject(memory);
	close_program(&program);
	return 0;
}
