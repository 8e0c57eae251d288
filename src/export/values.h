// SPDX-License-Identifier: Apache-2.0
// Values of an export's tables. Internal to src/export.
#pragma once
#include "analysis/recording/recording.h"
#include "table/table.h"

// In the lists of columns.
#define NULLS TARE_MAY_BE_ABSENT
#define NUMBER_IN(array) tare_integer(row - r->array)

// Absent above 2^63 - 1.
static inline struct tare_cell_value export_count(uint64_t value)
{
	return value > INT64_MAX ? tare_absent(TARE_NOT_KNOWN) : tare_integer((int64_t)value);
}

// 0 is not told: absent.
static inline struct tare_cell_value export_known(uint64_t value)
{
	return value == 0 ? tare_absent(TARE_NOT_TOLD) : export_count(value);
}

// Absent from `count` on.
static inline struct tare_cell_value export_index(uint32_t index, size_t count)
{
	return index >= count ? tare_absent(TARE_NOT_KNOWN) : tare_integer(index);
}

// From the start of the run; absent for TARE_NO_TIME.
static inline struct tare_cell_value export_moment(const struct tare_recording *recording,
                                                   int64_t at_ns)
{
	int64_t since_ns;

	return at_ns == TARE_NO_TIME ||
	               __builtin_sub_overflow(at_ns, recording->start_ns, &since_ns)
	           ? tare_absent(TARE_NOT_KNOWN)
	           : tare_integer(since_ns);
}

// Absent for TARE_NO_TIME.
static inline struct tare_cell_value export_length(int64_t ns)
{
	return ns == TARE_NO_TIME ? tare_absent(TARE_NOT_KNOWN) : tare_integer(ns);
}

// The process of a thread.
static inline struct tare_cell_value export_process_of(const struct tare_recording *recording,
                                                       uint32_t thread)
{
	return export_index(thread < recording->thread_count ? recording->threads[thread].process
	                                                     : TARE_NO_INDEX,
	                    recording->process_count);
}
