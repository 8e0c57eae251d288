// SPDX-License-Identifier: Apache-2.0
// Copies from and to ordinary memory of the host by the size of its pages: touched already, and
// while its pages appear. The memory is made for each measurement, larger than the copy, which
// begins at a huge page.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"
#include "base/units.h"
#include "measure/host/pages.h"

#include <errno.h>
#include <string.h>

static enum host_pages pages_of(enum tare_line line)
{
	switch (line) {
	case TARE_LINE_TRANSPARENT_TO_DEVICE:
	case TARE_LINE_DEVICE_TO_TRANSPARENT:
	case TARE_LINE_FIRST_TOUCH_TRANSPARENT:
		return HOST_PAGES_TRANSPARENT;
	case TARE_LINE_EXPLICIT_TO_DEVICE:
	case TARE_LINE_DEVICE_TO_EXPLICIT:
	case TARE_LINE_FIRST_TOUCH_EXPLICIT:
		return HOST_PAGES_EXPLICIT;
	default:
		return HOST_PAGES_SMALL;
	}
}

static bool is_to_device(enum tare_line line)
{
	return line == TARE_LINE_SMALL_TO_DEVICE || line == TARE_LINE_TRANSPARENT_TO_DEVICE ||
	       line == TARE_LINE_EXPLICIT_TO_DEVICE;
}

static bool is_first_touch(enum tare_line line)
{
	return line == TARE_LINE_FIRST_TOUCH_SMALL || line == TARE_LINE_FIRST_TOUCH_TRANSPARENT ||
	       line == TARE_LINE_FIRST_TOUCH_EXPLICIT;
}

// New memory of such pages, which nobody has touched; span: the part that is copied.
static int make_pages(struct transfer *transfer, struct tare_span *span, struct tare_error *error)
{
	uint64_t huge = BANDWIDTH_HUGE_BYTES;
	int status;

	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	transfer->operation.source.memory = transfer->operation.destination.memory = NULL;
	status = tare_memory_create(transfer->bandwidth->run->device, TARE_MEMORY_PAGEABLE,
	                            transfer->bytes + huge, &transfer->fresh, error);
	if (status < 0)
		return status;
	*span = (struct tare_span){ transfer->fresh,
		                    (huge - (uintptr_t)transfer->fresh->host % huge) % huge,
		                    transfer->bytes };
	return host_pages_use((uint8_t *)transfer->fresh->host + span->offset_bytes,
	                      transfer->bytes, pages_of(transfer->line), error);
}

static void set_operation(struct transfer *transfer, struct tare_span host)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool to_device = is_to_device(transfer->line);
	struct tare_span device = { bandwidth->buffers[to_device ? DEVICE_SINK : DEVICE_SOURCE], 0,
		                    transfer->bytes };

	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = to_device ? host : device,
		.destination = to_device ? device : host,
		.blocking = true,
	};
}

static int check_system(const struct transfer *transfer, struct tare_error *error)
{
	uint64_t huge = host_pages_huge_bytes();
	char text[TARE_UNIT_TEXT];

	if (transfer->bandwidth->run->simulated)
		return tare_fail(error, ENOTSUP,
		                 "virtual time: pages of this machine say nothing of it");
	if (pages_of(transfer->line) == HOST_PAGES_SMALL || huge == BANDWIDTH_HUGE_BYTES)
		return 0;
	return huge ? tare_fail(error, ENOTSUP, "huge pages have %s here, not 2 MB",
	                        tare_format_bytes(huge, text))
	            : tare_fail(error, ENOTSUP, "this system has no huge pages");
}

// A kernel that finds no room gives small pages for transparent ones, without a word.
static int check_transparent(const struct transfer *transfer, struct tare_span host,
                             struct tare_error *error)
{
	uint64_t got;
	char text[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];

	if (pages_of(transfer->line) != HOST_PAGES_TRANSPARENT)
		return 0;
	got = host_pages_transparent_bytes((uint8_t *)host.memory->host + host.offset_bytes,
	                                   host.bytes);
	return got >= host.bytes / 10 * 9
	           ? 0
	           : tare_fail(error, ENOTSUP,
	                       "only %s of %s are in huge pages: the kernel had no more",
	                       tare_format_bytes(got, text), tare_format_bytes(host.bytes, all));
}

static int begin_touched(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool to_device = is_to_device(transfer->line);
	struct tare_span host;
	int status = check_system(transfer, error);

	if (status == 0)
		status = transfer_need(transfer, to_device ? DEVICE_SINK : DEVICE_SOURCE, error);
	status = status ?: make_pages(transfer, &host, error);
	if (status < 0)
		return status;
	uint8_t *at = (uint8_t *)host.memory->host + host.offset_bytes;
	if (to_device)
		memcpy(at, bandwidth->buffers[HEAP_SOURCE]->host, transfer->bytes);
	else
		memset(at, 0xa5, transfer->bytes);
	status = check_transparent(transfer, host, error);
	if (status < 0)
		return status;
	set_operation(transfer, host);
	return transfer_prepare(transfer, measurement, error);
}

// Tries the copy once with a limit on the queue of the samples; into memory that no sample gets.
static int begin_first(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_operation copy;
	struct tare_span host;
	int status = check_system(transfer, error);

	transfer->batch = 1;
	transfer_mark_unstamped(transfer, measurement);
	status = status ?: transfer_need(transfer, DEVICE_SOURCE, error);
	status = status ?: make_pages(transfer, &host, error);
	if (status < 0)
		return status;
	set_operation(transfer, host);
	copy = transfer->operation;
	copy.blocking = false;
	status = tare_bench_run(transfer->bandwidth->bench.timed, &copy, error);
	return status < 0 ? status : check_transparent(transfer, host, error);
}

static int sample_first(struct tare_measurement *measurement, int64_t *values,
                        struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_span host;
	int status = make_pages(transfer, &host, error);

	if (status < 0)
		return status;
	set_operation(transfer, host);
	return transfer_sample(measurement, values, error);
}

static int end_pages(struct tare_measurement *measurement, enum tare_verified *verified,
                     struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	int status = 0;

	if (transfer->operation.destination.memory)
		status = bandwidth_verify(transfer->bandwidth, transfer->operation.destination, 0,
		                          verified, error);
	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	return status;
}

void transfer_plan_pages(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool first = is_first_touch(transfer->line);

	measurement->begin = first ? begin_first : begin_touched;
	measurement->sample = first ? sample_first : transfer_sample;
	measurement->end = end_pages;
	measurement->no_warm_up = first;
	transfer_add_figures(
	    transfer, measurement,
	    first ? "start to end on the device's clock of the first copy into new memory"
	          : "start to end on the device's clock; staging by the driver may lie outside it",
	    first ? "the first, blocking copy into new memory: call to return on the host's clock"
	          : "one blocking copy: call to return on the host's clock");
}
