// SPDX-License-Identifier: Apache-2.0
// `checkup`: devices, latency, bandwidth, peak, matmul and overlap within one budget, as one
// document with parts.
#pragma once
#include "measure/core/run.h"

#define TARE_CHECKUP_BUDGET_NS INT64_C(60000000000)

// Runs the commands one after the other on run->device, each within its share of the budget (what
// one leaves over goes to the next), and adds their documents as parts of run->result, with
// conclusions over all of them. What was cut to fit is a warning. A part that fails is a warning
// with its reason; the rest goes on unless the device is gone or the user stopped it.
// A part measures for its share; making its buffers and kernels comes on top, out of what a few
// per cent were kept back for, then out of the shares of later parts (never more than half of them,
// as long as the whole does not last 15 % longer).
// Returns as tare_run_measure; -EBADMSG when a part found wrong results.
int tare_measure_checkup(struct tare_run *run, struct tare_error *error);
