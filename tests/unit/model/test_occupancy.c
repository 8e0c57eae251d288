// SPDX-License-Identifier: Apache-2.0
// Occupancy: what NVIDIA's calculator says, by hand from the tables of the CUDA C++ Programming
// Guide.
#include "model/occupancy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Per unit, from the guide's table of compute capabilities.
static const struct tare_occupancy_unit v100 = { 700, 2048, 32, 65536, 98304, 65536, 0 },
                                        turing = { 705, 1024, 16, 65536, 65536, 65536, 0 },
                                        p100 = { 600, 2048, 32, 65536, 65536, 65536, 0 },
                                        a100 = { 800, 2048, 32, 65536, 167936, 65536, 1024 },
                                        ampere = { 806, 1536, 16, 65536, 102400, 65536, 1024 },
                                        h100 = { 900, 2048, 32, 65536, 233472, 65536, 1024 };

static void the_least_limit_counts(void **state)
{
	const struct {
		const struct tare_occupancy_unit *unit;
		struct tare_occupancy_group group;
		uint64_t groups;
		enum tare_occupancy_limit limit;
		double share;
	} rows[] = {
		{ &h100, { 256, 16, 0 }, 8, TARE_OCCUPANCY_ITEMS, 1 },
		{ &h100, { 256, 32, 0 }, 8, TARE_OCCUPANCY_ITEMS, 1 },
		// 40 registers: 1,280 a warp; 12 warps of each quarter's 16,384; 48 of 64.
		{ &h100, { 256, 40, 0 }, 6, TARE_OCCUPANCY_REGISTERS, 0.75 },
		// 33 registers are given as 40.
		{ &h100, { 256, 33, 0 }, 6, TARE_OCCUPANCY_REGISTERS, 0.75 },
		// 168: 5,376 a warp, 3 of each quarter: 12 warps are one group of 8.
		{ &h100, { 256, 168, 0 }, 1, TARE_OCCUPANCY_REGISTERS, 0.125 },
		{ &h100, { 1024, 64, 0 }, 1, TARE_OCCUPANCY_REGISTERS, 0.5 },
		{ &h100, { 128, 255, 0 }, 2, TARE_OCCUPANCY_REGISTERS, 0.125 },
		{ &h100, { 32, 16, 0 }, 32, TARE_OCCUPANCY_GROUPS, 0.5 },
		{ &h100, { 33, 16, 0 }, 32, TARE_OCCUPANCY_ITEMS, 1 },
		// A group takes 1 KiB more than it asks for: 228 KiB hold 4 groups of 48, and 1 of
		// 227.
		{ &h100, { 128, 16, 49152 }, 4, TARE_OCCUPANCY_LOCAL, 0.25 },
		{ &h100, { 128, 16, 232448 }, 1, TARE_OCCUPANCY_LOCAL, 0.0625 },
		{ &a100, { 128, 16, 41 * 1024 }, 3, TARE_OCCUPANCY_LOCAL, 0.1875 },
		{ &ampere, { 256, 32, 0 }, 6, TARE_OCCUPANCY_ITEMS, 1 },
		{ &ampere, { 64, 16, 0 }, 16, TARE_OCCUPANCY_GROUPS, 2.0 / 3 },
		// Nothing is reserved before 8.0; it is given in 256 bytes.
		{ &v100, { 64, 16, 3072 + 1 }, 29, TARE_OCCUPANCY_LOCAL, 29 * 2 / 64.0 },
		{ &turing, { 64, 32, 4096 }, 16, TARE_OCCUPANCY_ITEMS, 1 },
		// Two halves hold 25 warps of 40 registers each, four quarters 12: 6 groups of 8
		// warps either way; of 88 registers 11 and 5.
		{ &p100, { 64, 88, 0 }, 11, TARE_OCCUPANCY_REGISTERS, 22 / 64.0 },
		{ &v100, { 64, 88, 0 }, 10, TARE_OCCUPANCY_REGISTERS, 20 / 64.0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_occupancy is;
		bool known = tare_occupancy(rows[i].unit, &rows[i].group, &is);
		if (!known || is.groups != rows[i].groups || is.limit != rows[i].limit ||
		    fabs(is.share - rows[i].share) > 1e-9)
			fail_msg("row %zu: %llu groups, limit %s, share %f", i,
			         (unsigned long long)is.groups, tare_occupancy_limit_name(is.limit),
			         is.share);
	}
}

static void what_is_not_told_is_not_known(void **state)
{
	const struct tare_occupancy_group group = { 256, 32, 0 };
	struct tare_occupancy_unit unit = h100;
	struct tare_occupancy is;

	(void)state;
	unit.capability = 0;
	assert_false(tare_occupancy(&unit, &group, &is));
	unit.capability = 1300;
	assert_false(tare_occupancy(&unit, &group, &is));
	unit = h100;
	unit.groups = 0;
	assert_false(tare_occupancy(&unit, &group, &is));
	assert_false(tare_occupancy(&h100, &(struct tare_occupancy_group){ 256, 0, 0 }, &is));
	assert_int_equal(is.groups, 0);
	// One that cannot run.
	assert_false(tare_occupancy(&h100, &(struct tare_occupancy_group){ 1024, 65, 0 }, &is));
	assert_false(tare_occupancy(&h100, &(struct tare_occupancy_group){ 32, 32, 1 << 20 }, &is));
	assert_false(tare_occupancy(
	    &h100, &(struct tare_occupancy_group){ UINT64_MAX, UINT64_MAX, UINT64_MAX }, &is));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_limit_counts),
		cmocka_unit_test(what_is_not_told_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
