// SPDX-License-Identifier: Apache-2.0
// What is known of objects beyond their definition, and what was changed in the program.
#include "analysis/recording/internal.h"

#include <string.h>

static const char *fact_text(struct loading *l, const struct tare_trace_fact_record *fact)
{
	return loading_text(l, tare_trace_text(l->trace, l->file, fact->text));
}

static void apply_to_device(struct loading *l, uint32_t index,
                            const struct tare_trace_fact_record *fact)
{
	struct tare_recorded_device *d = &l->recording->devices[index];

	switch (tare_trace_detail(fact->head)) {
	case TARE_TRACE_FACT_VENDOR:
		d->vendor = fact_text(l, fact);
		break;
	case TARE_TRACE_FACT_DRIVER_VERSION:
		d->driver_version = fact_text(l, fact);
		break;
	case TARE_TRACE_FACT_UUID:
		d->uuid = fact_text(l, fact);
		break;
	case TARE_TRACE_FACT_PCI:
		d->pci = fact_text(l, fact);
		break;
	case TARE_TRACE_FACT_DEVICE_TYPE:
		d->type = fact->value;
		break;
	case TARE_TRACE_FACT_COMPUTE_UNITS:
		d->compute_units = fact->value;
		break;
	case TARE_TRACE_FACT_CLOCK_HZ:
		d->clock_hz = fact->value;
		break;
	case TARE_TRACE_FACT_GROUP_LIMIT:
		d->group_limit = fact->value;
		break;
	case TARE_TRACE_FACT_LOCAL_BYTES:
		d->local_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_UNIFIED_MEMORY:
		d->unified_memory = fact->value;
		break;
	case TARE_TRACE_FACT_UNIT_ITEMS:
		d->unit.items = fact->value;
		break;
	case TARE_TRACE_FACT_UNIT_GROUPS:
		d->unit.groups = fact->value;
		break;
	case TARE_TRACE_FACT_UNIT_REGISTERS:
		d->unit.registers = fact->value;
		break;
	case TARE_TRACE_FACT_UNIT_LOCAL_BYTES:
		d->unit.local_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_GROUP_REGISTERS:
		d->unit.group_registers = fact->value;
		break;
	case TARE_TRACE_FACT_GROUP_RESERVED_BYTES:
		d->unit.group_reserved_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_CAPABILITY:
		d->unit.capability = fact->value < UINT32_MAX ? (uint32_t)fact->value : 0;
		break;
	case TARE_TRACE_FACT_SUB_DEVICE:
		loading_sub_device(l, index,
		                   loading_resolve(l, loading_api_of_head(l, fact->head),
		                                   TARE_OBJECT_DEVICE, fact->device, fact->ticks),
		                   fact->value);
		break;
	case TARE_TRACE_FACT_TIMER_HZ:
	case TARE_TRACE_FACT_STAMP_BITS:
	case TARE_TRACE_FACT_PAIR_BITS:
		loading_tick_fact(l, index, tare_trace_detail(fact->head), fact->value);
		break;
	case TARE_TRACE_FACT_TIMER_RESOLUTION_NS:
		l->resolutions_ns[index - l->first_device] = fact->value;
		break;
	default:
		break;
	}
}

// The facts of a kernel on a device, made when they are the first.
static struct tare_recorded_kernel_fact *kernel_fact(struct loading *l, uint32_t kernel,
                                                     uint32_t device)
{
	uint64_t key = (uint64_t)kernel << 32 | device;
	uint32_t index = tare_id_map_find(&l->fact_of, key);
	struct tare_recorded_kernel_fact *added;

	if (index != TARE_ID_ABSENT)
		return &l->recording->kernel_facts[index];
	added = LOADING_ADD(l, kernel_facts, kernel_fact_count, kernel_fact_room);
	if (!added)
		return NULL;
	*added = (struct tare_recorded_kernel_fact){ .kernel = kernel,
		                                     .device = device,
		                                     .local_bytes = UINT64_MAX,
		                                     .spill_bytes = UINT64_MAX,
		                                     .fixed_local_bytes = UINT64_MAX };
	index = (uint32_t)(l->recording->kernel_fact_count - 1);
	if (!tare_id_map_put(&l->fact_of, key, index))
		loading_fail(l, ENOMEM, "kernels");
	return added;
}

static void apply_to_kernel(struct loading *l, uint32_t index,
                            const struct tare_trace_fact_record *fact)
{
	struct tare_recorded_kernel_fact *k;
	uint32_t device = loading_resolve(l, loading_api_of_head(l, fact->head), TARE_OBJECT_DEVICE,
	                                  fact->device, fact->ticks);

	k = kernel_fact(l, index, device);
	if (!k)
		return;
	switch (tare_trace_detail(fact->head)) {
	case TARE_TRACE_FACT_GROUP_LIMIT:
		k->group_limit = fact->value;
		break;
	case TARE_TRACE_FACT_LOCAL_BYTES:
		k->local_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_PRIVATE_BYTES:
		k->private_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_PREFERRED_MULTIPLE:
		k->preferred_multiple = fact->value;
		break;
	case TARE_TRACE_FACT_SPILL_BYTES:
		k->spill_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_COMPILED_GROUP:
		k->compiled_group = fact->value;
		break;
	case TARE_TRACE_FACT_SUB_GROUP:
		k->sub_group = fact->value;
		break;
	case TARE_TRACE_FACT_REGISTERS:
		k->registers = fact->value;
		break;
	case TARE_TRACE_FACT_FIXED_LOCAL_BYTES:
		k->fixed_local_bytes = fact->value;
		break;
	default:
		break;
	}
}

static void apply_to_program(struct loading *l, uint32_t index,
                             const struct tare_trace_fact_record *fact)
{
	struct tare_recorded_program *p = &l->recording->programs[index];

	switch (tare_trace_detail(fact->head)) {
	case TARE_TRACE_FACT_SOURCE_HASH:
		p->source_hash = fact->value;
		break;
	case TARE_TRACE_FACT_SOURCE_BYTES:
		p->source_bytes = fact->value;
		break;
	case TARE_TRACE_FACT_BUILD_OPTIONS:
		p->build_options = fact_text(l, fact);
		break;
	case TARE_TRACE_FACT_BUILD_FAILED:
		p->build_error = (int64_t)fact->value;
		break;
	default:
		break;
	}
}

// The kind of object that a fact is about; 0: more than one, or none that is kept.
static uint8_t fact_kind(uint16_t key)
{
	switch (key) {
	case TARE_TRACE_FACT_GROUP_LIMIT:
	case TARE_TRACE_FACT_LOCAL_BYTES:
		return 0;
	case TARE_TRACE_FACT_PRIVATE_BYTES:
	case TARE_TRACE_FACT_PREFERRED_MULTIPLE:
	case TARE_TRACE_FACT_SPILL_BYTES:
	case TARE_TRACE_FACT_COMPILED_GROUP:
	case TARE_TRACE_FACT_SUB_GROUP:
	case TARE_TRACE_FACT_REGISTERS:
	case TARE_TRACE_FACT_MAY_WRITE:
	case TARE_TRACE_FACT_FIXED_LOCAL_BYTES:
		return TARE_OBJECT_KERNEL;
	case TARE_TRACE_FACT_SOURCE_HASH:
	case TARE_TRACE_FACT_SOURCE_BYTES:
	case TARE_TRACE_FACT_BUILD_OPTIONS:
	case TARE_TRACE_FACT_BUILD_FAILED:
		return TARE_OBJECT_PROGRAM;
	case TARE_TRACE_FACT_PRIORITY:
	case TARE_TRACE_FACT_PROFILING:
		return TARE_OBJECT_QUEUE;
	case TARE_TRACE_FACT_VENDOR:
	case TARE_TRACE_FACT_DRIVER_VERSION:
	case TARE_TRACE_FACT_DEVICE_TYPE:
	case TARE_TRACE_FACT_COMPUTE_UNITS:
	case TARE_TRACE_FACT_CLOCK_HZ:
	case TARE_TRACE_FACT_TIMER_RESOLUTION_NS:
	case TARE_TRACE_FACT_TIMER_HZ:
	case TARE_TRACE_FACT_STAMP_BITS:
	case TARE_TRACE_FACT_PAIR_BITS:
	case TARE_TRACE_FACT_UUID:
	case TARE_TRACE_FACT_PCI:
	case TARE_TRACE_FACT_UNIT_ITEMS:
	case TARE_TRACE_FACT_UNIT_GROUPS:
	case TARE_TRACE_FACT_UNIT_REGISTERS:
	case TARE_TRACE_FACT_UNIT_LOCAL_BYTES:
	case TARE_TRACE_FACT_GROUP_REGISTERS:
	case TARE_TRACE_FACT_GROUP_RESERVED_BYTES:
	case TARE_TRACE_FACT_CAPABILITY:
	case TARE_TRACE_FACT_SUB_DEVICE:
	case TARE_TRACE_FACT_UNIFIED_MEMORY:
		return TARE_OBJECT_DEVICE;
	default:
		return TARE_OBJECT_MEMORY; // of what is not kept
	}
}

static void add_variable(struct loading *l, const struct tare_trace_fact_record *fact)
{
	const char *text = fact_text(l, fact);
	struct tare_recorded_variable *added;

	if (!text || !strchr(text, '='))
		return;
	added = LOADING_ADD(l, variables, variable_count, variable_room);
	if (added)
		*added = (struct tare_recorded_variable){ l->process, text };
}

static void add_argument(struct loading *l, uint32_t kernel, uint8_t api,
                         const struct tare_trace_fact_record *fact)
{
	uint32_t memory = loading_resolve(l, api, TARE_OBJECT_MEMORY, fact->value, fact->ticks);
	struct tare_recorded_argument *argument =
	    LOADING_ADD(l, arguments, argument_count, argument_room);

	if (argument)
		*argument = (struct tare_recorded_argument){ kernel, memory };
}

static void apply_fact(struct loading *l, const struct tare_trace_fact_record *fact)
{
	uint16_t key = tare_trace_detail(fact->head);
	uint8_t kind = fact_kind(key), api = loading_api_of_head(l, fact->head);
	const struct load_object *object;

	if (key == TARE_TRACE_FACT_ENVIRONMENT) {
		add_variable(l, fact);
		return;
	}
	// Platforms have vendors and versions too, which are not kept.
	if (kind == TARE_OBJECT_MEMORY ||
	    loading_find(l, api, TARE_OBJECT_PLATFORM, fact->object, fact->ticks))
		return;
	if (!kind) {
		object = loading_find(l, api, TARE_OBJECT_KERNEL, fact->object, fact->ticks);
		kind = object ? TARE_OBJECT_KERNEL : TARE_OBJECT_DEVICE;
	}
	object = loading_find(l, api, kind, fact->object, fact->ticks);
	if (!object) {
		l->recording->unresolved++;
		return;
	}
	if (key == TARE_TRACE_FACT_MAY_WRITE)
		add_argument(l, object->index, api, fact);
	else if (kind == TARE_OBJECT_KERNEL && object->index != TARE_NO_INDEX)
		apply_to_kernel(l, object->index, fact);
	else if (kind == TARE_OBJECT_DEVICE)
		apply_to_device(l, object->index, fact);
	else if (kind == TARE_OBJECT_PROGRAM)
		apply_to_program(l, object->index, fact);
	else if (kind == TARE_OBJECT_QUEUE && key == TARE_TRACE_FACT_PRIORITY)
		l->recording->queues[object->index].priority = (int32_t)(int64_t)fact->value;
	else if (kind == TARE_OBJECT_QUEUE)
		l->recording->queues[object->index].profiling = fact->value;
}

// A queue that was made with profiling by the recorder has it.
static void apply_profiling(struct loading *l, const struct tare_trace_change_record *change)
{
	uint32_t queue = loading_resolve(l, loading_api_of_head(l, change->head), TARE_OBJECT_QUEUE,
	                                 change->object, change->ticks);

	if (queue == TARE_NO_INDEX)
		return;
	l->recording->queues[queue].profiling = true;
	l->recording->queues[queue].profiling_added = true;
}

void loading_apply_facts(struct loading *l)
{
	for (size_t i = 0; i < l->fact_count && !l->status; i++)
		apply_fact(l, &l->facts[i]);
	for (size_t i = 0; i < l->change_count; i++)
		if (tare_trace_detail(l->changes[i].head) == TARE_CHANGE_PROFILING)
			apply_profiling(l, &l->changes[i]);
	for (size_t i = 0; i < l->pair_count && !l->status; i++)
		loading_clock_pair(l, &l->pairs[i]);
}

// One row a kind of change: on how many objects, and on how many commands it bears.
void loading_apply_changes(struct loading *l)
{
	uint64_t counts[TARE_CHANGE_COUNTERS + 1] = { 0 }, first[TARE_CHANGE_COUNTERS + 1] = { 0 },
	                                       lists = 0, lists_ns = 0;
	enum tare_trace_front why = TARE_FRONT_NO_CUPTI;

	for (size_t i = 0; i < l->change_count; i++) {
		const struct tare_trace_change_record *change = &l->changes[i];
		uint16_t kind = tare_trace_detail(change->head);
		if (kind > TARE_CHANGE_COUNTERS)
			continue;
		if (!first[kind] || change->ticks < first[kind])
			first[kind] = change->ticks;
		// Those with a count add to what was told before.
		counts[kind] += kind == TARE_CHANGE_CUPTI
		                    ? change->to
		                    : kind != TARE_CHANGE_LISTS || change->from == 0;
		if (kind == TARE_CHANGE_FRONT)
			why = (enum tare_trace_front)(change->from > TARE_FRONT_CUPTI_TAKEN
			                                  ? TARE_FRONT_NO_CUPTI
			                                  : change->from);
		if (kind == TARE_CHANGE_LISTS) {
			lists += change->from;
			lists_ns += change->to;
		}
	}
	for (uint32_t change = 1; change <= TARE_CHANGE_COUNTERS; change++) {
		struct tare_recorded_change *added;
		if (!counts[change])
			continue;
		added = LOADING_ADD(l, changes, change_count, changed_room);
		if (!added)
			return;
		*added = (struct tare_recorded_change){
			l->process, change, counts[change], 0, 0, loading_ns(l, first[change]), why
		};
		if (change == TARE_CHANGE_EVENT)
			added->commands = l->own_events;
		else if (change == TARE_CHANGE_EVENT_RETAINED)
			added->commands = l->retained_events;
		if (change == TARE_CHANGE_LISTS) {
			added->commands = lists;
			added->device_ns = lists_ns;
		}
	}
}
