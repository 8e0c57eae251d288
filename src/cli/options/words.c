// SPDX-License-Identifier: Apache-2.0
#include "cli/options/words.h"

#include "base/cleanup.h"
#include "cli/options/suggest.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "record/loader/layer.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	const char *separator;
	FILE *file;
	bool begun;
};

static void put(struct writer *writer, const char *word)
{
	fprintf(writer->file, "%s%s", writer->begun ? writer->separator : "", word);
	writer->begun = true;
}

// The lines of bandwidth, then their groups, which stand together in the table.
static void put_lines(struct writer *writer)
{
	for (size_t i = 0; i < TARE_LINE_COUNT; i++)
		put(writer, tare_lines[i].name);
	for (size_t i = 0; i < TARE_LINE_COUNT; i++)
		if (i == 0 || strcmp(tare_lines[i].group, tare_lines[i - 1].group) != 0)
			put(writer, tare_lines[i].group);
}

void tare_words_write(enum tare_words words, const char *separator, FILE *file)
{
	struct writer writer = { .separator = separator, .file = file };

	switch (words) {
	case TARE_WORDS_ANY:
		break;
	case TARE_WORDS_LINES:
		put_lines(&writer);
		put(&writer, "all");
		break;
	case TARE_WORDS_RUNGS:
		for (int i = 0; i < TARE_RUNG_COUNT; i++)
			put(&writer, tare_rung_name((enum tare_rung)i));
		put(&writer, "all");
		break;
	case TARE_WORDS_BREAKS:
		for (int i = TARE_BREAK_NONE + 1; i < TARE_BREAK_COUNT; i++)
			put(&writer, tare_break_name((enum tare_break)i));
		put(&writer, "all");
		put(&writer, "none");
		break;
	case TARE_WORDS_LOOPS:
		for (int i = 0; i < TARE_LOOP_COUNT; i++)
			put(&writer, tare_loop_name((enum tare_loop)i));
		break;
	case TARE_WORDS_PEAKS:
		put(&writer, "none");
		break;
	case TARE_WORDS_KEEP:
		put(&writer, "newest");
		put(&writer, "oldest");
		break;
	case TARE_WORDS_TIMES:
		for (int i = TARE_TIMES_SAMPLED; i <= TARE_TIMES_NONE; i++)
			put(&writer, tare_record_times_name((enum tare_record_times)i));
		break;
	}
}

bool tare_words_are_list(enum tare_words words)
{
	return words == TARE_WORDS_LINES || words == TARE_WORDS_RUNGS || words == TARE_WORDS_BREAKS;
}

bool tare_words_or_file(enum tare_words words)
{
	return words == TARE_WORDS_PEAKS;
}

static enum tare_words words_of(const struct tare_command *command, const char *name)
{
	const struct tare_option *option;

	for (size_t i = 0; (option = tare_command_option(command, i)); i++)
		if (strcmp(option->name, name) == 0)
			return option->words;
	return TARE_WORDS_ANY;
}

// The nearest of the words in `list`, separated by commas, which it cuts up; NULL: none, or it is
// itself one of them.
static const char *nearest(const char *wanted, char *list)
{
	struct tare_suggestion suggestion = { .wanted = wanted };
	char *word;

	while ((word = strsep(&list, ",")))
		tare_suggestion_offer(&suggestion, word);
	return suggestion.nearest && strcmp(suggestion.nearest, wanted) != 0 ? suggestion.nearest
	                                                                     : NULL;
}

static char *list_of(enum tare_words words)
{
	char *list = NULL;
	size_t size;
	FILE *file = open_memstream(&list, &size);

	if (!file)
		return NULL;
	tare_words_write(words, ",", file);
	if (fclose(file) == 0)
		return list;
	free(list);
	return NULL;
}

int tare_words_refuse(const struct tare_command *command, const char *option, const char *text,
                      struct tare_error *error)
{
	char word[64];

	for (size_t length; *text; text += length + (text[length] == ',')) {
		TARE_FREE char *list = list_of(words_of(command, option));
		const char *meant;
		length = strcspn(text, ",");
		snprintf(word, sizeof word, "%.*s", (int)length, text);
		meant = list ? nearest(word, list) : NULL;
		if (meant)
			return tare_usage(error, "--%s: there is no '%s'; did you mean '%s'?",
			                  option, word, meant);
	}
	tare_error_prefix(error, "--%s", option);
	return TARE_EXIT_USAGE;
}
