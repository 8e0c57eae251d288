// SPDX-License-Identifier: Apache-2.0
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Larger alignments are refused.
#define LARGEST_ALIGNMENT ((size_t)1 << 30)

// All records by address. Only the file's lock (memory_map.c) is taken while this one is held; it
// is taken under work_lock, too.
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_record *records;
static size_t record_count, record_room;
static uint64_t last_id;
static size_t device_bytes; // of device and shared memory

size_t memory_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t memory_pages(size_t bytes)
{
	size_t page = memory_page();

	return bytes > SIZE_MAX - page ? SIZE_MAX : (bytes + page - 1) / page * page;
}

void memory_hold(bool hold)
{
	if (hold)
		pthread_mutex_lock(&table_lock);
	memory_file_hold(hold);
	if (!hold)
		pthread_mutex_unlock(&table_lock);
}

// ---- the table

// Index of the first record whose end lies behind `at`.
static size_t position(const void *at)
{
	size_t low = 0, high = record_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct memory_record *record = &records[middle];
		if ((uintptr_t)record->is.base + record->mapped_bytes > (uintptr_t)at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// The record that holds the address, or NULL. Needs the lock.
static struct memory_record *holder(const void *at)
{
	size_t i = position(at);
	struct memory_record *record = i < record_count ? &records[i] : NULL;
	size_t past = record ? (uintptr_t)at - (uintptr_t)record->is.base : 0;

	return record && (uintptr_t)at >= (uintptr_t)record->is.base && past < record->is.bytes
	           ? record
	           : NULL;
}

static bool counts(const struct memory_record *record)
{
	return record->is.type != ZE_MEMORY_TYPE_HOST && !record->imported && !record->virtual;
}

bool memory_add(const struct memory_record *record)
{
	bool added = true;

	pthread_mutex_lock(&table_lock);
	if (record_count == record_room) {
		size_t room = record_room ? 2 * record_room : 64;
		struct memory_record *larger = realloc(records, room * sizeof *records);
		added = larger != NULL;
		if (added) {
			records = larger;
			record_room = room;
		}
	}
	if (added) {
		size_t i = position(record->is.base);
		memmove(records + i + 1, records + i, (record_count - i) * sizeof *records);
		records[i] = *record;
		records[i].is.id = ++last_id;
		record_count++;
		if (counts(record))
			device_bytes += record->mapped_bytes;
	}
	pthread_mutex_unlock(&table_lock);
	return added;
}

bool memory_remove(const void *base, struct memory_record *record)
{
	pthread_mutex_lock(&table_lock);
	size_t i = position(base);
	bool there = i < record_count && records[i].is.base == base;
	if (there) {
		*record = records[i];
		record_count--;
		memmove(records + i, records + i + 1, (record_count - i) * sizeof *records);
		if (counts(record))
			device_bytes -= record->mapped_bytes;
	}
	pthread_mutex_unlock(&table_lock);
	return there;
}

bool memory_find(const void *at, struct memory_record *record)
{
	pthread_mutex_lock(&table_lock);
	const struct memory_record *found = holder(at);
	bool there = found && !found->freed;
	if (there)
		*record = *found;
	pthread_mutex_unlock(&table_lock);
	return there;
}

bool memory_change(const void *base, void (*change)(struct memory_record *record, void *context),
                   void *context)
{
	pthread_mutex_lock(&table_lock);
	struct memory_record *found = holder(base);
	bool there = found && !found->freed && found->is.base == base;
	if (there)
		change(found, context);
	pthread_mutex_unlock(&table_lock);
	return there;
}

void *memory_exporter(int ipc)
{
	void *base = NULL;

	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; !base && i < record_count; i++)
		if (records[i].ipc == ipc && !records[i].freed)
			base = records[i].is.base;
	pthread_mutex_unlock(&table_lock);
	return base;
}

struct cpu_allocation cpu_allocation_of(const void *at)
{
	struct cpu_allocation is = { .type = ZE_MEMORY_TYPE_UNKNOWN };

	pthread_mutex_lock(&table_lock);
	const struct memory_record *found = holder(at);
	if (found)
		is = found->is;
	pthread_mutex_unlock(&table_lock);
	return is;
}

enum tare_place cpu_place_of(const void *at)
{
	enum tare_place place = TARE_PLACE_PAGEABLE;

	pthread_mutex_lock(&table_lock);
	const struct memory_record *found = holder(at);
	if (found && found->is.type == ZE_MEMORY_TYPE_HOST)
		place = found->write_combined ? TARE_PLACE_WRITE_COMBINED : TARE_PLACE_PINNED;
	else if (found && found->is.type == ZE_MEMORY_TYPE_SHARED)
		place = TARE_PLACE_SHARED;
	else if (found)
		place = TARE_PLACE_DEVICE;
	pthread_mutex_unlock(&table_lock);
	return place;
}

// ---- allocating

// Fresh pages at a multiple of `alignment`; NULL: no memory. They stay reserved, not usable.
static char *reserve(size_t bytes, size_t alignment)
{
	size_t page = memory_page(), slack = alignment > page ? alignment - page : 0;
	char *from = mmap(NULL, bytes + slack, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (from == MAP_FAILED)
		return NULL;
	size_t before = slack ? (alignment - (uintptr_t)from % alignment) % alignment : 0;
	if (before)
		munmap(from, before);
	if (slack > before)
		munmap(from + before + bytes, slack - before);
	return from + before;
}

// Device memory lies in the file, for other processes to open; the rest is the process's own.
static bool make(struct memory_record *record, size_t alignment)
{
	enum { THERE_AT_ONCE = 16 << 20 };
	size_t bytes = record->mapped_bytes;
	char *at = reserve(bytes, alignment);
	void *made = MAP_FAILED;

	if (!at)
		return false;
	if (record->is.type == ZE_MEMORY_TYPE_DEVICE && memory_range_take(bytes, &record->range)) {
		made = memory_range_map(&record->range, 0, bytes, at);
		if (!made) {
			memory_range_release(&record->range);
			record->range.bytes = 0;
			made = MAP_FAILED;
		}
	}
	// Where pages move by a script, the driver drops mappings to see what the host touches.
	int kind = record->is.pages ? MAP_SHARED : MAP_PRIVATE;
	if (made == MAP_FAILED)
		made = mmap(at, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_FIXED, -1,
		            0);
	if (made == MAP_FAILED) {
		munmap(at, bytes);
		return false;
	}
	record->is.base = at;
	// A GPU's pages are there from the start; all of what is large would take long.
	if (record->is.type == ZE_MEMORY_TYPE_DEVICE && bytes <= THERE_AT_ONCE)
		madvise(at, bytes, MADV_POPULATE_WRITE);
	return true;
}

static void unmake(struct memory_record *record)
{
	if (record->is.pages) {
		pthread_mutex_lock(&work_lock);
		scripted_pages_end(record->is.pages);
		pthread_mutex_unlock(&work_lock);
	}
	munmap(record->is.base, record->mapped_bytes);
	if (record->ipc >= 0)
		close(record->ipc);
	if (record->range.bytes)
		memory_range_release(&record->range);
}

// What the descriptors of an allocation ask for beyond their flags.
struct wishes {
	bool relaxed;  // larger than maxMemAllocSize
	bool external; // memory that comes from, or can go to, another API
};

static void read_wishes(const void *next, struct wishes *wishes)
{
	for (const ze_base_desc_t *at = next; at; at = at->pNext) {
		wishes->relaxed |=
		    at->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC;
		wishes->external |= at->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC ||
		                    at->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD;
	}
}

static ze_result_t check_size(const struct memory_record *record, size_t alignment,
                              const struct wishes *wishes)
{
	const struct tare_script *script = &cpu_device.script;
	size_t bytes = record->is.bytes, used;

	if (wishes->external)
		return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
	if (alignment & (alignment - 1) || alignment > LARGEST_ALIGNMENT)
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	if (!bytes || (script->device.largest_bytes && bytes > script->device.largest_bytes &&
	               !wishes->relaxed))
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	if (script->faults.memory_above_bytes && bytes > script->faults.memory_above_bytes)
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	pthread_mutex_lock(&table_lock);
	used = device_bytes;
	pthread_mutex_unlock(&table_lock);
	if (counts(record) && script->device.memory_bytes &&
	    (used > script->device.memory_bytes || bytes > script->device.memory_bytes - used))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	return bytes > SIZE_MAX / 4 ? ZE_RESULT_ERROR_UNSUPPORTED_SIZE : ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(struct memory_record *record, size_t alignment,
                            const struct wishes *wishes, void **at)
{
	ze_result_t result = check_size(record, alignment, wishes);

	if (result != ZE_RESULT_SUCCESS)
		return result;
	record->mapped_bytes = memory_pages(record->is.bytes);
	record->ipc = -1;
	if (record->is.type == ZE_MEMORY_TYPE_SHARED)
		record->is.pages = scripted_pages_new(record->is.bytes);
	if (!make(record, alignment)) {
		scripted_pages_end(record->is.pages);
		return counts(record) ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
		                      : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	// What was touched is told by the page; large pages would make that a matter of luck.
	if (record->is.pages)
		madvise(record->is.base, record->mapped_bytes, MADV_NOHUGEPAGE);
	if (!memory_add(record)) {
		unmake(record);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*at = record->is.base;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t check_device(const ze_device_mem_alloc_desc_t *desc, struct wishes *wishes)
{
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->flags & ~(ze_device_mem_alloc_flags_t)7)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	// The ordinal does not matter: there is one memory, and programs ask for more.
	read_wishes(desc->pNext, wishes);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t check_host(const ze_host_mem_alloc_desc_t *desc, struct wishes *wishes)
{
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->flags & ~(ze_host_mem_alloc_flags_t)15)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	read_wishes(desc->pNext, wishes);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeMemAllocDevice(ze_context_handle_t context,
                                 const ze_device_mem_alloc_desc_t *desc, size_t bytes,
                                 size_t alignment, ze_device_handle_t device, void **at)
{
	struct memory_record record = {
		.is = { .bytes = bytes, .type = ZE_MEMORY_TYPE_DEVICE, .context = context },
		.device = device
	};
	struct wishes wishes = { 0 };
	ze_result_t result;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_device(desc, &wishes);
	return result == ZE_RESULT_SUCCESS ? allocate(&record, alignment, &wishes, at) : result;
}

ze_result_t cpu_zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                               size_t bytes, size_t alignment, void **at)
{
	struct memory_record record = {
		.is = { .bytes = bytes, .type = ZE_MEMORY_TYPE_HOST, .context = context }
	};
	const struct tare_script *script = &cpu_device.script;
	struct wishes wishes = { 0 };
	ze_result_t result;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_host(desc, &wishes);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (script->lacks[TARE_LACK_PINNED][0])
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	// Only a script that knows what it costs tells it from other host memory.
	record.write_combined = desc->flags & ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED &&
	                        script->copies[TARE_PLACE_WRITE_COMBINED][TARE_PLACE_DEVICE].line;
	return allocate(&record, alignment, &wishes, at);
}

ze_result_t cpu_zeMemAllocShared(ze_context_handle_t context,
                                 const ze_device_mem_alloc_desc_t *device_desc,
                                 const ze_host_mem_alloc_desc_t *host_desc, size_t bytes,
                                 size_t alignment, ze_device_handle_t device, void **at)
{
	struct memory_record record = {
		.is = { .bytes = bytes, .type = ZE_MEMORY_TYPE_SHARED, .context = context },
		.device = device
	};
	struct wishes wishes = { 0 };
	ze_result_t result;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_device(device_desc, &wishes);
	if (result == ZE_RESULT_SUCCESS)
		result = check_host(host_desc, &wishes);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	if (cpu_device.script.lacks[TARE_LACK_SHARED][0])
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	return allocate(&record, alignment, &wishes, at);
}

// ---- freeing

struct release {
	const void *base;
	bool waited_for, done; // under work_lock
};

// Everything that was submitted before the memory was freed is done.
static void release(void *context)
{
	struct release *release = context;
	struct memory_record record;
	bool waited_for = release->waited_for;

	if (memory_remove(release->base, &record))
		unmake(&record);
	if (!waited_for) {
		free(release);
		return;
	}
	pthread_mutex_lock(&work_lock);
	release->done = true;
	cpu_changed();
	pthread_mutex_unlock(&work_lock);
}

static bool is_released(void *context)
{
	return ((const struct release *)context)->done;
}

static void mark_freed(struct memory_record *record, void *context)
{
	(void)context;
	record->freed = true;
}

ze_result_t memory_free(const void *base, bool wait)
{
	struct release *parting = malloc(sizeof *parting);

	if (!parting)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	*parting = (struct release){ .base = base, .waited_for = wait };
	if (!memory_change(base, mark_freed, NULL)) {
		free(parting);
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	cpu_when_unused(release, parting);
	if (!wait)
		return ZE_RESULT_SUCCESS;
	pthread_mutex_lock(&work_lock);
	ze_result_t result = cpu_wait(is_released, parting, UINT64_MAX);
	bool done = parting->done;
	pthread_mutex_unlock(&work_lock);
	// A lost device may never be done; then what frees it is still to come.
	if (done)
		free(parting);
	return done ? ZE_RESULT_SUCCESS : result;
}

// The record of a pointer that zeMemFree may have: the beginning of an allocation.
static ze_result_t check_free(ze_context_handle_t context, const void *at)
{
	struct memory_record record;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return memory_find(at, &record) && record.is.base == at && !record.imported &&
	               !record.virtual
	           ? ZE_RESULT_SUCCESS
	           : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t cpu_zeMemFree(ze_context_handle_t context, void *at)
{
	ze_result_t result = check_free(context, at);

	return result == ZE_RESULT_SUCCESS ? memory_free(at, false) : result;
}

ze_result_t cpu_zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc,
                             void *at)
{
	const ze_driver_memory_free_policy_ext_flags_t known =
	    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
	    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->freePolicy & ~known)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	ze_result_t result = check_free(context, at);
	bool wait = desc->freePolicy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
	return result == ZE_RESULT_SUCCESS ? memory_free(at, wait) : result;
}

// ---- what an address is

ze_result_t cpu_zeMemGetAllocProperties(ze_context_handle_t context, const void *at,
                                        ze_memory_allocation_properties_t *properties,
                                        ze_device_handle_t *device)
{
	struct memory_record record;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at || !properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	bool ours = memory_find(at, &record);
	properties->type = ours ? record.is.type : ZE_MEMORY_TYPE_UNKNOWN;
	properties->id = ours ? record.is.id : 0;
	properties->pageSize = ours ? memory_page() : 0;
	if (device)
		*device = ours ? record.device : NULL;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeMemGetAddressRange(ze_context_handle_t context, const void *at, void **base,
                                     size_t *bytes)
{
	struct memory_record record;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!memory_find(at, &record))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (base)
		*base = record.is.base;
	if (bytes)
		*bytes = record.is.bytes;
	return ZE_RESULT_SUCCESS;
}
