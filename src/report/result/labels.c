// SPDX-License-Identifier: Apache-2.0
// Labels and intervals as every table of results writes them.
#include "base/units.h"
#include "report/result/parts.h"
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

const char *tare_text_device(const struct tare_device_entry *entry, char text[64])
{
	snprintf(text, 64, "%.48s:%u", entry->backend, entry->index);
	return text;
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
