// SPDX-License-Identifier: Apache-2.0
#include "report/page/page.h"
#include "base/cleanup.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if TARE_HAVE_PAGE

// What the window and a bookmark are called: "bandwidth of NVIDIA H200 - tare".
static void compose_title(const struct tare_result *result, char *title, size_t size)
{
	const char *command = result->command ? result->command : "result";

	if (result->device_count == 1) {
		char name[256];
		tare_fact_format(&result->devices[0].facts, TARE_FACT_NAME, name, sizeof name);
		snprintf(title, size, "%s of %s - tare", command, name);
	} else if (tare_result_is_several(result)) {
		snprintf(title, size, "%s of %zu devices - tare", command, result->device_count);
	} else {
		snprintf(title, size, "%s - tare", command);
	}
}

// What a writer of results writes, as a text of its own; NULL: a sentence says why.
static char *
written(int (*write)(const struct tare_result *result, FILE *file, struct tare_error *error),
        const struct tare_result *result, size_t *length, int *status, struct tare_error *error)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	*status = stream ? write(result, stream, error) : -ENOMEM;
	// Closing is what makes text and length valid, and where a short write shows.
	if (!stream || (fclose(stream) != 0 && *status == 0))
		*status = tare_fail(error, ENOMEM, "no memory for the page");
	return text;
}

int tare_report_page(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	TARE_FREE char *json = NULL;
	TARE_FREE char *csv = NULL;
	size_t length = 0, csv_length = 0;
	char title[320];
	int code;

	json = written(tare_report_json, result, &length, &code, error);
	if (code == 0)
		csv = written(tare_report_csv, result, &csv_length, &code, error);
	if (code < 0)
		return code;
	compose_title(result, title, sizeof title);
	return tare_page_write(json, length, csv, title, file, error);
}

#else

int tare_report_page(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	(void)result;
	(void)file;
	return tare_fail(error, ENOSYS,
	                 "this tare was built without the page; build it with jansson, "
	                 "zlib and libjs-chart.js, or write --json");
}

#endif
