// SPDX-License-Identifier: Apache-2.0
// What is no trace, and what lies in the folder of one.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "whole_trace.h"

static int open_only(const char *path, const char *says)
{
	struct tare_trace *trace;
	int status = tare_trace_open(path, &trace, message, sizeof message);

	if (!strstr(message, says))
		fail_msg("'%s', not '%s'", message, says);
	tare_trace_close(trace);
	return status;
}

static void what_is_no_trace_is_said(void **state)
{
	(void)state;
	unlink(trace_path("a.trace"));
	assert_int_equal(open_only(trace_path("b.tare"), "there is no trace '"), -ENOENT);
	assert_int_equal(open_only(trace_folder, "no file in it ends in .trace"), -ENODATA);
	put_file("a.trace", "", 0);
	assert_int_equal(open_only(trace_folder, "a.trace is empty"), -ENODATA);
	assert_int_equal(open_only(trace_path("a.trace"), "a.trace is empty"), -ENODATA);
	assert_int_equal(open_only(trace_path("a.trace/b"), "there is no trace"), -ENOENT);
	memset(seen.records, 0, SIZE);
	put_file("a.trace", seen.records, SIZE);
	assert_int_equal(open_only(trace_folder, "has no header"), -ENODATA);
	put_file("record.json", "{}", 2);
	assert_int_equal(open_only(trace_folder, ""), 0);
}

// None of these may be waited for, and none hides the file that is right.
static void a_folder_of_traps_is_walked_unharmed(void **state)
{
	struct tare_trace *trace;
	uint8_t newer[SIZE];

	(void)state;
	put_file("a.trace", whole, SIZE);
	memcpy(newer, whole, SIZE);
	newer[AT(version_major)] = 9;
	put_file("newer.trace", newer, SIZE);
	assert_int_equal(mkfifo(trace_path("b.trace"), 0600), 0);
	assert_int_equal(mkdir(trace_path("c.trace"), 0700), 0);
	assert_int_equal(symlink("nowhere", trace_path("d.trace")), 0);
	assert_int_equal(symlink("/dev/zero", trace_path("e.trace")), 0);
	assert_int_equal(symlink("f.trace", trace_path("f.trace")), 0);
	assert_int_equal(symlink("a.trace", trace_path("g.trace")), 0);
	put_file(".trace", "x", 1);
	put_file(".b.trace", "x", 1);
	assert_int_equal(mkfifo(trace_path("record.json"), 0600), 0);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_int_equal(tare_trace_file_count(trace), 2);
	assert_string_equal(tare_trace_file(trace, 1)->name, "g.trace");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(see_all(trace, i, &seen), 0);
		assert_int_equal(seen.count, CALLS + 1);
	}
	assert_non_null(strstr(tare_trace_problem(trace), "record.json cannot be read"));
	tare_trace_close(trace);
	unlink(trace_path("record.json"));
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_non_null(strstr(tare_trace_problem(trace),
	                       "6 of 8 trace files were left out; b.trace is no regular file"));
	tare_trace_close(trace);
	unlink(trace_path(".trace"));
	unlink(trace_path(".b.trace"));
	assert_int_equal(open_only(trace_path("b.trace"), "is no regular file"), -ENODATA);
}

static void a_record_of_the_run_has_a_limit(void **state)
{
	struct tare_trace *trace;
	size_t bytes;

	(void)state;
	put_file("record.json", "{}", 2);
	assert_int_equal(truncate(trace_path("record.json"), 4 << 20), 0);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_non_null(tare_trace_record_json(trace, &bytes));
	assert_int_equal(bytes, 4 << 20);
	tare_trace_close(trace);
	assert_int_equal(truncate(trace_path("record.json"), (4 << 20) + 1), 0);
	assert_int_equal(tare_trace_open(trace_folder, &trace, message, sizeof message), 0);
	assert_null(tare_trace_record_json(trace, &bytes));
	assert_non_null(strstr(tare_trace_problem(trace), "record.json"));
	tare_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(what_is_no_trace_is_said),
		IN_FOLDER(a_folder_of_traps_is_walked_unharmed),
		IN_FOLDER(a_record_of_the_run_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
