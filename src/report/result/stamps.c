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

static int row(const struct tare_text *text, const struct tare_labels *labels, const char *title,
               const char *name, const char *unit)
{
	const struct tare_label *label = tare_labels_find(labels, name);
	char value[64], lead[32];

	if (!label)
		return 0;
	snprintf(lead, sizeof lead, "  %-18s ", title);
	return tare_text_paragraph(text, TARE_STYLE_PLAIN, lead, 21, "%s %s",
	                           tare_text_label(label, value, sizeof value), unit);
}

// "528958 ticks, 44079833 ns".
static int duration(const struct tare_text *text, const struct tare_labels *labels,
                    const char *title, const char *ticks, const char *ns)
{
	char unit[64], value[64];
	const struct tare_label *label = tare_labels_find(labels, ns);

	if (!label)
		return 0;
	snprintf(unit, sizeof unit, "ticks, %s ns", tare_text_label(label, value, sizeof value));
	return row(text, labels, title, ticks, unit);
}

int tare_text_stamps(const struct tare_text *text, const struct tare_result *result)
{
	const struct tare_labels *labels = &result->kernel_timestamp;
	const struct tare_label *kernel = tare_labels_find(labels, "kernel");
	int64_t over = number_of(labels, "timer_denominator");
	char rate[64] = "Hz";
	int status;

	if (!kernel || !kernel->text)
		return 0;
	if (over > 1)
		snprintf(rate, sizeof rate, "/ %lld Hz", (long long)over);
	fputc('\n', text->file);
	status = tare_text_paragraph(text, TARE_STYLE_BOLD, "", 0,
	                             "kernel timestamp of one launch: %s", kernel->text);
	if (status == 0)
		status = row(text, labels, "global start", "global_start_ticks", "ticks");
	if (status == 0)
		status = row(text, labels, "kernel start", "kernel_start_ticks",
		             "ticks, counted while it was active");
	if (status == 0)
		status = row(text, labels, "kernel end", "kernel_end_ticks", "ticks");
	if (status == 0)
		status = row(text, labels, "global end", "global_end_ticks", "ticks");
	if (status == 0)
		status = row(text, labels, "timer rate", "timer_numerator_hz", rate);
	if (status == 0)
		status = row(text, labels, "valid bits", "valid_bits", "");
	const struct tare_label *none = tare_labels_find(labels, "no_durations");
	if (status == 0 && none && none->text)
		return tare_text_paragraph(text, TARE_STYLE_PLAIN, "  durations          ", 21,
		                           "n/a: it %s", none->text);
	if (status == 0)
		status = duration(text, labels, "global duration", "global_duration_ticks",
		                  "global_duration_ns");
	if (status == 0)
		status = duration(text, labels, "kernel duration", "kernel_duration_ticks",
		                  "kernel_duration_ns");
	return status == 0 ? row(text, labels, "difference", "difference_ticks", "ticks") : status;
}
