// SPDX-License-Identifier: Apache-2.0
// The backend contract: what measuring needs of an API, in words that fit OpenCL, Level Zero and
// CUDA alike. docs/glossary.md maps each vendor's words to ours.
//
// Rules for every member:
//  - A NULL member: this API cannot do it at all. -ENOTSUP: this device cannot. Callers go through
//    the tare_* functions of backend/call.h, which turn NULL into -ENOSYS with a sentence.
//  - 0 or a positive count is success; failure is a negative errno and *error filled in:
//    -ENOMEM out of device or host memory, -ENODEV the device is lost, -ETIMEDOUT a limit passed,
//    -EINVAL refused arguments, -EIO any other failing vendor call.
//  - Every create has a free that accepts NULL and half-built objects and blocks no longer than
//    the device's own teardown. That can be for ever behind work that hangs: after -ETIMEDOUT or
//    -ENODEV a caller who is about to end calls tare_device_abandon (backend/call.h) instead of
//    tearing down, and leaves the driver open as well.
//  - Nothing prints, exits or changes signal handlers.
//  - One device is used by one thread at a time.
#pragma once
#include "backend/counters.h"
#include "backend/sampling.h"
#include "base/error.h"
#include "base/time.h"
#include "model/fact.h"
#include "model/telemetry.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tare_backend;

// Whether a status says that the device is lost or hangs: it is to be used no more.
static inline bool tare_device_is_gone(int status)
{
	return status == -ENODEV || status == -ETIMEDOUT;
}

// Objects of a backend begin with these; the backend embeds them as the first member of its own.
struct tare_driver {
	const struct tare_backend *backend;
};
struct tare_device {
	const struct tare_backend *backend;
	uint32_t index; // within its backend
	bool lost;      // see tare_device_abandon (backend/call.h)
	bool probed;    // measure/core/probe.h has seen it work
	bool scripted;  // the host does its work, at the times of a script: what the host's clock
	                // shows of that says nothing of the script
	bool child_builds; // what a forked child builds the driver keeps in its cache, for us too
	// a host of virtual time: multiply-adds a second of one of its cores; 0: none told
	double host_rate;
};
struct tare_queue {
	struct tare_device *device;
};
struct tare_event {
	struct tare_device *device;
};
struct tare_gate {
	struct tare_device *device;
	uint32_t capacity; // operations that may be appended while it is shut; 0: no known limit
};
struct tare_module {
	struct tare_device *device;
};
struct tare_kernel {
	struct tare_module *module;
};
struct tare_graph {
	struct tare_device *device;
};

// ---- memory

enum tare_memory_kind {
	TARE_MEMORY_PAGEABLE,       // plain host memory, page-aligned
	TARE_MEMORY_PINNED,         // page-locked by the API
	TARE_MEMORY_WRITE_COMBINED, // page-locked, not to be read by the host
	TARE_MEMORY_REGISTERED,     // plain host memory, page-locked afterwards
	TARE_MEMORY_DEVICE,
	// one address for both sides, migrated or coherent (SVM, managed)
	TARE_MEMORY_SHARED,
	TARE_MEMORY_MAPPED, // host memory that the device addresses directly
	TARE_MEMORY_KIND_COUNT
};

// Memory of any kind. It is no pointer, because an OpenCL buffer is none.
struct tare_memory {
	struct tare_device *device;
	enum tare_memory_kind kind;
	uint64_t bytes;
	void *host; // where the host may touch it now; NULL if it may not
};

// An image, or array: pixels of four bytes. depth 1: of two dimensions.
struct tare_image {
	uint32_t width, height, depth; // each at least 1
};

// A part of a memory. offset_bytes + bytes <= memory->bytes.
struct tare_span {
	struct tare_memory *memory;
	uint64_t offset_bytes;
	uint64_t bytes;
};

enum tare_advice {
	TARE_ADVISE_NONE,
	TARE_ADVISE_READ_MOSTLY,
	TARE_ADVISE_PREFER_DEVICE,
	TARE_ADVISE_PREFER_HOST,
};

// ---- queues

enum tare_queue_order {
	TARE_QUEUE_IN_ORDER,
	TARE_QUEUE_OUT_OF_ORDER,
	TARE_QUEUE_DEFERRED,       // operations gather until submit (a regular Level Zero list)
	TARE_QUEUE_LEGACY_DEFAULT, // CUDA's NULL stream, which waits for the others
	TARE_QUEUE_THREAD_DEFAULT, // CUDA's default stream of the calling thread
};

struct tare_queue_options {
	uint32_t engine; // index into the list of engines; 0 where the API does not let one choose
	enum tare_queue_order order;
	bool timed; // operations with an event carry stamps; false lets the driver do without
};

// ---- operations

// A rectangle copy: rows x layers of row_bytes each. Pitches are distances between row and layer
// starts; 0 for a layer pitch means rows * row pitch. Offsets are the spans' own.
struct tare_rectangle {
	uint64_t row_bytes, rows, layers;
	uint64_t source_row_pitch, source_layer_pitch;
	uint64_t destination_row_pitch, destination_layer_pitch;
};

enum tare_argument_type { TARE_ARGUMENT_MEMORY, TARE_ARGUMENT_VALUE, TARE_ARGUMENT_LOCAL };

struct tare_argument {
	enum tare_argument_type type;
	struct tare_span span; // MEMORY; the span's bytes are not passed
	const void *value;     // VALUE; copied at append
	size_t bytes;          // VALUE: its size; LOCAL: local memory per work-group
};

struct tare_launch {
	struct tare_kernel *kernel;
	uint32_t groups[3];     // work-groups in each dimension, each at least 1
	uint32_t group_size[3]; // work-items a group in each dimension, each at least 1
	const struct tare_argument *arguments;
	uint32_t argument_count;
};

enum tare_map_access { TARE_MAP_READ = 1, TARE_MAP_WRITE = 2, TARE_MAP_DISCARD = 4 };

enum tare_operation_type {
	TARE_OPERATION_COPY, // source -> destination; any two kinds the backend supports
	TARE_OPERATION_RECTANGLE,
	TARE_OPERATION_FILL, // destination with a repeated pattern of 1, 2, 4, 8 or 16 bytes
	TARE_OPERATION_MAP,  // destination becomes visible at destination.memory->host
	TARE_OPERATION_UNMAP,
	TARE_OPERATION_MIGRATE, // shared memory moves to the device, or to the host if to_host
	TARE_OPERATION_LAUNCH,
	// nothing; completes when what it waits for has (an empty barrier)
	TARE_OPERATION_MARKER,
	TARE_OPERATION_HOST_CALL, // calls a host function from the queue
};

struct tare_operation {
	enum tare_operation_type type;
	struct tare_span source, destination;
	union {
		struct tare_rectangle rectangle;
		struct {
			const void *pattern;
			uint32_t pattern_bytes;
		} fill;
		enum tare_map_access access;
		bool to_host;
		struct tare_launch launch;
		struct {
			void (*function)(void *context);
			void *context;
		} call;
	};
	// The API's own blocking form (a blocking write): append returns when the operation is done
	// and the source may be reused. Only COPY, RECTANGLE, MAP and MIGRATE have one.
	bool blocking;
	struct tare_event *const *waits; // completes before this begins, also across queues
	uint32_t wait_count;
};

// ---- stamps

enum tare_stamp {
	TARE_STAMP_QUEUED,
	TARE_STAMP_SUBMITTED,
	TARE_STAMP_START,
	TARE_STAMP_END,
	TARE_STAMP_ACTIVE_START, // Level Zero's context timestamps: only while the context ran
	TARE_STAMP_ACTIVE_END,
	TARE_STAMP_COUNT
};

struct tare_stamps {
	struct tare_ticks at[TARE_STAMP_COUNT];
	uint32_t present;     // bit (1 << enum tare_stamp) for each one that is known
	uint32_t epoch;       // stamps are comparable only within one epoch
	bool brackets_engine; // true: start and end bracket the engine's work; false: they are
	                      // positions in the stream, and include what queued before (CUDA
	                      // events)
};

static inline bool tare_stamps_have(const struct tare_stamps *stamps, enum tare_stamp stamp)
{
	return stamps->present >> stamp & 1;
}

// A device may have two counters: the one that stamps events and the one that can be read.
enum tare_clock { TARE_CLOCK_STAMPS, TARE_CLOCK_PAIRS };

// ---- modules

enum tare_module_format {
	TARE_MODULE_OPENCL_C,
	TARE_MODULE_SPIRV,
	TARE_MODULE_PTX,
	TARE_MODULE_CUDA_C,
	TARE_MODULE_NATIVE, // the device's own binary, or a name the simulated device knows
};

struct tare_module_source {
	enum tare_module_format format;
	const void *data;
	size_t bytes;
	const char *options; // build options in the API's own words; NULL for none
	bool ends;           // its kernels are known to end (tare's own); others are guarded more
	// CUDA C: where it was read from (its includes are looked for beside it), and the kernel
	// that is wanted of it, which may be an expression: "scale<float>". NULL where there is
	// none.
	const char *file, *entry;
};

// What a compiled kernel needs; -1 where the driver does not tell.
struct tare_kernel_facts {
	int64_t registers;
	int64_t local_bytes;
	int64_t private_bytes;
	int64_t spill_bytes;
	int64_t simd_width;
	int64_t max_group_size;
	int64_t preferred_multiple;
	int64_t arguments;
};

// What a kernel's parameter is, as far as the driver tells.
enum tare_parameter_kind {
	TARE_PARAMETER_UNKNOWN,
	TARE_PARAMETER_MEMORY, // a pointer to global or constant memory
	TARE_PARAMETER_LOCAL,  // a pointer to local memory
	TARE_PARAMETER_VALUE,
};
struct tare_parameter {
	enum tare_parameter_kind kind;
	char name[64], type[64]; // "" where it is not told: "first", "uint"
	int64_t bytes;           // of a VALUE or an UNKNOWN one; -1 where it is not told
	bool read_only;          // points to const
};

// ---- the vendor's matrix library

// What the factors are held in; products are added up and returned in single precision.
enum tare_blas_precision {
	TARE_BLAS_FP32,
	// numbers of single precision, of which the device uses 10 bits of fraction
	TARE_BLAS_TF32,
	TARE_BLAS_FP16,
	TARE_BLAS_BF16,
	TARE_BLAS_PRECISION_COUNT
};

// ---- the contract

// Time limits: nanoseconds on the device's host clock.
#define TARE_LIMIT_DEFAULT_NS INT64_C(30000000000)
// Waits with the API's own blocking call, which has no limit (Level Zero's has, and gets the
// default one). Only to measure that very call, after a limited wait on the same queue has
// succeeded for the same kind of operation.
#define TARE_LIMIT_NATIVE INT64_C(-1)

struct tare_backend {
	const char *name;  // "opencl": the word in --device opencl:0
	const char *title; // "OpenCL"
	// A queue runs everything in it on the engine of its options (Level Zero); false: the API
	// chooses an engine for each operation.
	bool binds_queues;
	// Its drivers have modes in which they take work, say that all went well and do none (Level
	// Zero's capture modes): a device is tried before it is measured (measure/core/probe.h).
	bool needs_probe;

	// Opens the library (and, for `simulated`, reads the script named by `option`, which may be
	// NULL). -ENOENT: no library on this machine; -ENODEV: a library, but no driver or no
	// device. The error says what was tried and what to install. *driver belongs to the caller.
	int (*driver_open)(const char *option, struct tare_driver **driver,
	                   struct tare_error *error);
	void (*driver_close)(struct tare_driver *driver);
	// Number of devices; each has an index from 0. Another index given to device_facts or
	// device_open: -EINVAL.
	uint32_t (*device_count)(const struct tare_driver *driver);
	// Fills in what the API tells of device `index` without opening it; a fact it cannot give
	// is marked absent with the reason.
	int (*device_facts)(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
	                    struct tare_error *error);
	// Shows the visitor what hardware counters the driver lists of device `index`, without
	// opening it; none is no error. Returns 0, what the visitor returned, or a negative errno.
	int (*counters)(struct tare_driver *driver, uint32_t index,
	                const struct tare_counter_visitor *visitor, struct tare_error *error);
	// Samples counters of a whole device over time; NULL: the API cannot.
	const struct tare_sampler *sampler;
	int (*device_open)(struct tare_driver *driver, uint32_t index, struct tare_device **device,
	                   struct tare_error *error);
	void (*device_close)(struct tare_device *device);

	// The host clock. Real devices: tare_host_now(). Simulated: the script's own. Never NULL.
	struct tare_host_time (*host_now)(struct tare_device *device);
	// Lets `ns` pass on the host clock without touching the device (a sleep). Never NULL.
	void (*host_pause)(struct tare_device *device, int64_t ns);
	// Rate, width and resolution of a counter. -ENOTSUP: this device has no such counter.
	int (*clock_rate)(struct tare_device *device, enum tare_clock clock,
	                  struct tare_clock_rate *rate, struct tare_error *error);
	// One bracketed reading of the counter TARE_CLOCK_PAIRS. -ENOTSUP where it cannot be read.
	int (*clock_pair)(struct tare_device *device, struct tare_clock_pair *pair,
	                  struct tare_error *error);

	// Up to `capacity` engines into *engines; returns how many there are.
	int (*engines)(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
	               struct tare_error *error);

	// The host must have touched nothing yet: pages of PAGEABLE memory are reserved, not
	// resident.
	int (*memory_create)(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
	                     struct tare_memory **memory, struct tare_error *error);
	void (*memory_free)(struct tare_memory *memory);
	// Memory of kind DEVICE in a layout of the device's own (an image, a CUDA array). Only a
	// COPY of all of it, from or to memory that the host may touch, is sure to work. -ENOTSUP:
	// the device has none, or none of this shape. NULL: tare makes none through this API.
	int (*image_create)(struct tare_device *device, const struct tare_image *shape,
	                    struct tare_memory **memory, struct tare_error *error);
	int (*memory_advise)(struct tare_span span, enum tare_advice advice,
	                     struct tare_error *error);
	// Lets this device, and its kernels, reach memory of `peer`, another open device of the
	// same driver: spans of the peer's memory may then be given to this device's queues.
	// -ENOTSUP: it cannot, and the error says why. It lasts until either is closed; enabling
	// again is no error. A plain COPY between the memories of two open devices of one driver
	// needs none of this where the API moves it through the host by itself (CUDA does);
	// elsewhere append refuses it with -ENOTSUP.
	int (*peer_enable)(struct tare_device *device, struct tare_device *peer,
	                   struct tare_error *error);

	int (*queue_create)(struct tare_device *device, const struct tare_queue_options *options,
	                    struct tare_queue **queue, struct tare_error *error);
	void (*queue_free)(struct tare_queue *queue);

	// Append, submit and execute are three things. Append hands the operation to the runtime;
	// *event (if event is not NULL) is the caller's to free, at any time. The operation's
	// spans, arguments and pattern need not outlive the call, memories must outlive the
	// operation. A copy from pageable memory may read it at once, before what is queued ahead
	// of it has run (CUDA does): who changes a source from the queue uses pinned memory.
	int (*append)(struct tare_queue *queue, const struct tare_operation *operation,
	              struct tare_event **event, struct tare_error *error);
	// Appends the writing of the counter TARE_CLOCK_PAIRS, when the queue gets there, to the
	// first 8 bytes of `to`, memory that the host may touch. -ENOTSUP: this device cannot.
	int (*append_clock)(struct tare_queue *queue, struct tare_span to,
	                    struct tare_error *error);
	// Hands everything appended to the device (flush; close and execute). Does not wait.
	int (*submit)(struct tare_queue *queue, struct tare_error *error);
	// Submits with a fence behind it and waits for that, as finish does: another way in which
	// programs wait for a deferred queue. -ENOTSUP: this queue or device has no fences.
	int (*finish_fenced)(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
	// Waits until everything appended is done, or the limit passes (TARE_LIMIT_NATIVE: see
	// there). -EINTR: the user wanted to stop a second ago (base/interrupt.h).
	int (*finish)(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);

	// The same for one event. An operation that failed on the device gives its error here.
	int (*event_wait)(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
	// 1 when done, 0 when not yet; never waits.
	int (*event_done)(struct tare_event *event, struct tare_error *error);
	// Calls `function` once from any thread when the event is done.
	int (*event_callback)(struct tare_event *event, void (*function)(void *context),
	                      void *context, struct tare_error *error);
	// The stamps of a finished operation. -ENODATA: queue not timed, or none for this
	// operation; -EAGAIN: it is not finished.
	int (*event_stamps)(struct tare_event *event, struct tare_stamps *stamps,
	                    struct tare_error *error);
	void (*event_free)(struct tare_event *event);

	// Shuts a gate at the end of the queue: what is appended afterwards waits until gate_open.
	// gate_free opens it first if it is still shut; opening an open gate does nothing and is 0.
	// More operations behind a shut gate than its capacity: append refuses with -EINVAL, rather
	// than block for ever; so it may refuse whatever else would have the host wait.
	int (*gate_shut)(struct tare_queue *queue, struct tare_gate **gate,
	                 struct tare_error *error);
	int (*gate_open)(struct tare_gate *gate, struct tare_error *error);
	void (*gate_free)(struct tare_gate *gate);

	// Bits (1 << enum tare_module_format): what module_create may take, if the device agrees.
	uint32_t module_formats;
	// Whether modules may be built by a thread of their own.
	bool builds_anywhere;
	// Builds a module; on -EINVAL (it does not compile) *log, if log is not NULL, is the build
	// log to free(); on success it may be the compiler's warnings. A format this API cannot
	// take, or whose compiler is not installed: -ENOTSUP.
	int (*module_create)(struct tare_device *device, const struct tare_module_source *source,
	                     struct tare_module **module, char **log, struct tare_error *error);
	void (*module_free)(struct tare_module *module);
	// Names of its kernels as kernel_create takes them, separated by ", " (those that fit
	// `names`, whole). Returns how many there are; -ENODATA: this module's are not known.
	int (*module_kernels)(struct tare_module *module, char *names, size_t size,
	                      struct tare_error *error);
	int (*kernel_create)(struct tare_module *module, const char *name,
	                     struct tare_kernel **kernel, struct tare_error *error);
	void (*kernel_free)(struct tare_kernel *kernel);
	int (*kernel_facts)(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
	                    struct tare_error *error);
	// Parameter `index` (from 0) of a kernel. -ENODATA: the driver keeps no such information;
	// -EINVAL: it has no such parameter.
	int (*kernel_parameter)(struct tare_kernel *kernel, uint32_t index,
	                        struct tare_parameter *parameter, struct tare_error *error);

	// c = a * b by the vendor's library, n x n each, row-major, appended to the queue; a and b
	// are of the precision's size (4 or 2 bytes a number), c is FP32. -ENOENT: the library is
	// not installed (the error names it and its package). -ENOTSUP: it or the device lacks this
	// precision. The first call may build kernels. *event as for append; a library may run
	// several kernels, and the event's stamps are then from when the first could begin to the
	// end of the last.
	int (*blas_gemm)(struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n,
	                 struct tare_span c, struct tare_span a, struct tare_span b,
	                 struct tare_event **event, struct tare_error *error);
	// The library's name and version for reports, once blas_gemm has worked: "CLBlast 1.5.3".
	const char *(*blas_name)(struct tare_device *device);

	// Between begin and end, what is appended is recorded, not run.
	int (*graph_begin)(struct tare_queue *queue, struct tare_error *error);
	int (*graph_end)(struct tare_queue *queue, struct tare_graph **graph,
	                 struct tare_error *error);
	int (*graph_launch)(struct tare_graph *graph, struct tare_queue *queue,
	                    struct tare_event **event, struct tare_error *error);
	// Stamps of node `node` in the order of appending, of the last launch, after its event is
	// done. Recorded on a queue that is not timed, a graph may have none (-ENODATA). Engine
	// stamps (below) are those of a graph that was recorded and launched, with an event,
	// between begin and end.
	int (*graph_stamps)(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
	                    struct tare_error *error);
	void (*graph_free)(struct tare_graph *graph);

	// Between begin and end, events of operations get stamps that bracket the engine's work
	// (brackets_engine, in an epoch of their own, in ticks of the rate of TARE_CLOCK_STAMPS),
	// also in queues that are not timed, by the vendor's tracer where events are only positions
	// in a queue. What no engine works for has none (-ENODATA). That may slow the operations
	// down: never while timing them otherwise. The stamps can be had after end, which waits for
	// the device; events stay valid. -ENOENT: the tracer is not installed (the error says what
	// to install); -ENOTSUP: it does not work here, or another tool has it. NULL where events
	// bracket the engine's work anyway.
	int (*engine_stamps_begin)(struct tare_device *device, struct tare_error *error);
	int (*engine_stamps_end)(struct tare_device *device, struct tare_error *error);

	// May be called from any thread, also while another one uses the device.
	int (*telemetry)(struct tare_device *device, struct tare_telemetry *telemetry,
	                 struct tare_error *error);
};

// Every backend, in the order in which they are listed; NULL-terminated.
extern const struct tare_backend *const tare_backends[];

// The backend of that name, or NULL.
const struct tare_backend *tare_backend_find(const char *name);
