// SPDX-License-Identifier: Apache-2.0
// The OpenCL backend: drivers, devices, and the list of members.
#include "backend/host_clock.h"
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct tare_backend tare_backend_opencl;

static uint32_t lower_version(const struct opencl_functions *cl, cl_platform_id platform,
                              cl_device_id device)
{
	char text[256] = "";
	cl->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
	uint32_t of_platform = opencl_version(text);
	text[0] = '\0';
	cl->clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof text - 1, text, NULL);
	uint32_t of_device = opencl_version(text);
	return of_platform < of_device ? of_platform : of_device;
}

// Adds the platform's devices to the driver's list. A platform without any is none of our errors.
static int list_devices(struct opencl_driver *driver, cl_platform_id platform,
                        struct tare_error *error)
{
	cl_device_id *ids = NULL;
	cl_uint count = 0;
	int rc = 0;

	if (driver->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count) !=
	        CL_SUCCESS ||
	    !count)
		return 0;
	ids = calloc(count, sizeof(cl_device_id));
	struct opencl_entry *entries =
	    realloc(driver->entries, (driver->count + count) * sizeof *entries);
	if (entries)
		driver->entries = entries;
	if (!ids || !entries) {
		rc = tare_fail(error, ENOMEM, "out of memory");
		goto out;
	}
	if (driver->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL) != CL_SUCCESS)
		goto out;
	for (cl_uint i = 0; i < count; i++)
		entries[driver->count++] = (struct opencl_entry){
			platform,
			ids[i],
			lower_version(&driver->cl, platform, ids[i]),
		};
out:
	free(ids);
	return rc;
}

// The names of all platforms, "A, B".
static void name_platforms(const struct opencl_functions *cl, const cl_platform_id *platforms,
                           cl_uint count, char *names, size_t size)
{
	size_t used = 0;
	names[0] = '\0';
	for (cl_uint i = 0; i < count && used < size; i++) {
		char name[128] = "?";
		cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
		used += (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "", name);
	}
}

static int list_platforms(struct opencl_driver *driver, struct tare_error *error)
{
	cl_platform_id *platforms = NULL;
	cl_uint count = 0;
	char names[256];
	int rc = 0;
	cl_int code = driver->cl.clGetPlatformIDs(0, NULL, &count);

	if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && !count))
		return tare_advises(error,
		                    tare_fail_native(error, ENODEV, "opencl", "clGetPlatformIDs",
		                                     code, opencl_code_name(code),
		                                     "%s is here but has no driver; "
		                                     "for the CPU install pocl-opencl-icd",
		                                     tare_library_name(driver->library)));
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clGetPlatformIDs", code,
		                   "cannot list the OpenCL platforms");
	platforms = calloc(count, sizeof(cl_platform_id));
	if (!platforms)
		return tare_fail(error, ENOMEM, "out of memory");
	code = driver->cl.clGetPlatformIDs(count, platforms, NULL);
	if (code != CL_SUCCESS) {
		rc = opencl_fail(error, "clGetPlatformIDs", code,
		                 "cannot list the OpenCL platforms");
		goto out;
	}
	for (cl_uint i = 0; i < count && rc == 0; i++)
		rc = list_devices(driver, platforms[i], error);
	if (rc == 0 && !driver->count) {
		name_platforms(&driver->cl, platforms, count, names, sizeof names);
		rc = tare_advises(error,
		                  tare_fail(error, ENODEV,
		                            "the OpenCL drivers on this machine (%s) found no "
		                            "device; for the CPU install pocl-opencl-icd",
		                            names));
	}
out:
	free(platforms);
	return rc;
}

static void driver_close(struct tare_driver *driver)
{
	struct opencl_driver *own = (struct opencl_driver *)driver;
	if (!own)
		return;
	free(own->entries);
	tare_library_close(own->library);
	free(own);
}

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	struct opencl_driver *opened = calloc(1, sizeof *opened);

	(void)option;
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base.backend = &tare_backend_opencl;
	int rc = opencl_library_open(&opened->cl, &opened->library, error);
	if (rc == 0)
		rc = list_platforms(opened, error);
	if (rc < 0) {
		driver_close(&opened->base);
		return rc;
	}
	*driver = &opened->base;
	return 0;
}

static uint32_t device_count(const struct tare_driver *driver)
{
	return ((const struct opencl_driver *)driver)->count;
}

// PoCL's device that runs everything in the thread of the caller; *version is PoCL's major one.
static bool is_serial_pocl(const struct opencl_functions *cl, const struct opencl_entry *entry,
                           long *version)
{
	char platform[128] = "", device[256] = "", driver[128] = "";

	cl->clGetPlatformInfo(entry->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform,
	                      NULL);
	cl->clGetDeviceInfo(entry->id, CL_DEVICE_NAME, sizeof device - 1, device, NULL);
	cl->clGetDeviceInfo(entry->id, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
	*version = strtol(driver, NULL, 10);
	return strcmp(platform, "Portable Computing Language") == 0 &&
	       (strncmp(device, "basic", 5) == 0 || strncmp(device, "cpu-minimal", 11) == 0);
}

// What decides later which calls are allowed.
static void read_abilities(struct opencl_device *device)
{
	const struct opencl_functions *cl = device->cl;
	cl_command_queue_properties properties = 0;
	size_t resolution = 0;

	cl->clGetDeviceInfo(device->entry.id, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties,
	                    &properties, NULL);
	device->profiling = properties & CL_QUEUE_PROFILING_ENABLE;
	device->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	cl->clGetDeviceInfo(device->entry.id, CL_DEVICE_PROFILING_TIMER_RESOLUTION,
	                    sizeof resolution, &resolution, NULL);
	device->resolution_ns = resolution ? resolution : 1;
	if (device->entry.version >= 200 && cl->clSVMAlloc && cl->clSVMFree &&
	    cl->clEnqueueSVMMemcpy && cl->clEnqueueSVMMemFill && cl->clEnqueueSVMMap &&
	    cl->clEnqueueSVMUnmap && cl->clSetKernelArgSVMPointer)
		cl->clGetDeviceInfo(device->entry.id, CL_DEVICE_SVM_CAPABILITIES,
		                    sizeof device->svm, &device->svm, NULL);
	long version;
	device->runs_inside_calls = is_serial_pocl(cl, &device->entry, &version);
	const char *cache = getenv("POCL_KERNEL_CACHE");
	// As PoCL reads it (pocl_get_bool_option): off where it is set and does not begin with 1.
	device->base.child_builds = device->runs_inside_calls && (!cache || cache[0] == '1');
	device->launch_limit_ns = TARE_LIMIT_DEFAULT_NS;
	// PoCL before 5.0 executes what waits for a user event inside clSetUserEventStatus while it
	// holds that command's lock, and so locks itself out (its commit ed19fb187), on this device
	// only.
	device->user_events = !device->runs_inside_calls || version >= 5;
	// PoCL 6 enqueues a buffer's move to the host while it holds the buffer's lock, which the
	// end of the move wants (pocl_create_migration_commands; not so in 5 and 7). Here one
	// thread does both.
	device->moves_to_host = !device->runs_inside_calls || version != 6;
	device->timer_pairs = device->profiling && opencl_timer_pairs(cl, &device->entry);
}

static void device_close(struct tare_device *device)
{
	struct opencl_device *own = opencl_device(device);
	if (!own)
		return;
	opencl_aside_close(own);
	opencl_blas_close(own);
	if (own->service)
		own->cl->clReleaseCommandQueue(own->service);
	if (own->context)
		own->cl->clReleaseContext(own->context);
	free(own);
}

static int open_context(struct opencl_device *device, struct tare_error *error)
{
	const cl_context_properties properties[] = {
		CL_CONTEXT_PLATFORM,
		(cl_context_properties)device->entry.platform,
		0,
	};
	cl_int code = CL_SUCCESS;

	device->context =
	    device->cl->clCreateContext(properties, 1, &device->entry.id, NULL, NULL, &code);
	if (code != CL_SUCCESS) {
		device->context = NULL;
		return opencl_fail(error, "clCreateContext", code, "cannot open the device");
	}
	// A device may say that it profiles and then refuse the queue.
	device->service_timed = device->profiling;
	if (device->service_timed &&
	    opencl_queue_open(device, CL_QUEUE_PROFILING_ENABLE, &device->service, NULL) == 0)
		return 0;
	device->service_timed = false;
	return opencl_queue_open(device, 0, &device->service, error);
}

static int device_open(struct tare_driver *driver, uint32_t index, struct tare_device **device,
                       struct tare_error *error)
{
	struct opencl_driver *own = (struct opencl_driver *)driver;

	if (index >= own->count)
		return tare_fail(error, EINVAL, "there is no OpenCL device %u; the last is %u",
		                 index, own->count - 1);
	if (own->entries[index].version < 120)
		return tare_fail(error, ENOTSUP, "the device speaks OpenCL %u.%u; tare needs 1.2",
		                 own->entries[index].version / 100,
		                 own->entries[index].version / 10 % 10);
	struct opencl_device *opened = calloc(1, sizeof *opened);
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base = (struct tare_device){ .backend = &tare_backend_opencl, .index = index };
	opened->cl = &own->cl;
	opened->entry = own->entries[index];
	read_abilities(opened);
	int rc = open_context(opened, error);
	if (rc < 0) {
		device_close(&opened->base);
		return rc;
	}
	*device = &opened->base;
	return 0;
}

const struct tare_backend tare_backend_opencl = {
	.name = "opencl",
	.title = "OpenCL",
	.driver_open = driver_open,
	.driver_close = driver_close,
	.device_count = device_count,
	.device_facts = opencl_device_facts,
	.device_open = device_open,
	.device_close = device_close,
	.host_now = tare_backend_host_now,
	.host_pause = tare_backend_host_pause,
	.clock_rate = opencl_clock_rate,
	.clock_pair = opencl_clock_pair,
	.engines = opencl_engines,
	.memory_create = opencl_memory_create,
	.memory_free = opencl_memory_free,
	.image_create = opencl_image_create,
	.queue_create = opencl_queue_create,
	.queue_free = opencl_queue_free,
	.append = opencl_append,
	.submit = opencl_submit,
	.finish = opencl_finish,
	.event_wait = opencl_event_wait,
	.event_done = opencl_event_done,
	.event_callback = opencl_event_callback,
	.event_stamps = opencl_event_stamps,
	.event_free = opencl_event_free,
	.gate_shut = opencl_gate_shut,
	.gate_open = opencl_gate_open,
	.gate_free = opencl_gate_free,
	.module_formats =
	    1u << TARE_MODULE_OPENCL_C | 1u << TARE_MODULE_SPIRV | 1u << TARE_MODULE_NATIVE,
	.builds_anywhere = true,
	.module_create = opencl_module_create,
	.module_free = opencl_module_free,
	.kernel_create = opencl_kernel_create,
	.kernel_free = opencl_kernel_free,
	.kernel_facts = opencl_kernel_facts,
	.kernel_parameter = opencl_kernel_parameter,
	.blas_gemm = opencl_blas_gemm,
	.blas_name = opencl_blas_name,
};
