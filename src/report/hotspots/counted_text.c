// SPDX-License-Identifier: Apache-2.0
// Every figure of every counted kernel, for who wants to check.
#include "report/hotspots/counted_report.h"

#include "base/units.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

enum unit { COUNT, NS, PERCENT, BYTES, NUMBER };

// In the order of the report.
static const struct counted_row {
	enum tare_counter_role role;
	enum unit unit;
	const char *title;
} rows[] = {
	{ TARE_COUNTER_DURATION_NS, NS, "time, by the counters" },
	{ TARE_COUNTER_CORES_ACTIVE_SHARE, PERCENT, "cores active, of the time" },
	{ TARE_COUNTER_ISSUE_SHARE, PERCENT, "cycles with an instruction issued" },
	{ TARE_COUNTER_OCCUPANCY_SHARE, PERCENT, "occupancy achieved" },
	{ TARE_COUNTER_ELIGIBLE_WARPS, NUMBER, "warps ready to issue" },
	{ TARE_COUNTER_INSTRUCTIONS, COUNT, "instructions of warps" },
	{ TARE_COUNTER_LANE_INSTRUCTIONS, COUNT, "instructions of threads" },
	{ TARE_COUNTER_FLOP_FP16, COUNT, "FLOP, half (no matrix engines)" },
	{ TARE_COUNTER_FLOP_FP32, COUNT, "FLOP, single" },
	{ TARE_COUNTER_FLOP_FP64, COUNT, "FLOP, double" },
	{ TARE_COUNTER_PIPE_ALU_SHARE, PERCENT, "integer and logic pipe" },
	{ TARE_COUNTER_PIPE_FMA_SHARE, PERCENT, "single-precision pipe" },
	{ TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE, PERCENT, "integer multiplication" },
	{ TARE_COUNTER_PIPE_FP64_SHARE, PERCENT, "double-precision pipe" },
	{ TARE_COUNTER_PIPE_TENSOR_SHARE, PERCENT, "matrix engines" },
	{ TARE_COUNTER_PIPE_SPECIAL_SHARE, PERCENT, "special functions" },
	{ TARE_COUNTER_PIPE_MEMORY_SHARE, PERCENT, "load and store pipe" },
	{ TARE_COUNTER_L1_SHARE, PERCENT, "L1's data pipe" },
	{ TARE_COUNTER_L1_BYTES, BYTES, "through L1" },
	{ TARE_COUNTER_L1_HIT_SHARE, PERCENT, "L1 hits" },
	{ TARE_COUNTER_SHARED_WAVEFRONTS, COUNT, "passes through shared memory" },
	{ TARE_COUNTER_L2_SHARE, PERCENT, "L2, of its maximum" },
	{ TARE_COUNTER_L2_LOOKUP_SHARE, PERCENT, "L2's look-ups" },
	{ TARE_COUNTER_L2_TO_L1_SHARE, PERCENT, "L2's way to the cores" },
	{ TARE_COUNTER_L1_TO_L2_SHARE, PERCENT, "the cores' way to L2" },
	{ TARE_COUNTER_L1_READ_BYTES, BYTES, "L2 to L1" },
	{ TARE_COUNTER_L1_WRITE_BYTES, BYTES, "L1 to L2" },
	{ TARE_COUNTER_L2_BYTES, BYTES, "through L2" },
	{ TARE_COUNTER_L2_HIT_SHARE, PERCENT, "L2 hits" },
	{ TARE_COUNTER_DEVICE_MEMORY_SHARE, PERCENT, "device memory, of its maximum" },
	{ TARE_COUNTER_DEVICE_READ_BYTES, BYTES, "read from device memory" },
	{ TARE_COUNTER_DEVICE_WRITE_BYTES, BYTES, "written to device memory" },
	{ TARE_COUNTER_HOST_READ_BYTES, BYTES, "read from the host" },
	{ TARE_COUNTER_HOST_WRITE_BYTES, BYTES, "written to the host" },
	{ TARE_COUNTER_PEER_READ_BYTES, BYTES, "read from other devices" },
	{ TARE_COUNTER_PEER_WRITE_BYTES, BYTES, "written to other devices" },
};

enum { TEXT = TARE_UNIT_TEXT + 16 };

static const char *figure(enum unit unit, double value, char text[TEXT])
{
	char number[TARE_UNIT_TEXT];

	if (!isfinite(value))
		snprintf(text, TEXT, "n/a");
	else if (unit == NS)
		snprintf(text, TEXT, "%s", tare_format_ns(value, number));
	else if (unit == PERCENT)
		snprintf(text, TEXT, "%.1f %%", value);
	else if (unit == BYTES)
		snprintf(text, TEXT, "%.4g MB", value / 1e6);
	else if (unit == NUMBER)
		snprintf(text, TEXT, "%.3g", value);
	else
		snprintf(text, TEXT, "%.6g", value);
	return text;
}

// Why there is no figure, and the row's mark for it.
static const struct {
	const char *mark, *why;
} states[] = {
	[TARE_COUNTER_NOT_ON_DEVICE] = { "n/a (a)", "(a) the device has no such counter" },
	[TARE_COUNTER_NO_INSTANCE] = { "n/a (b)", "(b) too few launches; --replay counts them" },
	[TARE_COUNTER_NOT_TRUSTED] = { "n/a (c)", "(c) its launches disagree" },
	[TARE_COUNTER_REFUSED] = { "n/a (d)", "(d) the driver refused it" },
};

static const struct tare_counter_value *value_of(const struct tare_cell_text *cell)
{
	const struct counted_row *row = cell->row;

	return &((const struct tare_counted_kernel *)cell->source)->values[row->role];
}

static bool mean_cell(const struct tare_cell_text *cell)
{
	const struct tare_counter_value *value = value_of(cell);

	if (value->state != TARE_COUNTER_COUNTED)
		snprintf(cell->text, cell->size, "%s", states[value->state].mark);
	else
		figure(((const struct counted_row *)cell->row)->unit, value->mean, cell->text);
	return true;
}

static bool rate_cell(const struct tare_cell_text *cell)
{
	const struct tare_counted_kernel *kernel = cell->source;
	const struct tare_counter_value *value = value_of(cell),
	                                *time = &kernel->values[TARE_COUNTER_DURATION_NS];

	if (((const struct counted_row *)cell->row)->unit == BYTES &&
	    value->state == TARE_COUNTER_COUNTED && time->state == TARE_COUNTER_COUNTED &&
	    time->mean > 0)
		snprintf(cell->text, cell->size, "%.4g GB/s", value->mean / time->mean);
	return true;
}

static bool range_cell(const struct tare_cell_text *cell)
{
	enum unit unit = ((const struct counted_row *)cell->row)->unit;
	const struct tare_counter_value *value = value_of(cell);
	char least[TEXT], most[TEXT];

	if (value->state == TARE_COUNTER_COUNTED)
		snprintf(cell->text, cell->size, "%s to %s", figure(unit, value->least, least),
		         figure(unit, value->most, most));
	return true;
}

static bool is_asked(const void *kernel, const void *row)
{
	return ((const struct tare_counted_kernel *)kernel)
	           ->values[((const struct counted_row *)row)->role]
	           .state != TARE_COUNTER_NOT_ASKED;
}

#define VALUE (&kernel->values[row->role])
#define SOURCE struct tare_counted_kernel
#define SOURCE_NAME kernel
#define ROW struct counted_row
#define TABLE counted
#define COLUMNS "report/hotspots/tables/counted.def"
#include "table/declare.h"
TARE_ROWS(counted, "counted", "Figures of a kernel", "a counter", sizeof rows / sizeof *rows, rows,
          .keep = is_asked);
#undef SOURCE
#undef SOURCE_NAME

static void write_kernel(struct tare_text *text, const struct tare_counted_kernel *kernel)
{
	char mean[TARE_UNIT_TEXT], total[TARE_UNIT_TEXT];
	bool seen[sizeof states / sizeof *states] = { false };

	fputc('\n', text->file);
	tare_text_paragraph(text, TARE_STYLE_BOLD, "", 2,
	                    "%s: %" PRIu64 " launches of %s, %s, %.1f %% of the kernels' time",
	                    kernel->name, kernel->launches,
	                    tare_format_ns((double)kernel->mean_ns, mean),
	                    tare_format_ns((double)kernel->total_ns, total), 100 * kernel->share);
	tare_table_text(
	    text, &counted_table, kernel,
	    &(struct tare_table_part){ .on = TARE_ON_TEXT, .flush = true, .indent = 2 });
	for (size_t i = 0; i < TARE_COUNTER_ROLES; i++)
		seen[kernel->values[i].state] = true;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (seen[i] && states[i].why)
			tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 6, "%s", states[i].why);
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
