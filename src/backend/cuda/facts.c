// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"
#include "backend/nvidia_peaks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// One fact that one attribute of the device gives, times a factor.
struct attribute_row {
	enum tare_fact_id id;
	cu_attribute attribute;
	uint64_t factor;
	bool may_be_zero;
};

static const struct attribute_row rows[] = {
	{ TARE_FACT_UNITS, ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1, false },
	{ TARE_FACT_WORK_GROUP, ABI_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1, false },
	{ TARE_FACT_SUB_GROUP, ABI_ATTRIBUTE_WARP_SIZE, 1, false },
	{ TARE_FACT_REGISTERS, ABI_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 4, false },
	{ TARE_FACT_RESIDENT, ABI_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1, false },
	{ TARE_FACT_CLOCK, ABI_ATTRIBUTE_CLOCK_RATE, 1000, false },
	{ TARE_FACT_MEMORY_CLOCK, ABI_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000, false },
	{ TARE_FACT_MEMORY_BUS, ABI_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1, false },
	{ TARE_FACT_CACHE, ABI_ATTRIBUTE_L2_CACHE_SIZE, 1, false },
	{ TARE_FACT_LOCAL_MEMORY, ABI_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 1, false },
	{ TARE_FACT_UNIFIED, ABI_ATTRIBUTE_INTEGRATED, 1, true },
	{ TARE_FACT_ECC, ABI_ATTRIBUTE_ECC_ENABLED, 1, true },
	{ TARE_FACT_COPY_ENGINES, ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1, true },
};

static int attribute(struct cuda_driver *driver, cu_device device, cu_attribute which)
{
	int value = 0;
	if (driver->call.cuDeviceGetAttribute(&value, which, device) != ABI_SUCCESS)
		return -1;
	return value;
}

static void attribute_facts(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int value = attribute(driver, device, rows[i].attribute);
		if (value > 0 || (value == 0 && rows[i].may_be_zero))
			tare_fact_set_count(facts, rows[i].id, TARE_ORIGIN_DRIVER,
			                    (uint64_t)value * rows[i].factor);
		else
			tare_fact_absent(facts, rows[i].id,
			                 "the CUDA driver does not tell (attribute %d)",
			                 rows[i].attribute);
	}
}

static int pci_address(struct cuda_driver *driver, cu_device device, char text[32])
{
	cu_result result = driver->call.cuDeviceGetPCIBusId(text, 32, device);
	if (result != ABI_SUCCESS)
		return cuda_errno(result);
	for (char *at = text; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return 0;
}

static void uuid_fact(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	cu_uuid uuid = { { 0 } };
	char text[40];
	char *at = text;

	if (!driver->call.cuDeviceGetUuid_v2 ||
	    driver->call.cuDeviceGetUuid_v2(&uuid, device) != ABI_SUCCESS) {
		tare_fact_absent(facts, TARE_FACT_UUID,
		                 "this CUDA driver does not tell it (it needs 11.4 or later)");
		return;
	}
	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		              (unsigned char)uuid.bytes[i]);
	tare_fact_set_text(facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, text);
}

static void identity_facts(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	char text[256] = "";
	size_t bytes = 0;

	if (driver->call.cuDeviceGetName(text, sizeof text, device) == ABI_SUCCESS && text[0])
		tare_fact_set_text(facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, TARE_FACT_NAME, "the CUDA driver does not tell");
	tare_facts_set_type(facts, TARE_DEVICE_GPU);
	tare_fact_set_text(facts, TARE_FACT_VENDOR, TARE_ORIGIN_DRIVER, "NVIDIA");
	tare_fact_set_text(facts, TARE_FACT_LOADER, TARE_ORIGIN_SYSTEM,
	                   tare_library_name(driver->library));
	if (driver->version > 0) {
		snprintf(text, sizeof text, "CUDA %d.%d", driver->version / 1000,
		         driver->version % 1000 / 10);
		tare_fact_set_text(facts, TARE_FACT_API_VERSION, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_API_VERSION, "the CUDA driver does not tell");
	}
	uuid_fact(driver, device, facts);
	if (driver->call.cuDeviceTotalMem_v2(&bytes, device) == ABI_SUCCESS && bytes)
		tare_fact_set_count(facts, TARE_FACT_MEMORY, TARE_ORIGIN_DRIVER, bytes);
	else
		tare_fact_absent(facts, TARE_FACT_MEMORY, "the CUDA driver does not tell");
}

static void engine_facts(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	int copies = attribute(driver, device, ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT);
	char text[64];

	if (copies >= 0) {
		snprintf(text, sizeof text, "1 compute, %d copy", copies);
		tare_fact_set_text(facts, TARE_FACT_ENGINES, TARE_ORIGIN_DRIVER, text);
	} else {
		tare_fact_absent(facts, TARE_FACT_ENGINES, "the CUDA driver does not tell");
	}
	tare_fact_set_count(facts, TARE_FACT_OUT_OF_ORDER, TARE_ORIGIN_DRIVER, 0);
}

static void mode_fact(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	int mode = attribute(driver, device, ABI_ATTRIBUTE_COMPUTE_MODE);
	const char *text = mode == 0 ? "default: shared by processes"
	                   : mode == ABI_COMPUTEMODE_EXCLUSIVE_PROCESS ? "exclusive process"
	                   : mode == ABI_COMPUTEMODE_PROHIBITED ? "prohibited: nothing may run"
	                                                        : NULL;

	if (text)
		tare_fact_set_text(facts, TARE_FACT_COMPUTE_MODE, TARE_ORIGIN_DRIVER, text);
	else
		tare_fact_absent(facts, TARE_FACT_COMPUTE_MODE, "the CUDA driver does not tell");
}

static void clock_facts(struct tare_facts *facts)
{
	static const char differences[] =
	    "CUDA has no readable counter, only differences of events";
	tare_fact_absent(facts, TARE_FACT_TIMER_RATE, differences);
	tare_fact_absent(facts, TARE_FACT_TIMER_BITS, differences);
	tare_fact_absent(facts, TARE_FACT_TIMER_RESOLUTION,
	                 "CUDA promises about 0.5 µs; `tare latency` measures it");
	tare_fact_set_text(facts, TARE_FACT_TIMER_PAIRS, TARE_ORIGIN_DRIVER,
	                   "by an event and its synchronisation");
	tare_fact_set_text(facts, TARE_FACT_PROFILING, TARE_ORIGIN_DRIVER,
	                   "pairs of events in the stream");
}

static void compute_facts(struct cuda_driver *driver, cu_device device, struct tare_facts *facts)
{
	int major = attribute(driver, device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	int minor = attribute(driver, device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	const struct cuda_lanes *lanes = cuda_lanes_find(major, minor);
	char text[128] = "";

	if (major > 0) {
		snprintf(text, sizeof text, "%s%scompute capability %d.%d",
		         lanes ? lanes->architecture : "", lanes ? ", " : "", major, minor);
		tare_fact_set_text(facts, TARE_FACT_ARCHITECTURE, TARE_ORIGIN_DRIVER, text);
		tare_fact_set_count(facts, TARE_FACT_FP64, TARE_ORIGIN_DRIVER, 1);
		tare_fact_set_count(facts, TARE_FACT_FP16, TARE_ORIGIN_DRIVER,
		                    major > 5 || (major == 5 && minor >= 3));
	} else {
		snprintf(text, sizeof text, "the CUDA driver does not tell the compute capability");
		tare_fact_absent(facts, TARE_FACT_ARCHITECTURE, "%s", text);
		tare_fact_absent(facts, TARE_FACT_FP64, "%s", text);
		tare_fact_absent(facts, TARE_FACT_FP16, "%s", text);
	}
	cuda_set_peaks(facts, major, minor, text);
}

static void memory_peak_fact(struct tare_facts *facts)
{
	const struct tare_fact *clock = &facts->fact[TARE_FACT_MEMORY_CLOCK];
	const struct tare_fact *bus = &facts->fact[TARE_FACT_MEMORY_BUS];

	if (clock->present && bus->present)
		tare_fact_set_rate(facts, TARE_FACT_PEAK_MEMORY, TARE_ORIGIN_FORMULA,
		                   cuda_peak_memory(clock->count, (uint32_t)bus->count));
	else
		tare_fact_absent(facts, TARE_FACT_PEAK_MEMORY,
		                 "memory clock or bus width is not known");
}

int cuda_facts(struct tare_driver *base, uint32_t index, struct tare_facts *facts,
               struct tare_error *error)
{
	struct cuda_driver *driver = (struct cuda_driver *)base;
	cu_device device;
	char pci[32];

	if (index >= driver->count)
		return tare_fail(error, EINVAL, "CUDA has no device %u; it has %u", index,
		                 driver->count);
	cu_result result = driver->call.cuDeviceGet(&device, (int)index);
	if (result != ABI_SUCCESS)
		return cuda_fail(driver, result, "cuDeviceGet", error, "cannot ask CUDA device %u",
		                 index);
	identity_facts(driver, device, facts);
	attribute_facts(driver, device, facts);
	engine_facts(driver, device, facts);
	compute_facts(driver, device, facts);
	memory_peak_fact(facts);
	mode_fact(driver, device, facts);
	clock_facts(facts);
	tare_fact_absent(facts, TARE_FACT_PACKAGE, "the CUDA driver does not tell");
	tare_fact_absent(facts, TARE_FACT_NUMA, "the CUDA driver does not tell");
	tare_fact_absent(facts, TARE_FACT_MEMORY_MAX_ALLOCATION,
	                 "CUDA sets no limit below the memory's size");
	if (pci_address(driver, device, pci) == 0) {
		tare_fact_set_text(facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, pci);
	} else {
		pci[0] = '\0';
		tare_fact_absent(facts, TARE_FACT_PCI, "the CUDA driver does not tell");
	}
	cuda_nvml_facts(&driver->nvml, pci, facts);
	return 0;
}

int cuda_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                 struct tare_error *error)
{
	struct cuda_device *self = cuda_device_of(device);
	int copies = attribute(self->driver, self->handle, ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT);

	if (copies < 0)
		return tare_fail(error, ENOTSUP,
		                 "the CUDA driver does not tell the number of copy engines");
	for (uint32_t i = 0; i <= (uint32_t)copies && i < capacity; i++) {
		engines[i] = (struct tare_engine){
			.class = i ? TARE_ENGINE_COPY : TARE_ENGINE_COMPUTE,
			.index = i ? i - 1 : 0,
			.known = true,
		};
		if (i)
			snprintf(engines[i].title, sizeof engines[i].title, "copy engine %u",
			         i - 1);
		else
			snprintf(engines[i].title, sizeof engines[i].title, "compute");
	}
	return copies + 1;
}

int cuda_telemetry(struct tare_device *device, struct tare_telemetry *telemetry,
                   struct tare_error *error)
{
	struct cuda_device *self = cuda_device_of(device);
	char pci[32];

	if (pci_address(self->driver, self->handle, pci) < 0)
		return tare_fail(error, ENOTSUP,
		                 "the CUDA driver does not tell the device's PCI address");
	return cuda_nvml_telemetry(&self->driver->nvml, pci, telemetry, error);
}
