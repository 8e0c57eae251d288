// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/listed.h"

#include "blocks/module/classify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Of all files that are read for a report.
#define MOST_BYTES ((size_t)16 << 20)

// ---- instructions

struct gathering {
	struct tare_blocks_listed *code;
	struct tare_blocks_listed_block *block; // NULL: they are only counted
	size_t count;
};

static void gather(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct gathering *gathering = context;
	const struct tare_blocks_module *module = &gathering->code->build->module;

	if (tare_blocks_is_silent(module, at))
		return;
	if (gathering->block)
		gathering->block->at[gathering->block->count++] =
		    (struct tare_blocks_listed_row){ at, file, line };
	gathering->count++;
}

// Those of a module that is text.
static int list_written(const struct tare_blocks_module *module, struct tare_blocks_listed *code)
{
	code->blocks = calloc((size_t)module->block_count + 1, sizeof *code->blocks);
	code->rows = calloc(module->written_count + 1, sizeof *code->rows);
	if (!code->blocks || !code->rows)
		return -ENOMEM;
	struct tare_blocks_listed_row *next = code->rows;
	const struct tare_blocks_written *written = module->written;
	size_t listed = 0;
	for (uint32_t i = 0; i < module->block_count; i++) {
		struct tare_blocks_listed_block *block = &code->blocks[i];
		*block = (struct tare_blocks_listed_block){ code->build, next, 0, code->words };
		for (; listed < module->written_count && written[listed].block == i;
		     listed++, block->count++)
			*next++ = (struct tare_blocks_listed_row){ written[listed].at,
				                                   written[listed].file,
				                                   written[listed].line };
	}
	return 0;
}

int tare_blocks_listed_make(const struct tare_blocks_build *build, struct tare_blocks_listed *code)
{
	const struct tare_blocks_module *module = &build->module;
	struct gathering all = { .code = code };

	*code = (struct tare_blocks_listed){ .build = build };
	if (!tare_blocks_has_words(module))
		return list_written(module, code);
	for (uint32_t i = 0; i < module->block_count; i++)
		tare_blocks_each(module, i, gather, &all);
	code->blocks = calloc((size_t)module->block_count + 1, sizeof *code->blocks);
	code->rows = calloc(all.count + 1, sizeof *code->rows);
	if (!code->blocks || !code->rows)
		return -ENOMEM;
	struct tare_blocks_listed_row *next = code->rows;
	for (uint32_t i = 0; i < module->block_count; i++) {
		struct tare_blocks_listed_block *block = &code->blocks[i];
		struct gathering one = { code, block, 0 };
		*block = (struct tare_blocks_listed_block){ build, next, 0, code->words };
		tare_blocks_each(module, i, gather, &one);
		next += block->count;
	}
	return 0;
}

void tare_blocks_listed_free(struct tare_blocks_listed *code)
{
	free(code->blocks);
	free(code->rows);
}

// An instruction of a text in one line, with a blank for each gap.
static void write_written(const char *from, char *text, size_t size)
{
	size_t used = 0;

	for (; *from && *from != ';' && used + 1 < size; from++) {
		bool blank = strchr(" \t\r\n", *from) != NULL;
		if (!blank)
			text[used++] = *from;
		else if (used && text[used - 1] != ' ')
			text[used++] = ' ';
	}
	text[used] = '\0';
}

const char *tare_blocks_listed_text(const struct tare_blocks_listed_block *block,
                                    const struct tare_blocks_listed_row *row)
{
	const struct tare_blocks_module *module = &block->build->module;

	if (tare_blocks_has_words(module))
		return tare_blocks_disassemble(module, row->at, block->words,
		                               TARE_BLOCKS_INSTRUCTION_TEXT);
	write_written(module->text ? module->text + row->at : "", block->words,
	              TARE_BLOCKS_INSTRUCTION_TEXT);
	return block->words;
}

// ---- texts

static struct tare_blocks_text *find(const struct tare_blocks_texts *texts,
                                     const struct tare_blocks_build *build, const char *file)
{
	for (size_t i = 0; i < texts->count; i++)
		if (texts->at[i].build == build && strcmp(texts->at[i].file, file) == 0)
			return &texts->at[i];
	return NULL;
}

static int split(const char *text, struct tare_text_list *lines)
{
	int status = 0;

	while (*text && status == 0) {
		size_t length = strcspn(text, "\n");
		status =
		    tare_text_list_add(lines, text, length - (length && text[length - 1] == '\r'));
		text += length + (text[length] == '\n');
	}
	return status;
}

// The file as it is now. 0, also where it cannot be read, or -ENOMEM.
static int read_file(struct tare_blocks_texts *texts, struct tare_blocks_text *text)
{
	struct stat is;
	size_t bytes;

	// A pipe would be waited for.
	if (stat(text->file, &is) != 0 || !S_ISREG(is.st_mode) ||
	    (uint64_t)is.st_size > MOST_BYTES - texts->bytes)
		return 0;
	char *read = tare_blocks_file_read(text->file, &bytes);
	if (!read)
		return errno == ENOMEM ? -ENOMEM : 0;
	texts->bytes += bytes < MOST_BYTES - texts->bytes ? bytes : MOST_BYTES - texts->bytes;
	text->from = TARE_BLOCKS_SOURCE_FILE;
	int status = split(read, &text->lines);
	free(read);
	return status;
}

static int add(struct tare_blocks_texts *texts, const struct tare_blocks_build *build,
               const char *file)
{
	const struct tare_blocks_source *source = tare_blocks_sources_find(&build->sources, file);
	struct tare_blocks_text *at;

	if ((!source && !file[0]) || find(texts, build, source ? source->file : file))
		return 0;
	at = realloc(texts->at, (texts->count + 1) * sizeof *at);
	if (!at)
		return -ENOMEM;
	texts->at = at;
	struct tare_blocks_text *text = &at[texts->count++];
	*text = (struct tare_blocks_text){ .build = build,
		                           .file = source ? source->file : file,
		                           .label = source ? source->label : file,
		                           .from = source ? TARE_BLOCKS_SOURCE_BUILD
		                                          : TARE_BLOCKS_SOURCE_NONE };
	return source ? split(source->text, &text->lines) : read_file(texts, text);
}

int tare_blocks_texts_add(const struct tare_blocks_kernel *kernel,
                          const struct tare_blocks_line *lines, size_t count,
                          struct tare_blocks_texts *texts)
{
	const struct tare_blocks_build *build = kernel->build;
	int status = 0;

	// A build's only source is known where its lines are not.
	if (build->sources.count == 1)
		status = add(texts, build, build->sources.at[0].file);
	for (size_t i = 0; i < count && status == 0; i++)
		if (lines[i].line)
			status =
			    add(texts, build, tare_blocks_file_name(&build->module, lines[i].file));
	return status;
}

void tare_blocks_texts_free(struct tare_blocks_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		tare_text_list_free(&texts->at[i].lines);
	free(texts->at);
	*texts = (struct tare_blocks_texts){ .count = 0 };
}

const struct tare_blocks_text *tare_blocks_texts_find(const struct tare_blocks_texts *texts,
                                                      const struct tare_blocks_build *build,
                                                      uint32_t file)
{
	const char *name = tare_blocks_file_name(&build->module, file);
	const struct tare_blocks_source *source = tare_blocks_sources_find(&build->sources, name);

	return find(texts, build, source ? source->file : name);
}
