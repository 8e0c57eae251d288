// SPDX-License-Identifier: Apache-2.0
// The buffers of `bandwidth`: how large they may be, their allocation, the pattern in them.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"
#include "base/units.h"
#include "measure/host/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Memory is filled when it is needed and in such steps: who interrupts a run does not wait for it.
#define FILL_STEP (UINT64_C(8) << 20)
#define TRIED_BYTES (UINT64_C(64) << 10)

// Which buffers a line needs besides HEAP_SOURCE and HEAP_SINK; what others it needs it makes
// itself, for the time of each measurement.
static uint32_t needs(enum tare_line line)
{
	switch (line) {
	case TARE_LINE_SHARED_TO_SHARED:
		return 1u << SHARED_SOURCE | 1u << SHARED_SINK;
	case TARE_LINE_FIRST_TOUCH_SHARED:
		return 1u << SHARED_SOURCE;
	case TARE_LINE_HEAP_TO_DEVICE:
	case TARE_LINE_UNALIGNED_1:
	case TARE_LINE_UNALIGNED_64:
	case TARE_LINE_UNALIGNED_4096:
	case TARE_LINE_UNMAP_WRITTEN:
	case TARE_LINE_COMBINED_TO_DEVICE:
	case TARE_LINE_REGISTERED_TO_DEVICE:
	case TARE_LINE_KERNEL_TO_DEVICE:
	case TARE_LINE_SMALL_TO_DEVICE:
	case TARE_LINE_TRANSPARENT_TO_DEVICE:
	case TARE_LINE_EXPLICIT_TO_DEVICE:
	case TARE_LINE_SHARED_FAULT:
	case TARE_LINE_SHARED_PREFETCH:
	case TARE_LINE_SHARED_RESIDENT:
	case TARE_LINE_SHARED_READ_MOSTLY:
	case TARE_LINE_SHARED_PREFER_DEVICE:
	case TARE_LINE_SHARED_PREFER_HOST:
		return 1u << DEVICE_SINK;
	case TARE_LINE_DEVICE_TO_HEAP:
	case TARE_LINE_MAP_READ:
	case TARE_LINE_FIRST_TOUCH_HEAP:
	case TARE_LINE_DEVICE_TO_REGISTERED:
	case TARE_LINE_KERNEL_TO_HOST:
	case TARE_LINE_DEVICE_TO_SMALL:
	case TARE_LINE_DEVICE_TO_TRANSPARENT:
	case TARE_LINE_DEVICE_TO_EXPLICIT:
	case TARE_LINE_FIRST_TOUCH_SMALL:
	case TARE_LINE_FIRST_TOUCH_TRANSPARENT:
	case TARE_LINE_FIRST_TOUCH_EXPLICIT:
	case TARE_LINE_SHARED_BACK_FAULT:
	case TARE_LINE_SHARED_BACK_PREFETCH:
		return 1u << DEVICE_SOURCE;
	case TARE_LINE_TO_IMAGE_2D:
	case TARE_LINE_TO_IMAGE_3D:
		return 1u << HOST_SOURCE;
	case TARE_LINE_FROM_IMAGE_2D:
	case TARE_LINE_FROM_IMAGE_3D:
		return 1u << HOST_SINK;
	case TARE_LINE_DEVICE_TO_DEVICE:
	case TARE_LINE_DEVICE_TWICE:
	case TARE_LINE_KERNEL_ON_DEVICE:
		return 1u << DEVICE_SOURCE | 1u << DEVICE_SINK;
	case TARE_LINE_HOST_TO_DEVICE:
	case TARE_LINE_RECTANGLE_TO_DEVICE:
	case TARE_LINE_NARROW_TO_DEVICE:
		return 1u << HOST_SOURCE | 1u << DEVICE_SINK;
	case TARE_LINE_DEVICE_TO_HOST:
	case TARE_LINE_RECTANGLE_TO_HOST:
	case TARE_LINE_NARROW_TO_HOST:
		return 1u << DEVICE_SOURCE | 1u << HOST_SINK;
	default:
		return 1u << HOST_SOURCE | 1u << DEVICE_SINK | 1u << DEVICE_SOURCE |
		       1u << HOST_SINK;
	}
}

static uint32_t all_needs(uint64_t lines)
{
	uint32_t buffers = 1u << HEAP_SOURCE | 1u << HEAP_SINK;

	for (int i = 0; i < TARE_LINE_COUNT; i++)
		if (lines >> i & 1)
			buffers |= needs((enum tare_line)i);
	return buffers;
}

enum tare_memory_kind bandwidth_kind(enum buffer buffer)
{
	static const enum tare_memory_kind kinds[BUFFER_COUNT] = {
		[HEAP_SOURCE] = TARE_MEMORY_PAGEABLE, [HEAP_SINK] = TARE_MEMORY_PAGEABLE,
		[HOST_SOURCE] = TARE_MEMORY_PINNED,   [HOST_SINK] = TARE_MEMORY_PINNED,
		[DEVICE_SOURCE] = TARE_MEMORY_DEVICE, [DEVICE_SINK] = TARE_MEMORY_DEVICE,
		[SHARED_SOURCE] = TARE_MEMORY_SHARED, [SHARED_SINK] = TARE_MEMORY_SHARED,
	};
	return kinds[buffer];
}

static uint64_t fact_count(const struct tare_run *run, enum tare_fact_id id)
{
	return run->facts && run->facts->fact[id].present ? run->facts->fact[id].count : 0;
}

static bool lives_in_host_memory(const struct tare_run *run)
{
	return run->simulated || fact_count(run, TARE_FACT_UNIFIED) ||
	       (run->facts && tare_facts_type(run->facts) == TARE_DEVICE_CPU);
}

struct bound {
	uint64_t bytes;
	char reason[160];
};

static void lower(struct bound *bound, uint64_t bytes, const char *reason)
{
	if (bytes == 0 || bytes >= bound->bytes)
		return;
	bound->bytes = bytes;
	snprintf(bound->reason, sizeof bound->reason, "%s", reason);
}

// For each of `count` buffers, beside `extra` bytes. A quarter of the memory stays free: somebody
// else lives there too.
static uint64_t share_of(uint64_t bytes, uint64_t extra, uint64_t count)
{
	uint64_t room = bytes / 4 * 3;
	uint64_t each = room > extra ? (room - extra) / count : 0;

	// Where the extra ones alone fill it, all buffers are as small.
	return each ? each : room / (count + 1) ? room / (count + 1) : 1;
}

static struct bound find_bound(const struct bandwidth *bandwidth, uint32_t buffers)
{
	const struct tare_run *run = bandwidth->run;
	struct bound bound = { .bytes = bandwidth->to_bytes };
	uint64_t on_device = 0, on_host = 0, total = fact_count(run, TARE_FACT_MEMORY);
	uint64_t host_extra, device_extra;
	struct tare_host_memory memory = tare_host_memory_free("");
	char text[TARE_UNIT_TEXT], reason[160];

	for (int i = 0; i < BUFFER_COUNT; i++)
		if (buffers >> i & 1)
			(i >= DEVICE_SOURCE ? &on_device : &on_host)[0]++;
	// What a measurement makes for itself, of the sizes of few.
	host_extra = device_extra = bandwidth->few_to_bytes < bandwidth->to_bytes
	                                ? bandwidth->few_to_bytes
	                                : bandwidth->to_bytes;
	device_extra *= BANDWIDTH_HAS(bandwidth->lines, TARE_LINE_FIRST_TOUCH_SHARED);
	lower(&bound, fact_count(run, TARE_FACT_MEMORY_MAX_ALLOCATION),
	      "the device allocates no more at once");
	if (on_device && total) {
		snprintf(reason, sizeof reason, "the device has %s for %u buffers",
		         tare_format_bytes(total, text), (unsigned)on_device);
		lower(&bound, share_of(total, device_extra, on_device), reason);
	}
	if (lives_in_host_memory(run)) {
		on_host += on_device;
		host_extra += device_extra;
	}
	snprintf(reason, sizeof reason, "%s %s free for %u buffers",
	         memory.by_group ? "the control group (container) has" : "the host has",
	         tare_format_bytes(memory.bytes, text), (unsigned)on_host);
	if (memory.known)
		lower(&bound, share_of(memory.bytes, host_extra, on_host), reason);
	return bound;
}

static uint64_t round_down_to_power(uint64_t bytes)
{
	uint64_t power = 1;

	while (power <= bytes / 2)
		power *= 2;
	return power;
}

static void fill_pattern(struct tare_random *random, uint8_t *at, uint64_t bytes)
{
	uint64_t words = bytes / 8;

	for (uint64_t i = 0; i < words; i++) {
		uint64_t word = tare_random_next(random);
		// No byte is 0xa5, so that the poison differs from it everywhere.
		uint64_t like = word ^ UINT64_C(0xa5a5a5a5a5a5a5a5);
		uint64_t zeros =
		    ~(((like & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7f7f7f7f7f7f7f7f)) |
		      like | UINT64_C(0x7f7f7f7f7f7f7f7f));
		word ^= zeros;
		memcpy(at + 8 * i, &word, 8);
	}
	for (uint64_t i = 8 * words; i < bytes; i++)
		at[i] = 0x5a;
}

static int fill_part(struct bandwidth *bandwidth, enum buffer buffer, uint64_t offset,
                     uint64_t bytes, struct tare_error *error)
{
	struct tare_memory *memory = bandwidth->buffers[buffer];
	struct tare_memory *pattern = bandwidth->buffers[HEAP_SOURCE];
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };

	if (buffer == HEAP_SOURCE) {
		fill_pattern(&bandwidth->pattern, (uint8_t *)memory->host + offset, bytes);
		return 0;
	}
	if (buffer == HEAP_SINK || buffer == HOST_SINK) {
		memset((uint8_t *)memory->host + offset, 0xa5, bytes);
		return 0;
	}
	if (buffer == HOST_SOURCE) {
		memcpy((uint8_t *)memory->host + offset, (const uint8_t *)pattern->host + offset,
		       bytes);
		return 0;
	}
	copy.source = (struct tare_span){ pattern, offset, bytes };
	copy.destination = (struct tare_span){ memory, offset, bytes };
	return tare_bench_run(bandwidth->bench.plain, &copy, error);
}

int bandwidth_check_interrupt(const struct bandwidth *bandwidth, struct tare_error *error)
{
	return tare_run_interrupted(bandwidth->run) ? tare_fail(error, EINTR, "interrupted") : 0;
}

int bandwidth_fill(struct bandwidth *bandwidth, enum buffer buffer, uint64_t bytes,
                   struct tare_error *error)
{
	uint64_t *filled = &bandwidth->filled[buffer];
	int status = 0;

	if (bytes > bandwidth->buffers[buffer]->bytes)
		bytes = bandwidth->buffers[buffer]->bytes;
	if (buffer != HEAP_SOURCE)
		status = bandwidth_fill(bandwidth, HEAP_SOURCE, bytes, error);
	while (status == 0 && *filled < bytes) {
		uint64_t step = bytes - *filled < FILL_STEP ? bytes - *filled : FILL_STEP;
		status = bandwidth_check_interrupt(bandwidth, error);
		status = status ?: fill_part(bandwidth, buffer, *filled, step, error);
		if (status == 0)
			*filled += step;
	}
	return status;
}

// Some drivers find the room only when memory is used: its end is, now.
static int try_the_end(struct bandwidth *bandwidth, enum buffer buffer, struct tare_error *error)
{
	uint64_t bytes = bandwidth->buffers[buffer]->bytes;
	uint64_t end = bytes < TRIED_BYTES ? bytes : TRIED_BYTES;

	return fill_part(bandwidth, buffer, bytes - end, end, error);
}

// Copies at an offset are among the lines of few sizes. The largest size of all may be the largest
// allocation: nothing is asked for beyond it that no line needs.
static uint64_t host_bytes(const struct bandwidth *bandwidth)
{
	uint64_t few = bandwidth->few_to_bytes < bandwidth->to_bytes ? bandwidth->few_to_bytes
	                                                             : bandwidth->to_bytes;
	uint64_t at_an_offset = few + BANDWIDTH_SLACK;

	return at_an_offset > bandwidth->to_bytes ? at_an_offset : bandwidth->to_bytes;
}

static int open_one(struct bandwidth *bandwidth, enum buffer buffer, struct tare_error *error)
{
	enum tare_memory_kind kind = bandwidth_kind(buffer);
	bool on_host = kind == TARE_MEMORY_PAGEABLE || kind == TARE_MEMORY_PINNED;
	uint64_t bytes = on_host ? host_bytes(bandwidth) : bandwidth->to_bytes;
	int status = tare_memory_create(bandwidth->run->device, kind, bytes,
	                                &bandwidth->buffers[buffer], error);

	if (status == 0 && on_host && !bandwidth->buffers[buffer]->host)
		status = tare_fail(error, ENOTSUP, "the host may not touch this memory");
	if (status == 0 && !on_host)
		status = try_the_end(bandwidth, buffer, error);
	if (status == 0)
		return 0;
	tare_memory_free(bandwidth->buffers[buffer]);
	bandwidth->buffers[buffer] = NULL;
	return status;
}

// 0 also when the device lacks a kind: the lines that need it say so. -ENOMEM: try smaller.
static int open_all(struct bandwidth *bandwidth, uint32_t buffers, struct tare_error *error)
{
	for (int i = 0; i < BUFFER_COUNT; i++) {
		struct tare_error why = { 0 };
		int status;
		if (!(buffers >> i & 1))
			continue;
		status = open_one(bandwidth, (enum buffer)i, &why);
		if (status == 0)
			continue;
		if (status == -ENOMEM || tare_device_is_gone(status) || i <= HEAP_SINK) {
			if (error)
				*error = why;
			return status;
		}
		snprintf(bandwidth->no_buffer[i], sizeof bandwidth->no_buffer[i], "%.310s",
		         why.message);
	}
	return 0;
}

void bandwidth_close_buffers(struct bandwidth *bandwidth)
{
	for (int i = 0; i < BUFFER_COUNT; i++) {
		tare_memory_free(bandwidth->buffers[i]);
		bandwidth->buffers[i] = NULL;
		bandwidth->filled[i] = 0;
	}
}

static void warn_bounded(struct bandwidth *bandwidth, uint64_t wanted, const char *reason)
{
	char now[TARE_UNIT_TEXT], then[TARE_UNIT_TEXT];

	tare_result_warn(bandwidth->run->result, "sizes-bounded",
	                 "free memory, or ask for fewer lines with --lines",
	                 "sizes end at %s, not %s: %s", tare_format_bytes(bandwidth->to_bytes, now),
	                 tare_format_bytes(wanted, then), reason);
}

int bandwidth_open_buffers(struct bandwidth *bandwidth, struct tare_error *error)
{
	uint32_t buffers = all_needs(bandwidth->lines);
	uint64_t wanted = bandwidth->to_bytes;
	struct bound bound = find_bound(bandwidth, buffers);
	struct tare_error why = { 0 };
	char text[TARE_UNIT_TEXT];
	int status;

	bandwidth->pattern =
	    (struct tare_random){ .state = bandwidth->run->seed ^ UINT64_C(0x7461726500000000) };
	if (bound.bytes < wanted)
		bandwidth->to_bytes = round_down_to_power(bound.bytes);
	for (;;) {
		if (bandwidth->to_bytes < bandwidth->from_bytes)
			return tare_fail(error, ENOMEM, "no room for copies of %s: %s",
			                 tare_format_bytes(bandwidth->from_bytes, text),
			                 bound.reason);
		status = open_all(bandwidth, buffers, &why);
		if (status != -ENOMEM)
			break;
		bandwidth_close_buffers(bandwidth);
		snprintf(bound.reason, sizeof bound.reason, "%.150s", why.message);
		bandwidth->to_bytes = round_down_to_power(bandwidth->to_bytes) / 2;
	}
	if (status < 0) {
		if (error)
			*error = why;
		return status;
	}
	if (bandwidth->to_bytes < wanted)
		warn_bounded(bandwidth, wanted, bound.reason);
	return 0;
}
