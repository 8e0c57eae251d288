// SPDX-License-Identifier: Apache-2.0
// What one operation is in Level Zero: the command, with the events that it names.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <string.h>

// Of a whole image from or to host memory.
static int append_image(const struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	ze_image_handle_t image = levelzero_image_of(to->memory);
	bool in = image;
	const struct tare_span *host = in ? from : to, *whole = in ? to : from;
	const char *name =
	    in ? "zeCommandListAppendImageCopyFromMemory" : "zeCommandListAppendImageCopyToMemory";
	ze_result_t result;

	if (!host->memory->host)
		return tare_fail(error, ENOTSUP, "images are copied from and to host memory only");
	if (whole->offset_bytes || whole->bytes != whole->memory->bytes ||
	    host->bytes != whole->bytes)
		return tare_fail(error, EINVAL, "images are copied as a whole only");
	if (in)
		result = append->call->zeCommandListAppendImageCopyFromMemory(
		    append->list, image, levelzero_address(host), NULL, append->signal,
		    append->wait_count, append->waits);
	else
		result = append->call->zeCommandListAppendImageCopyToMemory(
		    append->list, levelzero_address(host), levelzero_image_of(from->memory), NULL,
		    append->signal, append->wait_count, append->waits);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, name, error, "cannot copy an image");
	return 0;
}

static int append_copy(const struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;

	if (levelzero_image_of(from->memory) || levelzero_image_of(to->memory))
		return append_image(append, error);
	if (from->bytes != to->bytes)
		return tare_fail(error, EINVAL, "a copy of %llu bytes into %llu",
		                 (unsigned long long)from->bytes, (unsigned long long)to->bytes);
	ze_result_t result = append->call->zeCommandListAppendMemoryCopy(
	    append->list, levelzero_address(to), levelzero_address(from), to->bytes, append->signal,
	    append->wait_count, append->waits);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendMemoryCopy", error,
		                      "cannot copy %llu bytes", (unsigned long long)to->bytes);
	return 0;
}

static int append_rectangle(const struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_rectangle *shape = &append->operation->rectangle;
	const uint64_t from_layer = shape->source_layer_pitch
	                                ? shape->source_layer_pitch
	                                : shape->rows * shape->source_row_pitch;
	const uint64_t to_layer = shape->destination_layer_pitch
	                              ? shape->destination_layer_pitch
	                              : shape->rows * shape->destination_row_pitch;
	const uint64_t all[] = { shape->row_bytes,
		                 shape->rows,
		                 shape->layers,
		                 shape->source_row_pitch,
		                 shape->destination_row_pitch,
		                 from_layer,
		                 to_layer };
	const ze_copy_region_t region = {
		.width = (uint32_t)shape->row_bytes,
		.height = (uint32_t)shape->rows,
		.depth = (uint32_t)shape->layers,
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] > UINT32_MAX)
			return tare_fail(
			    error, ENOTSUP,
			    "Level Zero's rectangles have sizes and pitches below 4 GiB");
	// Spans say where each begins, so that both regions begin at their own origin.
	ze_result_t result = append->call->zeCommandListAppendMemoryCopyRegion(
	    append->list, levelzero_address(&append->operation->destination), &region,
	    (uint32_t)shape->destination_row_pitch, (uint32_t)to_layer,
	    levelzero_address(&append->operation->source), &region,
	    (uint32_t)shape->source_row_pitch, (uint32_t)from_layer, append->signal,
	    append->wait_count, append->waits);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendMemoryCopyRegion", error,
		                      "cannot copy a rectangle");
	return 0;
}

static int append_fill(const struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_span *to = &append->operation->destination;
	const char *pattern = append->operation->fill.pattern;
	size_t bytes = append->operation->fill.pattern_bytes;

	if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)))
		return tare_fail(error, EINVAL, "a pattern of %zu bytes; it is 1, 2, 4, 8 or 16",
		                 bytes);
	if (to->bytes % bytes)
		return tare_fail(error, EINVAL, "%llu bytes are no whole number of patterns",
		                 (unsigned long long)to->bytes);
	if (levelzero_image_of(to->memory))
		return tare_fail(error, ENOTSUP, "images are not filled");
	if (to->memory->kind == TARE_MEMORY_PAGEABLE)
		return tare_fail(error, ENOTSUP, "Level Zero fills only memory of its own");
	// A copy engine may take shorter ones only.
	while (bytes > append->engine->fill_pattern_bytes && bytes > 1 &&
	       memcmp(pattern, pattern + bytes / 2, bytes / 2) == 0)
		bytes /= 2;
	if (bytes > append->engine->fill_pattern_bytes)
		return tare_fail(error, ENOTSUP,
		                 "ordinal %u fills with patterns of at most %zu bytes",
		                 append->engine->ordinal, append->engine->fill_pattern_bytes);
	ze_result_t result = append->call->zeCommandListAppendMemoryFill(
	    append->list, levelzero_address(to), pattern, bytes, to->bytes, append->signal,
	    append->wait_count, append->waits);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendMemoryFill", error,
		                      "cannot fill %llu bytes", (unsigned long long)to->bytes);
	return 0;
}

static int append_barrier(const struct levelzero_append *append, ze_event_handle_t signal,
                          uint32_t wait_count, struct tare_error *error)
{
	ze_result_t result = append->call->zeCommandListAppendBarrier(
	    append->list, signal, wait_count, wait_count ? append->waits : NULL);

	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot append a marker");
	return 0;
}

// A prefetch names no events: barriers on both sides of it do.
static int append_migrate(struct levelzero_append *append, struct tare_error *error)
{
	const struct tare_span *span = &append->operation->destination;
	int status = 0;

	if (span->memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(error, ENOTSUP, "Level Zero moves shared memory only");
	if (append->operation->to_host)
		return tare_fail(
		    error, ENOTSUP,
		    "Level Zero 1.4 prefetches to the device only; touch the memory to move "
		    "it to the host");
	if (append->wait_count)
		status = append_barrier(append, NULL, append->wait_count, error);
	if (status < 0)
		return status;
	ze_result_t result = append->call->zeCommandListAppendMemoryPrefetch(
	    append->list, levelzero_address(span), span->bytes);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendMemoryPrefetch", error,
		                      "cannot move %llu bytes", (unsigned long long)span->bytes);
	append->unstamped = "a prefetch signals no event, so that nothing stamps it";
	return append->signal ? append_barrier(append, append->signal, 0, error) : 0;
}

static int append_host_call(const struct levelzero_append *append, struct tare_error *error)
{
	static const char lacks[] =
	    "this Level Zero has no zeCommandListAppendHostFunction (it needs 1.17)";

	if (!append->call->zeCommandListAppendHostFunction)
		return tare_fail(error, ENOTSUP, lacks);
	ze_result_t result = append->call->zeCommandListAppendHostFunction(
	    append->list, append->operation->call.function, append->operation->call.context, NULL,
	    append->signal, append->wait_count, append->waits);
	if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
		return tare_fail(error, ENOTSUP, lacks);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeCommandListAppendHostFunction", error,
		                      "cannot call the host");
	return 0;
}

int levelzero_append_command(struct levelzero_append *append, struct tare_error *error)
{
	switch (append->operation->type) {
	case TARE_OPERATION_COPY:
		return append_copy(append, error);
	case TARE_OPERATION_RECTANGLE:
		return append_rectangle(append, error);
	case TARE_OPERATION_FILL:
		return append_fill(append, error);
	case TARE_OPERATION_MIGRATE:
		return append_migrate(append, error);
	case TARE_OPERATION_LAUNCH:
		return levelzero_append_launch(append, error);
	case TARE_OPERATION_MARKER:
		return append_barrier(append, append->signal, append->wait_count, error);
	case TARE_OPERATION_HOST_CALL:
		return append_host_call(append, error);
	case TARE_OPERATION_MAP:
	case TARE_OPERATION_UNMAP:
		return tare_fail(
		    error, ENOTSUP,
		    "Level Zero has no mapping: host and shared memory are addressed directly");
	}
	return tare_fail(error, EINVAL, "unknown operation %d", (int)append->operation->type);
}
