// SPDX-License-Identifier: Apache-2.0
// record.json: what `tare record` says of the run. It may be missing, cut, or anything at all.
#include "analysis/recording/internal.h"
#include "tare_config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if TARE_HAVE_JSON
#include <jansson.h>

#define MOST_PROGRAM_BYTES 8192

// A whole number that can be a time; otherwise TARE_NO_TIME.
static int64_t time_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	int64_t ns = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;

	return ns >= 0 && ns == loading_cut(ns) ? ns : TARE_NO_TIME;
}

static void append(char *text, size_t room, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, room - length, "%s", more);
}

// An argument as a shell would have to be given it.
static void append_argument(char *text, size_t room, const char *argument)
{
	bool plain = *argument && !argument[strcspn(argument, " \t\n\"'\\$*?;&|<>()`~#")];

	if (*text)
		append(text, room, " ");
	if (plain) {
		append(text, room, argument);
		return;
	}
	append(text, room, "'");
	for (const char *at = argument; *at;) {
		char part[64];
		size_t length = strcspn(at, "'");
		length = length < sizeof part - 1 ? length : sizeof part - 1;
		memcpy(part, at, length);
		part[length] = '\0';
		append(text, room, part);
		at += length;
		if (*at == '\'') {
			append(text, room, "'\\''");
			at++;
		}
	}
	append(text, room, "'");
}

static void read_program(struct loading *l, const json_t *program)
{
	char text[MOST_PROGRAM_BYTES] = "";

	if (json_is_string(program))
		append(text, sizeof text, json_string_value(program));
	for (size_t i = 0; i < json_array_size(program); i++) {
		const char *argument = json_string_value(json_array_get(program, i));
		if (!argument || strlen(text) + 1 >= sizeof text)
			break;
		append_argument(text, sizeof text, argument);
	}
	l->recording->program = loading_text(l, text);
}

static void read_end(struct tare_recording *r, const json_t *root, struct load_record *record)
{
	const json_t *status = json_object_get(root, "exit_status");
	const json_t *sig = json_object_get(root, "exit_signal");
	json_int_t number = json_integer_value(status);

	record->end_raw_ns = time_of(root, "end_raw_ns");
	r->complete = record->end_raw_ns != TARE_NO_TIME;
	if (json_is_integer(status) && number >= 0 && number <= 255)
		r->exit_status = (int)number;
	number = json_integer_value(sig);
	if (json_is_integer(sig) && number > 0 && number <= 128)
		r->exit_signal = (int)number;
	r->user_cpu_ns = time_of(root, "user_cpu_ns");
	r->system_cpu_ns = time_of(root, "system_cpu_ns");
}

static void read_others(struct tare_other_uses *others, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *row = json_array_get(list, i);
		const char *library = json_string_value(json_object_get(row, "library"));
		const char *seen = json_string_value(json_object_get(row, "seen"));
		if (library && seen)
			tare_other_note(others, library, strcmp(seen, TARE_OTHER_LOADED) == 0);
	}
}

// The least, the median and the largest of what was measured, in order; else false.
static bool read_three(const json_t *list, int64_t *low_ns, int64_t *ns, int64_t *high_ns)
{
	int64_t *const to[] = { low_ns, ns, high_ns };

	for (size_t i = 0; i < 3; i++) {
		const json_t *value = json_array_get(list, i);
		*to[i] = (int64_t)json_integer_value(value);
		// Recording may seem to have made it faster.
		if (!json_is_integer(value) || *to[i] > INT64_MAX / 4 || *to[i] < -(INT64_MAX / 4))
			return false;
	}
	return json_array_size(list) == 3 && *low_ns <= *ns && *ns <= *high_ns;
}

static void read_comparison(struct tare_recording *r, const json_t *from)
{
	struct tare_recorded_comparison read = { 0 };
	json_int_t pairs = json_integer_value(json_object_get(from, "pairs"));

	read.native_wall_ns = time_of(from, "native_wall_ns");
	if (pairs > 0 && pairs <= 1 << 20 && read.native_wall_ns != TARE_NO_TIME &&
	    read_three(json_object_get(from, "wall_ns"), &read.wall_low_ns, &read.wall_ns,
	               &read.wall_high_ns) &&
	    read_three(json_object_get(from, "cpu_ns"), &read.cpu_low_ns, &read.cpu_ns,
	               &read.cpu_high_ns)) {
		read.pairs = (uint32_t)pairs;
		r->comparison = read;
	}
}

static void read_root(struct loading *l, const json_t *root, struct load_record *record)
{
	struct tare_recording *r = l->recording;
	const json_t *layer = json_object_get(root, "layer");
	const char *state = json_string_value(json_object_get(layer, "state"));
	const char *host = json_string_value(json_object_get(root, "host_name"));
	json_int_t units = json_integer_value(json_object_get(root, "host_units"));

	read_program(l, json_object_get(root, "program"));
	record->start_raw_ns = time_of(root, "start_raw_ns");
	record->start_realtime_ns = time_of(root, "start_realtime_ns");
	read_end(r, root, record);
	if (record->end_raw_ns != TARE_NO_TIME && record->start_raw_ns != TARE_NO_TIME &&
	    record->end_raw_ns < record->start_raw_ns) {
		record->start_raw_ns = record->end_raw_ns = TARE_NO_TIME;
		if (!r->problem)
			r->problem = "record.json says that the run ended before it began";
	}
	if (!state && json_is_string(layer))
		state = json_string_value(layer);
	r->layer = loading_text(l, state);
	read_others(&r->others, json_object_get(root, "other_apis"));
	read_comparison(r, json_object_get(root, "comparison"));
	if (host)
		snprintf(record->host_name, sizeof record->host_name, "%s", host);
	if (units > 0 && units <= 1 << 20)
		r->host_units = (uint32_t)units;
}

void loading_record_json(struct loading *l, const char *text, size_t bytes,
                         struct load_record *record)
{
	struct tare_recording *r = l->recording;
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(root)) {
		read_root(l, root, record);
	} else if (!r->problem) {
		char problem[JSON_ERROR_TEXT_LENGTH + 80];
		snprintf(problem, sizeof problem, "record.json cannot be read (%s)",
		         root ? "it is no object" : error.text);
		for (char *at = problem; *at; at++)
			if ((unsigned char)*at < ' ' || *at == 0x7f)
				*at = ' ';
		r->problem = loading_text(l, problem);
	}
	json_decref(root);
}
#else
void loading_record_json(struct loading *l, const char *text, size_t bytes,
                         struct load_record *record)
{
	(void)text;
	(void)bytes;
	(void)record;
	if (!l->recording->problem)
		l->recording->problem =
		    "record.json was not read: this tare was built without JSON";
}
#endif

char *loading_read_record(const char *directory, size_t *bytes)
{
	const off_t most = 4 << 20;
	char path[4096];
	struct stat status;
	char *text = NULL;
	ssize_t length;
	int file;

	if (snprintf(path, sizeof path, "%s/record.json", directory) >= (int)sizeof path)
		return NULL;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return NULL;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size <= most)
		text = malloc((size_t)status.st_size + 1);
	length = text ? read(file, text, (size_t)status.st_size) : -1;
	close(file);
	if (length < 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	*bytes = (size_t)length;
	return text;
}
