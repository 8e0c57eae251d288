// SPDX-License-Identifier: Apache-2.0
// What an API's recorder measures its own code with: a thread and records that nobody else sees,
// and medians.
#pragma once
#include "guest/guest.h"

struct guest_bench {
	struct guest_thread thread;
	struct tare_trace_window window;  // of which only in_call is ever written
	struct tare_trace_window *room;   // a real one that is lent; NULL: `records`
	union tare_trace_record *records; // the first of them is nobody's
	size_t record_count;
};

// Makes it ready for calls of an API; `mine` is what that keeps of a thread.
void guest_bench_begin(struct guest_bench *bench, enum tare_trace_api api, void *mine,
                       union tare_trace_record *records, size_t count);
// Lends it a window as the program's threads get them, or takes that back.
void guest_bench_room(struct guest_bench *bench, bool lent);
// Has room for `wanted` records, begun again where there is no more.
void guest_bench_rewind(struct guest_bench *bench, size_t wanted);
// Ticks that so many call stacks take: from where the program makes its first call, as deep as
// others of its calls, more or less; and when each is that of the call before.
uint64_t guest_bench_stacks(struct guest_bench *bench, uint32_t count);
uint64_t guest_bench_stacks_again(struct guest_bench *bench, uint32_t count);
// Picoseconds of one of `count`, by the median of 41 times; 0: not known. `time` returns the ticks
// of all.
int64_t guest_bench_median_ps(uint64_t (*time)(void *context), void *context, uint32_t count);

// A median and where it is in 95 of 100 cases.
struct guest_middle {
	int64_t low, best, high;
};
// Sorts the values. By the normal approximation of the sign test the interval leaves out count/2
// less the root of count at each side.
struct guest_middle guest_middle_of(int64_t *values, uint32_t count);
// Our own code between a driver's calls, of a command with times (0) or without (1), picoseconds:
// for the header.
void guest_bench_own(int which, struct guest_middle measured);

// What was measured of our own code, picoseconds: of a command with times and without, of a call,
// of a call stack.
struct guest_costs {
	int64_t timed_ps, untimed_ps, call_ps, stack_ps;
};
// Tells them in the header, and of the children of a fork. `api`: of which alone they are;
// `from_ticks`: when the measurement began.
void guest_costs_tell(enum tare_trace_api api, uint64_t from_ticks,
                      const struct guest_costs *costs);

// How many rounds a measurement of a driver's cost takes, and how many it must.
enum { GUEST_BENCH_ROUNDS = 21, GUEST_BENCH_LEAST_ROUNDS = 5 };
// Whether there is time for one more of them. It is to take `most_ticks` since `from_ticks`; the
// least number may take several times as long.
bool guest_bench_goes_on(uint32_t rounds, uint64_t from_ticks, uint64_t most_ticks);
