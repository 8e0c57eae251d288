// SPDX-License-Identifier: Apache-2.0
#include "result/result.h"

#include "rich_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct tare_series three_samples(int64_t a, int64_t b, int64_t c)
{
	struct tare_series series = { 0 };
	assert_int_equal(tare_series_add(&series, a), 0);
	assert_int_equal(tare_series_add(&series, b), 0);
	assert_int_equal(tare_series_add(&series, c), 0);
	return series;
}

static void a_new_document_knows_its_command_and_nothing_else(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	(void)state;
	assert_string_equal(result->command, "latency");
	assert_string_equal(result->version, TARE_VERSION);
	assert_int_equal(strlen(result->written_at), strlen("1970-01-01T00:00:00Z"));
	assert_int_equal(result->clock.floor_ns, -1);
	assert_int_equal(result->cell_count + result->device_count + result->warning_count, 0);
	tare_result_free(result);
	tare_result_free(NULL);
}

static void labels_are_replaced_by_name_and_keep_their_order(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_labels *labels = &result->host;
	char name[8];
	(void)state;
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_int_equal(tare_labels_set_number(labels, name, i), 0);
	}
	assert_int_equal(tare_labels_set_text(labels, "n1", "text"), 0);
	assert_int_equal(tare_labels_set_text(labels, "n2", "text"), 0);
	assert_int_equal(tare_labels_set_number(labels, "n2", -2), 0);
	assert_int_equal(labels->count, 40);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_string_equal(labels->at[i].name, name);
		assert_int_equal(labels->at[i].number, i == 1 ? 0 : i == 2 ? -2 : i);
	}
	assert_string_equal(tare_labels_find(labels, "n1")->text, "text");
	assert_null(tare_labels_find(labels, "n2")->text);
	assert_null(tare_labels_find(labels, "n40"));
	// A label may be set from its own text.
	assert_int_equal(tare_labels_set_text(labels, "n1", tare_labels_find(labels, "n1")->text),
	                 0);
	assert_string_equal(labels->at[1].text, "text");
	tare_result_free(result);
}

static void a_cell_takes_over_a_series_and_summarises_what_came_after_the_last_look(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "host");
	struct tare_series series = three_samples(10, 30, 20);
	const int64_t *samples = series.samples;
	(void)state;
	series.summary.n = 2;
	assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
	assert_ptr_equal(cell->samples, samples);
	assert_null(series.samples);
	assert_int_equal(series.n, 0);
	assert_int_equal(cell->summary.n, 3);
	assert_int_equal(cell->summary.min, 10);
	assert_int_equal(cell->summary.max, 30);
	assert_true(cell->summary.median == 20);
	assert_true(cell->converged);
	tare_result_free(result);
}

static void a_series_without_samples_has_no_figure(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "host");
	struct tare_series series = { 0 };
	(void)state;
	assert_int_equal(tare_cell_take_series(cell, &series, TARE_NOT_CONVERGED), 0);
	assert_int_equal(cell->summary.n, 0);
	assert_true(isnan(cell->summary.median) && isnan(cell->summary.ci_low));
	assert_int_equal(tare_cell_set_rate(cell, 8, "GB/s", 1e9), 0);
	assert_true(isnan(cell->rate.median) && isnan(cell->rate.min));
	assert_false(cell->converged);
	tare_result_free(result);
}

static void a_rate_is_the_work_over_the_time_in_the_cells_unit(void **state)
{
	static const struct {
		const char *unit;
		double scale, median, low, high, lowest;
	} rows[] = {
		{ "ns", 1e9, 4, 1, INFINITY, 2 },
		{ "ps", 1e9, 4000, 1000, INFINITY, 2000 },
		{ "ns", 1e6, 4000, 1000, INFINITY, 2000 },
	};
	struct tare_result *result = tare_result_new("bandwidth");
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_cell *cell = tare_result_add_cell(result, "time", rows[i].unit, "host");
		struct tare_series series = three_samples(1, 2, 4);
		series.summary = (struct tare_summary){ .n = 3,
			                                .min = 1,
			                                .max = 4,
			                                .median = 2,
			                                .p95 = 4,
			                                .ci_low = i ? 0 : -1,
			                                .ci_high = 8 };
		assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
		assert_int_equal(tare_cell_set_rate(cell, 8, "x/s", rows[i].scale), 0);
		assert_true(cell->rate.present);
		assert_true(cell->rate.median == rows[i].median);
		assert_true(cell->rate.ci_low == rows[i].low);
		// A time that may be 0 or less bounds no rate: unknown, not infinite.
		assert_true(isnan(cell->rate.ci_high));
		assert_true(cell->rate.min == rows[i].lowest && cell->rate.p95 == rows[i].lowest);
		assert_string_equal(cell->rate.unit, "x/s");
	}
	tare_result_free(result);
}

static void an_absent_cell_has_a_reason_and_no_figure(void **state)
{
	struct tare_result *result = tare_result_new("bandwidth");
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "device");
	struct tare_series series = three_samples(1, 2, 4);
	(void)state;
	assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
	assert_int_equal(tare_cell_set_rate(cell, 8, "GB/s", 1e9), 0);
	cell->verified = TARE_VERIFIED;
	assert_int_equal(tare_cell_set_absent(cell, "lost after %d", 3), 0);
	assert_string_equal(cell->absent, "lost after 3");
	assert_null(cell->samples);
	assert_int_equal(cell->summary.n, 0);
	assert_true(isnan(cell->summary.median));
	assert_false(cell->rate.present || cell->converged);
	assert_int_equal(cell->verified, TARE_NOT_VERIFIABLE);
	assert_int_equal(tare_cell_set_rate(cell, 8, "GB/s", 1e9), 0);
	assert_false(cell->rate.present);
	tare_result_free(result);
}

// Each text: line, bytes (0: none), another label, quantity, source.
struct sort_row {
	const char *line;
	int64_t bytes;
	const char *name;
	const char *text;
	const char *quantity, *source;
};

static void add_row(struct tare_result *result, const struct sort_row *row, bool name_first)
{
	struct tare_cell *cell = tare_result_add_cell(result, row->quantity, "ns", row->source);
	if (name_first && row->name)
		assert_int_equal(tare_labels_set_text(&cell->labels, row->name, row->text), 0);
	if (row->line)
		assert_int_equal(tare_labels_set_text(&cell->labels, "line", row->line), 0);
	if (row->bytes)
		assert_int_equal(tare_labels_set_number(&cell->labels, "bytes", row->bytes), 0);
	if (!name_first && row->name)
		assert_int_equal(tare_labels_set_text(&cell->labels, row->name, row->text), 0);
}

static void check_row(const struct tare_cell *cell, const struct sort_row *row)
{
	const struct tare_label *line = tare_labels_find(&cell->labels, "line");
	const struct tare_label *bytes = tare_labels_find(&cell->labels, "bytes");
	const struct tare_label *other =
	    row->name ? tare_labels_find(&cell->labels, row->name) : NULL;
	assert_string_equal(line ? line->text : "", row->line ? row->line : "");
	assert_int_equal(bytes ? bytes->number : 0, row->bytes);
	assert_int_equal(other != NULL, row->name != NULL);
	if (other)
		assert_string_equal(other->text, row->text);
	assert_string_equal(cell->quantity, row->quantity);
	assert_string_equal(cell->source, row->source);
}

static void cells_are_sorted_whatever_the_order_of_measuring(void **state)
{
	static const struct sort_row rows[] = {
		{ "write", 0, NULL, NULL, "fit", "model" },
		{ "write", 8, NULL, NULL, "time", "device" },
		{ "write", 8, NULL, NULL, "time", "host" },
		{ "write", 8, NULL, NULL, "time", "model" },
		{ "write", 8, "mode", "a", "time", "device" },
		{ "write", 8, "mode", "b", "time", "device" },
		{ "write", 8, "api", "x", "time", "device" },
		{ "write", 1024, NULL, NULL, "rate", "host" },
		{ "write", 1024, NULL, NULL, "time", "host" },
		{ "read", 4, NULL, NULL, "time", "host" },
		{ "read", 4096, NULL, NULL, "time", "host" },
		{ NULL, 4, NULL, NULL, "time", "host" },
	};
	enum { ROWS = sizeof rows / sizeof *rows };
	// Steps that are coprime with the number of rows give permutations; the lines keep their
	// first appearance, because a cell of each is added before.
	static const size_t steps[] = { 1, 5, 7, 11 };
	static const struct sort_row first[] = {
		{ "write", 0, NULL, NULL, "a", "device" },
		{ "read", 0, NULL, NULL, "a", "device" },
		{ NULL, 0, NULL, NULL, "a", "device" },
	};
	(void)state;
	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		struct tare_result *result = tare_result_new("bandwidth");
		size_t at = 0;
		for (size_t i = 0; i < 3; i++)
			add_row(result, &first[i], false);
		for (size_t i = 0; i < ROWS; i++)
			add_row(result, &rows[i * steps[k] % ROWS], i % 2);
		tare_result_sort_cells(result);
		assert_int_equal(result->cell_count, ROWS + 3);
		for (size_t i = 0; i < ROWS; i++) {
			if (i == 0 || i == 9 || i == 11)
				check_row(&result->cells[at++], &first[i == 0   ? 0
				                                       : i == 9 ? 1
				                                                : 2]);
			check_row(&result->cells[at++], &rows[i]);
		}
		tare_result_free(result);
	}
}

static void sorting_nothing_is_harmless(void **state)
{
	struct tare_result *result = tare_result_new("bandwidth");
	(void)state;
	tare_result_sort_cells(result);
	tare_result_free(result);
}

static void lists_grow_and_keep_what_they_hold(void **state)
{
	struct tare_result *result = tare_result_new("bandwidth");
	struct tare_plot *plot;
	struct tare_plot_series *series;
	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_non_null(tare_result_add_cell(result, "time", "ns", "host"));
		assert_int_equal(tare_result_warn(result, "id", NULL, "warning %d", i), 0);
		result->cells[i].converged = i % 3 == 0;
	}
	plot = tare_result_add_plot(result, "id", "title", TARE_PLOT_BAR);
	series = tare_plot_add_series(plot, "one");
	for (int i = 0; i < 1000; i++)
		assert_int_equal(tare_plot_series_add(series, (struct tare_point){ .x = i }), 0);
	assert_int_equal(result->cell_count, 100);
	assert_string_equal(result->warnings[99].message, "warning 99");
	for (int i = 0; i < 100; i++)
		assert_int_equal(result->cells[i].converged, i % 3 == 0);
	for (int i = 0; i < 1000; i++)
		assert_true(series->points[i].x == i);
	tare_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_document_knows_its_command_and_nothing_else),
		cmocka_unit_test(labels_are_replaced_by_name_and_keep_their_order),
		cmocka_unit_test(
		    a_cell_takes_over_a_series_and_summarises_what_came_after_the_last_look),
		cmocka_unit_test(a_series_without_samples_has_no_figure),
		cmocka_unit_test(a_rate_is_the_work_over_the_time_in_the_cells_unit),
		cmocka_unit_test(an_absent_cell_has_a_reason_and_no_figure),
		cmocka_unit_test(cells_are_sorted_whatever_the_order_of_measuring),
		cmocka_unit_test(sorting_nothing_is_harmless),
		cmocka_unit_test(lists_grow_and_keep_what_they_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
