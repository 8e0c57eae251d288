// SPDX-License-Identifier: Apache-2.0
#include "module/build_log.h"
#include "ze_cpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ze_module_build_log_handle_t build_log_new(void)
{
	ze_module_build_log_handle_t log = calloc(1, sizeof *log);

	if (log && !(log->text = calloc(1, 1))) {
		free(log);
		return NULL;
	}
	return log;
}

void build_log_free(ze_module_build_log_handle_t log)
{
	if (log)
		free(log->text);
	free(log);
}

void build_log_add(ze_module_build_log_handle_t log, const char *format, ...)
{
	char *line = NULL;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	while (length && line[length - 1] == '\n')
		line[--length] = '\0';
	char *text = length ? realloc(log->text, log->bytes + (size_t)length + 2) : NULL;
	if (text) {
		log->text = text;
		memcpy(text + log->bytes, line, (size_t)length);
		log->bytes += (size_t)length;
		memcpy(text + log->bytes, "\n", 2);
		log->bytes++;
	}
	free(line);
}

ze_result_t cpu_zeModuleBuildLogDestroy(ze_module_build_log_handle_t log)
{
	if (!log)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	build_log_free(log);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeModuleBuildLogGetString(ze_module_build_log_handle_t log, size_t *size,
                                          char *text)
{
	if (!log)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	size_t whole = log->bytes + 1;
	if (text && *size) {
		size_t copied = *size < whole ? *size : whole;
		memcpy(text, log->text, copied);
		text[copied - 1] = '\0';
	}
	*size = whole;
	return ZE_RESULT_SUCCESS;
}
