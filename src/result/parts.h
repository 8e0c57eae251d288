// SPDX-License-Identifier: Apache-2.0
// Releases what the parts of a document own and leaves them zeroed. Internal to src/result.
#pragma once
#include "result/result.h"

void tare_cell_clear(struct tare_cell *cell);
void tare_plot_clear(struct tare_plot *plot);
