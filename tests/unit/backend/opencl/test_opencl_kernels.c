// SPDX-License-Identifier: Apache-2.0
// The OpenCL backend's modules, kernels and matrix library against tests/fakes/fake_opencl.c: what
// the driver or the machine lacks is said, with the right errno.
#include "opencl_fake.h"

#include "backend/kernels.h"

static void a_device_without_a_compiler_says_that(void **state)
{
	struct fixture f = begin("no-compiler");
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	assert_int_equal(
	    tare_kernel_build(f.device, "empty", "empty", &module, &kernel, NULL, &error),
	    -ENOTSUP);
	assert_string_equal(error.native_name, "CL_COMPILER_NOT_AVAILABLE");
	end(&f);
}

static void a_failed_build_leaves_its_log(void **state)
{
	struct fixture f = begin("build-fails");
	struct tare_module_source source = { TARE_MODULE_OPENCL_C, "x", 1, NULL };
	struct tare_module *module = NULL;
	char *log = NULL;
	(void)state;
	assert_int_equal(tare_module_create(f.device, &source, &module, &log, &error), -EINVAL);
	assert_null(module);
	assert_string_equal(log, "fake.cl:3:14: error: told to fail");
	free(log);
	// Nobody asked for the log.
	assert_int_equal(tare_module_create(f.device, &source, &module, NULL, &error), -EINVAL);
	end(&f);
}

static void formats_it_cannot_take_are_not_supported(void **state)
{
	static const enum tare_module_format formats[] = { TARE_MODULE_SPIRV, TARE_MODULE_PTX,
		                                           TARE_MODULE_CUDA_C, TARE_MODULE_NATIVE };
	struct fixture f = begin("");
	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct tare_module_source source = { formats[i], "empty", 5, NULL };
		struct tare_module *module = NULL;
		assert_int_equal(tare_module_create(f.device, &source, &module, NULL, &error),
		                 -ENOTSUP);
		assert_int_equal(error.code, -ENOTSUP);
		assert_null(module);
	}
	end(&f);
}

static void kernel_facts_that_are_refused_are_unknown(void **state)
{
	struct fixture f = begin("");
	struct tare_module_source source = { TARE_MODULE_OPENCL_C, "x", 1, NULL };
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_kernel_facts facts;
	(void)state;
	assert_int_equal(tare_module_create(f.device, &source, &module, NULL, &error), 0);
	assert_int_equal(tare_kernel_create(module, "x", &kernel, &error), 0);
	assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
	assert_int_equal(facts.max_group_size, 64);
	assert_int_equal(facts.private_bytes, -1);
	assert_int_equal(facts.registers, -1);
	assert_int_equal(facts.spill_bytes, -1);
	assert_int_equal(facts.simd_width, -1);
	assert_int_equal(facts.arguments, 3);
	tell("no-parameters");
	assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
	assert_int_equal(facts.arguments, -1);
	tare_kernel_free(kernel);
	tare_module_free(module);
	end(&f);
}

// No figure where the driver answers 0 for every kernel, and 0 where a kernel really has none.
static void local_memory_is_told_or_unknown(void **state)
{
	static const struct {
		const char *said, *text;
		int64_t want;
	} rows[] = {
		{ "", "x __local", 4096 },
		{ "", "x", 0 },
		{ "local-untold", "x __local", -1 },
		{ "local-untold", "x", -1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f = begin(rows[i].said);
		struct tare_module_source source = { TARE_MODULE_OPENCL_C, rows[i].text,
			                             strlen(rows[i].text), NULL };
		struct tare_module *module = NULL;
		struct tare_kernel *kernel = NULL;
		struct tare_kernel_facts facts;
		assert_int_equal(tare_module_create(f.device, &source, &module, NULL, &error), 0);
		assert_int_equal(tare_kernel_create(module, "x", &kernel, &error), 0);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(tare_kernel_facts(kernel, &facts, &error), 0);
			assert_int_equal(facts.local_bytes, rows[i].want);
		}
		tare_kernel_free(kernel);
		tare_module_free(module);
		end(&f);
	}
}

static void parameters_are_what_the_driver_tells(void **state)
{
	struct fixture f = begin("");
	struct tare_module_source source = { .format = TARE_MODULE_OPENCL_C,
		                             .data = "x",
		                             .bytes = 1 };
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_parameter parameter;
	(void)state;
	assert_int_equal(tare_module_create(f.device, &source, &module, NULL, &error), 0);
	assert_int_equal(tare_kernel_create(module, "x", &kernel, &error), 0);
	assert_int_equal(tare_kernel_parameter(kernel, 0, &parameter, &error), 0);
	assert_int_equal(parameter.kind, TARE_PARAMETER_MEMORY);
	assert_true(parameter.read_only);
	assert_string_equal(parameter.name, "input");
	assert_string_equal(parameter.type, "int*");
	assert_int_equal(tare_kernel_parameter(kernel, 1, &parameter, &error), 0);
	assert_int_equal(parameter.kind, TARE_PARAMETER_LOCAL);
	assert_false(parameter.read_only);
	// A structure: a value of a size that nobody tells.
	assert_int_equal(tare_kernel_parameter(kernel, 2, &parameter, &error), 0);
	assert_int_equal(parameter.kind, TARE_PARAMETER_VALUE);
	assert_int_equal(parameter.bytes, -1);
	assert_int_equal(tare_kernel_parameter(kernel, 3, &parameter, &error), -EINVAL);
	assert_non_null(strstr(error.message, "has 3 parameters"));
	tell("no-parameters");
	assert_int_equal(tare_kernel_parameter(kernel, 0, &parameter, &error), -ENODATA);
	assert_non_null(strstr(error.message, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"));
	tare_kernel_free(kernel);
	tare_module_free(module);
	end(&f);
}

static void a_missing_matrix_library_is_named_with_its_package(void **state)
{
	struct fixture f = begin("");
	struct tare_memory *memory = allocate(&f, TARE_MEMORY_DEVICE, 64);
	struct tare_memory *pinned = allocate(&f, TARE_MEMORY_PINNED, 64);
	struct tare_span ok = { memory, 0, 64 }, host = { pinned, 0, 64 }, odd = { memory, 2, 62 };
	(void)state;
	setenv("TARE_CLBLAST_LIBRARY", "/nonexistent/libclblast.so.1", 1);
	assert_int_equal(tare_blas_gemm(f.queue, TARE_BLAS_FP32, 4, ok, ok, ok, NULL, &error),
	                 -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/libclblast.so.1"));
	assert_non_null(strstr(error.message, "install libclblast1"));
	assert_string_equal(tare_blas_name(f.device), "");
	setenv("TARE_CLBLAST_LIBRARY", "libm.so.6", 1);
	assert_int_equal(tare_blas_gemm(f.queue, TARE_BLAS_FP32, 4, ok, ok, ok, NULL, &error),
	                 -ENOSYS);
	assert_non_null(strstr(error.message, "CLBlastSgemm"));
	// What does not fit is refused before any library is asked.
	assert_int_equal(tare_blas_gemm(f.queue, TARE_BLAS_FP32, 5, ok, ok, ok, NULL, &error),
	                 -EINVAL);
	assert_non_null(strstr(error.message, "matrix c of 5 x 5"));
	assert_int_equal(tare_blas_gemm(f.queue, TARE_BLAS_FP32, 3, ok, ok, odd, NULL, &error),
	                 -EINVAL);
	assert_non_null(strstr(error.message, "matrix b of 3 x 3"));
	assert_int_equal(tare_blas_gemm(f.queue, TARE_BLAS_FP32, 4, ok, host, ok, NULL, &error),
	                 -ENOTSUP);
	assert_non_null(strstr(error.message, "matrix a is not in a buffer"));
	unsetenv("TARE_CLBLAST_LIBRARY");
	tare_memory_free(memory);
	tare_memory_free(pinned);
	end(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_without_a_compiler_says_that),
		cmocka_unit_test(a_failed_build_leaves_its_log),
		cmocka_unit_test(formats_it_cannot_take_are_not_supported),
		cmocka_unit_test(kernel_facts_that_are_refused_are_unknown),
		cmocka_unit_test(local_memory_is_told_or_unknown),
		cmocka_unit_test(parameters_are_what_the_driver_tells),
		cmocka_unit_test(a_missing_matrix_library_is_named_with_its_package),
	};
	if (!load_fake(argc, argv))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
