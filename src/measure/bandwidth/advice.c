// SPDX-License-Identifier: Apache-2.0
// What the figures of `bandwidth` advise. Nothing is said while intervals overlap.
#include "measure/bandwidth/internal.h"

#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct comparison {
	const struct tare_cell *slow, *fast;
	uint64_t bytes;
	double ratio; // rate of slow over rate of fast
};

// The largest size at which both lines have a rate on `source`, and whether their intervals
// separate there: what differs at small sizes only is a cost of small copies, not of the memory.
static bool compare_lines(const struct tare_result *result, enum tare_line slow,
                          enum tare_line fast, const char *source, struct comparison *comparison)
{
	bool separate = false;
	*comparison = (struct comparison){ 0 };
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_label *size = tare_labels_find(&result->cells[i].labels, "bytes");
		const struct tare_cell *a, *b;
		double low[2], high[2];
		if (!size || (uint64_t)size->number <= comparison->bytes)
			continue;
		a = bandwidth_cell(result, slow, (uint64_t)size->number, source);
		b = bandwidth_cell(result, fast, (uint64_t)size->number, source);
		if (!a || !b || !tare_cell_rate_bounds(a, &low[0], &high[0]) ||
		    !tare_cell_rate_bounds(b, &low[1], &high[1]))
			continue;
		separate = high[0] < low[1];
		*comparison = (struct comparison){ a, b, (uint64_t)size->number,
			                           a->rate.median / b->rate.median };
	}
	return comparison->bytes > 0 && separate;
}

// Copies of a device whose memory is the host's cross no bus, and nothing is staged.
static bool shares_memory(const struct tare_run *run)
{
	const struct tare_fact *fact = &run->facts->fact[TARE_FACT_UNIFIED];

	return fact->present && fact->count != 0;
}

static const char *how_to_pin(const struct tare_run *run)
{
	const char *backend = run->device->backend->name;

	if (strcmp(backend, "cuda") == 0)
		return "allocate with cudaHostAlloc, or register what you have";
	if (strcmp(backend, "opencl") == 0)
		return "copy from a mapped CL_MEM_ALLOC_HOST_PTR buffer";
	if (strcmp(backend, "levelzero") == 0)
		return "allocate with zeMemAllocHost";
	return "allocate pinned memory";
}

static void advise_pinned(struct bandwidth *bandwidth)
{
	static const enum tare_line pairs[][2] = {
		{ TARE_LINE_HEAP_TO_DEVICE, TARE_LINE_HOST_TO_DEVICE },
		{ TARE_LINE_DEVICE_TO_HEAP, TARE_LINE_DEVICE_TO_HOST },
	};
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < 2 && !shares_memory(bandwidth->run); i++) {
		struct comparison c;
		char text[TARE_UNIT_TEXT];
		if (!compare_lines(result, pairs[i][0], pairs[i][1], "host", &c) || c.ratio > 0.8)
			continue;
		tare_result_warn(result, "pageable-slow", how_to_pin(bandwidth->run),
		                 "pageable copies %s the device reach %.0f %% of pinned (%s)",
		                 i ? "from" : "to", 100 * c.ratio,
		                 tare_format_bytes(c.bytes, text));
	}
}

static void advise_alignment(struct bandwidth *bandwidth)
{
	static const struct {
		enum tare_line line;
		const char *text;
	} rows[] = {
		{ TARE_LINE_UNALIGNED_1, "1 B" },
		{ TARE_LINE_UNALIGNED_64, "64 B" },
	};
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < 2; i++) {
		struct comparison c;
		char text[TARE_UNIT_TEXT];
		if (!compare_lines(result, rows[i].line, TARE_LINE_HEAP_TO_DEVICE, "host", &c) ||
		    c.ratio > 0.9)
			continue;
		tare_result_warn(
		    result, "unaligned-slow", "align host buffers to a page (4 KB)",
		    "a host pointer %s off a page copies at %.0f %% of an aligned one (%s)",
		    rows[i].text, 100 * c.ratio, tare_format_bytes(c.bytes, text));
		return;
	}
}

static void advise_first_touch(struct bandwidth *bandwidth)
{
	static const enum tare_line pairs[][2] = {
		{ TARE_LINE_FIRST_TOUCH_HEAP, TARE_LINE_DEVICE_TO_HEAP },
		{ TARE_LINE_FIRST_TOUCH_SHARED, TARE_LINE_SHARED_TO_SHARED },
	};
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < 2; i++) {
		struct comparison c;
		char text[TARE_UNIT_TEXT];
		if (!compare_lines(result, pairs[i][0], pairs[i][1], "host", &c) || c.ratio > 0.8)
			continue;
		tare_result_warn(
		    result, "first-touch-slow",
		    "reuse buffers, or touch them before the part that counts",
		    "the first copy into new %s memory runs at %.0f %% of a later one (%s)",
		    i ? "shared" : "heap", 100 * c.ratio, tare_format_bytes(c.bytes, text));
	}
}

static void advise_prefetch(struct bandwidth *bandwidth)
{
	struct comparison c;
	char text[TARE_UNIT_TEXT];

	if (!compare_lines(bandwidth->run->result, TARE_LINE_SHARED_FAULT,
	                   TARE_LINE_SHARED_PREFETCH, "host", &c) ||
	    c.ratio > 0.8)
		return;
	tare_result_warn(bandwidth->run->result, "prefetch-faster",
	                 "prefetch shared memory before the kernel that reads it",
	                 "shared memory that moves when it is touched reaches %.0f %% of "
	                 "prefetched (%s)",
	                 100 * c.ratio, tare_format_bytes(c.bytes, text));
}

static void advise_rectangles(struct bandwidth *bandwidth)
{
	static const enum tare_line pairs[][2] = {
		{ TARE_LINE_RECTANGLE_TO_DEVICE, TARE_LINE_HOST_TO_DEVICE },
		{ TARE_LINE_RECTANGLE_TO_HOST, TARE_LINE_DEVICE_TO_HOST },
	};
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < 2; i++) {
		struct comparison c;
		char text[TARE_UNIT_TEXT];
		if (!compare_lines(result, pairs[i][0], pairs[i][1], "device", &c) || c.ratio > 0.7)
			continue;
		tare_result_warn(
		    result, "rectangle-slow", "pack rows on the host, or copy them whole",
		    "a copy of rows with gaps runs at %.0f %% of a plain one (%s, %s)",
		    100 * c.ratio, tare_lines[pairs[i][0]].title, tare_format_bytes(c.bytes, text));
		return;
	}
}

static void advise_both(struct bandwidth *bandwidth)
{
	struct tare_result *result = bandwidth->run->result;
	struct comparison to_device, to_host;
	bool up = compare_lines(result, TARE_LINE_BOTH_TO_DEVICE, TARE_LINE_HOST_TO_DEVICE,
	                        "device", &to_device);
	bool down = compare_lines(result, TARE_LINE_BOTH_TO_HOST, TARE_LINE_DEVICE_TO_HOST,
	                          "device", &to_host);

	if (!up || !down || (to_device.ratio > 0.98 && to_host.ratio > 0.98))
		return;
	tare_result_warn(result, "both-ways-shared",
	                 "count on these rates when copies of both directions overlap",
	                 "both ways at once, host to device falls to %.0f %% of alone, "
	                 "device to host to %.0f %%",
	                 100 * to_device.ratio, 100 * to_host.ratio);
}

static void advise_wrong(struct bandwidth *bandwidth)
{
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_label *line = tare_labels_find(&result->cells[i].labels, "line");
		const struct tare_label *bytes =
		    tare_labels_find(&result->cells[i].labels, "bytes");
		char text[TARE_UNIT_TEXT];
		if (result->cells[i].verified != TARE_WRONG || !line || !bytes)
			continue;
		// A cell of each clock tells the same; one warning a line and size.
		if (i > 0 && result->cells[i - 1].verified == TARE_WRONG &&
		    tare_cell_number(&result->cells[i - 1], "bytes") == bytes->number &&
		    tare_cell_has_text(&result->cells[i - 1], "line", line->text))
			continue;
		tare_result_warn(result, "wrong-data",
		                 "do not use these figures; the device or its "
		                 "driver loses data",
		                 "%s, %s: the destination did not hold what was "
		                 "sent",
		                 line->text, tare_format_bytes((uint64_t)bytes->number, text));
	}
}

void bandwidth_add_advice(struct bandwidth *bandwidth)
{
	advise_wrong(bandwidth);
	advise_pinned(bandwidth);
	advise_alignment(bandwidth);
	advise_first_touch(bandwidth);
	advise_prefetch(bandwidth);
	advise_rectangles(bandwidth);
	advise_both(bandwidth);
}
