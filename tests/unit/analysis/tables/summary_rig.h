// SPDX-License-Identifier: Apache-2.0
// A run made by hand, whose summary follows from its ledger. Include after cmocka.h.
#pragma once
#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"

#include <stdint.h>
#include <stdlib.h>

enum { WALL_NS = 1000000, MOST = 1000 };

struct run {
	struct tare_recording recording;
	struct tare_recorded_process processes[1];
	struct tare_recorded_thread threads[2];
	struct tare_recorded_device devices[1];
	struct tare_recorded_queue queues[1];
	struct tare_recorded_kernel kernels[1];
	struct tare_recorded_function functions[2];
	struct tare_recorded_command commands[MOST];
	struct tare_recorded_call calls[2];
	struct tare_ledger ledger;
	struct tare_gap gaps[3];
	size_t gap_count;
	struct tare_view view;
	struct tare_tables tables;
};

static inline int set_up(void **state)
{
	struct run *run = calloc(1, sizeof *run);
	if (!run)
		return -1;
	run->threads[0].unfinished_function = TARE_NO_INDEX;
	run->devices[0].name = "A";
	run->kernels[0].name = "add";
	run->functions[0] = (struct tare_recorded_function){ "clEnqueueNDRangeKernel",
		                                             TARE_TRACE_OPENCL, TARE_ROLE_COMMAND };
	run->functions[1] =
	    (struct tare_recorded_function){ "clFinish", TARE_TRACE_OPENCL, TARE_ROLE_WAIT };
	run->recording = (struct tare_recording){ .end_ns = WALL_NS,
		                                  .user_cpu_ns = TARE_NO_TIME,
		                                  .system_cpu_ns = TARE_NO_TIME,
		                                  .processes = run->processes,
		                                  .process_count = 1,
		                                  .threads = run->threads,
		                                  .thread_count = 1,
		                                  .devices = run->devices,
		                                  .device_count = 1,
		                                  .queues = run->queues,
		                                  .queue_count = 1,
		                                  .kernels = run->kernels,
		                                  .kernel_count = 1,
		                                  .functions = run->functions,
		                                  .function_count = 2,
		                                  .commands.plain = run->commands,
		                                  .calls = run->calls };
	run->ledger = (struct tare_ledger){
		.scope = "union", .name = "all devices", .device = TARE_NO_INDEX, .wall_ns = WALL_NS
	};
	run->view = tare_view_all(&run->recording);
	*state = run;
	return 0;
}

static inline int tear_down(void **state)
{
	struct run *run = *state;
	tare_tables_free(&run->tables);
	free(run);
	return 0;
}

static inline struct tare_recorded_command *add(struct run *run, int64_t enter_ns, int64_t call_ns,
                                                int64_t start_ns, int64_t end_ns)
{
	struct tare_recorded_command *command = &run->commands[run->recording.command_count++];
	*command = (struct tare_recorded_command){ .enter_ns = enter_ns,
		                                   .exit_ns = enter_ns + call_ns,
		                                   .submitted_ns = TARE_NO_TIME,
		                                   .start_ns = start_ns,
		                                   .end_ns = end_ns,
		                                   .first_wait = TARE_NO_INDEX,
		                                   .kind = TARE_KIND_KERNEL,
		                                   .amount = TARE_NO_INDEX };
	return command;
}

// The first is enqueued when the run begins, the last ends when it does.
static inline void add_kernels(struct run *run, int count, int64_t call_ns, int64_t length_ns)
{
	run->recording.command_count = 0;
	for (int i = 0; i < count; i++) {
		int64_t at_ns = (int64_t)i * WALL_NS / count;
		int64_t end_ns = i == count - 1 ? WALL_NS : at_ns + call_ns + length_ns;
		add(run, at_ns, call_ns, end_ns - length_ns, end_ns);
	}
}

static inline const struct tare_recorded_summary *compute(struct run *run)
{
	struct tare_ledgers ledgers = {
		.ledgers = &run->ledger, .count = 1, .gaps = run->gaps, .gap_count = run->gap_count
	};
	tare_tables_free(&run->tables);
	assert_int_equal(
	    tare_tables_compute(&run->recording, &run->view, &ledgers, NULL, 0, &run->tables, NULL),
	    0);
	return &run->tables.summary;
}

struct part {
	enum tare_ledger_category category;
	int thousandths;
};
