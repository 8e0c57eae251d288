// SPDX-License-Identifier: Apache-2.0
#include "record/folder.h"

#include "record/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// How long a rank waits for the one that made the folder to say that it is theirs.
#define JOIN_WAIT_NS INT64_C(5000000000)
#define JOIN_STEP_NS 20000000

#define SUFFIX ".tare"
// What a record.json that is being written is called, before the number of the process.
#define DRAFT "." TARE_RECORD_FILE "."

// ---- names

// The last part of a path, without slashes at its end; its length in *length.
static const char *base_name(const char *path, size_t *length)
{
	const char *end = path + strlen(path), *start;

	while (end > path && end[-1] == '/')
		end--;
	for (start = end; start > path && start[-1] != '/';)
		start--;
	*length = (size_t)(end - start);
	return start;
}

static bool is_name(const char *name, size_t length)
{
	return length > 0 && !(length == 1 && name[0] == '.') &&
	       !(length == 2 && name[0] == '.' && name[1] == '.');
}

char *tare_record_folder_name(const char *output, const char *program, struct tare_error *error)
{
	const char *from = output ? output : program;
	size_t length, whole;
	const char *name = base_name(from, &length);
	bool suffixed = output && length > strlen(SUFFIX) &&
	                strncmp(name + length - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) == 0;
	char *path = NULL;

	if (!is_name(name, length)) {
		tare_fail(error, EINVAL, "'%.200s' names no folder; say one with -o DIR", from);
		return NULL;
	}
	whole = output ? (size_t)(name - output) + length : length;
	if (asprintf(&path, "%.*s%s", (int)whole, output ? output : name, suffixed ? "" : SUFFIX) <
	    0) {
		tare_fail(error, ENOMEM, "out of memory");
		return NULL;
	}
	return path;
}

// ---- file systems

const char *tare_record_remote(unsigned long type)
{
	// Magic numbers of linux/magic.h and of the file systems themselves.
	static const struct {
		unsigned long type;
		const char *name;
	} rows[] = {
		{ 0x6969, "NFS" },      { 0x0bd00bd0, "Lustre" }, { 0x47504653, "GPFS" },
		{ 0x65735546, "FUSE" }, { 0x01021997, "9p" },     { 0xff534d42, "CIFS" },
		{ 0xfe534d42, "SMB" },  { 0x517b, "SMB" },        { 0x00c36400, "Ceph" },
		{ 0x5346414f, "AFS" },  { 0x19830326, "BeeGFS" }, { 0x20030528, "OrangeFS" },
		{ 0x01161970, "GFS2" }, { 0x7461636f, "OCFS2" },  { 0xaad7aaea, "PanFS" },
		{ 0x73757245, "Coda" }, { 0x786f4256, "vboxsf" }, { 0xbacbacbc, "vmhgfs" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].type == (type & 0xffffffffUL))
			return rows[i].name;
	return NULL;
}

static const char *remote_of(int directory)
{
	struct statfs system;

	return fstatfs(directory, &system) == 0 ? tare_record_remote((unsigned long)system.f_type)
	                                        : NULL;
}

// Makes a place for the recorders on this machine, named like the folder. Without one on a local
// file system they write where the folder is.
static int make_local(struct tare_record_folder *folder, bool needed, struct tare_error *error)
{
	const char *temporary = getenv("TMPDIR");
	struct statfs system;
	char *path = NULL;

	if (!temporary || temporary[0] != '/')
		temporary = "/tmp";
	if (!needed &&
	    (statfs(temporary, &system) < 0 || tare_record_remote((unsigned long)system.f_type)))
		return 0;
	if (asprintf(&path, "%s/tare-record-XXXXXX", temporary) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	if (!mkdtemp(path) || strlen(path) >= TARE_RECORD_PATH_BYTES) {
		int why = errno;
		free(path);
		return tare_fail(error, why,
		                 "cannot make a folder in %.200s, where to record: %s; set "
		                 "TMPDIR",
		                 temporary, strerror(why));
	}
	free(folder->data);
	folder->data = path;
	return 0;
}

// ---- what is in a folder

// Whether a file of that name belongs to a trace, as its reader sees it.
static bool is_trace(const char *name)
{
	size_t length = strlen(name), tail = strlen(TARE_RECORD_SUFFIX);
	return name[0] != '.' && length > tail &&
	       strcmp(name + length - tail, TARE_RECORD_SUFFIX) == 0;
}

// The beginning of record.json, "" when it cannot be read.
static void read_record(int directory, char *text, size_t size)
{
	int file =
	    openat(directory, TARE_RECORD_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = file < 0 ? 0 : read(file, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	if (file >= 0)
		close(file);
}

// Whether the text of record.json begins as ours does.
static bool is_record(const char *text)
{
	static const char *const parts[] = { "{", "\"format\"", ":",
		                             ("\"" TARE_RECORD_FORMAT_NAME) };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		text += strspn(text, " \t\r\n");
		if (strncmp(text, parts[i], strlen(parts[i])) != 0)
			return false;
		text += strlen(parts[i]);
	}
	return true;
}

static int add_stale(struct tare_record_folder *folder, const char *name)
{
	char **more = realloc(folder->stale, (folder->stale_count + 1) * sizeof *more);

	if (!more)
		return -ENOMEM;
	folder->stale = more;
	more[folder->stale_count] = strdup(name);
	return more[folder->stale_count] ? (folder->stale_count++, 0) : -ENOMEM;
}

// Whether a file of that name is a record.json on its way, of a tare that was killed.
static bool is_draft(const char *name)
{
	return strncmp(name, DRAFT, strlen(DRAFT)) == 0;
}

// Lists what is replaced in the folder. Returns how many entries it has that are no leavings, or a
// negative errno.
static int look_into(struct tare_record_folder *folder)
{
	int copy = openat(folder->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
	DIR *listing = copy < 0 ? NULL : fdopendir(copy);
	int why = errno, status = 0;

	if (!listing) {
		if (copy >= 0)
			close(copy);
		return -why;
	}
	for (struct dirent *entry; status == 0 && (entry = readdir(listing));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count += count < 1000 && !is_draft(entry->d_name);
		if (is_trace(entry->d_name) || is_draft(entry->d_name))
			status = add_stale(folder, entry->d_name);
	}
	closedir(listing);
	return status < 0 ? status : count;
}

static void forget_stale(struct tare_record_folder *folder)
{
	for (size_t i = 0; i < folder->stale_count; i++)
		free(folder->stale[i]);
	free(folder->stale);
	folder->stale = NULL;
	folder->stale_count = 0;
}

// ---- claiming

// Whether record.json is of a recording that has not ended, as far as is known.
static bool is_unfinished(const char *record)
{
	return strstr(record, "\"end_raw_ns\": null") != NULL;
}

// The same of one by this parallel job.
static bool is_of_job(const struct tare_record_folder *folder, const char *record)
{
	char key[sizeof folder->job + 16];

	if (!folder->job[0])
		return false;
	snprintf(key, sizeof key, "\"job\": \"%s\"", folder->job);
	return strstr(record, key) && is_unfinished(record);
}

static int admit(const struct tare_record_folder *folder, const char *record, int count, bool force,
                 struct tare_error *error)
{
	if (count < 0)
		return tare_fail(error, -count, "cannot read %.200s: %s", folder->path,
		                 strerror(-count));
	if (count == 0)
		return 0;
	if (!is_record(record))
		return tare_fail(error, EEXIST,
		                 "%.200s is there already and holds no trace of tare; name another "
		                 "with -o DIR",
		                 folder->path);
	if (!force)
		return tare_fail(error, EEXIST,
		                 "%.200s is there already; replace it with --force or name another "
		                 "with -o DIR",
		                 folder->path);
	return 0;
}

// Decides what may be done with the folder. `running`: others record into it.
static int judge(struct tare_record_folder *folder, bool running, bool force,
                 struct tare_error *error)
{
	char record[16384];
	int64_t waited_ns = 0;
	int count;

	for (;;) {
		read_record(folder->directory, record, sizeof record);
		folder->joined = is_of_job(folder, record);
		if (folder->joined)
			return 0;
		if (running)
			return tare_fail(error, EBUSY,
			                 "another tare record is recording into %.200s; wait for "
			                 "its end or name another with -o DIR",
			                 folder->path);
		forget_stale(folder);
		count = look_into(folder);
		// Perhaps another rank made it a moment ago, on a file system without locks.
		if (count != 0 || folder->made || !folder->job[0] || waited_ns >= JOIN_WAIT_NS)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = JOIN_STEP_NS }, NULL);
		waited_ns += JOIN_STEP_NS;
	}
	return admit(folder, record, count, force, error);
}

static int open_folder(struct tare_record_folder *folder, struct tare_error *error)
{
	int why;

	folder->made = mkdir(folder->path, 0777) == 0;
	why = errno;
	if (!folder->made && why != EEXIST)
		return tare_fail(error, why, "cannot make %.200s: %s; name another with -o DIR",
		                 folder->path, strerror(why));
	folder->directory = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	why = errno;
	if (folder->directory < 0 && why == ENOTDIR)
		return tare_fail(error, EEXIST,
		                 "%.200s is there already and is no folder; name another "
		                 "with -o DIR",
		                 folder->path);
	if (folder->directory < 0)
		return tare_fail(error, why, "cannot open %.200s: %s; name another with -o DIR",
		                 folder->path, strerror(why));
	return 0;
}

// Opens and locks the folder. Ranks of one job come at the same moment; where there are no locks,
// the wait above must do.
static int enter(struct tare_record_folder *folder, bool *running, struct tare_error *error)
{
	enum tare_record_lock lock;
	char record[16384];
	struct stat about;

	for (int turn = 0; turn < 100; turn++) {
		int status = open_folder(folder, error);
		if (status < 0)
			return status;
		lock = tare_record_lock_claim(folder->directory);
		read_record(folder->directory, record, sizeof record);
		if (lock == TARE_RECORD_LOCK_OURS && is_unfinished(record))
			lock = tare_record_lock_again(folder->directory);
		*running = lock != TARE_RECORD_LOCK_OURS;
		// Another one made it, could not start its program and took it away meanwhile.
		if (fstat(folder->directory, &about) < 0 || about.st_nlink > 0)
			return 0;
		close(folder->directory);
		folder->directory = -1;
	}
	return tare_fail(error, EBUSY, "%.200s comes and goes; name another with -o DIR",
	                 folder->path);
}

static int settle(const struct tare_record_claim *claim, struct tare_record_folder *folder,
                  struct tare_error *error)
{
	bool running = false;
	int status;

	folder->path = tare_record_folder_name(claim->output, claim->program, error);
	if (!folder->path)
		return error->code;
	tare_record_job(folder->job, sizeof folder->job);
	status = enter(folder, &running, error);
	// One that was just made as well: another rank may have been quicker with the lock.
	status = status ?: judge(folder, running, claim->force, error);
	if (status < 0)
		return status;
	folder->absolute = realpath(folder->path, NULL);
	folder->data = folder->absolute ? strdup(folder->absolute) : NULL;
	if (!folder->data)
		return tare_fail(error, errno, "cannot find out where %.200s is: %s", folder->path,
		                 strerror(errno));
	folder->remote = remote_of(folder->directory);
	if (folder->remote || claim->place == TARE_RECORD_LOCALLY)
		status = make_local(folder, claim->place == TARE_RECORD_LOCALLY, error);
	if (status == 0 && strlen(folder->data) >= TARE_RECORD_PATH_BYTES)
		status = tare_fail(error, ENAMETOOLONG, "the path of %.100s has more than %d bytes",
		                   folder->path, TARE_RECORD_PATH_BYTES - 1);
	return status;
}

int tare_record_folder_claim(const struct tare_record_claim *claim,
                             struct tare_record_folder *folder, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status;

	*folder = (struct tare_record_folder){ .directory = -1 };
	status = settle(claim, folder, &why);
	if (status == 0)
		return 0;
	tare_record_folder_abandon(folder);
	tare_record_folder_free(folder);
	if (error)
		*error = why;
	return status;
}

// ---- record.json

// Writing beyond RLIMIT_FSIZE is an error to be told, not a signal to die of.
static void bear_limit(struct sigaction *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, before);
}

// Writes all of it. Returns 0 or a positive errno.
static int write_all(int file, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t wrote = write(file, text, bytes);
		if (wrote < 0 && errno != EINTR)
			return errno;
		text += wrote > 0 ? wrote : 0;
		bytes -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

static int fail_write(const struct tare_record_folder *folder, int why, struct tare_error *error)
{
	return tare_fail(
	    error, why, "cannot write %.200s/" TARE_RECORD_FILE ": %s%s", folder->path,
	    strerror(why),
	    why == ENOSPC || why == EDQUOT ? "; make room, or record elsewhere with -o DIR" : "");
}

int tare_record_folder_draft(struct tare_record_folder *folder, const char *text, size_t bytes,
                             struct tare_error *error)
{
	struct sigaction before;
	char name[64];
	int file, why;

	snprintf(name, sizeof name, DRAFT "%ld", (long)getpid());
	file = openat(folder->directory, name,
	              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (file < 0)
		return fail_write(folder, errno, error);
	if (!folder->draft)
		folder->draft = strdup(name);
	if (!folder->draft) {
		unlinkat(folder->directory, name, 0);
		close(file);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	bear_limit(&before);
	why = write_all(file, text, bytes);
	sigaction(SIGXFSZ, &before, NULL);
	if (close(file) < 0 && why == 0)
		why = errno;
	if (why == 0)
		return 0;
	unlinkat(folder->directory, name, 0);
	return fail_write(folder, why, error);
}

int tare_record_folder_publish(struct tare_record_folder *folder, struct tare_error *error)
{
	if (renameat(folder->directory, folder->draft, folder->directory, TARE_RECORD_FILE) < 0) {
		int why = errno;
		unlinkat(folder->directory, folder->draft, 0);
		return fail_write(folder, why, error);
	}
	free(folder->draft);
	folder->draft = NULL;
	return 0;
}

// ---- the end of a claim

void tare_record_folder_begun(struct tare_record_folder *folder)
{
	for (size_t i = 0; i < folder->stale_count; i++)
		unlinkat(folder->directory, folder->stale[i], 0);
	tare_record_lock_share(folder->directory);
}

void tare_record_folder_abandon(struct tare_record_folder *folder)
{
	if (folder->draft && folder->directory >= 0)
		unlinkat(folder->directory, folder->draft, 0);
	// Not empty when another rank has joined meanwhile: then it stays.
	if (folder->made)
		rmdir(folder->path);
	if (folder->data && folder->absolute && strcmp(folder->data, folder->absolute) != 0)
		rmdir(folder->data);
}

// Copies a file where it cannot be renamed. Returns 0 or a positive errno; then no copy is left.
static int copy_file(int from_directory, int to_directory, const char *name)
{
	int from = openat(from_directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), to, why = 0;
	static char buffer[1 << 16];
	struct sigaction before;
	ssize_t got;

	if (from < 0)
		return errno;
	to = openat(to_directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (to < 0) {
		why = errno;
		close(from);
		return why;
	}
	bear_limit(&before);
	while (why == 0 && (got = read(from, buffer, sizeof buffer)) != 0) {
		if (got > 0)
			why = write_all(to, buffer, (size_t)got);
		else if (errno != EINTR)
			why = errno;
	}
	sigaction(SIGXFSZ, &before, NULL);
	if (close(to) < 0 && why == 0)
		why = errno;
	if (why != 0)
		unlinkat(to_directory, name, 0);
	close(from);
	return why;
}

static int move_file(int from, int to, const char *name)
{
	int why;

	if (renameat(from, name, to, name) == 0)
		return 0;
	if (errno != EXDEV)
		return errno;
	why = copy_file(from, to, name);
	if (why == 0)
		unlinkat(from, name, 0);
	return why;
}

int tare_record_folder_collect(struct tare_record_folder *folder, struct tare_error *error)
{
	DIR *listing;
	int why = 0;

	if (!folder->data || strcmp(folder->data, folder->absolute) == 0)
		return 0;
	listing = opendir(folder->data);
	if (!listing)
		return tare_fail(error, errno, "cannot read %.200s: %s", folder->data,
		                 strerror(errno));
	for (struct dirent *entry; (entry = readdir(listing));) {
		int moved = is_trace(entry->d_name)
		                ? move_file(dirfd(listing), folder->directory, entry->d_name)
		                : 0;
		why = why ? why : moved;
	}
	closedir(listing);
	if (why)
		return tare_fail(error, why,
		                 "cannot move the trace into %.150s: %s; it is in %.200s",
		                 folder->path, strerror(why), folder->data);
	rmdir(folder->data);
	return 0;
}

void tare_record_folder_obstacle(const char *folder, char *text, size_t size)
{
	// A header and two windows; a recorder reserves what it writes to.
	const uint64_t least = UINT64_C(1) << 20;
	struct statfs system;
	struct rlimit limit;

	text[0] = '\0';
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < least)
		snprintf(text, size,
		         "the limit on the size of files (ulimit -f) leaves no room for a "
		         "trace");
	else if (statfs(folder, &system) == 0 && system.f_bsize > 0 &&
	         (uint64_t)system.f_bavail < least / (uint64_t)system.f_bsize)
		snprintf(text, size,
		         "there is no room left in %.200s; make some, or record elsewhere "
		         "with -o DIR",
		         folder);
}

void tare_record_folder_free(struct tare_record_folder *folder)
{
	forget_stale(folder);
	if (folder->path && folder->directory >= 0)
		close(folder->directory);
	free(folder->path);
	free(folder->absolute);
	free(folder->data);
	free(folder->draft);
	*folder = (struct tare_record_folder){ .directory = -1 };
}
