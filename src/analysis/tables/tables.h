// SPDX-License-Identifier: Apache-2.0
// The tables of a report: computing tasks, transfers, API calls, builds, memory, queues, coverage,
// and what bounds the run. docs/report.md says what every figure means and where it comes from. A
// command belongs to the view in which it starts (or, untimed, was enqueued), a call to the one in
// which it was entered; then it counts whole. Views that follow each other therefore add up.
#pragma once
#include "analysis/ledger/ledger.h"
#include "analysis/recording/recording.h"
#include "model/statistics/rate_curve.h"

// The device time of commands of which a random sample has times (--times sampled).
struct tare_estimate {
	uint64_t unsampled;         // without times because others stand for them
	double ns, low_ns, high_ns; // of all, those with times too, and its 95 % interval; NaN: all
	                            // that could be were timed, or too few were
};

// Kernels of one name on one device, all shapes of work together (tare_tables.tasks) or one of them
// (tare_tables.task_shapes).
enum { TARE_TASK_SHAPES = 32 };
struct tare_task {
	const char *name;        // "(native kernel)", "(unknown kernel)" where there is none
	uint32_t device;         // same_as; TARE_NO_INDEX: not known
	uint32_t kernel;         // one of them, for its facts; TARE_NO_INDEX: none
	uint32_t shape;          // TARE_NO_INDEX: several, or not known
	uint32_t frequent_shape; // the most frequent one; TARE_NO_INDEX: not known
	uint32_t shapes;         // different ones
	size_t first_shape;      // its rows in task_shapes, the longest of them
	size_t shape_rows;       // at most TARE_TASK_SHAPES; 0 when there is one shape only
	uint64_t instances;      // enqueued
	uint64_t timed;          // of these, with device times
	int64_t total_ns;        // of the timed; device time; instances that overlap count twice
	struct tare_estimate estimate;             // what all instances took
	double mean_ns, median_ns, min_ns, max_ns; // NaN: none timed
	double p95_ns;
	// of the time in which the device ran kernels: unions, 0 to 1; NaN
	double share;
	int64_t launch_total_ns; // host time inside the enqueue calls
	// Fill of the device by the most frequent shape, by model: NaN or 0 where the units or the
	// group size are not known.
	uint64_t groups;
	double groups_per_unit;
	double waves; // whole rounds when a unit runs one group at a time
	double tail;  // part of the last wave that stays empty, 0 to 1
	// Groups of the most frequent shape that a unit holds at once; groups 0: not known.
	struct tare_occupancy occupancy;
	double occupancy_waves; // groups over what all units hold at once; NaN: not known
	// Medians of the first and the last sixteenth of the instances, and last / first - 1; NaN
	// when no trend is told from chance.
	double first_ns, last_ns, trend_per_run;
	struct tare_recorded_kernel_fact facts; // of the device; kernel TARE_NO_INDEX: none
};

struct tare_transfer_row {
	uint8_t kind; // enum tare_trace_command_kind
	uint8_t direction;
	uint8_t memory; // enum tare_trace_memory of the host side
	bool blocking;
	uint32_t device;
	uint32_t link; // index into the recording's links: between two devices; else TARE_NO_INDEX
	uint64_t count, timed;
	uint64_t bytes;
	int64_t total_ns;              // of the timed
	struct tare_estimate estimate; // what all of them took
	int64_t exposed_ns, hidden_ns; // of the union of these intervals: no kernel of the device
	                               // ran, or one did
	bool in_place;                 // maps of memory that is the host's: nothing moves, no rate
	double bytes_per_second;       // of the timed, bytes over total; NaN
	double median_bytes_per_second;
	// bytes per second, the best of all sizes, measured earlier; NaN: none
	double ceiling;
	// the same for the sizes of the timed, bytes over total; NaN: none that fits
	double sized_ceiling;
	double pinned_ceiling; // the same from pinned memory, whatever this row's is; NaN
	// count by size: < 64 B, < 256 B, < 1 KB, x 4 each; the last is the rest
	uint64_t sizes[16];
	uint64_t unaligned; // host address not on 64 bytes
	uint64_t smallest, largest;
};

struct tare_api_row {
	const char *function;
	uint32_t api, role; // enum tare_trace_api, enum tare_trace_role
	uint64_t count, failed;
	uint64_t nested;  // of the count: made inside another call, whose time has theirs
	int64_t total_ns; // inside, without the nested ones
	// of polled calls, which are recorded by the row: the mean of a row
	int64_t max_ns;
};

struct tare_build {
	uint32_t program; // TARE_NO_INDEX
	const char *function;
	int64_t at_ns, ns; // of the call
	int64_t error;     // 0: none
};

// Memory objects by the sizes asked for; parts of others are not counted.
struct tare_memory_use {
	uint64_t objects, bytes; // made in the view
	uint64_t peak_bytes;     // most that was held at once within the view
	int64_t peak_at_ns;      // TARE_NO_TIME: nothing was held
	uint64_t held_at_end;    // objects not released
};

struct tare_queue_row {
	uint32_t queue;
	uint64_t commands;
	uint64_t timed;     // the rest is of these
	int64_t busy_ns;    // union of its commands' execution
	double mean_depth;  // commands enqueued and not complete, from the first enqueue to the
	                    // last end; NaN
	uint64_t max_depth; // 0: not known
	int64_t gaps_ns;    // between its commands, within the view's spans
	int64_t gap_causes_ns[TARE_LEDGER_CATEGORIES]; // what of these lies in the idle gaps of its
	                                               // device that the ledger lists (the
	                                               // longest), by their cause
	int64_t median_latency_ns; // enqueue returned to start, 0 when it started before; without
	                           // blocking commands; TARE_NO_TIME
};

// Why a command has no times.
enum tare_unobserved {
	TARE_UNOBSERVED_PENDING,     // the recording ended before they were seen
	TARE_UNOBSERVED_REFUSED,     // the API refused the profiling info
	TARE_UNOBSERVED_FAILED,      // the command ended with an error
	TARE_UNOBSERVED_ABANDONED,   // the process ended first
	TARE_UNOBSERVED_NO_ROOM,     // too many were pending
	TARE_UNOBSERVED_REUSED,      // its event was used again first
	TARE_UNOBSERVED_NOT_ASKED,   // no profiling on the queue, or --strict
	TARE_UNOBSERVED_UNUSABLE,    // times came that cannot be
	TARE_UNOBSERVED_NOT_SAMPLED, // others stand for it (--times sampled)
	TARE_UNOBSERVED_UNLISTED,    // what its list ran is not recorded, or is not read
	TARE_UNOBSERVED_REASONS
};
// Of a command without device times.
enum tare_unobserved tare_command_unobserved(const struct tare_recorded_command *command);

// Faults of managed memory on a device (same_as), in all processes of the view.
struct tare_recorded_faults tare_device_faults(const struct tare_recording *recording,
                                               const struct tare_view *view, uint32_t device);

// What the cost of recording rests on.
enum tare_cost_source {
	TARE_COST_UNKNOWN,
	TARE_COST_OWN_CODE, // the driver's part is not known: a lower limit
	// our own code and the driver's part, by what was measured in the program
	TARE_COST_CALIBRATED,
	TARE_COST_COMPARED, // with runs that were not recorded
};
// "calibration", ...; NULL: unknown
const char *tare_cost_source_name(enum tare_cost_source source);

// Losses and what a process says of itself count whole, whatever part of the time the view is.
struct tare_coverage {
	uint64_t enqueued;      // commands, recorded or known to be lost
	uint64_t completed;     // with device times
	uint64_t unobserved;    // enqueued, times never seen or not to be had
	uint64_t lost_commands; // of the enqueued: in lost or recycled records
	uint64_t unobserved_by[TARE_UNOBSERVED_REASONS];
	uint64_t dropped; // records lost (no room, recycled)
	uint64_t failed;  // enqueues that the API refused
	uint64_t calls, passed_calls;
	uint64_t damaged_windows, unresolved, contradictions;
	// of the unobserved: nothing after them on their queue could have started them
	uint64_t never_flushed;
	double self_cost_share; // of the wall: calibrated cost times commands and calls; NaN
	int64_t self_cost_ns;   // TARE_NO_TIME: not calibrated
	// its interval; TARE_NO_TIME above: not measured between a driver's calls
	int64_t self_low_ns, self_high_ns;
	uint64_t stacks;      // commands and calls whose call stack is known
	double stack_cost_ns; // of one, by calibration; in self_cost_ns; NaN
	int64_t helper_cpu_ns, stalled_ns;
	int64_t harvest_ns; // of the self cost: the program's threads asking the driver for device
	                    // times, measured; else it is calibrated
	// What the driver took for what was changed (profiling, events), by calibration, with the
	// interval; TARE_NO_TIME: not known.
	int64_t driver_ns, driver_low_ns, driver_high_ns;
	bool driver_hidden;     // not known, for threads of the driver's own took part of it
	double profiling_share; // of the wall: the part of it that profiling alone takes; NaN
	// All of it: self cost, driver, stalled and, of the whole run, calibration; or what runs
	// without recording say. TARE_NO_TIME: not known, the upper end also where one of the two
	// was not measured in the driver.
	int64_t cost_ns, cost_low_ns, cost_high_ns;
	double cost_share; // of the wall; NaN
	enum tare_cost_source cost_source;
	int64_t once_ns; // that beginning, measuring these costs and ending took of the program
	// of the cost: hashing what transfers carry (--contents), measured
	int64_t contents_ns;
	uint64_t contents_bytes;                                 // that were hashed whole, and
	uint64_t contents_whole, contents_sampled, contents_not; // copies by how far
};

enum tare_bound {
	TARE_BOUND_NOTHING, // no command ran
	TARE_BOUND_DEVICE,  // kernels take most of the time
	TARE_BOUND_TRANSFER,
	TARE_BOUND_LAUNCH,          // many short kernels: the cost of issuing them
	TARE_BOUND_HOST,            // the program computes, builds, allocates or sleeps
	TARE_BOUND_SYNCHRONISATION, // the device idles because the host waits, then wakes
	TARE_BOUND_NOT_CLEAR,
	TARE_BOUND_COUNT
};
const char *tare_bound_name(enum tare_bound bound); // "device", "transfer", ...

// Why a view has no command.
enum tare_no_command {
	TARE_NO_COMMAND_NOT_SO,   // it has some
	TARE_NO_COMMAND_ENQUEUED, // all was seen, and none was enqueued
	// the program has a library of an API that is not recorded yet
	TARE_NO_COMMAND_OTHER_API,
	TARE_NO_COMMAND_NOT_RECORDED, // no process was recorded, so that nothing is known
	TARE_NO_COMMAND_STOPPED,      // the recording stopped, or records were lost: a full disk
	TARE_NO_COMMAND_DAMAGED,      // the trace cannot be read to its end
	TARE_NO_COMMAND_REASONS
};
const char *tare_no_command_name(enum tare_no_command why); // "other_api", ...; NULL for NOT_SO

// Whether anything is known of what devices did: else a ledger would say that they were idle.
static inline bool tare_no_command_is_known(enum tare_no_command why)
{
	return why != TARE_NO_COMMAND_OTHER_API && why != TARE_NO_COMMAND_NOT_RECORDED &&
	       why != TARE_NO_COMMAND_DAMAGED;
}

// A run in time: before the first command is enqueued, until the last one is complete, and after.
enum tare_recording_part_of {
	TARE_PART_START_UP,
	TARE_PART_WORKING,
	TARE_PART_TEAR_DOWN,
	TARE_PARTS
};
const char *
tare_recording_part_name(enum tare_recording_part_of part); // "start_up", ...: the JSON names
struct tare_recording_part {
	int64_t from_ns, to_ns;
	int64_t parts_ns[TARE_LEDGER_CATEGORIES]; // of all devices together; sum is to - from
	// Of the time off the CPU at least so much while another thread was building: the ledger
	// goes by the one thread that will enqueue.
	int64_t off_cpu_beside_builds_ns;
};
// What a part (NULL: the whole run) went into, for a sentence: "building programs".
const char *tare_recording_part_words(const struct tare_recording_part *part,
                                      enum tare_ledger_category category);

struct tare_recorded_summary {
	int64_t wall_ns;
	double cpu_utilisation;    // CPU time of the processes over wall (1.0 = one CPU busy); NaN:
	                           // not known, or the view is a part of the run
	double device_utilisation; // any device ran anything, of the wall; NaN, as the next three
	// of the wall; transfers hidden or not
	double kernel_share, transfer_share, exposed_transfer_share;
	int64_t launch_ns;     // host time inside enqueue calls, without blocking ones
	double mean_launch_ns; // NaN
	// What the verdict is about: from the first enqueue to the last completion, of a view with
	// spans all of them; TARE_NO_TIME: none.
	int64_t working_from_ns, working_to_ns;
	// Of the whole run alone, and where the working part is clearly shorter: their sum is
	// wall_ns.
	bool has_parts;
	struct tare_recording_part parts[TARE_PARTS];
	int64_t bound_ns[TARE_BOUND_COUNT]; // of it; NOT_CLEAR: what is not known. Sum: working to
	                                    // - from, of a view with spans their sum
	enum tare_bound bound;
	enum tare_no_command why_no_command;
	char verdict[700];  // "This run is transfer-bound: the device waits for data 39.7 % of the
	                    // time", without a full stop; with parts it says which one it is about
	char evidence[600]; // the figures that say so, without a full stop
};

// A measured ceiling of this machine for transfers, from a cached bandwidth result.
struct tare_transfer_ceiling {
	const char *device_name;
	uint8_t direction;
	bool pinned;
	double bytes_per_second;      // the best of all sizes
	const char *measured;         // date
	struct tare_rate_curve sizes; // by size; empty where only the best is known
};

struct tare_tables {
	struct tare_recorded_summary summary;
	struct tare_task *tasks;       // by total time, longest first
	struct tare_task *task_shapes; // of tasks that have several; see tare_task.first_shape
	struct tare_transfer_row *transfers; // by total time
	struct tare_api_row *api;            // by total time
	struct tare_build *builds;           // in order of time
	struct tare_queue_row *queues;       // those that have commands, in order of their number
	size_t task_count, task_shape_count, transfer_count, api_count, build_count, queue_count;
	struct tare_memory_use memory;
	struct tare_coverage coverage;
};

// The part of a view that findings are about, before anything else is known of it: from the first
// enqueue of work to its last completion, as the summary's working_from_ns and working_to_ns. Empty
// where there is none. Returns 0 or -ENOMEM.
int tare_working_part(const struct tare_recording *recording, const struct tare_view *view,
                      struct tare_run_span *part);

// What of the tables is known without ledgers, transfers and tasks: before there are any, as both
// take memory. tare_tables_finish in any case but a failure. Returns 0, or -ENOMEM with nothing
// kept.
struct tare_tables_begun;
int tare_tables_begin(const struct tare_recording *recording, const struct tare_view *view,
                      const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                      struct tare_tables_begun **begun, struct tare_error *error);
// The rest, as tare_tables_compute; `begun` is gone. Without `tables` that is all.
int tare_tables_finish(struct tare_tables_begun *begun, const struct tare_ledgers *ledgers,
                       struct tare_tables *tables, struct tare_error *error);

// Computes all tables of a view; `ledgers` are of the same view, `ceilings` may be NULL. Texts
// belong to the recording. Takes n log n, and 16 bytes a command beside the recording. Computes the
// ledger of the working part again when that is clearly shorter than the view. Returns 0, or
// -ENOMEM with *tables empty. Free with tare_tables_free.
int tare_tables_compute(const struct tare_recording *recording, const struct tare_view *view,
                        const struct tare_ledgers *ledgers,
                        const struct tare_transfer_ceiling *ceilings, size_t ceiling_count,
                        struct tare_tables *tables, struct tare_error *error);
void tare_tables_free(struct tare_tables *tables); // leaves *tables empty
