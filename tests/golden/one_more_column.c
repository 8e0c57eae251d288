// SPDX-License-Identifier: Apache-2.0
// one_more_column declarations | results | documents | fields | json | text | page | csv FOLDER |
// sqlite FILE: what is written of a run made by hand by a tare whose declaration of the computing
// tasks has one line more. one_more_column result csv | json | text | page FILE: the same of a
// result, whose list of figures has it. one_more_column hotspots json | text | page: the same of
// counted kernels.
#include "documents.h"
#include "result_fields.h"

#include "blocks/report/tables.h"
#include "export/export.h"
#include "report/core/table_json.h"
#include "report/hotspots/hotspots.h"
#include "report/hotspots/tables.h"
#include "report/report.h"
#include "report/result/tables.h"
#include "report/run/tables.h"
#include "report/tables/tables.h"
#include "result/json.h"
#include "tests/unit/analysis/hotspots/made_counted.h"
#include "tests/unit/report/run/run_fixture.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static int write_as(const struct tare_report *run, const char *how, const char *path)
{
	const struct tare_text_options options = { .columns = 200 };
	struct tare_export_counts counts;
	struct tare_error error = { 0 };

	if (strcmp(how, "declarations") == 0)
		return tare_table_declarations(tare_run_tables, stdout);
	if (strcmp(how, "results") == 0)
		return tare_table_declarations(tare_result_tables, stdout);
	if (strcmp(how, "documents") == 0)
		return tare_table_declarations(documents, stdout);
	if (strcmp(how, "fields") == 0)
		return print_result_fields();
	if (strcmp(how, "json") == 0)
		return tare_report_run_json(run, stdout, &error);
	if (strcmp(how, "text") == 0)
		return tare_report_run_text(run, &options, stdout, &error);
	if (strcmp(how, "page") == 0)
		return tare_report_run_page(run, 1 << 20, stdout, NULL, &error);
	if (strcmp(how, "csv") == 0)
		return tare_export_csv(run, NULL, path, &counts, &error);
	return tare_export_sqlite(run, NULL, path, &counts, &error);
}

static int write_result(const char *how, const char *path)
{
	const struct tare_text_options options = { .columns = 200, .verbosity = 1 };
	struct tare_result *result = NULL;
	struct tare_error error = { 0 };
	int status = tare_result_read_file(path, &result, &error);

	if (status == 0 && strcmp(how, "csv") == 0)
		status = tare_report_csv(result, stdout, &error);
	else if (status == 0 && strcmp(how, "json") == 0)
		status = tare_report_json(result, stdout, &error);
	else if (status == 0 && strcmp(how, "text") == 0)
		status = tare_report_text(result, &options, stdout, &error);
	else if (status == 0)
		status = tare_report_page(result, stdout, &error);
	tare_result_free(result);
	return status;
}

static int write_hotspots(const char *how)
{
	const struct tare_text_options options = { .columns = 200 };
	struct tare_counted_kernel kernels[MADE_KERNELS];
	struct tare_counted_run run = made_run(kernels);
	struct tare_error error = { 0 };

	if (strcmp(how, "json") == 0)
		return tare_report_hotspots_json(&run, stdout, &error);
	if (strcmp(how, "text") == 0)
		return tare_report_hotspots_text(&run, 0, &options, stdout, &error);
	return tare_report_hotspots_page(&run, stdout, &error);
}

int main(int argc, char **argv)
{
	static struct run_fixture fixture;
	int status;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (argc == 4 && strcmp(argv[1], "result") == 0) {
		status = write_result(argv[2], argv[3]);
		return status == -ENOSYS ? 77 : status < 0;
	}
	if (argc == 3 && strcmp(argv[1], "hotspots") == 0) {
		status = write_hotspots(argv[2]);
		return status == -ENOSYS ? 77 : status < 0;
	}
	if (argc < 2 || !run_fixture_make("simulate", &fixture))
		return 2;
	status = write_as(&fixture.run, argv[argc > 2 && !argv[1][0] ? 2 : 1],
	                  argc > 2 ? argv[argc - 1] : "");
	return status == -ENOSYS ? 77 : status < 0;
}
