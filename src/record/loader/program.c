// SPDX-License-Identifier: Apache-2.0
#include "record/loader/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYERS "OPENCL_LAYERS"

// ---- what is in a file

const unsigned char *tare_file_map(const char *path, size_t *bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	void *at = MAP_FAILED;

	if (file < 0)
		return NULL;
	if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
		*bytes = (size_t)about.st_size;
		at = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
	}
	close(file);
	return at == MAP_FAILED ? NULL : at;
}

bool tare_file_contains(const char *path, const char *text)
{
	size_t bytes = 0;
	const unsigned char *at = tare_file_map(path, &bytes);
	bool found = at && memmem(at, bytes, text, strlen(text));

	if (at)
		munmap((void *)at, bytes);
	return found;
}

// The header of an ELF file of this machine's word size; false when the file is none.
static bool read_header(const unsigned char *at, size_t bytes, ElfW(Ehdr) * header)
{
	if (!at || bytes < sizeof *header)
		return false;
	memcpy(header, at, sizeof *header);
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       header->e_phentsize == sizeof(ElfW(Phdr)) && header->e_phnum > 0;
}

// Its program header `i`; false when the file ends before.
static bool read_part(const unsigned char *at, size_t bytes, const ElfW(Ehdr) * header, size_t i,
                      ElfW(Phdr) * part)
{
	if (header->e_phoff > bytes || (bytes - header->e_phoff) / sizeof *part <= i)
		return false;
	memcpy(part, at + header->e_phoff + i * sizeof *part, sizeof *part);
	return true;
}

// Whether a file is an ELF program of this machine that names no dynamic linker.
static bool is_fixed(const char *path)
{
	size_t bytes = 0;
	const unsigned char *at = tare_file_map(path, &bytes);
	ElfW(Ehdr) header;
	ElfW(Phdr) part;
	bool fixed = read_header(at, bytes, &header);

	for (size_t i = 0; fixed && i < header.e_phnum; i++)
		fixed = read_part(at, bytes, &header, i, &part) && part.p_type != PT_INTERP;
	if (at)
		munmap((void *)at, bytes);
	return fixed;
}

bool tare_file_is_cut(const char *path)
{
	size_t bytes = 0;
	const unsigned char *at = tare_file_map(path, &bytes);
	ElfW(Ehdr) header;
	ElfW(Phdr) part;
	bool is_elf = read_header(at, bytes, &header), whole = true;

	for (size_t i = 0; is_elf && whole && i < header.e_phnum; i++)
		whole = read_part(at, bytes, &header, i, &part) &&
		        (part.p_type != PT_LOAD ||
		         (part.p_offset <= bytes && part.p_filesz <= bytes - part.p_offset));
	if (at)
		munmap((void *)at, bytes);
	return !whole;
}

// ---- finding it

// 0 when the file can be executed, else a negative errno.
static int try_file(const char *path)
{
	struct stat about;

	if (stat(path, &about) < 0)
		return -errno;
	if (S_ISDIR(about.st_mode))
		return -EISDIR;
	// With effective rights, as exec has it.
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

// Looks along PATH. What may not be executed is only the answer when nothing better follows.
static int search(const char *name, char **found)
{
	const char *path = getenv("PATH");
	int worst = -ENOENT;

	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		size_t length = strcspn(path, ":");
		int status;
		if (asprintf(found, "%.*s%s%s", (int)length, path, length ? "/" : "", name) < 0)
			return -ENOMEM;
		status = try_file(*found);
		if (status == 0)
			return 0;
		free(*found);
		*found = NULL;
		if (status == -EACCES || status == -EISDIR)
			worst = -EACCES;
		path += length;
		if (!*path)
			return worst;
	}
}

static int find(const char *name, char **found, struct tare_error *error)
{
	int status;

	if (!name[0])
		return tare_fail(error, ENOENT, "the program's name is empty");
	if (!strchr(name, '/')) {
		status = search(name, found);
		if (status == -ENOENT)
			return tare_fail(
			    error, ENOENT, "there is no program '%.200s' in PATH%s", name,
			    access(name, F_OK) == 0 ? "; the one that is here is called ./ "
			                              "and its name"
			                            : "");
	} else {
		status = try_file(name);
		*found = status == 0 ? strdup(name) : NULL;
		if (status == 0 && !*found)
			status = -ENOMEM;
		if (status == -ENOENT || status == -ENOTDIR)
			return tare_fail(error, ENOENT, "there is no program '%.200s'", name);
	}
	if (status == -ENOMEM)
		return tare_fail(error, ENOMEM, "out of memory");
	if (status == -EISDIR)
		return tare_fail(error, EACCES, "'%.200s' is a folder, not a program", name);
	if (status == -EACCES)
		return tare_fail(error, EACCES,
		                 "'%.200s' may not be executed; chmod +x makes it a "
		                 "program",
		                 name);
	if (status < 0)
		return tare_fail(error, -status, "cannot run '%.200s': %s", name,
		                 strerror(-status));
	return 0;
}

int tare_program_find(const char *name, struct tare_program *program, struct tare_error *error)
{
	struct stat about;
	int status;

	*program = (struct tare_program){ 0 };
	status = find(name, &program->path, error);
	if (status < 0)
		return status;
	program->fixed = is_fixed(program->path);
	program->knows_layers = tare_file_contains(program->path, LAYERS);
	if (stat(program->path, &about) == 0)
		program->privileged = ((about.st_mode & S_ISUID) && about.st_uid != getuid()) ||
		                      ((about.st_mode & S_ISGID) && (about.st_mode & S_IXGRP) &&
		                       about.st_gid != getgid());
	return 0;
}

void tare_program_free(struct tare_program *program)
{
	free(program->path);
	*program = (struct tare_program){ 0 };
}
