// SPDX-License-Identifier: Apache-2.0
// The stand-in for libcuda keeps CUDA's rules and its script, asked without the backend.
#include "fake_cuda_rig.h"

#include <time.h>
#include <unistd.h>

// ---- order

// A kernel of a millisecond in one stream, then an event in another: which is done first?
static bool waits_for(cu_stream first, cu_stream second)
{
	cu_event long_one = new_event(), short_one = new_event();
	float ms = 0;

	ok(hooks.launch(first, "long", 1000000, NULL, NULL));
	ok(call.cuEventRecord(long_one, first));
	ok(call.cuEventRecord(short_one, second));
	ok(call.cuStreamSynchronize(first));
	ok(call.cuStreamSynchronize(second));
	ok(call.cuEventElapsedTime(&ms, long_one, short_one));
	return ms > 0;
}

static void blocking_streams_and_the_legacy_one_wait_for_each_other(void **state)
{
	cu_stream blocking, free_one, legacy = ABI_STREAM_LEGACY, own = (cu_stream)0x2;
	const struct {
		cu_stream *first, *second;
		bool waits;
	} rows[] = {
		{ &legacy, &blocking, true },
		{ &blocking, &legacy, true },
		{ &legacy, &free_one, false },
		{ &free_one, &legacy, false },
		{ &blocking, &free_one, false },
		{ &own, &blocking, false },
		{ &own, &legacy, true },
		{ &legacy, &own, true },
		{ &own, &own, true },
	};
	(void)state;
	start("");
	ok(call.cuStreamCreate(&blocking, 0));
	ok(call.cuStreamCreate(&free_one, ABI_STREAM_NON_BLOCKING));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (waits_for(*rows[i].first, *rows[i].second) != rows[i].waits)
			fail_msg("row %zu", i);
}

static void *stream_2_of_another_thread(void *unused)
{
	(void)unused;
	ok(call.cuCtxSetCurrent(context));
	assert_int_equal(call.cuStreamQuery((cu_stream)0x2), ABI_SUCCESS);
	return NULL;
}

static void each_thread_has_its_default_stream(void **state)
{
	pthread_t thread;
	(void)state;
	start("");
	ok(hooks.launch((cu_stream)0x2, "long", 30000000, NULL, NULL));
	assert_int_equal(call.cuStreamQuery((cu_stream)0x2), ABI_NOT_READY);
	assert_int_equal(pthread_create(&thread, NULL, stream_2_of_another_thread, NULL), 0);
	pthread_join(thread, NULL);
	ok(call.cuStreamSynchronize((cu_stream)0x2));
}

static void an_event_stands_for_what_was_recorded_when_it_was_waited_for(void **state)
{
	cu_stream first = new_stream(), second = new_stream();
	cu_event event = new_event(), after = new_event(), begin = new_event();
	float ms;
	(void)state;
	ok(call.cuEventRecord(begin, first));
	ok(hooks.launch(first, "short", 3000000, NULL, NULL));
	ok(call.cuEventRecord(event, first));
	ok(call.cuStreamWaitEvent(second, event, 0));
	ok(call.cuEventRecord(after, second));
	// Recorded again behind a long kernel: the wait has nothing to do with that.
	ok(hooks.launch(first, "long", 2000000, NULL, NULL));
	ok(call.cuEventRecord(event, first));
	ok(call.cuStreamSynchronize(second));
	ok(call.cuStreamSynchronize(first));
	// Behind the first kernel, and well before the end of the second.
	ok(call.cuEventElapsedTime(&ms, begin, after));
	assert_true(ms > 2.9f);
	ok(call.cuEventElapsedTime(&ms, after, event));
	assert_true(ms > 1.9f);
}

// ---- the script

// GB/s of one copy by its engine.
static double rate(cu_stream stream, cu_pointer to, cu_pointer from, size_t bytes)
{
	seen_count = 0;
	ok(call.cuMemcpyAsync(to, from, bytes, stream));
	ok(call.cuStreamSynchronize(stream));
	assert_int_equal(seen_count, 1);
	assert_int_equal(seen[0].bytes, bytes);
	return (double)bytes / (double)(seen[0].end_ns - seen[0].start_ns);
}

static void copies_take_what_the_script_says(void **state)
{
	enum { BYTES = 4 << 20 };
	cu_pointer remote, other;
	void *pinned, *wide;
	(void)state;
	start("");
	cu_stream stream = new_stream(), back = new_stream();
	ok(call.cuMemAlloc_v2(&remote, BYTES));
	ok(call.cuMemAlloc_v2(&other, BYTES));
	ok(call.cuMemHostAlloc(&pinned, BYTES, 0));
	ok(call.cuMemHostAlloc(&wide, BYTES, ABI_MEMHOSTALLOC_WRITECOMBINED));
	char *heap = malloc(BYTES);
	const struct {
		cu_pointer to, from;
		double rate;
		int kind, fixed_ns;
	} rows[] = {
		{ remote, (cu_pointer)(uintptr_t)pinned, 55.6, 1, 1300 },
		{ (cu_pointer)(uintptr_t)pinned, remote, 55.45, 2, 1300 },
		{ remote, (cu_pointer)(uintptr_t)wide, 55.6, 1, 1300 },
		{ remote, (cu_pointer)(uintptr_t)heap, 10.2, 1, 1600 },
		{ (cu_pointer)(uintptr_t)heap, remote, 18.1, 2, 1600 },
		{ other, remote, 2081, 8, 1600 },
	};
	memset(pinned, 1, BYTES);
	memset(wide, 2, BYTES);
	memset(heap, 3, BYTES);
	hooks.observe(see);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double got = rate(stream, rows[i].to, rows[i].from, BYTES);
		double expected = BYTES / (BYTES / rows[i].rate + rows[i].fixed_ns);
		if (got < 0.999 * expected || got > 1.001 * expected)
			fail_msg("row %zu: %g GB/s, not %g", i, got, expected);
		assert_int_equal(seen[0].copy_kind, rows[i].kind);
	}
	// Both directions at once: each slower, as the script says, and not half as fast.
	volatile uint32_t *word = new_word();
	hold(stream, word);
	hold(back, word);
	ok(call.cuMemcpyAsync(remote, (cu_pointer)(uintptr_t)pinned, BYTES, stream));
	ok(call.cuMemcpyAsync((cu_pointer)(uintptr_t)wide, other, BYTES, back));
	seen_count = 0;
	*word = 1;
	ok(call.cuStreamSynchronize(stream));
	ok(call.cuStreamSynchronize(back));
	assert_int_equal(seen_count, 2);
	for (int i = 0; i < 2; i++) {
		double got = (double)BYTES / (double)(seen[i].end_ns - seen[i].start_ns);
		assert_true(got > 46 && got < 53.5);
	}
	hooks.observe(NULL);
	free(heap);
}

static void pageable_memory_is_read_at_the_call(void **state)
{
	char from[4096], *to;
	cu_pointer word, remote;
	void *words;
	(void)state;
	start("");
	cu_stream stream = new_stream();
	ok(call.cuMemHostAlloc(&words, 4096, 0));
	ok(call.cuMemHostGetDevicePointer_v2(&word, words, 0));
	ok(call.cuMemAlloc_v2(&remote, sizeof from));
	ok(call.cuMemHostAlloc((void **)&to, sizeof from, 0));
	memset(words, 0, 4);
	memset(from, 5, sizeof from);
	ok(call.cuStreamWaitValue32_v2(stream, word, 1, ABI_STREAM_WAIT_VALUE_GEQ));
	ok(call.cuMemcpyHtoDAsync_v2(remote, from, sizeof from, stream));
	memset(from, 9, sizeof from);
	ok(call.cuMemcpyDtoHAsync_v2(to, remote, sizeof from, stream));
	assert_int_equal(call.cuStreamQuery(stream), ABI_NOT_READY);
	*(volatile uint32_t *)words = 1;
	ok(call.cuStreamSynchronize(stream));
	assert_int_equal(to[0], 5);
	assert_int_equal(to[4095], 5);
}

// ---- modules

static void modules_are_refused_as_a_driver_does(void **state)
{
	static const struct {
		const char *script, *text;
		cu_result result;
		const char *log;
	} rows[] = {
		{ "", "nothing", ABI_INVALID_PTX, "Missing .version" },
		{ "", ".version 9.1\n.entry a()", ABI_UNSUPPORTED_PTX_VERSION, "9.1" },
		{ "driver=12040", ".version 8.5\n.entry a()", ABI_UNSUPPORTED_PTX_VERSION, "8.4" },
		{ "driver=12040", ".version 8.4\n.entry a()", ABI_SUCCESS, "" },
		{ "ptx=6.0", ".version 6.1\n.entry a()", ABI_UNSUPPORTED_PTX_VERSION, "6.0" },
		{ "cc=8.0", ".version 8.0\n.target sm_90\n.entry a()", ABI_INVALID_PTX, "higher" },
		{ "", ".version 8.0\n.entry a() { fake_error; }", ABI_INVALID_PTX, "fake_error" },
		{ "", "// fake_error\n.version 8.0\n.entry a()", ABI_SUCCESS, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char log[128] = "";
		cu_jit_option options[] = { ABI_JIT_ERROR_LOG_BUFFER,
			                    ABI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
		void *values[] = { log, (void *)sizeof log };
		cu_module module = NULL;
		start(rows[i].script);
		if (call.cuModuleLoadDataEx(&module, rows[i].text, 2, options, values) !=
		    rows[i].result)
			fail_msg("row %zu", i);
		assert_non_null(strstr(log, rows[i].log));
		if (rows[i].result == ABI_SUCCESS)
			ok(call.cuModuleUnload(module));
	}
}

static void parameters_are_read_from_the_text(void **state)
{
	static const char text[] =
	    ".version 8.0\n.target sm_70\n"
	    ".visible .entry first(\n\t.param .u64 .ptr .global .align 4 a,\n\t.param .u32 b,\n"
	    "\t.param .f64 c,\n\t.param .align 4 .b8 d[12],\n\t.param .u8 e\n)\n{}\n"
	    ".entry second\n(\n)\n{}\n.entry third{}\n";
	static const struct {
		size_t offset, bytes;
	} expected[] = {
		{ 0, 8 }, { 8, 4 }, { 16, 8 }, { 24, 12 }, { 36, 1 },
	};
	cu_module module;
	cu_function function;
	size_t offset, bytes;
	(void)state;
	start("");
	ok(call.cuModuleLoadDataEx(&module, text, 0, NULL, NULL));
	ok(call.cuModuleGetFunction(&function, module, "first"));
	for (size_t i = 0; i < 5; i++) {
		ok(hooks.param_info(function, i, &offset, &bytes));
		assert_int_equal(offset, expected[i].offset);
		assert_int_equal(bytes, expected[i].bytes);
	}
	assert_int_equal(hooks.param_info(function, 5, &offset, &bytes), ABI_INVALID_VALUE);
	ok(call.cuModuleGetFunction(&function, module, "third"));
	assert_int_equal(hooks.param_info(function, 0, &offset, &bytes), ABI_INVALID_VALUE);
	assert_int_equal(call.cuModuleGetFunction(&function, module, "fourth"), ABI_NOT_FOUND);
	ok(call.cuModuleUnload(module));
}

static const char scaling[] = ".version 8.0\n.entry scale(.param .u64 a, .param .u64 b, "
                              ".param .u32 c, .param .u32 d, .param .f32 e) {}\n";

static void a_users_kernel_computes(void **state)
{
	cu_module module;
	cu_function function;
	float *host, factor = 0.5f;
	uint32_t first = 2, count = 5;
	cu_pointer at;
	(void)state;
	start("");
	cu_stream stream = new_stream();
	ok(call.cuMemHostAlloc((void **)&host, 64, 0));
	ok(call.cuMemHostGetDevicePointer_v2(&at, host, 0));
	for (int i = 0; i < 16; i++)
		host[i] = (float)i;
	ok(call.cuModuleLoadDataEx(&module, scaling, 0, NULL, NULL));
	ok(call.cuModuleGetFunction(&function, module, "scale"));
	void *parameters[] = { &at, &at, &first, &count, &factor };
	ok(call.cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, stream, parameters, NULL));
	ok(call.cuStreamSynchronize(stream));
	for (int i = 0; i < 16; i++)
		assert_true(host[i] == (i >= 2 && i < 7 ? 0.5f : 1.0f) * (float)i);
	// Beyond the memory: the error comes late, and stays.
	first = 12;
	ok(call.cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, stream, parameters, NULL));
	assert_int_equal(call.cuStreamSynchronize(stream), ABI_ILLEGAL_ADDRESS);
	assert_int_equal(call.cuMemAlloc_v2(&at, 64), ABI_ILLEGAL_ADDRESS);
	assert_int_equal(call.cuStreamQuery(stream), ABI_ILLEGAL_ADDRESS);
	call.cuModuleUnload(module);
}

// ---- faults, several devices

static void compute_modes_refuse_a_context(void **state)
{
	static const struct {
		const char *script;
		int mode;
	} rows[] = {
		{ "exclusive", 3 },
		{ "prohibited", 2 },
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int mode = 0;
		setenv("TARE_FAKE_CUDA", rows[i].script, 1);
		ok(call.cuInit(0));
		ok(call.cuDeviceGetAttribute(&mode, 20, 0));
		assert_int_equal(mode, rows[i].mode);
		assert_int_equal(call.cuDevicePrimaryCtxRetain(&context, 0),
		                 ABI_DEVICE_UNAVAILABLE);
	}
}

static void peers_copy_over_their_own_link(void **state)
{
	enum { BYTES = 8 << 20 };
	cu_context other;
	cu_pointer here, there;
	cu_stream stream;
	int can = 0;
	(void)state;
	for (int enabled = 0; enabled < 2; enabled++) {
		start("devices=2 peer_rate=300000000000");
		stream = new_stream();
		ok(call.cuMemAlloc_v2(&here, BYTES));
		ok(call.cuDevicePrimaryCtxRetain(&other, 1));
		ok(call.cuCtxSetCurrent(other));
		ok(call.cuMemAlloc_v2(&there, BYTES));
		ok(call.cuCtxSetCurrent(context));
		ok(call.cuDeviceCanAccessPeer(&can, 0, 1));
		assert_int_equal(can, 1);
		if (enabled) {
			ok(call.cuCtxEnablePeerAccess(other, 0));
			assert_int_equal(call.cuCtxEnablePeerAccess(other, 0),
			                 ABI_PEER_ACCESS_ALREADY_ENABLED);
		}
		memset((void *)(uintptr_t)here, 7, BYTES);
		hooks.observe(see);
		double got = rate(stream, there, here, BYTES);
		hooks.observe(NULL);
		assert_int_equal(seen[0].copy_kind, enabled ? 10 : FAKE_CUDA_STAGED);
		assert_true(enabled ? got > 270 && got < 301 : got > 26 && got < 28);
		assert_int_equal(((char *)(uintptr_t)there)[BYTES - 1], 7);
		// What it was recorded behind holds up another device's stream.
		ok(call.cuDevicePrimaryCtxRelease_v2(1));
	}
	start("devices=2 no_peer");
	ok(call.cuDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 0);
}

static void devices_wait_for_each_others_events(void **state)
{
	cu_context other;
	cu_stream first, second;
	cu_event event, after;
	(void)state;
	start("devices=2");
	first = new_stream();
	event = new_event();
	ok(hooks.launch(first, "long", 5000000, NULL, NULL));
	ok(call.cuEventRecord(event, first));
	ok(call.cuDevicePrimaryCtxRetain(&other, 1));
	ok(call.cuCtxSetCurrent(other));
	second = new_stream();
	after = new_event();
	ok(call.cuStreamWaitEvent(second, event, 0));
	ok(call.cuEventRecord(after, second));
	ok(call.cuEventSynchronize(after));
	ok(call.cuEventQuery(event));
	assert_true(hooks.event_ns(after) > hooks.event_ns(event));
	assert_int_equal(call.cuStreamQuery(first), ABI_INVALID_HANDLE);
	ok(call.cuDevicePrimaryCtxRelease_v2(1));
}

static void a_shared_link_is_shared(void **state)
{
	enum { BYTES = 8 << 20 };
	static const struct {
		const char *script;
		double least, most;
	} rows[] = {
		{ "devices=2 shared_link", 27, 33 },
		{ "devices=2", 54, 56 },
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		cu_context contexts[2];
		cu_stream streams[2];
		cu_pointer remote[2];
		void *pinned[2];
		start(rows[i].script);
		for (int k = 0; k < 2; k++) {
			ok(call.cuDevicePrimaryCtxRetain(&contexts[k], k));
			ok(call.cuCtxSetCurrent(contexts[k]));
			ok(call.cuStreamCreate(&streams[k], ABI_STREAM_NON_BLOCKING));
			ok(call.cuMemAlloc_v2(&remote[k], BYTES));
			ok(call.cuMemHostAlloc(&pinned[k], BYTES, 0));
			memset(pinned[k], 1, BYTES);
		}
		hooks.observe(see);
		volatile uint32_t *word = new_word();
		for (int k = 0; k < 2; k++) {
			ok(call.cuCtxSetCurrent(contexts[k]));
			hold(streams[k], word);
			ok(call.cuMemcpyHtoDAsync_v2(remote[k], pinned[k], BYTES, streams[k]));
			ok(call.cuMemcpyHtoDAsync_v2(remote[k], pinned[k], BYTES, streams[k]));
		}
		seen_count = 0;
		*word = 1;
		for (int k = 0; k < 2; k++) {
			ok(call.cuCtxSetCurrent(contexts[k]));
			ok(call.cuStreamSynchronize(streams[k]));
		}
		assert_int_equal(seen_count, 4);
		for (int k = 0; k < 4; k++) {
			double got = (double)BYTES / (double)(seen[k].end_ns - seen[k].start_ns);
			assert_true(got > rows[i].least && got < rows[i].most);
		}
		hooks.observe(NULL);
		for (int k = 0; k < 2; k++)
			ok(call.cuDevicePrimaryCtxRelease_v2(k));
	}
}

static void calls_have_numbers_that_activities_tell(void **state)
{
	(void)state;
	start("");
	cu_stream stream = new_stream();
	hooks.observe(see);
	seen_count = 0;
	ok(hooks.launch(stream, "first", 5000, NULL, NULL));
	uint32_t first = hooks.last_correlation();
	ok(hooks.launch(stream, "second", 5000, NULL, NULL));
	uint32_t second = hooks.last_correlation();
	ok(call.cuStreamSynchronize(stream));
	hooks.observe(NULL);
	assert_int_equal(seen_count, 2);
	assert_true(first != second);
	assert_int_equal(seen[0].correlation, first);
	assert_int_equal(seen[1].correlation, second);
	assert_string_equal(seen[1].name, "second");
	assert_int_equal(seen[0].kind, FAKE_CUDA_KERNEL);
	assert_int_equal(seen[0].end_ns - seen[0].start_ns, 5000);
	assert_true(seen[1].start_ns >= seen[0].end_ns);
}

// A host that waited goes on so long after the device is done as the script says.
static void a_wait_takes_the_scripts_wake_up(void **state)
{
	static const char script[] = "tare-device 1\n"
	                             "device name \"Waking\" units 1 lanes 1 memory 1 MiB\n"
	                             "timer rate 1 GHz\n"
	                             "host wake 20 ms\n"
	                             "engine compute runs kernel\n";
	char path[] = "/tmp/tare-wake-XXXXXX";
	int file = mkstemp(path);
	struct timespec from, to;
	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, script, sizeof script - 1), sizeof script - 1);
	close(file);
	setenv("TARE_FAKE_CUDA_DEVICE", path, 1);
	start("");
	cu_stream stream = new_stream();
	cu_event event = new_event();
	cu_pointer memory;
	ok(call.cuMemAlloc_v2(&memory, 4096));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 3; i++) {
		ok(hooks.launch(stream, "short", 1000000, NULL, NULL));
		ok(call.cuEventRecord(event, stream));
		ok(i == 0   ? call.cuStreamSynchronize(stream)
		   : i == 1 ? call.cuEventSynchronize(event)
		            : call.cuMemFree_v2(memory));
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	unsetenv("TARE_FAKE_CUDA_DEVICE");
	unlink(path);
	assert_true((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec >=
	            3 * 21000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(blocking_streams_and_the_legacy_one_wait_for_each_other),
		fake_test(each_thread_has_its_default_stream),
		fake_test(an_event_stands_for_what_was_recorded_when_it_was_waited_for),
		fake_test(copies_take_what_the_script_says),
		fake_test(pageable_memory_is_read_at_the_call),
		fake_test(modules_are_refused_as_a_driver_does),
		fake_test(parameters_are_read_from_the_text),
		fake_test(a_users_kernel_computes),
		fake_test(compute_modes_refuse_a_context),
		fake_test(peers_copy_over_their_own_link),
		fake_test(devices_wait_for_each_others_events),
		fake_test(a_shared_link_is_shared),
		fake_test(calls_have_numbers_that_activities_tell),
		fake_test(a_wait_takes_the_scripts_wake_up),
	};
	return cmocka_run_group_tests(tests, find_hooks, NULL);
}
