// SPDX-License-Identifier: Apache-2.0
#include "backend/builder.h"

#include "base/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
// As long as a process has one thread, the C library locks without bus locks; the first further
// thread ends that for ever, and a driver that locks 20 times for a launch takes half as long again
// for it. Such a process keeps its one thread: what is measured must not depend on who builds.
// Where the driver works on the host alone and keeps what it has built, a child of it builds first.
static bool is_alone(void)
{
	return __libc_single_threaded;
}
#else
static bool is_alone(void)
{
	return false;
}
#endif

#define LOOK_NS 50000000
#define CHILD_LOOK_NS 2000000

// Owned by both threads until `done`, then by who called; by the build alone once `left`.
struct build {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done, left, wants_log;
	struct tare_device *device;
	struct tare_module_source source; // with copies of what it points to
	struct tare_module *module;
	char *log;
	int status;
	struct tare_error error;
};

static void build_free(struct build *build)
{
	free((void *)build->source.data);
	free((char *)build->source.options);
	free((char *)build->source.file);
	free((char *)build->source.entry);
	pthread_cond_destroy(&build->ended);
	pthread_mutex_destroy(&build->lock);
	free(build);
}

static char *copy_text(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed = *failed || (text && !copy);
	return copy;
}

static struct build *build_new(struct tare_device *device, const struct tare_module_source *source,
                               bool wants_log)
{
	struct build *build = calloc(1, sizeof *build);
	bool failed = false;

	if (!build)
		return NULL;
	pthread_mutex_init(&build->lock, NULL);
	pthread_cond_init(&build->ended, NULL);
	build->device = device;
	build->wants_log = wants_log;
	build->source = *source;
	char *data = malloc(source->bytes + 1);
	if (data) {
		memcpy(data, source->data, source->bytes);
		data[source->bytes] = '\0';
	}
	build->source.data = data;
	build->source.options = copy_text(source->options, &failed);
	build->source.file = copy_text(source->file, &failed);
	build->source.entry = copy_text(source->entry, &failed);
	if (data && !failed)
		return build;
	build_free(build);
	return NULL;
}

static void *work(void *context)
{
	struct build *build = context;
	int status = build->device->backend->module_create(
	    build->device, &build->source, &build->module, build->wants_log ? &build->log : NULL,
	    &build->error);

	pthread_mutex_lock(&build->lock);
	build->status = status;
	build->done = true;
	bool left = build->left;
	pthread_cond_signal(&build->ended);
	pthread_mutex_unlock(&build->lock);
	// What it has made belongs to a device that was given up.
	if (left) {
		free(build->log);
		build_free(build);
	}
	return NULL;
}

// Whether it came to its end; else the build is left to itself.
static bool wait_for(struct build *build)
{
	pthread_mutex_lock(&build->lock);
	while (!build->done && !build->left) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&build->ended, &build->lock, &until);
		build->left = !build->done && tare_interrupt_due();
	}
	bool done = build->done;
	pthread_mutex_unlock(&build->lock);
	return done;
}

static _Noreturn void build_and_end(struct tare_device *device,
                                    const struct tare_module_source *source)
{
	struct tare_module *module;
	struct tare_error error;

	// A terminal tells the whole group. It is the parent that ends us, or nobody would tell a
	// build that was broken off from one that is done.
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	device->backend->module_create(device, source, &module, NULL, &error);
	_exit(0);
}

// Lets a process of its own build first, so that the driver finds in its cache what it is asked for
// then. Returns 0, whatever came of that, or -EINTR as backend_build_aside.
static int build_in_child(struct tare_device *device, const struct tare_module_source *source,
                          struct tare_error *error)
{
	static const struct timespec look = { .tv_nsec = CHILD_LOOK_NS };
	pid_t ended, child = fork();

	if (child < 0)
		return 0;
	if (child == 0)
		build_and_end(device, source);
	while ((ended = waitpid(child, NULL, WNOHANG)) == 0 && !tare_interrupt_due())
		nanosleep(&look, NULL);
	if (ended != 0)
		return 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return tare_fail(error, EINTR, "interrupted while kernels were built");
}

int backend_build_aside(struct tare_device *device, const struct tare_module_source *source,
                        struct tare_module **module, char **log, struct tare_error *error)
{
	pthread_t thread;

	if (is_alone()) {
		int code = device->child_builds ? build_in_child(device, source, error) : 0;
		return code ? code
		            : device->backend->module_create(device, source, module, log, error);
	}
	struct build *build = build_new(device, source, log != NULL);
	if (!build)
		return tare_fail(error, ENOMEM, "out of memory");
	if (pthread_create(&thread, NULL, work, build) != 0) {
		build_free(build);
		return device->backend->module_create(device, source, module, log, error);
	}
	if (!wait_for(build)) {
		pthread_detach(thread);
		return tare_fail(error, EINTR, "interrupted while kernels were built");
	}
	pthread_join(thread, NULL);
	int status = build->status;
	if (status == 0)
		*module = build->module;
	else if (error)
		*error = build->error;
	if (log)
		*log = build->log;
	build_free(build);
	return status;
}
