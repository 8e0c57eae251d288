// SPDX-License-Identifier: Apache-2.0
// The tables of a recorded run as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON

#include "report/core/table_json.h"
#include "report/core/words.h"
#include "report/tables/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define BUCKETS (sizeof((struct tare_transfer_row *)0)->sizes / sizeof(uint64_t))

// What was built: the hash of its source in hexadecimal, and with which options.
static void put_program(struct tare_json *json, json_t *object,
                        const struct tare_recorded_program *program)
{
	char hash[24] = "";

	if (program && program->source_hash)
		snprintf(hash, sizeof hash, "%016" PRIx64, program->source_hash);
	tare_json_put(json, object, "source_hash", hash[0] ? tare_json_text(hash) : json_null());
	tare_json_put(json, object, "build_options",
	              program && program->build_options ? tare_json_text(program->build_options)
	                                                : json_null());
}

// What all of a row took, estimated from a random sample of them.
static void put_estimate(struct tare_json *json, json_t *object,
                         const struct tare_estimate *estimate)
{
	bool known = estimate->unsampled > 0;

	tare_json_put(json, object, "unsampled", tare_json_unsigned(estimate->unsampled));
	tare_json_put(json, object, "estimated_total_ns",
	              tare_json_number(known ? estimate->ns : NAN));
	tare_json_put(json, object, "estimated_low_ns",
	              tare_json_number(known ? estimate->low_ns : NAN));
	tare_json_put(json, object, "estimated_high_ns",
	              tare_json_number(known ? estimate->high_ns : NAN));
}

// ---- transfers

static json_t *histogram(struct tare_json *json, const struct tare_transfer_row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < BUCKETS; i++) {
		json_t *bucket;
		if (row->sizes[i] == 0)
			continue;
		bucket = json_object();
		tare_json_put(json, bucket, "from_bytes",
		              json_integer(i ? INT64_C(64) << 2 * (i - 1) : 0));
		tare_json_put(json, bucket, "below_bytes",
		              i + 1 < BUCKETS ? json_integer(INT64_C(64) << 2 * i) : json_null());
		tare_json_put(json, bucket, "count", tare_json_unsigned(row->sizes[i]));
		tare_json_push(json, list, bucket);
	}
	return list;
}

static void put_transfer(struct tare_json *json, json_t *object,
                         const struct tare_transfer_row *row)
{
	bool timed = row->timed > 0;

	tare_json_put(json, object, "count", tare_json_unsigned(row->count));
	tare_json_put(json, object, "timed", tare_json_unsigned(row->timed));
	tare_json_put(json, object, "bytes", tare_json_unsigned(row->bytes));
	tare_json_put(json, object, "total_ns", timed ? json_integer(row->total_ns) : json_null());
	put_estimate(json, object, &row->estimate);
	tare_json_put(json, object, "exposed_ns",
	              timed ? json_integer(row->exposed_ns) : json_null());
	tare_json_put(json, object, "hidden_ns",
	              timed ? json_integer(row->hidden_ns) : json_null());
	tare_json_put(json, object, "bytes_per_second",
	              tare_json_number(timed ? row->bytes_per_second : NAN));
	tare_json_put(json, object, "median_bytes_per_second",
	              tare_json_number(timed ? row->median_bytes_per_second : NAN));
	tare_json_put(json, object, "ceiling_bytes_per_second",
	              tare_json_number(row->sized_ceiling));
	tare_json_put(json, object, "smallest_bytes",
	              row->count ? tare_json_unsigned(row->smallest) : json_null());
	tare_json_put(json, object, "largest_bytes",
	              row->count ? tare_json_unsigned(row->largest) : json_null());
	tare_json_put(json, object, "unaligned", tare_json_unsigned(row->unaligned));
	tare_json_put(json, object, "sizes", histogram(json, row));
}

static void put_transfers(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->tables->transfer_count; i++) {
		const struct tare_transfer_row *row = &run->tables->transfers[i];
		json_t *object = json_object();
		tare_json_put(json, object, "kind", tare_json_text(tare_report_kind(row->kind)));
		tare_json_put(json, object, "direction",
		              tare_json_text(tare_report_direction(row->direction)));
		tare_json_put(json, object, "memory",
		              tare_json_text(tare_report_memory(row->memory)));
		tare_json_put(json, object, "blocking", json_boolean(row->blocking));
		tare_json_put(json, object, "in_place", json_boolean(row->in_place));
		tare_json_put_device(json, object, run->recording, row->device);
		put_transfer(json, object, row);
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "transfers", list);
}

// ---- the host's side

static void put_api(struct tare_json *json, const struct tare_tables *tables, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tables->api_count; i++) {
		const struct tare_api_row *row = &tables->api[i];
		json_t *object = json_object();
		tare_json_put(json, object, "function", tare_json_text(row->function));
		tare_json_put(json, object, "api", tare_json_text(tare_report_api(row->api)));
		tare_json_put(json, object, "role", tare_json_text(tare_report_role(row->role)));
		tare_json_put(json, object, "count", tare_json_unsigned(row->count));
		tare_json_put(json, object, "failed", tare_json_unsigned(row->failed));
		tare_json_put(json, object, "nested", tare_json_unsigned(row->nested));
		tare_json_put(json, object, "total_ns", json_integer(row->total_ns));
		tare_json_put(json, object, "max_ns", json_integer(row->max_ns));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "api", list);
}

static void put_builds(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	json_t *list = json_array();

	for (size_t i = 0; i < run->tables->build_count; i++) {
		const struct tare_build *build = &run->tables->builds[i];
		json_t *object = json_object();
		tare_json_put(json, object, "function", tare_json_text(build->function));
		tare_json_put(json, object, "at_ns",
		              json_integer(build->at_ns - recording->start_ns));
		tare_json_put(json, object, "ns", json_integer(build->ns));
		tare_json_put(json, object, "error", json_integer(build->error));
		put_program(json, object,
		            build->program < recording->program_count
		                ? &recording->programs[build->program]
		                : NULL);
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "builds", list);
}

static void put_memory(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_memory_use *memory = &run->tables->memory;
	json_t *object = json_object();

	tare_json_put(json, object, "objects", tare_json_unsigned(memory->objects));
	tare_json_put(json, object, "bytes", tare_json_unsigned(memory->bytes));
	tare_json_put(json, object, "peak_bytes", tare_json_unsigned(memory->peak_bytes));
	tare_json_put(json, object, "peak_at_ns",
	              memory->peak_at_ns == TARE_NO_TIME
	                  ? json_null()
	                  : json_integer(memory->peak_at_ns - run->recording->start_ns));
	tare_json_put(json, object, "held_at_end", tare_json_unsigned(memory->held_at_end));
	tare_json_put(json, root, "memory", object);
}

// ---- queues

static json_t *causes(struct tare_json *json, const struct tare_queue_row *row)
{
	json_t *list = json_array();

	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++) {
		json_t *part;
		if (row->gap_causes_ns[c] == 0)
			continue;
		part = json_object();
		tare_json_put(json, part, "category", tare_json_text(tare_ledger_category_name(c)));
		tare_json_put(json, part, "ns", json_integer(row->gap_causes_ns[c]));
		tare_json_push(json, list, part);
	}
	return list;
}

static void put_queue(struct tare_json *json, json_t *object,
                      const struct tare_recording *recording, uint32_t index)
{
	const struct tare_recorded_queue *queue =
	    index < recording->queue_count ? &recording->queues[index] : NULL;

	tare_json_put(json, object, "process", queue ? json_integer(queue->process) : json_null());
	tare_json_put(json, object, "number", queue ? json_integer(queue->number) : json_null());
	tare_json_put_device(json, object, recording, queue ? queue->device : TARE_NO_INDEX);
	tare_json_put(json, object, "out_of_order",
	              queue ? json_boolean(queue->out_of_order) : json_null());
	tare_json_put(json, object, "profiling",
	              queue ? json_boolean(queue->profiling) : json_null());
	tare_json_put(json, object, "priority", json_integer(queue ? queue->priority : 0));
	tare_json_put(json, object, "profiling_added",
	              queue ? json_boolean(queue->profiling_added) : json_null());
}

static void put_queues(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->tables->queue_count; i++) {
		const struct tare_queue_row *row = &run->tables->queues[i];
		json_t *object = json_object();
		put_queue(json, object, run->recording, row->queue);
		tare_json_put(json, object, "commands", tare_json_unsigned(row->commands));
		tare_json_put(json, object, "timed", tare_json_unsigned(row->timed));
		tare_json_put(json, object, "busy_ns",
		              row->timed ? json_integer(row->busy_ns) : json_null());
		tare_json_put(json, object, "mean_depth", tare_json_number(row->mean_depth));
		tare_json_put(json, object, "max_depth", tare_json_known(row->max_depth));
		tare_json_put(json, object, "gaps_ns",
		              row->timed ? json_integer(row->gaps_ns) : json_null());
		tare_json_put(json, object, "gap_causes", causes(json, row));
		tare_json_put(json, object, "median_latency_ns",
		              tare_json_time(row->median_latency_ns));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "queues", list);
}

void tare_json_put_tables(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	for (size_t i = 0; tare_run_tables[i]; i++)
		tare_json_put(json, root, tare_run_tables[i]->id,
		              tare_table_json(json, tare_run_tables[i], run));
	put_transfers(json, run, root);
	put_api(json, run->tables, root);
	put_builds(json, run, root);
	put_memory(json, run, root);
	put_queues(json, run, root);
}

#endif
