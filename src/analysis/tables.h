// SPDX-License-Identifier: Apache-2.0
// The tables of a report: computing tasks, transfers, API calls, builds, memory, queues, coverage,
// and what bounds the run. All computed from a recording and a view; counts are of the view.
#pragma once
#include "analysis/ledger.h"
#include "analysis/recording.h"

// Kernels of one name on one device with one shape of work; `shape` TARE_NO_INDEX when the row
// sums up several shapes.
struct tare_task {
	const char *name;
	uint32_t device;          // same_as
	uint32_t kernel;          // one of them, for its facts
	uint32_t shape;
	uint32_t shapes;          // different ones
	uint64_t instances;       // enqueued
	uint64_t timed;           // of these, with device times
	int64_t total_ns;         // of the timed; device time; instances that overlap count twice
	double mean_ns, median_ns, min_ns, max_ns; // NaN: none timed
	double p95_ns;
	double share;             // of the device's kernel time (union of intervals), 0 to 1; NaN
	int64_t launch_total_ns;  // host time inside the enqueue calls
	// Fill of the device, by model: NaN or 0 where the units or the group size are not known.
	uint64_t groups;          // of the most frequent shape
	double groups_per_unit;
	double waves;             // groups over units (one group a unit at a time)
	double tail;              // part of the last wave that stays empty, 0 to 1
	double trend_per_run;     // Theil-Sen slope of the duration over the run, relative to the
	                          // median; NaN when not told from zero
	struct tare_recorded_kernel_fact facts; // of the device; kernel TARE_NO_INDEX: none
};

struct tare_transfer_row {
	uint8_t kind;             // enum tare_trace_command_kind
	uint8_t direction;
	uint8_t memory;           // enum tare_trace_memory of the host side
	bool blocking;
	uint32_t device;
	uint64_t count, timed;
	uint64_t bytes;
	int64_t total_ns;         // of the timed
	int64_t exposed_ns, hidden_ns; // of the union of these intervals: no kernel ran, or one did
	double bytes_per_second;  // of the timed, bytes over total; NaN
	double median_bytes_per_second;
	double ceiling;           // bytes per second, measured earlier; NaN: none
	uint64_t sizes[16];       // count by size: < 64 B, < 256 B, < 1 KB, x 4 each; the last is the rest
	uint64_t unaligned;       // host address not on 64 bytes
	uint64_t smallest, largest;
};

struct tare_api_row {
	const char *function;
	uint32_t role;
	uint64_t count, failed;
	int64_t total_ns;         // inside, calls within calls not counted twice
	int64_t max_ns;
};

struct tare_build {
	uint32_t program;         // TARE_NO_INDEX
	const char *function;
	int64_t at_ns, ns;
	int64_t error;
};

struct tare_memory_use {
	uint64_t objects, bytes;  // made in the view
	uint64_t peak_bytes;      // most that was held at once, by the sizes asked for
	int64_t peak_at_ns;
	uint64_t held_at_end;     // objects not released
};

struct tare_queue_row {
	uint32_t queue;
	uint64_t commands;
	int64_t busy_ns;          // union of its commands' execution
	double mean_depth;        // commands enqueued and not complete, over the time from first to last
	uint64_t max_depth;
	int64_t gaps_ns;          // between its commands
	int64_t gap_causes_ns[TARE_LEDGER_CATEGORIES]; // of its device's idle time in these gaps
	int64_t median_latency_ns; // enqueue returned to start; TARE_NO_TIME
};

struct tare_coverage {
	uint64_t enqueued;        // commands, recorded or known to be lost
	uint64_t completed;       // with device times
	uint64_t unobserved;      // enqueued, times never seen or not to be had
	uint64_t dropped;         // records lost (no room, recycled)
	uint64_t failed;          // enqueues that the API refused
	uint64_t calls, passed_calls;
	uint64_t damaged_windows, unresolved, contradictions;
	uint64_t never_flushed;   // of the unobserved: nothing after them on their queue could have started them
	double self_cost_share;   // of the wall: calibrated cost times commands and calls; NaN
	int64_t self_cost_ns;
	int64_t helper_cpu_ns, stalled_ns;
};

enum tare_bound {
	TARE_BOUND_NOTHING,       // no command ran
	TARE_BOUND_DEVICE,        // kernels take most of the time
	TARE_BOUND_TRANSFER,
	TARE_BOUND_LAUNCH,        // many short kernels: the cost of issuing them
	TARE_BOUND_HOST,          // the program computes, builds, allocates or sleeps
	TARE_BOUND_SYNCHRONISATION, // the device idles because the host waits, then wakes
	TARE_BOUND_NOT_CLEAR,
	TARE_BOUND_COUNT
};
const char *tare_bound_name(enum tare_bound bound); // "device", "transfer", ...

struct tare_summary {
	int64_t wall_ns;
	double cpu_utilisation;   // CPU time of the processes over wall (1.0 = one CPU busy); NaN
	double device_utilisation; // kernels or transfers running on any device, of the wall
	double kernel_share, transfer_share, exposed_transfer_share; // of the wall; transfers hidden or not
	int64_t launch_ns;        // host time inside enqueue calls
	double mean_launch_ns;    // NaN
	enum tare_bound bound;
	char verdict[400];        // "This run is transfer-bound: the device waits for data 39.7 % of the time"
	char evidence[600];       // the figures that say so
};

// A measured ceiling of this machine for transfers, from a cached bandwidth result.
struct tare_transfer_ceiling {
	const char *device_name;
	uint8_t direction;
	bool pinned;
	double bytes_per_second;
	const char *measured;     // date
};

struct tare_tables {
	struct tare_summary summary;
	struct tare_task *tasks;            // by total time, longest first
	struct tare_transfer_row *transfers;
	struct tare_api_row *api;           // by total time
	struct tare_build *builds;          // in order of time
	struct tare_queue_row *queues;
	size_t task_count, transfer_count, api_count, build_count, queue_count;
	struct tare_memory_use memory;
	struct tare_coverage coverage;
};

// Computes all tables. Returns 0 or -ENOMEM. Free with tare_tables_free.
int tare_tables_compute(const struct tare_recording *recording, const struct tare_view *view,
                        const struct tare_ledgers *ledgers,
                        const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                        struct tare_tables *tables, struct tare_error *error);
void tare_tables_free(struct tare_tables *tables);
