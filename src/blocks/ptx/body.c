// SPDX-License-Identifier: Apache-2.0
// The body of a function: instructions, and the blocks that they make. Instructions with a
// predicate are a block of their own, which is passed where it holds.
#include "blocks/ptx/reading.h"

#include <errno.h>
#include <string.h>

enum flow { GOES_ON, BRANCHES, BRANCHES_BY_TABLE, LEAVES, STOPS };

static struct tare_blocks_module *module_of(struct ptx_reading *reading)
{
	return &reading->ptx->module;
}

static uint32_t last_block(struct ptx_reading *reading)
{
	return module_of(reading)->block_count - 1;
}

// ---- blocks

static int begin_block(struct ptx_reading *reading)
{
	struct tare_blocks_module *module = module_of(reading);
	struct tare_blocks_block *block =
	    reading_more(reading, &module->blocks, &reading->blocks, sizeof *block);

	if (!block)
		return -ENOMEM;
	block->function = module->function_count - 1;
	block->first_piece = module->piece_count;
	block->first_successor = module->successor_count;
	block->label = ++module->block_count;
	module->functions[block->function].blocks++;
	reading->open = reading->empty = true;
	reading->must = false;
	reading->predicate = (struct word){ .bytes = 0 };
	return 0;
}

// Where the open block's counter is raised.
static int place_block(struct ptx_reading *reading, size_t at)
{
	struct ptx_edit *edit = reading_edit(reading, PTX_EDIT_BLOCK, at, at);

	if (!edit)
		return -ENOMEM;
	edit->block = last_block(reading);
	edit->predicate = reading->predicate.at;
	edit->predicate_bytes = reading->predicate.bytes;
	module_of(reading)->blocks[edit->block].at = at;
	reading->empty = false;
	return 0;
}

static int add_successor(struct ptx_reading *reading, uint32_t block, uint32_t label)
{
	struct tare_blocks_module *module = module_of(reading);
	uint32_t *successor =
	    reading_more(reading, &module->successors, &reading->successors, sizeof *successor);
	uint32_t *pending =
	    reading_more(reading, &reading->labels, &reading->pending, sizeof *pending);

	if (!successor || !pending)
		return -ENOMEM;
	*successor = block;
	*pending = label;
	module->successor_count++;
	module->blocks[last_block(reading)].successors++;
	return 0;
}

static int add_next(struct ptx_reading *reading, uint32_t ahead)
{
	return add_successor(reading, module_of(reading)->block_count - 1 + ahead, UINT32_MAX);
}

static int add_label(struct ptx_reading *reading, struct word label)
{
	uint32_t symbol = reading_symbol(reading, label);

	return symbol == UINT32_MAX ? -ENOMEM : add_successor(reading, UINT32_MAX, symbol);
}

// The block that follows is reached from the open one.
static int fall_through(struct ptx_reading *reading)
{
	return add_next(reading, 1) ?: begin_block(reading);
}

// An instruction without predicate, or a label, comes behind those that have one.
static int end_guarded(struct ptx_reading *reading)
{
	return reading->open && reading->predicate.bytes ? fall_through(reading) : 0;
}

static int ensure_block(struct ptx_reading *reading)
{
	return reading->open ? end_guarded(reading) : begin_block(reading);
}

static int begin_guarded(struct ptx_reading *reading, size_t at, struct word predicate,
                         uint32_t guard)
{
	const char *text = reading->scan.text;

	if (reading->open && reading->predicate.bytes == predicate.bytes && predicate.bytes &&
	    reading->guard == guard &&
	    memcmp(text + reading->predicate.at, text + predicate.at, predicate.bytes) == 0)
		return 0;
	int status = ensure_block(reading);
	// Its counter is raised before the branch that is none in the text.
	if (status == 0 && reading->empty)
		status = place_block(reading, at);
	status = status ?: reading_branch(reading, guard);
	status = status ?: add_next(reading, 1);
	status = status ?: add_next(reading, 2);
	status = status ?: begin_block(reading);
	reading->predicate = predicate;
	reading->guard = guard;
	return status;
}

// ---- instructions

// Notes where an instruction of the open block stands.
static int list_instruction(struct ptx_reading *reading, size_t at)
{
	struct tare_blocks_module *module = module_of(reading);
	struct tare_blocks_written *written =
	    reading_more(reading, &module->written, &reading->written, sizeof *written);

	if (!written)
		return -ENOMEM;
	*written =
	    (struct tare_blocks_written){ at, last_block(reading), reading->file, reading->line };
	module->written_count++;
	return 0;
}

static enum flow flow_of(const struct ptx_instruction *instruction)
{
	return ptx_is(instruction, "bra")    ? BRANCHES
	       : ptx_is(instruction, "brx")  ? BRANCHES_BY_TABLE
	       : ptx_is(instruction, "ret")  ? LEAVES
	       : ptx_is(instruction, "exit") ? LEAVES
	       : ptx_is(instruction, "trap") ? STOPS
	                                     : GOES_ON;
}

static struct ptx_scan operands_of(const struct ptx_reading *reading,
                                   const struct ptx_instruction *instruction)
{
	struct ptx_scan scan = { reading->scan.text,
		                 (size_t)(instruction->operands - reading->scan.text) +
		                     instruction->operand_bytes,
		                 (size_t)(instruction->operands - reading->scan.text) };

	scan_skip(&scan);
	return scan;
}

// A call: of a function by its name, with what is handed over behind it.
static int read_call(struct ptx_reading *reading, const struct ptx_instruction *instruction,
                     size_t at)
{
	struct ptx_scan scan = operands_of(reading, instruction);

	if (scan_peek(&scan) == '(') {
		if (!scan_to(&scan, ','))
			return reading_failed(reading, at, "a call names no function");
		scan_skip(&scan);
	}
	struct word name = scan_name(&scan);
	if (name.bytes == 0)
		return reading_failed(reading, at, "a call names no function");
	if (scan.text[name.at] == '%') {
		reading->ptx->obstacle = "it calls functions through pointers";
		return 0;
	}
	struct ptx_edit *edit = reading_edit(reading, PTX_EDIT_CALL, at, reading->scan.at);
	if (!edit)
		return -ENOMEM;
	edit->name = name.at;
	edit->name_bytes = name.bytes;
	edit->list = scan.at;
	scan_skip(&scan);
	if (scan_peek(&scan) == ',') {
		scan.at++;
		scan_skip(&scan);
	}
	// Without a list of arguments: a prototype, or a list of targets.
	if (scan_peek(&scan) != '(') {
		if (scan_peek(&scan) != 0)
			reading->ptx->obstacle = "it calls functions through pointers";
		return 0;
	}
	struct ptx_scan inside = scan;
	inside.at++;
	scan_skip(&inside);
	if (!scan_brackets(&scan))
		return reading_failed(reading, at, "a call's list has no end");
	edit->listed = true;
	edit->list = scan.at - 1;
	edit->empty = inside.at == edit->list;
	scan_skip(&scan);
	if (scan_peek(&scan) != 0)
		reading->ptx->obstacle = "it calls functions through pointers";
	return 0;
}

static int add_targets(struct ptx_reading *reading, struct word targets)
{
	struct ptx_scan scan = { reading->scan.text, targets.at + targets.bytes, targets.at };
	uint32_t first = module_of(reading)->successor_count, base = reading->first_successor;
	int status = 0;

	while (status == 0) {
		scan_skip(&scan);
		struct word label = scan_name(&scan);
		if (label.bytes == 0)
			return 0;
		uint32_t symbol = reading_symbol(reading, label);
		if (symbol == UINT32_MAX)
			return -ENOMEM;
		bool known = false;
		for (uint32_t i = first; i < module_of(reading)->successor_count; i++)
			known |= reading->labels[i - base] == symbol;
		if (!known)
			status = add_successor(reading, UINT32_MAX, symbol);
		scan_skip(&scan);
		if (scan_peek(&scan) == ',')
			scan.at++;
	}
	return status;
}

static int branch(struct ptx_reading *reading, const struct ptx_instruction *instruction,
                  bool guarded, uint32_t guard, bool by_table)
{
	struct ptx_scan scan = operands_of(reading, instruction);
	size_t at = scan.at;
	struct word first = scan_name(&scan);
	int status = guarded ? reading_branch(reading, guard) : 0;

	if (first.bytes == 0)
		return reading_failed(reading, at, "a branch has no target");
	if (by_table && status == 0) {
		scan_skip(&scan);
		scan.at += scan_peek(&scan) == ',';
		scan_skip(&scan);
		struct word list = scan_name(&scan);
		uint32_t index = reading_symbol(reading, first),
		         symbol = list.bytes ? reading_symbol(reading, list) : UINT32_MAX;
		if (index == UINT32_MAX || symbol == UINT32_MAX ||
		    reading->symbols[symbol].targets.bytes == 0)
			return reading_failed(reading, at, "a branch's list of targets is missing");
		status = reading_branch(reading, index);
		status = status ?: add_targets(reading, reading->symbols[symbol].targets);
	} else if (status == 0) {
		status = add_label(reading, first);
	}
	if (status == 0 && guarded)
		status = add_next(reading, 1);
	reading->open = false;
	reading->must = guarded;
	return status;
}

static int leave(struct ptx_reading *reading, const struct ptx_instruction *instruction, size_t at,
                 struct word predicate)
{
	struct ptx_edit *edit = reading_edit(reading, PTX_EDIT_LEAVE, at, reading->scan.at);

	if (!edit)
		return -ENOMEM;
	edit->predicate = predicate.at;
	edit->predicate_bytes = predicate.bytes;
	uint32_t function = module_of(reading)->function_count - 1;
	if (ptx_is(instruction, "exit") && !reading->ptx->functions[function].entry)
		reading->ptx->functions[function].exits = true;
	return 0;
}

// What comes behind an instruction in its block, or begins one.
static int flow_on(struct ptx_reading *reading, const struct ptx_instruction *instruction,
                   size_t at, struct word predicate)
{
	enum flow flow = flow_of(instruction);
	int status = 0;

	if (flow == GOES_ON)
		return ptx_is(instruction, "call") ? read_call(reading, instruction, at) : 0;
	if (flow == LEAVES)
		status = leave(reading, instruction, at, predicate);
	reading->open = false;
	reading->must = predicate.bytes != 0;
	return status;
}

static int read_instruction(struct ptx_reading *reading, size_t at, struct word predicate,
                            uint32_t guard)
{
	struct ptx_scan *scan = &reading->scan;
	struct ptx_instruction instruction = { .name = scan->text + scan->at };
	struct word name = scan_word(scan);

	instruction.name_bytes = name.bytes;
	instruction.operands = scan->text + scan->at;
	if (name.bytes == 0 || !scan_to(scan, ';'))
		return reading_failed(reading, at, "it is not understood");
	instruction.operand_bytes = (size_t)(scan->text + scan->at - 1 - instruction.operands);
	enum flow flow = flow_of(&instruction);
	bool branches = flow == BRANCHES || flow == BRANCHES_BY_TABLE;
	int status = predicate.bytes && !branches ? begin_guarded(reading, at, predicate, guard)
	                                          : ensure_block(reading);
	if (status == 0 && reading->empty)
		status = place_block(reading, at);
	status = status ?: list_instruction(reading, at);
	if (status < 0)
		return status;
	struct tare_blocks_tally *tally = reading_tally(reading);
	if (!tally)
		return -ENOMEM;
	ptx_classify(&instruction, tally);
	if (branches)
		return branch(reading, &instruction, predicate.bytes != 0, guard,
		              flow == BRANCHES_BY_TABLE);
	status = reading_step(reading, &instruction);
	// What its predicate was is known no more.
	if (status == 0 && predicate.bytes && reading_writes(reading, &instruction, guard))
		reading->guard = UINT32_MAX;
	return status ?: flow_on(reading, &instruction, at, predicate);
}

static int read_guarded(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	size_t at = scan->at++;

	scan_skip(scan);
	struct word predicate = { .at = scan->at };
	if (scan_peek(scan) == '!') {
		scan->at++;
		scan_skip(scan);
	}
	struct word name = scan_name(scan);
	predicate.bytes = scan->at - predicate.at;
	if (name.bytes == 0)
		return reading_failed(reading, at, "a predicate has no name");
	uint32_t guard = reading_symbol(reading, name);
	scan_skip(scan);
	return guard == UINT32_MAX ? -ENOMEM : read_instruction(reading, at, predicate, guard);
}

// ---- what stands between

static int read_loc(struct ptx_reading *reading)
{
	unsigned long file = scan_number(&reading->scan), line = scan_number(&reading->scan);

	scan_line(&reading->scan);
	// Line 0 is an optimiser's: it belongs to no line.
	reading->file = line && line <= UINT32_MAX && file <= UINT32_MAX ? (uint32_t)file : 0;
	reading->line = reading->file ? (uint32_t)line : 0;
	return 0;
}

static int read_directive(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	size_t at = scan->at;
	struct word word = scan_name(scan);

	if (scan_is(scan, word, ".loc"))
		return read_loc(reading);
	if (scan_is(scan, word, ".file")) {
		scan_line(scan);
		return 0;
	}
	struct ptx_scan declared = *scan;
	if (!scan_to(scan, ';'))
		return reading_failed(reading, at, "it has no end");
	declared.bytes = scan->at - 1;
	return scan_is(scan, word, ".param") ? reading_hide_parameters(reading, declared) : 0;
}

// A label is seen in the braces that it stands in.
static int see_label(struct ptx_reading *reading, struct word word, uint32_t symbol)
{
	struct symbol *label = &reading->symbols[symbol];
	struct seen_label *seen;

	if (label->block && label->scope == reading->depth)
		return reading_failed(reading, word.at, "two labels have one name");
	seen = reading_more(reading, &reading->seen, &reading->seen_room, sizeof *seen);
	if (!seen)
		return -ENOMEM;
	*seen = (struct seen_label){ symbol, label->block, label->scope };
	label->block = last_block(reading) + 1;
	label->scope = reading->depth;
	return 0;
}

static int begin_label(struct ptx_reading *reading, struct word label)
{
	struct ptx_scan *scan = &reading->scan;
	uint32_t symbol = reading_symbol(reading, label);
	int status = symbol == UINT32_MAX ? -ENOMEM : 0;

	scan_skip(scan);
	struct ptx_scan behind = *scan;
	struct word word = scan_name(&behind);
	if (status == 0 && scan_is(scan, word, ".branchtargets")) {
		*scan = behind;
		struct word targets = { .at = scan->at };
		if (!scan_to(scan, ';'))
			return reading_failed(reading, label.at, "a list of targets has no end");
		targets.bytes = scan->at - 1 - targets.at;
		reading->symbols[symbol].targets = targets;
		return 0;
	}
	if (scan_is(scan, word, ".callprototype") || scan_is(scan, word, ".calltargets"))
		return 0;
	// Nothing leads back to a function's first block: it is passed once each time.
	bool first =
	    reading->open &&
	    last_block(reading) ==
	        module_of(reading)->functions[module_of(reading)->function_count - 1].first_block;
	if (status == 0 && reading->open && (first || !reading->empty))
		status = fall_through(reading);
	else if (status == 0 && !reading->open)
		status = begin_block(reading);
	return status ?: see_label(reading, label, symbol);
}

static int read_statement(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	size_t at = scan->at;
	char c = scan_peek(scan);

	if (c == '.')
		return read_directive(reading);
	if (c == '@')
		return read_guarded(reading);
	if (c == ';') {
		scan->at++;
		return 0;
	}
	struct word word = scan_name(scan);
	struct ptx_scan behind = *scan;
	scan_skip(&behind);
	if (word.bytes && scan_peek(&behind) == ':' &&
	    (behind.at + 1 >= scan->bytes || scan->text[behind.at + 1] != ':')) {
		scan->at = behind.at + 1;
		return begin_label(reading, word);
	}
	scan->at = at;
	return read_instruction(reading, at, (struct word){ .bytes = 0 }, UINT32_MAX);
}

// A body may end without an instruction that leaves it.
static int end_body(struct ptx_reading *reading, size_t at)
{
	int status = reading->must ? begin_block(reading) : end_guarded(reading);

	if (status == 0 && reading->open && reading->empty)
		status = place_block(reading, at);
	if (status == 0 && reading->open && !reading_edit(reading, PTX_EDIT_LEAVE, at, at))
		status = -ENOMEM;
	reading->open = reading->must = false;
	return status;
}

// ---- scopes

static int begin_scope(struct ptx_reading *reading)
{
	if (reading->depth == MOST_SCOPES)
		return tare_fail(reading->error, ENOTSUP,
		                 "braces of the PTX stand in more than %d others", MOST_SCOPES - 1);
	reading->scopes[reading->depth++] =
	    (struct scope){ reading->pending.count, reading->seen_room.count };
	return 0;
}

// Branches in the scope find its labels, before those of scopes around it.
static void end_scope(struct ptx_reading *reading)
{
	const struct scope *scope = &reading->scopes[reading->depth - 1];

	for (size_t i = scope->pending; i < reading->pending.count; i++) {
		uint32_t symbol = reading->labels[i];
		const struct symbol *label =
		    symbol == UINT32_MAX ? NULL : &reading->symbols[symbol];
		if (!label || !label->block || label->scope != reading->depth)
			continue;
		module_of(reading)->successors[reading->first_successor + i] = label->block - 1;
		reading->labels[i] = UINT32_MAX;
	}
	while (reading->seen_room.count > scope->seen) {
		const struct seen_label *seen = &reading->seen[--reading->seen_room.count];
		reading->symbols[seen->symbol].block = seen->block;
		reading->symbols[seen->symbol].scope = seen->scope;
	}
	reading->depth--;
}

static int resolve(struct ptx_reading *reading)
{
	for (size_t i = 0; i < reading->pending.count; i++) {
		uint32_t symbol = reading->labels[i];
		if (symbol != UINT32_MAX)
			return reading_failed(reading, reading->symbols[symbol].word.at,
			                      "a branch's target is missing");
	}
	return 0;
}

// A brace; a predicate's name may be another register behind it.
static int read_brace(struct ptx_reading *reading)
{
	reading->guard = UINT32_MAX;
	if (scan_peek(&reading->scan) == '{') {
		reading->scan.at++;
		return begin_scope(reading);
	}
	end_scope(reading);
	reading->scan.at += reading->depth > 0;
	return 0;
}

int reading_body(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	size_t begin = scan->at;

	reading->first_successor = module_of(reading)->successor_count;
	reading->file = reading->line = 0;
	reading->open = reading->must = false;
	reading->depth = 0;
	reading->seen_room.count = 0;
	int status = begin_scope(reading);
	status = status ?: begin_block(reading);
	status = status ?: place_block(reading, begin);
	while (status == 0 && reading->depth) {
		scan_skip(scan);
		char c = scan_peek(scan);
		if (c == 0)
			return reading_failed(reading, begin, "a function has no end");
		status = c == '{' || c == '}' ? read_brace(reading) : read_statement(reading);
	}
	status = status ?: end_body(reading, scan->at);
	scan->at++;
	status = status ?: resolve(reading);
	reading->ptx->register_count += reading->symbol_count;
	return status;
}
