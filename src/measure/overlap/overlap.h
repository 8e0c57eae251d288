// SPDX-License-Identifier: Apache-2.0
// `overlap`: would overlapping copies and kernels pay, with how many chunks and queues, and how
// close does it come to what the hardware allows?
#pragma once
#include "measure/core/peaks.h"
#include "measure/core/run.h"
#include "measure/pipeline/pipeline.h"

#define TARE_OVERLAP_BUDGET_NS INT64_C(60000000000)
#define TARE_OVERLAP_CYCLES 64

// The user's own kernel; see struct tare_chunk_kernel.
struct tare_user_kernel {
	const char *file, *entry;     // file NULL: tare's own loop
	const char *build_options;    // the API's own words; NULL: none
	const char *const *arguments; // "int:5", "float:0.5", "local:1024"
	size_t argument_count;
	uint64_t in_bytes, out_bytes; // an item's
	uint64_t align;
	uint32_t group_size; // 0: a multiple that the kernel prefers
	// Called before (true) and after (false) the driver's compiler is at work; may be NULL.
	void (*around_build)(const void *context, bool begins);
	const void *around_context;
};

// The loops of tare's own kernel (kernels/overlap.c).
enum tare_loop {
	TARE_LOOP_REGISTER,
	TARE_LOOP_HANDBOOK, // an addition a turn, as NVIDIA's compiler builds the Handbook's kernel
	TARE_LOOP_VOLATILE, // every turn through memory
	TARE_LOOP_COUNT
};
const char *tare_loop_name(enum tare_loop loop); // "register"

struct tare_overlap_options {
	uint64_t bytes; // in each direction for tare's own kernel; of the input for the
	                // user's; 0: 64 MiB, less where memory is short
	uint64_t cycles[TARE_OVERLAP_CYCLES];
	size_t cycle_count; // 0: calibrated so that kernel : copy is 1/4 1/2 1 2 4
	enum tare_loop loop;
	// of a launch of tare's own kernel, at most; 0: as suits the device
	uint32_t groups;
	uint64_t in_bytes,
	    out_bytes; // an item's, of tare's own kernel; 0: 4 (unequal sizes otherwise)
	struct tare_search_space space; // counts of 0 and no bits: the defaults
	uint32_t breaks;                // bits of enum tare_break; TARE_OVERLAP_ALL_BREAKS
	struct tare_user_kernel kernel;
	struct tare_peaks peaks;
};
#define TARE_OVERLAP_ALL_BREAKS (((1u << TARE_BREAK_COUNT) - 1) & ~1u)

// Parsers of the options' texts; 0 or -EINVAL with a sentence.
int tare_parse_cycles(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error); // "0..1024:64" or "64,128"
int tare_parse_chunks(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error); // "1..256" (powers of two and 3/2 of them) or list
int tare_parse_queues(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error);
int tare_parse_loop(const char *text, struct tare_overlap_options *options,
                    struct tare_error *error); // "handbook"
int tare_parse_breaks(const char *text, struct tare_overlap_options *options,
                      struct tare_error *error); // "pageable,blocking", "all", "none"

// Fills run->result with cells labelled `group`:
//   "mode":       `mode`, `stage`, `cycles`: a stage's whole work at its speed in that mode, rate
//   "sequential": `cycles`, `stage` (to-device, kernel, to-host, total)
//   "concurrent": `cycles`, `chunks`, `queues`, `order`, `mechanism`, `sizes`, `best` (1: the one
//                 that the verdict names), `control` (1: drawn at random), `handbook` (1: the CUDA
//                 Handbook's); then of source "model", same labels, `what`: "predicted", "error"
//   "bound":      `cycles`, `what`: "bound", "serial", "attainable", "speed-up", "share", "amdahl",
//                 "kernel-to-copy"; "kernel-side-by-side" where one launch leaves room;
//                 "kernel-memory-share" where options->peaks tells
//   "prediction": `what`: "mean-error", "worst-error" of those above that were measured, and
//   "noise"
//      (how much runs of one of them differ), of all and with `cycles`; "chosen" with `cycles` and
//      a schedule: how much longer the one takes that is predicted to be the best than the one that
//      is; "correction" with `cycles`, `mechanism`, `order`, `chunks`, `in-sequence` (1: overlaps
//      nothing)
//   "break":      `break`, `cycles`: the best schedule broken so; `what` "factor" (model)
//   "engines":    `what`: "revealed", "claimed"
//   "kernel-beside-kernel"
// plots (times over cycles, speed-up curves, search, timeline of the best schedule), conclusions
// (the verdict) and warnings. Every schedule that is reported was verified.
// Returns as tare_run_measure, -EBADMSG when a result was wrong; -EINVAL with a sentence for a
// kernel that does not do (*log, if log is not NULL: the build log to free()).
int tare_measure_overlap(struct tare_run *run, const struct tare_overlap_options *options,
                         char **log, struct tare_error *error);
