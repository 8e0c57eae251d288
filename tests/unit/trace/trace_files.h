// SPDX-License-Identifier: Apache-2.0
// A folder for traces that is gone afterwards, records made by hand, and what a reader passes on.
#pragma once
#include "trace/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char trace_folder[4000];

static inline const char *trace_path(const char *name)
{
	static char path[2][4300];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/%s", trace_folder, name);
	return path[turn];
}

// For cmocka's setup and teardown of a test.
static inline int make_trace_folder(void **state)
{
	const char *parent = getenv("TMPDIR");

	(void)state;
	snprintf(trace_folder, sizeof trace_folder, "%s/tare-trace-XXXXXX",
	         parent ? parent : "/tmp");
	return mkdtemp(trace_folder) ? 0 : -1;
}

static inline int remove_trace_folder(void **state)
{
	DIR *folder = opendir(trace_folder);
	struct dirent *entry;

	(void)state;
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && unlink(trace_path(entry->d_name)) < 0)
			rmdir(trace_path(entry->d_name));
	if (folder)
		closedir(folder);
	return rmdir(trace_folder);
}

// Reads a whole file; the caller frees it.
static inline uint8_t *file_bytes(const char *name, size_t *size)
{
	FILE *file = fopen(trace_path(name), "rb");
	struct stat status;
	uint8_t *bytes;

	if (!file || fstat(fileno(file), &status) < 0)
		abort();
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, file) != *size)
		abort();
	fclose(file);
	return bytes;
}

static inline void put_file(const char *name, const void *bytes, size_t size)
{
	int file = open(trace_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) < 0)
		abort();
}

// ---- records

static inline struct tare_trace_writer *begin_trace(const char *name,
                                                    struct tare_trace_header header)
{
	struct tare_trace_writer *writer;
	struct tare_error error = { 0 };

	if (tare_trace_writer_open(trace_folder, name, &header, &writer, &error) < 0) {
		printf("# %s\n", error.message);
		abort();
	}
	return writer;
}

static inline void end_trace(struct tare_trace_writer *writer)
{
	struct tare_error error = { 0 };

	if (tare_trace_writer_close(writer, &error) < 0) {
		printf("# %s\n", error.message);
		abort();
	}
}

static inline void add(struct tare_trace_writer *writer, union tare_trace_record record)
{
	tare_trace_writer_add(writer, &record);
}

// `bytes` tells one call from another.
static inline union tare_trace_record a_call(uint32_t track, uint64_t enter, uint64_t exit,
                                             uint64_t bytes)
{
	return (union tare_trace_record){ .call = {
		                              .head = tare_trace_head(TARE_TRACE_CALL, 0, 1, track),
		                              .enter = enter,
		                              .exit = exit,
		                              .bytes = bytes,
		                          } };
}

static inline union tare_trace_record a_command(uint32_t track, uint64_t enter, uint32_t took,
                                                uint32_t number)
{
	return (
	    union tare_trace_record){ .command = {
		                          .head = tare_trace_head(TARE_TRACE_COMMAND, 0, 2, track),
		                          .enter = enter,
		                          .call_ticks = took,
		                          .number = number,
		                          .kind = TARE_KIND_KERNEL,
		                      } };
}

static inline union tare_trace_record host_pair(uint64_t before, uint64_t after, uint64_t ns)
{
	return (union tare_trace_record){ .clock_pair = {
		                              .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
		                                                      TARE_CLOCK_RAW, 0),
		                              .before = before,
		                              .value = ns,
		                              .after = after,
		                          } };
}

// ---- what was read

enum { MOST_SEEN = 1 << 16 };

struct seen {
	union tare_trace_record records[MOST_SEEN];
	int64_t written_ns[MOST_SEEN];
	size_t count;
	size_t definitions; // the first so many of the records
	struct {
		uint32_t track, function;
		int64_t since_ns;
	} unfinished[64];
	size_t unfinished_count;
};

static inline int see_definition(void *context, const union tare_trace_record *record)
{
	struct seen *seen = context;

	if (seen->count == MOST_SEEN)
		return -1;
	seen->written_ns[seen->count] = 0;
	seen->records[seen->count] = *record;
	seen->definitions = ++seen->count;
	return 0;
}

static inline int see_event(void *context, const union tare_trace_record *record,
                            int64_t written_ns)
{
	struct seen *seen = context;

	if (seen->count == MOST_SEEN)
		return -1;
	seen->written_ns[seen->count] = written_ns;
	seen->records[seen->count++] = *record;
	return 0;
}

static inline int see_unfinished(void *context, uint32_t track, uint32_t function, int64_t since_ns)
{
	struct seen *seen = context;

	if (seen->unfinished_count == sizeof seen->unfinished / sizeof *seen->unfinished)
		return -1;
	seen->unfinished[seen->unfinished_count].track = track;
	seen->unfinished[seen->unfinished_count].function = function;
	seen->unfinished[seen->unfinished_count++].since_ns = since_ns;
	return 0;
}

// All that one file of the trace says.
static inline int see_all(struct tare_trace *trace, size_t file, struct seen *seen)
{
	const struct tare_trace_visitor visitor = {
		.definition = see_definition,
		.event = see_event,
		.unfinished = see_unfinished,
		.context = seen,
	};

	seen->count = seen->definitions = seen->unfinished_count = 0;
	return tare_trace_read(trace, file, &visitor);
}
