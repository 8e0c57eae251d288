// SPDX-License-Identifier: Apache-2.0
// The description of a device that does not exist: what each thing costs, in a text file.
// docs/simulated-device.md is the grammar. All times are integer picoseconds, all rates integer
// bytes (or work-items) a second, so that whatever is computed from them is exact.
#pragma once
#include "base/error.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What an operation moves or does; operations of one flow share one link.
enum tare_flow {
	TARE_FLOW_TO_DEVICE,
	TARE_FLOW_TO_HOST,
	TARE_FLOW_LOCAL, // within the device's memory
	TARE_FLOW_KERNEL,
	TARE_FLOW_COUNT,
	TARE_FLOW_NONE = TARE_FLOW_COUNT // occupies no engine: a marker
};

// Kinds of memory, in the order of enum tare_memory_kind of the backend contract.
enum tare_place {
	TARE_PLACE_PAGEABLE,
	TARE_PLACE_PINNED,
	TARE_PLACE_WRITE_COMBINED,
	TARE_PLACE_REGISTERED,
	TARE_PLACE_DEVICE,
	TARE_PLACE_SHARED,
	TARE_PLACE_MAPPED,
	TARE_PLACE_COUNT
};

#define TARE_SCRIPT_TEXT 64
#define TARE_SCRIPT_ENGINES 8
#define TARE_SCRIPT_KERNELS 64
#define TARE_SCRIPT_TIERS 4
#define TARE_SCRIPT_ARGUMENTS 16 // a kernel's
#define TARE_SCRIPT_CONCURRENCIES 32
#define TARE_SCRIPT_METRIC_GROUPS 8
#define TARE_SCRIPT_METRICS 64 // of all groups
#define TARE_SCRIPT_METRIC_VALUES 128
// No single cost and no clock of a model goes beyond this (about 11 days), so that sums and tick
// conversions cannot overflow.
#define TARE_PS_MAX INT64_C(1000000000000000000)

// Facts only: nothing is computed from these except peaks.
struct tare_script_device {
	char name[TARE_SCRIPT_TEXT], vendor[TARE_SCRIPT_TEXT], driver[TARE_SCRIPT_TEXT];
	char architecture[TARE_SCRIPT_TEXT], uuid[TARE_SCRIPT_TEXT], pci[TARE_SCRIPT_TEXT];
	uint64_t units, lanes, clock_hz, work_group, sub_group;
	uint64_t memory_bytes, largest_bytes, cache_bytes, local_bytes;
	uint64_t memory_clock_hz, memory_bus_bits, memory_rate;
	uint64_t unified, fp64, fp16, ecc;
	uint64_t sub_devices; // 0: none; of Level Zero only
	int64_t stagger_ps;   // each sub-device begins, and ends, so much after the one before
};

struct tare_script_link {
	uint64_t generation, width, rate;
};

struct tare_script_timer {
	struct tare_clock_rate rate;
	int64_t drift_ppb;
	uint64_t epoch_ticks; // what the counter shows at host time 0
	unsigned line;
};

// One bracketed reading of the clock: the host's time before and after the device is read.
struct tare_script_pairs {
	int64_t before_ps, after_ps;
};

// Host time of each kind of call.
struct tare_script_host {
	int64_t clock_ps;  // reading the host clock
	int64_t append_ps; // handing over one operation
	int64_t event_ps;  // on top, when an event is asked for
	int64_t submit_ps;
	int64_t finish_ps; // a wait that finds everything done
	int64_t wake_ps;   // from completion until a waiting host goes on
	int64_t query_ps;
	int64_t callback_ps; // from completion until the callback runs
	int64_t gate_ps;     // opening or shutting a gate
	int64_t allocate_ps;
	int64_t register_ps; // page-locking existing memory
	int64_t build_ps;
	uint64_t multiply_rate; // multiply-adds a second of one core; 0: not told
};

enum tare_flush { TARE_FLUSH_APPEND, TARE_FLUSH_SUBMIT };
enum tare_route { TARE_ROUTE_OPERATION, TARE_ROUTE_QUEUE };

struct tare_script_queue {
	int64_t submission_ps; // from the host's call to the device seeing the operation
	int64_t gap_ps;        // the predecessor in the queue ran on another engine
	int64_t same_gap_ps;   // it ran on the same engine
	int64_t event_gap_ps;  // waits for an event of another queue
	int64_t switch_ps;     // an engine takes an operation of another queue than its last one's
	uint64_t flush;        // enum tare_flush: when operations reach the device
	// enum tare_route: engines by operation (CUDA) or by queue (Level Zero)
	uint64_t route;
	uint64_t gate_capacity; // 0: no limit
	bool stay;              // an engine serves one queue as long as that has something for it;
	                        // of predictions, no script says so
};

enum tare_engine_order { TARE_ENGINE_BY_READY, TARE_ENGINE_BY_ISSUE };

struct tare_script_engine {
	unsigned line;
	bool compute;
	uint64_t flows; // bit (1 << enum tare_flow) for each flow that it serves
	uint64_t order; // enum tare_engine_order
	uint64_t known;
	char title[TARE_SCRIPT_TEXT];
};

struct tare_script_copy {
	unsigned line; // where it was given; 0: this device cannot copy so
	int64_t fixed_ps;
	uint64_t rate;    // bytes a second
	uint64_t staging; // bytes a second of the host's own copy; 0: the engine reads the memory
	uint64_t chunk_bytes;
};

struct tare_script_transfer {
	unsigned line;
	int64_t fixed_ps;
	uint64_t rate; // 0: no bytes move
};

struct tare_script_pages {
	unsigned line;
	uint64_t page_bytes;
	int64_t fault_ps; // a page
	int64_t fixed_ps;
	uint64_t rate; // 0: only the fault costs
};

// What a kernel does to memory; docs/simulated-device.md has the arguments of each.
enum tare_kernel_action {
	TARE_KERNEL_NONE,
	TARE_KERNEL_COPY,
	TARE_KERNEL_ADD,
	TARE_KERNEL_OVERLAP_VOLATILE, // as the entries of kernels/ of these names
	TARE_KERNEL_OVERLAP_REGISTER,
	TARE_KERNEL_MATMUL,
	TARE_KERNEL_MATMUL_ELEMENT,
};

// A rate that holds for working sets up to a size: a cache.
struct tare_script_tier {
	uint64_t bytes;
	uint64_t rate; // item-repeats a second
};

struct tare_script_kernel {
	unsigned line;
	char name[TARE_SCRIPT_TEXT];
	int64_t fixed_ps;
	int64_t minimum_ps;
	uint64_t slots; // groups that run at once on one unit
	int64_t wave_ps;
	int64_t item_ps;    // each work-item of a group
	uint64_t item_rate; // work-items a second of the whole device; 0: no such limit
	uint64_t share;     // an under-filled wave leaves room for the next kernel
	// On top: items * (value of launch argument `repeat_argument`) / repeat_rate. The argument
	// is a VALUE of 4 or 8 bytes, an unsigned integer. -1: no such term.
	int64_t repeat_argument;
	uint64_t repeat_rate;
	// The value of launch argument `span_argument` is a working set in bytes: the first tier
	// that holds it gives the rate instead of repeat_rate. -1: none. Tiers are in order of
	// size.
	int64_t span_argument;
	struct tare_script_tier tiers[TARE_SCRIPT_TIERS];
	size_t tier_count;
	uint64_t action;     // enum tare_kernel_action
	uint64_t work_group; // items that a group of it has at most; 0: as the device
	uint64_t registers, local_bytes;
	uint64_t arguments; // how many it takes; 0: not told
};

// The speed of one flow while others run, in millionths of its speed alone.
struct tare_script_concurrency {
	enum tare_flow flow;
	uint64_t others; // bits of the flows that all must run
	uint64_t speed_ppm;
};

struct tare_script_graph {
	int64_t instantiate_ps, launch_ps;
	int64_t node_ps; // replaces a kernel's fixed cost within a graph; -1: it does not
};

struct tare_script_telemetry {
	unsigned line;
	uint64_t clock_hz, memory_clock_hz, power_mw, temperature_mc, throttle;
};

enum tare_lack {
	TARE_LACK_PINNED,
	TARE_LACK_WRITE_COMBINED,
	TARE_LACK_REGISTERED,
	TARE_LACK_SHARED,
	TARE_LACK_MAPPED,
	TARE_LACK_OUT_OF_ORDER,
	TARE_LACK_DEFERRED,
	TARE_LACK_GRAPHS,
	TARE_LACK_GATES,
	TARE_LACK_CALLBACKS,
	TARE_LACK_COUNT
};

enum tare_stamps_given {
	TARE_STAMPS_QUEUED = 1,
	TARE_STAMPS_SUBMITTED = 2,
	TARE_STAMPS_START = 4,
	TARE_STAMPS_END = 8,
	TARE_STAMPS_ACTIVE = 16,
	TARE_STAMPS_STREAM = 32, // start is the position in the queue, not the engine's start
};

struct tare_script_faults {
	uint64_t lost_at, wrong_at, fail_at, hang_at; // operation number from 1; 0: never
	uint64_t memory_above_bytes;                  // allocations above fail; 0: none do
	char build_log[TARE_SCRIPT_TEXT];             // "" : everything builds
};

// Hardware counters as Level Zero lists them; of ze-cpu only.
enum tare_metric_sampling { TARE_METRIC_BY_EVENT = 1, TARE_METRIC_BY_TIME = 2 };

struct tare_script_metric_group {
	unsigned line;
	char name[TARE_SCRIPT_TEXT], description[TARE_SCRIPT_TEXT];
	uint64_t sampling;  // enum tare_metric_sampling
	uint64_t domain;    // groups of one domain cannot be counted together
	uint64_t forbidden; // not 0: it is listed, and who counts with it is refused
};

struct tare_script_metric {
	unsigned line;
	size_t group;
	char name[TARE_SCRIPT_TEXT], description[TARE_SCRIPT_TEXT], unit[TARE_SCRIPT_TEXT];
	uint64_t type; // as the specification counts them: duration 0, event 1, ...
};

// What a metric counts of one launch of a kernel.
enum tare_metric_count {
	TARE_METRIC_RIGHT,
	TARE_METRIC_SATURATED, // the counter stays at its largest value
	TARE_METRIC_WRAPPED,   // its end is less than its beginning
};
struct tare_script_metric_value {
	unsigned line;
	size_t metric;
	char kernel[TARE_SCRIPT_TEXT]; // "any": those that have no line of their own
	uint64_t value;
	uint64_t counts; // enum tare_metric_count
};

struct tare_script {
	struct tare_script_device device;
	struct tare_script_link link;
	struct tare_script_timer timer;      // stamps events
	struct tare_script_timer pair_timer; // can be read; the same one unless given
	struct tare_script_pairs pairs;
	bool has_pairs;
	uint64_t stamps; // enum tare_stamps_given
	struct tare_script_host host;
	struct tare_script_queue queue;
	struct tare_script_engine engines[TARE_SCRIPT_ENGINES];
	size_t engine_count;
	struct tare_script_copy copies[TARE_PLACE_COUNT][TARE_PLACE_COUNT]; // [from][to]
	int64_t rectangle_row_ps; // on top of the copy, each row
	uint64_t boundary_bytes;  // 0: alignment makes no difference
	uint64_t unaligned_speed_ppm;
	struct tare_script_transfer fill, map, unmap, marker, call;
	struct tare_script_pages touch, migrate;
	struct tare_script_kernel kernels[TARE_SCRIPT_KERNELS];
	size_t kernel_count;
	struct tare_script_concurrency concurrencies[TARE_SCRIPT_CONCURRENCIES];
	size_t concurrency_count;
	struct tare_script_graph graph;
	struct tare_script_telemetry telemetry;
	struct tare_script_metric_group metric_groups[TARE_SCRIPT_METRIC_GROUPS];
	size_t metric_group_count;
	struct tare_script_metric metrics[TARE_SCRIPT_METRICS];
	size_t metric_count;
	struct tare_script_metric_value metric_values[TARE_SCRIPT_METRIC_VALUES];
	size_t metric_value_count;
	struct {
		uint64_t range_ppm, seed;
	} jitter;
	char lacks[TARE_LACK_COUNT][TARE_SCRIPT_TEXT]; // "" : has it; else the reason why not
	struct tare_script_faults faults;
};

// Reads a script from memory. Every byte is taken as hostile.
//   name  what errors call it ("NAME:LINE: ...")
// Returns 0; -EINVAL with one sentence that names file and line; *script is then undefined.
int tare_script_parse(const char *text, size_t bytes, const char *name, struct tare_script *script,
                      struct tare_error *error);

// The same from a file of at most 1 MiB. Also -errno of opening or reading it.
int tare_script_read(const char *path, struct tare_script *script, struct tare_error *error);

// The words of the grammar: "to-device", "pinned".
const char *tare_flow_name(enum tare_flow flow);
const char *tare_place_name(enum tare_place place);

// The flow of a copy between two kinds of memory.
enum tare_flow tare_flow_of_copy(enum tare_place from, enum tare_place to);
