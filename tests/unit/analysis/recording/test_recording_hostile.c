// SPDX-License-Identifier: Apache-2.0
// Whatever the records say, loading ends, and the recording holds what others rely on: indices that
// are there or none, order, times that can be added.
#include "analysis/core/id_map.h"
#include "tests/unit/model/statistics/noise.h"
#include "tests/unit/trace/trace_rig.h"

static void assert_index(uint32_t index, size_t count)
{
	if (index != TARE_NO_INDEX && index >= count)
		fail_msg("index %u of %zu", index, count);
}

static void assert_time(int64_t ns)
{
	if (ns != TARE_NO_TIME && (ns < 0 || ns > INT64_C(1) << 62))
		fail_msg("time %lld", (long long)ns);
}

static void assert_commands(const struct tare_recording *r)
{
	for (size_t i = 0; i < r->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		if (i)
			assert_true(TARE_COMMAND(r, i - 1)->enter_ns <= c->enter_ns);
		assert_true(c->enter_ns <= c->exit_ns);
		assert_true(c->thread < r->thread_count && c->function < r->function_count);
		assert_index(c->queue, r->queue_count);
		assert_index(c->object,
		             c->kind == TARE_KIND_KERNEL ? r->kernel_count : r->memory_count);
		if (c->kind == TARE_KIND_KERNEL)
			assert_index((uint32_t)c->amount, r->shape_count);
		assert_index(c->first_wait, r->wait_count);
		for (size_t at = c->first_wait; at < r->wait_count; at++) {
			assert_true(r->waits[at].command < r->command_count ||
			            r->waits[at].command == 0x7fffffff);
			assert_true(r->waits[at].command != i);
			if (r->waits[at].last)
				break;
		}
		assert_true((c->start_ns == TARE_NO_TIME) == (c->end_ns == TARE_NO_TIME));
		assert_true(c->start_ns <= c->end_ns);
		if (c->start_ns != TARE_NO_TIME)
			assert_int_equal(c->untimed, 0);
		assert_true(c->untimed <= TARE_UNTIMED_NOT_ASKED ||
		            c->untimed == TARE_UNTIMED_UNUSABLE);
		assert_time(c->enter_ns);
		assert_time(c->exit_ns);
		assert_time(c->submitted_ns);
		assert_time(c->start_ns);
		assert_time(c->end_ns);
	}
}

static void assert_sites(const struct tare_recording *r)
{
	size_t frames = 0;
	for (size_t i = 0; i < r->stack_count; i++) {
		assert_true(r->stacks[i].process < r->process_count);
		assert_true(r->stacks[i].first_frame == frames && r->stacks[i].frame_count > 0);
		frames += r->stacks[i].frame_count;
	}
	assert_int_equal(frames, r->frame_count);
	for (size_t i = 0; i < r->command_count; i++)
		assert_index(TARE_COMMAND(r, i)->stack, r->stack_count);
	for (size_t i = 0; i < r->call_count; i++)
		assert_index(r->calls[i].stack, r->stack_count);
	for (size_t i = 0; i < r->module_count; i++)
		assert_true(r->modules[i].from < r->modules[i].to && r->modules[i].path &&
		            r->modules[i].build_id && r->modules[i].process < r->process_count);
	for (size_t i = 0; i < r->place_count; i++)
		assert_true(r->places[i].command < r->command_count &&
		            (!i || r->places[i - 1].command < r->places[i].command));
}

static void assert_phases(const struct tare_recording *r)
{
	for (size_t i = 0; i < r->phase_count; i++) {
		const struct tare_recorded_phase *p = &r->phases[i];
		assert_true(p->name && p->domain && p->thread < r->thread_count);
		assert_true(p->from_ns <= p->to_ns);
		assert_time(p->from_ns);
		assert_time(p->to_ns);
		assert_true(p->parent == TARE_NO_INDEX || p->parent < i);
		if (p->parent == TARE_NO_INDEX) {
			assert_int_equal(p->depth, 0);
			continue;
		}
		assert_int_equal(p->depth, r->phases[p->parent].depth + 1);
		assert_true(r->phases[p->parent].thread == p->thread && !p->range);
		assert_true(r->phases[p->parent].from_ns <= p->from_ns &&
		            p->to_ns <= r->phases[p->parent].to_ns);
	}
}

static void assert_sane(const struct tare_recording *r)
{
	assert_sites(r);
	assert_phases(r);
	assert_true(r->start_ns <= r->end_ns);
	assert_time(r->start_ns);
	assert_time(r->end_ns);
	assert_time(r->start_realtime_ns);
	assert_commands(r);
	for (size_t i = 0; i < r->call_count; i++) {
		const struct tare_recorded_call *c = &r->calls[i];
		if (i)
			assert_true(r->calls[i - 1].enter_ns <= c->enter_ns);
		assert_true(c->enter_ns <= c->exit_ns);
		assert_true(c->inside_ns >= 0 && c->inside_ns <= c->exit_ns - c->enter_ns);
		assert_true(c->thread < r->thread_count && c->function < r->function_count);
		assert_index(c->device, r->device_count);
		assert_true(c->role < TARE_ROLE_COUNT);
		assert_time(c->enter_ns);
		assert_time(c->exit_ns);
	}
	for (size_t i = 0; i < r->thread_count; i++) {
		const struct tare_recorded_thread *t = &r->threads[i];
		assert_true(t->first_sample + t->sample_count <= r->cpu_sample_count);
		assert_true(t->process < r->process_count);
		for (size_t k = 1; k < t->sample_count; k++) {
			const struct tare_cpu_sample *s = &r->cpu_samples[t->first_sample + k];
			assert_true(s[-1].at_ns <= s->at_ns && s[-1].cpu_ns <= s->cpu_ns);
		}
	}
	for (size_t i = 0; i < r->device_count; i++)
		assert_true(r->devices[i].same_as <= i &&
		            r->devices[r->devices[i].same_as].same_as == r->devices[i].same_as);
	for (size_t i = 0; i < r->queue_count; i++)
		assert_index(r->queues[i].device, r->device_count);
	for (size_t i = 0; i < r->kernel_count; i++)
		assert_index(r->kernels[i].program, r->program_count);
	for (size_t i = 0; i < r->kernel_fact_count; i++) {
		assert_true(r->kernel_facts[i].kernel < r->kernel_count);
		assert_index(r->kernel_facts[i].device, r->device_count);
	}
	for (size_t i = 0; i < r->memory_count; i++)
		assert_index(r->memories[i].parent, r->memory_count);
}

// Small numbers so that records meet, at times a wild one.
static uint64_t field(struct tare_random *random)
{
	switch (tare_random_below(random, 12)) {
	case 0:
		return tare_random_next(random);
	case 1:
		return UINT64_MAX - tare_random_below(random, 3);
	case 2:
		return (uint64_t)INT64_MAX + tare_random_below(random, 3);
	case 3:
	case 4:
	case 5:
	case 6:
		return (uint64_t)START + tare_random_below(random, 1000000000);
	default:
		return tare_random_below(random, 6);
	}
}

static union tare_trace_record random_record(struct tare_random *random)
{
	static const uint8_t types[] = { 3,  4,  5,  5,  5,  6,  6,  7,  8,  9,  9,  9,  9,
		                         10, 16, 17, 18, 18, 18, 18, 19, 20, 20, 21, 21, 21,
		                         22, 23, 24, 25, 26, 27, 27, 28, 31, 31, 33, 33 };
	union tare_trace_record record;
	uint8_t type = types[tare_random_below(random, sizeof types)];
	// Of definitions whose handles they are: mostly one API's, at times another's or nobody's.
	bool tagged =
	    type >= TARE_TRACE_OBJECT && type <= TARE_TRACE_CHANGE && tare_random_below(random, 4);
	for (size_t i = 0; i < 8; i++)
		record.words[i] = field(random);
	record.head = tare_trace_head(type, (uint8_t)tare_random_below(random, tagged ? 2 : 16),
	                              (uint16_t)tare_random_below(random, 10),
	                              (uint32_t)tare_random_below(random, 4));
	if (type == TARE_TRACE_COMMAND) {
		record.command.kind = (uint8_t)(1 + tare_random_below(random, 13));
		record.command.direction = (uint8_t)tare_random_below(random, 5);
		record.command.memory = (uint8_t)tare_random_below(random, 11);
		record.command.queue = (uint32_t)tare_random_below(random, 3);
		record.command.number = (uint32_t)(1 + tare_random_below(random, 6));
		record.command.call_ticks = (uint32_t)tare_random_below(random, 2000000);
	} else if (type == TARE_TRACE_TIMES || type == TARE_TRACE_UNTIMED) {
		record.times.command_track = (uint32_t)tare_random_below(random, 4);
		record.times.command_number = (uint32_t)(1 + tare_random_below(random, 6));
		record.times.execution = tare_random_below(random, 3);
	} else if (type == TARE_TRACE_OBJECT) {
		record.object.number = (uint32_t)tare_random_below(random, 4);
		record.object.name = (uint32_t)tare_random_below(random, 4);
	} else if (type == TARE_TRACE_STACK) {
		// Parts that overlap, are missing, belong to others, promise what does not come.
		record.stack.id = (uint32_t)(1 + tare_random_below(random, 3));
		record.stack.offset = (uint32_t)(tare_random_below(random, 3) ? 0 : field(random));
		record.stack.total = record.stack.offset + (uint32_t)field(random);
	} else if (type == TARE_TRACE_SITE) {
		record.site.stack = (uint32_t)(1 + tare_random_below(random, 4));
	} else if (type == TARE_TRACE_TRANSFER) {
		record.transfer.number = 1 + tare_random_below(random, 6);
	} else if (type == TARE_TRACE_CALL || type == TARE_TRACE_POLLED) {
		record.call.exit = record.call.enter + tare_random_below(random, 5000000);
	}
	return record;
}

static void random_records_make_a_sane_recording(void **state)
{
	struct tare_random random = unchosen_seed();
	size_t commands = 0, timed = 0, waits = 0, resolved = 0, stacks = 0, sited = 0, phases = 0;
	(void)state;
	for (int run = 0; run < 150; run++) {
		struct rig rig = rig_new();
		struct tare_recording *r;
		for (int p = 0; p < 1 + run % 2; p++) {
			struct tare_trace_header header = rig_header(42);
			if (run % 3 == 0)
				header.start_realtime_ns = (int64_t)field(&random);
			if (run % 3 == 1)
				header.boot_id[0] = tare_random_below(&random, 3);
			if (run % 5 == 0)
				header.alive_ticks = field(&random);
			rig_begin(&rig, p ? "b" : "a", &header);
			if (run % 4)
				rig_usual(&rig);
			for (int i = 0; i < 600; i++)
				rig_add(&rig, random_record(&random));
			rig_end(&rig);
		}
		r = rig_load(&rig);
		assert_sane(r);
		commands += r->command_count;
		waits += r->wait_count;
		stacks += r->stack_count;
		phases += r->phase_count;
		for (size_t i = 0; i < r->command_count; i++) {
			timed += TARE_COMMAND(r, i)->start_ns != TARE_NO_TIME;
			resolved += TARE_COMMAND(r, i)->object != TARE_NO_INDEX;
			sited += TARE_COMMAND(r, i)->stack != TARE_NO_INDEX;
		}
		tare_recording_free(r);
		rig_free(&rig);
	}
	// Otherwise nothing was tried.
	printf("# %zu commands, %zu with an object, %zu timed, %zu waits\n", commands, resolved,
	       timed, waits);
	printf("# %zu stacks, %zu commands with one, %zu phases\n", stacks, sited, phases);
	assert_true(commands > 1000 && waits > 100 && resolved > 100);
	assert_true(stacks > 100 && sited > 10 && phases > 100);
}

// A good trace with bytes changed anywhere.
static void changed_bytes_make_a_sane_recording(void **state)
{
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static char bytes[4 << 20];
	char path[128];
	size_t length;
	FILE *file;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t at = (uint64_t)START + i * 10000;
		rig_command(&rig, 1, (int64_t)at, TARE_COMMAND_DEPENDS,
		            (struct tare_trace_command){ .event = 0xe0 + i % 7 });
		rig_depends(&rig, 1, 0, i + 1, 2, (const uint64_t[]){ 0xe1, 0xe2 });
		rig_times(&rig, 1, i + 1,
		          (struct tare_trace_times){ .queued = at + 10,
		                                     .submitted = at + 20,
		                                     .start = at + 1100,
		                                     .end = at + 2000,
		                                     .observed = at + 3000 });
	}
	rig_end(&rig);
	snprintf(path, sizeof path, "%s/a.trace", rig.directory);
	file = fopen(path, "rb");
	assert_non_null(file);
	length = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_in_range(length, 10000, sizeof bytes - 1);
	for (int run = 0; run < 300; run++) {
		struct tare_recording *r = NULL;
		// Most of the file is hole: aim at what is written.
		size_t window = TARE_TRACE_HEADER_BYTES + (run % 2 ? TARE_TRACE_WINDOW_BYTES : 0);
		size_t changed = window + tare_random_below(&random, run % 2 ? 57600 : 3000);
		unsigned char kept;
		if (changed >= length)
			continue;
		kept = (unsigned char)bytes[changed];
		bytes[changed] = (char)(kept ^ 1u << tare_random_below(&random, 8));
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(bytes, 1, length, file), length);
		fclose(file);
		bytes[changed] = (char)kept;
		if (tare_recording_load(rig.directory, &r, &rig_error)) {
			assert_null(r);
			continue;
		}
		assert_sane(r);
		tare_recording_free(r);
	}
	rig_free(&rig);
}

// Whatever a header and record.json say of the time of day, and where one of them says nothing.
static void no_time_of_day_makes_a_sum_overflow(void **state)
{
	static const int64_t days[] = { INT64_MAX, INT64_MAX - START, INT64_MIN, -1, 0, 1 };
	static const char *const records[] = {
		NULL,
		"{}",
		"{\"host_name\":\"there\",\"start_realtime_ns\":2305843009213693952}",
		"{\"host_name\":\"there\",\"start_realtime_ns\":0,\"start_raw_ns\":"
		"2305843009213693952,"
		"\"end_raw_ns\":2305843009213693952}",
		"{\"host_name\":\"there\",\"start_realtime_ns\":2305843009213693952,\"start_raw_"
		"ns\":0,"
		"\"end_raw_ns\":2305843009213693952}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof days / sizeof *days; i++)
		for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
			struct rig rig = rig_new();
			struct tare_trace_header header = rig_header(42);
			struct tare_recording *r;
			header.start_realtime_ns = days[i];
			header.process_start_raw_ns = START - MS;
			rig_begin(&rig, "a", &header);
			rig_usual(&rig);
			rig_end(&rig);
			if (records[k])
				rig_json(&rig, records[k]);
			r = rig_load(&rig);
			assert_sane(r);
			tare_recording_free(r);
			rig_free(&rig);
		}
}

// Against an array that does the same.
static void the_map_keeps_what_was_put(void **state)
{
	enum { KEYS = 500 };
	struct tare_random random = unchosen_seed();
	struct tare_id_map map = { 0 };
	uint32_t truth[KEYS];
	size_t count = 0;
	(void)state;
	memset(truth, 0xff, sizeof truth);
	assert_int_equal(tare_id_map_find(&map, 5), TARE_ID_ABSENT);
	assert_int_equal(tare_id_map_take(&map, 5), TARE_ID_ABSENT);
	for (int step = 0; step < 100000; step++) {
		size_t key = tare_random_below(&random, KEYS);
		uint32_t value = (uint32_t)tare_random_below(&random, 1000);
		uint64_t spread = key * 64;
		if (tare_random_below(&random, 2)) {
			assert_true(tare_id_map_put(&map, spread, value));
			count += truth[key] == TARE_ID_ABSENT;
			truth[key] = value;
		} else {
			assert_int_equal(tare_id_map_take(&map, spread), truth[key]);
			count -= truth[key] != TARE_ID_ABSENT;
			truth[key] = TARE_ID_ABSENT;
		}
		assert_int_equal(map.count, count);
		key = tare_random_below(&random, KEYS);
		assert_int_equal(tare_id_map_find(&map, key * 64), truth[key]);
	}
	tare_id_map_free(&map);
}

// ---- many

static void stack(struct rig *rig, uint32_t id, uint32_t total, uint32_t offset, uint16_t frames,
                  uint64_t frame)
{
	rig_add(rig, (union tare_trace_record){
	                 .stack = { .head = tare_trace_head(TARE_TRACE_STACK, 0, frames, 0),
	                            .id = id,
	                            .total = total,
	                            .offset = offset,
	                            .frame = { frame, frame, frame, frame, frame } } });
}

// What a stack promises is not what is kept, and of one id the first definition counts.
static void stacks_that_promise_much_take_little(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	stack(&rig, 1, 1, 0, 1, 7);
	for (uint32_t i = 0; i < 20000; i++)
		stack(&rig, 2 + i, i % 2 ? UINT32_MAX : 1024, 0, 5, 8);
	stack(&rig, 1, 2, 0, 2, 9);
	rig_command(&rig, 1, START + MS, 0, (struct tare_trace_command){ 0 });
	rig_add(&rig,
	        (union tare_trace_record){
	            .site = {
	                .head = tare_trace_head(TARE_TRACE_SITE, 0, 0, 1), .of = 1, .stack = 1 } });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_sane(r);
	assert_int_equal(r->stack_count, 1);
	assert_int_equal(r->frame_count, 1);
	assert_int_equal(r->frames[0], 7);
	assert_int_equal(TARE_COMMAND(r, 0)->stack, 0);
	assert_int_equal(r->unresolved, 20001);
	tare_recording_free(r);
	rig_free(&rig);
}

static void mark(struct rig *rig, uint32_t track, uint16_t what, int64_t ticks, uint64_t value)
{
	rig_add(rig, (union tare_trace_record){
	                 .phase = { .head = tare_trace_head(TARE_TRACE_PHASE, 0, what, track),
	                            .ticks = (uint64_t)ticks,
	                            .value = value } });
}

// None of it may be looked for one by one: of millions that would take hours.
static void marks_and_transfers_without_balance_are_loaded(void **state)
{
	enum { MANY = 40000 };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	int64_t at = START;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	rig_track(&rig, 2, 4712, "other");
	rig_command(&rig, 2, at, 0,
	            (struct tare_trace_command){ .kind = TARE_KIND_WRITE, .object2 = 64 });
	for (uint64_t i = 0; i < MANY; i++, at += 1000) {
		rig_command(&rig, 1, at, 0,
		            (struct tare_trace_command){ .kind = TARE_KIND_WRITE, .object2 = 64 });
		// Of a command that many have followed.
		rig_add(&rig,
		        (union tare_trace_record){
		            .transfer = { .head = tare_trace_head(TARE_TRACE_TRANSFER, 0, 0, 2),
		                          .number = 1,
		                          .offset = i } });
		mark(&rig, 1, 1, at, 0);                  // begins that nothing ends
		mark(&rig, 1, 1, at, i + 1);              // of ranges
		mark(&rig, 2, 2, at, i % 2 * (i + MANY)); // ends of nothing
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_sane(r);
	assert_int_equal(r->command_count, MANY + 1);
	assert_int_equal(r->phase_count, 2 * MANY);
	assert_int_equal(r->place_count, MANY + 1);
	tare_recording_free(r);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_records_make_a_sane_recording),
		cmocka_unit_test(changed_bytes_make_a_sane_recording),
		cmocka_unit_test(stacks_that_promise_much_take_little),
		cmocka_unit_test(marks_and_transfers_without_balance_are_loaded),
		cmocka_unit_test(no_time_of_day_makes_a_sum_overflow),
		cmocka_unit_test(the_map_keeps_what_was_put),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
