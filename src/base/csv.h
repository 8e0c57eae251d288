// SPDX-License-Identifier: Apache-2.0
// Pieces of CSV (RFC 4180).
#pragma once
#include <stdio.h>

// A text between quotes.
void tare_csv_text(const char *text, FILE *file);
