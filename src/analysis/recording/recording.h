// SPDX-License-Identifier: Apache-2.0
// A trace in memory, with handles resolved, every time on the one host clock and nothing
// interpreted: what the ledger, the tables and the exports are computed from. Tests build one by
// hand, so every member is plain data. All times are nanoseconds of CLOCK_MONOTONIC_RAW (times of
// another process of the same machine are comparable), host and device alike: device ticks were
// mapped once, when loading, and `residual_ns` of the device's clock in that process is the error.
#pragma once
#include "analysis/recording/commands.h"
#include "base/error.h"
#include "base/other_api.h"
#include "model/occupancy.h"
#include "tare/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_recorded_process {
	const char *executable, *command_line; // "app --n 3"
	const char *host_name;
	uint64_t pid, parent_pid;
	uint64_t rank, rank_count; // TARE_TRACE_NO_RANK: none
	const char *rank_from;
	uint64_t apis;            // bits 1 << enum tare_trace_api: those that were recorded
	uint32_t flags;           // enum tare_trace_flags
	uint32_t state;           // enum tare_trace_state
	uint32_t stop_reason;     // enum tare_trace_stop
	int64_t start_ns, end_ns; // of the process where known, else of its recording
	bool came_to_exit;        // end_ns is its exit, else the last sign of life
	int64_t recorded_from_ns; // when the layer was loaded
	int64_t host_residual_ns; // of host ticks against CLOCK_MONOTONIC_RAW
	uint64_t cpu_ns;          // all its threads, to the last sign of life
	uint64_t helper_cpu_ns;   // of these, the recorder's own thread
	uint64_t lost_records, lost_commands, recycled_records, recycled_commands;
	uint64_t passed_calls, stalls;
	int64_t stalled_ns;
	uint64_t damaged_windows, unknown_records;
	const char *problem; // of its file, NULL: none
	int64_t self_cost_ps, self_call_cost_ps;
	int64_t self_untimed_cost_ps; // as self_cost_ps, of a command without times; 0: not known
	// the interval of the one and of the other; high 0: not known
	int64_t self_low_ps[2], self_high_ps[2];
	uint64_t driver_rounds;                    // that these are medians of; 0: not known
	int64_t driver_ps[TARE_DRIVER_COST_COUNT]; // what the driver takes for what is changed
	int64_t driver_low_ps[TARE_DRIVER_COST_COUNT], driver_high_ps[TARE_DRIVER_COST_COUNT];
	uint64_t execute_rounds;                     // that these are medians of; 0: not known
	int64_t execute_ps[TARE_EXECUTE_COST_COUNT]; // a list that times are read behind
	int64_t execute_low_ps[TARE_EXECUTE_COST_COUNT], execute_high_ps[TARE_EXECUTE_COST_COUNT];
	int64_t calibration_ns; // that measuring all this took
	int64_t setup_ns;       // that beginning and ending the recording took
	// first command that is not of the sample; TARE_NO_TIME: none
	int64_t sampled_from_ns;
	int64_t self_stack_cost_ps; // on top, of a command or call whose stack is known
	int64_t harvest_ns;         // its threads spent asking the driver for device times
	int64_t harvest_cost_ps;    // of these, a command
	uint64_t calls_seen;
};

struct tare_recorded_thread {
	uint32_t process;
	uint64_t tid;
	uint32_t track;
	bool helper;
	const char *name;
	// Its CPU samples: [first_sample, first_sample + sample_count) of `cpu_samples`.
	size_t first_sample, sample_count;
	// The call in which it was when the process ended, if it may wait.
	uint32_t unfinished_function; // TARE_NO_INDEX: none
	int64_t unfinished_since_ns;
};

struct tare_cpu_sample {
	int64_t at_ns;
	int64_t cpu_ns; // CPU time of the thread since it began
};

// How the device's stamps were put on the host clock.
enum tare_clock_source {
	TARE_CLOCK_NONE, // no stamp could be mapped
	// the device counts the host's raw clock: every stamp fits between the host's readings
	TARE_CLOCK_SAME,
	TARE_CLOCK_PAIRS, // readings of both clocks (clGetDeviceAndHostTimer)
	// bounded by the calls: queued while the enqueue ran, ended before it was seen
	TARE_CLOCK_CAUSAL,
};

// By what a device was found to be the same as an earlier one.
enum tare_same_by {
	TARE_SAME_BY_NOTHING, // it is the first
	TARE_SAME_BY_UUID,
	TARE_SAME_BY_PCI,  // its place on the bus
	TARE_SAME_BY_NAME, // a name that the platform, or each of two APIs, has once
};

// What a driver did by itself with pages of managed memory, beside moving them.
struct tare_recorded_faults {
	bool known;
	uint64_t host_faults, device_faults;                       // of device_groups groups
	uint64_t device_groups, thrashing, throttled, remote_maps; // how often
	int64_t throttled_ns;
};

// A device as one process sees it; `same_as` joins those of several processes, platforms
// and APIs.
struct tare_recorded_device {
	uint32_t process;
	uint32_t same_as; // lowest index of the same device; its own when it is the first
	enum tare_same_by same_by;
	uint32_t maybe_same; // 1 + index of a device of another API: whether it is the same is not
	                     // known; 0: none
	uint32_t api;        // enum tare_trace_api by which it is seen
	// 1 + index of the device that it is a part of; 0: of none, or not told
	uint32_t sub_device_of;
	uint32_t sub_device;  // its number among that one's sub-devices
	uint32_t sub_devices; // that are told to be parts of it
	const char *name, *platform, *vendor, *driver_version;
	uint64_t type; // CL_DEVICE_TYPE bits
	uint64_t compute_units, clock_hz, memory_bytes, local_bytes, group_limit; // 0: not told
	bool unified_memory;
	uint64_t copy_engines;              // as the driver counts them; 0: none, or not told
	struct tare_occupancy_unit unit;    // what a compute unit holds
	struct tare_recorded_faults faults; // of managed memory, in that process
	const char *uuid, *pci;             // "": not told
	enum tare_clock_source clock_source;
	int64_t residual_ns; // of the mapping, host ticks included; TARE_NO_TIME: no mapping
	// of the device's clock against the host's: with 3 it gains 3 µs a second
	double drift_ppm;
	uint64_t clock_pairs; // or brackets, that it rests on
	// commands whose stamps contradict causality by more than the residual
	uint64_t contradictions;
};

struct tare_recorded_queue {
	uint32_t process, device; // index; TARE_NO_INDEX
	uint32_t api;             // enum tare_trace_api
	uint32_t number;          // in its process
	uint64_t properties;      // as made
	bool out_of_order;        // the API does not say that its commands run one after another
	bool one_engine;          // all its commands go to one engine of the device
	// CUDA's legacy default stream waits for all blocking streams of its context, and they for
	// it.
	bool legacy, blocking;
	bool profiling;
	bool profiling_added; // by the recorder
	int32_t priority;     // less is more urgent; 0: the usual one, or not told
	int64_t created_ns;
};

struct tare_recorded_kernel { // one a (process, program, name)
	uint32_t process;
	uint32_t program; // index into programs; TARE_NO_INDEX
	const char *name;
	const char
	    *symbol; // as the API has it, of CUDA: mangled; of several of one name, the first
};

// What a device says about a kernel.
struct tare_recorded_kernel_fact {
	uint32_t kernel, device;
	uint64_t group_limit, private_bytes, preferred_multiple, sub_group; // 0: not told
	uint64_t local_bytes, spill_bytes;                                  // UINT64_MAX: not told
	// the kernel's own, without what a launch asks for; UINT64_MAX: not told
	uint64_t fixed_local_bytes;
	uint64_t registers; // of a work-item; 0: not told
	uint64_t compiled_group;
};

struct tare_recorded_program {
	uint32_t process;
	uint64_t source_hash, source_bytes; // 0: not told
	const char *build_options;
	int64_t build_error; // 0: none
	bool native;         // made from what a driver had built before: a binary
};

struct tare_recorded_memory {
	uint32_t process;
	uint32_t kind;  // enum tare_trace_memory
	uint64_t flags; // the API's
	uint64_t bytes;
	uint32_t parent;  // memory of which it is a part; TARE_NO_INDEX
	uint32_t context; // number of the context in the process
	int64_t created_ns;
	int64_t released_ns; // TARE_NO_TIME: never, or not seen
};

struct tare_recorded_shape {
	uint32_t dimensions;
	uint64_t global[3];
	uint32_t local[3];    // 0: left to the runtime
	uint32_t local_bytes; // local memory of a group that the launch asks for
	uint8_t cluster[3];   // groups of a cluster; 0: none
};

// A command list, from when it was made or last reset. What is appended to it is a call.
struct tare_recorded_list {
	uint32_t process;
	uint32_t number;     // in its process, counted with the queues
	uint64_t properties; // as made
	int64_t created_ns;
	uint32_t commands; // appended
	uint32_t executions;
};

struct tare_recorded_execution {
	uint32_t command; // that executes
	uint32_t list;
	// of CUDA: which of the graphs that were made, from 1; 0: not known
	uint32_t graph;
	uint64_t number; // of the list's executions, from 1
	uint64_t nodes;  // commands that it runs
	uint32_t runs;   // of these, how many are commands of the recording
	// the first command of the call, which may execute several lists; it has the time
	uint32_t call;
	uint64_t shares; // of the call's first execution: runs of the whole call, and each command
	                 // that stands for more
};

// A list of commands that a command waits for ends with one that has `last`.
struct tare_recorded_wait {
	// 0x7fffffff: an event that is no command's (a user event), or not seen
	uint32_t command : 31;
	uint32_t last : 1;
};

// A command of a random sample. In the order of `command`.
struct tare_recorded_draw {
	uint32_t command;
	uint32_t chance; // the probability that it was taken, in parts of 2^32
};

// Two devices that a copy went between, in that order; and what lies between them.
#define TARE_MOST_LINKS 4096
struct tare_recorded_link {
	uint32_t source, destination; // index into devices
	uint8_t kind;                 // enum tare_trace_link_kind; 0: not told
	uint64_t count;               // of NVLink
};

// A copy between devices. In the order of `command`.
struct tare_recorded_peer {
	uint32_t command;
	uint32_t link; // index into links
};

// What a sub-device did of a command that was given to its whole device. Of a command all parts are
// known, or none. In the order of `command`.
struct tare_recorded_part {
	int64_t start_ns, end_ns; // within the command's times
	uint32_t command;
	uint32_t device; // the sub-device
};

// Of a call that appends to a list, beside enum tare_trace_call_flags: the command has times, by an
// event of the recorder's or another; it is a kernel or a fill.
enum { TARE_CALL_TIMED = 1 << 5, TARE_CALL_OWN_EVENT = 1 << 6, TARE_CALL_LIKE_KERNEL = 1 << 7 };

// Any call but those of commands, in the order of enter_ns; of polled ones, the row of them.
struct tare_recorded_call {
	int64_t enter_ns, exit_ns;
	uint64_t count;    // 1, or the calls of a row
	int64_t inside_ns; // exit - enter, or in the calls of the row
	uint64_t bytes;
	uint32_t thread;
	uint32_t object; // queue for waits, flushes and refused enqueues, program for
	                 // builds, memory for allocations; TARE_NO_INDEX
	uint32_t device; // that it waits for or is about, where known; TARE_NO_INDEX
	uint16_t function;
	uint8_t role;  // enum tare_trace_role
	uint8_t flags; // enum tare_trace_call_flags, and those above
	int32_t result;
	uint32_t stack; // as a command's; of polled calls TARE_NO_INDEX
};

// A phase that the program, or a library of it, marks: ITT, NVTX or tare's own two calls. In the
// order of from_ns, a phase before those that it contains.
struct tare_recorded_phase {
	// equal for an instant; the end of the recording where `unended`
	int64_t from_ns, to_ns;
	uint32_t thread; // that began it
	uint32_t parent; // that it lies in, on the same thread; TARE_NO_INDEX. Ranges neither
	                 // lie in one nor contain one
	uint32_t depth;  // 0: the outermost
	const char *name, *domain; // domain "": none
	uint8_t source;            // enum tare_trace_phase_source
	bool instant;
	bool unended; // its end was never seen
	bool range;   // begun and ended by an identity, not nested on a thread
};

// What was loaded in a process, so that addresses can be turned into functions.
struct tare_recorded_module {
	uint32_t process;
	uint64_t from, to;    // addresses of its code
	uint64_t bias;        // address minus the address in the file
	int64_t seen_ns;      // it was there by then
	const char *path;     // "" not known
	const char *build_id; // hexadecimal; "": none
};

// A call stack that commands and calls name: frames[first_frame + i], the innermost first, which
// are return addresses. The recorder's own frames are left out.
struct tare_recorded_stack {
	uint32_t process;
	uint32_t first_frame, frame_count;
	int64_t seen_ns; // modules that were seen later are none of its
};

// With TARE_TRACE_FRAME_TEXT a frame is this | an index of scripts: a line of a script.
struct tare_recorded_script {
	const char *text; // "FILE\nFUNCTION"
	uint32_t line;    // 0: not known
};

// What a kernel may write: a memory object that was its argument at some time. Told of OpenCL's
// kernels where contents were asked for.
struct tare_recorded_argument {
	uint32_t kernel, memory;
};

// Where a write, read or unmap took place: equal for the same part of the memory object, if object
// and amount of the commands are equal, too (of an unmap: and the host's address). In the order of
// `command`.
struct tare_recorded_place {
	uint32_t command;
	uint32_t identity; // of the part; a hash
	// where the part begins in the object; UINT64_MAX: it is no plain row of bytes
	uint64_t offset;
	// what is known of its bytes: enum tare_trace_contents_of; 0: nothing
	uint8_t contents;
	uint8_t contents_flags; // enum tare_trace_contents_flags
	uint64_t whole, sample; // hashes of them, as far as `contents` says that they are
	int64_t from_ns, to_ns; // when the recorder hashed them, in the program's thread
};

// A value that counters have of a launch.
struct tare_recorded_count {
	uint32_t kernel;  // TARE_NO_INDEX: not known, or
	uint32_t graph;   // was launched, and counted as one: as in executions; 0: none
	uint32_t launch;  // of all that were counted, from 0
	uint32_t command; // TARE_NO_INDEX: its values did not come with it, and it is not known
	uint16_t counter; // enum tare_trace_counter
	uint16_t group;   // of counters that were read together
	bool replayed;
	double value;
};

// What counting did: a TARE_TRACE_COUNTING record.
struct tare_recorded_counting {
	uint32_t process, kernel; // TARE_NO_INDEX: none
	uint32_t graph;           // of a graph's launch; else 0
	uint16_t what;            // enum tare_trace_counting_what
	uint32_t code, group, passes;
	int64_t ns;       // of the program's thread
	const char *text; // "": none
};

struct tare_recorded_callback {
	int64_t enter_ns, exit_ns;
	uint32_t thread;
	uint16_t function;
};

struct tare_recorded_function {
	const char *name; // "clFinish"
	uint32_t api, role;
	bool starts; // what was enqueued before, though its role does not say so
};

struct tare_recorded_change {
	uint32_t process;
	uint32_t change;   // enum tare_trace_change
	uint64_t count;    // objects that it was done to
	uint64_t commands; // commands concerned, where it is one a command (events), and lists that
	                   // ran behind others; else 0
	uint64_t device_ns;        // that these lists took of the device; else 0
	int64_t first_ns;          // when it was first done
	enum tare_trace_front why; // of TARE_CHANGE_FRONT
};

// A variable of a process's environment that an API's driver read when it began.
struct tare_recorded_variable {
	uint32_t process;
	const char *text; // "NAME=VALUE"
};

// Why a process's events are missing.
enum tare_loss_why {
	TARE_LOSS_NO_ROOM,  // there was no room for some records of the thread
	TARE_LOSS_STOPPED,  // the recorder gave up, see stop_reason; to the end
	TARE_LOSS_RECYCLED, // newer records took their place (--keep newest)
	TARE_LOSS_INACTIVE, // recording was not wanted (--delay, --duration)
	TARE_LOSS_NO_SIGN,  // no call was missed, but whether the process lived is not known
};

// A time in which events of a process, or of one thread, were not recorded. docs/ledger.md says how
// its ends are found.
struct tare_recorded_loss {
	uint32_t process, thread; // thread TARE_NO_INDEX: all of the process
	int64_t from_ns, to_ns;
	uint64_t records, commands; // where told
	enum tare_loss_why why;
};

// What recording added to the whole program, from pairs of runs with and without it (`tare record
// --calibrate`): the median over the pairs, the smallest and the largest.
struct tare_recorded_comparison {
	uint32_t pairs;         // 0: there were none
	int64_t native_wall_ns; // without recording, the median
	int64_t wall_ns, wall_low_ns, wall_high_ns;
	int64_t cpu_ns, cpu_low_ns, cpu_high_ns; // of all its processes
};

// What record.json says of the layer where a process was recorded.
#define TARE_LAYER_LOADED "loaded"

// All of a trace. Every array belongs to the recording, and so do the texts.
struct tare_recording {
	const char *path, *name;   // of the folder; name without ".tare"
	const char *program;       // command line as `tare record` was given it; "" not known
	int exit_status;           // -1: not known
	int exit_signal;           // 0: none
	bool complete;             // record.json says that the program has ended
	int64_t start_ns, end_ns;  // the run: program started to program ended
	int64_t start_realtime_ns; // since 1970; 0: not known
	int64_t user_cpu_ns, system_cpu_ns; // of all processes waited for; TARE_NO_TIME
	uint32_t host_units;                // logical CPUs; 0: not known
	const char *layer;   // what became of the layer: TARE_LAYER_LOADED, or a sentence
	const char *problem; // of the folder, NULL: none
	struct tare_recorded_comparison comparison; // with runs that were not recorded
	// APIs whose libraries the program had and that are not recorded
	struct tare_other_uses others;

	uint64_t apis; // bits 1 << enum tare_trace_api: of its devices
	struct tare_recorded_process *processes;
	struct tare_recorded_thread *threads;
	struct tare_recorded_device *devices;
	struct tare_recorded_queue *queues;
	struct tare_recorded_kernel *kernels;
	struct tare_recorded_kernel_fact *kernel_facts;
	struct tare_recorded_program *programs;
	struct tare_recorded_memory *memories;
	struct tare_recorded_shape *shapes;
	struct tare_commands commands; // command_count of them: TARE_COMMAND
	struct tare_recorded_wait *waits;
	struct tare_recorded_call *calls;
	struct tare_recorded_callback *callbacks;
	struct tare_recorded_function *functions;
	struct tare_recorded_change *changes;
	struct tare_recorded_variable *variables;
	struct tare_recorded_loss *losses;
	struct tare_cpu_sample *cpu_samples;
	struct tare_recorded_phase *phases;
	struct tare_recorded_module *modules;
	struct tare_recorded_stack *stacks;
	uint64_t *frames;
	struct tare_recorded_script *scripts; // each once a file
	struct tare_recorded_place *places;
	struct tare_recorded_part *parts;
	struct tare_recorded_draw *draws;
	struct tare_recorded_peer *peers;
	struct tare_recorded_link *links; // of which there are copies
	struct tare_recorded_count *counts;
	struct tare_recorded_counting *countings;
	struct tare_recorded_argument *arguments;
	struct tare_recorded_list *lists;
	struct tare_recorded_execution *executions;
	size_t process_count, thread_count, device_count, queue_count, kernel_count,
	    kernel_fact_count, program_count, memory_count, shape_count, command_count, wait_count,
	    call_count, callback_count, function_count, change_count, loss_count, cpu_sample_count,
	    phase_count, module_count, stack_count, frame_count, script_count, place_count,
	    argument_count, list_count, execution_count, part_count, draw_count, peer_count,
	    link_count, variable_count, count_count, counting_count;
	uint64_t failed_commands; // enqueues that the API refused; their calls are in `calls`
	// records that name an object, queue or event that was not found
	uint64_t unresolved;
	void *storage; // private to loading
};

struct tare_run_span {
	int64_t from_ns, to_ns; // to_ns itself is not part of it
};

// What a report is about.
struct tare_view {
	int64_t from_ns, to_ns; // the part of the run, absolute
	uint32_t process;       // TARE_NO_INDEX: all
	uint32_t device;        // a `same_as` index; TARE_NO_INDEX: all
	const char *kernel;     // a shell pattern that kernels' names match; NULL: all
	// only these parts of it: in order, disjoint, within from_ns and
	const struct tare_run_span *spans;
	size_t span_count; // to_ns, not empty; NULL and 0: all of it
	const char *phase; // the pattern of phases that the spans come from; NULL: none
};

// Loads a trace directory. Returns 0 and *recording, or a negative errno with a sentence: what
// tare_trace_open says, -ENOMEM. A trace without any process file is loaded (record.json alone
// tells why); one with damage is loaded as far as it goes.
int tare_recording_load(const char *path, struct tare_recording **recording,
                        struct tare_error *error);
// The same, and says now and then how much has been read, from 0 to 1. `told` may be NULL.
struct tare_recording_told {
	void (*tell)(void *context, double part);
	void *context;
};
int tare_recording_load_telling(const char *path, const struct tare_recording_told *told,
                                struct tare_recording **recording, struct tare_error *error);
// Accepts NULL.
void tare_recording_free(struct tare_recording *recording);

// Everything.
struct tare_view tare_view_all(const struct tare_recording *recording);
// Whether a process, a device (any process's) belongs to the view.
bool tare_view_has_process(const struct tare_view *view, uint32_t process);
bool tare_view_has_device(const struct tare_recording *recording, const struct tare_view *view,
                          uint32_t device);
// Whether a moment belongs to the view. One beyond the run does when the run's first or last moment
// does: a device's clock may put a command there. A command belongs to the view in which it starts
// (without times: was enqueued), a call to the one in which it was entered.
bool tare_view_has_moment(const struct tare_recording *recording, const struct tare_view *view,
                          int64_t at_ns);
// How long the view is: its spans together. How much of [from_ns, to_ns) lies within it; takes time
// in proportion to the spans in there, beside a search.
int64_t tare_view_ns(const struct tare_view *view);
int64_t tare_view_overlap_ns(const struct tare_view *view, int64_t from_ns, int64_t to_ns);
// Cuts an interval into the parts that lie within the view, one a call: false when none is left.
//     for (int64_t at_ns = from_ns; tare_view_next(view, &at_ns, to_ns, &piece);)
bool tare_view_next(const struct tare_view *view, int64_t *at_ns, int64_t to_ns,
                    struct tare_run_span *piece);

// The probability with which commands[command] was given device times; 1: chance had no part in it.
double tare_command_chance(const struct tare_recording *recording, size_t command);
// Between which devices a command copies; NULL: it is no copy between two.
const struct tare_recorded_link *tare_command_link(const struct tare_recording *recording,
                                                   size_t command);

// The device of a command's queue as `same_as`; TARE_NO_INDEX.
static inline uint32_t tare_command_device(const struct tare_recording *recording,
                                           const struct tare_recorded_command *command)
{
	uint32_t device = TARE_NO_INDEX;

	if (command->queue != TARE_NO_INDEX)
		device = recording->queues[command->queue].device;
	return device == TARE_NO_INDEX ? device : recording->devices[device].same_as;
}

// Whether a command belongs to the view, whatever the time: its process, its device and, of a
// kernel, its name do.
bool tare_view_wants_kernel(const struct tare_recording *recording, const struct tare_view *view,
                            uint32_t kernel);
static inline bool tare_view_wants_command(const struct tare_recording *recording,
                                           const struct tare_view *view,
                                           const struct tare_recorded_command *command)
{
	return (view->process == TARE_NO_INDEX ||
	        view->process == recording->threads[command->thread].process) &&
	       (view->device == TARE_NO_INDEX ||
	        view->device == tare_command_device(recording, command)) &&
	       (!view->kernel || command->kind != TARE_KIND_KERNEL ||
	        tare_view_wants_kernel(recording, view, command->object));
}
// Whether it or its call overlaps the time of the view, too. Intervals that only touch do not
// overlap, but a moment at the view's start belongs to it.
bool tare_view_parts_overlap(const struct tare_view *view, int64_t from_ns, int64_t to_ns);
static inline bool tare_view_overlaps(const struct tare_view *view, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		to_ns = from_ns < INT64_MAX ? from_ns + 1 : from_ns;
	if (view->spans)
		return tare_view_parts_overlap(view, from_ns, to_ns);
	return (view->from_ns > from_ns ? view->from_ns : from_ns) <
	       (view->to_ns < to_ns ? view->to_ns : to_ns);
}
static inline bool tare_view_reaches_command(const struct tare_view *view,
                                             const struct tare_recorded_command *command)
{
	return tare_view_overlaps(view, command->enter_ns, command->exit_ns) ||
	       (command->start_ns != TARE_NO_TIME &&
	        tare_view_overlaps(view, command->start_ns, command->end_ns));
}
static inline bool tare_view_has_command(const struct tare_recording *recording,
                                         const struct tare_view *view,
                                         const struct tare_recorded_command *command)
{
	return tare_view_wants_command(recording, view, command) &&
	       tare_view_reaches_command(view, command);
}
