// SPDX-License-Identifier: Apache-2.0
// Memory objects: kind, flags, size, and where they are mapped.
#include "guest/opencl/layer.h"

static uint8_t kind_of(cl_mem_flags flags)
{
	if (flags & CL_MEM_USE_HOST_PTR)
		return TARE_TRACE_MEMORY_BUFFER_USER;
	if (flags & CL_MEM_ALLOC_HOST_PTR)
		return TARE_TRACE_MEMORY_BUFFER_HOST;
	return TARE_TRACE_MEMORY_BUFFER;
}

static struct layer_object *define(const void *memory, const void *parent, cl_mem_flags flags,
                                   uint64_t bytes, uint8_t kind, const void *host)
{
	struct layer_object *object = layer_object_new(TARE_OBJECT_MEMORY, memory);
	if (object != NULL) {
		object->memory = kind;
		object->flags = flags;
		object->bytes = bytes;
	}
	layer_define(TARE_OBJECT_MEMORY, memory, parent, NULL, flags, bytes, 0, kind);
	if (host != NULL && flags & CL_MEM_USE_HOST_PTR)
		layer_fact(TARE_TRACE_FACT_HOST_POINTER, memory, (uintptr_t)host, NULL, 0);
	return object;
}

static uint64_t size_of(cl_mem memory)
{
	size_t bytes = 0;
	if (layer_next.clGetMemObjectInfo == NULL ||
	    layer_next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) !=
	        CL_SUCCESS)
		return 0;
	return bytes;
}

static void define_image(cl_mem image, cl_context context, cl_mem_flags flags, const void *host)
{
	if (image == NULL)
		return;
	struct layer_object *object =
	    define(image, context, flags, size_of(image), TARE_TRACE_MEMORY_IMAGE, host);
	size_t element = 0;
	if (object != NULL && layer_next.clGetImageInfo != NULL &&
	    layer_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element,
	                              NULL) == CL_SUCCESS)
		object->element_bytes = (uint32_t)element;
}

static void define_buffer(cl_mem buffer, cl_context context, cl_mem_flags flags, uint64_t bytes,
                          const void *host)
{
	if (buffer != NULL)
		define(buffer, context, flags, bytes, kind_of(flags), host);
}

void layer_after_clCreateBuffer(struct guest_thread *thread, cl_mem result, cl_context context,
                                cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
	define_buffer(result, context, flags, bytes, host);
}

void layer_after_clCreateBufferWithProperties(struct guest_thread *thread, cl_mem result,
                                              cl_context context,
                                              const cl_mem_properties *properties,
                                              cl_mem_flags flags, size_t bytes, void *host,
                                              cl_int *error)
{
	define_buffer(result, context, flags, bytes, host);
}

void layer_after_clCreateBufferWithPropertiesINTEL(struct guest_thread *thread, cl_mem result,
                                                   cl_context context,
                                                   const cl_mem_properties_intel *properties,
                                                   cl_mem_flags flags, size_t bytes, void *host,
                                                   cl_int *error)
{
	define_buffer(result, context, flags, bytes, host);
}

void layer_after_clImportMemoryARM(struct guest_thread *thread, cl_mem result, cl_context context,
                                   cl_mem_flags flags, const cl_import_properties_arm *properties,
                                   void *memory, size_t bytes, cl_int *error)
{
	define_buffer(result, context, flags | CL_MEM_USE_HOST_PTR, bytes, NULL);
}

void layer_after_clCreateSubBuffer(struct guest_thread *thread, cl_mem result, cl_mem parent,
                                   cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                                   cl_int *error)
{
	if (result == NULL)
		return;
	uint64_t bytes = type == CL_BUFFER_CREATE_TYPE_REGION && info != NULL
	                     ? ((const cl_buffer_region *)info)->size
	                     : size_of(result);
	const struct layer_object *whole = layer_object_find(TARE_OBJECT_MEMORY, parent);
	struct layer_object *part =
	    define(result, parent, flags, bytes, TARE_TRACE_MEMORY_PART, NULL);
	// Its memory is its parent's: a map of it is as pinned as one of the whole.
	if (part != NULL && whole != NULL && whole->memory == TARE_TRACE_MEMORY_BUFFER_HOST)
		part->memory = TARE_TRACE_MEMORY_BUFFER_HOST;
}

void layer_after_clCreateImage(struct guest_thread *thread, cl_mem result, cl_context context,
                               cl_mem_flags flags, const cl_image_format *format,
                               const cl_image_desc *description, void *host, cl_int *error)
{
	define_image(result, context, flags, host);
}

void layer_after_clCreateImageWithProperties(struct guest_thread *thread, cl_mem result,
                                             cl_context context,
                                             const cl_mem_properties *properties,
                                             cl_mem_flags flags, const cl_image_format *format,
                                             const cl_image_desc *description, void *host,
                                             cl_int *error)
{
	define_image(result, context, flags, host);
}

void layer_after_clCreateImage2D(struct guest_thread *thread, cl_mem result, cl_context context,
                                 cl_mem_flags flags, const cl_image_format *format, size_t width,
                                 size_t height, size_t pitch, void *host, cl_int *error)
{
	define_image(result, context, flags, host);
}

void layer_after_clCreateImage3D(struct guest_thread *thread, cl_mem result, cl_context context,
                                 cl_mem_flags flags, const cl_image_format *format, size_t width,
                                 size_t height, size_t depth, size_t pitch, size_t slice,
                                 void *host, cl_int *error)
{
	define_image(result, context, flags, host);
}

void layer_after_clCreatePipe(struct guest_thread *thread, cl_mem result, cl_context context,
                              cl_mem_flags flags, cl_uint packet, cl_uint packets,
                              const cl_pipe_properties *properties, cl_int *error)
{
	if (result != NULL)
		define(result, context, flags, (uint64_t)packet * packets, TARE_TRACE_MEMORY_PIPE,
		       NULL);
}

// ---- of others

void layer_after_clCreateFromGLBuffer(struct guest_thread *thread, cl_mem result,
                                      cl_context context, cl_mem_flags flags, cl_GLuint buffer,
                                      int *error)
{
	if (result != NULL)
		define(result, context, flags, size_of(result), TARE_TRACE_MEMORY_BUFFER, NULL);
}

void layer_after_clCreateFromGLTexture(struct guest_thread *thread, cl_mem result,
                                       cl_context context, cl_mem_flags flags, cl_GLenum target,
                                       cl_GLint level, cl_GLuint texture, cl_int *error)
{
	define_image(result, context, flags, NULL);
}

void layer_after_clCreateFromGLTexture2D(struct guest_thread *thread, cl_mem result,
                                         cl_context context, cl_mem_flags flags, cl_GLenum target,
                                         cl_GLint level, cl_GLuint texture, cl_int *error)
{
	define_image(result, context, flags, NULL);
}

void layer_after_clCreateFromGLTexture3D(struct guest_thread *thread, cl_mem result,
                                         cl_context context, cl_mem_flags flags, cl_GLenum target,
                                         cl_GLint level, cl_GLuint texture, cl_int *error)
{
	define_image(result, context, flags, NULL);
}

void layer_after_clCreateFromGLRenderbuffer(struct guest_thread *thread, cl_mem result,
                                            cl_context context, cl_mem_flags flags,
                                            cl_GLuint buffer, cl_int *error)
{
	define_image(result, context, flags, NULL);
}

void layer_after_clCreateFromEGLImageKHR(struct guest_thread *thread, cl_mem result,
                                         cl_context context, CLeglDisplayKHR display,
                                         CLeglImageKHR image, cl_mem_flags flags,
                                         const cl_egl_image_properties_khr *properties,
                                         cl_int *error)
{
	define_image(result, context, flags, NULL);
}

// ---- maps

void layer_after_clEnqueueMapBuffer(struct guest_thread *thread, void *result,
                                    cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                                    const cl_event *waits, cl_event *event, cl_int *error)
{
	guest_region_add(result, bytes, flags, layer_mapped_memory(buffer));
}

void layer_after_clEnqueueMapImage(struct guest_thread *thread, void *result,
                                   cl_command_queue queue, cl_mem image, cl_bool blocking,
                                   cl_map_flags flags, const size_t *origin, const size_t *region,
                                   size_t *row, size_t *slice, cl_uint count, const cl_event *waits,
                                   cl_event *event, cl_int *error)
{
	if (result == NULL || region == NULL || row == NULL)
		return;
	uint64_t rows = region[1] != 0 ? region[1] : 1, slices = region[2] != 0 ? region[2] : 1;
	uint64_t slice_bytes = slice != NULL && *slice != 0 ? *slice : *row * rows;
	guest_region_add(result, slice_bytes * slices, flags, layer_mapped_memory(image));
}

uint8_t layer_mapped_memory(const void *memory)
{
	const struct layer_object *object = layer_object_find(TARE_OBJECT_MEMORY, memory);
	return object != NULL && object->memory == TARE_TRACE_MEMORY_BUFFER_HOST
	           ? TARE_TRACE_MEMORY_PINNED
	           : TARE_TRACE_MEMORY_MAPPED;
}

// ---- memory of the library that is plain addresses

static void allocated(const void *start, const void *context, uint64_t flags, uint64_t bytes,
                      uint8_t memory)
{
	if (start == NULL)
		return;
	layer_define(TARE_OBJECT_MEMORY, start, context, NULL, flags, bytes, 0, memory);
	guest_region_add(start, bytes, 0, memory);
}

void layer_after_clSVMAlloc(struct guest_thread *thread, void *result, cl_context context,
                            cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
	allocated(result, context, flags, bytes, TARE_TRACE_MEMORY_SHARED);
}

void layer_after_clSVMAllocARM(struct guest_thread *thread, void *result, cl_context context,
                               cl_svm_mem_flags_arm flags, size_t bytes, cl_uint alignment)
{
	allocated(result, context, flags, bytes, TARE_TRACE_MEMORY_SHARED);
}

void layer_after_clHostMemAllocINTEL(struct guest_thread *thread, void *result, cl_context context,
                                     const cl_mem_properties_intel *properties, size_t bytes,
                                     cl_uint alignment, cl_int *error)
{
	allocated(result, context, 0, bytes, TARE_TRACE_MEMORY_PINNED);
}

void layer_after_clDeviceMemAllocINTEL(struct guest_thread *thread, void *result,
                                       cl_context context, cl_device_id device,
                                       const cl_mem_properties_intel *properties, size_t bytes,
                                       cl_uint alignment, cl_int *error)
{
	allocated(result, context, 0, bytes, TARE_TRACE_MEMORY_BUFFER);
}

void layer_after_clSharedMemAllocINTEL(struct guest_thread *thread, void *result,
                                       cl_context context, cl_device_id device,
                                       const cl_mem_properties_intel *properties, size_t bytes,
                                       cl_uint alignment, cl_int *error)
{
	allocated(result, context, 0, bytes, TARE_TRACE_MEMORY_SHARED);
}
