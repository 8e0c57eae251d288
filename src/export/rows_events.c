// SPDX-License-Identifier: Apache-2.0
// Tables of what happened: commands and what they wait for, calls, phases, callbacks, losses.
#include "export/rows.h"
#include "export/values.h"

#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "report/core/words.h"

// ---- command

static const struct tare_recorded_shape *shape_of(const struct tare_recording *r,
                                                  const struct tare_recorded_command *command)
{
	return command->kind == TARE_KIND_KERNEL && command->amount < r->shape_count
	           ? &r->shapes[command->amount]
	           : NULL;
}

static struct tare_cell_value global_size(const struct tare_recording *r,
                                          const struct tare_recorded_command *command, size_t i)
{
	const struct tare_recorded_shape *shape = shape_of(r, command);

	return export_known(shape ? shape->global[i] : 0);
}

static struct tare_cell_value local_size(const struct tare_recording *r,
                                         const struct tare_recorded_command *command, size_t i)
{
	const struct tare_recorded_shape *shape = shape_of(r, command);

	return export_known(shape && shape->local[0] ? shape->local[i] : 0);
}

static struct tare_cell_value untimed(const struct tare_recorded_command *command)
{
	return tare_string(tare_command_timed(command) || tare_command_only_executes(command)
	                       ? NULL
	                       : tare_report_unobserved(tare_command_unobserved(command)));
}

// Also counts it.
static bool takes_command(struct rows *rows, const struct tare_recorded_command *command)
{
	bool counts = !tare_command_only_executes(command);

	if (!tare_view_filter_has_command(rows->members, command))
		return false;
	rows->counts->commands += counts;
	rows->counts->without_times += counts && !tare_command_timed(command);
	return true;
}

static const struct tare_recorded_command *hold_command(const struct rows *rows, size_t index)
{
	rows->command->row = *TARE_COMMAND(rows->recording, index);
	rows->command->index = index;
	return &rows->command->row;
}

static const struct tare_recorded_link *linked(const struct rows *rows)
{
	static const struct tare_recorded_link none = { TARE_NO_INDEX, TARE_NO_INDEX, 0, 0 };
	const struct tare_recorded_link *link =
	    tare_command_link(rows->recording, rows->command->index);

	return link ? link : &none;
}

#define LINKED(member) (linked(rows)->member)
#define IS_KERNEL (row->kind == TARE_KIND_KERNEL)
#define IS_WORK (IS_KERNEL || row->kind == TARE_KIND_TASK)
#define TABLE command
#define ROW struct tare_recorded_command
#define COLUMNS "export/columns/command.def"
#include "export/own.h"
EXPORT_OWN(command, struct tare_recorded_command, "an enqueue that succeeded", r->command_count,
           hold_command(rows, index), takes_command(rows, row))

// ---- wait

static const struct export_column export_wait_columns[] = {
	{ "command", EXPORT_INTEGER },
	{ "waits_for", EXPORT_INTEGER },
};

static void put_waits(struct rows *rows, size_t index)
{
	const struct tare_recording *r = rows->recording;

	if (TARE_COMMAND(r, index)->first_wait >= r->wait_count ||
	    !tare_view_filter_has_command(rows->members, TARE_COMMAND(r, index)))
		return;
	for (size_t at = TARE_COMMAND(r, index)->first_wait; at < r->wait_count; at++) {
		rows_integer(rows, (int64_t)index);
		rows_index(rows, r->waits[at].command, r->command_count);
		rows_end(rows);
		if (r->waits[at].last)
			break;
	}
}

static size_t count_commands(const struct rows *rows)
{
	return rows->recording->command_count;
}

EXPORT_TABLE(export_wait, "wait", false, count_commands, put_waits);

// ---- call

// Its role says which kind of object it is about.
#define ABOUT_QUEUE                                                                                \
	(row->role == TARE_ROLE_WAIT || row->role == TARE_ROLE_FLUSH ||                            \
	 row->role == TARE_ROLE_COMMAND)
#define TABLE call
#define ROW struct tare_recorded_call
#define COLUMNS "export/columns/call.def"
#include "export/own.h"
EXPORT_OWN(call, struct tare_recorded_call, "any other call", r->call_count, &r->calls[index],
           tare_view_filter_has_call(rows->members, row))

// ---- phase, callback, loss

static const char *source_name(size_t source)
{
	static const char *const sources[] = { "tare", "itt", "nvtx" };

	return source < sizeof sources / sizeof *sources ? sources[source] : NULL;
}

static const char *loss_reason(size_t why)
{
	static const char *const reasons[] = {
		[TARE_LOSS_NO_ROOM] = "no_room",   [TARE_LOSS_STOPPED] = "stopped",
		[TARE_LOSS_RECYCLED] = "recycled", [TARE_LOSS_INACTIVE] = "inactive",
		[TARE_LOSS_NO_SIGN] = "no_sign",
	};

	return why < sizeof reasons / sizeof *reasons ? reasons[why] : NULL;
}

#define TABLE phase
#define ROW struct tare_recorded_phase
#define COLUMNS "export/columns/phase.def"
#include "export/own.h"
EXPORT_OWN(phase, struct tare_recorded_phase, "what the program marks", r->phase_count,
           &r->phases[index], tare_view_filter_has_moment(rows->members, row->thread, row->from_ns))

#define TABLE callback
#define ROW struct tare_recorded_callback
#define COLUMNS "export/columns/callback.def"
#include "export/own.h"
EXPORT_OWN(callback, struct tare_recorded_callback, "the program's function, run by the driver",
           r->callback_count, &r->callbacks[index],
           tare_view_filter_has_moment(rows->members, row->thread, row->enter_ns))

#define TABLE loss
#define ROW struct tare_recorded_loss
#define COLUMNS "export/columns/loss.def"
#include "export/own.h"
EXPORT_OWN(loss, struct tare_recorded_loss, "a time that was not recorded", r->loss_count,
           &r->losses[index], tare_view_filter_has_process(rows->members, row->process))
