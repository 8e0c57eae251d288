// SPDX-License-Identifier: Apache-2.0
// `peak` on a simulated device: every rate follows from the script.
#include "measure/peak/peak.h"

#include "measure/peak/internal.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/measure/latency/native_waits.h"

#define BUDGET INT64_C(30000000000)
#define FIXED_PS INT64_C(2000000)
#define UNITS 4
// Turns a second of every kernel; reads and sweeps of a cache are faster.
#define TURNS 1e9
#define CACHE_TURNS 4e9

static bool judge_wrong;

// Kernels of the simulated device compute nothing, so the judgement is made here.
enum tare_verified __wrap_peak_judge(const struct peak *peak, bool right);
enum tare_verified __wrap_peak_judge(const struct peak *peak, bool right)
{
	(void)peak;
	(void)right;
	return judge_wrong ? TARE_WRONG : TARE_VERIFIED;
}

static bool facts_untold;

int __real_tare_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                             struct tare_error *error);
int __wrap_tare_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                             struct tare_error *error);
int __wrap_tare_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                             struct tare_error *error)
{
	return facts_untold ? -ENOTSUP : __real_tare_kernel_facts(kernel, facts, error);
}

static const char *kernel_keys = ""; // of every kernel

static void add_kernel(FILE *file, const char *name, unsigned width, int turns_at, const char *more)
{
	fprintf(file, "kernel peak_%s_%u fixed 2 us repeat %d repeat-rate 1 Gitem/s %s %s\n", name,
	        width, turns_at, more, kernel_keys);
}

// SIMPLE_DEVICE with the facts that peak looks at, and all its kernels but those of `without`.
static void make_script(char *script, size_t size, const char *facts, const char *without,
                        const char *more)
{
	static const struct {
		const char *name;
		int turns_at;
	} kernels[] = {
		{ "fp32", 4 },  { "fp64", 4 }, { "fp16", 4 },  { "int32", 4 }, { "read", 6 },
		{ "write", 6 }, { "copy", 6 }, { "triad", 8 }, { "local", 3 },
	};
	FILE *file = fmemopen(script, size, "w");

	assert_non_null(file);
	fputs(SIMPLE_DEVICE SIMPLE_PAIRS, file);
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		for (unsigned width = 1; width <= 16; width *= 2)
			if (!without || strcmp(without, kernels[i].name) != 0)
				add_kernel(file, kernels[i].name, width, kernels[i].turns_at, "");
	for (unsigned width = 4; width <= 16; width += 12) {
		if (width == 16 && without && strcmp(without, "sweep_16") == 0)
			continue;
		add_kernel(file, "sweep", width, 4, "span 2");
		fprintf(file, "tier peak_sweep_%u up-to 256 KiB rate 4 Gitem/s\n", width);
	}
	fputs(more, file);
	assert_int_equal(fclose(file), 0);
	replace(script, "memory 64 MiB largest 64 MiB", facts);
}

#define SIZES "memory 64 MiB units 4 cache 1 MiB "
#define FACTS SIZES "fp64 yes fp16 yes"

static void open_peak(struct simulated_run *simulated, const char *facts, const char *without,
                      const char *more, int64_t budget_ns)
{
	static char script[16384];

	make_script(script, sizeof script, facts, without, more);
	simulated_open(simulated, script, "peak", budget_ns);
}

static void run_well(struct simulated_run *simulated)
{
	struct tare_error error = { 0 };

	if (tare_measure_peak(&simulated->run, &error) < 0)
		fail_msg("%s", error.message);
}

static const struct tare_cell *find(const struct tare_result *result, const char *group,
                                    const char *label, const char *text, int64_t width)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "group"), group) == 0 &&
		    (!label || strcmp(label_text(cell, label), text) == 0) &&
		    (width == 0 || label_number(cell, "width") == width))
			return cell;
	}
	fail_msg("no cell %s %s %lld", group, label ? text : "of any label", (long long)width);
	return NULL;
}

// Turns of one work-item times the work-items, from the work that the cell claims.
static double turns_of(const struct tare_cell *cell)
{
	const char *group = label_text(cell, "group"), *op = label_text(cell, "op");
	double width = (double)label_number(cell, "width"), moves = 1;

	if (strcmp(group, "compute") == 0)
		return cell->rate.work / (2 * 512);
	if (strcmp(group, "local") == 0)
		return cell->rate.work / (2 * 8 * 4 * width);
	if (strcmp(group, "sweep") == 0)
		return cell->rate.work / (8 * 4 * (strstr(cell->method, "of 16 numbers") ? 16 : 4));
	if (strcmp(op, "copy") == 0)
		moves = 2;
	if (strcmp(op, "triad") == 0)
		moves = 3;
	return cell->rate.work / (moves * (width <= 4 ? 8 * 4 * width : 128));
}

static void every_rate_follows_from_the_script(void **state)
{
	struct simulated_run simulated;
	size_t measured = 0;
	(void)state;
	open_peak(&simulated, FACTS, NULL, "", BUDGET);
	run_well(&simulated);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		bool cached = strcmp(label_text(cell, "group"), "sweep") == 0 &&
		              label_number(cell, "bytes") <= 256 << 10;
		double ps;
		if (strcmp(cell->source, "model") == 0)
			continue;
		assert_null(cell->absent);
		assert_string_equal(cell->source, "device");
		assert_int_equal(cell->verified, TARE_VERIFIED);
		assert_true(cell->converged);
		ps = (double)FIXED_PS + turns_of(cell) * 1e12 / (cached ? CACHE_TURNS : TURNS);
		// Stamps count whole nanoseconds.
		if (fabs(cell->summary.median - ps) > 2000)
			fail_msg("%s %s%s %lld: %.0f ps instead of %.0f", label_text(cell, "group"),
			         label_text(cell, "type"), label_text(cell, "op"),
			         (long long)label_number(cell, "width"), cell->summary.median, ps);
		assert_float_equal(cell->rate.median, cell->rate.work * 1e3 / cell->summary.median,
		                   1e-6 * cell->rate.median);
		measured++;
	}
	// 4 types, 4 operations and local memory by 5 widths, 6 strides, 4 KB to 4 MB.
	assert_int_equal(measured, 20 + 20 + 5 + 6 + 11);
	simulated_close(&simulated);
}

static void ceilings_are_the_best_of_their_kind_with_their_share(void **state)
{
	static const char *const roofs[] = { "fp32, memory read", "fp32, cache",
		                             "fp32, local memory", "fp64, memory read",
		                             "fp16, memory read" };
	struct simulated_run simulated;
	const struct tare_result *result;
	double best = 0;
	(void)state;
	open_peak(&simulated, FACTS " lanes 64 clock 1 GHz", NULL, "", BUDGET);
	run_well(&simulated);
	result = simulated.run.result;
	for (unsigned width = 1; width <= 16; width *= 2)
		best = fmax(best, find(result, "compute", "type", "fp32", width)->rate.median);
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "what"), "fp32") != 0)
			continue;
		if (strcmp(cell->quantity, "attainable") == 0)
			assert_float_equal(cell->summary.median, best, 1e-9 * best);
		else if (strcmp(cell->quantity, "theoretical") == 0)
			assert_float_equal(cell->summary.median, 2 * 4 * 64.0, 1e-9);
		else
			assert_float_equal(cell->summary.median, 100 * best / 512, 1e-6);
	}
	assert_int_equal(result->plot_count, 4);
	assert_string_equal(result->plots[0].id, "roofline");
	// fp32 over three memories, fp64 and fp16 over one.
	assert_int_equal(result->plots[0].count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(result->plots[0].series[i].name, roofs[i]);
	simulated_close(&simulated);
}

static void conclusions_name_the_ridge_and_where_a_cache_ends(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	(void)state;
	open_peak(&simulated, FACTS, NULL, "", BUDGET);
	run_well(&simulated);
	result = simulated.run.result;
	assert_int_equal(result->conclusion_count, 3);
	assert_string_equal(result->conclusions[0].id, "attainable");
	// 1024 FLOP a turn against 128 bytes a turn, of which 4 MB take 2 of 34.8 us to begin.
	assert_string_equal(result->conclusions[1].id, "ridge");
	assert_non_null(strstr(result->conclusions[1].text, "less than 8.5 FLOP"));
	assert_string_equal(result->conclusions[2].id, "caches");
	assert_non_null(strstr(result->conclusions[2].text,
	                       "between 256 KB and 512 KB, where a "
	                       "cache nearer to the units ends (the "));
	assert_non_null(strstr(result->conclusions[2].text, "cache of 1 MB"));
	simulated_close(&simulated);
}

static void a_fall_at_the_size_that_the_driver_tells_is_the_shared_cache(void **state)
{
	static const struct {
		const char *facts, *said;
	} rows[] = {
		{ "memory 64 MiB units 4 cache 384 KiB fp64 yes", "where the shared cache ends (" },
		{ "memory 64 MiB units 4 fp64 yes", "where a cache ends (" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		open_peak(&simulated, rows[i].facts, NULL, "", BUDGET);
		run_well(&simulated);
		assert_non_null(strstr(simulated.run.result->conclusions[2].text, rows[i].said));
		simulated_close(&simulated);
	}
}

static void one_group_on_each_unit_goes_round_the_working_set(void **state)
{
	static const struct {
		const char *facts;
		int64_t bytes;
		const char *launch;
	} rows[] = {
		{ "work-group 1024", 4 << 20, "; 4 groups of 1024 work-items" },
		{ "work-group 1024", 16 << 10, "; 4 groups of 1024 work-items" },
		// Fewer vectors than items of a group.
		{ "work-group 1024", 4 << 10, "; 16 groups of 256 work-items" },
		{ "work-group 100", 4 << 20, "; 4 groups of 64 work-items" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		bool found = false;
		char facts[128];
		snprintf(facts, sizeof facts, "%s %s", FACTS, rows[i].facts);
		open_peak(&simulated, facts, "sweep_16", "", BUDGET);
		run_well(&simulated);
		for (size_t k = 0; k < simulated.run.result->cell_count; k++) {
			const struct tare_cell *cell = &simulated.run.result->cells[k];
			if (label_number(cell, "bytes") != rows[i].bytes)
				continue;
			if (!strstr(cell->method, rows[i].launch))
				fail_msg("%zu: %s", i, cell->method);
			found = true;
		}
		assert_true(found);
		simulated_close(&simulated);
	}
}

static void groups_are_as_small_as_a_kernel_needs_them(void **state)
{
	struct simulated_run simulated;
	(void)state;
	kernel_keys = "work-group 128";
	open_peak(&simulated, FACTS " work-group 1024", NULL, "", BUDGET);
	run_well(&simulated);
	kernel_keys = "";
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		if (cell->absent)
			fail_msg("%s", cell->absent);
		if (strcmp(label_text(cell, "group"), "memory") == 0)
			assert_non_null(strstr(cell->method, " groups of 128 work-items"));
	}
	simulated_close(&simulated);
}

// Not every driver tells the limit: then launches fail, and others are tried.
static void a_launch_that_fails_is_passed_over(void **state)
{
	static const struct {
		const char *keys;
		bool local;
	} rows[] = {
		{ "work-group 256", true },
		{ "work-group 32", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		const struct tare_cell *cell;
		facts_untold = true;
		kernel_keys = rows[i].keys;
		open_peak(&simulated, FACTS " work-group 1024", NULL, "", BUDGET);
		run_well(&simulated);
		facts_untold = false;
		kernel_keys = "";
		for (size_t k = 0; k < simulated.run.result->cell_count; k++) {
			const char *group;
			cell = &simulated.run.result->cells[k];
			group = label_text(cell, "group");
			if (cell->absent &&
			    (strcmp(group, "memory") == 0 || strcmp(group, "sweep") == 0))
				fail_msg("%s %s: %s", group, label_text(cell, "op"), cell->absent);
		}
		cell = find(simulated.run.result, "local", NULL, NULL, 4);
		if (rows[i].local)
			assert_null(cell->absent);
		else
			assert_non_null(strstr(cell->absent, "at most 32 items"));
		simulated_close(&simulated);
	}
}

static void a_ceiling_from_few_samples_says_so(void **state)
{
	static const struct {
		int samples;
		enum tare_verdict verdict;
		const char *said;
	} rows[] = {
		{ 2, TARE_NOT_CONVERGED, "of its kind, from 2 samples" },
		{ 1, TARE_NOT_CONVERGED, "of its kind, from 1 sample" },
		{ 40, TARE_NOT_CONVERGED, "not known to 1 %, from 40 samples" },
		{ 40, TARE_CONVERGED, "of its kind, with its interval" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_series series = { .rule = tare_stopping_default() };
		struct tare_facts facts = { 0 };
		struct tare_run run = { .result = tare_result_new("peak"), .facts = &facts };
		struct peak peak = { .run = &run };
		struct tare_cell *cell = tare_result_add_cell(run.result, "time", "ps", "device");
		const char *method = NULL;
		size_t said = strlen(rows[i].said);
		assert_int_equal(tare_labels_set_text(&cell->labels, "group", "local"), 0);
		for (int k = 0; k < rows[i].samples; k++)
			assert_int_equal(tare_series_add(&series, 1000000), 0);
		assert_int_equal(tare_cell_take_series(cell, &series, rows[i].verdict), 0);
		assert_int_equal(tare_cell_set_rate(cell, 1e6, "GB/s", 1e9), 0);
		peak_conclude(&peak, NULL);
		for (size_t k = 0; k < run.result->cell_count; k++)
			if (strcmp(label_text(&run.result->cells[k], "what"), "local memory") == 0)
				method = run.result->cells[k].method;
		assert_non_null(method);
		// At its end.
		assert_true(strlen(method) >= said);
		assert_string_equal(method + strlen(method) - said, rows[i].said);
		tare_result_free(run.result);
	}
}

static void what_the_device_lacks_or_cannot_build_leaves_the_rest(void **state)
{
	static const struct {
		const char *facts, *without, *type, *reason;
	} rows[] = {
		{ FACTS, "fp64", "fp64", "peak_fp64_" },
		{ SIZES "fp64 yes fp16 no", NULL, "fp16", "no half precision" },
		{ SIZES "fp64 no fp16 yes", NULL, "fp64", "no double precision" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		open_peak(&simulated, rows[i].facts, rows[i].without, "", BUDGET);
		run_well(&simulated);
		for (size_t k = 0; k < simulated.run.result->cell_count; k++) {
			const struct tare_cell *cell = &simulated.run.result->cells[k];
			bool lacking = strcmp(label_text(cell, "type"), rows[i].type) == 0 ||
			               strcmp(label_text(cell, "what"), rows[i].type) == 0;
			if (lacking)
				assert_non_null(cell->absent);
			else
				assert_null(cell->absent);
			if (strcmp(label_text(cell, "type"), rows[i].type) == 0)
				assert_non_null(strstr(cell->absent, rows[i].reason));
		}
		simulated_close(&simulated);
	}
}

static void a_small_budget_has_one_of_each_kind_and_says_what_is_left_out(void **state)
{
	static const char *const types[] = { "fp32", "fp64", "fp16", "int32" };
	static const char *const ops[] = { "read", "write", "copy", "triad", "strided" };
	struct simulated_run simulated;
	const struct tare_result *result;
	(void)state;
	open_peak(&simulated, FACTS, NULL, "", INT64_C(3000000000));
	run_well(&simulated);
	result = simulated.run.result;
	for (size_t i = 0; i < 4; i++)
		assert_null(find(result, "compute", "type", types[i], 0)->absent);
	for (size_t i = 0; i < 5; i++)
		assert_null(find(result, "memory", "op", ops[i], 0)->absent);
	assert_null(find(result, "sweep", NULL, NULL, 0)->absent);
	assert_null(find(result, "local", NULL, NULL, 0)->absent);
	assert_non_null(find_warning(result, "left-out"));
	assert_true(tare_host_elapsed_ns(simulated.run.started, tare_run_now(&simulated.run)) <
	            INT64_C(3500000000));
	simulated_close(&simulated);
}

static void without_stamps_the_host_times_and_says_so(void **state)
{
	static char script[16384];
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	make_script(script, sizeof script, FACTS, NULL, "");
	replace(script, "stamps queued,submitted,start,end", "stamps none");
	simulated_open(&simulated, script, "peak", BUDGET);
	run_well(&simulated);
	cell = find(simulated.run.result, "compute", "type", "fp32", 8);
	assert_string_equal(cell->source, "host");
	assert_non_null(strstr(cell->method, "launching included"));
	assert_true(cell->rate.median > 0);
	simulated_close(&simulated);
}

static void no_room_for_all_buffers_costs_what_needs_them(void **state)
{
	struct simulated_run simulated;
	(void)state;
	open_peak(&simulated, FACTS, NULL, "fault out-of-memory-above 1 MiB\n", BUDGET);
	run_well(&simulated);
	assert_null(find(simulated.run.result, "memory", "op", "read", 4)->absent);
	assert_non_null(find_warning(simulated.run.result, "may-be-cached"));
	simulated_close(&simulated);
}

static void wrong_results_fail_the_command_and_are_no_ceiling(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	struct tare_peaks peaks;
	(void)state;
	judge_wrong = true;
	open_peak(&simulated, FACTS, NULL, "", BUDGET);
	assert_int_equal(tare_measure_peak(&simulated.run, &error), -EBADMSG);
	assert_non_null(strstr(error.message, "results were wrong"));
	tare_peaks_of(simulated.run.result, &peaks);
	assert_false(peaks.present);
	simulated_close(&simulated);
}

static void a_lost_device_leaves_what_was_measured(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	open_peak(&simulated, FACTS, NULL, "fault device-lost 900\n", BUDGET);
	assert_int_equal(tare_measure_peak(&simulated.run, &error), -ENODEV);
	assert_true(tare_run_is_partial(&simulated.run, -ENODEV));
	assert_non_null(find_warning(simulated.run.result, "device-lost"));
	simulated_close(&simulated);
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	struct simulated_run simulated;
	(void)state;
	open_peak(&simulated, FACTS, NULL, "", BUDGET);
	watch_native_waits(&simulated);
	run_well(&simulated);
	assert_int_equal(native_violations, 0);
	simulated_close(&simulated);
}

static void a_wait_that_the_user_ends_keeps_what_there_is(void **state)
{
	volatile sig_atomic_t interrupted = 1;
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	open_peak(&simulated, FACTS, NULL, "", BUDGET);
	simulated.run.interrupted = &interrupted;
	assert_int_equal(tare_measure_peak(&simulated.run, &error), -EINTR);
	assert_true(simulated.run.result->interrupted);
	simulated_close(&simulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rate_follows_from_the_script),
		cmocka_unit_test(ceilings_are_the_best_of_their_kind_with_their_share),
		cmocka_unit_test(conclusions_name_the_ridge_and_where_a_cache_ends),
		cmocka_unit_test(a_fall_at_the_size_that_the_driver_tells_is_the_shared_cache),
		cmocka_unit_test(one_group_on_each_unit_goes_round_the_working_set),
		cmocka_unit_test(groups_are_as_small_as_a_kernel_needs_them),
		cmocka_unit_test(a_launch_that_fails_is_passed_over),
		cmocka_unit_test(a_ceiling_from_few_samples_says_so),
		cmocka_unit_test(what_the_device_lacks_or_cannot_build_leaves_the_rest),
		cmocka_unit_test(a_small_budget_has_one_of_each_kind_and_says_what_is_left_out),
		cmocka_unit_test(without_stamps_the_host_times_and_says_so),
		cmocka_unit_test(no_room_for_all_buffers_costs_what_needs_them),
		cmocka_unit_test(a_lost_device_leaves_what_was_measured),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
		cmocka_unit_test(a_wait_that_the_user_ends_keeps_what_there_is),
		cmocka_unit_test(wrong_results_fail_the_command_and_are_no_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
