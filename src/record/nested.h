// SPDX-License-Identifier: Apache-2.0
// A tare record that runs inside the program of another: what it starts is in its own trace, and
// the outer one would not know why it has nothing.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Leaves word for the recording around this process, where there is one (TARE_RECORD names its
// folder), that the trace is in `folder`, an absolute path. Failing is no matter.
void tare_nested_tell(const char *folder);

// Takes the last word that was left in `data`, where the outer recording's processes write: the
// inner trace's path. Returns whether there was one; it is there no more.
bool tare_nested_take(const char *data, char *folder, size_t size);
