// SPDX-License-Identifier: Apache-2.0
// Copies: which of OpenCL's calls moves bytes between two kinds of memory.
#include "backend/opencl/opencl.h"

#include <errno.h>

// How a memory is named in a call.
enum side { HOST, BUFFER, SVM };

static enum side side_of(const struct tare_memory *memory)
{
	switch (memory->kind) {
	case TARE_MEMORY_DEVICE:
	case TARE_MEMORY_MAPPED:
		return BUFFER;
	case TARE_MEMORY_SHARED:
		return SVM;
	default:
		return HOST;
	}
}

static cl_mem buffer_of(const struct tare_span *span)
{
	return ((struct opencl_memory *)span->memory)->buffer;
}

// Where a span begins in host addresses: host memory, or shared memory.
static char *address_of(const struct tare_span *span)
{
	const struct opencl_memory *memory = (struct opencl_memory *)span->memory;
	char *start = memory->svm ? memory->svm : span->memory->host;
	return start + span->offset_bytes;
}

static int write_buffer(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	cl_int code = append->device->cl->clEnqueueWriteBuffer(
	    append->queue->queue, buffer_of(to), append->operation->blocking, to->offset_bytes,
	    to->bytes, address_of(from), append->wait_count, append->waits, append->event);
	return opencl_result(error, "clEnqueueWriteBuffer", code, "cannot copy to the device");
}

static int read_buffer(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	cl_int code = append->device->cl->clEnqueueReadBuffer(
	    append->queue->queue, buffer_of(from), append->operation->blocking, from->offset_bytes,
	    to->bytes, address_of(to), append->wait_count, append->waits, append->event);
	return opencl_result(error, "clEnqueueReadBuffer", code, "cannot copy from the device");
}

static int copy_buffer(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	cl_int code = append->device->cl->clEnqueueCopyBuffer(
	    append->queue->queue, buffer_of(from), buffer_of(to), from->offset_bytes,
	    to->offset_bytes, to->bytes, append->wait_count, append->waits, append->event);
	return opencl_result(error, "clEnqueueCopyBuffer", code, "cannot copy on the device");
}

static int copy_svm(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *to = &append->operation->destination;
	cl_int code = append->device->cl->clEnqueueSVMMemcpy(
	    append->queue->queue, append->operation->blocking, address_of(to),
	    address_of(&append->operation->source), to->bytes, append->wait_count, append->waits,
	    append->event);
	return opencl_result(error, "clEnqueueSVMMemcpy", code, "cannot copy shared memory");
}

bool opencl_copies_between_buffers(const struct tare_operation *operation)
{
	const struct tare_span *from = &operation->source, *to = &operation->destination;
	enum side source = side_of(from->memory), destination = side_of(to->memory);

	if (source == HOST || destination == HOST || !buffer_of(from) || !buffer_of(to))
		return false;
	// Between two shared memories clEnqueueSVMMemcpy copies; rectangles have no such call.
	return operation->type == TARE_OPERATION_RECTANGLE || source == BUFFER ||
	       destination == BUFFER;
}

int opencl_append_copy(const struct opencl_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	enum side source = side_of(from->memory), destination = side_of(to->memory);

	if (from->bytes != to->bytes)
		return tare_fail(error, EINVAL, "a copy's source and destination differ in size");
	if (opencl_is_image(from->memory) || opencl_is_image(to->memory))
		return opencl_append_image(append, error);
	if (source == HOST && destination == HOST)
		return tare_fail(error, ENOTSUP, "OpenCL copies nothing from host to host memory");
	if (source != BUFFER && destination != BUFFER)
		return copy_svm(append, error);
	if (opencl_copies_between_buffers(append->operation))
		return copy_buffer(append, error);
	return destination == BUFFER ? write_buffer(append, error) : read_buffer(append, error);
}

// A buffer's offset as the origin {byte in row, row, layer} of a rectangle. {offset, 0, 0} would be
// the same place, but is out of bounds to a driver that checks each against its pitch.
static void origin_of(const struct tare_span *span, const struct tare_rectangle *rectangle,
                      size_t row_pitch, size_t layer_pitch, size_t origin[3])
{
	size_t offset = span->offset_bytes;

	if (!row_pitch)
		row_pitch = rectangle->row_bytes;
	if (!layer_pitch)
		layer_pitch = row_pitch * rectangle->rows;
	origin[0] = offset % layer_pitch % row_pitch;
	origin[1] = offset % layer_pitch / row_pitch;
	origin[2] = offset / layer_pitch;
}

int opencl_append_rectangle(const struct opencl_append *append, struct tare_error *error)
{
	static const size_t zero[3];
	const struct opencl_functions *cl = append->device->cl;
	const struct tare_rectangle *rectangle = &append->operation->rectangle;
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	const size_t region[3] = { rectangle->row_bytes, rectangle->rows, rectangle->layers };
	size_t from_row = rectangle->source_row_pitch, from_layer = rectangle->source_layer_pitch;
	size_t to_row = rectangle->destination_row_pitch;
	size_t to_layer = rectangle->destination_layer_pitch;
	bool from_buffer = side_of(from->memory) != HOST && buffer_of(from);
	bool to_buffer = side_of(to->memory) != HOST && buffer_of(to);
	size_t from_origin[3], to_origin[3];
	cl_int code;

	if (!region[0] || !region[1] || !region[2])
		return tare_fail(error, EINVAL, "a rectangle without rows or layers");
	origin_of(from, rectangle, from_row, from_layer, from_origin);
	origin_of(to, rectangle, to_row, to_layer, to_origin);
	if (opencl_copies_between_buffers(append->operation)) {
		code = cl->clEnqueueCopyBufferRect(
		    append->queue->queue, buffer_of(from), buffer_of(to), from_origin, to_origin,
		    region, from_row, from_layer, to_row, to_layer, append->wait_count,
		    append->waits, append->event);
		return opencl_result(error, "clEnqueueCopyBufferRect", code,
		                     "cannot copy a rectangle");
	}
	if (to_buffer) {
		code = cl->clEnqueueWriteBufferRect(
		    append->queue->queue, buffer_of(to), append->operation->blocking, to_origin,
		    zero, region, to_row, to_layer, from_row, from_layer, address_of(from),
		    append->wait_count, append->waits, append->event);
		return opencl_result(error, "clEnqueueWriteBufferRect", code,
		                     "cannot copy a rectangle to the device");
	}
	if (from_buffer) {
		code = cl->clEnqueueReadBufferRect(
		    append->queue->queue, buffer_of(from), append->operation->blocking, from_origin,
		    zero, region, from_row, from_layer, to_row, to_layer, address_of(to),
		    append->wait_count, append->waits, append->event);
		return opencl_result(error, "clEnqueueReadBufferRect", code,
		                     "cannot copy a rectangle from the device");
	}
	return tare_fail(error, ENOTSUP, "OpenCL copies rectangles from or to buffers only");
}
