// SPDX-License-Identifier: Apache-2.0
// The longest idle gaps of each device.
#include "report/core/table_text.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#define SHOWN 5 // of a device

static struct tare_cell_value ended_by(const struct tare_report *run, const struct tare_gap *gap)
{
	const struct tare_recording *recording = run->recording;

	return run->symbols && gap->command < recording->command_count
	           ? tare_named(tare_symbols_text(run->symbols,
	                                          TARE_COMMAND(recording, gap->command)->stack))
	           : tare_absent(TARE_NOT_KNOWN);
}

static bool gap_cause_title(const struct tare_cell_text *cell)
{
	snprintf(cell->text, cell->size, "%s",
	         tare_ledger_category_cause(((const struct tare_gap *)cell->row)->cause));
	return true;
}

#define COLUMNS "report/tables/gaps.def"
#define ROW struct tare_gap
#include "report/tables/declare.h"

TARE_RUN_TABLE(gaps, "Idle gaps", "one of the longest idle gaps of a device, device by device",
               NULL, tare_report_devices_known(run) ? run->ledgers->gap_count : 0,
               &run->ledgers->gaps[index])

// They are the longest of each device, device by device.
static bool is_among_longest(const void *source, const void *row)
{
	const struct tare_gap *gap = row,
	                      *first = ((const struct tare_report *)source)->ledgers->gaps;

	return gap - first < SHOWN || (gap - SHOWN)->device != gap->device;
}

void tare_gaps_text(struct tare_text *text, const struct tare_report *run)
{
	if (tare_table_gaps.count(run) == 0)
		return;
	fputc('\n', text->file);
	tare_table_text(text, &tare_table_gaps, run,
	                &(struct tare_table_part){ .on = TARE_ON_TEXT,
	                                           .keep = is_among_longest,
	                                           .devices = tare_report_several_devices(run) });
}
