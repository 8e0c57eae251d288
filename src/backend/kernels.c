// SPDX-License-Identifier: Apache-2.0
#include "backend/kernels.h"

#include "backend/call.h"

#include <errno.h>
#include <string.h>

struct carried_kernel {
	const char *name;
	const char *opencl;
	const size_t *opencl_bytes;
	const char *ptx; // empty when tare was built without clang
	const size_t *ptx_bytes;
	const unsigned char *spirv; // empty when tare was built without clang or llvm-spirv
	const size_t *spirv_bytes;
};

#define MODULES(X)                                                                                 \
	X(empty)                                                                                   \
	X(overlap)                                                                                 \
	X(matmul)                                                                                  \
	X(matmul_sub_groups)                                                                       \
	X(peak_fp32)                                                                               \
	X(peak_fp64)                                                                               \
	X(peak_fp16)                                                                               \
	X(peak_integer)                                                                            \
	X(peak_memory)                                                                             \
	X(peak_local)                                                                              \
	X(copy)

#define DECLARED(kernel)                                                                           \
	extern const char tare_kernel_##kernel##_opencl[], tare_kernel_##kernel##_ptx[];           \
	extern const unsigned char tare_kernel_##kernel##_spirv[];                                 \
	extern const size_t tare_kernel_##kernel##_opencl_bytes, tare_kernel_##kernel##_ptx_bytes; \
	extern const size_t tare_kernel_##kernel##_spirv_bytes;
MODULES(DECLARED)

#define CARRIED(kernel)                                                                            \
	{ #kernel,                                                                                 \
	  tare_kernel_##kernel##_opencl,                                                           \
	  &tare_kernel_##kernel##_opencl_bytes,                                                    \
	  tare_kernel_##kernel##_ptx,                                                              \
	  &tare_kernel_##kernel##_ptx_bytes,                                                       \
	  tare_kernel_##kernel##_spirv,                                                            \
	  &tare_kernel_##kernel##_spirv_bytes },

static const struct carried_kernel carried_kernels[] = { MODULES(CARRIED) };

static const struct carried_kernel *find(const char *name)
{
	for (size_t i = 0; i < sizeof carried_kernels / sizeof *carried_kernels; i++)
		if (strcmp(carried_kernels[i].name, name) == 0)
			return &carried_kernels[i];
	return NULL;
}

int tare_kernel_source(const char *name, enum tare_module_format format,
                       struct tare_module_source *source, struct tare_error *error)
{
	const struct carried_kernel *kernel = find(name);

	if (!kernel)
		return tare_fail(error, ENOENT, "tare carries no kernel '%.40s'", name);
	*source = (struct tare_module_source){ .format = format, .ends = true };
	switch (format) {
	case TARE_MODULE_OPENCL_C:
		source->data = kernel->opencl;
		source->bytes = *kernel->opencl_bytes;
		return 0;
	case TARE_MODULE_PTX:
		source->data = kernel->ptx;
		source->bytes = *kernel->ptx_bytes;
		if (source->bytes == 0)
			return tare_fail(
			    error, ENOTSUP,
			    "this tare carries no PTX kernels: it was built without clang");
		return 0;
	case TARE_MODULE_NATIVE:
		source->data = kernel->name;
		source->bytes = strlen(kernel->name);
		return 0;
	case TARE_MODULE_CUDA_C:
		// The prelude tells the languages apart.
		source->data = kernel->opencl;
		source->bytes = *kernel->opencl_bytes;
		source->file = kernel->name;
		return 0;
	case TARE_MODULE_SPIRV:
		source->data = kernel->spirv;
		source->bytes = *kernel->spirv_bytes;
		if (source->bytes == 0)
			return tare_fail(
			    error, ENOTSUP,
			    "this tare carries no SPIR-V kernels: it was "
			    "built without clang, or without an llvm-spirv that takes what "
			    "it writes; install them and build again");
		return 0;
	}
	return tare_fail(error, ENOTSUP, "tare carries no kernels in this format");
}

int tare_kernel_build(struct tare_device *device, const char *name, const char *entry,
                      struct tare_module **module, struct tare_kernel **kernel, char **log,
                      struct tare_error *error)
{
	// One try, with the format that the backend is made for: what it says of another would hide
	// why this one failed.
	static const enum tare_module_format formats[] = {
		TARE_MODULE_OPENCL_C,
		TARE_MODULE_PTX,
		TARE_MODULE_SPIRV,
		TARE_MODULE_NATIVE,
	};
	struct tare_module_source source;
	struct tare_module *built = NULL;
	size_t i = 0, last = sizeof formats / sizeof *formats - 1;

	while (i < last && !(device->backend->module_formats >> formats[i] & 1))
		i++;
	int status = tare_kernel_source(name, formats[i], &source, error);
	// Built without clang: the device's own compiler may be there.
	bool late = status == -ENOTSUP && formats[i] == TARE_MODULE_PTX &&
	            device->backend->module_formats >> TARE_MODULE_CUDA_C & 1;
	if (late)
		status = tare_kernel_source(name, TARE_MODULE_CUDA_C, &source, error);
	late = late && status == 0;
	// The simulated device knows entries, not modules.
	if (formats[i] == TARE_MODULE_NATIVE) {
		source.data = entry;
		source.bytes = strlen(entry);
	}
	status = status ?: tare_module_create(device, &source, &built, log, error);
	if (status < 0 && late)
		tare_error_prefix(error, "this tare was built without clang, and so without PTX");
	if (status < 0)
		return status;
	status = tare_kernel_create(built, entry, kernel, error);
	if (status < 0) {
		tare_module_free(built);
		return status;
	}
	*module = built;
	return 0;
}
