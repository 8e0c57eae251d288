// SPDX-License-Identifier: Apache-2.0
// Edits of a text.
#include "blocks/gains/change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int tare_blocks_edits_add(struct tare_blocks_edits *edits, const struct tare_blocks_edit *edit)
{
	struct tare_blocks_edit *at;

	for (size_t i = 0; i < edits->count; i++)
		if (edits->at[i].at == edit->at)
			return 0;
	at = realloc(edits->at, (edits->count + 1) * sizeof *at);
	if (!at)
		return -ENOMEM;
	edits->at = at;
	at[edits->count++] = *edit;
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct tare_blocks_edit *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

char *tare_blocks_edits_make(struct tare_blocks_edits *edits, const char *text)
{
	char *made = NULL;
	size_t length = 0, from = 0;
	FILE *file = open_memstream(&made, &length);

	if (!file)
		return NULL;
	if (edits->count)
		qsort(edits->at, edits->count, sizeof *edits->at, by_place);
	for (size_t i = 0; i < edits->count; i++) {
		fprintf(file, "%.*s%s", (int)(edits->at[i].at - from), text + from,
		        edits->at[i].put);
		from = edits->at[i].at + edits->at[i].bytes;
	}
	fputs(text + from, file);
	if (fclose(file) == 0)
		return made;
	free(made);
	return NULL;
}
