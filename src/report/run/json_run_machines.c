// SPDX-License-Identifier: Apache-2.0
// The devices, clocks and processes of a recorded run as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON

#include "report/core/words.h"

#include <math.h>

// A text that "" says is not known.
static json_t *text_or_null(const char *text)
{
	return text && text[0] ? tare_json_text(text) : json_null();
}

static bool in_view(const struct tare_report *run, uint32_t device)
{
	return tare_view_has_process(run->view, run->recording->devices[device].process) &&
	       tare_view_has_device(run->recording, run->view, device);
}

static void put_clock(struct tare_json *json, const struct tare_report *run, json_t *root)
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

static json_t *device_apis(struct tare_json *json, const struct tare_recording *recording,
                           uint32_t device)
{
	uint64_t apis = tare_report_device_apis(recording, device);
	json_t *list = json_array();

	for (uint32_t api = 0; api < TARE_TRACE_API_COUNT; api++)
		if (apis >> api & 1 && tare_report_api(api))
			tare_json_push(json, list, tare_json_text(tare_report_api(api)));
	return list;
}

// How devices that several APIs show were found to be one, and of which it could not be told.
static void put_same(struct tare_json *json, const struct tare_recording *recording,
                     uint32_t device, json_t *object)
{
	const char *by = tare_report_same_by(tare_report_joined_by(recording, device));
	uint32_t maybe = recording->devices[device].maybe_same;

	tare_json_put(json, object, "one_by", by ? tare_json_text(by) : json_null());
	tare_json_put(json, object, "maybe_same",
	              tare_json_index(maybe ? tare_report_device_number(recording, maybe - 1)
	                                    : TARE_NO_INDEX));
}

// Each different device once.
static json_t *managed(struct tare_json *json, struct tare_recorded_faults faults)
{
	json_t *object;

	if (!faults.known)
		return json_null();
	object = json_object();
	tare_json_put(json, object, "host_faults", tare_json_unsigned(faults.host_faults));
	tare_json_put(json, object, "device_faults", tare_json_unsigned(faults.device_faults));
	tare_json_put(json, object, "device_fault_groups",
	              tare_json_unsigned(faults.device_groups));
	tare_json_put(json, object, "thrashing", tare_json_unsigned(faults.thrashing));
	tare_json_put(json, object, "throttled", tare_json_unsigned(faults.throttled));
	tare_json_put(json, object, "throttled_ns", json_integer(faults.throttled_ns));
	tare_json_put(json, object, "remote_maps", tare_json_unsigned(faults.remote_maps));
	return object;
}

// Of commands of the view that were given to the whole device of which this one (a same_as) is a
// part.
static uint64_t count_parts(const struct tare_report *run, uint32_t device)
{
	const struct tare_recording *recording = run->recording;
	uint64_t count = 0;

	for (size_t i = 0; i < recording->part_count; i++) {
		const struct tare_recorded_part *part = &recording->parts[i];
		count +=
		    recording->devices[part->device].same_as == device &&
		    tare_view_has_process(run->view, recording->devices[part->device].process) &&
		    tare_view_has_moment(recording, run->view, part->start_ns);
	}
	return count;
}

static void put_sub_device(struct tare_json *json, const struct tare_report *run, uint32_t device,
                           json_t *object)
{
	uint32_t whole = run->recording->devices[device].sub_device_of;

	tare_json_put(json, object, "sub_device_of",
	              tare_json_index(whole ? tare_report_device_number(run->recording, whole - 1)
	                                    : TARE_NO_INDEX));
	tare_json_put(json, object, "parts", tare_json_unsigned(count_parts(run, device)));
}

static void put_devices(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_recording *recording = run->recording;
	json_t *list = json_array();

	for (uint32_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_device *device = &recording->devices[i];
		json_t *object;
		if (device->same_as != i || !tare_view_has_device(recording, run->view, i))
			continue;
		object = json_object();
		tare_json_put(json, object, "number",
		              tare_json_index(tare_report_device_number(recording, i)));
		tare_json_put(json, object, "name", tare_json_text(device->name));
		tare_json_put(json, object, "apis", device_apis(json, recording, i));
		put_same(json, recording, i, object);
		put_sub_device(json, run, i, object);
		tare_json_put(json, object, "platform", text_or_null(device->platform));
		tare_json_put(json, object, "vendor", text_or_null(device->vendor));
		tare_json_put(json, object, "driver_version", text_or_null(device->driver_version));
		tare_json_put(json, object, "type", tare_json_known(device->type));
		tare_json_put(json, object, "compute_units",
		              tare_json_known(device->compute_units));
		tare_json_put(json, object, "clock_hz", tare_json_known(device->clock_hz));
		tare_json_put(json, object, "memory_bytes", tare_json_known(device->memory_bytes));
		tare_json_put(json, object, "local_bytes", tare_json_known(device->local_bytes));
		tare_json_put(json, object, "group_limit", tare_json_known(device->group_limit));
		tare_json_put(json, object, "unified_memory", json_boolean(device->unified_memory));
		tare_json_put(json, object, "managed_memory",
		              managed(json, tare_device_faults(recording, run->view, i)));
		tare_json_put(json, object, "uuid", text_or_null(device->uuid));
		tare_json_put(json, object, "pci", text_or_null(device->pci));
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "devices", list);
}

static int64_t since_start(const struct tare_recording *recording, int64_t ns)
{
	return ns == TARE_NO_TIME ? TARE_NO_TIME : ns - recording->start_ns;
}

static size_t count_threads(const struct tare_recording *recording, size_t process)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->thread_count; i++)
		count += recording->threads[i].process == process && !recording->threads[i].helper;
	return count;
}

static void put_identity(struct tare_json *json, const struct tare_recorded_process *process,
                         json_t *object)
{
	bool ranked = process->rank != TARE_TRACE_NO_RANK;

	tare_json_put(json, object, "pid", tare_json_unsigned(process->pid));
	tare_json_put(json, object, "parent_pid", tare_json_known(process->parent_pid));
	tare_json_put(json, object, "rank",
	              ranked ? tare_json_unsigned(process->rank) : json_null());
	tare_json_put(json, object, "rank_count",
	              ranked ? tare_json_known(process->rank_count) : json_null());
	tare_json_put(json, object, "rank_from",
	              ranked ? text_or_null(process->rank_from) : json_null());
	tare_json_put(json, object, "host_name", text_or_null(process->host_name));
	tare_json_put(json, object, "executable", text_or_null(process->executable));
	tare_json_put(json, object, "command_line", text_or_null(process->command_line));
	tare_json_put(json, object, "state", tare_json_text(tare_report_state(process->state)));
	tare_json_put(json, object, "stop_reason",
	              tare_json_text(tare_report_stop(process->stop_reason)));
	tare_json_put(json, object, "strict", json_boolean(process->flags & TARE_TRACE_STRICT));
	tare_json_put(json, object, "forked", json_boolean(process->flags & TARE_TRACE_FORKED));
}

static void put_process(struct tare_json *json, const struct tare_recording *recording,
                        size_t number, json_t *object)
{
	const struct tare_recorded_process *process = &recording->processes[number];
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "lost_records", process->lost_records },
		{ "lost_commands", process->lost_commands },
		{ "recycled_records", process->recycled_records },
		{ "recycled_commands", process->recycled_commands },
		{ "passed_calls", process->passed_calls },
		{ "stalls", process->stalls },
		{ "damaged_windows", process->damaged_windows },
		{ "unknown_records", process->unknown_records },
	};

	tare_json_put(json, object, "number", json_integer((json_int_t)number));
	put_identity(json, process, object);
	// Nothing runs in no time: 0 is a clock that was not read before the process was gone.
	tare_json_put(json, object, "cpu_ns", tare_json_known(process->cpu_ns));
	tare_json_put(json, object, "helper_cpu_ns", tare_json_known(process->helper_cpu_ns));
	tare_json_put(json, object, "threads",
	              json_integer((json_int_t)count_threads(recording, number)));
	tare_json_put(json, object, "start_ns",
	              tare_json_time(since_start(recording, process->start_ns)));
	tare_json_put(json, object, "end_ns",
	              tare_json_time(since_start(recording, process->end_ns)));
	tare_json_put(json, object, "recorded_from_ns",
	              tare_json_time(since_start(recording, process->recorded_from_ns)));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		tare_json_put(json, object, counts[i].key, tare_json_unsigned(counts[i].value));
	tare_json_put(json, object, "problem", tare_json_text(process->problem));
}

static void put_processes(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->recording->process_count; i++) {
		json_t *object;
		if (!tare_view_has_process(run->view, (uint32_t)i))
			continue;
		object = json_object();
		put_process(json, run->recording, i, object);
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "processes", list);
}

void tare_json_put_machines(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	put_clock(json, run, root);
	put_devices(json, run, root);
	put_processes(json, run, root);
}

#endif
