// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tare_symbol symbols[] = {
#define REQUIRED(name, parameters) TARE_SYMBOL(struct cuda_functions, name),
#define OPTIONAL(name, parameters) TARE_SYMBOL_OPTIONAL(struct cuda_functions, name),
	CUDA_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

int cuda_errno(cu_result result)
{
	switch (result) {
	case ABI_SUCCESS:
		return 0;
	case ABI_OUT_OF_MEMORY:
		return -ENOMEM;
	case ABI_INVALID_VALUE:
	case ABI_INVALID_IMAGE:
	case ABI_NO_BINARY_FOR_GPU:
	case ABI_INVALID_PTX:
	case ABI_UNSUPPORTED_PTX_VERSION:
	case ABI_INVALID_HANDLE:
	case ABI_NOT_FOUND:
	case ABI_LAUNCH_OUT_OF_RESOURCES:
		return -EINVAL;
	case ABI_NOT_SUPPORTED:
	case ABI_JIT_COMPILER_NOT_FOUND:
	case ABI_JIT_COMPILATION_DISABLED:
		return -ENOTSUP;
	// After these the context can do nothing more (cuda.h: "must be terminated and
	// relaunched").
	case ABI_DEVICE_UNAVAILABLE:
	case ABI_NO_DEVICE:
	case ABI_INVALID_DEVICE:
	case ABI_INVALID_CONTEXT:
	case ABI_ECC_UNCORRECTABLE:
	case ABI_NVLINK_UNCORRECTABLE:
	case ABI_CONTAINED:
	case ABI_ILLEGAL_ADDRESS:
	case ABI_LAUNCH_TIMEOUT:
	case ABI_CONTEXT_IS_DESTROYED:
	case ABI_ASSERT:
	case ABI_HARDWARE_STACK_ERROR:
	case ABI_ILLEGAL_INSTRUCTION:
	case ABI_MISALIGNED_ADDRESS:
	case ABI_INVALID_ADDRESS_SPACE:
	case ABI_INVALID_PC:
	case ABI_LAUNCH_FAILED:
	case ABI_MPS_CLIENT_TERMINATED:
	case ABI_UNKNOWN:
		return -ENODEV;
	default:
		return -EIO;
	}
}

int cuda_fail(const struct cuda_driver *driver, cu_result result, const char *call,
              struct tare_error *error, const char *format, ...)
{
	int status = cuda_errno(result);
	const char *name = NULL;
	char message[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	if (driver->call.cuGetErrorName(result, &name) != ABI_SUCCESS)
		name = NULL;
	return tare_fail_native(error, -status, "cuda", call, result, name, "%s%s", message,
	                        status == -ENODEV ? "; the CUDA context is lost" : "");
}

// The driver's device files can be opened by this user; else the one that cannot be. NULL: no
// trouble of that kind is seen.
static const char *forbidden_file(void)
{
	static const char *const files[] = { "/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (access(files[i], R_OK | W_OK) != 0 && errno == EACCES)
			return files[i];
	return NULL;
}

// Why cuInit failed, in words that say what to do.
static int init_failed(const struct cuda_driver *driver, cu_result result, struct tare_error *error)
{
	const char *name = NULL, *file = NULL, *visible = getenv("CUDA_VISIBLE_DEVICES");
	const char *library = tare_library_name(driver->library);
	const char *why = "the driver does not start; `nvidia-smi` and the kernel's log say more";
	char text[160];

	if (driver->call.cuGetErrorName(result, &name) != ABI_SUCCESS)
		name = NULL;
	if (result == ABI_NO_DEVICE || result == ABI_UNKNOWN || result == ABI_NOT_PERMITTED)
		file = forbidden_file();
	if (result == ABI_STUB_LIBRARY) {
		why = "that is the toolkit's stub for linking, not a driver; install the NVIDIA "
		      "driver, or take the stubs' folder off LD_LIBRARY_PATH";
	} else if (file) {
		snprintf(text, sizeof text,
		         "you may not open %s; ask for the group that may (`ls -l "
		         "/dev/nvidia*`)",
		         file);
		why = text;
	} else if (result == ABI_NO_DEVICE && visible) {
		snprintf(text, sizeof text,
		         "CUDA_VISIBLE_DEVICES='%.60s' leaves no GPU visible; unset it "
		         "or name one of `nvidia-smi -L`",
		         visible);
		why = text;
	} else if (result == ABI_NO_DEVICE) {
		why = "it finds no NVIDIA GPU; see `nvidia-smi`, and CUDA_VISIBLE_DEVICES";
	} else if (result == ABI_SYSTEM_DRIVER_MISMATCH) {
		why = "it does not fit the loaded kernel module; restart after a driver update";
	} else if (result == ABI_COMPAT_NOT_SUPPORTED_ON_DEVICE) {
		why = "it is a compatibility package newer than the installed driver, which this "
		      "GPU does "
		      "not allow; take it off LD_LIBRARY_PATH, or update the driver";
	} else if (result == ABI_UNKNOWN) {
		why = "the driver does not start; is the kernel module loaded (`nvidia-smi`), and "
		      "may you open /dev/nvidia*?";
	}
	return tare_fail_native(error, ENODEV, "cuda", "cuInit", result, name,
	                        "CUDA driver library %s: %s", library, why);
}

int cuda_open_failed(const struct cuda_driver *driver, uint32_t index, cu_device device,
                     cu_result result, struct tare_error *error)
{
	const char *name = NULL, *why;
	int mode = 0;

	if (result != ABI_DEVICE_UNAVAILABLE && result != ABI_OUT_OF_MEMORY &&
	    result != ABI_NOT_PERMITTED)
		return cuda_fail(driver, result, "cuDevicePrimaryCtxRetain", error,
		                 "cannot open CUDA device %u", index);
	if (driver->call.cuDeviceGetAttribute(&mode, ABI_ATTRIBUTE_COMPUTE_MODE, device) !=
	    ABI_SUCCESS)
		mode = 0;
	if (result == ABI_OUT_OF_MEMORY)
		why = "its memory is full, a context of its own needs some hundred MB; "
		      "`nvidia-smi` tells "
		      "who uses it";
	else if (mode == ABI_COMPUTEMODE_PROHIBITED)
		why = "its compute mode is prohibited; as root: `nvidia-smi -c DEFAULT`";
	else if (mode == ABI_COMPUTEMODE_EXCLUSIVE_PROCESS)
		why = "its compute mode is exclusive-process and another process uses it; end that "
		      "(`nvidia-smi` lists it), or as root: `nvidia-smi -c DEFAULT`";
	else if (result == ABI_NOT_PERMITTED)
		why = "the driver does not permit it; see `nvidia-smi`";
	else
		why = "it is busy or unavailable; `nvidia-smi` tells who uses it";
	if (driver->call.cuGetErrorName(result, &name) != ABI_SUCCESS)
		name = NULL;
	return tare_fail_native(error, result == ABI_OUT_OF_MEMORY ? ENOMEM : ENODEV, "cuda",
	                        "cuDevicePrimaryCtxRetain", result, name,
	                        "cannot open CUDA device %u: %s", index, why);
}

// A driver that lacks what every driver since CUDA 11.0 has.
static int too_old(const char *library, struct tare_error *error)
{
	char missing[sizeof error->call];

	snprintf(missing, sizeof missing, "%s", error ? error->call : "");
	return tare_fail(error, ENODEV,
	                 "the CUDA driver is too old (%s lacks the function %s): tare needs one of "
	                 "CUDA 11.0 or newer, so update "
	                 "the NVIDIA driver; OpenCL on the same GPU works meanwhile",
	                 library, missing);
}

int cuda_library_open(struct cuda_driver *driver, struct tare_error *error)
{
	static const char advice[] =
	    "no CUDA driver library (libcuda.so.1); it comes with the NVIDIA driver";
	const char *chosen = getenv("TARE_CUDA_LIBRARY");
	const char *names[] = { chosen && *chosen ? chosen : "libcuda.so.1", NULL };
	int count = 0;
	int status = tare_library_open(names, symbols, sizeof symbols / sizeof *symbols,
	                               &driver->call, &driver->library, error);

	if (status == -ENOENT)
		return chosen && *chosen
		           ? tare_fail(error, ENOENT,
		                       "TARE_CUDA_LIBRARY names '%.200s', which cannot be opened",
		                       chosen)
		           : tare_advises(error, tare_fail(error, ENOENT, "%s", advice));
	if (status == -ENOSYS)
		return too_old(names[0], error);
	if (status < 0)
		return status;
	// Its threads may outlive us: once open it stays mapped.
	dlopen(names[0], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	cu_result result = driver->call.cuInit(0);
	if (result != ABI_SUCCESS)
		return init_failed(driver, result, error);
	if (driver->call.cuDriverGetVersion(&driver->version) != ABI_SUCCESS)
		driver->version = 0;
	result = driver->call.cuDeviceGetCount(&count);
	if (result != ABI_SUCCESS)
		return cuda_fail(driver, result, "cuDeviceGetCount", error,
		                 "cannot count the devices");
	if (count <= 0)
		return init_failed(driver, ABI_NO_DEVICE, error);
	driver->count = (uint32_t)count;
	return 0;
}

// The opening whose context this thread made current last. A serial and not an address, because
// a closed device's address may come back.
static _Thread_local uint64_t entered;

int cuda_enter(struct cuda_device *device, struct tare_error *error)
{
	if (entered == device->serial)
		return 0;
	cu_result result = device->driver->call.cuCtxSetCurrent(device->context);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuCtxSetCurrent", error,
		                 "cannot use device %u", device->base.index);
	entered = device->serial;
	return 0;
}

void cuda_leave(void)
{
	entered = 0;
}

int cuda_attribute(const struct cuda_device *device, cu_attribute attribute)
{
	int value = 0;
	if (device->driver->call.cuDeviceGetAttribute(&value, attribute, device->handle) !=
	    ABI_SUCCESS)
		return 0;
	return value;
}
