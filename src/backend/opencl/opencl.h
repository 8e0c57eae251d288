// SPDX-License-Identifier: Apache-2.0
// What the files of the OpenCL backend share. The members of the contract are defined in the file
// named after their subject; backend.c lists them.
#pragma once
#include "backend/backend.h"
#include "backend/opencl/library.h"

// A device as the loader lists it.
struct opencl_entry {
	cl_platform_id platform;
	cl_device_id id;
	uint32_t version; // 100 * major + 10 * minor: the lower one of platform and device
};

struct opencl_driver {
	struct tare_driver base;
	struct tare_library *library;
	struct opencl_functions cl;
	uint32_t count;
	struct opencl_entry *entries;
};

struct opencl_device {
	struct tare_device base;
	const struct opencl_functions *cl;
	struct opencl_entry entry;
	cl_context context;
	cl_command_queue service; // our own in-order queue: mappings, clock pairs
	bool profiling, out_of_order, service_timed;
	bool timer_pairs; // clGetDeviceAndHostTimer works here
	bool user_events; // false on a driver that hangs on them
	// whether it tells of kernels' local memory (kernel_local.c)
	bool local_asked, local_untold;
	bool moves_to_host;     // the same for buffers migrated to the host
	uint64_t resolution_ns; // of the profiling timer, at least 1
	cl_device_svm_capabilities svm;
	struct opencl_blas *blas;   // NULL until it is asked for
	bool runs_inside_calls;     // an enqueue returns when the kernel has run
	int64_t launch_limit_ns;    // for such an enqueue
	struct opencl_aside *aside; // NULL until it is needed
};

struct opencl_queue {
	struct tare_queue base;
	cl_command_queue queue;
	cl_context context; // borrowed: the device's
	bool timed, out_of_order;
};

struct opencl_event {
	struct tare_event base;
	cl_event event;
	cl_event begun; // several commands in one: its end is their start; else NULL
	bool timed;
};

struct opencl_memory {
	struct tare_memory base;
	cl_mem buffer;  // NULL for PAGEABLE; for SHARED a wrapper of `svm`, may be NULL
	void *svm;      // SHARED
	void *mapped;   // what mapping gave, and unmapping wants; NULL while not mapped
	void *reserved; // our own mmap
	size_t reserved_bytes;
	struct tare_image image; // `buffer` is an image of this shape; width 0: it is none
	bool svm_fine;           // SHARED: the host may touch it without mapping
};

struct opencl_module {
	struct tare_module base;
	cl_program program;
	bool ends; // what it holds is known to end
};

struct opencl_kernel {
	struct tare_kernel base;
	cl_kernel kernel;
};

static inline struct opencl_device *opencl_device(struct tare_device *device)
{
	return (struct opencl_device *)device;
}

// ---- errors.c

// "CL_OUT_OF_RESOURCES" for -5; NULL for a code without a name.
const char *opencl_code_name(cl_int code);
// The errno (positive) that the contract wants for a failing call's code.
int opencl_errno(cl_int code);
// Fills *error for a failed OpenCL call and returns the negative errno of `code`.
int opencl_fail(struct tare_error *error, const char *call, cl_int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// 0 for CL_SUCCESS, else as opencl_fail.
#define opencl_result(error, call, code, ...)                                                      \
	((code) == CL_SUCCESS ? 0 : opencl_fail(error, call, code, __VA_ARGS__))
// As opencl_fail, for a command that the device ended with a negative status. CL_OUT_OF_RESOURCES
// is -EIO here: NVIDIA's driver says so when a kernel faults, not only when memory is short.
int opencl_fail_status(struct tare_error *error, cl_int status);

// ---- facts.c

// "OpenCL 1.2 ..." as 120; 0 when the text is none of OpenCL's.
uint32_t opencl_version(const char *text);
// True when `extension` is a whole word of the device's list.
bool opencl_has_extension(const struct opencl_functions *cl, cl_device_id device,
                          const char *extension);
int opencl_device_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
                        struct tare_error *error);
int opencl_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                   struct tare_error *error);

// ---- clock.c

// Whether clGetDeviceAndHostTimer can be used, which NVIDIA's driver and PoCL before 6 refuse.
bool opencl_timer_pairs(const struct opencl_functions *cl, const struct opencl_entry *entry);
int opencl_clock_rate(struct tare_device *device, enum tare_clock clock,
                      struct tare_clock_rate *rate, struct tare_error *error);
int opencl_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                      struct tare_error *error);

// ---- memory.c

int opencl_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                         struct tare_memory **memory, struct tare_error *error);
void opencl_memory_free(struct tare_memory *memory);

// ---- image.c

int opencl_image_create(struct tare_device *device, const struct tare_image *shape,
                        struct tare_memory **memory, struct tare_error *error);
bool opencl_is_image(const struct tare_memory *memory);

// ---- queue.c

int opencl_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                        struct tare_queue **queue, struct tare_error *error);
void opencl_queue_free(struct tare_queue *queue);
int opencl_submit(struct tare_queue *queue, struct tare_error *error);
int opencl_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
// A native queue on `device`; CL_QUEUE_PROFILING_ENABLE and so on in `properties`.
int opencl_queue_open(const struct opencl_device *device, cl_command_queue_properties properties,
                      cl_command_queue *queue, struct tare_error *error);

// ---- operation.c, copy.c, map.c, launch.c, host_call.c

int opencl_append(struct tare_queue *queue, const struct tare_operation *operation,
                  struct tare_event **event, struct tare_error *error);

// An operation on its way to the runtime.
struct opencl_append {
	struct opencl_device *device;
	struct opencl_queue *queue;
	const struct tare_operation *operation;
	cl_uint wait_count;
	const cl_event *waits; // NULL when wait_count is 0
	cl_event *event;       // where the runtime leaves the handle; NULL when nobody wants it
};

// Whether a COPY or RECTANGLE is done by a call from buffer to buffer, which has no blocking form.
bool opencl_copies_between_buffers(const struct tare_operation *operation);
int opencl_append_copy(const struct opencl_append *append, struct tare_error *error);
// A copy between an image and host memory (image.c).
int opencl_append_image(const struct opencl_append *append, struct tare_error *error);
int opencl_append_rectangle(const struct opencl_append *append, struct tare_error *error);
int opencl_append_map(const struct opencl_append *append, struct tare_error *error);
int opencl_append_unmap(const struct opencl_append *append, struct tare_error *error);
int opencl_append_launch(const struct opencl_append *append, struct tare_error *error);
int opencl_append_host_call(const struct opencl_append *append, struct tare_error *error);

// ---- aside.c

// A clEnqueueNDRangeKernel.
struct opencl_launch_call {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_uint dimensions;
	size_t global[3], local[3];
	cl_uint wait_count;
	const cl_event *waits;
	cl_event *event;
};
cl_int opencl_launch_now(const struct opencl_functions *cl, const struct opencl_launch_call *call);
// The same from another thread, with the device's limit. *code is the call's. -ETIMEDOUT: it has
// not returned; from now on every launch of this device says so, and the device is to be abandoned.
int opencl_launch_aside(struct opencl_device *device, const struct opencl_launch_call *call,
                        cl_int *code, struct tare_error *error);
void opencl_aside_close(struct opencl_device *device);

// ---- kernel_local.c

// *bytes: of local memory that the kernel declares; -1 where the driver does not tell. Returns 0,
// or -EINTR: the user stopped the build of our own kernel, and the device is given up.
int opencl_kernel_local_bytes(struct opencl_device *device, cl_kernel kernel, int64_t *bytes,
                              struct tare_error *error);

// ---- event.c

// Waits for `event`, flushing its queue, as the contract's event_wait does. `what` completes
// "timed out waiting for ...".
int opencl_wait(const struct opencl_device *device, cl_event event, int64_t limit_ns,
                const char *what, struct tare_error *error);
int opencl_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
int opencl_event_done(struct tare_event *event, struct tare_error *error);
int opencl_event_callback(struct tare_event *event, void (*function)(void *context), void *context,
                          struct tare_error *error);
int opencl_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                        struct tare_error *error);
void opencl_event_free(struct tare_event *event);

// ---- gate.c

// A user event in `context`. -ENOTSUP where the device has none, or hangs on them.
int opencl_user_event(const struct opencl_device *device, cl_context context, cl_event *event,
                      struct tare_error *error);
int opencl_gate_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error);
int opencl_gate_open(struct tare_gate *gate, struct tare_error *error);
void opencl_gate_free(struct tare_gate *gate);

// ---- module.c

int opencl_module_create(struct tare_device *device, const struct tare_module_source *source,
                         struct tare_module **module, char **log, struct tare_error *error);
void opencl_module_free(struct tare_module *module);
int opencl_kernel_create(struct tare_module *module, const char *name, struct tare_kernel **kernel,
                         struct tare_error *error);
void opencl_kernel_free(struct tare_kernel *kernel);
int opencl_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                        struct tare_error *error);

// ---- blas.c

int opencl_blas_gemm(struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n,
                     struct tare_span c, struct tare_span a, struct tare_span b,
                     struct tare_event **event, struct tare_error *error);
const char *opencl_blas_name(struct tare_device *device);
void opencl_blas_close(struct opencl_device *device);

// ---- parameter.c

// How many arguments a kernel takes; -1 when the driver does not tell.
int64_t opencl_argument_count(const struct opencl_device *device, cl_kernel kernel);
int opencl_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                            struct tare_parameter *parameter, struct tare_error *error);
