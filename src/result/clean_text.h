// SPDX-License-Identifier: Apache-2.0
// Texts that anybody wrote (a driver's device name, a span's name) as texts of a document.
#pragma once
#include <stddef.h>

// Room that tare_clean_text may need for a text of `length` bytes.
#define TARE_CLEAN_TEXT_ROOM(length) (3 * (length) + 1)

// Copies `text` to `clean`: bytes that are not UTF-8 and control characters become U+FFFD, line
// ends and tabs a space. Returns the length without the zero.
size_t tare_clean_text(const char *text, char *clean);
