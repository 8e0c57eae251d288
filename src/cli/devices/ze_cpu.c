// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/ze_cpu.h"

#include "model/script/script_levelzero.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER "libze_cpu.so"
#define DRIVERS "ZE_ENABLE_ALT_DRIVERS"
#define SCRIPT "ZE_CPU_SCRIPT"

// The driver's path from the root, to free(); NULL with a sentence.
static char *find_driver(struct tare_error *error)
{
	// As installed, then as built.
	static const char *const folders[] = { TARE_LAYER_INSTALLED, "../../drivers/ze-cpu" };
	char own[PATH_MAX], path[2 * PATH_MAX], *found = NULL;
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

	own[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(own, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; !found && i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s%s%s/" DRIVER, folders[i][0] == '/' ? "" : own,
		         folders[i][0] == '/' ? "" : "/", folders[i]);
		found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
	}
	if (!found)
		tare_fail(
		    error, ENOENT,
		    "--ze-cpu: the driver " DRIVER " is not in %.200s/" TARE_LAYER_INSTALLED
		    "; it is installed with tare where Level Zero's headers were there to build it",
		    own);
	else if (strchr(found, ',')) {
		tare_fail(error, EINVAL,
		          "--ze-cpu: the driver's path %.200s has a comma, which " DRIVERS
		          " cannot express; install tare elsewhere",
		          found);
		free(found);
		found = NULL;
	}
	return found;
}

// Whether a list with commas has the path.
static bool has(const char *list, const char *path)
{
	size_t bytes = strlen(path);

	while (*list) {
		size_t length = strcspn(list, ",");
		if (length == bytes && strncmp(list, path, bytes) == 0)
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

static int add_driver(struct tare_error *error)
{
	const char *before = getenv(DRIVERS);
	char *driver = find_driver(error), *list = NULL;
	int status = 0;

	if (!driver)
		return error ? error->code : -ENOENT;
	if (!before || !has(before, driver)) {
		bool more = before && before[0];
		if (asprintf(&list, "%s%s%s", driver, more ? "," : "", more ? before : "") < 0)
			list = NULL;
		if (!list || setenv(DRIVERS, list, 1) != 0)
			status = tare_fail(error, ENOMEM, "--ze-cpu: no memory");
	}
	free(list);
	free(driver);
	return status;
}

static int set_script(const char *script, struct tare_error *error)
{
	struct tare_script *read = malloc(sizeof *read);
	char path[PATH_MAX];
	int status =
	    read ? tare_script_read(script, read, error) : tare_fail(error, ENOMEM, "no memory");

	status = status ?: tare_script_check_levelzero(read, script, error);
	free(read);
	if (status == 0 && (!realpath(script, path) || setenv(SCRIPT, path, 1) != 0))
		status = tare_fail(error, errno, "%s: %s", script, strerror(errno));
	if (status < 0)
		tare_error_prefix(error, "--ze-cpu");
	return status;
}

int tare_ze_cpu_use(struct tare_settings *settings, struct tare_error *error)
{
	int status;

	if (!settings->ze_cpu)
		return TARE_EXIT_OK;
	status = settings->ze_cpu[0] ? set_script(settings->ze_cpu, error) : 0;
	status = status ?: add_driver(error);
	if (status < 0)
		return TARE_EXIT_FAILED;
	if (!settings->device_given && settings->command->budget_ns > 0)
		settings->device = "levelzero";
	return TARE_EXIT_OK;
}
