// SPDX-License-Identifier: Apache-2.0
// The words that the value of an option is made of, for completions and for who mistypes one; the
// parsers are the commands'.
#pragma once
#include "cli/options/option.h"

// Writes them; nothing for TARE_WORDS_ANY.
void tare_words_write(enum tare_words words, const char *separator, FILE *file);
// Whether a value may be several of them with commas between; whether it may be a file instead.
bool tare_words_are_list(enum tare_words words);
bool tare_words_or_file(enum tare_words words);

// For a parser that refused the value `text` of an option of `command` and has put its sentence
// into *error: names the word that was probably meant, where one is near; else keeps the sentence.
// Returns TARE_EXIT_USAGE.
int tare_words_refuse(const struct tare_command *command, const char *option, const char *text,
                      struct tare_error *error);
