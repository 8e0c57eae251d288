// SPDX-License-Identifier: Apache-2.0
#include "made_counted.h"

#include <math.h>

const struct tare_counted_device made_device = {
	.name = "Made Device",
	.cores = 100,
	.paper_memory_bytes_per_s = 1e12,
	.measured_memory_bytes_per_s = 0.9e12,
	.paper_fp16_flop_per_s = NAN,
	.measured_fp16_flop_per_s = NAN,
	.paper_fp32_flop_per_s = 20e12,
	.measured_fp32_flop_per_s = 18e12,
	.paper_fp64_flop_per_s = 10e12,
	.measured_fp64_flop_per_s = NAN,
	.measured_l2_bytes_per_s = 3e12,
	.measured_l1_bytes_per_s = 10e12,
};

struct made_row {
	const char *name;
	double ns, active, issue, occupancy, device, l2, l1, alu, fma, tensor;
	double l1_bytes, l1_read, l1_write, device_read, device_write, flop;
	uint64_t compulsory;
	uint64_t launches;
};

#define MB 1e6
// Rates follow: bytes over the time are the share of made_device's rates, about.
static const struct made_row rows[] = {
	[MADE_COPY] = { "copy(float const*, float*)", 1e6, 99, 12, 80, 92, 45, 30, 3, 2, 0,
	                920 * MB, 460 * MB, 460 * MB, 460 * MB, 460 * MB, 0, 920000000, 100 },
	[MADE_NAIVE] = { "naive_matmul", 2e6, 98, 35, 98, 12, 40, 88, 20, 18, 0, 17600 * MB,
	                 2400 * MB, 16 * MB, 220 * MB, 16 * MB, 17.2e9, 48000000, 40 },
	[MADE_SHARED] = { "gather_from_cache", 1e6, 97, 20, 70, 20, 85, 50, 10, 5, 0, 3000 * MB,
	                  2500 * MB, 50 * MB, 180 * MB, 20 * MB, 1e9, 0, 50 },
	[MADE_FMA] = { "fma_chain", 1e6, 99, 65, 50, 1, 1, 1, 8, 53, 0, 8 * MB, 4 * MB, 4 * MB,
	               4 * MB, 4 * MB, 10e9, 8000000, 20 },
	[MADE_MATRIX] = { "gemm_bf16", 1e6, 96, 22, 12, 35, 40, 45, 9, 4, 91, 2000 * MB, 1000 * MB,
	                  30 * MB, 340 * MB, 30 * MB, 1e8, 100000000, 25 },
	[MADE_CHASE] = { "pointer_chase", 5e5, 97, 4, 25, 8, 9, 3, 2, 0, 0, 10 * MB, 40 * MB, MB,
	                 40 * MB, MB, 0, 40000000, 10 },
	[MADE_ONE] = { "one_group", 1e5, 0.9, 30, 12, 0.1, 0.1, 0.2, 10, 5, 0, MB / 10, MB / 100,
	               MB / 100, MB / 100, MB / 100, 1e5, 4096, 10 },
	[MADE_FEW] = { "few_groups", 2e5, 35, 25, 12, 5, 6, 4, 5, 6, 0, 10 * MB, 10 * MB, MB,
	               9 * MB, MB, 1e7, 0, 10 },
	[MADE_CAPTURED] = { .name = "captured", .launches = 3, .ns = 1e4 },
};

void made_set(struct tare_counted_kernel *kernel, enum tare_counter_role role, double mean)
{
	kernel->values[role] =
	    (struct tare_counter_value){ TARE_COUNTER_COUNTED, mean, mean, mean, 4, 0 };
}

void made_spread(struct tare_counted_kernel *kernel, enum tare_counter_role role, double least,
                 double most)
{
	kernel->values[role].least = least;
	kernel->values[role].most = most;
}

void made_unset(struct tare_counted_kernel *kernel, enum tare_counter_role role,
                enum tare_counter_state state)
{
	kernel->values[role] = (struct tare_counter_value){ state, NAN, NAN, NAN, 0, 0 };
}

struct tare_counted_kernel made_uncounted(const char *name)
{
	struct tare_counted_kernel kernel = { .name = name,
		                              .launches = 1,
		                              .total_ns = 1000,
		                              .mean_ns = 1000,
		                              .occupancy_possible = NAN };

	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++)
		made_unset(&kernel, role, TARE_COUNTER_NOT_ASKED);
	return kernel;
}

static void set_all(struct tare_counted_kernel *kernel, const struct made_row *row)
{
	made_set(kernel, TARE_COUNTER_DURATION_NS, row->ns);
	made_set(kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, row->active);
	made_set(kernel, TARE_COUNTER_ISSUE_SHARE, row->issue);
	made_set(kernel, TARE_COUNTER_OCCUPANCY_SHARE, row->occupancy);
	made_set(kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, row->device);
	made_set(kernel, TARE_COUNTER_L2_SHARE, row->l2);
	made_set(kernel, TARE_COUNTER_L1_SHARE, row->l1);
	made_set(kernel, TARE_COUNTER_PIPE_ALU_SHARE, row->alu);
	made_set(kernel, TARE_COUNTER_PIPE_FMA_SHARE, row->fma);
	made_set(kernel, TARE_COUNTER_PIPE_TENSOR_SHARE, row->tensor);
	made_set(kernel, TARE_COUNTER_PIPE_FP64_SHARE, 0);
	made_set(kernel, TARE_COUNTER_PIPE_SPECIAL_SHARE, 0);
	made_set(kernel, TARE_COUNTER_PIPE_MEMORY_SHARE, row->l1 / 10);
	made_set(kernel, TARE_COUNTER_L2_TO_L1_SHARE, row->l2 / 2);
	made_set(kernel, TARE_COUNTER_L1_TO_L2_SHARE, row->l2 / 3);
	made_set(kernel, TARE_COUNTER_L2_LOOKUP_SHARE, row->l2 / 3);
	made_set(kernel, TARE_COUNTER_L1_BYTES, row->l1_bytes);
	made_set(kernel, TARE_COUNTER_L1_READ_BYTES, row->l1_read);
	made_set(kernel, TARE_COUNTER_L1_WRITE_BYTES, row->l1_write);
	made_set(kernel, TARE_COUNTER_L2_BYTES, 1.05 * (row->l1_read + row->l1_write));
	made_set(kernel, TARE_COUNTER_DEVICE_READ_BYTES, row->device_read);
	made_set(kernel, TARE_COUNTER_DEVICE_WRITE_BYTES, row->device_write);
	made_set(kernel, TARE_COUNTER_FLOP_FP16, 0);
	made_set(kernel, TARE_COUNTER_FLOP_FP32, row->flop);
	made_set(kernel, TARE_COUNTER_FLOP_FP64, 0);
	made_set(kernel, TARE_COUNTER_INSTRUCTIONS, 1e6);
	made_set(kernel, TARE_COUNTER_LANE_INSTRUCTIONS, 31e6);
}

struct tare_counted_kernel made_kernel(enum made_kernel which)
{
	const struct made_row *row = &rows[which];
	struct tare_counted_kernel kernel = made_uncounted(row->name);

	kernel.launches = row->launches;
	kernel.mean_ns = (uint64_t)row->ns;
	kernel.total_ns = kernel.mean_ns * kernel.launches;
	kernel.compulsory_bytes = row->compulsory;
	if (which == MADE_CAPTURED) {
		kernel.uncounted = TARE_UNCOUNTED_CAPTURED;
		return kernel;
	}
	kernel.counted_launches = 4;
	kernel.occupancy_possible = 100;
	set_all(&kernel, row);
	return kernel;
}

struct tare_counted_run made_run(struct tare_counted_kernel *kernels)
{
	struct tare_counted_run run = { .device = made_device,
		                        .kernels = kernels,
		                        .kernel_count = MADE_KERNELS,
		                        .recorded_wall_ns = 500000000,
		                        .counted_wall_ns = 2100000000,
		                        .counting_ns = 1500000000 };
	uint64_t total = 0;

	for (int i = 0; i < MADE_KERNELS; i++) {
		kernels[i] = made_kernel((enum made_kernel)i);
		total += kernels[i].total_ns;
	}
	for (int i = 0; i < MADE_KERNELS; i++)
		kernels[i].share = (double)kernels[i].total_ns / (double)total;
	return run;
}
