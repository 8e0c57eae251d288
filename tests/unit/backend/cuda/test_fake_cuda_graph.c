// SPDX-License-Identifier: Apache-2.0
// Captures and graphs of the stand-in for libcuda, asked without the backend.
#include "fake_cuda_rig.h"

#define NODE_NS 300000

static cu_graph_exec captured(cu_stream stream)
{
	cu_graph graph = NULL;
	cu_graph_exec exec = NULL;
	ok(call.cuStreamEndCapture(stream, &graph));
	ok(call.cuGraphInstantiateWithFlags(&exec, graph, 0));
	ok(call.cuGraphDestroy(graph));
	return exec;
}

static int64_t start_of(const char *name)
{
	for (size_t i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, name) == 0)
			return seen[i].start_ns;
	fail_msg("no kernel '%s' ran", name);
	return 0;
}

static int64_t end_of(const char *name)
{
	for (size_t i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, name) == 0)
			return seen[i].end_ns;
	fail_msg("no kernel '%s' ran", name);
	return 0;
}

// a, then a kernel b beside a copy, then c: recorded from two streams.
static cu_graph_exec fork_and_join(cu_stream first, cu_stream second, void *pinned,
                                   cu_pointer remote)
{
	cu_event fork = new_event(), join = new_event();

	ok(call.cuStreamBeginCapture_v2(first, ABI_STREAM_CAPTURE_MODE_RELAXED));
	ok(hooks.launch(first, "a", NODE_NS, NULL, NULL));
	ok(call.cuEventRecord(fork, first));
	ok(call.cuStreamWaitEvent(second, fork, 0));
	ok(hooks.launch(first, "b", NODE_NS, NULL, NULL));
	ok(call.cuMemcpyHtoDAsync_v2(remote, pinned, 16 << 20, second));
	ok(call.cuEventRecord(join, second));
	ok(call.cuStreamWaitEvent(first, join, 0));
	ok(hooks.launch(first, "c", NODE_NS, NULL, NULL));
	return captured(first);
}

static void branches_run_beside_each_other(void **state)
{
	cu_stream first, second;
	cu_pointer remote;
	void *pinned;
	(void)state;
	start("");
	first = new_stream();
	second = new_stream();
	ok(call.cuMemHostAlloc(&pinned, 16 << 20, 0));
	ok(call.cuMemAlloc_v2(&remote, 16 << 20));
	memset(pinned, 3, 16 << 20);
	cu_graph_exec exec = fork_and_join(first, second, pinned, remote);
	hooks.observe(see);
	for (int round = 0; round < 2; round++) {
		seen_count = 0;
		ok(hooks.launch(first, "before", NODE_NS, NULL, NULL));
		ok(call.cuGraphLaunch(exec, first));
		ok(hooks.launch(first, "after", NODE_NS, NULL, NULL));
		ok(call.cuStreamSynchronize(first));
		assert_int_equal(seen_count, 6);
		assert_true(start_of("a") >= end_of("before"));
		assert_true(start_of("b") >= end_of("a"));
		assert_true(start_of("") >= end_of("a"));
		assert_true(start_of("b") < end_of("") && start_of("") < end_of("b"));
		assert_true(start_of("c") >= end_of("b") && start_of("c") >= end_of(""));
		assert_true(start_of("after") >= end_of("c"));
	}
	hooks.observe(NULL);
	assert_int_equal(((char *)(uintptr_t)remote)[(16 << 20) - 1], 3);
	ok(call.cuGraphExecDestroy(exec));
}

// A branch that is joined, with nothing behind it, belongs to the graph all the same.
static void what_follows_a_graph_waits_for_all_branches(void **state)
{
	cu_stream first, second;
	cu_event fork, join;
	(void)state;
	start("");
	first = new_stream();
	second = new_stream();
	fork = new_event();
	join = new_event();
	ok(call.cuStreamBeginCapture_v2(first, ABI_STREAM_CAPTURE_MODE_RELAXED));
	ok(call.cuEventRecord(fork, first));
	ok(call.cuStreamWaitEvent(second, fork, 0));
	ok(hooks.launch(second, "side", 4 * NODE_NS, NULL, NULL));
	ok(call.cuEventRecord(join, second));
	ok(call.cuStreamWaitEvent(first, join, 0));
	cu_graph_exec exec = captured(first);
	hooks.observe(see);
	seen_count = 0;
	ok(call.cuGraphLaunch(exec, first));
	ok(call.cuEventRecord(fork, first));
	ok(call.cuStreamSynchronize(first));
	hooks.observe(NULL);
	assert_true(hooks.event_ns(fork) >= end_of("side"));
	ok(call.cuGraphExecDestroy(exec));
}

static void external_records_are_recorded_at_each_launch(void **state)
{
	cu_stream stream;
	cu_event begin, end, plain;
	float ms[2];
	(void)state;
	start("");
	stream = new_stream();
	begin = new_event();
	end = new_event();
	plain = new_event();
	ok(call.cuStreamBeginCapture_v2(stream, ABI_STREAM_CAPTURE_MODE_RELAXED));
	ok(hooks.record_with_flags(begin, stream, 1));
	ok(hooks.launch(stream, "a", NODE_NS, NULL, NULL));
	ok(hooks.record_with_flags(end, stream, 1));
	ok(call.cuEventRecord(plain, stream));
	cu_graph_exec exec = captured(stream);
	assert_int_equal(call.cuEventQuery(plain), ABI_CAPTURED_EVENT);
	assert_int_equal(call.cuEventElapsedTime(ms, begin, end), ABI_INVALID_HANDLE);
	int64_t last = 0;
	for (int round = 0; round < 2; round++) {
		ok(call.cuGraphLaunch(exec, stream));
		ok(call.cuEventSynchronize(end));
		ok(call.cuEventElapsedTime(&ms[round], begin, end));
		assert_true(ms[round] > 0.3f && ms[round] < 0.31f);
		assert_true(hooks.event_ns(begin) > last);
		last = hooks.event_ns(end);
	}
	ok(call.cuGraphExecDestroy(exec));
}

static void captures_end_as_cuda_says(void **state)
{
	cu_stream first, second, blocking;
	cu_event event, outside;
	cu_graph graph;
	(void)state;
	start("");
	first = new_stream();
	second = new_stream();
	ok(call.cuStreamCreate(&blocking, 0));
	event = new_event();
	outside = new_event();
	ok(call.cuEventRecord(outside, second));
	assert_int_equal(call.cuStreamBeginCapture_v2(ABI_STREAM_LEGACY, 2), 900);
	// Not joined.
	ok(call.cuStreamBeginCapture_v2(first, 2));
	ok(call.cuEventRecord(event, first));
	ok(call.cuStreamWaitEvent(second, event, 0));
	ok(hooks.launch(second, "a", NODE_NS, NULL, NULL));
	assert_int_equal(call.cuStreamEndCapture(second, &graph), 903);
	assert_int_equal(call.cuStreamEndCapture(first, &graph), 904);
	assert_null(graph);
	ok(call.cuStreamSynchronize(second));
	// Asked for while it captures.
	ok(call.cuStreamBeginCapture_v2(first, 2));
	assert_int_equal(call.cuStreamQuery(first), 900);
	assert_int_equal(call.cuStreamEndCapture(first, &graph), 901);
	// An event from outside; the legacy stream beside a blocking one that captures.
	ok(call.cuStreamBeginCapture_v2(first, 2));
	assert_int_equal(call.cuStreamWaitEvent(first, outside, 0), 905);
	ok(hooks.launch(ABI_STREAM_LEGACY, "a", NODE_NS, NULL, NULL));
	ok(call.cuStreamEndCapture(first, &graph));
	ok(call.cuGraphDestroy(graph));
	ok(call.cuStreamBeginCapture_v2(blocking, 2));
	assert_int_equal(hooks.launch(ABI_STREAM_LEGACY, "a", NODE_NS, NULL, NULL), 906);
	ok(call.cuStreamEndCapture(blocking, &graph));
	ok(call.cuGraphDestroy(graph));
	// The capture is over: its event is none.
	assert_int_equal(call.cuStreamWaitEvent(second, event, 0), ABI_CAPTURED_EVENT);
}

static void count(void *counter)
{
	__atomic_add_fetch((int *)counter, 1, __ATOMIC_SEQ_CST);
}

static void host_functions_run_in_graphs(void **state)
{
	cu_stream first, second;
	cu_event fork, join;
	int counter = 0;
	(void)state;
	start("");
	first = new_stream();
	second = new_stream();
	fork = new_event();
	join = new_event();
	ok(call.cuStreamBeginCapture_v2(first, 2));
	ok(call.cuEventRecord(fork, first));
	ok(call.cuStreamWaitEvent(second, fork, 0));
	ok(call.cuLaunchHostFunc(first, count, &counter));
	ok(call.cuLaunchHostFunc(second, count, &counter));
	ok(call.cuEventRecord(join, second));
	ok(call.cuStreamWaitEvent(first, join, 0));
	ok(call.cuLaunchHostFunc(first, count, &counter));
	cu_graph_exec exec = captured(first);
	for (int round = 1; round < 4; round++) {
		ok(call.cuGraphLaunch(exec, first));
		ok(call.cuStreamSynchronize(first));
		assert_int_equal(__atomic_load_n(&counter, __ATOMIC_SEQ_CST), 3 * round);
	}
	ok(call.cuGraphExecDestroy(exec));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(branches_run_beside_each_other),
		fake_test(what_follows_a_graph_waits_for_all_branches),
		fake_test(external_records_are_recorded_at_each_launch),
		fake_test(captures_end_as_cuda_says),
		fake_test(host_functions_run_in_graphs),
	};
	return cmocka_run_group_tests(tests, find_hooks, NULL);
}
