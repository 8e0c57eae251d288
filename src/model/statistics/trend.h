// SPDX-License-Identifier: Apache-2.0
// Does the series stand still?
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// *drifting: a trend over the series that cannot be chance (Mann-Kendall over 16 blocks, at one in
// a thousand) and is larger (Theil-Sen over the medians of the blocks) than the interval that the
// median would have without it, autocorrelation included. `signs` as of tare_signs. 0 or -ENOMEM.
int tare_drifting(const int64_t *samples, const int16_t *signs, size_t n, double quantum,
                  bool *drifting);
