// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/sass.h"

#include "blocks/cuda/cubin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPCODES = 512,
	ALWAYS = 7,      // the predicate that is true
	FIRST_WIDE = 90, // from here on eight bits of a target lie elsewhere
	FIRST_IADD = 100,
	HFMA2_OR_IADD = 0x035,
	BRA = 0x147,
	WARPSYNC = 0x148,
	BRX = 0x149,
	JMP,
	JMX = 0x14c,
	EXIT,
	RTT = 0x14f,
	BRXU = 0x158,
	JMXU,
	KILL = 0x15b,
};

const char *tare_sass_class_name(enum tare_sass_class class)
{
	static const char *const names[] = {
#define X(name, text) [TARE_SASS_##name] = text,
		TARE_SASS_CLASSES(X)
#undef X
	};

	return names[class];
}

enum tare_sass_known tare_sass_known(uint32_t sm)
{
	static const uint32_t compared[] = { 75, 80, 86, 89, 90, 100, 120 };

	for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
		if (compared[i] == sm)
			return TARE_SASS_COMPARED;
	return sm < 70 ? TARE_SASS_FOREIGN : TARE_SASS_ASSUMED;
}

static int64_t extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

// The distance of a branch, in units of four bytes: bits 34 to 81; since 9.0 the eight bits from 16
// on are its lowest.
static int64_t target_of(uint64_t low, uint64_t high, uint32_t sm, uint64_t pc)
{
	int64_t distance = extend((low >> 34 | high << 30) & UINT64_C(0xffffffffffff), 48);

	if (sm >= FIRST_WIDE)
		distance = (int64_t)((uint64_t)distance << 8 | (low >> 16 & 0xff));
	return (int64_t)(pc + TARE_SASS_BYTES + (uint64_t)distance * 4);
}

// Where lanes meet again: the distance in bytes, in bits 32 to 63.
static int64_t meeting_of(uint64_t low, uint64_t pc)
{
	return (int64_t)(pc + TARE_SASS_BYTES) + extend(low >> 32, 32);
}

struct tare_sass tare_sass_read(const uint8_t *code, uint32_t sm, uint64_t pc)
{
	static const struct {
		const char *name;
		enum tare_sass_class class;
	} table[OPCODES] = {
#define OPCODE(number, text, kind) [number] = { text, TARE_SASS_##kind },
#include "blocks/cuda/opcodes.def"
#undef OPCODE
	};
	uint64_t low, high;

	memcpy(&low, code, sizeof low);
	memcpy(&high, code + sizeof low, sizeof high);
	unsigned opcode = low & (OPCODES - 1);
	struct tare_sass read = { .opcode = opcode,
		                  .name = table[opcode].name,
		                  .class = table[opcode].class,
		                  .conditional = (low >> 12 & 15) != ALWAYS };
	if (opcode == HFMA2_OR_IADD) {
		read.name = sm < FIRST_IADD ? "HFMA2" : "IADD";
		read.class = sm < FIRST_IADD ? TARE_SASS_FP16 : TARE_SASS_INTEGER;
	}
	// The forms that take their target out of a register are others.
	bool relative = (low >> 9 & 7) == 4 || (opcode == BRA && (low >> 9 & 7) == 2) ||
	                (opcode == WARPSYNC && (low >> 9 & 7) == 1);
	read.leaves = opcode == BRA || opcode == BRX || opcode == JMP || opcode == JMX ||
	              opcode == EXIT || opcode == RTT || opcode == TARE_SASS_RET ||
	              opcode == BRXU || opcode == JMXU || opcode == KILL ||
	              opcode == TARE_SASS_BSYNC || opcode == TARE_SASS_CALL ||
	              opcode == TARE_SASS_CALL_ABSOLUTE;
	read.has_target =
	    relative && (opcode == BRA || opcode == TARE_SASS_BSSY || opcode == TARE_SASS_CALL ||
	                 (opcode == WARPSYNC && (low >> 9 & 7) == 1));
	read.indirect = opcode == BRX || opcode == JMX || opcode == BRXU || opcode == JMXU ||
	                opcode == JMP || (opcode == BRA && !relative);
	// BRA has a second predicate, and a form with one for the whole warp.
	bool chooses = opcode == BRA && ((low >> 9 & 7) == 2 || (high >> 23 & 7) != ALWAYS);
	read.goes_on = !read.leaves || read.conditional || chooses || opcode == TARE_SASS_BSYNC ||
	               opcode == TARE_SASS_CALL || opcode == TARE_SASS_CALL_ABSOLUTE;
	if (read.has_target)
		read.target =
		    opcode == TARE_SASS_BSSY ? meeting_of(low, pc) : target_of(low, high, sm, pc);
	return read;
}

int tare_sass_split(const uint8_t *code, size_t bytes, uint32_t sm, struct tare_sass_blocks *blocks)
{
	size_t count = bytes / TARE_SASS_BYTES;
	bool *begins = calloc(count + 1, sizeof *begins);

	*blocks = (struct tare_sass_blocks){ 0 };
	blocks->at = calloc(count + 1, sizeof *blocks->at);
	if (!begins || !blocks->at) {
		free(begins);
		return -ENOMEM;
	}
	begins[0] = true;
	for (size_t i = 0; i < count; i++) {
		struct tare_sass read =
		    tare_sass_read(code + i * TARE_SASS_BYTES, sm, i * TARE_SASS_BYTES);
		blocks->unknown += read.name == NULL;
		blocks->indirect += read.indirect;
		if (read.leaves)
			begins[i + 1] = true;
		if (!read.has_target)
			continue;
		uint64_t target = (uint64_t)read.target / TARE_SASS_BYTES;
		if (read.target >= 0 && read.target % TARE_SASS_BYTES == 0 && target < count)
			begins[target] = true;
	}
	for (size_t i = 0; i < count; i++) {
		if (begins[i])
			blocks->at[blocks->count++].first = (uint32_t)i;
		blocks->at[blocks->count - 1].count++;
	}
	free(begins);
	return 0;
}
