// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool takes_spirv(const struct opencl_device *device)
{
	char versions[512] = "";
	return device->cl->clCreateProgramWithIL && device->entry.version >= 210 &&
	       device->cl->clGetDeviceInfo(device->entry.id, CL_DEVICE_IL_VERSION,
	                                   sizeof versions - 1, versions, NULL) == CL_SUCCESS &&
	       strstr(versions, "SPIR-V");
}

static int create_program(const struct opencl_device *device,
                          const struct tare_module_source *source, cl_program *program,
                          struct tare_error *error)
{
	const struct opencl_functions *cl = device->cl;
	const unsigned char *binary = source->data;
	const char *text = source->data, *call;
	size_t bytes = source->bytes;
	cl_int code = CL_SUCCESS, status = CL_SUCCESS;

	switch (source->format) {
	case TARE_MODULE_OPENCL_C:
		call = "clCreateProgramWithSource";
		*program = cl->clCreateProgramWithSource(device->context, 1, &text, &bytes, &code);
		break;
	case TARE_MODULE_SPIRV:
		if (!takes_spirv(device))
			return tare_fail(error, ENOTSUP, "this device takes no SPIR-V");
		call = "clCreateProgramWithIL";
		*program = cl->clCreateProgramWithIL(device->context, source->data, bytes, &code);
		break;
	case TARE_MODULE_NATIVE:
		call = "clCreateProgramWithBinary";
		*program = cl->clCreateProgramWithBinary(device->context, 1, &device->entry.id,
		                                         &bytes, &binary, &status, &code);
		break;
	default:
		return tare_fail(error, ENOTSUP,
		                 "OpenCL takes OpenCL C, SPIR-V and the device's own "
		                 "binaries");
	}
	if (code == CL_SUCCESS)
		return 0;
	*program = NULL;
	int rc = opencl_fail(error, call, code, "cannot create a program");
	if (code != CL_INVALID_BINARY)
		return rc;
	// Another device's binary: a format that this one cannot take.
	if (error)
		error->code = -ENOTSUP;
	return -ENOTSUP;
}

// The build log as a string to free(); NULL when there is none.
static char *read_log(const struct opencl_device *device, cl_program program)
{
	const struct opencl_functions *cl = device->cl;
	size_t bytes = 0;

	if (cl->clGetProgramBuildInfo(program, device->entry.id, CL_PROGRAM_BUILD_LOG, 0, NULL,
	                              &bytes) != CL_SUCCESS ||
	    bytes < 2)
		return NULL;
	char *log = calloc(1, bytes + 1);
	if (log && cl->clGetProgramBuildInfo(program, device->entry.id, CL_PROGRAM_BUILD_LOG, bytes,
	                                     log, NULL) != CL_SUCCESS) {
		free(log);
		return NULL;
	}
	return log;
}

// Builds with what the driver keeps of parameters, for kernels that are not tare's own: their
// signature is checked. NVIDIA's compiler refuses that option for a kernel without parameters, so
// what does not build is tried without it.
static cl_int build(const struct opencl_device *device, cl_program program,
                    const struct tare_module_source *source)
{
	const char *wanted = source->options ? source->options : "";
	TARE_FREE char *options = NULL;

	if (source->format == TARE_MODULE_OPENCL_C && !source->ends &&
	    asprintf(&options, "-cl-kernel-arg-info %s", wanted) >= 0 &&
	    device->cl->clBuildProgram(program, 1, &device->entry.id, options, NULL, NULL) ==
	        CL_SUCCESS)
		return CL_SUCCESS;
	return device->cl->clBuildProgram(program, 1, &device->entry.id, wanted, NULL, NULL);
}

int opencl_module_create(struct tare_device *device, const struct tare_module_source *source,
                         struct tare_module **module, char **log, struct tare_error *error)
{
	struct opencl_device *own = opencl_device(device);
	struct opencl_module *created = calloc(1, sizeof *created);

	if (log)
		*log = NULL;
	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base.device = device;
	created->ends = source->ends;
	int rc = create_program(own, source, &created->program, error);
	if (rc < 0)
		goto fail;
	cl_int code = build(own, created->program, source);
	if (code != CL_SUCCESS) {
		if (log)
			*log = read_log(own, created->program);
		rc = opencl_fail(error, "clBuildProgram", code, "the program does not build");
		goto fail;
	}
	*module = &created->base;
	return 0;
fail:
	opencl_module_free(&created->base);
	return rc;
}

void opencl_module_free(struct tare_module *module)
{
	struct opencl_module *own = (struct opencl_module *)module;
	if (!own)
		return;
	if (own->program)
		opencl_device(own->base.device)->cl->clReleaseProgram(own->program);
	free(own);
}

int opencl_kernel_create(struct tare_module *module, const char *name, struct tare_kernel **kernel,
                         struct tare_error *error)
{
	struct opencl_kernel *created = calloc(1, sizeof *created);
	cl_int code = CL_SUCCESS;

	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base.module = module;
	created->kernel =
	    opencl_device(module->device)
	        ->cl->clCreateKernel(((struct opencl_module *)module)->program, name, &code);
	if (code != CL_SUCCESS) {
		free(created);
		return opencl_fail(error, "clCreateKernel", code, "no kernel '%s' in the program",
		                   name);
	}
	*kernel = &created->base;
	return 0;
}

void opencl_kernel_free(struct tare_kernel *kernel)
{
	struct opencl_kernel *own = (struct opencl_kernel *)kernel;
	if (!own)
		return;
	if (own->kernel)
		opencl_device(own->base.module->device)->cl->clReleaseKernel(own->kernel);
	free(own);
}

// A size_t or cl_ulong of clGetKernelWorkGroupInfo (both 8 bytes here); -1 when refused.
static int64_t work_group_info(const struct opencl_device *device, cl_kernel kernel,
                               cl_kernel_work_group_info name)
{
	cl_ulong value = 0;
	_Static_assert(sizeof(size_t) == sizeof(cl_ulong), "64-bit only");
	cl_int code = device->cl->clGetKernelWorkGroupInfo(kernel, device->entry.id, name,
	                                                   sizeof value, &value, NULL);
	return code == CL_SUCCESS ? (int64_t)value : -1;
}

// Work-items that run in step, as the driver compiled this kernel.
static int64_t simd_width(const struct opencl_device *device, cl_kernel kernel, int64_t group)
{
	size_t width = 0, local = group > 0 ? (size_t)group : 1;

	if (!device->cl->clGetKernelSubGroupInfo || device->entry.version < 210)
		return -1;
	if (device->cl->clGetKernelSubGroupInfo(
	        kernel, device->entry.id, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof local,
	        &local, sizeof width, &width, NULL) != CL_SUCCESS ||
	    !width)
		return -1;
	return (int64_t)width;
}

int opencl_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                        struct tare_error *error)
{
	struct opencl_device *device = opencl_device(kernel->module->device);
	cl_kernel native = ((struct opencl_kernel *)kernel)->kernel;

	int64_t local_bytes;
	int code = opencl_kernel_local_bytes(device, native, &local_bytes, error);
	if (code)
		return code;
	*facts = (struct tare_kernel_facts){
		.registers = -1,
		.local_bytes = local_bytes,
		.private_bytes = work_group_info(device, native, CL_KERNEL_PRIVATE_MEM_SIZE),
		.spill_bytes = -1,
		.max_group_size = work_group_info(device, native, CL_KERNEL_WORK_GROUP_SIZE),
		.preferred_multiple =
		    work_group_info(device, native, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
		.arguments = opencl_argument_count(device, native),
	};
	facts->simd_width = simd_width(device, native, facts->max_group_size);
	if (opencl_has_extension(device->cl, device->entry.id, "cl_intel_required_subgroup_size"))
		facts->spill_bytes =
		    work_group_info(device, native, CL_KERNEL_SPILL_MEM_SIZE_INTEL);
	return 0;
}
