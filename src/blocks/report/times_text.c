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

// What of a kernel's samples the lines are, and why of the others they are not known.
static void write_lines(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_kernel_time *time = row->time;
	const struct tare_blocks_timed *timed = &row->timed;
	double low, high;

	if (timed->known) {
		tare_blocks_share_interval((time->samples + 1) / 2, time->samples, &low, &high);
		fprintf(file,
		        "  lines: %.1f %% of its samples are on the lines below, %.1f %% on "
		        "others, %.1f %% in code of no line; built with -g; a share of half is "
		        "known to %.1f points\n",
		        percent(timed->counted, time->samples),
		        percent(timed->elsewhere, time->samples),
		        percent(time->no_line, time->samples), 50 * (high - low));
	}
	if (timed->parts)
		fputs("  lines: n/a, because " TARE_BLOCKS_OF_PARTS "\n", file);
	else if (time->untold)
		fprintf(file, "  lines of %.1f %% of its samples: n/a, because %s\n",
		        percent(time->untold, time->samples), time->why.message);
}

void tare_blocks_times_text(const struct tare_blocks_row *row, FILE *file)
{
	const struct tare_blocks_times *times = row->document->times;
	const struct tare_blocks_kernel *kernel = row->kernel;
	const struct tare_blocks_kernel_time *time = row->time;
	uint64_t launches = tare_blocks_launches_of(row->document->profile, kernel->name);
	char each[TARE_UNIT_TEXT];
	double low, high;

	if (!times->asked)
		return;
	if (kernel->far || !tare_blocks_has_words(&kernel->build->module)) {
		fputs("  time: n/a, because the host's clock tells nothing of a device that is no "
		      "CPU\n",
		      file);
		return;
	}
	if (times->why.code) {
		fprintf(file, "  time: n/a, because %s\n", times->why.message);
		return;
	}
	if (!time) {
		fprintf(file,
		        "  time: n/a, because none of the program's %" PRIu64
		        " samples is in this kernel's library, as PoCL keeps one of each: it ran "
		        "too briefly, or on another driver\n",
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
		fputs("  that time is of all kernels of this name together, so that lines and "
		      "blocks have none\n",
		      file);
	else
		write_lines(row, file);
	if (times->lost)
		fprintf(file, "  samples that were lost: %" PRIu64 "\n", times->lost);
}
