// SPDX-License-Identifier: Apache-2.0
// Device memory: read, write, copy, triad and strided reading, in the launch shape that is fastest.
#include "measure/peak/internal.h"

#include "backend/call.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LEAST_BUFFER (UINT64_C(256) << 20)
#define LEAST_UNIFIED (UINT64_C(64) << 20) // where the memory is a host's and slower
#define MOST_BUFFER (UINT64_C(4) << 30)
#define LEAST_WORTH (UINT64_C(1) << 20)
#define GROUPS_PER_UNIT 32 // of compute: what `output` has to hold
#define TRIALS 2
#define TRIAD_SCALE 3u

const char *const peak_op_names[PEAK_OPS] = { "read", "write", "copy", "triad", "strided" };

// A launch should last so long that beginning and ending it is a small part.
#define WORTH_PS INT64_C(900000000)

// The first ones are tried on each device. GPUs like neighbours' vectors side by side. CPUs like
// those of one work-item, or several streams at once.
static const struct peak_shape shapes[] = {
	{ PEAK_BY_DEVICE, 256, 1 }, { PEAK_BY_GROUP, 256, 1 },   { PEAK_BY_ITEM, 1, 512 },
	{ PEAK_BY_GROUP, 256, 8 },  { PEAK_BY_GROUP, 256, 2 },   { PEAK_BY_GROUP, 256, 4 },
	{ PEAK_BY_DEVICE, 256, 2 }, { PEAK_BY_DEVICE, 1024, 1 }, { PEAK_BY_DEVICE, 1024, 8 },
	{ PEAK_BY_GROUP, 512, 1 },  { PEAK_BY_GROUP, 1024, 1 },  { PEAK_BY_ITEM, 1, 4096 },
	{ PEAK_BY_DEVICE, 256, 8 }, { PEAK_BY_GROUP, 1024, 8 },  { PEAK_BY_GROUP, 256, 16 },
	{ PEAK_BY_ITEM, 1, 64 },
};
#define SHAPES (sizeof shapes / sizeof *shapes)
#define SURVEYED 4
// Where groups of one work-item reach less than this share of the best, they are not tried again.
#define ITEMS_WORTH 0.5

// Vectors a turn: 128 bytes, or 8 if these are less.
static uint32_t vectors_a_turn(uint32_t width)
{
	return width <= 4 ? 8 : 32 / width;
}

// ---- buffers

static bool is_unified(const struct peak *peak)
{
	const struct tare_fact *fact = &peak->run->facts->fact[TARE_FACT_UNIFIED];
	return fact->present && fact->count;
}

static uint64_t largest_buffer(const struct peak *peak)
{
	const struct tare_facts *facts = peak->run->facts;
	const struct tare_fact *memory = &facts->fact[TARE_FACT_MEMORY];
	const struct tare_fact *largest = &facts->fact[TARE_FACT_MEMORY_MAX_ALLOCATION];
	uint64_t most = MOST_BUFFER, bytes = LEAST_WORTH;

	// A quarter of the memory for all three, an eighth where it is the host's as well.
	if (memory->present && memory->count / (is_unified(peak) ? 24 : 12) < most)
		most = memory->count / (is_unified(peak) ? 24 : 12);
	if (largest->present && largest->count < most)
		most = largest->count;
	while (bytes * 2 <= most)
		bytes *= 2;
	return bytes;
}

// Four times the cache and at least 256 MB on a GPU, as far as the memory allows.
static uint64_t wanted_buffer(const struct peak *peak)
{
	uint64_t bytes = is_unified(peak) ? LEAST_UNIFIED : LEAST_BUFFER;
	uint64_t most = largest_buffer(peak);

	while (bytes < 4 * peak->cache_bytes)
		bytes *= 2;
	return bytes < most ? bytes : most;
}

static void free_buffers(struct peak *peak)
{
	for (int i = 0; i < PEAK_BUFFERS; i++) {
		tare_memory_free(peak->buffers[i]);
		peak->buffers[i] = NULL;
	}
}

// All three of `bytes`, or fewer: the first ones that there is room for.
static int make_buffers(struct peak *peak, uint64_t bytes, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = 0;

	free_buffers(peak);
	peak->buffer_bytes = bytes;
	for (int i = 0; i < PEAK_BUFFERS && status == 0; i++)
		status = tare_memory_create(peak->bench.device, TARE_MEMORY_DEVICE, bytes,
		                            &peak->buffers[i], &why);
	if (status < 0)
		snprintf(peak->unbuffered, sizeof peak->unbuffered, "%.300s", why.message);
	if (tare_device_is_gone(status))
		return tare_error_pass(error, &why, status);
	return 0;
}

void peak_close_buffers(struct peak *peak)
{
	free_buffers(peak);
	tare_memory_free(peak->output);
	tare_memory_free(peak->start);
	tare_memory_free(peak->status);
	tare_memory_free(peak->host);
}

int peak_open_buffers(struct peak *peak, struct tare_error *error)
{
	struct tare_device *device = peak->bench.device;
	uint64_t bytes = wanted_buffer(peak);
	int status;

	peak->output_bytes = (uint64_t)peak->units * GROUPS_PER_UNIT * 256 * sizeof(uint64_t);
	status = tare_memory_create(device, TARE_MEMORY_DEVICE, peak->output_bytes, &peak->output,
	                            error);
	if (status == 0)
		status = tare_memory_create(device, TARE_MEMORY_DEVICE, 4096, &peak->start, error);
	if (status == 0)
		status = tare_memory_create(device, TARE_MEMORY_DEVICE, 4096, &peak->status, error);
	if (status == 0)
		status = tare_memory_create(device, TARE_MEMORY_PAGEABLE, peak->output_bytes,
		                            &peak->host, error);
	while (status == 0) {
		status = make_buffers(peak, bytes, error);
		if (status < 0 || peak->buffers[0] || bytes <= LEAST_WORTH)
			break;
		bytes /= 2;
	}
	return status;
}

// ---- the launch

// Work-items and turns of a shape, over `vectors` of a buffer. False: it does not fit.
static bool take_shape(struct peak_task *task, const struct peak_shape *shape)
{
	uint64_t vectors = task->peak->buffer_bytes / (4 * task->width * task->stride);
	uint32_t turn = vectors_a_turn(task->width), turns = shape->turns, run;
	uint32_t *steps = &task->values[task->shape_at];
	uint64_t groups;

	task->group_size =
	    shape->group_size < task->group_limit ? shape->group_size : task->group_limit;
	// Enough groups for every unit come before many turns.
	while (turns > 1 &&
	       (uint64_t)task->group_size * turn * turns * task->peak->units * 4 > vectors)
		turns /= 2;
	run = turn * turns; // vectors of a work-item
	groups = vectors / ((uint64_t)task->group_size * run);
	if (groups == 0 || groups > UINT32_MAX / task->group_size)
		return false;
	task->groups = (uint32_t)groups;
	steps[0] = task->stride * task->group_size * (shape->deal == PEAK_BY_DEVICE ? 1 : run);
	steps[1] = task->stride * (shape->deal == PEAK_BY_ITEM ? run : 1);
	steps[2] = task->stride;
	if (shape->deal != PEAK_BY_ITEM)
		steps[2] *= task->group_size;
	if (shape->deal == PEAK_BY_DEVICE)
		steps[2] *= task->groups;
	peak_set_turns(task, turns);
	return true;
}

static double useful_bytes(const struct peak_task *task)
{
	static const int moves[PEAK_OPS] = { 1, 1, 2, 3, 1 };

	return 4.0 * task->width * moves[task->op] * vectors_a_turn(task->width) * task->turns *
	       task->groups * task->group_size;
}

// The kernel of the task's op on the buffers given, with room for the shape's arguments. `number`:
// the pattern that is read or written, or the triad's scale.
static int make_launch(struct peak_task *task, struct tare_memory *const *buffers, uint32_t number,
                       struct tare_error *error)
{
	static const int counts[PEAK_OPS] = { 1, 1, 2, 3, 1 };
	const char *name = peak_op_names[task->op == PEAK_STRIDED ? PEAK_READ : task->op];
	char entry[32];
	int status;

	for (int i = 0; i < counts[task->op]; i++)
		if (!buffers[i])
			return tare_fail(error, ENOMEM, "%.300s", task->peak->unbuffered);
	snprintf(entry, sizeof entry, "peak_%s_%u", name, task->width);
	status = peak_take_kernel(task, "peak_memory", entry, error);
	if (status < 0)
		return status;
	task->argument_count = 0;
	for (int i = 0; i < counts[task->op]; i++)
		peak_add_memory(task, buffers[i]);
	peak_add_memory(task, task->peak->status);
	task->shape_at = task->argument_count;
	for (int i = 0; i < 3; i++)
		peak_add_value(task, 0);
	if (task->op != PEAK_COPY)
		peak_add_value(task, number);
	peak_add_turns(task);
	return 0;
}

int peak_clear_status(struct peak *peak, struct tare_error *error)
{
	return peak_fill(peak, peak->status, 2 * sizeof(uint32_t), 0, error);
}

int peak_read_status(struct peak_task *task, bool *right, struct tare_error *error)
{
	uint32_t words[2];
	int status = peak_fetch(task->peak, task->peak->status, sizeof words, error);

	if (status < 0)
		return status;
	memcpy(words, task->peak->host->host, sizeof words);
	*right = words[0] == 0 && words[1] == task->turns;
	return 0;
}

uint32_t peak_next_pattern(struct peak *peak)
{
	return 2654435761u * (2 * ++peak->factors + 1);
}

// The shapes that a task may try: first the one that was best so far, then the others. NULL: pass
// over this one.
static const struct peak_shape *shape_to_try(const struct peak *peak, size_t i)
{
	const struct peak_shape *hint = &peak->shape;
	const struct peak_shape *shape = i ? &shapes[i - 1] : hint;

	if (i && (memcmp(shape, hint, sizeof *hint) == 0 ||
	          (shape->group_size == 1 && !peak->single_items)))
		return NULL;
	return shape;
}

// Launches in the first shape that the driver takes: not every driver tells beforehand which
// groups have too many registers.
static int launch_somehow(struct peak_task *task, struct tare_error *error)
{
	int status = tare_fail(error, ENOMEM, "the buffer is too small");

	for (size_t i = 0; status < 0 && peak_may_go_on(status) && i <= SHAPES; i++) {
		const struct peak_shape *shape = shape_to_try(task->peak, i);
		if (shape && take_shape(task, shape))
			status = peak_launch(task, TARE_LIMIT_DEFAULT_NS, NULL, error);
	}
	return status;
}

// Runs one launch of `op` over a whole buffer, outside of what is timed.
static int aside(struct peak *peak, enum peak_op op, struct tare_memory *memory, uint32_t width,
                 uint32_t pattern, bool *right, struct tare_error *error)
{
	struct peak_task task = { .peak = peak, .op = op, .width = width, .stride = 1 };
	int status = make_launch(&task, &memory, pattern, error);

	status = status ?: peak_clear_status(peak, error);
	status = status ?: launch_somehow(&task, error);
	status = status ?: peak_read_status(&task, right, error);
	tare_kernel_free(task.kernel);
	return status;
}

int peak_write_pattern(struct peak *peak, struct tare_memory *memory, uint32_t width,
                       uint32_t pattern, struct tare_error *error)
{
	bool right;

	return aside(peak, PEAK_WRITE, memory, width, pattern, &right, error);
}

static int find_pattern(struct peak *peak, struct tare_memory *memory, uint32_t width,
                        uint32_t pattern, bool *found, struct tare_error *error)
{
	return aside(peak, PEAK_READ, memory, width, pattern, found, error);
}

// ---- choosing a shape

// A launch that takes a good part of the time for trials is not repeated.
static int time_shape(struct peak_task *task, int64_t *best_ps, struct tare_error *error)
{
	int status = peak_launch(task, TARE_LIMIT_DEFAULT_NS, best_ps, error);

	for (int i = 0; status == 0 && i < TRIALS && *best_ps < 125 * task->peak->trial_ns; i++) {
		int64_t ps;
		status = peak_launch(task, TARE_LIMIT_NATIVE, &ps, error);
		if (status == 0 && ps < *best_ps)
			*best_ps = ps;
	}
	return status == 0 && *best_ps == 0 ? peak_no_time(error) : status;
}

// Tries shapes as time allows, at least until one can be launched. Leaves the best one's.
static int choose_shape(struct peak_task *task, struct tare_error *error)
{
	struct peak *peak = task->peak;
	struct tare_host_time begun = tare_run_now(peak->run);
	struct tare_error why = { 0 };
	struct peak_shape best = peak->shape;
	double best_rate = 0;
	int status = 0;

	tare_fail(error, ENOMEM, "the buffers are too small");
	for (size_t i = 0; i <= SHAPES; i++) {
		const struct peak_shape *shape = shape_to_try(peak, i);
		int64_t ps;
		if (best_rate > 0 &&
		    (peak->run->samples ||
		     tare_host_elapsed_ns(begun, tare_run_now(peak->run)) > peak->trial_ns ||
		     tare_run_interrupted(peak->run)))
			break;
		if (!shape || !take_shape(task, shape))
			continue;
		status = time_shape(task, &ps, &why);
		if (status < 0)
			*error = why;
		// Where stamps tell of no time no shape is better.
		if (!peak_may_go_on(status) || status == -ENODATA)
			return status;
		if (status == 0 && useful_bytes(task) / (double)ps > best_rate) {
			best_rate = useful_bytes(task) / (double)ps;
			best = *shape;
		}
	}
	if (!(best_rate > 0))
		return error->code;
	take_shape(task, &best);
	peak->shape = best;
	return 0;
}

// Times reading in the first shapes; *best_ps is that of the one taken, INT64_MAX if none can be
// launched.
static int survey(struct peak *peak, int64_t *best_ps, struct tare_error *error)
{
	struct peak_task task = {
		.peak = peak,
		.op = PEAK_READ,
		.width = 4,
		.stride = 1,
	};
	int status = make_launch(&task, peak->buffers, 1, error);
	bool made = status == 0;
	int64_t items_ps = INT64_MAX;

	*best_ps = INT64_MAX;
	for (size_t i = 0; made && peak_may_go_on(status) && i < SURVEYED; i++) {
		int64_t ps;
		if (!take_shape(&task, &shapes[i]))
			continue;
		status = time_shape(&task, &ps, error);
		if (status == 0 && shapes[i].deal == PEAK_BY_ITEM)
			items_ps = ps;
		if (status == 0 && ps < *best_ps) {
			*best_ps = ps;
			peak->shape = shapes[i];
		}
	}
	peak->single_items = ITEMS_WORTH * (double)items_ps <= (double)*best_ps;
	tare_kernel_free(task.kernel);
	return peak_may_go_on(status) ? 0 : status;
}

int peak_survey_memory(struct peak *peak, struct tare_error *error)
{
	uint64_t most = largest_buffer(peak), bytes = peak->buffer_bytes;
	int64_t ps;
	int status;

	peak->shape = shapes[0];
	// With so many samples wanted each run does the same: nothing is chosen by what takes how
	// long.
	if (!peak->buffers[0] || peak->run->samples)
		return 0;
	status = survey(peak, &ps, error);
	if (status < 0)
		return status;
	for (; ps < WORTH_PS && bytes * 2 <= most; bytes *= 2)
		ps *= 2;
	if (bytes == peak->buffer_bytes || peak->run->simulated)
		return 0;
	status = make_buffers(peak, bytes, error);
	if (status == 0 && !peak->buffers[PEAK_BUFFERS - 1])
		status = make_buffers(peak, wanted_buffer(peak), error);
	return status;
}

// ---- the measurement

static int write_inputs(struct peak_task *task, struct tare_error *error)
{
	struct peak *peak = task->peak;
	int status = 0;

	task->pattern = peak_next_pattern(peak);
	task->pattern2 = peak_next_pattern(peak);
	if (task->op != PEAK_WRITE)
		status =
		    peak_write_pattern(peak, peak->buffers[0], task->width, task->pattern, error);
	if (status == 0 && task->op == PEAK_TRIAD)
		status =
		    peak_write_pattern(peak, peak->buffers[1], task->width, task->pattern2, error);
	return status;
}

int peak_begin_memory(struct tare_measurement *measurement, struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	struct tare_memory **all = task->peak->buffers;
	struct tare_memory *one[] = { all[0] }, *two[] = { all[1], all[0] },
	                   *three[] = { all[2], all[0], all[1] };
	struct tare_memory **buffers = task->op == PEAK_COPY    ? two
	                               : task->op == PEAK_TRIAD ? three
	                                                        : one;
	int status = all[0] ? 0 : tare_fail(error, ENOMEM, "%.300s", task->peak->unbuffered);

	if (status == 0 && task->op == PEAK_TRIAD && !all[2])
		status = tare_fail(error, ENOMEM, "%.300s", task->peak->unbuffered);
	status = status ?: write_inputs(task, error);
	if (status == 0)
		status = make_launch(task, buffers,
		                     task->op == PEAK_TRIAD ? TRIAD_SCALE : task->pattern, error);
	status = status ?: choose_shape(task, error);
	status = status ?: peak_clear_status(task->peak, error);
	measurement->figures[0].work = useful_bytes(task);
	return status;
}

static int check(struct peak_task *task, bool *right, struct tare_error *error)
{
	struct peak *peak = task->peak;
	int status = peak_read_status(task, right, error);
	bool found = true;

	if (status == 0 && task->op == PEAK_WRITE)
		status =
		    find_pattern(peak, peak->buffers[0], task->width, task->pattern, &found, error);
	if (status == 0 && task->op == PEAK_COPY)
		status =
		    find_pattern(peak, peak->buffers[1], task->width, task->pattern, &found, error);
	if (status == 0 && task->op == PEAK_TRIAD)
		status = find_pattern(peak, peak->buffers[2], task->width,
		                      task->pattern + TRIAD_SCALE * task->pattern2, &found, error);
	*right = *right && found;
	return status;
}

static const char *deal_text(const struct peak_task *task)
{
	const uint32_t *steps = &task->values[task->shape_at];

	if (steps[2] == task->stride && task->group_size == 1)
		return "one after the other";
	return steps[2] == task->stride * task->group_size ? "a group apart" : "the launch apart";
}

int peak_end_memory(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct peak_task *task = measurement->context;
	char buffer[TARE_UNIT_TEXT];
	bool right = false;
	int status = 0;

	if (!task->kernel)
		return 0;
	if (task->turns && task->groups) {
		if (!task->peak->run->simulated)
			status = check(task, &right, error);
		if (status == 0)
			*verified = peak_judge(task->peak, right);
		if (status == 0)
			peak_method(measurement,
			            "%s; buffers of %s; %u groups of %u work-items, each "
			            "%u vectors, %s",
			            measurement->figures[0].method,
			            tare_format_bytes(task->peak->buffer_bytes, buffer),
			            task->groups, task->group_size,
			            task->turns * vectors_a_turn(task->width), deal_text(task));
	}
	tare_kernel_free(task->kernel);
	task->kernel = NULL;
	return status;
}
