// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/timed.h"

#include "base/path.h"
#include "blocks/report/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Whether the module's file is the one in which samples were met. Headers lie at other paths for
// the driver's compiler than for ours; those that are programs have our names.
static bool is_file(const struct tare_blocks_build *build, uint32_t file, const char *met)
{
	const char *name = tare_path_name(tare_blocks_file_name(&build->module, file));
	const char *label = tare_blocks_label(build, file);

	if (!met[0])
		return strcmp(name, build->source) == 0;
	return strcmp(name, tare_path_name(met)) == 0 ||
	       (label[0] && strcmp(tare_path_name(label), tare_path_name(met)) == 0);
}

// What is joined, and what of it every step needs.
struct joining {
	const struct tare_blocks_kernel *kernel;
	const struct tare_blocks_line *lines;
	size_t line_count;
	struct tare_blocks_timed *timed;
	const struct tare_blocks_line **sorted; // the lines, by their places
	uint32_t *owners;                       // of each line: the one block that ran and has it
	uint32_t *files;                        // that lines are in, each once
	size_t file_count;
	bool *has_own; // of each block: a line of it is in no other one that ran
	bool *may;     // of each block: samples may be of it
	size_t *met;   // of each line of the code that is joined: which of the lines it is
};

#define NOBODY UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)
#define NO_LINE SIZE_MAX

// ---- files and lines

static void collect_files(struct joining *joining)
{
	for (size_t i = 0; i < joining->line_count; i++) {
		size_t at = 0;
		while (at < joining->file_count && joining->files[at] != joining->lines[i].file)
			at++;
		if (joining->lines[i].line && at == joining->file_count)
			joining->files[joining->file_count++] = joining->lines[i].file;
	}
}

// Which of the module's files it is; UINT32_MAX: none, or more than one.
static uint32_t file_of(const struct joining *joining, const char *met)
{
	uint32_t found = UINT32_MAX;

	for (size_t i = 0; i < joining->file_count; i++) {
		if (!is_file(joining->kernel->build, joining->files[i], met))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = joining->files[i];
	}
	return found;
}

static int by_place(const void *left, const void *right)
{
	const struct tare_blocks_line *const *a = left, *const *b = right;

	if ((*a)->file != (*b)->file)
		return (*a)->file < (*b)->file ? -1 : 1;
	return ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

// Which of the lines it is.
static size_t line_at(const struct joining *joining, uint32_t file, uint32_t line)
{
	const struct tare_blocks_line place = { .file = file, .line = line }, *key = &place;
	const struct tare_blocks_line **found =
	    bsearch(&key, joining->sorted, joining->line_count, sizeof *found, by_place);

	return found ? (size_t)(*found - joining->lines) : NO_LINE;
}

static size_t met_line(const struct joining *joining, const struct tare_blocks_line_time *met)
{
	return line_at(joining, file_of(joining, met->file), met->line);
}

static void find_owners(struct joining *joining)
{
	const struct tare_blocks_module *module = &joining->kernel->build->module;

	for (size_t i = 0; i < joining->line_count; i++)
		joining->owners[i] = NOBODY;
	for (uint32_t i = 0; i < module->block_count; i++)
		for (uint32_t k = 0; joining->kernel->executions[i] && k < module->blocks[i].pieces;
		     k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[module->blocks[i].first_piece + k];
			size_t at = line_at(joining, piece->file, piece->line);
			if (at == NO_LINE || joining->owners[at] == i)
				continue;
			joining->owners[at] = joining->owners[at] == NOBODY ? i : SEVERAL;
		}
	for (size_t i = 0; i < joining->line_count; i++)
		if (joining->owners[i] < SEVERAL && joining->lines[i].line)
			joining->has_own[joining->owners[i]] = true;
}

// ---- samples

static bool ran_with(const struct joining *joining, uint32_t block, size_t at)
{
	const struct tare_blocks_module *module = &joining->kernel->build->module;
	const struct tare_blocks_block *of = &module->blocks[block];

	if (at == NO_LINE || !joining->kernel->executions[block])
		return false;
	for (uint32_t i = 0; i < of->pieces; i++)
		if (module->pieces[of->first_piece + i].file == joining->lines[at].file &&
		    module->pieces[of->first_piece + i].line == joining->lines[at].line)
			return true;
	return false;
}

static void add_line(const struct joining *joining, const struct tare_blocks_line_time *met)
{
	size_t at = met_line(joining, met);

	if (at == NO_LINE) {
		joining->timed->elsewhere += met->samples;
		return;
	}
	joining->timed->lines[at] += met->samples;
	joining->timed->counted += met->samples;
}

// The block that alone has lines of its own in a block of code.
static uint32_t only_owner(const struct joining *joining, const struct tare_blocks_code_time *code)
{
	uint32_t only = NOBODY;

	for (size_t i = 0; i < code->line_count; i++) {
		uint32_t owner =
		    joining->met[i] == NO_LINE ? NOBODY : joining->owners[joining->met[i]];
		if (owner >= SEVERAL || owner == only)
			continue;
		if (only != NOBODY)
			return SEVERAL;
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

// Which blocks the code's lines from one on may be of, `owner` being who alone has lines of its own
// in the code.
static void mark(const struct joining *joining, uint32_t owner, size_t from, size_t count)
{
	for (uint32_t i = 0; i < joining->kernel->build->module.block_count; i++) {
		joining->may[i] = false;
		if (owner < SEVERAL && !can_share(joining, i, owner))
			continue;
		for (size_t k = from; k < from + count && !joining->may[i]; k++)
			joining->may[i] = ran_with(joining, i, joining->met[k]);
	}
}

static void add_code(const struct joining *joining, const struct tare_blocks_code_time *code)
{
	for (size_t i = 0; i < code->line_count; i++)
		joining->met[i] = met_line(joining, &code->lines[i]);
	uint32_t owner = only_owner(joining, code);
	for (size_t i = 0; i < code->line_count; i++) {
		if (!code->lines[i].samples)
			continue;
		mark(joining, owner, i, 1);
		add_samples(joining, code->lines[i].samples);
	}
	if (code->no_line) {
		mark(joining, owner, 0, code->line_count);
		add_samples(joining, code->no_line);
	}
}

static void join(struct joining *joining, const struct tare_blocks_kernel_time *time)
{
	for (size_t i = 0; i < joining->line_count; i++)
		joining->sorted[i] = &joining->lines[i];
	if (joining->line_count)
		qsort(joining->sorted, joining->line_count, sizeof *joining->sorted, by_place);
	collect_files(joining);
	find_owners(joining);
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
	size_t most = 0;
	for (size_t i = 0; i < time->code_count; i++)
		most = time->codes[i].line_count > most ? time->codes[i].line_count : most;
	struct joining joining = { .kernel = kernel,
		                   .lines = lines,
		                   .line_count = line_count,
		                   .timed = timed,
		                   .sorted = calloc(line_count + 1, sizeof *joining.sorted),
		                   .owners = calloc(line_count + 1, sizeof *joining.owners),
		                   .files = calloc(line_count + 1, sizeof *joining.files),
		                   .has_own = calloc((size_t)blocks + 1, sizeof *joining.has_own),
		                   .may = calloc((size_t)blocks + 1, sizeof *joining.may),
		                   .met = calloc(most + 1, sizeof *joining.met) };
	bool well = timed->lines && timed->least && timed->most && joining.sorted &&
	            joining.owners && joining.files && joining.has_own && joining.may &&
	            joining.met;
	if (well)
		join(&joining, time);
	free(joining.sorted);
	free(joining.owners);
	free(joining.files);
	free(joining.has_own);
	free(joining.may);
	free(joining.met);
	return well ? 0 : -ENOMEM;
}

void tare_blocks_timed_free(struct tare_blocks_timed *timed)
{
	free(timed->lines);
	free(timed->least);
	free(timed->most);
	*timed = (struct tare_blocks_timed){ .known = false };
}
