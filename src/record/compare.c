// SPDX-License-Identifier: Apache-2.0
#include "record/compare.h"

#include "base/time.h"
#include "record/again.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/compare"

struct comparing {
	char *const *arguments;
	const char *layer;
	const struct tare_record_options *options;
	char folder[PATH_MAX]; // of the traces that are thrown away
	struct tare_input input;
	int *signal;
};

static int64_t middle(int64_t *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t at = i; at > 0 && values[at - 1] > values[at]; at--) {
			int64_t value = values[at];
			values[at] = values[at - 1];
			values[at - 1] = value;
		}
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

// The medians and ends of so many pairs.
static struct tare_comparison compare_pairs(const struct tare_compared_run *native,
                                            const struct tare_compared_run *recorded,
                                            uint32_t pairs)
{
	struct tare_comparison found = { .pairs = pairs };
	int64_t wall[TARE_COMPARE_PAIRS], cpu[TARE_COMPARE_PAIRS], alone[TARE_COMPARE_PAIRS];

	if (pairs == 0 || pairs > TARE_COMPARE_PAIRS)
		return (struct tare_comparison){ 0 };
	for (uint32_t i = 0; i < pairs; i++) {
		wall[i] = recorded[i].wall_ns - native[i].wall_ns;
		cpu[i] = recorded[i].cpu_ns - native[i].cpu_ns;
		alone[i] = native[i].wall_ns;
	}
	found.native_wall_ns = middle(alone, pairs);
	found.wall_ns = middle(wall, pairs);
	found.wall_low_ns = wall[0];
	found.wall_high_ns = wall[pairs - 1];
	found.cpu_ns = middle(cpu, pairs);
	found.cpu_low_ns = cpu[0];
	found.cpu_high_ns = cpu[pairs - 1];
	return found;
}

static void empty_folder(const char *path)
{
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

// A program ends itself by these; others are sent to it.
static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGABRT || signal == SIGSYS || signal == SIGTRAP;
}

static int run(const struct comparing *comparing, char *const *environment,
               struct tare_compared_run *took, struct tare_error *error)
{
	struct tare_child launch;
	struct tare_child_end end;
	int64_t from_ns = tare_host_now().ns;

	bool own;

	tare_input_restore(&comparing->input);
	int status =
	    tare_child_start_silent(comparing->arguments, environment, &launch, &own, error);
	if (status < 0)
		return status;
	status = tare_child_wait(&launch, &end, error);
	if (status < 0)
		return status;
	*took =
	    (struct tare_compared_run){ tare_host_now().ns - from_ns, end.user_ns + end.system_ns };
	if (is_fault(end.signal))
		return tare_fail(
		    error, ECHILD,
		    "not compared with runs that are not recorded: signal %d ended such a "
		    "run",
		    end.signal);
	// A program may end with a status of its own when it is interrupted: that is no wish to see
	// it again.
	if (end.signal || end.asked) {
		*comparing->signal = end.signal ? end.signal : end.asked;
		return tare_fail(error, ECANCELED, "a signal ended the program");
	}
	if (end.status != 0)
		return tare_fail(
		    error, ECHILD,
		    "not compared with runs that are not recorded: such a run ended with "
		    "status %d",
		    end.status);
	return 0;
}

static int run_recorded(const struct comparing *comparing, struct tare_compared_run *took,
                        struct tare_error *error)
{
	char **environment;
	int status;

	if (mkdir(comparing->folder, 0700) < 0 && errno != EEXIST)
		return tare_fail(error, errno, "cannot make %.200s: %s", comparing->folder,
		                 strerror(errno));
	environment = tare_environment_make(environ, comparing->layer, comparing->folder,
	                                    comparing->options, tare_host_now().ns);
	status = environment ? run(comparing, environment, took, error)
	                     : tare_fail(error, ENOMEM, "out of memory");
	tare_environment_free(environment);
	empty_folder(comparing->folder);
	return status;
}

static int run_pair(const struct comparing *comparing, bool recorded_first,
                    struct tare_compared_run *native, struct tare_compared_run *recorded,
                    struct tare_error *error)
{
	int status = recorded_first ? run_recorded(comparing, recorded, error) : 0;

	status = status ?: run(comparing, environ, native, error);
	if (status == 0 && !recorded_first)
		status = run_recorded(comparing, recorded, error);
	return status;
}

int tare_compare(char *const *arguments, const char *layer, const char *data,
                 const struct tare_record_options *options, struct tare_comparison *comparison,
                 int *signal, struct tare_error *error)
{
	struct comparing comparing = {
		.arguments = arguments, .layer = layer, .options = options, .signal = signal
	};
	struct tare_compared_run native[TARE_COMPARE_PAIRS], recorded[TARE_COMPARE_PAIRS], first;
	int64_t from_ns = tare_host_now().ns;
	uint32_t pairs = 0;
	int status = tare_input_note(&comparing.input, "--calibrate", error);

	*comparison = (struct tare_comparison){ 0 };
	if (status < 0)
		return status;
	snprintf(comparing.folder, sizeof comparing.folder, "%s" FOLDER, data);
	// The first run fills caches: those of the files, and of built kernels.
	status = run(&comparing, environ, &first, error);
	while (status == 0 && pairs < TARE_COMPARE_PAIRS &&
	       (pairs < TARE_COMPARE_LEAST || tare_host_now().ns - from_ns < TARE_COMPARE_NS)) {
		status = run_pair(&comparing, pairs % 2, &native[pairs], &recorded[pairs], error);
		pairs++;
	}
	tare_input_restore(&comparing.input);
	if (status == 0)
		*comparison = compare_pairs(native, recorded, pairs);
	return status;
}
