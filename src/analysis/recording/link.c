// SPDX-License-Identifier: Apache-2.0
// Handles: which object one means at a time, and what definitions say of one another.
#include "analysis/recording/internal.h"

#include "analysis/core/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint64_t object_key(const struct load_object *o)
{
	return (o->handle * 16 + o->kind) ^ (uint64_t)o->api << 60;
}

static int compare_places(const struct load_object *a, const struct load_object *b)
{
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->api != b->api)
		return a->api < b->api ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

static int compare_objects(const void *x, const void *y)
{
	const struct load_object *a = x, *b = y;
	int places = compare_places(a, b);

	if (places)
		return places;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static bool same_place(const struct load_object *a, const struct load_object *b)
{
	return compare_places(a, b) == 0;
}

const struct load_object *loading_find(const struct loading *l, uint8_t api, uint8_t kind,
                                       uint64_t handle, uint64_t ticks)
{
	const struct load_object wanted = {
		.handle = handle, .api = api, .kind = kind, .ticks = ticks, .order = UINT32_MAX
	};
	uint32_t first = tare_id_map_find(&l->object_at, object_key(&wanted));
	size_t low, high;

	if (first == TARE_ID_ABSENT)
		return NULL;
	low = first;
	// Nearly always there is one object of a handle.
	if (same_place(&l->objects[low], &wanted) &&
	    (low + 1 == l->object_count || !same_place(&l->objects[low + 1], &wanted)))
		return l->objects[low].ticks <= ticks ? &l->objects[low] : NULL;
	// Keys of other handles may collide: then all objects are searched.
	low = same_place(&l->objects[low], &wanted) ? low : 0;
	high = l->object_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_objects(&l->objects[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && same_place(&l->objects[low - 1], &wanted) ? &l->objects[low - 1] : NULL;
}

uint32_t loading_resolve(struct loading *l, uint8_t api, uint8_t kind, uint64_t handle,
                         uint64_t ticks)
{
	const struct load_object *object =
	    handle ? loading_find(l, api, kind, handle, ticks) : NULL;

	if (object)
		return object->index;
	l->recording->unresolved += handle != 0;
	return TARE_NO_INDEX;
}

// ---- kernels

// The kernel of a (program, name); kernel objects are made again and again.
static uint32_t intern_kernel(struct loading *l, uint32_t program, const char *name)
{
	struct tare_recording *r = l->recording;
	uint64_t key = tare_hash_text(TARE_HASH_START + program, name);
	struct tare_recorded_kernel *added;
	uint32_t index;

	for (;; key++) {
		index = tare_id_map_find(&l->kernel_of, key);
		if (index == TARE_ID_ABSENT)
			break;
		if (r->kernels[index].program == program && !strcmp(r->kernels[index].name, name))
			return index;
	}
	added = LOADING_ADD(l, kernels, kernel_count, kernel_room);
	if (!added)
		return TARE_NO_INDEX;
	*added = (struct tare_recorded_kernel){ l->process, program, loading_text(l, name) };
	index = (uint32_t)(r->kernel_count - 1);
	if (!tare_id_map_put(&l->kernel_of, key, index))
		loading_fail(l, ENOMEM, "kernels");
	return index;
}

// A name may stand for one that is twice as long for each two of its references (S0_, T_): a few
// make a name that fills the memory.
static bool is_harmless(const char *mangled)
{
	enum { MOST_BYTES = 4096, MOST_REFERENCES = 40 };
	size_t bytes = strlen(mangled), references = 0;

	for (const char *at = mangled; bytes <= MOST_BYTES && *at; at++)
		references +=
		    (*at == 'S' || *at == 'T') && (at[1] == '_' || isalnum((unsigned char)at[1]));
	return bytes <= MOST_BYTES && references <= MOST_REFERENCES;
}

// CUDA tells names as the linker has them. What a kernel returns is not said: nothing, always.
static uint32_t intern_mangled(struct loading *l, uint32_t program, const char *name)
{
	char *plain = is_harmless(name) ? tare_demangle(name) : NULL;
	bool returns_nothing = plain && strncmp(plain, "void ", 5) == 0;
	uint32_t index = intern_kernel(l, program,
	                               !plain            ? name
	                               : returns_nothing ? plain + 5
	                                                 : plain);

	free(plain);
	return index;
}

static void link_memory(struct loading *l, const struct load_object *o)
{
	struct tare_recorded_memory *m = &l->recording->memories[o->index];
	const struct load_object *parent =
	    loading_find(l, o->api, TARE_OBJECT_MEMORY, o->parent, o->ticks);

	if (parent && parent->index != o->index) {
		m->parent = parent->index;
		parent = loading_find(l, o->api, TARE_OBJECT_CONTEXT, parent->parent, o->ticks);
	} else {
		parent = loading_find(l, o->api, TARE_OBJECT_CONTEXT, o->parent, o->ticks);
	}
	if (parent)
		m->context = parent->index;
}

static void link_object(struct loading *l, struct load_object *o)
{
	struct tare_recording *r = l->recording;
	uint32_t parent;

	switch (o->kind) {
	case TARE_OBJECT_DEVICE:
		parent = loading_resolve(l, o->api, TARE_OBJECT_PLATFORM, o->parent, o->ticks);
		if (parent != TARE_NO_INDEX)
			r->devices[o->index].platform = l->platforms[parent];
		break;
	case TARE_OBJECT_QUEUE:
		r->queues[o->index].device =
		    loading_resolve(l, o->api, TARE_OBJECT_DEVICE, o->device, o->ticks);
		break;
	case TARE_OBJECT_KERNEL:
		parent = loading_resolve(l, o->api, TARE_OBJECT_PROGRAM, o->parent, o->ticks);
		o->index = (o->api == TARE_TRACE_CUDA ? intern_mangled : intern_kernel)(
		    l, parent, tare_trace_text(l->trace, l->file, o->index));
		break;
	case TARE_OBJECT_MEMORY:
		link_memory(l, o);
		break;
	default:
		break;
	}
}

int loading_link(struct loading *l)
{
	l->linked = true;
	if (l->object_count)
		qsort(l->objects, l->object_count, sizeof *l->objects, compare_objects);
	for (size_t i = 0; i < l->object_count; i++) {
		const struct load_object *o = &l->objects[i];
		if (i && same_place(o, o - 1))
			continue;
		if (!tare_id_map_put(&l->object_at, object_key(o), (uint32_t)i))
			return loading_fail(l, ENOMEM, "objects");
	}
	for (size_t i = 0; i < l->object_count && !l->status; i++)
		link_object(l, &l->objects[i]);
	if (!l->status)
		loading_apply_facts(l);
	return l->status;
}
