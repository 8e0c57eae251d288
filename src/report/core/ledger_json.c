// SPDX-License-Identifier: Apache-2.0
// A ledger as JSON.
#include "report/core/json.h"
#include "report/core/words.h"

#if TARE_HAVE_JSON

static json_t *parts(struct tare_json *json, const int64_t *parts_ns)
{
	json_t *list = json_array();

	for (enum tare_ledger_category c = 0; c < TARE_LEDGER_CATEGORIES; c++) {
		json_t *part = json_object();
		tare_json_put(json, part, "category", tare_json_text(tare_ledger_category_name(c)));
		tare_json_put(json, part, "ns", json_integer(parts_ns[c]));
		tare_json_push(json, list, part);
	}
	return list;
}

static json_t *matrix(struct tare_json *json, const struct tare_ledger *ledger)
{
	json_t *list = json_array();

	for (enum tare_host_state host = 0; host < TARE_HOST_STATES; host++)
		for (enum tare_device_state device = 0; device < TARE_DEVICE_STATES; device++) {
			json_t *cell;
			if (ledger->matrix_ns[host][device] == 0)
				continue;
			cell = json_object();
			tare_json_put(json, cell, "host",
			              tare_json_text(tare_host_state_name(host)));
			tare_json_put(json, cell, "device",
			              tare_json_text(tare_device_state_name(device)));
			tare_json_put(json, cell, "ns",
			              json_integer(ledger->matrix_ns[host][device]));
			tare_json_push(json, list, cell);
		}
	return list;
}

void tare_json_put_ledger(struct tare_json *json, json_t *object, const struct tare_ledger *ledger)
{
	tare_json_put(json, object, "wall_ns", json_integer(ledger->wall_ns));
	tare_json_put(json, object, "parts", parts(json, ledger->parts_ns));
	tare_json_put(json, object, "ambiguous_ns", json_integer(ledger->ambiguous_ns));
	tare_json_put(json, object, "hidden_to_device_ns",
	              json_integer(ledger->hidden_to_device_ns));
	tare_json_put(json, object, "hidden_from_device_ns",
	              json_integer(ledger->hidden_from_device_ns));
	tare_json_put(json, object, "matrix", matrix(json, ledger));
}

#endif
