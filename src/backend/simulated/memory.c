// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool on_device(enum tare_memory_kind kind)
{
	return kind == TARE_MEMORY_DEVICE || kind == TARE_MEMORY_SHARED;
}

static int check_kind(const struct simulated_device *device, enum tare_memory_kind kind,
                      struct tare_error *error)
{
	static const enum tare_lack lacks[TARE_MEMORY_KIND_COUNT] = {
		[TARE_MEMORY_PAGEABLE] = TARE_LACK_COUNT,
		[TARE_MEMORY_PINNED] = TARE_LACK_PINNED,
		[TARE_MEMORY_WRITE_COMBINED] = TARE_LACK_WRITE_COMBINED,
		[TARE_MEMORY_REGISTERED] = TARE_LACK_REGISTERED,
		[TARE_MEMORY_DEVICE] = TARE_LACK_COUNT,
		[TARE_MEMORY_SHARED] = TARE_LACK_SHARED,
		[TARE_MEMORY_MAPPED] = TARE_LACK_MAPPED,
	};

	if ((unsigned)kind >= TARE_MEMORY_KIND_COUNT)
		return tare_fail(error, EINVAL, "%d is no kind of memory", (int)kind);
	return lacks[kind] == TARE_LACK_COUNT ? 0 : simulated_lacks(device, lacks[kind], error);
}

static int check_room(const struct simulated_device *device, enum tare_memory_kind kind,
                      uint64_t bytes, struct tare_error *error)
{
	const struct tare_script *script = device->script;

	if (bytes == 0)
		return tare_fail(error, EINVAL, "cannot allocate 0 bytes");
	if (script->faults.memory_above_bytes && bytes > script->faults.memory_above_bytes)
		return tare_fail(error, ENOMEM,
		                 "out of memory: %llu bytes (fault out-of-memory-above of "
		                 "the script)",
		                 (unsigned long long)bytes);
	if (!on_device(kind))
		return 0;
	if (bytes > script->device.largest_bytes)
		return tare_fail(error, ENOMEM,
		                 "out of device memory: the largest allocation is %llu "
		                 "bytes, not %llu",
		                 (unsigned long long)script->device.largest_bytes,
		                 (unsigned long long)bytes);
	if (bytes > script->device.memory_bytes - device->device_bytes)
		return tare_fail(
		    error, ENOMEM, "out of device memory: %llu of %llu bytes are left, not %llu",
		    (unsigned long long)(script->device.memory_bytes - device->device_bytes),
		    (unsigned long long)script->device.memory_bytes, (unsigned long long)bytes);
	return 0;
}

static struct simulated_memory *memory_new(struct simulated_device *device,
                                           enum tare_memory_kind kind, uint64_t bytes)
{
	struct simulated_memory *memory = calloc(1, sizeof *memory);
	uint64_t page = device->script->migrate.page_bytes;

	if (!memory)
		return NULL;
	memory->base =
	    (struct tare_memory){ .device = &device->base, .kind = kind, .bytes = bytes };
	memory->touched = kind != TARE_MEMORY_PAGEABLE;
	if (kind == TARE_MEMORY_SHARED && page) {
		memory->resident = calloc(1, bytes / page / 8 + 1);
		if (!memory->resident) {
			free(memory);
			return NULL;
		}
	}
	return memory;
}

int simulated_memory_create(struct tare_device *base, enum tare_memory_kind kind, uint64_t bytes,
                            struct tare_memory **result, struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)base;
	int status = simulated_check(device, error);

	status = status ?: check_kind(device, kind, error);
	status = status ?: check_room(device, kind, bytes, error);
	if (status < 0)
		return status;
	struct simulated_memory *memory = memory_new(device, kind, bytes);
	void *bytes_at = memory ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
	                        : MAP_FAILED;
	if (bytes_at == MAP_FAILED) {
		if (memory)
			free(memory->resident);
		free(memory);
		return tare_fail(error, ENOMEM,
		                 "the host has no %llu bytes for the simulated memory",
		                 (unsigned long long)bytes);
	}
	// First touch is counted by the page; large pages would make that a matter of luck.
	madvise(bytes_at, bytes, kind == TARE_MEMORY_PAGEABLE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	memory->bytes = bytes_at;
	if (kind != TARE_MEMORY_DEVICE)
		memory->base.host = bytes_at;
	if (on_device(kind))
		device->device_bytes += bytes;
	simulated_spend(device, device->script->host.allocate_ps);
	if (kind == TARE_MEMORY_REGISTERED)
		simulated_spend(device, device->script->host.register_ps);
	*result = &memory->base;
	return 0;
}

int simulated_memory_advise(struct tare_span span, enum tare_advice advice,
                            struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)span.memory->device;
	int status = simulated_check(device, error);

	(void)advice;
	if (status < 0)
		return status;
	if (span.memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(error, ENOTSUP, "advice is for shared memory");
	return 0;
}

int simulated_peer_enable(struct tare_device *device, struct tare_device *peer,
                          struct tare_error *error)
{
	(void)device;
	(void)peer;
	return tare_fail(error, ENOTSUP, "a simulated device has no peers");
}

void simulated_memory_free(struct tare_memory *base)
{
	struct simulated_memory *memory = (struct simulated_memory *)base;

	if (!memory)
		return;
	if (on_device(base->kind))
		((struct simulated_device *)base->device)->device_bytes -= base->bytes;
	if (memory->bytes)
		munmap(memory->bytes, base->bytes);
	free(memory->resident);
	free(memory);
}

uint64_t simulated_untouched_pages(struct tare_span span, uint64_t page_bytes)
{
	struct simulated_memory *memory = simulated_memory_of(span);
	uint64_t system_page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t untouched = 0;
	unsigned char resident[4096];

	if (memory->touched || span.bytes == 0)
		return 0;
	// The kernel knows which pages exist: an anonymous page exists once it was touched.
	uint64_t from = span.offset_bytes / system_page;
	uint64_t end = (span.offset_bytes + span.bytes + system_page - 1) / system_page;
	while (from < end) {
		uint64_t count = end - from < sizeof resident ? end - from : sizeof resident;
		if (mincore(memory->bytes + from * system_page, count * system_page, resident) < 0)
			return 0;
		for (uint64_t i = 0; i < count; i++)
			untouched += !(resident[i] & 1);
		from += count;
	}
	return (untouched * system_page + page_bytes - 1) / page_bytes;
}

uint64_t simulated_move_pages(struct tare_span span, uint64_t page_bytes, bool to_host)
{
	struct simulated_memory *memory = simulated_memory_of(span);
	uint64_t moved = 0;

	if (!memory->resident || span.bytes == 0)
		return 0;
	uint64_t last = (span.offset_bytes + span.bytes - 1) / page_bytes;
	for (uint64_t page = span.offset_bytes / page_bytes; page <= last; page++) {
		unsigned char bit = (unsigned char)(1u << (page & 7));
		bool is_there = memory->resident[page >> 3] & bit;
		if (is_there != to_host)
			continue;
		memory->resident[page >> 3] ^= bit;
		moved++;
	}
	return moved;
}

int simulated_check_span(const struct simulated_device *device, struct tare_span span,
                         const char *what, struct tare_error *error)
{
	if (!span.memory)
		return tare_fail(error, EINVAL, "the operation has no %s", what);
	if (span.memory->device != &device->base)
		return tare_fail(error, EINVAL, "the %s is memory of another device", what);
	if (span.offset_bytes > span.memory->bytes ||
	    span.bytes > span.memory->bytes - span.offset_bytes)
		return tare_fail(
		    error, EINVAL, "the %s ends %llu bytes behind its memory", what,
		    (unsigned long long)(span.offset_bytes + span.bytes - span.memory->bytes));
	return 0;
}

int64_t simulated_migration_ps(const struct tare_script *script, struct tare_span span,
                               bool to_host)
{
	const struct tare_script_pages *migrate = &script->migrate;

	if (!migrate->line || span.memory->kind != TARE_MEMORY_SHARED)
		return 0;
	uint64_t pages = simulated_move_pages(span, migrate->page_bytes, to_host);
	return tare_model_add_ps(tare_model_times_ps(pages, migrate->fault_ps),
	                         tare_model_rate_ps(pages * migrate->page_bytes, migrate->rate));
}
