// SPDX-License-Identifier: Apache-2.0
#include "blocks/intel/ze_info.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TOP, OF_KERNEL = 4, OF_PART = 6, MOST_KERNELS = 4096 };

enum part { OTHER, ENVIRONMENT, MEMORY };

struct reading {
	struct tare_blocks_static *kernels, *kernel; // the latest; NULL: none
	size_t count, room;
	enum part part;
	bool in_kernels, spills; // the list; the memory is for spilled registers alone
	bool scratch;            // or for them and arrays
};

struct line {
	size_t indent; // of the key, behind the "- " of a list
	bool item;
	const char *key, *value;
	size_t key_length, value_length;
};

static bool is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

// Cuts a line in parts. False: it has no key.
static bool cut(const char *text, size_t length, struct line *line)
{
	size_t at = strspn(text, " ");
	const char *colon = at < length ? memchr(text + at, ':', length - at) : NULL;

	if (!colon)
		return false;
	line->item = text[at] == '-' && text[at + 1] == ' ';
	if (line->item)
		at += 2;
	line->indent = at;
	line->key = text + at;
	line->key_length = colon < line->key ? 0 : (size_t)(colon - line->key);
	line->value = colon + 1;
	while (line->value < text + length && *line->value == ' ')
		line->value++;
	line->value_length = (size_t)(text + length - line->value);
	while (line->value_length && strchr(" \r'\"", line->value[line->value_length - 1]))
		line->value_length--;
	if (line->value_length && (*line->value == '\'' || *line->value == '"')) {
		line->value++;
		line->value_length--;
	}
	return true;
}

static void begin_kernel(struct reading *reading, const struct line *line)
{
	reading->kernel = NULL;
	reading->part = OTHER;
	if (line->value_length == 0 || line->value_length >= sizeof reading->kernel->kernel ||
	    memchr(line->value, '/', line->value_length) || reading->count == MOST_KERNELS)
		return;
	if (reading->count == reading->room) {
		size_t room = reading->room ? 2 * reading->room : 16;
		struct tare_blocks_static *kernels =
		    realloc(reading->kernels, room * sizeof *kernels);
		if (!kernels)
			return;
		reading->kernels = kernels;
		reading->room = room;
	}
	reading->kernel = &reading->kernels[reading->count++];
	*reading->kernel = (struct tare_blocks_static){ .simd_width = 0 };
	memcpy(reading->kernel->kernel, line->value, line->value_length);
}

static uint64_t number(const struct line *line)
{
	return line->value[0] >= '0' && line->value[0] <= '9' ? strtoull(line->value, NULL, 10) : 0;
}

static uint32_t small(const struct line *line)
{
	uint64_t value = number(line);

	return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static void read_environment(struct tare_blocks_static *kernel, const struct line *line)
{
	if (is(line->key, line->key_length, "simd_size"))
		kernel->simd_width = small(line);
	else if (is(line->key, line->key_length, "grf_count"))
		kernel->registers = small(line);
	else if (is(line->key, line->key_length, "barrier_count"))
		kernel->barriers = small(line);
	else if (is(line->key, line->key_length, "slm_size"))
		kernel->local_bytes = number(line);
	else if (is(line->key, line->key_length, "spill_size"))
		kernel->spill_bytes = number(line);
}

static void read_memory(struct reading *reading, const struct line *line)
{
	if (line->item)
		reading->spills = reading->scratch = false;
	if (is(line->key, line->key_length, "usage")) {
		reading->spills = is(line->value, line->value_length, "spill_fill_space");
		reading->scratch = is(line->value, line->value_length, "single_space");
	} else if (is(line->key, line->key_length, "size") && reading->spills)
		reading->kernel->spill_bytes = number(line);
	else if (is(line->key, line->key_length, "size") && reading->scratch)
		reading->kernel->scratch_bytes = number(line);
}

static void read_line(struct reading *reading, const struct line *line)
{
	if (line->indent == TOP) {
		reading->in_kernels = is(line->key, line->key_length, "kernels");
		reading->kernel = NULL;
	} else if (!reading->in_kernels)
		return;
	else if (line->indent == OF_KERNEL && line->item && is(line->key, line->key_length, "name"))
		begin_kernel(reading, line);
	else if (line->indent == OF_KERNEL)
		reading->part = is(line->key, line->key_length, "execution_env") ? ENVIRONMENT
		                : is(line->key, line->key_length, "per_thread_memory_buffers")
		                    ? MEMORY
		                    : OTHER;
	else if (reading->kernel && reading->part == ENVIRONMENT && line->indent == OF_PART)
		read_environment(reading->kernel, line);
	else if (reading->kernel && reading->part == MEMORY)
		read_memory(reading, line);
}

struct tare_blocks_static *tare_blocks_ze_info(const char *text, size_t *count)
{
	struct reading reading = { .count = 0 };

	while (*text) {
		size_t length = strcspn(text, "\n");
		struct line line;
		if (cut(text, length, &line))
			read_line(&reading, &line);
		text += length + (text[length] == '\n');
	}
	*count = reading.count;
	return reading.kernels;
}

// ---- assembly

static const struct {
	char begins[8];
	enum tare_blocks_isa isa;
} mnemonics[] = {
	{ "send", TARE_BLOCKS_ISA_MESSAGE },  { "load", TARE_BLOCKS_ISA_MESSAGE },
	{ "store", TARE_BLOCKS_ISA_MESSAGE }, { "atomic", TARE_BLOCKS_ISA_MESSAGE },
	{ "math", TARE_BLOCKS_ISA_MATH },     { "dpas", TARE_BLOCKS_ISA_MATRIX },
	{ "sync", TARE_BLOCKS_ISA_WAIT },     { "nop", TARE_BLOCKS_ISA_WAIT },
	{ "wait", TARE_BLOCKS_ISA_WAIT },     { "illegal", TARE_BLOCKS_ISA_WAIT },
	{ "mov", TARE_BLOCKS_ISA_MOVE },      { "sel", TARE_BLOCKS_ISA_MOVE },
	{ "csel", TARE_BLOCKS_ISA_MOVE },     { "smov", TARE_BLOCKS_ISA_MOVE },
	{ "if", TARE_BLOCKS_ISA_CONTROL },    { "else", TARE_BLOCKS_ISA_CONTROL },
	{ "endif", TARE_BLOCKS_ISA_CONTROL }, { "while", TARE_BLOCKS_ISA_CONTROL },
	{ "break", TARE_BLOCKS_ISA_CONTROL }, { "cont", TARE_BLOCKS_ISA_CONTROL },
	{ "goto", TARE_BLOCKS_ISA_CONTROL },  { "join", TARE_BLOCKS_ISA_CONTROL },
	{ "jmpi", TARE_BLOCKS_ISA_CONTROL },  { "halt", TARE_BLOCKS_ISA_CONTROL },
	{ "call", TARE_BLOCKS_ISA_CONTROL },  { "ret", TARE_BLOCKS_ISA_CONTROL },
	{ "br", TARE_BLOCKS_ISA_CONTROL },
};

enum tare_blocks_isa tare_blocks_isa_of(const char *text)
{
	for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
		if (strncmp(text, mnemonics[i].begins, strlen(mnemonics[i].begins)) == 0)
			return mnemonics[i].isa;
	return TARE_BLOCKS_ISA_ARITHMETIC;
}

const char *tare_blocks_mnemonic(const char *line, const char *end)
{
	const char *at = line + strspn(line, " \t");

	// "(W&f0.1)": for which lanes.
	if (at < end && *at == '(') {
		at += strcspn(at, ")\n");
		at += at < end;
		at += strspn(at, " \t");
	}
	// Others are labels and remarks.
	bool label = line[strcspn(line, ": \n")] == ':';
	return at < end && !label && *at >= 'a' && *at <= 'z' ? at : NULL;
}

void tare_blocks_assembly(const char *text, uint64_t mix[TARE_BLOCKS_ISAS])
{
	while (*text) {
		const char *end = text + strcspn(text, "\n");
		const char *at = tare_blocks_mnemonic(text, end);
		if (at)
			mix[tare_blocks_isa_of(at)]++;
		text = end + (*end == '\n');
	}
}

const char *tare_blocks_isa_name(enum tare_blocks_isa isa)
{
	static const char *const names[TARE_BLOCKS_ISAS] = { "arithmetic", "move",    "math",
		                                             "matrix",     "message", "control",
		                                             "wait" };

	return names[isa];
}

bool tare_blocks_spills(const struct tare_blocks_static *of)
{
	return of->spill_bytes != 0 || of->scratch_bytes != 0;
}
