// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is: one function, called by libFuzzer or by replay.c.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Returns 0 for every input; what is wrong ends the process.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A target may change inputs in its own way, with libFuzzer's help; replay.c never calls it.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

// As assert, but in every build type.
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

// A file in memory with these bytes, for what reads from a path. The same file each time, as making
// one takes longer than reading it.
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];

	if (file < 0) {
		file = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	}
	FUZZ_CHECK(file >= 0 && ftruncate(file, (off_t)size) == 0);
	FUZZ_CHECK(pwrite(file, data, size, 0) == (ssize_t)size);
	return path;
}
