// SPDX-License-Identifier: Apache-2.0
#include "blocks/clock/times.h"

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
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t length = strlen(name);
	bool own = strncmp(name, "tempfile_", strlen("tempfile_")) == 0 && length > 3 &&
	           strcmp(name + length - 3, ".cl") == 0;

	return own ? "" : file;
}

static int add_line(struct tare_blocks_kernel_time *kernel, const char *file, uint32_t line,
                    uint64_t samples)
{
	for (size_t i = 0; i < kernel->line_count; i++)
		if (kernel->lines[i].line == line && strcmp(kernel->lines[i].file, file) == 0) {
			kernel->lines[i].samples += samples;
			return 0;
		}
	struct tare_blocks_line_time *lines =
	    realloc(kernel->lines, (kernel->line_count + 1) * sizeof *lines);
	if (!lines)
		return -ENOMEM;
	kernel->lines = lines;
	lines[kernel->line_count] = (struct tare_blocks_line_time){ .file = strdup(file),
		                                                    .line = line,
		                                                    .samples = samples };
	return lines[kernel->line_count].file ? (kernel->line_count++, 0) : -ENOMEM;
}

static int add_samples(struct tare_blocks_kernel_time *kernel, struct tare_blocks_code *code,
                       uint64_t offset, uint64_t samples)
{
	struct tare_error why = { 0 };
	const char *file;
	uint32_t line;
	int status = tare_blocks_code_line(code, offset, &file, &line, &why);

	if (status == 0 && file)
		return add_line(kernel, file_of(file), line, samples);
	if (status == 0)
		kernel->no_line += samples;
	if (status != -ENOENT)
		return status;
	kernel->untold += samples;
	if (!kernel->why.code)
		kernel->why = why;
	return 0;
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
		for (size_t k = 0; k < kernel->line_count; k++)
			free(kernel->lines[k].file);
		free(kernel->lines);
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
