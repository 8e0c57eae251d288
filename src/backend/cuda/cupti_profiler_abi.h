// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's range profiler (CUDA 12.6 and later) that tare uses, in our own words, as in
// cupti_abi.h. Each function takes one structure, whose first word says how long it is: up to the
// end of the last member that is known. tests/headers/cupti_profiler_check.c compares sizes and
// places with NVIDIA's headers.
#pragma once
#include "backend/cuda/cupti_abi.h"

// What is put into `bytes` of a structure whose last member is `last`.
#define ABI_PROFILER_BYTES(type, last)                                                             \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum {
	ABI_PROFILER_RANGE = 0,         // type: of the range profiler
	ABI_PROFILER_AUTO_RANGE = 1,    // each kernel is a range
	ABI_PROFILER_KERNEL_REPLAY = 2, // each kernel is run as often as there are passes
	ABI_PROFILER_USER_REPLAY = 3,   // passes follow one another, one with each start
};

// One that names nothing more than itself, or the profiler of a context.
struct profiler_plain {
	size_t bytes;
	void *reserved;
};
struct profiler_one {
	size_t bytes;
	void *reserved;
	void *profiler;
};
struct profiler_chip {
	size_t bytes;
	void *reserved;
	size_t device;
	const char *chip; // returned; CUPTI's
};
struct profiler_availability {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t image_bytes;
	uint8_t *image; // NULL: its size is asked for
};
struct profiler_host {
	size_t bytes;
	void *reserved;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host; // returned
};
struct profiler_host_end {
	size_t bytes;
	void *reserved;
	void *host;
};
struct profiler_metrics {
	size_t bytes;
	void *reserved;
	void *host;
	const char **names;
	size_t count;
};
struct profiler_config_bytes {
	size_t bytes;
	void *reserved;
	void *host;
	size_t image_bytes; // returned
};
struct profiler_config_image {
	size_t bytes;
	void *reserved;
	void *host;
	size_t image_bytes;
	uint8_t *image;
};
struct profiler_passes {
	size_t bytes;
	void *reserved;
	size_t image_bytes;
	uint8_t *image;
	size_t passes; // returned
};
struct profiler_values {
	size_t bytes;
	void *reserved;
	void *host;
	const uint8_t *data;
	size_t data_bytes, range;
	const char **names;
	size_t count;
	double *values; // filled in
};
struct profiler_enable {
	size_t bytes;
	void *reserved;
	cu_context context;
	void *profiler; // returned
};
struct profiler_stop {
	size_t bytes;
	void *reserved;
	void *profiler;
	size_t pass, nesting;
	uint8_t all_passes; // these three are returned
};
struct profiler_decode {
	size_t bytes;
	void *reserved;
	void *profiler;
	size_t dropped; // returned
};
struct profiler_data_bytes {
	size_t bytes;
	void *reserved;
	void *profiler;
	const char **names;
	size_t count, ranges;
	uint32_t nodes;
	size_t data_bytes; // returned
};
struct profiler_data_begin {
	size_t bytes;
	void *reserved;
	void *profiler;
	size_t data_bytes;
	uint8_t *data;
};
struct profiler_config {
	size_t bytes;
	void *reserved;
	void *profiler;
	size_t image_bytes;
	const uint8_t *image;
	size_t data_bytes;
	uint8_t *data;
	int range, replay;
	size_t ranges;
	uint16_t nestings, least_nesting;
	size_t pass;
	uint16_t nesting;
};
struct profiler_data_info {
	size_t bytes;
	void *reserved;
	const uint8_t *data;
	size_t data_bytes;
	size_t ranges; // returned
};

// X(function, structure of its parameters, the structure's last member)
#define PROFILER_FUNCTIONS(X)                                                                      \
	X(cuptiProfilerInitialize, profiler_plain, reserved)                                       \
	X(cuptiDeviceGetChipName, profiler_chip, chip)                                             \
	X(cuptiProfilerGetCounterAvailability, profiler_availability, image)                       \
	X(cuptiProfilerHostInitialize, profiler_host, host)                                        \
	X(cuptiProfilerHostDeinitialize, profiler_host_end, host)                                  \
	X(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count)                              \
	X(cuptiProfilerHostGetConfigImageSize, profiler_config_bytes, image_bytes)                 \
	X(cuptiProfilerHostGetConfigImage, profiler_config_image, image)                           \
	X(cuptiProfilerHostGetNumOfPasses, profiler_passes, passes)                                \
	X(cuptiProfilerHostEvaluateToGpuValues, profiler_values, values)                           \
	X(cuptiRangeProfilerEnable, profiler_enable, profiler)                                     \
	X(cuptiRangeProfilerDisable, profiler_one, profiler)                                       \
	X(cuptiRangeProfilerStart, profiler_one, profiler)                                         \
	X(cuptiRangeProfilerStop, profiler_stop, all_passes)                                       \
	X(cuptiRangeProfilerDecodeData, profiler_decode, dropped)                                  \
	X(cuptiRangeProfilerGetCounterDataSize, profiler_data_bytes, data_bytes)                   \
	X(cuptiRangeProfilerCounterDataImageInitialize, profiler_data_begin, data)                 \
	X(cuptiRangeProfilerSetConfig, profiler_config, nesting)                                   \
	X(cuptiRangeProfilerGetCounterDataInfo, profiler_data_info, ranges)

// Which structure each takes is the caller's to know.
struct profiler_functions {
#define X(name, structure, last) cupti_result (*name)(struct structure *);
	PROFILER_FUNCTIONS(X)
#undef X
};
