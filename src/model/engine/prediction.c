// SPDX-License-Identifier: Apache-2.0
#include "model/engine/prediction.h"

#include "model/engine/prediction_internal.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum tare_flow flow_of(int stage)
{
	static const enum tare_flow flows[TARE_STAGE_COUNT] = {
		[TARE_STAGE_TO_DEVICE] = TARE_FLOW_TO_DEVICE,
		[TARE_STAGE_KERNEL] = TARE_FLOW_KERNEL,
		[TARE_STAGE_TO_HOST] = TARE_FLOW_TO_HOST,
	};
	return flows[stage];
}

static uint64_t flows_of(uint32_t mode)
{
	uint64_t flows = 0;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (mode >> stage & 1)
			flows |= UINT64_C(1) << flow_of(stage);
	return flows;
}

static int64_t ps_of(double ns)
{
	return ns > 0 ? (int64_t)fmin(ns * 1000 + 0.5, (double)TARE_PS_MAX) : 0;
}

// ---- the device: engines and speeds

static void add_engine(struct tare_script *script, uint32_t mode)
{
	script->engines[script->engine_count++] = (struct tare_script_engine){
		.compute = script->engine_count == 0,
		.flows = flows_of(mode),
	};
}

// Stages that were never seen together share an engine. Pairs that were not tried do not.
static void build_engines(const struct tare_overlap_modes *modes, uint32_t stages,
                          struct tare_script *script)
{
	const uint32_t all = TARE_MODE_COUNT - 1;
	struct tare_engines_revealed revealed;
	uint32_t apart[3];
	size_t count = 0;

	tare_engines_reveal(modes, &revealed);
	for (size_t i = 0; i < revealed.apart_count; i++)
		if ((revealed.apart[i] & stages) == revealed.apart[i])
			apart[count++] = revealed.apart[i];
	if (count == 3) {
		add_engine(script, all);
	} else if (count == 1) {
		add_engine(script, apart[0]);
		add_engine(script, all & ~apart[0]);
	} else if (count == 0 && stages == all && modes->known[all] && !modes->together[all]) {
		// Any two together, never three: two engines, each of which takes what comes.
		add_engine(script, all);
		add_engine(script, all);
	} else {
		// With two pairs apart no sharing of engines says it. The speeds measured while
		// they took turns do.
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			add_engine(script, 1u << stage);
	}
}

static void build_speeds(const struct tare_overlap_modes *modes, struct tare_script *script)
{
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		if (!modes->known[mode])
			continue;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			double speed = modes->speed[mode][stage];
			uint32_t others = mode & ~(1u << stage);
			if (!(mode >> stage & 1) || others == 0 || !(speed < 1))
				continue;
			script->concurrencies[script->concurrency_count++] =
			    (struct tare_script_concurrency){
				    .flow = flow_of(stage),
				    .others = flows_of(others),
				    // Never a standstill, which no schedule would get out of.
				    .speed_ppm = (uint64_t)(fmax(speed, 0.001) * 1e6 + 0.5),
			    };
		}
	}
}

// ---- what the stages cost

// In a row in one queue each takes longer than alone by the gap between them; median over the
// points, 0 where a row is faster.
static double same_gap_ns(const struct tare_calibration *calibration)
{
	double gaps[TARE_STAGE_COUNT * TARE_STAGE_POINTS];
	size_t count = 0;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		for (size_t i = 0; i < calibration->point_count[stage]; i++) {
			const struct tare_stage_point *point = &calibration->points[stage][i];
			if (point->isolated_ns > 0 && point->back_to_back_ns > 0)
				gaps[count++] = point->back_to_back_ns - point->isolated_ns;
		}
	if (count == 0)
		return 0;
	return fmax(0, tare_median(gaps, count));
}

// The intercept of a line through the points by least squares of the relative error; between 0 and
// the smallest cost.
static double intercept(const struct tare_stage_cost *cost)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, least = INFINITY;

	for (size_t i = 0; i < cost->count; i++) {
		double ns = cost->occupied_ns[i], amount = cost->amount[i] / cost->amount[0];
		double weight = 1 / (ns * ns);
		w += weight;
		x += weight * amount;
		y += weight * ns;
		xx += weight * amount * amount;
		xy += weight * amount * ns;
		least = fmin(least, ns);
	}
	double determinant = w * xx - x * x;
	if (cost->count < 2 || !(determinant > 1e-12 * w * xx))
		return 0;
	double slope = (w * xy - x * y) / determinant;
	return fmax(0, fmin(least, (y - slope * x) / w));
}

// A kernel that takes less than this of its time, on average over many queues, leaves room for
// others beside it.
#define FILLED 0.9

bool tare_stage_leaves_room(const struct tare_stage_point *point)
{
	double row = point->back_to_back_ns > 0 ? point->back_to_back_ns : point->isolated_ns;
	return point->across_ns > 0 && point->across_ns <= FILLED * row;
}

static void build_cost(const struct tare_calibration *calibration, int stage, double gap_ns,
                       struct tare_stage_cost *cost)
{
	for (size_t i = 0; i < calibration->point_count[stage] && i < TARE_STAGE_POINTS; i++) {
		const struct tare_stage_point *point = &calibration->points[stage][i];
		double alone = point->isolated_ns, row = point->back_to_back_ns;
		double occupied = row > 0 ? fmax(row - gap_ns, row * 0.01) : alone;
		double shared = point->across_ns > 0 ? fmin(point->across_ns, occupied) : occupied;
		if (!(occupied > 0) || point->amount == 0)
			continue;
		cost->amount[cost->count] = (double)point->amount;
		// Less than that is noise, not a device that holds several at once.
		if (shared > FILLED * occupied)
			shared = occupied;
		cost->occupied_ns[cost->count] = shared;
		cost->latency_ns[cost->count] = alone > occupied ? alone - occupied : 0;
		cost->queue_ns[cost->count] = occupied - shared;
		cost->count++;
	}
	cost->fixed_ns = intercept(cost);
}

// On the line through the two neighbours; beyond the largest point the cost goes on at the slope of
// the last two, below the smallest one it falls to `at_zero`.
static double interpolate(const struct tare_stage_cost *cost, const double *values, double at_zero,
                          double amount)
{
	size_t n = cost->count, i = 0;
	double x0 = 0, y0 = at_zero;

	while (i < n && cost->amount[i] < amount)
		i++;
	if (i == n)
		i = n - 1;
	if (i > 0) {
		x0 = cost->amount[i - 1];
		y0 = values[i - 1];
	}
	return fmax(0, y0 + (values[i] - y0) * (amount - x0) / (cost->amount[i] - x0));
}

static double occupied_ns(const struct tare_stage_cost *cost, double amount)
{
	return interpolate(cost, cost->occupied_ns, cost->fixed_ns, amount);
}

static double latency_ns(const struct tare_stage_cost *cost, double amount)
{
	double largest = cost->amount[cost->count - 1];
	return interpolate(cost, cost->latency_ns, cost->latency_ns[0], fmin(amount, largest));
}

static double in_queue_ns(const struct tare_stage_cost *cost, double amount)
{
	return interpolate(cost, cost->queue_ns, 0, amount);
}

static double amount_of(const struct tare_predictor *predictor, int stage, uint64_t items)
{
	switch (stage) {
	case TARE_STAGE_TO_DEVICE:
		return (double)items * (double)predictor->work.in_bytes;
	case TARE_STAGE_TO_HOST:
		return (double)items * (double)predictor->work.out_bytes;
	default:
		return (double)items;
	}
}

static double stretched(double ns, double more_ns, double factor)
{
	return ns > 0 ? fmax(ns + more_ns, fmin(ns, ns * factor)) : ns;
}

void tare_stage_points_stretch(struct tare_stage_point *points, size_t count, uint64_t amount,
                               double from_ns, double to_ns)
{
	for (size_t i = 0; i < count && from_ns > 0 && amount; i++) {
		struct tare_stage_point *at = &points[i];
		double more = (to_ns - from_ns) * (double)at->amount / (double)amount;
		at->isolated_ns = stretched(at->isolated_ns, more, to_ns / from_ns);
		at->back_to_back_ns = stretched(at->back_to_back_ns, more, to_ns / from_ns);
		at->across_ns = stretched(at->across_ns, more, to_ns / from_ns);
	}
}

// ---- the predictor

static int build_costs(struct tare_predictor *predictor, double gap_ns, struct tare_error *error)
{
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct tare_stage_cost *cost = &predictor->costs[stage];
		double whole = amount_of(predictor, stage, predictor->work.items);
		double alone = predictor->calibration->modes.alone_ns[stage];
		if (!(predictor->stages >> stage & 1))
			continue;
		build_cost(predictor->calibration, stage, gap_ns, cost);
		if (cost->count == 0 && alone > 0 && whole > 0)
			*cost = (struct tare_stage_cost){ .count = 1,
				                          .amount = { whole },
				                          .occupied_ns = { alone } };
		if (cost->count == 0)
			return tare_fail(error, ENODATA,
			                 "nothing is known of what %s costs; time it "
			                 "at one size at least",
			                 tare_stage_name((enum tare_stage)stage));
	}
	return 0;
}

struct tare_predictor *tare_predictor_new(const struct tare_calibration *calibration,
                                          const struct tare_pipeline_work *work, int *status,
                                          struct tare_error *error)
{
	struct tare_predictor *predictor = calloc(1, sizeof *predictor);
	double gap_ns = same_gap_ns(calibration);

	if (!predictor) {
		*status = tare_fail(error, ENOMEM, "no memory for the prediction");
		return NULL;
	}
	predictor->calibration = calibration;
	predictor->work = *work;
	predictor->stages = (work->in_bytes ? 1u << TARE_STAGE_TO_DEVICE : 0) |
	                    1u << TARE_STAGE_KERNEL |
	                    (work->out_bytes ? 1u << TARE_STAGE_TO_HOST : 0);
	build_engines(&calibration->modes, predictor->stages, &predictor->script);
	build_speeds(&calibration->modes, &predictor->script);
	predictor->apart_count = predictor->script.engine_count;
	memcpy(predictor->apart, predictor->script.engines,
	       predictor->apart_count * sizeof *predictor->apart);
	predictor->script.queue.same_gap_ps = ps_of(gap_ns);
	predictor->script.queue.stay = calibration->stays;
	*status = build_costs(predictor, gap_ns, error);
	if (*status < 0) {
		free(predictor);
		return NULL;
	}
	return predictor;
}

static void free_space(struct tare_predictor *predictor)
{
	free(predictor->starts);
	free(predictor->sizes);
	free(predictor->steps);
	free(predictor->operations);
	free(predictor->previous);
	free(predictor->waits);
}

void tare_predictor_free(struct tare_predictor *predictor)
{
	if (!predictor)
		return;
	free_space(predictor);
	free(predictor);
}

static int make_space(struct tare_predictor *predictor, uint32_t chunks, struct tare_error *error)
{
	size_t steps = (size_t)chunks * TARE_STAGE_COUNT;

	if (chunks <= predictor->capacity)
		return 0;
	free_space(predictor);
	predictor->capacity = 0;
	predictor->starts = calloc(chunks, sizeof *predictor->starts);
	predictor->sizes = calloc(chunks, sizeof *predictor->sizes);
	predictor->steps = calloc(steps, sizeof *predictor->steps);
	predictor->operations = calloc(steps, sizeof *predictor->operations);
	predictor->previous = calloc(chunks, sizeof *predictor->previous);
	predictor->waits = calloc(steps, sizeof *predictor->waits);
	if (!predictor->starts || !predictor->sizes || !predictor->steps ||
	    !predictor->operations || !predictor->previous || !predictor->waits)
		return tare_fail(error, ENOMEM, "no memory to predict %u chunks", chunks);
	predictor->capacity = chunks;
	return 0;
}

// The host issues one operation after the other; the device sees each once it is issued.
static double issued_ns(const struct tare_predictor *predictor,
                        const struct tare_schedule *schedule, enum tare_stage stage, double before)
{
	const struct tare_calibration *calibration = predictor->calibration;
	bool last = (predictor->stages >> stage) == 1;
	bool event = schedule->mechanism != TARE_MECHANISM_CHUNK_QUEUES && !last;

	if (schedule->mechanism == TARE_MECHANISM_GRAPH)
		return before + calibration->graph_node_ns;
	return before + calibration->issue_ns + (event ? calibration->issue_event_ns : 0);
}

static void fill_operation(struct tare_predictor *predictor, const struct tare_schedule *schedule,
                           size_t index, double at_ns)
{
	const struct tare_step *step = &predictor->steps[index];
	const struct tare_stage_cost *cost = &predictor->costs[step->stage];
	struct tare_model_operation *operation = &predictor->operations[index];
	double amount = amount_of(predictor, step->stage, predictor->sizes[step->chunk]);
	double whole = occupied_ns(cost, amount), fixed = fmin(cost->fixed_ns, whole);
	bool last = (predictor->stages >> step->stage) == 1;
	double room = in_queue_ns(cost, amount);
	double after = room + (last ? 0 : latency_ns(cost, amount));

	// A queue for a stage would wait for the latency of each before it began the next, which
	// the times in a row say it does not; there the gap of the event stands for it. What a
	// kernel takes that does not fill the device is in those times.
	if (schedule->mechanism == TARE_MECHANISM_STAGE_QUEUES)
		after = room;
	else if (schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER && !last)
		after += predictor->calibration->out_of_order_gap_ns;
	*operation = (struct tare_model_operation){
		.flow = flow_of(step->stage),
		.fixed_ps = ps_of(fixed),
		.work_ps = ps_of(whole - fixed),
		.tail_ps = ps_of(after),
		.submitted_ps = ps_of(at_ns),
		.end_ps = TARE_MODEL_NEVER,
	};
	if (step->waits) {
		predictor->waits[index] = predictor->previous[step->chunk];
		operation->waits = &predictor->waits[index];
		operation->wait_count = 1;
	}
	predictor->previous[step->chunk] = operation;
}

// Operations as they go into the model. An out-of-order queue is looked through from end to end for
// every event, so it gets the operations of each stage (which start in the order of chunks) only
// WINDOW ahead of those that are done. Their submitted_ps may then lie in the past, which gives
// them the place in line that they would have had.
#define WINDOW 32

struct feed {
	struct tare_predictor *predictor;
	struct tare_model *model;
	struct tare_model_queue **queues;
	size_t count;
	size_t next[TARE_STAGE_COUNT]; // steps before it are in the model or of another stage
};

static void append(struct feed *feed, size_t index)
{
	struct tare_predictor *predictor = feed->predictor;

	tare_model_append(feed->model, feed->queues[predictor->steps[index].queue],
	                  &predictor->operations[index]);
}

static void append_next_of(struct feed *feed, enum tare_stage stage)
{
	size_t *next = &feed->next[stage];

	while (*next < feed->count && feed->predictor->steps[*next].stage != stage)
		++*next;
	if (*next < feed->count)
		append(feed, (*next)++);
}

static void refill(void *context, struct tare_model_operation *operation)
{
	struct feed *feed = context;
	ptrdiff_t index = operation - feed->predictor->operations;

	append_next_of(feed, feed->predictor->steps[index].stage);
}

static void run_operations(struct feed *feed, enum tare_model_order order, int64_t limit_ps)
{
	if (order == TARE_MODEL_IN_ORDER) {
		for (size_t i = 0; i < feed->count; i++)
			append(feed, i);
	} else {
		for (int i = 0; i < WINDOW; i++)
			for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
				append_next_of(feed, (enum tare_stage)stage);
	}
	tare_model_run(feed->model, limit_ps);
}

// Where queues are bound to engines, whatever is not spread over queues by stage is on one engine.
static void choose_engines(struct tare_predictor *predictor, enum tare_mechanism mechanism)
{
	struct tare_script *script = &predictor->script;

	if (!predictor->calibration->bound)
		return;
	script->engine_count = predictor->apart_count;
	memcpy(script->engines, predictor->apart,
	       predictor->apart_count * sizeof *predictor->apart);
	if (mechanism != TARE_MECHANISM_STAGE_QUEUES) {
		script->engine_count = 0;
		add_engine(script, TARE_MODE_COUNT - 1);
	}
}

// Lets the operations run. *end_ps: when the last one is done; TARE_MODEL_NEVER: after the limit.
static int run_model(struct tare_predictor *predictor, const struct tare_schedule *schedule,
                     size_t count, int64_t limit_ps, int64_t *end_ps, struct tare_error *error)
{
	uint32_t queue_count = tare_schedule_queues(schedule);
	enum tare_model_order order = schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER
	                                  ? TARE_MODEL_OUT_OF_ORDER
	                                  : TARE_MODEL_IN_ORDER;
	struct feed feed = { .predictor = predictor, .count = count };
	feed.queues = calloc(queue_count, sizeof(struct tare_model_queue *));
	feed.model =
	    tare_model_new(&predictor->script, order == TARE_MODEL_IN_ORDER ? NULL : refill, &feed);
	bool complete = feed.queues && feed.model;
	double at_ns = schedule->mechanism == TARE_MECHANISM_GRAPH
	                   ? predictor->calibration->graph_launch_ns
	                   : 0;

	for (uint32_t i = 0; complete && i < queue_count; i++)
		complete = (feed.queues[i] = tare_model_queue_new(feed.model, order, -1)) != NULL;
	if (complete) {
		for (size_t i = 0; i < count; i++) {
			at_ns = issued_ns(predictor, schedule, predictor->steps[i].stage, at_ns);
			fill_operation(predictor, schedule, i, at_ns);
		}
		*end_ps = predictor->operations[count - 1].submitted_ps;
		run_operations(&feed, order, limit_ps);
		for (size_t i = 0; i < count; i++)
			if (predictor->operations[i].end_ps > *end_ps)
				*end_ps = predictor->operations[i].end_ps;
	}
	tare_model_free(feed.model);
	free(feed.queues);
	return complete ? 0
	                : tare_fail(error, ENOMEM, "no memory for %u queues of the prediction",
	                            queue_count);
}

// A time that no order of the operations goes below: of the busiest engine, or of issuing.
static double floor_ns(const struct tare_predictor *predictor, enum tare_mechanism mechanism,
                       size_t count, uint32_t chunks)
{
	double busy[TARE_SCRIPT_ENGINES] = { 0 };
	double floor = (double)count * (mechanism == TARE_MECHANISM_GRAPH
	                                    ? predictor->calibration->graph_node_ns
	                                    : predictor->calibration->issue_ns);

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		size_t engine = 0, engines = 0;
		for (size_t i = 0; i < predictor->script.engine_count; i++)
			if (predictor->script.engines[i].flows >> flow_of(stage) & 1) {
				engine = i;
				engines++;
			}
		if (!(predictor->stages >> stage & 1) || engines != 1)
			continue;
		for (uint32_t i = 0; i < chunks; i++)
			busy[engine] +=
			    occupied_ns(&predictor->costs[stage],
			                amount_of(predictor, stage, predictor->sizes[i]));
	}
	for (size_t i = 0; i < predictor->script.engine_count; i++)
		floor = fmax(floor, busy[i]);
	return floor;
}

static double factor_at(const struct tare_kind_correction *kind, uint32_t chunks)
{
	size_t i = 0;
	double along;

	while (i < kind->count && kind->chunks[i] <= chunks)
		i++;
	if (i == 0 || i == kind->count)
		return kind->factor[i ? i - 1 : 0];
	along = log((double)chunks / kind->chunks[i - 1]) /
	        log((double)kind->chunks[i] / kind->chunks[i - 1]);
	return kind->factor[i - 1] + along * (kind->factor[i] - kind->factor[i - 1]);
}

static double correction_of(const struct tare_calibration *calibration,
                            const struct tare_schedule *schedule)
{
	const struct tare_kind_correction *kind =
	    &calibration->correction[schedule->mechanism][schedule->order];
	bool in_chunk_queues = schedule->mechanism == TARE_MECHANISM_CHUNK_QUEUES ||
	                       schedule->mechanism == TARE_MECHANISM_GRAPH;
	double factor;

	if (kind->count == 0 || schedule->chunks == 1 || (in_chunk_queues && schedule->queues == 1))
		return 1;
	// A queue for each chunk: no chunk stands in another's way, and the order hardly matters.
	if (in_chunk_queues && schedule->chunks <= schedule->queues)
		return 1;
	factor = factor_at(kind, schedule->chunks);
	// Engines that stay with a queue for a while leave it the sooner the more there are.
	if (in_chunk_queues && kind->queues &&
	    (schedule->queues < kind->queues ||
	     (calibration->stays && schedule->order == TARE_ORDER_BREADTH_FIRST)))
		factor =
		    1 + (factor - 1) * log((double)schedule->queues) / log((double)kind->queues);
	return factor;
}

int tare_predictor_run(struct tare_predictor *predictor, const struct tare_schedule *schedule,
                       double limit_ns, double *ns, struct tare_error *error)
{
	const struct tare_calibration *calibration = predictor->calibration;
	double correction = correction_of(calibration, schedule);
	int64_t limit_ps = TARE_PS_MAX - 1, end_ps = 0;
	int status = make_space(predictor, schedule->chunks, error);

	if (status == 0)
		status =
		    tare_schedule_chunks(schedule, predictor->work.items, predictor->work.align,
		                         predictor->starts, predictor->sizes, error);
	if (status < 0)
		return status;
	size_t count = tare_schedule_steps(schedule, predictor->stages, predictor->steps);
	choose_engines(predictor, schedule->mechanism);
	predictor->script.queue.gap_ps = ps_of(calibration->gap_ns);
	predictor->script.queue.switch_ps = ps_of(calibration->switch_ns);
	predictor->script.queue.event_gap_ps = ps_of(calibration->event_gap_ns);
	limit_ns = limit_ns / correction - fmax(0, calibration->finish_ns);
	*ns = INFINITY;
	if (isfinite(limit_ns) &&
	    floor_ns(predictor, schedule->mechanism, count, schedule->chunks) > limit_ns)
		return 0;
	if (limit_ns < (double)limit_ps / 1000)
		limit_ps = ps_of(limit_ns);
	status = run_model(predictor, schedule, count, limit_ps, &end_ps, error);
	if (status < 0)
		return status;
	if (end_ps != TARE_MODEL_NEVER)
		*ns = ((double)end_ps / 1000 + fmax(0, calibration->finish_ns)) * correction;
	return 0;
}

int tare_predict(const struct tare_calibration *calibration, const struct tare_pipeline_work *work,
                 const struct tare_schedule *schedule, double *ns, struct tare_error *error)
{
	int status = 0;
	struct tare_predictor *predictor = tare_predictor_new(calibration, work, &status, error);

	if (!predictor)
		return status;
	status = tare_predictor_run(predictor, schedule, INFINITY, ns, error);
	tare_predictor_free(predictor);
	return status;
}
