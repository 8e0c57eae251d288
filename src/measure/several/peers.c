// SPDX-License-Identifier: Apache-2.0
// Copies from one device to another. First as the driver does them without peer access, through
// the host, because access once given stays; then with it.
#include "backend/call.h"
#include "measure/several/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_BYTES 4
#define LATENCY_SAMPLES 200
// Of the time for peers; the rest is for what goes directly.
#define STAGED_SHARE 0.4

static const char method[] = "the source's queue copies, 4 copies under way; the rate between two "
                             "host times at which copies "
                             "were seen to be done; the first and the last MB are checked once";
static const char latency_method[] =
    "a copy of 4 bytes on the source's queue, from handing it over until it is seen to be done";

static bool can_pair(const struct several *several, size_t from, size_t to)
{
	const struct tare_device *a = several->devices[from].member->device;
	const struct tare_device *b = several->devices[to].member->device;

	return from != to && a->backend == b->backend && !several->devices[from].gone &&
	       !several->devices[to].gone;
}

size_t several_pairs(const struct several *several)
{
	size_t pairs = 0;

	for (size_t i = 0; i < several->count; i++)
		for (size_t k = 0; k < several->count; k++)
			pairs += can_pair(several, i, k);
	return pairs;
}

static const char *name_of(const struct several *several, size_t device)
{
	return several->devices[device].member->name;
}

static void add_labels(const struct several *several, struct tare_labels *labels, uint32_t from,
                       uint32_t to, const char *path)
{
	char bridge[32];
	enum tare_nearness near = tare_attachments_share(&several->devices[from].place,
	                                                 &several->devices[to].place, bridge);

	tare_labels_set_text(labels, "peer", name_of(several, to));
	tare_labels_set_text(labels, "path", path);
	tare_labels_set_text(labels, "between", tare_nearness_name(near));
}

// A figure of the course `from` to `to`.
static int add_figure(struct several *several, struct several_plan *plan, uint32_t from,
                      uint32_t to, const char *path, const char *at_work)
{
	uint32_t bit = UINT32_C(1) << several_plan_course(plan, SEVERAL_TO_PEER, from, to);
	struct several_figure *figure = several_plan_figure(plan, bit, "peers", "device-to-peer",
	                                                    name_of(several, from), at_work);

	if (!figure)
		return -ENOMEM;
	add_labels(several, &figure->labels, from, to, path);
	return 0;
}

static int add_alone(struct several *several, uint32_t from, uint32_t to, const char *path,
                     const char *absent)
{
	struct several_plan *plan = several_plan_add(
	    several, method, "%s to %s, %s", name_of(several, from), name_of(several, to), path);

	if (!plan || add_figure(several, plan, from, to, path, "alone") < 0)
		return -ENOMEM;
	plan->closed = absent != NULL;
	snprintf(plan->absent, sizeof plan->absent, "%.300s", absent ? absent : "");
	return 0;
}

static int add_both(struct several *several, uint32_t a, uint32_t b)
{
	struct several_plan *plan = several_plan_add(several, method, "%s and %s both ways",
	                                             name_of(several, a), name_of(several, b));

	if (!plan || add_figure(several, plan, a, b, "direct", "both") < 0)
		return -ENOMEM;
	return add_figure(several, plan, b, a, "direct", "both");
}

// ---- latency

static int sample_latency(const struct several *several, const struct several_course *course,
                          struct tare_series *series, struct tare_error *error)
{
	struct tare_queue *queue = several->devices[course->device].queues[0];
	struct tare_operation copy = several_copy(several, course, 0, LATENCY_BYTES);
	int status = tare_append(queue, &copy, NULL, error);

	status = status ?: tare_finish(queue, TARE_LIMIT_DEFAULT_NS, error);
	for (int i = 0; status == 0 && i < LATENCY_SAMPLES; i++) {
		struct tare_host_time begin = tare_device_now(queue->device);
		status = tare_append(queue, &copy, NULL, error);
		status = status ?: tare_finish(queue, TARE_LIMIT_NATIVE, error);
		if (status == 0 &&
		    tare_series_add(
		        series, tare_host_elapsed_ns(begin, tare_device_now(queue->device))) < 0)
			status = tare_fail(error, ENOMEM, "out of memory");
	}
	return status;
}

// `absent`: why there is none; NULL: measure it.
static void add_latency(struct several *several, uint32_t from, uint32_t to, const char *path,
                        const char *absent)
{
	struct several_course course = { SEVERAL_TO_PEER, from, to };
	struct tare_series series = { .rule = tare_stopping_default() };
	struct tare_cell *cell =
	    tare_result_add_cell(several->run->result, "latency", "ns", "host");
	struct tare_error why = { 0 };
	int status;

	tare_labels_set_text(&cell->labels, "group", "peers");
	tare_labels_set_text(&cell->labels, "line", "device-to-peer");
	tare_labels_set_text(&cell->labels, "device", name_of(several, from));
	add_labels(several, &cell->labels, from, to, path);
	tare_labels_set_number(&cell->labels, "bytes", LATENCY_BYTES);
	tare_cell_set_method(cell, latency_method);
	for (int end = 0; !absent && end < 2; end++)
		if (several->devices[end ? to : from].gone)
			absent = several->devices[end ? to : from].why;
	if (absent) {
		tare_cell_set_absent(cell, "%s", absent);
		return;
	}
	status = sample_latency(several, &course, &series, &why);
	if (status == 0) {
		enum tare_verdict verdict = tare_series_decide(&series, INT64_MAX);
		tare_cell_take_series(cell, &series, verdict);
	} else {
		// Whoever uses a lost device again waits for it, and for ever when it is closed.
		if (tare_device_is_gone(status))
			several_drop(several, from, status, &why);
		tare_cell_set_absent(cell, "%s", why.message);
	}
	tare_series_clear(&series);
}

// ---- both paths

// The pairs' latencies and rates through the host, before any device is given access to another.
static int measure_staged(struct several *several, int64_t share_ns, struct tare_error *error)
{
	int status = 0, kept = 0;

	for (uint32_t a = 0; kept == 0 && a < several->count; a++)
		for (uint32_t b = 0; kept == 0 && b < several->count; b++)
			if (can_pair(several, a, b))
				kept = add_alone(several, a, b, "staged", NULL);
	if (kept == 0)
		status = several_sample(several, 0, share_ns, error);
	for (size_t i = 0; kept == 0 && status == 0 && i < several->plan_count; i++) {
		const struct several_plan *plan = &several->plans[i];
		const struct several_course *course = &plan->courses[0];
		add_latency(several, course->device, course->peer, "staged",
		            plan->absent[0] ? plan->absent : NULL);
	}
	if (kept == 0)
		several_keep(several, 0);
	return kept < 0 ? tare_fail(error, ENOMEM, "out of memory") : status;
}

// Which device may reach which: reach[a * count + b]. Adds a plan for each pair, one that says why
// where it may not.
static int enable(struct several *several, bool *reach)
{
	int status = 0;

	for (uint32_t a = 0; status == 0 && a < several->count; a++)
		for (uint32_t b = 0; status == 0 && b < several->count; b++) {
			struct tare_error why = { 0 };
			int enabled;
			if (!can_pair(several, a, b))
				continue;
			enabled = tare_peer_enable(several->devices[a].member->device,
			                           several->devices[b].member->device, &why);
			reach[a * several->count + b] = enabled == 0;
			if (tare_device_is_gone(enabled))
				several_drop(several, a, enabled, &why);
			status =
			    add_alone(several, a, b, "direct", enabled < 0 ? why.message : NULL);
		}
	for (uint32_t a = 0; status == 0 && a < several->count; a++)
		for (uint32_t b = a + 1; status == 0 && b < several->count; b++)
			if (reach[a * several->count + b] && reach[b * several->count + a])
				status = add_both(several, a, b);
	return status;
}

static int measure_direct(struct several *several, int64_t share_ns, struct tare_error *error)
{
	bool *reach = calloc(several->count * several->count, sizeof *reach);
	int status = 0, kept = reach ? enable(several, reach) : -ENOMEM;

	if (kept == 0)
		status = several_sample(several, 0, share_ns, error);
	for (size_t i = 0; kept == 0 && status == 0 && i < several->plan_count; i++) {
		const struct several_plan *plan = &several->plans[i];
		const struct several_course *course = &plan->courses[0];
		if (plan->course_count == 1)
			add_latency(several, course->device, course->peer, "direct",
			            plan->absent[0] ? plan->absent : NULL);
	}
	if (kept == 0)
		several_keep(several, 0);
	free(reach);
	return kept < 0 ? tare_fail(error, ENOMEM, "out of memory") : status;
}

int several_peers(struct several *several, int64_t share_ns, struct tare_error *error)
{
	int status = measure_staged(several, (int64_t)(STAGED_SHARE * (double)share_ns), error);

	return status < 0 ? status
	                  : measure_direct(several,
	                                   (int64_t)((1 - STAGED_SHARE) * (double)share_ns), error);
}
