// SPDX-License-Identifier: Apache-2.0
// The stand-in for libcuda called directly: its functions, its hooks, one context of device 0.
// Everything is static: each test of it is one file.
#pragma once
#include "fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cuda_functions call;
static struct {
	cu_result (*launch)(cu_stream, const char *, int64_t, void (*)(void *), void *);
	void (*observe)(void (*)(const struct fake_cuda_activity *));
	uint32_t (*last_correlation)(void);
	int64_t (*event_ns)(cu_event);
	int (*objects)(void);
	cu_result (*param_info)(cu_function, size_t, size_t *, size_t *);
	cu_result (*record_with_flags)(cu_event, cu_stream, unsigned int);
} hooks;
static cu_context context;

static struct fake_cuda_activity seen[256];
static size_t seen_count;

static cu_event events[64];
static size_t event_count;

#define ok(call_) assert_int_equal(call_, ABI_SUCCESS)

__attribute__((unused)) static void see(const struct fake_cuda_activity *activity)
{
	if (seen_count < 256)
		seen[seen_count++] = *activity;
}

static void forget_context(void)
{
	while (event_count)
		call.cuEventDestroy_v2(events[--event_count]);
	if (context)
		call.cuDevicePrimaryCtxRelease_v2(0);
	context = NULL;
}

static void start(const char *script)
{
	setenv("TARE_FAKE_CUDA", script, 1);
	forget_context();
	ok(call.cuInit(0));
	ok(call.cuDevicePrimaryCtxRetain(&context, 0));
	ok(call.cuCtxSetCurrent(context));
}

__attribute__((unused)) static cu_stream new_stream(void)
{
	cu_stream stream = NULL;
	if (!context)
		start("");
	ok(call.cuStreamCreate(&stream, ABI_STREAM_NON_BLOCKING));
	return stream;
}

// One that goes with the context.
__attribute__((unused)) static cu_event new_event(void)
{
	ok(call.cuEventCreate(&events[event_count], ABI_EVENT_DEFAULT));
	return events[event_count++];
}

// Holds streams that wait for it at 1, so that what they do begins together however slowly this
// program gets on.
__attribute__((unused)) static volatile uint32_t *new_word(void)
{
	void *word = NULL;
	ok(call.cuMemHostAlloc(&word, 4, 0));
	memset(word, 0, 4);
	return word;
}

__attribute__((unused)) static void hold(cu_stream stream, volatile uint32_t *word)
{
	ok(call.cuStreamWaitValue32_v2(stream, (cu_pointer)(uintptr_t)word, 1,
	                               ABI_STREAM_WAIT_VALUE_GEQ));
}

static int stop(void **state)
{
	(void)state;
	forget_context();
	return 0;
}

static int find_hooks(void **state)
{
	const char *library = getenv("TARE_CUDA_LIBRARY");
	void *handle = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;

	(void)state;
	if (!handle) {
		print_error("TARE_CUDA_LIBRARY does not name the stand-in\n");
		return 1;
	}
#define X(name, parameters) *(void **)&call.name = dlsym(handle, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&hooks.launch = dlsym(handle, "fake_cuda_launch");
	*(void **)&hooks.observe = dlsym(handle, "fake_cuda_observe");
	*(void **)&hooks.last_correlation = dlsym(handle, "fake_cuda_last_correlation");
	*(void **)&hooks.event_ns = dlsym(handle, "fake_cuda_event_ns");
	*(void **)&hooks.objects = dlsym(handle, "fake_cuda_objects");
	*(void **)&hooks.param_info = dlsym(handle, "cuFuncGetParamInfo");
	*(void **)&hooks.record_with_flags = dlsym(handle, "cuEventRecordWithFlags");
	return 0;
}

#define fake_test(function) cmocka_unit_test_teardown(function, stop)
