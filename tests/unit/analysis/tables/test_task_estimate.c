// SPDX-License-Identifier: Apache-2.0
// What commands took of which a sample has times, against what they did take: durations that change
// in all the ways in which they may, drawn from as the recorder draws (src/guest/opencl/sample.c).
#include "analysis/tables/internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/quick.h"

enum { COMMANDS = 60000, SEEDS = 200, FIRST_EPOCH = 256, LONGEST_EPOCH = 16384, FIRST = 32 };
#define PI 3.14159265358979323846

static uint64_t random_state;

// In [0, 1).
static double uniform(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (double)(random_state * UINT64_C(0x2545f4914f6cdd1d) >> 11) / 9007199254740992.0;
}

// ---- durations of command `i`, ns

static double steady(int i)
{
	(void)i;
	return 1000 * (0.9 + 0.2 * uniform());
}
static double warming_up(int i)
{
	return steady(i) * (1 + 3 * exp(-i / 4000.0));
}
static double drifting(int i)
{
	return steady(i) * (1 + 2.0 * i / COMMANDS);
}
// As after each hundredth a wait: the first of a hundred is slow.
static double periodic(int i)
{
	return steady(i) * (i % 100 < 3 ? 8 : 1);
}
static double in_phases(int i)
{
	return steady(i) * (i / 7000 % 2 ? 5 : 1);
}
static double in_waves(int i)
{
	return steady(i) * (1.5 + sin(2 * PI * i / 2500));
}
// Of 32 sizes, the larger the rarer.
static double by_size(int i)
{
	(void)i;
	return 300 / (0.03 + uniform());
}
static double now_and_then_long(int i)
{
	return steady(i) * (uniform() < 0.01 ? 30 : 1);
}

// ---- the sampler

struct sampler {
	int left, epoch, seen, timed;
	double chance, passed, spent, start, event;
	bool on;
};

// One in a 64th of the time, from what the last commands took; as choose_chance.
static void choose(struct sampler *sampler, double now, int count, int next)
{
	double taken = sampler->event * sampler->timed, own = now - sampler->passed - taken;
	own = fmax(own, (now - sampler->passed) / 10);
	sampler->spent += taken;
	double rate = own / count / sampler->event / 64;
	double chance =
	    rate + ((now - sampler->start) / 64 - sampler->spent) / sampler->event / next;
	sampler->chance = fmin(1, fmax(fmax(chance, rate / 2), 1.0 / 1024));
	sampler->passed = now;
	sampler->timed = 0;
}

static bool draw(struct sampler *sampler, int i, double now)
{
	if (!sampler->on) {
		sampler->on = i >= 512 && i * sampler->event * 20 > now;
		sampler->timed = 64;
		sampler->epoch = sampler->left = FIRST_EPOCH;
		if (sampler->on)
			choose(sampler, now, 64, FIRST_EPOCH);
		return true;
	}
	if (--sampler->left == 0) {
		int count = sampler->epoch;
		sampler->epoch =
		    sampler->epoch < LONGEST_EPOCH ? 2 * sampler->epoch : LONGEST_EPOCH;
		sampler->left = sampler->epoch;
		choose(sampler, now, count, sampler->epoch);
	}
	bool timed = sampler->seen++ < FIRST || uniform() < sampler->chance;
	sampler->timed += timed;
	return timed;
}

// One run; device-bound: it takes what the commands take. Adds up how far the estimate is off, and
// whether its interval has the truth.
static void run(double (*duration)(int), bool device_bound, uint64_t seed, double *off, int *within)
{
	struct tables_estimate estimate = { 0 };
	struct sampler sampler = { .event = 300 };
	int64_t total_ns = 0;
	double truth_ns = 0, now = 0;
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (int i = 0; i < COMMANDS; i++) {
		int64_t ns = llround(duration(i));
		truth_ns += (double)ns;
		now += device_bound ? (double)ns : 700;
		if (draw(&sampler, i, now)) {
			tables_estimate_timed(&estimate, ns);
			total_ns += ns;
			now += sampler.event;
		} else {
			tables_estimate_unsampled(&estimate);
		}
	}
	tables_estimate_end(&estimate);
	struct tare_estimate told = tables_estimate_tell(&estimate, total_ns);
	assert_true(told.unsampled > COMMANDS / 2);
	*off += told.ns / truth_ns - 1;
	*within += told.low_ns <= truth_ns && truth_ns <= told.high_ns;
}

static void the_truth_lies_within(void **state)
{
	static const struct {
		const char *name;
		double (*duration)(int);
	} rows[] = {
		{ "steady", steady },     { "warming up", warming_up },  { "drifting", drifting },
		{ "periodic", periodic }, { "phases", in_phases },       { "waves", in_waves },
		{ "sizes", by_size },     { "long", now_and_then_long },
	};
	(void)state;
	int seeds = test_is_quick() ? SEEDS / 2 : SEEDS;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		for (int bound = 0; bound < 2; bound++) {
			double off = 0;
			int within = 0;
			for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++)
				run(rows[row].duration, bound, seed, &off, &within);
			// 95 of 100 intervals; the numbers are always the same ones.
			if (within < 0.9 * seeds || fabs(off) / seeds > 0.005)
				fail_msg("%s, bound by the %s: off by %+.2f %% in the mean, %d of "
				         "%d within",
				         rows[row].name, bound ? "device" : "host",
				         100 * off / seeds, within, seeds);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_truth_lies_within) };
	return cmocka_run_group_tests_name("task_estimate", tests, NULL, NULL);
}
