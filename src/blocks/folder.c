// SPDX-License-Identifier: Apache-2.0
// The folder in which tare blocks and its layer inside the program meet. It is locked as long as
// tare runs, so that the folder of a tare that was killed is known, and the next one removes it.
#include "blocks/run.h"

#include "guest/blocks/shared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "tare-blocks-"
#define RANDOM "XXXXXX"
// Far longer than it takes from making a folder to locking it.
enum { FRESH_S = 60, DEEPEST = 16 };

static void empty(int folder, const char *suffix, int depth);

// Removes a file, or a folder with all that is in it.
static void take_away(int folder, const char *name, int depth)
{
	if (unlinkat(folder, name, 0) == 0 || depth == DEEPEST)
		return;
	int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return;
	empty(inner, "", depth + 1);
	close(inner);
	unlinkat(folder, name, AT_REMOVEDIR);
}

// Removes what is in a folder and whose name ends so; "" for all.
static void empty(int folder, const char *suffix, int depth)
{
	// The stream has a descriptor of its own: closing ours would give up the lock.
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = again < 0 ? NULL : fdopendir(again);

	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		size_t length = strlen(entry->d_name), end = strlen(suffix);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    length >= end && strcmp(entry->d_name + length - end, suffix) == 0)
			take_away(folder, entry->d_name, depth);
	}
	if (stream)
		closedir(stream);
	else if (again >= 0)
		close(again);
}

// A folder of ours that no running tare has, and that is old enough for that to mean something.
static bool is_left(int folder)
{
	struct stat status;

	return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
	       time(NULL) - status.st_mtime > FRESH_S && flock(folder, LOCK_EX | LOCK_NB) == 0;
}

static void sweep(const char *parent)
{
	DIR *stream = opendir(parent);

	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    strlen(entry->d_name) != strlen(PREFIX RANDOM))
			continue;
		int folder = openat(dirfd(stream), entry->d_name,
		                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0)
			continue;
		if (is_left(folder)) {
			empty(folder, "", 0);
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
		}
		close(folder);
	}
	if (stream)
		closedir(stream);
}

int tare_blocks_folder_make(struct tare_blocks_place *place, struct tare_error *error)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || parent[0] != '/')
		parent = "/tmp";
	sweep(parent);
	snprintf(place->folder, sizeof place->folder, "%.3000s/" PREFIX RANDOM, parent);
	if (mkdtemp(place->folder)) {
		place->lock = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		// Where locks are not known the folder is one that nobody sweeps.
		if (place->lock >= 0)
			flock(place->lock, LOCK_EX | LOCK_NB);
		return 0;
	}
	int status =
	    tare_fail(error, errno, "no folder can be made in %.300s: %s", parent, strerror(errno));
	place->folder[0] = '\0';
	return status;
}

void tare_blocks_forget_counts(const struct tare_blocks_place *place)
{
	empty(place->lock, BLOCKS_COUNTS_SUFFIX, 0);
}

void tare_blocks_forget_all(const struct tare_blocks_place *place)
{
	empty(place->lock, "", 0);
}

void tare_blocks_place_free(struct tare_blocks_place *place)
{
	if (place->folder[0]) {
		empty(place->lock, "", 0);
		rmdir(place->folder);
		if (place->lock >= 0)
			close(place->lock);
	}
	free(place->layer);
	free(place->sampler);
	free(place->ptx);
	free(place->recorder);
	*place = (struct tare_blocks_place){ .lock = -1 };
}
