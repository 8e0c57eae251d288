// SPDX-License-Identifier: Apache-2.0
#include "blocks/intel/join.h"

#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Blocks of the device's code that are tried: for each the whole code is gone through.
enum { MOST_BLOCKS = 512 };
#define UNKNOWN UINT64_MAX

// How often the ways between blocks are gone, by work-items. Behind the blocks is the end.
struct ways {
	uint32_t *from, *to;
	uint64_t *times;  // of a way
	uint64_t *passed; // of a block
	uint32_t way_count, block_count;
	bool contradicts;
};

// ---- what goes in comes out

// Completes one side of a block. True: something is known now that was not.
static bool complete(struct ways *ways, uint32_t block, const uint32_t *ends)
{
	uint64_t sum = 0;
	uint32_t missing = UINT32_MAX, unknown = 0, count = 0;

	for (uint32_t i = 0; i < ways->way_count; i++) {
		if (ends[i] != block)
			continue;
		count++;
		if (ways->times[i] != UNKNOWN)
			sum += ways->times[i];
		else
			unknown++, missing = i;
	}
	if (count == 0) // the beginning, or the end
		return false;
	if (ways->passed[block] == UNKNOWN) {
		if (unknown)
			return false;
		ways->passed[block] = sum;
		return true;
	}
	ways->contradicts |= sum > ways->passed[block] || (!unknown && sum < ways->passed[block]);
	if (unknown != 1 || ways->contradicts)
		return false;
	ways->times[missing] = ways->passed[block] - sum;
	return true;
}

static void follow(struct ways *ways)
{
	for (bool more = true; more && !ways->contradicts;) {
		more = false;
		for (uint32_t i = 0; i < ways->block_count && !ways->contradicts; i++) {
			more |= complete(ways, i, ways->to);
			more |= complete(ways, i, ways->from);
		}
	}
}

static void ways_free(struct ways *ways)
{
	free(ways->from);
	free(ways->to);
	free(ways->times);
	free(ways->passed);
}

// The ways of a listing, begun and ended by `work_items`. 0 or -ENOMEM.
static int ways_make(const struct tare_blocks_listing *listing, uint64_t work_items,
                     struct ways *ways)
{
	uint32_t end = listing->block_count;
	size_t most = (size_t)listing->successor_count + end;

	*ways = (struct ways){ .block_count = end + 1 };
	ways->from = calloc(most + 1, sizeof *ways->from);
	ways->to = calloc(most + 1, sizeof *ways->to);
	ways->times = calloc(most + 1, sizeof *ways->times);
	ways->passed = calloc((size_t)end + 1, sizeof *ways->passed);
	if (!ways->from || !ways->to || !ways->times || !ways->passed)
		return -ENOMEM;
	for (uint32_t i = 0; i < end; i++) {
		const struct tare_blocks_listing_block *block = &listing->blocks[i];
		for (uint32_t k = 0; k < block->successors || (k == 0 && !block->successors); k++) {
			ways->from[ways->way_count] = i;
			ways->to[ways->way_count] =
			    block->successors ? listing->successors[block->first_successor + k]
			                      : end;
			ways->times[ways->way_count++] = UNKNOWN;
		}
		ways->passed[i] = UNKNOWN;
	}
	ways->passed[end] = work_items;
	// Where a way leads back to the first block, more pass it than begin.
	bool back = false;
	for (uint32_t i = 0; i < ways->way_count; i++)
		back |= ways->to[i] == 0;
	if (!back)
		ways->passed[0] = work_items;
	return 0;
}

// ---- which blocks are the same

enum measure { ACCESSES, FLOPS, MEASURES };

static uint64_t counted_of(const struct tare_blocks_tally *tally, enum measure measure)
{
	uint64_t sum = 0;

	if (measure == FLOPS)
		return tare_blocks_flops(tally);
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++)
		if (i != TARE_BLOCKS_PRIVATE)
			sum += tally->loads[i] + tally->stores[i];
	return sum + tally->kinds[TARE_BLOCKS_ATOMIC];
}

// A line, and the counted block that alone has such instructions of it.
struct place {
	uint32_t file, line;
	uint32_t block; // UINT32_MAX: several, of `executions` all of them
	uint64_t executions;
	uint64_t once; // of the measure, at one pass of them all
	bool ambiguous;
};

// Whether the kernel passes the function: its own, or one that was called.
static bool is_passed(const struct tare_blocks_kernel *kernel, uint32_t function)
{
	const struct tare_blocks_function *of = &kernel->build->module.functions[function];

	if (of->kernel && strcmp(of->kernel, kernel->name) == 0)
		return true;
	for (uint32_t i = 0; i < of->blocks; i++)
		if (kernel->executions[of->first_block + i])
			return true;
	return false;
}

static void look_at(const struct tare_blocks_kernel *kernel, enum measure measure,
                    struct place *place)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	bool any = false;

	for (uint32_t i = 0; i < module->block_count; i++) {
		const struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; k < block->pieces; k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[block->first_piece + k];
			uint64_t once = counted_of(&piece->tally, measure);
			if (!once || piece->file != place->file || piece->line != place->line ||
			    !is_passed(kernel, block->function))
				continue;
			place->ambiguous |= any && kernel->executions[i] != place->executions;
			place->block = any && place->block != i ? UINT32_MAX : i;
			place->executions = kernel->executions[i];
			place->once += once;
			any = true;
		}
	}
	place->ambiguous |= !any;
}

// ocloc is given an OpenCL program's source in a file of its own.
static bool is_file(const struct tare_blocks_build *build, uint32_t file, const char *listed)
{
	const char *name = tare_blocks_file_name(&build->module, file);

	if (strcmp(tare_path_name(name), build->source) == 0)
		return strcmp(tare_path_name(listed), TARE_BLOCKS_MODEL_SOURCE) == 0;
	return strcmp(name, listed) == 0;
}

// The block of the device's code that alone has the measure of a line, as much of it as `once` is
// for all work-items of a thread; UINT32_MAX.
static uint32_t same_block(const struct tare_blocks_listing *listing,
                           const struct tare_blocks_build *build, enum measure measure,
                           const struct place *place, uint32_t width)
{
	uint32_t block = UINT32_MAX;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < listing->piece_count; i++) {
		const struct tare_blocks_listing_piece *piece = &listing->pieces[i];
		uint64_t lanes = measure == ACCESSES ? piece->accesses : piece->flops;
		if (!lanes || piece->line != place->line ||
		    !is_file(build, place->file, listing->files[piece->file]))
			continue;
		if ((block != UINT32_MAX && piece->block != block) || piece->flagged ||
		    (measure == ACCESSES && piece->gathered))
			return UINT32_MAX;
		block = piece->block;
		sum += lanes;
	}
	return sum == place->once * width ? block : UINT32_MAX;
}

// A loop of one block on both sides is entered equally often.
static void know_loop(const struct tare_blocks_loop *loops, size_t count, const struct place *place,
                      struct ways *ways, uint32_t block)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; loops[i].header == place->block && loops[i].known &&
		                     loops[i].turns >= loops[i].entries && k < ways->way_count;
		     k++) {
			uint64_t back = loops[i].turns - loops[i].entries;
			if (ways->from[k] != block || ways->to[k] != block)
				continue;
			ways->contradicts |= ways->times[k] != UNKNOWN && ways->times[k] != back;
			ways->times[k] = back;
		}
}

static void know(const struct tare_blocks_listing *listing, const struct tare_blocks_kernel *kernel,
                 uint32_t width, struct ways *ways)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	size_t count = 0;
	struct tare_blocks_loop *loops = tare_blocks_loops(kernel, &count);

	follow(ways);
	for (uint32_t i = 0; i < MEASURES * module->piece_count && !ways->contradicts; i++) {
		enum measure measure = (enum measure)(i / module->piece_count);
		const struct tare_blocks_piece *piece = &module->pieces[i % module->piece_count];
		struct place place = { .file = piece->file, .line = piece->line };
		if (!piece->line || !counted_of(&piece->tally, measure))
			continue;
		look_at(kernel, measure, &place);
		uint32_t same = place.ambiguous
		                    ? UINT32_MAX
		                    : same_block(listing, kernel->build, measure, &place, width);
		if (same == UINT32_MAX)
			continue;
		ways->contradicts |=
		    ways->passed[same] != UNKNOWN && ways->passed[same] != place.executions;
		ways->passed[same] = place.executions;
		know_loop(loops, count, &place, ways, same);
		follow(ways);
	}
	free(loops);
}

// ---- the sum

static void sum_up(const struct tare_blocks_listing *listing, const struct ways *ways,
                   const struct tare_blocks_static *own, struct tare_blocks_joined *joined)
{
	uint64_t mix[TARE_BLOCKS_ISAS] = { 0 };

	for (uint32_t i = 0; i < listing->piece_count; i++) {
		const struct tare_blocks_listing_piece *piece = &listing->pieces[i];
		uint64_t times = ways->passed[piece->block];
		for (int k = 0; k < TARE_BLOCKS_ISAS; k++) {
			mix[k] += piece->mix[k];
			joined->instructions += piece->mix[k];
			if (times == UNKNOWN)
				continue;
			joined->joined += piece->mix[k];
			joined->at_least[k] += piece->mix[k] * times;
		}
	}
	for (int k = 0; k < TARE_BLOCKS_ISAS; k++) {
		joined->at_least[k] = (joined->at_least[k] + own->simd_width - 1) / own->simd_width;
		// The one ends with fillings that the other has not.
		if (own->has_mix && k != TARE_BLOCKS_ISA_WAIT)
			joined->differing +=
			    mix[k] > own->mix[k] ? mix[k] - own->mix[k] : own->mix[k] - mix[k];
	}
}

int tare_blocks_join(const struct tare_blocks_listing *listing,
                     const struct tare_blocks_kernel *kernel, const struct tare_blocks_static *own,
                     struct tare_blocks_joined *joined)
{
	struct ways ways;

	*joined = (struct tare_blocks_joined){ .how = TARE_BLOCKS_JOINED };
	if (!listing->block_count || !own->simd_width)
		joined->how = TARE_BLOCKS_JOIN_NO_LISTING;
	else if (!kernel->work_items || !tare_blocks_is_whole(kernel))
		joined->how = TARE_BLOCKS_JOIN_NOT_COUNTED;
	else if (listing->calls)
		joined->how = TARE_BLOCKS_JOIN_CALLS;
	else if (listing->block_count > MOST_BLOCKS)
		joined->how = TARE_BLOCKS_JOIN_LARGE;
	if (joined->how != TARE_BLOCKS_JOINED)
		return 0;
	int status = ways_make(listing, kernel->work_items, &ways);
	if (status == 0) {
		know(listing, kernel, own->simd_width, &ways);
		if (ways.contradicts)
			joined->how = TARE_BLOCKS_JOIN_CONTRADICTS;
		else {
			sum_up(listing, &ways, own, joined);
			joined->passed = ways.passed;
			ways.passed = NULL;
		}
	}
	ways_free(&ways);
	return status;
}

const char *tare_blocks_join_why(enum tare_blocks_join how)
{
	static const char *const clauses[TARE_BLOCKS_JOINS] = {
		[TARE_BLOCKS_JOIN_NO_LISTING] = "ocloc wrote no listing of its blocks and lines",
		[TARE_BLOCKS_JOIN_NOT_COUNTED] = "the kernel's executions were not all counted",
		[TARE_BLOCKS_JOIN_CALLS] = "the device's code calls functions",
		[TARE_BLOCKS_JOIN_LARGE] = "the device's code has more than 512 blocks",
		[TARE_BLOCKS_JOIN_CONTRADICTS] =
		    "no way through the device's blocks fits what was counted",
	};

	return how < TARE_BLOCKS_JOINS ? clauses[how] : NULL;
}
