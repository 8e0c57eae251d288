// SPDX-License-Identifier: Apache-2.0
#include "blocks/ptx/instrument.h"

#include "blocks/module/calls.h"
#include "blocks/sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 64,
	LINE_COUNTERS = 8, // in 64 bytes
	MOST_IN_REGISTERS = 64,
	PREFIX_BYTES = 24,
	// What one thread may bring to the sum of a warp's 32 in 32 bits, from minus that on.
	MOST_IN_SUM = 1 << 26,
};

// How threads add what each has counted of a block.
enum adding {
	ADDS_ALONE,   // each for itself
	ADDS_MATCHED, // of a warp's active threads those with one value by the first of them
	ADDS_SUMMED,  // all of these by the first of them
};

struct writing {
	const struct ptx *ptx;
	const struct tare_blocks_plan *plan;
	enum ptx_memory memory;
	enum adding adding;
	char prefix[PREFIX_BYTES]; // of all names of ours
	char *text;
	size_t count, room, copied;
	bool failed; // no memory
	uint32_t rows, row_counters;
	const struct tare_blocks_function *function; // in which we are
	uint32_t at;                                 // its index
	bool launched, in_memory;
	uint32_t first, counters; // of the function: its counters' numbers
	uint32_t labels;          // of ours, so far
};

static void put_bytes(struct writing *writing, const char *bytes, size_t count)
{
	if (writing->failed)
		return;
	if (writing->room - writing->count <= count) {
		size_t room = 2 * (writing->count + count) + 4096;
		char *text = realloc(writing->text, room);
		if (!text) {
			writing->failed = true;
			return;
		}
		writing->text = text;
		writing->room = room;
	}
	memcpy(writing->text + writing->count, bytes, count);
	writing->count += count;
}

// Formatted text; each '~' in it becomes the prefix of our names.
__attribute__((format(printf, 2, 3))) static void put(struct writing *writing, const char *format,
                                                      ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	for (const char *at = text; *at;) {
		size_t plain = strcspn(at, "~");
		put_bytes(writing, at, plain);
		at += plain;
		if (*at == '~') {
			put_bytes(writing, writing->prefix, strlen(writing->prefix));
			at++;
		}
	}
}

static void copy_to(struct writing *writing, size_t at)
{
	put_bytes(writing, writing->ptx->text + writing->copied, at - writing->copied);
	writing->copied = at;
}

// A prefix that no name of the text has.
static void choose_prefix(const struct ptx *ptx, char prefix[PREFIX_BYTES])
{
	unsigned number = 0;

	do
		snprintf(prefix, PREFIX_BYTES, "tare%u_", number++);
	while (strstr(ptx->text, prefix));
}

void ptx_variables(const struct ptx *ptx, char *text, size_t size)
{
	char prefix[PREFIX_BYTES];

	choose_prefix(ptx, prefix);
	snprintf(text, size, "%scounters_", prefix);
}

// ---- counters of a function

static bool is_begun_by_group(const struct writing *writing, uint32_t block)
{
	return writing->launched && block == writing->function->first_block;
}

// The counter that each thread keeps for a block, or TARE_BLOCKS_DERIVED.
static uint32_t own_counter(const struct writing *writing, uint32_t block)
{
	uint32_t counter = writing->plan->counters[block];

	return counter == TARE_BLOCKS_DERIVED || is_begun_by_group(writing, block) ||
	               writing->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_CALLS
	           ? TARE_BLOCKS_DERIVED
	           : counter;
}

static uint32_t own_counters(const struct writing *writing)
{
	uint32_t count = 0, first = writing->function->first_block;

	for (uint32_t i = first; i < first + writing->function->blocks; i++)
		count += own_counter(writing, i) != TARE_BLOCKS_DERIVED;
	return count;
}

// The name of a kernel's variable between two texts.
static void put_variable(struct writing *writing, const char *before, uint32_t function,
                         const char *after)
{
	const char *name = writing->ptx->module.functions[function].name;

	put(writing, "%s~counters_", before);
	put_bytes(writing, name, strlen(name));
	put(writing, "%s", after);
}

static bool calls(const struct writing *writing)
{
	return writing->ptx->functions[writing->at].calls;
}

// The row of the counters that this thread's group adds to, in %~m.
static void put_row(struct writing *writing)
{
	if (!writing->launched) {
		put(writing, "ld.param.b64 %%~m, [~row];\n");
		return;
	}
	if (writing->memory == PTX_MEMORY_ARGUMENT)
		put(writing, "ld.param.b64 %%~m, [~memory];\n");
	else
		put_variable(writing, "mov.u64 %~m, ", writing->at, ";\n");
	put(writing, "mov.u32 %%~x, %%ctaid.x;\nmov.u32 %%~y, %%ctaid.y;\n"
	             "add.u32 %%~x, %%~x, %%~y;\nmov.u32 %%~y, %%ctaid.z;\n"
	             "add.u32 %%~x, %%~x, %%~y;\n");
	put(writing, "and.b32 %%~x, %%~x, %" PRIu32 ";\nmul.wide.u32 %%~a, %%~x, %" PRIu32 ";\n",
	    writing->rows - 1, writing->row_counters * 8);
	put(writing, "add.u64 %%~m, %%~m, %%~a;\n");
}

static void put_guard(struct writing *writing, const char *predicate, size_t bytes)
{
	if (!bytes)
		return;
	put(writing, "@");
	put_bytes(writing, predicate, bytes);
	put(writing, " ");
}

// Where counters are too many for registers, they lie in the thread's own memory.
static void put_raise(struct writing *writing, uint32_t counter, const char *predicate,
                      size_t bytes)
{
	counter -= writing->first;
	put_guard(writing, predicate, bytes);
	if (!writing->in_memory) {
		put(writing, "add.u64 %%~n%" PRIu32 ", %%~n%" PRIu32 ", 1;\n", counter, counter);
		return;
	}
	put(writing, "ld.local.u64 %%~a, [~n+%" PRIu32 "];\n", 8 * counter);
	put_guard(writing, predicate, bytes);
	put(writing, "add.u64 %%~a, %%~a, 1;\n");
	put_guard(writing, predicate, bytes);
	put(writing, "st.local.u64 [~n+%" PRIu32 "], %%~a;\n", 8 * counter);
}

// A counter's value in %~a.
static void put_value(struct writing *writing, uint32_t counter)
{
	counter -= writing->first;
	if (writing->in_memory)
		put(writing, "ld.local.u64 %%~a, [~n+%" PRIu32 "];\n", 8 * counter);
	else
		put(writing, "mov.u64 %%~a, %%~n%" PRIu32 ";\n", counter);
}

static void begin_body(struct writing *writing)
{
	uint32_t first = writing->function->first_block;

	put(writing, "\n.reg .b64 %%~m, %%~a, %%~s, %%~w;\n"
	             ".reg .b32 %%~x, %%~y, %%~k, %%~e;\n.reg .pred %%~p, %%~f, %%~l;\n");
	if (writing->in_memory)
		put(writing, ".local .align 8 .b64 ~n[%" PRIu32 "];\n", writing->counters);
	else if (own_counters(writing))
		put(writing, ".reg .b64 %%~n<%" PRIu32 ">;\n", writing->counters);
	if (writing->in_memory)
		put(writing, "mov.u64 %%~a, 0;\n");
	for (uint32_t i = first; i < first + writing->function->blocks; i++) {
		uint32_t counter = own_counter(writing, i);
		if (counter == TARE_BLOCKS_DERIVED)
			continue;
		counter -= writing->first;
		if (writing->in_memory)
			put(writing, "st.local.u64 [~n+%" PRIu32 "], %%~a;\n", 8 * counter);
		else
			put(writing, "mov.u64 %%~n%" PRIu32 ", 0;\n", counter);
	}
	if (calls(writing))
		put_row(writing);
}

// ---- as a thread leaves a function

static void put_addition(struct writing *writing, const char *guard, uint32_t counter,
                         const char *value)
{
	put(writing, "@%s red.global.add.u64 [%%~m+%" PRIu32 "], %%~%s;\n", guard, 8 * counter,
	    value);
}

// The warp's active threads in %~k: no branch follows until the function is left, so that all of
// them get to what they do together. Those before this one in %~e, and in %~f whether there are
// none.
static void put_warp(struct writing *writing)
{
	put(writing, "activemask.b32 %%~k;\nmov.u32 %%~e, %%lanemask_lt;\n"
	             "and.b32 %%~e, %%~e, %%~k;\nsetp.eq.u32 %%~f, %%~e, 0;\n");
}

// Of threads with the value that is in %~a the first adds as often as they are.
static void put_matched(struct writing *writing, uint32_t counter)
{
	put(writing, "match.any.sync.b64 %%~x, %%~a, %%~k;\nand.b32 %%~y, %%~x, %%~e;\n"
	             "popc.b32 %%~x, %%~x;\ncvt.u64.u32 %%~s, %%~x;\n"
	             "mul.lo.u64 %%~s, %%~s, %%~a;\nsetp.eq.u32 %%~p, %%~y, 0;\n"
	             "setp.ne.and.u64 %%~p, %%~a, 0, %%~p;\n");
	put_addition(writing, "%~p", counter, "s");
}

// The first adds the sum of what is in %~a. What is too large for that its thread adds by itself.
static void put_summed(struct writing *writing, uint32_t counter)
{
	put(writing,
	    "add.u64 %%~s, %%~a, %d;\nsetp.lt.u64 %%~p, %%~s, %d;\ncvt.u32.u64 %%~x, %%~a;\n"
	    "selp.b32 %%~x, %%~x, 0, %%~p;\nredux.sync.add.s32 %%~y, %%~x, %%~k;\n"
	    "cvt.s64.s32 %%~s, %%~y;\n",
	    MOST_IN_SUM, 2 * MOST_IN_SUM);
	put_addition(writing, "!%~p", counter, "a");
	put(writing, "setp.ne.and.s32 %%~p, %%~y, 0, %%~f;\n");
	put_addition(writing, "%~p", counter, "s");
}

// What a thread adds: nothing where it has what is expected of it.
static void put_each(struct writing *writing, uint32_t counter)
{
	put_value(writing, counter);
	if (writing->launched && writing->plan->kept[counter].expected)
		put(writing, "sub.u64 %%~a, %%~a, 1;\n");
	if (writing->adding == ADDS_SUMMED) {
		put_summed(writing, counter);
	} else if (writing->adding == ADDS_MATCHED) {
		put_matched(writing, counter);
	} else {
		put(writing, "setp.ne.u64 %%~p, %%~a, 0;\n");
		put_addition(writing, "%~p", counter, "a");
	}
}

// What the first thread of a group adds for all, of which there are %~w.
static void put_group(struct writing *writing, uint32_t block)
{
	uint32_t counter = writing->plan->counters[block];
	const struct tare_blocks_counter *kept = &writing->plan->kept[counter];

	if (kept->keeper == TARE_BLOCKS_KEPT_BY_EACH && !kept->expected)
		return;
	if (kept->keeper == TARE_BLOCKS_KEPT_BY_EACH || is_begun_by_group(writing, block)) {
		put_addition(writing, "%~l", counter, "w");
		return;
	}
	put_value(writing, counter);
	put(writing, "mul.lo.u64 %%~a, %%~a, %%~w;\n");
	put_addition(writing, "%~l", counter, "a");
}

static void put_leader(struct writing *writing)
{
	put(writing, "mov.u32 %%~x, %%tid.x;\nmov.u32 %%~y, %%tid.y;\nor.b32 %%~x, %%~x, %%~y;\n"
	             "mov.u32 %%~y, %%tid.z;\nor.b32 %%~x, %%~x, %%~y;\n"
	             "setp.eq.u32 %%~l, %%~x, 0;\n");
	put(writing, "mov.u32 %%~x, %%ntid.x;\nmov.u32 %%~y, %%ntid.y;\n"
	             "mul.lo.u32 %%~x, %%~x, %%~y;\nmov.u32 %%~y, %%ntid.z;\n"
	             "mul.wide.u32 %%~w, %%~x, %%~y;\n");
}

// Whether threads add a block's counter each by what it has.
static bool is_of_each(const struct writing *writing, uint32_t block)
{
	uint32_t counter = own_counter(writing, block);

	return counter != TARE_BLOCKS_DERIVED &&
	       writing->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_EACH;
}

static void put_all_of_each(struct writing *writing, uint32_t first, uint32_t end)
{
	bool any = false;

	for (uint32_t i = first; i < end; i++) {
		if (!is_of_each(writing, i))
			continue;
		if (!any && writing->adding != ADDS_ALONE)
			put_warp(writing);
		any = true;
		put_each(writing, writing->plan->counters[i]);
	}
}

static void add_to_memory(struct writing *writing)
{
	uint32_t first = writing->function->first_block;
	uint32_t end = first + writing->function->blocks;

	put(writing, "\n");
	if (!calls(writing))
		put_row(writing);
	put_all_of_each(writing, first, end);
	if (!writing->launched)
		return;
	put_leader(writing);
	for (uint32_t i = first; i < end; i++)
		if (writing->plan->counters[i] != TARE_BLOCKS_DERIVED)
			put_group(writing, i);
}

// ---- edits

static void begin_function(struct writing *writing, uint32_t function)
{
	writing->at = function;
	writing->function = &writing->ptx->module.functions[function];
	writing->launched = tare_blocks_is_launched(&writing->ptx->module, writing->function);
	writing->first = tare_blocks_first_counter(&writing->ptx->module, writing->plan, function,
	                                           &writing->counters);
	writing->in_memory = own_counters(writing) > MOST_IN_REGISTERS;
}

static void put_in_list(struct writing *writing, const struct ptx_edit *edit, const char *what)
{
	copy_to(writing, edit->list);
	if (!edit->listed)
		put(writing, edit->kind == PTX_EDIT_CALL ? ", (" : "(");
	put(writing, "%s%s%s", edit->listed && !edit->empty ? ", " : "", what,
	    edit->listed ? "" : ")");
}

static void edit_parameter(struct writing *writing, const struct ptx_edit *edit)
{
	bool entry = writing->ptx->functions[edit->function].entry;

	if (entry && writing->memory == PTX_MEMORY_ARGUMENT)
		put_in_list(writing, edit, ".param .u64 .ptr .global .align 8 ~memory");
	else if (!entry)
		put_in_list(writing, edit, ".param .b64 ~row");
}

static void edit_call(struct writing *writing, const struct ptx_edit *edit)
{
	copy_to(writing, edit->at);
	put(writing, "{ .param .b64 ~given; st.param.b64 [~given], %%~m;\n");
	put_in_list(writing, edit, "~given");
	copy_to(writing, edit->end);
	put(writing, " }");
}

// A return of some threads becomes a branch around what these do.
static void edit_leave(struct writing *writing, const struct ptx_edit *edit)
{
	const char *predicate = writing->ptx->text + edit->predicate;
	int bytes = (int)edit->predicate_bytes;
	bool negative = bytes && predicate[0] == '!';

	copy_to(writing, edit->at);
	if (bytes) {
		put(writing, "\n@%s", negative ? "" : "!");
		put_bytes(writing, predicate + negative, (size_t)(bytes - negative));
		put(writing, " bra ~out%" PRIu32 ";", writing->labels);
	}
	add_to_memory(writing);
	if (!bytes) {
		copy_to(writing, edit->end);
		return;
	}
	// All that get here have the predicate: the instruction stays as it is.
	copy_to(writing, edit->end);
	put(writing, "\n~out%" PRIu32 ":\n", writing->labels++);
}

static void edit(struct writing *writing, const struct ptx_edit *edit)
{
	switch (edit->kind) {
	case PTX_EDIT_PARAMETER:
		edit_parameter(writing, edit);
		break;
	case PTX_EDIT_BODY:
		begin_function(writing, edit->function);
		copy_to(writing, edit->at);
		begin_body(writing);
		break;
	case PTX_EDIT_BLOCK:
		if (own_counter(writing, edit->block) == TARE_BLOCKS_DERIVED)
			break;
		copy_to(writing, edit->at);
		put(writing, "\n");
		put_raise(writing, own_counter(writing, edit->block),
		          writing->ptx->text + edit->predicate, edit->predicate_bytes);
		break;
	case PTX_EDIT_LEAVE:
		edit_leave(writing, edit);
		break;
	case PTX_EDIT_CALL:
		edit_call(writing, edit);
		break;
	}
}

static void put_variables(struct writing *writing)
{
	copy_to(writing, writing->ptx->globals);
	for (uint32_t i = 0; i < writing->ptx->module.function_count; i++) {
		if (!writing->ptx->functions[i].entry)
			continue;
		put_variable(writing, "\n.global .align 8 .b64 ", i, "");
		put(writing, "[%" PRIu32 "];", writing->rows * writing->row_counters);
	}
}

// The text's own version and target say which instructions it may have: redux is of PTX 7.0 and
// sm_80, match of sm_70, and activemask of PTX 6.2.
static enum adding adding_of(const struct ptx *ptx)
{
	return ptx->version >= 700 && ptx->target >= 80   ? ADDS_SUMMED
	       : ptx->version >= 602 && ptx->target >= 70 ? ADDS_MATCHED
	                                                  : ADDS_ALONE;
}

int ptx_instrument(const struct ptx *ptx, const struct tare_blocks_plan *plan,
                   enum ptx_memory memory, struct tare_blocks_instrumented *made,
                   struct tare_error *error)
{
	struct writing writing = { .ptx = ptx, .plan = plan, .memory = memory, .rows = ROWS };

	*made = (struct tare_blocks_instrumented){ .counters = plan->counter_count };
	if (ptx->obstacle)
		return tare_fail(error, ENOTSUP, "the program cannot be instrumented: %s",
		                 ptx->obstacle);
	choose_prefix(ptx, writing.prefix);
	writing.adding = adding_of(ptx);
	writing.row_counters =
	    (plan->counter_count + LINE_COUNTERS - 1) / LINE_COUNTERS * LINE_COUNTERS;
	while (writing.rows > 1 &&
	       (uint64_t)writing.rows * writing.row_counters * 8 > TARE_BLOCKS_MOST_BYTES)
		writing.rows /= 2;
	if (memory == PTX_MEMORY_MODULE)
		put_variables(&writing);
	for (size_t i = 0; i < ptx->edit_count; i++)
		edit(&writing, &ptx->edits[i]);
	copy_to(&writing, ptx->bytes);
	put_bytes(&writing, "", 1);
	if (writing.failed) {
		free(writing.text);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	made->data = writing.text;
	made->bytes = writing.count;
	made->rows = writing.rows;
	made->row_counters = writing.row_counters;
	return 0;
}
