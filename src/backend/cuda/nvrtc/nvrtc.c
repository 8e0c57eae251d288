// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nvrtc/nvrtc.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MOST 64

struct options {
	const char *option[OPTIONS_MOST];
	int count;
	char *words; // of the user, cut apart
	char architecture[40], beside[PATH_MAX + 16], toolkit[PATH_MAX + 16];
};

static void add(struct options *options, const char *option)
{
	options->option[options->count++] = option;
}

// Cuts a text at blanks, except within quotes, which go. -EINVAL: too many words, or a quote that
// does not end.
static int cut(struct options *options, const char *text, struct tare_error *error)
{
	char *to = options->words = strdup(text);

	if (!to)
		return tare_fail(error, ENOMEM, "out of memory");
	while (*text) {
		char quote = '\0';
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			break;
		if (options->count >= OPTIONS_MOST - 4)
			return tare_fail(error, EINVAL, "more than %d build options",
			                 OPTIONS_MOST - 4);
		add(options, to);
		for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? '\0' : *text;
			else
				*to++ = *text;
		}
		if (quote)
			return tare_fail(error, EINVAL, "build options: a %c does not end", quote);
		text += *text != '\0';
		*to++ = '\0';
	}
	return 0;
}

static bool has(const struct options *options, const char *prefix)
{
	for (int i = 0; i < options->count; i++)
		if (strncmp(options->option[i], prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

// For a device that NVRTC knows: sm_XY, whose result is the device's own binary, which no driver
// has to translate. PTX of a toolkit newer than the driver would be refused. For a device newer
// than NVRTC: PTX of the newest architecture it knows, which the driver translates.
static int choose_architecture(const struct cuda_nvrtc *nvrtc, int capability, char text[40],
                               struct tare_error *error)
{
	int best = 0, least = nvrtc->count ? nvrtc->architectures[0] : 0;

	for (int i = 0; i < nvrtc->count; i++) {
		int known = nvrtc->architectures[i];
		best = known <= capability && known > best ? known : best;
		least = known < least ? known : least;
	}
	if (nvrtc->count && !best)
		return tare_fail(
		    error, ENOTSUP,
		    "NVRTC %d.%d compiles for compute capability %d.%d and later, this "
		    "device has %d.%d; name an older NVRTC with TARE_NVRTC_LIBRARY, or "
		    "give PTX",
		    nvrtc->major, nvrtc->minor, least / 10, least % 10, capability / 10,
		    capability % 10);
	snprintf(text, 40, "--gpu-architecture=%s_%d",
	         best == capability && nvrtc->call.nvrtcGetCUBIN && nvrtc->call.nvrtcGetCUBINSize
	             ? "sm"
	             : "compute",
	         best ? best : capability);
	return 0;
}

static int make_options(struct cuda_device *device, const struct tare_module_source *source,
                        struct options *options, struct tare_error *error)
{
	const struct cuda_nvrtc *nvrtc = device->driver->nvrtc;
	int major = cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	int minor = cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	int status = cut(options, source->options ? source->options : "", error);
	if (status < 0)
		return status;
	if (!has(options, "-arch") && !has(options, "--gpu-architecture")) {
		status =
		    choose_architecture(nvrtc, major * 10 + minor, options->architecture, error);
		add(options, options->architecture);
	}
	if (source->file) {
		const char *slash = strrchr(source->file, '/');
		snprintf(options->beside, sizeof options->beside, "-I%.*s",
		         slash ? (int)(slash - source->file) : 1, slash ? source->file : ".");
		add(options, slash == source->file ? "-I/" : options->beside);
	}
	if (nvrtc->include[0]) {
		snprintf(options->toolkit, sizeof options->toolkit, "-I%s", nvrtc->include);
		add(options, options->toolkit);
	}
	return status;
}

// ---- what comes out

// What a pair of calls gives, size and content, as a string to free(); NULL: nothing.
static char *get(nvrtc_program program, nvrtc_result (*size)(nvrtc_program, size_t *),
                 nvrtc_result (*content)(nvrtc_program, char *))
{
	size_t bytes = 0;
	char *text;

	if (!size || !content || size(program, &bytes) != ABI_NVRTC_SUCCESS || bytes < 2)
		return NULL;
	text = calloc(1, bytes + 1);
	if (text && content(program, text) != ABI_NVRTC_SUCCESS) {
		free(text);
		return NULL;
	}
	return text;
}

static int nvrtc_fail(const struct cuda_nvrtc *nvrtc, nvrtc_result result, const char *call,
                      int code, const char *what, struct tare_error *error)
{
	return tare_fail_native(error, code, "nvrtc", call, result,
	                        nvrtc->call.nvrtcGetErrorString(result), "%s", what);
}

// The way out for what its log says.
static int compile_failed(const struct cuda_nvrtc *nvrtc, nvrtc_result result, const char *log,
                          struct tare_error *error)
{
	const char *what = log && *log ? "the kernels do not compile; the log says why"
	                               : "the kernels do not compile";

	log = log ? log : "";
	if (result == ABI_NVRTC_OUT_OF_MEMORY)
		return nvrtc_fail(nvrtc, result, "nvrtcCompileProgram", ENOMEM,
		                  "out of memory while compiling", error);
	if (result == ABI_NVRTC_BUILTIN_OPERATION_FAILURE || strstr(log, "libnvrtc-builtins"))
		return nvrtc_fail(nvrtc, result, "nvrtcCompileProgram", ENOTSUP,
		                  "NVRTC does not work: its libnvrtc-builtins must lie beside it",
		                  error);
	if (result == ABI_NVRTC_INVALID_OPTION)
		what = "NVRTC does not take a build option";
	else if (strstr(log, "could not open source file") && !nvrtc->include[0])
		what =
		    "a header is not found, and no headers of the toolkit lie beside NVRTC; name "
		    "their folder by CUDA_HOME, or with the build option -IFOLDER";
	else if (strstr(log, "is considered a host function"))
		what =
		    "NVRTC compiles no host code; put it between #ifndef __CUDACC_RTC__ and #endif";
	return nvrtc_fail(nvrtc, result, "nvrtcCompileProgram", EINVAL, what, error);
}

static int take_results(const struct cuda_nvrtc *nvrtc, nvrtc_program program, const char *entry,
                        struct cuda_compiled *compiled, struct tare_error *error)
{
	const struct nvrtc_functions *call = &nvrtc->call;
	const char *lowered = NULL;

	compiled->ptx = get(program, call->nvrtcGetPTXSize, call->nvrtcGetPTX);
	// There is no binary where PTX was asked for.
	compiled->image = get(program, call->nvrtcGetCUBINSize, call->nvrtcGetCUBIN);
	if (!compiled->image && compiled->ptx)
		compiled->image = strdup(compiled->ptx);
	if (!compiled->image)
		return tare_fail(error, EIO, "NVRTC compiled, but gives neither a binary nor PTX");
	if (!entry)
		return 0;
	nvrtc_result result = call->nvrtcGetLoweredName(program, entry, &lowered);
	if (result != ABI_NVRTC_SUCCESS || !lowered)
		return nvrtc_fail(nvrtc, result, "nvrtcGetLoweredName", EINVAL,
		                  "the entry is no kernel of this source", error);
	compiled->lowered = strdup(lowered);
	return compiled->lowered ? 0 : tare_fail(error, ENOMEM, "out of memory");
}

// A plain name is looked for in what comes out; anything else is an expression, which makes NVRTC
// instantiate a template.
static const char *expression(const char *entry)
{
	return entry && strpbrk(entry, "<>:(&") ? entry : NULL;
}

static int compile(const struct cuda_nvrtc *nvrtc, const struct tare_module_source *source,
                   const struct options *options, nvrtc_program program, char **log,
                   struct cuda_compiled *compiled, struct tare_error *error)
{
	const struct nvrtc_functions *call = &nvrtc->call;
	const char *entry = expression(source->entry);
	nvrtc_result result = ABI_NVRTC_SUCCESS;

	if (entry)
		result = call->nvrtcAddNameExpression(program, entry);
	if (result != ABI_NVRTC_SUCCESS)
		return nvrtc_fail(nvrtc, result, "nvrtcAddNameExpression", EINVAL,
		                  "the entry cannot be an expression for a kernel", error);
	result = call->nvrtcCompileProgram(program, options->count, options->option);
	*log = get(program, call->nvrtcGetProgramLogSize, call->nvrtcGetProgramLog);
	if (result != ABI_NVRTC_SUCCESS)
		return compile_failed(nvrtc, result, *log, error);
	return take_results(nvrtc, program, entry, compiled, error);
}

int cuda_compile(struct cuda_device *device, const struct tare_module_source *source,
                 struct cuda_compiled *compiled, char **log, struct tare_error *error)
{
	struct options options = { .count = 0 };
	nvrtc_program program = NULL;
	const char *slash = source->file ? strrchr(source->file, '/') : NULL;
	TARE_FREE char *text = NULL, *said = NULL;
	int status = cuda_nvrtc_open(device->driver, error);

	*compiled = (struct cuda_compiled){ 0 };
	status = status ?: make_options(device, source, &options, error);
	if (status == 0) {
		text = strndup(source->data, source->bytes);
		status = text ? 0 : tare_fail(error, ENOMEM, "out of memory");
	}
	if (status == 0) {
		const struct nvrtc_functions *call = &device->driver->nvrtc->call;
		nvrtc_result result = call->nvrtcCreateProgram(
		    &program, text, slash ? slash + 1 : source->file, 0, NULL, NULL);
		if (result == ABI_NVRTC_SUCCESS) {
			status = compile(device->driver->nvrtc, source, &options, program, &said,
			                 compiled, error);
			call->nvrtcDestroyProgram(&program);
		} else {
			status = nvrtc_fail(device->driver->nvrtc, result, "nvrtcCreateProgram",
			                    result == ABI_NVRTC_OUT_OF_MEMORY ? ENOMEM : EINVAL,
			                    "NVRTC does not take the source", error);
		}
	}
	if (log && said && (status == -EINVAL || (status == 0 && !source->ends))) {
		*log = said;
		said = NULL;
	}
	if (status < 0)
		cuda_compiled_free(compiled);
	free(options.words);
	return status;
}

void cuda_compiled_free(struct cuda_compiled *compiled)
{
	free(compiled->image);
	free(compiled->ptx);
	free(compiled->lowered);
	*compiled = (struct cuda_compiled){ 0 };
}
