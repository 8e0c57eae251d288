// SPDX-License-Identifier: Apache-2.0
// A kernel's launches may do different things, by their size or their arguments. Figures of several
// groups of counters, each of another launch, say something only where these launches are alike: of
// one size, and of about the same time in the recording.
#include "analysis/hotspots/collect.h"

#include "guest/environment.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Times within this factor of the typical one are about the same.
#define MOST_FACTOR 2.0

struct launch {
	const struct tare_recorded_shape *shape; // NULL: not known
	int64_t enter_ns;
	double ns; // on the device; 0: not known
	uint32_t row;
};

static int by_call(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	return a->row != b->row ? (a->row > b->row ? 1 : -1)
	                        : (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

static int by_size_and_time(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;
	int order = tare_compare_shapes(a->shape, b->shape);

	return order ? order : tare_compare_doubles(&a->ns, &b->ns);
}

// What most of a kernel's time was spent in: launches of that size, half of whose time went to
// those that took no longer than `ns`.
struct typical {
	const struct tare_recorded_shape *shape;
	double ns;
};

static struct typical typical_of(const struct launch *sorted, size_t count)
{
	struct typical typical = { NULL, 0 };
	double most_ns = 0;

	for (size_t first = 0, next; first < count; first = next) {
		double all_ns = 0, until_ns = 0;
		size_t at = first;
		for (next = first; next < count && tare_compare_shapes(sorted[next].shape,
		                                                       sorted[first].shape) == 0;
		     next++)
			all_ns += sorted[next].ns;
		if (!(all_ns > most_ns))
			continue;
		for (most_ns = all_ns; at < next - 1; at++) {
			until_ns += sorted[at].ns;
			if (until_ns >= all_ns / 2)
				break;
		}
		typical = (struct typical){ sorted[at].shape, sorted[at].ns };
	}
	return typical;
}

static bool is_alike(const struct launch *launch, const struct typical *typical)
{
	if (tare_compare_shapes(launch->shape, typical->shape) != 0)
		return false;
	return launch->ns == 0 ||
	       (launch->ns * MOST_FACTOR >= typical->ns && launch->ns <= typical->ns * MOST_FACTOR);
}

// Writes the places of those that are alike, "0-4+7-7", at most so many, spread over all. Returns
// how many launches these are.
static uint64_t write_places(const struct launch *launches, size_t count,
                             const struct typical *typical, size_t most, FILE *file)
{
	size_t runs = 0, seen = 0;
	uint64_t written = 0;

	for (size_t i = 0; i < count; i++)
		runs += is_alike(&launches[i], typical) &&
		        (i == 0 || !is_alike(&launches[i - 1], typical));
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && is_alike(&launches[end], typical); end++)
			continue;
		if (end == i) {
			end++;
			continue;
		}
		if (runs <= most || seen * most / runs != (seen + 1) * most / runs) {
			fprintf(file, "%s%zu-%zu", written ? "+" : "", i, end - 1);
			written += end - i;
		}
		seen++;
	}
	return written;
}

// Launches of one row, in the order of their calls; `sorted` is room for as many.
static int look_at_row(const struct launch *launches, size_t count, struct launch *sorted,
                       size_t most, struct tare_counted_kernel *kernel,
                       struct tare_collected *collected)
{
	struct typical typical;
	double like_ns = 0;
	uint64_t alike = 0, timed = 0;
	size_t size;
	FILE *file;

	for (size_t i = 0; i < count; i++)
		sorted[i] = launches[i];
	qsort(sorted, count, sizeof *sorted, by_size_and_time);
	typical = typical_of(sorted, count);
	if (!(typical.ns > 0))
		return 0;
	kernel->compared = true;
	for (size_t i = 0; i < count; i++) {
		bool counts = is_alike(&launches[i], &typical);
		alike += counts;
		timed += counts && launches[i].ns > 0;
		like_ns += counts ? launches[i].ns : 0;
		kernel->unlike_ns += counts ? 0 : (uint64_t)launches[i].ns;
	}
	kernel->unlike_launches = count - alike;
	if (alike == count)
		return 0;
	kernel->like_ns = (uint64_t)(like_ns / (double)timed);
	file = open_memstream(&collected->places, &size);
	if (!file)
		return -ENOMEM;
	collected->like_launches = write_places(launches, count, &typical, most, file);
	return fclose(file) == 0 ? 0 : -ENOMEM;
}

int tare_collection_look_alike(const struct tare_recording *recorded, const uint32_t *rows,
                               uint32_t chosen, struct tare_collection *collection)
{
	struct launch *launches = calloc(2 * recorded->command_count + 1, sizeof *launches);
	size_t count = 0, next;
	int status = launches ? 0 : -ENOMEM;

	// Of several processes, and of lists that are executed again, the places are not known.
	for (size_t i = 0; launches && recorded->process_count == 1 && !collection->levelzero &&
	                   i < recorded->command_count;
	     i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recorded, i);
		uint32_t row = c->kind == TARE_KIND_KERNEL && c->object != TARE_NO_INDEX
		                   ? rows[c->object]
		                   : TARE_NO_INDEX;
		if (row == TARE_NO_INDEX || c->part != TARE_ALONE ||
		    !collection->kernels[row].chosen)
			continue;
		launches[count++] = (struct launch){
			.shape = tare_shape_of(recorded, c),
			.enter_ns = c->enter_ns,
			.ns = c->start_ns != TARE_NO_TIME && c->end_ns > c->start_ns
			          ? (double)(c->end_ns - c->start_ns)
			          : 0,
			.row = row,
		};
	}
	if (launches)
		qsort(launches, count, sizeof *launches, by_call);
	for (size_t first = 0; status == 0 && first < count; first = next) {
		uint32_t row = launches[first].row;
		for (next = first; next < count && launches[next].row == row; next++)
			continue;
		status = look_at_row(launches + first, next - first, launches + count,
		                     TARE_ENVIRONMENT_MOST_PLACES / chosen,
		                     &collection->run.kernels[row], &collection->kernels[row]);
	}
	free(launches);
	return status;
}
