// SPDX-License-Identifier: Apache-2.0
// Spans on streams of the stand-in for CUDA's driver, whose script says how long its kernels take.
// Argument: it.
#include "../fakes/fake_cuda.h"
#include "backend/cuda/abi.h"
#include "tare/time.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT_NS INT64_C(60000000000)
#define KERNEL_NS 5000000

static struct cuda_functions call;
static __typeof__(fake_cuda_launch) *launch;
static __typeof__(fake_cuda_objects) *objects;
static cu_context context;
static cu_stream stream;
static struct tare_timer *timer;
static struct tare_time_error error;

#define ok(call_) assert_int_equal(call_, ABI_SUCCESS)

static void start(const char *script)
{
	setenv("TARE_FAKE_CUDA", script, 1);
	ok(call.cuInit(0));
	ok(call.cuDevicePrimaryCtxRetain(&context, 0));
	ok(call.cuCtxSetCurrent(context));
	ok(call.cuStreamCreate(&stream, ABI_STREAM_NON_BLOCKING));
	if (tare_time_open_cuda(&timer, stream, NULL, &error) < 0)
		fail_msg("%s", error.message);
}

static void stop(void)
{
	assert_int_equal(tare_time_close(timer, &error), 0);
	call.cuStreamDestroy_v2(stream);
	call.cuDevicePrimaryCtxRelease_v2(0);
	call.cuCtxSetCurrent(NULL);
	assert_int_equal(objects(), 0);
}

// The stream waits until the word is 1, so that all that is enqueued behind runs without the host.
static volatile uint32_t *hold(void)
{
	void *word = NULL;

	ok(call.cuMemHostAlloc(&word, 4, 0));
	*(volatile uint32_t *)word = 0;
	ok(call.cuStreamWaitValue32_v2(stream, (cu_pointer)(uintptr_t)word, 1,
	                               ABI_STREAM_WAIT_VALUE_GEQ));
	return word;
}

static struct tare_time_span span_of(const char *name, int64_t kernel_ns)
{
	struct tare_time_span span;

	if (tare_time_begin(timer, name, &span, &error) < 0)
		fail_msg("%s", error.message);
	if (kernel_ns)
		ok(launch(stream, "work", kernel_ns, NULL, NULL));
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	return span;
}

static struct tare_time_result result_of(struct tare_time_span span)
{
	struct tare_time_result result;

	assert_int_equal(tare_time_read(timer, span, LIMIT_NS, &result, &error), 0);
	return result;
}

static void a_span_is_the_kernel_and_a_floor(void **state)
{
	struct tare_time_result result, empty;
	(void)state;

	start("");
	volatile uint32_t *word = hold();
	struct tare_time_span span = span_of("kernel", KERNEL_NS), nothing = span_of("nothing", 0);
	assert_int_equal(tare_time_read(timer, span, 1000000, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	*word = 1;
	result = result_of(span);
	empty = result_of(nothing);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_int_equal(empty.state, TARE_TIME_BELOW_FLOOR);
	assert_true(result.floor_ns >= 0 && result.floor_ns < 20000);
	assert_true(result.device_ns >= KERNEL_NS && result.device_ns < KERNEL_NS + 20000);
	assert_int_equal(result.uncertainty_ns, 500 + 2 * result.floor_ns);
	assert_int_equal(result.rate.hz_numerator, 0);
	assert_int_equal(result.start_ticks, 0);
	assert_int_equal(result.wraps_excluded, 1);
	ok(call.cuMemFreeHost((void *)(uintptr_t)word));
	stop();
}

static cu_result (*get_context)(cu_context *context);

static void *in_a_bare_thread(void *span)
{
	struct tare_time_result result;
	cu_context current = NULL;

	// This thread has no context, before and after.
	if (tare_time_read(timer, *(struct tare_time_span *)span, LIMIT_NS, &result, NULL) < 0)
		return (void *)1;
	if (get_context(&current) != ABI_SUCCESS || current)
		return (void *)2;
	return result.state == TARE_TIME_OK ? NULL : (void *)3;
}

static void a_thread_without_a_context_may_ask(void **state)
{
	struct tare_time_span span;
	pthread_t thread;
	void *failed = NULL;
	(void)state;

	start("");
	span = span_of("kernel", KERNEL_NS);
	assert_int_equal(pthread_create(&thread, NULL, in_a_bare_thread, &span), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	stop();
}

static void a_stream_that_is_captured_has_no_spans(void **state)
{
	struct tare_time_span span;
	cu_graph graph = NULL;
	(void)state;

	start("");
	ok(call.cuStreamBeginCapture_v2(stream, 0));
	assert_int_equal(tare_time_begin(timer, "captured", &span, &error), -EBUSY);
	assert_non_null(strstr(error.message, "captured"));
	ok(call.cuStreamEndCapture(stream, &graph));
	ok(call.cuGraphDestroy(graph));
	assert_int_equal(result_of(span_of("after", KERNEL_NS)).state, TARE_TIME_OK);
	stop();
}

static void an_event_is_a_moment(void **state)
{
	struct tare_time_result result;
	cu_event event;
	(void)state;

	start("");
	ok(call.cuEventCreate(&event, 0));
	assert_int_equal(tare_time_event(timer, "event", event, LIMIT_NS, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, TARE_TIME_NO_STAMPS);
	ok(call.cuEventDestroy_v2(event));
	stop();
}

// An event of each span and its floor, and no other, whatever is begun.
static void nothing_is_made_after_the_opening(void **state)
{
	int before;
	(void)state;

	start("");
	before = objects();
	for (int i = 0; i < 100; i++)
		assert_int_equal(tare_time_release(timer, span_of("many", 1000), &error), 0);
	assert_int_equal(objects(), before);
	ok(call.cuStreamSynchronize(stream));
	stop();
}

// The kernel ends with `code`, which the context keeps.
static void after_an_error(const char *script, cu_result code, enum tare_time_reason reason)
{
	struct tare_time_result result;
	char line[TARE_TIME_LINE], hex[16];

	start(script);
	result = result_of(span_of("kernel", KERNEL_NS));
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, reason);
	assert_int_equal(result.native, code);
	assert_int_equal(result.device_ns, -1);
	assert_true(tare_time_line(&result, line, sizeof line) > 0);
	snprintf(hex, sizeof hex, "(0x%x)", (unsigned)code);
	assert_non_null(strstr(line, hex));
	assert_int_equal(tare_time_close(timer, &error), 0);
	call.cuStreamDestroy_v2(stream);
	call.cuDevicePrimaryCtxRelease_v2(0);
	call.cuCtxSetCurrent(NULL);
}

static void a_kernel_that_failed_is_told(void **state)
{
	(void)state;
	after_an_error("fail_launch=1 fail_code=700", ABI_ILLEGAL_ADDRESS,
	               TARE_TIME_COMMAND_FAILED);
}

static void a_device_that_is_lost_is_told(void **state)
{
	(void)state;
	after_an_error("fail_launch=1 fail_code=214", ABI_ECC_UNCORRECTABLE, TARE_TIME_DEVICE_LOST);
}

static void a_stream_that_is_no_memory_is_refused(void **state)
{
	struct tare_timer *none = timer;
	(void)state;

	start("");
	none = timer;
	assert_int_equal(tare_time_open_cuda(&none, (void *)0x1234567, NULL, &error), -EINVAL);
	assert_null(none);
	assert_non_null(strstr(error.message, "is no stream"));
	stop();
}

static void without_a_context_there_is_no_timer(void **state)
{
	struct tare_timer *none = timer;
	(void)state;

	ok(call.cuInit(0));
	ok(call.cuCtxSetCurrent(NULL));
	assert_int_equal(tare_time_open_cuda(&none, NULL, NULL, &error), -EINVAL);
	assert_null(none);
	assert_non_null(strstr(error.message, "no CUDA context"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_context_there_is_no_timer),
		cmocka_unit_test(a_span_is_the_kernel_and_a_floor),
		cmocka_unit_test(a_thread_without_a_context_may_ask),
		cmocka_unit_test(a_stream_that_is_captured_has_no_spans),
		cmocka_unit_test(an_event_is_a_moment),
		cmocka_unit_test(nothing_is_made_after_the_opening),
		cmocka_unit_test(a_kernel_that_failed_is_told),
		cmocka_unit_test(a_stream_that_is_no_memory_is_refused),
		cmocka_unit_test(a_device_that_is_lost_is_told),
	};
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (!library) {
		print_error("the argument does not name the stand-in\n");
		return 1;
	}
#define X(name, parameters) *(void **)&call.name = dlsym(library, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&launch = dlsym(library, "fake_cuda_launch");
	*(void **)&objects = dlsym(library, "fake_cuda_objects");
	*(void **)&get_context = dlsym(library, "cuCtxGetCurrent");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
