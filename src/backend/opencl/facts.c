// SPDX-License-Identifier: Apache-2.0
// What OpenCL tells of a device, and the reason where it tells nothing.
#include "backend/opencl/opencl.h"

#include "backend/nvidia_peaks.h"
#include "base/units.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// cl_nv_device_attribute_query; newer headers than Debian 12's have them all.
enum {
	NV_ASYNC_ENGINE_COUNT = 0x4007,
	NV_PCI_BUS = 0x4008,
	NV_PCI_SLOT = 0x4009,
	NV_PCI_DOMAIN = 0x400A,
};

// One device being asked.
struct asked {
	const struct opencl_functions *cl;
	const struct opencl_driver *driver;
	struct opencl_entry entry;
	struct tare_facts *facts;
};

uint32_t opencl_version(const char *text)
{
	unsigned major, minor;
	return sscanf(text, "OpenCL %u.%u", &major, &minor) == 2 ? 100 * major + 10 * minor : 0;
}

bool opencl_has_extension(const struct opencl_functions *cl, cl_device_id device,
                          const char *extension)
{
	size_t bytes = 0, length = strlen(extension);
	bool found = false;

	if (cl->clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != CL_SUCCESS)
		return false;
	char *list = calloc(1, bytes + 1);
	if (list &&
	    cl->clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, list, NULL) == CL_SUCCESS)
		for (char *at = list; !found && (at = strstr(at, extension)); at += length)
			found = (at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]);
	free(list);
	return found;
}

static bool has(const struct asked *asked, const char *extension)
{
	return opencl_has_extension(asked->cl, asked->entry.id, extension);
}

static cl_int ask(const struct asked *asked, cl_device_info name, void *value, size_t bytes)
{
	return asked->cl->clGetDeviceInfo(asked->entry.id, name, bytes, value, NULL);
}

// A text of the device without the blanks that some drivers put around it; "" when refused.
static const char *ask_text(const struct asked *asked, cl_device_info name, char text[256])
{
	memset(text, 0, 256);
	if (ask(asked, name, text, 255) != CL_SUCCESS)
		return "";
	size_t length = strlen(text);
	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
	return text + strspn(text, " ");
}

static void set_text(const struct asked *asked, enum tare_fact_id id, cl_device_info name)
{
	char text[256];
	const char *value = ask_text(asked, name, text);
	if (*value)
		tare_fact_set_text(asked->facts, id, TARE_ORIGIN_DRIVER, value);
	else
		tare_fact_absent(asked->facts, id, "the OpenCL driver does not tell");
}

// How many bytes the answer to a question has.
enum width { WIDTH_UINT = sizeof(cl_uint), WIDTH_ULONG = sizeof(cl_ulong) };

static bool ask_number(const struct asked *asked, cl_device_info name, enum width width,
                       uint64_t *value)
{
	cl_uint narrow = 0;
	cl_ulong wide = 0;
	cl_int code = width == WIDTH_UINT ? ask(asked, name, &narrow, sizeof narrow)
	                                  : ask(asked, name, &wide, sizeof wide);
	*value = width == WIDTH_UINT ? narrow : wide;
	return code == CL_SUCCESS;
}

static void set_identity(const struct asked *asked)
{
	char platform[128] = "", text[256], driver[400];
	cl_device_type type = 0;

	set_text(asked, TARE_FACT_NAME, CL_DEVICE_NAME);
	set_text(asked, TARE_FACT_VENDOR, CL_DEVICE_VENDOR);
	set_text(asked, TARE_FACT_API_VERSION, CL_DEVICE_VERSION);
	asked->cl->clGetPlatformInfo(asked->entry.platform, CL_PLATFORM_NAME, sizeof platform - 1,
	                             platform, NULL);
	const char *version = ask_text(asked, CL_DRIVER_VERSION, text);
	snprintf(driver, sizeof driver, "%s%s%s", platform, *platform && *version ? " " : "",
	         version);
	if (*driver)
		tare_fact_set_text(asked->facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, driver);
	else
		tare_fact_absent(asked->facts, TARE_FACT_DRIVER,
		                 "the OpenCL driver tells neither its name nor its version");
	ask(asked, CL_DEVICE_TYPE, &type, sizeof type);
	tare_facts_set_type(asked->facts, type & CL_DEVICE_TYPE_GPU   ? TARE_DEVICE_GPU
	                                  : type & CL_DEVICE_TYPE_CPU ? TARE_DEVICE_CPU
	                                  : type & CL_DEVICE_TYPE_ACCELERATOR
	                                      ? TARE_DEVICE_ACCELERATOR
	                                      : TARE_DEVICE_OTHER);
}

// Behind the loader is the driver's own library. Objects of an installable driver begin with a
// pointer to its table of functions (cl_khr_icd), so the table's address names the library. Where
// the table is not part of a library's data, nothing is said.
static void set_loader(const struct asked *asked)
{
	const void *table = *(void *const *)(const void *)asked->entry.id;
	const char *loader = tare_library_name(asked->driver->library);
	char text[256];
	Dl_info info;

	if (table && dladdr(table, &info) && info.dli_fname && *info.dli_fname) {
		const char *slash = strrchr(info.dli_fname, '/');
		snprintf(text, sizeof text, "%s, driver %s", loader,
		         slash ? slash + 1 : info.dli_fname);
		loader = text;
	}
	tare_fact_set_text(asked->facts, TARE_FACT_LOADER, TARE_ORIGIN_SYSTEM, loader);
}

static void set_uuid(const struct asked *asked)
{
	unsigned char uuid[CL_UUID_SIZE_KHR] = { 0 };
	char text[40];
	size_t used = 0;

	if (!has(asked, "cl_khr_device_uuid")) {
		tare_fact_absent(asked->facts, TARE_FACT_UUID,
		                 "the driver lacks cl_khr_device_uuid");
		return;
	}
	if (ask(asked, CL_DEVICE_UUID_KHR, uuid, sizeof uuid) != CL_SUCCESS) {
		tare_fact_absent(asked->facts, TARE_FACT_UUID, "the OpenCL driver does not tell");
		return;
	}
	for (size_t i = 0; i < sizeof uuid; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%02x",
		                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	tare_fact_set_text(asked->facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, text);
}

static void set_pci_text(const struct asked *asked, unsigned domain, unsigned bus, unsigned device,
                         unsigned function)
{
	char text[32];
	snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, device, function);
	tare_fact_set_text(asked->facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER, text);
}

static void set_pci(const struct asked *asked)
{
	cl_device_pci_bus_info_khr khr;
	cl_device_topology_amd amd;
	uint64_t domain = 0, bus, slot;

	if (has(asked, "cl_khr_pci_bus_info") &&
	    ask(asked, CL_DEVICE_PCI_BUS_INFO_KHR, &khr, sizeof khr) == CL_SUCCESS) {
		set_pci_text(asked, khr.pci_domain, khr.pci_bus, khr.pci_device, khr.pci_function);
	} else if (has(asked, "cl_nv_device_attribute_query") &&
	           ask_number(asked, NV_PCI_BUS, WIDTH_UINT, &bus) &&
	           ask_number(asked, NV_PCI_SLOT, WIDTH_UINT, &slot)) {
		// The slot holds device and function as PCI packs them. Old drivers know no domain.
		ask_number(asked, NV_PCI_DOMAIN, WIDTH_UINT, &domain);
		set_pci_text(asked, (unsigned)domain, (unsigned)bus, (unsigned)slot >> 3,
		             (unsigned)slot & 7);
	} else if (has(asked, "cl_amd_device_attribute_query") &&
	           ask(asked, CL_DEVICE_TOPOLOGY_AMD, &amd, sizeof amd) == CL_SUCCESS &&
	           amd.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD) {
		set_pci_text(asked, 0, (unsigned char)amd.pcie.bus, (unsigned char)amd.pcie.device,
		             (unsigned char)amd.pcie.function);
	} else {
		tare_fact_absent(asked->facts, TARE_FACT_PCI,
		                 "the driver lacks cl_khr_pci_bus_info");
	}
}

// NVIDIA answers with 32 KB a unit (4224 KB on an H200, whose last-level cache has 60 MB).
static void disown_cache(struct tare_facts *facts)
{
	const struct tare_fact *cache = &facts->fact[TARE_FACT_CACHE];
	char size[TARE_UNIT_TEXT];

	if (cache->present)
		tare_fact_absent(facts, TARE_FACT_CACHE,
		                 "what NVIDIA's OpenCL tells (%s) is not the last-level cache",
		                 tare_format_bytes(cache->count, size));
}

// After the numbers: the peaks are made of them.
static void set_architecture(const struct asked *asked)
{
	uint64_t major, minor;
	char text[64];

	if (has(asked, "cl_nv_device_attribute_query") &&
	    ask_number(asked, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, WIDTH_UINT, &major) &&
	    ask_number(asked, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, WIDTH_UINT, &minor)) {
		snprintf(text, sizeof text, "compute capability %u.%u", (unsigned)major,
		         (unsigned)minor);
		tare_fact_set_text(asked->facts, TARE_FACT_ARCHITECTURE, TARE_ORIGIN_DRIVER, text);
		cuda_set_peaks(asked->facts, (int)major, (int)minor, "");
		disown_cache(asked->facts);
	} else {
		tare_fact_absent(asked->facts, TARE_FACT_ARCHITECTURE, "OpenCL does not tell");
	}
}

// Facts that one question answers with one number.
static void set_numbers(const struct asked *asked)
{
	static const struct {
		enum tare_fact_id id;
		cl_device_info name;
		enum width width;
		uint64_t factor;
		bool zero_is_unknown;
	} rows[] = {
		{ TARE_FACT_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS, WIDTH_UINT, 1, true },
		{ TARE_FACT_WORK_GROUP, CL_DEVICE_MAX_WORK_GROUP_SIZE, WIDTH_ULONG, 1, true },
		{ TARE_FACT_CLOCK, CL_DEVICE_MAX_CLOCK_FREQUENCY, WIDTH_UINT, 1000000, true },
		{ TARE_FACT_MEMORY, CL_DEVICE_GLOBAL_MEM_SIZE, WIDTH_ULONG, 1, true },
		{ TARE_FACT_MEMORY_MAX_ALLOCATION, CL_DEVICE_MAX_MEM_ALLOC_SIZE, WIDTH_ULONG, 1,
		  true },
		{ TARE_FACT_CACHE, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, WIDTH_ULONG, 1, true },
		{ TARE_FACT_LOCAL_MEMORY, CL_DEVICE_LOCAL_MEM_SIZE, WIDTH_ULONG, 1, true },
		{ TARE_FACT_UNIFIED, CL_DEVICE_HOST_UNIFIED_MEMORY, WIDTH_UINT, 1, false },
		{ TARE_FACT_ECC, CL_DEVICE_ERROR_CORRECTION_SUPPORT, WIDTH_UINT, 1, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value;
		if (!ask_number(asked, rows[i].name, rows[i].width, &value))
			tare_fact_absent(asked->facts, rows[i].id,
			                 "the OpenCL driver does not tell");
		else if (!value && rows[i].zero_is_unknown)
			tare_fact_absent(asked->facts, rows[i].id, "the OpenCL driver says 0");
		else
			tare_fact_set_count(asked->facts, rows[i].id, TARE_ORIGIN_DRIVER,
			                    value * rows[i].factor);
	}
}

// The widest sub-group, by whichever extension the vendor has for it.
static void set_sub_group(const struct asked *asked)
{
	size_t sizes[16] = { 0 };
	uint64_t width = 0;

	if (has(asked, "cl_intel_required_subgroup_size") &&
	    ask(asked, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizes, sizeof sizes) == CL_SUCCESS) {
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			width = sizes[i] > width ? sizes[i] : width;
	} else if (has(asked, "cl_nv_device_attribute_query")) {
		ask_number(asked, CL_DEVICE_WARP_SIZE_NV, WIDTH_UINT, &width);
	} else if (has(asked, "cl_amd_device_attribute_query")) {
		ask_number(asked, CL_DEVICE_WAVEFRONT_WIDTH_AMD, WIDTH_UINT, &width);
	}
	if (width)
		tare_fact_set_count(asked->facts, TARE_FACT_SUB_GROUP, TARE_ORIGIN_DRIVER, width);
	else
		tare_fact_absent(asked->facts, TARE_FACT_SUB_GROUP,
		                 "OpenCL tells it of a kernel, not of a device");
}

static void set_precision(const struct asked *asked)
{
	cl_device_fp_config config = 0;
	bool known = ask(asked, CL_DEVICE_DOUBLE_FP_CONFIG, &config, sizeof config) == CL_SUCCESS;

	tare_fact_set_count(asked->facts, TARE_FACT_FP64, TARE_ORIGIN_DRIVER,
	                    known ? config != 0 : has(asked, "cl_khr_fp64"));
	tare_fact_set_count(asked->facts, TARE_FACT_FP16, TARE_ORIGIN_DRIVER,
	                    has(asked, "cl_khr_fp16"));
}

static void set_clock(const struct asked *asked)
{
	struct tare_facts *facts = asked->facts;
	cl_command_queue_properties properties = 0;
	size_t resolution = 0;

	ask(asked, CL_DEVICE_QUEUE_PROPERTIES, &properties, sizeof properties);
	tare_fact_set_count(facts, TARE_FACT_OUT_OF_ORDER, TARE_ORIGIN_DRIVER,
	                    (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0);
	if (!(properties & CL_QUEUE_PROFILING_ENABLE)) {
		static const enum tare_fact_id ids[] = {
			TARE_FACT_PROFILING,  TARE_FACT_TIMER_RATE,  TARE_FACT_TIMER_RESOLUTION,
			TARE_FACT_TIMER_BITS, TARE_FACT_TIMER_PAIRS,
		};
		for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
			tare_fact_absent(facts, ids[i], "this device's queues do not profile");
		return;
	}
	tare_fact_set_text(facts, TARE_FACT_PROFILING, TARE_ORIGIN_DRIVER,
	                   "queued, submitted, start, end");
	// OpenCL 5.14 fixes both: stamps are nanoseconds in 64 bits, whatever counts below them.
	tare_fact_set_count(facts, TARE_FACT_TIMER_RATE, TARE_ORIGIN_DRIVER, 1000000000);
	tare_fact_set_count(facts, TARE_FACT_TIMER_BITS, TARE_ORIGIN_DRIVER, 64);
	if (ask(asked, CL_DEVICE_PROFILING_TIMER_RESOLUTION, &resolution, sizeof resolution) ==
	        CL_SUCCESS &&
	    resolution)
		tare_fact_set_rate(facts, TARE_FACT_TIMER_RESOLUTION, TARE_ORIGIN_DRIVER,
		                   (double)resolution);
	else
		tare_fact_absent(facts, TARE_FACT_TIMER_RESOLUTION,
		                 "the OpenCL driver does not tell");
	tare_fact_set_text(facts, TARE_FACT_TIMER_PAIRS, TARE_ORIGIN_DRIVER,
	                   opencl_timer_pairs(asked->cl, &asked->entry)
	                       ? "clGetDeviceAndHostTimer"
	                       : "bracketed by an enqueue (clGetDeviceAndHostTimer is not usable)");
}

// Engines. NVIDIA's driver counts its copy engines; elsewhere OpenCL says nothing, and what stands
// here is what devices of the type usually have.
static uint32_t list_engines(const struct asked *asked, struct tare_engine *engines,
                             uint32_t capacity)
{
	cl_device_type type = 0;
	uint64_t copies = 0;
	bool known = has(asked, "cl_nv_device_attribute_query") &&
	             ask_number(asked, NV_ASYNC_ENGINE_COUNT, WIDTH_UINT, &copies);

	ask(asked, CL_DEVICE_TYPE, &type, sizeof type);
	if (!known)
		copies = type & CL_DEVICE_TYPE_GPU ? 1 : 0;
	for (uint32_t i = 0; i < 1 + copies && i < capacity; i++) {
		engines[i] = (struct tare_engine){
			.class = i ? TARE_ENGINE_COPY : TARE_ENGINE_COMPUTE,
			.index = i ? i - 1 : 0,
			.known = known,
		};
		if (i)
			snprintf(engines[i].title, sizeof engines[i].title, "copy engine %u",
			         i - 1);
		else
			snprintf(engines[i].title, sizeof engines[i].title, "compute%s",
			         copies ? "" : ", copies too");
	}
	return 1 + (uint32_t)copies;
}

static void set_engines(const struct asked *asked)
{
	struct tare_engine first;
	uint32_t copies = list_engines(asked, &first, 1) - 1;
	char text[64];

	if (first.known)
		tare_fact_set_count(asked->facts, TARE_FACT_COPY_ENGINES, TARE_ORIGIN_DRIVER,
		                    copies);
	else
		tare_fact_absent(asked->facts, TARE_FACT_COPY_ENGINES, "OpenCL does not tell");
	snprintf(text, sizeof text, copies ? "1 compute, %u copy" : "1 compute, copies too",
	         copies);
	tare_fact_set_text(asked->facts, TARE_FACT_ENGINES,
	                   first.known ? TARE_ORIGIN_DRIVER : TARE_ORIGIN_GUESS, text);
}

int opencl_device_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
                        struct tare_error *error)
{
	const struct opencl_driver *own = (struct opencl_driver *)driver;

	if (index >= own->count)
		return tare_fail(error, EINVAL, "there is no OpenCL device %u", index);
	// What comes after is Level Zero's words; nobody asks OpenCL for them.
	for (int id = 0; id < TARE_FACT_DEVICE_ID; id++)
		tare_fact_absent(facts, (enum tare_fact_id)id, "OpenCL does not tell");
	const struct asked asked = { &own->cl, own, own->entries[index], facts };
	set_identity(&asked);
	set_loader(&asked);
	set_uuid(&asked);
	set_pci(&asked);
	set_numbers(&asked);
	set_architecture(&asked);
	set_sub_group(&asked);
	set_precision(&asked);
	set_clock(&asked);
	set_engines(&asked);
	return 0;
}

int opencl_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                   struct tare_error *error)
{
	const struct opencl_device *own = opencl_device(device);
	const struct asked asked = { .cl = own->cl, .entry = own->entry };

	(void)error;
	return (int)list_engines(&asked, engines, capacity);
}
