// SPDX-License-Identifier: Apache-2.0
// The driver's functions that the front stands before, and where they are found.
#include "guest/cuda/front/internal.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#error "the front is not built for this processor"
#endif

const char *const front_names[FRONT_SLOTS] = {
#define NAME(count, name) #name,
	CUDA_FRONT_FUNCTIONS(NAME)
#undef NAME
	    "cuGetProcAddress",
	"cuGetProcAddress_v2",
};

front_lookup front_c_library(void)
{
	static void *kept;
	void *found = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
	front_lookup function;
	if (__builtin_expect(!found, 0)) {
		found = dlvsym(RTLD_NEXT, "dlsym", FIRST_VERSION);
		if (!found)
			found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
		__atomic_store_n(&kept, found, __ATOMIC_RELEASE);
	}
	memcpy(&function, &found, sizeof function);
	return function;
}

static void *driver; // stored atomically; stays open, for the front keeps its addresses

void front_keep_driver(const void *function)
{
	Dl_info where;
	if (__atomic_load_n(&driver, __ATOMIC_ACQUIRE) || !dladdr(function, &where) ||
	    !where.dli_fname)
		return;
	__atomic_store_n(&driver, dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD),
	                 __ATOMIC_RELEASE);
}

// dlsym(3) in the driver that the process has loaded; what dlerror(3) tells is nothing afterwards.
static front_function driver_function(const char *name)
{
	front_lookup look = front_c_library();
	void *library = __atomic_load_n(&driver, __ATOMIC_ACQUIRE);
	void *found = library ? look(library, name) : look(RTLD_NEXT, name);
	front_function function;
	if (!library && !found && (library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)))
		found = look(library, name);
	if (found)
		front_keep_driver(found);
	else
		dlerror();
	memcpy(&function, &found, sizeof function);
	return function;
}

static front_function reals[FRONT_SLOTS]; // stored atomically; NULL: not looked for yet

front_function front_keep(uint32_t slot, front_function found)
{
	front_function none = NULL;
	if (!found || __atomic_compare_exchange_n(&reals[slot], &none, found, false,
	                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return found;
	return none;
}

static __attribute__((noinline)) front_function look_for(uint32_t slot)
{
	return front_keep(slot, driver_function(front_names[slot]));
}

front_function front_real(uint32_t slot)
{
	front_function real = __atomic_load_n(&reals[slot], __ATOMIC_ACQUIRE);
	return __builtin_expect(real != NULL, 1) ? real : look_for(slot);
}
