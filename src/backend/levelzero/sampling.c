// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a whole device over time, by a metric streamer: the driver writes reports
// into a buffer by itself, and they are read from there now and then.
#include "backend/levelzero/internal.h"
#include "guest/levelzero/counters/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS_MOST = 256, GROUPS_MOST = 128 };
// Of a metric's places in a report.
enum { NOT_THERE = METRICS_MOST };
// The metric that says when a report began, in nanoseconds of the device's clock.
#define BEGIN_NAME "QueryBeginTime"

// What is sampled, from one metric or two that are added. Shares are of the elapsed time.
static const struct {
	uint16_t counter; // enum tare_trace_counter
	enum count_metric first, second;
} rows[] = {
	{ TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE, COUNT_ACTIVE, COUNT_STALLED },
	{ TARE_TRACE_COUNTER_INSTRUCTION_SHARE, COUNT_ACTIVE, COUNT_ACTIVE },
	{ TARE_TRACE_COUNTER_MATRIX_SHARE, COUNT_MATRIX, COUNT_MATRIX },
	{ TARE_TRACE_COUNTER_DEVICE_READ_BYTES, COUNT_MEMORY_READ, COUNT_MEMORY_READ },
	{ TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES, COUNT_MEMORY_WRITTEN, COUNT_MEMORY_WRITTEN },
};
enum { ROWS = sizeof rows / sizeof *rows };

// A group of metrics, with the place of each that is wanted.
struct group {
	zet_metric_group_handle_t handle;
	uint32_t count, begin;
	uint32_t places[COUNT_METRIC_KINDS];
	uint32_t doubts[METRICS_MOST], doubt_count;
	uint64_t tells; // bits 1 << row
};

static struct {
	struct levelzero_device *device; // NULL: not open
	struct group group;
	uint64_t interval_ns;
	bool active;
	zet_metric_streamer_handle_t streamer;
	uint8_t *raw;
	size_t raw_bytes;
	zet_typed_value_t *values;
	uint32_t value_room;
} self;

static void ask_to_count(void)
{
	setenv("ZET_ENABLE_METRICS", "1", 0);
}

// ---- which group

static void find_place(struct group *group, const zet_metric_properties_t *metric, uint32_t place)
{
	uint8_t kind = count_metric_named(metric->name, metric->resultUnits);

	if (strcmp(metric->name, BEGIN_NAME) == 0)
		group->begin = place;
	else if (kind == COUNT_DOUBT)
		group->doubts[group->doubt_count++] = place;
	else if (kind < COUNT_METRIC_KINDS && group->places[kind] == NOT_THERE)
		group->places[kind] = place;
}

static ze_result_t read_group(const struct levelzero_functions *call, struct group *group)
{
	zet_metric_handle_t metrics[METRICS_MOST];
	uint32_t count = 0;
	ze_result_t result = call->zetMetricGet(group->handle, &count, NULL);

	group->begin = NOT_THERE;
	for (size_t kind = 0; kind < COUNT_METRIC_KINDS; kind++)
		group->places[kind] = NOT_THERE;
	if (result != ZE_RESULT_SUCCESS || count > METRICS_MOST)
		return result;
	result = call->zetMetricGet(group->handle, &count, metrics);
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++) {
		zet_metric_properties_t properties = { .stype =
			                                   ZET_STRUCTURE_TYPE_METRIC_PROPERTIES };
		result = call->zetMetricGetProperties(metrics[i], &properties);
		properties.name[sizeof properties.name - 1] = '\0';
		properties.resultUnits[sizeof properties.resultUnits - 1] = '\0';
		find_place(group, &properties, i);
	}
	group->count = count;
	// Without them it is not known when a sample was.
	if (group->begin == NOT_THERE || group->places[COUNT_TIME] == NOT_THERE)
		return result;
	for (size_t row = 0; row < ROWS; row++)
		if (group->places[rows[row].first] != NOT_THERE &&
		    group->places[rows[row].second] != NOT_THERE)
			group->tells |= UINT64_C(1) << row;
	return result;
}

// The one that tells most.
static int choose_group(struct tare_error *error)
{
	const struct levelzero_functions *call = &self.device->driver->call;
	zet_metric_group_handle_t handles[GROUPS_MOST];
	uint32_t count = 0;
	ze_result_t result = call->zetMetricGroupGet(self.device->place.device, &count, NULL);

	count = count < GROUPS_MOST ? count : GROUPS_MOST;
	if (result == ZE_RESULT_SUCCESS && count)
		result = call->zetMetricGroupGet(self.device->place.device, &count, handles);
	for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++) {
		zet_metric_group_properties_t properties = {
			.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES
		};
		struct group group = { .handle = handles[i] };
		result = call->zetMetricGroupGetProperties(handles[i], &properties);
		if (result != ZE_RESULT_SUCCESS ||
		    !(properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED))
			continue;
		result = read_group(call, &group);
		if (__builtin_popcountll(group.tells) > __builtin_popcountll(self.group.tells))
			self.group = group;
	}
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zetMetricGroupGet", error,
		                      "the driver lists no metric groups");
	if (!self.group.tells)
		return tare_fail(error, ENOTSUP,
		                 "the driver lists no counters over time that are known here: "
		                 "Intel's does with its metrics-discovery and metrics-library "
		                 "(libigdmd, libigdml), where ZET_ENABLE_METRICS is not 0; `tare "
		                 "devices --counters` shows what there is");
	return 0;
}

static void sampler_close(struct tare_device *device)
{
	const struct levelzero_functions *call = &((struct levelzero_device *)device)->driver->call;

	if (self.streamer)
		call->zetMetricStreamerClose(self.streamer);
	if (self.active)
		call->zetContextActivateMetricGroups(self.device->context,
		                                     self.device->place.device, 0, NULL);
	free(self.raw);
	free(self.values);
	memset(&self, 0, sizeof self);
}

static int sampler_open(struct tare_device *device, uint64_t interval_ns,
                        struct tare_sampled_set *set, struct tare_error *error)
{
	struct levelzero_device *own = (struct levelzero_device *)device;
	const struct levelzero_functions *call = &own->driver->call;
	int status;

	*set = (struct tare_sampled_set){ 0 };
	if (self.device)
		return tare_fail(error, EBUSY, "a device is sampled already");
	if (!call->zetMetricGroupGet || !call->zetMetricGroupGetProperties || !call->zetMetricGet ||
	    !call->zetMetricGetProperties || !call->zetContextActivateMetricGroups ||
	    !call->zetMetricStreamerOpen || !call->zetMetricStreamerClose ||
	    !call->zetMetricStreamerReadData || !call->zetMetricGroupCalculateMetricValues)
		return tare_fail(error, ENOTSUP, "the Level Zero loader has no metric streamers");
	if (!own->context)
		return tare_fail(error, ENOTSUP, "the driver has no context of this device");
	self.device = own;
	self.interval_ns = interval_ns;
	status = choose_group(error);
	for (size_t row = 0; row < ROWS && status == 0; row++)
		if (self.group.tells >> row & 1)
			set->counters[set->count++] = rows[row].counter;
		else
			set->absent |= UINT64_C(1) << rows[row].counter;
	if (status < 0)
		memset(&self, 0, sizeof self);
	return status;
}

// ---- the clock

// Ticks in nanoseconds: reports say theirs in these.
static uint64_t in_ns(const struct tare_clock_rate *rate, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * rate->hz_denominator * 1000000000u /
	                  rate->hz_numerator);
}

static int sampler_clock(struct tare_device *device, struct tare_clock_pair *pair,
                         struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	struct tare_clock_rate rate;
	int status = backend->clock_pair(device, pair, error);

	status = status ?: backend->clock_rate(device, TARE_CLOCK_PAIRS, &rate, error);
	if (status == 0)
		pair->device.ticks = in_ns(&rate, pair->device.ticks);
	return status;
}

// ---- samples

static int sampler_start(struct tare_device *device, struct tare_error *error)
{
	const struct levelzero_functions *call = &self.device->driver->call;
	zet_metric_streamer_desc_t description = { .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
		                                   .notifyEveryNReports = 4096,
		                                   .samplingPeriod = (uint32_t)self.interval_ns };
	ze_result_t result;

	(void)device;
	result = call->zetContextActivateMetricGroups(
	    self.device->context, self.device->place.device, 1, &self.group.handle);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zetContextActivateMetricGroups", error,
		                      "the device's counters cannot be switched on");
	self.active = true;
	result = call->zetMetricStreamerOpen(self.device->context, self.device->place.device,
	                                     self.group.handle, &description, NULL, &self.streamer);
	if (result == ZE_RESULT_SUCCESS)
		return 0;
	self.streamer = NULL;
	return levelzero_fail(result, "zetMetricStreamerOpen", error,
	                      "the device's counters cannot be read over time");
}

static void show_report(const zet_typed_value_t *values, const struct tare_sample_visitor *visitor)
{
	const struct group *group = &self.group;
	double begin_ns = count_number(&values[group->begin]), numbers[TARE_SAMPLED_MOST];
	double ns = count_number(&values[group->places[COUNT_TIME]]);
	uint64_t exact = values[group->begin].type == ZET_VALUE_TYPE_UINT64
	                     ? values[group->begin].value.ui64
	                     : (uint64_t)begin_ns;
	struct tare_sample sample = { .values = numbers };
	bool doubt = false;
	size_t count = 0;

	if (!(begin_ns > 0) || !(ns > 0 && ns < 0x1p62))
		return;
	for (uint32_t i = 0; i < group->doubt_count; i++)
		doubt = doubt || count_number(&values[group->doubts[i]]) != 0;
	for (size_t row = 0; row < ROWS; row++) {
		double first, second;
		if (!(group->tells >> row & 1))
			continue;
		first = count_number(&values[group->places[rows[row].first]]);
		second = rows[row].second == rows[row].first
		             ? 0
		             : count_number(&values[group->places[rows[row].second]]);
		numbers[count++] = doubt ? (double)NAN : first + second;
	}
	sample.from_ns = exact;
	sample.to_ns = exact + (uint64_t)ns;
	visitor->sample(visitor->context, &sample);
}

static int show_reports(size_t bytes, const struct tare_sample_visitor *visitor,
                        struct tare_error *error)
{
	const struct levelzero_functions *call = &self.device->driver->call;
	uint32_t count = 0;
	ze_result_t result = call->zetMetricGroupCalculateMetricValues(
	    self.group.handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, self.raw,
	    &count, NULL);

	if (result == ZE_RESULT_SUCCESS && count > self.value_room) {
		zet_typed_value_t *larger = realloc(self.values, count * sizeof *larger);
		if (!larger)
			return tare_fail(error, ENOMEM, "out of memory");
		self.values = larger;
		self.value_room = count;
	}
	if (result == ZE_RESULT_SUCCESS && count)
		result = call->zetMetricGroupCalculateMetricValues(
		    self.group.handle, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes,
		    self.raw, &count, self.values);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zetMetricGroupCalculateMetricValues", error,
		                      "the samples cannot be read");
	for (uint32_t at = 0; at + self.group.count <= count; at += self.group.count)
		show_report(self.values + at, visitor);
	return 0;
}

static bool was_read(ze_result_t result, bool *lost)
{
	*lost |= result == ZE_RESULT_WARNING_DROPPED_DATA;
	return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA;
}

static int sampler_read(struct tare_device *device, const struct tare_sample_visitor *visitor,
                        bool *lost, struct tare_error *error)
{
	const struct levelzero_functions *call = &self.device->driver->call;
	size_t bytes = 0;
	ze_result_t result =
	    call->zetMetricStreamerReadData(self.streamer, UINT32_MAX, &bytes, NULL);

	(void)device;
	if (result == ZE_RESULT_NOT_READY)
		return 0;
	if (was_read(result, lost) && bytes > self.raw_bytes) {
		uint8_t *larger = realloc(self.raw, bytes);
		if (!larger)
			return tare_fail(error, ENOMEM, "out of memory");
		self.raw = larger;
		self.raw_bytes = bytes;
	}
	if (was_read(result, lost) && bytes)
		result =
		    call->zetMetricStreamerReadData(self.streamer, UINT32_MAX, &bytes, self.raw);
	if (result == ZE_RESULT_NOT_READY)
		return 0;
	if (!was_read(result, lost))
		return levelzero_fail(result, "zetMetricStreamerReadData", error,
		                      "the samples cannot be read");
	return bytes ? show_reports(bytes, visitor, error) : 0;
}

// What was completed until now is still read; the streamer is closed behind that.
static int sampler_stop(struct tare_device *device, struct tare_error *error)
{
	(void)device;
	(void)error;
	return 0;
}

const struct tare_sampler levelzero_sampler = {
	.api = TARE_TRACE_LEVELZERO,
	.prepare = ask_to_count,
	.open = sampler_open,
	.clock = sampler_clock,
	.start = sampler_start,
	.read = sampler_read,
	.stop = sampler_stop,
	.close = sampler_close,
};
