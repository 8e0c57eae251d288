// SPDX-License-Identifier: Apache-2.0
// What follows from a kernel's counters: traffic on each edge of the memory hierarchy, where the
// cores' time went, arithmetic, how far the ceiling is. Everything that is printed or drawn is from
// here.
#pragma once
#include "analysis/hotspots/verdict.h"

// Edges of the memory hierarchy, from the registers outwards.
enum tare_edge {
	TARE_EDGE_REGISTERS_L1, // with shared memory
	TARE_EDGE_L1_L2,
	TARE_EDGE_L2_DEVICE,
	TARE_EDGE_HOST,
	TARE_EDGE_PEER,
	TARE_EDGES,
};

// How a rate or ratio was got.
enum tare_rate_origin {
	TARE_RATE_NONE,      // it is NaN
	TARE_RATE_SAME,      // of the same launches
	TARE_RATE_OTHER,     // of different launches, all of which were alike
	TARE_RATE_RECORDING, // over the time of the recording, since the counters have none
	TARE_RATE_ASKED,     // what instructions asked for, over the time of the recording
	TARE_RATE_UNLIKE,    // NaN: of different launches, which were not alike
};

// How far the means of different launches may lie apart for a ratio of them: a part of the mean.
#define TARE_ALIKE 0.05

// How far the counted launches' mean time may be from the recorded ones', as a factor.
#define TARE_LIKE_RECORDED 1.25

// Of a launch. NaN where not known.
struct tare_edge_traffic {
	// of both directions where only their sum was counted, which is then in `bytes` alone
	double read_bytes, write_bytes, bytes;
	enum tare_counter_state state; // of the counters, where `bytes` is not known
	double bytes_per_s;
	enum tare_rate_origin origin;
	double share;           // of what the device sustains, per cent, by its own counters
	double measured_share;  // of the ceiling that was measured here, per cent
	double over_compulsory; // bytes over the size of the memory that the launch was given
	bool binding;           // the verdict is about this edge, and decided
};

// Where the time of the cores went, per cent of a launch; NaN where not known.
struct tare_core_time {
	double active, stalled, idle; // issuing, with work but not issuing, without work
};

enum tare_flop_kind { TARE_FLOP_FP16, TARE_FLOP_FP32, TARE_FLOP_FP64, TARE_FLOP_KINDS };

struct tare_arithmetic {
	double flop[TARE_FLOP_KINDS], total_flop; // of a launch; the total of the kinds counted
	// a kind was not counted, or the matrix engines, which no kind counts, ran; of
	// instructions: functions such as sin, which are no operation, did
	bool partial;
	double flop_per_s; // of all kinds
	enum tare_rate_origin origin;
	enum tare_flop_kind most; // the kind that there is most of
	double measured_share;    // of that kind's ceiling measured here, per cent, by its own rate
	// FLOP over the bytes of each edge
	double intensity[TARE_EDGES];
};

// The most that a change can bring: what remains of the time. Upper bounds for the gain, from the
// shares alone. NaN: not known.
struct tare_gain {
	double at_ceiling; // part of the time that remains at the ceiling of what binds (of the
	                   // fullest limit, where none does), with the same work
	double at_next;    // part that remains when what binds is gone, and the next limit binds
	enum tare_kernel_bound next; // that limit; NOT_KNOWN: none was counted
};

struct tare_hotspot {
	const struct tare_counted_kernel *kernel;
	struct tare_kernel_verdict verdict;
	struct tare_edge_traffic edges[TARE_EDGES];
	struct tare_core_time time;
	struct tare_arithmetic arithmetic;
	double duration_ns;    // of a counted launch; the recording's mean where not counted
	bool duration_counted; // by the counters
	// the counted launches took another time than the recorded ones on average: what was
	// counted is then not what mattered
	bool unlike_recorded;
	double imbalance; // part of the busiest core's time that the mean core had no work, per
	                  // cent; NaN: not known
	double lanes;     // thread instructions over instructions; NaN: not known
	struct tare_gain gain;
};

// Mean device time of the recorded launches that were chosen for counting; 0: not known.
uint64_t tare_counted_recorded_ns(const struct tare_counted_kernel *kernel);
// Derives all of it. `kernel` must outlive `hotspot`.
void tare_hotspot_derive(const struct tare_counted_kernel *kernel,
                         const struct tare_counted_device *device, struct tare_hotspot *hotspot);

// "L2", "device memory"; what a bound and an edge are called.
const char *tare_kernel_bound_name(enum tare_kernel_bound bound);
const char *tare_edge_name(enum tare_edge edge);
