// SPDX-License-Identifier: Apache-2.0
// Which commands get device times, where all of them would cost too much (--times sampled). Every
// command does until that, the driver's part for events, questions and release and our own, has
// taken 5 % of the recording so far, or 2 ms and 5 % of the time since the thread's first command:
// how long a program took to start says nothing of its commands. From then on chance decides, one
// command by itself, so that no period of the program's can fall in step with it: each is taken
// with a probability at which that part takes 1.6 % of the time. The first of a kind of commands
// are taken all, and then with a probability that falls as their number grows, so that of a kind
// that is rare, or that changes while the program warms up, enough are. All are counted, in either
// case. What was taken by chance is told with its probability (DRAWN).
#include "guest/opencl/wrap.h"

enum {
	LOOK_AFTER = 64,     // commands, until the cost is looked at
	ENOUGH_NS = 2000000, // that they may take, whatever that is of the time since the first
	FIRST = 32,          // of a kind that are all taken, of few kinds
	FEWEST_FIRST = 4,    // of many
	FIRST_OF_ALL = 128,  // of all kinds together about
	PLACES = 4,          // that are looked at for it
	FIRST_EPOCH = 256,
	LONGEST_EPOCH = 16384,
	MOST_SHARE = 20, // one so-manieth of the time: more than that, and there is to be a sample
	SHARE = 64,      // what the sample is to take
	// No more than one in so many by the rate: each that is drawn has a record of its chance
	// and ends a row of launches, which costs more than the times of some drivers do.
	MOST_CHANCE = 16,
	LEAST_CHANCE = 1024, // one in so many at least
};

// xorshift64*: https://doi.org/10.18637/jss.v072.c01 (Vigna 2016), its upper half.
static uint32_t random_of(struct layer_sampler *sampler)
{
	uint64_t state = sampler->state;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	sampler->state = state;
	return (uint32_t)(state * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

// The probability for the `next` commands, in parts of 2^32: as if commands went on to come as
// often as the `count` since the last choice, and less or more where the sample has taken more or
// less than its share of the run. Never less than half of what it would be by their rate alone:
// else a run's beginning, of which everything is timed, would leave the rest without. It depends on
// what was, never on the command that it is used for.
static void choose_chance(struct layer_sampler *sampler, uint64_t now, uint32_t count,
                          uint32_t next)
{
	double event = (double)atomic_load_explicit(&layer_event_ticks, memory_order_relaxed);
	double taken = event * sampler->timed, passed = (double)(now - sampler->chosen);
	sampler->spent += taken;
	// Without what the sample itself took: at least a tenth of it, for that is an estimate.
	double own = passed - taken > passed / 10 ? passed - taken : passed / 10;
	double rate = event > 0 ? own / count / event / SHARE : 1;
	double saved = (double)(now - sampler->start) / SHARE - sampler->spent;
	double chance = event > 0 ? rate + saved / event / next : 1;
	chance = chance < rate / 2 ? rate / 2 : chance;
	chance = chance > 1.0 / MOST_CHANCE ? 1.0 / MOST_CHANCE : chance;
	chance = chance < 1.0 / LEAST_CHANCE ? 1.0 / LEAST_CHANCE : chance;
	sampler->chance = (uint32_t)(chance * UINT32_MAX);
	sampler->chosen = now;
	sampler->timed = 0;
}

static void begin(struct layer_sampler *sampler, uint64_t now)
{
	uint64_t none = 0;
	sampler->on = true;
	sampler->state = (now ^ (uintptr_t)sampler) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	sampler->epoch = sampler->left = FIRST_EPOCH;
	sampler->spent = (double)(sampler->commands - LOOK_AFTER) *
	                 (double)atomic_load_explicit(&layer_event_ticks, memory_order_relaxed);
	sampler->timed = LOOK_AFTER;
	choose_chance(sampler, now, LOOK_AFTER, FIRST_EPOCH);
	if (guest_header != NULL)
		__atomic_compare_exchange_n(&guest_header->sampled_from_ticks, &none, now, false,
		                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool costs_too_much(const struct layer_sampler *sampler, uint64_t event, uint64_t now)
{
	uint64_t cost = sampler->commands * event;
	uint64_t recorded = guest_header != NULL ? now - guest_header->start_ticks : UINT64_MAX;
	return cost * MOST_SHARE > recorded ||
	       (cost * MOST_SHARE > now - sampler->start && cost > guest_ticks_of_ns(ENOUGH_NS));
}

void layer_sample_look(struct guest_thread *thread)
{
	struct layer_sampler *sampler = &layer_of(thread)->sampler;
	uint64_t event = atomic_load_explicit(&layer_event_ticks, memory_order_relaxed);
	uint64_t now = guest_ticks();
	if (sampler->start == 0) {
		sampler->start = now;
	} else {
		sampler->commands += LOOK_AFTER;
		if (guest_options.may_sample && costs_too_much(sampler, event, now))
			begin(sampler, now);
	}
	sampler->chosen = now;
	sampler->look_in = guest_options.may_sample ? LOOK_AFTER : UINT32_MAX;
}

static uint64_t key_of(uint32_t function, const struct layer_range *range, size_t bytes)
{
	uint64_t key = function;
	if (range == NULL)
		return key << 8 | (bytes != 0 ? 64 - (uint64_t)__builtin_clzll(bytes) : 0);
	key = (uintptr_t)range->kernel;
	for (cl_uint i = 0; range->globals != NULL && i < range->dimensions && i < 3; i++)
		key = key * UINT64_C(0x9e3779b97f4a7c15) + range->globals[i];
	return key;
}

// With what probability the next of a kind are taken at least: the number of the first ones over
// that of all so far. So the sample grows by as many each time that a kind's number doubles.
static void reckon(const struct layer_sampler *sampler, struct layer_sampled_kind *kind)
{
	uint32_t first = FIRST_OF_ALL / sampler->used;
	first = first < FEWEST_FIRST ? FEWEST_FIRST : first > FIRST ? FIRST : first;
	kind->chance =
	    kind->seen <= first ? UINT32_MAX : (uint32_t)(((uint64_t)first << 32) / kind->seen);
	uint32_t step = kind->seen / 8 + 1;
	kind->next = kind->seen < UINT32_MAX - step ? kind->seen + step : UINT32_MAX;
}

// The probability for a command of that kind by which it is taken at least. One whose places are
// taken by others has none of its own.
static uint32_t chance_of(struct layer_sampler *sampler, uint64_t key)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	for (uint64_t i = 0; i < PLACES; i++) {
		struct layer_sampled_kind *kind = &sampler->kinds[(place + i) % LAYER_KINDS];
		if (kind->seen == 0) {
			kind->key = key;
			sampler->used++;
		}
		if (kind->key != key)
			continue;
		kind->seen += kind->seen < UINT32_MAX;
		if (kind->seen >= kind->next)
			reckon(sampler, kind);
		return kind->chance;
	}
	return 0;
}

bool layer_sample_draw(struct guest_thread *thread, uint32_t function,
                       const struct layer_range *range, size_t bytes, uint32_t *drawn)
{
	struct layer_sampler *sampler = &layer_of(thread)->sampler;
	if (--sampler->left == 0) {
		uint32_t count = sampler->epoch;
		if (sampler->epoch < LONGEST_EPOCH)
			sampler->epoch *= 2;
		sampler->left = sampler->epoch;
		choose_chance(sampler, guest_ticks(), count, sampler->epoch);
	}
	uint32_t chance = chance_of(sampler, key_of(function, range, bytes));
	chance = chance < sampler->chance ? sampler->chance : chance;
	bool timed = chance == UINT32_MAX || random_of(sampler) < chance;
	*drawn = timed && chance < UINT32_MAX ? chance : 0;
	sampler->timed += timed;
	return timed;
}

void layer_write_drawn(struct guest_thread *thread, uint32_t number, uint32_t chance)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->drawn = (struct tare_trace_drawn){ .number = number, .chance = chance };
	guest_commit(record, tare_trace_head(TARE_TRACE_DRAWN, 0, 0, thread->track));
}
