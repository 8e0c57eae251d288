// SPDX-License-Identifier: Apache-2.0
// Figures by the vendor's tracer, on the stand-ins for CUDA and CUPTI: nothing is timed once the
// tracer was asked for the first time, and without it what there is says what it is.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/call.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"

#define BUDGET INT64_C(400000000)

static struct tare_driver *driver;
static struct tare_facts facts;
static struct tare_run run;
static struct tare_backend backend;
static const struct tare_backend *cuda;
static int begun;
static size_t timed_first; // figures that were there when the tracer was first asked for

static const char *text_of(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text ? label->text : "";
}

// Or would be, if there is one: the nodes of a graph.
static bool is_by_tracer(const struct tare_cell *cell)
{
	return strstr(cell->method, "tracer") ||
	       strcmp(text_of(cell, "what"), "graph, empty kernel") == 0;
}

static size_t count_timed(void)
{
	size_t count = 0;

	for (size_t i = 0; i < run.result->cell_count; i++) {
		const struct tare_cell *cell = &run.result->cells[i];
		count += strcmp(cell->source, "model") != 0 && cell->method && !is_by_tracer(cell);
	}
	return count;
}

// What is timed otherwise has its figure, or the reason why it has none, by now.
static int begin_trace(struct tare_device *device, struct tare_error *error)
{
	const struct tare_result *result = run.result;

	if (begun++ == 0)
		timed_first = count_timed();
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(cell->source, "model") == 0 || !cell->method || is_by_tracer(cell))
			continue;
		if (cell->absent && strcmp(cell->absent, "not measured") == 0)
			fail_msg("the tracer was asked for before '%s%s' was measured",
			         text_of(cell, "what"), text_of(cell, "part"));
	}
	return cuda->engine_stamps_begin(device, error);
}

static void open_run(const char *command, const char *cupti, int64_t budget_ns)
{
	setenv("TARE_FAKE_CUPTI", cupti, 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, NULL), 0);
	assert_int_equal(cuda->device_facts(driver, 0, &facts, NULL), 0);
	run = (struct tare_run){ .facts = &facts,
		                 .seed = 1,
		                 .budget_ns = budget_ns,
		                 .result = tare_result_new(command) };
	assert_int_equal(cuda->device_open(driver, 0, &run.device, NULL), 0);
	backend = *cuda;
	backend.engine_stamps_begin = begin_trace;
	run.device->backend = &backend;
	begun = 0;
}

static void close_run(void)
{
	tare_result_free(run.result);
	run.device->backend = cuda;
	tare_device_close(run.device);
	cuda->driver_close(driver);
}

static bool ran_out_of_time(void)
{
	for (size_t i = 0; i < run.result->cell_count; i++)
		if (run.result->cells[i].absent && strstr(run.result->cells[i].absent, "budget"))
			return true;
	return false;
}

// `matmul`, or `latency` where that is NULL; with more time where a busy machine left too little.
static void measure(const char *cupti, const struct tare_matmul_options *matmul)
{
	struct tare_latency_options latency = { .batch = 8 };

	for (int64_t budget_ns = BUDGET;; budget_ns *= 10) {
		struct tare_error error = { 0 };
		open_run(matmul ? "matmul" : "latency", cupti, budget_ns);
		if ((matmul ? tare_measure_matmul(&run, matmul, &error)
		            : tare_measure_latency(&run, &latency, &error)) < 0)
			fail_msg("%s", error.message);
		if (!ran_out_of_time() || budget_ns > 10 * BUDGET)
			return;
		close_run();
	}
}

static const struct tare_cell *find(const char *label, const char *what, const char *rung,
                                    const char *by)
{
	for (size_t i = 0; i < run.result->cell_count; i++) {
		const struct tare_cell *cell = &run.result->cells[i];
		if (strcmp(text_of(cell, label), what) == 0 &&
		    strcmp(text_of(cell, "rung"), rung) == 0 &&
		    strcmp(text_of(cell, "by"), by) == 0 && strcmp(cell->source, "device") == 0)
			return cell;
	}
	return NULL;
}

static void latency_asks_the_tracer_last(void **state)
{
	const struct tare_cell *alone, *traced, *nodes;
	const char *group = "";
	int groups = 0;

	(void)state;
	measure("", NULL);
	assert_true(begun > 2);
	assert_int_equal(count_timed(), timed_first);
	alone = find("what", "empty kernel, alone", "", "");
	traced = find("what", "empty kernel, alone", "", "tracer");
	nodes = find("what", "graph, node to node", "", "tracer");
	assert_true(alone && traced && nodes);
	assert_true(traced->summary.n > 0 && nodes->summary.n > 0);
	// Between the two positions lies more than the engine's work.
	assert_true(traced->summary.median < alone->summary.median);
	assert_null(strstr(traced->method, "positions"));
	assert_null(strstr(nodes->method, "positions"));
	assert_non_null(strstr(alone->method, "positions"));
	// What came last stands beside its like.
	for (size_t i = 0; i < run.result->cell_count; i++) {
		const char *own = text_of(&run.result->cells[i], "group");
		groups += strcmp(own, group) != 0 && strcmp(own, "launch") == 0;
		group = own;
	}
	assert_int_equal(groups, 1);
	close_run();
}

static void latency_without_the_tracer_says_why(void **state)
{
	const struct tare_cell *traced, *nodes;

	(void)state;
	measure("holder=Nsight_Systems", NULL);
	traced = find("what", "empty kernel, alone", "", "tracer");
	nodes = find("what", "graph, node to node", "", "");
	assert_non_null(strstr(traced->absent, "Nsight_Systems"));
	assert_true(nodes->summary.n > 0);
	assert_non_null(strstr(nodes->method, "positions"));
	close_run();
}

static void matmul_asks_the_tracer_last(void **state)
{
	static const struct {
		const char *cupti, *by;
		bool untraced;
	} rows[] = {
		{ "", "tracer", false },
		{ "holder=Nsight_Systems", "", false },
		{ "", "", true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_matmul_options options = { .n = { 32 },
			                               .n_count = 1,
			                               .rungs = 1u << TARE_RUNG_NAIVE |
			                                        1u << TARE_RUNG_SEQUENTIAL,
			                               .untraced = rows[i].untraced };
		bool traced = rows[i].by[0] != '\0';
		const struct tare_cell *kernel, *stamped;
		const struct tare_label *clock;
		measure(rows[i].cupti, &options);
		assert_int_equal(begun == 0, rows[i].untraced);
		assert_true(rows[i].untraced || count_timed() == timed_first);
		kernel = find("part", "kernel", "naive", rows[i].by);
		stamped = find("part", "kernel-stamps", "naive", "");
		assert_true(kernel && kernel->summary.n > 0 && kernel->verified == TARE_VERIFIED);
		assert_int_equal(strstr(kernel->method, "positions") == NULL, traced);
		assert_int_equal(stamped != NULL, traced);
		if (traced)
			assert_true(kernel->summary.median < stamped->summary.median);
		clock = tare_labels_find(&run.result->parameters, "kernel-clock");
		if (rows[i].untraced)
			assert_null(clock);
		else
			assert_non_null(strstr(clock->text, traced ? "tracer" : "Nsight_Systems"));
		close_run();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency_asks_the_tracer_last),
		cmocka_unit_test(latency_without_the_tracer_says_why),
		cmocka_unit_test(matmul_asks_the_tracer_last),
	};

	cuda = tare_backend_find("cuda");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
