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

// The element of `map` whose content is the same, or absent: keys that only collide follow one
// another. *key is left where a new one goes.
static uint32_t find_content(const struct tare_id_map *map, uint64_t *key, const void *wanted,
                             bool (*is)(const void *wanted, uint32_t index))
{
	uint32_t index;

	while ((index = tare_id_map_find(map, *key)) != TARE_ID_ABSENT && !is(wanted, index))
		++*key;
	return index;
}

struct wanted_function {
	const struct tare_recording *recording;
	const char *name;
	uint32_t api, role;
};

static bool is_function(const void *context, uint32_t index)
{
	const struct wanted_function *wanted = context;
	const struct tare_recorded_function *f = &wanted->recording->functions[index];

	return f->role == wanted->role && f->api == wanted->api && !strcmp(f->name, wanted->name);
}

static uint32_t intern_function(struct loading *l, const char *name, uint32_t api, uint32_t role)
{
	struct wanted_function wanted = { l->recording, name, api, role };
	uint64_t key = tare_hash_text(TARE_HASH_START + api * TARE_ROLE_COUNT + role, name);
	uint32_t index = find_content(&l->functions, &key, &wanted, is_function);
	struct tare_recorded_function *added;

	if (index != TARE_ID_ABSENT)
		return index;
	// Commands have 16 bits for it; no API has so many functions.
	if (l->recording->function_count >= UINT16_MAX)
		return UINT16_MAX - 1;
	added = LOADING_ADD(l, functions, function_count, function_room);
	if (!added)
		return 0;
	*added = (struct tare_recorded_function){ loading_text(l, name), api, role, false };
	// Its role is that of all that makes and releases: OpenCL 3.0, 5.1.
	added->starts = strcmp(added->name, "clReleaseCommandQueue") == 0;
	index = (uint32_t)(l->recording->function_count - 1);
	if (!tare_id_map_put(&l->functions, key, index))
		loading_fail(l, ENOMEM, "functions");
	return index;
}

uint32_t loading_function(struct loading *l, uint16_t number, uint32_t role)
{
	uint32_t index = tare_id_map_find(&l->function_of, number);

	if (index != TARE_ID_ABSENT)
		return index;
	l->recording->unresolved++;
	return intern_function(l, "?", TARE_TRACE_NO_API, role);
}

uint32_t loading_own_function(struct loading *l, const char *name)
{
	return intern_function(l, name, TARE_TRACE_NO_API, TARE_ROLE_COMMAND);
}

uint8_t loading_api_of_function(const struct loading *l, uint32_t function)
{
	return function < l->recording->function_count
	           ? loading_api(l, l->recording->functions[function].api)
	           : l->api;
}

static void define_function(struct loading *l, const struct tare_trace_function *f)
{
	uint32_t role = f->role < TARE_ROLE_COUNT ? f->role : TARE_ROLE_OTHER;
	const char *name = tare_trace_text(l->trace, l->file, f->name);
	uint32_t index = intern_function(l, name, f->api, role);

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
	index = find_content(&l->shapes, &key, &wanted, is_shape);
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

uint32_t loading_shape(struct loading *l, uint64_t id)
{
	uint32_t index = tare_id_map_find(&l->shape_of, id);

	if (index == TARE_ID_ABSENT)
		l->recording->unresolved++;
	return index == TARE_ID_ABSENT ? TARE_NO_INDEX : index;
}

// ---- threads

struct load_track *loading_track(struct loading *l, uint32_t track)
{
	uint32_t index = tare_id_map_find(&l->track_of, track);
	struct tare_recorded_thread *thread;
	struct load_track *state;

	if (index != TARE_ID_ABSENT)
		return &l->tracks[index];
	thread = LOADING_ADD(l, threads, thread_count, thread_room);
	state = thread ? TARE_ROOM_FOR(l->tracks, l->track_room, l->track_count) : NULL;
	if (!state || !tare_id_map_put(&l->track_of, track, (uint32_t)l->track_count)) {
		loading_fail(l, ENOMEM, "threads");
		return NULL;
	}
	*thread = (struct tare_recorded_thread){ .process = l->process,
		                                 .track = track,
		                                 .name = "",
		                                 .unfinished_function = TARE_NO_INDEX,
		                                 .unfinished_since_ns = TARE_NO_TIME };
	*state = (struct load_track){ .thread = (uint32_t)(l->recording->thread_count - 1),
		                      .command = TARE_NO_INDEX,
		                      .call = TARE_NO_INDEX,
		                      .phase = TARE_NO_INDEX,
		                      .template = TARE_NO_INDEX,
		                      .first_ns = TARE_NO_TIME,
		                      .last_ns = TARE_NO_TIME };
	l->track_count++;
	return state;
}

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
		index = loading_add_list(l, o);
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
