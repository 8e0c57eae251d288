// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/hierarchy.h"

#include <math.h>
#include <stddef.h>

// The counters of an edge. `write` is `read` where only the sum is counted.
static const struct {
	const char *name;
	enum tare_counter_role read, write, share; // ROLES: there is no counter
	enum tare_kernel_bound bound;
	size_t measured; // offset of the measured ceiling; SIZE_MAX: none
} edges[TARE_EDGES] = {
	[TARE_EDGE_REGISTERS_L1] = { "registers - L1 and shared memory", TARE_COUNTER_L1_BYTES,
	                             TARE_COUNTER_L1_BYTES, TARE_COUNTER_L1_SHARE,
	                             TARE_KERNEL_BOUND_L1,
	                             offsetof(struct tare_counted_device,
	                                      measured_l1_bytes_per_s) },
	[TARE_EDGE_L1_L2] = { "L1 - L2", TARE_COUNTER_L1_READ_BYTES, TARE_COUNTER_L1_WRITE_BYTES,
	                      TARE_COUNTER_L2_SHARE, TARE_KERNEL_BOUND_L2,
	                      offsetof(struct tare_counted_device, measured_l2_bytes_per_s) },
	[TARE_EDGE_L2_DEVICE] = { "L2 - device memory", TARE_COUNTER_DEVICE_READ_BYTES,
	                          TARE_COUNTER_DEVICE_WRITE_BYTES, TARE_COUNTER_DEVICE_MEMORY_SHARE,
	                          TARE_KERNEL_BOUND_DEVICE_MEMORY,
	                          offsetof(struct tare_counted_device,
	                                   measured_memory_bytes_per_s) },
	[TARE_EDGE_HOST] = { "L2 - host memory", TARE_COUNTER_HOST_READ_BYTES,
	                     TARE_COUNTER_HOST_WRITE_BYTES, TARE_COUNTER_ROLES,
	                     TARE_KERNEL_BOUND_NOT_KNOWN, SIZE_MAX },
	[TARE_EDGE_PEER] = { "L2 - other devices", TARE_COUNTER_PEER_READ_BYTES,
	                     TARE_COUNTER_PEER_WRITE_BYTES, TARE_COUNTER_ROLES,
	                     TARE_KERNEL_BOUND_NOT_KNOWN, SIZE_MAX },
};

static const struct {
	enum tare_counter_role role;
	size_t measured;
} flops[TARE_FLOP_KINDS] = {
	[TARE_FLOP_FP16] = { TARE_COUNTER_FLOP_FP16,
	                     offsetof(struct tare_counted_device, measured_fp16_flop_per_s) },
	[TARE_FLOP_FP32] = { TARE_COUNTER_FLOP_FP32,
	                     offsetof(struct tare_counted_device, measured_fp32_flop_per_s) },
	[TARE_FLOP_FP64] = { TARE_COUNTER_FLOP_FP64,
	                     offsetof(struct tare_counted_device, measured_fp64_flop_per_s) },
};

const char *tare_kernel_bound_name(enum tare_kernel_bound bound)
{
	static const char *const names[TARE_KERNEL_BOUNDS] = {
		[TARE_KERNEL_BOUND_NOT_KNOWN] = "n/a",
		[TARE_KERNEL_BOUND_DEVICE_MEMORY] = "device memory",
		[TARE_KERNEL_BOUND_L2] = "L2",
		[TARE_KERNEL_BOUND_L1] = "L1",
		[TARE_KERNEL_BOUND_COMPUTE] = "compute",
		[TARE_KERNEL_BOUND_LATENCY] = "latency",
		[TARE_KERNEL_BOUND_TOO_SMALL] = "too small",
	};

	return names[bound];
}

const char *tare_edge_name(enum tare_edge edge)
{
	return edges[edge].name;
}

static double ceiling_of(const struct tare_counted_device *device, size_t offset)
{
	double rate;

	if (offset == SIZE_MAX)
		return NAN;
	rate = *(const double *)((const char *)device + offset);
	return rate > 0 ? rate : NAN;
}

// A role's mean, where nothing contradicts it.
static double trusted(const struct tare_hotspot *hotspot, enum tare_counter_role role)
{
	if (role == TARE_COUNTER_ROLES ||
	    tare_kernel_verdict_contradiction(&hotspot->verdict, role))
		return NAN;
	return tare_counted_mean(hotspot->kernel, role);
}

static bool alike(const struct tare_counter_value *value)
{
	return value->most - value->least <= TARE_ALIKE * value->mean;
}

// How two roles may be divided. A role that was not counted is the caller's to see.
static enum tare_rate_origin origin_of(const struct tare_counted_kernel *kernel,
                                       enum tare_counter_role over, enum tare_counter_role under)
{
	const struct tare_counter_value *a = &kernel->values[over], *b = &kernel->values[under];

	if (a->group == b->group)
		return TARE_RATE_SAME;
	return alike(a) && alike(b) ? TARE_RATE_OTHER : TARE_RATE_UNLIKE;
}

static double divide(double over, double under)
{
	return under > 0 ? over / under : NAN;
}

// `amount` of a role, a second. Time is the counters', or the recording's.
static double rate_of(const struct tare_hotspot *hotspot, double amount,
                      enum tare_counter_role role, enum tare_rate_origin *origin)
{
	double rate = divide(amount, hotspot->duration_ns) * 1e9;

	*origin = TARE_RATE_NONE;
	if (isnan(rate))
		return NAN;
	if (hotspot->kernel->by_instructions) {
		*origin = TARE_RATE_ASKED;
		return rate;
	}
	*origin = hotspot->duration_counted
	              ? origin_of(hotspot->kernel, role, TARE_COUNTER_DURATION_NS)
	          : alike(&hotspot->kernel->values[role]) ? TARE_RATE_RECORDING
	                                                  : TARE_RATE_UNLIKE;
	return *origin == TARE_RATE_UNLIKE ? NAN : rate;
}

static void derive_edge(struct tare_hotspot *hotspot, const struct tare_counted_device *device,
                        enum tare_edge edge)
{
	struct tare_edge_traffic *traffic = &hotspot->edges[edge];
	const struct tare_counted_kernel *kernel = hotspot->kernel;
	enum tare_counter_role read = edges[edge].read, write = edges[edge].write;
	bool sum = read == write;

	traffic->read_bytes = sum ? NAN : trusted(hotspot, read);
	traffic->write_bytes = sum ? NAN : trusted(hotspot, write);
	traffic->bytes = sum ? trusted(hotspot, read) : traffic->read_bytes + traffic->write_bytes;
	traffic->state = kernel->values[read].state;
	if (traffic->state == TARE_COUNTER_COUNTED)
		traffic->state = kernel->values[write].state;
	traffic->bytes_per_s = rate_of(hotspot, traffic->bytes, read, &traffic->origin);
	traffic->share = trusted(hotspot, edges[edge].share);
	traffic->measured_share =
	    100 * divide(traffic->bytes_per_s, ceiling_of(device, edges[edge].measured));
	traffic->over_compulsory = divide(traffic->bytes, (double)kernel->compulsory_bytes);
	traffic->binding = edges[edge].bound != TARE_KERNEL_BOUND_NOT_KNOWN &&
	                   edges[edge].bound == hotspot->verdict.bound &&
	                   tare_kernel_verdict_decided(&hotspot->verdict);
}

static void derive_time(struct tare_hotspot *hotspot)
{
	double cores = trusted(hotspot, TARE_COUNTER_CORES_ACTIVE_SHARE);
	double issue = trusted(hotspot, TARE_COUNTER_ISSUE_SHARE);

	cores = fmin(cores, isnan(cores) ? NAN : 100);
	hotspot->time.idle = 100 - cores;
	hotspot->time.active = cores * (isnan(issue) ? NAN : fmin(issue, 100)) / 100;
	hotspot->time.stalled = cores - hotspot->time.active;
}

static void derive_arithmetic(struct tare_hotspot *hotspot,
                              const struct tare_counted_device *device)
{
	struct tare_arithmetic *arithmetic = &hotspot->arithmetic;
	enum tare_counter_role role;
	double total = NAN;

	for (enum tare_flop_kind kind = 0; kind < TARE_FLOP_KINDS; kind++) {
		arithmetic->flop[kind] = trusted(hotspot, flops[kind].role);
		arithmetic->partial |= isnan(arithmetic->flop[kind]);
		if (isnan(arithmetic->flop[kind]))
			continue;
		total = isnan(total) ? arithmetic->flop[kind] : total + arithmetic->flop[kind];
		if (!(arithmetic->flop[kind] <= arithmetic->flop[arithmetic->most]))
			arithmetic->most = kind;
	}
	arithmetic->total_flop = total;
	arithmetic->partial |= hotspot->kernel->by_instructions
	                           ? hotspot->kernel->more_flop
	                           : !(trusted(hotspot, TARE_COUNTER_PIPE_TENSOR_SHARE) < 0.1);
	role = flops[arithmetic->most].role;
	arithmetic->flop_per_s =
	    rate_of(hotspot, arithmetic->total_flop, role, &arithmetic->origin);
	arithmetic->measured_share =
	    100 * divide(arithmetic->flop_per_s *
	                     divide(arithmetic->flop[arithmetic->most], arithmetic->total_flop),
	                 ceiling_of(device, flops[arithmetic->most].measured));
	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++) {
		bool unlike =
		    origin_of(hotspot->kernel, role, edges[edge].read) == TARE_RATE_UNLIKE;
		arithmetic->intensity[edge] =
		    unlike ? NAN : divide(arithmetic->total_flop, hotspot->edges[edge].bytes);
	}
}

// What remains of the time when the work stays and only `except` is gone: the fullest other limit.
static enum tare_kernel_bound fullest(const struct tare_kernel_verdict *verdict,
                                      enum tare_kernel_bound except, double *of_time)
{
	enum tare_kernel_bound found = TARE_KERNEL_BOUND_NOT_KNOWN;

	*of_time = NAN;
	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
		const struct tare_limit *limit = &verdict->limits[b];
		if (b == except || !limit->known || isnan(limit->of_time) ||
		    (found != TARE_KERNEL_BOUND_NOT_KNOWN && limit->of_time <= *of_time))
			continue;
		found = b;
		*of_time = limit->of_time;
	}
	return found;
}

static void derive_gain(struct tare_hotspot *hotspot)
{
	struct tare_gain *gain = &hotspot->gain;
	const struct tare_kernel_verdict *verdict = &hotspot->verdict;
	double cores = trusted(hotspot, TARE_COUNTER_CORES_ACTIVE_SHARE) / 100, rest;
	enum tare_kernel_bound full = fullest(verdict, TARE_KERNEL_BOUND_NOT_KNOWN, &rest);

	*gain = (struct tare_gain){ NAN, NAN, TARE_KERNEL_BOUND_NOT_KNOWN };
	switch (verdict->bound) {
	case TARE_KERNEL_BOUND_DEVICE_MEMORY:
	case TARE_KERNEL_BOUND_L2:
	case TARE_KERNEL_BOUND_L1:
	case TARE_KERNEL_BOUND_COMPUTE:
		gain->at_ceiling = verdict->limits[verdict->bound].of_time;
		gain->next = fullest(verdict, verdict->bound, &gain->at_next);
		break;
	case TARE_KERNEL_BOUND_LATENCY:
		gain->at_ceiling = rest;
		gain->next = full;
		break;
	case TARE_KERNEL_BOUND_TOO_SMALL:
		// Cores that all work all the time, and as fast as now.
		gain->at_ceiling = isnan(rest) ? cores : fmax(cores, rest);
		break;
	default:
		break;
	}
	// A share over 100 by rounding is no loss of time.
	gain->at_ceiling = isnan(gain->at_ceiling) ? NAN : fmin(gain->at_ceiling, 1);
	gain->at_next = isnan(gain->at_next) ? NAN : fmin(gain->at_next, 1);
}

static double find_imbalance(const struct tare_hotspot *hotspot)
{
	double mean = trusted(hotspot, TARE_COUNTER_CORE_ACTIVE_MEAN);
	double most = trusted(hotspot, TARE_COUNTER_CORE_ACTIVE_MOST);

	return 100 * divide(most - mean, most);
}

uint64_t tare_counted_recorded_ns(const struct tare_counted_kernel *kernel)
{
	return kernel->like_ns ? kernel->like_ns : kernel->mean_ns;
}

void tare_hotspot_derive(const struct tare_counted_kernel *kernel,
                         const struct tare_counted_device *device, struct tare_hotspot *hotspot)
{
	double ns, recorded_ns = (double)tare_counted_recorded_ns(kernel);

	*hotspot = (struct tare_hotspot){ .kernel = kernel };
	tare_hotspot_judge(kernel, device, &hotspot->verdict);
	ns = trusted(hotspot, TARE_COUNTER_DURATION_NS);
	hotspot->duration_counted = ns > 0;
	hotspot->duration_ns = ns > 0 ? ns : recorded_ns > 0 ? recorded_ns : NAN;
	hotspot->unlike_recorded =
	    hotspot->duration_counted && recorded_ns > 0 &&
	    (ns > recorded_ns * TARE_LIKE_RECORDED || ns * TARE_LIKE_RECORDED < recorded_ns);
	for (enum tare_edge edge = 0; edge < TARE_EDGES; edge++)
		derive_edge(hotspot, device, edge);
	derive_time(hotspot);
	derive_arithmetic(hotspot, device);
	derive_gain(hotspot);
	hotspot->imbalance = find_imbalance(hotspot);
	hotspot->lanes = divide(trusted(hotspot, TARE_COUNTER_LANE_INSTRUCTIONS),
	                        trusted(hotspot, TARE_COUNTER_INSTRUCTIONS));
}
