// SPDX-License-Identifier: Apache-2.0
// Which OpenCL loader a program would get, whether it knows layers, and which one to put in front
// of it when it does not. Files are read; none is run.
#pragma once
#include "record/loader/closure.h"

#include <stdbool.h>

#define TARE_LOADER "libOpenCL.so.1"
// A loader that reads this variable has its name in it: ocl-icd from 2.3.0, Khronos' from 2020.12.
#define TARE_LOADER_VARIABLE "OPENCL_LAYERS"

struct tare_loader {
	char path[512]; // "": there is none
	bool knows_layers;
};

struct tare_loader_choice {
	struct tare_loader program; // what the program gets that calls it by its name
	struct tare_loader without; // one that it, or a process that it starts, would get and that
	                            // knows no layers; "": none is seen
	char front[512]; // one that knows layers, to put in front; "": none is needed, or none
	                 // is there that can be
	bool wanted;     // one is needed
	bool foreign;    // none was chosen: the program has another C library
};

// `preload`, `library_path`: LD_PRELOAD and LD_LIBRARY_PATH of the program; NULL as "". `cache`: of
// ldconfig(8).
void tare_loader_choose(const struct tare_closure *closure, const char *preload,
                        const char *library_path, const char *cache,
                        struct tare_loader_choice *choice);
