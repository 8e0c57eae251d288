// SPDX-License-Identifier: Apache-2.0
#include "blocks/run.h"

#include "base/time.h"
#include "guest/blocks/shared.h"
#include "guest/environment.h"
#include "guest/samples/shared.h"
#include "record/loader/driver.h"
#include "record/loader/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define LAYERS "OPENCL_LAYERS"
#define PRELOAD "LD_PRELOAD"
#define POCL_BUILDING "POCL_EXTRA_BUILD_FLAGS" // beside the program's options
#define INJECTION "CUDA_INJECTION64_PATH"      // the driver loads it with the first cuInit

int tare_blocks_layer_find(const char *recorder, struct tare_blocks_place *place,
                           struct tare_error *error)
{
	const char *slash = strrchr(recorder, '/');
	int length = slash ? (int)(slash - recorder) : 0;

	if (asprintf(&place->layer, "%.*s/" BLOCKS_LIBRARY, length, recorder) < 0)
		place->layer = NULL;
	if (asprintf(&place->sampler, "%.*s/" SAMPLES_LIBRARY, length, recorder) < 0)
		place->sampler = NULL;
	if (asprintf(&place->ptx, "%.*s/" BLOCKS_PTX_LIBRARY, length, recorder) < 0)
		place->ptx = NULL;
	place->recorder = strdup(recorder);
	if (!place->layer || !place->sampler || !place->ptx || !place->recorder)
		return tare_fail(error, ENOMEM, "out of memory");
	if (access(place->layer, R_OK) == 0)
		return 0;
	return tare_fail(error, ENOENT, "there is no %.300s; install tare again", place->layer);
}

// ---- the environment

// What is set anew, and the value that it had.
enum {
	SET_LAYERS,
	SET_PRELOAD,
	SET_FOLDER,
	SET_STAGE,
	SET_DRIVERS,
	SET_BEHIND,
	SET_INJECTION,
	SET_SAMPLES,
	SET_PERIOD,
	SET_LAUNCHES,
	SET_EXACT,
	SET_COUNT,
	SET_OPTIONS,
	SET_CACHE,
	SET_CACHING,
	SET_KEEPING,
	SET_BUILDING,
	SETS
};
static const char *const set[SETS] = { LAYERS,
	                               PRELOAD,
	                               BLOCKS_ENVIRONMENT_FOLDER,
	                               BLOCKS_ENVIRONMENT_STAGE,
	                               TARE_DRIVERS_VARIABLE,
	                               TARE_ENVIRONMENT_LEVELZERO,
	                               INJECTION,
	                               SAMPLES_ENVIRONMENT_FOLDER,
	                               SAMPLES_ENVIRONMENT_PERIOD,
	                               SAMPLES_ENVIRONMENT_LAUNCHES,
	                               SAMPLES_ENVIRONMENT_EXACT,
	                               SAMPLES_ENVIRONMENT_COUNT,
	                               BLOCKS_ENVIRONMENT_OPTIONS,
	                               "POCL_CACHE_DIR",
	                               "POCL_KERNEL_CACHE",
	                               "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES",
	                               POCL_BUILDING };

static bool is_set(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_ours(const char *entry, const struct tare_blocks_place *place,
                    const struct tare_blocks_run *run)
{
	const bool unset[SETS] = {
		[SET_PRELOAD] = !place->front,  [SET_DRIVERS] = !place->drivers,
		[SET_BEHIND] = !place->drivers, [SET_INJECTION] = !run->period && !run->ptx,
		[SET_CACHE] = !run->cache,      [SET_CACHING] = !run->cache,
		[SET_KEEPING] = !run->cache,    [SET_BUILDING] = !run->cache
	};

	for (int i = 0; i < SETS; i++)
		if (is_set(entry, set[i]) && !unset[i])
			return true;
	return false;
}

// "NAME=first:what it was".
static char *prepend(const char *name, const char *first)
{
	const char *before = getenv(name);
	char *text;

	if (asprintf(&text, "%s=%s%s%s", name, first, before && before[0] ? ":" : "",
	             before ? before : "") < 0)
		return NULL;
	return text;
}

static char *assign(const char *name, const char *value)
{
	char *text;

	return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

// PoCL's: all that it builds with lines, and its modules kept. Returns how many.
static size_t keep_modules(const struct tare_blocks_run *run, char **made)
{
	const char *before = getenv(POCL_BUILDING);

	made[0] = assign(set[SET_CACHE], run->cache);
	made[1] = assign(set[SET_CACHING], "1");
	made[2] = assign(set[SET_KEEPING], "1");
	if (asprintf(&made[3], POCL_BUILDING "=%s -g", before ? before : "") < 0)
		made[3] = NULL;
	return 4;
}

// The environment of the program: tare's own, with the layer before those that were there. Its
// first `*own` entries are to be freed.
static char **make_environment(const struct tare_blocks_place *place,
                               const struct tare_blocks_run *run, size_t *own)
{
	char cycles[16];

	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	char **made = calloc(count + SETS + 1, sizeof *made);
	if (!made)
		return NULL;
	made[used++] = prepend(LAYERS, place->layer);
	made[used++] = assign(BLOCKS_ENVIRONMENT_FOLDER, place->folder);
	made[used++] = assign(BLOCKS_ENVIRONMENT_STAGE, run->stage);
	if (place->front)
		made[used++] = prepend(PRELOAD, place->front);
	if (place->drivers) {
		made[used++] = assign(TARE_DRIVERS_VARIABLE, place->drivers);
		made[used++] = assign(TARE_ENVIRONMENT_LEVELZERO, place->behind);
	}
	if (run->period) {
		snprintf(cycles, sizeof cycles, "%u", run->period);
		made[used++] = assign(INJECTION, place->sampler);
		made[used++] = assign(SAMPLES_ENVIRONMENT_FOLDER, place->folder);
		made[used++] = assign(SAMPLES_ENVIRONMENT_PERIOD, cycles);
		made[used++] = assign(SAMPLES_ENVIRONMENT_LAUNCHES, run->launches ? "1" : "");
		made[used++] = assign(SAMPLES_ENVIRONMENT_EXACT, run->exact ? run->exact : "");
		made[used++] = assign(SAMPLES_ENVIRONMENT_COUNT, run->count ? "1" : "");
	}
	if (run->ptx)
		made[used++] = assign(INJECTION, place->ptx);
	if (run->options)
		made[used++] = assign(BLOCKS_ENVIRONMENT_OPTIONS, run->options);
	if (run->cache)
		used += keep_modules(run, &made[used]);
	*own = used;
	for (size_t i = 0; i < count; i++)
		if (!is_ours(environ[i], place, run))
			made[used++] = environ[i];
	return made;
}

static void free_environment(char **environment, size_t own)
{
	for (size_t i = 0; i < own; i++)
		free(environment[i]);
	free(environment);
}

static int start(const struct tare_blocks_run *run, char **environment, struct tare_child *child,
                 bool *own, struct tare_error *error);

// Without standard error: PoCL complains there of its own library of functions where it finds lines
// in what it had kept.
static int start_mute(const struct tare_blocks_run *run, char **environment,
                      struct tare_child *child, bool *own, struct tare_error *error)
{
	struct tare_blocks_run spoken = *run;
	int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
	    into = open("/dev/null", O_WRONLY | O_CLOEXEC);

	spoken.cache = NULL;
	if (before >= 0 && into >= 0)
		dup2(into, STDERR_FILENO);
	int status = start(&spoken, environment, child, own, error);
	if (before >= 0) {
		dup2(before, STDERR_FILENO);
		close(before);
	}
	if (into >= 0)
		close(into);
	return status;
}

static int start(const struct tare_blocks_run *run, char **environment, struct tare_child *child,
                 bool *own, struct tare_error *error)
{
	if (run->cache)
		return start_mute(run, environment, child, own, error);
	if (run->output)
		return tare_child_start_into(run->output, run->arguments, environment, child, own,
		                             error);
	return run->silent ? tare_child_start_silent(run->arguments, environment, child, own, error)
	                   : tare_child_start(run->arguments, environment, child, own, error);
}

int tare_blocks_run(const struct tare_blocks_place *place, const struct tare_blocks_run *run,
                    struct tare_child_end *end, int64_t *wall_ns, bool *own,
                    struct tare_error *error)
{
	const char *drivers = place->drivers ? strchr(place->behind, ',') : NULL;
	char *behind = NULL;
	struct tare_record_options recording = { .times = run->counters ? TARE_TIMES_NONE
		                                                        : TARE_TIMES_ALL,
		                                 .contents = run->contents,
		                                 .count = run->counters };
	struct tare_child child;
	size_t ours = 0;
	char **environment = make_environment(place, run, &ours), **recorded = NULL;
	int status = environment ? 0 : -ENOMEM;

	*own = true;
	for (size_t i = 0; i < ours; i++)
		if (!environment[i])
			status = -ENOMEM;
	int64_t from_ns = tare_host_now().ns;
	// Of Level Zero the recorder stands behind the stubs, and the layer before it.
	if (status == 0 && run->trace && drivers) {
		if (asprintf(&behind, "%s%s", place->recorder, drivers) < 0) {
			behind = NULL;
			status = -ENOMEM;
		}
		recording.drivers = place->drivers;
		recording.behind = behind;
		recording.first = place->layer;
	}
	if (status == 0 && run->trace) {
		recorded = tare_environment_make(environment, place->recorder, run->trace,
		                                 &recording, from_ns);
		status = recorded ? 0 : -ENOMEM;
	}
	if (status < 0)
		tare_fail(error, ENOMEM, "out of memory");
	else
		status = start(run, recorded ? recorded : environment, &child, own, error);
	if (status == 0) {
		*own = true;
		status = tare_child_wait(&child, end, error);
	}
	*wall_ns = tare_host_now().ns - from_ns;
	tare_environment_free(recorded);
	free(behind);
	free_environment(environment, ours);
	return status;
}
