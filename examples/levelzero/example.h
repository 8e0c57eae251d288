// SPDX-License-Identifier: Apache-2.0
// What the Level Zero examples share: opening a device, its timer, memory of each kind, kernels,
// options, and ending with a sentence where a call fails.
#pragma once
#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Ends the program with a sentence when a call failed.
void check(ze_result_t result, const char *what);
// Ends the program with this sentence.
_Noreturn void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define GROUPS 16

struct device {
	ze_driver_handle_t driver;
	ze_device_handle_t id;
	ze_context_handle_t context;
	ze_device_properties_t properties; // timerResolution in cycles a second
	uint64_t older_resolution_ns;      // what the older type of the properties says
	double tick_ns;                    // by the former
	ze_command_queue_group_properties_t groups[GROUPS];
	uint32_t group_count;
	uint32_t compute; // ordinal of the first group that runs kernels
};

// The first device of the first driver that has one; prints its name and its timer.
struct device open_device(void);
void close_device(const struct device *device);

// Ticks from start to end of a counter that has only the lowest valid_bits bits, across one wrap.
uint64_t elapsed(uint64_t start, uint64_t end, uint32_t valid_bits);

enum memory { HEAP, HOST, DEVICE, SHARED };
extern const char *const memory_names[];
// Page-aligned. Nothing is written to it.
void *memory_of(const struct device *device, enum memory kind, size_t bytes);
void free_memory(const struct device *device, enum memory kind, void *memory);

// An asynchronous command queue on engine `index` of a queue group; and a command list for it.
ze_command_queue_handle_t queue_of(const struct device *device, uint32_t ordinal, uint32_t index);
ze_command_list_handle_t list_of(const struct device *device, uint32_t ordinal);
// An immediate command list of the first group that runs kernels.
ze_command_list_handle_t immediate_of(const struct device *device, ze_command_queue_mode_t mode);
// Runs a closed list and waits for it, a minute at most; returns how long both took.
double run_ns(ze_command_queue_handle_t queue, ze_command_list_handle_t list);
void synchronize(ze_command_queue_handle_t queue);

// Events that carry kernel timestamps and that the host may ask: 0 to count - 1.
ze_event_pool_handle_t pool_of(const struct device *device, uint32_t count);
ze_event_handle_t event_of(ze_event_pool_handle_t pool, uint32_t index);
ze_kernel_timestamp_result_t stamps_of(ze_event_handle_t event);

// The module in a SPIR-V file; NULL: levelzero-kernels.spv beside the program. Prints the build
// log and ends the program where the driver does not take it.
ze_module_handle_t module_of(const struct device *device, const char *path);
ze_kernel_handle_t kernel_of(ze_module_handle_t module, const char *name);
void set_argument(ze_kernel_handle_t kernel, uint32_t index, size_t bytes, const void *value);

// Options, each with a value: a number between least and most, or a text where `text` is there.
struct option {
	const char *name, *what;
	size_t *number, least, most;
	const char **text;
};
// Reads them; --help prints `about` and the options and ends the program, as does a mistake.
void read_options(int count, char **arguments, const char *about, const struct option *options,
                  size_t option_count);

// Nanoseconds on the host's clock.
double now_ns(void);
double median(double *values, size_t count);
