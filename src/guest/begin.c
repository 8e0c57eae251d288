// SPDX-License-Identifier: Apache-2.0
#include "guest/environment.h"
