// SPDX-License-Identifier: Apache-2.0
// The header of the timeline: docs/page-run.md, "Header".
#include "report/core/table_json.h"
#include "report/core/words.h"
#include "report/page/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- lists of objects, as declared tables

static struct tare_cell_value since_start(const struct timeline *timeline, int64_t ns)
{
	return tare_if(ns != TARE_NO_TIME, tare_integer(ns - timeline->recording->start_ns),
	               TARE_NOT_KNOWN);
}

static struct tare_cell_value index_of(uint32_t index)
{
	return tare_if(index != TARE_NO_INDEX, tare_unsigned(index), TARE_NOT_KNOWN);
}

// Devices that are the same are one, in the order of their numbers.
static bool is_first_of_same(const void *timeline, const void *row)
{
	const struct tare_recording *recording = ((const struct timeline *)timeline)->recording;
	const struct tare_recorded_device *device = row;

	return &recording->devices[device->same_as] == device;
}

static struct tare_cell_value residual_of(const struct timeline *timeline,
                                          const struct tare_recorded_device *device)
{
	const struct tare_recording *recording = timeline->recording;
	int64_t residual_ns = TARE_NO_TIME;

	for (size_t i = 0; i < recording->device_count; i++)
		if (recording->devices[i].same_as == device->same_as &&
		    recording->devices[i].residual_ns > residual_ns)
			residual_ns = recording->devices[i].residual_ns;
	return tare_if(residual_ns != TARE_NO_TIME, tare_integer(residual_ns), TARE_NOT_KNOWN);
}

#define SOURCE struct timeline
#define SOURCE_NAME timeline
#define ROW struct tare_recorded_process
#define TABLE processes
#define COLUMNS "report/page/tables/processes.def"
#include "table/declare.h"
TARE_ROWS(processes, "processes", "Processes", "a process", timeline->recording->process_count,
          timeline->recording->processes);
#define ROW struct tare_recorded_thread
#define TABLE threads
#define COLUMNS "report/page/tables/threads.def"
#include "table/declare.h"
TARE_ROWS(threads, "threads", "Threads", "a thread", timeline->recording->thread_count,
          timeline->recording->threads);
#define ROW struct tare_recorded_device
#define TABLE devices
#define COLUMNS "report/page/tables/devices.def"
#include "table/declare.h"
TARE_ROWS(devices, "devices", "Devices", "a device", timeline->recording->device_count,
          timeline->recording->devices, .keep = is_first_of_same);
#define ROW struct tare_recorded_queue
#define TABLE queues
#define COLUMNS "report/page/tables/queues.def"
#include "table/declare.h"
TARE_ROWS(queues, "queues", "Queues", "a queue", timeline->recording->queue_count,
          timeline->recording->queues);
#define ROW struct tare_recorded_link
#define TABLE links
#define COLUMNS "report/page/tables/links.def"
#include "table/declare.h"
TARE_ROWS(links, "links", "Links", "two devices", timeline->recording->link_count,
          timeline->recording->links);
#define ROW struct tare_recorded_function
#define TABLE functions
#define COLUMNS "report/page/tables/functions.def"
#include "table/declare.h"
TARE_ROWS(functions, "functions", "Functions", "a function", timeline->recording->function_count,
          timeline->recording->functions);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_page_left_out
#define SOURCE_NAME left_out
#define ROW struct tare_page_left_out
#define TABLE left_out
#define COLUMNS "report/page/tables/left_out.def"
#include "table/declare.h"
TARE_ROWS(left_out, "left_out", "Left out", "all", left_out->why[0] ? 1 : 0, left_out);
#undef SOURCE
#undef SOURCE_NAME

static void put_lists(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	static const struct tare_table *const tables[] = { &processes_table, &threads_table,
		                                           &devices_table,   &queues_table,
		                                           &links_table,     &functions_table };

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		tare_json_put(json, root, tables[i]->id,
		              tare_table_json(json, tables[i], timeline));
}

// ---- what the run is

static json_t *moment(const struct timeline *timeline, int64_t ns)
{
	return tare_json_time(ns == TARE_NO_TIME ? ns : ns - timeline->recording->start_ns);
}

static void put_time(struct tare_json *json, const struct timeline *timeline, json_t *root)
{
	const struct tare_recording *recording = timeline->recording;

	tare_json_put(json, root, "run_ns", json_integer(recording->end_ns - recording->start_ns));
	tare_json_put(json, root, "from_ns", moment(timeline, timeline->run->view->from_ns));
	tare_json_put(json, root, "to_ns", moment(timeline, timeline->run->view->to_ns));
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

// ---- where the columns are

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
	put_lists(&json, timeline, root);
	put_words(&json, root);
	tare_json_put(&json, root, "left_out",
	              tare_table_object_json(&json, &left_out_table, left_out));
	put_tables(&json, layouts, root);
	if (!json.failed)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}
