// SPDX-License-Identifier: Apache-2.0
// The command line by which clang compiles a program as its OpenCL driver would have been asked to.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_blocks_request {
	const char *clang;
	const char *options;    // of clBuildProgram
	const char *extensions; // CL_DEVICE_EXTENSIONS, and the features of OpenCL C 3.0
	const char *version;    // CL_DEVICE_VERSION
	bool images;            // CL_DEVICE_IMAGE_SUPPORT
	bool unoptimised;       // as the language makes it, for a later step
	bool as_text;           // LLVM's text, not its bitcode
	bool as_written;        // without optimisation, whatever the options say
	bool bodies;            // functions that are `inline` and no more have bodies, too
	// No loop becomes the formula of what it ends with: that takes integers of 33 or 65 bits.
	bool keeps_loops;
	// A list of files by which a folder of headers is there (-ivfsoverlay), and that folder;
	// NULL: none.
	const char *list, *headers;
	const char *source, *output;
};

struct tare_blocks_arguments {
	char **at; // ends with NULL
	size_t count, room;
	bool failed, optimises;
	char level[48]; // "-O2": the optimisation
};

// What `keeps_loops` is for clang.
#define TARE_BLOCKS_KEEPS_LOOPS "-mllvm", "-replexitval=never"

// 0, or -ENOMEM or -EINVAL (a quote in the options has no end) with a sentence. To free in either
// case.
int tare_blocks_arguments_make(const struct tare_blocks_request *request,
                               struct tare_blocks_arguments *arguments, struct tare_error *error);
void tare_blocks_arguments_free(struct tare_blocks_arguments *arguments);

// Of the program's options, those that a driver is to have for the finished module: which
// arithmetic is allowed, and whether to optimise. Cut off where they do not fit.
void tare_blocks_driver_options(const char *options, char *text, size_t size);
