// SPDX-License-Identifier: Apache-2.0
// The phases that a program marks, by name: how often, how long, and where the time in them went.
#pragma once
#include "analysis/ledger/ledger.h"
#include "analysis/recording/recording.h"

struct tare_phase_row {
	const char *name, *domain;
	// row that all of them lie in; SIZE_MAX: none, or not the same one
	size_t parent;
	uint64_t count;   // times it was entered within the view
	uint64_t unended; // of these, never left
	// sum of their lengths, not cut; phases of several threads count each
	int64_t total_ns;
	int64_t covered_ns;       // union of all, cut to the view: when at least one was open
	double median_ns, max_ns; // of those that were left; NaN: none
	uint64_t commands;        // enqueued by its thread while it was open, within the view
	uint64_t kernels;         // of these; and
	// what they took of the device, whenever they ran: sum of those with times
	int64_t kernel_ns;
	uint64_t timed;      // of the commands, those with device times; and
	int64_t launched_ns; // what they took of the device, whenever they ran: their sum
	int64_t
	    launched_self_ns; // of that, of commands that no later phase of their thread launched
	struct tare_ledger ledger;   // of the union of devices, over covered_ns
	struct tare_run_span *spans; // covered_ns
	size_t span_count;
};

enum { TARE_PHASE_ROWS = 1000 };

struct tare_phases {
	struct tare_phase_row *rows; // by covered_ns, the longest first; instants are not counted
	size_t count;
	size_t left_out; // names beyond the TARE_PHASE_ROWS longest
};

// Rows of the phases of a view's processes that were open within it. Takes n log n for n phases and
// commands, whatever the number of names. Returns 0 or -ENOMEM with *phases empty. Free with
// tare_phases_free.
int tare_phases_compute(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_phases *phases, struct tare_error *error);
void tare_phases_free(struct tare_phases *phases); // leaves *phases empty

// The phase that launched each command: of those that its thread had open when it enqueued it, the
// one that began last; TARE_NO_INDEX: none was. Of a run of a list it is where the list was
// executed. Returns command_count of them, to be freed; NULL: no memory.
uint32_t *tare_phases_of_commands(const struct tare_recording *recording);

// The parts of a view, its own spans aside, in which a phase of its processes was open whose name,
// or DOMAIN/NAME, is or matches the shell pattern (ranges and nested ones alike): in order,
// disjoint, joined where they touch. *spans is to be freed. Returns how many (0: none matches
// there), or -ENOMEM.
int tare_phase_spans(const struct tare_recording *recording, const struct tare_view *view,
                     const char *pattern, struct tare_run_span **spans);

// The different phases of a process (TARE_NO_INDEX: of all), as indices of one each in the order of
// their first begin: up to `most` of them. Returns how many were found. Instants are none.
size_t tare_phase_names(const struct tare_recording *recording, uint32_t process, uint32_t *found,
                        size_t most);
