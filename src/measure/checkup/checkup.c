// SPDX-License-Identifier: Apache-2.0
// The parts of a checkup, with profiles that fit into a minute.
#include "measure/checkup/checkup.h"

#include "measure/bandwidth/bandwidth.h"
#include "measure/checkup/internal.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "measure/peak/peak.h"

// On the simulated device time passes at once, but this machine moves the bytes and computes the
// products: there everything is small.

// A shorter budget for `bandwidth` would go into making large buffers.
#define SHORT_NS INT64_C(8000000000)
// Of `overlap`: how long its copies are to take, and their sizes.
#define COPY_NS 4e6
#define LEAST_BYTES (UINT64_C(4) << 20)
#define MOST_BYTES (UINT64_C(256) << 20)

static int measure_latency(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	static const struct tare_latency_options options = { .coarse = true };

	(void)checkup;
	return tare_measure_latency(run, &options, error);
}

static int measure_bandwidth(struct checkup *checkup, struct tare_run *run,
                             struct tare_error *error)
{
	bool small = run->budget_ns < SHORT_NS || checkup->run->simulated;
	struct tare_bandwidth_options options = {
		.from_bytes = UINT64_C(16) << 10,
		.to_bytes = (small ? UINT64_C(16) : UINT64_C(128)) << 20,
		.coarse = true,
	};
	int status = tare_parse_lines("copy,both", &options.lines, error);

	return status < 0 ? status : tare_measure_bandwidth(run, &options, error);
}

static int measure_peak(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	int status = tare_measure_peak(run, error);

	tare_peaks_of(run->result, &checkup->peaks);
	return status;
}

// Without a measured part there may be what an earlier `peak` has kept.
static const struct tare_peaks *peaks_of(struct checkup *checkup)
{
	if (!checkup->peaks.present)
		(void)tare_peaks_load(&checkup->run->result->devices[0], NULL, &checkup->peaks,
		                      NULL);
	return &checkup->peaks;
}

static int measure_matmul(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	struct tare_matmul_options options = { .n = { 64, 256, 1024, 2048 },
		                               .n_count = checkup->run->simulated ? 2 : 4,
		                               .untraced = true,
		                               .peaks = *peaks_of(checkup) };

	return tare_measure_matmul(run, &options, error);
}

// Bytes that a copy to the device takes about COPY_NS for, as the part `bandwidth` found: so a
// search has time for many runs on a slow link, and does not measure launches on a fast one. 0: not
// known.
static uint64_t bytes_for_overlap(const struct checkup *checkup)
{
	double rate = checkup_link_rate(checkup->run->result);
	uint64_t bytes = LEAST_BYTES;

	if (checkup->run->simulated)
		return bytes;
	if (!(rate > 0))
		return 0;
	while (bytes < MOST_BYTES && 2 * (double)bytes < rate * COPY_NS * 1e-9)
		bytes *= 2;
	return bytes;
}

static int measure_overlap(struct checkup *checkup, struct tare_run *run, struct tare_error *error)
{
	struct tare_overlap_options options = {
		.bytes = bytes_for_overlap(checkup),
		.breaks = TARE_OVERLAP_ALL_BREAKS,
		.peaks = *peaks_of(checkup),
	};

	return tare_measure_overlap(run, &options, NULL, error);
}

static const struct checkup_row rows[] = {
	{ "latency", 8, measure_latency, NULL },
	{ "bandwidth", 22, measure_bandwidth,
	  "a short profile: copies and both ways at once, sizes in steps of four" },
	{ "peak", 15, measure_peak, NULL },
	{ "matmul", 25, measure_matmul, "a short profile: n of 64, 256, 1024 and 2048 at most" },
	{ "overlap", 30, measure_overlap,
	  "a short profile: as many bytes as a copy moves in a few milliseconds" },
};

int tare_measure_checkup(struct tare_run *run, struct tare_error *error)
{
	return checkup_measure(run, rows, sizeof rows / sizeof *rows, error);
}
