// SPDX-License-Identifier: Apache-2.0
#include "record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The program, while there is one to hand signals on to.
static volatile pid_t running;
// The last signal that asks to end, since it was started.
static volatile sig_atomic_t asked;

// ---- signals

static void hand_on(int number, siginfo_t *info, void *context)
{
	int before = errno;
	pid_t child = running;

	(void)context;
	// What the kernel sends comes from the terminal and has reached the program as well: it is
	// in the same process group. A timer that was set before tare was started has reached tare
	// only. What the program sends to its own group it has had itself.
	bool by_kernel = info->si_code > 0 && number != SIGALRM;
	if (number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP)
		asked = number;
	if (child > 0 && !by_kernel && info->si_pid != child)
		kill(child, number);
	errno = before;
}

// Those that tare takes itself: faults of its own, its child's, and those that stop it.
static bool is_own(int number)
{
	static const int own[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGSYS,
		                   SIGTRAP, SIGABRT, SIGCHLD, SIGTTIN, SIGTTOU, SIGPIPE };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i] == number)
			return true;
	// The C library keeps a few for itself.
	return number >= 32 && number < SIGRTMIN;
}

static void take_signals(void)
{
	struct sigaction action = { .sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigfillset(&action.sa_mask);
	for (int number = 1; number < _NSIG; number++)
		// Those that tare was told to ignore as well: the program may have decided
		// otherwise.
		if (!is_own(number))
			sigaction(number, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void give_signals_back(const struct tare_child *launch)
{
	for (int number = 1; number < _NSIG; number++)
		if (!is_own(number) || number == SIGPIPE || number == SIGCHLD)
			sigaction(number, &launch->actions[number], NULL);
}

// ---- starting

// In the child: becomes the program, or says by `told` why not.
static void become(char *const *arguments, char *const *environment,
                   const struct tare_child *launch, pid_t parent, int answer)
{
	int why = 0;

	sigaction(SIGCHLD, &launch->actions[SIGCHLD], NULL);
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	// Who kills tare means the program.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	execvpe(arguments[0], arguments, environment);
	why = errno;
	while (write(answer, &why, sizeof why) < 0 && errno == EINTR)
		;
	_exit(127);
}

// The errno of the exec, 0 when it succeeded.
static int hear(int answer)
{
	int why = 0;
	ssize_t got;

	do
		got = read(answer, &why, sizeof why);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof why ? why : 0;
}

static int fail_own(int why, struct tare_error *error)
{
	return tare_fail(error, why, "cannot start a process: %s", strerror(why));
}

static int fail_exec(const char *program, int why, struct tare_error *error)
{
	if (why == ENOENT && strchr(program, '/') && access(program, F_OK) == 0)
		return tare_fail(error, why,
		                 "cannot run '%.200s': the interpreter that it names is not "
		                 "there",
		                 program);
	if (why == ENOENT)
		return tare_fail(error, why, "there is no program '%.200s'%s", program,
		                 strchr(program, '/') ? ""
		                                      : " in PATH; one that is here is ./NAME");
	return tare_fail(error, why, "cannot run '%.200s': %s", program, strerror(why));
}

int tare_child_start(char *const *arguments, char *const *environment, struct tare_child *launch,
                     bool *own, struct tare_error *error)
{
	pid_t parent = getpid();
	int ends[2], why;
	sigset_t all;

	*own = true;
	*launch = (struct tare_child){ .child = -1 };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_own(errno, error);
	// Whatever comes before the handlers are there waits for them.
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &launch->mask);
	for (int number = 1; number < _NSIG; number++)
		if (sigaction(number, NULL, &launch->actions[number]) < 0)
			launch->actions[number].sa_handler = SIG_IGN;
	// Else there would be no status to wait for.
	signal(SIGCHLD, SIG_DFL);
	launch->child = fork();
	why = errno;
	if (launch->child == 0)
		become(arguments, environment, launch, parent, ends[1]);
	close(ends[1]);
	if (launch->child > 0) {
		*own = false;
		why = hear(ends[0]);
		if (why)
			while (waitpid(launch->child, NULL, 0) < 0 && errno == EINTR)
				;
	}
	close(ends[0]);
	if (why || launch->child < 0) {
		give_signals_back(launch);
	} else {
		running = launch->child;
		asked = 0;
		take_signals();
	}
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	if (launch->child < 0)
		return fail_own(why, error);
	return why ? fail_exec(arguments[0], why, error) : 0;
}

// ---- waiting

static int64_t ns_of(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

// The program has stopped: so does tare, until somebody lets both go on.
static void stop_alike(int number)
{
	struct sigaction before, standard = { .sa_handler = SIG_DFL };
	sigset_t one, mask;

	sigaction(number, &standard, &before);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, &mask);
	raise(number);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (number != SIGSTOP)
		sigaction(number, &before, NULL);
}

int tare_child_wait(struct tare_child *launch, struct tare_child_end *end, struct tare_error *error)
{
	struct rusage usage = { 0 };
	int status = 0;

	for (;;) {
		// Left as it is at first: a number that is free again may be another process's.
		siginfo_t what = { 0 };
		if (waitid(P_PID, (id_t)launch->child, &what, WEXITED | WSTOPPED | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		bool stopped = what.si_code == CLD_STOPPED || what.si_code == CLD_TRAPPED;
		if (!stopped)
			running = 0;
		if (wait4(launch->child, &status, WUNTRACED, &usage) < 0)
			break;
		if (!WIFSTOPPED(status))
			goto ended;
		stop_alike(WSTOPSIG(status));
	}
	running = 0;
	give_signals_back(launch);
	return tare_fail(error, errno, "cannot wait for the program: %s", strerror(errno));
ended:
	give_signals_back(launch);
	signal(SIGPIPE, SIG_IGN);
	*end = (struct tare_child_end){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.asked = (int)asked,
		.user_ns = ns_of(usage.ru_utime),
		.system_ns = ns_of(usage.ru_stime),
		.max_resident_bytes = (int64_t)usage.ru_maxrss * 1024,
	};
	return 0;
}

int tare_launch_die_alike(const struct tare_child_end *end)
{
	struct rlimit none = { 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(end->signal, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, end->signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(end->signal);
	return 128 + end->signal;
}
