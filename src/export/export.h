// SPDX-License-Identifier: Apache-2.0
// A recording for other tools: docs/export.md. The recording is in memory already; a writer goes
// over it and keeps beside it only what its comment says. What belongs to the view is what the
// report counts (analysis/tables/view_filter.h).
#pragma once
#include "analysis/recording/recording.h"
#include "report/core/run.h"

#include <stdio.h>

struct tare_export_counts {
	uint64_t slices, instants, flows, rows; // written
	uint64_t commands;                      // of the view
	uint64_t without_times;                 // of these: they have no place on a device's line
};

// Who wants to know how far it is; called now and then. Returning false ends the export with
// -EINTR.
struct tare_export_watch {
	bool (*step)(void *context, const char *what, uint64_t done, uint64_t total);
	void *context;
};

// Perfetto's protobuf trace: a track a thread, a queue and an engine, lanes so that slices of one
// track never overlap, flows from call to command and from a command to those that wait for it.
// Takes 4 bytes a command, 8 more where commands wait, and what is open. Returns 0, -EIO (the
// stream's error), -ENOMEM, -EINTR. `watch` may be NULL, here and below.
int tare_export_perfetto(const struct tare_recording *recording, const struct tare_view *view,
                         const struct tare_export_watch *watch, FILE *file,
                         struct tare_export_counts *counts, struct tare_error *error);
// An SQLite database at `path`, which must be empty or not exist. Of the run it takes the
// recording, the view, the ledgers and, where they were computed, the tables, phases, sites and
// symbols. Returns 0, -ENOSYS (built without SQLite), -EIO with SQLite's words, -ENOMEM, -EINTR. A
// failed one is left to the caller to remove.
int tare_export_sqlite(const struct tare_report *run, const struct tare_export_watch *watch,
                       const char *path, struct tare_export_counts *counts,
                       struct tare_error *error);
// One CSV file a table in the folder `path`, which exists; files of their names are replaced.
// Returns as tare_export_sqlite. What was written is left there.
int tare_export_csv(const struct tare_report *run, const struct tare_export_watch *watch,
                    const char *path, struct tare_export_counts *counts, struct tare_error *error);

// Names of the tables, in their order; a CSV file is called NAME.csv. Ended by NULL.
const char *const *tare_export_tables(void);
