// SPDX-License-Identifier: Apache-2.0
// The phases that a program marks, by name: how often, how long, and where the time in them went.
#pragma once
#include "analysis/ledger.h"
#include "analysis/recording.h"

struct tare_phase_row {
	const char *name, *domain;
	uint64_t count;           // times it was entered within the view
	uint64_t unended;         // of these, never left
	int64_t total_ns;         // sum of their lengths; phases of several threads count each
	int64_t covered_ns;       // union of them: the time in which at least one was open
	double median_ns, max_ns;
	uint64_t commands;        // enqueued by its thread while it was open
	struct tare_ledger ledger; // of the union of devices, over covered_ns
	struct tare_time_span *spans;  // covered_ns
	size_t span_count;
};

struct tare_phases {
	struct tare_phase_row *rows; // the longest first; instants are not counted
	size_t count;
};

// Returns 0 or -ENOMEM. Free with tare_phases_free.
int tare_phases_compute(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_phases *phases, struct tare_error *error);
void tare_phases_free(struct tare_phases *phases);

// The parts of [from_ns, to_ns) in which a phase whose name, or DOMAIN/NAME, matches the shell
// pattern was open (ranges and nested ones alike): in order, disjoint. *spans is to be freed. Returns
// how many (0: no phase matches), or -ENOMEM.
int tare_phase_spans(const struct tare_recording *recording, const char *pattern, int64_t from_ns,
                     int64_t to_ns, struct tare_time_span **spans);
