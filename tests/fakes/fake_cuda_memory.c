// SPDX-License-Identifier: Apache-2.0
// Memory and copies of the stand-in for libcuda, by CUDA's rules:
//  - one address space: an address tells whose memory it is, and every page-locked range can be
//    addressed by all devices; what CUDA does not know is pageable;
//  - freeing waits for the device; memory of a context goes with it;
//  - a copy from pageable memory reads it at the call (up to 64 KiB the call then returns, else it
//    waits for the copy); one to pageable memory returns when it is done;
//  - cuMemcpy and its kin use the legacy stream and return when done, but not between two device
//    memories;
//  - a copy between two devices goes over their own link where both can reach each other and one
//    has enabled it, else through the host.
#include "fake_cuda_array.h"
#include "fake_cuda_device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STAGED_AT_ONCE 65536
#define UNSAID_RATE UINT64_C(10000000000)

struct range *range_of(const void *at)
{
	for (size_t i = 0; i < gpu.range_end; i++)
		if (gpu.ranges[i].at && (const char *)at >= gpu.ranges[i].at &&
		    (const char *)at < gpu.ranges[i].at + gpu.ranges[i].bytes)
			return &gpu.ranges[i];
	return NULL;
}

static struct range *keep_range(void *at, size_t bytes, enum tare_place place)
{
	for (size_t i = 0; i < MAX_RANGES; i++)
		if (!gpu.ranges[i].at) {
			gpu.ranges[i] =
			    (struct range){ at, bytes, place, .device = current->device };
			gpu.range_end = i >= gpu.range_end ? i + 1 : gpu.range_end;
			gpu.objects++;
			return &gpu.ranges[i];
		}
	abort();
}

static bool is_device(const struct range *range)
{
	return range && (range->place == TARE_PLACE_DEVICE || range->place == TARE_PLACE_SHARED);
}

static size_t *budget_of(struct range *range)
{
	return is_device(range) ? &range->device->allocated : &gpu.host_allocated;
}

static void drop_range(struct range *range)
{
	if (!range->registered) {
		*budget_of(range) -= range->bytes;
		free(range->at);
	}
	free(range->resident);
	*range = (struct range){ 0 };
	gpu.objects--;
}

void free_ranges(struct device *device)
{
	for (size_t i = 0; i < gpu.range_end; i++)
		if (gpu.ranges[i].at && gpu.ranges[i].device == device)
			drop_range(&gpu.ranges[i]);
}

static size_t device_memory(const struct device *device)
{
	return gpu.words.memory ? gpu.words.memory : device->script.device.memory_bytes;
}

static cu_result allocate(void **at, size_t bytes, enum tare_place place)
{
	enum { THERE_AT_ONCE = 16 << 20 };
	bool on_device = place == TARE_PLACE_DEVICE;
	// Managed memory may be more than the device has.
	size_t total = place == TARE_PLACE_SHARED
	                   ? device_memory(current->device) + gpu.words.host_memory
	               : on_device ? device_memory(current->device)
	                           : gpu.words.host_memory;
	size_t used = on_device || place == TARE_PLACE_SHARED ? current->device->allocated
	                                                      : gpu.host_allocated;
	size_t above = current->device->script.faults.memory_above_bytes;

	*at = NULL;
	if (bytes == 0)
		return ABI_INVALID_VALUE;
	if (bytes > total || used > total - bytes)
		return ABI_OUT_OF_MEMORY;
	if ((gpu.words.memory_above && bytes > gpu.words.memory_above) || (above && bytes > above))
		return ABI_OUT_OF_MEMORY;
	*at = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (!*at)
		return ABI_OUT_OF_MEMORY;
	if (on_device && bytes <= THERE_AT_ONCE) // a GPU's pages are all there from the start
		madvise(*at, bytes, MADV_POPULATE_WRITE);
	struct range *range = keep_range(*at, bytes, place);
	*budget_of(range) += bytes;
	size_t page = current->device->script.migrate.page_bytes;
	if (place == TARE_PLACE_SHARED && page)
		range->resident = calloc(bytes / page / 8 + 1, 1);
	return ABI_SUCCESS;
}

static cu_result release(void *at, bool on_device)
{
	struct range *range = range_of(at);

	if (!at)
		return ABI_SUCCESS;
	if (!range || range->at != at || range->registered || is_device(range) != on_device)
		return ABI_INVALID_VALUE;
	cu_result result = drain_device(range->device);
	if (range->at)
		drop_range(range);
	return result;
}

void *make_device_memory(size_t bytes)
{
	void *at = NULL;
	return allocate(&at, bytes, TARE_PLACE_DEVICE) == ABI_SUCCESS ? at : NULL;
}

cu_result cuMemAlloc_v2(cu_pointer *pointer, size_t bytes)
{
	void *at = NULL;
	ENTER_CONTEXT();
	host_takes(current->device->script.host.allocate_ps);
	cu_result result = allocate(&at, bytes, TARE_PLACE_DEVICE);
	*pointer = (cu_pointer)(uintptr_t)at;
	return leave(result);
}

cu_result cuMemFree_v2(cu_pointer pointer)
{
	ENTER_CONTEXT();
	return leave(release(AT(pointer), true));
}

cu_result cuMemGetInfo_v2(size_t *vacant, size_t *total);
cu_result cuMemGetInfo_v2(size_t *vacant, size_t *total)
{
	ENTER_CONTEXT();
	*total = device_memory(current->device);
	*vacant = *total > current->device->allocated ? *total - current->device->allocated : 0;
	return leave(ABI_SUCCESS);
}

cu_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	ENTER_CONTEXT();
	host_takes(current->device->script.host.allocate_ps);
	return leave(allocate(pointer, bytes,
	                      flags & ABI_MEMHOSTALLOC_WRITECOMBINED ? TARE_PLACE_WRITE_COMBINED
	                                                             : TARE_PLACE_PINNED));
}

cu_result cuMemFreeHost(void *pointer)
{
	ENTER_CONTEXT();
	return leave(release(pointer, false));
}

cu_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	if (!pointer || bytes == 0)
		return leave(ABI_INVALID_VALUE);
	if (range_of(pointer))
		return leave(FAKE_ALREADY_REGISTERED);
	host_takes(current->device->script.host.register_ps);
	keep_range(pointer, bytes, TARE_PLACE_REGISTERED)->registered = true;
	return leave(ABI_SUCCESS);
}

cu_result cuMemHostUnregister(void *pointer)
{
	ENTER_CONTEXT();
	struct range *range = range_of(pointer);
	if (!range || !range->registered)
		return leave(FAKE_NOT_REGISTERED);
	cu_result result = drain_device(range->device);
	if (range->at)
		drop_range(range);
	return leave(result);
}

cu_result cuMemHostGetDevicePointer_v2(cu_pointer *pointer, void *host, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	struct range *range = range_of(host);
	*pointer = (cu_pointer)(uintptr_t)host;
	return leave(range && !is_device(range) ? ABI_SUCCESS : ABI_INVALID_VALUE);
}

cu_result cuMemAllocManaged(cu_pointer *pointer, size_t bytes, unsigned int flags)
{
	void *at = NULL;
	ENTER_CONTEXT();
	if (flags != ABI_MEM_ATTACH_GLOBAL || gpu.words.no_managed)
		return leave(gpu.words.no_managed ? ABI_NOT_SUPPORTED : ABI_INVALID_VALUE);
	cu_result result = allocate(&at, bytes, TARE_PLACE_SHARED);
	*pointer = (cu_pointer)(uintptr_t)at;
	return leave(result);
}

// ---- managed memory

// Bytes of the pages that move.
static uint64_t move_pages(struct range *range, const char *at, size_t bytes, bool to_host,
                           size_t page)
{
	size_t first = (size_t)(at - range->at) / page;
	size_t last = ((size_t)(at - range->at) + bytes + page - 1) / page;
	uint64_t moved = 0;

	for (size_t i = first; i < last; i++) {
		bool there = range->resident[i / 8] >> i % 8 & 1;
		moved += there == to_host;
		if (to_host)
			range->resident[i / 8] &= (unsigned char)~(1 << i % 8);
		else
			range->resident[i / 8] |= (unsigned char)(1 << i % 8);
	}
	return moved * page;
}

int64_t migrate(struct range *range, const char *at, size_t bytes, bool to_host, bool faults,
                uint64_t *moved_bytes)
{
	const struct tare_script_pages *pages = &range->device->script.migrate;

	if (!range->resident || !pages->line)
		return 0;
	uint64_t moved = move_pages(range, at, bytes, to_host, pages->page_bytes);
	int64_t fault_ps = faults ? pages->fault_ps : 0;
	*moved_bytes += moved;
	return tare_model_add_ps(tare_model_times_ps(moved / pages->page_bytes, fault_ps),
	                         tare_model_rate_ps(moved, pages->rate));
}

cu_result cuMemPrefetchAsync(cu_pointer pointer, size_t bytes, cu_device to, cu_stream stream)
{
	ENTER_CONTEXT();
	struct range *range = range_of(AT(pointer));
	if (!range || range->place != TARE_PLACE_SHARED || bytes == 0 ||
	    bytes > range->bytes - (size_t)((char *)AT(pointer) - range->at))
		return leave(ABI_INVALID_VALUE);
	if (to != ABI_DEVICE_CPU && (to < 0 || to >= gpu.words.devices))
		return leave(ABI_INVALID_DEVICE);
	bool to_host = to == ABI_DEVICE_CPU;
	struct op op = {
		.kind = COPY,
		.copy_kind = to_host ? 2 : 1,
		.model.flow = to_host ? TARE_FLOW_TO_HOST : TARE_FLOW_TO_DEVICE,
		.model.fixed_ps = current->device->script.migrate.fixed_ps,
	};
	op.model.work_ps = op.migrated_ps =
	    migrate(range, AT(pointer), bytes, to_host, false, &op.migrated_bytes);
	return leave(append(stream, &op, NULL));
}

cu_result cuMemPrefetchAsync_v2(cu_pointer pointer, size_t bytes, cu_location to,
                                unsigned int flags, cu_stream stream)
{
	if (flags || (to.type != ABI_LOCATION_DEVICE && to.type != ABI_LOCATION_HOST))
		return ABI_INVALID_VALUE;
	if (to.type == ABI_LOCATION_DEVICE && to.id < 0)
		return ABI_INVALID_DEVICE;
	return cuMemPrefetchAsync(pointer, bytes,
	                          to.type == ABI_LOCATION_HOST ? ABI_DEVICE_CPU : to.id, stream);
}

cu_result cuMemAdvise(cu_pointer pointer, size_t bytes, cu_advice advice, cu_device device)
{
	(void)device;
	ENTER_CONTEXT();
	struct range *range = range_of(AT(pointer));
	bool right = range && range->place == TARE_PLACE_SHARED && bytes > 0 &&
	             bytes <= range->bytes - (size_t)((char *)AT(pointer) - range->at);
	return leave(right && advice >= 1 && advice <= 6 ? ABI_SUCCESS : ABI_INVALID_VALUE);
}

cu_result cuMemAdvise_v2(cu_pointer pointer, size_t bytes, cu_advice advice, cu_location location)
{
	if (location.type != ABI_LOCATION_DEVICE && location.type != ABI_LOCATION_HOST)
		return ABI_INVALID_VALUE;
	return cuMemAdvise(pointer, bytes, advice, location.id);
}

// ---- copies

static enum tare_place place_of(const struct range *range)
{
	return range ? range->place : TARE_PLACE_PAGEABLE;
}

// The script's line for the copy; else that of page-locked memory.
static const struct tare_script_copy *line_of(const struct tare_script *script,
                                              enum tare_place from, enum tare_place to)
{
	const struct tare_script_copy *line = &script->copies[from][to];

	if (line->line)
		return line;
	from = from == TARE_PLACE_DEVICE || from == TARE_PLACE_SHARED ? TARE_PLACE_DEVICE
	                                                              : TARE_PLACE_PINNED;
	to = to == TARE_PLACE_DEVICE || to == TARE_PLACE_SHARED ? TARE_PLACE_DEVICE
	                                                        : TARE_PLACE_PINNED;
	return &script->copies[from][to];
}

// Between memories of two devices.
static void peer_cost(const struct device *device, struct op *op, const struct range *from,
                      const struct range *to, uint64_t bytes)
{
	const struct tare_script_copy *host =
	    line_of(&device->script, TARE_PLACE_DEVICE, TARE_PLACE_PINNED);
	const struct tare_script_copy *local =
	    line_of(&device->script, TARE_PLACE_DEVICE, TARE_PLACE_DEVICE);
	bool direct = !gpu.words.no_peer && (from->device->peers[to->device->index] ||
	                                     to->device->peers[from->device->index]);
	bool reads = to->device == device;

	op->copy_kind = direct ? 10 : FAKE_CUDA_STAGED;
	op->ends[0] = (uint32_t)from->device->index;
	op->ends[1] = (uint32_t)to->device->index;
	if (gpu.words.fail_peer && bytes == gpu.words.fail_peer)
		op->fails = gpu.words.fail_code;
	// Over its own link a device sends on one engine and receives on another.
	tare_model_copy_cost(direct ? local->fixed_ps : 2 * host->fixed_ps,
	                     direct ? gpu.words.peer_rate : host->rate / 2, bytes,
	                     direct && reads ? TARE_FLOW_LOCAL : TARE_FLOW_TO_HOST, &op->model);
}

static void copy_cost(const struct device *device, struct op *op)
{
	struct range *from = range_of(op->from.at), *to = range_of(op->to.at);
	const struct tare_script *script = &device->script;
	enum tare_place from_place = place_of(from), to_place = place_of(to);
	uint64_t bytes = op->row_bytes * op->rows * op->layers, rate;

	if (from_place == TARE_PLACE_DEVICE && to_place == TARE_PLACE_DEVICE &&
	    from->device != to->device) {
		peer_cost(device, op, from, to, bytes);
		return;
	}
	if (!is_device(from) && !is_device(to)) {
		op->copy_kind = 9;
		op->model.flow = TARE_FLOW_NONE;
		op->model.fixed_ps = tare_model_rate_ps(bytes, UNSAID_RATE);
		return;
	}
	const struct tare_script_copy *line = line_of(script, from_place, to_place);
	rate = line->rate ? line->rate : UNSAID_RATE;
	if (script->boundary_bytes && ((uintptr_t)op->from.at % script->boundary_bytes ||
	                               (uintptr_t)op->to.at % script->boundary_bytes))
		rate = (uint64_t)((unsigned __int128)rate * script->unaligned_speed_ppm / 1000000);
	if (line->staging && line->staging < rate)
		rate = line->staging;
	tare_model_copy_cost(line->fixed_ps, rate, bytes, tare_flow_of_copy(from_place, to_place),
	                     &op->model);
	op->copy_kind = op->model.flow == TARE_FLOW_LOCAL     ? 8
	                : op->model.flow == TARE_FLOW_TO_HOST ? 2
	                                                      : 1;
	if (op->rows * op->layers > 1)
		op->model.fixed_ps +=
		    tare_model_times_ps(op->rows * op->layers, script->rectangle_row_ps);
	if (from_place == TARE_PLACE_SHARED)
		op->model.fixed_ps +=
		    migrate(from, op->from.at, bytes, false, true, &op->migrated_bytes);
	if (to_place == TARE_PLACE_SHARED)
		op->model.fixed_ps +=
		    migrate(to, op->to.at, bytes, false, true, &op->migrated_bytes);
}

// The pageable source as it is now, closely packed.
static void stage(struct op *op)
{
	char *at = malloc(op->row_bytes * op->rows * op->layers + 1);

	op->staged = at;
	for (size_t layer = 0; layer < op->layers; layer++)
		for (size_t row = 0; row < op->rows; row++, at += op->row_bytes)
			memcpy(at, op->from.at + layer * op->from.layer + row * op->from.pitch,
			       op->row_bytes);
	op->from = (struct side){ op->staged, op->row_bytes, op->row_bytes * op->rows };
}

static bool fits(const struct side *side, const struct op *op)
{
	const struct range *range = range_of(side->at);
	size_t extent =
	    (op->layers - 1) * side->layer + (op->rows - 1) * side->pitch + op->row_bytes;
	return !range || extent <= range->bytes - (size_t)(side->at - range->at);
}

enum wait { NEVER, IF_STAGED, ALWAYS };

static cu_result copy(struct op *op, cu_stream handle, enum wait wait)
{
	struct cu_stream_object *stream = NULL;
	bool from_host = !range_of(op->from.at), to_host = !range_of(op->to.at);
	cu_result result = stream_of(handle, &stream);

	if (result != ABI_SUCCESS)
		return result;
	op->kind = COPY;
	if (op->row_bytes == 0 || op->rows == 0 || op->layers == 0)
		return ABI_SUCCESS;
	if (!op->from.at || !op->to.at || !fits(&op->from, op) || !fits(&op->to, op))
		return ABI_INVALID_VALUE;
	copy_cost(stream->device, op);
	uint64_t bytes = op->row_bytes * op->rows * op->layers;
	if (from_host && !stream->capture)
		stage(op);
	result = append(handle, op, NULL);
	if (result != ABI_SUCCESS || stream->capture)
		return result;
	bool staged = to_host || (from_host && bytes > STAGED_AT_ONCE);
	return wait == ALWAYS || (wait == IF_STAGED && staged) ? drain(stream) : ABI_SUCCESS;
}

static cu_result copy_row(void *to, const void *from, size_t bytes, cu_stream stream,
                          enum wait wait)
{
	struct op op = { .to = { to, bytes, bytes },
		         .from = { (char *)(uintptr_t)from, bytes, bytes },
		         .row_bytes = bytes,
		         .rows = 1,
		         .layers = 1 };
	return copy(&op, stream, wait);
}

// Checks that each side of a copy is where the caller says that it is.
static cu_result copy_between(void *to, bool to_device, const void *from, bool from_device,
                              size_t bytes, cu_stream stream, enum wait wait)
{
	struct range *source = range_of(from), *destination = range_of(to);
	bool right =
	    (is_device(destination) == to_device ||
	     (destination && destination->place == TARE_PLACE_SHARED)) &&
	    (is_device(source) == from_device || (source && source->place == TARE_PLACE_SHARED));

	if (bytes && !right)
		return ABI_INVALID_VALUE;
	return copy_row(to, from, bytes, stream, wait);
}

cu_result cuMemcpyAsync(cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_row(AT(to), AT(from), bytes, stream, IF_STAGED));
}

cu_result cuMemcpyHtoDAsync_v2(cu_pointer to, const void *from, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(AT(to), true, from, false, bytes, stream, IF_STAGED));
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_pointer from, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(to, false, AT(from), true, bytes, stream, IF_STAGED));
}

cu_result cuMemcpyDtoDAsync_v2(cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(AT(to), true, AT(from), true, bytes, stream, NEVER));
}

FAKE_EXPORT cu_result cuMemcpyPeerAsync(cu_pointer to, cu_context to_context, cu_pointer from,
                                        cu_context from_context, size_t bytes, cu_stream stream);
cu_result cuMemcpyPeerAsync(cu_pointer to, cu_context to_context, cu_pointer from,
                            cu_context from_context, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	struct range *source = range_of(AT(from)), *destination = range_of(AT(to));
	struct cu_stream_object *into = NULL;
	cu_result result = stream_of(stream, &into);
	if (!to_context || !from_context)
		return leave(ABI_INVALID_CONTEXT);
	if (bytes && (!source || !destination || source->device != from_context->device ||
	              destination->device != to_context->device))
		return leave(ABI_INVALID_VALUE);
	if (result == ABI_SUCCESS)
		result = refuse_capturing(into);
	return leave(result == ABI_SUCCESS ? copy_row(AT(to), AT(from), bytes, stream, NEVER)
	                                   : result);
}

cu_result cuMemcpy(cu_pointer to, cu_pointer from, size_t bytes)
{
	ENTER_CONTEXT();
	bool local = is_device(range_of(AT(to))) && is_device(range_of(AT(from)));
	return leave(copy_row(AT(to), AT(from), bytes, NULL, local ? NEVER : ALWAYS));
}

cu_result cuMemcpyHtoD_v2(cu_pointer to, const void *from, size_t bytes)
{
	ENTER_CONTEXT();
	return leave(copy_between(AT(to), true, from, false, bytes, NULL, ALWAYS));
}

cu_result cuMemcpyDtoH_v2(void *to, cu_pointer from, size_t bytes)
{
	ENTER_CONTEXT();
	return leave(copy_between(to, false, AT(from), true, bytes, NULL, ALWAYS));
}

static struct side side_of(int type, const void *host, cu_pointer device, cu_array array,
                           size_t pitch, size_t height)
{
	if (type == ABI_MEMORYTYPE_ARRAY) {
		char *rows = fake_array_rows(array, &pitch, &height);
		return (struct side){ rows, pitch, height * pitch };
	}
	return (struct side){ type == ABI_MEMORYTYPE_HOST ? (char *)(uintptr_t)host : AT(device),
		              pitch, height * pitch };
}

cu_result cuMemcpy3DAsync_v2(const cu_memcpy3d *what, cu_stream stream)
{
	struct op op = {
		.to = side_of(what->destination_type, what->destination_host,
		              what->destination_device, what->destination_array,
		              what->destination_pitch, what->destination_height),
		.from = side_of(what->source_type, what->source_host, what->source_device,
		                what->source_array, what->source_pitch, what->source_height),
		.row_bytes = what->width_bytes,
		.rows = what->height,
		.layers = what->depth,
	};

	ENTER_CONTEXT();
	if (what->reserved0 || what->reserved1 || op.from.pitch < what->width_bytes ||
	    op.to.pitch < what->width_bytes ||
	    (what->depth > 1 && (op.from.layer < what->height * op.from.pitch ||
	                         op.to.layer < what->height * op.to.pitch)))
		return leave(ABI_INVALID_VALUE);
	op.from.at +=
	    what->source_z * op.from.layer + what->source_y * op.from.pitch + what->source_x_bytes;
	op.to.at += what->destination_z * op.to.layer + what->destination_y * op.to.pitch +
	            what->destination_x_bytes;
	return leave(copy(&op, stream, IF_STAGED));
}

static cu_result fill(cu_pointer to, uint32_t value, size_t unit, size_t count, cu_stream handle)
{
	struct cu_stream_object *stream = NULL;
	struct range *range = range_of(AT(to));
	cu_result result = stream_of(handle, &stream);

	if (result != ABI_SUCCESS)
		return result;
	if (to % unit || !range ||
	    count > (range->bytes - (size_t)((char *)AT(to) - range->at)) / unit)
		return ABI_INVALID_VALUE;
	const struct tare_script_transfer *line = &stream->device->script.fill;
	struct op op = { .kind = FILL,
		         .to.at = AT(to),
		         .value = value,
		         .unit = unit,
		         .row_bytes = unit * count,
		         .rows = 1,
		         .layers = 1 };
	tare_model_copy_cost(line->fixed_ps, line->rate, unit * count, TARE_FLOW_LOCAL, &op.model);
	if (range->place == TARE_PLACE_SHARED)
		op.model.fixed_ps +=
		    migrate(range, AT(to), unit * count, false, true, &op.migrated_bytes);
	return append(handle, &op, NULL);
}

cu_result cuMemsetD8Async(cu_pointer to, unsigned char value, size_t count, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(to, value, 1, count, stream));
}

cu_result cuMemsetD16Async(cu_pointer to, unsigned short value, size_t count, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(to, value, 2, count, stream));
}

cu_result cuMemsetD32Async(cu_pointer to, unsigned int value, size_t count, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(to, value, 4, count, stream));
}
