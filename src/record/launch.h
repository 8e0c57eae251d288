// SPDX-License-Identifier: Apache-2.0
// Starts the user's program under the recorders and waits for it.
#pragma once
#include "base/error.h"
