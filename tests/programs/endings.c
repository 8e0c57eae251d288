// SPDX-License-Identifier: Apache-2.0
// Ways to begin, to multiply and to end:  endings WAY
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static struct program program;
static const char *self;

static void some_commands(int number)
{
	for (int i = 0; i < number; i++)
		launch(&program, program.queue, 0, NULL, NULL);
}

// Opens, runs, and says what came out.
static void whole(int number)
{
	program = open_program(0);
	some_commands(number);
	printf("%d\n", first_number(&program, program.queue));
	fflush(stdout);
	close_program(&program);
}

static void wait_for(pid_t child)
{
	int status = -1;

	if (child < 0 || waitpid(child, &status, 0) != child)
		exit(1);
	printf("child %d %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	fflush(stdout);
}

// The parent never calls OpenCL.
static void fork_only(void)
{
	for (int i = 1; i <= 3; i++) {
		pid_t child = fork();
		if (child == 0) {
			whole(10 * i);
			_Exit(i);
		}
		wait_for(child);
	}
}

// The parent has used OpenCL; the children make no call of it.
static void fork_quiet(void)
{
	whole(5);
	pid_t child = fork();
	if (child == 0)
		_Exit(4);
	wait_for(child);
	whole(7);
}

// Child of a child, that becomes another program, which uses OpenCL as the parent does.
static void exec_children(void)
{
	char *arguments[] = { (char *)self, (char *)"plain", NULL };
	pid_t child;

	whole(5);
	if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
		exit(1);
	wait_for(child);
	child = fork();
	if (child == 0) {
		execv(self, arguments);
		_exit(127);
	}
	wait_for(child);
}

// This process itself becomes another program after some work.
static void exec_self(void)
{
	whole(5);
	execl(self, self, "plain", (char *)NULL);
	exit(127);
}

static void plain(void)
{
	whole(20);
}

// Commands that nothing ever starts: no flush, no wait, nothing released.
static void never_flushed(void)
{
	program = open_program(0);
	some_commands(50);
	puts("left alone");
}

// Nothing sets what they wait for, so no driver executes them.
static void never_run(void)
{
	cl_int status;
	program = open_program(0);
	cl_event gate = clCreateUserEvent(program.context, &status);
	check(status, "clCreateUserEvent");
	for (int i = 0; i < 50; i++)
		launch(&program, program.queue, 1, &gate, NULL);
	puts("left alone");
	fflush(stdout);
	_exit(0);
}

static void leave_at_once(void)
{
	program = open_program(0);
	some_commands(50);
	check(clFinish(program.queue), "clFinish");
	_exit(9);
}

static void *leave(void *data)
{
	some_commands(10);
	check(clFinish(program.queue), "clFinish");
	exit(*(int *)data);
}

static void leave_from_a_thread(void)
{
	static int status = 11;
	pthread_t thread;

	program = open_program(0);
	some_commands(10);
	if (pthread_create(&thread, NULL, leave, &status) != 0)
		exit(1);
	pause();
}

static void *last(void *data)
{
	some_commands(10);
	first_number(&program, program.queue);
	return data;
}

// main leaves by pthread_exit, another thread goes on.
static void main_leaves_first(void)
{
	pthread_t thread;

	program = open_program(0);
	if (pthread_create(&thread, NULL, last, NULL) != 0)
		exit(1);
	pthread_exit(NULL);
}

static void die_by(int number)
{
	struct rlimit none = { 0, 0 };

	program = open_program(0);
	some_commands(50);
	check(clFinish(program.queue), "clFinish");
	setrlimit(RLIMIT_CORE, &none);
	if (number == SIGABRT)
		abort();
	raise(number);
}

static void aborted(void)
{
	die_by(SIGABRT);
}
static void terminated(void)
{
	die_by(SIGTERM);
}
static void killed(void)
{
	die_by(SIGKILL);
}
static void interrupted(void)
{
	die_by(SIGINT);
}

// As daemons do, in the middle of the work; other files then have the numbers.
static void close_everything(void)
{
	program = open_program(0);
	some_commands(20);
	for (int file = 3; file < 1024; file++)
		close(file);
	for (int i = 0; i < 200; i++)
		if (dup(1) < 0)
			exit(1);
	some_commands(30000);
	printf("%d\n", first_number(&program, program.queue));
	close_program(&program);
}

// No file may grow any more while the work goes on. The driver writes some at the first launch.
static void limits_itself(void)
{
	struct rlimit low = { 4096, 4096 };

	program = open_program(0);
	some_commands(1);
	check(clFinish(program.queue), "clFinish");
	setrlimit(RLIMIT_FSIZE, &low);
	for (int i = 0; i < 1000; i++) {
		some_commands(100);
		check(clFinish(program.queue), "clFinish");
	}
	printf("%d\n", first_number(&program, program.queue));
	close_program(&program);
}

// Calls from a handler that runs at exit, before and after the library's own.
static void from_atexit(void)
{
	some_commands(5);
	printf("at exit %d\n", first_number(&program, program.queue));
	close_program(&program);
}

static void work_at_exit(void)
{
	program = open_program(0);
	atexit(from_atexit);
	some_commands(5);
	exit(3);
}

static _Atomic int rounds;

static void *worker(void *data)
{
	for (;; rounds++)
		some_commands(1), clFinish(program.queue);
	return data;
}

// The process ends while threads are in the middle of their calls.
static void busy_at_exit(void)
{
	pthread_t thread;

	program = open_program(0);
	if (pthread_create(&thread, NULL, worker, NULL) != 0)
		exit(1);
	// A busy machine takes its time to run it at all.
	while (rounds < 10)
		usleep(1000);
	usleep(30000);
	fflush(stdout);
	_exit(6);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "plain", plain },
	{ "fork-only", fork_only },
	{ "fork-quiet", fork_quiet },
	{ "exec-children", exec_children },
	{ "exec-self", exec_self },
	{ "never-flushed", never_flushed },
	{ "never-run", never_run },
	{ "leave-at-once", leave_at_once },
	{ "leave-from-a-thread", leave_from_a_thread },
	{ "main-leaves-first", main_leaves_first },
	{ "aborted", aborted },
	{ "terminated", terminated },
	{ "killed", killed },
	{ "interrupted", interrupted },
	{ "close-everything", close_everything },
	{ "limits-itself", limits_itself },
	{ "work-at-exit", work_at_exit },
	{ "busy-at-exit", busy_at_exit },
};

int main(int count, char **arguments)
{
	self = arguments[0];
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (count < 2 || strcmp(ways[i].name, arguments[1]) != 0)
			continue;
		ways[i].run();
		return 0;
	}
	fputs("usage: endings WAY\n", stderr);
	return 2;
}
