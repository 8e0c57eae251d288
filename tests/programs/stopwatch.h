// SPDX-License-Identifier: Apache-2.0
// How long the work of a pair's program took, for the tests that make the change that a finding
// advises.
#pragma once
#include <stdio.h>
#include <time.h>

static inline double stopwatch_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// Of the wall, and of all CPUs, when the work began.
static double stopwatch_begun_ns[2];

static inline void stopwatch_start(void)
{
	stopwatch_begun_ns[0] = stopwatch_ns(CLOCK_MONOTONIC);
	stopwatch_begun_ns[1] = stopwatch_ns(CLOCK_PROCESS_CPUTIME_ID);
}

// "12.345 ms, CPU 6.789 ms"
static inline void stopwatch_print(void)
{
	printf("%.6f ms, CPU %.6f ms\n",
	       (stopwatch_ns(CLOCK_MONOTONIC) - stopwatch_begun_ns[0]) * 1e-6,
	       (stopwatch_ns(CLOCK_PROCESS_CPUTIME_ID) - stopwatch_begun_ns[1]) * 1e-6);
}
