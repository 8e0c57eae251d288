// SPDX-License-Identifier: Apache-2.0
// Errors, and what an API's library is asked for.
#include "time/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tare_time_version(void)
{
	return TARE_TIME_VERSION;
}

int tare_time_fail(struct tare_time_error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (error) {
		*error = (struct tare_time_error){ .code = -code };
		va_start(arguments, format);
		vsnprintf(error->message, sizeof error->message, format, arguments);
		va_end(arguments);
	}
	return -code;
}

int tare_time_fail_native(struct tare_time_error *error, int code, const char *call, long native,
                          const char *what)
{
	int status = tare_time_fail(error, code, "%s: %s returned %ld (0x%lx)", what, call, native,
	                            (unsigned long)native & 0xffffffffUL);

	if (error) {
		error->native = native;
		snprintf(error->call, sizeof error->call, "%s", call);
	}
	return status;
}

int tare_time_absent(struct tare_time_why *why, enum tare_time_reason reason, long native,
                     const char *sentence)
{
	*why = (struct tare_time_why){ reason, native, sentence };
	return -ENODATA;
}

// A library of the process whose names the program cannot see; it is not loaded for this.
static void *loaded(const char *soname)
{
	return soname ? dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
}

// What the program itself would call comes first, with whatever stands in front of the library (a
// tool's shim, whose handles are its own).
int tare_time_find(const char *soname, const char *other, const struct tare_time_symbol *symbols,
                   size_t count, void *functions, struct tare_time_error *error)
{
	bool visible = dlsym(RTLD_DEFAULT, symbols[0].name) != NULL;
	void *library = visible ? RTLD_DEFAULT : loaded(soname);

	if (!visible && !library)
		library = loaded(other);
	if (!visible && !library)
		return tare_time_fail(
		    error, ENOENT,
		    "%s is not loaded in this program; what is timed must be of that library",
		    soname);
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(library, symbols[i].name);
		if (!found && !symbols[i].optional)
			return tare_time_fail(error, ENOSYS, "%s lacks %s", soname,
			                      symbols[i].name);
		memcpy((char *)functions + symbols[i].offset, &found, sizeof found);
	}
	// One reference stays: the functions are called until the process ends.
	return 0;
}
