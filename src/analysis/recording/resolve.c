// SPDX-License-Identifier: Apache-2.0
// Handles and what they stand for at a moment.
#include "analysis/core/demangle.h"
#include "analysis/recording/internal.h"
#include <ctype.h>
#include <stdlib.h>

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

// Launches of a kernel follow one another: of an object that is the only one of its handle it is
// remembered that it was found.
static bool is_last(const struct loading *l, uint8_t api, uint8_t kind, uint64_t handle,
                    uint64_t ticks)
{
	const struct load_object *last;

	if (!l->last_object)
		return false;
	last = &l->objects[l->last_object - 1];
	return last->handle == handle && last->kind == kind && last->api == api &&
	       last->ticks <= ticks;
}

static void remember(struct loading *l, const struct load_object *object)
{
	const struct load_object *end = l->objects + l->object_count;
	bool only = (object == l->objects || !same_place(object - 1, object)) &&
	            (object + 1 == end || !same_place(object + 1, object));

	l->last_object = only ? (size_t)(object - l->objects) + 1 : 0;
}

uint32_t loading_resolve(struct loading *l, uint8_t api, uint8_t kind, uint64_t handle,
                         uint64_t ticks)
{
	const struct load_object *object;

	if (handle && is_last(l, api, kind, handle, ticks))
		return l->objects[l->last_object - 1].index;
	object = handle ? loading_find(l, api, kind, handle, ticks) : NULL;
	if (object) {
		remember(l, object);
		return object->index;
	}
	l->recording->unresolved += handle != 0;
	return TARE_NO_INDEX;
}

int loading_sort_objects(struct loading *l)
{
	if (l->object_count)
		qsort(l->objects, l->object_count, sizeof *l->objects, compare_objects);
	for (size_t i = 0; i < l->object_count; i++) {
		const struct load_object *o = &l->objects[i];
		if (i && same_place(o, o - 1))
			continue;
		if (!tare_id_map_put(&l->object_at, object_key(o), (uint32_t)i))
			return loading_fail(l, ENOMEM, "objects");
	}
	return l->status;
}
