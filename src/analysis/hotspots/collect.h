// SPDX-License-Identifier: Apache-2.0
// From two runs of a program to what counters said of its kernels: the first was recorded as ever
// and tells which kernels matter, the second was counted.
#pragma once
#include "analysis/hotspots/counted.h"
#include "analysis/tables/tables.h"

struct tare_collect_options {
	const char *pattern; // a shell pattern that names match; NULL: all kernels
	uint32_t top;        // at most so many kernels are counted, from the longest on
	// launches counted of each kernel and group of counters; 0: up to 3, as many as slow the
	// program by less than 3 s or 30 %
	uint32_t a_group;
	bool replay;      // a kernel with fewer launches than groups is run several times
	bool overlapping; // kernels that ran beside others are counted, too
	bool counted;     // the recording was counted itself: what has figures has been chosen
};

// A kernel of the first run, or a graph, in the order of run.kernels.
struct tare_collected {
	uint32_t graph;       // of a graph which of those that were made, from 1; else 0
	const char *symbol;   // NULL: the API has none
	uint64_t launches;    // outside graphs
	uint64_t in_graphs;   // within them
	uint64_t overlapping; // of both, those that ran while a kernel of another queue did
	bool waits;           // a graph with a kernel that is known to wait for other devices
	bool chosen;
	// launches outside graphs that are like those which took most of the time, by their order
	// among all of them: "0-4+7-7", as many; NULL: all are alike
	char *places;
	uint64_t like_launches;
	uint64_t given;     // counted launches of which it is known what they were given
	double given_bytes; // their mean
};

struct tare_collection {
	struct tare_counted_run run;
	struct tare_collected *kernels;
	// What the second run is to be told (src/guest/environment.h); NULL: there is nothing to
	// count, and run.device.no_counters may say why.
	char *plan;
	char *reason;       // run.device.no_counters
	char **graph_names; // of the graphs among run.kernels
	size_t graph_count;
	// launches of the second run that could not be counted, and the first error of CUPTI's
	// with the function that failed (a text of the second recording)
	bool levelzero;   // counted are launches of Level Zero
	bool left_by_own; // the program began to count by itself
	uint64_t failed;
	uint32_t failed_code;
	const char *failed_at;
};

// Chooses kernels of a recording. `tables` are of all of it. Texts belong to the recording. Returns
// 0, or -ENOMEM. Free with tare_collection_free in either case.
int tare_collection_choose(const struct tare_recording *recorded, const struct tare_tables *tables,
                           const struct tare_collect_options *options,
                           struct tare_collection *collection, struct tare_error *error);
// Adds what the second run has. Returns 0 or -ENOMEM.
int tare_collection_count(struct tare_collection *collection, const struct tare_recording *counted,
                          struct tare_error *error);
void tare_collection_free(struct tare_collection *collection);

// Of each counted launch of a Level Zero program whether it had the device to itself: `alone`, by
// index of recording->counts, has room for all; false where that is not known. Returns 0 or
// -ENOMEM.
int tare_counted_alone(const struct tare_recording *counted, bool *alone);
// Of a kernel's counted launches those of one size stay: of the size with most groups of counters,
// and of those the largest. `rows` says of which kernel each of recording->counts is, TARE_NO_INDEX
// of none; `left_out` has room for as many, and becomes true for those of other sizes. Returns 0 or
// -ENOMEM.
int tare_counted_sizes(const struct tare_recording *counted, const uint32_t *rows, bool *left_out);
// The size of a kernel's launch; NULL: not known.
const struct tare_recorded_shape *tare_shape_of(const struct tare_recording *recording,
                                                const struct tare_recorded_command *command);
// Less than 0, 0 or more, for sorting; NULL goes first.
int tare_compare_shapes(const struct tare_recorded_shape *a, const struct tare_recorded_shape *b);
// alike.c: which launches of the chosen kernels, of which there are so many, are to be counted.
// `rows`: of each of recorded->kernels its row among run.kernels; TARE_NO_INDEX: none. Returns 0 or
// -ENOMEM.
int tare_collection_look_alike(const struct tare_recording *recorded, const uint32_t *rows,
                               uint32_t chosen, struct tare_collection *collection);
// graphs.c: adds rows for the recording's graphs, in their place among kernels. Returns 0 or
// -ENOMEM.
int tare_collection_add_graphs(const struct tare_recording *recorded,
                               struct tare_collection *collection);
// Whether a kernel of that name is known to wait for other devices.
bool tare_collection_waits(const char *name);

// Whether the recorder asks for it: of Level Zero's metrics, or of CUPTI's.
bool tare_counter_is_asked(enum tare_counter_role role, bool levelzero);

// The first refusal of a recording with counters; NULL: a context could be counted in, or none was
// tried.
const struct tare_recorded_counting *tare_counters_refusal(const struct tare_recording *counted);
