// SPDX-License-Identifier: Apache-2.0
#include "trace/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 wide;
typedef unsigned __int128 unsigned_wide;

enum {
	NEIGHBOURS = 2, // on each side, for the test of a reading
	MOST_SEGMENTS = 1024,
	JUMP_NS = 1000000,     // a reading that is so far from its neighbours is false
	UNBRACKETED_NS = 1000, // what a reading without a bracket is trusted to
	READ_NS = 1,           // the clock's own resolution
	ROUNDING_NS = 1,
};
// What a nominal rate may be off by, and what an oscillator may be.
static const double nominal_error = 500e-6;
static const double wrong_rate = 0.01; // more than a nominal rate is ever wrong by
static const uint64_t largest_hz = UINT64_C(1) << 60;

// A point that the map may go through.
struct knot {
	uint64_t twice; // the middle of the bracket, doubled
	int64_t ns;
	uint64_t width; // of the bracket, ticks
	double half_ns; // half of it
	bool used;
};

static int by_time(const void *a, const void *b)
{
	const struct knot *x = a;
	const struct knot *y = b;

	return (x->twice > y->twice) - (x->twice < y->twice);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

// ---- the map

static struct tare_trace_segment segment(uint64_t origin_twice, int64_t origin_ns, uint64_t twice,
                                         uint64_t ns)
{
	return (struct tare_trace_segment){
		.origin_twice = origin_twice,
		.origin_ns = origin_ns,
		.twice = twice,
		.ns = ns,
		.multiplier = ns < twice ? (uint64_t)(((unsigned_wide)ns << 64) / twice) : 0,
	};
}

static int64_t bounded(wide ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns <= INT64_MIN ? INT64_MIN + 1 : (int64_t)ns;
}

// since * ns / twice, to the nearest, halves upwards.
static wide scaled(const struct tare_trace_segment *line, wide since)
{
	wide product = since * line->ns;
	wide whole = product / line->twice;
	wide rest = product - whole * line->twice;

	if (rest < 0) {
		rest += line->twice;
		whole--;
	}
	return whole + (2 * rest >= line->twice);
}

int64_t tare_trace_map_line_ns(const struct tare_trace_map *map, uint64_t ticks)
{
	const struct tare_trace_segment *line = map->segments;
	wide since;

	for (size_t low = 0, high = map->count; high - low > 1;) {
		size_t middle = low + (high - low) / 2;
		if ((unsigned_wide)ticks * 2 < map->segments[middle].origin_twice)
			high = middle;
		else
			line = &map->segments[low = middle];
	}
	since = (wide)ticks * 2 - line->origin_twice;
	if (line->multiplier && since >= 0 && since < (wide)1 << 62) {
		// By multiplication the quotient may be too small by one, but only where it is
		// nearly a whole number: then the rest, about one whole, rounds it up.
		uint64_t whole = (uint64_t)((unsigned_wide)since * line->multiplier >> 64);
		uint64_t rest = (uint64_t)((unsigned_wide)since * line->ns -
		                           (unsigned_wide)whole * line->twice);
		return bounded((wide)line->origin_ns + whole + (2 * rest >= line->twice));
	}
	return bounded(line->origin_ns + scaled(line, since));
}

void tare_trace_map_free(struct tare_trace_map *map)
{
	free(map->segments);
	*map = (struct tare_trace_map){ 0 };
}

// ---- the readings

// Readings that can be, as knots in the order of time. Returns how many.
static size_t take_knots(const struct tare_trace_reading *readings, size_t count,
                         struct knot *knots)
{
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tare_trace_reading *reading = &readings[i];
		if (reading->before > reading->after || reading->after >= UINT64_C(1) << 60 ||
		    reading->ns < 0 || reading->ns >= INT64_C(1) << 61)
			continue;
		knots[taken++] = (struct knot){
			.twice = reading->before + reading->after,
			.ns = reading->ns,
			.width = reading->after - reading->before,
		};
	}
	qsort(knots, taken, sizeof *knots, by_time);
	return taken;
}

// Nanoseconds that pass in one doubled tick: the median between neighbours. 0: cannot be told.
static double typical_rate(const struct knot *knots, size_t count, double *room)
{
	size_t rates = 0;

	for (size_t i = 1; i < count; i++)
		if (knots[i].twice > knots[i - 1].twice && knots[i].ns > knots[i - 1].ns)
			room[rates++] = (double)(knots[i].ns - knots[i - 1].ns) /
			                (double)(knots[i].twice - knots[i - 1].twice);
	if (!rates)
		return 0;
	qsort(room, rates, sizeof *room, by_value);
	return room[rates / 2];
}

// By how much a knot is ahead of the line of `rate` through another.
static double ahead(const struct knot *knot, const struct knot *origin, double rate)
{
	return (double)(knot->ns - origin->ns) -
	       rate * ((double)knot->twice - (double)origin->twice);
}

static bool jumps(const struct knot *knots, size_t count, size_t at, double rate)
{
	double offsets[2 * NEIGHBOURS + 1];
	size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
	size_t to = at + NEIGHBOURS < count ? at + NEIGHBOURS : count - 1;
	size_t n = 0;

	for (size_t i = from; i <= to; i++)
		offsets[n++] = ahead(&knots[i], &knots[at], rate);
	qsort(offsets, n, sizeof *offsets, by_value);
	return fabs(offsets[n / 2]) > (double)JUMP_NS + rate * (double)knots[at].width;
}

// Leaves out what jumps, unless that is most of them: then the rate is no measure. Returns how many
// stay.
static size_t drop_false(struct knot *knots, size_t count, double rate, struct knot *room)
{
	size_t kept = 0;

	if (count < 3 || rate <= 0)
		return count;
	memcpy(room, knots, count * sizeof *knots);
	for (size_t i = 0; i < count; i++)
		if (!jumps(room, count, i, rate))
			knots[kept++] = room[i];
	if (kept > count / 2)
		return kept;
	memcpy(knots, room, count * sizeof *knots);
	return count;
}

static size_t narrowest(const struct knot *knots, size_t from, size_t to)
{
	size_t best = from;

	for (size_t i = from; i < to; i++)
		if (knots[i].width < knots[best].width)
			best = i;
	return best;
}

// ---- the fit

// What a fit is made with.
struct fit {
	struct knot *knots;
	size_t count;
	uint64_t from, to;
	double rate; // ns in a doubled tick, about
	struct tare_trace_map *map;
};

// Segments through the knots that are used.
static void join(struct fit *fit)
{
	const struct knot *last = NULL;

	fit->map->count = 0;
	for (size_t i = 0; i < fit->count; i++) {
		const struct knot *knot = &fit->knots[i];
		if (!knot->used)
			continue;
		if (last)
			fit->map->segments[fit->map->count++] =
			    segment(last->twice, last->ns, knot->twice - last->twice,
			            (uint64_t)(knot->ns - last->ns));
		last = knot;
	}
}

// How far the map passes outside a knot's bracket.
static double outside(const struct fit *fit, const struct knot *knot)
{
	int64_t middle = tare_trace_map_ns(fit->map, knot->twice / 2);
	double distance = fabs((double)middle - (double)knot->ns) - knot->half_ns -
	                  (double)(READ_NS + ROUNDING_NS);

	return distance > 0 ? distance : 0;
}

// Whether a knot may be used beside those that are: both clocks must advance.
static bool fits_between(const struct fit *fit, size_t at)
{
	const struct knot *knot = &fit->knots[at];

	for (size_t i = at; i-- > 0;)
		if (fit->knots[i].used) {
			if (knot->twice <= fit->knots[i].twice || knot->ns <= fit->knots[i].ns)
				return false;
			break;
		}
	for (size_t i = at + 1; i < fit->count; i++)
		if (fit->knots[i].used)
			return knot->twice < fit->knots[i].twice && knot->ns < fit->knots[i].ns;
	return true;
}

// Bends the line where a reading says so, the farthest first. Returns how far the map stays outside
// the brackets of those that could not be followed.
static double bend(struct fit *fit, double allowed)
{
	for (;;) {
		double worst = 0;
		size_t at = fit->count;
		for (size_t i = 0; i < fit->count; i++) {
			double distance = fit->knots[i].used ? 0 : outside(fit, &fit->knots[i]);
			if (distance > worst) {
				worst = distance;
				at = i;
			}
		}
		if (worst <= allowed || fit->map->count >= MOST_SEGMENTS)
			return worst;
		if (!fits_between(fit, at)) {
			fit->map->contradicting++;
			memmove(&fit->knots[at], &fit->knots[at + 1],
			        (fit->count - at - 1) * sizeof *fit->knots);
			fit->count--;
			continue;
		}
		fit->knots[at].used = true;
		join(fit);
	}
}

// What the rate of the line between two knots may be off by.
static double rate_error(const struct knot *a, const struct knot *b)
{
	return (a->half_ns + b->half_ns + 2 * READ_NS) / (double)(b->ns - a->ns);
}

static double reach(const struct fit *fit, uint64_t ticks, const struct knot *knot, bool before)
{
	double distance = (double)knot->twice - 2 * (double)ticks;

	distance = before ? distance : -distance;
	return distance > 0 ? distance * fit->rate : 0;
}

// Inside, a line between two points is off by no more than the worse of them; beyond the ends, by
// what its slope may be off.
static double residual(const struct fit *fit, double stayed_outside)
{
	const struct knot *first = NULL, *second = NULL, *last = NULL, *before_last = NULL;
	double widest = 0, early, late;

	for (size_t i = 0; i < fit->count; i++) {
		const struct knot *knot = &fit->knots[i];
		if (!knot->used)
			continue;
		widest = fmax(widest, knot->half_ns);
		if (!first)
			first = knot;
		else if (!second)
			second = knot;
		before_last = last;
		last = knot;
	}
	early = reach(fit, fit->from, first, true) * rate_error(first, second);
	late = reach(fit, fit->to, last, false) * rate_error(before_last, last);
	return widest + (double)(READ_NS + ROUNDING_NS) + stayed_outside + fmax(early, late);
}

static int64_t whole_ns(double ns)
{
	return ns < 0x1p62 ? (int64_t)ceil(ns) : INT64_MAX / 2;
}

// A line of the nominal rate through one point.
static void nominal_line(struct fit *fit, const struct knot *through, uint64_t hz)
{
	double far =
	    fmax(reach(fit, fit->from, through, true), reach(fit, fit->to, through, false));

	fit->map->segments[0] = segment(through->twice, through->ns, 2 * hz, 1000000000);
	fit->map->count = 1;
	fit->map->residual_ns =
	    whole_ns(through->half_ns + (double)(READ_NS + ROUNDING_NS) + far * nominal_error);
}

// A line through two narrow readings, one early and one late, bent where others contradict it.
// Returns false when the pairs do not tell the rate as well as `hz` does.
static bool measured_line(struct fit *fit, uint64_t hz)
{
	size_t quarter = fit->count / 4 + 1;
	size_t early = narrowest(fit->knots, 0, quarter);
	size_t late = narrowest(fit->knots, fit->count > quarter ? fit->count - quarter : early + 1,
	                        fit->count);
	struct knot *a = &fit->knots[early], *b = &fit->knots[late];
	double stayed;

	if (late <= early || b->twice <= a->twice || b->ns <= a->ns)
		return false;
	if (hz && rate_error(a, b) > nominal_error)
		return false;
	a->used = b->used = true;
	join(fit);
	// Before and after the two readings, by up to half their distance, it may be off by twice
	// that.
	stayed = bend(fit, 2 * fmax(a->half_ns, b->half_ns) + (double)READ_NS);
	fit->map->residual_ns = whole_ns(residual(fit, stayed));
	return true;
}

static void choose_line(struct fit *fit, uint64_t start_ticks, int64_t start_ns, uint64_t hz)
{
	struct knot start = { .twice = 2 * start_ticks, .ns = start_ns, .half_ns = UNBRACKETED_NS };

	if (fit->count == 1 && start.twice < fit->knots[0].twice && start.ns < fit->knots[0].ns) {
		// The rate takes two points: the start, though it has no bracket.
		fit->knots[1] = fit->knots[0];
		fit->knots[0] = start;
		fit->count = 2;
		if (!hz)
			fit->rate = (double)(fit->knots[1].ns - start.ns) /
			            (double)(fit->knots[1].twice - start.twice);
	}
	if (fit->count > 1 && measured_line(fit, hz))
		return;
	if (fit->count > 0)
		start = fit->knots[narrowest(fit->knots, 0, fit->count)];
	if (!hz) {
		fit->map->rate_unknown = true;
		fit->rate = 0.5;
		nominal_line(fit, &start, 1000000000);
		fit->map->residual_ns = whole_ns(
		    fmax(reach(fit, fit->from, &start, true), reach(fit, fit->to, &start, false)));
		return;
	}
	nominal_line(fit, &start, hz);
}

// Room that is not used goes back: there is a map for each of a thousand processes.
static void shrink(struct tare_trace_map *map)
{
	struct tare_trace_segment *less =
	    reallocarray(map->segments, map->count, sizeof *map->segments);

	if (less)
		map->segments = less;
}

int tare_trace_map_fit(const struct tare_trace_reading *readings, size_t count,
                       uint64_t start_ticks, int64_t start_ns, uint64_t hz, uint64_t from,
                       uint64_t to, struct tare_trace_map *map)
{
	// Room for the start beside the readings.
	struct knot *knots = calloc(2 * (count + 1), sizeof *knots);
	double *rates = calloc(count + 1, sizeof *rates);
	struct fit fit = { .knots = knots, .from = from, .to = to, .map = map };
	double said;
	size_t taken, segments;

	// Fewer than there are points.
	segments = count < MOST_SEGMENTS ? count + 1 : MOST_SEGMENTS + 1;
	*map = (struct tare_trace_map){ .segments = calloc(segments, sizeof *map->segments) };
	if (!knots || !rates || !map->segments) {
		free(knots);
		free(rates);
		tare_trace_map_free(map);
		return -ENOMEM;
	}
	if (hz > largest_hz)
		hz = 0;
	said = hz ? 0.5e9 / (double)hz : 0;
	taken = take_knots(readings, count, knots);
	fit.rate = typical_rate(knots, taken, rates);
	if (said > 0 && fabs(fit.rate / said - 1) > wrong_rate)
		fit.rate = said;
	fit.count = drop_false(knots, taken, fit.rate, knots + count + 1);
	map->contradicting = count - fit.count;
	for (size_t i = 0; i < fit.count; i++)
		knots[i].half_ns = ceil((double)knots[i].width * fit.rate);
	choose_line(&fit, start_ticks & (UINT64_MAX >> 4), start_ns, hz);
	shrink(map);
	free(knots);
	free(rates);
	return 0;
}
