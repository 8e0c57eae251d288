// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is: one function, called by libFuzzer or by replay.c.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Returns 0 for every input; what is wrong ends the process.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// As assert, but in every build type.
#define FUZZ_CHECK(condition)                                                                 \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)
