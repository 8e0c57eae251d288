// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/verdict.h"

#include "analysis/hotspots/contradictions.h"
#include "analysis/hotspots/roles.h"

#include <math.h>

// A figure that the rule looks at, with what it may be as well.
struct figure {
	bool known;
	double mean, low, high;
};

// What the rule looks at, at one point: the figures' means, or one of them moved.
struct point {
	double active, issue;
	double share[TARE_LAST_LIMIT + 1]; // 0: not known
};

struct figures {
	struct figure active, issue;
	struct point mean;
};

static const enum tare_counter_role pipes[] = {
	TARE_COUNTER_PIPE_ALU_SHARE,     TARE_COUNTER_PIPE_FMA_SHARE,
	TARE_COUNTER_PIPE_FP64_SHARE,    TARE_COUNTER_PIPE_TENSOR_SHARE,
	TARE_COUNTER_PIPE_SPECIAL_SHARE, TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE,
};

static const enum tare_counter_role l2_parts[] = {
	TARE_COUNTER_L2_SHARE,
	TARE_COUNTER_L2_TO_L1_SHARE,
	TARE_COUNTER_L1_TO_L2_SHARE,
	TARE_COUNTER_L2_LOOKUP_SHARE,
};

static struct figure figure_of(const struct tare_counted_kernel *kernel,
                               const struct tare_kernel_verdict *verdict,
                               enum tare_counter_role role)
{
	const struct tare_counter_value *value = &kernel->values[role];
	const struct tare_counter_role_row *of = &tare_counter_roles[role];
	struct figure figure = { .mean = tare_counted_mean(kernel, role) };
	double error;

	figure.known = !isnan(figure.mean) && !tare_kernel_verdict_contradiction(verdict, role);
	if (!figure.known)
		return figure;
	error = fmax(of->error_points,
	             fmax(of->error_part, kernel->replayed ? of->replayed_part : 0) * figure.mean);
	figure.low = fmin(figure.mean, isfinite(value->least) ? value->least : INFINITY) - error;
	figure.high = fmax(figure.mean, isfinite(value->most) ? value->most : -INFINITY) + error;
	return figure;
}

// One half of the single-precision pipe does integer multiplications, too. With shares h of that
// half and w of the whole pipe the other half, which does floats alone, has 2w - h. Floats are
// dealt to both, so integers are h - (2w - h). They are most of what that half does where 3h > 4w:
// else it says nothing of its own.
static struct figure pipe_of(const struct tare_counted_kernel *kernel,
                             const struct tare_kernel_verdict *verdict, enum tare_counter_role role)
{
	struct figure figure = figure_of(kernel, verdict, role);

	if (role == TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE) {
		struct figure whole = figure_of(kernel, verdict, TARE_COUNTER_PIPE_FMA_SHARE);
		figure.known &= whole.known && 3 * figure.low > 4 * whole.high;
	}
	return figure;
}

// Takes a figure into its limit where it is closer than what is there.
static void take(struct tare_limit *limit, struct figure figure, enum tare_counter_role role,
                 double scale, double of_time)
{
	double share = fmin(figure.mean * scale, 100);

	if (!figure.known || (limit->known && limit->share >= share))
		return;
	*limit = (struct tare_limit){
		true, role, share, figure.low * scale, figure.high * scale, figure.mean * of_time
	};
}

static void find_limits(const struct tare_counted_kernel *kernel,
                        struct tare_kernel_verdict *verdict)
{
	struct figure active = figure_of(kernel, verdict, TARE_COUNTER_CORES_ACTIVE_SHARE);
	struct figure l1 = figure_of(kernel, verdict, TARE_COUNTER_L1_SHARE);
	struct figure issue = figure_of(kernel, verdict, TARE_COUNTER_ISSUE_SHARE);
	struct tare_limit *limits = verdict->limits;
	double busy = active.known && active.mean > 0 ? active.mean / 100 : NAN;

	take(&limits[TARE_KERNEL_BOUND_DEVICE_MEMORY],
	     figure_of(kernel, verdict, TARE_COUNTER_DEVICE_MEMORY_SHARE),
	     TARE_COUNTER_DEVICE_MEMORY_SHARE, 1, 0.01);
	for (size_t i = 0; i < sizeof l2_parts / sizeof *l2_parts; i++)
		take(&limits[TARE_KERNEL_BOUND_L2], figure_of(kernel, verdict, l2_parts[i]),
		     l2_parts[i], 1, 0.01);
	take(&limits[TARE_KERNEL_BOUND_L1], l1, TARE_COUNTER_L1_SHARE, isnan(busy) ? 1 : 1 / busy,
	     0.01);
	take(&limits[TARE_KERNEL_BOUND_L1],
	     figure_of(kernel, verdict, TARE_COUNTER_PIPE_MEMORY_SHARE),
	     TARE_COUNTER_PIPE_MEMORY_SHARE, 1, busy / 100);
	take(&limits[TARE_KERNEL_BOUND_COMPUTE], issue, TARE_COUNTER_ISSUE_SHARE, 1, busy / 100);
	for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
		take(&limits[TARE_KERNEL_BOUND_COMPUTE], pipe_of(kernel, verdict, pipes[i]),
		     pipes[i], 1, busy / 100);
}

// A part of a limit does not tell how busy the others are: each that was not counted may be full.
static void find_missing(const struct tare_counted_kernel *kernel,
                         struct tare_kernel_verdict *verdict)
{
	static const struct {
		enum tare_kernel_bound bound;
		enum tare_counter_role role;
	} parts[] = {
		{ TARE_KERNEL_BOUND_DEVICE_MEMORY, TARE_COUNTER_DEVICE_MEMORY_SHARE },
		{ TARE_KERNEL_BOUND_L2, TARE_COUNTER_L2_SHARE },
		{ TARE_KERNEL_BOUND_L2, TARE_COUNTER_L2_TO_L1_SHARE },
		{ TARE_KERNEL_BOUND_L2, TARE_COUNTER_L1_TO_L2_SHARE },
		{ TARE_KERNEL_BOUND_L2, TARE_COUNTER_L2_LOOKUP_SHARE },
		{ TARE_KERNEL_BOUND_L1, TARE_COUNTER_L1_SHARE },
		{ TARE_KERNEL_BOUND_L1, TARE_COUNTER_PIPE_MEMORY_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_ISSUE_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_ALU_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_FMA_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_FP64_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_TENSOR_SHARE },
		{ TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_SPECIAL_SHARE },
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!figure_of(kernel, verdict, parts[i].role).known)
			verdict->missing |= 1U << parts[i].bound;
}

static void find_pipe(const struct tare_counted_kernel *kernel, struct tare_kernel_verdict *verdict)
{
	struct figure first = { 0 }, second = { 0 };

	verdict->pipe = verdict->other_pipe = TARE_COUNTER_ROLES;
	for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
		struct figure figure = pipe_of(kernel, verdict, pipes[i]);
		if (!figure.known)
			continue;
		if (!first.known || figure.mean > first.mean) {
			second = first;
			verdict->other_pipe = verdict->pipe;
			first = figure;
			verdict->pipe = pipes[i];
		} else if (!second.known || figure.mean > second.mean) {
			second = figure;
			verdict->other_pipe = pipes[i];
		}
	}
	if (!second.known || second.high < first.low)
		verdict->other_pipe = TARE_COUNTER_ROLES;
}

static enum tare_kernel_bound largest(const struct point *point)
{
	enum tare_kernel_bound found = TARE_FIRST_LIMIT;

	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++)
		if (point->share[b] > point->share[found])
			found = b;
	return found;
}

// Per cent of the whole time in which cores had no work, less that in which they had and issued
// nothing.
static double idle_less_stalled(const struct point *point)
{
	return 100 - point->active - point->active * (1 - point->issue / 100);
}

// The rule; docs/hotspots-verdicts.md.
static enum tare_kernel_bound rule(const struct point *point)
{
	enum tare_kernel_bound limit = largest(point);

	if (point->active < TARE_TOO_SMALL_BELOW)
		return TARE_KERNEL_BOUND_TOO_SMALL;
	if (point->share[limit] >= TARE_KERNEL_BOUND_FROM)
		return limit;
	return idle_less_stalled(point) > 0 ? TARE_KERNEL_BOUND_TOO_SMALL
	                                    : TARE_KERNEL_BOUND_LATENCY;
}

static void find_figures(const struct tare_counted_kernel *kernel,
                         const struct tare_kernel_verdict *verdict, struct figures *figures)
{
	struct point *mean = &figures->mean;
	double least = 0;

	figures->active = figure_of(kernel, verdict, TARE_COUNTER_CORES_ACTIVE_SHARE);
	figures->issue = figure_of(kernel, verdict, TARE_COUNTER_ISSUE_SHARE);
	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
		mean->share[b] = verdict->limits[b].known ? verdict->limits[b].share : 0;
		// What keeps memory busy has cores that wait for it.
		if (b < TARE_KERNEL_BOUND_COMPUTE)
			least = fmax(least, mean->share[b]);
	}
	if (!figures->active.known)
		figures->active = (struct figure){ false, 100, least, 100 };
	if (!figures->issue.known)
		figures->issue = (struct figure){ false, 50, 0, 100 };
	mean->active = figures->active.mean;
	mean->issue = figures->issue.mean;
}

static unsigned bit(const struct point *point)
{
	return 1U << rule(point);
}

// All that the rule says when one figure is off by its error, or the two largest limits are.
static unsigned find_possible(const struct figures *figures,
                              const struct tare_kernel_verdict *verdict)
{
	const struct figure *ends[] = { &figures->active, &figures->issue };
	unsigned possible = bit(&figures->mean);
	enum tare_kernel_bound most = largest(&figures->mean);

	for (size_t i = 0; i < 2; i++) {
		struct point low = figures->mean, high = figures->mean;
		*(i ? &low.issue : &low.active) = ends[i]->low;
		*(i ? &high.issue : &high.active) = ends[i]->high;
		possible |= bit(&low) | bit(&high);
	}
	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
		struct point low = figures->mean, high = figures->mean;
		if (!verdict->limits[b].known)
			continue;
		low.share[b] = verdict->limits[b].low;
		high.share[b] = verdict->limits[b].high;
		possible |= bit(&low) | bit(&high);
		if (b != most && verdict->limits[most].known) {
			high.share[most] = verdict->limits[most].low;
			possible |= bit(&high);
		}
	}
	return possible;
}

// What was not counted may bind where nothing else does.
static unsigned find_unseen(const struct figures *figures,
                            const struct tare_kernel_verdict *verdict)
{
	unsigned possible = 0;

	if (figures->mean.share[largest(&figures->mean)] >= TARE_KERNEL_BOUND_FROM)
		return 0;
	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++) {
		struct point full = figures->mean;
		full.share[b] = 100;
		if (verdict->missing & 1U << b)
			possible |= bit(&full);
	}
	return possible;
}

static void come_near(struct tare_kernel_verdict *verdict, enum tare_kernel_bound bound,
                      double points)
{
	if (bound == verdict->bound || points < 0 ||
	    (!isnan(verdict->margin) && verdict->margin <= points))
		return;
	verdict->next = bound;
	verdict->margin = points;
}

// What lies nearest to the verdict, and how far, in points of the figure that would have to change.
static void find_next(const struct figures *figures, struct tare_kernel_verdict *verdict)
{
	struct point without = figures->mean, filled = figures->mean;
	enum tare_kernel_bound most = largest(&figures->mean), second;
	double share = figures->mean.share[most];

	verdict->margin = NAN;
	without.share[most] = 0;
	second = largest(&without);
	filled.active = fmax(filled.active, TARE_TOO_SMALL_BELOW);
	if (verdict->bound == most) {
		come_near(verdict, rule(&without),
		          share - fmax(without.share[second], TARE_KERNEL_BOUND_FROM));
		if (figures->active.known)
			come_near(verdict, TARE_KERNEL_BOUND_TOO_SMALL,
			          figures->mean.active - TARE_TOO_SMALL_BELOW);
		return;
	}
	if (share >= TARE_KERNEL_BOUND_FROM) { // too small whatever else was counted
		come_near(verdict, rule(&filled), TARE_TOO_SMALL_BELOW - figures->mean.active);
		return;
	}
	if (share > 0)
		come_near(verdict, most, TARE_KERNEL_BOUND_FROM - share);
	if (figures->active.known && figures->issue.known)
		come_near(verdict,
		          verdict->bound == TARE_KERNEL_BOUND_LATENCY ? TARE_KERNEL_BOUND_TOO_SMALL
		                                                      : TARE_KERNEL_BOUND_LATENCY,
		          fabs(idle_less_stalled(&figures->mean)));
}

void tare_hotspot_judge(const struct tare_counted_kernel *kernel,
                        const struct tare_counted_device *device,
                        struct tare_kernel_verdict *verdict)
{
	struct figures figures = { 0 };
	bool any = false;

	*verdict = (struct tare_kernel_verdict){ .margin = NAN };
	tare_hotspot_contradictions(kernel, device, verdict);
	find_limits(kernel, verdict);
	find_missing(kernel, verdict);
	find_pipe(kernel, verdict);
	find_figures(kernel, verdict, &figures);
	for (enum tare_kernel_bound b = TARE_FIRST_LIMIT; b <= TARE_LAST_LIMIT; b++)
		any |= verdict->limits[b].known;
	// Nothing to judge by: no limit, and not how long cores were active.
	if (kernel->uncounted != TARE_UNCOUNTED_NONE || (!figures.active.known && !any)) {
		verdict->possible = 1U << TARE_KERNEL_BOUND_NOT_KNOWN;
		return;
	}
	verdict->bound = rule(&figures.mean);
	verdict->possible = find_possible(&figures, verdict) | find_unseen(&figures, verdict);
	find_next(&figures, verdict);
}

bool tare_kernel_verdict_decided(const struct tare_kernel_verdict *verdict)
{
	return verdict->bound != TARE_KERNEL_BOUND_NOT_KNOWN &&
	       verdict->possible == 1U << verdict->bound;
}
