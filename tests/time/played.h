// SPDX-License-Identifier: Apache-2.0
// An API whose spans last as long as a test says, on a host clock that it moves. Include after
// cmocka.h.
#pragma once
#include "time/internal.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define SLOTS 16
#define MS 1000000

// A device that is told how long things take; its clock begins at `epoch` and has rubbish above its
// valid bits.
static struct played {
	int64_t host_ns, device_ns, floor_ns;
	struct tare_clock_rate rate;
	uint64_t epoch;
	struct {
		uint64_t floor, start, end;
		int64_t done_ns;
	} slots[SLOTS];
	int begins, ends, floors, closes, flushes;
	int refuse_begin, refuse_end, fail_done, fail_stamps, never, writes_later;
} played;

static inline uint64_t ticks_at(int64_t ns)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t ticks = (uint64_t)((wide)ns * played.rate.hz_numerator /
	                            ((wide)played.rate.hz_denominator * 1000000000));
	uint64_t mask = tare_ticks_mask(&played.rate);

	return ((played.epoch + ticks) & mask) | (UINT64_C(0xa5a5a5a5a5a5a5a5) & ~mask);
}

static inline int play_begin(void *queue, uint32_t slot, bool with_floor,
                             struct tare_time_error *error)
{
	(void)queue;
	if (played.refuse_begin)
		return tare_time_fail_native(error, EIO, "playBegin", played.refuse_begin,
		                             "refused");
	played.begins++;
	if (with_floor) {
		played.floors++;
		played.slots[slot].floor = ticks_at(played.device_ns);
		played.device_ns += played.floor_ns;
	}
	played.slots[slot].start = ticks_at(played.device_ns);
	return 0;
}

static inline int play_end(void *queue, uint32_t slot, struct tare_time_error *error)
{
	(void)queue;
	if (played.refuse_end)
		return tare_time_fail_native(error, EIO, "playEnd", played.refuse_end, "refused");
	played.ends++;
	played.device_ns += played.floor_ns;
	played.slots[slot].end = ticks_at(played.device_ns);
	played.slots[slot].done_ns = played.device_ns;
	return 0;
}

static inline int play_done(void *queue, uint32_t slot, struct tare_time_why *why)
{
	(void)queue;
	if (played.fail_done)
		return tare_time_absent(why, TARE_TIME_DEVICE_LOST, played.fail_done,
		                        "the device is lost");
	return !played.never && played.host_ns >= played.slots[slot].done_ns;
}

static inline int play_stamps(void *queue, uint32_t slot, bool with_floor,
                              struct tare_time_stamps *stamps, struct tare_time_why *why)
{
	(void)queue;
	if (played.fail_stamps)
		return tare_time_absent(why, TARE_TIME_NO_STAMPS, 0, "no times");
	*stamps = (struct tare_time_stamps){ .counted = true,
		                             .has_floor = with_floor,
		                             .rate = played.rate };
	stamps->floor = played.slots[slot].floor;
	stamps->start = played.slots[slot].start;
	stamps->end = played.slots[slot].end;
	return 0;
}

static inline int play_event_done(void *queue, void *event, struct tare_time_why *why)
{
	(void)event;
	return play_done(queue, 0, why);
}

static inline int play_event_stamps(void *queue, void *event, struct tare_time_stamps *stamps,
                                    struct tare_time_why *why)
{
	uint64_t *ticks = event;
	int status = play_stamps(queue, 0, false, stamps, why);

	stamps->start = ticks[0];
	stamps->end = ticks[1];
	return status;
}

static inline void play_flush(void *queue)
{
	(void)queue;
	played.flushes++;
}

static inline void play_close(void *queue)
{
	(void)queue;
	played.closes++;
}

static inline int64_t play_now(void *queue)
{
	(void)queue;
	return played.host_ns;
}

static inline void play_pause(void *queue, int64_t ns)
{
	(void)queue;
	assert_true(ns >= 0);
	played.host_ns += ns ? ns : 1;
}

static struct tare_time_api api;

static struct tare_timer *timer;

static struct tare_time_error error;

static inline int set_up(void **state)
{
	static const struct tare_time_api plain = {
		.begin = play_begin,
		.end = play_end,
		.flush = play_flush,
		.done = play_done,
		.stamps = play_stamps,
		.event_done = play_event_done,
		.event_stamps = play_event_stamps,
		.close = play_close,
		.now_ns = play_now,
		.pause_ns = play_pause,
	};
	(void)state;
	api = plain;
	played = (struct played){ .floor_ns = 1000, .rate = { 1000000000, 1, 64, 1 } };
	assert_int_equal(tare_time_make(&timer, &api, &played, SLOTS, &error), 0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	played.never = 0;
	assert_int_equal(tare_time_close(timer, &error), 0);
	assert_int_equal(played.closes, 1);
	return 0;
}

// A span around work of so many nanoseconds on the device, done at once for the host.
static inline struct tare_time_span span_of(const char *name, int64_t work_ns)
{
	struct tare_time_span span;

	assert_int_equal(tare_time_begin(timer, name, &span, &error), 0);
	played.device_ns += work_ns;
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	played.host_ns = played.device_ns;
	return span;
}

static inline struct tare_time_result result_of(struct tare_time_span span)
{
	struct tare_time_result result;

	assert_int_equal(tare_time_read(timer, span, 0, &result, &error), 0);
	return result;
}

static inline void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' is not in '%s'", words, error.message);
}

#define refused(call, number, words)                                                               \
	do {                                                                                       \
		memset(&error, 0, sizeof error);                                                   \
		assert_int_equal((call), -(number));                                               \
		assert_int_equal(error.code, -(number));                                           \
		assert_says(words);                                                                \
	} while (0)

#define on_played(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
