// SPDX-License-Identifier: Apache-2.0
// What is known of objects beyond their definition, and what was changed in the program.
#include "analysis/recording/internal.h"

#include <string.h>

static const char *fact_text(struct loading *l, const struct tare_trace_fact_record *fact)
{
	return loading_text(l, tare_trace_text(l->trace, l->file, fact->text));
}

// Where what is told of an object is kept, as it is told; SPECIAL: apply_fact says.
#define SPECIAL SIZE_MAX
static const struct keeping {
	uint16_t fact;  // enum tare_trace_fact
	uint8_t object; // the kind of object that it is about
	bool text;      // a string; else a number of 64 bits
	size_t offset;  // in the row of the object
} keepings[] = {
// Members of other types are no choice of it, and do not compile.
#define OF(FACT, OBJECT, row, member)                                                              \
	{ TARE_TRACE_FACT_##FACT, TARE_OBJECT_##OBJECT,                                            \
	  _Generic(((row *)0)->member, const char *: true, uint64_t: false, int64_t: false),       \
	  offsetof(row, member) }
#define OF_DEVICE(fact, member) OF(fact, DEVICE, struct tare_recorded_device, member)
#define OF_KERNEL(fact, member) OF(fact, KERNEL, struct tare_recorded_kernel_fact, member)
#define OF_PROGRAM(fact, member) OF(fact, PROGRAM, struct tare_recorded_program, member)
#define SPECIALLY(FACT, OBJECT) { TARE_TRACE_FACT_##FACT, TARE_OBJECT_##OBJECT, false, SPECIAL }
	OF_DEVICE(VENDOR, vendor),
	OF_DEVICE(DRIVER_VERSION, driver_version),
	OF_DEVICE(UUID, uuid),
	OF_DEVICE(PCI, pci),
	OF_DEVICE(DEVICE_TYPE, type),
	OF_DEVICE(COMPUTE_UNITS, compute_units),
	OF_DEVICE(CLOCK_HZ, clock_hz),
	OF_DEVICE(GROUP_LIMIT, group_limit),
	OF_DEVICE(LOCAL_BYTES, local_bytes),
	OF_DEVICE(COPY_ENGINES, copy_engines),
	OF_DEVICE(UNIT_ITEMS, unit.items),
	OF_DEVICE(UNIT_GROUPS, unit.groups),
	OF_DEVICE(UNIT_REGISTERS, unit.registers),
	OF_DEVICE(UNIT_LOCAL_BYTES, unit.local_bytes),
	OF_DEVICE(GROUP_REGISTERS, unit.group_registers),
	OF_DEVICE(GROUP_RESERVED_BYTES, unit.group_reserved_bytes),
	SPECIALLY(CAPABILITY, DEVICE),
	SPECIALLY(UNIFIED_MEMORY, DEVICE),
	SPECIALLY(SUB_DEVICE, DEVICE),
	SPECIALLY(TIMER_HZ, DEVICE),
	SPECIALLY(STAMP_BITS, DEVICE),
	SPECIALLY(PAIR_BITS, DEVICE),
	SPECIALLY(TIMER_RESOLUTION_NS, DEVICE),
	OF_KERNEL(GROUP_LIMIT, group_limit),
	OF_KERNEL(LOCAL_BYTES, local_bytes),
	OF_KERNEL(PRIVATE_BYTES, private_bytes),
	OF_KERNEL(PREFERRED_MULTIPLE, preferred_multiple),
	OF_KERNEL(SPILL_BYTES, spill_bytes),
	OF_KERNEL(COMPILED_GROUP, compiled_group),
	OF_KERNEL(SUB_GROUP, sub_group),
	OF_KERNEL(REGISTERS, registers),
	OF_KERNEL(FIXED_LOCAL_BYTES, fixed_local_bytes),
	SPECIALLY(MAY_WRITE, KERNEL),
	OF_PROGRAM(SOURCE_HASH, source_hash),
	OF_PROGRAM(SOURCE_BYTES, source_bytes),
	OF_PROGRAM(BUILD_OPTIONS, build_options),
	OF_PROGRAM(BUILD_FAILED, build_error),
	SPECIALLY(PRIORITY, QUEUE),
	SPECIALLY(PROFILING, QUEUE),
};

// How a fact is kept of an object of that kind, or of any where `object` is 0; NULL: it is not.
static const struct keeping *find_keeping(uint16_t fact, uint8_t object)
{
	for (size_t i = 0; i < sizeof keepings / sizeof *keepings; i++)
		if (keepings[i].fact == fact && (!object || keepings[i].object == object))
			return &keepings[i];
	return NULL;
}

// Whether the row has taken the fact.
static bool keep(struct loading *l, const struct tare_trace_fact_record *fact, uint8_t object,
                 void *row)
{
	const struct keeping *k = find_keeping(tare_trace_detail(fact->head), object);

	if (!k || k->offset == SPECIAL)
		return false;
	char *at = (char *)row + k->offset;
	if (k->text)
		*(const char **)(void *)at = fact_text(l, fact);
	else
		memcpy(at, &fact->value, sizeof fact->value);
	return true;
}

static void apply_to_device(struct loading *l, uint32_t index,
                            const struct tare_trace_fact_record *fact)
{
	struct tare_recorded_device *d = &l->recording->devices[index];

	if (keep(l, fact, TARE_OBJECT_DEVICE, d))
		return;
	switch (tare_trace_detail(fact->head)) {
	case TARE_TRACE_FACT_UNIFIED_MEMORY:
		d->unified_memory = fact->value;
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
	uint32_t device = loading_resolve(l, loading_api_of_head(l, fact->head), TARE_OBJECT_DEVICE,
	                                  fact->device, fact->ticks);
	struct tare_recorded_kernel_fact *k = kernel_fact(l, index, device);

	if (k)
		keep(l, fact, TARE_OBJECT_KERNEL, k);
}

static void apply_to_queue(struct tare_recorded_queue *queue,
                           const struct tare_trace_fact_record *fact)
{
	if (tare_trace_detail(fact->head) == TARE_TRACE_FACT_PRIORITY)
		queue->priority = (int32_t)(int64_t)fact->value;
	else
		queue->profiling = fact->value;
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
	uint8_t api = loading_api_of_head(l, fact->head), kind;
	const struct keeping *keeping = find_keeping(key, 0);
	const struct load_object *object;

	if (key == TARE_TRACE_FACT_ENVIRONMENT) {
		add_variable(l, fact);
		return;
	}
	// Platforms have vendors and versions too, which are not kept.
	if (!keeping || loading_find(l, api, TARE_OBJECT_PLATFORM, fact->object, fact->ticks))
		return;
	kind = keeping->object;
	// Some are told of devices and of kernels.
	if (kind == TARE_OBJECT_DEVICE && find_keeping(key, TARE_OBJECT_KERNEL) &&
	    loading_find(l, api, TARE_OBJECT_KERNEL, fact->object, fact->ticks))
		kind = TARE_OBJECT_KERNEL;
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
		keep(l, fact, kind, &l->recording->programs[object->index]);
	else if (kind == TARE_OBJECT_QUEUE)
		apply_to_queue(&l->recording->queues[object->index], fact);
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
