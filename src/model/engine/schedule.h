// SPDX-License-Identifier: Apache-2.0
// How a chunked pipeline is issued: into how many chunks the work is cut, in what order their
// operations are appended, to which queues. The one place that says it, for what runs on a device
// (measure/pipeline/pipeline.h) and for what predicts it (model/engine/prediction.h).
#pragma once
#include "model/engine/overlap.h"

// The order of appending, for n chunks of H (copy in), K, D (copy out).
enum tare_issue_order {
	TARE_ORDER_DEPTH_FIRST,   // H0 K0 D0 H1 K1 D1 ...
	TARE_ORDER_BREADTH_FIRST, // H0 H1 ... K0 K1 ... D0 D1 ...
	TARE_ORDER_INTERLEAVED,   // H0, H1 K0, H2 K1 D0, ...: step s has H(s) K(s-1) D(s-2)
	TARE_ORDER_COUNT
};

enum tare_mechanism {
	TARE_MECHANISM_CHUNK_QUEUES, // in-order queues, chunk c wholly in queue c mod N; no events
	TARE_MECHANISM_STAGE_QUEUES, // three in-order queues, one a stage; events between them
	TARE_MECHANISM_OUT_OF_ORDER, // one out-of-order queue, events
	// as CHUNK_QUEUES, recorded into a graph that is launched as one
	TARE_MECHANISM_GRAPH,
	TARE_MECHANISM_COUNT
};

enum tare_chunk_sizes {
	TARE_CHUNKS_EQUAL,
	TARE_CHUNKS_TAPERED, // the first and the last chunks are smaller: less to fill and to drain
	TARE_CHUNKS_COUNT
};

struct tare_schedule {
	uint32_t chunks;
	uint32_t queues; // of CHUNK_QUEUES and GRAPH; 3 and 1 for the other mechanisms
	enum tare_issue_order order;
	enum tare_mechanism mechanism;
	enum tare_chunk_sizes sizes;
};

// The words in options, labels and reports: "depth-first", "chunk-queues", "equal".
const char *tare_order_name(enum tare_issue_order order);
const char *tare_mechanism_name(enum tare_mechanism mechanism);
const char *tare_chunk_sizes_name(enum tare_chunk_sizes sizes);
// "32 chunks, 3 queues, interleaved" (what is usual is left out). Returns buffer.
const char *tare_schedule_text(const struct tare_schedule *schedule, char *buffer, size_t size);

// First item and item count of every chunk: sizes[] and starts[] hold schedule->chunks entries.
// Chunks begin at multiples of `align` items (the last one may end anywhere), cover all of `items`
// once, and none is empty. Returns 0, or -ERANGE with a sentence when there are too few items for
// that many chunks.
int tare_schedule_chunks(const struct tare_schedule *schedule, uint64_t items, uint64_t align,
                         uint64_t *starts, uint64_t *sizes, struct tare_error *error);

// One operation in the order of appending.
struct tare_step {
	enum tare_stage stage;
	uint32_t chunk;
	uint32_t queue; // index of the queue it goes to
	bool waits; // for an event: the previous stage of the same chunk, in another queue (STAGE
	            // and OUT_OF_ORDER only; never for a copy in)
};

// The steps of a schedule: 3 * chunks of them. Stages that are not in the mode `stages` (a kernel
// without input) are left out. Returns how many there are; steps[] must hold 3 * chunks.
size_t tare_schedule_steps(const struct tare_schedule *schedule, uint32_t stages,
                           struct tare_step *steps);
// The number of queues that it needs.
uint32_t tare_schedule_queues(const struct tare_schedule *schedule);
