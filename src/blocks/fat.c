// SPDX-License-Identifier: Apache-2.0
// The PTX in fat binaries of CUDA programs, by NVIDIA's cuobjdump.
#include "blocks/compile.h"
#include "blocks/tools/tool.h"
#include "guest/blocks/ptx_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VARIABLE "TARE_CUOBJDUMP"
#define NAME "cuobjdump"
#define FAT_SUFFIX ".fatbin"
#define FOLDER_SUFFIX ".unpacked" // into which it writes
#define SAID_SUFFIX ".unpacking"
#define LIST_SUFFIX ".listing"
#define ELSE "leave out --ptx, so that it is sampled; --exact counts it"
// In what cuobjdump says then.
#define NO_PTX "No PTX file"
#define NO_CODE "No ELF file"

// An architecture as file names have it: "sm_90a" is 90 and 'a'.
struct architecture {
	unsigned number;
	char letter; // it is for this one only, or for its family; 0: for later ones, too
};
struct found {
	char name[256];
	struct architecture architecture;
	bool any, doubled;
	bool others; // that the device does not run
};

// "BASE.1.sm_90a.ptx". False: it is no such name, or ends otherwise.
static bool read_name(const char *name, const char *ending, struct architecture *architecture)
{
	const char *at = NULL;
	char *end;

	for (const char *next = name; (next = strstr(next, ".sm_")); next += 4)
		at = next + 4;
	if (!at || *at < '0' || *at > '9')
		return false;
	architecture->number = (unsigned)strtoul(at, &end, 10);
	architecture->letter = *end == '.' ? '\0' : *end++;
	return strcmp(end, ending) == 0;
}

// Whether the device runs it. One that is not known is taken to run all: the driver is asked for
// each text before that is used.
static bool fits(const struct architecture *architecture, unsigned device)
{
	if (architecture->letter)
		return architecture->number == device;
	return !device || architecture->number <= device;
}

static bool is_better(const struct architecture *one, const struct architecture *than)
{
	return one->number != than->number ? one->number > than->number
	                                   : one->letter > than->letter;
}

static bool is_same(const struct architecture *one, const struct architecture *other)
{
	return one->number == other->number && one->letter == other->letter;
}

// Looks through what was written for the text of the highest architecture that the device runs.
static int choose(const char *folder, unsigned device, struct found *found,
                  struct tare_error *error)
{
	struct architecture architecture;
	DIR *list = opendir(folder);

	if (!list)
		return tare_fail(error, errno, "%.200s cannot be read", folder);
	for (struct dirent *entry; (entry = readdir(list));) {
		if (!read_name(entry->d_name, ".ptx", &architecture))
			continue;
		if (!fits(&architecture, device)) {
			found->others = true;
			continue;
		}
		if (found->any && !is_better(&architecture, &found->architecture)) {
			found->doubled |= is_same(&architecture, &found->architecture);
			continue;
		}
		found->any = true;
		found->doubled = false;
		found->architecture = architecture;
		snprintf(found->name, sizeof found->name, "%s", entry->d_name);
	}
	closedir(list);
	return 0;
}

// An option that changes neither what the text computes nor which launches are possible.
static bool is_harmless(const char *option, size_t bytes)
{
	static const char *const known[] = { "-arch=", "-m64", "-lineinfo",
		                             "--generate-line-info" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t length = strlen(known[i]);
		if (strncmp(option, known[i], length) == 0 &&
		    (length == bytes || known[i][length - 1] == '='))
			return true;
	}
	return false;
}

// The options that a text is to be compiled with stand behind its name. The driver's compiler is
// not asked for others than its own, and without them a launch may take too many registers.
static int check_options(const char *said, const char *name, struct tare_error *error)
{
	size_t bytes;
	char *text = tare_blocks_file_read(said, &bytes);
	const char *at = text ? strstr(text, name) : NULL;
	int status = 0;

	if (!at)
		status =
		    tare_fail(error, EIO, NAME " did not say how %.200s is to be compiled", name);
	for (at = at ? at + strlen(name) : NULL; status == 0 && *at && *at != '\n';) {
		at += strspn(at, " \t\r");
		size_t length = strcspn(at, " \t\r\n");
		if (length && !is_harmless(at, length))
			status = tare_fail(error, ENOTSUP,
			                   "the PTX in its fat binary was to be compiled with "
			                   "%.*s, which tare does not tell the driver: leave that "
			                   "out, or " ELSE,
			                   length < 100 ? (int)length : 100, at);
		at += length;
	}
	free(text);
	return status;
}

static int refuse(const struct found *found, unsigned device, struct tare_error *error)
{
	unsigned target = device ? device : 80;

	if (found->doubled)
		return tare_fail(error, ENOTSUP,
		                 "its fat binary has several texts of PTX for sm_%u, and tare does "
		                 "not know which is loaded: " ELSE,
		                 found->architecture.number);
	return tare_fail(error, ENOENT,
	                 "it came in a fat binary %s: build it with nvcc -gencode "
	                 "arch=compute_%u,code=compute_%u, too, or " ELSE,
	                 found->others ? "with PTX for other devices only"
	                               : "without PTX, which has machine code only",
	                 target, target);
}

// Some versions may fail where there is nothing of a kind.
static bool says(const char *said, const char *words)
{
	size_t bytes;
	char *text = tare_blocks_file_read(said, &bytes);
	bool found = text && strstr(text, words);

	free(text);
	return found;
}

// The fat binary in a file, and a folder of its own for what the tool writes.
struct unpacking {
	char tool[TARE_BLOCKS_TOOL_BYTES], fat[PATH_MAX], unpacked[PATH_MAX], said[PATH_MAX],
	    listed[PATH_MAX];
};

static int begin(const char *folder, const struct tare_blocks_input *input,
                 struct unpacking *unpacking, struct tare_error *error)
{
	const void *pieces[] = { input->text };
	size_t bytes[] = { (size_t)input->head.text_bytes };
	char whole[PATH_MAX];

	if (!tare_blocks_cuda_tool_find(VARIABLE, NAME, unpacking->tool))
		return tare_fail(error, ENOENT,
		                 "it came in a fat binary, as nvcc makes them, and NVIDIA's " NAME
		                 ", which comes with the CUDA toolkit and unpacks it, was not "
		                 "found: put it on PATH or name it in " VARIABLE ", or " ELSE);
	// It runs elsewhere.
	if (strchr(unpacking->tool, '/') && realpath(unpacking->tool, whole))
		snprintf(unpacking->tool, sizeof unpacking->tool, "%s", whole);
	tare_blocks_path(folder, input->hash, FAT_SUFFIX, unpacking->fat);
	tare_blocks_path(folder, input->hash, FOLDER_SUFFIX, unpacking->unpacked);
	tare_blocks_path(folder, input->hash, SAID_SUFFIX, unpacking->said);
	tare_blocks_path(folder, input->hash, LIST_SUFFIX, unpacking->listed);
	int status = tare_blocks_file_write(unpacking->fat, pieces, bytes, 1);
	if (status == 0 && mkdir(unpacking->unpacked, 0700) != 0 && errno != EEXIST)
		status = -errno;
	if (status < 0)
		return tare_fail(error, -status, "%.200s cannot be written: %s", unpacking->fat,
		                 strerror(-status));
	return 0;
}

static int extract(const struct unpacking *unpacking, struct tare_error *error)
{
	const char *const arguments[] = { unpacking->tool, "-xptx", "all", unpacking->fat, NULL };
	int status =
	    tare_blocks_tool_run_in(unpacking->unpacked, arguments, unpacking->said, error);

	return status == -EIO && says(unpacking->said, NO_PTX) ? 0 : status;
}

// Machine code runs on devices of its own generation (8.x, 9.x) that are not older.
static bool runs(const struct architecture *code, unsigned device)
{
	return code->number / 10 == device / 10 && code->number <= device;
}

// Without counters the driver takes the best machine code that the device runs. The source of one
// architecture may be another than that of the next (__CUDA_ARCH__), so that PTX of another one
// may compute something else.
static int check_code(const struct unpacking *unpacking, const struct architecture *taken,
                      unsigned device, struct tare_error *error)
{
	const char *const arguments[] = { unpacking->tool, "-lelf", unpacking->fat, NULL };
	struct architecture best = { 0, 0 }, each;
	size_t bytes;
	int status =
	    tare_blocks_tool_run_in(unpacking->unpacked, arguments, unpacking->listed, error);

	if (status == -EIO && says(unpacking->listed, NO_CODE))
		return 0;
	char *text = status == 0 ? tare_blocks_file_read(unpacking->listed, &bytes) : NULL, *rest;
	for (char *word = text ? strtok_r(text, " \t\r\n", &rest) : NULL; word;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		if (read_name(word, ".cubin", &each) && runs(&each, device) &&
		    each.number > best.number)
			best = each;
	free(text);
	if (status < 0 || !best.number || best.number == taken->number)
		return status;
	return tare_fail(
	    error, ENOTSUP,
	    "its fat binary has machine code for sm_%u, which runs without counters, "
	    "and PTX for sm_%u only, whose source may be another (__CUDA_ARCH__): "
	    "build it with nvcc -gencode arch=compute_%u,code=compute_%u, too, or " ELSE,
	    best.number, taken->number, best.number, best.number);
}

static int take_text(const char *unpacked, const char *name, struct tare_blocks_input *input,
                     struct tare_blocks_build *build, struct tare_error *error)
{
	char path[PATH_MAX + 300];
	size_t bytes;

	snprintf(path, sizeof path, "%s/%s", unpacked, name);
	char *text = tare_blocks_file_read(path, &bytes), *copy = text ? strdup(text) : NULL;
	if (text && copy && strlen(text) == bytes && blocks_is_ptx(text, bytes)) {
		free(input->text);
		free(build->text);
		input->text = text;
		input->head.text_bytes = bytes;
		input->head.language = BLOCKS_PTX;
		build->text = copy;
		return 0;
	}
	free(text);
	free(copy);
	return tare_fail(error, EIO, NAME " wrote %.200s, which is no PTX", name);
}

int tare_blocks_fat_unpack(const char *folder, struct tare_blocks_input *input,
                           struct tare_blocks_build *build, struct tare_error *error)
{
	unsigned device = (unsigned)strtoul(input->version, NULL, 10);
	struct unpacking unpacking;
	struct found found = { .any = false };
	int status = begin(folder, input, &unpacking, error);

	build->fat = true;
	status = status ?: extract(&unpacking, error);
	status = status ?: choose(unpacking.unpacked, device, &found, error);
	if (status == 0 && (!found.any || found.doubled))
		status = refuse(&found, device, error);
	status = status ?: check_options(unpacking.said, found.name, error);
	status = status ?: check_code(&unpacking, &found.architecture, device, error);
	status = status ?: take_text(unpacking.unpacked, found.name, input, build, error);
	const char letter[] = { found.architecture.letter, '\0' };
	if (status == 0)
		snprintf(build->level, sizeof build->level,
		         "PTX for sm_%u%s of the fat binary, compiled by the driver; without "
		         "counters it may run machine code from there",
		         found.architecture.number, letter);
	return status;
}
