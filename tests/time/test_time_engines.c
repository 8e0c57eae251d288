// SPDX-License-Identifier: Apache-2.0
// Spans of the engines' own times, on the stand-ins for CUDA's driver and for CUPTI. Arguments:
// these.
#include "../fakes/fake_cuda.h"
#include "../fakes/fake_cupti.h"
#include "backend/cuda/abi.h"
#include "tare/time_series.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_NS INT64_C(60000000000)
#define KERNEL_NS 5000000

static struct cuda_functions call;
static __typeof__(fake_cuda_launch) *launch;
static __typeof__(fake_cuda_objects) *objects;
static __typeof__(fake_cupti_active) *active;
static __typeof__(fake_cupti_pushed) *pushed;
static const char *cupti;
static cu_context context;
static cu_stream stream, other;
static struct tare_timer *timer;
static struct tare_time_error error;
static const struct tare_time_options engines = { .engines = 1 };

#define ok(call_) assert_int_equal(call_, ABI_SUCCESS)

static void prepare(const char *script)
{
	setenv("TARE_FAKE_CUDA", "", 1);
	setenv("TARE_FAKE_CUPTI", script, 1);
	setenv("TARE_CUPTI_LIBRARY", cupti, 1);
	ok(call.cuInit(0));
	ok(call.cuDevicePrimaryCtxRetain(&context, 0));
	ok(call.cuCtxSetCurrent(context));
	ok(call.cuStreamCreate(&stream, ABI_STREAM_NON_BLOCKING));
	ok(call.cuStreamCreate(&other, ABI_STREAM_NON_BLOCKING));
}

static void start(const char *script)
{
	prepare(script);
	if (tare_time_open_cuda(&timer, stream, &engines, &error) < 0)
		fail_msg("%s", error.message);
}

static void tidy(void)
{
	call.cuStreamDestroy_v2(stream);
	call.cuStreamDestroy_v2(other);
	call.cuDevicePrimaryCtxRelease_v2(0);
	call.cuCtxSetCurrent(NULL);
	assert_int_equal(objects(), 0);
	if (active)
		assert_int_equal(active(), 0);
}

static void stop(void)
{
	assert_int_equal(pushed(), 0);
	assert_int_equal(tare_time_close(timer, &error), 0);
	tidy();
}

static struct tare_time_span begin(struct tare_timer *on, const char *name)
{
	struct tare_time_span span;

	if (tare_time_begin(on, name, &span, &error) < 0)
		fail_msg("%s", error.message);
	return span;
}

static void end(struct tare_timer *on, struct tare_time_span span)
{
	assert_int_equal(tare_time_end(on, span, &error), 0);
}

static void work(cu_stream on, int64_t ns)
{
	ok(launch(on, "work", ns, NULL, NULL));
}

static struct tare_time_result result_of(struct tare_timer *on, struct tare_time_span span)
{
	struct tare_time_result result;

	assert_int_equal(tare_time_read(on, span, LIMIT_NS, &result, &error), 0);
	return result;
}

static void a_span_is_its_kernel_alone(void **state)
{
	struct tare_time_result result, marks;
	struct tare_time_span span, outer;
	struct tare_timer *plain;
	char line[TARE_TIME_LINE];
	(void)state;

	start("");
	assert_int_equal(tare_time_open_cuda(&plain, stream, NULL, &error), 0);
	work(stream, 2 * KERNEL_NS);
	outer = begin(plain, "marks");
	span = begin(timer, "kernel");
	work(stream, KERNEL_NS);
	work(other, 3 * KERNEL_NS);
	end(timer, span);
	end(plain, outer);
	work(stream, 2 * KERNEL_NS);
	result = result_of(timer, span);
	marks = result_of(plain, outer);
	assert_int_equal(result.state, TARE_TIME_OK);
	assert_int_equal(result.between, TARE_TIME_ENGINES);
	assert_int_equal(result.commands, 1);
	assert_int_equal(result.device_ns, KERNEL_NS);
	assert_int_equal(result.floor_ns, 0);
	assert_true(result.uncertainty_ns > 0 && result.uncertainty_ns < 500);
	assert_int_equal(marks.between, TARE_TIME_MARKS);
	assert_int_equal(marks.commands, 0);
	assert_true(marks.device_ns + marks.uncertainty_ns >= result.device_ns);
	assert_true(tare_time_line(&result, line, sizeof line) > 0);
	assert_non_null(
	    strstr(line, "kernel: 5000.000 us on the device's engines, 1 command, +- "));
	assert_int_equal(tare_time_close(plain, &error), 0);
	stop();
}

static void a_sequence_is_from_the_first_start_to_the_last_end(void **state)
{
	struct tare_time_span outer, first, second;
	struct tare_time_result whole, a, b;
	cu_pointer memory = 0;
	(void)state;

	start("");
	ok(call.cuMemAlloc_v2(&memory, 4096));
	outer = begin(timer, "outer");
	first = begin(timer, "first");
	work(stream, KERNEL_NS);
	ok(call.cuMemsetD32Async(memory, 1, 1024, stream));
	end(timer, first);
	second = begin(timer, "second");
	work(stream, KERNEL_NS);
	end(timer, second);
	end(timer, outer);
	whole = result_of(timer, outer);
	a = result_of(timer, first);
	b = result_of(timer, second);
	assert_int_equal(whole.commands, 3);
	assert_int_equal(a.commands, 2);
	assert_int_equal(b.commands, 1);
	assert_int_equal(b.device_ns, KERNEL_NS);
	assert_true(a.device_ns > KERNEL_NS);
	assert_true(whole.device_ns >= a.device_ns + b.device_ns);
	ok(call.cuMemFree_v2(memory));
	stop();
}

static void a_span_is_read_while_later_ones_run(void **state)
{
	struct tare_time_span spans[8];
	(void)state;

	start("");
	for (int i = 0; i < 8; i++) {
		spans[i] = begin(timer, NULL);
		work(stream, KERNEL_NS + i);
		end(timer, spans[i]);
	}
	for (int i = 0; i < 8; i++) {
		struct tare_time_result result = result_of(timer, spans[i]);
		assert_int_equal(result.state, TARE_TIME_OK);
		assert_int_equal(result.device_ns, KERNEL_NS + i);
	}
	stop();
}

static void a_graph_is_all_of_its_nodes(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	cu_graph graph = NULL;
	cu_graph_exec ready = NULL;
	(void)state;

	start("");
	ok(call.cuStreamBeginCapture_v2(stream, 0));
	work(stream, KERNEL_NS);
	work(stream, KERNEL_NS);
	ok(call.cuStreamEndCapture(stream, &graph));
	ok(call.cuGraphInstantiateWithFlags(&ready, graph, 0));
	span = begin(timer, "graph");
	ok(call.cuGraphLaunch(ready, stream));
	end(timer, span);
	result = result_of(timer, span);
	assert_int_equal(result.commands, 2);
	assert_true(result.device_ns >= 2 * KERNEL_NS);
	ok(call.cuGraphExecDestroy(ready));
	ok(call.cuGraphDestroy(graph));
	stop();
}

static void nothing_between_is_told(void **state)
{
	struct tare_time_span span;
	struct tare_time_result result;
	(void)state;

	start("");
	span = begin(timer, "nothing");
	work(other, 1000);
	end(timer, span);
	result = result_of(timer, span);
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, TARE_TIME_NO_COMMAND);
	stop();
}

static void what_cupti_lost_is_not_made_up(void **state)
{
	static const char *const scripts[] = { "drop=1", "timeless=1" };
	(void)state;

	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		struct tare_time_span span;
		struct tare_time_result result;
		start(scripts[i]);
		span = begin(timer, "kernel");
		work(stream, KERNEL_NS);
		end(timer, span);
		result = result_of(timer, span);
		assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
		assert_int_equal(result.reason, TARE_TIME_NO_STAMPS);
		// And those after it have theirs.
		span = begin(timer, "kernel");
		work(stream, KERNEL_NS);
		end(timer, span);
		assert_int_equal(result_of(timer, span).device_ns, KERNEL_NS);
		stop();
	}
}

static void what_is_too_old_is_not_made_up(void **state)
{
	struct tare_time_span span;
	(void)state;

	start("");
	span = begin(timer, "old");
	work(stream, 1000);
	end(timer, span);
	for (int i = 0; i < 66000; i++)
		work(stream, 1);
	ok(call.cuStreamSynchronize(stream));
	assert_int_equal(result_of(timer, span).reason, TARE_TIME_NO_STAMPS);
	assert_non_null(strstr(result_of(timer, span).sentence, "sooner"));
	stop();
}

static void another_tool_keeps_cupti(void **state)
{
	(void)state;

	prepare("holder=profiler");
	assert_int_equal(tare_time_open_cuda(&timer, stream, &engines, &error), -EBUSY);
	assert_null(timer);
	assert_non_null(strstr(error.message, "profiler"));
	// Marks need none.
	assert_int_equal(tare_time_open_cuda(&timer, stream, NULL, &error), 0);
	assert_int_equal(tare_time_close(timer, &error), 0);
	tidy();
}

static void a_refusal_is_told(void **state)
{
	(void)state;

	prepare("fail_enable=35");
	assert_int_equal(tare_time_open_cuda(&timer, stream, &engines, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_string_equal(error.call, "cuptiActivityEnable");
	assert_int_equal(error.native, 35);
	tidy();
}

// The first test, before the library is open for good.
static void without_a_library_it_is_told(void **state)
{
	(void)state;

	prepare("");
	setenv("TARE_CUPTI_LIBRARY", "/nowhere/libcupti.so", 1);
	assert_int_equal(tare_time_open_cuda(&timer, stream, &engines, &error), -ENOENT);
	assert_non_null(strstr(error.message, "TARE_CUPTI_LIBRARY"));
	tidy();
}

static void two_timers_share_it(void **state)
{
	struct tare_timer *second;
	struct tare_time_span a, b;
	(void)state;

	start("");
	assert_int_equal(tare_time_open_cuda(&second, other, &engines, &error), 0);
	a = begin(timer, "a");
	b = begin(second, "b");
	work(stream, KERNEL_NS);
	work(other, 2 * KERNEL_NS);
	end(second, b);
	end(timer, a);
	assert_int_equal(result_of(timer, a).device_ns, KERNEL_NS);
	assert_int_equal(result_of(second, b).device_ns, 2 * KERNEL_NS);
	assert_int_equal(tare_time_close(second, &error), 0);
	assert_true(active() > 0);
	a = begin(timer, "a");
	work(stream, KERNEL_NS);
	end(timer, a);
	assert_int_equal(result_of(timer, a).device_ns, KERNEL_NS);
	stop();
}

static void a_series_says_whose_times_they_are(void **state)
{
	char path[] = "/tmp/tare-engines-XXXXXX", text[8192];
	struct tare_time_series_options options = { .most = 3 };
	struct tare_time_series *series;
	struct tare_time_span span;
	size_t n;
	FILE *file;
	int descriptor;
	(void)state;

	start("");
	assert_int_equal(tare_time_series_open(&series, "kernel", &options, &error), 0);
	do {
		span = begin(timer, NULL);
		work(stream, KERNEL_NS);
		end(timer, span);
	} while (tare_time_series_take(series, timer, span, LIMIT_NS, &error) > 0);
	descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	assert_int_equal(tare_time_write(&series, 1, path, &error), 0);
	file = fdopen(descriptor, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof text - 1, file);
	text[n] = '\0';
	fclose(file);
	unlink(path);
	assert_non_null(strstr(text, "activity records"));
	assert_non_null(strstr(text, "\"device\": \"NVIDIA H200\""));
	tare_time_series_close(series);
	stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_library_it_is_told),
		cmocka_unit_test(a_span_is_its_kernel_alone),
		cmocka_unit_test(a_sequence_is_from_the_first_start_to_the_last_end),
		cmocka_unit_test(a_span_is_read_while_later_ones_run),
		cmocka_unit_test(a_graph_is_all_of_its_nodes),
		cmocka_unit_test(nothing_between_is_told),
		cmocka_unit_test(what_cupti_lost_is_not_made_up),
		cmocka_unit_test(what_is_too_old_is_not_made_up),
		cmocka_unit_test(another_tool_keeps_cupti),
		cmocka_unit_test(a_refusal_is_told),
		cmocka_unit_test(two_timers_share_it),
		cmocka_unit_test(a_series_says_whose_times_they_are),
	};
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	void *records = library ? dlopen(argv[2], RTLD_NOW) : NULL;

	if (!records) {
		print_error("the arguments do not name the stand-ins\n");
		return 1;
	}
	cupti = argv[2];
#define X(name, parameters) *(void **)&call.name = dlsym(library, #name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&launch = dlsym(library, "fake_cuda_launch");
	*(void **)&objects = dlsym(library, "fake_cuda_objects");
	*(void **)&active = dlsym(records, "fake_cupti_active");
	*(void **)&pushed = dlsym(records, "fake_cupti_pushed");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
