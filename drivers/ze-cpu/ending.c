// SPDX-License-Identifier: Apache-2.0
#include "ending.h"
#include "runner.h"
#include "ze_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// A compiler that is not through by then hangs.
#define LIMIT_NS INT64_C(60000000000)
#define LOOK_US 1000
// So often is the handler put behind what the compiler has made.
#define MOST_WATCHES 4

static atomic_bool begun;
static atomic_uint compiling, watches;
static __thread unsigned own;

// Signal handlers may call exit(): no locks.
static void wait_for_compilers(void)
{
	struct timespec now;

	// A child of fork() has none of the threads.
	if (cpu_forked)
		return;
	atomic_store(&begun, true);
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t end = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + LIMIT_NS;
	while ((atomic_load(&compiling) > own || runner_compiles()) &&
	       now.tv_sec * INT64_C(1000000000) + now.tv_nsec < end) {
		usleep(LOOK_US);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
}

void ending_watch(void)
{
	if (atomic_fetch_add(&watches, 1) < MOST_WATCHES)
		atexit(wait_for_compilers);
	else
		atomic_fetch_sub(&watches, 1);
}

bool ending_begun(void)
{
	return atomic_load(&begun);
}

bool ending_compiles(void)
{
	atomic_fetch_add(&compiling, 1);
	own++;
	if (!ending_begun())
		return true;
	ending_compiled();
	return false;
}

void ending_compiled(void)
{
	own--;
	atomic_fetch_sub(&compiling, 1);
}
