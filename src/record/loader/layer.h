// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer: where it is, how the program's environment leads to it, and why it may not have
// been loaded.
#pragma once
#include "base/error.h"
#include "record/loader/loader.h"
#include "record/loader/program.h"

#include <stdbool.h>
#include <stdint.h>

// Names a folder in which the layer is looked for before the usual places.
#define TARE_LAYER_FOLDER "TARE_LAYER_DIR"

// The absolute path of the OpenCL layer, to free(): in $TARE_LAYER_DIR when that is set, else
// beside this program as installed or as built. NULL with a sentence.
char *tare_layer_find(struct tare_error *error);

// Whether this process could load the layer, as a program's loader will: else a run would be for
// nothing. Returns 0 or -ELIBBAD with a sentence.
int tare_layer_check(const char *layer, struct tare_error *error);

// Which commands get device times.
enum tare_record_times {
	TARE_TIMES_SAMPLED, // all until they cost too much, then a random sample
	TARE_TIMES_ALL,
	TARE_TIMES_NONE,
};
const char *tare_record_times_name(enum tare_record_times times); // "sampled", "all", "none"

// What the recorder in the program is told.
struct tare_record_options {
	bool strict, keep_newest, call_stacks, contents;
	enum tare_record_times times;
	uint64_t max_bytes;            // 0: no limit
	int64_t delay_ns, duration_ns; // 0: at once; to the end
	const char *front;             // a loader that is put in front of the program's; NULL: none
	// what is put in front of CUDA's driver (record/loader/cupti.h); NULL: nothing
	const char *cuda_front;
	bool no_cupti; // CUDA is recorded by that alone
	// stubs of Level Zero's drivers (record/loader/driver.h); NULL: none
	const char *drivers, *behind;
	// replaces functions of those drivers before the recorder does (blocks); NULL: nothing
	const char *first;
	const char *count; // what counters are wanted of (src/guest/environment.h); NULL: none
};

// The environment for the program: tare's own (`inherited`), with the layer before those that were
// in OPENCL_LAYERS (others of its name are left out: two recorders would count everything twice),
// with the hooks of phases led to it, with options->front and options->cuda_front before what was
// in LD_PRELOAD, with stubs for Level Zero's drivers, and with what src/guest/environment.h names.
// start_raw_ns: CLOCK_MONOTONIC_RAW now. Returns an array of texts that ends with NULL, for
// tare_environment_free; NULL: no memory.
char **tare_environment_make(char *const *inherited, const char *layer, const char *directory,
                             const struct tare_record_options *options, int64_t start_raw_ns);
void tare_environment_free(char **environment); // accepts NULL

// The hooks by which programs find who records their phases, and CUDA's driver who records its
// calls: environment variables. Returns the name of `hook` when `inherited` leads it to something
// else than `layer`, which then stays; *value is that, *phases what is not recorded ("ITT phases",
// "CUDA programs"). NULL: it leads, or will lead, to the layer.
#define TARE_PHASE_HOOKS 4
const char *tare_environment_elsewhere(char *const *inherited, const char *layer, size_t hook,
                                       const char **value, const char **phases);

// Why no process of the program was recorded: a clause with the evidence, without a full stop.
// `withheld`: a loader that --strict did not put in front of it; NULL: none.
void tare_layer_explain(const struct tare_program *program, const struct tare_loader *loader,
                        const char *withheld, char *text, size_t size);
