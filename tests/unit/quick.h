// SPDX-License-Identifier: Apache-2.0
// Whether a test is part of the quick check (tools/check), so that it does fewer rounds.
#pragma once
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool test_is_quick(void)
{
	const char *part = getenv("TARE_TEST");

	return part && strcmp(part, "quick") == 0;
}
