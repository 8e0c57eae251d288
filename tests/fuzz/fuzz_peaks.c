// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of --peaks and as the kept results of peak and bandwidth, for the device that
// the document is of and for one that is always the same: "Device" with driver 1.
#include "target.h"

#include "measure/bandwidth/cache.h"
#include "measure/core/peaks.h"
#include "measure/core/result_cache.h"
#include "result/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define IDENTITY "00000000-0000-0000-0000-000000000001"
static char folder[] = "/tmp/tare-fuzz-XXXXXX";
static char *links[2];

static void forget(void)
{
	char path[64];

	for (size_t i = 0; i < 2; i++)
		if (links[i])
			unlink(links[i]);
	snprintf(path, sizeof path, "%s/tare", folder);
	rmdir(path);
	rmdir(folder);
}

// Where the commands look for kept results of the one device, they find the input.
static void keep(const char *input)
{
	char path[64];

	FUZZ_CHECK(mkdtemp(folder) && atexit(forget) == 0 &&
	           setenv("XDG_CACHE_HOME", folder, 1) == 0);
	snprintf(path, sizeof path, "%s/tare", folder);
	FUZZ_CHECK(mkdir(path, 0700) == 0);
	links[0] = tare_result_cache_path("peak", "Device", IDENTITY, "1", NULL);
	links[1] = tare_result_cache_path("bandwidth", "Device", "Device", "1", NULL);
	for (size_t i = 0; i < 2; i++)
		FUZZ_CHECK(links[i] && symlink(input, links[i]) == 0);
}

static void check_rate(double rate)
{
	FUZZ_CHECK(isnan(rate) || (rate > 0 && isfinite(rate)));
}

static bool is_one_line(const char *text)
{
	return text[0] && !strchr(text, '\n');
}

static void check_peaks(const struct tare_peaks *peaks)
{
	bool any = false;

	for (int c = 0; c < TARE_CEILING_COUNT; c++) {
		check_rate(peaks->per_second[c]);
		check_rate(peaks->theoretical[c]);
		any = any || isfinite(peaks->per_second[c]);
	}
	FUZZ_CHECK(peaks->present == any && peaks->age_s >= -1 && is_one_line(peaks->origin));
}

static void load(const struct tare_device_entry *device, const char *from)
{
	struct tare_peaks peaks;
	struct tare_error error = { 0 };
	int status = tare_peaks_load(device, from, &peaks, &error);

	FUZZ_CHECK(status == 0 || (from && status == -EINVAL && is_one_line(error.message)));
	check_peaks(&peaks);
}

static void load_bandwidth(void)
{
	struct tare_bandwidth_peaks peaks;

	tare_bandwidth_load("Device", "1", &peaks);
	check_rate(peaks.to_device_pinned);
	check_rate(peaks.to_device_pageable);
	check_rate(peaks.from_device_pinned);
	check_rate(peaks.from_device_pageable);
	FUZZ_CHECK(is_one_line(peaks.origin));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char backend[] = "opencl";
	struct tare_device_entry same = { .backend = backend };
	struct tare_result *result = NULL;
	const char *input = fuzz_file(data, size);

	if (!links[0])
		keep(input);
	tare_fact_set_text(&same.facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, "Device");
	tare_fact_set_text(&same.facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, IDENTITY);
	tare_fact_set_text(&same.facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, "1");
	load(&same, input);
	// What cannot be read is refused in the same way wherever it lies.
	if (tare_result_read_json((const char *)data, size, &result, NULL) < 0)
		return 0;
	load(&same, NULL);
	load_bandwidth();
	for (size_t i = 0; i < result->device_count && i < 2; i++)
		load(&result->devices[i], input);
	tare_result_free(result);
	return 0;
}
