// SPDX-License-Identifier: Apache-2.0
// Any text as a kernel's file: the scan of OpenCL C and CUDA C for kernels, the reader of PTX, and
// the first line as --arg.
#include "target.h"

#include "backend/cuda/ptx/ptx.h"
#include "measure/overlap/user_kernel.h"

#include <errno.h>
#include <string.h>

// Room of several sizes: what does not fit is left out, whole.
static void scan(const char *text)
{
	static const enum tare_module_format formats[] = { TARE_MODULE_OPENCL_C, TARE_MODULE_CUDA_C,
		                                           TARE_MODULE_PTX };

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		for (size_t size = 8; size <= 256; size *= 32) {
			char *names = malloc(size);
			FUZZ_CHECK(names);
			size_t count = tare_user_kernel_names(formats[i], text, names, size);
			FUZZ_CHECK(strlen(names) < size && (count > 0 || !names[0]));
			free(names);
		}
}

static void read_parameters(const char *ptx, const char *name)
{
	int64_t count = cuda_ptx_parameter_count(ptx, name);

	FUZZ_CHECK(count >= -1);
	for (int64_t i = 0; i < count && i < 4; i++) {
		struct tare_parameter parameter = { 0 };
		int status = cuda_ptx_parameter(ptx, name, (uint32_t)i, &parameter);
		FUZZ_CHECK(status == 0 || status == -EINVAL);
		FUZZ_CHECK(memchr(parameter.type, 0, sizeof parameter.type) &&
		           parameter.bytes >= -1);
	}
	FUZZ_CHECK(count >= UINT32_MAX ||
	           cuda_ptx_parameter(ptx, name, count < 0 ? 0 : (uint32_t)count,
	                              &(struct tare_parameter){ 0 }) < 0);
}

static void read_ptx(const char *ptx)
{
	const char *end = ptx + strlen(ptx), *at = ptx;
	struct cuda_text name, parameters, target = cuda_ptx_directive(ptx, "target");
	char names[64];

	FUZZ_CHECK(!target.length || (target.at >= ptx && target.at + target.length <= end));
	cuda_ptx_names(ptx, names, sizeof names);
	FUZZ_CHECK(strlen(names) < sizeof names);
	for (int i = 0; i < 2 && cuda_ptx_next(&at, &name, &parameters); i++) {
		char word[128], readable[32];
		FUZZ_CHECK(name.at >= ptx && name.at + name.length <= end && at <= end);
		FUZZ_CHECK(!parameters.length || parameters.at + parameters.length <= end);
		snprintf(word, sizeof word, "%.*s", (int)(name.length < 127 ? name.length : 127),
		         name.at);
		cuda_readable_name(name, readable, sizeof readable);
		FUZZ_CHECK(strlen(readable) < sizeof readable);
		read_parameters(ptx, word);
		cuda_ptx_resolve(ptx, word, &name);
	}
}

static void read_argument(const char *text)
{
	struct tare_user_argument argument;
	struct tare_error error = { 0 };
	char *line = strndup(text, strcspn(text, "\n"));
	int status = line ? tare_user_argument_parse(line, &argument, &error) : -ENOMEM;

	FUZZ_CHECK(status == 0 ? argument.bytes > 0 : status == -EINVAL && error.message[0]);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	scan(text);
	read_ptx(text);
	read_argument(text);
	free(text);
	return 0;
}
