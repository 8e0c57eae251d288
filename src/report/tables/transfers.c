// SPDX-License-Identifier: Apache-2.0
// Transfers by kind, direction and memory: how many bytes, how fast, hidden behind kernels or not.
#include "report/core/table_text.h"
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP 12 // rows without -v
#define BUCKETS (sizeof((struct tare_transfer_row *)0)->sizes / sizeof(uint64_t))

// NULL: it is not between two devices.
static const struct tare_recorded_link *link_of(const struct tare_report *run,
                                                const struct tare_transfer_row *row)
{
	return row->link < run->recording->link_count ? &run->recording->links[row->link] : NULL;
}

static struct tare_cell_value link_end(const struct tare_report *run,
                                       const struct tare_transfer_row *row, bool destination)
{
	const struct tare_recorded_link *link = link_of(run, row);

	if (!link)
		return tare_absent(TARE_NOT_THERE);
	return tare_run_device(run, destination ? link->destination : link->source);
}

static struct tare_cell_value link_kind(const struct tare_report *run,
                                        const struct tare_transfer_row *row)
{
	const struct tare_recorded_link *link = link_of(run, row);
	const char *word = link ? tare_report_link(link->kind) : NULL;

	return tare_if(word, tare_string(word), link ? TARE_NOT_KNOWN : TARE_NOT_THERE);
}

// "from #0 to #1"; "" where it is not between two devices.
static const char *between(const struct tare_report *run, const struct tare_transfer_row *row,
                           char *text, size_t size)
{
	const struct tare_recorded_link *link = link_of(run, row);

	text[0] = '\0';
	if (link)
		snprintf(text, size, "from #%" PRIu32 " to #%" PRIu32,
		         tare_report_device_number(run->recording, link->source),
		         tare_report_device_number(run->recording, link->destination));
	return text;
}

// "write, pageable, blocking"; the direction where the kind does not say it.
static void name_row(const struct tare_report *run, const struct tare_transfer_row *row,
                     char *buffer, size_t size)
{
	char devices[48];
	const char *kind = tare_report_kind(row->kind),
	           *memory = tare_report_memory_title(row->memory);
	const char *direction = between(run, row, devices, sizeof devices)[0]
	                            ? devices
	                            : tare_report_direction_title(row->direction);
	bool known = row->kind == TARE_KIND_WRITE || row->kind == TARE_KIND_READ ||
	             row->kind == TARE_KIND_FILL;

	snprintf(buffer, size, "%s%s%s%s%s%s%s", kind ? kind : "?",
	         !known && direction && direction[0] ? " " : "",
	         !known && direction ? direction : "", memory && memory[0] ? ", " : "",
	         memory ? memory : "", row->blocking ? ", blocking" : "",
	         row->in_place ? ", in place" : "");
}

static bool whole_name(const struct tare_cell_text *cell)
{
	name_row(cell->source, cell->row, cell->text, cell->size);
	return true;
}

static bool share_of_ceiling(const struct tare_cell_text *cell)
{
	const struct tare_transfer_row *row = cell->row;
	double share = row->timed ? row->bytes_per_second / row->sized_ceiling : NAN;

	if (share > 1.005)
		snprintf(cell->text, cell->size, ">100 %%");
	else
		tare_report_percent(share, cell->text);
	return true;
}

static const char *not_all_timed(const void *run, const void *one)
{
	const struct tare_transfer_row *row = one;

	(void)run;
	return row->timed < row->count ? "*" : "";
}

static bool estimated_total(const struct tare_cell_text *cell)
{
	const struct tare_transfer_row *row = cell->row;

	return tare_run_estimate_cell(&row->estimate, row->total_ns, cell);
}

// ---- sizes

// Where bucket `i` begins.
static uint64_t bucket_from(size_t i)
{
	return i ? UINT64_C(64) << 2 * (i - 1) : 0;
}

static bool has_size(const void *transfers, const void *count)
{
	(void)transfers;
	return *(const uint64_t *)count != 0;
}

static const struct tare_transfer_row *transfer_of(const struct tare_report *run,
                                                   const uint64_t *count)
{
	const struct tare_transfer_row *rows = run->tables->transfers;

	return &rows[(size_t)((const char *)count - (const char *)rows) / sizeof *rows];
}

static bool is_first_size(const struct tare_report *run, const uint64_t *count)
{
	const uint64_t *first = transfer_of(run, count)->sizes;

	while (*first == 0)
		first++;
	return first == count;
}

static bool first_name(const struct tare_cell_text *cell)
{
	if (is_first_size(cell->source, cell->row))
		name_row(cell->source, transfer_of(cell->source, cell->row), cell->text,
		         cell->size);
	return true;
}

#define BUCKET ((size_t)(row - TRANSFER->sizes))
#define TRANSFER transfers
#define SOURCE struct tare_transfer_row
#define SOURCE_NAME transfers
#define ROW uint64_t
#define TABLE sizes
#define COLUMNS "report/tables/transfer_sizes.def"
#include "table/declare.h"
TARE_ROWS(sizes, "transfer_sizes", "Sizes of transfers", "sizes from one to another", BUCKETS,
          transfers->sizes, .keep = has_size);
#undef SOURCE
#undef SOURCE_NAME
#undef TRANSFER

#define TRANSFER transfer_of(run, row)
#define SOURCE struct tare_report
#define SOURCE_NAME run
#define ROW uint64_t
#define TABLE by_size
#define COLUMNS "report/tables/transfers_by_size.def"
#include "table/declare.h"
TARE_TABLE(static, by_size_table, "transfers_by_size", "Transfers by size", "a size", NULL,
           struct tare_report, run, run->tables->transfer_count *BUCKETS,
           &run->tables->transfers[index / BUCKETS].sizes[index % BUCKETS], by_size_columns,
           .keep = has_size);
#undef SOURCE
#undef SOURCE_NAME

// ---- the table

#define TIMED(value) tare_if(row->timed > 0, value, TARE_NOT_TIMED)
#define ESTIMATED(figure) tare_run_estimated(&row->estimate, row->estimate.figure)
#define ESTIMATE                                                                                   \
	.flags = TARE_MAY_BE_ABSENT | TARE_IF_ANY, .on = TARE_ON_PAGE, .unit = TARE_UNIT_TOTALS
#define COLUMNS "report/tables/transfers.def"
#define ROW struct tare_transfer_row
#include "report/tables/declare.h"

TARE_RUN_TABLE(transfers, "Transfers",
               "a kind, direction, memory of the host and device, by total time",
               "Nothing was transferred.", run->tables->transfer_count,
               &run->tables->transfers[index])

// ---- as text

static void write_remarks(struct tare_text *text, const struct tare_tables *tables, size_t rows)
{
	uint64_t unaligned = 0, count = 0;
	bool untimed = false, estimated = false, ceilings = false, above = false;
	char number[RUN_TEXT], all[RUN_TEXT];

	for (size_t i = 0; i < tables->transfer_count; i++) {
		unaligned += tables->transfers[i].unaligned;
		count += tables->transfers[i].count;
		untimed |= i < rows && tables->transfers[i].timed < tables->transfers[i].count;
		estimated |= i < rows && tare_report_is_estimated(&tables->transfers[i].estimate);
		ceilings |= isfinite(tables->transfers[i].sized_ceiling);
		above |= tables->transfers[i].bytes_per_second > tables->transfers[i].sized_ceiling;
	}
	if (untimed)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "* not all have device times: times and rates are of those "
		                    "that do%s",
		                    tare_report_estimate_remark(estimated));
	if (rows < tables->transfer_count)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "and %zu more row%s (-v lists them)",
		                    tables->transfer_count - rows,
		                    tare_report_plural(tables->transfer_count - rows));
	if (unaligned)
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3, "%s of %s host addresses are not on 64 bytes",
		    tare_report_count(unaligned, number), tare_report_count(count, all));
	if (text->options->verbosity >= 0)
		tare_text_paragraph(
		    text, TARE_STYLE_FAINT, "  ", 3,
		    "exposed: no kernel ran meanwhile; GB/s: 10⁹%s%s",
		    ceilings
		        ? "; ceiling: share of what tare bandwidth measured here for these sizes"
		        : "",
		    above
		        ? "; above 100 %: device time leaves out the host's part, or a cache helps"
		        : "");
}

// Faults of managed memory, where there were any.
static void write_faults(struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;

	for (uint32_t i = 0; i < recording->device_count; i++) {
		struct tare_recorded_faults faults = tare_device_faults(recording, run->view, i);
		char waited[RUN_TEXT] = "", number[TARE_UNIT_TEXT];
		if (recording->devices[i].same_as != i ||
		    !tare_view_has_device(recording, run->view, i) || !faults.known)
			continue;
		if (faults.throttled)
			snprintf(waited, sizeof waited,
			         "; faults were made to wait %" PRIu64 " times, %s",
			         faults.throttled,
			         tare_format_ns((double)faults.throttled_ns, number));
		tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "managed memory on %s, whole run: %" PRIu64
		    " groups of faults of the device, %" PRIu64 " faults of the host; %" PRIu64
		    " times pages went to and fro, %" PRIu64
		    " times they were mapped instead of being moved%s",
		    recording->devices[i].name, faults.device_groups, faults.host_faults,
		    faults.thrashing, faults.remote_maps, waited);
	}
}

void tare_transfers_text(struct tare_text *text, const struct tare_report *run)
{
	bool devices = tare_report_several_devices(run);
	size_t rows = tare_rows_shown(text, run->tables->transfer_count, TOP);

	if (rows == 0)
		return;
	tare_report_heading(text, tare_table_transfers.title, "device time");
	tare_table_text(text, &tare_table_transfers, run,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .others = devices ? 50 : 45,
	                                           .most = rows,
	                                           .devices = devices });
	write_remarks(text, run->tables, rows);
	write_faults(text, run);
	tare_issued_text(text, run, false);
	if (text->options->verbosity <= 0)
		return;
	fputc('\n', text->file);
	tare_table_text(
	    text, &by_size_table, run,
	    &(struct tare_table_part){ .on = TARE_ON_TEXT, .others = 52, .devices = devices });
}
