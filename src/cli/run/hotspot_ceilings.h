// SPDX-License-Identifier: Apache-2.0
// What a counted device can do: on paper by its facts, and measured by tare peak.
#pragma once
#include "analysis/hotspots/counted.h"
#include "measure/core/peaks.h"

// Takes over what peaks say. L1's ceiling is that of local memory, which is on the same data pipe;
// L2's that of the working sets in the shared cache; device memory's the best of read, write, copy
// and triad.
void tare_hotspot_ceilings_take(const struct tare_peaks *peaks, struct tare_counted_device *device);

// The entry of a device with that UUID (with or without dashes), else the one of that name if all
// of that name say the same UUID; NULL: there is none, or they cannot be told apart. uuid may be
// "".
const struct tare_device_entry *tare_hotspot_device_find(const struct tare_result *devices,
                                                         const char *uuid, const char *name);

// Asks this machine's drivers for the device, opening none, and looks for a result of tare peak:
// `from` as in tare_peaks_load. origin: where the ceilings are from, or why there are none. Returns
// 0, or what tare_peaks_load does for a file that was named.
int tare_hotspot_ceilings_find(const char *uuid, const char *from,
                               struct tare_counted_device *device, char origin[256],
                               struct tare_error *error);
