// SPDX-License-Identifier: Apache-2.0
// What is PTX, the text that NVIDIA's drivers take.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Whether a text that is PTX begins there. Of one without known length no more is read than says
// so, up to its end.
bool blocks_is_ptx(const char *text, size_t bytes);
