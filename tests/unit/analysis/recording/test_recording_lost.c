// SPDX-License-Identifier: Apache-2.0
// Which times of a process were not recorded, by what its file shows; docs/ledger.md, "What was not
// recorded".
#include "tests/unit/trace/trace_rig.h"

#define SECOND (1000 * MS)

enum { HELPER = 9 };

// A process with a thread of the program, track 1, and the recorder's own.
static void begin(struct rig *rig, const struct tare_trace_header *header)
{
	rig_begin(rig, "a", header);
	rig_usual(rig);
	rig_add(rig, (union tare_trace_record){
	                 .track = { .head = tare_trace_head(TARE_TRACE_TRACK, 0, TARE_TRACE_HELPER,
	                                                    HELPER),
	                            .ticks = START - MS,
	                            .tid = 99 } });
}

static void command_at(struct rig *rig, uint32_t track, int64_t at_ns)
{
	rig_command(rig, track, at_ns - 1000, 0, (struct tare_trace_command){ 0 });
}

static void cpu_time_at(struct rig *rig, uint32_t track, int64_t at_ns)
{
	rig_add(rig, (union tare_trace_record){
	                 .cpu_time = { .head = tare_trace_head(TARE_TRACE_CPU_TIME, 0, 0, track),
	                               .ticks = (uint64_t)at_ns,
	                               .cpu_ns = 1 } });
}

static void active_at(struct rig *rig, uint16_t on, int64_t at_ns)
{
	rig_add(rig, (union tare_trace_record){
	                 .active = { .head = tare_trace_head(TARE_TRACE_ACTIVE, 0, on, HELPER),
	                             .ticks = (uint64_t)at_ns } });
}

struct lost {
	int64_t from_ms, to_ms; // since START
	enum tare_loss_why why;
};

static void check_written(struct rig *rig, size_t row, const struct lost *should, size_t count)
{
	struct tare_recording *r = rig_load(rig);
	if (r->loss_count != count)
		fail_msg("row %zu: %zu losses, not %zu", row, r->loss_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct tare_recorded_loss *is = &r->losses[i];
		if (is->from_ns != START + should[i].from_ms * MS ||
		    is->to_ns != START + should[i].to_ms * MS || is->why != should[i].why ||
		    is->thread != TARE_NO_INDEX || is->process != 0)
			fail_msg("row %zu: %lld to %lld us of kind %d", row,
			         (long long)(is->from_ns - START) / 1000,
			         (long long)(is->to_ns - START) / 1000, (int)is->why);
	}
	tare_recording_free(r);
	rig_free(rig);
}

static void check(struct rig *rig, size_t row, const struct lost *should, size_t count)
{
	rig_end(rig);
	check_written(rig, row, should, count);
}

// The recorder tells no end of a process that another program took the place of; the writer does.
static void forget_end(const struct rig *rig)
{
	static const uint64_t none;
	char path[128];
	FILE *file;
	snprintf(path, sizeof path, "%s/a.trace", rig->directory);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, offsetof(struct tare_trace_header, end_ticks), SEEK_SET), 0);
	assert_int_equal(fwrite(&none, sizeof none, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

// The program's last record counts, not the recorder's.
static void a_file_that_stopped(void **state)
{
	static const struct {
		uint32_t state, helper;
		struct lost lost;
		size_t count;
	} rows[] = {
		{ TARE_TRACE_STOPPED, 0, { 40, 1000, TARE_LOSS_STOPPED }, 1 },
		{ TARE_TRACE_STOPPED, 1, { 40, 1000, TARE_LOSS_STOPPED }, 1 },
		{ TARE_TRACE_ENDED, 1, { 0 }, 0 },
		{ TARE_TRACE_EXEC, 1, { 0 }, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		header.state = rows[i].state;
		header.end_ticks = START + SECOND;
		begin(&rig, &header);
		command_at(&rig, 1, START + 40 * MS);
		if (rows[i].helper)
			cpu_time_at(&rig, HELPER, START + 900 * MS);
		check(&rig, i, &rows[i].lost, rows[i].count);
	}
}

// The first thread to fall silent after the last window was claimed is the one that found no room.
static void the_first_thread_without_room_counts(void **state)
{
	static const struct lost lost[] = { { 60, 1000, TARE_LOSS_STOPPED } };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	(void)state;
	header.state = TARE_TRACE_STOPPED;
	header.end_ticks = START + SECOND;
	begin(&rig, &header);
	for (uint32_t track = 1; track <= 3; track++)
		command_at(&rig, track, START + 20 * MS + track * MS);
	// Claims the last window, at its first record, when thread 1 has long ended.
	command_at(&rig, 4, START + 50 * MS);
	command_at(&rig, 2, START + 60 * MS);
	command_at(&rig, 4, START + 70 * MS);
	command_at(&rig, 3, START + 800 * MS);
	check(&rig, 0, lost, 1);
}

static void records_that_were_overwritten(void **state)
{
	static const struct {
		uint32_t first_number; // of the thread's commands before those that are left
		uint64_t recycled;
		struct lost lost;
		size_t count;
	} rows[] = {
		// Until the thread begins whose first command is gone, not one that was idle since.
		{ 500, 4000, { 0, 300, TARE_LOSS_RECYCLED }, 1 },
		// No thread shows it: until the last one begins.
		{ 0, 4000, { 0, 700, TARE_LOSS_RECYCLED }, 1 },
		{ 500, 0, { 0 }, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		header.flags = TARE_TRACE_KEEP_NEWEST;
		header.end_ticks = START + SECOND;
		header.recycled_records = rows[i].recycled;
		begin(&rig, &header);
		rig.number[2] = rows[i].first_number;
		command_at(&rig, 1, START + 10 * MS);
		command_at(&rig, 2, START + 300 * MS);
		cpu_time_at(&rig, 3, START + 700 * MS);
		cpu_time_at(&rig, HELPER, START + 800 * MS);
		check(&rig, i, &rows[i].lost, rows[i].count);
	}
}

static void delay_and_duration(void **state)
{
	static const struct {
		struct {
			int32_t on, at_ms;
		} marks[3]; // at 0: no more
		struct lost lost[2];
		size_t count;
	} rows[] = {
		{ { { 0, 1 }, { 1, 100 }, { 0, 400 } },
		  { { 1, 100, TARE_LOSS_INACTIVE }, { 400, 1000, TARE_LOSS_INACTIVE } },
		  2 },
		{ { { 0, 1 }, { 1, 100 } }, { { 1, 100, TARE_LOSS_INACTIVE } }, 1 },
		{ { { 0, 300 } }, { { 300, 1000, TARE_LOSS_INACTIVE } }, 1 },
		// The record that said it was not active has been overwritten.
		{ { { 1, 100 } }, { { 0, 100, TARE_LOSS_INACTIVE } }, 1 },
		{ { { 0, 300 }, { 0, 500 } }, { { 300, 1000, TARE_LOSS_INACTIVE } }, 1 },
		{ { { 0, 100 }, { 1, 200 }, { 1, 300 } }, { { 100, 200, TARE_LOSS_INACTIVE } }, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		header.end_ticks = START + SECOND;
		begin(&rig, &header);
		for (size_t k = 0; k < 3 && rows[i].marks[k].at_ms; k++)
			active_at(&rig, (uint16_t)rows[i].marks[k].on,
			          START + rows[i].marks[k].at_ms * MS);
		check(&rig, i, rows[i].lost, rows[i].count);
	}
}

// Between the last sign of life and the run's end, with a thread of the recorder's or without.
static void a_process_without_an_end(void **state)
{
	static const struct {
		uint32_t state;
		uint64_t end_ms; // 0: none
		int64_t run_ms;
		bool helper;
		struct lost lost;
		size_t count;
	} rows[] = {
		{ TARE_TRACE_RECORDING, 0, 900, true, { 500, 900, TARE_LOSS_NO_SIGN }, 1 },
		{ TARE_TRACE_RECORDING, 0, 60000, true, { 500, 60000, TARE_LOSS_NO_SIGN }, 1 },
		{ TARE_TRACE_RECORDING, 0, 60000, false, { 500, 60000, TARE_LOSS_NO_SIGN }, 1 },
		{ TARE_TRACE_RECORDING, 600, 900, true, { 0 }, 0 },
		{ TARE_TRACE_ENDED, 600, 900, true, { 0 }, 0 },
		{ TARE_TRACE_EXEC, 0, 900, true, { 0 }, 0 },
		// Still running.
		{ TARE_TRACE_RECORDING, 0, 400, true, { 0 }, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		char json[200];
		header.state = rows[i].state;
		header.alive_ticks = START + 500 * MS;
		header.end_ticks = rows[i].end_ms ? START + rows[i].end_ms * MS : 0;
		snprintf(json, sizeof json,
		         "{\"format\": \"tare.record/1\", \"start_raw_ns\": %lld, "
		         "\"end_raw_ns\": %lld, \"exit_status\": 0}",
		         (long long)START, (long long)(START + rows[i].run_ms * MS));
		rig_json(&rig, json);
		rig_begin(&rig, "a", &header);
		rig_usual(&rig);
		if (rows[i].helper)
			rig_add(&rig,
			        (union tare_trace_record){
			            .track = { .head = tare_trace_head(TARE_TRACE_TRACK, 0,
			                                               TARE_TRACE_HELPER, HELPER),
			                       .ticks = START,
			                       .tid = 99 } });
		command_at(&rig, 1, START + 10 * MS);
		rig_end(&rig);
		if (rows[i].state == TARE_TRACE_EXEC)
			forget_end(&rig);
		check_written(&rig, i, &rows[i].lost, rows[i].count);
	}
}

static void processes_are_in_the_order_of_their_starts(void **state)
{
	static const int64_t starts_ms[] = { 300, 100, 200, 100 };
	static const uint64_t pids[] = { 41, 43, 42, 40 };
	struct rig rig = rig_new();
	struct tare_recording *r;
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct tare_trace_header header = rig_header(40 + i);
		char name[2] = { (char)('a' + i), '\0' };
		header.start_raw_ns = START + starts_ms[i] * MS;
		header.start_ticks = (uint64_t)header.start_raw_ns;
		header.end_ticks = START + SECOND;
		rig_begin(&rig, name, &header);
		rig_end(&rig);
	}
	r = rig_load(&rig);
	assert_int_equal(r->process_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(r->processes[i].pid, pids[i]);
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_stopped),
		cmocka_unit_test(the_first_thread_without_room_counts),
		cmocka_unit_test(records_that_were_overwritten),
		cmocka_unit_test(delay_and_duration),
		cmocka_unit_test(a_process_without_an_end),
		cmocka_unit_test(processes_are_in_the_order_of_their_starts),
	};
	return cmocka_run_group_tests_name("recording_lost", tests, NULL, NULL);
}
