// SPDX-License-Identifier: Apache-2.0
// Builds modules in a thread of their own: a driver's compiler can take half a minute, in which
// nobody could stop it.
#pragma once
#include "backend/backend.h"

// In a process with one thread it is built by that one, and nobody can stop it, but where a child
// can build it first (tare_device.child_builds).
// As module_create of the device's backend, or -EINTR a second after the user wanted to stop: the
// build then goes on by itself and keeps what it was given, so the device must not be closed, and
// the process ends by _exit.
int backend_build_aside(struct tare_device *device, const struct tare_module_source *source,
                        struct tare_module **module, char **log, struct tare_error *error);
