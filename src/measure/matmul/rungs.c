// SPDX-License-Identifier: Apache-2.0
// The rungs of the ladder, and how the command line names rungs and sizes.
#include "measure/matmul/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const struct matmul_rung matmul_rungs[TARE_RUNG_COUNT] = {
	[TARE_RUNG_SEQUENTIAL] = { "one core of the host" },
	[TARE_RUNG_HOST_BLAS] = { "all cores of the host, OpenBLAS" },
	[TARE_RUNG_ELEMENT] = { "one launch an element", "matmul", "matmul_element",
		{ 64, 1 }, 1, 1, 0, 256 },
	[TARE_RUNG_NAIVE] = { "one launch, straight from global memory", "matmul", "matmul_naive",
		{ 16, 16 }, 16, 1, 0, 0 },
	[TARE_RUNG_TILED] = { "tiled through local memory", "matmul", "matmul_tiled",
		{ 16, 16 }, 16, 16, 1, 2 * 16 * 17 * 4 },
	[TARE_RUNG_SECOND] = { "tiled twice, four elements a work-item", "matmul", "matmul_second",
		{ 16, 16 }, 32, 32, 2, 2 * 32 * 33 * 4 },
	[TARE_RUNG_SUB_GROUPS] = { "handed on within sub-groups, 8 x 4 a work-item",
		"matmul_sub_groups", "matmul_sub_groups", { 128, 1 }, 64, 16, 0, 0 },
	[TARE_RUNG_REGISTER] = { "blocked in registers, 8 x 8 a work-item", "matmul",
		"matmul_register", { 8, 8 }, 64, 64, 8, 16 * 33 * 16 },
	[TARE_RUNG_CACHED] = { "the same in squares that fit the shared cache", "matmul",
		"matmul_register", { 8, 8 }, 64, 64, 8, 16 * 33 * 16 },
	[TARE_RUNG_BLAS] = { "the device's library" },
	[TARE_RUNG_BLAS_TF32] = { "the library, factors in TF32", .precision = TARE_BLAS_TF32 },
	[TARE_RUNG_BLAS_FP16] = { "the library, factors in FP16", .precision = TARE_BLAS_FP16 },
	[TARE_RUNG_BLAS_BF16] = { "the library, factors in BF16", .precision = TARE_BLAS_BF16 },
};
// clang-format on

// A square of c needs so many rows of a and columns of b, and both are read as long as it is worked
// on: together with it they are to fit into this part of the cache. The rest is for what is
// written, and for groups of the next square.
#define CACHE_PART 0.5

uint32_t matmul_square(uint64_t cache_bytes, uint32_t n)
{
	const uint32_t tile = matmul_rungs[TARE_RUNG_CACHED].tile;
	double room = CACHE_PART * (double)cache_bytes / 4;
	uint32_t square = 0;

	for (double side = tile; square < n / tile + 1 && 2 * side * n + side * side <= room;
	     side += tile)
		square++;
	return square;
}

uint64_t matmul_cache_bytes(const struct matmul *matmul)
{
	const struct tare_facts *facts = matmul->run->facts;

	return facts && facts->fact[TARE_FACT_CACHE].present ? facts->fact[TARE_FACT_CACHE].count
	                                                     : 0;
}

const char *tare_rung_title(enum tare_rung rung)
{
	return matmul_rungs[rung].title;
}

static int parse_size(const char *text, size_t length, uint32_t *n, struct tare_error *error)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < length && text[i] >= '0' && text[i] <= '9' && value <= UINT32_MAX; i++)
		value = 10 * value + (uint64_t)(text[i] - '0');
	if (i < length || length == 0)
		return tare_fail(error, EINVAL,
		                 "'%.*s' is not a size: give whole numbers, as in 256,1000 or "
		                 "32..2048",
		                 (int)(length < 40 ? length : 40), text);
	if (value == 0 || value > MATMUL_CHECK_LARGEST)
		return tare_fail(error, EINVAL, "matrices are of 1 to %u rows, not %.*s",
		                 MATMUL_CHECK_LARGEST, (int)(length < 40 ? length : 40), text);
	*n = (uint32_t)value;
	return 0;
}

static int add_size(struct tare_matmul_options *options, uint32_t n, struct tare_error *error)
{
	size_t at = 0;

	while (at < options->n_count && options->n[at] < n)
		at++;
	if (at < options->n_count && options->n[at] == n)
		return 0;
	if (options->n_count == TARE_MATMUL_SIZES)
		return tare_fail(error, EINVAL, "more than %d sizes", TARE_MATMUL_SIZES);
	memmove(&options->n[at + 1], &options->n[at],
	        (options->n_count - at) * sizeof options->n[0]);
	options->n[at] = n;
	options->n_count++;
	return 0;
}

// "32..2048": both ends, and the powers of two between.
static int add_range(struct tare_matmul_options *options, const char *text, size_t length,
                     const char *dots, struct tare_error *error)
{
	size_t first = (size_t)(dots - text);
	uint32_t from = 0, to = 0;
	int status = parse_size(text, first, &from, error);

	status = status ?: parse_size(dots + 2, length - first - 2, &to, error);
	if (status == 0 && from > to)
		status =
		    tare_fail(error, EINVAL, "'%.*s' ends before it begins", (int)length, text);
	status = status ?: add_size(options, from, error);
	for (uint32_t n = 1; status == 0 && n < to; n *= 2)
		if (n > from)
			status = add_size(options, n, error);
	return status < 0 ? status : add_size(options, to, error);
}

int tare_parse_matmul_sizes(const char *text, struct tare_matmul_options *options,
                            struct tare_error *error)
{
	int status = 0;

	options->n_count = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		const char *dots = strstr(text, "..");
		uint32_t n = 0;
		if (dots && dots < text + length) {
			status = add_range(options, text, length, dots, error);
		} else {
			status = parse_size(text, length, &n, error);
			status = status ?: add_size(options, n, error);
		}
		if (status < 0 || !text[length])
			return status;
		text += length + 1;
	}
}

static int refuse_rung(const char *text, size_t length, struct tare_error *error)
{
	char names[256] = "";
	size_t used = 0;

	for (int i = 0; i < TARE_RUNG_COUNT && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
		                         tare_rung_name((enum tare_rung)i));
	return tare_fail(error, EINVAL, "no rung '%.*s'; there are %s, or all",
	                 (int)(length < 40 ? length : 40), text, names);
}

int tare_parse_rungs(const char *text, uint32_t *rungs, struct tare_error *error)
{
	*rungs = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		uint32_t found = 0;
		for (int i = 0; i < TARE_RUNG_COUNT; i++)
			if (strlen(tare_rung_name((enum tare_rung)i)) == length &&
			    strncmp(tare_rung_name((enum tare_rung)i), text, length) == 0)
				found = 1u << i;
		if (length == 3 && strncmp(text, "all", 3) == 0)
			found = (1u << TARE_RUNG_COUNT) - 1;
		if (!found)
			return refuse_rung(text, length, error);
		*rungs |= found;
		if (!text[length])
			return 0;
		text += length + 1;
	}
}
