// SPDX-License-Identifier: Apache-2.0
// `peak`: what the device can really reach.
#pragma once
#include "measure/core/run.h"

#define TARE_PEAK_BUDGET_NS INT64_C(30000000000)

// Fills run->result with cells labelled `group` and more, quantity "time" with a rate:
//   group "compute": `type` (fp32 fp64 fp16 int32), `width` (1 2 4 8 16); GFLOP/s or Gop/s
//   group "memory":  `op` (read write copy triad strided), `width`, `stride` where strided; GB/s
//   group "sweep":   `bytes` (the working set); GB/s
//   group "local":   `width`; GB/s
//   group "tensor":  `type` (tf32 fp16 bf16), `n`; GFLOP/s of the vendor's matrix library
// then cells of source "model" labelled `group` "ceiling" and `what` (the best of each kind, and
// the theoretical peaks), plots (roofline, sweep), conclusions and warnings.
// Returns as tare_run_measure, and -EBADMSG when a kernel's result was wrong.
int tare_measure_peak(struct tare_run *run, struct tare_error *error);
