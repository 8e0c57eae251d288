// SPDX-License-Identifier: Apache-2.0
// What `latency` and `bandwidth` set up on a device: queues, stamps, gates, and what of it works.
#pragma once
#include "measure/core/clock.h"
#include "measure/core/raw_stamps.h"
#include "measure/core/run.h"

struct tare_bench {
	struct tare_run *run;
	struct tare_device *device;
	struct tare_queue *timed;  // in-order; operations carry stamps. Equals `plain` if !stamped
	struct tare_queue *plain;  // in-order; the driver may do without stamps
	struct tare_queue *second; // another timed in-order queue; NULL if the device has only one
	// For copies of each direction at once: `timed` and `second`, but where the API binds
	// queues to engines, queues on the engines for it (NULL where there is no second one).
	struct tare_queue *to_device, *to_host;
	bool stamped;
	char unstamped[320];         // why there are no stamps
	struct tare_clock_rate rate; // of the stamps
	double step_ps;              // their smallest step
	bool brackets;               // they bracket the engine's work (see struct tare_stamps)
	bool gated;
	char ungated[320];      // why there is no gate
	uint32_t gate_capacity; // 0: no known limit
	struct tare_clock_track track;
	struct tare_raw_stamps raw; // of a launch, to be shown; who samples launches keeps them
};

// Opens the queues, tries what they can do and fits the clock over `fit_ns` of host time. Where
// there are no stamps the document gets a warning. Fails when there is no queue at all.
int tare_bench_open(struct tare_run *run, int64_t fit_ns, struct tare_bench *bench,
                    struct tare_error *error);
// What the method of every figure that rests on stamps must add; "" where they are brackets.
const char *tare_bench_stamp_note(const struct tare_bench *bench);
// Builds a kernel of ours that a command can do without: *kernel is NULL, and `why` (of
// `size` bytes) says "without: ..." where it cannot be built. Fails only with the device.
int tare_bench_try_kernel(struct tare_device *device, const char *name, const char *entry,
                          const char *without, struct tare_module **module,
                          struct tare_kernel **kernel, char *why, size_t size,
                          struct tare_error *error);
// Writes the clock's quality into the document and releases everything.
void tare_bench_close(struct tare_bench *bench);

// tare_clock_can_tell of the stamps' counter.
int tare_bench_can_tell(const struct tare_bench *bench, int64_t host_ns, struct tare_error *error);
// Picoseconds from start to end of a finished event, which took the host `host_ns` from before its
// append to its completion (0: not known). -EOVERFLOW as above; -ENODATA without both stamps; -EIO
// when end lies before start, or when it would have lasted longer than the host saw.
int tare_bench_duration_ps(const struct tare_bench *bench, struct tare_event *event,
                           int64_t host_ns, int64_t *ps, struct tare_error *error);
// The same from the start of `first` to the end of `last`; -EAGAIN across epochs.
int tare_bench_span_ps(const struct tare_bench *bench, struct tare_event *first,
                       struct tare_event *last, int64_t host_ns, int64_t *ps,
                       struct tare_error *error);
// Appends one operation like the one to be timed and waits for it: the device turns to this queue
// now, so that the timed operation does not pay for a turn that only our own use of two queues
// causes.
int tare_bench_turn_to(struct tare_queue *queue, const struct tare_operation *operation,
                       struct tare_error *error);
// Device time of one of `batch` operations of one kind: the mean of their own durations where
// stamps bracket the work, so that what orders them is not in it; else first start to last end,
// divided by batch. More than one go behind gates, so that issuing them is not in it either.
// -EOVERFLOW as above.
int tare_bench_batch_ps(const struct tare_bench *bench, const struct tare_operation *copy,
                        uint32_t batch, int64_t *ps, struct tare_error *error);
// The timer's step in such a figure, in picoseconds.
double tare_bench_batch_step_ps(const struct tare_bench *bench, uint32_t batch);
// Ends a method's text: how short operations were timed. "copies shorter than 100 ticks" goes
// before.
const char *tare_bench_batch_note(const struct tare_bench *bench);
// How many copies that last `ps` each a device sample needs (tare_batch). 1 where there is no gate;
// and for pageable memory, whose copies may hold the host until the gate opens.
uint32_t tare_bench_batch(const struct tare_bench *bench, const struct tare_operation *copy,
                          int64_t ps);
// After a failure that is not the device's end: what was appended before it must not meet what
// comes next, nor outlive its memory. Waits for it with a limit. Returns status, or -ENODEV or
// -ETIMEDOUT with its own sentence if that is what waiting came to.
int tare_bench_settle(struct tare_queue *queue, int status, struct tare_error *error);
// Appends and waits for it with a limit.
int tare_bench_run(struct tare_queue *queue, const struct tare_operation *operation,
                   struct tare_error *error);
