// SPDX-License-Identifier: Apache-2.0
// Device clocks whose truth is known: offset by hours, drifting, odd at times. Every time that is
// told must be within the residual that is told with it.
#include "analysis/device_clock.h"
#include "noise.h"
#include "trace_rig.h"

// At host time t the device shows `first` + (t - START) * (1 + fast_ppm / 1e6), cut to its step.
struct truth {
	uint64_t first;
	double fast_ppm;
	int64_t step_ns;
};

static uint64_t shows(const struct truth *truth, int64_t host_ns)
{
	double since = (double)(host_ns - START);
	int64_t ns = host_ns - START + (int64_t)floor(since * truth->fast_ppm / 1e6);
	uint64_t ticks = truth->first + (uint64_t)ns;
	return ticks - ticks % (uint64_t)truth->step_ns;
}

// One command of a random run: host times and the truth of what its stamps say.
struct command {
	int64_t enter, queued, exit, submitted, start, end, observed;
};

static int64_t some(struct tare_random *random, double scale_ns)
{
	return 20 - (int64_t)(scale_ns * log(uniform(random)));
}

// Commands every `gap_ns`; they last about `length_ns`, and are seen to be complete at some time
// afterwards.
static void make_commands(struct command *commands, size_t n, double gap_ns, double length_ns,
                          struct tare_random *random)
{
	int64_t at = START + 1000;
	for (size_t i = 0; i < n; i++) {
		struct command *c = &commands[i];
		c->enter = at;
		c->queued = c->enter + some(random, 300);
		c->exit = c->queued + some(random, 300);
		c->submitted = c->queued + some(random, 2000);
		c->start = c->submitted + some(random, 5000);
		c->end = c->start + some(random, length_ns);
		c->observed = (c->exit > c->end ? c->exit : c->end) + some(random, 20000);
		at = c->observed + some(random, gap_ns);
	}
}

static struct tare_stamps stamps_of(const struct command *c, const struct truth *truth)
{
	return (struct tare_stamps){ c->enter, c->exit, c->observed, shows(truth, c->queued),
		shows(truth, c->submitted), shows(truth, c->start), shows(truth, c->end) };
}

static int64_t worst_ns(const struct tare_device_clock *clock, const struct command *commands,
                        size_t n, const struct truth *truth)
{
	int64_t worst = 0;
	for (size_t i = 0; i < n; i++) {
		const int64_t at[] = { commands[i].queued, commands[i].start, commands[i].end };
		for (size_t k = 0; k < 3; k++) {
			int64_t off = llabs(tare_device_clock_map(clock, shows(truth, at[k])) - at[k]);
			worst = off > worst ? off : worst;
		}
	}
	return worst;
}

enum { N = 2000 };

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
			struct tare_device_clock *clock = tare_device_clock_new(50, rows[i].step_ns);
			int64_t worst;
			assert_non_null(clock);
			make_commands(commands, N, rows[i].gap_ns, rows[i].length_ns, &random);
			for (size_t k = 0; k < N; k++) {
				struct tare_stamps stamps = stamps_of(&commands[k], &truth);
				int64_t at = commands[k].enter - 50;
				int64_t before = at - some(&random, 500);
				int64_t after = at + some(&random, 500);
				struct tare_reading pair = { before, after, shows(&truth, at) };
				assert_true(tare_device_clock_command(clock, &stamps));
				if (rows[i].pairs && k % 10 == 5)
					tare_device_clock_pair(clock, &pair);
			}
			assert_int_equal(tare_device_clock_settle(clock, &rig_error), 0);
			assert_int_equal(clock->source, rows[i].pairs ? TARE_CLOCK_PAIRS :
			                                                TARE_CLOCK_CAUSAL);
			worst = worst_ns(clock, commands, N, &truth);
			if (worst > clock->residual_ns || clock->residual_ns > rows[i].residual_most_ns)
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
		enum tare_clock_source source;
	} rows[] = {
		{ 0, 2000, 0, TARE_CLOCK_SAME }, { 0, 3, 0, TARE_CLOCK_SAME },
		{ 0, 2, 0, TARE_CLOCK_CAUSAL },  { 0, 2000, 20, TARE_CLOCK_SAME },
		{ 0, 2000, 100, TARE_CLOCK_CAUSAL },
		{ 249000000, 2000, 0, TARE_CLOCK_CAUSAL }, // CLOCK_MONOTONIC
		{ 60000, 2000, 0, TARE_CLOCK_CAUSAL },     // near, and still another
		{ -60000, 2000, 0, TARE_CLOCK_CAUSAL },
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
			struct tare_stamps stamps = stamps_of(&commands[k], &truth);
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
		struct tare_stamps stamps = stamps_of(&commands[k], &truth);
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
			struct tare_stamps stamps = stamps_of(&commands[k], &truth);
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
		struct tare_stamps stamps = stamps_of(&commands[k], &truth);
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
			struct tare_stamps stamps = stamps_of(&commands[k], &truth);
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

static void stamps_that_cannot_be_are_refused(void **state)
{
	static const struct tare_stamps rows[] = {
		{ 1000, 1100, 9000, 1050, 1060, 0, 2000 }, { 1000, 1100, 9000, 1050, 1060, 1500, 0 },
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

// ---- through a trace

static void write_command(struct rig *rig, const struct command *c, const struct truth *truth,
                          uint64_t odd)
{
	uint32_t number = rig_command(rig, 1, c->enter, 0, (struct tare_trace_command){
		.call_ticks = (uint32_t)(c->exit - c->enter) });
	rig_times(rig, 1, number, (struct tare_trace_times){ .queued = shows(truth, c->queued) + odd,
		.submitted = shows(truth, c->submitted) + odd, .start = shows(truth, c->start) + odd,
		.end = shows(truth, c->end) + odd, .observed = (uint64_t)c->observed });
}

static void a_drifting_device_is_mapped_in_each_process(void **state)
{
	struct truth truths[] = { { 7200000000000, 100, 1 }, { 99, -100, 1 } };
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	static struct command commands[2][N];
	struct tare_recording *r;
	size_t next[2] = { 0 };
	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct tare_trace_header header = rig_header(42 + p);
		make_commands(commands[p], N, 1e6, 5e4, &random);
		rig_begin(&rig, p ? "b" : "a", &header);
		rig_usual(&rig);
		for (size_t i = 0; i < N; i++)
			write_command(&rig, &commands[p][i], &truths[p], i == 77 ? 4000000000 : 0);
		rig_end(&rig);
	}
	r = rig_load(&rig);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->command_count, 2 * N);
	for (size_t i = 0; i < 2 * N; i++) {
		const struct tare_recorded_command *c = &r->commands[i];
		uint32_t p = r->threads[c->thread].process == 0 ? 0 : 1;
		// Files may be read in any order.
		const struct command *truth = &commands[r->processes[p].pid - 42][next[p]];
		const struct tare_recorded_device *d = &r->devices[r->queues[c->queue].device];
		assert_true(c->enter_ns == truth->enter);
		assert_int_equal(d->clock_source, TARE_CLOCK_CAUSAL);
		assert_int_equal(d->contradictions, 1);
		assert_in_range(d->residual_ns, 1, 3000);
		if (next[p]++ == 77) {
			assert_true(c->start_ns == TARE_NO_TIME && c->end_ns == TARE_NO_TIME);
			assert_int_equal(c->untimed, TARE_UNTIMED_UNUSABLE);
			continue;
		}
		assert_int_equal(c->untimed, 0);
		assert_true(llabs(c->start_ns - truth->start) <= d->residual_ns);
		assert_true(llabs(c->end_ns - truth->end) <= d->residual_ns);
		assert_true(llabs(c->submitted_ns - truth->submitted) <= d->residual_ns);
		assert_true(c->end_ns >= c->start_ns);
	}
	assert_int_equal(r->devices[1].same_as, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// Stamps of no clock at all: no times, and all of it said.
static void most_contradictions_are_no_clock(void **state)
{
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static struct command commands[N];
	struct truth truth = { 5555555555, 0, 1 };
	struct tare_recording *r;
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (size_t i = 0; i < N; i++)
		write_command(&rig, &commands[i], &truth, tare_random_below(&random, 3600000000000));
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_NONE);
	assert_true(r->devices[0].residual_ns == TARE_NO_TIME);
	for (size_t i = 0; i < N; i++) {
		assert_true(r->commands[i].start_ns == TARE_NO_TIME);
		assert_true(r->commands[i].end_ns == TARE_NO_TIME);
		assert_true(r->commands[i].submitted_ns == TARE_NO_TIME);
		assert_int_equal(r->commands[i].untimed, TARE_UNTIMED_UNUSABLE);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

static void pairs_in_the_trace_are_used(void **state)
{
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static struct command commands[N];
	struct truth truth = { 7200000000000, 100, 1 };
	struct tare_recording *r;
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (size_t i = 0; i < N; i++) {
		int64_t at = commands[i].enter - 100;
		if (i % 50 == 0)
			rig_add(&rig, (union tare_trace_record){ .clock_pair = {
				.head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
				                        TARE_CLOCK_DEVICE, 1),
				.before = (uint64_t)at - 300, .value = shows(&truth, at),
				.after = (uint64_t)at + 90, .device = DEVICE } });
		write_command(&rig, &commands[i], &truth, 0);
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_PAIRS);
	assert_int_equal(r->devices[0].clock_pairs, N / 50);
	for (size_t i = 0; i < N; i++)
		assert_true(llabs(r->commands[i].start_ns - commands[i].start) <=
		            r->devices[0].residual_ns);
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_mapped_within_their_residual),
		cmocka_unit_test(the_hosts_own_clock_is_known),
		cmocka_unit_test(starts_and_ends_alone_bound_the_clock),
		cmocka_unit_test(odd_stamps_do_not_move_the_others),
		cmocka_unit_test(pairs_of_another_clock_are_not_used),
		cmocka_unit_test(the_residual_reaches_beyond_the_pairs),
		cmocka_unit_test(stamps_that_cannot_be_are_refused),
		cmocka_unit_test(a_drifting_device_is_mapped_in_each_process),
		cmocka_unit_test(most_contradictions_are_no_clock),
		cmocka_unit_test(pairs_in_the_trace_are_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
