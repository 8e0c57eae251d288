// SPDX-License-Identifier: Apache-2.0
// Labels, intervals and reasons as every table of results writes them.
#include "base/units.h"
#include "report/result/parts.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool counts_bytes(const char *name)
{
	size_t length = strlen(name);
	return strcmp(name, "bytes") == 0 ||
	       (length > 6 && strcmp(name + length - 6, "_bytes") == 0);
}

const char *tare_text_label(const struct tare_label *label, char *buffer, size_t size)
{
	char bytes[TARE_UNIT_TEXT];

	if (label->text)
		snprintf(buffer, size, "%s", label->text);
	else if (counts_bytes(label->name) && label->number >= 0)
		snprintf(buffer, size, "%s", tare_format_bytes((uint64_t)label->number, bytes));
	else
		snprintf(buffer, size, "%lld", (long long)label->number);
	return buffer;
}

const char *tare_text_label_of(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text ? label->text : "";
}

const char *tare_text_plus_minus(const struct tare_cell *cell, double scale,
                                 char buffer[TARE_UNIT_TEXT])
{
	const struct tare_summary *summary = &cell->summary;
	double low = summary->median - summary->ci_low, high = summary->ci_high - summary->median;
	double half = low > high ? low : high;
	const char *mark = cell->converged || summary->n == 0 ? "" : "*";
	char number[TARE_UNIT_TEXT];

	if (!isfinite(half)) {
		// A model's bound is what it is; a median without an interval is not known at all.
		snprintf(buffer, TARE_UNIT_TEXT, "%s%s", summary->n ? "?" : "", mark);
	} else if (summary->n == 0 || summary->median <= 0) {
		snprintf(buffer, TARE_UNIT_TEXT, "%.12s%s",
		         tare_format_significant(half * scale, 2, number), mark);
	} else {
		half = 100 * tare_cell_spread(cell);
		if (half < 0.05)
			snprintf(buffer, TARE_UNIT_TEXT, "<0.1 %%%s", mark);
		else if (half >= 1000)
			snprintf(buffer, TARE_UNIT_TEXT, ">999 %%%s", mark);
		else
			snprintf(buffer, TARE_UNIT_TEXT, "%.*f %%%s", half < 10, half, mark);
	}
	return buffer;
}

struct reason {
	const char *name, *text;
};

struct tare_text_reasons {
	struct reason *at;
	size_t count;
};

struct tare_text_reasons *tare_text_reasons_new(void)
{
	return calloc(1, sizeof(struct tare_text_reasons));
}

void tare_text_reasons_free(struct tare_text_reasons *reasons)
{
	if (reasons)
		free(reasons->at);
	free(reasons);
}

int tare_text_reasons_add(struct tare_text_reasons *reasons, const char *name, const char *reason)
{
	void *grown;

	if (!reasons)
		return -ENOMEM;
	for (size_t i = 0; i < reasons->count; i++)
		if (strcmp(reasons->at[i].name, name) == 0 &&
		    strcmp(reasons->at[i].text, reason) == 0)
			return 0;
	grown = reallocarray(reasons->at, reasons->count + 1, sizeof *reasons->at);
	if (!grown)
		return -ENOMEM;
	reasons->at = grown;
	reasons->at[reasons->count].name = name;
	reasons->at[reasons->count++].text = reason;
	return 0;
}

// One reason with everything that shares it from entry `first` on.
static int print_reason(const struct tare_text_reasons *reasons, size_t first,
                        const struct tare_text *text, enum tare_text_style style, const char *lead)
{
	char *names = NULL;
	size_t size = 0;
	const char *separator = "";
	FILE *file = open_memstream(&names, &size);
	int status;

	if (!file)
		return -ENOMEM;
	for (size_t i = first; i < reasons->count; i++)
		if (strcmp(reasons->at[i].text, reasons->at[first].text) == 0) {
			fprintf(file, "%s%s", separator, reasons->at[i].name);
			separator = ", ";
		}
	if (fclose(file) != 0)
		return -ENOMEM;
	status = tare_text_paragraph(text, style, lead, lead[0] ? strlen(lead) : 2, "%s: %s", names,
	                             reasons->at[first].text);
	free(names);
	return status;
}

int tare_text_reasons_print(struct tare_text_reasons *reasons, const struct tare_text *text,
                            enum tare_text_style style, const char *lead)
{
	int status = reasons ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < reasons->count; i++) {
		bool said = false;
		for (size_t j = 0; j < i; j++)
			said |= strcmp(reasons->at[j].text, reasons->at[i].text) == 0;
		if (!said)
			status = print_reason(reasons, i, text, style, lead);
	}
	tare_text_reasons_free(reasons);
	return status;
}
