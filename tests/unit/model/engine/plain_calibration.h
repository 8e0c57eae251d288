// SPDX-License-Identifier: Apache-2.0
// A calibration whose predictions have closed forms. Include after cmocka.h.
#pragma once
#include "model/engine/prediction.h"

#include <math.h>

#define ALL_STAGES (TARE_MODE_COUNT - 1)

static struct tare_error error;

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s", error.message);                                             \
	} while (0)

static inline void close_to(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance * fabs(expected)))
		fail_msg("%.9g is not %.9g", value, expected);
}

// 1024 items of 1 byte in and out; each stage takes 1024 us for all of them and nothing else costs.
static const struct tare_pipeline_work plain_work = { 1024, 1, 1, 1 };

static inline struct tare_calibration plain(void)
{
	struct tare_calibration calibration = { 0 };

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		calibration.points[stage][0] = (struct tare_stage_point){ 1024, 0, 1024e3 };
		calibration.point_count[stage] = 1;
		calibration.modes.alone_ns[stage] = 1024e3;
	}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		calibration.modes.known[mode] = calibration.modes.together[mode] = true;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			calibration.modes.speed[mode][stage] = mode >> stage & 1;
	}
	return calibration;
}

static inline double predict_us(const struct tare_calibration *calibration, uint32_t chunks,
                                uint32_t queues, int order, int mechanism)
{
	struct tare_schedule schedule = { chunks, queues, (enum tare_issue_order)order,
		                          (enum tare_mechanism)mechanism, TARE_CHUNKS_EQUAL };
	double ns = -1;
	must(tare_predict(calibration, &plain_work, &schedule, &ns, &error));
	return ns / 1e3;
}
