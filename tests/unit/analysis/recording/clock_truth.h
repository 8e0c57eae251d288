// SPDX-License-Identifier: Apache-2.0
// Device clocks and commands whose truth is known, for the tests of mapping.
#pragma once
#include "analysis/recording/device_clock.h"
#include "tests/unit/model/statistics/noise.h"
#include "tests/unit/trace/trace_rig.h"

enum { N = 2000 }; // commands of most runs

// At host time t the device shows `first` + (t - START) * (1 + fast_ppm / 1e6), cut to its step.
struct truth {
	uint64_t first;
	double fast_ppm;
	int64_t step_ns;
};

static inline uint64_t shows(const struct truth *truth, int64_t host_ns)
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

static inline int64_t some(struct tare_random *random, double scale_ns)
{
	return 20 - (int64_t)(scale_ns * log(uniform(random)));
}

// Commands every `gap_ns`; they last about `length_ns`, and are seen to be complete at some time
// afterwards.
static inline void make_commands(struct command *commands, size_t n, double gap_ns,
                                 double length_ns, struct tare_random *random)
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

static inline struct tare_command_stamps stamps_of(const struct command *c,
                                                   const struct truth *truth)
{
	return (struct tare_command_stamps){ c->enter,
		                             c->exit,
		                             c->observed,
		                             shows(truth, c->queued),
		                             shows(truth, c->submitted),
		                             shows(truth, c->start),
		                             shows(truth, c->end) };
}
