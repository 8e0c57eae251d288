// SPDX-License-Identifier: Apache-2.0
// `bandwidth`: how fast bytes move, for each kind of memory, direction and size.
#pragma once
#include "measure/core/run.h"

#define TARE_BANDWIDTH_BUDGET_NS INT64_C(60000000000)
#define TARE_BANDWIDTH_FROM (UINT64_C(8) << 10)
#define TARE_BANDWIDTH_TO (UINT64_C(1) << 30)

// Every line there is. 'heap' is pageable host memory, 'host' is pinned host memory.
enum tare_line {
	TARE_LINE_SHARED_TO_SHARED,
	TARE_LINE_HEAP_TO_DEVICE,
	TARE_LINE_DEVICE_TO_HEAP,
	TARE_LINE_DEVICE_TO_DEVICE,
	TARE_LINE_HOST_TO_DEVICE,
	TARE_LINE_DEVICE_TO_HOST,
	TARE_LINE_DEVICE_TWICE, // a figure of device to device's own copies
	TARE_LINE_BOTH_TO_DEVICE,
	TARE_LINE_BOTH_TO_HOST,
	TARE_LINE_BOTH_TOTAL,
	TARE_LINE_COMBINED_TO_DEVICE,
	TARE_LINE_REGISTERED_TO_DEVICE,
	TARE_LINE_DEVICE_TO_REGISTERED,
	TARE_LINE_KERNEL_TO_DEVICE,
	TARE_LINE_KERNEL_TO_HOST,
	TARE_LINE_KERNEL_ON_DEVICE,
	TARE_LINE_SHARED_FAULT,
	TARE_LINE_SHARED_PREFETCH,
	TARE_LINE_SHARED_RESIDENT,
	TARE_LINE_SHARED_READ_MOSTLY,
	TARE_LINE_SHARED_PREFER_DEVICE,
	TARE_LINE_SHARED_PREFER_HOST,
	TARE_LINE_SHARED_BACK_FAULT,
	TARE_LINE_SHARED_BACK_PREFETCH,
	TARE_LINE_MAP_READ,
	TARE_LINE_UNMAP_WRITTEN,
	TARE_LINE_RECTANGLE_TO_DEVICE,
	TARE_LINE_RECTANGLE_TO_HOST,
	TARE_LINE_NARROW_TO_DEVICE,
	TARE_LINE_NARROW_TO_HOST,
	TARE_LINE_UNALIGNED_1,
	TARE_LINE_UNALIGNED_64,
	TARE_LINE_UNALIGNED_4096,
	TARE_LINE_FIRST_TOUCH_HEAP,
	TARE_LINE_FIRST_TOUCH_SHARED,
	TARE_LINE_SMALL_TO_DEVICE,
	TARE_LINE_TRANSPARENT_TO_DEVICE,
	TARE_LINE_EXPLICIT_TO_DEVICE,
	TARE_LINE_DEVICE_TO_SMALL,
	TARE_LINE_DEVICE_TO_TRANSPARENT,
	TARE_LINE_DEVICE_TO_EXPLICIT,
	TARE_LINE_FIRST_TOUCH_SMALL,
	TARE_LINE_FIRST_TOUCH_TRANSPARENT,
	TARE_LINE_FIRST_TOUCH_EXPLICIT,
	TARE_LINE_TO_IMAGE_2D,
	TARE_LINE_FROM_IMAGE_2D,
	TARE_LINE_TO_IMAGE_3D,
	TARE_LINE_FROM_IMAGE_3D,
	TARE_LINE_COUNT
};

struct tare_line_row {
	const char *name;  // "host-to-device": the word in --lines and the label `line`
	const char *group; // "copy", "both", "map", ...; the lines of one stand together
	const char *title; // "host → device (pinned)"
	const char *note;  // what a reader of its figure should know; may be NULL
	bool host_is_main; // the figure of this line is the host's time; else the device's
	bool extra;        // only measured when asked for
};

extern const struct tare_line_row tare_lines[TARE_LINE_COUNT];

// Parses "host-to-device,both,map" (names of lines or of groups, or "all") into bits (UINT64_C(1)
// << enum tare_line). Returns 0, or -EINVAL with a sentence that names the word and the names there
// are.
int tare_parse_lines(const char *text, uint64_t *lines, struct tare_error *error);

struct tare_bandwidth_options {
	uint64_t from_bytes, to_bytes; // 0, 0: 8 KB to 1 GB
	uint64_t lines;                // bits of enum tare_line; 0: all that are not `extra`
	bool coarse;                   // powers of four only: a quick look
};

// Fills run->result with cells labelled `line` and `bytes` (and `batch` where one sample is
// several copies), quantity "time" with a rate in GB/s, for device and host; of the cells of one
// line and size, the first is the figure of the line. Then cells of source "model", labelled
// `line` and `fit` ("latency", "rate", "half-rate"). Then plots and warnings.
// Returns as tare_run_measure, and -EBADMSG when a destination did not hold what was sent (the
// document is complete then).
int tare_measure_bandwidth(struct tare_run *run, const struct tare_bandwidth_options *options,
                           struct tare_error *error);
