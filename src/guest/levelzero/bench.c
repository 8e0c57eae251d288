// SPDX-License-Identifier: Apache-2.0
#include "guest/levelzero/bench.h"

static ze_result_t ZE_APICALL no_pool(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                                      uint32_t count, ze_device_handle_t *devices,
                                      ze_event_pool_handle_t *made)
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

static atomic_bool taken;

bool ze_bench_take(void)
{
	return !atomic_exchange(&taken, true);
}

void ze_bench_in_child(void)
{
	atomic_store(&taken, false);
}

void ze_bench_give(void)
{
	atomic_store(&taken, false);
}

struct ze_bench *ze_bench(void)
{
	static struct ze_bench *bench;
	uint32_t process = atomic_load(&guest_process);
	if (bench == NULL)
		bench = guest_memory(sizeof *bench);
	if (bench == NULL || guest_header == NULL || !atomic_load(&guest_active))
		return NULL;
	guest_bench_begin(&bench->on, TARE_TRACE_LEVELZERO, &bench->mine, bench->records,
	                  sizeof bench->records / sizeof *bench->records);
	bench->driver.call.zeEventPoolCreate = no_pool;
	bench->driver.call.zeEventCreate = no_event;
	bench->driver.call.zeEventHostReset = no_reset;
	bench->list.handle = (ze_command_list_handle_t)(uintptr_t)bench;
	bench->list.driver = &bench->driver;
	bench->list.own = ze_own_events_of(&bench->driver, (ze_context_handle_t)(uintptr_t)bench);
	bench->list.immediate = true;
	bench->list.ring = bench->ring;
	bench->list.mask = ZE_BENCH_RING - 1;
	atomic_store(&bench->list.told, true);
	atomic_store(&bench->list.process, process);
	atomic_store(&bench->list.state, ZE_LIST_USED);
	bench->kernel.handle = (ze_kernel_handle_t)(uintptr_t)&bench->kernel;
	bench->mine.list = &bench->list;
	bench->mine.kernel = &bench->kernel;
	// A shape that is in no trace.
	bench->mine.launched = (struct ze_launched){ .groups = { 1, 1, 1 }, .process = process };
	return bench;
}

void ze_bench_rewind(struct ze_bench *bench)
{
	enum { WANTED = 2 * ZE_BENCH_COMMANDS };
	guest_bench_rewind(&bench->on, WANTED);
}

ze_result_t ze_bench_command(struct ze_bench *bench, bool takes_event, ze_bench_vendor *vendor,
                             void *context, uint32_t at)
{
	static const ze_group_count_t one = { 1, 1, 1 };
	struct guest_thread *thread = &bench->on.thread;
	struct ze_command command;
	// As ze_enter, which would count a call of the program's.
	__asm__ volatile("" : : "r"(guest_thread_of(TARE_TRACE_LEVELZERO)));
	thread->depth++;
	ze_command_begin(thread, &command, ZE_zeCommandListAppendLaunchKernel, bench->list.handle,
	                 NULL, takes_event);
	ze_result_t result = vendor(context, at);
	ze_command_end(thread, &command, result,
	               &(struct ze_what){ .kind = TARE_KIND_KERNEL,
	                                  .kernel = bench->kernel.handle,
	                                  .groups = &one },
	               0, NULL);
	ze_leave(thread);
	return result;
}

void ze_bench_forget(struct ze_bench *bench)
{
	struct ze_list *list = &bench->list;
	uint32_t head = atomic_load(&list->head), tail = atomic_load(&list->tail);
	guest_count(&guest_header->pending, -(uint64_t)(head - tail));
	for (; tail != head; tail++)
		ze_own_give(list->own, list->ring[tail & list->mask].event);
	atomic_store(&list->tail, head);
}
