// SPDX-License-Identifier: Apache-2.0
#include "module/opencl.h"
#include "kernel/ending.h"
#include "kernel/trap.h"
#include "ze_cpu.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS 8

typedef void *(*extension_function)(const char *name);
typedef cl_int (*get_platforms)(cl_uint entries, cl_platform_id *platforms, cl_uint *count);

static struct cpu_opencl the_device;
static bool opened;
static char refusal[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Every object of an ICD begins with its table of functions.
static const cl_icd_dispatch *dispatch_of(const void *object)
{
	return *(const cl_icd_dispatch *const *)object;
}

static void find_compiler(struct cpu_opencl *opencl, cl_platform_id platform)
{
	char text[512] = "";

	opencl->cl->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
	const char *llvm = strstr(text, "LLVM ");
	if (llvm)
		opencl->llvm = (unsigned)strtoul(llvm + strlen("LLVM "), NULL, 10);
	memset(text, 0, sizeof text);
	// An error, or an empty text: SPIR-V has to be translated.
	opencl->takes_spirv =
	    opencl->cl->clGetDeviceInfo(opencl->device, CL_DEVICE_IL_VERSION, sizeof text - 1, text,
	                                NULL) == CL_SUCCESS &&
	    strstr(text, "SPIR-V") && opencl->cl->clCreateProgramWithIL;
}

static void find_cache(struct cpu_opencl *opencl)
{
	const char *folder = getenv("POCL_CACHE_DIR"), *parent = getenv("XDG_CACHE_HOME");
	const char *between = "", *home = getenv("HOME");

	if (!folder || !*folder) {
		between = parent && *parent ? "/pocl/kcache"
		          : home && *home   ? "/.cache/pocl/kcache"
		                            : "/pocl/kcache";
		folder = parent && *parent ? parent : home && *home ? home : "/tmp";
	}
	snprintf(opencl->cache, sizeof opencl->cache, "%s%s/", folder, between);
}

static bool has_extension(const struct cpu_opencl *opencl, const char *name)
{
	size_t bytes = 0;

	opencl->cl->clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
	char *text = calloc(1, bytes + 1);
	bool has = text &&
	           opencl->cl->clGetDeviceInfo(opencl->device, CL_DEVICE_EXTENSIONS, bytes, text,
	                                       NULL) == CL_SUCCESS &&
	           strstr(text, name);
	free(text);
	return has;
}

static bool open_platform(cl_platform_id platform, const char *library)
{
	struct cpu_opencl found = { .cl = dispatch_of(platform) };
	cl_int code;

	if (found.cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &found.device, NULL) !=
	    CL_SUCCESS)
		return false;
	found.context = found.cl->clCreateContext(NULL, 1, &found.device, NULL, NULL, &code);
	if (!found.context)
		return false;
	found.cl->clGetDeviceInfo(found.device, CL_DEVICE_NAME, sizeof found.name - 1, found.name,
	                          NULL);
	snprintf(found.library, sizeof found.library, "%s", library);
	find_compiler(&found, platform);
	found.half = has_extension(&found, "cl_khr_fp16");
	find_cache(&found);
	the_device = found;
	return opened = true;
}

static bool open_library(const char *name, void *context)
{
	char *tried = context;
	cl_platform_id platforms[PLATFORMS];
	cl_uint count = 0;
	size_t used = strlen(tried);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	snprintf(tried + used, sizeof refusal - used, "%s%s%s", used ? ", " : "", name,
	         library ? "" : " (does not load)");
	if (!library)
		return false;
	extension_function function =
	    (extension_function)dlsym(library, "clGetExtensionFunctionAddress");
	get_platforms get = function ? (get_platforms)function("clIcdGetPlatformIDsKHR") : NULL;
	if (get && get(PLATFORMS, platforms, &count) == CL_SUCCESS)
		for (cl_uint i = 0; i < count && i < PLATFORMS; i++)
			if (open_platform(platforms[i], name))
				return true;
	// It stays mapped: other vendors' libraries have threads by now.
	return false;
}

static void open_device(void)
{
	char tried[sizeof refusal] = "";
	sigset_t mask;

	pthread_attr_t before, wide;
	// Its threads have the default stack.
	bool widened = pthread_getattr_default_np(&before) == 0 &&
	               pthread_getattr_default_np(&wide) == 0 &&
	               pthread_attr_setstacksize(&wide, CPU_OPENCL_STACK_BYTES) == 0 &&
	               pthread_setattr_default_np(&wide) == 0;

	// Its threads must not take the program's signals, and its handlers must not replace ours.
	trap_block_signals(&mask);
	trap_before_opencl();
	bool found = icd_each(open_library, tried);
	trap_after_opencl();
	if (found)
		ending_watch();
	if (widened)
		pthread_setattr_default_np(&before);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (found)
		cpu_log("kernels run on %s of %s", the_device.name, the_device.library);
	else
		snprintf(refusal, sizeof refusal,
		         "no OpenCL CPU device to run kernels on (looked at: %.300s); install "
		         "pocl-opencl-icd, "
		         "or name a library in ZE_CPU_OPENCL",
		         *tried ? tried : "no library");
}

const struct cpu_opencl *cpu_opencl(char *why, size_t why_bytes)
{
	pthread_once(&once, open_device);
	if (opened)
		return &the_device;
	snprintf(why, why_bytes, "%s", refusal);
	return NULL;
}
