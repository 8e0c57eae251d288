// SPDX-License-Identifier: Apache-2.0
// Timers and spans on an API that the test plays itself, through the library's inner table: what a
// result says of known stamps, and every way of using it wrongly.
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "played.h"

static void a_span_is_what_passed_between_its_stamps(void **state)
{
	struct tare_time_result result = result_of(span_of("solve", 5 * MS));
	(void)state;

	assert_int_equal(result.state, TARE_TIME_OK);
	assert_string_equal(result.name, "solve");
	assert_int_equal(result.device_ns, 5 * MS + 1000);
	assert_int_equal(result.floor_ns, 1000);
	assert_int_equal(result.uncertainty_ns, 2001);
	assert_int_equal(result.end_ticks - result.start_ticks, 5 * MS + 1000);
	assert_int_equal(result.rate.hz_numerator, 1000000000);
	assert_int_equal(result.period_ns, 0);
	assert_int_equal(result.wraps_excluded, 1);
	assert_string_equal(result.sentence, "");
}

// Any rate and width, and a wrap in the span: within a tick.
static void a_counter_may_be_narrow_slow_and_wrap(void **state)
{
	static const struct tare_clock_rate rates[] = {
		{ 12000000, 1, 32, 1 },    { 19200000, 1, 36, 1 }, { 12000048, 1, 36, 1 },
		{ 1000000000, 83, 32, 1 }, { 25000000, 1, 56, 1 }, { 1000000000, 1, 64, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		played.rate = rates[i];
		played.epoch = tare_ticks_mask(&played.rate) - 20000;
		played.device_ns = 0;
		played.host_ns = 0;
		struct tare_time_span span = span_of("wrap", 50 * MS);
		struct tare_time_result result = result_of(span);
		assert_int_equal(result.state, TARE_TIME_OK);
		assert_true(llabs(result.device_ns - (50 * MS + 1000)) <=
		            (int64_t)(tare_tick_ns(&rates[i]) + 1));
		assert_true((result.end_ticks & tare_ticks_mask(&rates[i])) <
		            (result.start_ticks & tare_ticks_mask(&rates[i])));
		assert_int_equal(result.wraps_excluded, 1);
		assert_int_equal(tare_time_release(timer, span, &error), 0);
	}
}

static void what_may_have_wrapped_says_so(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	char line[TARE_TIME_LINE];
	(void)state;

	played.rate = (struct tare_clock_rate){ 12000000, 1, 32, 1 };
	span = span_of("long", 5 * MS);
	assert_int_equal(result_of(span).wraps_excluded, 1);
	played.host_ns += INT64_C(400000000000);
	result = result_of(span);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_int_equal(result.wraps_excluded, 0);
	assert_true(llabs(result.period_ns - INT64_C(357913941333)) <= 84);
	tare_time_line(&result, line, sizeof line);
	assert_non_null(strstr(line, "if less than the clock's period"));
}

static void more_than_passed_on_the_host_is_no_time(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	(void)state;

	// An end before its start, on a counter that does not wrap.
	span = span_of("back", 5 * MS);
	played.slots[span.slot].end = played.slots[span.slot].start - 1000;
	result = result_of(span);
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, TARE_TIME_IMPOSSIBLE);
	assert_int_equal(result.device_ns, -1);
	// A counter that jumped.
	span = span_of("jump", 5 * MS);
	played.slots[span.slot].end += 100 * MS;
	assert_int_equal(result_of(span).reason, TARE_TIME_IMPOSSIBLE);
}

static void an_empty_span_is_below_the_floor(void **state)
{
	struct tare_time_result result;
	char line[TARE_TIME_LINE];
	(void)state;

	result = result_of(span_of("nothing", 0));
	assert_int_equal(result.state, TARE_TIME_BELOW_FLOOR);
	assert_int_equal(result.device_ns, 1000);
	tare_time_line(&result, line, sizeof line);
	assert_non_null(strstr(line, "below the floor"));
	// Two steps more than an empty one is something.
	assert_int_equal(result_of(span_of("little", 2)).state, TARE_TIME_OK);
}

// Only the first spans carry an empty one, and the floor is the median of theirs.
static void the_floor_is_the_median_of_the_first_spans(void **state)
{
	static const int64_t floors[] = { 900, 100000, 1000, 950, 1050, 1100, 20 };
	struct tare_time_result result;
	(void)state;

	for (size_t i = 0; i < 7; i++) {
		played.floor_ns = floors[i];
		result = result_of(span_of("work", MS));
	}
	assert_int_equal(result.floor_ns, 1000);
	assert_int_equal(played.floors, 7);
	result = result_of(span_of("work", MS));
	assert_int_equal(played.floors, 7);
	assert_int_equal(result.floor_ns, 1000);
	assert_int_equal(result.uncertainty_ns, 2001);
}

// Spans released unread leave their turn to others.
static void floors_that_nobody_read_are_measured_again(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(tare_time_release(timer, span_of("unread", MS), &error), 0);
	assert_int_equal(played.floors, 20);
	for (int i = 0; i < 20; i++) {
		struct tare_time_span span = span_of("read", MS);
		assert_int_equal(result_of(span).floor_ns, 1000);
		assert_int_equal(tare_time_release(timer, span, &error), 0);
	}
	assert_int_equal(played.floors, 27);
}

static void spans_nest_and_overlap(void **state)
{
	struct tare_time_span outer, inner, late;
	(void)state;

	played.floor_ns = 10;
	assert_int_equal(tare_time_begin(timer, "outer", &outer, &error), 0);
	played.device_ns += MS;
	assert_int_equal(tare_time_begin(timer, "inner", &inner, &error), 0);
	played.device_ns += MS;
	assert_int_equal(tare_time_begin(timer, "late", &late, &error), 0);
	played.device_ns += MS;
	assert_int_equal(tare_time_end(timer, inner, &error), 0);
	assert_int_equal(tare_time_end(timer, outer, &error), 0);
	played.device_ns += MS;
	assert_int_equal(tare_time_end(timer, late, &error), 0);
	played.host_ns = played.device_ns;
	assert_int_equal(result_of(outer).device_ns, 3 * MS + 40);
	assert_int_equal(result_of(inner).device_ns, 2 * MS + 20);
	assert_int_equal(result_of(late).device_ns, 2 * MS + 30);
}

static void only_the_asking_waits(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	char line[TARE_TIME_LINE];
	(void)state;

	assert_int_equal(tare_time_begin(timer, "slow", &span, &error), 0);
	played.device_ns += 50 * MS;
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	assert_int_equal(played.host_ns, 0);
	assert_int_equal(tare_time_read(timer, span, 0, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	assert_int_equal(played.host_ns, 0);
	assert_int_equal(played.flushes, 0);
	assert_int_equal(tare_time_read(timer, span, 20 * MS, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	assert_int_equal(result.device_ns, -1);
	assert_int_equal(played.host_ns, 20 * MS);
	assert_int_equal(played.flushes, 1);
	tare_time_line(&result, line, sizeof line);
	assert_non_null(strstr(line, "not ready"));
	assert_int_equal(tare_time_read(timer, span, INT64_MAX, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_true(played.host_ns >= 50 * MS && played.host_ns < 55 * MS);
}

static void an_event_has_its_own_times_and_no_floor(void **state)
{
	uint64_t ticks[2] = { 1000, 3500 }, same[2] = { 1000, 1000 }, back[2] = { 1000, 900 };
	struct tare_time_result result;
	(void)state;

	played.rate = (struct tare_clock_rate){ 25000000, 1, 32, 1 };
	assert_int_equal(tare_time_event(timer, "kernel", ticks, 0, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_int_equal(result.device_ns, 100000);
	assert_int_equal(result.floor_ns, 0);
	assert_int_equal(result.uncertainty_ns, 40);
	assert_int_equal(result.host_ns, -1);
	assert_int_equal(result.wraps_excluded, 1);
	played.host_ns = INT64_C(1000000000000);
	assert_int_equal(tare_time_event(timer, "kernel", ticks, 0, &result, &error), 0);
	assert_int_equal(result.wraps_excluded, 0);
	assert_int_equal(tare_time_event(timer, "kernel", same, 0, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_BELOW_FLOOR);
	assert_int_equal(tare_time_event(timer, "kernel", back, 0, &result, &error), 0);
	assert_int_equal(result.reason, TARE_TIME_IMPOSSIBLE);
	played.never = 1;
	assert_int_equal(tare_time_event(timer, "kernel", ticks, 0, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	refused(tare_time_event(timer, "kernel", NULL, 0, &result, &error), EINVAL, "event");
}

static void a_lost_device_is_named(void **state)
{
	struct tare_time_span span = span_of("lost", MS);
	struct tare_time_result result;
	char line[TARE_TIME_LINE];
	(void)state;

	played.fail_done = 0x70000001;
	result = result_of(span);
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, TARE_TIME_DEVICE_LOST);
	assert_int_equal(result.native, 0x70000001);
	tare_time_line(&result, line, sizeof line);
	assert_string_equal(line, "lost: n/a, because the device is lost (0x70000001)");
	played.fail_done = 0;
	played.fail_stamps = 1;
	assert_int_equal(result_of(span).reason, TARE_TIME_NO_STAMPS);
}

static void what_the_api_refuses_is_an_error_with_its_code(void **state)
{
	struct tare_time_span span;
	(void)state;

	played.refuse_begin = 77;
	refused(tare_time_begin(timer, "x", &span, &error), EIO, "playBegin returned 77");
	assert_int_equal(error.native, 77);
	assert_string_equal(error.call, "playBegin");
	assert_int_equal(span.turn, 0);
	refused(tare_time_end(timer, span, &error), ESTALE, "no such span");
	played.refuse_begin = 0;
	played.refuse_end = 78;
	assert_int_equal(tare_time_begin(timer, "x", &span, &error), 0);
	refused(tare_time_end(timer, span, &error), EIO, "playEnd returned 78");
	assert_int_equal(result_of(span).reason, TARE_TIME_NOT_APPENDED);
	refused(tare_time_end(timer, span, &error), EALREADY, "ended already");
	assert_int_equal(tare_time_release(timer, span, &error), 0);
	played.refuse_end = 0;
	// The floors of what failed are measured by others.
	for (int i = 0; i < 8; i++)
		result_of(span_of("well", MS));
	assert_int_equal(played.floors, 8);
}

static void spans_that_are_none_are_refused(void **state)
{
	struct tare_time_span none = { 0, 0 }, far = { SLOTS, 1 }, span, old;
	struct tare_time_result result;
	(void)state;

	refused(tare_time_end(timer, none, &error), ESTALE, "no such span");
	refused(tare_time_end(timer, far, &error), ESTALE, "no such span");
	refused(tare_time_read(timer, far, 0, &result, &error), ESTALE, "no such span");
	refused(tare_time_release(timer, none, &error), ESTALE, "no such span");
	assert_int_equal(tare_time_begin(timer, NULL, &span, &error), 0);
	refused(tare_time_read(timer, span, 0, &result, &error), EBUSY, "not ended");
	refused(tare_time_release(timer, span, &error), EBUSY, "not ended");
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	refused(tare_time_end(timer, span, &error), EALREADY, "ended already");
	assert_int_equal(tare_time_release(timer, span, &error), 0);
	refused(tare_time_release(timer, span, &error), ESTALE, "no such span");
	// Its place has another span now.
	old = span;
	for (int i = 0; i < SLOTS; i++)
		span_of("all", 1);
	refused(tare_time_read(timer, old, 0, &result, &error), ESTALE, "no such span");
	refused(tare_time_begin(timer, "one more", &span, &error), ENOSPC, "all 16 spans");
	refused(tare_time_begin(NULL, "x", &span, &error), EINVAL, "timer");
	refused(tare_time_end(NULL, span, &error), EINVAL, "timer");
	refused(tare_time_read(NULL, span, 0, &result, &error), EINVAL, "timer");
	refused(tare_time_release(NULL, span, &error), EINVAL, "timer");
	assert_int_equal(tare_time_end(timer, none, NULL), -ESTALE);
	assert_int_equal(tare_time_close(NULL, NULL), 0);
}

static void *end_it(void *span)
{
	memset(&error, 0, sizeof error);
	return (void *)(intptr_t)tare_time_end(timer, *(struct tare_time_span *)span, &error);
}

static void another_thread_cannot_end_a_span(void **state)
{
	struct tare_time_span span;
	pthread_t thread;
	void *status;
	(void)state;

	assert_int_equal(tare_time_begin(timer, "mine", &span, &error), 0);
	assert_int_equal(pthread_create(&thread, NULL, end_it, &span), 0);
	assert_int_equal(pthread_join(thread, &status), 0);
	assert_int_equal((intptr_t)status, -EPERM);
	assert_says("another thread");
	assert_int_equal(tare_time_end(timer, span, &error), 0);
}

// Where the device writes into what a span holds, its place is kept until it has.
static void what_is_still_written_is_not_used_again(void **state)
{
	struct tare_time_span span, next;
	(void)state;

	api.writes_later = true;
	assert_int_equal(tare_time_begin(timer, "open", &span, &error), 0);
	refused(tare_time_close(timer, &error), EBUSY, "has not ended");
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	played.never = 1;
	refused(tare_time_close(timer, &error), EBUSY, "still to write");
	assert_int_equal(tare_time_release(timer, span, &error), 0);
	refused(tare_time_end(timer, span, &error), ESTALE, "no such span");
	refused(tare_time_close(timer, &error), EBUSY, "still to write");
	for (int i = 1; i < SLOTS; i++) {
		assert_int_equal(tare_time_begin(timer, "other", &next, &error), 0);
		assert_int_not_equal(next.slot, span.slot);
		assert_int_equal(tare_time_end(timer, next, &error), 0);
	}
	refused(tare_time_begin(timer, "full", &next, &error), ENOSPC, "all 16");
	played.never = 0;
	played.host_ns = played.device_ns;
	assert_int_equal(tare_time_begin(timer, "again", &next, &error), 0);
	assert_int_equal(next.slot, span.slot);
	assert_int_equal(tare_time_end(timer, next, &error), 0);
	played.host_ns = played.device_ns;
}

// The library that TARE_PHASES names, heard.c, writes down what it is told.
static const char *heard(void)
{
	void *library = dlopen(getenv("TARE_PHASES"), RTLD_NOW | RTLD_NOLOAD);
	const char *(*take)(void) = NULL;

	if (library)
		*(void **)&take = dlsym(library, "heard_so_far");
	return take ? take() : "nothing: run it by meson";
}

static void spans_are_phases(void **state)
{
	struct tare_time_span outer, inner, last;
	(void)state;

	span_of("first", 1);
	heard();
	assert_int_equal(tare_time_begin(timer, "a", &outer, &error), 0);
	assert_int_equal(tare_time_begin(timer, NULL, &inner, &error), 0);
	assert_int_equal(tare_time_end(timer, inner, &error), 0);
	assert_int_equal(tare_time_end(timer, outer, &error), 0);
	assert_string_equal(heard(), "+a +span - - ");
	// Not nested: the outer phase ends with the inner one.
	assert_int_equal(tare_time_begin(timer, "a", &outer, &error), 0);
	assert_int_equal(tare_time_begin(timer, "b", &inner, &error), 0);
	assert_int_equal(tare_time_end(timer, outer, &error), 0);
	assert_string_equal(heard(), "+a +b ");
	assert_int_equal(tare_time_begin(timer, "c", &last, &error), 0);
	assert_int_equal(tare_time_end(timer, last, &error), 0);
	assert_int_equal(tare_time_end(timer, inner, &error), 0);
	assert_string_equal(heard(), "+c - - - ");
	// A begin that the API refuses leaves none.
	played.refuse_begin = 1;
	assert_int_equal(tare_time_begin(timer, "d", &last, &error), -EIO);
	assert_string_equal(heard(), "+d - ");
}

static void lines_are_cut_where_there_is_no_room(void **state)
{
	struct tare_time_result result = result_of(span_of("solve", 1500 * 1000));
	char line[TARE_TIME_LINE], little[8];
	(void)state;

	int length = tare_time_line(&result, line, sizeof line);
	assert_string_equal(line,
	                    "solve: 1501.000 us on the device, +- 1 ns, of which up to about 2000 "
	                    "ns are the span's own; 0 ns to enqueue");
	assert_int_equal(length, strlen(line));
	assert_int_equal(tare_time_line(&result, little, sizeof little), length);
	assert_string_equal(little, "solve: ");
	assert_int_equal(tare_time_line(&result, NULL, 0), length);
	assert_string_equal(tare_time_version(), TARE_TIME_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_played(a_span_is_what_passed_between_its_stamps),
		on_played(a_counter_may_be_narrow_slow_and_wrap),
		on_played(what_may_have_wrapped_says_so),
		on_played(more_than_passed_on_the_host_is_no_time),
		on_played(an_empty_span_is_below_the_floor),
		on_played(the_floor_is_the_median_of_the_first_spans),
		on_played(floors_that_nobody_read_are_measured_again),
		on_played(spans_nest_and_overlap),
		on_played(only_the_asking_waits),
		on_played(an_event_has_its_own_times_and_no_floor),
		on_played(a_lost_device_is_named),
		on_played(what_the_api_refuses_is_an_error_with_its_code),
		on_played(spans_that_are_none_are_refused),
		on_played(another_thread_cannot_end_a_span),
		on_played(what_is_still_written_is_not_used_again),
		on_played(spans_are_phases),
		on_played(lines_are_cut_where_there_is_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
