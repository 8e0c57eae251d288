// SPDX-License-Identifier: Apache-2.0
#include "cli/run/export_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_path(const char *path, struct tare_error *error)
{
	return tare_fail(error, errno, "cannot write %.200s: %s", path, strerror(errno));
}

static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	size_t entries = 0;

	while (folder && readdir(folder))
		entries++;
	if (folder)
		closedir(folder);
	return folder && entries <= 2;
}

int tare_export_folder_check(const char *path, bool force, struct tare_error *error)
{
	struct stat found;

	if (stat(path, &found) != 0)
		return errno == ENOENT ? 0 : fail_path(path, error);
	if (!S_ISDIR(found.st_mode))
		return tare_fail(error, ENOTDIR,
		                 "--csv: %.200s is there and no folder; name another", path);
	if (force || is_empty(path))
		return 0;
	return tare_fail(
	    error, EEXIST,
	    "--csv: %.200s is not empty; name another folder, or replace the tables in "
	    "it with --force",
	    path);
}

// "FOLDER/.tare-XXXXXX", or ".tare-XXXXXX" beside a folder that is still to be made.
static char *work_name(const struct tare_export_folder *folder)
{
	size_t length = strlen(folder->path);
	char *name = NULL;

	while (!folder->exists && length > 0 && folder->path[length - 1] == '/')
		length--;
	while (!folder->exists && length > 0 && folder->path[length - 1] != '/')
		length--;
	if (asprintf(&name, "%.*s%s.tare-XXXXXX", (int)length, folder->path,
	             folder->exists ? "/" : "") < 0)
		return NULL;
	return name;
}

int tare_export_folder_open(struct tare_export_folder *folder, struct tare_error *error)
{
	struct stat found;

	folder->exists = stat(folder->path, &found) == 0;
	folder->work = work_name(folder);
	if (folder->work && mkdtemp(folder->work)) {
		mode_t mask = umask(0);
		umask(mask);
		chmod(folder->work, 0777 & ~mask);
		return 0;
	}
	fail_path(folder->path, error);
	free(folder->work);
	folder->work = NULL;
	return error->code;
}

static int move_files(struct tare_export_folder *folder, struct tare_error *error)
{
	char from[4200], to[4200];

	for (size_t i = 0; folder->names[i]; i++) {
		snprintf(from, sizeof from, "%s/%s.csv", folder->work, folder->names[i]);
		snprintf(to, sizeof to, "%s/%s.csv", folder->path, folder->names[i]);
		if (rename(from, to) != 0)
			return fail_path(to, error);
	}
	return rmdir(folder->work);
}

int tare_export_folder_finish(struct tare_export_folder *folder, struct tare_error *error)
{
	if (folder->exists) {
		if (move_files(folder, error) < 0)
			return error->code;
	} else if (rename(folder->work, folder->path) != 0) {
		return fail_path(folder->path, error);
	}
	free(folder->work);
	folder->work = NULL;
	return 0;
}

void tare_export_folder_close(struct tare_export_folder *folder)
{
	char path[4200];

	if (!folder->work)
		return;
	for (size_t i = 0; folder->names[i]; i++) {
		snprintf(path, sizeof path, "%s/%s.csv", folder->work, folder->names[i]);
		unlink(path);
	}
	rmdir(folder->work);
	free(folder->work);
	folder->work = NULL;
}
