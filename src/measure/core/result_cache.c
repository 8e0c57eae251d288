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

// ---- by a device's name and driver

const struct tare_result *tare_result_cache_part(const struct tare_result *result,
                                                 const char *command)
{
	if (result->command && strcmp(result->command, command) == 0)
		return result;
	for (size_t i = 0; i < result->part_count; i++)
		if (result->parts[i]->command && strcmp(result->parts[i]->command, command) == 0)
			return result->parts[i];
	return NULL;
}

// A result names the driver as "PLATFORM VERSION" or "VERSION", by API: what they have in common is
// the last word.
static const char *last_word(const char *driver)
{
	const char *space = strrchr(driver, ' ');
	return space ? space + 1 : driver;
}

static char *path_of(const char *command, const char *device_name, const char *driver,
                     struct tare_error *error)
{
	return tare_result_cache_path(command, device_name, device_name, last_word(driver), error);
}

// Whether the driver of a result is of that version.
static bool is_version(const char *driver, const char *version)
{
	size_t whole = strlen(driver), tail = strlen(version);

	return tail > 0 && whole >= tail && strcmp(driver + whole - tail, version) == 0 &&
	       (whole == tail || driver[whole - tail - 1] == ' ');
}

int tare_result_cache_keep(const struct tare_result *part, struct tare_error *error)
{
	const struct tare_device_entry *device = &part->devices[0];
	const char *name, *driver;
	struct tare_error why = { 0 };
	int status;

	if (part->device_count == 0 || part->interrupted || tare_result_cache_refuses(device))
		return 0;
	name = tare_fact_text(&device->facts, TARE_FACT_NAME);
	driver = tare_fact_text(&device->facts, TARE_FACT_DRIVER);
	if (!name[0] || !driver[0])
		return 0;
	TARE_FREE char *path = path_of(part->command, name, driver, &why);
	status = path ? tare_result_cache_write(path, part, &why) : why.code;
	if (status < 0 && error)
		*error = why;
	return status;
}

// Whether what was read is of the command, device and driver that were asked for.
static bool is_of(const struct tare_result *result, const char *command, const char *device_name,
                  const char *driver_version)
{
	const struct tare_result *part = tare_result_cache_part(result, command);
	const struct tare_facts *facts;

	if (!part || part->device_count == 0)
		return false;
	facts = &part->devices[0].facts;
	return strcmp(tare_fact_text(facts, TARE_FACT_NAME), device_name) == 0 &&
	       is_version(tare_fact_text(facts, TARE_FACT_DRIVER), driver_version);
}

struct tare_result *tare_result_cache_find(const char *command, const char *device_name,
                                           const char *driver_version, char *why, size_t size)
{
	struct tare_error error = { 0 };
	TARE_FREE char *path = path_of(command, device_name, driver_version, &error);
	struct tare_result *result = NULL;
	struct stat file;

	snprintf(why, size, "no result of tare %s is kept for this device and driver", command);
	if (!path)
		snprintf(why, size, "%.255s", error.message);
	if (!path || stat(path, &file) < 0)
		return NULL;
	if (!S_ISREG(file.st_mode)) {
		snprintf(why, size, "the kept result is no file: %.200s", path);
		return NULL;
	}
	if (tare_result_read_file(path, &result, &error) < 0) {
		snprintf(why, size, "the kept result cannot be read: %.200s", error.message);
		return NULL;
	}
	if (is_of(result, command, device_name, driver_version))
		return result;
	tare_result_free(result);
	return NULL;
}
