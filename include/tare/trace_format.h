// SPDX-License-Identifier: Apache-2.0
// The trace on disk: docs/trace-format.md is the normative text, this is its C form, shared by the
// recorder (which allocates nothing) and the reader (which trusts nothing). Little-endian, fixed
// widths, no padding that is not named.
//
// NAME.tare/ is a directory. `record.json` is written by `tare record`; every process that was
// recorded has one file HOST-PID-STARTTICKS.trace: one header page, then windows of 256 KiB. A
// window belongs to one thread and holds 64-byte records; the first one is its own header, the
// first whose head is 0 ends it. A record's head is stored last, with release, so a record that
// can be seen is whole.
#ifndef TARE_TRACE_FORMAT_H
#define TARE_TRACE_FORMAT_H
#include <stdint.h>

#define TARE_TRACE_MAGIC "\x89tare\r\n\x1a"
#define TARE_TRACE_VERSION_MAJOR 1  // a reader refuses a higher one
#define TARE_TRACE_VERSION_MINOR 14 // may add record types, fact keys and enum values
#define TARE_TRACE_BYTE_ORDER UINT32_C(0x01020304)
#define TARE_TRACE_HEADER_BYTES 4096
#define TARE_TRACE_WINDOW_BYTES (256 * 1024)
#define TARE_TRACE_RECORD_BYTES 64
#define TARE_TRACE_NO_RANK UINT64_MAX
#define TARE_TRACE_NAME_BYTES 128

enum tare_trace_api {
	TARE_TRACE_NO_API = 0, // phases alone, as yet
	TARE_TRACE_OPENCL = 1,
	TARE_TRACE_LEVELZERO = 2,
	TARE_TRACE_CUDA = 3,
	TARE_TRACE_API_COUNT
};

// What host ticks are.
enum tare_trace_host_clock {
	TARE_TRACE_CLOCK_RAW = 1, // nanoseconds of CLOCK_MONOTONIC_RAW
	// the time-stamp counter; pairs with CLOCK_MONOTONIC_RAW are recorded
	TARE_TRACE_CLOCK_TSC = 2,
};

enum tare_trace_flags {
	TARE_TRACE_STRICT = 1 << 0,      // nothing of the program was changed
	TARE_TRACE_KEEP_NEWEST = 1 << 1, // full windows were used again when the file was full
	TARE_TRACE_FORKED = 1 << 2,      // begun in the child of a fork, without an exec
	TARE_TRACE_COUNT_ONLY = 1 << 3,  // no device times were asked for
	TARE_TRACE_CALL_STACKS = 1 << 4, // SITE records were asked for
	// device times of a random sample only, once they cost too much
	TARE_TRACE_MAY_SAMPLE = 1 << 5,
	// other threads computed while the driver's cost was measured
	TARE_TRACE_DRIVER_THREADS = 1 << 6,
	TARE_TRACE_COMPARED = 1 << 7, // CONTENTS records were asked for
};

enum tare_trace_state {
	TARE_TRACE_RECORDING = 1, // or killed: see alive_ticks
	TARE_TRACE_ENDED = 2,     // the process came to its exit
	TARE_TRACE_EXEC = 3,      // it became another program
	TARE_TRACE_STOPPED = 4,   // the recorder gave up; stop_reason says why
};

enum tare_trace_stop {
	TARE_TRACE_NOT_STOPPED = 0,
	TARE_TRACE_MAX_SIZE = 1,   // --max-size, with --keep oldest
	TARE_TRACE_NO_SPACE = 2,   // ENOSPC, EDQUOT
	TARE_TRACE_FILE_LIMIT = 3, // RLIMIT_FSIZE
	TARE_TRACE_IO = 4,         // any other failure of the file
	TARE_TRACE_NO_MEMORY = 5,  // no memory for the recorder's own tables
};

// What a command of the program takes longer because of what is changed in it, inside the driver:
// measured on queues of the recorder's own. With a queue that has profiling because of the
// recorder, or without; with an event that the recorder asked for, or the program.
enum tare_trace_driver_cost {
	TARE_DRIVER_PROFILING = 0,      // profiling added, no event
	TARE_DRIVER_BOTH = 1,           // profiling and the event added
	TARE_DRIVER_PROFILED_EVENT = 2, // profiling added, the event is the program's
	TARE_DRIVER_EVENT = 3,          // the event added, profiling is the program's
	// added to these four: the same of anything but a kernel or a fill
	TARE_DRIVER_TRANSFER = 4,
	TARE_DRIVER_QUERIES = 8, // asking for its times
	TARE_DRIVER_RELEASE = 9, // letting go of the event
	TARE_DRIVER_COST_COUNT
};

// What it takes longer to execute a command list because a list of the recorder's runs behind it,
// which reads the times of its commands: measured with lists of the recorder's own.
enum tare_trace_execute_cost {
	TARE_EXECUTE_OWN = 0,  // our own code, an execution
	TARE_EXECUTE_LIST = 1, // the driver's part, an execution
	TARE_EXECUTE_NODE = 2, // and for each command of it that is timed
	TARE_EXECUTE_COST_COUNT
};

// The first page. The counters are live: written with relaxed atomics while the program runs, so
// that a killed process leaves them. What records can tell is not counted here.
struct tare_trace_header {
	char magic[8];
	uint16_t version_major, version_minor;
	uint32_t byte_order;
	uint32_t header_bytes, window_bytes, record_bytes;
	uint32_t flags;      // enum tare_trace_flags
	uint32_t host_clock; // enum tare_trace_host_clock
	uint32_t api;        // enum tare_trace_api: the first that was recorded in the process
	uint64_t host_hz;    // nominal rate of host ticks, 0: not known, only the pairs tell
	uint64_t pid, parent_pid;
	uint64_t rank, rank_count;    // TARE_TRACE_NO_RANK: none
	uint64_t start_ticks;         // when recording began
	int64_t start_raw_ns;         // the same moment on CLOCK_MONOTONIC_RAW,
	int64_t start_monotonic_ns;   // CLOCK_MONOTONIC and
	int64_t start_realtime_ns;    // CLOCK_REALTIME (since 1970)
	int64_t process_start_raw_ns; // when the process began, by /proc (10 ms); 0: not known
	// calibrated: what one command costs, by the recorder itself; 0: no
	int64_t self_cost_ps;
	int64_t self_call_cost_ps; // the same for a call that is no command
	// of the machine; 0: not known. RAW times compare only within it
	uint64_t boot_id[2];
	char host_name[64];
	char rank_from[32];     // the variable that told the rank
	char executable[256];   // cut at its beginning when longer
	char command_line[512]; // arguments joined by NUL, cut at the end
	uint32_t state;         // enum tare_trace_state
	uint32_t stop_reason;   // enum tare_trace_stop
	int64_t stop_error;     // errno of it
	uint64_t end_ticks;     // 0 while recording
	// last sign of life: of the helper thread, of a window's claim, of the only thread at its
	// calls
	uint64_t alive_ticks;
	uint64_t windows;            // windows that were ever claimed; the file may hold fewer
	uint64_t definition_windows; // of these
	uint64_t lost_records;       // no room could be had
	uint64_t lost_commands;      // of these, commands
	uint64_t recycled_records;   // overwritten by newer ones (--keep newest)
	uint64_t recycled_commands;
	// through extension pointers, and what a device did for others: not timed
	uint64_t passed_calls;
	uint64_t stalls; // a thread had to make its own window
	uint64_t stalled_ticks;
	uint64_t process_cpu_ns; // at the last sign of life, all threads
	uint64_t helper_cpu_ns;  // the recorder's own thread
	uint64_t pending;        // commands whose device times are not harvested yet
	// calls that reached the layer, sampled now and then and at exit
	uint64_t calls_seen;
	// what a call stack costs on top, the mean so far; 0: not known
	int64_t self_stack_cost_ps;
	uint64_t harvest_ticks; // the program's threads, asking the driver for device times
	// the fastest that a thread was seen to change memory, before 1.7; 0: not measured
	uint64_t fill_bytes_s;
	// bits 1 << enum tare_trace_api: all that were; 0: `api` alone
	uint64_t apis;
	uint64_t driver_rounds;   // that the next members are the medians of; 0: not measured
	int64_t driver_native_ps; // a command as the program would have had it, picoseconds
	int64_t driver_ps[TARE_DRIVER_COST_COUNT]; // by enum tare_trace_driver_cost
	// the interval
	int64_t driver_low_ps[TARE_DRIVER_COST_COUNT], driver_high_ps[TARE_DRIVER_COST_COUNT];
	uint64_t calibration_ticks; // what measuring all costs took of the program's threads
	// when the first command was left without times by choice; 0: none was
	uint64_t sampled_from_ticks;
	int64_t self_untimed_cost_ps; // as self_cost_ps, of a command without times
	// the interval of self_cost_ps and of self_untimed_cost_ps; 0: not known
	int64_t self_low_ps[2], self_high_ps[2];
	// that beginning and ending the recording took of the program's threads
	int64_t setup_ns;
	uint64_t execute_rounds; // that the next members are the medians of; 0: not measured
	// of a list that times are read behind, by enum tare_trace_execute_cost
	int64_t execute_ps[TARE_EXECUTE_COST_COUNT];
	// the interval
	int64_t execute_low_ps[TARE_EXECUTE_COST_COUNT], execute_high_ps[TARE_EXECUTE_COST_COUNT];
};

// ---- records

// A record's head: type, flags, detail (function, key or kind) and the track that wrote it.
static inline uint64_t tare_trace_head(uint8_t type, uint8_t flags, uint16_t detail, uint32_t track)
{
	return type | (uint64_t)flags << 8 | (uint64_t)detail << 16 | (uint64_t)track << 32;
}
static inline uint8_t tare_trace_type(uint64_t head)
{
	return (uint8_t)head;
}
static inline uint8_t tare_trace_record_flags(uint64_t head)
{
	return (uint8_t)(head >> 8);
}
static inline uint16_t tare_trace_detail(uint64_t head)
{
	return (uint16_t)(head >> 16);
}
static inline uint32_t tare_trace_track(uint64_t head)
{
	return (uint32_t)(head >> 32);
}

enum tare_trace_type {
	TARE_TRACE_END = 0, // no record: the rest of the window is empty
	TARE_TRACE_WINDOW = 1,
	// Definitions; they lie in windows of their own, which are never used again.
	TARE_TRACE_STRING = 2,
	TARE_TRACE_TRACK = 3,
	TARE_TRACE_FUNCTION = 4,
	TARE_TRACE_OBJECT = 5,
	TARE_TRACE_FACT = 6,
	TARE_TRACE_SHAPE = 7,
	TARE_TRACE_CHANGE = 8,
	TARE_TRACE_STACK = 9,
	TARE_TRACE_MODULE = 10,
	TARE_TRACE_NODE = 11,
	// Events.
	TARE_TRACE_CALL = 16,
	TARE_TRACE_POLLED = 17,
	TARE_TRACE_COMMAND = 18,
	TARE_TRACE_CALL_END = 19,
	TARE_TRACE_DEPENDS = 20,
	TARE_TRACE_TIMES = 21,
	TARE_TRACE_UNTIMED = 22,
	TARE_TRACE_EXECUTE = 23,
	TARE_TRACE_CALLBACK = 24,
	TARE_TRACE_CPU_TIME = 25,
	TARE_TRACE_CLOCK_PAIR = 26,
	TARE_TRACE_PHASE = 27,
	TARE_TRACE_LOSS = 28,
	TARE_TRACE_FORK = 29,
	TARE_TRACE_ACTIVE = 30,
	TARE_TRACE_TRANSFER = 31,
	TARE_TRACE_VOID = 32, // begun and never completed: nothing in it but the head is to be read
	TARE_TRACE_SITE = 33,
	TARE_TRACE_PAGES = 34,
	TARE_TRACE_PART = 35,
	TARE_TRACE_CONTENTS = 36,
	TARE_TRACE_LAUNCHES = 37,
	TARE_TRACE_MORE_TIMES = 38,
	TARE_TRACE_COUNTED = 39,
	TARE_TRACE_COUNTING = 40,
	TARE_TRACE_WITHIN = 41,   // from 1.10
	TARE_TRACE_DRAWN = 42,    // from 1.11
	TARE_TRACE_PEER = 43,     // from 1.12
	TARE_TRACE_LINK = 44,     // from 1.12
	TARE_TRACE_SAMPLED = 45,  // from 1.12
	TARE_TRACE_SAMPLING = 46, // from 1.12
};

// First record of a window. detail: 1 for definitions, 0 for events.
struct tare_trace_window {
	uint64_t head;
	uint64_t sequence; // in the order of claiming, from 1
	uint64_t claimed_ticks;
	// 1 + the function that the thread is in and that may wait; 0: none
	uint64_t in_call;
	uint64_t in_call_ticks; // since
	uint64_t lost_before;   // records that this thread had to drop before this window
	uint64_t reserved[2];
};

// Text, in as many records as it takes, one after another, all with the same id and total.
struct tare_trace_string {
	uint64_t head;
	uint32_t id;     // from 1
	uint32_t total;  // bytes of the whole text
	uint32_t offset; // of this part
	uint32_t bytes;  // in this part, at most 40
	char text[40];
};

// A thread. detail: enum tare_trace_track_kind.
enum tare_trace_track_kind { TARE_TRACE_THREAD = 0, TARE_TRACE_HELPER = 1 };
struct tare_trace_track_record {
	uint64_t head;
	uint64_t ticks; // first seen
	uint64_t tid;   // the kernel's number
	uint32_t name;  // string, 0: none
	uint32_t reserved32;
	uint64_t reserved[4];
};

// What a function number means. detail: the number.
struct tare_trace_function {
	uint64_t head;
	uint32_t name; // string: "clEnqueueWriteBuffer"
	uint32_t api;  // enum tare_trace_api
	uint32_t role; // enum tare_trace_role
	uint32_t reserved32;
	uint64_t reserved[5];
};

// What a call does to the thread that makes it; the ledger's host states come from it.
enum tare_trace_role {
	// sets or retains, does no work: clSetKernelArg; before 1.7 what asks, too
	TARE_ROLE_OTHER = 0,
	TARE_ROLE_COMMAND = 1, // puts work into a queue
	TARE_ROLE_WAIT = 2,    // returns when the device got somewhere: clFinish, clWaitForEvents
	TARE_ROLE_FLUSH = 3,
	TARE_ROLE_BUILD = 4,    // compiles, links
	TARE_ROLE_ALLOCATE = 5, // makes or frees memory objects
	// makes other objects: contexts, queues, kernels; before 1.7 frees them, too
	TARE_ROLE_CREATE = 6,
	TARE_ROLE_START = 7,    // finds platforms and devices
	TARE_ROLE_POLL = 8,     // asks whether something is done; such calls are aggregated
	TARE_ROLE_QUERY = 9,    // asks for what is known: clGetDeviceInfo
	TARE_ROLE_RELEASE = 10, // lets go of objects that are no memory: clReleaseProgram
	TARE_ROLE_LOAD = 11,    // brings a kernel that is built to the device; from 1.10
	TARE_ROLE_COUNT
};

// An object of an API, when it was made. detail: enum tare_trace_object_kind. flags of OBJECT,
// FACT, CHANGE and CLOCK_PAIR: enum tare_trace_api, whose handles they name; 0: the header's, and
// where that has none OpenCL. Two APIs may have handles of one value. Handles are used again by
// drivers: a handle means the object with the latest `ticks` that is not later than the record that
// names it.
enum tare_trace_object_kind {
	TARE_OBJECT_PLATFORM = 1,
	TARE_OBJECT_DEVICE = 2, // parent: platform; number: from 0 in this process; bytes: memory
	TARE_OBJECT_CONTEXT = 3,
	TARE_OBJECT_QUEUE =
	    4, // parent: context; device; number; properties as made, of any API bit 0
	       // out of order, bit 1 profiling (clock of stamps: its device's)
	TARE_OBJECT_PROGRAM = 5, // parent: context; properties: TARE_PROGRAM_NATIVE
	TARE_OBJECT_KERNEL = 6,  // parent: program; name
	TARE_OBJECT_MEMORY = 7,  // parent: context, or the buffer it is a part of; properties:
	                         // flags; bytes; number: enum tare_trace_memory
	TARE_OBJECT_EVENT = 8,   // a user event
	TARE_OBJECT_GRAPH = 9,   // command list, command buffer, graph
};
// Of a program that was made from what a driver had built before.
#define TARE_PROGRAM_NATIVE 1
struct tare_trace_object {
	uint64_t head;
	uint64_t handle;
	uint64_t ticks;
	uint64_t parent;
	uint64_t device;
	uint64_t properties;
	uint64_t bytes;
	uint32_t name; // string, 0: none
	uint32_t number;
};

enum tare_trace_memory {
	TARE_TRACE_MEMORY_UNKNOWN = 0,
	TARE_TRACE_MEMORY_BUFFER = 1,      // device memory
	TARE_TRACE_MEMORY_BUFFER_HOST = 2, // ALLOC_HOST_PTR: pinned
	TARE_TRACE_MEMORY_BUFFER_USER = 3, // USE_HOST_PTR
	TARE_TRACE_MEMORY_PART = 4,        // a sub-buffer
	TARE_TRACE_MEMORY_IMAGE = 5,
	TARE_TRACE_MEMORY_PIPE = 6,
	TARE_TRACE_MEMORY_SHARED = 7,   // SVM, USM shared, managed
	TARE_TRACE_MEMORY_PINNED = 8,   // host memory of the API: USM host, cudaHostAlloc
	TARE_TRACE_MEMORY_PAGEABLE = 9, // plain host memory
	TARE_TRACE_MEMORY_MAPPED = 10,  // inside a mapped buffer
};

// One more thing known of an object. detail: enum tare_trace_fact.
enum tare_trace_fact {
	TARE_TRACE_FACT_VENDOR = 1,         // string
	TARE_TRACE_FACT_DRIVER_VERSION = 2, // string
	TARE_TRACE_FACT_API_VERSION = 3,    // string
	TARE_TRACE_FACT_DEVICE_TYPE = 4,    // CL_DEVICE_TYPE bits
	TARE_TRACE_FACT_COMPUTE_UNITS = 5,
	TARE_TRACE_FACT_CLOCK_HZ = 6,
	TARE_TRACE_FACT_GROUP_LIMIT = 7,         // device or kernel: most work-items in a group
	TARE_TRACE_FACT_LOCAL_BYTES = 8,         // device: what there is; kernel: what it takes
	TARE_TRACE_FACT_PRIVATE_BYTES = 9,       // kernel, per work-item
	TARE_TRACE_FACT_PREFERRED_MULTIPLE = 10, // kernel: SIMD width where told
	TARE_TRACE_FACT_SPILL_BYTES = 11,
	TARE_TRACE_FACT_COMPILED_GROUP = 12, // kernel: reqd_work_group_size, 21 bits a dimension
	TARE_TRACE_FACT_SUB_GROUP = 13,
	TARE_TRACE_FACT_REGISTERS = 14,
	TARE_TRACE_FACT_SOURCE_HASH = 15, // program: FNV-1a 64 of the source or binary
	TARE_TRACE_FACT_SOURCE_BYTES = 16,
	TARE_TRACE_FACT_BUILD_OPTIONS = 17, // string
	TARE_TRACE_FACT_BUILD_FAILED = 18,  // the native code
	TARE_TRACE_FACT_TIMER_RESOLUTION_NS = 19,
	TARE_TRACE_FACT_UUID = 20,           // string, hexadecimal
	TARE_TRACE_FACT_PCI = 21,            // string, dddd:bb:dd.f
	TARE_TRACE_FACT_DEVICE_OF = 22,      // a device of a context
	TARE_TRACE_FACT_HOST_POINTER = 23,   // of a memory object
	TARE_TRACE_FACT_UNIFIED_MEMORY = 24, // 1: device memory is the host's
	TARE_TRACE_FACT_PROFILING = 25,      // queue: 1 stamps can be had
	TARE_TRACE_FACT_LIBRARY = 26,        // string: the driver's file
	// device: ticks a second of its stamps and clock pairs
	TARE_TRACE_FACT_TIMER_HZ = 27,
	TARE_TRACE_FACT_STAMP_BITS = 28, // device: of its stamps so many bits are counted
	TARE_TRACE_FACT_PAIR_BITS = 29,  // device: the same for its clock pairs
	// What a compute unit has room for at once, and what its groups are given.
	TARE_TRACE_FACT_UNIT_ITEMS = 30,       // device: work-items
	TARE_TRACE_FACT_UNIT_GROUPS = 31,      // device: groups
	TARE_TRACE_FACT_UNIT_REGISTERS = 32,   // device: registers of 32 bits
	TARE_TRACE_FACT_UNIT_LOCAL_BYTES = 33, // device: local memory
	TARE_TRACE_FACT_GROUP_REGISTERS = 34,  // device: most of a group
	// device: local memory that each group takes on top
	TARE_TRACE_FACT_GROUP_RESERVED_BYTES = 35,
	// device: compute capability, 100 times the major number and the minor
	TARE_TRACE_FACT_CAPABILITY = 36,
	TARE_TRACE_FACT_FIXED_LOCAL_BYTES = 37, // kernel: local memory that it has itself
	TARE_TRACE_FACT_PRIORITY = 38,          // queue: as a signed number; lower is more urgent
	// device: its number among the sub-devices of the fact's `device`
	TARE_TRACE_FACT_SUB_DEVICE = 39,
	// string, platform: NAME=VALUE, a variable that its driver reads, as it began
	TARE_TRACE_FACT_ENVIRONMENT = 40,
	// kernel: handle of a memory object that is its argument, and not constant
	TARE_TRACE_FACT_MAY_WRITE = 41,
	// device: engines that only copy, as its driver counts them; not told where it does not
	TARE_TRACE_FACT_COPY_ENGINES = 42,
};
struct tare_trace_fact_record {
	uint64_t head;
	uint64_t object; // handle
	uint64_t ticks;
	uint64_t value;
	uint64_t device; // the device for which it holds, 0: any
	uint32_t text;   // string, 0: none
	uint32_t reserved32;
	uint64_t reserved[2];
};

// An ND-range, named by commands. Local 0: left to the runtime.
struct tare_trace_shape {
	uint64_t head;
	uint32_t id;         // from 1
	uint32_t dimensions; // 1 to 3; sizes beyond are 1
	uint64_t global[3];
	uint32_t local[3];
	uint32_t has_offset;
	// of a group, asked for by the launch, beside what the kernel has itself
	uint32_t local_bytes;
	uint8_t cluster[3]; // groups of a cluster in each dimension; 0: none
	uint8_t reserved8;
};

// A node of a graph whose work an API tells by itself: what TIMES with TARE_TIMES_OF_NODE are of.
struct tare_trace_node {
	uint64_t head;     // flags: enum tare_trace_api
	uint32_t id;       // from 1
	uint8_t kind;      // enum tare_trace_command_kind
	uint8_t direction; // enum tare_trace_direction
	uint8_t memory;    // enum tare_trace_memory of the host side
	uint8_t reserved8;
	uint64_t node;   // the API's number of it; 0: not told
	uint64_t object; // kernel; 0: none
	uint64_t amount; // bytes; for a kernel the id of its shape
	uint64_t ticks;  // when it was first seen
	// of a copy between devices the handles of both; 0: of none; from 1.12
	uint64_t source, destination;
};

// What was altered in the program. detail: enum tare_trace_change.
enum tare_trace_change {
	TARE_CHANGE_PROFILING = 1, // a queue was made with profiling: object, from, to
	// events are asked for where the program asked for none: once a queue
	TARE_CHANGE_EVENT = 2,
	TARE_CHANGE_EVENT_RETAINED = 3, // its events live a little longer: once a queue
	TARE_CHANGE_CALLBACK = 4,       // its callbacks go through ours: once
	TARE_CHANGE_HELPER = 5,         // a thread was started
	TARE_CHANGE_FLAG = 6,
	// a loader that knows layers was put in front of the program's own
	TARE_CHANGE_LOADER = 7,
	// queues and a buffer of the recorder's own, for a few ms: object is the context
	TARE_CHANGE_CALIBRATION = 8,
	// lists of the recorder's run behind the program's, object: to begin with from 0, then
	// from: so many, to: ns of the device's that they took
	TARE_CHANGE_LISTS = 9,
	TARE_CHANGE_DRIVER = 10, // the recorder's library was put in a driver's place
	// calls of CUPTI's by the program's libraries go through ours, to: in so many places
	TARE_CHANGE_CUPTI = 11,
	// the program traces for itself: no device times from ticks on
	TARE_CHANGE_LEFT = 12,
	// calls of CUDA's driver go through a library of tare's: no device times, from: enum
	// tare_trace_front
	TARE_CHANGE_FRONT = 13,
	// metric queries, with barriers, are put around launches, and ZET_ENABLE_METRICS is 1:
	// object is the context, to: in so many groups
	TARE_CHANGE_COUNTERS = 14,
};

// Why a CUDA program was recorded without CUPTI.
enum tare_trace_front {
	TARE_FRONT_NO_CUPTI = 0,    // there was none that could be opened
	TARE_FRONT_NOT_WANTED = 1,  // --no-cupti
	TARE_FRONT_CUPTI_TAKEN = 2, // another tool had it
};
struct tare_trace_change_record {
	uint64_t head;
	uint64_t object;
	uint64_t ticks;
	uint64_t from, to;
	uint64_t reserved[3];
};

// A call stack, in as many records as it takes, one after another, all with the same id and total;
// the innermost frame first. detail: frames in this record, at most 5.
struct tare_trace_stack {
	uint64_t head;
	uint32_t id;     // from 1
	uint32_t total;  // frames of the whole stack
	uint32_t offset; // of this part
	uint32_t reserved32;
	uint64_t frame[5]; // return addresses; with TARE_TRACE_FRAME_TEXT a line of a script
};
// A frame of an interpreter's: bits 0 to 31 are a string, "FILE\nFUNCTION", 32 to 55 the line (0:
// not known). The frames of the interpreter itself, and what called it, are left out.
#define TARE_TRACE_FRAME_TEXT (UINT64_C(1) << 63)

// A file with code that the process has loaded. One that is loaded at the same addresses later
// takes its place from `ticks` on.
struct tare_trace_module {
	uint64_t head;
	uint64_t ticks;
	uint64_t from, to; // addresses of its code
	uint64_t bias;     // address in memory minus address in the file
	uint32_t path;     // string
	uint32_t build_id; // string, hexadecimal; 0: none
	uint64_t reserved[2];
};

enum tare_trace_call_flags {
	TARE_CALL_FAILED = 1 << 0,   // result is the API's error code
	TARE_CALL_RELEASED = 1 << 1, // the object was let go of for the last time
	TARE_CALL_NESTED = 1 << 2,   // made inside another call of the same thread
};
// A call that is no command. detail: the function.
struct tare_trace_call {
	uint64_t head;
	uint64_t enter, exit; // host ticks
	int64_t result;
	uint64_t object; // what it is about: queue, program, memory; 0: none
	uint64_t bytes;
	// whatever else the role says; for clWaitForEvents the number of events
	uint64_t value;
	uint64_t device;
};

// Calls of one function in a row that only ask. The record is updated in place while it is the
// last one of its window. detail: the function.
struct tare_trace_polled {
	uint64_t head;
	uint64_t first_enter, last_exit;
	uint64_t count;
	uint64_t ticks;  // inside the calls, together
	uint64_t object; // of the first
	uint64_t failed;
	uint64_t reserved;
};

enum tare_trace_command_kind {
	TARE_KIND_KERNEL = 1,
	TARE_KIND_TASK = 2,  // native kernel
	TARE_KIND_WRITE = 3, // to the device
	TARE_KIND_READ = 4,  // from the device
	TARE_KIND_COPY = 5,  // within the device
	TARE_KIND_FILL = 6,
	TARE_KIND_MAP = 7,
	TARE_KIND_UNMAP = 8,
	TARE_KIND_MIGRATE = 9,
	TARE_KIND_MARKER = 10,
	TARE_KIND_BARRIER = 11,
	TARE_KIND_GRAPH = 12, // runs a recorded list
	TARE_KIND_OTHER = 13, // GL, media and the like
	TARE_KIND_KINDS
};
enum tare_trace_direction {
	TARE_DIRECTION_NONE = 0,
	TARE_DIRECTION_TO_DEVICE = 1,
	TARE_DIRECTION_FROM_DEVICE = 2,
	TARE_DIRECTION_LOCAL = 3, // within the device
	TARE_DIRECTION_HOST = 4,  // within the host (SVM)
};
enum tare_trace_command_flags {
	// the enqueue failed: nothing was enqueued; `object2` is the code
	TARE_COMMAND_FAILED = 1 << 0,
	TARE_COMMAND_BLOCKING = 1 << 1,
	TARE_COMMAND_OWN_EVENT = 1 << 2, // the event is the recorder's
	TARE_COMMAND_DEPENDS = 1 << 3,   // a DEPENDS record follows
	// a CALL_END record follows: the call took too long for call_ticks
	TARE_COMMAND_LONG = 1 << 4,
	TARE_COMMAND_NO_TIMES = 1 << 5, // no device times will come: no profiling, or --strict
	TARE_COMMAND_TRANSFER = 1 << 6, // a TRANSFER record follows
	TARE_COMMAND_NESTED = 1 << 7,
};
// NO_TIMES and OWN_EVENT together: times could have been had, but the command is not of the sample.
#define TARE_COMMAND_NOT_SAMPLED (TARE_COMMAND_NO_TIMES | TARE_COMMAND_OWN_EVENT)
// A call that put work into a queue. detail: the function. Its identity is (track, number).
struct tare_trace_command {
	uint64_t head;
	uint64_t enter;      // host ticks; exit is enter + call_ticks
	uint32_t call_ticks; // UINT32_MAX with TARE_COMMAND_LONG
	uint32_t number;     // counts the commands of this track, from 1
	uint8_t kind;        // enum tare_trace_command_kind
	uint8_t direction;
	// log2 of the host address's alignment, at most 12 counted; 255: no address
	uint8_t alignment;
	uint8_t memory;   // enum tare_trace_memory of the host side
	uint32_t queue;   // number of the queue (TARE_OBJECT_QUEUE)
	uint64_t object;  // kernel, or memory of the device's side; source of a copy
	uint64_t amount;  // bytes; for a kernel the id of its shape
	uint64_t event;   // handle
	uint64_t object2; // host address; destination of a copy; code of a failed one
};

// Further commands like that of the record before it, which is a COMMAND or LAUNCHES in the same
// window: the same in all but number, enter and call_ticks. Each one's number is one higher; their
// events are the recorder's and are not told. detail: how many, from 1 to TARE_LAUNCHES_MOST.
#define TARE_LAUNCHES_MOST 7
struct tare_trace_launches {
	uint64_t head;
	// of each two: host ticks from the exit of the one before to its enter, and its call_ticks
	uint32_t ticks[14];
};

// The end of a command's call that took long. Follows its command in the same window or the next.
struct tare_trace_call_end {
	uint64_t head;
	uint64_t number; // of the command, of the same track
	uint64_t exit;
	uint64_t reserved[5];
};

// From where a command was enqueued or a call made; of the same track. detail: 0.
enum tare_trace_site_flags { TARE_SITE_OF_CALL = 1 << 0 };
struct tare_trace_site {
	uint64_t head;
	uint64_t of; // number of the command; with OF_CALL the `enter` of the call
	uint32_t stack;
	uint32_t reserved32;
	uint64_t reserved[5];
};

// More of a transfer: rectangles, images, offsets.
struct tare_trace_transfer {
	uint64_t head;
	uint64_t number; // of the command, of the same track
	uint64_t offset; // on the device's side
	uint32_t region[3];
	uint32_t row_pitch;
	uint64_t slice_pitch;
	uint64_t reserved[2];
};

// Behind a command of the sample: chance decided that it is timed. One that is timed without is no
// part of the sample; it stands for nothing but itself.
struct tare_trace_drawn {
	uint64_t head;
	uint32_t number; // of the command, of the same track
	uint32_t chance; // its probability in parts of 2^32, above 0
	uint64_t reserved[6];
};

// Behind a copy from one device's memory to another's: which they are. flags: enum tare_trace_api.
struct tare_trace_peer {
	uint64_t head;
	uint64_t number;              // of the command, of the same track
	uint64_t source, destination; // handles of devices
	uint64_t reserved[4];
};

// What lies between two devices, both ways, as the driver or its tracer told. detail: enum
// tare_trace_link_kind. flags: enum tare_trace_api. Of several of two devices the highest holds.
enum tare_trace_link_kind {
	TARE_LINK_THROUGH_HOST = 1, // copies go through the memory of the host
	TARE_LINK_DIRECT = 2,       // they can, over what was not told
	TARE_LINK_NVLINK = 3,       // count: how many links
};
struct tare_trace_link {
	uint64_t head;
	uint64_t ticks;         // when it was told
	uint64_t first, second; // handles of devices
	uint64_t count;
	uint64_t reserved[3];
};

// What a command (or a wait) waits for, up to six events; as many records as it takes. detail: how
// many in this record. flags: those of the enum, and from bit 4 on the enum tare_trace_api whose
// events they are; 0: as with definitions.
#define TARE_DEPENDS_API_SHIFT 4
enum tare_trace_depends_flags { TARE_DEPENDS_OF_CALL = 1 << 0 };
struct tare_trace_depends {
	uint64_t head;
	uint64_t of; // number of the command; with OF_CALL the `enter` of the waiting call
	uint64_t event[6];
};

// When a command ran, in raw ticks of its device. Written by whoever harvested it.
enum tare_trace_stamps {
	TARE_TRACE_STAMP_QUEUED = 1 << 0,
	TARE_TRACE_STAMP_SUBMITTED = 1 << 1,
	TARE_TRACE_STAMP_START = 1 << 2,
	TARE_TRACE_STAMP_END = 1 << 3,
	// `queued` and `submitted` are a counter of its context's, at start and end
	TARE_TRACE_STAMP_ACTIVE = 1 << 4,
};
// Whose times they are.
enum tare_trace_times_of {
	TARE_TIMES_OF_COMMAND = 0,
	// of the graph that the command launches: `execution` is the id of a NODE
	TARE_TIMES_OF_NODE = 1,
};
// flags: enum tare_trace_stamps that are present. detail: enum tare_trace_times_of.
struct tare_trace_times {
	uint64_t head;
	uint32_t command_track, command_number;
	uint64_t queued, submitted, start, end;
	uint64_t observed;  // host ticks: the command was complete by then
	uint64_t execution; // 0 for the only one; from 1 for nodes and repetitions of a graph
};

// Times of the commands that follow that of the record before it, which is a TIMES or MORE_TIMES in
// the same window: all four stamps of the next numbers, with the same observed. detail: how many,
// from 1 to TARE_MORE_TIMES_MOST.
#define TARE_MORE_TIMES_MOST 3
struct tare_trace_more_times {
	uint64_t head;
	// of each four: queued after that of the one before, submitted after queued, start after
	// submitted, end after start
	uint32_t ticks[12];
	uint64_t reserved;
};

// A command whose times will not come. detail: enum tare_trace_untimed.
enum tare_trace_untimed {
	TARE_UNTIMED_REFUSED = 1,   // the API refused the profiling info; value is its code
	TARE_UNTIMED_FAILED = 2,    // the command ended with an error; value is its status
	TARE_UNTIMED_ABANDONED = 3, // the process ended first
	TARE_UNTIMED_NO_ROOM = 4,   // too many were pending
	TARE_UNTIMED_REUSED = 5,    // its event was used again before it could be read
	TARE_UNTIMED_NOT_ASKED = 6, // to ask for them would have changed the program (--strict)
};
struct tare_trace_untimed_record {
	uint64_t head;
	uint32_t command_track, command_number;
	int64_t value;
	uint64_t observed;
	uint64_t execution; // as in TIMES
	uint64_t reserved[3];
};

// For graphs and command lists: execution `execution` of the list `graph` was started by a command.
struct tare_trace_execute {
	uint64_t head;
	uint32_t command_track, command_number;
	uint64_t graph;
	uint64_t execution;
	uint64_t nodes;
	uint64_t reserved[3];
};

// The program's own callback, run by whatever thread. detail: the function that registered it.
struct tare_trace_callback {
	uint64_t head;
	uint64_t enter, exit;
	uint64_t object; // event, program, memory
	int64_t status;
	uint64_t reserved[3];
};

// detail 0: the thread's CPU time; 1: the process's.
struct tare_trace_cpu_time {
	uint64_t head;
	uint64_t ticks;
	uint64_t cpu_ns;
	uint64_t resident_bytes; // of the process; 0: not read
	uint64_t reserved[4];
};

// Another clock, bracketed by host ticks. detail: enum tare_trace_clock.
enum tare_trace_clock {
	TARE_CLOCK_RAW = 1,       // CLOCK_MONOTONIC_RAW, ns
	TARE_CLOCK_MONOTONIC = 2, // CLOCK_MONOTONIC, ns
	TARE_CLOCK_REALTIME = 3,
	TARE_CLOCK_DEVICE = 4, // of `device`
};
struct tare_trace_clock_pair {
	uint64_t head;
	uint64_t before;
	uint64_t value;
	uint64_t after;
	uint64_t device;
	uint64_t reserved[3];
};

// detail: 0 an instant, 1 begin, 2 end. flags: enum tare_trace_phase_source. With value 0 begin and
// end nest on their thread, and an end needs no name; else the end is that of the begin with the
// same value, source and (but for NVTX) domain, on whatever thread.
enum tare_trace_phase_source {
	TARE_PHASE_TARE = 0, // tare/phase.h
	TARE_PHASE_ITT = 1,
	TARE_PHASE_NVTX = 2,
};
struct tare_trace_phase {
	uint64_t head;
	uint64_t ticks;
	uint32_t name;   // string
	uint32_t domain; // string, 0: none
	uint64_t value;
	uint64_t reserved[4];
};

// Records of this track that found no room between two times.
struct tare_trace_loss {
	uint64_t head;
	uint64_t from, to;
	uint64_t records, commands;
	uint64_t reserved[3];
};

struct tare_trace_fork {
	uint64_t head;
	uint64_t ticks;
	uint64_t child;
	uint64_t reserved[5];
};

// --delay and --duration. detail: 1 recording begins, 0 it ends. Definitions are always recorded.
struct tare_trace_active {
	uint64_t head;
	uint64_t ticks;
	uint64_t reserved[6];
};

// What the driver did by itself with pages of memory that host and device share. detail: enum
// tare_trace_pages_what.
enum tare_trace_pages_what {
	TARE_PAGES_TO_DEVICE = 1, // moved: value is bytes, and so in the next two
	TARE_PAGES_FROM_DEVICE = 2,
	TARE_PAGES_BETWEEN = 3,       // from one device to another
	TARE_PAGES_HOST_FAULTS = 4,   // value: how many
	TARE_PAGES_DEVICE_FAULTS = 5, // a group of them: value: how many
	// pages went to and fro: value is the bytes concerned, and so in the next two
	TARE_PAGES_THRASHING = 6,
	TARE_PAGES_THROTTLING = 7, // faults were made to wait
	TARE_PAGES_REMOTE_MAP = 8, // mapped where they lie instead of being moved
};
struct tare_trace_pages {
	uint64_t head;
	uint32_t queue; // number of a queue that stands for this of the device
	uint32_t cause; // as the API numbers it; 0: not told
	uint64_t value;
	uint64_t start, end; // raw ticks of the device, as TIMES
	uint64_t address;
	uint64_t observed; // host ticks: it was over by then
	uint64_t reserved;
};

// What a driver did by itself within a call of a thread, as it told later. detail: the function
// that stands for it, whose role says what it is.
struct tare_trace_within {
	uint64_t head;
	uint64_t enter, exit; // host ticks, about: the driver has told them on a clock of its own
	uint32_t call_track;  // of the thread that was in the call
	uint32_t reserved32;
	uint64_t reserved[4];
};

// What one of several sub-devices did of a command that was given to all of them. It is written
// before the command's TIMES. detail: the number of the part, from 0. flags: how many parts there
// are.
struct tare_trace_part {
	uint64_t head;
	uint32_t command_track, command_number; // the command is (track, number)
	uint64_t start, end;                    // raw ticks of the command's device, as TIMES
	uint64_t active_start, active_end;      // a counter of its context's
	uint64_t observed;                      // host ticks: the command was complete by then
	uint64_t execution;                     // as in TIMES
};

// What the host's side of a transfer held. detail: enum tare_trace_contents_of.
enum tare_trace_contents_of {
	TARE_CONTENTS_WHOLE = 1,      // all bytes: `whole` and `sample`
	TARE_CONTENTS_SAMPLED = 2,    // a part of them: `sample` alone
	TARE_CONTENTS_SKIPPED = 3,    // hashing had taken its share of the run
	TARE_CONTENTS_UNREADABLE = 4, // the memory could not be read: `whole` is the errno
	// when it was complete nobody stood by, and the program may have changed them since
	TARE_CONTENTS_UNSEEN = 5,
	TARE_CONTENTS_NO_ROW = 6, // they are no plain row of bytes: a rectangle, an image
};
// flags of CONTENTS.
enum tare_trace_contents_flags {
	// of a read, at a wait after it: the program may have known of its end before
	TARE_CONTENTS_LATE = 1 << 0,
};
struct tare_trace_contents {
	uint64_t head;
	uint32_t command_track, command_number;
	uint64_t execution; // as in TIMES
	uint64_t whole;     // XXH3, 64 bits, of all bytes
	// of eight blocks of 4 KiB, evenly spread; of up to 32 KiB the same as `whole`
	uint64_t sample;
	uint64_t bytes;    // of the host's side
	uint64_t from, to; // host ticks when they were read
};

// What counters said of a launch: up to four values of it; a launch has several records.
// detail: the group of counters that were read together, from 0. flags: enum
// tare_trace_counted_flags.
enum tare_trace_counted_flags {
	TARE_COUNTED_REPLAYED = 1 << 0, // the launch was run more than once to count it
};
enum tare_trace_counter {
	TARE_TRACE_COUNTER_DURATION_NS = 1, // device time of the launch, in nanoseconds
	TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE =
	    2, // time in which a core had work, of the elapsed time; shares are per cent
	TARE_TRACE_COUNTER_ISSUE_SHARE =
	    3, // cycles in which an instruction was issued, of the active ones
	TARE_TRACE_COUNTER_OCCUPANCY_SHARE = 4, // warps resident, of the possible ones
	TARE_TRACE_COUNTER_ELIGIBLE_WARPS =
	    5, // ready to issue, in an active cycle of a scheduler; no share
	TARE_TRACE_COUNTER_INSTRUCTIONS = 6,      // executed by warps
	TARE_TRACE_COUNTER_LANE_INSTRUCTIONS = 7, // executed by threads
	TARE_TRACE_COUNTER_FLOP_FP16 =
	    8, // operations; a fused multiply-add is two; those of matrix engines are not in them
	TARE_TRACE_COUNTER_FLOP_FP32 = 9,  // the same
	TARE_TRACE_COUNTER_FLOP_FP64 = 10, // the same
	TARE_TRACE_COUNTER_PIPE_ALU_SHARE =
	    11, // integer and logic: of the active cycles, and so the next
	TARE_TRACE_COUNTER_PIPE_FMA_SHARE = 12,      // single precision
	TARE_TRACE_COUNTER_PIPE_FP64_SHARE = 13,     // double precision
	TARE_TRACE_COUNTER_PIPE_TENSOR_SHARE = 14,   // matrix engines
	TARE_TRACE_COUNTER_PIPE_SPECIAL_SHARE = 15,  // transcendental functions and conversions
	TARE_TRACE_COUNTER_PIPE_MEMORY_SHARE = 16,   // load and store units
	TARE_TRACE_COUNTER_L1_SHARE = 17,            // L1's data pipe, of its maximum
	TARE_TRACE_COUNTER_L1_BYTES = 18,            // between registers and L1 or shared memory
	TARE_TRACE_COUNTER_L1_HIT_SHARE = 19,        // of the looked-up sectors
	TARE_TRACE_COUNTER_SHARED_WAVEFRONTS = 20,   // passes through shared memory
	TARE_TRACE_COUNTER_L2_SHARE = 21,            // sectors served by L2, of its maximum
	TARE_TRACE_COUNTER_L1_READ_BYTES = 22,       // from L2 to L1
	TARE_TRACE_COUNTER_L1_WRITE_BYTES = 23,      // from L1 to L2
	TARE_TRACE_COUNTER_L2_BYTES = 24,            // all that L2 served
	TARE_TRACE_COUNTER_L2_MISS_BYTES = 25,       // of these, what was not in it
	TARE_TRACE_COUNTER_DEVICE_MEMORY_SHARE = 26, // of the memory's maximum rate
	TARE_TRACE_COUNTER_DEVICE_READ_BYTES = 27,   // from device memory to L2
	TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES = 28,  // from L2 to device memory
	TARE_TRACE_COUNTER_HOST_READ_BYTES = 29,     // from the host's memory
	TARE_TRACE_COUNTER_HOST_WRITE_BYTES = 30,    // to the host's memory
	TARE_TRACE_COUNTER_PEER_READ_BYTES = 31,     // from another device's memory
	TARE_TRACE_COUNTER_PEER_WRITE_BYTES = 32,    // to another device's memory
	TARE_TRACE_COUNTER_CORE_ACTIVE_LEAST = 33,   // busy cycles of the least busy core
	TARE_TRACE_COUNTER_CORE_ACTIVE_MEAN = 34,    // of the cores' mean
	TARE_TRACE_COUNTER_CORE_ACTIVE_MOST = 35,    // of the busiest core
	TARE_TRACE_COUNTER_L2_TO_L1_SHARE = 36,      // L2's way to the cores, of its maximum
	// from 1.11: the half of the single-precision pipe that does integer multiplications, too
	TARE_TRACE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE = 37,
	// from 1.11: no counter; the allocations that the launch's arguments point into
	TARE_TRACE_COUNTER_GIVEN_BYTES = 38,
	TARE_TRACE_COUNTER_LOCAL_READ_BYTES = 39,  // from 1.11: from local (shared) memory
	TARE_TRACE_COUNTER_LOCAL_WRITE_BYTES = 40, // from 1.11: to local (shared) memory
	// from 1.12, of the whole device: over PCIe, read by the device from the host or written to
	// it
	TARE_TRACE_COUNTER_PCIE_READ_BYTES = 41,
	TARE_TRACE_COUNTER_PCIE_WRITE_BYTES = 42,
	TARE_TRACE_COUNTER_NVLINK_RECEIVED_BYTES = 43, // from 1.12: over all its links
	TARE_TRACE_COUNTER_NVLINK_SENT_BYTES = 44,     // from 1.12: the same
	// from 1.12: instructions, of the most that the cores could issue in the elapsed time
	TARE_TRACE_COUNTER_INSTRUCTION_SHARE = 45,
	// from 1.12: time in which matrix engines work, of the elapsed time
	TARE_TRACE_COUNTER_MATRIX_SHARE = 46,
	TARE_TRACE_COUNTER_L1_TO_L2_SHARE = 47, // from 1.13: the cores' way to L2, of its maximum
	// from 1.13: what L2 looks up, of the most it can
	TARE_TRACE_COUNTER_L2_LOOKUP_SHARE = 48,
	// from 1.14: instructions by warps, NVIDIA's
	TARE_TRACE_COUNTER_INST_ALU = 64, // of the pipe of integers and logic
	TARE_TRACE_COUNTER_INST_FMA =
	    65, // of the pipes of single precision and of integer products
	TARE_TRACE_COUNTER_INST_FP64 = 66,    // of the pipe of double precision
	TARE_TRACE_COUNTER_INST_SPECIAL = 67, // of the pipe of special functions and conversions
	TARE_TRACE_COUNTER_INST_BRANCH_UNIT = 68, // of the unit of branches
	TARE_TRACE_COUNTER_INST_UNIFORM = 69,     // of the pipe of a warp's own registers
	TARE_TRACE_COUNTER_INST_MATRIX = 70,      // of matrix engines
	TARE_TRACE_COUNTER_BRANCHES = 71,         // that say where a warp goes on
	TARE_TRACE_COUNTER_BRANCHES_APART = 72,   // branches whose lanes went to several targets
	TARE_TRACE_COUNTER_LOADS_CONSTANT = 73,   // LDC
	TARE_TRACE_COUNTER_LOADS_GLOBAL = 74,     // LDG
	TARE_TRACE_COUNTER_STORES_GLOBAL = 75,    // STG
	TARE_TRACE_COUNTER_LOADS_SHARED = 76,     // LDS
	TARE_TRACE_COUNTER_STORES_SHARED = 77,    // STS
	TARE_TRACE_COUNTER_LOADS_LOCAL = 78,      // LDL
	TARE_TRACE_COUNTER_STORES_LOCAL = 79,     // STL
	TARE_TRACE_COUNTER_LOADS_MATRIX = 80,     // LDSM
	TARE_TRACE_COUNTER_COPIES_SHARED = 81,    // LDGSTS
	// from 1.14: cycles of warps in a state, by NVIDIA's names (src/blocks/cuda/stalls.def)
	TARE_TRACE_COUNTER_STATE_SELECTED = 96,
	TARE_TRACE_COUNTER_STATE_NOT_SELECTED = 97,
	TARE_TRACE_COUNTER_STATE_WAIT = 98,
	TARE_TRACE_COUNTER_STATE_LONG_SCOREBOARD = 99,
	TARE_TRACE_COUNTER_STATE_SHORT_SCOREBOARD = 100,
	TARE_TRACE_COUNTER_STATE_BARRIER = 101,
	TARE_TRACE_COUNTER_STATE_MEMBAR = 102,
	TARE_TRACE_COUNTER_STATE_LG_THROTTLE = 103,
	TARE_TRACE_COUNTER_STATE_MIO_THROTTLE = 104,
	TARE_TRACE_COUNTER_STATE_TEX_THROTTLE = 105,
	TARE_TRACE_COUNTER_STATE_MATH_PIPE_THROTTLE = 106,
	TARE_TRACE_COUNTER_STATE_BRANCH_RESOLVING = 107,
	TARE_TRACE_COUNTER_STATE_NO_INSTRUCTIONS = 108,
	TARE_TRACE_COUNTER_STATE_IMC_MISS = 109,
	TARE_TRACE_COUNTER_STATE_DISPATCH_STALL = 110,
	TARE_TRACE_COUNTER_STATE_DRAIN = 111,
	TARE_TRACE_COUNTER_STATE_SLEEPING = 112,
	TARE_TRACE_COUNTER_STATE_GMMA = 113,
	TARE_TRACE_COUNTER_STATE_WARPGROUP_ARRIVE = 114, // no chip has a counter of it
	TARE_TRACE_COUNTER_STATE_MISC = 115,
};
struct tare_trace_counted {
	uint64_t head;
	uint32_t command_track, command_number;
	uint64_t ticks;      // host ticks when they were read
	uint16_t counter[4]; // enum tare_trace_counter; 0: none
	double value[4];
};

// What counting did. detail: enum tare_trace_counting_what.
enum tare_trace_counting_what {
	// it was prepared for a context, or refused: `code` is the API's error, 0: none
	TARE_COUNTING_PREPARED = 1,
	TARE_COUNTING_ABSENT =
	    2, // the device has no such counter: `code` is the enum tare_trace_counter
	TARE_COUNTING_LEFT =
	    3, // a kernel's launch was left alone: `code` is enum tare_trace_counting_left
	TARE_COUNTING_LAUNCH = 4, // a launch was counted: `code` is the API's error, 0: none
	TARE_COUNTING_BEGUN = 5,  // a launch is being counted: its values come later
};
enum tare_trace_counting_left {
	TARE_LEFT_CAPTURED = 1,    // the launch goes into a graph
	TARE_LEFT_COOPERATIVE = 2, // its groups wait for each other
	TARE_LEFT_SHARED =
	    3, // another launch of the process came between, and its values were dropped
	TARE_LEFT_OWN = 4, // the program counts by itself: nothing is counted from then on
};
struct tare_trace_counting {
	uint64_t head;
	uint32_t command_track, command_number; // of LAUNCH and BEGUN; else 0
	// kernel, of LEFT; context, of PREPARED; from 1.11 of LAUNCH which graph, from 1; 0: none
	uint64_t object;
	uint64_t from, to; // host ticks: what it took of the program's thread
	uint32_t code;
	uint32_t group;     // of LAUNCH; of PREPARED how many there are
	uint32_t passes;    // of LAUNCH: how often the launch was run
	uint32_t text;      // string: of PREPARED the chip, or the function that failed; 0: none
	uint64_t execution; // of LAUNCH: of the list that it is in, as in TIMES; 0: of none
};

// What counters said of a whole device from one moment to another, whatever ran there: up to four
// values of a sample; a sample has several records with the same `from`. detail: the device, as its
// API numbers them.
struct tare_trace_sampled {
	uint64_t head;
	uint64_t from, to;   // of the device's clock, in nanoseconds
	uint16_t counter[4]; // enum tare_trace_counter; 0: none
	double value[4];
};

// What sampling a device did. detail: enum tare_trace_sampling_what.
enum tare_trace_sampling_what {
	// it was prepared, or refused: `code` is the API's error, 0: none; `count` is the enum
	// tare_trace_api that samples, 0: CUDA
	TARE_SAMPLING_PREPARED = 1,
	TARE_SAMPLING_ABSENT =
	    2, // the device has no such counter: `code` is enum tare_trace_counter
	// its clock stood at `device_ns` at some moment from `from` to `to`
	TARE_SAMPLING_CLOCK = 3,
	TARE_SAMPLING_LOST = 4, // there was no room for samples: `count` of them, 0: not known
	// it ended: `count` samples were taken; `code` is the API's error, 0: none
	TARE_SAMPLING_ENDED = 5,
};
struct tare_trace_sampling {
	uint64_t head;
	uint64_t from, to; // host ticks
	uint64_t device_ns;
	uint64_t count;
	uint64_t cpu_ns; // of ENDED: CPU time that reading the samples took
	uint32_t code;
	uint32_t device;      // as its API numbers them
	uint32_t interval_ns; // of PREPARED
	uint32_t text;        // 0
};

#ifndef __cplusplus
_Static_assert(sizeof(struct tare_trace_header) <= TARE_TRACE_HEADER_BYTES, "one page");
#define TARE_TRACE_CHECK(name)                                                                     \
	_Static_assert(sizeof(struct name) == TARE_TRACE_RECORD_BYTES, #name " is one record")
TARE_TRACE_CHECK(tare_trace_window);
TARE_TRACE_CHECK(tare_trace_string);
TARE_TRACE_CHECK(tare_trace_track_record);
TARE_TRACE_CHECK(tare_trace_function);
TARE_TRACE_CHECK(tare_trace_object);
TARE_TRACE_CHECK(tare_trace_fact_record);
TARE_TRACE_CHECK(tare_trace_shape);
TARE_TRACE_CHECK(tare_trace_change_record);
TARE_TRACE_CHECK(tare_trace_stack);
TARE_TRACE_CHECK(tare_trace_module);
TARE_TRACE_CHECK(tare_trace_node);
TARE_TRACE_CHECK(tare_trace_site);
TARE_TRACE_CHECK(tare_trace_call);
TARE_TRACE_CHECK(tare_trace_polled);
TARE_TRACE_CHECK(tare_trace_command);
TARE_TRACE_CHECK(tare_trace_call_end);
TARE_TRACE_CHECK(tare_trace_transfer);
TARE_TRACE_CHECK(tare_trace_drawn);
TARE_TRACE_CHECK(tare_trace_peer);
TARE_TRACE_CHECK(tare_trace_link);
TARE_TRACE_CHECK(tare_trace_depends);
TARE_TRACE_CHECK(tare_trace_times);
TARE_TRACE_CHECK(tare_trace_untimed_record);
TARE_TRACE_CHECK(tare_trace_execute);
TARE_TRACE_CHECK(tare_trace_callback);
TARE_TRACE_CHECK(tare_trace_cpu_time);
TARE_TRACE_CHECK(tare_trace_clock_pair);
TARE_TRACE_CHECK(tare_trace_phase);
TARE_TRACE_CHECK(tare_trace_loss);
TARE_TRACE_CHECK(tare_trace_fork);
TARE_TRACE_CHECK(tare_trace_active);
TARE_TRACE_CHECK(tare_trace_pages);
TARE_TRACE_CHECK(tare_trace_part);
TARE_TRACE_CHECK(tare_trace_contents);
TARE_TRACE_CHECK(tare_trace_counted);
TARE_TRACE_CHECK(tare_trace_counting);
TARE_TRACE_CHECK(tare_trace_sampled);
TARE_TRACE_CHECK(tare_trace_sampling);
#undef TARE_TRACE_CHECK
#endif
#endif
