// SPDX-License-Identifier: Apache-2.0
// Device clocks whose truth is known: offset by hours, drifting, odd at times. Every time that is
// told must be within the residual that is told with it.
#include "clock_truth.h"

static int64_t worst_ns(const struct tare_device_clock *clock, const struct command *commands,
                        size_t n, const struct truth *truth)
{
	int64_t worst = 0;
	for (size_t i = 0; i < n; i++) {
		const int64_t at[] = { commands[i].queued, commands[i].start, commands[i].end };
		for (size_t k = 0; k < 3; k++) {
			int64_t off =
			    llabs(tare_device_clock_map(clock, shows(truth, at[k])) - at[k]);
			worst = off > worst ? off : worst;
		}
	}
	return worst;
}

static void clocks_are_mapped_within_their_residual(void **state)
{
	static const struct {
		uint64_t first;
		double fast_ppm, gap_ns, length_ns;
		int64_t step_ns;
		bool pairs;
		int64_t residual_most_ns; // a mapping that is no use is no success
	} rows[] = {
		{ UINT64_C(7200000000000), 100, 1e6, 5e4, 1, false, 1000 },
		{ UINT64_C(7200000000000), -100, 1e6, 5e4, 1, false, 1000 },
		{ UINT64_C(36000000000000), 20, 1e8, 1e6, 1, false, 2000 },
		{ 1234, -100, 1e3, 2e4, 1, false, 1000 },
		{ UINT64_MAX - 50000000, 30, 1e6, 5e4, 1, false, 1000 }, // passes through 0
		{ UINT64_C(1700000000000000000), 0, 1e5, 5e4, 1, false, 1000 },
		{ UINT64_C(7200000000000), 50, 1e5, 5e4, 1000, false, 3000 }, // steps of 1 us
		{ UINT64_C(7200000000000), 100, 1e6, 5e4, 1, true, 3000 },
		{ UINT64_C(7200000000000), -100, 1e8, 1e6, 1, true, 3000 },
		{ 5, -3, 1e5, 5e4, 80, true, 3000 },
	};
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int repeat = 0; repeat < 4; repeat++) {
			struct truth truth = { rows[i].first, rows[i].fast_ppm, rows[i].step_ns };
			static struct command commands[N];
			struct tare_device_clock *clock =
			    tare_device_clock_new(50, rows[i].step_ns);
			int64_t worst;
			assert_non_null(clock);
			make_commands(commands, N, rows[i].gap_ns, rows[i].length_ns, &random);
			for (size_t k = 0; k < N; k++) {
				struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
				int64_t at = commands[k].enter - 50;
				int64_t before = at - some(&random, 500);
				int64_t after = at + some(&random, 500);
				struct tare_reading pair = { before, after, shows(&truth, at) };
				assert_true(tare_device_clock_command(clock, &stamps));
				if (rows[i].pairs && k % 10 == 5)
					tare_device_clock_pair(clock, &pair);
			}
			assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
			assert_int_equal(clock->source,
			                 rows[i].pairs ? TARE_CLOCK_PAIRS : TARE_CLOCK_CAUSAL);
			worst = worst_ns(clock, commands, N, &truth);
			if (worst > clock->residual_ns ||
			    clock->residual_ns > rows[i].residual_most_ns)
				fail_msg("row %zu: off by %lld ns, residual %lld", i,
				         (long long)worst, (long long)clock->residual_ns);
			assert_true(fabs(clock->drift_ppm + rows[i].fast_ppm) < 50);
			free(clock);
		}
}

// PoCL stamps with the host's clock: then nothing is fitted, and the residual is the host's.
static void the_hosts_own_clock_is_known(void **state)
{
	static const struct {
		int64_t offset_ns;
		size_t commands, odd;
		int64_t early_ns, late_ns; // by which the calls are longer
		enum tare_clock_source source;
	} rows[] = {
		{ 0, 2000, 0, 0, 0, TARE_CLOCK_SAME },
		{ 0, 3, 0, 0, 0, TARE_CLOCK_SAME },
		{ 0, 2, 0, 0, 0, TARE_CLOCK_CAUSAL },
		{ 0, 2000, 20, 0, 0, TARE_CLOCK_SAME },
		{ 0, 2000, 100, 0, 0, TARE_CLOCK_CAUSAL },
		{ 249000000, 2000, 0, 0, 0, TARE_CLOCK_CAUSAL }, // CLOCK_MONOTONIC
		{ 60000, 2000, 0, 0, 0, TARE_CLOCK_CAUSAL },     // near, and still another
		{ -60000, 2000, 0, 0, 0, TARE_CLOCK_CAUSAL },
		// Possible, but so would many others be.
		{ 0, 20, 0, 1000000, 0, TARE_CLOCK_CAUSAL },
		{ 0, 20, 0, 0, 1000000, TARE_CLOCK_CAUSAL },
		{ 0, 20, 0, 50000, 50000, TARE_CLOCK_SAME },
	};
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct truth truth = { (uint64_t)(START + rows[i].offset_ns), 0, 1 };
		struct tare_device_clock *clock = tare_device_clock_new(50, 1);
		static struct command commands[N];
		size_t n = rows[i].commands;
		make_commands(commands, n, 1e5, 5e4, &random);
		for (size_t k = 0; k < n; k++) {
			struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
			stamps.enter_ns -= rows[i].early_ns;
			stamps.exit_ns += rows[i].late_ns;
			stamps.observed_ns += rows[i].late_ns;
			if (rows[i].odd && k % (n / rows[i].odd) == 1) {
				stamps.queued += 3000000;
				stamps.submitted += 3000000;
				stamps.start += 3000000;
				stamps.end += 3000000;
			}
			tare_device_clock_command(clock, &stamps);
		}
		assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
		if (clock->source != rows[i].source)
			fail_msg("row %zu: source %d", i, clock->source);
		if (rows[i].source == TARE_CLOCK_SAME) {
			assert_int_equal(clock->residual_ns, 50);
			assert_int_equal(tare_device_clock_map(clock, 12345), 12345);
		}
		free(clock);
	}
}

// A timer that can be read says more of a clock that is near the host's, or says that it is the
// host's.
static void readings_of_the_timer_tell_the_hosts_clock_from_one_near_it(void **state)
{
	static const struct {
		int64_t offset_ns, wide_ns; // of the readings' brackets
		size_t odd;
		enum tare_clock_source source;
	} rows[] = {
		{ 0, 100, 0, TARE_CLOCK_SAME },      { 0, 50000, 0, TARE_CLOCK_SAME },
		{ 0, 100, 1, TARE_CLOCK_SAME },      { 0, 100, 2, TARE_CLOCK_PAIRS }, // of sixty
		{ 8000, 100, 0, TARE_CLOCK_PAIRS }, // by the commands alone it would be the host's
		{ -8000, 100, 0, TARE_CLOCK_PAIRS }, { 249000000, 100, 0, TARE_CLOCK_PAIRS },
	};
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct truth truth = { (uint64_t)(START + rows[i].offset_ns), 0, 1 };
		struct tare_device_clock *clock = tare_device_clock_new(50, 1);
		static struct command commands[60];
		make_commands(commands, 60, 1e6, 5e4, &random);
		for (size_t k = 0; k < 60; k++) {
			struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
			int64_t at = stamps.enter_ns - 100000;
			struct tare_reading pair = { at - rows[i].wide_ns, at + rows[i].wide_ns,
				                     shows(&truth, at) };
			if (k >= 20 && k < 20 + rows[i].odd)
				pair.ticks += 10000;
			stamps.enter_ns -= 20000;
			stamps.exit_ns += 20000;
			stamps.observed_ns += 20000;
			assert_true(tare_device_clock_command(clock, &stamps));
			tare_device_clock_pair(clock, &pair);
		}
		assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
		if (clock->source != rows[i].source)
			fail_msg("row %zu: source %d", i, clock->source);
		assert_true(worst_ns(clock, commands, 60, &truth) <= clock->residual_ns);
		if (rows[i].source == TARE_CLOCK_SAME)
			assert_int_equal(clock->residual_ns, 50);
		free(clock);
	}
}

// A long run with few close readings: these are kept, and from all of it.
static void the_narrowest_readings_of_all_the_run_are_kept(void **state)
{
	struct truth truth = { UINT64_C(7200000000000), 60, 1 };
	struct tare_random random = unchosen_seed();
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	static struct command commands[N];
	size_t filled = 0;
	(void)state;
	make_commands(commands, N, 1e8, 5e4, &random);
	for (size_t k = 0; k < N; k++) {
		struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
		if (k % 40 != 20) {
			stamps.enter_ns -= 10000000;
			stamps.exit_ns += 10000000;
			stamps.observed_ns += 10000000;
		}
		assert_true(tare_device_clock_command(clock, &stamps));
	}
	for (size_t i = 0; i < TARE_CLOCK_BINS; i++) {
		const struct tare_reading_bins *bins = &clock->commands;
		int64_t from_ns = bins->from_ns + (int64_t)i * bins->bin_ns;
		if (!bins->filled[i])
			continue;
		filled++;
		assert_true(bins->narrowest[i].before_ns >= from_ns);
		assert_true(bins->narrowest[i].before_ns < from_ns + bins->bin_ns);
	}
	assert_in_range(filled, TARE_CLOCK_BINS / 2, TARE_CLOCK_BINS);
	// One of them may lie in a long pause.
	assert_true(clock->commands.filled[0]);
	assert_true(clock->commands.filled[1] || clock->commands.filled[2] ||
	            clock->commands.filled[3]);
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_true(worst_ns(clock, commands, N, &truth) <= clock->residual_ns);
	if (clock->residual_ns > 3000)
		fail_msg("residual %lld ns", (long long)clock->residual_ns);
	free(clock);
}

// Without the queued stamp the start and the end alone bound the offset, and less closely.
static void starts_and_ends_alone_bound_the_clock(void **state)
{
	struct truth truth = { 777, 40, 1 };
	struct tare_random random = unchosen_seed();
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	static struct command commands[N];
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	for (size_t k = 0; k < N; k++) {
		struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
		stamps.queued = stamps.submitted = 0;
		assert_true(tare_device_clock_command(clock, &stamps));
	}
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_CAUSAL);
	assert_true(worst_ns(clock, commands, N, &truth) <= clock->residual_ns);
	assert_true(clock->residual_ns < 20000);
	free(clock);
}

// One stamp in a hundred is wrong by much. The others are mapped as if it were not there.
static void odd_stamps_do_not_move_the_others(void **state)
{
	static const int64_t odd_ns[] = { 5000000, -5000000, 3600000000000, -600000000 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t i = 0; i < sizeof odd_ns / sizeof *odd_ns; i++) {
		struct truth truth = { UINT64_C(7200000000000), 80, 1 };
		struct tare_device_clock *clock = tare_device_clock_new(50, 1);
		static struct command commands[N];
		make_commands(commands, N, 1e6, 5e4, &random);
		for (size_t k = 0; k < N; k++) {
			struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
			if (k % 100 == 42) {
				// Its bracket is the narrowest of all near it.
				stamps.exit_ns = stamps.enter_ns + 1;
				stamps.queued += (uint64_t)odd_ns[i];
				stamps.submitted += (uint64_t)odd_ns[i];
				stamps.start += (uint64_t)odd_ns[i];
				stamps.end += (uint64_t)odd_ns[i];
			}
			tare_device_clock_command(clock, &stamps);
		}
		assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
		assert_int_equal(clock->source, TARE_CLOCK_CAUSAL);
		assert_true(worst_ns(clock, commands, N, &truth) <= clock->residual_ns);
		if (clock->residual_ns > 3000)
			fail_msg("row %zu: residual %lld ns", i, (long long)clock->residual_ns);
		free(clock);
	}
}

// Readings of a clock that the stamps do not come from are not used.
static void pairs_of_another_clock_are_not_used(void **state)
{
	struct truth truth = { UINT64_C(7200000000000), 80, 1 }, other = { 500, 0, 1 };
	struct tare_random random = unchosen_seed();
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	static struct command commands[N];
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	for (size_t k = 0; k < N; k++) {
		struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
		int64_t at = commands[k].enter - 50;
		struct tare_reading pair = { at - 10, at + 10, shows(&other, at) };
		tare_device_clock_command(clock, &stamps);
		tare_device_clock_pair(clock, &pair);
	}
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_CAUSAL);
	assert_true(worst_ns(clock, commands, N, &truth) <= clock->residual_ns);
	free(clock);
}

// Two pairs at the start of a long run: what the drift may do until its end is in the residual.
static void the_residual_reaches_beyond_the_pairs(void **state)
{
	struct tare_random random = unchosen_seed();
	(void)state;
	for (double ppm = -90; ppm < 100; ppm += 60) {
		struct truth truth = { 4242, ppm, 1 };
		struct tare_device_clock *clock = tare_device_clock_new(50, 1);
		static struct command commands[N];
		make_commands(commands, N, 1e7, 5e4, &random);
		for (size_t k = 0; k < N; k++) {
			struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
			int64_t at = commands[k].enter - 50;
			struct tare_reading pair = { at - 400, at + 400, shows(&truth, at) };
			tare_device_clock_command(clock, &stamps);
			if (k < 2)
				tare_device_clock_pair(clock, &pair);
		}
		assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
		assert_int_equal(clock->source, TARE_CLOCK_PAIRS);
		assert_true(worst_ns(clock, commands, N, &truth) <= clock->residual_ns);
		free(clock);
	}
}

// Kernels of a second on a clock that is fast: longer there than the host saw.
static void long_commands_are_longer_on_a_fast_clock(void **state)
{
	struct truth truth = { 4242, 200, 1 };
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	static struct command commands[20];
	(void)state;
	for (int64_t k = 0; k < 20; k++) {
		int64_t at = START + k * 1100000000;
		commands[k] =
		    (struct command){ at,       at + 200,        at + 1000001000, at + 300,
			              at + 400, at + 1000000400, at + 1000000900 };
		struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
		assert_true(tare_device_clock_command(clock, &stamps));
	}
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_CAUSAL);
	assert_true(worst_ns(clock, commands, 20, &truth) <= clock->residual_ns);
	free(clock);
}

// Where half of the stamps are false, nobody knows which. (A quarter may be; what is kept of each
// stretch is chance, so that a third is a quarter sometimes.)
static void too_many_odd_stamps_are_no_clock(void **state)
{
	struct truth truth = { UINT64_C(7200000000000), 80, 1 };
	struct tare_random random = unchosen_seed();
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	static struct command commands[250];
	(void)state;
	make_commands(commands, 250, 1e7, 5e4, &random);
	for (size_t k = 0; k < 250; k++) {
		struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
		if (k % 2 == 0) {
			stamps.queued += 3600000000000;
			stamps.submitted += 3600000000000;
			stamps.start += 3600000000000;
			stamps.end += 3600000000000;
		}
		tare_device_clock_command(clock, &stamps);
	}
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_NONE);
	free(clock);
}

static void the_hosts_own_error_comes_on_top(void **state)
{
	struct truth truth = { 4242, 10, 1 };
	struct tare_random random = unchosen_seed();
	static struct command commands[N];
	int64_t residual_ns[2];
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	for (size_t i = 0; i < 2; i++) {
		struct tare_device_clock *clock = tare_device_clock_new(i ? 777 : 0, 1);
		for (size_t k = 0; k < N; k++) {
			struct tare_command_stamps stamps = stamps_of(&commands[k], &truth);
			tare_device_clock_command(clock, &stamps);
		}
		assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
		residual_ns[i] = clock->residual_ns;
		free(clock);
	}
	assert_int_equal(residual_ns[1], residual_ns[0] + 777);
}

// A clock that is known to seconds is none. A pair that ends before it begins is none either.
static void what_says_nothing_is_no_clock(void **state)
{
	struct tare_device_clock *clock = tare_device_clock_new(50, 1);
	struct tare_reading backwards = { START + 1000, START, 5 };
	(void)state;
	for (int64_t k = 0; k < 5; k++) {
		struct tare_command_stamps stamps = {
			START + k, START + k + 100,      START + 5000000000,  0,
			0,         (uint64_t)(7777 + k), (uint64_t)(8888 + k)
		};
		assert_true(tare_device_clock_command(clock, &stamps));
	}
	tare_device_clock_pair(clock, &backwards);
	assert_int_equal(clock->pairs.readings, 0);
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_NONE);
	assert_true(clock->residual_ns == TARE_NO_TIME);
	free(clock);
}

static void stamps_that_cannot_be_are_refused(void **state)
{
	static const struct tare_command_stamps rows[] = {
		{ 1000, 1100, 9000, 1050, 1060, 0, 2000 },
		{ 1000, 1100, 9000, 1050, 1060, 1500, 0 },
		{ 1000, 1100, 9000, 1050, 1060, 2000, 1500 },
		// Longer than the host saw it.
		{ 1000, 1100, 9000, 1050, 1060, 2000, 80000 },
		{ 1000, 1100, 9000, 1, 2, 3, INT64_MAX },
	};
	struct tare_device_clock *clock = tare_device_clock_new(0, 0);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (tare_device_clock_command(clock, &rows[i]))
			fail_msg("row %zu", i);
	assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
	assert_int_equal(clock->source, TARE_CLOCK_NONE);
	assert_true(clock->residual_ns == TARE_NO_TIME);
	free(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_mapped_within_their_residual),
		cmocka_unit_test(the_hosts_own_clock_is_known),
		cmocka_unit_test(readings_of_the_timer_tell_the_hosts_clock_from_one_near_it),
		cmocka_unit_test(the_narrowest_readings_of_all_the_run_are_kept),
		cmocka_unit_test(starts_and_ends_alone_bound_the_clock),
		cmocka_unit_test(odd_stamps_do_not_move_the_others),
		cmocka_unit_test(pairs_of_another_clock_are_not_used),
		cmocka_unit_test(the_residual_reaches_beyond_the_pairs),
		cmocka_unit_test(long_commands_are_longer_on_a_fast_clock),
		cmocka_unit_test(too_many_odd_stamps_are_no_clock),
		cmocka_unit_test(the_hosts_own_error_comes_on_top),
		cmocka_unit_test(what_says_nothing_is_no_clock),
		cmocka_unit_test(stamps_that_cannot_be_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
