// SPDX-License-Identifier: Apache-2.0
// What the prediction makes of graphs, of kernels that leave room for others, of engines that stay
// with a queue, and of kernels whose points were measured at another length.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plain_calibration.h"

static void a_longer_kernel_has_the_same_launch(void **state)
{
	static const struct tare_stage_point before[] = {
		{ 16, 5e3, 4e3, 0 },
		{ 1024, 68e3, 67e3, 66e3 },
	};
	struct tare_stage_point points[2];
	(void)state;
	// 4 us and 1/16 us an item; then a hundred times as long an item.
	memcpy(points, before, sizeof points);
	tare_stage_points_stretch(points, 2, 1024, 68e3, 6404e3);
	close_to(points[0].isolated_ns, 104e3, 1e-9);
	close_to(points[0].back_to_back_ns, 103e3, 1e-9);
	assert_true(points[0].across_ns == 0);
	close_to(points[1].isolated_ns, 6404e3, 1e-9);
	close_to(points[1].across_ns, 6402e3, 1e-9);
	// Shorter: down to the launch, and never below what all of it would be, scaled.
	memcpy(points, before, sizeof points);
	tare_stage_points_stretch(points, 2, 1024, 68e3, 6.8e3);
	close_to(points[0].isolated_ns, 5e3 - 61.2e3 / 64, 1e-9);
	close_to(points[1].isolated_ns, 6.8e3, 1e-9);
	close_to(points[1].across_ns, 6.6e3, 1e-9);
	memcpy(points, before, sizeof points);
	tare_stage_points_stretch(points, 2, 1024, 0, 6.8e3);
	assert_memory_equal(points, before, sizeof points);
}

static void kernels_that_leave_room_run_beside_each_other(void **state)
{
	struct tare_calibration calibration = plain();
	struct tare_stage_point *kernel = &calibration.points[TARE_STAGE_KERNEL][0];
	double us;
	(void)state;
	// The whole kernel fills a quarter of the device; copies are next to nothing.
	calibration.modes.alone_ns[TARE_STAGE_TO_DEVICE] = 1e3;
	calibration.modes.alone_ns[TARE_STAGE_TO_HOST] = 1e3;
	calibration.points[TARE_STAGE_TO_DEVICE][0] = (struct tare_stage_point){ 1024, 1e3, 1e3 };
	calibration.points[TARE_STAGE_TO_HOST][0] = (struct tare_stage_point){ 1024, 1e3, 1e3 };
	*kernel = (struct tare_stage_point){ 1024, 1024e3, 1024e3, 256e3 };
	close_to(predict_us(&calibration, 64, 1, 0, 0), 1026, 0.001);
	close_to(predict_us(&calibration, 64, 2, 0, 0), 1026 / 2.0, 0.02);
	us = predict_us(&calibration, 64, 4, 0, 0);
	assert_true(us > 256 && us < 1.1 * 256);
	// Never below what the device does with as many as there can be.
	us = predict_us(&calibration, 64, 16, 0, 0);
	assert_true(us > 256 && us < 1.1 * 256);
	// In one queue for all kernels each waits for the one before.
	close_to(predict_us(&calibration, 64, 3, 0, TARE_MECHANISM_STAGE_QUEUES), 1024, 0.01);
	// A little less than one after the other is noise.
	kernel->across_ns = 0.95 * 1024e3;
	close_to(predict_us(&calibration, 64, 4, 0, 0), 1024, 0.01);
	kernel->across_ns = 0;
	close_to(predict_us(&calibration, 64, 4, 0, 0), 1024, 0.01);
}

static void a_graph_is_issued_by_its_launch(void **state)
{
	struct tare_calibration calibration = plain();
	(void)state;
	calibration.issue_ns = 100e3;
	calibration.issue_event_ns = 50e3;
	calibration.graph_launch_ns = 40e3;
	close_to(predict_us(&calibration, 64, 4, 0, TARE_MECHANISM_GRAPH), 40 + 1024.0 * 66 / 64,
	         1e-9);
	close_to(predict_us(&calibration, 64, 1, 0, TARE_MECHANISM_GRAPH), 40 + 3 * 1024, 1e-9);
	calibration.graph_node_ns = 10e3;
	close_to(predict_us(&calibration, 64, 4, 0, TARE_MECHANISM_GRAPH),
	         40 + (3 * 63 + 1) * 10 + 3 * 16, 1e-9);
}

static void an_engine_may_stay_with_a_queue(void **state)
{
	static const struct {
		uint32_t chunks, queues;
		int order;
		double in_turn, staying;
	} rows[] = {
		// Two queues with two chunks of 256 us each: as two chunks of 512 us.
		{ 4, 2, TARE_ORDER_BREADTH_FIRST, 10 * 256, 8 * 256 },
		// One chunk a queue, or the next one is not ready anyway: nothing to stay for.
		{ 4, 4, TARE_ORDER_BREADTH_FIRST, 6 * 256, 6 * 256 },
		{ 16, 4, TARE_ORDER_DEPTH_FIRST, 18 * 64, 18 * 64 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int stays = 0; stays < 2; stays++) {
			struct tare_calibration calibration = plain();
			calibration.stays = stays;
			close_to(predict_us(&calibration, rows[i].chunks, rows[i].queues,
			                    rows[i].order, 0),
			         stays ? rows[i].staying : rows[i].in_turn, 1e-9);
		}
	// It waits for the gap between two operations of the queue.
	struct tare_calibration calibration = plain();
	calibration.stays = true;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		calibration.points[stage][0] = (struct tare_stage_point){ 1024, 1024e3, 1025e3 };
	close_to(predict_us(&calibration, 4, 2, TARE_ORDER_BREADTH_FIRST, 0), 8 * 256 + 4, 1e-9);
}

// Measured at 16, 32 and 128 chunks over four queues.
static void engines_that_stay_for_a_while_are_corrected(void **state)
{
	static const struct {
		uint32_t chunks, queues;
		double factor;
	} rows[] = {
		{ 8, 4, 2 },   { 16, 4, 2 },  { 32, 4, 1.2 }, { 64, 4, 1.1 },
		{ 128, 4, 1 }, { 256, 4, 1 }, { 32, 2, 1.1 }, { 32, 8, 1.3 },
	};
	struct tare_calibration known = plain(), corrected;
	(void)state;
	known.stays = true;
	corrected = known;
	corrected.correction[TARE_MECHANISM_CHUNK_QUEUES][TARE_ORDER_BREADTH_FIRST] =
	    (struct tare_kind_correction){ 3, { 16, 32, 128 }, { 2, 1.2, 1 }, 4 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		close_to(predict_us(&corrected, rows[i].chunks, rows[i].queues,
		                    TARE_ORDER_BREADTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES),
		         rows[i].factor * predict_us(&known, rows[i].chunks, rows[i].queues,
		                                     TARE_ORDER_BREADTH_FIRST,
		                                     TARE_MECHANISM_CHUNK_QUEUES),
		         1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_longer_kernel_has_the_same_launch),
		cmocka_unit_test(kernels_that_leave_room_run_beside_each_other),
		cmocka_unit_test(a_graph_is_issued_by_its_launch),
		cmocka_unit_test(an_engine_may_stay_with_a_queue),
		cmocka_unit_test(engines_that_stay_for_a_while_are_corrected),
	};
	return cmocka_run_group_tests_name("prediction_kinds", tests, NULL, NULL);
}
