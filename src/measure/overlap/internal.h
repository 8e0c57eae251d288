// SPDX-License-Identifier: Apache-2.0
// What the files of `overlap` share. The work is run at several points: values of `cycles` of
// tare's own kernel, or the one point of a user's. Internal to src/measure.
#pragma once
#include "measure/core/bench.h"
#include "measure/overlap/overlap.h"
#include "measure/overlap/user_kernel.h"

// The least gain that is worth another way of writing a program.
#define OVERLAP_WORTH 1.05
// How many schedules are measured to convergence at a point, beside the serial one.
#define OVERLAP_FINALISTS 3
// Of the CUDA Handbook's program.
#define OVERLAP_HANDBOOK_STREAMS 8
// Distinct schedules over all points.
#define OVERLAP_TIMED_MAX 512
#define OVERLAP_REPEATS_MOST 3
// Samples of a figure that the stopping rule wants at least, warming up, and some that time is lost
// for.
#define OVERLAP_SAMPLES 36
// Runs at a point that show how the kinds of schedules (mechanism and order) behave there.
#define OVERLAP_PROBES_MAX (TARE_KIND_POINTS * TARE_MECHANISM_COUNT * TARE_ORDER_COUNT)

// A measured time with its interval.
struct overlap_time {
	bool present;
	double ns, low, high;
};

struct overlap_point {
	uint64_t cycles;
	double ratio;          // kernel : longer copy, each alone
	double serial_once_ns; // one run in sequence, to plan with
	struct overlap_time stage[TARE_STAGE_COUNT];
	struct tare_overlap_modes modes;
	bool modes_borrowed; // those with a kernel are of the balanced point
	bool bounded;
	struct tare_overlap_bound bound;
	double bound_low, bound_high; // from the intervals of the stages alone
	double mode_low[TARE_MODE_COUNT][TARE_STAGE_COUNT]; // of modes.speed
	char unbounded[200];                                // why there is no bound
	struct tare_calibration calibration;
	struct tare_schedule probes[OVERLAP_PROBES_MAX]; // what its corrections came from
	size_t probe_count;
	bool in_sequence[TARE_MECHANISM_COUNT][TARE_ORDER_COUNT]; // a kind that overlaps nothing
	struct overlap_time serial, best;
	struct tare_schedule best_schedule;
	size_t best_cell;
};

// One schedule that was timed at a point.
struct overlap_timed {
	size_t point;
	struct tare_schedule schedule;
	double predicted_ns;
	bool control;  // drawn at random
	bool handbook; // the Handbook's own
	bool verified, wrong;
	struct tare_series series;
	bool in_final;
	size_t cell; // of the document, once it has one
	struct overlap_time time;
};

struct overlap {
	struct tare_run *run;
	struct tare_overlap_options options; // with the defaults filled in
	struct tare_bench bench;
	struct tare_built_kernel built;
	struct tare_pipeline *pipeline;
	struct tare_pipeline_work work;
	uint64_t items, wanted_bytes;
	enum {
		OVERLAP_SHORT_OF_NOTHING,
		OVERLAP_SHORT_OF_MEMORY,
		OVERLAP_SHORT_OF_ITEMS,
		OVERLAP_SHORT_OF_TIME
	} short_of;
	double floor_ratio;  // below it kernel : copy does not go; 0: it was not met
	bool own;            // tare's own kernel
	int32_t add, cycles; // its arguments as they are set now
	struct overlap_point points[TARE_OVERLAP_CYCLES];
	size_t point_count, balanced;
	struct overlap_timed *timed;
	size_t timed_count;
	struct tare_schedule verified[OVERLAP_TIMED_MAX]; // and found right
	size_t verified_count;
	struct tare_timed_schedule fitted[4]; // what the prediction was fitted to
	size_t fitted_count;
	uint32_t repeats, in_a_row; // of what calibrating measures
	int64_t budget_ns;          // of the whole command; run->budget_ns is that of the phase
	uint32_t breaks_done;
	double break_factor[TARE_BREAK_COUNT]; // 0: not known
	bool break_known[TARE_BREAK_COUNT];    // the interval is all above 1
	uint64_t wrong_item;
	char wrong[400]; // the sentence about a wrong result; "" while all are right
};

// ---- kernel.c: tare's own loop, and how many bytes and cycles

// Builds tare's loop or the user's kernel.
int overlap_build_kernel(struct overlap *overlap, char **log, struct tare_error *error);
// Opens the pipeline over as many bytes as memory and budget allow.
int overlap_open_pipeline(struct overlap *overlap, struct tare_error *error);
void overlap_set_cycles(struct overlap *overlap, uint64_t cycles);
// Warns of what was bounded.
void overlap_warn_work(struct overlap *overlap);
// Fills in points[].cycles and ratio, and which one is balanced; opens the pipeline anew where so
// many bytes take too long.
int overlap_choose_points(struct overlap *overlap, struct tare_error *error);

// ---- overlap.c

// Lets the next phase use `share` of the whole budget at most (and not what is over).
void overlap_phase(struct overlap *overlap, double share);
// Host time left of the phase.
int64_t overlap_phase_left_ns(const struct overlap *overlap);
void overlap_progress(struct overlap *overlap, const char *what);
// 0, or -EINTR once the user has interrupted the run.
int overlap_go_on(const struct overlap *overlap, struct tare_error *error);
struct overlap_time overlap_time_of(const struct overlap *overlap, size_t cell);
// A cell of source "model" labelled `group` and, for tare's own kernel, `cycles`. NULL: no memory.
struct tare_cell *overlap_model(struct overlap *overlap, const char *group, const char *what,
                                const struct overlap_point *point, const char *quantity,
                                const char *unit);
// How a run was timed (tare_pipeline_by_device): "host" or "device", the words for a cell's method
// (`by_host`, or others), and the clock's step.
const char *overlap_run_source(const struct overlap *overlap);
const char *overlap_run_method(const struct overlap *overlap, const char *by_host);
double overlap_run_step_ns(const struct overlap *overlap);
void overlap_label_point(const struct overlap *overlap, const struct overlap_point *point,
                         struct tare_labels *labels);
void overlap_label_schedule(const struct tare_schedule *schedule, struct tare_labels *labels);
bool overlap_same_schedule(const struct tare_schedule *a, const struct tare_schedule *b);
// Verifies a schedule once; 0 and *right, or what the pipeline said. A wrong one leaves its
// sentence in overlap->wrong.
int overlap_verify(struct overlap *overlap, const struct tare_schedule *schedule,
                   enum tare_break how, bool *right, struct tare_error *error);

// ---- the phases

int overlap_measure_sequential(struct overlap *overlap, struct tare_error *error);
int overlap_measure_modes(struct overlap *overlap, struct tare_error *error);
int overlap_calibrate(struct overlap *overlap, struct tare_error *error);
// Median host time of up to OVERLAP_REPEATS_MOST runs; issue_ns may be NULL.
int overlap_median_run(struct overlap *overlap, const struct tare_schedule *schedule, uint32_t runs,
                       double *ns, double *issue_ns, struct tare_error *error);
// Corrects the prediction of each kind of schedule by runs of it.
int overlap_probe_kinds(struct overlap *overlap, struct tare_error *error);
int overlap_search(struct overlap *overlap, struct tare_error *error);
// What was timed but is not among the best gets its cells, as far as there is time to verify it.
int overlap_verify_timed(struct overlap *overlap, struct tare_error *error);
int overlap_measure_breaks(struct overlap *overlap, struct tare_error *error);

// ---- what follows from them; also after an interruption.

void overlap_conclude_bounds(struct overlap *overlap);
// What the best schedule's chunks leave attainable: not less than the bound, nor than filling and
// draining the pipeline take. NAN where the measured time beats that.
double overlap_attainable_ns(const struct overlap_point *point);
void overlap_conclude_schedules(struct overlap *overlap);
void overlap_conclude_engines(struct overlap *overlap);
void overlap_add_plots(struct overlap *overlap);
int overlap_add_timeline(struct overlap *overlap, struct tare_error *error);
void overlap_add_verdict(struct overlap *overlap);
