// SPDX-License-Identifier: Apache-2.0
// Shared memory under a script's `migrate`: a page moves to the device at its first use there, and
// back when the host touches it. The host's touch is seen in this way: when the real layer is done
// with memory, the driver drops its mappings, which loses nothing of shared ones; those that are
// there when the next command is submitted were made by the host. A page that nobody had touched
// when the first command that uses it was submitted has nothing to move: it costs `touch` where the
// script has it.
#include "ze_cpu.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum page { PAGE_SEEN = 1, PAGE_TOUCHED = 2, PAGE_ON_DEVICE = 4 };

struct cpu_pages {
	atomic_int pending; // commands submitted that the real layer is not done with
	size_t count;
	unsigned char page[]; // enum page
};

enum use_kind { USE_SEE, USE_RUN, USE_LEAVE };

struct use {
	enum use_kind kind;
	bool asked; // a prefetch: no faults
	int64_t cost_ps;
};

struct cpu_pages *scripted_pages_new(size_t bytes)
{
	const struct tare_script_pages *migrate = &cpu_device.script.migrate;

	if (!cpu_device.scripted || !migrate->line || !migrate->page_bytes)
		return NULL;
	size_t count = bytes / migrate->page_bytes + (bytes % migrate->page_bytes != 0);
	struct cpu_pages *pages = calloc(1, sizeof *pages + count);
	if (pages)
		pages->count = count;
	return pages;
}

void scripted_pages_end(struct cpu_pages *pages)
{
	free(pages);
}

// Whether anyone has touched any of these bytes yet: whether the system has given memory for them.
static bool touched(const char *at, size_t bytes)
{
	size_t system_page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char there[64];
	uintptr_t first = (uintptr_t)at / system_page * system_page;
	uintptr_t end = ((uintptr_t)at + bytes + system_page - 1) / system_page * system_page;

	for (uintptr_t from = first; from < end; from += sizeof there * system_page) {
		size_t count = (end - from) / system_page;
		count = count < sizeof there ? count : sizeof there;
		if (mincore((void *)from, count * system_page, there) != 0)
			return true;
		for (size_t i = 0; i < count; i++)
			if (there[i] & 1)
				return true;
	}
	return false;
}

// Whether the host's page table maps any of these bytes. Where the system does not tell: no.
static bool mapped(const char *at, size_t bytes)
{
	static int pagemap = -2;
	size_t system_page = (size_t)sysconf(_SC_PAGESIZE);
	size_t first = (uintptr_t)at / system_page;
	size_t end = ((uintptr_t)at + bytes + system_page - 1) / system_page;
	uint64_t entries[64];

	if (pagemap == -2)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	while (pagemap >= 0 && first < end) {
		size_t count = end - first < 64 ? end - first : 64;
		if (pread(pagemap, entries, count * 8, (off_t)(first * 8)) != (ssize_t)(count * 8))
			return false;
		for (size_t i = 0; i < count; i++)
			if (entries[i] >> 63)
				return true;
		first += count;
	}
	return false;
}

static int64_t move_ps(const struct use *use, bool was_touched)
{
	const struct tare_script_pages *touch = &cpu_device.script.touch;
	const struct tare_script_pages *migrate = &cpu_device.script.migrate;
	uint64_t bytes = migrate->page_bytes;

	if (use->asked)
		return tare_model_rate_ps(bytes, migrate->rate);
	if (was_touched || !touch->line || !touch->page_bytes)
		return tare_model_add_ps(migrate->fault_ps,
		                         tare_model_rate_ps(bytes, migrate->rate));
	uint64_t faults = (bytes + touch->page_bytes - 1) / touch->page_bytes;
	return tare_model_add_ps(tare_model_times_ps(faults, touch->fault_ps),
	                         tare_model_rate_ps(bytes, touch->rate));
}

static void see_page(unsigned char *page, const char *at, size_t bytes, bool pending)
{
	if ((*page & PAGE_ON_DEVICE) && !pending && mapped(at, bytes))
		*page = PAGE_SEEN | PAGE_TOUCHED;
	if (*page & PAGE_SEEN)
		return;
	*page |= PAGE_SEEN;
	if (cpu_device.script.touch.line && touched(at, bytes))
		*page |= PAGE_TOUCHED;
}

static void use_page(struct use *use, const struct cpu_allocation *memory, size_t index)
{
	size_t page_bytes = cpu_device.script.migrate.page_bytes;
	unsigned char *page = &memory->pages->page[index];
	size_t offset = index * page_bytes;
	size_t bytes = memory->bytes - offset < page_bytes ? memory->bytes - offset : page_bytes;

	if (use->kind == USE_SEE) {
		see_page(page, memory->base + offset, bytes,
		         atomic_load(&memory->pages->pending) > 0);
	} else if (!(*page & PAGE_ON_DEVICE)) {
		use->cost_ps = tare_model_add_ps(use->cost_ps, move_ps(use, *page & PAGE_TOUCHED));
		*page |= PAGE_ON_DEVICE;
	}
}

// Drops the mappings of the pages that the real layer used, whole: what the host had touched in
// them before is on the device now, too.
static void leave_span(const struct cpu_allocation *memory, size_t from, size_t to)
{
	size_t system_page = (size_t)sysconf(_SC_PAGESIZE);
	size_t page = cpu_device.script.migrate.page_bytes, left = memory->bytes - to;
	size_t first = from / page * page / system_page * system_page;
	size_t rest = to % page ? page - to % page : 0;
	size_t end = to + (rest < left ? rest : left);

	end = (end + system_page - 1) / system_page * system_page;
	madvise(memory->base + first, end - first, MADV_DONTNEED);
	if (atomic_load(&memory->pages->pending) > 0)
		atomic_fetch_sub(&memory->pages->pending, 1);
}

// bytes SIZE_MAX: to the end of the allocation.
static void use_span(struct use *use, const void *at, size_t bytes)
{
	struct cpu_allocation memory = cpu_allocation_of(at);
	size_t page_bytes = cpu_device.script.migrate.page_bytes;

	if (!memory.pages || bytes == 0)
		return;
	size_t offset = (size_t)((const char *)at - memory.base);
	size_t left = memory.bytes - offset;
	size_t end = offset + (bytes < left ? bytes : left);
	if (use->kind == USE_LEAVE) {
		leave_span(&memory, offset, end);
		return;
	}
	for (size_t i = offset / page_bytes; i * page_bytes < end && i < memory.pages->count; i++)
		use_page(use, &memory, i);
	if (use->kind == USE_SEE)
		atomic_fetch_add(&memory.pages->pending, 1);
}

static void use_pointer(void *context, const void *at)
{
	use_span(context, at, SIZE_MAX);
}

// Bytes from the first to the last that a region touches.
static size_t region_bytes(const ze_copy_region_t *region, size_t pitch, size_t slice)
{
	size_t depth = region->depth ? region->depth : 1;

	if (!region->height || !region->width)
		return 0;
	return (depth - 1) * slice + (region->height - 1) * pitch + region->width;
}

static void use_region(struct use *use, const struct command *command)
{
	const ze_copy_region_t *from = &command->from, *to = &command->to;

	use_span(use,
	         (const char *)command->source + from->originX +
	             (size_t)from->originY * command->from_pitch +
	             (size_t)from->originZ * command->from_slice,
	         region_bytes(from, command->from_pitch, command->from_slice));
	use_span(use,
	         (const char *)command->destination + to->originX +
	             (size_t)to->originY * command->to_pitch +
	             (size_t)to->originZ * command->to_slice,
	         region_bytes(to, command->to_pitch, command->to_slice));
}

static void use_command(struct use *use, const struct command *command)
{
	if (!cpu_device.script.migrate.line)
		return;
	switch (command->type) {
	case COMMAND_COPY:
		use_span(use, command->source, command->bytes);
		use_span(use, command->destination, command->bytes);
		break;
	case COMMAND_REGION:
		use_region(use, command);
		break;
	case COMMAND_FILL:
		use_span(use, command->destination, command->bytes);
		break;
	case COMMAND_PREFETCH:
		use_span(use, command->source, command->bytes);
		break;
	case COMMAND_LAUNCH:
		launch_pointers(command->launch, use_pointer, use);
		break;
	default:
		break;
	}
}

void scripted_pages_see(const struct command *command)
{
	struct use use = { .kind = USE_SEE };

	use_command(&use, command);
}

int64_t scripted_pages_use_ps(const struct command *command)
{
	struct use use = { .kind = USE_RUN, .asked = command->type == COMMAND_PREFETCH };

	use_command(&use, command);
	return use.cost_ps;
}

void scripted_pages_leave(const struct command *command)
{
	struct use use = { .kind = USE_LEAVE };

	use_command(&use, command);
}
