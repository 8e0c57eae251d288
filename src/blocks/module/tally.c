// SPDX-License-Identifier: Apache-2.0
#include "blocks/module/tally.h"

const char *const tare_blocks_kind_names[TARE_BLOCKS_KINDS + 1] = {
	[TARE_BLOCKS_CONTROL] = "control",       [TARE_BLOCKS_MOVE] = "move",
	[TARE_BLOCKS_ADDRESS] = "address",       [TARE_BLOCKS_INTEGER] = "integer",
	[TARE_BLOCKS_FLOAT16] = "fp16",          [TARE_BLOCKS_FLOAT32] = "fp32",
	[TARE_BLOCKS_FLOAT64] = "fp64",          [TARE_BLOCKS_SPECIAL] = "special function",
	[TARE_BLOCKS_CONVERSION] = "conversion", [TARE_BLOCKS_WORK_ITEM] = "work-item query",
	[TARE_BLOCKS_ATOMIC] = "atomic",         [TARE_BLOCKS_BARRIER] = "barrier",
	[TARE_BLOCKS_GROUP] = "group function",  [TARE_BLOCKS_IMAGE] = "image",
	[TARE_BLOCKS_OTHER] = "other",
};

const char *const tare_blocks_space_names[TARE_BLOCKS_SPACES + 1] = {
	[TARE_BLOCKS_GLOBAL] = "global",     [TARE_BLOCKS_LOCAL] = "local",
	[TARE_BLOCKS_CONSTANT] = "constant", [TARE_BLOCKS_PRIVATE] = "private",
	[TARE_BLOCKS_GENERIC] = "generic",
};

const char *const tare_blocks_width_names[TARE_BLOCKS_WIDTHS + 1] = { "fp16", "fp32", "fp64" };

const char *tare_blocks_part_name(int part)
{
	return part < TARE_BLOCKS_KINDS    ? tare_blocks_kind_names[part]
	       : part == TARE_BLOCKS_KINDS ? "load"
	                                   : "store";
}

uint64_t tare_blocks_part(const struct tare_blocks_tally *tally, int part)
{
	uint64_t sum = 0;

	if (part < TARE_BLOCKS_KINDS)
		return tally->kinds[part];
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++)
		sum += part == TARE_BLOCKS_KINDS ? tally->loads[i] : tally->stores[i];
	return sum;
}

uint64_t tare_blocks_instructions(const struct tare_blocks_tally *tally)
{
	uint64_t sum = 0;

	for (int i = 0; i < TARE_BLOCKS_PARTS; i++)
		sum += tare_blocks_part(tally, i);
	return sum;
}

uint64_t tare_blocks_flops(const struct tare_blocks_tally *tally)
{
	return tally->flops[TARE_BLOCKS_HALF] + tally->flops[TARE_BLOCKS_SINGLE] +
	       tally->flops[TARE_BLOCKS_DOUBLE];
}

void tare_blocks_add(struct tare_blocks_tally *sum, const struct tare_blocks_tally *part,
                     uint64_t times)
{
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		sum->kinds[i] += times * part->kinds[i];
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		sum->loads[i] += times * part->loads[i];
		sum->stores[i] += times * part->stores[i];
		sum->loaded_bytes[i] += times * part->loaded_bytes[i];
		sum->stored_bytes[i] += times * part->stored_bytes[i];
	}
	for (int i = 0; i < TARE_BLOCKS_WIDTHS; i++)
		sum->flops[i] += times * part->flops[i];
	sum->unsized += times * part->unsized;
}
