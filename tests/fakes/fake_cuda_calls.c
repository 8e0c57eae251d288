// SPDX-License-Identifier: Apache-2.0
// The functions of the stand-in for libcuda that tell who listens (fake_cupti.c) of their calls,
// before and after, as the driver tells CUPTI; and what a recorder asks that nobody is told of.
#define FAKE_CUDA_CALLERS
#include "fake_cuda_device.h"
#include "fake_cuda_load.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void (*_Atomic tell_call)(const char *name, struct cupti_call *call);
static void (*_Atomic tell_runtime)(const char *name, struct cupti_call *call);
static _Thread_local uint32_t under_way;
static _Thread_local struct {
	uint64_t data;
	uint32_t number;
} runtime;
static _Atomic int by_runtime;

void fake_cuda_observe_calls(void (*tell)(const char *name, struct cupti_call *call))
{
	tell_call = tell;
}

uint32_t fake_cuda_new_number(void)
{
	static _Atomic uint32_t numbers;
	return ++numbers;
}

uint32_t fake_cuda_call_under_way(void)
{
	return by_runtime && runtime.number ? runtime.number : under_way;
}

void fake_cuda_observe_runtime(void (*tell)(const char *name, struct cupti_call *call))
{
	tell_runtime = tell;
}

void fake_cuda_number_by_runtime(int does)
{
	by_runtime = does;
}

void fake_cuda_runtime(const char *name, int site, int result)
{
	void (*tell)(const char *, struct cupti_call *) = tell_runtime;
	bool enters = site == ABI_CUPTI_SITE_ENTER;
	runtime.number = enters ? fake_cuda_new_number() : runtime.number;
	struct cupti_call call = { .site = site,
		                   .function = name,
		                   .result = enters ? NULL : &result,
		                   .context = current,
		                   .context_id = current ? (uint32_t)current->device->index + 1 : 0,
		                   .data = &runtime.data,
		                   .correlation = runtime.number };
	if (tell)
		tell(name, &call);
	runtime.number = enters ? runtime.number : 0;
}

static const char *const names[] = {
#define NAME(name, ...) #name,
	FAKE_CUDA_CALLS(NAME) FAKE_CUDA_LOADS(NAME) "cuLaunchKernel",
	"cuModuleLoadDataEx",
	"cuLaunchCooperativeKernel",
#undef NAME
};

const char *fake_cuda_call_name(uint32_t id)
{
	return id >= 1 && id <= sizeof names / sizeof *names ? names[id - 1] : NULL;
}

uint32_t fake_cuda_context_device(cu_context context)
{
	return (uint32_t)context->device->index;
}

static void before(struct cupti_call *call, const char *name, const void *parameters,
                   uint64_t *data)
{
	void (*tell)(const char *, struct cupti_call *) = tell_call;
	// What a recorder asks while it is told of a call: nobody is told.
	if (under_way)
		return;
	under_way = by_runtime && runtime.number ? runtime.number : fake_cuda_new_number();
	*call =
	    (struct cupti_call){ .site = ABI_CUPTI_SITE_ENTER,
		                 .function = name,
		                 .parameters = parameters,
		                 .symbol = call->symbol,
		                 .context = current,
		                 .context_id = current ? (uint32_t)current->device->index + 1 : 0,
		                 .data = data,
		                 .correlation = under_way };
	if (tell)
		tell(name, call);
}

static cu_result after(struct cupti_call *call, cu_result result)
{
	void (*tell)(const char *, struct cupti_call *) = tell_call;
	if (!call->function)
		return result;
	under_way = 0;
	call->site = ABI_CUPTI_SITE_EXIT;
	call->result = &result;
	if (tell)
		tell(call->function, call);
	call->result = NULL;
	return result;
}

#define UNPACK(...) __VA_ARGS__
#define CALLER(name, parameters, arguments, ...)                                                   \
	cu_result fake_##name parameters;                                                          \
	FAKE_EXPORT cu_result name parameters;                                                     \
	cu_result name parameters                                                                  \
	{                                                                                          \
		struct {                                                                           \
			__VA_ARGS__                                                                \
		} held = { UNPACK arguments };                                                     \
		struct cupti_call call = { 0 };                                                    \
		uint64_t kept = 0;                                                                 \
		before(&call, #name, &held, &kept);                                                \
		return after(&call, fake_##name arguments);                                        \
	}
FAKE_CUDA_CALLS(CALLER)

#define LOADER(name, parameters, holds, arguments, ...)                                            \
	FAKE_EXPORT cu_result name parameters;                                                     \
	cu_result name parameters                                                                  \
	{                                                                                          \
		struct {                                                                           \
			__VA_ARGS__                                                                \
		} held = { UNPACK holds };                                                         \
		struct cupti_call call = { 0 };                                                    \
		uint64_t kept = 0;                                                                 \
		before(&call, #name, &held, &kept);                                                \
		return after(&call, fake_##name arguments);                                        \
	}
FAKE_CUDA_LOADS(LOADER)

cu_result fake_cuLaunchKernel(cu_function function, unsigned int groups_x, unsigned int groups_y,
                              unsigned int groups_z, unsigned int size_x, unsigned int size_y,
                              unsigned int size_z, unsigned int shared_bytes, cu_stream stream,
                              void **parameters, void **extra);
cu_result cuLaunchKernel(cu_function function, unsigned int groups_x, unsigned int groups_y,
                         unsigned int groups_z, unsigned int size_x, unsigned int size_y,
                         unsigned int size_z, unsigned int shared_bytes, cu_stream stream,
                         void **parameters, void **extra)
{
	struct {
		cu_function function;
		unsigned int groups[3], size[3], shared_bytes;
		cu_stream stream;
		void **parameters, **extra;
	} held = { function,
		   { groups_x, groups_y, groups_z },
		   { size_x, size_y, size_z },
		   shared_bytes,
		   stream,
		   parameters,
		   extra };
	struct cupti_call call = { .symbol = function->name };
	uint64_t data = 0;
	before(&call, "cuLaunchKernel", &held, &data);
	return after(&call,
	             fake_cuLaunchKernel(function, groups_x, groups_y, groups_z, size_x, size_y,
	                                 size_z, shared_bytes, stream, parameters, extra));
}

// Who is told of it may put another image into its place.
cu_result fake_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int count,
                                  cu_jit_option *options, void **values);
FAKE_EXPORT cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int count,
                                         cu_jit_option *options, void **values);
cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int count,
                             cu_jit_option *options, void **values)
{
	struct {
		cu_module *module;
		const void *image;
		unsigned int count;
		cu_jit_option *options;
		void **values;
	} held = { module, image, count, options, values };
	struct cupti_call call = { 0 };
	uint64_t data = 0;
	before(&call, "cuModuleLoadDataEx", &held, &data);
	return after(&call, fake_cuModuleLoadDataEx(held.module, held.image, held.count,
	                                            held.options, held.values));
}

// As cuLaunchKernel, but that its groups may wait for each other, which they do not here.
FAKE_EXPORT cu_result cuLaunchCooperativeKernel(cu_function function, unsigned int groups_x,
                                                unsigned int groups_y, unsigned int groups_z,
                                                unsigned int size_x, unsigned int size_y,
                                                unsigned int size_z, unsigned int shared_bytes,
                                                cu_stream stream, void **parameters);
cu_result cuLaunchCooperativeKernel(cu_function function, unsigned int groups_x,
                                    unsigned int groups_y, unsigned int groups_z,
                                    unsigned int size_x, unsigned int size_y, unsigned int size_z,
                                    unsigned int shared_bytes, cu_stream stream, void **parameters)
{
	struct {
		cu_function function;
		unsigned int groups[3], size[3], shared_bytes;
		cu_stream stream;
		void **parameters;
	} held = { function,
		   { groups_x, groups_y, groups_z },
		   { size_x, size_y, size_z },
		   shared_bytes,
		   stream,
		   parameters };
	struct cupti_call call = { .symbol = function->name };
	uint64_t data = 0;
	before(&call, "cuLaunchCooperativeKernel", &held, &data);
	return after(&call,
	             fake_cuLaunchKernel(function, groups_x, groups_y, groups_z, size_x, size_y,
	                                 size_z, shared_bytes, stream, parameters, NULL));
}

// ---- what nobody is told of

FAKE_EXPORT cu_result cuStreamIsCapturing(cu_stream handle, int *status);
cu_result cuStreamIsCapturing(cu_stream handle, int *status)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS)
		*status = stream->capture != NULL;
	return leave(result);
}

FAKE_EXPORT cu_result cuStreamGetFlags(cu_stream handle, unsigned int *flags);
cu_result cuStreamGetFlags(cu_stream handle, unsigned int *flags)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS)
		*flags = stream->blocking ? 0 : ABI_STREAM_NON_BLOCKING;
	return leave(result);
}

FAKE_EXPORT cu_result cuStreamGetPriority(cu_stream handle, int *priority);
cu_result cuStreamGetPriority(cu_stream handle, int *priority)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS)
		*priority = stream->priority;
	return leave(result);
}

// Of an address that it does not know all values are 0.
FAKE_EXPORT cu_result cuPointerGetAttributes(unsigned int count, int *attributes, void **data,
                                             cu_pointer pointer);
cu_result cuPointerGetAttributes(unsigned int count, int *attributes, void **data,
                                 cu_pointer pointer)
{
	enum { TYPE = 2, MANAGED = 8, ORDINAL = 9 };
	ENTER_CONTEXT();
	const struct range *range = range_of(AT(pointer));
	bool host = range && (range->place == TARE_PLACE_PINNED || range->registered);
	for (unsigned int i = 0; i < count; i++) {
		if (attributes[i] == TYPE)
			*(unsigned int *)data[i] = !range ? 0
			                           : host ? ABI_MEMORYTYPE_HOST
			                                  : ABI_MEMORYTYPE_DEVICE;
		else if (attributes[i] == MANAGED)
			*(bool *)data[i] = range && range->place == TARE_PLACE_SHARED;
		else if (attributes[i] == ORDINAL)
			*(int *)data[i] = range && !host ? (int)range->device->index : -2;
	}
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuMemGetAddressRange_v2(cu_pointer *start, size_t *bytes, cu_pointer within);
cu_result cuMemGetAddressRange_v2(cu_pointer *start, size_t *bytes, cu_pointer within)
{
	ENTER_CONTEXT();
	const struct range *range = range_of(AT(within));
	if (!range)
		return leave(500);
	*start = (cu_pointer)(uintptr_t)range->at;
	*bytes = range->bytes;
	return leave(ABI_SUCCESS);
}

// ---- who is let in with the first cuInit

void let_in(void)
{
	static bool entered;
	const char *name = getenv("CUDA_INJECTION64_PATH");
	void *library = name && name[0] && !entered ? dlopen(name, RTLD_NOW) : NULL;
	int (*initialise)(void) = NULL;
	entered = true;
	if (library)
		*(void **)&initialise = dlsym(library, "InitializeInjection");
	if (initialise)
		initialise();
}
