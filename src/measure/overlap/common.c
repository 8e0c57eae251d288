// SPDX-License-Identifier: Apache-2.0
// What every phase of overlap needs: labels, times, progress, verification.
#include "backend/call.h"
#include "base/units.h"
#include "measure/overlap/internal.h"
#include "measure/overlap/overlap.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define RANGE_SAMPLES 6

void overlap_phase(struct overlap *overlap, double share)
{
	struct tare_run *run = overlap->run;
	int64_t used = tare_host_elapsed_ns(run->started, tare_run_now(run));
	int64_t end = used + (int64_t)(share * (double)overlap->budget_ns);

	run->budget_ns = end < overlap->budget_ns ? end : overlap->budget_ns;
}

int64_t overlap_phase_left_ns(const struct overlap *overlap)
{
	return tare_run_remaining_ns(overlap->run);
}

void overlap_progress(struct overlap *overlap, const char *what)
{
	struct tare_run *run = overlap->run;

	if (run->progress)
		run->progress(run->progress_context, what, run->cells_done,
		              run->cells_total > run->cells_done ? run->cells_total
		                                                 : run->cells_done + 1,
		              -1);
}

int overlap_go_on(const struct overlap *overlap, struct tare_error *error)
{
	return tare_run_interrupted(overlap->run) ? tare_fail(error, EINTR, "interrupted") : 0;
}

struct overlap_time overlap_time_of(const struct overlap *overlap, size_t cell)
{
	const struct tare_cell *at = &overlap->run->result->cells[cell];
	const struct tare_summary *summary = &at->summary;
	struct overlap_time time = { 0 };
	double unit, doubt = 1;

	// Where memory ran out there may be no such cell.
	if (cell >= overlap->run->result->cell_count || at->absent || !(summary->median > 0))
		return time;
	unit = tare_cell_unit_ns(at);
	time.present = true;
	time.ns = unit * summary->median;
	// The range of six samples holds the median in 97 of 100 cases; fewer tell next to nothing,
	// but where a script tells the time all are alike.
	if (summary->n < RANGE_SAMPLES && !overlap->run->simulated &&
	    !tare_pipeline_by_device(overlap->pipeline))
		doubt = 2;
	time.low =
	    unit * (isfinite(summary->ci_low) ? summary->ci_low : (double)summary->min / doubt);
	time.high =
	    unit * (isfinite(summary->ci_high) ? summary->ci_high : (double)summary->max * doubt);
	return time;
}

const char *overlap_run_source(const struct overlap *overlap)
{
	return tare_pipeline_by_device(overlap->pipeline) ? "device" : "host";
}

const char *overlap_run_method(const struct overlap *overlap, const char *by_host)
{
	return tare_pipeline_by_device(overlap->pipeline)
	           ? "device time of a run, all of it issued before: its clock, written before the "
	             "first operation and when each queue is done, for the host's shows how busy "
	             "this machine is, which does the device's work"
	           : by_host;
}

double overlap_run_step_ns(const struct overlap *overlap)
{
	double step_ns = tare_pipeline_device_step_ns(overlap->pipeline);

	return step_ns > 0 ? step_ns : (double)overlap->run->host_step_ns;
}

void overlap_label_point(const struct overlap *overlap, const struct overlap_point *point,
                         struct tare_labels *labels)
{
	{
		if (overlap->own)
			tare_labels_set_number(labels, "cycles", (int64_t)point->cycles);
		return;
	}
}

void overlap_label_schedule(const struct tare_schedule *schedule, struct tare_labels *labels)
{
	tare_labels_set_number(labels, "chunks", schedule->chunks);
	tare_labels_set_number(labels, "queues", tare_schedule_queues(schedule));
	tare_labels_set_text(labels, "order", tare_order_name(schedule->order));
	tare_labels_set_text(labels, "mechanism", tare_mechanism_name(schedule->mechanism));
	tare_labels_set_text(labels, "sizes", tare_chunk_sizes_name(schedule->sizes));
}

struct tare_cell *overlap_model(struct overlap *overlap, const char *group, const char *what,
                                const struct overlap_point *point, const char *quantity,
                                const char *unit)
{
	struct tare_cell *cell =
	    tare_result_add_cell(overlap->run->result, quantity, unit, "model");

	tare_labels_set_text(&cell->labels, "group", group);
	if (point)
		overlap_label_point(overlap, point, &cell->labels);
	if (what)
		tare_labels_set_text(&cell->labels, "what", what);
	return cell;
}

bool overlap_same_schedule(const struct tare_schedule *a, const struct tare_schedule *b)
{
	return a->chunks == b->chunks && tare_schedule_queues(a) == tare_schedule_queues(b) &&
	       a->order == b->order && a->mechanism == b->mechanism && a->sizes == b->sizes;
}

int overlap_verify(struct overlap *overlap, const struct tare_schedule *schedule,
                   enum tare_break how, bool *right, struct tare_error *error)
{
	enum tare_verified verified = TARE_NOT_VERIFIABLE;
	char text[96];
	int status;

	*right = true;
	for (size_t i = 0; how == TARE_BREAK_NONE && i < overlap->verified_count; i++)
		if (overlap_same_schedule(&overlap->verified[i], schedule))
			return 0;
	status = tare_pipeline_verify(overlap->pipeline, schedule, how, &verified,
	                              &overlap->wrong_item, error);
	if (status < 0)
		return status;
	*right = verified != TARE_WRONG;
	if (*right && how == TARE_BREAK_NONE && overlap->verified_count < OVERLAP_TIMED_MAX)
		overlap->verified[overlap->verified_count++] = *schedule;
	if (*right || overlap->wrong[0])
		return 0;
	tare_schedule_text(schedule, text, sizeof text);
	if (overlap->own || schedule->chunks == 1)
		snprintf(overlap->wrong, sizeof overlap->wrong,
		         "the result is wrong from item %llu on (%s)",
		         (unsigned long long)overlap->wrong_item, text);
	else
		snprintf(overlap->wrong, sizeof overlap->wrong,
		         "kernel %s: cut into chunks it computes something else than in one piece, "
		         "from item %llu on (%s); does it read neighbours (a halo), or use "
		         "get_global_size, or leave out 'first'?",
		         overlap->built.title, (unsigned long long)overlap->wrong_item, text);
	return 0;
}
