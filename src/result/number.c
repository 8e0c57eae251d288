// SPDX-License-Identifier: Apache-2.0
#include "result/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tare_number_point(char *text, const char *separator)
{
	size_t length = strlen(separator);
	char *at = length ? strstr(text, separator) : NULL;

	if (!at)
		return;
	*at = '.';
	memmove(at + 1, at + length, strlen(at + length) + 1);
}

const char *tare_number_text(double value, char text[TARE_NUMBER_TEXT])
{
	// No "-0": it would come back as the whole number 0.
	if (value == 0)
		value = 0;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, TARE_NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	tare_number_point(text, localeconv()->decimal_point);
	return text;
}
