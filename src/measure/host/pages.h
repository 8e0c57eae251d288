// SPDX-License-Identifier: Apache-2.0
// Of which pages ordinary memory of the host is made.
#pragma once
#include "base/error.h"

#include <stdint.h>

enum host_pages {
	HOST_PAGES_SMALL,       // the system's own, and no larger ones
	HOST_PAGES_TRANSPARENT, // huge ones where the kernel has them, by madvise
	HOST_PAGES_EXPLICIT,    // of those that were set aside (MAP_HUGETLB)
};

// Bytes of a huge page as the system says; 0: it does not.
uint64_t host_pages_huge_bytes(void);

// Has mapped memory that nobody has touched made of such pages; `at` and `bytes` are multiples of a
// huge page. Explicit ones take the mapping's place, and go when all of it is unmapped. Returns 0;
// -ENOTSUP with a sentence: this system has no such pages, or none left.
int host_pages_use(void *at, uint64_t bytes, enum host_pages pages, struct tare_error *error);

// Bytes of touched memory that lie in transparent huge pages, at most `bytes`; 0 also where the
// system does not say.
uint64_t host_pages_transparent_bytes(const void *at, uint64_t bytes);
