// SPDX-License-Identifier: Apache-2.0
// The timeline of a page: which rows it has, their columns, and how they are written.
// docs/page-run.md has the format. Internal to src/report.
#pragma once
#include "analysis/ledger/ledger.h"
#include "report/run/report.h"

#include <stdbool.h>

enum { TIMELINE_NO_LANE = 255 };

// Rows of a table: indices into the recording's array, in its order.
struct timeline_rows {
	uint32_t *at;
	size_t count;
};

// What can be left out, each a table of its own.
enum timeline_kind {
	TIMELINE_COMMANDS,
	TIMELINE_CALLS,
	TIMELINE_CALLBACKS,
	TIMELINE_PHASES,
	TIMELINE_GAPS,
	TIMELINE_KINDS
};

struct timeline {
	const struct tare_report *run;
	const struct tare_recording *recording;
	struct timeline_rows all[TIMELINE_KINDS];  // of the view
	struct timeline_rows rows[TIMELINE_KINDS]; // of these, in the page
	// where a command of the recording is among the rows; TARE_NO_INDEX
	uint32_t *command_row;
	// what the rows wait for, one row after the other: indices into the
	uint32_t *wait_at;
	size_t wait_count;     // recording's waits
	size_t all_waits;      // of the view's rows
	struct tare_gap *gaps; // pieces of idle time
	size_t gap_count, gap_capacity;
	// By index of the recording.
	uint8_t *lane, *engine, *engine_lane, *command_depth, *call_depth, *phase_lane;
	uint32_t *device_number; // as the report counts
	// of each command the phase that launched it (TARE_NO_INDEX: none), and of each phase its
	// row (how many there are: it is none of them)
	uint32_t *command_phase, *phase_row;
	struct timeline_strings *strings;
	uint32_t *phase_name, *phase_domain, *kernel_name, *stack_site; // indices into the strings
	uint32_t *frame, *frame_count;   // of stacks: one after the other, and how many each has
	size_t frame_total, stack_count; // 0 where no stacks were recorded
};

// ---- timeline_strings.c

struct timeline_strings;
struct timeline_strings *timeline_strings_new(void); // NULL: no memory. "" is number 0
void timeline_strings_free(struct timeline_strings *strings);
// The number of a text, which is copied; NULL is "".
uint32_t timeline_string(struct timeline_strings *strings, const char *text);
bool timeline_strings_failed(const struct timeline_strings *strings); // no memory
size_t timeline_string_count(const struct timeline_strings *strings);
const char *timeline_string_at(const struct timeline_strings *strings, size_t number);

// ---- timeline_lanes.c

// Fills lanes, engines and depths of the view's rows. Returns 0 or -ENOMEM.
int timeline_place(struct timeline *timeline);

// ---- timeline_rows.c

// Finds the rows of the view and what they name. Returns 0 or -ENOMEM.
int timeline_open(struct timeline *timeline, const struct tare_report *run,
                  struct tare_error *error);
void timeline_close(struct timeline *timeline);
// How far rows are left out: 0 nothing, 1 calls that ask, 2 short calls, 3 all calls, 4 all but a
// share of the longest rows.
enum { TIMELINE_EVERYTHING = 0, TIMELINE_SHARE = 4 };
// Chooses the rows of a level, and what of their waits goes with them.
void timeline_choose(struct timeline *timeline, int level, double share);

// ---- timeline_columns.c

enum timeline_type { TIMELINE_U8, TIMELINE_VARINT, TIMELINE_DELTA };

struct timeline_column {
	const char *name;
	bool byte; // u8; else integers, as varint or delta, whichever is shorter
	const char *relative_to;
	// The values of `count` rows from `from` on; TARE_NO_TIME: not known. Of a byte 0 to 255.
	// Of a relative column also those that they are relative to, into `bases`.
	void (*values)(const struct timeline *timeline, size_t from, size_t count, int64_t *values,
	               int64_t *bases);
};

enum { TIMELINE_COLUMNS = 28, TIMELINE_TABLES = 10 };

struct timeline_table {
	const char *name;
	size_t (*count)(const struct timeline *timeline);
	struct timeline_column columns[TIMELINE_COLUMNS]; // ended by one without a name
};
extern const struct timeline_table timeline_tables[TIMELINE_TABLES];

// How a column is stored.
struct timeline_layout {
	enum timeline_type type;
	uint64_t offset, bytes;
	size_t count;
};
typedef struct timeline_layout timeline_layouts[TIMELINE_TABLES][TIMELINE_COLUMNS];

// Finds the shorter form of each column, and where it will be. Returns all their bytes.
uint64_t timeline_lay_out(const struct timeline *timeline, timeline_layouts layouts);
// Gives all columns to `take`, piece by piece, which returns false to stop.
void timeline_columns_write(const struct timeline *timeline, const timeline_layouts layouts,
                            bool (*take)(void *context, const void *bytes, size_t count),
                            void *context);

// ---- timeline_header.c

// The header as text, to be freed; NULL: no memory.
char *timeline_header(const struct timeline *timeline, const timeline_layouts layouts,
                      const struct tare_page_left_out *left_out);

// ---- timeline_stream.c

// Deflates and writes base64.
struct timeline_stream;
struct timeline_stream *timeline_stream_new(FILE *file);   // NULL: no memory
void timeline_stream_free(struct timeline_stream *stream); // accepts NULL
void timeline_stream_add(struct timeline_stream *stream, const void *bytes, size_t count);
// Characters written so far; what is still inside comes with timeline_stream_end.
uint64_t timeline_stream_written(const struct timeline_stream *stream);
uint64_t timeline_stream_end(struct timeline_stream *stream); // the characters of all
