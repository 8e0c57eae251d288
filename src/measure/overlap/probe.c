// SPDX-License-Identifier: Apache-2.0
// How each kind of schedule (mechanism and order) behaves, which the engine model may not know:
// drivers run out-of-order queues in order, or keep copies of one direction waiting for the other
// when all of them come first. One run of each kind tells; where it is off, more runs do.
#include "measure/overlap/internal.h"

#include <math.h>

#define PROBE_SHARE 0.06
// Few and many chunks; numbers that the search does not have by default, so that what it finds is
// still a test of the prediction.
#define FEW 20
#define SOME 52 // only where engines may stay with a queue for a while
#define MANY 120
#define QUEUES 4
// The prediction is corrected if it is off by more than this.
#define OFF 0.05
// Times this near to that in sequence overlap nothing, if they were to be well below it.
#define SERIAL 0.97

struct kind {
	enum tare_mechanism mechanism;
	enum tare_issue_order order;
};

static uint32_t most_chunks(const struct overlap *overlap)
{
	const struct tare_search_space *space = &overlap->options.space;
	uint64_t blocks = overlap->items / overlap->work.align;
	uint32_t most = 1;

	for (size_t i = 0; i < space->chunk_count; i++)
		most = space->chunks[i] > most ? space->chunks[i] : most;
	return blocks < most ? (uint32_t)blocks : most;
}

static uint32_t most_queues(const struct overlap *overlap)
{
	const struct tare_search_space *space = &overlap->options.space;
	uint32_t most = 1;

	for (size_t i = 0; i < space->queue_count; i++)
		if (space->queues[i] <= QUEUES && space->queues[i] > most)
			most = space->queues[i];
	return most;
}

// Measured over predicted time of a kind. One run that meets the prediction is enough.
static int probe(struct overlap *overlap, struct overlap_point *point,
                 const struct tare_schedule *schedule, double *factor, struct tare_error *error)
{
	double ns = 0, predicted = 0;
	int status = tare_predict(&point->calibration, &overlap->work, schedule, &predicted, error);

	status = status ?: overlap_median_run(overlap, schedule, 1, &ns, NULL, error);
	if (status == 0 && fabs(ns / predicted - 1) > OFF && !overlap->run->simulated)
		status =
		    overlap_median_run(overlap, schedule, OVERLAP_REPEATS_MOST, &ns, NULL, error);
	*factor = ns / predicted;
	return status;
}

static double serial_ns(const struct overlap_point *point)
{
	double sum = 0;

	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		sum += point->stage[i].present ? point->stage[i].ns : 0;
	return sum;
}

// Measures one kind with few and with many chunks and takes over what is off.
static int probe_kind(struct overlap *overlap, struct overlap_point *point, struct kind kind,
                      struct tare_error *error)
{
	static const uint32_t numbers[TARE_KIND_POINTS] = { FEW, SOME, MANY };
	struct tare_kind_correction found = { 0 };
	struct tare_schedule schedule = { .queues = most_queues(overlap),
		                          .order = kind.order,
		                          .mechanism = kind.mechanism };
	uint32_t most = most_chunks(overlap);
	bool in_chunk_queues =
	    kind.mechanism == TARE_MECHANISM_CHUNK_QUEUES || kind.mechanism == TARE_MECHANISM_GRAPH;
	bool off = false, in_sequence = true;
	int status = 0;

	if (in_chunk_queues && schedule.queues == 1)
		return 0;
	if (kind.mechanism == TARE_MECHANISM_GRAPH && kind.order != TARE_ORDER_DEPTH_FIRST)
		return 0;
	for (size_t i = 0; status == 0 && i < TARE_KIND_POINTS; i++) {
		double factor = 1, predicted = 0;
		if (numbers[i] == SOME && !(point->calibration.stays && in_chunk_queues &&
		                            kind.order == TARE_ORDER_BREADTH_FIRST))
			continue;
		schedule.chunks = numbers[i] < most ? numbers[i] : most;
		if (schedule.chunks < 2 ||
		    (found.count && schedule.chunks == found.chunks[found.count - 1]) ||
		    overlap_phase_left_ns(overlap) == 0)
			break;
		status = probe(overlap, point, &schedule, &factor, error);
		if (status == 0)
			status = tare_predict(&point->calibration, &overlap->work, &schedule,
			                      &predicted, error);
		if (status < 0)
			return status;
		found.chunks[found.count] = schedule.chunks;
		// Never to the better: where the prediction was too long with many chunks and met
		// with few, the search went after what was not there.
		found.factor[found.count++] = factor > 1 ? factor : 1;
		point->probes[point->probe_count++] = schedule;
		off |= factor > 1 + OFF;
		in_sequence = in_sequence && factor > 1 + OFF &&
		              factor * predicted > SERIAL * serial_ns(point);
	}
	if (in_chunk_queues)
		found.queues = schedule.queues;
	if (off)
		point->calibration.correction[kind.mechanism][kind.order] = found;
	point->in_sequence[kind.mechanism][kind.order] = off && in_sequence;
	return status;
}

// Whether a run of all copies first over a few queues is nearer to engines that stay with a queue
// than to engines that serve each in turn; false where the two do not differ.
static int seems_to_stay(struct overlap *overlap, struct overlap_point *point,
                         const struct tare_schedule *schedule, bool *stays,
                         struct tare_error *error)
{
	struct tare_calibration *calibration = &point->calibration;
	double ns = 0, in_turn = 0, staying = 0;
	int status = tare_predict(calibration, &overlap->work, schedule, &in_turn, error);

	*stays = false;
	calibration->stays = true;
	status = status ?: tare_predict(calibration, &overlap->work, schedule, &staying, error);
	calibration->stays = false;
	if (status < 0 || fabs(staying / in_turn - 1) < OFF)
		return status;
	status = overlap_median_run(overlap, schedule, overlap->repeats, &ns, NULL, error);
	if (status == 0)
		*stays = fabs(log(ns / staying)) < fabs(log(ns / in_turn));
	return status;
}

// On an H200 many short chunks went nearly as if engines stayed, twenty of half a millisecond once
// in turn. So engines stay if they do with many, and with few the correction of the kind, which
// only makes it longer, says the rest.
static int find_stays(struct overlap *overlap, struct overlap_point *point,
                      struct tare_error *error)
{
	static const uint32_t numbers[] = { MANY, FEW };
	uint32_t most = most_chunks(overlap);
	struct tare_schedule schedule = { .queues = most_queues(overlap),
		                          .order = TARE_ORDER_BREADTH_FIRST };
	bool stays = false;
	int status = 0;

	if (!(overlap->options.space.mechanisms >> TARE_MECHANISM_CHUNK_QUEUES & 1) ||
	    !(overlap->options.space.orders >> TARE_ORDER_BREADTH_FIRST & 1) ||
	    schedule.queues == 1)
		return 0;
	for (int i = 0; status == 0 && !stays && i < 2; i++) {
		schedule.chunks = numbers[i] < most ? numbers[i] : most;
		if (schedule.chunks > schedule.queues)
			status = seems_to_stay(overlap, point, &schedule, &stays, error);
	}
	point->calibration.stays = stays;
	return status;
}

static int probe_point(struct overlap *overlap, struct overlap_point *point,
                       struct tare_error *error)
{
	uint32_t mechanisms = overlap->options.space.mechanisms;
	uint32_t orders = overlap->options.space.orders;
	int status = 0;

	overlap_set_cycles(overlap, point->cycles);
	for (int m = 0; status == 0 && m < TARE_MECHANISM_COUNT; m++)
		for (int o = 0; status == 0 && o < TARE_ORDER_COUNT; o++) {
			struct kind kind = { (enum tare_mechanism)m, (enum tare_issue_order)o };
			status = overlap_go_on(overlap, error);
			if (status == 0 && mechanisms >> m & 1 && orders >> o & 1)
				status = probe_kind(overlap, point, kind, error);
		}
	return status;
}

int overlap_probe_kinds(struct overlap *overlap, struct tare_error *error)
{
	int status;

	overlap_phase(overlap, PROBE_SHARE);
	overlap_progress(overlap, "trying each kind of schedule");
	overlap_set_cycles(overlap, overlap->points[overlap->balanced].cycles);
	status = find_stays(overlap, &overlap->points[overlap->balanced], error);
	for (size_t i = 0; i < overlap->point_count; i++)
		overlap->points[i].calibration.stays =
		    overlap->points[overlap->balanced].calibration.stays;
	status = status ?: probe_point(overlap, &overlap->points[overlap->balanced], error);
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++)
		if (i != overlap->balanced)
			status = probe_point(overlap, &overlap->points[i], error);
	return status;
}
