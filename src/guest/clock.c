// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool guest_clock_tsc;
uint64_t guest_cpu_ticks = UINT64_MAX, guest_cpu_most_ticks = UINT64_MAX;

static uint64_t hz = 1000000000;

enum {
	READINGS = 5,
	MEASURE_NS = 300000,
	MOST_PAIRS = 100000,
	CPU_TIME_NS = 50000,
	CPU_TIME_MOST_NS = 1000000
};

uint64_t guest_ns(int clock)
{
	struct timespec now = { 0 };
	clock_gettime((clockid_t)clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t guest_hz(void)
{
	return hz;
}

uint64_t guest_ticks_of_ns(int64_t ns)
{
	return ns <= 0 ? 0 : (uint64_t)((unsigned __int128)(uint64_t)ns * hz / 1000000000);
}

#if defined(__x86_64__)
// The kernel gives the counter up when it finds the processors' to differ.
static bool kernel_trusts_counter(void)
{
	static const char *const others[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies" };
	char name[64] = "";
	long fd = syscall(SYS_openat, AT_FDCWD,
	                  "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	                  O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		syscall(SYS_read, (int)fd, name, sizeof name - 1);
		syscall(SYS_close, (int)fd);
	}
	name[strcspn(name, "\n")] = 0;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

// Intel's manual, volume 3, 18.17.1: CPUID 80000007h, EDX bit 8. prctl(2) may forbid reading it.
static bool counter_is_invariant(void)
{
	unsigned a, b, c, d;
	int allowed = PR_TSC_ENABLE;
	prctl(PR_GET_TSC, &allowed);
	return allowed == PR_TSC_ENABLE && __get_cpuid(0x80000007, &a, &b, &c, &d) &&
	       (d & 1u << 8) && kernel_trusts_counter();
}
#else
static bool counter_is_invariant(void)
{
	return false;
}
#endif

// Ticks that are read neither before nor after their place in the program.
static uint64_t ticks_in_order(void)
{
	uint64_t ticks;
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	ticks = guest_ticks();
	__builtin_ia32_lfence();
#else
	ticks = guest_ticks();
#endif
	return ticks;
}

struct guest_clock_pair guest_clock_tightest(int clock)
{
	struct guest_clock_pair best = { 0 };
	for (int i = 0; i < READINGS; i++) {
		struct guest_clock_pair pair;
		pair.before = ticks_in_order();
		pair.value = guest_ns(clock);
		pair.after = ticks_in_order();
		if (!i || pair.after - pair.before < best.after - best.before)
			best = pair;
	}
	return best;
}

static uint64_t middle(const struct guest_clock_pair *pair)
{
	return pair->before + (pair->after - pair->before) / 2;
}

// The same moment on another clock, by two readings that are near in time.
static int64_t moved(const struct guest_clock_pair *other, const struct guest_clock_pair *raw)
{
	double ticks = (double)(int64_t)(middle(raw) - middle(other));
	return (int64_t)other->value + (int64_t)(ticks * 1e9 / (double)hz);
}

// How far apart readings of a thread's CPU clock are: some system calls take long, in virtual
// machines above all, and a hundredth of the time is enough for them.
static int64_t cpu_time_distance_ns(void)
{
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		uint64_t from = guest_ticks(), cost;
		guest_ns(CLOCK_THREAD_CPUTIME_ID);
		cost = guest_ticks() - from;
		least = cost < least ? cost : least;
	}
	int64_t ns = (int64_t)(100.0 * 1e9 * (double)least / (double)hz);
	return ns < CPU_TIME_NS ? CPU_TIME_NS : ns > CPU_TIME_MOST_NS ? CPU_TIME_MOST_NS : ns;
}

void guest_clock_begin(struct tare_trace_header *header)
{
	struct guest_clock_pair first, raw, monotonic, realtime;
	int64_t cpu_ns;
	guest_clock_tsc = counter_is_invariant();
	hz = 1000000000;
	raw = first = guest_clock_tightest(CLOCK_MONOTONIC_RAW);
	if (guest_clock_tsc) {
		// Counted, should the clock stand still as where a sandbox refuses it.
		for (int i = 0; i < MOST_PAIRS && raw.value - first.value < MEASURE_NS; i++)
			raw = guest_clock_tightest(CLOCK_MONOTONIC_RAW);
		if (raw.value == first.value)
			guest_clock_tsc = false; // at a rate that nobody can tell
	}
	if (guest_clock_tsc)
		hz = (uint64_t)((double)(middle(&raw) - middle(&first)) * 1e9 /
		                (double)(raw.value - first.value));
	monotonic = guest_clock_tightest(CLOCK_MONOTONIC);
	realtime = guest_clock_tightest(CLOCK_REALTIME);
	header->host_clock = guest_clock_tsc ? TARE_TRACE_CLOCK_TSC : TARE_TRACE_CLOCK_RAW;
	header->host_hz = hz;
	header->start_ticks = guest_clock_tsc ? middle(&raw) : raw.value;
	header->start_raw_ns = (int64_t)raw.value;
	header->start_monotonic_ns = moved(&monotonic, &raw);
	header->start_realtime_ns = moved(&realtime, &raw);
	cpu_ns = cpu_time_distance_ns();
	guest_cpu_ticks = guest_ticks_of_ns(cpu_ns);
	guest_cpu_most_ticks =
	    guest_ticks_of_ns(cpu_ns > CPU_TIME_MOST_NS / 10 ? CPU_TIME_MOST_NS : 10 * cpu_ns);
}
