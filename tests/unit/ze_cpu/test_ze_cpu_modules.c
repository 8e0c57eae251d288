// SPDX-License-Identifier: Apache-2.0
// Modules on the Level Zero CPU driver, through the loader: variables, constants, linking, native
// binaries, what does not build, and kernels that trap. Arguments as test_ze_cpu_kernels's.
#include "ze_cpu_kernels_rig.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig rig;
static const char *own_path, *driver_path;

static void globals(void **state)
{
	int out[2], *at = out, by = 2, *counter, *again, *table;
	size_t bytes = 0;
	ze_module_handle_t module = module_of(&rig, "ze_cpu_globals");
	ze_kernel_handle_t bump = kernel_of(module, "bump");

	(void)state;
	assert_good(zeModuleGetGlobalPointer(module, "counter", &bytes, (void **)&counter));
	assert_int_equal(bytes, sizeof *counter);
	assert_int_equal(*counter, 123);
	assert_good(zeModuleGetGlobalPointer(module, "counter", NULL, (void **)&again));
	assert_ptr_equal(counter, again);
	assert_good(zeModuleGetGlobalPointer(module, "table", &bytes, (void **)&table));
	assert_int_equal(bytes, 4 * sizeof *table);
	assert_ze(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
	          zeModuleGetGlobalPointer(module, "nobody", NULL, (void **)&again));
	set(bump, 0, at);
	set(bump, 1, by);
	assert_good(launch(&rig, bump, 1, 1));
	assert_int_equal(out[0], 125);
	assert_int_equal(out[1], 7);
	assert_int_equal(*counter, 125);
	assert_int_equal(table[2], 31);
	assert_int_equal(table[3], 40);
	// The host's side of the same variable.
	*counter = 1000;
	assert_good(launch(&rig, bump, 1, 1));
	assert_int_equal(out[0], 1002);
	zeKernelDestroy(bump);
	zeModuleDestroy(module);
}

static void run_specialised(ze_module_handle_t module, long first, long second)
{
	long out[2] = { 0 }, *at = out;
	ze_kernel_handle_t kernel = kernel_of(module, "specialised");

	set(kernel, 0, at);
	assert_good(launch(&rig, kernel, 1, 1));
	assert_int_equal(out[0], first);
	assert_int_equal(out[1], second);
	zeKernelDestroy(kernel);
}

// Constants, and a native binary that keeps them.
static void constants(void **state)
{
	struct spirv_file file = read_spirv(rig.folder, "ze_cpu_constants");
	uint32_t ids[] = { 2, 1 }, unknown[] = { 77 };
	int64_t wide = INT64_C(-5000000000);
	int32_t narrow = -3;
	const void *values[] = { &wide, &narrow };
	ze_module_constants_t given = { 2, ids, values }, wrong = { 1, unknown, values };
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file.bytes,
		                         .pInputModule = file.data,
		                         .pConstants = &given };
	ze_module_handle_t module;
	size_t bytes = 0;
	char *log;

	(void)state;
	assert_good(make_module(&rig, description, &module, NULL));
	run_specialised(module, -3, wide);
	assert_good(zeModuleGetNativeBinary(module, &bytes, NULL));
	uint8_t *binary = malloc(bytes);
	assert_non_null(binary);
	size_t less = bytes - 1;
	assert_ze(ZE_RESULT_ERROR_INVALID_SIZE, zeModuleGetNativeBinary(module, &less, binary));
	assert_good(zeModuleGetNativeBinary(module, &bytes, binary));
	zeModuleDestroy(module);
	ze_module_desc_t native = { .format = ZE_MODULE_FORMAT_NATIVE,
		                    .inputSize = bytes,
		                    .pInputModule = binary };
	assert_good(make_module(&rig, native, &module, NULL));
	run_specialised(module, -3, wide);
	zeModuleDestroy(module);
	// Every shorter one is refused; and so is one of somebody else's.
	for (native.inputSize = 1; native.inputSize < bytes; native.inputSize += 97)
		assert_ze(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
		          make_module(&rig, native, &module, NULL));
	native.inputSize = bytes;
	binary[0] ^= 1;
	assert_ze(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, make_module(&rig, native, &module, NULL));
	free(binary);
	description.pConstants = &wrong;
	assert_good(make_module(&rig, description, &module, &log));
	assert_non_null(strstr(log, "specialisation constant 77"));
	run_specialised(module, 10, 20);
	zeModuleDestroy(module);
	free(log);
	free(file.data);
}

static bool on_path(const char *name)
{
	char command[128];

	snprintf(command, sizeof command, "command -v %s >/dev/null", name);
	return system(command) == 0;
}

static void linking(void **state)
{
	ze_module_handle_t exporter = module_of(&rig, "ze_cpu_globals");
	ze_module_handle_t importer = module_of(&rig, "ze_cpu_import"),
	                   both[2] = { importer, exporter };
	ze_kernel_desc_t named = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
		                   .pKernelName = "imported" };
	ze_module_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES };
	ze_module_build_log_handle_t log;
	ze_kernel_handle_t kernel;
	char text[4096];
	size_t bytes = sizeof text;
	int out = 0, *at = &out, value = 20, *counter;

	(void)state;
	assert_good(zeModuleGetProperties(importer, &properties));
	assert_int_equal(properties.flags, ZE_MODULE_PROPERTY_FLAG_IMPORTS);
	assert_good(zeModuleGetProperties(exporter, &properties));
	assert_int_equal(properties.flags, 0);
	assert_ze(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
	          zeKernelCreate(importer, &named, &kernel));
	assert_ze(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, zeModuleDynamicLink(1, both, &log));
	assert_good(zeModuleBuildLogGetString(log, &bytes, text));
	assert_non_null(strstr(text, "no module exports twice"));
	zeModuleBuildLogDestroy(log);
	if (on_path("spirv-link")) {
		assert_good(zeModuleDynamicLink(2, both, NULL));
		// Linked code keeps what it needs of the other module.
		assert_good(zeModuleGetGlobalPointer(exporter, "counter", NULL, (void **)&counter));
		kernel = kernel_of(importer, "imported");
		set(kernel, 0, at);
		set(kernel, 1, value);
		assert_good(launch(&rig, kernel, 1, 1));
		assert_int_equal(out, 41);
		assert_int_equal(*counter, 124);
		zeModuleDestroy(exporter);
		assert_good(launch(&rig, kernel, 1, 1));
		zeKernelDestroy(kernel);
	} else {
		zeModuleDestroy(exporter);
	}
	zeModuleDestroy(importer);
}

// A module that cannot be: the code and what the log must say.
static void refused(const struct spirv_file *file, ze_result_t expected, const char *said)
{
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file->bytes,
		                         .pInputModule = file->data };
	ze_module_handle_t module = NULL;
	char *log;

	assert_ze(expected, make_module(&rig, description, &module, &log));
	assert_null(module);
	if (said && !strstr(log, said))
		print_error("not \"%s\" but: %s\n", said, log);
	assert_true(!said || strstr(log, said) != NULL);
	free(log);
}

static void damaged(void **state)
{
	struct spirv_file file = read_spirv(rig.folder, "ze_cpu_import");
	uint8_t text[] = "kernel void not_spirv(void) {}";
	struct spirv_file short_file = { file.data, file.bytes / 2 / 4 * 4 },
	                  empty = { file.data, 0 };
	struct spirv_file source = { text, sizeof text }, header = { file.data, 20 };

	(void)state;
	refused(&header, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "no memory model");
	refused(&short_file, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "error");
	refused(&source, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "error");
	refused(&empty, ZE_RESULT_ERROR_INVALID_SIZE, NULL);
	free(file.data);
}

static volatile sig_atomic_t children_heard;

static void hear_child(int number)
{
	(void)number;
	children_heard++;
}

// Without any translator: a device that takes SPIR-V itself needs none and says nothing of it,
// every other one is refused with what to install. (One that were taken for the other kind builds
// nothing.)
static void no_translator(const struct spirv_file *file)
{
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file->bytes,
		                         .pInputModule = file->data };
	ze_module_handle_t module = NULL;
	char *log;

	ze_result_t result = make_module(&rig, description, &module, &log);
	assert_non_null(log);
	assert_true(result == ZE_RESULT_SUCCESS
	                ? !strstr(log, "llvm-spirv")
	                : strstr(log, "there is no llvm-spirv on PATH") != NULL);
	if (result == ZE_RESULT_SUCCESS)
		zeModuleDestroy(module);
	else
		assert_ze(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, result);
	free(log);
}

// Translators that are scripts. Whatever they do, the program hears nothing of them.
static void translators(void **state)
{
	const struct {
		const char *script, *said;
	} rows[] = {
		{ "#!/bin/sh\necho cannot read this >&2\nexit 3\n", "cannot read this" },
		{ "#!/bin/sh\nexit 3\n", "refused the SPIR-V (exit status 3)" },
		{ "#!/nonexistent/shell\n", "did not run" },
		{ "#!/bin/sh\nkill -ABRT $$\n", "crashed on the SPIR-V (signal 6" },
		{ "#!/bin/sh\nsleep 100\n", "did not end in 0.2 s" },
		{ "#!/bin/sh\nexit 0\n", "wrote nothing" },
		{ "#!/bin/sh\necho rubbish > \"$4\"\necho rubbish > \"$3\"\n", "error" },
	};
	struct spirv_file file = read_spirv(rig.folder, "ze_cpu_import");
	// Stops of whoever runs this test are another matter: stopped_and_continued.
	struct sigaction hear = { .sa_handler = hear_child, .sa_flags = SA_NOCLDSTOP }, before;
	char folder[] = "/tmp/tare-test-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/translator", folder);
	assert_int_equal(sigaction(SIGCHLD, &hear, &before), 0);
	setenv("ZE_CPU_LLVM_SPIRV", path, 1);
	setenv("TMPDIR", folder, 1);
	refused(&file, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, path);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		FILE *script = fopen(path, "w");
		assert_non_null(script);
		fputs(rows[i].script, script);
		fclose(script);
		assert_int_equal(chmod(path, 0700), 0);
		setenv("ZE_CPU_LLVM_SPIRV_LIMIT_S", strstr(rows[i].script, "sleep") ? "0.2" : "60",
		       1);
		refused(&file, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rows[i].said);
		unlink(path);
	}
	assert_int_equal(children_heard, 0);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	unsetenv("ZE_CPU_LLVM_SPIRV");
	const char *usual = getenv("PATH");
	char *path_before = strdup(usual ? usual : "");
	setenv("PATH", folder, 1);
	no_translator(&file);
	setenv("PATH", path_before, 1);
	free(path_before);
	unsetenv("ZE_CPU_LLVM_SPIRV_LIMIT_S");
	unsetenv("TMPDIR");
	sigaction(SIGCHLD, &before, NULL);
	// It fails where a file was left behind.
	assert_int_equal(rmdir(folder), 0);
	free(file.data);
}

// ---- in a process of its own, which is this program with a third argument

static int own_handler_ran;
static sigjmp_buf out_of_handler;

static void own_handler(int number)
{
	own_handler_ran += number == SIGSEGV;
	siglongjmp(out_of_handler, 1);
}

static volatile int *volatile nowhere = (int *)8;

static bool own_fault_is_handled(void)
{
	int before = own_handler_ran;

	if (sigsetjmp(out_of_handler, 1) == 0)
		*nowhere = 1;
	return own_handler_ran == before + 1;
}

static void own_handler_returns(int number)
{
	(void)number;
	if (own_handler_ran++)
		_exit(3);
}

// Hands on to the handler that it replaced, as libraries do.
static struct sigaction replaced;
static int handed_on;

static void chaining_handler(int number, siginfo_t *info, void *context)
{
	handed_on++;
	replaced.sa_sigaction(number, info, context);
}

// What a trap leaves whole: the device, other queues, kernels, and new modules. More traps than the
// OpenCL device has threads.
static int goes_on(ze_kernel_handle_t kernel, int *out)
{
	int *bad = (int *)16;

	for (int i = 0; i < 3; i++) {
		struct rig other = rig;
		ze_command_queue_desc_t queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
			                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
		if (zeCommandListCreateImmediate(rig.context, rig.device, &queue, &other.list))
			return 9;
		out[0] = 0;
		set(kernel, 0, out);
		if (launch(&other, kernel, 4, 1) || out[0] != 1)
			return 10;
		set(kernel, 0, bad);
		if (launch(&other, kernel, 64, 1) != ZE_RESULT_ERROR_DEVICE_LOST ||
		    zeCommandListDestroy(other.list))
			return 11;
	}
	zeModuleDestroy(module_of(&rig, "ze_cpu_globals"));
	return zeDeviceGetStatus(rig.device) == ZE_RESULT_SUCCESS ? 0 : 12;
}

// 0: all as promised; else the number of what was not.
static int trap(const char *how)
{
	struct sigaction own = { .sa_handler = own_handler };
	struct sigaction chaining = { .sa_sigaction = chaining_handler, .sa_flags = SA_SIGINFO };
	bool chains = strcmp(how, "chain") == 0;
	int *bad = (int *)16, value = 1, out[8], *at = out;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "write_at");

	if (strcmp(how, "before") == 0 || chains)
		sigaction(SIGSEGV, &own, NULL);
	set(kernel, 1, value);
	set(kernel, 0, at);
	if (launch(&rig, kernel, 1, 1) || out[0] != 1)
		return 1;
	if (strcmp(how, "after") == 0)
		sigaction(SIGSEGV, &own, NULL);
	// The second launch puts the driver's handler before it.
	if (chains && (sigaction(SIGSEGV, &chaining, &replaced) || launch(&rig, kernel, 1, 1)))
		return 7;
	set(kernel, 0, bad);
	for (int i = 0; strcmp(how, "alone") && i < 3; i++)
		if (!own_fault_is_handled())
			return 2;
	if (launch(&rig, kernel, 4, 1) != ZE_RESULT_ERROR_DEVICE_LOST)
		return 3;
	if (own_handler_ran != (strcmp(how, "alone") ? 3 : 0) || handed_on != (chains ? 3 : 0))
		return 4;
	for (int i = 0; strcmp(how, "alone") && i < 3; i++)
		if (!own_fault_is_handled())
			return 5;
	set(kernel, 0, at);
	out[0] = 0;
	if (launch(&rig, kernel, 1, 1) != ZE_RESULT_ERROR_DEVICE_LOST || out[0])
		return 6;
#if defined(__x86_64__)
	return strcmp(how, "alone") ? 0 : goes_on(kernel, out);
#else
	return zeDeviceGetStatus(rig.device) == ZE_RESULT_ERROR_DEVICE_LOST ? 0 : 8;
#endif
}

// A handler with SA_RESETHAND counts on the default action behind it.
static int handler_for_once(void)
{
	struct sigaction once = { .sa_handler = own_handler_returns,
		                  .sa_flags = (int)SA_RESETHAND };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int *bad = (int *)16, value = 1;
	ze_kernel_handle_t kernel = kernel_of(rig.module, "write_at");

	sigaction(SIGSEGV, &usual, NULL);
	sigaction(SIGSEGV, &once, NULL);
	set(kernel, 0, bad);
	set(kernel, 1, value);
	if (launch(&rig, kernel, 1, 1) != ZE_RESULT_ERROR_DEVICE_LOST || own_handler_ran)
		return 1;
	*nowhere = 1;
	return 2;
}

// No OpenCL: modules say so, and the rest works.
static int without_opencl(void)
{
	struct spirv_file file = read_spirv(rig.folder, "ze_cpu_import");
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file.bytes,
		                         .pInputModule = file.data };
	ze_module_handle_t module = NULL;
	char *log = NULL, from[4] = "abc", to[4] = "";

	if (make_module(&rig, description, &module, &log) != ZE_RESULT_ERROR_MODULE_BUILD_FAILURE)
		return 1;
	if (!log || !strstr(log, "/nonexistent/libopencl.so") ||
	    !strstr(log, "install pocl-opencl-icd"))
		return 2;
	if (zeCommandListAppendMemoryCopy(rig.list, to, from, sizeof to, NULL, 0, NULL))
		return 3;
	return memcmp(from, to, sizeof to) ? 4 : 0;
}

// The program is stopped and goes on, as by a shell's ^Z and fg, while a translator runs.
static int stopped_and_continued(void)
{
	struct spirv_file file = read_spirv(rig.folder, "ze_cpu_import");
	ze_module_desc_t description = { .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = file.bytes,
		                         .pInputModule = file.data };
	struct sigaction hear = { .sa_handler = hear_child };
	ze_module_handle_t module = NULL;
	char path[] = "/tmp/tare-test-XXXXXX", *log = NULL;
	int descriptor = mkstemp(path);

	if (descriptor < 0 || setpgid(0, 0) != 0 || sigaction(SIGCHLD, &hear, NULL) != 0)
		return 1;
	dprintf(descriptor,
	        "#!/bin/sh\nkill -s STOP -- -%d\nsleep 0.05\nkill -s CONT -- -%d\nexit 3\n",
	        getpid(), getpid());
	fchmod(descriptor, 0700);
	close(descriptor);
	setenv("ZE_CPU_LLVM_SPIRV", path, 1);
	ze_result_t result = make_module(&rig, description, &module, &log);
	unlink(path);
	if (result != ZE_RESULT_ERROR_MODULE_BUILD_FAILURE || !log ||
	    !strstr(log, "(exit status 3)"))
		return 2;
	return children_heard ? 3 : 0;
}

// Its wait status.
static int end_of_child(const char *how, const char *devices)
{
	// Made before the fork: a child of threads may not allocate under the address sanitizer,
	// whose locks they may hold. The first of a name counts.
	char *environment[512], *arguments[] = { (char *)own_path, (char *)driver_path,
		                                 (char *)rig.folder, (char *)how, NULL };
	char pocl[64];
	size_t count = 0;
	int status = 0;

	snprintf(pocl, sizeof pocl, "POCL_DEVICES=%s", devices ? devices : "");
	if (devices)
		environment[count++] = pocl;
	if (strcmp(how, "nothing") == 0)
		environment[count++] = "ZE_CPU_OPENCL=/nonexistent/libopencl.so";
	for (char **at = environ; *at && count < 511; at++)
		environment[count++] = *at;
	environment[count] = NULL;
	pid_t child = fork();
	if (child == 0) {
		execve(own_path, arguments, environment);
		_exit(127);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void run_child(const char *how, const char *devices)
{
	int status = end_of_child(how, devices);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void traps(void **state)
{
	(void)state;
	run_child("alone", NULL);
	run_child("before", NULL);
	run_child("chain", NULL);
	run_child("after", "basic");
	int status = end_of_child("once", NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void a_stop_is_no_news_of_children(void **state)
{
	(void)state;
	run_child("stop", NULL);
}

static void no_opencl(void **state)
{
	(void)state;
	run_child("nothing", NULL);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globals),     cmocka_unit_test(constants),
		cmocka_unit_test(linking),     cmocka_unit_test(damaged),
		cmocka_unit_test(translators), cmocka_unit_test(a_stop_is_no_news_of_children),
		cmocka_unit_test(traps),       cmocka_unit_test(no_opencl),
	};

	if (count != 3 && count != 4) {
		fprintf(stderr, "usage: %s DRIVER SPIRV-FOLDER [CASE]\n", arguments[0]);
		return 2;
	}
	own_path = arguments[0];
	driver_path = arguments[1];
	if (!open_rig(&rig, arguments[1], arguments[2]))
		return 1;
	if (count == 4 && strcmp(arguments[3], "nothing") == 0)
		_exit(without_opencl());
	if (!open_kernels(&rig))
		return 0;
	if (count == 4 && strcmp(arguments[3], "stop") == 0)
		_exit(stopped_and_continued());
	if (count == 4)
		_exit(strcmp(arguments[3], "once") == 0 ? handler_for_once() : trap(arguments[3]));
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	zeModuleDestroy(rig.module);
	zeCommandListDestroy(rig.list);
	zeContextDestroy(rig.context);
	return failed;
}
