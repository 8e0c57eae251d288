// SPDX-License-Identifier: Apache-2.0
// Samples belong to the kernel whose library was mapped there last, in that process.
#include "blocks/clock/code.h"
#include "blocks/clock/times.h"
#include "tests/unit/skip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char first[] = "/cache/AB/CD/add/64-1-1/add.so", second[] = "/cache/AB/CD/mul/64-1-1/mul.so",
            other[] = "/usr/lib/libpocl.so", unlike[] = "/usr/lib/add/64/mul.so",
            shorter[] = "/dd/64/add.so";

static struct tare_blocks_times made(struct tare_blocks_tick *at, size_t count,
                                     struct tare_blocks_mapping *mappings, size_t mapping_count)
{
	const struct tare_blocks_ticks ticks = {
		.at = at, .count = count, .mappings = mappings, .mapping_count = mapping_count
	};
	struct tare_blocks_times times = { .asked = true };

	assert_int_equal(
	    tare_blocks_times_make(&ticks, &(struct tare_blocks_times_tools){ "", "" }, &times), 0);
	return times;
}

static void an_address_is_whose_it_was_last(void **state)
{
	struct tare_blocks_mapping mappings[] = {
		{ .at = 20, .from = 0x1000, .bytes = 0x100, .process = 1, .path = second },
		{ .at = 10, .from = 0x1000, .bytes = 0x100, .process = 1, .path = first },
		{ .at = 10, .from = 0x1000, .bytes = 0x100, .process = 2, .path = other },
	};
	struct tare_blocks_tick at[] = {
		{ 15, 0x1010, 1 }, { 19, 0x10ff, 1 }, { 21, 0x1000, 1 },
		{ 5, 0x1010, 1 },  { 25, 0x1100, 1 }, { 25, 0x1010, 2 },
	};

	(void)state;
	struct tare_blocks_times times = made(at, 6, mappings, 3);
	assert_int_equal(times.samples, 6);
	assert_int_equal(tare_blocks_time_of(&times, "add")->samples, 2);
	assert_int_equal(tare_blocks_time_of(&times, "mul")->samples, 1);
	assert_int_equal(times.kernel_count, 2);
	// There is no such library here.
	assert_int_equal(tare_blocks_time_of(&times, "add")->untold, 2);
	assert_int_not_equal(tare_blocks_time_of(&times, "add")->why.code, 0);
	tare_blocks_times_free(&times);
}

static void other_libraries_are_no_kernels(void **state)
{
	struct tare_blocks_mapping mappings[] = {
		{ .from = 0x1000, .bytes = 0x100, .process = 1, .path = other },
		{ .from = 0x2000, .bytes = 0x100, .process = 1, .path = unlike },
		{ .from = 0x3000, .bytes = 0x100, .process = 1, .path = shorter },
	};
	struct tare_blocks_tick at[] = { { 1, 0x1010, 1 }, { 1, 0x2010, 1 }, { 1, 0x3010, 1 } };

	(void)state;
	struct tare_blocks_times times = made(at, 3, mappings, 3);
	assert_int_equal(times.kernel_count, 0);
	tare_blocks_times_free(&times);
}

#define OTHERS "define void @_pocl_kernel_add_more(ptr %0) !dbg !9 {\n}\n"
#define OWN "define void @_pocl_kernel_add(ptr %0) #1"
#define GROUP "define void @_pocl_kernel_add_workgroup(ptr %0) #2"
#define FAST "define void @_pocl_kernel_add_workgroup_fast(ptr %0) #2"

static void described(const char *text, enum tare_blocks_described what, const char *expected)
{
	char *made = tare_blocks_describe(text, "add", what);

	if (expected)
		assert_string_equal(made, expected);
	else
		assert_null(made);
	free(made);
}

static void a_description_moves_to_what_runs(void **state)
{
	static const char with[] =
	    OTHERS OWN " !dbg !32 !kernel !5 {\n}\n" GROUP " {\n}\n" FAST " {\n}\n";

	(void)state;
	described(with, TARE_BLOCKS_AS_IT_IS, with);
	described(with, TARE_BLOCKS_WORKGROUP,
	          OTHERS OWN " !kernel !5 {\n}\n" GROUP " !dbg !32 {\n}\n" FAST " {\n}\n");
	described(with, TARE_BLOCKS_WORKGROUP_FAST,
	          OTHERS OWN " !kernel !5 {\n}\n" GROUP " {\n}\n" FAST " !dbg !32 {\n}\n");
	// Without lines, or without what runs.
	described(OTHERS OWN " {\n}\n" GROUP " {\n}\n", TARE_BLOCKS_WORKGROUP, NULL);
	described(OTHERS OWN " !dbg !32 {\n}\n" GROUP " {\n}\n", TARE_BLOCKS_WORKGROUP_FAST, NULL);
	described("", TARE_BLOCKS_AS_IT_IS, NULL);
}

// Newcombe, "Two-sided confidence intervals for the single proportion", 1998: table I.
static void intervals_are_those_of_the_literature(void **state)
{
	double low, high;

	(void)state;
	tare_blocks_share_interval(81, 263, &low, &high);
	assert_float_equal(low, 0.2553, 5e-5);
	assert_float_equal(high, 0.3662, 5e-5);
	tare_blocks_share_interval(0, 20, &low, &high);
	assert_float_equal(low, 0, 1e-9);
	assert_float_equal(high, 0.1611, 5e-5);
}

enum { SAID = 0, NOT_SAID, NOT_ALLOWED, NEVER_FULL };

// Samples again and again, as somebody without rights, until there is no room.
static int fill_the_room(void)
{
	enum { MOST = 32 };
	struct rlimit none = { 0, 0 };
	struct tare_error why = { 0 };

	if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 || (geteuid() == 0 && setuid(65534) < 0) ||
	    !tare_blocks_clock_is_allowed(&why))
		return NOT_ALLOWED;
	for (int i = 0; i < MOST; i++)
		if (!tare_blocks_clock_begin(&why))
			return strstr(why.message, "perf_event_mlock_kb") ? SAID : NOT_SAID;
	return NEVER_FULL;
}

static void that_there_is_no_room_is_said(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(fill_the_room());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) >= NOT_ALLOWED)
		skip_because("nobody may sample here, or may without end");
	assert_int_equal(WEXITSTATUS(status), SAID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_description_moves_to_what_runs),
		cmocka_unit_test(an_address_is_whose_it_was_last),
		cmocka_unit_test(other_libraries_are_no_kernels),
		cmocka_unit_test(that_there_is_no_room_is_said),
		cmocka_unit_test(intervals_are_those_of_the_literature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
