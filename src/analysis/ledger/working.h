// SPDX-License-Identifier: Apache-2.0
// The idle gaps of a part of a run, as findings are made from: all of them, each with the ledger's
// parts of it.
#pragma once
#include "analysis/ledger/ledger.h"

#include <stdbool.h>

// There may be as many as commands: 28 bytes each.
struct ledger_working_gap {
	int64_t from_ns, to_ns;
	uint32_t command;       // that ends it; TARE_NO_INDEX: the part of the run ends
	uint32_t first_part;    // those of the categories that it has, in their order
	uint32_t has : 23;      // bits of these
	uint32_t cause : 5;     // enum tare_ledger_category: the largest part
	uint32_t undivided : 1; // it is of one category, and its part is not kept
	bool first_launch : 1;  // that command is its kernel's first launch; set by findings
	bool looped : 1;  // many-short-kernels was raised for it, with the host's own time in it
	bool drained : 1; // synchronize-drains was raised for it
} __attribute__((packed, aligned(4)));
_Static_assert(TARE_LEDGER_CATEGORIES <= 23, "bits of struct ledger_working_gap");

struct ledger_working_gaps {
	struct ledger_working_gap *at; // in the order of time
	size_t count, room;
	float *parts_ns; // the sum of a gap's is to - from
	size_t part_count, part_room;
};

// All of the devices of a view together, in a part of it.
struct ledger_working {
	struct tare_time_span part;
	struct ledger_working_gaps gaps;
	struct tare_ledger ledger;
	// whose ledgers were asked for, too; empty: not known
	struct tare_time_span spans[TARE_LEDGER_SPANS];
	struct tare_ledger *of_spans; // one each
	size_t span_count;
	uint32_t *order; // the view's commands that have times, by start
	size_t order_count;
};

// Within the gap: from when on the command that ends it was being enqueued.
int64_t ledger_working_enter_ns(const struct tare_recording *recording,
                                const struct ledger_working_gap *gap);
// Appends one. Returns 0 or -ENOMEM.
int ledger_working_add(struct ledger_working_gaps *gaps, const struct tare_gap *gap,
                       const int64_t parts_ns[TARE_LEDGER_CATEGORIES]);
// Makes what there is of the part; a sweep of its own. *working is to be freed in either case.
// Returns 0 or -ENOMEM.
int ledger_working_find(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_time_span part, struct ledger_working *working);
// The ledger of a span; NULL: not known.
const struct tare_ledger *ledger_working_span(const struct ledger_working *working,
                                              struct tare_time_span span);
void ledger_working_free(struct ledger_working *working);
