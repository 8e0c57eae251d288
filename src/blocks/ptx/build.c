// SPDX-License-Identifier: Apache-2.0
// Builds that are PTX: of NVIDIA's OpenCL, or what a CUDA program brought.
#include "blocks/compile.h"
#include "blocks/ptx/instrument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What NVIDIA's compiler calls the source that it was given.
#define GIVEN "<kernel>"
// Options of NVIDIA's that count when PTX becomes machine code.
#define VENDOR "-cl-nv-"

// Behind the lines that say where in a source it is.
static const char *behind_lines(const char *at)
{
	for (;;) {
		const char *text = at + strspn(at, " \t");
		if (strncmp(text, ".loc", 4) != 0 && strncmp(text, ".file", 5) != 0 &&
		    *text != '\n')
			return at;
		at = text + strcspn(text, "\n");
		at += *at == '\n';
	}
}

// Whether two texts are the same but for such lines, and for empty ones.
static bool is_same(const char *left, const char *right)
{
	for (;;) {
		left = behind_lines(left);
		right = behind_lines(right);
		size_t bytes = strcspn(left, "\n");
		if (bytes != strcspn(right, "\n") || memcmp(left, right, bytes) != 0)
			return false;
		left += bytes + (left[bytes] == '\n');
		right += bytes + (right[bytes] == '\n');
		if (!*left || !*right)
			return !*behind_lines(left) && !*behind_lines(right);
	}
}

// The text with lines, where the driver made the same of the source with them.
static char *lined_text(const char *folder, const struct tare_blocks_input *input)
{
	char path[PATH_MAX];
	size_t bytes;

	tare_blocks_path(folder, input->hash, BLOCKS_LINED_SUFFIX, path);
	char *text = tare_blocks_file_read(path, &bytes);
	if (text && !is_same(text, input->text)) {
		free(text);
		text = NULL;
	}
	return text;
}

// The source that lines are of is the program's, which the compiler names by a file that is none.
static int add_source(const char *folder, const struct tare_blocks_input *input,
                      struct tare_blocks_build *build, struct tare_error *error)
{
	struct tare_blocks_module *module = &build->module;
	char path[PATH_MAX];
	size_t bytes;

	tare_blocks_path(folder, input->hash, BLOCKS_SOURCE_SUFFIX, path);
	char *text = tare_blocks_file_read(path, &bytes);
	if (!text)
		return 0;
	for (uint32_t i = 0; i < module->file_count; i++) {
		char *name = module->files[i], *slash = name ? strrchr(name, '/') : NULL;
		if (slash && strcmp(slash + 1, GIVEN) == 0)
			module->files[i] = slash + 1;
	}
	int status = tare_blocks_sources_add(&build->sources, GIVEN, "", text);
	free(text);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

static void keep_options(const char *options, char *room, size_t size)
{
	size_t used = 0;

	for (const char *at = options; (at = strstr(at, VENDOR)) && used < size;) {
		size_t bytes = strcspn(at, " ");
		used += (size_t)snprintf(room + used, size - used, "%.*s ", (int)bytes, at);
		at += bytes;
	}
}

static int write_module(const char *folder, struct tare_blocks_build *build, const struct ptx *ptx,
                        struct tare_error *error)
{
	struct tare_blocks_instrumented made;
	bool cuda = build->api == BLOCKS_CUDA;
	char path[PATH_MAX];
	int status = ptx_instrument(ptx, &build->plan,
	                            cuda ? PTX_MEMORY_MODULE : PTX_MEMORY_ARGUMENT, &made, error);

	if (status < 0)
		return status;
	struct blocks_module head = { .magic = BLOCKS_MAGIC,
		                      .rows = made.rows,
		                      .row_counters = made.row_counters,
		                      .ptx_bytes = made.bytes };
	const void *parts[] = { &head, made.data };
	size_t sizes[] = { sizeof head, made.bytes };
	if (cuda)
		ptx_variables(ptx, head.options, sizeof head.options);
	else
		keep_options(build->options, head.options, sizeof head.options);
	tare_blocks_path(folder, build->hash, BLOCKS_MODULE_SUFFIX, path);
	status = tare_blocks_file_write(path, parts, sizes, 2);
	free(made.data);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written: %s", path,
		                 strerror(-status));
	build->counter_bytes = (uint64_t)made.rows * made.row_counters * sizeof(uint64_t);
	build->made = true;
	return 0;
}

int tare_blocks_compile_ptx(const char *folder, const struct tare_blocks_input *input,
                            struct tare_blocks_build *build, struct tare_error *error)
{
	char *lined = lined_text(folder, input);
	const char *text = lined ? lined : input->text;
	struct ptx ptx;

	if (!build->fat)
		snprintf(build->level, sizeof build->level, "PTX %s",
		         build->api == BLOCKS_CUDA ? "as the program brought it"
		                                   : "of the driver's own compiler");
	int status = ptx_read(text, strlen(text), &ptx, error);
	free(lined);
	status = status ?: tare_blocks_plan_make(&ptx.module, &build->plan, error);
	status = status ?: write_module(folder, build, &ptx, error);
	build->module = ptx.module;
	build->module.text = ptx.text;
	ptx.text = NULL;
	ptx.module = (struct tare_blocks_module){ .block_count = 0 };
	ptx_free(&ptx);
	return status ?: add_source(folder, input, build, error);
}
