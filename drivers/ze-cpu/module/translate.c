// SPDX-License-Identifier: Apache-2.0
#include "module/translate.h"
#include "ze_cpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRANSLATE_LIMIT_S 60.0
#define LOG_BYTES 16384 // of what the translator says
#define PATH_BYTES 1024

struct work_folder {
	char path[PATH_BYTES - 32];
	char output[PATH_BYTES], said[PATH_BYTES];
	uint32_t inputs;
};

static bool on_path(const char *name, char *path)
{
	const char *folders = getenv("PATH");

	for (const char *at = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t length = strcspn(at, ":");
		if (length &&
		    snprintf(path, PATH_BYTES, "%.*s/%s", (int)length, at, name) < PATH_BYTES &&
		    access(path, X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

bool translator_is_named(void)
{
	const char *named = getenv("ZE_CPU_LLVM_SPIRV");

	return named && *named;
}

// Older translators write what newer compilers read, not the other way round.
static bool find_translator(unsigned llvm, char *path, ze_module_build_log_handle_t log)
{
	const char *named = getenv("ZE_CPU_LLVM_SPIRV");
	char name[32];

	if (translator_is_named()) {
		bool found = strchr(named, '/')
		                 ? snprintf(path, PATH_BYTES, "%s", named) < PATH_BYTES &&
		                       access(path, X_OK) == 0
		                 : on_path(named, path);
		if (!found)
			build_log_add(log, "error: ZE_CPU_LLVM_SPIRV names %s, which cannot be run",
			              named);
		return found;
	}
	for (unsigned version = llvm; version && version + 4 > llvm; version--) {
		snprintf(name, sizeof name, "llvm-spirv-%u", version);
		if (on_path(name, path))
			return true;
	}
	if (on_path("llvm-spirv", path))
		return true;
	if (llvm)
		build_log_add(
		    log,
		    "error: the OpenCL device takes no SPIR-V, and there is no llvm-spirv on "
		    "PATH to translate it; install llvm-spirv-%u, or name it in ZE_CPU_LLVM_SPIRV",
		    llvm);
	else
		build_log_add(
		    log, "error: the OpenCL device takes no SPIR-V, and there is no llvm-spirv on "
		         "PATH to translate it; install it, or name it in ZE_CPU_LLVM_SPIRV");
	return false;
}

static int64_t limit_ns(double *seconds)
{
	const char *text = getenv("ZE_CPU_LLVM_SPIRV_LIMIT_S");
	char *end = NULL;
	double value = text ? strtod(text, &end) : 0;

	*seconds = end && end != text && !*end && isfinite(value) && value > 0 && value < 1e6
	               ? value
	               : TRANSLATE_LIMIT_S;
	return (int64_t)(*seconds * 1e9);
}

static void input_name(const struct work_folder *folder, uint32_t index, char *path)
{
	snprintf(path, PATH_BYTES, "%s/%u.spv", folder->path, index);
}

static int make_folder(struct work_folder *folder)
{
	const char *parent = getenv("TMPDIR");

	if (snprintf(folder->path, sizeof folder->path, "%s/ze-cpu-XXXXXX",
	             parent && *parent ? parent : "/tmp") >= (int)sizeof folder->path)
		return -ENAMETOOLONG;
	if (!mkdtemp(folder->path))
		return -errno;
	snprintf(folder->output, sizeof folder->output, "%s/output", folder->path);
	snprintf(folder->said, sizeof folder->said, "%s/said", folder->path);
	return 0;
}

static int add_input(struct work_folder *folder, const void *data, size_t bytes)
{
	char path[PATH_BYTES];

	input_name(folder, folder->inputs, path);
	FILE *file = fopen(path, "wxe");
	if (!file)
		return -errno;
	folder->inputs++;
	size_t written = fwrite(data, 1, bytes, file);
	return fclose(file) == 0 && written == bytes ? 0 : -EIO;
}

static void remove_folder(const struct work_folder *folder)
{
	char path[PATH_BYTES];

	for (uint32_t i = 0; i < folder->inputs; i++) {
		input_name(folder, i, path);
		unlink(path);
	}
	unlink(folder->output);
	unlink(folder->said);
	rmdir(folder->path);
}

// The whole file, at most `most` bytes; NULL (errno): it cannot be read.
static char *read_file(const char *path, size_t most, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	struct stat status;

	if (!file)
		return NULL;
	char *text = NULL;
	if (fstat(fileno(file), &status) == 0) {
		size_t size = (size_t)status.st_size < most ? (size_t)status.st_size : most;
		text = malloc(size + 1);
		if (text) {
			*bytes = fread(text, 1, size, file);
			text[*bytes] = '\0';
		}
	}
	fclose(file);
	return text;
}

static int run(const struct work_folder *folder, char *const *arguments,
               ze_module_build_log_handle_t log)
{
	const char *path = arguments[0];
	double limit;
	int value = 0;
	size_t bytes = 0;
	enum subprocess_end end =
	    subprocess_run(path, arguments, folder->said, limit_ns(&limit), &value);
	char *said = read_file(folder->said, LOG_BYTES, &bytes);

	if (said && bytes)
		build_log_add(log, "%s", said);
	free(said);
	switch (end) {
	case SUBPROCESS_EXITED:
		if (value == 0)
			return 0;
		// Statuses from 127 on look alike: not started, or what a shell says of that.
		if (value >= 127)
			build_log_add(log,
			              "error: %s did not run (exit status 127 or more); does it "
			              "run by hand? ZE_CPU_LLVM_SPIRV names another",
			              path);
		else
			build_log_add(log, "error: %s refused the SPIR-V (exit status %d)", path,
			              value);
		return -EINVAL;
	case SUBPROCESS_SIGNALLED:
		build_log_add(log, "error: %s crashed on the SPIR-V (signal %d, %s)", path, value,
		              sigdescr_np(value) ? sigdescr_np(value) : "unknown");
		return -EINVAL;
	case SUBPROCESS_LATE:
		build_log_add(log,
		              "error: %s did not end in %g s and was stopped; "
		              "ZE_CPU_LLVM_SPIRV_LIMIT_S sets the limit",
		              path, limit);
		return -ETIMEDOUT;
	case SUBPROCESS_FAILED:
		build_log_add(log, "error: %s cannot be started: %s", path, strerrordesc_np(value));
		return -value;
	}
	return -EIO;
}

// Runs the program over the modules, which are its last arguments, and reads what it wrote.
// arguments: with room for the modules after `used` of them; "OUTPUT" becomes the output's name.
static int transform(char **arguments, uint32_t used, const void *const *modules,
                     const size_t *module_bytes, uint32_t count, void **output,
                     size_t *output_bytes, ze_module_build_log_handle_t log)
{
	struct work_folder folder = { .path = "" };
	char(*names)[PATH_BYTES] = calloc(count, sizeof *names);
	int result = names ? make_folder(&folder) : -ENOMEM;

	for (uint32_t i = 0; !result && i < count; i++) {
		result = add_input(&folder, modules[i], module_bytes[i]);
		input_name(&folder, i, names[i]);
		arguments[used + i] = names[i];
	}
	for (uint32_t i = 0; i < used; i++)
		if (strcmp(arguments[i], "OUTPUT") == 0)
			arguments[i] = folder.output;
	if (result)
		build_log_add(log, "error: cannot write in %s: %s; TMPDIR names another folder",
		              folder.path, strerrordesc_np(-result));
	else
		result = run(&folder, arguments, log);
	if (!result) {
		*output = read_file(folder.output, SIZE_MAX - 1, output_bytes);
		if (!*output || !*output_bytes) {
			build_log_add(log, "error: %s wrote nothing", arguments[0]);
			result = -EIO;
			free(*output);
			*output = NULL;
		}
	}
	if (*folder.path)
		remove_folder(&folder);
	free(names);
	return result;
}

int translate_spirv(const void *spirv, size_t bytes, unsigned llvm, void **bitcode,
                    size_t *bitcode_bytes, ze_module_build_log_handle_t log)
{
	char path[PATH_BYTES], reverse[] = "-r", to[] = "-o", output[] = "OUTPUT";
	char *arguments[6] = { path, reverse, to, output };

	*bitcode = NULL;
	if (!find_translator(llvm, path, log))
		return -ENOENT;
	return transform(arguments, 4, &spirv, &bytes, 1, bitcode, bitcode_bytes, log);
}

int link_spirv(const void *const *modules, const size_t *bytes, uint32_t count, void **linked,
               size_t *linked_bytes, ze_module_build_log_handle_t log)
{
	char path[PATH_BYTES], to[] = "-o", output[] = "OUTPUT";
	char **arguments = calloc(count + (size_t)4, sizeof *arguments);

	*linked = NULL;
	if (!arguments)
		return -ENOMEM;
	int result = on_path("spirv-link", path) ? 0 : -ENOENT;
	if (result) {
		build_log_add(log, "error: modules are linked by spirv-link, which is not on PATH; "
		                   "install spirv-tools");
	} else {
		arguments[0] = path;
		arguments[1] = to;
		arguments[2] = output;
		result = transform(arguments, 3, modules, bytes, count, linked, linked_bytes, log);
	}
	free(arguments);
	return result;
}
