// SPDX-License-Identifier: Apache-2.0
// Objects of the program that are remembered, and the definitions that are written of them.
#include "guest/opencl/layer.h"

#include <string.h>

static struct guest_map *objects; // by handle
static struct layer_object *spare_objects;
static guest_lock spare_lock;
static _Atomic uint64_t serials;
_Atomic uint32_t layer_defined[LAYER_FUNCTIONS];

// The child of a fork begins its own sample, and the parent's callbacks are not its.
void layer_in_child(void)
{
	struct layer_thread *mine;
	GUEST_API_THREADS(mine, TARE_TRACE_OPENCL)
	{
		mine->callbacks = 0;
		mine->stands_by = false;
		mine->run.of = NULL;
		memset(&mine->sampler, 0, sizeof mine->sampler);
		mine->waited_count = 0;
	}
}

bool layer_objects_begin(void)
{
	guest_lock_register(&spare_lock);
	objects = guest_map_new();
	layer_arguments_begin();
	return objects != NULL;
}

void layer_define_function(uint32_t function, uint32_t process)
{
	if (atomic_exchange(&layer_defined[function], process) == process)
		return;
	const struct layer_function_name *name = &layer_function_names[function];
	guest_define_function(TARE_TRACE_OPENCL, function, name->name, name->role);
}

// ---- objects

void layer_object_put(struct layer_object *object, enum tare_trace_object_kind kind,
                      const void *handle)
{
	object->kind = (uint8_t)kind;
	object->serial = atomic_fetch_add(&serials, 1) + 1;
	atomic_store(&object->references, 1);
	object->handle = handle;
	if (objects != NULL)
		guest_map_put(objects, handle, (uintptr_t)object);
}

struct layer_object *layer_object_new(enum tare_trace_object_kind kind, const void *handle)
{
	layer_lock(&spare_lock);
	struct layer_object *object = spare_objects;
	if (object != NULL)
		spare_objects = object->following;
	layer_unlock(&spare_lock);
	if (object == NULL) {
		// A page's worth at a time.
		enum { PART = 64 };
		struct layer_object *part = guest_memory(PART * sizeof *part);
		if (part == NULL)
			return NULL;
		layer_lock(&spare_lock);
		for (int i = 1; i < PART; i++) {
			part[i].following = spare_objects;
			spare_objects = &part[i];
		}
		layer_unlock(&spare_lock);
		object = part;
	}
	*object = (struct layer_object){ .handle = NULL };
	layer_object_put(object, kind, handle);
	return object;
}

static struct layer_object *find(const void *handle)
{
	if (handle == NULL || objects == NULL)
		return NULL;
	return (struct layer_object *)(uintptr_t)guest_map_find(objects, handle, 0);
}

struct layer_object *layer_object_find(enum tare_trace_object_kind kind, const void *handle)
{
	struct layer_object *object = find(handle);
	return object != NULL && object->kind == kind && object->handle == handle ? object : NULL;
}

void layer_retaining(const void *handle)
{
	struct layer_object *object = find(handle);
	if (object != NULL)
		atomic_fetch_add(&object->references, 1);
}

bool layer_releasing(const void *handle)
{
	struct layer_object *object = find(handle);
	if (object == NULL || atomic_fetch_sub(&object->references, 1) != 1)
		return false;
	guest_map_remove(objects, handle);
	if (object->kind == TARE_OBJECT_QUEUE) {
		layer_queue_releasing((struct layer_queue *)object);
		return true;
	}
	object->handle = NULL;
	layer_lock(&spare_lock);
	object->following = spare_objects;
	spare_objects = object;
	layer_unlock(&spare_lock);
	return true;
}

// ---- shapes

static uint32_t hash_shape(const struct layer_shape *shape)
{
	uint64_t hash = shape->dimensions;
	for (int i = 0; i < 3; i++)
		hash = (hash ^ shape->global[i] ^ (uint64_t)shape->local[i] << 40) *
		       UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 58);
}

static bool same_shape(const struct layer_shape *a, const struct layer_shape *b)
{
	return ((a->global[0] ^ b->global[0]) | (a->global[1] ^ b->global[1]) |
	        (a->global[2] ^ b->global[2]) | (a->local[0] ^ b->local[0]) |
	        (a->local[1] ^ b->local[1]) | (a->local[2] ^ b->local[2]) |
	        (a->dimensions ^ b->dimensions)) == 0;
}

// A shape that this thread did not use lately: known in the process, or new.
static uint32_t find_shape(const struct layer_shape *shape)
{
	struct tare_trace_shape record = { .dimensions = shape->dimensions & 15,
		                           .has_offset = shape->dimensions > 15 };
	memcpy(record.global, shape->global, sizeof shape->global);
	memcpy(record.local, shape->local, sizeof shape->local);
	return guest_shape(&record);
}

uint32_t layer_shape_id(struct guest_thread *thread, const struct layer_shape *shape)
{
	struct layer_thread *mine = layer_of(thread);
	struct layer_shape *slot = &mine->shapes[hash_shape(shape)];
	if (LAYER_LIKELY(slot->id != 0 && same_shape(slot, shape) &&
	                 slot->process == thread->process)) {
		mine->last_shape = slot;
		return slot->id;
	}
	// A signal handler that comes meanwhile does not take a part of it for the whole.
	mine->last_shape = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*slot = *shape;
	slot->process = thread->process;
	slot->id = find_shape(slot);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->id != 0)
		mine->last_shape = slot;
	return slot->id;
}
