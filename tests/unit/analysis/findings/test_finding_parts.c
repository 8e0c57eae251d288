// SPDX-License-Identifier: Apache-2.0
// What findings say about each other: times, claims, ranks, places; of little, or of a part of a
// run; and the page that describes them.
#include "findings_rig.h"

#include <math.h>

// Painted nanosecond by nanosecond, a second time.
static void the_same_time_is_counted_once(void **state)
{
	static const struct script script = {
		.run_ns = 20 * US, .dispatch_ns = 15 * US, .wake_ns = 10 * US, .compute_ns = 18 * US
	};
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_findings *findings = &scene->findings;
	unsigned char *painted = calloc((size_t)scene->now_ns, 1);
	double together_ns = 0, sum_ns = 0;
	assert_non_null(painted);
	assert_true(findings->count >= 3);
	for (size_t i = 0; i < findings->count; i++) {
		int64_t shared_ns = 0;
		for (size_t j = 0; j < findings->at[i].claim_count; j++)
			for (int64_t t = findings->at[i].claims[j].from_ns;
			     t < findings->at[i].claims[j].to_ns; t++) {
				shared_ns += painted[t];
				painted[t] = 1;
			}
		assert_int_equal(findings->at[i].shared_ns, shared_ns);
		sum_ns += (double)findings->at[i].cost_ns;
		together_ns += (double)findings->at[i].cost_ns *
		               (1 - (double)shared_ns / (double)length_of(&findings->at[i]));
	}
	assert_true(fabs((double)findings->together_ns - together_ns) <= 1);
	assert_true(together_ns < sum_ns);
	free(painted);
	free_scene(scene);
}

static void claims_are_the_parts_of_gaps_that_it_is_about(void **state)
{
	static const struct script held = { .compute_ns = 20 * US, .held_ns = 20 * US };
	static const struct script first = { .run_ns = 2 * US,
		                             .dispatch_ns = 3 * US,
		                             .first_ns = 4 * MS };
	(void)state;
	struct scene *scene = run_script(&held);
	assert_int_equal(length_of(found(scene, "idle-host-computes")), 199 * 20 * US);
	// From the entry of the call, which takes 1 µs.
	assert_int_equal(length_of(found(scene, "unflushed-queue")), 200 * 21 * US);
	free_scene(scene);
	scene = run_script(&first);
	// And of the kernels, whose own fixed time may be all of theirs.
	assert_int_equal(length_of(found(scene, "many-short-kernels")),
	                 199 * 3 * US + 200 * 2 * US);
	assert_int_equal(found(scene, "many-short-kernels")->cost_high_ns,
	                 199 * 3 * US + 200 * 2 * US);
	free_scene(scene);
}

// What was measured comes before what may be nothing, however much that may be.
static void what_it_costs_at_least_ranks(void **state)
{
	static const struct script script = { .units = 8,
		                              .global = { 4 * 64 },
		                              .compute_ns = 50 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *computes = found(scene, "idle-host-computes");
	const struct tare_finding *fill = found(scene, "under-filled-device");
	assert_non_null(computes);
	assert_non_null(fill);
	assert_true(computes < fill && computes->cost_ns < fill->cost_ns);
	assert_int_equal(fill->cost_low_ns, 0);
	free_scene(scene);
}

// Of a gap a part is known to one residual; what the loop does now and then is told with its
// launches.
static void the_residual_counts_once_a_gap(void **state)
{
	static const struct script script = { .compute_ns = 50 * US, .residual_ns = 10 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->cost_ns, 199 * 50 * US);
	assert_int_equal(finding->cost_low_ns, 199 * 40 * US);
	// At most all of the gap, which has a call of 1 µs, but no more than is claimed.
	assert_int_equal(finding->cost_high_ns, 199 * 50 * US);
	// Ends of a gap may be of two devices' clocks.
	made_device(scene->made, 0, TARE_NO_INDEX, 0);
	find_again(scene);
	assert_int_equal(found(scene, "idle-host-computes")->cost_low_ns, 199 * 30 * US);
	free_scene(scene);
}

static void places_are_kernels_where_no_stack_is_known(void **state)
{
	static const struct script script = { .kinds = 6, .compute_ns = 20 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->place_count, TARE_FINDING_PLACES);
	assert_int_equal(finding->occurrences, 199);
	for (size_t i = 0; i < TARE_FINDING_PLACES; i++)
		assert_in_range(finding->places[i].count, 33, 34);
	free_scene(scene);
}

static void places_are_stacks_where_they_are_known(void **state)
{
	static const struct script script = { .compute_ns = 20 * US };
	struct tare_recorded_stack stacks[2] = { 0 };
	(void)state;
	struct scene *scene = run_script(&script);
	scene->made->recording.stacks = stacks;
	scene->made->recording.stack_count = 2;
	for (size_t i = 0; i < scene->made->recording.command_count; i++)
		scene->made->commands[i].stack = i < 50;
	find_again(scene);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_int_equal(finding->place_count, 2);
	assert_int_equal(finding->places[0].stack, 0);
	assert_int_equal(finding->places[0].count, 150);
	assert_int_equal(finding->places[1].stack, 1);
	assert_int_equal(finding->places[1].count, 49);
	free_scene(scene);
}

static void an_empty_recording_has_none(void **state)
{
	static const struct script script = { 0 };
	(void)state;
	struct scene *scene = make_scene(&script);
	scene->made->recording.end_ns = scene->now_ns;
	scene->view = tare_view_all(&scene->made->recording);
	find(scene);
	assert_int_equal(scene->findings.count + scene->findings.unjudged_count, 0);
	free_scene(scene);
}

static void one_command_and_no_length_have_none(void **state)
{
	static const struct script script = { .launches = 1 };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_int_equal(scene->findings.count, 0);
	scene->view.from_ns = scene->view.to_ns = 60 * MS + 500 * US;
	find_again(scene);
	assert_int_equal(scene->findings.count, 0);
	free_scene(scene);
}

// Findings are about the parts that a view asks for, cut exactly.
static void parts_of_a_view_are_evaluated_alone(void **state)
{
	static const struct script script = { .compute_ns = 50 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	int64_t all_ns = found(scene, "idle-host-computes")->cost_ns;
	int64_t from_ns = scene->tables.summary.working_from_ns;
	int64_t quarter_ns = (scene->tables.summary.working_to_ns - from_ns) / 4;
	struct tare_run_span spans[2] = { { from_ns, from_ns + quarter_ns },
		                          { from_ns + 2 * quarter_ns, from_ns + 3 * quarter_ns } };
	scene->view.spans = spans;
	scene->view.span_count = 2;
	find_again(scene);
	const struct tare_finding *finding = found(scene, "idle-host-computes");
	assert_non_null(finding);
	assert_in_range(finding->cost_ns, all_ns * 48 / 100, all_ns * 52 / 100);
	for (size_t i = 0; i < finding->claim_count; i++) {
		const struct tare_run_span *claim = &finding->claims[i];
		assert_true(
		    (claim->from_ns >= spans[0].from_ns && claim->to_ns <= spans[0].to_ns) ||
		    (claim->from_ns >= spans[1].from_ns && claim->to_ns <= spans[1].to_ns));
	}
	free_scene(scene);
}

static void write_rows(FILE *file)
{
	const struct tare_finding_words *words;
	for (size_t row = 0; (words = tare_finding_words(row)); row++)
		fprintf(file, "| `%s` | %s | %s | %s | `%s` | `%s` |\n", words->id,
		        words->predicate, words->threshold, words->cost, words->raised_by,
		        words->silent_on);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 18);
	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
	fclose(file);
	return text;
}

// TARE_UPDATE_GOLDEN=1 writes the table anew.
static void the_page_has_the_table_of_the_code(void **state)
{
	static const char head[] = "|---|---|---|---|---|---|\n", tail[] = "<!-- end of table -->";
	char path[4096], *rows = NULL;
	size_t size = 0;
	(void)state;
	snprintf(path, sizeof path, "%s/../../docs/findings.md", getenv("TARE_TEST_DATA"));
	char *page = read_file(path), *from = strstr(page, head), *to = strstr(page, tail);
	FILE *file = open_memstream(&rows, &size);
	assert_true(from && to && from < to && file);
	from += sizeof head - 1;
	write_rows(file);
	assert_int_equal(fclose(file), 0);
	if (getenv("TARE_UPDATE_GOLDEN")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%.*s%s%s", (int)(from - page), page, rows, to);
		assert_int_equal(fclose(file), 0);
	} else if ((size_t)(to - from) != size || memcmp(from, rows, size) != 0) {
		fail_msg("docs/findings.md has another table: TARE_UPDATE_GOLDEN=1 writes it");
	}
	free(page);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_time_is_counted_once),
		cmocka_unit_test(claims_are_the_parts_of_gaps_that_it_is_about),
		cmocka_unit_test(what_it_costs_at_least_ranks),
		cmocka_unit_test(the_residual_counts_once_a_gap),
		cmocka_unit_test(places_are_kernels_where_no_stack_is_known),
		cmocka_unit_test(places_are_stacks_where_they_are_known),
		cmocka_unit_test(an_empty_recording_has_none),
		cmocka_unit_test(one_command_and_no_length_have_none),
		cmocka_unit_test(parts_of_a_view_are_evaluated_alone),
		cmocka_unit_test(the_page_has_the_table_of_the_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
