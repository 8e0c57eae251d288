// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/samples.h"

#include "model/statistics/clock_fit.h"
#include "tare/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 100000, LEVELS = 1024 };
// What is no work, in per cent, and what a limit is, as in verdict.c.
static const double least_work = 1, limit = 60;

static const struct {
	enum tare_trace_counter counter;
	const char *key, *title;
	enum tare_device_samples_unit unit;
} rows[] = {
	{ TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE, "cores_active", "cores active",
	  TARE_SAMPLES_PERCENT },
	{ TARE_TRACE_COUNTER_INSTRUCTION_SHARE, "instructions", "instructions issued",
	  TARE_SAMPLES_PERCENT },
	{ TARE_TRACE_COUNTER_MATRIX_SHARE, "matrix", "matrix engines", TARE_SAMPLES_PERCENT },
	{ TARE_TRACE_COUNTER_DEVICE_MEMORY_SHARE, "device_memory", "device memory",
	  TARE_SAMPLES_PERCENT },
	{ TARE_TRACE_COUNTER_DEVICE_READ_BYTES, "device_read", "device memory, read",
	  TARE_SAMPLES_BYTES_PER_S },
	{ TARE_TRACE_COUNTER_DEVICE_WRITE_BYTES, "device_write", "device memory, written",
	  TARE_SAMPLES_BYTES_PER_S },
	{ TARE_TRACE_COUNTER_PCIE_READ_BYTES, "pcie_read", "PCIe, from the host",
	  TARE_SAMPLES_BYTES_PER_S },
	{ TARE_TRACE_COUNTER_PCIE_WRITE_BYTES, "pcie_write", "PCIe, to the host",
	  TARE_SAMPLES_BYTES_PER_S },
	{ TARE_TRACE_COUNTER_NVLINK_RECEIVED_BYTES, "nvlink_received", "NVLink, received",
	  TARE_SAMPLES_BYTES_PER_S },
	{ TARE_TRACE_COUNTER_NVLINK_SENT_BYTES, "nvlink_sent", "NVLink, sent",
	  TARE_SAMPLES_BYTES_PER_S },
};

struct reading {
	struct tare_device_samples *samples;
	struct tare_clock_pair *pairs;
	size_t pair_count;
	struct tare_clock_fit fit;
	uint64_t from, to;      // the last sample that was seen, of the device's clock
	double covered_ns;      // of the run, by samples
	bool second, truncated; // second: the walk over the samples
};

// ---- the first walk: what is said about the samples

static int see_about(struct reading *r, const struct tare_trace_sampling *about, uint16_t what)
{
	struct tare_device_samples *samples = r->samples;

	switch ((enum tare_trace_sampling_what)what) {
	case TARE_SAMPLING_PREPARED:
		samples->interval_ns = about->interval_ns;
		samples->device = about->device;
		samples->api = about->count > 0 && about->count < TARE_TRACE_API_COUNT
		                   ? (enum tare_trace_api)about->count
		                   : TARE_TRACE_CUDA;
		break;
	case TARE_SAMPLING_ABSENT:
		samples->absent |= UINT64_C(1) << (about->code & 63);
		break;
	case TARE_SAMPLING_CLOCK:
		if (r->pair_count < MOST_PAIRS)
			r->pairs[r->pair_count++] = (struct tare_clock_pair){
				.before.ns = (int64_t)about->from,
				.device.ticks = about->device_ns,
				.after.ns = (int64_t)about->to,
			};
		break;
	case TARE_SAMPLING_LOST:
		samples->losses++;
		break;
	case TARE_SAMPLING_ENDED:
		samples->cpu_ns = about->cpu_ns;
		break;
	}
	return 0;
}

static int fit_clock(struct reading *r, struct tare_error *error)
{
	const struct tare_clock_rate rate = { .hz_numerator = 1000000000,
		                              .hz_denominator = 1,
		                              .valid_bits = 64,
		                              .resolution_ticks = 32 };
	int status;

	if (r->pair_count < 2)
		return tare_fail(error, ENODATA, "the sampled device's clock was not read");
	status = tare_clock_fit(&rate, r->pairs, r->pair_count, &r->fit, error);
	if (status < 0)
		return tare_error_prefix(error, "the sampled device's clock");
	r->samples->residual_ns = r->fit.residual_ns;
	r->samples->clock_readings = r->pair_count;
	return 0;
}

// ---- the second walk: the samples

static struct tare_device_samples_series *series_of(struct tare_device_samples *samples,
                                                    uint16_t counter)
{
	for (size_t i = 0; i < samples->series_count; i++)
		if (samples->series[i].counter == counter)
			return &samples->series[i];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].counter == counter && samples->series_count < TARE_SAMPLES_SERIES) {
			struct tare_device_samples_series *series =
			    &samples->series[samples->series_count++];
			*series = (struct tare_device_samples_series){ .counter = rows[i].counter,
				                                       .key = rows[i].key,
				                                       .title = rows[i].title,
				                                       .unit = rows[i].unit };
			return series;
		}
	return NULL;
}

static int64_t part_from(const struct tare_device_samples *samples, size_t part)
{
	double length = (double)(samples->to_ns - samples->from_ns);

	return samples->from_ns + (int64_t)(length * (double)part / TARE_SAMPLES_PARTS);
}

static size_t part_of(const struct tare_device_samples *samples, int64_t at_ns)
{
	double length = (double)(samples->to_ns - samples->from_ns);
	double part = (double)(at_ns - samples->from_ns) / length * TARE_SAMPLES_PARTS;

	return part <= 0                        ? 0
	       : part >= TARE_SAMPLES_PARTS - 1 ? TARE_SAMPLES_PARTS - 1
	                                        : (size_t)part;
}

// Shares a span's time among the parts of the run that it lies in.
static void spread(const struct tare_device_samples *samples, int64_t from_ns, int64_t to_ns,
                   double value, double parts[TARE_SAMPLES_PARTS])
{
	for (size_t part = part_of(samples, from_ns); part < TARE_SAMPLES_PARTS; part++) {
		int64_t from = part_from(samples, part), to = part_from(samples, part + 1);
		int64_t low = from_ns > from ? from_ns : from, high = to_ns < to ? to_ns : to;
		if (high > low)
			parts[part] += value * (double)(high - low);
		if (to >= to_ns)
			break;
	}
}

static void keep_peaks(const struct tare_device_samples *samples, int64_t from_ns, int64_t to_ns,
                       double value, double parts[TARE_SAMPLES_PARTS])
{
	size_t last = part_of(samples, to_ns - 1);

	for (size_t part = part_of(samples, from_ns); part <= last; part++)
		parts[part] = fmax(parts[part], value);
}

// `rate`: what makes a rate a second of its bytes.
static void see_value(struct tare_device_samples *samples, uint16_t counter, double value,
                      double rate, int64_t from_ns, int64_t to_ns)
{
	struct tare_device_samples_series *series = series_of(samples, counter);
	double length = (double)(to_ns - from_ns);

	if (!series || length <= 0)
		return;
	if (!isfinite(value) || value < 0) {
		samples->untrusted++;
		return;
	}
	series->covered_ns += length;
	spread(samples, from_ns, to_ns, 1, series->covered);
	if (series->unit == TARE_SAMPLES_BYTES_PER_S)
		value *= rate;
	series->peak = fmax(series->peak, value);
	spread(samples, from_ns, to_ns, value, series->means);
	keep_peaks(samples, from_ns, to_ns, value, series->peaks);
	if (series->unit == TARE_SAMPLES_PERCENT) {
		series->at_work += value > least_work ? length : 0;
		series->at_limit += value >= limit ? length : 0;
	} else {
		// The peak is not known yet: by powers of two.
		int level = value > 0 ? ilogb(value) : 0;
		series->histogram[level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level] += length;
	}
}

static int see_sample(struct reading *r, const struct tare_trace_sampled *sampled)
{
	struct tare_device_samples *samples = r->samples;
	bool again = sampled->from == r->from && sampled->to == r->to;
	struct tare_host_time near = r->fit.origin_host;
	int64_t from_ns, to_ns;
	double rate;

	from_ns = tare_clock_map(&r->fit, (struct tare_ticks){ sampled->from }, near).ns;
	to_ns = tare_clock_map(&r->fit, (struct tare_ticks){ sampled->to }, near).ns;
	r->from = sampled->from;
	r->to = sampled->to;
	if (to_ns <= from_ns || to_ns <= samples->from_ns || from_ns >= samples->to_ns) {
		samples->outside += !again;
		return 0;
	}
	rate = 1e9 / (double)(to_ns - from_ns);
	from_ns = from_ns < samples->from_ns ? samples->from_ns : from_ns;
	to_ns = to_ns > samples->to_ns ? samples->to_ns : to_ns;
	if (!again) {
		samples->count++;
		spread(samples, from_ns, to_ns, 1, samples->sampled_part);
		r->covered_ns += (double)(to_ns - from_ns);
	}
	for (size_t i = 0; i < 4 && sampled->counter[i]; i++)
		see_value(samples, sampled->counter[i], sampled->value[i], rate, from_ns, to_ns);
	return 0;
}

static int see(void *context, const union tare_trace_record *record, int64_t written_ns)
{
	struct reading *r = context;
	uint8_t type = tare_trace_type(record->head);

	(void)written_ns;
	if (!r->second && type == TARE_TRACE_SAMPLING)
		return see_about(r, &record->sampling, tare_trace_detail(record->head));
	if (r->second && type == TARE_TRACE_SAMPLED)
		return see_sample(r, &record->sampled);
	return 0;
}

// ---- what follows from them

static void finish_series(struct tare_device_samples_series *series)
{
	double sum = 0, covered_ns = series->covered_ns;

	for (size_t part = 0; part < TARE_SAMPLES_PARTS; part++) {
		sum += series->means[part];
		series->means[part] =
		    series->covered[part] > 0 ? series->means[part] / series->covered[part] : NAN;
		if (series->covered[part] <= 0)
			series->peaks[part] = NAN;
	}
	series->mean = covered_ns > 0 ? sum / covered_ns : NAN;
	series->peak = covered_ns > 0 ? series->peak : NAN;
	if (series->unit == TARE_SAMPLES_PERCENT) {
		series->at_work /= covered_ns;
		series->at_limit /= covered_ns;
		return;
	}
	series->at_limit = NAN;
	series->at_work = 0;
	for (int level = 1; level < LEVELS; level++)
		if (ldexp(1, level) >= series->peak * least_work / 100)
			series->at_work += series->histogram[level] / covered_ns;
}

static void add_commands(const struct tare_recording *recorded, struct tare_device_samples *samples)
{
	for (size_t i = 0; i < recorded->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recorded, i);
		bool kernel = c->kind == TARE_KIND_KERNEL;
		if (c->start_ns == TARE_NO_TIME || c->end_ns == TARE_NO_TIME ||
		    c->end_ns <= c->start_ns || c->end_ns <= samples->from_ns ||
		    c->start_ns >= samples->to_ns)
			continue;
		spread(samples, c->start_ns, c->end_ns, 1,
		       kernel ? samples->kernels : samples->copies);
	}
}

static void finish(const struct tare_recording *recorded, struct reading *r)
{
	struct tare_device_samples *samples = r->samples;

	samples->sampled = r->covered_ns / (double)(samples->to_ns - samples->from_ns);
	for (size_t i = 0; i < samples->series_count; i++)
		finish_series(&samples->series[i]);
	add_commands(recorded, samples);
	for (size_t part = 0; part < TARE_SAMPLES_PARTS; part++) {
		double length = (double)(part_from(samples, part + 1) - part_from(samples, part));
		samples->sampled_part[part] = fmin(1, samples->sampled_part[part] / length);
		// Of several that run at once there is no more than all of the time.
		samples->kernels[part] = fmin(1, samples->kernels[part] / length);
		samples->copies[part] = fmin(1, samples->copies[part] / length);
	}
}

static int read_all(struct reading *r, const char *folder, const struct tare_recording *recorded,
                    struct tare_error *error)
{
	const struct tare_trace_visitor visitor = { .event = see, .context = r };
	struct tare_trace *trace = NULL;
	char message[512];
	int status = tare_trace_open(folder, &trace, message, sizeof message);

	if (status < 0)
		return tare_fail(error, -status, "%s", message);
	status = tare_trace_file_count(trace) == 1 ? tare_trace_read(trace, 0, &visitor) : -ENODATA;
	if (status == 0)
		status = fit_clock(r, error);
	else
		tare_fail(error, -status, "%.200s cannot be read", folder);
	r->second = true;
	if (status == 0)
		status = tare_trace_read(trace, 0, &visitor);
	tare_trace_close(trace);
	if (status == 0 && r->samples->count == 0)
		return tare_fail(error, ENODATA, "%s",
		                 r->samples->outside
		                     ? "no sample lies within the run: the clock that stamps "
		                       "samples is not the device's global timer"
		                     : "the device gave no sample");
	if (status == 0)
		finish(recorded, r);
	return status;
}

int tare_device_samples_load(const char *folder, const struct tare_recording *recorded,
                             struct tare_device_samples **samples, struct tare_error *error)
{
	struct reading r = { .samples = calloc(1, sizeof *r.samples),
		             .pairs = calloc(MOST_PAIRS, sizeof *r.pairs) };
	int status;

	if (!r.samples || !r.pairs || recorded->end_ns <= recorded->start_ns) {
		status = tare_fail(error, ENOMEM, "no memory for the samples");
	} else {
		r.samples->from_ns = recorded->start_ns;
		r.samples->to_ns = recorded->end_ns;
		status = read_all(&r, folder, recorded, error);
	}
	free(r.pairs);
	if (status < 0)
		free(r.samples);
	else
		*samples = r.samples;
	return status;
}
