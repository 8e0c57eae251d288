// SPDX-License-Identifier: Apache-2.0
// The recorder's own thread: makes windows ahead, harvests, samples CPU time and clocks, and tells
// by alive_ticks until when a killed process was seen to live.
#include "guest/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	MS = 1000000,
	HARVEST_NS = 4 * MS,
	SAMPLE_NS = 10 * MS, // while the program computes
	IDLE_NS = 100 * MS,  // while it does not
	MOST_NS = 1000 * MS,
	COST_SHARE = 1000,        // one part of so many may go into sampling
	STACK_BYTES = 256 * 1024, // for the vendor's code that `harvest` calls
	LEAVE_TURNS = 2500,
	LEAVE_NS = 20000, // 50 ms
};

static _Atomic uint32_t harvesting, held, starting;

struct helper {
	struct guest_thread *thread;
	uint32_t generation;
	uint64_t next_sample, next_pairs, next_active; // CLOCK_MONOTONIC_RAW
	uint64_t sample_ns, pairs_ns;
	uint64_t last_cpu_ns;
	bool was_busy, was_pending;
};

void guest_helper_forget(void)
{
	guest_helper_sleep_forget();
	atomic_store(&harvesting, 0);
	atomic_store(&held, 0);
	atomic_store(&starting, 0);
}

static void harvest(struct guest_thread *thread)
{
	// Who ends the process or forks says first that nobody may harvest, then looks whether one
	// does.
	atomic_store(&harvesting, 1);
	if (atomic_load(&guest_alive) && !atomic_load(&held))
		guest_api_harvest(thread);
	atomic_store(&harvesting, 0);
}

static void wait_while(const _Atomic uint32_t *busy)
{
	static const struct timespec moment = { .tv_nsec = LEAVE_NS };
	for (int i = 0; i < LEAVE_TURNS && atomic_load(busy); i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
}

void guest_helper_leave_harvest(void)
{
	wait_while(&harvesting);
}

void guest_helper_hold(bool wait)
{
	atomic_fetch_add(&held, 1);
	if (!wait)
		return;
	guest_helper_leave_harvest();
	// A thread that starts may have the allocator's locks: AddressSanitizer's are not made free
	// in the child.
	wait_while(&starting);
}

void guest_helper_resume(void)
{
	atomic_fetch_sub(&held, 1);
}

void guest_sample(struct guest_thread *thread, bool write)
{
	union tare_trace_record *record;
	uint64_t ticks = guest_ticks(), cpu_ns = guest_ns(CLOCK_PROCESS_CPUTIME_ID);
	__atomic_store_n(&guest_header->process_cpu_ns, cpu_ns, __ATOMIC_RELAXED);
	if (!write || !thread || !atomic_load(&guest_active))
		return;
	record = guest_event(thread);
	if (!record)
		return;
	memset(&record->words[1], 0, sizeof *record - sizeof record->head);
	record->cpu_time.ticks = ticks;
	record->cpu_time.cpu_ns = cpu_ns;
	guest_commit(record, tare_trace_head(TARE_TRACE_CPU_TIME, 0, 1, thread->track));
}

// Reading the process's CPU time takes longer the more threads it has: what one sample costs
// decides when the next one comes.
static void sample(struct helper *helper, uint64_t now)
{
	uint64_t from = guest_ns(CLOCK_THREAD_CPUTIME_ID), to, cost, cpu_ns;
	bool busy;
	cpu_ns = guest_ns(CLOCK_PROCESS_CPUTIME_ID);
	busy = cpu_ns - helper->last_cpu_ns > helper->sample_ns / 100;
	helper->last_cpu_ns = cpu_ns;
	guest_sample(helper->thread, busy || helper->was_busy);
	helper->was_busy = busy;
	to = guest_ns(CLOCK_THREAD_CPUTIME_ID);
	__atomic_store_n(&guest_header->helper_cpu_ns, to, __ATOMIC_RELAXED);
	cost = (to - from) * COST_SHARE;
	helper->sample_ns = busy ? SAMPLE_NS : helper->sample_ns * 2;
	if (helper->sample_ns > IDLE_NS)
		helper->sample_ns = IDLE_NS;
	if (helper->sample_ns < cost)
		helper->sample_ns = cost < MOST_NS ? cost : MOST_NS;
	helper->next_sample = now + helper->sample_ns;
}

// A program whose first thread has called pthread_exit ends with its last thread, which must not be
// this one. The kernel no longer tells the executable of a first thread that has ended, but
// goes on to count it.
static bool is_last_thread(void)
{
	struct stat tasks;
	char path[1];
	return syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path) < 0 &&
	       errno == ENOENT && !stat("/proc/self/task", &tasks) && tasks.st_nlink == 2 + 2;
}

static void pairs(struct helper *helper, uint64_t now)
{
	guest_clock_pairs(helper->thread);
	helper->pairs_ns = helper->pairs_ns * 2 < MOST_NS ? helper->pairs_ns * 2 : MOST_NS;
	helper->next_pairs = now + helper->pairs_ns;
}

// --delay and --duration. Returns when the next change is due.
static uint64_t change_active(const struct helper *helper, uint64_t now)
{
	uint64_t start = guest_options.start_raw_ns ? (uint64_t)guest_options.start_raw_ns
	                                            : (uint64_t)guest_header->start_raw_ns;
	uint64_t from = start + (uint64_t)guest_options.delay_ns;
	uint64_t to =
	    guest_options.duration_ns ? from + (uint64_t)guest_options.duration_ns : UINT64_MAX;
	bool active = now >= from && now < to;
	if (active != atomic_load(&guest_active)) {
		union tare_trace_record *record = guest_event_always(helper->thread);
		if (record) {
			memset(&record->words[1], 0, sizeof *record - sizeof record->head);
			record->active.ticks = guest_ticks();
			guest_commit(record, tare_trace_head(TARE_TRACE_ACTIVE, 0, active,
			                                     helper->thread->track));
		}
		atomic_store(&guest_active, active);
	}
	return now < from ? from : now < to ? to : UINT64_MAX;
}

static void round_of(struct helper *helper)
{
	uint32_t seen = guest_helper_wakes();
	uint64_t now, due;
	bool pending;
	guest_window_prepare();
	now = guest_ns(CLOCK_MONOTONIC_RAW);
	if (now >= helper->next_active)
		helper->next_active = change_active(helper, now);
	harvest(helper->thread);
	if (now >= helper->next_sample)
		sample(helper, now);
	if (now >= helper->next_pairs)
		pairs(helper, now);
	__atomic_store_n(&guest_header->alive_ticks, guest_ticks(), __ATOMIC_RELAXED);
	due = helper->next_sample < helper->next_pairs ? helper->next_sample : helper->next_pairs;
	if (helper->next_active < due)
		due = helper->next_active;
	pending = __atomic_load_n(&guest_header->pending, __ATOMIC_RELAXED) != 0;
	// Once more: a command that came when the last one had just been harvested may not be
	// counted.
	if ((pending || helper->was_pending) && now + HARVEST_NS < due)
		due = now + HARVEST_NS;
	helper->was_pending = pending;
	guest_helper_sleep(due > now ? due - now : 0, seen);
}

static void *run(void *argument)
{
	struct helper helper = { .sample_ns = SAMPLE_NS / 2, .pairs_ns = SAMPLE_NS / 2 };
	union tare_trace_record change = { .change = {
		                               .head = tare_trace_head(TARE_TRACE_CHANGE, 0,
		                                                       TARE_CHANGE_HELPER, 0),
		                               .to = 1,
		                           } };
	(void)argument;
	atomic_store(&starting, 0);
	prctl(PR_SET_NAME, "tare");
	helper.generation = atomic_load(&guest_process);
	helper.thread = guest_thread_attach(TARE_TRACE_HELPER);
	if (!helper.thread)
		return NULL;
	change.change.ticks = guest_ticks();
	guest_define_of(helper.thread, &change);
	while (atomic_load(&guest_life) == GUEST_RECORDING &&
	       atomic_load(&guest_process) == helper.generation &&
	       (helper.was_busy || !is_last_thread()))
		round_of(&helper);
	return NULL;
}

bool guest_helper_start(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	size_t stack = STACK_BYTES;
	long least = sysconf(_SC_THREAD_STACK_MIN);
	bool started;
	if (pthread_attr_init(&attributes))
		return false;
	// The least counts the program's thread-local memory, which lies on the stack too.
	if (least > 0)
		stack += (size_t)least;
	pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	// Called in the quiet: it inherits that every signal is blocked.
	atomic_store(&starting, 1);
	started = !pthread_create(&thread, &attributes, run, NULL);
	if (!started)
		atomic_store(&starting, 0);
	pthread_attr_destroy(&attributes);
	return started;
}
