// SPDX-License-Identifier: Apache-2.0
// render_fixture FILE.json OUT.html: the page around a JSON text as it stands, without reading it
// into a document first, so that the page itself meets whatever a text may hold. The CSV that it
// offers is that of the document, where the text is one.
#include "base/cleanup.h"
#include "report/page/page.h"
#include "report/report.h"
#include "result/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *csv_of(const char *json, size_t length)
{
	struct tare_result *result = NULL;
	char *csv = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&csv, &size);

	if (tare_result_read_json(json, length, &result, NULL) == 0 && file)
		tare_report_csv(result, file, NULL);
	tare_result_free(result);
	if (file)
		fclose(file);
	return csv;
}

int main(int argc, char **argv)
{
	TARE_FREE char *json = NULL;
	TARE_FREE char *csv = NULL;
	TARE_FCLOSE FILE *input = NULL;
	TARE_FCLOSE FILE *output = NULL;
	struct tare_error error = { 0 };
	size_t size = 0;
	ssize_t length;

	if (argc != 3) {
		fprintf(stderr, "usage: render_fixture FILE.json OUT.html\n");
		return 2;
	}
	input = fopen(argv[1], "r");
	output = fopen(argv[2], "w");
	if (!input || !output) {
		perror(input ? argv[2] : argv[1]);
		return 1;
	}
	length = getdelim(&json, &size, '\0', input);
	csv = length < 0 ? NULL : csv_of(json, (size_t)length);
	if (length < 0 || tare_page_write(json, (size_t)length, csv, "fixture <tare> & \"co\"",
	                                  output, &error) < 0) {
		fprintf(stderr, "render_fixture: %s\n",
		        error.message[0] ? error.message : "nothing to read");
		return 1;
	}
	return 0;
}
