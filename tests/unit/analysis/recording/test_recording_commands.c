// SPDX-License-Identifier: Apache-2.0
// Commands come out of their packed rows as they went in, whether they fit or not, and as often as
// they are changed.
#include "analysis/recording/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COMMANDS = 4000 };

struct store {
	struct loading loading;
	struct tare_recording recording;
	struct tare_recorded_command *wanted;
	uint64_t random;
};

static void store_open(struct store *store, uint64_t seed)
{
	*store = (struct store){ .random = seed };
	store->loading.recording = &store->recording;
	store->wanted = calloc(COMMANDS, sizeof *store->wanted);
	assert_non_null(store->wanted);
}

static void store_close(struct store *store)
{
	loading_free_commands(&store->loading);
	free(store->recording.commands.rows);
	free(store->recording.commands.likes);
	free(store->recording.commands.pairs);
	free(store->recording.commands.whole);
	free(store->wanted);
}

static uint64_t draw(struct store *store)
{
	store->random ^= store->random << 13;
	store->random ^= store->random >> 7;
	store->random ^= store->random << 17;
	return store->random * UINT64_C(0x2545f4914f6cdd1d);
}

// The first of them, mostly.
static int64_t one_of(struct store *store, const int64_t *values, size_t count)
{
	return values[draw(store) % 8 ? 0 : draw(store) % count];
}
#define ONE_OF(store, ...)                                                                         \
	one_of((store), (const int64_t[]){ __VA_ARGS__ },                                          \
	       sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static const int64_t word = INT64_C(1) << 32, near = INT64_C(1) << 39, far = INT64_C(1) << 47;

// Times at and beyond every end of what a row holds.
static struct tare_recorded_command any_command(struct store *store, int64_t base_ns)
{
	struct tare_recorded_command c = {
		.enter_ns = base_ns + ONE_OF(store, 0, 1, -1, 5000, word - 1, word, -word, far - 1,
		                             far, -far, -far - 1, -base_ns),
		.submitted_ns = TARE_NO_TIME,
		.start_ns = TARE_NO_TIME,
		.end_ns = TARE_NO_TIME,
		.amount = (uint64_t)ONE_OF(store, 0, 7, TARE_NO_INDEX, INT64_MAX, -1),
		.thread = (uint32_t)ONE_OF(store, 0, 1, TARE_NO_INDEX),
		.queue = (uint32_t)ONE_OF(store, 0, 1, 17, TARE_NO_INDEX),
		.object = (uint32_t)ONE_OF(store, 0, 1, TARE_NO_INDEX),
		.first_wait = (uint32_t)ONE_OF(store, TARE_NO_INDEX, TARE_NO_INDEX, 0, 3000000000),
		.function = (uint16_t)ONE_OF(store, 0, 65535),
		.kind = (uint8_t)ONE_OF(store, 0, 1, 255),
		.direction = (uint8_t)ONE_OF(store, 0, 255),
		.alignment = (uint8_t)ONE_OF(store, 0, 255),
		.memory = (uint8_t)ONE_OF(store, 0, 255),
		.flags = (uint8_t)ONE_OF(store, 0, 1, 255),
		.untimed = (uint8_t)ONE_OF(store, 0, 1, 253, 255),
		.stack = (uint32_t)ONE_OF(store, 0, TARE_NO_INDEX),
		.part = (uint32_t)ONE_OF(store, 0, 0, 1, 2, 3) & 3,
		.execution = (uint32_t)ONE_OF(store, 0, 0, 5, TARE_OF_DRIVER) & TARE_OF_DRIVER,
		.active_ns = ONE_OF(store, 0, 0, 0, 1, word - 1, word, -1, INT64_MAX),
	};
	c.exit_ns = c.enter_ns + ONE_OF(store, 0, 1000, word - 1, word, -1);
	if (draw(store) % 4)
		c.submitted_ns =
		    c.enter_ns + ONE_OF(store, 0, 900, -900, INT32_MAX - 1, INT32_MAX, INT32_MIN,
		                        INT32_MIN + 1, INT32_MIN + 2, -c.enter_ns);
	if (draw(store) % 4)
		c.start_ns = c.enter_ns +
		             ONE_OF(store, 0, 900, -900, word, near - 1, near, -near, -near - 1);
	if (draw(store) % 8 && c.start_ns != TARE_NO_TIME)
		c.end_ns =
		    c.start_ns + ONE_OF(store, 0, 800, word - 3, word - 2, word - 1, word, -1);
	return c;
}

static void assert_same(const struct tare_recorded_command *c,
                        const struct tare_recorded_command *wanted)
{
#define SAME(member) assert_true(c->member == wanted->member)
	SAME(enter_ns), SAME(exit_ns), SAME(submitted_ns), SAME(start_ns), SAME(end_ns);
	SAME(amount), SAME(thread), SAME(queue), SAME(object), SAME(first_wait), SAME(function);
	SAME(kind), SAME(direction), SAME(alignment), SAME(memory), SAME(flags), SAME(untimed);
	SAME(stack), SAME(part), SAME(execution), SAME(active_ns);
#undef SAME
}

static void assert_all(const struct store *store)
{
	for (size_t i = 0; i < store->recording.command_count; i++) {
		struct tare_recorded_command c = loading_command(&store->loading, i);
		assert_same(&c, &store->wanted[i]);
		if (c.untimed != LOADING_RAW)
			assert_same(TARE_COMMAND(&store->recording, i), &store->wanted[i]);
	}
}

static void add(struct store *store, struct tare_recorded_command c)
{
	uint32_t index = loading_add_command(&store->loading, &c);
	assert_int_equal(index + 1, store->recording.command_count);
	store->wanted[index] = c;
}

static void commands_come_out_as_they_went_in(void **state)
{
	(void)state;
	const int64_t base_ns = INT64_C(5000000000000);
	struct store store;
	store_open(&store, 7);
	add(&store, (struct tare_recorded_command){ .enter_ns = base_ns, .exit_ns = base_ns });
	while (store.recording.command_count < COMMANDS)
		add(&store, any_command(&store, base_ns));
	assert_all(&store);
	// Both forms are met.
	assert_in_range(store.recording.commands.whole_count, COMMANDS / 10, COMMANDS * 9 / 10);
	for (int i = 0; i < COMMANDS; i++) {
		size_t at = draw(&store) % COMMANDS;
		store.wanted[at] = any_command(&store, base_ns);
		assert_int_equal(loading_put_command(&store.loading, at, &store.wanted[at]), 0);
	}
	assert_all(&store);
	store_close(&store);
}

// As long as the stamps are a device's ticks, whatever its counter began with.
static void ticks_come_out_as_they_went_in(void **state)
{
	(void)state;
	struct store store;
	store_open(&store, 9);
	for (int i = 0; i < COMMANDS; i++) {
		uint32_t queue = (uint32_t)(draw(&store) % 40);
		int64_t enter_ns = INT64_C(1000000000) + 1000 * i;
		int64_t start =
		    (int64_t)(UINT64_C(0x3700000000000000) * (queue % 5)) + enter_ns / 2;
		add(&store, (struct tare_recorded_command){ .enter_ns = enter_ns,
		                                            .exit_ns = enter_ns + 10,
		                                            .submitted_ns = i % 3 ? start - 5 : 0,
		                                            .start_ns = start,
		                                            .end_ns = start + 70,
		                                            .queue = queue,
		                                            .first_wait = TARE_NO_INDEX,
		                                            .untimed = LOADING_RAW });
	}
	assert_all(&store);
	for (int i = 0; i < COMMANDS; i += 2) {
		struct tare_recorded_command *c = &store.wanted[i];
		c->start_ns = c->enter_ns + 3;
		c->end_ns = c->enter_ns + 4;
		c->untimed = 0;
		assert_int_equal(loading_put_command(&store.loading, (size_t)i, c), 0);
	}
	assert_all(&store);
	store_close(&store);
}

// A program that asks for the same again and again takes 28 bytes for each.
static void equal_commands_share_what_they_have_in_common(void **state)
{
	(void)state;
	struct store store;
	store_open(&store, 11);
	for (uint32_t i = 0; i < COMMANDS; i++)
		add(&store,
		    (struct tare_recorded_command){ .enter_ns = 1000 * (int64_t)i,
		                                    .exit_ns = 1000 * (int64_t)i + 300,
		                                    .submitted_ns = TARE_NO_TIME,
		                                    .start_ns = 1000 * (int64_t)i + 700,
		                                    .end_ns = 1000 * (int64_t)i + 750,
		                                    .object = i % 3,
		                                    .queue = i % 2,
		                                    .first_wait = i % 4 ? TARE_NO_INDEX : i });
	assert_all(&store);
	assert_int_equal(store.recording.commands.whole_count, 0);
	assert_int_equal(store.recording.commands.like_count, 9);
	store_close(&store);
}

// Commands whose numbers share a place wait in the map: each is found, and taken once.
static void pending_commands_may_share_a_place(void **state)
{
	enum { TURNS = 3, TRACK = 5 };
	struct load_pending pending = { 0 };
	uint64_t same[TURNS], moved = loading_identity(TRACK + 1, 7 + LOADING_NEAR - 257);
	(void)state;
	for (uint32_t i = 0; i < TURNS; i++)
		same[i] = loading_identity(TRACK, 7 + i * LOADING_NEAR);
	assert_int_equal(loading_near(moved), loading_near(same[0]));
	for (uint32_t i = 0; i < TURNS; i++)
		assert_true(loading_put_pending(&pending, same[i], 100 + i));
	assert_true(loading_put_pending(&pending, moved, 200));
	assert_int_equal(pending.far.count, TURNS);
	for (uint32_t i = 0; i < TURNS; i++)
		assert_int_equal(loading_find_pending(&pending, same[i]), 100 + i);
	// One that was in the map, put again once its place is free, is not there any more.
	assert_int_equal(loading_take_pending(&pending, same[0]), 100);
	assert_int_equal(loading_find_pending(&pending, same[0]), TARE_ID_ABSENT);
	assert_true(loading_put_pending(&pending, same[1], 301));
	assert_int_equal(pending.far.count, TURNS - 1);
	assert_int_equal(loading_take_pending(&pending, same[1]), 301);
	assert_int_equal(loading_take_pending(&pending, same[1]), TARE_ID_ABSENT);
	assert_int_equal(loading_take_pending(&pending, same[2]), 102);
	assert_int_equal(loading_take_pending(&pending, moved), 200);
	assert_int_equal(pending.far.count, 0);
	tare_id_map_free(&pending.far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_come_out_as_they_went_in),
		cmocka_unit_test(ticks_come_out_as_they_went_in),
		cmocka_unit_test(equal_commands_share_what_they_have_in_common),
		cmocka_unit_test(pending_commands_may_share_a_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
