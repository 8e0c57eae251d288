// SPDX-License-Identifier: Apache-2.0
// Kernels by device and name, and within these by shape of work.
#include "analysis/recording/intervals.h"
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_KERNEL "(unknown kernel)"
#define NATIVE_KERNEL "(native kernel)"
#define GRAPH "(graph)"

// What has no kernel goes by one of these instead of a kernel's name.
enum { NAMELESS = UINT32_MAX - 2 };

// One shape of one task.
struct cell {
	uint32_t task;
	uint32_t shape; // by tables_context.shape_of; TARE_NO_INDEX
	uint64_t instances, timed;
	int64_t total_ns, launch_ns;
	size_t next; // place of its next span
	struct tables_estimate estimate;
};

struct gathering {
	const struct tables_context *context;
	struct tare_id_map tasks, cells; // by key
	struct tare_task *task;
	struct cell *cell;
	uint32_t *order; // cells of a task together, longest first
	size_t task_room, cell_room;
	struct tables_span *spans; // in the order of the cells
	// Of what commands have in common, so that each is looked for once; TARE_ID_ABSENT: not yet
	uint32_t *cell_of_like;
};

static uint32_t name_of(const struct tables_context *context,
                        const struct tare_recorded_command *command)
{
	if (command->kind == TARE_KIND_TASK)
		return NAMELESS + 1;
	if (command->kind == TARE_KIND_GRAPH)
		return NAMELESS + 2;
	return command->object < context->recording->kernel_count
	           ? context->name_of[command->object]
	           : NAMELESS;
}

static uint32_t shape_of(const struct tables_context *context,
                         const struct tare_recorded_command *command)
{
	return command->kind == TARE_KIND_KERNEL &&
	               command->amount < context->recording->shape_count
	           ? context->shape_of[command->amount]
	           : TARE_NO_INDEX;
}

static struct tare_task begin_task(const struct tables_context *context,
                                   const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = context->recording;
	uint32_t device = tables_device(context, command);
	uint32_t name = name_of(context, command);
	return (struct tare_task){
		.name = name < recording->kernel_count ? recording->kernels[name].name
		        : name == NAMELESS             ? NO_KERNEL
		        : name == NAMELESS + 1         ? NATIVE_KERNEL
		                                       : GRAPH,
		.device = device < recording->device_count ? device : TARE_NO_INDEX,
		.kernel = name < recording->kernel_count ? command->object : TARE_NO_INDEX,
	};
}

static int find_task(struct gathering *g, const struct tare_recorded_command *command,
                     uint32_t *task)
{
	uint64_t key =
	    (uint64_t)tables_device(g->context, command) << 32 | name_of(g->context, command);
	struct tare_task *room;
	size_t known = g->tasks.count;
	if (tables_number(&g->tasks, key, task) != 0)
		return -ENOMEM;
	if (*task < known)
		return 0;
	room = TARE_ROOM_FOR(g->task, g->task_room, *task);
	if (!room)
		return -ENOMEM;
	*room = begin_task(g->context, command);
	return 0;
}

static int look_for_cell(struct gathering *g, const struct tare_recorded_command *command,
                         uint32_t *cell)
{
	uint32_t task;
	uint32_t shape = shape_of(g->context, command);
	size_t known = g->cells.count;
	struct cell *room;
	if (find_task(g, command, &task) != 0 ||
	    tables_number(&g->cells, (uint64_t)task << 32 | shape, cell) != 0)
		return -ENOMEM;
	if (*cell < known)
		return 0;
	room = TARE_ROOM_FOR(g->cell, g->cell_room, *cell);
	if (!room)
		return -ENOMEM;
	*room = (struct cell){ .task = task, .shape = shape };
	return 0;
}

static int find_cell(struct gathering *g, size_t index, uint32_t *cell)
{
	const struct tare_recording *recording = g->context->recording;
	uint32_t like = tare_command_like_of(&recording->commands, index);
	if (like == TARE_PACKED_WHOLE)
		return look_for_cell(g, TARE_COMMAND(recording, index), cell);
	*cell = g->cell_of_like[like];
	if (*cell != TARE_ID_ABSENT)
		return 0;
	int code = look_for_cell(g, TARE_COMMAND(recording, index), cell);
	g->cell_of_like[like] = *cell;
	return code;
}

static bool is_listed(const struct gathering *g, size_t index,
                      const struct tare_recorded_command *command)
{
	return tables_is_kernel(command) && tables_has_command(g->context, command) &&
	       !tables_is_twice(g->context, index);
}

// Of a view of all of a run in which everything has times: nothing is estimated.
static int count_likes(struct gathering *g)
{
	const struct tare_commands *commands = &g->context->recording->commands;
	for (size_t i = 0; i < commands->sum_count; i++) {
		const struct tare_like_sums *sums = &commands->sums[i];
		const struct tare_recorded_command command =
		    tare_command_of_like(commands, sums->like);
		uint32_t cell;
		if (!tables_is_kernel(&command))
			continue;
		if (find_cell(g, sums->first, &cell) != 0)
			return -ENOMEM;
		struct cell *at = &g->cell[cell];
		at->instances += sums->count;
		at->timed += sums->timed;
		at->launch_ns = tables_add(at->launch_ns, sums->call_ns);
		at->total_ns = tables_add(at->total_ns, sums->run_ns);
	}
	return 0;
}

static int count_cells(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	if (g->context->all && !g->context->twice && recording->commands.sums &&
	    recording->commands.all_timed)
		return count_likes(g);
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		struct cell *at;
		uint32_t cell;
		if (!is_listed(g, i, command))
			continue;
		if (find_cell(g, i, &cell) != 0)
			return -ENOMEM;
		at = &g->cell[cell];
		at->instances++;
		at->launch_ns = tables_add(
		    at->launch_ns, tables_length(0, tare_command_launch_ns(recording, command)));
		if (tables_timed(command, &span)) {
			at->timed++;
			at->total_ns = tables_add(at->total_ns, span.to - span.from);
			tables_estimate_timed(&at->estimate, span.to - span.from,
			                      tare_command_chance(recording, i));
		} else if (command->untimed == TARE_UNTIMED_NOT_SAMPLED) {
			tables_estimate_unsampled(&at->estimate);
		}
	}
	for (size_t i = 0; i < g->cells.count; i++)
		tables_estimate_end(&g->cell[i].estimate);
	return 0;
}

static int compare_cells(const void *a, const void *b, void *context)
{
	const struct cell *cells = context;
	const struct cell *x = &cells[*(const uint32_t *)a];
	const struct cell *y = &cells[*(const uint32_t *)b];
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->instances != y->instances)
		return x->instances > y->instances ? -1 : 1;
	return (x->shape > y->shape) - (x->shape < y->shape);
}

static int place_cells(struct gathering *g)
{
	const struct tare_recording *recording = g->context->recording;
	size_t room = 0;
	g->order = malloc((g->cells.count + 1) * sizeof *g->order);
	if (!g->order)
		return -ENOMEM;
	for (size_t i = 0; i < g->cells.count; i++)
		g->order[i] = (uint32_t)i;
	qsort_r(g->order, g->cells.count, sizeof *g->order, compare_cells, g->cell);
	for (size_t i = 0; i < g->cells.count; i++) {
		g->cell[g->order[i]].next = room;
		room += (size_t)g->cell[g->order[i]].timed;
	}
	g->spans = malloc((room + 1) * sizeof *g->spans);
	if (!g->spans)
		return -ENOMEM;
	for (size_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		uint32_t cell;
		if (!is_listed(g, i, command) || !tables_timed(command, &span))
			continue;
		if (find_cell(g, i, &cell) != 0)
			return -ENOMEM;
		g->spans[g->cell[cell].next++] = span;
	}
	return 0;
}

// What is computed from the times of a row's instances; rearranges them. `busy` has the kernels'
// time of the view.
static int time_task(const struct gathering *g, const struct tables_busy *busy,
                     struct tables_span *spans, struct tare_task *task)
{
	size_t n = (size_t)task->timed;
	int64_t device_ns;
	task->mean_ns = task->median_ns = task->p95_ns = NAN;
	task->min_ns = task->max_ns = task->share = NAN;
	task->trend_per_run = task->first_ns = task->last_ns = NAN;
	if (n == 0)
		return 0;
	tables_sort(spans, n);
	if (task->device < g->context->recording->device_count) {
		device_ns = tables_busy_total(busy, task->device);
		if (device_ns > 0)
			task->share = (double)tables_union(spans, n) / (double)device_ns;
	}
	if (tables_trend(spans, n, task) != 0)
		return -ENOMEM;
	task->mean_ns = (double)task->total_ns / (double)n;
	task->median_ns = tables_median_length(spans, n);
	task->p95_ns = tables_quantile_length(spans, n, 0.95);
	int64_t min_ns = INT64_MAX, max_ns = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		int64_t ns = spans[i].to - spans[i].from;
		min_ns = ns < min_ns ? ns : min_ns;
		max_ns = ns > max_ns ? ns : max_ns;
	}
	task->min_ns = (double)min_ns;
	task->max_ns = (double)max_ns;
	return 0;
}

static struct tare_task task_of_cell(const struct tare_task *task, const struct cell *cell)
{
	struct tare_task row = { .name = task->name,
		                 .device = task->device,
		                 .kernel = task->kernel,
		                 .shape = cell->shape,
		                 .frequent_shape = cell->shape,
		                 .shapes = 1,
		                 .instances = cell->instances,
		                 .timed = cell->timed,
		                 .total_ns = cell->total_ns,
		                 .launch_total_ns = cell->launch_ns };
	row.estimate = tables_estimate_tell(&cell->estimate, cell->total_ns);
	return row;
}

// Sums up the cells order[from, to) of a task.
static void sum_cells(const struct gathering *g, size_t from, size_t to, struct tare_task *task)
{
	const struct cell *frequent = &g->cell[g->order[from]];
	struct tables_estimate all = { 0 };
	for (size_t i = from; i < to; i++) {
		const struct cell *cell = &g->cell[g->order[i]];
		task->instances += cell->instances;
		task->timed += cell->timed;
		task->total_ns = tables_add(task->total_ns, cell->total_ns);
		task->launch_total_ns = tables_add(task->launch_total_ns, cell->launch_ns);
		if (cell->instances > frequent->instances)
			frequent = cell;
		tables_estimate_add(&all, &cell->estimate);
	}
	task->estimate = tables_estimate_tell(&all, task->total_ns);
	task->shapes = (uint32_t)(to - from);
	task->frequent_shape = frequent->shape;
	task->shape = task->shapes == 1 ? frequent->shape : TARE_NO_INDEX;
}

static int time_shapes(struct gathering *g, const struct tables_busy *busy, size_t from,
                       struct tables_span *spans, struct tare_task *task,
                       struct tare_tables *tables)
{
	size_t rows = task->shapes < TARE_TASK_SHAPES ? task->shapes : TARE_TASK_SHAPES;
	struct tare_task *room;
	if (task->shapes == 1)
		return 0;
	room = reallocarray(tables->task_shapes, tables->task_shape_count + rows, sizeof *room);
	if (!room)
		return -ENOMEM;
	tables->task_shapes = room;
	task->first_shape = tables->task_shape_count;
	task->shape_rows = rows;
	for (size_t i = 0; i < rows; i++) {
		struct tare_task *row = &room[task->first_shape + i];
		*row = task_of_cell(task, &g->cell[g->order[from + i]]);
		if (time_task(g, busy, spans, row) != 0)
			return -ENOMEM;
		tables_fill_model(g->context, row);
		spans += row->timed;
		tables->task_shape_count++;
	}
	return 0;
}

static int time_tasks(struct gathering *g, const struct tables_busy *busy,
                      struct tare_tables *tables)
{
	struct tables_span *spans = g->spans;
	for (size_t from = 0, to; from < g->cells.count; from = to) {
		uint32_t number = g->cell[g->order[from]].task;
		struct tare_task *task = &g->task[number];
		for (to = from + 1; to < g->cells.count; to++)
			if (g->cell[g->order[to]].task != number)
				break;
		sum_cells(g, from, to, task);
		tables_fill_model(g->context, task);
		if (time_shapes(g, busy, from, spans, task, tables) != 0 ||
		    time_task(g, busy, spans, task) != 0)
			return -ENOMEM;
		spans += task->timed;
	}
	return 0;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct tare_task *x = a;
	const struct tare_task *y = b;
	double x_ns = isfinite(x->estimate.ns) ? x->estimate.ns : (double)x->total_ns;
	double y_ns = isfinite(y->estimate.ns) ? y->estimate.ns : (double)y->total_ns;
	int names;
	if (x_ns > y_ns || x_ns < y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->instances != y->instances)
		return x->instances > y->instances ? -1 : 1;
	names = strcmp(x->name, y->name);
	return names ? names : (x->device > y->device) - (x->device < y->device);
}

int tables_tasks(const struct tables_context *context, struct tare_tables *tables)
{
	struct gathering g = { .context = context };
	struct tables_busy busy = { 0 };
	size_t likes = context->recording->commands.like_count;
	// First, and with its own memory for a while: what is kept of it is one number a device.
	int code = tables_busy_totals(context, &busy);
	g.cell_of_like = malloc((likes + 1) * sizeof *g.cell_of_like);
	if (!g.cell_of_like)
		code = -ENOMEM;
	else
		memset(g.cell_of_like, 0xff, (likes + 1) * sizeof *g.cell_of_like);
	if (code == 0)
		code = count_cells(&g);
	if (code == 0)
		code = place_cells(&g);
	if (code == 0)
		code = time_tasks(&g, &busy, tables);
	if (code == 0 && g.tasks.count > 0)
		qsort(g.task, g.tasks.count, sizeof *g.task, compare_tasks);
	tables->tasks = g.task;
	tables->task_count = code == 0 ? g.tasks.count : 0;
	tables_busy_close(&busy);
	tare_id_map_free(&g.tasks);
	tare_id_map_free(&g.cells);
	free(g.cell);
	free(g.order);
	free(g.spans);
	free(g.cell_of_like);
	return code;
}
