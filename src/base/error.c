// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What a message quotes may be anybody's bytes: a kernel's name, a file's, what a driver says. None
// of them breaks the line or drives a terminal.
static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int tare_fail(struct tare_error *error, int code, const char *format, ...)
{
	if (error) {
		va_list arguments;
		*error = (struct tare_error){ .code = -code };
		va_start(arguments, format);
		vsnprintf(error->message, sizeof error->message, format, arguments);
		va_end(arguments);
		make_plain(error->message);
	}
	return -code;
}

int tare_advises(struct tare_error *error, int status)
{
	if (error)
		error->advises = true;
	return status;
}

int tare_fail_native(struct tare_error *error, int code, const char *api, const char *call,
                     long native, const char *native_name, const char *format, ...)
{
	if (error) {
		va_list arguments;
		size_t length;
		*error = (struct tare_error){ .code = -code, .native = native };
		snprintf(error->api, sizeof error->api, "%s", api);
		snprintf(error->call, sizeof error->call, "%s", call);
		snprintf(error->native_name, sizeof error->native_name, "%s",
		         native_name ? native_name : "");
		va_start(arguments, format);
		vsnprintf(error->message, sizeof error->message, format, arguments);
		va_end(arguments);
		length = strlen(error->message);
		snprintf(error->message + length, sizeof error->message - length, " (%s: %s %ld)",
		         call, error->native_name[0] ? error->native_name : "code", native);
		make_plain(error->message);
	}
	return -code;
}

int tare_error_prefix(struct tare_error *error, const char *format, ...)
{
	char prefix[256];
	char message[sizeof error->message];
	va_list arguments;

	if (!error)
		return -EIO;
	va_start(arguments, format);
	vsnprintf(prefix, sizeof prefix, format, arguments);
	va_end(arguments);
	memcpy(message, error->message, sizeof message);
	snprintf(error->message, sizeof error->message, "%s: %.*s", prefix,
	         (int)(sizeof message - sizeof prefix - 3), message);
	make_plain(error->message);
	return error->code;
}
