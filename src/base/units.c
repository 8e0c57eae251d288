// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

// Reads an optional unit K, M, G or T with an optional "B" or "iB". Returns the shift or -1.
static int parse_unit(const char **text)
{
	static const char letters[] = "KMGT";
	const char *at = skip_space(*text);
	const char *letter = *at ? strchr(letters, toupper((unsigned char)*at)) : NULL;
	int shift = 0;

	if (letter) {
		shift = 10 * (int)(letter - letters + 1);
		at++;
		if ((at[0] == 'i' || at[0] == 'I') && toupper((unsigned char)at[1]) == 'B')
			at++;
	}
	if (toupper((unsigned char)*at) == 'B')
		at++;
	*text = at;
	return shift;
}

static int parse_size(const char **text, uint64_t *bytes)
{
	char *end = NULL;
	const char *at = skip_space(*text);
	double value;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	// strtod also reads "0x10" and exponents; a size is digits with at most one point.
	size_t digits = strspn(at, "0123456789.");
	char number[40];
	if (digits >= sizeof number)
		return -EINVAL;
	// "8..64": the range's dots do not belong to the number.
	for (size_t i = 0; i + 1 < digits; i++)
		if (at[i] == '.' && at[i + 1] == '.') {
			digits = i;
			break;
		}
	memcpy(number, at, digits);
	number[digits] = '\0';
	value = strtod(number, &end);
	if (*end)
		return -EINVAL;
	at += digits;
	value = ldexp(value, parse_unit(&at));
	if (!(value < 0x1p63))
		return -ERANGE;
	*bytes = (uint64_t)value;
	*text = at;
	return 0;
}

int tare_parse_bytes(const char *text, uint64_t *bytes, struct tare_error *error)
{
	const char *at = text;
	uint64_t value = 0;

	if (parse_size(&at, &value) < 0 || *skip_space(at))
		return tare_fail(error, EINVAL,
		                 "'%.80s' is not a size; write bytes with K, M or G, such as 64K",
		                 text);
	*bytes = value;
	return 0;
}

int tare_parse_byte_range(const char *text, uint64_t *from, uint64_t *to, struct tare_error *error)
{
	const char *at = text;
	uint64_t low = 0, high = 0;
	int status = parse_size(&at, &low);

	at = skip_space(at);
	high = low;
	if (status == 0 && strncmp(at, "..", 2) == 0) {
		at += 2;
		status = parse_size(&at, &high);
		at = skip_space(at);
	}
	if (status < 0 || *at)
		return tare_fail(error, EINVAL,
		                 "'%.80s' is not a range of sizes; write FROM..TO, such as 8K..1G",
		                 text);
	if (low == 0 || low > high)
		return tare_fail(
		    error, EINVAL,
		    "'%.80s' is an empty range; FROM must be at least 1 and not above TO", text);
	*from = low;
	*to = high;
	return 0;
}

int tare_parse_seconds(const char *text, int64_t *ns, struct tare_error *error)
{
	char *end = NULL;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 1e-3) || !(seconds <= 1e6))
		return tare_fail(error, EINVAL,
		                 "'%.80s' is not a number of seconds from 0.001 to 1000000", text);
	*ns = (int64_t)(seconds * 1e9);
	return 0;
}

const char *tare_format_significant(double value, int digits, char text[TARE_UNIT_TEXT])
{
	if (!isfinite(value)) {
		snprintf(text, TARE_UNIT_TEXT, "n/a");
		return text;
	}
	double magnitude = fabs(value);
	int before = magnitude > 0 ? (int)floor(log10(magnitude)) + 1 : 1;
	// 9.996 to three digits is 10.0, which has one digit more before the point.
	if (magnitude > 0) {
		double step = pow(10, before - digits);
		if (round(magnitude / step) * step >= pow(10, before))
			before++;
	}
	int decimals = digits - before;
	snprintf(text, TARE_UNIT_TEXT, "%.*f",
	         decimals < 0    ? 0
	         : decimals > 12 ? 12
	                         : decimals,
	         value);
	return text;
}

const char *tare_format_bytes(uint64_t bytes, char text[TARE_UNIT_TEXT])
{
	static const char *const names[] = { "B", "KB", "MB", "GB", "TB" };
	int unit = 0;
	uint64_t whole = bytes;

	while (unit < 4 && whole >= 1024 && whole % 1024 == 0) {
		whole /= 1024;
		unit++;
	}
	if (whole < 10240 || unit == 4) {
		snprintf(text, TARE_UNIT_TEXT, "%llu %s", (unsigned long long)whole, names[unit]);
		return text;
	}
	double value = (double)whole;
	while (unit < 4 && value >= 1024) {
		value /= 1024;
		unit++;
	}
	char number[TARE_UNIT_TEXT];
	snprintf(text, TARE_UNIT_TEXT, "%.20s %s", tare_format_significant(value, 3, number),
	         names[unit]);
	return text;
}

// Which of the units a value is shown in; *value is then in it.
static int scale(double *value, int count)
{
	int unit = 0;

	while (unit < count - 1 && fabs(*value) >= 999.5) {
		*value /= 1000;
		unit++;
	}
	return unit;
}

static const char *format_scaled(double value, const char *const *names, int count, char *text)
{
	int unit;
	char number[TARE_UNIT_TEXT];

	if (!isfinite(value)) {
		snprintf(text, TARE_UNIT_TEXT, "n/a");
		return text;
	}
	unit = scale(&value, count);
	snprintf(text, TARE_UNIT_TEXT, "%.20s %s", tare_format_significant(value, 3, number),
	         names[unit]);
	return text;
}

const char *tare_format_ns(double ns, char text[TARE_UNIT_TEXT])
{
	static const char *const names[] = { "ns", "µs", "ms", "s" };

	if (ns == 0) {
		snprintf(text, TARE_UNIT_TEXT, "0 s"); // "0.00 ns" would claim digits
		return text;
	}
	return format_scaled(ns, names, 4, text);
}

static const char *const hz_names[] = { "Hz", "kHz", "MHz", "GHz" };

const char *tare_format_hz(double hz, char text[TARE_UNIT_TEXT])
{
	return format_scaled(hz, hz_names, 4, text);
}

const char *tare_format_hz_without(double hz, double like_hz, char text[TARE_UNIT_TEXT])
{
	double scaled = hz;
	char number[TARE_UNIT_TEXT];

	if (!isfinite(hz) || !isfinite(like_hz) || scale(&scaled, 4) != scale(&like_hz, 4))
		return tare_format_hz(hz, text);
	snprintf(text, TARE_UNIT_TEXT, "%.20s", tare_format_significant(scaled, 3, number));
	return text;
}

const char *tare_format_grouped(uint64_t number, char text[TARE_UNIT_TEXT])
{
	char digits[24];
	size_t count = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number), used = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}
