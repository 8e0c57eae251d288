// SPDX-License-Identifier: Apache-2.0
// The timeline of a page, read by a second decoder, against the recording that it was written from.
// The seed comes from the clock and is printed; TARE_TEST_SEED repeats a run.
#include "analysis/recording/intervals.h"
#include "timeline_rig.h"

static int64_t place(uint32_t index)
{
	return index == TARE_NO_INDEX ? DECODED_UNKNOWN : index;
}

static int64_t amount(uint64_t value)
{
	return value > (uint64_t)KNOWN ? DECODED_UNKNOWN : (int64_t)value;
}

// Compares a column with an expression of `row`.
#define CHECK(table, column, expected)                                                             \
	do {                                                                                       \
		int64_t *values_ = decoded_column(decoded, table, column);                         \
		for (size_t row = 0; row < decoded_count(decoded, table); row++)                   \
			if (values_[row] != (int64_t)(expected))                                   \
				fail_msg(table "." column " row %zu: %lld, not %lld", row,         \
				         (long long)values_[row], (long long)(expected));          \
		free(values_);                                                                     \
	} while (0)

static void check_commands(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	const struct tare_recorded_command *c = rig->made->commands;

	assert_int_equal(decoded_count(decoded, "commands"), recording->command_count);
	CHECK("commands", "number", row);
	CHECK("commands", "enter", since(c[row].enter_ns));
	CHECK("commands", "exit", since(c[row].exit_ns));
	CHECK("commands", "submitted", since(c[row].submitted_ns));
	CHECK("commands", "start", since(c[row].start_ns));
	CHECK("commands", "end", since(c[row].end_ns));
	CHECK("commands", "thread", c[row].thread);
	CHECK("commands", "queue", place(c[row].queue));
	CHECK("commands", "kind", c[row].kind);
	CHECK("commands", "direction", c[row].direction);
	CHECK("commands", "memory", c[row].memory);
	CHECK("commands", "alignment", c[row].alignment);
	CHECK("commands", "flags", c[row].flags);
	CHECK("commands", "untimed", c[row].untimed);
	CHECK("commands", "object", place(c[row].object));
	CHECK("commands", "amount",
	      c[row].kind == TARE_KIND_KERNEL ? DECODED_UNKNOWN : amount(c[row].amount));
	CHECK("commands", "shape",
	      c[row].kind == TARE_KIND_KERNEL && c[row].amount < SHAPES ? (int64_t)c[row].amount
	                                                                : DECODED_UNKNOWN);
	CHECK("commands", "function", c[row].function);
	CHECK("commands", "stack", DECODED_UNKNOWN);
}

static void check_waits(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	int64_t *counts = decoded_column(decoded, "commands", "waits");
	int64_t *waits = decoded_column(decoded, "waits", "command");
	size_t at = 0;

	for (size_t row = 0; row < recording->command_count; row++) {
		uint32_t wait = TARE_COMMAND(recording, row)->first_wait;
		for (int64_t i = 0; i < counts[row]; i++, at++, wait++) {
			uint32_t command = recording->waits[wait].command;
			assert_int_equal(waits[at],
			                 command == MADE_NO_COMMAND ? DECODED_UNKNOWN : command);
			assert_int_equal(recording->waits[wait].last, i + 1 == counts[row]);
		}
		assert_int_equal(counts[row] == 0,
		                 TARE_COMMAND(recording, row)->first_wait == TARE_NO_INDEX);
	}
	assert_int_equal(at, decoded_count(decoded, "waits"));
	free(counts);
	free(waits);
}

static void check_calls(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	const struct tare_recorded_call *c = recording->calls;

	assert_int_equal(decoded_count(decoded, "calls"), recording->call_count);
	CHECK("calls", "number", row);
	CHECK("calls", "enter", since(c[row].enter_ns));
	CHECK("calls", "exit", since(c[row].exit_ns));
	CHECK("calls", "outside", c[row].exit_ns - c[row].enter_ns - c[row].inside_ns);
	CHECK("calls", "count_of", c[row].count);
	CHECK("calls", "thread", c[row].thread);
	CHECK("calls", "function", c[row].function);
	CHECK("calls", "role", c[row].role);
	CHECK("calls", "flags", c[row].flags);
	CHECK("calls", "result", c[row].result);
	CHECK("calls", "object", place(c[row].object));
	CHECK("calls", "device",
	      c[row].device == TARE_NO_INDEX ? DECODED_UNKNOWN
	                                     : recording->devices[c[row].device].same_as);
	CHECK("calls", "bytes", amount(c[row].bytes));
	CHECK("calls", "stack", DECODED_UNKNOWN);
}

static void check_string(const struct decoded *decoded, const char *table, const char *column,
                         size_t row, const char *text)
{
	json_t *strings = json_object_get(decoded->header, "strings");
	const char *is = json_string_value(
	    json_array_get(strings, (size_t)value_at(decoded, table, column, row)));

	assert_string_equal(is, text);
}

static void check_others(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recorded_phase *p = rig->phases;
	const struct tare_recorded_callback *c = rig->callbacks;
	const struct tare_recorded_shape *s = rig->shapes;
	const struct tare_recorded_memory *m = rig->memories;

	CHECK("phases", "from", since(p[row].from_ns));
	CHECK("phases", "to", since(p[row].to_ns));
	CHECK("phases", "thread", p[row].thread);
	CHECK("phases", "depth", p[row].depth);
	CHECK("phases", "source", p[row].source);
	CHECK("phases", "flags", p[row].instant + 2 * p[row].unended + 4 * p[row].range);
	for (size_t i = 0; i < PHASES; i++) {
		check_string(decoded, "phases", "name", i, p[i].name);
		check_string(decoded, "phases", "domain", i,
		             p[i].domain[0] ? "lib\xef\xbf\xbd" : "");
	}
	CHECK("callbacks", "enter", since(c[row].enter_ns));
	CHECK("callbacks", "exit", since(c[row].exit_ns));
	CHECK("callbacks", "thread", c[row].thread);
	CHECK("callbacks", "function", c[row].function);
	CHECK("shapes", "dimensions", s[row].dimensions);
	CHECK("shapes", "global_x", amount(s[row].global[0]));
	CHECK("shapes", "global_z", s[row].global[2]);
	CHECK("shapes", "local_y", s[row].local[1]);
	CHECK("memories", "kind", m[row].kind);
	CHECK("memories", "bytes", amount(m[row].bytes));
	CHECK("memories", "parent", place(m[row].parent));
}

// ---- lanes

// No two rows with the same `group` and `lane` overlap; 255 has no lane.
static void check_lanes(const struct decoded *decoded, const char *table, const char *from,
                        const char *to, const char *group, const char *lane)
{
	size_t count = decoded_count(decoded, table);
	int64_t *froms = decoded_column(decoded, table, from),
	        *tos = decoded_column(decoded, table, to);
	int64_t *groups = decoded_column(decoded, table, group),
	        *lanes = decoded_column(decoded, table, lane);

	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < a; b++)
			if (lanes[a] == lanes[b] && lanes[a] != 255 && groups[a] == groups[b])
				assert_true(froms[a] >= tos[b] || froms[b] >= tos[a]);
	free(froms);
	free(tos);
	free(groups);
	free(lanes);
}

// The lane of a row is the lowest that is free when it begins.
static void check_lowest(const struct decoded *decoded, const char *table, const char *from,
                         const char *to, const char *group, const char *lane)
{
	size_t count = decoded_count(decoded, table);
	int64_t *froms = decoded_column(decoded, table, from),
	        *tos = decoded_column(decoded, table, to);
	int64_t *groups = decoded_column(decoded, table, group),
	        *lanes = decoded_column(decoded, table, lane);

	for (size_t a = 0; a < count; a++)
		for (int64_t below_it = 0; lanes[a] != 255 && below_it < lanes[a]; below_it++) {
			bool taken = false;
			for (size_t b = 0; b < count; b++)
				taken = taken || (groups[b] == groups[a] && lanes[b] == below_it &&
				                  froms[b] <= froms[a] && tos[b] > froms[a]);
			assert_true(taken);
		}
	free(froms);
	free(tos);
	free(groups);
	free(lanes);
}

// A call of a depth is made while one of the depth before is open, a command's or another.
static void check_depths(const struct decoded *decoded)
{
	static const char *const tables[] = { "commands", "calls" };
	int64_t *columns[2][4];

	for (int t = 0; t < 2; t++) {
		columns[t][0] = decoded_column(decoded, tables[t], "enter");
		columns[t][1] = decoded_column(decoded, tables[t], "exit");
		columns[t][2] = decoded_column(decoded, tables[t], "thread");
		columns[t][3] = decoded_column(decoded, tables[t], "depth");
	}
	for (int t = 0; t < 2; t++)
		for (size_t a = 0; a < decoded_count(decoded, tables[t]); a++) {
			bool inside = columns[t][3][a] == 0;
			for (int u = 0; u < 2; u++)
				for (size_t b = 0; b < decoded_count(decoded, tables[u]) && !inside;
				     b++)
					inside = columns[u][2][b] == columns[t][2][a] &&
					         columns[u][3][b] == columns[t][3][a] - 1 &&
					         columns[u][0][b] <= columns[t][0][a] &&
					         columns[u][1][b] > columns[t][0][a];
			assert_true(inside);
		}
	for (int t = 0; t < 8; t++)
		free(columns[t / 4][t % 4]);
}

static int engine_of(const struct tare_recorded_command *command)
{
	static const int engines[] = { [TARE_EFFECT_NONE] = 255,
		                       [TARE_EFFECT_KERNEL] = 0,
		                       [TARE_EFFECT_TO_DEVICE] = 1,
		                       [TARE_EFFECT_FROM_DEVICE] = 2,
		                       [TARE_EFFECT_LOCAL] = 3 };

	return engines[tare_command_effect(command)];
}

static void check_placing(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	const struct tare_recorded_command *c = rig->made->commands;
	int64_t *lanes = decoded_column(decoded, "commands", "engine_lane");

	check_lanes(decoded, "commands", "start", "end", "queue", "lane");
	check_lanes(decoded, "phases", "from", "to", "thread", "lane");
	check_lanes(decoded, "calls", "enter", "exit", "thread", "depth");
	check_lanes(decoded, "commands", "enter", "exit", "thread", "depth");
	check_depths(decoded);
	check_lowest(decoded, "commands", "start", "end", "queue", "lane");
	check_lowest(decoded, "phases", "from", "to", "thread", "lane");
	CHECK("commands", "engine", engine_of(&c[row]));
	for (size_t a = 0; a < recording->command_count; a++) {
		bool placed = tare_command_timed(&c[a]);
		assert_int_equal(value_at(decoded, "commands", "lane", a) == 255, !placed);
		assert_int_equal(lanes[a] == 255, !placed || engine_of(&c[a]) == 255);
		for (size_t b = 0; b < a; b++)
			if (lanes[a] != 255 && lanes[a] == lanes[b] &&
			    engine_of(&c[a]) == engine_of(&c[b]) &&
			    tare_command_device(recording, &c[a]) ==
			        tare_command_device(recording, &c[b]))
				assert_true(c[a].start_ns >= c[b].end_ns ||
				            c[b].start_ns >= c[a].end_ns);
		// The lane below is taken when it begins.
		bool taken = lanes[a] == 0 || lanes[a] == 255;
		for (size_t b = 0; b < recording->command_count && !taken; b++)
			taken = lanes[b] == lanes[a] - 1 && engine_of(&c[a]) == engine_of(&c[b]) &&
			        tare_command_device(recording, &c[a]) ==
			            tare_command_device(recording, &c[b]) &&
			        c[b].start_ns <= c[a].start_ns && c[b].end_ns > c[a].start_ns;
		assert_true(taken);
	}
	free(lanes);
}

// ---- idle time

static void check_gaps(const struct rig *rig, const struct decoded *decoded)
{
	int64_t *from = decoded_column(decoded, "gaps", "from"),
	        *to = decoded_column(decoded, "gaps", "to");
	int64_t *device = decoded_column(decoded, "gaps", "device"),
	        *cause = decoded_column(decoded, "gaps", "cause");
	int64_t *command = decoded_column(decoded, "gaps", "command");
	int64_t *starts = decoded_column(decoded, "commands", "start");
	struct tare_ledgers ledgers;

	assert_int_equal(tare_ledgers_compute(&rig->made->recording, &rig->view, &ledgers, NULL),
	                 0);
	for (size_t i = 0; i < ledgers.count; i++) {
		const struct tare_ledger *ledger = &ledgers.ledgers[i];
		int64_t sums_ns[TARE_LEDGER_CATEGORIES] = { 0 }, idle_ns = 0, told_ns = 0,
		        last_ns = 0;
		if (ledger->device == TARE_NO_INDEX)
			continue;
		for (size_t k = 0; k < decoded_count(decoded, "gaps"); k++) {
			if (device[k] !=
			    tare_report_device_number(&rig->made->recording, ledger->device))
				continue;
			assert_true(from[k] >= last_ns && to[k] > from[k]);
			assert_true(command[k] == DECODED_UNKNOWN || to[k] <= starts[command[k]]);
			last_ns = to[k];
			sums_ns[cause[k]] += to[k] - from[k];
			told_ns += to[k] - from[k];
		}
		for (int c = TARE_LEDGER_BEFORE_FIRST; c < TARE_LEDGER_CATEGORIES; c++)
			idle_ns += ledger->parts_ns[c];
		assert_int_equal(told_ns, idle_ns);
		// What no row of calls and no CPU clock divides is exact by cause, too.
		assert_int_equal(sums_ns[TARE_LEDGER_DEPENDENCY],
		                 ledger->parts_ns[TARE_LEDGER_DEPENDENCY]);
		assert_int_equal(sums_ns[TARE_LEDGER_HELD], ledger->parts_ns[TARE_LEDGER_HELD]);
		assert_int_equal(sums_ns[TARE_LEDGER_DISPATCH],
		                 ledger->parts_ns[TARE_LEDGER_DISPATCH]);
		assert_int_equal(sums_ns[TARE_LEDGER_BEFORE_FIRST],
		                 ledger->parts_ns[TARE_LEDGER_BEFORE_FIRST]);
		assert_int_equal(sums_ns[TARE_LEDGER_BUILD], ledger->parts_ns[TARE_LEDGER_BUILD]);
	}
	tare_ledgers_free(&ledgers);
	free(from);
	free(to);
	free(device);
	free(cause);
	free(command);
	free(starts);
}

// ---- the tests

static void everything_is_there(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct rig *rig = some_rig();
		struct tare_page_left_out left_out;
		struct decoded decoded = read_rig(rig, NO_LIMIT, &left_out);
		assert_string_equal(left_out.why, "");
		assert_true(json_is_null(json_object_get(decoded.header, "left_out")));
		check_commands(rig, &decoded);
		check_waits(rig, &decoded);
		check_calls(rig, &decoded);
		check_others(rig, &decoded);
		check_placing(rig, &decoded);
		check_gaps(rig, &decoded);
		decoded_free(&decoded);
		rig_free(rig);
	}
}

// Times and sizes beyond what the page's numbers hold are not known; their neighbours are.
static void extremes_are_not_known(void **state)
{
	static const int64_t times_ns[] = { INT64_MAX,      INT64_MAX - 1,
		                            KNOWN + START,  KNOWN + START + 1,
		                            -KNOWN + START, -KNOWN + START - 1,
		                            INT64_MIN + 1,  0,
		                            START,          START + 77 };
	struct rig *rig = rig_new(1000);
	uint32_t thread = made_thread(rig->made, made_process(rig->made, START + 1000));
	uint32_t queue =
	    made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), true);
	struct decoded decoded;
	(void)state;

	for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
		struct tare_recorded_command command =
		    made_plain_command(thread, queue, TARE_KIND_WRITE, START + (int64_t)i,
		                       START + (int64_t)i + 5, times_ns[i], START + 10, START + 20);
		command.amount = i % 2 ? (uint64_t)KNOWN + i : 7 + i;
		made_command(rig->made, command);
	}
	decoded = read_rig(rig, NO_LIMIT, NULL);
	for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
		__int128 since_ns = (__int128)times_ns[i] - START;
		// Relative to the call's enter, so a few nanoseconds before the limit.
		int64_t is = value_at(&decoded, "commands", "submitted", i);
		if (since_ns > KNOWN || since_ns - (__int128)i < -KNOWN)
			assert_int_equal(is, DECODED_UNKNOWN);
		else
			assert_int_equal(is, (int64_t)since_ns);
		assert_int_equal(value_at(&decoded, "commands", "amount", i),
		                 i % 2 ? DECODED_UNKNOWN : (int64_t)(7 + i));
		assert_int_equal(value_at(&decoded, "commands", "end", i), 20);
	}
	decoded_free(&decoded);
	rig_free(rig);
}

// More at once than there are lanes.
static void too_many_at_once(void **state)
{
	struct rig *rig = rig_new(100000);
	uint32_t thread = made_thread(rig->made, made_process(rig->made, START + 100000));
	uint32_t queue =
	    made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), true);
	struct decoded decoded;
	size_t without = 0;
	(void)state;

	for (int64_t i = 0; i < 300; i++)
		made_command(rig->made, made_plain_command(thread, queue, TARE_KIND_KERNEL,
		                                           START + i, START + i + 1, START + i,
		                                           START + 1000 + i, START + 90000 - i));
	for (int64_t i = 0; i < 300; i++)
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, START + 2000 + i,
		                                     START + 80000 - i));
	decoded = read_rig(rig, NO_LIMIT, NULL);
	check_lanes(&decoded, "commands", "start", "end", "queue", "lane");
	check_lanes(&decoded, "calls", "enter", "exit", "thread", "depth");
	for (size_t i = 0; i < 300; i++)
		without += value_at(&decoded, "commands", "lane", i) == 255;
	assert_int_equal(without, 45);
	decoded_free(&decoded);
	rig_free(rig);
}

static void little_or_nothing(void **state)
{
	static const struct {
		int64_t wall_ns;
		int commands, calls;
		bool timed;
	} rows[] = { { 0, 0, 0, true },    { 0, 1, 1, true },     { 1000, 0, 1, true },
		     { 1000, 1, 0, true }, { 1000, 1, 0, false }, { 1000, 0, 0, true } };
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig *rig = rig_new(rows[i].wall_ns);
		struct decoded decoded;
		uint32_t thread =
		    made_thread(rig->made, made_process(rig->made, START + rows[i].wall_ns));
		uint32_t queue = made_queue(
		    rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, TARE_NO_TIME), false);
		int64_t start_ns = rows[i].timed ? START : TARE_NO_TIME;
		if (rows[i].commands)
			made_command(rig->made,
			             made_plain_command(thread, queue, TARE_KIND_KERNEL, START,
			                                START, start_ns, start_ns, start_ns));
		if (rows[i].calls)
			made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, START, START));
		decoded = read_rig(rig, NO_LIMIT, NULL);
		assert_int_equal(decoded_count(&decoded, "commands"), rows[i].commands);
		assert_int_equal(decoded_count(&decoded, "calls"), rows[i].calls);
		assert_int_equal(json_integer_value(json_object_get(decoded.header, "run_ns")),
		                 rows[i].wall_ns);
		assert_true(json_is_null(json_object_get(
		    json_array_get(json_object_get(decoded.header, "devices"), 0), "residual_ns")));
		decoded_free(&decoded);
		rig_free(rig);
	}
}

// Only what belongs to the view; numbers still count in the recording.
static void a_part_of_the_run(void **state)
{
	struct rig *rig = long_rig();
	struct decoded decoded;
	(void)state;

	rig->view.from_ns = START + 1000 * 1000;
	rig->view.to_ns = START + 1010 * 1000;
	decoded = read_rig(rig, NO_LIMIT, NULL);
	assert_int_equal(decoded_count(&decoded, "commands"), 10);
	assert_int_equal(value_at(&decoded, "commands", "number", 0), 1000);
	assert_int_equal(decoded_count(&decoded, "calls"), 20);
	assert_int_equal(value_at(&decoded, "calls", "number", 0), 2000);
	assert_int_equal(value_at(&decoded, "commands", "enter", 0), 1000000);
	assert_int_equal(json_integer_value(json_object_get(decoded.header, "from_ns")), 1000000);
	check_gaps(rig, &decoded);
	decoded_free(&decoded);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_there), cmocka_unit_test(extremes_are_not_known),
		cmocka_unit_test(too_many_at_once),    cmocka_unit_test(little_or_nothing),
		cmocka_unit_test(a_part_of_the_run),
	};

	seed_timelines();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
