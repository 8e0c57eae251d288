// SPDX-License-Identifier: Apache-2.0
// The OpenCL backend against tests/fakes/fake_opencl.c: what goes wrong is said, with the right
// errno, and nothing leaks or hangs.
#include "opencl_fake.h"

#include "backend/kernels.h"

#include <malloc.h>
#include <sys/mman.h>

#define MS INT64_C(1000000)

static int (*events_made)(void);

static void a_machine_without_opencl_says_what_to_do(void **state)
{
	static const struct {
		const char *library, *script;
		int rc;
		const char *words;
	} rows[] = {
		{ "/nonexistent/libOpenCL.so.1", "", -ENOENT, "/nonexistent/libOpenCL.so.1" },
		{ "libm.so.6", "", -ENOSYS, "clGetPlatformIDs" },
		{ NULL, "no-platform", -ENODEV, "install pocl-opencl-icd" },
		{ NULL, "no-platform", -ENODEV, "CL_PLATFORM_NOT_FOUND_KHR" },
		{ NULL, "no-device", -ENODEV, "Fake platform" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_driver *driver = NULL;
		setenv("TARE_OPENCL_LIBRARY", rows[i].library ? rows[i].library : fake, 1);
		tell(rows[i].script);
		assert_int_equal(backend->driver_open(NULL, &driver, &error), rows[i].rc);
		assert_int_equal(error.code, rows[i].rc);
		assert_null(driver);
		if (!strstr(error.message, rows[i].words))
			fail_msg("'%s' does not say '%s'", error.message, rows[i].words);
	}
	setenv("TARE_OPENCL_LIBRARY", fake, 1);
	tell("");
}

static void facts_come_from_extensions(void **state)
{
	static const struct {
		enum tare_fact_id id;
		const char *text;
	} rows[] = {
		{ TARE_FACT_NAME, "Fake GPU" },
		{ TARE_FACT_TYPE, "GPU" },
		{ TARE_FACT_DRIVER, "Fake platform 1.0" },
		{ TARE_FACT_UUID, "01234567-89ab-cdef-0011-223344556677" },
		{ TARE_FACT_PCI, "0010:3b:02.1" },
		{ TARE_FACT_ARCHITECTURE, "compute capability 9.0" },
		{ TARE_FACT_UNITS, "132" },
		{ TARE_FACT_LANES, "128" },
		{ TARE_FACT_PEAK_FP32, "66.9 TFLOP/s" }, // 132 units, 128 lanes, 2, 1.98 GHz
		{ TARE_FACT_PEAK_FP64, "33.5 TFLOP/s" },
		{ TARE_FACT_CLOCK, "1.98 GHz" },
		{ TARE_FACT_SUB_GROUP, "32" },
		{ TARE_FACT_COPY_ENGINES, "3" },
		{ TARE_FACT_ENGINES, "1 compute, 3 copy" },
		{ TARE_FACT_TIMER_RESOLUTION, "1.00 µs" },
		{ TARE_FACT_UNIFIED, "no" },
		{ TARE_FACT_FP64, "yes" },
		{ TARE_FACT_FP16, "no" },
		{ TARE_FACT_CACHE, "n/a" }, // 0 is no size
		{ TARE_FACT_ECC, "n/a" },   // refused
	};
	struct fixture f = begin("");
	struct tare_engine engines[8];
	struct tare_facts facts;
	char text[256];
	(void)state;
	assert_int_equal(backend->device_facts(f.driver, 0, &facts, &error), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(tare_fact_format(&facts, rows[i].id, text, sizeof text),
		                    rows[i].text);
	assert_non_null(strstr(facts.fact[TARE_FACT_LOADER].text, "driver libfake_opencl.so"));
	assert_int_equal(tare_engines(f.device, engines, 8, &error), 4);
	assert_true(engines[3].known && engines[3].class == TARE_ENGINE_COPY &&
	            engines[3].index == 2);
	end(&f);
}

static void facts_without_extensions_say_why(void **state)
{
	struct fixture f = begin("plain");
	struct tare_engine engines[8];
	struct tare_facts facts;
	(void)state;
	assert_int_equal(backend->device_facts(f.driver, 0, &facts, &error), 0);
	// "cl_khr_device_uuids", which the fake has, is another word.
	assert_false(facts.fact[TARE_FACT_UUID].present);
	assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_UUID), "cl_khr_device_uuid"));
	assert_false(facts.fact[TARE_FACT_PCI].present);
	assert_false(facts.fact[TARE_FACT_COPY_ENGINES].present);
	assert_int_equal(facts.fact[TARE_FACT_ENGINES].origin, TARE_ORIGIN_GUESS);
	assert_int_equal(tare_engines(f.device, engines, 8, &error), 2);
	assert_false(engines[1].known);
	end(&f);
}

static void an_old_device_is_listed_but_not_opened(void **state)
{
	struct tare_driver *driver = NULL;
	struct tare_device *device = NULL;
	struct tare_facts facts;
	(void)state;
	tell("version=1.1");
	assert_int_equal(backend->driver_open(NULL, &driver, &error), 0);
	assert_int_equal(backend->device_facts(driver, 0, &facts, &error), 0);
	assert_int_equal(backend->device_open(driver, 0, &device, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "1.1"));
	assert_null(device);
	backend->driver_close(driver);
	tell("");
}

static void a_device_without_profiling_measures_by_host_only(void **state)
{
	static const struct {
		const char *script;
		bool says_so;
	} rows[] = { { "no-profiling", true }, { "refuses-profiling", false } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture f = begin(rows[i].script);
		struct tare_queue *timed = NULL;
		struct tare_clock_rate rate;
		struct tare_clock_pair pair;
		struct tare_facts facts;
		assert_int_equal(tare_queue_create(f.device,
		                                   &(struct tare_queue_options){ .timed = true },
		                                   &timed, &error),
		                 -ENOTSUP);
		assert_null(timed);
		assert_int_equal(tare_clock_pair(f.device, &pair, &error), -ENOTSUP);
		if (rows[i].says_so) {
			assert_int_equal(
			    tare_clock_rate(f.device, TARE_CLOCK_STAMPS, &rate, &error), -ENOTSUP);
			assert_int_equal(backend->device_facts(f.driver, 0, &facts, &error), 0);
			assert_false(facts.fact[TARE_FACT_PROFILING].present);
			assert_false(facts.fact[TARE_FACT_TIMER_RATE].present);
		}
		end(&f);
	}
}

static void missing_stamps_are_no_data(void **state)
{
	struct fixture f = begin("no-stamps");
	struct tare_queue *timed = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps stamps = { .present = 99 };
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	assert_int_equal(tare_queue_create(f.device, &(struct tare_queue_options){ .timed = true },
	                                   &timed, &error),
	                 0);
	assert_int_equal(tare_append(timed, &marker, &event, &error), 0);
	assert_int_equal(tare_event_wait(event, 100 * MS, &error), 0);
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_string_equal(error.native_name, "CL_PROFILING_INFO_NOT_AVAILABLE");
	assert_int_equal(stamps.present, 99);
	tare_event_free(event);
	tare_queue_free(timed);
	tell("");
	assert_int_equal(tare_append(f.queue, &marker, &event, &error), 0);
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_non_null(strstr(error.message, "not timed"));
	tare_event_free(event);
	end(&f);
}

static void clocks_are_bracketed_either_way(void **state)
{
	(void)state;
	for (int paired = 0; paired < 2; paired++) {
		struct fixture f = begin(paired ? "paired-timers" : "coarse");
		struct tare_clock_pair pair;
		int64_t offset = paired ? 1000000000 : 0;
		assert_int_equal(tare_clock_pair(f.device, &pair, &error), 0);
		assert_true(pair.before.ns <= (int64_t)pair.device.ticks - offset);
		assert_true((int64_t)pair.device.ticks - offset <= pair.after.ns);
		// The timer's step is part of the bracket unless the timer was read itself.
		if (!paired) {
			assert_true(pair.before.ns <= (int64_t)pair.device.ticks - MS);
			assert_true((int64_t)pair.device.ticks + MS <= pair.after.ns);
		}
		end(&f);
	}
}

static void running_out_of_memory_is_said_at_the_allocation(void **state)
{
	static const enum tare_memory_kind kinds[] = { TARE_MEMORY_DEVICE, TARE_MEMORY_PINNED,
		                                       TARE_MEMORY_REGISTERED, TARE_MEMORY_MAPPED };
	struct fixture f = begin("allocation-limit=4096");
	struct tare_memory *memory = NULL;
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(tare_memory_create(f.device, kinds[i], 4097, &memory, &error),
		                 -ENOMEM);
		assert_null(memory);
		assert_string_equal(error.native_name, "CL_MEM_OBJECT_ALLOCATION_FAILURE");
		assert_non_null(strstr(error.message, "4097 bytes"));
		tare_memory_free(allocate(&f, kinds[i], 4096));
	}
	// Drivers that allocate at first use are made to use it at once.
	tell("lazy-limit=4096");
	assert_int_equal(tare_memory_create(f.device, TARE_MEMORY_DEVICE, 4097, &memory, &error),
	                 -ENOMEM);
	assert_null(memory);
	end(&f);
}

static void freed_host_memory_is_given_back(void **state)
{
	static const enum tare_memory_kind kinds[] = { TARE_MEMORY_PAGEABLE,
		                                       TARE_MEMORY_REGISTERED };
	struct fixture f = begin("");
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_memory *memory = allocate(&f, kinds[i], 4096);
		void *host = memory->host;
		unsigned char resident;
		assert_int_equal(mincore(host, 4096, &resident), 0);
		tare_memory_free(memory);
		assert_int_equal(mincore(host, 4096, &resident), -1);
	}
	// A device that does not let go of memory keeps it: lost, rather than given to someone
	// else.
	struct tare_memory *memory = allocate(&f, TARE_MEMORY_REGISTERED, 4096);
	void *host = memory->host;
	unsigned char resident;
	tell("event-fails=1");
	tare_memory_free(memory);
	assert_int_equal(mincore(host, 4096, &resident), 0);
	munmap(host, 4096);
	end(&f);
}

static void a_driver_without_shared_memory_says_so(void **state)
{
	struct fixture f = begin("");
	struct tare_memory *memory = NULL;
	(void)state;
	assert_int_equal(tare_memory_create(f.device, TARE_MEMORY_SHARED, 4096, &memory, &error),
	                 -ENOTSUP);
	assert_int_equal(
	    tare_memory_create(f.device, TARE_MEMORY_WRITE_COMBINED, 4096, &memory, &error),
	    -ENOTSUP);
	end(&f);
}

static void a_refused_enqueue_is_an_error_of_append(void **state)
{
	struct fixture f = begin("");
	struct tare_memory *from = allocate(&f, TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *to = allocate(&f, TARE_MEMORY_DEVICE, 4096);
	struct tare_operation copy = { .type = TARE_OPERATION_COPY,
		                       .source = { from, 0, 4096 },
		                       .destination = { to, 0, 4096 } };
	struct tare_event *event = NULL;
	(void)state;
	tell("enqueue-fails=2");
	assert_int_equal(tare_append(f.queue, &copy, NULL, &error), 0);
	assert_int_equal(tare_append(f.queue, &copy, &event, &error), -ENOMEM);
	assert_null(event);
	assert_string_equal(error.api, "opencl");
	assert_string_equal(error.call, "clEnqueueWriteBuffer");
	assert_int_equal(error.native, -5);
	assert_string_equal(error.native_name, "CL_OUT_OF_RESOURCES");
	assert_int_equal(tare_append(f.queue, &copy, NULL, &error), 0);
	tell("enqueue-fails=1");
	assert_int_equal(tare_finish(f.queue, 100 * MS, &error), -ENOMEM);
	tare_memory_free(from);
	tare_memory_free(to);
	end(&f);
}

static void an_operation_that_fails_on_the_device_fails_its_wait(void **state)
{
	static const struct {
		const char *script;
		int rc;
		const char *name;
	} rows[] = {
		{ "event-fails=1", -EIO, "CL_OUT_OF_RESOURCES" },
		{ "event-lost=1", -ENODEV, "CL_DEVICE_NOT_AVAILABLE" },
		{ "illegal-access=1", -ENODEV, "NVIDIA: illegal read or write to a buffer" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f = begin("");
		struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
		struct tare_event *event = NULL;
		tell(rows[i].script);
		assert_int_equal(tare_append(f.queue, &marker, &event, &error), 0);
		assert_int_equal(tare_event_wait(event, 100 * MS, &error), rows[i].rc);
		assert_string_equal(error.native_name, rows[i].name);
		assert_int_equal(tare_event_wait(event, TARE_LIMIT_NATIVE, &error), rows[i].rc);
		assert_int_equal(tare_event_done(event, &error), rows[i].rc);
		tare_event_free(event);
		end(&f);
	}
}

// OpenCL has no blocking copy from buffer to buffer, so ours waits: only then can append know.
static void a_blocking_copy_on_the_device_is_waited_for(void **state)
{
	struct fixture f = begin("");
	struct tare_memory *from = allocate(&f, TARE_MEMORY_DEVICE, 4096);
	struct tare_memory *to = allocate(&f, TARE_MEMORY_DEVICE, 4096);
	struct tare_operation copy = { .type = TARE_OPERATION_COPY,
		                       .source = { from, 0, 4096 },
		                       .destination = { to, 0, 4096 } };
	(void)state;
	tell("event-fails=1");
	copy.blocking = true;
	assert_int_equal(tare_append(f.queue, &copy, NULL, &error), -EIO);
	tell("event-fails=1,");
	copy.blocking = false;
	assert_int_equal(tare_append(f.queue, &copy, NULL, &error), 0);
	tare_memory_free(from);
	tare_memory_free(to);
	end(&f);
}

// What is measured must be the call's own way to block, not an event of ours and a wait for it.
static void a_call_that_can_block_is_left_to_it(void **state)
{
	enum { BYTES = 4096, ROW = 64 };
	static const struct {
		enum tare_operation_type type;
		enum tare_memory_kind from, to;
		int events;
	} rows[] = {
		{ TARE_OPERATION_COPY, TARE_MEMORY_PAGEABLE, TARE_MEMORY_DEVICE, 0 },
		{ TARE_OPERATION_COPY, TARE_MEMORY_DEVICE, TARE_MEMORY_PAGEABLE, 0 },
		{ TARE_OPERATION_COPY, TARE_MEMORY_DEVICE, TARE_MEMORY_DEVICE, 1 },
		{ TARE_OPERATION_RECTANGLE, TARE_MEMORY_PAGEABLE, TARE_MEMORY_DEVICE, 0 },
		{ TARE_OPERATION_RECTANGLE, TARE_MEMORY_DEVICE, TARE_MEMORY_PAGEABLE, 0 },
		{ TARE_OPERATION_RECTANGLE, TARE_MEMORY_DEVICE, TARE_MEMORY_DEVICE, 1 },
		{ TARE_OPERATION_MIGRATE, TARE_MEMORY_DEVICE, TARE_MEMORY_DEVICE, 1 },
	};
	struct fixture f = begin("");
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_memory *from = allocate(&f, rows[i].from, BYTES);
		struct tare_memory *to = allocate(&f, rows[i].to, BYTES);
		struct tare_operation operation = { .type = rows[i].type,
			                            .source = { from, 0, BYTES },
			                            .destination = { to, 0, BYTES },
			                            .blocking = true };
		if (rows[i].type == TARE_OPERATION_RECTANGLE)
			operation.rectangle = (struct tare_rectangle){ ROW, 2, 1, ROW, 0, ROW, 0 };
		int before = events_made();
		assert_int_equal(tare_append(f.queue, &operation, NULL, &error), 0);
		if (events_made() - before != rows[i].events)
			fail_msg("row %zu: %d events", i, events_made() - before);
		tare_memory_free(from);
		tare_memory_free(to);
	}
	end(&f);
}

static void handles_that_died_mean_a_lost_device(void **state)
{
	struct fixture f = begin("");
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	tell("context-dies=1");
	assert_int_equal(tare_append(f.queue, &marker, NULL, &error), -ENODEV);
	assert_non_null(strstr(error.message, "device is lost"));
	assert_int_equal(tare_finish(f.queue, 5 * MS, &error), -ENODEV);
	end(&f);
}

// The stand-in ends the process at the first release.
static void an_abandoned_device_is_left_alone(void **state)
{
	struct fixture f = begin("");
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_memory *memory = allocate(&f, TARE_MEMORY_DEVICE, 64);
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	assert_int_equal(
	    tare_kernel_build(f.device, "empty", "empty", &module, &kernel, NULL, &error), 0);
	assert_int_equal(tare_gate_shut(f.queue, &gate, &error), 0);
	tell("event-hangs=1");
	assert_int_equal(tare_append(f.queue, &marker, &event, &error), 0);
	assert_int_equal(tare_event_wait(event, 5 * MS, &error), -ETIMEDOUT);
	tare_device_abandon(NULL);
	tare_device_abandon(f.device);
	for (int real = 0; real < 2; real++) {
		// The second round cleans up what the first one rightly left.
		f.device->lost = !real;
		tell(real ? "" : "release-hangs");
		tare_kernel_free(kernel);
		tare_module_free(module);
		tare_gate_free(gate);
		tare_event_free(event);
		tare_memory_free(memory);
		tare_queue_free(f.queue);
		tare_device_close(f.device);
	}
	backend->driver_close(f.driver);
}

static void stamps_are_of_finished_operations(void **state)
{
	struct fixture f = begin("");
	struct tare_queue *timed = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	assert_int_equal(tare_queue_create(f.device, &(struct tare_queue_options){ .timed = true },
	                                   &timed, &error),
	                 0);
	tell("event-hangs=1");
	assert_int_equal(tare_append(timed, &marker, &event, &error), 0);
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -EAGAIN);
	tare_event_free(event);
	tare_queue_free(timed);
	end(&f);
}

static void a_driver_without_names_is_absent(void **state)
{
	struct fixture f = begin("no-names");
	struct tare_facts facts;
	(void)state;
	assert_int_equal(backend->device_facts(f.driver, 0, &facts, &error), 0);
	assert_false(facts.fact[TARE_FACT_DRIVER].present);
	assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_DRIVER), "neither"));
	end(&f);
}

static void an_operation_that_never_ends_meets_the_limit(void **state)
{
	struct fixture f = begin("");
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	(void)state;
	tell("event-hangs=1");
	assert_int_equal(tare_append(f.queue, &marker, &event, &error), 0);
	assert_int_equal(tare_event_wait(event, 5 * MS, &error), -ETIMEDOUT);
	assert_int_equal(tare_event_done(event, &error), 0);
	assert_int_equal(tare_finish(f.queue, 5 * MS, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.message, "0.005 s"));
	tare_event_free(event);
	end(&f);
}

static void a_host_that_cannot_hold_a_queue_says_so(void **state)
{
	struct fixture f = begin("no-user-events");
	struct tare_gate *gate = NULL;
	struct tare_operation call = { .type = TARE_OPERATION_HOST_CALL };
	(void)state;
	assert_int_equal(tare_gate_shut(f.queue, &gate, &error), -ENOTSUP);
	assert_int_equal(error.code, -ENOTSUP);
	assert_null(gate);
	assert_int_equal(tare_append(f.queue, &call, NULL, &error), -ENOTSUP);
	// The barrier behind an event that was made: the event is opened and freed again.
	tell("enqueue-fails=1");
	assert_int_equal(tare_gate_shut(f.queue, &gate, &error), -ENOMEM);
	assert_null(gate);
	end(&f);
}

static void count_up(void *context)
{
	(*(int *)context)++;
}

static void a_host_call_that_is_refused_leaves_nothing_behind(void **state)
{
	static const char *const scripts[] = { "enqueue-fails=1", "enqueue-fails=2" };
	int calls = 0;
	struct fixture f = begin("");
	struct tare_operation call = { .type = TARE_OPERATION_HOST_CALL,
		                       .call = { count_up, &calls } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_event *event = NULL;
		tell(scripts[i]);
		assert_int_equal(tare_append(f.queue, &call, &event, &error), -ENOMEM);
		assert_null(event);
		assert_int_equal(calls, 0);
	}
	// What came before it failed: the call is not made.
	tell("event-fails=1");
	assert_int_equal(tare_append(f.queue, &call, NULL, &error), 0);
	assert_int_equal(calls, 0);
	end(&f);
}

static void a_host_call_may_come_when_the_driver_is_closed(void **state)
{
	struct fixture f = begin("late-callback");
	int calls = 0;
	struct tare_operation call = { .type = TARE_OPERATION_HOST_CALL,
		                       .call = { count_up, &calls } };
	void *handle = dlopen(fake, RTLD_NOW | RTLD_NOLOAD);
	void (*call_late)(void);
	(void)state;
	assert_non_null(handle);
	*(void **)&call_late = dlsym(handle, "fake_opencl_call_late");
	assert_non_null(call_late);
	assert_int_equal(tare_append(f.queue, &call, NULL, &error), 0);
	assert_int_equal(calls, 0);
	// What is freed from here on is overwritten, so that whoever still reads it fails.
	mallopt(M_PERTURB, 0x55);
	end(&f);
	call_late();
	mallopt(M_PERTURB, 0);
	assert_int_equal(calls, 1);
	dlclose(handle);
}

static void queues_that_opencl_lacks_are_not_supported(void **state)
{
	static const struct tare_queue_options rows[] = {
		{ .engine = 1 },
		{ .order = TARE_QUEUE_OUT_OF_ORDER }, // which this device lacks
		{ .order = TARE_QUEUE_DEFERRED },
		{ .order = TARE_QUEUE_LEGACY_DEFAULT },
	};
	struct fixture f = begin("");
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_queue *queue = NULL;
		assert_int_equal(tare_queue_create(f.device, &rows[i], &queue, &error), -ENOTSUP);
		assert_null(queue);
	}
	end(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_opencl_says_what_to_do),
		cmocka_unit_test(facts_come_from_extensions),
		cmocka_unit_test(facts_without_extensions_say_why),
		cmocka_unit_test(an_old_device_is_listed_but_not_opened),
		cmocka_unit_test(a_device_without_profiling_measures_by_host_only),
		cmocka_unit_test(missing_stamps_are_no_data),
		cmocka_unit_test(clocks_are_bracketed_either_way),
		cmocka_unit_test(running_out_of_memory_is_said_at_the_allocation),
		cmocka_unit_test(freed_host_memory_is_given_back),
		cmocka_unit_test(a_driver_without_shared_memory_says_so),
		cmocka_unit_test(a_refused_enqueue_is_an_error_of_append),
		cmocka_unit_test(an_operation_that_fails_on_the_device_fails_its_wait),
		cmocka_unit_test(a_blocking_copy_on_the_device_is_waited_for),
		cmocka_unit_test(a_call_that_can_block_is_left_to_it),
		cmocka_unit_test(handles_that_died_mean_a_lost_device),
		cmocka_unit_test(an_abandoned_device_is_left_alone),
		cmocka_unit_test(stamps_are_of_finished_operations),
		cmocka_unit_test(a_driver_without_names_is_absent),
		cmocka_unit_test(an_operation_that_never_ends_meets_the_limit),
		cmocka_unit_test(a_host_that_cannot_hold_a_queue_says_so),
		cmocka_unit_test(a_host_call_that_is_refused_leaves_nothing_behind),
		cmocka_unit_test(a_host_call_may_come_when_the_driver_is_closed),
		cmocka_unit_test(queues_that_opencl_lacks_are_not_supported),
	};
	void *library = load_fake(argc, argv);
	if (!library)
		return 1;
	*(void **)&events_made = dlsym(library, "fake_opencl_events");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
