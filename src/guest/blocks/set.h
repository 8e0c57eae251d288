// SPDX-License-Identifier: Apache-2.0
// Another set of build options in the place of the program's own, for the layers of both APIs.
#pragma once
#include "guest/blocks/words.h"

#include <stdbool.h>

// Reads the environment; before any other of these, after blocks_files_begin().
void blocks_set_begin(void);
bool blocks_set_given(void);
// The options to build with instead of `own`, which may be NULL: *bytes is what is to be given
// back, 0: nothing.
const char *blocks_set_options(enum blocks_api api, const char *own, size_t *bytes);
void blocks_set_give_back(const char *text, size_t bytes);
// A source of the program's, in `count` parts as clCreateProgramWithSource takes them, with the
// set's pragmas: *length bytes without an end, *bytes to be given back. NULL: it stays as it is.
const char *blocks_set_source(unsigned count, const char *const *parts, const size_t *lengths,
                              size_t *length, size_t *bytes);
// A build failed with the set's options. Whether its log is still to be told, by
// blocks_set_log().
bool blocks_set_failed(int code);
void blocks_set_log(const char *log, size_t bytes);
