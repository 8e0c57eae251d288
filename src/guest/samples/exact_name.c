// SPDX-License-Identifier: Apache-2.0
// Which kernel is meant. The program's process has no demangler; but a linked name spells each
// identifier of the source's name as it is.
#include "guest/samples/samples.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES = 256 };

static bool is_spelt_otherwise(const char *word)
{
	static const char *const words[] = { "void",      "bool",     "char",     "short",
		                             "int",       "long",     "signed",   "unsigned",
		                             "float",     "double",   "const",    "volatile",
		                             "std",       "true",     "false",    "anonymous",
		                             "namespace", "operator", "allocator" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool samples_exact_fits(const char *asked, const char *symbol)
{
	bool any = false;

	if (asked[0] == '=') {
		// A name that had no room is known by its beginning.
		size_t length = strlen(asked + 1);
		return strncmp(asked + 1, symbol, length) == 0 &&
		       (!symbol[length] || length == SAMPLES_NAME_BYTES - 1);
	}
	for (const char *at = asked; *at;) {
		char word[WORD_BYTES];
		size_t length = 0;
		while (is_in_word(at[length]))
			length++;
		bool number = length && isdigit((unsigned char)*at);
		if (length && !number && length < sizeof word) {
			memcpy(word, at, length);
			word[length] = '\0';
			if (!is_spelt_otherwise(word)) {
				any = true;
				if (!strstr(symbol, word))
					return false;
			}
		}
		at += length ? length : 1;
	}
	return any;
}
