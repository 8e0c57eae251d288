// SPDX-License-Identifier: Apache-2.0
// What a CUDA recorder tells one by one: nodes of graphs, and pages that the driver moved by
// itself.
#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "tests/unit/trace/trace_rig.h"

enum { GRAPH = 0x800, LAUNCHED = 0x900, F_LAUNCH = 9 };

static void begin(struct rig *rig)
{
	struct tare_trace_header header = rig_header(42);
	*rig = rig_new();
	header.end_ticks = START + 5000 * MS;
	rig_begin(rig, "a", &header);
	rig_usual(rig);
	rig_function(rig, F_LAUNCH, "cuGraphLaunch", TARE_ROLE_COMMAND);
	for (int64_t at_ns = START; at_ns < START + 5000 * MS; at_ns += 1000 * MS)
		rig_add(rig, (union tare_trace_record){
		                 .clock_pair = { .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
		                                                         TARE_CLOCK_DEVICE, 1),
		                                 .before = (uint64_t)at_ns,
		                                 .after = (uint64_t)at_ns,
		                                 .value = (uint64_t)at_ns,
		                                 .device = DEVICE } });
}

static struct tare_recording *end(struct rig *rig)
{
	struct tare_recording *r;
	rig_end(rig);
	r = rig_load(rig);
	rig_free(rig);
	return r;
}

static void node(struct rig *rig, uint32_t id, struct tare_trace_node what)
{
	what.head = tare_trace_head(TARE_TRACE_NODE, 0, 0, 1);
	what.id = id;
	what.ticks = START + 9 * MS;
	rig_add(rig, (union tare_trace_record){ .node = what });
}

static uint32_t launch(struct rig *rig, int64_t at_ns)
{
	struct tare_trace_command c = { .head = tare_trace_head(TARE_TRACE_COMMAND, 0, F_LAUNCH, 1),
		                        .enter = (uint64_t)at_ns,
		                        .call_ticks = 1000,
		                        .number = ++rig->number[1],
		                        .kind = TARE_KIND_GRAPH,
		                        .queue = 1,
		                        .object = GRAPH,
		                        .event = LAUNCHED };
	rig_add(rig, (union tare_trace_record){ .command = c });
	return c.number;
}

static void ran(struct rig *rig, uint32_t number, uint32_t id, int64_t from_ns, int64_t to_ns)
{
	rig_add(rig,
	        (union tare_trace_record){
	            .times = { .head = tare_trace_head(
	                           TARE_TRACE_TIMES, TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END,
	                           TARE_TIMES_OF_NODE, 1),
	                       .command_track = 1,
	                       .command_number = number,
	                       .start = (uint64_t)from_ns,
	                       .end = (uint64_t)to_ns,
	                       .observed = START + 20 * MS,
	                       .execution = id } });
}

static void two_nodes(struct rig *rig)
{
	node(rig, 1,
	     (struct tare_trace_node){ .kind = TARE_KIND_KERNEL, .object = NORM, .amount = 1 });
	node(rig, 2,
	     (struct tare_trace_node){ .kind = TARE_KIND_WRITE,
	                               .direction = TARE_DIRECTION_TO_DEVICE,
	                               .memory = TARE_TRACE_MEMORY_PINNED,
	                               .amount = 4096 });
}

static void each_node_is_a_command_of_its_launch(void **state)
{
	struct tare_recording *r;
	struct rig rig;
	uint32_t first, second;
	(void)state;
	begin(&rig);
	two_nodes(&rig); // the rig writes definitions anywhere
	first = launch(&rig, START + 1 * MS);
	second = launch(&rig, START + 2 * MS);
	ran(&rig, first, 1, START + 3 * MS, START + 4 * MS);
	ran(&rig, second, 1, START + 6 * MS, START + 7 * MS);
	ran(&rig, first, 2, START + 4 * MS, START + 5 * MS);
	ran(&rig, first, 3, START + 4 * MS, START + 5 * MS); // no such node
	ran(&rig, 77, 1, START + 4 * MS, START + 5 * MS);    // no such launch
	r = end(&rig);
	assert_int_equal(r->command_count, 2 + 3);
	assert_int_equal(r->execution_count, 2);
	assert_int_equal(r->unresolved, 2 + 2); // and the graph of each launch, which nobody made
	assert_true(tare_command_only_executes(TARE_COMMAND(r, 0)));
	assert_int_equal(r->executions[0].runs, 2);
	assert_int_equal(r->executions[1].runs, 1);
	for (size_t i = 0; i < r->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		if (!tare_command_is_run(c))
			continue;
		assert_int_equal(c->enter_ns,
		                 TARE_COMMAND(r, r->executions[c->execution].command)->enter_ns);
		assert_int_equal(c->end_ns - c->start_ns, MS);
		assert_true(c->kind == TARE_KIND_WRITE
		                ? c->amount == 4096 && c->memory == TARE_TRACE_MEMORY_PINNED
		                : !strcmp(r->kernels[c->object].name, "norm"));
	}
	tare_recording_free(r);
}

static void who_waits_for_a_launch_waits_for_its_last_node(void **state)
{
	const struct tare_recorded_command *waiting;
	struct tare_recording *r;
	struct rig rig;
	uint32_t number, after;
	(void)state;
	begin(&rig);
	two_nodes(&rig);
	number = launch(&rig, START + 1 * MS);
	after = rig_command(&rig, 1, START + 2 * MS, TARE_COMMAND_DEPENDS,
	                    (struct tare_trace_command){ 0 });
	rig_depends(&rig, 1, 0, after, 1, (const uint64_t[]){ LAUNCHED });
	ran(&rig, number, 2, START + 4 * MS, START + 6 * MS);
	ran(&rig, number, 1, START + 3 * MS, START + 4 * MS);
	r = end(&rig);
	waiting = TARE_COMMAND(r, r->command_count - 1);
	assert_int_equal(waiting->enter_ns, START + 2 * MS);
	assert_true(waiting->first_wait < r->wait_count);
	assert_int_equal(TARE_COMMAND(r, r->waits[waiting->first_wait].command)->end_ns,
	                 START + 6 * MS);
	tare_recording_free(r);
}

static void pages(struct rig *rig, enum tare_trace_pages_what what, uint64_t value, int64_t from_ns,
                  int64_t to_ns)
{
	rig_add(rig, (union tare_trace_record){
	                 .pages = { .head = tare_trace_head(TARE_TRACE_PAGES, 0, what, 1),
	                            .queue = 1,
	                            .value = value,
	                            .start = (uint64_t)from_ns,
	                            .end = (uint64_t)to_ns,
	                            .observed = START + 30 * MS } });
}

static void what_the_driver_moves_nobody_enqueued(void **state)
{
	struct tare_recorded_faults faults;
	struct tare_recording *r;
	struct tare_view view;
	struct rig rig;
	(void)state;
	begin(&rig);
	pages(&rig, TARE_PAGES_TO_DEVICE, 65536, START + 5 * MS, START + 6 * MS);
	pages(&rig, TARE_PAGES_FROM_DEVICE, 4096, START + 3 * MS, START + 4 * MS);
	pages(&rig, TARE_PAGES_HOST_FAULTS, 1, START + 3 * MS, START + 3 * MS);
	pages(&rig, TARE_PAGES_HOST_FAULTS, 1, START + 4 * MS, START + 4 * MS);
	pages(&rig, TARE_PAGES_DEVICE_FAULTS, 7, START + 4 * MS, START + 5 * MS);
	pages(&rig, TARE_PAGES_THROTTLING, 4096, START + 4 * MS, START + 6 * MS);
	r = end(&rig);
	assert_int_equal(r->command_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		assert_true(tare_command_is_drivers(c) && c->kind == TARE_KIND_MIGRATE);
		assert_int_equal(c->enter_ns, c->start_ns);
		assert_int_equal(c->end_ns - c->start_ns, MS);
		assert_int_equal(tare_command_launch_ns(r, c), 0);
	}
	// in the order of time
	assert_int_equal(TARE_COMMAND(r, 0)->direction, TARE_DIRECTION_FROM_DEVICE);
	view = tare_view_all(r);
	faults = tare_device_faults(r, &view, 0);
	assert_int_equal(faults.host_faults, 2);
	assert_int_equal(faults.device_faults, 7);
	assert_int_equal(faults.device_groups, 1);
	assert_int_equal(faults.throttled_ns, 2 * MS);
	tare_recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_is_a_command_of_its_launch),
		cmocka_unit_test(who_waits_for_a_launch_waits_for_its_last_node),
		cmocka_unit_test(what_the_driver_moves_nobody_enqueued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
