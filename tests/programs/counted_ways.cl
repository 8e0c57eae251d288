// SPDX-License-Identifier: Apache-2.0
// Kernels whose work-items of a group go different ways in all manner of places: what is counted for
// the whole group must not be counted so here (tests/e2e/test_blocks.py).

// A loop that the group would turn alike, but each work-item leaves in its own turn.
kernel void leaves(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	for (int k = 0; k < n; k++) {
		if (in[k] > (float)(i % 11))
			break;
		sum += in[k + n];
	}
	out[i] = sum;
}

// What a loop of different turns left behind is the bound of the next one.
kernel void leftover(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), k = 0;
	float sum = 0;

	while (k < n && k < i % 5)
		sum += in[k++];
	for (int j = 0; j < k; j++)
		sum *= in[j + 1];
	for (int j = 0; j < n; j++)
		sum += in[j];
	out[i] = sum;
}

// A number that two ways set differently is the bound: each way writes, so that none is a choice.
kernel void joined(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), bound;
	float sum = 0;

	if (in[i] > 6.0f) {
		bound = n;
		out[i] = in[0];
	} else {
		bound = get_local_size(0) / 4;
		for (int k = 0; k < n; k++)
			out[i] = 1.0f;
	}
	for (int k = 0; k < bound; k++)
		sum += in[k];
	out[i] += sum;
}

// By the group's number: alike within a group, and another in the next one.
kernel void groups(global const float *in, global float *out, int n)
{
	int i = get_global_id(0), group = get_group_id(0);
	float sum = 0;

	if (group & 1)
		for (int k = 0; k < group + n; k++)
			sum += in[k];
	out[i] = sum;
}

__attribute__((noinline)) float deeper(global const float *in, int n)
{
	float sum = 0;

	for (int k = 0; k < n; k++)
		sum += in[k];
	return sum;
}

__attribute__((noinline)) float deep(global const float *in, int n)
{
	return n & 1 ? deeper(in, n) + in[n] : in[n];
}

// Functions in functions, some of which are not called.
kernel void nested(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = deeper(in, n);

	if (i % 3 == 0)
		sum += deep(in, i % 8);
	out[i] = sum;
}

// Several ways out, and a choice of several.
kernel void chosen(global const float *in, global float *out, int n)
{
	int i = get_global_id(0);

	switch (i % 5) {
	case 0:
		out[i] = in[0];
		return;
	case 1:
		for (int k = 0; k < n; k++)
			out[i] += in[k];
		break;
	case 3:
		out[i] = in[1] + in[2];
		return;
	}
	out[i] += in[3];
}
