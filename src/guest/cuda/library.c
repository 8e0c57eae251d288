// SPDX-License-Identifier: Apache-2.0
// The driver, which has called us, and CUPTI, which is looked for as the measuring side does.
#include "guest/cuda/cuda.h"
#include "guest/cuda/cupti_places.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cuda_driver_calls cuda_driver;
struct cupti_functions cuda_cupti;
enum { NAME_BYTES = 256 };
char cuda_library[NAME_BYTES];

bool cuda_find_symbols(void *library, const struct cuda_symbol *symbols, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *address = dlsym(library, symbols[i].name);
		if (!address && symbols[i].needed)
			return false;
		memcpy(symbols[i].place, &address, sizeof address);
	}
	return true;
}

// The library that holds an address; NULL: not told.
static void *library_of(const void *address, char name[NAME_BYTES])
{
	Dl_info where;
	if (!dladdr(address, &where) || !where.dli_fname)
		return NULL;
	snprintf(name, NAME_BYTES, "%s", where.dli_fname);
	return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool cuda_is_driver(const void *caller)
{
	char name[NAME_BYTES];
	void *library = library_of(caller, name);
	return !library || dlsym(library, "cuDeviceGetName");
}

// libcuda.so.1 is a link to the file that is named after the driver.
const char *cuda_driver_version(char text[CUDA_VERSION_BYTES])
{
	static const char before[] = "libcuda.so.";
	char file[NAME_BYTES];
	ssize_t bytes = readlink(cuda_library, file, sizeof file - 1);
	const char *name, *version;
	if (bytes < 0)
		snprintf(file, sizeof file, "%s", cuda_library);
	else
		file[bytes] = '\0';
	name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	version = name + sizeof before - 1;
	if (strncmp(name, before, sizeof before - 1) != 0 || !strchr(version, '.') ||
	    version[strspn(version, "0123456789.")])
		return "";
	snprintf(text, CUDA_VERSION_BYTES, "%s", version);
	return text;
}

void cuda_driver_open(const void *caller)
{
#define SYMBOL(name) { #name, &cuda_driver.name, false }
	static const struct cuda_symbol symbols[] = {
		SYMBOL(cuDriverGetVersion),      SYMBOL(cuDeviceGet),
		SYMBOL(cuDeviceGetName),         SYMBOL(cuDeviceGetUuid_v2),
		SYMBOL(cuDeviceTotalMem_v2),     SYMBOL(cuDeviceGetAttribute),
		SYMBOL(cuDeviceGetPCIBusId),     SYMBOL(cuStreamIsCapturing),
		SYMBOL(cuStreamGetFlags),        SYMBOL(cuStreamGetPriority),
		SYMBOL(cuPointerGetAttributes),  SYMBOL(cuFuncGetName),
		SYMBOL(cuCtxGetCurrent),         SYMBOL(cuCtxGetDevice),
		SYMBOL(cuFuncGetParamInfo),      SYMBOL(cuKernelGetParamInfo),
		SYMBOL(cuMemGetAddressRange_v2), SYMBOL(cuCtxSynchronize),
		SYMBOL(cuStreamQuery),           SYMBOL(cuDeviceGetCount),
		SYMBOL(cuDeviceGetP2PAttribute),
	};
#undef SYMBOL
	void *library = library_of(caller, cuda_library);
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (library)
		cuda_find_symbols(library, symbols, sizeof symbols / sizeof *symbols);
}

static bool cupti_take(void *library)
{
#define REQUIRED(name, parameters) { #name, &cuda_cupti.name, true },
#define OPTIONAL(name, parameters) { #name, &cuda_cupti.name, false },
	static const struct cuda_symbol symbols[] = { CUPTI_FUNCTIONS(REQUIRED, OPTIONAL) };
#undef REQUIRED
#undef OPTIONAL
	return library && cuda_find_symbols(library, symbols, sizeof symbols / sizeof *symbols);
}

// It keeps threads: once open it stays.
static bool cupti_open(const char *name, int how)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | how);
	if (!library)
		return false;
	dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return cupti_take(library);
}

static bool open_matching(const char *pattern)
{
	glob_t found;
	bool open = false;
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = found.gl_pathc; i-- > 0 && !open;) // newest toolkit first
		open = cupti_open(found.gl_pathv[i], 0);
	globfree(&found);
	return open;
}

static bool open_version(const char *version)
{
	static const char *const places[] = { CUPTI_FOLDERS };
	char text[NAME_BYTES];
	snprintf(text, sizeof text, "libcupti.so.%s", version);
	if (cupti_open(text, 0))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(text, sizeof text, "%s/libcupti.so.%s", places[i], version);
		if (open_matching(text))
			return true;
	}
	return false;
}

// One that the program brings comes first: two copies do not get on. Then the driver's own version.
static bool cupti_find(int driver_version)
{
	static const char *const versions[] = { CUPTI_VERSIONS };
	const char *told = getenv(CUPTI_VARIABLE);
	char own[16], text[NAME_BYTES];
	if (told && told[0])
		return cupti_open(told, 0);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		snprintf(text, sizeof text, "libcupti.so.%s", versions[i]);
		if (cupti_open(text, RTLD_NOLOAD))
			return true;
	}
	snprintf(own, sizeof own, "%d", driver_version / 1000);
	if (open_version(own))
		return true;
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (strcmp(versions[i], own) != 0 && open_version(versions[i]))
			return true;
	return false;
}

bool cuda_cupti_open(void)
{
	int version = 0;
	if (cuda_driver.cuDriverGetVersion)
		cuda_driver.cuDriverGetVersion(&version);
	return cupti_find(version) && cuda_cupti.cuptiEnableCallback &&
	       cuda_cupti.cuptiGetCallbackName;
}

// ---- the way in

int cuda_let_in(const void *caller, void (*begin)(const void *caller))
{
	static _Atomic bool entered;
	int error = errno;

	// NVIDIA's OpenCL has a driver of its own inside, which calls us too: that is not the
	// program's CUDA.
	if (cuda_is_driver(caller) && !atomic_exchange(&entered, true))
		begin(caller);
	errno = error;
	return 1;
}

static uint8_t form_of(const struct cuda_listened *calls, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, calls[i].name) == 0)
			return calls[i].form;
	return 0;
}

void cuda_listen(cupti_subscriber subscriber, const struct cuda_listened *calls, size_t count,
                 uint8_t forms[CUDA_LISTENED_IDS])
{
	for (uint32_t id = 1; id < CUDA_LISTENED_IDS; id++) {
		const char *name = NULL;
		if (cuda_cupti.cuptiGetCallbackName(ABI_CUPTI_DOMAIN_DRIVER, id, &name) !=
		        ABI_CUPTI_SUCCESS ||
		    !name)
			continue;
		forms[id] = form_of(calls, count, name);
		if (forms[id])
			cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_DRIVER, id);
	}
}
