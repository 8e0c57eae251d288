// SPDX-License-Identifier: Apache-2.0
// What the recorder itself costs, measured when it begins: the wrappers' two halves around functions that do
// nothing, on records that are thrown away. What the driver takes is not in it (driver_cost.c), nor what a cold
// cache costs.
#include "guest/levelzero/ze.h"

enum { ROUNDS = 41, COMMANDS = 64, RECORDS = 4 * COMMANDS, RING = 128 };

// All that the wrappers need, and nobody else sees.
struct bench {
	struct guest_thread thread;
	struct ze_thread mine;
	struct ze_driver driver;
	struct ze_list list;
	struct ze_kernel kernel;
	struct tare_trace_window window;
	struct ze_pending ring[RING];
	union tare_trace_record records[RECORDS];
};

static ze_result_t ZE_APICALL no_pool(ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t count,
                                      ze_device_handle_t *devices, ze_event_pool_handle_t *made)
{
	(void)context, (void)desc, (void)count, (void)devices;
	*made = (ze_event_pool_handle_t)(uintptr_t)64;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL no_event(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                       ze_event_handle_t *made)
{
	(void)pool;
	*made = (ze_event_handle_t)(uintptr_t)(64 * (desc->index + 1));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL no_reset(ze_event_handle_t event)
{
	(void)event;
	return ZE_RESULT_SUCCESS;
}

static __attribute__((noinline)) ze_result_t no_command(ze_event_handle_t event)
{
	__asm__ volatile("" : : "r"(event) : "memory");
	return ZE_RESULT_SUCCESS;
}

static void rewind_bench(struct bench *bench)
{
	bench->thread.next = bench->records + 1;
	bench->thread.cpu_read_ticks = bench->thread.left_ticks = guest_ticks();
}

static void one_command(struct bench *bench, bool takes_event)
{
	static const ze_group_count_t one = {1, 1, 1};
	struct guest_thread *thread = &bench->thread;
	struct ze_command command;
	// As ze_enter, which would count a call of the program's.
	__asm__ volatile("" : : "r"(guest_thread_of(TARE_TRACE_LEVELZERO)));
	thread->depth++;
	ze_command_begin(thread, &command, ZE_zeCommandListAppendLaunchKernel, bench->list.handle, NULL, takes_event);
	ze_result_t result = no_command(command.event);
	ze_command_end(thread, &command, result,
	               &(struct ze_what){.kind = TARE_KIND_KERNEL, .kernel = bench->kernel.handle, .groups = &one}, 0,
	               NULL);
	ze_leave(thread);
}

// What harvesting takes is measured while the program runs (harvest_ticks).
static void forget(struct bench *bench)
{
	struct ze_list *list = &bench->list;
	uint32_t head = atomic_load(&list->head), tail = atomic_load(&list->tail);
	guest_count(&guest_header->pending, -(uint64_t)(head - tail));
	for (; tail != head; tail++)
		ze_own_give(list->own, list->ring[tail & list->mask].event);
	atomic_store(&list->tail, head);
}

static uint64_t time_commands(struct bench *bench, bool timed)
{
	rewind_bench(bench);
	uint64_t from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++)
		one_command(bench, timed);
	uint64_t ticks = guest_ticks() - from;
	forget(bench);
	return ticks;
}

static uint64_t time_timed(struct bench *bench)
{
	return time_commands(bench, true);
}

static uint64_t time_untimed(struct bench *bench)
{
	return time_commands(bench, false);
}

static uint64_t time_calls(struct bench *bench)
{
	rewind_bench(bench);
	uint64_t from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++) {
		uint64_t enter = ze_call_begin(&bench->thread, ZE_zeMemFree, false);
		ze_result_t result = no_command(NULL);
		ze_call_end(&bench->thread, ZE_zeMemFree, enter, false, &(struct ze_said){.status = result});
	}
	return guest_ticks() - from;
}

// From where the program makes its first call: as deep as others of its calls, more or less.
static uint64_t time_stacks(struct bench *bench)
{
	rewind_bench(bench);
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack_seen() + 1);
	return guest_ticks() - from;
}

// The same when it is the stack of the call before.
static uint64_t time_stacks_again(struct bench *bench)
{
	rewind_bench(bench);
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack());
	return guest_ticks() - from;
}

// Picoseconds of one of COMMANDS, by the median of the rounds; 0: not known.
static int64_t median_ps(struct bench *bench, uint64_t (*time)(struct bench *))
{
	uint64_t sorted[ROUNDS], ticks_of_ms = guest_ticks_of_ns(1000000);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t ticks = time(bench);
		int at = round;
		for (; at > 0 && sorted[at - 1] > ticks; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = ticks;
	}
	return ticks_of_ms == 0 ? 0 : (int64_t)((double)sorted[ROUNDS / 2] / (double)COMMANDS * 1e9 /
	                                        (double)ticks_of_ms);
}

static void prepare(struct bench *bench)
{
	uint32_t process = atomic_load(&guest_process);
	bench->thread.process = process;
	bench->thread.api[TARE_TRACE_LEVELZERO] = &bench->mine;
	bench->thread.window = &bench->window;
	bench->thread.end = bench->records + RECORDS;
	bench->thread.depth = 1;
	bench->records[0].head = 1;
	bench->driver.call.zeEventPoolCreate = no_pool;
	bench->driver.call.zeEventCreate = no_event;
	bench->driver.call.zeEventHostReset = no_reset;
	bench->list.handle = (ze_command_list_handle_t)(uintptr_t)bench;
	bench->list.driver = &bench->driver;
	bench->list.own = ze_own_events_of(&bench->driver, (ze_context_handle_t)(uintptr_t)bench);
	bench->list.immediate = true;
	bench->list.ring = bench->ring;
	bench->list.mask = RING - 1;
	atomic_store(&bench->list.told, true);
	atomic_store(&bench->list.process, process);
	atomic_store(&bench->list.state, ZE_LIST_USED);
	bench->kernel.handle = (ze_kernel_handle_t)(uintptr_t)&bench->kernel;
	bench->mine.list = &bench->list;
	bench->mine.kernel = &bench->kernel;
	// A shape that is in no trace.
	bench->mine.launched = (struct ze_launched){.groups = {1, 1, 1}, .process = process};
}

void ze_calibrate(void)
{
	// The header has one set of costs.
	if (guest_header == NULL || !atomic_load(&guest_active) ||
	    guest_header->apis != UINT64_C(1) << TARE_TRACE_LEVELZERO)
		return;
	struct bench *bench = guest_memory(sizeof *bench);
	if (bench == NULL)
		return;
	uint64_t from = guest_ticks();
	bool stacks = guest_stacks;
	prepare(bench);
	guest_stacks = false;
	int64_t untimed_ps = median_ps(bench, time_untimed);
	int64_t timed_ps = bench->list.own != NULL && ze_may_change() ? median_ps(bench, time_timed) : untimed_ps;
	int64_t call_ps = median_ps(bench, time_calls), stack_ps = stacks ? median_ps(bench, time_stacks) : 0;
	if (stacks)
		guest_stacks_cost(stack_ps, median_ps(bench, time_stacks_again));
	guest_stacks = stacks;
	// For the children of a fork, too.
	guest_options.calibrated = TARE_TRACE_LEVELZERO;
	guest_options.calibration_ticks = guest_ticks() - from;
	guest_options.self_cost_ps = timed_ps;
	guest_options.self_untimed_cost_ps = untimed_ps;
	guest_options.self_call_cost_ps = call_ps;
	guest_options.self_stack_cost_ps = stack_ps;
	__atomic_store_n(&guest_header->self_cost_ps, timed_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->self_untimed_cost_ps, untimed_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->self_call_cost_ps, call_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->self_stack_cost_ps, stack_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->calibration_ticks, guest_options.calibration_ticks, __ATOMIC_RELAXED);
}
