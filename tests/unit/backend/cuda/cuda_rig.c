// SPDX-License-Identifier: Apache-2.0
#include "cuda_rig.h"

#include <dlfcn.h>

struct tare_driver *driver;
struct tare_device *device;
struct tare_error error;
const struct tare_backend *cuda;
struct cuda_rig fake;

void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

void close_all(void)
{
	tare_device_close(device);
	device = NULL;
	if (driver)
		cuda->driver_close(driver);
	driver = NULL;
}

int rig_teardown(void **state)
{
	(void)state;
	close_all();
	return 0;
}

// Starts the library anew with a script; NULL: the plain H200.
void open_driver(const char *script)
{
	close_all();
	setenv("TARE_FAKE_CUDA", script ? script : "", 1);
	must(cuda->driver_open(NULL, &driver, &error));
}

void open_device(const char *script)
{
	open_driver(script);
	must(cuda->device_open(driver, 0, &device, &error));
}

struct tare_queue *new_queue(bool timed)
{
	struct tare_queue *queue = NULL;
	must(tare_queue_create(device, &(struct tare_queue_options){ .timed = timed }, &queue,
	                       &error));
	return queue;
}

struct tare_memory *new_memory(enum tare_memory_kind kind, uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	must(tare_memory_create(device, kind, bytes, &memory, &error));
	return memory;
}

const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

struct tare_operation copy(struct tare_memory *from, struct tare_memory *to)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = { from, 0, from->bytes },
		                        .destination = { to, 0, to->bytes } };
}

struct tare_operation launch(struct tare_kernel *kernel)
{
	return (struct tare_operation){
		.type = TARE_OPERATION_LAUNCH,
		.launch = { .kernel = kernel, .groups = { 1, 1, 1 }, .group_size = { 1, 1, 1 } }
	};
}

static const char ptx[] =
    ".version 6.0\n.target sm_70\n.visible .entry empty()\n{}\n"
    ".visible .entry store(.param .u64 a, .param .u32 b, .param .u32 c, .param .u32 d)\n{}\n";

struct tare_kernel *new_kernel(const char *name, struct tare_module **module)
{
	static const struct tare_module_source source = { TARE_MODULE_PTX, ptx, sizeof ptx - 1,
		                                          NULL };
	struct tare_kernel *kernel = NULL;
	must(tare_module_create(device, &source, module, NULL, &error));
	must(tare_kernel_create(*module, name, &kernel, &error));
	return kernel;
}

void nothing_is_left_behind(void **state)
{
	(void)state;
	close_all();
	assert_int_equal(fake.objects(), 0);
}

int rig_setup(void **state)
{
	const char *library = getenv("TARE_CUDA_LIBRARY");
	void *handle = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;

	(void)state;
	cuda = tare_backend_find("cuda");
	if (!handle) {
		print_error("TARE_CUDA_LIBRARY does not name the stand-in\n");
		return 1;
	}
	*(void **)&fake.event_ns = dlsym(handle, "fake_cuda_event_ns");
	*(void **)&fake.skip_ns = dlsym(handle, "fake_cuda_skip_ns");
	*(void **)&fake.objects = dlsym(handle, "fake_cuda_objects");
	*(void **)&fake.pending = dlsym(handle, "fake_cuda_pending");
	*(void **)&fake.records = dlsym(handle, "fake_cuda_records");
	return 0;
}
