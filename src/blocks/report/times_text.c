// SPDX-License-Identifier: Apache-2.0
// What the host's clock says of a kernel, beside what was counted.
#include "blocks/report/times.h"

#include "base/units.h"

#include <inttypes.h>
#include <string.h>

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

// Launches of all kernels of that name: whose of them a sample is, is not known.
static uint64_t launches_of(const struct tare_blocks_profile *profile, const char *name)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < profile->kernel_count; i++)
		if (strcmp(profile->kernels[i].name, name) == 0)
			launches += profile->kernels[i].launches;
	return launches;
}

void tare_blocks_times_text(const struct tare_blocks_times *times,
                            const struct tare_blocks_profile *profile,
                            const struct tare_blocks_kernel *kernel, FILE *file)
{
	const struct tare_blocks_kernel_time *time = tare_blocks_time_of(times, kernel->name);
	uint64_t launches = launches_of(profile, kernel->name);
	char each[TARE_UNIT_TEXT];
	double low, high;

	if (!times->asked)
		return;
	if (times->why.code) {
		fprintf(file, "  time: n/a, because %s\n", times->why.message);
		return;
	}
	if (!time) {
		fprintf(file,
		        "  time: n/a, because none of %" PRIu64
		        " samples is in a library that is the kernel's, as PoCL keeps them\n",
		        times->samples);
		return;
	}
	tare_blocks_share_interval(time->samples, times->samples, &low, &high);
	fprintf(
	    file,
	    "  time: %.1f %% (%.1f to %.1f) of the program's CPU time, %s a launch; %" PRIu64
	    " of %" PRIu64 " samples of the host's clock, without counters\n",
	    percent(time->samples, times->samples), 100 * low, 100 * high,
	    tare_format_ns((double)time->samples * TARE_BLOCKS_CLOCK_NS / (double)launches, each),
	    time->samples, times->samples);
	if (launches != kernel->launches)
		fputs("  that time is of all kernels of this name together\n", file);
	if (times->lost)
		fprintf(file, "  samples that were lost: %" PRIu64 "\n", times->lost);
}
