// SPDX-License-Identifier: Apache-2.0
// The rules about kernels and the host: findings/internal.h says what they return.
#pragma once
#include "analysis/findings/internal.h"

// recording.c
int finding_recording_cost(struct evaluation *evaluation, struct tare_error *error);
int finding_host_polling(struct evaluation *evaluation, struct tare_error *error);
// launch.c
int finding_many_short_kernels(struct evaluation *evaluation, struct tare_error *error);
// launch_bound.c
int finding_launch_bound(struct evaluation *evaluation, struct tare_error *error);
// lists.c
int finding_list_rebuilt(struct evaluation *evaluation, struct tare_error *error);
int finding_synchronous_launches(struct evaluation *evaluation, struct tare_error *error);
// drain.c
int finding_synchronize_drains(struct evaluation *evaluation, struct tare_error *error);
// queue_full.c
int finding_launch_queue_full(struct evaluation *evaluation, struct tare_error *error);
// occupancy.c
int finding_low_occupancy(struct evaluation *evaluation, struct tare_error *error);
// kernel.c
int finding_one_kernel_dominates(struct evaluation *evaluation, struct tare_error *error);
int finding_under_filled_device(struct evaluation *evaluation, struct tare_error *error);
int finding_odd_work_group_size(struct evaluation *evaluation, struct tare_error *error);
// first_use.c
int finding_slow_first_use(struct evaluation *evaluation, struct tare_error *error);
int finding_drift(struct evaluation *evaluation, struct tare_error *error);
// idle.c
int finding_idle_host_computes(struct evaluation *evaluation, struct tare_error *error);
int finding_idle_host_waits(struct evaluation *evaluation, struct tare_error *error);
int finding_idle_host_builds(struct evaluation *evaluation, struct tare_error *error);
int finding_idle_host_sleeps(struct evaluation *evaluation, struct tare_error *error);
int finding_unflushed_queue(struct evaluation *evaluation, struct tare_error *error);

// start_up.c
int finding_start_up_builds(struct evaluation *evaluation, struct tare_error *error);
// ends.c
int finding_start_up_calls(struct evaluation *evaluation, struct tare_error *error);
int finding_start_up_host(struct evaluation *evaluation, struct tare_error *error);
int finding_tear_down(struct evaluation *evaluation, struct tare_error *error);
// calls.c
int finding_queries_in_loop(struct evaluation *evaluation, struct tare_error *error);
int finding_releases_in_loop(struct evaluation *evaluation, struct tare_error *error);
int finding_creations_in_loop(struct evaluation *evaluation, struct tare_error *error);

// graph.c
// What `tare latency` measured of the device; NULL: it is none of CUDA's, or nothing is kept.
const struct tare_launch_costs *finding_launch_costs(const struct evaluation *evaluation,
                                                     uint32_t device);
// What replaying launches as a graph saves, by model.
struct finding_graph {
	const struct tare_launch_costs
	    *costs; // NULL: there is no such launch, or they are not known
	uint64_t launches;
	double idle_ns;         // before them
	double made_ns;         // making one of the launches between two waits
	double low_ns, best_ns; // saved
};
// Adds a launch of a kernel that runs `run_ns`, before which the device was idle.
void finding_graph_add(const struct tare_launch_costs *costs, double idle_ns, double run_ns,
                       struct finding_graph *graph);
// The same of the launch that ends a gap, unless the host waited before it, or it loads the kernel.
void finding_graph_add_gap(const struct evaluation *evaluation,
                           const struct ledger_working_gap *gap, double idle_ns,
                           struct finding_graph *graph);
// When all are added: best_ns, and of low_ns what launching the graphs takes.
void finding_graph_end(const struct evaluation *evaluation, struct finding_graph *graph);
// For the evidence: what launches and nodes cost, from when that is, and what is saved.
const char *finding_graph_words(const struct finding_graph *graph, char *text, size_t size);

// Claims the parts of a task's instances in which no other kernel of the device ran: only these get
// shorter with the task. Of each `part` (0 to 1) is what it costs there; 0: no places. Returns
// their sum.
double finding_claim_alone(struct evaluation *evaluation, const struct tare_task *task,
                           struct finding_draft *draft, double part);

static inline bool finding_is_cuda(const struct evaluation *evaluation)
{
	return evaluation->recording->apis >> TARE_TRACE_CUDA & 1;
}

// How long the device works in the working part while the host does nothing of its own, but waits
// or is inside the API (idle.c).
double finding_free_host_ns(const struct evaluation *evaluation);
// Whether kernels run inside the calls that enqueue them, so that the thread can do nothing beside
// them (idle.c).
bool finding_runs_in_caller(const struct evaluation *evaluation);

// Of how many work-items the group of a task's kernel is to be a multiple: what the driver prefers;
// where it does not tell, as on Level Zero, the largest sub-group. 0: neither is told.
uint64_t finding_multiple(const struct tare_task *task);

// Whether a command of the stream is one of a task's: its kernel's name, device and, unless the
// task has several, its shape.
static inline bool finding_is_of_task(const struct evaluation *evaluation,
                                      const struct tare_task *task,
                                      const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = evaluation->recording;
	const struct tables_context *context = &evaluation->context;
	if (!tables_is_kernel(command) || tables_device(context, command) != task->device)
		return false;
	if (task->kernel >= recording->kernel_count || command->object >= recording->kernel_count)
		return task->kernel >= recording->kernel_count &&
		       command->object >= recording->kernel_count;
	return context->name_of[command->object] == context->name_of[task->kernel] &&
	       (task->shape >= recording->shape_count ||
	        command->amount >= recording->shape_count ||
	        context->shape_of[command->amount] == context->shape_of[task->shape]);
}
