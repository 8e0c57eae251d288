// SPDX-License-Identifier: Apache-2.0
// What every measuring command shares: a device, a budget, a seed, progress, interruption, and the
// one loop that samples cells.
#pragma once
#include "backend/backend.h"
#include "base/random.h"
#include "result/result.h"

#include <signal.h>

// Called now and then while measuring; `cells` counts the measurements finished of `total`.
// remaining_ns is an estimate, -1 while unknown.
typedef void tare_progress_function(void *context, const char *what, size_t cells, size_t total,
                                    int64_t remaining_ns);

// Nobody is advised to measure for longer.
#define TARE_LONGEST_ADVICE_S 600

// The caller fills in everything down to `interrupted`; the rest belongs to tare_run_begin.
struct tare_run {
	struct tare_device *device;     // open
	const struct tare_facts *facts; // of that device
	struct tare_result *result;     // gathers what is measured
	int64_t budget_ns;              // for the whole command; 0: the command's default
	size_t samples; // of each figure, whatever the budget; 0: as the budget allows
	uint64_t seed;
	tare_progress_function *progress; // NULL: none
	void *progress_context;
	const volatile sig_atomic_t *interrupted; // set by a signal handler; may be NULL
	// "1.0": the engine for the queues as its user names it; NULL: none
	const char *engine_word;
	const struct tare_result *listing; // the devices that this one was chosen from; may be NULL

	struct tare_random random;
	struct tare_host_time started; // on the device's host clock
	size_t cells_done, cells_total;
	double needed_ns;        // a budget in which everything would have converged
	size_t open_figures;     // did not converge for lack of samples
	size_t limited_figures;  // did not and would not: the timer's step, the clock's mapping
	double worst;            // widest of both (tare_cell_spread)
	size_t without_interval; // of both
	void (*between)(void *context); // called between measurements; NULL: none
	void *between_context;
	bool is_part;    // of a run that says for all its parts what did not converge
	bool simulated;  // virtual time: no figure of this machine may enter
	uint32_t engine; // of the queues, where the API binds them to one (measure/core/engines.h)
	int64_t host_step_ns; // the host clock's step (measure/host/step.h), measured once
	struct tare_watch
	    *watch; // of the device's telemetry, while sampling (measure/core/telemetry.h)
};

// Starts the budget and writes what is common into the document: host, device (unless the caller
// has added it already), seed and budget. Every tare_measure_* function calls it first.
// Returns 0, -ENOMEM, or -EINVAL: there is no such engine.
int tare_run_begin(struct tare_run *run, int64_t default_budget_ns, struct tare_error *error);

// Starts the budget anew: allocating and filling buffers is not part of it.
void tare_run_restart(struct tare_run *run);

// True when the user asked to stop.
bool tare_run_interrupted(const struct tare_run *run);
// Nanoseconds of the budget that are left, on the device's host clock; never below 0.
int64_t tare_run_remaining_ns(const struct tare_run *run);
// Now, on the device's host clock.
struct tare_host_time tare_run_now(const struct tare_run *run);

// ---- sampling

#define TARE_FIGURES 8
// A sample function writes this where it has no figure this time; the figure's `absent` says why.
#define TARE_NO_SAMPLE INT64_MIN

// One figure of a measurement. Each becomes a cell of the document.
struct tare_figure {
	const char *quantity;  // "time"
	const char *unit;      // "ns", or "ps" for what is divided by a batch
	const char *source;    // "device" or "host"
	const char *rate_unit; // "GB/s" to show the figure as a rate of `work` too; NULL: no
	double work;           // bytes moved in one sample's time
	double quantum;        // the timer's step in `unit`, already divided by the batch
	double systematic;     // error in `unit` that no repetition removes (a clock mapping's
	                       // residual); the interval is widened by it
	int64_t floor; // a median below it is not reported ("below the timer's floor"); 0: none
	struct tare_labels labels; // owned; moves into the cell
	char *method;              // owned; moves into the cell
	size_t stamp_note_at;      // where in it begins what is said of stamps; 0: nothing is
	char absent[320];          // why there is no figure; "" when there is one
	bool refused;              // set once samples cannot be trusted; `absent` says why, and
	                           // what samples there were are not used
	size_t cell; // index of its cell in the document (tare_run_measure fills it in)
};

// One thing that is measured in turn: begin, a warm-up, samples, end.
struct tare_measurement {
	char title[96]; // for progress: "host to device, 64 KB"
	struct tare_figure figures[TARE_FIGURES];
	size_t figure_count;
	// Prepares what the samples need; may fill in `absent`, `quantum`, labels. NULL: none.
	int (*begin)(struct tare_measurement *measurement, struct tare_error *error);
	// Measures once; writes each figure, in its unit, or TARE_NO_SAMPLE. 0 or a negative errno;
	// -EAGAIN: nothing this time (stamps fell into two epochs), try again.
	int (*sample)(struct tare_measurement *measurement, int64_t values[TARE_FIGURES],
	              struct tare_error *error);
	// Releases what begin made, and verifies, outside the timed window. Called whenever begin
	// was, even if begin failed. NULL: none.
	int (*end)(struct tare_measurement *measurement, enum tare_verified *verified,
	           struct tare_error *error);
	void *context;            // the command's
	bool no_warm_up;          // every call is a sample: there is no second first touch
	size_t most_samples;      // more are not worth what they cost here; 0: no limit
	double weight;            // of its share of the budget beside the others'; 0: 1
	bool failed;              // memory ran out while it was planned: tare_run_measure says so
	struct tare_figure spare; // what tare_measurement_add returns then
};

// Samples all of them in random order, each until its figures converge or its share of the budget
// (what is left, by the weights of the measurements that are left; those of later calls count 1) is
// used, and fills in their cells. Samples are
// kept at most every half millisecond: spread over the same time they tell more than in a row.
// Cells are in the order of `measurements`. A measurement that the device cannot do (-ENOSYS,
// -ENOTSUP, -ENODATA, -ENOMEM, -EINVAL, -EIO, -EOVERFLOW) becomes absent cells with the reason.
// Returns 0; -EINTR when the user stopped it; -ENODEV, -ETIMEDOUT when the device is gone. The
// document holds what was measured in every case. May be called several times in one run: *total
// counts the measurements of later calls too (run->cells_total is set by the caller, or 0).
int tare_run_measure(struct tare_run *run, struct tare_measurement *measurements, size_t count,
                     struct tare_error *error);

// Adds the warning that counts the cells, also of parts, that did not converge, with the widest
// interval and a budget that would do; of a part, nothing.
void tare_run_warn_convergence(struct tare_run *run);
// Adds what did not converge in a part to what the whole says.
void tare_run_add_noise(struct tare_run *whole, const struct tare_run *part);

// Whether a run that ended with `status` still has figures worth concluding and writing, in its
// document or in the parts of it: the user stopped it, or the device was lost or stuck in the
// middle, after at least one figure.
bool tare_run_is_partial(const struct tare_run *run, int status);

// Ends a run that has figures, once all else is in its document: adds what did not converge, and
// the warning "device-lost" with the sentence of *error when the device ended it. Returns `status`,
// or -ENOMEM when memory ran out while the document was built.
int tare_run_end(struct tare_run *run, int status, struct tare_error *error);

// 0, or -EBADMSG with how many figures are of `of`, whose data were found wrong.
int tare_run_fail_if_wrong(const struct tare_run *run, const char *of, struct tare_error *error);

// The next unused figure of a measurement, with a copy of `method` (printf). Never NULL: out of
// memory or figures it is a spare, and the measurement has failed.
struct tare_figure *tare_measurement_add(struct tare_measurement *measurement, const char *quantity,
                                         const char *unit, const char *source,
                                         const char *method_format, ...)
    __attribute__((format(printf, 5, 6)));
void tare_figure_clear(struct tare_figure *figure);
void tare_measurement_clear(struct tare_measurement *measurement);

// How often to repeat something that lasts `duration` so that one sample is no less than 100 steps
// of a timer whose step is `step` (same unit); then 400, because an interval is never narrower than
// a step on each side, and 1 % of 100 steps is one step. At least 1, at most `limit`.
uint32_t tare_batch(double duration, double step, uint32_t limit);
