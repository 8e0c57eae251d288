// SPDX-License-Identifier: Apache-2.0
// Between the runs: what the program's builds were made of becomes instrumented modules.
#pragma once
#include "blocks/inputs.h"
#include "blocks/instrument.h"
#include "guest/blocks/shared.h"

// One build of the program's, by the hash that names its files.
struct tare_blocks_build {
	uint64_t hash;
	enum blocks_language language; // of the parts, where there are several
	char options[512];             // the program's own, cut off
	char level[128];               // how it was optimised before it was counted
	bool made;                     // there is a module
	// what is `mad` in it was `a * b + c` in the source: the driver's compiler may fuse it
	bool fuses;
	// the program's own mad() is called beside such: none of them is fused then (fused.h)
	bool mads_alike;
	struct tare_error why;            // where there is none
	struct tare_blocks_module module; // before it was instrumented
	struct tare_blocks_plan plan;     // which of its blocks have counters
	char *text;                       // OpenCL C; "" for SPIR-V, and where there are parts
	char *all_options;                // the program's own, whole, and those of linking
	char source[64];                  // its file in the folder, as lines name it
	// OpenCL C: all that lines can be of, the parts and the program's headers with it
	struct tare_blocks_sources sources;
	uint32_t parts;         // that were linked; 0: it was built at once, or is of one
	bool joined;            // it is a list of parts, also of a single one
	uint64_t counter_bytes; // of one kernel
	enum blocks_api api;
	bool fat; // it came in a fat binary, and its language is that of what was taken from it
	char driver_options[256]; // with which a module is built again
	char clang[256];          // of the driver's LLVM, or below; "": none
	char translator[256];     // makes bitcode of SPIR-V, for drivers that take none; "": none
};

// Whether a build is one text, or one module, that another one can be built in place of: it has no
// parts, and no headers of the program's, and it is no PTX.
bool tare_blocks_is_single(const struct tare_blocks_build *build);

// Why the last bit of results may be another one with counters: a clause; NULL: nothing that is
// known of the build lets it.
const char *tare_blocks_rounds_otherwise(const struct tare_blocks_build *build);

struct tare_blocks_builds {
	struct tare_blocks_build *at;
	size_t count;
	char tools[128]; // what compiled them; ""
};

// Who wants to know how far the compilers are: called before each build, `done` of `total`.
struct tare_blocks_watch {
	void (*step)(void *context, size_t done, size_t total);
	void *context;
};

// Instruments every build in the folder; with `samples` its kernels sample work-items, too. 0;
// -ENOMEM or an error of reading the folder, with a sentence. What is wrong with one build is in
// it. To free in either case. `watch` may be NULL.
int tare_blocks_compile(const char *folder, bool samples, const struct tare_blocks_watch *watch,
                        struct tare_blocks_builds *builds, struct tare_error *error);
// The same, OpenCL C as it is written, before any optimisation; the modules take the place of those
// that are there.
int tare_blocks_compile_unoptimised(const char *folder, struct tare_blocks_builds *builds,
                                    struct tare_error *error);
// Puts the PTX of a BUILD that is a fat binary in its place: that of the highest architecture that
// the device runs. The build is told what it is. Files go into the folder. 0; or -ENOENT (no
// cuobjdump, or no such PTX), -ENOTSUP (PTX that counters are not put in), -EIO, -ETIMEDOUT or
// -ENOMEM with a sentence.
int tare_blocks_fat_unpack(const char *folder, struct tare_blocks_input *input,
                           struct tare_blocks_build *build, struct tare_error *error);
// Instruments a build that is PTX, which takes no tools, and writes its module. 0 or a negative
// errno with a sentence.
int tare_blocks_compile_ptx(const char *folder, const struct tare_blocks_input *input,
                            struct tare_blocks_build *build, struct tare_error *error);
// Runs the build's translator: bitcode to SPIR-V, or `back`. 0 or a negative errno with a sentence.
int tare_blocks_translate(const char *folder, const struct tare_blocks_build *build,
                          const char *from, const char *to, bool back, struct tare_error *error);
// Writes a module for the layer into a folder: SPIR-V and, where there is a translator, bitcode.
// The rest of what it is stands in *head. 0 or a negative errno with a sentence.
int tare_blocks_module_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const void *spirv, size_t bytes,
                             struct tare_error *error);
// The same of OpenCL C, to be built with these options.
int tare_blocks_source_write(const char *folder, const struct tare_blocks_build *build,
                             struct blocks_module *head, const char *source, const char *options,
                             struct tare_error *error);
// Another text in the place of a build's own, compiled as that was in `from`, with more options
// ("": none); files go into `folder`. 0 or a negative errno with a sentence; the module is to be
// freed in either case.
int tare_blocks_compile_text(const char *from, const char *folder,
                             const struct tare_blocks_build *build, const char *text,
                             const char *more_options, struct tare_blocks_module *module,
                             struct tare_error *error);
// The compiler of the first build that has one; "": none.
const char *tare_blocks_clang(const struct tare_blocks_builds *builds);
void tare_blocks_builds_free(struct tare_blocks_builds *builds);
