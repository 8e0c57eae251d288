// SPDX-License-Identifier: Apache-2.0
// The entry by which the driver lets us in (CUDA_INJECTION64_PATH), within the program's first
// cuInit, and CUPTI's callback, which stands before and after each call of the driver.
#include "guest/cuda/counters/counters.h"
#include "guest/cuda/cuda.h"
#include "guest/region.h"
#include "guest/stack/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);

static cupti_subscriber subscriber;
// We were let in by another API's driver, which may use CUDA's (NVIDIA's OpenCL): device times are
// asked for when the program itself gives CUDA work.
static _Atomic bool deferred;

// ---- threads

uint32_t cuda_track_of(uint32_t self)
{
	struct cuda_thread *mine;
	GUEST_API_THREADS(mine, TARE_TRACE_CUDA)
	{
		uint64_t who = atomic_load_explicit(&mine->who, memory_order_relaxed);
		if (who >> 32 == self)
			return (uint32_t)who;
	}
	return 0;
}

static void in_child(void)
{
	struct cuda_thread *mine;
	GUEST_API_THREADS(mine, TARE_TRACE_CUDA)
	{
		atomic_store(&mine->who, 0);
		mine->outer.name = 0;
		mine->open_count = 0;
	}
	cuda_activity_in_child();
	cuda_links_in_child();
	counters_in_child();
}

// ---- the callback

static __attribute__((noinline)) void begin_deferred(void)
{
	if (atomic_exchange(&deferred, false))
		cuda_timed = cuda_activity_begin();
}

// This thread, when its calls are recorded.
static struct guest_thread *thread_of_call(void)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_CUDA);
	if (!thread || (CUDA_UNLIKELY(!cuda_of(thread)) && !cuda_thread_make(thread)))
		return NULL;
	return thread;
}

static uint64_t enter_ticks(struct guest_thread *thread)
{
	uint64_t enter = guest_ticks();
	if (CUDA_LIKELY(!guest_cpu_time_is_due(thread, thread->left_ticks, enter)))
		return enter;
	guest_cpu_time_slow(thread, enter);
	return guest_ticks();
}

// Of more calls within calls than there are places the outermost is forgotten.
static void open_call(struct cuda_thread *mine, struct cuda_open opened)
{
	if (CUDA_UNLIKELY(mine->open_count == CUDA_MOST_OPEN)) {
		mine->open_count--;
		memmove(mine->open, mine->open + 1, sizeof *mine->open * (CUDA_MOST_OPEN - 1));
	}
	mine->open[mine->open_count++] = opened;
}

// With enter 0: it is not recorded.
static struct cuda_open close_call(struct cuda_thread *mine, uint32_t correlation)
{
	for (uint32_t i = mine->open_count; i-- > 0;)
		if (mine->open[i].correlation == correlation) {
			mine->open_count = i;
			return mine->open[i];
		}
	return (struct cuda_open){ 0 };
}

static __attribute__((always_inline)) inline void call_begin(struct guest_thread *thread,
                                                             const struct cupti_call *told,
                                                             const struct cuda_function *function,
                                                             uint32_t number)
{
	struct cuda_thread *mine = cuda_of(thread);
	uint64_t enter;
	bool ends_outer;
	// The recorder asks, and the runtime for itself: that is no call of the program's.
	if (function->form == CUDA_ASKED && (thread->depth != 0 || mine->outer.name))
		return;
	thread->depth++;
	guest_count_call(&mine->shared);
	atomic_store_explicit(&mine->who, (uint64_t)pthread_self() << 32 | thread->track,
	                      memory_order_relaxed);
	if (CUDA_UNLIKELY(atomic_load_explicit(&deferred, memory_order_relaxed)) &&
	    thread->depth == 1 && function->kind)
		begin_deferred();
	if (CUDA_UNLIKELY(function->form == CUDA_FREE || function->form == CUDA_STREAM_DESTROY ||
	                  function->form == CUDA_EVENT_DESTROY))
		cuda_before_free(told, function);
	// Not by the helper: the child of a fork that comes meanwhile would find the loader's lock
	// taken.
	if (CUDA_UNLIKELY(function->role == TARE_ROLE_BUILD || function->role == TARE_ROLE_CREATE))
		cuda_share_look();
	ends_outer = mine->outer.name && !mine->outer.ended && thread->depth == 1 &&
	             cuda_runtime_ends_in(mine->outer.name - CUDA_MOST_FUNCTIONS, number);
	if (ends_outer)
		mine->outer.ended = true;
	enter = ends_outer ? mine->outer.enter : enter_ticks(thread);
	if (function->waits)
		guest_waiting(thread, cuda_detail(ends_outer ? mine->outer.name : number), enter);
	mine->shared.defining_ticks = enter;
	mine->launches = function->kind == TARE_KIND_KERNEL || function->kind == TARE_KIND_GRAPH;
	open_call(mine, (struct cuda_open){ told->correlation, ends_outer, enter });
}

static __attribute__((always_inline)) inline void call_end(struct guest_thread *thread,
                                                           const struct cupti_call *told,
                                                           const struct cuda_function *function,
                                                           uint32_t number, bool of_thread)
{
	struct cuda_call call = { .told = told,
		                  .function = number,
		                  .name = number,
		                  .result = *(const cu_result *)told->result,
		                  .of_thread = of_thread };
	struct cuda_open opened = close_call(cuda_of(thread), told->correlation);
	struct cuda_outer *outer;
	if (!opened.enter)
		return;
	call.enter = opened.enter;
	outer = &cuda_of(thread)->outer;
	if (outer->name && opened.ends_outer)
		call.name = outer->name;
	call.nested = thread->depth > 1 || (outer->name && !outer->ended);
	if (function->kind)
		cuda_command_end(thread, &call);
	else
		cuda_call_end(thread, &call);
	cuda_of(thread)->shared.defining_ticks = 0;
	// In the child of a fork from within a call it has begun anew.
	thread->depth -= thread->depth != 0;
}

// A call of the runtime's within one of the runtime's is a part of that.
static void runtime_begin(struct guest_thread *thread, const struct cupti_call *told, uint32_t name)
{
	struct cuda_outer *outer = &cuda_of(thread)->outer;
	if (outer->name)
		return;
	outer->enter = enter_ticks(thread);
	outer->ended = false;
	outer->correlation = told->correlation;
	outer->name = name;
}

static void runtime_end(struct guest_thread *thread, const struct cupti_call *told)
{
	struct cuda_outer *outer = &cuda_of(thread)->outer;
	struct cuda_call call = { .told = told, .result = *(const cu_result *)told->result };
	// In the child of a fork from within it nothing is under way.
	if (!outer->name || outer->correlation != told->correlation)
		return;
	call.enter = outer->enter;
	call.name = outer->name;
	call.nested = thread->depth > 0;
	outer->name = 0;
	if (CUDA_UNLIKELY(!outer->ended))
		cuda_runtime_call_end(thread, &call);
}

// The same, where it is in a recorded call.
static struct guest_thread *thread_within(void)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_CUDA);
	return thread && cuda_of(thread) ? thread : NULL;
}

// The same with counters around launches.
static __attribute__((noinline)) void counted_call(struct guest_thread *thread,
                                                   const struct cupti_call *told, uint32_t known,
                                                   uint32_t number)
{
	const struct cuda_function *function = &cuda_functions[number];
	uint32_t before = thread->command_number;
	if (told->site == ABI_CUPTI_SITE_ENTER) {
		call_begin(thread, told, function, number);
		counters_launch_begins(thread, told, function);
		return;
	}
	counters_launch_ends(told, function);
	call_end(thread, told, function, number, known & CUDA_OF_THREAD);
	counters_launch_written(thread, told,
	                        thread->command_number != before ? thread->command_number : 0);
}

void cuda_record_call(const struct cupti_call *told, uint32_t known)
{
	bool enters = told->site == ABI_CUPTI_SITE_ENTER, exits = told->site == ABI_CUPTI_SITE_EXIT;
	uint32_t number = (known & ~(uint32_t)CUDA_OF_THREAD) - 1;
	struct guest_thread *thread = !known   ? NULL
	                              : enters ? thread_of_call()
	                              : exits  ? thread_within()
	                                       : NULL;
	if (!thread)
		return;
	if (CUDA_UNLIKELY(counters_wanted))
		counted_call(thread, told, known, number);
	else if (enters)
		call_begin(thread, told, &cuda_functions[number], number);
	else
		call_end(thread, told, &cuda_functions[number], number, known & CUDA_OF_THREAD);
}

static void record_runtime(const struct cupti_call *told, uint32_t runtime)
{
	bool enters = told->site == ABI_CUPTI_SITE_ENTER, exits = told->site == ABI_CUPTI_SITE_EXIT;
	struct guest_thread *thread = !runtime ? NULL
	                              : enters ? thread_of_call()
	                              : exits  ? thread_within()
	                                       : NULL;
	if (!thread)
		return;
	if (enters)
		runtime_begin(thread, told, CUDA_MOST_FUNCTIONS + runtime - 1);
	else
		runtime_end(thread, told);
}

static void record_loaded(void)
{
	struct guest_thread *thread = thread_within();
	if (thread)
		cuda_module_loaded(thread);
}

static void record_callback(cupti_domain domain, uint32_t id, const struct cupti_call *told)
{
	if (id >= CUDA_MOST_CALLBACKS)
		return;
	if (domain == ABI_CUPTI_DOMAIN_RUNTIME)
		record_runtime(told, cuda_runtime_by_callback[id]);
	else
		cuda_record_call(told, cuda_by_callback[id]);
}

void cuda_bench_call(struct guest_thread *thread, const struct cupti_call *told, uint32_t number,
                     bool exit)
{
	if (exit)
		call_end(thread, told, &cuda_functions[number], number, false);
	else
		call_begin(thread, told, &cuda_functions[number], number);
}

// What the program does in its own callbacks is not within its call.
static void callback(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	bool of_call = domain == ABI_CUPTI_DOMAIN_DRIVER || domain == ABI_CUPTI_DOMAIN_RUNTIME;
	bool exits = of_call && ((const struct cupti_call *)data)->site == ABI_CUPTI_SITE_EXIT;
	int error = errno;
	(void)context;
	if (!exits)
		cuda_share_callback(domain, id, data);
	if (CUDA_UNLIKELY(counters_wanted) && domain == ABI_CUPTI_DOMAIN_RESOURCE &&
	    id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		counters_context_ends(((const struct cupti_resource *)data)->context);
	if (of_call)
		record_callback(domain, id, data);
	else if (domain == ABI_CUPTI_DOMAIN_RESOURCE && id == ABI_CUPTI_RESOURCE_MODULE_LOADED)
		record_loaded();
	if (exits)
		cuda_share_callback(domain, id, data);
	errno = error;
}

// ---- the entry

static void enable_callbacks(void)
{
	cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
	                               ABI_CUPTI_RESOURCE_MODULE_LOADED);
	for (uint32_t id = 1; id < CUDA_MOST_CALLBACKS; id++) {
		if (cuda_by_callback[id])
			cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_DRIVER, id);
		if (cuda_runtime_by_callback[id])
			cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_RUNTIME, id);
	}
}

static const struct guest_api cuda = { .api = TARE_TRACE_CUDA,
	                               .harvest = cuda_harvest,
	                               .in_child = in_child };

static void begun(void)
{
	cuda_objects_now();
	guest_stacks_begin((const void *)begun);
}

// False: there is no CUPTI, which `why` tells more of, or nothing is to be recorded.
static bool begin_with_cupti(enum tare_trace_front *why)
{
	bool nested = guest_this && guest_this->depth;
	bool timed;
	*why = TARE_FRONT_NO_CUPTI;
	if (!cuda_cupti_open() || !cuda_functions_find() || !cuda_pending_begin() ||
	    !cuda_nodes_begin())
		return false;
	// Until driver 610 a process has one subscriber. Another one keeps it.
	*why = TARE_FRONT_CUPTI_TAKEN;
	if (cuda_cupti.cuptiSubscribe(&subscriber, callback, NULL) != ABI_CUPTI_SUCCESS)
		return false;
	cuda_runtime_find();
	if (!guest_begin(&cuda)) {
		cuda_cupti.cuptiUnsubscribe(subscriber);
		return false;
	}
	begun();
	cuda_share_begin(subscriber);
	timed = !guest_options.strict && !guest_options.count_only;
	atomic_store(&deferred, timed && nested);
	cuda_timed = timed && !nested && cuda_activity_begin();
	cuda_calibrate();
	counters_begin(subscriber);
	enable_callbacks();
	// Runs before what the core has registered: CUPTI is asked for the rest while it may be.
	atexit(cuda_links_at_exit);
	atexit(cuda_flush_at_exit);
	return true;
}

// Recording begins, or nothing of the program's is looked at.
static void begin(const void *caller)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	enum tare_trace_front why = TARE_FRONT_NOT_WANTED;
	cuda_launches_wait = blocking && strtol(blocking, NULL, 10) != 0;
	cuda_variables_begin();
	cuda_driver_open(caller);
	if (!cuda_objects_begin())
		return;
	guest_regions_begin();
	if ((cuda_cupti_is_wanted() && begin_with_cupti(&why)) || !cuda_front_find() ||
	    !guest_begin(&cuda))
		return;
	begun();
	atexit(cuda_links_at_exit);
	cuda_front_listen(why);
}

int InitializeInjection(void)
{
	return cuda_let_in(__builtin_return_address(0), begin);
}
