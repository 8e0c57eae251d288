// SPDX-License-Identifier: Apache-2.0
// What src/backend/backend.h promises, tried on any backend: test_backend_contract NAME [INDEX].
// What a device says it cannot do (-ENOTSUP, -ENOSYS) is skipped, so read the skips. Skips as a
// whole where the backend finds no device. No absolute time is asserted.
#include "contract.h"
#include "unasked_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_backend *backend;
struct tare_driver *driver;
static struct tare_facts facts;
struct tare_device *device;
struct tare_error error;

bool cannot(int rc)
{
	return rc == -ENOTSUP || rc == -ENOSYS;
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
	int rc = tare_memory_create(device, kind, bytes, &memory, &error);
	if (cannot(rc))
		return NULL;
	must(rc);
	assert_int_equal(memory->kind, kind);
	assert_int_equal(memory->bytes, bytes);
	return memory;
}

struct tare_span span(struct tare_memory *memory, uint64_t offset, uint64_t bytes)
{
	return (struct tare_span){ memory, offset, bytes };
}

struct tare_operation copy(struct tare_span from, struct tare_span to)
{
	return (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                        .source = from,
		                        .destination = to };
}

int run(struct tare_queue *queue, struct tare_operation operation)
{
	int rc = tare_append(queue, &operation, NULL, &error);
	return rc < 0 ? rc : tare_finish(queue, LIMIT, &error);
}

uint8_t pattern(uint64_t i, uint8_t seed)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
}

void put(struct tare_queue *queue, struct tare_memory *memory, uint8_t seed)
{
	struct tare_memory *staging =
	    memory->host ? memory : new_memory(TARE_MEMORY_PAGEABLE, memory->bytes);
	for (uint64_t i = 0; i < memory->bytes; i++)
		((uint8_t *)staging->host)[i] = pattern(i, seed);
	if (staging != memory) {
		must(run(queue,
		         copy(span(staging, 0, memory->bytes), span(memory, 0, memory->bytes))));
		tare_memory_free(staging);
	}
}

uint8_t *get(struct tare_queue *queue, struct tare_memory *memory)
{
	uint8_t *bytes = malloc(memory->bytes);
	assert_non_null(bytes);
	if (memory->host) {
		memcpy(bytes, memory->host, memory->bytes);
		return bytes;
	}
	struct tare_memory *staging = new_memory(TARE_MEMORY_PAGEABLE, memory->bytes);
	must(run(queue, copy(span(memory, 0, memory->bytes), span(staging, 0, memory->bytes))));
	memcpy(bytes, staging->host, memory->bytes);
	tare_memory_free(staging);
	return bytes;
}

static void facts_are_there_or_say_why_not(void **state)
{
	(void)state;
	assert_true(facts.fact[TARE_FACT_NAME].present);
	assert_true(facts.fact[TARE_FACT_TYPE].present);
	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		if (facts.fact[id].present || may_be_unasked(id))
			continue;
		if (!facts.fact[id].text[0])
			fail_msg("%s is absent without a reason", tare_fact_rows[id].key);
	}
}

static void there_is_no_device_past_the_last(void **state)
{
	struct tare_device *none = NULL;
	uint32_t count = backend->device_count(driver);
	(void)state;
	assert_true(count > 0);
	assert_int_equal(backend->device_open(driver, count, &none, &error), -EINVAL);
	assert_int_equal(backend->device_facts(driver, count, &facts, &error), -EINVAL);
	assert_true(error.message[0]);
	must(backend->device_facts(driver, device->index, &facts, &error));
}

static void frees_accept_nothing(void **state)
{
	(void)state;
	tare_memory_free(NULL);
	tare_queue_free(NULL);
	tare_event_free(NULL);
	tare_gate_free(NULL);
	tare_module_free(NULL);
	tare_kernel_free(NULL);
	tare_graph_free(NULL);
	tare_device_close(NULL);
}

static void there_is_an_engine_that_computes(void **state)
{
	struct tare_engine engines[16];
	int count = tare_engines(device, engines, 16, &error);
	bool computes = false;
	(void)state;
	must(count);
	for (int i = 0; i < count && i < 16; i++)
		computes |= engines[i].class == TARE_ENGINE_COMPUTE;
	assert_true(computes);
	assert_int_equal(tare_engines(device, engines, 0, &error), count);
}

static void stamps_are_in_order_and_on_the_devices_clock(void **state)
{
	enum { BYTES = 1 << 20, RUNS = 20 };
	struct tare_clock_rate rate;
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, BYTES);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, BYTES);
	(void)state;
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
	assert_true(rate.hz_numerator && rate.hz_denominator && rate.resolution_ticks);
	assert_in_range(rate.valid_bits, 1, 64);
	put(queue, from, 1);
	for (int i = 0; i < RUNS; i++) {
		struct tare_operation operation = copy(span(from, 0, BYTES), span(to, 0, BYTES));
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		struct tare_ticks last = { 0 };
		bool any = false;
		must(tare_append(queue, &operation, &event, &error));
		must(tare_event_wait(event, LIMIT, &error));
		must(tare_event_stamps(event, &stamps, &error));
		for (int s = 0; s <= TARE_STAMP_END; s++) {
			if (!tare_stamps_have(&stamps, (enum tare_stamp)s))
				continue;
			if (any)
				assert_true(tare_ticks_elapsed_signed(&rate, last, stamps.at[s]) >=
				            0);
			last = stamps.at[s];
			any = true;
		}
		assert_true(tare_stamps_have(&stamps, TARE_STAMP_END));
		tare_event_free(event);
	}
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void an_untimed_queue_has_no_stamps(void **state)
{
	struct tare_queue *queue = new_queue(false);
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	tare_event_free(event);
	tare_queue_free(queue);
}

// Device time between two readings agrees with host time within the brackets and 1 %.
static void clock_pairs_follow_the_host_clock(void **state)
{
	struct tare_clock_rate rate;
	struct tare_clock_pair first, last;
	int rc = tare_clock_pair(device, &first, &error);
	(void)state;
	if (cannot(rc))
		skip_test();
	must(rc);
	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	tare_device_pause(device, 50 * MS);
	must(tare_clock_pair(device, &last, &error));
	assert_true(tare_host_elapsed_ns(first.before, first.after) >= 0);
	assert_true(tare_host_elapsed_ns(first.after, last.before) >= 50 * MS * 9 / 10);
	int64_t ns = tare_ticks_to_ns(&rate, tare_ticks_elapsed(&rate, first.device, last.device));
	assert_true(ns >= tare_host_elapsed_ns(first.after, last.before) * 99 / 100);
	assert_true(ns <= tare_host_elapsed_ns(first.before, last.after) * 101 / 100);
}

static const char program[] = "__kernel void scale(__global const int *in, __global int *out, int "
                              "factor, __local int *temp)\n"
                              "{\n"
                              "	temp[get_local_id(0)] = in[get_global_id(0)];\n"
                              "	out[get_global_id(0)] = temp[get_local_id(0)] * factor;\n"
                              "}\n";

static int build(const char *text, struct tare_module **module, char **log)
{
	struct tare_module_source source = { TARE_MODULE_OPENCL_C, text, strlen(text), NULL };
	return tare_module_create(device, &source, module, log, &error);
}

static void a_kernel_gets_its_arguments(void **state)
{
	enum { ITEMS = 1024, SKIP = 256 };
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_kernel_facts known;
	int rc = build(program, &module, NULL), factor = 3;
	(void)state;
	if (cannot(rc))
		skip_test();
	must(rc);
	must(tare_kernel_create(module, "scale", &kernel, &error));
	must(tare_kernel_facts(kernel, &known, &error));
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *in = new_memory(TARE_MEMORY_DEVICE, 2 * ITEMS * 4);
	struct tare_memory *out = new_memory(TARE_MEMORY_DEVICE, ITEMS * 4);
	put(queue, in, 1);
	put(queue, out, 1);
	struct tare_argument arguments[] = {
		{ TARE_ARGUMENT_MEMORY, .span = span(in, SKIP * 4, ITEMS * 4) },
		{ TARE_ARGUMENT_MEMORY, .span = span(out, 0, ITEMS * 4) },
		{ TARE_ARGUMENT_VALUE, .value = &factor, .bytes = sizeof factor },
		{ TARE_ARGUMENT_LOCAL, .bytes = 64 * 4 },
	};
	struct tare_operation launch = { .type = TARE_OPERATION_LAUNCH };
	launch.launch = (struct tare_launch){
		kernel, { ITEMS / 64, 1, 1 }, { 64, 1, 1 }, arguments, 4,
	};
	rc = tare_append(queue, &launch, NULL, &error);
	must(rc);
	factor = 1000; // values are copied at append
	must(tare_finish(queue, LIMIT, &error));
	uint32_t *source = (uint32_t *)get(queue, in), *result = (uint32_t *)get(queue, out);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_int_equal(result[i], source[i + SKIP] * 3);
	free(source);
	free(result);
	arguments[0].type = TARE_ARGUMENT_VALUE;
	arguments[0].value = "x";
	arguments[0].bytes = 1;
	assert_int_equal(tare_append(queue, &launch, NULL, &error), -EINVAL);
	tare_memory_free(in);
	tare_memory_free(out);
	tare_queue_free(queue);
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void what_does_not_compile_says_why(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	char *log = NULL;
	int rc = build("__kernel void broken(void) { undeclared_thing = 1; }", &module, &log);
	(void)state;
	if (cannot(rc))
		skip_test();
	assert_int_equal(rc, -EINVAL);
	assert_null(module);
	assert_non_null(log);
	assert_non_null(strstr(log, "undeclared_thing"));
	free(log);
	must(build(program, &module, &log));
	assert_null(log);
	assert_int_equal(tare_kernel_create(module, "absent", &kernel, &error), -EINVAL);
	assert_non_null(strstr(error.message, "absent"));
	assert_null(kernel);
	tare_module_free(module);
}

// PoCL stamps with CLOCK_MONOTONIC_RAW, our host clock: no fit, no tool in between. Every stamp of
// a blocking write lies between the readings around the call.
static void pocl_stamps_lie_between_the_host_readings(void **state)
{
	enum { WRITES = 2000 };
	struct tare_queue *queue;
	int good = 0;
	(void)state;
	if (!facts.fact[TARE_FACT_DRIVER].present ||
	    !strstr(facts.fact[TARE_FACT_DRIVER].text, "Portable Computing Language"))
		skip_test();
	queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 4096);
	put(queue, from, 1);
	for (int i = 0; i < WRITES; i++) {
		struct tare_operation write = copy(span(from, 0, 4096), span(to, 0, 4096));
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		write.blocking = true;
		uint64_t before = (uint64_t)tare_host_now().ns;
		must(tare_append(queue, &write, &event, &error));
		uint64_t after = (uint64_t)tare_host_now().ns;
		must(tare_event_stamps(event, &stamps, &error));
		assert_int_equal(stamps.present, 15);
		uint64_t at[4];
		for (int s = 0; s < 4; s++)
			at[s] = stamps.at[s].ticks;
		good += before <= at[0] && at[0] <= at[1] && at[1] <= at[2] && at[2] <= at[3] &&
		        at[3] <= after;
		tare_event_free(event);
	}
	assert_int_equal(good, WRITES);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static int open_device(const char *name, uint32_t index)
{
	int rc;
	backend = tare_backend_find(name);
	if (!backend) {
		printf("Bail out! no backend '%s'\n", name);
		return 1;
	}
	rc = backend->driver_open(NULL, &driver, &error);
	if (rc == -ENOENT || rc == -ENODEV) {
		printf("1..0 # SKIP %s: %s\n", name, error.message);
		return 77;
	}
	if (rc == 0)
		rc = backend->device_facts(driver, index, &facts, &error);
	if (rc == 0)
		rc = backend->device_open(driver, index, &device, &error);
	if (rc < 0)
		printf("Bail out! %s: %s\n", name, error.message);
	return rc < 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define X(test) cmocka_unit_test(test),
		CONTRACT_MEMORY_TESTS(X) CONTRACT_QUEUE_TESTS(X) CONTRACT_KERNEL_TESTS(X)
		    CONTRACT_PEER_TESTS(X)
#undef X
		        cmocka_unit_test(facts_are_there_or_say_why_not),
		cmocka_unit_test(there_is_no_device_past_the_last),
		cmocka_unit_test(frees_accept_nothing),
		cmocka_unit_test(there_is_an_engine_that_computes),
		cmocka_unit_test(stamps_are_in_order_and_on_the_devices_clock),
		cmocka_unit_test(an_untimed_queue_has_no_stamps),
		cmocka_unit_test(clock_pairs_follow_the_host_clock),
		cmocka_unit_test(a_kernel_gets_its_arguments),
		cmocka_unit_test(what_does_not_compile_says_why),
		cmocka_unit_test(pocl_stamps_lie_between_the_host_readings),
	};
	const char *name = argc > 1 ? argv[1] : getenv("TARE_TEST_BACKEND");
	int rc = open_device(name ? name : "simulated", argc > 2 ? (uint32_t)atoi(argv[2]) : 0);
	if (rc)
		return rc == 77 ? 0 : rc;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	tare_device_close(device);
	backend->driver_close(driver);
	return rc;
}
