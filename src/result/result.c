// SPDX-License-Identifier: Apache-2.0
#include "result/result.h"

#include "base/room.h"
#include "result/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tare_result *tare_result_new(const char *command)
{
	struct tare_result *result = calloc(1, sizeof *result);
	time_t now = time(NULL);
	struct tm utc;
	char written_at[32];

	if (!result)
		return NULL;
	if (!gmtime_r(&now, &utc) ||
	    !strftime(written_at, sizeof written_at, "%Y-%m-%dT%H:%M:%SZ", &utc))
		snprintf(written_at, sizeof written_at, "1970-01-01T00:00:00Z");
	result->clock.floor_ns = -1;
	if (tare_set_string(&result->version, TARE_VERSION) < 0 ||
	    tare_set_string(&result->written_at, written_at) < 0 ||
	    tare_set_string(&result->command, command) < 0) {
		tare_result_free(result);
		return NULL;
	}
	return result;
}

// Returns -ENOMEM.
static int fail(struct tare_result *result)
{
	result->failed = true;
	return -ENOMEM;
}

void tare_result_fail(struct tare_result *result)
{
	result->failed = true;
}

int tare_result_set_text(struct tare_result *result, char **field, const char *text)
{
	return result->failed || tare_set_string(field, text) < 0 ? fail(result) : 0;
}

void tare_result_set_timeless(struct tare_result *result)
{
	tare_result_set_text(result, &result->written_at, "1970-01-01T00:00:00Z");
}

static void clear_device(struct tare_device_entry *device)
{
	free(device->backend);
	free(device->backend_title);
	free(device->same_by);
	free(device->engines);
	tare_kernel_list_free(device->kernels);
	*device = (struct tare_device_entry){ 0 };
}

static void clear_devices(struct tare_result *result)
{
	for (size_t i = 0; i < result->device_count; i++)
		clear_device(&result->devices[i]);
	free(result->devices);
	clear_device(&result->spare_device);
	for (size_t i = 0; i < result->absence_count; i++) {
		struct tare_backend_absence *absence = &result->absences[i];
		free(absence->backend);
		free(absence->reason);
		free(absence->action);
	}
	free(result->absences);
}

static struct tare_warning *find_warning(struct tare_result *result, const char *id)
{
	for (size_t i = 0; i < result->warning_count; i++)
		if (strcmp(result->warnings[i].id, id) == 0)
			return &result->warnings[i];
	return NULL;
}

static void clear_warning(struct tare_warning *warning)
{
	free(warning->id);
	free(warning->message);
	free(warning->action);
}

void tare_result_action_is_options(struct tare_result *result, const char *id)
{
	for (size_t i = result->warning_count; i > 0; i--)
		if (strcmp(result->warnings[i - 1].id, id) == 0) {
			result->warnings[i - 1].options = true;
			return;
		}
}

void tare_result_name_options(struct tare_result *result, const char *command)
{
	for (size_t i = 0; i < result->warning_count; i++) {
		struct tare_warning *warning = &result->warnings[i];
		char *named;
		if (!warning->options)
			continue;
		if (asprintf(&named, "%s %s", command, warning->action) < 0) {
			tare_result_fail(result);
			return;
		}
		free(warning->action);
		warning->action = named;
		warning->options = false;
	}
}

void tare_result_free(struct tare_result *result)
{
	if (!result)
		return;
	free(result->version);
	free(result->written_at);
	free(result->command);
	tare_labels_clear(&result->host);
	tare_labels_clear(&result->parameters);
	tare_labels_clear(&result->kernel_timestamp);
	clear_devices(result);
	free(result->clock.note);
	free(result->telemetry.absent);
	free(result->telemetry.readings);
	for (size_t i = 0; i < result->cell_count; i++)
		tare_cell_clear(&result->cells[i]);
	free(result->cells);
	tare_cell_clear(&result->spare_cell);
	for (size_t i = 0; i < result->plot_count; i++)
		tare_plot_clear(&result->plots[i]);
	free(result->plots);
	tare_plot_clear(&result->spare_plot);
	for (size_t i = 0; i < result->warning_count; i++)
		clear_warning(&result->warnings[i]);
	free(result->warnings);
	for (size_t i = 0; i < result->conclusion_count; i++) {
		free(result->conclusions[i].id);
		free(result->conclusions[i].text);
	}
	free(result->conclusions);
	for (size_t i = 0; i < result->part_count; i++)
		tare_result_free(result->parts[i]);
	free(result->parts);
	free(result);
}

static bool plots_failed(const struct tare_result *result)
{
	for (size_t i = 0; i < result->plot_count; i++) {
		const struct tare_plot *plot = &result->plots[i];
		if (plot->failed)
			return true;
		for (size_t k = 0; k < plot->count; k++)
			if (plot->series[k].failed)
				return true;
	}
	return false;
}

int tare_result_status(const struct tare_result *result)
{
	bool failed = result->failed || result->host.failed || result->parameters.failed ||
	              result->kernel_timestamp.failed || result->telemetry.failed ||
	              plots_failed(result);

	for (size_t i = 0; i < result->device_count; i++)
		failed = failed || result->devices[i].failed;
	for (size_t i = 0; i < result->cell_count; i++)
		failed = failed || result->cells[i].failed || result->cells[i].labels.failed;
	for (size_t i = 0; i < result->part_count; i++)
		failed = failed || tare_result_status(result->parts[i]) < 0;
	return failed ? -ENOMEM : 0;
}

static int warn(struct tare_result *result, struct tare_warning *place, const char *id,
                const char *action, const char *message_format, va_list arguments)
{
	struct tare_warning warning = { 0 };
	struct tare_warning *grown;

	if (result->failed || vasprintf(&warning.message, message_format, arguments) < 0)
		return fail(result);
	if (tare_set_string(&warning.id, id) < 0 || tare_set_string(&warning.action, action) < 0)
		goto fail;
	if (place) {
		clear_warning(place);
		*place = warning;
		return 0;
	}
	grown = tare_grow(result->warnings, result->warning_count, sizeof *grown);
	if (!grown)
		goto fail;
	result->warnings = grown;
	grown[result->warning_count++] = warning;
	return 0;
fail:
	clear_warning(&warning);
	return fail(result);
}

int tare_result_warn(struct tare_result *result, const char *id, const char *action,
                     const char *message_format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, message_format);
	status = warn(result, NULL, id, action, message_format, arguments);
	va_end(arguments);
	return status;
}

int tare_result_warn_anew(struct tare_result *result, const char *id, const char *action,
                          const char *message_format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, message_format);
	status = warn(result, find_warning(result, id), id, action, message_format, arguments);
	va_end(arguments);
	return status;
}

void tare_result_unwarn(struct tare_result *result, const char *id)
{
	struct tare_warning *place = find_warning(result, id);
	size_t after;

	if (!place)
		return;
	after = (size_t)(result->warnings + result->warning_count - place) - 1;
	clear_warning(place);
	memmove(place, place + 1, after * sizeof *place);
	result->warning_count--;
}

int tare_result_add_reading(struct tare_result *result, const struct tare_telemetry *reading)
{
	struct tare_telemetry *grown = NULL;

	if (!result->telemetry.failed)
		grown =
		    tare_grow(result->telemetry.readings, result->telemetry.count, sizeof *grown);
	if (!grown) {
		result->telemetry.failed = true;
		return -ENOMEM;
	}
	result->telemetry.readings = grown;
	grown[result->telemetry.count++] = *reading;
	return 0;
}

int tare_result_conclude(struct tare_result *result, const char *id, const char *format, ...)
{
	struct tare_conclusion conclusion = { 0 };
	struct tare_conclusion *grown;
	va_list arguments;
	int length;

	if (result->failed)
		return -ENOMEM;
	va_start(arguments, format);
	length = vasprintf(&conclusion.text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return fail(result);
	grown = tare_grow(result->conclusions, result->conclusion_count, sizeof *grown);
	if (grown)
		result->conclusions = grown;
	if (!grown || tare_set_string(&conclusion.id, id) < 0) {
		free(conclusion.text);
		return fail(result);
	}
	grown[result->conclusion_count++] = conclusion;
	return 0;
}

bool tare_result_is_several(const struct tare_result *result)
{
	return result->part_count && strcmp(result->parts[0]->command, result->command) == 0;
}

int tare_result_add_part(struct tare_result *result, struct tare_result *part)
{
	struct tare_result **grown = NULL;

	if (!result->failed)
		grown = tare_grow(result->parts, result->part_count, sizeof *grown);
	if (!grown) {
		tare_result_free(part);
		return fail(result);
	}
	result->parts = grown;
	grown[result->part_count++] = part;
	return 0;
}

struct tare_device_entry *tare_result_add_device(struct tare_result *result)
{
	struct tare_device_entry *grown = NULL;

	if (!result->failed)
		grown = tare_grow(result->devices, result->device_count, sizeof *grown);
	if (!grown) {
		clear_device(&result->spare_device);
		result->failed = result->spare_device.failed = true;
		return &result->spare_device;
	}
	result->devices = grown;
	return &grown[result->device_count++];
}

int tare_device_entry_name(struct tare_device_entry *device, const char *backend,
                           const char *backend_title, const char *same_by)
{
	if (device->failed || tare_set_string(&device->backend, backend) < 0 ||
	    tare_set_string(&device->backend_title, backend_title) < 0 ||
	    tare_set_string(&device->same_by, same_by) < 0) {
		device->failed = true;
		return -ENOMEM;
	}
	return 0;
}

int tare_device_entry_set_engines(struct tare_device_entry *device,
                                  const struct tare_engine *engines, size_t count)
{
	struct tare_engine *copy = NULL;

	if (count && !device->failed) {
		copy = malloc(count * sizeof *copy);
		device->failed = !copy;
	}
	if (device->failed)
		return -ENOMEM;
	if (count)
		memcpy(copy, engines, count * sizeof *copy);
	free(device->engines);
	device->engines = copy;
	device->engine_count = count;
	return 0;
}

int tare_result_add_absence(struct tare_result *result, const char *backend, const char *reason,
                            const char *action)
{
	struct tare_backend_absence absence = { 0 };
	struct tare_backend_absence *grown;

	if (result->failed || tare_set_string(&absence.backend, backend) < 0 ||
	    tare_set_string(&absence.reason, reason) < 0 ||
	    tare_set_string(&absence.action, action) < 0)
		goto fail;
	grown = tare_grow(result->absences, result->absence_count, sizeof *grown);
	if (!grown)
		goto fail;
	result->absences = grown;
	grown[result->absence_count++] = absence;
	return 0;
fail:
	free(absence.backend);
	free(absence.reason);
	free(absence.action);
	return fail(result);
}
