// SPDX-License-Identifier: Apache-2.0
// dlsym(3), which the program's calls of it are bound to, for we are preloaded. Of the functions
// that the front stands before it gives ours; every other question goes on to the C library as it
// came.
#include "guest/cuda/front/internal.h"
#include "guest/cuda/front/lookup.h"

#include <dlfcn.h>
#include <string.h>

typedef void *(*lookup)(void *library, const char *name);

struct lookup_answer front_dlsym(void *library, const char *name);

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#error "the front is not built for this processor"
#endif

LOOKUP(dlsym, front_dlsym);

static lookup c_library(void)
{
	static void *kept;
	void *found = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
	lookup function;
	if (__builtin_expect(!found, 0)) {
		found = dlvsym(RTLD_NEXT, "dlsym", FIRST_VERSION);
		if (!found)
			found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
		__atomic_store_n(&kept, found, __ATOMIC_RELEASE);
	}
	memcpy(&function, &found, sizeof function);
	return function;
}

// ---- the driver

static void *driver; // stored atomically; stays open, for the front keeps its addresses

static void keep_driver(const void *function)
{
	Dl_info where;
	if (__atomic_load_n(&driver, __ATOMIC_ACQUIRE) || !dladdr(function, &where) ||
	    !where.dli_fname)
		return;
	__atomic_store_n(&driver, dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD),
	                 __ATOMIC_RELEASE);
}

front_function front_driver_function(const char *name)
{
	lookup look = c_library();
	void *library = __atomic_load_n(&driver, __ATOMIC_ACQUIRE);
	void *found = library ? look(library, name) : look(RTLD_NEXT, name);
	front_function function;
	if (!library && !found && (library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)))
		found = look(library, name);
	if (found)
		keep_driver(found);
	else
		dlerror();
	memcpy(&function, &found, sizeof function);
	return function;
}

// ---- the program's questions

// FRONT_SLOTS: it is none that the front stands before.
static uint32_t slot_of(const char *name)
{
	uint32_t slot = 0;
	if (!name || name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z')
		return FRONT_SLOTS;
	while (slot < FRONT_SLOTS && strcmp(front_name(slot), name) != 0)
		slot++;
	return slot;
}

// Without a driver our functions are none: then nothing is found, and dlerror(3) says so.
static struct lookup_answer ours_if_any(uint32_t slot, void *address)
{
	bool is_there = front_real(slot) != NULL;
	return (struct lookup_answer){ is_there ? address
		                                : c_library()(RTLD_NEXT, front_name(slot)),
		                       0 };
}

struct lookup_answer front_dlsym(void *library, const char *name)
{
	uint32_t slot = slot_of(name);
	lookup look = c_library();
	front_function ours, real;
	struct lookup_answer asked = { NULL, look != NULL };
	void *address, *found;
	memcpy(&asked.address, &look, sizeof look);
	if (__builtin_expect(slot == FRONT_SLOTS || library == RTLD_NEXT || !look, 1))
		return asked;
	ours = front_ours(slot);
	memcpy(&address, &ours, sizeof address);
	if (library == RTLD_DEFAULT)
		return front_real(slot) ? asked : ours_if_any(slot, address);
	found = look(library, name);
	if (!found)
		return (struct lookup_answer){ NULL, 0 };
	if (found == address)
		return ours_if_any(slot, address);
	keep_driver(found);
	memcpy(&real, &found, sizeof real);
	// Another one of that name, which is not the driver that we know, stays itself.
	return (struct lookup_answer){ front_keep(slot, real) == real ? address : found, 0 };
}
