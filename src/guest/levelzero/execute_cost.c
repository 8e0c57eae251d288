// SPDX-License-Identifier: Apache-2.0
// What it takes to execute a list with one of ours behind it, measured before the program's first
// such execution, on a queue of our own in its context, with lists of our own that hold nothing but
// barriers. The device does these, some thousand: a change. Executed are, by turns: a list as the
// program would have it; one with events and a ready list of ours behind it; the same by our
// wrapper, on a thread and records that nobody else sees. Of one command and of several, for what
// is read is more then. Timed is the call alone; the wait for the device has a limit. Whatever
// fails, or takes too long, means that nothing is known.
#include "guest/levelzero/bench.h"

#include <errno.h>

#define MOST_NS 6000000  // that a measurement is to take
#define WAIT_NS 20000000 // for the device, each time

// Of those at once the first is not timed: it may have to wake threads of the driver's.
enum { AT_ONCE = 7, TIMED = AT_ONCE - 1, FEW = 1, SEVERAL = 9 };
enum size { ONE, MANY, SIZES };
enum trial { NATIVE, QUERIED, OURS, TRIALS };

struct bench {
	const struct ze_calls *call;
	ze_context_handle_t context;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t plain[SIZES];
	struct ze_list lists[SIZES]; // with events
	uint64_t executions;
	struct ze_bench *ours;
	bool stuck; // the device has not come back: nothing of it may be destroyed
};

static const uint32_t counts[SIZES] = { FEW, SEVERAL };
static int64_t found[TARE_EXECUTE_COST_COUNT][GUEST_BENCH_ROUNDS];

static bool finish(struct bench *bench)
{
	bench->stuck =
	    bench->call->zeCommandQueueSynchronize(bench->queue, WAIT_NS) != ZE_RESULT_SUCCESS;
	return !bench->stuck;
}

static bool execute(const struct bench *bench, uint32_t count, ze_command_list_handle_t *lists)
{
	return bench->call->zeCommandQueueExecuteCommandLists(bench->queue, count, lists, NULL) ==
	       ZE_RESULT_SUCCESS;
}

static bool try_native(struct bench *bench, enum size size, uint64_t *ticks)
{
	bool well = execute(bench, 1, &bench->plain[size]);
	uint64_t from = guest_ticks();
	for (int i = 0; i < TIMED; i++)
		well &= execute(bench, 1, &bench->plain[size]);
	*ticks = guest_ticks() - from;
	return finish(bench) && well;
}

static void settle(struct bench *bench, struct ze_list *list)
{
	ze_contents_harvest(&bench->ours->on.thread, list);
}

static bool try_queried(struct bench *bench, enum size size, uint64_t *ticks)
{
	struct ze_list *list = &bench->lists[size];
	ze_command_list_handle_t lists[AT_ONCE][2];
	struct ze_query *query = NULL;
	for (int i = 0; i < AT_ONCE; i++) {
		query = ze_query_take(list, ++bench->executions);
		if (query == NULL)
			return false;
		lists[i][0] = list->handle;
		lists[i][1] = query->list;
	}
	bool well = execute(bench, 2, lists[0]);
	uint64_t from = guest_ticks();
	for (int i = 1; i < AT_ONCE; i++)
		well &= execute(bench, 2, lists[i]);
	*ticks = guest_ticks() - from;
	well = finish(bench) && well;
	guest_bench_rewind(&bench->ours->on, AT_ONCE);
	if (!bench->stuck)
		settle(bench, list);
	return well;
}

static bool execute_ours(struct bench *bench, struct ze_list *list)
{
	return ze_own_zeCommandQueueExecuteCommandLists(&bench->ours->on.thread, list->driver,
	                                                bench->queue, 1, &list->handle,
	                                                NULL) == ZE_RESULT_SUCCESS;
}

static bool try_ours(struct bench *bench, enum size size, uint64_t *ticks)
{
	struct ze_list *list = &bench->lists[size];
	guest_bench_rewind(&bench->ours->on, AT_ONCE * 4);
	list->executions = bench->executions;
	bench->ours->mine.list = list;
	bool well = execute_ours(bench, list);
	uint64_t from = guest_ticks();
	for (int i = 0; i < TIMED; i++)
		well &= execute_ours(bench, list);
	*ticks = guest_ticks() - from;
	bench->executions = list->executions;
	well = finish(bench) && well;
	if (!bench->stuck)
		settle(bench, list);
	return well;
}

static bool try_all(struct bench *bench, uint64_t ticks[SIZES][TRIALS])
{
	for (enum size size = ONE; size < SIZES; size++)
		if (!try_native(bench, size, &ticks[size][NATIVE]) ||
		    !try_queried(bench, size, &ticks[size][QUERIED]))
			return false;
	return try_ours(bench, ONE, &ticks[ONE][OURS]);
}

static uint32_t measure(struct bench *bench)
{
	uint64_t ticks[SIZES][TRIALS], most = guest_ticks_of_ns(MOST_NS);
	uint32_t rounds = 0;
	// The first makes the lists of ours.
	if (most == 0 || !try_all(bench, ticks))
		return 0;
	uint64_t from = guest_ticks();
	while (guest_bench_goes_on(rounds, from, most) && try_all(bench, ticks)) {
		int64_t few = (int64_t)(ticks[ONE][QUERIED] - ticks[ONE][NATIVE]);
		int64_t several = (int64_t)(ticks[MANY][QUERIED] - ticks[MANY][NATIVE]);
		int64_t node = (several - few) / (SEVERAL - FEW);
		found[TARE_EXECUTE_OWN][rounds] = (int64_t)(ticks[ONE][OURS] - ticks[ONE][QUERIED]);
		found[TARE_EXECUTE_NODE][rounds] = node;
		found[TARE_EXECUTE_LIST][rounds++] = few - FEW * node;
	}
	return rounds < GUEST_BENCH_LEAST_ROUNDS ? 0 : rounds;
}

static int64_t each_ps(int64_t ticks)
{
	return (int64_t)((double)ticks / TIMED * 1e9 / (double)guest_ticks_of_ns(1000000));
}

// Our own code takes something: where it seems to take nothing, noise was measured, and nothing is
// known. What the driver takes more may be nothing.
static void tell(uint32_t rounds)
{
	struct tare_trace_header *header = guest_header;
	for (int i = 0; i < TARE_EXECUTE_COST_COUNT; i++) {
		const struct guest_middle middle = guest_middle_of(found[i], rounds);
		if (i == TARE_EXECUTE_OWN && middle.best <= 0)
			return;
		__atomic_store_n(&header->execute_ps[i], each_ps(middle.best), __ATOMIC_RELAXED);
		__atomic_store_n(&header->execute_low_ps[i], each_ps(middle.low), __ATOMIC_RELAXED);
		__atomic_store_n(&header->execute_high_ps[i], each_ps(middle.high),
		                 __ATOMIC_RELAXED);
	}
	__atomic_store_n(&header->execute_rounds, rounds, __ATOMIC_RELEASE);
}

// ---- what it is measured on

static ze_command_list_handle_t make_list(const struct bench *bench, const struct ze_list *like)
{
	const ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                              .commandQueueGroupOrdinal = like->ordinal };
	const struct ze_device *device = like->device;
	ze_command_list_handle_t list = NULL;
	return bench->call->zeCommandListCreate(bench->context, device->handle, &desc, &list) ==
	               ZE_RESULT_SUCCESS
	           ? list
	           : NULL;
}

// A list of barriers, with events of ours or without.
static bool fill(const struct bench *bench, ze_command_list_handle_t handle, struct ze_list *list,
                 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		ze_event_handle_t event = list != NULL ? ze_own_take(list->own) : NULL;
		if (list != NULL && event == NULL)
			return false;
		if (list != NULL)
			ze_node_add(&bench->ours->on.thread, list, event, NULL, 0);
		if (bench->call->zeCommandListAppendBarrier(handle, event, 0, NULL) !=
		    ZE_RESULT_SUCCESS)
			return false;
	}
	return bench->call->zeCommandListClose(handle) == ZE_RESULT_SUCCESS;
}

static bool make_lists(struct bench *bench, const struct ze_list *like, enum size size)
{
	struct ze_list *list = &bench->lists[size];
	bench->plain[size] = make_list(bench, like);
	list->handle = make_list(bench, like);
	list->driver = like->driver;
	list->context = bench->context;
	list->device = like->device;
	list->ordinal = like->ordinal;
	list->own = ze_own_events_of(like->driver, bench->context);
	list->told_queries = list->ours = true;
	atomic_store(&list->process, atomic_load(&guest_process));
	atomic_store(&list->state, ZE_LIST_USED);
	return bench->plain[size] != NULL && list->handle != NULL && list->own != NULL &&
	       ze_content_new(list) != NULL &&
	       fill(bench, bench->plain[size], NULL, counts[size]) &&
	       fill(bench, list->handle, list, counts[size]);
}

static bool make(struct bench *bench, const struct ze_list *like)
{
	const ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                               .ordinal = like->ordinal,
		                               .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	const struct ze_device *device = like->device;
	if (bench->call->zeCommandQueueCreate(bench->context, device->handle, &desc,
	                                      &bench->queue) != ZE_RESULT_SUCCESS) {
		bench->queue = NULL;
		return false;
	}
	return make_lists(bench, like, ONE) && make_lists(bench, like, MANY);
}

// What was to be run and was not, or not yet, is nothing that the program waits for.
static void forget(struct ze_list *list)
{
	struct ze_content *content = list->content;
	while (content != NULL && content->oldest != NULL)
		ze_query_return(list, content, content->oldest);
}

// What the device may still be at stays.
static void end(struct bench *bench)
{
	for (enum size size = ONE; size < SIZES; size++) {
		struct ze_list *list = &bench->lists[size];
		forget(list);
		if (bench->stuck)
			continue;
		if (bench->plain[size] != NULL)
			bench->call->zeCommandListDestroy(bench->plain[size]);
		if (list->handle != NULL)
			bench->call->zeCommandListDestroy(list->handle);
		ze_content_drop(list);
		settle(bench, list);
	}
	if (bench->queue != NULL && !bench->stuck)
		bench->call->zeCommandQueueDestroy(bench->queue);
}

// A driver may lack what the program does not need: one that only knows immediate lists has no
// queues.
static bool can_measure(const struct ze_calls *call)
{
	return call->zeCommandQueueCreate != NULL && call->zeCommandQueueDestroy != NULL &&
	       call->zeCommandQueueExecuteCommandLists != NULL &&
	       call->zeCommandQueueSynchronize != NULL && call->zeCommandListCreate != NULL &&
	       call->zeCommandListDestroy != NULL && call->zeCommandListClose != NULL &&
	       call->zeCommandListAppendBarrier != NULL;
}

void ze_execute_cost_first(const struct guest_thread *thread, const struct ze_list *like)
{
	static struct bench bench; // the program's stack may be a small one
	static _Atomic bool begun;
	if (ZE_LIKELY(atomic_load_explicit(&begun, memory_order_relaxed)) || thread->depth != 1 ||
	    like->device == NULL || like->copies ||
	    guest_options.calibrated != TARE_TRACE_LEVELZERO || !can_measure(&like->driver->call) ||
	    !ze_bench_take())
		return;
	int saved = errno;
	bench.ours = atomic_exchange(&begun, true) ? NULL : ze_bench();
	if (bench.ours == NULL) {
		ze_bench_give();
		errno = saved;
		return;
	}
	uint64_t from = guest_ticks();
	bench.call = &like->driver->call;
	bench.context = like->context;
	guest_bench_room(&bench.ours->on, true);
	uint32_t rounds = make(&bench, like) ? measure(&bench) : 0;
	end(&bench);
	guest_bench_room(&bench.ours->on, false);
	ze_change(TARE_CHANGE_CALIBRATION, like->context, 0, 1);
	if (rounds != 0)
		tell(rounds);
	guest_options.calibration_ticks += guest_ticks() - from;
	__atomic_store_n(&guest_header->calibration_ticks, guest_options.calibration_ticks,
	                 __ATOMIC_RELAXED);
	ze_bench_give();
	errno = saved;
}
