// SPDX-License-Identifier: Apache-2.0
// What is known of the run as a whole: record.json, which may be anything, and the folder.
#include "tests/unit/trace/trace_rig.h"

#include <errno.h>

static void record_json_tells_the_run(void **state)
{
	static const struct {
		const char *json;
		const char *program;
		int exit_status, exit_signal;
		bool complete;
		int64_t start_ms, end_ms; // since START
		const char *problem;      // a part of it
	} rows[] = {
		{ "{\"program\":[\"./app\",\"--n\",\"a b\",\"it's\",\"\"],\"start_raw_ns\":"
		  "999995000000,\"end_raw_ns\":1000900000000,\"exit_status\":3,\"user_cpu_ns\":5,"
		  "\"host_units\":2,\"layer\":{\"state\":\"loaded\"}}",
		  "./app --n 'a b' 'it'\\''s' ''", 3, 0, true, -5, 900, NULL },
		{ "{\"program\":[\"./app\"],\"start_raw_ns\":999995000000,\"exit_signal\":9,"
		  "\"end_raw_ns\":1000900000000}",
		  "./app", -1, 9, true, -5, 900, NULL },
		// Still running, or killed: the processes say until when.
		{ "{\"program\":[\"./app\"],\"start_raw_ns\":999995000000}", "./app", -1, 0, false,
		  -5, 100, NULL },
		{ NULL, "app --n 3", -1, 0, false, 0, 100, NULL },
		{ "{\"program\":7,\"start_raw_ns\":\"x\",\"end_raw_ns\":[],\"exit_status\":300,"
		  "\"exit_signal\":4711}",
		  "app --n 3", -1, 0, false, 0, 100, NULL },
		{ "{\"start_raw_ns\":5,\"end_raw_ns\":4}", "app --n 3", -1, 0, true, 0, 100,
		  "before it began" },
		{ "[]", "app --n 3", -1, 0, false, 0, 100, "record.json" },
		{ "{\"program\": [", "app --n 3", -1, 0, false, 0, 100, "record.json" },
		{ "{\"end_raw_ns\":99999999999999999999999}", "app --n 3", -1, 0, false, 0, 100,
		  "record.json" },
		{ "{\"start_raw_ns\":-4,\"end_raw_ns\":9223372036854775807}", "app --n 3", -1, 0,
		  false, 0, 100, NULL },
		{ "", "app --n 3", -1, 0, false, 0, 100, "record.json" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		struct tare_recording *r;
		header.end_ticks = START + 100 * MS;
		rig_begin(&rig, "a", &header);
		rig_usual(&rig);
		rig_end(&rig);
		if (rows[i].json)
			rig_json(&rig, rows[i].json);
		r = rig_load(&rig);
		assert_string_equal(r->program, rows[i].program);
		assert_int_equal(r->exit_status, rows[i].exit_status);
		assert_int_equal(r->exit_signal, rows[i].exit_signal);
		assert_int_equal(r->complete, rows[i].complete);
		assert_true(r->start_ns == START + rows[i].start_ms * MS);
		assert_true(r->end_ns == START + rows[i].end_ms * MS);
		if (rows[i].problem) {
			assert_non_null(r->problem);
			assert_non_null(strstr(r->problem, rows[i].problem));
		} else {
			assert_null(r->problem);
		}
		if (i == 0) {
			assert_int_equal(r->user_cpu_ns, 5);
			assert_true(r->system_cpu_ns == TARE_NO_TIME);
			assert_int_equal(r->host_units, 2);
			assert_string_equal(r->layer, "loaded");
		}
		tare_recording_free(r);
		rig_free(&rig);
	}
}

static void a_trace_without_processes_tells_why(void **state)
{
	struct rig rig = rig_new();
	struct tare_recording *r;
	(void)state;
	assert_int_equal(tare_recording_load(rig.directory, &r, &rig_error), -ENODATA);
	assert_true(strlen(rig_error.message) > 10);
	rig_json(&rig, "{\"program\":[\"ls\"],\"start_raw_ns\":100,\"end_raw_ns\":300,"
	               "\"exit_status\":0,\"layer\":{\"state\":\"never loaded\"}}");
	r = rig_load(&rig);
	assert_int_equal(r->process_count, 0);
	assert_string_equal(r->layer, "never loaded");
	assert_int_equal(r->end_ns - r->start_ns, 200);
	assert_int_equal(r->exit_status, 0);
	assert_true(r->complete);
	tare_recording_free(r);
	rig_free(&rig);
	assert_int_equal(tare_recording_load("/no/such/folder", &r, &rig_error), -ENOENT);
	assert_null(r);
}

static void the_name_is_that_of_the_folder(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	char path[128];
	struct tare_recording *r = NULL;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_end(&rig);
	snprintf(path, sizeof path, "%s/", rig.directory);
	assert_int_equal(tare_recording_load(path, &r, &rig_error), 0);
	assert_string_equal(r->name, rig.directory + 5);
	tare_recording_free(r);
	snprintf(path, sizeof path, "%s.tare", rig.directory);
	assert_int_equal(rename(rig.directory, path), 0);
	assert_int_equal(tare_recording_load(path, &r, &rig_error), 0);
	assert_string_equal(r->name, rig.directory + 5);
	assert_string_equal(r->path, path);
	tare_recording_free(r);
	assert_int_equal(rename(path, rig.directory), 0);
	rig_free(&rig);
}

struct told {
	double last;
	size_t count;
};

static void note_told(void *context, double part)
{
	struct told *told = context;
	assert_true(part >= told->last && part <= 1);
	told->last = part;
	told->count++;
}

static void who_asks_is_told_how_far_reading_has_come(void **state)
{
	enum { CALLS = 300000 };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct told told = { 0 };
	const struct tare_recording_told ask = { note_told, &told };
	struct tare_recording *r = NULL;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint64_t i = 0; i < CALLS; i++)
		tare_trace_writer_add(
		    rig.writer, &(union tare_trace_record){
		                    .call = { .head = tare_trace_head(TARE_TRACE_CALL, 0, 1, 1),
		                              .enter = START + 10 * i,
		                              .exit = START + 10 * i + 5 } });
	rig_end(&rig);
	assert_int_equal(tare_recording_load_telling(rig.directory, &ask, &r, &rig_error), 0);
	assert_int_equal(r->call_count, CALLS);
	assert_in_range(told.count, 2, CALLS / 1000);
	assert_true(told.last > 0.5);
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_json_tells_the_run),
		cmocka_unit_test(a_trace_without_processes_tells_why),
		cmocka_unit_test(the_name_is_that_of_the_folder),
		cmocka_unit_test(who_asks_is_told_how_far_reading_has_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
