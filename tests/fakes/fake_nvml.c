// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1: an H200 at 0000:3b:00.0 on PCIe 5.0 x16 that idles at 1.0 x16,
// 345 MHz and 78 W. While the stand-in for libcuda in this process works, and a while longer, it
// runs at 5.0 x16, 1980 MHz and 412 W. Energy is counted from nvmlInit on, by the time that engines
// work.
// TARE_FAKE_NVML, read by nvmlInit_v2, holds words: init=CODE, handle=CODE (no device is given),
// no_link, throttle=BITS, sm=MHZ[:MHZ...] (one after the other, over and over), slow=MS (a call for
// the clock), dies=N (after so many calls for the clock), mig, devices=N (at 3b, 3c and so on),
// no_ecc, slices=CODE (of the question for MIG), loaded=MS (how long that while is, not 100),
// switched (links end in switches), pcie (links, but no way between two devices by them).
#include "backend/cuda/nvml/nvml_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DECLARE(name, parameters) nvml_result name parameters;
NVML_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE
nvml_result nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoule);
nvml_result nvmlDeviceGetEccMode(nvml_device device, nvml_state *now, nvml_state *pending);
nvml_result nvmlDeviceGetComputeMode(nvml_device device, unsigned int *mode);

#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define GPU_IS_LOST 15
#define CLOCKS 16
#define COMPUTE_MODE 20 // the attribute of CUDA
#define DEVICES 8
#define IDLE_MW 77500
#define LOADED_MW 412000

typedef int cu_result_of_attribute(int *value, int attribute, int device);

static bool open_now, no_link, mig, no_ecc, switched, no_peers;
static char handles[DEVICES]; // whose addresses are the devices
static int device_count;
static struct timespec opened;
static unsigned long long throttle;
static bool throttle_told;
static unsigned int clocks[CLOCKS], clock_count;
static int loaded_ms; // for so long after work it counts as loaded
static int slow_ms, dies, no_handle, slices_code;
static unsigned int clock_calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The number after a word, or `otherwise`.
static int number_of(const char *text, const char *word, int otherwise)
{
	const char *at = strstr(text, word);
	return at ? atoi(at + strlen(word)) : otherwise;
}

static uint32_t index_of(nvml_device device)
{
	return (uint32_t)((char *)device - handles);
}

// A function of the stand-in for libcuda, where that is in use; NULL: it is not.
static void *of_cuda(const char *name)
{
	const char *path = getenv("TARE_CUDA_LIBRARY");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	void *symbol = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library);
	return symbol;
}

static int64_t busy_ns(nvml_device device, int64_t *idle_ns)
{
	int64_t (*busy)(uint32_t, int64_t *) = of_cuda("fake_cuda_busy_ns");

	*idle_ns = INT64_MAX;
	return busy ? busy(index_of(device), idle_ns) : 0;
}

static bool loaded(nvml_device device)
{
	int64_t idle_ns;

	busy_ns(device, &idle_ns);
	return idle_ns < loaded_ms * INT64_C(1000000);
}

static void read_clocks(const char *text)
{
	const char *word = strstr(text, "sm=");

	clock_count = 0;
	clock_calls = 0;
	for (char *at = word ? (char *)word + 2 : NULL;
	     at && clock_count < CLOCKS && (*at == ':' || *at == '=');)
		clocks[clock_count++] = (unsigned int)strtoul(at + 1, &at, 10);
}

nvml_result nvmlInit_v2(void)
{
	const char *text = getenv("TARE_FAKE_NVML");
	const char *word;

	text = text ? text : "";
	no_link = strstr(text, "no_link") != NULL;
	word = strstr(text, "throttle=");
	throttle_told = word != NULL;
	throttle = word ? strtoull(word + strlen("throttle="), NULL, 0) : 1;
	read_clocks(text);
	slow_ms = number_of(text, "slow=", 0);
	loaded_ms = number_of(text, "loaded=", 100);
	dies = number_of(text, "dies=", -1);
	no_handle = number_of(text, "handle=", ABI_NVML_SUCCESS);
	mig = strstr(text, "mig") != NULL;
	slices_code = number_of(text, "slices=", ABI_NVML_SUCCESS);
	no_ecc = strstr(text, "no_ecc") != NULL;
	switched = strstr(text, "switched") != NULL;
	no_peers = strstr(text, "pcie") != NULL;
	device_count = number_of(text, "devices=", 1);
	clock_gettime(CLOCK_MONOTONIC_RAW, &opened);
	word = strstr(text, "init=");
	open_now = word == NULL;
	return word ? atoi(word + strlen("init=")) : ABI_NVML_SUCCESS;
}

nvml_result nvmlShutdown(void)
{
	open_now = false;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvml_device *device)
{
	if (!open_now)
		return 1;
	if (no_handle)
		return no_handle;
	for (int i = 0; i < device_count && i < DEVICES; i++) {
		char own[32];
		snprintf(own, sizeof own, "0000:%02x:00.0", 0x3b + i);
		*device = (nvml_device)&handles[i];
		if (strcmp(address, own) == 0)
			return ABI_NVML_SUCCESS;
	}
	return NOT_FOUND;
}

nvml_result nvmlSystemGetDriverVersion(char *text, unsigned int length)
{
	snprintf(text, length, "580.159.04");
	return ABI_NVML_SUCCESS;
}

#define NUMBER(name, value)                                                                        \
	nvml_result name(nvml_device device, unsigned int *out)                                    \
	{                                                                                          \
		(void)device;                                                                      \
		*out = value;                                                                      \
		return ABI_NVML_SUCCESS;                                                           \
	}
#define LINK(name, value)                                                                          \
	nvml_result name(nvml_device device, unsigned int *out)                                    \
	{                                                                                          \
		(void)device;                                                                      \
		*out = value;                                                                      \
		return no_link ? NOT_SUPPORTED : ABI_NVML_SUCCESS;                                 \
	}
LINK(nvmlDeviceGetMaxPcieLinkGeneration, 5)
LINK(nvmlDeviceGetMaxPcieLinkWidth, 16)
LINK(nvmlDeviceGetCurrPcieLinkGeneration, loaded(device) ? 5 : 1)
LINK(nvmlDeviceGetCurrPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetPowerUsage, loaded(device) ? LOADED_MW : IDLE_MW)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000)

nvml_result nvmlDeviceGetClockInfo(nvml_device device, nvml_clock clock, unsigned int *mhz)
{
	struct timespec wait = { slow_ms / 1000, slow_ms % 1000 * 1000000L };
	bool dead;

	(void)device;
	*mhz = 3201;
	if (clock != ABI_NVML_CLOCK_SM)
		return ABI_NVML_SUCCESS;
	if (slow_ms)
		nanosleep(&wait, NULL);
	pthread_mutex_lock(&lock);
	*mhz = clock_count ? clocks[clock_calls % clock_count] : loaded(device) ? 1980 : 345;
	dead = dies >= 0 && clock_calls >= (unsigned int)dies;
	clock_calls++;
	pthread_mutex_unlock(&lock);
	return dead ? GPU_IS_LOST : ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetApplicationsClock(nvml_device device, nvml_clock clock, unsigned int *mhz)
{
	(void)device;
	*mhz = clock == ABI_NVML_CLOCK_SM ? 1980 : 3201;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetPowerManagementLimitConstraints(nvml_device device, unsigned int *least,
                                                         unsigned int *most)
{
	(void)device;
	*least = 200000;
	*most = 700000;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetTemperatureThreshold(nvml_device device, nvml_threshold threshold,
                                              unsigned int *celsius)
{
	(void)device;
	*celsius = threshold == ABI_NVML_THRESHOLD_SLOWDOWN ? 89 : 92;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetTotalEccErrors(nvml_device device, nvml_memory_error error,
                                        nvml_ecc_counter counter, unsigned long long *count)
{
	(void)device;
	*count = counter != ABI_NVML_VOLATILE ? 77 : error == ABI_NVML_CORRECTED ? 3 : 0;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetPersistenceMode(nvml_device device, nvml_state *state)
{
	(void)device;
	*state = ABI_NVML_ENABLED;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetMigMode(nvml_device device, unsigned int *now, unsigned int *pending)
{
	(void)device;
	*now = *pending = mig;
	return slices_code;
}

// An NVLink board of which one link is down.
nvml_result nvmlDeviceGetNvLinkState(nvml_device device, unsigned int link, nvml_state *state)
{
	(void)device;
	*state = link != 5;
	return link < ABI_NVML_LINKS ? ABI_NVML_SUCCESS : 2;
}

// Without switches there are six from each of three devices to each other one.
nvml_result nvmlDeviceGetNvLinkRemoteDeviceType(nvml_device device, unsigned int link,
                                                nvml_link_end *end)
{
	(void)device;
	(void)link;
	*end = switched ? ABI_NVML_LINK_TO_SWITCH : ABI_NVML_LINK_TO_GPU;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_device device, unsigned int link,
                                                nvml_pci *end)
{
	uint32_t other = (link + 3 - index_of(device) % 3) % 3;
	*end = (nvml_pci){ .bus = 0x3b + other };
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetP2PStatus(nvml_device first, nvml_device second, nvml_peer_ability ability,
                                   nvml_peer_status *status)
{
	*status = no_peers || first == second || ability != ABI_NVML_PEERS_BY_NVLINK;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetMaxClockInfo(nvml_device device, nvml_clock clock, unsigned int *mhz)
{
	(void)device;
	*mhz = clock == ABI_NVML_CLOCK_SM ? 1980 : 3201;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetTemperature(nvml_device device, nvml_sensor sensor, unsigned int *celsius)
{
	(void)device;
	(void)sensor;
	*celsius = 31;
	return ABI_NVML_SUCCESS;
}

// The newer name says that it is not supported, so that the older one has to be asked.
nvml_result nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
	(void)device;
	(void)reasons;
	return NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device,
                                                      unsigned long long *reasons)
{
	*reasons = throttle_told || !loaded(device) ? throttle : 0;
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *millijoule)
{
	struct timespec now;
	int64_t idle_ns, busy = busy_ns(device, &idle_ns);

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	double passed_s =
	    (double)(now.tv_sec - opened.tv_sec) + (double)(now.tv_nsec - opened.tv_nsec) / 1e9;
	*millijoule =
	    (unsigned long long)(IDLE_MW * passed_s + (LOADED_MW - IDLE_MW) * ((double)busy / 1e9));
	return ABI_NVML_SUCCESS;
}

nvml_result nvmlDeviceGetEccMode(nvml_device device, nvml_state *now, nvml_state *pending)
{
	(void)device;
	*now = *pending = ABI_NVML_ENABLED;
	return no_ecc ? NOT_SUPPORTED : ABI_NVML_SUCCESS;
}

// As CUDA says it: 0 default, 2 prohibited, 3 exclusive to a process.
nvml_result nvmlDeviceGetComputeMode(nvml_device device, unsigned int *mode)
{
	cu_result_of_attribute *get = (cu_result_of_attribute *)of_cuda("cuDeviceGetAttribute");
	int value = 0;

	if (get && get(&value, COMPUTE_MODE, (int)index_of(device)) != 0)
		value = 0;
	*mode = (unsigned int)value;
	return ABI_NVML_SUCCESS;
}
