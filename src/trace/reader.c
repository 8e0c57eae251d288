// SPDX-License-Identifier: Apache-2.0
#include "tare/trace.h"
