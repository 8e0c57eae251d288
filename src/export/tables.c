// SPDX-License-Identifier: Apache-2.0
// All tables, in the order in which they are written.
#include "export/rows.h"
#include <assert.h>
#include <errno.h>

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
