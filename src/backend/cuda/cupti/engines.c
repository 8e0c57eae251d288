// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cupti/engines.h"

#include <stdlib.h>
#include <time.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFER_ALIGNMENT 8

// The first `needed` ones must be there. An engine's records carry their call (correlation) only
// while the driver's calls are recorded; the runtime's are those of libraries.
static const struct {
	cupti_kind kind;
	bool needed, of_libraries;
} kinds[] = {
	{ ABI_CUPTI_KIND_EXTERNAL_CORRELATION, true, false },
	{ ABI_CUPTI_KIND_DRIVER, true, false },
	{ ABI_CUPTI_KIND_CONCURRENT_KERNEL, true, false },
	{ ABI_CUPTI_KIND_MEMCPY, true, false },
	{ ABI_CUPTI_KIND_MEMSET, true, false },
	{ ABI_CUPTI_KIND_MEMCPY_PEER, false, false },
	{ ABI_CUPTI_KIND_RUNTIME, false, true },
};
#define KINDS (sizeof kinds / sizeof *kinds)

static uint64_t host_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	*buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0; // as many as fit
}

cupti_result tare_cupti_records_to(const struct cupti_functions *call,
                                   cupti_buffer_completed completed, const char **name)
{
	cupti_result result = call->cuptiActivityRegisterTimestampCallback(host_clock);

	*name = "cuptiActivityRegisterTimestampCallback";
	if (result != ABI_CUPTI_SUCCESS)
		return result;
	*name = "cuptiActivityRegisterCallbacks";
	return call->cuptiActivityRegisterCallbacks(give_buffer, completed);
}

cupti_result tare_cupti_enable(const struct cupti_functions *call, bool libraries,
                               const char **name)
{
	cupti_result result = ABI_CUPTI_SUCCESS;

	*name = "cuptiActivityEnable";
	for (size_t i = 0; i < KINDS && result == ABI_CUPTI_SUCCESS; i++) {
		if (kinds[i].of_libraries && !libraries)
			continue;
		result = call->cuptiActivityEnable(kinds[i].kind);
		if (!kinds[i].needed)
			result = ABI_CUPTI_SUCCESS;
	}
	return result;
}

// Flushed on both sides: nothing promises that records of a kind outlive its end.
void tare_cupti_end(const struct cupti_functions *call, cupti_subscriber subscriber)
{
	call->cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED);
	for (size_t i = 0; i < KINDS; i++)
		call->cuptiActivityDisable(kinds[i].kind);
	call->cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED);
	call->cuptiUnsubscribe(subscriber);
}

size_t tare_cupti_read(const struct cupti_functions *call, uint8_t *buffer, size_t valid_bytes,
                       void (*keep)(const cupti_record *record))
{
	cupti_record *record = NULL;
	size_t dropped = 0;

	while (buffer && valid_bytes &&
	       call->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == ABI_CUPTI_SUCCESS)
		keep(record);
	if (call->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) != ABI_CUPTI_SUCCESS)
		dropped = 0;
	free(buffer);
	return dropped;
}
