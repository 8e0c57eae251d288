// SPDX-License-Identifier: Apache-2.0
// The timeline of a page, read by a second decoder, against the recording that it was written from.
// The seed comes from the clock and is printed; TARE_TEST_SEED repeats a run.
#include "analysis/intervals.h"
#include "made_recording.h"
#include "report/run_report.h"
#include "timeline_decoder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define START INT64_C(5000000)
#define NO_LIMIT UINT64_MAX
#define KNOWN (INT64_C(1) << 53)
enum { ROUNDS = 25, EVENTS = 260, PHASES = 40, CALLBACKS = 12, SHAPES = 3, MEMORIES = 3 };

// A recording with all that a timeline is made of.
struct rig {
	struct made *made;
	struct tare_recorded_phase phases[PHASES];
	struct tare_recorded_callback callbacks[CALLBACKS];
	struct tare_recorded_shape shapes[SHAPES];
	struct tare_recorded_memory memories[MEMORIES];
	struct tare_view view;
	struct tare_run_report run;
};

static struct tare_random rng;

static int64_t below(int64_t bound)
{
	return (int64_t)tare_random_below(&rng, (uint64_t)bound);
}

static bool one_in(uint64_t n)
{
	return tare_random_below(&rng, n) == 0;
}

// ---- recordings

static struct rig *rig_new(int64_t wall_ns)
{
	struct rig *rig = calloc(1, sizeof *rig);
	struct tare_recording *recording;

	assert_non_null(rig);
	rig->made = made_new(START + wall_ns);
	recording = &rig->made->recording;
	recording->start_ns = START;
	recording->phases = rig->phases;
	recording->callbacks = rig->callbacks;
	recording->shapes = rig->shapes;
	recording->memories = rig->memories;
	rig->view = tare_view_all(recording);
	rig->run = (struct tare_run_report){ .recording = recording, .view = &rig->view };
	return rig;
}

static void rig_free(struct rig *rig)
{
	free(rig->made);
	free(rig);
}

static void some_command(struct rig *rig, int64_t at_ns)
{
	struct tare_recording *recording = &rig->made->recording;
	uint32_t thread = (uint32_t)below((int64_t)recording->thread_count);
	int64_t start_ns = at_ns + below(3000) - 10;
	struct tare_recorded_command command = made_plain_command(
	    thread, one_in(30) ? TARE_NO_INDEX : (uint32_t)below((int64_t)recording->queue_count),
	    (uint8_t)(1 + below(TARE_KIND_KINDS - 1)), at_ns, at_ns + below(200),
	    one_in(5) ? TARE_NO_TIME : at_ns + below(400), start_ns, start_ns + (one_in(6) ? 0 : below(4000)));
	uint32_t waits[4];
	size_t count = (size_t)below(5);

	if (one_in(8))
		command.start_ns = command.end_ns = TARE_NO_TIME;
	command.direction = (uint8_t)below(5);
	command.memory = (uint8_t)below(11);
	command.alignment = (uint8_t)below(256);
	command.flags = (uint8_t)below(256);
	command.untimed = (uint8_t)below(5);
	command.object = one_in(4) ? TARE_NO_INDEX : (uint32_t)below(2);
	command.amount = command.kind == TARE_KIND_KERNEL ? (one_in(4) ? TARE_NO_INDEX : (uint64_t)below(SHAPES))
	                 : one_in(9)                      ? UINT64_MAX
	                                                  : tare_random_next(&rng) >> below(64);
	command.function = (uint16_t)below(TARE_ROLE_COUNT);
	command.stack = TARE_NO_INDEX;
	made_command(rig->made, command);
	for (size_t i = 0; i < count; i++)
		waits[i] = one_in(6) ? MADE_NO_COMMAND : (uint32_t)below((int64_t)recording->command_count);
	made_waits(rig->made, waits, count);
}

static void some_call(struct rig *rig, int64_t at_ns)
{
	struct tare_recording *recording = &rig->made->recording;
	struct tare_recorded_call call =
	    made_plain_call((uint32_t)below((int64_t)recording->thread_count),
	                    (uint8_t)below(TARE_ROLE_COUNT), at_ns, at_ns + below(600));

	if (call.role == TARE_ROLE_QUERY || call.role == TARE_ROLE_POLL) {
		call.count = (uint64_t)below(3);
		call.inside_ns = below(call.exit_ns - call.enter_ns + 1);
	}
	call.bytes = tare_random_next(&rng) >> below(64);
	call.object = one_in(3) ? TARE_NO_INDEX : (uint32_t)below(100);
	call.device = one_in(3) ? TARE_NO_INDEX : (uint32_t)below((int64_t)recording->device_count);
	call.function = (uint16_t)below(TARE_ROLE_COUNT);
	call.flags = (uint8_t)below(8);
	call.result = (int32_t)below(200) - 100;
	call.stack = TARE_NO_INDEX;
	made_call(rig->made, call);
}

static void some_others(struct rig *rig, int64_t wall_ns)
{
	struct tare_recording *recording = &rig->made->recording;
	int64_t at_ns = START;

	for (int i = 0; i < PHASES; i++, at_ns += below(wall_ns / PHASES))
		rig->phases[recording->phase_count++] = (struct tare_recorded_phase){ .from_ns = at_ns,
			.to_ns = at_ns + below(3000), .thread = (uint32_t)below((int64_t)recording->thread_count),
			.parent = TARE_NO_INDEX, .depth = (uint32_t)below(400), .name = one_in(2) ? "step" : "a \"b\" </script>",
			.domain = one_in(2) ? "" : "lib\xff", .source = (uint8_t)below(3), .instant = one_in(3),
			.unended = one_in(4), .range = one_in(2) };
	at_ns = START;
	for (int i = 0; i < CALLBACKS; i++, at_ns += below(wall_ns / CALLBACKS))
		rig->callbacks[recording->callback_count++] = (struct tare_recorded_callback){ at_ns,
			at_ns + below(50), (uint32_t)below((int64_t)recording->thread_count), (uint16_t)below(9) };
	for (int i = 0; i < SHAPES; i++)
		rig->shapes[recording->shape_count++] = (struct tare_recorded_shape){ 1 + (uint32_t)i,
			{ tare_random_next(&rng) >> below(64), 2, 3 }, { 64, (uint32_t)i, 0 } };
	for (int i = 0; i < MEMORIES; i++)
		rig->memories[recording->memory_count++] = (struct tare_recorded_memory){ .kind = 1 + (uint32_t)i,
			.bytes = tare_random_next(&rng) >> below(64), .parent = i ? 0 : TARE_NO_INDEX };
}

static struct rig *some_rig(void)
{
	int64_t wall_ns = 2000 + below(100000);
	struct rig *rig = rig_new(wall_ns);
	struct made *made = rig->made;

	for (uint32_t i = 0; i < 2; i++) {
		made_process(made, START + wall_ns);
		for (int64_t k = 1 + below(3); k > 0; k--)
			made_thread(made, i);
		made_device(made, i, i && one_in(2) ? 0 : TARE_NO_INDEX, below(20));
		for (int64_t k = 1 + below(3); k > 0; k--)
			made_queue(made, i, i, one_in(2));
	}
	for (int64_t i = below(EVENTS); i > 0; i--)
		some_command(rig, START + below(wall_ns));
	for (int64_t i = below(EVENTS); i > 0; i--)
		some_call(rig, START + below(wall_ns));
	made_sort(made);
	some_others(rig, wall_ns);
	return rig;
}

// ---- writing and reading

static char *write_timeline(const struct rig *rig, uint64_t most_bytes, size_t *length,
                            struct tare_page_left_out *left_out)
{
	struct tare_error error = { 0 };
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	assert_non_null(stream);
	assert_int_equal(tare_report_timeline_write(&rig->run, most_bytes, stream, left_out, &error), 0);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static struct decoded read_rig(const struct rig *rig, uint64_t most_bytes,
                               struct tare_page_left_out *left_out)
{
	size_t length;
	char *text = write_timeline(rig, most_bytes, &length, left_out);
	struct decoded decoded = decode_timeline(text, length);

	assert_true(length <= most_bytes);
	free(text);
	return decoded;
}

static int64_t since(int64_t ns)
{
	return ns == TARE_NO_TIME ? DECODED_UNKNOWN : ns - START;
}

static int64_t place(uint32_t index)
{
	return index == TARE_NO_INDEX ? DECODED_UNKNOWN : index;
}

static int64_t amount(uint64_t value)
{
	return value > (uint64_t)KNOWN ? DECODED_UNKNOWN : (int64_t)value;
}

static int64_t value_at(const struct decoded *decoded, const char *table, const char *column, size_t row)
{
	int64_t *values = decoded_column(decoded, table, column);
	int64_t value = values[row];

	free(values);
	return value;
}

// Compares a column with an expression of `row`.
#define CHECK(table, column, expected) \
	do { \
		int64_t *values_ = decoded_column(decoded, table, column); \
		for (size_t row = 0; row < decoded_count(decoded, table); row++) \
			if (values_[row] != (int64_t)(expected)) \
				fail_msg(table "." column " row %zu: %lld, not %lld", row, \
				         (long long)values_[row], (long long)(expected)); \
		free(values_); \
	} while (0)

static void check_commands(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	const struct tare_recorded_command *c = recording->commands;

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
	CHECK("commands", "amount", c[row].kind == TARE_KIND_KERNEL ? DECODED_UNKNOWN : amount(c[row].amount));
	CHECK("commands", "shape", c[row].kind == TARE_KIND_KERNEL && c[row].amount < SHAPES
	                               ? (int64_t)c[row].amount : DECODED_UNKNOWN);
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
		uint32_t wait = recording->commands[row].first_wait;
		for (int64_t i = 0; i < counts[row]; i++, at++, wait++) {
			uint32_t command = recording->waits[wait].command;
			assert_int_equal(waits[at], command == MADE_NO_COMMAND ? DECODED_UNKNOWN : command);
			assert_int_equal(recording->waits[wait].last, i + 1 == counts[row]);
		}
		assert_int_equal(counts[row] == 0, recording->commands[row].first_wait == TARE_NO_INDEX);
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
	CHECK("calls", "device", c[row].device == TARE_NO_INDEX ? DECODED_UNKNOWN
	                         : recording->devices[c[row].device].same_as);
	CHECK("calls", "bytes", amount(c[row].bytes));
	CHECK("calls", "stack", DECODED_UNKNOWN);
}

static void check_string(const struct decoded *decoded, const char *table, const char *column, size_t row,
                         const char *text)
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
		check_string(decoded, "phases", "domain", i, p[i].domain[0] ? "lib\xef\xbf\xbd" : "");
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
static void check_lanes(const struct decoded *decoded, const char *table, const char *from, const char *to,
                        const char *group, const char *lane)
{
	size_t count = decoded_count(decoded, table);
	int64_t *froms = decoded_column(decoded, table, from), *tos = decoded_column(decoded, table, to);
	int64_t *groups = decoded_column(decoded, table, group), *lanes = decoded_column(decoded, table, lane);

	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < a; b++)
			if (lanes[a] == lanes[b] && lanes[a] != 255 && groups[a] == groups[b])
				assert_true(froms[a] >= tos[b] || froms[b] >= tos[a]);
	free(froms);
	free(tos);
	free(groups);
	free(lanes);
}

static int engine_of(const struct tare_recorded_command *command)
{
	static const int engines[] = { [TARE_EFFECT_NONE] = 255, [TARE_EFFECT_KERNEL] = 0,
		[TARE_EFFECT_TO_DEVICE] = 1, [TARE_EFFECT_FROM_DEVICE] = 2, [TARE_EFFECT_LOCAL] = 3 };

	return engines[tare_command_effect(command)];
}

static void check_placing(const struct rig *rig, const struct decoded *decoded)
{
	const struct tare_recording *recording = &rig->made->recording;
	const struct tare_recorded_command *c = recording->commands;
	int64_t *lanes = decoded_column(decoded, "commands", "engine_lane");

	check_lanes(decoded, "commands", "start", "end", "queue", "lane");
	check_lanes(decoded, "phases", "from", "to", "thread", "lane");
	check_lanes(decoded, "calls", "enter", "exit", "thread", "depth");
	check_lanes(decoded, "commands", "enter", "exit", "thread", "depth");
	CHECK("commands", "engine", engine_of(&c[row]));
	for (size_t a = 0; a < recording->command_count; a++) {
		bool placed = tare_command_timed(&c[a]);
		assert_int_equal(value_at(decoded, "commands", "lane", a) == 255, !placed);
		assert_int_equal(lanes[a] == 255, !placed || engine_of(&c[a]) == 255);
		for (size_t b = 0; b < a; b++)
			if (lanes[a] != 255 && lanes[a] == lanes[b] && engine_of(&c[a]) == engine_of(&c[b]) &&
			    tare_command_device(recording, &c[a]) == tare_command_device(recording, &c[b]))
				assert_true(c[a].start_ns >= c[b].end_ns || c[b].start_ns >= c[a].end_ns);
	}
	free(lanes);
}

// ---- idle time

static void check_gaps(const struct rig *rig, const struct decoded *decoded)
{
	int64_t *from = decoded_column(decoded, "gaps", "from"), *to = decoded_column(decoded, "gaps", "to");
	int64_t *device = decoded_column(decoded, "gaps", "device"), *cause = decoded_column(decoded, "gaps", "cause");
	int64_t *command = decoded_column(decoded, "gaps", "command");
	int64_t *starts = decoded_column(decoded, "commands", "start");
	struct tare_ledgers ledgers;

	assert_int_equal(tare_ledgers_compute(&rig->made->recording, &rig->view, &ledgers, NULL), 0);
	for (size_t i = 0; i < ledgers.count; i++) {
		const struct tare_ledger *ledger = &ledgers.ledgers[i];
		int64_t sums_ns[TARE_LEDGER_CATEGORIES] = { 0 }, idle_ns = 0, told_ns = 0, last_ns = 0;
		if (ledger->device == TARE_NO_INDEX)
			continue;
		for (size_t k = 0; k < decoded_count(decoded, "gaps"); k++) {
			if (device[k] != tare_run_device_number(&rig->made->recording, ledger->device))
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
		assert_int_equal(sums_ns[TARE_LEDGER_DEPENDENCY], ledger->parts_ns[TARE_LEDGER_DEPENDENCY]);
		assert_int_equal(sums_ns[TARE_LEDGER_HELD], ledger->parts_ns[TARE_LEDGER_HELD]);
		assert_int_equal(sums_ns[TARE_LEDGER_DISPATCH], ledger->parts_ns[TARE_LEDGER_DISPATCH]);
		assert_int_equal(sums_ns[TARE_LEDGER_BEFORE_FIRST], ledger->parts_ns[TARE_LEDGER_BEFORE_FIRST]);
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

static int64_t left_out_of(const struct decoded *decoded, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(decoded->header, "left_out"), key));
}

// Rows are some of the recording's, in their order, and what they wait for is still right.
static void check_some_commands(const struct rig *rig, const struct decoded *decoded)
{
	size_t count = decoded_count(decoded, "commands"), at = 0;
	int64_t *numbers = decoded_column(decoded, "commands", "number");
	int64_t *starts = decoded_column(decoded, "commands", "start");
	int64_t *waits = decoded_column(decoded, "waits", "command");

	for (size_t row = 0; row < count; row++) {
		const struct tare_recorded_command *command = &rig->made->commands[numbers[row]];
		assert_true(row == 0 || numbers[row] > numbers[row - 1]);
		assert_int_equal(starts[row], since(command->start_ns));
		for (size_t i = command->first_wait; i < rig->made->recording.wait_count; i++) {
			if (waits[at] != DECODED_UNKNOWN)
				assert_int_equal(numbers[waits[at]], rig->made->waits[i].command);
			at++;
			if (rig->made->waits[i].last)
				break;
		}
	}
	assert_int_equal(at, decoded_count(decoded, "waits"));
	free(numbers);
	free(starts);
	free(waits);
}

static void what_is_too_much_is_left_out(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct rig *rig = some_rig();
		const struct tare_recording *recording = &rig->made->recording;
		struct decoded whole = read_rig(rig, NO_LIMIT, NULL);
		size_t gaps = decoded_count(&whole, "gaps"), length;
		free(write_timeline(rig, NO_LIMIT, &length, NULL));
		for (int percent = 99; percent >= 45; percent -= 9) {
			struct tare_page_left_out left_out;
			struct decoded decoded;
			uint64_t most_bytes = length * (uint64_t)percent / 100;
			size_t written;
			char *text = write_timeline(rig, most_bytes, &written, &left_out);
			assert_true(written <= most_bytes);
			assert_string_not_equal(left_out.why, "");
			if (written == 0) {
				free(text);
				continue;
			}
			decoded = decode_timeline(text, written);
			free(text);
			assert_int_equal(decoded_count(&decoded, "commands") + left_out.commands, recording->command_count);
			assert_int_equal(decoded_count(&decoded, "calls") + left_out.calls, recording->call_count);
			assert_int_equal(decoded_count(&decoded, "phases") + left_out.phases, PHASES);
			assert_int_equal(decoded_count(&decoded, "callbacks") + left_out.callbacks, CALLBACKS);
			assert_int_equal(decoded_count(&decoded, "gaps") + left_out.gaps, gaps);
			assert_int_equal(decoded_count(&decoded, "waits") + left_out.waits, recording->wait_count);
			assert_int_equal(left_out_of(&decoded, "commands"), left_out.commands);
			assert_int_equal(left_out_of(&decoded, "calls"), left_out.calls);
			assert_int_equal(left_out_of(&decoded, "waits"), left_out.waits);
			// No command goes while there are calls.
			assert_true(left_out.commands == 0 || decoded_count(&decoded, "calls") == 0);
			check_some_commands(rig, &decoded);
			decoded_free(&decoded);
		}
		decoded_free(&whole);
		rig_free(rig);
	}
}

// A long row of commands whose lengths rise and fall.
static struct rig *long_rig(void)
{
	struct rig *rig = rig_new(2000000);
	uint32_t thread = made_thread(rig->made, made_process(rig->made, START + 2000000));
	uint32_t queue = made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), false);

	for (int64_t i = 0; i < 1900; i++) {
		int64_t at_ns = START + 1000 * i;
		made_command(rig->made, made_plain_command(thread, queue, TARE_KIND_KERNEL, at_ns, at_ns + 50 + below(50),
		                                           at_ns + below(60), at_ns + 100, at_ns + 200 + i * 7 % 600));
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_QUERY, at_ns + 500, at_ns + 510 + below(9)));
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, at_ns + 600, at_ns + 610 + (i % 10) * 40));
	}
	return rig;
}

static void the_shortest_go_first(void **state)
{
	struct rig *rig = long_rig();
	size_t length, last = SIZE_MAX;
	(void)state;

	free(write_timeline(rig, NO_LIMIT, &length, NULL));
	for (int percent = 95; percent > 10; percent -= 10) {
		struct tare_page_left_out left_out;
		struct decoded decoded = read_rig(rig, length * (uint64_t)percent / 100, &left_out);
		size_t count = decoded_count(&decoded, "commands");
		int64_t *roles = decoded_column(&decoded, "calls", "role");
		int64_t *numbers = decoded_column(&decoded, "commands", "number");
		int64_t shortest_ns = INT64_MAX;
		size_t longer = 0;
		for (size_t i = 0; i < decoded_count(&decoded, "calls"); i++)
			assert_true(roles[i] == TARE_ROLE_WAIT);
		for (size_t i = 0; i < count; i++) {
			int64_t ns = rig->made->commands[numbers[i]].end_ns - rig->made->commands[numbers[i]].start_ns;
			shortest_ns = ns < shortest_ns ? ns : shortest_ns;
		}
		// Of those as long as the shortest some are gone; of those clearly longer none.
		for (size_t i = 0; i < 1900; i++)
			longer += rig->made->commands[i].end_ns - rig->made->commands[i].start_ns > shortest_ns * 9 / 8;
		assert_true(longer <= count && count <= last);
		// Most of what there is room for is used.
		if (left_out.commands > 0)
			assert_true(count > 0);
		last = count;
		free(roles);
		free(numbers);
		decoded_free(&decoded);
	}
	assert_true(last < 1000);
	rig_free(rig);
}

static void nothing_fits(void **state)
{
	struct rig *rig = some_rig();
	struct tare_page_left_out left_out;
	size_t length;
	char *text = write_timeline(rig, 100, &length, &left_out);
	(void)state;

	assert_int_equal(length, 0);
	assert_non_null(strstr(left_out.why, "not even"));
	free(text);
	rig_free(rig);
}

// Times and sizes beyond what the page's numbers hold are not known; their neighbours are.
static void extremes_are_not_known(void **state)
{
	static const int64_t times_ns[] = { INT64_MAX, INT64_MAX - 1, KNOWN + START, KNOWN + START + 1, -KNOWN + START,
		-KNOWN + START - 1, INT64_MIN + 1, 0, START, START + 77 };
	struct rig *rig = rig_new(1000);
	uint32_t thread = made_thread(rig->made, made_process(rig->made, START + 1000));
	uint32_t queue = made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), true);
	struct decoded decoded;
	(void)state;

	for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
		struct tare_recorded_command command = made_plain_command(thread, queue, TARE_KIND_WRITE, START + (int64_t)i,
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
		assert_int_equal(value_at(&decoded, "commands", "amount", i), i % 2 ? DECODED_UNKNOWN : (int64_t)(7 + i));
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
	uint32_t queue = made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), true);
	struct decoded decoded;
	size_t without = 0;
	(void)state;

	for (int64_t i = 0; i < 300; i++)
		made_command(rig->made, made_plain_command(thread, queue, TARE_KIND_KERNEL, START + i, START + i + 1,
		                                           START + i, START + 1000 + i, START + 90000 - i));
	for (int64_t i = 0; i < 300; i++)
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, START + 2000 + i, START + 80000 - i));
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
	} rows[] = { { 0, 0, 0, true }, { 0, 1, 1, true }, { 1000, 0, 1, true }, { 1000, 1, 0, true },
		{ 1000, 1, 0, false }, { 1000, 0, 0, true } };
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig *rig = rig_new(rows[i].wall_ns);
		struct decoded decoded;
		uint32_t thread = made_thread(rig->made, made_process(rig->made, START + rows[i].wall_ns));
		uint32_t queue = made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, TARE_NO_TIME), false);
		int64_t start_ns = rows[i].timed ? START : TARE_NO_TIME;
		if (rows[i].commands)
			made_command(rig->made, made_plain_command(thread, queue, TARE_KIND_KERNEL, START, START,
			                                           start_ns, start_ns, start_ns));
		if (rows[i].calls)
			made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, START, START));
		decoded = read_rig(rig, NO_LIMIT, NULL);
		assert_int_equal(decoded_count(&decoded, "commands"), rows[i].commands);
		assert_int_equal(decoded_count(&decoded, "calls"), rows[i].calls);
		assert_int_equal(json_integer_value(json_object_get(decoded.header, "run_ns")), rows[i].wall_ns);
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

static void a_full_disk_is_told(void **state)
{
	struct rig *rig = long_rig();
	struct tare_error error = { 0 };
	FILE *full = fopen("/dev/full", "w");
	(void)state;

	assert_non_null(full);
	assert_int_equal(tare_report_timeline_write(&rig->run, NO_LIMIT, full, NULL, &error), -EIO);
	assert_non_null(strstr(error.message, "cannot write"));
	fclose(full);
	rig_free(rig);
}

int main(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_there), cmocka_unit_test(what_is_too_much_is_left_out),
		cmocka_unit_test(the_shortest_go_first), cmocka_unit_test(nothing_fits),
		cmocka_unit_test(extremes_are_not_known), cmocka_unit_test(too_many_at_once),
		cmocka_unit_test(little_or_nothing), cmocka_unit_test(a_part_of_the_run),
		cmocka_unit_test(a_full_disk_is_told),
	};

	rng.state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)rng.state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
