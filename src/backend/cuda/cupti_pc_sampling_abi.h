// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's PC sampling that tare uses, in our own words, as in cupti_abi.h. Each
// function takes one structure, whose first word says how long it is: up to the end of the last
// member that is known. tests/headers/cupti_pc_sampling_check.c compares sizes and places with
// NVIDIA's headers.
#pragma once
#include "backend/cuda/cupti_abi.h"

// What is put into `bytes` of a structure whose last member is `last`.
#define ABI_SAMPLING_BYTES(type, last)                                                             \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum {
	ABI_SAMPLING_CONTINUOUS = 1, // mode: kernels run as ever
	// attributes of a configuration
	ABI_SAMPLING_PERIOD = 1,
	ABI_SAMPLING_REASONS = 2,
	ABI_SAMPLING_ROOM = 4, // bytes of the hardware's buffer
	ABI_SAMPLING_MODE = 5,
	ABI_SAMPLING_BUFFER = 8,
	// lengths of names of reasons, with their end
	ABI_SAMPLING_NAME_BYTES = 128,
	// of the domain RESOURCE
	ABI_CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	ABI_CUPTI_RESOURCE_MODULE_UNLOADS = 7,
};

// How often an instruction was met for one reason, and all of an instruction's.
struct __attribute__((packed, aligned(8))) sampling_stall {
	uint32_t reason, samples;
};
struct __attribute__((packed, aligned(8))) sampling_record {
	size_t bytes;
	uint64_t cubin_crc, pc;     // pc: offset in the function
	uint32_t function, padding; // the function's place among the module's symbols
	char *name; // shared by records, and ours to free when none is used any more
	size_t stall_count;
	struct sampling_stall *stalls; // room of the caller's
	uint32_t correlation;
};
struct __attribute__((packed, aligned(8))) sampling_data {
	size_t bytes;
	size_t room;        // of `records`
	uint64_t total;     // with those of kernels that are not the user's, and those dropped
	uint64_t dropped;   // by the hardware
	size_t count, left; // records; those that did not fit
	uint64_t range;
	struct sampling_record *records;
	uint64_t not_users;
	uint8_t buffer_full;
};

struct sampling_attribute {
	int type;
	int status;
	union {
		uint64_t words[3];
		uint32_t number; // PERIOD, MODE
		size_t size;     // ROOM
		struct {
			size_t count;
			uint32_t *places;
		} reasons;
		struct sampling_data *data;
	} value;
};
struct sampling_configuration {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t count;
	struct sampling_attribute *attributes;
};
struct sampling_get {
	size_t bytes;
	void *reserved;
	cu_context context;
	struct sampling_data *data;
};
struct pc_sampling_one {
	size_t bytes;
	void *reserved;
	cu_context context;
};
struct sampling_reason_count {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t *count; // returned
};
struct sampling_reasons {
	size_t bytes;
	void *reserved;
	cu_context context;
	size_t count;
	uint32_t *places; // returned, as the names; room of the caller's
	char **names;
};
struct sampling_crc {
	size_t bytes;
	size_t cubin_bytes;
	const void *cubin;
	uint64_t crc; // returned
};

// What a resource's descriptor is of a module.
struct cupti_module_resource {
	uint32_t id;
	size_t cubin_bytes;
	const char *cubin;
};

// X(function, its structure, the last member of that)
#define SAMPLING_FUNCTIONS(X)                                                                      \
	X(cuptiPCSamplingEnable, pc_sampling_one, context)                                         \
	X(cuptiPCSamplingDisable, pc_sampling_one, context)                                        \
	X(cuptiPCSamplingGetNumStallReasons, sampling_reason_count, count)                         \
	X(cuptiPCSamplingGetStallReasons, sampling_reasons, names)                                 \
	X(cuptiPCSamplingSetConfigurationAttribute, sampling_configuration, attributes)            \
	X(cuptiPCSamplingGetConfigurationAttribute, sampling_configuration, attributes)            \
	X(cuptiPCSamplingGetData, sampling_get, data)                                              \
	X(cuptiGetCubinCrc, sampling_crc, crc)

struct pc_sampling_functions {
#define X(name, structure, last) cupti_result (*name)(struct structure * parameters);
	SAMPLING_FUNCTIONS(X)
#undef X
};
