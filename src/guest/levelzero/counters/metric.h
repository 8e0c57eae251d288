// SPDX-License-Identifier: Apache-2.0
// What Intel's metrics are by name, and what their values say: for the recorder, which counts
// launches, and the backend, which samples the device. It needs nothing but the API's types.
#pragma once
#include <level_zero/zet_api.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum count_metric {
#define METRIC(name, ...) COUNT_##name,
#include "guest/levelzero/counters/metrics.def"
#undef METRIC
	COUNT_METRIC_KINDS,
	COUNT_DOUBT = COUNT_METRIC_KINDS, // not 0: the report is not to be trusted
	COUNT_NOTHING,
};

// The enum count_metric of a metric by its name and unit.
static inline uint8_t count_metric_named(const char *name, const char *unit)
{
	static const char *const names[COUNT_METRIC_KINDS][3] = {
#define METRIC(name, tells, ...) [COUNT_##name] = { __VA_ARGS__ },
#include "guest/levelzero/counters/metrics.def"
#undef METRIC
	};
	// Flags of Intel's reports that say that its figures are not those of what was counted.
	// Others (a switch of contexts, no work) are set in reports that are right.
	static const char *const doubts[] = { "ReportError",
		                              "ReportLost",
		                              "ReportInconsistent",
		                              "OverrunOccured",
		                              "QuerySplitOccurred",
		                              "ReportContextMismatch",
		                              "ReportQueryModeMismatch" };
	for (uint8_t kind = 0; kind < COUNT_METRIC_KINDS; kind++)
		for (size_t i = 0; i < 3 && names[kind][i] != NULL; i++)
			if (strcmp(names[kind][i], name) == 0)
				return kind == COUNT_TIME && strcmp(unit, "ns") != 0 ? COUNT_NOTHING
				                                                     : kind;
	for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
		if (strcmp(doubts[i], name) == 0)
			return COUNT_DOUBT;
	return COUNT_NOTHING;
}

// NaN: it stands at the largest value of its type, or is a difference that went below 0.
static inline double count_number(const zet_typed_value_t *value)
{
	switch (value->type) {
	case ZET_VALUE_TYPE_UINT32:
		return value->value.ui32 == UINT32_MAX ? (double)NAN : (double)value->value.ui32;
	case ZET_VALUE_TYPE_UINT64:
		return value->value.ui64 > INT64_MAX ? (double)NAN : (double)value->value.ui64;
	case ZET_VALUE_TYPE_FLOAT32:
		return isfinite(value->value.fp32) && value->value.fp32 >= 0
		           ? (double)value->value.fp32
		           : (double)NAN;
	case ZET_VALUE_TYPE_FLOAT64:
		return isfinite(value->value.fp64) && value->value.fp64 >= 0 ? value->value.fp64
		                                                             : (double)NAN;
	case ZET_VALUE_TYPE_BOOL8:
		return value->value.b8 != 0;
	default:
		return (double)NAN;
	}
}
