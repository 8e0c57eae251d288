// SPDX-License-Identifier: Apache-2.0
// Several processes in one trace: which devices are the same, whose clock it is; and views.
#include "tests/unit/trace/trace_rig.h"

struct device {
	const char *platform, *name, *uuid, *pci;
};

static void add_devices(struct rig *rig, const struct device *devices, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t platform = 0x1000 + (uint64_t)(unsigned char)devices[i].platform[0];
		rig_object(rig, TARE_OBJECT_PLATFORM,
		           (struct tare_trace_object){ .handle = platform, .ticks = START + i },
		           devices[i].platform);
		rig_object(rig, TARE_OBJECT_DEVICE,
		           (struct tare_trace_object){ .handle = 0x2000 + 8 * i,
		                                       .ticks = START + i,
		                                       .parent = platform,
		                                       .number = (uint32_t)i },
		           devices[i].name);
		if (devices[i].uuid)
			rig_fact(rig, TARE_TRACE_FACT_UUID,
			         (struct tare_trace_fact_record){ .object = 0x2000 + 8 * i,
			                                          .ticks = START + i },
			         devices[i].uuid);
		if (devices[i].pci)
			rig_fact(rig, TARE_TRACE_FACT_PCI,
			         (struct tare_trace_fact_record){ .object = 0x2000 + 8 * i,
			                                          .ticks = START + i },
			         devices[i].pci);
	}
}

// Devices of two processes in a row, and whose same each is. The files are read in name order.
static void devices_of_processes_are_joined(void **state)
{
	static const struct {
		struct device first[3], second[3];
		const char *second_host;
		uint32_t same_as[6];
	} rows[] = {
		// Two cards of one name are two, in each process.
		{ { { "P", "X" }, { "P", "X" } },
		  { { "P", "X" }, { "P", "X" } },
		  "here",
		  { 0, 1, 0, 1 } },
		{ { { "P", "X" }, { "P", "Y" } },
		  { { "P", "Y" }, { "P", "X" } },
		  "here",
		  { 0, 1, 1, 0 } },
		// Another host has another card.
		{ { { "P", "X" } }, { { "P", "X" } }, "there", { 0, 1 } },
		// Numbers say more than names and places in the list.
		{ { { "P", "X", "aa", NULL }, { "P", "X", "bb", NULL } },
		  { { "P", "X", "bb", NULL } },
		  "here",
		  { 0, 1, 1 } },
		{ { { "P", "X", NULL, "0000:01:00.0" }, { "P", "X", NULL, "0000:02:00.0" } },
		  { { "P", "X", NULL, "0000:02:00.0" } },
		  "here",
		  { 0, 1, 1 } },
		// A driver that gives both cards one number.
		{ { { "P", "X", "aa", NULL }, { "P", "X", "aa", NULL } },
		  { { "P", "X", "aa", NULL }, { "P", "X", "aa", NULL } },
		  "here",
		  { 0, 1, 0, 1 } },
		{ { { "P", "X", "0000-00", NULL }, { "P", "Y", "0000-00", NULL } },
		  { { "P", "Y", "0000-00", NULL } },
		  "here",
		  { 0, 1, 1 } },
		// One card on two platforms; without a number they are two.
		{ { { "P", "X", "aa", NULL }, { "Q", "X", "aa", NULL } },
		  { { "Q", "X", "aa", NULL } },
		  "here",
		  { 0, 0, 0 } },
		{ { { "P", "X" }, { "Q", "X" } }, { { "Q", "X" } }, "here", { 0, 1, 1 } },
		// Parts of one card.
		{ { { "P", "X", "aa", "0000:01:00.0" }, { "P", "X", "bb", "0000:01:00.0" } },
		  { { "P", "X", "bb", "0000:01:00.0" } },
		  "here",
		  { 0, 1, 1 } },
		{ { { "P", "X", "aa", "0000:01:00.0" } },
		  { { "P", "X", "bb", "0000:01:00.0" } },
		  "here",
		  { 0, 1 } },
		// One number in two places is no number.
		{ { { "P", "X", "aa", "0000:01:00.0" } },
		  { { "P", "X", "aa", "0000:02:00.0" } },
		  "here",
		  { 0, 1 } },
		// By the place in the bus where only one of them tells a number.
		{ { { "P", "X", "aa", "0000:01:00.0" } },
		  { { "Q", "Z", NULL, "0000:01:00.0" } },
		  "here",
		  { 0, 0 } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_recording *r;
		size_t counts[2] = { 0 };
		for (size_t p = 0; p < 2; p++) {
			const struct device *devices = p ? rows[i].second : rows[i].first;
			struct tare_trace_header header = rig_header(42 + p);
			if (p)
				snprintf(header.host_name, sizeof header.host_name, "%s",
				         rows[i].second_host);
			while (counts[p] < 3 && devices[counts[p]].name)
				counts[p]++;
			rig_begin(&rig, p ? "b" : "a", &header);
			add_devices(&rig, devices, counts[p]);
			rig_end(&rig);
		}
		r = rig_load(&rig);
		assert_int_equal(r->device_count, counts[0] + counts[1]);
		assert_int_equal(r->processes[0].pid, 42);
		for (size_t d = 0; d < r->device_count; d++)
			if (r->devices[d].same_as != rows[i].same_as[d])
				fail_msg("row %zu: device %zu is the same as %u", i, d,
				         r->devices[d].same_as);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

// The second process ran on a machine that has been up for longer; both know the time of day.
static void other_machines_are_aligned_by_the_time_of_day(void **state)
{
	static const struct {
		uint64_t boot;
		int64_t realtime_ns;
		// its command, since START, where its own clock says 5 h + 10 ms
		int64_t lies_at_ms;
		const char *says;
	} rows[] = {
		{ 99, INT64_C(1700000000000000000) + 2000 * MS, 2010, "time of day" },
		{ 99, 0, 5 * 3600000 + 10, "do not compare" },
		{ 11, INT64_C(1700000000000000000) + 2000 * MS, 5 * 3600000 + 10, NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header a = rig_header(42), b = rig_header(43);
		int64_t up = START + 5 * 3600000 * MS;
		struct tare_recording *r;
		rig_begin(&rig, "a", &a);
		rig_usual(&rig);
		rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ 0 });
		rig_end(&rig);
		b.boot_id[0] = rows[i].boot;
		b.start_raw_ns = up;
		b.start_ticks = (uint64_t)up;
		b.start_realtime_ns = rows[i].realtime_ns;
		rig_begin(&rig, "b", &b);
		rig_usual(&rig);
		rig_command(&rig, 1, up + 10 * MS, 0, (struct tare_trace_command){ 0 });
		rig_end(&rig);
		r = rig_load(&rig);
		assert_int_equal(r->command_count, 2);
		assert_true(TARE_COMMAND(r, 0)->enter_ns == START + 1 * MS);
		assert_true(TARE_COMMAND(r, 1)->enter_ns == START + rows[i].lies_at_ms * MS);
		assert_null(r->processes[0].problem);
		if (rows[i].says)
			assert_non_null(strstr(r->processes[1].problem, rows[i].says));
		else
			assert_null(r->processes[1].problem);
		assert_true(r->end_ns >= TARE_COMMAND(r, 1)->enter_ns);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

// record.json of one machine, with processes of another: their clock is the recording's where it
// is that of the program's machine.
static void the_clock_is_that_of_the_programs_machine(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header a = rig_header(42), b = rig_header(43);
	struct tare_recording *r;
	(void)state;
	b.boot_id[0] = 99;
	b.start_raw_ns = START / 2;
	b.start_ticks = (uint64_t)START / 2;
	memcpy(b.host_name, "home", 5);
	rig_begin(&rig, "a", &a);
	rig_end(&rig);
	rig_begin(&rig, "b", &b);
	rig_end(&rig);
	rig_json(&rig, "{\"program\":[\"x\"],\"host_name\":\"home\",\"start_raw_ns\":499990000000,"
	               "\"end_raw_ns\":600000000000,\"start_realtime_ns\":1699999999990000000}");
	r = rig_load(&rig);
	assert_true(r->start_ns == START / 2 - 10 * MS);
	assert_true(r->end_ns == INT64_C(600000000000));
	assert_true(r->processes[0].recorded_from_ns == START / 2);
	assert_true(r->processes[1].recorded_from_ns == START / 2);
	assert_non_null(r->processes[0].problem);
	assert_null(r->processes[1].problem);
	assert_true(r->start_realtime_ns == INT64_C(1699999999990000000));
	tare_recording_free(r);
	rig_free(&rig);
}

static void kernels_and_functions_of_processes(void **state)
{
	struct rig rig = rig_new();
	struct tare_recording *r;
	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct tare_trace_header header = rig_header(42 + p);
		rig_begin(&rig, p ? "b" : "a", &header);
		rig_usual(&rig);
		rig_shape(&rig, 2, 1024, 64); // the same again
		rig_shape(&rig, 3, 1024, 32);
		rig_command(&rig, 1, START + 1 * MS, 0,
		            (struct tare_trace_command){ .object = NORM, .amount = 2 });
		rig_command(&rig, 1, START + 2 * MS, 0,
		            (struct tare_trace_command){ .object = NORM, .amount = 3 });
		rig_command(&rig, 1, START + 3 * MS, 0,
		            (struct tare_trace_command){ .object = NORM, .amount = 4 });
		rig_end(&rig);
	}
	r = rig_load(&rig);
	assert_int_equal(r->kernel_count, 4);
	assert_int_equal(r->kernels[3].process, 1);
	assert_int_equal(r->function_count, 8);
	assert_int_equal(r->shape_count, 2);
	for (size_t i = 0; i < 6; i++) {
		uint32_t process = r->threads[TARE_COMMAND(r, i)->thread].process;
		assert_int_equal(r->kernels[TARE_COMMAND(r, i)->object].process, process);
		assert_int_equal(r->queues[TARE_COMMAND(r, i)->queue].process, process);
		assert_int_equal(TARE_COMMAND(r, i)->amount, i < 2 ? 0 : i < 4 ? 1 : TARE_NO_INDEX);
	}
	assert_int_equal(r->unresolved, 2);
	tare_recording_free(r);
	rig_free(&rig);
}

static void a_view_has_what_overlaps_it(void **state)
{
	static char scale[] = "scale", norm[] = "norm2";
	struct tare_recorded_thread threads[] = { { .process = 0 }, { .process = 1 } };
	struct tare_recorded_device devices[] = { { .process = 0, .same_as = 0 },
		                                  { .process = 1, .same_as = 0 },
		                                  { .process = 1, .same_as = 2 } };
	struct tare_recorded_queue queues[] = { { .device = 0 },
		                                { .process = 1, .device = 1 },
		                                { .process = 1, .device = 2 },
		                                { .device = TARE_NO_INDEX } };
	struct tare_recorded_kernel kernels[] = { { .name = scale }, { .name = norm } };
	struct tare_recording r = { .start_ns = 100,
		                    .end_ns = 900,
		                    .threads = threads,
		                    .devices = devices,
		                    .queues = queues,
		                    .kernels = kernels };
	// Enter 200, exit 210; ran from 300 to 400.
	static const struct {
		struct tare_view view;
		uint32_t thread, queue, object;
		uint8_t kind;
		bool timed, has;
	} rows[] = {
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, true },
		{ { 100, 200, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, false },
		{ { 100, 201, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, true },
		{ { 210, 300, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, false },
		{ { 399, 500, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, true },
		{ { 399, 500, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, false, false },
		{ { 400, 500, TARE_NO_INDEX, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, false },
		{ { 100, 900, 0, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, true },
		{ { 100, 900, 1, TARE_NO_INDEX, NULL }, 0, 0, 0, 1, true, false },
		{ { 100, 900, TARE_NO_INDEX, 0, NULL }, 1, 1, 0, 1, true, true },
		{ { 100, 900, TARE_NO_INDEX, 0, NULL }, 1, 2, 0, 1, true, false },
		{ { 100, 900, TARE_NO_INDEX, 0, NULL }, 1, 3, 0, 1, true, false },
		{ { 100, 900, TARE_NO_INDEX, 0, NULL }, 1, TARE_NO_INDEX, 0, 1, true, false },
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, "s*" }, 0, 0, 0, 1, true, true },
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, "norm?" }, 0, 0, 0, 1, true, false },
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, "norm?" }, 0, 0, 1, 1, true, true },
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, "norm?" }, 0, 0, 0, 3, true, true },
		{ { 100, 900, TARE_NO_INDEX, TARE_NO_INDEX, "n*" },
		  0,
		  0,
		  TARE_NO_INDEX,
		  1,
		  true,
		  false },
	};
	struct tare_view all = tare_view_all(&r);
	(void)state;
	assert_true(all.from_ns == 100 && all.to_ns == 900 && !all.kernel);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_recorded_command c = { .enter_ns = 200,
			                           .exit_ns = 210,
			                           .start_ns = 300,
			                           .end_ns = 400,
			                           .thread = rows[i].thread,
			                           .queue = rows[i].queue,
			                           .object = rows[i].object,
			                           .kind = rows[i].kind };
		if (!rows[i].timed)
			c.start_ns = c.end_ns = TARE_NO_TIME;
		if (tare_view_has_command(&r, &rows[i].view, &c) != rows[i].has)
			fail_msg("row %zu", i);
	}
	// One that takes no time belongs to the moment at which it begins.
	for (int64_t from = 198; from < 202; from++) {
		struct tare_view one = { from, from + 1, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
		struct tare_recorded_command c = { .enter_ns = 200,
			                           .exit_ns = 200,
			                           .start_ns = TARE_NO_TIME,
			                           .end_ns = TARE_NO_TIME };
		assert_int_equal(tare_view_has_command(&r, &one, &c), from == 200);
	}
	assert_true(tare_view_has_device(&r, &all, 2));
	assert_true(tare_view_has_device(&r, &all, TARE_NO_INDEX));
	all.device = 0;
	assert_true(tare_view_has_device(&r, &all, 1));
	assert_false(tare_view_has_device(&r, &all, 2));
	assert_false(tare_view_has_device(&r, &all, TARE_NO_INDEX));
	all.process = 0;
	assert_false(tare_view_has_device(&r, &all, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_of_processes_are_joined),
		cmocka_unit_test(other_machines_are_aligned_by_the_time_of_day),
		cmocka_unit_test(the_clock_is_that_of_the_programs_machine),
		cmocka_unit_test(kernels_and_functions_of_processes),
		cmocka_unit_test(a_view_has_what_overlaps_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
