// SPDX-License-Identifier: Apache-2.0
#include "model/script/script_value.h"

#include "model/script/script.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t scale;
};

#define KILO UINT64_C(1000)
#define KIBI UINT64_C(1024)

static const struct unit time_units[] = {
	{ "ps", 1 },
	{ "ns", KILO },
	{ "us", KILO *KILO },
	{ "µs", KILO *KILO },
	{ "ms", KILO *KILO *KILO },
	{ "s", KILO *KILO *KILO *KILO },
	{ NULL, 0 },
};
static const struct unit rate_units[] = {
	{ "B/s", 1 },
	{ "KB/s", KILO },
	{ "MB/s", KILO *KILO },
	{ "GB/s", KILO *KILO *KILO },
	{ "TB/s", KILO *KILO *KILO *KILO },
	{ NULL, 0 },
};
static const struct unit item_units[] = {
	{ "item/s", 1 },
	{ "Kitem/s", KILO },
	{ "Mitem/s", KILO *KILO },
	{ "Gitem/s", KILO *KILO *KILO },
	{ "Titem/s", KILO *KILO *KILO *KILO },
	{ NULL, 0 },
};
// Sizes are binary whichever way they are written, as everywhere in tare.
static const struct unit byte_units[] = {
	{ "B", 1 },
	{ "KiB", KIBI },
	{ "MiB", KIBI *KIBI },
	{ "GiB", KIBI *KIBI *KIBI },
	{ "KB", KIBI },
	{ "MB", KIBI *KIBI },
	{ "GB", KIBI *KIBI *KIBI },
	{ NULL, 0 },
};
static const struct unit hz_units[] = {
	{ "Hz", 1 }, { "kHz", KILO }, { "MHz", KILO *KILO }, { "GHz", KILO *KILO *KILO },
	{ NULL, 0 },
};
static const struct unit tick_units[] = { { "ticks", 1 }, { "tick", 1 }, { NULL, 0 } };
static const struct unit speed_units[] = { { "%", 10 * KILO }, { NULL, 0 } };
static const struct unit drift_units[] = { { "ppm", KILO }, { NULL, 0 } };
static const struct unit power_units[] = { { "W", KILO }, { NULL, 0 } };
static const struct unit heat_units[] = { { "C", KILO }, { NULL, 0 } };

// What a type accepts: its units, its own bounds and the smallest step, for the error.
static const struct {
	const struct unit *units;
	uint64_t limit;
	const char *step;
	bool is_signed;
} types[] = {
	[TARE_VALUE_TIME] = { time_units, KILO *KILO *KILO *KILO *KILO, "1 ps", false },
	[TARE_VALUE_RATE] = { rate_units, KILO *KILO *KILO *KILO *KILO, "1 B/s", false },
	[TARE_VALUE_ITEMS] = { item_units, KILO *KILO *KILO *KILO *KILO, "1 item/s", false },
	[TARE_VALUE_BYTES] = { byte_units, UINT64_C(1) << 50, "1 B", false },
	[TARE_VALUE_HZ] = { hz_units, 100 * KILO *KILO *KILO, "1 Hz", false },
	[TARE_VALUE_FRACTION] = { hz_units, 10 * KILO *KILO *KILO, "1 Hz", false },
	[TARE_VALUE_COUNT] = { NULL, UINT64_C(1) << 53, "1", false },
	[TARE_VALUE_COUNT32] = { NULL, UINT32_MAX, "1", false },
	[TARE_VALUE_TICKS] = { tick_units, UINT64_MAX, "1 tick", false },
	[TARE_VALUE_SPEED] = { speed_units, 1000 * KILO, "0.0001 %", false },
	[TARE_VALUE_DRIFT] = { drift_units, 1000 * KILO, "0.001 ppm", true },
	[TARE_VALUE_POWER] = { power_units, 100 * KILO *KILO, "0.001 W", false },
	[TARE_VALUE_HEAT] = { heat_units, 1000 * KILO, "0.001 C", false },
	[TARE_VALUE_WORD] = { NULL, 0, "", false },
	[TARE_VALUE_SET] = { NULL, 0, "", false },
};

int tare_script_fail(const struct tare_script_place *place, const char *format, ...)
{
	char message[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	return tare_fail(place->error, EINVAL, "%.90s:%u: %s", place->name, place->line, message);
}

bool tare_value_has_unit(enum tare_value_type type)
{
	return types[type].units != NULL;
}

int tare_word_find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

const char *tare_word_list(const char *const *words, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; words[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
		                         !i             ? ""
		                         : words[i + 1] ? ", "
		                                        : " or ",
		                         words[i]);
	return text;
}

static const char *unit_list(const struct unit *units, char *text, size_t size)
{
	const char *names[12] = { NULL };

	for (size_t i = 0; units[i].name && i < 11; i++)
		names[i] = units[i].name;
	return tare_word_list(names, text, size);
}

// A decimal number: digits with at most one point, at most 18 digits. Its value is
// *mantissa / *divisor.
static bool read_decimal(const char *text, size_t length, uint64_t *mantissa, uint64_t *divisor)
{
	bool point = false;
	int digits = 0;

	*mantissa = 0;
	*divisor = 1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && !point && digits > 0 && i + 1 < length) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)text[i]))
			return false;
		if (++digits > 18)
			return false;
		*mantissa = *mantissa * 10 + (uint64_t)(text[i] - '0');
		if (point)
			*divisor *= 10;
	}
	return digits > 0;
}

static int find_scale(const struct tare_script_place *place, const struct tare_script_field *field,
                      const char *text, const char *unit, uint64_t *scale)
{
	const struct unit *units = types[field->type].units;
	char names[128];

	*scale = 1;
	if (!units)
		return 0;
	if (!unit)
		return tare_script_fail(place, "'%s %.40s' lacks its unit; write %s after a space",
		                        field->name, text, unit_list(units, names, sizeof names));
	for (; units->name; units++)
		if (strcmp(units->name, unit) == 0) {
			*scale = units->scale;
			return 0;
		}
	return tare_script_fail(place, "'%.40s' is not a unit of '%s'; it takes %s", unit,
	                        field->name,
	                        unit_list(types[field->type].units, names, sizeof names));
}

static int check_bounds(const struct tare_script_place *place,
                        const struct tare_script_field *field, const char *text, const char *unit,
                        unsigned __int128 value)
{
	uint64_t high = field->high ? field->high : types[field->type].limit;
	const char *space = types[field->type].units ? " " : "";

	unit = types[field->type].units ? unit : "";
	if (value > high)
		return tare_script_fail(place, "'%s %.40s%s%.20s' is too large", field->name, text,
		                        space, unit);
	if (value < field->low)
		return tare_script_fail(place,
		                        value ? "'%s %.40s%s%.20s' is too small"
		                              : "'%s %.40s%s%.20s' must be above zero",
		                        field->name, text, space, unit);
	return 0;
}

static int read_number(const struct tare_script_place *place, const struct tare_script_field *field,
                       const char *text, const char *unit, uint64_t *value)
{
	uint64_t mantissa, divisor, scale;
	int status = find_scale(place, field, text, unit, &scale);

	if (status < 0)
		return status;
	if (!read_decimal(text, strlen(text), &mantissa, &divisor))
		return tare_script_fail(
		    place,
		    "'%.40s' is not a number for '%s'; write digits, at most 18, "
		    "with at most one point",
		    text, field->name);
	unsigned __int128 scaled = (unsigned __int128)mantissa * scale;
	if (scaled % divisor)
		return tare_script_fail(place, "'%s %.40s' is finer than the model's step of %s",
		                        field->name, text, types[field->type].step);
	scaled /= divisor;
	status = check_bounds(place, field, text, unit, scaled);
	if (status == 0)
		*value = (uint64_t)scaled;
	return status;
}

// Hertz as "12.5" or "1000/83" of a unit, reduced by nothing: the reader sees what was written.
static int read_fraction(const struct tare_script_place *place,
                         const struct tare_script_field *field, const char *text, const char *unit,
                         uint64_t *pair)
{
	const char *slash = strchr(text, '/');
	uint64_t top, bottom, top_divisor, bottom_divisor = 1, scale;
	int status = find_scale(place, field, text, unit, &scale);

	if (status < 0)
		return status;
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	bottom = 1;
	if (!read_decimal(text, length, &top, &top_divisor) ||
	    (slash && (!read_decimal(slash + 1, strlen(slash + 1), &bottom, &bottom_divisor) ||
	               bottom_divisor != 1)))
		return tare_script_fail(
		    place, "'%.40s' is not a rate for '%s'; write it as 12.5 or 1000/83", text,
		    field->name);
	unsigned __int128 numerator = (unsigned __int128)top * scale;
	unsigned __int128 denominator = (unsigned __int128)bottom * top_divisor;
	while (numerator % 10 == 0 && denominator % 10 == 0 && denominator) {
		numerator /= 10;
		denominator /= 10;
	}
	if (!numerator || !denominator)
		return tare_script_fail(place, "'%s %.40s' must be above zero", field->name, text);
	if (numerator / denominator > types[field->type].limit ||
	    numerator > UINT64_C(10000000000000000) || denominator > 1000000000)
		return tare_script_fail(place, "'%s %.40s %s' is too large", field->name, text,
		                        unit);
	if (numerator < denominator)
		return tare_script_fail(place, "'%s %.40s %s' is too small", field->name, text,
		                        unit);
	pair[0] = (uint64_t)numerator;
	pair[1] = (uint64_t)denominator;
	return 0;
}

static int read_set(const struct tare_script_place *place, const struct tare_script_field *field,
                    const char *text, uint64_t *bits)
{
	char word[TARE_SCRIPT_TEXT], list[160];
	uint64_t set = 0;

	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), at);
		int index = tare_word_find(field->words, word);
		if (index < 0)
			return tare_script_fail(place, "'%s' does not belong after '%s'; write %s",
			                        word, field->name,
			                        tare_word_list(field->words, list, sizeof list));
		if (set >> index & 1)
			return tare_script_fail(place, "'%s' is named twice after '%s'", word,
			                        field->name);
		set |= UINT64_C(1) << index;
		at += length;
		if (!*at)
			break;
	}
	*bits = set;
	return 0;
}

int tare_value_read(const struct tare_script_place *place, const struct tare_script_field *field,
                    const char *text, const char *unit, void *base)
{
	char *target = (char *)base + field->offset;
	bool negative = types[field->type].is_signed && text[0] == '-';
	uint64_t value[2] = { 0, 0 };
	char list[160];
	int status = 0, index;

	switch (field->type) {
	case TARE_VALUE_TEXT:
		if (strlen(text) >= TARE_SCRIPT_TEXT)
			return tare_script_fail(place,
			                        "the text after '%s' is longer than %d bytes",
			                        field->name, TARE_SCRIPT_TEXT - 1);
		if (!text[0])
			return tare_script_fail(place, "the text after '%s' is empty", field->name);
		memset(target, 0, TARE_SCRIPT_TEXT);
		memcpy(target, text, strlen(text));
		return 0;
	case TARE_VALUE_WORD:
		index = tare_word_find(field->words, text);
		if (index < 0)
			return tare_script_fail(
			    place, "'%.40s' does not belong after '%s'; write %s", text,
			    field->name, tare_word_list(field->words, list, sizeof list));
		value[0] = (uint64_t)index;
		break;
	case TARE_VALUE_SET:
		status = read_set(place, field, text, value);
		break;
	case TARE_VALUE_FRACTION:
		status = read_fraction(place, field, text, unit, value);
		if (status == 0)
			memcpy(target, value, sizeof value);
		return status;
	default:
		status = read_number(place, field, text + negative, unit, value);
		break;
	}
	if (status < 0)
		return status;
	if (field->type == TARE_VALUE_COUNT32) {
		uint32_t narrow = (uint32_t)value[0];
		memcpy(target, &narrow, sizeof narrow);
		return 0;
	}
	int64_t signed_value = negative ? -(int64_t)value[0] : (int64_t)value[0];
	memcpy(target, &signed_value, sizeof signed_value);
	return 0;
}
