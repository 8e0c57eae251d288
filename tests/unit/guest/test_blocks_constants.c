// SPDX-License-Identifier: Apache-2.0
// Values of specialisation constants in the words of modules: numbers of each width, truths, and
// what is refused.
#include "guest/blocks/levelzero.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define OP(length, op) ((uint32_t)(length) << 16 | (op))
enum { DECORATE = 71, INT = 21, FLOAT = 22, BOOL = 20, SPEC = 50, PLAIN = 43, FUNCTION = 54 };
enum { CHAR = 1, SHORT, UCHAR, WORD, LONG, HALF, TRUTH, A = 10, B, C, D, E, F, G, H };
#define SPEC_ID(target, id) OP(4, DECORATE), (target), 1, (id)

// Constant X has the id X and the SpecId 100 + X, but H, which shares that of G.
static const uint32_t module[] = { 0x07230203,
	                           0x10000,
	                           0,
	                           30,
	                           0, //
	                           SPEC_ID(A, 110),
	                           SPEC_ID(B, 111),
	                           SPEC_ID(C, 112),
	                           SPEC_ID(D, 113),
	                           SPEC_ID(E, 114),
	                           SPEC_ID(F, 115),
	                           SPEC_ID(G, 116),
	                           SPEC_ID(H, 116), //
	                           OP(4, DECORATE),
	                           A,
	                           44,
	                           4, // Alignment 4 stays
	                           OP(4, INT),
	                           CHAR,
	                           8,
	                           1,
	                           OP(4, INT),
	                           SHORT,
	                           16,
	                           1,
	                           OP(4, INT),
	                           UCHAR,
	                           8,
	                           0,
	                           OP(4, INT),
	                           WORD,
	                           32,
	                           0,
	                           OP(4, INT),
	                           LONG,
	                           64,
	                           1,
	                           OP(3, FLOAT),
	                           HALF,
	                           16,
	                           OP(2, BOOL),
	                           TRUTH, //
	                           OP(4, SPEC),
	                           CHAR,
	                           A,
	                           7,
	                           OP(4, SPEC),
	                           SHORT,
	                           B,
	                           7,
	                           OP(4, SPEC),
	                           UCHAR,
	                           C,
	                           7,
	                           OP(4, SPEC),
	                           WORD,
	                           D,
	                           7,
	                           OP(5, SPEC),
	                           LONG,
	                           E,
	                           7,
	                           0,
	                           OP(4, SPEC),
	                           HALF,
	                           F,
	                           7,
	                           OP(3, 48),
	                           TRUTH,
	                           G,
	                           OP(3, 49),
	                           TRUTH,
	                           H, //
	                           OP(5, FUNCTION),
	                           1,
	                           2,
	                           0,
	                           3,
	                           OP(1, 56) };
enum { WORDS = sizeof module / sizeof *module };

static uint32_t made[WORDS];

static size_t specialise(uint32_t count, const uint32_t *ids, const void *const *values)
{
	const ze_module_constants_t given = { count, ids, (const void **)(uintptr_t)values };

	memcpy(made, module, sizeof module);
	return blocks_ze_specialise(&given, made, sizeof module);
}

// The instruction in `made` whose third word is that id, and which is no decoration.
static const uint32_t *find(uint32_t id, size_t bytes)
{
	for (size_t at = 5; at < bytes / 4; at += made[at] >> 16)
		if ((made[at] & 0xffff) >= 41 && (made[at] & 0xffff) <= SPEC && made[at + 2] == id)
			return made + at;
	return NULL;
}

static unsigned decorations(size_t bytes)
{
	unsigned count = 0;

	for (size_t at = 5; at < bytes / 4; at += made[at] >> 16)
		count += (made[at] & 0xffff) == DECORATE;
	return count;
}

static void check_number(uint32_t target, uint32_t id, const void *value, uint32_t low,
                         uint32_t high)
{
	size_t bytes = specialise(1, &id, &value);
	const uint32_t *at = find(target, bytes);

	assert_int_equal(bytes, sizeof module - 4 * sizeof *module);
	assert_int_equal(decorations(bytes), 8);
	assert_non_null(at);
	assert_int_equal(at[0] & 0xffff, PLAIN);
	assert_int_equal(at[3], low);
	if (at[0] >> 16 == 5)
		assert_int_equal(at[4], high);
	// All others are as they were.
	assert_int_equal(made[bytes / 4 - 1], OP(1, 56));
	assert_int_equal(find(target == A ? B : A, bytes)[0] & 0xffff, SPEC);
}

static void numbers_have_their_width(void **state)
{
	const struct {
		int8_t value;
		uint8_t beyond[3];
	} minus = { -3, { 0xaa, 0xaa, 0xaa } };
	const int16_t narrow = -300;
	const uint8_t bare = 0xfd;
	const uint32_t word = 0x80000001;
	const int64_t wide = INT64_C(-5000000000);
	const uint16_t half = 0xbc00;

	(void)state;
	check_number(A, 110, &minus, (uint32_t)-3, 0);
	check_number(B, 111, &narrow, (uint32_t)-300, 0);
	check_number(C, 112, &bare, 0xfd, 0);
	check_number(D, 113, &word, word, 0);
	check_number(E, 114, &wide, (uint32_t)wide, (uint32_t)((uint64_t)wide >> 32));
	check_number(F, 115, &half, 0xbc00, 0);
}

static void truths_are_bytes_and_share_an_id(void **state)
{
	const uint8_t no[] = { 0, 1, 1, 1 }, yes[] = { 2, 0, 0, 0 };
	const void *value = no;
	uint32_t id = 116;
	size_t bytes = specialise(1, &id, &value);

	(void)state;
	assert_int_equal(bytes, sizeof module - 8 * sizeof *module);
	assert_int_equal(find(G, bytes)[0], OP(3, 42));
	assert_int_equal(find(H, bytes)[0], OP(3, 42));
	value = yes;
	bytes = specialise(1, &id, &value);
	assert_int_equal(find(G, bytes)[0], OP(3, 41));
	assert_int_equal(find(H, bytes)[0], OP(3, 41));
}

static void unknown_ids_are_passed_over(void **state)
{
	const uint32_t word = 5;
	const void *values[] = { &word, &word };
	const uint32_t ids[] = { 7, 113 };

	(void)state;
	assert_int_equal(specialise(1, ids, values), sizeof module);
	assert_memory_equal(made, module, sizeof module);
	assert_int_equal(specialise(2, ids, values), sizeof module - 4 * sizeof *module);
}

static void what_is_not_sure_is_refused(void **state)
{
	const uint32_t word = 5, twice[] = { 113, 113 };
	const void *values[] = { &word, &word }, *none[] = { NULL };
	uint32_t id = 113;
	const ze_module_constants_t given = { 1, &id, values }, no_ids = { 1, NULL, values };

	(void)state;
	assert_int_equal(specialise(2, twice, values), 0);
	assert_int_equal(specialise(1, &id, none), 0);
	memcpy(made, module, sizeof module);
	assert_int_equal(blocks_ze_specialise(&no_ids, made, sizeof module), 0);
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module - 1), 0);
	assert_int_equal(blocks_ze_specialise(&given, made, 4 * sizeof *made), 0);
	// Of the other byte order; an instruction that goes on behind the end; one of no length.
	made[0] = 0x03022307;
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module), 0);
	made[0] = module[0];
	made[5] = OP(WORDS, DECORATE);
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module), 0);
	made[5] = OP(0, DECORATE);
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module), 0);
	// A SpecId of what is no specialisation constant, such as a group of decorations.
	memcpy(made, module, sizeof module);
	made[5 + 3 * 4 + 1] = 29;
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module), 0);
	// A number of 128 bits.
	memcpy(made, module, sizeof module);
	for (size_t at = 0; at + 3 < WORDS; at++)
		if (made[at] == OP(4, INT) && made[at + 1] == WORD)
			made[at + 2] = 128;
	assert_int_equal(blocks_ze_specialise(&given, made, sizeof module), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_their_width),
		cmocka_unit_test(truths_are_bytes_and_share_an_id),
		cmocka_unit_test(unknown_ids_are_passed_over),
		cmocka_unit_test(what_is_not_sure_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
