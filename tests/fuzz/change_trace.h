// SPDX-License-Identifier: Apache-2.0
// How libFuzzer changes a trace.
#pragma once
#include "base/random.h"
#include "tare/trace_format.h"
#include "target.h"

#include <string.h>

// Most of a trace is its header, and the place of a record is what gives it a meaning: changes that
// move all that follows lead nowhere. So one record, or a part of the header, is changed where it
// lies, or copied over another; one time in eight anything may happen.
static inline size_t fuzz_change_trace(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct tare_random random = { seed };
	size_t header = sizeof(struct tare_trace_header) / TARE_TRACE_RECORD_BYTES;
	size_t first = TARE_TRACE_HEADER_BYTES / TARE_TRACE_RECORD_BYTES;
	size_t records = size / TARE_TRACE_RECORD_BYTES, at, from;

	if (records <= first || tare_random_below(&random, 8) == 0)
		return LLVMFuzzerMutate(data, size, most);
	at = tare_random_below(&random, 8) ? first + tare_random_below(&random, records - first)
	                                   : tare_random_below(&random, header);
	from = first + tare_random_below(&random, records - first);
	if (at >= first && tare_random_below(&random, 4) == 0)
		memmove(data + at * TARE_TRACE_RECORD_BYTES, data + from * TARE_TRACE_RECORD_BYTES,
		        TARE_TRACE_RECORD_BYTES);
	else
		LLVMFuzzerMutate(data + at * TARE_TRACE_RECORD_BYTES, TARE_TRACE_RECORD_BYTES,
		                 TARE_TRACE_RECORD_BYTES);
	return size;
}
