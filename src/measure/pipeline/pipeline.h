// SPDX-License-Identifier: Apache-2.0
// A chunked pipeline on a device: copy in, kernel, copy out, over the same buffers by any schedule;
// and each of its stages alone or beside the others. `overlap` is made of these.
#pragma once
#include "measure/core/bench.h"
#include "model/engine/prediction.h"
#include "model/engine/schedule.h"

// The contract of a chunked kernel (man page tare-overlap, KERNELS):
//   kernel void NAME(global const IN *input, global OUT *output, uint first, uint count, ...)
// input and output are the whole buffers; work-item i of the launch handles item first + i if
// i < count; further arguments are scalars. One dimension; the launch has `count` rounded up to
// whole groups.
struct tare_chunk_kernel {
	struct tare_kernel *kernel;
	uint32_t group_size;
	uint32_t groups_most; // of a launch, for a kernel whose work-items take every n-th item
	                      // where there are fewer of them; 0: one for each item
	// Builds module and kernel once more, for TARE_BREAK_LAZY_LOADING; both are the caller's to
	// free, the kernel first. NULL: cannot.
	int (*rebuild)(const void *context, struct tare_module **module,
	               struct tare_kernel **kernel, struct tare_error *error);
	uint64_t in_bytes, out_bytes;     // an item's; 0: no input, no output
	uint64_t align;                   // chunks begin at multiples of so many items; at least 1
	struct tare_argument scalars[12]; // after `count`; values are the caller's and stay valid
	uint32_t scalar_count;
	// Checks `count` items of output from item `first` on against the input; called by several
	// threads at once. NULL: the output of one unchunked run is the reference.
	bool (*check)(const void *context, const void *input, const void *output, uint64_t first,
	              uint64_t count);
	const void *context;
};

// How a run departs from what is right, to show what it costs.
enum tare_break {
	TARE_BREAK_NONE,
	TARE_BREAK_DEFAULT_QUEUE, // everything in one queue: the API's default one where it has one
	TARE_BREAK_BLOCKING,      // the API's blocking copies
	TARE_BREAK_PAGEABLE,      // plain host memory
	TARE_BREAK_ALLOCATION,    // device memory is allocated and freed between chunks
	TARE_BREAK_LAZY_LOADING,  // the kernel is first launched in the run; built before it
	TARE_BREAK_COUNT
};
const char *tare_break_name(enum tare_break what); // "default-queue"

struct tare_pipeline;

// Allocates host buffers (pinned; pageable where the device has no pinned memory, which
// tare_pipeline_pinned tells) and device buffers for `items`, fills the input with data from the
// seed, and makes queues as schedules ask for them. `bench` is open and outlives the pipeline.
// -ENOMEM: does not fit. The caller may try fewer items. -ENODEV, -ETIMEDOUT: the device is given
// up.
int tare_pipeline_open(struct tare_bench *bench, uint64_t items, struct tare_pipeline **pipeline,
                       const struct tare_chunk_kernel *kernel, struct tare_error *error);
void tare_pipeline_free(struct tare_pipeline *pipeline);
bool tare_pipeline_pinned(const struct tare_pipeline *pipeline);
// Takes another value of a scalar (cycles), and copies it: like those given at opening, what a
// pointer points to later does not matter. The same buffers stay; number and sizes do not change.
void tare_pipeline_set_scalar(struct tare_pipeline *pipeline, uint32_t index, const void *value);
struct tare_pipeline_work tare_pipeline_work(const struct tare_pipeline *pipeline);
// Stages that there are: no input, no copy in.
uint32_t tare_pipeline_stages(const struct tare_pipeline *pipeline);
// Bits of enum tare_mechanism that this device can do; `why` (may be NULL) says why not the others.
uint32_t tare_pipeline_mechanisms(struct tare_pipeline *pipeline, char *why, size_t size);

// Whether runs are timed by the device's own clock (false for NULL): on a device whose time is a
// script's and whose work the host does (struct tare_device). *ns of a run is then the device's
// time from the first operation until the last queue was done, with everything issued before the
// first began; with a break of what the host does (blocking, allocation, lazy loading) the host
// issues while the device works.
bool tare_pipeline_by_device(const struct tare_pipeline *pipeline);
// The step of that clock; 0 where runs are timed by the host's.
double tare_pipeline_device_step_ns(const struct tare_pipeline *pipeline);

// Runs a schedule once. *ns: host time from before the first append until finish returned;
// *issue_ns (may be NULL): of it, until the last append and submit had returned. Queues without
// stamps. -ENOTSUP: this device cannot run it, or break it so.
//
// Submitting: the first 2 * queues operations, at least twelve, are submitted one by one, so that
// an idle device begins at once; after that, whenever a queue holds three operations that are not
// submitted (a chunk), all queues that hold any are; and all at the end. Every wait is the API's
// own blocking one, for its end is seen at once; so the first run in a queue after a scalar has
// changed comes after one more, not counted, whose waits have limits.
int tare_pipeline_run(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                      enum tare_break how, int64_t *ns, int64_t *issue_ns,
                      struct tare_error *error);

// Poisons the output on host and device and the input on the device, runs the schedule, and checks
// every item. *verified:
// TARE_VERIFIED or TARE_WRONG; TARE_NOT_VERIFIABLE without output. wrong_item (may be NULL): the
// first one that is wrong.
int tare_pipeline_verify(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                         enum tare_break how, enum tare_verified *verified, uint64_t *wrong_item,
                         struct tare_error *error);
// Until it is called with false: every schedule takes the chunks from the last to the first. A
// kernel that reads the chunk before its own then finds it missing on a device that runs one
// operation after the other, too.
void tare_pipeline_set_backwards(struct tare_pipeline *pipeline, bool backwards);

// One operation of a run by its stamps.
struct tare_bar {
	enum tare_stage stage;
	uint32_t chunk, queue;
	int64_t start_ps, end_ps; // after the first start of the run
};
// Runs a schedule with stamps on. bars[] holds 3 * chunks; returns how many there are, -ENODATA
// with the reason where the device has no stamps that bracket the engines' work, and no tracer that
// has (tare_engine_stamps_begin).
int tare_pipeline_gantt(struct tare_pipeline *pipeline, const struct tare_schedule *schedule,
                        struct tare_bar *bars, struct tare_error *error);
// About the run that was drawn last.
struct tare_drawn {
	// host time of the run, with what it takes to stamp it: no timing of the schedule
	int64_t ns;
	bool traced; // by the vendor's tracer
};
struct tare_drawn tare_pipeline_drawn(const struct tare_pipeline *pipeline);

// One stage in sequence: the device's time of all bytes or items in one operation (source "device";
// "host" where there are no stamps; *device says which). Once warmed up; the mean of up to eight if
// the clock's step asks for it. 0 where there is no such stage. -ENODEV, -ETIMEDOUT: the device is
// given up (tare_device_abandon), so that the pipeline may be freed.
int tare_pipeline_stage(struct tare_pipeline *pipeline, enum tare_stage stage, int64_t *ps,
                        bool *device, struct tare_error *error);
// The same for a part of the work, as for one chunk: alone, and each of `count` in a row over
// successive parts, from the end of the first to the end of the last (behind a gate where there is
// one, so that issuing is not in it). With fewer than two in a row both are the one alone.
int tare_pipeline_stage_point(struct tare_pipeline *pipeline, enum tare_stage stage, uint64_t items,
                              uint32_t count, struct tare_stage_point *point,
                              struct tare_error *error);

// The same for kernels spread over several queues: fills in point->across_ns, the time from the
// first start to the last end for each of them. Where parts are large, over a few queues only.
int tare_pipeline_kernels_across(struct tare_pipeline *pipeline, uint64_t items, uint32_t count,
                                 struct tare_stage_point *point, struct tare_error *error);

// Runs the stages of `mode` beside each other, each in a queue of its own and often enough that all
// are at work for a while, and counts what each got done in the time when all were. ps[stage] is
// the time that the stage's whole work would take at that speed; *together: see tare_overlap_modes.
// A mode of one stage gives its time alone by the same method: speeds are ratios to that.
// Operations are the whole work, or parts of about 2.5 ms if that is less, the same ones in every
// mode; a call takes some tens of milliseconds, longer where parts cannot be cut (docs/method.md).
int tare_pipeline_mode(struct tare_pipeline *pipeline, uint32_t mode, int64_t ps[TARE_STAGE_COUNT],
                       bool *together, struct tare_error *error);
// Two launches of half the items each in two queues, against one launch of all: *together_ps is the
// time from the first start to the last end, *one_ps that of the one launch.
int tare_pipeline_kernel_beside(struct tare_pipeline *pipeline, int64_t *together_ps,
                                int64_t *one_ps, struct tare_error *error);
