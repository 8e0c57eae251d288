// SPDX-License-Identifier: Apache-2.0
#include "model/engine/engine.h"

#include <stdlib.h>

// Work is counted in units of which a full-speed operation does SPEED each picosecond: millionths
// for the script's speeds, times the least common multiple of 1 to 8, so that a link is shared
// evenly and exactly among up to eight engines.
#define SPEED_PPM UINT64_C(1000000)
#define SPEED_SHARES UINT64_C(840)
#define SPEED (SPEED_PPM * SPEED_SHARES)

struct tare_model_queue {
	struct tare_model_queue *next;
	uint64_t number; // from 1; addresses are used again, numbers are not
	enum tare_model_order order;
	int engine;                                // -1: by flow
	bool strays;                               // by flow where its engine does not serve that
	struct tare_model_operation *first, *last; // not begun
	struct tare_model_operation *running;      // in-order: its one operation that has begun
	// The operation that completed last, for the gap to its successor.
	bool any_done;
	int64_t last_end_ps;
	size_t last_engine;
};

struct engine {
	struct tare_model_operation *running;
	uint64_t last_queue; // number; 0: none yet
};

struct tare_model {
	const struct tare_script *script;
	void (*done)(void *context, struct tare_model_operation *);
	void *context;
	int64_t now_ps;
	uint64_t sequence, queue_number;
	struct tare_model_queue *queues;
	struct tare_model_operation *active; // begun and not done, by sequence
	struct engine engines[TARE_SCRIPT_ENGINES];
	uint64_t speed[TARE_FLOW_COUNT][1 << TARE_FLOW_COUNT]; // ppm, by the mask of flows at work
	uint64_t users[TARE_FLOW_COUNT];                       // models on one link; 0 as 1
};

// The lowest of the speeds whose flows all run.
static void prepare_speeds(struct tare_model *model)
{
	for (size_t flow = 0; flow < TARE_FLOW_COUNT; flow++)
		for (size_t mask = 0; mask < 1 << TARE_FLOW_COUNT; mask++) {
			model->speed[flow][mask] = SPEED_PPM;
			for (size_t i = 0; i < model->script->concurrency_count; i++) {
				const struct tare_script_concurrency *row =
				    &model->script->concurrencies[i];
				if (row->flow == flow && (row->others & mask) == row->others &&
				    row->speed_ppm < model->speed[flow][mask])
					model->speed[flow][mask] = row->speed_ppm;
			}
		}
}

struct tare_model *tare_model_new(const struct tare_script *script,
                                  void (*done)(void *context, struct tare_model_operation *),
                                  void *context)
{
	struct tare_model *model = calloc(1, sizeof *model);

	if (!model)
		return NULL;
	model->script = script;
	model->done = done;
	model->context = context;
	prepare_speeds(model);
	return model;
}

void tare_model_free(struct tare_model *model)
{
	if (!model)
		return;
	while (model->queues) {
		struct tare_model_queue *queue = model->queues;
		model->queues = queue->next;
		free(queue);
	}
	free(model);
}

struct tare_model_queue *tare_model_queue_new(struct tare_model *model, enum tare_model_order order,
                                              int engine)
{
	struct tare_model_queue *queue = calloc(1, sizeof *queue);

	if (!queue)
		return NULL;
	queue->number = ++model->queue_number;
	queue->order = order;
	queue->engine = engine;
	// At the end: where nothing else decides, the older queue is served first.
	struct tare_model_queue **end = &model->queues;
	while (*end)
		end = &(*end)->next;
	*end = queue;
	return queue;
}

void tare_model_queue_stray(struct tare_model_queue *queue)
{
	queue->strays = true;
}

void tare_model_queue_free(struct tare_model *model, struct tare_model_queue *queue)
{
	if (!queue)
		return;
	struct tare_model_queue **link = &model->queues;
	while (*link != queue)
		link = &(*link)->next;
	*link = queue->next;
	for (struct tare_model_operation *each = model->active; each; each = each->next_active)
		if (each->queue == queue)
			each->queue = NULL;
	free(queue);
}

int64_t tare_model_now_ps(const struct tare_model *model)
{
	return model->now_ps;
}

static bool serves(const struct tare_model *model, const struct tare_model_queue *queue,
                   size_t engine, enum tare_flow flow)
{
	const struct tare_script_engine *engines = model->script->engines;

	if (queue->engine >= 0 && (size_t)queue->engine != engine &&
	    (!queue->strays || engines[queue->engine].flows >> flow & 1))
		return false;
	return engines[engine].flows >> flow & 1;
}

bool tare_model_can_run(const struct tare_model *model, const struct tare_model_queue *queue,
                        enum tare_flow flow)
{
	if (flow == TARE_FLOW_NONE)
		return true;
	for (size_t i = 0; i < model->script->engine_count; i++)
		if (serves(model, queue, i, flow))
			return true;
	return false;
}

void tare_model_append(struct tare_model *model, struct tare_model_queue *queue,
                       struct tare_model_operation *operation)
{
	operation->phase = TARE_PHASE_PENDING;
	operation->ready_ps = TARE_MODEL_NEVER;
	operation->start_ps = operation->end_ps = operation->leave_ps = TARE_MODEL_NEVER;
	operation->engine = model->script->engine_count;
	operation->sequence = ++model->sequence;
	operation->queue = queue;
	operation->queue_number = queue->number;
	operation->next_in_queue = NULL;
	if (queue->last)
		queue->last->next_in_queue = operation;
	else
		queue->first = operation;
	queue->last = operation;
}

void tare_model_submit(struct tare_model_operation *operation, int64_t at_ps)
{
	if (operation->submitted_ps == TARE_MODEL_NEVER)
		operation->submitted_ps = at_ps;
}

void tare_model_release(struct tare_model_operation *operation, int64_t at_ps)
{
	operation->held = false;
	if (operation->submitted_ps < at_ps)
		operation->submitted_ps = at_ps;
}

// ---- what is ready

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// The gap between the predecessor in the queue and this operation.
static int64_t queue_gap_ps(const struct tare_model *model,
                            const struct tare_model_operation *operation)
{
	const struct tare_model_queue *queue = operation->queue;
	size_t none = model->script->engine_count;

	if (operation->flow == TARE_FLOW_NONE || queue->last_engine == none)
		return 0;
	return serves(model, queue, queue->last_engine, operation->flow)
	           ? model->script->queue.same_gap_ps
	           : model->script->queue.gap_ps;
}

// Finds ready_ps once everything the operation waits for is done.
static void find_ready(const struct tare_model *model, struct tare_model_operation *operation)
{
	const struct tare_model_queue *queue = operation->queue;
	int64_t ready = operation->submitted_ps;

	if (operation->ready_ps != TARE_MODEL_NEVER || operation->held || ready == TARE_MODEL_NEVER)
		return;
	if (queue->order == TARE_MODEL_IN_ORDER) {
		if (queue->running)
			return;
		if (queue->any_done)
			ready = later(ready, tare_model_add_ps(queue->last_end_ps,
			                                       queue_gap_ps(model, operation)));
	}
	for (size_t i = 0; i < operation->wait_count; i++) {
		const struct tare_model_operation *awaited = operation->waits[i];
		int64_t gap =
		    awaited->queue_number == queue->number ? 0 : model->script->queue.event_gap_ps;
		if (awaited->phase != TARE_PHASE_DONE)
			return;
		ready = later(ready, tare_model_add_ps(awaited->end_ps, gap));
	}
	operation->ready_ps = ready;
}

// Walks the operations that may begin next: the head of an in-order queue, all of another.
static struct tare_model_operation *next_candidate(const struct tare_model_queue *queue,
                                                   const struct tare_model_operation *after)
{
	if (!after)
		return queue->first;
	return queue->order == TARE_MODEL_IN_ORDER ? NULL : after->next_in_queue;
}

static bool comes_first(const struct tare_model_operation *a, const struct tare_model_operation *b)
{
	if (!b)
		return true;
	return a->ready_ps != b->ready_ps ? a->ready_ps < b->ready_ps : a->sequence < b->sequence;
}

// An engine that takes operations in the order of issue serves the oldest of all that will need
// it, ready or not: what is behind it waits (head-of-line blocking).
static bool blocked_by_issue(const struct tare_model *model, size_t engine,
                             const struct tare_model_operation *operation)
{
	if (model->script->engines[engine].order != TARE_ENGINE_BY_ISSUE)
		return false;
	for (const struct tare_model_queue *queue = model->queues; queue; queue = queue->next)
		for (const struct tare_model_operation *each = queue->first; each;
		     each = each->next_in_queue)
			if (each->sequence < operation->sequence && each->flow != TARE_FLOW_NONE &&
			    serves(model, queue, engine, each->flow))
				return true;
	return false;
}

// Whether the engine stays with the queue that it served last, which has more for it; *next: that,
// NULL while only the gap behind the one before is missing.
static bool stays(struct tare_model *model, size_t engine, struct tare_model_operation **next)
{
	struct tare_model_queue *queue = model->queues;

	*next = NULL;
	if (!model->script->queue.stay || engine == model->script->engine_count)
		return false;
	while (queue && queue->number != model->engines[engine].last_queue)
		queue = queue->next;
	if (!queue || queue->order != TARE_MODEL_IN_ORDER || !queue->first ||
	    queue->first->flow == TARE_FLOW_NONE ||
	    !serves(model, queue, engine, queue->first->flow))
		return false;
	find_ready(model, queue->first);
	if (queue->first->ready_ps <= model->now_ps)
		*next = queue->first;
	return queue->first->ready_ps <=
	       tare_model_add_ps(model->now_ps, model->script->queue.same_gap_ps);
}

// The operation that `engine` begins now, or NULL. engine_count: one that needs no engine.
static struct tare_model_operation *choose(struct tare_model *model, size_t engine)
{
	struct tare_model_operation *best = NULL;
	bool none = engine == model->script->engine_count;

	if (stays(model, engine, &best))
		return best;
	for (struct tare_model_queue *queue = model->queues; queue; queue = queue->next)
		for (struct tare_model_operation *each = next_candidate(queue, NULL); each;
		     each = next_candidate(queue, each)) {
			find_ready(model, each);
			if (each->ready_ps > model->now_ps || !comes_first(each, best))
				continue;
			if (none ? each->flow != TARE_FLOW_NONE
			         : each->flow == TARE_FLOW_NONE ||
			               !serves(model, queue, engine, each->flow) ||
			               blocked_by_issue(model, engine, each))
				continue;
			best = each;
		}
	return best;
}

// ---- what runs

static void unlink_pending(struct tare_model_operation *operation)
{
	struct tare_model_queue *queue = operation->queue;
	struct tare_model_operation *previous = NULL;

	for (struct tare_model_operation *each = queue->first; each != operation;
	     each = each->next_in_queue)
		previous = each;
	if (previous)
		previous->next_in_queue = operation->next_in_queue;
	else
		queue->first = operation->next_in_queue;
	if (queue->last == operation)
		queue->last = previous;
}

static void begin(struct tare_model *model, struct tare_model_operation *operation, size_t engine)
{
	struct tare_model_queue *queue = operation->queue;
	int64_t switch_ps = 0;

	unlink_pending(operation);
	if (queue->order == TARE_MODEL_IN_ORDER)
		queue->running = operation;
	operation->engine = engine;
	if (engine < model->script->engine_count) {
		struct engine *at = &model->engines[engine];
		if (at->last_queue && at->last_queue != queue->number)
			switch_ps = model->script->queue.switch_ps;
		at->running = operation;
		at->last_queue = queue->number;
	}
	operation->phase = TARE_PHASE_SWITCH;
	operation->phase_end_ps = tare_model_add_ps(model->now_ps, switch_ps);
	// Kept by sequence, so that what falls due together is finished in a fixed order.
	struct tare_model_operation **link = &model->active;
	while (*link && (*link)->sequence < operation->sequence)
		link = &(*link)->next_active;
	operation->next_active = *link;
	*link = operation;
}

// Units of work that the operation does each picosecond.
static uint64_t speed_of(const struct tare_model *model,
                         const struct tare_model_operation *operation)
{
	size_t mask = 0;
	uint64_t sharing = 0;

	for (const struct tare_model_operation *each = model->active; each;
	     each = each->next_active)
		if (each->phase == TARE_PHASE_WORK && each->flow != TARE_FLOW_NONE) {
			mask |= (size_t)1 << each->flow;
			sharing += each->flow == operation->flow;
		}
	if (operation->flow == TARE_FLOW_NONE)
		return SPEED;
	if (model->users[operation->flow])
		sharing *= model->users[operation->flow];
	uint64_t speed = model->speed[operation->flow][mask] * SPEED_SHARES / sharing;
	return speed ? speed : 1;
}

static int64_t due_ps(const struct tare_model *model, const struct tare_model_operation *operation)
{
	if (operation->phase != TARE_PHASE_WORK)
		return operation->phase_end_ps;
	uint64_t speed = speed_of(model, operation);
	unsigned __int128 left = (operation->remaining + speed - 1) / speed;
	return left > (unsigned __int128)TARE_PS_MAX
	           ? TARE_PS_MAX
	           : tare_model_add_ps(model->now_ps, (int64_t)left);
}

static void complete(struct tare_model *model, struct tare_model_operation *operation)
{
	struct tare_model_operation **link = &model->active;
	struct tare_model_queue *queue = operation->queue;

	while (*link != operation)
		link = &(*link)->next_active;
	*link = operation->next_active;
	operation->phase = TARE_PHASE_DONE;
	operation->end_ps = model->now_ps;
	if (queue) {
		queue->any_done = true;
		queue->last_end_ps = model->now_ps;
		queue->last_engine = operation->engine;
		if (queue->running == operation)
			queue->running = NULL;
	}
	if (model->done)
		model->done(model->context, operation);
}

// Takes an operation whose phase is over into the next one.
static void step(struct tare_model *model, struct tare_model_operation *operation)
{
	switch (operation->phase) {
	case TARE_PHASE_SWITCH:
		operation->phase = TARE_PHASE_FIXED;
		operation->start_ps = model->now_ps;
		operation->phase_end_ps = tare_model_add_ps(model->now_ps, operation->fixed_ps);
		break;
	case TARE_PHASE_FIXED:
		operation->phase = TARE_PHASE_WORK;
		operation->remaining = (unsigned __int128)operation->work_ps * SPEED;
		break;
	case TARE_PHASE_WORK:
		operation->phase = TARE_PHASE_TAIL;
		operation->leave_ps = model->now_ps;
		if (operation->engine < model->script->engine_count)
			model->engines[operation->engine].running = NULL;
		operation->phase_end_ps = tare_model_add_ps(model->now_ps, operation->tail_ps);
		break;
	default:
		complete(model, operation);
		break;
	}
}

void tare_model_forget(struct tare_model *model, struct tare_model_operation *operation)
{
	struct tare_model_queue *queue = operation->queue;

	if (operation->phase == TARE_PHASE_PENDING) {
		unlink_pending(operation);
	} else if (operation->phase != TARE_PHASE_DONE) {
		struct tare_model_operation **link = &model->active;
		while (*link != operation)
			link = &(*link)->next_active;
		*link = operation->next_active;
		if (queue->running == operation)
			queue->running = NULL;
		for (size_t i = 0; i < model->script->engine_count; i++)
			if (model->engines[i].running == operation)
				model->engines[i].running = NULL;
	}
	operation->queue = NULL;
}

size_t tare_model_at_work(const struct tare_model *model, enum tare_flow flow)
{
	size_t count = 0;

	for (const struct tare_model_operation *each = model->active; each;
	     each = each->next_active)
		count += each->phase == TARE_PHASE_WORK && each->flow == flow;
	return count;
}

void tare_model_share(struct tare_model *model, enum tare_flow flow, uint32_t users)
{
	model->users[flow] = users;
}

static bool finish_due(struct tare_model *model)
{
	for (struct tare_model_operation *each = model->active; each; each = each->next_active)
		if (due_ps(model, each) <= model->now_ps) {
			step(model, each);
			return true;
		}
	return false;
}

// Finds what is ready of all that may begin next, and whether anything is now.
static bool any_ready(const struct tare_model *model)
{
	bool any = false;

	for (struct tare_model_queue *queue = model->queues; queue; queue = queue->next)
		for (struct tare_model_operation *each = next_candidate(queue, NULL); each;
		     each = next_candidate(queue, each)) {
			find_ready(model, each);
			any |= each->ready_ps <= model->now_ps;
		}
	return any;
}

static bool begin_ready(struct tare_model *model)
{
	// Most often nothing is, and no engine need be asked.
	if (!any_ready(model))
		return false;
	for (size_t engine = 0; engine <= model->script->engine_count; engine++) {
		if (engine < model->script->engine_count && model->engines[engine].running)
			continue;
		struct tare_model_operation *operation = choose(model, engine);
		if (operation) {
			begin(model, operation, engine);
			return true;
		}
	}
	return false;
}

// Does everything that is due now: first what ends, so that engines are free for what begins.
static void settle(struct tare_model *model)
{
	while (finish_due(model) || begin_ready(model))
		;
}

static void pass_to(struct tare_model *model, int64_t at_ps)
{
	uint64_t speeds[TARE_FLOW_COUNT] = { 0 };

	// Speeds depend only on which flows are at work, and none begins or ends in between.
	for (struct tare_model_operation *each = model->active; each; each = each->next_active)
		if (each->phase == TARE_PHASE_WORK) {
			uint64_t speed = SPEED;
			if (each->flow != TARE_FLOW_NONE) {
				if (!speeds[each->flow])
					speeds[each->flow] = speed_of(model, each);
				speed = speeds[each->flow];
			}
			unsigned __int128 did =
			    (unsigned __int128)(uint64_t)(at_ps - model->now_ps) * speed;
			each->remaining = did < each->remaining ? each->remaining - did : 0;
		}
	model->now_ps = at_ps;
}

int64_t tare_model_next_ps(struct tare_model *model)
{
	int64_t next = TARE_MODEL_NEVER;

	settle(model);
	for (const struct tare_model_operation *each = model->active; each;
	     each = each->next_active) {
		int64_t due = due_ps(model, each);
		next = due < next ? due : next;
	}
	for (struct tare_model_queue *queue = model->queues; queue; queue = queue->next)
		for (struct tare_model_operation *each = next_candidate(queue, NULL); each;
		     each = next_candidate(queue, each)) {
			find_ready(model, each);
			// What is ready already waits for an engine, whose end is among the above.
			if (each->ready_ps > model->now_ps && each->ready_ps < next)
				next = each->ready_ps;
		}
	return next;
}

void tare_model_run(struct tare_model *model, int64_t until_ps)
{
	for (int64_t next; (next = tare_model_next_ps(model)) <= until_ps;) {
		if (next <= model->now_ps)
			break;
		pass_to(model, next);
	}
	if (until_ps > model->now_ps && until_ps != TARE_MODEL_NEVER)
		pass_to(model, until_ps);
	settle(model);
}

bool tare_model_run_until(struct tare_model *model, const struct tare_model_operation *operation,
                          int64_t limit_ps)
{
	settle(model);
	while (operation->phase != TARE_PHASE_DONE) {
		int64_t next = tare_model_next_ps(model);
		if (operation->phase == TARE_PHASE_DONE)
			break;
		if (next == TARE_MODEL_NEVER || next > limit_ps || next <= model->now_ps)
			return false;
		pass_to(model, next);
	}
	return true;
}
