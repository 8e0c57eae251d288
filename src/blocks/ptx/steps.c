// SPDX-License-Identifier: Apache-2.0
// What instructions do to registers, as far as it tells which are the same in a whole group.
#include "blocks/ptx/reading.h"

#include <errno.h>
#include <string.h>

// Registers of the machine that say the same to all threads of a group.
static bool is_of_groups(const struct ptx_scan *scan, struct word word)
{
	static const char *const names[] = { "%ntid",    "%ctaid", "%nctaid",
		                             "%gridid",  "%nsmid", "%total_smem_size",
		                             "%nwarpid", "%smid",  "%dynamic_smem_size" };
	static const char numbered[] = "%envreg";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (scan_is(scan, word, names[i]))
			return true;
	return word.bytes > sizeof numbered - 1 &&
	       memcmp(scan->text + word.at, numbered, sizeof numbered - 1) == 0;
}

static bool begins_register(char c)
{
	return c == '%' || c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The next name in a text of operands; 0 bytes at the end. Parts of registers (.x) are left out.
static struct word next_name(struct ptx_scan *scan)
{
	while (scan->at < scan->bytes) {
		scan_skip(scan);
		char c = scan_peek(scan);
		struct word word = { .at = scan->at };
		if (begins_register(c) || c == '.' || (c >= '0' && c <= '9'))
			word = scan_name(scan);
		else
			scan->at++;
		if (word.bytes && begins_register(c))
			return word;
	}
	return (struct word){ .at = scan->at };
}

static int add_register(struct ptx_reading *reading, uint32_t symbol)
{
	struct ptx *ptx = reading->ptx;
	uint32_t *at = reading_more(reading, &ptx->registers, &reading->registers, sizeof *at);

	if (!at)
		return -ENOMEM;
	*at = reading->first_register + symbol;
	return 0;
}

static struct ptx_step *add_step(struct ptx_reading *reading)
{
	struct ptx *ptx = reading->ptx;
	struct ptx_step *step = reading_more(reading, &ptx->steps, &reading->steps, sizeof *step);

	if (step) {
		step->block = ptx->module.block_count - 1;
		step->first = (uint32_t)reading->registers.count;
	}
	return step;
}

static void note(struct ptx_reading *reading, uint32_t symbol, bool result)
{
	uint32_t *first =
	    result ? &reading->symbols[symbol].defined : &reading->symbols[symbol].used;

	if (!*first)
		*first = (uint32_t)reading->steps.count;
}

// Adds the registers that a text names; whether what it names is not the same for all.
static int add_names(struct ptx_reading *reading, struct ptx_scan scan, bool result, bool *differs)
{
	for (struct word word = next_name(&scan); word.bytes; word = next_name(&scan)) {
		if (is_of_groups(&scan, word))
			continue;
		uint32_t symbol = reading_symbol(reading, word);
		if (symbol == UINT32_MAX)
			return -ENOMEM;
		note(reading, symbol, result);
		// A register that has not been set is any; a name without % may be a variable's.
		const struct symbol *of = &reading->symbols[symbol];
		if (!result && !of->defined && scan.text[word.at] == '%')
			*differs = true;
		if (add_register(reading, symbol) < 0)
			return -ENOMEM;
		struct ptx_step *step = &reading->ptx->steps[reading->steps.count - 1];
		if (result)
			step->results++;
		else
			step->operands++;
	}
	return 0;
}

// Loads of what no thread writes: the kernel's arguments, and constants.
static bool loads_constants(struct ptx_reading *reading, const struct ptx_instruction *instruction)
{
	static const char argument[] = "ld.param", constant[] = "ld.const";
	const struct ptx *ptx = reading->ptx;
	struct ptx_scan scan = { instruction->operands, instruction->operand_bytes, 0 };

	if (instruction->name_bytes < sizeof argument - 1)
		return false;
	if (memcmp(instruction->name, constant, sizeof constant - 1) == 0)
		return true;
	if (memcmp(instruction->name, argument, sizeof argument - 1) != 0 ||
	    !ptx->functions[ptx->module.function_count - 1].entry || !scan_to(&scan, ','))
		return false;
	scan.text = reading->scan.text;
	scan.at += (size_t)(instruction->operands - reading->scan.text);
	scan.bytes += (size_t)(instruction->operands - reading->scan.text);
	struct word word = next_name(&scan);
	uint32_t symbol = word.bytes ? reading_symbol(reading, word) : UINT32_MAX;
	return symbol != UINT32_MAX && reading->symbols[symbol].parameter;
}

int reading_hide_parameters(struct ptx_reading *reading, struct ptx_scan declaration)
{
	for (struct word word = next_name(&declaration); word.bytes;
	     word = next_name(&declaration)) {
		uint32_t symbol = reading_symbol(reading, word);
		if (symbol == UINT32_MAX)
			return -ENOMEM;
		reading->symbols[symbol].parameter = false;
	}
	return 0;
}

// What a call returns into: its first list, where it has two.
static bool divide_call(struct ptx_scan scan, struct ptx_scan *result, struct ptx_scan *rest)
{
	*result = scan;
	result->at++;
	if (scan_peek(&scan) != '(' || !scan_brackets(&scan))
		return false;
	result->bytes = scan.at - 1;
	*rest = scan;
	return true;
}

// The first operand, where it is a result, and what comes behind it.
static bool divide(const struct ptx_reading *reading, const struct ptx_instruction *instruction,
                   struct ptx_scan *result, struct ptx_scan *rest)
{
	size_t at = (size_t)(instruction->operands - reading->scan.text);
	struct ptx_scan scan = { reading->scan.text, at + instruction->operand_bytes, at };

	scan_skip(&scan);
	*result = *rest = scan;
	if (ptx_is(instruction, "call"))
		return divide_call(scan, result, rest);
	if (scan_peek(&scan) == '[')
		return false;
	bool more = scan_to(&scan, ',');
	result->bytes = more ? scan.at - 1 : scan.bytes;
	*rest = scan;
	if (!more)
		rest->at = rest->bytes;
	return true;
}

int reading_step(struct ptx_reading *reading, const struct ptx_instruction *instruction)
{
	struct ptx_scan result, rest;
	bool known = ptx_is_pure(instruction) || loads_constants(reading, instruction);
	bool differs = !known;

	if (!divide(reading, instruction, &result, &rest))
		return 0;
	if (!add_step(reading))
		return -ENOMEM;
	int status = add_names(reading, result, true, &differs);
	// What it reads was set before it, not by it.
	if (status == 0 && known) {
		uint32_t step = (uint32_t)reading->steps.count;
		struct ptx_scan again = rest;
		for (struct word word = next_name(&again); word.bytes; word = next_name(&again)) {
			uint32_t symbol = reading_symbol(reading, word);
			if (symbol == UINT32_MAX)
				return -ENOMEM;
			differs |= reading->symbols[symbol].defined == step;
		}
		status = add_names(reading, rest, false, &differs);
	}
	reading->ptx->steps[reading->steps.count - 1].differs = differs;
	return status;
}

int reading_branch(struct ptx_reading *reading, uint32_t symbol)
{
	struct ptx_step *step = add_step(reading);

	if (!step)
		return -ENOMEM;
	step->branches = true;
	step->operands = 1;
	step->differs = symbol >= reading->symbol_count || !reading->symbols[symbol].defined;
	return add_register(reading, symbol < reading->symbol_count ? symbol : 0);
}

bool reading_writes(struct ptx_reading *reading, const struct ptx_instruction *instruction,
                    uint32_t symbol)
{
	struct ptx_scan result, rest;

	if (!divide(reading, instruction, &result, &rest))
		return false;
	for (struct word word = next_name(&result); word.bytes; word = next_name(&result))
		if (reading_symbol(reading, word) == symbol)
			return true;
	return false;
}
