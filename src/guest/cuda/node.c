// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs, as the records of their work tell them: a graph's launch is one call, and what
// it does is known by these alone. A node whose parameters the program changes is another one from
// then on.
#include "guest/cuda/cuda.h"

#include <string.h>

// What tells one node from another; zeroed before it is filled in, for it is hashed.
struct content {
	uint64_t node, object, amount;
	uint64_t source, destination; // of a copy between two devices
	uint32_t process;
	uint8_t kind, direction, memory, padding;
};

static struct guest_map *ids;
static _Atomic uint32_t last_id;

bool cuda_nodes_begin(void)
{
	ids = guest_map_new();
	return ids != NULL;
}

static uint32_t id_of(const struct content *content)
{
	const void *key = guest_hash_key(guest_hash(GUEST_HASH_START, content, sizeof *content));
	uint32_t id = (uint32_t)guest_map_find(ids, key, 0);
	union tare_trace_record record;
	if (CUDA_LIKELY(id))
		return id;
	id = atomic_fetch_add(&last_id, 1) + 1;
	record.node =
	    (struct tare_trace_node){ .head = guest_api_head(TARE_TRACE_CUDA, TARE_TRACE_NODE, 0),
		                      .id = id,
		                      .kind = content->kind,
		                      .direction = content->direction,
		                      .memory = content->memory,
		                      .node = content->node,
		                      .object = content->object,
		                      .amount = content->amount,
		                      .ticks = guest_ticks(),
		                      .source = content->source,
		                      .destination = content->destination };
	guest_define(&record);
	guest_map_put(ids, key, id);
	return id;
}

static uint64_t shape_of(const struct cupti_kernel *kernel)
{
	struct tare_trace_shape shape = { .dimensions = 1,
		                          .local_bytes = (uint32_t)kernel->dynamic_shared };
	for (uint32_t i = 0; i < 3; i++) {
		shape.local[i] = kernel->block[i] > 0 ? (uint32_t)kernel->block[i] : 1;
		shape.global[i] =
		    (kernel->grid[i] > 0 ? (uint64_t)kernel->grid[i] : 1) * shape.local[i];
		if (shape.global[i] > 1)
			shape.dimensions = i + 1;
	}
	return guest_shape(&shape);
}

static void tell_kernel(struct content *content, const struct cupti_kernel *record)
{
	struct cuda_recorded_kernel *kernel;
	content->node = record->graph_node;
	if (CUDA_LIKELY(!content->node))
		return; // most are launched by themselves
	kernel = cuda_kernel_named(record->name);
	content->kind = TARE_KIND_KERNEL;
	content->object = (uintptr_t)kernel;
	content->amount = shape_of(record);
	if (kernel)
		cuda_kernel_tell(kernel, record);
}

// The kind of memory of one side of a copy, as CUPTI numbers it.
static uint8_t memory_of(uint8_t kind)
{
	enum {
		PAGEABLE = 1,
		PINNED = 2,
		DEVICE = 3,
		ARRAY = 4,
		MANAGED = 5,
		DEVICE_STATIC = 6,
		MANAGED_STATIC = 7
	};
	switch (kind) {
	case PAGEABLE:
		return TARE_TRACE_MEMORY_PAGEABLE;
	case PINNED:
		return TARE_TRACE_MEMORY_PINNED;
	case DEVICE:
	case ARRAY:
	case DEVICE_STATIC:
		return TARE_TRACE_MEMORY_BUFFER;
	case MANAGED:
	case MANAGED_STATIC:
		return TARE_TRACE_MEMORY_SHARED;
	default:
		return TARE_TRACE_MEMORY_UNKNOWN;
	}
}

static void tell_copy(struct content *content, uint8_t copy_kind, uint8_t source,
                      uint8_t destination)
{
	enum { HTOD = 1, DTOH = 2, HTOA = 3, ATOH = 4, HTOH = 9 };
	content->kind = TARE_KIND_COPY;
	content->direction = TARE_DIRECTION_LOCAL;
	if (copy_kind == HTOD || copy_kind == HTOA) {
		content->kind = TARE_KIND_WRITE;
		content->direction = TARE_DIRECTION_TO_DEVICE;
		content->memory = memory_of(source);
	} else if (copy_kind == DTOH || copy_kind == ATOH) {
		content->kind = TARE_KIND_READ;
		content->direction = TARE_DIRECTION_FROM_DEVICE;
		content->memory = memory_of(destination);
	} else if (copy_kind == HTOH) {
		content->direction = TARE_DIRECTION_HOST;
		content->memory = memory_of(source);
	}
}

static void tell_peers(struct content *content, const struct cupti_memcpy_peer *copy)
{
	const struct cuda_recorded_device *source = NULL, *destination = NULL;
	struct guest_thread *thread = guest_thread();
	content->node = copy->graph_node;
	content->amount = copy->bytes;
	tell_copy(content, copy->copy_kind, copy->source_kind, copy->destination_kind);
	if (!content->node || copy->source_device == copy->destination_device)
		return;
	source = cuda_device_at(copy->source_device);
	destination = cuda_device_at(copy->destination_device);
	if (!source || !destination)
		return;
	content->source = (uintptr_t)source;
	content->destination = (uintptr_t)destination;
	if (thread)
		cuda_tell_link(thread, source, destination, false);
}

uint32_t cuda_node_of(const cupti_record *record)
{
	struct content content;
	memset(&content, 0, sizeof content);
	content.process = atomic_load_explicit(&guest_process, memory_order_relaxed);
	switch (record->kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL:
		tell_kernel(&content, (const void *)record);
		break;
	case ABI_CUPTI_KIND_MEMCPY: {
		const struct cupti_memcpy *copy = (const void *)record;
		content.node = copy->graph_node;
		content.amount = copy->bytes;
		tell_copy(&content, copy->copy_kind, copy->source_kind, copy->destination_kind);
		break;
	}
	case ABI_CUPTI_KIND_MEMCPY_PEER:
		tell_peers(&content, (const void *)record);
		break;
	case ABI_CUPTI_KIND_MEMSET: {
		const struct cupti_memset *fill = (const void *)record;
		content.node = fill->graph_node;
		content.amount = fill->bytes;
		content.kind = TARE_KIND_FILL;
		break;
	}
	default:
		break;
	}
	return content.node && content.kind ? id_of(&content) : 0;
}
