// SPDX-License-Identifier: Apache-2.0
// For findings about transfers a program that must raise it, and a like one that must not:
// pairs_transfers NAME raise|silent|fixed (see pairs_work.c). Those about overlap have the forms of
// the pipeline example.
#include "program.h"
#include "stopwatch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEGABYTE ((size_t)1 << 20)
#define TIMES 40

struct pair {
	struct program program;
	cl_mem memory;
	char *host; // on 64 bytes, two megabytes
	bool raise, fixed;
};

static void write_to(const struct pair *pair, const char *from, size_t at, size_t bytes)
{
	check(clEnqueueWriteBuffer(pair->program.queue, pair->memory, CL_TRUE, at, bytes, from, 0,
	                           NULL, NULL),
	      "clEnqueueWriteBuffer");
}

static void read_to(const struct pair *pair, char *to, size_t bytes)
{
	check(clEnqueueReadBuffer(pair->program.queue, pair->memory, CL_TRUE, 0, bytes, to, 0, NULL,
	                          NULL),
	      "clEnqueueReadBuffer");
}

// A kernel over so many items.
static void work(const struct pair *pair, size_t items)
{
	check(clEnqueueNDRangeKernel(pair->program.queue, pair->program.kernel, 1, NULL, &items,
	                             NULL, 0, NULL, NULL),
	      "clEnqueueNDRangeKernel");
	check(clFinish(pair->program.queue), "clFinish");
}

static void transfers_dominate(const struct pair *pair)
{
	// So many that being stopped now and then, for milliseconds, strikes copies as much as the
	// rest.
	for (int i = 0; i < 10 * TIMES; i++) {
		if (pair->raise || i == 0)
			write_to(pair, pair->host + (i & 1) * 64, 0, MEGABYTE);
		work(pair, pair->raise || pair->fixed ? ITEMS : MEGABYTE / sizeof(int));
	}
}

static void small_transfers(const struct pair *pair)
{
	// Often enough that it shows beside the work where the host is quick.
	enum { ROUNDS = 4, PIECES = 2000, PIECE = 256, JOINED = 65536 };

	for (int round = 0; round < ROUNDS && pair->fixed; round++)
		for (size_t at = 0; at < PIECES * PIECE; at += JOINED)
			write_to(pair, pair->host + at, at, JOINED);
	for (size_t i = 0; i < ROUNDS * PIECES && pair->raise && !pair->fixed; i++)
		write_to(pair, pair->host + i % PIECES * PIECE, i % PIECES * PIECE, PIECE);
	for (size_t i = 0; i < PIECES && !pair->raise && !pair->fixed; i++)
		if (i % 100 == 0)
			write_to(pair, pair->host + i * 256, 0, MEGABYTE);
	work(pair, ITEMS);
}

static void unaligned_transfers(const struct pair *pair)
{
	for (int i = 0; i < TIMES; i++)
		write_to(pair, pair->host + i * 64 + (pair->raise ? 1 : 0), 0, MEGABYTE);
	work(pair, ITEMS);
}

// All that is written is new each time where nothing is to be found: also of so little that it
// stays in the nearest cache, where no time tells it from what is not changed; and one byte in a
// megabyte.
static void write_again(const struct pair *pair, bool read_first, size_t bytes, size_t changed)
{
	for (int i = 0; i < TIMES; i++) {
		launch(&pair->program, pair->program.queue, 0, NULL, NULL);
		check(clFinish(pair->program.queue), "clFinish");
		if (pair->fixed && i > 0)
			continue;
		if (read_first)
			read_to(pair, pair->host, bytes);
		if (changed > 0)
			memset(pair->host + bytes - changed, i + 2, changed);
		write_to(pair, pair->host, 0, bytes);
	}
}

static void write_both(const struct pair *pair, bool read_first)
{
	bool same = pair->raise || pair->fixed;
	write_again(pair, read_first, MEGABYTE, same ? 0 : MEGABYTE);
	if (same)
		return;
	write_again(pair, read_first, MEGABYTE / 32, MEGABYTE / 32);
	write_again(pair, read_first, MEGABYTE, 1);
}

static void duplicate_transfers(const struct pair *pair)
{
	write_both(pair, false);
}

static void ping_pong(const struct pair *pair)
{
	write_both(pair, true);
}

// The host fills, a kernel computes a little, the host looks at all of it: through copies, or where
// it lies.
static void zero_copy(const struct pair *pair)
{
	size_t items = MEGABYTE / sizeof(int);
	int sum = 0;
	for (int i = 0; i < 10 * TIMES; i++) {
		char *at = pair->host;
		cl_int status;
		if (!pair->raise) {
			at = clEnqueueMapBuffer(pair->program.queue, pair->memory, CL_TRUE,
			                        CL_MAP_WRITE_INVALIDATE_REGION, 0, MEGABYTE, 0,
			                        NULL, NULL, &status);
			check(status, "clEnqueueMapBuffer");
		}
		memset(at, i, MEGABYTE);
		if (pair->raise)
			write_to(pair, at, 0, MEGABYTE);
		else
			check(clEnqueueUnmapMemObject(pair->program.queue, pair->memory, at, 0,
			                              NULL, NULL),
			      "clEnqueueUnmapMemObject");
		work(pair, ITEMS);
		if (pair->raise) {
			read_to(pair, at, MEGABYTE);
		} else {
			at = clEnqueueMapBuffer(pair->program.queue, pair->memory, CL_TRUE,
			                        CL_MAP_READ, 0, MEGABYTE, 0, NULL, NULL, &status);
			check(status, "clEnqueueMapBuffer");
		}
		for (size_t k = 0; k < items; k += 16)
			sum ^= ((const int *)(const void *)at)[k];
		if (!pair->raise)
			check(clEnqueueUnmapMemObject(pair->program.queue, pair->memory, at, 0,
			                              NULL, NULL),
			      "clEnqueueUnmapMemObject");
	}
	check(clFinish(pair->program.queue), "clFinish");
	printf("%d\n", sum);
}

static const struct {
	const char *name;
	void (*run)(const struct pair *pair);
} pairs[] = {
	{ "transfers-dominate", transfers_dominate },
	{ "small-transfers", small_transfers },
	{ "unaligned-transfers", unaligned_transfers },
	{ "duplicate-transfers", duplicate_transfers },
	{ "ping-pong", ping_pong },
	{ "zero-copy", zero_copy },
};

int main(int argument_count, char **arguments)
{
	struct pair pair = { .raise = false };
	void (*run)(const struct pair *) = NULL;
	cl_int status;

	for (size_t i = 0; argument_count == 3 && i < sizeof pairs / sizeof *pairs; i++)
		if (strcmp(pairs[i].name, arguments[1]) == 0)
			run = pairs[i].run;
	pair.raise = run && strcmp(arguments[2], "raise") == 0;
	pair.fixed = run && strcmp(arguments[2], "fixed") == 0;
	if (!run || (!pair.raise && !pair.fixed && strcmp(arguments[2], "silent") != 0)) {
		fprintf(stderr, "usage: pairs_transfers NAME raise|silent|fixed\n  NAME:");
		for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
			fprintf(stderr, " %s", pairs[i].name);
		fputs("\n", stderr);
		return 2;
	}
	pair.program = open_program(0);
	// What no kernel gets is known to hold what was copied to it.
	bool kept = run == duplicate_transfers || run == ping_pong;
	pair.memory = clCreateBuffer(pair.program.context,
	                             run == zero_copy ? CL_MEM_ALLOC_HOST_PTR : CL_MEM_READ_WRITE,
	                             MEGABYTE, NULL, &status);
	check(status, "clCreateBuffer");
	if (!kept)
		check(clSetKernelArg(pair.program.kernel, 0, sizeof pair.memory, &pair.memory),
		      "clSetKernelArg");
	pair.host = aligned_alloc(64, 2 * MEGABYTE);
	if (!pair.host)
		return 1;
	memset(pair.host, 1, 2 * MEGABYTE);
	stopwatch_start();
	run(&pair);
	stopwatch_print();
	clReleaseMemObject(pair.memory);
	free(pair.host);
	close_program(&pair.program);
	return 0;
}
