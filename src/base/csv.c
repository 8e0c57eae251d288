// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

void tare_csv_text(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}
