// SPDX-License-Identifier: Apache-2.0
// The different devices of a view.
#include "report/core/table_json.h"
#include "report/core/words.h"
#include "report/tables/tables.h"
#include "report/tables/values.h"

static uint32_t index_of(const struct tare_report *run, const struct tare_recorded_device *device)
{
	return (uint32_t)(device - run->recording->devices);
}

static struct tare_recorded_faults faults_of(const struct tare_report *run,
                                             const struct tare_recorded_device *device)
{
	return tare_device_faults(run->recording, run->view, index_of(run, device));
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

static bool has_faults(const void *run, const void *device)
{
	return faults_of(run, device).known;
}

static const struct tare_column_group managed_memory = {
	"managed_memory", NULL, has_faults, "faults of managed memory, where there were any"
};

static struct json_t *api_list(void *json, const void *run, const void *row);

#define COLUMNS "report/tables/devices.def"
#define ROW struct tare_recorded_device
#include "report/tables/declare.h"

// Each different one once.
static bool is_row(const struct tare_report *run, uint32_t index)
{
	return run->recording->devices[index].same_as == index &&
	       tare_view_has_device(run->recording, run->view, index);
}

static size_t count_devices(const struct tare_report *run)
{
	size_t count = 0;

	for (uint32_t i = 0; i < run->recording->device_count; i++)
		count += is_row(run, i);
	return count;
}

static const void *device_at(const struct tare_report *run, size_t index)
{
	uint32_t i = 0;

	while (!is_row(run, i) || index-- > 0)
		i++;
	return &run->recording->devices[i];
}

TARE_RUN_TABLE(devices, "Devices", "a device", NULL, count_devices(run), device_at(run, index))

#if TARE_HAVE_JSON
static struct json_t *api_list(void *json, const void *source, const void *row)
{
	const struct tare_report *run = source;
	uint64_t apis = tare_report_device_apis(run->recording, index_of(run, row));
	json_t *list = json_array();

	for (uint32_t api = 0; api < TARE_TRACE_API_COUNT; api++)
		if (apis >> api & 1 && tare_report_api(api))
			tare_json_push(json, list, tare_json_text(tare_report_api(api)));
	return list;
}
#else
static struct json_t *api_list(void *json, const void *run, const void *row)
{
	(void)json, (void)run, (void)row;
	return NULL;
}
#endif
