// SPDX-License-Identifier: Apache-2.0
#include "record/watch.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Soon at first, for short programs, then at twice the distance each, to four times a second.
#define FIRST_NS INT64_C(1000000)
#define LAST_NS INT64_C(250000000)
// While the list of mappings is read, the process may have to wait with changing it: at most a
// thousandth of the time.
#define SHARE 1000
#define MOST_PROCESSES 64
#define MOST_THREADS 64

struct tare_watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool ended;
	pid_t program;
	struct tare_other_uses uses; // the thread's own until it is joined
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_named(const char *path, const char *begins)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, begins, strlen(begins)) == 0;
}

static void look_at_maps(struct tare_watch *watch, pid_t process)
{
	// NVIDIA's OpenCL stands on the driver's library for CUDA, which is no sign of CUDA beside
	// it.
	struct tare_other_uses all = { 0 }, beside_opencl = { 0 }, *found = &all;
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/maps", (long)process);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		// Few mappings are of libraries.
		char *slash = strrchr(line, '/');
		if (!slash)
			continue;
		slash[strcspn(slash, " \n")] = '\0';
		if (is_named(slash, "libnvidia-opencl.so"))
			found = &beside_opencl;
		tare_other_note(&all, slash, true);
		if (!is_named(slash, "libcuda.so"))
			tare_other_note(&beside_opencl, slash, true);
	}
	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++)
		if (found->of[api].seen)
			tare_other_note(&watch->uses, found->of[api].library, true);
	free(line);
	if (file)
		fclose(file);
}

// Adds the children of one thread to the list; returns how many it then has.
static size_t add_children(const char *path, pid_t *processes, size_t count)
{
	FILE *file = fopen(path, "re");
	long child;

	while (file && count < MOST_PROCESSES && fscanf(file, "%ld", &child) == 1)
		processes[count++] = (pid_t)child;
	if (file)
		fclose(file);
	return count;
}

static size_t add_children_of(pid_t process, pid_t *processes, size_t count)
{
	char path[96];
	DIR *threads;
	int seen = 0;

	snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
	threads = opendir(path);
	for (struct dirent *entry; threads && seen < MOST_THREADS && (entry = readdir(threads));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%ld/task/%.20s/children", (long)process,
		         entry->d_name);
		count = add_children(path, processes, count);
		seen++;
	}
	if (threads)
		closedir(threads);
	return count;
}

static void look(struct tare_watch *watch)
{
	pid_t processes[MOST_PROCESSES] = { watch->program };
	size_t count = 1;

	for (size_t i = 0; i < count; i++) {
		look_at_maps(watch, processes[i]);
		count = add_children_of(processes[i], processes, count);
	}
}

static bool has_all(const struct tare_watch *watch)
{
	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++)
		if (!watch->uses.of[api].loaded)
			return false;
	return true;
}

// Returns whether to go on.
static bool wait_for(struct tare_watch *watch, int64_t ns)
{
	int64_t until = now_ns() + ns;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	bool ended;

	pthread_mutex_lock(&watch->lock);
	while (!watch->ended && pthread_cond_timedwait(&watch->ending, &watch->lock, &time) == 0)
		;
	ended = watch->ended;
	pthread_mutex_unlock(&watch->lock);
	return !ended;
}

static void *run(void *context)
{
	struct tare_watch *watch = context;
	int64_t distance_ns = FIRST_NS, took_ns = 0;

	while (!has_all(watch) &&
	       wait_for(watch, took_ns * SHARE > distance_ns ? took_ns * SHARE : distance_ns)) {
		int64_t from_ns = now_ns();
		look(watch);
		took_ns = now_ns() - from_ns;
		// While the program is short its mappings are few: what a look takes then is the
		// start.
		if (distance_ns < LAST_NS) {
			distance_ns = 2 * distance_ns < LAST_NS ? 2 * distance_ns : LAST_NS;
			took_ns = 0;
		}
	}
	return NULL;
}

struct tare_watch *tare_watch_start(pid_t program)
{
	struct tare_watch *watch = calloc(1, sizeof *watch);
	pthread_condattr_t attributes;
	sigset_t all, before;
	int failed;

	if (!watch)
		return NULL;
	watch->program = program;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->ending, &attributes);
	pthread_condattr_destroy(&attributes);
	// Signals are the first thread's to hand on.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&watch->thread, NULL, run, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed) {
		pthread_setname_np(watch->thread, "tare-watch");
		return watch;
	}
	pthread_cond_destroy(&watch->ending);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
	return NULL;
}

void tare_watch_stop(struct tare_watch *watch, struct tare_other_uses *uses)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->ended = true;
	pthread_cond_signal(&watch->ending);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	for (enum tare_other_api api = 0; api < TARE_OTHER_APIS; api++)
		if (watch->uses.of[api].seen)
			tare_other_note(uses, watch->uses.of[api].library, true);
	pthread_cond_destroy(&watch->ending);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}
