// SPDX-License-Identifier: Apache-2.0
#include "measure/core/traced.h"

#include "backend/call.h"

#include <errno.h>

bool tare_traced_possible(const struct tare_bench *bench)
{
	return bench->stamped && bench->device->backend->engine_stamps_begin;
}

static int begin(const struct tare_bench *bench, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_engine_stamps_begin(bench->device, &why);

	if (status < 0 && !tare_device_is_gone(status))
		return tare_fail(error, ENODATA, "no engine times: %.300s", why.message);
	if (status < 0 && error)
		*error = why;
	return status;
}

// After `status`, which stands if it is a failure.
static int end(const struct tare_bench *bench, int status, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int ended;

	if (tare_device_is_gone(status))
		return status; // the device is about to be given up
	ended = tare_engine_stamps_end(bench->device, &why);
	if (status < 0 || ended == 0)
		return status;
	if (error)
		*error = why;
	return ended;
}

int tare_traced_try(const struct tare_bench *bench, struct tare_error *error)
{
	int status = begin(bench, error);

	return status < 0 ? status : end(bench, 0, error);
}

static int run(const struct tare_bench *bench, uint32_t count,
               int (*append)(void *context, struct tare_event **event, struct tare_error *error),
               void *context, struct tare_event **events, struct tare_error *error)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		status = append(context, &events[i], error);
		status = status < 0 ? tare_bench_settle(bench->timed, status, error)
		                    : tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	}
	return status;
}

int tare_traced_mean_ps(const struct tare_bench *bench, uint32_t count,
                        int (*append)(void *context, struct tare_event **event,
                                      struct tare_error *error),
                        void *context, int64_t *ps, struct tare_error *error)
{
	struct tare_event *events[TARE_TRACED_MOST] = { NULL };
	struct tare_host_time began;
	int64_t host_ns, sum = 0, one = 0;
	int status;

	if (count > TARE_TRACED_MOST)
		count = TARE_TRACED_MOST;
	status = begin(bench, error);
	if (status < 0)
		return status;
	began = tare_device_now(bench->device);
	status = run(bench, count, append, context, events, error);
	host_ns = tare_host_elapsed_ns(began, tare_device_now(bench->device));
	status = end(bench, status, error);
	for (uint32_t i = 0; i < count; i++) {
		status = status ?: tare_bench_duration_ps(bench, events[i], host_ns, &one, error);
		sum += one;
		tare_event_free(events[i]);
	}
	if (status == 0)
		*ps = sum / count;
	return status;
}

void tare_traced_name(struct tare_figure *figure)
{
	if (figure->method && figure->stamp_note_at)
		figure->method[figure->stamp_note_at] = '\0';
	tare_labels_set_text(&figure->labels, "by", "tracer");
}
