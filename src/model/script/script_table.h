// SPDX-License-Identifier: Apache-2.0
// The statements of the device script as rows of a table. Private to the parser.
#pragma once
#include "model/script/script.h"
#include "model/script/script_value.h"

#define TARE_SCRIPT_WORDS 96

struct tare_script_reader {
	struct tare_script *script;
	struct tare_script_place place;
	char *words[TARE_SCRIPT_WORDS]; // of the current line
	bool quoted[TARE_SCRIPT_WORDS];
	size_t count;
	unsigned seen[40]; // line of each statement that may be given once
	unsigned lack_lines[TARE_LACK_COUNT];
};

// A statement: NAME [positional words] {key value [unit]}.
struct tare_script_statement {
	const char *name;
	const struct tare_script_field *fields; // name NULL ends it; NULL: no fields
	size_t offset;                          // of its struct; used when begin is NULL
	// For statements with positional words: reads them from reader->words[1...], leaves the
	// struct to fill in *base and the number of words used in *used. 0 or -EINVAL. *base NULL:
	// nothing more may follow.
	int (*begin)(struct tare_script_reader *reader, void **base, size_t *used);
	// Checks the struct once its fields are read; NULL: nothing to check. 0 or -EINVAL.
	int (*end)(struct tare_script_reader *reader, const void *base);
	bool repeats; // begin finds duplicates itself
};

extern const struct tare_script_statement tare_script_statements[];
extern const size_t tare_script_statement_count;
