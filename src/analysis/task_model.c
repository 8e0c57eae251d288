// SPDX-License-Identifier: Apache-2.0
// How a task fills its device, by model, and whether its instances get longer or shorter.
#include "analysis/tables_internal.h"

#include "base/cleanup.h"
#include "model/order.h"

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

static void fill_occupancy(const struct tare_recording *recording, struct tare_task *task, double units)
{
	const struct tare_recorded_shape *shape = &recording->shapes[task->frequent_shape];
	struct tare_occupancy_group group = { .items = 1, .registers = task->facts.registers,
		.local_bytes = task->facts.fixed_local_bytes };
	if (task->facts.kernel == TARE_NO_INDEX || task->facts.fixed_local_bytes > UINT32_MAX)
		return;
	for (uint32_t i = 0; i < 3; i++)
		if (__builtin_mul_overflow(group.items, i < shape->dimensions ? shape->local[i] : 1, &group.items))
			return;
	group.local_bytes += shape->local_bytes;
	if (tare_occupancy(&recording->devices[task->device].unit, &group, &task->occupancy))
		task->occupancy_waves = (double)task->groups / (units * (double)task->occupancy.groups);
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

// The order of the medians of BLOCKS blocks is tested, the slope is of PARTS finer ones. FEWEST is
// the fewest instances to make blocks of, SMALLEST the smallest relative change worth a word.
enum { BLOCKS = 16, PARTS = 256, FEWEST = 3 * BLOCKS };
#define SMALLEST 0.01
// Without a trend, the sum over all pairs of blocks of the sign of their difference has a variance
// of b (b - 1) (2 b + 5) / 18 = 493 (Kendall, "Rank Correlation Methods"); one in a thousand is
// beyond 3.29 deviations of 22.2.
static const int kendall_limit = 73;

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

// Theil-Sen (Sen, JASA 63, 1968): the median of the slopes of all pairs. NaN: there are none.
static int slope_of(const int64_t *at_ns, const int64_t *length_ns, size_t n, double *slope)
{
	TARE_FREE double *slopes = malloc((n * (n - 1) / 2 + 1) * sizeof *slopes);
	size_t count = 0;
	if (!slopes)
		return -ENOMEM;
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++)
			if (at_ns[b] > at_ns[a])
				slopes[count++] = (double)(length_ns[b] - length_ns[a]) /
				                  (double)(at_ns[b] - at_ns[a]);
	qsort(slopes, count, sizeof *slopes, compare_doubles);
	*slope = count > 0 ? (slopes[(count - 1) / 2] + slopes[count / 2]) / 2 : NAN;
	return 0;
}

// Medians of the parts' lengths, and when the middle of each began.
static int cut_in_parts(const struct tables_span *spans, size_t n, size_t parts, int64_t *at_ns,
                        int64_t *length_ns)
{
	TARE_FREE int64_t *lengths = malloc((n / parts + 2) * sizeof *lengths);
	if (!lengths)
		return -ENOMEM;
	for (size_t part = 0; part < parts; part++) {
		size_t from = n / parts * part + n % parts * part / parts;
		size_t to = n / parts * (part + 1) + n % parts * (part + 1) / parts;
		for (size_t i = from; i < to; i++)
			lengths[i - from] = spans[i].to - spans[i].from;
		length_ns[part] = llround(tare_select_median(lengths, to - from));
		at_ns[part] = spans[from + (to - from) / 2].from;
	}
	return 0;
}

// Mann-Kendall over the blocks. Blocks this long are independent of one another where instances
// depend on their neighbours only.
static int is_chance(const struct tables_span *spans, size_t n, bool *chance)
{
	int64_t at_ns[BLOCKS], length_ns[BLOCKS];
	int score = 0;
	if (cut_in_parts(spans, n, BLOCKS, at_ns, length_ns) != 0)
		return -ENOMEM;
	for (size_t a = 0; a < BLOCKS; a++)
		for (size_t b = a + 1; b < BLOCKS; b++)
			score += (length_ns[b] > length_ns[a]) - (length_ns[b] < length_ns[a]);
	*chance = abs(score) < kendall_limit;
	return 0;
}

int tables_trend(const struct tables_span *spans, size_t n, double *relative)
{
	size_t parts = n < PARTS ? n : PARTS;
	int64_t at_ns[PARTS], length_ns[PARTS];
	double median, slope, change;
	bool chance;
	*relative = NAN;
	if (n < FEWEST)
		return 0;
	if (is_chance(spans, n, &chance) != 0)
		return -ENOMEM;
	if (chance)
		return 0;
	if (cut_in_parts(spans, n, parts, at_ns, length_ns) != 0 ||
	    slope_of(at_ns, length_ns, parts, &slope) != 0)
		return -ENOMEM;
	median = tare_select_median(length_ns, parts);
	change = slope * (double)(spans[n - 1].from - spans[0].from) / median;
	if (median > 0 && fabs(change) >= SMALLEST)
		*relative = change;
	return 0;
}
