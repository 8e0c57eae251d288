// SPDX-License-Identifier: Apache-2.0
// Where NVRTC is, and the headers that belong to it.
#include "backend/cuda/nvrtc/nvrtc.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tare_symbol symbols[] = {
#define REQUIRED(type, name, parameters) TARE_SYMBOL(struct nvrtc_functions, name),
#define OPTIONAL(type, name, parameters) TARE_SYMBOL_OPTIONAL(struct nvrtc_functions, name),
	NVRTC_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

static const struct {
	int major;
	const char *name;
} sonames[] = {
	{ 14, "libnvrtc.so.14" },
	{ 13, "libnvrtc.so.13" },
	{ 12, "libnvrtc.so.12" },
	{ 11, "libnvrtc.so.11.2" },
};

// Folders of the toolkit, of distributions and of Python's packages, as patterns; with a variable
// before the slash its value comes first, and without it the row is left out.
static const struct {
	const char *variable, *pattern;
} places[] = {
	{ "CUDA_PATH", "/lib64" },
	{ "CUDA_PATH", "/lib" },
	{ "CUDA_PATH", "/cuda_nvrtc/lib" },
	{ "CUDA_HOME", "/lib64" },
	{ "CUDA_HOME", "/lib" },
	{ "CUDA_HOME", "/cuda_nvrtc/lib" },
	{ NULL, "" }, // the loader's own path
	{ NULL, "/usr/local/cuda/lib64" },
	{ NULL, "/usr/local/cuda-*/lib64" },
	{ NULL, "/opt/cuda/lib64" },
	{ "CONDA_PREFIX", "/lib" },
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib" },
	{ "HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib" },
	{ NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib" },
};

static int open_named(struct cuda_nvrtc *nvrtc, const char *name, struct tare_error *error)
{
	return tare_library_open((const char *const[]){ name, NULL }, symbols,
	                         sizeof symbols / sizeof *symbols, &nvrtc->call, &nvrtc->library,
	                         error);
}

// 0, or -ENOENT: none of that name in the places of row `place`.
static int open_in(struct cuda_nvrtc *nvrtc, size_t place, const char *soname)
{
	const char *home = places[place].variable ? getenv(places[place].variable) : "";
	char pattern[PATH_MAX];
	glob_t found = { 0 };
	int status = -ENOENT;

	if (!home || (places[place].variable && !*home))
		return -ENOENT;
	if (!*home && !*places[place].pattern)
		return open_named(nvrtc, soname, NULL);
	if ((size_t)snprintf(pattern, sizeof pattern, "%s%s/%s", home, places[place].pattern,
	                     soname) < sizeof pattern &&
	    glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && status < 0; i++)
			status = open_named(nvrtc, found.gl_pathv[i], NULL);
	globfree(&found);
	return status;
}

// A binary of a newer major version may be none for this driver, so those come last, the nearest
// first.
static int find(struct cuda_nvrtc *nvrtc, int driver_major)
{
	size_t count = sizeof sonames / sizeof *sonames;

	for (int newer = 0; newer < 2; newer++)
		for (size_t i = 0; i < count; i++) {
			size_t row = newer ? count - 1 - i : i;
			if ((sonames[row].major > driver_major) != newer)
				continue;
			for (size_t place = 0; place < sizeof places / sizeof *places; place++)
				if (open_in(nvrtc, place, sonames[row].name) == 0)
					return 0;
		}
	return -ENOENT;
}

static bool has_headers(const char *folder)
{
	char path[PATH_MAX];
	return (size_t)snprintf(path, sizeof path, "%s/cuda_fp16.h", folder) < sizeof path &&
	       access(path, R_OK) == 0;
}

// The toolkit's headers, for #include <cuda_fp16.h>: beside the library's folder, or where the
// environment says.
static void find_headers(struct cuda_nvrtc *nvrtc)
{
	static const char *const beside[] = { "/../include", "/../../include",
		                              "/../../cuda_runtime/include" };
	static const char *const variables[] = { "CUDA_PATH", "CUDA_HOME" };
	char library[PATH_MAX] = "", folder[PATH_MAX + 32];
	Dl_info info;

	if (dladdr((void *)(uintptr_t)nvrtc->call.nvrtcVersion, &info) && info.dli_fname &&
	    realpath(info.dli_fname, library) && strrchr(library, '/'))
		*strrchr(library, '/') = '\0';
	for (size_t i = 0; library[0] && i < sizeof beside / sizeof *beside; i++) {
		snprintf(folder, sizeof folder, "%s%s", library, beside[i]);
		if (has_headers(folder) && realpath(folder, nvrtc->include))
			return;
	}
	for (size_t i = 0; i < 3; i++) {
		const char *home = i < 2 ? getenv(variables[i]) : "/usr/local/cuda";
		if (!home ||
		    (size_t)snprintf(folder, sizeof folder, "%s/include", home) >= sizeof folder)
			continue;
		if (has_headers(folder) && realpath(folder, nvrtc->include))
			return;
	}
	nvrtc->include[0] = '\0';
}

static void ask_architectures(struct cuda_nvrtc *nvrtc)
{
	const struct nvrtc_functions *call = &nvrtc->call;
	int count = 0, most = (int)(sizeof nvrtc->architectures / sizeof *nvrtc->architectures);

	if (call->nvrtcGetNumSupportedArchs && call->nvrtcGetSupportedArchs &&
	    call->nvrtcGetNumSupportedArchs(&count) == ABI_NVRTC_SUCCESS && count > 0 &&
	    count <= most &&
	    call->nvrtcGetSupportedArchs(nvrtc->architectures) == ABI_NVRTC_SUCCESS)
		nvrtc->count = count;
}

static int open_first_time(struct cuda_driver *driver, struct tare_error *error)
{
	const char *chosen = getenv("TARE_NVRTC_LIBRARY");
	struct cuda_nvrtc *nvrtc;
	int status;

	nvrtc = calloc(1, sizeof *nvrtc);
	if (!nvrtc)
		return tare_fail(error, ENOMEM, "out of memory");
	if (chosen && *chosen) {
		status = open_named(nvrtc, chosen, error);
		if (status == -ENOENT)
			tare_fail(error, ENOTSUP,
			          "TARE_NVRTC_LIBRARY names '%.200s', which cannot be opened; PTX "
			          "needs no NVRTC",
			          chosen);
	} else {
		status = find(nvrtc, driver->version ? driver->version / 1000 : INT_MAX);
		if (status < 0)
			tare_fail(
			    error, ENOTSUP,
			    "CUDA C is compiled by NVRTC, which is not found (tried "
			    "libnvrtc.so.14, .13, .12, .11.2 in CUDA_PATH, CUDA_HOME, the "
			    "loader's path, /usr/local/cuda*, Python's packages); install it (in a "
			    "CUDA toolkit, or pip's nvidia-cuda-nvrtc) or name it with "
			    "TARE_NVRTC_LIBRARY; PTX needs no NVRTC");
	}
	if (status == 0 &&
	    nvrtc->call.nvrtcVersion(&nvrtc->major, &nvrtc->minor) != ABI_NVRTC_SUCCESS)
		nvrtc->major = nvrtc->minor = 0;
	if (status < 0) {
		free(nvrtc);
		if (error && status != -ENOMEM)
			error->code = -ENOTSUP;
		return status == -ENOMEM ? status : -ENOTSUP;
	}
	ask_architectures(nvrtc);
	find_headers(nvrtc);
	driver->nvrtc = nvrtc;
	return 0;
}

int cuda_nvrtc_open(struct cuda_driver *driver, struct tare_error *error)
{
	// Two devices of one driver may be used by two threads.
	static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
	int status = 0;

	pthread_mutex_lock(&opening);
	if (!driver->nvrtc)
		status = open_first_time(driver, error);
	pthread_mutex_unlock(&opening);
	return status;
}

void cuda_nvrtc_close(struct cuda_driver *driver)
{
	if (!driver->nvrtc)
		return;
	tare_library_close(driver->nvrtc->library);
	free(driver->nvrtc);
	driver->nvrtc = NULL;
}
