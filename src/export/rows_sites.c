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
	rows_text(rows, frame ? frame->function : NULL);
	rows_text(rows, frame ? frame->file : NULL);
	rows_known(rows, frame && frame->line > 0 ? (uint64_t)frame->line : 0);
	rows_name(rows, frame ? frame->module : NULL);
	if (frame)
		rows_unsigned(rows, frame->address);
	else
		rows_null(rows);
}

// ---- stack: the frame that is shown for it

static const struct export_column export_stack_columns[] = {
	{ "stack", INTEGER }, { "process", INTEGER }, { "site", TEXT },   { "function", TEXT },
	{ "file", TEXT },     { "line", INTEGER },    { "module", TEXT }, { "address", INTEGER },
};

static void put_stack(struct rows *rows, size_t index)
{
	const struct tare_recorded_stack *s = &rows->recording->stacks[index];

	if (!tare_view_filter_has_process(rows->members, s->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, s->process, rows->recording->process_count);
	rows_name(rows, tare_symbols_text(rows->symbols, (uint32_t)index));
	put_frame(rows, tare_symbols_site(rows->symbols, (uint32_t)index));
	rows_end(rows);
}

EXPORT_TABLE(export_stack, "stack", true, count_stacks, put_stack);

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
