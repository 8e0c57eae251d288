// SPDX-License-Identifier: Apache-2.0
#include "cli/run/hotspot_instructions.h"

#include "base/cleanup.h"
#include "blocks/profile.h"
#include "cli/options/option.h"
#include "cli/run/blocks_runs.h"

#include <errno.h>
#include <stdlib.h>

static double sum(const uint64_t *values, size_t count)
{
	double total = 0;

	for (size_t i = 0; i < count; i++)
		total += (double)values[i];
	return total;
}

// The bytes of a space's loads and stores that reach memory: private ones are registers mostly.
static double bytes_of(const struct tare_blocks_tally *tally)
{
	double bytes = 0;

	for (enum tare_blocks_space space = 0; space < TARE_BLOCKS_SPACES; space++)
		if (space != TARE_BLOCKS_PRIVATE)
			bytes +=
			    (double)tally->loaded_bytes[space] + (double)tally->stored_bytes[space];
	return bytes;
}

static struct tare_instruction_counts counts_of(const struct tare_blocks_kernel *kernel)
{
	const struct tare_blocks_tally *tally = &kernel->tally;
	bool whole = kernel->executions && tare_blocks_is_whole(kernel);
	struct tare_instruction_counts counts = { .name = kernel->name,
		                                  .launches = kernel->launches,
		                                  .counted = whole ? kernel->counted : 0 };

	if (!whole)
		return counts;
	counts.instructions = sum(tally->kinds, TARE_BLOCKS_KINDS) +
	                      sum(tally->loads, TARE_BLOCKS_SPACES) +
	                      sum(tally->stores, TARE_BLOCKS_SPACES);
	counts.flop[TARE_FLOP_FP16] = (double)tally->flops[TARE_BLOCKS_HALF];
	counts.flop[TARE_FLOP_FP32] = (double)tally->flops[TARE_BLOCKS_SINGLE];
	counts.flop[TARE_FLOP_FP64] = (double)tally->flops[TARE_BLOCKS_DOUBLE];
	counts.bytes = bytes_of(tally);
	counts.local_loaded_bytes = (double)tally->loaded_bytes[TARE_BLOCKS_LOCAL];
	counts.local_stored_bytes = (double)tally->stored_bytes[TARE_BLOCKS_LOCAL];
	counts.special = (double)tally->kinds[TARE_BLOCKS_SPECIAL];
	counts.unsized_known = (double)tally->kinds[TARE_BLOCKS_ATOMIC];
	counts.unsized_unknown = (double)tally->unsized + (double)tally->kinds[TARE_BLOCKS_IMAGE];
	return counts;
}

static int take(const struct tare_blocks_runs *runs, const struct tare_blocks_builds *builds,
                const char *pattern, struct tare_collection *collection, struct tare_error *error)
{
	struct tare_blocks_profile profile = { 0 };
	TARE_FREE struct tare_instruction_counts *counts = NULL;
	int code = tare_blocks_profile_read(runs->place.folder, builds, &profile, error);

	if (code == 0)
		counts = calloc(profile.kernel_count + 1, sizeof *counts);
	if (code == 0 && !counts)
		code = tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; code == 0 && i < profile.kernel_count; i++)
		counts[i] = counts_of(&profile.kernels[i]);
	if (code == 0)
		tare_instructions_take(counts, profile.kernel_count, pattern, collection);
	tare_blocks_profile_free(&profile);
	return code;
}

static int count(struct tare_blocks_runs *runs, const char *pattern,
                 struct tare_collection *collection, struct tare_blocks_builds *builds,
                 struct tare_hotspot_instructions *result, struct tare_error *error)
{
	struct tare_blocks_run run = { .stage = BLOCKS_STAGE_COLLECT, .silent = true };
	bool made = false;

	if (tare_blocks_runs_once(runs, run, &result->plain_ns, error) != TARE_EXIT_OK)
		return -EIO;
	result->end = runs->end;
	tare_blocks_forget_counts(&runs->place);
	if (runs->end.signal || runs->end.asked) {
		result->ended = true;
		return tare_fail(error, EINTR, "a signal ended the program's second run");
	}
	if (tare_blocks_compile(runs->place.folder, false, NULL, builds, error) < 0)
		return -EIO;
	for (size_t i = 0; i < builds->count; i++)
		made |= builds->at[i].made;
	if (!made)
		return tare_fail(error, ENODATA,
		                 "no kernel's code could be taken: `tare blocks` "
		                 "says of each why");
	run.stage = BLOCKS_STAGE_COUNT;
	if (tare_blocks_runs_once(runs, run, &result->counted_ns, error) != TARE_EXIT_OK)
		return -EIO;
	result->end = runs->end;
	return take(runs, builds, pattern, collection, error);
}

int tare_hotspot_instructions_count(char *const *program, const char *pattern,
                                    struct tare_collection *collection,
                                    struct tare_hotspot_instructions *result,
                                    struct tare_error *error)
{
	struct tare_blocks_runs runs = { 0 };
	struct tare_blocks_builds builds = { 0 };
	int code = -EIO;

	*result = (struct tare_hotspot_instructions){ 0 };
	if (tare_blocks_runs_begin(program, "tare hotspots", &runs, error) == TARE_EXIT_OK)
		code = count(&runs, pattern, collection, &builds, result, error);
	tare_blocks_builds_free(&builds);
	tare_blocks_runs_free(&runs);
	return code;
}
