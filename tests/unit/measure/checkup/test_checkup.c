// SPDX-License-Identifier: Apache-2.0
// The checkup: how it shares its budget among parts, what becomes of a part that fails, and what it
// concludes from their cells.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/checkup/internal.h"
#include "tests/unit/measure/core/simulated_run.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

// ---- parts that do what a test asks of them

struct plan {
	int64_t takes_ns; // 0: its budget
	int status;
	bool figure; // adds a measured one before it ends
};
static struct plan plans[3];
static int64_t budgets_ns[3];
static uint64_t seeds[3];
static size_t begun;
static struct tare_peaks peaks_seen;

static int run_plan(size_t index, struct tare_run *run, struct tare_error *error)
{
	const struct plan *plan = &plans[index];

	assert_int_equal(tare_run_begin(run, 1, error), 0);
	budgets_ns[index] = run->budget_ns;
	seeds[index] = run->seed;
	begun++;
	if (run->progress)
		run->progress(run->progress_context, "a thing", 3, 4, 5);
	if (plan->figure) {
		struct tare_cell *cell = tare_result_add_cell(run->result, "time", "ns", "host");
		struct tare_series series = { .rule = tare_stopping_default() };
		assert_non_null(cell);
		assert_int_equal(tare_series_add(&series, 1000), 0);
		assert_int_equal(tare_cell_take_series(cell, &series, TARE_NOT_CONVERGED), 0);
		tare_series_clear(&series);
		assert_int_equal(tare_result_warn(run->result, "one", "--budget 30 would do", "x"),
		                 0);
		tare_result_action_is_options(run->result, "one");
		run->open_figures = 1;
		run->worst = 0.25 * (double)index;
		run->needed_ns = 2 * (double)run->budget_ns;
		tare_run_warn_convergence(run);
		assert_int_equal(tare_result_warn(run->result, "other", "do something", "y"), 0);
	}
	tare_device_pause(run->device, plan->takes_ns ? plan->takes_ns : run->budget_ns);
	return plan->status < 0 ? tare_fail(error, -plan->status, "the reason of part %zu", index)
	                        : 0;
}

static int first(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	checkup->peaks.present = true;
	checkup->peaks.age_s = 77;
	return run_plan(0, run, error);
}

static int second(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	peaks_seen = checkup->peaks;
	return run_plan(1, run, error);
}

static int third(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	(void)checkup;
	return run_plan(2, run, error);
}

static const struct checkup_row rows[3] = {
	{ "latency", 10, first, NULL },
	{ "bandwidth", 30, second, "half of it" },
	{ "overlap", 60, third, NULL },
};

static int checkup(struct simulated_run *simulated, const struct plan *wanted, int64_t budget_ns,
                   struct tare_error *error)
{
	simulated_open(simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "checkup", budget_ns);
	memcpy(plans, wanted, sizeof plans);
	memset(budgets_ns, 0, sizeof budgets_ns);
	begun = 0;
	simulated->run.seed = 42;
	return checkup_measure(&simulated->run, rows, 3, error);
}

static const struct tare_result *part(const struct simulated_run *simulated, size_t index)
{
	assert_true(index < simulated->run.result->part_count);
	return simulated->run.result->parts[index];
}

static void assert_near(int64_t ns, int64_t expected_ns)
{
	assert_in_range(ns, expected_ns - MS, expected_ns + MS);
}

// ---- budget

// 10 s. For each part to come 0.4 s are kept back for its set-up.
static void parts_share_the_budget_and_what_is_left_goes_on(void **state)
{
	static const struct {
		struct plan plans[3];
		int64_t budgets_ns[3];
	} table[] = {
		{ { { 0 }, { 0 }, { 0 } }, { 920 * MS, 2893 * MS, 6187 * MS } },
		{ { { S / 10 }, { 0 }, { 0 } }, { 920 * MS, 3167 * MS, 6733 * MS } },
		{ { { S / 10 }, { S / 10 }, { 0 } }, { 920 * MS, 3167 * MS, 9800 * MS } },
		// Half of what was promised (3 s, 6 s) remains,
		{ { { 6 * S }, { 0 }, { 0 } }, { 920 * MS, 1500 * MS, 3 * S } },
		// unless the whole would last longer than 11.5 s.
		{ { { 6 * S }, { 4 * S }, { 0 } }, { 920 * MS, 1500 * MS, 1500 * MS } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct simulated_run simulated;
		struct tare_error error = { 0 };
		assert_int_equal(checkup(&simulated, table[i].plans, 10 * S, &error), 0);
		for (size_t k = 0; k < 3; k++) {
			assert_near(budgets_ns[k], table[i].budgets_ns[k]);
			assert_int_equal(seeds[k], 42);
		}
		assert_int_equal(simulated.run.result->warning_count, 0);
		simulated_close(&simulated);
	}
}

static void a_part_whose_turn_comes_too_late_says_so(void **state)
{
	static const struct plan late[3] = { { 0 }, { 11 * S }, { 0 } };
	struct simulated_run simulated;
	const struct tare_warning *warning;
	(void)state;
	assert_int_equal(checkup(&simulated, late, 10 * S, NULL), 0);
	assert_int_equal(begun, 2);
	assert_int_equal(simulated.run.result->part_count, 3); // devices, latency, bandwidth
	warning = find_warning(simulated.run.result, "part-missing");
	assert_non_null(warning);
	assert_string_equal(warning->message, "no overlap: the budget was used up before its turn");
	assert_string_equal(warning->action, "tare overlap measures it alone");
	simulated_close(&simulated);
}

// ---- documents

static void every_part_is_a_document_of_its_own(void **state)
{
	static const char *const commands[] = { "devices", "latency", "bandwidth", "overlap" };
	static const struct plan plan[3] = { { .figure = true },
		                             { .figure = true },
		                             { .figure = true } };
	struct simulated_run simulated;
	(void)state;
	assert_int_equal(checkup(&simulated, plan, 10 * S, NULL), 0);
	assert_int_equal(simulated.run.result->part_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tare_result *document = part(&simulated, i);
		assert_string_equal(document->command, commands[i]);
		assert_string_equal(document->written_at, "1970-01-01T00:00:00Z");
		assert_int_equal(document->device_count, 1);
		assert_string_equal(document->devices[0].backend, "simulated");
		assert_string_equal(document->devices[0].facts.fact[TARE_FACT_NAME].text, "Simple");
		assert_true(document->devices[0].engine_count > 0);
		assert_int_equal(document->part_count, 0);
	}
	assert_int_equal(simulated.run.result->device_count, 1);
	assert_int_equal(simulated.run.result->cell_count, 0);
	simulated_close(&simulated);
}

static void the_device_is_shown_under_each_of_its_apis(void **state)
{
	static const struct {
		const char *backend;
		uint32_t index, number;
	} others[] = {
		{ "cuda", 0, 3 },      { "opencl", 1, 7 }, { NULL, 0, 3 },
		{ "simulated", 0, 3 }, { "opencl", 2, 3 },
	};
	struct tare_result *listing = tare_result_new("devices");
	struct simulated_run simulated;
	struct tare_device_entry *own;
	const struct tare_result *document;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "checkup", S);
	own = tare_result_add_device(simulated.run.result);
	assert_int_equal(tare_set_string(&own->backend, "simulated"), 0);
	assert_int_equal(tare_set_string(&own->backend_title, "Simulated"), 0);
	own->number = 3;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct tare_device_entry *entry = tare_result_add_device(listing);
		assert_int_equal(tare_set_string(&entry->backend, others[i].backend), 0);
		assert_int_equal(tare_set_string(&entry->backend_title, others[i].backend), 0);
		entry->index = others[i].index;
		entry->number = others[i].number;
	}
	simulated.run.listing = listing;
	memset(plans, 0, sizeof plans);
	begun = 0;
	assert_int_equal(checkup_measure(&simulated.run, rows, 3, NULL), 0);
	document = part(&simulated, 0);
	assert_int_equal(document->device_count, 3);
	assert_string_equal(document->devices[0].backend, "simulated");
	assert_string_equal(document->devices[1].backend, "cuda");
	assert_string_equal(document->devices[2].backend, "opencl");
	assert_int_equal(document->devices[2].index, 2);
	assert_int_equal(part(&simulated, 1)->devices[0].number, 3);
	assert_string_equal(
	    simulated.run.result->conclusions[1].text,
	    "A device without a name, measured through Simulated (simulated:0). The same "
	    "device is seen through cuda, opencl too.");
	tare_result_free(listing);
	simulated_close(&simulated);
}

static void advice_names_the_command_it_is_for(void **state)
{
	static const struct plan plan[3] = { { .figure = true },
		                             { .figure = true },
		                             { .figure = true } };
	struct simulated_run simulated;
	(void)state;
	assert_int_equal(checkup(&simulated, plan, 10 * S, NULL), 0);
	assert_string_equal(find_warning(part(&simulated, 1), "one")->action,
	                    "tare latency --budget 30 would do");
	assert_string_equal(find_warning(part(&simulated, 1), "other")->action, "do something");
	assert_null(find_warning(part(&simulated, 1), "short-profile"));
	assert_string_equal(find_warning(part(&simulated, 2), "short-profile")->message,
	                    "half of it");
	assert_string_equal(find_warning(part(&simulated, 2), "short-profile")->action,
	                    "tare bandwidth measures it in full");
	simulated_close(&simulated);
}

static void noise_is_said_once_for_all_parts(void **state)
{
	static const struct plan plan[3] = { { .figure = true },
		                             { .figure = true },
		                             { .figure = true } };
	struct simulated_run simulated;
	const struct tare_warning *warning;
	(void)state;
	assert_int_equal(checkup(&simulated, plan, 10 * S, NULL), 0);
	for (size_t i = 1; i <= 3; i++)
		assert_null(find_warning(part(&simulated, i), "not-converged"));
	warning = find_warning(simulated.run.result, "not-converged");
	assert_string_equal(warning->message,
	                    "3 of 3 figures did not converge to 1 % in 10.0 s (at worst ±50 %)");
	assert_string_equal(warning->action, "--budget 25 would do");
	simulated_close(&simulated);
}

static void peaks_go_from_part_to_part(void **state)
{
	static const struct plan plan[3] = { 0 };
	struct simulated_run simulated;
	(void)state;
	peaks_seen = (struct tare_peaks){ 0 };
	assert_int_equal(checkup(&simulated, plan, 10 * S, NULL), 0);
	assert_true(peaks_seen.present);
	assert_int_equal(peaks_seen.age_s, 77);
	simulated_close(&simulated);
}

// ---- failing

static void what_becomes_of_a_part_that_fails(void **state)
{
	static const struct {
		struct plan plan; // of the second part
		int status;       // of the whole
		size_t parts, begun;
		const char *warning;
		bool interrupted;
	} table[] = {
		{ { .status = -ENOSYS }, 0, 3, 3, "part-missing", false },
		{ { .status = -ENOMEM }, 0, 3, 3, "part-missing", false },
		{ { .status = -EIO }, 0, 3, 3, "part-missing", false },
		{ { .status = -EIO, .figure = true }, 0, 4, 3, NULL, false },
		{ { .status = -EBADMSG, .figure = true }, -EBADMSG, 4, 3, NULL, false },
		{ { .status = -ENODEV, .figure = true }, -ENODEV, 3, 2, "device-lost", false },
		{ { .status = -ETIMEDOUT }, -ETIMEDOUT, 2, 2, "device-lost", false },
		{ { .status = -EINTR, .figure = true }, -EINTR, 3, 2, NULL, true },
		{ { .status = -EINTR }, -EINTR, 3, 2, NULL, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct plan three[3] = { { .figure = true }, table[i].plan, { .figure = true } };
		struct simulated_run simulated;
		struct tare_error error = { 0 };
		const struct tare_result *result;
		assert_int_equal(checkup(&simulated, three, 10 * S, &error), table[i].status);
		result = simulated.run.result;
		assert_int_equal(result->part_count, table[i].parts);
		assert_int_equal(begun, table[i].begun);
		assert_int_equal(result->interrupted, table[i].interrupted);
		if (table[i].warning)
			assert_non_null(strstr(find_warning(result, table[i].warning)->message,
			                       "the reason of part 1"));
		else
			assert_int_equal(result->warning_count,
			                 find_warning(result, "not-converged") != NULL);
		if (table[i].status == -EBADMSG)
			assert_string_equal(error.message, "bandwidth: the reason of part 1");
		else if (table[i].status < 0)
			assert_true(error.message[0]);
		// What was measured is there to be written.
		if (table[i].status < 0 && table[i].status != -EBADMSG)
			assert_true(tare_run_is_partial(&simulated.run, table[i].status));
		simulated_close(&simulated);
	}
}

static void a_stop_before_a_part_keeps_those_before_it(void **state)
{
	static const struct plan plan[3] = { 0 };
	static volatile sig_atomic_t stop = 1;
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "checkup", S);
	memcpy(plans, plan, sizeof plans);
	begun = 0;
	simulated.run.interrupted = &stop;
	assert_int_equal(checkup_measure(&simulated.run, rows, 3, &error), -EINTR);
	assert_int_equal(begun, 0);
	assert_true(simulated.run.result->interrupted);
	assert_int_equal(simulated.run.result->part_count, 1);
	simulated_close(&simulated);
}

// ---- progress

static struct {
	char what[160];
	size_t cells, total;
	int64_t remaining_ns;
} seen[3];
static size_t seen_count;

static void note_progress(void *context, const char *what, size_t cells, size_t total,
                          int64_t remaining_ns)
{
	assert_ptr_equal(context, seen);
	assert_true(seen_count < 3);
	snprintf(seen[seen_count].what, sizeof seen[0].what, "%s", what);
	seen[seen_count].cells = cells;
	seen[seen_count].total = total;
	seen[seen_count++].remaining_ns = remaining_ns;
}

static void progress_is_that_of_the_whole(void **state)
{
	static const struct plan plan[3] = { 0 };
	static const char *const whats[] = { "latency, a thing", "bandwidth, a thing",
		                             "overlap, a thing" };
	static const int64_t left_ns[] = { 10 * S, 9080 * MS, 6187 * MS };
	struct simulated_run simulated;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "checkup", 10 * S);
	memcpy(plans, plan, sizeof plans);
	seen_count = 0;
	simulated.run.progress = note_progress;
	simulated.run.progress_context = seen;
	assert_int_equal(checkup_measure(&simulated.run, rows, 3, NULL), 0);
	assert_int_equal(seen_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(seen[i].what, whats[i]);
		assert_int_equal(seen[i].cells, i + 1);
		assert_int_equal(seen[i].total, 4);
		assert_near(seen[i].remaining_ns, left_ns[i]);
	}
	simulated_close(&simulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_share_the_budget_and_what_is_left_goes_on),
		cmocka_unit_test(a_part_whose_turn_comes_too_late_says_so),
		cmocka_unit_test(every_part_is_a_document_of_its_own),
		cmocka_unit_test(the_device_is_shown_under_each_of_its_apis),
		cmocka_unit_test(advice_names_the_command_it_is_for),
		cmocka_unit_test(noise_is_said_once_for_all_parts),
		cmocka_unit_test(peaks_go_from_part_to_part),
		cmocka_unit_test(what_becomes_of_a_part_that_fails),
		cmocka_unit_test(a_stop_before_a_part_keeps_those_before_it),
		cmocka_unit_test(progress_is_that_of_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
