// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "trace/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 65536, MOST_RECORD_JSON = 4 << 20 };
static const char ending[] = ".trace";

void tare_trace_say(struct tare_trace_source *source, const char *format, ...)
{
	va_list arguments;
	int length;

	if (source->problem[0])
		return;
	length = snprintf(source->problem, sizeof source->problem, "%.255s ", source->name);
	va_start(arguments, format);
	vsnprintf(source->problem + length, sizeof source->problem - (size_t)length, format,
	          arguments);
	va_end(arguments);
}

ssize_t tare_trace_pread(int file, void *buffer, size_t bytes, uint64_t offset)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t got;
		if (offset + have > INT64_MAX)
			break;
		got = pread(file, (char *)buffer + have, bytes - have, (off_t)(offset + have));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

static int fail(char *message, size_t message_bytes, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(char *message, size_t message_bytes, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (message_bytes)
		vsnprintf(message, message_bytes, format, arguments);
	va_end(arguments);
	return -code;
}

// ---- one file

static void free_source(struct tare_trace_source *source)
{
	if (!source)
		return;
	tare_trace_texts_free(&source->texts);
	tare_trace_map_free(&source->map);
	free(source->readings);
	free(source->places);
	free(source->order);
	free(source->path);
	free(source);
}

static struct tare_trace_source *new_source(const char *folder, const char *name)
{
	struct tare_trace_source *source = calloc(1, sizeof *source);

	if (!source)
		return NULL;
	if (folder ? asprintf(&source->path, "%s/%s", folder, name) < 0
	           : !(source->path = strdup(name))) {
		source->path = NULL;
		free_source(source);
		return NULL;
	}
	source->name = strrchr(source->path, '/');
	source->name = source->name ? source->name + 1 : source->path;
	return source;
}

// Never waits for a writer of a FIFO, and has no terminal.
static int open_file(const char *path, struct stat *status)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return -errno;
	if (fstat(file, status) < 0) {
		int failure = errno;
		close(file);
		return -failure;
	}
	return file;
}

int tare_trace_reopen(const struct tare_trace_source *source)
{
	struct stat status;
	int file = open_file(source->path, &status);

	if (file < 0)
		return file;
	if (status.st_dev != source->device || status.st_ino != source->inode) {
		close(file);
		return -ESTALE;
	}
	return file;
}

static int read_open_file(struct tare_trace_source *source, int file, const struct stat *status)
{
	int result;

	if (!S_ISREG(status->st_mode)) {
		tare_trace_say(source, "is no regular file");
		return -ENODATA;
	}
	source->device = status->st_dev;
	source->inode = status->st_ino;
	source->open.bytes = (uint64_t)status->st_size;
	result = tare_trace_read_header(source, file, source->open.bytes);
	if (result)
		return result;
	result = tare_trace_scan(source, file);
	if (result && result != -ENOMEM) {
		tare_trace_say(source, "cannot be read: %s", strerror(-result));
		return -ENODATA;
	}
	return result;
}

// Reads headers, clocks and texts of a file. Returns 0, -ENOMEM, or why it is left out, with the
// sentence in source->problem.
static int read_source(struct tare_trace_source *source)
{
	struct stat status;
	int file = open_file(source->path, &status);
	int result;

	if (file < 0) {
		tare_trace_say(source, "cannot be opened: %s", strerror(-file));
		return -ENODATA;
	}
	result = read_open_file(source, file, &status);
	close(file);
	source->open.name = source->name;
	source->open.header = &source->header;
	return result;
}

// Takes the source over.
static int add_source(struct tare_trace *trace, struct tare_trace_source *source)
{
	int status = source ? read_source(source) : -ENOMEM;

	if (!status && !TARE_ROOM_FOR(trace->sources, trace->room, trace->count))
		status = -ENOMEM;
	if (!status) {
		trace->sources[trace->count++] = source;
		return 0;
	}
	if (status != -ENOMEM) {
		trace->newer += status == -EPROTO;
		if (trace->left_out++ == 0)
			memcpy(trace->first_left_out, source->problem,
			       sizeof trace->first_left_out);
		status = 0;
	}
	free_source(source);
	return status;
}

// ---- the folder

static int is_trace_name(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > sizeof ending - 1 &&
	       strcmp(entry->d_name + length - (sizeof ending - 1), ending) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_record_json(struct tare_trace *trace, const char *folder)
{
	struct tare_trace_source *source = new_source(folder, "record.json");
	struct stat status;
	ssize_t have = -1;
	int file;

	if (!source)
		return -ENOMEM;
	file = open_file(source->path, &status);
	free_source(source);
	if (file < 0)
		return 0;
	if (S_ISREG(status.st_mode) && status.st_size <= MOST_RECORD_JSON) {
		trace->record_json = malloc((size_t)status.st_size + 1);
		if (!trace->record_json) {
			close(file);
			return -ENOMEM;
		}
		have = tare_trace_pread(file, trace->record_json, (size_t)status.st_size, 0);
	}
	close(file);
	if (have < 0) {
		free(trace->record_json);
		trace->record_json = NULL;
		snprintf(trace->problem, sizeof trace->problem,
		         "record.json cannot be read, or is no regular file of at most %d bytes",
		         MOST_RECORD_JSON);
		return 0;
	}
	trace->record_json[have] = '\0';
	trace->record_json_bytes = (size_t)have;
	return 0;
}

static int read_folder(struct tare_trace *trace, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_trace_name, by_name);
	int status = count < 0 ? -errno : 0;

	for (int i = 0; i < count; i++) {
		if (!status && i < MOST_FILES)
			status = add_source(trace, new_source(folder, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	if (count > MOST_FILES)
		snprintf(trace->problem, sizeof trace->problem,
		         "there are %d trace files; those after the first %d were left out", count,
		         MOST_FILES);
	return status ? status : read_record_json(trace, folder);
}

static void tell_left_out(struct tare_trace *trace)
{
	size_t files = trace->count + trace->left_out;

	if (trace->left_out && !trace->problem[0])
		snprintf(trace->problem, sizeof trace->problem,
		         "%zu of %zu trace file%s left out; %s", trace->left_out, files,
		         files == 1 ? " was" : "s were", trace->first_left_out);
}

static int read_path(struct tare_trace *trace, const char *path, char *message,
                     size_t message_bytes)
{
	struct stat status;
	int result;

	if (stat(path, &status) < 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? fail(message, message_bytes, ENOENT, "there is no trace '%s'", path)
		           : fail(message, message_bytes, errno, "cannot open '%s': %s", path,
		                  strerror(errno));
	result = S_ISDIR(status.st_mode) ? read_folder(trace, path)
	                                 : add_source(trace, new_source(NULL, path));
	if (result)
		return fail(message, message_bytes, -result, "cannot read the trace '%s': %s", path,
		            strerror(-result));
	if (trace->count)
		return 0;
	if (trace->newer && trace->newer == trace->left_out)
		return fail(message, message_bytes, EPROTO, "%s", trace->first_left_out);
	if (S_ISDIR(status.st_mode) && trace->record_json)
		return 0;
	if (trace->left_out)
		return fail(message, message_bytes, ENODATA,
		            "'%s' holds no trace that can be read: %s", path,
		            trace->first_left_out);
	return fail(message, message_bytes, ENODATA,
	            "'%s' holds no trace: no file in it ends in %s and there is no record.json",
	            path, ending);
}

int tare_trace_open(const char *path, struct tare_trace **trace, char *message,
                    size_t message_bytes)
{
	struct tare_trace *made = calloc(1, sizeof *made);
	int status;

	*trace = NULL;
	if (message_bytes)
		message[0] = '\0';
	if (!made)
		return fail(message, message_bytes, ENOMEM, "no memory to read a trace");
	status = read_path(made, path, message, message_bytes);
	if (status) {
		tare_trace_close(made);
		return status;
	}
	tell_left_out(made);
	*trace = made;
	return 0;
}

void tare_trace_close(struct tare_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->count; i++)
		free_source(trace->sources[i]);
	free(trace->sources);
	free(trace->record_json);
	free(trace);
}

// ---- what was found

size_t tare_trace_file_count(const struct tare_trace *trace)
{
	return trace->count;
}

const struct tare_trace_file *tare_trace_file(const struct tare_trace *trace, size_t file)
{
	struct tare_trace_source *source;

	if (file >= trace->count)
		return NULL;
	source = trace->sources[file];
	source->open.problem = source->problem[0] ? source->problem : NULL;
	return &source->open;
}

const char *tare_trace_record_json(const struct tare_trace *trace, size_t *bytes)
{
	if (bytes)
		*bytes = trace->record_json_bytes;
	return trace->record_json;
}

const char *tare_trace_problem(const struct tare_trace *trace)
{
	return trace->problem[0] ? trace->problem : NULL;
}

const char *tare_trace_text(const struct tare_trace *trace, size_t file, uint32_t string)
{
	return file < trace->count ? tare_trace_texts_find(&trace->sources[file]->texts, string)
	                           : "";
}

int64_t tare_trace_ns(const struct tare_trace *trace, size_t file, uint64_t host_ticks)
{
	return file < trace->count ? tare_trace_map_ns(&trace->sources[file]->map, host_ticks) : 0;
}
