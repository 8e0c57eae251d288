// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of a device in integer picoseconds: engines, queues, operations that
// become ready, run and complete, and what they cost by a script. It knows nothing of any API; it
// drives the simulated backend, fakes and predictions.
//
// An operation runs through phases on one engine: switch (the engine served another queue before),
// fixed, work. Work is fluid: while flows run together each goes at the speed of the script's
// `concurrent` lines, and operations of one flow on several engines share its link evenly. After
// its work an operation may have a tail, which delays its completion but leaves the engine free.
#pragma once
#include "base/random.h"
#include "base/time.h"
#include "model/script/script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_model;
struct tare_model_queue;

// A point in time that is not known, or never comes.
#define TARE_MODEL_NEVER INT64_MAX

enum tare_model_order { TARE_MODEL_IN_ORDER, TARE_MODEL_OUT_OF_ORDER };

enum tare_model_phase {
	TARE_PHASE_PENDING,
	TARE_PHASE_SWITCH,
	TARE_PHASE_FIXED,
	TARE_PHASE_WORK,
	TARE_PHASE_TAIL,
	TARE_PHASE_DONE,
};

// Embedded by the caller, who keeps it (and what it waits for) alive until it is done.
struct tare_model_operation {
	// Set by the caller before tare_model_append.
	enum tare_flow flow; // TARE_FLOW_NONE: needs no engine, its fixed time just passes
	int64_t fixed_ps;    // occupies the engine, does not slow down with others
	int64_t work_ps;     // occupies engine and link; this long at full speed
	int64_t tail_ps;     // completion is this much later; nothing is occupied
	// when the device sees it; TARE_MODEL_NEVER: tare_model_submit says
	int64_t submitted_ps;
	bool held; // does not start until tare_model_release (a shut gate)
	struct tare_model_operation *const *waits;
	size_t wait_count;

	// Set by the model.
	enum tare_model_phase phase;
	int64_t ready_ps;         // everything it waits for is done; TARE_MODEL_NEVER until known
	int64_t start_ps, end_ps; // valid from phase FIXED and DONE on
	int64_t leave_ps;         // when it left its engine; start of the tail
	size_t engine;            // index into the script's engines; engine_count: none
	uint64_t sequence;        // order of appending, from 1
	struct tare_model_queue *queue; // NULL once the queue is gone
	uint64_t queue_number;

	// Private to the model.
	struct tare_model_operation *next_in_queue, *next_active;
	int64_t phase_end_ps;
	unsigned __int128 remaining;
};

// `done` (may be NULL) is called for each operation as it completes, in the order of completion.
// The script must outlive the model. NULL when memory ran out.
struct tare_model *tare_model_new(const struct tare_script *script,
                                  void (*done)(void *context, struct tare_model_operation *),
                                  void *context);
// Operations that are not done are forgotten.
void tare_model_free(struct tare_model *model);

// The queue belongs to the model. `engine` is the one engine that runs everything in it, or -1:
// each operation goes to an engine that serves its flow. NULL when memory ran out.
struct tare_model_queue *tare_model_queue_new(struct tare_model *model, enum tare_model_order order,
                                              int engine);
// From now on what the queue's engine does not serve goes to an engine that does.
void tare_model_queue_stray(struct tare_model_queue *queue);
// Drops the queue. Operations in it that have not begun are forgotten.
void tare_model_queue_free(struct tare_model *model, struct tare_model_queue *queue);

// True when an engine of this queue can run `flow`.
bool tare_model_can_run(const struct tare_model *model, const struct tare_model_queue *queue,
                        enum tare_flow flow);

// Appends to a queue. submitted_ps must not lie before tare_model_now_ps.
void tare_model_append(struct tare_model *model, struct tare_model_queue *queue,
                       struct tare_model_operation *operation);
// Tells when the device sees an operation appended with submitted_ps TARE_MODEL_NEVER.
void tare_model_submit(struct tare_model_operation *operation, int64_t at_ps);
// Lets a held operation go at `at_ps`, which must not lie before tare_model_now_ps.
void tare_model_release(struct tare_model_operation *operation, int64_t at_ps);

// Takes an operation that is not done out of the model, wherever it stands; `done` is not called.
// Its queue must still exist.
void tare_model_forget(struct tare_model *model, struct tare_model_operation *operation);

int64_t tare_model_now_ps(const struct tare_model *model);
// When the next thing happens; TARE_MODEL_NEVER when nothing will by itself.
int64_t tare_model_next_ps(struct tare_model *model);
// Lets time pass up to and including `until_ps`.
void tare_model_run(struct tare_model *model, int64_t until_ps);
// Lets time pass until `operation` is done, but not beyond `limit_ps`. Returns whether it is done;
// if not, time stands at the last event before the limit.
bool tare_model_run_until(struct tare_model *model, const struct tare_model_operation *operation,
                          int64_t limit_ps);

// How many operations of `flow` are in their work.
size_t tare_model_at_work(const struct tare_model *model, enum tare_flow flow);
// From now on work of `flow` goes at one part in `users` of its speed: other models use the same
// link. At first it is 1.
void tare_model_share(struct tare_model *model, enum tare_flow flow, uint32_t users);

// ---- costs by the script (engine_cost.c)

// Time for `amount` at `per_second`, rounded up, at most TARE_PS_MAX. per_second 0: no time.
int64_t tare_model_rate_ps(uint64_t amount, uint64_t per_second);

// Sum that stops at TARE_PS_MAX.
int64_t tare_model_add_ps(int64_t a, int64_t b);

// count times ps, at most TARE_PS_MAX.
int64_t tare_model_times_ps(uint64_t count, int64_t ps);

// Fills flow, fixed, work of a copy; `rate` is the script's, possibly lowered by the caller.
void tare_model_copy_cost(int64_t fixed_ps, uint64_t rate, uint64_t bytes, enum tare_flow flow,
                          struct tare_model_operation *operation);

// What a launch's arguments say about its cost: the values of the kernel's `repeat` and `span`.
struct tare_model_repeat {
	uint64_t count;
	uint64_t span_bytes; // 0 without `span`: the first tier
};

// Time for `items` work-items that repeat what they do: items * count / rate, rounded up, at most
// TARE_PS_MAX. The rate is that of the first tier that holds the span, else the kernel's
// repeat-rate. 0 for a kernel without, or when repeat is NULL.
int64_t tare_model_repeat_ps(const struct tare_script_kernel *kernel, uint64_t items,
                             const struct tare_model_repeat *repeat);

// Fills flow, fixed, work and tail of a kernel of `groups` work-groups of `group_items` items:
//   waves = ceil(groups / (units * slots)), time of a wave = wave + item * group_items,
//   duration = fixed + max(minimum, waves * time of a wave + items / rate + repeat time).
// With `share` the engine is held only for the part of the device that is filled:
//   fixed + groups * time of a wave / (units * slots) + items / rate + repeat time.
// `repeat` may be NULL: the launch repeats nothing.
void tare_model_kernel_cost(const struct tare_script *script,
                            const struct tare_script_kernel *kernel, uint64_t groups,
                            uint64_t group_items, const struct tare_model_repeat *repeat,
                            struct tare_model_operation *operation);

// Stretches fixed and work time by a factor drawn evenly from [1, 1 + range) of the script's
// `jitter`; does nothing without one. `random` is seeded with the script's seed.
void tare_model_jitter(const struct tare_script *script, struct tare_random *random,
                       struct tare_model_operation *operation);

// The counter's reading at a time: epoch + floor(time * (1 + drift) * rate), cut to the counter's
// resolution and valid bits.
struct tare_ticks tare_model_ticks(const struct tare_script_timer *timer, int64_t at_ps);
