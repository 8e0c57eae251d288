// SPDX-License-Identifier: Apache-2.0
// Stamps, epochs and clock pairs of the CUDA backend.
#include "cuda_rig.h"

#define EPOCH_LIFE_NS 50000000 // as in clock.c

static int64_t ticks(const struct tare_stamps *stamps, enum tare_stamp which)
{
	return (int64_t)stamps->at[which].ticks;
}

// As one float from the first event, neighbours would be off by 1 µs after 24 s.
static void neighbouring_stamps_stay_exact_however_late(void **state)
{
	enum { N = 24 };
	struct tare_event *events[N];
	struct tare_stamps stamps[N];
	int64_t truth[N];
	int close = 0;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, 1 << 20);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 1 << 20);
	struct tare_operation what = copy(from, to);
	for (int i = 0; i < N; i++) {
		must(tare_append(queue, &what, &events[i], &error));
		must(tare_event_wait(events[i], TARE_LIMIT_DEFAULT_NS, &error));
		if (i % 4 == 3)
			fake.skip_ns(4000000000);
		// After a skip the epoch must have aged on the host's clock as well.
		tare_device_pause(device, i % 4 == 3 ? EPOCH_LIFE_NS : 20000000);
	}
	for (int i = 0; i < N; i++) {
		struct cuda_event *event = (struct cuda_event *)events[i];
		must(tare_event_stamps(events[i], &stamps[i], &error));
		assert_int_equal(stamps[i].present, 1 << TARE_STAMP_START | 1 << TARE_STAMP_END);
		assert_int_equal(stamps[i].epoch, stamps[0].epoch);
		assert_false(stamps[i].brackets_engine);
		truth[i] = fake.event_ns(event->start);
		assert_int_equal(ticks(&stamps[i], TARE_STAMP_END) -
		                     ticks(&stamps[i], TARE_STAMP_START),
		                 fake.event_ns(event->end) - truth[i]);
		if (i == 0)
			continue;
		// Two distances and a link or two, each told to half a step of its float.
		int64_t gap = truth[i] - truth[i - 1];
		int64_t tolerance = 2 + (int64_t)(4 * 0x1p-24 * (double)(gap + EPOCH_LIFE_NS));
		int64_t off = ticks(&stamps[i], TARE_STAMP_START) -
		              ticks(&stamps[i - 1], TARE_STAMP_START) - gap;
		assert_in_range(off + tolerance, 0, 2 * tolerance);
		close += tolerance < 100 && truth[i] - truth[0] > 8000000000;
	}
	assert_true(close > 4);
	for (int i = 0; i < N; i++)
		tare_event_free(events[i]);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void a_long_pause_begins_an_epoch_of_another_number(void **state)
{
	struct tare_event *events[2];
	struct tare_stamps stamps[2];

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	for (int i = 0; i < 2; i++) {
		must(tare_append(queue, &marker, &events[i], &error));
		must(tare_event_wait(events[i], TARE_LIMIT_DEFAULT_NS, &error));
		fake.skip_ns(9000000000);
		tare_device_pause(device, 60000000);
	}
	for (int i = 0; i < 2; i++) {
		must(tare_event_stamps(events[i], &stamps[i], &error));
		tare_event_free(events[i]);
	}
	assert_int_equal(stamps[1].epoch, stamps[0].epoch + 1);
	assert_true(stamps[1].at[TARE_STAMP_START].ticks - stamps[0].at[TARE_STAMP_START].ticks >
	            9000000000);
	tare_queue_free(queue);
}

static void the_timers_step_is_measured(void **state)
{
	static const struct {
		const char *script;
		uint64_t step;
	} rows[] = {
		{ "step=32", 32 },
		{ "step=500", 500 },
		{ "step=1000", 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_clock_rate rate;
		open_device(rows[i].script);
		must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
		assert_int_equal(rate.resolution_ticks, rows[i].step);
		assert_int_equal(rate.hz_numerator / rate.hz_denominator, 1000000000);
		assert_int_equal(rate.valid_bits, 64);
	}
}

// The fake's clock is the host's plus a constant, which every pair must allow.
static void clock_pairs_bracket_the_device(void **state)
{
	int64_t least = INT64_MIN, most = INT64_MAX;
	(void)state;
	open_device("step=1");
	for (int i = 0; i < 20; i++) {
		struct tare_clock_pair pair;
		must(tare_clock_pair(device, &pair, &error));
		assert_true(pair.before.ns <= pair.after.ns);
		int64_t low = (int64_t)pair.device.ticks - pair.after.ns;
		int64_t high = (int64_t)pair.device.ticks - pair.before.ns;
		least = low > least ? low : least;
		most = high < most ? high : most;
		tare_device_pause(device, 7000000);
	}
	assert_true(least <= most + 10);
}

static void an_untimed_queue_records_one_event_and_a_timed_one_two(void **state)
{
	(void)state;
	open_device(NULL);
	for (int timed = 0; timed < 2; timed++) {
		struct tare_queue *queue = new_queue(timed);
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		must(tare_append(queue, &marker, &event, &error)); // and with it the first epoch
		tare_event_free(event);
		int before = fake.records();
		must(tare_append(queue, &marker, NULL, &error));
		assert_int_equal(fake.records(), before);
		must(tare_append(queue, &marker, &event, &error));
		assert_int_equal(fake.records(), before + 1 + timed);
		must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_event_stamps(event, &stamps, &error), timed ? 0 : -ENODATA);
		tare_event_free(event);
		tare_queue_free(queue);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(neighbouring_stamps_stay_exact_however_late),
		rig_test(a_long_pause_begins_an_epoch_of_another_number),
		rig_test(the_timers_step_is_measured),
		rig_test(clock_pairs_bracket_the_device),
		rig_test(an_untimed_queue_records_one_event_and_a_timed_one_two),
		cmocka_unit_test(nothing_is_left_behind),
	};
	return cmocka_run_group_tests(tests, rig_setup, NULL);
}
