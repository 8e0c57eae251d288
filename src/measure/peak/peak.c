// SPDX-License-Identifier: Apache-2.0
#include "measure/peak/peak.h"

#include "backend/call.h"
#include "base/units.h"
#include "measure/core/precision.h"
#include "measure/peak/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_NS INT64_C(20000000)
#define LEAST_SWEEP (UINT64_C(4) << 10)
#define MOST_SWEEP (UINT64_C(256) << 20)
#define TASKS 96
// One of each kind gets so many times the share of the rest.
#define FIRST_WEIGHT 2

// How much a budget has room for: bits of the widths 1, 2, 4, 8, 16, and steps of the sweep.
struct detail {
	int64_t up_to_ns;
	uint32_t compute, memory, local, strides;
	uint32_t sweep_step;
	const char *left_out; // NULL: nothing
};
static const struct detail details[] = {
	{ INT64_C(5000000000), 0x9, 0x14, 0x4, 0x8, 16,
	  "widths but 1 and 8 (memory 4 and 16, local 4), strides but 16, most working sets" },
	{ INT64_C(15000000000), 0xd, 0x15, 0x5, 0x2a, 4, "some widths, strides and working sets" },
	{ INT64_MAX, 0x1f, 0x1f, 0x1f, 0x3f, 2, NULL },
};

static const struct detail *detail_of(const struct peak *peak)
{
	size_t i = 0;

	while (peak->run->budget_ns > details[i].up_to_ns)
		i++;
	return &details[i];
}

// ---- the plan

struct plan {
	struct tare_measurement measurements[TASKS];
	struct peak_task tasks[TASKS];
	size_t count, first; // `first` of them come before the others
};

static int sample(struct tare_measurement *measurement, int64_t *values, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct peak *peak = task->peak;

	// Launches at equal distances beat with the ticks of a clock that nothing disturbs.
	if (peak->run->simulated && peak->bench.stamped)
		tare_device_pause(
		    peak->bench.device,
		    (int64_t)tare_random_below(&peak->run->random,
		                               1 + (uint64_t)(4e-3 * peak->bench.step_ps)));
	if (task->group == PEAK_TENSOR)
		return peak_sample_tensor(task, &values[0], error);
	return peak_launch(task, TARE_LIMIT_NATIVE, &values[0], error);
}

static int begin(struct tare_measurement *measurement, struct tare_error *error)
{
	static int (*const begins[])(struct tare_measurement *, struct tare_error *) = {
		[PEAK_COMPUTE] = peak_begin_compute, [PEAK_MEMORY] = peak_begin_memory,
		[PEAK_SWEEP] = peak_begin_sweep,     [PEAK_LOCAL] = peak_begin_local,
		[PEAK_TENSOR] = peak_begin_tensor,
	};
	struct peak_task *task = measurement->context;

	task->mark = tare_telemetry_mark(task->peak->run);
	return begins[task->group](measurement, error);
}

static int end(struct tare_measurement *measurement, enum tare_verified *verified,
               struct tare_error *error)
{
	static int (*const ends[])(struct tare_measurement *, enum tare_verified *,
	                           struct tare_error *) = {
		[PEAK_COMPUTE] = peak_end_compute, [PEAK_MEMORY] = peak_end_memory,
		[PEAK_SWEEP] = peak_end_sweep,     [PEAK_LOCAL] = peak_end_local,
		[PEAK_TENSOR] = peak_end_tensor,
	};
	struct peak_task *task = measurement->context;

	peak_keep_clock(task);
	return ends[task->group](measurement, verified, error);
}

static const char *method_of(const struct peak_task *task)
{
	static const char *const memory[PEAK_OPS] = {
		[PEAK_READ] = "read and added up, bytes read",
		[PEAK_WRITE] = "written, bytes written",
		[PEAK_COPY] = "b = a, bytes read and written, without what a cache reads before "
		              "it writes",
		[PEAK_TRIAD] = "a = b + s * c, bytes read and written, without what a cache reads "
		               "before it writes",
		[PEAK_STRIDED] = "every so many'th number read and added up; only the bytes of "
		                 "these numbers count, though more are moved",
	};

	switch (task->group) {
	case PEAK_COMPUTE:
		return "independent chains of value = value * factor + addend in registers; a "
		       "multiply-add counts 2";
	case PEAK_MEMORY:
		return memory[task->op];
	case PEAK_SWEEP:
		return "one work-group on each unit goes round the whole working set, each from "
		       "a place of its own; the total of all units";
	case PEAK_TENSOR:
		return "products of square matrices by the vendor's library; a multiply-add counts "
		       "2";
	case PEAK_LOCAL:
	case PEAK_GROUPS:
		break;
	}
	return "each work-item reads and writes vectors of its own that lie beside its "
	       "neighbours'; "
	       "bytes read and written";
}

static void title_of(const struct peak_task *task, char *text, size_t size)
{
	char bytes[TARE_UNIT_TEXT];

	switch (task->group) {
	case PEAK_COMPUTE:
		snprintf(text, size, "%s, width %u", peak_type_names[task->type], task->width);
		break;
	case PEAK_MEMORY:
		if (task->op == PEAK_STRIDED)
			snprintf(text, size, "memory, every %uth number", task->stride);
		else
			snprintf(text, size, "memory, %s, width %u", peak_op_names[task->op],
			         task->width);
		break;
	case PEAK_SWEEP:
		snprintf(text, size, "working set of %s", tare_format_bytes(task->bytes, bytes));
		break;
	case PEAK_LOCAL:
		snprintf(text, size, "local memory, width %u", task->width);
		break;
	case PEAK_TENSOR:
		snprintf(text, size, "matrix library, %s, n = %u",
		         tare_precision_name(task->precision), task->n);
		break;
	case PEAK_GROUPS:
		break;
	}
}

static void add_labels(const struct peak_task *task, struct tare_labels *labels)
{
	tare_labels_set_text(labels, "group", peak_group_names[task->group]);
	if (task->group == PEAK_TENSOR) {
		tare_labels_set_text(labels, "type", tare_precision_name(task->precision));
		if (task->n != 0)
			tare_labels_set_number(labels, "n", task->n);
		return;
	}

	if (task->group == PEAK_COMPUTE)
		tare_labels_set_text(labels, "type", peak_type_names[task->type]);
	if (task->group == PEAK_MEMORY)
		tare_labels_set_text(labels, "op", peak_op_names[task->op]);
	if (task->group != PEAK_SWEEP)
		tare_labels_set_number(labels, "width", task->width);
	if (task->group == PEAK_MEMORY && task->op == PEAK_STRIDED)
		tare_labels_set_number(labels, "stride", task->stride);
	if (task->group == PEAK_SWEEP)
		tare_labels_set_number(labels, "bytes", (int64_t)task->bytes);
}

static void add_task(struct peak *peak, struct plan *plan, struct peak_task made)
{
	const struct tare_bench *bench = &peak->bench;
	struct peak_task *task = &plan->tasks[plan->count];
	struct tare_measurement *measurement = &plan->measurements[plan->count];
	struct tare_figure *figure;

	if (plan->count == TASKS) {
		tare_result_fail(peak->run->result);
		return;
	}
	plan->count++;
	made.peak = peak;
	*task = made;
	*measurement = (struct tare_measurement){
		.begin = begin,
		.sample = sample,
		.end = end,
		.context = task,
		.weight = made.first ? FIRST_WEIGHT : 1,
	};
	title_of(task, measurement->title, sizeof measurement->title);
	figure = tare_measurement_add(measurement, "time", "ps", bench->stamped ? "device" : "host",
	                              "%s%s%s", method_of(task),
	                              bench->stamped ? "" : "; launching included",
	                              tare_bench_stamp_note(bench));
	figure->quantum =
	    bench->stamped ? bench->step_ps : 1000.0 * (double)peak->run->host_step_ns;
	figure->rate_unit = task->group == PEAK_TENSOR    ? "GFLOP/s"
	                    : task->group != PEAK_COMPUTE ? "GB/s"
	                    : task->type == PEAK_INT32    ? "Gop/s"
	                                                  : "GFLOP/s";
	add_labels(task, &figure->labels);
}

// The working set reaches beyond the largest cache, as far as the buffer does.
static uint64_t sweep_end(const struct peak *peak)
{
	uint64_t end = LEAST_SWEEP;
	uint64_t wanted = peak->cache_bytes ? 4 * peak->cache_bytes : MOST_SWEEP;

	while (end < wanted && end < MOST_SWEEP && end * 2 <= peak->buffer_bytes)
		end *= 2;
	return end;
}

// The largest size of each precision, or the others where the budget has room for all.
static void add_tensors(struct peak *peak, struct plan *plan, bool first)
{
	for (int i = TARE_BLAS_TF32; peak->has_library && i < TARE_BLAS_PRECISION_COUNT; i++) {
		const struct peak_tensor *tensor = &peak->tensors[i];
		struct peak_task task = { .group = PEAK_TENSOR,
			                  .precision = (enum tare_blas_precision)i,
			                  .first = first };
		if (first) {
			task.n = tensor->count ? tensor->n[tensor->count - 1] : 0;
			add_task(peak, plan, task);
		}
		for (uint32_t k = 0;
		     !first && detail_of(peak)->compute == 0x1f && k + 1 < tensor->count; k++) {
			task.n = tensor->n[k];
			add_task(peak, plan, task);
		}
	}
}

// The tasks of one pass: one of each kind, or the rest.
static void add_pass(struct peak *peak, struct plan *plan, bool first)
{
	const struct detail *detail = detail_of(peak);
	uint64_t last = sweep_end(peak);

	for (uint32_t w = 0; w < PEAK_WIDTHS; w++) {
		struct peak_task task = { .width = 1u << w, .stride = 1, .first = first };
		for (int type = 0; type < PEAK_TYPES; type++)
			if ((detail->compute >> w & 1) && (task.width == 8) == first) {
				task.group = PEAK_COMPUTE;
				task.type = (enum peak_type)type;
				add_task(peak, plan, task);
			}
		for (int op = 0; op < PEAK_STRIDED; op++)
			if ((detail->memory >> w & 1) && (task.width == 4) == first) {
				task.group = PEAK_MEMORY;
				task.op = (enum peak_op)op;
				add_task(peak, plan, task);
			}
		task.group = PEAK_LOCAL;
		if ((detail->local >> w & 1) && (task.width == 4) == first)
			add_task(peak, plan, task);
	}
	for (uint32_t s = 0; s < 6; s++)
		if ((detail->strides >> s & 1) && (s == 3) == first)
			add_task(peak, plan,
			         (struct peak_task){ .group = PEAK_MEMORY,
			                             .op = PEAK_STRIDED,
			                             .width = 1,
			                             .stride = 2u << s,
			                             .first = first });
	// From the largest down, so that the largest is always among them; the first pass has both
	// ends.
	for (uint64_t bytes = last; bytes >= LEAST_SWEEP; bytes /= detail->sweep_step) {
		bool end = bytes == last || bytes / detail->sweep_step < LEAST_SWEEP;
		if (end == first)
			add_task(
			    peak, plan,
			    (struct peak_task){
			        .group = PEAK_SWEEP, .bytes = bytes, .width = 4, .first = first });
	}
	add_tensors(peak, plan, first);
}

// ---- before and after

static uint64_t fact_count(const struct peak *peak, enum tare_fact_id id, uint64_t unknown)
{
	const struct tare_facts *facts = peak->run->facts;
	return facts && facts->fact[id].present && facts->fact[id].count ? facts->fact[id].count
	                                                                 : unknown;
}

static void look_at_device(struct peak *peak)
{
	uint64_t limit = fact_count(peak, TARE_FACT_WORK_GROUP, 256);
	int64_t least_ps = (int64_t)(400 * peak->bench.step_ps);
	int64_t budget_ns = peak->run->budget_ns;
	uint64_t units = fact_count(peak, TARE_FACT_UNITS, 1);

	peak->units = units < 4096 ? (uint32_t)units : 4096;
	peak->cache_bytes = fact_count(peak, TARE_FACT_CACHE, 0);
	peak->group_limit = 1;
	while (peak->group_limit * 2 <= limit && peak->group_limit < 1024)
		peak->group_limit *= 2;
	// 2 to 10 ms a launch.
	peak->target_ps = 1000 * (budget_ns / 6000);
	if (peak->target_ps < INT64_C(2000000000))
		peak->target_ps = INT64_C(2000000000);
	if (peak->target_ps > INT64_C(10000000000))
		peak->target_ps = INT64_C(10000000000);
	if (peak->target_ps < least_ps)
		peak->target_ps = least_ps;
	peak->trial_ns = budget_ns / 300;
}

static void clean_up(struct peak *peak)
{
	peak_close_buffers(peak);
	for (size_t i = 0; i < PEAK_MODULES; i++)
		tare_module_free(peak->modules[i].module);
	tare_bench_close(&peak->bench);
}

// What the first pass launches is built and launched once before the budget begins: some drivers
// compile at the first launch, for longer than a small budget lasts.
static int warm_up(struct plan *plan, struct tare_error *error)
{
	int status = 0;

	for (size_t i = 0; i < plan->first && status == 0; i++) {
		struct tare_measurement *measurement = &plan->measurements[i];
		struct peak_task *task = &plan->tasks[i];
		struct tare_error why = { 0 };
		if (tare_run_interrupted(task->peak->run))
			return 0;
		if (task->group != PEAK_SWEEP && task->group != PEAK_TENSOR)
			status = begin(measurement, &why);
		tare_kernel_free(task->kernel);
		task->kernel = NULL;
		if (tare_device_is_gone(status))
			*error = why;
		else
			status = 0; // its turn comes, and then it says what is wrong
	}
	return status;
}

static int measure(struct peak *peak, struct plan *plan, struct tare_error *error)
{
	struct tare_run *run = peak->run;
	int status;

	if (!run->simulated) {
		status = warm_up(plan, error);
		if (status < 0)
			return status;
	}
	tare_run_restart(run);
	run->cells_total = plan->count;
	status = tare_run_measure(run, plan->measurements, plan->first, error);
	if (status == 0)
		status = tare_run_measure(run, plan->measurements + plan->first,
		                          plan->count - plan->first, error);
	return status;
}

static int measure_and_conclude(struct peak *peak, struct tare_error *error)
{
	struct plan *plan = calloc(1, sizeof *plan);
	int status;

	if (!plan)
		return tare_fail(error, ENOMEM, "out of memory");
	add_pass(peak, plan, true);
	plan->first = plan->count;
	add_pass(peak, plan, false);
	status = measure(peak, plan, error);
	for (size_t i = 0; i < plan->count; i++) {
		tare_kernel_free(plan->tasks[i].kernel);
		tare_measurement_clear(&plan->measurements[i]);
	}
	free(plan);
	if (status < 0 && !tare_run_is_partial(peak->run, status))
		return status;
	peak_conclude(peak, detail_of(peak)->left_out);
	return tare_run_end(peak->run, status, error);
}

// A survey that failed for one kernel's sake is no reason to give up the others.
static int forgive(int status)
{
	return status == -EINVAL || status == -ENOTSUP || status == -EIO ? 0 : status;
}

int tare_measure_peak(struct tare_run *run, struct tare_error *error)
{
	struct peak peak = { .run = run };
	struct tare_error own = { 0 };
	int status;

	if (!error)
		error = &own;
	status = tare_run_begin(run, TARE_PEAK_BUDGET_NS, error);
	if (status < 0)
		return status;
	status = tare_bench_open(run, FIT_NS, &peak.bench, error);
	look_at_device(&peak);
	status = status ?: peak_open_buffers(&peak, error);
	status = status ?: forgive(peak_survey_memory(&peak, error));
	status = status ?: forgive(peak_survey_sweep(&peak, error));
	status = status ?: forgive(peak_survey_tensor(&peak, error));
	status = status ?: measure_and_conclude(&peak, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	clean_up(&peak);
	return status ?: tare_run_fail_if_wrong(run, "kernels whose results were wrong", error);
}
