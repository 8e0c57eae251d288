// SPDX-License-Identifier: Apache-2.0
// The Level Zero drivers that a program's loader would load, and the stubs that are put in their
// places. Files are looked for; none is run.
#pragma once

// What the loader reads: drivers in place of those that it knows, joined by commas.
#define TARE_DRIVERS_VARIABLE "ZE_ENABLE_ALT_DRIVERS"

struct tare_drivers {
	char *stubs;  // for the loader; NULL: there is nothing to be put in anybody's place
	char *behind; // for the stubs: the recorder, then the drivers in the order of the stubs
};

// `layer`: the recorder's path, beside which the stubs lie. `alternative`: what the user has in
// TARE_DRIVERS_VARIABLE, NULL: nothing. `library_path`: LD_LIBRARY_PATH of the program. `cache`: of
// ldconfig(8). A driver that is not found is named to the loader as it was, so that it fails as
// without tare; so are those beyond the stubs' number.
void tare_drivers_find(const char *layer, const char *alternative, const char *library_path,
                       const char *cache, struct tare_drivers *drivers);
void tare_drivers_free(struct tare_drivers *drivers); // accepts a zeroed one
