// SPDX-License-Identifier: Apache-2.0
#include "analysis/symbols/file.h"

#include "tare_config.h"

#include <stdlib.h>

#if TARE_HAVE_SYMBOLS
#include "base/cleanup.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NESTED = 64 }; // scopes in scopes: the file may be broken

struct symbols_file {
	Dwfl *dwfl; // NULL: it is not used
	Dwfl_Module *module;
	enum symbols_state state;
};

static char *debug_path = (char[]){ ":.debug:/usr/lib/debug" };
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

static bool is_hexadecimal_of(const char *text, const unsigned char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != 2 * count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (text[2 * i] != digits[bytes[i] >> 4] ||
		    text[2 * i + 1] != digits[bytes[i] & 15])
			return false;
	return true;
}

// Whether the file is the one that was recorded.
static enum symbols_state compare(int fd, const char *build_id, int64_t seen_realtime_s)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *id = NULL;
	ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	enum symbols_state state = SYMBOLS_FINE;
	struct stat status;

	if (!elf || elf_kind(elf) != ELF_K_ELF)
		state = SYMBOLS_UNREADABLE;
	else if (*build_id)
		state = bytes > 0 && is_hexadecimal_of(build_id, id, (size_t)bytes)
		            ? SYMBOLS_FINE
		            : SYMBOLS_REBUILT;
	else if (bytes > 0 || fstat(fd, &status) != 0 || status.st_mtime > seen_realtime_s)
		state = SYMBOLS_REBUILT;
	elf_end(elf);
	return state;
}

// Takes over `fd`.
static enum symbols_state load(struct symbols_file *file, const char *path, int fd)
{
	Dwarf_Addr bias;

	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (!file->module) {
		close(fd);
		return SYMBOLS_UNREADABLE;
	}
	return dwfl_module_getdwarf(file->module, &bias) ? SYMBOLS_FINE : SYMBOLS_NO_LINES;
}

struct symbols_file *symbols_file_open(const char *path, const char *build_id,
                                       int64_t seen_realtime_s)
{
	struct symbols_file *file = calloc(1, sizeof *file);
	int fd;

	if (!file)
		return NULL;
	// Else debug information that is not here would be asked for in the network.
	unsetenv("DEBUGINFOD_URLS");
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		file->state =
		    errno == ENOENT || errno == ENOTDIR ? SYMBOLS_GONE : SYMBOLS_UNREADABLE;
		return file;
	}
	file->state = compare(fd, build_id, seen_realtime_s);
	if (file->state == SYMBOLS_FINE)
		file->state = load(file, path, fd);
	else
		close(fd);
	return file;
}

void symbols_file_free(struct symbols_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file);
}

enum symbols_state symbols_file_state(const struct symbols_file *file)
{
	return file->state;
}

// Compilers other than gcc leave out the table that says which unit an address is of.
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
		return 0;
	return value;
}

// Where an inlined function was called.
static void set_caller(Dwarf_Die *unit, Dwarf_Die *die, struct symbols_found *found)
{
	Dwarf_Word index = number_of(die, DW_AT_call_file), line = number_of(die, DW_AT_call_line);
	Dwarf_Files *files;
	size_t count;

	found->source = dwarf_getsrcfiles(unit, &files, &count) == 0 && index < count
	                    ? dwarf_filesrc(files, index, NULL, NULL)
	                    : NULL;
	found->line = line < INT32_MAX ? (int)line : 0;
}

// The innermost function at `address` (may be an inlined one) at or below `die`, whatever the
// addresses of what it lies in: a lambda lies in a class in the function that has it.
// dwarf_getscopes looks nowhere where the address is not.
static bool find_nested(Dwarf_Die *die, Dwarf_Addr address, int depth, Dwarf_Die *found)
{
	int tag = dwarf_tag(die);
	bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
	bool is_here = is_function && dwarf_haspc(die, address) > 0;
	Dwarf_Die child;

	if (is_here)
		*found = *die;
	if (depth == MOST_NESTED || dwarf_child(die, &child) != 0)
		return is_here;
	do {
		if (find_nested(&child, address, depth + 1, found))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return is_here;
}

// The chain of scopes around an address as frames, with the line of each. `here` is the innermost
// line. Returns how many; the last may be without its function.
static size_t walk_scopes(Dwarf_Die *unit, Dwarf_Addr address, struct symbols_found here,
                          struct symbols_found *found)
{
	TARE_FREE Dwarf_Die *scopes = NULL, *chain = NULL;
	int count = dwarf_getscopes(unit, address, &scopes);
	Dwarf_Die innermost;
	size_t used = 0;

	if (count > 0)
		innermost = scopes[0];
	if (count > 0 || find_nested(unit, address, 0, &innermost))
		count = dwarf_getscopes_die(&innermost, &chain);
	for (int i = 0; i < count && used < SYMBOLS_INLINED; i++) {
		int tag = dwarf_tag(&chain[i]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		here.function = name_of(&chain[i]);
		here.inlined = tag == DW_TAG_inlined_subroutine;
		found[used++] = here;
		if (!here.inlined)
			return used;
		set_caller(unit, &chain[i], &here);
	}
	return used;
}

static const char *symbol_at(Dwfl_Module *module, Dwarf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
}

size_t symbols_file_find(struct symbols_file *file, uint64_t address,
                         struct symbols_found found[SYMBOLS_INLINED])
{
	struct symbols_found here = { 0 };
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;
	Dwarf_Line *line;
	size_t count = 0;

	if (!file->module)
		return 0;
	unit = file->state == SYMBOLS_FINE ? find_unit(file->module, address, &bias) : NULL;
	if (unit) {
		line = dwarf_getsrc_die(unit, address - bias);
		here.source = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (!line || dwarf_lineno(line, &here.line) != 0)
			here.line = 0;
		count = walk_scopes(unit, address - bias, here, found);
	}
	if (count > 0)
		return count;
	here.function = symbol_at(file->module, address);
	found[0] = here;
	return here.function || here.source;
}

#else

struct symbols_file {
	char nothing;
};

struct symbols_file *symbols_file_open(const char *path, const char *build_id,
                                       int64_t seen_realtime_s)
{
	(void)path, (void)build_id, (void)seen_realtime_s;
	return calloc(1, sizeof(struct symbols_file));
}

void symbols_file_free(struct symbols_file *file)
{
	free(file);
}

enum symbols_state symbols_file_state(const struct symbols_file *file)
{
	(void)file;
	return SYMBOLS_NO_READER;
}

size_t symbols_file_find(struct symbols_file *file, uint64_t address,
                         struct symbols_found found[SYMBOLS_INLINED])
{
	(void)file, (void)address, (void)found;
	return 0;
}

#endif
