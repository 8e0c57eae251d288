// SPDX-License-Identifier: Apache-2.0
// What the driver takes longer to append a command because of our event, or because an event of the program's has
// timestamps: measured on a list of our own that is never executed, so the device gets nothing to do. A fill of 64
// bytes stands for kernels (one would have to be built), a copy of 64 bytes for the rest. The trials take turns, so
// that what the machine does meanwhile falls on all of them; a cost is the median over the rounds of a difference
// within a round. Whatever fails, or takes too long, means that nothing is known. What the driver takes to execute the
// lists that read times cannot be found so and is not known.
#include "guest/levelzero/ze.h"

#include <errno.h>

#define MOST_NS 4000000 // that a measurement is to take; the least rounds may take BUSY times as long

enum { COMMANDS = 32, ROUNDS = 21, LEAST_ROUNDS = 5, BUSY = 8, BYTES = 64 };
enum trial { NATIVE, PLAIN, STAMPED, TRIALS }; // without an event, with one, with one that has timestamps
enum work { FILL, COPY, WORKS };

struct bench {
	const struct ze_calls *call;
	ze_command_list_handle_t list;
	ze_event_pool_handle_t pools[TRIALS];
	ze_event_handle_t events[TRIALS][COMMANDS];
	unsigned char *memory;
};

// Of each round the difference in ticks of COMMANDS, by enum tare_trace_driver_cost.
static int64_t found[TARE_DRIVER_COST_COUNT][ROUNDS];
static int64_t native[ROUNDS];

static bool append(const struct bench *bench, enum work work, ze_event_handle_t event)
{
	static const unsigned char pattern;
	ze_result_t result =
	    work == FILL ? bench->call->zeCommandListAppendMemoryFill(bench->list, bench->memory, &pattern, sizeof pattern,
	                                                              BYTES, event, 0, NULL)
	                 : bench->call->zeCommandListAppendMemoryCopy(bench->list, bench->memory, bench->memory + BYTES,
	                                                              BYTES, event, 0, NULL);
	return result == ZE_RESULT_SUCCESS;
}

static bool try_one(const struct bench *bench, enum work work, enum trial trial, uint64_t *ticks)
{
	bool well = true;
	uint64_t from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++)
		well &= append(bench, work, bench->events[trial][i]);
	*ticks = guest_ticks() - from;
	return bench->call->zeCommandListReset(bench->list) == ZE_RESULT_SUCCESS && well;
}

static bool try_all(const struct bench *bench, uint64_t ticks[WORKS][TRIALS])
{
	for (int i = 0; i < WORKS * TRIALS; i++)
		if (!try_one(bench, (enum work)(i / TRIALS), (enum trial)(i % TRIALS), &ticks[i / TRIALS][i % TRIALS]))
			return false;
	return true;
}

static uint32_t measure(const struct bench *bench)
{
	uint64_t ticks[WORKS][TRIALS], most = guest_ticks_of_ns(MOST_NS);
	uint32_t rounds = 0;
	// The first makes what the driver makes but once.
	if (most == 0 || !try_all(bench, ticks))
		return 0;
	uint64_t from = guest_ticks();
	while (rounds < ROUNDS && guest_ticks() - from < (rounds < LEAST_ROUNDS ? BUSY * most : most) &&
	       try_all(bench, ticks)) {
		for (enum work work = FILL; work < WORKS; work++) {
			uint32_t at = work == FILL ? 0 : TARE_DRIVER_TRANSFER;
			found[at + TARE_DRIVER_EVENT][rounds] = (int64_t)(ticks[work][STAMPED] - ticks[work][NATIVE]);
			found[at + TARE_DRIVER_PROFILED_EVENT][rounds] = (int64_t)(ticks[work][STAMPED] - ticks[work][PLAIN]);
		}
		native[rounds++] = (int64_t)ticks[FILL][NATIVE];
	}
	return rounds < LEAST_ROUNDS ? 0 : rounds;
}

// ---- what is told of it

// The median of `count` values and, around it, where it is in 95 of 100 cases: count/2 less the root of count, by
// the normal approximation of the sign test.
struct middle {
	int64_t low, best, high;
};

static struct middle middle_of(int64_t *values, uint32_t count)
{
	uint32_t root = 0;
	for (uint32_t i = 1; i < count; i++) {
		int64_t value = values[i];
		uint32_t at = i;
		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	while ((root + 1) * (root + 1) <= count)
		root++;
	uint32_t outside = count / 2 > root ? count / 2 - root : 0;
	return (struct middle){values[outside], values[count / 2], values[count - 1 - outside]};
}

static int64_t each_ps(int64_t ticks)
{
	return (int64_t)((double)ticks / COMMANDS * 1e9 / (double)guest_ticks_of_ns(1000000));
}

static void tell(uint32_t rounds)
{
	struct tare_trace_header *header = guest_header;
	for (int i = 0; i < TARE_DRIVER_COST_COUNT; i++) {
		const struct middle middle = middle_of(found[i], rounds);
		__atomic_store_n(&header->driver_ps[i], each_ps(middle.best), __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_low_ps[i], each_ps(middle.low), __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_high_ps[i], each_ps(middle.high), __ATOMIC_RELAXED);
	}
	__atomic_store_n(&header->driver_native_ps, each_ps(middle_of(native, rounds).best), __ATOMIC_RELAXED);
	__atomic_store_n(&header->driver_rounds, rounds, __ATOMIC_RELEASE);
}

// ---- what it is measured on

static bool make_events(struct bench *bench, const struct ze_list *like, enum trial trial)
{
	ze_event_pool_flags_t stamps = trial == STAMPED ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0;
	const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
	                                   .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | stamps, .count = COMMANDS};
	if (bench->call->zeEventPoolCreate(like->context, &desc, 0, NULL, &bench->pools[trial]) != ZE_RESULT_SUCCESS) {
		bench->pools[trial] = NULL;
		return false;
	}
	for (uint32_t i = 0; i < COMMANDS; i++) {
		const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i,
		                               .signal = ZE_EVENT_SCOPE_FLAG_HOST};
		if (bench->call->zeEventCreate(bench->pools[trial], &event, &bench->events[trial][i]) != ZE_RESULT_SUCCESS) {
			bench->events[trial][i] = NULL;
			return false;
		}
	}
	return true;
}

static bool make(struct bench *bench, const struct ze_list *like)
{
	const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
	                                     .commandQueueGroupOrdinal = like->ordinal};
	const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *memory = NULL;
	if (bench->call->zeMemAllocHost(like->context, &host, 2 * BYTES, 64, &memory) != ZE_RESULT_SUCCESS)
		return false;
	bench->memory = memory;
	const struct ze_device *device = like->device;
	if (bench->call->zeCommandListCreate(like->context, device->handle, &desc, &bench->list) != ZE_RESULT_SUCCESS) {
		bench->list = NULL;
		return false;
	}
	return make_events(bench, like, PLAIN) && make_events(bench, like, STAMPED);
}

static void end(struct bench *bench, const struct ze_list *like)
{
	if (bench->list != NULL)
		bench->call->zeCommandListDestroy(bench->list);
	for (int i = 0; i < TRIALS * COMMANDS; i++)
		if (bench->events[i / COMMANDS][i % COMMANDS] != NULL)
			bench->call->zeEventDestroy(bench->events[i / COMMANDS][i % COMMANDS]);
	for (int i = 0; i < TRIALS; i++)
		if (bench->pools[i] != NULL)
			bench->call->zeEventPoolDestroy(bench->pools[i]);
	if (bench->memory != NULL)
		bench->call->zeMemFree(like->context, bench->memory);
}

void ze_driver_cost_first(const struct guest_thread *thread, const struct ze_list *like)
{
	static struct bench bench; // the program's stack may be a small one
	static _Atomic bool begun;
	// Of a process that records another API, too, costs are not told.
	if (!ze_may_change() || thread->depth != 1 || like->device == NULL || like->copies ||
	    guest_options.calibrated != TARE_TRACE_LEVELZERO || atomic_exchange(&begun, true))
		return;
	int saved = errno;
	uint64_t from = guest_ticks();
	bench.call = &like->driver->call;
	uint32_t rounds = make(&bench, like) ? measure(&bench) : 0;
	end(&bench, like);
	ze_change(TARE_CHANGE_CALIBRATION, like->context, 0, 1);
	if (rounds != 0)
		tell(rounds);
	guest_options.calibration_ticks += guest_ticks() - from;
	__atomic_store_n(&guest_header->calibration_ticks, guest_options.calibration_ticks, __ATOMIC_RELAXED);
	errno = saved;
}
