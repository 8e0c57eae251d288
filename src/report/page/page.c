// SPDX-License-Identifier: Apache-2.0
#include "report/page/page.h"
#include "base/cleanup.h"
#include "report/report.h"
#include "result/json.h"

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

int tare_report_page(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	TARE_FREE char *json = NULL;
	size_t length = 0;
	char title[320];
	FILE *stream = open_memstream(&json, &length);
	int code;

	if (!stream)
		return tare_fail(error, ENOMEM, "no memory for the page");
	code = tare_result_write_json(result, stream, error);
	// Closing is what makes json and length valid, and where a short write shows.
	if (fclose(stream) != 0 && code == 0)
		code = tare_fail(error, ENOMEM, "no memory for the page");
	if (code < 0)
		return code;
	compose_title(result, title, sizeof title);
	return tare_page_write(json, length, title, file, error);
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
