// SPDX-License-Identifier: Apache-2.0
#include "sample/sample.h"

#include "base/time.h"
#include "sample/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// A driver that takes longer to begin, or to end, is left to itself.
enum { MOST_MS = 60000 };

struct tare_sampling {
	pid_t process;
	int orders, news;
	char folder[PATH_MAX];
};

// It ends when tare does, and not by a key that is meant for the program.
static void become_sampler(const struct sampler_job *job)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	tare_sampler_run(job);
	_exit(0);
}

// What it says next; false: nothing, in time.
static bool hear(const struct tare_sampling *sampling, struct tare_sampling_end *end)
{
	struct pollfd news = { .fd = sampling->news, .events = POLLIN };
	int status;

	do
		status = poll(&news, 1, MOST_MS);
	while (status < 0 && errno == EINTR);
	return status > 0 && read(sampling->news, end, sizeof *end) == (ssize_t)sizeof *end;
}

static void remove_folder(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(folder);
}

// Waits for its end, or ends it.
static void finish(struct tare_sampling *sampling, bool heard)
{
	close(sampling->news);
	if (!heard)
		kill(sampling->process, SIGKILL);
	while (waitpid(sampling->process, NULL, 0) < 0 && errno == EINTR)
		continue;
	remove_folder(sampling->folder);
	free(sampling);
}

static int make_folder(struct tare_sampling *sampling, struct tare_error *error)
{
	const char *place = getenv("TMPDIR");
	int length = snprintf(sampling->folder, sizeof sampling->folder, "%s/tare-sampled-XXXXXX",
	                      place && *place ? place : "/tmp");

	if (length < 0 || (size_t)length >= sizeof sampling->folder || !mkdtemp(sampling->folder))
		return tare_fail(error, errno, "no temporary folder can be made in %.200s: %s",
		                 place && *place ? place : "/tmp", strerror(errno));
	return 0;
}

static int start(struct tare_sampling *sampling, struct sampler_job *job, struct tare_error *error)
{
	int orders[2], news[2];

	if (pipe2(orders, O_CLOEXEC) < 0)
		return tare_fail(error, errno, "no pipe: %s", strerror(errno));
	if (pipe2(news, O_CLOEXEC) < 0) {
		close(orders[0]);
		close(orders[1]);
		return tare_fail(error, EMFILE, "no pipe");
	}
	fflush(NULL);
	sampling->process = fork();
	if (sampling->process == 0) {
		close(orders[1]);
		close(news[0]);
		job->orders = orders[0];
		job->news = news[1];
		become_sampler(job);
	}
	close(orders[0]);
	close(news[1]);
	sampling->orders = orders[1];
	sampling->news = news[0];
	if (sampling->process > 0)
		return 0;
	close(orders[1]);
	close(news[0]);
	return tare_fail(error, EAGAIN, "no process for sampling");
}

int tare_sampling_begin(const char *backend, uint32_t index, uint64_t interval_ns,
                        struct tare_sampling **sampling, int64_t *ready_ns,
                        struct tare_error *error)
{
	struct tare_host_time from = tare_host_now();
	struct tare_sampling *begun = calloc(1, sizeof *begun);
	struct tare_sampling_end end;
	struct sampler_job job = { .backend = backend, .index = index, .interval_ns = interval_ns };
	bool heard;
	int status;

	if (!begun)
		return tare_fail(error, ENOMEM, "out of memory");
	status = make_folder(begun, error);
	job.folder = begun->folder;
	if (status == 0) {
		status = start(begun, &job, error);
		if (status < 0)
			rmdir(begun->folder);
	}
	if (status < 0) {
		free(begun);
		return status;
	}
	heard = hear(begun, &end);
	*ready_ns = tare_host_elapsed_ns(from, tare_host_now());
	if (heard && end.status == 0) {
		*sampling = begun;
		return 0;
	}
	close(begun->orders);
	finish(begun, heard);
	if (!heard)
		return tare_fail(error, EIO,
		                 "the driver ended the sampling process, or did not "
		                 "answer it within a minute");
	if (error)
		*error = end.error;
	return end.status;
}

static int copy_file(int from, int to)
{
	char bytes[65536];
	ssize_t got;

	while ((got = read(from, bytes, sizeof bytes)) > 0)
		for (ssize_t done = 0, put; done < got; done += put)
			if ((put = write(to, bytes + done, (size_t)(got - done))) < 0)
				return -errno;
	return got < 0 ? -errno : 0;
}

// The one file of the trace, maybe to another file system.
static int move(const char *from, const char *folder, struct tare_error *error)
{
	char source[PATH_MAX + 32], target[PATH_MAX + 32];
	int in, out = -1, status;

	snprintf(source, sizeof source, "%s/device.trace", from);
	snprintf(target, sizeof target, "%s/device.trace", folder);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return tare_fail(error, errno, "%.300s cannot be made: %s", folder,
		                 strerror(errno));
	in = open(source, O_RDONLY | O_CLOEXEC);
	if (in >= 0)
		out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	status = in < 0 || out < 0 ? -errno : copy_file(in, out);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0 && status == 0)
		status = -errno;
	return status == 0
	           ? 0
	           : tare_fail(error, -status, "the samples cannot be written to %.300s: %s",
	                       target, strerror(-status));
}

int tare_sampling_end(struct tare_sampling *sampling, const char *folder,
                      struct tare_sampling_end *end, struct tare_error *error)
{
	bool heard;
	int status = 0;

	close(sampling->orders);
	heard = hear(sampling, end);
	if (!heard) {
		*end = (struct tare_sampling_end){ 0 };
		end->status = tare_fail(&end->error, EIO,
		                        "the driver ended the sampling process, or did "
		                        "not let it end within a minute");
	}
	if (folder && heard)
		status = move(sampling->folder, folder, error);
	finish(sampling, heard);
	return status;
}
