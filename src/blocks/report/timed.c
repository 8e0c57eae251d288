// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/timed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

// Whether the module's file is the one in which samples were met. Headers lie at other paths for
// the driver's compiler than for ours.
static bool is_file(const struct tare_blocks_build *build, uint32_t file, const char *met)
{
	const char *name = base_of(tare_blocks_file_name(&build->module, file));

	return strcmp(name, met[0] ? base_of(met) : build->source) == 0;
}

// Which of the module's files it is; UINT32_MAX: none, or more than one.
static uint32_t file_of(const struct tare_blocks_build *build, const struct tare_blocks_line *lines,
                        size_t count, const char *met)
{
	uint32_t found = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].line == 0 || lines[i].file == found ||
		    !is_file(build, lines[i].file, met))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = lines[i].file;
	}
	return found;
}

static bool has_line(const struct tare_blocks_module *module, uint32_t block, uint32_t file,
                     uint32_t line)
{
	const struct tare_blocks_block *of = &module->blocks[block];

	for (uint32_t i = 0; i < of->pieces; i++)
		if (module->pieces[of->first_piece + i].file == file &&
		    module->pieces[of->first_piece + i].line == line)
			return true;
	return false;
}

static void add_to_blocks(const struct tare_blocks_kernel *kernel, uint32_t file,
                          const struct tare_blocks_line_time *met, struct tare_blocks_timed *timed)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	uint32_t blocks = 0, only = 0;

	for (uint32_t i = 0; i < module->block_count; i++) {
		if (!kernel->executions[i] || !has_line(module, i, file, met->line))
			continue;
		blocks++;
		only = i;
		timed->most[i] += met->samples;
	}
	if (blocks == 1)
		timed->least[only] += met->samples;
}

static void add(const struct tare_blocks_kernel *kernel, const struct tare_blocks_line *lines,
                size_t count, const struct tare_blocks_line_time *met,
                struct tare_blocks_timed *timed)
{
	uint32_t file = file_of(kernel->build, lines, count, met->file);

	for (size_t i = 0; i < count; i++) {
		if (lines[i].file != file || lines[i].line != met->line)
			continue;
		timed->lines[i] += met->samples;
		timed->counted += met->samples;
		add_to_blocks(kernel, file, met, timed);
		return;
	}
	timed->elsewhere += met->samples;
}

int tare_blocks_timed_make(const struct tare_blocks_kernel *kernel,
                           const struct tare_blocks_kernel_time *time,
                           const struct tare_blocks_line *lines, size_t line_count,
                           struct tare_blocks_timed *timed)
{
	uint32_t blocks = kernel->build->module.block_count;

	*timed = (struct tare_blocks_timed){ .known = time && time->line_count };
	if (!timed->known)
		return 0;
	timed->lines = calloc(line_count + 1, sizeof *timed->lines);
	timed->least = calloc((size_t)blocks + 1, sizeof *timed->least);
	timed->most = calloc((size_t)blocks + 1, sizeof *timed->most);
	if (!timed->lines || !timed->least || !timed->most)
		return -ENOMEM;
	for (size_t i = 0; i < time->line_count; i++)
		add(kernel, lines, line_count, &time->lines[i], timed);
	return 0;
}

void tare_blocks_timed_free(struct tare_blocks_timed *timed)
{
	free(timed->lines);
	free(timed->least);
	free(timed->most);
	*timed = (struct tare_blocks_timed){ .known = false };
}
