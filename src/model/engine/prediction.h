// SPDX-License-Identifier: Apache-2.0
// How long a schedule will take: the engine model, calibrated by what was measured of a device; and
// which schedules are worth trying.
#pragma once
#include "model/engine/schedule.h"

#include <stdint.h>

// One size at which a stage was timed alone.
struct tare_stage_point {
	uint64_t amount;        // bytes, or items of the kernel
	double isolated_ns;     // one alone; <= 0: not measured
	double back_to_back_ns; // each of many in a row in one queue, without gaps of issuing
	double across_ns; // each of many kernels over several queues, which is shorter where one
	                  // does not fill the device; <= 0: not measured
};

#define TARE_STAGE_POINTS 16

// Whether a kernel leaves room for others beside it: over many queues it takes well less than in a
// row. A little less is noise.
bool tare_stage_leaves_room(const struct tare_stage_point *point);

// Schedules of one mechanism and order can behave as the model does not know (a queue that is
// called out-of-order and runs in order): measured over predicted time at one to three numbers of
// chunks, in ascending order. In between on a line over the logarithm, beyond as at the nearest.
#define TARE_KIND_POINTS 3
struct tare_kind_correction {
	size_t count; // 0: nothing to correct
	uint32_t chunks[TARE_KIND_POINTS];
	double factor[TARE_KIND_POINTS];
	uint32_t queues; // of those runs, of CHUNK_QUEUES; with fewer the factor nears 1, by the
	                 // logarithm; 0: it is the same for all
};

// What the prediction knows. All of it is measured; nothing is taken from the device's type.
struct tare_calibration {
	struct tare_stage_point points[TARE_STAGE_COUNT][TARE_STAGE_POINTS];
	size_t point_count[TARE_STAGE_COUNT]; // in the order of their amount
	struct tare_overlap_modes modes;      // speeds of concurrent stages; and which ones overlap
	double issue_ns;                      // host time to append one operation, among many
	double issue_event_ns;                // on top, when another operation waits for its event
	double graph_launch_ns, graph_node_ns; // host time of launching a graph: once, and for each
	                                       // operation in it
	double finish_ns;    // from the end of the last operation until the host knows, and what
	                     // passes once before the device sees the first one
	double gap_ns;       // between two operations of one in-order queue on different engines
	double switch_ns;    // an engine turns to another queue
	double event_gap_ns; // between operations that an event joins across queues
	bool stays; // an engine serves one queue as long as that has something ready for it,
	            // not each queue in turn; it shows where all copies come first
	bool bound; // a queue runs everything on one engine, so that only a queue for each stage
	            // has the engines apart (Level Zero); else the API chooses by operation
	double out_of_order_gap_ns; // between those that an event joins in one out-of-order queue
	// Not for one chunk, nor for one in-order queue, which the gaps are fitted to, nor where
	// each chunk has a queue of its own.
	struct tare_kind_correction correction[TARE_MECHANISM_COUNT][TARE_ORDER_COUNT];
};

// The whole work that is cut into chunks.
struct tare_pipeline_work {
	uint64_t items;
	uint64_t in_bytes, out_bytes; // an item's
	uint64_t align;               // chunks begin at multiples of so many items; at least 1
};

// Predicted host time of a schedule from the first append until the host knows that all is done.
// Returns 0; -ERANGE as tare_schedule_chunks; -ENODATA for a stage of which nothing was measured;
// -ENOMEM.
int tare_predict(const struct tare_calibration *calibration, const struct tare_pipeline_work *work,
                 const struct tare_schedule *schedule, double *ns, struct tare_error *error);

// Fits gap_ns and switch_ns (event_gap_ns where a run used queues for stages, out_of_order_gap_ns
// where one used an out-of-order queue) so that the prediction meets measured runs: typically one
// queue with many chunks, which shows the gap, and three, which shows the switch. Least squares of
// relative errors over all runs, none below 0. What no run shows is left as it was; gap and switch
// are then 0. Returns as tare_predict.
struct tare_timed_schedule {
	struct tare_schedule schedule;
	double ns;
};
int tare_calibration_fit(struct tare_calibration *calibration,
                         const struct tare_pipeline_work *work,
                         const struct tare_timed_schedule *runs, size_t count,
                         struct tare_error *error);

// Makes the points of a stage whose whole of `amount` takes from_ns those of one that takes to_ns:
// each differs by its part of the difference, so that what does not grow with the amount stays as
// it is.
void tare_stage_points_stretch(struct tare_stage_point *points, size_t count, uint64_t amount,
                               double from_ns, double to_ns);

// What the search may choose from; lists of at least one value each.
struct tare_search_space {
	uint32_t chunks[32];
	size_t chunk_count;
	uint32_t queues[16];
	size_t queue_count;
	uint32_t orders;     // bits of enum tare_issue_order
	uint32_t mechanisms; // bits of enum tare_mechanism that the device can do
	uint32_t sizes;      // bits of enum tare_chunk_sizes
};

// Every schedule of the space, without those that are the same by another name (one chunk; more
// queues than chunks; sizes that cannot be aligned are left out). Returns the count, at most
// capacity; all of them fit when capacity is TARE_SCHEDULES_MAX.
#define TARE_SCHEDULES_MAX                                                                         \
	(32 * 16 * (TARE_ORDER_COUNT + 1) * TARE_CHUNKS_COUNT +                                    \
	 32 * 2 * TARE_ORDER_COUNT * TARE_CHUNKS_COUNT)
size_t tare_search_all(const struct tare_search_space *space, const struct tare_pipeline_work *work,
                       struct tare_schedule *schedules, size_t capacity);

struct tare_candidate {
	struct tare_schedule schedule;
	double predicted_ns;
	bool control; // drawn at random, to try the prediction where it was not asked
};

// The candidates worth measuring: those that the prediction likes best, spread so that they are not
// all neighbours of one another: of those predicted within 10 % of the best, first the best of each
// mechanism, order and kind of sizes, then the best of each queue count for half of the places that
// are left, then other chunk counts; what is still free goes to the next by prediction. Then
// `controls` random others. Sorted: likely ones first by prediction, then the controls. Returns how
// many (at most capacity); errors as tare_predict.
int tare_search_candidates(const struct tare_calibration *calibration,
                           const struct tare_pipeline_work *work,
                           const struct tare_search_space *space, uint64_t seed, size_t likely,
                           size_t controls, struct tare_candidate *candidates, size_t capacity,
                           struct tare_error *error);
