// SPDX-License-Identifier: Apache-2.0
// Leaves a case that cannot be tried here, with the reason. cmocka's own skip() writes "not ok" in
// TAP (1.1.5), which readers count as a failure.
#pragma once
#include <stdio.h>

#define skip_because(...)                                                                          \
	do {                                                                                       \
		printf("# SKIP %s: ", __func__);                                                   \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
		return;                                                                            \
	} while (0)
