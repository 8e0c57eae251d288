// SPDX-License-Identifier: Apache-2.0
// How the document's lists grow. Internal to src/result.
#pragma once
#include <stddef.h>

// Makes room for one more element of `size` bytes behind the `count` that there are, and zeroes
// it. Room doubles when count is a power of two, so no capacity has to be kept.
// Returns the array, which may have moved, or NULL with the old one untouched.
void *tare_grow(void *array, size_t count, size_t size);
