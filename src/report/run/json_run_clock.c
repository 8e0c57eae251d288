// SPDX-License-Identifier: Apache-2.0
// The clocks of a recorded run as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON

#include "report/core/words.h"

#include <math.h>

static bool in_view(const struct tare_report *run, uint32_t device)
{
	return tare_view_has_process(run->view, run->recording->devices[device].process) &&
	       tare_view_has_device(run->recording, run->view, device);
}

void tare_json_put_clock(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	json_t *object = json_object(), *list = json_array();
	int64_t worst = TARE_NO_TIME;

	for (size_t i = 0; i < recording->process_count; i++)
		if (tare_view_has_process(run->view, (uint32_t)i) &&
		    recording->processes[i].host_residual_ns > worst)
			worst = recording->processes[i].host_residual_ns;
	for (uint32_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		bool mapped = device->clock_source != TARE_CLOCK_NONE;
		json_t *entry;
		if (!in_view(run, i))
			continue;
		entry = json_object();
		tare_json_put(json, entry, "process", json_integer(device->process));
		tare_json_put_device(json, entry, recording, i);
		tare_json_put(json, entry, "source",
		              tare_json_text(tare_report_clock(device->clock_source)));
		tare_json_put(json, entry, "residual_ns",
		              mapped ? tare_json_time(device->residual_ns) : json_null());
		tare_json_put(json, entry, "drift_ppm",
		              mapped ? tare_json_number(device->drift_ppm) : json_null());
		tare_json_put(json, entry, "pairs", tare_json_unsigned(device->clock_pairs));
		tare_json_put(json, entry, "contradictions",
		              tare_json_unsigned(device->contradictions));
		tare_json_push(json, list, entry);
	}
	tare_json_put(json, object, "host_residual_ns", tare_json_time(worst));
	tare_json_put(json, object, "devices", list);
	tare_json_put(json, root, "clock", object);
}

#endif
