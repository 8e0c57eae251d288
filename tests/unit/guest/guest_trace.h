// SPDX-License-Identifier: Apache-2.0
// What the tests of the recorder's core share: a process that is recorded, and a parser of its file
// that knows nothing but the layout.
#pragma once
#include "guest/api.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A file in memory.
struct guest_trace {
	char name[256];
	char *bytes;
	size_t size;
	const struct tare_trace_header *header;
};

static inline void make_folder(char *folder, size_t bytes)
{
	const char *base = getenv("TMPDIR");
	snprintf(folder, bytes, "%s/tare-guest-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder))
		abort();
}

static inline void remove_folder(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	char path[4400];
	while (directory && (entry = readdir(directory))) {
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (directory)
		closedir(directory);
	rmdir(folder);
}

static inline void no_harvest(void)
{
}

// An API of which nothing is harvested.
static const struct guest_api plain_api = { .api = TARE_TRACE_OPENCL, .harvest = no_harvest };

// Runs `body` in a process of its own that is told to record into `folder`. Its status as
// waitpid(2) gives it; what `body` returns is its exit status.
static inline int run_recorded(const char *folder, const char *options, int (*body)(void *),
                               void *argument)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	int status = -1;
	pid_t child;
	fflush(NULL);
	child = fork();
	if (!child) {
		// cmocka's handlers would go on with the parent's tests here.
		for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
			signal(crashes[i], SIG_DFL);
		setenv("TARE_RECORD", folder, 1);
		setenv("TARE_RECORD_OPTIONS", options ? options : "", 1);
		exit(body(argument));
	}
	waitpid(child, &status, 0);
	return status;
}

static inline struct guest_trace load_file(const char *folder, const char *name)
{
	struct guest_trace trace = { 0 };
	struct stat status;
	char path[4400];
	int fd;
	snprintf(trace.name, sizeof trace.name, "%s", name);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &status) || status.st_size < TARE_TRACE_HEADER_BYTES)
		abort();
	trace.size = (size_t)status.st_size;
	trace.bytes = malloc(trace.size);
	if (!trace.bytes || read(fd, trace.bytes, trace.size) != (ssize_t)trace.size)
		abort();
	close(fd);
	trace.header = (const struct tare_trace_header *)trace.bytes;
	return trace;
}

// Loads the files of a folder in the order of their names, at most `most`. Returns how many it has.
static inline size_t load_files(const char *folder, struct guest_trace *traces, size_t most)
{
	struct dirent **entries;
	size_t count = 0;
	int n = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name);
		if (length > 6 && !strcmp(entries[i]->d_name + length - 6, ".trace")) {
			if (count < most)
				traces[count] = load_file(folder, entries[i]->d_name);
			count++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return count;
}

static inline void unload(struct guest_trace *trace)
{
	free(trace->bytes);
	trace->bytes = NULL;
}

// The records of a file, window by window in the order of claiming, heads of windows included.
// NULL at the end. Begin with a zeroed place.
struct guest_place {
	uint64_t sequence;
	size_t window, record; // window: its offset, 0: none yet
};

static inline const union tare_trace_record *window_at(const struct guest_trace *trace,
                                                       size_t offset)
{
	return (const union tare_trace_record *)(trace->bytes + offset);
}

static inline bool next_window(const struct guest_trace *trace, struct guest_place *place)
{
	uint64_t best = UINT64_MAX;
	for (size_t at = TARE_TRACE_HEADER_BYTES; at + TARE_TRACE_WINDOW_BYTES <= trace->size;
	     at += TARE_TRACE_WINDOW_BYTES) {
		const struct tare_trace_window *window = &window_at(trace, at)->window;
		if (tare_trace_type(window->head) == TARE_TRACE_WINDOW &&
		    window->sequence > place->sequence && window->sequence < best) {
			best = window->sequence;
			place->window = at;
		}
	}
	place->sequence = best;
	place->record = 0;
	return best != UINT64_MAX;
}

static inline const union tare_trace_record *next_record(const struct guest_trace *trace,
                                                         struct guest_place *place)
{
	while (place->window || next_window(trace, place)) {
		const union tare_trace_record *record = window_at(trace, place->window);
		if (place->record < TARE_TRACE_WINDOW_BYTES / TARE_TRACE_RECORD_BYTES &&
		    record[place->record].head)
			return &record[place->record++];
		place->window = 0;
	}
	return NULL;
}

static inline size_t count_records(const struct guest_trace *trace, enum tare_trace_type type)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t count = 0;
	while ((record = next_record(trace, &place)))
		count += tare_trace_type(record->head) == type;
	return count;
}

// Writes the next command of this thread, its number in every word. False: there was no room.
static inline bool write_command(struct guest_thread *thread)
{
	uint32_t number = ++thread->command_number;
	union tare_trace_record *record = guest_command(thread);
	if (!record)
		return false;
	for (size_t i = 1; i < 8; i++)
		record->words[i] = number;
	record->command.number = number;
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, 0, 7, thread->track));
	return true;
}

// Whether a record is one of write_command's, whole.
static inline bool is_whole(const union tare_trace_record *record)
{
	for (size_t i = 3; i < 8; i++)
		if (record->words[i] != record->words[1])
			return false;
	return record->command.number == record->words[1];
}

// ---- what most tests begin with: a folder, and the one file that is in it afterwards

static char folder[256];

static inline int set_up(void **state)
{
	(void)state;
	make_folder(folder, sizeof folder);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	remove_folder(folder);
	return 0;
}

static inline struct guest_trace only_trace(void)
{
	struct guest_trace trace[2];
	size_t files = load_files(folder, trace, 2);
	if (files != 1) {
		fprintf(stderr, "%zu files were recorded, not one\n", files);
		abort();
	}
	return trace[0];
}

static inline uint64_t raw_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

// Threads of this process, as the kernel counts them.
static inline int count_tasks(void)
{
	struct stat tasks;
	return stat("/proc/self/task", &tasks) ? -1 : (int)tasks.st_nlink - 2;
}

// Whether the recorder can tell that a process has one thread. ThreadSanitizer has one of its own.
#if defined(UNDER_THREAD_SANITIZER) || !GUEST_KNOWS_ALONE
enum { KNOWS_ALONE = 0 };
#else
enum { KNOWS_ALONE = 1 };
#endif

static inline void *be_idle(void *argument)
{
	for (;;)
		pause();
	return argument;
}

// A second thread, which does nothing: with it the recorder has its helper.
static inline void start_idle_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, be_idle, NULL))
		abort();
}

// Writes as many commands as the argument says.
static inline int write_commands(void *argument)
{
	uint64_t count = *(uint64_t *)argument;
	if (!guest_begin(&plain_api))
		return 1;
	for (uint64_t i = 0; i < count; i++)
		write_command(guest_thread());
	return 0;
}
