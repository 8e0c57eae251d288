// SPDX-License-Identifier: Apache-2.0
// What a report says first: only what concerns its figures.
#include "report/tables/tables.h"
#include "run_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static struct run_fixture fixture;

// The problem of an id in the fixture; NULL: it is not among them.
static const struct tare_report_problem *find(struct tare_report_problems *problems, const char *id)
{
	assert_int_equal(tare_report_problems_find(&fixture.run, problems), 0);
	for (size_t i = 0; i < problems->count; i++)
		if (strcmp(problems->at[i].id, id) == 0)
			return &problems->at[i];
	return NULL;
}

// A process without an exit is worth a warning only when times are missing because of it.
static void a_process_without_an_exit(void **state)
{
	static const struct {
		int64_t before_end_ms;
		uint32_t state;
		uint8_t flags, untimed;
		bool timed;
		const char *id, *text;
		bool figures;
	} rows[] = {
		{ 10, TARE_TRACE_RECORDING, 0, 0, true, "killed",
		  "process 4120 ended without exit handlers (killed, or _exit)", false },
		{ 10, TARE_TRACE_RECORDING, 0, 0, false, "killed",
		  "(killed, or _exit); device times of 1 command were not collected", true },
		{ 10, TARE_TRACE_RECORDING, 0, TARE_UNTIMED_ABANDONED, false, "killed",
		  "device times of 1 command were not collected", true },
		{ 10, TARE_TRACE_RECORDING, 0, TARE_UNTIMED_FAILED, false, "killed",
		  "(killed, or _exit)", false },
		{ 10, TARE_TRACE_RECORDING, TARE_COMMAND_NO_TIMES, 0, false, "killed",
		  "(killed, or _exit)", false },
		{ 0, TARE_TRACE_RECORDING, 0, 0, true, "outlived",
		  "process 4120 was still running at the end", false },
		{ 0, TARE_TRACE_RECORDING, 0, 0, false, "outlived",
		  "at the end; device times of 1 command were not collected", true },
		{ 10, TARE_TRACE_ENDED, 0, 0, false, "killed", NULL, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_command command = { .start_ns =
			                                     rows[i].timed ? 1 : TARE_NO_TIME,
			                                 .end_ns = 2,
			                                 .flags = rows[i].flags,
			                                 .untimed = rows[i].untimed };
		struct tare_report_problems problems;
		const struct tare_report_problem *problem;
		assert_true(run_fixture_make("simulate", &fixture));
		fixture.recording.commands.plain = &command;
		fixture.recording.command_count = 1;
		fixture.recording.processes[0].state = rows[i].state;
		fixture.recording.processes[0].end_ns -= rows[i].before_end_ms * MS;
		problem = find(&problems, rows[i].id);
		if (!problem != !rows[i].text)
			fail_msg("row %zu: '%s'", i, problem ? problem->text : "nothing");
		if (problem &&
		    (problem->figures != rows[i].figures || !strstr(problem->text, rows[i].text)))
			fail_msg("row %zu: %d, '%s'", i, problem->figures, problem->text);
		// Nothing goes on when nothing is missing.
		if (problem && !rows[i].figures)
			assert_null(strstr(problem->text, ";"));
		tare_report_problems_free(&problems);
	}
}

static void time_that_was_not_recorded(void **state)
{
	static const struct {
		int64_t part_ms;
		enum tare_loss_why why;
		uint32_t stop_reason;
		const char *text; // NULL: not worth a word
	} rows[] = {
		{ 124, TARE_LOSS_STOPPED, TARE_TRACE_MAX_SIZE, NULL },
		{ 130, TARE_LOSS_STOPPED, TARE_TRACE_MAX_SIZE,
		  "1.0 % of the time was not recorded: its file "
		  "reached --max-size; record with a larger one" },
		{ 6205, TARE_LOSS_STOPPED, TARE_TRACE_NO_SPACE,
		  "50.0 % of the time was not recorded: no space" },
		{ 6205, TARE_LOSS_STOPPED, TARE_TRACE_FILE_LIMIT, "raise ulimit -f" },
		{ 6205, TARE_LOSS_STOPPED, TARE_TRACE_IO, "the recording stopped" },
		{ 6205, TARE_LOSS_RECYCLED, 0, "(--keep newest); a larger --max-size keeps more" },
		{ 6205, TARE_LOSS_INACTIVE, 0, "as --delay and --duration asked" },
		{ 6205, TARE_LOSS_NO_ROOM, 0, "records found no room" },
		{ 6205, TARE_LOSS_NO_SIGN, 0, "a process vanished" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_loss losses[2];
		struct tare_report_problems problems;
		const struct tare_report_problem *problem;
		assert_true(run_fixture_make("simulate", &fixture));
		fixture.ledgers.ledgers[1].parts_ns[TARE_LEDGER_NOT_RECORDED] =
		    rows[i].part_ms * MS;
		fixture.recording.processes[0].stop_reason = rows[i].stop_reason;
		// The longest within the view says why.
		losses[1] = (struct tare_recorded_loss){ .thread = TARE_NO_INDEX,
			                                 .from_ns = 0,
			                                 .to_ns = fixture.view.from_ns + 5,
			                                 .why = TARE_LOSS_NO_SIGN };
		losses[0] = (struct tare_recorded_loss){ .thread = TARE_NO_INDEX,
			                                 .from_ns = fixture.view.from_ns,
			                                 .to_ns = fixture.view.from_ns + 100 * MS,
			                                 .why = rows[i].why };
		fixture.recording.losses = losses;
		fixture.recording.loss_count = 2;
		problem = find(&problems, "not-recorded");
		if (!problem != !rows[i].text ||
		    (problem && (!problem->figures || !strstr(problem->text, rows[i].text))))
			fail_msg("row %zu: '%s'", i, problem ? problem->text : "nothing");
		tare_report_problems_free(&problems);
	}
}

// Queues are not to blame where it is lists of which nothing is known.
static void what_lists_ran_unrecorded(void **state)
{
	struct tare_report_problems problems = { 0 };
	(void)state;
	assert_true(run_fixture_make("strict", &fixture));
	uint64_t *by = fixture.tables.coverage.unobserved_by;
	assert_non_null(find(&problems, "no-profiling"));
	tare_report_problems_free(&problems);
	by[TARE_UNOBSERVED_UNLISTED] = by[TARE_UNOBSERVED_NOT_ASKED];
	by[TARE_UNOBSERVED_NOT_ASKED] = 0;
	const struct tare_report_problem *problem = find(&problems, "unlisted");
	assert_non_null(problem);
	assert_true(problem->figures);
	assert_non_null(strstr(problem->text, "1024 commands were run by lists or graphs"));
	tare_report_problems_free(&problems);
}

// Of calls that are not shown, one is told as one.
static void functions_that_are_not_shown(void **state)
{
	static const struct {
		size_t functions;
		const char *text;
	} rows[] = { { 9, "of 1 more function, " }, { 10, "of 2 more functions, " } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_text_options options = { .columns = 80 };
		char *written = NULL;
		size_t bytes;
		struct tare_text text = { .options = &options,
			                  .file = open_memstream(&written, &bytes) };
		assert_true(run_fixture_make("simulate", &fixture));
		fixture.tables.api_count = rows[i].functions;
		tare_calls_text(&text, &fixture.run);
		fclose(text.file);
		assert_non_null(strstr(written, rows[i].text));
		assert_non_null(strstr(written, i ? "lists them)" : "lists it)"));
		free(written);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_without_an_exit),
		cmocka_unit_test(time_that_was_not_recorded),
		cmocka_unit_test(what_lists_ran_unrecorded),
		cmocka_unit_test(functions_that_are_not_shown),
	};
	return cmocka_run_group_tests_name("run_problems", tests, NULL, NULL);
}
