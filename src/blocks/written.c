// SPDX-License-Identifier: Apache-2.0
// What the layer is given for a build.
#include "blocks/compile.h"
#include "blocks/tools/fused.h"
#include "blocks/tools/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tare_blocks_translate(const char *folder, const struct tare_blocks_build *build,
                          const char *from, const char *to, bool back, struct tare_error *error)
{
	char said[PATH_MAX];
	const char *arguments[] = { build->translator, from, "-o", to, back ? "-r" : NULL, NULL };

	tare_blocks_path(folder, build->hash, ".said", said);
	return tare_blocks_tool_run(arguments, said, error);
}

const char *tare_blocks_rounds_otherwise(const struct tare_blocks_build *build)
{
	static const char *const loose[] = { "-cl-fast-relaxed-math",
		                             "-cl-unsafe-math-optimizations" };

	if (build->fat)
		return "the driver compiled it from PTX, and without counters machine code that "
		       "nvcc made may run";
	if (build->mads_alike)
		return "its program calls mad(), and what the driver's compiler would fuse "
		       "elsewhere "
		       "in it cannot be told from that";
	for (size_t i = 0; build->language == BLOCKS_OPENCL_C && i < sizeof loose / sizeof *loose;
	     i++)
		if (strstr(build->options, loose[i]))
			return "its options let each compiler choose how it computes";
	return NULL;
}

int tare_blocks_module_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const void *spirv, size_t bytes,
                             struct tare_error *error)
{
	char path[PATH_MAX], from[PATH_MAX], bitcode[PATH_MAX], said[PATH_MAX];
	const void *parts[] = { spirv, NULL, NULL };
	size_t sizes[] = { bytes, 0, 0 };
	// Level Zero's drivers take SPIR-V.
	bool translates = build->translator[0] && build->api == BLOCKS_OPENCL;

	tare_blocks_path(folder, build->hash, ".made.spv", from);
	tare_blocks_path(folder, build->hash, ".made.bc", bitcode);
	tare_blocks_path(folder, build->hash, ".said", said);
	tare_blocks_path(folder, build->hash, BLOCKS_MODULE_SUFFIX, path);
	int status = tare_blocks_file_write(from, parts, sizes, 1);
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written: %s", from,
		                 strerror(-status));
	if (translates) {
		status = tare_blocks_translate(folder, build, from, bitcode, true, error);
		if (status == 0 && build->fuses && tare_blocks_calls_mad(bitcode))
			status = tare_blocks_fuse(build->clang, bitcode, said, error);
		parts[2] = status == 0 ? tare_blocks_file_read(bitcode, &sizes[2]) : NULL;
	}
	if (status < 0)
		return status;
	head->magic = BLOCKS_MAGIC;
	head->spirv_bytes = sizes[1] = bytes;
	head->bitcode_bytes = sizes[2];
	snprintf(head->options, sizeof head->options, "%s", build->driver_options);
	parts[0] = head;
	sizes[0] = sizeof *head;
	parts[1] = spirv;
	status = tare_blocks_file_write(path, parts, sizes, 3);
	free((void *)(uintptr_t)parts[2]);
	return status < 0 ? tare_fail(error, -status, "%.200s cannot be written: %s", path,
	                              strerror(-status))
	                  : 0;
}

int tare_blocks_source_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const char *source, const char *options,
                             struct tare_error *error)
{
	char path[PATH_MAX];
	const void *parts[] = { head, source, options };
	size_t sizes[] = { sizeof *head, strlen(source) + 1, strlen(options) + 1 };

	head->magic = BLOCKS_MAGIC;
	head->source_bytes = sizes[1];
	head->source_options_bytes = sizes[2];
	tare_blocks_path(folder, build->hash, BLOCKS_MODULE_SUFFIX, path);
	int status = tare_blocks_file_write(path, parts, sizes, 3);
	return status < 0 ? tare_fail(error, -status, "%.200s cannot be written", path) : 0;
}
