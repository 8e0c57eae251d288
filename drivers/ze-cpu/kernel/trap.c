// SPDX-License-Identifier: Apache-2.0
// A handler stands before the program's own. A fault is a kernel's when a launch of ours runs and
// the faulting instruction, or a caller of it near the top of the stack (a kernel that calls
// memcpy), lies in an object of the OpenCL compiler's cache. The thread then leaves the work-group,
// and the launch has failed; where it cannot, it parks for ever, and all is given up. A fault in a
// copy jumps out of it. Any other fault is handed to the handler that was there.
#include "kernel/trap.h"
#include "kernel/runner.h"
#include "kernel/trap_leave.h"
#include "module/opencl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_WORDS 64

static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
#define FAULTS (sizeof faults / sizeof *faults)
#define MEMORY_FAULTS 2 // the first ones

// `first`: what was there before our handler came for the first time; `next`: what it displaced
// last, when the program had put its own before ours.
static struct {
	struct sigaction first, next;
	bool installed;
} chain[FAULTS];
static pthread_mutex_t chain_lock = PTHREAD_MUTEX_INITIALIZER;

// OpenCL's handler of SIGFPE steps over integer divisions by zero, as GPUs do.
static struct sigaction program_fpe, program_usr2, opencl_fpe;
static bool opencl_has_fpe;

static atomic_int launches;
static atomic_bool trapped;

// The program's handler may hand a signal that we gave it back to us; it then goes to `first`. That
// is so when the same context comes again in a deeper frame. Initial-exec: the usual model may
// allocate in the handler.
static __thread struct {
	const void *context;
	uintptr_t frame;
} handling __attribute__((tls_model("initial-exec")));

// Where this thread goes on when what it does with the program's memory faults; NULL: it does
// nothing.
static __thread sigjmp_buf *volatile guarded __attribute__((tls_model("initial-exec")));

static size_t fault_index(int number)
{
	size_t i = 0;

	while (i + 1 < FAULTS && faults[i] != number)
		i++;
	return i;
}

static uintptr_t program_counter(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

static uintptr_t stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.sp;
#else
	(void)context;
	return 0;
#endif
}

static bool in_kernel_code(uintptr_t at)
{
	char unused[1];
	const struct cpu_opencl *opencl = cpu_opencl(unused, sizeof unused);
	Dl_info object;

	return opencl && at && dladdr((void *)at, &object) && object.dli_fname &&
	       strncmp(object.dli_fname, opencl->cache, strlen(opencl->cache)) == 0;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) static bool
is_of_kernel(const ucontext_t *context)
{
	uintptr_t at = program_counter(context), top = stack_pointer(context);

	if (in_kernel_code(at))
		return true;
#if defined(__aarch64__)
	if (in_kernel_code((uintptr_t)context->uc_mcontext.regs[30]))
		return true;
#endif
	// Not beyond the page: there may be no more stack.
	for (size_t i = 0; top && i < STACK_WORDS; i++) {
		uintptr_t word = (top + i * sizeof at) & ~(uintptr_t)(sizeof at - 1);
		if (i && word % 4096 == 0)
			break;
		if (in_kernel_code(*(const volatile uintptr_t *)word))
			return true;
	}
	return false;
}

// Out of the work-group, whose launch has failed. False: it is not certain how.
static bool leave_kernel(ucontext_t *context)
{
	uintptr_t at = program_counter(context), top = stack_pointer(context);
	Dl_info function = { .dli_sname = NULL };

	// A call to nowhere, or a function without a frame.
	if (!in_kernel_code(at) && top)
		at = *(const uintptr_t *)top;
	if (!in_kernel_code(at) || !dladdr((void *)at, &function))
		function.dli_sname = NULL;
	if (!trap_leave_kernel(context, in_kernel_code))
		return false;
	runner_trapped(function.dli_sname);
	return true;
}

static void park(void) __attribute__((noreturn));
static void park(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (;;)
		pause();
}

// Calls a handler as the kernel would have.
static void deliver(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
	bool plain = !(action->sa_flags & SA_SIGINFO);
	sigset_t mask = action->sa_mask, before;

	if (plain && action->sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (plain && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)) {
		// The fault comes again, and takes its default action.
		struct sigaction usual = { .sa_handler = SIG_DFL };
		sigaction(number, &usual, NULL);
		if (info->si_code <= 0)
			raise(number);
		return;
	}
	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	pthread_sigmask(SIG_BLOCK, &mask, &before);
	if (plain)
		action->sa_handler(number);
	else
		action->sa_sigaction(number, info, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	size_t which = fault_index(number);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool again = handling.context == context && frame < handling.frame;

	if (guarded && info->si_code > 0 && which < MEMORY_FAULTS) {
		sigjmp_buf *out = guarded;
		guarded = NULL;
		siglongjmp(*out, 1);
	}
	if (!again && info->si_code > 0 && (atomic_load(&launches) || trap_happened()) &&
	    is_of_kernel(context)) {
		if (number == SIGFPE && opencl_has_fpe && info->si_code == FPE_INTDIV) {
			deliver(&opencl_fpe, number, info, context);
			return;
		}
		if (!leave_kernel(context)) {
			atomic_store(&trapped, true);
			runner_wake_all();
			park();
		}
		return;
	}
	if (again) {
		deliver(&chain[which].first, number, info, context);
		return;
	}
	const void *context_before = handling.context;
	uintptr_t frame_before = handling.frame;
	handling.context = context;
	handling.frame = frame;
	struct sigaction action = chain[which].next;
	// As the kernel does: the handler may count on the default action when it returns.
	if (action.sa_flags & SA_RESETHAND)
		chain[which].next = (struct sigaction){ .sa_handler = SIG_DFL };
	deliver(&action, number, info, context);
	handling.context = context_before;
	handling.frame = frame_before;
}

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fault;
}

// The first `count` of `faults`.
static void put_in_front(size_t count)
{
	// Not masked while it runs: a program's handler that is called from it may fault itself.
	struct sigaction ours = { .sa_sigaction = on_fault,
		                  .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	pthread_mutex_lock(&chain_lock);
	for (size_t i = 0; i < count; i++) {
		struct sigaction present;
		if (sigaction(faults[i], NULL, &present) || is_ours(&present))
			continue;
		if (!chain[i].installed)
			chain[i].first = present;
		chain[i].installed = true;
		chain[i].next = present;
		sigaction(faults[i], &ours, NULL);
	}
	pthread_mutex_unlock(&chain_lock);
}

void trap_launch_begins(void)
{
	atomic_fetch_add(&launches, 1);
	put_in_front(FAULTS);
}

void trap_launch_ends(void)
{
	atomic_fetch_sub(&launches, 1);
}

bool trap_happened(void)
{
	return atomic_load(&trapped);
}

void trap_block_signals(sigset_t *before)
{
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < FAULTS; i++)
		sigdelset(&blocked, faults[i]);
	sigdelset(&blocked, SIGTRAP);
	sigdelset(&blocked, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &blocked, before);
}

void trap_let_faults_in(sigset_t *before)
{
	sigset_t let;

	sigemptyset(&let);
	for (size_t i = 0; i < FAULTS; i++)
		sigaddset(&let, faults[i]);
	pthread_sigmask(SIG_UNBLOCK, &let, before);
}

void trap_before_opencl(void)
{
	sigaction(SIGFPE, NULL, &program_fpe);
	sigaction(SIGUSR2, NULL, &program_usr2);
}

static bool same_handler(const struct sigaction *one, const struct sigaction *other)
{
	return one->sa_flags & SA_SIGINFO ? one->sa_sigaction == other->sa_sigaction
	                                  : one->sa_handler == other->sa_handler;
}

void trap_after_opencl(void)
{
	struct sigaction present;

	if (sigaction(SIGFPE, NULL, &present) == 0 && !same_handler(&present, &program_fpe)) {
		opencl_fpe = present;
		opencl_has_fpe = true;
		sigaction(SIGFPE, &program_fpe, NULL);
	}
	if (sigaction(SIGUSR2, NULL, &present) == 0 && !same_handler(&present, &program_usr2))
		sigaction(SIGUSR2, &program_usr2, NULL);
}

bool trap_guard(void (*work)(const void *context), const void *context)
{
	sigjmp_buf out;

	put_in_front(MEMORY_FAULTS);
	// The handler masks nothing, so there is no mask to bring back.
	if (sigsetjmp(out, 0))
		return false;
	guarded = &out;
	work(context);
	guarded = NULL;
	return true;
}

struct bytes {
	void *to;
	const void *from;
	size_t count;
};

static void move(const void *context)
{
	const struct bytes *bytes = context;

	memmove(bytes->to, bytes->from, bytes->count);
}

bool trap_copy(void *to, const void *from, size_t bytes)
{
	return trap_guard(move, &(struct bytes){ to, from, bytes });
}
