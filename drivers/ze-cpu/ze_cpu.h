// SPDX-License-Identifier: Apache-2.0
// A Level Zero driver whose device is this machine's CPU: what its files share.
//
//   device/      what there is: driver, device, context, metric groups; entries.h has a row for
//                every entry point of the specification, tables.c hands them to the loader
//   memory/      allocations and images
//   list/        what is appended to lists, and queues; newer.c has the entry points after 1.4
//   sync/        events, pools, fences
//   run/         the real layer: data moves, kernels run
//   scripted/    the modelled layer: what the stamps are under a script
//   module/      modules and programs, compiled by the OpenCL CPU device, opened past its loader
//   kernel/      kernels, the threads that run them, and what happens when one faults
//   spirv/       SPIR-V changed into what that device takes
//
// An entry point zeX is a function cpu_zeX; one that no file defines is a NULL in its table, which
// the loader answers with ZE_RESULT_ERROR_UNSUPPORTED_FEATURE. Handles are pointers to the structs
// below. Nothing here prints (but messages under ZE_CPU_LOG=1, cpu_log) or exits.
//
// Two layers run the same commands. Each queue (a command queue or an immediate list) has a FIFO of
// runs in each layer. In the real layer a thread of the queue's own takes them in order (or one
// that waits and has nothing better to do): it waits for a run's events, does its work, and signals
// or resets. The modelled layer, only there under a script, does the same in the model's time,
// which is exact whatever the threads do; a run's stamps are then the model's. A run, an event and
// a fence are done for the program when they are in both.
#pragma once
#include "backend/levelzero/newer.h"
#include "base/error.h"
#include "model/engine/engine.h"
#include "model/script/script.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

// ---- entry points: all are declared, those that are written are defined (see entries.h)
#include "device/entries.h"

// ---- what there is (driver.c, device.c, context.c)

#define CPU_GROUPS 8
#define CPU_IMAGE_SIDE 16384       // pixels, at most
#define CPU_FILL_PATTERN_BYTES 128 // the longest

// A queue group and its engines.
struct cpu_group {
	bool compute, copy;
	uint32_t engine_count;
	uint32_t first_engine; // index into the device's engines
};

struct cpu_engine {
	bool busy; // a command runs on it; under work_lock
};

#define CPU_SUB_DEVICES 4

// There is one of each: the driver, and its one device; sub-devices as the script says.
struct _ze_driver_handle_t {
	struct _ze_device_handle_t *device;
};

struct _ze_device_handle_t {
	// of a sub-device, which has copies of what is below; else NULL
	struct _ze_device_handle_t *root;
	uint32_t number;           // a sub-device's
	struct tare_script script; // what was told by ZE_CPU_SCRIPT; or what this CPU is
	bool scripted;             // stamps are the model's
	struct cpu_group groups[CPU_GROUPS];
	uint32_t group_count;
	struct cpu_engine engines[TARE_SCRIPT_ENGINES];
	uint32_t engine_count;
	struct tare_host_time started; // time 0 of model and clocks
	bool lost;                     // the script said so; under work_lock
};

extern struct _ze_driver_handle_t cpu_driver;
extern struct _ze_device_handle_t cpu_device;
extern struct _ze_device_handle_t cpu_sub_devices[CPU_SUB_DEVICES];
extern uint32_t cpu_sub_device_count;

struct _ze_context_handle_t {
	struct _ze_driver_handle_t *driver;
};

// Reads ZE_CPU_SCRIPT and this machine, once, at zeInit. A script that cannot be used (no file, a
// line that does not parse, engines that no Level Zero device can have, two timers of different
// rates) is written to standard error in one sentence, and zeInit answers
// ZE_RESULT_ERROR_UNINITIALIZED.
ze_result_t cpu_device_start(void);

// One line on standard error with ZE_CPU_LOG=1 in the environment; nothing without.
void cpu_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- clocks (device.c). Both counters have the script's rate and their own valid bits.

// Nanoseconds of CLOCK_MONOTONIC_RAW as what a counter shows then. Unscripted 1 tick is 1 ns.
uint64_t cpu_global_ticks(int64_t host_ns); // zeDeviceGetGlobalTimestamps, WriteGlobalTimestamp
uint64_t cpu_kernel_ticks(int64_t host_ns); // stamps of events
// The same of the model's time; only under a script.
uint64_t cpu_global_ticks_ps(int64_t model_ps);
uint64_t cpu_kernel_ticks_ps(int64_t model_ps);

// ---- memory (memory.c)

struct cpu_allocation {
	char *base;
	size_t bytes;
	ze_memory_type_t type; // UNKNOWN: not from this driver
	ze_context_handle_t context;
	uint64_t id;
	// SHARED under a script with `migrate`; see scripted_pages.c
	struct cpu_pages *pages;
};

// What the address lies in. type is ZE_MEMORY_TYPE_UNKNOWN where it is none of ours. Any thread.
struct cpu_allocation cpu_allocation_of(const void *at);
// The kind of memory as the script calls it: heap memory is PAGEABLE, zeMemAllocHost PINNED.
enum tare_place cpu_place_of(const void *at);

// ---- events (pool.c, event.c, event_counter.c)

struct cpu_stamp {
	int64_t start_ps, end_ps; // scripted: the model's
	// end of the context stamps; end_ps but under `stamps active`
	int64_t leave_ps;
	// scripted: number of the queue that signalled; 0: the host
	uint64_t queue;
	// scripted: on so many sub-devices; 0 and 1: it is one result
	uint32_t parts;
	// unscripted: the host's, also scripted for mapped timestamps
	int64_t start_ns, end_ns;
	bool known; // false: signalled by the host, or by a signal command
	bool none;  // of an event that was not signalled when it was queried
};

struct _ze_event_pool_handle_t {
	ze_context_handle_t context;
	ze_event_pool_flags_t flags;
	uint32_t count;
	struct _ze_event_handle_t **events; // by index; NULL where none was created
	uint32_t references;                // the handle's own, one an event, one a second opening
	// flags of events that count (LEVELZERO_COUNTER_*); 0: regular
	uint32_t counting;
	struct _ze_event_pool_handle_t *of; // opened by IPC: whose events these are; else NULL
};

// What is waited for: something that gets done. All but the references is under work_lock.
struct cpu_point {
	uint32_t references;
	bool real, modelled;    // done in each layer; unscripted both are set together
	bool failed;            // it came to nothing: waits answer DEVICE_LOST
	struct cpu_stamp stamp; // of what did it last
};

// Where commands find the point that they signal, reset or wait for. A regular event has one slot
// with one point for its life. Of an event that counts each append that signals it makes a slot,
// and each execution of that command after the first puts a new point in: what waited for the one
// before still does. Commands hold slots, not events, so that an event destroyed while pending does
// no harm.
struct cpu_slot {
	uint32_t references;
	bool counts;             // of an event that counts
	bool used;               // a run signals `point`: the next run brings its own
	struct cpu_point *point; // under work_lock where it counts
};

struct _ze_event_handle_t {
	ze_event_pool_handle_t pool; // NULL: it counts, and needs none
	uint32_t index;
	uint32_t references;
	uint32_t handles;            // 2 and more: created again from a pool opened by IPC
	ze_event_pool_flags_t flags; // of its pool, or what stands for them
	uint32_t counting;           // as the pool's
	ze_event_scope_flags_t signal_scope, wait_scope;
	struct cpu_slot *slot; // where it counts under work_lock: that of its last append
};

static inline bool cpu_point_reached(const struct cpu_point *point)
{
	return point->real && point->modelled;
}
// Points and slots, with or without work_lock. NULL: memory ran out.
struct cpu_point *cpu_point_new(void);
struct cpu_point *cpu_point_retain(struct cpu_point *point);
void cpu_point_release(struct cpu_point *point);
struct cpu_slot *cpu_slot_new(bool counts);
struct cpu_slot *cpu_slot_retain(struct cpu_slot *slot);
void cpu_slot_release(struct cpu_slot *slot);
void cpu_event_release(ze_event_handle_t event);
void cpu_event_retain(ze_event_handle_t event);
// A reference to the event's slot of this moment. Without work_lock.
struct cpu_slot *cpu_event_slot(ze_event_handle_t event);

// ---- commands (list.c and what else appends; command.c)

enum command_type {
	COMMAND_BARRIER, // also signal and wait: nothing but its events
	COMMAND_RESET,   // of one event, `reset`
	COMMAND_COPY,
	COMMAND_REGION,
	COMMAND_FILL,
	COMMAND_GLOBAL_TIMESTAMP, // writes 8 bytes to `destination`
	COMMAND_QUERY_TIMESTAMPS,
	COMMAND_LAUNCH,
	COMMAND_PREFETCH,
	COMMAND_ADVISE,
	COMMAND_HOST_CALL, // zeCommandListAppendHostFunction
	COMMAND_METRIC_BEGIN,
	COMMAND_METRIC_END,
};

// Immutable once appended: a closed list runs any number of times, also in two queues at once.
struct command {
	enum command_type type;
	struct command *next;
	struct cpu_slot *signal; // NULL: it signals nothing
	struct cpu_slot **waits;
	uint32_t wait_count;
	struct cpu_slot *reset; // RESET
	// an event that counts, which takes `signal` once this is appended
	ze_event_handle_t counter;
	bool counts; // of one of its slots: its runs have points of their own
	void *destination;
	const void *source;
	size_t bytes;
	void *pattern;
	size_t pattern_bytes;
	ze_copy_region_t to, from;
	uint32_t to_pitch, to_slice, from_pitch, from_slice;
	struct cpu_slot **queried; // QUERY_TIMESTAMPS; stamps go to destination + offsets[i]
	uint32_t queried_count;
	size_t *offsets;
	struct launch *launch;
	// LAUNCH of several: only if limit_index is below what it holds
	const uint32_t *limit;
	uint32_t limit_index;
	void (*function)(void *context);
	void *context;
	struct _zet_metric_query_handle_t *metric_query; // METRIC_*
};

struct command *cpu_command_new(enum command_type type, ze_event_handle_t signal,
                                const ze_event_handle_t *waits, uint32_t wait_count);
void cpu_command_free(struct command *command);
// QUERY_TIMESTAMPS: of these events. False: memory ran out.
bool cpu_command_query(struct command *command, const ze_event_handle_t *events, uint32_t count);
// Does a command's work on the calling thread: moves bytes, runs the kernel. Not the timestamps'.
ze_result_t cpu_command_do(const struct command *command);

// What was appended to a list until it was reset. Lists have one reference, and each run one.
struct command_chain {
	struct command *first, *last;
	uint32_t references;
};

struct _ze_command_list_handle_t {
	ze_context_handle_t context;
	ze_device_handle_t device;
	uint32_t ordinal;
	ze_command_list_flags_t flags;
	bool in_order; // as it was asked for; all lists run in order
	bool closed;
	struct command_chain *chain; // NULL: an immediate list
	struct cpu_queue *immediate; // NULL: a regular list
};

struct _ze_command_queue_handle_t {
	struct cpu_queue *queue;
};

struct _ze_fence_handle_t {
	ze_command_queue_handle_t queue;
	uint32_t references;
	bool real, modelled;
	bool failed; // as an event's
};

// ---- what runs (queue.c, work.c)

// One execution of one command. It holds a reference to its list's commands (or owns an immediate
// command). Each layer takes it off its own FIFO when it is done there; run.c frees it once it is
// done in both, never within a function of the modelled layer.
struct run {
	const struct command *command; // NULL: there is only a fence
	// that the command is of; NULL: `command` is its own
	struct command_chain *chain;
	struct cpu_queue *queue;
	// Where the command `counts`, found as it is submitted: what it signals (or NULL), waits
	// for, and queries. Else NULL: the slots' own.
	struct cpu_point **points;
	uint64_t sequence; // of all submissions, from 1
	struct run *next;  // in its queue, until it is freed
	// signalled when it is done; command may then be NULL
	struct _ze_fence_handle_t *fence;
	bool real, modelled; // done, in each layer
	ze_result_t result;
	struct cpu_stamp stamp;
	// QUERY_TIMESTAMPS: what the events' were in its turn
	struct cpu_stamp *queried;
	struct run *next_real, *next_modelled;
	int64_t submitted_ps;                  // model's time of the submission
	struct tare_model_operation operation; // the modelled layer's
	struct scripted_run *scripted;         // the modelled layer's own
};

// What a run with a command signals (NULL: nothing), waits for and queries. With work_lock.
static inline struct cpu_point *cpu_run_signal(const struct run *run)
{
	if (run->points)
		return run->points[0];
	return run->command->signal ? run->command->signal->point : NULL;
}
static inline struct cpu_point *cpu_run_wait(const struct run *run, uint32_t i)
{
	return run->points ? run->points[1 + i] : run->command->waits[i]->point;
}
static inline struct cpu_point *cpu_run_queried(const struct run *run, uint32_t i)
{
	return run->points ? run->points[1 + run->command->wait_count + i]
	                   : run->command->queried[i]->point;
}

struct cpu_queue {
	struct cpu_queue *next; // of all queues
	uint32_t ordinal, index;
	// sub-devices that its commands run on; 1: one, or none
	uint32_t parts;
	struct cpu_engine *engine;
	size_t engine_index;
	bool synchronous;
	// a command faulted: what is behind it comes to nothing
	bool lost;
	ze_command_queue_priority_t priority; // who gets a free engine first
	struct run *first, *last;             // not freed yet
	uint64_t submitted, completed;        // counts of runs
	pthread_cond_t work;                  // signalled when it got work, or ends
	int64_t give_up_ns;                   // CLOCK_MONOTONIC; what waits then is dropped
	struct run *first_real, *last_real, *first_modelled, *last_modelled;
	bool started, ending;
	// a thread does the first run, or awaits its events
	bool claimed;
	// the first failure, told at the next synchronisation
	ze_result_t result;
	struct tare_model_queue *model_queue;
	struct scripted_queue *scripted;
};

// Guards events, fences, queues, runs and the model. Never held while a command works, while the
// OpenCL device or the loader is called, or while sleeping but in pthread_cond_wait.
extern pthread_mutex_t work_lock;
// With work_lock, whenever a run, an event or a fence is done in either layer: wakes those who
// sleep for what is now so. Only those: every command changes something, and there may be many
// threads.
void cpu_changed(void);
// The same where the model's next event may be another one: also wakes all that are in cpu_wait.
void cpu_changed_in_model(void);
// Wakes all who sleep: the device is lost.
void cpu_changed_for_all(void);
extern struct cpu_queue *cpu_queues;

// Waits until done(context), which any thread calls with work_lock held (as this is), or until
// timeout_ns have passed (UINT64_MAX: never; 0: asks once). Under a script it also lets the
// model get on. Returns ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY or ZE_RESULT_ERROR_DEVICE_LOST.
ze_result_t cpu_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns);

// Calls `function` once everything that was submitted before this call is done or given up: at
// once where that is so. For memory and modules that the program frees while they are in use.
void cpu_when_unused(void (*function)(void *context), void *context);

// From cpu_device_start. In the child of a fork the device is lost: all that would wait or run
// answers DEVICE_LOST, and what is of the OpenCL device is left alone (`cpu_forked`), for its locks
// may be held by threads that the child does not have.
void cpu_watch_forks(void);
extern bool cpu_forked;

// For the modelled layer, with work_lock held: the first of its queue's modelled FIFO is done there
// and run->stamp says when. Takes it off that FIFO; sets its `modelled`, its event's (false for a
// RESET's) with the stamp, its fence's; keeps the stamps that it asks for; tells cpu_changed.
void cpu_run_modelled(struct run *run);

// ---- the modelled layer (scripted.c); all with work_lock held, none does anything unscripted

ze_result_t scripted_start(void); // from cpu_device_start
ze_result_t scripted_queue_start(struct cpu_queue *queue);
void scripted_queue_end(struct cpu_queue *queue); // forgets what is in it
// The model's time now; 0 unscripted. What is handed over together has one run->submitted_ps.
int64_t scripted_now_ps(void);
// The run, with its submitted_ps, was put at the end of its queue's FIFOs.
void scripted_submit(struct run *run);
// The host signalled or reset an event's point, now; point->modelled is as it was before.
void scripted_host_signal(struct cpu_point *point);
void scripted_host_reset(struct cpu_point *point);
// Lets model time pass up to the host's now: sets `modelled` and stamps of runs, events, fences,
// and tells cpu_changed when any changed.
void scripted_pump(void);
// Host time (CLOCK_MONOTONIC_RAW) at which the next thing happens in the model; INT64_MAX: none.
int64_t scripted_next_ns(void);
// What the command costs, by the script (scripted_cost.c): flow, fixed, work and tail.
void scripted_cost(const struct command *command, struct tare_model_operation *operation);

// A GLOBAL_TIMESTAMP or QUERY_TIMESTAMPS is taken in the model's time but written by the real
// layer, in its order: under a script that first waits for run->modelled (or a lost device, or
// `ending`), then writes run->stamp.end_ps as global ticks, or run->queried. run->scripted is one
// allocation of scripted_submit, that whoever frees the run frees by free().

// After the real layer did a run's work, before the run is done; without work_lock. The script's
// `wrong-data` flips a bit of what was written, `failure` sets run->result.
void scripted_worked(struct run *run);

// Which pages of shared memory the device has (scripted_pages.c). NULL where the script moves none,
// or memory ran out; else the memory is to be mapped MAP_SHARED, for its mappings are dropped to
// see what the host touches. End it with work_lock held, once cpu_allocation_of finds the memory no
// more.
struct cpu_pages *scripted_pages_new(size_t bytes);
void scripted_pages_end(struct cpu_pages *pages);
// When a command is submitted; when it runs in the model: what its first use of shared memory costs
// on top; and when it really did its work (without work_lock).
void scripted_pages_see(const struct command *command);
int64_t scripted_pages_use_ps(const struct command *command);
void scripted_pages_leave(const struct command *command);

// ---- kernels (kernel.c, launch.c)

struct launch; // a kernel, its arguments and its grid as they were when it was appended

// `groups` is read now, or when it runs where `indirect` (it then lies in the program's memory).
ze_result_t launch_new(ze_kernel_handle_t kernel, const ze_group_count_t *groups, bool indirect,
                       struct launch **launch);
// Blocks until the kernel is done. A kernel that traps: ZE_RESULT_ERROR_DEVICE_LOST. Any thread.
ze_result_t launch_do(const struct launch *launch);
void launch_free(struct launch *launch);
// For its cost: the kernel's name, the grid, and the value of argument `index` (false: there is no
// such argument, or it is no value of 4 or 8 bytes).
const char *launch_kernel_name(const struct launch *launch);
void launch_grid(const struct launch *launch, uint64_t *groups, uint64_t *group_items);
// Whether the grid lies in the program's memory, and is known only when the launch is due.
bool launch_indirect(const struct launch *launch);
bool launch_argument_value(const struct launch *launch, uint32_t index, uint64_t *value);
// The allocations that it may use: pointer arguments. Calls `each` for every one.
void launch_pointers(const struct launch *launch, void (*each)(void *context, const void *at),
                     void *context);
