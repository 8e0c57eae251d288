// SPDX-License-Identifier: Apache-2.0
// Ledgers as declared tables (ledger*.def).
#include "report/core/ledger.h"

#include "report/core/table_text.h"

// Below this part of the wall, time near the boundaries is not worth a line.
#define AMBIGUOUS 0.001

// ---- categories

static struct tare_cell_value share_of(int64_t part, int64_t whole)
{
	return tare_number(whole > 0 ? (double)part / (double)whole : NAN, TARE_NOT_KNOWN);
}

static bool time_cell(const struct tare_cell_text *cell)
{
	tare_report_part(*(const int64_t *)cell->row,
	                 ((const struct tare_ledger *)cell->source)->wall_ns, cell->text);
	return true;
}

static bool has_time(const void *ledger, const void *ns)
{
	(void)ledger;
	return *(const int64_t *)ns != 0;
}

#define PART ((enum tare_ledger_category)(row - ledger->parts_ns))
#define SOURCE struct tare_ledger
#define SOURCE_NAME ledger
#define ROW int64_t
#define TABLE parts
#define COLUMNS "report/core/ledger_parts.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_parts_table, "ledger_parts", "Parts of a ledger", "a category", NULL,
           struct tare_ledger, ledger, TARE_LEDGER_CATEGORIES, &ledger->parts_ns[index],
           parts_columns);

// ---- states that occurred together

#define CELL (row - &ledger->matrix_ns[0][0])
#define HOST ((enum tare_host_state)(CELL / TARE_DEVICE_STATES))
#define DEVICE ((enum tare_device_state)(CELL % TARE_DEVICE_STATES))
#define ROW int64_t
#define TABLE matrix
#define COLUMNS "report/core/ledger_matrix.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_matrix_table, "ledger_matrix", "Host against device",
           "two states that occurred together", NULL, struct tare_ledger, ledger,
           TARE_HOST_STATES *TARE_DEVICE_STATES, &ledger->matrix_ns[0][0] + index, matrix_columns,
           .keep = has_time);

static const char *const host_titles[TARE_HOST_STATES] = {
	[TARE_HOST_BEFORE_FIRST] = "before the first call",
	[TARE_HOST_BUILD] = "building",
	[TARE_HOST_LOAD] = "loading",
	[TARE_HOST_ALLOCATE] = "allocating",
	[TARE_HOST_BLOCKING_COPY] = "blocking copy",
	[TARE_HOST_WAIT] = "waiting",
	[TARE_HOST_API] = "other calls",
	[TARE_HOST_RELEASE] = "releasing",
	[TARE_HOST_QUERY] = "queries",
	[TARE_HOST_COMPUTING] = "computing",
	[TARE_HOST_OFF_CPU] = "off the CPU",
	[TARE_HOST_GONE] = "gone",
	[TARE_HOST_NOT_RECORDED] = "not recorded",
	[TARE_HOST_UNKNOWN] = "unknown",
};

static const char *const device_titles[TARE_DEVICE_STATES] = {
	[TARE_DEVICE_KERNEL] = "kernel",     [TARE_DEVICE_KERNEL_AND_TRANSFER] = "kernel+copy",
	[TARE_DEVICE_TO_DEVICE] = "to dev.", [TARE_DEVICE_FROM_DEVICE] = "to host",
	[TARE_DEVICE_BOTH_WAYS] = "both",    [TARE_DEVICE_LOCAL] = "local",
	[TARE_DEVICE_IDLE] = "idle",
};

// How many states of devices occurred; to that of this number, from 0, `nth` is set.
static size_t states_of(const struct tare_ledger *ledger, size_t at, size_t *nth)
{
	size_t count = 0;

	for (size_t d = 0; d < TARE_DEVICE_STATES; d++) {
		bool any = false;
		for (size_t h = 0; h < TARE_HOST_STATES; h++)
			any |= ledger->matrix_ns[h][d] != 0;
		if (any && count++ == at)
			*nth = d;
	}
	return count;
}

static size_t nth_state(const struct tare_ledger *ledger, size_t at)
{
	size_t nth = 0;

	states_of(ledger, at, &nth);
	return nth;
}

static struct tare_cell_value share_or_none(int64_t part, int64_t whole)
{
	return part ? share_of(part, whole) : tare_absent(TARE_NOT_ASKED);
}

static bool host_occurred(const void *ledger, const void *row)
{
	const int64_t *ns = row;
	bool any = false;

	(void)ledger;
	for (size_t d = 0; d < TARE_DEVICE_STATES; d++)
		any |= ns[d] != 0;
	return any;
}

#define STATE ((row - &ledger->matrix_ns[0][0]) / TARE_DEVICE_STATES)
#define ROW int64_t
#define TABLE states
#define COLUMNS "report/core/ledger_states.def"
#include "table/declare.h"
TARE_TABLE(static, states_table, "ledger_states", "Host against device", "a state of the host",
           NULL, struct tare_ledger, ledger, TARE_HOST_STATES, ledger->matrix_ns[index],
           states_columns, .keep = host_occurred);

// ---- all of it

#define ROW struct tare_ledger
#define TABLE ledger
#define COLUMNS "report/core/ledger.def"
#include "table/declare.h"
TARE_TABLE(, tare_ledger_table, "ledger", "Ledger", "a ledger", NULL, struct tare_ledger, ledger, 1,
           ledger, ledger_columns);

// ---- as text

static void write_remarks(struct tare_text *text, const struct tare_ledger *ledger)
{
	char to[RUN_TEXT], from[RUN_TEXT], all[RUN_TEXT], ambiguous[RUN_TEXT];
	int64_t hidden = ledger->hidden_to_device_ns + ledger->hidden_from_device_ns;

	if (hidden > 0)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "(%s of transfers were hidden behind kernels: %s to the device, %s to the "
		    "host)",
		    tare_report_part(hidden, ledger->wall_ns, all),
		    tare_report_part(ledger->hidden_to_device_ns, ledger->wall_ns, to),
		    tare_report_part(ledger->hidden_from_device_ns, ledger->wall_ns, from));
	if (ledger->ambiguous_ns > 0 &&
	    (text->options->verbosity > 0 ||
	     (double)ledger->ambiguous_ns > AMBIGUOUS * (double)ledger->wall_ns))
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "(%s lie so near to a boundary that the clocks' error may put them on its "
		    "other "
		    "side)",
		    tare_report_part(ledger->ambiguous_ns, ledger->wall_ns, ambiguous));
}

double tare_ledger_largest(const struct tare_ledger *ledger)
{
	double largest = 0;

	for (size_t i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		largest = fmax(largest, (double)ledger->parts_ns[i] / (double)ledger->wall_ns);
	return largest;
}

void tare_ledger_text(struct tare_text *text, const struct tare_ledger *ledger, double largest,
                      bool all)
{
	tare_table_text(text, &tare_ledger_parts_table, ledger,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .keep = all ? NULL : has_time,
	                                           .bar_whole = largest });
	write_remarks(text, ledger);
}

void tare_ledger_states_text(struct tare_text *text, const struct tare_ledger *ledger)
{
	fputc('\n', text->file);
	tare_table_text(text, &states_table, ledger,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT });
}
