// SPDX-License-Identifier: Apache-2.0
// An OpenCL layer that only counts, written apart from the recorder so that the two can be
// compared. The counts lie in a mapped file, $COUNTING_LAYER_OUT.PID, so that a killed program
// leaves them too: COUNTS then BYTES, 64-bit numbers in the order of enum kind.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { KERNEL, WRITE, READ, COPY, FILL, MAP, UNMAP, MIGRATE, KINDS };

struct counts {
	unsigned long long number[KINDS], bytes[KINDS];
};

static struct _cl_icd_dispatch mine;
static const struct _cl_icd_dispatch *next;
static struct counts *counts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Each process has its own file; a child of a fork makes one at its first command. A process that
// has become another program goes on with the counts of the one before.
static struct counts *counts_of_this_process(void)
{
	static pid_t owner;
	char path[4096];

	if (counts && owner == getpid())
		return counts;
	owner = getpid();
	snprintf(path, sizeof path, "%s.%d", getenv("COUNTING_LAYER_OUT") ?: "/dev/null", owner);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0 || ftruncate(file, sizeof *counts) < 0)
		abort();
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		abort();
	close(file);
	return counts;
}

static cl_int counted(cl_int status, enum kind kind, size_t bytes)
{
	if (status != CL_SUCCESS)
		return status;
	pthread_mutex_lock(&lock);
	struct counts *to = counts_of_this_process();
	to->number[kind]++;
	to->bytes[kind] += bytes;
	pthread_mutex_unlock(&lock);
	return status;
}

static size_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;

	next->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
	return element * region[0] * region[1] * region[2];
}

#define WAITS cl_uint count, const cl_event *waits, cl_event *event
#define PASS count, waits, event
#define Q cl_command_queue queue

static cl_int CL_API_CALL nd_range(Q, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                   const size_t *global, const size_t *local, WAITS)
{
	return counted(
	    next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, PASS),
	    KERNEL, 0);
}

static cl_int CL_API_CALL task(Q, cl_kernel kernel, WAITS)
{
	return counted(next->clEnqueueTask(queue, kernel, PASS), KERNEL, 0);
}

static cl_int CL_API_CALL write_buffer(Q, cl_mem memory, cl_bool blocking, size_t offset,
                                       size_t bytes, const void *host, WAITS)
{
	return counted(
	    next->clEnqueueWriteBuffer(queue, memory, blocking, offset, bytes, host, PASS), WRITE,
	    bytes);
}

static cl_int CL_API_CALL read_buffer(Q, cl_mem memory, cl_bool blocking, size_t offset,
                                      size_t bytes, void *host, WAITS)
{
	return counted(
	    next->clEnqueueReadBuffer(queue, memory, blocking, offset, bytes, host, PASS), READ,
	    bytes);
}

static cl_int CL_API_CALL write_rectangle(Q, cl_mem memory, cl_bool blocking, const size_t *origin,
                                          const size_t *host_origin, const size_t *region,
                                          size_t row, size_t slice, size_t host_row,
                                          size_t host_slice, const void *host, WAITS)
{
	return counted(next->clEnqueueWriteBufferRect(queue, memory, blocking, origin, host_origin,
	                                              region, row, slice, host_row, host_slice,
	                                              host, PASS),
	               WRITE, region[0] * region[1] * region[2]);
}

static cl_int CL_API_CALL read_rectangle(Q, cl_mem memory, cl_bool blocking, const size_t *origin,
                                         const size_t *host_origin, const size_t *region,
                                         size_t row, size_t slice, size_t host_row,
                                         size_t host_slice, void *host, WAITS)
{
	return counted(next->clEnqueueReadBufferRect(queue, memory, blocking, origin, host_origin,
	                                             region, row, slice, host_row, host_slice, host,
	                                             PASS),
	               READ, region[0] * region[1] * region[2]);
}

static cl_int CL_API_CALL write_image(Q, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice,
                                      const void *host, WAITS)
{
	return counted(next->clEnqueueWriteImage(queue, image, blocking, origin, region, row, slice,
	                                         host, PASS),
	               WRITE, image_bytes(image, region));
}

static cl_int CL_API_CALL read_image(Q, cl_mem image, cl_bool blocking, const size_t *origin,
                                     const size_t *region, size_t row, size_t slice, void *host,
                                     WAITS)
{
	return counted(next->clEnqueueReadImage(queue, image, blocking, origin, region, row, slice,
	                                        host, PASS),
	               READ, image_bytes(image, region));
}

static cl_int CL_API_CALL copy_buffer(Q, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                                      size_t bytes, WAITS)
{
	return counted(next->clEnqueueCopyBuffer(queue, from, to, from_at, to_at, bytes, PASS),
	               COPY, bytes);
}

static cl_int CL_API_CALL copy_rectangle(Q, cl_mem from, cl_mem to, const size_t *from_origin,
                                         const size_t *to_origin, const size_t *region,
                                         size_t from_row, size_t from_slice, size_t to_row,
                                         size_t to_slice, WAITS)
{
	return counted(next->clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin,
	                                             region, from_row, from_slice, to_row, to_slice,
	                                             PASS),
	               COPY, region[0] * region[1] * region[2]);
}

static cl_int CL_API_CALL copy_image(Q, cl_mem from, cl_mem to, const size_t *from_origin,
                                     const size_t *to_origin, const size_t *region, WAITS)
{
	return counted(
	    next->clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region, PASS), COPY,
	    image_bytes(from, region));
}

static cl_int CL_API_CALL image_to_buffer(Q, cl_mem from, cl_mem to, const size_t *origin,
                                          const size_t *region, size_t at, WAITS)
{
	return counted(next->clEnqueueCopyImageToBuffer(queue, from, to, origin, region, at, PASS),
	               COPY, image_bytes(from, region));
}

static cl_int CL_API_CALL buffer_to_image(Q, cl_mem from, cl_mem to, size_t at,
                                          const size_t *origin, const size_t *region, WAITS)
{
	return counted(next->clEnqueueCopyBufferToImage(queue, from, to, at, origin, region, PASS),
	               COPY, image_bytes(to, region));
}

static cl_int CL_API_CALL fill_buffer(Q, cl_mem memory, const void *pattern, size_t pattern_bytes,
                                      size_t at, size_t bytes, WAITS)
{
	return counted(
	    next->clEnqueueFillBuffer(queue, memory, pattern, pattern_bytes, at, bytes, PASS), FILL,
	    bytes);
}

static cl_int CL_API_CALL fill_image(Q, cl_mem image, const void *colour, const size_t *origin,
                                     const size_t *region, WAITS)
{
	return counted(next->clEnqueueFillImage(queue, image, colour, origin, region, PASS), FILL,
	               image_bytes(image, region));
}

static void *CL_API_CALL map_buffer(Q, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                                    size_t at, size_t bytes, WAITS, cl_int *status)
{
	cl_int code;
	void *mapped =
	    next->clEnqueueMapBuffer(queue, memory, blocking, flags, at, bytes, PASS, &code);

	counted(code, MAP, bytes);
	if (status)
		*status = code;
	return mapped;
}

static void *CL_API_CALL map_image(Q, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                   const size_t *origin, const size_t *region, size_t *row,
                                   size_t *slice, WAITS, cl_int *status)
{
	cl_int code;
	void *mapped = next->clEnqueueMapImage(queue, image, blocking, flags, origin, region, row,
	                                       slice, PASS, &code);

	counted(code, MAP, image_bytes(image, region));
	if (status)
		*status = code;
	return mapped;
}

static cl_int CL_API_CALL unmap(Q, cl_mem memory, void *mapped, WAITS)
{
	return counted(next->clEnqueueUnmapMemObject(queue, memory, mapped, PASS), UNMAP, 0);
}

static cl_int CL_API_CALL migrate(Q, cl_uint number, const cl_mem *memories,
                                  cl_mem_migration_flags flags, WAITS)
{
	return counted(next->clEnqueueMigrateMemObjects(queue, number, memories, flags, PASS),
	               MIGRATE, 0);
}

static cl_int CL_API_CALL svm_copy(Q, cl_bool blocking, void *to, const void *from, size_t bytes,
                                   WAITS)
{
	return counted(next->clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, PASS), COPY,
	               bytes);
}

static cl_int CL_API_CALL svm_fill(Q, void *memory, const void *pattern, size_t pattern_bytes,
                                   size_t bytes, WAITS)
{
	return counted(
	    next->clEnqueueSVMMemFill(queue, memory, pattern, pattern_bytes, bytes, PASS), FILL,
	    bytes);
}

static cl_int CL_API_CALL svm_map(Q, cl_bool blocking, cl_map_flags flags, void *memory,
                                  size_t bytes, WAITS)
{
	return counted(next->clEnqueueSVMMap(queue, blocking, flags, memory, bytes, PASS), MAP,
	               bytes);
}

static cl_int CL_API_CALL svm_unmap(Q, void *memory, WAITS)
{
	return counted(next->clEnqueueSVMUnmap(queue, memory, PASS), UNMAP, 0);
}

static void begin(const cl_icd_dispatch *target, cl_uint entries)
{
	size_t bytes = sizeof mine;

	if (bytes > entries * sizeof(void *))
		bytes = entries * sizeof(void *);
	memcpy(&mine, target, bytes);
	next = target;
	mine.clEnqueueNDRangeKernel = nd_range;
	mine.clEnqueueTask = task;
	mine.clEnqueueWriteBuffer = write_buffer;
	mine.clEnqueueReadBuffer = read_buffer;
	mine.clEnqueueWriteBufferRect = write_rectangle;
	mine.clEnqueueReadBufferRect = read_rectangle;
	mine.clEnqueueWriteImage = write_image;
	mine.clEnqueueReadImage = read_image;
	mine.clEnqueueCopyBuffer = copy_buffer;
	mine.clEnqueueCopyBufferRect = copy_rectangle;
	mine.clEnqueueCopyImage = copy_image;
	mine.clEnqueueCopyImageToBuffer = image_to_buffer;
	mine.clEnqueueCopyBufferToImage = buffer_to_image;
	mine.clEnqueueFillBuffer = fill_buffer;
	mine.clEnqueueFillImage = fill_image;
	mine.clEnqueueMapBuffer = map_buffer;
	mine.clEnqueueMapImage = map_image;
	mine.clEnqueueUnmapMemObject = unmap;
	mine.clEnqueueMigrateMemObjects = migrate;
	mine.clEnqueueSVMMemcpy = svm_copy;
	mine.clEnqueueSVMMemFill = svm_fill;
	mine.clEnqueueSVMMap = svm_map;
	mine.clEnqueueSVMUnmap = svm_unmap;
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

// What loaders from 2026 on ask for.
CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries,
                                                          const cl_icd_dispatch *target,
                                                          cl_uint *ours,
                                                          const cl_icd_dispatch **table,
                                                          const void *properties);
CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries,
                                                          const cl_icd_dispatch *target,
                                                          cl_uint *ours,
                                                          const cl_icd_dispatch **table,
                                                          const void *properties)
{
	(void)properties;
	return clInitLayer(entries, target, ours, table);
}
