// SPDX-License-Identifier: Apache-2.0
// What the files of `peak` share: one measurement is one kernel with one launch shape.
#pragma once
#include "measure/core/bench.h"
#include "measure/core/peaks.h"
#include "measure/core/telemetry.h"

#define PEAK_WIDTHS 5  // vectors of 1, 2, 4, 8 and 16 numbers
#define PEAK_BUFFERS 3 // a = b + s * c
#define PEAK_ARGUMENTS 10
#define PEAK_MODULES 6

enum peak_group { PEAK_COMPUTE, PEAK_MEMORY, PEAK_SWEEP, PEAK_LOCAL, PEAK_TENSOR, PEAK_GROUPS };
enum peak_type { PEAK_FP32, PEAK_FP64, PEAK_FP16, PEAK_INT32, PEAK_TYPES };
enum peak_op { PEAK_READ, PEAK_WRITE, PEAK_COPY, PEAK_TRIAD, PEAK_STRIDED, PEAK_OPS };

#define PEAK_TENSOR_SIZES 3 // the largest that fit
#define PEAK_CLOCKS 96

// Sizes at which a precision of the vendor's library is measured, ascending.
struct peak_tensor {
	uint32_t n[PEAK_TENSOR_SIZES];
	uint32_t count;
	char absent[320]; // why there are none
};

// The clock while one cell was sampled; the cell is the one with these labels.
struct peak_clock {
	enum peak_group group;
	const char *type; // "": its group has none
	uint32_t number;  // width or n
	struct tare_clock_range range;
};

extern const char *const peak_group_names[PEAK_GROUPS]; // "compute"
extern const char *const peak_type_names[PEAK_TYPES];   // "fp32"
extern const char *const peak_op_names[PEAK_OPS];

// How the vectors of a buffer are dealt to the work-items (kernels/peak_memory.c).
enum peak_deal { PEAK_BY_DEVICE, PEAK_BY_GROUP, PEAK_BY_ITEM };
struct peak_shape {
	enum peak_deal deal;
	uint32_t group_size, turns;
};

// A module is built once, when its first kernel is asked for.
struct peak_module {
	char name[24];
	struct tare_module *module;
};

struct peak {
	struct tare_run *run;
	struct tare_bench bench;
	struct peak_module modules[PEAK_MODULES];
	uint32_t units;
	uint32_t group_limit;  // work-items a group may have: a power of two
	int64_t target_ps;     // how long a launch should last
	uint64_t cache_bytes;  // 0: not known
	uint64_t buffer_bytes; // of each buffer: a power of two
	struct tare_memory *buffers[PEAK_BUFFERS];
	char unbuffered[320];       // why a buffer is missing
	struct tare_memory *output; // of compute and local memory: a number of 8 bytes an item
	uint64_t output_bytes;
	struct tare_memory *start;  // what the chains of compute begin with
	struct tare_memory *status; // what memory.c reports
	struct tare_memory *host;   // pageable, output_bytes
	struct peak_shape shape;    // that was best so far: the next one is tried with it first
	bool single_items;          // whether groups of one work-item are worth a trial
	int64_t trial_ns;           // for choosing the shape of one measurement
	uint32_t sweep_width, sweep_group; // the launch that reads a small working set fastest
	uint32_t factors;                  // counter: every pattern in memory is another
	bool has_library;                  // the API has a matrix library at all
	struct peak_tensor tensors[TARE_BLAS_PRECISION_COUNT];
	struct peak_clock clocks[PEAK_CLOCKS];
	size_t clock_count;
};

// One measurement: a kernel and everything its launch needs.
struct peak_task {
	struct peak *peak;
	enum peak_group group;
	enum peak_type type;
	enum peak_op op;
	uint32_t width, stride;
	uint64_t bytes;                     // of a sweep
	enum tare_blas_precision precision; // of a tensor, and the rows of its matrices
	uint32_t n;                         // 0: there are none, and the reason is known
	struct tare_memory *matrices[3], *pool;
	size_t mark; // of the clock's readings, when the measurement began
	bool first;  // one of each kind is measured before the rest
	struct tare_kernel *kernel;
	uint32_t group_limit; // a power of two: as the kernel's registers and the device allow
	uint32_t groups, group_size, turns;
	struct tare_argument arguments[PEAK_ARGUMENTS];
	uint32_t values[PEAK_ARGUMENTS]; // what arguments of type VALUE point to
	union {
		float f;
		double d;
	} factor, addend; // of compute
	uint32_t argument_count, turns_at;
	uint32_t shape_at;          // the argument group_step; item_step and step follow
	uint32_t pattern, pattern2; // factors of what lies in the buffers (memory.c)
};

// ---- launching (launch.c)

// Gives the task, unless it has one, kernel `entry` of the module kernels/MODULE.c, and the limit
// of its groups. -EINVAL with the first line of the log when it does not compile.
int peak_take_kernel(struct peak_task *task, const char *module, const char *entry,
                     struct tare_error *error);
// Whether another launch shape, or another kernel, may do better after this status.
bool peak_may_go_on(int status);
void peak_add_memory(struct peak_task *task, struct tare_memory *memory);
void peak_add_value(struct peak_task *task, uint32_t value);
// The last argument: how often the kernel's loop turns. peak_set_turns changes it.
void peak_add_turns(struct peak_task *task);
void peak_set_turns(struct peak_task *task, uint32_t turns);
// Launches once and waits. *ps (may be NULL): by the device's stamps, else by the host's clock.
// limit_ns: TARE_LIMIT_DEFAULT_NS, or TARE_LIMIT_NATIVE once that has gone well.
int peak_launch(struct peak_task *task, int64_t limit_ns, int64_t *ps, struct tare_error *error);
// -ENODATA: by its stamps a launch takes no time.
int peak_no_time(struct tare_error *error);
// Finds a number of turns, at least `least`, with which a launch lasts as long as it should; fewer
// where the device's stamps do not grow with them, and -ENODATA where they tell of no time at all.
int peak_calibrate(struct peak_task *task, uint32_t least, struct tare_error *error);
int peak_fill(struct peak *peak, struct tare_memory *memory, uint64_t bytes, uint32_t pattern,
              struct tare_error *error);
// Copies the beginning of a device memory into peak->host.
int peak_fetch(struct peak *peak, struct tare_memory *memory, uint64_t bytes,
               struct tare_error *error);
// Which judgement a check comes to. On the simulated device, whose kernels compute nothing, there
// is nothing to judge.
enum tare_verified peak_judge(const struct peak *peak, bool right);
// Replaces the method of the measurement's only figure.
void peak_method(struct tare_measurement *measurement, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// ---- the groups: begin makes the launch and says what it does in one launch (figure->work), end
// checks the results. All of them as in struct tare_measurement.

int peak_begin_compute(struct tare_measurement *measurement, struct tare_error *error);
int peak_end_compute(struct tare_measurement *measurement, enum tare_verified *verified,
                     struct tare_error *error);
int peak_begin_memory(struct tare_measurement *measurement, struct tare_error *error);
int peak_end_memory(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error);
int peak_begin_sweep(struct tare_measurement *measurement, struct tare_error *error);
int peak_end_sweep(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error);
int peak_begin_local(struct tare_measurement *measurement, struct tare_error *error);
int peak_end_local(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error);

int peak_begin_tensor(struct tare_measurement *measurement, struct tare_error *error);
int peak_sample_tensor(struct peak_task *task, int64_t *ps, struct tare_error *error);
int peak_end_tensor(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error);
// Chooses the sizes of each precision, up to where products last long enough; the first of each
// loads the library.
int peak_survey_tensor(struct peak *peak, struct tare_error *error);

// Writes a pattern over a whole buffer, and looks whether it is there: vector `i` of `width`
// numbers holds i * pattern.
int peak_write_pattern(struct peak *peak, struct tare_memory *memory, uint32_t width,
                       uint32_t pattern, struct tare_error *error);
uint32_t peak_next_pattern(struct peak *peak);
// Clears the status, or reads what the kernel has left there: true if it ran all its turns and
// found nothing wrong.
int peak_clear_status(struct peak *peak, struct tare_error *error);
int peak_read_status(struct peak_task *task, bool *right, struct tare_error *error);

// Buffers as large as device and clock want them. Their lack is no error: what needs them says so.
int peak_open_buffers(struct peak *peak, struct tare_error *error);
void peak_close_buffers(struct peak *peak);
// Chooses the first shape for reading memory, and the launch of the sweep.
int peak_survey_memory(struct peak *peak, struct tare_error *error);
int peak_survey_sweep(struct peak *peak, struct tare_error *error);

// ---- checks of compute (check.c)

// The chains of a type and width.
uint32_t peak_chains(enum peak_type type, uint32_t width);
// What the chains begin with: chain * width + lane = `index`.
double peak_start(uint32_t index);
uint32_t peak_start_int(uint32_t index);
#define PEAK_FACTOR 0.99
#define PEAK_ADDEND 0.01
#define PEAK_FACTOR_INT 1664525u
#define PEAK_ADDEND_INT 1013904223u
#define PEAK_CLASSES 8  // work-items i and i + 8 compute the same
#define PEAK_ROUND 512u // multiply-adds of one number a round
uint32_t peak_type_bytes(enum peak_type type);
// Whether the outputs of `items` work-items are what `rounds` rounds must yield: integers exactly,
// the others within the bound of their rounding errors.
bool peak_check_compute(enum peak_type type, uint32_t width, uint32_t rounds, const void *output,
                        uint64_t items);
// Rounds that show most: about as many steps at each width, few enough that they are not at rest.
uint32_t peak_check_rounds(uint32_t width);
// "fused" or "multiplied, then added, with two roundings", by which of both the output of so many
// rounds matches to the last bit; NULL where that cannot be told.
const char *peak_tell_fused(enum peak_type type, uint32_t width, const void *output);

// ---- what follows (results.c)

// Keeps the clock of the measurement that ends now.
void peak_keep_clock(const struct peak_task *task);
// The clock while a cell was sampled; NULL where it is not known.
const struct peak_clock *peak_find_clock(const struct peak *peak, const struct tare_cell *cell);
// Cells of a ceiling (labels `group`, `what`): the clock, what `best` is for each tick of it and
// each unit, and, where theory (per second at the device's highest clock) is finite, its share of
// what theory is at that clock.
void peak_add_clock(const struct peak *peak, enum tare_ceiling ceiling,
                    const struct peak_clock *clock, double best, double theory);

// Ceilings, plots, conclusions and warnings. left_out: what the budget had no room for, or NULL.
void peak_conclude(struct peak *peak, const char *left_out);
