// SPDX-License-Identifier: Apache-2.0
// What tests/unit/test_ze_cpu_kernels.c runs.
struct settings {
	int scale;
	float shift;
	long factors[4];
};

kernel void add(global const float *a, global const float *b, global float *c, uint count)
{
	size_t i = get_global_id(0);
	if (i < count)
		c[i] = a[i] + b[i];
}

// Square matrices; groups of 8 x 8.
kernel void matmul(global const float *a, global const float *b, global float *c, uint side)
{
	local float of_a[8][8], of_b[8][8];
	size_t x = get_local_id(0), y = get_local_id(1);
	size_t column = get_global_id(0), row = get_global_id(1);
	float sum = 0;
	for (uint tile = 0; tile < side; tile += 8) {
		of_a[y][x] = a[row * side + tile + x];
		of_b[y][x] = b[(tile + y) * side + column];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint k = 0; k < 8; k++)
			sum += of_a[y][k] * of_b[k][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[row * side + column] = sum;
}

// Turns each group's numbers round in local memory that the host sizes.
kernel void turn(global int *numbers, local int *store)
{
	size_t i = get_local_id(0), size = get_local_size(0);
	store[size - 1 - i] = numbers[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	numbers[get_global_id(0)] = store[i];
}

kernel void two_stores(local int *first, local int *second, global int *out)
{
	first[0] = 1;
	second[0] = 2;
	out[0] = first[0] + second[0];
}

kernel void count(global int *counter, int step)
{
	atomic_add(counter, step);
}

kernel void vectors(global float4 *values, float4 factor)
{
	values[get_global_id(0)] = values[get_global_id(0)] * factor + (float4)(1, 2, 3, 4);
}

kernel void settings_of(struct settings settings, global long *out)
{
	out[0] = settings.scale;
	out[1] = (long)settings.shift;
	for (int i = 0; i < 4; i++)
		out[2 + i] = settings.factors[i];
}

kernel void where(global uint *out, uint mark)
{
	size_t i = get_global_id(0) - get_global_offset(0);
	out[i] = mark + (uint)get_global_id(0);
}

kernel __attribute__((reqd_work_group_size(4, 2, 1))) void shaped(global uint *out)
{
	out[get_group_id(0)] = (uint)(get_local_size(0) * 10 + get_local_size(1));
}

kernel void is_null(global int *nothing, global int *out)
{
	*out = nothing == 0;
}

kernel void write_at(global int *at, int value)
{
	at[get_global_id(0)] = value;
}

kernel void divide(global int *out, int by)
{
	out[0] = 100 / by;
	out[1] = 7;
}

kernel __attribute__((work_group_size_hint(16, 1, 1))) void sampled(sampler_t sampler, global int *out)
{
	*out = 1;
}

// 4 MiB of private memory.
kernel void large(global int *out, int count)
{
	int numbers[1 << 20];
	int sum = 0;
	for (int i = 0; i < count; i++)
		numbers[(i * 7919) & ((1 << 20) - 1)] = i;
	for (int i = 0; i < count; i++)
		sum += numbers[(i * 7919) & ((1 << 20) - 1)];
	out[get_global_id(0)] = sum;
}
