// SPDX-License-Identifier: Apache-2.0
// The device's clock under each measurement, and what the ceilings are at it.
#include "measure/peak/internal.h"

#include "measure/core/precision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const peak_group_names[PEAK_GROUPS] = { "compute", "memory", "sweep", "local",
	                                            "tensor" };

void peak_keep_clock(const struct peak_task *task)
{
	struct peak *peak = task->peak;
	bool tensor = task->group == PEAK_TENSOR;
	struct peak_clock clock = {
		.group = task->group,
		.type = tensor                        ? tare_precision_name(task->precision)
		        : task->group == PEAK_COMPUTE ? peak_type_names[task->type]
		                                      : "",
		.number = tensor ? task->n : task->width,
	};

	if ((tensor || task->group == PEAK_COMPUTE || task->group == PEAK_LOCAL) &&
	    peak->clock_count < PEAK_CLOCKS &&
	    tare_telemetry_clock_hz(peak->run, task->mark, &clock.range) == 0)
		peak->clocks[peak->clock_count++] = clock;
}

const struct peak_clock *peak_find_clock(const struct peak *peak, const struct tare_cell *cell)
{
	for (size_t i = 0; i < peak->clock_count; i++) {
		const struct peak_clock *clock = &peak->clocks[i];
		const char *number = clock->group == PEAK_TENSOR ? "n" : "width";
		if (tare_cell_has_text(cell, "group", peak_group_names[clock->group]) &&
		    (!clock->type[0] || tare_cell_has_text(cell, "type", clock->type)) &&
		    tare_cell_number(cell, number) == clock->number)
			return clock;
	}
	return NULL;
}

static void add(struct tare_result *result, enum tare_ceiling ceiling, const char *quantity,
                const char *unit, double value, double low, double high, const char *method)
{
	struct tare_cell *cell = tare_result_add_cell(result, quantity, unit, "model");

	tare_labels_set_text(&cell->labels, "group", "ceiling");
	tare_labels_set_text(&cell->labels, "what", tare_ceiling_name(ceiling));
	tare_cell_set_method(cell, method);
	tare_cell_set_model(cell, value, low, high);
}

// Whether it was held back while just this was sampled.
static void add_slowing(struct tare_result *result, enum tare_ceiling ceiling,
                        const struct tare_clock_range *range)
{
	char reasons[128], method[256];

	if (!isfinite(range->slowed_share))
		return;
	snprintf(
	    method, sizeof method,
	    "share of the %zu readings in that time in which the device slowed itself down%s%s",
	    range->readings, range->slowed_by ? ": " : "",
	    range->slowed_by ? tare_throttle_list(range->slowed_by, reasons, sizeof reasons) : "");
	add(result, ceiling, "slowed down", "%", 100 * range->slowed_share, NAN, NAN, method);
}

void peak_add_clock(const struct peak *peak, enum tare_ceiling ceiling,
                    const struct peak_clock *clock, double best, double theory)
{
	struct tare_result *result = peak->run->result;
	const struct tare_fact *most = &peak->run->facts->fact[TARE_FACT_CLOCK];
	const char *unit = !tare_ceiling_is_arithmetic(ceiling) ? "B"
	                   : ceiling == TARE_CEILING_INT32      ? "op"
	                                                        : "FLOP";
	double hz = clock->range.median_hz;

	add(result, ceiling, "clock", "MHz", hz / 1e6, clock->range.low_hz / 1e6,
	    clock->range.high_hz / 1e6,
	    "the unit's clock as telemetry told it while this was sampled: median, lowest, "
	    "highest");
	add(result, ceiling, "per clock and unit", unit, best / (hz * (double)peak->units),
	    best / (clock->range.high_hz * peak->units), best / (clock->range.low_hz * peak->units),
	    "attainable over that clock and the compute units");
	add_slowing(result, ceiling, &clock->range);
	if (!isfinite(theory) || !most->present || most->count == 0)
		return;
	theory *= hz / (double)most->count;
	add(result, ceiling, "share at the clock", "%", 100 * best / theory, NAN, NAN,
	    "attainable over theoretical at that clock");
}
