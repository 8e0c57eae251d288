// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"
#include "backend/cuda/nvrtc/nvrtc.h"
#include "backend/cuda/ptx/ptx.h"

#include <errno.h>
#include <stdio.h>
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

static bool contains(const struct tare_module_source *source, const char *word)
{
	return memmem(source->data, source->bytes, word, strlen(word)) != NULL;
}

static int check_ptx(const struct tare_module_source *source, struct tare_error *error)
{
	if (source->options && *source->options)
		return tare_fail(error, ENOTSUP,
		                 "the CUDA driver takes no build options for PTX; leave them out");
	if (is_binary(source))
		return tare_fail(
		    error, EINVAL,
		    "this is a GPU binary (cubin or fatbin), not PTX; give the source, or "
		    "what nvcc -ptx writes");
	if (memchr(source->data, '\0', source->bytes))
		return tare_fail(error, EINVAL, "this is no text, and so no PTX");
	if (!contains(source, ".version"))
		return tare_fail(error, EINVAL,
		                 "this is no PTX, which begins with .version; nvcc -ptx writes it");
	return 0;
}

static int check_format(const struct tare_module_source *source, struct tare_error *error)
{
	switch (source->format) {
	case TARE_MODULE_PTX:
		return check_ptx(source, error);
	case TARE_MODULE_NATIVE:
		if (!is_binary(source))
			return tare_fail(error, ENOTSUP, "this is no GPU binary (cubin or fatbin)");
		return 0;
	case TARE_MODULE_CUDA_C:
		if (is_binary(source) || memchr(source->data, '\0', source->bytes))
			return tare_fail(error, EINVAL, "this is no text, and so no CUDA C");
		if (!contains(source, "__global__") &&
		    (contains(source, "get_global_id") || contains(source, "__kernel")))
			return tare_fail(
			    error, EINVAL,
			    "this is OpenCL C, which CUDA does not take; a kernel of CUDA C "
			    "is a __global__ function");
		return 0;
	case TARE_MODULE_OPENCL_C:
	case TARE_MODULE_SPIRV:
		break;
	}
	return tare_fail(error, ENOTSUP, "CUDA takes CUDA C, PTX or a GPU binary");
}

// ---- loading

static int capability_of(const struct cuda_device *device)
{
	return cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
	       cuda_attribute(device, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

// What of the PTX does not fit the driver or the device, as a sentence; false: nothing is known.
static bool say_misfit(const struct cuda_device *device, cu_result result, const char *ptx,
                       bool own, char *text, size_t size)
{
	struct cuda_text version = cuda_ptx_directive(ptx, "version");
	struct cuda_text target = cuda_ptx_directive(ptx, "target");
	int cuda = device->driver->version, has = capability_of(device), wants = 0;
	char suffix = '\0';

	if (result == ABI_UNSUPPORTED_PTX_VERSION) {
		snprintf(text, size,
		         "this is PTX %.*s, newer than the driver takes (CUDA %d.%d); update the "
		         "driver, "
		         "or write the PTX with the toolkit of CUDA %d.%d or older",
		         (int)version.length, version.at, cuda / 1000, cuda % 1000 / 10,
		         cuda / 1000, cuda % 1000 / 10);
		return true;
	}
	if (target.length < 4 || target.length > 12 ||
	    sscanf(target.at, "sm_%d%c", &wants, &suffix) < 1)
		return false;
	// sm_90a is for 9.0 only, sm_100f for that family only; plain ones for all that are later.
	bool special = suffix == 'a' || suffix == 'f';
	if (wants <= has && !(special && wants != has))
		return false;
	if (own)
		snprintf(text, size,
		         "tare's kernels need compute capability %d.%d; this device has %d.%d",
		         wants / 10, wants % 10, has / 10, has % 10);
	else
		snprintf(
		    text, size,
		    "this PTX is for %.*s, this device has compute capability %d.%d; write it for "
		    "compute_%d%s",
		    (int)target.length, target.at, has / 10, has % 10, has,
		    special ? "" : " or older");
	return true;
}

static int load_failed(const struct cuda_device *device, cu_result result, const char *ptx,
                       const struct tare_module_source *source, bool logged,
                       struct tare_error *error)
{
	const struct cuda_nvrtc *nvrtc = device->driver->nvrtc;
	int version = device->driver->version;
	bool refused = cuda_errno(result) == -EINVAL;
	const char *what = "cannot load the kernels";
	char text[256];

	if (result == ABI_JIT_COMPILER_NOT_FOUND)
		what = "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is not "
		       "installed; it "
		       "comes with the NVIDIA driver";
	else if (result == ABI_JIT_COMPILATION_DISABLED)
		what = "the driver may not compile PTX: CUDA_DISABLE_PTX_JIT is set; unset it";
	else if (refused && source->format == TARE_MODULE_CUDA_C && nvrtc && version &&
	         nvrtc->major * 1000 + nvrtc->minor * 10 > version) {
		snprintf(
		    text, sizeof text,
		    "NVRTC %d.%d is newer than the driver (CUDA %d.%d); update the driver, or name "
		    "an NVRTC of CUDA %d with TARE_NVRTC_LIBRARY",
		    nvrtc->major, nvrtc->minor, version / 1000, version % 1000 / 10,
		    version / 1000);
		what = text;
	} else if (refused && ptx &&
	           say_misfit(device, result, ptx, source->ends, text, sizeof text)) {
		what = text;
	} else if (refused) {
		what = source->format == TARE_MODULE_NATIVE ? "the device does not take the binary"
		       : logged ? "the kernels do not compile; the log says why"
		                : "the kernels do not compile";
	}
	return cuda_fail(device->driver, result, "cuModuleLoadDataEx", error, "%s", what);
}

// What the driver's compiler said. Called with the log only where PTX is compiled.
static void keep_log(const char *text, char **log)
{
	if (log && text[0] && !*log)
		*log = strdup(text);
}

static int load(struct cuda_device *device, struct cuda_module *module, const char *image,
                const char *ptx, const struct tare_module_source *source, char **log,
                struct tare_error *error)
{
	char *said = calloc(2, LOG_BYTES);
	int status = 0;

	if (!said)
		return tare_fail(error, ENOMEM, "out of memory");
	cu_jit_option options[] = { ABI_JIT_ERROR_LOG_BUFFER, ABI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
		                    ABI_JIT_INFO_LOG_BUFFER, ABI_JIT_INFO_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { said, (void *)(uintptr_t)(LOG_BYTES - 1), said + LOG_BYTES,
		           (void *)(uintptr_t)(LOG_BYTES - 1) };
	cu_result result =
	    device->driver->call.cuModuleLoadDataEx(&module->handle, image, 4, options, values);
	if (result != ABI_SUCCESS) {
		status = load_failed(device, result, ptx, source, said[0] != '\0', error);
		if (status == -EINVAL)
			keep_log(said, log);
	}
	if (status == -EINVAL || (status == 0 && !source->ends))
		keep_log(said + LOG_BYTES, log);
	free(said);
	return status;
}

// A copy of text with an end, and none where there is no text.
static char *copy_text(const struct tare_module_source *source)
{
	return strndup(source->data, source->bytes);
}

int cuda_module_create(struct tare_device *base, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	struct cuda_compiled compiled = { 0 };
	struct cuda_module *made = NULL;
	char *text = NULL;
	int status = check_format(source, error);

	if (log)
		*log = NULL;
	status = status ?: cuda_enter(device, error);
	if (status == 0 && source->format == TARE_MODULE_CUDA_C)
		status = cuda_compile(device, source, &compiled, log, error);
	if (status < 0)
		return status;
	made = calloc(1, sizeof *made);
	// PTX is a C string to the driver; a binary has its length in itself.
	text = source->format == TARE_MODULE_NATIVE ? malloc(source->bytes) : copy_text(source);
	if (!made || !text) {
		status = tare_fail(error, ENOMEM, "out of memory");
		goto out;
	}
	if (source->format == TARE_MODULE_NATIVE)
		memcpy(text, source->data, source->bytes);
	made->base.device = base;
	const char *ptx = source->format == TARE_MODULE_PTX ? text : compiled.ptx;
	status =
	    load(device, made, compiled.image ? compiled.image : text, ptx, source, log, error);
	if (status < 0)
		goto out;
	if (source->format == TARE_MODULE_CUDA_C) {
		made->source = text;
		made->ptx = compiled.ptx;
		made->lowered = compiled.lowered;
		made->entry = compiled.lowered ? strdup(source->entry) : NULL;
		text = compiled.ptx = compiled.lowered = NULL;
	} else if (source->format == TARE_MODULE_PTX && !source->ends) {
		made->ptx = text;
		text = NULL;
	}
	*module = &made->base;
	made = NULL;
out:
	cuda_compiled_free(&compiled);
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
	free(module->ptx);
	free(module->source);
	free(module->entry);
	free(module->lowered);
	free(module);
}

// ---- kernels

int cuda_module_kernels(struct tare_module *base, char *names, size_t size,
                        struct tare_error *error)
{
	struct cuda_module *module = (struct cuda_module *)base;

	if (!module->ptx)
		return tare_fail(error, ENODATA,
		                 "the driver does not list the kernels of this module");
	return (int)cuda_ptx_names(module->ptx, names, size);
}

// The name that the module has for `name`, to free(). NULL with an error: no memory, or it fits
// more than one kernel.
static char *module_name(const struct cuda_module *module, const char *name,
                         struct tare_error *error)
{
	struct cuda_text found = { name, strlen(name) };
	char *copy;

	if (module->entry && strcmp(name, module->entry) == 0)
		found = (struct cuda_text){ module->lowered, strlen(module->lowered) };
	else if (module->ptx && cuda_ptx_resolve(module->ptx, name, &found) > 1) {
		char names[256];
		cuda_ptx_names(module->ptx, names, sizeof names);
		tare_fail(error, EINVAL, "'%.80s' fits more than one kernel; choose from: %s", name,
		          names);
		return NULL;
	}
	copy = strndup(found.at, found.length);
	if (!copy)
		tare_fail(error, ENOMEM, "out of memory");
	return copy;
}

static void kernel_release(struct cuda_kernel *kernel)
{
	free(kernel->name);
	free(kernel);
}

int cuda_kernel_create(struct tare_module *base, const char *name, struct tare_kernel **kernel,
                       struct tare_error *error)
{
	struct cuda_module *module = (struct cuda_module *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;
	struct tare_error why = { .code = -EINVAL };
	struct cuda_kernel *made;
	int status = cuda_enter(device, error), registers = 0;

	if (status < 0)
		return status;
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.module = base;
	made->name = module_name(module, name, &why);
	if (!made->name) {
		kernel_release(made);
		if (error)
			*error = why;
		return why.code;
	}
	cu_result result = call->cuModuleGetFunction(&made->handle, module->handle, made->name);
	if (result != ABI_SUCCESS) {
		char names[160] = "";
		if (module->ptx)
			cuda_ptx_names(module->ptx, names, sizeof names);
		kernel_release(made);
		return cuda_fail(device->driver, result, "cuModuleGetFunction", error,
		                 "the module has no kernel '%.80s'%s%s%s", name,
		                 names[0] ? "; it has: " : "", names,
		                 module->source && strstr(module->source, "template")
		                     ? "; a template is made by its name and type, 'NAME<TYPE>'"
		                     : "");
	}
	// CUDA loads a kernel lazily, at its first launch, and may synchronise for it; behind a
	// shut gate that would never end. So have it loaded now.
	if (call->cuFuncLoad)
		call->cuFuncLoad(made->handle);
	else
		call->cuFuncGetAttribute(&registers, ABI_FUNCTION_NUM_REGS, made->handle);
	*kernel = &made->base;
	return 0;
}

void cuda_kernel_free(struct tare_kernel *kernel)
{
	if (kernel)
		kernel_release((struct cuda_kernel *)kernel); // the function belongs to the module
}

int cuda_kernel_facts(struct tare_kernel *base, struct tare_kernel_facts *facts,
                      struct tare_error *error)
{
	struct cuda_kernel *kernel = (struct cuda_kernel *)base;
	struct cuda_device *device = cuda_device_of(base->module->device);
	int64_t *const members[] = {
		&facts->registers,
		&facts->local_bytes,
		&facts->private_bytes,
		&facts->max_group_size,
	};
	static const cu_function_attribute attributes[] = {
		ABI_FUNCTION_NUM_REGS,
		ABI_FUNCTION_SHARED_SIZE_BYTES,
		ABI_FUNCTION_LOCAL_SIZE_BYTES,
		ABI_FUNCTION_MAX_THREADS_PER_BLOCK,
	};
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	// What does not fit into registers is part of a thread's local memory, beside its arrays.
	// CUDA does not tell them apart; but where there is none, nothing was spilled.
	*facts = (struct tare_kernel_facts){ .spill_bytes = -1,
		                             .simd_width = device->warp_size,
		                             .preferred_multiple = device->warp_size,
		                             .arguments = cuda_parameter_count(kernel) };
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		int value = -1;
		if (device->driver->call.cuFuncGetAttribute(&value, attributes[i],
		                                            kernel->handle) != ABI_SUCCESS)
			value = -1;
		*members[i] = value;
	}
	if (facts->private_bytes == 0)
		facts->spill_bytes = 0;
	return 0;
}
