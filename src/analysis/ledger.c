// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger.h"
