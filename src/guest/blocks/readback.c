// SPDX-License-Identifier: Apache-2.0
// When counters of devices are read. What is read is added to the file as a difference to what was
// read before: several devices and contexts add to one kernel's counters.
#include "guest/blocks/readback.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHORT_NS = 1000000, STEP_NS = 20000 };

static struct blocks_far *_Atomic all;
static _Atomic uint64_t number; // of launches of all kernels
static _Atomic uint64_t end_ns; // of reading at the end of the process

// ---- tests

static const char *test(const char *word)
{
	const char *text = getenv(BLOCKS_ENVIRONMENT_DEVICE);

	return text != NULL ? strstr(text, word) : NULL;
}

bool blocks_test_far(void)
{
	return test("far") != NULL;
}

bool blocks_test_no_atomics(void)
{
	return test("no-int64-atomics") != NULL;
}

bool blocks_test_no_spirv(void)
{
	return test("no-spirv") != NULL;
}

static uint64_t first_count(void)
{
	static const char from[] = "from=";
	const char *at = test(from);

	return at != NULL ? strtoull(at + sizeof from - 1, NULL, 10) : 0;
}

// ---- time

uint64_t blocks_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

bool blocks_wait_until(uint64_t end)
{
	const struct timespec step = { .tv_nsec = STEP_NS };

	if (blocks_now_ns() >= end)
		return false;
	nanosleep(&step, NULL);
	return true;
}

// ---- all of them

static uint64_t count_of(const struct blocks_module *module)
{
	return (uint64_t)module->rows * module->row_counters;
}

struct blocks_far *blocks_far_new(struct blocks_kernel *row, const struct blocks_module *module,
                                  const void *context, const void *device, enum blocks_why *why)
{
	struct blocks_far *far = guest_memory(sizeof *far);
	uint64_t first = first_count();

	*why = BLOCKS_NO_ROOM;
	if (far == NULL)
		return NULL;
	far->bytes = blocks_counter_bytes(module);
	far->counters = blocks_counters(row, module, why);
	if (far->counters == NULL)
		return NULL;
	*why = BLOCKS_NO_ROOM;
	far->copy = guest_memory((size_t)far->bytes);
	far->before = guest_memory((size_t)far->bytes);
	if (far->copy == NULL || far->before == NULL)
		return NULL;
	for (uint64_t i = 0; first != 0 && i < count_of(module); i++)
		far->copy[i] = far->before[i] = first;
	far->row = row;
	far->module = module;
	far->device = device;
	atomic_store(&far->context, context);
	return far;
}

struct blocks_far *blocks_far_first(void)
{
	return atomic_load(&all);
}

struct blocks_far *blocks_far_find(const struct blocks_kernel *row, const void *context,
                                   const void *device)
{
	for (struct blocks_far *far = atomic_load(&all); far != NULL; far = far->following)
		if (far->row == row && far->device == device &&
		    atomic_load(&far->context) == context)
			return far;
	return NULL;
}

static void at_exit(void)
{
	int saved = errno;

	blocks_far_last(NULL);
	errno = saved;
}

static void register_exit(void)
{
	atexit(at_exit);
}

void blocks_far_add(struct blocks_far *far, const struct blocks_reader *reader)
{
	// After the driver's own handlers, which so run later.
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint32_t none = 0;

	far->reader = reader;
	far->samples =
	    far->memory != NULL && __atomic_compare_exchange_n(&far->row->far, &none, 1, false,
	                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	far->following = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &far->following, far))
		;
	pthread_once(&once, register_exit);
}

// ---- launches and waits

void blocks_far_launched(struct blocks_far *far, const void *queue)
{
	const void *before = NULL;
	uint64_t mine = atomic_fetch_add(&number, 1) + 1, last = atomic_load(&far->last);

	if (!atomic_compare_exchange_strong(&far->used, &before, queue) && before != queue)
		atomic_store(&far->many, true);
	while (last < mine && !atomic_compare_exchange_weak(&far->last, &last, mine))
		;
	__atomic_fetch_add(&far->row->unread, 1, __ATOMIC_RELAXED);
	atomic_fetch_add(&far->launched, 1);
}

uint64_t blocks_far_now(void)
{
	return atomic_load(&number);
}

// The child of a fork has its parent's memory, file and handles, and no driver.
static bool is_ours(void)
{
	return blocks_counts != NULL && blocks_counts->pid == (uint32_t)getpid();
}

// Adds what was read to the file.
static void add(struct blocks_far *far)
{
	uint64_t count = count_of(far->module), bytes = count * sizeof *far->copy;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t more = far->copy[i] - far->before[i];
		if (more != 0)
			__atomic_fetch_add(&far->counters[i], more, __ATOMIC_RELAXED);
		far->before[i] = far->copy[i];
	}
	if (far->samples)
		memcpy(far->counters + count, far->copy + count, (size_t)(far->bytes - bytes));
	__atomic_fetch_sub(&far->row->unread, far->reading - far->told, __ATOMIC_RELAXED);
	far->told = far->reading;
}

static void begin(struct blocks_far *far, bool all_read, uint64_t launched)
{
	far->reading = all_read ? launched : far->told;
	far->under_way = far->reader->begin(far);
}

// Takes a read that is under way, until `end`. True: none is, or it is done.
static bool finish(struct blocks_far *far, uint64_t end)
{
	int done = 0;

	while (far->under_way && (done = far->reader->done(far)) == 0 && blocks_wait_until(end))
		;
	if (far->under_way && done > 0)
		add(far);
	if (done != 0)
		far->under_way = false;
	return !far->under_way;
}

static bool hold(struct blocks_far *far)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong(&far->held, &nobody, 1);
}

static void let_go(struct blocks_far *far)
{
	atomic_store(&far->held, 0);
}

void blocks_far_waited(const void *queue, uint64_t since)
{
	struct blocks_far *far = atomic_load(&all);
	int saved = errno;

	if (far == NULL || !is_ours())
		return;
	for (uint64_t now = blocks_now_ns(), end = now + SHORT_NS; far != NULL;
	     far = far->following) {
		// What was launched before `last` is looked at cannot have come after it.
		uint64_t launched = atomic_load(&far->launched);
		if (!hold(far))
			continue;
		if (atomic_load(&far->context) == NULL) {
			let_go(far);
			continue;
		}
		bool sure = queue != NULL && queue == atomic_load(&far->used) &&
		            !atomic_load(&far->many) && atomic_load(&far->last) <= since;
		if (finish(far, 0) && launched != far->told && now >= far->next_ns) {
			far->next_ns = now + BLOCKS_READ_EVERY_NS;
			begin(far, sure, launched);
			finish(far, end);
		}
		let_go(far);
	}
	errno = saved;
}

// ---- the end

static void read_last(struct blocks_far *far, bool idle, uint64_t launched, uint64_t end)
{
	while (!hold(far))
		if (!blocks_wait_until(end))
			return;
	if (atomic_load(&far->context) != NULL && finish(far, end) && launched != far->told) {
		begin(far, idle, launched);
		finish(far, end);
	}
	let_go(far);
}

bool blocks_far_forget(struct blocks_far *far)
{
	atomic_store(&far->context, NULL);
	if (!hold(far))
		return false;
	bool none = !far->under_way;
	let_go(far);
	return none;
}

static bool is_idle(const struct blocks_reader *reader, const void *context, bool exits,
                    uint64_t end)
{
	int idle = reader->idle(context, true, exits);

	while (idle == 0 && blocks_wait_until(end))
		idle = reader->idle(context, false, exits);
	return idle > 0;
}

// Of one context, which is left to itself afterwards where it goes. Whether it is idle.
static bool last_of(const void *context, bool exits, uint64_t end)
{
	const struct blocks_reader *reader = NULL;
	uint64_t launched = 0;

	for (struct blocks_far *far = atomic_load(&all); far != NULL; far = far->following)
		if (atomic_load(&far->context) == context) {
			reader = far->reader;
			launched += atomic_load(&far->launched) - far->told;
		}
	if (reader == NULL || launched == 0)
		return true;
	bool idle = is_idle(reader, context, exits, end);
	for (struct blocks_far *far = atomic_load(&all); far != NULL; far = far->following)
		if (atomic_load(&far->context) == context)
			read_last(far, idle, atomic_load(&far->launched), end);
	return idle;
}

bool blocks_far_last(const void *context)
{
	uint64_t end = blocks_now_ns() + BLOCKS_LAST_READ_NS, none = 0;

	if (!is_ours())
		return false;
	if (context != NULL)
		return last_of(context, false, end);
	if (!atomic_compare_exchange_strong(&end_ns, &none, end))
		end = none;
	for (struct blocks_far *far = atomic_load(&all); far != NULL; far = far->following)
		if (atomic_load(&far->context) != NULL)
			last_of(atomic_load(&far->context), true, end);
	return false;
}
