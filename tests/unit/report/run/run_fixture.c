// SPDX-License-Identifier: Apache-2.0
#include "run_fixture_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const run_fixture_names[] = { "simulate", "many",    "strict", "unflushed",
	                                  "writing",  "nothing", "silent", NULL };

// ---- what ran

static struct tare_recorded_process processes[2];
static struct tare_recorded_thread threads[4];
static struct tare_recorded_device devices[2];
static struct tare_recorded_queue queues[2];
static struct tare_recorded_program programs[1];
static struct tare_recorded_kernel kernels[2];
static struct tare_recorded_shape shapes[3];
static struct tare_recorded_loss losses[2];
static struct tare_recorded_change changes[5]; // the last two of process 1

static void set_processes(void)
{
	processes[0] = (struct tare_recorded_process){ .executable = "/home/u/simulate",
		                                       .command_line = "./simulate --steps 200",
		                                       .host_name = "box",
		                                       .pid = 4120,
		                                       .parent_pid = 4119,
		                                       .rank = TARE_TRACE_NO_RANK,
		                                       .rank_count = TARE_TRACE_NO_RANK,
		                                       .rank_from = "",
		                                       .state = TARE_TRACE_ENDED,
		                                       .start_ns = START,
		                                       .end_ns = START + 12410 * MS,
		                                       .recorded_from_ns = START + 3 * MS,
		                                       .host_residual_ns = 12,
		                                       .cpu_ns = 4100 * MS,
		                                       .helper_cpu_ns = 20 * MS,
		                                       .self_cost_ps = 110000,
		                                       .self_call_cost_ps = 60000 };
	processes[1] = processes[0];
	processes[1].command_line = "worker\033[2J --shard \xff";
	processes[1].pid = 4125;
	processes[1].parent_pid = 4120;
	processes[1].rank = 1;
	processes[1].rank_count = 2;
	processes[1].rank_from = "OMPI_COMM_WORLD_RANK";
	threads[0] = (struct tare_recorded_thread){
		.process = 0, .tid = 4120, .name = "simulate", .unfinished_function = TARE_NO_INDEX
	};
	threads[1] = threads[2] = threads[3] = threads[0];
	threads[2].helper = true;
	threads[3].process = 1;
}

static void set_devices(void)
{
	devices[0] = (struct tare_recorded_device){ .process = 0,
		                                    .same_as = 0,
		                                    .name = "NVIDIA H200",
		                                    .platform = "NVIDIA CUDA",
		                                    .vendor = "NVIDIA",
		                                    .driver_version = "580.159",
		                                    .type = 4,
		                                    .compute_units = 132,
		                                    .clock_hz = 1980000000,
		                                    .memory_bytes = UINT64_C(139) << 30,
		                                    .local_bytes = 49152,
		                                    .group_limit = 1024,
		                                    .uuid = "",
		                                    .pci = "0000:01:00.0",
		                                    .clock_source = TARE_CLOCK_PAIRS,
		                                    .residual_ns = 60,
		                                    .drift_ppm = -2.13,
		                                    .clock_pairs = 24 };
	devices[1] = devices[0];
	devices[1].process = 1;
	devices[1].same_as = 1;
	devices[1].pci = "0000:02:00.0";
	devices[1].clock_source = TARE_CLOCK_CAUSAL;
	devices[1].residual_ns = 8200;
	devices[1].drift_ppm = NAN;
	queues[0] = (struct tare_recorded_queue){ .process = 0,
		                                  .device = 0,
		                                  .number = 0,
		                                  .profiling = true,
		                                  .profiling_added = true,
		                                  .created_ns = START + 40 * MS };
	queues[1] = (struct tare_recorded_queue){ .process = 1,
		                                  .device = 1,
		                                  .number = 0,
		                                  .out_of_order = true,
		                                  .created_ns = START + 50 * MS };
}

static void set_kernels(void)
{
	programs[0] =
	    (struct tare_recorded_program){ .process = 0,
		                            .source_hash = 0x1234abcd5678ef90,
		                            .source_bytes = 4096,
		                            .build_options = "-cl-fast-relaxed-math -DN=64" };
	kernels[0] = (struct tare_recorded_kernel){ .process = 0, .program = 0, .name = "step" };
	kernels[1] = (struct tare_recorded_kernel){ .process = 0,
		                                    .program = TARE_NO_INDEX,
		                                    .name = "norm2" };
	shapes[0] = (struct tare_recorded_shape){ 2, { 4096, 4096, 1 }, { 16, 16, 1 } };
	shapes[1] = (struct tare_recorded_shape){ 1, { 65536, 1, 1 }, { 0, 0, 0 } };
	shapes[2] = (struct tare_recorded_shape){ 1, { 1000, 1, 1 }, { 64, 1, 1 } };
	changes[0] = (struct tare_recorded_change){ 0, TARE_CHANGE_PROFILING, 1, 0 };
	changes[1] = (struct tare_recorded_change){ 0, TARE_CHANGE_EVENT, 1, 81204 };
	changes[2] = (struct tare_recorded_change){ 0, TARE_CHANGE_HELPER, 1, 0 };
	changes[3] = (struct tare_recorded_change){ 1, TARE_CHANGE_PROFILING, 2, 0 };
	changes[4] = (struct tare_recorded_change){ 1, TARE_CHANGE_CALIBRATION, 2, 0 };
}

static void set_recording(struct tare_recording *recording)
{
	set_processes();
	set_devices();
	set_kernels();
	*recording = (struct tare_recording){ .path = "simulate.tare",
		                              .name = "simulate",
		                              .program = "./simulate --steps 200",
		                              .exit_status = 0,
		                              .complete = true,
		                              .start_ns = START,
		                              .end_ns = START + 12410 * MS,
		                              .start_realtime_ns = INT64_C(1763769600) * 1000 * MS,
		                              .user_cpu_ns = 3900 * MS,
		                              .system_cpu_ns = 200 * MS,
		                              .host_units = 16,
		                              .processes = processes,
		                              .threads = threads,
		                              .devices = devices,
		                              .queues = queues,
		                              .kernels = kernels,
		                              .programs = programs,
		                              .shapes = shapes,
		                              .changes = changes,
		                              .process_count = 1,
		                              .thread_count = 3,
		                              .device_count = 1,
		                              .queue_count = 1,
		                              .kernel_count = 2,
		                              .program_count = 1,
		                              .shape_count = 3,
		                              .change_count = 3 };
}

// ---- where the time went

static struct tare_ledger ledgers[3];
static struct tare_gap gaps[8];

static void set_ledger(struct tare_ledger *ledger, const char *scope, const char *name,
                       uint32_t device)
{
	*ledger = (struct tare_ledger){ .scope = scope,
		                        .name = name,
		                        .device = device,
		                        .wall_ns = 12410 * MS,
		                        .ambiguous_ns = 2 * MS + 1,
		                        .hidden_to_device_ns = 400 * MS,
		                        .hidden_from_device_ns = 200 * MS };
	ledger->parts_ns[TARE_LEDGER_KERNEL] = 5130 * MS;
	ledger->parts_ns[TARE_LEDGER_TO_DEVICE] = 2830 * MS;
	ledger->parts_ns[TARE_LEDGER_FROM_DEVICE] = 1120 * MS;
	ledger->parts_ns[TARE_LEDGER_COMPUTING] = 1810 * MS;
	ledger->parts_ns[TARE_LEDGER_BLOCKING_COPY] = 980 * MS;
	ledger->parts_ns[TARE_LEDGER_BUILD] = 400 * MS;
	ledger->parts_ns[TARE_LEDGER_DISPATCH] = 137 * MS;
	ledger->parts_ns[TARE_LEDGER_UNKNOWN] = 3 * MS - 1000;
	ledger->parts_ns[TARE_LEDGER_HELD] = 1000;
	ledger->matrix_ns[TARE_HOST_WAIT][TARE_DEVICE_KERNEL] = 5000 * MS;
	ledger->matrix_ns[TARE_HOST_COMPUTING][TARE_DEVICE_KERNEL] = 130 * MS;
	ledger->matrix_ns[TARE_HOST_BLOCKING_COPY][TARE_DEVICE_TO_DEVICE] = 2830 * MS;
	ledger->matrix_ns[TARE_HOST_BLOCKING_COPY][TARE_DEVICE_FROM_DEVICE] = 1120 * MS;
	ledger->matrix_ns[TARE_HOST_COMPUTING][TARE_DEVICE_IDLE] = 1810 * MS;
	ledger->matrix_ns[TARE_HOST_BUILD][TARE_DEVICE_IDLE] = 400 * MS;
	ledger->matrix_ns[TARE_HOST_UNKNOWN][TARE_DEVICE_IDLE] = 1120 * MS;
}

// Six of one device and two of the other, the longest first.
static void set_gaps(void)
{
	for (int i = 0; i < 8; i++)
		gaps[i] = (struct tare_gap){ START + (i + 1) * 1000 * MS,
			                     START + (i + 1) * 1000 * MS + (90 - i) * MS,
			                     i < 6 ? 0 : 1, TARE_NO_INDEX,
			                     i % 2 ? TARE_LEDGER_COMPUTING : TARE_LEDGER_BUILD };
}

// ---- the scenarios

// Phases of two threads in two levels, one that was never left, one whose name is hostile.
static void make_phases(struct run_fixture *fixture, const char *long_name)
{
	static struct tare_phase_row rows[4];
	const struct {
		const char *name, *domain;
		size_t parent;
		uint64_t count, unended;
		int64_t total_ms, covered_ms;
	} made[] = {
		{ "step", "app", SIZE_MAX, 100, 0, 16000, 9000 },
		{ long_name, "", 0, 200, 1, 5200, 4000 },
		{ "exchange", "MPI", 0, 100, 0, 2000, 2000 },
		{ "load", "", SIZE_MAX, 1, 1, 110, 110 },
	};
	for (size_t i = 0; i < COUNT(made); i++) {
		struct tare_ledger *ledger = &rows[i].ledger;
		rows[i] = (struct tare_phase_row){
			.name = made[i].name,
			.domain = made[i].domain,
			.parent = made[i].parent,
			.count = made[i].count,
			.unended = made[i].unended,
			.total_ns = made[i].total_ms * MS,
			.covered_ns = made[i].covered_ms * MS,
			.median_ns = made[i].count > made[i].unended ? 20.5 * MS : NAN,
			.max_ns = made[i].count > made[i].unended ? 120. * MS : NAN,
			.commands = 300 - 100 * i,
			.timed = i == 2 ? 0 : 300 - 100 * i, // of one nothing has times
			.launched_ns = (3 - (int64_t)i) * 1500 * MS,
			.launched_self_ns = (3 - (int64_t)i) * 500 * MS,
		};
		*ledger = (struct tare_ledger){ .scope = "union",
			                        .name = "all devices",
			                        .device = TARE_NO_INDEX,
			                        .wall_ns = made[i].covered_ms * MS,
			                        .ambiguous_ns = 100 * MS };
		ledger->parts_ns[TARE_LEDGER_KERNEL] = i == 3 ? 0 : ledger->wall_ns / 2;
		ledger->parts_ns[TARE_LEDGER_TO_DEVICE] = i == 3 ? 0 : ledger->wall_ns / 10;
		ledger->parts_ns[i == 2 ? TARE_LEDGER_DISPATCH : TARE_LEDGER_COMPUTING] =
		    i == 3 ? ledger->wall_ns : ledger->wall_ns * 4 / 10;
		ledger->matrix_ns[TARE_HOST_COMPUTING][TARE_DEVICE_IDLE] = ledger->wall_ns;
	}
	fixture->phases = (struct tare_phases){ rows, COUNT(rows), 7 };
}

static void make_many(struct run_fixture *fixture)
{
	static char long_name[2048];
	struct tare_recording *recording = &fixture->recording;
	struct tare_tables *tables = &fixture->tables;

	memset(long_name, 'N', sizeof long_name - 1);
	memcpy(long_name, "_ZTS\n\033[31m\xc2\x9b", 12);
	make_phases(fixture, long_name);
	recording->program =
	    "mpirun -n 2 ./a-rather-long-path/to/some/program --with --many arguments that go on\n";
	recording->exit_status = -1;
	recording->exit_signal = 11;
	recording->process_count = 2;
	recording->change_count = 5;
	recording->thread_count = 4;
	recording->device_count = recording->queue_count = 2;
	recording->problem = "2 files in the folder are no traces";
	processes[0].problem = "window 7: a record contradicts the format";
	processes[0].damaged_windows = 3;
	processes[0].lost_records = 1200;
	processes[0].lost_commands = 17;
	processes[1].state = TARE_TRACE_STOPPED;
	processes[1].stop_reason = TARE_TRACE_NO_SPACE;
	processes[1].recycled_records = 5;
	processes[1].cpu_ns = processes[1].helper_cpu_ns = 0; // not read
	processes[1].unknown_records = 9;
	set_ledger(&ledgers[1], "device", "NVIDIA H200", 1);
	set_ledger(&ledgers[2], "union", "all devices", TARE_NO_INDEX);
	ledgers[1].parts_ns[TARE_LEDGER_UNKNOWN] += 1000 * MS;
	ledgers[1].parts_ns[TARE_LEDGER_KERNEL] -= 1000 * MS;
	ledgers[2].parts_ns[TARE_LEDGER_NOT_RECORDED] += 2000 * MS;
	ledgers[2].parts_ns[TARE_LEDGER_KERNEL] -= 2000 * MS;
	ledgers[2].matrix_ns[TARE_HOST_NOT_RECORDED][TARE_DEVICE_IDLE] += 1120 * MS;
	ledgers[2].matrix_ns[TARE_HOST_UNKNOWN][TARE_DEVICE_IDLE] = 0;
	losses[0] = (struct tare_recorded_loss){ .process = 0,
		                                 .thread = 0,
		                                 .from_ns = START,
		                                 .to_ns = START + 1500 * MS,
		                                 .why = TARE_LOSS_NO_ROOM };
	losses[1] = (struct tare_recorded_loss){ .process = 1,
		                                 .thread = TARE_NO_INDEX,
		                                 .from_ns = START + 9000 * MS,
		                                 .to_ns = START + 11000 * MS,
		                                 .why = TARE_LOSS_STOPPED };
	recording->losses = losses;
	recording->loss_count = 2;
	fixture->ledgers = (struct tare_ledgers){ ledgers, 3, gaps, 8 };
	fixture->view.from_ns += 1000 * MS;
	fixture->view.kernel = "*N*";
	fixture->run.choice = "the newest of 3 here";
	for (size_t i = 2; i < RUN_FIXTURE_TASKS; i++)
		tables->tasks[i] = run_fixture_untimed_task(i == 2 ? long_name : "k");
	tables->tasks[2].timed = 3;
	tables->tasks[2].total_ns = 500;
	tables->tasks[2].mean_ns = tables->tasks[2].median_ns = tables->tasks[2].min_ns =
	    tables->tasks[2].max_ns = 0.4;
	tables->tasks[3].device = 1;
	tables->task_count = RUN_FIXTURE_TASKS;
	tables->queue_count = 2;
	tables->queues[1].timed = 0;
	tables->queues[1].max_depth = 0;
	tables->queues[1].mean_depth = NAN;
	tables->queues[1].median_latency_ns = TARE_NO_TIME;
	memset(tables->queues[1].gap_causes_ns, 0, sizeof tables->queues[1].gap_causes_ns);
	tables->coverage.completed = 80000;
	tables->coverage.unobserved = 1204;
	tables->coverage.unobserved_by[TARE_UNOBSERVED_FAILED] = 4;
	tables->coverage.unobserved_by[TARE_UNOBSERVED_NOT_ASKED] = 1200;
	tables->coverage.contradictions = 1;
	tables->coverage.failed = 1;
	tables->coverage.unresolved = 2;
	tables->coverage.passed_calls = 3;
	tables->coverage.damaged_windows = 3;
	tables->coverage.dropped = 1205;
	tables->coverage.self_cost_share = tables->coverage.cost_share = NAN;
	tables->coverage.profiling_share = NAN;
	tables->coverage.self_cost_ns = tables->coverage.driver_ns = TARE_NO_TIME;
	tables->coverage.driver_low_ns = tables->coverage.driver_high_ns = TARE_NO_TIME;
	tables->coverage.cost_ns = tables->coverage.cost_low_ns = TARE_NO_TIME;
	tables->coverage.cost_high_ns = TARE_NO_TIME;
	tables->coverage.cost_source = TARE_COST_UNKNOWN;
	tables->summary.wall_ns = 11410 * MS;
	tables->summary.cpu_utilisation = NAN;
	tables->summary.device_utilisation = NAN;
	tables->summary.mean_launch_ns = NAN;
	tables->memory.peak_at_ns = TARE_NO_TIME;
	tables->summary.working_from_ns = tables->summary.working_to_ns = TARE_NO_TIME;
	tables->summary.has_parts = false;
}

static void make_untimed(struct run_fixture *fixture, bool flushed)
{
	struct tare_tables *tables = &fixture->tables;
	struct tare_ledger *ledger = &ledgers[0];

	memset(ledger->parts_ns, 0, sizeof ledger->parts_ns);
	memset(ledger->matrix_ns, 0, sizeof ledger->matrix_ns);
	ledger->ambiguous_ns = ledger->hidden_to_device_ns = ledger->hidden_from_device_ns = 0;
	ledger->parts_ns[TARE_LEDGER_UNTIMED] = 12000 * MS;
	ledger->parts_ns[TARE_LEDGER_BEFORE_FIRST] = 410 * MS;
	devices[0].clock_source = TARE_CLOCK_NONE;
	devices[0].residual_ns = TARE_NO_TIME;
	queues[0].profiling = queues[0].profiling_added = false;
	tables->tasks[0] = run_fixture_untimed_task("step");
	tables->task_count = 1;
	tables->task_shape_count = 0;
	tables->transfers[0] = tables->transfers[2];
	tables->transfer_count = 1;
	tables->queues[0].timed = 0;
	tables->queues[0].mean_depth = NAN;
	tables->queues[0].max_depth = 0;
	tables->queues[0].median_latency_ns = TARE_NO_TIME;
	tables->coverage.completed = 0;
	tables->coverage.unobserved = tables->coverage.enqueued = 1024;
	if (flushed) {
		processes[0].flags = TARE_TRACE_STRICT;
		tables->coverage.unobserved_by[TARE_UNOBSERVED_NOT_ASKED] = 1024;
		fixture->recording.change_count = 0;
	} else {
		tables->coverage.unobserved_by[TARE_UNOBSERVED_ABANDONED] = 1024;
		tables->coverage.never_flushed = 1024;
	}
	tables->summary.bound = TARE_BOUND_NOT_CLEAR;
	tables->summary.device_utilisation = tables->summary.kernel_share = 0;
	tables->summary.has_parts = false;
	snprintf(tables->summary.verdict, sizeof tables->summary.verdict,
	         "What bounds this run is not clear: no device times");
	tables->summary.evidence[0] = '\0';
}

static void make_empty(struct run_fixture *fixture, size_t process_count)
{
	struct tare_ledger *ledger = &ledgers[0];

	fixture->recording =
	    (struct tare_recording){ .path = "hello.tare",
		                     .name = "hello",
		                     .program = "./hello",
		                     .exit_status = 3,
		                     .complete = true,
		                     .start_ns = START,
		                     .end_ns = START + 2 * MS,
		                     .user_cpu_ns = TARE_NO_TIME,
		                     .system_cpu_ns = TARE_NO_TIME,
		                     .processes = processes,
		                     .threads = threads,
		                     .process_count = process_count,
		                     .thread_count = process_count,
		                     .layer = "the layer was never loaded (0 calls)" };
	fixture->view.to_ns = START + 2 * MS;
	*ledger = (struct tare_ledger){
		.scope = "union", .name = "all devices", .device = TARE_NO_INDEX, .wall_ns = 2 * MS
	};
	ledger->parts_ns[TARE_LEDGER_BEFORE_FIRST] = 2 * MS;
	ledger->matrix_ns[TARE_HOST_BEFORE_FIRST][TARE_DEVICE_IDLE] = 2 * MS;
	fixture->ledgers = (struct tare_ledgers){ ledgers, 1, NULL, 0 };
	fixture->tables = (struct tare_tables){ .summary = { .wall_ns = 2 * MS,
		                                             .cpu_utilisation = NAN,
		                                             .device_utilisation = 0,
		                                             .mean_launch_ns = NAN,
		                                             .working_from_ns = TARE_NO_TIME,
		                                             .working_to_ns = TARE_NO_TIME,
		                                             .verdict = "Nothing ran on a device" },
		                                .memory = { .peak_at_ns = TARE_NO_TIME },
		                                .coverage = { .self_cost_share = NAN,
		                                              .self_cost_ns = TARE_NO_TIME,
		                                              .driver_ns = TARE_NO_TIME,
		                                              .driver_low_ns = TARE_NO_TIME,
		                                              .driver_high_ns = TARE_NO_TIME,
		                                              .profiling_share = NAN,
		                                              .cost_ns = TARE_NO_TIME,
		                                              .cost_low_ns = TARE_NO_TIME,
		                                              .cost_high_ns = TARE_NO_TIME,
		                                              .cost_share = NAN } };
}

static bool make(const char *name, struct run_fixture *fixture)
{
	if (strcmp(name, "simulate") == 0) {
		run_fixture_findings(fixture);
		return true;
	}
	if (strcmp(name, "many") == 0)
		run_fixture_many_findings(fixture);
	if (strcmp(name, "strict") == 0)
		run_fixture_unjudged(fixture);
	if (strcmp(name, "many") == 0)
		make_many(fixture);
	else if (strcmp(name, "strict") == 0)
		make_untimed(fixture, true);
	else if (strcmp(name, "unflushed") == 0)
		make_untimed(fixture, false);
	else if (strcmp(name, "nothing") == 0)
		make_empty(fixture, 0);
	else if (strcmp(name, "silent") == 0)
		make_empty(fixture, 1);
	else if (strcmp(name, "writing") == 0) {
		fixture->recording.complete = false;
		fixture->recording.exit_status = -1;
		processes[0].state = TARE_TRACE_RECORDING;
	} else
		return false;
	return true;
}

bool run_fixture_make(const char *name, struct run_fixture *fixture)
{
	fixture->phases = (struct tare_phases){ 0 };
	fixture->findings = (struct tare_findings){ 0 };
	set_recording(&fixture->recording);
	run_fixture_tables(&fixture->tables);
	set_ledger(&ledgers[0], "device", "NVIDIA H200", 0);
	set_ledger(&ledgers[1], "union", "all devices", TARE_NO_INDEX);
	set_gaps();
	fixture->ledgers = (struct tare_ledgers){ ledgers, 2, gaps, 6 };
	fixture->view =
	    (struct tare_view){ START, START + 12410 * MS, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
	fixture->run = (struct tare_report){ .recording = &fixture->recording,
		                             .view = &fixture->view,
		                             .ledgers = &fixture->ledgers,
		                             .tables = &fixture->tables,
		                             .findings = &fixture->findings,
		                             .phases = &fixture->phases,
		                             .sites = &fixture->sites };
	return make(name, fixture);
}
