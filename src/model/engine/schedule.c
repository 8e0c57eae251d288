// SPDX-License-Identifier: Apache-2.0
#include "model/engine/schedule.h"

#include <errno.h>
#include <stdio.h>

const char *tare_order_name(enum tare_issue_order order)
{
	static const char *const names[TARE_ORDER_COUNT] = {
		[TARE_ORDER_DEPTH_FIRST] = "depth-first",
		[TARE_ORDER_BREADTH_FIRST] = "breadth-first",
		[TARE_ORDER_INTERLEAVED] = "interleaved",
	};
	return order < TARE_ORDER_COUNT ? names[order] : "";
}

const char *tare_mechanism_name(enum tare_mechanism mechanism)
{
	static const char *const names[TARE_MECHANISM_COUNT] = {
		[TARE_MECHANISM_CHUNK_QUEUES] = "chunk-queues",
		[TARE_MECHANISM_STAGE_QUEUES] = "stage-queues",
		[TARE_MECHANISM_OUT_OF_ORDER] = "out-of-order",
		[TARE_MECHANISM_GRAPH] = "graph",
	};
	return mechanism < TARE_MECHANISM_COUNT ? names[mechanism] : "";
}

const char *tare_chunk_sizes_name(enum tare_chunk_sizes sizes)
{
	static const char *const names[TARE_CHUNKS_COUNT] = {
		[TARE_CHUNKS_EQUAL] = "equal",
		[TARE_CHUNKS_TAPERED] = "tapered",
	};
	return sizes < TARE_CHUNKS_COUNT ? names[sizes] : "";
}

const char *tare_schedule_text(const struct tare_schedule *schedule, char *buffer, size_t size)
{
	char queues[48];
	bool usual = schedule->order == TARE_ORDER_DEPTH_FIRST;

	if (schedule->mechanism == TARE_MECHANISM_STAGE_QUEUES)
		snprintf(queues, sizeof queues, "a queue for each stage");
	else if (schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER)
		snprintf(queues, sizeof queues, "one out-of-order queue");
	else
		snprintf(queues, sizeof queues, "%s%u queue%s",
		         schedule->mechanism == TARE_MECHANISM_GRAPH ? "a graph of " : "",
		         schedule->queues, schedule->queues == 1 ? "" : "s");
	snprintf(buffer, size, "%u %schunk%s, %s%s%s", schedule->chunks,
	         schedule->sizes == TARE_CHUNKS_TAPERED ? "tapered " : "",
	         schedule->chunks == 1 ? "" : "s", queues, usual ? "" : ", ",
	         usual ? "" : tare_order_name(schedule->order));
	return buffer;
}

// Tapered chunks weigh 1 2 4 4 ... 4 4 2 1.
static uint64_t weight(const struct tare_schedule *schedule, uint32_t chunk)
{
	uint32_t from_end = schedule->chunks - 1 - chunk;
	uint32_t edge = chunk < from_end ? chunk : from_end;

	if (schedule->sizes == TARE_CHUNKS_EQUAL)
		return 1;
	return edge >= 2 ? 4 : UINT64_C(1) << edge;
}

int tare_schedule_chunks(const struct tare_schedule *schedule, uint64_t items, uint64_t align,
                         uint64_t *starts, uint64_t *sizes, struct tare_error *error)
{
	uint64_t unit = align ? align : 1;
	uint64_t units = items / unit + (items % unit != 0);
	uint32_t n = schedule->chunks;
	uint64_t total = 0, before = 0, start = 0;

	if (n == 0 || units < n)
		return tare_fail(error, ERANGE,
		                 "%llu items cannot be cut into %u chunks that begin at multiples "
		                 "of %llu items; use at most %llu",
		                 (unsigned long long)items, n, (unsigned long long)unit,
		                 (unsigned long long)units);
	for (uint32_t i = 0; i < n; i++)
		total += weight(schedule, i);
	// Each chunk gets one unit, so that none is empty, and its share of the rest. Rounding down
	// gives what is left over to later chunks, of which the last one may lack a part of a unit.
	for (uint32_t i = 0; i < n; i++) {
		before += weight(schedule, i);
		uint64_t rest = (uint64_t)((unsigned __int128)(units - n) * before / total);
		uint64_t end = i == n - 1 ? items : (i + 1 + rest) * unit;
		starts[i] = start;
		sizes[i] = end - start;
		start = end;
	}
	return 0;
}

// The stages that there are, in the order in which a chunk goes through them.
static size_t present_stages(uint32_t stages, enum tare_stage *present)
{
	size_t count = 0;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (stages >> stage & 1)
			present[count++] = (enum tare_stage)stage;
	return count;
}

static struct tare_step step_of(const struct tare_schedule *schedule, enum tare_stage stage,
                                bool first, uint32_t chunk)
{
	struct tare_step step = { .stage = stage, .chunk = chunk };

	switch (schedule->mechanism) {
	case TARE_MECHANISM_STAGE_QUEUES:
		step.queue = (uint32_t)stage;
		step.waits = !first;
		break;
	case TARE_MECHANISM_OUT_OF_ORDER:
		step.waits = !first;
		break;
	default:
		step.queue = schedule->queues ? chunk % schedule->queues : 0;
		break;
	}
	return step;
}

size_t tare_schedule_steps(const struct tare_schedule *schedule, uint32_t stages,
                           struct tare_step *steps)
{
	enum tare_stage present[TARE_STAGE_COUNT];
	size_t k = present_stages(stages, present), count = 0;
	uint32_t n = schedule->chunks;

	switch (schedule->order) {
	case TARE_ORDER_BREADTH_FIRST:
		for (size_t i = 0; i < k; i++)
			for (uint32_t chunk = 0; chunk < n; chunk++)
				steps[count++] = step_of(schedule, present[i], i == 0, chunk);
		break;
	case TARE_ORDER_INTERLEAVED:
		for (size_t row = 0; k > 0 && row < n + k - 1; row++)
			for (size_t i = 0; i < k; i++)
				if (row >= i && row - i < n)
					steps[count++] = step_of(schedule, present[i], i == 0,
					                         (uint32_t)(row - i));
		break;
	default:
		for (uint32_t chunk = 0; chunk < n; chunk++)
			for (size_t i = 0; i < k; i++)
				steps[count++] = step_of(schedule, present[i], i == 0, chunk);
		break;
	}
	return count;
}

uint32_t tare_schedule_queues(const struct tare_schedule *schedule)
{
	switch (schedule->mechanism) {
	case TARE_MECHANISM_STAGE_QUEUES:
		return TARE_STAGE_COUNT;
	case TARE_MECHANISM_OUT_OF_ORDER:
		return 1;
	default:
		return schedule->queues ? schedule->queues : 1;
	}
}
