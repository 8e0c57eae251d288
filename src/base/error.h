// SPDX-License-Identifier: Apache-2.0
// An error travels as a negative errno plus this record; only src/cli speaks.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// What went wrong, in one sentence, with the native code when a vendor's API said it.
struct tare_error {
	int code;             // negative errno, the value the failing function returned
	char api[16];         // "opencl", "cuda", "" when no vendor API is involved
	char call[48];        // the vendor function that failed or is missing, "" if none
	long native;          // the vendor's code; 0 for what is missing
	char native_name[48]; // the vendor's name of it: "CL_OUT_OF_RESOURCES"
	char message[512]; // a sentence that names the thing and the way out, without a full stop;
	                   // one line without control characters, whatever it quotes
	bool advises;      // the message says what to do: nobody adds advice of their own
};

// Fills *error (which may be NULL) and returns -code.
//   code  positive errno
// Returns the negative code, so that a caller writes `return tare_fail(e, ENOENT, "...")`.
int tare_fail(struct tare_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Marks what tare_fail has just filled in (error may be NULL) as saying what to do. Returns status:
// `return tare_advises(error, tare_fail(error, ...))`.
int tare_advises(struct tare_error *error, int status);

// Makes the caller's error (which may be NULL) that of a step whose failure was not sure to matter.
// Returns status.
static inline int tare_error_pass(struct tare_error *error, const struct tare_error *why,
                                  int status)
{
	if (error)
		*error = *why;
	return status;
}

// As tare_fail, for a vendor call that failed; the message ends with "call: NAME (code)".
int tare_fail_native(struct tare_error *error, int code, const char *api, const char *call,
                     long native, const char *native_name, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

// Puts "prefix: " before the message of an error that travels upwards. Returns error->code,
// or -EIO when error is NULL.
int tare_error_prefix(struct tare_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
