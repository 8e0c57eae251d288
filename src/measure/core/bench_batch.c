// SPDX-License-Identifier: Apache-2.0
// Operations that are too short for one pair of stamps: many of them make one sample.
#include "measure/core/bench.h"

#include "backend/call.h"

#include <stdlib.h>

#define MOST_BATCH 512u
// Gates of one sample. Behind one gate operations may follow each other by a whole number of ticks:
// all of them then read too long, or all too short, by the same part of a tick. Each gate opens at
// another part of one.
#define MOST_ROUNDS 32u

static uint32_t rounds_of(const struct tare_bench *bench, uint32_t batch)
{
	if (!bench->brackets)
		return 1;
	return batch < MOST_ROUNDS ? batch : MOST_ROUNDS;
}

double tare_bench_batch_step_ps(const struct tare_bench *bench, uint32_t batch)
{
	return bench->step_ps / (bench->brackets ? rounds_of(bench, batch) : batch);
}

const char *tare_bench_batch_note(const struct tare_bench *bench)
{
	return bench->brackets ? "many behind gates, the mean of their own times"
	                       : "many in a row behind a gate, divided";
}

// The time of a simulated device moves in the steps of its script, which may be whole ticks.
static void lose_step(const struct tare_bench *bench)
{
	uint64_t step_ns = (uint64_t)(bench->step_ps / 1000) + 1;

	if (bench->run && bench->run->simulated)
		tare_device_pause(bench->device,
		                  (int64_t)tare_random_below(&bench->run->random, step_ns));
}

// Sums the operations' own durations, or takes the time from the first start to the last end.
static int add_up(const struct tare_bench *bench, struct tare_event *const *events, uint32_t count,
                  int64_t host_ns, int64_t *ps, struct tare_error *error)
{
	int64_t one, sum = 0;
	int status = 0;

	if (!bench->brackets)
		return tare_bench_span_ps(bench, events[0], events[count - 1], host_ns, ps, error);
	for (uint32_t i = 0; status == 0 && i < count; i++) {
		status = tare_bench_duration_ps(bench, events[i], host_ns, &one, error);
		sum += status == 0 ? one : 0;
	}
	*ps = sum;
	return status;
}

// `count` operations behind a gate; one is issued as it is where there is no need of a gate.
static int time_round(const struct tare_bench *bench, const struct tare_operation *one,
                      uint32_t count, bool gated, int64_t *ps, struct tare_error *error)
{
	struct tare_event *events[MOST_BATCH] = { NULL };
	struct tare_gate *gate = NULL;
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t host_ns;
	int status = gated ? tare_gate_shut(bench->timed, &gate, error) : 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		bool wanted = bench->brackets || i == 0 || i + 1 == count;
		status = tare_append(bench->timed, one, wanted ? &events[i] : NULL, error);
	}
	if (status == 0 && gate) {
		lose_step(bench);
		status = tare_gate_open(gate, error);
	}
	if (status == 0)
		status = tare_finish(bench->timed, gate ? TARE_LIMIT_DEFAULT_NS : TARE_LIMIT_NATIVE,
		                     error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	status = status ?: add_up(bench, events, count, host_ns, ps, error);
	for (uint32_t i = 0; i < count; i++)
		tare_event_free(events[i]);
	tare_gate_free(gate);
	return status;
}

int tare_bench_batch_ps(const struct tare_bench *bench, const struct tare_operation *copy,
                        uint32_t batch, int64_t *ps, struct tare_error *error)
{
	struct tare_operation one = *copy;
	uint32_t rounds = rounds_of(bench, batch), left = batch < MOST_BATCH ? batch : MOST_BATCH;
	uint32_t wanted = left;
	int64_t sum = 0, part = 0;
	int status = 0;

	one.blocking = one.blocking && batch == 1;
	for (; status == 0 && rounds > 0; rounds--) {
		uint32_t count = left / rounds;
		status = time_round(bench, &one, count, batch > 1, &part, error);
		sum += status == 0 ? part : 0;
		left -= count;
	}
	if (status == 0)
		*ps = sum / wanted;
	return status;
}

uint32_t tare_bench_batch(const struct tare_bench *bench, const struct tare_operation *copy,
                          int64_t ps)
{
	uint32_t limit = MOST_BATCH;

	if (!bench->gated || copy->source.memory->kind == TARE_MEMORY_PAGEABLE ||
	    copy->destination.memory->kind == TARE_MEMORY_PAGEABLE)
		return 1;
	if (bench->gate_capacity > 8 && limit > bench->gate_capacity - 4)
		limit = bench->gate_capacity - 4;
	return tare_batch((double)ps, bench->step_ps, limit);
}
