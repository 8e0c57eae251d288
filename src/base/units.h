// SPDX-License-Identifier: Apache-2.0
// Numbers as people read and write them. Sizes are binary (1 KB = 1024 B) as the field writes
// them; rates are decimal (1 GB/s = 10^9 B/s); both are said in the output.
#pragma once
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Room for any text these functions write.
#define TARE_UNIT_TEXT 32

// Parses "8K", "8 KB", "64KiB", "1G", "512" into bytes. Fractions ("1.5M") are allowed.
// Returns 0, or -EINVAL with a sentence that quotes the text.
int tare_parse_bytes(const char *text, uint64_t *bytes, struct tare_error *error);

// Parses "FROM..TO" (both as tare_parse_bytes, FROM <= TO, FROM > 0), or one size for both.
int tare_parse_byte_range(const char *text, uint64_t *from, uint64_t *to, struct tare_error *error);

// Parses a number of seconds from 0.001 to 1000000, "10" or "0.5", into nanoseconds.
int tare_parse_seconds(const char *text, int64_t *ns, struct tare_error *error);

// "8 KB", "1 MB", "1.5 GB", "12345 B": exact where it can be, else three significant digits.
const char *tare_format_bytes(uint64_t bytes, char text[TARE_UNIT_TEXT]);

// 81204 as "81,204".
const char *tare_format_grouped(uint64_t number, char text[TARE_UNIT_TEXT]);

// "22 ns", "2.85 µs", "43.9 ms", "12.4 s": three significant digits.
const char *tare_format_ns(double ns, char text[TARE_UNIT_TEXT]);

// "12 MHz", "1.98 GHz".
const char *tare_format_hz(double hz, char text[TARE_UNIT_TEXT]);
// "1.75" where `like_hz` is shown in the same unit, as in "1.75 to 1.98 GHz"; else with its unit.
const char *tare_format_hz_without(double hz, double like_hz, char text[TARE_UNIT_TEXT]);

// A number to `digits` significant digits without exponent: 2081, 55.6, 0.0041.
const char *tare_format_significant(double value, int digits, char text[TARE_UNIT_TEXT]);
