// SPDX-License-Identifier: Apache-2.0
// Graphs of the CUDA backend: stamps of their nodes by events and by CUPTI, and several queues.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_engine_rig.h"

static struct tare_graph *record_chain(struct tare_queue *where, const int *operations, int count)
{
	struct tare_graph *graph = NULL;

	must(tare_graph_begin(where, &error));
	for (int i = 0; i < count; i++) {
		struct tare_operation what = operation(operations[i]);
		must(tare_append(where, &what, NULL, &error));
	}
	must(tare_graph_end(where, &graph, &error));
	return graph;
}

static const int chain[] = { TO_DEVICE, LAUNCH, LAUNCH, TO_HOST, FILL };
#define CHAIN (sizeof chain / sizeof *chain)

// The launch's event brackets all of its nodes' engines.
static void a_graphs_launch_is_bracketed(void **state)
{
	struct tare_event *event;
	struct tare_stamps stamps;
	int64_t before, after;

	(void)state;
	open_all("", "late");
	struct tare_graph *graph =
	    record_chain(queue, (const int[]){ TO_DEVICE, LAUNCH, TO_HOST }, 3);
	must(tare_engine_stamps_begin(device, &error));
	before = tare_device_now(device).ns;
	must(tare_graph_launch(graph, queue, &event, &error));
	must(tare_engine_stamps_end(device, &error));
	after = tare_device_now(device).ns;
	must(tare_event_stamps(event, &stamps, &error));
	check_engine(&stamps, before, after);
	// Two copies of 1 MB over the link are in it, not only one.
	assert_true(at(&stamps, TARE_STAMP_END) - at(&stamps, TARE_STAMP_START) > 30000);
	tare_event_free(event);
	tare_graph_free(graph);
}

static void check_nodes(struct tare_graph *graph, struct tare_event *launch, const int *operations,
                        uint32_t count, struct tare_stamps *stamps)
{
	struct tare_stamps whole;

	must(tare_event_stamps(launch, &whole, &error));
	for (uint32_t i = 0; i < count; i++) {
		must(tare_graph_stamps(graph, i, &stamps[i], &error));
		check_engine(&stamps[i], at(&whole, TARE_STAMP_START), at(&whole, TARE_STAMP_END));
		assert_int_equal(tare_stamps_have(&stamps[i], TARE_STAMP_QUEUED),
		                 operations[i] == LAUNCH);
	}
	assert_int_equal(at(&stamps[0], TARE_STAMP_START), at(&whole, TARE_STAMP_START));
	assert_int_equal(at(&stamps[count - 1], TARE_STAMP_END), at(&whole, TARE_STAMP_END));
}

// Where records do not tell their nodes, a chain's follow one another; nothing else is guessed.
static void nodes_of_a_chain_are_told_by_their_order(void **state)
{
	enum { NODES = 4, BEFORE = 1, FORKED = 2, IDLE = 4 };
	static const int what_of[NODES] = { TO_DEVICE, LAUNCH, FILL, TO_HOST };
	static const struct {
		const char *script, *words;
		int shape;
	} rows[] = {
		{ "strange", NULL, 0 },
		{ "strange late", NULL, 0 },
		{ "version=12 late", NULL, 0 },
		{ "", NULL, BEFORE },
		{ "strange", "saw no engine", IDLE },
		{ "strange", "saw no engine", FORKED },
		{ "", "before its engines", BEFORE | FORKED },
		{ "strange timeless=1", "saw no engine", 0 },
	};
	(void)state;
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct tare_event *events[NODES] = { NULL }, *launched = NULL;
		struct tare_stamps stamps[NODES];
		struct tare_graph *graph = NULL;
		open_all("", rows[r].script);
		struct tare_queue *second = new_queue(false);
		if (!(rows[r].shape & BEFORE))
			must(tare_engine_stamps_begin(device, &error));
		must(tare_graph_begin(queue, &error));
		for (int i = 0; i < NODES; i++) {
			struct tare_operation what = operation(what_of[i]);
			bool aside = i == 1 && rows[r].shape & FORKED;
			if (i == 2 && rows[r].shape & IDLE)
				what = marker;
			if (i && rows[r].shape & FORKED) {
				what.waits = &events[i - 1];
				what.wait_count = 1;
			}
			must(tare_append(aside ? second : queue, &what, &events[i], &error));
		}
		must(tare_graph_end(queue, &graph, &error));
		if (rows[r].shape & BEFORE)
			must(tare_engine_stamps_begin(device, &error));
		must(tare_graph_launch(graph, queue, &launched, &error));
		must(tare_engine_stamps_end(device, &error));
		if (rows[r].words) {
			assert_int_equal(tare_graph_stamps(graph, 0, &stamps[0], &error), -ENODATA);
			assert_says(rows[r].words);
		} else {
			check_nodes(graph, launched, what_of, NODES, stamps);
			for (int i = 1; i < NODES; i++)
				assert_true(at(&stamps[i], TARE_STAMP_START) >=
				            at(&stamps[i - 1], TARE_STAMP_END));
		}
		tare_event_free(launched);
		for (int i = 0; i < NODES; i++)
			tare_event_free(events[i]);
		tare_graph_free(graph);
		tare_queue_free(second);
		close_all();
	}
}

// A graph that is recorded while engines are traced has no nodes of ours in it, and each of its
// nodes has its own engine's stamps, also where two branches run beside each other.
static void nodes_recorded_meanwhile_are_bracketed(void **state)
{
	enum { NODES = 4 };
	static const int what_of[NODES] = { TO_DEVICE, LAUNCH, FILL, TO_HOST };
	struct tare_event *fork, *join, *events[2];
	struct tare_graph *graph = NULL;
	struct tare_stamps stamps[NODES], whole;

	(void)state;
	open_all("", "");
	struct tare_queue *second = new_queue(false);
	must(tare_engine_stamps_begin(device, &error));
	must(tare_graph_begin(queue, &error));
	for (int i = 0; i < NODES; i++) {
		struct tare_operation what = operation(what_of[i]);
		what.waits = i == 1 ? &fork : &join;
		what.wait_count = i == 1 || i == 3;
		must(tare_append(i == 1 ? second : queue, &what,
		                 i == 0   ? &fork
		                 : i == 1 ? &join
		                          : NULL,
		                 &error));
	}
	must(tare_graph_end(queue, &graph, &error));
	for (int i = 0; i < 2; i++)
		must(tare_graph_launch(graph, queue, &events[i], &error));
	assert_int_equal(tare_graph_stamps(graph, 0, &stamps[0], &error), -EAGAIN);
	must(tare_engine_stamps_end(device, &error));
	// Those of the last launch: within its own, and together as long.
	check_nodes(graph, events[1], what_of, NODES, stamps);
	assert_true(at(&stamps[1], TARE_STAMP_START) >= at(&stamps[0], TARE_STAMP_END));
	assert_true(at(&stamps[3], TARE_STAMP_START) >= at(&stamps[1], TARE_STAMP_END));
	assert_true(at(&stamps[3], TARE_STAMP_START) >= at(&stamps[2], TARE_STAMP_END));
	// And of a launch that is traced later.
	tare_event_free(events[0]);
	must(tare_engine_stamps_begin(device, &error));
	must(tare_graph_launch(graph, queue, &events[0], &error));
	must(tare_engine_stamps_end(device, &error));
	check_nodes(graph, events[0], what_of, NODES, stamps);
	// Launched again when nothing is traced, it has none.
	must(tare_graph_launch(graph, queue, NULL, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	assert_int_equal(tare_graph_stamps(graph, 0, &whole, &error), -ENODATA);
	tare_graph_free(graph);
	tare_event_free(fork);
	tare_event_free(join);
	tare_event_free(events[0]);
	tare_event_free(events[1]);
	tare_queue_free(second);
}

// Nodes of a graph from a timed queue have the stamps of the last launch, one after the other, on
// the time base of the queue's events.
static void nodes_have_stamps_of_the_last_launch(void **state)
{
	struct tare_stamps stamps, first[CHAIN], whole;
	int64_t shortest[CHAIN] = { 0 };
	struct tare_event *event;

	(void)state;
	open_all("", "");
	struct tare_graph *graph = record_chain(queue, chain, CHAIN);
	assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -EAGAIN);
	for (int round = 0; round < 20; round++) {
		must(tare_graph_launch(graph, queue, &event, &error));
		must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		must(tare_event_stamps(event, &whole, &error));
		int64_t last = at(&whole, TARE_STAMP_START);
		for (uint32_t i = 0; i < CHAIN; i++) {
			must(tare_graph_stamps(graph, i, &stamps, &error));
			assert_false(stamps.brackets_engine);
			assert_int_equal(stamps.epoch, whole.epoch);
			// Each is told to a few ns by floats of its own.
			assert_true(at(&stamps, TARE_STAMP_START) >= last - 100);
			assert_true(at(&stamps, TARE_STAMP_END) > at(&stamps, TARE_STAMP_START));
			last = at(&stamps, TARE_STAMP_END);
			if (round)
				assert_true(at(&stamps, TARE_STAMP_START) >
				            at(&first[i], TARE_STAMP_END));
			first[i] = stamps;
			int64_t took = last - at(&stamps, TARE_STAMP_START);
			shortest[i] = round && shortest[i] < took ? shortest[i] : took;
		}
		assert_true(last <= at(&whole, TARE_STAMP_END) + 100);
		tare_event_free(event);
	}
	// 1 MB over the link takes longer than an empty kernel. The shortest of each, because
	// others may have the processor meanwhile.
	assert_true(shortest[0] > 2 * shortest[1]);
	assert_int_equal(tare_graph_stamps(graph, CHAIN, &stamps, &error), -EINVAL);
	tare_graph_free(graph);
}

static void nodes_without_stamps_say_why(void **state)
{
	static const struct {
		bool timed, old_driver;
		const char *words;
	} rows[] = {
		{ false, false, "not recorded on a timed queue" },
		{ true, true, "event nodes" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_stamps stamps;
		open_all("", "");
		if (rows[i].old_driver)
			((struct cuda_driver *)driver)->call.cuEventRecordWithFlags = NULL;
		struct tare_queue *where = new_queue(rows[i].timed);
		struct tare_graph *graph = record_chain(where, chain, CHAIN);
		must(tare_graph_launch(graph, where, NULL, &error));
		must(tare_finish(where, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -ENODATA);
		assert_says(rows[i].words);
		tare_graph_free(graph);
		tare_queue_free(where);
		close_all();
	}
}

// Two queues into one graph: the second joins by a wait, and is free again afterwards.
static void a_queue_that_waits_is_recorded_with_the_graph(void **state)
{
	struct tare_event *events[3] = { NULL }, *done;
	struct tare_graph *graph = NULL;
	struct tare_stamps one, two;
	struct tare_operation what;

	(void)state;
	open_all("", "");
	struct tare_queue *second = new_queue(true);
	for (int round = 0; round < 2; round++) {
		must(tare_graph_begin(queue, &error));
		assert_int_equal(tare_graph_begin(second, &error), -EINVAL);
		what = operation(TO_DEVICE);
		must(tare_append(queue, &what, &events[0], &error));
		what = operation(LAUNCH);
		what.waits = &events[0];
		what.wait_count = 1;
		must(tare_append(second, &what, &events[1], &error));
		what = operation(FILL);
		must(tare_append(queue, &what, NULL, &error));
		what = marker;
		what.waits = &events[1];
		what.wait_count = 1;
		must(tare_append(queue, &what, NULL, &error));
		if (round) {
			// Given up in the middle by the queue that joined.
			for (int i = 0; i < 2; i++)
				tare_event_free(events[i]);
			tare_queue_free(second);
			assert_int_equal(tare_graph_end(queue, &graph, &error), -EINVAL);
			break;
		}
		must(tare_graph_end(queue, &graph, &error));
		must(tare_graph_launch(graph, queue, &done, &error));
		must(tare_event_wait(done, TARE_LIMIT_DEFAULT_NS, &error));
		must(tare_graph_stamps(graph, 0, &one, &error));
		must(tare_graph_stamps(graph, 1, &two, &error));
		assert_true(at(&two, TARE_STAMP_START) >= at(&one, TARE_STAMP_END) - 100);
		tare_event_free(done);
		for (int i = 0; i < 2; i++)
			tare_event_free(events[i]);
		tare_graph_free(graph);
		graph = NULL;
		// Both queues run again what they get.
		what = operation(LAUNCH);
		must(tare_append(second, &what, &done, &error));
		must(tare_event_wait(done, TARE_LIMIT_DEFAULT_NS, &error));
		tare_event_free(done);
	}
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_graphs_launch_is_bracketed, teardown),
		cmocka_unit_test_teardown(nodes_of_a_chain_are_told_by_their_order, teardown),
		cmocka_unit_test_teardown(nodes_recorded_meanwhile_are_bracketed, teardown),
		cmocka_unit_test_teardown(nodes_have_stamps_of_the_last_launch, teardown),
		cmocka_unit_test_teardown(nodes_without_stamps_say_why, teardown),
		cmocka_unit_test_teardown(a_queue_that_waits_is_recorded_with_the_graph, teardown),
	};
	return run_on_fakes(tests);
}
