// SPDX-License-Identifier: Apache-2.0
// The CUDA backend against a library that keeps CUDA's rules (tests/fakes/fake_cuda.c).
#include "backend/call.h"
#include "backend/cuda/internal.h"
#include "backend/kernels.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;
static const struct tare_backend *cuda;

static struct {
	int64_t (*event_ns)(cu_event event);
	void (*skip_ns)(int64_t ns);
	int (*objects)(void);
	int (*records)(void);
	int (*pending)(void);
} fake;

#define EPOCH_LIFE_NS 50000000  // as in clock.c

#define must(call) \
	do { \
		if ((call) < 0) { \
			print_error("%s\n", error.message); \
			fail_msg("%s", #call); \
		} \
	} while (0)

static void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static void close_all(void)
{
	tare_device_close(device);
	device = NULL;
	if (driver)
		cuda->driver_close(driver);
	driver = NULL;
}

static int teardown(void **state)
{
	(void)state;
	close_all();
	return 0;
}

// Starts the library anew with a script; NULL: the plain H200.
static void open_driver(const char *script)
{
	close_all();
	setenv("TARE_FAKE_CUDA", script ? script : "", 1);
	must(cuda->driver_open(NULL, &driver, &error));
}

static void open_device(const char *script)
{
	open_driver(script);
	must(cuda->device_open(driver, 0, &device, &error));
}

static struct tare_queue *new_queue(bool timed)
{
	struct tare_queue *queue = NULL;
	must(tare_queue_create(device, &(struct tare_queue_options){ .timed = timed }, &queue, &error));
	return queue;
}

static struct tare_memory *new_memory(enum tare_memory_kind kind, uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	must(tare_memory_create(device, kind, bytes, &memory, &error));
	return memory;
}

static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

static struct tare_operation copy(struct tare_memory *from, struct tare_memory *to)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		.source = { from, 0, from->bytes }, .destination = { to, 0, to->bytes } };
}

static struct tare_operation launch(struct tare_kernel *kernel)
{
	return (struct tare_operation){ .type = TARE_OPERATION_LAUNCH,
		.launch = { .kernel = kernel, .groups = { 1, 1, 1 }, .group_size = { 1, 1, 1 } } };
}

static const char ptx[] = ".version 6.0\n.visible .entry empty()\n{}\n.visible .entry store(\n";

static struct tare_kernel *new_kernel(const char *name, struct tare_module **module)
{
	static const struct tare_module_source source = { TARE_MODULE_PTX, ptx, sizeof ptx - 1, NULL };
	struct tare_kernel *kernel = NULL;
	must(tare_module_create(device, &source, module, NULL, &error));
	must(tare_kernel_create(*module, name, &kernel, &error));
	return kernel;
}

// ---- what there is

static void an_h200_is_told_as_it_is(void **state)
{
	static const struct { enum tare_fact_id id; const char *text; } rows[] = {
		{ TARE_FACT_NAME, "NVIDIA H200" },
		{ TARE_FACT_PCI, "0000:3b:00.0" },
		{ TARE_FACT_UUID, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00" },
		{ TARE_FACT_ARCHITECTURE, "Hopper, compute capability 9.0" },
		{ TARE_FACT_API_VERSION, "CUDA 13.0" },
		{ TARE_FACT_DRIVER, "580.159.04" },
		{ TARE_FACT_UNITS, "132" },
		{ TARE_FACT_CLOCK, "1.98 GHz" },
		{ TARE_FACT_COPY_ENGINES, "3" },
		{ TARE_FACT_ENGINES, "1 compute, 3 copy" },
		{ TARE_FACT_PEAK_FP32, "66.9 TFLOP/s" },
		{ TARE_FACT_PEAK_FP64, "33.5 TFLOP/s" },
		{ TARE_FACT_PEAK_TENSOR, "1.07 PFLOP/s" },
		{ TARE_FACT_PEAK_MEMORY, "4.92 TB/s" },
		{ TARE_FACT_PEAK_LINK, "63.0 GB/s" },
		{ TARE_FACT_LINK_NOW, "PCIe 1.0 x16" },
		{ TARE_FACT_LINK_MAX, "PCIe 5.0 x16" },
		{ TARE_FACT_THROTTLE, "idle" },
		{ TARE_FACT_POWER_LIMIT, "700 W" },
		{ TARE_FACT_UNIFIED, "no" },
		{ TARE_FACT_ECC, "yes" },
	};
	struct tare_facts facts = { 0 };
	struct tare_engine engines[8];
	char text[256];

	(void)state;
	open_device(NULL);
	must(cuda->device_facts(driver, 0, &facts, &error));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(tare_fact_format(&facts, rows[i].id, text, sizeof text), rows[i].text);
	assert_int_equal(tare_engines(device, engines, 8, &error), 4);
	assert_int_equal(engines[0].class, TARE_ENGINE_COMPUTE);
	assert_int_equal(engines[3].class, TARE_ENGINE_COPY);
	assert_int_equal(engines[3].index, 2);
	assert_true(engines[3].known);
}

static void an_unknown_capability_has_no_peak_but_a_reason(void **state)
{
	struct tare_facts facts = { 0 };
	(void)state;
	open_driver("cc=14.2");
	must(cuda->device_facts(driver, 0, &facts, &error));
	assert_false(facts.fact[TARE_FACT_PEAK_FP32].present);
	assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_PEAK_FP32), "14.2"));
	assert_true(facts.fact[TARE_FACT_PEAK_MEMORY].present);
}

static void without_nvml_its_facts_are_absent_with_the_reason(void **state)
{
	static const struct { const char *library, *script, *reason; } rows[] = {
		{ "/nonexistent.so", "", "/nonexistent.so" },
		{ NULL, "init=9", "code 9" },
	};
	char *real = strdup(getenv("TARE_NVML_LIBRARY"));
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_facts facts = { 0 };
		struct tare_telemetry telemetry;
		setenv("TARE_NVML_LIBRARY", rows[i].library ? rows[i].library : real, 1);
		setenv("TARE_FAKE_NVML", rows[i].script, 1);
		open_device(NULL);
		must(cuda->device_facts(driver, 0, &facts, &error));
		assert_false(facts.fact[TARE_FACT_LINK_MAX].present);
		assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_LINK_MAX), rows[i].reason));
		assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_DRIVER), rows[i].reason));
		assert_true(facts.fact[TARE_FACT_NAME].present);
		assert_int_equal(tare_telemetry(device, &telemetry, &error), -ENOTSUP);
		assert_says(rows[i].reason);
	}
	setenv("TARE_NVML_LIBRARY", real, 1);
	unsetenv("TARE_FAKE_NVML");
	free(real);
}

static void nvml_reads_the_state_now(void **state)
{
	struct tare_telemetry telemetry;
	struct tare_facts facts = { 0 };
	(void)state;
	setenv("TARE_FAKE_NVML", "throttle=0x44 no_link", 1);
	open_device(NULL);
	must(tare_telemetry(device, &telemetry, &error));
	assert_int_equal(telemetry.clock_hz, 345000000);
	assert_int_equal(telemetry.throttle, 0x44);
	assert_int_equal(telemetry.present >> TARE_TELEMETRY_LINK & 1, 0);
	must(cuda->device_facts(driver, 0, &facts, &error));
	assert_string_equal(facts.fact[TARE_FACT_THROTTLE].text,
	                    "software power cap, hardware thermal slowdown");
	assert_false(facts.fact[TARE_FACT_PEAK_LINK].present);
	unsetenv("TARE_FAKE_NVML");
}

static void a_driver_that_does_not_start_says_what_to_do(void **state)
{
	static const struct { const char *script; int code; const char *words; } rows[] = {
		{ "init=34", -ENODEV, "stub" },
		{ "init=100", -ENODEV, "no NVIDIA GPU" },
		{ "init=803", -ENODEV, "restart" },
		{ "init=999", -ENODEV, "nvidia-smi" },
		{ "init=304", -ENODEV, "nvidia-smi" },
		{ "devices=0", -ENODEV, "no NVIDIA GPU" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		close_all();
		setenv("TARE_FAKE_CUDA", rows[i].script, 1);
		assert_int_equal(cuda->driver_open(NULL, &driver, &error), rows[i].code);
		assert_says(rows[i].words);
	}
	assert_null(driver);
}

static void a_library_that_is_not_there_is_named(void **state)
{
	char *real = strdup(getenv("TARE_CUDA_LIBRARY"));
	(void)state;
	close_all();
	setenv("TARE_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENOENT);
	assert_says("/nonexistent/libcuda.so");
	// A library that is no CUDA driver.
	setenv("TARE_CUDA_LIBRARY", getenv("TARE_NVML_LIBRARY"), 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENOSYS);
	assert_says("cuInit");
	setenv("TARE_CUDA_LIBRARY", real, 1);
	free(real);
}

// ---- time

static int64_t ticks(const struct tare_stamps *stamps, enum tare_stamp which)
{
	return (int64_t)stamps->at[which].ticks;
}

// As one float from the first event, neighbours would be off by 1 µs after 24 s.
static void neighbouring_stamps_stay_exact_however_late(void **state)
{
	enum { N = 24 };
	struct tare_event *events[N];
	struct tare_stamps stamps[N];
	int64_t truth[N];
	int close = 0;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, 1 << 20);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 1 << 20);
	struct tare_operation what = copy(from, to);
	for (int i = 0; i < N; i++) {
		must(tare_append(queue, &what, &events[i], &error));
		must(tare_event_wait(events[i], TARE_LIMIT_DEFAULT_NS, &error));
		if (i % 4 == 3)
			fake.skip_ns(4000000000);
		// After a skip the epoch must have aged on the host's clock as well.
		tare_device_pause(device, i % 4 == 3 ? EPOCH_LIFE_NS : 20000000);
	}
	for (int i = 0; i < N; i++) {
		struct cuda_event *event = (struct cuda_event *)events[i];
		must(tare_event_stamps(events[i], &stamps[i], &error));
		assert_int_equal(stamps[i].present, 1 << TARE_STAMP_START | 1 << TARE_STAMP_END);
		assert_int_equal(stamps[i].epoch, stamps[0].epoch);
		assert_false(stamps[i].brackets_engine);
		truth[i] = fake.event_ns(event->start);
		assert_int_equal(ticks(&stamps[i], TARE_STAMP_END) - ticks(&stamps[i], TARE_STAMP_START),
		                 fake.event_ns(event->end) - truth[i]);
		if (i == 0)
			continue;
		// Two distances and a link or two, each told to half a step of its float.
		int64_t gap = truth[i] - truth[i - 1];
		int64_t tolerance = 2 + (int64_t)(4 * 0x1p-24 * (double)(gap + EPOCH_LIFE_NS));
		int64_t off = ticks(&stamps[i], TARE_STAMP_START) -
		              ticks(&stamps[i - 1], TARE_STAMP_START) - gap;
		assert_in_range(off + tolerance, 0, 2 * tolerance);
		close += tolerance < 100 && truth[i] - truth[0] > 8000000000;
	}
	assert_true(close > 4);
	for (int i = 0; i < N; i++)
		tare_event_free(events[i]);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void a_long_pause_begins_an_epoch_of_another_number(void **state)
{
	struct tare_event *events[2];
	struct tare_stamps stamps[2];

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	for (int i = 0; i < 2; i++) {
		must(tare_append(queue, &marker, &events[i], &error));
		must(tare_event_wait(events[i], TARE_LIMIT_DEFAULT_NS, &error));
		fake.skip_ns(9000000000);
		tare_device_pause(device, 60000000);
	}
	for (int i = 0; i < 2; i++) {
		must(tare_event_stamps(events[i], &stamps[i], &error));
		tare_event_free(events[i]);
	}
	assert_int_equal(stamps[1].epoch, stamps[0].epoch + 1);
	assert_true(stamps[1].at[TARE_STAMP_START].ticks - stamps[0].at[TARE_STAMP_START].ticks >
	            9000000000);
	tare_queue_free(queue);
}

static void the_timers_step_is_measured(void **state)
{
	static const struct { const char *script; uint64_t step; } rows[] = {
		{ "step=32", 32 }, { "step=500", 500 }, { "step=1000", 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_clock_rate rate;
		open_device(rows[i].script);
		must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
		assert_int_equal(rate.resolution_ticks, rows[i].step);
		assert_int_equal(rate.hz_numerator / rate.hz_denominator, 1000000000);
		assert_int_equal(rate.valid_bits, 64);
	}
}

// The fake's clock is the host's plus a constant, which every pair must allow.
static void clock_pairs_bracket_the_device(void **state)
{
	int64_t least = INT64_MIN, most = INT64_MAX;
	(void)state;
	open_device("step=1");
	for (int i = 0; i < 20; i++) {
		struct tare_clock_pair pair;
		must(tare_clock_pair(device, &pair, &error));
		assert_true(pair.before.ns <= pair.after.ns);
		int64_t low = (int64_t)pair.device.ticks - pair.after.ns;
		int64_t high = (int64_t)pair.device.ticks - pair.before.ns;
		least = low > least ? low : least;
		most = high < most ? high : most;
		tare_device_pause(device, 7000000);
	}
	assert_true(least <= most + 10);
}

static void an_untimed_queue_records_one_event_and_a_timed_one_two(void **state)
{
	(void)state;
	open_device(NULL);
	for (int timed = 0; timed < 2; timed++) {
		struct tare_queue *queue = new_queue(timed);
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		must(tare_append(queue, &marker, &event, &error));  // and with it the first epoch
		tare_event_free(event);
		int before = fake.records();
		must(tare_append(queue, &marker, NULL, &error));
		assert_int_equal(fake.records(), before);
		must(tare_append(queue, &marker, &event, &error));
		assert_int_equal(fake.records(), before + 1 + timed);
		must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_event_stamps(event, &stamps, &error), timed ? 0 : -ENODATA);
		tare_event_free(event);
		tare_queue_free(queue);
	}
}

// ---- gates and waits

static void a_gate_refuses_what_would_wait_for_ever(void **state)
{
	struct tare_event *events[CUDA_GATE_CAPACITY];
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *heap = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *pinned = new_memory(TARE_MEMORY_PINNED, 4096);
	struct tare_memory *remote = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation staged = copy(heap, remote), blocking = copy(pinned, remote);
	blocking.blocking = true;
	for (int round = 0; round < 3; round++) {
		must(tare_gate_shut(queue, &gate, &error));
		assert_int_equal(gate->capacity, CUDA_GATE_CAPACITY);
		assert_int_equal(tare_append(queue, &staged, NULL, &error), -EINVAL);
		assert_says("pageable");
		assert_int_equal(tare_append(queue, &blocking, NULL, &error), -EINVAL);
		assert_says("blocking");
		for (uint32_t i = 0; i < gate->capacity; i++)
			must(tare_append(queue, &marker, &events[i], &error));
		assert_int_equal(tare_append(queue, &marker, &event, &error), -EINVAL);
		assert_int_equal(tare_event_done(events[0], &error), 0);
		must(tare_gate_open(gate, &error));
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_event_done(events[0], &error), 1);
		for (uint32_t i = 0; i < gate->capacity; i++)
			tare_event_free(events[i]);
		tare_gate_free(gate);
	}
	must(tare_append(queue, &staged, NULL, &error));
	must(tare_append(queue, &blocking, NULL, &error));
	tare_memory_free(heap);
	tare_memory_free(pinned);
	tare_memory_free(remote);
	tare_queue_free(queue);
}

// The stand-in ends the process when a launch would block for ever.
static void a_queue_that_waits_for_a_gated_one_is_bounded_too(void **state)
{
	struct tare_event *gated[2] = { NULL };
	struct tare_event *many[40];
	struct tare_gate *gate = NULL;
	struct tare_graph *graph = NULL;
	(void)state;
	open_device(NULL);
	struct tare_queue *first = new_queue(false), *second = new_queue(true);
	must(tare_graph_begin(second, &error));
	must(tare_append(second, &marker, NULL, &error));
	must(tare_graph_end(second, &graph, &error));
	for (int what = 0; what < 4; what++) {
		struct tare_operation operation = marker;
		struct tare_event *event = NULL;
		int taken = 0, rc = 0;
		must(tare_gate_shut(first, &gate, &error));
		must(tare_append(first, &marker, &gated[0], &error));
		for (int i = 0; i < 40; i++)
			many[i] = gated[0];
		operation.waits = many;
		operation.wait_count = 1;
		must(tare_append(second, &operation, NULL, &error));
		operation.wait_count = what == 1 ? 40 : 0;
		// 0: plain operations; 1: with many waits; 2: graphs; 3: graphs behind their own gate.
		struct tare_queue *queue = what == 3 ? first : second;
		for (; rc == 0 && taken < 1200; taken += rc == 0) {
			event = NULL;
			rc = what < 2 ? tare_append(queue, &operation, &event, &error)
			              : tare_graph_launch(graph, queue, &event, &error);
			tare_event_free(event);
		}
		assert_int_equal(rc, -EINVAL);
		assert_says("shut gate");
		assert_true(what == 1 ? taken >= 15 : taken >= 200);
		must(tare_gate_open(gate, &error));
		must(tare_finish(second, TARE_LIMIT_DEFAULT_NS, &error));
		must(tare_finish(first, TARE_LIMIT_DEFAULT_NS, &error));
		tare_gate_free(gate);
		// What is done holds nothing, though another gate is shut.
		must(tare_gate_shut(first, &gate, &error));
		operation.wait_count = 1;
		for (int i = 0; i < 600; i++)
			must(tare_append(second, &operation, NULL, &error));
		tare_gate_free(gate);
		must(tare_finish(second, TARE_LIMIT_DEFAULT_NS, &error));
		tare_event_free(gated[0]);
	}
	tare_graph_free(graph);
	tare_queue_free(first);
	tare_queue_free(second);
}

static void gates_hold_their_own_queue_only(void **state)
{
	static const char *const scripts[] = { "", "no_wait_value" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_queue *queues[2];
		struct tare_gate *gate = NULL;
		open_device(scripts[i]);
		for (int j = 0; j < 2; j++)
			queues[j] = new_queue(false);
		must(tare_gate_shut(queues[0], &gate, &error));
		must(tare_append(queues[0], &marker, NULL, &error));
		must(tare_append(queues[1], &marker, NULL, &error));
		must(tare_finish(queues[1], TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_finish(queues[0], 3000000, &error), -ETIMEDOUT);
		// Free the queue first: the gate must not write into it later.
		tare_queue_free(queues[0]);
		tare_gate_free(gate);
		tare_queue_free(queues[1]);
	}
}

static void closing_a_device_opens_its_gates(void **state)
{
	struct tare_gate *gates[3];
	(void)state;
	open_device(NULL);
	for (int i = 0; i < 3; i++) {
		struct tare_queue *queue = new_queue(false);
		must(tare_gate_shut(queue, &gates[i], &error));
		tare_queue_free(queue);
	}
	// Not the last that was shut, nor the first: the others must still be found.
	must(tare_gate_open(gates[1], &error));
	// Two are left shut on purpose; the gates' own memory is freed by hand.
	tare_device_close(device);
	device = NULL;
	assert_int_equal(fake.pending(), 0);
	for (int i = 0; i < 3; i++)
		free(gates[i]);
}

static void words_of_gates_are_used_again(void **state)
{
	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	for (int i = 0; i < 3 * CUDA_GATE_SLOTS; i++) {
		struct tare_gate *gate = NULL;
		must(tare_gate_shut(queue, &gate, &error));
		assert_in_range(((struct cuda_gate *)gate)->slot, 0, CUDA_GATE_SLOTS - 1);
		assert_int_equal(tare_finish(queue, 100000, &error), -ETIMEDOUT);
		tare_gate_free(gate);
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	}
	tare_queue_free(queue);
}

static void set(void *context)
{
	atomic_store((atomic_int *)context, 1);
}

static void wait_until_set(atomic_int *flag)
{
	for (int i = 0; i < 20000 && !atomic_load(flag); i++)
		tare_device_pause(device, 100000);
	assert_int_equal(atomic_load(flag), 1);
}

static void a_callback_that_waits_does_not_hold_up_another(void **state)
{
	atomic_int called[2] = { 0 };
	struct tare_queue *queues[2];
	struct tare_event *events[2];
	struct tare_gate *gate = NULL;

	(void)state;
	open_device(NULL);
	for (int i = 0; i < 2; i++)
		queues[i] = new_queue(false);
	must(tare_gate_shut(queues[0], &gate, &error));
	for (int i = 0; i < 2; i++) {
		must(tare_append(queues[i], &marker, &events[i], &error));
		must(tare_event_callback(events[i], set, &called[i], &error));
	}
	wait_until_set(&called[1]);
	assert_int_equal(atomic_load(&called[0]), 0);
	tare_gate_free(gate);
	wait_until_set(&called[0]);
	for (int i = 0; i < 2; i++) {
		tare_event_free(events[i]);
		tare_queue_free(queues[i]);
	}
}

static void a_lost_context_says_so_and_a_hang_ends_at_the_limit(void **state)
{
	static const struct { const char *script; int code; const char *words; } rows[] = {
		{ "fail_launch=3", -ENODEV, "context is lost" },
		{ "hang_launch=3", -ETIMEDOUT, "not done after 0.02 s" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module *module = NULL;
		struct tare_event *event = NULL;
		open_device(rows[i].script);
		struct tare_queue *queue = new_queue(true);
		struct tare_kernel *kernel = new_kernel("empty", &module);
		struct tare_operation what = launch(kernel);
		for (int n = 0; n < 3; n++) {
			tare_event_free(event);
			event = NULL;
			must(tare_append(queue, &what, &event, &error));
			if (n < 2)
				must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		}
		assert_int_equal(tare_event_wait(event, 20000000, &error), rows[i].code);
		assert_says(rows[i].words);
		if (rows[i].code == -ENODEV) {
			assert_string_equal(error.native_name, "CUDA_ERROR_LAUNCH_FAILED");
			assert_int_equal(tare_append(queue, &what, NULL, &error), -ENODEV);
			assert_int_equal(tare_finish(queue, TARE_LIMIT_NATIVE, &error), -ENODEV);
		}
		tare_event_free(event);
		tare_kernel_free(kernel);
		tare_module_free(module);
		tare_queue_free(queue);
	}
}

// ---- memory, kernels, graphs

static void too_much_memory_is_refused_as_such(void **state)
{
	static const enum tare_memory_kind kinds[] = { TARE_MEMORY_DEVICE, TARE_MEMORY_PINNED,
		TARE_MEMORY_SHARED };
	struct tare_memory *memory = NULL;
	(void)state;
	open_device("memory=1000000");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(tare_memory_create(device, kinds[i], 1000001, &memory, &error), -ENOMEM);
		assert_says("1000001 bytes");
		assert_null(memory);
	}
	open_device("no_managed");
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_SHARED, 64, &memory, &error), -ENOTSUP);
}

static void fills_of_long_patterns_need_a_pattern_that_repeats(void **state)
{
	static const struct { const char *pattern; uint32_t bytes; int code; } rows[] = {
		{ "a", 1, 0 }, { "ab", 2, 0 }, { "abcd", 4, 0 }, { "abcdabcd", 8, 0 },
		{ "abcdabcdabcdabcd", 16, 0 }, { "abababab", 8, 0 }, { "abcdefgh", 8, -ENOTSUP },
		{ "abcdabcdabcdabce", 16, -ENOTSUP }, { "abc", 3, -EINVAL },
	};
	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *memory = new_memory(TARE_MEMORY_MAPPED, 48);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_operation what = { .type = TARE_OPERATION_FILL,
			.destination = { memory, 0, 48 },
			.fill = { rows[i].pattern, rows[i].bytes } };
		assert_int_equal(tare_append(queue, &what, NULL, &error), rows[i].code);
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
		for (uint32_t at = 0; rows[i].code == 0 && at < 48; at += rows[i].bytes)
			assert_memory_equal((char *)memory->host + at, rows[i].pattern, rows[i].bytes);
	}
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void a_kernel_gets_its_arguments_and_local_ones_as_offsets(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel_facts facts;
	uint32_t value = 0x1234;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *memory = new_memory(TARE_MEMORY_MAPPED, 64);
	struct tare_kernel *kernel = new_kernel("store", &module);
	const struct tare_argument arguments[] = {
		{ .type = TARE_ARGUMENT_MEMORY, .span = { memory, 16, 16 } },
		{ .type = TARE_ARGUMENT_VALUE, .value = &value, .bytes = sizeof value },
		{ .type = TARE_ARGUMENT_LOCAL, .bytes = 20 },
		{ .type = TARE_ARGUMENT_LOCAL, .bytes = 100 },
	};
	struct tare_operation what = launch(kernel);
	what.launch.arguments = arguments;
	what.launch.argument_count = 4;
	must(tare_append(queue, &what, NULL, &error));
	value = 0;  // copied when it was appended
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	const uint32_t expected[] = { 0x1234, 0, 32, 144 };
	assert_memory_equal((char *)memory->host + 16, expected, sizeof expected);
	must(tare_kernel_facts(kernel, &facts, &error));
	assert_int_equal(facts.registers, 24);
	assert_int_equal(facts.max_group_size, 1024);
	assert_int_equal(facts.simd_width, 32);
	assert_int_equal(facts.spill_bytes, -1);
	// Local memory is told in 32 bits: neither one that is too large nor a sum wraps.
	struct tare_argument large[4];
	memcpy(large, arguments, sizeof large);
	what.launch.arguments = large;
	large[2].bytes = (size_t)UINT32_MAX + 21;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	assert_says("local memory");
	large[2].bytes = large[3].bytes = UINT32_MAX / 2 + 1;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	assert_says("local memory");
	what.launch.arguments = arguments;
	what.launch.group_size[0] = 2048;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	tare_kernel_free(kernel);
	tare_module_free(module);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void modules_that_do_not_build_say_why(void **state)
{
	static const struct { enum tare_module_format format; const char *text; int code; } rows[] = {
		{ TARE_MODULE_PTX, "nonsense", -EINVAL },
		{ TARE_MODULE_NATIVE, "empty", -ENOTSUP },
		{ TARE_MODULE_OPENCL_C, "kernel void empty(void) {}", -ENOTSUP },
		{ TARE_MODULE_SPIRV, "\3\2#\7", -ENOTSUP },
		{ TARE_MODULE_CUDA_C, "__global__ void empty() {}", -ENOTSUP },
	};
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	open_device(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *log = NULL;
		struct tare_module_source source = { rows[i].format, rows[i].text, strlen(rows[i].text),
			NULL };
		assert_int_equal(tare_module_create(device, &source, &module, &log, &error), rows[i].code);
		assert_null(module);
		assert_int_equal(log != NULL, rows[i].code == -EINVAL);
		if (log)
			assert_non_null(strstr(log, "Missing .version"));
		free(log);
	}
	tare_kernel_free(new_kernel("empty", &module));
	assert_int_equal(tare_kernel_create(module, "missing", &kernel, &error), -EINVAL);
	assert_says("missing");
	tare_module_free(module);
}

static void the_kernels_that_tare_carries_are_taken_as_ptx(void **state)
{
	struct tare_module_source source;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	open_device(NULL);
	assert_int_equal(tare_kernel_build(device, "nothing", "nothing", &module, &kernel, NULL, &error), -ENOENT);
	assert_int_equal(tare_kernel_source("empty", TARE_MODULE_SPIRV, &source, &error), -ENOTSUP);
	must(tare_kernel_source("empty", TARE_MODULE_OPENCL_C, &source, &error));
	assert_int_equal(strlen(source.data), source.bytes);
	assert_non_null(strstr(source.data, "KERNEL void empty"));
	if (tare_kernel_source("empty", TARE_MODULE_PTX, &source, NULL) < 0) {
		assert_int_equal(tare_kernel_build(device, "empty", "empty", &module, &kernel, NULL, &error),
		                 -ENOTSUP);
		assert_says("without clang");
		return;
	}
	assert_non_null(strstr(source.data, ".entry empty"));
	must(tare_kernel_build(device, "empty", "empty", &module, &kernel, NULL, &error));
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void a_graph_runs_what_was_recorded_as_often_as_it_is_launched(void **state)
{
	struct tare_graph *graph = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps stamps;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, 16);
	struct tare_memory *to = new_memory(TARE_MEMORY_PINNED, 16);
	struct tare_operation what = copy(from, to);
	memset(from->host, 1, 16);
	memset(to->host, 9, 16);
	must(tare_graph_begin(queue, &error));
	must(tare_append(queue, &what, &event, &error));
	assert_int_equal(tare_event_wait(event, 1000000, &error), -EINVAL);
	assert_says("graph");
	tare_event_free(event);
	what.blocking = true;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	must(tare_graph_end(queue, &graph, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	assert_int_equal(((char *)to->host)[15], 9);  // recording runs nothing
	for (int round = 1; round < 3; round++) {
		memset(from->host, round, 16);
		must(tare_graph_launch(graph, queue, &event, &error));
		must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(((char *)to->host)[15], round);
		must(tare_event_stamps(event, &stamps, &error));
		tare_event_free(event);
	}
	assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -ENOSYS);
	tare_graph_free(graph);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void queues_that_cuda_lacks_are_refused_with_the_reason(void **state)
{
	static const struct { struct tare_queue_options options; const char *words; } rows[] = {
		{ { .order = TARE_QUEUE_OUT_OF_ORDER }, "several" },
		{ { .order = TARE_QUEUE_DEFERRED }, "graph" },
		{ { .engine = 2 }, "chooses" },
	};
	struct tare_queue *queue = NULL;
	(void)state;
	open_device(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(tare_queue_create(device, &rows[i].options, &queue, &error), -ENOTSUP);
		assert_says(rows[i].words);
	}
	must(tare_queue_create(device,
	                       &(struct tare_queue_options){ .order = TARE_QUEUE_LEGACY_DEFAULT,
	                                                     .timed = true }, &queue, &error));
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation there = copy(from, to), back = copy(to, from);
	there.blocking = back.blocking = true;
	memset(from->host, 7, 4096);
	must(tare_append(queue, &there, NULL, &error));
	memset(from->host, 0, 4096);
	must(tare_append(queue, &back, NULL, &error));
	assert_int_equal(((char *)from->host)[4095], 7);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void nothing_is_left_behind(void **state)
{
	(void)state;
	close_all();
	// The tests before this one have freed all they made.
	assert_int_equal(fake.objects(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_h200_is_told_as_it_is, teardown),
		cmocka_unit_test_teardown(an_unknown_capability_has_no_peak_but_a_reason, teardown),
		cmocka_unit_test_teardown(without_nvml_its_facts_are_absent_with_the_reason, teardown),
		cmocka_unit_test_teardown(nvml_reads_the_state_now, teardown),
		cmocka_unit_test_teardown(a_driver_that_does_not_start_says_what_to_do, teardown),
		cmocka_unit_test_teardown(a_library_that_is_not_there_is_named, teardown),
		cmocka_unit_test_teardown(neighbouring_stamps_stay_exact_however_late, teardown),
		cmocka_unit_test_teardown(a_long_pause_begins_an_epoch_of_another_number, teardown),
		cmocka_unit_test_teardown(the_timers_step_is_measured, teardown),
		cmocka_unit_test_teardown(clock_pairs_bracket_the_device, teardown),
		cmocka_unit_test_teardown(an_untimed_queue_records_one_event_and_a_timed_one_two, teardown),
		cmocka_unit_test_teardown(a_gate_refuses_what_would_wait_for_ever, teardown),
		cmocka_unit_test_teardown(a_queue_that_waits_for_a_gated_one_is_bounded_too, teardown),
		cmocka_unit_test_teardown(gates_hold_their_own_queue_only, teardown),
		cmocka_unit_test_teardown(closing_a_device_opens_its_gates, teardown),
		cmocka_unit_test_teardown(words_of_gates_are_used_again, teardown),
		cmocka_unit_test_teardown(a_callback_that_waits_does_not_hold_up_another, teardown),
		cmocka_unit_test_teardown(too_much_memory_is_refused_as_such, teardown),
		cmocka_unit_test_teardown(fills_of_long_patterns_need_a_pattern_that_repeats, teardown),
		cmocka_unit_test_teardown(a_kernel_gets_its_arguments_and_local_ones_as_offsets, teardown),
		cmocka_unit_test_teardown(modules_that_do_not_build_say_why, teardown),
		cmocka_unit_test_teardown(the_kernels_that_tare_carries_are_taken_as_ptx, teardown),
		cmocka_unit_test_teardown(a_graph_runs_what_was_recorded_as_often_as_it_is_launched, teardown),
		cmocka_unit_test_teardown(queues_that_cuda_lacks_are_refused_with_the_reason, teardown),
		cmocka_unit_test(nothing_is_left_behind),
		// Last: after a lost context there is nothing that could be freed.
		cmocka_unit_test_teardown(a_lost_context_says_so_and_a_hang_ends_at_the_limit, teardown),
	};
	const char *library = getenv("TARE_CUDA_LIBRARY");
	void *handle = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;

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
	return cmocka_run_group_tests(tests, NULL, NULL);
}
