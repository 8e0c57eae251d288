// SPDX-License-Identifier: Apache-2.0
// Sentences about a counted kernel: the same ones in the terminal, the JSON and the page.
#pragma once
#include "analysis/hotspots/hierarchy.h"

#define HOTSPOT_TEXT 768 // room for any text of these functions

// "Memory-bound, by L2: 85 % of its maximum." or "Not decided between ..." or "n/a: ...". Ends
// with a full stop.
const char *tare_hotspot_verdict_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);
// In a few words, for a column: "L2", "compute: matrix engines", "L2 or latency", "n/a".
const char *tare_hotspot_bound_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);
// How sure it is and what was not counted; "" where there is nothing to say.
const char *tare_hotspot_margin_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);
// What a launch was given, or why that is not known; "" of a kernel that was not counted.
const char *tare_hotspot_given_words(const struct tare_counted_kernel *kernel,
                                     char text[HOTSPOT_TEXT]);
// What to try, and the most it can bring; "" where the verdict says nothing.
const char *tare_hotspot_advice_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);
// "Occupancy 45 % of 50 % possible (registers); 31.0 threads an instruction; hits: L1 80 %, L2
// 97 %."; "" where none of it was counted.
const char *tare_hotspot_core_words(const struct tare_hotspot *hotspot, char text[HOTSPOT_TEXT]);
// A figure that cannot be: "L2 share of 103 %: at most 100 % is possible; not used".
const char *tare_hotspot_contradiction_words(const struct tare_contradiction *contradiction,
                                             char text[HOTSPOT_TEXT]);
// Why a role has no figure: "the device has no such counter".
const char *tare_counter_state_words(enum tare_counter_state state);
// Why a kernel was not counted: "its launches are recorded into a graph".
const char *tare_uncounted_words(enum tare_uncounted why);
// How a rate was got, where that must be said; NULL where it need not.
const char *tare_rate_origin_words(enum tare_rate_origin origin);

// "92 %", "0.9 %", "n/a".
const char *tare_hotspot_percent(double share, char text[HOTSPOT_TEXT]);
// "2.2 times", "12 times": 1 over the part of the time that remains, rounded down.
const char *tare_hotspot_times(double remains, char text[HOTSPOT_TEXT]);
// "17.6 GB", binary; "n/a".
const char *tare_hotspot_bytes(double bytes, char text[HOTSPOT_TEXT]);
