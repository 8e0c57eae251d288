// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _ze_device_handle_t cpu_device, cpu_sub_devices[CPU_SUB_DEVICES];
uint32_t cpu_sub_device_count;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

void cpu_log(const char *format, ...)
{
	const char *asked = getenv("ZE_CPU_LOG");
	char line[512];
	va_list arguments;

	if (!asked || strcmp(asked, "1") != 0)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	fprintf(stderr, "ze-cpu: %s\n", line);
}

// ---- start

static void group_engines(struct _ze_device_handle_t *device)
{
	const struct tare_script_engine *before = NULL;

	device->engine_count = (uint32_t)device->script.engine_count;
	for (uint32_t i = 0; i < device->engine_count; i++) {
		const struct tare_script_engine *engine = &device->script.engines[i];
		if (!before || !tare_script_levelzero_grouped(before, engine))
			device->groups[device->group_count++] = (struct cpu_group){
				.compute = engine->compute,
				.copy = engine->flows & TARE_FLOWS_OF_COPIES,
				.first_engine = i,
			};
		device->groups[device->group_count - 1].engine_count++;
		before = engine;
	}
}

// Each has its share of the units, and of the engines of each group.
static void share_out(struct _ze_device_handle_t *root)
{
	uint32_t count = (uint32_t)root->script.device.sub_devices;

	cpu_sub_device_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct _ze_device_handle_t *part = &cpu_sub_devices[i];
		*part = *root;
		part->root = root;
		part->number = i;
		part->script.device.units /= count;
		for (uint32_t k = 0; k < part->group_count; k++) {
			part->groups[k].engine_count /= count;
			part->groups[k].first_engine += i * part->groups[k].engine_count;
		}
	}
}

// What the program's user wants the device to be called.
static bool type_is_known(void)
{
	const char *type = getenv("ZE_CPU_TYPE");

	if (!type || !*type || strcmp(type, "cpu") == 0)
		return true;
	if (strcmp(type, "gpu") == 0) {
		device_pose_as_gpu();
		return true;
	}
	fprintf(stderr, "ze-cpu: ZE_CPU_TYPE is \"%s\"; it may be cpu or gpu\n", type);
	return false;
}

static ze_result_t start(struct _ze_device_handle_t *device)
{
	const char *path = getenv("ZE_CPU_SCRIPT");
	struct tare_error error;
	ze_result_t result;

	if (!type_is_known())
		return ZE_RESULT_ERROR_UNINITIALIZED;
	if (path && path[0]) {
		if (tare_script_read(path, &device->script, &error) < 0 ||
		    tare_script_check_levelzero(&device->script, path, &error) < 0) {
			fprintf(stderr, "ze-cpu: %s\n", error.message);
			return ZE_RESULT_ERROR_UNINITIALIZED;
		}
		device->scripted = true;
	} else {
		device_script_of_cpu(&device->script);
	}
	group_engines(device);
	device->started = tare_host_now();
	share_out(device);
	pthread_mutex_lock(&work_lock);
	result = scripted_start();
	pthread_mutex_unlock(&work_lock);
	cpu_log("%s, %u engines in %u groups", device->script.device.name, device->engine_count,
	        device->group_count);
	return result;
}

// As Intel's driver where the libraries that count are not installed: it does not begin at all.
static bool lacks_metrics(void)
{
	const char *metrics = getenv("ZET_ENABLE_METRICS"), *lacking = getenv("ZE_CPU_NO_METRICS");

	return metrics && strcmp(metrics, "1") == 0 && lacking && strcmp(lacking, "1") == 0;
}

ze_result_t cpu_device_start(void)
{
	static bool tried;
	static ze_result_t result;

	pthread_mutex_lock(&start_lock);
	if (!tried) {
		cpu_watch_forks();
		result =
		    lacks_metrics() ? ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE : start(&cpu_device);
	}
	tried = true;
	pthread_mutex_unlock(&start_lock);
	return result;
}

// ---- clocks

// The model's time: since the start.
static int64_t model_ps(int64_t host_ns)
{
	int64_t passed_ns = host_ns - cpu_device.started.ns;

	if (passed_ns < 0)
		return 0;
	return passed_ns >= TARE_PS_MAX / 1000 ? TARE_PS_MAX : passed_ns * 1000;
}

static uint64_t ticks(const struct tare_script_timer *timer, int64_t host_ns)
{
	if (!cpu_device.scripted)
		return (uint64_t)host_ns & tare_ticks_mask(&timer->rate);
	return tare_model_ticks(timer, model_ps(host_ns)).ticks;
}

uint64_t cpu_global_ticks(int64_t host_ns)
{
	return ticks(&cpu_device.script.pair_timer, host_ns);
}

uint64_t cpu_kernel_ticks(int64_t host_ns)
{
	return ticks(&cpu_device.script.timer, host_ns);
}

uint64_t cpu_global_ticks_ps(int64_t at_ps)
{
	return tare_model_ticks(&cpu_device.script.pair_timer, at_ps).ticks;
}

uint64_t cpu_kernel_ticks_ps(int64_t at_ps)
{
	return tare_model_ticks(&cpu_device.script.timer, at_ps).ticks;
}
