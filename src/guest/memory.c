// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

// Memory is cut from chunks and never given back. No lock: a signal handler may come anywhere.
struct chunk {
	_Atomic size_t used;
	size_t bytes;
};

enum { CHUNK_BYTES = 1 << 20, ALIGNMENT = 64 };

static _Atomic(struct chunk *) current;

static void *map_memory(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void *guest_memory(size_t bytes)
{
	int error = errno;
	void *memory = NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > CHUNK_BYTES / 4) {
		memory = map_memory(bytes);
		errno = error;
		return memory;
	}
	while (!memory) {
		struct chunk *chunk = atomic_load(&current), *fresh;
		if (chunk) {
			size_t at = atomic_fetch_add(&chunk->used, bytes);
			if (at + bytes <= chunk->bytes) {
				memory = (char *)chunk + at;
				break;
			}
		}
		fresh = map_memory(CHUNK_BYTES);
		if (!fresh)
			break;
		fresh->bytes = CHUNK_BYTES;
		atomic_store(&fresh->used, ALIGNMENT);
		if (!atomic_compare_exchange_strong(&current, &chunk, fresh))
			munmap(fresh, CHUNK_BYTES);
	}
	errno = error;
	return memory;
}

void guest_quiet_enter(struct guest_quiet *quiet)
{
	// Faults of the program's own stay what they are: blocked they would kill it.
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	sigset_t all;
	quiet->error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet->cancel);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, &quiet->signals);
}

void guest_quiet_leave(const struct guest_quiet *quiet)
{
	pthread_sigmask(SIG_SETMASK, &quiet->signals, NULL);
	pthread_setcancelstate(quiet->cancel, NULL);
	errno = quiet->error;
}

// ---- locks

struct registered {
	guest_lock *lock;
	struct registered *following;
};

static _Atomic(struct registered *) all_locks;

static void rest(unsigned turn)
{
	if (turn < 64) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	} else if (turn < 1024) {
		sched_yield();
	} else {
		// The holder may have a lower real-time priority: yielding would not let it run.
		struct timespec moment = { .tv_nsec = 50000 };
		int cancel;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		nanosleep(&moment, NULL);
		pthread_setcancelstate(cancel, NULL);
	}
}

bool guest_try(guest_lock *lock)
{
	if (atomic_load_explicit(&lock->taken, memory_order_relaxed))
		return false;
	if (!guest_alone())
		return !atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire);
	// A signal handler that takes it just now has given it back before we go on.
	atomic_store_explicit(&lock->taken, 1, memory_order_relaxed);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

void guest_acquire(guest_lock *lock)
{
	int error = errno;
	for (unsigned turn = 0; !guest_try(lock); turn++)
		rest(turn);
	errno = error;
}

void guest_release(guest_lock *lock)
{
	atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

void guest_lock_register(guest_lock *lock)
{
	struct registered *entry = guest_memory(sizeof *entry);
	if (!entry)
		return;
	entry->lock = lock;
	entry->following = atomic_load(&all_locks);
	while (!atomic_compare_exchange_weak(&all_locks, &entry->following, entry))
		;
}

void guest_locks_forget(void)
{
	for (struct registered *entry = atomic_load(&all_locks); entry; entry = entry->following)
		guest_release(entry->lock);
}
