// SPDX-License-Identifier: Apache-2.0
// All commands, for main() and for tests of the command line.
#pragma once
#include "cli/options/option.h"

// Ends with NULL.
extern const struct tare_command *const tare_commands[];
