// SPDX-License-Identifier: Apache-2.0
#include "random_pipeline.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ITEMS (UINT64_C(1) << 20)
#define CYCLES 100
#define ALL_STAGES (TARE_MODE_COUNT - 1)

// ---- drawing

struct layout {
	const char *engines;
	uint32_t engines_count, apart[3];
	size_t apart_count;
};

static const struct layout layouts[RANDOM_LAYOUTS] = {
	[RANDOM_THREE_ENGINES] = { "engine compute runs kernel\nengine copy runs to-device\n"
	                           "engine copy runs to-host,local\n",
	                           3,
	                           { 0 },
	                           0 },
	[RANDOM_ONE_COPY_ENGINE] = { "engine compute runs kernel\n"
	                             "engine copy runs to-device,to-host,local\n",
	                             2,
	                             { 5 },
	                             1 },
	[RANDOM_KERNEL_WITH_COPY_IN] = { "engine compute runs kernel,to-device\n"
	                                 "engine copy runs to-host,local\n",
	                                 2,
	                                 { 3 },
	                                 1 },
	[RANDOM_KERNEL_WITH_COPY_OUT] = { "engine compute runs kernel,to-host\n"
	                                  "engine copy runs to-device,local\n",
	                                  2,
	                                  { 6 },
	                                  1 },
	[RANDOM_ONE_ENGINE] = { "engine compute runs kernel,to-device,to-host,local\n",
	                        1,
	                        { 3, 5, 6 },
	                        3 },
	[RANDOM_SHORT_KERNEL] = { "engine compute runs kernel\n"
	                          "engine copy runs to-device,to-host,local\n",
	                          2,
	                          { 5 },
	                          1 },
	[RANDOM_HALF_DUPLEX] = { "engine compute runs kernel\nengine copy runs to-device\n"
	                         "engine copy runs to-host,local\n",
	                         3,
	                         { 0 },
	                         0 },
};

static double between(struct tare_random *random, double low, double high)
{
	return low + (high - low) * (double)tare_random_below(random, 1000001) / 1000000;
}

// Even in the logarithm.
static double scaled(struct tare_random *random, double low, double high)
{
	return low * pow(high / low, between(random, 0, 1));
}

static int draw_concurrency(struct tare_random *random, const struct random_pipeline *pipeline,
                            char *text, size_t size)
{
	double duplex = pipeline->layout == RANDOM_HALF_DUPLEX ? 50 : between(random, 50, 100);
	// A copy takes a little of the memory that the kernel would have.
	double beside = tare_random_below(random, 2) ? between(random, 80, 100) : 100;

	return snprintf(text, size,
	                "concurrent to-device speed %.4f %% while to-host\n"
	                "concurrent to-host speed %.4f %% while to-device\n"
	                "concurrent kernel speed %.4f %% while to-device\n"
	                "concurrent kernel speed %.4f %% while to-host\n",
	                duplex, duplex, beside, beside);
}

static void draw_script(struct tare_random *random, struct random_pipeline *pipeline)
{
	double in_rate = scaled(random, 4e9, 40e9), out_rate = in_rate * scaled(random, 0.6, 1.6);
	double items = (double)pipeline->work.items;
	double in_s = items * (double)pipeline->work.in_bytes / in_rate;
	double out_s = items * (double)pipeline->work.out_bytes / out_rate;
	bool little =
	    pipeline->layout == RANDOM_SHORT_KERNEL || pipeline->layout == RANDOM_HALF_DUPLEX;
	double ratio = little ? scaled(random, 0.003, 0.01) : scaled(random, 0.125, 8);
	double kernel_s = fmax(in_s, out_s) * ratio;
	char *text = pipeline->text;
	size_t size = sizeof pipeline->text;

	int used = snprintf(
	    text, size,
	    "tare-device 1\n"
	    "device name \"Random\" memory 256 MiB units 16 lanes 32 work-group 1024 sub-group 32\n"
	    "timer rate 1 GHz\n"
	    "host clock 20 ns append %.0f ns event %.0f ns wake %.0f ns\n"
	    "queue submission %.0f ns gap %.0f ns same-gap %.0f ns event-gap %.0f ns switch %.0f "
	    "ns\n"
	    "%s"
	    "copy pinned device fixed %.0f ns rate %.0f B/s\n"
	    "copy device pinned fixed %.0f ns rate %.0f B/s\n"
	    "copy device device fixed 1 us rate 500 GB/s\n"
	    "fill fixed 1 us rate 500 GB/s\n"
	    "marker fixed 500 ns\n",
	    scaled(random, 200, 2000), between(random, 0, 300), between(random, 500, 4000),
	    between(random, 0, 3000), between(random, 0, 4000), between(random, 0, 400),
	    between(random, 0, 4000), between(random, 0, 3000), layouts[pipeline->layout].engines,
	    scaled(random, 500, 4000), in_rate, scaled(random, 500, 4000), out_rate);
	used += draw_concurrency(random, pipeline, text + used, size - (size_t)used);
	double kernel_ns = scaled(random, 500, 4000), rate = items * CYCLES / kernel_s;
	for (int i = 0; i < 2; i++)
		used += snprintf(text + used, size - (size_t)used,
		                 "kernel overlap_%s fixed %.0f ns repeat 5 repeat-rate %.0f item/s "
		                 "arguments 6 action overlap-%s\n",
		                 i ? "volatile" : "register", kernel_ns, rate,
		                 i ? "volatile" : "register");
	assert_true((size_t)used < size);
}

// The fastest of a few schedules of every kind, over serial.
static double gain(const struct random_pipeline *pipeline)
{
	struct tare_schedule schedule = { 1, 1 };
	double serial_ns = random_pipeline_run_ns(pipeline, &schedule), best_ns = serial_ns;

	for (schedule.chunks = 2; schedule.chunks <= 64; schedule.chunks *= 2)
		for (int mechanism = 0; mechanism < TARE_MECHANISM_GRAPH; mechanism++)
			for (int order = 0; order < TARE_ORDER_COUNT; order++) {
				schedule.queues = schedule.chunks < 4 ? schedule.chunks : 4;
				schedule.mechanism = (enum tare_mechanism)mechanism;
				schedule.order = (enum tare_issue_order)order;
				best_ns =
				    fmin(best_ns, random_pipeline_run_ns(pipeline, &schedule));
			}
	return serial_ns / best_ns - 1;
}

void random_pipeline_make(uint64_t seed, uint32_t index, bool equal_sizes,
                          struct random_pipeline *pipeline)
{
	static const uint64_t sizes[][2] = { { 4, 4 }, { 8, 4 }, { 4, 8 }, { 16, 4 }, { 4, 12 } };
	struct tare_random random = { seed + index * UINT64_C(0x632be59bd9b4e019) };
	const struct layout *layout = &layouts[index % RANDOM_LAYOUTS];
	struct tare_error error = { 0 };
	double gained;

	do {
		size_t size = equal_sizes ? 0 : tare_random_below(&random, 5);
		*pipeline = (struct random_pipeline){
			.layout = (enum random_layout)(index % RANDOM_LAYOUTS),
			.work = { ITEMS, sizes[size][0], sizes[size][1], 256 },
			.cycles = CYCLES,
			.engines = layout->engines_count,
			.apart_count = layout->apart_count,
		};
		memcpy(pipeline->apart, layout->apart, sizeof pipeline->apart);
		draw_script(&random, pipeline);
		if (tare_script_parse(pipeline->text, strlen(pipeline->text), "random",
		                      &pipeline->script, &error) < 0)
			fail_msg("%s\n%s", error.message, pipeline->text);
		gained = gain(pipeline);
		// In between no verdict would be right or wrong.
	} while (gained > 0.02 && gained < 0.10);
	pipeline->pays = gained >= 0.10;
}

// ---- running

static struct tare_model_operation operation_of(const struct random_pipeline *pipeline,
                                                enum tare_stage stage, uint64_t items)
{
	const struct tare_script *script = &pipeline->script;
	const struct tare_script_copy *in = &script->copies[TARE_PLACE_PINNED][TARE_PLACE_DEVICE];
	const struct tare_script_copy *out = &script->copies[TARE_PLACE_DEVICE][TARE_PLACE_PINNED];
	struct tare_model_repeat repeat = { .count = pipeline->cycles };
	struct tare_model_operation operation = { 0 };

	if (stage == TARE_STAGE_TO_DEVICE)
		tare_model_copy_cost(in->fixed_ps, in->rate, items * pipeline->work.in_bytes,
		                     TARE_FLOW_TO_DEVICE, &operation);
	else if (stage == TARE_STAGE_TO_HOST)
		tare_model_copy_cost(out->fixed_ps, out->rate, items * pipeline->work.out_bytes,
		                     TARE_FLOW_TO_HOST, &operation);
	else
		tare_model_kernel_cost(script, &script->kernels[0], items, 1, &repeat, &operation);
	return operation;
}

double random_pipeline_run_ns(const struct random_pipeline *pipeline,
                              const struct tare_schedule *schedule)
{
	const struct tare_script *script = &pipeline->script;
	uint32_t chunks = schedule->chunks, queue_count = tare_schedule_queues(schedule);
	struct tare_model *model = tare_model_new(script, NULL, NULL);
	struct tare_model_queue **queues = calloc(queue_count, sizeof(struct tare_model_queue *));
	struct tare_model_operation *operations = calloc(3 * (size_t)chunks, sizeof *operations);
	struct tare_model_operation **last = calloc(4 * (size_t)chunks, sizeof *last);
	struct tare_model_operation **waits = last + chunks;
	struct tare_step *steps = calloc(3 * (size_t)chunks, sizeof *steps);
	uint64_t *starts = calloc(2 * (size_t)chunks, sizeof *starts), *sizes = starts + chunks;
	int64_t host_ps = 0, end_ps = 0;

	assert_true(model && queues && operations && last && steps && starts);
	assert_int_equal(tare_schedule_chunks(schedule, pipeline->work.items, pipeline->work.align,
	                                      starts, sizes, NULL),
	                 0);
	for (uint32_t i = 0; i < queue_count; i++)
		queues[i] = tare_model_queue_new(model,
		                                 schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER
		                                     ? TARE_MODEL_OUT_OF_ORDER
		                                     : TARE_MODEL_IN_ORDER,
		                                 -1);
	size_t count = tare_schedule_steps(schedule, ALL_STAGES, steps);
	for (size_t i = 0; i < count; i++) {
		uint32_t chunk = steps[i].chunk;
		operations[i] = operation_of(pipeline, steps[i].stage, sizes[chunk]);
		host_ps += script->host.append_ps;
		if (schedule->mechanism != TARE_MECHANISM_CHUNK_QUEUES &&
		    steps[i].stage != TARE_STAGE_TO_HOST)
			host_ps += script->host.event_ps;
		operations[i].submitted_ps = host_ps + script->queue.submission_ps;
		if (steps[i].waits) {
			waits[i] = last[chunk];
			operations[i].waits = &waits[i];
			operations[i].wait_count = 1;
		}
		last[chunk] = &operations[i];
		tare_model_append(model, queues[steps[i].queue], &operations[i]);
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (size_t i = 0; i < count; i++)
		end_ps = operations[i].end_ps > end_ps ? operations[i].end_ps : end_ps;
	end_ps += script->host.wake_ps;
	tare_model_free(model);
	free(queues);
	free(operations);
	free(last);
	free(steps);
	free(starts);
	return (double)(end_ps > host_ps ? end_ps : host_ps) / 1000;
}

// ---- measuring

enum { WINDOW = 24 }; // times the longest operation, in which all stages of a mode are at work

struct row {
	struct tare_model_operation *operations;
	size_t count;
};

// How much of a row was done between two times, in operations.
static double done_between(const struct row *row, int64_t from_ps, int64_t to_ps)
{
	double done = 0;

	for (size_t i = 0; i < row->count; i++) {
		const struct tare_model_operation *each = &row->operations[i];
		int64_t start = each->start_ps > from_ps ? each->start_ps : from_ps;
		int64_t end = each->end_ps < to_ps ? each->end_ps : to_ps;
		if (end > start)
			done += (double)(end - start) / (double)(each->end_ps - each->start_ps);
	}
	return done;
}

static bool any_together(const struct row *rows, uint32_t mode)
{
	for (size_t i = 0; i < TARE_STAGE_COUNT; i++)
		for (size_t at = 0; mode >> i & 1 && at < rows[i].count; at++) {
			// Is an operation of each other stage in progress at this one's start?
			int64_t ps = rows[i].operations[at].start_ps;
			bool all = true;
			for (size_t j = 0; j < TARE_STAGE_COUNT; j++) {
				bool found = j == i || !(mode >> j & 1);
				for (size_t k = 0; !found && k < rows[j].count; k++)
					found = rows[j].operations[k].start_ps <= ps &&
					        rows[j].operations[k].end_ps > ps;
				all &= found;
			}
			if (all)
				return true;
		}
	return false;
}

// Each stage of the mode in a queue of its own, whole operations in a row. ns[]: what the whole of
// a stage takes so.
static void run_mode(const struct random_pipeline *pipeline, uint32_t mode, double *ns,
                     bool *together)
{
	struct tare_model *model = tare_model_new(&pipeline->script, NULL, NULL);
	struct row rows[TARE_STAGE_COUNT] = { { 0 } };
	int64_t longest_ps = 0, from_ps = 0, to_ps = INT64_MAX;

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct tare_model_operation whole =
		    operation_of(pipeline, (enum tare_stage)stage, pipeline->work.items);
		if (mode >> stage & 1 && whole.fixed_ps + whole.work_ps > longest_ps)
			longest_ps = whole.fixed_ps + whole.work_ps;
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct tare_model_operation whole =
		    operation_of(pipeline, (enum tare_stage)stage, pipeline->work.items);
		if (!(mode >> stage & 1))
			continue;
		struct tare_model_queue *queue =
		    tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
		rows[stage].count =
		    2 + (size_t)(WINDOW * longest_ps / (whole.fixed_ps + whole.work_ps));
		rows[stage].operations = calloc(rows[stage].count, sizeof whole);
		for (size_t i = 0; i < rows[stage].count; i++) {
			rows[stage].operations[i] = whole;
			tare_model_append(model, queue, &rows[stage].operations[i]);
		}
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (mode >> stage & 1) {
			int64_t first = rows[stage].operations[0].start_ps;
			int64_t last = rows[stage].operations[rows[stage].count - 1].end_ps;
			from_ps = first > from_ps ? first : from_ps;
			to_ps = last < to_ps ? last : to_ps;
		}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (mode >> stage & 1)
			ns[stage] = (double)(to_ps - from_ps) / 1000 /
			            done_between(&rows[stage], from_ps, to_ps);
	*together = any_together(rows, mode);
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		free(rows[stage].operations);
	tare_model_free(model);
}

void random_pipeline_calibrate(const struct random_pipeline *pipeline,
                               struct tare_calibration *calibration)
{
	const struct tare_script *script = &pipeline->script;
	struct tare_overlap_modes *modes = &calibration->modes;

	memset(calibration, 0, sizeof *calibration);
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		for (uint64_t part = 256; part > 0; part /= 4) {
			uint64_t items = pipeline->work.items / part;
			struct tare_model_operation operation =
			    operation_of(pipeline, (enum tare_stage)stage, items);
			int64_t alone_ps = operation.fixed_ps + operation.work_ps;
			uint64_t amount =
			    stage == TARE_STAGE_TO_DEVICE ? items * pipeline->work.in_bytes
			    : stage == TARE_STAGE_TO_HOST ? items * pipeline->work.out_bytes
			                                  : items;
			calibration->points[stage][calibration->point_count[stage]++] =
			    (struct tare_stage_point){
				    amount, (double)alone_ps / 1000,
				    (double)(alone_ps + script->queue.same_gap_ps) / 1000
			    };
		}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++) {
		double ns[TARE_STAGE_COUNT] = { 0 };
		run_mode(pipeline, mode, ns, &modes->together[mode]);
		modes->known[mode] = true;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			if (mode == 1u << stage)
				modes->alone_ns[stage] = ns[stage];
		}
		memcpy(modes->speed[mode], ns, sizeof ns);
	}
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			if (mode >> stage & 1)
				modes->speed[mode][stage] =
				    modes->alone_ns[stage] / modes->speed[mode][stage];
	calibration->issue_ns = (double)script->host.append_ps / 1000;
	calibration->issue_event_ns = (double)script->host.event_ps / 1000;
	calibration->finish_ns =
	    (double)(script->queue.submission_ps + script->host.wake_ps) / 1000;
}
