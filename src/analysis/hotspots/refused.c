// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/refused.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// CUPTI's errors (cupti_result.h) that say why, and the way out.
static const struct {
	uint32_t code;
	const char *why;
	bool of_interface; // of the interface that was asked, not of the device's counters
} reasons[] = {
	{ 11,
	  "this CUPTI has no range profiler: one of CUDA 12.6 or later has (TARE_CUPTI_LIBRARY "
	  "names it)",
	  true },
	{ 26, "another program counts on this device: end it (ncu, nsys, DCGM: dcgmi profile "
	      "--pause), then repeat" },
	{ 33, "this virtual GPU offers no counters: its host can allow them (enable_profiling)" },
	{ 35,
	  "counters are for administrators alone (ERR_NVGPUCTRPERM): load the driver with "
	  "NVreg_RestrictProfilingToAdminUsers=0, or run as root; a container needs CAP_SYS_ADMIN "
	  "as well" },
	{ 36, "the program counts by itself (an older interface of CUPTI): leave that out" },
	{ 39, "the program, or another tool, uses CUPTI already: run without it" },
	{ 40, "this virtual GPU does not allow counters: its host can (enable_profiling)" },
	{ 41, "the device computes confidentially, and shows no counters" },
	{ 42, "this device is one for mining, and has no counters" },
	{ 43, "a part of a device (MIG) shows no counters to this driver: use the whole device" },
	{ 44, "devices in SLI show no counters: switch it off" },
	{ 45,
	  "Windows' subsystem for Linux shows no counters here: allow them in the NVIDIA Control "
	  "Panel (Developer, Manage GPU Performance Counters)" },
	{ 46, "this CUPTI does not know the chip: a newer one may (TARE_CUPTI_LIBRARY names it)" },
	{ 14, "this device is older than compute capability 7.5, and its counters are not read",
	  true },
	{ 27, "this device, or this driver, offers no counters to CUPTI's range profiler", true },
};

bool tare_counters_lack_interface(uint32_t code)
{
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].code == code)
			return reasons[i].of_interface;
	return false;
}

char *tare_counters_refused(uint32_t code, const char *function)
{
	char *text;

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].code == code)
			return asprintf(&text, "%s", reasons[i].why) < 0 ? NULL : text;
	return asprintf(&text,
	                "CUPTI's %s failed with error %u: another CUPTI may do "
	                "(TARE_CUPTI_LIBRARY names it)",
	                function && function[0] ? function : "range profiler", code) < 0
	           ? NULL
	           : text;
}

// Results of Level Zero's drivers (ze_result_t) that say why, and the way out.
static const struct {
	uint32_t code;
	const char *why;
} metric_reasons[] = {
	{ 0x70010000,
	  "counters are for administrators alone: sysctl dev.i915.perf_stream_paranoid=0 (driver "
	  "xe: "
	  "dev.xe.observation_paranoid=0), or run as root; a container needs CAP_PERFMON as well" },
	{ 0x70010001, "another program counts on this device: end it, then repeat" },
	{ 0x70020000, "the driver lacks a library that counts: install Intel's metrics-discovery "
	              "and metrics-library (libigdmd, libigdml)" },
	{ 0x78000001, "the driver's metrics did not begin: install Intel's metrics-discovery and "
	              "metrics-library (libigdmd, libigdml)" },
	{ 0x78000003,
	  "the driver lists no counters of single launches: Intel's does with its "
	  "metrics-discovery and metrics-library (libigdmd, libigdml), where ZET_ENABLE_METRICS is "
	  "not 0; `tare devices --counters` shows what there is" },
	{ 0x78000006, "the program counts by itself: leave that out" },
};

char *tare_metrics_refused(uint32_t code, const char *function)
{
	char *text;

	for (size_t i = 0; i < sizeof metric_reasons / sizeof *metric_reasons; i++)
		if (metric_reasons[i].code == code)
			return strdup(metric_reasons[i].why);
	return asprintf(&text, "%s failed with error 0x%" PRIx32 ": a newer driver may do",
	                function && function[0] ? function : "the driver", code) < 0
	           ? NULL
	           : text;
}
