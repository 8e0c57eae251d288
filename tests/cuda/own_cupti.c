// SPDX-License-Identifier: Apache-2.0
// A program's own use of CUPTI, with which it is linked, or with BY_DLSYM which it opens: a
// subscription and records, whose sums it prints.
#include "backend/cuda/cupti_abi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef BY_DLSYM
#define X(name, parameters) static cupti_result(*name) parameters;
CUPTI_FUNCTIONS(X, X)
#undef X

static void open_cupti(void)
{
	void *library = cuptiSubscribe ? NULL : dlopen("libcupti.so.13", RTLD_NOW);
	if (!library)
		return;
#define X(name, parameters) *(void **)&name = dlsym(library, #name);
	CUPTI_FUNCTIONS(X, X)
#undef X
}
#else
#define X(name, parameters) cupti_result name parameters;
CUPTI_FUNCTIONS(X, X)
#undef X

static void open_cupti(void)
{
}
#endif
__attribute__((visibility("default"))) void own_cupti(const char *style);

enum { BYTES = 1 << 16 };
static int kernels, others, calls, elsewhere;
static cupti_subscriber subscriber;
static uint64_t began_ns;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void requested(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BYTES);
	*bytes = BYTES;
	*most = 0;
}

static void completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                      size_t valid)
{
	cupti_record *record = NULL;
	(void)context, (void)stream, (void)bytes;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == ABI_CUPTI_SUCCESS) {
		const struct cupti_kernel *kernel = (const void *)record;
		bool is = record->kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL;
		kernels += is;
		others += !is;
		// The clock is CUPTI's own, for none was given.
		elsewhere +=
		    is && (kernel->start < began_ns || kernel->end > now_ns() + 1000000000);
	}
	free(buffer);
}

// Only what was asked for; `data` of a call is the program's own.
static void called(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	const struct cupti_call *call = data;
	const char *name = NULL;
	cuptiGetCallbackName(domain, id, &name);
	if (context != &calls || domain != ABI_CUPTI_DOMAIN_DRIVER || !name ||
	    strcmp(name, "cuLaunchKernel") != 0)
		exit(21);
	if (call->site == ABI_CUPTI_SITE_ENTER)
		*call->data = call->correlation;
	else if (*call->data != call->correlation)
		exit(22);
	calls++;
}

static void check(cupti_result result)
{
	if (result != ABI_CUPTI_SUCCESS) {
		printf("CUPTI says %d\n", result);
		exit(23);
	}
}

static void subscribe(void)
{
	const char *name = NULL;
	check(cuptiSubscribe(&subscriber, called, &calls));
	for (uint32_t id = 1;
	     cuptiGetCallbackName(ABI_CUPTI_DOMAIN_DRIVER, id, &name) == ABI_CUPTI_SUCCESS; id++)
		if (strcmp(name, "cuLaunchKernel") == 0)
			check(cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_DRIVER, id));
}

static void trace(bool buffers_first)
{
	began_ns = now_ns();
	if (buffers_first)
		check(cuptiActivityRegisterCallbacks(requested, completed));
	check(cuptiActivityEnable(ABI_CUPTI_KIND_CONCURRENT_KERNEL));
	if (!buffers_first)
		check(cuptiActivityRegisterCallbacks(requested, completed));
}

void own_cupti(const char *style)
{
	if (strncmp(style, "own-", 4) == 0)
		open_cupti();
	if (strcmp(style, "own-subscribe") == 0)
		subscribe();
	else if (strcmp(style, "own-trace") == 0)
		trace(false);
	else if (strcmp(style, "own-buffers") == 0)
		trace(true);
	else if (strcmp(style, "own-flush") == 0)
		check(cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED));
	else if (strcmp(style, "own-end") == 0)
		check(cuptiUnsubscribe(subscriber));
	else if (strcmp(style, "own-finalize") == 0)
		check(cuptiFinalize());
	else
		return;
	printf("%s: %d kernels, %d other records, %d calls, %d at other times\n", style, kernels,
	       others, calls, elsewhere);
}
