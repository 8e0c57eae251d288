// SPDX-License-Identifier: Apache-2.0
// What a finding still says of a text that was changed, and compiled once more.
#include "blocks/gains/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct left {
	const struct tare_blocks_build *build;
	const struct tare_blocks_module *module;
	enum tare_blocks_advice advice;
	bool *lines;
	uint32_t count;
	bool any;
};

static void see_left(void *context, enum tare_blocks_advice advice,
                     const struct tare_blocks_seen *seen)
{
	struct left *left = context;
	const char *name = tare_blocks_file_name(left->module, seen->file);
	size_t length = strlen(name), own = strlen(left->build->source);

	if (advice != left->advice || length < own ||
	    strcmp(name + length - own, left->build->source) != 0 || seen->line > left->count ||
	    left->lines[seen->line])
		return;
	left->lines[seen->line] = true;
	left->any = true;
}

int tare_blocks_see_all(const struct tare_blocks_module *module,
                        const struct tare_blocks_seeing *seeing)
{
	const struct tare_blocks_build of = { .module = *module };
	struct tare_blocks_kernel all = { .build = &of,
		                          .executions = calloc((size_t)module->block_count + 1,
		                                               sizeof *all.executions) };
	int status = all.executions ? 0 : -ENOMEM;

	for (uint32_t i = 0; status == 0 && i < module->block_count; i++)
		all.executions[i] = 1;
	status = status ?: tare_blocks_see_arithmetic(&all, seeing);
	free(all.executions);
	return status;
}

int tare_blocks_lines_left(const struct tare_blocks_build *build,
                           const struct tare_blocks_module *module, enum tare_blocks_advice advice,
                           bool *lines, uint32_t count)
{
	struct left left = { build, module, advice, lines, count, false };
	const struct tare_blocks_seeing seeing = { see_left, &left };
	int status = tare_blocks_see_all(module, &seeing);

	return status ?: left.any;
}
