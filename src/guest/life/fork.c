// SPDX-License-Identifier: Apache-2.0
// The child of a fork leaves its parent's file at once and begins its own with its next call.
// Children of vfork and posix_spawn run no handlers and so do nothing here.
#include "guest/contents.h"
#include "guest/internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct tare_trace_header no_header;

static void before_fork(void)
{
	int error = errno;
	struct guest_thread *thread = NULL;
	bool recording = atomic_load(&guest_life) == GUEST_RECORDING;
	// Else the child could find the vendor's locks held by a thread that it does not have.
	guest_helper_hold(recording);
	if (recording)
		thread = guest_thread();
	if (thread) {
		thread->forking = guest_event_always(thread);
		if (thread->forking) {
			memset(&thread->forking->words[1], 0,
			       sizeof *thread->forking - sizeof thread->forking->head);
			thread->forking->fork.ticks = guest_ticks();
		}
	}
	errno = error;
}

static void in_parent(void)
{
	struct guest_thread *thread = guest_this;
	guest_helper_resume();
	if (!thread || !thread->forking)
		return;
	guest_commit(thread->forking, tare_trace_head(TARE_TRACE_FORK, 0, 0, thread->track));
	thread->forking = NULL;
}

static void in_child(void)
{
	int error = errno;
	struct guest_thread *thread = guest_this;
	// The file is shared: only the child knows its number, so it writes it into its parent's
	// record.
	if (thread && thread->forking)
		__atomic_store_n(&thread->forking->fork.child, (uint64_t)getpid(),
		                 __ATOMIC_RELAXED);
	if (atomic_load(&guest_life) == GUEST_RECORDING)
		atomic_store(&guest_life, GUEST_FORKED);
	atomic_fetch_add(&guest_process, 1);
	guest_locks_forget();
	guest_thread_forget();
	guest_define_forget();
	guest_window_forget();
	guest_helper_forget();
	guest_lone_forget();
	guest_contents_forget();
	guest_file_forget();
	guest_api_in_child();
	memset(&no_header, 0, sizeof no_header);
	guest_header = &no_header;
	errno = error;
}

void guest_fork_register(void)
{
	static bool registered;
	if (!registered)
		registered = !pthread_atfork(before_fork, in_parent, in_child);
}
