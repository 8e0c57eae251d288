// SPDX-License-Identifier: Apache-2.0
#include "export/document_rows.h"
#include "tare_config.h"

#include <errno.h>

#if TARE_HAVE_SQLITE
#include "export/utf8.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct database {
	sqlite3 *handle;
	sqlite3_stmt *insert;
	char *text; // for texts that are no UTF-8
	size_t room;
};

// What the queries of docs/export.md look up.
static const char *const indexes[] = {
	"CREATE INDEX command_by_start ON command(start_ns)",
	"CREATE INDEX command_by_kernel ON command(kernel, start_ns)",
	"CREATE INDEX command_by_queue ON command(queue, start_ns)",
	"CREATE INDEX command_by_thread ON command(thread, enter_ns)",
	"CREATE INDEX call_by_function ON call(function, enter_ns)",
	"CREATE INDEX call_by_thread ON call(thread, enter_ns)",
	"CREATE INDEX wait_by_command ON wait(command)",
	"CREATE INDEX wait_by_source ON wait(waits_for)",
	"CREATE INDEX phase_by_name ON phase(name, from_ns)",
};

static int errno_of(int status)
{
	if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
		return 0;
	return status == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

static int execute(struct database *db, const char *statement)
{
	return errno_of(sqlite3_exec(db->handle, statement, NULL, NULL, NULL));
}

static int run_built(struct database *db, sqlite3_str *text)
{
	char *statement = sqlite3_str_finish(text);
	int status = statement ? execute(db, statement) : -ENOMEM;

	sqlite3_free(statement);
	return status;
}

// ---- rows

static int make_table(struct database *db, const struct export_table *table)
{
	static const char *const types[] = { "INTEGER", "REAL", "TEXT" };
	sqlite3_str *text = sqlite3_str_new(db->handle);

	sqlite3_str_appendf(text, "CREATE TABLE \"%w\"(", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? ", " : "", table->columns[i].name,
		                    types[table->columns[i].type],
		                    i == 0 && table->keyed ? " PRIMARY KEY" : "");
	sqlite3_str_appendall(text, ")");
	return run_built(db, text);
}

static int begin(void *context, const struct export_table *table)
{
	struct database *db = context;
	int status = make_table(db, table);
	sqlite3_str *text;
	char *statement;

	if (status < 0)
		return status;
	text = sqlite3_str_new(db->handle);
	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES(", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		sqlite3_str_appendall(text, i ? ",?" : "?");
	sqlite3_str_appendall(text, ")");
	statement = sqlite3_str_finish(text);
	if (!statement)
		return -ENOMEM;
	status = errno_of(sqlite3_prepare_v3(db->handle, statement, -1, SQLITE_PREPARE_PERSISTENT,
	                                     &db->insert, NULL));
	sqlite3_free(statement);
	return status;
}

static int put_null(void *context, size_t column)
{
	struct database *db = context;
	return errno_of(sqlite3_bind_null(db->insert, (int)column + 1));
}

static int put_integer(void *context, size_t column, int64_t value)
{
	struct database *db = context;
	return errno_of(sqlite3_bind_int64(db->insert, (int)column + 1, value));
}

static int put_real(void *context, size_t column, double value)
{
	struct database *db = context;
	return errno_of(sqlite3_bind_double(db->insert, (int)column + 1, value));
}

static int put_text(void *context, size_t column, const char *value)
{
	struct database *db = context;
	size_t bytes = export_utf8_clean(value, NULL);

	// What is UTF-8 already stays where it is until the row is written.
	if (bytes == strlen(value))
		return errno_of(sqlite3_bind_text64(db->insert, (int)column + 1, value, bytes,
		                                    SQLITE_STATIC, SQLITE_UTF8));
	if (bytes > db->room) {
		char *grown = realloc(db->text, bytes);
		if (!grown)
			return -ENOMEM;
		db->text = grown;
		db->room = bytes;
	}
	export_utf8_clean(value, db->text);
	return errno_of(sqlite3_bind_text64(db->insert, (int)column + 1, db->text, bytes,
	                                    SQLITE_TRANSIENT, SQLITE_UTF8));
}

static int end_row(void *context)
{
	struct database *db = context;
	int status = errno_of(sqlite3_step(db->insert));

	sqlite3_reset(db->insert);
	return status;
}

static int end(void *context)
{
	struct database *db = context;
	int status = errno_of(sqlite3_finalize(db->insert));

	db->insert = NULL;
	return status;
}

static const struct export_sink sink = {
	.begin = begin,
	.null = put_null,
	.integer = put_integer,
	.real = put_real,
	.text = put_text,
	.row = end_row,
	.end = end,
};

// ---- the database

// What fills it.
struct filling {
	const struct tare_report *run; // NULL: the document does
	const struct tare_export_watch *watch;
	const struct tare_export_document *document;
	struct tare_export_counts *counts;
};

static int make_indexes(struct database *db, const struct tare_export_watch *watch,
                        struct tare_error *error)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof indexes / sizeof *indexes; i++) {
		if (watch &&
		    !watch->step(watch->context, "indexes", i, sizeof indexes / sizeof *indexes))
			return tare_fail(error, EINTR, "interrupted");
		status = execute(db, indexes[i]);
	}
	return status;
}

// No journal: a file that is not complete is thrown away. One transaction holds everything.
static int write_all(struct database *db, const struct filling *of, struct tare_error *error)
{
	int status = execute(db, "PRAGMA journal_mode=OFF");

	status = status ?: execute(db, "PRAGMA synchronous=OFF");
	// Its temporary files would be beside the temporary folder's, not beside the target.
	status = status ?: execute(db, "PRAGMA temp_store=MEMORY");
	status = status ?: execute(db, "PRAGMA user_version=1");
	status = status ?: execute(db, "BEGIN");
	if (of->run) {
		status = status ?: export_rows(of->run, of->watch, &sink, db, of->counts, error);
		status = status ?: make_indexes(db, of->watch, error);
	} else {
		status = status ?: export_document_rows(of->document, &sink, db, of->counts);
	}
	return status == 0 ? execute(db, "COMMIT") : status;
}

static int write_database(const struct filling *of, const char *path, struct tare_error *error)
{
	struct database db = { 0 };
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int status = errno_of(sqlite3_open_v2(path, &db.handle, flags, NULL));

	*of->counts = (struct tare_export_counts){ 0 };
	status = status ?: write_all(&db, of, error);
	if (status == -EIO)
		tare_fail(error, EIO, "SQLite: %s",
		          db.handle ? sqlite3_errmsg(db.handle) : "cannot open");
	else if (status == -ENOMEM)
		tare_fail(error, ENOMEM, "no memory left");
	sqlite3_finalize(db.insert);
	if (sqlite3_close(db.handle) != SQLITE_OK && status == 0)
		status = tare_fail(error, EIO, "SQLite cannot close the file");
	free(db.text);
	return status;
}

int tare_export_sqlite(const struct tare_report *run, const struct tare_export_watch *watch,
                       const char *path, struct tare_export_counts *counts,
                       struct tare_error *error)
{
	return write_database(&(struct filling){ .run = run, .watch = watch, .counts = counts },
	                      path, error);
}

int tare_export_document_sqlite(const struct tare_export_document *document, const char *path,
                                struct tare_export_counts *counts, struct tare_error *error)
{
	return write_database(&(struct filling){ .document = document, .counts = counts }, path,
	                      error);
}
#else
static int refuse(struct tare_export_counts *counts, struct tare_error *error)
{
	*counts = (struct tare_export_counts){ 0 };
	return tare_fail(error, ENOSYS,
	                 "--sqlite needs SQLite, and this tare was built without (libsqlite3)");
}

int tare_export_sqlite(const struct tare_report *run, const struct tare_export_watch *watch,
                       const char *path, struct tare_export_counts *counts,
                       struct tare_error *error)
{
	(void)run, (void)watch, (void)path;
	return refuse(counts, error);
}

int tare_export_document_sqlite(const struct tare_export_document *document, const char *path,
                                struct tare_export_counts *counts, struct tare_error *error)
{
	(void)document, (void)path;
	return refuse(counts, error);
}
#endif
