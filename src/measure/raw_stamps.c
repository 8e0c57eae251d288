// SPDX-License-Identifier: Apache-2.0
#include "measure/raw_stamps.h"

#include "backend/call.h"

#include <stdarg.h>
#include <stdio.h>

void tare_raw_stamps_keep(struct tare_raw_stamps *raw, struct tare_event *event,
                          const char *kernel_format, ...)
{
	static const enum tare_stamp wanted[] = {
		TARE_STAMP_START, TARE_STAMP_END, TARE_STAMP_ACTIVE_START, TARE_STAMP_ACTIVE_END,
	};
	struct tare_stamps stamps;
	va_list arguments;

	if (tare_event_stamps(event, &stamps, NULL) < 0)
		return;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!tare_stamps_have(&stamps, wanted[i]))
			return;
	raw->stamps = stamps;
	va_start(arguments, kernel_format);
	vsnprintf(raw->kernel, sizeof raw->kernel, kernel_format, arguments);
	va_end(arguments);
}

// A count that may be too large for a number of the document is written as text.
static int set_count(struct tare_labels *labels, const char *name, uint64_t count)
{
	char text[24];

	if (count <= INT64_MAX)
		return tare_labels_set_number(labels, name, (int64_t)count);
	snprintf(text, sizeof text, "%llu", (unsigned long long)count);
	return tare_labels_set_text(labels, name, text);
}

int tare_raw_stamps_write(const struct tare_raw_stamps *raw, const struct tare_clock_rate *rate,
                          struct tare_result *result)
{
	const struct tare_ticks *at = raw->stamps.at;
	struct tare_labels *labels = &result->kernel_timestamp;

	if (!raw->kernel[0])
		return 0;
	uint64_t global = tare_ticks_elapsed(rate, at[TARE_STAMP_START], at[TARE_STAMP_END]);
	uint64_t active = tare_ticks_elapsed(rate, at[TARE_STAMP_ACTIVE_START],
	                                     at[TARE_STAMP_ACTIVE_END]);
	const struct { const char *name; uint64_t count; } rows[] = {
		{ "global_start_ticks", at[TARE_STAMP_START].ticks },
		{ "kernel_start_ticks", at[TARE_STAMP_ACTIVE_START].ticks },
		{ "kernel_end_ticks", at[TARE_STAMP_ACTIVE_END].ticks },
		{ "global_end_ticks", at[TARE_STAMP_END].ticks },
		{ "valid_bits", rate->valid_bits },
		{ "timer_numerator_hz", rate->hz_numerator },
		{ "timer_denominator", rate->hz_denominator },
		{ "global_duration_ticks", global },
		{ "kernel_duration_ticks", active },
		{ "global_duration_ns", (uint64_t)tare_ticks_to_ns(rate, global) },
		{ "kernel_duration_ns", (uint64_t)tare_ticks_to_ns(rate, active) },
	};
	int status = tare_labels_set_text(labels, "kernel", raw->kernel);
	for (size_t i = 0; status == 0 && i < sizeof rows / sizeof *rows; i++)
		status = set_count(labels, rows[i].name, rows[i].count);
	// Either may be the longer one: they are read at different places.
	if (status == 0)
		status = tare_labels_set_number(labels, "difference_ticks",
		                                (int64_t)global - (int64_t)active);
	return status;
}
