// SPDX-License-Identifier: Apache-2.0
#include "report/run/json_run.h"

#if TARE_HAVE_JSON
void tare_json_put_phases(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->phases->count; i++) {
		const struct tare_phase_row *row = &run->phases->rows[i];
		json_t *object = json_object(), *ledger = json_object();
		tare_json_put(json, object, "name", tare_json_text(row->name));
		tare_json_put(json, object, "domain",
		              row->domain[0] ? tare_json_text(row->domain) : json_null());
		tare_json_put(json, object, "parent",
		              row->parent == SIZE_MAX ? json_null()
		                                      : tare_json_unsigned(row->parent));
		tare_json_put(json, object, "count", tare_json_unsigned(row->count));
		tare_json_put(json, object, "unended", tare_json_unsigned(row->unended));
		tare_json_put(json, object, "total_ns", json_integer(row->total_ns));
		tare_json_put(json, object, "covered_ns", json_integer(row->covered_ns));
		tare_json_put(json, object, "median_ns", tare_json_number(row->median_ns));
		tare_json_put(json, object, "max_ns", tare_json_number(row->max_ns));
		tare_json_put(json, object, "commands", tare_json_unsigned(row->commands));
		tare_json_put(json, object, "kernels", tare_json_unsigned(row->kernels));
		tare_json_put(json, object, "kernel_ns", json_integer(row->kernel_ns));
		tare_json_put_ledger(json, ledger, &row->ledger);
		tare_json_put(json, object, "ledger", ledger);
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "phases", list);
	tare_json_put(json, root, "phases_left_out", tare_json_unsigned(run->phases->left_out));
}

#endif
