// SPDX-License-Identifier: Apache-2.0
// Tables of what there was: processes, devices, kernels and so on. Those of processes outside of
// the view are left out.
#include "export/rows.h"

#include "report/core/words.h"
#include "report/run/report.h"

#include <inttypes.h>

#define INTEGER EXPORT_INTEGER
#define REAL EXPORT_REAL
#define TEXT EXPORT_TEXT

// ---- process

static const struct export_column export_process_columns[] = {
	{ "process", INTEGER },
	{ "pid", INTEGER },
	{ "parent_pid", INTEGER },
	{ "host", TEXT },
	{ "executable", TEXT },
	{ "command_line", TEXT },
	{ "rank", INTEGER },
	{ "state", TEXT },
	{ "start_ns", INTEGER },
	{ "end_ns", INTEGER },
	{ "recorded_from_ns", INTEGER },
	{ "came_to_exit", INTEGER },
	{ "cpu_ns", INTEGER },
	{ "recorder_cpu_ns", INTEGER },
	{ "clock_residual_ns", INTEGER },
	{ "lost_records", INTEGER },
	{ "lost_commands", INTEGER },
	{ "problem", TEXT },
};

static size_t count_processes(const struct rows *rows)
{
	return rows->recording->process_count;
}

static void put_process(struct rows *rows, size_t index)
{
	const struct tare_recorded_process *p = &rows->recording->processes[index];

	if (!tare_view_filter_has_process(rows->members, (uint32_t)index))
		return;
	rows_integer(rows, (int64_t)index);
	rows_unsigned(rows, p->pid);
	rows_known(rows, p->parent_pid);
	rows_name(rows, p->host_name);
	rows_name(rows, p->executable);
	rows_name(rows, p->command_line);
	rows_unsigned(rows, p->rank); // TARE_TRACE_NO_RANK is beyond what can be
	rows_text(rows, tare_report_state(p->state));
	rows_moment(rows, p->start_ns);
	rows_moment(rows, p->end_ns);
	rows_moment(rows, p->recorded_from_ns);
	rows_integer(rows, p->came_to_exit);
	rows_known(rows, p->cpu_ns);
	rows_unsigned(rows, p->helper_cpu_ns);
	rows_length(rows, p->host_residual_ns);
	rows_unsigned(rows, p->lost_records + p->recycled_records);
	rows_unsigned(rows, p->lost_commands + p->recycled_commands);
	rows_text(rows, p->problem);
	rows_end(rows);
}

EXPORT_TABLE(export_process, "process", true, count_processes, put_process);

// ---- thread

static const struct export_column export_thread_columns[] = {
	{ "thread", INTEGER }, { "process", INTEGER },     { "tid", INTEGER },
	{ "name", TEXT },      { "is_recorder", INTEGER },
};

static size_t count_threads(const struct rows *rows)
{
	return rows->recording->thread_count;
}

static void put_thread(struct rows *rows, size_t index)
{
	const struct tare_recorded_thread *t = &rows->recording->threads[index];

	if (!tare_view_filter_has_process(rows->members, t->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, t->process, rows->recording->process_count);
	rows_unsigned(rows, t->tid);
	rows_name(rows, t->name);
	rows_integer(rows, t->helper);
	rows_end(rows);
}

EXPORT_TABLE(export_thread, "thread", true, count_threads, put_thread);

// ---- device

static const struct export_column export_device_columns[] = {
	{ "device", INTEGER },         { "same_as", INTEGER },  { "number", INTEGER },
	{ "process", INTEGER },        { "name", TEXT },        { "api", TEXT },
	{ "platform", TEXT },          { "vendor", TEXT },      { "driver_version", TEXT },
	{ "compute_units", INTEGER },  { "clock_hz", INTEGER }, { "memory_bytes", INTEGER },
	{ "unified_memory", INTEGER }, { "clock", TEXT },       { "clock_residual_ns", INTEGER },
	{ "clock_drift_ppm", REAL },
};

static size_t count_devices(const struct rows *rows)
{
	return rows->recording->device_count;
}

static void put_device(struct rows *rows, size_t index)
{
	const struct tare_recorded_device *d = &rows->recording->devices[index];
	bool mapped = d->clock_source != TARE_CLOCK_NONE;

	if (!tare_view_has_device(rows->recording, rows->view, (uint32_t)index))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, d->same_as, rows->recording->device_count);
	rows_integer(rows, tare_report_device_number(rows->recording, (uint32_t)index));
	rows_index(rows, d->process, rows->recording->process_count);
	rows_name(rows, d->name);
	rows_text(rows, tare_report_api(d->api));
	rows_name(rows, d->platform);
	rows_name(rows, d->vendor);
	rows_name(rows, d->driver_version);
	rows_known(rows, d->compute_units);
	rows_known(rows, d->clock_hz);
	rows_known(rows, d->memory_bytes);
	rows_integer(rows, d->unified_memory);
	rows_text(rows, tare_report_clock(d->clock_source));
	rows_length(rows, mapped ? d->residual_ns : TARE_NO_TIME);
	if (mapped)
		rows_real(rows, d->drift_ppm);
	else
		rows_null(rows);
	rows_end(rows);
}

EXPORT_TABLE(export_device, "device", true, count_devices, put_device);

// ---- queue

static const struct export_column export_queue_columns[] = {
	{ "queue", INTEGER },           { "process", INTEGER },      { "device", INTEGER },
	{ "number", INTEGER },          { "out_of_order", INTEGER }, { "profiling", INTEGER },
	{ "profiling_added", INTEGER }, { "created_ns", INTEGER },
};

static size_t count_queues(const struct rows *rows)
{
	return rows->recording->queue_count;
}

// Devices of rows are the first of those that are the same, as in `command`.
static void rows_device(struct rows *rows, uint32_t device)
{
	const struct tare_recording *r = rows->recording;

	rows_index(rows, device < r->device_count ? r->devices[device].same_as : TARE_NO_INDEX,
	           r->device_count);
}

static void put_queue(struct rows *rows, size_t index)
{
	const struct tare_recorded_queue *q = &rows->recording->queues[index];

	if (!tare_view_filter_has_process(rows->members, q->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, q->process, rows->recording->process_count);
	rows_device(rows, q->device);
	rows_integer(rows, q->number);
	rows_integer(rows, q->out_of_order);
	rows_integer(rows, q->profiling);
	rows_integer(rows, q->profiling_added);
	rows_moment(rows, q->created_ns);
	rows_end(rows);
}

EXPORT_TABLE(export_queue, "queue", true, count_queues, put_queue);

// ---- program

static const struct export_column export_program_columns[] = {
	{ "program", INTEGER },      { "process", INTEGER },    { "source_hash", TEXT },
	{ "source_bytes", INTEGER }, { "build_options", TEXT }, { "build_error", INTEGER },
};

static size_t count_programs(const struct rows *rows)
{
	return rows->recording->program_count;
}

static void put_program(struct rows *rows, size_t index)
{
	const struct tare_recorded_program *p = &rows->recording->programs[index];
	char hash[24] = "";

	if (!tare_view_filter_has_process(rows->members, p->process))
		return;
	if (p->source_hash)
		snprintf(hash, sizeof hash, "%016" PRIx64, p->source_hash);
	rows_integer(rows, (int64_t)index);
	rows_index(rows, p->process, rows->recording->process_count);
	rows_name(rows, hash);
	rows_known(rows, p->source_bytes);
	rows_text(rows, p->build_options);
	rows_integer(rows, p->build_error);
	rows_end(rows);
}

EXPORT_TABLE(export_program, "program", true, count_programs, put_program);

// ---- kernel

static const struct export_column export_kernel_columns[] = {
	{ "kernel", INTEGER },
	{ "process", INTEGER },
	{ "program", INTEGER },
	{ "name", TEXT },
};

static size_t count_kernels(const struct rows *rows)
{
	return rows->recording->kernel_count;
}

static void put_kernel(struct rows *rows, size_t index)
{
	const struct tare_recorded_kernel *k = &rows->recording->kernels[index];

	if (!tare_view_filter_has_process(rows->members, k->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, k->process, rows->recording->process_count);
	rows_index(rows, k->program, rows->recording->program_count);
	rows_text(rows, k->name);
	rows_end(rows);
}

EXPORT_TABLE(export_kernel, "kernel", true, count_kernels, put_kernel);

// ---- memory

static const struct export_column export_memory_columns[] = {
	{ "memory", INTEGER },  { "process", INTEGER },    { "kind", TEXT },
	{ "flags", INTEGER },   { "bytes", INTEGER },      { "part_of", INTEGER },
	{ "context", INTEGER }, { "created_ns", INTEGER }, { "released_ns", INTEGER },
};

static size_t count_memories(const struct rows *rows)
{
	return rows->recording->memory_count;
}

static void put_memory(struct rows *rows, size_t index)
{
	const struct tare_recorded_memory *m = &rows->recording->memories[index];

	if (!tare_view_filter_has_process(rows->members, m->process))
		return;
	rows_integer(rows, (int64_t)index);
	rows_index(rows, m->process, rows->recording->process_count);
	rows_text(rows, tare_report_memory(m->kind));
	rows_unsigned(rows, m->flags);
	rows_unsigned(rows, m->bytes);
	rows_index(rows, m->parent, rows->recording->memory_count);
	rows_integer(rows, m->context);
	rows_moment(rows, m->created_ns);
	rows_moment(rows, m->released_ns);
	rows_end(rows);
}

EXPORT_TABLE(export_memory, "memory", true, count_memories, put_memory);

// ---- function

static const struct export_column export_function_columns[] = {
	{ "function", INTEGER },
	{ "name", TEXT },
	{ "role", TEXT },
};

static size_t count_functions(const struct rows *rows)
{
	return rows->recording->function_count;
}

static void put_function(struct rows *rows, size_t index)
{
	const struct tare_recorded_function *f = &rows->recording->functions[index];

	rows_integer(rows, (int64_t)index);
	rows_name(rows, f->name);
	rows_text(rows, tare_report_role(f->role));
	rows_end(rows);
}

EXPORT_TABLE(export_function, "function", true, count_functions, put_function);
