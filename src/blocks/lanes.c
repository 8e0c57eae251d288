// SPDX-License-Identifier: Apache-2.0
#include "blocks/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	const struct tare_blocks_kernel *kernel;
	struct tare_blocks_layout layout;
	uint32_t low, counters; // of the function
	uint64_t *values;       // of all counters: the lane's among them
	uint64_t *counts;       // of each lane and block of the function
	struct tare_blocks_sampled *sampled;
};

static const uint64_t *slot_of(const struct reading *reading, uint32_t slot)
{
	return reading->kernel->sample + (size_t)slot * reading->layout.words;
}

// How many slots from `from` on are neighbours of one group.
static uint32_t neighbours(const struct reading *reading, uint32_t from, uint32_t end)
{
	const uint64_t *first = slot_of(reading, from);
	uint32_t count = 0;

	while (from + count < end && count < TARE_BLOCKS_LANES) {
		const uint64_t *slot = slot_of(reading, from + count);
		if (slot[0] != first[0] || slot[1] != first[1])
			break;
		count++;
	}
	return count;
}

static const struct tare_blocks_function *function_of(const struct reading *reading)
{
	return &reading->kernel->build->module.functions[reading->sampled->function];
}

static uint64_t *count_of(const struct reading *reading, uint32_t lane, uint32_t block)
{
	const struct tare_blocks_function *function = function_of(reading);

	return &reading->counts[(size_t)lane * function->blocks + block - function->first_block];
}

// False: a lane's counts cannot be, for a block never ran as often. Two launches have written one
// place at the same time.
static bool read_lanes(struct reading *reading, uint32_t from, uint32_t lanes)
{
	const struct tare_blocks_function *function = function_of(reading);

	for (uint32_t lane = 0; lane < lanes; lane++) {
		memcpy(reading->values + reading->low,
		       slot_of(reading, from + lane) + TARE_BLOCKS_SLOT_HEAD,
		       reading->counters * sizeof *reading->values);
		for (uint32_t i = 0; i < function->blocks; i++) {
			uint32_t block = function->first_block + i;
			uint64_t count = tare_blocks_plan_count(&reading->kernel->build->plan,
			                                        block, reading->values);
			if (count > reading->kernel->executions[block])
				return false;
			*count_of(reading, lane, block) = count;
		}
	}
	return true;
}

static void add_block(struct reading *reading, uint32_t block, uint32_t lanes)
{
	struct tare_blocks_lanes *of = &reading->sampled->lanes[block];
	struct tare_blocks_turns *turns = &reading->sampled->turns[block];
	uint64_t most = 0;

	for (uint32_t lane = 0; lane < lanes; lane++) {
		uint64_t count = *count_of(reading, lane, block);
		most = count > most ? count : most;
		of->used += count;
		if (count && (!turns->least || count < turns->least))
			turns->least = count;
	}
	turns->most = most > turns->most ? most : turns->most;
	of->offered += most * lanes;
}

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

// Stretches without a gap of what is accessed there. Sorts the addresses.
static uint32_t stretches_of(uint64_t *addresses, uint32_t count, uint32_t bytes)
{
	uint32_t stretches = 0;

	qsort(addresses, count, sizeof *addresses, by_number);
	for (uint32_t i = 0; i < count; i++)
		stretches += i == 0 || addresses[i] > addresses[i - 1] + bytes;
	return stretches;
}

// Lines that so many accesses of `bytes` each touch.
static uint32_t lines_of(const uint64_t *addresses, uint32_t count, uint32_t bytes)
{
	uint64_t lines[2 * TARE_BLOCKS_LANES];
	uint32_t used = 0, different = 0;

	for (uint32_t i = 0; i < count; i++) {
		lines[used++] = addresses[i] / TARE_BLOCKS_LINE_BYTES;
		lines[used++] = (addresses[i] + bytes - 1) / TARE_BLOCKS_LINE_BYTES;
	}
	qsort(lines, used, sizeof *lines, by_number);
	for (uint32_t i = 0; i < used; i++)
		different += i == 0 || lines[i] != lines[i - 1];
	return different;
}

static void add_access(struct reading *reading, struct tare_blocks_access *access, uint32_t number,
                       uint32_t from, uint32_t lanes)
{
	uint64_t addresses[TARE_BLOCKS_LANES], count = 0;
	uint32_t used = 0;

	for (uint32_t lane = 0; lane < lanes; lane++) {
		uint64_t own = *count_of(reading, lane, access->site.block);
		if (own == 0)
			continue;
		// Lanes in other turns of a loop are not side by side.
		if (count && own != count)
			return;
		count = own;
		addresses[used++] =
		    slot_of(reading,
		            from + lane)[TARE_BLOCKS_SLOT_HEAD + reading->layout.counters + number];
	}
	if (used < 2)
		return;
	access->sub_groups++;
	access->bytes += (uint64_t)used * access->site.bytes;
	access->stretches += stretches_of(addresses, used, access->site.bytes);
	access->lines += lines_of(addresses, used, access->site.bytes);
	access->fewest += ((uint64_t)used * access->site.bytes + TARE_BLOCKS_LINE_BYTES - 1) /
	                  TARE_BLOCKS_LINE_BYTES;
}

static void add_chunk(struct reading *reading, uint32_t from, uint32_t lanes)
{
	const struct tare_blocks_function *function = function_of(reading);
	struct tare_blocks_sampled *sampled = reading->sampled;

	if (!read_lanes(reading, from, lanes))
		return;
	sampled->work_items += lanes;
	for (uint32_t i = 0; i < function->blocks; i++)
		add_block(reading, function->first_block + i, lanes);
	for (uint32_t i = 0; i < sampled->accesses; i++)
		add_access(reading, &sampled->access[i], i, from, lanes);
}

// A work-item's slot is its number in its group, beyond all those of groups before.
static void read_slots(struct reading *reading)
{
	for (uint32_t slot = 0; slot < reading->layout.items;) {
		const uint64_t *head = slot_of(reading, slot);
		if (head[0] == 0 || head[1] == 0) {
			slot++;
			continue;
		}
		uint64_t place = slot % head[1];
		uint64_t most = TARE_BLOCKS_LANES - place % TARE_BLOCKS_LANES;
		if (most > head[1] - place)
			most = head[1] - place;
		if (most > reading->layout.items - slot)
			most = reading->layout.items - slot;
		uint32_t lanes = neighbours(reading, slot, slot + (uint32_t)most);
		if (place % TARE_BLOCKS_LANES == 0)
			add_chunk(reading, slot, lanes);
		slot += lanes;
	}
}

static void sum_blocks(struct reading *reading)
{
	const struct tare_blocks_function *function = function_of(reading);
	const struct tare_blocks_module *module = &reading->kernel->build->module;
	struct tare_blocks_sampled *sampled = reading->sampled;

	for (uint32_t i = function->first_block; i < function->first_block + function->blocks;
	     i++) {
		uint64_t instructions = tare_blocks_instructions(&module->blocks[i].tally);
		sampled->all.used += sampled->lanes[i].used * instructions;
		sampled->all.offered += sampled->lanes[i].offered * instructions;
	}
}

static bool find_function(const struct tare_blocks_kernel *kernel, uint32_t *function)
{
	const struct tare_blocks_module *module = &kernel->build->module;

	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].kernel && module->functions[i].counted &&
		    strcmp(module->functions[i].kernel, kernel->name) == 0) {
			*function = i;
			return true;
		}
	return false;
}

int tare_blocks_sampled_make(const struct tare_blocks_kernel *kernel,
                             struct tare_blocks_sampled *sampled)
{
	struct reading reading = { .kernel = kernel, .sampled = sampled };
	struct tare_blocks_site sites[TARE_BLOCKS_SITES];

	*sampled = (struct tare_blocks_sampled){ .lanes = NULL };
	if (!kernel->sample || !find_function(kernel, &sampled->function))
		return 0;
	const struct tare_blocks_build *build = kernel->build;
	const struct tare_blocks_function *function = function_of(&reading);
	reading.layout = tare_blocks_layout(&build->module, &build->plan);
	reading.low = tare_blocks_first_counter(&build->module, &build->plan, sampled->function,
	                                        &reading.counters);
	sampled->accesses = tare_blocks_sites(&build->module, sampled->function, sites);
	for (uint32_t i = 0; i < sampled->accesses; i++)
		sampled->access[i] =
		    (struct tare_blocks_access){ .site = sites[i],
			                         .executions = kernel->executions[sites[i].block] };
	sampled->lanes = calloc((size_t)build->module.block_count + 1, sizeof *sampled->lanes);
	sampled->turns = calloc((size_t)build->module.block_count + 1, sizeof *sampled->turns);
	reading.values = calloc((size_t)build->plan.counter_count + 1, sizeof *reading.values);
	reading.counts =
	    calloc((size_t)function->blocks * TARE_BLOCKS_LANES + 1, sizeof *reading.counts);
	bool well = sampled->lanes && sampled->turns && reading.values && reading.counts;
	if (well) {
		read_slots(&reading);
		sum_blocks(&reading);
	}
	free(reading.values);
	free(reading.counts);
	return well ? 0 : -ENOMEM;
}

bool tare_blocks_is_scattered(const struct tare_blocks_access *access)
{
	return access->stretches > access->sub_groups && access->lines >= 2 * access->fewest &&
	       access->bytes < access->stretches * (TARE_BLOCKS_LINE_BYTES / 2);
}

void tare_blocks_sampled_free(struct tare_blocks_sampled *sampled)
{
	free(sampled->lanes);
	free(sampled->turns);
	*sampled = (struct tare_blocks_sampled){ .lanes = NULL };
}
