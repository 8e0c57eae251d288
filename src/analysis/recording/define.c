// SPDX-License-Identifier: Apache-2.0
// Definitions of one process: what handles, numbers and ids mean.
#include "analysis/recording/internal.h"

#include <string.h>

// Of a queue's properties, for all APIs alike.
#define QUEUE_ANY_ORDER 1
#define QUEUE_TIMED 2
// And of CUDA's streams.
#define STREAM_NON_BLOCKING 0x100
#define STREAM_LEGACY 0x200

// ---- by content

static void define_function(struct loading *l, const struct tare_trace_function *f)
{
	uint32_t role = f->role < TARE_ROLE_COUNT ? f->role : TARE_ROLE_OTHER;
	const char *name = tare_trace_text(l->trace, l->file, f->name);
	uint32_t index = loading_intern_function(l, name, f->api, role);

	if (!tare_id_map_put(&l->function_of, tare_trace_detail(f->head), index))
		loading_fail(l, ENOMEM, "functions");
}

struct wanted_shape {
	const struct tare_recording *recording;
	struct tare_recorded_shape shape;
};

static bool is_shape(const void *context, uint32_t index)
{
	const struct wanted_shape *wanted = context;
	const struct tare_recorded_shape *s = &wanted->recording->shapes[index];

	return s->dimensions == wanted->shape.dimensions &&
	       s->local_bytes == wanted->shape.local_bytes &&
	       !memcmp(s->cluster, wanted->shape.cluster, sizeof s->cluster) &&
	       !memcmp(s->global, wanted->shape.global, sizeof s->global) &&
	       !memcmp(s->local, wanted->shape.local, sizeof s->local);
}

// Threads number the shapes of their launches for themselves: the same one comes often.
static void define_shape(struct loading *l, const struct tare_trace_shape *s)
{
	struct wanted_shape wanted = { l->recording,
		                       { .dimensions = s->dimensions,
		                         .local_bytes = s->local_bytes,
		                         .cluster = { s->cluster[0], s->cluster[1],
		                                      s->cluster[2] } } };
	struct tare_recorded_shape *added;
	uint32_t index;
	uint64_t key;

	memcpy(wanted.shape.global, s->global, sizeof s->global);
	memcpy(wanted.shape.local, s->local, sizeof s->local);
	key = tare_hash_bytes(TARE_HASH_START + s->dimensions, s->global, sizeof s->global);
	key = tare_hash_bytes(key, s->local, sizeof s->local);
	key = tare_hash_bytes(key, &s->local_bytes, sizeof s->local_bytes + sizeof s->cluster);
	index = loading_find_content(&l->shapes, &key, &wanted, is_shape);
	if (index == TARE_ID_ABSENT) {
		added = LOADING_ADD(l, shapes, shape_count, shape_room);
		if (!added)
			return;
		*added = wanted.shape;
		index = (uint32_t)(l->recording->shape_count - 1);
		if (!tare_id_map_put(&l->shapes, key, index))
			loading_fail(l, ENOMEM, "shapes");
	}
	if (!tare_id_map_put(&l->shape_of, s->id, index))
		loading_fail(l, ENOMEM, "shapes");
}

// ---- threads

static void define_track(struct loading *l, const struct tare_trace_track_record *t)
{
	const struct load_track *state = loading_track(l, tare_trace_track(t->head));
	struct tare_recorded_thread *thread;

	if (!state)
		return;
	thread = &l->recording->threads[state->thread];
	thread->tid = t->tid;
	thread->helper = tare_trace_detail(t->head) == TARE_TRACE_HELPER;
	if (!thread->helper &&
	    (l->first_call_ns == TARE_NO_TIME || loading_ns(l, t->ticks) < l->first_call_ns))
		l->first_call_ns = loading_ns(l, t->ticks);
	thread->name = loading_text(l, tare_trace_text(l->trace, l->file, t->name));
}

// ---- objects

static uint32_t add_device(struct loading *l, const struct tare_trace_object *o)
{
	struct tare_recorded_device *d = LOADING_ADD(l, devices, device_count, device_room);
	uint64_t *resolution =
	    d ? TARE_ROOM_FOR(l->resolutions_ns, l->resolution_room, l->clock_count) : NULL;
	struct tare_device_clock **clocks;

	if (!d || !resolution || !loading_add_ticks(l)) {
		loading_fail(l, ENOMEM, "devices");
		return TARE_NO_INDEX;
	}
	clocks = realloc(l->clocks, (l->clock_count + 1) * sizeof(struct tare_device_clock *));
	if (!clocks) {
		loading_fail(l, ENOMEM, "devices");
		return TARE_NO_INDEX;
	}
	l->clocks = clocks;
	l->clocks[l->clock_count++] = NULL;
	*resolution = 0;
	*d = (struct tare_recorded_device){
		.process = l->process,
		.same_as = (uint32_t)(l->recording->device_count - 1),
		.api = loading_api_of_head(l, o->head),
		.name = loading_text(l, tare_trace_text(l->trace, l->file, o->name)),
		.platform = "",
		.vendor = "",
		.driver_version = "",
		.uuid = "",
		.pci = "",
		.memory_bytes = o->bytes,
		.residual_ns = TARE_NO_TIME,
	};
	return d->same_as;
}

static uint32_t add_queue(struct loading *l, const struct tare_trace_object *o)
{
	struct tare_recorded_queue *q = LOADING_ADD(l, queues, queue_count, queue_room);
	uint32_t index = (uint32_t)(l->recording->queue_count - 1);

	if (!q)
		return TARE_NO_INDEX;
	*q = (struct tare_recorded_queue){ .process = l->process,
		                           .device = TARE_NO_INDEX,
		                           .api = loading_api_of_head(l, o->head),
		                           .number = o->number,
		                           .properties = o->properties,
		                           .created_ns = loading_ns(l, o->ticks) };
	q->out_of_order = o->properties & QUEUE_ANY_ORDER;
	q->profiling = o->properties & QUEUE_TIMED;
	q->one_engine = q->api == TARE_TRACE_LEVELZERO; // bound to an ordinal and an index
	q->legacy = q->api == TARE_TRACE_CUDA && (o->properties & STREAM_LEGACY);
	q->blocking =
	    q->api == TARE_TRACE_CUDA && !q->legacy && !(o->properties & STREAM_NON_BLOCKING);
	if (!tare_id_map_put(&l->queue_of, o->number, index))
		loading_fail(l, ENOMEM, "queues");
	return index;
}

static uint32_t add_memory(struct loading *l, const struct tare_trace_object *o)
{
	struct tare_recorded_memory *m = LOADING_ADD(l, memories, memory_count, memory_room);

	if (!m)
		return TARE_NO_INDEX;
	*m = (struct tare_recorded_memory){ .process = l->process,
		                            .kind = o->number,
		                            .flags = o->properties,
		                            .bytes = o->bytes,
		                            .parent = TARE_NO_INDEX,
		                            .context = TARE_NO_INDEX,
		                            .created_ns = loading_ns(l, o->ticks),
		                            .released_ns = TARE_NO_TIME };
	return (uint32_t)(l->recording->memory_count - 1);
}

static uint32_t add_program(struct loading *l, const struct tare_trace_object *o)
{
	struct tare_recorded_program *p = LOADING_ADD(l, programs, program_count, program_room);

	if (!p)
		return TARE_NO_INDEX;
	*p = (struct tare_recorded_program){ .process = l->process,
		                             .build_options = "",
		                             .native = o->properties & TARE_PROGRAM_NATIVE };
	return (uint32_t)(l->recording->program_count - 1);
}

static uint32_t add_platform(struct loading *l, const struct tare_trace_object *o)
{
	const char **name = TARE_ROOM_FOR(l->platforms, l->platform_room, l->platform_count);

	if (!name) {
		loading_fail(l, ENOMEM, "platforms");
		return TARE_NO_INDEX;
	}
	*name = loading_text(l, tare_trace_text(l->trace, l->file, o->name));
	return l->platform_count++;
}

static void define_object(struct loading *l, const struct tare_trace_object *o)
{
	struct load_object *object = TARE_ROOM_FOR(l->objects, l->object_room, l->object_count);
	uint8_t kind = (uint8_t)tare_trace_detail(o->head);
	uint32_t index = 0;

	if (!object || l->object_count >= TARE_NO_INDEX) {
		loading_fail(l, ENOMEM, "objects");
		return;
	}
	switch (tare_trace_detail(o->head)) {
	case TARE_OBJECT_PLATFORM:
		index = add_platform(l, o);
		break;
	case TARE_OBJECT_DEVICE:
		index = add_device(l, o);
		break;
	case TARE_OBJECT_CONTEXT:
		index = l->contexts++;
		break;
	case TARE_OBJECT_QUEUE:
		index = add_queue(l, o);
		break;
	case TARE_OBJECT_PROGRAM:
		index = add_program(l, o);
		break;
	case TARE_OBJECT_KERNEL:
		index = o->name;
		break;
	case TARE_OBJECT_MEMORY:
		index = add_memory(l, o);
		break;
	case TARE_OBJECT_GRAPH:
		index = o->number ? loading_add_list(l, o) : LOADING_GRAPH | l->graphs++;
		break;
	case TARE_OBJECT_EVENT:
		break;
	default:
		return;
	}
	*object = (struct load_object){ o->handle, o->ticks,
		                        o->parent, o->device,
		                        index,     (uint32_t)l->object_count,
		                        kind,      loading_api_of_head(l, o->head) };
	l->object_count++;
}

int loading_define(struct loading *l, const union tare_trace_record *record)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_FUNCTION:
		define_function(l, &record->function);
		break;
	case TARE_TRACE_SHAPE:
		define_shape(l, &record->shape);
		break;
	case TARE_TRACE_TRACK:
		define_track(l, &record->track);
		break;
	case TARE_TRACE_OBJECT:
		define_object(l, &record->object);
		break;
	case TARE_TRACE_STACK:
		return loading_stack(l, &record->stack);
	case TARE_TRACE_MODULE:
		return loading_module(l, &record->module);
	case TARE_TRACE_NODE:
		return loading_node(l, &record->node);
	case TARE_TRACE_FACT: {
		struct tare_trace_fact_record *fact =
		    TARE_ROOM_FOR(l->facts, l->fact_room, l->fact_count);
		if (!fact)
			return loading_fail(l, ENOMEM, "facts");
		*fact = record->fact;
		l->fact_count++;
		break;
	}
	case TARE_TRACE_CHANGE: {
		struct tare_trace_change_record *change =
		    TARE_ROOM_FOR(l->changes, l->change_room, l->change_count);
		if (!change)
			return loading_fail(l, ENOMEM, "changes");
		*change = record->change;
		l->change_count++;
		break;
	}
	case TARE_TRACE_CLOCK_PAIR: {
		struct tare_trace_clock_pair *pair =
		    TARE_ROOM_FOR(l->pairs, l->pair_room, l->pair_count);
		if (!pair)
			return loading_fail(l, ENOMEM, "clocks");
		*pair = record->clock_pair;
		l->pair_count++;
		break;
	}
	default:
		break;
	}
	return l->status;
}
