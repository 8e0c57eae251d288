// SPDX-License-Identifier: Apache-2.0
// What hotspots says where there are no counters: instructions, counted as by tare blocks.
#pragma once
#include "analysis/hotspots/instructions.h"
#include "record/child.h"

struct tare_hotspot_instructions {
	struct tare_child_end end;    // of the counted run
	int64_t plain_ns, counted_ns; // wall time of the two further runs; 0: it did not run
	bool ended; // a signal ended the first of them, or no kernel could be counted: nothing was
};

// Runs the program twice more, without its standard output, and takes what was counted into
// `collection`. Standard input must be where the program is to find it. Returns 0, or a negative
// errno with a sentence: nothing was counted.
int tare_hotspot_instructions_count(char *const *program, const char *pattern,
                                    struct tare_collection *collection,
                                    struct tare_hotspot_instructions *result,
                                    struct tare_error *error);
