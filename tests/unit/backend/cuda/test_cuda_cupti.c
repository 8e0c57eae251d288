// SPDX-License-Identifier: Apache-2.0
// Engine stamps of the CUDA backend by a CUPTI that keeps its documented rules
// (tests/fakes/fake_cupti.c).
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_engine_rig.h"

// Its stamps are those of the engine, between the two positions in the stream that its own events
// tell, on the host's clock.
static void every_kind_of_work_is_bracketed(void **state)
{
	static const char *const scripts[] = {
		"", "version=12", "version=14", "fill=700", "late", "version=12 late fill=300"
	};
	(void)state;
	for (size_t s = 0; s < sizeof scripts / sizeof *scripts; s++) {
		struct tare_event *events[OPERATIONS];
		struct tare_stamps stamps[OPERATIONS];
		int64_t before[OPERATIONS], after[OPERATIONS];
		open_all("step=1", scripts[s]);
		must(tare_engine_stamps_begin(device, &error));
		for (int i = 0; i < OPERATIONS; i++) {
			struct tare_operation what = operation(i);
			before[i] = tare_device_now(device).ns;
			must(tare_append(queue, &what, &events[i], &error));
			must(tare_event_wait(events[i], TARE_LIMIT_DEFAULT_NS, &error));
			after[i] = tare_device_now(device).ns;
			assert_int_equal(tare_event_stamps(events[i], &stamps[i], &error), -EAGAIN);
		}
		must(tare_engine_stamps_end(device, &error));
		for (int i = 0; i < OPERATIONS; i++) {
			const struct cuda_event *own = (const struct cuda_event *)events[i];
			must(tare_event_stamps(events[i], &stamps[i], &error));
			check_engine(&stamps[i], before[i], after[i]);
			assert_true(at(&stamps[i], TARE_STAMP_START) >= fake.event_ns(own->start));
			assert_true(at(&stamps[i], TARE_STAMP_END) <= fake.event_ns(own->end));
			assert_int_equal(tare_stamps_have(&stamps[i], TARE_STAMP_QUEUED),
			                 i == LAUNCH);
			assert_int_equal(tare_stamps_have(&stamps[i], TARE_STAMP_SUBMITTED),
			                 i == LAUNCH);
			if (i > 0)
				assert_true(at(&stamps[i], TARE_STAMP_START) >=
				            at(&stamps[i - 1], TARE_STAMP_END));
			tare_event_free(events[i]);
		}
		close_all();
	}
}

// Neither records nor buffers nor ids are left, and events outside are positions again.
static void nothing_is_active_outside(void **state)
{
	struct tare_event *events[3];
	struct tare_stamps stamps;
	struct tare_operation what;

	(void)state;
	open_all("", "");
	what = operation(TO_DEVICE);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(fake.active(), 0);
		must(tare_append(queue, &what, &events[0], &error));
		must(tare_engine_stamps_begin(device, &error));
		assert_true(fake.active() > 1);
		must(tare_append(queue, &what, &events[1], &error));
		must(tare_append(queue, &what, NULL, &error));
		must(tare_engine_stamps_end(device, &error));
		assert_int_equal(fake.active(), 0);
		must(tare_append(queue, &what, &events[2], &error));
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
		for (int i = 0; i < 3; i++) {
			must(tare_event_stamps(events[i], &stamps, &error));
			assert_int_equal(stamps.brackets_engine, i == 1);
			assert_int_equal(stamps.epoch == CUDA_ENGINE_EPOCH, i == 1);
			tare_event_free(events[i]);
		}
	}
	assert_int_equal(fake.buffers(), 0);
	assert_int_equal(fake.pushed(), 0);
	// A device that is closed in the middle leaves nothing either.
	must(tare_engine_stamps_begin(device, &error));
	must(tare_append(queue, &what, &events[0], &error));
	tare_event_free(events[0]);
	close_all();
	assert_int_equal(fake.active(), 0);
	assert_int_equal(fake.buffers(), 0);
}

static void an_operation_that_is_refused_leaves_no_id(void **state)
{
	struct tare_event *event = NULL;
	struct tare_operation what;

	(void)state;
	open_all("", "");
	must(tare_engine_stamps_begin(device, &error));
	what = operation(TO_DEVICE);
	what.destination.bytes /= 2;
	assert_int_equal(tare_append(queue, &what, &event, &error), -EINVAL);
	assert_int_equal(fake.pushed(), 0);
	must(tare_engine_stamps_end(device, &error));
}

// End waits for what runs, in queues without stamps as well, and events may be gone by then.
static void several_queues_and_freed_events_are_traced(void **state)
{
	enum { N = 12 };
	struct tare_queue *queues[3];
	struct tare_event *events[N];
	int64_t before, after;

	(void)state;
	open_all("", "");
	for (int i = 0; i < 3; i++)
		queues[i] = new_queue(i == 0);
	must(tare_engine_stamps_begin(device, &error));
	before = tare_device_now(device).ns;
	for (int i = 0; i < N; i++) {
		struct tare_operation what = operation(i % 3 == 0   ? TO_DEVICE
		                                       : i % 3 == 1 ? LAUNCH
		                                                    : TO_HOST);
		what.waits = i % 3 ? &events[i - 1] : NULL;
		what.wait_count = i % 3 > 0;
		must(tare_append(queues[i % 3], &what, &events[i], &error));
	}
	tare_event_free(events[4]);
	tare_event_free(events[3]);
	tare_event_free(events[0]);
	tare_event_free(events[N - 1]);
	must(tare_engine_stamps_end(device, &error));
	after = tare_device_now(device).ns;
	for (int i = 1; i < N - 1; i++) {
		struct tare_stamps stamps, last;
		if (i == 3 || i == 4)
			continue;
		must(tare_event_stamps(events[i], &stamps, &error));
		check_engine(&stamps, before, after);
		if (i % 3 && i > 1 && i != 5) {
			must(tare_event_stamps(events[i - 1], &last, &error));
			assert_true(at(&stamps, TARE_STAMP_START) >= at(&last, TARE_STAMP_END));
		}
	}
	for (int i = 1; i < N - 1; i++)
		if (i != 3 && i != 4)
			tare_event_free(events[i]);
	for (int i = 0; i < 3; i++)
		tare_queue_free(queues[i]);
}

static void what_no_engine_did_has_no_stamps(void **state)
{
	struct tare_event *event;
	struct tare_stamps stamps;

	(void)state;
	open_all("", "");
	must(tare_engine_stamps_begin(device, &error));
	must(tare_append(queue, &marker, &event, &error));
	must(tare_engine_stamps_end(device, &error));
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_says("no engine");
	assert_int_equal(stamps.present, 0);
	tare_event_free(event);
}

// Dropped records may be anybody's; a record without times is one operation's.
static void missing_records_are_said_and_never_guessed(void **state)
{
	static const struct {
		const char *script, *words;
		int second;
	} rows[] = {
		{ "drop=1", "dropped 1 record", -ENODATA },
		{ "drop=3", "dropped 3 records", -ENODATA },
		{ "timeless=1", "no times", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_event *events[2];
		struct tare_stamps stamps;
		open_all("", rows[i].script);
		struct tare_operation what = operation(LAUNCH);
		must(tare_engine_stamps_begin(device, &error));
		must(tare_append(queue, &what, &events[0], &error));
		must(tare_append(queue, &what, &events[1], &error));
		must(tare_engine_stamps_end(device, &error));
		assert_int_equal(tare_event_stamps(events[0], &stamps, &error), -ENODATA);
		assert_says(rows[i].words);
		assert_int_equal(tare_event_stamps(events[1], &stamps, &error), rows[i].second);
		tare_event_free(events[0]);
		tare_event_free(events[1]);
		close_all();
	}
}

static void what_keeps_cupti_from_us_is_named(void **state)
{
	static const struct {
		const char *script, *injected, *words;
	} rows[] = {
		{ "holder=Nsight_Systems", NULL, "Nsight_Systems" },
		{ "holder=?", "/opt/tool/libinjection.so", "/opt/tool/libinjection.so" },
		{ "holder=?", NULL, "Nsight Compute" },
		{ "fail_enable=35", NULL, "NVreg_RestrictProfilingToAdminUsers" },
		{ "fail_enable=15", NULL, "TARE_CUPTI_LIBRARY" },
		{ "fail_enable=999", NULL, "cannot trace" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_all("", rows[i].script);
		if (rows[i].injected)
			setenv("CUDA_INJECTION64_PATH", rows[i].injected, 1);
		assert_int_equal(tare_engine_stamps_begin(device, &error), -ENOTSUP);
		unsetenv("CUDA_INJECTION64_PATH");
		assert_says(rows[i].words);
		assert_int_equal(fake.active(), 0);
		// It can be tried again, once the other tool is gone.
		setenv("TARE_FAKE_CUPTI", "", 1);
		must(tare_engine_stamps_begin(device, &error));
		must(tare_engine_stamps_end(device, &error));
		close_all();
	}
}

static void begin_and_end_come_in_pairs_for_one_device(void **state)
{
	struct tare_device *second = NULL;
	struct tare_gate *gate = NULL;

	(void)state;
	open_all("devices=2", "");
	must(cuda->device_open(driver, 1, &second, &error));
	assert_int_equal(tare_engine_stamps_end(device, &error), -EINVAL);
	must(tare_engine_stamps_begin(device, &error));
	assert_int_equal(tare_engine_stamps_begin(device, &error), -EINVAL);
	assert_int_equal(tare_engine_stamps_begin(second, &error), -ENOTSUP);
	assert_says("another device");
	must(tare_gate_shut(queue, &gate, &error));
	assert_int_equal(tare_engine_stamps_end(device, &error), -EINVAL);
	assert_says("gate");
	must(tare_gate_open(gate, &error));
	must(tare_engine_stamps_end(device, &error));
	must(tare_engine_stamps_begin(second, &error));
	must(tare_engine_stamps_end(second, &error));
	tare_gate_free(gate);
	tare_device_close(second);
}

// First of all tests: once a library is open it stays.
static void a_library_that_is_not_there_is_named(void **state)
{
	char *real = strdup(getenv("TARE_CUPTI_LIBRARY"));

	(void)state;
	open_all("", "");
	setenv("TARE_CUPTI_LIBRARY", "/nonexistent/libcupti.so", 1);
	assert_int_equal(tare_engine_stamps_begin(device, &error), -ENOENT);
	assert_says("/nonexistent/libcupti.so");
	// A library that is no CUPTI.
	setenv("TARE_CUPTI_LIBRARY", getenv("TARE_NVML_LIBRARY"), 1);
	assert_int_equal(tare_engine_stamps_begin(device, &error), -ENOTSUP);
	assert_says("cuptiGetVersion");
	setenv("TARE_CUPTI_LIBRARY", real, 1);
	free(real);
	must(tare_engine_stamps_begin(device, &error));
	must(tare_engine_stamps_end(device, &error));
	find_fake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_library_that_is_not_there_is_named, teardown),
		cmocka_unit_test_teardown(every_kind_of_work_is_bracketed, teardown),
		cmocka_unit_test_teardown(nothing_is_active_outside, teardown),
		cmocka_unit_test_teardown(an_operation_that_is_refused_leaves_no_id, teardown),
		cmocka_unit_test_teardown(several_queues_and_freed_events_are_traced, teardown),
		cmocka_unit_test_teardown(what_no_engine_did_has_no_stamps, teardown),
		cmocka_unit_test_teardown(missing_records_are_said_and_never_guessed, teardown),
		cmocka_unit_test_teardown(what_keeps_cupti_from_us_is_named, teardown),
		cmocka_unit_test_teardown(begin_and_end_come_in_pairs_for_one_device, teardown),
	};
	return run_on_fakes(tests);
}
