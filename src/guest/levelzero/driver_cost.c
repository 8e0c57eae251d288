// SPDX-License-Identifier: Apache-2.0
// What the driver takes longer to append a command because of our event, or because an event of the
// program's has timestamps: measured on a list of our own that is never executed, so the device
// gets nothing to do. A fill of 64 bytes stands for kernels (one would have to be built), a copy of
// 64 bytes for the rest. The trials take turns, so that what the machine does meanwhile falls on
// all of them; a cost is the median over the rounds of a difference within a round. Whatever fails,
// or takes too long, means that nothing is known. What the driver takes to execute the lists that
// read times is measured apart (execute_cost.c). Our own code is measured around the same fills: in
// a row by itself it is faster than between a driver's calls.
#include "guest/levelzero/bench.h"

#include <errno.h>

#define MOST_NS 4000000 // that a measurement is to take

enum { COMMANDS = 32, BYTES = 64 };
// Without an event, with one, with one that has timestamps; the last two: NATIVE and STAMPED with
// our own code around.
enum trial { NATIVE, PLAIN, STAMPED, TRIALS, OURS_UNTIMED = TRIALS, OURS, ALL_TRIALS };
enum work { FILL, COPY, WORKS };

struct bench {
	const struct ze_calls *call;
	ze_command_list_handle_t list;
	ze_event_pool_handle_t pools[TRIALS];
	ze_event_handle_t events[TRIALS][COMMANDS];
	unsigned char *memory;
	struct ze_bench *ours; // NULL: our own code is not measured here
};

// Of each round the difference in ticks of COMMANDS, by enum tare_trace_driver_cost.
static int64_t found[TARE_DRIVER_COST_COUNT][GUEST_BENCH_ROUNDS];
static int64_t native[GUEST_BENCH_ROUNDS], own[2][GUEST_BENCH_ROUNDS]; // own: with times, without

static bool append(const struct bench *bench, enum work work, ze_event_handle_t event)
{
	static const unsigned char pattern;
	ze_result_t result =
	    work == FILL
	        ? bench->call->zeCommandListAppendMemoryFill(bench->list, bench->memory, &pattern,
	                                                     sizeof pattern, BYTES, event, 0, NULL)
	        : bench->call->zeCommandListAppendMemoryCopy(
	              bench->list, bench->memory, bench->memory + BYTES, BYTES, event, 0, NULL);
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

static ze_result_t append_without(void *context, uint32_t at)
{
	(void)at;
	return append(context, FILL, NULL) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

static ze_result_t append_stamped(void *context, uint32_t at)
{
	const struct bench *bench = context;
	return append(bench, FILL, bench->events[STAMPED][at]) ? ZE_RESULT_SUCCESS
	                                                       : ZE_RESULT_ERROR_UNKNOWN;
}

static bool try_ours(struct bench *bench, bool timed, uint64_t *ticks)
{
	bool well = true;
	ze_bench_rewind(bench->ours);
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		well &=
		    ze_bench_command(bench->ours, timed, timed ? append_stamped : append_without,
		                     bench, i) == ZE_RESULT_SUCCESS;
	*ticks = guest_ticks() - from;
	ze_bench_forget(bench->ours);
	return bench->call->zeCommandListReset(bench->list) == ZE_RESULT_SUCCESS && well;
}

static bool try_all(struct bench *bench, uint64_t ticks[WORKS][ALL_TRIALS])
{
	bool well = true;
	for (int i = 0; i < WORKS * TRIALS && well; i++)
		well = try_one(bench, (enum work)(i / TRIALS), (enum trial)(i % TRIALS),
		               &ticks[i / TRIALS][i % TRIALS]);
	return well &&
	       (bench->ours == NULL || (try_ours(bench, false, &ticks[FILL][OURS_UNTIMED]) &&
	                                try_ours(bench, true, &ticks[FILL][OURS])));
}

static uint32_t measure(struct bench *bench)
{
	uint64_t ticks[WORKS][ALL_TRIALS] = { 0 }, most = guest_ticks_of_ns(MOST_NS);
	uint32_t rounds = 0;
	// The first makes what the driver makes but once.
	if (most == 0 || !try_all(bench, ticks))
		return 0;
	uint64_t from = guest_ticks();
	while (guest_bench_goes_on(rounds, from, most) && try_all(bench, ticks)) {
		for (enum work work = FILL; work < WORKS; work++) {
			uint32_t at = work == FILL ? 0 : TARE_DRIVER_TRANSFER;
			found[at + TARE_DRIVER_EVENT][rounds] =
			    (int64_t)(ticks[work][STAMPED] - ticks[work][NATIVE]);
			found[at + TARE_DRIVER_PROFILED_EVENT][rounds] =
			    (int64_t)(ticks[work][STAMPED] - ticks[work][PLAIN]);
		}
		own[0][rounds] = (int64_t)(ticks[FILL][OURS] - ticks[FILL][STAMPED]);
		own[1][rounds] = (int64_t)(ticks[FILL][OURS_UNTIMED] - ticks[FILL][NATIVE]);
		native[rounds++] = (int64_t)ticks[FILL][NATIVE];
	}
	return rounds < GUEST_BENCH_LEAST_ROUNDS ? 0 : rounds;
}

// ---- what is told of it

static int64_t each_ps(int64_t ticks)
{
	return (int64_t)((double)ticks / COMMANDS * 1e9 / (double)guest_ticks_of_ns(1000000));
}

static struct guest_middle each_of(int64_t *ticks, uint32_t rounds)
{
	const struct guest_middle middle = guest_middle_of(ticks, rounds);
	return (struct guest_middle){ each_ps(middle.low), each_ps(middle.best),
		                      each_ps(middle.high) };
}

static void tell(uint32_t rounds, bool ours)
{
	struct tare_trace_header *header = guest_header;
	for (int i = 0; i < 2 && ours; i++)
		guest_bench_own(i, each_of(own[i], rounds));
	guest_tell_self_cost(header);
	for (int i = 0; i < TARE_DRIVER_COST_COUNT; i++) {
		const struct guest_middle middle = each_of(found[i], rounds);
		__atomic_store_n(&header->driver_ps[i], middle.best, __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_low_ps[i], middle.low, __ATOMIC_RELAXED);
		__atomic_store_n(&header->driver_high_ps[i], middle.high, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&header->driver_native_ps, each_of(native, rounds).best, __ATOMIC_RELAXED);
	__atomic_store_n(&header->driver_rounds, rounds, __ATOMIC_RELEASE);
}

// ---- what it is measured on

static bool make_events(struct bench *bench, const struct ze_list *like, enum trial trial)
{
	ze_event_pool_flags_t stamps = trial == STAMPED ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0;
	const ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | stamps,
		                            .count = COMMANDS };
	if (bench->call->zeEventPoolCreate(like->context, &desc, 0, NULL, &bench->pools[trial]) !=
	    ZE_RESULT_SUCCESS) {
		bench->pools[trial] = NULL;
		return false;
	}
	for (uint32_t i = 0; i < COMMANDS; i++) {
		const ze_event_desc_t event = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
			                        .index = i,
			                        .signal = ZE_EVENT_SCOPE_FLAG_HOST };
		if (bench->call->zeEventCreate(bench->pools[trial], &event,
		                               &bench->events[trial][i]) != ZE_RESULT_SUCCESS) {
			bench->events[trial][i] = NULL;
			return false;
		}
	}
	return true;
}

static bool make(struct bench *bench, const struct ze_list *like)
{
	const ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                              .commandQueueGroupOrdinal = like->ordinal };
	const ze_host_mem_alloc_desc_t host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *memory = NULL;
	if (bench->call->zeMemAllocHost(like->context, &host, 2 * BYTES, 64, &memory) !=
	    ZE_RESULT_SUCCESS)
		return false;
	bench->memory = memory;
	const struct ze_device *device = like->device;
	if (bench->call->zeCommandListCreate(like->context, device->handle, &desc, &bench->list) !=
	    ZE_RESULT_SUCCESS) {
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
	    guest_options.calibrated != TARE_TRACE_LEVELZERO || atomic_load(&begun) ||
	    !ze_bench_take())
		return;
	if (atomic_exchange(&begun, true)) {
		ze_bench_give();
		return;
	}
	int saved = errno;
	uint64_t from = guest_ticks();
	bench.call = &like->driver->call;
	bench.ours = ze_bench();
	if (bench.ours != NULL && bench.ours->list.own == NULL)
		bench.ours = NULL;
	if (bench.ours != NULL)
		guest_bench_room(&bench.ours->on, true);
	uint32_t rounds = make(&bench, like) ? measure(&bench) : 0;
	end(&bench, like);
	if (bench.ours != NULL)
		guest_bench_room(&bench.ours->on, false);
	ze_change(TARE_CHANGE_CALIBRATION, like->context, 0, 1);
	if (rounds != 0)
		tell(rounds, bench.ours != NULL);
	guest_options.calibration_ticks += guest_ticks() - from;
	__atomic_store_n(&guest_header->calibration_ticks, guest_options.calibration_ticks,
	                 __ATOMIC_RELAXED);
	ze_bench_give();
	errno = saved;
}
