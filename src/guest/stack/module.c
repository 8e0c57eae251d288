// SPDX-License-Identifier: Apache-2.0
// The files whose code the process runs, found by an address each: _dl_find_object (glibc 2.35)
// takes no lock, so neither a fork nor a thread that is loading a library can be in the way.
#include "guest/internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if GUEST_HAVE_FIND_OBJECT

enum { MOST_ID_BYTES = 32, PAGE = 4096 };

static struct guest_map *modules; // what is defined at an address, by its hash

bool guest_modules_begin(void)
{
	if (!modules)
		modules = guest_map_new();
	return modules != NULL;
}

bool guest_module_find(uint64_t address, struct guest_module_place *place)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)(uintptr_t)address, &found))
		return false;
	*place = (struct guest_module_place){ .from = (uintptr_t)found.dlfo_map_start,
		                              .to = (uintptr_t)found.dlfo_map_end,
		                              .bias = found.dlfo_link_map->l_addr,
		                              .name = found.dlfo_link_map->l_name };
	return true;
}

// The note of that name and type in a segment of notes.
static const unsigned char *find_note(const unsigned char *note, size_t bytes, size_t *found)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) header;
		size_t name, whole;
		memcpy(&header, note, sizeof header);
		name = (header.n_namesz + 3) & ~(size_t)3;
		whole = sizeof header + name + ((header.n_descsz + 3) & ~(size_t)3);
		if (header.n_namesz > bytes || header.n_descsz > bytes || whole > bytes)
			return NULL;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
		    !memcmp(note + sizeof header, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU)) {
			*found = header.n_descsz;
			return note + sizeof header + name;
		}
		note += whole;
		bytes -= whole;
	}
	return NULL;
}

// The build id in memory, where the file's own headers are mapped, as they nearly always are.
// Returns how many bytes; 0: none.
static size_t build_id(const struct guest_module_place *place, unsigned char *id)
{
	const unsigned char *base = (const unsigned char *)(uintptr_t)place->from;
	ElfW(Ehdr) file;
	memcpy(&file, base, sizeof file);
	if (memcmp(file.e_ident, ELFMAG, SELFMAG) || file.e_phentsize != sizeof(ElfW(Phdr)) ||
	    file.e_phoff > PAGE || file.e_phoff + file.e_phnum * sizeof(ElfW(Phdr)) > PAGE)
		return 0;
	for (int i = 0; i < file.e_phnum; i++) {
		const unsigned char *found;
		ElfW(Phdr) part;
		size_t bytes;
		uint64_t at;
		memcpy(&part, base + file.e_phoff + (size_t)i * sizeof part, sizeof part);
		at = place->bias + part.p_vaddr;
		if (part.p_type != PT_NOTE || at < place->from || at > place->to ||
		    part.p_memsz > place->to - at)
			continue;
		found = find_note((const unsigned char *)(uintptr_t)at, part.p_memsz, &bytes);
		if (found && bytes <= MOST_ID_BYTES) {
			memcpy(id, found, bytes);
			return bytes;
		}
	}
	return 0;
}

// The file's path, made absolute; of the program itself the loader knows none. The thread's stack
// may have no room for a path.
static uint32_t define_path(const char *name)
{
	size_t bytes = strlen(name), before = 0;
	bool relative = name[0] != '/' && strchr(name, '/');
	char *path = !bytes || relative ? guest_memory(PAGE) : NULL;
	if (!path)
		return bytes ? guest_string(name, bytes) : 0;
	if (!bytes) {
		long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, PAGE);
		return length > 0 ? guest_string(path, (size_t)length) : 0;
	}
	if (relative) {
		long length = syscall(SYS_getcwd, path, PAGE); // with its end
		before = length > 0 ? (size_t)length : 0;
	}
	if (!before || before + bytes > PAGE)
		return guest_string(name, bytes);
	path[before - 1] = '/';
	memcpy(path + before, name, bytes);
	return guest_string(path, before + bytes);
}

static __attribute__((noinline)) void define(const struct guest_module_place *place,
                                             const unsigned char *id, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MOST_ID_BYTES];
	union tare_trace_record record = { .module = {
		                               .head = tare_trace_head(TARE_TRACE_MODULE, 0, 0, 0),
		                               .ticks = guest_ticks(),
		                               .from = place->from,
		                               .to = place->to,
		                               .bias = place->bias } };
	for (size_t i = 0; i < bytes; i++) {
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	record.module.path = define_path(place->name);
	if (bytes)
		record.module.build_id = guest_string(text, 2 * bytes);
	guest_define(&record);
}

void guest_module_know(uint64_t address)
{
	struct guest_module_place place;
	unsigned char id[MOST_ID_BYTES];
	struct guest_quiet quiet;
	uint64_t start, hash;
	size_t bytes;
	const void *key;
	if (!guest_module_find(address, &place) || place.to - place.from < PAGE)
		return;
	bytes = build_id(&place, id);
	start = guest_hash(GUEST_HASH_START, &place.from, sizeof place.from);
	start ^= (uint64_t)atomic_load(&guest_process) << 48;
	hash = guest_hash(start, &place.to, sizeof place.to);
	hash = guest_hash(guest_hash(hash, place.name, strlen(place.name)), id, bytes) | 1;
	key = (const void *)(uintptr_t)(start << 4 | 8);
	if (guest_map_find(modules, key, 0) == hash)
		return;
	guest_quiet_enter(&quiet);
	define(&place, id, bytes);
	guest_map_put(modules, key, hash);
	guest_quiet_leave(&quiet);
}

#else

bool guest_modules_begin(void)
{
	return false;
}

bool guest_module_find(uint64_t address, struct guest_module_place *place)
{
	(void)address, (void)place;
	return false;
}

void guest_module_know(uint64_t address)
{
	(void)address;
}

#endif
