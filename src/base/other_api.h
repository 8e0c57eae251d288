// SPDX-License-Identifier: Apache-2.0
// APIs of devices that programs use and that were not recorded, CUDA because CUPTI could not be
// used, Level Zero because no driver was there to get in front of, HIP and Vulkan because tare
// knows nothing of them: how a program shows that it uses one. OpenMP's and SYCL's runtimes are
// none: they stand on those that are recorded.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum tare_other_api {
	TARE_OTHER_CUDA,
	TARE_OTHER_LEVEL_ZERO,
	TARE_OTHER_HIP,
	TARE_OTHER_VULKAN,
	TARE_OTHER_APIS
};

struct tare_other_use {
	bool seen;
	// a process of the program had the library; else the program only names it
	bool loaded;
	char library[64]; // "libcuda.so.1"
};
struct tare_other_uses {
	struct tare_other_use of[TARE_OTHER_APIS];
};

// How a library was seen, in files.
#define TARE_OTHER_LOADED "loaded"
#define TARE_OTHER_LINKED "linked"

const char *
tare_other_name(enum tare_other_api api); // of files: "cuda", "levelzero", "hip", "vulkan"

// Notes that a library was seen, by its path or name, if it is one by which an API is used. What
// was seen to be loaded stays.
void tare_other_note(struct tare_other_uses *uses, const char *library, bool loaded);

bool tare_other_any(const struct tare_other_uses *uses);

// "the program loaded libcuda.so.1, and tare recorded no CUDA call: that takes ..."; "" when none
// was seen.
void tare_other_say(const struct tare_other_uses *uses, char *text, size_t size);
