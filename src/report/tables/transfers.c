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

#define BUCKET ((size_t)(row - transfers->sizes))
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

// ---- sizes, with -v

static void write_sizes(struct tare_text *text, const struct tare_report *run)
{
	struct tare_text_table *table;
	char whole[RUN_TEXT], name[RUN_TEXT], from[TARE_UNIT_TEXT], to[TARE_UNIT_TEXT],
	    rate[RUN_TEXT];

	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "sizes", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "from", TARE_COLUMN_RIGHT);
	tare_text_column(table, "to below", TARE_COLUMN_RIGHT);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	tare_text_column(table, "median GB/s of all", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < run->tables->transfer_count; i++) {
		const struct tare_transfer_row *row = &run->tables->transfers[i];
		bool first = true;
		for (size_t k = 0; k < BUCKETS; k++) {
			if (row->sizes[k] == 0)
				continue;
			tare_text_row(table, TARE_STYLE_PLAIN);
			name_row(run, row, whole, sizeof whole);
			tare_text_cell(
			    table, "%s",
			    first ? tare_report_cut(text, whole, tare_report_room(text, 52), name)
			          : "");
			tare_report_device_cell(table, run, row->device);
			tare_text_cell(table, "%s", tare_format_bytes(bucket_from(k), from));
			tare_text_cell(table, "%s",
			               k + 1 < BUCKETS ? tare_format_bytes(bucket_from(k + 1), to)
			                               : "–");
			tare_text_cell(table, "%" PRIu64, row->sizes[k]);
			tare_text_cell(
			    table, "%s",
			    first ? tare_report_rate(
			                row->timed ? row->median_bytes_per_second : NAN, rate)
			          : "");
			first = false;
		}
	}
	tare_text_table_print(table);
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
	if (text->options->verbosity > 0)
		write_sizes(text, run);
}
