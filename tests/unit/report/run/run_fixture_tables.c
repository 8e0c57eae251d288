// SPDX-License-Identifier: Apache-2.0
// The tables of the runs made by hand.
#include "run_fixture_internal.h"

#include <math.h>
#include <stdio.h>

static struct tare_task tasks[RUN_FIXTURE_TASKS], task_shapes[2];
static struct tare_transfer_row transfers[3];
static struct tare_api_row api[10];
static struct tare_build builds[7];
static struct tare_queue_row queue_rows[2];

static const struct tare_recorded_kernel_fact no_facts = { .kernel = TARE_NO_INDEX,
	                                                   .device = TARE_NO_INDEX };

struct tare_task run_fixture_untimed_task(const char *name)
{
	return (struct tare_task){ .name = name,
		                   .device = 0,
		                   .kernel = TARE_NO_INDEX,
		                   .shape = TARE_NO_INDEX,
		                   .frequent_shape = TARE_NO_INDEX,
		                   .shapes = 0,
		                   .instances = 20,
		                   .mean_ns = NAN,
		                   .median_ns = NAN,
		                   .min_ns = NAN,
		                   .max_ns = NAN,
		                   .p95_ns = NAN,
		                   .share = NAN,
		                   .waves = NAN,
		                   .groups_per_unit = NAN,
		                   .tail = NAN,
		                   .trend_per_run = NAN,
		                   .facts = no_facts };
}

static void set_tasks(void)
{
	tasks[0] =
	    (struct tare_task){ .name = "step",
		                .device = 0,
		                .kernel = 0,
		                .shape = 0,
		                .frequent_shape = 0,
		                .shapes = 1,
		                .instances = 200,
		                .timed = 200,
		                .total_ns = 5020 * MS,
		                .mean_ns = 25.1e6,
		                .median_ns = 25e6,
		                .min_ns = 24.2e6,
		                .max_ns = 31.7e6,
		                .p95_ns = 26e6,
		                .share = 0.9786,
		                .launch_total_ns = 3 * MS,
		                .groups = 65536,
		                .groups_per_unit = 496.48,
		                .waves = 497,
		                .tail = 0.515,
		                .trend_per_run = 0.042,
		                .facts = { .kernel = 0,
		                           .device = 0,
		                           .group_limit = 1024,
		                           .local_bytes = 2048,
		                           .private_bytes = 0,
		                           .preferred_multiple = 32,
		                           .spill_bytes = 16,
		                           .compiled_group = 16 | 16 << 21 | UINT64_C(1) << 42 } };
	tasks[1] = run_fixture_untimed_task("norm2");
	tasks[1].kernel = 1;
	tasks[1].frequent_shape = 1;
	tasks[1].shapes = 2;
	tasks[1].instances = 12000;
	tasks[1].timed = 12000;
	tasks[1].total_ns = 108 * MS + 123;
	tasks[1].mean_ns = tasks[1].median_ns = tasks[1].min_ns = 9012;
	tasks[1].max_ns = 14400;
	tasks[1].p95_ns = 10000;
	tasks[1].share = 0.0211;
	tasks[1].shape_rows = 2;
	task_shapes[0] = task_shapes[1] = tasks[1];
	task_shapes[0].shape = 1;
	task_shapes[1].shape = 2;
	task_shapes[0].instances = task_shapes[0].timed = 11000;
	task_shapes[1].instances = 1000;
	task_shapes[1].timed = 0;
	for (size_t i = 0; i < COUNT(task_shapes); i++)
		task_shapes[i].shapes = 1, task_shapes[i].shape_rows = 0;
}

static void set_transfers(void)
{
	transfers[0] = (struct tare_transfer_row){ .kind = TARE_KIND_WRITE,
		                                   .direction = TARE_DIRECTION_TO_DEVICE,
		                                   .memory = TARE_TRACE_MEMORY_PAGEABLE,
		                                   .blocking = true,
		                                   .device = 0,
		                                   .count = 34000,
		                                   .timed = 34000,
		                                   .bytes = UINT64_C(34000) << 20,
		                                   .total_ns = 3230 * MS,
		                                   .exposed_ns = 2830 * MS,
		                                   .hidden_ns = 400 * MS,
		                                   .bytes_per_second = 11.04e9,
		                                   .median_bytes_per_second = 11.2e9,
		                                   .sized_ceiling = 12e9,
		                                   .unaligned = 17,
		                                   .smallest = 4096,
		                                   .largest = 2 << 20 };
	transfers[0].sizes[4] = 1000;
	transfers[0].sizes[8] = 33000;
	transfers[1] = (struct tare_transfer_row){ .kind = TARE_KIND_MAP,
		                                   .direction = TARE_DIRECTION_FROM_DEVICE,
		                                   .memory = TARE_TRACE_MEMORY_BUFFER_HOST,
		                                   .device = 0,
		                                   .count = 34000,
		                                   .timed = 33998,
		                                   .bytes = UINT64_C(14000) << 20,
		                                   .total_ns = 1320 * MS,
		                                   .exposed_ns = 1120 * MS,
		                                   .hidden_ns = 200 * MS,
		                                   .bytes_per_second = 11.1e9,
		                                   .median_bytes_per_second = 11.1e9,
		                                   .sized_ceiling = NAN,
		                                   .smallest = 1,
		                                   .largest = UINT64_C(40) << 30 };
	transfers[1].sizes[0] = 2;
	transfers[1].sizes[15] = 33998;
	transfers[2] = (struct tare_transfer_row){ .kind = TARE_KIND_FILL,
		                                   .direction = TARE_DIRECTION_LOCAL,
		                                   .device = 0,
		                                   .count = 1004,
		                                   .timed = 0,
		                                   .bytes = 4016,
		                                   .bytes_per_second = NAN,
		                                   .median_bytes_per_second = NAN,
		                                   .sized_ceiling = NAN,
		                                   .smallest = 4,
		                                   .largest = 4 };
	transfers[2].sizes[0] = 1004;
}

static void set_host_side(void)
{
	static const struct {
		const char *name;
		uint32_t role;
		uint64_t count;
		int64_t total;
	} rows[10] = {
		{ "clFinish", TARE_ROLE_WAIT, 400, 5200 * MS },
		{ "clEnqueueWriteBuffer", TARE_ROLE_COMMAND, 34000, 3700 * MS },
		{ "clBuildProgram", TARE_ROLE_BUILD, 7, 400 * MS },
		{ "clEnqueueNDRangeKernel", TARE_ROLE_COMMAND, 12200, 210 * MS },
		{ "clCreateBuffer", TARE_ROLE_ALLOCATE, 12, 40 * MS },
		{ "clGetEventInfo", TARE_ROLE_POLL, 4000000, 30 * MS },
		{ "clSetKernelArg", TARE_ROLE_OTHER, 48000, 4 * MS },
		{ "clCreateContext", TARE_ROLE_CREATE, 1, 2 * MS },
		{ "clGetPlatformIDs", TARE_ROLE_START, 2, 1 * MS },
		{ "clFlush", TARE_ROLE_FLUSH, 2, 0 },
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		api[i] = (struct tare_api_row){ .function = rows[i].name,
			                        .role = rows[i].role,
			                        .count = rows[i].count,
			                        .failed = i == 4 ? 1 : 0,
			                        .nested = i == 3 ? 200 : 0,
			                        .total_ns = rows[i].total,
			                        .max_ns = rows[i].total / 4 };
	for (size_t i = 0; i < COUNT(builds); i++)
		builds[i] = (struct tare_build){ .program = i ? TARE_NO_INDEX : 0,
			                         .function = "clBuildProgram",
			                         .at_ns = START + (int64_t)(i + 1) * 500 * MS,
			                         .ns = (int64_t)(i * 5 % 7 + 1) * 14 * MS,
			                         .error = i == 6 ? -11 : 0 };
	for (size_t i = 0; i < COUNT(queue_rows); i++) {
		queue_rows[i] = (struct tare_queue_row){ .queue = (uint32_t)i,
			                                 .commands = 81204,
			                                 .timed = 81204,
			                                 .busy_ns = 9080 * MS,
			                                 .mean_depth = 1.62,
			                                 .max_depth = 61,
			                                 .gaps_ns = 2800 * MS,
			                                 .median_latency_ns = 11300 };
		queue_rows[i].gap_causes_ns[TARE_LEDGER_COMPUTING] = 1800 * MS;
		queue_rows[i].gap_causes_ns[TARE_LEDGER_BUILD] = 400 * MS;
	}
}

static void set_summary(struct tare_tables *tables)
{
	struct tare_recorded_summary *summary = &tables->summary;
	*summary = (struct tare_recorded_summary){
		.wall_ns = 12410 * MS,
		.cpu_utilisation = 0.3304,
		.device_utilisation = 0.7317,
		.kernel_share = 0.4134,
		.transfer_share = 0.367,
		.exposed_transfer_share = 0.318,
		.launch_ns = 213 * MS,
		.mean_launch_ns = 4610.4,
		.working_from_ns = START + 1200 * MS,
		.working_to_ns = START + 12300 * MS,
		.has_parts = true,
		.bound = TARE_BOUND_TRANSFER,
		.verdict = "The working part of this run, 11.1 s of 12.4 s, is transfer-bound: the "
		           "device waits for data "
		           "39.7 % of it; start-up took 1.20 s",
		.evidence =
		    "transfers that no kernel hides 31.8 %, blocking copies 7.9 %; kernels 41.3 %"
	};
	summary->bound_ns[TARE_BOUND_TRANSFER] = 11100 * MS;
	struct tare_recording_part *parts = summary->parts;
	parts[TARE_PART_START_UP] =
	    (struct tare_recording_part){ START,
		                          START + 1200 * MS,
		                          { [TARE_LEDGER_BEFORE_FIRST] = 90 * MS,
		                            [TARE_LEDGER_BUILD] = 400 * MS,
		                            [TARE_LEDGER_API] = 90 * MS,
		                            [TARE_LEDGER_QUERY] = 50 * MS,
		                            [TARE_LEDGER_RELEASE] = 1 * MS,
		                            [TARE_LEDGER_COMPUTING] = 569 * MS } };
	parts[TARE_PART_WORKING] = (struct tare_recording_part){
		START + 1200 * MS,
		START + 12300 * MS,
		{ [TARE_LEDGER_KERNEL] = 5130 * MS, [TARE_LEDGER_TO_DEVICE] = 5970 * MS }
	};
	parts[TARE_PART_TEAR_DOWN] = (struct tare_recording_part){
		START + 12300 * MS, START + 12410 * MS, { [TARE_LEDGER_ENDED] = 110 * MS }
	};
}

void run_fixture_tables(struct tare_tables *tables)
{
	set_tasks();
	set_transfers();
	set_host_side();
	*tables = (struct tare_tables){ .tasks = tasks,
		                        .task_shapes = task_shapes,
		                        .transfers = transfers,
		                        .api = api,
		                        .builds = builds,
		                        .queues = queue_rows,
		                        .task_count = 2,
		                        .task_shape_count = 2,
		                        .transfer_count = 3,
		                        .api_count = 10,
		                        .build_count = 7,
		                        .queue_count = 1,
		                        .memory = { 12, UINT64_C(3) << 30, UINT64_C(2) << 30,
		                                    START + 2000 * MS, 2 },
		                        .coverage = { .enqueued = 81204,
		                                      .completed = 81204,
		                                      .calls = 178000,
		                                      .self_cost_share = 0.00113,
		                                      .self_cost_ns = 14 * MS,
		                                      .helper_cpu_ns = 20 * MS,
		                                      .driver_ns = 22 * MS,
		                                      .driver_low_ns = 20 * MS,
		                                      .driver_high_ns = 25 * MS,
		                                      .profiling_share = 0.0011,
		                                      .cost_ns = 36 * MS,
		                                      .cost_low_ns = 34 * MS,
		                                      .cost_high_ns = 39 * MS,
		                                      .cost_share = 0.0029,
		                                      .cost_source = TARE_COST_CALIBRATED,
		                                      .once_ns = 4 * MS } };
	set_summary(tables);
}
