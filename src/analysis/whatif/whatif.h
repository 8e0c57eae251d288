// SPDX-License-Identifier: Apache-2.0
// What overlapping copies with kernels would gain, from a recording alone. docs/findings.md has the
// model and its limits.
#pragma once
#include "analysis/recording/recording.h"

// What a recording shows of two kinds of work on one device.
enum tare_seen_together {
	TARE_TOGETHER_UNKNOWN, // never tried
	TARE_TOGETHER_SEEN,    // ran at the same time
	TARE_TOGETHER_APART,   // one was ready and waited until the other had ended
};

struct tare_overlap_gain {
	uint32_t device;        // same_as
	int64_t from_ns, to_ns; // the part of the run that repeats copy in, kernel, copy out
	uint64_t chunks;        // repetitions found
	int64_t measured_ns;    // what that part took
	int64_t to_device_ns, kernel_ns, from_device_ns; // device time of each stage in it
	int64_t exposed_ns; // transfers not hidden behind kernels in it
	// the program's own work in it: computing, building, allocating, asleep
	int64_t host_ns;
	// with queues enough and pinned memory; NaN: no pipeline was found
	double predicted_ns;
	double predicted_low_ns, predicted_high_ns; // equal where the recording shows the engines
	enum tare_seen_together copies; // both directions: SEEN: two copy engines, APART: one
	enum tare_seen_together beside; // a copy and a kernel
	// that the driver counts: where both directions were not tried, the estimate goes by them;
	// 0: it tells none
	uint64_t copy_engines;
	// speed of a copy beside one of the other direction; NaN: not known
	double duplex;
	bool in_caller; // kernels run inside the call that enqueues them
	// the device's memory is the host's: its copies take cores or bandwidth
	bool shares_host;
	// the stage that then sets the pace: "kernels", "copies to the device"
	const char *limit;
	const char *why_not; // NULL, or why no prediction can be made, a sentence
};

// The device's parts that look like a pipeline, the one with the largest gain. Returns 0 with
// *gain, -ENODATA when there is none (why_not says why), or -ENOMEM.
int tare_whatif_overlap(const struct tare_recording *recording, const struct tare_view *view,
                        uint32_t device, struct tare_overlap_gain *gain, struct tare_error *error);
// The same; `working` may know what the host did in those parts (NULL: nobody does).
struct ledger_working;
int tare_whatif_overlap_by(const struct tare_recording *recording, const struct tare_view *view,
                           uint32_t device, const struct ledger_working *working,
                           struct tare_overlap_gain *gain, struct tare_error *error);
// When those parts were, whose ledgers are needed: at most TARE_LEDGER_SPANS, into `spans`. Returns
// 0 or -ENOMEM.
int tare_whatif_spans(const struct tare_recording *recording, const struct tare_view *view,
                      uint32_t device, struct tare_run_span *spans, size_t *count);
