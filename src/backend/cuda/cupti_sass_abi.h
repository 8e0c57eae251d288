// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's SASS metrics (CUDA 12.4 and later) that tare uses, in our own words, as in
// cupti_abi.h. Each function takes one structure, whose first word says how long it is: up to the
// end of the last member that is known. tests/headers/cupti_sass_check.c compares sizes and places
// with NVIDIA's headers.
#pragma once
#include "backend/cuda/cupti_abi.h"

// What is put into `bytes` of a structure whose last member is `last`.
#define ABI_SASS_BYTES(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum { ABI_SASS_WHOLE_DEVICE = 0 }; // granularity: one value for all cores

struct sass_plain {
	size_t bytes;
	void *reserved;
};
struct sass_chip {
	size_t bytes;
	void *reserved;
	size_t device;
	const char *chip; // returned; CUPTI's
};
struct sass_metric {
	uint64_t id;
	const char *name, *description;
};
struct sass_properties {
	size_t bytes;
	void *reserved;
	const char *chip, *name;
	struct sass_metric metric; // returned
};
struct sass_wish {
	uint64_t id;
	uint8_t granularity;
};
struct sass_configuration {
	size_t bytes;
	void *reserved;
	size_t count;
	struct sass_wish *wishes;
	uint32_t device;
};
struct sass_end {
	size_t bytes;
	void *reserved;
	uint32_t device;
};
struct sass_enable {
	size_t bytes;
	void *reserved;
	cu_context context;
	uint8_t lazy; // only functions that are launched from then on get counters
};
struct sass_disable {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t dropped; // returned: records that were not flushed
};
struct sass_available {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t records, instances; // returned
};
struct sass_value {
	uint64_t id, value;
};
// Of an instruction and a metric. The function's place is 0 in CUPTI 13.0, whatever it is.
struct sass_record {
	size_t bytes;
	void *reserved;
	uint32_t cubin_crc, function;
	const char *name;
	uint32_t pc;               // offset in the function
	struct sass_value *values; // room of the caller's, for each instance
};
struct sass_flush {
	size_t bytes; // up to `instances`
	void *reserved;
	cu_context context;
	size_t records, instances;
	struct sass_record *data;
};

// X(function, its structure, the last member of that)
#define SASS_FUNCTIONS(X)                                                                          \
	X(cuptiProfilerInitialize, sass_plain, reserved)                                           \
	X(cuptiDeviceGetChipName, sass_chip, chip)                                                 \
	X(cuptiSassMetricsGetProperties, sass_properties, metric)                                  \
	X(cuptiSassMetricsSetConfig, sass_configuration, device)                                   \
	X(cuptiSassMetricsUnsetConfig, sass_end, device)                                           \
	X(cuptiSassMetricsEnable, sass_enable, lazy)                                               \
	X(cuptiSassMetricsDisable, sass_disable, dropped)                                          \
	X(cuptiSassMetricsGetDataProperties, sass_available, instances)                            \
	X(cuptiSassMetricsFlushData, sass_flush, instances)

struct sass_functions {
#define X(name, structure, last) cupti_result (*name)(struct structure * parameters);
	SASS_FUNCTIONS(X)
#undef X
};
