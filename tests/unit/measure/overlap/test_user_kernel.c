// SPDX-License-Identifier: Apache-2.0
// The user's own kernel: arguments, file names, the names a source holds; and on the simulated
// device, building and the contract.
#include "measure/overlap/user_kernel.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/measure/core/simulated_run.h"

static void arguments_are_read(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
		uint64_t bits; // of the value
	} rows[] = {
		{ "int:5", 4, 5 },
		{ "int:-1", 4, 0xffffffff },
		{ "int:-2147483648", 4, 0x80000000 },
		{ "int:2147483647", 4, 0x7fffffff },
		{ "uint:4294967295", 4, 0xffffffff },
		{ "uint:0xff", 4, 255 },
		{ "int:010", 4, 10 }, // no octal
		{ "char:-128", 1, 0x80 },
		{ "uchar:255", 1, 255 },
		{ "short:-1", 2, 0xffff },
		{ "ushort:65535", 2, 0xffff },
		{ "long:-1", 8, UINT64_MAX },
		{ "ulong:18446744073709551615", 8, UINT64_MAX },
		{ "long:-9223372036854775808", 8, UINT64_C(1) << 63 },
		{ "float:1", 4, 0x3f800000 },
		{ "float:-0.5", 4, 0xbf000000 },
		{ "double:1", 8, UINT64_C(0x3ff0000000000000) },
		{ "float:inf", 4, 0x7f800000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_user_argument argument;
		struct tare_error error;
		uint64_t bits = 0;
		if (tare_user_argument_parse(rows[i].text, &argument, &error) < 0)
			fail_msg("%s: %s", rows[i].text, error.message);
		assert_int_equal(argument.type, TARE_ARGUMENT_VALUE);
		assert_int_equal(argument.bytes, rows[i].bytes);
		memcpy(&bits, argument.value, argument.bytes);
		if (bits != rows[i].bits)
			fail_msg("%s is 0x%llx", rows[i].text, (unsigned long long)bits);
	}
}

static void local_memory_is_an_argument(void **state)
{
	struct tare_user_argument argument;
	(void)state;
	assert_int_equal(tare_user_argument_parse("local:1K", &argument, NULL), 0);
	assert_int_equal(argument.type, TARE_ARGUMENT_LOCAL);
	assert_int_equal(argument.bytes, 1024);
}

static void other_arguments_are_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"5",
		"int",
		"int:",
		":5",
		"int:1x",
		"int: 1",
		"int:+1",
		"int:0x",
		"int:1.5",
		"int:2147483648",
		"int:-2147483649",
		"uint:-1",
		"uint:4294967296",
		"char:128",
		"char:-129",
		"uchar:256",
		"ushort:65536",
		"short:32768",
		"long:9223372036854775808",
		"ulong:18446744073709551616",
		"ulong:-1",
		"float:",
		"float:x",
		"float:1e99",
		"float:1 ",
		"float: 1",
		"double:1e999",
		"local:",
		"local:0",
		"local:-1",
		"local:1G",
		"half:1",
		"Int:1",
		"int:99999999999999999999999",
		"bool:1",
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_user_argument argument;
		struct tare_error error = { 0 };
		if (tare_user_argument_parse(rows[i], &argument, &error) != -EINVAL)
			fail_msg("'%s' was taken", rows[i]);
		assert_true(strstr(error.message, "--arg") == error.message);
	}
}

static void formats_follow_from_names(void **state)
{
	static const struct {
		const char *file;
		int format; // -1: refused
	} rows[] = {
		{ "a.cl", TARE_MODULE_OPENCL_C },
		{ "/x.y/b.spv", TARE_MODULE_SPIRV },
		{ "c.ptx", TARE_MODULE_PTX },
		{ "d.cu", TARE_MODULE_CUDA_C },
		{ "e.tare", TARE_MODULE_NATIVE },
		{ "f", -1 },
		{ "g.c", -1 },
		{ "h.cl/", -1 },
		{ "i.clx", -1 },
		{ ".cl", TARE_MODULE_OPENCL_C },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum tare_module_format format;
		struct tare_error error;
		int status = tare_user_kernel_format(rows[i].file, &format, &error);
		assert_int_equal(status, rows[i].format < 0 ? -EINVAL : 0);
		if (status == 0)
			assert_int_equal(format, rows[i].format);
	}
}

static void kernels_are_found_in_sources(void **state)
{
	static const struct {
		enum tare_module_format format;
		const char *source, *names;
		size_t count;
	} rows[] = {
		{ TARE_MODULE_OPENCL_C, "kernel void one(global int *a) {}", "one", 1 },
		{ TARE_MODULE_OPENCL_C, "__kernel\nvoid two (int x){}\nkernel void three(){}",
		  "two, three", 2 },
		{ TARE_MODULE_OPENCL_C,
		  "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void four(int a) {}",
		  "four", 1 },
		{ TARE_MODULE_OPENCL_C, "// kernel void not(int a)\n/* kernel void nor(int b) */",
		  "", 0 },
		{ TARE_MODULE_OPENCL_C, "constant char *t = \"kernel void not(int)\";", "", 0 },
		{ TARE_MODULE_OPENCL_C, "void helper(int a) {} int kernels(int b) {}", "", 0 },
		{ TARE_MODULE_OPENCL_C, "kernel", "", 0 },
		{ TARE_MODULE_OPENCL_C, "kernel void five(", "five", 1 },
		{ TARE_MODULE_CUDA_C, "extern \"C\" __global__ void six(int *a) {}", "six", 1 },
		{ TARE_MODULE_CUDA_C, "__global__ void __launch_bounds__(256) seven(int *a) {}",
		  "seven", 1 },
		{ TARE_MODULE_PTX, ".version 7.0\n.visible .entry eight(\n.param .u64 a)", "eight",
		  1 },
		{ TARE_MODULE_PTX, "// .entry no(\n.func entry(", "", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char names[64];
		assert_int_equal(
		    tare_user_kernel_names(rows[i].format, rows[i].source, names, sizeof names),
		    rows[i].count);
		assert_string_equal(names, rows[i].names);
	}
}

static void names_that_do_not_fit_are_left_out_whole(void **state)
{
	char names[8];
	(void)state;
	assert_int_equal(tare_user_kernel_names(TARE_MODULE_OPENCL_C,
	                                        "kernel void ab(){} kernel void cdefghijk(){}",
	                                        names, sizeof names),
	                 2);
	assert_string_equal(names, "ab");
}

// ---- on a device

#define DEVICE                                                                                     \
	SIMPLE_DEVICE "kernel overlap_register fixed 2 us repeat 5 repeat-rate 4 Gitem/s action "  \
	              "overlap-register arguments 6\n"

static int build(const char *script, const char *suffix, const char *text, size_t bytes,
                 struct tare_user_kernel *options, struct tare_error *error)
{
	char path[] = "/tmp/tare-test-XXXXXX.......";
	struct tare_built_kernel built;
	struct simulated_run simulated;
	int status, file;

	strcpy(strstr(path, "......."), suffix);
	file = mkstemps(path, (int)strlen(suffix));
	assert_true(file >= 0);
	assert_int_equal(write(file, text, bytes), bytes);
	close(file);
	simulated_open(&simulated, script, "overlap", INT64_C(200000000));
	options->file = path;
	*error = (struct tare_error){ 0 };
	status = tare_user_kernel_build(&simulated.run, options, &built, NULL, error);
	if (status == 0)
		tare_built_kernel_free(&built);
	simulated_close(&simulated);
	unlink(path);
	return status;
}

static void a_kernel_of_the_device_is_built_by_name(void **state)
{
	static const char *const arguments[] = { "int:5", "int:10" };
	struct tare_user_kernel options = { .entry = "overlap_register",
		                            .arguments = arguments,
		                            .argument_count = 2 };
	struct tare_error error;
	(void)state;
	if (build(DEVICE, ".tare", "overlap_register", 16, &options, &error) < 0)
		fail_msg("%s", error.message);
}

static void what_breaks_the_contract_is_refused(void **state)
{
	static const char *const arguments[] = { "int:5", "int:10", "int:3", "oops" };
	static const struct {
		const char *suffix, *text;
		size_t bytes;
		const char *entry;
		size_t arguments;
		const char *says;
	} rows[] = {
		{ ".tare", "x", 1, "overlap_register", 0, "takes 6 arguments, the contract has 4" },
		{ ".tare", "x", 1, "overlap_register", 3, "3 from --arg make 7" },
		{ ".tare", "x", 1, "overlap_register", 4, "--arg oops" },
		{ ".tare", "x", 1, NULL, 0, "say with --entry" },
		{ ".tare", "x", 1, "nothing", 0, "nothing" },
		{ ".tare", "", 0, "overlap_register", 2, "is empty" },
		{ ".cl", "kernel", 6, "a", 0, "does not take" },
		{ ".txt", "kernel", 6, "a", 0, "is told by its name" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_user_kernel options = { .entry = rows[i].entry,
			                            .arguments = arguments,
			                            .argument_count = rows[i].arguments };
		struct tare_error error;
		if (build(DEVICE, rows[i].suffix, rows[i].text, rows[i].bytes, &options, &error) ==
		    0)
			fail_msg("row %zu was taken", i);
		if (!strstr(error.message, rows[i].says))
			fail_msg("row %zu: %s", i, error.message);
	}
}

static void a_kernel_that_never_ends_ends_the_run(void **state)
{
	static const char *const arguments[] = { "int:5", "int:10" };
	struct tare_user_kernel options = { .entry = "overlap_register",
		                            .arguments = arguments,
		                            .argument_count = 2 };
	struct tare_error error;
	(void)state;
	// Operation 2: the first is the copy of its input.
	assert_int_equal(build(DEVICE "fault hang 2\n", ".tare", "x", 1, &options, &error),
	                 -ETIMEDOUT);
	if (!strstr(error.message, "has not ended after 1 s"))
		fail_msg("%s", error.message);
	// What a launch itself holds the host is part of what was waited.
	char slow[] = DEVICE "fault hang 2\n";
	replace(slow, "append 1 us", "append 3 s");
	assert_int_equal(build(slow, ".tare", "x", 1, &options, &error), -ETIMEDOUT);
	if (!strstr(error.message, "has not ended after 4 s"))
		fail_msg("%s", error.message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_read),
		cmocka_unit_test(local_memory_is_an_argument),
		cmocka_unit_test(other_arguments_are_refused),
		cmocka_unit_test(formats_follow_from_names),
		cmocka_unit_test(kernels_are_found_in_sources),
		cmocka_unit_test(names_that_do_not_fit_are_left_out_whole),
		cmocka_unit_test(a_kernel_of_the_device_is_built_by_name),
		cmocka_unit_test(what_breaks_the_contract_is_refused),
		cmocka_unit_test(a_kernel_that_never_ends_ends_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
