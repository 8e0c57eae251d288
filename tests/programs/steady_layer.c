// SPDX-License-Identifier: Apache-2.0
// An OpenCL layer that makes two drivers one to the program, so that what it executes on them can
// be compared: it answers alike what devices are asked, and makes launches of a size that a slow
// one ends.
//   STEADY_GROUPS    a launch has at most this many work-groups (none: as many as the program says)
//   STEADY_LAUNCHES  of each kernel, by name, at most this many launches (none: all)
//   STEADY_MEMORY    the device's memory in MiB, of which an allocation has a quarter at most
//                    (none: 256)
//   STEADY_WRITES    a folder: the source and the options of the program's build N, or of the part
//                    that it compiles, are written to N.cl and N.options
//   STEADY_TAKES     a folder: where it has N.bc, build N is made of this bitcode instead
// A launch that is left out is a marker. What such a program computes is nothing of use.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_ITEMS = 64, LOCAL_BYTES = 32768, NAMES = 256 };

static struct _cl_icd_dispatch mine;
static const struct _cl_icd_dispatch *next;

// ---- what the device says

static const size_t item_sizes[3] = { GROUP_ITEMS, GROUP_ITEMS, GROUP_ITEMS };
static const cl_device_type type = CL_DEVICE_TYPE_CPU;
static const cl_device_local_mem_type local_type = CL_LOCAL;
static const cl_uint one = 1, vendor = 1, dimensions = 3, cache_line = 64, megahertz = 1000,
                     address_bits = 64, align_bits = 1024;
static const cl_bool no = CL_FALSE;
static const cl_ulong local_bytes = LOCAL_BYTES, constant_bytes = 65536, cache_bytes = 256 << 10;
static cl_ulong allocation_bytes = 64 << 20, global_bytes = 256 << 20; // STEADY_MEMORY
static const size_t group_items = GROUP_ITEMS, multiple = 8;

struct answer {
	cl_uint asked;
	size_t bytes;
	const void *value;
};

#define IS(asked, value) { asked, sizeof value, &value }
#define TEXT(asked, text) { asked, sizeof text, text }

static const struct answer device_answers[] = {
	IS(CL_DEVICE_TYPE, type),
	IS(CL_DEVICE_VENDOR_ID, vendor),
	IS(CL_DEVICE_MAX_COMPUTE_UNITS, one),
	IS(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, dimensions),
	IS(CL_DEVICE_MAX_WORK_GROUP_SIZE, group_items),
	IS(CL_DEVICE_MAX_WORK_ITEM_SIZES, item_sizes),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, one),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, one),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, one),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, one),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, one),
	IS(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, one),
	IS(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, one),
	IS(CL_DEVICE_MAX_CLOCK_FREQUENCY, megahertz),
	IS(CL_DEVICE_ADDRESS_BITS, address_bits),
	IS(CL_DEVICE_MEM_BASE_ADDR_ALIGN, align_bits),
	IS(CL_DEVICE_MAX_MEM_ALLOC_SIZE, allocation_bytes),
	IS(CL_DEVICE_GLOBAL_MEM_SIZE, global_bytes),
	IS(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cache_bytes),
	IS(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cache_line),
	IS(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, constant_bytes),
	IS(CL_DEVICE_LOCAL_MEM_TYPE, local_type),
	IS(CL_DEVICE_LOCAL_MEM_SIZE, local_bytes),
	IS(CL_DEVICE_IMAGE_SUPPORT, no),
	TEXT(CL_DEVICE_NAME, "steady"),
	TEXT(CL_DEVICE_VENDOR, "steady"),
	TEXT(CL_DRIVER_VERSION, "1.0"),
	TEXT(CL_DEVICE_VERSION, "OpenCL 1.2 steady"),
	TEXT(CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 steady"),
	TEXT(CL_DEVICE_EXTENSIONS,
	     "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
	     "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
	     "cl_khr_byte_addressable_store cl_khr_fp64"),
};

static const struct answer platform_answers[] = {
	TEXT(CL_PLATFORM_NAME, "steady"),
	TEXT(CL_PLATFORM_VENDOR, "steady"),
	TEXT(CL_PLATFORM_VERSION, "OpenCL 1.2 steady"),
};

static const struct answer group_answers[] = {
	IS(CL_KERNEL_WORK_GROUP_SIZE, group_items),
	IS(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, multiple),
};

// False: it is not one of these questions.
static bool answers(const struct answer *answer, size_t count, cl_uint asked, size_t size,
                    void *value, size_t *needed, cl_int *status)
{
	for (size_t i = 0; i < count; i++, answer++) {
		if (answer->asked != asked)
			continue;
		*status = value && size < answer->bytes ? CL_INVALID_VALUE : CL_SUCCESS;
		if (value && *status == CL_SUCCESS)
			memcpy(value, answer->value, answer->bytes);
		if (needed)
			*needed = answer->bytes;
		return true;
	}
	return false;
}

#define ANSWERS(list) list, sizeof(list) / sizeof *(list)

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info asked, size_t size,
                                      void *value, size_t *needed)
{
	cl_int status;

	return answers(ANSWERS(device_answers), asked, size, value, needed, &status)
	           ? status
	           : next->clGetDeviceInfo(device, asked, size, value, needed);
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info asked,
                                        size_t size, void *value, size_t *needed)
{
	cl_int status;

	return answers(ANSWERS(platform_answers), asked, size, value, needed, &status)
	           ? status
	           : next->clGetPlatformInfo(platform, asked, size, value, needed);
}

static cl_int CL_API_CALL group_info(cl_kernel kernel, cl_device_id device,
                                     cl_kernel_work_group_info asked, size_t size, void *value,
                                     size_t *needed)
{
	cl_int status;

	return answers(ANSWERS(group_answers), asked, size, value, needed, &status)
	           ? status
	           : next->clGetKernelWorkGroupInfo(kernel, device, asked, size, value, needed);
}

// A program asks for a GPU, and is given what there is.
static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type asked, cl_uint room,
                                     cl_device_id *devices, cl_uint *count)
{
	return next->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, devices, count);
	(void)asked;
}

// ---- builds

// Programs that were made of other bitcode, and what stands for them.
static struct {
	cl_program program, made;
} taken[NAMES];
static unsigned builds;

static void *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	char *data = NULL;

	*bytes = 0;
	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (*bytes = (size_t)ftell(file)) &&
	    (data = malloc(*bytes))) {
		rewind(file);
		*bytes = fread(data, 1, *bytes, file);
	}
	fclose(file);
	return data;
}

static void write_file(const char *folder, unsigned number, const char *suffix, const char *text)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%u.%s", folder, number, suffix);
	FILE *file = fopen(path, "we");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void write_build(const char *folder, unsigned number, cl_program program,
                        const char *options)
{
	size_t bytes = 0;

	next->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes);
	char *text = bytes ? calloc(1, bytes + 1) : NULL;
	if (text)
		next->clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, text, NULL);
	// One that was loaded as a binary has none, and takes no other's place.
	if (text && text[0]) {
		write_file(folder, number, "cl", text);
		write_file(folder, number, "options", options ? options : "");
	}
	free(text);
}

static cl_program from_bitcode(cl_program program, const char *folder, unsigned number)
{
	char path[4096];
	size_t bytes;
	cl_context context;
	cl_device_id device;
	cl_program made = NULL;

	snprintf(path, sizeof path, "%s/%u.bc", folder, number);
	unsigned char *data = read_file(path, &bytes);
	if (data &&
	    next->clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL) ==
	        CL_SUCCESS &&
	    next->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(cl_device_id), &device,
	                           NULL) == CL_SUCCESS)
		made = next->clCreateProgramWithBinary(context, 1, &device, &bytes,
		                                       (const unsigned char **)&data, NULL, NULL);
	if (made && next->clBuildProgram(made, 1, &device, NULL, NULL, NULL) != CL_SUCCESS)
		made = NULL;
	free(data);
	return made;
}

static void note(cl_program program, const char *options)
{
	const char *writes = getenv("STEADY_WRITES"), *takes = getenv("STEADY_TAKES");
	const unsigned number = builds++;

	if (writes)
		write_build(writes, number, program, options);
	if (takes && number < NAMES)
		taken[number].made = from_bitcode(program, takes, number),
		taken[number].program = program;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *told)(cl_program, void *),
                                void *data)
{
	note(program, options);
	return next->clBuildProgram(program, count, devices, options, told, data);
}

static cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id *devices,
                                  const char *options, cl_uint headers, const cl_program *header,
                                  const char **names, void(CL_CALLBACK *told)(cl_program, void *),
                                  void *data)
{
	note(program, options);
	return next->clCompileProgram(program, count, devices, options, headers, header, names,
	                              told, data);
}

// What is linked of one part alone is what stands for this part.
static cl_program CL_API_CALL link_parts(cl_context context, cl_uint count,
                                         const cl_device_id *devices, const char *options,
                                         cl_uint parts, const cl_program *part,
                                         void(CL_CALLBACK *told)(cl_program, void *), void *data,
                                         cl_int *status)
{
	cl_program linked =
	    next->clLinkProgram(context, count, devices, options, parts, part, told, data, status);

	for (unsigned i = 0; linked && parts == 1 && i < NAMES; i++)
		if (taken[i].program == part[0])
			taken[i].program = linked;
	return linked;
}

// The last build of it counts.
static cl_program instead(cl_program program)
{
	for (unsigned i = NAMES; i-- > 0;)
		if (taken[i].program == program && taken[i].made)
			return taken[i].made;
	return program;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *status)
{
	return next->clCreateKernel(instead(program), name, status);
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint room, cl_kernel *kernels,
                                         cl_uint *count)
{
	return next->clCreateKernelsInProgram(instead(program), room, kernels, count);
}

// ---- launches

static size_t limit(const char *name)
{
	const char *text = getenv(name);
	size_t number = text ? strtoul(text, NULL, 10) : 0;

	return number ? number : SIZE_MAX;
}

// Whether this one is among the first of the kernel's name.
static bool among_first(cl_kernel kernel)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char names[NAMES][128];
	static size_t launches[NAMES];
	char name[128] = "";
	size_t i = 0;

	next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
	pthread_mutex_lock(&lock);
	while (i < NAMES - 1 && names[i][0] && strcmp(names[i], name) != 0)
		i++;
	memcpy(names[i], name, sizeof name);
	bool first = launches[i]++ < limit("STEADY_LAUNCHES");
	pthread_mutex_unlock(&lock);
	return first;
}

// Work-groups of a launch that says no size of them: the first dimension is divided.
static size_t size_of_group(size_t global)
{
	size_t size = GROUP_ITEMS;

	while (global % size)
		size--;
	return size;
}

static cl_int CL_API_CALL nd_range(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                   const size_t *offset, const size_t *global, const size_t *local,
                                   cl_uint waits, const cl_event *wait, cl_event *event)
{
	size_t groups[3] = { 1, 1, 1 }, sizes[3] = { 1, 1, 1 }, items[3];
	const size_t most = limit("STEADY_GROUPS");

	if (!among_first(kernel))
		return next->clEnqueueMarkerWithWaitList(queue, waits, wait, event);
	for (cl_uint i = 0; global && i < count && i < 3; i++) {
		sizes[i] = local ? local[i] : i == 0 && global[0] ? size_of_group(global[0]) : 1;
		groups[i] = sizes[i] ? global[i] / sizes[i] : 0;
		if (!groups[i] || groups[i] * sizes[i] != global[i])
			return next->clEnqueueNDRangeKernel(queue, kernel, count, offset, global,
			                                    local, waits, wait, event);
	}
	while (groups[0] * groups[1] * groups[2] > most) {
		int largest = groups[0] >= groups[1] ? 0 : 1;
		largest = groups[2] > groups[largest] ? 2 : largest;
		groups[largest] = (groups[largest] + 1) / 2;
	}
	for (int i = 0; i < 3; i++)
		items[i] = groups[i] * sizes[i];
	return next->clEnqueueNDRangeKernel(queue, kernel, count, offset, items, sizes, waits, wait,
	                                    event);
}

// ---- the layer

static void begin(const cl_icd_dispatch *target, cl_uint entries)
{
	const char *memory = getenv("STEADY_MEMORY");
	size_t bytes = sizeof mine;

	if (memory) {
		global_bytes = (cl_ulong)strtoul(memory, NULL, 10) << 20;
		allocation_bytes = global_bytes / 4;
	}
	if (bytes > entries * sizeof(void *))
		bytes = entries * sizeof(void *);
	memcpy(&mine, target, bytes);
	next = target;
	mine.clGetPlatformInfo = platform_info;
	mine.clGetDeviceIDs = device_ids;
	mine.clGetDeviceInfo = device_info;
	mine.clGetKernelWorkGroupInfo = group_info;
	mine.clBuildProgram = build;
	mine.clCompileProgram = compile;
	mine.clLinkProgram = link_parts;
	mine.clCreateKernel = create_kernel;
	mine.clCreateKernelsInProgram = create_kernels;
	mine.clEnqueueNDRangeKernel = nd_range;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                               size_t *needed)
{
	if (name != CL_LAYER_API_VERSION)
		return CL_INVALID_VALUE;
	if (value && size >= sizeof(cl_layer_api_version))
		*(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
	if (needed)
		*needed = sizeof(cl_layer_api_version);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                            cl_uint *ours, const cl_icd_dispatch **table)
{
	begin(target, entries);
	*table = &mine;
	*ours = sizeof mine / sizeof(void *);
	return CL_SUCCESS;
}
