// SPDX-License-Identifier: Apache-2.0
// export_fixture FILE DIR: the exports of a recording made by hand in which everything overlaps
// that can: commands that start out of order, wait for several and are waited for by several, calls
// and phases that do not nest, processes and threads with the same numbers, names that need care.
#include "export/export.h"

#include <string.h>

#define T(ns) (INT64_C(1000000) + (ns))

static struct tare_recorded_process processes[] = {
	{ .executable = "/bin/app",
	  .command_line = "app",
	  .host_name = "one",
	  .pid = 71,
	  .start_ns = T(0),
	  .end_ns = T(500),
	  .rank = TARE_TRACE_NO_RANK },
	{ .executable = "/bin/app",
	  .command_line = "app",
	  .host_name = "two",
	  .pid = 71,
	  .start_ns = T(0),
	  .end_ns = T(500),
	  .rank = TARE_TRACE_NO_RANK },
};
static struct tare_recorded_thread threads[] = {
	{ .process = 0, .tid = 71, .name = "", .unfinished_function = TARE_NO_INDEX },
	{ .process = 0, .tid = 71, .name = "again", .unfinished_function = TARE_NO_INDEX },
	{ .process = 1, .tid = 71, .name = "", .unfinished_function = TARE_NO_INDEX },
};
static struct tare_recorded_device devices[] = {
	{ .name = "GPU",
	  .platform = "",
	  .vendor = "",
	  .driver_version = "",
	  .uuid = "",
	  .pci = "",
	  .clock_source = TARE_CLOCK_SAME },
};
static struct tare_recorded_queue queues[] = {
	{ .number = 1, .out_of_order = true, .profiling = true, .created_ns = T(0) },
};
static struct tare_recorded_kernel kernels[] = {
	{ .program = TARE_NO_INDEX, .name = "say \"a, b\"\r\n\xff" },
};
static struct tare_recorded_function functions[] = {
	{ "clEnqueueNDRangeKernel", TARE_TRACE_OPENCL, TARE_ROLE_COMMAND },
	{ "clFinish", TARE_TRACE_OPENCL, TARE_ROLE_WAIT },
};
#define KERNEL(enter, start, end, wait)                                                            \
	{ T(enter),                                                                                \
	  T(enter + 10),                                                                           \
	  TARE_NO_TIME,                                                                            \
	  T(start),                                                                                \
	  T(end),                                                                                  \
	  TARE_NO_INDEX,                                                                           \
	  0,                                                                                       \
	  0,                                                                                       \
	  0,                                                                                       \
	  wait,                                                                                    \
	  0,                                                                                       \
	  TARE_KIND_KERNEL,                                                                        \
	  .alignment = 255,                                                                        \
	  .stack = TARE_NO_INDEX }
static struct tare_recorded_command commands[] = {
	KERNEL(0, 100, 300, TARE_NO_INDEX),
	KERNEL(10, 50, 200, TARE_NO_INDEX),
	KERNEL(20, 300, 400, 0),
	KERNEL(30, 310, 310, 2),
};
static struct tare_recorded_wait waits[] = { { 0, 0 }, { 1, 1 }, { 0, 0 }, { 0x7fffffff, 1 } };
#define CALL(enter, exit, on)                                                                      \
	{ T(enter),                                                                                \
	  T(exit),                                                                                 \
	  1,                                                                                       \
	  (exit) - (enter),                                                                        \
	  0,                                                                                       \
	  on,                                                                                      \
	  0,                                                                                       \
	  TARE_NO_INDEX,                                                                           \
	  1,                                                                                       \
	  TARE_ROLE_WAIT,                                                                          \
	  .stack = TARE_NO_INDEX }
static struct tare_recorded_call calls[] = {
	CALL(40, 60, 0), CALL(50, 70, 0), CALL(70, 80, 0),
	CALL(75, 75, 1), CALL(80, 90, 0), CALL(80, 90, 2),
};
static struct tare_recorded_phase phases[] = {
	{ T(0), T(65), 0, TARE_NO_INDEX, 0, "step", "", TARE_PHASE_TARE },
	{ T(5), T(45), 0, TARE_NO_INDEX, 0, "first", "d", TARE_PHASE_NVTX, .range = true },
	{ T(10), T(50), 0, TARE_NO_INDEX, 0, "second", "d", TARE_PHASE_NVTX, .range = true },
	{ T(33), T(33), 0, TARE_NO_INDEX, 0, "now", "", TARE_PHASE_ITT, .instant = true },
};
static struct tare_recorded_callback callbacks[] = { { T(42), T(44), 0, 1 } };

static const struct tare_recording recording = {
	.path = "made",
	.name = "made",
	.program = "",
	.exit_status = -1,
	.start_ns = T(0),
	.end_ns = T(500),
	.start_realtime_ns = 1700000000000000000,
#define ALL(array, count) .array = array, .count = sizeof array / sizeof *array
	ALL(processes, process_count),
	ALL(threads, thread_count),
	ALL(devices, device_count),
	ALL(queues, queue_count),
	ALL(kernels, kernel_count),
	ALL(functions, function_count),
	.commands = { .plain = commands },
	.command_count = sizeof commands / sizeof *commands,
	ALL(waits, wait_count),
	ALL(calls, call_count),
	ALL(phases, phase_count),
	ALL(callbacks, callback_count),
};

int main(int count, char **arguments)
{
	struct tare_view view = tare_view_all(&recording);
	struct tare_ledgers ledgers;
	const struct tare_report run = { .recording = &recording,
		                         .view = &view,
		                         .ledgers = &ledgers };
	struct tare_export_counts counts;
	struct tare_error error;
	FILE *file = count == 3 ? fopen(arguments[1], "w") : NULL;

	if (!file || tare_export_perfetto(&recording, &view, NULL, file, &counts, &error) < 0 ||
	    fclose(file) != 0)
		return 1;
	printf("%llu slices, %llu instants, %llu flows\n", (unsigned long long)counts.slices,
	       (unsigned long long)counts.instants, (unsigned long long)counts.flows);
	if (tare_ledgers_compute(&recording, &view, &ledgers, &error) < 0)
		return 1;
	return tare_export_csv(&run, NULL, arguments[2], &counts, &error) < 0;
}
