// SPDX-License-Identifier: Apache-2.0
// What the tests of the OpenCL backend share: an open device of tests/fakes/fake_opencl.c, under a
// script. The fake's path is the first argument of each test.
#pragma once
#include "backend/backend.h"
#include "backend/call.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *fake;
static const struct tare_backend *backend;
static struct tare_error error;

// An open device with a queue, under a script.
struct fixture {
	struct tare_driver *driver;
	struct tare_device *device;
	struct tare_queue *queue;
};

static inline void tell(const char *script)
{
	setenv("TARE_FAKE_OPENCL", script, 1);
}

static inline struct fixture begin(const char *script)
{
	struct fixture f = { NULL };
	tell(script);
	assert_int_equal(backend->driver_open(NULL, &f.driver, &error), 0);
	assert_int_equal(backend->device_open(f.driver, 0, &f.device, &error), 0);
	assert_int_equal(
	    tare_queue_create(f.device, &(struct tare_queue_options){ 0 }, &f.queue, &error), 0);
	return f;
}

static inline void end(struct fixture *f)
{
	tell("");
	tare_queue_free(f->queue);
	tare_device_close(f->device);
	backend->driver_close(f->driver);
}

static inline struct tare_memory *allocate(struct fixture *f, enum tare_memory_kind kind,
                                           uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	assert_int_equal(tare_memory_create(f->device, kind, bytes, &memory, &error), 0);
	return memory;
}

// Loads the fake, for dlsym; NULL when the argument is missing.
static inline void *load_fake(int argc, char **argv)
{
	if (argc != 2)
		return NULL;
	fake = argv[1];
	setenv("TARE_OPENCL_LIBRARY", fake, 1);
	backend = tare_backend_find("opencl");
	return dlopen(fake, RTLD_NOW | RTLD_LOCAL);
}
