// SPDX-License-Identifier: Apache-2.0
// What the program's kernels would be on Intel GPUs that are not there: each build is compiled for
// them by ocloc, Intel's offline compiler, and nothing is run. A model.
#pragma once
#include "blocks/compile.h"
#include "blocks/intel/join.h"

// Names an ocloc before the one on PATH.
#define TARE_BLOCKS_OCLOC "TARE_OCLOC"

enum { TARE_BLOCKS_DEVICE_BYTES = 32, TARE_BLOCKS_MOST_DEVICES = 16 };

// A kernel on a device; or a build that was not compiled for one, for a reason.
struct tare_blocks_model {
	char device[TARE_BLOCKS_DEVICE_BYTES];
	const struct tare_blocks_build *build;
	struct tare_blocks_static of; // its name is "" where `why` says something
	struct tare_error why;
	struct tare_blocks_listing listing; // no blocks: there is none
	bool several;                       // there were more than one
	struct tare_blocks_joined joined;   // by tare_blocks_models_join
};

struct tare_blocks_models {
	char devices[TARE_BLOCKS_MOST_DEVICES][TARE_BLOCKS_DEVICE_BYTES];
	uint32_t device_count;
	struct tare_blocks_model *at;
	size_t count;
};

// Takes the devices of "dg2,pvc", and compiles an empty kernel for each in the folder. 0; -EINVAL
// for a text that is none, or a device that ocloc does not know, -ENOENT where there is no ocloc,
// or another negative errno, with a sentence.
int tare_blocks_models_begin(const char *devices, const char *folder,
                             struct tare_blocks_models *models, struct tare_error *error);
// Compiles each build for each of them. 0 or -ENOMEM; what is wrong with a build is in its rows.
// `watch` may be NULL.
int tare_blocks_models_make(const char *folder, const struct tare_blocks_builds *builds,
                            const struct tare_blocks_watch *watch,
                            struct tare_blocks_models *models, struct tare_error *error);
// Joins each kernel's code with its counts, where there are any. 0 or -ENOMEM.
int tare_blocks_models_join(const struct tare_blocks_profile *profile,
                            struct tare_blocks_models *models, struct tare_error *error);
void tare_blocks_models_free(struct tare_blocks_models *models);

// Whether the model is of the kernel, or says why its build has none.
bool tare_blocks_is_model_of(const struct tare_blocks_model *model,
                             const struct tare_blocks_kernel *kernel);

// ---- listings (listings.c)

// A whole file "FOLDER/before name behind" as text, malloc; NULL.
char *tare_blocks_read_text(const char *folder, const char *before, const char *name,
                            const char *behind);
// Gives the folder's listings to the models of their kernels; and removes them.
void tare_blocks_listings_read(const char *folder, struct tare_blocks_model *models, size_t count);
void tare_blocks_listings_forget(const char *folder);
