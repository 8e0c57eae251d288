// SPDX-License-Identifier: Apache-2.0
// Both directions at once: each copies several times in a row on a queue of its own. By the stamps
// of every copy, the time in which both directions still had work is found; the copies that lie in
// it are timed, if the other direction was in fact busy meanwhile and not merely waiting its turn.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COPIES_LEAST 5
#define COPIES_MOST 128
// Trial runs in which the number of copies is chosen; it doubles from one to the next.
#define TRIALS_MOST 10
// Copies of each direction that must lie in the time in which both had work.
#define COMMON_LEAST 2
// Copies in a row leave gaps; directions that take turns overlap by nothing at all.
#define BUSY_LEAST 0.75

enum { TO_DEVICE, TO_HOST, TOTAL, FIGURES };

struct direction {
	struct tare_queue *queue;
	struct tare_operation copy;
	uint32_t copies;
	struct tare_gate *gate;
	struct tare_event *event[COPIES_MOST];
	int64_t start[COPIES_MOST], end[COPIES_MOST]; // in ticks since the first start of the first
	uint32_t from, count;                         // copies while both had work
};

static struct tare_operation copy_of(struct transfer *transfer, enum buffer source,
                                     enum buffer sink)
{
	struct bandwidth *bandwidth = transfer->bandwidth;

	return (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = { bandwidth->buffers[source], 0, transfer->bytes },
		.destination = { bandwidth->buffers[sink], 0, transfer->bytes },
	};
}

static void directions_of(struct transfer *transfer, struct direction directions[2])
{
	struct tare_bench *bench = &transfer->bandwidth->bench;

	directions[0] = (struct direction){ .queue = bench->to_device,
		                            .copies = transfer->copies[0],
		                            .copy = copy_of(transfer, HOST_SOURCE, DEVICE_SINK) };
	directions[1] = (struct direction){ .queue = bench->to_host,
		                            .copies = transfer->copies[1],
		                            .copy = copy_of(transfer, DEVICE_SOURCE, HOST_SINK) };
}

static int check_needs(struct transfer *transfer, struct tare_error *error)
{
	static const enum buffer buffers[] = { HOST_SOURCE, DEVICE_SINK, DEVICE_SOURCE, HOST_SINK };
	struct tare_bench *bench = &transfer->bandwidth->bench;

	int status = 0;

	for (size_t i = 0; i < 4 && status == 0; i++)
		status = transfer_need(transfer, buffers[i], error);
	if (status < 0)
		return status;
	if (!bench->stamped)
		return tare_fail(error, ENOTSUP, "%s", bench->unstamped);
	if (!bench->to_device || !bench->to_host)
		return tare_fail(error, ENOTSUP, "the device gives no second queue");
	return 0;
}

// Device time of one copy alone.
static int time_alone(struct transfer *transfer, const struct direction *direction, int64_t *ps,
                      struct tare_error *error)
{
	struct tare_event *event = NULL;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_host_time begin = tare_device_now(bench->device);
	int status = tare_append(direction->queue, &direction->copy, &event, error);
	int64_t host_ns;

	status = status ?: tare_finish(direction->queue, TARE_LIMIT_DEFAULT_NS, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	status = status ?: tare_bench_duration_ps(bench, event, host_ns, ps, error);
	tare_event_free(event);
	return status;
}

static uint32_t most_copies(const struct tare_bench *bench)
{
	uint32_t capacity = bench->gate_capacity;
	return capacity > 8 && capacity - 4 < COPIES_MOST ? capacity - 4 : COPIES_MOST;
}

// As many copies as the clock's step asks for, and more of the quicker direction, so that both end
// together if neither slows the other more than it is slowed.
static void guess_copies(struct transfer *transfer, const int64_t alone_ps[2])
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	uint32_t most = most_copies(bench);
	int64_t slower = alone_ps[0] > alone_ps[1] ? alone_ps[0] : alone_ps[1];
	uint32_t least = tare_batch((double)slower, bench->step_ps, COPIES_MOST / 2) + 2;

	if (least < COPIES_LEAST)
		least = COPIES_LEAST;
	for (int d = 0; d < 2; d++) {
		double copies =
		    alone_ps[d] > 0 ? (double)least * (double)slower / (double)alone_ps[d] : most;
		transfer->copies[d] = copies < most ? (uint32_t)(copies + 0.5) : most;
	}
}

static int issue(struct direction *direction, struct tare_error *error)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < direction->copies; i++)
		status =
		    tare_append(direction->queue, &direction->copy, &direction->event[i], error);
	return status < 0 ? status : tare_submit(direction->queue, error);
}

static int run_both(struct tare_bench *bench, struct direction directions[2],
                    struct tare_error *error)
{
	struct tare_host_time begin = tare_device_now(bench->device);
	int64_t host_ns;
	int status = 0;

	for (int d = 0; status == 0 && bench->gated && d < 2; d++)
		status = tare_gate_shut(directions[d].queue, &directions[d].gate, error);
	for (int d = 0; status == 0 && d < 2; d++)
		status = issue(&directions[d], error);
	for (int d = 0; status == 0 && bench->gated && d < 2; d++)
		status = tare_gate_open(directions[d].gate, error);
	for (int d = 0; status == 0 && d < 2; d++)
		status = tare_finish(directions[d].queue, TARE_LIMIT_DEFAULT_NS, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	for (int d = 0; d < 2; d++) {
		tare_gate_free(directions[d].gate);
		directions[d].gate = NULL;
	}
	return status < 0 ? status : tare_bench_can_tell(bench, host_ns, error);
}

static int read_stamps(struct tare_bench *bench, struct direction directions[2],
                       struct tare_error *error)
{
	struct tare_stamps stamps, origin = { 0 };

	for (int d = 0; d < 2; d++)
		for (uint32_t i = 0; i < directions[d].copies; i++) {
			int status = tare_event_stamps(directions[d].event[i], &stamps, error);
			if (status < 0)
				return status;
			if (d == 0 && i == 0)
				origin = stamps;
			if (!tare_stamps_have(&stamps, TARE_STAMP_START) ||
			    !tare_stamps_have(&stamps, TARE_STAMP_END))
				return tare_fail(error, ENODATA,
				                 "the driver gives no start or no end of the copy");
			if (stamps.epoch != origin.epoch)
				return tare_fail(error, EAGAIN,
				                 "the stamps of two queues are not comparable");
			directions[d].start[i] = tare_ticks_elapsed_signed(
			    &bench->rate, origin.at[TARE_STAMP_START], stamps.at[TARE_STAMP_START]);
			directions[d].end[i] = tare_ticks_elapsed_signed(
			    &bench->rate, origin.at[TARE_STAMP_START], stamps.at[TARE_STAMP_END]);
			if (directions[d].end[i] < directions[d].start[i] ||
			    (i && directions[d].end[i] < directions[d].start[i - 1]))
				return tare_fail(error, EIO,
				                 "the device's end stamp of a copy lies before its "
				                 "start or that of the copy before it");
		}
	return 0;
}

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t last_end(const struct direction *direction)
{
	return direction->end[direction->copies - 1];
}

// Which copies lie in the time in which both directions had work.
static void find_common(struct direction directions[2])
{
	int64_t from = latest(directions[0].start[0], directions[1].start[0]);
	int64_t to = earliest(last_end(&directions[0]), last_end(&directions[1]));

	for (int d = 0; d < 2; d++)
		for (uint32_t i = 0; i < directions[d].copies; i++)
			if (directions[d].start[i] >= from && directions[d].end[i] <= to &&
			    directions[d].count++ == 0)
				directions[d].from = i;
}

// Share of the time of `mine`'s common copies in which `other` was copying.
static double busy_share(const struct direction *mine, const struct direction *other)
{
	int64_t from, to, busy = 0;

	if (mine->count == 0)
		return 0;
	from = mine->start[mine->from];
	to = mine->end[mine->from + mine->count - 1];
	for (uint32_t i = 0; i < other->copies; i++) {
		int64_t low = latest(from, other->start[i]), high = earliest(to, other->end[i]);
		busy += high > low ? high - low : 0;
	}
	return to > from ? (double)busy / (double)(to - from) : 0;
}

static int64_t span_of(const struct direction *direction)
{
	return direction->count ? direction->end[direction->from + direction->count - 1] -
	                              direction->start[direction->from]
	                        : 0;
}

// Runs both directions once and finds the copies that count.
static int run_once(struct transfer *transfer, struct direction directions[2],
                    struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	int status;

	directions_of(transfer, directions);
	status = run_both(bench, directions, error);
	status = status ?: read_stamps(bench, directions, error);
	if (status == 0)
		find_common(directions);
	for (int d = 0; d < 2; d++)
		for (uint32_t i = 0; i < directions[d].copies; i++)
			tare_event_free(directions[d].event[i]);
	return status;
}

// Whether enough copies of a direction count: two, and as long as the clock's step asks for.
static bool has_enough(const struct tare_bench *bench, const struct direction *direction)
{
	int64_t ps = tare_ticks_to_ps(&bench->rate, (uint64_t)span_of(direction));
	return direction->count >= COMMON_LEAST &&
	       tare_batch((double)ps, bench->step_ps, COPIES_MOST) == 1;
}

// Times alone do not tell how much each direction slows the other. Tries both at once, with more
// copies of the one that is done first until enough of both lie in the time in which both had work.
static int choose_copies(struct transfer *transfer, struct direction directions[2],
                         struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	uint32_t most = most_copies(bench);

	for (int trial = 0; trial < TRIALS_MOST; trial++) {
		int status = run_once(transfer, directions, error), first;
		if (status == -EAGAIN)
			continue; // nothing this time
		if (status < 0)
			return status;
		if (has_enough(bench, &directions[0]) && has_enough(bench, &directions[1]))
			break;
		first = last_end(&directions[0]) <= last_end(&directions[1]) ? 0 : 1;
		// One direction waits until the other is done: more copies change nothing.
		if (last_end(&directions[first]) <= directions[1 - first].start[0] ||
		    transfer->copies[first] == most)
			break;
		transfer->copies[first] =
		    2 * transfer->copies[first] < most ? 2 * transfer->copies[first] : most;
	}
	return 0;
}

static int begin_both(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct direction directions[2];
	int64_t alone_ps[2] = { 0, 0 };
	int status = check_needs(transfer, error);

	if (status < 0)
		return status;
	directions_of(transfer, directions);
	for (int d = 0; status == 0 && d < 2; d++) {
		status = time_alone(transfer, &directions[d], &alone_ps[d], error);
		if (status == 0)
			status = bandwidth_poison(transfer->bandwidth,
			                          directions[d].copy.destination, error);
	}
	if (status == 0)
		guess_copies(transfer, alone_ps);
	status = status ?: choose_copies(transfer, directions, error);
	// The steps of the clock at both ends of about this many copies.
	for (size_t i = 0; status == 0 && i < 2; i++)
		measurement->figures[i].quantum =
		    bench->step_ps / (directions[i].count > 1 ? directions[i].count - 1 : 1);
	measurement->figures[TOTAL].quantum =
	    measurement->figures[0].quantum > measurement->figures[1].quantum
	        ? measurement->figures[0].quantum
	        : measurement->figures[1].quantum;
	return status;
}

static void refuse(struct tare_measurement *measurement, const char *why)
{
	for (int i = 0; i < FIGURES; i++)
		snprintf(measurement->figures[i].absent, sizeof measurement->figures[i].absent,
		         "%s", why);
}

static void judge(struct transfer *transfer, struct tare_measurement *measurement,
                  const struct direction directions[2], int64_t *values)
{
	const struct tare_clock_rate *rate = &transfer->bandwidth->bench.rate;
	double of[2];

	transfer->samples++;
	if (busy_share(&directions[0], &directions[1]) < BUSY_LEAST ||
	    busy_share(&directions[1], &directions[0]) < BUSY_LEAST) {
		refuse(measurement,
		       directions[0].count && directions[1].count
		           ? "the directions did not run at once"
		           : "the directions did not run at once for as long as a copy of each");
		return;
	}
	for (int d = 0; d < 2; d++) {
		int64_t ps = tare_ticks_to_ps(rate, (uint64_t)span_of(&directions[d]));
		values[d] = ps / directions[d].count;
		of[d] = (double)ps / directions[d].count;
	}
	// 2 s / t = s / t0 + s / t1
	values[TOTAL] = (int64_t)(2 / (1 / of[0] + 1 / of[1]) + 0.5);
}

static int sample_both(struct tare_measurement *measurement, int64_t *values,
                       struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct direction directions[2];
	int status = run_once(transfer, directions, error);

	if (status == 0)
		judge(transfer, measurement, directions, values);
	return status;
}

static int end_both(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	enum tare_verified each[2] = { TARE_NOT_VERIFIABLE, TARE_NOT_VERIFIABLE };
	struct direction directions[2];
	int status = 0;

	if (transfer->samples == 0)
		return 0;
	directions_of(transfer, directions);
	for (int d = 0; status == 0 && d < 2; d++)
		status = bandwidth_verify(transfer->bandwidth, directions[d].copy.destination, 0,
		                          &each[d], error);
	*verified = each[0] == TARE_WRONG ? TARE_WRONG : each[1];
	return status;
}

void transfer_plan_both(struct transfer *transfer, struct tare_measurement *measurement)
{
	double bytes = (double)transfer->bytes;

	measurement->begin = begin_both;
	measurement->sample = sample_both;
	measurement->end = end_both;
	transfer_figure(transfer, measurement, TARE_LINE_BOTH_TO_DEVICE, "device", bytes,
	                "pinned copies in a row on two queues: those of this direction while the "
	                "other was busy too, with the gaps between them, per copy");
	transfer_figure(transfer, measurement, TARE_LINE_BOTH_TO_HOST, "device", bytes,
	                "the same, the other direction");
	transfer_figure(transfer, measurement, TARE_LINE_BOTH_TOTAL, "device", 2 * bytes,
	                "the sum of both directions' rates while both were busy");
}
