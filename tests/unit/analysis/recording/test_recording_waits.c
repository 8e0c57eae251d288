// SPDX-License-Identifier: Apache-2.0
// What a recording knows of dependencies and waits.
#include "tests/unit/trace/trace_rig.h"

// The commands that `command` waits for, by the millisecond at which they were entered; 0: none.
static void assert_waits(const struct tare_recording *r, size_t command, const int64_t *wanted,
                         size_t n)
{
	size_t at = TARE_COMMAND(r, command)->first_wait;
	for (size_t i = 0; i < n; i++, at++) {
		uint32_t on = r->waits[at].command;
		assert_in_range(at, 0, r->wait_count - 1);
		if (wanted[i])
			assert_true(TARE_COMMAND(r, on)->enter_ns == START + wanted[i] * MS);
		else
			assert_int_equal(on, 0x7fffffff);
		assert_int_equal(r->waits[at].last, i + 1 == n);
	}
}

// Two threads whose records interleave, event handles that are used again, user events, lists
// longer than a record. The first thread's calls end late, so commands change places.
static void dependencies_follow_the_latest_event(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_track(&rig, 2, 4712, "worker");
	rig_object(&rig, TARE_OBJECT_EVENT,
	           (struct tare_trace_object){ .handle = 0xe9, .ticks = START + 1 }, NULL);
	rig_object(&rig, TARE_OBJECT_EVENT,
	           (struct tare_trace_object){ .handle = 0xe2, .ticks = START + 40 * MS }, NULL);
	// Entered first, returned last.
	rig_command(&rig, 2, START + 1 * MS, TARE_COMMAND_BLOCKING | TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ .call_ticks = 30 * MS, .event = 0xe3 });
	rig_depends(&rig, 2, 0, 1, 2, (const uint64_t[]){ 0xe9, 0xe8 });
	rig_depends(&rig, 2, 0, 1, 1, (const uint64_t[]){ 0xe1 }); // came later: not this one
	rig_command(&rig, 1, START + 2 * MS, 0, (struct tare_trace_command){ .event = 0xe1 });
	rig_command(&rig, 1, START + 3 * MS, 0, (struct tare_trace_command){ .event = 0xe2 });
	rig_command(&rig, 1, START + 4 * MS, TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ .event = 0xe4 });
	rig_depends(&rig, 1, 0, 3, 2, (const uint64_t[]){ 0xe1, 0xe2 });
	rig_command(&rig, 1, START + 5 * MS, 0, (struct tare_trace_command){ .event = 0xe1 });
	rig_command(&rig, 1, START + 6 * MS, TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ 0 });
	rig_depends(&rig, 1, 0, 5, 6, (const uint64_t[]){ 0xe1, 0xe1, 0xe2, 0xe2, 0xe4, 0xe9 });
	rig_depends(&rig, 1, 0, 5, 1, (const uint64_t[]){ 0xe1 });
	rig_command(&rig, 1, START + 45 * MS, TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ 0 });
	// 0xe2 is a user event by now.
	rig_depends(&rig, 1, 0, 6, 2, (const uint64_t[]){ 0xe3, 0xe2 });
	// The recorder's own event is nobody else's, though its handle be the same.
	rig_command(&rig, 1, START + 50 * MS, TARE_COMMAND_OWN_EVENT,
	            (struct tare_trace_command){ .event = 0xe3 });
	rig_command(&rig, 1, START + 51 * MS, TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ 0 });
	rig_depends(&rig, 1, 0, 8, 1, (const uint64_t[]){ 0xe3 });
	rig_depends(&rig, 1, 0, 77, 1, (const uint64_t[]){ 0xe3 }); // of no command
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, 9);
	for (size_t i = 1; i < 9; i++)
		assert_true(TARE_COMMAND(r, i - 1)->enter_ns <= TARE_COMMAND(r, i)->enter_ns);
	assert_waits(r, 0, (const int64_t[]){ 0, 0, 0 }, 3);
	assert_waits(r, 3, (const int64_t[]){ 2, 3 }, 2);
	assert_waits(r, 5, (const int64_t[]){ 5, 5, 3, 3, 4, 0, 5 }, 7);
	assert_waits(r, 6, (const int64_t[]){ 1, 0 }, 2);
	assert_waits(r, 8, (const int64_t[]){ 1 }, 1);
	assert_int_equal(TARE_COMMAND(r, 1)->first_wait, TARE_NO_INDEX);
	assert_int_equal(r->wait_count, 15);
	assert_int_equal(r->unresolved, 3); // 0xe8, 0xe1 before it was there, number 77
	tare_recording_free(r);
	rig_free(&rig);
}

static void a_wait_for_events_is_about_their_queue(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_object(&rig, TARE_OBJECT_QUEUE,
	           (struct tare_trace_object){ .handle = QUEUE + 8,
	                                       .ticks = START,
	                                       .parent = CONTEXT,
	                                       .device = DEVICE,
	                                       .number = 2 },
	           NULL);
	rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ .event = 0xe1 });
	rig_command(&rig, 1, START + 2 * MS, 0,
	            (struct tare_trace_command){ .event = 0xe2, .queue = 2 });
	rig_call(&rig, 1, F_WAIT, 0,
	         (struct tare_trace_call){
	             .enter = START + 3 * MS, .exit = START + 4 * MS, .value = 1 });
	rig_depends(&rig, 1, TARE_DEPENDS_OF_CALL, START + 3 * MS, 1, (const uint64_t[]){ 0xe2 });
	// Told before the call, and of two queues.
	rig_depends(&rig, 1, TARE_DEPENDS_OF_CALL, START + 5 * MS, 2,
	            (const uint64_t[]){ 0xe1, 0xe2 });
	rig_call(&rig, 1, F_WAIT, 0,
	         (struct tare_trace_call){
	             .enter = START + 5 * MS, .exit = START + 6 * MS, .value = 2 });
	rig_call(&rig, 1, F_WAIT, 0,
	         (struct tare_trace_call){
	             .enter = START + 7 * MS, .exit = START + 8 * MS, .value = 2 });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->call_count, 3);
	assert_int_equal(r->calls[0].object, 1);
	assert_int_equal(r->calls[0].device, 0);
	assert_int_equal(r->calls[1].object, TARE_NO_INDEX);
	assert_int_equal(r->calls[1].device, 0);
	assert_int_equal(r->calls[2].object, TARE_NO_INDEX);
	assert_int_equal(r->calls[2].device, TARE_NO_INDEX);
	tare_recording_free(r);
	rig_free(&rig);
}

// Of a command that has one alone, as Level Zero's have no submission, a row has room for it.
static void waits_take_no_pairs_without_submissions(void **state)
{
	enum { MANY = 40 };
	(void)state;
	for (int submissions = 0; submissions < 2; submissions++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		struct tare_recording *r;
		rig_begin(&rig, "a", &header);
		rig_usual(&rig);
		for (uint32_t i = 0; i < MANY; i++) {
			int64_t at = START + (i + 1) * MS;
			uint64_t event = 0xe0 + i;
			rig_command(&rig, 1, at, i ? TARE_COMMAND_DEPENDS : 0,
			            (struct tare_trace_command){ .event = event });
			if (i)
				rig_depends(&rig, 1, 0, i + 1, 1, &(uint64_t){ event - 1 });
			rig_times(&rig, 1, i + 1,
			          (struct tare_trace_times){
			              .observed = (uint64_t)at + MS / 2,
			              .submitted = submissions ? (uint64_t)at + 1000 : 0,
			              .start = (uint64_t)at + 2000,
			              .end = (uint64_t)at + 3000 });
		}
		rig_end(&rig);
		r = rig_load(&rig);
		assert_int_equal(r->command_count, MANY);
		assert_int_equal(r->commands.pair_count, submissions ? MANY - 1 : 0);
		assert_int_equal(r->commands.whole_count, 0);
		for (size_t i = 0; i < MANY; i++) {
			const struct tare_recorded_command *c = TARE_COMMAND(r, i);
			assert_true(c->start_ns != TARE_NO_TIME);
			assert_true(c->end_ns - c->start_ns == 1000);
			assert_int_equal(c->submitted_ns != TARE_NO_TIME, submissions);
			assert_int_equal(c->first_wait, i ? i - 1 : TARE_NO_INDEX);
		}
		tare_recording_free(r);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_follow_the_latest_event),
		cmocka_unit_test(a_wait_for_events_is_about_their_queue),
		cmocka_unit_test(waits_take_no_pairs_without_submissions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
