// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

