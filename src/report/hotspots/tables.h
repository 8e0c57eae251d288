// SPDX-License-Identifier: Apache-2.0
// Counted kernels as declared tables (tables/*.def): text, JSON, page and schema go by them.
// Internal to src/report, but for the list of what is declared.
#pragma once
#include "analysis/hotspots/hierarchy.h"
#include "analysis/hotspots/samples.h"
#include "report/hotspots/words.h"
#include "report/terminal/options.h"
#include "table/table.h"

struct tare_hotspot_row {
	struct tare_hotspot of;
	bool ascii;
	long bar;    // columns of the bar of its cores' time
	char *words; // of the run: a sentence that was asked for, until the next one
};

// What follows from a run.
struct tare_hotspots {
	const struct tare_counted_run *run;
	struct tare_hotspot_row *rows; // one a kernel
	char words[HOTSPOT_TEXT];
};

// Which kernels' columns a text shows: of the counters, of times alone, and with what instructions
// ask for.
enum {
	TARE_HOTSPOTS_COUNTED = TARE_ON_TEXT,
	TARE_HOTSPOTS_TIMES = TARE_ON_MORE,
	TARE_HOTSPOTS_ASKED = TARE_ON_MORE << 1
};

// The whole document, of struct tare_hotspots; in it the kernels; of struct tare_counted_kernel its
// counters; and of struct tare_device_samples the device over time and its counters.
extern const struct tare_table tare_hotspots_document, tare_hotspots_table, tare_hotspots_counters,
    tare_samples_table, tare_samples_series_table;
// By what a text marks figures that are not there, and explains it below: 'a' and so on.
static inline char tare_counter_letter(enum tare_counter_state state)
{
	return (char)('a' + state - TARE_COUNTER_NOT_ON_DEVICE);
}

// Derives what follows. `options` are of the text that it is for; NULL: for no text. 0 or -ENOMEM;
// to free in either case. The run must outlive it.
int tare_hotspots_make(const struct tare_counted_run *run, const struct tare_text_options *options,
                       struct tare_hotspots *hotspots);
void tare_hotspots_free(struct tare_hotspots *hotspots);
