// SPDX-License-Identifier: Apache-2.0
// How often blocks of a kernel were executed: by what the hardware counted (accounts.c), and where
// that leaves room by which instructions were met while they issued.
//
// Of J instructions a block of n was met R of T times beside its first instruction, which is booked
// elsewhere: it was executed J × R / T / (n - 1) times. But the sampler picks one of the warps that
// are there, so an issue beside few others is met more often: those of a warp's beginning and end
// by up to 2.3 times (H100). Blocks that each warp executes once (no lanes part before them) are
// therefore left out of J and T: of these the count is known. What else is in unlike company is
// unknown: the interval takes it that other instructions were met up to 2.5 times too often or too
// seldom, whichever is worse.
#include "blocks/cuda/flow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { LEAST_ISSUES = 100 };
enum { KERNEL_MS = 3000, ALL_MS = 20000 };
static const double interval = 1.96; // standard deviations of 95 %
static const double company = 2.5;

static bool never_part(const struct tare_sampled_kernel *kernel)
{
	return kernel->accounts.known >> TARE_ACCOUNT_APART & 1 &&
	       kernel->accounts.sums[TARE_ACCOUNT_APART] == 0;
}

static int find_once(struct tare_sampled_kernel *kernel)
{
	struct tare_sass_flow flow = { 0 };
	// Where a branch may lead anywhere nothing is known.
	int status = kernel->split.indirect ? 0 : tare_flow_make(kernel, &flow);

	for (uint32_t i = 0; status == 0 && i < flow.count; i++)
		kernel->blocks[i].once = tare_flow_is_once(&flow, i);
	for (uint32_t i = 0; status == 0 && i < flow.count; i++)
		kernel->blocks[i].surely =
		    kernel->blocks[i].once && (never_part(kernel) || !tare_flow_parts(&flow, i));
	tare_flow_free(&flow);
	return status;
}

// ---- figures

// Of blocks but the first instruction of each: how often they were met as they issued.
static double met(const struct tare_sampled_kernel *kernel, const struct tare_sampled_block *block)
{
	uint64_t issued = 0;

	for (uint32_t i = 1; i < block->count; i++)
		issued += kernel->instructions[block->first + i].by[TARE_STALL_SELECTED];
	return (double)issued;
}

// Instructions that were executed, and how often they were met as they issued, without those that
// each warp executes once.
struct rest {
	double instructions, issued;
	double least, most; // of those instructions in a launch, to their mean
	double error;       // relative, of `issued`
};

static struct rest rest_of(const struct tare_sampled_kernel *kernel)
{
	double all = 0, once = 0, counted = 0, once_met = 0;

	for (uint32_t i = 0; i < kernel->count; i++)
		all += (double)kernel->instructions[i].by[TARE_STALL_SELECTED];
	for (uint32_t i = 0; i < kernel->split.count; i++) {
		const struct tare_sampled_block *block = &kernel->blocks[i];
		if (!block->surely)
			continue;
		once += block->count;
		counted += block->count - 1;
		once_met += met(kernel, block);
	}
	double left_out = counted > 0 ? once_met * once / counted : 0;
	double issued = all - left_out;
	double each = kernel->each - once;
	return (struct rest){ .instructions = (double)kernel->warps * each,
		              .issued = issued,
		              .least = each > 0 ? fmax(kernel->each_least - once, 0) / each : 0,
		              .most = each > 0 ? (kernel->each_most - once) / each : 0,
		              .error = once_met > 0 && issued > 0
		                           ? left_out / issued / sqrt(once_met)
		                           : 0 };
}

// By samples alone.
static struct tare_sampled sampled_of(const struct tare_sampled_kernel *kernel,
                                      const struct tare_sampled_block *block,
                                      const struct rest *rest)
{
	double issued = met(kernel, block), count = block->count;

	if (issued < LEAST_ISSUES || rest->instructions <= 0 || rest->issued <= 0)
		return (struct tare_sampled){ .known = false };
	double most = rest->instructions / count;
	double part = fmin(issued / rest->issued, 1);
	double share = fmin(part * count / (count - 1), 1);
	double error = interval * sqrt((1 - part) / issued + rest->error * rest->error);
	double value = share * most;
	double low = value * fmax(0, 1 - error) / (share + (1 - share) * company),
	       high = value * (1 + error) / (share + (1 - share) / company);
	return (struct tare_sampled){ .known = true,
		                      .value = value,
		                      .low = low * rest->least,
		                      .high = fmin(high, most) * rest->most };
}

// A whole number of executions, beside what rounding makes of it.
static double whole(double executions)
{
	double near = round(executions);

	return fabs(executions - near) < .01 ? near : executions;
}

// All launches are taken to be as those that were counted, which may differ.
static struct tare_sampled of_all(const struct tare_sampled_kernel *kernel, double value,
                                  const struct tare_account_bounds *bounds)
{
	double warps = (double)kernel->warps, each = kernel->each;

	return (struct tare_sampled){
		.known = true,
		.value = whole(value * warps),
		.low = whole(bounds->low * warps * (kernel->each_least / each)),
		.high = whole(bounds->high * warps * (kernel->each_most / each))
	};
}

// What is between these ends needs no samples.
static bool is_narrow(const struct tare_account_bounds *bounds)
{
	return bounds->high - bounds->low <= 0.1 * bounds->high;
}

// What the counts leave of what was sampled, with it and by themselves.
static void tell(const struct tare_sampled_kernel *kernel, struct tare_sampled_block *block,
                 const struct tare_account_bounds *counted, const struct tare_account_bounds *both)
{
	double warps = (double)kernel->warps;
	double of_counted = tare_account_counted(counted, kernel->slack, kernel->accounts.warps);
	struct tare_sampled *is = &block->executions;

	if (isfinite(of_counted)) {
		double middle = of_counted / kernel->accounts.warps;
		*is = of_all(kernel, middle, &(struct tare_account_bounds){ true, middle, middle });
		block->from = TARE_EXECUTIONS_COUNTED;
		return;
	}
	const struct tare_account_bounds *ends = both ? both : counted;
	if (!ends->known || !isfinite(ends->high) || (!is->known && !is_narrow(ends)))
		return;
	double value = is->known ? is->value / warps : (ends->low + ends->high) / 2;
	double width = is->known ? is->high - is->low : INFINITY;
	*is = of_all(kernel, fmin(fmax(value, ends->low), ends->high), ends);
	// A sample's own interval is what is left where counts say nothing.
	if (is->high - is->low < 0.9 * width || !both)
		block->from = TARE_EXECUTIONS_BOUNDED;
}

// Between what a block's executions are by its samples, a warp. Of one that was met seldom the most
// is known, with three standard deviations.
static struct tare_account_bounds sampled_bounds(const struct tare_sampled_kernel *kernel,
                                                 const struct tare_sampled_block *block,
                                                 const struct rest *rest)
{
	const struct tare_sampled *is = &block->executions;
	double warps = (double)kernel->warps, few = met(kernel, block) + 4.5;

	if (is->known)
		return (struct tare_account_bounds){ true, is->low / warps, is->high / warps };
	if (block->count < 2 || rest->issued <= 0)
		return (struct tare_account_bounds){ .known = false };
	return (struct tare_account_bounds){ true, 0,
		                             company * (few + 3 * sqrt(few)) / (block->count - 1) *
		                                 rest->instructions / rest->issued / warps };
}

static struct tare_host_time later(struct tare_host_time from, int64_t by_ms)
{
	return (struct tare_host_time){ from.ns + by_ms * 1000000 };
}

static struct tare_host_time earlier(struct tare_host_time a, struct tare_host_time b)
{
	return tare_host_elapsed_ns(a, b) < 0 ? b : a;
}

static int tell_all(struct tare_sampled_kernel *kernel, const struct rest *rest,
                    struct tare_host_time begin)
{
	struct tare_account_bounds *sampled = calloc(kernel->split.count, sizeof *sampled);
	struct tare_accounts_result settled = { 0 };
	int status = sampled ? 0 : -ENOMEM;
	double warps = (double)kernel->warps;
	struct tare_host_time until =
	    earlier(later(begin, ALL_MS), later(tare_host_now(), KERNEL_MS));

	for (uint32_t i = 0; status == 0 && i < kernel->split.count; i++) {
		struct tare_sampled_block *block = &kernel->blocks[i];
		block->from = block->surely ? TARE_EXECUTIONS_COUNTED : TARE_EXECUTIONS_SAMPLED;
		block->executions = block->surely
		                        ? (struct tare_sampled){ true, warps, warps, warps }
		                        : sampled_of(kernel, block, rest);
		sampled[i] = sampled_bounds(kernel, block, rest);
	}
	if (status == 0 && tare_sampled_counts_stand(kernel))
		status = tare_accounts_settle(kernel, &kernel->accounts, sampled, until, &settled);
	else if (kernel->counted)
		settled.end = TARE_ACCOUNTS_UNLIKE;
	kernel->accounts_end = settled.end;
	kernel->slack = settled.slack;
	for (uint32_t i = 0;
	     status == 0 && settled.end == TARE_ACCOUNTS_SETTLED && i < kernel->split.count; i++)
		if (!kernel->blocks[i].surely)
			tell(kernel, &kernel->blocks[i], &settled.blocks[i],
			     settled.narrow ? &settled.narrow[i] : NULL);
	tare_accounts_free(&settled);
	free(sampled);
	return status;
}

int tare_sampled_tell_executions(struct tare_sampled_kernel *kernel, struct tare_host_time begin)
{
	if (kernel->why != TARE_SAMPLED_UNCOUNTED || kernel->each <= 0 || !kernel->split.count)
		return 0;
	int status = find_once(kernel);
	const struct rest rest = rest_of(kernel);
	bool any = false;

	kernel->why = TARE_SAMPLED_FEW;
	if (status == 0)
		status = tell_all(kernel, &rest, begin);
	for (uint32_t i = 0; status == 0 && i < kernel->split.count; i++)
		any |= kernel->blocks[i].executions.known && !kernel->blocks[i].surely;
	if (any)
		kernel->why = TARE_SAMPLED_KNOWN;
	return status;
}
