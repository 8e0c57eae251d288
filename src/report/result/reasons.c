// SPDX-License-Identifier: Apache-2.0
// Why figures are missing, or how they were measured: a paragraph a reason, with the names of those
// that share it.
#include "base/room.h"
#include "report/result/parts.h"

#include <stdlib.h>
#include <string.h>

struct reason {
	char *name;
	const char *text; // of the document
};

struct reasons {
	struct reason *at;
	size_t count;
	bool failed; // no memory
};

// A name that is there already with that reason is not repeated.
static void add(struct reasons *reasons, const struct tare_text_why *why,
                const struct tare_cell *cell, const char *text)
{
	struct reason *grown;
	size_t size = 0;
	char *name = NULL;
	FILE *file = open_memstream(&name, &size);

	reasons->failed |= !file;
	if (!file)
		return;
	why->name(cell, file);
	reasons->failed |= fclose(file) != 0;
	for (size_t i = 0; !reasons->failed && i < reasons->count; i++)
		if (strcmp(reasons->at[i].name, name) == 0 &&
		    strcmp(reasons->at[i].text, text) == 0) {
			free(name);
			return;
		}
	grown = reasons->failed ? NULL : tare_grow(reasons->at, reasons->count, sizeof *grown);
	reasons->failed |= !grown;
	if (!grown) {
		free(name);
		return;
	}
	reasons->at = grown;
	grown[reasons->count++] = (struct reason){ name, text };
}

// One reason with everything that shares it from entry `first` on.
static void print(const struct reasons *reasons, size_t first, struct tare_text *text,
                  const struct tare_text_why *why)
{
	const char *separator = "";
	FILE *file = tare_text_gather(text);

	if (!file)
		return;
	for (size_t i = first; i < reasons->count; i++)
		if (strcmp(reasons->at[i].text, reasons->at[first].text) == 0) {
			fprintf(file, "%s%s", separator, reasons->at[i].name);
			separator = ", ";
		}
	fprintf(file, ": %s", reasons->at[first].text);
	tare_text_gathered(text, why->style, why->lead, why->lead[0] ? strlen(why->lead) : 2);
}

void tare_text_reasons(struct tare_text *text, const struct tare_result *result,
                       const struct tare_text_why *why)
{
	struct reasons reasons = { 0 };

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *reason = why->methods ? cell->method : cell->absent;
		if (reason && (!why->about || why->about(cell)))
			add(&reasons, why, cell, reason);
	}
	text->failed |= reasons.failed;
	if (reasons.count && (why->methods || why->apart))
		fputc('\n', text->file);
	for (size_t i = 0; i < reasons.count; i++) {
		bool said = false;
		for (size_t j = 0; j < i; j++)
			said |= strcmp(reasons.at[j].text, reasons.at[i].text) == 0;
		if (!said)
			print(&reasons, i, text, why);
	}
	for (size_t i = 0; i < reasons.count; i++)
		free(reasons.at[i].name);
	free(reasons.at);
}
