// SPDX-License-Identifier: Apache-2.0
// Every figure of every counted kernel, for who wants to check.
#include "report/hotspots/counted_report.h"

#include "base/units.h"
#include "report/core/table_text.h"
#include "report/hotspots/tables.h"

#include <errno.h>
#include <inttypes.h>

// Why there is no figure.
static const char *const reasons[TARE_COUNTER_STATES] = {
	[TARE_COUNTER_NOT_ON_DEVICE] = "the device has no such counter",
	[TARE_COUNTER_NO_INSTANCE] = "too few launches; --replay counts them",
	[TARE_COUNTER_NOT_TRUSTED] = "its launches disagree",
	[TARE_COUNTER_REFUSED] = "the driver refused it",
	[TARE_COUNTER_IN_PART] = "some instructions do not tell how many bytes they move",
};

static bool is_asked(const void *kernel, const void *value)
{
	(void)kernel;
	return ((const struct tare_counter_value *)value)->state != TARE_COUNTER_NOT_ASKED;
}

static void write_kernel(struct tare_text *text, const struct tare_counted_kernel *kernel)
{
	char mean[TARE_UNIT_TEXT], total[TARE_UNIT_TEXT];
	bool seen[TARE_COUNTER_STATES] = { false };

	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 2,
	                    "%s: %" PRIu64 " launches of %s, %s, %.1f %% of the kernels' time",
	                    kernel->name, kernel->launches,
	                    tare_format_ns((double)kernel->mean_ns, mean),
	                    tare_format_ns((double)kernel->total_ns, total), 100 * kernel->share);
	tare_table_text(text, &tare_hotspots_counters, kernel,
	                &(struct tare_table_part){
	                    .on = TARE_ON_TEXT, .flush = true, .indent = 2, .keep = is_asked });
	for (size_t i = 0; i < TARE_COUNTER_ROLES; i++)
		seen[kernel->values[i].state] = true;
	for (enum tare_counter_state i = 0; i < TARE_COUNTER_STATES; i++)
		if (seen[i] && reasons[i])
			tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 6, "(%c) %s",
			                    tare_counter_letter(i), reasons[i]);
}

int tare_report_counted_text(const struct tare_counted_run *run,
                             const struct tare_text_options *options, FILE *file,
                             struct tare_error *error)
{
	struct tare_text text = { .options = options, .file = file };

	for (size_t i = 0; i < run->kernel_count; i++)
		if (run->kernels[i].uncounted == TARE_UNCOUNTED_NONE)
			write_kernel(&text, &run->kernels[i]);
	return text.failed ? tare_fail(error, ENOMEM, "out of memory") : 0;
}
