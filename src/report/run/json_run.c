// SPDX-License-Identifier: Apache-2.0
// The report of a recorded run as JSON; report.schema.json describes it.
#include "report/run/report.h"

#include <errno.h>

#include "tare_config.h"

#if !TARE_HAVE_JSON

int tare_report_run_json(const struct tare_report *run, FILE *file, struct tare_error *error)
{
	(void)run;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#else

#include "report/core/table_json.h"
#include "report/run/tables.h"
#include "report/tables/tables.h"

#include <stdlib.h>

static int write_document(const struct tare_report *run,
                          const struct tare_report_problems *problems, FILE *file)
{
	struct tare_json json = { false };
	struct tare_report_finding *findings = calloc(run->findings->count + 1, sizeof *findings);
	const struct tare_report_document document = { run, problems, findings };
	json_t *root = NULL;
	int status;

	for (size_t i = 0; findings && i < run->findings->count; i++)
		findings[i] = (struct tare_report_finding){ run, &run->findings->at[i] };
	if (findings)
		root = tare_table_object_json(&json, &tare_report_document_table, &document);
	for (size_t i = 0; tare_run_tables[i] && root; i++)
		tare_json_put(&json, root, tare_run_tables[i]->id,
		              tare_table_json(&json, tare_run_tables[i], run));
	status = json.failed || !root ? -ENOMEM : tare_json_layout(root, file);
	json_decref(root);
	free(findings);
	return status;
}

int tare_report_run_json(const struct tare_report *run, FILE *file, struct tare_error *error)
{
	struct tare_report_problems problems;
	int status = tare_report_problems_find(run, &problems);

	if (status == 0)
		status = write_document(run, &problems, file);
	tare_report_problems_free(&problems);
	return status < 0 ? tare_fail(error, ENOMEM, "no memory left for the report as JSON") : 0;
}

#endif
