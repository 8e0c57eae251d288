// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording.h"
