// SPDX-License-Identifier: Apache-2.0
// The engines' own times of a CUDA stream's commands, from CUPTI's activity records. The calls that
// mark a span in the stream carry an id; records say which call (correlation) had which id, and for
// which call an engine worked. Correlations rise, so a span's commands are those of its stream
// between its two marks. Internal to src/time.
#pragma once
#include "time/internal.h"

#include "backend/cuda/cupti_abi.h"

struct tare_time_mark {
	uint64_t id; // 0: none
	uint32_t correlation;
	bool known; // the correlation
};

struct tare_time_engines {
	struct tare_time_engines *next; // all that are open
	uint32_t stream;                // as records name it
	uint32_t spans;
	struct tare_time_mark (*marks)[2]; // of each slot: begin, end; belongs to it
};

// What the engines did for a span: from the first start to the last end.
struct tare_time_engine_times {
	uint64_t start_ns, end_ns; // on CUPTI's clock
	uint32_t commands;
};

// ---- cupti.c

// Opens CUPTI and starts its records where no timer has done so. -ENOENT: no library; -EBUSY:
// another tool has it; -ENOTSUP: it refuses; -ENOMEM. What is made belongs to the caller until the
// closing, which waits for CUPTI's threads.
int tare_time_engines_open(struct tare_time_engines **engines, cu_context context, cu_stream stream,
                           uint32_t spans, int driver_version, struct tare_time_error *error);
void tare_time_engines_close(struct tare_time_engines *engines);
// Around the calls of this thread that mark a span's begin (which = 0) or end (1).
void tare_time_engines_enter(struct tare_time_engines *engines, uint32_t slot, int which);
void tare_time_engines_leave(void);
// Asks for the records of what is done.
void tare_time_engines_flush(void);

// ---- engines.c

// Readers of CUPTI's buffers; `call` is for them.
void tare_time_records_begin(const struct cupti_functions *call);
void tare_time_records_completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                 size_t valid_bytes);
void tare_time_records_end(void);
// From now on its marks get their correlations; until tare_time_engines_remove.
void tare_time_engines_add(struct tare_time_engines *engines);
void tare_time_engines_remove(struct tare_time_engines *engines);
void tare_time_engines_mark(struct tare_time_engines *engines, uint32_t slot, int which,
                            uint64_t id);
// Whether the records of a span's marks, and so all before, are here.
bool tare_time_engines_known(struct tare_time_engines *engines, uint32_t slot);
// 0; -EAGAIN: its marks' records are not here; -ENODATA.
int tare_time_engines_times(struct tare_time_engines *engines, uint32_t slot,
                            struct tare_time_engine_times *times, struct tare_time_why *why);
