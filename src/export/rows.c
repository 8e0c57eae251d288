// SPDX-License-Identifier: Apache-2.0
#include "export/rows.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

const struct export_table *const export_all_tables[] = {
	&export_meta,      &export_process,
	&export_thread,    &export_device,
	&export_queue,     &export_program,
	&export_kernel,    &export_memory,
	&export_function,  &export_command,
	&export_wait,      &export_list,
	&export_execution, &export_call,
	&export_phase,     &export_callback,
	&export_loss,      &export_gap,
	&export_ledger,    &export_stack,
	&export_frame,     NULL,
};

const char *const *tare_export_tables(void)
{
	static const char *names[sizeof export_all_tables / sizeof *export_all_tables];

	for (size_t i = 0; export_all_tables[i]; i++)
		names[i] = export_all_tables[i]->name;
	return names;
}

// ---- values

static void keep(struct rows *rows, int status)
{
	if (rows->status == 0)
		rows->status = status;
}

// The column that the value is for.
static size_t next(struct rows *rows)
{
	assert(rows->column < rows->table->column_count);
	return rows->column++;
}

void rows_null(struct rows *rows)
{
	keep(rows, rows->sink->null(rows->context, next(rows)));
}

void rows_integer(struct rows *rows, int64_t value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_INTEGER);
	keep(rows, rows->sink->integer(rows->context, next(rows), value));
}

void rows_unsigned(struct rows *rows, uint64_t value)
{
	if (value > INT64_MAX)
		rows_null(rows);
	else
		rows_integer(rows, (int64_t)value);
}

void rows_known(struct rows *rows, uint64_t value)
{
	if (value == 0)
		rows_null(rows);
	else
		rows_unsigned(rows, value);
}

void rows_index(struct rows *rows, uint32_t index, size_t count)
{
	if (index >= count)
		rows_null(rows);
	else
		rows_integer(rows, index);
}

void rows_real(struct rows *rows, double value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_REAL);
	if (isfinite(value))
		keep(rows, rows->sink->real(rows->context, next(rows), value));
	else
		rows_null(rows);
}

void rows_text(struct rows *rows, const char *value)
{
	assert(rows->table->columns[rows->column].type == EXPORT_TEXT);
	if (value)
		keep(rows, rows->sink->text(rows->context, next(rows), value));
	else
		rows_null(rows);
}

void rows_name(struct rows *rows, const char *value)
{
	rows_text(rows, value && value[0] ? value : NULL);
}

void rows_moment(struct rows *rows, int64_t at_ns)
{
	int64_t since;

	if (at_ns == TARE_NO_TIME ||
	    __builtin_sub_overflow(at_ns, rows->recording->start_ns, &since))
		rows_null(rows);
	else
		rows_integer(rows, since);
}

void rows_length(struct rows *rows, int64_t ns)
{
	if (ns == TARE_NO_TIME)
		rows_null(rows);
	else
		rows_integer(rows, ns);
}

void rows_end(struct rows *rows)
{
	assert(rows->column == rows->table->column_count);
	rows->column = 0;
	if (rows->status == 0)
		keep(rows, rows->sink->row(rows->context));
	rows->counts->rows += rows->status == 0;
}

// ---- all tables

static bool step(const struct tare_export_watch *watch, const char *what, uint64_t done,
                 uint64_t total)
{
	return done % 4096 != 0 || !watch || watch->step(watch->context, what, done, total);
}

static uint64_t count_things(const struct rows *rows)
{
	uint64_t total = 0;

	for (size_t i = 0; export_all_tables[i]; i++)
		total += export_all_tables[i]->count(rows);
	return total;
}

static int write_tables(struct rows *rows, const struct tare_export_watch *watch)
{
	uint64_t total = count_things(rows), done = 0;

	for (size_t i = 0; export_all_tables[i] && rows->status == 0; i++) {
		const struct export_table *table = export_all_tables[i];
		size_t count = table->count(rows);
		rows->table = table;
		keep(rows, rows->sink->begin(rows->context, table));
		for (size_t k = 0; k < count && rows->status == 0; k++) {
			if (!step(watch, table->name, done++, total))
				keep(rows, -EINTR);
			else
				table->put(rows, k);
		}
		if (rows->status == 0)
			keep(rows, rows->sink->end(rows->context));
	}
	return rows->status;
}

int export_rows(const struct tare_recording *recording, const struct tare_view *view,
                const struct tare_export_watch *watch, const struct export_sink *sink,
                void *context, struct tare_export_counts *counts, struct tare_error *error)
{
	struct rows rows = {
		.recording = recording,
		.view = view,
		.sink = sink,
		.context = context,
		.counts = counts,
	};
	int status = tare_view_filter_open(recording, view, &rows.members, error);

	*counts = (struct tare_export_counts){ 0 };
	if (status == 0)
		status = tare_ledgers_compute(recording, view, &rows.ledgers, error);
	if (status == 0)
		status = tare_symbols_open(recording, &rows.symbols, error);
	if (status == 0)
		status = write_tables(&rows, watch);
	tare_symbols_free(rows.symbols);
	tare_ledgers_free(&rows.ledgers);
	tare_view_filter_close(rows.members);
	if (status == -EINTR)
		tare_fail(error, EINTR, "interrupted");
	return status;
}
