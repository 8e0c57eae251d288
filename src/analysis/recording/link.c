// SPDX-License-Identifier: Apache-2.0
// Handles: which object one means at a time, and what definitions say of one another.
#include "analysis/recording/internal.h"

#include "analysis/core/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
	if (index != TARE_NO_INDEX && !l->recording->kernels[index].symbol)
		l->recording->kernels[index].symbol = loading_text(l, name);
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
	if (loading_sort_objects(l))
		return l->status;
	for (size_t i = 0; i < l->object_count && !l->status; i++)
		link_object(l, &l->objects[i]);
	if (!l->status)
		loading_apply_facts(l);
	return l->status;
}
