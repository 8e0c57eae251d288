// SPDX-License-Identifier: Apache-2.0
// Which of NVIDIA's metrics are which counter. Names differ among chips; docs/hotspots.md says what
// each figure is.
#include "guest/cuda/counters/counters.h"

enum { SECTOR_BYTES = 32 };

#define ELAPSED ".avg.pct_of_peak_sustained_elapsed"
#define ACTIVE ".avg.pct_of_peak_sustained_active"
#define OPERATION(name) "smsp__sass_thread_inst_executed_op_" name "_pred_on.sum"
#define FROM_L1(operation) "lts__t_sectors_srcunit_tex_op_" operation ".sum"
#define APERTURE(where) "lts__t_sectors_aperture_" where ".sum"
#define ROW(counter, group, factor, ...)                                                           \
	{                                                                                          \
		TARE_TRACE_COUNTER_##counter, group, factor,                                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

// Groups are arranged so that each takes one pass on chips from GA100 to GB202.
static const struct counters_metric by_groups[] = {
	ROW(DURATION_NS, 0, 1, "gpu__time_duration.sum"),
	ROW(CORES_ACTIVE_SHARE, 0, 1, "sm__cycles_active" ELAPSED),
	ROW(ISSUE_SHARE, 0, 1, "smsp__issue_active" ACTIVE),
	ROW(OCCUPANCY_SHARE, 0, 1, "sm__warps_active" ACTIVE),
	ROW(INSTRUCTIONS, 0, 1, "smsp__inst_executed.sum"),
	ROW(LANE_INSTRUCTIONS, 0, 1, "smsp__thread_inst_executed.sum"),
	ROW(DEVICE_MEMORY_SHARE, 0, 1, "dram__throughput" ELAPSED),
	ROW(DEVICE_READ_BYTES, 0, 1, "dram__bytes_read.sum", "dram__bytes_op_read.sum"),
	ROW(DEVICE_WRITE_BYTES, 0, 1, "dram__bytes_write.sum", "dram__bytes_op_write.sum"),
	ROW(L2_SHARE, 0, 1, "lts__t_sectors" ELAPSED),
	ROW(L2_BYTES, 0, SECTOR_BYTES, "lts__t_sectors.sum"),
	ROW(L1_READ_BYTES, 0, SECTOR_BYTES, FROM_L1("read")),
	ROW(L1_WRITE_BYTES, 0, SECTOR_BYTES, FROM_L1("write")),
	ROW(L1_SHARE, 0, 1, "l1tex__data_pipe_lsu_wavefronts" ELAPSED),
	ROW(CORE_ACTIVE_LEAST, 0, 1, "sm__cycles_active.min"),
	ROW(CORE_ACTIVE_MEAN, 0, 1, "sm__cycles_active.avg"),
	ROW(CORE_ACTIVE_MOST, 0, 1, "sm__cycles_active.max"),
	ROW(L1_BYTES, 1, 1, "l1tex__t_bytes.sum"),
	ROW(L1_HIT_SHARE, 1, 1, "l1tex__t_sector_hit_rate.pct"),
	ROW(SHARED_WAVEFRONTS, 1, 1, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
	ROW(L2_MISS_BYTES, 1, SECTOR_BYTES, "lts__t_sectors_lookup_miss.sum"),
	ROW(ELIGIBLE_WARPS, 1, 1, "smsp__warps_eligible.avg.per_cycle_active"),
	ROW(L2_LOOKUP_SHARE, 1, 1, "lts__t_tag_requests" ELAPSED),
	ROW(L1_TO_L2_SHARE, 2, 1, "lts__xbar2lts_cycles_active" ELAPSED),
	ROW(L2_TO_L1_SHARE, 2, 1, "lts__lts2xbar_cycles_active" ELAPSED),
	ROW(PIPE_ALU_SHARE, 2, 1, "sm__inst_executed_pipe_alu" ACTIVE),
	ROW(PIPE_FMA_SHARE, 2, 1, "sm__pipe_fma_cycles_active" ACTIVE),
	ROW(PIPE_INTEGER_MULTIPLY_SHARE, 2, 1, "sm__inst_executed_pipe_fmaheavy" ACTIVE),
	ROW(PIPE_TENSOR_SHARE, 3, 1, "sm__pipe_tensor_cycles_active" ACTIVE),
	ROW(PIPE_FP64_SHARE, 3, 1, "sm__inst_executed_pipe_fp64" ACTIVE),
	ROW(PIPE_SPECIAL_SHARE, 3, 1, "sm__inst_executed_pipe_xu" ACTIVE),
	ROW(PIPE_MEMORY_SHARE, 3, 1, "sm__inst_executed_pipe_lsu" ACTIVE),
	ROW(HOST_READ_BYTES, 3, SECTOR_BYTES, APERTURE("sysmem_op_read")),
	ROW(HOST_WRITE_BYTES, 3, SECTOR_BYTES, APERTURE("sysmem_op_write")),
	ROW(PEER_READ_BYTES, 3, SECTOR_BYTES, APERTURE("peer_op_read")),
	ROW(PEER_WRITE_BYTES, 3, SECTOR_BYTES, APERTURE("peer_op_write")),
	ROW(FLOP_FP32, 4, 1, OPERATION("fadd")),
	ROW(FLOP_FP32, 4, 1, OPERATION("fmul")),
	ROW(FLOP_FP32, 4, 2, OPERATION("ffma")),
	ROW(FLOP_FP64, 4, 1, OPERATION("dadd")),
	ROW(FLOP_FP64, 4, 1, OPERATION("dmul")),
	ROW(FLOP_FP64, 4, 2, OPERATION("dfma")),
	ROW(FLOP_FP16, 4, 1, OPERATION("hadd")),
	ROW(FLOP_FP16, 4, 1, OPERATION("hmul")),
	ROW(FLOP_FP16, 4, 2, OPERATION("hfma")),
};

#define PIPE(name) "smsp__inst_executed_pipe_" name ".sum"
#define SORT(name) "smsp__inst_executed_op_" name ".sum"
#define STATE(name) "smsp__warps_issue_stalled_" name ".sum"
// What a kernel's instructions add up to, and its warps' states, for `tare blocks --executions`.
// One group, of as many passes as the chip needs (GH100: 13).
static const struct counters_metric accounts[] = {
	ROW(INSTRUCTIONS, 0, 1, "smsp__inst_executed.sum"),
	ROW(INST_ALU, 0, 1, PIPE("alu")),
	ROW(INST_FMA, 0, 1, PIPE("fma")),
	ROW(INST_FP64, 0, 1, PIPE("fp64")),
	ROW(INST_SPECIAL, 0, 1, PIPE("xu")),
	ROW(INST_BRANCH_UNIT, 0, 1, PIPE("cbu")),
	ROW(INST_UNIFORM, 0, 1, PIPE("uniform")),
	ROW(INST_MATRIX, 0, 1, PIPE("tensor")),
	ROW(BRANCHES, 0, 1, SORT("branch")),
	ROW(BRANCHES_APART, 0, 1, "smsp__sass_branch_targets_threads_divergent.sum"),
	ROW(LOADS_CONSTANT, 0, 1, SORT("ldc")),
	ROW(LOADS_GLOBAL, 0, 1, SORT("global_ld")),
	ROW(STORES_GLOBAL, 0, 1, SORT("global_st")),
	ROW(LOADS_SHARED, 0, 1, SORT("shared_ld")),
	ROW(STORES_SHARED, 0, 1, SORT("shared_st")),
	ROW(LOADS_LOCAL, 0, 1, SORT("local_ld")),
	ROW(STORES_LOCAL, 0, 1, SORT("local_st")),
	ROW(LOADS_MATRIX, 0, 1, SORT("ldsm")),
	ROW(COPIES_SHARED, 0, 1, SORT("ldgsts")),
	ROW(STATE_SELECTED, 0, 1, STATE("selected")),
	ROW(STATE_NOT_SELECTED, 0, 1, STATE("not_selected")),
	ROW(STATE_WAIT, 0, 1, STATE("wait")),
	ROW(STATE_LONG_SCOREBOARD, 0, 1, STATE("long_scoreboard")),
	ROW(STATE_SHORT_SCOREBOARD, 0, 1, STATE("short_scoreboard")),
	ROW(STATE_BARRIER, 0, 1, STATE("barrier")),
	ROW(STATE_MEMBAR, 0, 1, STATE("membar")),
	ROW(STATE_LG_THROTTLE, 0, 1, STATE("lg_throttle")),
	ROW(STATE_MIO_THROTTLE, 0, 1, STATE("mio_throttle")),
	ROW(STATE_TEX_THROTTLE, 0, 1, STATE("tex_throttle")),
	ROW(STATE_MATH_PIPE_THROTTLE, 0, 1, STATE("math_pipe_throttle")),
	ROW(STATE_BRANCH_RESOLVING, 0, 1, STATE("branch_resolving")),
	ROW(STATE_NO_INSTRUCTIONS, 0, 1, STATE("no_instruction")),
	ROW(STATE_IMC_MISS, 0, 1, STATE("imc_miss")),
	ROW(STATE_DISPATCH_STALL, 0, 1, STATE("dispatch_stall")),
	ROW(STATE_DRAIN, 0, 1, STATE("drain")),
	ROW(STATE_SLEEPING, 0, 1, STATE("sleeping")),
	ROW(STATE_GMMA, 0, 1, STATE("gmma")),
	ROW(STATE_MISC, 0, 1, STATE("misc")),
};

static const struct {
	const struct counters_metric *metrics;
	size_t count;
} sets[] = {
	[COUNTERS_BY_GROUPS] = { by_groups, sizeof by_groups / sizeof *by_groups },
	[COUNTERS_ACCOUNTS] = { accounts, sizeof accounts / sizeof *accounts },
};
_Static_assert(sizeof by_groups / sizeof *by_groups <= COUNTERS_MOST_METRICS, "");
_Static_assert(sizeof accounts / sizeof *accounts <= COUNTERS_MOST_METRICS, "");

const struct counters_metric *counters_metrics;
uint32_t counters_metric_count;
enum counters_set counters_set;

void counters_metrics_choose(enum counters_set set)
{
	counters_set = set;
	counters_metrics = sets[set].metrics;
	counters_metric_count = (uint32_t)sets[set].count;
}
