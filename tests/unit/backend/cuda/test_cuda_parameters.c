// SPDX-License-Identifier: Apache-2.0
// What is known of CUDA kernels without running them, over the fake driver and NVRTC.
#include "backend/cuda/nvrtc/nvrtc.h"
#include "backend/cuda/ptx/ptx.h"
#include "backend/kernels.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_modules_rig.h"

static void parameters_are_known_from_source_ptx_and_driver(void **state)
{
	static const char source[] =
	    "#define N 4\n// __global__ void k(int a)\n"
	    "__global__ void __launch_bounds__(128) k(const float *__restrict__ input, float "
	    "*const output,\n"
	    "  unsigned int first, unsigned /* items */ count, double scale, size_t big,\n"
	    "  unsigned char c) { }\n";
	static const struct {
		enum tare_parameter_kind kind;
		const char *name, *type;
		int64_t bytes;
		bool read_only;
	} in_source[] = {
		{ TARE_PARAMETER_MEMORY, "input", "float*", 8, true },
		{ TARE_PARAMETER_MEMORY, "output", "float*", 8, false },
		{ TARE_PARAMETER_VALUE, "first", "uint", 4, false },
		{ TARE_PARAMETER_VALUE, "count", "uint", 4, false },
		{ TARE_PARAMETER_VALUE, "scale", "double", 8, false },
		{ TARE_PARAMETER_VALUE, "big", "ulong", 8, false },
		{ TARE_PARAMETER_VALUE, "c", "uchar", 1, false },
	}, in_ptx[] = {
		{ TARE_PARAMETER_MEMORY, "", "", 8, false },
		{ TARE_PARAMETER_UNKNOWN, "", "", 8, false },
		{ TARE_PARAMETER_VALUE, "", "uint", 4, false },
		{ TARE_PARAMETER_VALUE, "", "float", 4, false },
		{ TARE_PARAMETER_VALUE, "", "", 12, false },
		{ TARE_PARAMETER_VALUE, "", "double", 8, false },
		{ TARE_PARAMETER_VALUE, "", "", 4, false },
	};
	static const char ptx[] = PTX_HEAD
	    ".visible .entry k(\n .param .u64 .ptr .global .align 4 k_0,\n"
	    ".param .u64 ptr, .param .u32 k_2, .param .f32 k_3, .param .align 4 .b8 k_4[12],\n"
	    ".param .f64 k_5, .param .b32 u64)\n{\n ret;\n}\n.entry none { ret; }\n.entry empty() "
	    "{ }";

	(void)state;
	open_device("", "");
	cu_result (*told)(cu_function, size_t, size_t *, size_t *) =
	    ((struct cuda_driver *)driver)->call.cuFuncGetParamInfo;
	for (int from_source = 0; from_source < 2; from_source++) {
		((struct cuda_driver *)driver)->call.cuFuncGetParamInfo = from_source ? told : NULL;
		struct tare_module *module = NULL;
		struct tare_kernel *kernel =
		    from_source ? new_kernel(TARE_MODULE_CUDA_C, source, "k", &module)
		                : new_kernel(TARE_MODULE_PTX, ptx, "k", &module);
		struct tare_kernel_facts facts;
		struct tare_parameter parameter;
		assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
		assert_int_equal(facts.arguments, 7);
		for (uint32_t i = 0; i < 7; i++) {
			assert_int_equal(tare_kernel_parameter(kernel, i, &parameter, &error), 0);
			assert_int_equal(parameter.kind,
			                 from_source ? in_source[i].kind : in_ptx[i].kind);
			assert_string_equal(parameter.name,
			                    from_source ? in_source[i].name : in_ptx[i].name);
			assert_string_equal(parameter.type,
			                    from_source ? in_source[i].type : in_ptx[i].type);
			assert_int_equal(parameter.bytes,
			                 from_source ? in_source[i].bytes : in_ptx[i].bytes);
			assert_int_equal(parameter.read_only,
			                 from_source && in_source[i].read_only);
		}
		assert_int_equal(tare_kernel_parameter(kernel, 7, &parameter, &error), -EINVAL);
		tare_kernel_free(kernel);
		if (!from_source) {
			assert_int_equal(tare_kernel_create(module, "none", &kernel, &error), 0);
			assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
			assert_int_equal(facts.arguments, 0);
			tare_kernel_free(kernel);
		}
		tare_module_free(module);
	}
}

// A length that no parameter has is not told; it is neither negative nor more than a number holds.
static void a_length_that_cannot_be_is_none(void **state)
{
	static const char *const lengths[] = { "-4", "9223372036854775807", "1048577" };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct tare_parameter parameter;
		char ptx[256];
		snprintf(ptx, sizeof ptx, ".visible .entry k(.param .align 8 .u64 a[%s]) { ret; }",
		         lengths[i]);
		assert_int_equal(cuda_ptx_parameter(ptx, "k", 0, &parameter), 0);
		assert_int_equal(parameter.bytes, -1);
	}
}

static void a_source_that_does_not_tell_is_not_believed(void **state)
{
	static const struct {
		const char *text;
		enum tare_parameter_kind kind;
	} rows[] = {
		// An alias for a pointer, a macro for parameters, two of that name, a pointer's
		// size.
		{ "__global__ void k(handle input) { }", TARE_PARAMETER_VALUE },
		{ "__global__ void k(BOTH) { }", TARE_PARAMETER_VALUE },
		{ "__global__ void k(int *a) { }\n__global__ void k(float *a) { }",
		  TARE_PARAMETER_UNKNOWN },
	};
	(void)state;
	open_device("", "");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module *module = NULL;
		struct tare_kernel *kernel =
		    new_kernel(TARE_MODULE_CUDA_C, rows[i].text, i == 2 ? "_Z1kPi" : "k", &module);
		struct tare_parameter parameter;
		assert_int_equal(tare_kernel_parameter(kernel, 0, &parameter, &error), 0);
		assert_int_equal(parameter.kind, rows[i].kind);
		assert_string_equal(parameter.type, "");
		tare_kernel_free(kernel);
		tare_module_free(module);
	}
}

static void without_ptx_the_driver_tells_sizes_or_nothing(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_parameter parameter;
	struct tare_kernel_facts facts;
	static const char binary[] =
	    "\177ELF\n" PTX_HEAD ".entry k(.param .u64 a, .param .u32 b) { }";
	struct tare_module_source source = { .format = TARE_MODULE_NATIVE,
		                             .data = binary,
		                             .bytes = sizeof binary };

	(void)state;
	open_device("", "");
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), 0);
	assert_int_equal(tare_module_kernels(module, (char[8]){ 0 }, 8, &error), -ENODATA);
	assert_int_equal(tare_kernel_create(module, "k", &kernel, &error), 0);
	for (int told = 1; told >= 0; told--) {
		if (!told)
			((struct cuda_driver *)driver)->call.cuFuncGetParamInfo = NULL;
		assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
		assert_int_equal(facts.arguments, told ? 2 : -1);
		assert_int_equal(tare_kernel_parameter(kernel, 1, &parameter, &error),
		                 told ? 0 : -ENODATA);
		assert_int_equal(parameter.bytes, told ? 4 : -1);
		assert_int_equal(parameter.kind, TARE_PARAMETER_UNKNOWN);
	}
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static int local_bytes;
static cu_result attributes(int *value, cu_function_attribute attribute, cu_function function)
{
	(void)function;
	*value = attribute == ABI_FUNCTION_LOCAL_SIZE_BYTES ? local_bytes : 7;
	return ABI_SUCCESS;
}

static void nothing_is_spilled_where_there_is_no_local_memory(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel_facts facts;

	(void)state;
	open_device("", "");
	struct tare_kernel *kernel = new_kernel(TARE_MODULE_CUDA_C, SCALE, "scale", &module);
	((struct cuda_driver *)driver)->call.cuFuncGetAttribute = attributes;
	for (local_bytes = 0; local_bytes <= 64; local_bytes += 64) {
		assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
		assert_int_equal(facts.private_bytes, local_bytes);
		assert_int_equal(facts.spill_bytes, local_bytes ? -1 : 0);
		assert_int_equal(facts.registers, 7);
		assert_int_equal(facts.preferred_multiple, 32);
	}
	tare_kernel_free(kernel);
	tare_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(parameters_are_known_from_source_ptx_and_driver,
		                          teardown),
		cmocka_unit_test_teardown(a_length_that_cannot_be_is_none, teardown),
		cmocka_unit_test_teardown(a_source_that_does_not_tell_is_not_believed, teardown),
		cmocka_unit_test_teardown(without_ptx_the_driver_tells_sizes_or_nothing, teardown),
		cmocka_unit_test_teardown(nothing_is_spilled_where_there_is_no_local_memory,
		                          teardown),
	};
	find_cuda();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
