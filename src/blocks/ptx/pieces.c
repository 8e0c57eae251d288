// SPDX-License-Identifier: Apache-2.0
// Lines of blocks, as a module of PTX is read: a block may have tens of thousands.
#include "blocks/ptx/reading.h"

#include <errno.h>
#include <stdlib.h>

enum { LEAST_SLOTS = 256 };

static uint32_t hash_of(uint32_t block, uint32_t file, uint32_t line)
{
	uint32_t hash = (line * 2654435761u ^ file) * 2654435761u ^ block * 40503u;

	return hash ^ hash >> 15;
}

// Where a block's piece of that line is in the table, or would be.
static uint32_t slot_of(const struct ptx_reading *reading, uint32_t block, uint32_t file,
                        uint32_t line)
{
	const struct tare_blocks_module *module = &reading->ptx->module;
	uint32_t mask = reading->piece_slot_count - 1, at = hash_of(block, file, line) & mask;

	for (; reading->piece_slots[at]; at = (at + 1) & mask) {
		uint32_t piece = reading->piece_slots[at] - 1;
		if (piece >= module->blocks[block].first_piece &&
		    module->pieces[piece].file == file && module->pieces[piece].line == line)
			break;
	}
	return at;
}

// Pieces of blocks that are done are not looked for.
static bool grow(struct ptx_reading *reading, const struct tare_blocks_block *last, uint32_t block)
{
	const struct tare_blocks_module *module = &reading->ptx->module;
	uint32_t count = LEAST_SLOTS;

	while (count / 4 <= last->pieces)
		count *= 2;
	free(reading->piece_slots);
	reading->piece_slots = calloc(count, sizeof *reading->piece_slots);
	reading->piece_slot_count = reading->piece_slots ? count : 0;
	if (!reading->piece_slots)
		return false;
	for (uint32_t i = last->first_piece; i < module->piece_count; i++) {
		const struct tare_blocks_piece *piece = &module->pieces[i];
		reading->piece_slots[slot_of(reading, block, piece->file, piece->line)] = i + 1;
	}
	reading->piece_slots_used = last->pieces;
	return true;
}

struct tare_blocks_tally *reading_tally(struct ptx_reading *reading)
{
	struct tare_blocks_module *module = &reading->ptx->module;
	uint32_t block = module->block_count - 1;

	if (reading->piece_slots_used >= reading->piece_slot_count / 2 &&
	    !grow(reading, &module->blocks[block], block)) {
		tare_fail(reading->error, ENOMEM, "out of memory");
		return NULL;
	}
	uint32_t at = slot_of(reading, block, reading->file, reading->line);
	if (reading->piece_slots[at])
		return &module->pieces[reading->piece_slots[at] - 1].tally;
	struct tare_blocks_piece *piece =
	    reading_more(reading, &module->pieces, &reading->pieces, sizeof *piece);
	if (!piece)
		return NULL;
	reading->piece_slots[at] = ++module->piece_count;
	reading->piece_slots_used++;
	module->blocks[block].pieces++;
	piece->file = reading->file;
	piece->line = reading->line;
	return &piece->tally;
}
