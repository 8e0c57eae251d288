// SPDX-License-Identifier: Apache-2.0
// All tables, in the order in which they are written: first the recording's own, then the report's.
#include "export/declared.h"

#include <errno.h>

static const struct export_table *const own_tables[] = {
	&export_meta,     &export_process, &export_thread,    &export_device,   &export_queue,
	&export_program,  &export_kernel,  &export_memory,    &export_function, &export_command,
	&export_wait,     &export_list,    &export_execution, &export_call,     &export_phase,
	&export_callback, &export_loss,    &export_gap,       &export_ledger,   &export_stack,
	&export_frame,
};

enum { OWN_TABLES = sizeof own_tables / sizeof *own_tables, MOST_TABLES = 64 };

// NULL beyond the last.
static const struct export_table *table_at(size_t index)
{
	return index < OWN_TABLES ? own_tables[index] : export_declared_table(index - OWN_TABLES);
}

const char *const *tare_export_tables(void)
{
	static const char *names[MOST_TABLES];

	for (size_t i = 0; i + 1 < MOST_TABLES && table_at(i); i++)
		names[i] = table_at(i)->name;
	return names;
}

static bool step(const struct tare_export_watch *watch, const char *what, uint64_t done,
                 uint64_t total)
{
	return done % 4096 != 0 || !watch || watch->step(watch->context, what, done, total);
}

static uint64_t count_things(struct rows *rows)
{
	uint64_t total = 0;

	for (size_t i = 0; (rows->table = table_at(i)); i++)
		total += rows->table->count(rows);
	return total;
}

static int write_tables(struct rows *rows, const struct tare_export_watch *watch)
{
	uint64_t total = count_things(rows), done = 0;

	for (size_t i = 0; (rows->table = table_at(i)) && rows->status == 0; i++) {
		const struct export_table *table = rows->table;
		size_t count = table->count(rows);
		rows_keep(rows, rows->sink->begin(rows->context, table));
		for (size_t k = 0; k < count && rows->status == 0; k++) {
			if (!step(watch, table->name, done++, total))
				rows_keep(rows, -EINTR);
			else
				table->put(rows, k);
		}
		if (rows->status == 0)
			rows_keep(rows, rows->sink->end(rows->context));
	}
	return rows->status;
}

int export_rows(const struct tare_report *run, const struct tare_export_watch *watch,
                const struct export_sink *sink, void *context, struct tare_export_counts *counts,
                struct tare_error *error)
{
	struct rows rows = {
		.recording = run->recording,
		.view = run->view,
		.run = run,
		.ledgers = run->ledgers,
		.symbols = run->symbols,
		.sink = sink,
		.context = context,
		.counts = counts,
	};
	int status = tare_view_filter_open(run->recording, run->view, &rows.members, error);

	*counts = (struct tare_export_counts){ 0 };
	if (status == 0)
		status = write_tables(&rows, watch);
	tare_view_filter_close(rows.members);
	if (status == -EINTR)
		tare_fail(error, EINTR, "interrupted");
	return status;
}
