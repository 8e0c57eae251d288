// SPDX-License-Identifier: Apache-2.0
// All tables, in the order in which they are written: first the recording's own, then the report's.
#include "report/tables/tables.h"
#include "base/cleanup.h"
#include "export/declared.h"

#include <errno.h>

// What one table is written from: by hand, or as it is declared.
static const struct {
	const struct export_table *written;
	const struct export_own *declared;
} own_tables[] = {
	{ .written = &export_meta },       { .declared = &export_process },
	{ .declared = &export_thread },    { .declared = &export_device },
	{ .declared = &export_queue },     { .declared = &export_program },
	{ .declared = &export_kernel },    { .declared = &export_memory },
	{ .declared = &export_function },  { .declared = &export_command },
	{ .written = &export_wait },       { .declared = &export_list },
	{ .declared = &export_execution }, { .declared = &export_call },
	{ .declared = &export_phase },     { .declared = &export_callback },
	{ .declared = &export_loss },      { .declared = &export_gap },
	{ .written = &export_ledger },     { .declared = &export_stack },
	{ .written = &export_frame },
};

enum { OWN_TABLES = sizeof own_tables / sizeof *own_tables, MOST_TABLES = 64 };

// NULL beyond the last.
static const struct export_table *table_at(size_t index)
{
	const struct tare_table *reported;

	if (index < OWN_TABLES && own_tables[index].written)
		return own_tables[index].written;
	if (index < OWN_TABLES)
		return export_declared_table(index, &own_tables[index].declared->table,
		                             own_tables[index].declared->has);
	reported = tare_run_tables[index - OWN_TABLES];
	return reported ? export_declared_table(index, reported, NULL) : NULL;
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
	struct rows_command command;
	struct rows rows = {
		.command = &command,
		.recording = run->recording,
		.view = run->view,
		.run = run,
		.ledgers = run->ledgers,
		.symbols = run->symbols,
		.sink = sink,
		.context = context,
		.counts = counts,
	};
	TARE_FREE uint32_t *phase_of = NULL;
	int status = tare_view_filter_open(run->recording, run->view, &rows.members, error);

	*counts = (struct tare_export_counts){ 0 };
	if (status == 0 && run->recording->phase_count > 0) {
		rows.phase_of = phase_of = tare_phases_of_commands(run->recording);
		if (!phase_of)
			status = tare_fail(error, ENOMEM, "no memory for the phases");
	}
	status = status ?: write_tables(&rows, watch);
	tare_view_filter_close(rows.members);
	if (status == -EINTR)
		tare_fail(error, EINTR, "interrupted");
	return status;
}
