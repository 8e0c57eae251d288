// SPDX-License-Identifier: Apache-2.0
// A run on a device that is lost on the way gives up the device instead of tearing it down, which
// could wait for ever: tests/fakes/fake_opencl.c, whose path is the first argument, ends the
// process when anything is released after the loss.
#include "backend/call.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/core/run.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "measure/peak/peak.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int latency(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_latency(run, NULL, error);
}

static int bandwidth(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_bandwidth(run, NULL, error);
}

static int matmul(struct tare_run *run, struct tare_error *error)
{
	struct tare_matmul_options options = { .n = { 8 },
		                               .n_count = 1,
		                               .rungs = 1u << TARE_RUNG_REGISTER };
	return tare_measure_matmul(run, &options, error);
}

static int overlap(struct tare_run *run, struct tare_error *error)
{
	return tare_measure_overlap(run, NULL, NULL, error);
}

static void a_run_abandons_a_device_that_is_lost(void **state)
{
	static const struct {
		const char *script;
		const char *command;
		int (*measure)(struct tare_run *run, struct tare_error *error);
	} rows[] = {
		{ "event-lost=1,release-hangs", "latency", latency },
		{ "event-lost=200,release-hangs", "latency", latency },
		{ "event-lost=700,release-hangs", "latency", latency },
		{ "event-lost=1,release-hangs", "bandwidth", bandwidth },
		{ "event-lost=25,release-hangs", "bandwidth", bandwidth },
		{ "event-lost=200,release-hangs", "bandwidth", bandwidth },
		{ "event-lost=1,release-hangs", "peak", tare_measure_peak },
		{ "event-lost=40,release-hangs", "peak", tare_measure_peak },
		{ "event-lost=200,release-hangs", "peak", tare_measure_peak },
		{ "event-lost=1,release-hangs", "matmul", matmul },
		{ "event-lost=40,release-hangs", "matmul", matmul },
		{ "event-lost=200,release-hangs", "matmul", matmul },
		{ "event-lost=1,release-hangs", "overlap", overlap },
		{ "event-lost=140,release-hangs", "overlap", overlap },
		{ "event-lost=150,release-hangs", "overlap", overlap },
	};
	const struct tare_backend *backend = tare_backend_find("opencl");
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static struct tare_driver *driver; // left open on purpose, as abandoning asks for
		struct tare_facts facts = { 0 };
		struct tare_error error = { 0 };
		struct tare_run run = {
			.facts = &facts,
			.result = tare_result_new(rows[i].command),
			.budget_ns = INT64_C(2000000000),
			.seed =
			    2, // in this order events tell of the loss before anything is released
		};
		setenv("TARE_FAKE_OPENCL", "", 1);
		assert_int_equal(backend->driver_open(NULL, &driver, &error), 0);
		assert_int_equal(backend->device_facts(driver, 0, &facts, &error), 0);
		assert_int_equal(backend->device_open(driver, 0, &run.device, &error), 0);
		setenv("TARE_FAKE_OPENCL", rows[i].script, 1);
		int status = rows[i].measure(&run, &error);
		if (status != -ENODEV)
			fail_msg("row %zu: %d, %s", i, status, error.message);
		assert_true(run.device->lost);
		tare_device_close(run.device);
		tare_result_free(run.result);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_abandons_a_device_that_is_lost),
	};
	if (argc != 2)
		return 1;
	setenv("TARE_OPENCL_LIBRARY", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
