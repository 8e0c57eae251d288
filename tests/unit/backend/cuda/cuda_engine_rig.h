// SPDX-License-Identifier: Apache-2.0
// The CUDA backend on the stand-ins for CUDA and CUPTI, with one of each thing: what the tests of
// engine stamps and of graphs share. Include after cmocka.h.
#pragma once
#include "backend/call.h"
#include "backend/cuda/trace.h"
#include "fake_cuda.h"
#include "fake_cupti.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (UINT64_C(1) << 20)
#define ROW_BYTES 4096

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_queue *queue;
static struct tare_memory *host, *here, *there;
static struct tare_module *module;
static struct tare_kernel *kernel;
static struct tare_error error;
static const struct tare_backend *cuda;

static struct {
	int64_t (*event_ns)(cu_event event);
	int (*active)(void);
	int (*buffers)(void);
	int (*pushed)(void);
} fake;

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			print_error("%s\n", error.message);                                        \
			fail_msg("%s", #call);                                                     \
		}                                                                                  \
	} while (0)

static inline void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static inline struct tare_queue *new_queue(bool timed)
{
	struct tare_queue *made = NULL;
	must(tare_queue_create(device, &(struct tare_queue_options){ .timed = timed }, &made,
	                       &error));
	return made;
}

static inline void find_fake(void)
{
	void *library = dlopen(getenv("TARE_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL);

	assert_non_null(library);
	*(void **)&fake.active = dlsym(library, "fake_cupti_active");
	*(void **)&fake.buffers = dlsym(library, "fake_cupti_buffers");
	*(void **)&fake.pushed = dlsym(library, "fake_cupti_pushed");
	assert_non_null(fake.active);
}

static inline void open_all(const char *cuda_script, const char *cupti_script)
{
	static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
	                          ".visible .entry empty()\n{\n\tret;\n}\n";
	static const struct tare_module_source source = { TARE_MODULE_PTX, ptx, sizeof ptx - 1,
		                                          NULL };

	setenv("TARE_FAKE_CUDA", cuda_script, 1);
	setenv("TARE_FAKE_CUPTI", cupti_script, 1);
	must(cuda->driver_open(NULL, &driver, &error));
	must(cuda->device_open(driver, 0, &device, &error));
	queue = new_queue(true);
	must(tare_memory_create(device, TARE_MEMORY_PINNED, BYTES, &host, &error));
	must(tare_memory_create(device, TARE_MEMORY_DEVICE, BYTES, &here, &error));
	must(tare_memory_create(device, TARE_MEMORY_DEVICE, BYTES, &there, &error));
	must(tare_module_create(device, &source, &module, NULL, &error));
	must(tare_kernel_create(module, "empty", &kernel, &error));
}

static inline void close_all(void)
{
	tare_kernel_free(kernel);
	tare_module_free(module);
	tare_memory_free(host);
	tare_memory_free(here);
	tare_memory_free(there);
	tare_queue_free(queue);
	tare_device_close(device);
	if (driver)
		cuda->driver_close(driver);
	kernel = NULL;
	module = NULL;
	host = here = there = NULL;
	queue = NULL;
	device = NULL;
	driver = NULL;
}

static inline int teardown(void **state)
{
	(void)state;
	close_all();
	return 0;
}

static inline struct tare_operation copy(struct tare_memory *from, struct tare_memory *to)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = { from, 0, from->bytes },
		                        .destination = { to, 0, to->bytes } };
}

static inline struct tare_operation launch(void)
{
	return (struct tare_operation){
		.type = TARE_OPERATION_LAUNCH,
		.launch = { .kernel = kernel, .groups = { 1, 1, 1 }, .group_size = { 1, 1, 1 } }
	};
}

static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

enum { TO_DEVICE, TO_HOST, ON_DEVICE, FILL, RECTANGLE, LAUNCH, OPERATIONS };

static inline struct tare_operation operation(int which)
{
	static const unsigned char zero;
	struct tare_operation fill = { .type = TARE_OPERATION_FILL,
		                       .destination = { here, 0, BYTES },
		                       .fill = { &zero, 1 } };
	struct tare_operation rectangle = copy(host, here);

	rectangle.type = TARE_OPERATION_RECTANGLE;
	rectangle.rectangle =
	    (struct tare_rectangle){ ROW_BYTES / 2, 16, 1, ROW_BYTES, 0, ROW_BYTES, 0 };
	switch (which) {
	case TO_DEVICE:
		return copy(host, here);
	case TO_HOST:
		return copy(here, host);
	case ON_DEVICE:
		return copy(here, there);
	case FILL:
		return fill;
	case RECTANGLE:
		return rectangle;
	default:
		return launch();
	}
}

static inline int64_t at(const struct tare_stamps *stamps, enum tare_stamp which)
{
	return (int64_t)stamps->at[which].ticks;
}

// Engine stamps of a finished operation that the host asked for between two readings of its clock.
static inline void check_engine(const struct tare_stamps *stamps, int64_t before_ns,
                                int64_t after_ns)
{
	assert_true(stamps->brackets_engine);
	assert_int_equal(stamps->epoch, CUDA_ENGINE_EPOCH);
	assert_true(tare_stamps_have(stamps, TARE_STAMP_START));
	assert_true(tare_stamps_have(stamps, TARE_STAMP_END));
	assert_in_range(at(stamps, TARE_STAMP_START), before_ns, after_ns);
	assert_in_range(at(stamps, TARE_STAMP_END), at(stamps, TARE_STAMP_START) + 1, after_ns);
}

// Runs the tests if the stand-ins are named.
#define run_on_fakes(tests) (find_cuda() ? cmocka_run_group_tests(tests, NULL, NULL) : 1)
static inline bool find_cuda(void)
{
	const char *library = getenv("TARE_CUDA_LIBRARY");
	void *handle = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;

	cuda = tare_backend_find("cuda");
	if (!handle || !getenv("TARE_CUPTI_LIBRARY")) {
		print_error("TARE_CUDA_LIBRARY and TARE_CUPTI_LIBRARY do not name the stand-ins\n");
		return false;
	}
	*(void **)&fake.event_ns = dlsym(handle, "fake_cuda_event_ns");
	return true;
}
