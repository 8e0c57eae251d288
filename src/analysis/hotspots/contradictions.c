// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/contradictions.h"

#include "analysis/hotspots/roles.h"

#include <math.h>

static void add(struct tare_kernel_verdict *verdict, enum tare_contradiction_kind kind,
                enum tare_counter_role role, double value, double most)
{
	if (verdict->contradiction_count < TARE_CONTRADICTIONS_KEPT)
		verdict->contradictions[verdict->contradiction_count++] =
		    (struct tare_contradiction){ kind, role, value, most };
}

double tare_counted_mean(const struct tare_counted_kernel *kernel, enum tare_counter_role role)
{
	const struct tare_counter_value *value = &kernel->values[role];
	bool share = tare_counter_roles[role].unit == TARE_COUNTER_UNIT_PERCENT;

	if (value->state != TARE_COUNTER_COUNTED || !isfinite(value->mean) || value->mean < 0)
		return NAN;
	return share && value->mean > 100 + TARE_SHARE_TOLERANCE ? NAN : value->mean;
}

static void check_each(const struct tare_counted_kernel *kernel,
                       struct tare_kernel_verdict *verdict)
{
	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++) {
		const struct tare_counter_value *value = &kernel->values[role];
		if (value->state != TARE_COUNTER_COUNTED || !isnan(tare_counted_mean(kernel, role)))
			continue;
		if (isfinite(value->mean) && value->mean > 0)
			add(verdict, TARE_CONTRADICTION_OVER_MAXIMUM, role, value->mean, 100);
		else
			add(verdict, TARE_CONTRADICTION_NO_NUMBER, role, value->mean, NAN);
	}
}

// L1's share is of the whole time: it cannot be larger than the time in which cores were active.
static void check_active(const struct tare_counted_kernel *kernel,
                         struct tare_kernel_verdict *verdict)
{
	double active = tare_counted_mean(kernel, TARE_COUNTER_CORES_ACTIVE_SHARE);
	double l1 = tare_counted_mean(kernel, TARE_COUNTER_L1_SHARE);

	if (l1 > active + 2 * TARE_SHARE_TOLERANCE)
		add(verdict, TARE_CONTRADICTION_OVER_MAXIMUM, TARE_COUNTER_L1_SHARE, l1, active);
}

static void check_occupancy(const struct tare_counted_kernel *kernel,
                            struct tare_kernel_verdict *verdict)
{
	double occupancy = tare_counted_mean(kernel, TARE_COUNTER_OCCUPANCY_SHARE);

	if (occupancy > kernel->occupancy_possible + TARE_SHARE_TOLERANCE)
		add(verdict, TARE_CONTRADICTION_OVER_POSSIBLE, TARE_COUNTER_OCCUPANCY_SHARE,
		    occupancy, kernel->occupancy_possible);
}

static void check_traffic(const struct tare_counted_kernel *kernel,
                          const struct tare_counted_device *device,
                          struct tare_kernel_verdict *verdict)
{
	double reads = tare_counted_mean(kernel, TARE_COUNTER_DEVICE_READ_BYTES);
	double writes = tare_counted_mean(kernel, TARE_COUNTER_DEVICE_WRITE_BYTES);
	double ns = tare_counted_mean(kernel, TARE_COUNTER_DURATION_NS);
	double rate = (reads + writes) / ns * 1e9;
	double paper = device->paper_memory_bytes_per_s;
	double l1 = tare_counted_mean(kernel, TARE_COUNTER_L1_READ_BYTES) +
	            tare_counted_mean(kernel, TARE_COUNTER_L1_WRITE_BYTES);
	double l2 = tare_counted_mean(kernel, TARE_COUNTER_L2_BYTES);

	if (ns > 0 && paper > 0 && rate > paper * TARE_PAPER_TOLERANCE)
		add(verdict, TARE_CONTRADICTION_OVER_PAPER, TARE_COUNTER_DEVICE_READ_BYTES, rate,
		    paper);
	if (l1 > l2 * TARE_PAPER_TOLERANCE)
		add(verdict, TARE_CONTRADICTION_OVER_WHOLE, TARE_COUNTER_L2_BYTES, l2, l1);
}

static void check_cores(const struct tare_counted_kernel *kernel,
                        struct tare_kernel_verdict *verdict)
{
	double least = tare_counted_mean(kernel, TARE_COUNTER_CORE_ACTIVE_LEAST);
	double mean = tare_counted_mean(kernel, TARE_COUNTER_CORE_ACTIVE_MEAN);
	double most = tare_counted_mean(kernel, TARE_COUNTER_CORE_ACTIVE_MOST);

	if (least > mean || mean > most)
		add(verdict, TARE_CONTRADICTION_ORDER, TARE_COUNTER_CORE_ACTIVE_MEAN, mean, most);
}

void tare_hotspot_contradictions(const struct tare_counted_kernel *kernel,
                                 const struct tare_counted_device *device,
                                 struct tare_kernel_verdict *verdict)
{
	check_each(kernel, verdict);
	check_active(kernel, verdict);
	check_occupancy(kernel, verdict);
	check_traffic(kernel, device, verdict);
	check_cores(kernel, verdict);
}

const struct tare_contradiction *
tare_kernel_verdict_contradiction(const struct tare_kernel_verdict *verdict,
                                  enum tare_counter_role role)
{
	for (size_t i = 0; i < verdict->contradiction_count; i++)
		if (verdict->contradictions[i].role == role)
			return &verdict->contradictions[i];
	return NULL;
}
