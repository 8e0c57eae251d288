// SPDX-License-Identifier: Apache-2.0
// Tables of what happened: commands and what they wait for, calls, phases, callbacks, losses.
#include "export/rows.h"

#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "report/core/words.h"

#include <inttypes.h>

#define INTEGER EXPORT_INTEGER
#define REAL EXPORT_REAL
#define TEXT EXPORT_TEXT

static void put_thread(struct rows *rows, uint32_t thread)
{
	const struct tare_recording *r = rows->recording;

	rows_index(rows, thread < r->thread_count ? r->threads[thread].process : TARE_NO_INDEX,
	           r->process_count);
	rows_index(rows, thread, r->thread_count);
}

// ---- command

static const struct export_column export_command_columns[] = {
	{ "command", INTEGER },   { "process", INTEGER },  { "thread", INTEGER },
	{ "queue", INTEGER },     { "device", INTEGER },   { "function", INTEGER },
	{ "kind", TEXT },         { "kernel", INTEGER },   { "memory", INTEGER },
	{ "direction", TEXT },    { "host_memory", TEXT }, { "alignment", INTEGER },
	{ "bytes", INTEGER },     { "global_x", INTEGER }, { "global_y", INTEGER },
	{ "global_z", INTEGER },  { "local_x", INTEGER },  { "local_y", INTEGER },
	{ "local_z", INTEGER },   { "blocking", INTEGER }, { "nested", INTEGER },
	{ "enter_ns", INTEGER },  { "exit_ns", INTEGER },  { "submitted_ns", INTEGER },
	{ "start_ns", INTEGER },  { "end_ns", INTEGER },   { "untimed", TEXT },
	{ "stack", INTEGER },     { "part", TEXT },        { "execution", INTEGER },
	{ "active_ns", INTEGER },
};

static size_t count_commands(const struct rows *rows)
{
	return rows->recording->command_count;
}

static void put_shape(struct rows *rows, const struct tare_recorded_command *c)
{
	const struct tare_recorded_shape *shape =
	    c->kind == TARE_KIND_KERNEL && c->amount < rows->recording->shape_count
	        ? &rows->recording->shapes[c->amount]
	        : NULL;

	for (uint32_t i = 0; i < 3; i++)
		rows_known(rows, shape ? shape->global[i] : 0);
	for (uint32_t i = 0; i < 3; i++)
		rows_known(rows, shape && shape->local[0] ? shape->local[i] : 0);
}

static void put_command_times(struct rows *rows, const struct tare_recorded_command *c)
{
	bool timed = tare_command_timed(c);

	rows_moment(rows, c->enter_ns);
	rows_moment(rows, c->exit_ns);
	rows_moment(rows, c->submitted_ns);
	rows_moment(rows, timed ? c->start_ns : TARE_NO_TIME);
	rows_moment(rows, timed ? c->end_ns : TARE_NO_TIME);
	rows_text(rows, timed || tare_command_only_executes(c)
	                    ? NULL
	                    : tare_report_unobserved(tare_command_unobserved(c)));
}

static void put_command(struct rows *rows, size_t index)
{
	const struct tare_recording *r = rows->recording;
	const struct tare_recorded_command *c = &r->commands[index];
	bool kernel = c->kind == TARE_KIND_KERNEL, task = c->kind == TARE_KIND_TASK;

	if (!tare_view_filter_has_command(rows->members, c))
		return;
	rows->counts->commands += !tare_command_only_executes(c);
	rows->counts->without_times += !tare_command_only_executes(c) && !tare_command_timed(c);
	rows_integer(rows, (int64_t)index);
	put_thread(rows, c->thread);
	rows_index(rows, c->queue, r->queue_count);
	rows_index(rows, tare_command_device(r, c), r->device_count);
	rows_index(rows, c->function, r->function_count);
	rows_text(rows, tare_report_kind(c->kind));
	rows_index(rows, kernel ? c->object : TARE_NO_INDEX, r->kernel_count);
	rows_index(rows, kernel || task ? TARE_NO_INDEX : c->object, r->memory_count);
	rows_text(rows,
	          c->direction == TARE_DIRECTION_NONE ? NULL : tare_report_direction(c->direction));
	rows_text(rows, tare_report_memory(c->memory));
	if (c->alignment < 64)
		rows_integer(rows, INT64_C(1) << c->alignment);
	else
		rows_null(rows);
	if (kernel || task)
		rows_null(rows);
	else
		rows_unsigned(rows, c->amount);
	put_shape(rows, c);
	rows_integer(rows, (c->flags & TARE_COMMAND_BLOCKING) != 0);
	rows_integer(rows, (c->flags & TARE_COMMAND_NESTED) != 0);
	put_command_times(rows, c);
	rows_index(rows, c->stack, r->stack_count);
	rows_name(rows, tare_recording_part(c->part));
	rows_index(rows, c->part == TARE_ALONE ? TARE_NO_INDEX : c->execution, r->execution_count);
	rows_known(rows, (uint64_t)c->active_ns);
	rows_end(rows);
}

EXPORT_TABLE(export_command, "command", true, count_commands, put_command);

// ---- wait

static const struct export_column export_wait_columns[] = {
	{ "command", INTEGER },
	{ "waits_for", INTEGER },
};

static void put_waits(struct rows *rows, size_t index)
{
	const struct tare_recording *r = rows->recording;

	if (r->commands[index].first_wait >= r->wait_count ||
	    !tare_view_filter_has_command(rows->members, &r->commands[index]))
		return;
	for (size_t at = r->commands[index].first_wait; at < r->wait_count; at++) {
		rows_integer(rows, (int64_t)index);
		rows_index(rows, r->waits[at].command, r->command_count);
		rows_end(rows);
		if (r->waits[at].last)
			break;
	}
}

EXPORT_TABLE(export_wait, "wait", false, count_commands, put_waits);

// ---- call

static const struct export_column export_call_columns[] = {
	{ "call", INTEGER },     { "process", INTEGER }, { "thread", INTEGER },
	{ "function", INTEGER }, { "role", TEXT },       { "enter_ns", INTEGER },
	{ "exit_ns", INTEGER },  { "calls", INTEGER },   { "inside_ns", INTEGER },
	{ "bytes", INTEGER },    { "queue", INTEGER },   { "memory", INTEGER },
	{ "program", INTEGER },  { "device", INTEGER },  { "failed", INTEGER },
	{ "nested", INTEGER },   { "result", INTEGER },  { "stack", INTEGER },
};

static size_t count_calls(const struct rows *rows)
{
	return rows->recording->call_count;
}

// What the call is about: its role says which kind of object.
static void put_call_object(struct rows *rows, const struct tare_recorded_call *c)
{
	const struct tare_recording *r = rows->recording;
	bool queue =
	    c->role == TARE_ROLE_WAIT || c->role == TARE_ROLE_FLUSH || c->role == TARE_ROLE_COMMAND;

	rows_index(rows, queue ? c->object : TARE_NO_INDEX, r->queue_count);
	rows_index(rows, c->role == TARE_ROLE_ALLOCATE ? c->object : TARE_NO_INDEX,
	           r->memory_count);
	rows_index(rows, c->role == TARE_ROLE_BUILD ? c->object : TARE_NO_INDEX, r->program_count);
	rows_index(rows,
	           c->device < r->device_count ? r->devices[c->device].same_as : TARE_NO_INDEX,
	           r->device_count);
}

static void put_call(struct rows *rows, size_t index)
{
	const struct tare_recording *r = rows->recording;
	const struct tare_recorded_call *c = &r->calls[index];

	if (!tare_view_filter_has_call(rows->members, c))
		return;
	rows_integer(rows, (int64_t)index);
	put_thread(rows, c->thread);
	rows_index(rows, c->function, r->function_count);
	rows_text(rows, tare_report_role(c->role));
	rows_moment(rows, c->enter_ns);
	rows_moment(rows, c->exit_ns);
	rows_unsigned(rows, c->count);
	rows_length(rows, c->inside_ns);
	rows_known(rows, c->bytes);
	put_call_object(rows, c);
	rows_integer(rows, (c->flags & TARE_CALL_FAILED) != 0);
	rows_integer(rows, (c->flags & TARE_CALL_NESTED) != 0);
	rows_integer(rows, c->result);
	rows_index(rows, c->stack, r->stack_count);
	rows_end(rows);
}

EXPORT_TABLE(export_call, "call", true, count_calls, put_call);

// ---- phase

static const struct export_column export_phase_columns[] = {
	{ "phase", INTEGER },  { "process", INTEGER }, { "thread", INTEGER },
	{ "parent", INTEGER }, { "depth", INTEGER },   { "name", TEXT },
	{ "domain", TEXT },    { "source", TEXT },     { "from_ns", INTEGER },
	{ "to_ns", INTEGER },  { "instant", INTEGER }, { "unended", INTEGER },
	{ "range", INTEGER },
};

static size_t count_phases(const struct rows *rows)
{
	return rows->recording->phase_count;
}

static void put_phase(struct rows *rows, size_t index)
{
	static const char *const sources[] = { "tare", "itt", "nvtx" };
	const struct tare_recording *r = rows->recording;
	const struct tare_recorded_phase *p = &r->phases[index];

	if (!tare_view_filter_has_moment(rows->members, p->thread, p->from_ns))
		return;
	rows_integer(rows, (int64_t)index);
	put_thread(rows, p->thread);
	rows_index(rows, p->parent, r->phase_count);
	rows_integer(rows, p->depth);
	rows_text(rows, p->name);
	rows_name(rows, p->domain);
	rows_text(rows, p->source < sizeof sources / sizeof *sources ? sources[p->source] : NULL);
	rows_moment(rows, p->from_ns);
	rows_moment(rows, p->to_ns);
	rows_integer(rows, p->instant);
	rows_integer(rows, p->unended);
	rows_integer(rows, p->range);
	rows_end(rows);
}

EXPORT_TABLE(export_phase, "phase", true, count_phases, put_phase);

// ---- callback

static const struct export_column export_callback_columns[] = {
	{ "callback", INTEGER }, { "process", INTEGER },  { "thread", INTEGER },
	{ "function", INTEGER }, { "enter_ns", INTEGER }, { "exit_ns", INTEGER },
};

static size_t count_callbacks(const struct rows *rows)
{
	return rows->recording->callback_count;
}

static void put_callback(struct rows *rows, size_t index)
{
	const struct tare_recorded_callback *c = &rows->recording->callbacks[index];

	if (!tare_view_filter_has_moment(rows->members, c->thread, c->enter_ns))
		return;
	rows_integer(rows, (int64_t)index);
	put_thread(rows, c->thread);
	rows_index(rows, c->function, rows->recording->function_count);
	rows_moment(rows, c->enter_ns);
	rows_moment(rows, c->exit_ns);
	rows_end(rows);
}

EXPORT_TABLE(export_callback, "callback", true, count_callbacks, put_callback);

// ---- loss

static const struct export_column export_loss_columns[] = {
	{ "loss", INTEGER },    { "process", INTEGER },  { "thread", INTEGER },
	{ "why", TEXT },        { "from_ns", INTEGER },  { "to_ns", INTEGER },
	{ "records", INTEGER }, { "commands", INTEGER },
};

static size_t count_losses(const struct rows *rows)
{
	return rows->recording->loss_count;
}

static void put_loss(struct rows *rows, size_t index)
{
	static const char *const why[] = {
		[TARE_LOSS_NO_ROOM] = "no_room",   [TARE_LOSS_STOPPED] = "stopped",
		[TARE_LOSS_RECYCLED] = "recycled", [TARE_LOSS_INACTIVE] = "inactive",
		[TARE_LOSS_NO_SIGN] = "no_sign",
	};
	const struct tare_recording *r = rows->recording;
	const struct tare_recorded_loss *l = &r->losses[index];

	if (!tare_view_filter_has_process(rows->members, l->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, l->process, r->process_count);
	rows_index(rows, l->thread, r->thread_count);
	rows_text(rows, l->why < sizeof why / sizeof *why ? why[l->why] : NULL);
	rows_moment(rows, l->from_ns);
	rows_moment(rows, l->to_ns);
	rows_known(rows, l->records);
	rows_known(rows, l->commands);
	rows_end(rows);
}

EXPORT_TABLE(export_loss, "loss", true, count_losses, put_loss);
