// SPDX-License-Identifier: Apache-2.0
// The sweep that fills ledgers, between its files: sweep.c goes along the time, idle.c says what a
// gap is, rows.c keeps the rows and the longest gaps.
#pragma once
#include "analysis/ledger/internal.h"

// The part of an idle gap that one part of a row has.
struct sweep_gap {
	bool in_row;
	int64_t from_ns;
	int64_t parts_ns[TARE_LEDGER_CATEGORIES];
	uint32_t has; // bits of those that are not 0
};

// Goes along the time of a device, from one start or end of a command to the next.
struct sweep {
	const struct ledger_scope *scope;
	struct ledger_walk *cause, *host; // for idle time, for the matrix
	struct ledger_attention *attention;
	uint32_t attended; // the thread that it says, until then
	int64_t attended_until_ns;
	struct ledger_override *overrides;
	size_t override_at, override_count;
	bool loads;            // drivers load kernels within calls
	int64_t *queue_end_ns; // of commands of a queue that have begun
	const struct ledger_rows *rows;
	size_t parts_mark, matrix_mark, near_mark; // the next, for each group of figures
	int64_t parts_mark_ns, matrix_mark_ns;     // when it is
	struct tare_ledger sum;                    // of the view so far, whatever the rows
	// the same for its matrix, so that a thread's states lie side by side
	int64_t matrix_ns[TARE_DEVICE_STATES][TARE_HOST_STATES];
	struct ledger_gap_list *gaps;
	struct tare_cover near_edges;
	int64_t now_ns, stop_ns;
	int64_t ends_ns[TARE_EFFECTS];      // when the last running command of an effect ends
	int64_t residuals_ns[TARE_EFFECTS]; // of that end
	int64_t edge_residual_ns;           // of the stamps that fall on now_ns
	int last_category;                  // of the time before now_ns; -1: idle; -2: not known
	bool in_gap;
	uint32_t gap_rows; // of how many rows gaps are wanted
	uint32_t gap_command;
	struct sweep_gap gap[LEDGER_GAP_ROWS]; // of the first rows
	bool failed;
};

static inline int64_t ledger_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t ledger_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// The category changes at a time by a stamp with this error.
static inline void sweep_mark_edge(struct sweep *sweep, int64_t at_ns, int64_t residual_ns)
{
	if (residual_ns > 0 && tare_cover_around(&sweep->near_edges, at_ns, residual_ns))
		sweep->failed = true;
}

// ---- rows.c
//
// A row's figures are the sum when each of its parts ends less the sum when it begins, so that a
// mark costs the same however many rows there are. The groups of figures are summed up at their own
// pace.

void sweep_begin_gap(struct sweep *sweep, uint32_t row, int64_t from_ns);
void sweep_end_gap(struct sweep *sweep, uint32_t row, int64_t to_ns);
void sweep_take_parts(struct sweep *sweep, int64_t at_ns);
void sweep_take_matrix(struct sweep *sweep, int64_t at_ns);
// When the mark `next` is; INT64_MAX: there is none.
static inline int64_t sweep_mark_ns(const struct sweep *sweep, size_t next)
{
	return next < sweep->rows->mark_count ? sweep->rows->marks[next].at_ns : INT64_MAX;
}
// Both take the marks that are due at a time and return until when no other comes.
static inline int64_t sweep_pass_parts(struct sweep *sweep, int64_t at_ns)
{
	if (sweep->parts_mark_ns <= at_ns) {
		sweep_take_parts(sweep, at_ns);
		sweep->parts_mark_ns = sweep_mark_ns(sweep, sweep->parts_mark);
	}
	return sweep->parts_mark_ns;
}
static inline int64_t sweep_pass_matrix(struct sweep *sweep, int64_t at_ns)
{
	if (sweep->matrix_mark_ns <= at_ns) {
		sweep_take_matrix(sweep, at_ns);
		sweep->matrix_mark_ns = sweep_mark_ns(sweep, sweep->matrix_mark);
	}
	return sweep->matrix_mark_ns;
}
// All marks that are left.
void sweep_pass_all(struct sweep *sweep);
// A tare_cover's `take`: `context` is the sweep.
void sweep_take_near(void *context, const struct tare_run_span *span);

// ---- idle.c

// What idle time is whatever else is true (NULL: nothing), and until when that does not change.
const struct ledger_override *sweep_override_at(struct sweep *sweep, int64_t at_ns,
                                                int64_t *until_ns);
// Spends the gap [from_ns, to_ns) that the command of an index ends; TARE_NO_INDEX: nothing begins
// any more.
void sweep_spend_gap(struct sweep *sweep, int64_t from_ns, int64_t to_ns, uint32_t index);
