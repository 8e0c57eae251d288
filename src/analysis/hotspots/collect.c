// SPDX-License-Identifier: Apache-2.0
// What counters said of the chosen kernels, out of the second run.
#include "analysis/hotspots/collect.h"
#include "analysis/hotspots/refused.h"

#include "analysis/hotspots/roles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// By enum tare_trace_counter.
static const enum tare_counter_role roles[] = {
#define ROLE(name) [TARE_TRACE_COUNTER_##name] = TARE_COUNTER_##name
	ROLE(DURATION_NS),
	ROLE(CORES_ACTIVE_SHARE),
	ROLE(ISSUE_SHARE),
	ROLE(OCCUPANCY_SHARE),
	ROLE(ELIGIBLE_WARPS),
	ROLE(INSTRUCTIONS),
	ROLE(LANE_INSTRUCTIONS),
	ROLE(FLOP_FP16),
	ROLE(FLOP_FP32),
	ROLE(FLOP_FP64),
	ROLE(PIPE_ALU_SHARE),
	ROLE(PIPE_FMA_SHARE),
	ROLE(PIPE_FP64_SHARE),
	ROLE(PIPE_TENSOR_SHARE),
	ROLE(PIPE_SPECIAL_SHARE),
	ROLE(PIPE_MEMORY_SHARE),
	ROLE(L1_SHARE),
	ROLE(L1_BYTES),
	ROLE(L1_HIT_SHARE),
	ROLE(SHARED_WAVEFRONTS),
	ROLE(L2_SHARE),
	ROLE(L1_READ_BYTES),
	ROLE(L1_WRITE_BYTES),
	ROLE(L2_BYTES),
	ROLE(L2_MISS_BYTES),
	ROLE(DEVICE_MEMORY_SHARE),
	ROLE(DEVICE_READ_BYTES),
	ROLE(DEVICE_WRITE_BYTES),
	ROLE(HOST_READ_BYTES),
	ROLE(HOST_WRITE_BYTES),
	ROLE(PEER_READ_BYTES),
	ROLE(PEER_WRITE_BYTES),
	ROLE(CORE_ACTIVE_LEAST),
	ROLE(CORE_ACTIVE_MEAN),
	ROLE(CORE_ACTIVE_MOST),
	ROLE(L2_TO_L1_SHARE),
	ROLE(PIPE_INTEGER_MULTIPLY_SHARE),
	ROLE(LOCAL_READ_BYTES),
	ROLE(LOCAL_WRITE_BYTES),
	ROLE(L1_TO_L2_SHARE),
	ROLE(L2_LOOKUP_SHARE),
#undef ROLE
};
enum { COUNTERS = sizeof roles / sizeof *roles };

// Whether a value of a trace is a counter's that is known here: the bytes given are none, nor is
// what a whole device is sampled for.
static bool is_counter(uint32_t counter)
{
	return counter < COUNTERS &&
	       (counter == TARE_TRACE_COUNTER_DURATION_NS || roles[counter] != 0);
}

// What the recorder asks of Level Zero's metrics (src/guest/levelzero/counters/figures.c); CUDA's
// range profiler is asked for all others.
static const enum tare_counter_role of_levelzero[] = {
	TARE_COUNTER_DURATION_NS,       TARE_COUNTER_CORES_ACTIVE_SHARE,
	TARE_COUNTER_ISSUE_SHARE,       TARE_COUNTER_OCCUPANCY_SHARE,
	TARE_COUNTER_PIPE_TENSOR_SHARE, TARE_COUNTER_PIPE_MEMORY_SHARE,
	TARE_COUNTER_L1_BYTES,          TARE_COUNTER_LOCAL_READ_BYTES,
	TARE_COUNTER_LOCAL_WRITE_BYTES, TARE_COUNTER_L1_READ_BYTES,
	TARE_COUNTER_L1_WRITE_BYTES,    TARE_COUNTER_L2_BYTES,
	TARE_COUNTER_DEVICE_READ_BYTES, TARE_COUNTER_DEVICE_WRITE_BYTES,
};

bool tare_counter_is_asked(enum tare_counter_role role, bool levelzero)
{
	for (size_t i = 0; levelzero && i < sizeof of_levelzero / sizeof *of_levelzero; i++)
		if (of_levelzero[i] == role)
			return true;
	if (levelzero || role == TARE_COUNTER_LOCAL_READ_BYTES ||
	    role == TARE_COUNTER_LOCAL_WRITE_BYTES)
		return false;
	for (size_t i = 1; i < COUNTERS; i++)
		if (roles[i] == role)
			return true;
	return role == TARE_COUNTER_L2_HIT_SHARE;
}

// In graphs they are not counted.
static bool is_of_code(enum tare_counter_role role)
{
	return role == TARE_COUNTER_FLOP_FP16 || role == TARE_COUNTER_FLOP_FP32 ||
	       role == TARE_COUNTER_FLOP_FP64;
}

static void begin_values(struct tare_counted_kernel *kernel, bool refused, bool graph,
                         bool levelzero)
{
	for (size_t i = 0; i < TARE_COUNTER_ROLES; i++)
		kernel->values[i] = (struct tare_counter_value){
			.state = !tare_counter_is_asked((enum tare_counter_role)i, levelzero) ||
			                 (graph && is_of_code((enum tare_counter_role)i))
			             ? TARE_COUNTER_NOT_ASKED
			         : refused ? TARE_COUNTER_REFUSED
			                   : TARE_COUNTER_NO_INSTANCE,
			.mean = NAN,
			.least = NAN,
			.most = NAN,
		};
}

// A launch that was run several times has mixed passes: a share of it may be a little above all.
static double possible(enum tare_trace_counter counter, const struct tare_recorded_count *count)
{
	bool share = counter == TARE_TRACE_COUNTER_CORES_ACTIVE_SHARE ||
	             counter == TARE_TRACE_COUNTER_DEVICE_MEMORY_SHARE;

	return share && count->replayed && count->value > 100 ? 100 : count->value;
}

static void add_value(struct tare_counted_kernel *kernel, const struct tare_recorded_count *count)
{
	struct tare_counter_value *value = &kernel->values[roles[count->counter]];
	double figure = possible((enum tare_trace_counter)count->counter, count);

	kernel->replayed |= count->replayed;
	if (value->state == TARE_COUNTER_NOT_TRUSTED)
		return;
	if (!isfinite(figure) || figure < 0) {
		*value = (struct tare_counter_value){
			.state = TARE_COUNTER_NOT_TRUSTED, .mean = NAN, .least = NAN, .most = NAN
		};
		return;
	}
	value->state = TARE_COUNTER_COUNTED;
	value->group = count->group;
	value->launches++;
	value->mean =
	    value->launches == 1 ? figure : value->mean + (figure - value->mean) / value->launches;
	value->least = fmin(value->least, figure); // of NaN and a number the number
	value->most = fmax(value->most, figure);
}

// The mean over the counted launches.
static void add_given(struct tare_collection *collection, struct tare_counted_kernel *kernel,
                      double bytes)
{
	struct tare_collected *collected = &collection->kernels[kernel - collection->run.kernels];

	if (!(bytes >= 0 && bytes < 0x1p63))
		return;
	collected->given++;
	collected->given_bytes += (bytes - collected->given_bytes) / (double)collected->given;
	kernel->compulsory_bytes = (uint64_t)llround(collected->given_bytes);
	kernel->compulsory_missing =
	    kernel->compulsory_bytes ? NULL
	                             : "no argument is the address of memory that was allocated";
}

// Chips cannot read hits and all sectors in one pass: the share is of the means of two groups, and
// only where the launches of each agree.
#define MOST_SPREAD 0.05
static bool agrees(const struct tare_counter_value *value)
{
	return value->state == TARE_COUNTER_COUNTED &&
	       value->most - value->least <= MOST_SPREAD * value->mean;
}

static void add_l2_hits(struct tare_counted_kernel *kernel)
{
	const struct tare_counter_value *all = &kernel->values[TARE_COUNTER_L2_BYTES],
	                                *miss = &kernel->values[TARE_COUNTER_L2_MISS_BYTES];
	struct tare_counter_value *hit = &kernel->values[TARE_COUNTER_L2_HIT_SHARE];
	double share;

	if (all->state != TARE_COUNTER_COUNTED || miss->state != TARE_COUNTER_COUNTED) {
		hit->state = all->state != TARE_COUNTER_COUNTED ? all->state : miss->state;
		return;
	}
	share = all->mean > 0 ? 100 * (1 - miss->mean / all->mean) : NAN;
	hit->state = TARE_COUNTER_NOT_TRUSTED;
	if (!agrees(all) || miss->most - miss->least > MOST_SPREAD * all->mean ||
	    !(share >= -100 * MOST_SPREAD))
		return;
	*hit = (struct tare_counter_value){ .state = TARE_COUNTER_COUNTED,
		                            .mean = fmax(share, 0),
		                            .least = fmax(share, 0),
		                            .most = fmax(share, 0),
		                            .launches = all->launches < miss->launches
		                                            ? all->launches
		                                            : miss->launches,
		                            .group = miss->group };
}

// The row of a kernel of the second run, or of a graph; NULL: it is not among the chosen.
static struct tare_counted_kernel *row_of(struct tare_collection *collection,
                                          const struct tare_recording *counted, uint32_t kernel,
                                          uint32_t graph)
{
	for (size_t i = 0; graph && i < collection->run.kernel_count; i++)
		if (collection->kernels[i].chosen && collection->kernels[i].graph == graph)
			return &collection->run.kernels[i];
	if (kernel == TARE_NO_INDEX)
		return NULL;
	for (size_t i = 0; i < collection->run.kernel_count; i++)
		if (collection->kernels[i].chosen && !collection->kernels[i].graph &&
		    strcmp(collection->run.kernels[i].name, counted->kernels[kernel].name) == 0)
			return &collection->run.kernels[i];
	return NULL;
}

static void apply_counting(struct tare_collection *collection, const struct tare_recording *counted,
                           const struct tare_recorded_counting *counting)
{
	struct tare_counted_kernel *kernel =
	    row_of(collection, counted, counting->kernel, counting->graph);

	switch (counting->what) {
	case TARE_COUNTING_PREPARED:
		collection->run.counting_ns += (uint64_t)counting->ns;
		break;
	case TARE_COUNTING_LAUNCH:
		collection->run.counting_ns += (uint64_t)counting->ns;
		if (!counting->code)
			break;
		if (kernel)
			kernel->uncounted = TARE_UNCOUNTED_FAILED;
		if (collection->failed++ == 0) {
			collection->failed_code = counting->code;
			collection->failed_at = counting->text;
		}
		break;
	case TARE_COUNTING_BEGUN:
		collection->run.counting_ns += (uint64_t)counting->ns;
		break;
	case TARE_COUNTING_LEFT:
		collection->left_by_own |= counting->code == TARE_LEFT_OWN;
		if (kernel && counting->code == TARE_LEFT_CAPTURED)
			kernel->uncounted = TARE_UNCOUNTED_CAPTURED;
		if (kernel && counting->code == TARE_LEFT_COOPERATIVE)
			kernel->uncounted = TARE_UNCOUNTED_COOPERATIVE;
		break;
	case TARE_COUNTING_ABSENT:
		for (size_t i = 0; counting->code == TARE_TRACE_COUNTER_GIVEN_BYTES &&
		                   i < collection->run.kernel_count;
		     i++)
			collection->run.kernels[i].compulsory_missing =
			    "the driver does not tell parameters (before CUDA 12.4)";
		for (size_t i = 0; is_counter(counting->code) && i < collection->run.kernel_count;
		     i++) {
			struct tare_counter_value *value =
			    &collection->run.kernels[i].values[roles[counting->code]];
			if (value->state == TARE_COUNTER_NO_INSTANCE)
				value->state = TARE_COUNTER_NOT_ON_DEVICE;
		}
		break;
	default:
		break;
	}
}

const struct tare_recorded_counting *tare_counters_refusal(const struct tare_recording *counted)
{
	const struct tare_recorded_counting *first = NULL;

	for (size_t i = 0; i < counted->counting_count; i++) {
		const struct tare_recorded_counting *counting = &counted->countings[i];
		if (counting->what != TARE_COUNTING_PREPARED)
			continue;
		if (counting->code == 0)
			return NULL;
		first = first ? first : counting;
	}
	return first;
}

// A share, and a duration, are of all the time between a query's begin and end; the rest is of the
// launch, if the device did nothing else.
static bool is_of_time(uint16_t counter)
{
	return counter == TARE_TRACE_COUNTER_DURATION_NS ||
	       tare_counter_roles[roles[counter]].unit == TARE_COUNTER_UNIT_PERCENT;
}

// Most that the counters' duration may differ from the device's times of the launch.
#define MOST_APART 0.1
static bool is_apart(const struct tare_recording *counted, const struct tare_recorded_count *count)
{
	const struct tare_recorded_command *command = TARE_COMMAND(counted, count->command);
	double timed_ns = (double)(command->end_ns - command->start_ns);

	return fabs(count->value - timed_ns) > MOST_APART * timed_ns;
}

// What is known of each of a recording's counts.
struct known {
	uint32_t *rows; // of which kernel of the run; TARE_NO_INDEX: of none
	bool *alone;    // of Level Zero: the device did nothing else
	bool *left_out; // of a launch of another size
};

static int find_out(struct tare_collection *collection, const struct tare_recording *counted,
                    struct known *known)
{
	size_t count = counted->count_count;

	known->rows = calloc(count + 1, sizeof *known->rows);
	known->alone = calloc(count + 1, sizeof *known->alone);
	known->left_out = calloc(count + 1, sizeof *known->left_out);
	if (!known->rows || !known->alone || !known->left_out)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct tare_counted_kernel *kernel = row_of(
		    collection, counted, counted->counts[i].kernel, counted->counts[i].graph);
		known->rows[i] =
		    kernel ? (uint32_t)(kernel - collection->run.kernels) : TARE_NO_INDEX;
	}
	if (collection->levelzero && tare_counted_alone(counted, known->alone) < 0)
		return -ENOMEM;
	return tare_counted_sizes(counted, known->rows, known->left_out);
}

static void add_values(struct tare_collection *collection, const struct tare_recording *counted,
                       const struct known *known)
{
	uint32_t last = UINT32_MAX, apart = UINT32_MAX;

	for (size_t i = 0; i < counted->count_count; i++) {
		struct tare_recorded_count count = counted->counts[i];
		if (known->rows[i] == TARE_NO_INDEX)
			continue;
		struct tare_counted_kernel *kernel = &collection->run.kernels[known->rows[i]];
		if (count.counter == TARE_TRACE_COUNTER_GIVEN_BYTES && !known->left_out[i])
			add_given(collection, kernel, count.value);
		if (!is_counter(count.counter))
			continue;
		kernel->uncounted = TARE_UNCOUNTED_NONE;
		*(known->left_out[i] ? &kernel->other_sizes : &kernel->counted_launches) +=
		    count.launch != last;
		last = count.launch;
		if (known->left_out[i])
			continue;
		if (collection->levelzero) {
			if (known->alone[i] && count.counter == TARE_TRACE_COUNTER_DURATION_NS &&
			    is_apart(counted, &count))
				apart = count.launch;
			if (!known->alone[i] ||
			    (count.launch == apart && is_of_time(count.counter)))
				count.value = NAN;
		}
		add_value(kernel, &count);
	}
}

int tare_collection_count(struct tare_collection *collection, const struct tare_recording *counted,
                          struct tare_error *error)
{
	const struct tare_recorded_counting *refused = tare_counters_refusal(counted);

	collection->run.counted_wall_ns = (uint64_t)(counted->end_ns - counted->start_ns);
	if (refused) {
		collection->reason = collection->levelzero
		                         ? tare_metrics_refused(refused->code, refused->text)
		                         : tare_counters_refused(refused->code, refused->text);
		collection->run.device.no_counters = collection->reason;
		if (!collection->reason)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < collection->run.kernel_count; i++) {
		begin_values(&collection->run.kernels[i], refused, collection->kernels[i].graph,
		             collection->levelzero);
		if (refused && collection->kernels[i].chosen)
			collection->run.kernels[i].uncounted = TARE_UNCOUNTED_FAILED;
	}
	for (size_t i = 0; i < counted->counting_count; i++)
		apply_counting(collection, counted, &counted->countings[i]);
	struct known known = { NULL, NULL, NULL };
	int status = find_out(collection, counted, &known);
	if (status == 0)
		add_values(collection, counted, &known);
	free(known.rows);
	free(known.alone);
	free(known.left_out);
	if (status < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; i < collection->run.kernel_count; i++)
		add_l2_hits(&collection->run.kernels[i]);
	return 0;
}
