// SPDX-License-Identifier: Apache-2.0
// Host time by function of the API, and the builds among the calls.
#include "analysis/recording/intervals.h"
#include "analysis/tables/internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_FUNCTION "(unknown function)"

static struct tare_api_row *row_of(const struct tables_context *context, struct tare_api_row *rows,
                                   uint32_t function)
{
	size_t functions = context->recording->function_count;
	return &rows[function < functions ? function : functions];
}

static void add_calls(struct tare_api_row *row, uint64_t count, int64_t inside_ns, bool nested)
{
	row->count += count;
	if (nested) {
		row->nested += count;
		return;
	}
	row->total_ns = tables_add(row->total_ns, inside_ns);
	if (inside_ns / (int64_t)count > row->max_ns)
		row->max_ns = inside_ns / (int64_t)count;
}

// The same of all commands that have the same in common.
static void add_likes(const struct tables_context *context, struct tare_api_row *rows)
{
	const struct tare_commands *commands = &context->recording->commands;
	for (size_t i = 0; i < commands->sum_count; i++) {
		const struct tare_like_sums *sums = &commands->sums[i];
		const struct tare_command_like *like = &commands->likes[sums->like];
		struct tare_api_row *row = row_of(context, rows, like->function);
		row->count += sums->count;
		if (like->flags & TARE_COMMAND_NESTED) {
			row->nested += sums->count;
			continue;
		}
		row->total_ns = tables_add(row->total_ns, sums->call_ns);
		if (sums->longest_call_ns > row->max_ns)
			row->max_ns = sums->longest_call_ns;
	}
}

// A row for each function, and one more for those that are not known.
static void count_calls(const struct tables_context *context, struct tare_api_row *rows)
{
	const struct tare_recording *recording = context->recording;
	for (size_t i = 0; i < recording->call_count; i++) {
		const struct tare_recorded_call *call = &recording->calls[i];
		struct tare_api_row *row = row_of(context, rows, call->function);
		if (!tables_has_call(context, call) || call->count == 0 || call->count > INT64_MAX)
			continue;
		add_calls(row, call->count, tables_length(0, call->inside_ns),
		          call->flags & TARE_CALL_NESTED);
		// Of a row of polled calls it is known that some failed, not how many.
		row->failed += (call->flags & TARE_CALL_FAILED) != 0;
	}
	if (context->all && recording->commands.sums) {
		add_likes(context, rows);
		return;
	}
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (!tare_command_is_run(command) && tables_has_command(context, command))
			add_calls(row_of(context, rows, command->function), 1,
			          tables_length(command->enter_ns, command->exit_ns),
			          command->flags & TARE_COMMAND_NESTED);
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct tare_api_row *x = a;
	const struct tare_api_row *y = b;
	return strcmp(x->function, y->function);
}

static int compare_rows(const void *a, const void *b)
{
	const struct tare_api_row *x = a;
	const struct tare_api_row *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->function, y->function);
}

// Joins the rows of one name, which processes have each of their own, and drops empty ones.
static size_t join_rows(struct tare_api_row *rows, size_t n)
{
	size_t kept = 0;
	qsort(rows, n, sizeof *rows, compare_names);
	for (size_t i = 0; i < n; i++) {
		struct tare_api_row *row = &rows[i];
		struct tare_api_row *same = kept > 0 ? &rows[kept - 1] : NULL;
		if (row->count == 0)
			continue;
		if (!same || strcmp(same->function, row->function) != 0) {
			rows[kept++] = *row;
			continue;
		}
		same->count += row->count;
		same->failed += row->failed;
		same->nested += row->nested;
		same->total_ns = tables_add(same->total_ns, row->total_ns);
		if (row->max_ns > same->max_ns)
			same->max_ns = row->max_ns;
	}
	return kept;
}

int tables_api_calls(const struct tables_context *context, struct tare_tables *tables)
{
	const struct tare_recording *recording = context->recording;
	size_t n = recording->function_count + 1;
	tables->api = calloc(n, sizeof *tables->api);
	if (!tables->api)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool known = i < recording->function_count;
		tables->api[i].function = known ? recording->functions[i].name : NO_FUNCTION;
		tables->api[i].api = known ? recording->functions[i].api : TARE_TRACE_NO_API;
		tables->api[i].role = known ? recording->functions[i].role : TARE_ROLE_OTHER;
	}
	count_calls(context, tables->api);
	tables->api_count = join_rows(tables->api, n);
	qsort(tables->api, tables->api_count, sizeof *tables->api, compare_rows);
	return 0;
}

static bool is_build(const struct tables_context *context, const struct tare_recorded_call *call)
{
	return call->role == TARE_ROLE_BUILD && !(call->flags & TARE_CALL_NESTED) &&
	       tables_has_call(context, call);
}

static struct tare_build build_of(const struct tare_recording *recording,
                                  const struct tare_recorded_call *call)
{
	bool known = call->object < recording->program_count;
	struct tare_build build = {
		.program = known ? call->object : TARE_NO_INDEX,
		.function = call->function < recording->function_count
		                ? recording->functions[call->function].name
		                : NO_FUNCTION,
		.at_ns = call->enter_ns,
		.ns = tables_length(call->enter_ns, call->exit_ns),
		.error = call->flags & TARE_CALL_FAILED ? call->result : 0,
	};
	// One that runs on after its call says what became of it later.
	if (build.error == 0 && known)
		build.error = recording->programs[call->object].build_error;
	return build;
}

int tables_builds(const struct tables_context *context, struct tare_tables *tables)
{
	const struct tare_recording *recording = context->recording;
	size_t n = 0;
	for (size_t i = 0; i < recording->call_count; i++)
		n += is_build(context, &recording->calls[i]);
	tables->builds = calloc(n + 1, sizeof *tables->builds);
	if (!tables->builds)
		return -ENOMEM;
	for (size_t i = 0; i < recording->call_count; i++)
		if (is_build(context, &recording->calls[i]))
			tables->builds[tables->build_count++] =
			    build_of(recording, &recording->calls[i]);
	return 0;
}
