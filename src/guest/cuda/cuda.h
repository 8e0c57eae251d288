// SPDX-License-Identifier: Apache-2.0
// What the parts of the CUDA recorder share. Calls of the driver come from CUPTI's callbacks,
// device times from its activity records; docs/recorder-cuda.md says what happens to a command.
#pragma once
#include "backend/cuda/cupti_abi.h"
#include "guest/api.h"

#define CUDA_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CUDA_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ---- the vendor's libraries

// What is asked of the driver beside CUPTI. Only functions whose calls are not recorded.
struct cuda_driver_calls {
	cu_result (*cuDriverGetVersion)(int *version);
	cu_result (*cuDeviceGet)(cu_device *device, int ordinal);
	cu_result (*cuDeviceGetCount)(int *count);
	cu_result (*cuDeviceGetP2PAttribute)(int *value, int attribute, cu_device source,
	                                     cu_device destination);
	cu_result (*cuDeviceGetName)(char *name, int length, cu_device device);
	cu_result (*cuDeviceGetUuid_v2)(cu_uuid *uuid, cu_device device);
	cu_result (*cuDeviceTotalMem_v2)(size_t *bytes, cu_device device);
	cu_result (*cuDeviceGetAttribute)(int *value, cu_attribute attribute, cu_device device);
	cu_result (*cuDeviceGetPCIBusId)(char *text, int length, cu_device device);
	cu_result (*cuStreamIsCapturing)(cu_stream stream, int *status);
	cu_result (*cuStreamGetFlags)(cu_stream stream, unsigned int *flags);
	cu_result (*cuStreamGetPriority)(cu_stream stream, int *priority);
	cu_result (*cuPointerGetAttributes)(unsigned int count, int *attributes, void **data,
	                                    cu_pointer pointer);
	cu_result (*cuFuncGetName)(const char **name, cu_function function);
	cu_result (*cuFuncGetParamInfo)(cu_function function, size_t index, size_t *offset,
	                                size_t *bytes);
	cu_result (*cuKernelGetParamInfo)(cu_function kernel, size_t index, size_t *offset,
	                                  size_t *bytes);
	cu_result (*cuMemGetAddressRange_v2)(cu_pointer *start, size_t *bytes, cu_pointer within);
	cu_result (*cuCtxGetCurrent)(cu_context *context);
	cu_result (*cuCtxGetDevice)(cu_device *device);
	// recorded: only where that is kept from them
	cu_result (*cuCtxSynchronize)(void);
	cu_result (*cuStreamQuery)(cu_stream stream);
};
extern GUEST_HIDDEN struct cuda_driver_calls
    cuda_driver; // members are NULL where the driver lacks them
extern GUEST_HIDDEN struct cupti_functions cuda_cupti;
extern char cuda_library[256]; // the driver's file
// Where a function's address is to be put.
struct cuda_symbol {
	const char *name;
	void *place;
	bool needed;
};
// False: a needed one is not there.
bool cuda_find_symbols(void *library, const struct cuda_symbol *symbols, size_t count);

// Whether an address lies in a driver of CUDA that programs can call: that of NVIDIA's OpenCL
// offers no functions.
bool cuda_is_driver(const void *caller);
// Opens it, from within cuInit; `caller`: an address in the driver's library.
void cuda_driver_open(const void *caller);
// Its version by its file's name ("580.159.04"); "": not told.
enum { CUDA_VERSION_BYTES = 32 };
const char *cuda_driver_version(char text[CUDA_VERSION_BYTES]);
// False: there is none that can be used.
bool cuda_cupti_open(void);
// What a library's InitializeInjection does: begins, once, where `caller`, its return address, lies
// in the driver of the program's CUDA. Returns what it is to return.
int cuda_let_in(const void *caller, void (*begin)(const void *caller));
// Some of the driver's functions, and what they are to who listens: 0: nothing.
struct cuda_listened {
	const char *name;
	uint8_t form;
};
enum { CUDA_LISTENED_IDS = 4096 };
// Asks CUPTI to tell of these; forms[] gets what each is by its id.
void cuda_listen(cupti_subscriber subscriber, const struct cuda_listened *calls, size_t count,
                 uint8_t forms[CUDA_LISTENED_IDS]);

// ---- functions of the driver

// What a function's parameters are, as CUPTI hands them over: a structure of them in their order.
enum cuda_form {
	CUDA_NOTHING, // nothing of them is looked at
	CUDA_ASKED,   // the same, and of those within another call there is no record
	CUDA_LAUNCH,
	CUDA_LAUNCH_EX,
	CUDA_GRAPH,
	CUDA_TO_DEVICE,
	CUDA_FROM_DEVICE,
	CUDA_WITHIN,
	CUDA_BETWEEN,
	CUDA_PEER,
	CUDA_RECTANGLE_2D,
	CUDA_RECTANGLE_3D,
	CUDA_BATCH, // pointers to destinations, sources, sizes; how many
	CUDA_HOST_TO_ARRAY,
	CUDA_ARRAY_TO_HOST,
	CUDA_ARRAY,
	CUDA_FILL,
	CUDA_FILL_2D,
	CUDA_OF_STREAM, // the first is a stream
	CUDA_ALLOCATE,  // pointer to the address, bytes
	CUDA_ALLOCATE_PITCH,
	CUDA_REGISTER, // address, bytes
	CUDA_FREE,     // address
	CUDA_MODULE,   // pointer to the module
	CUDA_CAPTURE_BEGIN,
	CUDA_CAPTURE_END,
	CUDA_STREAM_CREATE, // pointer to the stream
	CUDA_STREAM_DESTROY,
	CUDA_EVENT_RECORD, // event, stream
	CUDA_EVENT_AWAIT,  // stream, event
	CUDA_EVENT_WAIT,   // event
	CUDA_EVENT_DESTROY,
	CUDA_GRAPH_MADE, // pointer to what can be launched
};
enum { CUDA_NO_STREAM = 255 };

struct cuda_function {
	const char *called; // by CUPTI, without _ptsz and _ptds
	enum tare_trace_role role;
	enum cuda_form form;
	uint8_t kind; // enum tare_trace_command_kind; 0: no command
	// where its stream is among the parameters, in 8 bytes; or CUDA_NO_STREAM
	uint8_t stream;
	// of a fill the bytes of an element; of memory enum tare_trace_memory; of a launch 1:
	// cooperative
	uint8_t detail;
	bool waits; // it returns when the device got somewhere
};
enum { CUDA_MOST_FUNCTIONS = 256, CUDA_MOST_RUNTIME = 128, CUDA_MOST_CALLBACKS = 4096 };
// the runtime's behind the driver's
enum { CUDA_MOST_NAMES = CUDA_MOST_FUNCTIONS + CUDA_MOST_RUNTIME };
extern const struct cuda_function cuda_functions[];
extern const uint32_t cuda_function_count;
_Static_assert(CUDA_MOST_NAMES <= GUEST_FUNCTIONS, "");

// Of a callback's id: 1 + the function's place; 0: not recorded. With CUDA_OF_THREAD: the default
// stream is the thread's own.
enum { CUDA_OF_THREAD = 0x8000 };
extern GUEST_HIDDEN uint16_t cuda_by_callback[CUDA_MOST_CALLBACKS];
uint16_t cuda_function_of(const char *name); // the same by its name
// Fills that in by the names that CUPTI has. Returns how many are known to it.
uint32_t cuda_functions_find(void);

// The runtime's functions that end in those: 1 + its place, of a callback's id; 0: not looked at.
extern GUEST_HIDDEN uint16_t cuda_runtime_by_callback[CUDA_MOST_CALLBACKS];
void cuda_runtime_find(void);
bool cuda_runtime_ends_in(uint32_t runtime, uint32_t function);
enum tare_trace_role cuda_runtime_role(uint32_t runtime);
const char *cuda_runtime_name(uint32_t runtime);

// Names are functions of the driver's, and from CUDA_MOST_FUNCTIONS on the runtime's.
extern GUEST_HIDDEN _Atomic uint32_t cuda_defined[CUDA_MOST_NAMES];
void cuda_define_function(uint32_t name, uint32_t process);
static inline void cuda_know_function(const struct guest_thread *thread, uint32_t name)
{
	if (CUDA_UNLIKELY(atomic_load_explicit(&cuda_defined[name], memory_order_relaxed) !=
	                  thread->process))
		cuda_define_function(name, thread->process);
}
static inline uint16_t cuda_detail(uint32_t name)
{
	return (uint16_t)(GUEST_FUNCTION_BASE(TARE_TRACE_CUDA) + name);
}

// One of the driver's, before and after; `known` as in cuda_by_callback.
void cuda_record_call(const struct cupti_call *told, uint32_t known);

// What recording costs is measured with a thread of nobody's, before calls are told: into the
// file's header.
void cuda_calibrate(void);
void cuda_bench_call(struct guest_thread *thread, const struct cupti_call *told, uint32_t number,
                     bool exit);

// ---- without CUPTI: calls come from the front that `tare record` has preloaded (front/front.h)

extern bool cuda_fronted;
// Whether there is a front in this process that can be used; then it tells us of calls when
// cuda_front_listen is called.
bool cuda_front_find(void);
// Whether `tare record` was not told --no-cupti.
bool cuda_cupti_is_wanted(void);
void cuda_front_listen(enum tare_trace_front why);

// ---- a program that uses CUPTI itself

struct cuda_binding {
	const char *name;
	void *ours, *theirs; // NULL: that library has no such function
	bool called;         // it may have been called before it was led
	bool of_program;     // not in the vendor's libraries
};
// Leads to `ours` what the libraries that are loaded have bound to `theirs`, or not bound yet; only
// if libraries have been loaded since the last call. `vendors`: an address in each library that is
// not the program's; ends with NULL. Returns how many places were changed.
uint32_t cuda_bind(struct cuda_binding *bindings, uint32_t count, const void *const *vendors);
void cuda_share_begin(cupti_subscriber subscriber); // with our subscription
void cuda_share_look(void);                         // for what has been loaded since
// Whether the program may have registered buffers for records before we came.
bool cuda_share_traces(void);
// Hands a callback to the program if it has asked for it.
void cuda_share_callback(cupti_domain domain, uint32_t id, const void *data);
// The program takes activity records for itself: no times from here on.
void cuda_activity_leave(void);
bool cuda_activity_is_ours(void);

// ---- threads

// A recorded call of the driver's that has not returned.
struct cuda_open {
	uint32_t correlation; // as the runtime's call around it has
	bool ends_outer;      // the runtime's call ends in it
	uint64_t enter;
};
enum { CUDA_MOST_OPEN = 8 };

struct cuda_recorded_kernel;
struct cuda_stream;
struct cuda_thread {
	struct guest_api_thread shared; // it defines at the enter of the call that it is in
	// the lower half of the pthread_t of who has it, and below that its track
	_Atomic uint64_t who;
	bool launches; // the call that it is in is a launch
	// The runtime's call that it is in, until the driver's is told that it ends in.
	struct cuda_outer {
		uint32_t name; // 0: none
		uint32_t correlation;
		bool ended; // it is, or has been
		uint64_t enter;
	} outer;
	struct cuda_open open[CUDA_MOST_OPEN];
	uint32_t open_count;
	struct cuda_recorded_kernel *kernel; // last launched
	struct cuda_stream *stream;          // last used
	// The shape last used, and what a launch said of it: groups, items, shared bytes.
	uint32_t shape, shape_process;
	uint32_t sizes[7];
	uint8_t cluster[3];
};
static inline bool cuda_thread_make(struct guest_thread *thread)
{
	return guest_api_thread_make(thread, TARE_TRACE_CUDA, sizeof(struct cuda_thread));
}
// Of the thread whose pthread_t has this lower half; 0: of none that has called.
uint32_t cuda_track_of(uint32_t self);
static inline struct cuda_thread *cuda_of(const struct guest_thread *thread)
{
	return thread->api[TARE_TRACE_CUDA];
}

// ---- objects

enum { CUDA_MOST_DEVICES = 64 };
struct cuda_recorded_device {
	cu_device ordinal;
	uint32_t number;
	bool known;
	_Atomic uint32_t process;      // in whose file it is defined
	_Atomic uint64_t paired_ticks; // when its clock was last written
	uint32_t pages_queue;          // see pages.c; 0: none in this generation's file
	uint32_t pages_process;
};
// The device of a context, defined when it was not yet; NULL: it is not known.
struct cuda_recorded_device *cuda_device_of(cu_context context);
// That of a number of the driver's and CUPTI's, defined when it was not yet; NULL: too high.
struct cuda_recorded_device *cuda_device_at(uint32_t ordinal);
// The same, but NULL where it was not named yet.
struct cuda_recorded_device *cuda_device_known(uint32_t ordinal);
// Writes what CUPTI's clock shows; unless it is `due`, only if some time has passed.
void cuda_clock_pairs(struct guest_thread *thread, bool due);

enum { CUDA_MOST_WAITS = 12 };
struct cuda_stream {
	cu_stream handle; // as the program names it
	uint32_t context_id;
	uint32_t number;
	bool of_thread;        // the default stream of one thread
	bool again;            // its handle meant another one before
	int priority;          // less is more urgent
	bool legacy, blocking; // blocking: it and the legacy stream wait for each other
	struct cuda_recorded_device *device;
	_Atomic uint32_t process;
	// See order.c.
	struct cuda_stream *following; // of all
	_Atomic bool gone;
	_Atomic uint64_t last; // its last command; 0: none
	// of a blocking one: its last command that the legacy one waits for already
	_Atomic uint64_t waited;
	uint64_t legacy_waited;      // the legacy stream's last command that it waits for already
	_Atomic uint32_t wait_count; // what its next command waits for
	uint64_t waits[CUDA_MOST_WAITS];
};
// The stream that a call names, made known when it was not; NULL: there is no context or no memory.
struct cuda_stream *cuda_stream_of(struct guest_thread *thread, const struct cupti_call *call,
                                   cu_stream handle, bool of_thread);
void cuda_stream_forget(cu_stream handle);

// ---- order among streams: what a command waits for in others

// A command's name, which stands for its event in the trace.
static inline uint64_t cuda_event_id(uint32_t track, uint32_t number)
{
	return (uint64_t)track << 32 | number;
}
bool cuda_order_begin(void);
// A new stream, or one that is used again; zeroed. NULL: no memory.
struct cuda_stream *cuda_stream_take(void);
// Makes the list of what a command of the stream waits for in other streams; returns how many.
uint32_t cuda_order_waits(struct cuda_stream *stream, uint64_t waits[CUDA_MOST_WAITS]);
void cuda_order_recorded(struct cuda_stream *stream, const void *event);
void cuda_order_awaited(struct cuda_stream *stream, const void *event);
void cuda_order_forget(const void *event);
// What an event stands for; returns how many.
uint32_t cuda_order_of_event(const void *event, uint64_t ids[CUDA_MOST_WAITS]);
// DEPENDS records of a command, or with TARE_DEPENDS_OF_CALL of a call that was entered at `of`.
void cuda_write_depends(struct guest_thread *thread, uint8_t flags, uint64_t of, uint32_t count,
                        const uint64_t *waits);

struct cuda_recorded_kernel {
	cu_function handle;
	const char *symbol; // the driver's, not to be read after the call
	uint64_t hash;      // of what it says
	bool again;         // its handle meant another one before
	_Atomic uint32_t process;
	uint32_t told_process; // in whose file its registers are
	uint64_t told;         // of which devices, a bit each
	bool counted_known;
	struct counters_kernel *counted; // NULL: its launches are not counted
};
struct cuda_recorded_kernel *cuda_kernel_of(struct guest_thread *thread, cu_function handle,
                                            const char *symbol);
void cuda_kernel_tell(struct cuda_recorded_kernel *kernel, const struct cupti_kernel *record);
// The kernel that only its name is known of (of a graph's node); its place is its handle. NULL: no
// memory.
struct cuda_recorded_kernel *cuda_kernel_named(const char *symbol);

bool cuda_nodes_begin(void);
// The id of the graph's node that a record with such a node is of, defined when it was not; 0: it
// is of none.
uint32_t cuda_node_of(const cupti_record *record);

bool cuda_objects_begin(void);
void cuda_objects_now(void); // recording has begun
// The environment as it is when the driver begins; facts of the platform, each in so many files as
// it is defined in.
void cuda_variables_begin(void);
void cuda_variables_define(const void *platform);
// `ticks`: when it came to be; 0: with the call that this thread is in.
static inline void cuda_define(uint64_t ticks, enum tare_trace_object_kind kind, const void *handle,
                               const void *parent, const void *device, uint64_t properties,
                               uint64_t bytes, uint32_t name, uint32_t number)
{
	guest_define_object(TARE_TRACE_CUDA, ticks, kind, handle, parent, device, properties, bytes,
	                    name, number);
}
static inline void cuda_change(enum tare_trace_change change, const void *object, uint64_t from,
                               uint64_t to)
{
	guest_define_change(TARE_TRACE_CUDA, change, object, from, to);
}
static inline void cuda_fact(enum tare_trace_fact fact, const void *object, uint64_t value,
                             uint32_t text)
{
	guest_define_fact(TARE_TRACE_CUDA, fact, object, value, NULL, text);
}

// ---- calls

// The end of a call that began at `enter`.
struct cuda_call {
	const struct cupti_call *told;
	uint64_t enter;
	uint32_t function;
	// what the program has called: the function, or one of the runtime's
	uint32_t name;
	cu_result result;
	bool of_thread;
	bool nested; // within another call that is recorded
};
// One of the runtime's that did not end in a recorded call of the driver.
void cuda_runtime_call_end(struct guest_thread *thread, const struct cuda_call *call);
void cuda_call_end(struct guest_thread *thread, const struct cuda_call *call);
void cuda_command_end(struct guest_thread *thread, const struct cuda_call *call);
// compare.c: a copy between host and device; where it begins in the device's memory, and its bytes,
// once its record is written.
struct cuda_copied {
	const void *host;
	uint64_t bytes;
	bool to_device, row, waits; // row: no rectangle, no array
};
void cuda_write_part(struct guest_thread *thread, uint32_t number, uint64_t offset);
void cuda_compare(struct guest_thread *thread, uint32_t number, const struct cuda_copied *copied);
// Before: afterwards another thread may have been given the same address.
void cuda_before_free(const struct cupti_call *told, const struct cuda_function *function);
// peer.c: the devices that a copy between addresses of devices goes from and to; both NULL: it is
// within one, or that is not known.
struct cuda_peers {
	struct cuda_recorded_device *source, *destination;
};
struct cuda_peers cuda_peers_of(uint64_t to, uint64_t from);
// Behind the command's record.
void cuda_write_peers(struct guest_thread *thread, uint32_t number, const struct cuda_peers *peers);
// Once a pair, way and file: what lies between them. `staged`: a copy went through the host's
// memory; else by the best way that there is.
void cuda_tell_link(struct guest_thread *thread, const struct cuda_recorded_device *source,
                    const struct cuda_recorded_device *destination, bool staged);
// nvlink.c: the driver is asked where a device is; later, by one thread, how many NVLinks there are
// between two that it was asked for. 0: none, or it is not told.
void cuda_nvlinks_of(cu_device device);
uint32_t cuda_nvlinks(cu_device first, cu_device second);
// When the program has ended: for pairs whose copies went directly.
void cuda_links_at_exit(void);
void cuda_links_in_child(void); // nothing was told yet
// Both ends in a number that is not 0, and what was seen of a copy between them.
static inline uint16_t cuda_ends(const struct cuda_peers *peers)
{
	return peers->source
	           ? (uint16_t)(1 << 15 | peers->source->ordinal << 6 | peers->destination->ordinal)
	           : 0;
}
void cuda_ends_seen(struct guest_thread *thread, uint16_t ends, bool staged);
void cuda_nvlink_tell(struct guest_thread *thread, const struct cupti_nvlink *record);
// The rest of a call that is no command: what it made, bytes, what it is about.
struct cuda_said {
	uint64_t object, bytes;
	bool released;
};
struct cuda_said cuda_said_of(struct guest_thread *thread, const struct cuda_call *call);
// A launch's parameters, from the call's beginning on.
struct cuda_launch {
	cu_function function;
	cu_stream stream;
	bool cooperative; // its groups may wait for each other
};
struct cuda_launch cuda_launch_of(const struct cupti_call *told,
                                  const struct cuda_function *function);
// Streams that capture, in all of the process, and whether this one does.
extern _Atomic int32_t cuda_captures;
bool cuda_is_captured(cu_stream stream);

static inline const void *cuda_parameter(const struct cupti_call *told, size_t place)
{
	return ((const void *const *)told->parameters)[place];
}

// ---- device times

// Whether they are asked for.
extern GUEST_HIDDEN bool cuda_timed;
// Launches wait for their kernels: CUDA_LAUNCH_BLOCKING, which the driver reads when it begins, as
// we do.
extern bool cuda_launches_wait;
bool cuda_activity_begin(void);
void cuda_activity_in_child(void);
// Keeps a command until its activity is told.
// `ends`: see cuda_ends; 0: it is no copy between devices.
void cuda_pending_add(struct guest_thread *thread, uint32_t correlation, uint32_t number, bool many,
                      uint16_t ends, struct cuda_recorded_kernel *kernel);
bool cuda_pending_begin(void);

// What waits for its times.
struct cuda_pending {
	uint32_t track, number;
	// a graph, a batch, a copy that may go through the host: any number of activities has this
	// correlation
	bool many;
	uint16_t ends;
	struct cuda_recorded_kernel *kernel;
};
// Takes it, or leaves it where there are to be more. `first`: it is the first activity of it.
bool cuda_pending_find(uint32_t correlation, struct cuda_pending *found, bool *first);
void cuda_harvest(void); // for the core

// What the driver loads by itself: asks for it; what an overhead record tells; a module was loaded
// in this thread.
void cuda_loading_begin(void);
void cuda_overhead_tell(struct guest_thread *thread, const struct cupti_overhead *told);
void cuda_module_loaded(struct guest_thread *thread);

// Managed memory: whether what the driver does with it is told; asks for it, once, when memory is
// allocated in a context; writes what is told.
extern _Atomic bool cuda_pages_told;
void cuda_pages_begin(cu_context context);
void cuda_pages_tell(struct guest_thread *thread, const struct cupti_pages *told);
// The queue that stands for it of the device with this number of CUPTI's; of the host's faults, of
// any. 0: none.
uint32_t cuda_pages_queue(uint32_t device, bool any);
void cuda_flush_at_exit(void);
