// SPDX-License-Identifier: Apache-2.0
#include "blocks/ptx/classify.h"

#include <stdlib.h>
#include <string.h>

// What an instruction's last type may make of it: arithmetic of floating-point numbers or of
// integers.
enum { BY_TYPE = TARE_BLOCKS_KINDS, LOAD, STORE, COPY };

// By the first part of a name. Pure ones have one result, which hangs on their operands alone.
static const struct {
	const char *name;
	uint8_t kind;
	uint8_t flops;
	bool pure;
} bases[] = {
	{ "add", BY_TYPE, 1, true },
	{ "sub", BY_TYPE, 1, true },
	{ "mul", BY_TYPE, 1, true },
	{ "div", BY_TYPE, 1, true },
	{ "mad", BY_TYPE, 2, true },
	{ "fma", BY_TYPE, 2, true },
	{ "mul24", TARE_BLOCKS_INTEGER, 0, true },
	{ "mad24", TARE_BLOCKS_INTEGER, 0, true },
	{ "addc", TARE_BLOCKS_INTEGER, 0, false },
	{ "subc", TARE_BLOCKS_INTEGER, 0, false },
	{ "madc", TARE_BLOCKS_INTEGER, 0, false },
	{ "rem", BY_TYPE, 0, true },
	{ "abs", BY_TYPE, 0, true },
	{ "neg", BY_TYPE, 0, true },
	{ "min", BY_TYPE, 0, true },
	{ "max", BY_TYPE, 0, true },
	{ "copysign", BY_TYPE, 0, true },
	{ "testp", BY_TYPE, 0, true },
	{ "set", BY_TYPE, 0, true },
	{ "setp", BY_TYPE, 0, true },
	{ "sad", TARE_BLOCKS_INTEGER, 0, true },
	{ "popc", TARE_BLOCKS_INTEGER, 0, true },
	{ "clz", TARE_BLOCKS_INTEGER, 0, true },
	{ "bfind", TARE_BLOCKS_INTEGER, 0, true },
	{ "fns", TARE_BLOCKS_INTEGER, 0, true },
	{ "bfe", TARE_BLOCKS_INTEGER, 0, true },
	{ "bfi", TARE_BLOCKS_INTEGER, 0, true },
	{ "bmsk", TARE_BLOCKS_INTEGER, 0, true },
	{ "szext", TARE_BLOCKS_INTEGER, 0, true },
	{ "brev", TARE_BLOCKS_INTEGER, 0, true },
	{ "dp2a", TARE_BLOCKS_INTEGER, 0, true },
	{ "dp4a", TARE_BLOCKS_INTEGER, 0, true },
	{ "and", TARE_BLOCKS_INTEGER, 0, true },
	{ "or", TARE_BLOCKS_INTEGER, 0, true },
	{ "xor", TARE_BLOCKS_INTEGER, 0, true },
	{ "not", TARE_BLOCKS_INTEGER, 0, true },
	{ "cnot", TARE_BLOCKS_INTEGER, 0, true },
	{ "lop3", TARE_BLOCKS_INTEGER, 0, false },
	{ "shl", TARE_BLOCKS_INTEGER, 0, true },
	{ "shr", TARE_BLOCKS_INTEGER, 0, true },
	{ "shf", TARE_BLOCKS_INTEGER, 0, true },
	{ "isspacep", TARE_BLOCKS_INTEGER, 0, false },
	{ "vadd", TARE_BLOCKS_INTEGER, 0, false },
	{ "vsub", TARE_BLOCKS_INTEGER, 0, false },
	{ "vabsdiff", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmin", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmax", TARE_BLOCKS_INTEGER, 0, false },
	{ "vshl", TARE_BLOCKS_INTEGER, 0, false },
	{ "vshr", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmad", TARE_BLOCKS_INTEGER, 0, false },
	{ "vset", TARE_BLOCKS_INTEGER, 0, false },
	{ "vadd2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vsub2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vavrg2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vabsdiff2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmin2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmax2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vset2", TARE_BLOCKS_INTEGER, 0, false },
	{ "vadd4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vsub4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vavrg4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vabsdiff4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmin4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vmax4", TARE_BLOCKS_INTEGER, 0, false },
	{ "vset4", TARE_BLOCKS_INTEGER, 0, false },
	{ "mov", TARE_BLOCKS_MOVE, 0, true },
	{ "cvta", TARE_BLOCKS_MOVE, 0, true },
	{ "selp", TARE_BLOCKS_MOVE, 0, true },
	{ "slct", TARE_BLOCKS_MOVE, 0, true },
	{ "prmt", TARE_BLOCKS_MOVE, 0, true },
	{ "mapa", TARE_BLOCKS_MOVE, 0, false },
	{ "getctarank", TARE_BLOCKS_MOVE, 0, false },
	{ "cvt", TARE_BLOCKS_CONVERSION, 0, true },
	{ "rcp", TARE_BLOCKS_SPECIAL, 0, true },
	{ "sqrt", TARE_BLOCKS_SPECIAL, 0, true },
	{ "rsqrt", TARE_BLOCKS_SPECIAL, 0, true },
	{ "sin", TARE_BLOCKS_SPECIAL, 0, true },
	{ "cos", TARE_BLOCKS_SPECIAL, 0, true },
	{ "lg2", TARE_BLOCKS_SPECIAL, 0, true },
	{ "ex2", TARE_BLOCKS_SPECIAL, 0, true },
	{ "tanh", TARE_BLOCKS_SPECIAL, 0, true },
	{ "ld", LOAD, 0, false },
	{ "ldu", LOAD, 0, false },
	{ "st", STORE, 0, false },
	{ "cp", COPY, 0, false },
	{ "ldmatrix", TARE_BLOCKS_GROUP, 0, false },
	{ "stmatrix", TARE_BLOCKS_GROUP, 0, false },
	{ "movmatrix", TARE_BLOCKS_GROUP, 0, false },
	{ "mma", TARE_BLOCKS_GROUP, 0, false },
	{ "wmma", TARE_BLOCKS_GROUP, 0, false },
	{ "wgmma", TARE_BLOCKS_GROUP, 0, false },
	{ "tcgen05", TARE_BLOCKS_GROUP, 0, false },
	{ "shfl", TARE_BLOCKS_GROUP, 0, false },
	{ "vote", TARE_BLOCKS_GROUP, 0, false },
	{ "match", TARE_BLOCKS_GROUP, 0, false },
	{ "activemask", TARE_BLOCKS_GROUP, 0, false },
	{ "redux", TARE_BLOCKS_GROUP, 0, false },
	{ "elect", TARE_BLOCKS_GROUP, 0, false },
	{ "atom", TARE_BLOCKS_ATOMIC, 0, false },
	{ "red", TARE_BLOCKS_ATOMIC, 0, false },
	{ "bar", TARE_BLOCKS_BARRIER, 0, false },
	{ "barrier", TARE_BLOCKS_BARRIER, 0, false },
	{ "membar", TARE_BLOCKS_BARRIER, 0, false },
	{ "fence", TARE_BLOCKS_BARRIER, 0, false },
	{ "mbarrier", TARE_BLOCKS_BARRIER, 0, false },
	{ "griddepcontrol", TARE_BLOCKS_BARRIER, 0, false },
	{ "tex", TARE_BLOCKS_IMAGE, 0, false },
	{ "tld4", TARE_BLOCKS_IMAGE, 0, false },
	{ "txq", TARE_BLOCKS_IMAGE, 0, false },
	{ "suld", TARE_BLOCKS_IMAGE, 0, false },
	{ "sust", TARE_BLOCKS_IMAGE, 0, false },
	{ "sured", TARE_BLOCKS_IMAGE, 0, false },
	{ "suq", TARE_BLOCKS_IMAGE, 0, false },
	{ "istypep", TARE_BLOCKS_IMAGE, 0, false },
	{ "bra", TARE_BLOCKS_CONTROL, 0, false },
	{ "brx", TARE_BLOCKS_CONTROL, 0, false },
	{ "call", TARE_BLOCKS_CONTROL, 0, false },
	{ "ret", TARE_BLOCKS_CONTROL, 0, false },
	{ "exit", TARE_BLOCKS_CONTROL, 0, false },
	{ "trap", TARE_BLOCKS_CONTROL, 0, false },
	{ "brkpt", TARE_BLOCKS_CONTROL, 0, false },
	{ "nanosleep", TARE_BLOCKS_CONTROL, 0, false },
};

// Types by the name behind a dot. `numbers` of floating-point ones: how many there are.
static const struct {
	const char *name;
	uint8_t bytes, numbers;
	enum tare_blocks_width width;
} types[] = {
	{ "f16", 2, 1, TARE_BLOCKS_HALF },
	{ "f16x2", 4, 2, TARE_BLOCKS_HALF },
	{ "bf16", 2, 1, TARE_BLOCKS_HALF },
	{ "bf16x2", 4, 2, TARE_BLOCKS_HALF },
	{ "f32", 4, 1, TARE_BLOCKS_SINGLE },
	{ "f32x2", 8, 2, TARE_BLOCKS_SINGLE },
	{ "tf32", 4, 1, TARE_BLOCKS_SINGLE },
	{ "f64", 8, 1, TARE_BLOCKS_DOUBLE },
	{ "b8", 1, 0, 0 },
	{ "u8", 1, 0, 0 },
	{ "s8", 1, 0, 0 },
	{ "b16", 2, 0, 0 },
	{ "u16", 2, 0, 0 },
	{ "s16", 2, 0, 0 },
	{ "u16x2", 4, 0, 0 },
	{ "s16x2", 4, 0, 0 },
	{ "b32", 4, 0, 0 },
	{ "u32", 4, 0, 0 },
	{ "s32", 4, 0, 0 },
	{ "b64", 8, 0, 0 },
	{ "u64", 8, 0, 0 },
	{ "s64", 8, 0, 0 },
	{ "b128", 16, 0, 0 },
	{ "pred", 1, 0, 0 },
};

static const struct {
	const char *name;
	enum tare_blocks_space space;
} spaces[] = {
	{ "global", TARE_BLOCKS_GLOBAL },     { "shared", TARE_BLOCKS_LOCAL },
	{ "shared::cta", TARE_BLOCKS_LOCAL }, { "shared::cluster", TARE_BLOCKS_LOCAL },
	{ "const", TARE_BLOCKS_CONSTANT },    { "local", TARE_BLOCKS_PRIVATE },
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

// What a name says.
struct parts {
	int base; // row of bases; -1: not known
	int type; // row of types, of the last one; -1: none
	unsigned vector;
	enum tare_blocks_space space;
	bool param; // memory of parameters
};

static bool same(const char *part, size_t bytes, const char *name)
{
	return strlen(name) == bytes && memcmp(part, name, bytes) == 0;
}

static void read_part(const char *part, size_t bytes, struct parts *parts)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (same(part, bytes, types[i].name))
			parts->type = (int)i;
	for (size_t i = 0; i < COUNT(spaces); i++)
		if (same(part, bytes, spaces[i].name))
			parts->space = spaces[i].space;
	if (bytes == 2 && part[0] == 'v' && (part[1] == '2' || part[1] == '4' || part[1] == '8'))
		parts->vector = (unsigned)(part[1] - '0');
	if (same(part, bytes, "param") || same(part, bytes, "param::entry") ||
	    same(part, bytes, "param::func"))
		parts->param = true;
}

static size_t part_bytes(const char *name, size_t bytes)
{
	size_t count = 0;

	while (count < bytes && name[count] != '.')
		count++;
	return count;
}

static struct parts parts_of(const struct ptx_instruction *instruction)
{
	struct parts parts = { .base = -1, .type = -1, .vector = 1, .space = TARE_BLOCKS_GENERIC };
	const char *name = instruction->name, *end = name + instruction->name_bytes;
	size_t bytes = part_bytes(name, instruction->name_bytes);

	for (size_t i = 0; i < COUNT(bases); i++)
		if (same(name, bytes, bases[i].name))
			parts.base = (int)i;
	while (name + bytes < end) {
		name += bytes + 1;
		bytes = part_bytes(name, (size_t)(end - name));
		read_part(name, bytes, &parts);
	}
	return parts;
}

bool ptx_is(const struct ptx_instruction *instruction, const char *base)
{
	return same(instruction->name, part_bytes(instruction->name, instruction->name_bytes),
	            base);
}

bool ptx_is_pure(const struct ptx_instruction *instruction)
{
	struct parts parts = parts_of(instruction);

	return parts.base >= 0 && bases[parts.base].pure;
}

// The operands behind the i-th comma that stands in no brackets; NULL: there are none.
static const char *operand(const struct ptx_instruction *instruction, int i, size_t *bytes)
{
	struct ptx_scan scan = { instruction->operands, instruction->operand_bytes, 0 };

	for (; i > 0; i--)
		if (!scan_to(&scan, ','))
			return NULL;
	scan_skip(&scan);
	*bytes = scan.bytes - scan.at;
	return scan.text + scan.at;
}

// Registers that say where a thread is among others, or how many there are.
static bool asks_for_place(const struct ptx_instruction *instruction)
{
	static const char *const names[] = { "%tid",     "%ntid",      "%ctaid",
		                             "%nctaid",  "%laneid",    "%warpid",
		                             "%nwarpid", "%envreg",    "%gridid",
		                             "%cluster", "%ncluster",  "%smid",
		                             "%nsmid",   "%lanemask_", "%is_explicit_cluster" };
	size_t bytes;
	const char *from = operand(instruction, 1, &bytes);

	for (size_t i = 0; from && i < COUNT(names); i++)
		if (bytes >= strlen(names[i]) && memcmp(from, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void add_arithmetic(const struct parts *parts, struct tare_blocks_tally *tally)
{
	static const enum tare_blocks_kind kinds[TARE_BLOCKS_WIDTHS] = { TARE_BLOCKS_FLOAT16,
		                                                         TARE_BLOCKS_FLOAT32,
		                                                         TARE_BLOCKS_FLOAT64 };

	if (parts->type < 0 || !types[parts->type].numbers) {
		tally->kinds[TARE_BLOCKS_INTEGER]++;
		return;
	}
	tally->kinds[kinds[types[parts->type].width]]++;
	tally->flops[types[parts->type].width] +=
	    (uint64_t)bases[parts->base].flops * types[parts->type].numbers;
}

// Copies from global to shared memory beside the thread's work: by each thread its own bytes, if
// how many is written there; or in bulk, by one for all.
static void add_copy(const struct ptx_instruction *instruction, struct tare_blocks_tally *tally)
{
	static const char each[] = "cp.async.c"; // .ca and .cg
	size_t bytes = 0, more;
	const char *size = operand(instruction, 2, &bytes);

	if (instruction->name_bytes < sizeof each - 1 ||
	    memcmp(instruction->name, each, sizeof each - 1) != 0 ||
	    memchr(instruction->name, 'u', instruction->name_bytes)) {
		tally->kinds[TARE_BLOCKS_GROUP]++;
		return;
	}
	uint64_t count = 0;
	for (size_t i = 0; size && i < bytes && size[i] >= '0' && size[i] <= '9' && i < 4; i++)
		count = count * 10 + (uint64_t)(size[i] - '0');
	if (operand(instruction, 3, &more))
		count = 0; // less of it may be read
	tally->loads[TARE_BLOCKS_GLOBAL]++;
	tally->stores[TARE_BLOCKS_LOCAL]++;
	tally->loaded_bytes[TARE_BLOCKS_GLOBAL] += count;
	tally->stored_bytes[TARE_BLOCKS_LOCAL] += count;
	tally->unsized += !count;
}

static void add_access(const struct parts *parts, struct tare_blocks_tally *tally)
{
	uint64_t bytes = parts->type >= 0 ? (uint64_t)types[parts->type].bytes * parts->vector : 0;

	if (parts->param) { // what is handed over lies in registers
		tally->kinds[TARE_BLOCKS_MOVE]++;
		return;
	}
	tally->unsized += !bytes;
	if (bases[parts->base].kind == LOAD) {
		tally->loads[parts->space]++;
		tally->loaded_bytes[parts->space] += bytes;
	} else {
		tally->stores[parts->space]++;
		tally->stored_bytes[parts->space] += bytes;
	}
}

void ptx_classify(const struct ptx_instruction *instruction, struct tare_blocks_tally *tally)
{
	struct parts parts = parts_of(instruction);
	int kind = parts.base >= 0 ? bases[parts.base].kind : TARE_BLOCKS_OTHER;

	if (kind == BY_TYPE)
		add_arithmetic(&parts, tally);
	else if (kind == COPY)
		add_copy(instruction, tally);
	else if (kind == LOAD || kind == STORE)
		add_access(&parts, tally);
	else if (kind == TARE_BLOCKS_MOVE && asks_for_place(instruction))
		tally->kinds[TARE_BLOCKS_WORK_ITEM]++;
	else
		tally->kinds[kind]++;
}
