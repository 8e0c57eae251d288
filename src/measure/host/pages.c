// SPDX-License-Identifier: Apache-2.0
#include "measure/host/pages.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

uint64_t host_pages_huge_bytes(void)
{
	unsigned long long kib;
	char line[128];
	TARE_FCLOSE FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Hugepagesize: %llu kB", &kib) == 1)
			return (uint64_t)kib << 10;
	return 0;
}

// The administrator may have switched them off, which madvise does not tell.
static bool transparent_are_off(void)
{
	char line[128] = "";
	TARE_FCLOSE FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

	return !file || !fgets(line, sizeof line, file) || strstr(line, "[never]");
}

static bool map_at(void *at, uint64_t bytes, int flags)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
	            0) != MAP_FAILED;
}

static int use_explicit(void *at, uint64_t bytes, struct tare_error *error)
{
	void *elsewhere = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	// Tried elsewhere first: a mapping that fails may have taken away what was in its place.
	if (elsewhere != MAP_FAILED) {
		munmap(elsewhere, bytes);
		if (map_at(at, bytes, MAP_FIXED | MAP_HUGETLB))
			return 0;
		// Somebody else got them in between; what was here must be memory again.
		if (!map_at(at, bytes, MAP_FIXED))
			return tare_fail(error, ENOMEM, "out of memory for %llu bytes of pages",
			                 (unsigned long long)bytes);
	}
	return tare_fail(error, ENOTSUP,
	                 "the system has not enough huge pages set aside (sysctl vm.nr_hugepages)");
}

int host_pages_use(void *at, uint64_t bytes, enum host_pages pages, struct tare_error *error)
{
	if (pages == HOST_PAGES_EXPLICIT)
		return use_explicit(at, bytes, error);
	if (pages == HOST_PAGES_TRANSPARENT && transparent_are_off())
		return tare_fail(error, ENOTSUP,
		                 "transparent huge pages are switched off "
		                 "(/sys/kernel/mm/transparent_hugepage/enabled)");
	// Without the word for small pages the kernel has only those.
	if (madvise(at, bytes, pages == HOST_PAGES_SMALL ? MADV_NOHUGEPAGE : MADV_HUGEPAGE) == 0 ||
	    pages == HOST_PAGES_SMALL)
		return 0;
	return tare_fail(error, ENOTSUP, "this kernel has no transparent huge pages");
}

uint64_t host_pages_transparent_bytes(const void *at, uint64_t bytes)
{
	unsigned long from, to;
	unsigned long long kib;
	char line[256];
	uint64_t found = 0;
	bool inside = false;
	TARE_FCLOSE FILE *file = fopen("/proc/self/smaps", "re");

	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from < (uintptr_t)at + bytes && to > (uintptr_t)at;
		else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kib) == 1)
			found += (uint64_t)kib << 10;
	}
	return found < bytes ? found : bytes;
}
