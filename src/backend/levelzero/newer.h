// SPDX-License-Identifier: Apache-2.0
// What Level Zero has gained since Debian 12's headers (specification 1.4) and tare uses: own
// declarations under names of our own, so that newer headers may be installed as well. The backend
// asks for these entry points at run time and does without; drivers/ze-cpu has those it lists.
#pragma once
#include <level_zero/ze_api.h>
