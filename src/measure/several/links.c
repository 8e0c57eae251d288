// SPDX-License-Identifier: Apache-2.0
// What each device gets of the way to the host while the others use it too.
#include "base/units.h"
#include "measure/several/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// Together the devices get less than this share of what they get one by one: they are in each
// other's way.
#define CONTENDED 0.95

static const char method[] =
    "a thread a device keeps 4 copies under way; the rate between two host times at which copies "
    "were seen to be done, while all were at work; the first and the last MB are checked once";

enum { TO_DEVICE = 1, TO_HOST = 2 };
static const struct way {
	int ways;
	const char *title, *line[3]; // to the device, to the host, both
} rows[] = {
	{ TO_DEVICE, "host to device", { "host-to-device", NULL, NULL } },
	{ TO_HOST, "device to host", { NULL, "device-to-host", NULL } },
	{ TO_DEVICE | TO_HOST, "both ways", { "both-to-device", "both-to-host", "both-total" } },
};

// Adds the courses of a device and its figures. The courses' bits by direction go to sums.
static int add_device(struct several *several, struct several_plan *plan, const struct way *way,
                      uint32_t device, const char *at_work, uint32_t sums[2])
{
	const char *name = several->devices[device].member->name;
	uint32_t own = 0;

	for (int i = 0; i < 2; i++) {
		uint32_t bit;
		if (!(way->ways >> i & 1))
			continue;
		bit = UINT32_C(1) << several_plan_course(
		          plan, i == 0 ? SEVERAL_TO_DEVICE : SEVERAL_TO_HOST, device, device);
		own |= bit;
		sums[i] |= bit;
		if (!several_plan_figure(plan, bit, "links", way->line[i], name, at_work))
			return -ENOMEM;
	}
	return !way->line[2] || several_plan_figure(plan, own, "links", way->line[2], name, at_work)
	           ? 0
	           : -ENOMEM;
}

static int add_sums(struct several_plan *plan, const struct way *way, const uint32_t sums[2])
{
	for (int i = 0; i < 2; i++)
		if (sums[i] &&
		    !several_plan_figure(plan, sums[i], "links", way->line[i], "all", "together"))
			return -ENOMEM;
	return !way->line[2] || several_plan_figure(plan, sums[0] | sums[1], "links", way->line[2],
	                                            "all", "together")
	           ? 0
	           : -ENOMEM;
}

static int add_plans(struct several *several, const struct way *way)
{
	uint32_t sums[2] = { 0 };
	struct several_plan *plan;
	size_t present = 0;

	for (uint32_t i = 0; i < several->count; i++) {
		if (several->devices[i].gone)
			continue;
		present++;
		plan = several_plan_add(several, method, "%s, %s alone", way->title,
		                        several->devices[i].member->name);
		if (!plan || add_device(several, plan, way, i, "alone", sums) < 0)
			return -ENOMEM;
	}
	if (present < 2)
		return 0;
	plan = several_plan_add(several, method, "%s, together", way->title);
	sums[0] = sums[1] = 0;
	for (uint32_t i = 0; plan && i < several->count; i++)
		if (!several->devices[i].gone &&
		    add_device(several, plan, way, i, "together", sums) < 0)
			return -ENOMEM;
	return plan ? add_sums(plan, way, sums) : -ENOMEM;
}

// ---- what it comes to

// The cell with this rate, or NULL.
static const struct tare_cell *find(const struct tare_result *result, const char *line,
                                    const char *device, const char *at_work)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (cell->rate.present && !cell->absent &&
		    tare_cell_has_text(cell, "group", "links") &&
		    tare_cell_has_text(cell, "line", line) &&
		    tare_cell_has_text(cell, "device", device) &&
		    tare_cell_has_text(cell, "at_work", at_work))
			return cell;
	}
	return NULL;
}

struct range {
	double value, low, high; // bounds: NaN where they are not known
};

static struct range rate_of(const struct tare_cell *cell)
{
	struct range range = { cell->rate.median, NAN, NAN };

	if (!tare_cell_rate_bounds(cell, &range.low, &range.high))
		range.low = range.high = NAN;
	return range;
}

// The sum of what the devices got one by one; false where one of them has no figure.
static bool sum_alone(const struct several *several, const char *line, struct range *sum)
{
	*sum = (struct range){ 0, 0, 0 };
	for (size_t i = 0; i < several->count; i++) {
		const struct tare_cell *cell;
		struct range one;
		if (several->devices[i].gone)
			continue;
		cell = find(several->run->result, line, several->devices[i].member->name, "alone");
		if (!cell)
			return false;
		one = rate_of(cell);
		sum->value += one.value;
		sum->low += one.low;
		sum->high += one.high;
	}
	return true;
}

static void add_share(struct several *several, const char *line, const char *device,
                      struct range alone, struct range together)
{
	struct tare_cell *cell = tare_result_add_cell(several->run->result, "share", "%", "model");

	tare_labels_set_text(&cell->labels, "group", "links");
	tare_labels_set_text(&cell->labels, "line", line);
	tare_labels_set_text(&cell->labels, "device", device);
	tare_cell_set_method(cell, "together, of what is reached alone");
	tare_cell_set_model(cell, 100 * together.value / alone.value,
	                    100 * together.low / alone.high, 100 * together.high / alone.low);
}

// What the devices reach one by one, added up.
static void add_sum(struct several *several, const char *line, struct range alone)
{
	struct tare_cell *cell = tare_result_add_cell(several->run->result, "sum", "GB/s", "model");

	tare_labels_set_text(&cell->labels, "group", "links");
	tare_labels_set_text(&cell->labels, "line", line);
	tare_labels_set_text(&cell->labels, "device", "all");
	tare_labels_set_text(&cell->labels, "at_work", "alone");
	tare_cell_set_method(cell, "what each device reaches alone, added up");
	tare_cell_set_model(cell, alone.value, alone.low, alone.high);
}

// Only what is beyond doubt is said to be so.
static const char *verdict(struct range alone, struct range together)
{
	if (together.low >= CONTENDED * alone.high)
		return "None is in another's way.";
	if (together.high < CONTENDED * alone.low)
		return "They are in each other's way.";
	return "Whether they are in each other's way is not certain: a longer --budget can tell.";
}

// Shares of one line, and the sentence about the sum where it has a title.
static void conclude_line(struct several *several, const char *line, const char *title)
{
	struct tare_result *result = several->run->result;
	const struct tare_cell *together = find(result, line, "all", "together");
	char sum[TARE_UNIT_TEXT], all[TARE_UNIT_TEXT];
	struct range alone, rate;

	for (size_t i = 0; i < several->count; i++) {
		const char *name = several->devices[i].member->name;
		const struct tare_cell *one = find(result, line, name, "alone");
		const struct tare_cell *beside = find(result, line, name, "together");
		if (one && beside)
			add_share(several, line, name, rate_of(one), rate_of(beside));
		// Cells move when one is added.
		together = find(result, line, "all", "together");
	}
	if (!together || !sum_alone(several, line, &alone))
		return;
	rate = rate_of(together);
	add_sum(several, line, alone);
	add_share(several, line, "all", alone, rate);
	if (!title)
		return;
	tare_format_significant(alone.value, 3, sum);
	tare_format_significant(rate.value, 3, all);
	tare_result_conclude(
	    result, "links",
	    "%s: together %s GB/s, %.0f %% of the %s GB/s that the devices reach one "
	    "by one. %s",
	    title, all, 100 * rate.value / alone.value, sum, verdict(alone, rate));
}

int several_links(struct several *several, int64_t share_ns, struct tare_error *error)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof rows / sizeof *rows; i++)
		status = add_plans(several, &rows[i]);
	if (status < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	status = several_sample(several, 0, share_ns, error);
	several_keep(several, 0);
	conclude_line(several, "host-to-device", "Host to device");
	conclude_line(several, "device-to-host", "Device to host");
	conclude_line(several, "both-to-device", NULL);
	conclude_line(several, "both-to-host", NULL);
	conclude_line(several, "both-total", "Both ways");
	return status;
}
