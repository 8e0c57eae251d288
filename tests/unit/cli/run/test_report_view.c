// SPDX-License-Identifier: Apache-2.0
// Which trace a report is about, and which part of it.
#include "cli/run/report_view.h"

#include "tests/unit/report/run/run_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct tare_run_span *spans;

#define S INT64_C(1000000000)

static struct run_fixture fixture;

static void filters_pick_what_they_name(void **state)
{
	static const struct {
		struct tare_settings settings;
		int64_t from_ns, to_ns; // of the run
		uint32_t process, device;
	} rows[] = {
		{ { .from = NULL }, 0, 12410 * S / 1000, TARE_NO_INDEX, TARE_NO_INDEX },
		{ { .from = "1" }, S, 12410 * S / 1000, TARE_NO_INDEX, TARE_NO_INDEX },
		{ { .to = "2.5" }, 0, 2500 * S / 1000, TARE_NO_INDEX, TARE_NO_INDEX },
		{ { .from = "10%", .to = "90%" },
		  1241 * S / 1000,
		  11169 * S / 1000,
		  TARE_NO_INDEX,
		  TARE_NO_INDEX },
		{ { .to = "99" }, 0, 12410 * S / 1000, TARE_NO_INDEX, TARE_NO_INDEX },
		{ { .from = "0", .to = "100%" },
		  0,
		  12410 * S / 1000,
		  TARE_NO_INDEX,
		  TARE_NO_INDEX },
		{ { .process = "0" }, 0, 12410 * S / 1000, 0, TARE_NO_INDEX },
		{ { .process = "1" }, 0, 12410 * S / 1000, 1, TARE_NO_INDEX },
		{ { .process = "4125" }, 0, 12410 * S / 1000, 1, TARE_NO_INDEX },
		{ { .process = "worker" }, 0, 12410 * S / 1000, 1, TARE_NO_INDEX },
		{ { .process = "/home/u/simulate" }, 0, 12410 * S / 1000, 0, TARE_NO_INDEX },
		{ { .process = "wor" }, 0, 12410 * S / 1000, 1, TARE_NO_INDEX },
		{ { .device = "1" }, 0, 12410 * S / 1000, TARE_NO_INDEX, 1 },
		{ { .device = "a100" }, 0, 12410 * S / 1000, TARE_NO_INDEX, 1 },
		{ { .task = "n*2" }, 0, 12410 * S / 1000, TARE_NO_INDEX, TARE_NO_INDEX },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_view view;
		struct tare_error error = { 0 };
		int status = tare_report_view_parse(&rows[i].settings, &fixture.recording, &view,
		                                    &spans, &error);
		if (status != TARE_EXIT_OK)
			fail_msg("row %zu: %s", i, error.message);
		if (view.from_ns - fixture.recording.start_ns != rows[i].from_ns ||
		    view.to_ns - fixture.recording.start_ns != rows[i].to_ns ||
		    view.process != rows[i].process || view.device != rows[i].device ||
		    view.kernel != rows[i].settings.task)
			fail_msg("row %zu: %lld to %lld, process %u, device %u", i,
			         (long long)(view.from_ns - fixture.recording.start_ns),
			         (long long)(view.to_ns - fixture.recording.start_ns), view.process,
			         view.device);
	}
}

static void what_is_not_there_is_refused_with_what_is(void **state)
{
	static const struct {
		struct tare_settings settings;
		const char *words;
	} rows[] = {
		{ { .from = "x" }, "--from: 'x' is neither seconds" },
		{ { .from = "" }, "--from: '' is neither seconds" },
		{ { .from = "1s" }, "--from: '1s' is neither seconds" },
		{ { .from = "-1" }, "--from: '-1' is neither seconds" },
		{ { .to = "nan" }, "--to: 'nan' is neither seconds" },
		{ { .to = "inf" }, "--to: 'inf' is neither seconds" },
		{ { .to = "101%" }, "--to: '101%' is neither seconds" },
		{ { .to = "5%%" }, "--to: '5%%' is neither seconds" },
		{ { .to = "1e30" }, "--to: '1e30' is neither seconds" },
		{ { .from = "13" }, "--from 13 is not within the run, which took 12.4 s" },
		{ { .from = "100%" }, "--from 100% is not within the run" },
		{ { .from = "5", .to = "5" }, "--from 5 is not before --to 5" },
		{ { .from = "90%", .to = "1" }, "--from 90% is not before --to 1" },
		{ { .to = "0" }, "--from 0 is not before --to 0" },
		{ { .process = "2" },
		  "no process '2' in this trace; there are 0 (pid 4120, simulate), "
		  "1 (pid 4125, worker)" },
		{ { .process = "orker" }, "no process 'orker' in this trace" },
		{ { .process = "" }, "no process '' in this trace" },
		{ { .device = "2" },
		  "no device '2' in this trace; there are 0 (NVIDIA H200), 1 (NVIDIA A100)" },
		{ { .device = "nvidia" },
		  "'nvidia' could be any of several; there are 0 (NVIDIA H200), 1" },
		{ { .device = "Arc" }, "no device 'Arc'" },
		{ { .task = "x*" }, "no kernel of this trace matches 'x*'; there are step, norm2" },
		{ { .phase = "x*" },
		  "--phase: no phase of this trace matches 'x*'; there are app/step, _ZTS??[31m" },
		{ { .phase = "Step" }, "NNN..., MPI/exchange, load" },
		{ { .phase = "step", .from = "2" },
		  "no phase 'step' was open in the part of the run that --from" },
		{ { .phase = "step", .process = "1" },
		  "--phase: this process marks no phases; it could with tare/phase.h" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_view view;
		struct tare_error error = { 0 };
		int status = tare_report_view_parse(&rows[i].settings, &fixture.recording, &view,
		                                    &spans, &error);
		if (status != TARE_EXIT_USAGE || !strstr(error.message, rows[i].words))
			fail_msg("row %zu: %d, '%s', not '%s'", i, status, error.message,
			         rows[i].words);
	}
}

static void phases_give_the_parts_of_the_run(void **state)
{
	static const struct {
		const char *phase, *from;
		int64_t from_ms, to_ms;
	} rows[] = {
		{ "step", NULL, 0, 1000 },  { "app/*", NULL, 0, 1000 },
		{ "*", NULL, 0, 4000 },     { "exchange", "2.5", 2500, 3000 },
		{ "[el]*", NULL, 2, 4000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_settings settings = { .phase = rows[i].phase, .from = rows[i].from };
		int64_t start_ns = fixture.recording.start_ns;
		struct tare_view view;
		struct tare_error error = { 0 };
		assert_int_equal(
		    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
		    TARE_EXIT_OK);
		assert_ptr_equal(view.spans, spans);
		assert_ptr_equal(view.phase, rows[i].phase);
		assert_int_equal(view.span_count, 1);
		assert_int_equal(spans[0].from_ns - start_ns, rows[i].from_ms * S / 1000);
		assert_int_equal(spans[0].to_ns - start_ns, rows[i].to_ms * S / 1000);
		free(spans);
	}
}

static void a_program_without_phases_is_told_how(void **state)
{
	struct tare_settings settings = { .phase = "step" };
	size_t before = fixture.recording.phase_count;
	struct tare_view view;
	struct tare_error error = { 0 };
	(void)state;
	fixture.recording.phase_count = 0;
	assert_int_equal(
	    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
	    TARE_EXIT_USAGE);
	assert_non_null(
	    strstr(error.message,
	           "this program marks no phases; it could with tare/phase.h, ITT or NVTX"));
	assert_null(spans);
	fixture.recording.phase_count = before;
}

static void a_name_of_several_processes_is_refused_with_their_pids(void **state)
{
	struct tare_settings settings = { .process = "simulate" };
	struct tare_view view;
	struct tare_error error = { 0 };
	(void)state;
	fixture.recording.processes[1].executable = "/opt/simulate";
	assert_int_equal(
	    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
	    TARE_EXIT_USAGE);
	assert_non_null(strstr(
	    error.message, "several are called 'simulate': 0 (pid 4120, simulate), 1 (pid 4125"));
	// The whole name before one that only begins so.
	fixture.recording.processes[1].executable = "/opt/simulate.11";
	assert_int_equal(
	    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
	    TARE_EXIT_OK);
	assert_int_equal(view.process, 0);
	settings.process = "simul";
	assert_int_equal(
	    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
	    TARE_EXIT_USAGE);
	assert_non_null(strstr(error.message,
	                       "several are called 'simul': 0 (pid 4120, simulate), 1 (pid 4125"));
	fixture.recording.processes[1].executable = "/opt/worker";
}

static void names_of_the_program_are_cut_and_cleaned_and_lists_end(void **state)
{
	static struct tare_recorded_kernel kernels[40];
	static char name[400];
	struct tare_recorded_kernel *before = fixture.recording.kernels;
	struct tare_settings settings = { .task = "none" };
	struct tare_view view;
	struct tare_error error = { 0 };
	(void)state;
	memset(name, 'k', sizeof name - 1);
	name[3] = '\033';
	for (size_t i = 0; i < 40; i++)
		kernels[i].name = i % 2 ? name : name + 1 + i;
	fixture.recording.kernels = kernels;
	fixture.recording.kernel_count = 40;
	assert_int_equal(
	    tare_report_view_parse(&settings, &fixture.recording, &view, &spans, &error),
	    TARE_EXIT_USAGE);
	assert_null(strchr(error.message, '\033'));
	assert_non_null(strstr(error.message, "kk?kk"));
	assert_non_null(strstr(error.message, "..."));
	fixture.recording.kernels = before;
	fixture.recording.kernel_count = 2;
}

static void an_empty_trace_has_nothing_to_filter(void **state)
{
	static struct run_fixture empty;
	static const struct tare_settings rows[] = { { .process = "0" },
		                                     { .device = "0" },
		                                     { .task = "*" } };
	(void)state;
	assert_true(run_fixture_make("nothing", &empty));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_view view;
		struct tare_error error = { 0 };
		assert_int_equal(
		    tare_report_view_parse(&rows[i], &empty.recording, &view, &spans, &error),
		    TARE_EXIT_USAGE);
		assert_non_null(strstr(error.message, "there are none"));
	}
}

// ---- the trace

static void make_trace(const char *name, time_t written)
{
	char record[64];
	struct timespec times[2] = { { written, 0 }, { written, 0 } };

	snprintf(record, sizeof record, "%s/record.json", name);
	assert_int_equal(mkdir(name, 0700), 0);
	close(open(record, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(utimensat(AT_FDCWD, record, times, 0), 0);
}

static void the_newest_trace_is_the_one_written_last(void **state)
{
	struct tare_report_trace trace;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(tare_report_trace_find(NULL, &trace, &error), TARE_EXIT_FAILED);
	assert_non_null(strstr(error.message, "no trace (*.tare) in this folder"));
	// A kernel's script has that suffix, too.
	close(open("script.tare", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(tare_report_trace_find(NULL, &trace, &error), TARE_EXIT_FAILED);
	make_trace("b.tare", 2000);
	assert_int_equal(tare_report_trace_find(NULL, &trace, &error), TARE_EXIT_OK);
	assert_string_equal(trace.path, "b.tare");
	assert_string_equal(trace.choice, "the only one here");
	free(trace.path);
	make_trace("c.tare", 3000);
	make_trace("a.tare", 1000);
	make_trace("d.tare", 1500);
	assert_int_equal(tare_report_trace_find(NULL, &trace, &error), TARE_EXIT_OK);
	assert_string_equal(trace.path, "c.tare");
	assert_string_equal(trace.choice, "the newest of 4 here");
	free(trace.path);
}

static void a_trace_that_is_named_is_taken_or_refused(void **state)
{
	struct tare_report_trace trace;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(tare_report_trace_find("a.tare", &trace, &error), TARE_EXIT_OK);
	assert_string_equal(trace.path, "a.tare");
	assert_string_equal(trace.choice, "");
	free(trace.path);
	assert_int_equal(tare_report_trace_find("a", &trace, &error), TARE_EXIT_FAILED);
	assert_string_equal(error.message, "no folder a; did you mean a.tare?");
	assert_int_equal(tare_report_trace_find("zz", &trace, &error), TARE_EXIT_FAILED);
	assert_string_equal(error.message, "cannot read zz: No such file or directory");
}

static void add_phases(struct tare_recording *recording)
{
	static struct tare_recorded_phase phases[4];
	static char long_name[200] = "_ZTS\n\033[31m";
	static const struct {
		const char *name, *domain;
	} made[] = { { "step", "app" }, { long_name, "" }, { "exchange", "MPI" }, { "load", "" } };
	memset(long_name + strlen(long_name), 'N', 150);
	for (size_t i = 0; i < 4; i++)
		phases[i] = (struct tare_recorded_phase){
			.from_ns = recording->start_ns + (int64_t)i * S / 1000,
			.to_ns = recording->start_ns + (int64_t)(i + 1) * S,
			.thread = 0,
			.parent = TARE_NO_INDEX,
			.name = made[i].name,
			.domain = made[i].domain
		};
	recording->phases = phases;
	recording->phase_count = 4;
}

static int enter_folder(void **state)
{
	static char folder[] = "/tmp/tare-report-view-XXXXXX";
	*state = mkdtemp(folder);
	if (!*state || chdir(folder) != 0 || !run_fixture_make("many", &fixture))
		return -1;
	fixture.recording.processes[1].executable = "/opt/worker";
	fixture.recording.devices[1].name = "NVIDIA A100";
	fixture.recording.program = "x";
	add_phases(&fixture.recording);
	return 0;
}

static int leave_folder(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -r '%s'", (const char *)*state);
	return chdir("/") != 0 || system(command) != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_pick_what_they_name),
		cmocka_unit_test(what_is_not_there_is_refused_with_what_is),
		cmocka_unit_test(phases_give_the_parts_of_the_run),
		cmocka_unit_test(a_program_without_phases_is_told_how),
		cmocka_unit_test(a_name_of_several_processes_is_refused_with_their_pids),
		cmocka_unit_test(names_of_the_program_are_cut_and_cleaned_and_lists_end),
		cmocka_unit_test(an_empty_trace_has_nothing_to_filter),
		cmocka_unit_test(the_newest_trace_is_the_one_written_last),
		cmocka_unit_test(a_trace_that_is_named_is_taken_or_refused),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
