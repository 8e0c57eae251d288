// SPDX-License-Identifier: Apache-2.0
#include "sample/sampler.h"

#include "backend/backend.h"
#include "trace/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	PAUSE_MS = 10,      // between two looks at the samples
	CLOCK_EVERY = 10,   // looks between two readings of the device's clock
	CLOCK_READINGS = 8, // of which the narrowest is kept
};

struct sampler {
	const struct sampler_job *job;
	const struct tare_backend *backend;
	struct tare_driver *driver;
	struct tare_device *device;
	struct tare_trace_writer *writer;
	struct tare_sampled_set set;
	struct tare_sampling_end end;
	uint64_t last_ns; // the end of the last sample
};

static uint64_t host_ticks(void)
{
	return (uint64_t)tare_host_now().ns;
}

static void write_about(struct sampler *s, enum tare_trace_sampling_what what,
                        const struct tare_trace_sampling *about)
{
	union tare_trace_record record = { .sampling = *about };

	record.sampling.device = s->job->index;
	record.sampling.head = tare_trace_head(TARE_TRACE_SAMPLING, 0, (uint16_t)what, 1);
	if (!record.sampling.from)
		record.sampling.from = record.sampling.to = host_ticks();
	tare_trace_writer_add(s->writer, &record);
}

static void write_sample(void *context, const struct tare_sample *sample)
{
	struct sampler *s = context;

	for (uint32_t i = 0; i < s->set.count; i += 4) {
		union tare_trace_record record = { .sampled = { .from = sample->from_ns,
			                                        .to = sample->to_ns } };
		for (uint32_t k = 0; k < 4 && i + k < s->set.count; k++) {
			record.sampled.counter[k] = s->set.counters[i + k];
			record.sampled.value[k] = sample->values[i + k];
		}
		record.sampled.head =
		    tare_trace_head(TARE_TRACE_SAMPLED, 0, (uint16_t)s->job->index, 1);
		tare_trace_writer_add(s->writer, &record);
	}
	s->end.samples++;
	s->last_ns = sample->to_ns;
}

// The narrowest of a few readings.
static int read_clock(struct sampler *s)
{
	struct tare_clock_pair best = { 0 }, pair;
	int status = 0;

	for (int i = 0; i < CLOCK_READINGS && status == 0; i++) {
		status = s->backend->sampler->clock(s->device, &pair, &s->end.error);
		if (status == 0 && (i == 0 || tare_host_elapsed_ns(pair.before, pair.after) <
		                                  tare_host_elapsed_ns(best.before, best.after)))
			best = pair;
	}
	if (status == 0)
		write_about(s, TARE_SAMPLING_CLOCK,
		            &(struct tare_trace_sampling){ .from = (uint64_t)best.before.ns,
		                                           .to = (uint64_t)best.after.ns,
		                                           .device_ns = best.device.ticks });
	return status;
}

static int read_samples(struct sampler *s)
{
	const struct tare_sample_visitor visitor = { s, write_sample };
	bool lost = false;
	int status = s->backend->sampler->read(s->device, &visitor, &lost, &s->end.error);

	if (lost) {
		s->end.losses++;
		write_about(s, TARE_SAMPLING_LOST,
		            &(struct tare_trace_sampling){ .device_ns = s->last_ns });
	}
	return status;
}

static int open_device(struct sampler *s)
{
	struct tare_error *error = &s->end.error;
	int status;

	s->backend = tare_backend_find(s->job->backend);
	if (!s->backend || !s->backend->sampler)
		return tare_fail(error, ENOTSUP, "%.16s has no counters that are sampled over time",
		                 s->job->backend);
	if (s->backend->sampler->prepare)
		s->backend->sampler->prepare();
	status = s->backend->driver_open(NULL, &s->driver, error);
	status = status ?: s->backend->device_open(s->driver, s->job->index, &s->device, error);
	if (status == 0)
		status = s->backend->sampler->open(s->device, s->job->interval_ns, &s->set, error);
	return status;
}

static int open_trace(struct sampler *s)
{
	struct tare_host_time now = tare_host_now();
	struct tare_trace_header header = { .pid = (uint64_t)getpid(),
		                            .parent_pid = (uint64_t)getppid(),
		                            .host_clock = TARE_TRACE_CLOCK_RAW,
		                            .start_ticks = (uint64_t)now.ns,
		                            .start_raw_ns = now.ns };
	int status =
	    tare_trace_writer_open(s->job->folder, "device", &header, &s->writer, &s->end.error);

	if (status < 0)
		return status;
	write_about(s, TARE_SAMPLING_PREPARED,
	            &(struct tare_trace_sampling){ .interval_ns = (uint32_t)s->job->interval_ns,
	                                           .count = s->backend->sampler->api });
	for (uint32_t counter = 1; counter < 64; counter++)
		if (s->set.absent >> counter & 1)
			write_about(s, TARE_SAMPLING_ABSENT,
			            &(struct tare_trace_sampling){ .code = counter });
	return 0;
}

static void tell(const struct sampler *s)
{
	// A pipe takes it in one piece. Nobody reads it where tare has ended: then it is not
	// needed.
	if (write(s->job->news, &s->end, sizeof s->end) < 0)
		return;
}

static bool is_over(const struct sampler *s)
{
	struct pollfd orders = { .fd = s->job->orders, .events = POLLIN };

	return poll(&orders, 1, PAUSE_MS) > 0;
}

static int sample(struct sampler *s)
{
	const struct tare_sampler *sampler = s->backend->sampler;
	int status = read_clock(s);

	status = status ?: sampler->start(s->device, &s->end.error);
	if (status < 0)
		return status;
	tell(s);
	for (uint32_t look = 1; status == 0 && !is_over(s); look++) {
		status = read_samples(s);
		if (status == 0 && look % CLOCK_EVERY == 0)
			status = read_clock(s);
	}
	status = status ?: sampler->stop(s->device, &s->end.error);
	status = status ?: read_samples(s);
	return status == 0 ? read_clock(s) : status;
}

void tare_sampler_run(const struct sampler_job *job)
{
	struct sampler s = { .job = job };
	struct timespec cpu = { 0 };
	int closed;

	s.end.status = open_device(&s);
	if (s.end.status == 0)
		s.end.status = open_trace(&s);
	if (s.end.status == 0)
		s.end.status = sample(&s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	s.end.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	if (s.device) {
		s.backend->sampler->close(s.device);
		s.backend->device_close(s.device);
	}
	if (s.driver)
		s.backend->driver_close(s.driver);
	if (s.writer) {
		write_about(&s, TARE_SAMPLING_ENDED,
		            &(struct tare_trace_sampling){ .count = s.end.samples,
		                                           .cpu_ns = s.end.cpu_ns,
		                                           .code = (uint32_t)s.end.error.native });
		closed = tare_trace_writer_close(s.writer, &s.end.error);
		s.end.status = s.end.status ? s.end.status : closed;
	}
	tell(&s);
}
