// SPDX-License-Identifier: Apache-2.0
// A recording for other tools. Each writer reads the recording once, in order, and keeps no more than
// what is open at a time.
#pragma once
#include "analysis/recording.h"

#include <stdio.h>

struct tare_export_counts {
	uint64_t slices, instants, flows, rows; // written
	uint64_t without_times;                 // commands that have no place on a device's line
};

// Perfetto's protobuf trace: a track a thread, a queue and an engine, lanes so that slices of one
// track never overlap, flows from call to command. Returns 0, -EIO (the stream's error), -ENOMEM.
int tare_export_perfetto(const struct tare_recording *recording, const struct tare_view *view,
                         FILE *file, struct tare_export_counts *counts, struct tare_error *error);
// An SQLite database at `path`, which must not exist; docs/export.md has the schema. Returns 0,
// -EEXIST, -ENOSYS (built without SQLite), -EIO with SQLite's words. A failed one is removed.
int tare_export_sqlite(const struct tare_recording *recording, const struct tare_view *view,
                       const char *path, struct tare_export_counts *counts,
                       struct tare_error *error);
// One CSV file a table, in the folder `path`, which is made; -EEXIST when it has files in it.
int tare_export_csv(const struct tare_recording *recording, const struct tare_view *view,
                    const char *path, struct tare_export_counts *counts,
                    struct tare_error *error);
