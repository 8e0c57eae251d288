// SPDX-License-Identifier: Apache-2.0
// What follows from the counters of kernels made by hand.
#include "analysis/hotspots/hierarchy.h"
#include "made_counted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_near(double is, double wanted)
{
	assert_true(fabs(is - wanted) <= 1e-9 * fabs(wanted));
}

static struct tare_hotspot derive(const struct tare_counted_kernel *kernel)
{
	struct tare_hotspot hotspot;

	tare_hotspot_derive(kernel, &made_device, &hotspot);
	return hotspot;
}

static void traffic_is_bytes_rate_and_shares(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
	struct tare_hotspot hotspot = derive(&kernel);
	const struct tare_edge_traffic *l1 = &hotspot.edges[TARE_EDGE_REGISTERS_L1],
	                               *l2 = &hotspot.edges[TARE_EDGE_L1_L2],
	                               *device = &hotspot.edges[TARE_EDGE_L2_DEVICE],
	                               *host = &hotspot.edges[TARE_EDGE_HOST];

	(void)state;
	assert_near(l1->bytes, 17.6e9);
	assert_true(isnan(l1->read_bytes) && isnan(l1->write_bytes));
	assert_near(l1->bytes_per_s, 8.8e12);
	assert_near(l1->share, 88);
	assert_near(l1->measured_share, 88);
	assert_near(l1->over_compulsory, 17.6e9 / 48e6);
	assert_near(l2->read_bytes, 2.4e9);
	assert_near(l2->write_bytes, 16e6);
	assert_near(l2->bytes, 2.416e9);
	assert_near(l2->share, 40);
	assert_near(device->bytes_per_s, 236e6 / 2e-3);
	assert_near(device->measured_share, 100 * 236e6 / 2e-3 / 0.9e12);
	assert_near(device->over_compulsory, 236.0 / 48);
	assert_int_equal(device->origin, TARE_RATE_SAME);
	assert_true(isnan(host->bytes) && isnan(host->share) && isnan(host->measured_share));
	assert_int_equal(host->state, TARE_COUNTER_NOT_ASKED);
	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++)
		assert_int_equal(hotspot.edges[edge].binding, edge == TARE_EDGE_REGISTERS_L1);
}

static void no_edge_binds_what_is_not_decided(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_hotspot hotspot;

	(void)state;
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 90);
	hotspot = derive(&kernel);
	assert_int_equal(hotspot.verdict.bound, TARE_KERNEL_BOUND_DEVICE_MEMORY);
	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++)
		assert_false(hotspot.edges[edge].binding);
}

static void launches_of_other_groups_are_divided_only_if_alike(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
	struct tare_edge_traffic edge;

	(void)state;
	kernel.values[TARE_COUNTER_L1_BYTES].group = 1;
	made_spread(&kernel, TARE_COUNTER_DURATION_NS, 1.99e6, 2.01e6);
	edge = derive(&kernel).edges[TARE_EDGE_REGISTERS_L1];
	assert_int_equal(edge.origin, TARE_RATE_OTHER);
	assert_near(edge.bytes_per_s, 8.8e12);
	made_spread(&kernel, TARE_COUNTER_DURATION_NS, 1e6, 3e6);
	edge = derive(&kernel).edges[TARE_EDGE_REGISTERS_L1];
	assert_int_equal(edge.origin, TARE_RATE_UNLIKE);
	assert_true(isnan(edge.bytes_per_s) && isnan(edge.measured_share));
	assert_near(edge.bytes, 17.6e9);
	// In one group, spread or not, they belong together.
	assert_int_equal(derive(&kernel).edges[TARE_EDGE_L2_DEVICE].origin, TARE_RATE_SAME);
}

static void without_a_counted_time_the_recording_has_one(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
	struct tare_hotspot hotspot;

	(void)state;
	made_unset(&kernel, TARE_COUNTER_DURATION_NS, TARE_COUNTER_NO_INSTANCE);
	kernel.mean_ns = 4000000;
	hotspot = derive(&kernel);
	assert_false(hotspot.duration_counted);
	assert_near(hotspot.duration_ns, 4e6);
	assert_int_equal(hotspot.edges[TARE_EDGE_L2_DEVICE].origin, TARE_RATE_RECORDING);
	assert_near(hotspot.edges[TARE_EDGE_L2_DEVICE].bytes_per_s, 236e6 / 4e-3);
	kernel.mean_ns = 0;
	assert_true(isnan(derive(&kernel).edges[TARE_EDGE_L2_DEVICE].bytes_per_s));
}

static void counted_launches_that_are_not_like_the_recorded_ones_are_seen(void **state)
{
	static const struct {
		uint64_t mean_ns;
		bool unlike;
	} rows[] = { { 0, false },       { 1500000, true }, { 1650000, false }, { 2000000, false },
		     { 2400000, false }, { 2600000, true }, { 20000000, true } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
		kernel.mean_ns = rows[i].mean_ns;
		assert_int_equal(derive(&kernel).unlike_recorded, rows[i].unlike);
	}
}

static void time_of_cores_adds_up(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_FEW);
	struct tare_core_time time = derive(&kernel).time;

	(void)state;
	assert_near(time.active, 8.75);
	assert_near(time.stalled, 26.25);
	assert_near(time.idle, 65);
	made_unset(&kernel, TARE_COUNTER_ISSUE_SHARE, TARE_COUNTER_REFUSED);
	time = derive(&kernel).time;
	assert_true(isnan(time.active) && isnan(time.stalled));
	assert_near(time.idle, 65);
	made_unset(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, TARE_COUNTER_REFUSED);
	time = derive(&kernel).time;
	assert_true(isnan(time.active) && isnan(time.stalled) && isnan(time.idle));
}

static void arithmetic_is_of_the_kinds_that_were_counted(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
	struct tare_arithmetic arithmetic = derive(&kernel).arithmetic;

	(void)state;
	assert_near(arithmetic.total_flop, 17.2e9);
	assert_near(arithmetic.flop_per_s, 8.6e12);
	assert_near(arithmetic.measured_share, 100 * 8.6 / 18);
	assert_int_equal(arithmetic.most, TARE_FLOP_FP32);
	assert_near(arithmetic.intensity[TARE_EDGE_L2_DEVICE], 17.2e9 / 236e6);
	assert_near(arithmetic.intensity[TARE_EDGE_REGISTERS_L1], 17.2 / 17.6);
	assert_true(isnan(arithmetic.intensity[TARE_EDGE_HOST]));
	assert_false(arithmetic.partial);
	made_unset(&kernel, TARE_COUNTER_FLOP_FP64, TARE_COUNTER_NOT_ON_DEVICE);
	assert_true(derive(&kernel).arithmetic.partial);
	assert_near(derive(&kernel).arithmetic.total_flop, 17.2e9);
	// Two kinds: each is held against its own ceiling.
	made_set(&kernel, TARE_COUNTER_FLOP_FP64, 2.8e9);
	assert_near(derive(&kernel).arithmetic.total_flop, 20e9);
	assert_near(derive(&kernel).arithmetic.measured_share, 100 * 8.6 / 18);
	// What the matrix engines do, no counter of FLOP sees.
	kernel = made_kernel(MADE_MATRIX);
	assert_true(derive(&kernel).arithmetic.partial);
	kernel = made_uncounted("x");
	assert_true(isnan(derive(&kernel).arithmetic.total_flop));
}

static void the_gain_is_what_other_limits_leave(void **state)
{
	static const struct {
		enum made_kernel of;
		double at_ceiling, at_next;
		enum tare_kernel_bound next;
	} rows[] = {
		{ MADE_COPY, 0.92, 0.45, TARE_KERNEL_BOUND_L2 },
		{ MADE_NAIVE, 0.88, 0.40, TARE_KERNEL_BOUND_L2 },
		{ MADE_FMA, 0.65 * 0.99, 0.01, TARE_KERNEL_BOUND_DEVICE_MEMORY },
		{ MADE_CHASE, 0.09, NAN, TARE_KERNEL_BOUND_L2 },
		{ MADE_ONE, 0.009, NAN, TARE_KERNEL_BOUND_NOT_KNOWN },
		{ MADE_FEW, 0.35, NAN, TARE_KERNEL_BOUND_NOT_KNOWN },
		{ MADE_CAPTURED, NAN, NAN, TARE_KERNEL_BOUND_NOT_KNOWN },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_counted_kernel kernel = made_kernel(rows[i].of);
		struct tare_gain gain = derive(&kernel).gain;
		assert_int_equal(gain.next, rows[i].next);
		assert_true(isnan(gain.at_ceiling) == isnan(rows[i].at_ceiling));
		assert_true(isnan(gain.at_next) == isnan(rows[i].at_next));
		if (!isnan(gain.at_ceiling))
			assert_near(gain.at_ceiling, rows[i].at_ceiling);
		if (!isnan(gain.at_next))
			assert_near(gain.at_next, rows[i].at_next);
	}
}

static void imbalance_is_the_mean_core_beside_the_busiest(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);

	(void)state;
	assert_true(isnan(derive(&kernel).imbalance));
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_LEAST, 10);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MEAN, 60);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MOST, 80);
	assert_near(derive(&kernel).imbalance, 25);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MOST, 40);
	assert_true(isnan(derive(&kernel).imbalance));
	assert_near(derive(&kernel).lanes, 31);
}

static void what_cannot_be_is_n_a(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_hotspot hotspot;

	(void)state;
	made_set(&kernel, TARE_COUNTER_DEVICE_READ_BYTES, 5e9);
	made_set(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, 111);
	hotspot = derive(&kernel);
	assert_true(isnan(hotspot.edges[TARE_EDGE_L2_DEVICE].bytes));
	assert_true(isnan(hotspot.edges[TARE_EDGE_L2_DEVICE].bytes_per_s));
	assert_true(isnan(hotspot.time.idle));
	// Of the size that was given nothing is known.
	kernel = made_kernel(MADE_SHARED);
	assert_true(isnan(derive(&kernel).edges[TARE_EDGE_L2_DEVICE].over_compulsory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traffic_is_bytes_rate_and_shares),
		cmocka_unit_test(no_edge_binds_what_is_not_decided),
		cmocka_unit_test(launches_of_other_groups_are_divided_only_if_alike),
		cmocka_unit_test(without_a_counted_time_the_recording_has_one),
		cmocka_unit_test(counted_launches_that_are_not_like_the_recorded_ones_are_seen),
		cmocka_unit_test(time_of_cores_adds_up),
		cmocka_unit_test(arithmetic_is_of_the_kinds_that_were_counted),
		cmocka_unit_test(the_gain_is_what_other_limits_leave),
		cmocka_unit_test(imbalance_is_the_mean_core_beside_the_busiest),
		cmocka_unit_test(what_cannot_be_is_n_a),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
