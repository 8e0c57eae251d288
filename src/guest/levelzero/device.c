// SPDX-License-Identifier: Apache-2.0
// Drivers, devices and contexts: what they say of themselves, and their clocks.
#include "guest/levelzero/ze.h"

#include <dlfcn.h>
#include <string.h>

enum { MOST_DEVICES = 128 };
// Readings of the clock for one pair; between two pairs lie from LEAST to MOST.
enum { READINGS = 3, LEAST_PAIRING_NS = 1000000, MOST_PAIRING_NS = 100000000 };

static struct ze_device devices[MOST_DEVICES];
static _Atomic uint32_t device_count;
static struct guest_defined platforms;
static guest_lock lock; // of both lists; never held across a call
static _Atomic uint32_t context_count;

static const char digits[] = "0123456789abcdef";

static uint32_t text(const char *words)
{
	return guest_text(words, strlen(words));
}

// ---- drivers

// What a driver's library is called says more than the driver itself, which has no name.
static const char *library_of(const struct ze_driver *driver)
{
	Dl_info where;
	if (dladdr((const void *)driver->call.zeDriverGet, &where) == 0)
		return NULL;
	return where.dli_fname;
}

static void define_platform(const struct ze_driver *driver, ze_driver_handle_t handle)
{
	const char *library = library_of(driver);
	const char *slash = library != NULL ? strrchr(library, '/') : NULL;
	ze_driver_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES };
	ze_define(TARE_OBJECT_PLATFORM, handle, NULL, NULL, 0, 0,
	          library != NULL ? text(slash != NULL ? slash + 1 : library) : 0, 0);
	if (library != NULL)
		ze_fact(TARE_TRACE_FACT_LIBRARY, handle, 0, NULL, text(library));
	if (driver->call.zeDriverGetProperties == NULL ||
	    driver->call.zeDriverGetProperties(handle, &properties) != ZE_RESULT_SUCCESS)
		return;
	char version[8];
	for (int i = 0; i < 8; i++)
		version[i] = digits[properties.driverVersion >> (28 - 4 * i) & 15];
	ze_fact(TARE_TRACE_FACT_DRIVER_VERSION, handle, properties.driverVersion, NULL,
	        guest_text(version, sizeof version));
}

static void platform_seen(const struct ze_driver *driver, ze_driver_handle_t handle)
{
	guest_hold(&lock);
	bool define = handle != NULL && guest_defines_first(&platforms, handle);
	guest_let_go(&lock);
	if (define)
		define_platform(driver, handle);
}

void ze_after_zeDriverGet(struct guest_thread *thread, const struct ze_driver *driver,
                          uint32_t *count, ze_driver_handle_t *found, ze_result_t result)
{
	for (uint32_t i = 0;
	     result == ZE_RESULT_SUCCESS && found != NULL && count != NULL && i < *count; i++)
		platform_seen(driver, found[i]);
}

// ---- devices

static struct ze_device *entry_of(const struct ze_driver *driver, ze_device_handle_t device)
{
	struct ze_device *entry = NULL;
	guest_hold(&lock);
	uint32_t count = atomic_load_explicit(&device_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count && entry == NULL; i++)
		entry = devices[i].handle == device ? &devices[i] : NULL;
	if (entry == NULL && count < MOST_DEVICES) {
		entry = &devices[count];
		entry->handle = device;
		entry->driver = driver;
		entry->number = guest_device_number();
		atomic_store_explicit(&device_count, count + 1, memory_order_relaxed);
	}
	guest_let_go(&lock);
	return entry;
}

// Ticks a second. Some drivers tell nanoseconds a tick whatever is asked; no timer is as slow as
// that number would be in hertz.
static uint64_t timer_hz(uint64_t resolution)
{
	enum { SLOWEST_HZ = 1000 };
	return resolution >= SLOWEST_HZ ? resolution
	       : resolution != 0        ? 1000000000 / resolution
	                                : 0;
}

static void pci_fact(const struct ze_driver *driver, ze_device_handle_t device)
{
	ze_pci_ext_properties_t pci = { .stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES };
	if (driver->call.zeDevicePciGetPropertiesExt == NULL ||
	    driver->call.zeDevicePciGetPropertiesExt(device, &pci) != ZE_RESULT_SUCCESS)
		return;
	const ze_pci_address_ext_t *at = &pci.address;
	const char address[] = { digits[at->domain >> 12 & 15],
		                 digits[at->domain >> 8 & 15],
		                 digits[at->domain >> 4 & 15],
		                 digits[at->domain & 15],
		                 ':',
		                 digits[at->bus >> 4 & 15],
		                 digits[at->bus & 15],
		                 ':',
		                 digits[at->device >> 4 & 15],
		                 digits[at->device & 15],
		                 '.',
		                 digits[at->function & 15] };
	ze_fact(TARE_TRACE_FACT_PCI, device, 0, NULL, guest_text(address, sizeof address));
}

static void uuid_fact(ze_device_handle_t device, const uint8_t id[16])
{
	char uuid[32];
	for (int i = 0; i < 16; i++) {
		uuid[2 * i] = digits[id[i] >> 4];
		uuid[2 * i + 1] = digits[id[i] & 15];
	}
	ze_fact(TARE_TRACE_FACT_UUID, device, 0, NULL, guest_text(uuid, sizeof uuid));
}

// In the bits that the trace has for types of devices, OpenCL's.
static uint64_t type_of(ze_device_type_t type)
{
	return type == ZE_DEVICE_TYPE_CPU ? 2 : type == ZE_DEVICE_TYPE_GPU ? 4 : 8;
}

static void clock_facts(const ze_device_properties_t *properties, ze_device_handle_t device)
{
	ze_fact(TARE_TRACE_FACT_TIMER_HZ, device, timer_hz(properties->timerResolution), NULL, 0);
	ze_fact(TARE_TRACE_FACT_STAMP_BITS, device, properties->kernelTimestampValidBits, NULL, 0);
	ze_fact(TARE_TRACE_FACT_PAIR_BITS, device, properties->timestampValidBits, NULL, 0);
}

static uint64_t memory_bytes(const struct ze_driver *driver, ze_device_handle_t device)
{
	ze_device_memory_properties_t found[8] = { 0 };
	uint32_t count = sizeof found / sizeof *found;
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		found[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
	if (driver->call.zeDeviceGetMemoryProperties == NULL ||
	    driver->call.zeDeviceGetMemoryProperties(device, &count, found) != ZE_RESULT_SUCCESS)
		return 0;
	for (uint32_t i = 0; i < count && i < sizeof found / sizeof *found; i++)
		bytes += found[i].totalSize;
	return bytes;
}

// Bits of the queue groups, by ordinal, whose engines run no kernels; *engines: how many those are.
static uint32_t copying_groups(const struct ze_driver *driver, ze_device_handle_t device,
                               uint64_t *engines)
{
	enum { MOST_GROUPS = 32 };
	ze_command_queue_group_properties_t found[MOST_GROUPS] = { 0 };
	uint32_t count = 0, copying = 0;
	if (driver->call.zeDeviceGetCommandQueueGroupProperties == NULL ||
	    driver->call.zeDeviceGetCommandQueueGroupProperties(device, &count, NULL) !=
	        ZE_RESULT_SUCCESS)
		return 0;
	count = count < MOST_GROUPS ? count : MOST_GROUPS;
	for (uint32_t i = 0; i < count; i++)
		found[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	if (driver->call.zeDeviceGetCommandQueueGroupProperties(device, &count, found) !=
	    ZE_RESULT_SUCCESS)
		return 0;
	for (uint32_t i = 0; i < count && i < MOST_GROUPS; i++)
		if ((found[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) == 0) {
			copying |= UINT32_C(1) << i;
			*engines += found[i].numQueues;
		}
	return copying;
}

// How many sub-devices it has, from 2 on.
static uint32_t count_sub_devices(const struct ze_driver *driver, ze_device_handle_t device)
{
	uint32_t count = 0;
	if (driver->call.zeDeviceGetSubDevices == NULL ||
	    driver->call.zeDeviceGetSubDevices(device, &count, NULL) != ZE_RESULT_SUCCESS)
		return 0;
	return count > 1 ? count : 0;
}

// "NAME", or "NAME, sub-device N": drivers call both the same.
static uint32_t name_of(const ze_device_properties_t *properties)
{
	static const char middle[] = ", sub-device ";
	char words[sizeof properties->name + sizeof middle + 10];
	size_t length = strlen(properties->name);
	memcpy(words, properties->name, length);
	if ((properties->flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0) {
		memcpy(words + length, middle, sizeof middle - 1);
		length += sizeof middle - 1;
		uint32_t unit = 1, number = properties->subdeviceId;
		while (number / unit >= 10)
			unit *= 10;
		for (; unit != 0; unit /= 10)
			words[length++] = digits[number / unit % 10];
	}
	return guest_text(words, length);
}

static void define_device(struct ze_device *entry, ze_driver_handle_t platform)
{
	const struct ze_driver *driver = entry->driver;
	ze_device_handle_t device = entry->handle;
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };
	bool known = driver->call.zeDeviceGetProperties != NULL &&
	             driver->call.zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS;
	properties.name[sizeof properties.name - 1] = '\0';
	uint64_t copy_engines = 0;
	entry->copying = copying_groups(driver, device, &copy_engines);
	ze_define(TARE_OBJECT_DEVICE, device, platform, NULL, 0, memory_bytes(driver, device),
	          known ? name_of(&properties) : 0, entry->number);
	if (!known)
		return;
	ze_fact(TARE_TRACE_FACT_DEVICE_TYPE, device, type_of(properties.type), NULL, 0);
	ze_fact(TARE_TRACE_FACT_COMPUTE_UNITS, device,
	        (uint64_t)properties.numSlices * properties.numSubslicesPerSlice *
	            properties.numEUsPerSubslice,
	        NULL, 0);
	ze_fact(TARE_TRACE_FACT_CLOCK_HZ, device, properties.coreClockRate * UINT64_C(1000000),
	        NULL, 0);
	ze_fact(TARE_TRACE_FACT_UNIFIED_MEMORY, device,
	        (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0, NULL, 0);
	if (copy_engines > 0)
		ze_fact(TARE_TRACE_FACT_COPY_ENGINES, device, copy_engines, NULL, 0);
	entry->timer_hz = timer_hz(properties.timerResolution);
	entry->stamp_bits = properties.kernelTimestampValidBits;
	entry->sub_devices = count_sub_devices(driver, device);
	clock_facts(&properties, device);
	uuid_fact(device, properties.uuid.id);
	pci_fact(driver, device);
	ze_device_compute_properties_t compute = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES
	};
	if (driver->call.zeDeviceGetComputeProperties != NULL &&
	    driver->call.zeDeviceGetComputeProperties(device, &compute) == ZE_RESULT_SUCCESS) {
		ze_fact(TARE_TRACE_FACT_GROUP_LIMIT, device, compute.maxTotalGroupSize, NULL, 0);
		ze_fact(TARE_TRACE_FACT_LOCAL_BYTES, device, compute.maxSharedLocalMemory, NULL, 0);
	}
}

static struct ze_device *device_seen(const struct ze_driver *driver, ze_device_handle_t device,
                                     ze_driver_handle_t platform)
{
	uint32_t process = atomic_load(&guest_process);
	struct ze_device *entry = device != NULL ? entry_of(driver, device) : NULL;
	if (entry != NULL && atomic_exchange(&entry->process, process) != process)
		define_device(entry, platform);
	return entry;
}

struct ze_device *ze_device_find(const struct ze_driver *driver, ze_device_handle_t device)
{
	return device_seen(driver, device, NULL);
}

void ze_sub_devices_define(struct ze_device *device)
{
	enum { MOST = 16 };
	ze_device_handle_t found[MOST] = { NULL };
	uint32_t process = atomic_load(&guest_process), count = device->sub_devices;
	if (count > MOST || atomic_exchange(&device->parted, process) == process ||
	    device->driver->call.zeDeviceGetSubDevices(device->handle, &count, found) !=
	        ZE_RESULT_SUCCESS)
		return;
	for (uint32_t i = 0; i < count && i < MOST; i++)
		if (device_seen(device->driver, found[i], NULL) != NULL)
			ze_fact(TARE_TRACE_FACT_SUB_DEVICE, found[i], i, device->handle, 0);
}

void ze_after_zeDeviceGet(struct guest_thread *thread, const struct ze_driver *driver,
                          ze_driver_handle_t platform, uint32_t *count, ze_device_handle_t *found,
                          ze_result_t result)
{
	for (uint32_t i = 0;
	     result == ZE_RESULT_SUCCESS && found != NULL && count != NULL && i < *count; i++) {
		platform_seen(driver, platform);
		device_seen(driver, found[i], platform);
	}
}

void ze_after_zeDeviceGetSubDevices(struct guest_thread *thread, const struct ze_driver *driver,
                                    ze_device_handle_t device, uint32_t *count,
                                    ze_device_handle_t *found, ze_result_t result)
{
	for (uint32_t i = 0;
	     result == ZE_RESULT_SUCCESS && found != NULL && count != NULL && i < *count; i++)
		device_seen(driver, found[i], NULL);
}

// The narrowest of a few readings; false: the device refuses.
static bool read_clock(const struct ze_device *device, struct tare_trace_clock_pair *best)
{
	for (int i = 0; i < READINGS; i++) {
		uint64_t host_ns = 0, device_ticks = 0, before = guest_ticks();
		if (device->driver->call.zeDeviceGetGlobalTimestamps(
		        device->handle, &host_ns, &device_ticks) != ZE_RESULT_SUCCESS)
			return false;
		uint64_t after = guest_ticks();
		if (i == 0 || after - before < best->after - best->before)
			*best =
			    (struct tare_trace_clock_pair){ .before = before,
				                            .value = device_ticks,
				                            .after = after,
				                            .device = (uintptr_t)device->handle };
	}
	return true;
}

static void pair_after(struct guest_thread *thread, struct ze_device *device, uint64_t last,
                       uint64_t now)
{
	struct tare_trace_clock_pair pair;
	if (atomic_load_explicit(&device->no_timer, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong(&device->paired_ticks, &last, now))
		return;
	if (device->driver->call.zeDeviceGetGlobalTimestamps == NULL ||
	    !read_clock(device, &pair)) {
		atomic_store(&device->no_timer, true);
		return;
	}
	if (last == 0)
		atomic_store_explicit(&device->first_paired_ticks, now, memory_order_relaxed);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->clock_pair = pair;
	guest_commit(record, tare_trace_head(TARE_TRACE_CLOCK_PAIR, TARE_TRACE_LEVELZERO,
	                                     TARE_CLOCK_DEVICE, thread->track));
}

// A quarter of the time that is known already: a run of 10 ms has a few readings, one of an hour
// ten a second.
void ze_clock_pair(struct guest_thread *thread, struct ze_device *device)
{
	uint64_t now = guest_ticks(),
	         last = atomic_load_explicit(&device->paired_ticks, memory_order_relaxed);
	uint64_t known =
	    last - atomic_load_explicit(&device->first_paired_ticks, memory_order_relaxed);
	uint64_t least = guest_ticks_of_ns(LEAST_PAIRING_NS),
	         most = guest_ticks_of_ns(MOST_PAIRING_NS);
	uint64_t spacing = known / 4 < least ? least : known / 4 > most ? most : known / 4;
	if (last == 0 || (now > last && now - last >= spacing))
		pair_after(thread, device, last, now);
}

void ze_clock_pair_behind(struct guest_thread *thread, struct ze_device *device)
{
	uint64_t now = guest_ticks(),
	         last = atomic_load_explicit(&device->paired_ticks, memory_order_relaxed);
	if (last == 0 || (now > last && now - last >= guest_ticks_of_ns(LEAST_PAIRING_NS / 10)))
		pair_after(thread, device, last, now);
}

// ---- contexts

static void define_context(ze_result_t result, const ze_context_handle_t *made)
{
	if (result == ZE_RESULT_SUCCESS && made != NULL)
		ze_define(TARE_OBJECT_CONTEXT, *made, NULL, NULL, 0, 0, 0,
		          atomic_fetch_add(&context_count, 1) + 1);
}

void ze_after_zeContextCreate(struct guest_thread *thread, const struct ze_driver *driver,
                              ze_driver_handle_t platform, const ze_context_desc_t *desc,
                              ze_context_handle_t *made, ze_result_t result)
{
	define_context(result, made);
}

void ze_after_zeContextCreateEx(struct guest_thread *thread, const struct ze_driver *driver,
                                ze_driver_handle_t platform, const ze_context_desc_t *desc,
                                uint32_t count, ze_device_handle_t *list, ze_context_handle_t *made,
                                ze_result_t result)
{
	define_context(result, made);
}
