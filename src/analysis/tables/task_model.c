// SPDX-License-Identifier: Apache-2.0
// How a task fills its device, by model, and whether its instances get longer or shorter.
#include "analysis/tables/internal.h"

#include "base/cleanup.h"
#include "model/statistics/order.h"

#include <math.h>
#include <stdlib.h>

// ---- fill of the device

static void find_facts(const struct tables_context *context, struct tare_task *task)
{
	const struct tare_recording *recording = context->recording;
	task->facts = (struct tare_recorded_kernel_fact){ .kernel = TARE_NO_INDEX,
		                                          .device = TARE_NO_INDEX,
		                                          .spill_bytes = UINT64_MAX };
	if (task->kernel >= recording->kernel_count)
		return;
	for (size_t i = 0; i < recording->kernel_fact_count; i++) {
		const struct tare_recorded_kernel_fact *fact = &recording->kernel_facts[i];
		if (fact->kernel >= recording->kernel_count ||
		    fact->device >= recording->device_count ||
		    recording->devices[fact->device].same_as != task->device ||
		    context->name_of[fact->kernel] != context->name_of[task->kernel])
			continue;
		// Another program's kernel of that name stands in until its own is found.
		if (task->facts.kernel == TARE_NO_INDEX || fact->kernel == task->kernel)
			task->facts = *fact;
		if (fact->kernel == task->kernel)
			return;
	}
}

// Work-groups of a shape; 0: the size of a group is not known. `compiled`: what the kernel was
// compiled for, 21 bits a dimension from the lowest; 0: not told.
static uint64_t count_groups(const struct tare_recorded_shape *shape, uint64_t compiled)
{
	uint64_t groups = 1;
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t global = i < shape->dimensions ? shape->global[i] : 1;
		uint64_t local = i < shape->dimensions ? shape->local[i] : 1;
		uint64_t along;
		if (local == 0)
			local = compiled >> (21 * i) & 0x1fffff;
		if (local == 0 || global == 0)
			return 0;
		along = (global - 1) / local + 1;
		if (__builtin_mul_overflow(groups, along, &groups))
			return 0;
	}
	return groups;
}

static void fill_occupancy(const struct tare_recording *recording, struct tare_task *task,
                           double units)
{
	const struct tare_recorded_shape *shape = &recording->shapes[task->frequent_shape];
	struct tare_occupancy_group group = { .items = 1,
		                              .registers = task->facts.registers,
		                              .local_bytes = task->facts.fixed_local_bytes };
	if (task->facts.kernel == TARE_NO_INDEX || task->facts.fixed_local_bytes > UINT32_MAX)
		return;
	for (uint32_t i = 0; i < 3; i++)
		if (__builtin_mul_overflow(group.items, i < shape->dimensions ? shape->local[i] : 1,
		                           &group.items))
			return;
	group.local_bytes += shape->local_bytes;
	if (tare_occupancy(&recording->devices[task->device].unit, &group, &task->occupancy))
		task->occupancy_waves =
		    (double)task->groups / (units * (double)task->occupancy.groups);
}

void tables_fill_model(const struct tables_context *context, struct tare_task *task)
{
	const struct tare_recording *recording = context->recording;
	double units, groups;
	task->groups_per_unit = task->waves = task->tail = task->occupancy_waves = NAN;
	find_facts(context, task);
	if (task->frequent_shape >= recording->shape_count)
		return;
	task->groups =
	    count_groups(&recording->shapes[task->frequent_shape], task->facts.compiled_group);
	if (task->groups == 0 || task->device >= recording->device_count ||
	    recording->devices[task->device].compute_units == 0)
		return;
	units = (double)recording->devices[task->device].compute_units;
	groups = (double)task->groups;
	task->groups_per_unit = groups / units;
	task->waves = ceil(groups / units);
	task->tail = (task->waves * units - groups) / units;
	fill_occupancy(recording, task, units);
}

// ---- trend

// The order of the medians of BLOCKS blocks is tested. FEWEST is the fewest instances to make
// blocks of, SMALLEST the smallest relative change worth a word.
enum { BLOCKS = 16, FEWEST = 3 * BLOCKS };
#define SMALLEST 0.01
// Without a trend, the sum over all pairs of blocks of the sign of their difference has a variance
// of b (b - 1) (2 b + 5) / 18 = 493 (Kendall, "Rank Correlation Methods"); one in a thousand is
// beyond 3.29 deviations of 22.2.
static const int kendall_limit = 73;

static int find_block_medians(const struct tables_span *spans, size_t n, double *median_ns)
{
	TARE_FREE int64_t *lengths = malloc((n / BLOCKS + 2) * sizeof *lengths);
	if (!lengths)
		return -ENOMEM;
	for (size_t block = 0; block < BLOCKS; block++) {
		size_t from = n / BLOCKS * block + n % BLOCKS * block / BLOCKS;
		size_t to = n / BLOCKS * (block + 1) + n % BLOCKS * (block + 1) / BLOCKS;
		for (size_t i = from; i < to; i++)
			lengths[i - from] = spans[i].to - spans[i].from;
		median_ns[block] = tare_select_median(lengths, to - from);
	}
	return 0;
}

// Mann-Kendall. Blocks this long are independent of one another where instances depend on their
// neighbours only.
static int kendall_score(const double *median_ns)
{
	int score = 0;
	for (size_t a = 0; a < BLOCKS; a++)
		for (size_t b = a + 1; b < BLOCKS; b++)
			score += (median_ns[b] > median_ns[a]) - (median_ns[b] < median_ns[a]);
	return score;
}

int tables_trend(const struct tables_span *spans, size_t n, struct tare_task *task)
{
	double median_ns[BLOCKS], change;
	int score;
	task->trend_per_run = task->first_ns = task->last_ns = NAN;
	if (n < FEWEST)
		return 0;
	if (find_block_medians(spans, n, median_ns) != 0)
		return -ENOMEM;
	score = kendall_score(median_ns);
	change = median_ns[BLOCKS - 1] / median_ns[0] - 1;
	// A course that falls and ends high again has no one direction to tell.
	if (abs(score) < kendall_limit || median_ns[0] <= 0 || (score > 0) != (change > 0) ||
	    fabs(change) < SMALLEST)
		return 0;
	task->trend_per_run = change;
	task->first_ns = median_ns[0];
	task->last_ns = median_ns[BLOCKS - 1];
	return 0;
}
