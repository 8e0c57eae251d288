// SPDX-License-Identifier: Apache-2.0
// Looks from outside which libraries a running program has, a few times a second.
#pragma once
#include "base/other_api.h"

#include <sys/types.h>

struct tare_watch; // a thread of tare's own; the program is not touched

// From now on. NULL: it cannot be done, and nothing will be seen.
struct tare_watch *tare_watch_start(pid_t program);

// Ends it and adds what was seen to *uses. Accepts NULL.
void tare_watch_stop(struct tare_watch *watch, struct tare_other_uses *uses);
