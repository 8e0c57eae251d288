// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory, and the one mapped into the other. Access attributes are
// remembered, not enforced: a forbidden access would end the whole program, not just the kernel.
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct _ze_physical_mem_handle_t {
	struct memory_range range;
	size_t bytes;
	uint32_t references; // the handle's own, and one a mapping
};

struct mapping {
	struct mapping *next;
	char *base;
	size_t bytes;
	struct _ze_physical_mem_handle_t *memory;
};

struct reservation {
	struct reservation *next;
	char *base;
	size_t bytes;
	struct mapping *mappings;
	unsigned char *access; // ze_memory_access_attribute_t of each page
};

// Guards all of the above. The table's lock and the file's are taken under it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reservation *reservations;

static bool is_whole(size_t bytes)
{
	return bytes && bytes % memory_page() == 0;
}

static ze_result_t check(ze_context_handle_t context, const void *at, size_t bytes)
{
	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if ((uintptr_t)at % memory_page())
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	return is_whole(bytes) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
}

// The reservation that holds all of these bytes. Needs the lock.
static struct reservation *reservation_of(const void *at, size_t bytes)
{
	for (struct reservation *each = reservations; each; each = each->next) {
		size_t past = (uintptr_t)at - (uintptr_t)each->base;
		if ((uintptr_t)at >= (uintptr_t)each->base && past <= each->bytes &&
		    bytes <= each->bytes - past)
			return each;
	}
	return NULL;
}

// ---- addresses

ze_result_t cpu_zeVirtualMemReserve(ze_context_handle_t context, const void *start, size_t bytes,
                                    void **at)
{
	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!is_whole(bytes))
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	struct reservation *made = calloc(1, sizeof *made);
	unsigned char *access = calloc(bytes / memory_page(), 1);
	void *base = mmap((void *)(uintptr_t)start, bytes, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!made || !access || base == MAP_FAILED) {
		if (base != MAP_FAILED)
			munmap(base, bytes);
		free(access);
		free(made);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*made = (struct reservation){ .base = base, .bytes = bytes, .access = access };
	pthread_mutex_lock(&lock);
	made->next = reservations;
	reservations = made;
	pthread_mutex_unlock(&lock);
	*at = base;
	return ZE_RESULT_SUCCESS;
}

// Needs the lock.
static void release_memory(struct _ze_physical_mem_handle_t *memory)
{
	if (--memory->references)
		return;
	memory_range_release(&memory->range);
	free(memory);
}

// Takes the mapping out; its addresses stay reserved. Needs the lock.
static void unmap(struct reservation *reservation, struct mapping **link)
{
	struct mapping *mapping = *link;
	struct memory_record record;
	size_t page = memory_page();

	memory_remove(mapping->base, &record);
	mmap(mapping->base, mapping->bytes, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	memset(reservation->access + (size_t)(mapping->base - reservation->base) / page, 0,
	       mapping->bytes / page);
	*link = mapping->next;
	release_memory(mapping->memory);
	free(mapping);
}

ze_result_t cpu_zeVirtualMemFree(ze_context_handle_t context, const void *at, size_t bytes)
{
	ze_result_t result = check(context, at, bytes);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	struct reservation **link = &reservations;
	while (*link && ((*link)->base != at || (*link)->bytes != bytes))
		link = &(*link)->next;
	struct reservation *found = *link;
	if (found) {
		while (found->mappings)
			unmap(found, &found->mappings);
		*link = found->next;
		munmap(found->base, found->bytes);
		free(found->access);
		free(found);
	}
	pthread_mutex_unlock(&lock);
	return found ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t cpu_zeVirtualMemQueryPageSize(ze_context_handle_t context, ze_device_handle_t device,
                                          size_t bytes, size_t *page_bytes)
{
	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!page_bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!bytes)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	*page_bytes = memory_page();
	return ZE_RESULT_SUCCESS;
}

// ---- physical memory

// On the device (bit 0) or on the host (bit 1): here they are one memory. Before Level Zero 1.9 the
// first was called ZE_PHYSICAL_MEM_FLAG_TBD and the second was not there.
static const ze_physical_mem_flags_t PHYSICAL_FLAGS = ZE_BIT(0) | ZE_BIT(1);

ze_result_t cpu_zePhysicalMemCreate(ze_context_handle_t context, ze_device_handle_t device,
                                    ze_physical_mem_desc_t *desc, ze_physical_mem_handle_t *memory)
{
	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!desc || !memory)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->flags & ~PHYSICAL_FLAGS)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (!is_whole(desc->size) || (cpu_device.script.device.largest_bytes &&
	                              desc->size > cpu_device.script.device.largest_bytes))
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	struct _ze_physical_mem_handle_t *made = calloc(1, sizeof *made);
	if (!made)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	made->bytes = desc->size;
	made->references = 1;
	if (!memory_range_take(desc->size, &made->range)) {
		free(made);
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	}
	*memory = made;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zePhysicalMemDestroy(ze_context_handle_t context, ze_physical_mem_handle_t memory)
{
	if (!context || !memory)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&lock);
	release_memory(memory);
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

// ---- mapping

static bool is_access(ze_memory_access_attribute_t access)
{
	return access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE ||
	       access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE ||
	       access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
}

static bool is_free(const struct reservation *reservation, const char *at, size_t bytes)
{
	for (const struct mapping *each = reservation->mappings; each; each = each->next)
		if (at < each->base + each->bytes && each->base < at + bytes)
			return false;
	return true;
}

static void set_access(struct reservation *reservation, const char *at, size_t bytes,
                       ze_memory_access_attribute_t access)
{
	memset(reservation->access + (size_t)(at - reservation->base) / memory_page(), (int)access,
	       bytes / memory_page());
}

// Needs the lock.
static ze_result_t map(ze_context_handle_t context, char *at, size_t bytes,
                       struct _ze_physical_mem_handle_t *memory, size_t from,
                       ze_memory_access_attribute_t access)
{
	struct reservation *reservation = reservation_of(at, bytes);
	struct memory_record record = {
		.is = { .base = at,
		        .bytes = bytes,
		        .type = ZE_MEMORY_TYPE_DEVICE,
		        .context = context },
		.device = &cpu_device,
		.mapped_bytes = bytes,
		.ipc = -1,
		.virtual = true,
	};

	if (!reservation || !is_free(reservation, at, bytes))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	struct mapping *made = calloc(1, sizeof *made);
	if (!made || !memory_range_map(&memory->range, from, bytes, at)) {
		free(made);
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	}
	*made = (struct mapping){ reservation->mappings, at, bytes, memory };
	memory->references++;
	reservation->mappings = made;
	set_access(reservation, at, bytes, access);
	if (memory_add(&record))
		return ZE_RESULT_SUCCESS;
	unmap(reservation, &reservation->mappings);
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t cpu_zeVirtualMemMap(ze_context_handle_t context, const void *at, size_t bytes,
                                ze_physical_mem_handle_t memory, size_t from,
                                ze_memory_access_attribute_t access)
{
	if (!memory)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	ze_result_t result = check(context, at, bytes);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!is_access(access))
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (from % memory_page())
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	if (from > memory->bytes || bytes > memory->bytes - from)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	pthread_mutex_lock(&lock);
	result = map(context, (char *)(uintptr_t)at, bytes, memory, from, access);
	pthread_mutex_unlock(&lock);
	return result;
}

ze_result_t cpu_zeVirtualMemUnmap(ze_context_handle_t context, const void *at, size_t bytes)
{
	ze_result_t result = check(context, at, bytes);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	struct reservation *reservation = reservation_of(at, bytes);
	struct mapping **link = reservation ? &reservation->mappings : NULL;
	while (link && *link && ((*link)->base != at || (*link)->bytes != bytes))
		link = &(*link)->next;
	bool there = link && *link;
	if (there)
		unmap(reservation, link);
	pthread_mutex_unlock(&lock);
	return there ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t cpu_zeVirtualMemSetAccessAttribute(ze_context_handle_t context, const void *at,
                                               size_t bytes, ze_memory_access_attribute_t access)
{
	ze_result_t result = check(context, at, bytes);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!is_access(access))
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	pthread_mutex_lock(&lock);
	struct reservation *reservation = reservation_of(at, bytes);
	if (reservation)
		set_access(reservation, at, bytes, access);
	pthread_mutex_unlock(&lock);
	return reservation ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// The attribute of the first page, and over how many of the bytes it is the same.
ze_result_t cpu_zeVirtualMemGetAccessAttribute(ze_context_handle_t context, const void *at,
                                               size_t bytes, ze_memory_access_attribute_t *access,
                                               size_t *same_bytes)
{
	ze_result_t result = check(context, at, bytes);
	size_t page = memory_page(), same = 1;

	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (!access || !same_bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	pthread_mutex_lock(&lock);
	struct reservation *reservation = reservation_of(at, bytes);
	if (reservation) {
		const unsigned char *first =
		    reservation->access + (size_t)((const char *)at - reservation->base) / page;
		while (same < bytes / page && first[same] == *first)
			same++;
		*access = (ze_memory_access_attribute_t)*first;
		*same_bytes = same * page;
	}
	pthread_mutex_unlock(&lock);
	return reservation ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
