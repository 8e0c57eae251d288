// SPDX-License-Identifier: Apache-2.0
// Multiply-adds of each type and width, in registers.
#include "measure/peak/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Several times what a device holds at once, and whole multiples of it, so that no unit ends early.
#define GROUPS_PER_UNIT 32
#define GROUP_SIZE 256

static const struct {
	const char *module, *title;
	enum tare_fact_id fact; // that says whether the device has it; 0: every device has
} types[PEAK_TYPES] = {
	[PEAK_FP32] = { "peak_fp32", "single precision", 0 },
	[PEAK_FP64] = { "peak_fp64", "double precision", TARE_FACT_FP64 },
	[PEAK_FP16] = { "peak_fp16", "half precision", TARE_FACT_FP16 },
	[PEAK_INT32] = { "peak_integer", "integers of 32 bits", 0 },
};
const char *const peak_type_names[PEAK_TYPES] = { "fp32", "fp64", "fp16", "int32" };

static bool known_to_lack(const struct peak *peak, enum peak_type type)
{
	const struct tare_facts *facts = peak->run->facts;
	enum tare_fact_id id = types[type].fact;

	return id && facts && facts->fact[id].present && facts->fact[id].count == 0;
}

static uint16_t half_of(double value)
{
	int exponent;
	double mantissa = frexp(value, &exponent); // value is in [2^-14, 2048)

	return (uint16_t)((exponent + 14) << 10 | ((int)lrint(ldexp(mantissa, 11)) & 1023));
}

// What the chains begin with, in the device's type.
static int write_start(struct peak_task *task, struct tare_error *error)
{
	struct peak *peak = task->peak;
	uint32_t count = peak_chains(task->type, task->width) * task->width;
	uint32_t bytes = count * peak_type_bytes(task->type);
	struct tare_operation copy = {
		.type = TARE_OPERATION_COPY,
		.source = { peak->host, 0, bytes },
		.destination = { peak->start, 0, bytes },
	};

	for (uint32_t i = 0; i < count; i++) {
		char *at = (char *)peak->host->host + i * peak_type_bytes(task->type);
		double wide = peak_start(i);
		float single = (float)wide;
		uint16_t half = half_of(wide);
		uint32_t whole = peak_start_int(i);
		const void *from = task->type == PEAK_FP64   ? (const void *)&wide
		                   : task->type == PEAK_FP16 ? (const void *)&half
		                   : task->type == PEAK_FP32 ? (const void *)&single
		                                             : (const void *)&whole;
		memcpy(at, from, peak_type_bytes(task->type));
	}
	return tare_bench_run(peak->bench.timed, &copy, error);
}

// The factor and the addend: half precision takes them as single and rounds them itself.
static void add_constants(struct peak_task *task)
{
	const void *values[] = { &task->factor, &task->addend };

	if (task->type == PEAK_INT32) {
		peak_add_value(task, PEAK_FACTOR_INT);
		peak_add_value(task, PEAK_ADDEND_INT);
		return;
	}
	if (task->type == PEAK_FP64) {
		task->factor.d = PEAK_FACTOR;
		task->addend.d = PEAK_ADDEND;
	} else {
		task->factor.f = (float)PEAK_FACTOR;
		task->addend.f = (float)PEAK_ADDEND;
	}
	for (int i = 0; i < 2; i++)
		task->arguments[task->argument_count++] = (struct tare_argument){
			.type = TARE_ARGUMENT_VALUE,
			.value = values[i],
			.bytes = task->type == PEAK_FP64 ? sizeof(double) : sizeof(float),
		};
}

static int build(struct peak_task *task, struct tare_error *error)
{
	struct peak *peak = task->peak;
	char entry[32];
	int status;

	snprintf(entry, sizeof entry, "peak_%s_%u", peak_type_names[task->type], task->width);
	status = peak_take_kernel(task, types[task->type].module, entry, error);
	if (status < 0)
		return status;
	task->group_size = task->group_limit < GROUP_SIZE ? task->group_limit : GROUP_SIZE;
	task->groups = peak->units * GROUPS_PER_UNIT;
	task->argument_count = 0;
	peak_add_memory(task, peak->output);
	peak_add_memory(task, peak->start);
	add_constants(task);
	peak_add_turns(task);
	return 0;
}

static uint64_t items_of(const struct peak_task *task)
{
	uint64_t fit = task->peak->output_bytes / peak_type_bytes(task->type);
	uint64_t items = (uint64_t)task->groups * task->group_size;

	return items < fit ? items : fit;
}

int peak_begin_compute(struct tare_measurement *measurement, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	int status = 0;

	if (known_to_lack(task->peak, task->type))
		return tare_fail(error, ENOTSUP, "kernels have no %s here, as the driver says",
		                 types[task->type].title);
	if (!task->peak->output)
		return tare_fail(error, ENOMEM, "%s", task->peak->unbuffered);
	if (!task->kernel)
		status = build(task, error);
	status = status ?: write_start(task, error);
	status = status ?: peak_calibrate(task, 1, error);
	measurement->figures[0].work = 2.0 * (double)items_of(task) * PEAK_ROUND * task->turns;
	return status;
}

// The last timed launch's results, then those of a few rounds, which tell more of the steps.
static int check(struct peak_task *task, bool *right, const char **fused, struct tare_error *error)
{
	struct peak *peak = task->peak;
	uint64_t items = items_of(task), bytes = items * peak_type_bytes(task->type);
	uint32_t turns = task->turns, few = peak_check_rounds(task->width);
	int status = peak_fetch(peak, peak->output, bytes, error);

	if (status == 0) {
		*right =
		    peak_check_compute(task->type, task->width, turns, peak->host->host, items);
		status = peak_fill(peak, peak->output, bytes, 0xa5a5a5a5u, error);
	}
	peak_set_turns(task, few);
	status = status ?: peak_launch(task, TARE_LIMIT_DEFAULT_NS, NULL, error);
	status = status ?: peak_fetch(peak, peak->output, bytes, error);
	if (status == 0) {
		*right = *right &&
		         peak_check_compute(task->type, task->width, few, peak->host->host, items);
		*fused = peak_tell_fused(task->type, task->width, peak->host->host);
	}
	peak_set_turns(task, turns);
	return status;
}

int peak_end_compute(struct tare_measurement *measurement, enum tare_verified *verified,
                     struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	const char *fused = NULL, *more = measurement->figures[0].method;
	bool right = false;
	int status = 0;

	if (!task->kernel || task->turns == 0)
		return 0;
	if (!task->peak->run->simulated)
		status = check(task, &right, &fused, error);
	if (status == 0) {
		*verified = peak_judge(task->peak, right);
		peak_method(measurement, "%s; %u groups of %u work-items, %u rounds%s%s", more,
		            task->groups, task->group_size, task->turns, fused ? "; " : "",
		            fused ? fused : "");
	}
	tare_kernel_free(task->kernel);
	task->kernel = NULL;
	return status;
}
