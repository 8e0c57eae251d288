// SPDX-License-Identifier: Apache-2.0
// `latency` on a simulated device: every figure is known in advance.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "latency_rig.h"

// What a device may lack, none of which hides another.
#define LACKS_FOUR                                                                                 \
	"lacks graphs reason \"no graphs here\"\n"                                                 \
	"lacks gates reason \"no gates here\"\n"                                                   \
	"lacks callbacks reason \"no callbacks here\"\n"                                           \
	"lacks pinned reason \"no pinning here\"\n"

static void figures_equal_closed_forms(void **state)
{
	static const struct {
		const char *what, *source;
		double ns, tolerance_ns;
	} rows[] = {
		{ "read the host clock", "host", 20, 0.1 },
		// 300 ns before, 500 ns after, and the reading of the clock that ends it.
		{ "clock pair, its bracket", "host", 820, 20 },
		{ "empty kernel, alone", "device", 2000, 1 },
		// Handing them over is 500 ns, and the reading of the clock 20.
		{ "launch, issue only", "host", 1000 + 520.0 / 256, 0.1 },
		// 256 kernels of 2 us and 255 gaps of 0.2 us.
		{ "launch, gated", "device", 2000 + 200.0 * 255 / 256, 1 },
		{ "finish, nothing to wait for", "host", 400, 2 },
		{ "query an event", "host", 300, 2 },
		{ "append a marker", "host", 1000, 1 },
		{ "append a marker with an event", "host", 1500, 1 },
		{ "copy 1 byte, pinned to device", "device", 2000, 1 },
		{ "copy 1 byte, device to pinned", "device", 1000, 1 },
		{ "wait across queues", "device", 1500, 1 },
	};
	struct simulated_run simulated;
	(void)state;
	measure(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell =
		    find(simulated.run.result, rows[i].what, rows[i].source);
		if (fabs(median_ns(cell) - rows[i].ns) > rows[i].tolerance_ns)
			fail_msg("%s: %.3f ns, not %.3f", rows[i].what, median_ns(cell),
			         rows[i].ns);
	}
	simulated_close(&simulated);
}

// The two queues are our own doing: what turning from one to the other costs is in no figure.
static void a_launch_does_not_pay_for_our_second_queue(void **state)
{
	static const char *const whats[] = { "launch and wait", "copy 1 byte, pinned to device",
		                             "copy 1 byte, device to pageable" };
	static const char *const costs[] = { "switch 0 us ", "switch 1 us ", "switch 5 us " };
	double first[3] = { 0 };
	(void)state;
	for (size_t c = 0; c < 3; c++) {
		char script[4096];
		struct simulated_run simulated;
		snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
		replace(script, "switch 1 us ", costs[c]);
		measure(&simulated, script);
		for (size_t i = 0; i < 3; i++) {
			double ns = median_ns(find(simulated.run.result, whats[i], "host"));
			if (c == 0)
				first[i] = ns;
			else if (fabs(ns - first[i]) > 20)
				fail_msg("%s: %.0f ns, with %s %.0f ns", whats[i], first[i],
				         costs[c], ns);
		}
		simulated_close(&simulated);
	}
}

static void every_cell_says_what_and_how(void **state)
{
	struct simulated_run simulated;
	(void)state;
	measure(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		assert_true(label_text(cell, "group")[0] && label_text(cell, "what")[0]);
		assert_non_null(cell->method);
		if (!cell->absent && strcmp(cell->source, "model") != 0) {
			assert_true(cell->summary.n > 0);
			assert_non_null(cell->samples);
		}
	}
	assert_true(simulated.run.result->plot_count >= 5);
	simulated_close(&simulated);
}

static void what_is_missing_says_why(void **state)
{
	static const struct {
		const char *script, *what, *source, *reason;
	} rows[] = {
		{ SIMPLE_DEVICE "pairs none\n", "launch to start", "device", "around the kernel" },
		{ SIMPLE_DEVICE "pairs none\n", "clock pair, its bracket", "host", "" },
		// Counters of one rate whose zeros are 1 ms apart.
		{ SIMPLE_DEVICE SIMPLE_PAIRS "pair-timer rate 1 GHz bits 64 epoch 1000000 ticks\n",
		  "launch to start", "device", "have different zeros: a stamp lies 99" },
		{ SIMPLE_DEVICE SIMPLE_PAIRS LACKS_FOUR, "graph of one kernel", "host",
		  "no graphs here" },
		{ SIMPLE_DEVICE SIMPLE_PAIRS LACKS_FOUR, "launch, gated", "device",
		  "no gates here" },
		{ SIMPLE_DEVICE SIMPLE_PAIRS LACKS_FOUR, "event done to callback", "device",
		  "no callbacks here" },
		{ SIMPLE_DEVICE SIMPLE_PAIRS LACKS_FOUR, "copy 1 byte, pinned to device", "host",
		  "no pinning here" },
		{ SIMPLE_DEVICE SIMPLE_PAIRS "fault build \"it does not compile\"\n",
		  "launch and wait", "host", "no empty kernel" },
	};
	struct simulated_run simulated;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell;
		bool is_last = i + 1 == sizeof rows / sizeof *rows;
		if (i == 0 || strcmp(rows[i].script, rows[i - 1].script) != 0)
			measure(&simulated, rows[i].script);
		cell = find(simulated.run.result, rows[i].what, rows[i].source);
		if (!cell->absent || !strstr(cell->absent, rows[i].reason))
			fail_msg("%s: absent: %s", rows[i].what,
			         cell->absent ? cell->absent : "(it is there)");
		assert_true(isnan(cell->summary.median));
		// All else is measured.
		assert_null(
		    find(simulated.run.result, "finish, nothing to wait for", "host")->absent);
		if (is_last || strcmp(rows[i].script, rows[i + 1].script) != 0)
			simulated_close(&simulated);
	}
}

static void a_lost_device_is_an_error_not_a_crash(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS "fault device-lost 100\n", "latency",
	               BUDGET);
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, &error), -ENODEV);
	assert_non_null(strstr(error.message, "lost"));
	simulated_close(&simulated);
}

static void the_same_seed_gives_the_same_document(void **state)
{
	struct simulated_run first, second;
	(void)state;
	measure(&first, SIMPLE_DEVICE SIMPLE_PAIRS);
	measure(&second, SIMPLE_DEVICE SIMPLE_PAIRS);
	assert_int_equal(first.run.result->cell_count, second.run.result->cell_count);
	for (size_t i = 0; i < first.run.result->cell_count; i++) {
		const struct tare_cell *a = &first.run.result->cells[i],
		                       *b = &second.run.result->cells[i];
		assert_int_equal(a->summary.n, b->summary.n);
		if (a->summary.n)
			assert_memory_equal(a->samples, b->samples,
			                    a->summary.n * sizeof *a->samples);
	}
	simulated_close(&first);
	simulated_close(&second);
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	struct simulated_run simulated;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "latency", BUDGET);
	watch_native_waits(&simulated);
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	assert_int_equal(native_violations, 0);
	simulated_close(&simulated);
}

static struct {
	void (*function)(void *context);
	void *context;
} late;
static size_t clock_reads;

static int callback_that_comes_late(struct tare_event *event, void (*function)(void *context),
                                    void *context, struct tare_error *error)
{
	(void)event;
	(void)error;
	assert_null(late.function);
	late.function = function;
	late.context = context;
	return 0;
}

static struct tare_host_time count_reads(struct tare_device *device)
{
	clock_reads++;
	return plain.host_now(device);
}

// By then the device may be closed.
static void a_callback_that_comes_too_late_touches_no_device(void **state)
{
	struct simulated_run simulated;
	(void)state;
	late.function = NULL;
	replace_backend(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	backend.event_callback = callback_that_comes_late;
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	assert_non_null(
	    strstr(find(simulated.run.result, "gate opened to callback", "host")->absent,
	           "not called within a second"));
	backend.host_now = count_reads;
	clock_reads = 0;
	late.function(late.context);
	assert_int_equal(clock_reads, 0);
	simulated_close(&simulated);
}

static void building_the_kernel_takes_nothing_from_a_short_budget(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "build 1 ms", "build 9 s");
	simulated_open(&simulated, script, "latency", SHORT_BUDGET);
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	assert_null(find_warning(simulated.run.result, "budget-short"));
	assert_true(find(simulated.run.result, "launch and wait", "host")->converged);
	simulated_close(&simulated);
}

// ---- queues, graphs and calls of the host

#define CALLS_AND_GRAPHS "call fixed 5 us\ngraph instantiate 38 us launch 3 us node 0.5 us\n"

static void queues_graphs_and_host_calls_equal_closed_forms(void **state)
{
	static const struct {
		const char *what, *source;
		double ns, tolerance_ns;
	} rows[] = {
		{ "launch over 1 queue, issue only", "host", 1000, 10 },
		{ "launch over 8 queues, issue only", "host", 1000, 30 },
		// The kernels of one engine run one after another: 2 us and a gap of 0.2 us on one
		// queue, 1 us more between two.
		{ "launch over 1 queue, then wait", "host", 2200, 50 },
		{ "launch over 2 queues, then wait", "host", 3000, 50 },
		{ "legacy default, issue only", "host", 1000, 10 },
		{ "legacy default, many then wait", "host", 2200, 50 },
		{ "1 B copies to device, issue only", "host", 1000, 10 },
		{ "1 B copies to pinned, issue only", "host", 1000, 10 },
		// 2 us and 1 us on the engine, and the gap.
		{ "1 B copies to device, then wait", "host", 2200, 50 },
		{ "1 B copies to pinned, then wait", "host", 1200, 50 },
		{ "host call to host call", "host", 5000, 50 },
		{ "graph, node to node", "device", 700, 1 },
		{ "graph, empty kernel", "device", 500, 1 },
	};
	struct simulated_run simulated;
	(void)state;
	measure(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS CALLS_AND_GRAPHS);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double ns = median_ns(find(simulated.run.result, rows[i].what, rows[i].source));
		if (fabs(ns - rows[i].ns) > rows[i].tolerance_ns)
			print_error("%s: %.1f ns, not %.1f\n", rows[i].what, ns, rows[i].ns);
		assert_true(fabs(ns - rows[i].ns) <= rows[i].tolerance_ns);
	}
	assert_non_null(
	    strstr(find(simulated.run.result, "thread's default, launch and wait", "host")->absent,
	           "no default queue of a thread"));
	assert_string_equal(
	    label_text(find(simulated.run.result, "graph, node to node", "device"), "by"), "");
	// A kernel between two calls makes it longer by at least the kernel.
	assert_true(median_ns(find(simulated.run.result, "host call, kernel, host call", "host")) >=
	            5000 + 2000);
	simulated_close(&simulated);
}

static void a_quick_look_leaves_out_what_few_ask_for(void **state)
{
	const struct tare_latency_options options = { .coarse = true };
	struct simulated_run simulated;
	bool queues = false, launches = false;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS CALLS_AND_GRAPHS, "latency",
	               BUDGET / 3);
	assert_int_equal(tare_measure_latency(&simulated.run, &options, NULL), 0);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		queues |= strcmp(label_text(cell, "group"), "queue") == 0 ||
		          strcmp(label_text(cell, "group"), "host call") == 0;
		launches |=
		    strcmp(label_text(cell, "what"), "launch and wait") == 0 && !cell->absent;
	}
	assert_false(queues);
	assert_true(launches);
	simulated_close(&simulated);
}

static struct {
	struct tare_backend backend;
	int status; // of begin
	int begun, ended, most;
} tracer;

static int begin_trace(struct tare_device *device, struct tare_error *error)
{
	(void)device;
	if (tracer.status < 0)
		return tare_fail(error, -tracer.status, "no tracer");
	tracer.begun++;
	if (tracer.begun - tracer.ended > tracer.most)
		tracer.most = tracer.begun - tracer.ended;
	return 0;
}

static int end_trace(struct tare_device *device, struct tare_error *error)
{
	(void)device;
	(void)error;
	tracer.ended++;
	return 0;
}

// The stamps of a traced graph are those of the launch whose event was asked for.
static int launch_graph(struct tare_graph *graph, struct tare_queue *queue,
                        struct tare_event **event, struct tare_error *error)
{
	if (tracer.begun > tracer.ended)
		assert_non_null(event);
	return tare_backend_find("simulated")->graph_launch(graph, queue, event, error);
}

static void nodes_are_timed_by_the_tracer_where_there_is_one(void **state)
{
	static const int statuses[] = { 0, -ENOENT, -ENOTSUP };
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct simulated_run simulated;
		const struct tare_cell *cell;
		simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS CALLS_AND_GRAPHS, "latency",
		               BUDGET / 3);
		tracer.backend = *simulated.device->backend;
		tracer.backend.engine_stamps_begin = begin_trace;
		tracer.backend.engine_stamps_end = end_trace;
		tracer.backend.graph_launch = launch_graph;
		tracer.status = statuses[i];
		tracer.begun = tracer.ended = tracer.most = 0;
		simulated.device->backend = &tracer.backend;
		assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
		cell = find(simulated.run.result, "graph, node to node", "device");
		assert_true(fabs(median_ns(cell) - 700) <= 1);
		assert_string_equal(label_text(cell, "by"), i == 0 ? "tracer" : "");
		// Nothing else is traced: once for each sample, the first launch and the warm-up.
		assert_int_equal(tracer.begun, tracer.ended);
		assert_int_equal(tracer.most, i == 0);
		assert_true(i > 0 || (size_t)tracer.begun >= cell->summary.n + 1);
		simulated_close(&simulated);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_equal_closed_forms),
		cmocka_unit_test(a_launch_does_not_pay_for_our_second_queue),
		cmocka_unit_test(every_cell_says_what_and_how),
		cmocka_unit_test(what_is_missing_says_why),
		cmocka_unit_test(a_lost_device_is_an_error_not_a_crash),
		cmocka_unit_test(the_same_seed_gives_the_same_document),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
		cmocka_unit_test(a_callback_that_comes_too_late_touches_no_device),
		cmocka_unit_test(building_the_kernel_takes_nothing_from_a_short_budget),
		cmocka_unit_test(queues_graphs_and_host_calls_equal_closed_forms),
		cmocka_unit_test(a_quick_look_leaves_out_what_few_ask_for),
		cmocka_unit_test(nodes_are_timed_by_the_tracer_where_there_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
