// SPDX-License-Identifier: Apache-2.0
// The tables of the timeline: docs/page-run.md, "Tables".
#include "analysis/recording/intervals.h"
#include "report/page/timeline.h"

static int64_t since_start(const struct timeline *timeline, int64_t ns)
{
	int64_t since_ns;

	return ns == TARE_NO_TIME ||
	               __builtin_sub_overflow(ns, timeline->recording->start_ns, &since_ns)
	           ? TARE_NO_TIME
	           : since_ns;
}

static int64_t index_or_none(uint32_t index)
{
	return index == TARE_NO_INDEX ? TARE_NO_TIME : index;
}

static int64_t amount_or_none(uint64_t amount)
{
	return amount > INT64_MAX ? TARE_NO_TIME : (int64_t)amount;
}

// The number of rows, and NAME(timeline, row): what of the recording is in a row.
#define ROWS(name, kind)                                                                           \
	static size_t name##_count(const struct timeline *timeline)                                \
	{                                                                                          \
		return timeline->rows[kind].count;                                                 \
	}                                                                                          \
	static uint32_t name##_index(const struct timeline *timeline, size_t row)                  \
	{                                                                                          \
		return timeline->rows[kind].at[row];                                               \
	}
ROWS(command, TIMELINE_COMMANDS)
ROWS(call, TIMELINE_CALLS)
ROWS(callback, TIMELINE_CALLBACKS)
ROWS(phase, TIMELINE_PHASES)
ROWS(gap, TIMELINE_GAPS)
#undef ROWS

static void know_none(int64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = TARE_NO_TIME;
}

// A function for a column: the expression may use `timeline`, `row`, the row's `index` and `it`.
// Where `any` is 0 no row has one.
#define FILL(table, column, any, element, ...)                                                     \
	static void table##_##column(const struct timeline *timeline, size_t from, size_t count,   \
	                             int64_t *values, int64_t *bases)                              \
	{                                                                                          \
		(void)bases;                                                                       \
		if (!(any)) {                                                                      \
			know_none(values, count);                                                  \
			return;                                                                    \
		}                                                                                  \
		for (size_t row = from; row < from + count; row++) {                               \
			const uint32_t index = table##_index(timeline, row);                       \
			const __typeof__(*(element)) *it = (element);                              \
			(void)it;                                                                  \
			__VA_ARGS__;                                                               \
		}                                                                                  \
	}

#define VALUE_OF(table, column, element, expression)                                               \
	FILL(table, column, true, element, values[row - from] = expression)

// A moment, and the one before that the column is relative to.
#define MOMENT_OF(table, column, element, moment_ns, base_ns)                                      \
	FILL(table, column, true, element,                                                         \
	     values[row - from] = since_start(timeline, it->moment_ns),                            \
	     bases[row - from] = since_start(timeline, it->base_ns))

#define VALUE(table, column, array, expression) VALUE_OF(table, column, &(array)[index], expression)

#define MOMENT(table, column, array, moment_ns, base_ns)                                           \
	MOMENT_OF(table, column, &(array)[index], moment_ns, base_ns)

#define COMMAND(column, expression)                                                                \
	VALUE_OF(command, column, TARE_COMMAND(timeline->recording, index), expression)
#define COMMAND_IF(any, column, expression)                                                        \
	FILL(command, column, any, TARE_COMMAND(timeline->recording, index),                       \
	     values[row - from] = expression)
#define COMMAND_MOMENT(column, base_ns)                                                            \
	MOMENT_OF(command, column, TARE_COMMAND(timeline->recording, index), column##_ns, base_ns)
COMMAND(number, index)
COMMAND(enter, since_start(timeline, it->enter_ns))
COMMAND_MOMENT(exit, enter_ns)
COMMAND_MOMENT(submitted, enter_ns)
COMMAND_MOMENT(start, enter_ns)
COMMAND_MOMENT(end, start_ns)
COMMAND(thread, index_or_none(it->thread))
COMMAND(queue, index_or_none(it->queue))
COMMAND(kind, it->kind)
COMMAND(direction, it->direction)
COMMAND(memory, it->memory)
COMMAND(alignment, it->alignment)
COMMAND(flags, it->flags)
COMMAND(untimed, it->untimed)
COMMAND(object, index_or_none(it->object))
COMMAND(amount, it->kind == TARE_KIND_KERNEL ? TARE_NO_TIME : amount_or_none(it->amount))
COMMAND(shape, it->kind == TARE_KIND_KERNEL && it->amount < timeline->recording->shape_count
                   ? (int64_t)it->amount
                   : TARE_NO_TIME)
COMMAND(function, it->function)
COMMAND_IF(timeline->stack_count, stack,
           it->stack < timeline->stack_count ? (int64_t)it->stack : TARE_NO_TIME)
COMMAND(phase, timeline->command_phase[index] == TARE_NO_INDEX
                   ? TARE_NO_TIME
                   : (int64_t)timeline->phase_row[timeline->command_phase[index]])
COMMAND(depth, timeline->command_depth[index])
COMMAND(part, it->part)
COMMAND_IF(timeline->recording->execution_count, executed_by,
           tare_command_is_run(it) && it->execution < timeline->recording->execution_count
               ? index_or_none(
                     timeline->command_row[timeline->recording->executions[it->execution].command])
               : TARE_NO_TIME)

// Which of the header's `links`.
static int64_t link_number(const struct tare_recording *recording, uint32_t index)
{
	const struct tare_recorded_link *link = tare_command_link(recording, index);

	return link ? (int64_t)(link - recording->links) : TARE_NO_TIME;
}

COMMAND(lane, timeline->lane[index])
COMMAND(engine, timeline->engine[index])
COMMAND(engine_lane, timeline->engine_lane[index])

static int64_t waits_from(const struct tare_recording *recording, size_t first)
{
	size_t i = first;

	while (i < recording->wait_count && !recording->waits[i].last)
		i++;
	return first < recording->wait_count ? (int64_t)(i - first + (i < recording->wait_count))
	                                     : 0;
}
COMMAND_IF(timeline->recording->link_count, link, link_number(timeline->recording, index))
COMMAND(waits, waits_from(timeline->recording, it->first_wait))

static size_t wait_count(const struct timeline *timeline)
{
	return timeline->wait_count;
}

static uint32_t wait_index(const struct timeline *timeline, size_t row)
{
	return timeline->wait_at[row];
}

VALUE(wait, command, timeline->recording->waits,
      it->command < timeline->recording->command_count
          ? index_or_none(timeline->command_row[it->command])
          : TARE_NO_TIME)

#define CALL(column, expression) VALUE(call, column, timeline->recording->calls, expression)
CALL(number, index)
CALL(enter, since_start(timeline, it->enter_ns))
MOMENT(call, exit, timeline->recording->calls, exit_ns, enter_ns)
CALL(outside, it->exit_ns - it->enter_ns - it->inside_ns)
CALL(count_of, amount_or_none(it->count))
CALL(thread, index_or_none(it->thread))
CALL(function, it->function)
CALL(role, it->role)
CALL(flags, it->flags)
CALL(result, it->result)
CALL(object, index_or_none(it->object))
CALL(device, it->device < timeline->recording->device_count
                 ? index_or_none(timeline->device_number[it->device])
                 : TARE_NO_TIME)
CALL(bytes, amount_or_none(it->bytes))
CALL(stack, it->stack < timeline->stack_count ? (int64_t)it->stack : TARE_NO_TIME)
CALL(depth, timeline->call_depth[index])

#define GAP(column, expression) VALUE(gap, column, timeline->gaps, expression)
GAP(from, since_start(timeline, it->from_ns))
MOMENT(gap, to, timeline->gaps, to_ns, from_ns)
GAP(device, index_or_none(timeline->device_number[it->device]))
GAP(cause, it->cause)
GAP(command, it->command < timeline->recording->command_count
                 ? index_or_none(timeline->command_row[it->command])
                 : TARE_NO_TIME)

#define CALLBACK(column, expression)                                                               \
	VALUE(callback, column, timeline->recording->callbacks, expression)
CALLBACK(enter, since_start(timeline, it->enter_ns))
MOMENT(callback, exit, timeline->recording->callbacks, exit_ns, enter_ns)
CALLBACK(thread, index_or_none(it->thread))
CALLBACK(function, it->function)

#define PHASE(column, expression) VALUE(phase, column, timeline->recording->phases, expression)
PHASE(from, since_start(timeline, it->from_ns))
MOMENT(phase, to, timeline->recording->phases, to_ns, from_ns)
PHASE(thread, index_or_none(it->thread))
PHASE(depth, it->depth)
PHASE(lane, timeline->phase_lane[index])
PHASE(name, timeline->phase_name[index])
PHASE(domain, timeline->phase_domain[index])
PHASE(source, it->source)
PHASE(flags, (it->instant ? 1 : 0) | (it->unended ? 2 : 0) | (it->range ? 4 : 0))

// Tables that are there whole.
#define WHOLE(name, expression)                                                                    \
	static size_t name##_count(const struct timeline *timeline)                                \
	{                                                                                          \
		return expression;                                                                 \
	}                                                                                          \
	static uint32_t name##_index(const struct timeline *timeline, size_t row)                  \
	{                                                                                          \
		(void)timeline;                                                                    \
		return (uint32_t)row;                                                              \
	}
WHOLE(shape, timeline->recording->shape_count)
WHOLE(memory, timeline->recording->memory_count)
WHOLE(stack, timeline->stack_count)
WHOLE(frame, timeline->frame_total)
#undef WHOLE

#define SHAPE(column, expression) VALUE(shape, column, timeline->recording->shapes, expression)
SHAPE(dimensions, it->dimensions)
SHAPE(global_x, amount_or_none(it->global[0]))
SHAPE(global_y, amount_or_none(it->global[1]))
SHAPE(global_z, amount_or_none(it->global[2]))
SHAPE(local_x, it->local[0])
SHAPE(local_y, it->local[1])
SHAPE(local_z, it->local[2])

#define MEMORY(column, expression) VALUE(memory, column, timeline->recording->memories, expression)
MEMORY(kind, it->kind <= UINT8_MAX ? it->kind : 0)
MEMORY(bytes, amount_or_none(it->bytes))
MEMORY(parent, index_or_none(it->parent))

VALUE(stack, site, timeline->stack_site, *it)
VALUE(stack, frames, timeline->frame_count, *it)
VALUE(frame, text, timeline->frame, *it)

const struct timeline_table timeline_tables[TIMELINE_TABLES] = {
	{ "commands", command_count, { { "number", false, NULL, command_number },
	                               { "enter", false, NULL, command_enter },
	                               { "exit", false, "enter", command_exit },
	                               { "submitted", false, "enter", command_submitted },
	                               { "start", false, "enter", command_start },
	                               { "end", false, "start", command_end },
	                               { "thread", false, NULL, command_thread },
	                               { "queue", false, NULL, command_queue },
	                               { "kind", true, NULL, command_kind },
	                               { "direction", true, NULL, command_direction },
	                               { "memory", true, NULL, command_memory },
	                               { "alignment", true, NULL, command_alignment },
	                               { "flags", true, NULL, command_flags },
	                               { "untimed", true, NULL, command_untimed },
	                               { "object", false, NULL, command_object },
	                               { "amount", false, NULL, command_amount },
	                               { "shape", false, NULL, command_shape },
	                               { "function", false, NULL, command_function },
	                               { "waits", false, NULL, command_waits },
	                               { "stack", false, NULL, command_stack },
	                               { "phase", false, NULL, command_phase },
	                               { "depth", true, NULL, command_depth },
	                               { "part", true, NULL, command_part },
	                               { "executed_by", false, NULL, command_executed_by },
	                               { "link", false, NULL, command_link },
	                               { "lane", true, NULL, command_lane },
	                               { "engine", true, NULL, command_engine },
	                               { "engine_lane", true, NULL, command_engine_lane } } },
	{ "waits", wait_count, { { "command", false, NULL, wait_command } } },
	{ "calls",
	  call_count,
	  { { "number", false, NULL, call_number },
	    { "enter", false, NULL, call_enter },
	    { "exit", false, "enter", call_exit },
	    { "outside", false, NULL, call_outside },
	    { "count_of", false, NULL, call_count_of },
	    { "thread", false, NULL, call_thread },
	    { "function", false, NULL, call_function },
	    { "role", true, NULL, call_role },
	    { "flags", true, NULL, call_flags },
	    { "result", false, NULL, call_result },
	    { "object", false, NULL, call_object },
	    { "device", false, NULL, call_device },
	    { "bytes", false, NULL, call_bytes },
	    { "stack", false, NULL, call_stack },
	    { "depth", true, NULL, call_depth } } },
	{ "gaps",
	  gap_count,
	  { { "from", false, NULL, gap_from },
	    { "to", false, "from", gap_to },
	    { "device", false, NULL, gap_device },
	    { "cause", true, NULL, gap_cause },
	    { "command", false, NULL, gap_command } } },
	{ "callbacks",
	  callback_count,
	  { { "enter", false, NULL, callback_enter },
	    { "exit", false, "enter", callback_exit },
	    { "thread", false, NULL, callback_thread },
	    { "function", false, NULL, callback_function } } },
	{ "phases",
	  phase_count,
	  { { "from", false, NULL, phase_from },
	    { "to", false, "from", phase_to },
	    { "thread", false, NULL, phase_thread },
	    { "depth", false, NULL, phase_depth },
	    { "lane", true, NULL, phase_lane },
	    { "name", false, NULL, phase_name },
	    { "domain", false, NULL, phase_domain },
	    { "source", true, NULL, phase_source },
	    { "flags", true, NULL, phase_flags } } },
	{ "shapes",
	  shape_count,
	  { { "dimensions", false, NULL, shape_dimensions },
	    { "global_x", false, NULL, shape_global_x },
	    { "global_y", false, NULL, shape_global_y },
	    { "global_z", false, NULL, shape_global_z },
	    { "local_x", false, NULL, shape_local_x },
	    { "local_y", false, NULL, shape_local_y },
	    { "local_z", false, NULL, shape_local_z } } },
	{ "memories",
	  memory_count,
	  { { "kind", true, NULL, memory_kind },
	    { "bytes", false, NULL, memory_bytes },
	    { "parent", false, NULL, memory_parent } } },
	{ "stacks",
	  stack_count,
	  { { "site", false, NULL, stack_site }, { "frames", false, NULL, stack_frames } } },
	{ "frames", frame_count, { { "text", false, NULL, frame_text } } },
};
