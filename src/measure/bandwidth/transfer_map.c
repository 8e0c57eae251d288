// SPDX-License-Identifier: Apache-2.0
// Map for reading, and unmap after writing. Where the device's memory is the host's, no byte moves
// and a rate would be absurd: bandwidth_judge_maps decides that after all sizes are measured.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Bytes a second beyond which none moved.
#define RATE_MOST 1e12

static struct tare_span span_of(const struct transfer *transfer)
{
	bool read = transfer->line == TARE_LINE_MAP_READ;
	return (struct tare_span){
		transfer->bandwidth->buffers[read ? DEVICE_SOURCE : DEVICE_SINK],
		0,
		transfer->bytes,
	};
}

static int map(struct transfer *transfer, enum tare_map_access access, struct tare_event **event,
               struct tare_error *error)
{
	struct tare_queue *queue = transfer->bandwidth->bench.timed;
	struct tare_operation operation = { .type = TARE_OPERATION_MAP,
		                            .destination = span_of(transfer),
		                            .access = access,
		                            .blocking = true };
	return tare_append(queue, &operation, event, error);
}

static int unmap(struct transfer *transfer, struct tare_event **event, struct tare_error *error)
{
	struct tare_queue *queue = transfer->bandwidth->bench.timed;
	struct tare_operation operation = { .type = TARE_OPERATION_UNMAP,
		                            .destination = span_of(transfer) };
	int status = tare_append(queue, &operation, event, error);

	return status < 0 ? status : tare_finish(queue, TARE_LIMIT_NATIVE, error);
}

// The same as a sample, but with limits: native waits must not be the first to find a device that
// hangs.
static int try_map(struct transfer *transfer, enum tare_map_access access, struct tare_error *error)
{
	struct tare_queue *queue = transfer->bandwidth->bench.timed;
	struct tare_operation operation = { .type = TARE_OPERATION_MAP,
		                            .destination = span_of(transfer),
		                            .access = access };
	int status = tare_bench_run(queue, &operation, error);

	if (status < 0)
		return status;
	operation = (struct tare_operation){ .type = TARE_OPERATION_UNMAP,
		                             .destination = span_of(transfer) };
	return tare_bench_run(queue, &operation, error);
}

static int begin_map(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	bool read = transfer->line == TARE_LINE_MAP_READ;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	int status = transfer_need(transfer, read ? DEVICE_SOURCE : DEVICE_SINK, error);

	if (status < 0)
		return status;
	if (!bench->stamped)
		snprintf(measurement->figures[1].absent, sizeof measurement->figures[1].absent,
		         "%s", bench->unstamped);
	if (!read)
		status = bandwidth_poison(transfer->bandwidth, span_of(transfer), error);
	status = status ?: try_map(transfer, TARE_MAP_READ, error);
	if (status == 0 && !read)
		status = try_map(transfer, TARE_MAP_WRITE, error);
	return status;
}

static int write_mapped(struct transfer *transfer, struct tare_error *error)
{
	struct tare_memory *memory = span_of(transfer).memory;

	if (!memory->host)
		return tare_fail(error, EIO, "mapped memory has no address");
	memcpy(memory->host, transfer->bandwidth->buffers[HEAP_SOURCE]->host, transfer->bytes);
	return 0;
}

static int sample_map(struct tare_measurement *measurement, int64_t *values,
                      struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	bool read = transfer->line == TARE_LINE_MAP_READ;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_event *event = NULL, **timed = bench->stamped ? &event : NULL;
	struct tare_host_time begin = tare_device_now(bench->device);
	int status;

	transfer->samples++;
	if (read) {
		status = map(transfer, TARE_MAP_READ, timed, error);
		values[0] = tare_host_elapsed_ns(begin, tare_device_now(bench->device)) * 1000;
		status = status ?: unmap(transfer, NULL, error);
	} else {
		status = map(transfer, TARE_MAP_WRITE | TARE_MAP_DISCARD, NULL, error);
		status = status ?: write_mapped(transfer, error);
		begin = tare_device_now(bench->device);
		status = status ?: unmap(transfer, timed, error);
		values[0] = tare_host_elapsed_ns(begin, tare_device_now(bench->device)) * 1000;
	}
	if (status == 0 && event) {
		status = tare_bench_duration_ps(bench, event, values[0] / 1000, &values[1], error);
		if (status == -EOVERFLOW)
			measurement->figures[1].refused = true;
		if (status == -ENODATA || status == -EIO || status == -EOVERFLOW) {
			snprintf(measurement->figures[1].absent,
			         sizeof measurement->figures[1].absent, "%.300s", error->message);
			values[1] = TARE_NO_SAMPLE;
			status = 0;
		}
	}
	tare_event_free(event);
	return status;
}

static int end_map(struct tare_measurement *measurement, enum tare_verified *verified,
                   struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	struct tare_span span = span_of(transfer);
	int status;

	if (transfer->samples == 0)
		return 0;
	if (transfer->line == TARE_LINE_UNMAP_WRITTEN)
		return bandwidth_verify(bandwidth, span, 0, verified, error);
	status = map(transfer, TARE_MAP_READ, NULL, error);
	if (status < 0)
		return status;
	*verified =
	    span.memory->host && bandwidth_equal(bandwidth, span.memory->host, 0, span.bytes)
	        ? TARE_VERIFIED
	        : TARE_WRONG;
	return unmap(transfer, NULL, error);
}

void transfer_plan_map(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool read = transfer->line == TARE_LINE_MAP_READ;

	measurement->begin = begin_map;
	measurement->sample = sample_map;
	measurement->end = end_map;
	for (int i = 0; i < 2; i++) {
		struct tare_figure *figure =
		    transfer_figure(transfer, measurement, transfer->line, i ? "device" : "host",
		                    (double)transfer->bytes,
		                    read ? (i ? "start to end of the map on the device's clock"
		                              : "blocking map for reading: call to return; the "
		                                "host has not touched the bytes yet")
		                         : (i ? "start to end of the unmap on the device's clock"
		                              : "unmap after the host wrote every byte: call to "
		                                "the return of finish"));
		figure->rate_unit = NULL; // until bandwidth_judge_maps says that bytes move
	}
}

static bool is_of(const struct tare_cell *cell, enum tare_line line)
{
	const struct tare_label *name = tare_labels_find(&cell->labels, "line");

	return !cell->absent && name && name->text && tare_labels_find(&cell->labels, "bytes") &&
	       strcmp(name->text, tare_lines[line].name) == 0;
}

// The smallest and the largest measured size of a line on the host's clock.
static bool ends_of(const struct tare_result *result, enum tare_line line,
                    const struct tare_cell **small, const struct tare_cell **large)
{
	int64_t least = INT64_MAX, most = 0;

	*small = *large = NULL;
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		const struct tare_label *bytes = tare_labels_find(&cell->labels, "bytes");
		if (!is_of(cell, line) || strcmp(cell->source, "host") != 0)
			continue;
		if (bytes->number < least) {
			least = bytes->number;
			*small = cell;
		}
		if (bytes->number > most) {
			most = bytes->number;
			*large = cell;
		}
	}
	return *large != NULL;
}

static double bytes_of(const struct tare_cell *cell)
{
	return (double)tare_labels_find(&cell->labels, "bytes")->number;
}

// Bytes a second if the bytes of the cell had moved.
static double rate_of(const struct tare_cell *cell)
{
	return bytes_of(cell) / (cell->summary.median * 1e-12);
}

// The best rate at which bytes were seen to move between host and device; 0: none was measured.
static double best_copy_rate(const struct tare_result *result)
{
	double best = 0;

	for (size_t i = 0; i < result->cell_count; i++)
		if (!result->cells[i].absent && result->cells[i].rate.present &&
		    result->cells[i].rate.median * 1e9 > best)
			best = result->cells[i].rate.median * 1e9;
	return best;
}

// Quicker, at any size and on either clock, than any link or memory of a host is today.
static bool is_beyond_memory(const struct tare_result *result, enum tare_line line)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (is_of(&result->cells[i], line) && rate_of(&result->cells[i]) > RATE_MOST)
			return true;
	return false;
}

static bool costs_the_same(const struct tare_cell *small, const struct tare_cell *large)
{
	return small && large && bytes_of(large) >= 64 * bytes_of(small) &&
	       large->summary.median < 4 * small->summary.median;
}

// Nothing moved if a map was quicker than memory can be, or if the largest was much quicker than
// anything else measured, or if it cost about the same as a small one.
static bool is_zero_copy(const struct tare_result *result, enum tare_line line,
                         const struct tare_cell *small, const struct tare_cell *large)
{
	double best = best_copy_rate(result);
	uint64_t few = (uint64_t)bytes_of(small), many = (uint64_t)bytes_of(large);

	return is_beyond_memory(result, line) || (best > 0 && rate_of(large) > 3 * best) ||
	       costs_the_same(small, large) ||
	       costs_the_same(bandwidth_cell(result, line, few, "device"),
	                      bandwidth_cell(result, line, many, "device"));
}

static void set_rates(struct tare_result *result, enum tare_line line, bool zero_copy)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		struct tare_cell *cell = &result->cells[i];
		const struct tare_label *bytes = tare_labels_find(&cell->labels, "bytes");
		char method[400];
		if (!is_of(cell, line))
			continue;
		if (!zero_copy) {
			tare_cell_set_rate(cell, (double)bytes->number, "GB/s", 1e9);
		} else {
			snprintf(method, sizeof method,
			         "zero copy: no byte moves, so there is no rate; %s",
			         cell->method ? cell->method : "");
			tare_cell_set_method(cell, method);
		}
	}
}

static void warn_zero_copy(struct tare_result *result, const struct tare_cell *small,
                           const struct tare_cell *large)
{
	static const char action[] = "map buffers instead of copying them on this device";
	char few[TARE_UNIT_TEXT], many[TARE_UNIT_TEXT], quick[TARE_UNIT_TEXT], slow[TARE_UNIT_TEXT];

	tare_format_bytes((uint64_t)bytes_of(large), many);
	tare_format_ns(large->summary.median / 1000, slow);
	if (small == large) {
		tare_result_warn(result, "map-zero-copy", action,
		                 "mapping is zero copy: %s takes %s", many, slow);
		return;
	}
	tare_result_warn(result, "map-zero-copy", action,
	                 "mapping is zero copy: %s takes %s, %s takes %s",
	                 tare_format_bytes((uint64_t)bytes_of(small), few),
	                 tare_format_ns(small->summary.median / 1000, quick), many, slow);
}

void bandwidth_judge_maps(struct bandwidth *bandwidth)
{
	static const enum tare_line lines[] = { TARE_LINE_MAP_READ, TARE_LINE_UNMAP_WRITTEN };
	struct tare_result *result = bandwidth->run->result;

	for (size_t i = 0; i < 2; i++) {
		const struct tare_cell *small, *large;
		bool zero_copy;
		if (!ends_of(result, lines[i], &small, &large))
			continue;
		zero_copy = is_zero_copy(result, lines[i], small, large);
		set_rates(result, lines[i], zero_copy);
		if (zero_copy && lines[i] == TARE_LINE_MAP_READ)
			warn_zero_copy(result, small, large);
	}
}
