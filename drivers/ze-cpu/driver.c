// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

struct _ze_driver_handle_t cpu_driver;
