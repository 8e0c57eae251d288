// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's sampling of a whole device (PM sampling, CUDA 12.6 and later) that tare uses,
// in our own words, as in cupti_profiler_abi.h. tests/headers/cupti_sampling_check.c compares it
// with NVIDIA's headers.
#pragma once
#include "backend/cuda/cupti_profiler_abi.h"

enum {
	ABI_PROFILER_SAMPLING = 1, // type: of the sampling of a device
	ABI_SAMPLING_BY_TIME = 1,  // trigger: intervals are nanoseconds
	ABI_SAMPLING_FULL = 1,     // reason: the image had no room for more
};

struct sampling_availability {
	size_t bytes;
	void *reserved;
	size_t device;
	size_t image_bytes;
	uint8_t *image; // NULL: its size is asked for
};
struct sampling_enable {
	size_t bytes;
	void *reserved;
	size_t device;
	void *sampling; // returned
};
// Names nothing more than the sampling of a device.
struct sampling_one {
	size_t bytes;
	void *reserved;
	void *sampling;
};
struct sampling_config {
	size_t bytes;
	void *reserved;
	void *sampling;
	size_t image_bytes;
	const uint8_t *image;
	size_t buffer_bytes; // of the hardware's buffer
	uint64_t interval;
	int trigger, append;
};
struct sampling_data_bytes {
	size_t bytes;
	void *reserved;
	void *sampling;
	const char **names;
	size_t count;
	uint32_t samples;
	size_t data_bytes; // returned
};
struct sampling_data_begin {
	size_t bytes;
	void *reserved;
	void *sampling;
	size_t data_bytes;
	uint8_t *data;
};
struct sampling_decode {
	size_t bytes;
	void *reserved;
	void *sampling;
	uint8_t *data;
	size_t data_bytes;
	int reason; // returned, as is what follows
	uint8_t overflow;
};
struct sampling_data_info {
	size_t bytes;
	void *reserved;
	const uint8_t *data;
	size_t data_bytes;
	size_t samples, begun, complete; // returned
};
struct sampling_sample {
	size_t bytes;
	void *reserved;
	void *sampling;
	const uint8_t *data;
	size_t data_bytes, index;
	uint64_t start, end; // returned
};

// X(function, structure of its parameters, the structure's last member)
#define SAMPLING_FUNCTIONS(X)                                                                      \
	X(cuptiProfilerInitialize, profiler_plain, reserved)                                       \
	X(cuptiDeviceGetChipName, profiler_chip, chip)                                             \
	X(cuptiProfilerHostInitialize, profiler_host, host)                                        \
	X(cuptiProfilerHostDeinitialize, profiler_host_end, host)                                  \
	X(cuptiProfilerHostConfigAddMetrics, profiler_metrics, count)                              \
	X(cuptiProfilerHostGetConfigImageSize, profiler_config_bytes, image_bytes)                 \
	X(cuptiProfilerHostGetConfigImage, profiler_config_image, image)                           \
	X(cuptiProfilerHostGetNumOfPasses, profiler_passes, passes)                                \
	X(cuptiProfilerHostEvaluateToGpuValues, profiler_values, values)                           \
	X(cuptiPmSamplingGetCounterAvailability, sampling_availability, image)                     \
	X(cuptiPmSamplingEnable, sampling_enable, sampling)                                        \
	X(cuptiPmSamplingDisable, sampling_one, sampling)                                          \
	X(cuptiPmSamplingSetConfig, sampling_config, append)                                       \
	X(cuptiPmSamplingStart, sampling_one, sampling)                                            \
	X(cuptiPmSamplingStop, sampling_one, sampling)                                             \
	X(cuptiPmSamplingDecodeData, sampling_decode, overflow)                                    \
	X(cuptiPmSamplingGetCounterDataSize, sampling_data_bytes, data_bytes)                      \
	X(cuptiPmSamplingCounterDataImageInitialize, sampling_data_begin, data)                    \
	X(cuptiPmSamplingGetCounterDataInfo, sampling_data_info, complete)                         \
	X(cuptiPmSamplingCounterDataGetSampleInfo, sampling_sample, end)

struct sampling_functions {
#define X(name, structure, last) cupti_result (*name)(struct structure *);
	SAMPLING_FUNCTIONS(X)
#undef X
};
