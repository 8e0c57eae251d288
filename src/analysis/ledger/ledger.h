// SPDX-License-Identifier: Apache-2.0
// The ledger: every nanosecond of the run, once. docs/ledger.md states the rules; the parts sum to
// the wall time exactly.
#pragma once
#include "analysis/recording/recording.h"

// Where a moment went, seen from a device. The order is the order of printing.
enum tare_ledger_category {
	TARE_LEDGER_KERNEL,
	TARE_LEDGER_TO_DEVICE, // transfers not hidden behind a kernel
	TARE_LEDGER_FROM_DEVICE,
	TARE_LEDGER_BOTH_WAYS,
	TARE_LEDGER_LOCAL, // fill or copy within the device, nothing else running
	// Idle, by what kept the next command from starting:
	TARE_LEDGER_BEFORE_FIRST, // the program has not called the API yet
	TARE_LEDGER_BUILD,
	TARE_LEDGER_LOAD, // the driver brings a kernel to the device, within another call
	TARE_LEDGER_ALLOCATE,
	TARE_LEDGER_BLOCKING_COPY, // the thread that enqueues next is inside a blocking transfer
	TARE_LEDGER_WAIT,          // ... inside a wait that is not over though the device is idle
	TARE_LEDGER_API,           // ... inside another call: launching, creating, setting
	TARE_LEDGER_RELEASE,       // ... letting go of an object that is no memory
	TARE_LEDGER_QUERY,         // ... asking for what is known
	TARE_LEDGER_COMPUTING,     // ... in the program, on a CPU
	TARE_LEDGER_OFF_CPU,       // ... in the program, not on a CPU: sleep, input, a lock
	TARE_LEDGER_HELD,          // enqueued, nothing to wait for, not submitted to the device
	TARE_LEDGER_DEPENDENCY,    // enqueued, waits for another command or event
	TARE_LEDGER_DISPATCH,      // submitted, nothing to wait for, not started
	TARE_LEDGER_ENDED,         // the process has ended, the run has not
	TARE_LEDGER_UNTIMED,       // commands were in flight whose times are not known
	TARE_LEDGER_NOT_RECORDED,  // what the program did was not recorded
	TARE_LEDGER_UNKNOWN,
	TARE_LEDGER_CATEGORIES
};
// "kernel", "transfer_to_device", ...: the JSON names.
const char *tare_ledger_category_name(enum tare_ledger_category category);
// "kernels", "transfers not hidden, to device", "idle: host was computing".
const char *tare_ledger_category_title(enum tare_ledger_category category);
// The same without the "idle: " of what causes a gap: "host was computing".
const char *tare_ledger_category_cause(enum tare_ledger_category category);

// The matrix: state of the host (of the thread that next enqueues to, or waits on, the device)
// against state of the device.
enum tare_host_state {
	TARE_HOST_BEFORE_FIRST,
	TARE_HOST_BUILD,
	TARE_HOST_LOAD,
	TARE_HOST_ALLOCATE,
	TARE_HOST_BLOCKING_COPY,
	TARE_HOST_WAIT,
	TARE_HOST_API,
	TARE_HOST_RELEASE,
	TARE_HOST_QUERY,
	TARE_HOST_COMPUTING,
	TARE_HOST_OFF_CPU,
	TARE_HOST_GONE,
	TARE_HOST_NOT_RECORDED,
	TARE_HOST_UNKNOWN,
	TARE_HOST_STATES
};
enum tare_device_state {
	TARE_DEVICE_KERNEL,
	TARE_DEVICE_KERNEL_AND_TRANSFER,
	TARE_DEVICE_TO_DEVICE,
	TARE_DEVICE_FROM_DEVICE,
	TARE_DEVICE_BOTH_WAYS,
	TARE_DEVICE_LOCAL,
	TARE_DEVICE_IDLE,
	TARE_DEVICE_STATES
};
const char *tare_host_state_name(enum tare_host_state state);
const char *tare_device_state_name(enum tare_device_state state);

struct tare_ledger {
	const char *scope;                        // "device" or "union"
	const char *name;                         // of the device; "all devices"
	uint32_t device;                          // same_as; TARE_NO_INDEX for the union
	int64_t wall_ns;                          // of the view
	int64_t parts_ns[TARE_LEDGER_CATEGORIES]; // sum is wall_ns, each at least 0
	// of the wall, within the clocks' residual of a boundary where the category changes
	int64_t ambiguous_ns;
	// while a kernel ran; in `kernel` already
	int64_t hidden_to_device_ns, hidden_from_device_ns;
	int64_t matrix_ns[TARE_HOST_STATES][TARE_DEVICE_STATES]; // sum is wall_ns
};

// An idle gap of a device, for the table of queues and for findings.
struct tare_gap {
	int64_t from_ns, to_ns;
	uint32_t device;
	uint32_t command;                // that ends it; TARE_NO_INDEX: the run ends
	enum tare_ledger_category cause; // the largest part of it
};

struct ledger_working; // working.h
struct tare_ledgers {
	struct tare_ledger *ledgers; // one a device of the view that had a queue, then the union
	size_t count;
	struct tare_gap *gaps; // the longest 64 of each device, longest first
	size_t gap_count;
	// of the part that was asked for, where the same sweep could tell; whoever takes it leaves
	// NULL. NULL: there is none.
	struct ledger_working **working;
};

// Computes the ledgers of a view. A run without devices gives the union alone, all of it
// BEFORE_FIRST or host states. Returns 0 or -ENOMEM. Free with tare_ledgers_free.
int tare_ledgers_compute(const struct tare_recording *recording, const struct tare_view *view,
                         struct tare_ledgers *ledgers, struct tare_error *error);
// What findings will ask: all of the gaps of a part of the view (from tare_working_part), and the
// ledgers of some others (from tare_whatif_spans).
enum { TARE_LEDGER_SPANS = 8 };
struct tare_ledger_asked {
	struct tare_run_span part, spans[TARE_LEDGER_SPANS];
	size_t span_count;
};
// The same, and what is asked where the sweep that this takes is one of those that are made anyway.
int tare_ledgers_compute_with(const struct tare_recording *recording, const struct tare_view *view,
                              const struct tare_ledger_asked *asked, struct tare_ledgers *ledgers,
                              struct tare_error *error);
void tare_ledgers_free(struct tare_ledgers *ledgers);

// Every piece of idle time of the view's devices to `take`, device by device (by same_as) in the
// order of time: as a gap, but of one cause each, so that the pieces of a device sum to the idle
// time of its ledger. Computing and off the CPU are known by their sums only; such a piece has the
// cause that takes more of it. `take` returns 0, or another value for lack of memory. Takes half as
// long as tare_ledgers_compute. Returns 0 or -ENOMEM.
int tare_ledgers_pieces(const struct tare_recording *recording, const struct tare_view *view,
                        int (*take)(void *context, const struct tare_gap *piece), void *context,
                        struct tare_error *error);
