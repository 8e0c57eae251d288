// SPDX-License-Identifier: Apache-2.0
#include "measure/devices/devices.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINES_MAX 64

static void summarise_engines(const struct tare_device_entry *entry, struct tare_facts *facts)
{
	static const char *const words[] = { "compute", "copy", "link" };
	size_t counts[3] = { 0 }, known = 0, length = 0;
	char text[160] = "";

	for (size_t i = 0; i < entry->engine_count; i++) {
		if ((unsigned)entry->engines[i].class < 3)
			counts[entry->engines[i].class]++;
		known += entry->engines[i].known;
	}
	if (entry->engine_count == 0 || facts->fact[TARE_FACT_ENGINES].present)
		return;
	for (size_t c = 0; c < 3; c++)
		if (counts[c] && length < sizeof text)
			length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu %s",
			                           length ? ", " : "", counts[c], words[c]);
	if (known < entry->engine_count && length < sizeof text)
		snprintf(text + length, sizeof text - length, TARE_FACT_GUESSED);
	tare_fact_set_text(facts, TARE_FACT_ENGINES,
	                   known == entry->engine_count ? TARE_ORIGIN_DRIVER : TARE_ORIGIN_GUESS,
	                   text);
}

static int add_engines(struct tare_device *device, struct tare_device_entry *entry)
{
	struct tare_engine engines[ENGINES_MAX];
	struct tare_error error = { 0 };
	int count = tare_engines(device, engines, ENGINES_MAX, &error);

	if (count < 0) {
		if (!entry->facts.fact[TARE_FACT_ENGINES].present)
			tare_fact_absent(&entry->facts, TARE_FACT_ENGINES, "%s", error.message);
		return 0;
	}
	if (count > ENGINES_MAX)
		count = ENGINES_MAX;
	if (tare_device_entry_set_engines(entry, engines, (size_t)count) < 0)
		return -ENOMEM;
	summarise_engines(entry, &entry->facts);
	return 0;
}

int tare_device_describe(struct tare_driver *driver, uint32_t index,
                         struct tare_device_entry *entry, struct tare_error *error)
{
	const struct tare_backend *backend = driver->backend;
	int status;

	entry->index = index;
	if (tare_device_entry_name(entry, backend->name, backend->title, NULL) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	status = backend->device_facts(driver, index, &entry->facts, error);
	if (status < 0)
		return status;
	if (strcmp(backend->name, "simulated") != 0)
		tare_topology_of_device(&entry->facts);
	return 0;
}

int tare_device_describe_open(struct tare_device *device, struct tare_device_entry *entry,
                              struct tare_error *error)
{
	return add_engines(device, entry) < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

// A device that cannot be opened still has its facts; its engines say why not.
static int open_and_describe(struct tare_driver *driver, struct tare_device_entry *entry,
                             struct tare_error *error)
{
	struct tare_device *device = NULL;
	struct tare_error why = { 0 };
	int status;

	if (driver->backend->device_open(driver, entry->index, &device, &why) < 0) {
		if (!entry->facts.fact[TARE_FACT_ENGINES].present)
			tare_fact_absent(&entry->facts, TARE_FACT_ENGINES, "%s", why.message);
		return 0;
	}
	status = tare_device_describe_open(device, entry, error);
	tare_device_close(device);
	return status;
}

// What to do about a backend that gave nothing and whose reason does not say what to install.
static const char *action_for(const char *backend, int status)
{
	if (strcmp(backend, "opencl") == 0)
		return status == -ENOENT
		           ? "install ocl-icd-libopencl1, and the device's driver"
		           : "install the device's driver; for the CPU, pocl-opencl-icd";
	// A driver library that does not start says itself what to do.
	if (strcmp(backend, "cuda") == 0 && status == -ENOENT)
		return "install NVIDIA's driver (libcuda.so.1), where there is an NVIDIA device";
	if (strcmp(backend, "levelzero") == 0)
		return status == -ENOENT ? "install libze1 and the device's driver"
		                         : "install the device's Level Zero driver";
	return NULL;
}

static int add_backend(const struct tare_backend *backend, const char *option, bool facts_only,
                       struct tare_result *result, struct tare_error *error)
{
	struct tare_driver *driver = NULL;
	struct tare_error why = { 0 };
	uint32_t count = 0;
	int status = backend->driver_open(option, &driver, &why);

	if (status == 0) {
		count = backend->device_count(driver);
		if (count == 0)
			status = tare_fail(&why, ENODEV, "the driver has no device");
	}
	if (status < 0) {
		status =
		    tare_result_add_absence(result, backend->name, why.message,
		                            why.advises ? NULL : action_for(backend->name, status));
		goto out;
	}
	for (uint32_t i = 0; status == 0 && i < count; i++) {
		struct tare_device_entry *entry = tare_result_add_device(result);
		struct tare_error one = { 0 };
		status = tare_device_describe(driver, i, entry, &one);
		if (status == 0 && !facts_only)
			status = open_and_describe(driver, entry, &one);
		if (status < 0 && status != -ENOMEM) {
			char reason[640];
			snprintf(reason, sizeof reason, "device %u: %s", i, one.message);
			result->device_count--;
			free(entry->backend);
			free(entry->backend_title);
			status = tare_result_add_absence(result, backend->name, reason, NULL);
		}
	}
out:
	if (driver)
		backend->driver_close(driver);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}

int tare_measure_devices(const struct tare_devices_options *options, struct tare_result *result,
                         struct tare_error *error)
{
	const struct tare_backend *only = NULL;
	int status = 0;

	if (options && options->backend) {
		only = tare_backend_find(options->backend);
		if (!only)
			return tare_fail(error, EINVAL, "no backend '%s'", options->backend);
	}
	// The simulated device is the same on every machine and day.
	if (only && strcmp(only->name, "simulated") == 0)
		tare_result_set_timeless(result);
	else
		tare_topology_of_host(&result->host);
	for (size_t i = 0; status == 0 && tare_backends[i]; i++)
		if (!only || only == tare_backends[i])
			status = add_backend(tare_backends[i], only ? options->option : NULL,
			                     options && options->facts_only, result, error);
	if (status == 0 && (tare_merge_identities(result->devices, result->device_count) < 0 ||
	                    tare_result_status(result) < 0))
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}
