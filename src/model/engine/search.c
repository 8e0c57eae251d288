// SPDX-License-Identifier: Apache-2.0
// Which schedules there are, and which of them are worth measuring.
#include "base/random.h"
#include "model/engine/prediction_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

// Predicting is cheap for few chunks. After so many, what is sure to be slow is given up early.
#define FREE_CHUNKS 16384
#define GIVE_UP 1.25
// Predictions this close to the best are worth a measurement of their own kind.
#define CLOSE 1.10
// Chunk counts closer than this, by the same mechanism, are neighbours.
#define NEIGHBOUR 1.3

// ---- all

struct listing {
	struct tare_schedule *schedules;
	size_t count, capacity;
};

static void list_sizes(struct listing *listing, uint32_t sizes, struct tare_schedule schedule)
{
	// Two chunks have no middle that could be larger.
	if (schedule.chunks <= 2 && sizes)
		sizes = 1u << TARE_CHUNKS_EQUAL;
	for (int i = 0; i < TARE_CHUNKS_COUNT; i++)
		if (sizes >> i & 1 && listing->count < listing->capacity) {
			schedule.sizes = (enum tare_chunk_sizes)i;
			listing->schedules[listing->count++] = schedule;
		}
}

static void list_orders(struct listing *listing, const struct tare_search_space *space,
                        struct tare_schedule schedule)
{
	uint32_t orders = space->orders;

	// A graph keeps the order within its queues, which is the same for all of these but one.
	if ((schedule.chunks == 1 || schedule.mechanism == TARE_MECHANISM_GRAPH) && orders)
		orders = 1u << TARE_ORDER_DEPTH_FIRST;
	for (int i = 0; i < TARE_ORDER_COUNT; i++)
		if (orders >> i & 1) {
			schedule.order = (enum tare_issue_order)i;
			list_sizes(listing, space->sizes, schedule);
		}
}

static uint32_t queues_at(const struct tare_search_space *space, size_t i, uint32_t chunks)
{
	return space->queues[i] < chunks ? space->queues[i] : chunks;
}

static void list_queues(struct listing *listing, const struct tare_search_space *space,
                        struct tare_schedule schedule)
{
	for (size_t i = 0; i < space->queue_count && i < COUNT(space->queues); i++) {
		bool seen = false;
		schedule.queues = queues_at(space, i, schedule.chunks);
		for (size_t j = 0; j < i; j++)
			seen |= queues_at(space, j, schedule.chunks) == schedule.queues;
		if (!seen && schedule.queues)
			list_orders(listing, space, schedule);
	}
}

static void list_mechanisms(struct listing *listing, const struct tare_search_space *space,
                            uint32_t chunks)
{
	uint32_t mechanisms = space->mechanisms;

	// One chunk is serial by any mechanism.
	if (chunks == 1 && mechanisms) {
		list_orders(listing, space, (struct tare_schedule){ .chunks = 1, .queues = 1 });
		return;
	}
	for (int i = 0; i < TARE_MECHANISM_COUNT; i++) {
		struct tare_schedule schedule = { .chunks = chunks,
			                          .mechanism = (enum tare_mechanism)i };
		if (!(mechanisms >> i & 1))
			continue;
		schedule.queues = tare_schedule_queues(&schedule);
		if (schedule.mechanism == TARE_MECHANISM_CHUNK_QUEUES ||
		    schedule.mechanism == TARE_MECHANISM_GRAPH)
			list_queues(listing, space, schedule);
		else
			list_orders(listing, space, schedule);
	}
}

size_t tare_search_all(const struct tare_search_space *space, const struct tare_pipeline_work *work,
                       struct tare_schedule *schedules, size_t capacity)
{
	struct listing listing = { .schedules = schedules, .capacity = capacity };
	uint64_t align = work->align ? work->align : 1;
	uint64_t units = work->items / align + (work->items % align != 0);

	for (size_t i = 0; i < space->chunk_count && i < COUNT(space->chunks); i++) {
		bool seen = false;
		for (size_t j = 0; j < i; j++)
			seen |= space->chunks[j] == space->chunks[i];
		if (!seen && space->chunks[i] && space->chunks[i] <= units)
			list_mechanisms(&listing, space, space->chunks[i]);
	}
	return listing.count;
}

// ---- candidates

struct entry {
	struct tare_schedule schedule;
	double ns; // INFINITY: given up
	bool chosen;
};

struct choice {
	struct tare_predictor *predictor;
	struct entry *entries; // by chunks while they are predicted, then the fastest first
	size_t count, likely, chosen;
};

static int compare_simple(const struct tare_schedule *a, const struct tare_schedule *b)
{
	if (a->chunks != b->chunks)
		return a->chunks < b->chunks ? -1 : 1;
	if (a->queues != b->queues)
		return a->queues < b->queues ? -1 : 1;
	if (a->mechanism != b->mechanism)
		return a->mechanism < b->mechanism ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->sizes > b->sizes) - (a->sizes < b->sizes);
}

static int compare_chunks(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return compare_simple(&x->schedule, &y->schedule);
}

static int compare_times(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return compare_simple(&x->schedule, &y->schedule);
}

static int predict_all(struct choice *choice, struct tare_error *error)
{
	double best = INFINITY;
	uint64_t spent = 0;

	qsort(choice->entries, choice->count, sizeof *choice->entries, compare_chunks);
	for (size_t i = 0; i < choice->count; i++) {
		struct entry *entry = &choice->entries[i];
		double limit_ns = spent < FREE_CHUNKS ? INFINITY : GIVE_UP * best;
		int status = tare_predictor_run(choice->predictor, &entry->schedule, limit_ns,
		                                &entry->ns, error);
		if (status < 0)
			return status;
		best = fmin(best, entry->ns);
		spent += entry->schedule.chunks;
	}
	qsort(choice->entries, choice->count, sizeof *choice->entries, compare_times);
	return 0;
}

static bool neighbours(const struct tare_schedule *a, const struct tare_schedule *b)
{
	double ratio = (double)a->chunks / b->chunks;

	return a->mechanism == b->mechanism && ratio < NEIGHBOUR && 1 / ratio < NEIGHBOUR;
}

static bool near_a_chosen_one(const struct choice *choice, size_t index)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->entries[i].chosen &&
		    neighbours(&choice->entries[i].schedule, &choice->entries[index].schedule))
			return true;
	return false;
}

// The fastest of its mechanism, of its order or of its sizes?
static bool best_of_a_kind(const struct choice *choice, size_t index)
{
	const struct tare_schedule *this = &choice->entries[index].schedule;
	bool mechanism = true, order = true, sizes = true;

	for (size_t i = 0; i < index; i++) {
		const struct tare_schedule *faster = &choice->entries[i].schedule;
		mechanism &= faster->mechanism != this->mechanism;
		order &= faster->order != this->order;
		sizes &= faster->sizes != this->sizes;
	}
	return mechanism || order || sizes;
}

// The fastest with its number of queues?
static bool best_of_queues(const struct choice *choice, size_t index)
{
	const struct tare_schedule *this = &choice->entries[index].schedule;

	for (size_t i = 0; i < index; i++) {
		const struct tare_schedule *faster = &choice->entries[i].schedule;
		if (faster->mechanism == this->mechanism && faster->queues == this->queues)
			return false;
	}
	return true;
}

static void choose_likely(struct choice *choice)
{
	enum { KINDS, QUEUES, SPREAD, REST, PASSES };

	for (int pass = KINDS; pass < PASSES; pass++) {
		// Predictions often see no difference between many and more queues.
		size_t limit =
		    pass == QUEUES ? (choice->likely + choice->chosen) / 2 : choice->likely;
		for (size_t i = 0; i < choice->count && choice->chosen < limit; i++) {
			struct entry *entry = &choice->entries[i];
			if (entry->chosen || !isfinite(entry->ns))
				continue;
			if (pass != REST && entry->ns > CLOSE * choice->entries[0].ns)
				break;
			if ((pass == KINDS && !best_of_a_kind(choice, i)) ||
			    (pass == QUEUES && !best_of_queues(choice, i)) ||
			    (pass == SPREAD && near_a_chosen_one(choice, i)))
				continue;
			entry->chosen = true;
			choice->chosen++;
		}
	}
}

static size_t take_chosen(const struct choice *choice, struct tare_candidate *candidates)
{
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++)
		if (choice->entries[i].chosen)
			candidates[count++] = (struct tare_candidate){
				.schedule = choice->entries[i].schedule,
				.predicted_ns = choice->entries[i].ns,
			};
	return count;
}

static int take_controls(struct choice *choice, uint64_t seed, size_t controls,
                         struct tare_candidate *candidates, size_t *count, struct tare_error *error)
{
	struct tare_random random = { seed };

	for (size_t n = 0; n < controls && choice->chosen < choice->count; n++) {
		uint64_t skip = tare_random_below(&random, choice->count - choice->chosen);
		size_t i = 0;
		while (choice->entries[i].chosen || skip-- > 0)
			i++;
		struct entry *entry = &choice->entries[i];
		if (!isfinite(entry->ns)) {
			int status = tare_predictor_run(choice->predictor, &entry->schedule,
			                                INFINITY, &entry->ns, error);
			if (status < 0)
				return status;
		}
		entry->chosen = true;
		choice->chosen++;
		candidates[(*count)++] = (struct tare_candidate){
			.schedule = entry->schedule,
			.predicted_ns = entry->ns,
			.control = true,
		};
	}
	return 0;
}

static int choose(struct choice *choice, uint64_t seed, size_t likely, size_t controls,
                  struct tare_candidate *candidates, size_t capacity, struct tare_error *error)
{
	size_t count;
	int status = predict_all(choice, error);

	if (status < 0)
		return status;
	choice->likely = likely < capacity ? likely : capacity;
	choose_likely(choice);
	count = take_chosen(choice, candidates);
	if (controls > capacity - count)
		controls = capacity - count;
	status = take_controls(choice, seed, controls, candidates, &count, error);
	return status < 0 ? status : (int)count;
}

int tare_search_candidates(const struct tare_calibration *calibration,
                           const struct tare_pipeline_work *work,
                           const struct tare_search_space *space, uint64_t seed, size_t likely,
                           size_t controls, struct tare_candidate *candidates, size_t capacity,
                           struct tare_error *error)
{
	int status = 0;
	struct tare_schedule *schedules = calloc(TARE_SCHEDULES_MAX, sizeof *schedules);
	struct choice choice = {
		.predictor = tare_predictor_new(calibration, work, &status, error),
		.entries = calloc(TARE_SCHEDULES_MAX, sizeof *choice.entries),
	};

	if (status == 0 && (!schedules || !choice.entries))
		status = tare_fail(error, ENOMEM, "no memory for the search");
	if (status == 0) {
		choice.count = tare_search_all(space, work, schedules, TARE_SCHEDULES_MAX);
		for (size_t i = 0; i < choice.count; i++)
			choice.entries[i].schedule = schedules[i];
		status = choose(&choice, seed, likely, controls, candidates, capacity, error);
	}
	tare_predictor_free(choice.predictor);
	free(choice.entries);
	free(schedules);
	return status;
}
