// SPDX-License-Identifier: Apache-2.0
// The entry by which the driver lets us in (CUDA_INJECTION64_PATH), within the program's first cuInit, and
// CUPTI's callback, which stands before and after each call of the driver.
#include "guest/cuda/cuda.h"
#include "guest/region.h"
#include "guest/stack.h"

#include <errno.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);

static cupti_subscriber subscriber;
// We were let in by another API's driver, which may use CUDA's (NVIDIA's OpenCL): device times are asked for when the
// program itself gives CUDA work.
static _Atomic bool deferred;
static struct cuda_thread *_Atomic all_threads;

// ---- threads

bool cuda_thread_make(struct guest_thread *thread)
{
	struct cuda_thread *mine = guest_memory(sizeof *mine);
	if (!mine)
		return false;
	mine->following = atomic_load(&all_threads);
	while (!atomic_compare_exchange_weak(&all_threads, &mine->following, mine))
		;
	// A signal handler may have been here before us.
	if (!cuda_of(thread))
		thread->api[TARE_TRACE_CUDA] = mine;
	return true;
}

uint64_t cuda_calls_seen(void)
{
	uint64_t sum = 0;
	for (struct cuda_thread *mine = atomic_load(&all_threads); mine; mine = mine->following)
		sum += atomic_load_explicit(&mine->calls, memory_order_relaxed);
	return sum;
}

static void in_child(void)
{
	for (struct cuda_thread *mine = atomic_load(&all_threads); mine; mine = mine->following)
		atomic_store(&mine->calls, 0);
	cuda_activity_in_child();
}

// ---- the callback

static __attribute__((noinline)) void begin_deferred(void)
{
	if (atomic_exchange(&deferred, false))
		cuda_timed = cuda_activity_begin();
}

static void call_begin(const struct cupti_call *told, const struct cuda_function *function, uint32_t number)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_CUDA);
	struct cuda_thread *mine;
	uint64_t enter;
	*told->data = 0;
	if (!thread || (CUDA_UNLIKELY(!cuda_of(thread)) && !cuda_thread_make(thread)))
		return;
	mine = cuda_of(thread);
	thread->depth++;
	atomic_store_explicit(&mine->calls, atomic_load_explicit(&mine->calls, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
	if (CUDA_UNLIKELY(atomic_load_explicit(&deferred, memory_order_relaxed)) && thread->depth == 1 && function->kind)
		begin_deferred();
	if (CUDA_UNLIKELY(function->form == CUDA_FREE || function->form == CUDA_STREAM_DESTROY ||
	                  function->form == CUDA_EVENT_DESTROY))
		cuda_before_free(told, function);
	enter = guest_ticks();
	if (CUDA_UNLIKELY(guest_cpu_time_is_due(thread, thread->left_ticks, enter))) {
		guest_cpu_time_slow(thread, enter);
		enter = guest_ticks();
	}
	if (function->waits)
		guest_waiting(thread, cuda_detail(number), enter);
	mine->enter = *told->data = enter;
}

static void call_end(const struct cupti_call *told, const struct cuda_function *function, uint32_t number,
                     bool of_thread)
{
	struct cuda_call call = { told, *told->data, number, *(const cu_result *)told->result, of_thread };
	struct guest_thread *thread = call.enter ? guest_thread_of(TARE_TRACE_CUDA) : NULL;
	if (!thread || !cuda_of(thread))
		return;
	if (function->kind)
		cuda_command_end(thread, &call);
	else
		cuda_call_end(thread, &call);
	cuda_of(thread)->enter = 0;
	// In the child of a fork from within a call it has begun anew.
	thread->depth -= thread->depth != 0;
}

static void callback(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	const struct cupti_call *told = data;
	uint32_t known = id < CUDA_MOST_CALLBACKS ? cuda_by_callback[id] : 0;
	uint32_t number = (known & ~(uint32_t)CUDA_OF_THREAD) - 1;
	int error = errno;
	(void)context;
	if (domain != ABI_CUPTI_DOMAIN_DRIVER || !known || !told->data)
		return;
	if (told->site == ABI_CUPTI_SITE_ENTER)
		call_begin(told, &cuda_functions[number], number);
	else if (told->site == ABI_CUPTI_SITE_EXIT)
		call_end(told, &cuda_functions[number], number, known & CUDA_OF_THREAD);
	errno = error;
}

// ---- the entry

static void enable_callbacks(void)
{
	for (uint32_t id = 1; id < CUDA_MOST_CALLBACKS; id++)
		if (cuda_by_callback[id])
			cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_DRIVER, id);
}

// Recording begins, or nothing of the program's is looked at.
static void begin(const void *caller)
{
	static const struct guest_api cuda = { .api = TARE_TRACE_CUDA, .harvest = cuda_harvest,
		.calls = cuda_calls_seen, .in_child = in_child };
	bool nested = guest_this && guest_this->depth;
	bool timed;
	if (!cuda_libraries_open(caller) || !cuda_functions_find() || !cuda_objects_begin() || !cuda_pending_begin() ||
	    !cuda_nodes_begin())
		return;
	// Until driver 610 a process has one subscriber. Another one keeps it.
	if (cuda_cupti.cuptiSubscribe(&subscriber, callback, NULL) != ABI_CUPTI_SUCCESS)
		return;
	guest_regions_begin();
	if (!guest_begin(&cuda)) {
		cuda_cupti.cuptiUnsubscribe(subscriber);
		return;
	}
	cuda_objects_now();
	guest_stacks_begin((const void *)begin);
	timed = !guest_options.strict && !guest_options.count_only;
	atomic_store(&deferred, timed && nested);
	cuda_timed = timed && !nested && cuda_activity_begin();
	enable_callbacks();
	// Runs before what the core has registered: CUPTI is asked for the rest while it may be.
	atexit(cuda_flush_at_exit);
}

int InitializeInjection(void)
{
	static _Atomic bool entered;
	int error = errno;
	if (!atomic_exchange(&entered, true)) {
		const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
		cuda_launches_wait = blocking && strtol(blocking, NULL, 10) != 0;
		begin(__builtin_return_address(0));
	}
	errno = error;
	return 1;
}
