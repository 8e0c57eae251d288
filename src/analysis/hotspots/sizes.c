// SPDX-License-Identifier: Apache-2.0
// Launches of a kernel that differ in size do different things: what one group of counters said of
// a small one says nothing beside what another group said of a large one.
#include "analysis/hotspots/collect.h"

#include <errno.h>
#include <stdlib.h>

struct sized {
	const struct tare_recorded_shape *shape; // NULL: not known
	uint32_t row, index;                     // of the kernel, of the count
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

const struct tare_recorded_shape *tare_shape_of(const struct tare_recording *recording,
                                                const struct tare_recorded_command *command)
{
	return command->kind == TARE_KIND_KERNEL && command->amount < recording->shape_count
	           ? &recording->shapes[command->amount]
	           : NULL;
}

int tare_compare_shapes(const struct tare_recorded_shape *a, const struct tare_recorded_shape *b)
{
	int order = compare_u64(a != NULL, b != NULL);

	for (size_t i = 0; a && b && order == 0 && i < 3; i++) {
		order = compare_u64(a->global[i], b->global[i]);
		order = order ? order : compare_u64(a->local[i], b->local[i]);
	}
	return order;
}

static int compare_sized(const void *left, const void *right)
{
	const struct sized *a = left, *b = right;
	int order = compare_u64(a->row, b->row);

	order = order ? order : tare_compare_shapes(a->shape, b->shape);
	return order ? order : compare_u64(a->index, b->index);
}

static double items_of(const struct tare_recorded_shape *shape)
{
	double items = shape ? 1 : 0;

	for (uint32_t i = 0; shape && i < shape->dimensions && i < 3; i++)
		items *= (double)shape->global[i];
	return items;
}

// Counts of one size: from `at` on, `count` of them.
struct same_size {
	size_t at, count;
	int groups;
	double items;
};

static struct same_size run_at(const struct tare_recording *counted, const struct sized *sized,
                               size_t at, size_t count)
{
	struct same_size run = { .at = at, .items = items_of(sized[at].shape) };
	uint64_t groups = 0;

	while (at + run.count < count && sized[at + run.count].row == sized[at].row &&
	       tare_compare_shapes(sized[at + run.count].shape, sized[at].shape) == 0)
		groups |= UINT64_C(1)
		          << (counted->counts[sized[at + run.count++].index].group % 64);
	run.groups = __builtin_popcountll(groups);
	return run;
}

static bool is_better(const struct same_size *run, const struct same_size *best)
{
	return run->groups != best->groups ? run->groups > best->groups : run->items > best->items;
}

static struct sized sized_of(const struct tare_recording *counted, const uint32_t *rows, size_t i)
{
	const struct tare_recorded_count *count = &counted->counts[i];
	struct sized sized = { .row = rows[i], .index = (uint32_t)i };

	if (count->graph || count->command == TARE_NO_INDEX)
		return sized;
	const struct tare_recorded_command *command = TARE_COMMAND(counted, count->command);
	sized.shape = tare_shape_of(counted, command);
	return sized;
}

int tare_counted_sizes(const struct tare_recording *counted, const uint32_t *rows, bool *left_out)
{
	size_t count = counted->count_count;
	struct sized *sized = calloc(count + 1, sizeof *sized);

	if (!sized)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sized[i] = sized_of(counted, rows, i);
	qsort(sized, count, sizeof *sized, compare_sized);
	for (size_t first = 0, next; first < count; first = next) {
		struct same_size best = run_at(counted, sized, first, count);
		for (next = first + best.count;
		     next < count && sized[next].row == sized[first].row;) {
			struct same_size run = run_at(counted, sized, next, count);
			next += run.count;
			if (is_better(&run, &best))
				best = run;
		}
		for (size_t i = first; i < next; i++)
			left_out[sized[i].index] = i < best.at || i >= best.at + best.count;
	}
	free(sized);
	return 0;
}
