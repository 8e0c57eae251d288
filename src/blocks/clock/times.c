// SPDX-License-Identifier: Apache-2.0
#include "blocks/clock/times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z_95 1.959963984540054 // of the normal distribution

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

int tare_blocks_times_make(const struct tare_blocks_ticks *ticks, struct tare_blocks_times *times)
{
	char name[512];

	if (ticks->failed)
		return -ENOMEM;
	times->samples = ticks->count;
	times->lost = ticks->lost;
	for (size_t i = 0; i < ticks->count; i++) {
		const struct tare_blocks_mapping *mapping = mapping_of(ticks, &ticks->at[i]);
		if (!mapping || !kernel_of(mapping->path, name, sizeof name))
			continue;
		size_t place = place_of(times, name);
		if (place == SIZE_MAX)
			return -ENOMEM;
		times->kernels[place].samples++;
	}
	return 0;
}

void tare_blocks_times_free(struct tare_blocks_times *times)
{
	for (size_t i = 0; i < times->kernel_count; i++)
		free(times->kernels[i].name);
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
