// SPDX-License-Identifier: Apache-2.0
// Commands whose lines are known: each is marked in this text. With a word it does what stacks make
// hard:  sites [bare|signal|astray|fork|callers]
#include "sites.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct program program;
static int numbers[ITEMS];

// The compiler inlines it, with its line.
static inline __attribute__((always_inline)) void put(const struct program *p)
{
	// HERE: write
	check(clEnqueueWriteBuffer(p->queue, p->memory, CL_FALSE, 0, BYTES, numbers, 0, NULL, NULL),
	      "write");
}

static __attribute__((noinline)) void advance(const struct program *p, int steps)
{
	size_t items = ITEMS;

	for (int i = 0; i < steps; i++) {
		put(p); // HERE: put
		// HERE: kernel
		check(clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &items, NULL, 0, NULL,
		                             NULL),
		      "kernel");
	}
	__asm__ volatile(""); // no tail call
}

static __attribute__((noinline)) void plain(const struct program *p)
{
	cl_int status;
	cl_mem made;

	advance(p, 5);                       // HERE: advance
	check(clFinish(p->queue), "finish"); // HERE: finish
	// HERE: read
	check(clEnqueueReadBuffer(p->queue, p->memory, CL_TRUE, 0, BYTES, numbers, 0, NULL, NULL),
	      "read");
	// HERE: allocate
	made = clCreateBuffer(p->context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	check(status, "allocate");
	clReleaseMemObject(made);
	// Refused: no such size.
	// HERE: refused
	clEnqueueReadBuffer(p->queue, p->memory, CL_TRUE, BYTES, BYTES, numbers, 0, NULL, NULL);
	printf("%d\n", numbers[0]);
}

// ---- in a signal handler, on a stack of its own

static void on_signal(int number)
{
	(void)number;
	// HERE: signal
	check(clEnqueueWriteBuffer(program.queue, program.memory, CL_TRUE, 0, BYTES, numbers, 0,
	                           NULL, NULL),
	      "write in a handler");
}

static void *stack_with_guards(size_t bytes)
{
	char *pages = mmap(NULL, bytes + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + 4096, bytes, PROT_READ | PROT_WRITE) != 0)
		exit(1);
	return pages + 4096;
}

static void signalled(void)
{
	stack_t other = { .ss_size = 1 << 20 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	other.ss_sp = stack_with_guards(other.ss_size);
	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

// ---- on a stack that somebody has made up: its first function returns to nowhere

static jmp_buf back;

static __attribute__((noreturn, used)) void on_made_up_stack(void)
{
	// HERE: astray
	check(clEnqueueWriteBuffer(program.queue, program.memory, CL_TRUE, 0, BYTES, numbers, 0,
	                           NULL, NULL),
	      "write on another stack");
	_longjmp(back, 1);
}

static void astray(void)
{
#if defined(__x86_64__)
	size_t bytes = 1 << 20;
	uint64_t *top = (uint64_t *)((char *)stack_with_guards(bytes) + bytes) - 1;

	*top = UINT64_C(0xdeaddeaddeaddead);
	if (_setjmp(back) == 0)
		__asm__ volatile("movq %0, %%rsp\n\tjmp *%1"
		                 :
		                 : "r"(top), "r"(on_made_up_stack)
		                 : "memory");
#endif
}

// ---- in the child of a fork, by what its parent had opened

static __attribute__((noinline)) void write_twice(void)
{
	for (volatile int i = 0; i < 2; i++) // else the rounds could become two calls
		// HERE: fork
		check(clEnqueueWriteBuffer(program.queue, program.memory, CL_TRUE, 0, BYTES,
		                           numbers, 0, NULL, NULL),
		      "write");
}

static void forked(void)
{
	volatile int sides = 0; // else the loop's two rounds could become two calls
	pid_t child = 0;
	int status;

	// The child does what the parent did, by the same stack.
	do {
		write_twice();
		if (sides++ == 0)
			child = fork();
	} while (child == 0 && sides < 2);
	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

// From two places in turn: all but the outer line is the same.
static __attribute__((noinline)) void two_callers(void)
{
	for (volatile int i = 0; i < 6; i++) {
		// Different on both sides, else the two calls could become one.
		if (i % 2 == 0) {
			__asm__ volatile("nop");
			write_twice();
			__asm__ volatile("nop");
		} else {
			__asm__ volatile("nop; nop");
			write_twice();
			__asm__ volatile("nop; nop");
		}
	}
}

int main(int count, char **words)
{
	const char *word = count > 1 ? words[1] : "";

	program = open_program(0);
	if (strcmp(word, "bare") == 0)
		bare_write(&program, numbers);
	else if (strcmp(word, "signal") == 0)
		signalled();
	else if (strcmp(word, "astray") == 0)
		astray();
	else if (strcmp(word, "fork") == 0)
		forked();
	else if (strcmp(word, "callers") == 0)
		two_callers();
	else
		plain(&program);
	puts("done");
	close_program(&program);
	return 0;
}
