// SPDX-License-Identifier: Apache-2.0
// What recording adds to a program: it is run in pairs, with the recorder and without.
#pragma once
#include "record/loader/layer.h"

enum {
	TARE_COMPARE_PAIRS = 5, // at most
	TARE_COMPARE_LEAST = 2,
};
// After that no further pair is begun, if there are enough.
#define TARE_COMPARE_NS INT64_C(60000000000)

// The median over the pairs of what recording added, with the smallest and the largest; of the
// whole program, from its start to its end.
struct tare_comparison {
	uint32_t pairs;         // 0: not compared
	int64_t native_wall_ns; // without recording, the median
	int64_t wall_ns, wall_low_ns, wall_high_ns;
	// of the program and the children that it waited for
	int64_t cpu_ns, cpu_low_ns, cpu_high_ns;
};

// One run: of wall time and CPU time.
struct tare_compared_run {
	int64_t wall_ns, cpu_ns;
};

// Runs `arguments` once without measuring, then in pairs, the order changing from pair to pair: as
// tare was started (environ), and recorded into a folder in `data` that is removed again. All have
// standard output on /dev/null and standard input from where it is now: it must be a device or
// seekable. Returns 0; -ECANCELED with *signal when one that was sent ended a run; or another
// negative errno with a sentence (a run that failed or had a fault, an input that cannot be read
// twice): then nothing is compared.
int tare_compare(char *const *arguments, const char *layer, const char *data,
                 const struct tare_record_options *options, struct tare_comparison *comparison,
                 int *signal, struct tare_error *error);
