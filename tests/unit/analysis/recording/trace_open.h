// SPDX-License-Identifier: Apache-2.0
// Opening a trace that must open, inside a cmocka test.
#pragma once
#include "tests/unit/trace/trace_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char message[512];

static inline struct tare_trace *must_open(const char *path)
{
	struct tare_trace *trace;

	if (tare_trace_open(path, &trace, message, sizeof message))
		fail_msg("%s", message);
	return trace;
}

// Opens the only file of the folder and reads it all.
static inline struct tare_trace *read_folder(struct seen *all)
{
	struct tare_trace *trace = must_open(trace_folder);

	assert_int_equal(tare_trace_file_count(trace), 1);
	assert_int_equal(see_all(trace, 0, all), 0);
	return trace;
}

static inline void assert_no_problem(const struct tare_trace *trace)
{
	if (tare_trace_problem(trace))
		fail_msg("%s", tare_trace_problem(trace));
	for (size_t i = 0; i < tare_trace_file_count(trace); i++)
		if (tare_trace_file(trace, i)->problem)
			fail_msg("%s", tare_trace_file(trace, i)->problem);
}

#define IN_FOLDER(test)                                                                            \
	cmocka_unit_test_setup_teardown(test, make_trace_folder, remove_trace_folder)
