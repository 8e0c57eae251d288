// SPDX-License-Identifier: Apache-2.0
// The Level Zero recorder, with its own sources, under threads: commands are appended, executed,
// waited for, and their events, lists and pools used again and destroyed in all ways that programs
// have, while the recorder's thread and others harvest. Each command is waited for, so each has its
// times, once, and they are its own. Over the CPU driver, whose file is the argument. Built a
// second time for ThreadSanitizer.
#include "levelzero_threads_rig.h"
#include "levelzero_threads_trace.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef UNDER_THREAD_SANITIZER
// The driver is not built for it: what its atomic counters order is not seen.
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:libze_cpu.so\n";
}
#endif

enum { ROUNDS = 150 };

// ---- an event of the immediate list, used again

static void wait_unseen(ze_event_handle_t event)
{
	// At this call no times are taken.
	ze_kernel_timestamp_result_t stamps;
	while (ze.Event.pfnQueryKernelTimestamp(event, &stamps) == ZE_RESULT_NOT_READY)
		;
}

static void wait_somehow(struct worker *worker, ze_event_handle_t event, bool has_stamps)
{
	uint32_t way = chance(worker) % 3;
	if (way == 0)
		// Polled, while the recorder asks for the same event.
		while (ze.Event.pfnQueryStatus(event) == ZE_RESULT_NOT_READY)
			;
	else if (way == 1 && has_stamps)
		wait_unseen(event);
	else
		must(ze.Event.pfnHostSynchronize(event, FOR_EVER));
}

static void reset_by_host(struct worker *worker)
{
	uint32_t place = chance(worker) % EVENTS;
	now(worker, worker->event[place]);
	wait_somehow(worker, worker->event[place], place % 2 == 0);
	must(ze.Event.pfnHostReset(worker->event[place]));
}

static void destroy_event(struct worker *worker)
{
	uint32_t place = chance(worker) % EVENTS;
	now(worker, worker->event[place]);
	wait_somehow(worker, worker->event[place], place % 2 == 0);
	must(ze.Event.pfnDestroy(worker->event[place]));
	worker->event[place] = event_of(worker, place);
}

// What is appended meanwhile is in flight until the host opens it.
static void shut_gate(struct worker *worker)
{
	must(ze.CommandList.pfnAppendWaitOnEvents(worker->immediate, 1, &worker->gate));
}

static void open_gate(struct worker *worker)
{
	must(ze.Event.pfnHostSignal(worker->gate));
}

static void reset_by_list(struct worker *worker)
{
	ze_event_handle_t event = worker->event[chance(worker) % EVENTS];
	uint32_t turns = 1 + chance(worker) % 6;
	bool gated = chance(worker) % 2 != 0;
	if (gated)
		shut_gate(worker);
	for (uint32_t i = 0; i < turns; i++) {
		now(worker, event);
		barrier(worker, NULL);
		must(ze.CommandList.pfnAppendEventReset(worker->immediate, event));
		barrier(worker, NULL);
	}
	now(worker, event);
	if (gated)
		open_gate(worker);
	finish(worker);
	must(ze.Event.pfnHostReset(event));
	must(ze.Event.pfnHostReset(worker->gate));
}

// It is destroyed while the copy of its times is still to be read.
static void destroy_after_reset_by_list(struct worker *worker)
{
	uint32_t place = chance(worker) % EVENTS;
	shut_gate(worker);
	now(worker, worker->event[place]);
	must(ze.CommandList.pfnAppendEventReset(worker->immediate, worker->event[place]));
	barrier(worker, worker->last);
	open_gate(worker);
	// The last has no timestamps of the program's: nothing is read at this.
	wait_unseen(worker->last);
	must(ze.Event.pfnDestroy(worker->event[place]));
	worker->event[place] = event_of(worker, place);
	must(ze.Event.pfnHostReset(worker->last));
	must(ze.Event.pfnHostReset(worker->gate));
}

static void signal_again(struct worker *worker)
{
	ze_event_handle_t event = worker->event[chance(worker) % EVENTS];
	for (uint32_t i = 0; i < 3; i++) {
		now(worker, event);
		finish(worker);
	}
	must(ze.Event.pfnHostReset(event));
}

// What is no command's, or another process's to use, has no times; the event has them afterwards.
static void signal_without_work(struct worker *worker)
{
	ze_event_handle_t event = worker->event[chance(worker) % EVENTS];
	must(ze.CommandList.pfnAppendSignalEvent(worker->immediate, event));
	must(ze.Event.pfnHostSynchronize(event, FOR_EVER));
	must(ze.Event.pfnHostReset(event));
	now(worker, event);
	must(ze.Event.pfnHostSynchronize(event, FOR_EVER));
	must(ze.Event.pfnHostReset(event));
}

static void use_shared_event(struct worker *worker)
{
	ze_event_pool_handle_t opened,
	    pool = make_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_IPC, 1);
	ze_event_handle_t event = make_event(pool, 0), same;
	ze_ipc_event_pool_handle_t handle;
	must(ze.EventPool.pfnGetIpcHandle(pool, &handle));
	must(ze.EventPool.pfnOpenIpcHandle(context, handle, &opened));
	same = make_event(opened, 0);
	append(worker, worker->immediate, event);
	must(ze.Event.pfnHostSynchronize(same, FOR_EVER));
	must(ze.Event.pfnHostReset(same));
	must(ze.Event.pfnDestroy(same));
	must(ze.EventPool.pfnCloseIpcHandle(opened));
	must(ze.Event.pfnDestroy(event));
	must(ze.EventPool.pfnDestroy(pool));
}

// ---- regular lists

static void run_often(struct worker *worker)
{
	uint32_t times = 1 + chance(worker) % 4;
	for (uint32_t i = 0; i < times; i++)
		run(worker, worker->regular, NULL);
	finish_queue(worker);
	must(ze.Event.pfnHostReset(worker->at_end));
	worker->in_lists += times * (uint64_t)IN_REGULAR;
}

static void run_with_fence(struct worker *worker)
{
	run(worker, worker->regular, worker->fence);
	if (chance(worker) % 2 == 0)
		must(ze.Fence.pfnHostSynchronize(worker->fence, FOR_EVER));
	else
		while (ze.Fence.pfnQueryStatus(worker->fence) == ZE_RESULT_NOT_READY)
			;
	must(ze.Fence.pfnReset(worker->fence));
	must(ze.Event.pfnHostReset(worker->at_end));
	worker->in_lists += IN_REGULAR;
}

// The event is reset while the query behind the list may be in flight; another list, which signals
// it, too, runs next.
static void reset_behind_list(struct worker *worker)
{
	enum { TIMES = 3 };
	for (int i = 0; i < TIMES; i++) {
		run(worker, worker->regular, NULL);
		wait_somehow(worker, worker->at_end, true);
		must(ze.Event.pfnHostReset(worker->at_end));
	}
	run(worker, worker->other, NULL);
	wait_somehow(worker, worker->at_end, true);
	must(ze.Event.pfnHostReset(worker->at_end));
	finish_queue(worker);
	worker->in_lists += TIMES * (uint64_t)IN_REGULAR + 2;
}

// The list is reset and filled anew with its events before these are reset.
static void fill_anew(struct worker *worker)
{
	run(worker, worker->regular, NULL);
	wait_somehow(worker, worker->at_end, false);
	must(ze.CommandList.pfnReset(worker->regular));
	fill_regular(worker);
	must(ze.Event.pfnHostReset(worker->at_end));
	if (chance(worker) % 2 == 0)
		finish_queue(worker);
	worker->in_lists += IN_REGULAR;
}

static void run_on_immediate(struct worker *worker)
{
	barrier(worker, NULL);
	must(append_lists(worker->immediate, 1, &worker->regular, NULL, 0, NULL));
	if (chance(worker) % 2 == 0)
		must(list_synchronize(worker->immediate, FOR_EVER));
	finish(worker);
	must(ze.Event.pfnHostReset(worker->at_end));
	worker->in_lists += IN_REGULAR;
}

// ---- what is made and destroyed

static void short_lived_list(struct worker *worker)
{
	ze_event_pool_handle_t pool = make_pool(0, 1);
	ze_event_handle_t event = make_event(pool, 0);
	ze_command_list_handle_t list = make_list();
	append(worker, list, NULL);
	append(worker, list, event);
	must(ze.CommandList.pfnClose(list));
	run(worker, list, NULL);
	must(ze.Event.pfnHostSynchronize(event, FOR_EVER));
	// The query behind the list may be in flight.
	must(ze.Event.pfnDestroy(event));
	must(ze.EventPool.pfnDestroy(pool));
	if (chance(worker) % 2 == 0)
		finish_queue(worker);
	must(ze.CommandList.pfnDestroy(list));
	finish_queue(worker);
	worker->in_lists += 2;
}

static void short_lived_immediate(struct worker *worker)
{
	bool has_stamps = chance(worker) % 2 == 0;
	ze_event_pool_handle_t pool =
	    make_pool(has_stamps ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0, 1);
	ze_event_handle_t event = make_event(pool, 0);
	ze_command_list_handle_t list = make_immediate(QUEUE_IN_ORDER);
	append(worker, list, NULL);
	append(worker, list, event);
	wait_somehow(worker, event, has_stamps);
	if (chance(worker) % 2 == 0) {
		must(ze.CommandList.pfnDestroy(list));
		must(ze.Event.pfnDestroy(event));
		must(ze.EventPool.pfnDestroy(pool));
	} else {
		must(ze.Event.pfnDestroy(event));
		must(ze.EventPool.pfnDestroy(pool));
		must(ze.CommandList.pfnDestroy(list));
	}
	worker->immediates += 2;
}

// ---- the threads

static void (*const ways[])(struct worker *) = {
	reset_by_host,    destroy_event,         reset_by_list,    destroy_after_reset_by_list,
	signal_again,     signal_without_work,   use_shared_event, run_often,
	run_with_fence,   reset_behind_list,     fill_anew,        run_on_immediate,
	short_lived_list, short_lived_immediate,
};
enum { WAYS = sizeof ways / sizeof *ways };

static void *work(void *argument)
{
	struct worker *worker = argument;
	make_worker(worker);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 3; k++)
			now(worker, NULL);
		ways[chance(worker) % WAYS](worker);
	}
	finish_queue(worker);
	finish(worker);
	end_worker(worker);
	return NULL;
}

// Has all lists of all threads looked through, over and over.
static void *harvest(void *argument)
{
	const ze_fence_desc_t signalled = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC,
		                            .flags = ZE_FENCE_FLAG_SIGNALED };
	const ze_command_queue_desc_t described = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
	ze_command_queue_handle_t queue;
	ze_fence_handle_t fence;
	must(ze.CommandQueue.pfnCreate(context, device, &described, &queue));
	must(ze.Fence.pfnCreate(queue, &signalled, &fence));
	while (atomic_load((_Atomic int *)argument) != 0) {
		must(ze.Fence.pfnQueryStatus(fence));
		sched_yield();
	}
	must(ze.Fence.pfnDestroy(fence));
	must(ze.CommandQueue.pfnDestroy(queue));
	return NULL;
}

// How many times there are to be, into the file of that path: of immediate lists, and of others.
static int run_workers(void *path)
{
	static struct worker workers[WORKERS];
	uint64_t immediates = 0, in_lists = 0;
	_Atomic int working = 1;
	pthread_t harvester;
	open_driver();
	if (pthread_create(&harvester, NULL, harvest, &working) != 0)
		return 1;
	for (uint32_t i = 0; i < WORKERS; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	for (uint32_t i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		immediates += workers[i].immediates;
		in_lists += workers[i].in_lists;
	}
	atomic_store(&working, 0);
	pthread_join(harvester, NULL);
	must(ze.EventPool.pfnDestroy(timed_pool));
	must(ze.EventPool.pfnDestroy(plain_pool));
	FILE *file = fopen(path, "w");
	if (file == NULL || fprintf(file, "%" PRIu64 " %" PRIu64, immediates, in_lists) < 0)
		return 2;
	return fclose(file);
}

// ---- what is to be seen of them

static void every_command_has_its_times_once(void **state)
{
	uint64_t immediates = 0, in_lists = 0;
	char path[300];
	(void)state;
	snprintf(path, sizeof path, "%s/counts", folder);
	assert_int_equal(run_recorded(folder, "times=all", run_workers, path), 0);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%" SCNu64 " %" SCNu64, &immediates, &in_lists), 2);
	fclose(file);
	struct guest_trace trace = only_trace();
	struct told_all all = load_told(&trace);
	assert_int_equal(all.untimed_count, 0);
	assert_int_equal(count_bad(&all), 0);
	assert_int_equal(count_in_lists(&all), in_lists);
	assert_int_equal(all.times_count, immediates + in_lists);
	assert_int_equal(count_out_of_order(&all), 0);
	assert_int_equal(trace.header->pending, 0);
	assert_int_equal(trace.header->lost_records, 0);
	free(all.commands);
	free(all.times);
	unload(&trace);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_command_has_its_times_once, set_up,
		                                tear_down),
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	if (argc != 2)
		return 2;
	driver_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
