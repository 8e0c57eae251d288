// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/clock_tube.h"

#include "base/cleanup.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

// A line by its heights at the first and at the last bracket.
struct heights {
	double first, last;
};

// The lines that fit: a convex polygon. Each strip cuts it twice and adds at most one corner a cut.
struct polygon {
	struct heights *corner, *spare;
	size_t corners;
};

// What is left of the polygon where side * (height at `place`) <= side * bound; place is 0 at the
// first bracket and 1 at the last.
static void clip(struct polygon *polygon, double place, double side, double bound)
{
	struct heights *kept = polygon->spare;
	size_t count = 0;
	for (size_t i = 0; i < polygon->corners; i++) {
		struct heights a = polygon->corner[i];
		struct heights b = polygon->corner[i + 1 < polygon->corners ? i + 1 : 0];
		double a_room = side * (bound - a.first * (1 - place) - a.last * place);
		double b_room = side * (bound - b.first * (1 - place) - b.last * place);
		if (a_room >= 0)
			kept[count++] = a;
		if ((a_room < 0) != (b_room < 0)) {
			double t = a_room / (a_room - b_room);
			kept[count++] = (struct heights){ a.first + t * (b.first - a.first),
				                          a.last + t * (b.last - a.last) };
		}
	}
	polygon->spare = polygon->corner;
	polygon->corner = kept;
	polygon->corners = count;
}

// The lines through all brackets when each is widened by `extra` to each side. False when there is
// none.
static bool lines_through(const struct tare_clock_bracket *brackets, size_t n, double extra,
                          struct polygon *polygon)
{
	const struct tare_clock_bracket *first = &brackets[0];
	const struct tare_clock_bracket *last = &brackets[n - 1];
	double length = last->ns - first->ns;
	polygon->corners = 4;
	polygon->corner[0] = (struct heights){ first->low - extra, last->low - extra };
	polygon->corner[1] = (struct heights){ first->high + extra, last->low - extra };
	polygon->corner[2] = (struct heights){ first->high + extra, last->high + extra };
	polygon->corner[3] = (struct heights){ first->low - extra, last->high + extra };
	for (size_t i = 0; i < n && polygon->corners; i++) {
		double place = length > 0 ? (brackets[i].ns - first->ns) / length : 0;
		clip(polygon, place, 1, brackets[i].high + extra);
		clip(polygon, place, -1, brackets[i].low - extra);
	}
	return polygon->corners > 0;
}

// The least widening of all brackets that lets a line through, to a thousandth.
static double least_extra(const struct tare_clock_bracket *brackets, size_t n,
                          struct polygon *polygon)
{
	double none = 0, some = 1;
	while (!lines_through(brackets, n, some, polygon)) {
		none = some;
		some *= 2;
	}
	while (some - none > some / 1000) {
		double middle = (some + none) / 2;
		if (lines_through(brackets, n, middle, polygon))
			some = middle;
		else
			none = middle;
	}
	return some;
}

static struct heights centre(const struct polygon *polygon)
{
	struct heights base = polygon->corner[0];
	struct heights sum = { 0, 0 }, mean = { 0, 0 };
	double area = 0;
	for (size_t i = 0; i < polygon->corners; i++) {
		struct heights a = polygon->corner[i];
		struct heights b = polygon->corner[i + 1 < polygon->corners ? i + 1 : 0];
		double cross = (a.first - base.first) * (b.last - base.last) -
		               (b.first - base.first) * (a.last - base.last);
		area += cross;
		sum.first += cross * ((a.first - base.first) + (b.first - base.first)) / 3;
		sum.last += cross * ((a.last - base.last) + (b.last - base.last)) / 3;
		mean.first += a.first / (double)polygon->corners;
		mean.last += a.last / (double)polygon->corners;
	}
	// A polygon that is a line or a point has no area.
	if (!(fabs(area) > 1e-6))
		return mean;
	return (struct heights){ base.first + sum.first / area, base.last + sum.last / area };
}

static void judge(const struct polygon *polygon, struct heights at, double length,
                  struct tare_clock_line *line)
{
	double slope_low = INFINITY, slope_high = -INFINITY;
	line->error = 0;
	for (size_t i = 0; i < polygon->corners; i++) {
		struct heights corner = polygon->corner[i];
		// The distance of two lines is greatest at an end.
		line->error = fmax(line->error, fabs(corner.first - at.first));
		line->error = fmax(line->error, fabs(corner.last - at.last));
		if (length > 0) {
			slope_low = fmin(slope_low, (corner.last - corner.first) / length);
			slope_high = fmax(slope_high, (corner.last - corner.first) / length);
		}
	}
	line->slope = length > 0 ? (at.last - at.first) / length : 0;
	line->slope_error =
	    length > 0 ? fmax(slope_high - line->slope, line->slope - slope_low) : NAN;
	line->least_slope = length > 0 ? fmin(fmax(0, slope_low), slope_high) : 0;
}

// The farthest that the truth can be from the line at the narrower half of the brackets: what can
// be said of the error when no line is the truth. `widths` has room for n.
static double error_at_narrow(const struct tare_clock_bracket *brackets, size_t n,
                              const struct tare_clock_line *line, double *widths)
{
	double error = 0;
	for (size_t i = 0; i < n; i++)
		widths[i] = brackets[i].high - brackets[i].low;
	qsort(widths, n, sizeof *widths, tare_compare_doubles);
	for (size_t i = 0; i < n; i++) {
		double ahead = line->offset + line->slope * brackets[i].ns;
		if (brackets[i].high - brackets[i].low <= widths[n / 2])
			error =
			    fmax(error, fmax(brackets[i].high - ahead, ahead - brackets[i].low));
	}
	return error;
}

int tare_clock_line(const struct tare_clock_bracket *brackets, size_t n, double useful_slope,
                    struct tare_clock_line *line)
{
	size_t corners = 2 * n + 4;
	TARE_FREE struct heights *room = malloc(2 * corners * sizeof *room);
	TARE_FREE double *widths = malloc(n * sizeof *widths);
	struct polygon polygon = { room, room + corners, 0 };
	double length = brackets[n - 1].ns - brackets[0].ns;
	struct heights at;
	double extra = 0;
	bool straight;
	if (!room || !widths)
		return -ENOMEM;
	straight = lines_through(brackets, n, 0, &polygon);
	if (!straight) {
		extra = least_extra(brackets, n, &polygon);
		lines_through(brackets, n, 2 * extra, &polygon);
	}
	at = centre(&polygon);
	judge(&polygon, at, length, line);
	if (line->slope_error > useful_slope) {
		double middle = (at.first + at.last) / 2;
		at.first = middle - line->least_slope * length / 2;
		at.last = middle + line->least_slope * length / 2;
		judge(&polygon, at, length, line);
	}
	line->offset = at.first - line->slope * brackets[0].ns;
	line->extra = extra;
	if (!straight && length <= 0)
		line->least_slope = INFINITY;
	if (!straight)
		line->error = fmax(line->error, error_at_narrow(brackets, n, line, widths));
	return 0;
}
