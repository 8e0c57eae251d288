// SPDX-License-Identifier: Apache-2.0
// Names the phases of a program, so that tare can say where the time of each one went:
//
//	tare_phase_begin("step");
//	...
//	tare_phase_end();
//
// Phases nest, each thread has its own, and an end closes the last one that its thread has begun.
// This header is all there is: nothing to link, C99 and C++, in as many files and libraries as you
// like. Under `tare record` the first call loads the recorder that $TARE_PHASES names. Else, and in
// programs that are static or have more rights than their user, calls do nothing and cost a load
// and a branch. errno is kept.
#ifndef TARE_PHASE_H
#define TARE_PHASE_H

#if defined(__linux__) && defined(__GNUC__)
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

// Weak: a program that is linked without a dynamic loader has none, and records nothing.
#pragma weak dlopen
#pragma weak dlsym

struct tare_phase_calls_ {
	void (*begin)(const char *name);
	void (*end)(void);
};

static void tare_phase_first_begin_(const char *name);
static void tare_phase_first_end_(void);

// Both are replaced at the first call; empty: nothing is recorded.
static struct tare_phase_calls_ tare_phase_calls_ = { tare_phase_first_begin_,
	                                              tare_phase_first_end_ };

// Threads that come here at the same time find the same.
static void tare_phase_find_(void)
{
	struct tare_phase_calls_ found = { NULL, NULL };
	// A static program has no interpreter; a library that it loads would bring a second libc.
	int may = !getauxval(AT_SECURE) && getauxval(AT_BASE) != 0;
	const char *path = may ? getenv("TARE_PHASES") : NULL;
	int before = errno;
	if (path != NULL && path[0] == '/' && dlopen != NULL && dlsym != NULL) {
		void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
		void *begin = library != NULL ? dlsym(library, "tare_phase_begin") : NULL;
		void *end = library != NULL ? dlsym(library, "tare_phase_end") : NULL;
		if (begin != NULL && end != NULL) {
			memcpy(&found.begin, &begin, sizeof begin);
			memcpy(&found.end, &end, sizeof end);
		}
	}
	__atomic_store_n(&tare_phase_calls_.begin, found.begin, __ATOMIC_RELEASE);
	__atomic_store_n(&tare_phase_calls_.end, found.end, __ATOMIC_RELEASE);
	errno = before;
}

// A phase called `name` begins on this thread; the text is copied.
static inline void tare_phase_begin(const char *name)
{
	void (*begin)(const char *) = __atomic_load_n(&tare_phase_calls_.begin, __ATOMIC_ACQUIRE);
	if (begin != NULL)
		begin(name);
}

// The last phase that this thread has begun ends; without one nothing happens.
static inline void tare_phase_end(void)
{
	void (*end)(void) = __atomic_load_n(&tare_phase_calls_.end, __ATOMIC_ACQUIRE);
	if (end != NULL)
		end();
}

static void tare_phase_first_begin_(const char *name)
{
	tare_phase_find_();
	tare_phase_begin(name);
}

static void tare_phase_first_end_(void)
{
	tare_phase_find_();
	tare_phase_end();
}

#else // elsewhere nothing is recorded
static inline void tare_phase_begin(const char *name)
{
	(void)name;
}
static inline void tare_phase_end(void)
{
}
#endif
#endif
