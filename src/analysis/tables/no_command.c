// SPDX-License-Identifier: Apache-2.0
// Why a view has no command: only of a whole recording that saw everything can it be said that none
// was enqueued.
#include "analysis/tables/internal.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

const char *tare_no_command_name(enum tare_no_command why)
{
	static const char *const names[TARE_NO_COMMAND_REASONS] = {
		[TARE_NO_COMMAND_ENQUEUED] = "none_enqueued",
		[TARE_NO_COMMAND_OTHER_API] = "other_api",
		[TARE_NO_COMMAND_NOT_RECORDED] = "not_recorded",
		[TARE_NO_COMMAND_STOPPED] = "recording_stopped",
		[TARE_NO_COMMAND_DAMAGED] = "trace_damaged",
	};
	return why < TARE_NO_COMMAND_REASONS ? names[why] : NULL;
}

static bool has_stopped(const struct tare_recorded_process *process)
{
	return process->state == TARE_TRACE_STOPPED || process->lost_records > 0 ||
	       process->lost_commands > 0 || process->recycled_commands > 0;
}

// The first process of the view that is so; NULL: none.
static const struct tare_recorded_process *first_stopped(const struct tables_context *context)
{
	for (size_t i = 0; i < context->recording->process_count; i++)
		if (context->process_in[i] && has_stopped(&context->recording->processes[i]))
			return &context->recording->processes[i];
	return NULL;
}

static bool any_damaged(const struct tables_context *context)
{
	for (size_t i = 0; i < context->recording->process_count; i++)
		if (context->process_in[i] && context->recording->processes[i].problem)
			return true;
	return context->recording->process_count == 0 && context->recording->problem;
}

static enum tare_no_command find_why(const struct tables_context *context)
{
	const struct tare_recording *recording = context->recording;

	if (first_stopped(context))
		return TARE_NO_COMMAND_STOPPED;
	if (any_damaged(context))
		return TARE_NO_COMMAND_DAMAGED;
	if (recording->command_count == 0 && tare_other_any(&recording->others))
		return TARE_NO_COMMAND_OTHER_API;
	return recording->process_count == 0 ? TARE_NO_COMMAND_NOT_RECORDED
	                                     : TARE_NO_COMMAND_ENQUEUED;
}

static const char *stop_words(const struct tare_recorded_process *process)
{
	static const char *const words[] = {
		[TARE_TRACE_MAX_SIZE] = "--max-size was reached",
		[TARE_TRACE_NO_SPACE] = "the disk was full",
		[TARE_TRACE_FILE_LIMIT] = "the limit on the size of files was reached",
		[TARE_TRACE_IO] = "its file could not be written",
		[TARE_TRACE_NO_MEMORY] = "the recorder had no memory left",
	};
	uint32_t reason = process ? process->stop_reason : 0;

	return reason < sizeof words / sizeof *words && words[reason] ? words[reason]
	                                                              : "no room was left";
}

// Of a whole run what most of it went into, which may be the driver's work; false: nothing has
// half.
static bool say_most(const struct tables_context *context, char *text, size_t size)
{
	const struct tare_ledger *all = tables_union_of(context->ledgers);
	char ns[TARE_UNIT_TEXT];
	if (!all || !tables_is_whole_run(context))
		return false;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		if (all->parts_ns[i] > all->wall_ns / 2 && i != TARE_LEDGER_UNKNOWN) {
			snprintf(text, size,
			         "No command was enqueued; %s took %.1f %% of this run (%s)",
			         tare_recording_part_words(NULL, (enum tare_ledger_category)i),
			         100 * (double)all->parts_ns[i] / (double)all->wall_ns,
			         tare_format_ns((double)all->parts_ns[i], ns));
			return true;
		}
	return false;
}

enum tare_no_command tables_why_no_command(const struct tables_context *context, char *text,
                                           size_t size)
{
	enum tare_no_command why = find_why(context);
	bool phase = context->view->phase != NULL;
	const char *what = phase ? "phase" : "run";
	char others[400];

	switch (why) {
	case TARE_NO_COMMAND_STOPPED:
		snprintf(text, size,
		         "What bounds this %s cannot be told: %s, and no command of it was kept",
		         what, stop_words(first_stopped(context)));
		break;
	case TARE_NO_COMMAND_DAMAGED:
		snprintf(
		    text, size,
		    "What bounds this %s cannot be told: its trace is damaged or cut off, and no "
		    "command is left in it",
		    what);
		break;
	case TARE_NO_COMMAND_OTHER_API:
		tare_other_say(&context->recording->others, others, sizeof others);
		// It begins with "the program".
		if (context->recording->call_count == 0)
			snprintf(text, size, "T%s", others + 1);
		else
			snprintf(text, size, "No command was enqueued; %s", others);
		break;
	case TARE_NO_COMMAND_NOT_RECORDED:
		snprintf(text, size, "Nothing was recorded: what bounds this run is not known");
		break;
	default:
		if (say_most(context, text, size))
			break;
		snprintf(text, size, "%s",
		         phase ? "No command ran in this phase: nothing bounds it but the program "
		                 "itself"
		               : "No command was enqueued: nothing bounds this run but the program "
		                 "itself");
	}
	return why;
}
