// SPDX-License-Identifier: Apache-2.0
#include "report/core/json.h"

#if TARE_HAVE_JSON

json_t *tare_json_time(int64_t ns)
{
	return ns == TARE_NO_TIME ? json_null() : json_integer(ns);
}

json_t *tare_json_index(uint32_t index)
{
	return index == TARE_NO_INDEX ? json_null() : json_integer(index);
}

json_t *tare_json_known(uint64_t value)
{
	return value ? tare_json_unsigned(value) : json_null();
}

void tare_json_put_device(struct tare_json *json, json_t *object,
                          const struct tare_recording *recording, uint32_t device)
{
	tare_json_put(json, object, "device",
	              device < recording->device_count
	                  ? tare_json_text(recording->devices[device].name)
	                  : json_null());
	tare_json_put(json, object, "device_number",
	              tare_json_index(tare_report_device_number(recording, device)));
}

#endif
