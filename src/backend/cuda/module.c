// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES 16384

// A cubin is an ELF file, several of them in one are a fat binary.
static bool is_binary(const struct tare_module_source *source)
{
	static const unsigned char fat[] = { 0x50, 0xed, 0x55, 0xba };
	return source->bytes > 4 && (memcmp(source->data, "\177ELF", 4) == 0 ||
	                             memcmp(source->data, fat, sizeof fat) == 0);
}

static int check_format(const struct tare_module_source *source, struct tare_error *error)
{
	switch (source->format) {
	case TARE_MODULE_PTX:
		break;
	case TARE_MODULE_NATIVE:
		if (!is_binary(source))
			return tare_fail(error, ENOTSUP, "this is no GPU binary (cubin or fatbin)");
		break;
	case TARE_MODULE_OPENCL_C:
	case TARE_MODULE_SPIRV:
		return tare_fail(error, ENOTSUP, "CUDA takes PTX or a GPU binary");
	case TARE_MODULE_CUDA_C:
		return tare_fail(error, ENOTSUP,
		                 "CUDA C needs NVRTC, which tare does not use yet; give PTX");
	}
	if (source->options && *source->options)
		return tare_fail(error, ENOTSUP, "the CUDA driver takes no build options as text");
	return 0;
}

static void keep_log(const char *text, char **log)
{
	if (log && text[0])
		*log = strdup(text);
}

int cuda_module_create(struct tare_device *base, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	struct cuda_module *made = NULL;
	char *text = NULL, *messages = NULL;
	int status = check_format(source, error);

	if (status == 0)
		status = cuda_enter(device, error);
	if (status < 0)
		return status;
	made = calloc(1, sizeof *made);
	text = malloc(source->bytes + 1);
	messages = calloc(1, LOG_BYTES);
	if (!made || !text || !messages) {
		status = tare_fail(error, ENOMEM, "out of memory");
		goto out;
	}
	// PTX is a C string to the driver.
	memcpy(text, source->data, source->bytes);
	text[source->bytes] = '\0';
	made->base.device = base;
	cu_jit_option options[] = { ABI_JIT_ERROR_LOG_BUFFER, ABI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { messages, (void *)(uintptr_t)(LOG_BYTES - 1) };
	cu_result result = device->driver->call.cuModuleLoadDataEx(&made->handle, text, 2, options,
	                                                           values);
	if (result != ABI_SUCCESS) {
		status = cuda_fail(device->driver, result, "cuModuleLoadDataEx", error,
		                   "the kernels do not compile");
		if (status == -EINVAL)
			keep_log(messages, log);
		goto out;
	}
	*module = &made->base;
	made = NULL;
out:
	free(messages);
	free(text);
	free(made);
	return status;
}

void cuda_module_free(struct tare_module *base)
{
	if (!base)
		return;
	struct cuda_module *module = (struct cuda_module *)base;
	struct cuda_device *device = cuda_device_of(base->device);

	cuda_enter(device, NULL);
	device->driver->call.cuModuleUnload(module->handle);
	free(module);
}

int cuda_kernel_create(struct tare_module *base, const char *name, struct tare_kernel **kernel,
                       struct tare_error *error)
{
	struct cuda_module *module = (struct cuda_module *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	struct cuda_kernel *made;
	int status = cuda_enter(device, error), registers = 0;

	if (status < 0)
		return status;
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.module = base;
	cu_result result = call->cuModuleGetFunction(&made->handle, module->handle, name);
	if (result != ABI_SUCCESS) {
		free(made);
		return cuda_fail(device->driver, result, "cuModuleGetFunction", error,
		                 "the module has no kernel '%.80s'", name);
	}
	// CUDA loads a kernel lazily, at its first launch, and may synchronise for it; behind a shut
	// gate that would never end. So have it loaded now.
	if (call->cuFuncLoad)
		call->cuFuncLoad(made->handle);
	else
		call->cuFuncGetAttribute(&registers, ABI_FUNCTION_NUM_REGS, made->handle);
	*kernel = &made->base;
	return 0;
}

void cuda_kernel_free(struct tare_kernel *kernel)
{
	free(kernel);  // the function belongs to the module
}

int cuda_kernel_facts(struct tare_kernel *base, struct tare_kernel_facts *facts,
                      struct tare_error *error)
{
	struct cuda_kernel *kernel = (struct cuda_kernel *)base;
	struct cuda_device *device = cuda_device_of(base->module->device);
	int64_t *const members[] = {
		&facts->registers, &facts->local_bytes, &facts->private_bytes, &facts->max_group_size,
	};
	static const cu_function_attribute attributes[] = {
		ABI_FUNCTION_NUM_REGS, ABI_FUNCTION_SHARED_SIZE_BYTES, ABI_FUNCTION_LOCAL_SIZE_BYTES,
		ABI_FUNCTION_MAX_THREADS_PER_BLOCK,
	};
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	// Spilled bytes are part of the local memory a thread; CUDA does not tell them apart.
	*facts = (struct tare_kernel_facts){ .spill_bytes = -1, .simd_width = device->warp_size,
	                                     .preferred_multiple = device->warp_size,
	                                     .arguments = -1 };
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		int value = -1;
		if (device->driver->call.cuFuncGetAttribute(&value, attributes[i], kernel->handle) !=
		    ABI_SUCCESS)
			value = -1;
		*members[i] = value;
	}
	return 0;
}
