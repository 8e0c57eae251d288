// SPDX-License-Identifier: Apache-2.0
// Kernels whose loads, stores and operations are known in closed form (tests/e2e/test_blocks.py).
// `in` has ITEMS numbers, `out` room for as many; `n` is what each says.

// C = A B of n by n numbers, A and B being the beginning of `in`: 2 n^3 loads, 2 n^3 operations.
kernel void matmul(global const float *in, global float *out, int n)
{
	int column = get_global_id(0), row = get_global_id(1);
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += in[row * n + k] * in[k * n + column];
	out[row * n + column] = sum;
}

// Sums of groups of 64: 6 steps over local memory.
kernel void reduce(global const float *in, global float *out, int n)
{
	local float part[64];
	int item = get_local_id(0);

	part[item] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int step = 32; step > 0; step /= 2) {
		if (item < step)
			part[item] += part[item + step];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (item == 0)
		out[get_group_id(0)] = part[0];
}

// Three points, the ends as they are; more work-items than points.
kernel void stencil(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);

	if (i >= n)
		return;
	if (i == 0 || i == n - 1)
		out[i] = in[i];
	else
		out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

// Odd work-items walk i % 7 numbers, the others take a root.
kernel void diverge(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	if (i & 1) {
		for (int k = 0; k < i % 7; k++)
			sum += in[k * n];
	} else {
		sum = sqrt(in[i]);
	}
	out[i] = sum;
}

// Every n-th number.
kernel void strided(global const float *in, global float *out, int n)
{
	out[get_global_id(0)] = in[get_global_id(0) * n];
}

// How many numbers are below each of n steps.
kernel void histogram(global const float *in, global int *out, int n)
{
	int i = get_global_id(0);

	atomic_inc(out + (int)in[i] % n);
}

// Four numbers at once.
kernel void vectors(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);

	vstore4(vload4(i, in) * (float)n, i, out);
}

// A function that is not inlined, called n times by each work-item.
__attribute__((noinline)) float fetched(global const float *in, int at)
{
	return in[at] + 1.0f;
}

kernel void calls(global const float *in, global float *out, int n)
{
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += fetched(in, k);
	out[get_global_id(0)] = sum;
}

#ifdef cl_khr_fp64
// n multiplications and additions, in doubles.
kernel void doubles(global const float *in, global float *out, int n)
{
	double sum = in[get_global_id(0)];

	for (int k = 0; k < n; k++)
		sum = sum * 1.5 + in[k];
	out[get_global_id(0)] = (float)sum;
}
#endif
