// SPDX-License-Identifier: Apache-2.0
// How arrays grow. All is inline: the reader of traces, which is a library of its own, uses it,
// too.
#pragma once
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// From some large pages (2 MiB) on.
#define TARE_LARGE_PAGES_BYTES (UINT64_C(8) << 20)

// For a program's begin: memory of a large array that is freed goes back to the system, however
// large others were that were freed before it. Of glibc; elsewhere nothing is done.
static inline void tare_return_large_arrays(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

// Asks the system to keep a large array that was just allocated in large pages, as far as it fills
// them: a walk over millions of rows then looks up few addresses. Nothing is lost if it does not.
// The system is asked for all of the array: a mapping of which a part is another kind cannot be
// moved, and realloc would copy it.
static inline void tare_in_large_pages(void *array, size_t bytes)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)array / page * page;
	uintptr_t to = ((uintptr_t)array + bytes + page - 1) / page * page;

	if (array && bytes >= TARE_LARGE_PAGES_BYTES)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

// Room for element `count` of `size` bytes in `array`, which has room for *room. Returns the array,
// which may have moved, or NULL, with it untouched, when there is no memory. Room that was never
// written is not resident, and the system moves large arrays without copying them.
static inline void *tare_make_room(void *array, size_t *room, size_t count, size_t size)
{
	size_t more;
	void *grown;

	if (count < *room)
		return array;
	more = *room ? *room * 2 : 16;
	if (more > SIZE_MAX / 2 / size)
		return NULL;
	grown = realloc(array, more * size);
	if (grown)
		*room = more;
	tare_in_large_pages(grown, grown ? more * size : 0);
	return grown;
}

// Element `count` of `array`, with room made for it; NULL when there is no memory.
#define TARE_ROOM_FOR(array, room, count)                                                          \
	({                                                                                         \
		typeof(array) grown_ = tare_make_room((array), &(room), (count), sizeof *(array)); \
		if (grown_)                                                                        \
			(array) = grown_;                                                          \
		grown_ ? &(array)[count] : NULL;                                                   \
	})

// The same where no room is kept, because it follows from the count: the new element is all zero.
static inline void *tare_grow(void *array, size_t count, size_t size)
{
	size_t room = count ? 16 : 0;
	char *grown;

	while (room && room < count)
		room *= 2;
	grown = tare_make_room(array, &room, count, size);
	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}
