// SPDX-License-Identifier: Apache-2.0
// Reading a working set again and again, and local memory.
#include "measure/peak/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SWEEP_TURN 8   // vectors a turn
#define LOCAL_SLOTS 8  // vectors that a work-item has in local memory
#define LOCAL_GROUP 64 // kernels/peak_local.c is made for this size
#define LOCAL_ADD 12345u
#define GROUPS_PER_UNIT 32
// A survey of the launches that a sweep may use is made on a set of this size.
#define SURVEY_BYTES (UINT64_C(64) << 10)
// All units together read the set at least so often in one launch: more than what is left over of
// it from the launch before.
#define PASSES 2

// A smaller group should be better by so much.
#define WORTH 1.02

// One group a unit: the larger, the more it has under way.
static const struct {
	uint32_t width, group_size;
} launches[] = { { 4, 1024 }, { 16, 1 }, { 4, 512 }, { 4, 256 } };
#define LAUNCHES (sizeof launches / sizeof *launches)

// One work-group on each unit, which goes round the whole set: so between two reads of a place by a
// unit it has read the whole set, and nothing that is smaller can hold it. Only a set with fewer
// vectors than a group has items is read by several groups of a unit.
static int make_sweep(struct peak_task *task, uint32_t width, uint32_t group_size,
                      struct tare_error *error)
{
	struct peak *peak = task->peak;
	uint64_t vectors = task->bytes / (4 * width);
	char entry[32];
	int status;

	task->width = width;
	snprintf(entry, sizeof entry, "peak_sweep_%u", width);
	status = peak_take_kernel(task, "peak_memory", entry, error);
	if (status < 0)
		return status;
	task->group_size = group_size < task->group_limit ? group_size : task->group_limit;
	task->groups = peak->units;
	for (; task->group_size > vectors; task->group_size /= 2)
		task->groups *= 2;
	task->pattern = peak_next_pattern(peak);
	task->argument_count = 0;
	peak_add_memory(task, peak->buffers[0]);
	peak_add_memory(task, peak->status);
	peak_add_value(task, (uint32_t)task->bytes);
	peak_add_value(task, task->pattern);
	peak_add_turns(task);
	return 0;
}

static double bytes_read(const struct peak_task *task)
{
	return 4.0 * task->width * SWEEP_TURN * task->turns * task->groups * task->group_size;
}

static uint32_t least_turns(const struct peak_task *task)
{
	double turn = 4.0 * task->width * SWEEP_TURN * task->groups * task->group_size;

	return 1 + (uint32_t)(PASSES * (double)task->bytes / turn);
}

// The rate of one launch, in bytes a picosecond.
static int try_launch(struct peak *peak, size_t i, double *rate, struct tare_error *error)
{
	struct peak_task task = { .peak = peak, .bytes = SURVEY_BYTES };
	int64_t ps = 0;
	int status = make_sweep(&task, launches[i].width, launches[i].group_size, error);

	status = status ?: peak_calibrate(&task, 1, error);
	for (int k = 0; status == 0 && k < 2; k++)
		status = peak_launch(&task, TARE_LIMIT_NATIVE, &ps, error);
	*rate = status == 0 && ps > 0 ? bytes_read(&task) / (double)ps : 0;
	tare_kernel_free(task.kernel);
	return status;
}

int peak_survey_sweep(struct peak *peak, struct tare_error *error)
{
	double best = 0;

	peak->sweep_width = launches[0].width;
	peak->sweep_group = launches[0].group_size;
	for (size_t i = 0; peak->buffers[0] && !peak->run->samples && i < LAUNCHES; i++) {
		double rate;
		int status;
		// What suits a CPU does not suit a GPU: no need to try its kin.
		if (i >= 2 && peak->sweep_group == 1)
			break;
		status = try_launch(peak, i, &rate, error);
		if (!peak_may_go_on(status))
			return status;
		if (rate > WORTH * best) {
			best = rate;
			peak->sweep_width = launches[i].width;
			peak->sweep_group = launches[i].group_size;
		}
	}
	return 0;
}

int peak_begin_sweep(struct tare_measurement *measurement, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct peak *peak = task->peak;
	int status;

	if (!peak->buffers[0])
		return tare_fail(error, ENOMEM, "%.300s", peak->unbuffered);
	status = make_sweep(task, peak->sweep_width, peak->sweep_group, error);
	if (status == 0)
		status =
		    peak_write_pattern(peak, peak->buffers[0], task->width, task->pattern, error);
	status = status ?: peak_calibrate(task, least_turns(task), error);
	status = status ?: peak_clear_status(peak, error);
	measurement->figures[0].work = bytes_read(task);
	return status;
}

int peak_end_sweep(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	bool right = false;
	int status = 0;

	if (!task->kernel)
		return 0;
	if (!task->peak->run->simulated)
		status = peak_read_status(task, &right, error);
	if (status == 0)
		*verified = peak_judge(task->peak, right);
	if (status == 0)
		peak_method(measurement, "%s; %u groups of %u work-items, vectors of %u numbers",
		            measurement->figures[0].method, task->groups, task->group_size,
		            task->width);
	tare_kernel_free(task->kernel);
	task->kernel = NULL;
	return status;
}

// ---- local memory

int peak_begin_local(struct tare_measurement *measurement, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct peak *peak = task->peak;
	char entry[32];
	int status;

	snprintf(entry, sizeof entry, "peak_local_%u", task->width);
	status = peak_take_kernel(task, "peak_local", entry, error);
	if (status < 0)
		return status;
	if (task->group_limit < LOCAL_GROUP)
		return tare_fail(error, ENOTSUP,
		                 "a work-group of kernel '%s' has at most %u items here, and it "
		                 "needs %d",
		                 entry, task->group_limit, LOCAL_GROUP);
	task->group_size = LOCAL_GROUP;
	task->groups = peak->units * GROUPS_PER_UNIT;
	task->argument_count = 0;
	peak_add_memory(task, peak->output);
	peak_add_value(task, 0);
	peak_add_value(task, LOCAL_ADD);
	peak_add_turns(task);
	status = peak_calibrate(task, 1, error);
	measurement->figures[0].work =
	    2.0 * 4 * task->width * LOCAL_SLOTS * task->turns * task->groups * task->group_size;
	return status;
}

// Slot k began as k plus the item's local number, in each lane, and grew by LOCAL_ADD each turn.
static bool check_local(const struct peak_task *task)
{
	uint32_t slots = LOCAL_SLOTS * (LOCAL_SLOTS - 1) / 2;

	for (uint32_t i = 0; i < task->groups * task->group_size; i++) {
		uint32_t sum, item = i % LOCAL_GROUP;
		memcpy(&sum, (const char *)task->peak->host->host + i * sizeof sum, sizeof sum);
		if (sum != task->width * (LOCAL_SLOTS * (item + task->turns * LOCAL_ADD) + slots))
			return false;
	}
	return true;
}

int peak_end_local(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct peak *peak = task->peak;
	int status = 0;

	if (!task->kernel)
		return 0;
	if (!peak->run->simulated)
		status =
		    peak_fetch(peak, peak->output,
		               (uint64_t)task->groups * task->group_size * sizeof(uint32_t), error);
	if (status == 0)
		*verified = peak_judge(peak, peak->run->simulated || check_local(task));
	if (status == 0)
		peak_method(measurement, "%s; %u groups of %u work-items, %u turns",
		            measurement->figures[0].method, task->groups, task->group_size,
		            task->turns);
	tare_kernel_free(task->kernel);
	task->kernel = NULL;
	return status;
}
