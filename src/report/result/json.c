// SPDX-License-Identifier: Apache-2.0
// The tables of a result's JSON and page: those of its text with -v, as wide as they get.
#include "result/json.h"
#include "report/report.h"
#include "report/result/parts.h"
#include "tare_config.h"

#if TARE_HAVE_JSON
#include "report/core/table_json.h"

#include <stdlib.h>

struct taking {
	struct tare_json *json;
	json_t *list;
};

static void take(void *taker, const struct tare_table_shown *shown)
{
	const struct taking *taking = taker;

	tare_json_push(taking->json, taking->list, tare_table_shown_json(taking->json, shown));
}

// A part has its tables itself.
static void no_body(struct tare_text *text, const struct tare_result *result)
{
	(void)text, (void)result;
}

static json_t *tables_of(struct tare_json *json, const struct tare_result *result)
{
	static const struct tare_text_options options = { .columns = 10000, .verbosity = 1 };
	struct taking taking = { json, json_array() };
	char *prose = NULL;
	size_t size;
	FILE *file = open_memstream(&prose, &size);
	struct tare_text text = {
		.options = &options, .file = file, .body = no_body, .take = take, .taker = &taking
	};

	json->failed |= !file || !taking.list;
	if (!json->failed)
		tare_text_body(&text, result);
	json->failed |= text.failed;
	if (file)
		fclose(file);
	free(prose);
	return taking.list;
}

int tare_report_json(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	return tare_result_write_json_tables(result, tables_of, file, error);
}
#else
int tare_report_json(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	return tare_result_write_json(result, file, error);
}
#endif
