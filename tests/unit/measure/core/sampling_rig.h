// SPDX-License-Identifier: Apache-2.0
// Things with known times, measured on a clock that moves only when told to. Include after
// cmocka.h.
#pragma once
#include "measure/core/run.h"

#include <errno.h>
#include <stdint.h>

#define MS INT64_C(1000000)
#define S (1000 * MS)

static int64_t clock_ns;

static inline struct tare_host_time now(struct tare_device *device)
{
	(void)device;
	return (struct tare_host_time){ clock_ns };
}

static inline void pause_ns(struct tare_device *device, int64_t ns)
{
	(void)device;
	clock_ns += ns;
}

static const struct tare_backend clock_backend = {
	.name = "simulated",
	.title = "Clock",
	.host_now = now,
	.host_pause = pause_ns,
};

static struct tare_device device = { .backend = &clock_backend };

static volatile sig_atomic_t interrupted;

// What a measurement of these tests does.
struct thing {
	int64_t takes_ns; // each sample
	double noise;     // relative width of a uniform noise; 0: always the same
	int64_t value;
	size_t wild_from; // a third, and from this sample on all, are 5 % more; 0: none
	bool also_noise;  // a second figure, which takes long to settle
	int begin_fails, sample_fails;
	int fruitless;       // of so many samples nothing comes
	size_t interrupt_at; // sample at which the user stops it; 0: never
	size_t calls, ends;
	struct tare_random random;
	int64_t spent_ns;
	size_t order; // in which it was measured, from 1
};

static size_t measured;

static inline int begin(struct tare_measurement *measurement, struct tare_error *error)
{
	struct thing *thing = measurement->context;
	thing->order = ++measured;
	return thing->begin_fails ? tare_fail(error, thing->begin_fails, "begin says no") : 0;
}

static inline int sample(struct tare_measurement *measurement, int64_t *values,
                         struct tare_error *error)
{
	struct thing *thing = measurement->context;
	double noise =
	    thing->noise * ((double)tare_random_below(&thing->random, 10000) / 10000 - 0.5);

	thing->calls++;
	if (thing->wild_from)
		noise = thing->calls >= thing->wild_from || thing->calls % 3 == 0 ? 0.05 : 0;
	if (thing->also_noise)
		values[1] = 50000 + (int64_t)tare_random_below(&thing->random, 50000);
	clock_ns += thing->takes_ns;
	thing->spent_ns += thing->takes_ns;
	if (thing->calls == thing->interrupt_at)
		interrupted = 1;
	if (thing->fruitless && thing->fruitless--)
		return tare_fail(error, EAGAIN, "nothing this time");
	if (thing->sample_fails)
		return tare_fail(error, thing->sample_fails, "sample says no");
	values[0] = (int64_t)((double)thing->value * (1 + noise));
	return 0;
}

static inline int end(struct tare_measurement *measurement, enum tare_verified *verified,
                      struct tare_error *error)
{
	(void)error;
	((struct thing *)measurement->context)->ends++;
	*verified = TARE_VERIFIED;
	return 0;
}

struct bench {
	struct tare_run run;
	struct tare_measurement measurements[32];
	size_t count;
};

static inline void open_bench(struct bench *bench, struct thing *things, size_t count,
                              int64_t budget_ns, uint64_t seed)
{
	*bench = (struct bench){ .count = count };
	bench->run = (struct tare_run){ .device = &device,
		                        .result = tare_result_new("test"),
		                        .budget_ns = budget_ns,
		                        .seed = seed,
		                        .interrupted = &interrupted };
	clock_ns = 12345;
	interrupted = 0;
	measured = 0;
	assert_int_equal(tare_run_begin(&bench->run, S, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		struct tare_measurement *measurement = &bench->measurements[i];
		struct tare_figure *figure =
		    tare_measurement_add(measurement, "time", "ns", "host", "how");
		things[i].random.state = 77 + i;
		assert_non_null(figure);
		assert_int_equal(tare_labels_set_number(&figure->labels, "thing", (int64_t)i), 0);
		measurement->begin = begin;
		measurement->sample = sample;
		measurement->end = end;
		measurement->context = &things[i];
	}
}

static inline int measure(struct bench *bench, struct tare_error *error)
{
	return tare_run_measure(&bench->run, bench->measurements, bench->count, error);
}

static inline void close_bench(struct bench *bench)
{
	for (size_t i = 0; i < bench->count; i++)
		tare_measurement_clear(&bench->measurements[i]);
	tare_result_free(bench->run.result);
}
