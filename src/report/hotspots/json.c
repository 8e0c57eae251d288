// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/hotspots.h"

#include "report/core/json.h"

#include <errno.h>

#if TARE_HAVE_JSON

#include "analysis/hotspots/roles.h"
#include "report/hotspots/json_samples.h"
#include "report/hotspots/words.h"

#include <math.h>

static const char *const states[] = {
	[TARE_COUNTER_NOT_ASKED] = "not-asked",
	[TARE_COUNTER_COUNTED] = "counted",
	[TARE_COUNTER_NOT_ON_DEVICE] = "not-on-device",
	[TARE_COUNTER_NO_INSTANCE] = "no-instance",
	[TARE_COUNTER_NOT_TRUSTED] = "not-trusted",
	[TARE_COUNTER_REFUSED] = "refused",
	[TARE_COUNTER_IN_PART] = "in-part",
};

static const char *const uncounted[] = {
	[TARE_UNCOUNTED_NOT_CHOSEN] = "not-chosen",
	[TARE_UNCOUNTED_CAPTURED] = "captured",
	[TARE_UNCOUNTED_COOPERATIVE] = "cooperative",
	[TARE_UNCOUNTED_WAITS] = "waits",
	[TARE_UNCOUNTED_NOT_LAUNCHED] = "not-launched",
	[TARE_UNCOUNTED_FAILED] = "failed",
	[TARE_UNCOUNTED_NO_INSTRUCTIONS] = "no-instructions",
	[TARE_UNCOUNTED_OTHER_LAUNCHES] = "other-launches",
};

static const char *const units[] = {
	[TARE_COUNTER_UNIT_NS] = "ns",
	[TARE_COUNTER_UNIT_PERCENT] = "%",
	[TARE_COUNTER_UNIT_BYTES] = "B",
	[TARE_COUNTER_UNIT_COUNT] = "1",
};

static const char *const edge_keys[TARE_EDGES] = {
	[TARE_EDGE_REGISTERS_L1] = "registers-l1",
	[TARE_EDGE_L1_L2] = "l1-l2",
	[TARE_EDGE_L2_DEVICE] = "l2-device",
	[TARE_EDGE_HOST] = "host",
	[TARE_EDGE_PEER] = "peer",
};

// A number that is above 0, else null.
static json_t *positive(double value)
{
	return tare_json_number(value > 0 ? value : NAN);
}

static json_t *words(const char *text)
{
	return text && text[0] ? tare_json_text(text) : json_null();
}

static json_t *device_of(struct tare_json *json, const struct tare_counted_device *device)
{
	const struct {
		const char *key;
		double value;
	} rates[] = {
		{ "paper_memory_bytes_per_s", device->paper_memory_bytes_per_s },
		{ "measured_memory_bytes_per_s", device->measured_memory_bytes_per_s },
		{ "measured_l2_bytes_per_s", device->measured_l2_bytes_per_s },
		{ "measured_l1_bytes_per_s", device->measured_l1_bytes_per_s },
		{ "paper_fp16_flop_per_s", device->paper_fp16_flop_per_s },
		{ "measured_fp16_flop_per_s", device->measured_fp16_flop_per_s },
		{ "paper_fp32_flop_per_s", device->paper_fp32_flop_per_s },
		{ "measured_fp32_flop_per_s", device->measured_fp32_flop_per_s },
		{ "paper_fp64_flop_per_s", device->paper_fp64_flop_per_s },
		{ "measured_fp64_flop_per_s", device->measured_fp64_flop_per_s },
	};
	json_t *object = json_object();

	tare_json_put(json, object, "name", words(device->name));
	tare_json_put(json, object, "cores", tare_json_known(device->cores));
	tare_json_put(json, object, "no_counters", words(device->no_counters));
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		tare_json_put(json, object, rates[i].key, positive(rates[i].value));
	return object;
}

static json_t *bounds_of(struct tare_json *json, unsigned mask)
{
	json_t *list = json_array();

	for (enum tare_kernel_bound b = 0; b < TARE_KERNEL_BOUNDS; b++)
		if (mask & 1U << b)
			tare_json_push(json, list, tare_json_text(tare_kernel_bound_name(b)));
	return list;
}

static json_t *limits_of(struct tare_json *json, const struct tare_kernel_verdict *verdict)
{
	json_t *list = json_array();

	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
		const struct tare_limit *limit = &verdict->limits[b];
		json_t *object = json_object();
		tare_json_put(json, object, "limit", tare_json_text(tare_kernel_bound_name(b)));
		tare_json_put(json, object, "counter",
		              words(limit->known ? tare_counter_roles[limit->role].title : NULL));
		tare_json_put(json, object, "share",
		              tare_json_number(limit->known ? limit->share : NAN));
		tare_json_put(json, object, "low",
		              tare_json_number(limit->known ? limit->low : NAN));
		tare_json_put(json, object, "high",
		              tare_json_number(limit->known ? limit->high : NAN));
		tare_json_push(json, list, object);
	}
	return list;
}

static json_t *verdict_of(struct tare_json *json, const struct tare_hotspot *hotspot)
{
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;
	char text[HOTSPOT_TEXT];
	json_t *object = json_object(), *list = json_array();

	tare_json_put(json, object, "bound",
	              tare_json_text(tare_kernel_bound_name(verdict->bound)));
	tare_json_put(json, object, "decided", json_boolean(tare_kernel_verdict_decided(verdict)));
	tare_json_put(json, object, "possible", bounds_of(json, verdict->possible));
	tare_json_put(json, object, "missing", bounds_of(json, verdict->missing));
	tare_json_put(json, object, "next",
	              isnan(verdict->margin)
	                  ? json_null()
	                  : tare_json_text(tare_kernel_bound_name(verdict->next)));
	tare_json_put(json, object, "margin_points", tare_json_number(verdict->margin));
	tare_json_put(json, object, "limits", limits_of(json, verdict));
	tare_json_put(json, object, "short", words(tare_hotspot_bound_words(hotspot, text)));
	tare_json_put(json, object, "text", words(tare_hotspot_verdict_words(hotspot, text)));
	tare_json_put(json, object, "margin", words(tare_hotspot_margin_words(hotspot, text)));
	tare_json_put(json, object, "advice", words(tare_hotspot_advice_words(hotspot, text)));
	for (size_t i = 0; i < verdict->contradiction_count; i++)
		tare_json_push(
		    json, list,
		    words(tare_hotspot_contradiction_words(&verdict->contradictions[i], text)));
	tare_json_put(json, object, "contradictions", list);
	return object;
}

static json_t *edges_of(struct tare_json *json, const struct tare_hotspot *hotspot)
{
	json_t *list = json_array();

	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++) {
		const struct tare_edge_traffic *traffic = &hotspot->edges[edge];
		json_t *object = json_object();
		const char *remark = isnan(traffic->bytes)
		                         ? traffic->state == TARE_COUNTER_COUNTED
		                               ? "the counters contradict each other"
		                               : tare_counter_state_words(traffic->state)
		                         : tare_rate_origin_words(traffic->origin);
		tare_json_put(json, object, "edge", tare_json_text(edge_keys[edge]));
		tare_json_put(json, object, "name", tare_json_text(tare_edge_name(edge)));
		tare_json_put(json, object, "read_bytes", tare_json_number(traffic->read_bytes));
		tare_json_put(json, object, "write_bytes", tare_json_number(traffic->write_bytes));
		tare_json_put(json, object, "bytes", tare_json_number(traffic->bytes));
		tare_json_put(json, object, "bytes_per_s", tare_json_number(traffic->bytes_per_s));
		tare_json_put(json, object, "share", tare_json_number(traffic->share));
		tare_json_put(json, object, "measured_share",
		              tare_json_number(traffic->measured_share));
		tare_json_put(json, object, "over_compulsory",
		              tare_json_number(traffic->over_compulsory));
		tare_json_put(json, object, "flop_per_byte",
		              tare_json_number(hotspot->arithmetic.intensity[edge]));
		tare_json_put(json, object, "binding", json_boolean(traffic->binding));
		tare_json_put(json, object, "remark", words(remark));
		tare_json_push(json, list, object);
	}
	return list;
}

static json_t *values_of(struct tare_json *json, const struct tare_counted_kernel *kernel)
{
	json_t *object = json_object();

	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++) {
		const struct tare_counter_value *value = &kernel->values[role];
		json_t *one = json_object();
		tare_json_put(json, one, "state", tare_json_text(states[value->state]));
		tare_json_put(json, one, "mean", tare_json_number(value->mean));
		tare_json_put(json, one, "least", tare_json_number(value->least));
		tare_json_put(json, one, "most", tare_json_number(value->most));
		tare_json_put(json, one, "launches", tare_json_unsigned(value->launches));
		tare_json_put(json, one, "group", tare_json_unsigned(value->group));
		tare_json_put(json, object, tare_counter_roles[role].key, one);
	}
	return object;
}

static json_t *time_of(struct tare_json *json, const struct tare_core_time *time)
{
	json_t *object = json_object();

	tare_json_put(json, object, "active", tare_json_number(time->active));
	tare_json_put(json, object, "stalled", tare_json_number(time->stalled));
	tare_json_put(json, object, "idle", tare_json_number(time->idle));
	return object;
}

static json_t *arithmetic_of(struct tare_json *json, const struct tare_arithmetic *arithmetic)
{
	static const char *const kinds[TARE_FLOP_KINDS] = { "fp16", "fp32", "fp64" };
	json_t *object = json_object();

	tare_json_put(json, object, "flop", tare_json_number(arithmetic->total_flop));
	tare_json_put(json, object, "partial", json_boolean(arithmetic->partial));
	tare_json_put(json, object, "flop_per_s", tare_json_number(arithmetic->flop_per_s));
	tare_json_put(json, object, "kind", tare_json_text(kinds[arithmetic->most]));
	tare_json_put(json, object, "measured_share", tare_json_number(arithmetic->measured_share));
	tare_json_put(json, object, "remark", words(tare_rate_origin_words(arithmetic->origin)));
	return object;
}

static json_t *kernel_of(struct tare_json *json, const struct tare_hotspot *hotspot)
{
	const struct tare_counted_kernel *kernel = hotspot->kernel;
	json_t *object = json_object();
	char text[HOTSPOT_TEXT];
	const char *why = tare_uncounted_words(kernel->uncounted);

	tare_json_put(json, object, "name", tare_json_text(kernel->name));
	tare_json_put(json, object, "launches", tare_json_unsigned(kernel->launches));
	tare_json_put(json, object, "counted_launches",
	              tare_json_unsigned(kernel->counted_launches));
	tare_json_put(json, object, "other_sizes", tare_json_unsigned(kernel->other_sizes));
	tare_json_put(json, object, "unlike_launches", tare_json_unsigned(kernel->unlike_launches));
	tare_json_put(json, object, "unlike_ns", tare_json_unsigned(kernel->unlike_ns));
	tare_json_put(json, object, "like_ns", tare_json_known(kernel->like_ns));
	tare_json_put(json, object, "uncounted",
	              kernel->uncounted == TARE_UNCOUNTED_NONE
	                  ? json_null()
	                  : tare_json_text(uncounted[kernel->uncounted]));
	tare_json_put(json, object, "not_counted",
	              kernel->uncounted == TARE_UNCOUNTED_NONE ? json_null() : words(why));
	tare_json_put(json, object, "replayed", json_boolean(kernel->replayed));
	tare_json_put(json, object, "by_instructions", json_boolean(kernel->by_instructions));
	tare_json_put(json, object, "total_ns", tare_json_unsigned(kernel->total_ns));
	tare_json_put(json, object, "mean_ns", tare_json_known(kernel->mean_ns));
	tare_json_put(json, object, "share", tare_json_number(kernel->share));
	tare_json_put(json, object, "duration_ns", tare_json_number(hotspot->duration_ns));
	tare_json_put(json, object, "duration_counted", json_boolean(hotspot->duration_counted));
	tare_json_put(json, object, "compulsory_bytes", tare_json_known(kernel->compulsory_bytes));
	tare_json_put(json, object, "given", words(tare_hotspot_given_words(kernel, text)));
	tare_json_put(json, object, "occupancy_possible",
	              tare_json_number(kernel->occupancy_possible));
	tare_json_put(json, object, "occupancy_limit", words(kernel->occupancy_limit));
	tare_json_put(json, object, "lanes", tare_json_number(hotspot->lanes));
	tare_json_put(json, object, "cores", words(tare_hotspot_core_words(hotspot, text)));
	tare_json_put(json, object, "imbalance", tare_json_number(hotspot->imbalance));
	tare_json_put(json, object, "at_ceiling", tare_json_number(hotspot->gain.at_ceiling));
	tare_json_put(json, object, "at_next", tare_json_number(hotspot->gain.at_next));
	tare_json_put(json, object, "time", time_of(json, &hotspot->time));
	tare_json_put(json, object, "arithmetic", arithmetic_of(json, &hotspot->arithmetic));
	tare_json_put(json, object, "verdict", verdict_of(json, hotspot));
	tare_json_put(json, object, "edges", edges_of(json, hotspot));
	tare_json_put(json, object, "counters", values_of(json, kernel));
	return object;
}

static json_t *roles_of(struct tare_json *json)
{
	json_t *list = json_array();

	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++) {
		const struct tare_counter_role_row *row = &tare_counter_roles[role];
		json_t *object = json_object();
		tare_json_put(json, object, "key", tare_json_text(row->key));
		tare_json_put(json, object, "title", tare_json_text(row->title));
		tare_json_put(json, object, "unit", tare_json_text(units[row->unit]));
		tare_json_push(json, list, object);
	}
	return list;
}

static json_t *states_of(struct tare_json *json)
{
	json_t *object = json_object();

	for (enum tare_counter_state state = 0; state < TARE_COUNTER_STATES; state++)
		tare_json_put(json, object, states[state],
		              tare_json_text(tare_counter_state_words(state)));
	return object;
}

int tare_report_hotspots_json(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	struct tare_json json = { false };
	json_t *root = json_object(), *kernels = json_array();
	int code;

	tare_json_put(&json, root, "format", tare_json_text("tare.hotspots/1"));
	tare_json_put(&json, root, "version", tare_json_text(TARE_VERSION));
	tare_json_put(&json, root, "recorded_wall_ns", tare_json_known(run->recorded_wall_ns));
	tare_json_put(&json, root, "counted_wall_ns", tare_json_known(run->counted_wall_ns));
	tare_json_put(&json, root, "counting_ns", tare_json_known(run->counting_ns));
	tare_json_put(&json, root, "by_instructions", json_boolean(run->by_instructions));
	tare_json_put(&json, root, "device", device_of(&json, &run->device));
	tare_json_put(&json, root, "counters", roles_of(&json));
	tare_json_put(&json, root, "states", states_of(&json));
	tare_json_put(&json, root, "timeline",
	              run->samples ? tare_device_samples_json(&json, run->samples) : json_null());
	for (size_t i = 0; i < run->kernel_count; i++) {
		struct tare_hotspot hotspot;
		tare_hotspot_derive(&run->kernels[i], &run->device, &hotspot);
		tare_json_push(&json, kernels, kernel_of(&json, &hotspot));
	}
	tare_json_put(&json, root, "kernels", kernels);
	code = json.failed || !root ? -ENOMEM : tare_json_layout(root, file);
	json_decref(root);
	return code < 0 ? tare_fail(error, ENOMEM, "no memory for the JSON") : 0;
}

#else

int tare_report_hotspots_json(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error)
{
	(void)run;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#endif
