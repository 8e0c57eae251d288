// SPDX-License-Identifier: Apache-2.0
// Recordings to write timelines from, for the tests of a page's data.
#pragma once
#include "report/run/report.h"
#include "tests/unit/analysis/ledger/made_recording.h"
#include "timeline_decoder.h"

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
	struct tare_tables tables; // of a run with commands
	struct tare_report run;
};

static struct tare_random rng;

// From TARE_TEST_SEED or the clock; printed.
static inline void seed_timelines(void)
{
	const char *given = getenv("TARE_TEST_SEED");

	rng.state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	// Not among the results, whose first line has to be the version of their format.
	fprintf(stderr, "# TARE_TEST_SEED=%llu\n", (unsigned long long)rng.state);
}

static inline int64_t below(int64_t bound)
{
	return (int64_t)tare_random_below(&rng, (uint64_t)bound);
}

static inline bool one_in(uint64_t n)
{
	return tare_random_below(&rng, n) == 0;
}

// ---- recordings

static inline struct rig *rig_new(int64_t wall_ns)
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
	rig->run = (struct tare_report){ .recording = recording,
		                         .view = &rig->view,
		                         .tables = &rig->tables };
	return rig;
}

static inline void rig_free(struct rig *rig)
{
	free(rig->made);
	free(rig);
}

static inline void some_command(struct rig *rig, int64_t at_ns)
{
	struct tare_recording *recording = &rig->made->recording;
	uint32_t thread = (uint32_t)below((int64_t)recording->thread_count);
	int64_t start_ns = at_ns + below(3000) - 10;
	struct tare_recorded_command command = made_plain_command(
	    thread, one_in(30) ? TARE_NO_INDEX : (uint32_t)below((int64_t)recording->queue_count),
	    (uint8_t)(1 + below(TARE_KIND_KINDS - 1)), at_ns, at_ns + below(200),
	    one_in(5) ? TARE_NO_TIME : at_ns + below(400), start_ns,
	    start_ns + (one_in(6) ? 0 : below(4000)));
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
	command.amount = command.kind == TARE_KIND_KERNEL
	                     ? (one_in(4) ? TARE_NO_INDEX : (uint64_t)below(SHAPES))
	                 : one_in(9) ? UINT64_MAX
	                             : tare_random_next(&rng) >> below(64);
	command.function = (uint16_t)below(TARE_ROLE_COUNT);
	command.stack = TARE_NO_INDEX;
	made_command(rig->made, command);
	for (size_t i = 0; i < count; i++)
		waits[i] = one_in(6) ? MADE_NO_COMMAND
		                     : (uint32_t)below((int64_t)recording->command_count);
	made_waits(rig->made, waits, count);
}

static inline void some_call(struct rig *rig, int64_t at_ns)
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

static inline void some_others(struct rig *rig, int64_t wall_ns)
{
	struct tare_recording *recording = &rig->made->recording;
	int64_t at_ns = START;

	for (int i = 0; i < PHASES; i++, at_ns += below(wall_ns / PHASES))
		rig->phases[recording->phase_count++] = (struct tare_recorded_phase){
			.from_ns = at_ns,
			.to_ns = at_ns + below(3000),
			.thread = (uint32_t)below((int64_t)recording->thread_count),
			.parent = TARE_NO_INDEX,
			.depth = (uint32_t)below(400),
			.name = one_in(2) ? "step" : "a \"b\" </script>",
			.domain = one_in(2) ? "" : "lib\xff",
			.source = (uint8_t)below(3),
			.instant = one_in(3),
			.unended = one_in(4),
			.range = one_in(2)
		};
	at_ns = START;
	for (int i = 0; i < CALLBACKS; i++, at_ns += below(wall_ns / CALLBACKS))
		rig->callbacks[recording->callback_count++] = (struct tare_recorded_callback){
			at_ns, at_ns + below(50), (uint32_t)below((int64_t)recording->thread_count),
			(uint16_t)below(9)
		};
	for (int i = 0; i < SHAPES; i++)
		rig->shapes[recording->shape_count++] =
		    (struct tare_recorded_shape){ 1 + (uint32_t)i,
			                          { tare_random_next(&rng) >> below(64), 2, 3 },
			                          { 64, (uint32_t)i, 0 } };
	for (int i = 0; i < MEMORIES; i++)
		rig->memories[recording->memory_count++] =
		    (struct tare_recorded_memory){ .kind = 1 + (uint32_t)i,
			                           .bytes = tare_random_next(&rng) >> below(64),
			                           .parent = i ? 0 : TARE_NO_INDEX };
}

static inline struct rig *some_rig(void)
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

static inline char *write_timeline(const struct rig *rig, uint64_t most_bytes, size_t *length,
                                   struct tare_page_left_out *left_out)
{
	struct tare_error error = { 0 };
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	assert_non_null(stream);
	assert_int_equal(
	    tare_report_timeline_write(&rig->run, most_bytes, stream, left_out, &error), 0);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static inline struct decoded read_rig(const struct rig *rig, uint64_t most_bytes,
                                      struct tare_page_left_out *left_out)
{
	size_t length;
	char *text = write_timeline(rig, most_bytes, &length, left_out);
	struct decoded decoded = decode_timeline(text, length);

	assert_true(length <= most_bytes);
	free(text);
	return decoded;
}

// A long row of commands whose lengths rise and fall.
static inline struct rig *long_rig(void)
{
	struct rig *rig = rig_new(2000000);
	uint32_t thread = made_thread(rig->made, made_process(rig->made, START + 2000000));
	uint32_t queue =
	    made_queue(rig->made, 0, made_device(rig->made, 0, TARE_NO_INDEX, 0), false);

	for (int64_t i = 0; i < 1900; i++) {
		int64_t at_ns = START + 1000 * i;
		made_command(rig->made,
		             made_plain_command(thread, queue, TARE_KIND_KERNEL, at_ns,
		                                at_ns + 50 + below(50), at_ns + below(60),
		                                at_ns + 100, at_ns + 200 + i * 7 % 600));
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_QUERY, at_ns + 500,
		                                     at_ns + 510 + below(9)));
		made_call(rig->made, made_plain_call(thread, TARE_ROLE_WAIT, at_ns + 600,
		                                     at_ns + 601 + below(399)));
	}
	return rig;
}

static inline int64_t value_at(const struct decoded *decoded, const char *table, const char *column,
                               size_t row)
{
	int64_t *values = decoded_column(decoded, table, column);
	int64_t value = values[row];

	free(values);
	return value;
}

static inline int64_t since(int64_t ns)
{
	return ns == TARE_NO_TIME ? DECODED_UNKNOWN : ns - START;
}
