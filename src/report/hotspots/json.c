// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/hotspots.h"

#include "report/core/table_json.h"

#include <errno.h>

#if TARE_HAVE_JSON

#include "report/hotspots/tables.h"

int tare_report_hotspots_json(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	struct tare_json json = { false };
	struct tare_hotspots hotspots;
	int status = tare_hotspots_make(run, NULL, &hotspots);
	json_t *root =
	    status < 0 ? NULL : tare_table_object_json(&json, &tare_hotspots_document, &hotspots);

	status = json.failed || !root ? -ENOMEM : tare_json_layout(root, file);
	json_decref(root);
	tare_hotspots_free(&hotspots);
	return status < 0 ? tare_fail(error, ENOMEM, "no memory for the JSON") : 0;
}

#else

int tare_report_hotspots_json(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	(void)run;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#endif
