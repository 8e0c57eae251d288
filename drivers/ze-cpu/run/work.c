// SPDX-License-Identifier: Apache-2.0
// What everything that runs shares: the lock, waiting, and what is put off until nothing uses it.
#include "memory/memory.h"
#include "run/run.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
struct cpu_queue *cpu_queues;

// Under a script a wait sleeps until this long before the next event of the model, then spins:
// waking takes some 50 us, and waits of a few milliseconds shall be right within 1 %. It does not
// yield: on a busy machine that costs milliseconds.
#define EXACT_NS INT64_C(100000)
// The pump never sleeps less, so that it is cheap whatever the model says; while somebody waits,
// and so lets the model get on, it sleeps longer.
#define PUMP_LEAST_NS INT64_C(20000)
#define PUMP_IDLE_NS INT64_C(1000000)
// A wait that ends sooner does nobody's work.
#define HELP_NS INT64_C(1000000)

// What zeMemFree and its like put off, oldest first.
struct deferred {
	struct deferred *next;
	uint64_t sequence; // the last submission that may use it
	void (*function)(void *context);
	void *context;
};
static struct deferred *first_deferred, *last_deferred;
static bool pumping;
static int64_t pump_sleeps_until_ns;
static pthread_cond_t pump_work = PTHREAD_COND_INITIALIZER;
static unsigned waiters;

struct sleeper {
	struct sleeper *next;
	bool (*done)(void *context);
	void *context;
	bool waits; // in cpu_wait, for the model's next event
	pthread_cond_t wake;
};
static struct sleeper *sleepers;

int64_t cpu_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int cpu_thread_start(void *(*main)(void *context), void *context)
{
	// The program's handlers run on its own threads; faults stay where they happen.
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	pthread_attr_t attributes;
	sigset_t blocked, before;
	pthread_t thread;
	int status;

	status = pthread_attr_init(&attributes);
	if (status != 0)
		return status;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	status = pthread_create(&thread, &attributes, main, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return status;
}

static bool sleep_until(pthread_cond_t *changed, int64_t at_ns)
{
	struct timespec at = { (time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000) };

	if (at_ns == INT64_MAX)
		return pthread_cond_wait(changed, &work_lock) == 0;
	return pthread_cond_clockwait(changed, &work_lock, CLOCK_MONOTONIC, &at) == 0;
}

static bool sleep_for(bool (*done)(void *context), void *context, bool waits, int64_t at_ns)
{
	struct sleeper sleeper = { sleepers, done, context, waits, PTHREAD_COND_INITIALIZER };
	struct sleeper **at = &sleepers;
	bool woken;

	sleepers = &sleeper;
	woken = sleep_until(&sleeper.wake, at_ns);
	while (*at != &sleeper)
		at = &(*at)->next;
	*at = sleeper.next;
	pthread_cond_destroy(&sleeper.wake);
	return woken;
}

bool cpu_sleep_for(bool (*done)(void *context), void *context, int64_t at_ns)
{
	return sleep_for(done, context, false, at_ns);
}

void cpu_changed(void)
{
	for (struct sleeper *each = sleepers; each; each = each->next)
		if (each->done(each->context))
			pthread_cond_signal(&each->wake);
}

void cpu_changed_in_model(void)
{
	for (struct sleeper *each = sleepers; each; each = each->next)
		if (each->waits || each->done(each->context))
			pthread_cond_signal(&each->wake);
}

void cpu_changed_for_all(void)
{
	for (struct sleeper *each = sleepers; each; each = each->next)
		pthread_cond_signal(&each->wake);
}

// A few microseconds without the lock.
static void spin(void)
{
	pthread_mutex_unlock(&work_lock);
	for (int64_t until_ns = cpu_monotonic_ns() + 2000; cpu_monotonic_ns() < until_ns;)
		;
	pthread_mutex_lock(&work_lock);
}

// When the model has something to do next, on CLOCK_MONOTONIC.
static int64_t next_of_model_ns(void)
{
	int64_t next_ns = cpu_device.scripted ? scripted_next_ns() : INT64_MAX;

	return next_ns == INT64_MAX ? INT64_MAX
	                            : cpu_monotonic_ns() + (next_ns - tare_host_now().ns);
}

static void get_on(void)
{
	if (cpu_device.scripted)
		scripted_pump();
	cpu_reap();
}

// Does what a thread would have to be woken for, where that is short, or nothing else is waited
// for.
static bool help(struct cpu_queue *queue, bool (*done)(void *context), void *context,
                 int64_t left_ns)
{
	if (left_ns < HELP_NS)
		return false;
	if (queue)
		return cpu_help(queue, left_ns == INT64_MAX && !cpu_device.scripted, done, context);
	for (queue = cpu_queues; queue; queue = queue->next)
		if (cpu_help(queue, false, done, context))
			return true;
	return false;
}

static ze_result_t wait_until(struct cpu_queue *queue, bool (*done)(void *context), void *context,
                              int64_t limit_ns)
{
	int64_t now_ns, next_ns;

	for (;;) {
		get_on();
		if (cpu_device.lost)
			return ZE_RESULT_ERROR_DEVICE_LOST;
		if (done(context))
			return ZE_RESULT_SUCCESS;
		now_ns = cpu_monotonic_ns();
		if (now_ns >= limit_ns)
			return ZE_RESULT_NOT_READY;
		if (help(queue, done, context,
		         limit_ns == INT64_MAX ? limit_ns : limit_ns - now_ns))
			continue;
		next_ns = next_of_model_ns();
		if (next_ns >= limit_ns)
			sleep_for(done, context, true, limit_ns);
		else if (next_ns - now_ns > EXACT_NS)
			sleep_for(done, context, true, next_ns - EXACT_NS);
		else if (cpu_real_work())
			// Spinning would take the processor from what is behind.
			sleep_for(done, context, false, now_ns + EXACT_NS);
		else
			spin();
	}
}

ze_result_t cpu_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns)
{
	return cpu_wait_for_queue(NULL, done, context, timeout_ns);
}

ze_result_t cpu_wait_for_queue(struct cpu_queue *queue, bool (*done)(void *context), void *context,
                               uint64_t timeout_ns)
{
	int64_t limit_ns = timeout_ns == 0 ? INT64_MIN : INT64_MAX;
	ze_result_t result;

	if (timeout_ns != 0 && timeout_ns < (uint64_t)(INT64_MAX / 2))
		limit_ns = cpu_monotonic_ns() + (int64_t)timeout_ns;
	waiters++;
	result = wait_until(queue, done, context, limit_ns);
	waiters--;
	return result;
}

static void *pump_main(void *context)
{
	int64_t next_ns, least_ns;

	(void)context;
	pthread_mutex_lock(&work_lock);
	for (;;) {
		get_on();
		cpu_collect();
		next_ns = next_of_model_ns();
		least_ns = cpu_monotonic_ns() + (waiters > 0 ? PUMP_IDLE_NS : PUMP_LEAST_NS);
		pump_sleeps_until_ns = next_ns < least_ns ? least_ns : next_ns;
		sleep_until(&pump_work, pump_sleeps_until_ns);
	}
	return NULL;
}

void cpu_pump_wake(void)
{
	if (!cpu_device.scripted)
		return;
	// Where it wakes soon by itself, a wake-up for each of many submissions would only be in
	// the way.
	if (pumping && pump_sleeps_until_ns - cpu_monotonic_ns() > PUMP_IDLE_NS)
		pthread_cond_signal(&pump_work);
	else if (!pumping)
		pumping = cpu_thread_start(pump_main, NULL) == 0;
}

void cpu_when_unused(void (*function)(void *context), void *context)
{
	struct deferred *deferred = NULL;
	bool in_use;

	pthread_mutex_lock(&work_lock);
	get_on();
	in_use = cpu_oldest_run() <= cpu_last_sequence();
	if (in_use)
		deferred = malloc(sizeof *deferred);
	if (deferred) {
		*deferred = (struct deferred){ NULL, cpu_last_sequence(), function, context };
		if (last_deferred)
			last_deferred->next = deferred;
		else
			first_deferred = deferred;
		last_deferred = deferred;
	}
	pthread_mutex_unlock(&work_lock);
	// Without memory for the note it is kept for ever, which is the safe side.
	if (!in_use)
		function(context);
}

// Takes off what nothing uses any more.
static struct deferred *due(void)
{
	uint64_t oldest = cpu_oldest_run();
	struct deferred *first = first_deferred, *last = NULL;

	while (first_deferred && first_deferred->sequence < oldest) {
		last = first_deferred;
		first_deferred = last->next;
	}
	if (!last)
		return NULL;
	last->next = NULL;
	if (!first_deferred)
		last_deferred = NULL;
	return first;
}

// Runs that are done, until they are freed without the lock.
static struct run *garbage;

void cpu_collect(void)
{
	struct deferred *deferred = due(), *next_deferred;
	struct run *run = garbage, *next;

	if (!deferred && !run)
		return;
	garbage = NULL;
	pthread_mutex_unlock(&work_lock);
	for (; run; run = next) {
		next = run->next;
		cpu_run_free(run);
	}
	for (; deferred; deferred = next_deferred) {
		next_deferred = deferred->next;
		deferred->function(deferred->context);
		free(deferred);
	}
	pthread_mutex_lock(&work_lock);
}

// Takes the first run off its queue for good.
static void discard(struct cpu_queue *queue)
{
	struct run *run = queue->first;

	queue->first = run->next;
	if (!queue->first)
		queue->last = NULL;
	queue->completed++;
	run->next = garbage;
	garbage = run;
}

void cpu_reap(void)
{
	bool any = false;

	for (struct cpu_queue *queue = cpu_queues; queue; queue = queue->next)
		for (; queue->first && queue->first->real && queue->first->modelled; any = true)
			discard(queue);
	if (any)
		cpu_changed();
}

void cpu_queue_drop(struct cpu_queue *queue)
{
	queue->first_real = queue->last_real = NULL;
	queue->first_modelled = queue->last_modelled = NULL;
	while (queue->first)
		discard(queue);
	// The model gets on without it.
	cpu_changed_in_model();
}

uint64_t cpu_oldest_run(void)
{
	uint64_t oldest = UINT64_MAX;

	for (const struct cpu_queue *queue = cpu_queues; queue; queue = queue->next)
		if (queue->first && queue->first->sequence < oldest)
			oldest = queue->first->sequence;
	return oldest;
}

// ---- fork: the child has none of the driver's threads

bool cpu_forked;

// What the locks guard is then whole in the child, which may destroy and free.
static void before_fork(void)
{
	pthread_mutex_lock(&work_lock);
	memory_hold(true);
}

static void after_fork(void)
{
	memory_hold(false);
	pthread_mutex_unlock(&work_lock);
}

static void after_fork_in_child(void)
{
	cpu_forked = cpu_device.lost = true;
	sleepers = NULL;
	after_fork();
}

void cpu_watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
