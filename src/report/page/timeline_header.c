// SPDX-License-Identifier: Apache-2.0
// The header of the timeline: docs/page-run.md, "Header".
#include "report/core/json.h"
#include "report/core/words.h"
#include "report/page/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *since_start(const struct timeline *timeline, int64_t ns)
{
	return tare_json_time(ns == TARE_NO_TIME ? ns : ns - timeline->recording->start_ns);
}

static void put_time(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;

	tare_json_put(json, root, "run_ns", json_integer(recording->end_ns - recording->start_ns));
	tare_json_put(json, root, "from_ns", since_start(timeline, timeline->run->view->from_ns));
	tare_json_put(json, root, "to_ns", since_start(timeline, timeline->run->view->to_ns));
}

static void put_strings(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	json_t *list = json_array(), *kernels = json_array();

	for (size_t i = 0; i < timeline_string_count(timeline->strings); i++)
		tare_json_push(json, list,
		               tare_json_text(timeline_string_at(timeline->strings, i)));
	tare_json_put(json, root, "strings", list);
	for (size_t i = 0; i < timeline->recording->kernel_count; i++)
		tare_json_push(json, kernels, json_integer(timeline->kernel_name[i]));
	tare_json_put(json, root, "kernels", kernels);
}

static void put_processes(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;
	json_t *list = json_array(), *threads = json_array();

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct tare_recorded_process *process = &recording->processes[i];
		json_t *object = json_object();
		tare_json_put(json, object, "name", tare_json_text(process->executable));
		tare_json_put(json, object, "command_line", tare_json_text(process->command_line));
		tare_json_put(json, object, "host", tare_json_text(process->host_name));
		tare_json_put(json, object, "pid", tare_json_unsigned(process->pid));
		tare_json_put(json, object, "rank",
		              process->rank == TARE_TRACE_NO_RANK
		                  ? json_null()
		                  : tare_json_unsigned(process->rank));
		tare_json_put(json, object, "from_ns", since_start(timeline, process->start_ns));
		tare_json_put(json, object, "to_ns", since_start(timeline, process->end_ns));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "processes", list);
	for (size_t i = 0; i < recording->thread_count; i++) {
		const struct tare_recorded_thread *thread = &recording->threads[i];
		bool named = thread->name && thread->name[0];
		json_t *object = json_object();
		tare_json_put(json, object, "process", tare_json_index(thread->process));
		tare_json_put(json, object, "tid", tare_json_unsigned(thread->tid));
		tare_json_put(json, object, "name", tare_json_text(named ? thread->name : NULL));
		tare_json_put(json, object, "helper", json_boolean(thread->helper));
		tare_json_push(json, threads, object);
	}
	tare_json_put(json, root, "threads", threads);
}

// Devices that are the same are one, in the order of their numbers.
static void put_devices(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;
	json_t *list = json_array(), *queues = json_array();

	for (uint32_t i = 0; i < recording->device_count; i++) {
		json_t *object;
		int64_t residual_ns = TARE_NO_TIME;
		if (recording->devices[i].same_as != i)
			continue;
		for (size_t k = i; k < recording->device_count; k++)
			if (recording->devices[k].same_as == i &&
			    recording->devices[k].residual_ns > residual_ns)
				residual_ns = recording->devices[k].residual_ns;
		object = json_object();
		tare_json_put(json, object, "name", tare_json_text(recording->devices[i].name));
		tare_json_put(json, object, "residual_ns", tare_json_time(residual_ns));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "devices", list);
	for (size_t i = 0; i < recording->queue_count; i++) {
		const struct tare_recorded_queue *queue = &recording->queues[i];
		json_t *object = json_object();
		tare_json_put(json, object, "process", tare_json_index(queue->process));
		tare_json_put(json, object, "device",
		              tare_json_index(queue->device < recording->device_count
		                                  ? timeline->device_number[queue->device]
		                                  : TARE_NO_INDEX));
		tare_json_put(json, object, "number", json_integer(queue->number));
		tare_json_put(json, object, "out_of_order", json_boolean(queue->out_of_order));
		tare_json_put(json, object, "profiling", json_boolean(queue->profiling));
		tare_json_push(json, queues, object);
	}
	tare_json_put(json, root, "queues", queues);
}

// Pairs of devices that were copied between, by their numbers.
static void put_links(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;
	json_t *list = json_array();

	for (size_t i = 0; i < recording->link_count; i++) {
		const struct tare_recorded_link *link = &recording->links[i];
		json_t *object = json_object();
		tare_json_put(json, object, "from",
		              tare_json_index(timeline->device_number[link->source]));
		tare_json_put(json, object, "to",
		              tare_json_index(timeline->device_number[link->destination]));
		tare_json_put(json, object, "kind", tare_json_text(tare_report_link(link->kind)));
		tare_json_put(json, object, "count", tare_json_unsigned(link->count));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "links", list);
}

static void put_functions(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;
	json_t *list = json_array();

	for (size_t i = 0; i < recording->function_count; i++) {
		json_t *object = json_object();
		tare_json_put(json, object, "name", tare_json_text(recording->functions[i].name));
		tare_json_put(json, object, "role",
		              tare_json_text(tare_report_role(recording->functions[i].role)));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "functions", list);
}

// ---- words for the numbers of u8 columns

static const char *cause_name(uint32_t cause)
{
	return tare_ledger_category_name((enum tare_ledger_category)cause);
}

static const char *cause_title(uint32_t cause)
{
	return tare_ledger_category_title((enum tare_ledger_category)cause);
}

static const char *phase_source(uint32_t source)
{
	static const char *const words[] = {
		[TARE_PHASE_TARE] = "tare", [TARE_PHASE_ITT] = "ITT", [TARE_PHASE_NVTX] = "NVTX"
	};

	return words[source];
}

static const char *untimed(uint32_t why)
{
	switch (why) {
	case TARE_UNTIMED_REFUSED:
		return tare_report_unobserved(TARE_UNOBSERVED_REFUSED);
	case TARE_UNTIMED_FAILED:
		return tare_report_unobserved(TARE_UNOBSERVED_FAILED);
	case TARE_UNTIMED_ABANDONED:
		return tare_report_unobserved(TARE_UNOBSERVED_ABANDONED);
	case TARE_UNTIMED_NO_ROOM:
		return tare_report_unobserved(TARE_UNOBSERVED_NO_ROOM);
	case TARE_UNTIMED_NOT_SAMPLED:
		return tare_report_unobserved(TARE_UNOBSERVED_NOT_SAMPLED);
	case TARE_UNTIMED_REUSED:
		return tare_report_unobserved(TARE_UNOBSERVED_REUSED);
	case TARE_UNTIMED_NOT_ASKED:
		return tare_report_unobserved(TARE_UNOBSERVED_NOT_ASKED);
	default:
		return NULL;
	}
}

static void put_words(struct tare_json *json, json_t *root)
{
	static const struct {
		const char *key;
		uint32_t count;
		const char *(*word)(uint32_t number);
	} lists[] = {
		{ "kinds", TARE_KIND_KINDS, tare_report_kind },
		{ "directions", TARE_DIRECTION_HOST + 1, tare_report_direction },
		{ "memory_kinds", TARE_TRACE_MEMORY_MAPPED + 1, tare_report_memory },
		{ "roles", TARE_ROLE_COUNT, tare_report_role },
		{ "causes", TARE_LEDGER_CATEGORIES, cause_name },
		{ "cause_titles", TARE_LEDGER_CATEGORIES, cause_title },
		{ "untimed", TARE_UNTIMED_NOT_ASKED + 1, untimed },
		{ "phase_sources", TARE_PHASE_NVTX + 1, phase_source },
	};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		json_t *list = json_array();
		for (uint32_t k = 0; k < lists[i].count; k++)
			tare_json_push(json, list, tare_json_text(lists[i].word(k)));
		tare_json_put(json, root, lists[i].key, list);
	}
}

// ---- what is left out, and where the columns are

static void put_left_out(struct tare_json *json, const struct tare_page_left_out *left_out,
                         json_t *root)
{
	json_t *object = left_out->why[0] ? json_object() : json_null();

	if (left_out->why[0]) {
		tare_json_put(json, object, "commands", tare_json_unsigned(left_out->commands));
		tare_json_put(json, object, "waits", tare_json_unsigned(left_out->waits));
		tare_json_put(json, object, "calls", tare_json_unsigned(left_out->calls));
		tare_json_put(json, object, "callbacks", tare_json_unsigned(left_out->callbacks));
		tare_json_put(json, object, "phases", tare_json_unsigned(left_out->phases));
		tare_json_put(json, object, "gaps", tare_json_unsigned(left_out->gaps));
		tare_json_put(json, object, "why", tare_json_text(left_out->why));
	}
	tare_json_put(json, root, "left_out", object);
}

static json_t *column_json(struct tare_json *json, const struct timeline_column *column,
                           const struct timeline_layout *layout)
{
	static const char *const types[] = {
		[TIMELINE_VARINT] = "varint", [TIMELINE_DELTA] = "delta"
	};
	json_t *object = json_object();

	tare_json_put(json, object, "type",
	              tare_json_text(column->byte ? "u8" : types[layout->type]));
	tare_json_put(json, object, "offset", tare_json_unsigned(layout->offset));
	tare_json_put(json, object, "bytes", tare_json_unsigned(layout->bytes));
	tare_json_put(json, object, "count", tare_json_unsigned(layout->count));
	if (column->relative_to)
		tare_json_put(json, object, "relative_to", tare_json_text(column->relative_to));
	return object;
}

static void put_tables(struct tare_json *json, const timeline_layouts layouts, json_t *root)
{
	json_t *tables = json_object();

	for (size_t t = 0; t < TIMELINE_TABLES; t++) {
		const struct timeline_table *table = &timeline_tables[t];
		json_t *columns = json_object();
		for (size_t c = 0; c < TIMELINE_COLUMNS && table->columns[c].name; c++)
			tare_json_put(json, columns, table->columns[c].name,
			              column_json(json, &table->columns[c], &layouts[t][c]));
		tare_json_put(json, tables, table->name, columns);
	}
	tare_json_put(json, root, "tables", tables);
}

char *timeline_header(const struct timeline *timeline, const timeline_layouts layouts,
                      const struct tare_page_left_out *left_out)
{
	struct tare_json json = { false };
	json_t *root = json_object();
	char *text = NULL;

	put_time(&json, timeline, root);
	put_strings(&json, timeline, root);
	put_processes(&json, timeline, root);
	put_devices(&json, timeline, root);
	put_links(&json, timeline, root);
	put_functions(&json, timeline, root);
	put_words(&json, root);
	put_left_out(&json, left_out, root);
	put_tables(&json, layouts, root);
	if (!json.failed)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
