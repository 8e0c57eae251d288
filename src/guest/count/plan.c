// SPDX-License-Identifier: Apache-2.0
#include "guest/count/plan.h"

#include <string.h>

static uint64_t number_at(const char **text)
{
	uint64_t number = 0;
	for (; **text >= '0' && **text <= '9'; (*text)++)
		number = number > UINT64_MAX / 16 ? number : 10 * number + (uint64_t)(**text - '0');
	return number;
}

// Behind the number of launches: "@FROM-TO+FROM-TO...", ascending.
static bool read_places(const char **text, struct counters_plan *plan,
                        struct counters_kernel *kernel)
{
	kernel->first_place = plan->place_count;
	for (char before = '@'; **text == before; before = '+') {
		struct counters_place *place = &plan->places[plan->place_count];
		if (plan->place_count == COUNTERS_MOST_PLACES)
			return false;
		++*text;
		place->from = number_at(text);
		if (*(*text)++ != '-')
			return false;
		place->to = number_at(text);
		if (place->to < place->from)
			return false;
		plan->place_count++;
		kernel->place_count++;
	}
	return true;
}

bool counters_plan_has(const struct counters_plan *plan, const struct counters_kernel *kernel,
                       uint64_t *index)
{
	uint64_t before = 0;
	for (uint32_t i = 0; i < kernel->place_count; i++) {
		const struct counters_place *place = &plan->places[kernel->first_place + i];
		if (*index >= place->from && *index <= place->to) {
			*index = before + *index - place->from;
			return true;
		}
		before += place->to - place->from + 1;
	}
	return kernel->place_count == 0;
}

bool counters_plan_read(const char *text, struct counters_plan *plan)
{
	static const char replay[] = ",replay", accounts[] = ",accounts", open[] = ",open=";
	memset(plan, 0, sizeof *plan);
	plan->a_group = (uint32_t)number_at(&text);
	plan->replay = strncmp(text, replay, sizeof replay - 1) == 0;
	text += plan->replay ? sizeof replay - 1 : 0;
	plan->accounts = strncmp(text, accounts, sizeof accounts - 1) == 0;
	text += plan->accounts ? sizeof accounts - 1 : 0;
	if (strncmp(text, open, sizeof open - 1) == 0) {
		uint64_t most;
		text += sizeof open - 1;
		most = number_at(&text);
		plan->open = most < COUNTERS_MOST_KERNELS ? (uint32_t)most : COUNTERS_MOST_KERNELS;
		return plan->a_group > 0 && plan->open > 0;
	}
	while (*text == '\n' && text[1] && plan->count < COUNTERS_MOST_KERNELS) {
		struct counters_kernel *kernel = &plan->kernels[plan->count];
		size_t length;
		text++;
		kernel->launches = number_at(&text);
		if (!read_places(&text, plan, kernel) || *text++ != ' ')
			return false;
		length = strcspn(text, "\n");
		kernel->graph = *text == '#';
		kernel->hash = guest_hash(GUEST_HASH_START, text, length);
		plan->count++;
		text += length;
	}
	return plan->a_group > 0 && plan->count > 0;
}

struct counters_kernel *counters_plan_find(struct counters_plan *plan, uint64_t hash)
{
	for (uint32_t i = 0; i < plan->count; i++)
		if (plan->kernels[i].hash == hash)
			return &plan->kernels[i];
	return NULL;
}

struct counters_kernel *counters_plan_add(struct counters_plan *plan, uint64_t hash)
{
	static _Atomic uint32_t adding;
	struct counters_kernel *kernel;
	uint32_t place;
	if (!plan->open)
		return NULL;
	while (atomic_exchange(&adding, 1))
		continue;
	kernel = counters_plan_find(plan, hash);
	place = plan->count;
	if (!kernel && place < COUNTERS_MOST_KERNELS) {
		kernel = &plan->kernels[place];
		kernel->hash = hash;
		kernel->launches = COUNTERS_OPEN;
		atomic_store(&plan->count, place + 1);
	}
	atomic_store(&adding, 0);
	return kernel;
}

static double time_of(const struct counters_kernel *kernel)
{
	return (double)kernel->ns *
	       (double)atomic_load_explicit(&kernel->seen, memory_order_relaxed);
}

bool counters_is_chosen(const struct counters_plan *plan, const struct counters_kernel *kernel)
{
	double own = time_of(kernel);
	uint32_t longer = 0;
	if (!plan->open || atomic_load_explicit(&kernel->taken, memory_order_relaxed) == 0)
		return true;
	for (uint32_t i = 0; i < plan->count; i++)
		longer += time_of(&plan->kernels[i]) > own;
	return own > 0 && longer < plan->open;
}

// Whether all counters are taken of each of its few launches.
static bool is_replayed(const struct counters_plan *plan, const struct counters_kernel *kernel,
                        uint32_t groups)
{
	return plan->replay && kernel->launches < groups;
}

// How many launches of a kernel are counted.
static uint64_t wanted(const struct counters_plan *plan, const struct counters_kernel *kernel,
                       uint32_t groups)
{
	uint64_t most = (uint64_t)plan->a_group * (is_replayed(plan, kernel, groups) ? 1 : groups);
	return kernel->launches < most ? kernel->launches : most;
}

static uint32_t nearest_group(const struct counters_kernel *kernel, uint32_t groups,
                              uint32_t current)
{
	uint32_t count = kernel->launches < groups ? (uint32_t)kernel->launches : groups;
	uint32_t best = count;
	for (uint32_t i = 0; i < groups; i++) {
		uint32_t next = (current + i) % groups;
		if (next < count &&
		    (best == count || kernel->of_group[next] < kernel->of_group[best]))
			best = next;
	}
	return best;
}

void counters_plan_give_up(struct counters_kernel *kernel)
{
	atomic_store(&kernel->taken, UINT32_MAX / 2);
}

bool counters_has_turns(const struct counters_plan *plan, const struct counters_kernel *kernel,
                        uint32_t groups)
{
	return atomic_load_explicit(&kernel->taken, memory_order_relaxed) <
	       wanted(plan, kernel, groups);
}

bool counters_is_graphs_turn(const struct counters_plan *plan, const struct counters_kernel *graph,
                             uint32_t groups, uint64_t index, uint32_t current, uint32_t *group)
{
	// Not the first, if there are others. From the second on, so that kernels come after it.
	uint64_t from = graph->launches > wanted(plan, graph, groups);
	*group = nearest_group(graph, groups, current);
	return counters_has_turns(plan, graph, groups) && index >= from;
}

// The part of the run, as launches of the kernel, in which the next one is to be counted.
struct part {
	uint64_t from, to;
};

static struct part next_part(const struct counters_kernel *kernel, uint64_t most, uint32_t taken)
{
	uint64_t each = kernel->launches / most, rest = kernel->launches % most;
	if (kernel->launches == COUNTERS_OPEN)
		return (struct part){ UINT64_C(1) << (taken & 31), UINT64_C(2) << (taken & 31) };
	struct part part = { each * taken + rest * taken / most,
		             each * (taken + 1) + rest * (taken + 1) / most };
	// The first one is like no other: caches and clocks are cold, code is loaded.
	if (taken == 0 && part.to - part.from > 1)
		part.from++;
	return part;
}

bool counters_is_last(const struct counters_plan *plan, const struct counters_kernel *kernel,
                      uint32_t groups, uint64_t index)
{
	uint32_t taken = atomic_load_explicit(&kernel->taken, memory_order_relaxed);
	uint64_t most = wanted(plan, kernel, groups);
	return taken >= most || index + 1 >= next_part(kernel, most, taken).to;
}

bool counters_may_wait(const struct counters_plan *plan, const struct counters_kernel *kernel,
                       uint32_t groups, uint64_t index)
{
	uint32_t taken = atomic_load_explicit(&kernel->taken, memory_order_relaxed);
	uint64_t most = wanted(plan, kernel, groups);
	// Twice as many as turns, for groups do not come in the order in which they are wanted.
	return kernel->launches > index + 1 + 2 * (most - (taken < most ? taken : most));
}

bool counters_is_turn(const struct counters_plan *plan, const struct counters_kernel *kernel,
                      uint32_t groups, uint64_t index, uint32_t current, uint32_t *group)
{
	uint64_t most = wanted(plan, kernel, groups), drawn;
	uint32_t taken = atomic_load_explicit(&kernel->taken, memory_order_relaxed);
	struct part part;
	if (taken >= most)
		return false;
	part = next_part(kernel, most, taken);
	drawn = guest_hash(kernel->hash, &taken, sizeof taken) >> 16;
	if (kernel->launches == COUNTERS_OPEN && taken == 0)
		current = 0;
	*group =
	    is_replayed(plan, kernel, groups) ? groups : nearest_group(kernel, groups, current);
	return index >= part.from + drawn % (part.to - part.from) &&
	       (*group == groups || *group == current || index + 1 >= part.to);
}
