// SPDX-License-Identifier: Apache-2.0
// Tables of command lists and their executions.
#include "export/rows.h"

#define INTEGER EXPORT_INTEGER

// ---- list

static const struct export_column export_list_columns[] = {
	{ "list", INTEGER },       { "process", INTEGER },    { "number", INTEGER },
	{ "properties", INTEGER }, { "created_ns", INTEGER }, { "commands", INTEGER },
	{ "executions", INTEGER },
};

static size_t count_lists(const struct rows *rows)
{
	return rows->recording->list_count;
}

static void put_list(struct rows *rows, size_t index)
{
	const struct tare_recorded_list *list = &rows->recording->lists[index];

	if (!tare_view_filter_has_process(rows->members, list->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, list->process, rows->recording->process_count);
	rows_integer(rows, list->number);
	rows_unsigned(rows, list->properties);
	rows_moment(rows, list->created_ns);
	rows_integer(rows, list->commands);
	rows_integer(rows, list->executions);
	rows_end(rows);
}

EXPORT_TABLE(export_list, "list", true, count_lists, put_list);

// ---- execution

static const struct export_column export_execution_columns[] = {
	{ "execution", INTEGER }, { "command", INTEGER }, { "list", INTEGER },
	{ "number", INTEGER },    { "nodes", INTEGER },   { "runs", INTEGER },
};

static size_t count_executions(const struct rows *rows)
{
	return rows->recording->execution_count;
}

static void put_execution(struct rows *rows, size_t index)
{
	const struct tare_recording *r = rows->recording;
	const struct tare_recorded_execution *x = &r->executions[index];

	if (x->command >= r->command_count ||
	    !tare_view_filter_has_command(rows->members, &r->commands[x->command]))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, x->command, r->command_count);
	rows_index(rows, x->list, r->list_count);
	rows_unsigned(rows, x->number);
	rows_unsigned(rows, x->nodes);
	rows_integer(rows, x->runs);
	rows_end(rows);
}

EXPORT_TABLE(export_execution, "execution", true, count_executions, put_execution);
