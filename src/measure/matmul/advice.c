// SPDX-License-Identifier: Apache-2.0
// What the figures of `matmul` mean, in plain words, and which step comes next.
#include "measure/matmul/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Below this factor two figures are called alike.
#define ALIKE 1.05

static double kernel_s(const struct matmul *matmul, enum tare_rung rung, uint32_t n)
{
	return matmul_cell_s(matmul_kernel_cell(matmul->run->result, rung, n));
}

static double part_s(const struct matmul *matmul, enum tare_rung rung, uint32_t n,
                     enum tare_part part)
{
	return matmul_cell_s(matmul_cell(matmul->run->result, rung, n, part));
}

struct best {
	int rung; // -1: none
	uint32_t n;
	double s;
};

// The fastest of the device's rungs (or of the host's) at n, by kernel or by total; those whose
// factors are rounded are another product.
static struct best fastest(const struct matmul *matmul, uint32_t n, bool host, bool total)
{
	struct best best = { .rung = -1, .n = n, .s = INFINITY };

	for (int i = 0; i < TARE_RUNG_COUNT; i++) {
		enum tare_rung rung = (enum tare_rung)i;
		double s;
		if (matmul_on_host(rung) != host || matmul_is_rounded(rung))
			continue;
		s = total ? part_s(matmul, rung, n, TARE_PART_TOTAL) : kernel_s(matmul, rung, n);
		if (s > 0 && s < best.s)
			best = (struct best){ i, n, s };
	}
	return best;
}

static struct best fastest_at_largest(const struct matmul *matmul)
{
	struct best best = { .rung = -1 };

	for (size_t i = matmul->n_count; best.rung < 0 && i-- > 0;)
		best = fastest(matmul, matmul->n[i], false, false);
	return best;
}

static const char *significant(double value, char text[TARE_UNIT_TEXT])
{
	return tare_format_significant(value, value >= 100 ? 3 : 2, text);
}

// Whether a rung cannot be told from the best: their intervals meet, or there are none and the
// medians are close.
static bool is_alike(const struct matmul *matmul, const struct best *best, enum tare_rung rung)
{
	const struct tare_cell *first =
	    matmul_kernel_cell(matmul->run->result, (enum tare_rung)best->rung, best->n);
	const struct tare_cell *other = matmul_kernel_cell(matmul->run->result, rung, best->n);

	if (matmul_on_host(rung) || matmul_is_rounded(rung) || (int)rung == best->rung ||
	    !(matmul_cell_s(other) > 0))
		return false;
	if (isfinite(first->summary.ci_high) && isfinite(other->summary.ci_low))
		return other->summary.ci_low <= first->summary.ci_high;
	return matmul_cell_s(other) < ALIKE * best->s;
}

static void conclude_alike(struct matmul *matmul, const struct best *best)
{
	char names[128] = "";
	size_t used = 0, count = 0;

	for (int i = 0; i < TARE_RUNG_COUNT && used < sizeof names; i++)
		if (is_alike(matmul, best, (enum tare_rung)i))
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
			                         count++ ? ", " : "",
			                         tare_rung_name((enum tare_rung)i));
	if (count == 0)
		return;
	tare_result_conclude(matmul->run->result, "alike",
	                     "Within the error of measuring %s %s as fast.", names,
	                     count == 1 ? "is" : "are");
}

static void conclude_best(struct matmul *matmul, const struct best *best)
{
	struct tare_result *result = matmul->run->result;
	enum tare_rung rung = (enum tare_rung)best->rung;
	double factor = kernel_s(matmul, TARE_RUNG_NAIVE, best->n) / best->s;
	double rate = matmul_flop(best->n) / best->s * 1e-9;
	char times[TARE_UNIT_TEXT], rates[TARE_UNIT_TEXT], beside[96] = "";
	bool others = false;

	for (int i = TARE_RUNG_TILED; i <= TARE_RUNG_BLAS; i++)
		others |= kernel_s(matmul, (enum tare_rung)i, best->n) > 0;
	if (rung == TARE_RUNG_NAIVE && others)
		snprintf(beside, sizeof beside, "; no other rung beats it here");
	else if (rung != TARE_RUNG_NAIVE && factor > 0)
		snprintf(beside, sizeof beside, ", %s times naive", significant(factor, times));
	tare_result_conclude(result, "best-rung",
	                     "At n = %u the best rung is %s (%s): %s GFLOP/s%s.", best->n,
	                     tare_rung_name(rung), tare_rung_title(rung),
	                     tare_format_significant(rate, 3, rates), beside);
}

// ---- device or host

enum winner { WINS_DEVICE, WINS_HOST, WINS_NEITHER };

// What was compared at the sizes tried, in their order.
struct contest {
	enum winner at[TARE_MATMUL_SIZES];
	uint32_t n[TARE_MATMUL_SIZES];
	size_t count;
	const char *host; // its fastest rung at the largest n
};

// The cell that `fastest` has gone by.
static const struct tare_cell *cell_of(const struct matmul *matmul, const struct best *best,
                                       bool total)
{
	enum tare_rung rung = (enum tare_rung)best->rung;

	return total ? matmul_cell(matmul->run->result, rung, best->n, TARE_PART_TOTAL)
	             : matmul_kernel_cell(matmul->run->result, rung, best->n);
}

// Beyond the error of measuring: by the intervals, or where there are none by more than what is
// alike.
static bool is_faster(const struct tare_cell *one, const struct tare_cell *other)
{
	if (isfinite(one->summary.ci_high) && isfinite(other->summary.ci_low))
		return one->summary.ci_high < other->summary.ci_low;
	return one->summary.median * ALIKE < other->summary.median;
}

static struct contest compare_with_host(const struct matmul *matmul, bool total)
{
	struct contest contest = { .count = 0 };

	for (size_t i = 0; i < matmul->n_count; i++) {
		struct best device = fastest(matmul, matmul->n[i], false, total);
		struct best host = fastest(matmul, matmul->n[i], true, true);
		if (device.rung < 0 || host.rung < 0)
			continue;
		const struct tare_cell *there = cell_of(matmul, &device, total);
		const struct tare_cell *here = cell_of(matmul, &host, true);
		contest.at[contest.count] = is_faster(there, here)   ? WINS_DEVICE
		                            : is_faster(here, there) ? WINS_HOST
		                                                     : WINS_NEITHER;
		contest.n[contest.count++] = matmul->n[i];
		contest.host = tare_rung_name((enum tare_rung)host.rung);
	}
	return contest;
}

// The first size from `from` on at which another one wins.
static size_t end_of(const struct contest *contest, size_t from)
{
	size_t end = from + 1;

	while (end < contest->count && contest->at[end] == contest->at[from])
		end++;
	return end;
}

// "the host is faster at n = 64 to 256, the device is faster at n = 512"
static void list_winners(const struct contest *contest, char *text, size_t room)
{
	static const char *const names[] = { [WINS_DEVICE] = "the device is faster",
		                             [WINS_HOST] = "the host is faster",
		                             [WINS_NEITHER] = "neither is faster for sure" };
	size_t used = 0;

	for (size_t from = 0, end; from < contest->count && used < room; from = end) {
		char to[32] = "";
		end = end_of(contest, from);
		if (end - from > 1)
			snprintf(to, sizeof to, " to %u", contest->n[end - 1]);
		used +=
		    (size_t)snprintf(text + used, room - used, "%s%s at n = %u%s", from ? ", " : "",
		                     names[contest->at[from]], contest->n[from], to);
	}
}

// From which size on the device is faster, with copies and launches counted or on data that is on
// the device already.
static void conclude_against_host(struct matmul *matmul, const char *id, const char *counted,
                                  bool total)
{
	struct tare_result *result = matmul->run->result;
	struct contest contest = compare_with_host(matmul, total);
	char tried[64], winners[256];
	size_t first, second;

	if (contest.count == 0)
		return;
	snprintf(tried, sizeof tried, contest.count > 1 ? "tried: %u to %u" : "tried: %u",
	         contest.n[0], contest.n[contest.count - 1]);
	first = end_of(&contest, 0);
	second = first < contest.count ? end_of(&contest, first) : first;
	if (first == contest.count && contest.at[0] == WINS_DEVICE)
		tare_result_conclude(result, id,
		                     "%s the device is faster than the host (%s) at every n "
		                     "(%s).",
		                     counted, contest.host, tried);
	else if (first == contest.count && contest.at[0] == WINS_HOST)
		tare_result_conclude(result, id, "%s the host (%s) is faster at every n (%s)%s.",
		                     counted, contest.host, tried,
		                     total ? ": not worth offloading one product at a time" : "");
	else if (first == contest.count)
		tare_result_conclude(result, id,
		                     "%s neither the device nor the host (%s) is faster for sure "
		                     "at any n (%s).",
		                     counted, contest.host, tried);
	else if (second == contest.count && contest.at[0] == WINS_HOST &&
	         contest.at[first] == WINS_DEVICE)
		tare_result_conclude(result, id,
		                     "%s the host (%s) is faster up to n = %u, the device from n "
		                     "= %u on (%s).",
		                     counted, contest.host, contest.n[first - 1], contest.n[first],
		                     tried);
	else {
		list_winners(&contest, winners, sizeof winners);
		tare_result_conclude(result, id, "%s %s (of the host: %s).", counted, winners,
		                     contest.host);
	}
}

// ---- launches and copies

// One launch an element: how much of the time is launching.
static void conclude_element(struct matmul *matmul)
{
	for (size_t i = matmul->n_count; i-- > 0;) {
		uint32_t n = matmul->n[i];
		double launch = part_s(matmul, TARE_RUNG_ELEMENT, n, TARE_PART_LAUNCH);
		double complete = part_s(matmul, TARE_RUNG_ELEMENT, n, TARE_PART_COMPLETE);
		double alone = part_s(matmul, TARE_RUNG_ELEMENT, n, TARE_PART_KERNELS_ALONE);
		double launches = (double)n * n, naive = kernel_s(matmul, TARE_RUNG_NAIVE, n);
		char each[TARE_UNIT_TEXT], times[TARE_UNIT_TEXT], share[64] = "", against[80] = "";
		if (!(launch + complete > 0))
			continue;
		if (alone > 0)
			snprintf(share, sizeof share, "; the device works for %.0f %% of that",
			         fmin(100, 100 * alone / (launch + complete)));
		if (naive > 0)
			snprintf(against, sizeof against,
			         " One launch for all (naive) is %s times as fast.",
			         significant((launch + complete) / naive, times));
		tare_result_conclude(
		    matmul->run->result, "launch-bound",
		    "element, n = %u: %.0f launches cost %s each%s.%s Give a launch more work.", n,
		    launches, tare_format_ns((launch + complete) / launches * 1e9, each), share,
		    against);
		return;
	}
}

static void conclude_transfers(struct matmul *matmul, const struct best *best)
{
	enum tare_rung rung = (enum tare_rung)best->rung;
	double in = part_s(matmul, rung, best->n, TARE_PART_COPY_IN);
	double out = part_s(matmul, rung, best->n, TARE_PART_COPY_OUT);
	double total = part_s(matmul, rung, best->n, TARE_PART_TOTAL),
	       share = 100 * (in + out) / total;

	if (!isfinite(share) || share < 10)
		return;
	tare_result_conclude(matmul->run->result, "transfer-share",
	                     "%s, n = %u: copies are %.0f %% of the total. Keep matrices on "
	                     "the device between products; see tare overlap.",
	                     tare_rung_name(rung), best->n, share);
}

// Whether a rung is at the measured ceiling of its arithmetic, or above it.
static bool is_at_arithmetic(const struct matmul *matmul, enum tare_rung rung, uint32_t n)
{
	return matmul_model(matmul->run->result, rung, n, "share-of-measured") >
	       100 / MATMUL_BROKEN;
}

// "; it was measured at 1582 MHz, this at 1980 MHz: per clock 82 %"
static void compare_clocks(const struct matmul *matmul, enum tare_rung rung, size_t size,
                           double share, char *text, size_t room)
{
	double per_clock = matmul_share_per_clock(matmul, rung, size, share);
	double ceiling = matmul->peaks->clock_hz[matmul_compute_ceiling(rung)];

	text[0] = '\0';
	if (isfinite(per_clock))
		snprintf(text, room, " (measured at %.0f MHz, this at %.0f MHz: per clock %.0f %%)",
		         ceiling / 1e6, matmul->clocks[rung][size].median_hz / 1e6, per_clock);
	else if (share > 100)
		snprintf(text, room, " (at which clocks is not known)");
}

// Rungs that are as fast as what was measured to be the most; above it the device was slower then.
static void conclude_at_ceiling(struct matmul *matmul, const struct best *best)
{
	char text[768] = "", clocks[128];
	size_t used = 0, size = 0;
	bool above = false;

	while (size + 1 < matmul->n_count && matmul->n[size] != best->n)
		size++;
	for (int i = 0; i < TARE_RUNG_COUNT && used < sizeof text; i++) {
		enum tare_rung rung = (enum tare_rung)i;
		double share =
		    matmul_model(matmul->run->result, rung, best->n, "share-of-measured");
		if (!is_at_arithmetic(matmul, rung, best->n))
			continue;
		compare_clocks(matmul, rung, size, share, clocks, sizeof clocks);
		above |= share > 100;
		used +=
		    (size_t)snprintf(text + used, sizeof text - used, "%s%s is at %.0f %% of %s%s",
		                     used ? ", " : "", tare_rung_name(rung), share,
		                     tare_ceiling_name(matmul_compute_ceiling(rung)), clocks);
	}
	if (used == 0)
		return;
	tare_result_conclude(
	    matmul->run->result, "at-ceiling",
	    "Measured ceilings that are reached at n = %u: %s.%s", best->n, text,
	    above ? " What is above its ceiling tells that the device was slower when tare peak "
	            "measured that: at a lower clock, or held back."
	          : "");
}

// How far the best rung is from what limits it by the model.
static void conclude_ceiling(struct matmul *matmul, const struct best *best)
{
	enum tare_rung rung = (enum tare_rung)best->rung;
	struct matmul_roof roof =
	    matmul_tightest(matmul->peaks, rung, best->n, matmul_flop(best->n) / best->s);
	double distance = roof.flops * best->s / matmul_flop(best->n);
	char times[TARE_UNIT_TEXT];

	if (!roof.name || !(distance > 0) || is_at_arithmetic(matmul, rung, best->n))
		return;
	tare_result_conclude(matmul->run->result, "ceiling",
	                     "%s, n = %u: its tightest measured ceiling is %s, %s times its "
	                     "rate (a model, no counter "
	                     "was read).",
	                     tare_rung_name(rung), best->n, roof.name,
	                     significant(distance, times));
}

// What the library gains with factors of fewer bits over itself, and what it costs in digits.
static void conclude_rounded(struct matmul *matmul, uint32_t n)
{
	static const char *const kept[TARE_BLAS_PRECISION_COUNT] = {
		[TARE_BLAS_TF32] = "11 significant bits",
		[TARE_BLAS_FP16] = "11 significant bits, magnitudes up to 65504",
		[TARE_BLAS_BF16] = "8 significant bits",
	};
	double blas = kernel_s(matmul, TARE_RUNG_BLAS, n);
	char text[320] = "", times[TARE_UNIT_TEXT];
	size_t used = 0;

	for (int i = TARE_RUNG_BLAS_TF32; i < TARE_RUNG_COUNT && used < sizeof text; i++) {
		double s = kernel_s(matmul, (enum tare_rung)i, n);
		if (ALIKE * s < blas)
			used += (size_t)snprintf(
			    text + used, sizeof text - used, "%s%s is %s times as fast (%s)",
			    used ? ", " : "", tare_rung_name((enum tare_rung)i),
			    significant(blas / s, times), kept[matmul_rungs[i].precision]);
	}
	if (used == 0)
		return;
	tare_result_conclude(matmul->run->result, "fewer-bits",
	                     "Where factors of fewer bits will do: against blas at n = %u, %s.", n,
	                     text);
}

static bool is_cpu(const struct matmul *matmul)
{
	const struct tare_facts *facts = matmul->run->facts;

	return facts && tare_facts_type(facts) == TARE_DEVICE_CPU;
}

// Up to here launching may hide what the rungs differ in.
#define SHORT_N 256

static bool is_too_short(const struct matmul *matmul, const struct best *best)
{
	bool any = false;

	if (best->n >= SHORT_N)
		return false;
	for (int i = 0; i < TARE_RUNG_COUNT; i++)
		any |= is_alike(matmul, best, (enum tare_rung)i) &&
		       (i == TARE_RUNG_NAIVE || best->rung == TARE_RUNG_NAIVE);
	return any;
}

// Whether local memory alone is worth it here.
static void conclude_tiling(struct matmul *matmul, const struct best *best)
{
	double naive = kernel_s(matmul, TARE_RUNG_NAIVE, best->n);
	double tiled = kernel_s(matmul, TARE_RUNG_TILED, best->n);
	char times[TARE_UNIT_TEXT];

	if (!(naive > 0) || !(tiled > 0) || tiled < naive / ALIKE || is_too_short(matmul, best))
		return;
	tare_result_conclude(
	    matmul->run->result, "tiling",
	    "At n = %u tiles in local memory alone do not help (%s times naive's rate)%s.", best->n,
	    significant(naive / tiled, times),
	    is_cpu(matmul)
	        ? ": on a CPU local memory is ordinary memory, and its caches keep "
	          "tiles by themselves"
	        : ": the caches keep what tiles would; give each work-item more elements");
}

static void conclude_next(struct matmul *matmul, const struct best *best)
{
	static const char *const steps[TARE_RUNG_COUNT] = {
		[TARE_RUNG_ELEMENT] =
		    "offload the outer loops too: one launch for the whole product",
		[TARE_RUNG_NAIVE] =
		    "let each work-item compute several elements (second, register)",
		[TARE_RUNG_TILED] =
		    "let each work-item compute several elements (second, register)",
		[TARE_RUNG_SECOND] = "block in registers, 8 x 8 elements a work-item (register)",
		[TARE_RUNG_SUB_GROUPS] =
		    "block in registers, 8 x 8 elements a work-item (register)",
		[TARE_RUNG_REGISTER] =
		    "use the vendor's library, or tune tile sizes to this device",
		[TARE_RUNG_CACHED] = "use the vendor's library, or tune tile sizes to this device",
		[TARE_RUNG_BLAS] =
		    "keep the library; what is left to gain is in copies and launches",
	};
	enum tare_rung rung = (enum tare_rung)best->rung;
	const char *step = steps[rung];
	double blas = kernel_s(matmul, TARE_RUNG_BLAS, best->n);

	if (is_too_short(matmul, best)) {
		tare_result_conclude(matmul->run->result, "next-step",
		                     "Next: larger --n; products of n = %u are too short to tell "
		                     "the rungs apart.",
		                     best->n);
		return;
	}
	if ((rung == TARE_RUNG_NAIVE || rung == TARE_RUNG_TILED) &&
	    kernel_s(matmul, TARE_RUNG_REGISTER, best->n) > 0)
		step = "keep this rung here: the steps beyond it do not pay on this device";
	else if ((rung == TARE_RUNG_SECOND || rung == TARE_RUNG_SUB_GROUPS) &&
	         kernel_s(matmul, TARE_RUNG_REGISTER, best->n) > 0)
		step = "tune tile sizes to this device: larger blocks did not pay";
	else if ((rung == TARE_RUNG_REGISTER || rung == TARE_RUNG_CACHED) && blas > 0)
		step = "tune tile sizes to this device: the library is slower here";
	if (step)
		tare_result_conclude(matmul->run->result, "next-step", "Next: %s.", step);
}

static void conclude_without_peaks(struct matmul *matmul)
{
	if (matmul->peaks->present || matmul->run->simulated)
		return;
	tare_result_warn(matmul->run->result, "no-peaks",
	                 matmul->run->facts && matmul->run->facts->doubt
	                     ? "give --peaks FILE, a result of tare peak on this device"
	                     : "run tare peak once, or give --peaks FILE",
	                 "shares of measured ceilings are missing: %s",
	                 matmul->peaks->origin[0] ? matmul->peaks->origin
	                                          : "there are no measured ceilings");
}

void matmul_add_advice(struct matmul *matmul)
{
	struct best best = fastest_at_largest(matmul);

	if (best.rung >= 0) {
		conclude_best(matmul, &best);
		conclude_rounded(matmul, best.n);
		conclude_alike(matmul, &best);
		conclude_ceiling(matmul, &best);
		conclude_at_ceiling(matmul, &best);
		conclude_tiling(matmul, &best);
		conclude_element(matmul);
		conclude_transfers(matmul, &best);
		conclude_against_host(matmul, TARE_MATMUL_TOTAL, "With copies and launches counted",
		                      true);
		conclude_against_host(matmul, TARE_MATMUL_KERNELS,
		                      "On data that is on the device already", false);
		conclude_next(matmul, &best);
	}
	conclude_without_peaks(matmul);
}
