// SPDX-License-Identifier: Apache-2.0
// What a build is made of: one input, or the parts that were linked.
#pragma once
#include "blocks/inputs.h"

#include <stdbool.h>

struct tare_blocks_parts {
	struct tare_blocks_input *at;
	uint32_t count;
	bool joined;   // they were linked; also a single one may have been
	char *linking; // options of that; "": none
	enum blocks_api api;
	char said[512];           // the parts' options, for a person; cut off
	char driver_options[256]; // with which a driver is to build the whole
};

// Reads a BUILD, and its PARTs, where it is joined. 0, or -EIO, -EINVAL or -ENOMEM with a sentence.
// To free in either case.
int tare_blocks_parts_read(const char *folder, uint64_t hash, struct tare_blocks_parts *parts,
                           struct tare_error *error);
void tare_blocks_parts_free(struct tare_blocks_parts *parts);

// OpenCL C, if one of them is; else SPIR-V.
enum blocks_language tare_blocks_parts_language(const struct tare_blocks_parts *parts);
// The name in the folder of an input's source in OpenCL C, as debug information has it.
void tare_blocks_source_name(const struct tare_blocks_input *input, char name[64]);
// Adds what lines of the parts' code can be of, their headers with it, which are written into the
// folder. 0 or a negative errno with a sentence.
int tare_blocks_parts_sources(const char *folder, const struct tare_blocks_parts *parts,
                              struct tare_blocks_sources *sources, struct tare_error *error);
