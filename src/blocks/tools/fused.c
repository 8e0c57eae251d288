// SPDX-License-Identifier: Apache-2.0
#include "blocks/tools/fused.h"

#include "base/cleanup.h"
#include "blocks/tools/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "source_filename"
#define MAD "@_Z3mad"
#define CONVENTION "spir_func "
#define VECTOR "Dv"

// The types of OpenCL C's mad(), as its mangled name has the first of them.
static const struct {
	const char *mangled, *type;
} numbers[] = { { "Dh", "f16" }, { "f", "f32" }, { "d", "f64" } };

static void *read_whole(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	char *data = NULL;
	long size = -1;

	*bytes = 0;
	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && (data = malloc((size_t)size + 1))) {
		rewind(file);
		*bytes = fread(data, 1, (size_t)size, file);
		data[*bytes] = '\0';
	}
	if (file)
		fclose(file);
	return data;
}

// Names stand in bitcode as they are, behind each other.
static bool has_name(const char *bitcode, const char *name)
{
	size_t bytes;
	TARE_FREE char *data = read_whole(bitcode, &bytes);

	return !data || memmem(data, bytes, name, strlen(name));
}

bool tare_blocks_calls_mad(const char *bitcode)
{
	return has_name(bitcode, &MAD[1]);
}

bool tare_blocks_may_fuse(const char *bitcode)
{
	return has_name(bitcode, "llvm.fmuladd.");
}

// Reads "_Z3madDv4_fS_S_" and its like; *length: of the name. False: it is another function.
static bool reads_mad(const char *at, char type[16], size_t *length)
{
	const char *end = at + strlen(MAD);
	unsigned long width = 1;

	if (strncmp(end, VECTOR, strlen(VECTOR)) == 0) {
		char *behind;
		width = strtoul(end + strlen(VECTOR), &behind, 10);
		end = behind + (*behind == '_');
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (strncmp(end, numbers[i].mangled, strlen(numbers[i].mangled)) != 0)
			continue;
		if (width > 1)
			snprintf(type, 16, "v%lu%s", width % 100, numbers[i].type);
		else
			snprintf(type, 16, "%s", numbers[i].type);
		*length = strcspn(at, "(");
		return at[*length] == '(';
	}
	return false;
}

// What stands before the name has the convention of OpenCL's functions in it; an intrinsic has
// none.
static void write_before(const char *line, const char *name, FILE *file)
{
	const char *found = memmem(line, (size_t)(name - line), CONVENTION, strlen(CONVENTION));

	if (!found)
		found = name;
	fwrite(line, 1, (size_t)(found - line), file);
	if (found < name)
		found += strlen(CONVENTION);
	fwrite(found, 1, (size_t)(name - found), file);
}

static void write_line(const char *line, size_t length, FILE *file)
{
	if (strncmp(line, FILE_NAME, strlen(FILE_NAME)) == 0)
		return;
	const char *name = memmem(line, length, MAD, strlen(MAD));
	char type[16];
	size_t named;

	if (name && reads_mad(name, type, &named)) {
		write_before(line, name, file);
		fprintf(file, "@llvm.fmuladd.%s", type);
		length -= (size_t)(name + named - line);
		line = name + named;
	}
	fwrite(line, 1, length, file);
	fputc('\n', file);
}

static int write_text(const char *from, const char *to, struct tare_error *error)
{
	size_t bytes;
	TARE_FREE char *text = read_whole(from, &bytes);
	FILE *file = text ? fopen(to, "we") : NULL;
	int status = file ? 0 : -EIO;

	// Without a name clang takes that of the file: the folder of a run in it would keep drivers
	// from finding what they have built.
	if (file)
		fputs(FILE_NAME " = \"kernels\"\n", file);
	for (const char *line = text; status == 0 && *line;) {
		size_t length = strcspn(line, "\n");
		write_line(line, length, file);
		line += length + (line[length] == '\n');
	}
	if (file && (ferror(file) | fclose(file)) && status == 0)
		status = -EIO;
	return status < 0 ? tare_fail(error, -status, "LLVM's text cannot be written anew: %s",
	                              strerror(-status))
	                  : 0;
}

// Bitcode or text that clang takes as it is.
#define READS                                                                                      \
	"-target", "spir64-unknown-unknown", "-x", "ir", "-emit-llvm", "-O1", "-Xclang",           \
	    "-disable-llvm-passes"

int tare_blocks_fuse(const char *clang, const char *bitcode, const char *said,
                     struct tare_error *error)
{
	char text[PATH_MAX], fused[PATH_MAX];
	const char *const to_text[] = { clang, READS, "-S", bitcode, "-o", text, NULL };
	const char *const to_bitcode[] = { clang, READS, "-c", fused, "-o", bitcode, NULL };

	snprintf(text, sizeof text, "%s.ll", bitcode);
	snprintf(fused, sizeof fused, "%s.fused.ll", bitcode);
	int status = tare_blocks_tool_run(to_text, said, error);
	status = status ?: write_text(text, fused, error);
	return status ?: tare_blocks_tool_run(to_bitcode, said, error);
}
