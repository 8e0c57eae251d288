// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the what-if prediction; docs/findings.md has the model.
#pragma once
#include "analysis/tables/internal.h"
#include "analysis/whatif/whatif.h"
#include "model/engine/overlap.h"

// What repeats in a queue, or on a thread that feeds queues of one stage each: copies in, kernels,
// copies out; a stage may be missing.
struct whatif_chunk {
	int64_t from_ns, to_ns; // first start, last end
	// sums of device time; fills and local copies count as kernels
	double stage_ns[TARE_STAGE_COUNT];
	uint32_t kernels, copies;
};

struct whatif_chunks {
	struct whatif_chunk *at; // by from_ns
	size_t count, room;
	double pause_ns;    // a longer pause ends a part
	int64_t longest_ns; // pause within a chunk; at least 0
};

// The device's commands of the view, by start.
struct whatif_scope {
	const struct tare_recording *recording;
	const struct tare_view *view;
	uint32_t device;
	uint32_t *order;
	size_t count;
	const struct ledger_working *working; // NULL: nobody knows the parts' ledgers yet
};

// ---- chunks.c

// Returns 0 or -ENOMEM. Free `at` in either case.
int whatif_chunks_find(const struct whatif_scope *scope, struct whatif_chunks *chunks);
// Whether it has copies and kernels, so that there is something to overlap.
bool whatif_chunk_overlaps(const struct whatif_chunk *chunk);

// ---- evidence.c

// Fills copies, beside, duplex, in_caller, shares_host and copy_engines. Returns 0 or -ENOMEM.
int whatif_evidence(const struct whatif_scope *scope, struct tare_overlap_gain *gain);

// ---- simulate.c

// Which stages have an engine of their own.
enum whatif_engines { WHATIF_THREE, WHATIF_ONE_COPY, WHATIF_ONE };
// What the issuing host does in the meantime.
struct whatif_host {
	double own_ns;   // its own work in all, spread evenly over the chunks
	double issue_ns; // each enqueue
};
// The likely time, and the least and the most by who is first when all else is equal.
struct whatif_time {
	double ns, low_ns, high_ns;
};
// Time of the chunks on three queues, issued depth-first. `duplex`: speed of copies beside those of
// the other direction, 0 to 1. Returns 0 or -ENOMEM.
int whatif_simulate(const struct whatif_chunk *chunks, size_t count, enum whatif_engines engines,
                    double duplex, const struct whatif_host *host, struct whatif_time *time);
