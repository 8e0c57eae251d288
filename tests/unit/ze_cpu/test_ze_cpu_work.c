// SPDX-License-Identifier: Apache-2.0
// What commands of the Level Zero CPU driver do, in what order, and what tells when they are done.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ze_work_rig.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fills(void **state)
{
	enum { BYTES = 5000, EDGE = 64 };
	static uint8_t at[BYTES + 2 * EDGE], wanted[sizeof at];
	ze_command_list_handle_t list = immediate_new(true);
	struct tare_random random = { 7 };
	uint8_t pattern[128];

	(void)state;
	for (int i = 0; i < 60; i++) {
		size_t pattern_bytes = (size_t)1 << tare_random_below(&random, 8);
		size_t bytes = i < 8 ? (size_t)i : tare_random_below(&random, BYTES);
		random_bytes(&random, pattern, sizeof pattern);
		random_bytes(&random, at, sizeof at);
		memcpy(wanted, at, sizeof at);
		for (size_t b = 0; b < bytes; b++)
			wanted[EDGE + b] = pattern[b % pattern_bytes];
		must(zeCommandListAppendMemoryFill(list, at + EDGE, pattern, pattern_bytes, bytes,
		                                   NULL, 0, NULL));
		assert_memory_equal(at, wanted, sizeof at);
	}
	assert_int_equal(zeCommandListAppendMemoryFill(list, at, pattern, 3, 9, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_INVALID_SIZE);
	// Longer than the queue groups' maxMemoryFillPatternSize.
	assert_int_equal(zeCommandListAppendMemoryFill(list, at, wanted, 256, 512, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_INVALID_SIZE);
	must(zeCommandListDestroy(list));
}

// The pattern is read at the append; source and destination only when the command runs.
static void when_arguments_are_read(void **state)
{
	ze_command_list_handle_t list = list_new();
	ze_command_queue_handle_t queue = queue_new(true);
	uint8_t pattern = 5, filled[4] = { 0 }, source[4] = { 1, 1, 1, 1 }, copied[4] = { 0 };

	(void)state;
	must(
	    zeCommandListAppendMemoryFill(list, filled, &pattern, 1, sizeof filled, NULL, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, copied, source, sizeof source, NULL, 0, NULL));
	must(zeCommandListClose(list));
	pattern = 6;
	memset(source, 9, sizeof source);
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_int_equal(filled[3], 5);
	assert_int_equal(copied[3], 9);
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
}

static size_t cell(const ze_copy_region_t *region, uint32_t pitch, uint32_t slice, uint32_t x,
                   uint32_t y, uint32_t z)
{
	return (size_t)(region->originZ + z) * slice + (size_t)(region->originY + y) * pitch +
	       region->originX + x;
}

static void regions(void **state)
{
	enum { BYTES = 40000 };
	static uint8_t from[BYTES], to[BYTES], wanted[BYTES];
	ze_command_list_handle_t list = immediate_new(true);
	struct tare_random random = { 11 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		uint32_t width = 1 + (uint32_t)tare_random_below(&random, 20);
		uint32_t height = 1 + (uint32_t)tare_random_below(&random, 9);
		uint32_t depth = (uint32_t)tare_random_below(&random, 6), pitch[2], slice[2];
		ze_copy_region_t region[2];
		for (int r = 0; r < 2; r++) {
			region[r] = (ze_copy_region_t){
				.originX = (uint32_t)tare_random_below(&random, 9),
				.originY = (uint32_t)tare_random_below(&random, 9),
				.originZ = depth ? (uint32_t)tare_random_below(&random, 4) : 0,
				.width = width,
				.height = height,
				.depth = depth,
			};
			pitch[r] =
			    width + region[r].originX + (uint32_t)tare_random_below(&random, 30);
			slice[r] = pitch[r] * (height + region[r].originY) +
			           (uint32_t)tare_random_below(&random, 50);
		}
		random_bytes(&random, from, sizeof from);
		random_bytes(&random, to, sizeof to);
		memcpy(wanted, to, sizeof to);
		for (uint32_t z = 0; z < (depth ? depth : 1); z++)
			for (uint32_t y = 0; y < height; y++)
				for (uint32_t x = 0; x < width; x++)
					wanted[cell(&region[0], pitch[0], slice[0], x, y, z)] =
					    from[cell(&region[1], pitch[1], slice[1], x, y, z)];
		must(zeCommandListAppendMemoryCopyRegion(list, to, &region[0], pitch[0], slice[0],
		                                         from, &region[1], pitch[1], slice[1], NULL,
		                                         0, NULL));
		assert_memory_equal(to, wanted, sizeof to);
	}
	must(zeCommandListDestroy(list));
}

// ---- random graphs of copies in several queues, joined by events

enum { QUEUES = 5, BUFFERS = 7, OPERATIONS = 60, LARGE = 1 << 18 };

struct step {
	int queue, to, from;
	size_t bytes;
	bool fills;
	uint32_t value;
};

static void steps_draw(struct tare_random *random, struct step *steps)
{
	for (int i = 0; i < OPERATIONS; i++)
		steps[i] = (struct step){
			.queue = (int)tare_random_below(random, QUEUES),
			.to = (int)tare_random_below(random, BUFFERS),
			.from = (int)tare_random_below(random, BUFFERS),
			.bytes = tare_random_below(random, 3) ? 64 : LARGE,
			.fills = tare_random_below(random, 4) == 0,
			.value = (uint32_t)tare_random_next(random),
		};
}

// One after the other.
static void steps_interpret(const struct step *steps, uint8_t *buffers[])
{
	for (int i = 0; i < OPERATIONS; i++) {
		const struct step *step = &steps[i];
		if (!step->fills)
			memmove(buffers[step->to], buffers[step->from], step->bytes);
		for (size_t b = 0; step->fills && b < step->bytes; b += 4)
			memcpy(buffers[step->to] + b, &step->value, 4);
	}
}

static bool touch_the_same(const struct step *a, const struct step *b)
{
	return a->to == b->to || (!a->fills && a->from == b->to) || (!b->fills && a->to == b->from);
}

// Each step waits for the earlier ones in other queues that touch what it touches; odd queues are
// regular lists. Nothing begins before the gate opens, when everything was appended.
static void steps_run(const struct step *steps, uint8_t *buffers[])
{
	ze_command_list_handle_t lists[QUEUES];
	ze_command_queue_handle_t queues[QUEUES] = { NULL };
	ze_event_handle_t events[OPERATIONS], gate = event_of(pool, OPERATIONS), waits[OPERATIONS];

	for (int q = 0; q < QUEUES; q++) {
		lists[q] = q % 2 ? list_new() : immediate_new(false);
		queues[q] = q % 2 ? queue_new(false) : NULL;
		must(zeCommandListAppendBarrier(lists[q], NULL, 1, &gate));
	}
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		const struct step *step = &steps[i];
		ze_command_list_handle_t list = lists[step->queue];
		uint32_t count = 0;
		events[i] = event_of(pool, i);
		for (uint32_t j = 0; j < i; j++)
			if (steps[j].queue != step->queue && touch_the_same(&steps[j], step))
				waits[count++] = events[j];
		if (step->fills)
			must(zeCommandListAppendMemoryFill(list, buffers[step->to], &step->value, 4,
			                                   step->bytes, events[i], count, waits));
		else
			must(zeCommandListAppendMemoryCopy(list, buffers[step->to],
			                                   buffers[step->from], step->bytes,
			                                   events[i], count, waits));
	}
	for (int q = 1; q < QUEUES; q += 2) {
		must(zeCommandListClose(lists[q]));
		must(zeCommandQueueExecuteCommandLists(queues[q], 1, &lists[q], NULL));
	}
	must(zeEventHostSignal(gate));
	for (uint32_t i = 0; i < OPERATIONS; i++)
		must(zeEventHostSynchronize(events[i], FOR_EVER));
	for (int q = 0; q < QUEUES; q++) {
		must(zeCommandListDestroy(lists[q]));
		if (queues[q])
			must(zeCommandQueueDestroy(queues[q]));
	}
	for (uint32_t i = 0; i < OPERATIONS; i++)
		must(zeEventDestroy(events[i]));
	must(zeEventDestroy(gate));
}

static void graphs(void **state)
{
	struct tare_random random = { 3 };
	uint8_t *buffers[BUFFERS], *wanted[BUFFERS];
	struct step steps[OPERATIONS];

	(void)state;
	for (int b = 0; b < BUFFERS; b++) {
		buffers[b] = shared_new(LARGE);
		wanted[b] = malloc(LARGE);
		assert_non_null(wanted[b]);
	}
	for (int turn = 0; turn < 12; turn++) {
		for (int b = 0; b < BUFFERS; b++) {
			random_bytes(&random, buffers[b], 128);
			memset(buffers[b] + 128, b, LARGE - 128);
			memcpy(wanted[b], buffers[b], LARGE);
		}
		steps_draw(&random, steps);
		steps_interpret(steps, wanted);
		steps_run(steps, buffers);
		for (int b = 0; b < BUFFERS; b++)
			assert_memory_equal(buffers[b], wanted[b], LARGE);
	}
	for (int b = 0; b < BUFFERS; b++) {
		must(zeMemFree(context, buffers[b]));
		free(wanted[b]);
	}
}

// A queue in which a command waits does not hold up another on the same engine.
static void waits_hold_no_engine(void **state)
{
	ze_command_list_handle_t blocked = immediate_new(false), free_one = immediate_new(true);
	ze_event_handle_t gate = event_of(pool, 0);
	int from = 4, to = 0, late = 0;

	(void)state;
	must(zeCommandListAppendMemoryCopy(blocked, &late, &from, sizeof from, NULL, 1, &gate));
	must(zeCommandListAppendMemoryCopy(free_one, &to, &from, sizeof from, NULL, 0, NULL));
	assert_int_equal(to, 4);
	must(zeCommandListAppendSignalEvent(free_one, gate));
	must(zeCommandListAppendBarrier(blocked, NULL, 0, NULL));
	levelzero_list_host_synchronize *synchronise =
	    (levelzero_list_host_synchronize *)newer_entry("zeCommandListHostSynchronize");
	assert_non_null(synchronise);
	must(synchronise(blocked, FOR_EVER));
	assert_int_equal(late, 4);
	must(zeCommandListDestroy(blocked));
	must(zeCommandListDestroy(free_one));
	must(zeEventDestroy(gate));
}

static void an_engine_works_for_one_queue_at_a_time(void **state)
{
	enum { LISTS = 4, BYTES = 1 << 20 };
	ze_command_list_handle_t lists[LISTS];
	ze_event_handle_t gate = event_of(pool, LISTS), events[LISTS];
	ze_kernel_timestamp_result_t stamps_of[LISTS];
	uint8_t *memory = shared_new(2 * LISTS * BYTES);

	(void)state;
	for (uint32_t i = 0; i < LISTS; i++) {
		lists[i] = immediate_new(false);
		events[i] = event_of(pool, i);
		must(zeCommandListAppendMemoryCopy(lists[i], memory + 2 * i * BYTES,
		                                   memory + (2 * i + 1) * BYTES, BYTES, events[i],
		                                   1, &gate));
	}
	must(zeEventHostSignal(gate));
	for (uint32_t i = 0; i < LISTS; i++) {
		must(zeEventHostSynchronize(events[i], FOR_EVER));
		must(zeEventQueryKernelTimestamp(events[i], &stamps_of[i]));
	}
	for (uint32_t i = 0; i < LISTS; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_true(
			    stamps_of[i].global.kernelEnd <= stamps_of[j].global.kernelStart ||
			    stamps_of[j].global.kernelEnd <= stamps_of[i].global.kernelStart);
	for (uint32_t i = 0; i < LISTS; i++) {
		must(zeCommandListDestroy(lists[i]));
		must(zeEventDestroy(events[i]));
	}
	must(zeEventDestroy(gate));
	must(zeMemFree(context, memory));
}

// Of commands that became ready at once the engine takes the one of the more urgent queue first.
static void urgent_queues_go_first(void **state)
{
	enum { BYTES = 1 << 16 };
	static const ze_command_queue_priority_t priorities[] = {
		ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW,
		ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
		ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
	};
	ze_command_list_handle_t lists[3] = { NULL };
	ze_event_handle_t gate = event_of(pool, 3), events[3];
	ze_kernel_timestamp_result_t stamps_of[3];
	uint8_t *memory = shared_new(6 * BYTES);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		ze_command_queue_desc_t described = queue_description(0, false);
		described.priority = priorities[i];
		must(zeCommandListCreateImmediate(context, device, &described, &lists[i]));
		events[i] = event_of(pool, i);
	}
	for (int turn = 0; turn < 30; turn++) {
		for (uint32_t i = 0; i < 3; i++) {
			bool behind = turn % 2;
			if (behind)
				must(zeCommandListAppendWaitOnEvents(lists[i], 1, &gate));
			must(zeCommandListAppendMemoryCopy(
			    lists[i], memory + 2 * i * BYTES, memory + (2 * i + 1) * BYTES, BYTES,
			    events[i], behind ? 0 : 1, behind ? NULL : &gate));
		}
		must(zeEventHostSignal(gate));
		for (uint32_t i = 0; i < 3; i++) {
			must(zeEventHostSynchronize(events[i], FOR_EVER));
			must(zeEventQueryKernelTimestamp(events[i], &stamps_of[i]));
			must(zeEventHostReset(events[i]));
		}
		assert_true(stamps_of[2].global.kernelEnd <= stamps_of[1].global.kernelStart);
		assert_true(stamps_of[1].global.kernelEnd <= stamps_of[0].global.kernelStart);
		must(zeEventHostReset(gate));
	}
	for (uint32_t i = 0; i < 3; i++) {
		must(zeCommandListDestroy(lists[i]));
		must(zeEventDestroy(events[i]));
	}
	must(zeEventDestroy(gate));
	must(zeMemFree(context, memory));
}

static void timeouts(void **state)
{
	ze_command_queue_handle_t queue = queue_new(false);
	ze_command_list_handle_t list = list_new();
	ze_event_handle_t never = event_of(pool, 0), done = event_of(pool, 1);
	ze_fence_desc_t described = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	ze_kernel_timestamp_result_t stamp, before;
	ze_fence_handle_t fence = NULL;
	int64_t start_ns;

	(void)state;
	must(zeFenceCreate(queue, &described, &fence));
	must(zeCommandListAppendBarrier(list, done, 1, &never));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
	for (uint64_t timeout_ns = 0; timeout_ns <= 4000000; timeout_ns += 2000000) {
		start_ns = now_ns();
		assert_int_equal(zeEventHostSynchronize(done, timeout_ns), ZE_RESULT_NOT_READY);
		assert_int_equal(zeFenceHostSynchronize(fence, timeout_ns), ZE_RESULT_NOT_READY);
		assert_int_equal(zeCommandQueueSynchronize(queue, timeout_ns), ZE_RESULT_NOT_READY);
		assert_true(now_ns() - start_ns >= 3 * (int64_t)timeout_ns);
	}
	memset(&stamp, 0x5a, sizeof stamp);
	before = stamp;
	assert_int_equal(zeEventQueryKernelTimestamp(done, &stamp), ZE_RESULT_NOT_READY);
	assert_memory_equal(&stamp, &before, sizeof stamp);
	assert_int_equal(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(never));
	must(zeFenceHostSynchronize(fence, FOR_EVER));
	must(zeEventQueryStatus(done));
	must(zeCommandQueueSynchronize(queue, 0));
	must(zeFenceDestroy(fence));
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
	must(zeEventDestroy(never));
	must(zeEventDestroy(done));
}

static long faults_of_this_thread(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

// A thread that waits copies little itself, as its page faults tell, and much not, for its time may
// be up before. An address without memory costs the queue there too, whatever signals it blocks.
static void short_work_of_who_waits(void **state)
{
	enum { PAGES = 16, SHORT = PAGES * 4096, LONG = 8 * SHORT };
	static char source[LONG];
	ze_command_list_handle_t soon = immediate_new(true), later = immediate_new(false);
	ze_event_handle_t event = event_of(pool, 0);
	char *to = mmap(NULL, 2 * LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;
	sigset_t all, mask, after;

	(void)state;
	assert_ptr_not_equal(to, MAP_FAILED);
	madvise(to, 2 * LONG, MADV_NOHUGEPAGE);
	before = faults_of_this_thread();
	must(zeCommandListAppendMemoryCopy(soon, to, source, SHORT, NULL, 0, NULL));
	assert_true(faults_of_this_thread() - before >= PAGES);
	before = faults_of_this_thread();
	must(zeCommandListAppendMemoryCopy(later, to + LONG, source, LONG, event, 0, NULL));
	must(zeEventHostSynchronize(event, UINT64_C(100000000000)));
	assert_true(faults_of_this_thread() - before < 4 * PAGES);
	assert_int_equal(mprotect(to, SHORT, PROT_NONE), 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	assert_int_equal(zeCommandListAppendMemoryCopy(soon, to, source, SHORT, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_DEVICE_LOST);
	pthread_sigmask(SIG_SETMASK, &mask, &after);
	assert_true(sigismember(&after, SIGSEGV) && sigismember(&after, SIGUSR1));
	must(zeCommandListDestroy(soon));
	must(zeCommandListDestroy(later));
	must(zeEventDestroy(event));
	munmap(to, 2 * LONG);
}

// ---- stamps

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills),
		cmocka_unit_test(when_arguments_are_read),
		cmocka_unit_test(regions),
		cmocka_unit_test(graphs),
		cmocka_unit_test(waits_hold_no_engine),
		cmocka_unit_test(an_engine_works_for_one_queue_at_a_time),
		cmocka_unit_test(urgent_queues_go_first),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(short_work_of_who_waits),
	};
	int status = argc < 2 ? 77 : rig_open(argv[1]);

	return status ? status : cmocka_run_group_tests(tests, make_pool, free_pool);
}
