// SPDX-License-Identifier: Apache-2.0
// Host ticks of a trace as nanoseconds of CLOCK_MONOTONIC_RAW. docs/trace-format.md, "Clocks", says
// how the pairs are used.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// CLOCK_MONOTONIC_RAW read between two readings of the host's ticks.
struct tare_trace_reading {
	uint64_t before, after; // host ticks
	int64_t ns;
};

// The map is a line through `origin` for twice as many ticks as `twice`, up to the next segment's
// origin. Ticks are doubled so that the middle of a bracket is a whole number.
struct tare_trace_segment {
	uint64_t origin_twice;
	int64_t origin_ns;
	uint64_t twice, ns;  // rate: ns / twice, both above 0 and below 2^62
	uint64_t multiplier; // floor(2^64 * ns / twice); 0: not below 1
};

struct tare_trace_map {
	struct tare_trace_segment *segments; // NULL: ticks are nanoseconds already
	size_t count;
	int64_t residual_ns;  // largest error between the ticks that were asked for
	size_t contradicting; // readings that were left out, for they contradict the others
	bool rate_unknown;    // nothing tells the rate: one nanosecond a tick was taken
};

// Fits the map. Readings in any order. The reading (start_ticks, start_ns) has no bracket and is
// used where there is at most one other.
//   hz    nominal rate of the ticks; 0: not known
//   from, to  the ticks over which the residual is wanted
// Returns 0, or -ENOMEM. Free with tare_trace_map_free.
int tare_trace_map_fit(const struct tare_trace_reading *readings, size_t count,
                       uint64_t start_ticks, int64_t start_ns, uint64_t hz, uint64_t from,
                       uint64_t to, struct tare_trace_map *map);
void tare_trace_map_free(struct tare_trace_map *map);

// Rounded once, to the nearest; what int64_t cannot hold becomes its nearest end but INT64_MIN.
int64_t tare_trace_map_line_ns(const struct tare_trace_map *map, uint64_t ticks);
static inline int64_t tare_trace_map_ns(const struct tare_trace_map *map, uint64_t ticks)
{
	if (map->segments)
		return tare_trace_map_line_ns(map, ticks);
	return ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks;
}
