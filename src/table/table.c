// SPDX-License-Identifier: Apache-2.0
#include "table/table.h"

#include <string.h>

const char *tare_cell_absence_sign(enum tare_cell_absence why)
{
	switch (why) {
	case TARE_LEFT_TO_RUNTIME:
		return "auto";
	case TARE_NOT_MEASURED:
		return "n/a";
	case TARE_NOT_ASKED:
		return "";
	case TARE_WRONG_DATA:
		return "WRONG";
	default:
		return "–";
	}
}

const char *tare_cell_absence_name(enum tare_cell_absence why)
{
	return why == TARE_NOT_MEASURED ? "not_measured"
	       : why == TARE_WRONG_DATA ? "wrong_data"
	                                : NULL;
}

// ---- kinds of figures

static const struct {
	const char *name, *unit;
	enum tare_stored stored;
} kinds[TARE_SHOWN_KINDS] = {
	[TARE_SHOWN_NAME] = { "name", "", TARE_STORED_TEXT },
	[TARE_SHOWN_TEXT] = { "text", "", TARE_STORED_TEXT },
	[TARE_SHOWN_WORD] = { "word", "", TARE_STORED_TEXT },
	[TARE_SHOWN_ID] = { "id", "", TARE_STORED_TEXT },
	[TARE_SHOWN_CATEGORY] = { "category", "", TARE_STORED_TEXT },
	[TARE_SHOWN_DEVICE] = { "device", "", TARE_STORED_INTEGER },
	[TARE_SHOWN_COUNT] = { "count", "", TARE_STORED_INTEGER },
	[TARE_SHOWN_SIGNED] = { "signed", "", TARE_STORED_INTEGER },
	[TARE_SHOWN_BYTES] = { "bytes", "B", TARE_STORED_INTEGER },
	[TARE_SHOWN_CLOCK] = { "clock", "Hz", TARE_STORED_INTEGER },
	[TARE_SHOWN_TIME] = { "time", "ns", TARE_STORED_INTEGER },
	[TARE_SHOWN_FIGURE] = { "figure", "ns", TARE_STORED_REAL },
	[TARE_SHOWN_MOMENT] = { "moment", "ns", TARE_STORED_INTEGER },
	[TARE_SHOWN_SHARE] = { "share", "1", TARE_STORED_REAL },
	[TARE_SHOWN_TREND] = { "trend", "1", TARE_STORED_REAL },
	[TARE_SHOWN_RATE] = { "rate", "B/s", TARE_STORED_REAL },
	[TARE_SHOWN_NUMBER] = { "number", "", TARE_STORED_REAL },
	[TARE_SHOWN_SHORT] = { "short", "", TARE_STORED_REAL },
	[TARE_SHOWN_RATIO] = { "ratio", "1", TARE_STORED_REAL },
	[TARE_SHOWN_PERCENT] = { "percent", "%", TARE_STORED_REAL },
	[TARE_SHOWN_POINTS] = { "points", "%", TARE_STORED_REAL },
	[TARE_SHOWN_TRUTH] = { "truth", "", TARE_STORED_INTEGER },
	[TARE_SHOWN_SIZES] = { "sizes", "", TARE_STORED_TEXT },
	[TARE_SHOWN_HASH] = { "hash", "", TARE_STORED_TEXT },
	[TARE_SHOWN_NESTED] = { "nested", "", TARE_STORED_NOT },
};

const char *tare_shown_name(enum tare_shown shown)
{
	return kinds[shown].name;
}

enum tare_stored tare_shown_stored(enum tare_shown shown)
{
	return kinds[shown].stored;
}

// ---- columns

bool tare_column_group_known(const struct tare_column_group *group, const void *source,
                             const void *row)
{
	return !group || (tare_column_group_known(group->in, source, row) &&
	                  (!group->known || group->known(source, row)));
}

struct tare_cell_value tare_column_value(const struct tare_column *column, const void *source,
                                         const void *row)
{
	return tare_column_group_known(column->in, source, row) ? column->value(source, row)
	                                                        : tare_absent(TARE_NOT_KNOWN);
}

struct tare_cell_value tare_column_value_at(const struct tare_column *column, const void *source,
                                            const void *row, size_t at)
{
	return column->times ? column->value_at(source, row, at)
	                     : tare_column_value(column, source, row);
}

const char *tare_column_unit(const struct tare_column *column)
{
	return column->unit_name ? column->unit_name : kinds[column->shown].unit;
}

// What follows the group's id and "_".
static const char *key_in(const char *id, const struct tare_column_group *group)
{
	return group ? id + strlen(group->id) + 1 : id;
}

const char *tare_column_key(const struct tare_column *column)
{
	return key_in(column->id, column->in);
}

const char *tare_column_group_key(const struct tare_column_group *group)
{
	return key_in(group->id, group->in);
}
