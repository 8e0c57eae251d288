// SPDX-License-Identifier: Apache-2.0
// A calibration made ready to predict many schedules; for the files of the prediction only.
#pragma once
#include "model/engine/engine.h"
#include "model/engine/prediction.h"

// What a stage costs by the amount of work: straight lines between the points.
struct tare_stage_cost {
	size_t count;
	double amount[TARE_STAGE_POINTS];
	double occupied_ns[TARE_STAGE_POINTS]; // holds the engine
	double latency_ns[TARE_STAGE_POINTS];  // on top for what depends on it; holds nothing
	// the same, and the next in the queue waits for it, too
	double queue_ns[TARE_STAGE_POINTS];
	double fixed_ns; // the part that does not grow; not slowed by others
};

struct tare_predictor {
	const struct tare_calibration *calibration;
	struct tare_pipeline_work work;
	struct tare_script script; // engines, concurrent speeds, gaps
	// the engines, where stages have their own queues
	struct tare_script_engine apart[TARE_STAGE_COUNT];
	size_t apart_count;
	struct tare_stage_cost costs[TARE_STAGE_COUNT];
	uint32_t stages; // bits of the stages that the work has
	// Working space for `capacity` chunks.
	uint32_t capacity;
	uint64_t *starts, *sizes;
	struct tare_step *steps;
	struct tare_model_operation *operations;
	struct tare_model_operation **previous; // of each chunk: its last operation so far
	struct tare_model_operation **waits;
};

// The calibration must outlive the predictor; its gap_ns, switch_ns, event_gap_ns and
// out_of_order_gap_ns may be changed between predictions, nothing else. NULL: out of memory, or a
// stage without measurements (-ENODATA in *status).
struct tare_predictor *tare_predictor_new(const struct tare_calibration *calibration,
                                          const struct tare_pipeline_work *work, int *status,
                                          struct tare_error *error);
void tare_predictor_free(struct tare_predictor *predictor);

// As tare_predict, but gives up with *ns = INFINITY once it is sure to take longer than `limit_ns`.
int tare_predictor_run(struct tare_predictor *predictor, const struct tare_schedule *schedule,
                       double limit_ns, double *ns, struct tare_error *error);
