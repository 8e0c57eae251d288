// SPDX-License-Identifier: Apache-2.0
// What the figures of `bandwidth` advise. Nothing is said while intervals overlap.
#include "measure/bandwidth/internal.h"

#include "base/units.h"

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

// A line that falls behind another, and what is said then: what "reaches" so many per cent "of"
// what.
static const struct advice {
	enum tare_line slow, fast;
	const char *source; // of the figures
	double least;       // share of the rate below which it is said
	const char *id, *action, *what, *of;
	bool one;   // is enough: those of the same id that follow are not looked at
	bool title; // the line's stands beside the size
} advices[] = {
#define PINNED(slow, way)                                                                          \
	slow, "host", 0.8, "pageable-slow", NULL, "pageable copies " way " the device reach",      \
	    "of pinned"
	{ TARE_LINE_HEAP_TO_DEVICE, PINNED(TARE_LINE_HOST_TO_DEVICE, "to") },
	{ TARE_LINE_DEVICE_TO_HEAP, PINNED(TARE_LINE_DEVICE_TO_HOST, "from") },
#define UNALIGNED(off)                                                                             \
	TARE_LINE_HEAP_TO_DEVICE, "host", 0.9, "unaligned-slow",                                   \
	    "align host buffers to a page (4 KB)", "a host pointer " off " off a page copies at",  \
	    "of an aligned one", .one = true
	{ TARE_LINE_UNALIGNED_1, UNALIGNED("1 B") },
	{ TARE_LINE_UNALIGNED_64, UNALIGNED("64 B") },
#define FIRST(slow, memory)                                                                        \
	slow, "host", 0.8, "first-touch-slow",                                                     \
	    "reuse buffers, or touch them before the part that counts",                            \
	    "the first copy into new " memory " memory runs at", "of a later one"
	{ TARE_LINE_FIRST_TOUCH_HEAP, FIRST(TARE_LINE_DEVICE_TO_HEAP, "heap") },
	{ TARE_LINE_FIRST_TOUCH_SHARED, FIRST(TARE_LINE_SHARED_TO_SHARED, "shared") },
	{ TARE_LINE_SHARED_FAULT, TARE_LINE_SHARED_PREFETCH, "host", 0.8, "prefetch-faster",
	  "prefetch shared memory before the kernel that reads it",
	  "shared memory that moves when it is touched reaches", "of prefetched" },
#define ROWS(fast)                                                                                 \
	fast, "device", 0.7, "rectangle-slow", "pack rows on the host, or copy them whole",        \
	    "a copy of rows with gaps runs at", "of a plain one", .one = true, .title = true
	{ TARE_LINE_RECTANGLE_TO_DEVICE, ROWS(TARE_LINE_HOST_TO_DEVICE) },
	{ TARE_LINE_RECTANGLE_TO_HOST, ROWS(TARE_LINE_DEVICE_TO_HOST) },
};

static void advise(struct bandwidth *bandwidth)
{
	const char *said = ""; // where one is enough

	for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
		const struct advice *a = &advices[i];
		struct comparison c;
		char text[TARE_UNIT_TEXT];
		if (strcmp(a->id, said) == 0 || (!a->action && shares_memory(bandwidth->run)) ||
		    !compare_lines(bandwidth->run->result, a->slow, a->fast, a->source, &c) ||
		    c.ratio > a->least)
			continue;
		tare_result_warn(bandwidth->run->result, a->id,
		                 a->action ? a->action : how_to_pin(bandwidth->run),
		                 "%s %.0f %% %s (%s%s%s)", a->what, 100 * c.ratio, a->of,
		                 a->title ? tare_lines[a->slow].title : "", a->title ? ", " : "",
		                 tare_format_bytes(c.bytes, text));
		said = a->one ? a->id : "";
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
	advise(bandwidth);
	advise_both(bandwidth);
}
