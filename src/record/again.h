// SPDX-License-Identifier: Apache-2.0
// What it takes to run a program more than once in a way that it does not notice.
#pragma once
#include "record/child.h"

// Standard input as every run is to find it.
struct tare_input {
	off_t at; // where it was; -1: it is a device
};

// -EINVAL: it can be read once only; the sentence begins with `who`, which runs the program several
// times.
int tare_input_note(struct tare_input *input, const char *who, struct tare_error *error);
// Puts it back to where it was.
void tare_input_restore(const struct tare_input *input);

// As tare_child_start, with the program's standard output in the file `path`, which is made or
// emptied first.
int tare_child_start_into(const char *path, char *const *arguments, char *const *environment,
                          struct tare_child *launch, bool *own, struct tare_error *error);
// The same, into /dev/null.
int tare_child_start_silent(char *const *arguments, char *const *environment,
                            struct tare_child *launch, bool *own, struct tare_error *error);
