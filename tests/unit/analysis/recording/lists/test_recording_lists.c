// SPDX-License-Identifier: Apache-2.0
// Command lists as a recorder of Level Zero writes them: what is appended runs once an execution,
// is counted when nothing is told of it, and no record makes more of it than the file could hold.
#include "analysis/ledger/ledger.h"
#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "tests/unit/trace/trace_rig.h"

enum { LIST = 0x800, NUMBER = 7, EVENT = 0x900, F_EXECUTE = 9 };
#define CALL_NS 1000

static void add_list(struct rig *rig, uint64_t handle, uint32_t number, int64_t at_ns)
{
	rig_object(rig, TARE_OBJECT_GRAPH,
	           (struct tare_trace_object){ .handle = handle,
	                                       .ticks = (uint64_t)at_ns,
	                                       .parent = CONTEXT,
	                                       .device = DEVICE,
	                                       .number = number },
	           NULL);
}

static void read_clocks(struct rig *rig, int64_t at_ns, int64_t width_ns, uint64_t value)
{
	rig_add(rig, (union tare_trace_record){
	                 .clock_pair = { .head = tare_trace_head(TARE_TRACE_CLOCK_PAIR, 0,
	                                                         TARE_CLOCK_DEVICE, 1),
	                                 .before = (uint64_t)at_ns,
	                                 .after = (uint64_t)(at_ns + width_ns),
	                                 .value = value,
	                                 .device = DEVICE } });
}

static void begin_bare(struct rig *rig)
{
	struct tare_trace_header header = rig_header(42);
	*rig = rig_new();
	header.end_ticks = START + 5000 * MS;
	rig_begin(rig, "a", &header);
	rig_usual(rig);
	rig_function(rig, F_EXECUTE, "zeCommandQueueExecuteCommandLists", TARE_ROLE_COMMAND);
	add_list(rig, LIST, NUMBER, START);
}

static void begin(struct rig *rig)
{
	begin_bare(rig);
	// The device counts the host's nanoseconds, to the nanosecond.
	for (int64_t i = 0; i < 5; i++)
		read_clocks(rig, START + i * 1000 * MS, 0, (uint64_t)(START + i * 1000 * MS));
}

static struct tare_recording *end(struct rig *rig)
{
	struct tare_recording *r;
	rig_end(rig);
	r = rig_load(rig);
	rig_free(rig);
	return r;
}

static uint32_t append(struct rig *rig, int64_t at_ns, uint8_t flags, struct tare_trace_command c)
{
	c.queue = c.queue ? c.queue : NUMBER;
	return rig_command(rig, 1, at_ns, flags, c);
}

// A command that executes, without what it says of it.
static uint32_t call_execute(struct rig *rig, int64_t at_ns, uint64_t list)
{
	struct tare_trace_command c = {
		.head = tare_trace_head(TARE_TRACE_COMMAND, TARE_COMMAND_NO_TIMES, F_EXECUTE, 1),
		.enter = (uint64_t)at_ns,
		.call_ticks = CALL_NS,
		.number = ++rig->number[1],
		.kind = TARE_KIND_GRAPH,
		.queue = 1,
		.object = list
	};
	rig_add(rig, (union tare_trace_record){ .command = c });
	return c.number;
}

static void tell_execute(struct rig *rig, uint32_t number, uint64_t list, uint64_t execution,
                         uint64_t nodes)
{
	rig_add(rig, (union tare_trace_record){
	                 .execute = { .head = tare_trace_head(TARE_TRACE_EXECUTE, 0, 0, 1),
	                              .command_track = 1,
	                              .command_number = number,
	                              .graph = list,
	                              .execution = execution,
	                              .nodes = nodes } });
}

static void execute(struct rig *rig, int64_t at_ns, uint64_t execution, uint64_t nodes)
{
	tell_execute(rig, call_execute(rig, at_ns, LIST), LIST, execution, nodes);
}

static void run_times(struct rig *rig, uint32_t template, uint64_t execution, int64_t from_ns,
                      int64_t to_ns)
{
	rig_times(rig, 1, template,
	          (struct tare_trace_times){ .start = (uint64_t)from_ns,
	                                     .end = (uint64_t)to_ns,
	                                     .observed = (uint64_t)to_ns + 500,
	                                     .execution = execution });
}

static struct tare_tables tables_of(const struct tare_recording *r, struct tare_ledgers *ledgers)
{
	struct tare_view view = tare_view_all(r);
	struct tare_tables tables;
	assert_int_equal(tare_ledgers_compute(r, &view, ledgers, &rig_error), 0);
	assert_int_equal(tare_tables_compute(r, &view, ledgers, NULL, 0, &tables, &rig_error), 0);
	return tables;
}

static void parts_are_the_wall(const struct tare_ledgers *ledgers)
{
	for (size_t i = 0; i < ledgers->count; i++) {
		int64_t sum_ns = 0;
		for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
			sum_ns += ledgers->ledgers[i].parts_ns[k];
		assert_true(sum_ns == ledgers->ledgers[i].wall_ns);
	}
}

// A write and a kernel, run so many times 10 µs and 30 µs each, 100 µs apart. With `missing` one
// time of each ten does not come.
static void run_many(int executions, bool missing)
{
	struct rig rig;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	uint32_t write, kernel;
	int64_t timed = 0;
	begin(&rig);
	write = append(&rig, START + 1000, 0,
	               (struct tare_trace_command){ .kind = TARE_KIND_WRITE,
	                                            .direction = TARE_DIRECTION_TO_DEVICE,
	                                            .object = BUFFER,
	                                            .amount = 4096 });
	kernel = append(&rig, START + 3000, 0, (struct tare_trace_command){ 0 });
	for (int i = 0; i < executions; i++) {
		int64_t at_ns = START + MS + i * INT64_C(100000);
		bool gone = missing && i % 10 == 0;
		execute(&rig, at_ns, (uint64_t)i + 1, 2);
		run_times(&rig, write, (uint64_t)i + 1, at_ns + 5000, at_ns + 15000);
		if (!gone)
			run_times(&rig, kernel, (uint64_t)i + 1, at_ns + 20000, at_ns + 50000);
		timed += 1 + !gone;
	}
	struct tare_recording *r = end(&rig);
	assert_int_equal(r->unresolved, 0);
	assert_int_equal(r->command_count, 3 * executions);
	assert_int_equal(r->list_count, 1);
	assert_int_equal(r->lists[0].commands, 2);
	assert_int_equal(r->lists[0].executions, executions);
	tables = tables_of(r, &ledgers);
	assert_int_equal(tables.task_count, 1);
	assert_int_equal(tables.tasks[0].instances, executions);
	assert_int_equal(tables.tasks[0].timed, timed - executions);
	assert_int_equal(tables.tasks[0].total_ns, 30000 * (timed - executions));
	assert_int_equal(tables.tasks[0].launch_total_ns, executions * CALL_NS / 2);
	assert_int_equal(tables.transfer_count, 1);
	assert_int_equal(tables.transfers[0].count, executions);
	assert_int_equal(tables.transfers[0].bytes, 4096 * executions);
	assert_int_equal(tables.coverage.enqueued, 2 * executions);
	assert_int_equal(tables.coverage.completed, timed);
	assert_int_equal(tables.coverage.unobserved, 2 * executions - timed);
	// Two were appended; each execution is one call, whatever it ran.
	assert_int_equal(tables.coverage.calls, 2 + executions);
	for (size_t i = 0; i < tables.api_count; i++)
		if (!strcmp(tables.api[i].function, "zeCommandQueueExecuteCommandLists")) {
			assert_int_equal(tables.api[i].count, executions);
			assert_int_equal(tables.api[i].total_ns, executions * CALL_NS);
		} else {
			assert_int_equal(tables.api[i].count, 1);
		}
	parts_are_the_wall(&ledgers);
	assert_true(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL] ==
	            30000 * (timed - executions));
	assert_true(ledgers.ledgers[0].parts_ns[TARE_LEDGER_TO_DEVICE] == 10000 * executions);
	// What was not observed is no idle time that something else is said of.
	assert_true((ledgers.ledgers[0].parts_ns[TARE_LEDGER_UNTIMED] > 0) == missing);
	tare_tables_free(&tables);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

static void each_execution_is_a_run(void **state)
{
	(void)state;
	run_many(1, false);
	run_many(10, false);
	run_many(1000, false);
	run_many(10, true);
	run_many(1000, true);
}

static void untimed(struct rig *rig, uint32_t template, uint64_t execution)
{
	rig_add(rig, (union tare_trace_record){
	                 .untimed = {
	                     .head = tare_trace_head(TARE_TRACE_UNTIMED, 0, TARE_UNTIMED_REUSED, 1),
	                     .command_track = 1,
	                     .command_number = template,
	                     .execution = execution } });
}

// The times of a run may be read before the call that executes its list: it was long, and what it
// executed was complete before it returned. Times of no run at all are counted still.
static void times_may_come_before_their_execution(void **state)
{
	struct rig rig;
	uint32_t kernel;
	(void)state;
	begin(&rig);
	kernel = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
	run_times(&rig, kernel, 1, START + MS + 100, START + MS + 200);
	execute(&rig, START + MS, 1, 1);
	run_times(&rig, kernel, 7, START + 2 * MS, START + 3 * MS);
	struct tare_recording *r = end(&rig);
	assert_int_equal(r->unresolved, 1);
	assert_int_equal(r->command_count, 2);
	assert_int_equal(TARE_COMMAND(r, 1)->untimed, 0);
	assert_true(TARE_COMMAND(r, 1)->end_ns - TARE_COMMAND(r, 1)->start_ns == 100);
	tare_recording_free(r);
}

// So may why there are none, and what each sub-device did; of a device that has none nothing is
// kept, but the command was found.
static void all_of_a_run_may_come_before_its_execution(void **state)
{
	struct rig rig;
	uint32_t kernel;
	(void)state;
	begin(&rig);
	kernel = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
	untimed(&rig, kernel, 1);
	rig_add(&rig, (union tare_trace_record){
	                  .part = { .head = tare_trace_head(TARE_TRACE_PART, 2, 0, 1),
	                            .command_track = 1,
	                            .command_number = kernel,
	                            .execution = 1 } });
	execute(&rig, START + MS, 1, 1);
	untimed(&rig, kernel, 7);
	struct tare_recording *r = end(&rig);
	assert_int_equal(r->unresolved, 1);
	assert_int_equal(tare_command_unobserved(TARE_COMMAND(r, 1)), TARE_UNOBSERVED_REUSED);
	tare_recording_free(r);
}

// The idle time before a run ends with the call that executes its list, not with the one that
// appended.
static void a_run_is_enqueued_when_its_list_is_executed(void **state)
{
	struct rig rig;
	struct tare_ledgers ledgers;
	uint32_t kernel;
	(void)state;
	begin(&rig);
	kernel = append(&rig, START + 1 * MS, 0, (struct tare_trace_command){ .call_ticks = MS });
	execute(&rig, START + 10 * MS, 1, 1);
	run_times(&rig, kernel, 1, START + 10 * MS + 5000, START + 11 * MS);
	struct tare_recording *r = end(&rig);
	struct tare_view view = tare_view_all(r);
	assert_int_equal(tare_ledgers_compute(r, &view, &ledgers, &rig_error), 0);
	const int64_t *parts_ns = ledgers.ledgers[0].parts_ns;
	assert_true(parts_ns[TARE_LEDGER_API] == MS + CALL_NS);
	assert_true(parts_ns[TARE_LEDGER_DISPATCH] == 5000 - CALL_NS);
	assert_true(parts_ns[TARE_LEDGER_KERNEL] == MS - 5000);
	parts_are_the_wall(&ledgers);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

// Two lists in one call are one call; the second begins where the first one's commands did.
static void one_call_may_execute_several(void **state)
{
	struct rig rig;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	uint32_t first, second, one, two;
	(void)state;
	begin(&rig);
	add_list(&rig, LIST + 8, NUMBER + 1, START);
	first = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
	second =
	    append(&rig, START + 3000, 0,
	           (struct tare_trace_command){ .queue = NUMBER + 1, .object = NORM, .amount = 1 });
	one = call_execute(&rig, START + MS, LIST);
	two = call_execute(&rig, START + MS, LIST + 8);
	tell_execute(&rig, one, LIST, 1, 1);
	tell_execute(&rig, two, LIST + 8, 1, 1);
	run_times(&rig, second, 1, START + 3 * MS, START + 4 * MS);
	run_times(&rig, first, 1, START + 2 * MS, START + 3 * MS);
	struct tare_recording *r = end(&rig);
	tables = tables_of(r, &ledgers);
	assert_int_equal(tables.task_count, 2);
	assert_int_equal(tables.tasks[0].launch_total_ns, CALL_NS / 2);
	assert_int_equal(tables.tasks[1].launch_total_ns, CALL_NS / 2);
	for (size_t i = 0; i < tables.api_count; i++)
		if (tables.api[i].nested) {
			assert_int_equal(tables.api[i].count, 2);
			assert_int_equal(tables.api[i].total_ns, CALL_NS);
		}
	assert_true(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL] == 2 * MS);
	parts_are_the_wall(&ledgers);
	tare_tables_free(&tables);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

// A list that is reset is another one, under the same handle, and the same number or another.
static void a_list_that_is_reset_is_another(void **state)
{
	(void)state;
	for (uint32_t number = NUMBER; number <= NUMBER + 1; number++) {
		struct rig rig;
		uint32_t before, after;
		begin(&rig);
		add_list(&rig, LIST, number, START + 5 * MS);
		before = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
		execute(&rig, START + MS, 1, 1);
		run_times(&rig, before, 1, START + 2 * MS, START + 3 * MS);
		after = append(
		    &rig, START + 6 * MS, 0,
		    (struct tare_trace_command){ .queue = number, .object = NORM, .amount = 1 });
		execute(&rig, START + 7 * MS, 2, 1);
		run_times(&rig, after, 2, START + 8 * MS, START + 9 * MS);
		struct tare_recording *r = end(&rig);
		assert_int_equal(r->unresolved, 0);
		assert_int_equal(r->command_count, 4);
		assert_string_equal(r->kernels[TARE_COMMAND(r, 1)->object].name, "scale");
		assert_string_equal(r->kernels[TARE_COMMAND(r, 3)->object].name, "norm");
		assert_true(TARE_COMMAND(r, 3)->start_ns == START + 8 * MS);
		tare_recording_free(r);
	}
}

// Events of a list's own commands mean those of the same execution.
static void dependencies_are_of_the_same_execution(void **state)
{
	struct rig rig;
	uint64_t event = EVENT;
	uint32_t first, second;
	(void)state;
	begin(&rig);
	first = append(&rig, START + 1000, 0, (struct tare_trace_command){ .event = EVENT });
	second = append(&rig, START + 3000, TARE_COMMAND_DEPENDS,
	                (struct tare_trace_command){ .object = NORM, .amount = 1 });
	rig_depends(&rig, 1, 0, second, 1, &event);
	for (int i = 1; i <= 2; i++) {
		execute(&rig, START + i * 10 * MS, (uint64_t)i, 2);
		run_times(&rig, first, (uint64_t)i, START + i * 10 * MS + 10000,
		          START + (i * 10 + 1) * MS);
		run_times(&rig, second, (uint64_t)i, START + (i * 10 + 2) * MS,
		          START + (i * 10 + 3) * MS);
	}
	struct tare_recording *r = end(&rig);
	assert_int_equal(r->command_count, 6);
	for (uint32_t i = 0; i < 2; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, 3 * i + 2);
		assert_true(tare_command_is_run(c));
		assert_in_range(c->first_wait, 0, r->wait_count - 1);
		assert_int_equal(r->waits[c->first_wait].command, 3 * i + 1);
		assert_true(r->waits[c->first_wait].last);
	}
	tare_recording_free(r);
}

// What is not known of an execution is counted, and its time is not known.
static void what_is_not_known_is_counted(void **state)
{
	struct rig rig;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	uint32_t kernel;
	(void)state;
	begin(&rig);
	kernel = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
	execute(&rig, START + MS, 1, 5); // four were appended before recording began
	run_times(&rig, kernel, 1, START + 2 * MS, START + 3 * MS);
	// unknown
	tell_execute(&rig, call_execute(&rig, START + 10 * MS, LIST + 64), LIST + 64, 1, 3);
	struct tare_recording *r = end(&rig);
	tables = tables_of(r, &ledgers);
	assert_int_equal(tables.coverage.enqueued, 5 + 3);
	assert_int_equal(tables.coverage.completed, 1);
	assert_int_equal(tables.coverage.unobserved, 4 + 3);
	assert_int_equal(tables.coverage.unobserved_by[TARE_UNOBSERVED_UNLISTED], 7);
	assert_true(ledgers.ledgers[0].parts_ns[TARE_LEDGER_UNTIMED] > 4000 * MS);
	parts_are_the_wall(&ledgers);
	tare_tables_free(&tables);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

// Why there are no times is said of one execution, of all of a command, or not at all.
static void each_cause_is_told(void **state)
{
	struct rig rig;
	uint32_t kernel, strict;
	(void)state;
	begin(&rig);
	kernel = append(&rig, START + 1000, 0, (struct tare_trace_command){ 0 });
	strict =
	    append(&rig, START + 3000, TARE_COMMAND_NO_TIMES, (struct tare_trace_command){ 0 });
	(void)strict;
	for (int i = 1; i <= 3; i++)
		execute(&rig, START + i * MS, (uint64_t)i, 2);
	untimed(&rig, kernel, 2);
	struct tare_recording *r = end(&rig);
	static const enum tare_unobserved truth[] = { TARE_UNOBSERVED_PENDING,
		                                      TARE_UNOBSERVED_REUSED,
		                                      TARE_UNOBSERVED_PENDING };
	assert_int_equal(r->command_count, 9);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(tare_command_unobserved(TARE_COMMAND(r, 3 * i + 1)), truth[i]);
		assert_int_equal(tare_command_unobserved(TARE_COMMAND(r, 3 * i + 2)),
		                 TARE_UNOBSERVED_NOT_ASKED);
	}
	tare_recording_free(r);
}

// Nothing that an EXECUTE record says makes the reader hold much more than the file does.
static void lies_make_nothing_large(void **state)
{
	enum { TEMPLATES = 20000, EXECUTIONS = 2000 };
	struct rig rig;
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	uint32_t kernel = 0, number;
	(void)state;
	begin(&rig);
	for (int i = 0; i < TEMPLATES; i++)
		kernel =
		    append(&rig, START + i * 10, 0, (struct tare_trace_command){ .call_ticks = 5 });
	number = call_execute(&rig, START + 2 * MS, LIST);
	tell_execute(&rig, number, LIST, 1, UINT64_MAX);
	tell_execute(&rig, number, LIST, 2, UINT64_MAX);             // the same command again
	tell_execute(&rig, number + 99, LIST, 3, 1);                 // of no command
	run_times(&rig, kernel, 77, START + 3 * MS, START + 4 * MS); // of no execution
	run_times(&rig, kernel, 1, START + 3 * MS, START + 4 * MS);
	run_times(&rig, kernel, 1, START + 5 * MS, START + 6 * MS); // it has times already
	for (int i = 0; i < EXECUTIONS; i++)
		execute(&rig, START + 10 * MS + i * 1000, UINT64_MAX - (uint64_t)i, TEMPLATES);
	struct tare_recording *r = end(&rig);
	assert_int_equal(r->unresolved, 4);
	assert_int_equal(r->execution_count, 1 + EXECUTIONS);
	assert_true(r->command_count < 1000000);
	assert_true(TARE_COMMAND(r, TEMPLATES)->start_ns == START + 3 * MS);
	tables = tables_of(r, &ledgers);
	// All that ran is counted, whether it is listed or not.
	assert_true(tables.coverage.enqueued == UINT32_MAX + (uint64_t)EXECUTIONS * TEMPLATES);
	parts_are_the_wall(&ledgers);
	tare_tables_free(&tables);
	tare_ledgers_free(&ledgers);
	tare_recording_free(r);
}

// A counter of few bits and some rate: stamps come back to the host's time, wraps and all.
static void counters_wrap(void **state)
{
	static const struct {
		uint64_t hz;
		uint32_t bits;
	} rows[] = { { 12000000, 32 },   { 12500000, 36 }, { 19200000, 32 }, { 1000000000, 32 },
		     { 1000000000, 36 }, { 12500000, 20 }, { 0, 0 } };
	(void)state;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		const uint64_t hz = rows[row].hz ? rows[row].hz : 1000000000;
		const uint64_t mask =
		    rows[row].bits ? (UINT64_C(1) << rows[row].bits) - 1 : UINT64_MAX;
		const int64_t tick_ns = (int64_t)(1000000000 / hz) + 1, step_ns = 11 * MS;
		// It wraps after a twentieth of the run at the latest, whatever the width.
		const uint64_t ahead = mask - (uint64_t)(step_ns / 3);
		struct rig rig;
		uint32_t number;
		begin_bare(&rig);
		rig_fact(&rig, TARE_TRACE_FACT_TIMER_HZ,
		         (struct tare_trace_fact_record){
		             .object = DEVICE, .ticks = START, .value = rows[row].hz },
		         NULL);
		rig_fact(&rig, TARE_TRACE_FACT_STAMP_BITS,
		         (struct tare_trace_fact_record){
		             .object = DEVICE, .ticks = START, .value = rows[row].bits },
		         NULL);
		rig_fact(&rig, TARE_TRACE_FACT_PAIR_BITS,
		         (struct tare_trace_fact_record){
		             .object = DEVICE, .ticks = START, .value = rows[row].bits ? 48 : 0 },
		         NULL);
#define TICKS(ns)                                                                                  \
	((uint64_t)((unsigned __int128)(uint64_t)((ns) - START) * hz / 1000000000) +               \
	 (rows[row].bits ? ahead : 1000))
		for (int i = 0; i < 100; i++) {
			int64_t at_ns = START + MS + i * step_ns;
			read_clocks(&rig, at_ns, 200, TICKS(at_ns + 100));
			number =
			    rig_command(&rig, 1, at_ns + 1000, 0, (struct tare_trace_command){ 0 });
			rig_times(
			    &rig, 1, number,
			    (struct tare_trace_times){ .start = TICKS(at_ns + 5000) & mask,
			                               .end = TICKS(at_ns + MS) & mask,
			                               .observed = (uint64_t)at_ns + 2 * MS });
		}
		struct tare_recording *r = end(&rig);
		assert_int_equal(r->command_count, 100);
		assert_int_equal(r->devices[0].clock_source, TARE_CLOCK_PAIRS);
		for (int i = 0; i < 100; i++) {
			int64_t at_ns = START + MS + i * step_ns;
			assert_in_range(TARE_COMMAND(r, i)->start_ns, at_ns + 5000 - tick_ns - 100,
			                at_ns + 5000 + tick_ns + 100);
			assert_in_range(TARE_COMMAND(r, i)->end_ns, at_ns + MS - tick_ns - 100,
			                at_ns + MS + tick_ns + 100);
		}
		tare_recording_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_execution_is_a_run),
		cmocka_unit_test(a_run_is_enqueued_when_its_list_is_executed),
		cmocka_unit_test(one_call_may_execute_several),
		cmocka_unit_test(a_list_that_is_reset_is_another),
		cmocka_unit_test(dependencies_are_of_the_same_execution),
		cmocka_unit_test(what_is_not_known_is_counted),
		cmocka_unit_test(times_may_come_before_their_execution),
		cmocka_unit_test(all_of_a_run_may_come_before_its_execution),
		cmocka_unit_test(each_cause_is_told),
		cmocka_unit_test(lies_make_nothing_large),
		cmocka_unit_test(counters_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
