// SPDX-License-Identifier: Apache-2.0
#include "measure/overlap/user_kernel_internal.h"

#include "backend/call.h"
#include "backend/spirv.h"
#include "base/cleanup.h"
#include "measure/core/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MOST (16L << 20)
#define NAMES_BYTES 65536
#define FIRST_RUN_ITEMS UINT64_C(4096)
#define FIRST_RUN_NS INT64_C(10000000000)
#define FIRST_RUN_LEAST_NS INT64_C(1000000000)

static const char *const format_names[] = {
	[TARE_MODULE_OPENCL_C] = "OpenCL C",
	[TARE_MODULE_SPIRV] = "SPIR-V",
	[TARE_MODULE_PTX] = "PTX",
	[TARE_MODULE_CUDA_C] = "CUDA C",
	[TARE_MODULE_NATIVE] = "a kernel of the device's own",
};
#define FORMATS (sizeof format_names / sizeof *format_names)

// ---- the file

// Its text with a zero behind it, to free(); NULL with a sentence.
static char *read_source(const char *file, size_t *bytes, struct tare_error *error)
{
	// A FIFO that nobody writes to must not hold the program.
	int descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	TARE_FCLOSE FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
	struct stat status;
	char *text;

	if (!stream || fstat(fileno(stream), &status) != 0) {
		tare_fail(error, errno, "cannot read the kernel's file %s: %s", file,
		          strerror(errno));
		return NULL;
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size > FILE_MOST) {
		tare_fail(error, EINVAL, "%s %s", file,
		          !S_ISREG(status.st_mode) ? "is no file, but a kernel's source is wanted"
		          : status.st_size == 0    ? "is empty; it should hold a kernel"
		                                   : "is larger than 16 MB; is it a kernel?");
		return NULL;
	}
	*bytes = (size_t)status.st_size;
	text = malloc(*bytes + 1);
	if (!text || fread(text, 1, *bytes, stream) != *bytes) {
		tare_fail(error, text ? EIO : ENOMEM, "cannot read all of %s", file);
		free(text);
		return NULL;
	}
	text[*bytes] = '\0';
	return text;
}

// A source that its user can make SPIR-V of. Passes that clang would run by itself move blocks into
// an order that SPIR-V forbids.
static int say_how_to_translate(const char *file, const char *api, struct tare_error *error)
{
	const char *slash = strrchr(file, '/');
	int stem = (int)strlen(slash ? slash + 1 : file) - 3; // without ".cl"
	const char *name = slash ? slash + 1 : file;

	return tare_fail(
	    error, EINVAL,
	    "%s is OpenCL C, and a %s driver takes SPIR-V only; make it with 'clang "
	    "-cl-std=CL1.2 -target spir64 -O2 -Xclang -disable-llvm-passes -Xclang "
	    "-finclude-default-header -emit-llvm -c %s -o %.*s.bc' and 'llvm-spirv-15 %.*s.bc "
	    "-o %.*s.spv' (Debian's packages clang and llvm-spirv-15)",
	    file, api, file, stem, name, stem, name, stem, name);
}

static int check_format(const struct tare_run *run, const char *file,
                        enum tare_module_format format, struct tare_error *error)
{
	const struct tare_backend *backend = run->device->backend;
	char taken[128] = "";

	if (backend->module_formats >> format & 1)
		return 0;
	if (format == TARE_MODULE_OPENCL_C && backend->module_formats >> TARE_MODULE_SPIRV & 1)
		return say_how_to_translate(file, backend->title, error);
	for (size_t i = 0; i < FORMATS; i++)
		if (i != TARE_MODULE_NATIVE && backend->module_formats >> i & 1)
			snprintf(taken + strlen(taken), sizeof taken - strlen(taken), "%s%s",
			         taken[0] ? ", " : "", format_names[i]);
	return tare_fail(error, EINVAL, "%s is %s, which %s does not take; it takes %s", file,
	                 format_names[format], backend->title,
	                 taken[0] ? taken : "kernels by name only (a file NAME.tare and --entry)");
}

// Which kernel of the file: the one that is asked for, or the only one of those that the built
// module lists, or that a scan of the source finds.
static int choose_entry(const struct tare_user_kernel *options, enum tare_module_format format,
                        const char *source, struct tare_module *module, char entry[128],
                        struct tare_error *error)
{
	char names[256] = "";
	int count = -ENODATA;

	if (options->entry) {
		snprintf(entry, 128, "%s", options->entry);
		return 0;
	}
	if (module)
		count = tare_module_kernels(module, names, sizeof names, NULL);
	if (count < 0 && format != TARE_MODULE_SPIRV && format != TARE_MODULE_NATIVE)
		count = (int)tare_user_kernel_names(format, source, names, sizeof names);
	if (count == 1 && names[0]) {
		snprintf(entry, 128, "%.127s", names);
		return 0;
	}
	if (count > 1)
		return tare_fail(error, EINVAL, "%s has %d kernels; choose one with --entry: %s",
		                 options->file, count, names);
	if (module && count == 0)
		return tare_fail(error, EINVAL, "%s has no kernel%s", options->file,
		                 format == TARE_MODULE_CUDA_C
		                     ? ", no __global__ function; a template "
		                       "is made with --entry 'NAME<TYPE>'"
		                     : "");
	return tare_fail(error, EINVAL, "say with --entry which kernel of %s to run",
	                 options->file);
}

// ---- building

static void around_build(const struct tare_user_kernel *options, bool begins)
{
	if (options->around_build)
		options->around_build(options->around_context, begins);
}

// The source as a module. CUDA names what is wrong with it in a sentence of its own.
static int build_module(struct tare_run *run, const struct tare_user_kernel *options,
                        enum tare_module_format format, const char *text, size_t bytes,
                        struct tare_built_kernel *built, char **log, struct tare_error *error)
{
	struct tare_module_source source = { .format = format,
		                             .data = text,
		                             .bytes = bytes,
		                             .options = options->build_options,
		                             .file = options->file,
		                             .entry = options->entry };
	char *own_log = NULL;
	int status;

	if (format == TARE_MODULE_NATIVE) {
		source.data = options->entry;
		source.bytes = strlen(options->entry);
	} else if (format == TARE_MODULE_OPENCL_C && memchr(text, '\0', bytes)) {
		return tare_fail(error, EINVAL, "%s is not text, as %s should be", options->file,
		                 format_names[format]);
	}
	around_build(options, true);
	status =
	    tare_module_create(run->device, &source, &built->module, log ? log : &own_log, error);
	around_build(options, false);
	free(own_log);
	if (status == -EINVAL && log && *log &&
	    (format == TARE_MODULE_OPENCL_C || format == TARE_MODULE_SPIRV))
		return tare_fail(error, EINVAL, "%s does not compile; the build log says why",
		                 options->file);
	if (status < 0)
		tare_error_prefix(error, "%s", options->file);
	return status;
}

static int build(struct tare_run *run, const struct tare_user_kernel *options,
                 enum tare_module_format format, const char *text, size_t bytes, char entry[128],
                 struct tare_built_kernel *built, char **log, struct tare_error *error)
{
	bool lists = run->device->backend->module_kernels != NULL;
	char names[256];
	int status = 0;

	if (!lists || format == TARE_MODULE_NATIVE)
		status = choose_entry(options, format, text, NULL, entry, error);
	status = status ?: build_module(run, options, format, text, bytes, built, log, error);
	if (status == 0 && lists)
		status = choose_entry(options, format, text, built->module, entry, error);
	if (status < 0)
		return status;
	around_build(options, true);
	status = tare_kernel_create(built->module, entry, &built->chunk.kernel, error);
	around_build(options, false);
	if (status == 0 || status == -ENODEV || status == -ENOMEM)
		return status;
	if (lists) // it names them itself
		return tare_error_prefix(error, "%s", options->file);
	if (format == TARE_MODULE_SPIRV || format == TARE_MODULE_NATIVE ||
	    !tare_user_kernel_names(format, text, names, sizeof names))
		return tare_fail(error, EINVAL, "%s has no kernel '%s'", options->file, entry);
	return tare_fail(error, EINVAL, "%s has no kernel '%s'; it has: %s", options->file, entry,
	                 names);
}

// ---- the first run

struct trial {
	struct tare_memory *host, *input, *output;
	struct tare_queue *queue;
};

static void trial_free(struct trial *trial)
{
	tare_queue_free(trial->queue);
	tare_memory_free(trial->host);
	tare_memory_free(trial->input);
	tare_memory_free(trial->output);
}

static int launch_once(const struct tare_built_kernel *built, const struct trial *trial,
                       uint32_t items, struct tare_error *error)
{
	const struct tare_chunk_kernel *chunk = &built->chunk;
	struct tare_argument arguments[USER_KERNEL_ARGUMENTS + TARE_USER_ARGUMENTS] = {
		{ .type = TARE_ARGUMENT_MEMORY, .span = { trial->input, 0, trial->input->bytes } },
		{ .type = TARE_ARGUMENT_MEMORY,
		  .span = { trial->output, 0, trial->output->bytes } },
		{ .type = TARE_ARGUMENT_VALUE, .value = &(uint32_t){ 0 }, .bytes = 4 },
		{ .type = TARE_ARGUMENT_VALUE, .value = &items, .bytes = 4 },
	};
	struct tare_operation launch = { .type = TARE_OPERATION_LAUNCH };

	for (uint32_t i = 0; i < chunk->scalar_count; i++)
		arguments[USER_KERNEL_ARGUMENTS + i] = chunk->scalars[i];
	launch.launch = (struct tare_launch){
		.kernel = chunk->kernel,
		.groups = { (items + chunk->group_size - 1) / chunk->group_size, 1, 1 },
		.group_size = { chunk->group_size, 1, 1 },
		.arguments = arguments,
		.argument_count = USER_KERNEL_ARGUMENTS + chunk->scalar_count,
	};
	return tare_append(trial->queue, &launch, NULL, error);
}

// A kernel that never ends must be found while little hangs on it.
static int run_once(struct tare_run *run, const struct tare_user_kernel *options, const char *entry,
                    const struct tare_built_kernel *built, struct tare_error *error)
{
	const struct tare_chunk_kernel *chunk = &built->chunk;
	uint64_t items = (FIRST_RUN_ITEMS + chunk->align - 1) / chunk->align * chunk->align;
	int64_t limit_ns = run->budget_ns < FIRST_RUN_NS ? run->budget_ns : FIRST_RUN_NS;
	struct tare_random random = { .state = run->seed };
	struct tare_queue_options plain = { .order = TARE_QUEUE_IN_ORDER };
	struct trial trial = { 0 };
	struct tare_host_time begin;
	double waited_ns;
	int status = tare_queue_create(run->device, &plain, &trial.queue, error);

	// A CPU's driver builds the kernel within the first launch, which a short budget would not
	// hold.
	if (limit_ns < FIRST_RUN_LEAST_NS)
		limit_ns = FIRST_RUN_LEAST_NS;
	if (items > UINT32_MAX)
		items = FIRST_RUN_ITEMS;
	if (status == 0)
		status = tare_memory_create(run->device, TARE_MEMORY_PAGEABLE,
		                            items * chunk->in_bytes, &trial.host, error);
	if (status == 0)
		status = tare_memory_create(run->device, TARE_MEMORY_DEVICE,
		                            items * chunk->in_bytes, &trial.input, error);
	if (status == 0)
		status = tare_memory_create(run->device, TARE_MEMORY_DEVICE,
		                            items * chunk->out_bytes, &trial.output, error);
	if (status == 0) {
		unsigned char *bytes = trial.host->host;
		for (uint64_t i = 0; i < trial.host->bytes; i++)
			bytes[i] = (unsigned char)tare_random_next(&random);
		struct tare_operation copy = { .type = TARE_OPERATION_COPY,
			                       .source = { trial.host, 0, trial.host->bytes },
			                       .destination = { trial.input, 0,
			                                        trial.host->bytes } };
		status = tare_append(trial.queue, &copy, NULL, error);
	}
	begin = tare_run_now(run);
	status = status ?: launch_once(built, &trial, (uint32_t)items, error);
	// The copy must not outlive its memory when the launch was refused.
	if (status < 0 && trial.queue)
		status = tare_bench_settle(trial.queue, status, error);
	status = status ?: tare_finish(trial.queue, limit_ns, error);
	// A device that runs kernels inside the launch has a limit of its own there, maybe longer.
	waited_ns = (double)tare_host_elapsed_ns(begin, tare_run_now(run));
	if (status == -ETIMEDOUT)
		tare_advises(error,
		             tare_fail(error, ETIMEDOUT,
		                       "kernel '%s' in %s has not ended after %.2g s over %llu "
		                       "items; does its loop end?",
		                       entry, options->file, waited_ns * 1e-9,
		                       (unsigned long long)items));
	else if (status < 0)
		tare_error_prefix(error, "kernel '%s' in %s", entry, options->file);
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	trial_free(&trial);
	return status;
}

// ----

static int take_arguments(const struct tare_user_kernel *options, struct tare_built_kernel *built,
                          struct tare_error *error)
{
	int status = 0;

	if (options->argument_count > TARE_USER_ARGUMENTS)
		return tare_fail(error, EINVAL, "--arg is given more than %zu times",
		                 TARE_USER_ARGUMENTS);
	for (size_t i = 0; status == 0 && i < options->argument_count; i++) {
		struct tare_user_argument *argument = &built->arguments[i];
		status = tare_user_argument_parse(options->arguments[i], argument, error);
		built->chunk.scalars[i] = (struct tare_argument){
			.type = argument->type,
			.value = argument->type == TARE_ARGUMENT_VALUE ? argument->value : NULL,
			.bytes = argument->bytes,
		};
		built->chunk.scalar_count++;
	}
	return status;
}

int tare_user_kernel_build(struct tare_run *run, const struct tare_user_kernel *options,
                           struct tare_built_kernel *built, char **log, struct tare_error *error)
{
	struct tare_kernel_facts facts = { .arguments = -1,
		                           .max_group_size = -1,
		                           .preferred_multiple = -1 };
	enum tare_module_format format;
	TARE_FREE char *text = NULL;
	char entry[128] = "";
	size_t bytes = 0;
	int status;

	*built =
	    (struct tare_built_kernel){ .chunk = {
		                            .in_bytes = options->in_bytes ? options->in_bytes : 4,
		                            .out_bytes =
		                                options->out_bytes ? options->out_bytes : 4,
		                            .align = options->align ? options->align : 1,
		                        } };
	status = take_arguments(options, built, error);
	status = status ?: tare_user_kernel_format(options->file, &format, error);
	status = status ?: check_format(run, options->file, format, error);
	if (status < 0)
		return status;
	text = read_source(options->file, &bytes, error);
	if (!text)
		return error ? error->code : -EINVAL;
	status = build(run, options, format, text, bytes, entry, built, log, error);
	if (status == 0 && tare_kernel_facts(built->chunk.kernel, &facts, NULL) < 0)
		facts = (struct tare_kernel_facts){ .arguments = -1,
			                            .max_group_size = -1,
			                            .preferred_multiple = -1 };
	status = status ?: tare_user_kernel_check(options, entry, format, built, &facts, error);
	if (status == 0)
		status =
		    tare_user_kernel_group(options, entry, &facts, &built->chunk.group_size, error);
	status = status ?: run_once(run, options, entry, built, error);
	snprintf(built->title, sizeof built->title, "%.60s (%.60s)", entry, options->file);
	if (status < 0)
		tare_built_kernel_free(built);
	return status;
}

int tare_user_kernel_rebuild(struct tare_run *run, const struct tare_user_kernel *options,
                             struct tare_module **module, struct tare_kernel **kernel,
                             struct tare_error *error)
{
	struct tare_built_kernel built = { 0 };
	enum tare_module_format format;
	TARE_FREE char *text = NULL;
	char entry[128] = "";
	size_t bytes = 0;
	int status = tare_user_kernel_format(options->file, &format, error);

	if (status < 0)
		return status;
	text = read_source(options->file, &bytes, error);
	if (!text)
		return error ? error->code : -EINVAL;
	status = build(run, options, format, text, bytes, entry, &built, NULL, error);
	if (status < 0) {
		tare_built_kernel_free(&built);
		return status;
	}
	*module = built.module;
	*kernel = built.chunk.kernel;
	return 0;
}

// Names of all kernels of the file: by the module, else of the SPIR-V itself, else by a scan.
static int list_names(const struct tare_user_kernel *options, enum tare_module_format format,
                      const char *text, size_t bytes, struct tare_module *module,
                      char names[NAMES_BYTES], struct tare_error *error)
{
	struct tare_spirv *spirv = NULL;
	int count;

	if (options->entry) {
		snprintf(names, NAMES_BYTES, "%s", options->entry);
		return 0;
	}
	count = tare_module_kernels(module, names, NAMES_BYTES, NULL);
	if (count < 0 && format == TARE_MODULE_SPIRV &&
	    tare_spirv_read(text, bytes, &spirv, error) == 0) {
		size_t used = 0;
		count = (int)spirv->kernel_count;
		for (int i = 0; i < count; i++)
			if (used + strlen(spirv->kernels[i].name) + 3 < NAMES_BYTES)
				used += (size_t)sprintf(names + used, "%s%s", used ? ", " : "",
				                        spirv->kernels[i].name);
		tare_spirv_free(spirv);
	} else if (count < 0) {
		count = (int)tare_user_kernel_names(format, text, names, NAMES_BYTES);
	}
	return count > 0 && names[0] ? 0
	                             : tare_fail(error, EINVAL, "%s has no kernel", options->file);
}

int tare_user_kernel_module(struct tare_device *device, const struct tare_user_kernel *options,
                            struct tare_module **module, char **names, char **log,
                            struct tare_error *error)
{
	struct tare_run run = { .device = device };
	struct tare_built_kernel built = { 0 };
	enum tare_module_format format;
	TARE_FREE char *text = NULL;
	size_t bytes = 0;
	int status = tare_user_kernel_format(options->file, &format, error);

	if (status == 0 && check_format(&run, options->file, format, error) < 0)
		status = error ? (error->code = -ENOTSUP) : -ENOTSUP;
	if (status == 0 && format == TARE_MODULE_NATIVE && !options->entry)
		status = tare_fail(error, EINVAL, "say with --entry which kernel of %s to look at",
		                   options->file);
	if (status < 0)
		return status;
	text = read_source(options->file, &bytes, error);
	*names = malloc(NAMES_BYTES);
	if (text && *names) {
		(*names)[0] = '\0';
		status = build_module(&run, options, format, text, bytes, &built, log, error);
	} else {
		status = text    ? tare_fail(error, ENOMEM, "out of memory")
		         : error ? error->code
		                 : -EINVAL;
	}
	status = status ?: list_names(options, format, text, bytes, built.module, *names, error);
	if (status < 0) {
		tare_module_free(built.module);
		free(*names);
		*names = NULL;
		return status;
	}
	*module = built.module;
	return 0;
}

void tare_built_kernel_free(struct tare_built_kernel *built)
{
	tare_kernel_free(built->chunk.kernel);
	tare_module_free(built->module);
	built->chunk.kernel = NULL;
	built->module = NULL;
}
