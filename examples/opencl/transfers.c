// SPDX-License-Identifier: Apache-2.0
// Moves bytes in every way that OpenCL 1.2 has, over a range of sizes: write and read from plain
// and from pinned memory, rectangles, copies and fills within the device, map and unmap.
//   tare record -- ./transfers
#include "example.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 4096

static bool same(const unsigned char *bytes, unsigned char value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

// Writes `value` from `host`, copies it within the device, reads it back.
static bool round_trip(cl_command_queue queue, cl_mem a, cl_mem b, unsigned char *host,
                       unsigned char value, size_t size)
{
	memset(host, value, size);
	check(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, size, host, 0, NULL, NULL),
	      "clEnqueueWriteBuffer");
	count(WRITES, size);
	check(clEnqueueCopyBuffer(queue, a, b, 0, 0, size, 0, NULL, NULL), "clEnqueueCopyBuffer");
	count(COPIES, size);
	check(clFinish(queue), "clFinish");
	memset(host, 0, size);
	check(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, size, host, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	count(READS, size);
	return same(host, value, size);
}

// Fills on the device, then looks at it through a map.
static bool fill_and_map(cl_command_queue queue, cl_mem memory, unsigned char value, size_t size)
{
	cl_int status;

	check(clEnqueueFillBuffer(queue, memory, &value, 1, 0, size, 0, NULL, NULL),
	      "clEnqueueFillBuffer");
	count(FILLS, size);
	unsigned char *mapped = clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 0, size, 0,
	                                           NULL, NULL, &status);
	check(status, "clEnqueueMapBuffer");
	count(MAPS, size);
	bool right = same(mapped, value, size);
	check(clEnqueueUnmapMemObject(queue, memory, mapped, 0, NULL, NULL),
	      "clEnqueueUnmapMemObject");
	count(UNMAPS, 0);
	return right;
}

// The left half of a square whose side is `side` bytes.
static bool rectangle(cl_command_queue queue, cl_mem memory, unsigned char *host, size_t side)
{
	size_t origin[3] = { 0 }, region[3] = { side / 2, side, 1 };

	memset(host, 7, side * side);
	check(clEnqueueWriteBufferRect(queue, memory, CL_TRUE, origin, origin, region, side, 0,
	                               side, 0, host, 0, NULL, NULL),
	      "clEnqueueWriteBufferRect");
	count(WRITES, side / 2 * side);
	memset(host, 0, side * side);
	check(clEnqueueReadBufferRect(queue, memory, CL_TRUE, origin, origin, region, side, 0, side,
	                              0, host, 0, NULL, NULL),
	      "clEnqueueReadBufferRect");
	count(READS, side / 2 * side);
	return same(host, 7, side / 2) && same(host + side / 2, 0, side / 2);
}

int main(int argument_count, char **arguments)
{
	size_t largest = (argument_count > 1 ? (size_t)atoi(arguments[1]) : 4096) << 10;
	bool right = true;
	cl_int status;

	if (largest < SMALLEST || largest > (size_t)1 << 30) {
		fprintf(stderr, "usage: transfers [KILOBYTES]   the largest size, 4 to 1048576\n");
		return 2;
	}
	unsigned char *plain = malloc(largest);
	if (!plain) {
		fprintf(stderr, "there is no memory for %zu bytes\n", largest);
		return 1;
	}
	struct device device = open_device();
	cl_command_queue queue = clCreateCommandQueue(device.context, device.id, 0, &status);
	check(status, "clCreateCommandQueue");
	cl_mem a = buffer_of(&device, CL_MEM_READ_WRITE, largest, NULL);
	cl_mem b = buffer_of(&device, CL_MEM_READ_WRITE, largest, NULL);
	cl_mem host = buffer_of(&device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, largest, NULL);
	unsigned char *pinned = clEnqueueMapBuffer(queue, host, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
	                                           0, largest, 0, NULL, NULL, &status);
	check(status, "clEnqueueMapBuffer");
	count(MAPS, largest);

	for (size_t size = SMALLEST; size <= largest; size *= 4) {
		right &= round_trip(queue, a, b, plain, 1, size);
		right &= round_trip(queue, a, b, pinned, 2, size);
		right &= fill_and_map(queue, b, 3, size);
	}
	right &= rectangle(queue, a, plain, 64);

	check(clEnqueueUnmapMemObject(queue, host, pinned, 0, NULL, NULL),
	      "clEnqueueUnmapMemObject");
	count(UNMAPS, 0);
	check(clFinish(queue), "clFinish");
	printf("%d KB to %zu KB: %s\n", SMALLEST >> 10, largest >> 10,
	       right ? "all bytes arrived" : "WRONG bytes arrived");
	print_counts();
	clReleaseMemObject(host);
	clReleaseMemObject(b);
	clReleaseMemObject(a);
	clReleaseCommandQueue(queue);
	close_device(&device);
	free(plain);
	return right ? 0 : 1;
}
