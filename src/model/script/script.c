// SPDX-License-Identifier: Apache-2.0
#include "model/script/script.h"

#include "base/cleanup.h"
#include "model/script/script_table.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define FILE_BYTES (UINT64_C(1) << 20)
#define HEADER "tare-device"

enum tare_flow tare_flow_of_copy(enum tare_place from, enum tare_place to)
{
	bool device_from = from == TARE_PLACE_DEVICE || from == TARE_PLACE_SHARED;
	bool device_to = to == TARE_PLACE_DEVICE || to == TARE_PLACE_SHARED;

	if (device_from && device_to)
		return TARE_FLOW_LOCAL;
	return device_to ? TARE_FLOW_TO_DEVICE : TARE_FLOW_TO_HOST;
}

// Cuts a line into words; "..." makes one word, # outside quotes begins a comment.
static int split(struct tare_script_reader *reader, char *line)
{
	char *at = line;

	reader->count = 0;
	while (true) {
		at += strspn(at, " \t\r");
		if (!*at || *at == '#')
			return 0;
		if (reader->count == TARE_SCRIPT_WORDS)
			return tare_script_fail(&reader->place, "the line has more than %d words",
			                        TARE_SCRIPT_WORDS);
		bool quoted = *at == '"';
		char *word = at + quoted;
		char *end = word + (quoted ? strcspn(word, "\"") : strcspn(word, " \t\r#\""));
		if (quoted && !*end)
			return tare_script_fail(&reader->place, "a quote is not closed");
		reader->words[reader->count] = word;
		reader->quoted[reader->count++] = quoted;
		at = end + (*end == '"' || *end == ' ' || *end == '\t' || *end == '\r');
		if (*end == '#') {
			*end = '\0';
			return 0;
		}
		if (!quoted && *end == '"')
			return tare_script_fail(&reader->place,
			                        "a quote begins in the middle of a word");
		if (*end)
			*end = '\0';
	}
}

static const struct tare_script_statement *find_statement(const char *name, size_t *index)
{
	for (size_t i = 0; i < tare_script_statement_count; i++)
		if (strcmp(tare_script_statements[i].name, name) == 0) {
			*index = i;
			return &tare_script_statements[i];
		}
	return NULL;
}

static int unknown_key(struct tare_script_reader *reader,
                       const struct tare_script_statement *statement, const char *key)
{
	const char *names[32] = { NULL };
	char list[256];

	for (size_t i = 0; i < 31 && statement->fields[i].name; i++)
		names[i] = statement->fields[i].name;
	return tare_script_fail(&reader->place, "'%.40s' does not belong in '%s'; it takes %s", key,
	                        statement->name, tare_word_list(names, list, sizeof list));
}

// Reads the `key value [unit]` pairs from words[first] on.
static int read_fields(struct tare_script_reader *reader,
                       const struct tare_script_statement *statement, void *base, size_t first)
{
	const struct tare_script_field *fields = statement->fields;
	uint64_t given = 0;

	for (size_t at = first; at < reader->count;) {
		const char *key = reader->words[at++];
		size_t index = 0;
		while (fields[index].name && strcmp(fields[index].name, key) != 0)
			index++;
		const struct tare_script_field *field = &fields[index];
		if (!field->name)
			return unknown_key(reader, statement, key);
		if (given >> index & 1)
			return tare_script_fail(&reader->place, "'%s' is given twice", key);
		given |= UINT64_C(1) << index;
		if (at == reader->count)
			return tare_script_fail(&reader->place, "'%s' lacks its value", key);
		if (reader->quoted[at] != (field->type == TARE_VALUE_TEXT))
			return tare_script_fail(&reader->place,
			                        reader->quoted[at]
			                            ? "the value of '%s' does not go in quotes"
			                            : "the text after '%s' goes in quotes",
			                        key);
		const char *text = reader->words[at++];
		const char *unit = NULL;
		if (tare_value_has_unit(field->type) && at < reader->count)
			unit = reader->words[at++];
		int status = tare_value_read(&reader->place, field, text, unit, base);
		if (status < 0)
			return status;
	}
	for (size_t i = 0; fields[i].name; i++)
		if (fields[i].required && !(given >> i & 1))
			return tare_script_fail(&reader->place, "'%s' lacks '%s'", statement->name,
			                        fields[i].name);
	return 0;
}

static int read_statement(struct tare_script_reader *reader)
{
	size_t index = 0, used = 1;
	const struct tare_script_statement *statement = find_statement(reader->words[0], &index);
	int status = 0;

	if (!statement)
		return tare_script_fail(
		    &reader->place,
		    "'%.40s' is not a statement of a device script; the statements are "
		    "listed in docs/simulated-device.md",
		    reader->words[0]);
	if (!statement->repeats && reader->seen[index])
		return tare_script_fail(&reader->place, "'%s' was already given in line %u",
		                        statement->name, reader->seen[index]);
	reader->seen[index] = reader->place.line;
	void *base = (char *)reader->script + statement->offset;
	if (statement->begin)
		status = statement->begin(reader, &base, &used);
	if (status < 0)
		return status;
	if (base && statement->fields) {
		status = read_fields(reader, statement, base, used);
		return status == 0 && statement->end ? statement->end(reader, base) : status;
	}
	if (reader->count > used)
		return tare_script_fail(&reader->place, "'%.40s' is too much after '%s %.40s'",
		                        reader->words[used], statement->name,
		                        used > 1 ? reader->words[used - 1] : "");
	return 0;
}

static int read_header(struct tare_script_reader *reader)
{
	if (strcmp(reader->words[0], HEADER) != 0 || reader->count != 2)
		return tare_script_fail(
		    &reader->place, "this is no device script; its first line is '" HEADER " 1'");
	if (strcmp(reader->words[1], "1") != 0)
		return tare_script_fail(
		    &reader->place, "this script has version '%.20s'; this tare reads version 1",
		    reader->words[1]);
	return 0;
}

static unsigned seen(const struct tare_script_reader *reader, const char *name)
{
	size_t index = 0;
	find_statement(name, &index);
	return reader->seen[index];
}

static int need_engine(struct tare_script_reader *reader, enum tare_flow flow, unsigned line)
{
	for (size_t i = 0; i < reader->script->engine_count; i++)
		if (reader->script->engines[i].flows >> flow & 1)
			return 0;
	reader->place.line = line;
	return tare_script_fail(&reader->place, "no engine runs %s, which this line needs",
	                        tare_flow_name(flow));
}

// What must hold across lines.
static int check_whole(struct tare_script_reader *reader)
{
	struct tare_script *script = reader->script;
	static const char *const needed[] = { "device", "timer", "engine" };

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!seen(reader, needed[i]))
			return tare_script_fail(&reader->place, "the script ends without '%s'",
			                        needed[i]);
	if (!script->engines[0].compute)
		return tare_script_fail(&reader->place,
		                        "the first engine must be the compute engine");
	for (int from = 0; from < TARE_PLACE_COUNT; from++)
		for (int to = 0; to < TARE_PLACE_COUNT; to++) {
			unsigned line = script->copies[from][to].line;
			if (line && need_engine(reader,
			                        tare_flow_of_copy((enum tare_place)from,
			                                          (enum tare_place)to),
			                        line) < 0)
				return -EINVAL;
		}
	if (script->kernel_count &&
	    need_engine(reader, TARE_FLOW_KERNEL, script->kernels[0].line) < 0)
		return -EINVAL;
	struct {
		struct tare_script_transfer *transfer;
		const char *name;
		enum tare_flow flow;
	} rows[] = {
		{ &script->fill, "fill", TARE_FLOW_LOCAL },
		{ &script->map, "map", TARE_FLOW_TO_HOST },
		{ &script->unmap, "unmap", TARE_FLOW_TO_DEVICE },
		{ &script->marker, "marker", TARE_FLOW_NONE },
		{ &script->call, "call", TARE_FLOW_NONE },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		rows[i].transfer->line = seen(reader, rows[i].name);
		if (rows[i].transfer->line && rows[i].flow != TARE_FLOW_NONE &&
		    need_engine(reader, rows[i].flow, rows[i].transfer->line) < 0)
			return -EINVAL;
	}
	script->touch.line = seen(reader, "touch");
	script->migrate.line = seen(reader, "migrate");
	script->telemetry.line = seen(reader, "telemetry");
	script->timer.line = seen(reader, "timer");
	script->pair_timer.line = seen(reader, "pair-timer");
	if (!script->pair_timer.line)
		script->pair_timer = script->timer;
	if (!script->device.largest_bytes)
		script->device.largest_bytes = script->device.memory_bytes;
	return 0;
}

static void set_defaults(struct tare_script *script)
{
	memset(script, 0, sizeof *script);
	script->timer.rate = (struct tare_clock_rate){ 0, 1, 64, 1 };
	script->pair_timer.rate = script->timer.rate;
	script->has_pairs = true;
	script->stamps =
	    TARE_STAMPS_QUEUED | TARE_STAMPS_SUBMITTED | TARE_STAMPS_START | TARE_STAMPS_END;
	script->graph.node_ps = -1;
}

struct logical_line {
	char text[LINE_BYTES];
	size_t used;
	unsigned first; // number of the line in which it began
	bool open;      // its last line ended in a backslash
};

// Adds one line of the file.
static int add_line(struct tare_script_reader *reader, struct logical_line *line, unsigned number,
                    const char *text, size_t length)
{
	if (!line->open) {
		line->used = 0;
		line->first = number;
	}
	reader->place.line = number;
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t' && text[i] != '\r') ||
		    text[i] == 0x7f)
			return tare_script_fail(&reader->place, "byte %zu of the line is no text",
			                        i + 1);
	while (length &&
	       (text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r'))
		length--;
	line->open = length && text[length - 1] == '\\';
	length -= line->open;
	if (length + line->used + 2 > sizeof line->text)
		return tare_script_fail(&reader->place, "the line is longer than %d bytes",
		                        LINE_BYTES - 2);
	memcpy(line->text + line->used, text, length);
	line->used += length;
	if (line->open)
		line->text[line->used++] = ' ';
	line->text[line->used] = '\0';
	return 0;
}

static int read_line(struct tare_script_reader *reader, struct logical_line *line, bool *header)
{
	reader->place.line = line->first;
	const char *first = line->text + strspn(line->text, " \t\r");
	if (!*header && *first && *first != '#' && strncmp(first, HEADER, strlen(HEADER)) != 0)
		return tare_script_fail(
		    &reader->place, "this is no device script; its first line is '" HEADER " 1'");
	int status = split(reader, line->text);
	if (status < 0 || reader->count == 0)
		return status;
	if (!*header) {
		*header = true;
		return read_header(reader);
	}
	return read_statement(reader);
}

int tare_script_parse(const char *text, size_t bytes, const char *name, struct tare_script *script,
                      struct tare_error *error)
{
	struct tare_script_reader reader = { .script = script,
		                             .place = { .name = name, .line = 1, .error = error } };
	struct logical_line line = { .open = false };
	unsigned number = 0;
	bool header = false;

	set_defaults(script);
	for (size_t at = 0; at < bytes;) {
		const char *newline = memchr(text + at, '\n', bytes - at);
		size_t length = newline ? (size_t)(newline - text) - at : bytes - at;
		int status = add_line(&reader, &line, ++number, text + at, length);
		if (status == 0 && !line.open)
			status = read_line(&reader, &line, &header);
		if (status < 0)
			return status;
		at += length + 1;
	}
	if (line.open)
		return tare_script_fail(&reader.place,
		                        "the script ends after a \\ that promises more");
	if (!header)
		return tare_script_fail(&reader.place,
		                        "the script is empty; its first line is '" HEADER " 1'");
	return check_whole(&reader);
}

// A pipe that nobody writes to is empty; fopen would wait for a writer.
static FILE *open_script(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return NULL;
	FILE *file = fcntl(descriptor, F_SETFL, 0) == 0 ? fdopen(descriptor, "rb") : NULL;
	if (!file)
		close(descriptor);
	return file;
}

int tare_script_read(const char *path, struct tare_script *script, struct tare_error *error)
{
	TARE_FCLOSE FILE *file = open_script(path);
	if (!file)
		return tare_fail(error, errno, "cannot open the device script %.200s: %s", path,
		                 strerror(errno));
	TARE_FREE char *text = malloc(FILE_BYTES + 1);
	if (!text)
		return tare_fail(error, ENOMEM, "out of memory");
	size_t bytes = fread(text, 1, FILE_BYTES + 1, file);
	if (ferror(file))
		return tare_fail(error, errno ? errno : EIO,
		                 "cannot read the device script %.200s: %s", path, strerror(errno));
	if (bytes > FILE_BYTES)
		return tare_fail(error, EINVAL, "%.200s is larger than 1 MiB: no device script",
		                 path);
	const char *slash = strrchr(path, '/');
	return tare_script_parse(text, bytes, slash ? slash + 1 : path, script, error);
}
