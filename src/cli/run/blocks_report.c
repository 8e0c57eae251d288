// SPDX-License-Identifier: Apache-2.0
#include "cli/run/blocks_report.h"

#include "cli/run/document_database.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include <errno.h>
#include <stdio.h>

static int write_format(enum tare_format format, const void *document, FILE *file,
                        struct tare_error *error)
{
	if (format == TARE_FORMAT_JSON)
		return tare_blocks_json(document, file, error);
	int status = format == TARE_FORMAT_HTML ? tare_blocks_page(document, file)
	                                        : tare_blocks_csv(document, file);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}

// Where the database goes.
struct database {
	const char *path; // NULL: none is asked for
	struct tare_error *error;
};

static int write_database(void *context, const struct tare_table *table, const void *source)
{
	const struct database *to = context;

	return tare_database_write(
	    &(struct tare_export_document){ .table = table, .source = source, .name = "run" },
	    to->path, to->error);
}

// Returns an exit status.
static int write_tables(struct database *to, const struct tare_blocks_document *document)
{
	int status = to->path ? tare_blocks_declared(document, write_database, to) : TARE_EXIT_OK;

	if (status >= 0)
		return status;
	tare_fail(to->error, ENOMEM, "out of memory");
	return TARE_EXIT_FAILED;
}

// A file that cannot be written does not keep the report from being read.
static int write_text(const struct tare_settings *settings, const struct tare_outputs *outputs,
                      bool whole, const struct tare_blocks_document *document,
                      struct tare_error *error)
{
	const struct tare_text_options options = tare_terminal_text_options(settings->verbosity);

	if (tare_outputs_take_stdout(outputs))
		return TARE_EXIT_OK;
	if (tare_blocks_text(document, &options, stdout) < 0) {
		tare_fail(error, ENOMEM, "out of memory");
		return TARE_EXIT_FAILED;
	}
	if (whole)
		tare_outputs_print_paths(outputs, stdout);
	return tare_stdout_finish(error);
}

int tare_blocks_report(const struct tare_settings *settings,
                       const struct tare_blocks_document *document, struct tare_error *error)
{
	struct database database = { settings->database, error };
	struct tare_error of_text = { 0 };
	struct tare_outputs outputs;
	int status = tare_outputs_open(settings, &outputs, error);

	if (status != TARE_EXIT_OK)
		return status;
	status = tare_outputs_write_with(&outputs, write_format, document, error);
	if (status == TARE_EXIT_OK)
		status = write_tables(&database, document);
	int text = write_text(settings, &outputs, status == TARE_EXIT_OK, document, &of_text);
	if (status == TARE_EXIT_OK && text != TARE_EXIT_OK)
		*error = of_text;
	tare_outputs_close(&outputs);
	return status == TARE_EXIT_OK ? text : status;
}
