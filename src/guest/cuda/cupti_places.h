// SPDX-License-Identifier: Apache-2.0
// Where CUPTI is looked for, by the recorder in the program and by `tare record` before it starts
// one.
#pragma once

// Versions of the library, newest first; the driver's own comes before them.
#define CUPTI_VERSIONS "13", "12", "11.8", "11.7", "11.6", "11.5"
// Folders for glob(3), after those of the dynamic linker.
#define CUPTI_FOLDERS                                                                              \
	"/usr/local/cuda*/lib64", "/usr/local/cuda*/extras/CUPTI/lib64", "/opt/cuda*/lib64",       \
	    "/opt/cuda*/extras/CUPTI/lib64"
// Names the library, in place of all of those.
#define CUPTI_VARIABLE "TARE_CUPTI_LIBRARY"
