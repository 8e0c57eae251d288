// SPDX-License-Identifier: Apache-2.0
// Parts of the text of counted kernels. Internal to src/report/hotspots.
#pragma once
#include "analysis/hotspots/hierarchy.h"
#include "report/terminal/write.h"

struct tare_device_samples;
struct tare_hotspots;
// The device over time: a row a counter.
void tare_device_samples_text(struct tare_text *text, const struct tare_device_samples *samples);
// Kernels that a table shows, from the longest on, and a sentence on those beyond.
enum { TARE_HOTSPOTS_MOST_ROWS = 40 };
void tare_hotspots_more(struct tare_text *text, const struct tare_counted_run *run);
// Of a run without counters a row a kernel: its recorded time, and what its instructions ask for
// where they were counted.
void tare_hotspot_times_table(struct tare_text *text, const struct tare_hotspots *hotspots);
// The memory hierarchy of a kernel, drawn with its edges' figures. 80 columns.
void tare_hotspot_diagram(struct tare_text *text, const struct tare_hotspot *hotspot);
