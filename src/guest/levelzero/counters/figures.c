// SPDX-License-Identifier: Apache-2.0
#include "guest/levelzero/counters/counters.h"

#include <math.h>

uint8_t count_metric_of(const char *name, const char *unit)
{
	return count_metric_named(name, unit);
}

// A counter, and how it comes from metrics. Shares of the elapsed time become shares of the time in
// which cores had work, as the format has them.
enum how { VALUE, SUM, OF_ACTIVE };
static const struct {
	enum how how;
	enum count_metric first, second;
	uint16_t counter;
} rows[] = {
	{ VALUE, COUNT_TIME, 0, TARE_TRACE_COUNTER_DURATION_NS },
	{ SUM, COUNT_ACTIVE, COUNT_STALLED, TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE },
	{ OF_ACTIVE, COUNT_ACTIVE, 0, TARE_TRACE_COUNTER_ISSUE_SHARE },
	{ OF_ACTIVE, COUNT_OCCUPANCY, 0, TARE_TRACE_COUNTER_OCCUPANCY_SHARE },
	{ OF_ACTIVE, COUNT_MATRIX, 0, TARE_TRACE_COUNTER_PIPE_TENSOR_SHARE },
	{ OF_ACTIVE, COUNT_SEND, 0, TARE_TRACE_COUNTER_PIPE_MEMORY_SHARE },
	{ SUM, COUNT_CACHE_READ, COUNT_CACHE_WRITTEN, TARE_TRACE_COUNTER_L1_BYTES },
	{ VALUE, COUNT_LOCAL_READ, 0, TARE_TRACE_COUNTER_LOCAL_READ_BYTES },
	{ VALUE, COUNT_LOCAL_WRITTEN, 0, TARE_TRACE_COUNTER_LOCAL_WRITE_BYTES },
	{ VALUE, COUNT_L3_READ, 0, TARE_TRACE_COUNTER_L1_READ_BYTES },
	{ VALUE, COUNT_L3_WRITTEN, 0, TARE_TRACE_COUNTER_L1_WRITE_BYTES },
	{ SUM, COUNT_L3_READ, COUNT_L3_WRITTEN, TARE_TRACE_COUNTER_L2_BYTES },
	{ VALUE, COUNT_MEMORY_READ, 0, TARE_TRACE_COUNTER_DEVICE_READ_BYTES },
	{ VALUE, COUNT_MEMORY_WRITTEN, 0, TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES },
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(sizeof rows / sizeof *rows <= COUNT_FIGURES, "");
#define BIT(metric) (1u << (metric))

static uint32_t needs(size_t row)
{
	const uint32_t busy = BIT(COUNT_ACTIVE) | BIT(COUNT_STALLED);
	return BIT(rows[row].first) | (rows[row].how == SUM ? BIT(rows[row].second) : 0) |
	       (rows[row].how == OF_ACTIVE ? busy : 0);
}

uint64_t count_tells(uint32_t metrics)
{
	uint64_t tells = 0;
	for (size_t i = 0; i < ROWS; i++)
		if ((needs(i) & ~metrics) == 0)
			tells |= UINT64_C(1) << rows[i].counter;
	return tells;
}

static double figure_of(size_t row, const double numbers[COUNT_METRIC_KINDS])
{
	double busy = numbers[COUNT_ACTIVE] + numbers[COUNT_STALLED];
	double first = numbers[rows[row].first];
	if (rows[row].how == SUM)
		return first + numbers[rows[row].second];
	if (rows[row].how == VALUE)
		return first;
	// Of no time at all there is no share.
	return busy > 0 ? 100 * first / busy : NAN;
}

uint32_t count_figures(const struct count_group *group, const zet_typed_value_t *values,
                       uint32_t count, struct count_figure figures[COUNT_FIGURES])
{
	double numbers[COUNT_METRIC_KINDS] = { 0 };
	uint32_t there = 0, made = 0;
	bool doubt = false;
	for (uint32_t i = 0; i < count && i < group->count; i++) {
		uint8_t metric = group->metrics[i];
		if (metric < COUNT_METRIC_KINDS && (there & BIT(metric)) == 0) {
			numbers[metric] = count_number(&values[i]);
			there |= BIT(metric);
		}
		doubt = doubt || (metric == COUNT_DOUBT && count_number(&values[i]) != 0);
	}
	for (size_t i = 0; i < ROWS; i++)
		if ((needs(i) & ~there) == 0)
			figures[made++] = (struct count_figure){
				.counter = rows[i].counter,
				.value = doubt ? NAN : figure_of(i, numbers),
			};
	return made;
}
