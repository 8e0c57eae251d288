// SPDX-License-Identifier: Apache-2.0
// NVRTC, the compiler of CUDA C as a library. It belongs to the toolkit, not to the driver, so it
// may be missing; PTX does without it.
#pragma once
#include "backend/cuda/internal.h"
#include "backend/cuda/nvrtc/nvrtc_abi.h"

#include <limits.h>

struct cuda_nvrtc {
	struct nvrtc_functions call;
	struct tare_library *library;
	int major, minor;
	int architectures[64], count; // 90 is compute capability 9.0; count 0: it does not tell
	char include[PATH_MAX];       // the toolkit's headers; "": not found
};

// Opens NVRTC when it is first wanted; it stays with the driver. TARE_NVRTC_LIBRARY names one;
// otherwise it is looked for in CUDA_PATH, CUDA_HOME, by the loader, in the usual folders of the
// toolkit and of Python's packages: the driver's major version first, then older ones, then newer.
// -ENOTSUP: none is there; the error says where it was looked for and what works without.
int cuda_nvrtc_open(struct cuda_driver *driver, struct tare_error *error);
void cuda_nvrtc_close(struct cuda_driver *driver);

struct cuda_compiled {
	char *image; // what the driver loads: a GPU binary or PTX
	char *ptx;   // the same as PTX; NULL where NVRTC gives none
	// the name of the kernel that source->entry is an expression for; NULL: none
	char *lowered;
};

// Compiles CUDA C for the device. 0; -EINVAL when it does not compile, with *log to free() as
// module_create leaves it; -ENOTSUP when NVRTC is not there or does not know the device.
int cuda_compile(struct cuda_device *device, const struct tare_module_source *source,
                 struct cuda_compiled *compiled, char **log, struct tare_error *error);
void cuda_compiled_free(struct cuda_compiled *compiled);
