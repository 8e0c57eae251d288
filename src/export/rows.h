// SPDX-License-Identifier: Apache-2.0
// The tables of a recording, row after row, for SQLite and CSV alike (docs/export.md). Moments are
// nanoseconds from the start of the run; what is not known is NULL.
#pragma once
#include "analysis/tables/view_filter.h"
#include "export/export.h"
#include "table/table.h"

enum export_type { EXPORT_INTEGER, EXPORT_REAL, EXPORT_TEXT };
struct export_column {
	const char *name;
	enum export_type type;
};

struct rows;
struct export_table {
	const char *name;
	const struct export_column *columns;
	size_t column_count;
	bool keyed; // the first column is the row's number, the only one of its kind
	// How many things there are, and what writes the rows of one of them: none when it is not
	// of the view. `command` rows are one a command.
	size_t (*count)(const struct rows *rows);
	void (*put)(struct rows *rows, size_t index);
	const struct tare_table *declared;               // NULL: written by `put` alone
	bool (*has)(struct rows *rows, const void *row); // of a table of the recording
};

// A declared table of the recording, whose source is a struct rows (own.h), and which of its rows
// are of the view.
struct export_own {
	struct tare_table table;
	bool (*has)(struct rows *rows, const void *row);
};

// Where rows go. All return 0 or a negative errno.
struct export_sink {
	int (*begin)(void *context, const struct export_table *table);
	int (*null)(void *context, size_t column);
	int (*integer)(void *context, size_t column, int64_t value);
	int (*real)(void *context, size_t column, double value);
	int (*text)(void *context, size_t column, const char *value); // any bytes
	int (*row)(void *context);
	int (*end)(void *context);
};

// The command whose row is being written.
struct rows_command {
	struct tare_recorded_command row;
	size_t index;
};

struct rows {
	const struct tare_recording *recording;
	const struct tare_view *view;
	const struct tare_report *run;
	struct tare_view_filter *members;
	const struct tare_ledgers *ledgers; // of `run`, as the next
	struct tare_symbols *symbols;
	const uint32_t *phase_of; // by command; NULL: there are no phases
	const struct export_sink *sink;
	void *context;
	const struct export_table *table;
	size_t column; // that comes next
	int status;    // of the sink, the first that failed
	struct tare_export_counts *counts;
	struct rows_command *command;
};

// Writes all tables. Beside what `run` has memory is constant. Returns 0, what the sink returned,
// -ENOMEM or -EINTR.
int export_rows(const struct tare_report *run, const struct tare_export_watch *watch,
                const struct export_sink *sink, void *context, struct tare_export_counts *counts,
                struct tare_error *error);

// Remembers the first failure.
void rows_keep(struct rows *rows, int status);
// ---- for those that write rows: a value for each column in turn, then rows_end
void rows_null(struct rows *rows);
void rows_integer(struct rows *rows, int64_t value);
void rows_unsigned(struct rows *rows, uint64_t value);            // NULL above 2^63 - 1
void rows_known(struct rows *rows, uint64_t value);               // 0 is not told: NULL
void rows_index(struct rows *rows, uint32_t index, size_t count); // NULL from `count` on
void rows_real(struct rows *rows, double value);                  // NULL when not finite
void rows_text(struct rows *rows, const char *value);             // NULL for NULL
void rows_name(struct rows *rows, const char *value);             // NULL for "" as well
void rows_end(struct rows *rows);

#define EXPORT_TABLE(name, title, keyed, count, put)                                               \
	const struct export_table name = {                                                         \
		title, name##_columns, sizeof name##_columns / sizeof *name##_columns,             \
		keyed, count,          put                                                         \
	}

extern const struct export_table export_meta, export_wait, export_ledger, export_frame;
extern const struct export_own export_process, export_thread, export_device, export_queue,
    export_program, export_kernel, export_memory, export_function, export_command, export_call,
    export_phase, export_callback, export_loss, export_gap, export_stack, export_list,
    export_execution;
