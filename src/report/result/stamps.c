// SPDX-License-Identifier: Apache-2.0
// With -v: the raw stamps of one launch (measure/core/raw_stamps.h).
#include "report/result/parts.h"

#include <stdlib.h>
#include <string.h>

static int64_t number_of(const struct tare_labels *labels, const char *name)
{
	const struct tare_label *label = tare_labels_find(labels, name);
	return label && !label->text ? label->number : 0;
}

static void row(struct tare_text *text, const struct tare_labels *labels, const char *title,
                const char *name, const char *unit)
{
	const struct tare_label *label = tare_labels_find(labels, name);
	char value[64], lead[32];

	if (!label)
		return;
	snprintf(lead, sizeof lead, "  %-18s ", title);
	tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, 21, "%s %s",
	                    tare_text_label(label, value, sizeof value), unit);
}

// "528958 ticks, 44079833 ns".
static void duration(struct tare_text *text, const struct tare_labels *labels, const char *title,
                     const char *ticks, const char *ns)
{
	char unit[64], value[64];
	const struct tare_label *label = tare_labels_find(labels, ns);

	if (!label)
		return;
	snprintf(unit, sizeof unit, "ticks, %s ns", tare_text_label(label, value, sizeof value));
	row(text, labels, title, ticks, unit);
}

void tare_text_stamps(struct tare_text *text, const struct tare_result *result)
{
	const struct tare_labels *labels = &result->kernel_timestamp;
	const struct tare_label *kernel = tare_labels_find(labels, "kernel");
	int64_t over = number_of(labels, "timer_denominator");
	char rate[64] = "Hz";

	if (!kernel || !kernel->text)
		return;
	if (over > 1)
		snprintf(rate, sizeof rate, "/ %lld Hz", (long long)over);
	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 0, "kernel timestamp of one launch: %s",
	                    kernel->text);
	row(text, labels, "global start", "global_start_ticks", "ticks");
	row(text, labels, "kernel start", "kernel_start_ticks",
	    "ticks, counted while it was active");
	row(text, labels, "kernel end", "kernel_end_ticks", "ticks");
	row(text, labels, "global end", "global_end_ticks", "ticks");
	row(text, labels, "timer rate", "timer_numerator_hz", rate);
	row(text, labels, "valid bits", "valid_bits", "");
	const struct tare_label *none = tare_labels_find(labels, "no_durations");
	if (none && none->text) {
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  durations          ", 21,
		                    "n/a: it %s", none->text);
		return;
	}
	duration(text, labels, "global duration", "global_duration_ticks", "global_duration_ns");
	duration(text, labels, "kernel duration", "kernel_duration_ticks", "kernel_duration_ns");
	row(text, labels, "difference", "difference_ticks", "ticks");
}
