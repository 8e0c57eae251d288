// SPDX-License-Identifier: Apache-2.0
// Programs, builds and kernels: where they come from and what they take.
#include "guest/opencl/layer.h"

#include <string.h>

#ifndef CL_KERNEL_SPILL_MEM_SIZE_INTEL
#define CL_KERNEL_SPILL_MEM_SIZE_INTEL 0x4109
#endif

enum { MOST_DEVICES = 32, NAME_BYTES = 4096 };

static struct guest_map *_Atomic described; // kernels whose facts were written, by program and name

static void define_program(cl_program program, cl_context context, bool native, uint64_t hash,
                           uint64_t bytes)
{
	layer_object_new(TARE_OBJECT_PROGRAM, program);
	layer_define(TARE_OBJECT_PROGRAM, program, context, NULL, native ? TARE_PROGRAM_NATIVE : 0,
	             0, 0, 0);
	if (bytes == 0)
		return;
	layer_fact(TARE_TRACE_FACT_SOURCE_HASH, program, hash, NULL, 0);
	layer_fact(TARE_TRACE_FACT_SOURCE_BYTES, program, bytes, NULL, 0);
}

void layer_after_clCreateProgramWithSource(struct guest_thread *thread, cl_program result,
                                           cl_context context, cl_uint count, const char **texts,
                                           const size_t *lengths, cl_int *error)
{
	uint64_t hash = GUEST_HASH_START, bytes = 0;
	if (result == NULL)
		return;
	for (cl_uint i = 0; i < count; i++) {
		size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
		hash = guest_hash(hash, texts[i], length);
		bytes += length;
	}
	define_program(result, context, false, hash, bytes);
}

void layer_after_clCreateProgramWithBinary(struct guest_thread *thread, cl_program result,
                                           cl_context context, cl_uint count,
                                           const cl_device_id *devices, const size_t *lengths,
                                           const unsigned char **binaries, cl_int *status,
                                           cl_int *error)
{
	// One device's is enough to know it again.
	if (result != NULL && count != 0)
		define_program(result, context, true,
		               guest_hash(GUEST_HASH_START, binaries[0], lengths[0]), lengths[0]);
}

void layer_after_clCreateProgramWithBuiltInKernels(struct guest_thread *thread, cl_program result,
                                                   cl_context context, cl_uint count,
                                                   const cl_device_id *devices, const char *names,
                                                   cl_int *error)
{
	if (result != NULL)
		define_program(result, context, true,
		               guest_hash(GUEST_HASH_START, names, strlen(names)), strlen(names));
}

void layer_after_clCreateProgramWithIL(struct guest_thread *thread, cl_program result,
                                       cl_context context, const void *text, size_t bytes,
                                       cl_int *error)
{
	if (result != NULL)
		define_program(result, context, false, guest_hash(GUEST_HASH_START, text, bytes),
		               bytes);
}

void layer_after_clCreateProgramWithILKHR(struct guest_thread *thread, cl_program result,
                                          cl_context context, const void *text, size_t bytes,
                                          cl_int *error)
{
	layer_after_clCreateProgramWithIL(thread, result, context, text, bytes, error);
}

// ---- builds

// `failure`: the code of a build that fails after this call, when it was told to call back.
static void built(cl_program program, const char *options, cl_int result, cl_int failure)
{
	struct layer_object *object = layer_object_find(TARE_OBJECT_PROGRAM, program);
	if (object != NULL)
		object->flags = result == CL_SUCCESS ? (uint64_t)(int64_t)failure : 0;
	if (options != NULL && options[0] != '\0')
		layer_fact(TARE_TRACE_FACT_BUILD_OPTIONS, program, 0, NULL,
		           guest_text(options, strlen(options)));
	if (result != CL_SUCCESS)
		layer_fact(TARE_TRACE_FACT_BUILD_FAILED, program, (uint64_t)(int64_t)result, NULL,
		           0);
}

void layer_after_clBuildProgram(struct guest_thread *thread, cl_int result, cl_program program,
                                cl_uint count, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	built(program, options, result, CL_BUILD_PROGRAM_FAILURE);
}

void layer_after_clCompileProgram(struct guest_thread *thread, cl_int result, cl_program program,
                                  cl_uint count, const cl_device_id *devices, const char *options,
                                  cl_uint headers, const cl_program *header, const char **names,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	built(program, options, result, CL_COMPILE_PROGRAM_FAILURE);
}

void layer_after_clLinkProgram(struct guest_thread *thread, cl_program result, cl_context context,
                               cl_uint count, const cl_device_id *devices, const char *options,
                               cl_uint programs, const cl_program *program,
                               void(CL_CALLBACK *notify)(cl_program, void *), void *data,
                               cl_int *error)
{
	if (result == NULL)
		return;
	define_program(result, context, false, 0, 0);
	built(result, options, error != NULL ? *error : CL_SUCCESS, CL_LINK_PROGRAM_FAILURE);
}

// A build that went on after its call: the program finds out, and we with it. Asking by ourselves,
// in its callback, could meet a lock of the driver's.
void layer_after_clGetProgramBuildInfo(struct guest_thread *thread, cl_int result,
                                       cl_program program, cl_device_id device,
                                       cl_program_build_info name, size_t bytes, void *value,
                                       size_t *bytes_ret)
{
	cl_build_status status;
	if (result != CL_SUCCESS || name != CL_PROGRAM_BUILD_STATUS || value == NULL ||
	    bytes < sizeof status)
		return;
	memcpy(&status, value, sizeof status);
	struct layer_object *object = layer_object_find(TARE_OBJECT_PROGRAM, program);
	if (status != CL_BUILD_ERROR || object == NULL || object->flags == 0)
		return;
	layer_fact(TARE_TRACE_FACT_BUILD_FAILED, program, object->flags, device, 0);
	object->flags = 0;
}

// ---- kernels

static bool ask(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t bytes,
                void *value)
{
	return layer_next.clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, NULL) ==
	       CL_SUCCESS;
}

static void number_fact(cl_kernel kernel, cl_device_id device, enum tare_trace_fact fact,
                        cl_kernel_work_group_info name, size_t bytes)
{
	uint64_t value = 0; // little-endian, as all of the trace
	if (ask(kernel, device, name, bytes, &value))
		layer_fact(fact, kernel, value, device, 0);
}

static bool is_pocl(cl_device_id device)
{
	static const char name[] = "Portable Computing Language";
	char text[sizeof name + 1] = "";
	cl_platform_id platform = NULL;
	return layer_next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform,
	                                  NULL) == CL_SUCCESS &&
	       layer_next.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text,
	                                    NULL) == CL_SUCCESS &&
	       strcmp(text, name) == 0;
}

// PoCL from 4 on says 0 for both where it knows neither: of every kernel on a CPU, also of those
// that have local memory. That is no fact.
static void memory_facts(cl_kernel kernel, cl_device_id device)
{
	cl_ulong local = 0, own = 0;
	bool local_told = ask(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local);
	bool own_told = ask(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof own, &own);
	if (local == 0 && own == 0 && is_pocl(device))
		return;
	if (local_told)
		layer_fact(TARE_TRACE_FACT_LOCAL_BYTES, kernel, local, device, 0);
	if (own_told)
		layer_fact(TARE_TRACE_FACT_PRIVATE_BYTES, kernel, own, device, 0);
}

static void facts_for(cl_kernel kernel, cl_device_id device)
{
	number_fact(kernel, device, TARE_TRACE_FACT_GROUP_LIMIT, CL_KERNEL_WORK_GROUP_SIZE,
	            sizeof(size_t));
	memory_facts(kernel, device);
	number_fact(kernel, device, TARE_TRACE_FACT_PREFERRED_MULTIPLE,
	            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t));
	size_t compiled[3] = { 0 };
	if (ask(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof compiled, compiled) &&
	    compiled[0] != 0)
		layer_fact(TARE_TRACE_FACT_COMPILED_GROUP, kernel,
		           (compiled[0] & 0x1fffff) | (uint64_t)(compiled[1] & 0x1fffff) << 21 |
		               (uint64_t)(compiled[2] & 0x1fffff) << 42,
		           device, 0);
	// Only Intel's compiler tells; another's might take the number for something else.
	cl_uint vendor = 0;
	layer_next.clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
	if (vendor == 0x8086)
		number_fact(kernel, device, TARE_TRACE_FACT_SPILL_BYTES,
		            CL_KERNEL_SPILL_MEM_SIZE_INTEL, sizeof(cl_ulong));
}

// Whether this is the first kernel of that name of that program.
static bool is_first(const struct layer_object *program, const char *name)
{
	struct guest_map *map = atomic_load(&described);
	if (map == NULL) {
		struct guest_map *made = guest_map_new();
		map = atomic_compare_exchange_strong(&described, &map, made)
		          ? made
		          : atomic_load(&described);
	}
	if (map == NULL || program == NULL)
		return true;
	uint64_t hash = guest_hash(GUEST_HASH_START, &program->serial, sizeof program->serial);
	const void *key = guest_hash_key(guest_hash(hash, name, strlen(name)));
	if (guest_map_find(map, key, 0) != 0)
		return false;
	guest_map_put(map, key, 1);
	return true;
}

// Devices for which a program has been built.
static size_t devices_of(cl_program program, cl_device_id *devices)
{
	size_t bytes = 0;
	if (program == NULL || layer_next.clGetProgramInfo == NULL ||
	    layer_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES, MOST_DEVICES * sizeof *devices,
	                                devices, &bytes) != CL_SUCCESS)
		return 0;
	return bytes / sizeof *devices;
}

// `name` NULL: the kernel is asked for it.
static void define_kernel(cl_kernel kernel, cl_program program, const char *name)
{
	char own[NAME_BYTES] = "";
	if (name == NULL) {
		layer_next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof own - 1, own,
		                           NULL);
		name = own;
	}
	layer_object_new(TARE_OBJECT_KERNEL, kernel);
	layer_define(TARE_OBJECT_KERNEL, kernel, program, NULL, 0, 0,
	             guest_text(name, strlen(name)), 0);
	if (!is_first(layer_object_find(TARE_OBJECT_PROGRAM, program), name))
		return;
	cl_device_id devices[MOST_DEVICES];
	size_t count = devices_of(program, devices);
	for (size_t i = 0; i < count; i++)
		facts_for(kernel, devices[i]);
}

void layer_after_clCreateKernel(struct guest_thread *thread, cl_kernel result, cl_program program,
                                const char *name, cl_int *error)
{
	if (result != NULL)
		define_kernel(result, program, name);
}

void layer_after_clCreateKernelsInProgram(struct guest_thread *thread, cl_int result,
                                          cl_program program, cl_uint room, cl_kernel *kernels,
                                          cl_uint *count)
{
	cl_uint made = count != NULL ? *count : 0;
	if (result != CL_SUCCESS || kernels == NULL)
		return;
	if (count == NULL) {
		size_t there = 0;
		layer_next.clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof there, &there,
		                            NULL);
		made = (cl_uint)there;
	}
	for (cl_uint i = 0; i < made && i < room; i++)
		define_kernel(kernels[i], program, NULL);
}

void layer_after_clCloneKernel(struct guest_thread *thread, cl_kernel result, cl_kernel source,
                               cl_int *error)
{
	cl_program program = NULL;
	if (result == NULL)
		return;
	layer_next.clGetKernelInfo(source, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
	define_kernel(result, program, NULL);
}

// ---- command buffers

void layer_after_clCreateCommandBufferKHR(struct guest_thread *thread, cl_command_buffer_khr result,
                                          cl_uint count, const cl_command_queue *queues,
                                          const cl_command_buffer_properties_khr *properties,
                                          cl_int *error)
{
	if (result == NULL)
		return;
	struct layer_object *object = layer_object_new(TARE_OBJECT_GRAPH, result);
	const cl_command_queue first = count != 0 && queues != NULL ? queues[0] : NULL;
	if (object != NULL)
		object->flags = (uintptr_t)first;
	layer_define(TARE_OBJECT_GRAPH, result, first, NULL, 0, 0, 0, 0);
}

cl_command_queue layer_graph_queue(const void *graph)
{
	const struct layer_object *object = layer_object_find(TARE_OBJECT_GRAPH, graph);
	return object != NULL ? (cl_command_queue)(uintptr_t)object->flags : NULL;
}
