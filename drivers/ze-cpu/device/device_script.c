// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_BYTES (UINT64_C(1) << 30)

// The value of the first line of /proc/cpuinfo that has this key; "" where there is none.
static void cpu_word(const char *key, char *value, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];

	value[0] = '\0';
	while (file && !value[0] && fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');
		if (!colon || strncmp(line, key, strlen(key)) != 0)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
	}
	if (file)
		fclose(file);
}

// The highest clock that the system tells, else that of the moment, else 0.
static uint64_t cpu_clock_hz(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
	unsigned long khz = 0;
	char text[64];

	if (file) {
		if (fscanf(file, "%lu", &khz) != 1)
			khz = 0;
		fclose(file);
	}
	if (!khz) {
		cpu_word("cpu MHz", text, sizeof text);
		khz = (unsigned long)(strtod(text, NULL) * 1000);
	}
	return khz * UINT64_C(1000);
}

// 32-bit floats in a vector.
static uint64_t cpu_lanes(void)
{
#if defined __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f"))
		return 16;
	if (__builtin_cpu_supports("avx2"))
		return 8;
#endif
	return 4;
}

static uint64_t positive(long value)
{
	return value > 0 ? (uint64_t)value : 0;
}

static void describe_cpu(struct tare_script_device *device)
{
	cpu_word("model name", device->name, sizeof device->name);
	cpu_word("vendor_id", device->vendor, sizeof device->vendor);
	if (!device->name[0])
		snprintf(device->name, sizeof device->name, "CPU");
	device->units = positive(sysconf(_SC_NPROCESSORS_ONLN));
	device->lanes = cpu_lanes();
	device->clock_hz = cpu_clock_hz();
	device->memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
	// Programs size their work by it. More is to be had with
	// ze_relaxed_allocation_limits_exp_desc_t.
	device->largest_bytes =
	    device->memory_bytes / 2 < LARGEST_BYTES ? device->memory_bytes / 2 : LARGEST_BYTES;
	device->memory_bus_bits = 64; // one DDR channel; nobody tells how many there are
	device->cache_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
	device->local_bytes = 32768;
	device->work_group = 1024;
	device->sub_group = 1;
	device->unified = 1;
	device->fp64 = 1;
}

void device_script_of_cpu(struct tare_script *script)
{
	*script = (struct tare_script){
		.timer.rate = { 1000000000, 1, 56, 1 },
		.pair_timer.rate = { 1000000000, 1, 64, 1 },
		.has_pairs = true,
		.stamps = TARE_STAMPS_START | TARE_STAMPS_END,
		.queue.route = TARE_ROUTE_QUEUE,
		.engines = {
			{ .compute = true, .flows = TARE_FLOWS_OF_COPIES | 1u << TARE_FLOW_KERNEL, .known = 1 },
			{ .flows = TARE_FLOWS_OF_COPIES, .known = 1 },
			{ .flows = TARE_FLOWS_OF_COPIES, .known = 1 },
		},
		.engine_count = 3,
	};
	describe_cpu(&script->device);
}
