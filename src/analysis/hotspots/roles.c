// SPDX-License-Identifier: Apache-2.0
#include "analysis/hotspots/roles.h"

#define NS TARE_COUNTER_UNIT_NS
#define PERCENT TARE_COUNTER_UNIT_PERCENT
#define BYTES TARE_COUNTER_UNIT_BYTES
#define COUNT TARE_COUNTER_UNIT_COUNT

// The errors are the differences to Nsight Compute that docs/hotspots-verdicts.md lists.
const struct tare_counter_role_row tare_counter_roles[TARE_COUNTER_ROLES] = {
	[TARE_COUNTER_DURATION_NS] = { "duration_ns", "duration", NS, 0, 0 },
	[TARE_COUNTER_CORES_ACTIVE_SHARE] = { "cores_active_share", "cores active", PERCENT, 2, 0 },
	[TARE_COUNTER_ISSUE_SHARE] = { "issue_share", "instruction issue", PERCENT, 2, 0 },
	[TARE_COUNTER_OCCUPANCY_SHARE] = { "occupancy_share", "occupancy", PERCENT, 2, 0 },
	[TARE_COUNTER_ELIGIBLE_SHARE] = { "eligible_share", "a warp ready", PERCENT, 2, 0 },
	[TARE_COUNTER_INSTRUCTIONS] = { "instructions", "instructions", COUNT, 0, 0 },
	[TARE_COUNTER_LANE_INSTRUCTIONS] = { "lane_instructions", "thread instructions", COUNT, 0,
	                                     0 },
	[TARE_COUNTER_FLOP_FP16] = { "flop_fp16", "FLOP FP16", COUNT, 0, 0 },
	[TARE_COUNTER_FLOP_FP32] = { "flop_fp32", "FLOP FP32", COUNT, 0, 0 },
	[TARE_COUNTER_FLOP_FP64] = { "flop_fp64", "FLOP FP64", COUNT, 0, 0 },
	[TARE_COUNTER_PIPE_ALU_SHARE] = { "pipe_alu_share", "integer and logic", PERCENT, 2, 0 },
	[TARE_COUNTER_PIPE_FMA_SHARE] = { "pipe_fma_share", "single precision", PERCENT, 2, 0 },
	[TARE_COUNTER_PIPE_FP64_SHARE] = { "pipe_fp64_share", "double precision", PERCENT, 2, 0 },
	[TARE_COUNTER_PIPE_TENSOR_SHARE] = { "pipe_tensor_share", "matrix engines", PERCENT, 2, 0 },
	[TARE_COUNTER_PIPE_SPECIAL_SHARE] = { "pipe_special_share", "special functions", PERCENT, 2,
	                                      0 },
	[TARE_COUNTER_PIPE_MEMORY_SHARE] = { "pipe_memory_share", "load and store units", PERCENT,
	                                     2, 0 },
	[TARE_COUNTER_L1_SHARE] = { "l1_share", "L1 data pipe", PERCENT, 2, 0 },
	[TARE_COUNTER_L1_BYTES] = { "l1_bytes", "registers and L1", BYTES, 0, 0 },
	[TARE_COUNTER_L1_HIT_SHARE] = { "l1_hit_share", "L1 hits", PERCENT, 2, 0 },
	[TARE_COUNTER_SHARED_WAVEFRONTS] = { "shared_wavefronts", "shared memory passes", COUNT, 0,
	                                     0 },
	[TARE_COUNTER_L2_SHARE] = { "l2_share", "L2", PERCENT, 0, 0.11 },
	[TARE_COUNTER_L1_READ_BYTES] = { "l1_read_bytes", "L2 to L1", BYTES, 0, 0 },
	[TARE_COUNTER_L1_WRITE_BYTES] = { "l1_write_bytes", "L1 to L2", BYTES, 0, 0 },
	[TARE_COUNTER_L2_BYTES] = { "l2_bytes", "served by L2", BYTES, 0, 0 },
	[TARE_COUNTER_L2_HIT_SHARE] = { "l2_hit_share", "L2 hits", PERCENT, 2, 0 },
	[TARE_COUNTER_DEVICE_MEMORY_SHARE] = { "device_memory_share", "device memory", PERCENT, 0,
	                                       0.04 },
	[TARE_COUNTER_DEVICE_READ_BYTES] = { "device_read_bytes", "device memory to L2", BYTES, 0,
	                                     0 },
	[TARE_COUNTER_DEVICE_WRITE_BYTES] = { "device_write_bytes", "L2 to device memory", BYTES, 0,
	                                      0 },
	[TARE_COUNTER_HOST_READ_BYTES] = { "host_read_bytes", "from the host", BYTES, 0, 0 },
	[TARE_COUNTER_HOST_WRITE_BYTES] = { "host_write_bytes", "to the host", BYTES, 0, 0 },
	[TARE_COUNTER_PEER_READ_BYTES] = { "peer_read_bytes", "from peers", BYTES, 0, 0 },
	[TARE_COUNTER_PEER_WRITE_BYTES] = { "peer_write_bytes", "to peers", BYTES, 0, 0 },
	[TARE_COUNTER_CORE_ACTIVE_LEAST] = { "core_active_least", "least busy core", COUNT, 0, 0 },
	[TARE_COUNTER_CORE_ACTIVE_MEAN] = { "core_active_mean", "mean core", COUNT, 0, 0 },
	[TARE_COUNTER_CORE_ACTIVE_MOST] = { "core_active_most", "busiest core", COUNT, 0, 0 },
	[TARE_COUNTER_ELIGIBLE_WARPS] = { "eligible_warps", "warps ready to issue", COUNT, 0, 0 },
	[TARE_COUNTER_L2_MISS_BYTES] = { "l2_miss_bytes", "missed by L2", BYTES, 0, 0 },
	[TARE_COUNTER_L2_TO_L1_SHARE] = { "l2_to_l1_share", "L2's way to the cores", PERCENT, 0,
	                                  0.11 },
	[TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE] = { "pipe_integer_multiply_share",
	                                               "integer multiplication", PERCENT, 2, 0 },
};
