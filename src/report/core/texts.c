// SPDX-License-Identifier: Apache-2.0
#include "report/core/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tare_text_list_add(struct tare_text_list *texts, const char *text, size_t length)
{
	char **grown = realloc((void *)texts->at, (texts->count + 1) * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	texts->at = grown;
	grown[texts->count] = strndup(text, length);
	return grown[texts->count] ? (texts->count++, 0) : -ENOMEM;
}

void tare_text_list_free(struct tare_text_list *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->at[i]);
	free((void *)texts->at);
}

#define SOURCE struct tare_text_list
#define SOURCE_NAME texts
#define ROW char *const
#define TABLE texts
#define COLUMNS "report/core/texts.def"
#include "table/declare.h"
TARE_TABLE(, tare_text_list_table, "texts", "Texts", "a text", NULL, struct tare_text_list, texts,
           texts->count, &texts->at[index], texts_columns);
#undef SOURCE
#undef SOURCE_NAME
