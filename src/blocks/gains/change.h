// SPDX-License-Identifier: Apache-2.0
// What findings advise, done to a module by machine: kernels then compute the same, or the same
// with the precision that the advice has. What that saves is measured (gains.h).
#pragma once
#include "blocks/findings/findings.h"

enum tare_blocks_change {
	TARE_BLOCKS_AS_IT_IS,     // none
	TARE_BLOCKS_IN_SINGLE,    // doubles between floats become floats
	TARE_BLOCKS_BY_CONSTANTS, // divisors that are arguments become constants
	TARE_BLOCKS_IN_NATIVE,    // functions take their native_ form
	TARE_BLOCKS_REGROUPED,    // work-groups fill the device's width
	TARE_BLOCKS_CHANGES,
};

// The change that does what a finding advises; AS_IT_IS: no machine can.
enum tare_blocks_change tare_blocks_change_of(enum tare_blocks_advice advice);

struct tare_blocks_changed {
	uint32_t *words; // SPIR-V, malloc
	size_t count;
	struct blocks_fixed fixed[BLOCKS_FIXED]; // for which it holds (shared.h)
	uint32_t fixed_count;
	// of each word of the module, malloc: the instruction there takes part in the finding; it
	// is changed; its line and column in the build's own source, or 0; which of the fixed
	// arguments it divides by, from 1 on
	bool *asked, *done;
	uint32_t *lines, *columns;
	uint8_t *divisors;
	const char *options; // with which its text is to be built, beside the program's own; ""
};

// Changes a build's module in what the counted kernels of that build raise. 0 or -ENOMEM. To free
// in either case.
int tare_blocks_change(const struct tare_blocks_build *build,
                       const struct tare_blocks_profile *profile, enum tare_blocks_change change,
                       struct tare_blocks_changed *changed);
void tare_blocks_changed_free(struct tare_blocks_changed *changed);

// How much of a kernel's finding a change reaches, by executions: from 0 to 1; negative: no memory.
double tare_blocks_change_reach(const struct tare_blocks_changed *changed,
                                const struct tare_blocks_kernel *kernel,
                                enum tare_blocks_advice advice);

// Where OpenCL C is compiled once more, to see what a change makes of it.
struct tare_blocks_retry {
	const char *from;   // folder of the builds
	const char *folder; // where the compiler's files go
};
// The same in OpenCL C, for a driver that compiles it itself: its text with the change, in *text,
// malloc. Only what is surely the place of the instruction is edited: changed->done then tells what
// was. 0 or -ENOMEM.
int tare_blocks_change_source(const struct tare_blocks_build *build, enum tare_blocks_change change,
                              const struct tare_blocks_retry *retry,
                              struct tare_blocks_changed *changed, char **text);

// The special functions with a native form, as OpenCL C names them, by their number in OpenCL.std.
struct tare_blocks_native {
	uint8_t exact, native; // 0: the end
	const char *name;
};
extern const struct tare_blocks_native tare_blocks_natives[];

// ---- between the files of this folder

// The words of an instruction that are ids, from *first on, up to the one that is returned.
uint32_t tare_blocks_ids_of(const struct spirv_words *words, size_t at, uint32_t *first);
// Whether an instruction of a module gives doubles.
bool tare_blocks_is_double(const struct tare_blocks_module *module, size_t at);

// An edit of a text: bytes that are replaced.
struct tare_blocks_edit {
	size_t at, bytes;
	char put[512];
};
struct tare_blocks_edits {
	struct tare_blocks_edit *at;
	size_t count;
};
// Adds one, if it is not there. 0 or -ENOMEM.
int tare_blocks_edits_add(struct tare_blocks_edits *edits, const struct tare_blocks_edit *edit);
// The text with all of them, which do not overlap; malloc, NULL: no memory.
char *tare_blocks_edits_make(struct tare_blocks_edits *edits, const char *text);
// Shows what takes part in findings in all blocks of a module, as if each had run once. 0 or
// -ENOMEM.
int tare_blocks_see_all(const struct tare_blocks_module *module,
                        const struct tare_blocks_seeing *seeing);
// Marks the lines of a build's own source, up to `count`, on which another module of it has a
// finding. 1: there are such that were not marked, 0: none, or -ENOMEM.
int tare_blocks_lines_left(const struct tare_blocks_build *build,
                           const struct tare_blocks_module *module, enum tare_blocks_advice advice,
                           bool *lines, uint32_t count);
// Constants of whole lines become floats (floats.c): *text, malloc. 0 or -ENOMEM.
int tare_blocks_change_floats(const struct tare_blocks_build *build,
                              const struct tare_blocks_retry *retry,
                              struct tare_blocks_changed *changed, char **text);

// The value of a divisor that is a kernel's argument, or one widened, by what the program's
// launches gave it: that of the division at word `at` in the function `function`.
struct tare_blocks_divisor {
	uint32_t type; // of the divisor
	uint64_t value;
	struct blocks_fixed fixed;
};
// `defined`: of each id below the bound the word of its instruction in a function, or 0. False: it
// is none such.
bool tare_blocks_divisor_of(const struct tare_blocks_build *build,
                            const struct tare_blocks_profile *profile, const size_t *defined,
                            size_t at, uint32_t function, struct tare_blocks_divisor *divisor);

// Whether a kernel's argument is nothing but a divisor: were it a constant in the whole kernel,
// nothing else would change.
bool tare_blocks_only_divides(const struct tare_blocks_module *module,
                              const struct blocks_fixed *fixed);

// Whether a kernel's work-items do not see how they are grouped: no barriers, no local memory, no
// places in groups.
bool tare_blocks_is_free_of_groups(const struct tare_blocks_module *module,
                                   const struct tare_blocks_function *function);
