// SPDX-License-Identifier: Apache-2.0
// Counters of a whole device over time, beside a recorded run: what `tare hotspots --timeline`
// wrote, put on the host's clock and into equal parts of the run.
#pragma once
#include "analysis/recording/recording.h"
#include "base/error.h"
#include "tare/trace_format.h"

enum { TARE_SAMPLES_PARTS = 1000, TARE_SAMPLES_SERIES = 16 };

enum tare_device_samples_unit { TARE_SAMPLES_PERCENT, TARE_SAMPLES_BYTES_PER_S };

// A counter over the run. Means are weighed by time; a peak is of one sample. NaN: no sample.
struct tare_device_samples_series {
	enum tare_trace_counter counter;
	const char *key, *title;
	enum tare_device_samples_unit unit;
	double mean, peak; // NaN: no value
	double covered_ns; // of the run, by samples that have a value of it
	double at_work;    // part of the sampled time in samples above 1 %, of bytes of the peak
	double at_limit;   // part of the time at 60 % and more; NaN: of bytes
	double means[TARE_SAMPLES_PARTS], peaks[TARE_SAMPLES_PARTS];
	double covered[TARE_SAMPLES_PARTS]; // private to samples.c
	double histogram[1024];             // time by 1/1024 of the scale; private to samples.c
};

struct tare_device_samples {
	uint64_t count;          // samples within the run
	uint64_t outside;        // and before or behind it
	uint64_t losses;         // times that there was no room for samples
	uint64_t cpu_ns;         // CPU time of the process that read them
	uint32_t interval_ns;    // that was asked for
	enum tare_trace_api api; // that sampled it
	uint32_t device;         // as that API numbers them
	uint64_t untrusted;      // values that were saturated, wrapped or in doubt: in no figure
	int64_t residual_ns;     // by how much a sample may lie elsewhere on the host's clock
	size_t clock_readings;   // of the device's clock, that this rests on
	int64_t from_ns, to_ns;  // the run, on the recording's clock
	double sampled;          // part of the run that has samples
	uint64_t absent;         // bits 1 << enum tare_trace_counter: the device has none
	size_t series_count;
	struct tare_device_samples_series series[TARE_SAMPLES_SERIES];
	double sampled_part[TARE_SAMPLES_PARTS]; // part of each part that has samples
	double kernels[TARE_SAMPLES_PARTS];      // part of its time that recorded kernels ran
	double copies[TARE_SAMPLES_PARTS];       // the same of transfers
};

// Reads them. Returns 0; -ENODATA: the folder has no sample of the run, or its clock cannot be put
// on the host's; or another negative errno. Free *samples with free().
int tare_device_samples_load(const char *folder, const struct tare_recording *recorded,
                             struct tare_device_samples **samples, struct tare_error *error);
