// SPDX-License-Identifier: Apache-2.0
#include "blocks/ptx/reading.h"
#include "guest/blocks/ptx_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 65536 };

static void forget_symbols(struct ptx_reading *reading)
{
	if (reading->slot_count)
		memset(reading->slots, 0, reading->slot_count * sizeof *reading->slots);
	reading->symbol_count = 0;
	reading->pending.count = 0;
}

// A name that ends; the memory has room for all that stand in the text.
static char *keep_name(struct ptx_reading *reading, struct word word)
{
	char *name = reading->ptx->module.names + reading->names;

	memcpy(name, reading->scan.text + word.at, word.bytes);
	name[word.bytes] = 0;
	reading->names += word.bytes + 1;
	return name;
}

// ---- functions

struct header {
	struct word name;
	size_t list; // as in struct ptx_edit
	size_t parameters;
	bool entry, listed, empty, spread, body;
	size_t end;
};

static int read_list(struct ptx_reading *reading, struct header *header)
{
	struct ptx_scan *scan = &reading->scan;
	size_t open = scan->at;
	struct ptx_scan inside = *scan;

	if (!scan_brackets(scan))
		return reading_failed(reading, open, "a list of parameters has no end");
	inside.at++;
	scan_skip(&inside);
	for (size_t i = open; i + 4 < scan->at; i++)
		header->spread |= memcmp(scan->text + i, ".reg", 4) == 0;
	if (header->name.bytes == 0)
		return 0; // of what it returns
	header->listed = true;
	header->parameters = open + 1;
	header->list = scan->at - 1;
	header->empty = inside.at == header->list;
	return 0;
}

// From behind .entry or .func to behind the '{' of its body, or its ';'.
static int read_header(struct ptx_reading *reading, struct header *header)
{
	struct ptx_scan *scan = &reading->scan;

	for (;;) {
		scan_skip(scan);
		size_t at = scan->at;
		char c = scan_peek(scan);
		int status = 0;
		if (c == '(') {
			status = read_list(reading, header);
		} else if (c == '{' || c == ';') {
			scan->at++;
			header->body = c == '{';
			header->end = scan->at;
			return header->name.bytes
			           ? 0
			           : reading_failed(reading, at, "a function has no name");
		} else if (c == '.') {
			struct word word = scan_name(scan);
			scan_skip(scan);
			if (scan_is(scan, word, ".attribute") && scan_peek(scan) == '(')
				status = scan_brackets(scan) ? 0 : -EINVAL;
			else if (scan_is(scan, word, ".pragma"))
				status = scan_to(scan, ';') ? 0 : -EINVAL;
			if (status < 0)
				return reading_failed(reading, at, "it has no end");
		} else if (c == ',') {
			scan->at++; // of a directive's numbers
		} else {
			struct word word = scan_name(scan);
			if (word.bytes == 0)
				return reading_failed(reading, at, "it is not understood");
			if (header->name.bytes == 0) {
				header->name = word;
				header->list = scan->at;
			}
		}
		if (status < 0)
			return status;
	}
}

static int note_parameters(struct ptx_reading *reading, const struct header *header)
{
	struct ptx_scan scan = reading->scan;

	scan.at = header->parameters;
	while (header->listed && scan.at < header->list) {
		scan_skip(&scan);
		struct word word = scan_name(&scan);
		if (word.bytes == 0) {
			scan.at++;
			continue;
		}
		if (scan.text[word.at] == '.' || word.at >= header->list)
			continue;
		uint32_t symbol = reading_symbol(reading, word);
		if (symbol == UINT32_MAX)
			return -ENOMEM;
		reading->symbols[symbol].parameter = true;
	}
	return 0;
}

static int add_function(struct ptx_reading *reading, const struct header *header)
{
	struct ptx *ptx = reading->ptx;
	struct room beside = reading->functions;
	struct ptx_function *function =
	    reading_more(reading, &ptx->functions, &beside, sizeof *function);
	struct tare_blocks_function *of =
	    reading_more(reading, &ptx->module.functions, &reading->functions, sizeof *of);

	if (!function || !of)
		return -ENOMEM;
	ptx->module.function_count = (uint32_t)reading->functions.count;
	*function = (struct ptx_function){ .name = header->name.at,
		                           .name_bytes = header->name.bytes,
		                           .entry = header->entry,
		                           .spread = header->spread };
	of->id = ptx->module.function_count;
	of->name = keep_name(reading, header->name);
	of->kernel = header->entry ? of->name : NULL;
	of->counted = true;
	of->first_block = ptx->module.block_count;
	forget_symbols(reading);
	reading->first_register = ptx->register_count;
	return note_parameters(reading, header);
}

static int read_function(struct ptx_reading *reading, bool entry)
{
	struct header header = { .entry = entry };
	int status = read_header(reading, &header);

	if (status < 0)
		return status;
	struct ptx_edit *edit = reading_edit(reading, PTX_EDIT_PARAMETER, header.list, header.list);
	if (!edit)
		return -ENOMEM;
	edit->list = header.list;
	edit->listed = header.listed;
	edit->empty = header.empty;
	edit->name = header.name.at;
	edit->name_bytes = header.name.bytes;
	if (!header.body)
		return 0;
	status = add_function(reading, &header);
	if (status == 0 && !reading_edit(reading, PTX_EDIT_BODY, header.end, header.end))
		status = -ENOMEM;
	return status ?: reading_body(reading);
}

// ---- the whole

static int read_file(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	struct tare_blocks_module *module = &reading->ptx->module;
	unsigned long number = scan_number(scan);

	scan_skip(scan);
	struct word name = { .at = scan->at + 1 };
	if (number == 0 || number > MOST_FILES || scan_peek(scan) != '"') {
		scan_line(scan);
		return 0;
	}
	const char *end = memchr(scan->text + name.at, '"', scan->bytes - name.at);
	scan_line(scan);
	if (!end || end > scan->text + scan->at)
		return 0;
	name.bytes = (size_t)(end - (scan->text + name.at));
	if (number > module->file_count) {
		char **files = realloc(module->files, number * sizeof *files);
		if (!files)
			return tare_fail(reading->error, ENOMEM, "out of memory");
		memset(files + module->file_count, 0,
		       (number - module->file_count) * sizeof *files);
		module->files = files;
		module->file_count = (uint32_t)number;
	}
	module->files[number - 1] = keep_name(reading, name);
	return 0;
}

static void read_version(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	unsigned long major = scan_number(scan), minor = 0;

	if (scan_peek(scan) == '.') {
		scan->at++;
		minor = scan_number(scan);
	}
	reading->ptx->version = 100 * (major % 1000) + minor % 100;
}

// Targets and options between commas, over any lines.
static void read_targets(struct ptx_reading *reading)
{
	static const char before[] = "sm_";
	struct ptx_scan *scan = &reading->scan;
	struct ptx *ptx = reading->ptx;

	do {
		scan_skip(scan);
		struct word word = scan_word(scan);
		if (word.bytes >= sizeof before &&
		    memcmp(scan->text + word.at, before, sizeof before - 1) == 0) {
			struct ptx_scan number = *scan;
			number.at = word.at + sizeof before - 1;
			unsigned long target = scan_number(&number);
			if (ptx->target == 0 || target < ptx->target)
				ptx->target = target;
		}
		scan_skip(scan);
	} while (scan_peek(scan) == ',' && ++scan->at);
}

static int read_line_directive(struct ptx_reading *reading, struct word word)
{
	struct ptx_scan *scan = &reading->scan;
	struct ptx *ptx = reading->ptx;

	if (scan_is(scan, word, ".file"))
		return read_file(reading);
	// What is put in front of the functions goes behind the size of addresses.
	if (reading->edits.count &&
	    (scan_is(scan, word, ".address_size") || scan_is(scan, word, ".version")))
		return reading_failed(reading, word.at, "a second module begins in it");
	if (scan_is(scan, word, ".address_size")) {
		if (scan_number(scan) != 64)
			return tare_fail(reading->error, ENOTSUP,
			                 "the module's addresses do not have 64 bits");
		ptx->globals = scan->at;
		return 0;
	}
	if (scan_is(scan, word, ".loc")) {
		scan_line(scan);
		return 0;
	}
	if (scan_is(scan, word, ".version"))
		read_version(reading);
	else
		read_targets(reading);
	return 0;
}

static bool is_line_directive(const struct ptx_scan *scan, struct word word)
{
	static const char *const names[] = { ".version", ".target", ".address_size", ".file",
		                             ".loc" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (scan_is(scan, word, names[i]))
			return true;
	return false;
}

static int read_declaration(struct ptx_reading *reading)
{
	struct ptx_scan *scan = &reading->scan;
	size_t at = scan->at;
	struct word word = scan_name(scan);

	if (word.bytes == 0 || scan->text[word.at] != '.')
		return reading_failed(reading, at, "it is not understood");
	if (is_line_directive(scan, word))
		return read_line_directive(reading, word);
	if (scan_is(scan, word, ".entry") || scan_is(scan, word, ".func"))
		return read_function(reading, scan_is(scan, word, ".entry"));
	if (scan_is(scan, word, ".visible") || scan_is(scan, word, ".extern") ||
	    scan_is(scan, word, ".weak") || scan_is(scan, word, ".common"))
		return 0; // what it is of follows
	if (scan_is(scan, word, ".section")) {
		while (scan->at < scan->bytes && scan_peek(scan) != '{')
			scan->at++;
		return scan->at < scan->bytes && scan_brackets(scan)
		           ? 0
		           : reading_failed(reading, at, "a section has no end");
	}
	if (scan_is(scan, word, ".alias"))
		reading->ptx->obstacle = "a function of it has two names";
	return scan_to(scan, ';') ? 0 : reading_failed(reading, at, "it has no end");
}

static uint32_t function_named(const struct ptx_reading *reading, const struct ptx_edit *edit)
{
	const struct ptx *ptx = reading->ptx;

	for (uint32_t i = 0; i < ptx->module.function_count; i++)
		if (reading_is_same(
		        reading, (struct word){ edit->name, edit->name_bytes },
		        (struct word){ ptx->functions[i].name, ptx->functions[i].name_bytes }))
			return i;
	return UINT32_MAX;
}

// Declarations and calls of functions that are elsewhere stay as they are.
static void resolve_names(struct ptx_reading *reading)
{
	struct ptx *ptx = reading->ptx;
	size_t used = 0;

	for (size_t i = 0; i < reading->edits.count; i++) {
		struct ptx_edit edit = ptx->edits[i];
		if (edit.kind == PTX_EDIT_PARAMETER || edit.kind == PTX_EDIT_CALL) {
			uint32_t caller = edit.function;
			edit.function = function_named(reading, &edit);
			if (edit.function == UINT32_MAX)
				continue;
			if (edit.kind == PTX_EDIT_CALL && ptx->functions[edit.function].entry)
				ptx->obstacle = "it calls a kernel";
			if (edit.kind == PTX_EDIT_CALL)
				ptx->functions[caller].calls = true;
		}
		ptx->edits[used++] = edit;
	}
	ptx->edit_count = used;
}

static void find_obstacles(struct ptx *ptx)
{
	for (uint32_t i = 0; i < ptx->module.function_count; i++) {
		if (ptx->functions[i].exits)
			ptx->obstacle = "a function that kernels call ends the work-item";
		if (ptx->functions[i].spread)
			ptx->obstacle = "a function of it has parameters in registers";
	}
	if (ptx->module.block_count == 0)
		ptx->obstacle = "it has no code";
}

static void sum_blocks(struct tare_blocks_module *module)
{
	for (uint32_t i = 0; i < module->block_count; i++) {
		struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; k < block->pieces; k++)
			tare_blocks_add(&block->tally,
			                &module->pieces[block->first_piece + k].tally, 1);
	}
}

static int read_all(struct ptx_reading *reading)
{
	struct ptx *ptx = reading->ptx;
	int status = 0;

	for (;;) {
		scan_skip(&reading->scan);
		if (status < 0 || reading->scan.at >= reading->scan.bytes)
			break;
		status = read_declaration(reading);
	}
	if (status == 0 && ptx->globals == 0)
		status = tare_fail(reading->error, ENOTSUP,
		                   "the module's addresses do not have 64 bits");
	if (status < 0)
		return status;
	resolve_names(reading);
	find_obstacles(ptx);
	sum_blocks(&ptx->module);
	ptx->step_count = reading->steps.count;
	ptx->register_entries = reading->registers.count;
	return ptx_find_uniform(ptx) ? 0 : tare_fail(reading->error, ENOMEM, "out of memory");
}

int ptx_read(const char *text, size_t bytes, struct ptx *ptx, struct tare_error *error)
{
	struct ptx_reading reading = { .ptx = ptx, .error = error };

	*ptx = (struct ptx){ .bytes = strnlen(text, bytes) };
	if (!blocks_is_ptx(text, ptx->bytes))
		return tare_fail(error, EINVAL, "it is no PTX");
	if (ptx->bytes > UINT32_MAX / 2)
		return tare_fail(error, ENOTSUP, "the PTX is too long");
	ptx->text = malloc(ptx->bytes + 1);
	ptx->module.names = malloc(ptx->bytes + 2);
	if (!ptx->text || !ptx->module.names)
		return tare_fail(error, ENOMEM, "out of memory");
	memcpy(ptx->text, text, ptx->bytes);
	ptx->text[ptx->bytes] = 0;
	reading.scan = (struct ptx_scan){ ptx->text, ptx->bytes, 0 };
	int status = read_all(&reading);
	free(reading.symbols);
	free(reading.slots);
	free(reading.labels);
	free(reading.seen);
	free(reading.piece_slots);
	return status;
}

void ptx_free(struct ptx *ptx)
{
	tare_blocks_module_free(&ptx->module);
	free(ptx->text);
	free(ptx->functions);
	free(ptx->edits);
	free(ptx->steps);
	free(ptx->registers);
	*ptx = (struct ptx){ .text = NULL };
}
