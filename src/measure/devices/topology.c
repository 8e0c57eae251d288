// SPDX-License-Identifier: Apache-2.0
// Where a device sits in the host: hwloc, without its own GPU components, and /sys.
#include "measure/devices/devices.h"

#include "base/cleanup.h"
#include "tare_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if TARE_HAVE_TOPOLOGY
#include <hwloc.h>

// hwloc's own CUDA, OpenCL, Level Zero and NVML components would open the vendors' libraries
// behind our back.
static hwloc_topology_t load_topology(void)
{
	static const char *const banned[] = { "cuda", "nvml", "opencl", "levelzero", "rsmi", "gl" };
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof banned / sizeof *banned; i++)
		hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
		                              banned[i]);
	hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (hwloc_topology_load(topology) < 0) {
		hwloc_topology_destroy(topology);
		return NULL;
	}
	return topology;
}

// Packages or NUMA nodes that are local to `cpus`: "0", "0, 1".
static void list_local(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t cpus,
                       char *text, size_t size)
{
	hwloc_obj_t object = NULL;
	size_t length = 0;

	text[0] = '\0';
	while ((object = hwloc_get_next_obj_by_type(topology, type, object)) && length < size) {
		if (!object->cpuset || !hwloc_bitmap_intersects(object->cpuset, cpus))
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%u", length ? ", " : "",
		                           object->os_index);
	}
}

static void set_or_absent(struct tare_facts *facts, enum tare_fact_id id, const char *text,
                          const char *reason)
{
	if (facts->fact[id].present)
		return;
	if (text[0])
		tare_fact_set_text(facts, id, TARE_ORIGIN_SYSTEM, text);
	else
		tare_fact_absent(facts, id, "%s", reason);
}

static void place(hwloc_topology_t topology, struct tare_facts *facts)
{
	const struct tare_fact *pci = &facts->fact[TARE_FACT_PCI];
	hwloc_const_cpuset_t cpus = hwloc_topology_get_topology_cpuset(topology);
	char text[64];

	if (pci->present) {
		hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, pci->text);
		if (!device) {
			set_or_absent(facts, TARE_FACT_PACKAGE, "",
			              "hwloc sees no device at its PCI address");
			set_or_absent(facts, TARE_FACT_NUMA, "",
			              "hwloc sees no device at its PCI address");
			return;
		}
		cpus = hwloc_get_non_io_ancestor_obj(topology, device)->cpuset;
	} else if (tare_facts_type(facts) != TARE_DEVICE_CPU) {
		set_or_absent(facts, TARE_FACT_PACKAGE, "", "its PCI address is not known");
		set_or_absent(facts, TARE_FACT_NUMA, "", "its PCI address is not known");
		return;
	}
	list_local(topology, HWLOC_OBJ_PACKAGE, cpus, text, sizeof text);
	set_or_absent(facts, TARE_FACT_PACKAGE, text, "hwloc sees no package");
	list_local(topology, HWLOC_OBJ_NUMANODE, cpus, text, sizeof text);
	set_or_absent(facts, TARE_FACT_NUMA, text, "hwloc sees no NUMA node");
}

static void place_by_topology(struct tare_facts *facts)
{
	hwloc_topology_t topology = load_topology();

	if (!topology) {
		set_or_absent(facts, TARE_FACT_PACKAGE, "", "hwloc could not read this host");
		set_or_absent(facts, TARE_FACT_NUMA, "", "hwloc could not read this host");
		return;
	}
	place(topology, facts);
	hwloc_topology_destroy(topology);
}
#else
static void place_by_topology(struct tare_facts *facts)
{
	tare_fact_absent(facts, TARE_FACT_PACKAGE, "built without hwloc");
	tare_fact_absent(facts, TARE_FACT_NUMA, "built without hwloc");
}
#endif

// One line of /sys/bus/pci/devices/ADDRESS/name, or "".
static void read_pci_attribute(const char *address, const char *name, char *text, size_t size)
{
	char path[160];
	TARE_FCLOSE FILE *file = NULL;

	text[0] = '\0';
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/%s", address, name);
	file = fopen(path, "re");
	if (!file || !fgets(text, (int)size, file))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

// "PCIe 5.0 x16" from the kernel's "32.0 GT/s PCIe" and "16"; "" where it does not tell.
static void describe_link(const char *speed, const char *width, char *text, size_t size)
{
	static const struct {
		double gt_per_s;
		const char *generation;
	} rows[] = {
		{ 2.5, "1.0" }, { 5, "2.0" },  { 8, "3.0" },
		{ 16, "4.0" },  { 32, "5.0" }, { 64, "6.0" },
	};
	double rate = atof(speed);

	text[0] = '\0';
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rate > 0.99 * rows[i].gt_per_s && rate < 1.01 * rows[i].gt_per_s &&
		    atoi(width) > 0)
			snprintf(text, size, "PCIe %s x%d", rows[i].generation, atoi(width));
}

static void read_link(struct tare_facts *facts, enum tare_fact_id id, const char *speed_name,
                      const char *width_name)
{
	const struct tare_fact *pci = &facts->fact[TARE_FACT_PCI];
	char speed[64], width[64], link[64];

	if (facts->fact[id].present)
		return; // the driver's word is better: it knows a bridge on the board
	if (!pci->present) {
		tare_fact_absent(facts, id, "its PCI address is not known");
		return;
	}
	read_pci_attribute(pci->text, speed_name, speed, sizeof speed);
	read_pci_attribute(pci->text, width_name, width, sizeof width);
	describe_link(speed, width, link, sizeof link);
	if (link[0])
		tare_fact_set_text(facts, id, TARE_ORIGIN_SYSTEM, link);
	else
		tare_fact_absent(facts, id, "the kernel tells no link for %.64s", pci->text);
}

void tare_topology_of_device(struct tare_facts *facts)
{
	place_by_topology(facts);
	read_link(facts, TARE_FACT_LINK_NOW, "current_link_speed", "current_link_width");
	read_link(facts, TARE_FACT_LINK_MAX, "max_link_speed", "max_link_width");
}

// The processor's name as the kernel prints it.
static void add_processor(struct tare_labels *host)
{
	TARE_FCLOSE FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];

	while (file && fgets(line, sizeof line, file)) {
		char *value = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		tare_labels_set_text(host, "processor", value);
		return;
	}
	tare_labels_set_text(host, "processor", "n/a");
}

void tare_topology_of_host(struct tare_labels *host)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	struct utsname system;
	char text[2 * sizeof system.sysname];

	if (uname(&system) == 0) {
		snprintf(text, sizeof text, "%s %s", system.sysname, system.release);
		tare_labels_set_text(host, "system", text);
		tare_labels_set_text(host, "machine", system.machine);
	}
	add_processor(host);
	if (processors > 0)
		tare_labels_set_number(host, "processors", processors);
	if (pages > 0)
		tare_labels_set_number(host, "memory_bytes",
		                       (int64_t)pages * sysconf(_SC_PAGESIZE));
}
