// SPDX-License-Identifier: Apache-2.0
// Measured ceilings of a device, from a result of `peak`: kept in the user's cache by device and
// driver, so that other commands can print shares of what is attainable.
#pragma once
#include "base/error.h"
#include "result/result.h"

enum tare_ceiling {
	TARE_CEILING_FP32, // FLOP/s
	TARE_CEILING_FP64,
	TARE_CEILING_FP16,
	TARE_CEILING_INT32,       // operations/s
	TARE_CEILING_TENSOR_TF32, // FLOP/s of the vendor's matrix library
	TARE_CEILING_TENSOR_FP16,
	TARE_CEILING_TENSOR_BF16,
	TARE_CEILING_MEMORY_READ, // bytes/s
	TARE_CEILING_MEMORY_WRITE,
	TARE_CEILING_MEMORY_COPY,  // read and written bytes together
	TARE_CEILING_MEMORY_TRIAD, // the same
	TARE_CEILING_CACHE, // best rate of the sweep's working sets that are below the memory's
	TARE_CEILING_SHARED_CACHE, // the same beyond the cache nearer to the units
	TARE_CEILING_LOCAL,
	TARE_CEILING_COUNT
};

struct tare_peaks {
	bool present;
	double per_second[TARE_CEILING_COUNT];  // NaN where not measured
	double theoretical[TARE_CEILING_COUNT]; // by the device's facts; NaN where not known
	// the unit's clock while it was measured; not above 0: unknown
	double clock_hz[TARE_CEILING_COUNT];
	int64_t age_s;    // since it was written; -1 unknown
	char origin[256]; // "measured 3 days ago (tare peak)", or why there are none
};

// "fp32", "memory read".
const char *tare_ceiling_name(enum tare_ceiling ceiling);

static inline bool tare_ceiling_is_arithmetic(enum tare_ceiling ceiling)
{
	return ceiling <= TARE_CEILING_TENSOR_BF16;
}
// The fact that tells a ceiling's peak on paper; -1: none does.
int tare_ceiling_fact(enum tare_ceiling ceiling);

// Where the sweep of working sets falls for good: from which size to which, in bytes.
#define TARE_SWEEP_FALLS 4
struct tare_sweep_fall {
	int64_t from, to;
	enum tare_fallen_cache { TARE_FALLEN_CACHE, TARE_FALLEN_SHARED, TARE_FALLEN_NEARER } cache;
};
// The falls of a result's sweep, whose cells are sorted, ascending; returns how many. cache_bytes:
// the last-level cache as the driver tells it, 0: unknown. SHARED: it ends there; NEARER: a cache
// nearer to the units does; CACHE: that cannot be told.
size_t tare_sweep_falls(const struct tare_result *result, uint64_t cache_bytes,
                        struct tare_sweep_fall falls[TARE_SWEEP_FALLS]);

// The cell of a result of `peak` that a ceiling is the median of, NULL if there is none: of those
// that converged the best, unless another is surely better: by its whole interval, or by more than
// a tenth where it has too few samples for one. It belongs to the result.
const struct tare_cell *tare_peaks_cell(const struct tare_result *result,
                                        enum tare_ceiling ceiling);

// The ceilings that a document of `peak` (or a `checkup` with that part) holds.
void tare_peaks_of(const struct tare_result *result, struct tare_peaks *peaks);

// Loads them for a device. `from`: NULL looks into the cache (peaks->present is false when there is
// nothing for this device and driver: that is no error; the simulated device is never cached);
// "none" looks nowhere; else a file that --json wrote: -ENOENT and others with a sentence, -EINVAL
// when it is no result of `peak` or of another device.
int tare_peaks_load(const struct tare_device_entry *device, const char *from,
                    struct tare_peaks *peaks, struct tare_error *error);

// Keeps a result of `peak`, in $XDG_CACHE_HOME/tare or ~/.cache/tare, replacing an older one as a
// whole. Interrupted results and those of the simulated device are not kept. Failing is no error
// for the command: 0, or a negative errno with the reason for a warning.
int tare_peaks_keep(const struct tare_result *result, struct tare_error *error);
