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

bool counters_plan_read(const char *text, struct counters_plan *plan)
{
	static const char replay[] = ",replay";
	memset(plan, 0, sizeof *plan);
	plan->a_group = (uint32_t)number_at(&text);
	plan->replay = strncmp(text, replay, sizeof replay - 1) == 0;
	text += plan->replay ? sizeof replay - 1 : 0;
	while (*text == '\n' && text[1] && plan->count < COUNTERS_MOST_KERNELS) {
		struct counters_kernel *kernel = &plan->kernels[plan->count];
		size_t length;
		text++;
		kernel->launches = number_at(&text);
		if (*text++ != ' ')
			return false;
		length = strcspn(text, "\n");
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

// The nearest group from `current` on that the kernel was counted for least. One that cannot have
// all begins with the first, which matters most.
static uint32_t group_of(const struct counters_kernel *kernel, uint32_t groups, uint32_t current)
{
	uint32_t best;
	current =
	    current < groups && (!kernel->launches || kernel->launches >= groups) ? current : 0;
	best = current;
	for (uint32_t i = 1; i < groups; i++) {
		uint32_t next = (current + i) % groups;
		if (kernel->of_group[next] < kernel->of_group[best])
			best = next;
	}
	return best;
}

bool counters_is_turn(const struct counters_plan *plan, const struct counters_kernel *kernel,
                      uint32_t groups, uint64_t index, uint32_t current, uint32_t *group)
{
	uint64_t most = wanted(plan, kernel, groups), from, to, drawn;
	uint32_t taken = atomic_load_explicit(&kernel->taken, memory_order_relaxed);
	if (taken >= most)
		return false;
	from = kernel->launches / most * taken + kernel->launches % most * taken / most;
	to = kernel->launches / most * (taken + 1) + kernel->launches % most * (taken + 1) / most;
	// The first one is like no other: caches and clocks are cold, code is loaded.
	if (taken == 0 && to - from > 1)
		from++;
	drawn = guest_hash(kernel->hash, &taken, sizeof taken) >> 16;
	*group = is_replayed(plan, kernel, groups) ? groups : group_of(kernel, groups, current);
	return index >= from + drawn % (to - from) &&
	       (*group == groups || *group == current || index + 1 >= to);
}
