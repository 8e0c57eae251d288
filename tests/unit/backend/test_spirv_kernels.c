// SPDX-License-Identifier: Apache-2.0
// tare's own kernels as SPIR-V: what is carried is what was written, and valid.
#include "backend/kernels.h"
#include "backend/spirv.h"

#include "spirv_rig.h"
#include "tests/unit/skip.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MEMORY = TARE_PARAMETER_MEMORY, LOCAL = TARE_PARAMETER_LOCAL, VALUE = TARE_PARAMETER_VALUE };

static const struct module_row {
	const char *module;
	uint32_t kernels;
	const char *kernel;
	uint32_t parameters;
	struct {
		int kind;
		int64_t bytes;
		const char *name;
	} parameter[9];
} rows[] = {
	{ "empty", 1, "empty", 0, { { 0 } } },
	{ "overlap",
	  3,
	  "overlap_register",
	  6,
	  { { MEMORY, -1, "input" },
	    { MEMORY, -1, "output" },
	    { VALUE, 4, "first" },
	    { VALUE, 4, "count" },
	    { VALUE, 4, "add" },
	    { VALUE, 4, "cycles" } } },
	{ "matmul",
	  5,
	  "matmul_tiled",
	  4,
	  { { MEMORY, -1, "c" }, { MEMORY, -1, "a" }, { MEMORY, -1, "b" }, { VALUE, 4, "n" } } },
	{ "peak_fp32",
	  5,
	  "peak_fp32_4",
	  5,
	  { { MEMORY, -1, "output" },
	    { MEMORY, -1, "start" },
	    { VALUE, 4, "factor" },
	    { VALUE, 4, "addend" },
	    { VALUE, 4, "rounds" } } },
	{ "peak_fp64",
	  5,
	  "peak_fp64_16",
	  5,
	  { { MEMORY, -1, "output" },
	    { MEMORY, -1, "start" },
	    { VALUE, 8, "factor" },
	    { VALUE, 8, "addend" },
	    { VALUE, 4, "rounds" } } },
	{ "peak_fp16",
	  5,
	  "peak_fp16_8",
	  5,
	  { { MEMORY, -1, "output" },
	    { MEMORY, -1, "start" },
	    { VALUE, 4, "factor" },
	    { VALUE, 4, "addend" },
	    { VALUE, 4, "rounds" } } },
	{ "peak_integer",
	  5,
	  "peak_int32_1",
	  5,
	  { { MEMORY, -1, "output" },
	    { MEMORY, -1, "start" },
	    { VALUE, 4, "factor" },
	    { VALUE, 4, "addend" },
	    { VALUE, 4, "rounds" } } },
	{ "peak_memory",
	  22,
	  "peak_triad_16",
	  9,
	  { { MEMORY, -1, "output" },
	    { MEMORY, -1, "input" },
	    { MEMORY, -1, "second" },
	    { MEMORY, -1, "status" },
	    { VALUE, 4, "group_step" },
	    { VALUE, 4, "item_step" },
	    { VALUE, 4, "step" },
	    { VALUE, 4, "scale" },
	    { VALUE, 4, "turns" } } },
	{ "peak_local",
	  5,
	  "peak_local_2",
	  4,
	  { { MEMORY, -1, "output" },
	    { VALUE, 4, "mask" },
	    { VALUE, 4, "add" },
	    { VALUE, 4, "turns" } } },
	{ "copy",
	  1,
	  "copy_bytes",
	  3,
	  { { MEMORY, -1, "destination" }, { MEMORY, -1, "source" }, { VALUE, 8, "bytes" } } },
};

// The module's SPIR-V.
static struct tare_module_source source_of(const char *module)
{
	struct tare_module_source source;
	assert_int_equal(tare_kernel_source(module, TARE_MODULE_SPIRV, &source, NULL), 0);
	// Drivers may read it as words.
	assert_int_equal((uintptr_t)source.data % sizeof(uint32_t), 0);
	return source;
}

static void every_kernel_is_carried_with_its_parameters(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct module_row *row = &rows[i];
		struct tare_module_source source = source_of(row->module);
		struct tare_spirv *module;
		struct tare_error error = { 0 };
		if (tare_spirv_read(source.data, source.bytes, &module, &error) < 0)
			fail_msg("%s: %s", row->module, error.message);
		assert_int_equal(module->kernel_count, row->kernels);
		assert_int_equal(
		    module->variable_count + module->constant_count + module->import_count, 0);
		const struct tare_spirv_kernel *kernel = tare_spirv_kernel(module, row->kernel);
		assert_non_null(kernel);
		assert_int_equal(kernel->parameter_count, row->parameters);
		for (uint32_t k = 0; k < row->parameters; k++) {
			assert_int_equal(kernel->parameters[k].kind, row->parameter[k].kind);
			assert_int_equal(kernel->parameters[k].bytes, row->parameter[k].bytes);
			assert_string_equal(kernel->parameters[k].name, row->parameter[k].name);
		}
		tare_spirv_free(module);
	}
}

static void every_module_is_valid(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module_source source = source_of(rows[i].module);
		int status = validated(source.data, source.bytes, "opencl1.2");
		if (status < 0) {
			skip_because("no spirv-val here: install spirv-tools");
		}
		if (status > 0)
			fail_msg("spirv-val refuses %s", rows[i].module);
	}
}

// A driver that takes SPIR-V 1.2 takes tare's kernels.
static void every_module_is_of_an_old_version(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module_source source = source_of(rows[i].module);
		struct spirv_words words;
		assert_int_equal(spirv_words_read(source.data, source.bytes, &words, NULL), 0);
		assert_true(words.version <= 0x00010200);
		assert_int_equal(words.address_bits, 64);
		spirv_words_free(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_is_carried_with_its_parameters),
		cmocka_unit_test(every_module_is_valid),
		cmocka_unit_test(every_module_is_of_an_old_version),
	};
	struct tare_module_source source;
	struct tare_error error = { 0 };

	if (tare_kernel_source("empty", TARE_MODULE_SPIRV, &source, &error) == -ENOTSUP) {
		printf("1..0 # SKIP %s\n", error.message);
		return strstr(error.message, "carries no SPIR-V kernels: it was built without") ? 0
		                                                                                : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
