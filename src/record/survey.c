// SPDX-License-Identifier: Apache-2.0
#include "record/survey.h"

#include "guest/environment.h"
#include "record/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

// Whether the bytes are a header of a file that this version reads.
static bool is_header(const struct tare_trace_header *header)
{
	return memcmp(header->magic, TARE_TRACE_MAGIC, sizeof header->magic) == 0 &&
	       header->byte_order == TARE_TRACE_BYTE_ORDER && header->version_major >= 1 &&
	       header->version_major <= TARE_TRACE_VERSION_MAJOR;
}

// Whether the process that wrote the file is still there, on this machine and recording.
static bool is_running(const struct tare_trace_header *header)
{
	struct utsname system;

	if (header->state != TARE_TRACE_RECORDING || uname(&system) < 0 || header->pid == 0 ||
	    header->pid > INT32_MAX ||
	    strncmp(header->host_name, system.nodename, sizeof header->host_name - 1) != 0)
		return false;
	return kill((pid_t)header->pid, 0) == 0 || errno == EPERM;
}

static void add(struct tare_survey *survey, const struct tare_trace_header *header)
{
	bool no_call = header->calls_seen == 0,
	     events = header->windows > header->definition_windows;
	bool phases_only = header->api == TARE_TRACE_NO_API && no_call && events;

	survey->processes++;
	survey->phases_only += phases_only;
	survey->silent += phases_only || (no_call && !events);
	survey->running += is_running(header);
	survey->apis |= header->apis;
	survey->calls += header->calls_seen;
	survey->lost_records += header->lost_records;
	survey->lost_commands += header->lost_commands;
	survey->recycled_records += header->recycled_records;
	survey->recycled_commands += header->recycled_commands;
	if (header->stop_reason == TARE_TRACE_NOT_STOPPED)
		return;
	// A reason that a later recorder knows counts as a failure of the file.
	survey->stopped[header->stop_reason < TARE_SURVEY_REASONS ? header->stop_reason
	                                                          : TARE_TRACE_IO]++;
	if (survey->stop_error == 0)
		survey->stop_error = header->stop_error;
}

static void look_at(int directory, const char *name, struct tare_survey *survey)
{
	int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct tare_trace_header header;
	struct stat about;
	bool whole;

	if (file < 0) {
		survey->unreadable++;
		return;
	}
	whole = pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header;
	if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
		survey->bytes += (uint64_t)about.st_size;
	close(file);
	if (whole && is_header(&header))
		add(survey, &header);
	else
		survey->unreadable++;
}

int tare_survey_folder(const char *folder, struct tare_survey *survey)
{
	DIR *listing = opendir(folder);
	size_t tail = strlen(TARE_RECORD_SUFFIX);

	*survey = (struct tare_survey){ 0 };
	if (!listing)
		return -errno;
	for (struct dirent *entry; (entry = readdir(listing));) {
		size_t length = strlen(entry->d_name);
		if (entry->d_name[0] != '.' && length > tail &&
		    strcmp(entry->d_name + length - tail, TARE_RECORD_SUFFIX) == 0)
			look_at(dirfd(listing), entry->d_name, survey);
	}
	closedir(listing);
	return 0;
}

// ---- who may still write

// Whether the process, "PID" in /proc, has `variable` among its first environment.
static bool has_variable(int processes, const char *process, const char *variable)
{
	char path[64];
	char *entry = NULL;
	size_t size = 0;
	bool found = false;
	int fd;
	FILE *file;

	snprintf(path, sizeof path, "%.20s/environ", process);
	fd = openat(processes, path, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && getdelim(&entry, &size, '\0', file) > 0)
		found = strcmp(entry, variable) == 0;
	free(entry);
	fclose(file);
	return found;
}

uint32_t tare_survey_alive(const char *folder)
{
	DIR *listing = opendir("/proc");
	uint32_t alive = 0;
	char *variable;

	if (!listing)
		return 0;
	if (asprintf(&variable, TARE_ENVIRONMENT_DIRECTORY "=%s", folder) < 0)
		variable = NULL;
	for (struct dirent *entry; variable && (entry = readdir(listing));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			alive += has_variable(dirfd(listing), entry->d_name, variable);
	free(variable);
	closedir(listing);
	return alive;
}

// ---- what was lost

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

// The first reason for which a recorder gave up, as a clause with the way out.
static void write_reason(const struct tare_survey *survey, char *text, size_t size)
{
	static const char *const reasons[TARE_SURVEY_REASONS] = {
		[TARE_TRACE_MAX_SIZE] = "--max-size was reached: give more, or --keep newest",
		[TARE_TRACE_NO_SPACE] =
		    "the disk was full: make room, or record elsewhere with -o DIR",
		[TARE_TRACE_FILE_LIMIT] =
		    "the limit on the size of files was reached: see ulimit -f",
		[TARE_TRACE_IO] = "the file could not be written",
		[TARE_TRACE_NO_MEMORY] = "the recorder had no memory left",
	};

	snprintf(text, size, "no room could be had in time");
	for (int i = 1; i < TARE_SURVEY_REASONS; i++) {
		if (survey->stopped[i] == 0)
			continue;
		bool known =
		    i == TARE_TRACE_IO && survey->stop_error > 0 && survey->stop_error < 4096;
		snprintf(text, size, "%s%s%s", reasons[i], known ? ": " : "",
		         known ? strerror((int)survey->stop_error) : "");
		return;
	}
}

void tare_survey_loss(const struct tare_survey *survey, char *text, size_t size)
{
	uint64_t gone = survey->lost_records + survey->recycled_records;
	uint64_t commands = survey->lost_commands + survey->recycled_commands;
	uint32_t stopped = 0;
	char reason[256];

	for (int i = 1; i < TARE_SURVEY_REASONS; i++)
		stopped += survey->stopped[i];
	text[0] = '\0';
	if (gone == 0 && stopped == 0)
		return;
	write_reason(survey, reason, sizeof reason);
	if (survey->lost_records == 0 && stopped == 0)
		snprintf(text, size,
		         "the %" PRIu64 " oldest record%s, %" PRIu64 " command%s among them, "
		         "made room for newer ones, as --keep newest asks",
		         gone, plural(gone), commands, plural(commands));
	else if (gone == 0)
		snprintf(text, size, "%" PRIu32 " process%s stopped recording: %s", stopped,
		         stopped == 1 ? "" : "es", reason);
	else
		snprintf(text, size,
		         "%" PRIu64 " record%s, %" PRIu64 " command%s among them, %s lost: %s",
		         gone, plural(gone), commands, plural(commands), gone == 1 ? "is" : "are",
		         reason);
}
