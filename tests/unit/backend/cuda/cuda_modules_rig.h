// SPDX-License-Identifier: Apache-2.0
// A device of the fake CUDA driver, with the fake NVRTC, and modules built for it. Include after
// cmocka.h.
#pragma once
#include "backend/call.h"
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_backend *cuda;
static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;
static char *log_text;
static char fake_nvrtc[4096];

static inline void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static inline int teardown(void **state)
{
	(void)state;
	tare_device_close(device);
	device = NULL;
	if (driver)
		cuda->driver_close(driver);
	driver = NULL;
	free(log_text);
	log_text = NULL;
	setenv("TARE_NVRTC_LIBRARY", fake_nvrtc, 1);
	unsetenv("TARE_FAKE_NVRTC");
	unsetenv("CUDA_HOME");
	return 0;
}

static inline void open_device(const char *script, const char *nvrtc)
{
	teardown(NULL);
	setenv("TARE_FAKE_CUDA", script, 1);
	setenv("TARE_FAKE_NVRTC", nvrtc, 1);
	if (cuda->driver_open(NULL, &driver, &error) < 0 ||
	    cuda->device_open(driver, 0, &device, &error) < 0)
		fail_msg("%s", error.message);
}

static inline int build(enum tare_module_format format, const char *text, const char *options,
                        const char *entry, struct tare_module **module)
{
	struct tare_module_source source = { .format = format,
		                             .data = text,
		                             .bytes = strlen(text),
		                             .options = options,
		                             .entry = entry,
		                             .file = "/nonexistent/my.cu" };
	error = (struct tare_error){ 0 };
	free(log_text);
	log_text = NULL;
	return tare_module_create(device, &source, module, &log_text, &error);
}

static inline struct tare_kernel *new_kernel(enum tare_module_format format, const char *text,
                                             const char *entry, struct tare_module **module)
{
	struct tare_kernel *kernel = NULL;
	if (build(format, text, NULL, entry, module) < 0 ||
	    tare_kernel_create(*module, entry, &kernel, &error) < 0)
		fail_msg("%s: %s", entry, error.message);
	return kernel;
}

#define SCALE                                                                                      \
	"__global__ void scale(const float *input, float *output, unsigned int first, "            \
	"unsigned count, float factor) { }\n"
#define PTX_HEAD "// .version 1.0\n.version 6.0\n.target sm_70, debug\n.address_size 64\n"

// Before the first case.
static inline void find_cuda(void)
{
	const char *path = getenv("TARE_NVRTC_LIBRARY");
	cuda = tare_backend_find("cuda");
	snprintf(fake_nvrtc, sizeof fake_nvrtc, "%s", path ? path : "");
}
