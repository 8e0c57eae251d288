// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/counted_report.h"

#include "analysis/hotspots/roles.h"
#include "report/core/json.h"
#include "tare_config.h"

#include <errno.h>
#include <string.h>

const char *tare_counted_key(enum tare_counter_role role)
{
	return tare_counter_roles[role].key;
}

#if TARE_HAVE_JSON
static const char *const states[] = {
	[TARE_COUNTER_NOT_ASKED] = "not_asked",         [TARE_COUNTER_COUNTED] = "counted",
	[TARE_COUNTER_NOT_ON_DEVICE] = "not_on_device", [TARE_COUNTER_NO_INSTANCE] = "no_instance",
	[TARE_COUNTER_NOT_TRUSTED] = "not_trusted",     [TARE_COUNTER_REFUSED] = "refused",
};
static const char *const reasons[] = {
	[TARE_UNCOUNTED_NOT_CHOSEN] = "not_chosen",     [TARE_UNCOUNTED_CAPTURED] = "captured",
	[TARE_UNCOUNTED_COOPERATIVE] = "cooperative",   [TARE_UNCOUNTED_WAITS] = "waits",
	[TARE_UNCOUNTED_NOT_LAUNCHED] = "not_launched", [TARE_UNCOUNTED_FAILED] = "failed",
};

static json_t *value_json(struct tare_json *json, const struct tare_counter_value *value)
{
	json_t *object = json_object();

	tare_json_put(json, object, "state", json_string(states[value->state]));
	tare_json_put(json, object, "mean", tare_json_number(value->mean));
	tare_json_put(json, object, "least", tare_json_number(value->least));
	tare_json_put(json, object, "most", tare_json_number(value->most));
	tare_json_put(json, object, "launches", tare_json_unsigned(value->launches));
	tare_json_put(json, object, "group", tare_json_unsigned(value->group));
	return object;
}

static json_t *kernel_json(struct tare_json *json, const struct tare_counted_kernel *kernel)
{
	json_t *object = json_object(), *values = json_object();

	tare_json_put(json, object, "name", tare_json_text(kernel->name));
	tare_json_put(json, object, "launches", tare_json_unsigned(kernel->launches));
	tare_json_put(json, object, "counted_launches",
	              tare_json_unsigned(kernel->counted_launches));
	tare_json_put(json, object, "total_ns", tare_json_unsigned(kernel->total_ns));
	tare_json_put(json, object, "mean_ns", tare_json_known(kernel->mean_ns));
	tare_json_put(json, object, "share", tare_json_number(kernel->share));
	tare_json_put(json, object, "compulsory_bytes", tare_json_known(kernel->compulsory_bytes));
	tare_json_put(json, object, "occupancy_possible",
	              tare_json_number(kernel->occupancy_possible));
	tare_json_put(json, object, "occupancy_limit",
	              kernel->occupancy_limit ? tare_json_text(kernel->occupancy_limit)
	                                      : json_null());
	tare_json_put(json, object, "replayed", json_boolean(kernel->replayed));
	tare_json_put(json, object, "uncounted",
	              kernel->uncounted == TARE_UNCOUNTED_NONE
	                  ? json_null()
	                  : json_string(reasons[kernel->uncounted]));
	for (size_t i = 0; kernel->uncounted == TARE_UNCOUNTED_NONE && i < TARE_COUNTER_ROLES; i++)
		if (kernel->values[i].state != TARE_COUNTER_NOT_ASKED)
			tare_json_put(json, values, tare_counter_roles[i].key,
			              value_json(json, &kernel->values[i]));
	tare_json_put(json, object, "values", values);
	return object;
}

static json_t *device_json(struct tare_json *json, const struct tare_counted_device *device)
{
	json_t *object = json_object();

	tare_json_put(json, object, "name",
	              device->name ? tare_json_text(device->name) : json_null());
	tare_json_put(json, object, "cores", tare_json_known(device->cores));
	tare_json_put(json, object, "no_counters",
	              device->no_counters ? tare_json_text(device->no_counters) : json_null());
	return object;
}

int tare_report_counted_json(const struct tare_counted_run *run, FILE *file,
                             struct tare_error *error)
{
	struct tare_json json = { false };
	json_t *root = json_object(), *kernels = json_array();
	int status = -ENOMEM;

	tare_json_put(&json, root, "format", json_string("tare.counted/1"));
	tare_json_put(&json, root, "source", json_string("counter"));
	tare_json_put(&json, root, "device", device_json(&json, &run->device));
	tare_json_put(&json, root, "recorded_wall_ns", tare_json_unsigned(run->recorded_wall_ns));
	tare_json_put(&json, root, "counted_wall_ns", tare_json_unsigned(run->counted_wall_ns));
	tare_json_put(&json, root, "counting_ns", tare_json_unsigned(run->counting_ns));
	for (size_t i = 0; i < run->kernel_count; i++)
		tare_json_push(&json, kernels, kernel_json(&json, &run->kernels[i]));
	tare_json_put(&json, root, "kernels", kernels);
	if (!json.failed)
		status = tare_json_layout(root, file);
	json_decref(root);
	return status == -ENOMEM ? tare_fail(error, ENOMEM, "out of memory") : status;
}
#else
int tare_report_counted_json(const struct tare_counted_run *run, FILE *file,
                             struct tare_error *error)
{
	(void)run, (void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON (jansson)");
}
#endif
