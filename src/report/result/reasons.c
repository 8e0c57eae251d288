// SPDX-License-Identifier: Apache-2.0
// Why figures are missing, or how they were measured: a paragraph a reason, with the names of those
// that share it.
#include "base/room.h"
#include "report/result/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reason {
	char *name;
	const char *text; // of the document
};

struct reasons {
	struct reason *at;
	size_t count;
};

// A name that is there already with that reason is not repeated.
static int add(struct reasons *reasons, const struct tare_text_why *why,
               const struct tare_cell *cell, const char *text)
{
	struct reason *grown;
	size_t size = 0;
	char *name = NULL;
	FILE *file = open_memstream(&name, &size);

	if (!file)
		return -ENOMEM;
	why->name(cell, file);
	if (fclose(file) != 0)
		goto fail;
	for (size_t i = 0; i < reasons->count; i++)
		if (strcmp(reasons->at[i].name, name) == 0 &&
		    strcmp(reasons->at[i].text, text) == 0) {
			free(name);
			return 0;
		}
	grown = tare_grow(reasons->at, reasons->count, sizeof *grown);
	if (!grown)
		goto fail;
	reasons->at = grown;
	grown[reasons->count++] = (struct reason){ name, text };
	return 0;
fail:
	free(name);
	return -ENOMEM;
}

// One reason with everything that shares it from entry `first` on.
static int print(const struct reasons *reasons, size_t first, const struct tare_text *text,
                 const struct tare_text_why *why)
{
	char *names = NULL;
	size_t size = 0;
	const char *separator = "";
	FILE *file = open_memstream(&names, &size);
	int status = -ENOMEM;

	if (!file)
		return -ENOMEM;
	for (size_t i = first; i < reasons->count; i++)
		if (strcmp(reasons->at[i].text, reasons->at[first].text) == 0) {
			fprintf(file, "%s%s", separator, reasons->at[i].name);
			separator = ", ";
		}
	if (fclose(file) == 0)
		status = tare_text_paragraph(text, why->style, why->lead,
		                             why->lead[0] ? strlen(why->lead) : 2, "%s: %s", names,
		                             reasons->at[first].text);
	free(names);
	return status;
}

int tare_text_reasons(const struct tare_text *text, const struct tare_result *result,
                      const struct tare_text_why *why)
{
	struct reasons reasons = { 0 };
	int status = 0;

	for (size_t i = 0; status == 0 && i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const char *reason = why->methods ? cell->method : cell->absent;
		if (reason && (!why->about || why->about(cell)))
			status = add(&reasons, why, cell, reason);
	}
	if (status == 0 && reasons.count && (why->methods || why->apart))
		fputc('\n', text->file);
	for (size_t i = 0; status == 0 && i < reasons.count; i++) {
		bool said = false;
		for (size_t j = 0; j < i; j++)
			said |= strcmp(reasons.at[j].text, reasons.at[i].text) == 0;
		if (!said)
			status = print(&reasons, i, text, why);
	}
	for (size_t i = 0; i < reasons.count; i++)
		free(reasons.at[i].name);
	free(reasons.at);
	return status;
}
