// SPDX-License-Identifier: Apache-2.0
#include "blocks/clock/times.h"

#include "base/path.h"
#include "blocks/clock/code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z_95 1.959963984540054 // of the normal distribution
// Of all samples in kernels: what a library needs for its lines to be looked for, a hundredth, so
// that a program of very many has not clang running for minutes.
enum { LEAST_PART = 100 };

// A sample in a kernel.
struct met {
	const char *path; // of the library
	uint64_t offset;  // in its file
	size_t place;     // of the kernel
};

// The kernel of ".../NAME/SIZES/NAME.so", as PoCL keeps them. False: it is another file.
static bool kernel_of(const char *path, char *name, size_t room)
{
	const char *slash = strrchr(path, '/');
	size_t bytes = slash ? strlen(slash + 1) : 0;

	if (bytes <= strlen(".so") || strcmp(slash + 1 + bytes - strlen(".so"), ".so") != 0)
		return false;
	bytes -= strlen(".so");
	const char *sizes = slash;
	while (sizes > path && sizes[-1] != '/')
		sizes--;
	if (bytes >= room || (size_t)(sizes - path) < bytes + 2 ||
	    strncmp(sizes - 1 - bytes, slash + 1, bytes) != 0 ||
	    sizes[-2 - (ptrdiff_t)bytes] != '/')
		return false;
	memcpy(name, slash + 1, bytes);
	name[bytes] = '\0';
	return true;
}

// The kernel's place, new where it was not there; SIZE_MAX: no memory.
static size_t place_of(struct tare_blocks_times *times, const char *name)
{
	for (size_t i = 0; i < times->kernel_count; i++)
		if (strcmp(times->kernels[i].name, name) == 0)
			return i;
	struct tare_blocks_kernel_time *kernels =
	    realloc(times->kernels, (times->kernel_count + 1) * sizeof *kernels);
	if (!kernels)
		return SIZE_MAX;
	times->kernels = kernels;
	kernels[times->kernel_count] = (struct tare_blocks_kernel_time){ .name = strdup(name) };
	return kernels[times->kernel_count].name ? times->kernel_count++ : SIZE_MAX;
}

// The mapping in which a sample lies: the last one before it.
static const struct tare_blocks_mapping *mapping_of(const struct tare_blocks_ticks *ticks,
                                                    const struct tare_blocks_tick *tick)
{
	const struct tare_blocks_mapping *found = NULL;

	for (size_t i = 0; i < ticks->mapping_count; i++) {
		const struct tare_blocks_mapping *at = &ticks->mappings[i];
		if (at->process == tick->process && at->at <= tick->at &&
		    tick->address - at->from < at->bytes && (!found || at->at >= found->at))
			found = at;
	}
	return found;
}

// ---- lines

// PoCL compiles a program's source from a file of its own, ".../tempfile_a1B2c3.cl".
static const char *file_of(const char *file)
{
	const char *name = tare_path_name(file);
	size_t length = strlen(name);
	bool own = strncmp(name, "tempfile_", strlen("tempfile_")) == 0 && length > 3 &&
	           strcmp(name + length - 3, ".cl") == 0;

	return own ? "" : file;
}

// Adds samples to a line, which may be new, of *count.
static int add_line(struct tare_blocks_line_time **lines, size_t *count, const char *file,
                    uint32_t line, uint64_t samples)
{
	for (size_t i = 0; i < *count; i++)
		if ((*lines)[i].line == line && strcmp((*lines)[i].file, file) == 0) {
			(*lines)[i].samples += samples;
			return 0;
		}
	struct tare_blocks_line_time *more = realloc(*lines, (*count + 1) * sizeof *more);
	if (!more)
		return -ENOMEM;
	*lines = more;
	more[*count] = (struct tare_blocks_line_time){ .file = strdup(file),
		                                       .line = line,
		                                       .samples = samples };
	return more[*count].file ? (++*count, 0) : -ENOMEM;
}

static void free_lines(struct tare_blocks_line_time *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(lines[i].file);
	free(lines);
}

// All lines of a block of code, none of them met yet.
static int fill_code(const struct tare_blocks_code_at *at, struct tare_blocks_code_time *code)
{
	const struct tare_elf_row *row = tare_elf_line(at->lines, at->section, at->block.from);
	int status = 0;

	if (row)
		status = add_line(&code->lines, &code->line_count,
		                  file_of(at->lines->files[row->file]), row->line, 0);
	for (size_t i = 0; status == 0 && i < at->lines->row_count; i++) {
		row = &at->lines->rows[i];
		if (row->section == at->section && row->address > at->block.from &&
		    row->address < at->block.to && !row->ends && row->line)
			status = add_line(&code->lines, &code->line_count,
			                  file_of(at->lines->files[row->file]), row->line, 0);
	}
	return status;
}

// The block of code's place, new where it was not met before; NULL: no memory.
static struct tare_blocks_code_time *code_of(struct tare_blocks_kernel_time *kernel,
                                             const struct tare_blocks_code_at *at)
{
	for (size_t i = 0; i < kernel->code_count; i++)
		if (kernel->codes[i].lines_of == at->lines &&
		    kernel->codes[i].section == at->section &&
		    kernel->codes[i].from == at->block.from)
			return &kernel->codes[i];
	struct tare_blocks_code_time *codes =
	    realloc(kernel->codes, (kernel->code_count + 1) * sizeof *codes);
	if (!codes)
		return NULL;
	kernel->codes = codes;
	struct tare_blocks_code_time *code = &codes[kernel->code_count++];
	*code = (struct tare_blocks_code_time){ .lines_of = at->lines,
		                                .section = at->section,
		                                .from = at->block.from };
	return fill_code(at, code) == 0 ? code : NULL;
}

static int add_samples(struct tare_blocks_kernel_time *kernel, struct tare_blocks_code *library,
                       uint64_t offset, uint64_t samples)
{
	struct tare_error why = { 0 };
	struct tare_blocks_code_at at;
	int status = tare_blocks_code_look(library, offset, &at, &why);

	if (status == -ENOENT) {
		kernel->untold += samples;
		if (!kernel->why.code)
			kernel->why = why;
		return 0;
	}
	struct tare_blocks_code_time *code = status == 0 ? code_of(kernel, &at) : NULL;
	if (!code)
		return -ENOMEM;
	if (!at.row) {
		kernel->no_line += samples;
		code->no_line += samples;
		return 0;
	}
	const char *file = file_of(at.lines->files[at.row->file]);
	status = add_line(&code->lines, &code->line_count, file, at.row->line, samples);
	return status ?: add_line(&kernel->lines, &kernel->line_count, file, at.row->line, samples);
}

static int by_place(const void *left, const void *right)
{
	const struct met *a = left, *b = right;
	int paths = strcmp(a->path, b->path);

	return paths ? paths : (a->offset > b->offset) - (a->offset < b->offset);
}

// The samples of one library, by their offsets.
static int add_library(struct tare_blocks_times *times, const struct tare_blocks_times_tools *tools,
                       const struct met *met, size_t count, size_t all)
{
	struct tare_blocks_kernel_time *kernel = &times->kernels[met->place];
	struct tare_blocks_code code;
	int status =
	    tare_blocks_code_open(met->path, kernel->name, tools->clang, tools->folder, &code);

	if (!tools->clang[0])
		tare_fail(&code.why, ENOENT, "there is no clang of the driver's LLVM");
	else if (count < all / LEAST_PART)
		tare_fail(&code.why, ENOENT, "too few samples are in that library of the kernel");
	for (size_t i = 0, next; status == 0 && i < count; i = next) {
		for (next = i; next < count && met[next].offset == met[i].offset;)
			next++;
		status = add_samples(kernel, &code, met[i].offset, next - i);
	}
	for (size_t i = 0; i < kernel->code_count; i++)
		kernel->codes[i].lines_of = NULL;
	tare_blocks_code_free(&code);
	return status;
}

static int add_lines(struct tare_blocks_times *times, const struct tare_blocks_times_tools *tools,
                     struct met *met, size_t count)
{
	int status = 0;

	if (count)
		qsort(met, count, sizeof *met, by_place);
	for (size_t i = 0, next; status == 0 && i < count; i = next) {
		for (next = i; next < count && strcmp(met[next].path, met[i].path) == 0;)
			next++;
		status = add_library(times, tools, &met[i], next - i, count);
	}
	return status;
}

// ---- all

int tare_blocks_times_make(const struct tare_blocks_ticks *ticks,
                           const struct tare_blocks_times_tools *tools,
                           struct tare_blocks_times *times)
{
	struct met *met = calloc(ticks->count + 1, sizeof *met);
	char name[512];
	size_t count = 0;
	int status = ticks->failed || !met ? -ENOMEM : 0;

	times->samples = ticks->count;
	times->lost = ticks->lost;
	for (size_t i = 0; status == 0 && i < ticks->count; i++) {
		const struct tare_blocks_mapping *mapping = mapping_of(ticks, &ticks->at[i]);
		if (!mapping || !kernel_of(mapping->path, name, sizeof name))
			continue;
		size_t place = place_of(times, name);
		if (place == SIZE_MAX) {
			status = -ENOMEM;
			break;
		}
		times->kernels[place].samples++;
		met[count++] =
		    (struct met){ mapping->path,
			          ticks->at[i].address - mapping->from + mapping->offset, place };
	}
	status = status ?: add_lines(times, tools, met, count);
	free(met);
	return status;
}

void tare_blocks_times_free(struct tare_blocks_times *times)
{
	for (size_t i = 0; i < times->kernel_count; i++) {
		struct tare_blocks_kernel_time *kernel = &times->kernels[i];
		for (size_t k = 0; k < kernel->code_count; k++)
			free_lines(kernel->codes[k].lines, kernel->codes[k].line_count);
		free(kernel->codes);
		free_lines(kernel->lines, kernel->line_count);
		free(kernel->name);
	}
	free(times->kernels);
	*times = (struct tare_blocks_times){ .asked = false };
}

const struct tare_blocks_kernel_time *tare_blocks_time_of(const struct tare_blocks_times *times,
                                                          const char *name)
{
	for (size_t i = 0; i < times->kernel_count; i++)
		if (strcmp(times->kernels[i].name, name) == 0)
			return &times->kernels[i];
	return NULL;
}

// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
void tare_blocks_share_interval(uint64_t part, uint64_t whole, double *low, double *high)
{
	double n = (double)whole, p = (double)part / n, z = Z_95;
	double centre = p + z * z / (2 * n), wide = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	*low = (centre - wide) / (1 + z * z / n);
	*high = (centre + wide) / (1 + z * z / n);
}
