// SPDX-License-Identifier: Apache-2.0
// Spans on the simulated device, through the library's inner table: its host's clock is computed,
// so that each span equals what the script says, to the nanosecond, and so does what was waited
// for.
#include "tare/time_series.h"
#include "tests/unit/backend/simulated/simulated_device.h"
#include "time/internal.h"

#define SPANS 8

enum { FLOOR, START, END, MOMENTS };

static struct simulated_queue {
	struct tare_queue *queue;
	struct tare_clock_rate rate;
	struct tare_event *events[SPANS][MOMENTS];
} simulated;
static struct tare_time_error why_not;

static int mark(struct tare_event **event)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

	return tare_append(simulated.queue, &marker, event, &error) < 0
	           ? tare_time_fail(&why_not, EIO, "%s", error.message)
	           : 0;
}

static int simulated_begin(void *queue, uint32_t slot, bool with_floor,
                           struct tare_time_error *told)
{
	int status = with_floor ? mark(&simulated.events[slot][FLOOR]) : 0;
	(void)queue;
	(void)told;
	return status < 0 ? status : mark(&simulated.events[slot][START]);
}

static int simulated_end(void *queue, uint32_t slot, struct tare_time_error *told)
{
	(void)queue;
	(void)told;
	return mark(&simulated.events[slot][END]);
}

static void simulated_flush(void *queue)
{
	(void)queue;
	tare_submit(simulated.queue, &error);
}

static int simulated_done(void *queue, uint32_t slot, struct tare_time_why *why)
{
	int status = tare_event_done(simulated.events[slot][END], &error);
	(void)queue;
	return status < 0
	           ? tare_time_absent(why, TARE_TIME_DEVICE_LOST, status, "the device is lost")
	           : status;
}

static uint64_t end_of(struct tare_event *event)
{
	struct tare_stamps stamps;

	must(tare_event_stamps(event, &stamps, &error));
	return stamps.at[TARE_STAMP_END].ticks;
}

static int simulated_stamps(void *queue, uint32_t slot, bool with_floor,
                            struct tare_time_stamps *stamps, struct tare_time_why *why)
{
	struct tare_event **events = simulated.events[slot];
	(void)queue;
	(void)why;
	*stamps = (struct tare_time_stamps){ .counted = true,
		                             .has_floor = with_floor,
		                             .rate = simulated.rate };
	stamps->floor = with_floor ? end_of(events[FLOOR]) : 0;
	stamps->start = end_of(events[START]);
	stamps->end = end_of(events[END]);
	return 0;
}

static void simulated_release(void *queue, uint32_t slot)
{
	(void)queue;
	for (int i = 0; i < MOMENTS; i++) {
		tare_event_free(simulated.events[slot][i]);
		simulated.events[slot][i] = NULL;
	}
}

static void simulated_close(void *queue)
{
	(void)queue;
	tare_queue_free(simulated.queue);
}

static int64_t simulated_now(void *queue)
{
	(void)queue;
	return now_ns();
}

static void simulated_pause(void *queue, int64_t ns)
{
	(void)queue;
	tare_device_pause(device, ns);
}

static struct tare_timer *new_timer(void)
{
	static const struct tare_time_api api = {
		.begin = simulated_begin,
		.end = simulated_end,
		.flush = simulated_flush,
		.done = simulated_done,
		.stamps = simulated_stamps,
		.release = simulated_release,
		.close = simulated_close,
		.now_ns = simulated_now,
		.pause_ns = simulated_pause,
	};
	struct tare_timer *timer = NULL;

	simulated = (struct simulated_queue){ .queue = queue_of(TARE_QUEUE_IN_ORDER) };
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &simulated.rate, &error));
	assert_int_equal(tare_time_make(&timer, &api, &simulated, SPANS, &why_not), 0);
	return timer;
}

static struct tare_time_result read_span(struct tare_timer *timer, struct tare_time_span span,
                                         int64_t limit_ns)
{
	struct tare_time_result result;

	assert_int_equal(tare_time_read(timer, span, limit_ns, &result, &why_not), 0);
	return result;
}

// A gate holds the queue until all is appended, so that the host's slowness is in none of it.
static void spans_equal_the_script(void **state)
{
	struct tare_timer *timer = new_timer();
	struct tare_memory *host = memory_of(TARE_MEMORY_PINNED, MB),
	                   *there = memory_of(TARE_MEMORY_DEVICE, MB);
	struct tare_operation copy = copy_of(host, 0, there, 0, 100000);
	struct tare_time_span outer, inner, empty;
	struct tare_time_result result;
	struct tare_gate *gate;
	(void)state;

	must(tare_gate_shut(simulated.queue, &gate, &error));
	assert_int_equal(tare_time_begin(timer, "outer", &outer, &why_not), 0);
	must(tare_append(simulated.queue, &copy, NULL, &error));
	assert_int_equal(tare_time_begin(timer, "inner", &inner, &why_not), 0);
	must(tare_append(simulated.queue, &copy, NULL, &error));
	assert_int_equal(tare_time_end(timer, inner, &why_not), 0);
	assert_int_equal(tare_time_end(timer, outer, &why_not), 0);
	assert_int_equal(tare_time_begin(timer, "empty", &empty, &why_not), 0);
	assert_int_equal(tare_time_end(timer, empty, &why_not), 0);
	int64_t before = now_ns();
	assert_int_equal(read_span(timer, outer, 50 * US).state, TARE_TIME_NOT_READY);
	assert_true(now_ns() - before >= 50 * US && now_ns() - before < 60 * US);
	must(tare_gate_open(gate, &error));
	// 4 us and 100,000 bytes at 10 GB/s; a marker 500 ns.
	result = read_span(timer, inner, LIMIT);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_int_equal(result.device_ns, 14000 + 500);
	assert_int_equal(result.floor_ns, 500);
	assert_int_equal(result.uncertainty_ns, 1001);
	assert_int_equal(read_span(timer, outer, LIMIT).device_ns, 2 * 14000 + 4 * 500);
	assert_int_equal(read_span(timer, empty, LIMIT).state, TARE_TIME_BELOW_FLOOR);
	// One append lies between, of 1 us.
	assert_int_equal(read_span(timer, inner, 0).host_ns, 1000);
	tare_gate_free(gate);
	assert_int_equal(tare_time_close(timer, &why_not), 0);
	tare_memory_free(host);
	tare_memory_free(there);
}

// Nothing holds the queue here: the device waits for the host, and that is in the span.
static void what_the_device_waits_for_is_in_the_span(void **state)
{
	struct tare_timer *timer = new_timer();
	struct tare_time_span span;
	(void)state;

	assert_int_equal(tare_time_begin(timer, "idle", &span, &why_not), 0);
	must(tare_submit(simulated.queue, &error));
	tare_device_pause(device, 300 * US);
	assert_int_equal(tare_time_end(timer, span, &why_not), 0);
	struct tare_time_result result = read_span(timer, span, LIMIT);
	assert_true(result.device_ns >= 300 * US && result.device_ns < 310 * US);
	assert_true(result.host_ns >= 300 * US && result.host_ns < 305 * US);
	assert_int_equal(tare_time_close(timer, &why_not), 0);
}

// Each is the same on a device without noise.
static void a_series_is_known_to_the_nanosecond(void **state)
{
	struct tare_timer *timer = new_timer();
	struct tare_memory *host = memory_of(TARE_MEMORY_PINNED, MB),
	                   *there = memory_of(TARE_MEMORY_DEVICE, MB);
	struct tare_operation copy = copy_of(host, 0, there, 0, 100000);
	const struct tare_time_series_options options = { .bytes = 100000 };
	struct tare_time_series *series;
	struct tare_time_figure figure;
	struct tare_time_span span;
	struct tare_gate *gate;
	int status;
	(void)state;

	assert_int_equal(tare_time_series_open(&series, "copy", &options, &why_not), 0);
	do {
		must(tare_gate_shut(simulated.queue, &gate, &error));
		assert_int_equal(tare_time_begin(timer, NULL, &span, &why_not), 0);
		must(tare_append(simulated.queue, &copy, NULL, &error));
		assert_int_equal(tare_time_end(timer, span, &why_not), 0);
		assert_int_equal(tare_time_series_take(series, timer, span, 50 * US, &why_not),
		                 -EAGAIN);
		must(tare_gate_open(gate, &error));
		status = tare_time_series_take(series, timer, span, LIMIT, &why_not);
		assert_int_equal(tare_time_release(timer, span, &why_not), -ESTALE);
		tare_gate_free(gate);
		tare_device_pause(device, 1000 * US);
	} while (status > 0);
	assert_int_equal(status, 0);
	assert_int_equal(tare_time_series_figure(series, &figure, &why_not), 0);
	assert_int_equal(figure.known, TARE_TIME_CONVERGED);
	assert_true(figure.n == 48 && figure.median_ns == 14500 && figure.floor_ns == 500);
	assert_true(figure.low_ns == 14499 && figure.high_ns == 14501);
	assert_true(figure.enqueue_ns == 1000 && figure.gb_s == 100000 / 14500.0);
	assert_int_equal(tare_time_series_take(series, timer, span, LIMIT, &why_not), -ESTALE);
	tare_time_series_close(series);
	assert_int_equal(tare_time_close(timer, &why_not), 0);
	tare_memory_free(host);
	tare_memory_free(there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exact(spans_equal_the_script),
		exact(what_the_device_waits_for_is_in_the_span),
		exact(a_series_is_known_to_the_nanosecond),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
