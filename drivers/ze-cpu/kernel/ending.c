// SPDX-License-Identifier: Apache-2.0
#include "kernel/ending.h"
#include "kernel/runner.h"
#include "ze_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// A compiler that is not through by then hangs.
#define LIMIT_NS INT64_C(60000000000)
#define LOOK_US 1000
// So often is the handler put behind what the compiler has made.
#define MOST_WATCHES 4

static atomic_bool begun, compiled;
static atomic_uint compiling, watches;
static __thread unsigned own;
static __thread bool watched;

// C++'s destructors of a thread's variables, in glibc: exit() calls those of its thread before all
// else.
extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

// Signal handlers may call exit(): no locks.
static void wait_for_compilers(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t end = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + LIMIT_NS;
	while ((atomic_load(&compiling) > own || runner_compiles()) &&
	       now.tv_sec * INT64_C(1000000000) + now.tv_nsec < end) {
		usleep(LOOK_US);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
}

static void process_ends(void)
{
	// A child of fork() has none of the threads.
	if (cpu_forked)
		return;
	atomic_store(&begun, true);
	wait_for_compilers();
}

// The compiler makes more that goes down with the process while it first compiles, and that would
// go before process_ends. So that is waited for, and process_ends put behind it, by the thread that
// calls exit(). The main thread need not end for that of any other thread's doing; a thread that
// only ends itself looks the same, and is held up by the first launch's compilation alone.
static void thread_ends(void *unused)
{
	bool is_main = getpid() == gettid();

	(void)unused;
	if (cpu_forked || (!is_main && atomic_load(&compiled)))
		return;
	wait_for_compilers();
	if (is_main)
		atexit(process_ends);
	else
		ending_watch();
}

void ending_watch_thread(void)
{
	if (watched || !__cxa_thread_atexit_impl)
		return;
	watched = true;
	__cxa_thread_atexit_impl(thread_ends, NULL, &__dso_handle);
}

void ending_watch(void)
{
	if (atomic_fetch_add(&watches, 1) < MOST_WATCHES)
		atexit(process_ends);
	else
		atomic_fetch_sub(&watches, 1);
}

void ending_launched(void)
{
	if (atomic_exchange(&compiled, true))
		return;
	ending_watch();
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
