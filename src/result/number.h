// SPDX-License-Identifier: Apache-2.0
// Numbers for files that programs read: JSON and CSV.
#pragma once

// Room for any double.
#define TARE_NUMBER_TEXT 32

// A finite number with as many digits as it takes to read the same value back, and a point for
// the decimals whatever the locale. Returns text.
const char *tare_number_text(double value, char text[TARE_NUMBER_TEXT]);

// Puts a point in the place of the locale's `separator`, which may be several bytes.
void tare_number_point(char *text, const char *separator);
