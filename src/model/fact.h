// SPDX-License-Identifier: Apache-2.0
// What is known of a device. Each fact is a row of one table; a device holds a value for it, or
// the reason why there is none. Unknown is never zero.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tare_fact_type {
	TARE_FACT_TEXT,
	TARE_FACT_COUNT, // a plain whole number
	TARE_FACT_BYTES,
	TARE_FACT_HZ,
	TARE_FACT_NS,
	TARE_FACT_RATE, // per second, of the unit in the row: B/s, FLOP/s
	TARE_FACT_BOOL,
};

// How a value came to be known.
enum tare_fact_origin {
	TARE_ORIGIN_DRIVER,   // the driver said so
	TARE_ORIGIN_SYSTEM,   // the operating system or hwloc said so
	TARE_ORIGIN_MEASURED, // tare measured it
	TARE_ORIGIN_FORMULA,  // computed from other facts by a formula in docs/method.md
	TARE_ORIGIN_GUESS,    // inferred; may be wrong
};

#define TARE_FACTS(X)                                                                              \
	X(NAME, "name", TEXT, "", "identity", "name")                                              \
	X(TYPE, "type", TEXT, "", "identity", "type")                                              \
	X(VENDOR, "vendor", TEXT, "", "identity", "vendor")                                        \
	X(DRIVER, "driver", TEXT, "", "identity", "driver")                                        \
	X(API_VERSION, "api_version", TEXT, "", "identity", "API version")                         \
	X(LOADER, "loader", TEXT, "", "identity", "library")                                       \
	X(UUID, "uuid", TEXT, "", "identity", "UUID")                                              \
	X(PCI, "pci_address", TEXT, "", "identity", "PCI address")                                 \
	X(ARCHITECTURE, "architecture", TEXT, "", "identity", "architecture")                      \
	X(UNITS, "compute_units", COUNT, "", "compute", "compute units")                           \
	X(LANES, "fp32_lanes_per_unit", COUNT, "", "compute", "FP32 lanes a unit")                 \
	X(WORK_GROUP, "max_work_group_size", COUNT, "", "compute", "largest work-group")           \
	X(SUB_GROUP, "sub_group_size", COUNT, "", "compute", "sub-group size")                     \
	X(CLOCK, "max_clock_hz", HZ, "Hz", "compute", "clock, at most")                            \
	X(REGISTERS, "register_file_bytes", BYTES, "B", "compute", "registers a unit")             \
	X(RESIDENT, "resident_work_items", COUNT, "", "compute", "work-items a unit, at most")     \
	X(FP64, "fp64", BOOL, "", "compute", "FP64")                                               \
	X(FP16, "fp16", BOOL, "", "compute", "FP16")                                               \
	X(PEAK_FP32, "peak_fp32_flops", RATE, "FLOP/s", "peak", "FP32 peak")                       \
	X(PEAK_FP64, "peak_fp64_flops", RATE, "FLOP/s", "peak", "FP64 peak")                       \
	X(PEAK_TENSOR, "peak_fp16_tensor_flops", RATE, "FLOP/s", "peak",                           \
	  "FP16 tensor peak (dense)")                                                              \
	X(PEAK_TF32, "peak_tf32_tensor_flops", RATE, "FLOP/s", "peak", "TF32 tensor peak (dense)") \
	X(PEAK_BF16, "peak_bf16_tensor_flops", RATE, "FLOP/s", "peak", "BF16 tensor peak (dense)") \
	X(PEAK_FP8, "peak_fp8_tensor_flops", RATE, "FLOP/s", "peak", "FP8 tensor peak (dense)")    \
	X(PEAK_INT8, "peak_int8_tensor_ops", RATE, "op/s", "peak", "INT8 tensor peak (dense)")     \
	X(PEAK_FP64_TENSOR, "peak_fp64_tensor_flops", RATE, "FLOP/s", "peak", "FP64 tensor peak")  \
	X(PEAK_LOCAL, "peak_local_memory_rate", RATE, "B/s", "peak", "local memory peak")          \
	X(PEAK_MEMORY, "peak_memory_rate", RATE, "B/s", "peak", "memory bandwidth peak")           \
	X(PEAK_LINK, "peak_link_rate", RATE, "B/s", "peak", "link peak, each way")                 \
	X(MEMORY, "memory_bytes", BYTES, "B", "memory", "memory")                                  \
	X(MEMORY_MAX_ALLOCATION, "max_allocation_bytes", BYTES, "B", "memory",                     \
	  "largest allocation")                                                                    \
	X(MEMORY_CLOCK, "memory_clock_hz", HZ, "Hz", "memory", "memory clock")                     \
	X(MEMORY_BUS, "memory_bus_bits", COUNT, "bit", "memory", "memory bus")                     \
	X(CACHE, "last_cache_bytes", BYTES, "B", "memory", "last-level cache")                     \
	X(LOCAL_MEMORY, "local_memory_bytes", BYTES, "B", "memory", "local memory a unit")         \
	X(UNIFIED, "host_unified_memory", BOOL, "", "memory", "memory shared with the host")       \
	X(ECC, "ecc", BOOL, "", "memory", "ECC")                                                   \
	X(TIMER_RATE, "timer_hz", HZ, "Hz", "clock", "timer rate")                                 \
	X(TIMER_RESOLUTION, "timer_resolution_ns", NS, "ns", "clock", "timer resolution")          \
	X(TIMER_BITS, "timer_valid_bits", COUNT, "bit", "clock", "timer valid bits")               \
	X(TIMER_PAIRS, "timer_pairs", TEXT, "", "clock", "device-host clock pairs")                \
	X(PROFILING, "profiling", TEXT, "", "clock", "profiling")                                  \
	X(COPY_ENGINES, "copy_engines", COUNT, "", "engines", "copy engines")                      \
	X(ENGINES, "engines", TEXT, "", "engines", "engines")                                      \
	X(OUT_OF_ORDER, "out_of_order_queues", BOOL, "", "engines", "out-of-order queues")         \
	X(PACKAGE, "host_package", TEXT, "", "topology", "host package")                           \
	X(NUMA, "numa_node", TEXT, "", "topology", "NUMA node")                                    \
	X(LINK_NOW, "link_now", TEXT, "", "topology", "link now")                                  \
	X(LINK_MAX, "link_max", TEXT, "", "topology", "link at most")                              \
	X(NVLINK, "nvlink", TEXT, "", "topology", "NVLink")                                        \
	X(CLOCK_NOW, "clock_now_hz", HZ, "Hz", "state", "clock now")                               \
	X(CLOCK_SETTING, "applications_clock_hz", HZ, "Hz", "state", "applications clock")         \
	X(MEMORY_CLOCK_NOW, "memory_clock_now_hz", HZ, "Hz", "state", "memory clock now")          \
	X(POWER_NOW, "power_now", TEXT, "", "state", "power now")                                  \
	X(POWER_LIMIT, "power_limit", TEXT, "", "state", "power limit")                            \
	X(POWER_LIMIT_MAX, "power_limit_max", TEXT, "", "state", "power limit, at most")           \
	X(TEMPERATURE, "temperature", TEXT, "", "state", "temperature")                            \
	X(TEMPERATURE_LIMITS, "temperature_limits", TEXT, "", "state", "temperature limits")       \
	X(THROTTLE, "throttle_reasons", TEXT, "", "state", "throttling now")                       \
	X(ECC_CORRECTED, "ecc_corrected", COUNT, "", "state", "ECC errors, corrected")             \
	X(ECC_UNCORRECTED, "ecc_uncorrected", COUNT, "", "state", "ECC errors, uncorrected")       \
	X(MIG, "mig", TEXT, "", "state", "MIG")                                                    \
	X(COMPUTE_MODE, "compute_mode", TEXT, "", "state", "compute mode")                         \
	X(PERSISTENCE, "persistence_mode", BOOL, "", "state", "persistence mode")                  \
	X(DEVICE_ID, "device_id", TEXT, "", "identity", "device ID")                               \
	X(EXTENSIONS, "api_extensions", COUNT, "", "identity", "API extensions")                   \
	X(NOTE, "note", TEXT, "", "identity", "note")                                              \
	X(SLICES, "slices", COUNT, "", "compute", "slices")                                        \
	X(SUB_SLICES, "sub_slices_per_slice", COUNT, "", "compute", "sub-slices a slice")          \
	X(EUS, "eus_per_sub_slice", COUNT, "", "compute", "EUs a sub-slice")                       \
	X(EU_THREADS, "threads_per_eu", COUNT, "", "compute", "threads an EU")                     \
	X(SUB_GROUPS, "sub_group_sizes", TEXT, "", "compute", "sub-group sizes")                   \
	X(SUB_DEVICES, "sub_devices", COUNT, "", "compute", "sub-devices")                         \
	X(MEMORIES, "memories", TEXT, "", "memory", "memories by ordinal")                         \
	X(TIMER_OLDER, "timer_older_encoding", TEXT, "", "clock", "timer, older encoding")         \
	X(TIMER_GLOBAL_BITS, "global_timer_valid_bits", COUNT, "bit", "clock",                     \
	  "global timer bits")                                                                     \
	X(QUEUE_GROUPS, "queue_groups", TEXT, "", "engines", "queue groups")

enum tare_fact_id {
#define X(id, key, type, unit, group, title) TARE_FACT_##id,
	TARE_FACTS(X)
#undef X
	    TARE_FACT_COUNT_OF
};

struct tare_fact_row {
	const char *key; // JSON key; append-only
	enum tare_fact_type type;
	const char *unit;
	const char *group; // section in the text output
	const char *title; // what a person reads
};

extern const struct tare_fact_row tare_fact_rows[TARE_FACT_COUNT_OF];

struct tare_fact {
	bool present;
	enum tare_fact_origin origin;
	union {
		uint64_t count; // COUNT, BYTES, HZ, BOOL
		double rate;    // RATE, NS (a tick may be 83.3 ns)
	};
	char text[256]; // TEXT value when present; the reason when absent
};

enum tare_engine_class { TARE_ENGINE_COMPUTE, TARE_ENGINE_COPY, TARE_ENGINE_LINK };

// A unit of the device that works by itself: the shaders, a copy engine.
struct tare_engine {
	enum tare_engine_class class;
	uint32_t index; // within its class
	bool known;     // the driver said so; false: guessed
	char title[48]; // "ordinal 1, main copy engine"
};

// What kind of device; the fact TYPE is its name.
enum tare_device_type {
	TARE_DEVICE_OTHER,
	TARE_DEVICE_GPU,
	TARE_DEVICE_ACCELERATOR,
	TARE_DEVICE_CPU,
	TARE_DEVICE_FPGA,
	TARE_DEVICE_VPU,
	TARE_DEVICE_SIMULATED,
	TARE_DEVICE_TYPES
};

// What speaks against quoting any figure of a device. Of a live device only: not in documents.
enum tare_doubt {
	TARE_DOUBT_NONE,
	TARE_DOUBT_FOR_TESTS, // its driver is for tests
	TARE_DOUBT_TIMER,     // its driver contradicts itself about the timer
};

// All facts of one device. Zero-initialised: every fact absent, reason "not asked".
struct tare_facts {
	struct tare_fact fact[TARE_FACT_COUNT_OF];
	enum tare_doubt doubt; // the fact NOTE says why, in words
};

void tare_fact_set_text(struct tare_facts *facts, enum tare_fact_id id,
                        enum tare_fact_origin origin, const char *text);
void tare_fact_set_count(struct tare_facts *facts, enum tare_fact_id id,
                         enum tare_fact_origin origin, uint64_t value);
void tare_fact_set_rate(struct tare_facts *facts, enum tare_fact_id id,
                        enum tare_fact_origin origin, double per_second);
// Sets the fact TYPE, and what it says: OTHER where there is none.
void tare_facts_set_type(struct tare_facts *facts, enum tare_device_type type);
enum tare_device_type tare_facts_type(const struct tare_facts *facts);
// Says why no figure of the device is to be quoted: `doubt`, and the note in words.
void tare_facts_doubt(struct tare_facts *facts, enum tare_doubt doubt, const char *note);
// A text may end with this; whether it does.
#define TARE_FACT_GUESSED " (guessed)"
bool tare_fact_says_guessed(const struct tare_facts *facts, enum tare_fact_id id);
// What a fact of type TEXT says; "" where it is absent.
const char *tare_fact_text(const struct tare_facts *facts, enum tare_fact_id id);
// Records why a fact has no value: "CUDA does not tell".
void tare_fact_absent(struct tare_facts *facts, enum tare_fact_id id, const char *reason_format,
                      ...) __attribute__((format(printf, 3, 4)));
// The reason of a fact that nobody asked for.
#define TARE_FACT_NOT_ASKED "not asked"
// The reason for an absent fact; never NULL.
const char *tare_fact_reason(const struct tare_facts *facts, enum tare_fact_id id);
// The value as a person reads it ("141 GB", "1.98 GHz"), or "n/a". Returns text.
const char *tare_fact_format(const struct tare_facts *facts, enum tare_fact_id id, char *text,
                             size_t size);
// "driver", "system", "measured", "formula", "guess"; NULL after the last.
extern const char *const tare_origin_names[];
const char *tare_origin_name(enum tare_fact_origin origin);
