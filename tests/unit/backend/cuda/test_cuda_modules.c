// SPDX-License-Identifier: Apache-2.0
// CUDA C, PTX and what is known of their kernels, against stand-ins for the driver and for NVRTC
// (tests/fakes/fake_nvrtc.c).
#include "backend/call.h"
#include "backend/cuda/nvrtc/nvrtc.h"
#include "backend/cuda/ptx/ptx.h"
#include "backend/kernels.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_modules_rig.h"

// The image that the driver was given last.
static char image[8192];
static cu_result (*load)(cu_module *, const void *, unsigned int, cu_jit_option *, void **);

static cu_result watched_load(cu_module *module, const void *data, unsigned int count,
                              cu_jit_option *options, void **values)
{
	snprintf(image, sizeof image, "%s", (const char *)data);
	return load(module, data, count, options, values);
}

static void watch_loads(void)
{
	struct cuda_functions *call = &((struct cuda_driver *)driver)->call;
	load = call->cuModuleLoadDataEx;
	call->cuModuleLoadDataEx = watched_load;
}

// ---- compiling

static void the_architecture_follows_from_device_and_compiler(void **state)
{
	static const struct {
		const char *cuda, *nvrtc, *options;
		bool binary;
		const char *target;
	} rows[] = {
		{ "", "", NULL, true, "sm_90" },
		{ "cc=8.0", "", "", true, "sm_80" },
		// Newer than the compiler: PTX of the newest that it knows.
		{ "cc=9.0", "archs=75,80", NULL, false, "sm_80" },
		{ "cc=12.0", "archs=120,75,90", NULL, true, "sm_120" },
		{ "cc=8.7", "archs=75,90,80", NULL, false, "sm_80" },
		// The user's own choice.
		{ "", "", "--gpu-architecture=compute_80", false, "sm_80" },
		{ "", "", "-DX=1 -arch=compute_80", false, "sm_80" },
		{ "", "", "-DX=\"it's\"", true, "sm_90" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module *module = NULL;
		char target[64];
		open_device(rows[i].cuda, rows[i].nvrtc);
		watch_loads();
		if (build(TARE_MODULE_CUDA_C, SCALE, rows[i].options, NULL, &module) < 0)
			fail_msg("row %zu: %s", i, error.message);
		snprintf(target, sizeof target, ".target %s\n", rows[i].target);
		if ((strncmp(image, "\177ELF", 4) == 0) != rows[i].binary || !strstr(image, target))
			fail_msg("row %zu: %.120s", i, image);
		tare_module_free(module);
	}
	open_device("cc=7.0", "archs=75,80");
	struct tare_module *module = NULL;
	assert_int_equal(build(TARE_MODULE_CUDA_C, SCALE, NULL, NULL, &module), -ENOTSUP);
	assert_says("compiles for compute capability 7.5 and later, this device has 7.0");
}

static void what_does_not_compile_says_why(void **state)
{
	static const struct {
		const char *text, *options, *entry, *says, *logs;
		int code;
	} rows[] = {
		{ "#error no\n", NULL, NULL, "do not compile", "#error directive: no", -EINVAL },
		{ "__global__ void a() {", NULL, NULL, "do not compile", "expected a", -EINVAL },
		{ "#include <fp.h>\n" SCALE, NULL, NULL, "header", "\"fp.h\"", -EINVAL },
		{ SCALE "int main() { return 0; }", NULL, NULL, "#ifndef __CUDACC_RTC__",
		  "host function", -EINVAL },
		{ SCALE, "--bogus", NULL, "build option", "--bogus", -EINVAL },
		{ SCALE, "-D 'X", NULL, "does not end", NULL, -EINVAL },
		{ SCALE, NULL, "none<float>", "do not compile", "\"none\" is undefined", -EINVAL },
		{ "kernel void a(global int *b) { b[get_global_id(0)] = 1; }", NULL, NULL,
		  "this is OpenCL C", NULL, -EINVAL },
		{ "\177ELF\1\1", NULL, NULL, "no text", NULL, -EINVAL },
	};
	struct tare_module *module = NULL;

	(void)state;
	open_device("", "");
	((struct cuda_driver *)driver)->call.cuModuleLoadDataEx = NULL; // never reached
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int status = build(TARE_MODULE_CUDA_C, rows[i].text, rows[i].options, rows[i].entry,
		                   &module);
		if (status != rows[i].code)
			fail_msg("row %zu: %d", i, status);
		// Whether a toolkit lies beside the stand-in is the machine's matter.
		if (strcmp(rows[i].says, "header") != 0)
			assert_says(rows[i].says);
		if (!rows[i].logs != !log_text || (log_text && !strstr(log_text, rows[i].logs)))
			fail_msg("row %zu: log '%s'", i, log_text ? log_text : "");
	}
}

static void warnings_come_with_what_compiles(void **state)
{
	struct tare_module *module = NULL;
	(void)state;
	open_device("", "");
	assert_int_equal(build(TARE_MODULE_CUDA_C, "#warning careful\n" SCALE, NULL, NULL, &module),
	                 0);
	assert_non_null(log_text);
	assert_non_null(strstr(log_text, "careful"));
	tare_module_free(module);
	assert_int_equal(build(TARE_MODULE_CUDA_C, SCALE, NULL, NULL, &module), 0);
	assert_null(log_text);
	tare_module_free(module);
}

static void headers_are_found_beside_the_source_and_in_options(void **state)
{
	char folder[] = "/tmp/tare test XXXXXX", header[64], file[64], option[64];
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(header, sizeof header, "%s/mine.h", folder);
	snprintf(file, sizeof file, "%s/k.cu", folder);
	snprintf(option, sizeof option, "-I\"%s\" -DX", folder);
	fclose(fopen(header, "w"));
	open_device("", "");
	for (int i = 0; i < 3; i++) {
		static const char text[] = "#include \"mine.h\"\n" SCALE;
		struct tare_module_source source = { .format = TARE_MODULE_CUDA_C,
			                             .data = text,
			                             .bytes = sizeof text - 1,
			                             .file = i == 0 ? file : NULL,
			                             .options = i == 1 ? option : NULL };
		struct tare_module *module = NULL;
		int status = tare_module_create(device, &source, &module, &log_text, &error);
		assert_int_equal(status, i == 2 ? -EINVAL : 0);
		tare_module_free(module);
	}
	unlink(header);
	rmdir(folder);
}

// A folder that has the stand-in under the library's own name.
static void make_toolkit(const char *home, const char *soname)
{
	char path[256];
	mkdir(home, 0700);
	snprintf(path, sizeof path, "%s/lib64", home);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/lib64/%s", home, soname);
	assert_int_equal(symlink(fake_nvrtc, path), 0);
}

static void nvrtc_is_found_by_cuda_home_with_the_drivers_version(void **state)
{
	char home[] = "/tmp/tare-test-XXXXXX", path[256];
	static const struct {
		const char *script, *soname;
	} rows[] = {
		{ "driver=12040 cc=8.0", "libnvrtc.so.12" },
		{ "driver=13000 cc=8.0", "libnvrtc.so.13" },
		{ "driver=11080 cc=8.0", "libnvrtc.so.11.2" },
		{ "driver=10020 cc=7.5", "libnvrtc.so.11.2" }, // all are newer: the nearest
	};
	(void)state;
	assert_non_null(mkdtemp(home));
	for (size_t i = 0; i < 3; i++)
		make_toolkit(home, rows[i].soname);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_device(rows[i].script, "");
		unsetenv("TARE_NVRTC_LIBRARY");
		setenv("CUDA_HOME", home, 1);
		if (cuda_nvrtc_open((struct cuda_driver *)driver, &error) < 0)
			fail_msg("%s", error.message);
		snprintf(path, sizeof path, "%s/lib64/%s", home, rows[i].soname);
		assert_string_equal(
		    tare_library_name(((struct cuda_driver *)driver)->nvrtc->library), path);
	}
	teardown(NULL);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/lib64/%s", home, rows[i].soname);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/lib64", home);
	rmdir(path);
	rmdir(home);
}

static void without_nvrtc_ptx_still_works(void **state)
{
	struct tare_module *module = NULL;
	(void)state;
	open_device("", "");
	setenv("TARE_NVRTC_LIBRARY", "/nonexistent/libnvrtc.so", 1);
	assert_int_equal(build(TARE_MODULE_CUDA_C, SCALE, NULL, NULL, &module), -ENOTSUP);
	assert_int_equal(error.code, -ENOTSUP);
	assert_says("'/nonexistent/libnvrtc.so', which cannot be opened; PTX needs no NVRTC");
	assert_int_equal(build(TARE_MODULE_PTX, ".version 6.0\n.target sm_70\n.entry a()\n{ret;}\n",
	                       NULL, NULL, &module),
	                 0);
	tare_module_free(module);
	open_device("", "no_builtins");
	assert_int_equal(build(TARE_MODULE_CUDA_C, SCALE, NULL, NULL, &module), -ENOTSUP);
	assert_says("libnvrtc-builtins must lie beside it");
	// NVRTC's own library is another's.
	setenv("TARE_NVRTC_LIBRARY", getenv("TARE_CUDA_LIBRARY"), 1);
	open_device("", "");
	setenv("TARE_NVRTC_LIBRARY", getenv("TARE_CUDA_LIBRARY"), 1);
	assert_int_equal(build(TARE_MODULE_CUDA_C, SCALE, NULL, NULL, &module), -ENOTSUP);
	assert_says("lacks the function nvrtc");
}

// ---- entries

#define THREE                                                                                      \
	"__global__ void one(int *a) { }\n"                                                        \
	"namespace deep { __global__ void two(int *a) { } }\n"                                     \
	"template <class T> __global__ void many(T *a) { }\n"                                      \
	"extern \"C\" __global__ void __launch_bounds__(64) plain(int *a) { }\n"

static void entries_are_found_by_their_names_in_the_source(void **state)
{
	static const struct {
		const char *entry, *name;
	} rows[] = {
		{ "one", "_Z3onePi" },
		{ "two", "_ZN4deep3twoEPi" },
		{ "deep::two", "_ZN4deep3twoEPi" },
		{ "plain", "plain" },
		{ "_Z3onePi", "_Z3onePi" },
		{ "many<float>", "_Z4manyIfEvPv" },
	};
	struct tare_module *module = NULL;
	struct tare_kernel *kernel;
	char names[64];

	(void)state;
	open_device("", "");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		kernel = new_kernel(TARE_MODULE_CUDA_C, THREE, rows[i].entry, &module);
		assert_string_equal(((struct cuda_kernel *)kernel)->name, rows[i].name);
		tare_kernel_free(kernel);
		tare_module_free(module);
	}
	assert_int_equal(build(TARE_MODULE_CUDA_C, THREE, NULL, NULL, &module), 0);
	assert_int_equal(tare_module_kernels(module, names, sizeof names, &error), 3);
	assert_string_equal(names, "one, deep::two, plain");
	assert_int_equal(tare_kernel_create(module, "four", &kernel, &error), -EINVAL);
	assert_says("no kernel 'four'; it has: one, deep::two, plain");
	tare_module_free(module);
	assert_int_equal(build(TARE_MODULE_CUDA_C, THREE, NULL, "many", &module), 0);
	assert_int_equal(tare_kernel_create(module, "many", &kernel, &error), -EINVAL);
	assert_says("'NAME<TYPE>'");
	tare_module_free(module);
}

static void a_name_that_fits_two_kernels_is_not_guessed(void **state)
{
	static const char text[] =
	    "__global__ void one(int *a) { }\n__global__ void one(float *a) { }\n";
	struct tare_module *module = NULL;
	struct tare_kernel *kernel;

	(void)state;
	open_device("", "");
	assert_int_equal(build(TARE_MODULE_CUDA_C, text, NULL, NULL, &module), 0);
	assert_int_equal(tare_kernel_create(module, "one", &kernel, &error), -EINVAL);
	assert_says("'one' fits more than one kernel; choose from: _Z3onePi, _Z3onePf");
	assert_int_equal(tare_kernel_create(module, "_Z3onePf", &kernel, &error), 0);
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void mangled_names_are_read(void **state)
{
	static const struct {
		const char *mangled, *name;
	} rows[] = {
		{ "scale", "scale" },
		{ "_Z5scalePKfPfjjf", "scale" },
		{ "_ZN2ns1kEPi", "ns::k" },
		{ "_ZN2ns1kIfEEvPKT_PS1_jj1Sd", "ns::k<>" },
		{ "_ZL5localPi", "local" },
		{ "_Z4manyIfEvPT_", "many<>" },
		// No name of that form: as it is.
		{ "_Z", "_Z" },
		{ "_Z9", "_Z9" },
		{ "_Z9short", "_Z9short" },
		{ "_Zpl1S1S", "_Zpl1S1S" },
		{ "_Z99999999999999999999a", "_Z99999999999999999999a" },
		{ "", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[64];
		cuda_readable_name((struct cuda_text){ rows[i].mangled, strlen(rows[i].mangled) },
		                   text, sizeof text);
		assert_string_equal(text, rows[i].name);
	}
	char cut[6];
	cuda_readable_name((struct cuda_text){ "_Z5scalePf", 10 }, cut, sizeof cut);
	assert_string_equal(cut, "scale");
	cuda_readable_name((struct cuda_text){ "_ZN3abc3defEv", 13 }, cut, sizeof cut);
	assert_int_equal(strlen(cut), 5);
}

// ---- PTX

static void ptx_that_does_not_fit_says_what_does(void **state)
{
	static const struct {
		const char *script, *text, *says;
		int code;
		bool logs;
	} rows[] = {
		{ "driver=12040", ".version 9.0\n.target sm_70\n.entry a() { }",
		  "PTX 9.0, newer than the driver takes (CUDA 12.4); update the driver", -EINVAL,
		  true },
		{ "", ".version 8.7\n.target sm_100\n.entry a() { }",
		  "is for sm_100, this device has compute capability 9.0; write it for compute_90 "
		  "or older",
		  -EINVAL, true },
		{ "", PTX_HEAD ".entry a() { fake_error }", "the log says why", -EINVAL, true },
		{ "", "hello", "no PTX, which begins with .version", -EINVAL, false },
		{ "", "", "no PTX", -EINVAL, false },
		{ "", "\177ELF\2\1\1", "a GPU binary (cubin or fatbin), not PTX", -EINVAL, false },
	};
	struct tare_module *module = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_device(rows[i].script, "");
		int status = build(TARE_MODULE_PTX, rows[i].text, NULL, NULL, &module);
		if (status != rows[i].code)
			fail_msg("row %zu: %d %s", i, status, error.message);
		assert_says(rows[i].says);
		assert_int_equal(log_text != NULL, rows[i].logs);
	}
	assert_int_equal(build(TARE_MODULE_PTX, PTX_HEAD ".entry a() { }", "-O3", NULL, &module),
	                 -ENOTSUP);
	assert_says("no build options for PTX");
	static const char nul[] = PTX_HEAD "\0.entry a() { }";
	struct tare_module_source source = { .format = TARE_MODULE_PTX,
		                             .data = nul,
		                             .bytes = sizeof nul };
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -EINVAL);
	assert_says("no text");
	// tare's own, on a device that is too old for them.
	open_device("cc=6.1", "");
	source = (struct tare_module_source){ .format = TARE_MODULE_PTX,
		                              .ends = true,
		                              .data = PTX_HEAD ".entry a() { }",
		                              .bytes = sizeof PTX_HEAD + 13 };
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -EINVAL);
	assert_says("tare's kernels need compute capability 7.0; this device has 6.1");
}

static cu_result code_of_load;
static cu_result failing_load(cu_module *module, const void *data, unsigned int count,
                              cu_jit_option *options, void **values)
{
	(void)module, (void)data, (void)count, (void)options, (void)values;
	return code_of_load;
}

static void what_the_driver_refuses_says_the_way_out(void **state)
{
	static const struct {
		enum tare_module_format format;
		cu_result result;
		const char *cuda, *text, *says;
		int code;
	} rows[] = {
		{ TARE_MODULE_CUDA_C, ABI_NO_BINARY_FOR_GPU, "driver=12040", SCALE,
		  "NVRTC 13.0 is newer than the driver (CUDA 12.4)", -EINVAL },
		{ TARE_MODULE_CUDA_C, ABI_OUT_OF_MEMORY, "driver=12040", SCALE,
		  "cannot load the kernels", -ENOMEM },
		{ TARE_MODULE_PTX, ABI_NO_BINARY_FOR_GPU, "",
		  ".version 8.0\n.target sm_90a\n.entry a() { }", "the kernels do not compile (",
		  -EINVAL },
		{ TARE_MODULE_PTX, ABI_NO_BINARY_FOR_GPU, "cc=10.0",
		  ".version 8.0\n.target sm_90a\n.entry a() { }",
		  "is for sm_90a, this device has compute capability 10.0; write it for "
		  "compute_100",
		  -EINVAL },
		{ TARE_MODULE_PTX, ABI_JIT_COMPILER_NOT_FOUND, "", PTX_HEAD ".entry a() { }",
		  "libnvidia-ptxjitcompiler", -ENOTSUP },
		{ TARE_MODULE_PTX, ABI_JIT_COMPILATION_DISABLED, "", PTX_HEAD ".entry a() { }",
		  "CUDA_DISABLE_PTX_JIT", -ENOTSUP },
	};
	struct tare_module *module = NULL;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_device(rows[i].cuda, "");
		((struct cuda_driver *)driver)->call.cuModuleLoadDataEx = failing_load;
		code_of_load = rows[i].result;
		int status = build(rows[i].format, rows[i].text, NULL, NULL, &module);
		if (status != rows[i].code)
			fail_msg("row %zu: %d %s", i, status, error.message);
		assert_says(rows[i].says);
	}
}

// ---- tare's own kernels without PTX

// By the real compiler, where one is installed: the same source, its third dialect. Those of the
// other peaks take seconds, and use no more of it.
static void the_kernels_that_tare_carries_are_cuda_c_too(void **state)
{
	static const struct {
		const char *module, *entry;
	} rows[] = {
		{ "empty", "empty" },
		{ "overlap", "overlap_register" },
		{ "matmul", "matmul_register" },
		{ "matmul_sub_groups", "matmul_sub_groups" },
		{ "peak_memory", "peak_triad_16" },
		{ "peak_local", "peak_local_16" },
	};
	struct tare_module_source source;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	printf("# SKIP %s: the compiler's own leaks would be counted\n", __func__);
	return;
#endif
	open_device("", "");
	unsetenv("TARE_NVRTC_LIBRARY");
	if (cuda_nvrtc_open((struct cuda_driver *)driver, &error) < 0) {
		printf("# SKIP %s: %s\n", __func__, error.message);
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cuda_compiled compiled;
		struct cuda_text name;
		assert_int_equal(
		    tare_kernel_source(rows[i].module, TARE_MODULE_CUDA_C, &source, &error), 0);
		source.options = "--gpu-architecture=compute_90"; // quicker than the binary
		if (cuda_compile(cuda_device_of(device), &source, &compiled, &log_text, &error) < 0)
			fail_msg("%s: %s\n%s", rows[i].module, error.message,
			         log_text ? log_text : "");
		assert_int_equal(cuda_ptx_resolve(compiled.ptx, rows[i].entry, &name), 1);
		assert_null(log_text);
		cuda_compiled_free(&compiled);
	}
}

// ---- devices that do not open

static void a_device_that_does_not_open_says_the_way_out(void **state)
{
	static const struct {
		const char *script, *says;
	} rows[] = {
		{ "prohibited",
		  "its compute mode is prohibited; as root: `nvidia-smi -c DEFAULT`" },
		{ "exclusive",
		  "its compute mode is exclusive-process and another process uses it" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		teardown(NULL);
		setenv("TARE_FAKE_CUDA", rows[i].script, 1);
		assert_int_equal(cuda->driver_open(NULL, &driver, &error), 0);
		assert_int_equal(cuda->device_open(driver, 0, &device, &error), -ENODEV);
		assert_says(rows[i].says);
		assert_null(strstr(error.message, "is lost"));
	}
	teardown(NULL);
	// Any library that lacks what every driver has by now.
	char *library = strdup(getenv("TARE_CUDA_LIBRARY"));
	setenv("TARE_CUDA_LIBRARY", fake_nvrtc, 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENODEV);
	setenv("TARE_CUDA_LIBRARY", library, 1);
	free(library);
	assert_says("lacks the function cuInit");
	assert_says("CUDA 11.0 or newer");
	setenv("TARE_FAKE_CUDA", "init=100", 1);
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENODEV);
	unsetenv("CUDA_VISIBLE_DEVICES");
	assert_says("CUDA_VISIBLE_DEVICES='' leaves no GPU visible");
	setenv("TARE_FAKE_CUDA", "init=804", 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENODEV);
	assert_says("compatibility package");
	setenv("TARE_FAKE_CUDA", "", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_architecture_follows_from_device_and_compiler,
		                          teardown),
		cmocka_unit_test_teardown(what_does_not_compile_says_why, teardown),
		cmocka_unit_test_teardown(warnings_come_with_what_compiles, teardown),
		cmocka_unit_test_teardown(headers_are_found_beside_the_source_and_in_options,
		                          teardown),
		cmocka_unit_test_teardown(nvrtc_is_found_by_cuda_home_with_the_drivers_version,
		                          teardown),
		cmocka_unit_test_teardown(without_nvrtc_ptx_still_works, teardown),
		cmocka_unit_test_teardown(entries_are_found_by_their_names_in_the_source, teardown),
		cmocka_unit_test_teardown(a_name_that_fits_two_kernels_is_not_guessed, teardown),
		cmocka_unit_test(mangled_names_are_read),
		cmocka_unit_test_teardown(ptx_that_does_not_fit_says_what_does, teardown),
		cmocka_unit_test_teardown(what_the_driver_refuses_says_the_way_out, teardown),
		cmocka_unit_test_teardown(the_kernels_that_tare_carries_are_cuda_c_too, teardown),
		cmocka_unit_test_teardown(a_device_that_does_not_open_says_the_way_out, teardown),
	};
	find_cuda();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
