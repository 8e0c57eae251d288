// SPDX-License-Identifier: Apache-2.0
// The user's own kernel: read from a file, built, and checked against the contract of chunked
// kernels (man page tare-overlap, KERNELS) before anything is measured.
#pragma once
#include "measure/overlap/overlap.h"

#define TARE_USER_ARGUMENTS                                                                        \
	(sizeof((struct tare_chunk_kernel *)0)->scalars / sizeof(struct tare_argument))

// One --arg: "int:5", "float:0.5", "local:1024".
struct tare_user_argument {
	enum tare_argument_type type; // VALUE or LOCAL
	char word[8];                 // "int"
	size_t bytes;                 // of the value, or of local memory
	unsigned char value[8];
};

// Returns 0, or -EINVAL with a sentence: no such type, no number, does not fit into the type.
int tare_user_argument_parse(const char *text, struct tare_user_argument *argument,
                             struct tare_error *error);

// The format that a file name's suffix stands for: .cl .spv .ptx .cu, and .tare for a kernel that
// the device itself has by the entry's name (the simulated device). Returns 0 or -EINVAL.
int tare_user_kernel_format(const char *file, enum tare_module_format *format,
                            struct tare_error *error);

// Names of the kernels that a source in OpenCL C, CUDA C or PTX seems to hold, separated by ", ",
// by a simple scan that knows comments and strings but no macros. Returns how many there are.
size_t tare_user_kernel_names(enum tare_module_format format, const char *source, char *names,
                              size_t size);

struct tare_built_kernel {
	struct tare_module *module;
	struct tare_chunk_kernel chunk; // scalars point into `arguments`: do not move it
	struct tare_user_argument arguments[TARE_USER_ARGUMENTS];
	char title[128]; // "blur (my.cl)"
};

// Reads and builds it, and runs it once over a few items with a time limit. Returns 0; -EINVAL and
// others with a sentence that names the file and the way out (*log, if log is not NULL: the build
// log to free()); -ETIMEDOUT when the first run does not end: the device is abandoned then.
int tare_user_kernel_build(struct tare_run *run, const struct tare_user_kernel *options,
                           struct tare_built_kernel *built, char **log, struct tare_error *error);
// Builds module and kernel of the same file once more, and launches nothing. Both are the caller's
// to free, the kernel first.
int tare_user_kernel_rebuild(struct tare_run *run, const struct tare_user_kernel *options,
                             struct tare_module **module, struct tare_kernel **kernel,
                             struct tare_error *error);
// Builds the file's module alone, for `devices --kernel`. *names are its kernels' names, separated
// by ", ", to free(): options->entry where it is given. Returns as tare_kernels_list
// (measure/overlap/kernel_list.h).
int tare_user_kernel_module(struct tare_device *device, const struct tare_user_kernel *options,
                            struct tare_module **module, char **names, char **log,
                            struct tare_error *error);
void tare_built_kernel_free(struct tare_built_kernel *built);
