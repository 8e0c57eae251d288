// SPDX-License-Identifier: Apache-2.0
// Tables of what the run as a whole says: where it is from, its ledger, the longest gaps.
#include "export/rows.h"

#include <inttypes.h>
#include <string.h>

#define INTEGER EXPORT_INTEGER
#define TEXT EXPORT_TEXT

// ---- meta: names and values, so that later versions can add some

static const struct export_column export_meta_columns[] = { { "name", TEXT }, { "value", TEXT } };

enum meta {
	META_SCHEMA,
	META_TARE,
	META_TRACE,
	META_PROGRAM,
	META_START_RAW,
	META_START_REAL,
	META_WALL,
	META_FROM,
	META_TO,
	META_EXIT,
	META_SIGNAL,
	META_COMPLETE,
	META_COUNT
};

static size_t count_meta(const struct rows *rows)
{
	(void)rows;
	return META_COUNT;
}

static const char *decimal(int64_t value, char text[24])
{
	snprintf(text, 24, "%" PRId64, value);
	return text;
}

static void put_meta(struct rows *rows, size_t index)
{
	static const char *const names[META_COUNT] = {
		[META_SCHEMA] = "schema",
		[META_TARE] = "tare",
		[META_TRACE] = "trace",
		[META_PROGRAM] = "program",
		[META_START_RAW] = "start_raw_ns",
		[META_START_REAL] = "start_realtime_ns",
		[META_WALL] = "wall_ns",
		[META_FROM] = "view_from_ns",
		[META_TO] = "view_to_ns",
		[META_EXIT] = "exit_status",
		[META_SIGNAL] = "exit_signal",
		[META_COMPLETE] = "complete",
	};
	const struct tare_recording *r = rows->recording;
	char text[24];
	const char *values[META_COUNT] = {
		[META_SCHEMA] = "1",
		[META_TARE] = TARE_VERSION,
		[META_TRACE] = r->name,
		[META_PROGRAM] = r->program && r->program[0] ? r->program : NULL,
	};
	const int64_t numbers[META_COUNT] = {
		[META_START_RAW] = r->start_ns,
		[META_START_REAL] = r->start_realtime_ns,
		[META_WALL] = r->end_ns - r->start_ns,
		[META_FROM] = rows->view->from_ns - r->start_ns,
		[META_TO] = rows->view->to_ns - r->start_ns,
		[META_EXIT] = r->exit_status,
		[META_SIGNAL] = r->exit_signal,
		[META_COMPLETE] = r->complete,
	};
	bool unknown = (index == META_START_REAL && r->start_realtime_ns == 0) ||
	               (index == META_EXIT && r->exit_status < 0) ||
	               (index == META_SIGNAL && r->exit_signal == 0);

	rows_text(rows, names[index]);
	if (index <= META_PROGRAM)
		rows_text(rows, values[index]);
	else
		rows_text(rows, unknown ? NULL : decimal(numbers[index], text));
	rows_end(rows);
}

EXPORT_TABLE(export_meta, "meta", false, count_meta, put_meta);

// ---- gap

#define TABLE gap
#define ROW struct tare_gap
#define COLUMNS "export/columns/gap.def"
#include "export/own.h"
EXPORT_OWN(gap, struct tare_gap, "one of the longest idle gaps of a device",
           rows->ledgers->gap_count, &rows->ledgers->gaps[index], true)

// ---- ledger

static const struct export_column export_ledger_columns[] = {
	{ "scope", TEXT },
	{ "device", INTEGER },
	{ "category", TEXT },
	{ "ns", INTEGER },
};

static size_t count_parts(const struct rows *rows)
{
	return rows->ledgers->count * TARE_LEDGER_CATEGORIES;
}

static void put_part(struct rows *rows, size_t index)
{
	const struct tare_ledger *ledger = &rows->ledgers->ledgers[index / TARE_LEDGER_CATEGORIES];
	size_t category = index % TARE_LEDGER_CATEGORIES;

	rows_text(rows, ledger->scope);
	rows_index(rows, ledger->device, rows->recording->device_count);
	rows_text(rows, tare_ledger_category_name((enum tare_ledger_category)category));
	rows_integer(rows, ledger->parts_ns[category]);
	rows_end(rows);
}

EXPORT_TABLE(export_ledger, "ledger", false, count_parts, put_part);
