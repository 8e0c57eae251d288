// SPDX-License-Identifier: Apache-2.0
// A table is data: its columns are declared once, with a function from a row to a value, and every
// writer (text, JSON, CSV, SQLite, the page, the schema, the documentation) goes by that.
// docs/adding-a-column.md adds one.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- a value: what is not known differs from 0, and knows why

enum tare_cell_is {
	TARE_IS_ABSENT,
	TARE_IS_INTEGER,
	TARE_IS_NUMBER,
	TARE_IS_TEXT,
	TARE_IS_TRUTH,
	TARE_IS_SIZES,
	TARE_IS_NESTED // what only a column's own writers know
};

// Why a cell has no value.
enum tare_cell_absence {
	TARE_NOT_KNOWN,
	TARE_NOT_TIMED,       // no device times
	TARE_NOT_TOLD,        // the driver does not say
	TARE_NOT_THERE,       // there is no such thing
	TARE_LEFT_TO_RUNTIME, // the program left the choice to the runtime
	TARE_NOT_MEASURED,    // it was asked for, and a reason is told elsewhere
	TARE_NOT_ASKED,       // there is nothing to say
	TARE_WRONG_DATA,      // there is a figure, of data that came out wrong
};
// What JSON says of it beside null: "not_measured", "wrong_data"; NULL: nothing.
const char *tare_cell_absence_name(enum tare_cell_absence why);
// What a person reads in its place: "–", "auto", "n/a", nothing, "WRONG".
const char *tare_cell_absence_sign(enum tare_cell_absence why);

struct tare_cell_value {
	enum tare_cell_is is;
	bool unsure; // a figure that is not known as well as was wanted: texts put a "*" behind it
	union {
		enum tare_cell_absence why;
		int64_t integer;
		double number;
		const char *text; // lives as long as its row
		bool truth;
		const void
		    *nested; // what the table of a nested column is of; NULL: its own writers know
		struct {
			uint64_t at[3];
			uint32_t dimensions; // at most 3
		} sizes;
	};
};

static inline struct tare_cell_value tare_absent(enum tare_cell_absence why)
{
	return (struct tare_cell_value){ .is = TARE_IS_ABSENT, .why = why };
}

static inline struct tare_cell_value tare_integer(int64_t value)
{
	return (struct tare_cell_value){ .is = TARE_IS_INTEGER, .integer = value };
}

// Above 2^63 - 1: that.
static inline struct tare_cell_value tare_unsigned(uint64_t value)
{
	return tare_integer(value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

// Absent when it is not finite.
static inline struct tare_cell_value tare_number(double value, enum tare_cell_absence why)
{
	return isfinite(value) ? (struct tare_cell_value){ .is = TARE_IS_NUMBER, .number = value }
	                       : tare_absent(why);
}

// Absent when it is NULL.
static inline struct tare_cell_value tare_string(const char *text)
{
	return text ? (struct tare_cell_value){ .is = TARE_IS_TEXT, .text = text }
	            : tare_absent(TARE_NOT_KNOWN);
}

// Absent when it is NULL or "".
static inline struct tare_cell_value tare_named(const char *text)
{
	return tare_string(text && text[0] ? text : NULL);
}

// Absent when it is 0.
static inline struct tare_cell_value tare_not_zero(uint64_t value, enum tare_cell_absence why)
{
	return value ? tare_unsigned(value) : tare_absent(why);
}

static inline struct tare_cell_value tare_truth(bool value)
{
	return (struct tare_cell_value){ .is = TARE_IS_TRUTH, .truth = value };
}

// Of a column that is nested.
static inline struct tare_cell_value tare_nested(void)
{
	return (struct tare_cell_value){ .is = TARE_IS_NESTED };
}

// Of a column whose table, `of`, is of `source`.
static inline struct tare_cell_value tare_nested_of(const void *source)
{
	return (struct tare_cell_value){ .is = TARE_IS_NESTED, .nested = source };
}

// The value, or absent where it is not known.
static inline struct tare_cell_value tare_if(bool known, struct tare_cell_value value,
                                             enum tare_cell_absence why)
{
	return known ? value : tare_absent(why);
}

// ---- columns

// What kind of figure a column has: how writers show it, and of which type it is.
enum tare_shown {
	TARE_SHOWN_NAME,     // text: what the row is about, from the program
	TARE_SHOWN_TEXT,     // text: from the program or the driver
	TARE_SHOWN_WORD,     // text: a stable word of ours, "to_device"
	TARE_SHOWN_ID,       // text: the same with digits and dashes, "many-small-transfers"
	TARE_SHOWN_CATEGORY, // text: a category of the ledger
	TARE_SHOWN_DEVICE,   // integer: a device's number, "#1"
	TARE_SHOWN_COUNT,    // integer
	TARE_SHOWN_SIGNED,   // integer, also below 0
	TARE_SHOWN_BYTES,    // integer
	TARE_SHOWN_CLOCK,    // integer, Hz
	TARE_SHOWN_TIME,     // integer, ns
	TARE_SHOWN_FIGURE,   // number, ns: computed from times
	TARE_SHOWN_MOMENT,   // integer, ns from the start of the run
	TARE_SHOWN_SHARE,    // number, 0 to 1
	TARE_SHOWN_TREND,    // number, a change: 0.1 is 10 % more
	TARE_SHOWN_RATE,     // number, bytes a second
	TARE_SHOWN_NUMBER,   // number
	TARE_SHOWN_SHORT,    // number, in at most seven columns
	TARE_SHOWN_RATIO,    // number, "1.50"
	TARE_SHOWN_PERCENT,  // number, of a hundred: "61 %"
	TARE_SHOWN_POINTS,   // the same, and small ones: "61 %", "9.1 %", "<0.1 %"
	TARE_SHOWN_TRUTH,    // true or false
	TARE_SHOWN_SIZES,    // up to 3 integers
	TARE_SHOWN_HASH,     // integer of 64 bits, in hexadecimal
	TARE_SHOWN_NESTED,   // of the JSON alone, by `nested`
	TARE_SHOWN_KINDS
};
// "name", "time", ...: what the page and the documentation know it by.
const char *tare_shown_name(enum tare_shown shown);

// How CSV and SQLite keep it.
enum tare_stored { TARE_STORED_INTEGER, TARE_STORED_REAL, TARE_STORED_TEXT, TARE_STORED_NOT };
enum tare_stored tare_shown_stored(enum tare_shown shown);

// Which columns of a text table share their unit of time, and how it is chosen.
enum tare_unit_of { TARE_UNIT_ITS_OWN, TARE_UNIT_TOTALS, TARE_UNIT_EACH, TARE_UNITS };

enum {
	TARE_MAY_BE_ABSENT = 1, // some rows have no value
	TARE_IF_ANY = 2,        // people see the column only where a row has a value other than 0
	TARE_IF_DEVICES = 4,    // ... where the report is about several devices
	TARE_GROUPED = 16,      // a text has commas between thousands
	TARE_SETS_LEAST = 8,    // its least value is the least that the unit must show
	TARE_DRAWN =
	    32, // what others say in another way: of the text, a CSV of its own, static pages
	TARE_SAID_ONCE = 64, // as the first, a text leaves it empty below a row that says the same
	TARE_LEFT_OUT = 128, // the JSON leaves it out where it has no value
	TARE_WHOLE = 256,    // of texts: a terminal's width cuts others before it
	TARE_BARRED = 512,   // of shares: a page without scripts draws a bar beside it
};
// Where a column is: on the page, in a CSV file that has not all of them, and in the parts of a
// text table, which are the table's own.
enum { TARE_ON_PAGE = 1, TARE_ON_TEXT = 2, TARE_ON_MORE = 4, TARE_ON_CSV = 1 << 16 };

// A cell that a column writes by itself.
struct tare_cell_text {
	const void *source, *row;
	double unit_ns; // of its column's times; NaN: none
	char *text;     // "" at first
	size_t size;
};

// Values that are one object in the JSON, null where it is not known. `id` begins the ids of its
// columns: "fill" has "fill_waves", which is "waves" there.
struct tare_column_group {
	const char *id;
	const struct tare_column_group *in; // NULL: it is in the row itself
	bool (*known)(const void *source, const void *row);
	const char *doc;
};

// How the rows of a nested column's table stand in the JSON.
enum tare_nested_as {
	TARE_AS_ROWS,   // a list of objects
	TARE_AS_OBJECT, // its one row; null: it has none
	TARE_AS_LIST,   // a list of the values of its only column
	// an object: a row's first column is the key, and the other its value; of several others,
	// an object. What has no key, or not the one value, is left out
	TARE_AS_MAP
};

struct json_t;

struct tare_column {
	const char *id; // name in SQL and CSV; the JSON's key, without its group's
	const char *title;
	enum tare_shown shown;
	const char *doc; // a sentence, without full stop
	// `source` is what the table is of, `row` one of its rows.
	struct tare_cell_value (*value)(const void *source, const void *row);
	unsigned flags, on;
	enum tare_unit_of unit;
	const char *unit_name; // what its figures are in, where their kind does not say
	const char *brief;     // the title in text, where it must be shorter
	const struct tare_column_group *in;
	// Writes the cell of a text, or returns false to leave it to the writer; may be NULL.
	bool (*cell)(const struct tare_cell_text *cell);
	// What follows the figure in a text, "*"; may be NULL.
	const char *(*mark)(const void *source, const void *row);
	// A column that is there several times, by what the rows are of: how often, the title of
	// the one `at` (text has room for 64 characters), and its value. NULL: it is there once.
	size_t (*times)(const void *source);
	const char *(*title_at)(const void *source, size_t at, char *text);
	struct tare_cell_value (*value_at)(const void *source, const void *row, size_t at);
	// The JSON of a nested column; `nested_on` says that it is rows of the same table, with
	// the columns that are on that.
	struct json_t *(*nested)(void *json, const void *source, const void *row);
	unsigned nested_on;
	// A nested column that is a table of its own: what its value says that it is of.
	const struct tare_table *of;
	enum tare_nested_as as;
	const char *const *words; // all that its texts can be, ended by NULL; NULL: not listed
	int64_t least, most;      // of numbers, for the schema: from and to; most 0: not bounded
};

struct tare_table {
	const char *id;      // the JSON's key, the name in SQL and of the CSV file
	const char *title;   // a heading
	const char *doc;     // what a row is, without full stop
	const char *nothing; // what the page says without rows; NULL: it leaves the table out
	const struct tare_column *columns;
	size_t column_count;
	size_t (*count)(const void *source);
	const void *(*row)(const void *source, size_t index);
	// Which rows are written, where a part does not say it; NULL: all.
	bool (*keep)(const void *source, const void *row);
};

// The value of a column; absent where its group is not known.
struct tare_cell_value tare_column_value(const struct tare_column *column, const void *source,
                                         const void *row);
// The same of the column's repetition `at`; of a column that is there once, its value.
struct tare_cell_value tare_column_value_at(const struct tare_column *column, const void *source,
                                            const void *row, size_t at);
// Whether what `group` has is known of a row; NULL is the row itself.
bool tare_column_group_known(const struct tare_column_group *group, const void *source,
                             const void *row);
// What the column's figures are in; "" for none.
const char *tare_column_unit(const struct tare_column *column);
// The column's key in the JSON.
const char *tare_column_key(const struct tare_column *column);
// The same of a group.
const char *tare_column_group_key(const struct tare_column_group *group);
