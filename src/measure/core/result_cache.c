// SPDX-License-Identifier: Apache-2.0
#include "measure/core/result_cache.h"

#include "base/cleanup.h"
#include "result/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// FNV-1a, 64 bits (Fowler, Noll, Vo): names files apart, protects nothing.
static uint64_t hash(uint64_t state, const char *text)
{
	for (; *text; text++)
		state = (state ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return state;
}

// "NVIDIA H200 (x)" as "nvidia-h200-x".
static void make_slug(const char *name, char *slug, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++) {
		if (isalnum((unsigned char)*name))
			slug[used++] = (char)tolower((unsigned char)*name);
		else if (used && slug[used - 1] != '-')
			slug[used++] = '-';
	}
	while (used && slug[used - 1] == '-')
		used--;
	slug[used] = '\0';
}

// The cache's folder, to free(). NULL with *error where the environment names none.
static char *find_folder(struct tare_error *error)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder = NULL;

	// The specification has relative paths ignored.
	if (cache && cache[0] == '/') {
		if (asprintf(&folder, "%s/tare", cache) < 0)
			folder = NULL;
	} else if (home && home[0] == '/') {
		if (asprintf(&folder, "%s/.cache/tare", home) < 0)
			folder = NULL;
	} else {
		tare_fail(error, ENOENT,
		          "neither XDG_CACHE_HOME nor HOME names a folder for the cache");
		return NULL;
	}
	if (!folder)
		tare_fail(error, ENOMEM, "out of memory");
	return folder;
}

bool tare_result_cache_refuses(const struct tare_device_entry *device)
{
	return (device->backend && strcmp(device->backend, "simulated") == 0) ||
	       device->facts.doubt != TARE_DOUBT_NONE;
}

char *tare_result_cache_path(const char *command, const char *name, const char *identity,
                             const char *driver, struct tare_error *error)
{
	TARE_FREE char *folder = find_folder(error);
	char slug[40], *path = NULL;
	uint64_t key = UINT64_C(14695981039346656037);

	if (!folder)
		return NULL;
	make_slug(name, slug, sizeof slug);
	key = hash(hash(hash(key, identity), "\n"), driver);
	if (asprintf(&path, "%s/%s-%s-%016llx.json", folder, command, slug[0] ? slug : "device",
	             (unsigned long long)key) < 0) {
		tare_fail(error, ENOMEM, "out of memory");
		return NULL;
	}
	return path;
}

// Makes every folder on the way to the file.
static int make_folders(char *path, struct tare_error *error)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		int made = mkdir(path, 0755), why = errno;
		if (made < 0 && why != EEXIST) {
			tare_fail(error, why, "cannot make the cache's folder %.200s: %s", path,
			          strerror(why));
			*at = '/';
			return -why;
		}
		*at = '/';
	}
	return 0;
}

static int write_at(const char *path, const struct tare_result *result, struct tare_error *error)
{
	TARE_FREE char *temporary = NULL;
	int file, status, why;
	FILE *stream;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		temporary = NULL;
		return tare_fail(error, ENOMEM, "out of memory");
	}
	file = mkstemp(temporary);
	if (file < 0) {
		why = errno;
		return tare_fail(error, why, "cannot write %.200s: %s", temporary, strerror(why));
	}
	stream = fdopen(file, "w");
	if (!stream) {
		close(file);
		unlink(temporary);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	status = tare_result_write_json(result, stream, error);
	if (fclose(stream) != 0 && status == 0) {
		why = errno;
		status = tare_fail(error, why, "cannot write %.200s: %s", temporary, strerror(why));
	}
	if (status == 0 && rename(temporary, path) < 0) {
		why = errno;
		status = tare_fail(error, why, "cannot write %.200s: %s", path, strerror(why));
	}
	if (status < 0)
		unlink(temporary);
	return status;
}

int tare_result_cache_write(char *path, const struct tare_result *result, struct tare_error *error)
{
	int status = make_folders(path, error);
	return status == 0 ? write_at(path, result, error) : status;
}
