// SPDX-License-Identifier: Apache-2.0
// The tables of a recorded run as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON

#include "report/core/table_json.h"
#include "report/tables/tables.h"

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

void tare_json_put_tables(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	for (size_t i = 0; tare_run_tables[i]; i++)
		tare_json_put(json, root, tare_run_tables[i]->id,
		              tare_table_json(json, tare_run_tables[i], run));
	put_memory(json, run, root);
	tare_json_put(json, root, "phases_left_out", tare_json_unsigned(run->phases->left_out));
}

#endif
