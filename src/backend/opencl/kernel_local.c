// SPDX-License-Identifier: Apache-2.0
// Local memory that a kernel declares. Some drivers (PoCL 6.0) answer 0 for every kernel: that is
// told from a kernel without any by one of our own, which has some.
#include "backend/builder.h"
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <string.h>

#define DECLARED_BYTES 256

static const char declares[] = "__kernel void declares(__global uint *a)\n"
                               "{\n"
                               "	__local uint t[64];\n"
                               "	t[get_local_id(0) % 64] = a[0];\n"
                               "	barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "	a[0] = t[1];\n"
                               "}\n";

static int64_t ask(const struct opencl_device *device, cl_kernel kernel)
{
	cl_ulong bytes = 0;

	return device->cl->clGetKernelWorkGroupInfo(kernel, device->entry.id,
	                                            CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
	                                            NULL) == CL_SUCCESS
	           ? (int64_t)bytes
	           : -1;
}

// What the driver tells of our kernel: -1 where that does not build. 0, or -EINTR: the device is
// given up.
static int ask_of_ours(struct opencl_device *device, int64_t *bytes, struct tare_error *error)
{
	const struct tare_module_source source = { .format = TARE_MODULE_OPENCL_C,
		                                   .data = declares,
		                                   .bytes = strlen(declares),
		                                   .ends = true };
	const struct tare_backend *backend = device->base.backend;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	int code = backend_build_aside(&device->base, &source, &module, NULL, error);

	*bytes = -1;
	if (code == -EINTR) {
		device->base.lost = true;
		return code;
	}
	if (code == 0 && backend->kernel_create(module, "declares", &kernel, NULL) == 0) {
		*bytes = ask(device, ((struct opencl_kernel *)kernel)->kernel);
		backend->kernel_free(kernel);
	}
	if (code == 0)
		backend->module_free(module);
	return 0;
}

int opencl_kernel_local_bytes(struct opencl_device *device, cl_kernel kernel, int64_t *bytes,
                              struct tare_error *error)
{
	*bytes = ask(device, kernel);
	if (*bytes == 0 && !device->local_asked) {
		int64_t ours;
		int code = ask_of_ours(device, &ours, error);
		if (code)
			return code;
		device->local_asked = true;
		device->local_untold = ours >= 0 && ours < DECLARED_BYTES;
	}
	if (*bytes == 0 && device->local_untold)
		*bytes = -1;
	return 0;
}
