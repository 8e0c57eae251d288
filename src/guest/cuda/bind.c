// SPDX-License-Identifier: Apache-2.0
// Leads the program's calls of some functions to us, by the places that the loader keeps for them
// in each library that it has loaded (System V ABI, "Dynamic Linking"). Only what is bound to the
// function that we know, or not yet bound, is changed: another copy of that library keeps its
// callers.
#include "guest/cuda/cuda.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OF_CALL = R_X86_64_JUMP_SLOT, OF_ADDRESS = R_X86_64_GLOB_DAT, IS_64 = R_X86_64_64 };
#elif defined(__aarch64__)
enum { OF_CALL = R_AARCH64_JUMP_SLOT, OF_ADDRESS = R_AARCH64_GLOB_DAT, IS_64 = R_AARCH64_ABS64 };
#else
enum { OF_CALL = -1, OF_ADDRESS = -1, IS_64 = -1 };
#endif

struct search {
	struct cuda_binding *bindings;
	uint32_t count, led;
	// addresses in libraries that only some bindings are changed of; ends with NULL
	const void *const *vendors;
	uint64_t loaded; // libraries ever
	uint32_t visited;
};

struct library {
	uintptr_t base, from, to;               // its first and last address
	uintptr_t protected_from, protected_to; // what the loader made read-only
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * calls, *others;
	size_t call_bytes, other_bytes;
	bool program, vendors;
};

// glibc has made most of these addresses; those of the kernel's own library are offsets.
static const void *address_of(const struct library *library, ElfW(Addr) value)
{
	return (const void *)(value < library->base ? library->base + value : value);
}

static void read_dynamic(struct library *library, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			library->symbols = address_of(library, entry->d_un.d_ptr);
			break;
		case DT_STRTAB:
			library->names = address_of(library, entry->d_un.d_ptr);
			break;
		case DT_JMPREL:
			library->calls = address_of(library, entry->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			library->call_bytes = entry->d_un.d_val;
			break;
		case DT_RELA:
			library->others = address_of(library, entry->d_un.d_ptr);
			break;
		case DT_RELASZ:
			library->other_bytes = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

static void read_headers(struct library *library, const struct dl_phdr_info *info)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	*library = (struct library){ .base = info->dlpi_addr, .from = UINTPTR_MAX };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t from = library->base + header->p_vaddr, to = from + header->p_memsz;
		if (header->p_type == PT_LOAD) {
			library->from = from < library->from ? from : library->from;
			library->to = to > library->to ? to : library->to;
		} else if (header->p_type == PT_GNU_RELRO) {
			library->protected_from = from & ~(page - 1);
			library->protected_to = to & ~(page - 1);
		} else if (header->p_type == PT_DYNAMIC) {
			read_dynamic(library, (const ElfW(Dyn) *)from);
		}
	}
}

// False: the place could not be written.
static bool write_place(const struct library *library, void **place, void *value)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)place & ~(page - 1));
	bool is_protected =
	    (uintptr_t)place >= library->protected_from && (uintptr_t)place < library->protected_to;
	if (is_protected && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(place, value, __ATOMIC_RELEASE);
	if (is_protected)
		mprotect(start, page, PROT_READ);
	return true;
}

static void lead(struct search *search, const struct library *library,
                 const ElfW(Rela) * relocation)
{
	int type = (int)ELF64_R_TYPE(relocation->r_info);
	const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(relocation->r_info)];
	void **place = (void **)(library->base + relocation->r_offset);
	if ((type != OF_CALL && type != OF_ADDRESS && type != IS_64) ||
	    symbol->st_shndx != SHN_UNDEF || relocation->r_addend != 0)
		return;
	for (uint32_t i = 0; i < search->count; i++) {
		struct cuda_binding *binding = &search->bindings[i];
		if (strcmp(library->names + symbol->st_name, binding->name) != 0)
			continue;
		if (library->vendors && binding->of_program)
			return;
		void *now = __atomic_load_n(place, __ATOMIC_RELAXED);
		bool unbound = type == OF_CALL && (uintptr_t)now >= library->from &&
		               (uintptr_t)now < library->to;
		// A library may have been bound when it was loaded (RTLD_NOW); of a program it is
		// likely that it has called.
		binding->called |= library->program && now == binding->theirs;
		if (binding->theirs && (now == binding->theirs || unbound))
			search->led += write_place(library, place, binding->ours);
		return;
	}
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;
	struct library library;
	(void)bytes;
	read_headers(&library, info);
	library.program = search->visited++ == 0;
	for (const void *const *at = search->vendors; *at; at++)
		library.vendors |= (uintptr_t)*at >= library.from && (uintptr_t)*at < library.to;
	if (!library.symbols || !library.names)
		return 0;
	for (size_t i = 0; library.calls && i < library.call_bytes / sizeof *library.calls; i++)
		lead(search, &library, &library.calls[i]);
	for (size_t i = 0; library.others && i < library.other_bytes / sizeof *library.others; i++)
		lead(search, &library, &library.others[i]);
	return 0;
}

static int count_loaded(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;
	if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs))
		search->loaded = info->dlpi_adds;
	return 1;
}

uint32_t cuda_bind(struct cuda_binding *bindings, uint32_t count, const void *const *vendors)
{
	static _Atomic uint64_t seen;
	struct search search = { .bindings = bindings, .count = count, .vendors = vendors };
	dl_iterate_phdr(count_loaded, &search);
	if (atomic_exchange(&seen, search.loaded) == search.loaded)
		return 0;
	dl_iterate_phdr(visit, &search);
	return search.led;
}
