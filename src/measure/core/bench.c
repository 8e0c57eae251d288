// SPDX-License-Identifier: Apache-2.0
#include "measure/core/bench.h"

#include "backend/call.h"
#include "backend/kernels.h"
#include "base/units.h"
#include "measure/core/engines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tare_bench_settle(struct tare_queue *queue, int status, struct tare_error *error)
{
	struct tare_error why;
	int settled;

	if (status >= 0 || tare_device_is_gone(status))
		return status;
	settled = tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &why);
	if (!tare_device_is_gone(settled))
		return status;
	if (error)
		*error = why;
	return settled;
}

int tare_bench_run(struct tare_queue *queue, const struct tare_operation *operation,
                   struct tare_error *error)
{
	int status = tare_append(queue, operation, NULL, error);

	return status < 0 ? status : tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
}

int tare_bench_turn_to(struct tare_queue *queue, const struct tare_operation *operation,
                       struct tare_error *error)
{
	struct tare_operation one = *operation;
	int status;

	one.blocking = false;
	status = tare_append(queue, &one, NULL, error);
	return status < 0 ? status : tare_finish(queue, TARE_LIMIT_NATIVE, error);
}

int tare_bench_can_tell(const struct tare_bench *bench, int64_t host_ns, struct tare_error *error)
{
	return tare_clock_can_tell(&bench->rate, host_ns, error);
}

// What a device clock may be wrong by against the host's, as in a fit of both
// (model/statistics/clock_fit.h).
static const double wrong_rate = 0.01;

// Nothing lasts longer on the device than from before its append to after its completion.
static int check_against_host(const struct tare_bench *bench, int64_t ps, int64_t host_ns,
                              struct tare_error *error)
{
	double most_ns = (double)host_ns * (1 + wrong_rate) + tare_step_ns(&bench->rate);
	char known[TARE_UNIT_TEXT], seen[TARE_UNIT_TEXT];

	if (host_ns == 0 || (double)ps / 1000 <= most_ns)
		return 0;
	return tare_fail(
	    error, EIO,
	    "by its stamps it lasted %s, but by the host's clock it was over after %s: "
	    "the device clock jumped, or its rate is not what the driver says",
	    tare_format_ns((double)ps / 1000, known), tare_format_ns((double)host_ns, seen));
}

int tare_bench_span_ps(const struct tare_bench *bench, struct tare_event *first,
                       struct tare_event *last, int64_t host_ns, int64_t *ps,
                       struct tare_error *error)
{
	struct tare_stamps begin, end;
	int status = tare_bench_can_tell(bench, host_ns, error);
	int64_t ticks;

	status = status ?: tare_event_stamps(first, &begin, error);
	status = status ?: tare_event_stamps(last, &end, error);
	if (status < 0)
		return status;
	if (!tare_stamps_have(&begin, TARE_STAMP_START) || !tare_stamps_have(&end, TARE_STAMP_END))
		return tare_fail(error, ENODATA,
		                 "the driver gives no start or no end of the operation");
	if (begin.epoch != end.epoch)
		return tare_fail(error, EAGAIN, "the stamps of two operations are not comparable");
	ticks = tare_ticks_elapsed_signed(&bench->rate, begin.at[TARE_STAMP_START],
	                                  end.at[TARE_STAMP_END]);
	if (ticks < 0)
		return tare_fail(error, EIO,
		                 "the device's end stamp lies %lld ticks before its start",
		                 (long long)-ticks);
	*ps = tare_ticks_to_ps(&bench->rate, (uint64_t)ticks);
	return check_against_host(bench, *ps, host_ns, error);
}

int tare_bench_duration_ps(const struct tare_bench *bench, struct tare_event *event,
                           int64_t host_ns, int64_t *ps, struct tare_error *error)
{
	return tare_bench_span_ps(bench, event, event, host_ns, ps, error);
}

// Whether a marker on the timed queue yields stamps.
static int try_stamps(struct tare_bench *bench, struct tare_error *error)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	int64_t ps;
	int status = tare_clock_rate(bench->device, TARE_CLOCK_STAMPS, &bench->rate, error);

	status = status ?: tare_append(bench->timed, &marker, &event, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	status = status ?: tare_bench_duration_ps(bench, event, 0, &ps, error);
	status = status ?: tare_event_stamps(event, &stamps, error);
	if (status == 0)
		bench->brackets = stamps.brackets_engine;
	tare_event_free(event);
	return status;
}

// One that lies outside by chance would tell nothing: all of three do. What cannot be looked at is
// taken as good; a device that is lost, or does not end what it is given, ends the measuring.
static int check_mapping(struct tare_bench *bench, struct tare_error *error)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_clock_track *track = &bench->track;
	struct tare_stamps stamps;
	int status = 0;

	for (int i = 0; status == 0 && track->fitted && (i == 0 || (i < 3 && track->apart[0]));
	     i++) {
		struct tare_event *event = NULL;
		struct tare_host_time before = tare_device_now(bench->device);
		status = tare_append(bench->timed, &marker, &event, error);
		status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
		status = status ?: tare_event_stamps(event, &stamps, error);
		if (status == 0)
			tare_clock_track_check(track, &stamps, before,
			                       tare_device_now(bench->device));
		tare_event_free(event);
	}
	return tare_device_is_gone(status) ? status : 0;
}

const char *tare_bench_stamp_note(const struct tare_bench *bench)
{
	return bench->stamped && !bench->brackets
	           ? "; stamps are positions in the stream, hand-over included"
	           : "";
}

static int try_gate(struct tare_bench *bench, struct tare_error *error)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_gate *gate = NULL;
	int status = tare_gate_shut(bench->timed, &gate, error);

	status = status ?: tare_append(bench->timed, &marker, NULL, error);
	status = status ?: tare_gate_open(gate, error);
	if (status == 0) {
		bench->gate_capacity = gate->capacity;
		status = tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	}
	tare_gate_free(gate);
	return status;
}

static void open_ways(struct tare_bench *bench, struct tare_queue_options options)
{
	struct tare_queue **const ways[] = { &bench->to_device, &bench->to_host };
	static const enum tare_engine_use uses[] = { TARE_USE_TO_DEVICE, TARE_USE_TO_HOST };

	bench->to_device = bench->timed;
	bench->to_host = bench->second;
	if (!bench->device->backend->binds_queues)
		return;
	for (int i = 0; i < 2; i++) {
		options.engine = tare_engine_for(bench->device, uses[i]);
		if (tare_queue_create(bench->device, &options, ways[i], NULL) < 0)
			*ways[i] = NULL;
	}
}

static int open_queues(struct tare_bench *bench, struct tare_error *error)
{
	struct tare_queue_options options = { .order = TARE_QUEUE_IN_ORDER,
		                              .engine = bench->run->engine };
	struct tare_error why = { 0 };
	int status = tare_queue_create(bench->device, &options, &bench->plain, error);

	if (status < 0)
		return status;
	options.timed = true;
	status = tare_queue_create(bench->device, &options, &bench->timed, &why);
	status = status ?: try_stamps(bench, &why);
	if (tare_device_is_gone(status))
		return tare_error_pass(error, &why, status);
	bench->stamped = status == 0;
	if (!bench->stamped) {
		snprintf(bench->unstamped, sizeof bench->unstamped, "no device times: %.290s",
		         why.message);
		tare_queue_free(bench->timed);
		bench->timed = bench->plain;
		bench->rate = (struct tare_clock_rate){ 0 };
	}
	options.timed = bench->stamped;
	if (tare_queue_create(bench->device, &options, &bench->second, NULL) < 0)
		bench->second = NULL;
	open_ways(bench, options);
	return 0;
}

static void keep_clock(void *context)
{
	struct tare_bench *bench = context;
	tare_clock_track_update(&bench->track);
}

int tare_bench_open(struct tare_run *run, int64_t fit_ns, struct tare_bench *bench,
                    struct tare_error *error)
{
	struct tare_error why = { 0 };
	struct tare_error *said = error ? error : &why;
	int status;

	*bench = (struct tare_bench){ .run = run, .device = run->device };
	status = open_queues(bench, said);
	if (status < 0)
		return status;
	if (!bench->stamped) {
		tare_result_warn(run->result, "no-device-times",
		                 "figures are the host's, where there are any", "%s",
		                 bench->unstamped);
		return 0;
	}
	bench->step_ps = 1000 * tare_step_ns(&bench->rate);
	run->result->clock.present = true;
	run->result->clock.rate = bench->rate;
	status = try_gate(bench, &why);
	if (tare_device_is_gone(status))
		return tare_error_pass(said, &why, status);
	bench->gated = status == 0;
	if (!bench->gated)
		snprintf(bench->ungated, sizeof bench->ungated, "%.300s", why.message);
	status = tare_clock_track_begin(run, &bench->rate, fit_ns, &bench->track, error);
	run->between = keep_clock;
	run->between_context = bench;
	return status == 0 ? check_mapping(bench, error) : status;
}

int tare_bench_try_kernel(struct tare_device *device, const char *name, const char *entry,
                          const char *without, struct tare_module **module,
                          struct tare_kernel **kernel, char *why, size_t size,
                          struct tare_error *error)
{
	struct tare_error said = { 0 };
	char *log = NULL;
	int status = tare_kernel_build(device, name, entry, module, kernel, &log, &said);

	free(log);
	if (tare_device_is_gone(status))
		return tare_error_pass(error, &said, status);
	if (status < 0) {
		*kernel = NULL;
		snprintf(why, size, "%s: %.290s", without, said.message);
	}
	return 0;
}

void tare_bench_close(struct tare_bench *bench)
{
	if (!bench->run)
		return;
	bench->run->between = NULL;
	if (bench->stamped) {
		tare_clock_track_end(bench->run, &bench->track);
		tare_raw_stamps_write(&bench->raw, &bench->rate, bench->run->result);
	}
	tare_clock_track_clear(&bench->track);
	if (bench->to_host != bench->second)
		tare_queue_free(bench->to_host);
	if (bench->to_device != bench->timed)
		tare_queue_free(bench->to_device);
	tare_queue_free(bench->second);
	if (bench->timed != bench->plain)
		tare_queue_free(bench->timed);
	tare_queue_free(bench->plain);
	*bench = (struct tare_bench){ 0 };
}
