// SPDX-License-Identifier: Apache-2.0
// Platforms, devices and contexts: what they say of themselves, and their clocks.
#include "guest/opencl/layer.h"

#include <dlfcn.h>
#include <string.h>

#ifndef CL_DEVICE_UUID_KHR
#define CL_DEVICE_UUID_KHR 0x106A
#endif
#ifndef CL_DEVICE_PCI_BUS_INFO_KHR
#define CL_DEVICE_PCI_BUS_INFO_KHR 0x410F
#endif
#define PCI_BUS_NV 0x4008
#define PCI_SLOT_NV 0x4009
#define PCI_DOMAIN_NV 0x400A

enum { MOST_DEVICES = 128, TEXT_BYTES = 256 };

static struct layer_device devices[MOST_DEVICES];
static _Atomic uint32_t device_count;
static struct guest_defined platforms;
static guest_lock lock; // of both lists; never held across a call
static _Atomic uint32_t context_count;

void layer_devices_begin(void)
{
	guest_lock_register(&lock);
}

const char *layer_pin(const void *address)
{
	Dl_info where;
	if (address == NULL || dladdr(address, &where) == 0 || where.dli_fname == NULL)
		return NULL;
	// Harvesting goes on in the helper thread after the program has unloaded the driver.
	(void)dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return where.dli_fname;
}

static uint32_t platform_text(cl_platform_id platform, cl_platform_info name)
{
	char text[TEXT_BYTES] = "";
	if (layer_next.clGetPlatformInfo(platform, name, sizeof text - 1, text, NULL) != CL_SUCCESS)
		return 0;
	return guest_text(text, strlen(text));
}

static void define_platform(cl_platform_id platform)
{
	layer_define(TARE_OBJECT_PLATFORM, platform, NULL, NULL, 0, 0,
	             platform_text(platform, CL_PLATFORM_NAME), 0);
	layer_fact(TARE_TRACE_FACT_VENDOR, platform, 0, NULL,
	           platform_text(platform, CL_PLATFORM_VENDOR));
	layer_fact(TARE_TRACE_FACT_API_VERSION, platform, 0, NULL,
	           platform_text(platform, CL_PLATFORM_VERSION));
	// Every object of an installable driver begins with a pointer to its functions.
	const void *const *const *table = (const void *const *const *)platform;
	const char *library = layer_pin((*table)[0]);
	if (library != NULL)
		layer_fact(TARE_TRACE_FACT_LIBRARY, platform, 0, NULL,
		           guest_text(library, strlen(library)));
}

void layer_platform_seen(cl_platform_id platform)
{
	layer_lock(&lock);
	bool define = platform != NULL && guest_defines_first(&platforms, platform);
	layer_unlock(&lock);
	if (define && layer_next.clGetPlatformInfo != NULL)
		define_platform(platform);
}

// ---- devices

static bool ask(cl_device_id device, cl_device_info name, size_t bytes, void *value)
{
	return layer_next.clGetDeviceInfo != NULL &&
	       layer_next.clGetDeviceInfo(device, name, bytes, value, NULL) == CL_SUCCESS;
}

static uint32_t device_text(cl_device_id device, cl_device_info name)
{
	char text[TEXT_BYTES] = "";
	if (!ask(device, name, sizeof text - 1, text))
		return 0;
	return guest_text(text, strlen(text));
}

static void number_fact(cl_device_id device, enum tare_trace_fact fact, cl_device_info name,
                        size_t bytes, uint64_t factor)
{
	uint64_t value = 0; // little-endian, as all of the trace
	if (ask(device, name, bytes, &value))
		layer_fact(fact, device, value * factor, NULL, 0);
}

static void text_fact(cl_device_id device, enum tare_trace_fact fact, cl_device_info name)
{
	uint32_t text = device_text(device, name);
	if (text != 0)
		layer_fact(fact, device, 0, NULL, text);
}

static void identity_facts(cl_device_id device)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char uuid[16];
	if (ask(device, CL_DEVICE_UUID_KHR, sizeof uuid, uuid)) {
		char text[32];
		for (int i = 0; i < 16; i++) {
			text[2 * i] = digits[uuid[i] >> 4];
			text[2 * i + 1] = digits[uuid[i] & 15];
		}
		layer_fact(TARE_TRACE_FACT_UUID, device, 0, NULL, guest_text(text, sizeof text));
	}
	cl_uint pci[4] = { 0 }; // domain, bus, device, function
	bool known = ask(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof pci, pci);
	if (!known && ask(device, PCI_BUS_NV, sizeof pci[1], &pci[1])) {
		cl_uint slot = 0;
		known = ask(device, PCI_SLOT_NV, sizeof slot, &slot);
		ask(device, PCI_DOMAIN_NV, sizeof pci[0], &pci[0]);
		pci[2] = slot >> 3;
		pci[3] = slot & 7;
	}
	if (known) {
		char text[40];
		const unsigned values[] = { pci[0] >> 12 & 15,
			                    pci[0] >> 8 & 15,
			                    pci[0] >> 4 & 15,
			                    pci[0] & 15,
			                    16,
			                    pci[1] >> 4 & 15,
			                    pci[1] & 15,
			                    16,
			                    pci[2] >> 4 & 15,
			                    pci[2] & 15,
			                    17,
			                    pci[3] & 15 };
		for (size_t i = 0; i < 12; i++)
			text[i] = values[i] < 16 ? digits[values[i]] : values[i] == 16 ? ':' : '.';
		layer_fact(TARE_TRACE_FACT_PCI, device, 0, NULL, guest_text(text, 12));
	}
}

static void define_device(const struct layer_device *entry)
{
	cl_device_id device = entry->handle;
	cl_ulong bytes = 0;
	ask(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes);
	layer_define(TARE_OBJECT_DEVICE, device, entry->platform, NULL, 0, bytes,
	             device_text(device, CL_DEVICE_NAME), entry->number);
	text_fact(device, TARE_TRACE_FACT_VENDOR, CL_DEVICE_VENDOR);
	text_fact(device, TARE_TRACE_FACT_DRIVER_VERSION, CL_DRIVER_VERSION);
	text_fact(device, TARE_TRACE_FACT_API_VERSION, CL_DEVICE_VERSION);
	number_fact(device, TARE_TRACE_FACT_DEVICE_TYPE, CL_DEVICE_TYPE, sizeof(cl_device_type), 1);
	number_fact(device, TARE_TRACE_FACT_COMPUTE_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS,
	            sizeof(cl_uint), 1);
	number_fact(device, TARE_TRACE_FACT_CLOCK_HZ, CL_DEVICE_MAX_CLOCK_FREQUENCY,
	            sizeof(cl_uint), 1000000);
	number_fact(device, TARE_TRACE_FACT_GROUP_LIMIT, CL_DEVICE_MAX_WORK_GROUP_SIZE,
	            sizeof(size_t), 1);
	number_fact(device, TARE_TRACE_FACT_LOCAL_BYTES, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong),
	            1);
	number_fact(device, TARE_TRACE_FACT_TIMER_RESOLUTION_NS,
	            CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t), 1);
	number_fact(device, TARE_TRACE_FACT_UNIFIED_MEMORY, CL_DEVICE_HOST_UNIFIED_MEMORY,
	            sizeof(cl_bool), 1);
	identity_facts(device);
}

static struct layer_device *entry_of(cl_device_id device)
{
	struct layer_device *entry = NULL;
	layer_lock(&lock);
	uint32_t count = atomic_load_explicit(&device_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count && entry == NULL; i++)
		entry = devices[i].handle == device ? &devices[i] : NULL;
	if (entry == NULL && count < MOST_DEVICES) {
		entry = &devices[count];
		entry->handle = device;
		entry->number = guest_device_number();
		atomic_store_explicit(&device_count, count + 1, memory_order_relaxed);
	}
	layer_unlock(&lock);
	return entry;
}

struct layer_device *layer_device_find(cl_device_id device)
{
	uint32_t process = atomic_load(&guest_process);
	struct layer_device *entry = device != NULL ? entry_of(device) : NULL;
	if (entry == NULL || atomic_exchange(&entry->process, process) == process)
		return entry;
	ask(device, CL_DEVICE_PLATFORM, sizeof entry->platform, &entry->platform);
	layer_platform_seen(entry->platform);
	define_device(entry);
	return entry;
}

void layer_clock_pair(struct guest_thread *thread, struct layer_device *device, uint64_t now)
{
	uint64_t last = atomic_load_explicit(&device->paired_ticks, memory_order_relaxed);
	if (atomic_load_explicit(&device->no_timer, memory_order_relaxed) ||
	    (last != 0 && now - last < guest_ticks_of_ns(250000000)) ||
	    !atomic_compare_exchange_strong(&device->paired_ticks, &last, now))
		return;
	cl_ulong device_time = 0, host_time = 0;
	uint32_t aside = guest_aside_begin(thread, TARE_TRACE_OPENCL);
	uint64_t before = guest_ticks();
	bool told = layer_next.clGetDeviceAndHostTimer != NULL &&
	            layer_next.clGetDeviceAndHostTimer(device->handle, &device_time, &host_time) ==
	                CL_SUCCESS &&
	            device_time != 0;
	uint64_t after = guest_ticks();
	guest_aside_end(thread, aside);
	if (!told) {
		atomic_store(&device->no_timer, true);
		return;
	}
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->clock_pair = (struct tare_trace_clock_pair){ .before = before,
		                                             .value = device_time,
		                                             .after = after,
		                                             .device = (uintptr_t)device->handle };
	guest_commit(record, tare_trace_head(TARE_TRACE_CLOCK_PAIR, TARE_TRACE_OPENCL,
	                                     TARE_CLOCK_DEVICE, thread->track));
}

// ---- what the program does

void layer_after_clGetPlatformIDs(struct guest_thread *thread, cl_int result, cl_uint entries,
                                  cl_platform_id *found, cl_uint *count)
{
	for (cl_uint i = 0; result == CL_SUCCESS && found != NULL && i < entries; i++) {
		// Without a count it is not known how many were filled in, but for the first.
		if (count != NULL ? i >= *count : i > 0)
			break;
		layer_platform_seen(found[i]);
	}
}

void layer_after_clGetDeviceIDs(struct guest_thread *thread, cl_int result, cl_platform_id platform,
                                cl_device_type type, cl_uint entries, cl_device_id *found,
                                cl_uint *count)
{
	for (cl_uint i = 0; result == CL_SUCCESS && found != NULL && i < entries; i++) {
		if (count != NULL ? i >= *count : i > 0)
			break;
		layer_device_find(found[i]);
	}
}

void layer_after_clCreateSubDevices(struct guest_thread *thread, cl_int result, cl_device_id parent,
                                    const cl_device_partition_property *properties, cl_uint entries,
                                    cl_device_id *made, cl_uint *count)
{
	for (cl_uint i = 0; result == CL_SUCCESS && made != NULL && i < entries; i++) {
		if (count != NULL ? i >= *count : i > 0)
			break;
		// The handle may have been another part's before.
		struct layer_device *entry = entry_of(made[i]);
		if (entry != NULL)
			atomic_store(&entry->process, 0);
		layer_device_find(made[i]);
	}
}

static void define_context(const struct guest_thread *thread, cl_context context)
{
	enum { MOST = 64 };
	cl_device_id found[MOST];
	size_t bytes = 0;
	if (layer_next.clGetContextInfo == NULL ||
	    layer_next.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof found, found, &bytes) !=
	        CL_SUCCESS)
		bytes = 0;
	for (size_t i = 0; i < bytes / sizeof *found && i < MOST; i++)
		layer_device_find(found[i]);
	uint32_t number = atomic_fetch_add(&context_count, 1) + 1;
	layer_object_new(TARE_OBJECT_CONTEXT, context);
	layer_define(TARE_OBJECT_CONTEXT, context, NULL, NULL, 0, 0, 0, number);
	for (size_t i = 0; i < bytes / sizeof *found && i < MOST; i++)
		layer_fact(TARE_TRACE_FACT_DEVICE_OF, context, 0, found[i], 0);
	layer_driver_cost_first(thread, context, bytes >= sizeof *found ? found[0] : NULL);
}

void layer_after_clCreateContext(struct guest_thread *thread, cl_context result,
                                 const cl_context_properties *properties, cl_uint count,
                                 const cl_device_id *list,
                                 void(CL_CALLBACK *notify)(const char *, const void *, size_t,
                                                           void *),
                                 void *data, cl_int *error)
{
	if (result != NULL)
		define_context(thread, result);
}

void layer_after_clCreateContextFromType(
    struct guest_thread *thread, cl_context result, const cl_context_properties *properties,
    cl_device_type type, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
    void *data, cl_int *error)
{
	if (result != NULL)
		define_context(thread, result);
}
