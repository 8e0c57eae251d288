// SPDX-License-Identifier: Apache-2.0
// Device times through a whole trace: mapped, refused, counted.
#include "clock_truth.h"

static void write_command(struct rig *rig, const struct command *c, const struct truth *truth,
                          uint64_t odd)
{
	uint32_t number = rig_command(
	    rig, 1, c->enter, 0,
	    (struct tare_trace_command){ .call_ticks = (uint32_t)(c->exit - c->enter) });
	rig_times(rig, 1, number,
	          (struct tare_trace_times){ .queued = shows(truth, c->queued) + odd,
	                                     .submitted = shows(truth, c->submitted) + odd,
	                                     .start = shows(truth, c->start) + odd,
	                                     .end = shows(truth, c->end) + odd,
	                                     .observed = (uint64_t)c->observed });
}

static void a_drifting_device_is_mapped_in_each_process(void **state)
{
	struct truth truths[] = { { 7200000000000, 100, 1 }, { 99, -100, 1 } };
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	static struct command commands[2][N];
	struct tare_recording *r;
	size_t next[2] = { 0 };
	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct tare_trace_header header = rig_header(42 + p);
		make_commands(commands[p], N, 1e6, 5e4, &random);
		rig_begin(&rig, p ? "b" : "a", &header);
		rig_usual(&rig);
		for (size_t i = 0; i < N; i++)
			write_command(&rig, &commands[p][i], &truths[p], i == 77 ? 4000000000 : 0);
		rig_end(&rig);
	}
	r = rig_load(&rig);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->command_count, 2 * N);
	for (size_t i = 0; i < 2 * N; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		uint32_t p = r->threads[c->thread].process == 0 ? 0 : 1;
		// Files may be read in any order.
		const struct command *truth = &commands[r->processes[p].pid - 42][next[p]];
		const struct tare_recorded_device *d = &r->devices[r->queues[c->queue].device];
		assert_true(c->enter_ns == truth->enter);
		assert_int_equal(d->clock_source, TARE_CLOCK_CAUSAL);
		assert_int_equal(d->contradictions, 1);
		assert_in_range(d->residual_ns, 1, 3000);
		// The sign is the device's clock's: one that is fast gains.
		assert_true(fabs(d->drift_ppm - truths[r->processes[p].pid - 42].fast_ppm) < 50);
		if (next[p]++ == 77) {
			assert_true(c->start_ns == TARE_NO_TIME && c->end_ns == TARE_NO_TIME);
			assert_int_equal(c->untimed, TARE_UNTIMED_UNUSABLE);
			continue;
		}
		assert_int_equal(c->untimed, 0);
		assert_true(llabs(c->start_ns - truth->start) <= d->residual_ns);
		assert_true(llabs(c->end_ns - truth->end) <= d->residual_ns);
		assert_true(llabs(c->submitted_ns - truth->submitted) <= d->residual_ns);
		assert_true(c->end_ns >= c->start_ns);
	}
	assert_int_equal(r->devices[1].same_as, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

// Stamps of no clock at all: no times, and all of it said.
static void most_contradictions_are_no_clock(void **state)
{
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static struct command commands[N];
	struct truth truth = { 5555555555, 0, 1 };
	struct tare_recording *r;
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (size_t i = 0; i < N; i++)
		write_command(&rig, &commands[i], &truth,
		              tare_random_below(&random, 3600000000000));
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_NONE);
	assert_true(r->devices[0].residual_ns == TARE_NO_TIME);
	for (size_t i = 0; i < N; i++) {
		assert_true(TARE_COMMAND(r, i)->start_ns == TARE_NO_TIME);
		assert_true(TARE_COMMAND(r, i)->end_ns == TARE_NO_TIME);
		assert_true(TARE_COMMAND(r, i)->submitted_ns == TARE_NO_TIME);
		assert_int_equal(TARE_COMMAND(r, i)->untimed, TARE_UNTIMED_UNUSABLE);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

// The closest readings agree on a clock; the stamps of most commands are not of it.
static void a_clock_that_most_commands_contradict_is_none(void **state)
{
	struct truth truth = { 5555555555, 0, 1 };
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static struct command commands[N];
	struct tare_recording *r;
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (size_t i = 0; i < N; i++) {
		struct command c = commands[i];
		if (i % 8) {
			c.exit += 100000;
			c.observed += 100000;
		}
		write_command(&rig, &c, &truth, i % 8 ? 50000000 : 0);
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_NONE);
	assert_in_range(r->devices[0].contradictions, N / 2, N);
	for (size_t i = 0; i < N; i++) {
		assert_true(TARE_COMMAND(r, i)->start_ns == TARE_NO_TIME);
		assert_int_equal(TARE_COMMAND(r, i)->untimed, TARE_UNTIMED_UNUSABLE);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

// Each is counted, and told from a command whose times never came.
static void stamps_that_cannot_be_are_counted(void **state)
{
	static const struct tare_trace_times rows[] = {
		{ .start = 0, .end = 500 },
		{ .start = 500, .end = 0 },
		{ .start = 500, .end = 400 },
		{ .start = 500, .end = 900000000 },
		// Possible by itself, but a second before its call.
		{ .start = (uint64_t)-1000000000, .end = (uint64_t)-999999900 },
		// Inside what is allowed for a contradiction.
		{ .start = (uint64_t)-3000, .end = (uint64_t)-2500 },
		// Submitted after the start, or long before the call: not used, no more.
		{ .submitted = 600, .start = 500, .end = 700 },
		{ .submitted = (uint64_t)-90000, .start = 500, .end = 700 },
	};
	enum { ROWS = sizeof rows / sizeof *rows, GOOD = 1000 };
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint64_t i = 0; i < GOOD + ROWS; i++) {
		uint64_t at = (uint64_t)START + i * 100000;
		uint32_t number =
		    rig_command(&rig, 1, (int64_t)at, 0, (struct tare_trace_command){ 0 });
		struct tare_trace_times t = { .queued = at + 100,
			                      .submitted = at + 200,
			                      .start = at + 1000,
			                      .end = at + 2000,
			                      .observed = at + 3000 };
		if (i >= GOOD) {
			const struct tare_trace_times *row = &rows[i - GOOD];
			t.submitted = row->submitted ? at + row->submitted : 0;
			t.start = row->start ? at + row->start : 0;
			t.end = row->end ? at + row->end : 0;
		}
		rig_times(&rig, 1, number, t);
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_SAME);
	assert_int_equal(r->devices[0].contradictions, 6);
	for (size_t i = 0; i < ROWS; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, GOOD + i);
		assert_int_equal(c->untimed, i < 5 ? TARE_UNTIMED_UNUSABLE : 0);
		assert_int_equal(c->start_ns == TARE_NO_TIME, i < 5);
		assert_true(c->submitted_ns == TARE_NO_TIME);
		if (i >= 5)
			assert_true(c->start_ns == c->enter_ns + (int64_t)rows[i].start);
	}
	tare_recording_free(r);
	rig_free(&rig);
}

// The nodes of a graph have times of their own: it lasts from the first start to the last end.
static void a_graph_lasts_from_its_first_node_to_its_last(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (uint32_t i = 1; i <= 5; i++) {
		uint64_t at = (uint64_t)START + i * 100000;
		rig_command(&rig, 1, (int64_t)at, 0,
		            (struct tare_trace_command){ .kind = TARE_KIND_GRAPH });
		for (uint64_t node = 1; node <= 3; node++)
			rig_times(&rig, 1, i,
			          (struct tare_trace_times){ .queued = at + 100,
			                                     .start = at + 4000 - 1000 * node,
			                                     .end = at + 4900 + 1000 * (node == 2),
			                                     .observed = at + 9000 + node,
			                                     .execution = node });
		// Said of a command whose times are known, it takes nothing away.
		rig_add(&rig, (union tare_trace_record){
		                  .untimed = { .head = tare_trace_head(TARE_TRACE_UNTIMED, 0,
		                                                       TARE_UNTIMED_NO_ROOM, 1),
		                               .command_track = 1,
		                               .command_number = i,
		                               .observed = at + 10000 } });
	}
	rig_end(&rig);
	r = rig_load(&rig);
	for (size_t i = 0; i < 5; i++) {
		assert_true(TARE_COMMAND(r, i)->start_ns == TARE_COMMAND(r, i)->enter_ns + 1000);
		assert_true(TARE_COMMAND(r, i)->end_ns == TARE_COMMAND(r, i)->enter_ns + 5900);
		assert_int_equal(TARE_COMMAND(r, i)->untimed, 0);
	}
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

static void pairs_in_the_trace_are_used(void **state)
{
	struct tare_random random = unchosen_seed();
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	static struct command commands[N];
	struct truth truth = { 7200000000000, 100, 1 };
	struct tare_recording *r;
	(void)state;
	make_commands(commands, N, 1e6, 5e4, &random);
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	for (size_t i = 0; i < N; i++) {
		int64_t at = commands[i].enter - 100;
		if (i % 50 == 0)
			rig_add(&rig, (union tare_trace_record){
			                  .clock_pair = {
			                      .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
			                                              TARE_CLOCK_DEVICE, 1),
			                      .before = (uint64_t)at - 300,
			                      .value = shows(&truth, at),
			                      .after = (uint64_t)at + 90,
			                      .device = DEVICE } });
		write_command(&rig, &commands[i], &truth, 0);
	}
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_PAIRS);
	assert_int_equal(r->devices[0].clock_pairs, N / 50);
	for (size_t i = 0; i < N; i++)
		assert_true(llabs(TARE_COMMAND(r, i)->start_ns - commands[i].start) <=
		            r->devices[0].residual_ns);
	tare_recording_free(r);
	rig_free(&rig);
}

static void draw(struct rig *rig, uint32_t track, uint32_t number, uint32_t chance)
{
	rig_add(rig, (union tare_trace_record){
	                 .drawn = { .head = tare_trace_head(TARE_TRACE_DRAWN, 0, 0, track),
	                            .number = number,
	                            .chance = chance } });
}

static void what_was_drawn_tells_its_chance(void **state)
{
	struct tare_trace_header header = rig_header(42);
	struct rig rig = rig_new();
	struct tare_recording *r;
	uint32_t last;
	(void)state;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	// The first to be entered comes last: it is written when it has returned.
	draw(&rig, 1,
	     rig_command(&rig, 1, START + 1000, 0,
	                 (struct tare_trace_command){ .call_ticks = 9000 }),
	     1u << 30);
	draw(&rig, 2, rig_command(&rig, 2, START + 2000, 0, (struct tare_trace_command){ 0 }),
	     1u << 31);
	last = rig_command(&rig, 2, START + 3000, 0, (struct tare_trace_command){ 0 });
	draw(&rig, 2, last + 1, 77); // nobody knows of which command
	rig_end(&rig);
	r = rig_load(&rig);
	rig_free(&rig);
	assert_int_equal(r->command_count, 3);
	assert_int_equal(r->draw_count, 2);
	assert_int_equal(r->unresolved, 1);
	assert_true(TARE_COMMAND(r, 0)->enter_ns < TARE_COMMAND(r, 1)->enter_ns);
	assert_true(tare_command_chance(r, 0) == 0.25);
	assert_true(tare_command_chance(r, 1) == 0.5);
	assert_true(tare_command_chance(r, 2) == 1);
	tare_recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drifting_device_is_mapped_in_each_process),
		cmocka_unit_test(most_contradictions_are_no_clock),
		cmocka_unit_test(a_clock_that_most_commands_contradict_is_none),
		cmocka_unit_test(stamps_that_cannot_be_are_counted),
		cmocka_unit_test(a_graph_lasts_from_its_first_node_to_its_last),
		cmocka_unit_test(pairs_in_the_trace_are_used),
		cmocka_unit_test(what_was_drawn_tells_its_chance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
