// SPDX-License-Identifier: Apache-2.0
#include "analysis/symbols/kind.h"

#include <string.h>

// Beginnings of names; a digit, a dot, a dash or the end must follow.
static const char *const plumbing[] = {
	// the latter of older traces
	"libOpenCL",
	"libtare-recorder",
	"libtare-cuda",
	"libtare-opencl-layer",
	"libpocl",
	"libnvidia-opencl",
	"libamdocl",
	"libamdocl64",
	"libigdrcl",
	"libintelocl",
	"libMesaOpenCL",
	"libRusticlOpenCL",
	"libcuda",
	"libcudart",
	"libcupti",
	"libcudadebugger",
	"libze_loader",
	"libLLVM",
	"libclang-cpp",
	"libc",
	"ld",
	"ld-linux",
	"ld-linux-x86",
	"libpthread",
	"libdl",
	"libm",
	"librt",
	"libffi",
	"libstdc++",
	"libc++",
	"libgcc_s",
	"libasan",
	"libubsan",
	"libtsan",
	"liblsan",
	"linux-vdso",
};
static const char *const runtimes[] = {
	"python", "libpython", "_ctypes", "_cffi_backend", "java",   "libjvm",
	"ruby",   "libruby",   "perl",    "libperl",       "node",   "libnode",
	"lua",    "luajit",    "liblua",  "libluajit",     "julia",  "libjulia",
	"R",      "libR",      "mono",    "libmono",       "dotnet", "libcoreclr",
};
static const char *const system_folders[] = { "/lib/", "/lib32/", "/lib64/", "/usr/" };
static const char *const included[] = { "opencl.hpp", "cl2.hpp", "cl.hpp" };

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(list[i]);
		if (strncmp(name, list[i], length) == 0 && strchr(".-0123456789", name[length]))
			return true;
	}
	return false;
}
#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

static bool is_under(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

static bool is_executable(const char *path, const char *executable)
{
	size_t bytes = strlen(path), known = strlen(executable);

	return known > 0 && known <= bytes && strcmp(path + bytes - known, executable) == 0;
}

enum symbols_kind symbols_kind_of(const char *path, const char *executable)
{
	const char *name = base_of(path);

	if (!*path || IS_ONE_OF(name, plumbing))
		return SYMBOLS_PLUMBING;
	if (IS_ONE_OF(name, runtimes))
		return SYMBOLS_RUNTIME;
	if (is_executable(path, executable))
		return SYMBOLS_PROGRAM;
	for (size_t i = 0; i < sizeof system_folders / sizeof *system_folders; i++)
		if (is_under(path, system_folders[i]))
			return SYMBOLS_LIBRARY;
	return SYMBOLS_PROGRAM;
}

bool symbols_is_included(const char *source)
{
	const char *name = base_of(source);

	for (size_t i = 0; i < sizeof included / sizeof *included; i++)
		if (strcmp(name, included[i]) == 0)
			return true;
	return is_under(source, "/usr/include/") || is_under(source, "/usr/lib/");
}

size_t symbols_short_name(const char *path, const char **name)
{
	static const char *const ends[] = { ".cpython-", ".abi3", ".so." };
	const char *base = base_of(path);

	*name = base;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *end = strstr(base, ends[i]);
		if (end && end > base)
			return (size_t)(end - base) + (i == 2 ? 3 : 0);
	}
	return strlen(base);
}
