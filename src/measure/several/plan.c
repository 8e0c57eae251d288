// SPDX-License-Identifier: Apache-2.0
// Races that are run again and again in turns, so that what changes meanwhile (a clock, another
// user) meets all of them alike; and the cells that become of them.
#include "measure/several/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW_NS INT64_C(25000000)
#define WINDOW_COPIES 8
#define WINDOW_MOST_NS INT64_C(2000000000)
// A window that was too short is made longer so often.
#define LONGER_MOST 6

// ---- making plans

struct several_plan *several_plan_add(struct several *several, const char *method,
                                      const char *title_format, ...)
{
	struct several_plan *plan;
	va_list arguments;

	if (several->plan_count == several->plan_capacity) {
		size_t capacity = several->plan_capacity ? 2 * several->plan_capacity : 32;
		plan = reallocarray(several->plans, capacity, sizeof *plan);
		if (!plan)
			return NULL;
		several->plans = plan;
		several->plan_capacity = capacity;
	}
	plan = &several->plans[several->plan_count++];
	*plan = (struct several_plan){ .method = method };
	va_start(arguments, title_format);
	vsnprintf(plan->title, sizeof plan->title, title_format, arguments);
	va_end(arguments);
	return plan;
}

int several_plan_course(struct several_plan *plan, enum several_way way, uint32_t device,
                        uint32_t peer)
{
	plan->courses[plan->course_count] = (struct several_course){ way, device, peer };
	return (int)plan->course_count++;
}

struct several_figure *several_plan_figure(struct several_plan *plan, uint32_t courses,
                                           const char *group, const char *line, const char *device,
                                           const char *at_work)
{
	struct several_figure *grown =
	    reallocarray(plan->figures, plan->figure_count + 1, sizeof *grown);

	if (!grown)
		return NULL;
	plan->figures = grown;
	grown += plan->figure_count;
	*grown = (struct several_figure){ .courses = courses, .verdict = TARE_CONTINUE };
	grown->series.rule = tare_stopping_default();
	grown->series.rule.minimum_ns = 0;
	plan->figure_count++;
	if (tare_labels_set_text(&grown->labels, "group", group) < 0 ||
	    tare_labels_set_text(&grown->labels, "line", line) < 0 ||
	    tare_labels_set_text(&grown->labels, "device", device) < 0 ||
	    tare_labels_set_text(&grown->labels, "at_work", at_work) < 0)
		return NULL;
	return grown;
}

// ---- one round

// The device whose absence ends this plan, or -1.
static int gone_device(const struct several *several, const struct several_plan *plan)
{
	for (size_t i = 0; i < plan->course_count; i++) {
		const struct several_course *course = &plan->courses[i];
		if (several->devices[course->device].gone)
			return (int)course->device;
		if (course->way == SEVERAL_TO_PEER && several->devices[course->peer].gone)
			return (int)course->peer;
	}
	return -1;
}

struct round {
	struct several_racer racers[TARE_SEVERAL_MOST];
	uint32_t device[TARE_SEVERAL_MOST]; // of each racer
	size_t count;
	struct several_lane lanes[2 * TARE_SEVERAL_MOST];
};

static void set_up(const struct several *several, const struct several_plan *plan,
                   struct round *round)
{
	*round = (struct round){ .count = 0 };
	for (size_t i = 0; i < plan->course_count; i++) {
		const struct several_course *course = &plan->courses[i];
		const struct several_device *device = &several->devices[course->device];
		struct several_lane *lane = &round->lanes[i];
		struct several_racer *racer;
		size_t at = 0;
		while (at < round->count && round->device[at] != course->device)
			at++;
		racer = &round->racers[at];
		if (at == round->count) {
			round->device[round->count++] = course->device;
			racer->device = device->member->device;
			racer->copy_ns = device->copy_ns;
		}
		lane->queue = device->queues[racer->lane_count];
		lane->marks = device->marks[racer->lane_count];
		lane->copy = several_copy(several, course, 0, several->bytes);
		racer->lanes[racer->lane_count++] = lane;
	}
}

// The sum of some courses as the time of a copy of as many times the bytes.
static int take(struct several_plan *plan, const struct round *round)
{
	for (size_t f = 0; f < plan->figure_count; f++) {
		struct several_figure *figure = &plan->figures[f];
		double copies = 0, per_ps = 0;
		for (size_t i = 0; i < plan->course_count; i++)
			if (figure->courses >> i & 1) {
				copies++;
				per_ps += 1 / round->lanes[i].ps;
			}
		if (tare_series_add(&figure->series, (int64_t)(copies / per_ps + 0.5)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool is_settled(struct several_plan *plan)
{
	bool settled = true;

	for (size_t f = 0; f < plan->figure_count; f++) {
		struct several_figure *figure = &plan->figures[f];
		if (figure->verdict == TARE_CONTINUE)
			figure->verdict = tare_series_decide(&figure->series, plan->sampled_ns);
		settled = settled && figure->verdict != TARE_CONTINUE;
	}
	return settled;
}

// What a failure means: a device is dropped, or this plan is not for these devices.
static void settle(struct several *several, struct several_plan *plan, const struct round *round,
                   const struct tare_error *why)
{
	plan->closed = true;
	snprintf(plan->absent, sizeof plan->absent, "%.319s", why->message);
	for (size_t i = 0; i < round->count; i++) {
		int own = round->racers[i].status;
		if (tare_device_is_gone(own) && !several->devices[round->device[i]].gone)
			several_drop(several, round->device[i], own, &round->racers[i].error);
	}
}

// One destination, after the plan's first race. 0, or a negative errno.
static int judge(struct several *several, struct several_plan *plan,
                 const struct several_course *course, struct tare_error *error)
{
	int status = several_arrived(several, course, error);

	if (status < 0)
		return status;
	plan->verified = status && plan->verified != TARE_WRONG ? TARE_VERIFIED : TARE_WRONG;
	if (status == 0 && !several->wrong) {
		several->wrong = true;
		tare_fail(
		    &several->wrong_error, EBADMSG,
		    "wrong data (%s): a destination does not hold what was sent; do not trust "
		    "these devices with data",
		    plan->title);
	}
	return 0;
}

// Outside the timed part. What came to the host is looked at first: looking at the rest passes
// through the same memory.
static int verify(struct several *several, struct several_plan *plan, bool before,
                  struct tare_error *error)
{
	int status = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; status == 0 && i < plan->course_count; i++) {
			const struct several_course *course = &plan->courses[i];
			uint32_t owner =
			    course->way == SEVERAL_TO_PEER ? course->peer : course->device;
			if ((course->way == SEVERAL_TO_HOST) != (pass == 0))
				continue;
			status = before ? several_poison(several, course, error)
			                : judge(several, plan, course, error);
			if (tare_device_is_gone(status))
				several_drop(several, owner, status, error);
		}
	return status;
}

static int64_t window_of(const struct several *several, const struct several_plan *plan)
{
	int64_t longest = 0;

	for (size_t i = 0; i < plan->course_count; i++) {
		int64_t ns = several->devices[plan->courses[i].device].copy_ns;
		longest = ns > longest ? ns : longest;
	}
	longest *= WINDOW_COPIES * (int64_t)plan->course_count;
	longest = longest < WINDOW_NS ? WINDOW_NS : longest;
	return longest > WINDOW_MOST_NS ? WINDOW_MOST_NS : longest;
}

static int race(struct several *several, struct several_plan *plan, struct round *round,
                struct tare_error *error)
{
	int64_t window_ns = window_of(several, plan);
	int status = -EAGAIN;

	set_up(several, plan, round);
	for (int trial = 0; status == -EAGAIN && trial < LONGER_MOST; trial++) {
		status = several_race(round->racers, round->count, window_ns, error);
		window_ns *= 2;
	}
	return status;
}

// Runs a plan once. 0, also when it failed and was closed; -ENOMEM.
static int run_once(struct several *several, struct several_plan *plan)
{
	struct tare_host_time begin = tare_host_now();
	struct tare_error why = { 0 };
	struct round round = { .count = 0 };
	int gone = gone_device(several, plan), status = 0;
	bool first = !plan->begun;

	if (gone >= 0) {
		plan->closed = true;
		snprintf(plan->absent, sizeof plan->absent, "%s: %.300s",
		         several->devices[gone].member->name, several->devices[gone].why);
		return 0;
	}
	plan->begun = true;
	if (first)
		status = verify(several, plan, true, &why);
	status = status ?: race(several, plan, &round, &why);
	if (status == 0 && first)
		status = verify(several, plan, false, &why);
	if (status < 0) {
		settle(several, plan, &round, &why);
		return 0;
	}
	if (take(plan, &round) < 0)
		return -ENOMEM;
	plan->sampled_ns += tare_host_elapsed_ns(begin, tare_host_now());
	plan->closed = is_settled(plan);
	return 0;
}

// ---- round after round

static void shuffle(struct several *several, size_t *order, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = tare_random_below(&several->run->random, i);
		size_t kept = order[i - 1];
		order[i - 1] = order[other];
		order[other] = kept;
	}
}

static int64_t elapsed(const struct tare_host_time *begin)
{
	return tare_host_elapsed_ns(*begin, tare_host_now());
}

int several_sample(struct several *several, size_t first, int64_t share_ns,
                   struct tare_error *error)
{
	struct tare_run *run = several->run;
	struct tare_host_time begin = tare_host_now();
	size_t count = several->plan_count - first, done = 0;
	size_t *order = calloc(count + 1, sizeof *order);
	bool open = count > 0;
	int status = order ? 0 : -ENOMEM;

	for (size_t i = 0; order && i < count; i++)
		order[i] = first + i;
	for (size_t round = 0; status == 0 && open; round++) {
		shuffle(several, order, count);
		open = false;
		for (size_t i = 0; status == 0 && i < count; i++) {
			struct several_plan *plan = &several->plans[order[i]];
			int64_t left = share_ns - elapsed(&begin);
			if (plan->closed || (round && left <= 0))
				continue;
			if (tare_run_interrupted(run)) {
				status = tare_fail(error, EINTR, "interrupted");
				break;
			}
			if (run->progress)
				run->progress(run->progress_context, plan->title, done, count,
				              left > 0 ? left : 0);
			status = run_once(several, plan);
			done += plan->closed;
			open = open || !plan->closed;
		}
		open = open && elapsed(&begin) < share_ns;
	}
	free(order);
	return status == -ENOMEM ? tare_fail(error, ENOMEM, "out of memory") : status;
}

// ---- cells

static void keep_figure(struct several *several, struct several_plan *plan,
                        struct several_figure *figure)
{
	struct tare_cell *cell = tare_result_add_cell(several->run->result, "time", "ps", "host");
	int copies = __builtin_popcount(figure->courses);

	tare_labels_set_number(&figure->labels, "bytes", (int64_t)several->bytes);
	cell->labels = figure->labels;
	figure->labels = (struct tare_labels){ 0 };
	tare_cell_set_method(cell, plan->method);
	if (figure->series.n == 0) {
		if (plan->absent[0])
			tare_cell_set_absent(cell, "%s", plan->absent);
		else
			tare_cell_set_absent_as(cell, TARE_ABSENT_INTERRUPTED, "interrupted");
		return;
	}
	tare_cell_take_series(cell, &figure->series, figure->verdict);
	cell->verified = plan->verified;
	tare_cell_set_rate(cell, copies * (double)several->bytes, "GB/s", 1e9);
}

void several_keep(struct several *several, size_t first)
{
	for (size_t i = first; i < several->plan_count; i++)
		for (size_t f = 0; f < several->plans[i].figure_count; f++)
			keep_figure(several, &several->plans[i], &several->plans[i].figures[f]);
	several_plans_clear(several, first);
}
