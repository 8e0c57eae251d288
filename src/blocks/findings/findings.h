// SPDX-License-Identifier: Apache-2.0
// What to change in a kernel, by what its blocks executed. Shares are of the kernel's instructions
// (or of its lines of memory), never of its time, which a device without counters does not tell.
#pragma once
#include "blocks/lanes.h"

enum tare_blocks_advice {
	TARE_BLOCKS_DIVERGENT, // neighbours take different ways
	TARE_BLOCKS_SCATTERED, // neighbours touch more lines of memory than their bytes take
	TARE_BLOCKS_DOUBLES,   // arithmetic in doubles between floats, by a constant
	TARE_BLOCKS_DIVISIONS, // integer divisions in loops
	TARE_BLOCKS_FUNCTIONS, // special functions that have a faster form
	TARE_BLOCKS_BARRIERS,  // work-items wait for their group often
	TARE_BLOCKS_UNUSED,    // work-groups leave lanes of the device empty
	// registers do not hold what the kernel keeps: of a device that it is compiled for, so that
	// tare_blocks_find never raises it
	TARE_BLOCKS_SPILLS,
	TARE_BLOCKS_ADVICE,
};

// A row of the table by which findings are raised, named and explained.
struct tare_blocks_rule {
	const char *id;   // "divergent-branch"
	const char *what; // clause: what the kernel does
	const char *advice;
	const char *of;    // what the share is of
	double least;      // share from which it is raised
	bool most_known;   // the share is the most that a change can save
	const char *saves; // sentence: what a change can save
};
extern const struct tare_blocks_rule tare_blocks_rules[TARE_BLOCKS_ADVICE];

enum { TARE_BLOCKS_PLACES = 3, TARE_BLOCKS_LINES_KEPT = 32 };

// A line that takes part in a finding.
struct tare_blocks_place_of {
	uint32_t file, line;
	uint64_t cost; // executions, or what is lost there
};

struct tare_blocks_finding {
	enum tare_blocks_advice advice;
	double share;        // of what the rule says
	uint64_t executions; // instructions, or lanes, or lines, that make it up; those of the
	                     // sample for the first two
	struct tare_blocks_place_of places[TARE_BLOCKS_LINES_KEPT]; // the costliest first
	uint32_t place_count; // those that are worth naming, at most TARE_BLOCKS_PLACES
};

struct tare_blocks_findings {
	struct tare_blocks_finding at[TARE_BLOCKS_ADVICE];
	uint32_t count;
};

// Looks at a kernel that was counted: its findings, first those whose share is the most times that
// from which they are raised. 0, or -ENOMEM.
int tare_blocks_find(const struct tare_blocks_kernel *kernel,
                     const struct tare_blocks_sampled *sampled,
                     struct tare_blocks_findings *findings);

// An instruction that takes part in DOUBLES, DIVISIONS or FUNCTIONS.
struct tare_blocks_seen {
	size_t at; // its word in the module
	uint32_t file, line;
	uint64_t executions; // that it adds to the finding; one may be seen several times
};
struct tare_blocks_seeing {
	void (*see)(void *context, enum tare_blocks_advice advice,
	            const struct tare_blocks_seen *seen);
	void *context;
};
// Shows each of them, of a kernel that was counted. 0, or -ENOMEM.
int tare_blocks_see_arithmetic(const struct tare_blocks_kernel *kernel,
                               const struct tare_blocks_seeing *seeing);

// Adds to a line's cost. Private to this folder, as is what follows.
void tare_blocks_place_add(struct tare_blocks_finding *finding, uint32_t file, uint32_t line,
                           uint64_t cost);
// Looks for DOUBLES, DIVISIONS and FUNCTIONS (arithmetic.c). 0, or -ENOMEM.
int tare_blocks_find_arithmetic(const struct tare_blocks_kernel *kernel,
                                struct tare_blocks_finding found[TARE_BLOCKS_ADVICE]);
