// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

int opencl_library_open(struct opencl_functions *functions, struct tare_library **library,
                        struct tare_error *error)
{
	static const struct tare_symbol symbols[] = {
#define X(function) TARE_SYMBOL(struct opencl_functions, function),
		OPENCL_REQUIRED_FUNCTIONS(X)
#undef X
#define X(function) TARE_SYMBOL_OPTIONAL(struct opencl_functions, function),
		    OPENCL_OPTIONAL_FUNCTIONS(X)
#undef X
	};
	const char *chosen = getenv("TARE_OPENCL_LIBRARY");
	const char *const names[] = { chosen && *chosen ? chosen : "libOpenCL.so.1", NULL };
	int rc = tare_library_open(names, symbols, sizeof symbols / sizeof *symbols, functions,
	                           library, error);

	if (rc == -ENOENT && chosen && *chosen)
		return tare_fail(error, ENOENT,
		                 "no OpenCL loader found: TARE_OPENCL_LIBRARY names %s, "
		                 "which does not load",
		                 chosen);
	if (rc == -ENOENT)
		return tare_advises(error, tare_fail(error, ENOENT,
		                                     "no OpenCL loader found (tried "
		                                     "libOpenCL.so.1); "
		                                     "install ocl-icd-libopencl1"));
	if (rc < 0)
		return rc;
	// Drivers leave threads and exit handlers behind; unmapping the code under them crashes.
	// This second handle pins the library.
	dlopen(names[0], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	return 0;
}
