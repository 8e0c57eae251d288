// SPDX-License-Identifier: Apache-2.0
// report_fixture NAME json | NAME text COLUMNS VERBOSITY [ascii|colour]: the report of a run made
// by hand, on standard output; or "" declarations, "" results, "" documents, "" fields: how tables
// and the fields of results are declared.
#include "documents.h"
#include "result_fields.h"

#include "blocks/report/tables.h"
#include "report/core/table_json.h"
#include "report/hotspots/tables.h"
#include "report/result/tables.h"
#include "report/run/tables.h"
#include "report/tables/tables.h"
#include "tests/unit/report/run/run_fixture.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static struct run_fixture fixture;
	struct tare_error error = { 0 };
	int status;

	if (argc == 3 && strcmp(argv[2], "declarations") == 0)
		return tare_table_declarations(tare_run_tables, stdout) < 0;
	if (argc == 3 && strcmp(argv[2], "results") == 0)
		return tare_table_declarations(tare_result_tables, stdout) < 0;
	if (argc == 3 && strcmp(argv[2], "documents") == 0)
		return tare_table_declarations(documents, stdout) < 0;
	if (argc == 3 && strcmp(argv[2], "fields") == 0)
		return print_result_fields() < 0;
	if (argc < 3 || !run_fixture_make(argv[1], &fixture)) {
		fprintf(
		    stderr,
		    "usage: report_fixture NAME json|text [COLUMNS VERBOSITY [ascii|colour]]\n");
		return 2;
	}
	if (strcmp(argv[2], "json") == 0) {
		status = tare_report_run_json(&fixture.run, stdout, &error);
	} else {
		struct tare_text_options options = {
			.columns = argc > 3 ? (unsigned)atoi(argv[3]) : 80,
			.verbosity = argc > 4 ? atoi(argv[4]) : 0,
			.ascii = argc > 5 && strcmp(argv[5], "ascii") == 0,
			.colour = argc > 5 && strcmp(argv[5], "colour") == 0,
		};
		setlocale(LC_CTYPE, options.ascii ? "C" : "C.UTF-8");
		status = tare_report_run_text(&fixture.run, &options, stdout, &error);
	}
	if (status < 0)
		fprintf(stderr, "report_fixture: %s\n", error.message);
	return status < 0;
}
