// SPDX-License-Identifier: Apache-2.0
#include "report/run/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void problem_add(struct problem_finder *finder, const char *id, bool figures, const char *format,
                 ...)
{
	struct tare_report_problems *problems = finder->problems;
	struct tare_report_problem *grown;
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	grown = length < 0 ? NULL : reallocarray(problems->at, problems->count + 1, sizeof *grown);
	if (!grown) {
		if (length >= 0)
			free(text);
		finder->failed = true;
		return;
	}
	problems->at = grown;
	grown[problems->count++] =
	    (struct tare_report_problem){ .id = id, .figures = figures, .text = text };
}
