// SPDX-License-Identifier: Apache-2.0
// `matmul`: one real kernel from naive to fast, and how far each rung is from the limit.
#pragma once
#include "measure/core/peaks.h"
#include "measure/core/run.h"
#include "result/matmul_words.h"

#define TARE_MATMUL_BUDGET_NS INT64_C(60000000000)
#define TARE_MATMUL_SIZES 16

const char *tare_rung_title(enum tare_rung rung); // for people: "tiled through local memory"

// Conclusions of `matmul` about device and host: with copies, and without.
#define TARE_MATMUL_TOTAL "total"
#define TARE_MATMUL_KERNELS "kernels"

struct tare_matmul_options {
	uint32_t n[TARE_MATMUL_SIZES];
	size_t n_count; // 0: 32 64 128 256 512 1024 2048
	uint32_t rungs; // bits; 0: all
	bool untraced;  // other things are timed after this: the vendor's tracer is left alone
	struct tare_peaks peaks; // for shares of attainable; present may be false
};

// "32,64,100" or "32..2048" (powers of two between). Returns 0 or -EINVAL with a sentence.
int tare_parse_matmul_sizes(const char *text, struct tare_matmul_options *options,
                            struct tare_error *error);
// "naive,tiled" or "all". Returns 0 or -EINVAL with a sentence that names the rungs there are.
int tare_parse_rungs(const char *text, uint32_t *rungs, struct tare_error *error);

// Fills run->result with cells labelled `rung`, `n` and `part`:
//   "build", "allocate", "copy-in", "launch" (host time of appending), "submit-to-complete" (the
//   seed's total: submit, execute, wait), "kernel" (device; rate GFLOP/s), "copy-out", "total";
//   where the vendor's tracer tells engine times "kernel" is by it (label `by`: "tracer"), and
//   "kernel-stamps" is by the driver's stamps; the host's rungs have "total" only.
// then cells of source "model" (same labels; `what`): least time, required bytes and the rate they
// imply, share of measured and theoretical peak, speed-ups over sequential by kernel and by total,
// tightest ceiling and the distance to it; plots (the seed's figure 1, GFLOP/s by n, roofline);
// conclusions and warnings. Each rung is verified against double precision within an error bound.
// Returns as tare_run_measure, -EBADMSG when a product was wrong.
int tare_measure_matmul(struct tare_run *run, const struct tare_matmul_options *options,
                        struct tare_error *error);
