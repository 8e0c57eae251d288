// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/timed.h"

#include "blocks/report/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

// Whether the module's file is the one in which samples were met. Headers lie at other paths for
// the driver's compiler than for ours; those that are programs have our names.
static bool is_file(const struct tare_blocks_build *build, uint32_t file, const char *met)
{
	const char *name = base_of(tare_blocks_file_name(&build->module, file));
	const char *label = tare_blocks_label(build, file);

	if (!met[0])
		return strcmp(name, build->source) == 0;
	return strcmp(name, base_of(met)) == 0 ||
	       (label[0] && strcmp(base_of(label), base_of(met)) == 0);
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

// What is joined, and what of it every step needs.
struct joining {
	const struct tare_blocks_kernel *kernel;
	const struct tare_blocks_line *lines;
	size_t line_count;
	struct tare_blocks_timed *timed;
	bool *has_own; // of each block: a line of it is in no other one that ran
	bool *may;     // of each block: samples may be of it
};

static bool ran_with(const struct joining *joining, uint32_t block, uint32_t file, uint32_t line)
{
	return joining->kernel->executions[block] &&
	       has_line(&joining->kernel->build->module, block, file, line);
}

// The one block that ran and has a line; UINT32_MAX: none, or more than one.
static uint32_t owner_of(const struct joining *joining, uint32_t file, uint32_t line)
{
	uint32_t owner = UINT32_MAX, found = 0;

	for (uint32_t i = 0; i < joining->kernel->build->module.block_count; i++)
		if (ran_with(joining, i, file, line)) {
			owner = i;
			found++;
		}
	return found == 1 ? owner : UINT32_MAX;
}

static uint32_t met_file(const struct joining *joining, const struct tare_blocks_line_time *met)
{
	return file_of(joining->kernel->build, joining->lines, joining->line_count, met->file);
}

static void add_line(const struct joining *joining, const struct tare_blocks_line_time *met)
{
	uint32_t file = met_file(joining, met);

	for (size_t i = 0; i < joining->line_count; i++)
		if (joining->lines[i].file == file && joining->lines[i].line == met->line) {
			joining->timed->lines[i] += met->samples;
			joining->timed->counted += met->samples;
			return;
		}
	joining->timed->elsewhere += met->samples;
}

// The block that alone has lines of its own in a block of code; UINT32_MAX: none, or more.
static uint32_t only_owner(const struct joining *joining, const struct tare_blocks_code_time *code)
{
	uint32_t only = UINT32_MAX;

	for (size_t i = 0; i < code->line_count; i++) {
		uint32_t owner =
		    owner_of(joining, met_file(joining, &code->lines[i]), code->lines[i].line);
		if (owner == UINT32_MAX || owner == only)
			continue;
		if (only != UINT32_MAX)
			return UINT32_MAX;
		only = owner;
	}
	return only;
}

// Whether code in which `owner` alone has lines of its own can be of another block, too: code is
// passed as a whole, so that one would have to run as often, and have no line of its own by which
// it were seen.
static bool can_share(const struct joining *joining, uint32_t block, uint32_t owner)
{
	return block == owner ||
	       (!joining->has_own[block] &&
	        joining->kernel->executions[block] == joining->kernel->executions[owner]);
}

// Samples that are of one of the blocks that may be, and of which is not known where there are
// several.
static void add_samples(const struct joining *joining, uint64_t samples)
{
	uint32_t count = 0, only = 0;

	for (uint32_t i = 0; i < joining->kernel->build->module.block_count; i++)
		if (joining->may[i]) {
			joining->timed->most[i] += samples;
			only = i;
			count++;
		}
	if (count == 1)
		joining->timed->least[only] += samples;
}

// Which blocks a line of code may be of; without a line (NULL) any that has one of the code's.
static void mark(const struct joining *joining, const struct tare_blocks_code_time *code,
                 const struct tare_blocks_line_time *met)
{
	uint32_t owner = only_owner(joining, code);

	for (uint32_t i = 0; i < joining->kernel->build->module.block_count; i++) {
		joining->may[i] = false;
		for (size_t k = 0; k < code->line_count && !joining->may[i]; k++)
			joining->may[i] = (!met || met == &code->lines[k]) &&
			                  ran_with(joining, i, met_file(joining, &code->lines[k]),
			                           code->lines[k].line) &&
			                  (owner == UINT32_MAX || can_share(joining, i, owner));
	}
}

static void add_code(const struct joining *joining, const struct tare_blocks_code_time *code)
{
	for (size_t i = 0; i < code->line_count; i++) {
		if (!code->lines[i].samples)
			continue;
		mark(joining, code, &code->lines[i]);
		add_samples(joining, code->lines[i].samples);
	}
	if (code->no_line) {
		mark(joining, code, NULL);
		add_samples(joining, code->no_line);
	}
}

static void join(const struct joining *joining, const struct tare_blocks_kernel_time *time)
{
	for (size_t i = 0; i < joining->line_count; i++) {
		uint32_t owner = owner_of(joining, joining->lines[i].file, joining->lines[i].line);
		if (owner != UINT32_MAX && joining->lines[i].line)
			joining->has_own[owner] = true;
	}
	for (size_t i = 0; i < time->line_count; i++)
		add_line(joining, &time->lines[i]);
	for (size_t i = 0; i < time->code_count; i++)
		add_code(joining, &time->codes[i]);
}

int tare_blocks_timed_make(const struct tare_blocks_kernel *kernel,
                           const struct tare_blocks_kernel_time *time,
                           const struct tare_blocks_line *lines, size_t line_count,
                           struct tare_blocks_timed *timed)
{
	uint32_t blocks = kernel->build->module.block_count;

	bool lines_met = time && time->line_count, parts = kernel->build->parts > 0;
	*timed =
	    (struct tare_blocks_timed){ .known = lines_met && !parts, .parts = lines_met && parts };
	if (!timed->known)
		return 0;
	timed->lines = calloc(line_count + 1, sizeof *timed->lines);
	timed->least = calloc((size_t)blocks + 1, sizeof *timed->least);
	timed->most = calloc((size_t)blocks + 1, sizeof *timed->most);
	bool *has_own = calloc((size_t)blocks + 1, sizeof *has_own);
	bool *may = calloc((size_t)blocks + 1, sizeof *may);
	const struct joining joining = { kernel, lines, line_count, timed, has_own, may };
	bool well = timed->lines && timed->least && timed->most && has_own && may;
	if (well)
		join(&joining, time);
	free(has_own);
	free(may);
	return well ? 0 : -ENOMEM;
}

void tare_blocks_timed_free(struct tare_blocks_timed *timed)
{
	free(timed->lines);
	free(timed->least);
	free(timed->most);
	*timed = (struct tare_blocks_timed){ .known = false };
}
