// SPDX-License-Identifier: Apache-2.0
// Pipelines of chunks that the engine model runs for a host that issues them as the forms of the
// pipeline example do, and the recordings of them.
#pragma once
#include "model/engine/engine.h"
#include "tests/unit/analysis/ledger/made_recording.h"

enum rig_form {
	RIG_SEQUENTIAL,    // one queue, copies block, a wait for each kernel
	RIG_CONCURRENT,    // three queues, nothing waits until the end
	RIG_DEFAULT_QUEUE, // one queue, nothing waits
	RIG_BLOCKING,      // three queues, copies block
	// three queues, plain memory: the call of a copy returns when it has ended
	RIG_PAGEABLE,
	RIG_ALLOCATION, // three queues, two buffers made for each chunk
	RIG_BUILD,      // three queues, a program built for each chunk
	RIG_WAITING,    // three queues, nothing blocks, but a wait for each chunk
};

struct rig_pipeline {
	enum rig_form form;
	uint32_t chunks;
	int64_t in_ns, work_ns, out_ns; // of a chunk
	bool one_copy_engine;
	double duplex;       // speed of copies beside the other direction; 0: 1
	bool probe;          // copies of both directions before, at once and alone
	int64_t pause_ns;    // the host computes before each chunk
	int64_t build_ns;    // of a program; 0: 3000000
	int64_t allocate_ns; // of a buffer; 0: 30000
};

// Runs it. *span_ns is from the start of the pipeline's first command to the end of its last.
// Free with free().
struct made *rig_run(const struct rig_pipeline *pipeline, int64_t *span_ns);
