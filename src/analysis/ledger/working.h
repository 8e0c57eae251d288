// SPDX-License-Identifier: Apache-2.0
// The idle gaps of a part of a run, as findings are made from: all of them, each with the ledger's
// parts of it.
#pragma once
#include "analysis/core/id_map.h"
#include "analysis/ledger/ledger.h"

#include <stdbool.h>

// What a gap is, in a word that is copied as one.
#define LEDGER_GAP_BITS                                                                            \
	union {                                                                                    \
		uint32_t bits;                                                                     \
		struct {                                                                           \
			uint32_t has : 23;      /* bits of the categories that it has */           \
			uint32_t cause : 5;     /* enum tare_ledger_category: the largest part */  \
			uint32_t undivided : 1; /* it is of one category; its part is not kept */  \
			/* Set by findings: its command is its kernel's first launch; */           \
			/* many-short-kernels was raised for it, with the host's own time in it;   \
			 */                                                                        \
			/* synchronize-drains was raised for it. */                                \
			bool first_launch : 1, looped : 1, drained : 1;                            \
		};                                                                                 \
	}

// One of them.
struct ledger_working_gap {
	int64_t from_ns, to_ns;
	uint32_t command; // that ends it; TARE_NO_INDEX: the part of the run ends
	uint32_t index;   // which it is
	LEDGER_GAP_BITS;
};
_Static_assert(TARE_LEDGER_CATEGORIES <= 23, "bits of struct ledger_working_gap");

// How it is kept, as there may be as many as commands: it ends when its command starts. One that
// does not, or is too long, is LEDGER_GAP_WIDE, and `command` its index in `wide`.
enum { LEDGER_GAPS_A_BLOCK = 16 };
#define LEDGER_GAP_WIDE UINT32_MAX
struct ledger_kept_gap {
	uint32_t length_ns;
	uint32_t command;
};
_Static_assert(sizeof(struct ledger_kept_gap) == 8, "docs/reading.md says what a gap takes");
struct ledger_wide_gap {
	int64_t from_ns, to_ns;
	uint32_t command;
	uint32_t bits; // without marks
};
// Beside each a word: which of `kinds` its bits are, and the marks of findings as they are in bits.
enum { LEDGER_GAP_KINDS = 1 << 13, LEDGER_GAP_MARKS_AT = 29 };
enum ledger_gap_mark { LEDGER_GAP_FIRST_LAUNCH, LEDGER_GAP_LOOPED, LEDGER_GAP_DRAINED };

struct ledger_working_gaps {
	const struct tare_recording *recording; // whose commands end them
	struct ledger_kept_gap *at;             // in the order of time; read them by ledger_gap_at
	uint16_t *what;
	size_t count, room, what_room;
	uint32_t *kinds; // bits, as there are few that differ; at most LEDGER_GAP_KINDS
	size_t kind_count, kind_room;
	struct tare_id_map kind_of;
	uint32_t last_kind;    // the one that was looked for last
	uint32_t *first_parts; // of the gaps of each block
	size_t block_count, block_room;
	struct ledger_wide_gap *wide;
	size_t wide_count, wide_room;
	// those of the categories that each divided gap has, in their order; the sum is to - from
	float *parts_ns;
	size_t part_count, part_room;
};

// The command that ends it, without a copy of the rest.
static inline uint32_t ledger_gap_command(const struct ledger_working_gaps *gaps, size_t index)
{
	const struct ledger_kept_gap *kept = &gaps->at[index];
	return kept->length_ns == LEDGER_GAP_WIDE ? gaps->wide[kept->command].command
	                                          : kept->command;
}
static inline uint32_t ledger_gap_bits(const struct ledger_working_gaps *gaps, size_t index)
{
	const struct ledger_kept_gap *kept = &gaps->at[index];
	uint32_t what = gaps->what[index];
	uint32_t bits = kept->length_ns == LEDGER_GAP_WIDE ? gaps->wide[kept->command].bits
	                                                   : gaps->kinds[what % LEDGER_GAP_KINDS];
	return bits | what / LEDGER_GAP_KINDS << LEDGER_GAP_MARKS_AT;
}
static inline bool ledger_gap_is_marked(const struct ledger_working_gaps *gaps, size_t index,
                                        enum ledger_gap_mark mark)
{
	return gaps->what[index] & LEDGER_GAP_KINDS << mark;
}
static inline void ledger_gap_mark(struct ledger_working_gaps *gaps, size_t index,
                                   enum ledger_gap_mark mark, bool is)
{
	uint16_t bit = (uint16_t)(LEDGER_GAP_KINDS << mark);
	gaps->what[index] = (uint16_t)(is ? gaps->what[index] | bit : gaps->what[index] & ~bit);
}
static inline struct ledger_working_gap ledger_gap_at(const struct ledger_working_gaps *gaps,
                                                      size_t index)
{
	const struct ledger_kept_gap *kept = &gaps->at[index];
	struct ledger_working_gap gap = { .index = (uint32_t)index };
	gap.bits = ledger_gap_bits(gaps, index);
	if (kept->length_ns == LEDGER_GAP_WIDE) {
		const struct ledger_wide_gap *wide = &gaps->wide[kept->command];
		gap.from_ns = wide->from_ns;
		gap.to_ns = wide->to_ns;
		gap.command = wide->command;
	} else {
		gap.command = kept->command;
		gap.to_ns = TARE_COMMAND(gaps->recording, kept->command)->start_ns;
		gap.from_ns = gap.to_ns - kept->length_ns;
	}
	return gap;
}
// The part of a divided gap that is of one of its categories.
static inline float *ledger_gap_part(const struct ledger_working_gaps *gaps,
                                     const struct ledger_working_gap *gap,
                                     enum tare_ledger_category category)
{
	size_t block = gap->index / LEDGER_GAPS_A_BLOCK;
	uint32_t part = gaps->first_parts[block];
	for (size_t i = block * LEDGER_GAPS_A_BLOCK; i < gap->index; i++) {
		const struct ledger_working_gap before = { .bits = ledger_gap_bits(gaps, i) };
		part += before.undivided ? 0 : (uint32_t)__builtin_popcount(before.has);
	}
	return &gaps->parts_ns[part + (uint32_t)__builtin_popcount(
	                                  gap->has & ((UINT32_C(1) << category) - 1))];
}

// All of the devices of a view together, in a part of it.
struct ledger_working {
	struct tare_run_span part;
	struct ledger_working_gaps gaps;
	struct tare_ledger ledger;
	// whose ledgers were asked for, too; empty: not known
	struct tare_run_span spans[TARE_LEDGER_SPANS];
	struct tare_ledger *of_spans; // one each
	size_t span_count;
	uint32_t *order; // the view's commands that have times, by start
	size_t order_count;
};

// Within the gap: from when on the command that ends it was being enqueued.
int64_t ledger_working_enter_ns(const struct tare_recording *recording,
                                const struct ledger_working_gap *gap);
// Appends one. Returns 0 or -ENOMEM.
//   among  bits of categories: those that are not have no part
int ledger_working_add(struct ledger_working_gaps *gaps, const struct tare_gap *gap,
                       const int64_t parts_ns[TARE_LEDGER_CATEGORIES], uint32_t among);
// Leaves out the gaps for which `wanted` is false. Returns 0 or -ENOMEM.
int ledger_working_keep(struct ledger_working_gaps *gaps,
                        bool (*wanted)(const void *context, const struct ledger_working_gap *gap),
                        const void *context);
void ledger_working_free_gaps(struct ledger_working_gaps *gaps);
// Makes what there is of the part; a sweep of its own. *working is to be freed in either case.
// Returns 0 or -ENOMEM.
int ledger_working_find(const struct tare_recording *recording, const struct tare_view *view,
                        struct tare_run_span part, struct ledger_working *working);
// The ledger of a span; NULL: not known.
const struct tare_ledger *ledger_working_span(const struct ledger_working *working,
                                              struct tare_run_span span);
void ledger_working_free(struct ledger_working *working);
