// SPDX-License-Identifier: Apache-2.0
// In which order the events of several threads come, and at which times.
#include "tests/unit/analysis/recording/trace_open.h"

#include "tests/unit/model/statistics/noise.h"

enum { WINDOW = 1024, RECORDS = WINDOW / TARE_TRACE_RECORD_BYTES };
static struct seen seen;

struct expected {
	union tare_trace_record record;
	uint64_t key;
	uint32_t chain;
	size_t position;
};

static int compare_expected(const void *a, const void *b)
{
	const struct expected *x = a;
	const struct expected *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->chain != y->chain)
		return x->chain < y->chain ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

// Many threads, each mostly in the order of time; the truth is a sort of all by the largest time
// that a thread has come to.
static void check_merge(uint32_t tracks, size_t events, uint32_t window_bytes,
                        struct tare_random *random)
{
	struct expected *expected = calloc(events, sizeof *expected);
	struct {
		uint64_t key, ticks;
		uint32_t chain;
	} *threads = calloc(tracks, sizeof *threads);
	struct tare_trace_writer *writer = begin_trace(
	    "a", (struct tare_trace_header){ .start_raw_ns = 100, .window_bytes = window_bytes });
	const uint64_t began = UINT64_C(1000000000000000); // days after the machine was started
	uint32_t chains = 0;
	struct tare_trace *trace;

	for (size_t i = 0; i < events; i++) {
		uint32_t t = (uint32_t)tare_random_below(random, tracks);
		uint64_t back = tare_random_below(random, 10) ? 0 : tare_random_below(random, 30);
		uint64_t exit = threads[t].ticks += tare_random_below(random, 40);
		exit = began + exit - (back < exit ? back : exit);
		if (!threads[t].key)
			threads[t].chain = chains++;
		if (exit > threads[t].key)
			threads[t].key = exit;
		expected[i] = (struct expected){ a_call(t, exit - 5, exit, i), threads[t].key,
			                         threads[t].chain, i };
		add(writer, expected[i].record);
	}
	end_trace(writer);
	qsort(expected, events, sizeof *expected, compare_expected);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, events);
	for (size_t i = 0; i < events; i++) {
		assert_memory_equal(&seen.records[i], &expected[i].record, TARE_TRACE_RECORD_BYTES);
		assert_int_equal(seen.written_ns[i], expected[i].key);
	}
	tare_trace_close(trace);
	free(expected);
	free(threads);
}

static void tracks_are_merged_by_the_time_of_writing(void **state)
{
	static const struct {
		uint32_t tracks;
		size_t events;
		uint32_t window_bytes;
	} rows[] = {
		{ 1, 5000, WINDOW },    { 2, 3000, WINDOW },  { 3, 3000, 0 },
		{ 7, 9000, 64 * 1024 }, { 100, 20000, 4096 }, { 3000, 30000, WINDOW },
	};
	struct tare_random random = unchosen_seed();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_merge(rows[i].tracks, rows[i].events, rows[i].window_bytes, &random);
}

static void what_has_no_time_of_its_own_follows_the_record_before(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .start_raw_ns = 7 });
	union tare_trace_record depends = {
		.depends = { .head = tare_trace_head(TARE_TRACE_DEPENDS, 0, 1, 1), .of = 1 }
	};
	struct tare_trace *trace;

	(void)state;
	depends.words[5] = 2; // where a call has its bytes
	add(writer, a_call(2, 90, 105, 4));
	add(writer, a_call(3, 1, 2, 2)); // before recording began
	add(writer, depends);
	add(writer, a_command(1, 100, 3, 3));
	add(writer, depends);
	end_trace(writer);
	trace = read_folder(&seen);
	assert_int_equal(seen.count, 5);
	assert_int_equal(seen.written_ns[0], 7); // nothing had a time yet
	assert_int_equal(tare_trace_type(seen.records[0].head), TARE_TRACE_DEPENDS);
	assert_int_equal(seen.written_ns[1], 7);
	assert_int_equal(seen.written_ns[2], 103);
	assert_int_equal(tare_trace_type(seen.records[3].head), TARE_TRACE_DEPENDS);
	assert_int_equal(seen.written_ns[3], 103);
	assert_int_equal(seen.written_ns[4], 105);
	tare_trace_close(trace);
}

static void a_time_far_ahead_of_both_neighbours_is_not_believed(void **state)
{
	const uint64_t day = UINT64_C(86400000000000);
	// A buffer holds 1024 records: the row's second number is what stands before the false one.
	static const struct {
		uint32_t window_bytes;
		uint64_t before;
		bool last;
	} rows[] = {
		{ 0, 0, false },    { 0, 3, false }, { 0, 1022, false },
		{ 0, 1023, false }, { 0, 3, true },  { WINDOW, RECORDS - 3, false },
	};

	(void)state;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		struct tare_trace_writer *writer = begin_trace(
		    "a", (struct tare_trace_header){ .start_raw_ns = (int64_t)day,
		                                     .end_ticks = day + 100000,
		                                     .alive_ticks = day,
		                                     .window_bytes = rows[row].window_bytes });
		struct tare_trace *trace;
		for (uint64_t i = 0; i < rows[row].before; i++)
			add(writer, a_call(1, day + i, day + i, i));
		add(writer, a_call(1, day, 9 * day, 5000));
		for (uint64_t i = rows[row].before; i < 2000 && !rows[row].last; i++)
			add(writer, a_call(1, day + i, day + i, i));
		add(writer, a_call(2, day + 50000, day + 50000, 6000));
		end_trace(writer);
		trace = read_folder(&seen);
		assert_int_equal(seen.records[seen.count - 1].call.bytes, 6000);
		for (size_t i = 0; i < seen.count; i++)
			assert_true(seen.written_ns[i] <= (int64_t)day + 50000);
		assert_int_equal(tare_trace_file(trace, 0)->last_ns, day + 100000);
		tare_trace_close(trace);
	}
}

// A call that took hours is no error.
static void a_long_silence_is_believed(void **state)
{
	const uint64_t hours = UINT64_C(20000000000000);
	static const uint64_t before[] = { 0, 1, 1022, 1023, 1024 };

	(void)state;
	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		for (int follower = 0; follower < 3; follower++) {
			struct tare_trace_writer *writer =
			    begin_trace("a", (struct tare_trace_header){ 0 });
			union tare_trace_record next =
			    follower ? a_call(1, hours + 5, hours + 9, 7)
			             : (union tare_trace_record){
				               .depends = { .head = tare_trace_head(
				                                TARE_TRACE_DEPENDS, 0, 1, 1) }
			               };
			struct tare_trace *trace;
			for (uint64_t j = 0; j < before[i]; j++)
				add(writer, a_call(1, j, j, j));
			add(writer, a_call(1, 1, hours, 0));
			if (follower < 2)
				add(writer, next);
			end_trace(writer);
			trace = read_folder(&seen);
			assert_no_problem(trace);
			assert_int_equal(seen.written_ns[before[i]], hours);
			tare_trace_close(trace);
		}
}

// ---- times

static void the_last_time_is_the_latest_that_is_known(void **state)
{
	static const struct {
		uint64_t end, alive, record, last;
	} rows[] = {
		{ 0, 50, 90, 90 },  { 0, 90, 50, 90 }, { 90, 50, 60, 90 },
		{ 60, 50, 90, 90 }, { 50, 50, 0, 50 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_trace_writer *writer = begin_trace(
		    "a", (struct tare_trace_header){ .start_raw_ns = 10,
		                                     .state = rows[i].end ? TARE_TRACE_ENDED
		                                                          : TARE_TRACE_RECORDING,
		                                     .end_ticks = rows[i].end,
		                                     .alive_ticks = rows[i].alive });
		struct tare_trace *trace;
		if (rows[i].record) {
			add(writer, a_call(1, 20, rows[i].record, 0));
			add(writer, a_call(1, 20, 20, 0)); // back in time
		}
		end_trace(writer);
		trace = must_open(trace_folder);
		assert_no_problem(trace);
		assert_int_equal(tare_trace_file(trace, 0)->first_ns, 10);
		assert_int_equal(tare_trace_file(trace, 0)->last_ns, rows[i].last);
		assert_int_equal(tare_trace_file(trace, 0)->residual_ns, 0);
		tare_trace_close(trace);
	}
}

// Ticks of 2 GHz; every other pair is wide, and there are more than are kept.
static void ticks_become_nanoseconds_by_the_narrowest_pairs(void **state)
{
	struct tare_trace_writer *writer =
	    begin_trace("a", (struct tare_trace_header){ .host_clock = TARE_TRACE_CLOCK_TSC,
	                                                 .host_hz = 2000010000,
	                                                 .start_ticks = 5000,
	                                                 .start_raw_ns = 100000 });
	struct tare_trace *trace;

	(void)state;
	for (uint64_t i = 0; i < 40000; i++) {
		uint64_t half = i % 2 ? 5 : 50000, ticks = 1000000 * (i + 1);
		add(writer, host_pair(ticks - half, ticks + half, 100000 + (ticks - 5000) / 2));
	}
	add(writer, a_call(1, 2005000, 3005000, 0));
	end_trace(writer);
	trace = read_folder(&seen);
	assert_no_problem(trace);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.written_ns[0], 1600000);
	assert_int_equal(tare_trace_ns(trace, 0, 5000), 100000);
	assert_int_equal(tare_trace_ns(trace, 0, 5003), 100002);
	assert_int_equal(tare_trace_ns(trace, 1, 5003), 0);
	assert_in_range(tare_trace_file(trace, 0)->residual_ns, 3, 20);
	tare_trace_close(trace);
}

static void a_clock_that_tells_little_is_said_to(void **state)
{
	static const struct {
		uint64_t hz;
		size_t pairs, wrong;
		const char *says;
	} rows[] = {
		{ 0, 0, 9, "does not tell how fast its clock ticks" },
		{ 1000, 0, 9, NULL },
		{ 0, 8, 9, NULL },
		{ 0, 8, 4, "has 1 clock readings that contradict the others" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_trace_writer *writer =
		    begin_trace("a", (struct tare_trace_header){ .host_clock = TARE_TRACE_CLOCK_TSC,
		                                                 .host_hz = rows[i].hz });
		struct tare_trace *trace;
		const char *problem;
		for (uint64_t j = 1; j <= rows[i].pairs; j++)
			add(writer, host_pair(1000 * j, 1000 * j + 1,
			                      j == rows[i].wrong ? 1 : UINT64_C(1000000000) * j));
		add(writer, a_call(1, 10, 10000, 0));
		end_trace(writer);
		trace = must_open(trace_folder);
		problem = tare_trace_file(trace, 0)->problem;
		assert_int_equal(!problem, !rows[i].says);
		assert_true(!problem || strstr(problem, rows[i].says));
		tare_trace_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(tracks_are_merged_by_the_time_of_writing),
		IN_FOLDER(what_has_no_time_of_its_own_follows_the_record_before),
		IN_FOLDER(a_time_far_ahead_of_both_neighbours_is_not_believed),
		IN_FOLDER(a_long_silence_is_believed),
		IN_FOLDER(the_last_time_is_the_latest_that_is_known),
		IN_FOLDER(ticks_become_nanoseconds_by_the_narrowest_pairs),
		IN_FOLDER(a_clock_that_tells_little_is_said_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
