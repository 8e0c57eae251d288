// SPDX-License-Identifier: Apache-2.0
// A run on a device that is lost on the way gives up the device instead of tearing it down, which
// could wait for ever: tests/fakes/fake_opencl.c, whose path is the first argument, ends the
// process when anything is released after the loss.
#include "backend/call.h"
#include "measure/bandwidth.h"
#include "measure/latency.h"
#include "measure/run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_run_abandons_a_device_that_is_lost(void **state)
{
	static const struct {
		const char *script;
		bool bandwidth;
	} rows[] = {
		{ "event-lost=1,release-hangs", false },
		{ "event-lost=200,release-hangs", false },
		{ "event-lost=700,release-hangs", false },
		{ "event-lost=1,release-hangs", true },
		{ "event-lost=25,release-hangs", true },
		{ "event-lost=200,release-hangs", true },
	};
	const struct tare_backend *backend = tare_backend_find("opencl");
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static struct tare_driver *driver;  // left open on purpose, as abandoning asks for
		struct tare_facts facts = { 0 };
		struct tare_error error = { 0 };
		struct tare_run run = {
			.facts = &facts,
			.result = tare_result_new(rows[i].bandwidth ? "bandwidth" : "latency"),
			.budget_ns = INT64_C(2000000000),
			.seed = 1,
		};
		setenv("TARE_FAKE_OPENCL", "", 1);
		assert_int_equal(backend->driver_open(NULL, &driver, &error), 0);
		assert_int_equal(backend->device_facts(driver, 0, &facts, &error), 0);
		assert_int_equal(backend->device_open(driver, 0, &run.device, &error), 0);
		setenv("TARE_FAKE_OPENCL", rows[i].script, 1);
		int status = rows[i].bandwidth ? tare_measure_bandwidth(&run, NULL, &error)
		                               : tare_measure_latency(&run, NULL, &error);
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
