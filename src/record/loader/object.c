// SPDX-License-Identifier: Apache-2.0
#include "record/loader/object.h"

#include "record/loader/program.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A file in memory. Each offset in it is taken as hostile.
struct image {
	const unsigned char *at;
	size_t bytes;
	ElfW(Ehdr) header;
};

static bool read_part(const struct image *image, size_t i, ElfW(Phdr) * part)
{
	size_t from = image->header.e_phoff;

	if (from > image->bytes || (image->bytes - from) / sizeof *part <= i)
		return false;
	memcpy(part, image->at + from + i * sizeof *part, sizeof *part);
	return true;
}

// The first part of a kind that lies in the file.
static bool find_part(const struct image *image, ElfW(Word) type, ElfW(Phdr) * part)
{
	for (size_t i = 0; i < image->header.e_phnum; i++)
		if (read_part(image, i, part) && part->p_type == type)
			return part->p_offset <= image->bytes &&
			       part->p_filesz <= image->bytes - part->p_offset;
	return false;
}

// Where in the file an address is; the file's length when nowhere.
static size_t offset_of(const struct image *image, ElfW(Addr) address)
{
	ElfW(Phdr) part;

	for (size_t i = 0; i < image->header.e_phnum; i++)
		if (read_part(image, i, &part) && part.p_type == PT_LOAD &&
		    address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz &&
		    part.p_offset <= image->bytes &&
		    address - part.p_vaddr < image->bytes - part.p_offset)
			return part.p_offset + (size_t)(address - part.p_vaddr);
	return image->bytes;
}

// A text that ends in the file; NULL when there is none.
static char *text_at(const struct image *image, size_t offset)
{
	const char *text = (const char *)image->at + offset;

	if (offset >= image->bytes || !memchr(text, '\0', image->bytes - offset))
		return NULL;
	return strdup(text);
}

// ---- $ORIGIN

// The folders with $ORIGIN as the file's own. NULL: no memory.
static char *expand(const char *folders, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*folders) {
		size_t length = strncmp(folders, "$ORIGIN", 7) == 0     ? 7
		                : strncmp(folders, "${ORIGIN}", 9) == 0 ? 9
		                                                        : 0;
		if (length)
			fprintf(file, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
		else
			fputc(*folders, file);
		folders += length ? length : 1;
	}
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

// ---- what is asked for

static void take(struct tare_object *object, const struct image *image, ElfW(Sxword) tag,
                 size_t offset)
{
	char *text = text_at(image, offset);

	if (tag == DT_NEEDED && text && object->needed_count < TARE_OBJECT_NEEDS) {
		object->needed[object->needed_count++] = text;
	} else if (tag == DT_SONAME && !object->soname) {
		object->soname = text;
	} else if (text && tag == DT_RPATH && !object->rpath) {
		object->rpath = expand(text, object->path);
		free(text);
	} else if (text && tag == DT_RUNPATH && !object->runpath) {
		object->runpath = expand(text, object->path);
		free(text);
	} else {
		free(text);
	}
}

static void read_dynamic(const struct image *image, struct tare_object *object)
{
	ElfW(Phdr) part;
	ElfW(Dyn) entry;
	size_t strings = image->bytes;

	if (!find_part(image, PT_DYNAMIC, &part))
		return;
	// The texts' place may be told after the texts.
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < part.p_filesz / sizeof entry; i++) {
			memcpy(&entry, image->at + part.p_offset + i * sizeof entry, sizeof entry);
			if (entry.d_tag == DT_NULL)
				break;
			if (pass == 0 && entry.d_tag == DT_STRTAB)
				strings = offset_of(image, entry.d_un.d_ptr);
			else if (pass == 1 && strings < image->bytes &&
			         (entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
			          entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) &&
			         entry.d_un.d_val < image->bytes - strings)
				take(object, image, entry.d_tag, strings + entry.d_un.d_val);
		}
	}
}

// Of this machine: what this program itself was built for.
static bool is_own_kind(const struct image *image)
{
	static const ElfW(Half) own =
#if defined(__x86_64__)
	    EM_X86_64;
#elif defined(__aarch64__)
	    EM_AARCH64;
#elif defined(__riscv)
	    EM_RISCV;
#elif defined(__powerpc64__)
	    EM_PPC64;
#else
	    EM_NONE;
#endif
	return own == EM_NONE || image->header.e_machine == own;
}

void tare_object_read(const char *path, struct tare_object *object)
{
	struct image image = { 0 };
	ElfW(Phdr) part;

	*object = (struct tare_object){ 0 };
	image.at = tare_file_map(path, &image.bytes);
	object->path = image.at ? strdup(path) : NULL;
	if (object->path && image.bytes >= sizeof image.header) {
		memcpy(&image.header, image.at, sizeof image.header);
		object->readable = memcmp(image.header.e_ident, ELFMAG, SELFMAG) == 0 &&
		                   image.header.e_ident[EI_CLASS] ==
		                       (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
		                   image.header.e_phentsize == sizeof(ElfW(Phdr)) &&
		                   is_own_kind(&image);
	}
	if (object->readable) {
		if (find_part(&image, PT_INTERP, &part))
			object->interpreter = text_at(&image, part.p_offset);
		read_dynamic(&image, object);
	}
	if (image.at)
		munmap((void *)image.at, image.bytes);
}

void tare_object_free(struct tare_object *object)
{
	for (size_t i = 0; i < object->needed_count; i++)
		free(object->needed[i]);
	free(object->path);
	free(object->interpreter);
	free(object->soname);
	free(object->rpath);
	free(object->runpath);
	*object = (struct tare_object){ 0 };
}

// ---- the cache of ldconfig

// glibc's sysdeps/generic/dl-cache.h.
struct cache_header {
	char magic[20];
	uint32_t count;
	uint32_t text_bytes;
	uint32_t unused[5];
};
struct cache_entry {
	int32_t flags;
	uint32_t name, path; // offsets from the header
	uint32_t version;
	uint64_t capabilities;
};
#define CACHE_MAGIC "glibc-ld.so.cache1.1"

// A text in the cache; "" when it does not end there.
static const char *cache_text(const unsigned char *at, size_t bytes, uint32_t offset)
{
	if (offset >= bytes || !memchr(at + offset, '\0', bytes - offset))
		return "";
	return (const char *)at + offset;
}

void tare_cache_look(const char *cache, const char *name,
                     bool (*found)(const char *path, void *context), void *context)
{
	size_t bytes = 0;
	const unsigned char *all = tare_file_map(cache, &bytes);
	// Older ones begin with a form of the file that nobody reads any more.
	const unsigned char *at = all ? memmem(all, bytes, CACHE_MAGIC, strlen(CACHE_MAGIC)) : NULL;
	size_t left = at ? bytes - (size_t)(at - all) : 0;
	struct cache_header header = { 0 };

	if (left >= sizeof header)
		memcpy(&header, at, sizeof header);
	for (size_t i = 0; i < header.count; i++) {
		struct cache_entry entry;
		if ((left - sizeof header) / sizeof entry <= i)
			break;
		memcpy(&entry, at + sizeof header + i * sizeof entry, sizeof entry);
		if (strcmp(cache_text(at, left, entry.name), name) == 0 &&
		    found(cache_text(at, left, entry.path), context))
			break;
	}
	if (all)
		munmap((void *)all, bytes);
}
