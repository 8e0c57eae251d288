// SPDX-License-Identifier: Apache-2.0
// `matmul`: what is not there says why, and what goes wrong ends it well.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "matmul_rig.h"

// The order of groups is none of the simulated device's: what it takes is the rung before's.
static void the_rung_of_the_cache_says_why_it_is_not_there(void **state)
{
	static const struct {
		int64_t n;
		const char *why; // NULL: it is there
	} rows[] = { { 100, "the whole product fits" },
		     { 300, NULL },
		     { 2000, "no square of 2 x 2 tiles fits" } };
	char script[8192];
	struct simulated_run simulated;

	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	replace(script, "largest 64 MiB", "largest 64 MiB cache 2 MiB");
	run_well(&simulated, script, "100,300,2000", "register,cached");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell =
		    find(simulated.run.result, "cached", rows[i].n, "kernel");
		if (rows[i].why)
			assert_true(cell->absent && strstr(cell->absent, rows[i].why));
		else
			assert_true(!cell->absent && cell->verified == TARE_VERIFIED);
	}
	simulated_close(&simulated);
	replace(script, " cache 2 MiB", "");
	run_well(&simulated, script, "300", "cached,naive");
	assert_non_null(strstr(find(simulated.run.result, "cached", -1, "kernel")->absent,
	                       "does not tell the size of its shared cache"));
	simulated_close(&simulated);
}

static void what_is_not_there_says_why(void **state)
{
	static const struct {
		const char *rung;
		int64_t n;
		const char *why;
	} rows[] = {
		{ "sequential", -1, "virtual time" },
		{ "host-blas", -1, "virtual time" },
		{ "blas", -1, "library" },
		{ "element", 100, "launches" },
		{ "naive", 2050, "fit" },
		{ "naive", 4096, "fit" },
		{ "tiled", -1, "work-groups of 256" },
	};
	char script[8192];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	run_well(&simulated, script, "20,100,2050,4096", "all");
	for (size_t i = 0; i + 1 < sizeof rows / sizeof *rows; i++) {
		bool host = strcmp(rows[i].rung, "sequential") == 0 ||
		            strcmp(rows[i].rung, "host-blas") == 0;
		const struct tare_cell *cell =
		    find(simulated.run.result, rows[i].rung, rows[i].n, host ? "total" : "kernel");
		if (!cell->absent || !strstr(cell->absent, rows[i].why))
			fail_msg("%s %lld: %s", rows[i].rung, (long long)rows[i].n,
			         cell->absent ? cell->absent : "(it is there)");
	}
	simulated_close(&simulated);
	replace(script, "largest 64 MiB", "largest 64 KiB");
	run_well(&simulated, script, "20,200", "naive");
	assert_non_null(strstr(find(simulated.run.result, "naive", 200, "kernel")->absent,
	                       "allocates 64 KB at most"));
	simulated_close(&simulated);
	replace(script, "largest 64 KiB", "work-group 99");
	run_well(&simulated, script, "20", "tiled,register");
	assert_non_null(
	    strstr(find(simulated.run.result, "tiled", -1, "kernel")->absent, rows[6].why));
	assert_null(find(simulated.run.result, "register", 20, "kernel")->absent);
	simulated_close(&simulated);
}

static void what_fits_nowhere_is_one_sentence(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(run(&simulated, SCRIPT, "8000", "naive", &error), -ENOMEM);
	assert_non_null(strstr(error.message, "8000 x 8000"));
	simulated_close(&simulated);
}

static void without_stamps_the_host_still_measures(void **state)
{
	char script[8192];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	replace(script, "stamps queued,submitted,start,end", "stamps none");
	run_well(&simulated, script, "33", "element,naive");
	assert_non_null(
	    strstr(find(simulated.run.result, "naive", 33, "kernel")->absent, "no device times"));
	assert_non_null(strstr(find(simulated.run.result, "element", 33, "kernels-alone")->absent,
	                       "no device times"));
	assert_true(us(find(simulated.run.result, "naive", 33, "total")) > 0);
	assert_int_equal(find(simulated.run.result, "naive", 33, "total")->verified, TARE_VERIFIED);
	simulated_close(&simulated);
}

static void a_lost_device_is_an_error(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(run(&simulated, SCRIPT "fault device-lost 9\n", "33", "naive", &error),
	                 -ENODEV);
	simulated_close(&simulated);
	assert_int_equal(
	    run(&simulated, SCRIPT "fault device-lost 400\n", "16,33", "naive", &error), -ENODEV);
	assert_non_null(find_warning(simulated.run.result, "device-lost"));
	simulated_close(&simulated);
}

static void an_interruption_keeps_what_was_measured(void **state)
{
	static volatile sig_atomic_t stop = 1;
	struct simulated_run simulated;
	struct tare_matmul_options options = { .n = { 33 }, .n_count = 1 };
	(void)state;
	simulated_open(&simulated, SCRIPT, "matmul", BUDGET);
	simulated.run.interrupted = &stop;
	assert_int_equal(tare_measure_matmul(&simulated.run, &options, NULL), -EINTR);
	assert_true(simulated.run.result->interrupted);
	simulated_close(&simulated);
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	struct simulated_run simulated;
	struct tare_matmul_options options = { .n = { 16, 33 }, .n_count = 2 };
	(void)state;
	simulated_open(&simulated, SCRIPT, "matmul", BUDGET);
	watch_native_waits(&simulated);
	assert_int_equal(tare_measure_matmul(&simulated.run, &options, NULL), 0);
	assert_int_equal(native_violations, 0);
	simulated.device->backend = tare_backend_find("simulated");
	simulated_close(&simulated);
}

// A device whose script has no time for building: 0 is no measured time.
static void what_takes_no_time_has_a_reason_instead(void **state)
{
	struct simulated_run simulated;
	(void)state;
	run_well(
	    &simulated,
	    "tare-device 1\ndevice name \"Free\" memory 64 MiB\n"
	    "timer rate 1 GHz bits 64 resolution 1 tick\n" SIMPLE_PAIRS
	    "host append 1 us finish 1 us wake 2 us\nengine compute runs kernel\n"
	    "engine copy runs to-device,to-host,local\ncopy pinned device fixed 4 us rate 10 GB/s\n"
	    "copy device pinned fixed 3 us rate 8 GB/s\n" KERNEL("naive", "4", "matmul"),
	    "33", "naive");
	assert_non_null(strstr(find(simulated.run.result, "naive", -1, "build")->absent, "step"));
	assert_non_null(
	    strstr(find(simulated.run.result, "naive", 33, "allocate")->absent, "step"));
	assert_null(find(simulated.run.result, "naive", 33, "kernel")->absent);
	simulated_close(&simulated);
}

// A library that may compile for minutes is not called where the others took that long already.
static void the_library_is_left_out_where_building_took_the_budget(void **state)
{
	static const struct {
		const char *fixed;
		bool left_out;
	} rows[] = { { "2 us", false }, { "4 s", false }, { "6 s", true } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		const struct tare_cell *cell;
		char script[2048];
		snprintf(script, sizeof script,
		         "%s%skernel matmul_naive fixed %s arguments 4 "
		         "action matmul\n",
		         SIMPLE_DEVICE, SIMPLE_PAIRS, rows[i].fixed);
		run_well(&simulated, script, "8", "naive,blas");
		cell = find(simulated.run.result, "blas", -1, "kernel");
		assert_non_null(
		    strstr(cell->absent, rows[i].left_out ? "--rungs blas" : "library"));
		simulated_close(&simulated);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rung_of_the_cache_says_why_it_is_not_there),
		cmocka_unit_test(what_is_not_there_says_why),
		cmocka_unit_test(what_fits_nowhere_is_one_sentence),
		cmocka_unit_test(without_stamps_the_host_still_measures),
		cmocka_unit_test(a_lost_device_is_an_error),
		cmocka_unit_test(an_interruption_keeps_what_was_measured),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
		cmocka_unit_test(what_takes_no_time_has_a_reason_instead),
		cmocka_unit_test(the_library_is_left_out_where_building_took_the_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
