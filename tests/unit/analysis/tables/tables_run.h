// SPDX-License-Identifier: Apache-2.0
// A small recording made by hand, for the tests of the tables.
#pragma once
#include "analysis/tables/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 2000, FEW = 8, SHAPES = 64 };

// One process with one thread, one device of 4 units and one queue; the rest is up to the test.
struct run {
	struct tare_recording recording;
	struct tare_recorded_process processes[1];
	struct tare_recorded_thread threads[1];
	struct tare_recorded_device devices[2];
	struct tare_recorded_queue queues[2];
	struct tare_recorded_kernel kernels[3];
	struct tare_recorded_kernel_fact facts[FEW];
	struct tare_recorded_program programs[1];
	struct tare_recorded_shape shapes[SHAPES];
	struct tare_recorded_function functions[FEW];
	struct tare_recorded_call calls[FEW];
	struct tare_recorded_command commands[MOST];
	struct tare_ledgers ledgers;
	struct tare_tables tables;
};

enum { FINISH, FLUSH, BUILD, NDRANGE, RELEASE_QUEUE, QUERY, NDRANGE_TOO };

static inline int set_up(void **state)
{
	struct run *run = calloc(1, sizeof *run);
	struct tare_recording *r = &run->recording;
	static const struct tare_recorded_function functions[] = {
		[FINISH] = { "clFinish", TARE_TRACE_OPENCL, TARE_ROLE_WAIT },
		[FLUSH] = { "clFlush", TARE_TRACE_OPENCL, TARE_ROLE_FLUSH },
		[BUILD] = { "clBuildProgram", TARE_TRACE_OPENCL, TARE_ROLE_BUILD },
		[NDRANGE] = { "clEnqueueNDRangeKernel", TARE_TRACE_OPENCL, TARE_ROLE_COMMAND },
		[RELEASE_QUEUE] = { "clReleaseCommandQueue", TARE_TRACE_OPENCL, TARE_ROLE_CREATE,
		                    true },
		[QUERY] = { "clGetEventInfo", TARE_TRACE_OPENCL, TARE_ROLE_POLL },
		[NDRANGE_TOO] = { "clEnqueueNDRangeKernel", TARE_TRACE_OPENCL, TARE_ROLE_COMMAND },
	};
	if (!run)
		return -1;
	memcpy(run->functions, functions, sizeof functions);
	run->threads[0].unfinished_function = TARE_NO_INDEX;
	run->devices[0] = (struct tare_recorded_device){ .name = "A", .compute_units = 4 };
	run->devices[1] = (struct tare_recorded_device){ .name = "B", .same_as = 1 };
	run->queues[1] = (struct tare_recorded_queue){ .device = 1, .number = 1 };
	run->kernels[0].name = "add";
	run->kernels[1].name = "scale";
	run->kernels[2].name = "add";
	*r = (struct tare_recording){ .end_ns = 1000000,
		                      .user_cpu_ns = TARE_NO_TIME,
		                      .system_cpu_ns = TARE_NO_TIME,
		                      .processes = run->processes,
		                      .process_count = 1,
		                      .threads = run->threads,
		                      .thread_count = 1,
		                      .devices = run->devices,
		                      .device_count = 2,
		                      .queues = run->queues,
		                      .queue_count = 2,
		                      .kernels = run->kernels,
		                      .kernel_count = 3,
		                      .kernel_facts = run->facts,
		                      .programs = run->programs,
		                      .program_count = 1,
		                      .shapes = run->shapes,
		                      .functions = run->functions,
		                      .function_count = 7,
		                      .calls = run->calls,
		                      .commands.plain = run->commands };
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

static inline struct tare_recorded_command *add(struct run *run, uint8_t kind, int64_t enter_ns,
                                                int64_t start_ns, int64_t end_ns)
{
	struct tare_recorded_command *command = &run->commands[run->recording.command_count++];
	*command = (struct tare_recorded_command){ .enter_ns = enter_ns,
		                                   .exit_ns = enter_ns + 10,
		                                   .submitted_ns = TARE_NO_TIME,
		                                   .start_ns = start_ns,
		                                   .end_ns = end_ns,
		                                   .first_wait = TARE_NO_INDEX,
		                                   .function = NDRANGE,
		                                   .kind = kind,
		                                   .alignment = 255,
		                                   .amount = kind == TARE_KIND_KERNEL ? 0 : 1000 };
	return command;
}

static inline struct tare_recorded_call *add_call(struct run *run, uint16_t function,
                                                  int64_t enter_ns, int64_t exit_ns)
{
	struct tare_recorded_call *call = &run->calls[run->recording.call_count++];
	*call = (struct tare_recorded_call){ .enter_ns = enter_ns,
		                             .exit_ns = exit_ns,
		                             .count = 1,
		                             .inside_ns = exit_ns - enter_ns,
		                             .object = TARE_NO_INDEX,
		                             .device = TARE_NO_INDEX,
		                             .function = function,
		                             .role = (uint8_t)run->functions[function].role };
	return call;
}

static inline void add_shape(struct run *run, uint64_t global, uint32_t local)
{
	run->shapes[run->recording.shape_count++] = (struct tare_recorded_shape){
		.dimensions = 1, .global = { global, 1, 1 }, .local = { local, 1, 1 }
	};
}

static inline void compute(struct run *run)
{
	struct tare_view view = tare_view_all(&run->recording);
	tare_tables_free(&run->tables);
	assert_int_equal(
	    tare_tables_compute(&run->recording, &view, &run->ledgers, NULL, 0, &run->tables, NULL),
	    0);
}

static inline void assert_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
