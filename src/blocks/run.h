// SPDX-License-Identifier: Apache-2.0
// One run of the program with the layer of tare blocks in it.
#pragma once
#include "record/again.h"

struct tare_blocks_place {
	char *layer;    // the library's path, malloc
	char *sampler;  // that of CUDA's
	char *ptx;      // that of CUDA's PTX
	char *recorder; // that of tare record's
	const char *drivers,
	    *behind;       // stubs of Level Zero's drivers (record/loader/driver.h), or NULL
	const char *front; // an OpenCL loader that is put in front of the program's; NULL: none
	char folder[4000]; // absolute, ours alone; "": none
	int lock;          // the folder, open and locked
};

// Finds the layer beside the recorder `recorder`. 0, or -ENOENT with a sentence.
int tare_blocks_layer_find(const char *recorder, struct tare_blocks_place *place,
                           struct tare_error *error);
// Makes the folder, in $TMPDIR or /tmp, and removes those that tares left there that were killed
// more than a minute ago. 0, or a negative errno with a sentence.
int tare_blocks_folder_make(struct tare_blocks_place *place, struct tare_error *error);
// Removes the folder and what is in it, and frees.
void tare_blocks_place_free(struct tare_blocks_place *place);

struct tare_blocks_run {
	char *const *arguments;
	const char *stage;   // guest/blocks/shared.h
	bool silent;         // without standard output
	uint32_t period;     // CUDA kernels are sampled every 2 to this power cycles; 0: not
	bool ptx;            // PTX of CUDA programs is counted; not together with a period
	bool launches;       // of CUDA kernels are counted
	const char *exact;   // the CUDA kernel that is timed (shared.h of the sampler); NULL: none
	bool count;          // its instructions are counted, and nothing is sampled
	const char *options; // build options in the place of the program's own; NULL: its own
	// where PoCL keeps what it builds in this run, with its modules and with lines; NULL: as
	// it does without us
	const char *cache;
	const char *output; // a file for its standard output; NULL: tare's, or none where silent
	// a folder in which it is recorded, too, with device times; NULL: it is not
	const char *trace;
	bool contents;        // what it moves is told by hashes there
	const char *counters; // what is counted there, without times; NULL: nothing
};
// Runs the program to its end. 0; or the negative errno of the exec (or of tare's own failure: then
// *own is true) with a sentence.
int tare_blocks_run(const struct tare_blocks_place *place, const struct tare_blocks_run *run,
                    struct tare_child_end *end, int64_t *wall_ns, bool *own,
                    struct tare_error *error);
// Empties the folder of what processes counted, for the next run; or of everything.
void tare_blocks_forget_counts(const struct tare_blocks_place *place);
void tare_blocks_forget_all(const struct tare_blocks_place *place);
