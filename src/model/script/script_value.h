// SPDX-License-Identifier: Apache-2.0
// Values of the device script: exact decimal numbers with their units. Private to the parser.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tare_value_type {
	TARE_VALUE_TEXT,     // char[TARE_SCRIPT_TEXT]
	TARE_VALUE_TIME,     // int64_t picoseconds
	TARE_VALUE_RATE,     // uint64_t bytes a second
	TARE_VALUE_ITEMS,    // uint64_t work-items a second
	TARE_VALUE_BYTES,    // uint64_t
	TARE_VALUE_HZ,       // uint64_t
	TARE_VALUE_FRACTION, // two uint64_t: hertz as a fraction
	TARE_VALUE_COUNT,    // uint64_t
	TARE_VALUE_COUNT32,  // uint32_t
	TARE_VALUE_TICKS,    // uint64_t
	TARE_VALUE_SPEED,    // uint64_t millionths, from percent
	TARE_VALUE_DRIFT,    // int64_t parts in 10^9, from ppm
	TARE_VALUE_POWER,    // uint64_t milliwatts
	TARE_VALUE_HEAT,     // uint64_t thousandths of a degree Celsius
	TARE_VALUE_WORD,     // uint64_t: index of the word in `words`
	TARE_VALUE_SET,      // uint64_t: bits of the comma-separated words
};

// One `key value [unit]` of a statement.
struct tare_script_field {
	const char *name;
	enum tare_value_type type;
	size_t offset;            // from the statement's struct
	uint64_t low, high;       // bounds in the stored unit; high 0: the type's own limit
	const char *const *words; // WORD and SET; NULL-terminated
	bool required;
};

// Where parsing stands: whom errors name.
struct tare_script_place {
	const char *name;
	unsigned line;
	struct tare_error *error;
};

// Fails with "NAME:LINE: sentence"; returns -EINVAL.
int tare_script_fail(const struct tare_script_place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// True when a value of this type is followed by a unit word.
bool tare_value_has_unit(enum tare_value_type type);

// Reads `text` (and `unit`, NULL if the line ends here) into the field of *base. Exact: a value
// that is no whole number of the stored unit is refused, not rounded. 0 or -EINVAL.
int tare_value_read(const struct tare_script_place *place, const struct tare_script_field *field,
                    const char *text, const char *unit, void *base);

// Index of `word` in the NULL-terminated list, or -1.
int tare_word_find(const char *const *words, const char *word);
// "a, b or c" into text. Returns text.
const char *tare_word_list(const char *const *words, char *text, size_t size);
