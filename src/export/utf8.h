// SPDX-License-Identifier: Apache-2.0
// Names come from drivers and programs and may be any bytes; what is exported is UTF-8.
#pragma once
#include <stddef.h>

// Bytes of the UTF-8 character at `text`, 0 when there is none (Unicode 15, table 3-7).
size_t export_utf8_length(const char *text);
// Bytes that the text takes as UTF-8, with U+FFFD for each byte that is no part of a character.
// Those bytes go to `to` unless it is NULL; no NUL is added.
size_t export_utf8_clean(const char *text, char *to);
