// SPDX-License-Identifier: Apache-2.0
// Tables of where commands and calls came from: call stacks and their frames.
#include "export/rows.h"

#define INTEGER EXPORT_INTEGER
#define TEXT EXPORT_TEXT

static size_t count_stacks(const struct rows *rows)
{
	return rows->recording->stack_count;
}

static void put_frame(struct rows *rows, const struct tare_frame *frame)
{
	rows_text(rows, frame->function);
	rows_text(rows, frame->file);
	rows_known(rows, frame->line > 0 ? (uint64_t)frame->line : 0);
	rows_name(rows, frame->module);
	rows_unsigned(rows, frame->address);
}

// ---- stack: the frame that is shown for it

#define STACK (uint32_t)(row - r->stacks)
#define SITE tare_symbols_site(rows->symbols, STACK)
#define OF_FRAME(value) (SITE ? (value) : tare_absent(TARE_NOT_KNOWN))
#define TABLE stack
#define ROW struct tare_recorded_stack
#define COLUMNS "export/columns/stack.def"
#include "export/own.h"
EXPORT_OWN(stack, struct tare_recorded_stack, "a call stack, which commands and calls name",
           r->stack_count, &r->stacks[index],
           tare_view_filter_has_process(rows->members, row->process))

// ---- frame: all of them

static const struct export_column export_frame_columns[] = {
	{ "stack", INTEGER }, { "level", INTEGER }, { "function", TEXT },   { "file", TEXT },
	{ "line", INTEGER },  { "module", TEXT },   { "address", INTEGER }, { "inlined", INTEGER },
};

static void put_frames(struct rows *rows, size_t index)
{
	const struct tare_frame *frames;
	size_t count;

	if (!tare_view_filter_has_process(rows->members, rows->recording->stacks[index].process))
		return;
	count = tare_symbols_frames(rows->symbols, (uint32_t)index, &frames);
	for (size_t i = 0; i < count; i++) {
		rows_integer(rows, (int64_t)index);
		rows_integer(rows, (int64_t)i);
		put_frame(rows, &frames[i]);
		rows_integer(rows, frames[i].inlined);
		rows_end(rows);
	}
}

EXPORT_TABLE(export_frame, "frame", false, count_stacks, put_frames);
