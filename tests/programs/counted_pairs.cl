// SPDX-License-Identifier: Apache-2.0
// Pairs of kernels: the one raises a finding of tare blocks, its twin ("_mended") computes the same
// as the finding advises (tests/e2e/test_blocks_findings.py). `in` has numbers i % 13.

// Every second work-item has much to do.
kernel void divergent(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	if (i % 2)
		for (int k = 0; k < n; k++)
			sum += in[k];
	out[i] = sum;
}

// Those that have much to do are neighbours.
kernel void divergent_mended(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), middle = get_global_size(0) / 2;
	float sum = 0;

	if (i >= middle)
		for (int k = 0; k < n; k++)
			sum += in[k];
	out[i < middle ? 2 * i : 2 * (i - middle) + 1] = sum;
}

// Each work-item walks a row of its own.
kernel void scattered(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += in[i * n + k];
	out[i] = sum;
}

// Each walks a column.
kernel void scattered_mended(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), items = get_global_size(0);
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += in[k * items + i];
	out[i] = sum;
}

kernel void doubled(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float x = in[i];

	for (int k = 0; k < n; k++)
		x = x * 1.1 + 0.3;
	out[i] = x;
}

kernel void doubled_mended(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float x = in[i];

	for (int k = 0; k < n; k++)
		x = x * 1.1f + 0.3f;
	out[i] = x;
}

kernel void divided(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), sum = 0;

	for (int k = 1; k < 16; k++)
		sum += (i + k * in[k]) / n;
	out[i] = sum;
}

kernel void divided_mended(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), sum = 0;

	for (int k = 1; k < 16; k++)
		sum += (i + k * in[k]) / 7;
	out[i] = sum;
}

kernel void transcendent(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += sin(in[i] + k);
	out[i] = sum;
}

kernel void transcendent_mended(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += native_sin(in[i] + k);
	out[i] = sum;
}

// Sums of groups of 64, in steps that wait twice each.
kernel void waiting(global const float *in, global float *out, int n)
{
	local float part[64];
	int item = get_local_id(0);

	part[item] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int step = n; step < 64; step *= 2) {
		float other = part[item ^ step];
		barrier(CLK_LOCAL_MEM_FENCE);
		part[item] += other;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = part[item];
}

// Each work-item adds all numbers, and waits once.
kernel void waiting_mended(global const float *in, global float *out, int n)
{
	local float part[64];
	float sum = 0;

	part[get_local_id(0)] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = 0; k < 64; k += n)
		sum += part[k];
	out[get_global_id(0)] = sum;
}

// Keeps 160 numbers, of which each turn needs all.
kernel void spilling(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float kept[160], sum = 0;

	for (int k = 0; k < 160; k++)
		kept[k] = in[(i + k) & 255];
	for (int turn = 0; turn < n; turn++)
		for (int k = 0; k < 160; k++)
			kept[k] = kept[k] * 0.5f + kept[(k + 7) % 160];
	for (int k = 0; k < 160; k++)
		sum += kept[k];
	out[i] = sum;
}

// Has done with each number before the next.
kernel void spilling_mended(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < 160; k++) {
		float value = in[(i + k) & 255];
		for (int turn = 0; turn < n; turn++)
			value = value * 0.5f + 1.0f;
		sum += value;
	}
	out[i] = sum;
}
