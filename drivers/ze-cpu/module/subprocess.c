// SPDX-License-Identifier: Apache-2.0
// A subprocess inside somebody else's program. The program may handle SIGCHLD, ignore it, or wait
// for any child; so between the program and the subprocess stands a minder: a copy of this process
// that sends no signal when it ends, which only waits with __WALL see. The subprocess is the
// minder's child. Between clone and _exit the minder makes system calls only, because the locks of
// the copied process may be held by threads that were not copied.
#include "module/translate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// A subprocess that writes without end is to end before the disk is full.
#define LARGEST_FILE ((rlim_t)256 << 20)

// What the minder's exit status says beside small exit statuses of the subprocess.
enum { MINDER_SIGNAL = 128, MINDER_LATE = 254, MINDER_FAILED = 255, MINDER_OTHER = 127 };

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void become(const char *path, char *const *arguments, const char *log_file)
    __attribute__((noreturn));
static void become(const char *path, char *const *arguments, const char *log_file)
{
	struct rlimit none = { 0, 0 }, most = { LARGEST_FILE, LARGEST_FILE };
	sigset_t empty;
	int input = open("/dev/null", O_RDONLY);
	int output = open(log_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &most);
	if (input < 0 || output < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 ||
	    dup2(output, 2) < 0)
		_exit(MINDER_OTHER);
#ifdef SYS_close_range
	syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	execve(path, arguments, environ);
	_exit(MINDER_OTHER);
}

static void reset_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &usual, NULL);
}

static void mind(const char *path, char *const *arguments, const char *log_file, int64_t limit_ns)
    __attribute__((noreturn));
static void mind(const char *path, char *const *arguments, const char *log_file, int64_t limit_ns)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int64_t end = now_ns() + limit_ns;
	int status = 0;

	// A stop of the program's group would be told to the program by SIGCHLD. (One by SIGSTOP
	// that falls between clone and here still is: no call does both.)
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	reset_signals();
	long child = syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		become(path, arguments, log_file);
	if (child < 0)
		_exit(MINDER_FAILED);
	while (waitpid((pid_t)child, &status, WNOHANG) == 0) {
		if (now_ns() > end) {
			kill((pid_t)-child, SIGKILL);
			kill((pid_t)child, SIGKILL);
			waitpid((pid_t)child, &status, 0);
			_exit(MINDER_LATE);
		}
		nanosleep(&pause, NULL);
	}
	if (WIFSIGNALED(status))
		_exit(MINDER_SIGNAL + (WTERMSIG(status) & 63));
	_exit(WEXITSTATUS(status) < MINDER_OTHER ? WEXITSTATUS(status) : MINDER_OTHER);
}

enum subprocess_end subprocess_run(const char *path, char *const *arguments, const char *log_file,
                                   int64_t limit_ns, int *value)
{
	sigset_t all, before;
	int status = 0;
	pid_t waited;

	// So that no handler of the program runs in the copy.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	long minder = syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
	if (minder == 0)
		mind(path, arguments, log_file, limit_ns);
	int failure = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (minder < 0) {
		*value = failure;
		return SUBPROCESS_FAILED;
	}
	do
		waited = waitpid((pid_t)minder, &status, __WALL);
	while (waited < 0 && errno == EINTR);
	*value = waited < 0 ? errno : 0;
	if (waited < 0)
		return SUBPROCESS_FAILED;
	if (WIFSIGNALED(status)) {
		*value = WTERMSIG(status);
		return SUBPROCESS_SIGNALLED;
	}
	int said = WEXITSTATUS(status);
	if (said == MINDER_LATE)
		return SUBPROCESS_LATE;
	if (said == MINDER_FAILED) {
		*value = EAGAIN;
		return SUBPROCESS_FAILED;
	}
	*value = said >= MINDER_SIGNAL ? said - MINDER_SIGNAL : said;
	return said >= MINDER_SIGNAL ? SUBPROCESS_SIGNALLED : SUBPROCESS_EXITED;
}
