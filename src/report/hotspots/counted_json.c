// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/counted_report.h"

#include "report/run/json_run.h"
#include "tare_config.h"

#include <errno.h>
#include <string.h>

static const char *const keys[TARE_COUNTER_ROLES] = {
	[TARE_COUNTER_DURATION_NS] = "duration_ns",
	[TARE_COUNTER_CORES_ACTIVE_SHARE] = "cores_active_share",
	[TARE_COUNTER_ISSUE_SHARE] = "issue_share",
	[TARE_COUNTER_OCCUPANCY_SHARE] = "occupancy_share",
	[TARE_COUNTER_ELIGIBLE_SHARE] = "eligible_share",
	[TARE_COUNTER_INSTRUCTIONS] = "instructions",
	[TARE_COUNTER_LANE_INSTRUCTIONS] = "lane_instructions",
	[TARE_COUNTER_FLOP_FP16] = "flop_fp16",
	[TARE_COUNTER_FLOP_FP32] = "flop_fp32",
	[TARE_COUNTER_FLOP_FP64] = "flop_fp64",
	[TARE_COUNTER_PIPE_ALU_SHARE] = "pipe_alu_share",
	[TARE_COUNTER_PIPE_FMA_SHARE] = "pipe_fma_share",
	[TARE_COUNTER_PIPE_FP64_SHARE] = "pipe_fp64_share",
	[TARE_COUNTER_PIPE_TENSOR_SHARE] = "pipe_tensor_share",
	[TARE_COUNTER_PIPE_SPECIAL_SHARE] = "pipe_special_share",
	[TARE_COUNTER_PIPE_MEMORY_SHARE] = "pipe_memory_share",
	[TARE_COUNTER_L1_SHARE] = "l1_share",
	[TARE_COUNTER_L1_BYTES] = "l1_bytes",
	[TARE_COUNTER_L1_HIT_SHARE] = "l1_hit_share",
	[TARE_COUNTER_SHARED_WAVEFRONTS] = "shared_wavefronts",
	[TARE_COUNTER_L2_SHARE] = "l2_share",
	[TARE_COUNTER_L1_READ_BYTES] = "l1_read_bytes",
	[TARE_COUNTER_L1_WRITE_BYTES] = "l1_write_bytes",
	[TARE_COUNTER_L2_BYTES] = "l2_bytes",
	[TARE_COUNTER_L2_HIT_SHARE] = "l2_hit_share",
	[TARE_COUNTER_DEVICE_MEMORY_SHARE] = "device_memory_share",
	[TARE_COUNTER_DEVICE_READ_BYTES] = "device_read_bytes",
	[TARE_COUNTER_DEVICE_WRITE_BYTES] = "device_write_bytes",
	[TARE_COUNTER_HOST_READ_BYTES] = "host_read_bytes",
	[TARE_COUNTER_HOST_WRITE_BYTES] = "host_write_bytes",
	[TARE_COUNTER_PEER_READ_BYTES] = "peer_read_bytes",
	[TARE_COUNTER_PEER_WRITE_BYTES] = "peer_write_bytes",
	[TARE_COUNTER_CORE_ACTIVE_LEAST] = "core_active_least",
	[TARE_COUNTER_CORE_ACTIVE_MEAN] = "core_active_mean",
	[TARE_COUNTER_CORE_ACTIVE_MOST] = "core_active_most",
	[TARE_COUNTER_ELIGIBLE_WARPS] = "eligible_warps",
	[TARE_COUNTER_L2_MISS_BYTES] = "l2_miss_bytes",
	[TARE_COUNTER_L2_TO_L1_SHARE] = "l2_to_l1_share",
};

const char *tare_counted_key(enum tare_counter_role role)
{
	return keys[role];
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
			tare_json_put(json, values, keys[i], value_json(json, &kernel->values[i]));
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
