// SPDX-License-Identifier: Apache-2.0
// What a device's counters said about the kernels of a run. Collection fills it (CUDA's range
// profiler, Level Zero's metric queries), the verdict and the pictures read it. Nothing here knows
// an API.
#ifndef TARE_ANALYSIS_HOTSPOTS_COUNTED_H
#define TARE_ANALYSIS_HOTSPOTS_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a figure is, whatever the vendor calls the counter. All are of one launch; shares are of the
// maximum that the device sustains, in per cent. New ones go to the end.
enum tare_counter_role {
	TARE_COUNTER_DURATION_NS, // device time of the counted launch, as the counters have it
	TARE_COUNTER_CORES_ACTIVE_SHARE, // time in which a core (SM, Xe core) had work, of the
	                                 // elapsed time
	TARE_COUNTER_ISSUE_SHARE, // cycles in which an instruction was issued, of the active ones
	TARE_COUNTER_OCCUPANCY_SHARE,   // warps (threads) resident, of the possible ones
	TARE_COUNTER_ELIGIBLE_SHARE,    // cycles in which a warp was ready to issue, of the active
	                                // ones
	TARE_COUNTER_INSTRUCTIONS,      // executed by warps (sub-groups)
	TARE_COUNTER_LANE_INSTRUCTIONS, // executed by threads (work-items)
	TARE_COUNTER_FLOP_FP16,         // floating-point operations; a fused multiply-add is two
	TARE_COUNTER_FLOP_FP32,
	TARE_COUNTER_FLOP_FP64,
	TARE_COUNTER_PIPE_ALU_SHARE, // integer and logic
	TARE_COUNTER_PIPE_FMA_SHARE, // single precision
	TARE_COUNTER_PIPE_FP64_SHARE,
	TARE_COUNTER_PIPE_TENSOR_SHARE, // matrix engines
	TARE_COUNTER_PIPE_SPECIAL_SHARE,
	TARE_COUNTER_PIPE_MEMORY_SHARE,   // load and store units
	TARE_COUNTER_L1_SHARE,            // L1's data pipe
	TARE_COUNTER_L1_BYTES,            // between registers and L1 or shared memory
	TARE_COUNTER_L1_HIT_SHARE,        // of the looked-up sectors
	TARE_COUNTER_SHARED_WAVEFRONTS,   // passes through shared (local) memory
	TARE_COUNTER_L2_SHARE,            // L2's busiest part
	TARE_COUNTER_L1_READ_BYTES,       // L2 to L1
	TARE_COUNTER_L1_WRITE_BYTES,      // L1 to L2
	TARE_COUNTER_L2_BYTES,            // all that L2 served
	TARE_COUNTER_L2_HIT_SHARE,        // of the looked-up sectors
	TARE_COUNTER_DEVICE_MEMORY_SHARE, // of the memory's maximum rate
	TARE_COUNTER_DEVICE_READ_BYTES,   // device memory to L2
	TARE_COUNTER_DEVICE_WRITE_BYTES,  // L2 to device memory
	TARE_COUNTER_HOST_READ_BYTES,     // from the host's memory, over PCIe or the like
	TARE_COUNTER_HOST_WRITE_BYTES,
	TARE_COUNTER_PEER_READ_BYTES,
	TARE_COUNTER_PEER_WRITE_BYTES,
	TARE_COUNTER_CORE_ACTIVE_LEAST, // busy cycles of the least busy core
	TARE_COUNTER_CORE_ACTIVE_MEAN,
	TARE_COUNTER_CORE_ACTIVE_MOST,
	TARE_COUNTER_ELIGIBLE_WARPS, // ready to issue in an active cycle of a scheduler; no share
	TARE_COUNTER_L2_MISS_BYTES,  // of L2_BYTES, what was not in it
	TARE_COUNTER_L2_TO_L1_SHARE, // L2's way to the cores
	// the part of PIPE_FMA that does integer multiplications, too
	TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE,
	TARE_COUNTER_LOCAL_READ_BYTES,  // from local (shared) memory
	TARE_COUNTER_LOCAL_WRITE_BYTES, // to it
	TARE_COUNTER_L1_TO_L2_SHARE,    // the cores' way to L2
	TARE_COUNTER_L2_LOOKUP_SHARE,   // what L2 looks up, of the most it can
	TARE_COUNTER_ROLES,
};

// Why a role has no figure.
enum tare_counter_state {
	TARE_COUNTER_NOT_ASKED, // this collection does not ask for it
	TARE_COUNTER_COUNTED,
	TARE_COUNTER_NOT_ON_DEVICE, // the device has no such counter
	TARE_COUNTER_NO_INSTANCE,   // too few launches for its group's turn
	TARE_COUNTER_NOT_TRUSTED,   // it wrapped, was saturated, or its instances disagree
	TARE_COUNTER_REFUSED,       // the driver refused; the run's refusal says why
	TARE_COUNTER_IN_PART,       // some instructions do not tell how many bytes they move
	TARE_COUNTER_STATES,
};

struct tare_counter_value {
	enum tare_counter_state state;
	double mean;        // over the counted launches; NaN unless COUNTED
	double least, most; // of them; NaN unless COUNTED
	uint32_t launches;  // how many were counted for it
	uint32_t group; // counters of one group come from the same launches; ratios stay within one
};

// Why a kernel was left as it is.
enum tare_uncounted {
	TARE_UNCOUNTED_NONE, // it was counted
	TARE_UNCOUNTED_NOT_CHOSEN,
	TARE_UNCOUNTED_CAPTURED,     // its launches were recorded into a graph
	TARE_UNCOUNTED_COOPERATIVE,  // its blocks wait for each other
	TARE_UNCOUNTED_WAITS,        // it waits for another kernel
	TARE_UNCOUNTED_NOT_LAUNCHED, // in the second run
	TARE_UNCOUNTED_FAILED,
	TARE_UNCOUNTED_NO_INSTRUCTIONS, // there were no counters, and no instructions of it, either
	TARE_UNCOUNTED_OTHER_LAUNCHES,  // it was launched another number of times when counted
	TARE_UNCOUNTED_REASONS,
};

// A kernel by name. Times are of the recording, where nothing was counted; counters are of the
// counted run.
struct tare_counted_kernel {
	const char *name;          // demangled
	uint64_t launches;         // recorded
	uint64_t counted_launches; // launches of the counted run that were counted for any group
	uint64_t other_sizes;      // launches that were counted, too, and left out: of another size
	uint64_t total_ns; // device time of all recorded launches; source: device timestamps
	uint64_t mean_ns;  // of one recorded launch
	bool compared;     // its launches with each other; if not, the next three say nothing
	// Recorded launches that are unlike those which took most of the time, in size or by more
	// than a factor of 2 in time, and their device time. They were not chosen for counting.
	uint64_t unlike_launches, unlike_ns;
	uint64_t like_ns; // mean of the others; 0: there are no unlike ones
	double share;     // of the device time of all kernels recorded, 0 to 1
	// size of the memory that a launch was given: the allocations that its arguments point
	// into, which may be more than it needs; 0: not known
	uint64_t compulsory_bytes;
	const char *compulsory_missing; // why it is not known; NULL: nobody asked, or it is
	double occupancy_possible;      // warps that fit, per cent; NaN: not known
	const char *occupancy_limit;    // "registers", "shared memory", ...; NULL: not known
	bool replayed; // some counters come from a launch that was run more than once
	// `values` are no counters but what the code's instructions ask for: sums over all launches
	// of the counted run, over their number, so there is no least and no most
	bool by_instructions;
	// of these: functions such as sin ran, which are no operation of their own there
	bool more_flop;
	enum tare_uncounted uncounted;
	struct tare_counter_value values[TARE_COUNTER_ROLES];
};

// The device, as far as a verdict needs it; 0 and NaN where not known. "Paper" is from the data
// sheet or the device's attributes, "measured" from a result document of `tare peak` and `tare
// bandwidth`.
struct tare_counted_device {
	const char *name;
	uint32_t cores; // SMs, Xe cores
	double paper_memory_bytes_per_s, measured_memory_bytes_per_s;
	double paper_fp16_flop_per_s, measured_fp16_flop_per_s;
	double paper_fp32_flop_per_s, measured_fp32_flop_per_s;
	double paper_fp64_flop_per_s, measured_fp64_flop_per_s;
	double measured_l2_bytes_per_s, measured_l1_bytes_per_s;
	const char
	    *no_counters; // why it offers none, one sentence with the way out; NULL when it does
};

struct tare_device_samples; // samples.h

// Kernels are sorted by total_ns, largest first. Strings belong to whoever filled it in.
struct tare_counted_run {
	struct tare_counted_device device;
	struct tare_counted_kernel *kernels;
	size_t kernel_count;
	// Instructions were counted in place of counters.
	bool by_instructions;
	uint64_t recorded_wall_ns; // the first run, host clock
	uint64_t counted_wall_ns;  // the second
	uint64_t counting_ns;      // what counting took in it: set-up and counted launches
	const struct tare_device_samples *samples; // of the device over time; NULL: none
};

#endif
