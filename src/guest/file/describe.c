// SPDX-License-Identifier: Apache-2.0
// What the recorders of all APIs define alike: objects, facts, changes, functions, texts and shapes
// that come again and again, and the numbers of devices and queues.
#include "guest/api.h"

#include "guest/internal.h"

#include <string.h>

static struct guest_map *ids; // of texts and shapes, by their content and the file's generation
static _Atomic uint32_t device_count, queue_count;

void guest_describe_begin(void)
{
	ids = guest_map_new(); // without memory for it everything is defined anew
}

void guest_define(const union tare_trace_record *record)
{
	guest_define_of(guest_thread(), record);
}

uint32_t guest_string(const char *text, size_t bytes)
{
	return guest_string_of(guest_thread(), text, bytes);
}

// The key of a content in this process's file, by what it is.
static const void *key_of(const char *kind, const void *content, size_t bytes)
{
	uint32_t process = atomic_load_explicit(&guest_process, memory_order_relaxed);
	uint64_t hash = guest_hash(GUEST_HASH_START, kind, strlen(kind));
	hash = guest_hash(hash, &process, sizeof process);
	return guest_hash_key(guest_hash(hash, content, bytes));
}

uint32_t guest_text(const char *text, size_t bytes)
{
	const void *key;
	uint32_t id;
	if (!text || !bytes)
		return 0;
	key = key_of("text", text, bytes);
	id = (uint32_t)guest_map_find(ids, key, 0);
	if (id)
		return id;
	id = guest_string(text, bytes);
	if (id)
		guest_map_put(ids, key, id);
	return id;
}

uint32_t guest_shape(const struct tare_trace_shape *shape)
{
	union tare_trace_record record = { .shape = *shape };
	const void *key;
	uint32_t id;
	record.shape.head = tare_trace_head(TARE_TRACE_SHAPE, 0, 0, 0);
	record.shape.id = 0;
	key = key_of("shape", &record.shape, sizeof record.shape);
	id = (uint32_t)guest_map_find(ids, key, 0);
	if (id)
		return id;
	id = record.shape.id = guest_shape_number();
	guest_define(&record);
	guest_map_put(ids, key, id);
	return id;
}

static uint64_t defining_ticks(enum tare_trace_api api)
{
	const struct guest_thread *thread = guest_thread();
	const struct guest_api_thread *mine = thread ? thread->api[api] : NULL;
	return mine && mine->defining_ticks ? mine->defining_ticks : guest_ticks();
}

void guest_define_object(enum tare_trace_api api, uint64_t ticks, enum tare_trace_object_kind kind,
                         const void *handle, const void *parent, const void *device,
                         uint64_t properties, uint64_t bytes, uint32_t name, uint32_t number)
{
	union tare_trace_record record = { .object = { .head = guest_api_head(
		                                           api, TARE_TRACE_OBJECT, (uint16_t)kind),
		                                       .handle = (uintptr_t)handle,
		                                       .ticks = ticks ? ticks : defining_ticks(api),
		                                       .parent = (uintptr_t)parent,
		                                       .device = (uintptr_t)device,
		                                       .properties = properties,
		                                       .bytes = bytes,
		                                       .name = name,
		                                       .number = number } };
	guest_define(&record);
}

void guest_define_fact(enum tare_trace_api api, enum tare_trace_fact fact, const void *object,
                       uint64_t value, const void *device, uint32_t text)
{
	union tare_trace_record record = { .fact = { .head = guest_api_head(api, TARE_TRACE_FACT,
		                                                            (uint16_t)fact),
		                                     .object = (uintptr_t)object,
		                                     .ticks = defining_ticks(api),
		                                     .value = value,
		                                     .device = (uintptr_t)device,
		                                     .text = text } };
	guest_define(&record);
}

void guest_define_change(enum tare_trace_api api, enum tare_trace_change change, const void *object,
                         uint64_t from, uint64_t to)
{
	union tare_trace_record record = {
		.change = { .head = guest_api_head(api, TARE_TRACE_CHANGE, (uint16_t)change),
		            .object = (uintptr_t)object,
		            .ticks = defining_ticks(api),
		            .from = from,
		            .to = to }
	};
	guest_define(&record);
}

bool guest_defines_first(struct guest_defined *defined, const void *handle)
{
	uint32_t process = atomic_load(&guest_process), at = 0;
	bool is_first = true;
	while (at < defined->count && defined->of[at].handle != handle)
		at++;
	if (at < defined->count)
		is_first = defined->of[at].process != process;
	else if (at < sizeof defined->of / sizeof *defined->of)
		defined->of[defined->count++].handle = handle;
	if (at < defined->count)
		defined->of[at].process = process;
	return is_first;
}

void guest_define_function(enum tare_trace_api api, uint32_t number, const char *name,
                           enum tare_trace_role role)
{
	union tare_trace_record record = { .function = {
		                               .head = tare_trace_head(
		                                   TARE_TRACE_FUNCTION, 0,
		                                   (uint16_t)(GUEST_FUNCTION_BASE(api) + number),
		                                   0),
		                               .name = guest_text(name, strlen(name)),
		                               .api = api,
		                               .role = role,
		                           } };
	guest_define(&record);
}

uint32_t guest_device_number(void)
{
	return atomic_fetch_add(&device_count, 1);
}

uint32_t guest_queue_number(void)
{
	return atomic_fetch_add(&queue_count, 1) + 1;
}
