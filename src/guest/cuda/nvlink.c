// SPDX-License-Identifier: Apache-2.0
// How many NVLinks lie between two devices, by NVML. To begin with that takes some 50 ms, so it is
// asked when the program has ended.
#include "backend/cuda/nvml/nvml_abi.h"
#include "guest/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nvml_functions nvml;
// Where the devices are; of those that were not asked for the address is "".
static nvml_pci places[CUDA_MOST_DEVICES];

// Stays open: the program may use it, too.
static bool open_nvml(void)
{
#define REQUIRED(name, parameters) { #name, &nvml.name, true },
#define OPTIONAL(name, parameters) { #name, &nvml.name, false },
	static const struct cuda_symbol symbols[] = { NVML_FUNCTIONS(REQUIRED, OPTIONAL) };
#undef REQUIRED
#undef OPTIONAL
	const char *told = getenv("TARE_NVML_LIBRARY");
	void *library =
	    dlopen(told && told[0] ? told : "libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	return library && cuda_find_symbols(library, symbols, sizeof symbols / sizeof *symbols) &&
	       nvml.nvmlDeviceGetP2PStatus && nvml.nvmlDeviceGetNvLinkState &&
	       nvml.nvmlDeviceGetNvLinkRemoteDeviceType && nvml.nvmlInit_v2() == ABI_NVML_SUCCESS;
}

void cuda_nvlinks_of(cu_device device)
{
	nvml_pci place = { .domain = 0 };
	char text[sizeof place.address];
	if (places[device].address[0] || !cuda_driver.cuDeviceGetPCIBusId ||
	    cuda_driver.cuDeviceGetPCIBusId(text, sizeof text, device) != ABI_SUCCESS ||
	    sscanf(text, "%x:%x:%x", &place.domain, &place.bus, &place.device) != 3)
		return;
	// The driver's letters may be large ones.
	snprintf(place.address, sizeof place.address, "%04x:%02x:%02x.0", place.domain, place.bus,
	         place.device);
	places[device] = place;
}

static bool is_at(nvml_device device, uint32_t link, const nvml_pci *place)
{
	nvml_pci end = { .domain = 0 };
	return nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2 &&
	       nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &end) == ABI_NVML_SUCCESS &&
	       end.domain == place->domain && end.bus == place->bus && end.device == place->device;
}

struct links {
	uint32_t to_other, to_switch;
};

// Those of a device that work.
static struct links links_of(nvml_device device, const nvml_pci *other)
{
	struct links links = { 0, 0 };
	for (uint32_t link = 0; link < ABI_NVML_LINKS; link++) {
		nvml_state works;
		nvml_link_end end;
		if (nvml.nvmlDeviceGetNvLinkState(device, link, &works) != ABI_NVML_SUCCESS ||
		    works != ABI_NVML_ENABLED ||
		    nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &end) !=
		        ABI_NVML_SUCCESS)
			continue;
		links.to_switch += end == ABI_NVML_LINK_TO_SWITCH;
		links.to_other += end == ABI_NVML_LINK_TO_GPU && is_at(device, link, other);
	}
	return links;
}

uint32_t cuda_nvlinks(cu_device first, cu_device second)
{
	static enum { CLOSED, OPEN, FAILED } state;
	nvml_device devices[2];
	nvml_peer_status status;
	struct links from, to;
	if (state == CLOSED)
		state = open_nvml() ? OPEN : FAILED;
	if (state == FAILED)
		return 0;
	for (int i = 0; i < 2; i++) {
		const char *address = places[i ? second : first].address;
		if (!address[0] ||
		    nvml.nvmlDeviceGetHandleByPciBusId_v2(address, &devices[i]) != ABI_NVML_SUCCESS)
			return 0;
	}
	if (nvml.nvmlDeviceGetP2PStatus(devices[0], devices[1], ABI_NVML_PEERS_BY_NVLINK,
	                                &status) != ABI_NVML_SUCCESS ||
	    status != ABI_NVML_PEERS_OK)
		return 0;
	from = links_of(devices[0], &places[second]);
	to = links_of(devices[1], &places[first]);
	if (from.to_other)
		return from.to_other;
	// Through switches each reaches the other by as many as the one with fewer has.
	return from.to_switch < to.to_switch ? from.to_switch : to.to_switch;
}
