// SPDX-License-Identifier: Apache-2.0
// LAUNCHES and MORE_TIMES: read as what they are short for, and left out where they follow nothing.
#include "tests/unit/analysis/recording/trace_open.h"

#include "tests/unit/model/statistics/noise.h"

enum {
	WINDOW = 1024,
	COMMANDS = 3000,
	ALL = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED | TARE_TRACE_STAMP_START |
	      TARE_TRACE_STAMP_END,
	TRACK = 1,
};
static struct seen seen;
static union tare_trace_record expected[2 * COMMANDS];

// What is written in short.
struct row {
	struct tare_trace_writer *writer;
	union tare_trace_record pending; // not written yet; head 0: none
};

static void put(struct row *row)
{
	if (!row->pending.head)
		return;
	add(row->writer, row->pending);
	row->pending.head = 0;
}

// Adds one to the short record that is pending, or begins another. False: a window begins.
static bool put_short(struct row *row, uint8_t type, uint32_t most, const uint32_t *ticks,
                      uint32_t step)
{
	uint16_t count = tare_trace_detail(row->pending.head);
	if (tare_trace_type(row->pending.head) != type || count == most) {
		put(row);
		if (!tare_trace_writer_goes_on(row->writer, TRACK))
			return false;
		memset(&row->pending, 0, sizeof row->pending);
		count = 0;
	}
	memcpy(&row->pending.launches.ticks[count * step], ticks, step * sizeof *ticks);
	row->pending.head = tare_trace_head(type, 0, (uint16_t)(count + 1), TRACK);
	return true;
}

static void put_long(struct row *row, union tare_trace_record record)
{
	put(row);
	row->pending = record;
}

static uint32_t any_ticks(struct tare_random *random)
{
	return tare_random_below(random, 50) ? (uint32_t)tare_random_below(random, 1000)
	                                     : UINT32_MAX;
}

// Launches in rows of any length, then the times of all.
static void write_short(struct row *row, struct tare_random *random)
{
	uint64_t ticks = UINT64_C(1000000000000), stamp = 77;
	for (uint32_t i = 0; i < COMMANDS; i++) {
		uint32_t two[] = { any_ticks(random), (uint32_t)tare_random_below(random, 900) };
		bool like = i > 0 && tare_random_below(random, 9) > 0;
		union tare_trace_record *one = &expected[i];
		*one = like ? one[-1] : a_command(TRACK, 0, 0, 0);
		one->command.enter = ticks += two[0];
		one->command.call_ticks = two[1];
		one->command.number = i + 1;
		one->command.event = 0;
		ticks += two[1];
		if (like && put_short(row, TARE_TRACE_LAUNCHES, TARE_LAUNCHES_MOST, two, 2))
			continue;
		one->command.event = 0x1000 + i;
		one->command.object = tare_random_below(random, 1000);
		put_long(row, *one);
	}
	for (uint32_t i = 0; i < COMMANDS; i++) {
		uint32_t four[4];
		bool like = i > 0 && tare_random_below(random, 9) > 0;
		union tare_trace_record *one = &expected[COMMANDS + i];
		for (int k = 0; k < 4; k++)
			four[k] = any_ticks(random);
		*one = (union tare_trace_record){
			.times = { .head = tare_trace_head(TARE_TRACE_TIMES, ALL, 0, TRACK),
			           .command_track = TRACK,
			           .command_number = i + 1,
			           .observed = like ? one[-1].times.observed : ++ticks }
		};
		one->times.queued = stamp += four[0];
		one->times.submitted = one->times.queued + four[1];
		one->times.start = one->times.submitted + four[2];
		one->times.end = one->times.start + four[3];
		if (!like || !put_short(row, TARE_TRACE_MORE_TIMES, TARE_MORE_TIMES_MOST, four, 4))
			put_long(row, *one);
	}
	put(row);
}

static void short_records_are_read_as_long_ones(void **state)
{
	struct tare_random random = { 14 };
	(void)state;
	for (int turn = 0; turn < 5; turn++) {
		struct row row = { .writer = begin_trace(
			               "a", (struct tare_trace_header){ .window_bytes = WINDOW }) };
		write_short(&row, &random);
		end_trace(row.writer);
		struct tare_trace *trace = read_folder(&seen);
		assert_no_problem(trace);
		assert_true(tare_trace_file(trace, 0)->windows <
		            COMMANDS / (WINDOW / TARE_TRACE_RECORD_BYTES - 1));
		assert_int_equal(seen.count, 2 * COMMANDS);
		for (size_t i = 0; i < seen.count; i++) {
			assert_memory_equal(&seen.records[i], &expected[i],
			                    TARE_TRACE_RECORD_BYTES);
			assert_true(seen.written_ns[i] >= seen.written_ns[i - (i > 0)]);
		}
		assert_int_equal(tare_trace_file(trace, 0)->last_ns,
		                 seen.written_ns[seen.count - 1]);
		tare_trace_close(trace);
	}
}

// ---- what cannot be

static union tare_trace_record launches(uint16_t count, uint32_t track)
{
	return (union tare_trace_record){ .launches = { .head = tare_trace_head(TARE_TRACE_LAUNCHES,
		                                                                0, count, track),
		                                        .ticks = { 1, 2, 3, 4 } } };
}

static union tare_trace_record more_times(uint16_t count)
{
	return (union tare_trace_record){
		.more_times = { .head = tare_trace_head(TARE_TRACE_MORE_TIMES, 0, count, TRACK),
		                .ticks = { 1, 2, 3, 4 } }
	};
}

static union tare_trace_record command(uint8_t flags, uint64_t enter, uint32_t number)
{
	union tare_trace_record record = a_command(TRACK, enter, 9, number);
	record.command.head = tare_trace_head(TARE_TRACE_COMMAND, flags, 2, TRACK);
	return record;
}

static union tare_trace_record times(uint8_t stamps, uint64_t execution, uint64_t queued)
{
	return (union tare_trace_record){ .times = { .head = tare_trace_head(TARE_TRACE_TIMES,
		                                                             stamps, 0, TRACK),
		                                     .command_track = TRACK,
		                                     .command_number = 1,
		                                     .queued = queued,
		                                     .observed = 1000,
		                                     .execution = execution } };
}

// Writes both and checks that the second is left out, and the one after it, which would go on.
static void check_left_out(union tare_trace_record before, union tare_trace_record shorter)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .window_bytes = WINDOW });
	size_t left = before.head ? 1 : 0;
	if (left)
		add(writer, before);
	add(writer, shorter);
	shorter.head =
	    tare_trace_head(tare_trace_type(shorter.head), 0, 1, tare_trace_track(shorter.head));
	add(writer, shorter);
	end_trace(writer);
	struct tare_trace *trace = read_folder(&seen);
	assert_int_equal(seen.count, left);
	assert_int_equal(tare_trace_file(trace, 0)->damaged_windows, 1);
	assert_non_null(strstr(tare_trace_file(trace, 0)->problem, "contradicts the format"));
	tare_trace_close(trace);
}

static void what_follows_nothing_is_left_out(void **state)
{
	static const uint8_t unlike[] = { TARE_COMMAND_FAILED, TARE_COMMAND_DEPENDS,
		                          TARE_COMMAND_LONG, TARE_COMMAND_TRANSFER };
	const union tare_trace_record none = { 0 };
	(void)state;
	check_left_out(none, launches(1, TRACK));
	check_left_out(none, more_times(1));
	check_left_out(a_call(TRACK, 1, 2, 3), launches(1, TRACK));
	check_left_out(command(0, 5, 1), more_times(1));
	check_left_out(times(ALL, 0, 5), launches(1, TRACK));
	check_left_out(command(0, 5, 1), launches(1, TRACK + 1));
	for (size_t i = 0; i < sizeof unlike; i++)
		check_left_out(command(unlike[i], 5, 1), launches(1, TRACK));
	check_left_out(times(ALL & ~TARE_TRACE_STAMP_SUBMITTED, 0, 5), more_times(1));
	check_left_out(times(ALL, 3, 5), more_times(1));
	check_left_out(command(0, 5, 1), launches(0, TRACK));
	check_left_out(command(0, 5, 1), launches(TARE_LAUNCHES_MOST + 1, TRACK));
	check_left_out(times(ALL, 0, 5), more_times(TARE_MORE_TIMES_MOST + 1));
	check_left_out(command(0, 5, UINT32_MAX), launches(1, TRACK));
	check_left_out(command(0, 5, UINT32_MAX - 1), launches(2, TRACK));
	check_left_out(command(0, UINT64_MAX - 9, 1), launches(1, TRACK));
	check_left_out(times(ALL, 0, UINT64_MAX - 3), more_times(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(short_records_are_read_as_long_ones,
		                                make_trace_folder, remove_trace_folder),
		cmocka_unit_test_setup_teardown(what_follows_nothing_is_left_out, make_trace_folder,
		                                remove_trace_folder),
	};
	return cmocka_run_group_tests_name("trace_short", tests, NULL, NULL);
}
