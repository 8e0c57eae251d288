// SPDX-License-Identifier: Apache-2.0
// The rules of docs/ledger.md once more, written another way: every nanosecond by itself, each time
// looking at everything. Only for short recordings that begin at 0 or later.
#pragma once
#include "analysis/ledger/ledger.h"

#include "made_recording.h"

// Fills a ledger (device as in tare_ledger) and its gaps, longest first; room for 1000.
void oracle_ledger(const struct made *made, const struct tare_view *view, uint32_t device,
                   struct tare_ledger *ledger, struct tare_gap *gaps, size_t *gap_count);

// Computes with the code under test and compares all of it.
void assert_ledgers_agree(const struct made *made, const struct tare_view *view);
