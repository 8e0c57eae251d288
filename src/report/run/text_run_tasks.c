// SPDX-License-Identifier: Apache-2.0
// Computing tasks: how long they took, and how they fill the device.
#include "report/run/text_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TOP 10 // rows without -v

static size_t shown(const struct tare_text *text, size_t count)
{
	return text->options->verbosity > 0 || count <= TOP ? count : TOP;
}

// Columns of the figures beside a name.
static size_t room_of_figures(const struct tare_report *run)
{
	return tare_report_several_devices(run) ? 60 : 55;
}

static double most_total(const struct tare_tables *tables)
{
	double most = 0;

	for (size_t i = 0; i < tables->task_count; i++)
		most = fmax(
		    most,
		    fmax((double)tables->tasks[i].total_ns,
		         tables->tasks[i].estimate.unsampled ? tables->tasks[i].estimate.ns : 0));
	return most;
}

static struct tare_report_unit unit_of_each(const struct tare_tables *tables, size_t count)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < count; i++) {
		if (tables->tasks[i].timed == 0)
			continue;
		least = fmin(least, tables->tasks[i].median_ns);
		most = fmax(most, tables->tasks[i].max_ns);
	}
	return tare_report_unit_between(least > most ? most : least, most);
}

// The unit is said once, in the first of the columns that share it.
static void add_time_column(struct tare_text_table *table, const char *title,
                            struct tare_report_unit unit)
{
	char header[64];

	snprintf(header, sizeof header, "%s %s", title, unit.name);
	tare_text_column(table, header, TARE_COLUMN_RIGHT);
}

static void add_times(struct tare_text_table *table, const struct tare_task *task,
                      struct tare_report_unit total, struct tare_report_unit each)
{
	const double times[] = { task->mean_ns, task->median_ns, task->min_ns, task->max_ns };
	char figure[RUN_TEXT];

	if (tare_report_is_estimated(&task->estimate))
		tare_report_estimate_cell(table, &task->estimate, total);
	else
		tare_text_cell(table, "%s",
		               task->timed ? tare_report_time((double)task->total_ns, total, figure)
		                           : "–");
	tare_text_cell(table, "%s", tare_report_percent(task->timed ? task->share : NAN, figure));
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		tare_text_cell(table, "%s",
		               tare_report_time(task->timed ? times[i] : NAN, each, figure));
}

static int write_rest(const struct tare_text *text, const struct tare_tables *tables, size_t rows)
{
	uint64_t instances = 0, timed = 0;
	int64_t total = 0;
	char count[RUN_TEXT], time[TARE_UNIT_TEXT];

	if (rows == tables->task_count)
		return 0;
	for (size_t i = rows; i < tables->task_count; i++) {
		instances += tables->tasks[i].instances;
		timed += tables->tasks[i].timed;
		total += tables->tasks[i].total_ns;
	}
	return tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, "  ", 3, "and %zu more with %s instances, %s%s (-v lists them)",
	    tables->task_count - rows, tare_report_count(instances, count),
	    timed ? tare_format_ns((double)total, time) : "none timed", timed ? " together" : "");
}

static int write_times(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	const struct tare_tables *tables = run->tables;
	struct tare_report_unit total = tare_report_unit_of_totals(most_total(tables));
	struct tare_report_unit each = unit_of_each(tables, rows);
	struct tare_text_table *table = tare_text_table_new(text, 2);
	size_t room = tare_report_room(text, room_of_figures(run));
	char name[RUN_TEXT];
	bool untimed = false, estimated = false;
	int status;

	tare_text_column(table, "kernel", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	add_time_column(table, "total", total);
	tare_text_column(table, "share", TARE_COLUMN_RIGHT);
	add_time_column(table, "mean", each);
	tare_text_column(table, "median", TARE_COLUMN_RIGHT);
	tare_text_column(table, "min", TARE_COLUMN_RIGHT);
	tare_text_column(table, "max", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct tare_task *task = &tables->tasks[i];
		untimed |= task->timed < task->instances;
		estimated |= tare_report_is_estimated(&task->estimate);
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_report_cut(text, task->name, room, name));
		tare_report_device_cell(table, run, task->device);
		tare_text_cell(table, "%" PRIu64 "%s", task->instances,
		               task->timed < task->instances ? "*" : "");
		add_times(table, task, total, each);
	}
	status = tare_text_table_print(table);
	if (status == 0 && untimed)
		status = tare_text_paragraph(
		    text, TARE_STYLE_PLAIN, "  ", 3,
		    "* not all have device times: figures are of those that do%s",
		    tare_report_estimate_remark(estimated));
	return status < 0 ? status : write_rest(text, tables, rows);
}

// ---- the work

// "1024×1024" of global sizes, "16×16" of local ones; "auto" for a size left to the runtime.
static const char *write_size(const uint64_t *size, uint32_t dimensions, char buffer[RUN_TEXT])
{
	int at = 0;

	if (dimensions == 0 || size[0] == 0)
		return "auto";
	for (uint32_t i = 0; i < dimensions && i < 3; i++)
		at += snprintf(buffer + at, RUN_TEXT - (size_t)at, "%s%" PRIu64, i ? "×" : "",
		               size[i]);
	return buffer;
}

static void add_shape(struct tare_text_table *table, const struct tare_recording *recording,
                      const struct tare_task *task)
{
	uint32_t shown_shape = task->shape == TARE_NO_INDEX ? task->frequent_shape : task->shape;
	const struct tare_recorded_shape *shape;
	char text[RUN_TEXT];
	uint64_t local[3];

	if (shown_shape >= recording->shape_count) {
		tare_text_cell(table, "–");
		tare_text_cell(table, "–");
		return;
	}
	shape = &recording->shapes[shown_shape];
	for (size_t i = 0; i < 3; i++)
		local[i] = shape->local[i];
	tare_text_cell(table, "%s%s", write_size(shape->global, shape->dimensions, text),
	               task->shapes > 1 ? "*" : "");
	tare_text_cell(table, "%s", write_size(local, shape->dimensions, text));
}

static void add_fill(struct tare_text_table *table, const struct tare_task *task)
{
	char number[TARE_UNIT_TEXT], percent[RUN_TEXT];
	uint64_t width = task->facts.kernel == TARE_NO_INDEX ? 0
	                 : task->facts.sub_group             ? task->facts.sub_group
	                                                     : task->facts.preferred_multiple;

	if (task->groups)
		tare_text_cell(table, "%" PRIu64, task->groups);
	else
		tare_text_cell(table, "–");
	if (isfinite(task->waves) && task->waves > 0) {
		tare_text_cell(table, "%s", tare_format_significant(task->waves, 3, number));
		tare_text_cell(table, "%s", tare_report_percent(task->tail, percent));
	} else {
		tare_text_cell(table, "–");
		tare_text_cell(table, "–");
	}
	if (width)
		tare_text_cell(table, "%" PRIu64, width);
	else
		tare_text_cell(table, "–");
	if (isfinite(task->trend_per_run))
		tare_text_cell(table, "%+.1f %%", 100 * task->trend_per_run);
	else
		tare_text_cell(table, "–");
}

static int write_work(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	struct tare_text_table *table;
	size_t room = tare_report_room(text, room_of_figures(run));
	char name[RUN_TEXT];
	bool several = false;
	size_t known = 0;
	int status;

	for (size_t i = 0; i < rows; i++)
		known += run->tables->tasks[i].frequent_shape != TARE_NO_INDEX;
	if (known == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "kernel", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "work-items", TARE_COLUMN_RIGHT);
	tare_text_column(table, "group", TARE_COLUMN_RIGHT);
	tare_text_column(table, "groups", TARE_COLUMN_RIGHT);
	tare_text_column(table, "waves", TARE_COLUMN_RIGHT);
	tare_text_column(table, "tail", TARE_COLUMN_RIGHT);
	tare_text_column(table, "SIMD", TARE_COLUMN_RIGHT);
	tare_text_column(table, "trend", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct tare_task *task = &run->tables->tasks[i];
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_report_cut(text, task->name, room, name));
		tare_report_device_cell(table, run, task->device);
		add_shape(table, run->recording, task);
		add_fill(table, task);
		several |= task->shapes > 1;
	}
	status = tare_text_table_print(table);
	if (status == 0 && several)
		status =
		    tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                        "* the most frequent of several sizes (-v lists them)");
	return status < 0 || text->options->verbosity < 0
	           ? status
	           : tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 3,
	                                 "waves: groups over compute units, by model; tail: "
	                                 "what the last wave leaves empty; SIMD: as the "
	                                 "driver says; trend: the last runs against the first");
}

// ---- what a unit holds at once, where it is known

static const char *limit_title(enum tare_occupancy_limit limit)
{
	static const char *const titles[] = { [TARE_OCCUPANCY_ITEMS] = "–",
		                              [TARE_OCCUPANCY_REGISTERS] = "registers",
		                              [TARE_OCCUPANCY_LOCAL] = "local memory",
		                              [TARE_OCCUPANCY_GROUPS] = "number of groups" };

	return titles[limit];
}

static void add_occupancy(struct tare_text_table *table, const struct tare_recording *recording,
                          const struct tare_task *task)
{
	char number[TARE_UNIT_TEXT], percent[RUN_TEXT];
	uint64_t local =
	    task->facts.fixed_local_bytes + recording->shapes[task->frequent_shape].local_bytes;

	tare_text_cell(table, "%" PRIu64, task->facts.registers);
	tare_text_cell(table, "%s", tare_format_bytes(local, number));
	tare_text_cell(table, "%" PRIu64, task->occupancy.groups);
	tare_text_cell(table, "%s", tare_report_percent(task->occupancy.share, percent));
	tare_text_cell(table, "%s",
	               task->occupancy.share < 1 ? limit_title(task->occupancy.limit) : "–");
	tare_text_cell(table, "%s", tare_format_significant(task->occupancy_waves, 3, number));
}

static int write_occupancy(const struct tare_text *text, const struct tare_report *run, size_t rows)
{
	struct tare_text_table *table;
	char name[RUN_TEXT];
	size_t known = 0;
	int status;

	for (size_t i = 0; i < rows; i++)
		known += run->tables->tasks[i].occupancy.groups > 0;
	if (known == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "kernel on a unit", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "registers", TARE_COLUMN_RIGHT);
	tare_text_column(table, "local", TARE_COLUMN_RIGHT);
	tare_text_column(table, "at once", TARE_COLUMN_RIGHT);
	tare_text_column(table, "occupancy", TARE_COLUMN_RIGHT);
	tare_text_column(table, "limited by", TARE_COLUMN_CUT);
	tare_text_column(table, "full waves", TARE_COLUMN_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct tare_task *task = &run->tables->tasks[i];
		if (task->occupancy.groups == 0)
			continue;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s",
		               tare_report_cut(text, task->name, tare_report_room(text, 64), name));
		tare_report_device_cell(table, run, task->device);
		add_occupancy(table, run->recording, task);
	}
	status = tare_text_table_print(table);
	return status < 0 || text->options->verbosity < 0
	           ? status
	           : tare_text_paragraph(
	                 text, TARE_STYLE_FAINT, "  ", 3,
	                 "at once: groups that a unit holds; occupancy: these, of the work-items "
	                 "that "
	                 "it holds; full waves: groups over what all units hold at once");
}

// ---- sizes of one kernel, with -v

static int write_shapes(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_tables *tables = run->tables;
	struct tare_text_table *table;
	struct tare_report_unit total = tare_report_unit_of_totals(most_total(tables));
	struct tare_report_unit each = unit_of_each(tables, tables->task_count);
	char name[RUN_TEXT];

	if (tables->task_shape_count == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "kernel by size", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "work-items", TARE_COLUMN_RIGHT);
	tare_text_column(table, "group", TARE_COLUMN_RIGHT);
	tare_text_column(table, "n", TARE_COLUMN_RIGHT);
	add_time_column(table, "total", total);
	add_time_column(table, "median", each);
	for (size_t i = 0; i < tables->task_shape_count; i++) {
		const struct tare_task *row = &tables->task_shapes[i];
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s",
		               tare_report_cut(text, row->name, tare_report_room(text, 54), name));
		tare_report_device_cell(table, run, row->device);
		add_shape(table, run->recording, row);
		tare_text_cell(table, "%" PRIu64 "%s", row->instances,
		               row->timed < row->instances ? "*" : "");
		tare_text_cell(
		    table, "%s",
		    tare_report_time(row->timed ? (double)row->total_ns : NAN, total, name));
		tare_text_cell(table, "%s",
		               tare_report_time(row->timed ? row->median_ns : NAN, each, name));
	}
	return tare_text_table_print(table);
}

// ---- what the driver says, with -v

static void add_bytes(struct tare_text_table *table, uint64_t bytes, bool known)
{
	char text[TARE_UNIT_TEXT];

	tare_text_cell(table, "%s", known ? tare_format_bytes(bytes, text) : "–");
}

static int write_facts(const struct tare_text *text, const struct tare_report *run)
{
	const struct tare_recording *recording = run->recording;
	struct tare_text_table *table;
	size_t room = tare_report_room(text, 54), known = 0;
	char name[RUN_TEXT];

	for (size_t i = 0; i < run->tables->task_count; i++)
		known += run->tables->tasks[i].facts.kernel != TARE_NO_INDEX;
	if (known == 0)
		return 0;
	fputc('\n', text->file);
	table = tare_text_table_new(text, 2);
	tare_text_column(table, "kernel, as the driver says", TARE_COLUMN_CUT);
	tare_report_device_column(table, run);
	tare_text_column(table, "group at most", TARE_COLUMN_RIGHT);
	tare_text_column(table, "local", TARE_COLUMN_RIGHT);
	tare_text_column(table, "private", TARE_COLUMN_RIGHT);
	tare_text_column(table, "spilled", TARE_COLUMN_RIGHT);
	tare_text_column(table, "built with", TARE_COLUMN_CUT);
	for (size_t i = 0; i < run->tables->task_count; i++) {
		const struct tare_task *task = &run->tables->tasks[i];
		const struct tare_recorded_kernel_fact *facts = &task->facts;
		const char *built = "";
		if (facts->kernel == TARE_NO_INDEX)
			continue;
		if (task->kernel < recording->kernel_count &&
		    recording->kernels[task->kernel].program < recording->program_count)
			built = recording->programs[recording->kernels[task->kernel].program]
			            .build_options;
		tare_text_row(table, TARE_STYLE_PLAIN);
		tare_text_cell(table, "%s", tare_report_cut(text, task->name, room, name));
		tare_report_device_cell(table, run, task->device);
		if (facts->group_limit)
			tare_text_cell(table, "%" PRIu64, facts->group_limit);
		else
			tare_text_cell(table, "–");
		add_bytes(table, facts->local_bytes, facts->local_bytes != UINT64_MAX);
		add_bytes(table, facts->private_bytes, true);
		add_bytes(table, facts->spill_bytes, facts->spill_bytes != UINT64_MAX);
		tare_text_cell(table, "%s", tare_report_cut(text, built ? built : "", 30, name));
	}
	return tare_text_table_print(table);
}

int tare_report_text_tasks(const struct tare_text *text, const struct tare_report *run)
{
	size_t rows = shown(text, run->tables->task_count);
	int status;

	if (rows == 0)
		return 0;
	status = tare_report_heading(text, "Computing tasks", "device time");
	if (status == 0)
		status = write_times(text, run, rows);
	if (status == 0)
		status = tare_report_text_issued(text, run, true);
	if (status == 0)
		status = write_work(text, run, rows);
	if (status == 0)
		status = write_occupancy(text, run, rows);
	if (status == 0 && text->options->verbosity > 0)
		status = write_shapes(text, run);
	if (status == 0 && text->options->verbosity > 0)
		status = write_facts(text, run);
	return status;
}
