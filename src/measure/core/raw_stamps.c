// SPDX-License-Identifier: Apache-2.0
#include "measure/core/raw_stamps.h"

#include "backend/call.h"
#include "measure/core/clock.h"

#include <stdarg.h>
#include <stdio.h>

void tare_raw_stamps_keep(struct tare_raw_stamps *raw, struct tare_event *event, int64_t host_ns,
                          const char *kernel_format, ...)
{
	static const enum tare_stamp wanted[] = {
		TARE_STAMP_START,
		TARE_STAMP_END,
		TARE_STAMP_ACTIVE_START,
		TARE_STAMP_ACTIVE_END,
	};
	struct tare_stamps stamps;
	va_list arguments;

	if (tare_event_stamps(event, &stamps, NULL) < 0)
		return;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!tare_stamps_have(&stamps, wanted[i]))
			return;
	raw->stamps = stamps;
	raw->host_ns = host_ns;
	va_start(arguments, kernel_format);
	vsnprintf(raw->kernel, sizeof raw->kernel, kernel_format, arguments);
	va_end(arguments);
}

// A count that may be too large for a number of the document is written as text.
static void set_count(struct tare_labels *labels, const char *name, uint64_t count)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)count);
	if (count <= INT64_MAX)
		tare_labels_set_number(labels, name, (int64_t)count);
	else
		tare_labels_set_text(labels, name, text);
}

struct row {
	const char *name;
	uint64_t count;
};

static void set_counts(struct tare_labels *labels, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		set_count(labels, rows[i].name, rows[i].count);
}

static void write_durations(const struct tare_ticks *at, const struct tare_clock_rate *rate,
                            struct tare_labels *labels)
{
	uint64_t global = tare_ticks_elapsed(rate, at[TARE_STAMP_START], at[TARE_STAMP_END]);
	uint64_t active =
	    tare_ticks_elapsed(rate, at[TARE_STAMP_ACTIVE_START], at[TARE_STAMP_ACTIVE_END]);
	const struct row rows[] = {
		{ "global_duration_ticks", global },
		{ "kernel_duration_ticks", active },
		{ "global_duration_ns", (uint64_t)tare_ticks_to_ns(rate, global) },
		{ "kernel_duration_ns", (uint64_t)tare_ticks_to_ns(rate, active) },
	};

	set_counts(labels, rows, sizeof rows / sizeof *rows);
	// Either may be the longer one: they are read at different places.
	tare_labels_set_number(labels, "difference_ticks", (int64_t)global - (int64_t)active);
}

void tare_raw_stamps_write(const struct tare_raw_stamps *raw, const struct tare_clock_rate *rate,
                           struct tare_result *result)
{
	const struct tare_ticks *at = raw->stamps.at;
	struct tare_labels *labels = &result->kernel_timestamp;
	struct tare_error why = { 0 };

	if (!raw->kernel[0])
		return;
	const struct row rows[] = {
		{ "global_start_ticks", at[TARE_STAMP_START].ticks },
		{ "kernel_start_ticks", at[TARE_STAMP_ACTIVE_START].ticks },
		{ "kernel_end_ticks", at[TARE_STAMP_ACTIVE_END].ticks },
		{ "global_end_ticks", at[TARE_STAMP_END].ticks },
		{ "valid_bits", rate->valid_bits },
		{ "timer_numerator_hz", rate->hz_numerator },
		{ "timer_denominator", rate->hz_denominator },
	};
	tare_labels_set_text(labels, "kernel", raw->kernel);
	set_counts(labels, rows, sizeof rows / sizeof *rows);
	if (tare_clock_can_tell(rate, raw->host_ns, &why) < 0)
		tare_labels_set_text(labels, "no_durations", why.message);
	else
		write_durations(at, rate, labels);
}
