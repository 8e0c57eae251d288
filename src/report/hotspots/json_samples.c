// SPDX-License-Identifier: Apache-2.0
#include "report/hotspots/json_samples.h"

#include "report/core/words.h"

#if TARE_HAVE_JSON

#include <math.h>

// Five digits of each: more would be of no use in a part of the run.
static json_t *list_of(struct tare_json *json, const double values[TARE_SAMPLES_PARTS])
{
	json_t *list = json_array();

	for (size_t i = 0; i < TARE_SAMPLES_PARTS; i++) {
		double value = values[i], step = value > 0 ? pow(10, floor(log10(value)) - 4) : 1;
		tare_json_push(json, list,
		               isnan(value)
		                   ? json_null()
		                   : tare_json_number(value > 0 ? round(value / step) * step : 0));
	}
	return list;
}

static json_t *series_of(struct tare_json *json, const struct tare_device_samples_series *series)
{
	json_t *object = json_object();

	tare_json_put(json, object, "key", tare_json_text(series->key));
	tare_json_put(json, object, "title", tare_json_text(series->title));
	tare_json_put(json, object, "unit",
	              tare_json_text(series->unit == TARE_SAMPLES_PERCENT ? "%" : "B/s"));
	tare_json_put(json, object, "mean", tare_json_number(series->mean));
	tare_json_put(json, object, "peak", tare_json_number(series->peak));
	tare_json_put(json, object, "at_work", tare_json_number(series->at_work));
	tare_json_put(json, object, "at_limit", tare_json_number(series->at_limit));
	tare_json_put(json, object, "means", list_of(json, series->means));
	tare_json_put(json, object, "peaks", list_of(json, series->peaks));
	return object;
}

json_t *tare_device_samples_json(struct tare_json *json, const struct tare_device_samples *samples)
{
	json_t *object = json_object(), *series = json_array();

	tare_json_put(json, object, "samples", json_integer((json_int_t)samples->count));
	tare_json_put(json, object, "interval_ns", json_integer(samples->interval_ns));
	tare_json_put(json, object, "device", json_integer(samples->device));
	tare_json_put(json, object, "api", tare_json_text(tare_report_api_title(samples->api)));
	tare_json_put(json, object, "untrusted", json_integer((json_int_t)samples->untrusted));
	tare_json_put(json, object, "residual_ns", json_integer(samples->residual_ns));
	tare_json_put(json, object, "clock_readings",
	              json_integer((json_int_t)samples->clock_readings));
	tare_json_put(json, object, "losses", json_integer((json_int_t)samples->losses));
	tare_json_put(json, object, "cpu_ns", json_integer((json_int_t)samples->cpu_ns));
	tare_json_put(json, object, "start_ns", json_integer(samples->from_ns));
	tare_json_put(json, object, "run_ns", json_integer(samples->to_ns - samples->from_ns));
	tare_json_put(json, object, "sampled", tare_json_number(samples->sampled));
	tare_json_put(json, object, "kernels", list_of(json, samples->kernels));
	tare_json_put(json, object, "copies", list_of(json, samples->copies));
	for (size_t i = 0; i < samples->series_count; i++)
		tare_json_push(json, series, series_of(json, &samples->series[i]));
	tare_json_put(json, object, "series", series);
	return object;
}

#endif
