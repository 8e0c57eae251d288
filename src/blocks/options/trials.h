// SPDX-License-Identifier: Apache-2.0
// Build options compared: a program is run with its own and with each of several sets of options,
// in turn and again and again, recorded for its kernels' device times; and counted with each set.
#pragma once
#include "blocks/profile.h"
#include "blocks/run.h"

enum {
	TARE_BLOCKS_MOST_SETS = 17, // the program's own among them
	TARE_BLOCKS_ROUNDS = 8,
	// Fewer bound no median: all n of them do so with 1 - 2^(1 - n).
	TARE_BLOCKS_LEAST_ROUNDS = 6,
	TARE_BLOCKS_MOST_ROUNDS = 64,
};

// Whether a set's time can be told from that of the program's own options.
enum tare_blocks_told_apart {
	TARE_BLOCKS_NOT_KNOWN, // too few rounds, no times, or other launches
	TARE_BLOCKS_FASTER,
	TARE_BLOCKS_SLOWER,
	TARE_BLOCKS_ALIKE, // not told apart
};

// The median over the rounds of two times' ratio, with the least and the most of them.
struct tare_blocks_ratio {
	double value, low, high;
	bool known;
};

// A kernel with one set of options.
struct tare_blocks_cell {
	// of each round: device time a launch, in nanoseconds; 0: none was timed
	double ns[TARE_BLOCKS_MOST_ROUNDS];
	uint64_t launches; // of the first round
	bool varies;       // other rounds have other numbers of launches
	bool unchanged;    // no options built it: a binary, or a module that keeps its own
	bool of_parts;     // the latter: a Level Zero module of several
	// what the driver tells; UINT64_MAX: nothing
	uint64_t multiple, sub_group, private_bytes, local_bytes, spill_bytes;
	const struct tare_blocks_kernel *counted; // with these options; NULL: it was not
	struct tare_blocks_ratio ratio;           // to the time with the program's own options
	enum tare_blocks_told_apart told;
	bool best; // the fastest, or not told from that one
};

// Whether what the program gives differs from what it gives with its own options.
enum tare_blocks_result {
	TARE_BLOCKS_RESULT_SAME,
	TARE_BLOCKS_RESULT_DIFFERS,
	TARE_BLOCKS_RESULT_VARIES, // it differs from run to run with its own
	TARE_BLOCKS_RESULT_UNKNOWN,
};

// What a run gave, by hashes.
struct tare_blocks_given {
	uint64_t output; // standard output
	uint64_t read;   // what was read back from devices
	bool read_known; // all of that was hashed, and there was some
	int status, signal;
};

struct tare_blocks_set {
	const char *options;   // NULL: the program's own
	struct tare_error why; // it has no figures
	struct tare_blocks_place place;
	struct tare_blocks_builds builds;
	struct tare_blocks_profile profile; // with counters; of changed modules the first run's
	struct tare_blocks_given given;
	enum tare_blocks_result output, read, end;
	struct tare_blocks_cell *cells; // of each name
};

struct tare_blocks_trials {
	struct tare_blocks_set sets[TARE_BLOCKS_MOST_SETS]; // the program's own first
	uint32_t set_count, rounds;                         // rounds that were run
	char **names; // of kernels; the first, "", stands for all together
	size_t name_count;
	struct tare_blocks_place trace; // where runs are recorded
	bool stopped;                   // by a signal
};

// How the program is run, and who is told of progress.
struct tare_blocks_trying {
	const struct tare_blocks_place *place; // of its plain and its counted run
	char *const *arguments;
	const struct tare_input *input;
	const struct tare_blocks_profile *own; // counted with its own options; outlives the trials
	uint32_t rounds;
	bool sample;
	// Writes changed modules into the folder of a set, from 1 on, which is run with these
	// instead of options; 0, or a negative errno with a sentence. NULL: sets are of options.
	int (*prepare)(void *context, uint32_t set, const char *folder, struct tare_error *error);
	void (*tell)(void *context, const char *text);
	void *context;
};

// What is wrong with sets as a person wrote them. 0, or -EINVAL with a sentence.
int tare_blocks_sets_check(const char *const *sets, size_t count, struct tare_error *error);
// The pragmas of a set, behind its options; "": it has none.
const char *tare_blocks_set_pragmas(const char *set);
// Runs the program with its own options and with each of `count` other sets, up to
// TARE_BLOCKS_MOST_SETS - 1: once to warm up and to see what it gives, `rounds` times for its times
// and once with counters. 0, or a negative errno with a sentence; what is wrong with one set is in
// it. To free in either case. With changed modules `options` is NULL, and nothing is counted.
int tare_blocks_try(const struct tare_blocks_trying *trying, const char *const *options,
                    size_t count, struct tare_blocks_trials *trials, struct tare_error *error);
void tare_blocks_trials_free(struct tare_blocks_trials *trials);

// ---- between the files of this folder

// The kernel's place among the names, new where it was not there; SIZE_MAX: no memory.
size_t tare_blocks_trials_name(struct tare_blocks_trials *trials, const char *name);
// Reads what was recorded of one run of a set: times of round `round` (UINT32_MAX: none are kept),
// and what was read back. 0 or a negative errno with a sentence.
int tare_blocks_trial_read(struct tare_blocks_trials *trials, uint32_t set, uint32_t round,
                           struct tare_blocks_given *given, struct tare_error *error);
// Compares each set's times with those of the first. Ratios need TARE_BLOCKS_LEAST_ROUNDS rounds to
// be known.
void tare_blocks_trials_judge(struct tare_blocks_trials *trials);
// The ratio of two series of times, round by round; rounds without either are left out.
struct tare_blocks_ratio tare_blocks_ratio_of(const double *times, const double *others,
                                              uint32_t rounds);
// Whether the kernel was launched at all while times were taken.
bool tare_blocks_was_launched(const struct tare_blocks_trials *trials, size_t name);
// The median of a cell's times; 0: none.
double tare_blocks_cell_ns(const struct tare_blocks_cell *cell, uint32_t rounds);
