// SPDX-License-Identifier: Apache-2.0
// Computing tasks: how long they took, and how they fill the device.
#include "report/core/table_json.h"
#include "report/core/table_text.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

#include "base/units.h"

#include <inttypes.h>

#define TOP 10 // rows without -v

// The parts of the text, and what the rows of sizes have in the JSON.
enum {
	TIMES = TARE_ON_TEXT,
	WORK = TARE_ON_MORE,
	UNIT = TARE_ON_MORE << 1,
	SIZES = TARE_ON_MORE << 2,
	FACTS = TARE_ON_MORE << 3,
	OF_SIZES = TARE_ON_MORE << 4,
	EVERYWHERE = TARE_ON_PAGE | TIMES | WORK | UNIT | SIZES | FACTS
};

// ---- values

static uint32_t shape_index(const struct tare_task *task)
{
	return task->shape == TARE_NO_INDEX ? task->frequent_shape : task->shape;
}

// NULL: not known.
static const struct tare_recorded_shape *shape_of(const struct tare_report *run,
                                                  const struct tare_task *task)
{
	uint32_t index = shape_index(task);

	return index < run->recording->shape_count ? &run->recording->shapes[index] : NULL;
}

static struct tare_cell_value sizes_of(uint64_t x, uint64_t y, uint64_t z, uint32_t dimensions)
{
	return (struct tare_cell_value){ .is = TARE_IS_SIZES,
		                         .sizes = { { x, y, z }, dimensions } };
}

static struct tare_cell_value global_size(const struct tare_report *run,
                                          const struct tare_task *task)
{
	const struct tare_recorded_shape *shape = shape_of(run, task);

	return sizes_of(shape->global[0], shape->global[1], shape->global[2], shape->dimensions);
}

static struct tare_cell_value local_size(const struct tare_report *run,
                                         const struct tare_task *task)
{
	const struct tare_recorded_shape *shape = shape_of(run, task);

	return tare_if(
	    shape->local[0] != 0,
	    sizes_of(shape->local[0], shape->local[1], shape->local[2], shape->dimensions),
	    TARE_LEFT_TO_RUNTIME);
}

static struct tare_cell_value cluster_size(const struct tare_report *run,
                                           const struct tare_task *task)
{
	const struct tare_recorded_shape *shape = &run->recording->shapes[task->frequent_shape];

	return tare_if(shape->cluster[0] != 0,
	               sizes_of(shape->cluster[0], shape->cluster[1], shape->cluster[2], 3),
	               TARE_NOT_THERE);
}

static struct tare_cell_value local_bytes(const struct tare_report *run,
                                          const struct tare_task *task)
{
	return tare_unsigned(task->facts.fixed_local_bytes +
	                     run->recording->shapes[task->frequent_shape].local_bytes);
}

// 21 bits a dimension, the first one lowest.
static struct tare_cell_value compiled_group(uint64_t packed)
{
	return tare_if(
	    packed != 0,
	    sizes_of(packed & 0x1fffff, packed >> 21 & 0x1fffff, packed >> 42 & 0x1fffff, 3),
	    TARE_NOT_THERE);
}

static const struct tare_recorded_program *program_of(const struct tare_report *run,
                                                      const struct tare_task *task)
{
	const struct tare_recording *recording = run->recording;

	return task->kernel < recording->kernel_count
	           ? tare_run_program(run, recording->kernels[task->kernel].program)
	           : NULL;
}

// ---- groups of values

static bool has_work(const void *run, const void *task)
{
	return shape_of(run, task) != NULL;
}

static bool has_fill(const void *run, const void *row)
{
	const struct tare_task *task = row;

	(void)run;
	return isfinite(task->waves) && task->groups > 0;
}

static bool has_occupancy(const void *source, const void *row)
{
	const struct tare_report *run = source;
	const struct tare_task *task = row;

	return task->occupancy.groups > 0 && task->frequent_shape < run->recording->shape_count;
}

static bool has_facts(const void *run, const void *row)
{
	(void)run;
	return ((const struct tare_task *)row)->facts.kernel != TARE_NO_INDEX;
}

static const struct tare_column_group work = {
	"work", NULL, has_work, "the size of its work, the most frequent of several"
};
static const struct tare_column_group fill = { "fill", NULL, has_fill,
	                                       "how it fills the device, by model" };
static const struct tare_column_group occupancy = { "occupancy", NULL, has_occupancy,
	                                            "how many groups a unit holds at once" };
static const struct tare_column_group facts = { "facts", NULL, has_facts,
	                                        "what the driver says of the kernel" };

// ---- cells of their own

static const char *several_sizes(const void *run, const void *row)
{
	(void)run;
	return ((const struct tare_task *)row)->shapes > 1 ? "*" : "";
}

static const char *not_all_timed(const void *run, const void *row)
{
	const struct tare_task *task = row;

	(void)run;
	return task->timed < task->instances ? "*" : "";
}

static bool estimated_total(const struct tare_cell_text *cell)
{
	const struct tare_task *task = cell->row;

	return tare_run_estimate_cell(&task->estimate, task->total_ns, cell);
}

// They are known where the units are not.
static bool groups_alone(const struct tare_cell_text *cell)
{
	const struct tare_task *task = cell->row;

	if (task->groups)
		snprintf(cell->text, cell->size, "%" PRIu64, task->groups);
	return task->groups > 0;
}

// The preferred multiple of a group stands for it where that is all that the driver says.
static bool simd_width(const struct tare_cell_text *cell)
{
	const struct tare_recorded_kernel_fact *told =
	    &((const struct tare_task *)cell->row)->facts;

	if (told->kernel == TARE_NO_INDEX || told->sub_group || !told->preferred_multiple)
		return false;
	snprintf(cell->text, cell->size, "%" PRIu64, told->preferred_multiple);
	return true;
}

static bool limit_title(const struct tare_cell_text *cell)
{
	static const char *const titles[] = { [TARE_OCCUPANCY_ITEMS] = "–",
		                              [TARE_OCCUPANCY_REGISTERS] = "registers",
		                              [TARE_OCCUPANCY_LOCAL] = "local memory",
		                              [TARE_OCCUPANCY_GROUPS] = "number of groups" };
	const struct tare_occupancy *known = &((const struct tare_task *)cell->row)->occupancy;

	snprintf(cell->text, cell->size, "%s", known->share < 1 ? titles[known->limit] : "–");
	return true;
}

// ---- what is nested in the JSON

static struct json_t *by_shape(void *json, const void *run, const void *row);

#define SOURCE struct tare_occupancy
#define SOURCE_NAME occupied
#define ROW uint64_t
#define TABLE limits
#define COLUMNS "report/tables/limits.def"
#include "table/declare.h"
TARE_ROWS(limits, "limits", "Limits of occupancy", "a limit", TARE_OCCUPANCY_LIMITS, occupied->by);
#undef SOURCE
#undef SOURCE_NAME

#define TIMED(value) tare_if(row->timed > 0, value, TARE_NOT_TIMED)
#define DURATION(figure) TIMED(tare_number(row->figure, TARE_NOT_TIMED))
#define ESTIMATED(figure) tare_run_estimated(&row->estimate, row->estimate.figure)
#define TOLD_BYTES(bytes) tare_if((bytes) != UINT64_MAX, tare_unsigned(bytes), TARE_NOT_TOLD)
#define ESTIMATE                                                                                   \
	.flags = TARE_MAY_BE_ABSENT | TARE_IF_ANY, .on = TARE_ON_PAGE | OF_SIZES,                  \
	.unit = TARE_UNIT_TOTALS
#define EACH                                                                                       \
	.flags = TARE_MAY_BE_ABSENT, .on = TARE_ON_PAGE | TIMES | OF_SIZES, .unit = TARE_UNIT_EACH
#ifdef TARE_TASK_COLUMNS // a test's list, with one line more
#define COLUMNS TARE_TASK_COLUMNS
#else
#define COLUMNS "report/tables/tasks.def"
#endif
#define ROW struct tare_task
#include "report/tables/declare.h"

// ---- the tables

TARE_RUN_TABLE(tasks, "Computing tasks", "a kernel's name on a device, by total time",
               "No kernel was enqueued.", run->tables->task_count, &run->tables->tasks[index])

static size_t size_count(const void *run)
{
	return ((const struct tare_report *)run)->tables->task_shape_count;
}

static const void *size_row(const void *run, size_t index)
{
	return &((const struct tare_report *)run)->tables->task_shapes[index];
}

// The sizes of all tasks, with their columns.
static const struct tare_table by_size = {
	.columns = declared_columns,
	.column_count = sizeof declared_columns / sizeof *declared_columns,
	.count = size_count,
	.row = size_row,
};

#if TARE_HAVE_JSON
static struct json_t *by_shape(void *json, const void *source, const void *row)
{
	const struct tare_report *run = source;
	const struct tare_task *task = row;
	json_t *list = json_array();

	for (size_t i = 0; i < task->shape_rows && task->first_shape + i < size_count(run); i++)
		tare_json_push(json, list,
		               tare_table_row_json(json, &by_size, run,
		                                   size_row(run, task->first_shape + i), OF_SIZES));
	return list;
}

#else
static struct json_t *by_shape(void *json, const void *run, const void *row)
{
	(void)json, (void)run, (void)row;
	return NULL;
}

#endif

// ---- as text

static void write_rest(struct tare_text *text, const struct tare_tables *tables, size_t rows)
{
	uint64_t instances = 0, timed = 0;
	int64_t total = 0;
	char count[RUN_TEXT], time[TARE_UNIT_TEXT];

	if (rows == tables->task_count)
		return;
	for (size_t i = rows; i < tables->task_count; i++) {
		instances += tables->tasks[i].instances;
		timed += tables->tasks[i].timed;
		total += tables->tasks[i].total_ns;
	}
	tare_text_paragraph(
	    text, TARE_STYLE_PLAIN, "  ", 3, "and %zu more with %s instances, %s%s (-v lists them)",
	    tables->task_count - rows, tare_report_count(instances, count),
	    timed ? tare_format_ns((double)total, time) : "none timed", timed ? " together" : "");
}

static void write_times(struct tare_text *text, const struct tare_report *run, size_t rows)
{
	const struct tare_tables *tables = run->tables;
	bool devices = tare_report_several_devices(run), untimed = false, estimated = false;

	tare_table_text(
	    text, &tare_table_tasks, run,
	    &(struct tare_table_part){
	        .on = TIMES, .others = devices ? 60 : 55, .most = rows, .devices = devices });
	for (size_t i = 0; i < rows; i++) {
		untimed |= tables->tasks[i].timed < tables->tasks[i].instances;
		estimated |= tare_report_is_estimated(&tables->tasks[i].estimate);
	}
	if (untimed)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3,
		                    "* not all have device times: figures are of those that do%s",
		                    tare_report_estimate_remark(estimated));
	write_rest(text, tables, rows);
}

// A part of the table below an empty line, and what its columns mean.
static void write_part(struct tare_text *text, const struct tare_report *run,
                       const struct tare_table *table, struct tare_table_part part,
                       const char *star, const char *legend)
{
	if (tare_table_part_rows(table, run, &part) == 0)
		return;
	part.devices = tare_report_several_devices(run);
	fputc('\n', text->file);
	tare_table_text(text, table, run, &part);
	if (star)
		tare_text_paragraph(text, TARE_STYLE_PLAIN, "  ", 3, "%s", star);
	if (text->options->verbosity >= 0 && legend)
		tare_text_paragraph(text, TARE_STYLE_FAINT, "  ", 3, "%s", legend);
}

static void write_work(struct tare_text *text, const struct tare_report *run, size_t rows)
{
	bool any = false, several = false;

	for (size_t i = 0; i < rows; i++) {
		any |= run->tables->tasks[i].frequent_shape != TARE_NO_INDEX;
		several |= run->tables->tasks[i].shapes > 1;
	}
	if (!any)
		return;
	write_part(
	    text, run, &tare_table_tasks,
	    (struct tare_table_part){
	        .on = WORK, .others = tare_report_several_devices(run) ? 60 : 55, .most = rows },
	    several ? "* the most frequent of several sizes (-v lists them)" : NULL,
	    "waves: groups over compute units, by model; tail: what the last wave leaves empty; "
	    "SIMD: as the driver says; trend: the last runs against the first");
}

static void write_occupancy(struct tare_text *text, const struct tare_report *run, size_t rows)
{
	write_part(text, run, &tare_table_tasks,
	           (struct tare_table_part){ .on = UNIT,
	                                     .title = "kernel on a unit",
	                                     .others = 64,
	                                     .most = rows,
	                                     .keep = has_occupancy },
	           NULL,
	           "at once: groups that a unit holds; occupancy: these, of the work-items that it "
	           "holds; full waves: groups over what all units hold at once");
}

static void write_verbose(struct tare_text *text, const struct tare_report *run)
{
	write_part(text, run, &by_size,
	           (struct tare_table_part){ .on = SIZES, .title = "kernel by size", .others = 54 },
	           NULL, NULL);
	write_part(text, run, &tare_table_tasks,
	           (struct tare_table_part){ .on = FACTS,
	                                     .title = "kernel, as the driver says",
	                                     .others = 54,
	                                     .keep = has_facts },
	           NULL, NULL);
}

void tare_tasks_text(struct tare_text *text, const struct tare_report *run)
{
	size_t rows = tare_rows_shown(text, run->tables->task_count, TOP);

	if (rows == 0)
		return;
	tare_report_heading(text, tare_table_tasks.title, "device time");
	write_times(text, run, rows);
	tare_issued_text(text, run, true);
	write_work(text, run, rows);
	write_occupancy(text, run, rows);
	if (text->options->verbosity > 0)
		write_verbose(text, run);
}
