// SPDX-License-Identifier: Apache-2.0
// Buffers and queues of the devices that are measured together, and what becomes of one that fails.
#include "backend/call.h"
#include "measure/core/bench.h"
#include "measure/several/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST (UINT64_C(256) << 20)
#define BYTES_LEAST (UINT64_C(64) << 10)
// A copy lasts about so long at most, where that leaves it BYTES_LEAST.
#define COPY_NS INT64_C(6000000)
// What is checked at each end of a destination.
#define END_BYTES (UINT64_C(1) << 20)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// What a device sends: no two send the same.
static void fill_pattern(unsigned char *at, uint64_t bytes, uint32_t device)
{
	for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
		uint32_t word = (uint32_t)(i / 4) * 2654435761u + device * 40503u + 12345u;
		memcpy(at + i, &word, 4);
	}
}

static int make_buffers(struct several_device *self, uint64_t bytes, struct tare_error *error)
{
	struct tare_device *device = self->member->device;
	int status = tare_memory_create(device, TARE_MEMORY_PINNED, bytes, &self->host_in, error);

	if (status == 0)
		status =
		    tare_memory_create(device, TARE_MEMORY_PINNED, bytes, &self->host_out, error);
	if (status == 0)
		status =
		    tare_memory_create(device, TARE_MEMORY_DEVICE, bytes, &self->device_in, error);
	if (status == 0)
		status =
		    tare_memory_create(device, TARE_MEMORY_DEVICE, bytes, &self->device_out, error);
	if (status == 0 && (!self->host_in->host || !self->host_out->host))
		status = tare_fail(error, ENOTSUP, "its pinned memory is not visible to the host");
	return status;
}

static void free_buffers(struct several_device *self)
{
	tare_memory_free(self->device_out);
	tare_memory_free(self->device_in);
	tare_memory_free(self->host_out);
	tare_memory_free(self->host_in);
	self->host_in = self->host_out = self->device_in = self->device_out = NULL;
}

static int make_queues(struct several_device *self, struct tare_error *error)
{
	struct tare_queue_options options = { .order = TARE_QUEUE_IN_ORDER };
	int status = 0;

	for (int i = 0; status == 0 && i < 2; i++) {
		self->marks[i] = calloc(SEVERAL_MARKS, sizeof *self->marks[i]);
		status = self->marks[i] ? tare_queue_create(self->member->device, &options,
		                                            &self->queues[i], error)
		                        : tare_fail(error, ENOMEM, "out of memory");
	}
	return status;
}

// How long a copy of `bytes` takes on the host's clock, the slower way.
static int time_copy(const struct several *several, size_t device, uint64_t bytes, int64_t *ns,
                     struct tare_error *error)
{
	const struct several_device *self = &several->devices[device];
	int status = 0;

	*ns = 0;
	for (int way = SEVERAL_TO_DEVICE; status == 0 && way <= SEVERAL_TO_HOST; way++) {
		struct several_course course = { .way = (enum several_way)way,
			                         .device = (uint32_t)device };
		struct tare_operation copy = several_copy(several, &course, 0, bytes);
		struct tare_host_time begin;
		int64_t lasted;
		status = tare_bench_run(self->queues[way], &copy, error);
		begin = tare_device_now(self->member->device);
		status = status ?: tare_bench_run(self->queues[way], &copy, error);
		lasted = tare_host_elapsed_ns(begin, tare_device_now(self->member->device));
		*ns = lasted > *ns ? lasted : *ns;
	}
	return status;
}

// The largest copy that lasts no longer than COPY_NS, as far as the buffers go.
static int choose_bytes(const struct several *several, size_t device, uint64_t most,
                        uint64_t *bytes, struct tare_error *error)
{
	int64_t ns;
	int status;

	*bytes = least(END_BYTES, most);
	status = time_copy(several, device, *bytes, &ns, error);
	while (status == 0 && ns > COPY_NS && *bytes > BYTES_LEAST) {
		*bytes /= 2;
		status = time_copy(several, device, *bytes, &ns, error);
	}
	while (status == 0 && 2 * ns <= COPY_NS && 2 * *bytes <= most) {
		*bytes *= 2;
		status = time_copy(several, device, *bytes, &ns, error);
	}
	return status;
}

// device_out is what goes to the host and to peers.
static int fill_buffers(struct several_device *self, size_t index, uint64_t bytes,
                        struct tare_error *error)
{
	struct tare_operation copy = { .type = TARE_OPERATION_COPY,
		                       .source = { self->host_in, 0, bytes },
		                       .destination = { self->device_out, 0, bytes } };

	fill_pattern(self->host_in->host, bytes, (uint32_t)index);
	return tare_bench_run(self->queues[0], &copy, error);
}

static int open_one(struct several *several, size_t index, struct tare_error *error)
{
	struct several_device *self = &several->devices[index];
	uint64_t most = several->bytes, bytes = 0;
	int status = make_queues(self, error);

	status = status ?: make_buffers(self, most, error);
	while (status == -ENOMEM && most > END_BYTES) {
		free_buffers(self);
		most /= 2;
		status = make_buffers(self, most, error);
	}
	status = status ?: choose_bytes(several, index, most, &bytes, error);
	status = status ?: fill_buffers(self, index, bytes, error);
	if (status == 0)
		several->bytes = least(several->bytes, bytes);
	return status;
}

int several_open(struct several *several, struct tare_error *error)
{
	int status = 0;

	several->bytes = BYTES_MOST;
	for (size_t i = 0; status == 0 && i < several->count; i++) {
		struct tare_error why = { 0 };
		int opened = open_one(several, i, &why);
		tare_attachment_of(several->devices[i].member->facts, NULL,
		                   &several->devices[i].place);
		if (opened < 0)
			several_drop(several, i, opened, &why);
	}
	// All move the same, the smallest of what suits each.
	for (size_t i = 0; status == 0 && i < several->count; i++) {
		struct tare_error why = { 0 };
		int timed =
		    several->devices[i].gone
		        ? 0
		        : time_copy(several, i, several->bytes, &several->devices[i].copy_ns, &why);
		if (timed < 0)
			several_drop(several, i, timed, &why);
	}
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}

void several_close(struct several *several)
{
	several_plans_clear(several, 0);
	free(several->plans);
	for (size_t i = 0; i < several->count; i++) {
		struct several_device *self = &several->devices[i];
		free_buffers(self);
		for (int way = 0; way < 2; way++) {
			tare_queue_free(self->queues[way]);
			free(self->marks[way]);
		}
	}
}

void several_drop(struct several *several, size_t device, int status, const struct tare_error *why)
{
	struct several_device *self = &several->devices[device];
	bool lost = tare_device_is_gone(status);

	self->gone = true;
	snprintf(self->why, sizeof self->why, "%.319s", why->message);
	if (lost)
		tare_device_abandon(self->member->device);
	tare_result_warn(several->run->result, "device-left-out",
	                 lost ? "see the kernel's log (dmesg), reset the device or restart "
	                        "the machine"
	                      : "the other devices were measured without it",
	                 "%s is not in what follows: %s", self->member->name, self->why);
}

struct tare_operation several_copy(const struct several *several,
                                   const struct several_course *course, uint64_t offset,
                                   uint64_t bytes)
{
	const struct several_device *self = &several->devices[course->device];
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };
	struct tare_memory *from = self->host_in, *to = self->device_in;

	if (course->way != SEVERAL_TO_DEVICE)
		from = self->device_out;
	if (course->way == SEVERAL_TO_HOST)
		to = self->host_out;
	else if (course->way == SEVERAL_TO_PEER)
		to = several->devices[course->peer].device_in;
	copy.source = (struct tare_span){ from, offset, bytes };
	copy.destination = (struct tare_span){ to, offset, bytes };
	return copy;
}

// ---- did it arrive?

// The two stretches that are looked at: one where there is no room for two.
static size_t ends_of(const struct several *several, uint64_t offsets[2], uint64_t *bytes)
{
	*bytes = least(END_BYTES, several->bytes);
	offsets[0] = 0;
	offsets[1] = several->bytes - *bytes;
	return offsets[1] ? 2 : 1;
}

// Copies between a stretch of the destination's memory and the same one of its device's host_out.
static int move_end(const struct several *several, const struct several_course *course,
                    uint64_t offset, uint64_t bytes, bool to_host, struct tare_error *error)
{
	const struct several_device *owner =
	    &several->devices[course->way == SEVERAL_TO_PEER ? course->peer : course->device];
	struct tare_span host = { owner->host_out, offset, bytes };
	struct tare_span device = { owner->device_in, offset, bytes };
	struct tare_operation copy = { .type = TARE_OPERATION_COPY,
		                       .source = to_host ? device : host,
		                       .destination = to_host ? host : device };

	return course->way == SEVERAL_TO_HOST ? 0 : tare_bench_run(owner->queues[0], &copy, error);
}

int several_poison(const struct several *several, const struct several_course *course,
                   struct tare_error *error)
{
	const struct several_device *owner =
	    &several->devices[course->way == SEVERAL_TO_PEER ? course->peer : course->device];
	uint64_t offsets[2], bytes;
	size_t count = ends_of(several, offsets, &bytes);
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		memset((unsigned char *)owner->host_out->host + offsets[i], 0xa5, bytes);
		status = move_end(several, course, offsets[i], bytes, false, error);
	}
	return status;
}

int several_arrived(const struct several *several, const struct several_course *course,
                    struct tare_error *error)
{
	const struct several_device *self = &several->devices[course->device];
	const struct several_device *owner =
	    &several->devices[course->way == SEVERAL_TO_PEER ? course->peer : course->device];
	uint64_t offsets[2], bytes;
	size_t count = ends_of(several, offsets, &bytes);
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		status = move_end(several, course, offsets[i], bytes, true, error);
		if (status == 0 &&
		    memcmp((const unsigned char *)owner->host_out->host + offsets[i],
		           (const unsigned char *)self->host_in->host + offsets[i], bytes) != 0)
			return 0;
	}
	return status < 0 ? status : 1;
}

void several_plans_clear(struct several *several, size_t first)
{
	while (several->plan_count > first) {
		struct several_plan *plan = &several->plans[--several->plan_count];
		for (size_t i = 0; i < plan->figure_count; i++) {
			tare_series_clear(&plan->figures[i].series);
			tare_labels_clear(&plan->figures[i].labels);
		}
		free(plan->figures);
	}
}
