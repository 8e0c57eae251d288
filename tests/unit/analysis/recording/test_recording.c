// SPDX-License-Identifier: Apache-2.0
// From a trace whose truth is known to the recording: objects, handles, joins, order.
#include "analysis/recording/internal.h"
#include "tests/unit/trace/trace_rig.h"

static void definitions_become_rows(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_fact(&rig, TARE_TRACE_FACT_VENDOR,
	         (struct tare_trace_fact_record){ .object = DEVICE, .ticks = START }, "Maker");
	rig_fact(&rig, TARE_TRACE_FACT_COMPUTE_UNITS,
	         (struct tare_trace_fact_record){ .object = DEVICE, .ticks = START, .value = 12 },
	         NULL);
	rig_fact(&rig, TARE_TRACE_FACT_GROUP_LIMIT,
	         (struct tare_trace_fact_record){ .object = DEVICE, .ticks = START, .value = 4096 },
	         NULL);
	rig_fact(&rig, TARE_TRACE_FACT_GROUP_LIMIT,
	         (struct tare_trace_fact_record){
	             .object = NORM, .ticks = START, .value = 256, .device = DEVICE },
	         NULL);
	rig_fact(&rig, TARE_TRACE_FACT_PRIVATE_BYTES,
	         (struct tare_trace_fact_record){
	             .object = NORM, .ticks = START, .value = 80, .device = DEVICE },
	         NULL);
	rig_fact(
	    &rig, TARE_TRACE_FACT_SOURCE_HASH,
	    (struct tare_trace_fact_record){ .object = PROGRAM, .ticks = START, .value = 0xabc },
	    NULL);
	rig_fact(&rig, TARE_TRACE_FACT_BUILD_OPTIONS,
	         (struct tare_trace_fact_record){ .object = PROGRAM, .ticks = START }, "-O2");
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->process_count, 1);
	assert_int_equal(r->processes[0].pid, 42);
	assert_string_equal(r->processes[0].command_line, "app --n 3");
	assert_int_equal(r->thread_count, 1);
	assert_int_equal(r->threads[0].tid, 4711);
	assert_string_equal(r->threads[0].name, "main");
	assert_int_equal(r->device_count, 1);
	assert_string_equal(r->devices[0].name, "Device X");
	assert_string_equal(r->devices[0].platform, "Portable");
	assert_string_equal(r->devices[0].vendor, "Maker");
	assert_int_equal(r->devices[0].compute_units, 12);
	assert_int_equal(r->devices[0].group_limit, 4096);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_NONE);
	assert_true(r->devices[0].residual_ns == TARE_NO_TIME);
	assert_int_equal(r->queue_count, 1);
	assert_int_equal(r->queues[0].device, 0);
	assert_int_equal(r->kernel_count, 2);
	assert_int_equal(r->kernels[1].program, 0);
	assert_string_equal(r->kernels[1].name, "norm");
	assert_int_equal(r->kernel_fact_count, 1);
	assert_int_equal(r->kernel_facts[0].kernel, 1);
	assert_int_equal(r->kernel_facts[0].device, 0);
	assert_int_equal(r->kernel_facts[0].group_limit, 256);
	assert_int_equal(r->kernel_facts[0].private_bytes, 80);
	assert_true(r->kernel_facts[0].spill_bytes == UINT64_MAX);
	assert_int_equal(r->programs[0].source_hash, 0xabc);
	assert_string_equal(r->programs[0].build_options, "-O2");
	assert_int_equal(r->memories[0].bytes, 4096);
	assert_int_equal(r->memories[0].context, 0);
	assert_int_equal(r->shape_count, 1);
	assert_int_equal(r->shapes[0].local[0], 64);
	assert_int_equal(r->unresolved, 0);
	assert_false(r->complete);
	tare_recording_free(r);
	rig_free(&rig);
}

// The handle of a kernel, a memory object and a queue is used again for another one.
static void a_handle_means_the_latest_object_before(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	// In no order of time.
	rig_object(&rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){
	               .handle = SCALE, .ticks = START + 30 * MS, .parent = PROGRAM },
	           "third");
	rig_object(&rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){
	               .handle = SCALE, .ticks = START + 20 * MS, .parent = PROGRAM },
	           "second");
	rig_object(&rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){
	               .handle = BUFFER, .ticks = START + 20 * MS, .parent = CONTEXT, .bytes = 5 },
	           NULL);
	// A kernel where a buffer was, and a buffer again.
	rig_object(&rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){
	               .handle = NORM, .ticks = START + 15 * MS, .parent = BUFFER, .bytes = 6 },
	           NULL);
	for (int64_t at = 1; at < 40; at += 10) {
		rig_command(&rig, 1, START + at * MS, 0, (struct tare_trace_command){ 0 });
		rig_command(&rig, 1, START + (at + 1) * MS, 0,
		            (struct tare_trace_command){
		                .kind = TARE_KIND_WRITE, .object = BUFFER, .amount = 77 });
	}
	rig_call(&rig, 1, F_RELEASE, TARE_CALL_RELEASED,
	         (struct tare_trace_call){
	             .enter = START + 50 * MS, .exit = START + 51 * MS, .object = BUFFER });
	// Not there yet.
	rig_command(
	    &rig, 1, START + 52 * MS, 0,
	    (struct tare_trace_command){ .kind = TARE_KIND_WRITE, .object = 0x999, .amount = 77 });
	rig_object(&rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){
	               .handle = 0x999, .ticks = START + 60 * MS, .parent = CONTEXT, .bytes = 7 },
	           NULL);
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, 9);
	static const char *const names[] = { "scale", "scale", "second", "third" };
	static const uint64_t bytes[] = { 4096, 4096, 5, 5 };
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(r->kernels[TARE_COMMAND(r, 2 * i)->object].name, names[i]);
		assert_int_equal(r->memories[TARE_COMMAND(r, 2 * i + 1)->object].bytes, bytes[i]);
	}
	assert_int_equal(TARE_COMMAND(r, 8)->object, TARE_NO_INDEX);
	assert_int_equal(r->unresolved, 1);
	assert_true(r->memories[0].released_ns == TARE_NO_TIME);
	assert_true(r->memories[1].released_ns == START + 50 * MS);
	// A part of the first buffer, in its context.
	assert_int_equal(r->memories[2].parent, 0);
	assert_int_equal(r->memories[2].context, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// A release lets go of the object that was there when the call began; a creation makes the one that
// is there when it ends.
static void calls_are_about_the_right_object(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_object(&rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){
	               .handle = BUFFER, .ticks = START + 25, .parent = CONTEXT, .bytes = 5 },
	           NULL);
	rig_call(
	    &rig, 1, F_RELEASE, TARE_CALL_RELEASED,
	    (struct tare_trace_call){ .enter = START + 20, .exit = START + 30, .object = BUFFER });
	rig_call(&rig, 1, F_CREATE, 0,
	         (struct tare_trace_call){
	             .enter = START + 40, .exit = START + 60, .object = BUFFER + 8, .bytes = 9 });
	rig_object(&rig, TARE_OBJECT_MEMORY,
	           (struct tare_trace_object){
	               .handle = BUFFER + 8, .ticks = START + 50, .parent = CONTEXT, .bytes = 9 },
	           NULL);
	rig_call(
	    &rig, 1, F_FINISH, 0,
	    (struct tare_trace_call){ .enter = START + 70, .exit = START + 80, .object = QUEUE });
	rig_call(&rig, 1, F_BUILD, TARE_CALL_FAILED,
	         (struct tare_trace_call){
	             .enter = START + 90, .exit = START + 99, .object = PROGRAM, .result = -11 });
	rig_add(&rig, (union tare_trace_record){
	                  .polled = { .head = tare_trace_head(TARE_TRACE_POLLED, TARE_CALL_NESTED,
	                                                      F_POLL, 1),
	                              .first_enter = START + 100,
	                              .last_exit = START + 200,
	                              .count = 40,
	                              .ticks = 30 } });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->call_count, 5);
	assert_true(r->memories[0].released_ns == START + 20);
	assert_true(r->memories[1].released_ns == TARE_NO_TIME);
	assert_int_equal(r->calls[0].object, 0);
	assert_int_equal(r->calls[1].object, 2);
	assert_int_equal(r->calls[2].object, 0); // the queue
	assert_int_equal(r->calls[2].device, 0);
	assert_int_equal(r->calls[2].role, TARE_ROLE_WAIT);
	assert_int_equal(r->calls[2].inside_ns, 10);
	assert_string_equal(r->functions[r->calls[2].function].name, "clFinish");
	assert_int_equal(r->calls[3].object, 0); // the program
	assert_int_equal(r->calls[3].result, -11);
	assert_int_equal(r->calls[3].flags, TARE_CALL_FAILED);
	assert_int_equal(r->calls[4].count, 40);
	assert_int_equal(r->calls[4].inside_ns, 30);
	assert_int_equal(r->calls[4].flags, TARE_CALL_NESTED);
	assert_true(r->calls[4].exit_ns == START + 200);
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// Times come out of order, some from another thread, some never.
static void what_comes_later_is_joined(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint32_t i = 1; i <= 6; i++)
		rig_command(&rig, 1, START + i * MS, i == 6 ? TARE_COMMAND_LONG : 0,
		            (struct tare_trace_command){ .call_ticks = i == 6 ? UINT32_MAX : 300 });
	rig_add(&rig, (union tare_trace_record){
	                  .call_end = { .head = tare_trace_head(TARE_TRACE_CALL_END, 0, 0, 1),
	                                .number = 6,
	                                .exit = START + 9000 * MS } });
	static const uint32_t order[] = { 3, 1, 6 };
	for (uint32_t k = 0; k < 3; k++) {
		uint64_t at = START + order[k] * MS;
		rig_times(&rig, k == 1 ? 1 : 2, order[k],
		          (struct tare_trace_times){ .queued = at + 100,
		                                     .submitted = at + 200,
		                                     .start = at + 300,
		                                     .end = at + 400 + order[k],
		                                     .observed = START + 9001 * MS });
	}
	rig_add(&rig, (union tare_trace_record){
	                  .untimed = { .head = tare_trace_head(TARE_TRACE_UNTIMED, 0,
	                                                       TARE_UNTIMED_FAILED, 1),
	                               .command_track = 1,
	                               .command_number = 2,
	                               .value = -5,
	                               .observed = START + 9002 * MS } });
	// Of a command that is not in the trace any more, and one told twice.
	rig_times(&rig, 1, 77,
	          (struct tare_trace_times){
	              .start = START, .end = START + 1, .observed = START + 9003 * MS });
	rig_times(&rig, 1, 1,
	          (struct tare_trace_times){
	              .start = START, .end = START + 1, .observed = START + 9003 * MS });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, 6);
	for (uint32_t i = 1; i <= 6; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i - 1);
		int64_t at = START + i * MS;
		assert_true(c->enter_ns == at);
		assert_true(c->exit_ns == (i == 6 ? START + 9000 * MS : at + 300));
		if (i == 3 || i == 1 || i == 6) {
			assert_true(c->submitted_ns == at + 200);
			assert_true(c->start_ns == at + 300);
			assert_true(c->end_ns == at + 400 + i);
		} else {
			assert_true(c->start_ns == TARE_NO_TIME);
			assert_int_equal(c->untimed, i == 2 ? TARE_UNTIMED_FAILED : 0);
		}
		assert_int_equal(c->amount, 0);
		assert_int_equal(c->queue, 0);
	}
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_SAME);
	assert_int_equal(r->devices[0].contradictions, 0);
	assert_int_equal(r->unresolved, 2);
	tare_recording_free(r);
	rig_free(&rig);
}

static void a_refused_enqueue_is_a_call(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	const uint64_t events[] = { 0xe1 };
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ .event = 0xe1 });
	rig_command(&rig, 1, START + 2 * MS, TARE_COMMAND_FAILED | TARE_COMMAND_DEPENDS,
	            (struct tare_trace_command){ .object2 = (uint64_t)-54 });
	rig_depends(&rig, 1, 0, 2, 1, events);
	rig_command(&rig, 1, START + 3 * MS, 0, (struct tare_trace_command){ 0 });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, 2);
	assert_int_equal(r->failed_commands, 1);
	assert_int_equal(r->call_count, 1);
	assert_int_equal(r->calls[0].result, -54);
	assert_int_equal(r->calls[0].role, TARE_ROLE_COMMAND);
	assert_int_equal(r->calls[0].flags, TARE_CALL_FAILED);
	assert_true(r->calls[0].enter_ns == START + 2 * MS);
	assert_true(r->calls[0].exit_ns == START + 2 * MS + 1000);
	assert_string_equal(r->functions[r->calls[0].function].name, "clEnqueueNDRangeKernel");
	assert_int_equal(r->wait_count, 0);
	assert_int_equal(TARE_COMMAND(r, 0)->first_wait, TARE_NO_INDEX);
	assert_int_equal(TARE_COMMAND(r, 1)->first_wait, TARE_NO_INDEX);
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

static void changes_queues_losses_and_samples(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_track(&rig, 2, 4712, "worker");
	rig_object(&rig, TARE_OBJECT_QUEUE,
	           (struct tare_trace_object){ .handle = QUEUE + 8,
	                                       .ticks = START,
	                                       .device = DEVICE,
	                                       .number = 2,
	                                       .properties = 3 },
	           NULL);
	rig_add(&rig, (union tare_trace_record){
	                  .change = { .head = tare_trace_head(TARE_TRACE_CHANGE, 0,
	                                                      TARE_CHANGE_PROFILING, 0),
	                              .object = QUEUE,
	                              .ticks = START,
	                              .to = 2 } });
	rig_add(&rig,
	        (union tare_trace_record){
	            .change = { .head = tare_trace_head(TARE_TRACE_CHANGE, 0, TARE_CHANGE_EVENT, 0),
	                        .object = QUEUE,
	                        .ticks = START } });
	for (uint32_t i = 1; i <= 5; i++)
		rig_command(&rig, 1, START + i * MS, i < 4 ? TARE_COMMAND_OWN_EVENT : 0,
		            (struct tare_trace_command){ .event = 0xe0 + i });
	for (uint64_t i = 0; i < 6; i++)
		rig_add(&rig, (union tare_trace_record){
		                  .cpu_time = {
		                      .head = tare_trace_head(TARE_TRACE_CPU_TIME, 0, 0, 1 + i % 2),
		                      .ticks = START + i * MS,
		                      .cpu_ns = 1000 * i } });
	rig_add(&rig, (union tare_trace_record){
	                  .cpu_time = { .head = tare_trace_head(TARE_TRACE_CPU_TIME, 0, 1, 2),
	                                .ticks = START + 9 * MS,
	                                .cpu_ns = 123456 } });
	rig_add(&rig, (union tare_trace_record){
	                  .loss = { .head = tare_trace_head(TARE_TRACE_LOSS, 0, 0, 2),
	                            .from = START + 9 * MS,
	                            .to = START + 10 * MS,
	                            .records = 7,
	                            .commands = 3 } });
	rig_add(&rig, (union tare_trace_record){
	                  .callback = { .head = tare_trace_head(TARE_TRACE_CALLBACK, 0, F_WAIT, 2),
	                                .enter = START + 11 * MS,
	                                .exit = START + 12 * MS } });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_true(r->queues[0].profiling_added && r->queues[0].profiling);
	assert_false(r->queues[0].out_of_order);
	assert_true(r->queues[1].profiling && r->queues[1].out_of_order);
	assert_false(r->queues[1].profiling_added);
	assert_int_equal(r->change_count, 2);
	assert_int_equal(r->changes[1].change, TARE_CHANGE_EVENT);
	assert_int_equal(r->changes[1].count, 1);
	assert_int_equal(r->changes[1].commands, 3);
	assert_int_equal(r->cpu_sample_count, 6);
	assert_int_equal(r->processes[0].cpu_ns, 123456);
	for (size_t t = 0; t < 2; t++) {
		const struct tare_recorded_thread *thread = &r->threads[t];
		assert_int_equal(thread->sample_count, 3);
		for (size_t i = 0; i < 3; i++) {
			const struct tare_cpu_sample *s = &r->cpu_samples[thread->first_sample + i];
			assert_true(s->at_ns == START + (int64_t)(2 * i + t) * MS);
			assert_int_equal(s->cpu_ns, 1000 * (2 * i + t));
		}
	}
	assert_int_equal(r->loss_count, 1);
	assert_int_equal(r->losses[0].commands, 3);
	assert_int_equal(r->losses[0].thread, 1);
	assert_int_equal(r->callback_count, 1);
	assert_true(r->callbacks[0].exit_ns == START + 12 * MS);
	tare_recording_free(r);
	rig_free(&rig);
}

// Four threads, calls nested in calls: everything in the order in which it was entered, nothing
// lost, and each with its thread.
static void many_threads_are_put_in_order(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	uint64_t seen[5] = { 0 };
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (int64_t i = 0; i < 3000; i++)
		for (uint32_t track = 1; track <= 4; track++) {
			// Lengths differ by thread and time, so ends come in another order.
			int64_t enter = START + i * 10000 + track * 7;
			int64_t length = 900 + (i * track * 1237) % 8000;
			if (i % 5 == 0)
				rig_command(&rig, track, enter + 100, TARE_COMMAND_NESTED,
				            (struct tare_trace_command){ .call_ticks = 200,
				                                         .event = 1000000 * track +
				                                                  (uint64_t)i });
			if (i % 5 == 1)
				rig_call(&rig, track, F_FINISH, TARE_CALL_NESTED,
				         (struct tare_trace_call){ .enter = (uint64_t)enter + 10,
				                                   .exit = (uint64_t)enter + 20,
				                                   .value = track });
			rig_command(&rig, track, enter, 0,
			            (struct tare_trace_command){ .call_ticks = (uint32_t)length });
			rig_call(
			    &rig, track, F_FINISH, 0,
			    (struct tare_trace_call){ .enter = (uint64_t)(enter + length),
			                              .exit = (uint64_t)(enter + length + 50) });
		}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, 4 * 3600);
	assert_int_equal(r->call_count, 4 * 3600);
	for (size_t i = 0; i < r->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		uint32_t track = r->threads[c->thread].track;
		if (i)
			assert_true(TARE_COMMAND(r, i - 1)->enter_ns <= c->enter_ns);
		assert_true((c->enter_ns - START) % 10000 % 100 == track * 7);
		seen[track]++;
	}
	for (size_t i = 1; i < r->call_count; i++)
		assert_true(r->calls[i - 1].enter_ns <= r->calls[i].enter_ns);
	for (uint32_t track = 1; track <= 4; track++)
		assert_int_equal(seen[track], 3600);
	tare_recording_free(r);
	rig_free(&rig);
}

// Of launches that are alike but for their times the first tells what the others mean; not where
// the handle has had two kernels, nor before it had one.
static void alike_launches_mean_what_their_time_says(void **state)
{
	enum { LATE = 0x777 };
	static const struct {
		int64_t enter_ms, call_ms;
		uint64_t handle;
		const char *kernel; // NULL: none yet
	} launches[] = {
		{ 1, 0, NORM, "norm" },   { 2, 0, NORM, "norm" },     { 4, 0, SCALE, "scale" },
		{ 5, 0, SCALE, "scale" }, { 31, 0, SCALE, "second" }, { 32, 0, SCALE, "second" },
		{ 33, 0, LATE, "late" },  { 34, 0, LATE, "late" },    { 6, 30, SCALE, "scale" },
		{ 7, 31, LATE, NULL },    { 39, 0, LATE, "late" },    { 40, 0, SCALE, "second" },
	};
	enum { LAUNCHES = sizeof launches / sizeof *launches };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_object(&rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){
	               .handle = SCALE, .ticks = START + 30 * MS, .parent = PROGRAM },
	           "second");
	rig_object(&rig, TARE_OBJECT_KERNEL,
	           (struct tare_trace_object){
	               .handle = LATE, .ticks = START + 30 * MS, .parent = PROGRAM },
	           "late");
	for (size_t i = 0; i < LAUNCHES; i++)
		rig_command(
		    &rig, 1, START + launches[i].enter_ms * MS, 0,
		    (struct tare_trace_command){ .call_ticks = (uint64_t)launches[i].call_ms * MS,
		                                 .object = launches[i].handle,
		                                 .amount = 1 });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, LAUNCHES);
	assert_int_equal(r->unresolved, 1);
	for (size_t i = 0; i < LAUNCHES; i++) {
		size_t at = 0;
		while (TARE_COMMAND(r, at)->enter_ns != START + launches[i].enter_ms * MS)
			at++;
		uint32_t kernel = TARE_COMMAND(r, at)->object;
		if (launches[i].kernel)
			assert_string_equal(r->kernels[kernel].name, launches[i].kernel);
		else
			assert_int_equal(kernel, TARE_NO_INDEX);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

// More kernels, and then shapes of one, than launches are remembered of, each again and again.
static void many_launches_are_told_apart(void **state)
{
	enum { MANY = 3 * LOADING_RECENT, LAUNCHES = 4 * MANY, FIRST = 0x8000 };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	char name[16];
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "k%u", i);
		rig_object(&rig, TARE_OBJECT_KERNEL,
		           (struct tare_trace_object){
		               .handle = FIRST + 8 * i, .ticks = START, .parent = PROGRAM },
		           name);
		rig_shape(&rig, 2 + i, 64 * (i + 1), 64);
	}
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		bool kernels = i < LAUNCHES / 2;
		rig_command(
		    &rig, 1, START + (i + 1) * MS, 0,
		    (struct tare_trace_command){ .object = FIRST + (kernels ? 8 * (i % MANY) : 0),
		                                 .amount = kernels ? 2 : 2 + i % MANY });
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->command_count, LAUNCHES);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		bool kernels = i < LAUNCHES / 2;
		snprintf(name, sizeof name, "k%u", kernels ? i % MANY : 0);
		assert_string_equal(r->kernels[c->object].name, name);
		assert_int_equal(r->shapes[c->amount].global[0],
		                 64 * ((kernels ? 0 : i % MANY) + 1));
	}
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_become_rows),
		cmocka_unit_test(a_handle_means_the_latest_object_before),
		cmocka_unit_test(calls_are_about_the_right_object),
		cmocka_unit_test(what_comes_later_is_joined),
		cmocka_unit_test(a_refused_enqueue_is_a_call),
		cmocka_unit_test(changes_queues_losses_and_samples),
		cmocka_unit_test(many_threads_are_put_in_order),
		cmocka_unit_test(alike_launches_mean_what_their_time_says),
		cmocka_unit_test(many_launches_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
