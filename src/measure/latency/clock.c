// SPDX-License-Identifier: Apache-2.0
// What a clock reading costs, how fine the device's stamps are, how well they map to the host.
#include "backend/call.h"
#include "base/units.h"
#include "measure/latency/internal.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int latency_sample_host_clock(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_device *device = task->latency->run->device;
	struct tare_host_time first = tare_device_now(device), last = first;

	(void)error;
	for (int i = 0; i < LATENCY_READS; i++)
		last = tare_device_now(device);
	values[0] = latency_ps(first, last, LATENCY_READS);
	return 0;
}

// Smallest step between the stamps of the events, in ticks; 0 when all are equal.
static int smallest_step(const struct tare_bench *bench, struct tare_event *const *events,
                         uint64_t *step, struct tare_error *error)
{
	struct tare_stamps first, stamps;
	int64_t at[2 * LATENCY_MARKERS];
	size_t n = 0;

	*step = 0;
	for (size_t i = 0; i < LATENCY_MARKERS; i++) {
		int status = tare_event_stamps(events[i], &stamps, error);
		if (status < 0)
			return status;
		if (!tare_stamps_have(&stamps, TARE_STAMP_START) ||
		    !tare_stamps_have(&stamps, TARE_STAMP_END))
			return tare_fail(error, ENODATA,
			                 "the driver gives no start or no end of a marker");
		if (i == 0)
			first = stamps;
		if (stamps.epoch != first.epoch)
			continue;
		at[n++] = tare_ticks_elapsed_signed(&bench->rate, first.at[TARE_STAMP_START],
		                                    stamps.at[TARE_STAMP_START]);
		at[n++] = tare_ticks_elapsed_signed(&bench->rate, first.at[TARE_STAMP_START],
		                                    stamps.at[TARE_STAMP_END]);
	}
	qsort(at, n, sizeof *at, tare_compare_integers);
	for (size_t i = 1; i < n; i++) {
		uint64_t difference = (uint64_t)(at[i] - at[i - 1]);
		if (difference && (!*step || difference < *step))
			*step = difference;
	}
	return 0;
}

int latency_sample_device_clock(struct latency_task *task, int64_t *values,
                                struct tare_error *error)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_bench *bench = &task->latency->bench;
	struct tare_event *events[LATENCY_MARKERS] = { NULL };
	struct tare_gate *gate = NULL;
	uint64_t step = 0;
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t span = 0, host_ns;
	int status = bench->gated ? tare_gate_shut(bench->timed, &gate, error) : 0;

	for (size_t i = 0; status == 0 && i < LATENCY_MARKERS; i++)
		status = tare_append(bench->timed, &marker, &events[i], error);
	if (status == 0 && gate)
		status = tare_gate_open(gate, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	status = status ?: smallest_step(bench, events, &step, error);
	if (status == 0)
		status = tare_bench_span_ps(bench, events[0], events[LATENCY_MARKERS - 1], host_ns,
		                            &span, error);
	if (status == 0) {
		values[1] = span / LATENCY_MARKERS;
		if (step) {
			values[0] = tare_ticks_to_ps(&bench->rate, step);
			if (task->latency->floor_ps <= 0 ||
			    (double)values[0] < task->latency->floor_ps)
				task->latency->floor_ps = (double)values[0];
		}
	}
	for (size_t i = 0; i < LATENCY_MARKERS; i++)
		tare_event_free(events[i]);
	tare_gate_free(gate);
	return status;
}

int latency_sample_pair(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_clock_pair pair;
	int status = tare_clock_pair(task->latency->run->device, &pair, error);

	if (status == 0)
		values[0] = latency_ps(pair.before, pair.after, 1);
	return status;
}

static void add_model(struct latency *latency, const char *quantity, const char *unit,
                      const char *what, const char *method)
{
	struct tare_cell *cell =
	    tare_result_add_cell(latency->run->result, quantity, unit, "model");

	tare_labels_set_text(&cell->labels, "group", "clock");
	tare_labels_set_text(&cell->labels, "what", what);
	tare_cell_set_method(cell, method);
}

void latency_add_mapping(struct latency *latency, size_t *first_cell)
{
	*first_cell = latency->run->result->cell_count;
	add_model(latency, "residual", "ns", "device to host clock, largest error",
	          "line through clock pairs taken all through the run; no stamp is further off");
	add_model(latency, "drift", "ppm", "device clock gains on the host's",
	          "slope of the same line, beyond the rate that the driver names");
}

// By the host's clock: a device clock that is fast gains. The fit's drift is the mapping's: what
// host time is longer than device time.
static void fill_drift(struct tare_cell *cell, const struct tare_clock_fit *fit)
{
	double gain = 0 - fit->drift_ppm, error = fit->drift_error_ppm;
	char method[200], figure[TARE_UNIT_TEXT];

	snprintf(method, sizeof method,
	         "by the same line the device's clock %s %s µs a second, beyond the rate that the "
	         "driver names",
	         gain < 0 ? "loses" : "gains", tare_format_significant(fabs(gain), 3, figure));
	tare_cell_set_method(cell, method);
	tare_cell_set_model(cell, gain, gain - error, gain + error);
}

void latency_fill_mapping(struct latency *latency, size_t first_cell)
{
	struct tare_cell *cells = &latency->run->result->cells[first_cell];
	const struct tare_clock_track *track = &latency->bench.track;
	const struct tare_clock_fit *fit = &track->fit;
	const char *why = latency->bench.stamped ? track->absent : latency->bench.unstamped;

	if (!track->fitted) {
		tare_cell_set_absent(&cells[0], "%s", why);
		tare_cell_set_absent(&cells[1], "%s", why);
		return;
	}
	tare_cell_set_model(&cells[0], (double)fit->residual_ns, NAN, NAN);
	fill_drift(&cells[1], fit);
}
