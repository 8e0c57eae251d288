// SPDX-License-Identifier: Apache-2.0
// dlsym(3), which the program's calls of it are bound to, for we are preloaded. Of the functions
// that the front stands before it gives ours; every other question goes on to the C library as it
// came.
#include "guest/cuda/front/internal.h"
#include "guest/cuda/front/lookup.h"

#include <dlfcn.h>
#include <string.h>

struct lookup_answer front_dlsym(void *library, const char *name);

LOOKUP(dlsym, front_dlsym);

// FRONT_SLOTS: it is none that the front stands before.
static uint32_t slot_of(const char *name)
{
	uint32_t slot = 0;
	if (!name || name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z')
		return FRONT_SLOTS;
	while (slot < FRONT_SLOTS && strcmp(front_names[slot], name) != 0)
		slot++;
	return slot;
}

// Without a driver our functions are none: then nothing is found, and dlerror(3) says so.
static struct lookup_answer ours_if_any(uint32_t slot, void *address)
{
	bool is_there = front_real(slot) != NULL;
	return (struct lookup_answer){ is_there ? address
		                                : front_c_library()(RTLD_NEXT, front_names[slot]),
		                       0 };
}

struct lookup_answer front_dlsym(void *library, const char *name)
{
	uint32_t slot = slot_of(name);
	front_lookup look = front_c_library();
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
	front_keep_driver(found);
	memcpy(&real, &found, sizeof real);
	// Another one of that name, which is not the driver that we know, stays itself.
	return (struct lookup_answer){ front_keep(slot, real) == real ? address : found, 0 };
}
