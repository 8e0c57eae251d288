// SPDX-License-Identifier: Apache-2.0
// Whether the bytes arrived: outside every timed window, whole.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <string.h>

static const uint8_t poison = 0xa5;

static bool host_may_touch(struct tare_span span)
{
	enum tare_memory_kind kind = span.memory->kind;

	// Touching shared memory would move it; write-combined memory is slow to read.
	return span.memory->host && (kind == TARE_MEMORY_PAGEABLE || kind == TARE_MEMORY_PINNED ||
	                             kind == TARE_MEMORY_REGISTERED || kind == TARE_MEMORY_MAPPED);
}

int bandwidth_poison(struct bandwidth *bandwidth, struct tare_span span, struct tare_error *error)
{
	struct tare_operation operation = {
		.type = TARE_OPERATION_FILL,
		.destination = span,
		.fill = { .pattern = &poison, .pattern_bytes = 1 },
	};
	struct tare_memory *sink = bandwidth->buffers[HEAP_SINK];
	int status;

	if (host_may_touch(span)) {
		memset((uint8_t *)span.memory->host + span.offset_bytes, poison, span.bytes);
		return 0;
	}
	status = tare_bench_run(bandwidth->bench.plain, &operation, error);
	if (status != -ENOSYS && status != -ENOTSUP)
		return status;
	memset(sink->host, poison, span.bytes);
	operation = (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                             .destination = span,
		                             .source = { sink, 0, span.bytes } };
	return tare_bench_run(bandwidth->bench.plain, &operation, error);
}

bool bandwidth_equal(const struct bandwidth *bandwidth, const void *host, uint64_t offset,
                     uint64_t bytes)
{
	const uint8_t *pattern = bandwidth->buffers[HEAP_SOURCE]->host;

	return memcmp(host, pattern + offset, bytes) == 0;
}

int bandwidth_verify(struct bandwidth *bandwidth, struct tare_span span, uint64_t offset,
                     enum tare_verified *verified, struct tare_error *error)
{
	struct tare_memory *sink = bandwidth->buffers[HEAP_SINK];
	const uint8_t *host = span.memory->host;

	*verified = TARE_NOT_VERIFIABLE;
	// Whoever interrupts does not wait for large copies to be compared.
	if (tare_run_interrupted(bandwidth->run))
		return 0;
	if (!host_may_touch(span)) {
		struct tare_operation copy = { .type = TARE_OPERATION_COPY,
			                       .source = span,
			                       .destination = { sink, 0, span.bytes } };
		int status;
		memset(sink->host, poison, span.bytes);
		status = tare_bench_run(bandwidth->bench.plain, &copy, error);
		if (status < 0)
			return status;
		host = sink->host;
	} else {
		host += span.offset_bytes;
	}
	*verified =
	    bandwidth_equal(bandwidth, host, offset, span.bytes) ? TARE_VERIFIED : TARE_WRONG;
	return 0;
}
