// SPDX-License-Identifier: Apache-2.0
// Metric streamers: reports of a group over time. The device is at work in every other 40 ms of its
// clock. A report that begins then has what the script's metric-value lines say of the kernel
// `sampled-busy`, another one what they say of `sampled-idle`, whatever runs. ZE_CPU_METRIC_REPORTS
// is how many reports there is room for.
#include "device/metric.h"

#include "base/time.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 65536, BUSY_NS = 40000000 };

struct _zet_metric_streamer_handle_t {
	size_t group;
	uint64_t period_ns;
	int64_t from_ns; // host time at which it was opened
	uint64_t read;   // reports that were handed out, or lost
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static zet_metric_streamer_handle_t opened; // one at a time, as on a GPU

static uint64_t room(void)
{
	const char *told = getenv("ZE_CPU_METRIC_REPORTS");
	unsigned long long reports = told ? strtoull(told, NULL, 10) : 0;

	return reports ? reports : ROOM;
}

static uint64_t completed(const struct _zet_metric_streamer_handle_t *streamer)
{
	return (uint64_t)(tare_host_now().ns - streamer->from_ns) / streamer->period_ns;
}

// In nanoseconds of the device's clock.
static uint64_t begin_of(const struct _zet_metric_streamer_handle_t *streamer, uint64_t report)
{
	const struct tare_clock_rate *rate = &cpu_device.script.pair_timer.rate;
	uint64_t ticks =
	    cpu_global_ticks(streamer->from_ns + (int64_t)(report * streamer->period_ns));

	return (uint64_t)((unsigned __int128)ticks * rate->hz_denominator * 1000000000u /
	                  rate->hz_numerator);
}

static ze_result_t streamer_open(zet_context_handle_t context, zet_device_handle_t device,
                                 zet_metric_group_handle_t group,
                                 zet_metric_streamer_desc_t *description, ze_event_handle_t event,
                                 zet_metric_streamer_handle_t *made)
{
	zet_metric_streamer_handle_t streamer;
	ze_result_t result = ZE_RESULT_SUCCESS;
	size_t place;

	(void)event;
	if (!context || !device || !group)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	place = metric_group_place(group);
	if (!(cpu_device.script.metric_groups[place].sampling & TARE_METRIC_BY_TIME) ||
	    !description->samplingPeriod)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!metric_group_is_active(place))
		return ZE_RESULT_ERROR_NOT_AVAILABLE;
	streamer = calloc(1, sizeof *streamer);
	if (!streamer)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	*streamer =
	    (struct _zet_metric_streamer_handle_t){ .group = place,
		                                    .period_ns = description->samplingPeriod,
		                                    .from_ns = tare_host_now().ns };
	pthread_mutex_lock(&lock);
	if (opened)
		result = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
	else
		opened = *made = streamer;
	pthread_mutex_unlock(&lock);
	if (result != ZE_RESULT_SUCCESS)
		free(streamer);
	return result;
}

static ze_result_t streamer_close(zet_metric_streamer_handle_t streamer)
{
	if (!streamer)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&lock);
	opened = opened == streamer ? NULL : opened;
	pthread_mutex_unlock(&lock);
	free(streamer);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t streamer_read(zet_metric_streamer_handle_t streamer, uint32_t most, size_t *size,
                                 uint8_t *data)
{
	uint64_t there, lost = 0, count;

	if (!streamer)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	there = completed(streamer) - streamer->read;
	if (!data || *size == 0) {
		count = there < room() ? there : room();
		*size = (size_t)(count < most ? count : most) * sizeof(struct metric_report);
		return ZE_RESULT_SUCCESS;
	}
	if (there > room()) { // the oldest are overwritten
		lost = there - room();
		streamer->read += lost;
		there = room();
	}
	count = *size / sizeof(struct metric_report);
	count = count < there ? count : there;
	count = count < most ? count : most;
	for (uint64_t i = 0; i < count; i++) {
		struct metric_report report = { METRIC_REPORT_MARK, streamer->group,
			                        begin_of(streamer, streamer->read + i),
			                        streamer->period_ns };
		memcpy(data + i * sizeof report, &report, sizeof report);
	}
	streamer->read += count;
	*size = (size_t)count * sizeof(struct metric_report);
	return lost ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
}

static void report_value(const struct metric_report *report, size_t metric,
                         zet_typed_value_t *value)
{
	bool busy = report->begin_ns / BUSY_NS % 2 == 0;
	const struct tare_script_metric_value *said =
	    metric_value_of(metric, busy ? "sampled-busy" : "sampled-idle");
	const char *name = cpu_device.script.metrics[metric].name;
	bool begin = strcmp(name, "QueryBeginTime") == 0, time = strcmp(name, "GpuTime") == 0;

	if (begin || time)
		metric_value_make(metric, begin ? report->begin_ns : report->period_ns,
		                  TARE_METRIC_RIGHT, value);
	else
		metric_value_make(metric, said ? said->value : 0,
		                  said ? (uint8_t)said->counts : TARE_METRIC_RIGHT, value);
}

ze_result_t metric_reports_calculate(size_t group, size_t bytes, const uint8_t *data,
                                     uint32_t *count, zet_typed_value_t *values)
{
	size_t reports = bytes / sizeof(struct metric_report);
	uint32_t metrics = metric_count_of(group), there = (uint32_t)reports * metrics, at = 0;

	if (bytes % sizeof(struct metric_report))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	if (*count == 0 || *count > there)
		*count = there;
	for (size_t i = 0; values && i < reports; i++) {
		struct metric_report report;
		memcpy(&report, data + i * sizeof report, sizeof report);
		if (report.mark != METRIC_REPORT_MARK || report.group != group)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		for (size_t k = 0; k < cpu_device.script.metric_count && at < *count; k++)
			if (cpu_device.script.metrics[k].group == group)
				report_value(&report, k, &values[at++]);
	}
	return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL
zetGetMetricStreamerProcAddrTable(ze_api_version_t version, zet_metric_streamer_dditable_t *members)
{
	if (!members)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (ZE_MAJOR_VERSION(version) != 1)
		return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
	members->pfnOpen = streamer_open;
	members->pfnClose = streamer_close;
	members->pfnReadData = streamer_read;
	return ZE_RESULT_SUCCESS;
}
