// SPDX-License-Identifier: Apache-2.0
// What the recorders of all APIs define alike: functions, and texts and shapes that come again and
// again.
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
