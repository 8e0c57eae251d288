// SPDX-License-Identifier: Apache-2.0
#include "blocks/clock/code.h"

#include "blocks/tools/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODULE "parallel.bc"   // beside the library
#define MOST_BYTES (64L << 20) // of a file that is read
enum { NAME = 600 };

static const char *const ends[TARE_BLOCKS_DESCRIBED] = { "", "_workgroup", "_workgroup_fast" };

// The whole file, malloc, with an end behind it; NULL: it cannot be read.
static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	uint8_t *data = NULL;

	*bytes = 0;
	if (file && fstat(fileno(file), &status) == 0 && status.st_size <= MOST_BYTES)
		data = malloc((size_t)status.st_size + 1);
	if (data) {
		*bytes = fread(data, 1, (size_t)status.st_size, file);
		data[*bytes] = '\0';
	}
	if (file)
		fclose(file);
	return data;
}

int tare_blocks_code_open(const char *path, const char *kernel, const char *clang,
                          const char *folder, struct tare_blocks_code *code)
{
	size_t bytes;

	*code = (struct tare_blocks_code){
		.path = path, .kernel = kernel, .clang = clang, .folder = folder
	};
	code->data = read_file(path, &bytes);
	if (!code->data)
		tare_fail(&code->why, ENOENT, "%.200s cannot be read", path);
	else if (tare_elf_look(code->data, bytes, EM_X86_64, &code->elf) < 0)
		tare_fail(&code->why, ENOTSUP, "lines are told of code for x86-64 only");
	return 0;
}

void tare_blocks_code_free(struct tare_blocks_code *code)
{
	for (int i = 0; i < TARE_BLOCKS_DESCRIBED; i++) {
		tare_elf_lines_free(&code->made[i].lines);
		free(code->made[i].data);
	}
	free(code->text);
	free(code->data);
	*code = (struct tare_blocks_code){ .path = NULL };
}

// ---- the module's text

// The line of text that defines a function; NULL: none.
static const char *definition(const char *text, const char *kernel, const char *end)
{
	char name[NAME];

	snprintf(name, sizeof name, "@_pocl_kernel_%s%s(", kernel, end);
	while (text) {
		const char *next = strchr(text, '\n'), *found;
		if (strncmp(text, "define ", strlen("define ")) == 0 &&
		    (found = strstr(text, name)) && (!next || found < next))
			return text;
		text = next ? next + 1 : NULL;
	}
	return NULL;
}

// What describes a function, " !dbg !32", in the line that defines it; NULL: nothing.
static const char *description(const char *line, size_t *length)
{
	static const char mark[] = " !dbg !";
	const char *found = line ? strstr(line, mark) : NULL;

	if (!found || memchr(line, '\n', (size_t)(found - line)))
		return NULL;
	*length = strlen(mark) + strspn(found + strlen(mark), "0123456789");
	return found;
}

char *tare_blocks_describe(const char *text, const char *kernel, enum tare_blocks_described what)
{
	const char *own = definition(text, kernel, ""), *to = definition(text, kernel, ends[what]);
	size_t length = 0, other;
	const char *from = description(own, &length);

	if (!own || !to || !from)
		return NULL;
	const char *behind = to + strcspn(to, "\n");
	// A function is described at one place only; what has lines already stays.
	if (what == TARE_BLOCKS_AS_IT_IS || description(to, &other))
		return strdup(text);
	while (behind > to && behind[-1] != '{')
		behind--;
	if (behind == to || from > behind)
		return NULL;
	size_t size = strlen(text);
	char *made = malloc(size + 2);
	if (!made)
		return NULL;
	char *end = made;
	end = mempcpy(end, text, (size_t)(from - text));
	end = mempcpy(end, from + length, (size_t)(behind - 2 - from) - length);
	end = mempcpy(end, from, length);
	memcpy(end, behind - 2, size - (size_t)(behind - 2 - text) + 1);
	return made;
}

// ---- its code

// `what` of the module by clang: the file is `name` in the folder.
static int run_clang(const struct tare_blocks_code *code, const char *const *arguments,
                     struct tare_error *error)
{
	char said[PATH_MAX];

	snprintf(said, sizeof said, "%s/clock.said", code->folder);
	return tare_blocks_tool_run(arguments, said, error);
}

static int make_text(struct tare_blocks_code *code, struct tare_error *error)
{
	const char *slash = strrchr(code->path, '/');
	char module[PATH_MAX], text[PATH_MAX];
	const char *arguments[] = { code->clang,  "-w",      "-S",
		                    "-emit-llvm", "-Xclang", "-disable-llvm-passes",
		                    "-x",         "ir",      module,
		                    "-o",         text,      NULL };
	size_t bytes;

	snprintf(module, sizeof module, "%.*s/" MODULE, (int)(slash - code->path), code->path);
	snprintf(text, sizeof text, "%s/clock.ll", code->folder);
	int status = run_clang(code, arguments, error);
	if (status < 0)
		return status;
	code->text = (char *)read_file(text, &bytes);
	return code->text ? 0 : tare_fail(error, EIO, "%.200s cannot be read", text);
}

static int write_text(const char *path, const char *text, struct tare_error *error)
{
	FILE *file = fopen(path, "we");
	bool well = file && fputs(text, file) >= 0;

	if (file && fclose(file) != 0)
		well = false;
	return well ? 0 : tare_fail(error, EIO, "%.200s cannot be written", path);
}

// For the processor that the module says, as PoCL makes code: what clang's own flags for that
// bring is held against PoCL's bytes.
static int compile(const struct tare_blocks_code *code, const char *text, const char *object,
                   struct tare_error *error)
{
	static const char attribute[] = "\"target-cpu\"=\"";
	const char *at = strstr(code->text, attribute);
	char processor[80];
	const char *arguments[] = { code->clang,
		                    "-w",
		                    "-c",
		                    "-O3",
		                    "-fPIC",
		                    "-ffp-contract=fast",
		                    "-fbasic-block-sections=labels",
		                    "-Xclang",
		                    "-disable-llvm-passes",
		                    "-x",
		                    "ir",
		                    text,
		                    "-o",
		                    object,
		                    at ? processor : NULL,
		                    NULL };

	if (at) {
		at += strlen(attribute);
		snprintf(processor, sizeof processor, "-march=%.*s", (int)strcspn(at, "\""), at);
	}
	return run_clang(code, arguments, error);
}

static int make(struct tare_blocks_code *code, enum tare_blocks_described what)
{
	struct tare_blocks_made_code *made = &code->made[what];
	char text[PATH_MAX], object[PATH_MAX];
	size_t bytes;

	made->tried = true;
	int status = code->text ? 0 : make_text(code, &made->why);
	if (status < 0)
		return 0;
	char *described = tare_blocks_describe(code->text, code->kernel, what);
	if (!described) {
		tare_fail(&made->why, ENOENT,
		          "PoCL made the kernel without lines: of a binary, or of what it had "
		          "kept of an earlier build");
		return 0;
	}
	snprintf(text, sizeof text, "%s/clock.described.ll", code->folder);
	snprintf(object, sizeof object, "%s/clock.o", code->folder);
	status = write_text(text, described, &made->why);
	free(described);
	status = status ?: compile(code, text, object, &made->why);
	if (status < 0)
		return 0;
	made->data = read_file(object, &bytes);
	if (!made->data || tare_elf_look(made->data, bytes, EM_X86_64, &made->elf) < 0) {
		tare_fail(&made->why, EIO, "clang made no code for x86-64");
		return 0;
	}
	return tare_elf_lines_read(&made->elf, &made->lines);
}

// ---- the library's beside it

static const uint8_t *code_of(const struct tare_elf *elf, const Elf64_Sym *symbol)
{
	Elf64_Shdr section;

	if (!tare_elf_section(elf, symbol->st_shndx, &section))
		return NULL;
	// In what is linked a symbol's value is an address, else a place in its section.
	uint64_t at = symbol->st_value - (elf->header.e_type == ET_REL ? 0 : section.sh_addr);
	const uint8_t *code = tare_elf_contents(elf, &section);
	return code && at <= section.sh_size && symbol->st_size <= section.sh_size - at ? code + at
	                                                                                : NULL;
}

// The function that lies at an offset of the file.
static bool function_at(const struct tare_elf *elf, uint64_t offset, Elf64_Sym *symbol)
{
	for (size_t i = 0; tare_elf_symbol(elf, i, symbol); i++) {
		const uint8_t *code =
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? code_of(elf, symbol) : NULL;
		if (code && offset - (uint64_t)(code - elf->data) < symbol->st_size)
			return true;
	}
	return false;
}

static bool function_named(const struct tare_elf *elf, const char *name, Elf64_Sym *symbol)
{
	for (size_t i = 0; tare_elf_symbol(elf, i, symbol); i++)
		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    strcmp(tare_elf_text(elf, &elf->strings, symbol->st_name), name) == 0)
			return true;
	return false;
}

// Whether a byte of a section is one that the linker fills in.
static bool is_linked(const struct tare_elf_place *places, size_t count, uint64_t at)
{
	for (size_t i = 0; i < count; i++) {
		bool wide = places[i].type == R_X86_64_64 || places[i].type == R_X86_64_PC64;
		if (at - places[i].offset < (wide ? 8u : 4u))
			return true;
	}
	return false;
}

// Whether two functions are the same, but for what the linker fills in.
static int is_same(const struct tare_blocks_code *code, const Elf64_Sym *symbol,
                   const struct tare_blocks_made_code *made, const Elf64_Sym *other, bool *same)
{
	const uint8_t *a = code_of(&code->elf, symbol), *b = code_of(&made->elf, other);
	struct tare_elf_place *places;
	size_t count;
	int status = tare_elf_places(&made->elf, other->st_shndx, &places, &count);

	*same = status == 0 && a && b && symbol->st_size == other->st_size;
	for (uint64_t i = 0; *same && i < symbol->st_size; i++)
		if (a[i] != b[i] && !is_linked(places, count, other->st_value + i))
			*same = false;
	free(places);
	return status;
}

static enum tare_blocks_described described_as(const struct tare_blocks_code *code,
                                               const char *function)
{
	char name[NAME];

	for (int i = TARE_BLOCKS_WORKGROUP; i < TARE_BLOCKS_DESCRIBED; i++) {
		snprintf(name, sizeof name, "_pocl_kernel_%s%s", code->kernel, ends[i]);
		if (strcmp(function, name) == 0)
			return i;
	}
	return TARE_BLOCKS_AS_IT_IS;
}

// The function of what clang made that is the library's, byte for byte. -ENOENT with a sentence:
// there is none.
static int find_same(const struct tare_blocks_code *code, const Elf64_Sym *symbol,
                     const struct tare_blocks_made_code *made, Elf64_Sym *other,
                     struct tare_error *error)
{
	const char *name = tare_elf_text(&code->elf, &code->elf.strings, symbol->st_name);
	bool same = false;
	int status = 0;

	if (function_named(&made->elf, name, other))
		status = is_same(code, symbol, made, other, &same);
	if (status < 0 || same)
		return status;
	return tare_fail(error, ENOENT,
	                 "the code that %.100s makes of the kernel's module is not PoCL's, so that "
	                 "its lines may be others",
	                 code->clang);
}

int tare_blocks_code_look(struct tare_blocks_code *code, uint64_t offset,
                          struct tare_blocks_code_at *at, struct tare_error *error)
{
	Elf64_Sym symbol, other;

	*at = (struct tare_blocks_code_at){ .lines = NULL };
	if (code->why.code) {
		*error = code->why;
		return -ENOENT;
	}
	if (!function_at(&code->elf, offset, &symbol))
		return tare_fail(error, ENOENT, "it is in no function of the kernel's");
	enum tare_blocks_described what =
	    described_as(code, tare_elf_text(&code->elf, &code->elf.strings, symbol.st_name));
	struct tare_blocks_made_code *made = &code->made[what];
	int status = made->tried ? 0 : make(code, what);
	if (status == 0 && made->why.code) {
		*error = made->why;
		status = -ENOENT;
	}
	status = status ?: find_same(code, &symbol, made, &other, error);
	if (status < 0)
		return status;
	uint64_t address =
	    other.st_value + offset - (uint64_t)(code_of(&code->elf, &symbol) - code->data);
	at->lines = &made->lines;
	at->section = other.st_shndx;
	at->row = tare_elf_line(&made->lines, other.st_shndx, address);
	status = tare_elf_block_at(&made->elf, other.st_shndx, address, &at->block);
	// Without a map each address is told by its own line alone.
	if (at->block.from == at->block.to)
		at->block = (struct tare_elf_block){ address, address };
	return status;
}
